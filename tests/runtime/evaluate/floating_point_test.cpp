// The caller's state: the x87 stack after kernels of any level, and flush-to-zero while numbers are recorded,
// converted, printed.
#include <atomic>
#include <bit>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/cpu/target.h"
#include "runtime/device/parallel.h"
#include "tests/helpers/child.h"
#include "tests/helpers/test.h"
#include "tests/helpers/x87.h"

#if defined(__x86_64__)

namespace ta = tarry;

namespace {

/// The caller's denormals count as zeros, and so do results that would be some.
class FlushToZero {
 public:
  FlushToZero() : saved_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(saved_ | 0x8040u); }
  ~FlushToZero() { __builtin_ia32_ldmxcsr(saved_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  unsigned saved_;
};

std::vector<std::string> levels() {
  std::vector<std::string> names;
  for (const ta::graph::Target& t : ta::graph::targets())
    if (std::string_view(t.name).starts_with("x86-64") && t.level <= ta::runtime::cpu_target().level)
      names.emplace_back(t.name);
  return names;
}

template <class T>
std::string printed(T value) {
  std::ostringstream out;
  out << ta::asarray(std::vector<T>{value});
  return out.str();
}

}  // namespace

TARRY_CHILD(uses_no_x87) {
  const ta::Scope on(ta::cpu);
  int used = 0;
  const auto count = [&used](const char* what, const ta::Array& y) {
    ta::evaluate(y);
    if (ta::test::free_x87()) return;
    ++used;
    std::printf("%s ", what);
    asm volatile("emms");
  };
  for (const ta::Dtype d : {ta::float16, ta::bfloat16, ta::float32, ta::int8, ta::uint16, ta::int32}) {
    for (const std::int64_t n : {18, 70'000}) {  // one thread, and several
      ta::random::Generator g(7);
      const ta::Array x = ta::astype(ta::random::uniform(g, {n}), d), y = ta::astype(x, ta::float32);
      count("add", x + x);
      count("where", ta::where(x < 1, x, x + 1));
      count("cast", ta::astype(y * 3, d));
      count("sum", ta::sum(x));
      count("scan", ta::cumulative_sum(x));
      count("rows", ta::reshape(x, {2, n / 2}) - ta::max(ta::reshape(x, {2, n / 2}), 1, {.keepdims = true}));
      if (!ta::is_floating(d)) continue;
      for (const auto f : {ta::sqrt, ta::exp, ta::log, ta::acos, ta::atan, ta::sinh, ta::erf, ta::ceil})
        count("function", f(x, std::source_location::current()));
    }
  }
  std::atomic<int> others = 0;
  ta::runtime::parallel_for(1 << 20, 1, [&](std::int64_t, std::int64_t) { others += ta::test::free_x87() ? 0 : 1; });
  std::printf("%d %d", used, others.load());
  return 0;
}

TEST_CASE("floating point: kernels of every level leave the x87 stack as it was, on every thread", "[cpu]") {
  for (const std::string& level : levels()) {
    INFO(level);
    CHECK_THAT(ta::runtime::c_flags(*ta::graph::find_target(level)), Catch::Contains("-mno-mmx"));
    for (const char* way : {"TARRY_DISABLE=", "TARRY_DISABLE=prebuilt"}) {
      const auto child = ta::test::run_child("uses_no_x87", {"TARRY_CPU=" + level, "TARRY_NUM_THREADS=3", way});
      INFO(child.error);
      CHECK(child.output == "0 0");
    }
  }
}

TEST_CASE("floating point: the check of the x87 stack sees a register in use", "[cpu]") {
  CHECK(ta::test::free_x87());
  asm volatile("movd %0, %%mm0" ::"r"(1));
  const bool free = ta::test::free_x87();
  asm volatile("emms");
  CHECK_FALSE(free);
}

TEST_CASE("floating point: flush-to-zero changes no number on its way into an array", "[graph][cpu]") {
  volatile float tiny = 1e-40f;
  volatile double small = 1e-310;
  const auto numbers = [&] {
    const ta::Array zero = ta::zeros({1}), wide = ta::zeros({1}, ta::float64);
    const ta::BFloat16 b(static_cast<float>(tiny)), lowest = ta::BFloat16::from_bits(1);
    const ta::Half h = ta::Half::from_bits(1);
    return std::vector<ta::Array>{zero + static_cast<float>(tiny),
                                  ta::full({1}, static_cast<float>(tiny), ta::float32),
                                  ta::reshape(ta::Array(static_cast<float>(tiny)), {1}),
                                  ta::where(zero == 0, static_cast<float>(tiny), zero),
                                  ta::asarray(std::vector{b}),
                                  ta::reshape(ta::Array(lowest), {1}),
                                  ta::full({1}, lowest),
                                  wide + static_cast<double>(lowest),
                                  wide + static_cast<double>(h),
                                  ta::clip(zero, static_cast<float>(tiny), 1),
                                  wide + static_cast<double>(small),
                                  ta::linspace(0, static_cast<float>(tiny), 3)};
  };
  const auto bits = [](const ta::Array& x) {
    const ta::Array wide = ta::astype(x, ta::float64);
    std::vector<std::uint64_t> found;
    for (const double v : wide.to_vector<double>()) found.push_back(std::bit_cast<std::uint64_t>(v));
    return found;
  };
  const std::vector<ta::Array> expected = numbers();
  std::vector<ta::Array> got;
  {
    const FlushToZero odd;
    got = numbers();
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("number " << i);
    CHECK(bits(got[i]) == bits(expected[i]));
    CHECK(bits(got[i]).back() != 0);
  }
}

TEST_CASE("floating point: flush-to-zero changes nothing that is printed or decided", "[graph][cpu]") {
  volatile double small = -1e-310;
  ta::random::Generator g(1);
  const ta::Array x = ta::asarray(std::vector<float>{1, 2});
  const ta::Scalar step = static_cast<double>(small);
  const FlushToZero odd;
  CHECK(printed(1e-40f) == "[1.e-40]");
  CHECK(printed(1e-310) == "[1.e-310]");
  CHECK(printed(ta::BFloat16::from_bits(1)) == "[9.e-41]");
  CHECK(printed(ta::Half::from_bits(1)) == "[6.e-08]");
  CHECK(ta::arange(2.5e-310, 0.0, step, ta::float64).size() == 3);
  CHECK_THROWS_AS(ta::random::bernoulli(g, {2}, static_cast<double>(small)), ta::InvalidArgument);
  CHECK_THAT(ta::plan(x - 1e-40f).str(), Catch::Contains("subtract"));  // it is not x
}

#endif
