// Streaming on a GPU: the order of copies and kernels, on a driver that runs nothing before somebody waits for it.
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/plan/compiled_plan.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"
#include "tests/helpers/test.h"

using namespace tarry;
using test::FakeGpu;
using test::kFakeGpu;

namespace {

/// Words of a kernel that loads an array and stores another: where they are among the parameters.
struct Words {
  std::size_t count = 0, from = 0, to = 0;
};

Words words_of(const Array& y) {
  const graph::Snapshot s = test::snapshot_of({&y});
  const runtime::CompiledPlan plan =
      make_plan(s, *graph::find_target("sm_90"), {false}, {false}, runtime::plan_switches(), nullptr);
  const auto& k = std::get<runtime::KernelStep>(plan.steps.back());
  Words words;
  for (std::size_t i = 0; i < k.source->slots.size(); ++i) {
    const codegen::Slot& slot = k.source->slots[i];
    if (slot.kind == codegen::SlotKind::OuterCount) words.count = i;
    if (slot.kind == codegen::SlotKind::Pointer) (k.lowered.ir.accesses[slot.a].store ? words.to : words.from) = i;
  }
  return words;
}

/// A fake GPU whose every kernel is y = -x.
class NegatingGpu {
 public:
  NegatingGpu() {
    const Scope placed(kFakeGpu);
    const Array x = asarray(std::vector<float>(1000));
    words() = words_of(-x);
    gpu_.driver().api.module_get_function = [](runtime::cuda::Function* function, runtime::cuda::Module module,
                                               const char* name) {
      const test::FakeDriver::Kernel negate = [](const std::uint64_t* w, unsigned, unsigned) {
        const auto* from = reinterpret_cast<const float*>(w[words().from]);
        auto* to = reinterpret_cast<float*>(w[words().to]);
        for (std::uint64_t i = 0; i < w[words().count]; ++i) to[i] = -from[i];
      };
      const auto at = reinterpret_cast<test::FakeDriver*>(module)->kernels.try_emplace(name, negate).first;
      *function = reinterpret_cast<runtime::cuda::Function>(&at->second);
      return test::FakeDriver::Result::Success;
    };
  }
  test::FakeDriver& driver() { return gpu_.driver(); }

 private:
  static Words& words() {
    static Words w;
    return w;
  }
  FakeGpu gpu_;
};

}  // namespace

TEST_CASE("chunks: on a GPU operands arrive and results leave in order, within the limit", "[chunks][cuda]") {
  TARRY_REQUIRE_NVRTC();
  const support::ScopedTemporaryDirectory directory;
  const std::string path = (directory.path() / "x.npy").string();
  std::vector<float> values(3'000'017);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 10007);
  save_npy(path, asarray(values));
  for (const bool eager : {false, true}) {
    NegatingGpu gpu;
    gpu.driver().eager_uploads = eager;
    const Scope placed(kFakeGpu);
    const Array x = open_npy(path), y = -x;
    set_memory_limit(kFakeGpu, std::int64_t{2} << 20);
    const Report report = evaluate(y);
    CHECK(report.counters().chunks > 10);
    CHECK(report.counters().bytes_uploaded == static_cast<std::int64_t>(values.size() * 4));
    CHECK(gpu.driver().bytes <= (std::size_t{2} << 20));
    const std::vector<float> result = y.to_vector<float>();
    REQUIRE(result.size() == values.size());
    bool right = true;
    for (std::size_t i = 0; i < values.size(); ++i) right = right && result[i] == -values[i];
    CHECK(right);
    const std::string copy = (directory.path() / "y.npy").string();
    save_npy(copy, -x);
    CHECK(load_npy(copy).host<float>()[values.size() - 1] == -values.back());
    set_memory_limit(kFakeGpu, 0);
    CHECK_THAT(report.str(), Catch::Contains("report on cuda:250") && Catch::Contains("streamed"));
  }
}

TEST_CASE("chunks: a device without a limit streams what its memory does not hold", "[chunks][cuda]") {
  TARRY_REQUIRE_NVRTC();
  NegatingGpu gpu;
  gpu.driver().capacity = std::size_t{300} << 20;
  const Scope placed(kFakeGpu);
  const std::vector<float> values(std::size_t{60} << 20, 2.5F);
  const Array x = borrow(values.data(), Shape(values.size())), y = -x;
  const Report report = evaluate(y);
  CHECK(report.counters().chunks > 1);
  CHECK(y.host<float>()[values.size() / 2] == -2.5F);
}
