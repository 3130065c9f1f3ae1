// Random kernels in C, at every instruction set level of this machine, beside the interpreter: guards, stages, arg
// reductions, every region and stride class. Buffers hold exactly what the kernel may touch.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/kernels/cpu_kernel.h"

using namespace tarry;
using namespace tarry::codegen;
using graph::Op;
using test::CpuKernels;
using test::IrBuilder;

namespace {

using Bytes = std::vector<unsigned char>;

class Generator {
 public:
  Generator(Schedule schedule, unsigned seed) : random_(seed), b_(schedule, 0) {
    reduces_ = schedule != Schedule::Pointwise;
    b_.ir.rank = one_of(reduces_ ? 0 : 1, 3);
    if (chance(60)) add_guard(Region::Point);
    if (chance(30)) add_guard(Region::Point);
    for (int i = 0, count = one_of(1, 3); i < count; ++i) add_load(Region::Point);
    if (reduces_ && chance(60)) add_load(Region::Row);
    if (chance(40)) keep(b_.scalar(float32, reduces_ ? Region::Row : Region::Point));
    const int stages = b_.ir.is_row() ? one_of(2, 4) : 1;
    for (int stage = 0; stage < stages; ++stage) add_stage(stage, stage + 1 == stages);
  }

  [[nodiscard]] const KernelIr& ir() const { return b_.ir; }

  struct Case {
    KernelArgs args;
    std::vector<Bytes> buffers;
    std::vector<std::uint64_t> scalars;
  };
  Case make_case(std::int64_t n);

