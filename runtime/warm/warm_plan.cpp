// Plans of recorded evaluates, and the kernels in them.
#include "runtime/warm/warm_plan.h"

#include "runtime/observe/report.h"
#include "runtime/plan/route.h"

namespace tarry::runtime {
namespace {

class KernelCollector final : public PlanObserver {
 public:
  void graph(std::string_view, const graph::Graph&) override {}
  void fusion(const graph::Graph&, const graph::Fusion&) override {}
  void kernels(const graph::Graph& g, const CompiledPlan& plan, const graph::Snapshot&) override {
    for (const Step& s : plan.steps) {
      if (const auto* const call = std::get_if<LibraryStep>(&s); call && call->source)
        found.push_back({call->source, plan.target, call->spec.mode, call->spec.str(), nullptr});
      if (const auto* const call = std::get_if<RoutineStep>(&s))
        for (const auto& source : call->sources)
          found.push_back({source, plan.target, call->mode, call->spec.str(), nullptr});
      const auto* const step = std::get_if<KernelStep>(&s);
      if (step == nullptr || step->empty()) continue;
      const codegen::KernelIr& ir = step->lowered.ir;
      found.push_back({step->source, plan.target, ir.mode, describe_ops(g, step->lowered.notes),
                       std::make_shared<const codegen::KernelIr>(ir)});
    }
  }
  std::vector<WarmKernel> found;
};

bool on_device(const Recorded& recorded, const LeafMemory& leaf, const graph::Target& target, Residence residence) {
  if (residence != Residence::AsRun) return residence == Residence::Resident;
  if (target.kind == recorded.device) return leaf.on_device;
  return leaf.computed || !target.is_cuda();
}

}  // namespace

std::vector<Residence> residences(const Recorded& recorded, const graph::Target& target) {
  if (target.kind == recorded.device || recorded.leaves.empty()) return {Residence::AsRun};
  return {Residence::AsRun, Residence::Uploaded, Residence::Resident};
}

std::vector<WarmKernel> kernels_of(const Recorded& recorded, const graph::Graph& g, const graph::Target& target,
                                   Residence residence) {
  graph::Snapshot s;
  s.graph = g;
  s.leaves.resize(recorded.leaves.size());
  s.recorded_nodes = g.nodes.size();
  std::vector<LeafPlace> places;
  for (const LeafMemory& leaf : recorded.leaves)
    places.push_back({on_device(recorded, leaf, target, residence), leaf.pooled});
  KernelCollector collector;
  (void)planner_of(s, places, switches_of(recorded), &collector)(target);
  return std::move(collector.found);
}

}  // namespace tarry::runtime
