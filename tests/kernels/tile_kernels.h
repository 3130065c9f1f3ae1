// Kernels of tiles: graphs are lowered for a GPU, their CUDA C runs on the host, and what it stores has the bits of the
// interpreter on the same graph lowered for a CPU.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <sstream>

#include "codegen/interpret/interpreter.h"
#include "codegen/lower/lower.h"
#include "codegen/render/common.h"
#include "codegen/render/kernel_source.h"
#include "graph/fusion/fusion.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/helpers/graph_maker.h"
#include "tests/helpers/sweep.h"
#include "tests/helpers/test.h"
#include "tests/kernels/cpu_kernel.h"
#include "tests/kernels/cuda_emulation.h"

namespace tarry::test {

using codegen::KernelIr;
using codegen::KernelSource;
using codegen::Lowered;
using codegen::Schedule;

inline const graph::Target& target(const char* name = "sm_90") { return *graph::find_target(name); }

/// The one kernel that a graph is on a GPU, made for any target.
inline Lowered lowered(const Maker& m, const char* target_name = "sm_90") {
  graph::verify(m.g);
  graph::Limits limits;
  limits.chained = m.g.nodes.size() + 1;  // formulas that repeat themselves are one
  const graph::Fusion f = graph::fuse(m.g, target(), limits);
  REQUIRE(f.groups.size() == 1);
  std::vector<GraphEdge> outputs = m.g.roots;
  Lowered l = codegen::lower(m.g, f, 0, outputs, target(target_name));
  codegen::verify(l.ir);
  return l;
}

/// Axis i of the result is axis axes[i] of x.
inline GraphEdge permuted(Maker& m, GraphEdge x, const std::vector<int>& axes) {
  Dims to;
  IndexMap map;
  map.size = static_cast<int>(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    to.push_back(m.shape(x)[axes[i]]);
    map[axes[i]] = {static_cast<int>(i), 0, 1};
  }
  return m.view(x, map, to);
}

inline Maker permute(const Dims& shape, const std::vector<int>& axes, Dtype d = float32) {
  Maker m;
  const GraphEdge x = m.leaf(shape, d);
  m.g.roots = {permuted(m, x, axes)};
  return m;
}

/// The verifier refuses a kernel that was good before `change`.
inline void check_refused(KernelIr ir, const std::function<void(KernelIr&)>& change) {
  codegen::verify(ir);
  change(ir);
  CHECK_THROWS_AS(codegen::verify(ir), InternalError);
}

/// Memory of a kernel, leaves as the graph has them, outputs poisoned; with room on both sides, poisoned too.
struct Buffers {
  Buffers(const Maker& m, const Lowered& l) {
    for (const codegen::BufferRef& b : l.buffers) {
      Memory bytes = b.is_leaf ? m.leaves[b.leaf] : Memory(static_cast<std::size_t>(m.g.bytes(b.value.node)), 0x5b);
      bytes.insert(bytes.begin(), kRoom, 0x77);
      bytes.insert(bytes.end(), kRoom, 0x77);
      memory.push_back(std::move(bytes));
    }
    for (Memory& bytes : memory) at.push_back(bytes.data() + kRoom);
    for (const codegen::ScalarRef& s : l.scalars) {
      std::uint64_t word = s.constant;
      if (s.source != kNoId) std::memcpy(&word, m.g.scalars[s.source].constant.bytes, 8);
      scalars.push_back(word);
    }
  }
  static constexpr std::size_t kRoom = 512;
  std::vector<Memory> memory;
  std::vector<void*> at;
  std::vector<std::uint64_t> scalars;
};

inline std::vector<std::vector<double>> stored(const Maker& m, const Lowered& l, const Buffers& b) {
  std::vector<std::vector<double>> all;
  for (const GraphEdge& root : m.g.roots)
    for (std::size_t i = 0; i < l.buffers.size(); ++i)
      if (!l.buffers[i].is_leaf && l.buffers[i].value == root)
        all.push_back(values_in(m.g.nodes[root.node].dtype,
                                Memory(b.memory[i].begin() + Buffers::kRoom, b.memory[i].end() - Buffers::kRoom)));
  return all;
}

/// Runs every graph on the emulation and compares; all of them in one unit.
inline void check_bits(const std::vector<Maker>& graphs, Schedule schedule) {
  std::vector<Lowered> kernels;
  std::vector<KernelSource> sources;
  for (const Maker& m : graphs) {
    kernels.push_back(lowered(m));
    INFO(to_string(m.g) << codegen::to_string(kernels.back().ir));
    REQUIRE(kernels.back().ir.schedule() == schedule);
    sources.push_back(codegen::render_cuda(kernels.back().ir, target()));
  }
  std::map<std::string, const KernelSource*> distinct;
  for (const KernelSource& s : sources) distinct.emplace(s.text, &s);
  std::vector<const KernelSource*> unit;
  for (const auto& [text, source] : distinct) unit.push_back(source);
  const EmulatedKernels emulated(unit);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const Lowered& l = kernels[i];
    INFO(to_string(graphs[i].g) << codegen::to_string(l.ir) << sources[i].text);
    Buffers b(graphs[i], l), before = b;
    const codegen::Geometry g = codegen::geometry_cuda(l.ir, target(), l.args);
    std::vector<unsigned char> scratch(g.scratch_bytes, 0xa5);
    emulated.run(sources[i], g.grid(),
                 codegen::pack_parameters(l.ir, sources[i], l.args, g, {b.at, b.scalars, scratch.data()}));
    const Lowered on_cpu = lowered(graphs[i], "x86-64-v3");
    REQUIRE((on_cpu.ir.is_map() || on_cpu.ir.is_recurrence()));
    Buffers expected(graphs[i], on_cpu);
    codegen::interpret(on_cpu.ir, on_cpu.args, expected.at, expected.scalars);
    const auto values = stored(graphs[i], on_cpu, expected);
    CHECK(values.size() == graphs[i].g.roots.size());
    CHECK(stored(graphs[i], l, b) == values);
    const auto reference = values_of(graphs[i]);
    const bool draws = std::ranges::any_of(graphs[i].g.nodes, [](const auto& n) { return n.op == Op::RandomBits; });
    for (std::size_t r = 0; r < values.size(); ++r)  // the reference has numbers without end, and draws none
      if (!draws && graphs[i].g.nodes[graphs[i].g.roots[r].node].dtype != Dtype::UInt8)
        CHECK(values[r] == reference[graphs[i].g.roots[r].node]);
    for (std::size_t buffer = 0; buffer < b.memory.size(); ++buffer) {
      const Memory &now = b.memory[buffer], &then = before.memory[buffer];
      CHECK(std::equal(now.begin(), now.begin() + Buffers::kRoom, then.begin()));
      CHECK(std::equal(now.end() - Buffers::kRoom, now.end(), then.end() - Buffers::kRoom));
    }
    // The interpreter runs the tiles' own IR to the same end.
    Buffers same(graphs[i], l);
    codegen::interpret(l.ir, l.args, same.at, same.scalars);
    CHECK(stored(graphs[i], l, same) == values);
  }
}

