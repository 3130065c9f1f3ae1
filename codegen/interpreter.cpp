// The tile interpreter of KernelIr. Written for clarity: it follows kernel_ir.h and docs/numerics.md sentence by
// sentence.
#include "codegen/interpreter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr int kTile = 256;
constexpr int kLanes = 32, kBlock = 128;

struct Cell {
  alignas(8) unsigned char bytes[8];
};

/// A partial result of one reduction over `count` elements.
struct Part {
  Cell a{}, b{};  // value, or mean and m2
  std::int64_t count = 0;
};

template <class T>
T get(const Cell& c) {
  T v;
  std::memcpy(&v, c.bytes, sizeof v);
  return v;
}
template <class T>
void put(Cell& c, T v) {
  std::memcpy(c.bytes, &v, sizeof v);
}

/// Chan's merge, as docs/numerics.md writes it.
template <class T>
Part merge_moments(const Part& a, const Part& b) {
  const T w = static_cast<T>(b.count) / static_cast<T>(a.count + b.count);
  const T d = get<T>(b.a) - get<T>(a.a);
  Part out;
  put<T>(out.a, get<T>(a.a) + d * w);
  put<T>(out.b, (get<T>(a.b) + get<T>(b.b)) + (d * d) * (static_cast<T>(a.count) * w));
  out.count = a.count + b.count;
  return out;
}

/// Welford's step: the k-th element of a lane, k = a.count + 1.
template <class T>
Part step_moments(const Part& a, const Cell& y) {
  const T d = get<T>(y) - get<T>(a.a);
  const T mean = get<T>(a.a) + d * (T{1} / static_cast<T>(a.count + 1));
  Part out;
  put<T>(out.a, mean);
  put<T>(out.b, get<T>(a.b) + d * (get<T>(y) - mean));
  out.count = a.count + 1;
  return out;
}

class Reducer {
 public:
  Reducer(const Reduction& r, std::int64_t weight) : op_(r.op), dtype_(r.dtype), weight_(weight) {
    if (op_ == Op::Sum) combine_ = scalar_function(Op::Add, dtype_, dtype_);
    if (op_ == Op::Min) combine_ = scalar_function(Op::Minimum, dtype_, dtype_);
    if (op_ == Op::Max) combine_ = scalar_function(Op::Maximum, dtype_, dtype_);
  }

  /// The lane state after its first element (y, or mean and m2).
  [[nodiscard]] Part first(const Cell& y, const Cell& m2) const {
    Part p;
    p.a = y;
    p.count = 1;
    if (op_ == Op::MomentsMerge) {
      p.b = m2;
      p.count = weight_;
    }
    return p;
  }
  [[nodiscard]] Part step(const Part& lane, const Cell& y, const Cell& m2) const {
    if (op_ == Op::Moments)
      return dtype_ == Dtype::Float32 ? step_moments<float>(lane, y) : step_moments<double>(lane, y);
    return combine(lane, first(y, m2));
  }
  [[nodiscard]] Part combine(const Part& a, const Part& b) const {
    if (!combine_) return dtype_ == Dtype::Float32 ? merge_moments<float>(a, b) : merge_moments<double>(a, b);
    Part out;
    combine_(out.a.bytes, a.a.bytes, b.a.bytes, nullptr);
    out.count = a.count + b.count;
    return out;
  }

 private:
  Op op_;
  Dtype dtype_;
  std::int64_t weight_;
  ScalarFunction combine_ = nullptr;
};

/// The blocks of tree R as they arrive: a binary counter of aligned subtrees, folded from the right at the end.
class Tree {
 public:
  explicit Tree(const Reducer& r) : r_(r) {}
  void push(Part block) {
    std::int64_t n = ++blocks_;
    for (; n % 2 == 0; n /= 2) {
      block = r_.combine(stack_.back(), block);
      stack_.pop_back();
    }
    stack_.push_back(block);
  }
  [[nodiscard]] Part fold() const {
    Part out = stack_.back();
    for (std::size_t i = stack_.size() - 1; i-- > 0;) out = r_.combine(stack_[i], out);
    return out;
  }

 private:
  const Reducer& r_;
  std::int64_t blocks_ = 0;
  std::vector<Part> stack_;
};

