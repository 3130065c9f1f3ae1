// Random programs: no kernel spills in its last form, on any architecture.
#include <cstdio>
#include <map>
#include <string>

#include "codegen/ir/fit.h"
#include "codegen/render/kernel_source.h"
#include "graph/record/record.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/fuzz/program.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::codegen::KernelIr;

namespace {

std::vector<KernelIr> kernels_of(std::uint64_t seed, const ta::graph::Target& target) {
  const ta::test::fuzz::Program program = ta::test::fuzz::generate(seed);
  std::vector<ta::Array> values = ta::test::fuzz::make_inputs(program).values;
  for (const auto& s : program.statements) values.push_back(ta::test::fuzz::record(s, values));
  std::vector<ta::graph::Edge> roots;
  for (const int v : program.outputs)
    roots.push_back(ta::detail::edge(values[static_cast<std::size_t>(v)], "test", {}));
  ta::graph::Snapshot s;
  {
    const std::lock_guard lock(ta::graph::engine_mutex());
    ta::graph::Node* blocked = nullptr;
    s = ta::graph::take_snapshot(roots, &blocked);
  }
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  const auto plan = ta::runtime::make_plan(s, target, here, alias, ta::runtime::plan_switches(), nullptr);
  std::vector<KernelIr> kernels;
  for (const auto& step : plan.steps)
    if (const auto* k = std::get_if<ta::runtime::KernelStep>(&step); k && !k->empty()) kernels.push_back(k->lowered.ir);
  return kernels;
}

std::int64_t spilled(const KernelIr& ir, const ta::graph::Target& target) {
  std::int64_t bytes = 0;
  const std::string text = ta::codegen::render(ir, target).text;
  for (const auto& r : ta::runtime::nvrtc_compile(text, target, ir.mode).resources)
    bytes += r.spill_store_bytes + r.spill_load_bytes;
  return bytes;
}

/// Compiles what the programs from `first` on need, each text once.
void check_programs(std::uint64_t first, std::uint64_t count) {
  std::map<std::string, int> forms;  // by target and kernel
  int again = 0;
  for (const char* name : {"sm_75", "sm_80", "sm_90", "sm_100"}) {
    const ta::graph::Target& target = *ta::graph::find_target(name);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      for (const KernelIr& ir : kernels_of(seed, target)) {
        if (!forms.try_emplace(name + to_string(ir), 1).second) continue;
        std::optional<KernelIr> form = ir;
        std::int64_t left = spilled(*form, target);
        for (; left > 0 && (form = ta::codegen::smaller_form(*form)); ++again) left = spilled(*form, target);
        INFO(name << ", seed " << seed << "\n" << to_string(ir));
        CHECK(left == 0);
      }
    }
  }
  std::printf("%zu kernels, %d made again\n", forms.size(), again);
}

}  // namespace

TEST_CASE("spills: kernels of a few random programs have a form without", "[fit][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  check_programs(39, 2);
}

TEST_CASE("spills: kernels of many random programs have a form without", "[.spills]") {
  TARRY_REQUIRE_NVRTC();
  check_programs(1, ta::test::environment("TARRY_FUZZ_GRAPHS", 10'000));
}
