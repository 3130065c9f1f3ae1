// Plans of graphs made node by node: their kernels run one after another in every reader of KernelIr, and what the
// roots get is compared with one kernel per node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codegen/interpret/interpreter.h"
#include "codegen/lower/lower.h"
#include "graph/fusion/fusion.h"
#include "tests/helpers/graph_maker.h"
#include "tests/helpers/same_bits.h"
#include "tests/kernels/cpu_kernel.h"
#include "tests/kernels/cuda_emulation.h"

namespace tarry::test {

inline const graph::Target& planned_for(const char* name) { return *graph::find_target(name); }

struct ByEdge {
  bool operator()(const GraphEdge& a, const GraphEdge& b) const {
    return a.node != b.node ? a.node < b.node : a.output < b.output;
  }
};

/// A leaf of numbers whose sums depend on the order of additions, with zeros of both signs among them.
inline GraphEdge numbers(Maker& m, const Dims& shape, Dtype d = float32) {
  const GraphEdge e = m.leaf(shape, d);
  std::mt19937 random(static_cast<unsigned>(m.leaves.size()));
  Memory& memory = m.leaves.back();
  for (std::size_t i = 0; i < memory.size() / itemsize(d); ++i) {
    const double x = std::normal_distribution<double>(0.0, 0.7)(random);
    put(d, &memory[i * itemsize(d)], is_floating(d) ? (i % 97 == 5 ? -0.0 : x) : std::floor(x * 50));
  }
  return e;
}

/// The kernels of a plan, in order.
inline std::vector<codegen::Lowered> plan_kernels(const Maker& m, const graph::Target& t, bool fused = true) {
  graph::verify(m.g);
  const graph::Fusion f = graph::fuse(m.g, t, {.fuses = fused});
  std::vector<std::vector<GraphEdge>> wanted(f.groups.size());
  const auto want = [&](GraphEdge e) {
    auto& of = wanted[f.group_of[e.node]];
    if (std::find(of.begin(), of.end(), e) == of.end()) of.push_back(e);
  };
  for (const GraphEdge& r : m.g.roots) want(r);
  std::vector<codegen::Lowered> kernels;
  for (auto group = static_cast<std::uint32_t>(f.groups.size()); group-- > 0;) {
    if (wanted[group].empty()) continue;
    std::sort(wanted[group].begin(), wanted[group].end(), ByEdge{});
    kernels.insert(kernels.begin(), codegen::lower(m.g, f, group, wanted[group], t));
    for (const GraphEdge& e : kernels.front().loads) want(e);
  }
  return kernels;
}

using KernelRun = std::function<void(const codegen::Lowered&, std::vector<void*>, const std::vector<std::uint64_t>&)>;

/// The bytes of every root after the kernels have run.
inline std::vector<Memory> plan_results(const Maker& m, const std::vector<codegen::Lowered>& kernels,
                                        const KernelRun& run) {
  std::map<GraphEdge, Memory, ByEdge> memory;
  for (const codegen::Lowered& l : kernels) {
    std::vector<void*> buffers;
    for (const codegen::BufferRef& b : l.buffers) {
      if (b.is_leaf) {
        buffers.push_back(const_cast<unsigned char*>(m.leaves[b.leaf].data()));
        continue;
      }
      Memory& of = memory[b.value];
      of.resize(static_cast<std::size_t>(m.g.bytes(b.value.node)), 0x5b);
      buffers.push_back(of.data());
    }
    std::vector<std::uint64_t> scalars;
    for (const codegen::ScalarRef& s : l.scalars) {
      std::uint64_t word = s.constant;
      if (s.source != graph::kNoId) std::memcpy(&word, m.g.scalars[s.source].constant.bytes, 8);
      scalars.push_back(word);
    }
    run(l, buffers, scalars);
  }
  std::vector<Memory> found;
  for (const GraphEdge& r : m.g.roots) found.push_back(memory.at(r));
  return found;
}

inline void run_interpreted(const codegen::Lowered& l, std::vector<void*> buffers,
                            const std::vector<std::uint64_t>& scalars) {
  codegen::interpret(l.ir, l.args, buffers, scalars);
}
inline void run_compiled(const codegen::Lowered& l, std::vector<void*> buffers,
                         const std::vector<std::uint64_t>& scalars) {
  CpuKernel(l.ir).run(l.args, std::move(buffers), scalars);
}
inline void run_emulated(const codegen::Lowered& l, std::vector<void*> buffers,
                         const std::vector<std::uint64_t>& scalars) {
  const graph::Target& t = planned_for("sm_90");
  const codegen::KernelSource source = codegen::render_cuda(l.ir, t);
  const codegen::KernelSource* const unit[] = {&source};
  const codegen::Geometry g = codegen::geometry_cuda(l.ir, t, l.args);
  Memory scratch(g.scratch_bytes, 0xa5);
  std::vector<std::uint32_t> tickets(g.ticket_count);
  EmulatedKernels(unit).run(
      source, g.grid(),
      codegen::pack_parameters(l.ir, source, l.args, g, {buffers, scalars, scratch.data(), tickets.data()}));
  CHECK(std::count(tickets.begin(), tickets.end(), 0u) == std::ssize(tickets));
}

/// Fuses for a GPU and a CPU, runs both plans in all readers of KernelIr, and returns the GPU's kernels.
inline std::vector<codegen::Lowered> check_readers(const Maker& m) {
  const std::vector<Memory> expected =
      plan_results(m, plan_kernels(m, planned_for("x86-64-v3"), false), run_interpreted);
  const std::vector<codegen::Lowered> gpu = plan_kernels(m, planned_for("sm_90")),
                                      cpu = plan_kernels(m, planned_for("x86-64-v3"));
  std::string text = to_string(m.g);
  for (const codegen::Lowered& l : gpu) text += to_string(l.ir);
  INFO(text);
  const auto same = [&](const std::vector<Memory>& found) {
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(same_elements(m.dtype(m.g.roots[i]), expected[i], found[i]));
  };
  same(plan_results(m, gpu, run_interpreted));
  same(plan_results(m, gpu, run_emulated));
  same(plan_results(m, cpu, run_interpreted));
  same(plan_results(m, cpu, run_compiled));
  return gpu;
}

}  // namespace tarry::test