/// Runs every graph as C, at every instruction set level, beside the interpreter.
inline void check_c_bits(const std::vector<Maker>& graphs, Schedule schedule) {
  for (const Maker& m : graphs) {
    const Lowered l = lowered(m, "x86-64-v2");
    INFO(to_string(m.g));
    REQUIRE(l.ir.schedule() == schedule);
    std::vector<Memory> memory;
    for (const codegen::BufferRef& b : l.buffers)
      memory.push_back(b.is_leaf ? m.leaves[b.leaf] : Memory(static_cast<std::size_t>(m.g.bytes(b.value.node)), 0x5b));
    test::CpuKernels(l.ir).require_as_interpreted(l.args, memory, Buffers(m, l).scalars);
  }
}

/// x[start : start + extents].
inline GraphEdge slice(Maker& m, GraphEdge x, const Dims& start, const Dims& extents) {
  IndexMap map;
  for (int d = 0; d < start.size(); ++d) map.push_back({d, start[d], 1});
  return m.view(x, map, extents);
}

/// The compiler's messages on kernels, by their names, for an architecture.
inline std::vector<runtime::KernelResources> compiled(const std::map<std::string, KernelSource>& sources,
                                                      const char* arch) {
  std::vector<const KernelSource*> unit;
  for (const auto& [entry, source] : sources) unit.push_back(&source);
  return runtime::nvrtc_compile(codegen::join_unit(unit, target(arch)), target(arch), graph::Mode::Strict).resources;
}

