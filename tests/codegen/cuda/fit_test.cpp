// How much of a GPU's thread a kernel takes: one point at a time where several would take too much, and smaller forms
// of kernels that spill.
#include "codegen/ir/fit.h"

#include <tarry/warm.h>

#include "runtime/device/compilers/nvrtc.h"
#include "runtime/plan/compiled_plan.h"
#include "support/temporary.h"
#include "tests/codegen/cuda/compare.h"
#include "tests/codegen/cuda/kernels.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/fake_gpu.h"
#include "tests/helpers/sample_results.h"

namespace ta = tarry;
using namespace ta::test;
using ta::codegen::KernelIr;
using ta::codegen::PointwiseLayout;

namespace {

KernelIr only_kernel(const ta::Array& x) {
  const ta::graph::Snapshot s = ta::test::snapshot_of({&x});
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  const auto plan =
      ta::runtime::make_plan(s, *ta::graph::find_target("sm_90"), here, alias, ta::runtime::plan_switches(), nullptr);
  REQUIRE(plan.steps.size() == 1);
  return std::get<ta::runtime::KernelStep>(plan.steps[0]).lowered.ir;
}

ta::Array wide(std::int64_t n) { return ta::astype(ta::asarray(ramp(static_cast<std::size_t>(n))), ta::float64); }

/// A copy whose elements lie otherwise than those it loads. ptxas spills of it to stay at 32 registers.
ta::Array turned(const ta::Array& x) { return ta::permute_dims(ta::reshape(x, {5, 6, 7}), {0, 2, 1}); }

}  // namespace

TEST_CASE("fit: single points have the bits of vectors", "[fit]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {1, 127, 128, 511, 512, 513, 1025}) {
    cases.push_back(axpy(n, 4));
    cases.push_back(mixed(n, 2));
    cases.push_back(counting(n));
  }
  for (const bool is_wide : {false, true}) {
    cases.push_back(plane(33, 70, 2, is_wide));
    cases.push_back(boxes(33, 70, 1, is_wide));
  }
  cases.push_back(cube(7, 31, 64, 4));
  cases.push_back(copies(1000, ta::float16, 4));
  for (KernelCase& c : cases) take_single_points(c.ir);
  check_bits(cases);
}

TEST_CASE("fit: a heavy formula has one point at a time, a light one vectors", "[fit]") {
  const ta::Array x = ta::asarray(ramp(4096)), y = wide(4096);
  CHECK(only_kernel(ta::exp(x) * x + 1.0f).as<PointwiseLayout>().vector == 4);
  ta::Array z = ta::tanh(y);  // nothing of it repeats itself, which would be a loop
  for (const auto& f : {&ta::exp, &ta::sin, &ta::log1p, &ta::cos, &ta::atan, &ta::sinh, &ta::tan, &ta::expm1, &ta::log,
                        &ta::cosh, &ta::asinh})
    z = (*f)(z * y, std::source_location::current());
  CHECK(only_kernel(z).as<PointwiseLayout>().single);
}

TEST_CASE("fit: a heavy reduction has one text for whole blocks and others", "[fit]") {
  const ta::graph::Target target = *ta::graph::find_target("sm_90");
  const auto has = [&](const ta::Array& x, const char* part) {
    return kernels_of(x, target).front()->text.find(part) != std::string::npos;
  };
  const ta::Array x = ta::reshape(ta::asarray(ramp(1 << 18)), {1 << 10, 1 << 8}), y = ta::astype(x, ta::float64);
  ta::evaluate(y);
  const auto logistic = [](const ta::Array& v) { return 1 / (1 + ta::exp(-v)); };
  const auto share = [](const ta::Array& v) { return v / ta::sum(v, 1, {.keepdims = true}); };
  const char* const whole_columns = "m == 128";
  const char* const whole_rows = "_take(";
  const char* const nothing_held = "_kept { };";
  CHECK(has(ta::sum(x * 2.0F, 0), whole_columns));
  CHECK_FALSE(has(ta::sum(logistic(y), 0), whole_columns));
  CHECK(has(share(ta::exp(x)), whole_rows));
  // Dear values are held nevertheless; what costs next to nothing is computed again.
  const ta::Array dear = share(ta::pow(ta::abs(y) + 1, 1.7) * logistic(y));
  CHECK_FALSE(has(dear, whole_rows));
  CHECK_FALSE(has(dear, nothing_held));
  const ta::Array total = ta::sum(y, 1, {.keepdims = true});
  CHECK(has(ta::pow(y / total + 1, 1.7) * logistic(y * total), nothing_held));
}

