// The interpreter against loops written here, and the rules of KernelIr that verify() holds it to.
#include "codegen/interpret/interpreter.h"

#include <tarry/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "tests/helpers/reduction_tree.h"
#include "tests/helpers/same_bits.h"
#include "tests/kernels/cpu_kernel.h"

using namespace tarry;
using namespace tarry::codegen;
using graph::Op;
using test::IrBuilder;
using test::same_bits;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> random_values(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) {
    if constexpr (std::is_floating_point_v<T>)
      x = static_cast<T>(std::ldexp(static_cast<double>(random()) - 2e9, -static_cast<int>(random() % 40)));
    else
      x = static_cast<T>((std::uint64_t{random()} << 32) + random());
  }
  return v;
}

/// A guard of one term on an iota, as an instruction's guard.
std::uint32_t add_guard(IrBuilder& b, std::uint32_t iota) {
  b.ir.scalars.push_back(int64);
  b.ir.guards.push_back({{{iota, static_cast<std::uint32_t>(b.ir.scalars.size() - 1)}}});
  return static_cast<std::uint32_t>(b.ir.guards.size() - 1);
}

/// One reduction of each row of x (rows of n).
template <class T>
std::vector<double> reduced(Op op, const std::vector<T>& x, std::int64_t n, Dtype d) {
  const bool serial = n <= 32;
  IrBuilder b(serial ? Schedule::ReduceSerial : Schedule::ReduceInner, 1);
  b.store(b.reduce(op, b.load(d, "*", '1')), "1", ' ', Region::Outer);
  verify(b.ir);
  const std::int64_t rows = n == 0 ? 2 : static_cast<std::int64_t>(x.size()) / n;
  const KernelArgs args{{rows}, n, {{0, {n}, 1}, {0, {1}, 0}}};
  const bool arg = graph::is_arg_reduce(op);
  std::vector<T> values(static_cast<std::size_t>(rows));
  std::vector<std::int64_t> indices(values.size());
  void* buffers[] = {const_cast<T*>(x.data()), arg ? static_cast<void*>(indices.data()) : values.data()};
  interpret(b.ir, args, buffers, {});
  return arg ? std::vector<double>(indices.begin(), indices.end()) : std::vector<double>(values.begin(), values.end());
}

/// argmin and argmax as numerics.md says: the first of the equal, NaN before all.
template <class T>
std::int64_t first_best(Op op, const std::vector<T>& x) {
  for (std::size_t k = 0; k < x.size(); ++k)
    if (x[k] != x[k]) return static_cast<std::int64_t>(k);
  std::size_t best = 0;
  for (std::size_t k = 1; k < x.size(); ++k)
    if (op == Op::ArgMin ? x[k] < x[best] : x[k] > x[best]) best = k;
  return static_cast<std::int64_t>(best);
}

const std::vector<std::int64_t> kLengths = {1, 2, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257, 300, 1000, 5000};

}  // namespace

TEST_CASE("interpreter: a guarded load touches what its box holds and gives 0 elsewhere", "[codegen][interpreter]") {
  IrBuilder b(Schedule::Pointwise, 1);
  const Value x = b.load(float32, "1");
  const std::uint32_t iota = b.access(kNone, false, "1");
  b.ir.instrs[x].guard = add_guard(b, iota);
  b.store(x, "1");
  verify(b.ir);
  for (const std::int64_t count : {10, 1000}) {  // within one tile and over several
    const std::vector<float> values(3, 7.5f);    // exactly the box: anything else is out of bounds
    std::vector<float> out(static_cast<std::size_t>(count), -1.0f);
    const std::int64_t start = count - 5;
    const KernelArgs args{{count}, 1, {{-start, {1}, 0}, {-start, {1}, 0}, {0, {1}, 0}}};
    void* buffers[] = {const_cast<float*>(values.data()), out.data()};
    const std::uint64_t scalars[] = {3};
    Traffic traffic;
    interpret(b.ir, args, buffers, scalars, &traffic);
    for (std::int64_t i = 0; i < count; ++i)
      CHECK(out[static_cast<std::size_t>(i)] == (i >= start && i < start + 3 ? 7.5f : 0.0f));
    CHECK(traffic.bytes_read == 3 * 4);
    CHECK(traffic.bytes_written == count * 4);
  }
}

