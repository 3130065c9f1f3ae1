// Sums over stacks on a GPU: each term reads its own part, the bits stay.
#include <cstring>
#include <vector>

#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/devices.h"
#include "tests/kernels/emulated_plan.h"

namespace ta = tarry;
using ta::test::ramp;
using ta::test::Setting;

namespace {

/// Neighbours of each point of a torus, `parts` of them, stacked.
ta::Array neighbours(const ta::Array& x, int parts) {
  std::vector<ta::Array> all;
  for (int i = 0; i < parts; ++i) all.push_back(ta::roll(x * (1 + i), {i % 3 - 1, i / 3 - 1}, {0, 1}));
  return ta::stack(all);
}

ta::runtime::CompiledPlan planned(const ta::graph::Snapshot& s) {
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  return ta::runtime::make_plan(s, *ta::graph::find_target("sm_90"), here, alias, ta::runtime::plan_switches(),
                                nullptr);
}

/// True if no kernel goes along a row.
bool maps_alone(const ta::runtime::CompiledPlan& plan) {
  for (const auto& step : plan.steps)
    if (const auto* k = std::get_if<ta::runtime::KernelStep>(&step))
      if (k->source->entry.find("_rows_") != std::string::npos ||
          k->source->entry.find("_serial_") != std::string::npos)
        return false;
  return true;
}

}  // namespace

TEST_CASE("unroll: on a GPU a sum over a stack is terms, one for each part", "[passes][unroll]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::asarray(ramp(40 * 36), {40, 36});
  for (const int parts : {2, 5, 9, 17}) {
    INFO(parts << " parts");
    const ta::Array in = neighbours(x, parts), y = ta::sum(in * in, 0) / ta::max(in, 0);
    const ta::graph::Snapshot s = ta::test::snapshot_of({&y});
    const ta::runtime::CompiledPlan plan = planned(s);
    CHECK(plan.counters.launches == 1);
    CHECK(maps_alone(plan));
    ta::test::EmulatedPlan emulated(s, plan);
    emulated.run();
    const Setting off("TARRY_DISABLE", "unroll");
    CHECK_FALSE(maps_alone(planned(s)));
    ta::evaluate(y);
    const ta::graph::Snapshot done = ta::test::snapshot_of({&y});
    CHECK(std::memcmp(done.leaves.at(0)->buffer->data, emulated.root(0).data(), emulated.root(0).size()) == 0);
  }
}

TEST_CASE("unroll: on a GPU a short sum over no stack stays a loop", "[passes][unroll]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = ta::asarray(ramp(500 * 4), {500, 4}), y = ta::sum(x * x, 1);
  CHECK_FALSE(maps_alone(planned(ta::test::snapshot_of({&y}))));
}
