// Kernels rendered as C: compiled, run, and compared with loops and with tree R written here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "codegen/c/render.h"
#include "codegen/render/common.h"
#include "support/env.h"
#include "support/file.h"
#include "support/process.h"
#include "support/temporary.h"
#include "tests/helpers/reduction_tree.h"
#include "tests/kernels/cpu_kernel.h"

using namespace tarry;
using namespace tarry::codegen;
using graph::Op;
using test::CpuKernel;
using test::IrBuilder;

namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const T& x, const T& y) {
           if constexpr (std::is_floating_point_v<T>)
             if (std::isnan(x) && std::isnan(y)) return true;
           return std::memcmp(&x, &y, sizeof x) == 0;
         });
}

template <class T>
std::vector<T> values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (T& x : v) {
    const double u = static_cast<double>(random()) / 4294967296.0 - 0.5;
    x = static_cast<T>(std::is_floating_point_v<T> ? u * std::exp2(static_cast<double>(random() % 20)) : u * 1e6);
  }
  return v;
}

const std::vector<std::string> kThreadCounts = {"1", "2", "7"};
struct ThreadCount {
  explicit ThreadCount(const std::string& n) { support::env::set("TARRY_NUM_THREADS", n); }
  ~ThreadCount() { support::env::set("TARRY_NUM_THREADS", std::nullopt); }
};

const std::vector<std::int64_t> kLengths = {0,    1,    2,    31,   32,   33,   96,   100,  127,
                                            128,  129,  255,  256,  257,  511,  512,  513,  1000,
                                            1023, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 65536 * 3 + 17};

template <class T>
T smaller(T a, T b) {
  if (std::isnan(static_cast<double>(a))) return a;
  return b < a || std::isnan(static_cast<double>(b)) ? b : a;
}

/// Strides of "x[outer][k]" or "x[k][outer]".
KernelArgs reduce_args(std::int64_t outer, std::int64_t n, Schedule schedule, std::size_t loads, std::size_t stores) {
  KernelArgs args;
  args.extents.push_back(outer);
  args.reduced = n;
  const bool inner = schedule == Schedule::ReduceInner;
  for (std::size_t i = 0; i < loads; ++i)
    args.accesses.push_back({0, inner ? graph::Dims{n} : graph::Dims{1}, inner ? 1 : outer});
  for (std::size_t i = 0; i < stores; ++i) args.accesses.push_back({0, {1}, 0});
  return args;
}

}  // namespace

