// fuse(): words, constants and the order of the parts; see fusion.h for the rules.
#include "graph/fusion/fusion.h"

#include "graph/fusion/graph.h"
#include "graph/fusion/greedy.h"
#include "graph/fusion/iterated_stencils.h"
#include "graph/fusion/levels.h"
#include "graph/fusion/refine.h"
#include "graph/fusion/row_column.h"

namespace tarry::graph {

std::string_view to_string(Reason r) {
  switch (r) {
    case Reason::Fused: return "fused";
    case Reason::FusionDisabled: return "fusion-disabled";
    case Reason::WholeReduction: return "whole-reduction";
    case Reason::ReductionChain: return "reduction-chain";
    case Reason::OtherSpace: return "other-space";
    case Reason::BroadcastCost: return "broadcast-cost";
    case Reason::ThroughView: return "through-view";
    case Reason::Cycle: return "cycle";
    case Reason::Limit: return "limit";
    case Reason::Mode: return "mode";
    case Reason::Library: return "library";
    case Reason::Steps: return "steps";
    case Reason::Levels: return "levels";
  }
  return "?";
}

CostModel cost_model(const Target& target) {
  // An H200 moves 4.2 TB/s and issues 29.6 T instructions/s; a desktop core pair moves 40 GB/s and issues about 0.1 T.
  return target.is_cuda() ? CostModel{4.2e12, 29.6e12, 2.5e-6, 3e-7, 2, 64, 32768, 5, true}
                          : CostModel{4.0e10, 1.0e11, 2.5e-6, 3e-7, 6, 16384, std::int64_t{1} << 32, 1, false};
}

namespace {

Fusion search(const FusionGraph& f, const CostModel& cost, const Limits& limits) {
  Fusion greedy = greedy_fusion(f, cost, limits);
  if (!limits.fuses) return greedy;
  KernelModel model(f, cost, limits);
  Partition p(f, model, greedy, limits);
  if (!p.usable()) return greedy;
  refine(p, model, f, refinement_budget(f.g.nodes.size()));
  const std::vector<RowColumnPair> pairs = pair_rows_and_columns(f, p, cost, limits);
  Fusion found = p.emit(greedy.unfused, pairs);
  found.seconds = p.seconds();
  return found;
}

}  // namespace

namespace {

Fusion fuse_around_stencils(const Graph& g, const Target& target, const CostModel& cost, const Limits& limits) {
  const FusionGraph f(g, cost);
  std::vector<IteratedStencil> steps;
  if (limits.fuses) steps = find_iterated_stencils(f, target, cost, limits);
  if (steps.empty()) return search(f, cost, limits);
  const CollapsedStencils collapsed(g, std::move(steps));
  return collapsed.expand(search(FusionGraph(collapsed.graph(), cost), cost, limits));
}

}  // namespace

Fusion fuse(const Graph& g, const Target& target, const Limits& limits) {
  const CostModel cost = cost_model(target);
  std::vector<std::shared_ptr<const Levels>> levels = find_loops(g, limits);
  std::vector<bool> taken(g.nodes.size());
  for (const auto& loop : levels)
    for (const NodeId id : loop->nodes) taken[id] = true;
  if (limits.fuses) std::ranges::move(find_levels(FusionGraph(g, cost), limits, taken), std::back_inserter(levels));
  if (levels.empty()) return fuse_around_stencils(g, target, cost, limits);
  const CollapsedLevels collapsed(g, std::move(levels));
  return collapsed.expand(fuse_around_stencils(collapsed.graph(), target, cost, limits));
}

}  // namespace tarry::graph
