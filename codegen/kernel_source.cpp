// KernelSource: dispatch by dialect, parameter packing, units of several kernels.
#include "codegen/kernel_source.h"

#include <algorithm>

#include "codegen/render_common.h"
#include "support/check.h"

namespace tarry::codegen {

KernelSource render(const KernelIr& ir, const graph::Target& target) {
  return target.is_cuda() ? render_cuda(ir, target) : render_c(ir, target);
}

Geometry geometry(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  return target.is_cuda() ? geometry_cuda(ir, target, args) : geometry_c(ir, target, args);
}

namespace {

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::uint64_t word(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::uint64_t pointer_word(const KernelIr& ir, std::uint32_t access, const KernelArgs& args, const Binding& binding) {
  const std::uint32_t buffer = ir.accesses[access].buffer;
  const std::int64_t bytes = args.accesses[access].offset * static_cast<std::int64_t>(itemsize(ir.buffers[buffer]));
  // Integer arithmetic: the address of an empty buffer may be null.
  return word(binding.buffers[buffer]) + word(bytes);
}

std::int64_t tiles(const KernelIr& ir, const KernelArgs& args, int dimension) {
  return (args.extents[dimension] + ir.tile(dimension) - 1) / ir.tile(dimension);
}

std::uint64_t slot_word(const KernelIr& ir, const Slot& slot, const KernelArgs& args, const Geometry& geometry,
                        const Binding& binding) {
  switch (slot.kind) {
    case SlotKind::Pointer: return pointer_word(ir, slot.a, args, binding);
    case SlotKind::IotaOffset: return word(args.accesses[slot.a].offset);
    case SlotKind::Scalar: return binding.scalars[slot.a];
    case SlotKind::Extent: return word(args.extents[static_cast<int>(slot.a)]);
    case SlotKind::Magic: return division_magic(args.extents[static_cast<int>(slot.a)]);
    case SlotKind::Tiles: return word(tiles(ir, args, static_cast<int>(slot.a)));
    case SlotKind::TileMagic: return division_magic(tiles(ir, args, static_cast<int>(slot.a)));
    case SlotKind::TileCount: {
      std::int64_t count = 1;
      for (int d = 0; d < ir.rank; ++d) count *= tiles(ir, args, d);
      return word(count);
    }
    case SlotKind::Stride: return word(args.accesses[slot.a].strides[static_cast<int>(slot.b)]);
    case SlotKind::ReducedStride: return word(args.accesses[slot.a].reduced_stride);
    case SlotKind::LoopStride: return word(args.accesses[slot.a].loop_stride);
    case SlotKind::OuterCount: return word(args.outer_count());
    case SlotKind::Reduced: return word(args.reduced);
    case SlotKind::Chunks: return word(geometry.chunks);
    case SlotKind::ChunkBlocks: return word(geometry.chunk_blocks);
    case SlotKind::Scratch: return word(binding.scratch);
    case SlotKind::Tickets: return word(binding.tickets);
  }
  return 0;
}

}  // namespace

std::vector<std::uint64_t> pack_parameters(const KernelIr& ir, const KernelSource& source, const KernelArgs& args,
                                           const Geometry& geometry, const Binding& binding) {
  TARRY_ASSERT(args.accesses.size() == ir.accesses.size());
  TARRY_ASSERT(binding.buffers.size() == ir.buffers.size() && binding.scalars.size() >= ir.scalars.size());
  std::vector<std::uint64_t> words;
  words.reserve(source.slots.size());
  for (const Slot& slot : source.slots) words.push_back(slot_word(ir, slot, args, geometry, binding));
  return words;
}

std::string join_unit(std::span<const KernelSource* const> kernels, const graph::Target& target) {
  std::vector<std::string> sections;
  for (const KernelSource* kernel : kernels)
    for (const std::string& section : kernel->sections)
      if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
  std::string text = prelude_text(sections, target.is_cuda() ? Dialect::Cuda : Dialect::C);
  for (const KernelSource* kernel : kernels) text += kernel->kernel;
  return text;
}

}  // namespace tarry::codegen