TEST_CASE("fit: a reduction of much that is loaded has one text, too", "[fit]") {
  const ta::Array all = ta::astype(ta::asarray(ramp(4 << 20)), ta::float64);
  ta::evaluate(all);
  const auto part = [&](int i) { return all(ta::slice(i << 20, (i + 1) << 20)); };
  const ta::Array x = part(0), y = part(1), z = part(2), w = part(3);
  const auto has = [&](const ta::Array& sum, const char* text) {
    return kernels_of(sum, *ta::graph::find_target("sm_90")).front()->text.find(text) != std::string::npos;
  };
  CHECK(has(ta::sum(x * y), "_take("));
  CHECK_FALSE(has(ta::sum(x * y * z), "_take("));
  const auto matrix = [](const ta::Array& v) { return ta::reshape(v, {1 << 10, 1 << 10}); };
  CHECK(has(ta::sum(matrix(x) * matrix(y), 0), "m == 128"));
  CHECK_FALSE(has(ta::sum(matrix(x) * matrix(y) * matrix(z) + matrix(w), 0), "m == 128"));
}

TEST_CASE("fit: scans of much that is loaded have one copy of it, dear ones in tiles have not", "[fit]") {
  const ta::Array all = ta::reshape(ta::astype(ta::asarray(ramp(5 << 18)), ta::float64), {5, 1 << 8, 1 << 10});
  ta::evaluate(all);
  const auto part = [&](int i) { return all(i); };
  const auto rolls = [&](const ta::Array& scan) {
    return kernels_of(scan, *ta::graph::find_target("sm_90")).front()->text.find(" in[16]") != std::string::npos;
  };
  const ta::Array two = part(0) * part(1), five = two * part(2) - part(3) / part(4);
  CHECK_FALSE(rolls(ta::cumulative_sum(two, {.axis = 1})));
  CHECK(rolls(ta::cumulative_sum(five, {.axis = 1})));
  CHECK_FALSE(rolls(ta::cumulative_sum(ta::log1p(ta::log(ta::reshape(two + 1, {1 << 18}))))));
}

TEST_CASE("fit: reductions of dear functions have one text, sums of draws have not", "[fit]") {
  const auto has = [](const ta::Array& sum) {
    return kernels_of(sum, *ta::graph::find_target("sm_90")).front()->text.find("_take(") != std::string::npos;
  };
  const ta::Array x = ta::astype(ta::asarray(ramp(1 << 18)), ta::float64);
  ta::evaluate(x);
  CHECK(has(ta::sum(ta::exp(x))));
  CHECK_FALSE(has(ta::sum(ta::log(x + 1))));
  ta::random::Generator generator(1);
  CHECK(has(ta::sum(ta::random::normal(generator, {1 << 18}))));
}

TEST_CASE("fit: rows that have an inner loop each share one text of it", "[fit]") {
  const ta::Array x = ta::reshape(ta::asarray(ramp(3000 * 37)), {3000, 37});
  const auto kernels = kernels_of(ta::max(x(ta::slice(), ta::slice(0, 30))), *ta::graph::find_target("sm_90"));
  const auto has = [&](const char* part) { return kernels.front()->text.find(part) != std::string::npos; };
  CHECK(has("u0 < (int)p.s0"));
  CHECK_FALSE(has("_take("));
}

TEST_CASE("fit: numbers of 64 bits that are divided are heavy", "[fit]") {
  const ta::Array i = ta::astype(ta::asarray(ramp(4096)), ta::int64), k = ta::astype(i, ta::int32);
  ta::evaluate(i, k);
  const auto cells = [](const ta::Array& x) { return x % 64 * 64 + x / 3 % 64; };
  CHECK(pressure_of(only_kernel(cells(i))).instructions > 4 * pressure_of(only_kernel(k % 64 * 64)).instructions);
}