 private:
  int one_of(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  bool chance(int percent) { return one_of(1, 100) <= percent; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[random_() % from.size()];
  }

  /// Stride classes of one access.
  std::string outer_strides(bool store) {
    std::string text;
    for (int d = 0; d < b_.ir.rank; ++d) {
      if (store)
        text += d + 1 == b_.ir.rank && chance(70) && !reduces_ ? '1' : '*';
      else
        text += pick<char>({'0', '1', '*', '*'});
    }
    return text;
  }
  char reduced_stride(Region region) {
    if (!reduces_ || region == Region::Row) return '0';
    return region == Region::Outer ? ' ' : pick<char>({'0', '1', '1', '*'});
  }

  void add_guard(Region region) {
    Guard guard;
    for (int t = 0, terms = one_of(1, std::max(1, b_.ir.rank)); t < terms; ++t) {
      std::string strides(static_cast<std::size_t>(b_.ir.rank), '0');
      char reduced = region == Region::Outer ? ' ' : '0';
      const char c = pick<char>({'1', '1', '*'});
      if (reduces_ && region == Region::Point && (b_.ir.rank == 0 || chance(60)))
        reduced = c;
      else if (b_.ir.rank > 0)
        strides[static_cast<std::size_t>(one_of(0, b_.ir.rank - 1))] = c;
      b_.ir.scalars.push_back(int64);
      extents_.push_back(static_cast<std::uint32_t>(b_.ir.scalars.size() - 1));
      guard.terms.push_back({b_.access(kNone, false, strides, reduced), extents_.back()});
    }
    b_.ir.guards.push_back(guard);
    const auto index = static_cast<std::uint32_t>(b_.ir.guards.size() - 1);
    guards_[static_cast<std::size_t>(region)].push_back(index);
    Instr in{InstrKind::Inside, region, bool_};
    in.index = index;
    in.stage = region == Region::Row ? 0 : b_.stage;
    b_.ir.instrs.push_back(in);
    conditions_[static_cast<std::size_t>(region)].push_back(static_cast<Value>(b_.ir.instrs.size() - 1));
  }

  void add_load(Region region) {
    const Dtype dtype = pick<Dtype>({float32, float32, float64, int32, int64, uint8, int16, float16, bool_});
    if (chance(15)) {
      keep(b_.iota(outer_strides(false), reduced_stride(region), region));
      return;
    }
    const Value v = b_.load(dtype, outer_strides(false), reduced_stride(region), region);
    const auto& guards = guards_[static_cast<std::size_t>(region)];
    if (!guards.empty() && chance(70)) b_.ir.instrs[v].guard = pick(guards);
    keep(v);
  }

  void keep(Value v) { values_[static_cast<std::size_t>(b_.ir.instrs[v].region)].push_back(v); }

  /// A value that an instruction of `region` may use, as `dtype`.
  Value operand(Region region, Dtype dtype) {
    std::vector<Value> seen = values_[static_cast<std::size_t>(Region::Row)];
    if (region != Region::Row)
      for (const Value v : values_[static_cast<std::size_t>(region)]) seen.push_back(v);
    if (region == Region::Point)
      for (const Value v : values_[static_cast<std::size_t>(Region::Outer)])
        if (b_.ir.instrs[v].stage < b_.stage) seen.push_back(v);
    if (seen.empty()) {
      add_load(region);
      seen = values_[static_cast<std::size_t>(region)];
    }
    const Value v = chance(50) ? seen.back() : pick(seen);
    return b_.ir.instrs[v].dtype == dtype ? v : b_.op(Op::Cast, dtype, {v}, region);
  }

  Value compute(Region region) {
    const Dtype dtype = pick<Dtype>({float32, float32, float64, int32, int64});
    const auto& conditions = conditions_[static_cast<std::size_t>(region)];
    Value v;
    if (!conditions.empty() && chance(50)) {
      const Value a = operand(region, dtype), c = operand(region, dtype);
      v = b_.op(Op::Where, dtype, {pick(conditions), a, c}, region);
    } else if (is_floating(dtype) && chance(40)) {
      v = b_.op(chance(50) ? Op::Exp : Op::Sqrt, dtype, {operand(region, dtype)}, region);
    } else {
      const Value a = operand(region, dtype), c = operand(region, dtype);
      v = b_.op(pick<Op>({Op::Add, Op::Subtract, Op::Multiply, Op::Maximum}), dtype, {a, c}, region);
    }
    keep(v);
    return v;
  }

  void store(Value v, Region region) {
    b_.store(v, outer_strides(true),
             region == Region::Point && reduces_ ? '*'
             : region == Region::Outer           ? ' '
                                                 : '0',
             region);
  }

  void add_stage(int stage, bool last) {
    b_.stage = static_cast<std::uint8_t>(stage);
    for (int i = 0, count = one_of(1, 3); i < count; ++i) compute(Region::Point);
    if (reduces_ && (!last || !b_.ir.is_row() || chance(50))) {
      for (int i = 0, count = one_of(1, 2); i < count; ++i) add_reduction();
      if (chance(30)) add_guard(Region::Outer);
      if (chance(30)) add_load(Region::Outer);
      const Value v = compute(Region::Outer);
      if (last || chance(40)) store(v, Region::Outer);
    }
    if (chance(last ? 90 : 30))
      store(operand(Region::Point, pick<Dtype>({float32, float64, int32, uint8})), Region::Point);
  }

  void add_reduction() {
    const Op op = pick<Op>({Op::Sum, Op::Prod, Op::Min, Op::Max, Op::ArgMin, Op::ArgMax, Op::Moments});
    std::vector<Dtype> dtypes = {float32, float64, int64, uint64};
    if (op == Op::Moments) dtypes = {float32, float64};
    if (op == Op::Min || op == Op::Max || graph::is_arg_reduce(op)) dtypes = {float32, float64, int32, int64, uint32};
    keep(b_.reduce(op, operand(Region::Point, pick(dtypes))));
    if (op == Op::Moments) keep(b_.result(1));
  }

  // Cases.
  [[nodiscard]] bool touches(const Case& c, const Instr& in, const std::vector<std::int64_t>& at, std::int64_t k) const;
  [[nodiscard]] static std::int64_t place(const AccessArgs& a, const std::vector<std::int64_t>& at, std::int64_t k);
  template <class Visit>
  void each_point(const Case& c, Visit visit) const;
  void choose_strides(Case& c);
  void fit_buffers(Case& c);
  Bytes contents(Dtype dtype, std::int64_t count);

  std::mt19937 random_;
  IrBuilder b_;
  bool reduces_ = false;
  std::vector<std::uint32_t> extents_;  ///< scalars that are extents of guards
  std::vector<Value> values_[3], conditions_[3];
  std::vector<std::uint32_t> guards_[3];
};

std::int64_t Generator::place(const AccessArgs& a, const std::vector<std::int64_t>& at, std::int64_t k) {
  std::int64_t sum = a.offset + k * a.reduced_stride;
  for (std::size_t d = 0; d < at.size(); ++d) sum += at[d] * a.strides[static_cast<int>(d)];
  return sum;
}

bool Generator::touches(const Case& c, const Instr& in, const std::vector<std::int64_t>& at, std::int64_t k) const {
  if (in.guard == kNone) return true;
  const auto& terms = b_.ir.guards[in.guard].terms;
  return std::all_of(terms.begin(), terms.end(), [&](const GuardTerm& t) {
    const std::int64_t v = place(c.args.accesses[t.access], at, k);
    return 0 <= v && v < static_cast<std::int64_t>(c.scalars[t.extent]);
  });
}

template <class Visit>
void Generator::each_point(const Case& c, Visit visit) const {
  std::vector<std::int64_t> at(static_cast<std::size_t>(b_.ir.rank));
  for (std::int64_t o = 0; o < c.args.outer_count(); ++o) {
    std::int64_t rest = o;
    for (int d = b_.ir.rank; d-- > 0; rest /= c.args.extents[d])
      at[static_cast<std::size_t>(d)] = rest % c.args.extents[d];
    visit(at);
  }
}

/// Stores are row-major with gaps, perhaps backwards, so that no element is stored twice; loads go anywhere.
void Generator::choose_strides(Case& c) {
  for (const Access& a : b_.ir.accesses) {
    AccessArgs args;
    std::vector<std::int64_t> any(static_cast<std::size_t>(b_.ir.rank + 1));  // the reduced axis last
    std::int64_t span = a.store && (b_.ir.rank == 0 || a.strides.back() == StrideClass::Any) ? 2 : 1;
    for (int d = b_.ir.rank; d >= 0; --d) {
      const bool reduced = d == b_.ir.rank;
      auto& stride = any[static_cast<std::size_t>(d)];
      if (a.store) {
        if (reduced && (!reduces_ || a.outer_only)) continue;
        stride = span * (span > 1 && chance(30) ? -1 : 1);
        span *= std::max<std::int64_t>(1, reduced ? c.args.reduced : c.args.extents[d]);
      } else {
        stride = pick<std::int64_t>({-1, 2, -3, 7});
      }
    }
    const auto stride_of = [&](StrideClass s, int d) {
      return s == StrideClass::Zero ? 0 : s == StrideClass::One ? 1 : any[static_cast<std::size_t>(d)];
    };
    for (int d = 0; d < b_.ir.rank; ++d) args.strides.push_back(stride_of(a.strides[static_cast<std::size_t>(d)], d));
    args.reduced_stride = stride_of(a.reduced, b_.ir.rank);
    if (a.buffer == kNone) args.offset = one_of(-20, 20);
    c.args.accesses.push_back(args);
  }
}

/// Offsets and sizes: from the first to the last element that the kernel may touch.
void Generator::fit_buffers(Case& c) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> least(b_.ir.accesses.size(), kFar), most(least.size(), -kFar);
  each_point(c, [&](const std::vector<std::int64_t>& at) {
    for (const Instr& in : b_.ir.instrs) {
      if ((in.kind != InstrKind::Load && in.kind != InstrKind::Store) || b_.ir.accesses[in.index].buffer == kNone)
        continue;
      const std::int64_t last = in.region == Region::Point ? (reduces_ ? c.args.reduced : 1) : 1;
      for (std::int64_t k = 0; k < last; ++k) {
        if (!touches(c, in, at, k)) continue;
        const std::int64_t p = place(c.args.accesses[in.index], at, k);
        least[in.index] = std::min(least[in.index], p);
        most[in.index] = std::max(most[in.index], p);
      }
    }
  });
  for (std::size_t a = 0; a < b_.ir.accesses.size(); ++a) {
    const std::uint32_t buffer = b_.ir.accesses[a].buffer;  // every access has its own
    if (buffer == kNone) continue;
    const bool touched = least[a] <= most[a];
    c.args.accesses[a].offset = touched ? -least[a] : 0;
    c.buffers[buffer] = contents(b_.ir.buffers[buffer], touched ? most[a] - least[a] + 1 : 0);
  }
}

Bytes Generator::contents(Dtype dtype, std::int64_t count) {
  const std::size_t size = itemsize(dtype);
  Bytes bytes(static_cast<std::size_t>(count) * size);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    unsigned char* const at = &bytes[i * size];
    const double value = (static_cast<double>(random_() % 4096) - 2048) / 256;
    const bool odd = random_() % 64 == 0;
    const auto put = [&](auto v) { std::memcpy(at, &v, sizeof v); };
    const double special =
        pick<double>({std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0, std::numeric_limits<double>::infinity()});
    if (dtype == float32)
      put(static_cast<float>(odd ? special : value));
    else if (dtype == float64)
      put(odd ? special : value);
    else if (dtype == bool_)
      put(static_cast<unsigned char>(random_() % 2));
    else
      for (std::size_t b = 0; b < size; ++b) at[b] = static_cast<unsigned char>(random_());
  }
  return bytes;
}

