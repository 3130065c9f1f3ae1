// The kernels of the Scatter routines and of Compact, run thread by thread on the host and compiled for GPUs.
#include <tarry/dtype.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "codegen/cuda/routine.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/helpers/devices.h"
#include "tests/kernels/cuda_emulation.h"
#include "tests/kernels/tile_kernels.h"

namespace ta = tarry;
using ta::codegen::KernelSource;
using ta::codegen::RoutineSpec;
using ta::graph::Op;

namespace {

RoutineSpec scatter(Op op, ta::Dtype dtype, std::int64_t n, std::int64_t m, std::int64_t row) {
  RoutineSpec spec;
  spec.op = op;
  spec.dtype = dtype;
  spec.n = n;
  spec.m = m;
  spec.rows = row;
  return spec;
}

RoutineSpec compact(std::int64_t n) {
  RoutineSpec spec;
  spec.op = Op::Compact;
  spec.dtype = ta::bool_;
  spec.n = n;
  spec.m = n + 1;
  return spec;
}

/// Runs the launches of a routine one after the other.
void run(const RoutineSpec& spec, std::vector<void*> operands) {
  const ta::graph::Target& target = ta::test::target("sm_90");
  const std::vector<KernelSource> sources = ta::codegen::render_routine(spec, target);
  std::vector<const KernelSource*> kernels;
  for (const KernelSource& s : sources) kernels.push_back(&s);
  std::vector<std::uint64_t> scratch(ta::codegen::routine_scratch(spec, target) / 8 + 1, 0xabababababababab);
  const ta::test::EmulatedKernels emulated(kernels);
  for (const ta::codegen::RoutineLaunch& l : ta::codegen::routine_launches(spec, operands, scratch.data()))
    emulated.run(sources[l.kernel], l.geometry.grid(), l.words);
}

std::vector<std::int64_t> places(std::int64_t count, std::int64_t n) {
  std::mt19937 random(7);
  std::vector<std::int64_t> at(static_cast<std::size_t>(count));
  for (std::int64_t& i : at) i = static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  return at;
}

template <class T>
std::vector<T> noise(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<std::size_t>(count));
  for (T& x : v) x = static_cast<T>(static_cast<std::int64_t>(random()) - (std::int64_t{1} << 31));
  return v;
}

template <class T, class Join>
void check_joins_at(Op op, ta::Dtype dtype, std::vector<std::int64_t> at, std::int64_t n, std::int64_t row,
                    const Join& join) {
  const auto count = static_cast<std::int64_t>(at.size());
  const auto of_row = static_cast<std::size_t>(row);
  std::vector<T> value = noise<T>(count * row, 1), to = noise<T>(n * row, 2), expected = to;
  for (std::size_t p = 0; p < at.size(); ++p) {
    for (std::size_t c = 0; c < of_row; ++c) {
      T& x = expected[static_cast<std::size_t>(at[p]) * of_row + c];
      x = join(x, value[p * of_row + c]);
    }
  }
  run(scatter(op, dtype, n, count, row), {at.data(), value.data(), to.data()});
  INFO(ta::graph::name(op) << " of " << ta::name(dtype) << ", " << count << " to " << n);
  CHECK(to == expected);
}

