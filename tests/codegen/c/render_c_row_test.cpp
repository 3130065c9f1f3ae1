// C kernels that go over a row several times, at every instruction set level of this machine: softmax and friends
// against tree R and the prelude's functions written out.
#include <cmath>
#include <cstring>
#include <random>

#include "codegen/interpret/interpreter.h"
#include "support/env.h"
#include "tests/helpers/reduction_tree.h"
#include "tests/helpers/same_bits.h"
#include "tests/kernels/cpu_kernel.h"

using namespace tarry;
using namespace tarry::codegen;
using graph::Op;
using test::CpuKernel;
using test::IrBuilder;
using test::same_bits;

namespace {

struct ThreadCount {
  explicit ThreadCount(const std::string& n) { support::env::set("TARRY_NUM_THREADS", n); }
  ~ThreadCount() { support::env::set("TARRY_NUM_THREADS", std::nullopt); }
};

std::vector<float> values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>(static_cast<double>(random()) / 4294967296.0 * 12 - 6);
  return v;
}

float prelude_exp(float x) {
  std::uint64_t in = 0, out = 0;
  std::memcpy(&in, &x, sizeof x);
  scalar_function(Op::Exp, float32, float32)(&out, &in, nullptr, nullptr);
  float y = 0;
  std::memcpy(&y, &out, sizeof y);
  return y;
}

float plus(float a, float b) { return a + b; }
float larger(float a, float b) { return std::isnan(a) || a > b ? a : b; }

/// How the rows of the input lie in memory; the output is row-major.
struct Strides {
  const char* name;
  std::int64_t row, k;  ///< strides in elements of n and 1, or of 1 and rows
  std::int64_t offset;
};

std::vector<Strides> layouts(std::int64_t rows, std::int64_t n) {
  return {{"contiguous", n, 1, 0},
          {"transposed", 1, rows, 0},
          {"every other", 2 * n, 2, 1},
          {"reversed", n, -1, n - 1},
          {"one row for all", 0, 1, 0},
          {"one value per row", 1, 0, 0},
          {"last row first", -n, 1, (rows - 1) * n}};
}

char stride_char(std::int64_t s) { return s == 0 ? '0' : s == 1 ? '1' : '*'; }

/// softmax, its logarithm's sum and the row's maximum.
KernelIr softmax(Schedule schedule, const Strides& x) {
  IrBuilder b(schedule, 1);
  const Value v = b.load(float32, std::string(1, stride_char(x.row)), stride_char(x.k));
  const Value most = b.reduce(Op::Max, v);
  b.store(most, "1", ' ', Region::Outer);
  b.stage = 1;
  const Value e = b.op(Op::Exp, float32, {b.op(Op::Subtract, float32, {v, most})});
  const Value sum = b.reduce(Op::Sum, e);
  b.store(b.op(Op::Add, float32, {sum, most}, Region::Outer), "1", ' ', Region::Outer);
  b.stage = 2;
  b.store(b.op(Op::Divide, float32, {e, sum}), "*", '1');
  return b.ir;
}

}  // namespace

TEST_CASE("render c: softmax rows have the bits of three separate kernels", "[codegen][cpu][row]") {
  const auto schedule = GENERATE(Schedule::RowSerial, Schedule::RowInner);
  constexpr std::int64_t kRows = 301;
  for (std::size_t which = 0; which < layouts(kRows, 40).size(); ++which) {
    const Strides shape = layouts(kRows, 40)[which];
    INFO("layout " << shape.name);
    for (const graph::Target* target : test::cpu_targets()) {
      const CpuKernel kernel(softmax(schedule, shape), *target);
      for (const std::int64_t n : {0, 1, 2, 10, 31, 32, 33, 100, 127, 128, 129, 1000, 1024, 1025, 5000}) {
        if (n > 32 && schedule == Schedule::RowSerial) continue;
        const std::int64_t rows = n > 1000 ? 5 : kRows;
        const Strides at = layouts(rows, n)[which];
        auto xs = values(static_cast<std::size_t>(2 * rows * n + rows + 2), static_cast<unsigned>(n));
        const auto size = static_cast<std::size_t>(rows);
        std::vector<float> most(size), sums(size), out(static_cast<std::size_t>(rows * n));
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto o = static_cast<std::size_t>(r);
          const auto e = [&](std::int64_t k) {
            return xs[static_cast<std::size_t>(at.offset + r * at.row + k * at.k)];
          };
          const auto power = [&](std::int64_t k) { return prelude_exp(e(k) - most[o]); };
          if (n > 0) most[o] = test::reduce_values<float>(n, e, larger);
          const float sum = n > 0 ? test::reduce_values<float>(n, power, plus) : 0.0f;
          sums[o] = sum + most[o];
          for (std::int64_t k = 0; k < n; ++k) out[static_cast<std::size_t>(r * n + k)] = power(k) / sum;
        }
        for (const char* threads : {"1", "2", "7"}) {
          const ThreadCount count(threads);
          INFO("n " << n << " threads " << threads << " target " << target->name);
          std::vector<float> r_most(size), r_sums(size), r_out(out.size());
          const KernelArgs args{{rows}, n, {{at.offset, {at.row}, at.k}, {0, {1}, 0}, {0, {1}, 0}, {0, {n}, 1}}};
          kernel.run(args, {xs.data(), r_most.data(), r_sums.data(), r_out.data()});
          REQUIRE(same_bits(r_most, most));
          REQUIRE(same_bits(r_sums, sums));
          REQUIRE(same_bits(r_out, out));
        }
      }
    }
  }
}