Generator::Case Generator::make_case(std::int64_t n) {
  Case c;
  c.args.reduced = reduces_ ? n : 1;
  const std::int64_t most = reduces_ ? std::clamp<std::int64_t>(3000 / (n + 1), 1, 300) : n;
  std::int64_t left = most;
  std::vector<std::int64_t> extents;
  for (int d = b_.ir.rank; d-- > 0;) {
    const std::int64_t extent =
        d == 0 ? left : std::max<std::int64_t>(1, one_of(1, static_cast<int>(std::min<std::int64_t>(left, 40) | 1)));
    extents.insert(extents.begin(), extent);
    left = most == 0 ? 0 : std::max<std::int64_t>(left / extent, 1);
  }
  for (const std::int64_t e : extents) c.args.extents.push_back(e);
  for (std::size_t s = 0; s < b_.ir.scalars.size(); ++s) {
    const bool extent = std::find(extents_.begin(), extents_.end(), s) != extents_.end();
    c.scalars.push_back(extent ? static_cast<std::uint64_t>(one_of(0, 60) * (chance(20) ? 100 : 1))
                               : std::uint64_t{0x3fc00000});
  }
  choose_strides(c);
  c.buffers.resize(b_.ir.buffers.size());
  fit_buffers(c);
  return c;
}