TEST_CASE("render c: axpy with a scalar parameter", "[codegen][cpu]") {
  IrBuilder b(Schedule::Pointwise, 1);
  const Value a = b.scalar(float32), x = b.load(float32, "1"), y = b.load(float32, "1");
  b.store(b.op(Op::Add, float32, {b.op(Op::Multiply, float32, {a, x}), y}), "1");
  const CpuKernel kernel(b.ir);
  for (const std::int64_t n : {0, 1, 7, 16, 1000, 300'001}) {
    const auto xs = values<float>(static_cast<std::size_t>(n), 1), ys = values<float>(static_cast<std::size_t>(n), 2);
    std::vector<float> expected(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const float product = 1.7f * xs[i];
      expected[i] = product + ys[i];
    }
    for (const std::string& threads : kThreadCounts) {
      const ThreadCount count(threads);
      std::vector<float> out(xs.size());
      KernelArgs args{{n}, 1, {{0, {1}, 0}, {0, {1}, 0}, {0, {1}, 0}}};
      kernel.run(args, {const_cast<float*>(xs.data()), const_cast<float*>(ys.data()), out.data()},
                 {std::bit_cast<std::uint32_t>(1.7f)});
      REQUIRE(same_bits(out, expected));
    }
  }
}

TEST_CASE("render c: gcc counts the registers of a long point, and makes no branches of choices", "[codegen][cpu]") {
  const auto chain = [](Op op, int length, Dtype dtype = float64) {
    IrBuilder b(Schedule::Pointwise, 1);
    const Value y = b.load(dtype, "1");
    Value x = y;
    for (int i = 0; i < length; ++i) x = b.op(op, dtype, op == Op::Exp ? std::vector{x} : std::vector{x, y});
    b.store(x, "1");
    return render_c_pointwise(b.ir, *graph::find_target("x86-64-v3")).text;
  };
  CHECK_THAT(chain(Op::Exp, 2), !Catch::Contains("#pragma GCC optimize"));
  CHECK_THAT(chain(Op::Exp, 40), Catch::Contains("#pragma GCC optimize(\"sched-pressure\", \"no-gcse\")") &&
                                     Catch::Contains("#pragma GCC pop_options"));
  CHECK_THAT(chain(Op::Maximum, 2), Catch::Contains("#pragma GCC optimize(\"no-tree-dominator-opts\")"));
  for (const Op op : {Op::BitwiseRightShift, Op::BitwiseLeftShift, Op::FloorDivide, Op::Remainder})
    CHECK_THAT(chain(op, 2, uint32), Catch::Contains("#pragma GCC optimize(\"no-thread-jumps\")"));
  CHECK_THAT(chain(Op::FloorDivide, 2), !Catch::Contains("no-thread-jumps"));
}

TEST_CASE("render c: gcc looks for few addresses unless many accesses have elements apart", "[codegen][cpu]") {
  const auto sum = [](int loads, const char* strides) {
    IrBuilder b(Schedule::Pointwise, 1);
    Value x = b.load(float64, strides);
    for (int i = 1; i < loads; ++i) x = b.op(Op::Add, float64, {x, b.load(float64, strides)});
    b.store(x, "1");
    return render_c_pointwise(b.ir, *graph::find_target("x86-64-v3")).text;
  };
  CHECK_THAT(sum(9, "*"), Catch::Contains("#pragma GCC optimize(\"no-ivopts\")"));
  CHECK_THAT(sum(8, "*") + sum(20, "1") + sum(20, "0"), !Catch::Contains("#pragma GCC optimize"));
}

TEST_CASE("render c: three dimensions, every stride class, offsets, iota and mixed dtypes", "[codegen][cpu]") {
  IrBuilder b(Schedule::Pointwise, 3);
  const Value x = b.load(float32, "**1"), y = b.load(int32, "0**"), z = b.load(bool_, "*10"),
              w = b.load(float64, "000"), i = b.iota("1**");
  const Value sum = b.op(Op::Add, int64, {b.op(Op::Cast, int64, {y}), i});
  const Value wide = b.op(Op::Multiply, float64, {b.op(Op::Cast, float64, {x}), w});
  b.store(b.op(Op::Where, float64, {z, wide, b.op(Op::Cast, float64, {sum})}), "**1");
  b.store(b.op(Op::Less, bool_, {x, b.op(Op::Cast, float32, {y})}), "**1");
  const CpuKernel kernel(b.ir);
  constexpr std::int64_t A = 5, B = 7, C = 37;
  const auto xs = values<float>(A * B * C + 3, 1);
  const auto ys = values<std::int32_t>(B * C * 2, 2);
  std::vector<std::uint8_t> zs(A * B + B);
  for (std::size_t k = 0; k < zs.size(); ++k) zs[k] = k % 3 == 0;
  const std::vector<double> ws = {0.1};
  std::vector<double> expected(A * B * C);
  std::vector<std::uint8_t> expected_less(expected.size());
  for (std::int64_t p = 0; p < A; ++p)
    for (std::int64_t q = 0; q < B; ++q)
      for (std::int64_t r = 0; r < C; ++r) {
        const auto at = static_cast<std::size_t>((p * B + q) * C + r);
        const float xv = xs[at + 3];
        const std::int32_t yv = ys[static_cast<std::size_t>((B - 1 - q) * C * 2 + r * 2)];
        const std::int64_t iv = 100 + p + q * 1000 - r * 7;
        expected[at] =
            zs[static_cast<std::size_t>(p * B + q)] ? static_cast<double>(xv) * ws[0] : static_cast<double>(yv + iv);
        expected_less[at] = xv < static_cast<float>(yv);
      }
  for (const std::string& threads : kThreadCounts) {
    const ThreadCount count(threads);
    std::vector<double> out(expected.size());
    std::vector<std::uint8_t> less(expected.size());
    KernelArgs args{{A, B, C}, 1, {}};
    args.accesses = {{3, {B * C, C, 1}, 0},   {(B - 1) * C * 2, {0, -C * 2, 2}, 0},
                     {0, {B, 1, 0}, 0},       {0, {0, 0, 0}, 0},
                     {100, {1, 1000, -7}, 0}, {0, {B * C, C, 1}, 0},
                     {0, {B * C, C, 1}, 0}};
    kernel.run(args, {const_cast<float*>(xs.data()), const_cast<std::int32_t*>(ys.data()), zs.data(),
                      const_cast<double*>(ws.data()), out.data(), less.data()});
    REQUIRE(same_bits(out, expected));
    REQUIRE(same_bits(less, expected_less));
  }
}

TEST_CASE("render c: any split of a pointwise kernel gives the same elements", "[codegen][cpu]") {
  IrBuilder b(Schedule::Pointwise, 2);
  const Value x = b.load(float32, "1*");
  b.store(b.op(Op::Sqrt, float32, {b.op(Op::Abs, float32, {x})}), "*1");
  const CpuKernel kernel(b.ir);
  constexpr std::int64_t R = 700, C = 601;
  auto xs = values<float>(R * C, 3);
  std::vector<float> one(R * C), seven(R * C);
  const KernelArgs args{{R, C}, 1, {{0, {1, R}, 0}, {0, {C, 1}, 0}}};
  {
    const ThreadCount count("1");
    kernel.run(args, {xs.data(), one.data()});
  }
  {
    const ThreadCount count("7");
    kernel.run(args, {xs.data(), seven.data()});
  }
  REQUIRE(same_bits(one, seven));
  REQUIRE(one[static_cast<std::size_t>(5 * C + 9)] == std::sqrt(std::fabs(xs[static_cast<std::size_t>(9 * R + 5)])));
}

TEST_CASE("render c: an output may take the memory of an input", "[codegen][cpu]") {
  IrBuilder b(Schedule::Pointwise, 1);
  const Value x = b.load(float32, "1"), y = b.load(float32, "1");
  b.store(b.op(Op::Add, float32, {x, y}), "1");
  b.store(b.op(Op::Multiply, float32, {x, y}), "1");
  const CpuKernel kernel(b.ir);
  auto xs = values<float>(5000, 1), ys = values<float>(5000, 2);
  std::vector<float> sum(xs.size()), product(xs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    sum[i] = xs[i] + ys[i];
    product[i] = xs[i] * ys[i];
  }
  const KernelArgs args{{5000}, 1, {{0, {1}, 0}, {0, {1}, 0}, {0, {1}, 0}, {0, {1}, 0}}};
  kernel.run(args, {xs.data(), ys.data(), xs.data(), ys.data()});
  REQUIRE(same_bits(xs, sum));
  REQUIRE(same_bits(ys, product));
}

TEST_CASE("render c: sum, min and moments follow tree R in every schedule", "[codegen][cpu]") {
  const auto schedule = GENERATE(Schedule::ReduceSerial, Schedule::ReduceInner, Schedule::ReduceOuter);
  const bool inner = schedule == Schedule::ReduceInner;
  IrBuilder b(schedule, 1);
  const Value x = b.load(float32, inner ? "*" : "1", inner ? '1' : '*');
  const Value wide = b.op(Op::Cast, float64, {b.op(Op::Multiply, float32, {x, x})});
  b.store(b.reduce(Op::Sum, x), "1", ' ', Region::Outer);
  b.store(b.reduce(Op::Min, x), "1", ' ', Region::Outer);
  const Value mean = b.reduce(Op::Moments, wide);
  b.store(mean, "1", ' ', Region::Outer);
  b.store(b.result(1), "1", ' ', Region::Outer);
  const Value mean32 = b.reduce(Op::Moments, x);
  b.store(b.op(Op::Add, float32, {mean32, mean32}, Region::Outer), "1", ' ', Region::Outer);
  b.store(b.result(1), "1", ' ', Region::Outer);
  const CpuKernel kernel(b.ir);
  for (const std::int64_t n : kLengths) {
    if (n > 32 && schedule == Schedule::ReduceSerial) continue;
    for (const std::int64_t outer : {std::int64_t{1}, std::int64_t{3}, std::int64_t{300}}) {
      if (n * outer > 2'000'000) continue;
      auto xs = values<float>(static_cast<std::size_t>(n * outer), static_cast<unsigned>(n));
      const auto element = [&](std::int64_t o) {
        return [&, o](std::int64_t k) { return xs[static_cast<std::size_t>(inner ? o * n + k : k * outer + o)]; };
      };
      const auto size = static_cast<std::size_t>(outer);
      std::vector<float> sum(size), least(size), twice(size), m2(size);
      std::vector<double> wide_mean(size), wide_m2(size);
      for (std::int64_t o = 0; o < outer && n > 0; ++o) {
        const auto at = static_cast<std::size_t>(o);
        const auto e = element(o);
        sum[at] = test::reduce_values<float>(n, e, [](float p, float q) { return p + q; });
        least[at] = test::reduce_values<float>(n, e, smaller<float>);
        const auto wide_moments = test::reduce_moments<double>(n, [&](std::int64_t k) {
          const float y = e(k) * e(k);
          return static_cast<double>(y);
        });
        wide_mean[at] = wide_moments.mean;
        wide_m2[at] = wide_moments.m2;
        const auto moments = test::reduce_moments<float>(n, e);
        twice[at] = moments.mean + moments.mean;
        m2[at] = moments.m2;
      }
      const KernelArgs args = reduce_args(outer, n, schedule, 1, 6);
      for (const std::string& threads : kThreadCounts) {
        const ThreadCount count(threads);
        INFO("n " << n << " outer " << outer << " threads " << threads);
        std::vector<float> r_sum(size, -1), r_least(size, -1), r_twice(size, -1), r_m2(size, -1);
        std::vector<double> r_mean(size, -1), r_wide_m2(size, -1);
        kernel.run(args, {xs.data(), r_sum.data(), r_least.data(), r_mean.data(), r_wide_m2.data(), r_twice.data(),
                          r_m2.data()});
        REQUIRE(same_bits(r_sum, sum));
        if (n > 0) REQUIRE(same_bits(r_least, least));
        REQUIRE(same_bits(r_mean, wide_mean));
        REQUIRE(same_bits(r_wide_m2, wide_m2));
        REQUIRE(same_bits(r_twice, twice));
        REQUIRE(same_bits(r_m2, m2));
      }
    }
  }
}

TEST_CASE("render c: columns of a plain matrix follow tree R", "[codegen][cpu]") {
  IrBuilder b(Schedule::ReduceOuter, 1);
  const Value x = b.load(float32, "1", '*');
  b.store(b.reduce(Op::Sum, x), "1", ' ', Region::Outer);
  b.store(b.reduce(Op::Max, x), "1", ' ', Region::Outer);
  b.store(b.reduce(Op::Moments, x), "1", ' ', Region::Outer);
  b.store(b.result(1), "1", ' ', Region::Outer);
  const CpuKernel kernel(b.ir);
  for (const std::int64_t n : kLengths) {
    if (n == 0) continue;
    const std::int64_t outer = n < 1500 ? 600 : 5;
    const auto size = static_cast<std::size_t>(outer);
    auto xs = values<float>(static_cast<std::size_t>(n * outer), static_cast<unsigned>(n));
    std::vector<float> sum(size), most(size), mean(size), m2(size);
    for (std::size_t o = 0; o < size; ++o) {
      const auto e = [&](std::int64_t k) { return xs[static_cast<std::size_t>(k * outer) + o]; };
      sum[o] = test::reduce_values<float>(n, e, [](float p, float q) { return p + q; });
      most[o] = test::reduce_values<float>(n, e, [](float p, float q) { return std::max(p, q); });
      const auto moments = test::reduce_moments<float>(n, e);
      mean[o] = moments.mean;
      m2[o] = moments.m2;
    }
    for (const std::string& threads : kThreadCounts) {
      const ThreadCount count(threads);
      INFO("n " << n << " threads " << threads);
      std::vector<float> r_sum(size), r_most(size), r_mean(size), r_m2(size);
      kernel.run(reduce_args(outer, n, Schedule::ReduceOuter, 1, 4),
                 {xs.data(), r_sum.data(), r_most.data(), r_mean.data(), r_m2.data()});
      REQUIRE(same_bits(r_sum, sum));
      REQUIRE(same_bits(r_most, most));
      REQUIRE(same_bits(r_mean, mean));
      REQUIRE(same_bits(r_m2, m2));
    }
  }
}

TEST_CASE("render c: moments_merge follows tree R in every schedule", "[codegen][cpu]") {
  const auto schedule = GENERATE(Schedule::ReduceSerial, Schedule::ReduceInner, Schedule::ReduceOuter);
  const bool inner = schedule == Schedule::ReduceInner;
  IrBuilder b(schedule, 1);
  b.scalar(int64);
  const Value mean = b.load(float32, inner ? "*" : "1", inner ? '1' : '*'),
              m2 = b.load(float32, inner ? "*" : "1", inner ? '1' : '*');
  b.store(b.reduce(Op::MomentsMerge, mean, m2, 0), "1", ' ', Region::Outer);
  b.store(b.result(1), "1", ' ', Region::Outer);
  const CpuKernel kernel(b.ir);
  for (const std::int64_t n : kLengths) {
    if (n == 0 || (n > 32 && schedule == Schedule::ReduceSerial)) continue;
    const std::int64_t outer = n > 5000 ? 2 : 77, weight = 12345;
    auto means = values<float>(static_cast<std::size_t>(n * outer), 1),
         m2s = values<float>(static_cast<std::size_t>(n * outer), 2);
    const auto size = static_cast<std::size_t>(outer);
    std::vector<float> expected_mean(size), expected_m2(size);
    for (std::int64_t o = 0; o < outer; ++o) {
      const auto s = test::reduce_moments_merge<float>(n, weight, [&](std::int64_t k) {
        const auto at = static_cast<std::size_t>(inner ? o * n + k : k * outer + o);
        return test::Moments<float>{0, means[at], m2s[at]};
      });
      expected_mean[static_cast<std::size_t>(o)] = s.mean;
      expected_m2[static_cast<std::size_t>(o)] = s.m2;
    }
    for (const std::string& threads : kThreadCounts) {
      const ThreadCount count(threads);
      INFO("n " << n << " threads " << threads);
      std::vector<float> r_mean(size), r_m2(size);
      kernel.run(reduce_args(outer, n, schedule, 2, 2), {means.data(), m2s.data(), r_mean.data(), r_m2.data()},
                 {static_cast<std::uint64_t>(weight)});
      REQUIRE(same_bits(r_mean, expected_mean));
      REQUIRE(same_bits(r_m2, expected_m2));
    }
  }
}

TEST_CASE("render c: row values, point stores and an epilogue beside integer reductions", "[codegen][cpu]") {
  const auto schedule = GENERATE(Schedule::ReduceSerial, Schedule::ReduceInner, Schedule::ReduceOuter);
  const bool inner = schedule == Schedule::ReduceInner;
  constexpr std::int64_t A = 3, B = 41;
  const std::int64_t n = schedule == Schedule::ReduceSerial ? 19 : 1333;
  IrBuilder b(schedule, 2);
  const Value row = b.load(int32, "10", '0', Region::Row);
  const Value row2 = b.op(Op::Multiply, int32, {row, row}, Region::Row);
  const Value x = b.load(int32, inner ? "**" : "*1", inner ? '1' : '*');
  const Value y = b.op(Op::Add, int32, {x, row2});
  b.store(y, inner ? "**" : "*1", inner ? '1' : '*');
  const Value sum = b.reduce(Op::Sum, b.op(Op::Cast, int64, {y}));
  const Value most = b.reduce(Op::Max, x);
  b.store(b.op(Op::Add, int64, {sum, b.op(Op::Cast, int64, {row}, Region::Outer)}, Region::Outer), "*1", ' ',
          Region::Outer);
  b.store(most, "*1", ' ', Region::Outer);
  const CpuKernel kernel(b.ir);
  std::vector<std::int32_t> rows = {5, -7, 70'000};
  auto xs = values<std::int32_t>(static_cast<std::size_t>(A * B * n), 4);
  std::vector<std::int32_t> points(xs.size()), most_expected(A * B);
  std::vector<std::int64_t> sums(A * B);
  for (std::int64_t o = 0; o < A * B; ++o) {
    const auto at = static_cast<std::size_t>(o);
    const std::int32_t r = rows[static_cast<std::size_t>(o / B)];
    most_expected[at] = std::numeric_limits<std::int32_t>::min();
    for (std::int64_t k = 0; k < n; ++k) {
      const auto p = static_cast<std::size_t>(inner ? o * n + k : (o / B * n + k) * B + o % B);
      points[p] = static_cast<std::int32_t>(static_cast<std::uint32_t>(xs[p]) +
                                            static_cast<std::uint32_t>(r) * static_cast<std::uint32_t>(r));
      sums[at] += points[p];
      most_expected[at] = std::max(most_expected[at], xs[p]);
    }
    sums[at] += r;
  }
  const graph::Dims strides = inner ? graph::Dims{B * n, n} : graph::Dims{n * B, 1};
  const std::int64_t reduced = inner ? 1 : B;
  const KernelArgs args{
      {A, B}, n, {{0, {1, 0}, 0}, {0, strides, reduced}, {0, strides, reduced}, {0, {B, 1}, 0}, {0, {B, 1}, 0}}};
  for (const std::string& threads : kThreadCounts) {
    const ThreadCount count(threads);
    std::vector<std::int32_t> r_points(points.size()), r_most(A * B);
    std::vector<std::int64_t> r_sums(A * B);
    kernel.run(args, {rows.data(), xs.data(), r_points.data(), r_sums.data(), r_most.data()});
    REQUIRE(same_bits(r_points, points));
    REQUIRE(same_bits(r_sums, sums));
    REQUIRE(same_bits(r_most, most_expected));
  }
}

TEST_CASE("render c: a full reduction in chunks has the bits of one piece", "[codegen][cpu]") {
  IrBuilder b(Schedule::ReduceInner, 0);
  const Value x = b.load(float32, "", '*');
  b.store(b.reduce(Op::Sum, x), "", ' ', Region::Outer);
  const CpuKernel kernel(b.ir);
  constexpr std::int64_t n = 5 * 65536 + 777;
  auto xs = values<float>(2 * n, 9);
  KernelArgs args{{}, n, {{2 * n - 1, {}, -2}, {0, {}, 0}}};
  REQUIRE(geometry(kernel.ir, test::cpu_device().target(), args).chunks == 6);
  std::vector<float> out(1);
  kernel.run(args, {xs.data(), out.data()});
  const float expected = test::reduce_values<float>(
      n, [&](std::int64_t k) { return xs[static_cast<std::size_t>(2 * n - 1 - 2 * k)]; },
      [](float p, float q) { return p + q; });
  REQUIRE(same_bits(out, {expected}));
}

TEST_CASE("render c: the loop over float32 uses packed instructions", "[codegen][cpu]") {
#ifdef TARRY_SANITIZE_NAME
  SUCCEED("instrumented code is not vectorised");
#else
  if (!support::run_process({"objdump", "--version"}).succeeded() || test::cpu_device().target().name[0] != 'x') return;
  IrBuilder b(Schedule::Pointwise, 1);
  const Value x = b.load(float32, "1"), y = b.load(float32, "0");
  b.store(b.op(Op::Add, float32, {b.op(Op::Multiply, float32, {x, y}), x}), "1");
  const CpuKernel kernel(b.ir);
  const support::ScopedTemporaryDirectory directory;
  const auto path = directory.path() / "kernel.so";
  REQUIRE_FALSE(support::write_file_atomically(path, *kernel.binary.image));
  const std::string code = support::run_process({"objdump", "-d", path.string()}).output;
  REQUIRE(code.find("mulps") != std::string::npos);
  REQUIRE(code.find("addps") != std::string::npos);
#endif
}

TEST_CASE("render c: the text is the same for other scalars and extents and holds no placeholder", "[codegen][cpu]") {
  IrBuilder b(Schedule::ReduceOuter, 2);
  const Value x = b.load(float32, "*1", '*');
  b.store(b.reduce(Op::Moments, x), "*1", ' ', Region::Outer);
  const graph::Target& target = *graph::find_target("x86-64-v3");
  const KernelSource first = render(b.ir, target), second = render(b.ir, target);
  REQUIRE(first.text == second.text);
  REQUIRE(first.entry.starts_with("moments_f32_outer_"));
  REQUIRE(first.entry.size() == std::string("moments_f32_outer_3f2a91c0").size());
  REQUIRE(first.text.find(kEntryName) == std::string::npos);
  REQUIRE(first.text.find(kSharedName) == std::string::npos);
}

TEST_CASE("render: division by multiplication is exact below 2^31", "[codegen]") {
  for (const std::int64_t d : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::int64_t{641},
                               std::int64_t{65537}, (std::int64_t{1} << 31) - 1}) {
    const std::uint64_t magic = division_magic(d);
    const auto divide = [&](std::uint32_t x) {
      const auto high = static_cast<std::uint32_t>((static_cast<std::uint64_t>(x) * (magic & 0xffffffffu)) >> 32);
      return static_cast<std::int64_t>((high + x) >> (magic >> 32));
    };
    std::mt19937 random(1);
    for (int i = 0; i < 1000; ++i) {
      const auto x = static_cast<std::uint32_t>(random() >> 1);
      REQUIRE(divide(x) == x / d);
      const auto multiple = static_cast<std::uint32_t>(std::max<std::int64_t>(x / d * d, 1));
      REQUIRE(divide(multiple - 1) == (multiple - 1) / d);
    }
  }
}

TEST_CASE("render: float constants are exact and free of locale", "[codegen]") {
  REQUIRE(float_literal(float32, 0.5) == "0x1p-1f");
  REQUIRE(float_literal(float32, 1.0 / 3) == "0x1.555556p-2f");
  REQUIRE(float_literal(float64, -0.1) == "-0x1.999999999999ap-4");
}
