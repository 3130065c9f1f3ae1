// For the tests of lower(): kernels of hand-made groups and of whole plans run in the interpreter, and what they store
// is compared with loops over nodes.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "codegen/interpret/interpreter.h"
#include "codegen/lower/lower.h"
#include "graph/passes/passes.h"
#include "tests/helpers/graph_maker.h"

namespace tarry::test {

using codegen::InstrKind;
using codegen::kNone;
using codegen::Lowered;
using codegen::Region;
using codegen::Schedule;
using codegen::StrideClass;
using graph::AxisMap;
using graph::Fusion;

inline const graph::Target& named_target(const char* name = "x86-64-v3") { return *graph::find_target(name); }

/// One group of all Map, Update and Reduce nodes.
Fusion one_group(const Graph& g, const Dims& space, int axis = -1);

/// The one kernel of a hand-made group, run and compared.
Lowered check_kernel(const Maker& m, const Fusion& f, const std::vector<GraphEdge>& outputs,
                     const char* target_name = "x86-64-v3");

/// Every kernel of a schedule, last group first to know what is stored; what a group has to store goes to
/// wanted[group].
std::vector<Lowered> lower_plan(const Graph& g, const Fusion& f, const graph::Target& t,
                                std::vector<std::vector<GraphEdge>>& wanted);

/// Runs kernels in the interpreter; memory is exactly as large as the values, so that a wrong access is caught by
/// address sanitizers, and filled with a pattern that no test computes.
class Runner {
 public:
  explicit Runner(const Maker& m) : m_(m), g_(m.g) {}
  void run(const Lowered& l);
  /// The memory of a kernel, by buffer of its IR, as it is now, and its scalars.
  [[nodiscard]] std::vector<Memory> memory(const Lowered& l);
  [[nodiscard]] std::vector<std::uint64_t> scalars(const Lowered& l) const;
  [[nodiscard]] std::vector<double> value(GraphEdge e) const {
    return values_in(g_.nodes[e.node].dtype, memory_.at(e));
  }

  codegen::Traffic traffic;

 private:
  struct EdgeLess {
    bool operator()(const GraphEdge& a, const GraphEdge& b) const {
      return a.node != b.node ? a.node < b.node : a.output < b.output;
    }
  };
  [[nodiscard]] Memory copy(GraphEdge base) const;
  const Memory& at(const codegen::BufferRef& b);

  const Maker& m_;
  const Graph& g_;
  std::map<GraphEdge, Memory, EdgeLess> memory_;
  Memory faults_ = Memory(64 * codegen::kFaultWords * sizeof(std::uint64_t), 0xff);  ///< of any kernel's checks
};

/// Every kernel of a schedule, run in order and compared.
std::vector<Lowered> check_plan(const Maker& m, const Fusion& f, const graph::Target& t);

inline int count(const codegen::KernelIr& ir, InstrKind kind) {
  return static_cast<int>(
      std::count_if(ir.instrs.begin(), ir.instrs.end(), [&](const auto& in) { return in.kind == kind; }));
}

inline int loads_of_memory(const codegen::KernelIr& ir) {
  return static_cast<int>(std::count_if(ir.instrs.begin(), ir.instrs.end(), [&](const codegen::Instr& in) {
    return in.kind == InstrKind::Load && ir.accesses[in.index].buffer != kNone;
  }));
}

}  // namespace tarry::test