TEST_CASE("interpreter: a guard holds where all its terms do", "[codegen][interpreter]") {
  IrBuilder b(Schedule::Pointwise, 2);
  const std::uint32_t rows = b.access(kNone, false, "10"), columns = b.access(kNone, false, "01");
  b.ir.scalars = {int64, int64};
  b.ir.guards = {{{{rows, 0}, {columns, 1}}}};
  Instr inside{InstrKind::Inside, Region::Point, bool_};
  inside.index = 0;
  b.ir.instrs.push_back(inside);
  b.store(0, "*1");
  verify(b.ir);
  CHECK(to_string(b.ir).find("guard g0: a0 < s0, a1 < s1\n") != std::string::npos);
  std::vector<std::uint8_t> out(6 * 7, 9);
  const KernelArgs args{{6, 7}, 1, {{-2, {1, 0}, 0}, {-1, {0, 1}, 0}, {0, {7, 1}, 0}}};
  void* buffers[] = {out.data()};
  const std::uint64_t scalars[] = {3, 5};
  interpret(b.ir, args, buffers, scalars);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 7; ++c)
      CHECK(out[static_cast<std::size_t>(r * 7 + c)] == (r >= 2 && r < 5 && c >= 1 && c < 6 ? 1 : 0));
}

TEST_CASE("interpreter: sum and product follow the tree", "[codegen][interpreter]") {
  for (const std::int64_t n : kLengths) {
    const std::vector<double> x = random_values<double>(n, 11);
    const auto element = [&](std::int64_t k) { return x[static_cast<std::size_t>(k)]; };
    const double sum = test::reduce_values<double>(n, element, std::plus<double>{});
    const double product = test::reduce_values<double>(n, element, std::multiplies<double>{});
    CHECK(same_bits(reduced(Op::Sum, x, n, float64).at(0), sum));
    CHECK(same_bits(reduced(Op::Prod, x, n, float64).at(0), product));
  }
}

TEST_CASE("interpreter: integer products wrap", "[codegen][interpreter]") {
  for (const std::int64_t n : {1, 3, 40, 300}) {
    std::vector<std::uint64_t> x = random_values<std::uint64_t>(n, 3);
    std::uint64_t product = 1;
    for (std::uint64_t& v : x) product *= v |= 1;
    IrBuilder b(n <= 32 ? Schedule::ReduceSerial : Schedule::ReduceInner, 0);
    b.store(b.reduce(Op::Prod, b.load(uint64, "", '1')), "", ' ', Region::Outer);
    std::uint64_t out = 0;
    void* buffers[] = {x.data(), &out};
    interpret(b.ir, {{}, n, {{0, {}, 1}, {0, {}, 0}}}, buffers, {});
    CHECK(out == product);
  }
}

TEST_CASE("interpreter: the sum of nothing is 0, the product 1", "[codegen][interpreter]") {
  CHECK(reduced<double>(Op::Sum, {}, 0, float64) == std::vector<double>{0, 0});
  CHECK(reduced<double>(Op::Prod, {}, 0, float64) == std::vector<double>{1, 1});
  CHECK(reduced<float>(Op::Prod, {}, 0, float32) == std::vector<double>{1, 1});
  CHECK(reduced<std::int64_t>(Op::Prod, {}, 0, int64) == std::vector<double>{1, 1});
  CHECK(reduced<std::uint64_t>(Op::Prod, {}, 0, uint64) == std::vector<double>{1, 1});
}

TEMPLATE_TEST_CASE("interpreter: argmin and argmax take the first", "[codegen][interpreter]", std::int32_t,
                   std::int64_t, std::uint32_t, std::uint64_t, float, double) {
  std::mt19937 random(5);
  for (const std::int64_t n : kLengths) {
    for (const int distinct : {1, 2, 3, 1000}) {
      std::vector<TestType> x(static_cast<std::size_t>(n));
      for (TestType& v : x) {
        v = static_cast<TestType>(random() % static_cast<unsigned>(distinct));
        if (distinct == 3 && std::is_signed_v<TestType>) v = static_cast<TestType>(v - 1);
        if (distinct == 2 && std::is_unsigned_v<TestType>) v = static_cast<TestType>(v - 1);  // 0 and the largest
      }
      for (const Op op : {Op::ArgMin, Op::ArgMax})
        CHECK(reduced(op, x, n, dtype_of<TestType>).at(0) == static_cast<double>(first_best(op, x)));
    }
  }
}