/// Many to few places, few to many, and all to one of many.
template <class T, class Join>
void check_joins(Op op, ta::Dtype dtype, const Join& join) {
  check_joins_at<T>(op, dtype, places(500, 37), 37, 3, join);
  check_joins_at<T>(op, dtype, places(500, 20'000), 20'000, 1, join);
  check_joins_at<T>(op, dtype, std::vector<std::int64_t>(300, 7777), 20'000, 1, join);
}

}  // namespace

TEST_CASE("scatter kernels: set takes the last row, in whatever order threads come", "[scatter]") {
  check_joins<std::uint8_t>(Op::ScatterSet, ta::uint8, [](auto, auto b) { return b; });
  check_joins<std::int16_t>(Op::ScatterSet, ta::int16, [](auto, auto b) { return b; });
  check_joins<float>(Op::ScatterSet, ta::float32, [](auto, auto b) { return b; });
  check_joins<double>(Op::ScatterSet, ta::float64, [](auto, auto b) { return b; });
}

TEST_CASE("scatter kernels: elements of every width join in memory", "[scatter]") {
  const auto add = [](auto a, auto b) {
    return static_cast<decltype(a)>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  };
  check_joins<std::int8_t>(Op::ScatterAdd, ta::int8, add);
  check_joins<std::uint16_t>(Op::ScatterAdd, ta::uint16, add);
  check_joins<std::int32_t>(Op::ScatterAdd, ta::int32, add);
  check_joins<std::uint64_t>(Op::ScatterAdd, ta::uint64, add);
  const auto multiply = [](auto a, auto b) {
    return static_cast<decltype(a)>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  };
  check_joins<std::uint8_t>(Op::ScatterMultiply, ta::uint8, multiply);
  check_joins<std::int64_t>(Op::ScatterMultiply, ta::int64, multiply);
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  check_joins<std::int16_t>(Op::ScatterMin, ta::int16, least);
  check_joins<float>(Op::ScatterMin, ta::float32, least);
  check_joins<std::int8_t>(Op::ScatterMax, ta::int8, most);
  check_joins<double>(Op::ScatterMax, ta::float64, most);
}

TEST_CASE("scatter kernels: a minimum and a maximum of floats know NaN and the sign of zero", "[scatter]") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const std::int64_t n : {4, 20'000}) {
    std::vector<std::int64_t> at = {0, 0, 1, 1, 1, 2, 2};
    std::vector<float> value = {-0.0F, 0.0F, 1.0F, nan, -inf, inf, -inf};
    for (int more = 0; more < 40; ++more) at.push_back(0), value.push_back(0.0F);
    const auto joined = [&](Op op) {
      std::vector<float> to(static_cast<std::size_t>(n), 0.0F);
      run(scatter(op, ta::float32, n, static_cast<std::int64_t>(at.size()), 1), {at.data(), value.data(), to.data()});
      return to;
    };
    const std::vector<float> least = joined(Op::ScatterMin), most = joined(Op::ScatterMax);
    CHECK((least[0] == 0.0F && std::signbit(least[0])));
    CHECK_FALSE(std::signbit(most[0]));
    CHECK((std::isnan(least[1]) && std::isnan(most[1])));
    CHECK((least[2] == -inf && most[2] == inf && least[3] == 0.0F));
  }
}

TEST_CASE("compact kernels: the places of true elements, in order, and their number", "[mask]") {
  for (const std::int64_t n : {1, 255, 4096, 4097, 20000}) {
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(n));
    std::vector<std::int64_t> to(mask.size() + 1, -1), expected;
    for (std::int64_t i = 0; i < n; ++i) {
      mask[static_cast<std::size_t>(i)] = i * 7919 % 11 < 4 ? 1 : 0;
      if (mask[static_cast<std::size_t>(i)] != 0) expected.push_back(i);
    }
    run(compact(n), {mask.data(), to.data()});
    INFO(n);
    CHECK(to.back() == static_cast<std::int64_t>(expected.size()));
    CHECK(std::equal(expected.begin(), expected.end(), to.begin()));
  }
}

TEST_CASE("scatter kernels: all of them compile for every GPU without spills", "[scatter]") {
  TARRY_REQUIRE_NVRTC();
  std::vector<RoutineSpec> specs = {compact(1000)};
  for (const Op op : {Op::ScatterSet, Op::ScatterAdd, Op::ScatterMultiply, Op::ScatterMin, Op::ScatterMax}) {
    for (int d = 0; d < ta::kDtypeCount; ++d) {
      const auto dtype = static_cast<ta::Dtype>(d);
      const bool adds = op == Op::ScatterAdd || op == Op::ScatterMultiply;
      if (!ta::info(dtype).available || (dtype == ta::bool_ && op != Op::ScatterSet)) continue;
      if (adds && ta::is_floating(dtype)) continue;
      specs.push_back(scatter(op, dtype, 100, 1000, 2));
      specs.push_back(scatter(op, dtype, 10'000, 1000, 1));
    }
  }
  specs.push_back(scatter(Op::ScatterSet, ta::float32, 100, std::int64_t{1} << 40, 1));
  for (const char* name : {"sm_75", "sm_90"}) {
    const ta::graph::Target& target = ta::test::target(name);
    for (const RoutineSpec& spec : specs) {
      for (const KernelSource& s : ta::codegen::render_routine(spec, target)) {
        INFO(name << " " << s.entry);
        CHECK(s.text.find('$') == std::string::npos);
        for (const ta::runtime::KernelResources& r :
             ta::runtime::nvrtc_compile(s.text, target, ta::graph::Mode::Strict).resources)
          CHECK(r.stack_bytes + r.spill_store_bytes + r.spill_load_bytes == 0);
      }
    }
  }
}