/// Kernels of routines, by their names, compile without spills for an architecture. A value that a thread stores once
/// and loads once is none: some compilers keep one so where they fit more thread blocks on a multiprocessor.
inline void check_without_spills(const std::map<std::string, KernelSource>& sources, const char* arch) {
  constexpr std::int64_t kValue = 8;
  for (const auto& [entry, source] : sources) CHECK(source.text.find('$') == std::string::npos);
  for (const runtime::KernelResources& r : compiled(sources, arch)) {
    INFO(arch << " " << r.entry << ": " << r.registers << " registers, " << r.stack_bytes << " bytes of stack");
    CHECK(r.spill_store_bytes <= kValue);
    CHECK(r.spill_load_bytes <= kValue);
    CHECK(r.stack_bytes <= kValue);
  }
}

/// The compiler's messages on the kernels of `graphs`, each of another name.
inline std::vector<runtime::KernelResources> compiled(const std::vector<Maker>& graphs, const char* arch) {
  std::map<std::string, KernelSource> sources;
  for (const Maker& m : graphs) {
    KernelSource s = codegen::render_cuda(lowered(m, arch).ir, target(arch));
    sources.emplace(s.entry, std::move(s));
  }
  return compiled(sources, arch);
}

/// Every kernel compiles without spills for one of the architectures, each day for the next; for all in a whole sweep.
inline void check_compiles(const std::vector<Maker>& graphs) {
  constexpr std::array kArchs{"sm_80", "sm_90", "sm_100"};
  for (std::size_t a = 0; a < kArchs.size(); ++a) {
    const char* const arch = kArchs[a];
    std::vector<Maker> own;
    for (std::size_t i = 0; i < graphs.size(); ++i)
      if (whole_sweeps() || (i + a + today()) % kArchs.size() == 0) own.push_back(graphs[i]);
    REQUIRE(!own.empty());
    for (const runtime::KernelResources& r : compiled(own, arch)) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers");
      CHECK(r.stack_bytes == 0);
      CHECK(r.spill_store_bytes + r.spill_load_bytes == 0);
      CHECK(r.registers <= 128);
    }
  }
}

/// The kernel and what it shares with others, without the macros and free of hashes.
inline void check_golden(const std::string& name, const Maker& m, const char* target_name = "sm_90") {
  const KernelSource source = codegen::render(lowered(m, target_name).ir, target(target_name));
  std::string text;
  const auto shared = std::span(source.shared).subspan(std::min<std::size_t>(1, source.shared.size()));
  for (const codegen::SharedText& s : shared) text += s.text;
  text += source.kernel;
  codegen::replace_all(text, source.entry, "ENTRY");
  for (const codegen::SharedText& s : shared) codegen::replace_all(text, s.name, s.name.substr(0, s.name.rfind('_')));
  const std::string path =
      source_directory() + "/tests/golden/" + name + (target(target_name).is_cuda() ? ".cu" : ".c");
  if (const char* update = std::getenv("TARRY_UPDATE_GOLDEN"); update && *update == '1') std::ofstream(path) << text;
  std::ifstream in(path);
  std::ostringstream expected;
  expected << in.rdbuf();
  INFO("set TARRY_UPDATE_GOLDEN=1 to write " << path);
  CHECK(text == expected.str());
}

}  // namespace tarry::test
