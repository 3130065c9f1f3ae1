// Kernels in CUDA C on the emulated GPU beside the interpreter.
#include "tests/codegen/cuda/compare.h"

#include <algorithm>
#include <map>

#include "codegen/interpret/interpreter.h"
#include "graph/target.h"
#include "tests/kernels/cpu_kernel.h"
#include "tests/kernels/cuda_emulation.h"

namespace tarry::test {

using codegen::KernelSource;

void check_bits(const std::vector<KernelCase>& cases, std::int64_t chunk_blocks) {
  const graph::Target& target = *graph::find_target("sm_90");
  std::map<std::string, KernelSource> sources;  // by text
  std::vector<std::string> texts;
  for (const KernelCase& k : cases) {
    KernelSource source = codegen::render_cuda(k.ir, target);
    texts.push_back(source.text);
    sources.emplace(source.text, std::move(source));
  }
  std::vector<const KernelSource*> unit;
  for (const auto& [text, source] : sources) unit.push_back(&source);
  const EmulatedKernels kernels(unit);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const KernelCase& k = cases[i];
    auto expected = k.buffers, actual = k.buffers;
    std::vector<void*> expected_at, actual_at;
    for (auto& b : expected) expected_at.push_back(b.data());
    for (auto& b : actual) actual_at.push_back(b.data());
    codegen::interpret(k.ir, k.args, expected_at, k.scalars);
    const KernelSource& source = sources.at(texts[i]);
    codegen::Geometry g = codegen::geometry_cuda(k.ir, target, k.args);
    if (chunk_blocks > 0) {
      g.chunk_blocks = chunk_blocks;
      g.chunks = ((k.args.reduced + 127) / 128 + chunk_blocks - 1) / chunk_blocks;
      g.scratch_bytes = codegen::state_bytes(k.ir) * static_cast<std::size_t>(k.args.outer_count() * g.chunks);
      g.ticket_count = static_cast<std::size_t>(g.outer_tiles);
    }
    std::vector<unsigned char> scratch(g.scratch_bytes, 0xa5);
    std::vector<std::uint32_t> tickets(g.ticket_count);
    const codegen::Binding binding{actual_at, k.scalars, scratch.data(), tickets.data()};
    kernels.run(source, g.grid(), codegen::pack_parameters(k.ir, source, k.args, g, binding));
    INFO(k.name << " " << graph::to_string(k.args.extents) << " n " << k.args.reduced << " grid " << g.outer_tiles
                << " x " << g.chunks << "\n"
                << codegen::to_string(k.ir));
    for (std::size_t b = 0; b < actual.size(); ++b) {
      const auto at = test::first_difference(k.ir.buffers[b], expected[b], actual[b]);
      INFO("buffer " << b << " differs from element " << at.value_or(0) << " on");
      CHECK_FALSE(at.has_value());
    }
    CHECK(tickets == std::vector<std::uint32_t>(g.ticket_count));
  }
}

}  // namespace tarry::test