TEST_CASE("interpreter: argmin and argmax of NaN, zeros and infinities", "[codegen][interpreter]") {
  std::mt19937 random(6);
  const double special[] = {kNan, -kNan, 0.0, -0.0, kInfinity, -kInfinity, 1.0, -1.0};
  for (const std::int64_t n : kLengths) {
    for (const unsigned first : {0u, 2u, 4u}) {  // with NaN, without, without zeros
      std::vector<double> x(static_cast<std::size_t>(n));
      for (double& v : x) v = special[first + random() % (8 - first)];
      if (first == 0 && n > 40) std::fill(x.begin(), x.begin() + n / 2, 1.0);
      for (const Op op : {Op::ArgMin, Op::ArgMax})
        CHECK(reduced(op, x, n, float64).at(0) == static_cast<double>(first_best(op, x)));
    }
  }
}

TEST_CASE("interpreter: stages go over a row again and find its values", "[codegen][interpreter]") {
  for (const std::int64_t n : kLengths) {
    IrBuilder b(n <= 32 ? Schedule::RowSerial : Schedule::RowInner, 1);
    const Value x = b.load(float64, "*", '1'), largest = b.reduce(Op::Max, x);
    b.stage = 1;
    const Value e = b.op(Op::Exp, float64, {b.op(Op::Subtract, float64, {x, largest})});
    const Value sum = b.reduce(Op::Sum, e);
    b.store(sum, "1", ' ', Region::Outer);
    b.stage = 2;
    b.store(b.op(Op::Divide, float64, {e, sum}), "*", '1');
    verify(b.ir);
    const std::int64_t rows = 3;
    std::vector<double> in = random_values<double>(rows * n, 8), sums(3), out(in.size());
    const KernelArgs args{{rows}, n, {{0, {n}, 1}, {0, {1}, 0}, {0, {n}, 1}}};
    void* buffers[] = {in.data(), sums.data(), out.data()};
    Traffic traffic;
    interpret(b.ir, args, buffers, {}, &traffic);
    const auto exp = [f = scalar_function(Op::Exp, float64, float64)](double v) {
      double y;
      f(&y, &v, nullptr, nullptr);
      return y;
    };
    for (std::int64_t r = 0; r < rows; ++r) {
      const double* row = &in[static_cast<std::size_t>(r * n)];
      const double top = *std::max_element(row, row + n);
      const double total =
          test::reduce_values<double>(n, [&](std::int64_t k) { return exp(row[k] - top); }, std::plus<double>{});
      CHECK(same_bits(sums[static_cast<std::size_t>(r)], total));
      for (std::int64_t k = 0; k < n; ++k)
        REQUIRE(same_bits(out[static_cast<std::size_t>(r * n + k)], exp(row[k] - top) / total));
    }
    CHECK(traffic.bytes_read == rows * n * 8);  // each row once
    CHECK(traffic.bytes_written == rows * (n + 1) * 8);
  }
}

TEST_CASE("interpreter: two results of one reduction, and one of a later stage", "[codegen][interpreter]") {
  const std::int64_t n = 200;
  IrBuilder b(Schedule::RowInner, 0);
  const Value x = b.load(float64, "", '1'), mean = b.reduce(Op::Moments, x), m2 = b.result(1);
  b.store(m2, "", ' ', Region::Outer);
  b.stage = 1;
  const Value above = b.reduce(Op::ArgMax, b.op(Op::Subtract, float64, {x, mean}));
  b.store(above, "", ' ', Region::Outer);
  verify(b.ir);
  std::vector<double> in = random_values<double>(n, 4);
  double second = 0;
  std::int64_t index = 0;
  void* buffers[] = {in.data(), &second, &index};
  interpret(b.ir, {{}, n, {{0, {}, 1}, {0, {}, 0}, {0, {}, 0}}}, buffers, {});
  const auto expected =
      test::reduce_moments<double>(n, [&](std::int64_t k) { return in[static_cast<std::size_t>(k)]; });
  CHECK(same_bits(second, expected.m2));
  CHECK(index == std::max_element(in.begin(), in.end()) - in.begin());
}

