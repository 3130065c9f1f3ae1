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