TEST_CASE("fit: a long text of several planes has one point at a time", "[fit]") {
  const ta::Array planes = ta::astype(ta::reshape(ta::asarray(ramp(3 * 4096)), {3, 4096}), ta::float64);
  ta::evaluate(planes);
  const ta::Array pixels = ta::permute_dims(planes, {1, 0});
  const auto schedule = [](const ta::Array& x) { return only_kernel(x).schedule(); };
  ta::Array y = pixels;
  for (const auto& f :
       {&ta::sin, &ta::exp, &ta::log1p, &ta::cos, &ta::atan, &ta::sinh, &ta::tan, &ta::expm1, &ta::tanh})
    y = (*f)(y * pixels, std::source_location::current());
  CHECK(schedule(pixels * 2.0) == ta::codegen::Schedule::Planar);
  CHECK(schedule(y) == ta::codegen::Schedule::Pointwise);
}

TEST_CASE("fit: registers are those of what is held at once", "[fit]") {
  const ta::Array x = ta::asarray(ramp(4096));
  std::vector<ta::Array> held;
  for (int i = 1; i <= 40; ++i) held.push_back(ta::sqrt(x + static_cast<float>(i)));
  ta::Array early = held[0], late = ta::sqrt(x);
  for (int i = 1; i < 40; ++i) early = early + held[static_cast<std::size_t>(i)];
  for (int i = 1; i <= 40; ++i) late = late + ta::sqrt(x + static_cast<float>(i));
  const int all = pressure_of(only_kernel(early)).live, few = pressure_of(only_kernel(late)).live;
  CHECK(few <= 4);
  CHECK(all >= few);
}

TEST_CASE("fit: a kernel has smaller forms, and a last one", "[fit]") {
  std::optional<KernelIr> form = axpy(1000, 4).ir;
  int forms = 0;
  for (; form; form = ta::codegen::smaller_form(*form)) {
    ta::codegen::verify(*form);
    ++forms;
    if (!ta::codegen::smaller_form(*form)) CHECK(form->as<PointwiseLayout>().single);
  }
  CHECK(forms == 3);
}

TEST_CASE("fit: scans that spill have one copy of the code, once", "[fit]") {
  const ta::Array x = wide(3 << 18);
  ta::evaluate(x);
  for (const std::int64_t rows : {1 << 15, 768, 1}) {
    const KernelIr ir = only_kernel(ta::cumulative_sum(ta::reshape(x, {rows, (3 << 18) / rows}), {.axis = 1}));
    const std::optional<KernelIr> roomy = ta::codegen::smaller_form(ir);
    REQUIRE(roomy);
    const std::optional<KernelIr> one = ta::codegen::smaller_form(*roomy);
    REQUIRE(one);
    CHECK(one->rolled);
    CHECK_FALSE(ta::codegen::smaller_form(*one));
  }
}

TEST_CASE("fit: a kernel that spills is made again, and a later process compiles nothing", "[fit][cuda]") {
  TARRY_REQUIRE_NVRTC();
  const CacheDirectory directory;
  for (const int compiles : {2, 0}) {
    FakeGpu gpu;
    const ta::Scope placed(kFakeGpu);
    const ta::Array x = wide(5 * 6 * 7);
    ta::evaluate(x);
    const ta::Report report = ta::evaluate(turned(x));
    INFO(report.str());
    CHECK(report.counters().compiles == compiles);
  }
  CHECK(directory.files().size() == 3);  // the conversion, and two forms of the copy
}

TEST_CASE("fit: warming makes the smaller forms too", "[fit][warm]") {
  TARRY_REQUIRE_NVRTC();
  const ta::support::ScopedTemporaryDirectory directory;
  const std::string manifest = (directory.path() / "manifest").string();
  {
    const ta::Scope on_cpu(ta::cpu);
    const ta::Array x = ta::asarray(std::vector<double>(5 * 6 * 7));
    const ta::Recording recording(manifest);
    ta::evaluate(turned(x));
  }
  ta::WarmOptions options;
  options.targets = {"sm_90"};
  options.out = (directory.path() / "out").string();
  for (const int compiled : {2, 0}) {
    const ta::WarmReport report = ta::warm(std::vector{manifest}, options);
    CHECK(report.failures.empty());
    CHECK(report.kernels == 2);
    CHECK(report.compiled == compiled);
  }
}