TEST_CASE("interpreter: moves keep the bits of every dtype", "[codegen][interpreter]") {
  const auto copy = [](auto value, Dtype d) {
    IrBuilder b(Schedule::Pointwise, 1);
    b.store(b.load(d, "1"), "1");
    std::vector<decltype(value)> in(300, value), out(300);
    void* buffers[] = {in.data(), out.data()};
    Traffic traffic;
    interpret(b.ir, {{300}, 1, {{0, {1}, 0}, {0, {1}, 0}}}, buffers, {}, &traffic);
    CHECK(std::memcmp(in.data(), out.data(), 300 * sizeof value) == 0);
    CHECK(traffic.bytes_read == static_cast<std::int64_t>(300 * itemsize(d)));
    CHECK(itemsize(d) == sizeof value);
  };
  copy(std::uint8_t{1}, bool_);
  copy(std::int8_t{-3}, int8);
  copy(std::int16_t{-300}, int16);
  copy(std::int32_t{-70000}, int32);
  copy(std::int64_t{-5'000'000'000}, int64);
  copy(std::uint8_t{250}, uint8);
  copy(std::uint16_t{65000}, uint16);
  copy(std::uint32_t{4'000'000'000}, uint32);
  copy(~std::uint64_t{0}, uint64);
  copy(std::uint16_t{0x7d01}, float16);   // a signalling NaN
  copy(std::uint16_t{0xff81}, bfloat16);  // another
  copy(std::uint32_t{0x7f800001}, float32);
  copy(std::uint64_t{0x7ff0000000000001}, float64);
}

namespace {

void check_broken(const KernelIr& ir, const std::string& rule) {
  INFO(to_string(ir));
  try {
    verify(ir);
    FAIL("verify() takes it: " << rule);
  } catch (const InternalError& e) {
    CHECK_THAT(e.what(), Catch::Contains(rule));
  }
}

/// Stage 0: max; stage 1: x - max, stored.
IrBuilder two_stages() {
  IrBuilder b(Schedule::RowInner, 1);
  const Value x = b.load(float32, "*", '1'), largest = b.reduce(Op::Max, x);
  b.stage = 1;
  b.store(b.op(Op::Subtract, float32, {x, largest}), "*", '1');
  return b;
}

}  // namespace

TEST_CASE("kernel ir: stages see what is there before them", "[codegen][interpreter]") {
  const IrBuilder good = two_stages();
  verify(good.ir);
  SECTION("a point of the first stage has no result yet") {
    KernelIr ir = good.ir;
    ir.instrs[2].stage = 0;
    check_broken(ir, "instruction 2 uses a value that it cannot see");
  }
  SECTION("nor a value of a later stage") {
    KernelIr ir = good.ir;
    ir.instrs[0].stage = 1;
    check_broken(ir, "a reduction's input");
  }
  SECTION("a result comes with its reduction") {
    KernelIr ir = good.ir;
    ir.reductions[0].stage = 1;
    check_broken(ir, "a result before its reduction");
  }
  SECTION("stages belong to row schedules") {
    KernelIr ir = good.ir;
    ir.layout = codegen::ReduceInnerLayout{};
    check_broken(
        ir, "several stages belong to schedules of rows, scans, rows and columns, iterated stencils and recurrences");
    IrBuilder one(Schedule::RowSerial, 1);
    one.store(one.reduce(Op::Sum, one.load(float32, "*", '1')), "1", ' ', Region::Outer);
    check_broken(
        one.ir,
        "several stages belong to schedules of rows, scans, rows and columns, iterated stencils and recurrences");
  }
  SECTION("a row value has no stage") {
    IrBuilder b = two_stages();
    b.ir.instrs[0].region = Region::Row;
    b.ir.accesses[0].reduced = StrideClass::Zero;
    b.ir.instrs[0].stage = 1;
    check_broken(b.ir, "a row value has no stage");
  }
}

TEST_CASE("kernel ir: the two ways of a row-and-column kernel are apart", "[codegen][interpreter]") {
  IrBuilder b(Schedule::ReduceRowColumn, 1);
  const Value x = b.load(float32, "*", '1');
  const Value along = b.reduce(Op::Sum, x);
  b.store(along, "1", ' ', Region::Outer);
  b.stage = 1;
  const Value across = b.reduce(Op::Max, x);
  b.store(across, "0", '1', Region::Outer);
  codegen::verify(b.ir);
  SECTION("a value of the other way") {
    b.ir.instrs.back().args[0] = along;
    check_broken(b.ir, "a value of the other way");
  }
  SECTION("a store that moves along what is reduced") {
    b.ir.accesses.back().strides[0] = StrideClass::One;
    check_broken(b.ir, "it moves along the dimension that is reduced");
  }
  SECTION("a result of the other way") {
    b.ir.instrs[across].index = b.ir.instrs[along].index;
    check_broken(b.ir, "a result of the other way");
  }
  SECTION("one way only") {
    b.ir.reductions[0].stage = 1;
    b.ir.instrs[along].stage = b.ir.instrs[along + 1].stage = 1;
    b.ir.accesses[b.ir.instrs[along + 1].index] = b.ir.accesses.back();
    check_broken(b.ir, "a kernel of rows and columns reduces both ways");
  }
  SECTION("values of a row") {
    b.ir.instrs[x].region = Region::Row;
    b.ir.accesses[b.ir.instrs[x].index].reduced = StrideClass::Zero;
    check_broken(b.ir, "row values of a kernel of rows and columns are scalars");
  }
  SECTION("points of the second way") {
    b.ir.instrs[x].stage = 1;
    check_broken(b.ir, "");
  }
}

TEST_CASE("kernel ir: results have the dtype of what they are", "[codegen][interpreter]") {
  IrBuilder b(Schedule::ReduceInner, 0);
  const Value at = b.reduce(Op::ArgMin, b.load(float32, "", '1'));
  CHECK(b.ir.instrs[at].dtype == int64);
  verify(b.ir);
  KernelIr ir = b.ir;
  ir.instrs[at].dtype = float32;
  check_broken(ir, "dtype of a result");
  ir = b.ir;
  ir.instrs[at].output = 1;
  check_broken(ir, "output of a reduction");
}

TEST_CASE("kernel ir: guards test coordinates of their region", "[codegen][interpreter]") {
  IrBuilder b(Schedule::ReduceInner, 1);
  const Value x = b.load(float32, "*", '1');
  const std::uint32_t iota = b.access(kNone, false, "0", '1');
  b.ir.instrs[x].guard = add_guard(b, iota);
  b.store(b.reduce(Op::Sum, x), "1", ' ', Region::Outer);
  verify(b.ir);
  SECTION("a row value's guard cannot move along the row") {
    KernelIr ir = b.ir;
    ir.instrs[x].region = Region::Row;
    ir.accesses[0].reduced = StrideClass::Zero;
    check_broken(ir, "a row value varies along the reduced axis");
  }
  SECTION("a guard tests an iota") {
    KernelIr ir = b.ir;
    ir.guards[0].terms[0].access = 0;
    check_broken(ir, "a guard tests an iota");
  }
  SECTION("against an extent") {
    KernelIr ir = b.ir;
    ir.scalars[0] = float64;
    check_broken(ir, "an extent of a guard");
  }
  SECTION("it exists and has terms") {
    KernelIr ir = b.ir;
    ir.instrs[x].guard = 1;
    check_broken(ir, "names no guard");
    ir = b.ir;
    ir.guards[0].terms.clear();
    check_broken(ir, "a guard without a term");
  }
  SECTION("stores have none") {
    KernelIr ir = b.ir;
    ir.instrs.back().guard = 0;
    check_broken(ir, "only a load of a buffer has a guard");
  }
  SECTION("an access has one guard or none") {
    KernelIr ir = b.ir;
    Instr again = ir.instrs[x];
    again.guard = kNone;
    ir.instrs.push_back(again);
    check_broken(ir, "load one access under two guards");
  }
}

TEST_CASE("kernel ir: the state of an arg reduction is a value and its index", "[codegen][interpreter]") {
  IrBuilder b(Schedule::ReduceInner, 0);
  b.reduce(Op::ArgMax, b.load(float32, "", '1'));
  b.reduce(Op::Prod, b.load(float32, "", '1'));
  b.reduce(Op::Moments, b.load(float64, "", '1'));
  const auto fields = state_fields(b.ir);
  REQUIRE(fields.size() == 5);
  CHECK(fields[0].part == std::string("value"));
  CHECK(fields[0].dtype == float32);
  CHECK(fields[1].part == std::string("index"));
  CHECK(fields[1].dtype == int64);
  CHECK(fields[2].part == std::string("value"));
  CHECK(state_bytes(b.ir) == 8 + 8 + 8 + 8 + 8);  // f32 and padding, i64, f32 and padding, two f64
}