class Machine {
 public:
  Machine(const KernelIr& ir, const KernelArgs& args, std::span<void* const> buffers,
          std::span<const std::uint64_t> scalars, Traffic* traffic)
      : ir_(ir),
        args_(args),
        buffers_(buffers),
        scalars_(scalars),
        traffic_(traffic),
        values_(ir.instrs.size() * kTile),
        functions_(ir.instrs.size()),
        positions_(ir.accesses.size() * kTile) {
    for (std::size_t i = 0; i < ir.instrs.size(); ++i) {
      const Instr& in = ir.instrs[i];
      if (in.kind == InstrKind::Compute) {
        const Value input = in.args[in.op == Op::Where ? 1 : 0];
        functions_[i] = scalar_function(in.op, ir.instrs[input].dtype, in.dtype);
      }
      if (in.kind == InstrKind::Scalar)
        for (int t = 0; t < kTile; ++t) std::memcpy(value(i, t).bytes, &scalars[in.index], 8);
    }
    for (const Reduction& r : ir.reductions)
      reducers_.emplace_back(r, r.weight == kNone ? 1 : static_cast<std::int64_t>(scalars[r.weight]));
  }

  void run() {
    if (ir_.schedule == Schedule::Pointwise) {
      const std::int64_t total = args_.outer_count();
      for (std::int64_t at = 0; at < total; at += kTile) {
        const int count = static_cast<int>(std::min<std::int64_t>(kTile, total - at));
        place_outer(at, count);
        execute(Region::Point, count);
      }
      return;
    }
    for (std::int64_t o = 0, total = args_.outer_count(); o < total; ++o) reduce_row(o);
  }

 private:
  Cell& value(std::size_t instr, int t) { return values_[instr * kTile + static_cast<std::size_t>(t)]; }
  std::int64_t& position(std::size_t access, int t) { return positions_[access * kTile + static_cast<std::size_t>(t)]; }

  std::int64_t outer_offset(std::size_t access, std::int64_t flat) const {
    const AccessArgs& a = args_.accesses[access];
    std::int64_t offset = a.offset;
    for (int d = ir_.rank; d-- > 0;) {
      offset += flat % args_.extents[d] * a.strides[d];
      flat /= args_.extents[d];
    }
    return offset;
  }

  void place_outer(std::int64_t first, int count) {
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      for (int t = 0; t < count; ++t) position(a, t) = outer_offset(a, first + t);
  }

  void place_reduced(const std::vector<std::int64_t>& row, std::int64_t k, int count) {
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      for (int t = 0; t < count; ++t) position(a, t) = row[a] + (k + t) * args_.accesses[a].reduced_stride;
  }