void compare(Schedule schedule, unsigned seed) {
  Generator generator(schedule, seed);
  INFO("schedule " << static_cast<int>(schedule) << " seed " << seed << "\n" << to_string(generator.ir()));
  const CpuKernels kernels(generator.ir());
  std::vector<std::int64_t> lengths = {0, 1, 2, 31, 32};
  if (schedule == Schedule::Pointwise)
    lengths = {0, 1, 33, 1000, 5000};
  else if (schedule != Schedule::ReduceSerial && schedule != Schedule::RowSerial)
    lengths = {0, 1, 31, 32, 33, 127, 128, 129, 1000, 5000};
  for (const std::int64_t n : lengths) {
    const Generator::Case c = generator.make_case(n);
    INFO("n " << n << " outer " << c.args.outer_count());
    kernels.require_as_interpreted(c.args, c.buffers, c.scalars);
  }
}

}  // namespace

TEST_CASE("render c: random kernels have the bits of the interpreter", "[codegen][cpu][random]") {
  const auto schedule = GENERATE(Schedule::Pointwise, Schedule::ReduceSerial, Schedule::ReduceInner,
                                 Schedule::ReduceOuter, Schedule::RowSerial, Schedule::RowInner);
  const auto seed = GENERATE(range(1u, 5u));
  compare(schedule, seed);
}

TEST_CASE("render c: many random kernels have the bits of the interpreter", "[.slow][codegen_random]") {
  const auto schedule = GENERATE(Schedule::Pointwise, Schedule::ReduceSerial, Schedule::ReduceInner,
                                 Schedule::ReduceOuter, Schedule::RowSerial, Schedule::RowInner);
  const auto seed = GENERATE(range(100u, 140u));
  compare(schedule, seed);
}
