// assign_stages(): dependence says how early an instruction can run; it runs as late as its first user allows, so that
// a row keeps few values from one stage to the next.
#include <algorithm>
#include <limits>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

/// The first stage in which a user of `region` can have the value.
int visible_from(const Instr& value, Region user) {
  if (value.region == Region::Row) return 0;
  return value.region == Region::Outer && user == Region::Point ? value.stage + 1 : value.stage;
}

int reduction_stage(const KernelIr& ir, const Reduction& r) {
  int stage = 0;
  for (Value v : r.args)
    if (v != kNone) stage = std::max(stage, visible_from(ir.instrs[v], Region::Point));
  return stage;
}

/// The result of a scan is there a stage after its inputs, and only then anything is stored.
void as_early_as_possible(KernelIr& ir) {
  const bool scans = !ir.reductions.empty() && is_scan(ir.reductions.front());
  for (Instr& in : ir.instrs) {
    if (in.region == Region::Row || in.region == Region::Combine) continue;
    int stage = 0;
    if (in.kind == InstrKind::Result) stage = reduction_stage(ir, ir.reductions[in.index]) + (scans ? 1 : 0);
    for (Value v : in.args)
      if (v != kNone) stage = std::max(stage, visible_from(ir.instrs[v], in.region));
    if (scans && in.kind == InstrKind::Store) stage = 1;
    in.stage = static_cast<std::uint8_t>(stage);
  }
  for (Reduction& r : ir.reductions) r.stage = static_cast<std::uint8_t>(reduction_stage(ir, r));
}

/// Stores, results and reductions stay where they are.
void as_late_as_used(KernelIr& ir) {
  std::vector<int> latest(ir.instrs.size(), kNever);
  const auto used = [&](Value v, Region user, int stage) {
    if (v == kNone) return;
    const bool waits = ir.instrs[v].region == Region::Outer && user == Region::Point;
    latest[v] = std::min(latest[v], waits ? stage - 1 : stage);
  };
  for (const Reduction& r : ir.reductions)
    for (Value v : r.args) used(v, Region::Point, r.stage);
  for (std::size_t i = ir.instrs.size(); i-- > 0;) {
    Instr& in = ir.instrs[i];
    const bool fixed = in.region == Region::Row || in.region == Region::Combine || in.kind == InstrKind::Store ||
                       in.kind == InstrKind::Result;
    if (!fixed && latest[i] != kNever) in.stage = static_cast<std::uint8_t>(latest[i]);
    if (in.region == Region::Row || in.region == Region::Combine) continue;  // what they use is of their region
    for (Value v : in.args) used(v, in.region, in.stage);
  }
}

}  // namespace

void assign_stages(KernelIr& ir) {
  as_early_as_possible(ir);
  as_late_as_used(ir);
}

}  // namespace tarry::codegen