  void execute(Region region, int count) {
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i)
      if (ir_.instrs[i].region == region) execute(i, count);
  }

  void execute(std::size_t i, int count) {
    const Instr& in = ir_.instrs[i];
    switch (in.kind) {
      case InstrKind::Scalar:
      case InstrKind::Result:
        return;  // filled once per launch, or by reduce_row
      case InstrKind::Load:
        return load(i, in, count);
      case InstrKind::Store:
        return store(in, count);
      case InstrKind::Inside:
        return inside(i, in, count);
      case InstrKind::Compute:
        break;
    }
    const std::size_t a = in.args[0], b = in.args[1], c = in.args[2];
    for (int t = 0; t < count; ++t)
      functions_[i](value(i, t).bytes, operand(a, in.region, t), operand(b, in.region, t), operand(c, in.region, t));
  }

  [[nodiscard]] bool holds(const Guard& guard, int t) {
    return std::all_of(guard.terms.begin(), guard.terms.end(), [&](const GuardTerm& term) {
      const std::int64_t at = position(term.access, t);
      return at >= 0 && at < static_cast<std::int64_t>(scalars_[term.extent]);
    });
  }

  void inside(std::size_t i, const Instr& in, int count) {
    for (int t = 0; t < count; ++t)
      put<std::uint8_t>(value(i, t), holds(ir_.guards[in.index], t) ? 1 : 0);
  }

  /// A Row value seen from a Point instruction has one element.
  const void* operand(std::size_t v, Region user, int t) {
    if (v == kNone) return nullptr;
    const bool spread =
        user == Region::Point && ir_.instrs[v].region == Region::Row && ir_.instrs[v].kind != InstrKind::Scalar;
    return value(v, spread ? 0 : t).bytes;
  }

  void load(std::size_t i, const Instr& in, int count) {
    const Access& a = ir_.accesses[in.index];
    if (a.buffer == kNone) {
      for (int t = 0; t < count; ++t) put<std::int64_t>(value(i, t), position(in.index, t));
      return;
    }
    const std::size_t size = itemsize(in.dtype);
    const auto* base = static_cast<const unsigned char*>(buffers_[a.buffer]);
    bool varies = false;
    for (int t = 0; t < count; ++t) {
      const std::int64_t at = position(in.index, t);
      varies |= at != position(in.index, 0);
      std::memcpy(value(i, t).bytes, base + at * static_cast<std::int64_t>(size), size);
    }
    if (traffic_) traffic_->bytes_read += static_cast<std::int64_t>(size) * (varies ? count : 1);
  }

  void store(const Instr& in, int count) {
    const std::size_t size = itemsize(in.dtype);
    auto* base = static_cast<unsigned char*>(buffers_[ir_.accesses[in.index].buffer]);
    for (int t = 0; t < count; ++t)
      std::memcpy(base + position(in.index, t) * static_cast<std::int64_t>(size), operand(in.args[0], in.region, t),
                  size);
    if (traffic_) traffic_->bytes_written += static_cast<std::int64_t>(size) * count;
  }

  void reduce_row(std::int64_t outer) {
    std::vector<std::int64_t> row(ir_.accesses.size());
    for (std::size_t a = 0; a < row.size(); ++a) row[a] = outer_offset(a, outer);
    place_reduced(row, 0, 1);
    execute(Region::Row, 1);
    std::vector<Tree> trees(reducers_.begin(), reducers_.end());
    std::vector<Part> serial(reducers_.size());
    const std::int64_t n = args_.reduced;
    for (std::int64_t k = 0; k < n; k += kTile) {
      const int count = static_cast<int>(std::min<std::int64_t>(kTile, n - k));
      place_reduced(row, k, count);
      execute(Region::Point, count);
      for (std::size_t r = 0; r < reducers_.size(); ++r) {
        if (n <= kLanes) {
          serial[r] = lane(r, 0, 1, count);
        } else {
          for (int b = 0; b < count; b += kBlock) trees[r].push(block(r, b, std::min(kBlock, count - b)));
        }
      }
    }
    for (std::size_t a = 0; a < row.size(); ++a) position(a, 0) = row[a];
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i) {
      const Instr& in = ir_.instrs[i];
      if (in.kind != InstrKind::Result) continue;
      Part p;  // zeros: the sum of nothing; moments of nothing give 0 / 0 later
      if (n > 0) p = n <= kLanes ? serial[in.index] : trees[in.index].fold();
      value(i, 0) = in.output == 0 ? p.a : p.b;
    }
    execute(Region::Outer, 1);
  }

  /// Elements first, first + step, ... of the tile below `count`, in increasing order.
  Part lane(std::size_t r, int first, int step, int count) {
    Part p = reducers_[r].first(input(r, 0, first), input(r, 1, first));
    for (int t = first + step; t < count; t += step) p = reducers_[r].step(p, input(r, 0, t), input(r, 1, t));
    return p;
  }

  Part block(std::size_t r, int first, int m) {
    Part lanes[kLanes];
    int present = std::min(m, kLanes);
    for (int l = 0; l < present; ++l) lanes[l] = lane(r, first + l, kLanes, first + m);
    for (int d = kLanes / 2; d > 0; d /= 2) {
      for (int l = 0; l < d && l + d < present; ++l) lanes[l] = reducers_[r].combine(lanes[l], lanes[l + d]);
      present = std::min(present, d);
    }
    return lanes[0];
  }

  const Cell& input(std::size_t r, std::size_t which, int t) {
    static const Cell none{};
    const Value v = ir_.reductions[r].args[which];
    if (v == kNone) return none;
    const bool spread = ir_.instrs[v].region == Region::Row && ir_.instrs[v].kind != InstrKind::Scalar;
    return value(v, spread ? 0 : t);
  }

  const KernelIr& ir_;
  const KernelArgs& args_;
  std::span<void* const> buffers_;
  std::span<const std::uint64_t> scalars_;
  Traffic* traffic_;
  std::vector<Cell> values_;
  std::vector<ScalarFunction> functions_;
  std::vector<std::int64_t> positions_;
  std::vector<Reducer> reducers_;
};

}  // namespace

void interpret(const KernelIr& ir, const KernelArgs& args, std::span<void* const> buffers,
               std::span<const std::uint64_t> scalars, Traffic* traffic) {
  Machine(ir, args, buffers, scalars, traffic).run();
}

}  // namespace tarry::codegen
