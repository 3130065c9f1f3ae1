// A plan of kernels for a GPU, whole, on the emulated one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "runtime/plan/compiled_plan.h"
#include "tests/kernels/cuda_emulation.h"

namespace tarry::test {

/// Kernels and copies of a plan whose leaves are in memory, and what they leave behind.
class EmulatedPlan {
 public:
  EmulatedPlan(const graph::Snapshot& snapshot, const runtime::CompiledPlan& plan) : snapshot_(snapshot), plan_(plan) {}

  void run() {
    std::vector<std::uint64_t> scalars;
    runtime::scalar_values(plan_, snapshot_.cells, scalars);
    for (const runtime::Step& step : plan_.steps) {
      if (const auto* copy = std::get_if<runtime::CopyStep>(&step)) {
        std::memcpy(at(copy->to).data(), at(copy->from).data() + copy->offset, copy->bytes);
      } else {
        const auto& kernel = std::get<runtime::KernelStep>(step);
        if (!kernel.empty()) run(kernel, runtime::kernel_scalars(kernel, scalars));
      }
    }
  }

  /// The memory of a root that is no leaf.
  const std::vector<unsigned char>& root(std::size_t number) {
    return at({runtime::Operand::Kind::Output, plan_.roots.at(number).index});
  }

  /// True if a kernel has met an index out of range. The plan has the checks of one kernel.
  bool faulted() {
    const std::vector<unsigned char>& words = at({runtime::Operand::Kind::Faults, 0});
    return std::ranges::any_of(words, [](unsigned char byte) { return byte != 0xff; });
  }

 private:
  /// Filled as it is asked for.
  std::vector<unsigned char>& at(const runtime::Operand& o) {
    using Kind = runtime::Operand::Kind;
    const auto [place, fresh] = buffers_.try_emplace({o.kind, o.index});
    if (!fresh) return place->second;
    if (o.kind == Kind::Faults) {
      place->second.assign(plan_.fault_bytes(), 0xff);
    } else if (o.kind == Kind::Leaf) {
      const graph::Buffer& leaf = *snapshot_.leaves[o.index]->buffer;
      place->second.resize(leaf.bytes);
      leaf.read(0, leaf.bytes, place->second.data());
    } else {
      place->second.assign(o.kind == Kind::Output ? plan_.outputs[o.index].bytes : plan_.temporaries[o.index], 0xa5);
    }
    return place->second;
  }

  void run(const runtime::KernelStep& step, const std::vector<std::uint64_t>& scalars) {
    std::vector<void*> operands;
    for (const runtime::Operand& o : step.operands) operands.push_back(at(o).data());
    const std::vector<const codegen::KernelSource*> unit = {step.source.get()};
    const EmulatedKernels kernels(unit);
    const codegen::Geometry& g = step.geometry;
    std::vector<unsigned char> scratch(g.scratch_bytes, 0xa5);
    std::vector<std::uint32_t> tickets(g.ticket_count);
    const codegen::Binding binding{operands, scalars, scratch.data(), tickets.data()};
    kernels.run(*step.source, g.grid(),
                codegen::pack_parameters(step.lowered.ir, *step.source, step.lowered.args, g, binding));
  }

  const graph::Snapshot& snapshot_;
  const runtime::CompiledPlan& plan_;
  std::map<std::pair<runtime::Operand::Kind, std::uint32_t>, std::vector<unsigned char>> buffers_;
};

}  // namespace tarry::test
