// KernelSource: dispatch by dialect, parameter packing, units of several kernels.
#include "codegen/render/kernel_source.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "codegen/render/common.h"
#include "codegen/render/prebuilt.h"
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

std::int64_t tiles(const KernelIr& ir, const KernelArgs& args, int dimension) {
  return ir.tiles(dimension, args.extents[dimension]);
}

/// The word of a slot that is the same at every run.
std::uint64_t constant_word(const KernelIr& ir, const Slot& slot, const KernelArgs& args, const Geometry& geometry) {
  switch (slot.kind) {
    case SlotKind::IotaOffset: return word(args.accesses[slot.a].offset);
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
    case SlotKind::Pointer:
    case SlotKind::Scalar:
    case SlotKind::Reciprocal:
    case SlotKind::Scratch:
    case SlotKind::Tickets: return 0;
  }
  return 0;
}

}  // namespace

ParameterBlock parameter_block(const KernelIr& ir, const KernelSource& source, const KernelArgs& args,
                               const Geometry& geometry) {
  TARRY_ASSERT(args.accesses.size() == ir.accesses.size());
  ParameterBlock block;
  block.words.reserve(source.slots.size());
  for (const Slot& slot : source.slots) {
    ParameterPatch patch{static_cast<std::uint32_t>(block.words.size()), slot.kind};
    block.words.push_back(constant_word(ir, slot, args, geometry));
    if (slot.kind == SlotKind::Pointer) {
      patch.index = ir.accesses[slot.a].buffer;
      // Integer arithmetic: the address of an empty buffer may be null.
      patch.addend = word(args.accesses[slot.a].offset * static_cast<std::int64_t>(itemsize(ir.buffers[patch.index])));
    } else if (slot.kind == SlotKind::Scalar || slot.kind == SlotKind::Reciprocal) {
      patch.index = slot.a;
    } else if (slot.kind != SlotKind::Scratch && slot.kind != SlotKind::Tickets) {
      continue;
    }
    block.patches.push_back(patch);
  }
  return block;
}

namespace {

/// Floats from 1 / most to most are divisors of tarry_divide_by.
template <class Bits, class Float>
std::uint64_t reciprocal_bits(std::uint64_t scalar, Float most) {
  const auto x = std::bit_cast<Float>(static_cast<Bits>(scalar));
  const bool fits = std::abs(x) >= 1 / most && std::abs(x) <= most;
  return std::bit_cast<Bits>(fits ? 1 / x : std::numeric_limits<Float>::quiet_NaN());
}

}  // namespace

std::uint64_t reciprocal_word(Dtype dtype, std::uint64_t scalar) {
  return dtype == Dtype::Float32 ? reciprocal_bits<std::uint32_t>(scalar, 0x1p40F)
                                 : reciprocal_bits<std::uint64_t>(scalar, 0x1p256);
}

std::vector<std::uint64_t> pack_parameters(const KernelIr& ir, const KernelSource& source, const KernelArgs& args,
                                           const Geometry& geometry, const Binding& binding) {
  TARRY_ASSERT(binding.buffers.size() == ir.buffers.size() && binding.scalars.size() >= ir.scalars.size());
  ParameterBlock block = parameter_block(ir, source, args, geometry);
  for (const ParameterPatch& p : block.patches) {
    std::uint64_t value = word(p.kind == SlotKind::Scratch ? binding.scratch : binding.tickets);
    if (p.kind == SlotKind::Pointer) value = word(binding.buffers[p.index]) + p.addend;
    if (p.kind == SlotKind::Scalar) value = binding.scalars[p.index];
    if (p.kind == SlotKind::Reciprocal) value = reciprocal_word(ir.scalars[p.index], binding.scalars[p.index]);
    block.words[p.word] = value;
  }
  return std::move(block.words);
}

bool add_shared(std::vector<SharedText>& all, SharedText& text) {
  const std::string name = text.name;
  for (int number = 2;; ++number) {
    const auto found = std::ranges::find(all, text.name, &SharedText::name);
    if (found != all.end() && found->text == text.text) return text.name != name;
    if (found == all.end()) {
      all.push_back(text);
      return text.name != name;
    }
    const std::string next = fmt::format("{}_{}", name, number);  // two hashes are equal
    replace_all(text.text, text.name, next);
    text.name = next;
  }
}

std::string join_unit(std::span<const KernelSource* const> kernels, const graph::Target& target,
                      const std::function<bool(const SharedText&)>& is_prebuilt) {
  std::vector<std::string> sections;
  std::vector<SharedText> shared;
  std::string text;
  for (const KernelSource* kernel : kernels) {
    for (const std::string& section : kernel->sections)
      if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
    std::string own = kernel->kernel;
    std::vector<SharedText> texts = kernel->shared;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string name = texts[i].name;
      if (!add_shared(shared, texts[i])) continue;
      replace_all(own, name, texts[i].name);
      for (std::size_t k = i + 1; k < texts.size(); ++k) {
        replace_all(texts[k].name, name, texts[i].name);
        replace_all(texts[k].text, name, texts[i].name);
      }
    }
    text += own;
  }
  std::string before = prelude_text(sections, target.is_cuda() ? Dialect::Cuda : Dialect::C);
  for (const SharedText& s : shared) before += is_prebuilt && is_prebuilt(s) ? declarations(s.text) : s.text;
  return before + text;
}

}  // namespace tarry::codegen
