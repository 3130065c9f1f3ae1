// Rendering: KernelIr to text by dialect, launch geometry, parameters packed, units of several kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/ir/kernel_ir.h"
#include "codegen/render/types.h"

namespace tarry::codegen {

/// Stores of a CPU kernel whose elements lie one behind the other in the order of its work items.
struct DenseStores {
  std::int64_t elements = 0;   ///< that one work item writes
  std::uint64_t accesses = 0;  ///< a bit for each of the first 64
  std::int64_t bytes = 0;      ///< that a launch writes through them
};

/// Stores of a CPU kernel whose work items are tiles of the last dimension and of `across`, if that is not -1, of which
/// each row is contiguous, with all `channel_count` of dimension `channels`: a row of each, or interleaved. Of the
/// tiles with equal other indices the first `band` rows of tiles come first, column after column.
struct TiledStores {
  int rows = 1, columns = 1, across = -1, band = 1;
  int channels = -1, channel_count = 1;
  std::uint64_t accesses = 0;     ///< a bit for each of the first 64
  std::uint64_t interleaved = 0;  ///< the same of those whose channels are interleaved
  std::int64_t bytes = 0;         ///< that a launch writes through them
};

/// Launch geometry; a pure function of KernelIr, Target and KernelArgs (never of the SM count).
struct Geometry {
  std::int64_t outer_tiles = 1;   ///< GPU blocks or CPU work items that cover the outer space
  std::int64_t chunks = 1;        ///< pieces of the reduced axis
  std::int64_t chunk_blocks = 1;  ///< tree blocks per chunk
  std::size_t scratch_bytes = 0;  ///< chunk states; 0 where there is nothing to fold
  std::size_t ticket_count = 0;   ///< GPU: counters needed
  DenseStores dense;
  TiledStores tiled;
  [[nodiscard]] std::int64_t grid() const { return outer_tiles * chunks; }
  [[nodiscard]] bool folds() const { return scratch_bytes != 0; }
};

KernelSource render(const KernelIr& ir, const graph::Target& target);
KernelSource render_cuda(const KernelIr& ir, const graph::Target& target);
KernelSource render_c(const KernelIr& ir, const graph::Target& target);

Geometry geometry(const KernelIr& ir, const graph::Target& target, const KernelArgs& args);
Geometry geometry_cuda(const KernelIr& ir, const graph::Target& target, const KernelArgs& args);
Geometry geometry_c(const KernelIr& ir, const graph::Target& target, const KernelArgs& args);

/// A parameter word that differs from run to run: `addend` plus the address of buffer `index` (Pointer), scalar `index`
/// (Scalar), its Reciprocal, or the address of Scratch or Tickets.
struct ParameterPatch {
  std::uint32_t word;
  SlotKind kind;
  std::uint32_t index = 0;
  std::uint64_t addend = 0;
};
/// The parameter words of a launch, those that patches name being 0.
struct ParameterBlock {
  std::vector<std::uint64_t> words;
  std::vector<ParameterPatch> patches;
};
ParameterBlock parameter_block(const KernelIr& ir, const KernelSource& source, const KernelArgs& args,
                               const Geometry& geometry);

/// Reciprocal slot: 1 / x of a float32 or float64 that has the bits of `scalar`; NaN where tarry_divide_by would leave
/// the range in which its steps are exact.
std::uint64_t reciprocal_word(Dtype dtype, std::uint64_t scalar);

/// Fills the parameter words. `buffers[i]` is the base address of buffer i.
struct Binding {
  std::span<void* const> buffers;
  std::span<const std::uint64_t> scalars;
  void* scratch = nullptr;
  void* tickets = nullptr;
};
std::vector<std::uint64_t> pack_parameters(const KernelIr& ir, const KernelSource& source, const KernelArgs& args,
                                           const Geometry& geometry, const Binding& binding);

/// A translation unit of several kernels, no two of the same entry: the union of their prelude sections and each shared
/// text once, then each kernel. Functions of shared texts that `is_prebuilt` are only declared
/// (codegen/render/prebuilt.h).
std::string join_unit(std::span<const KernelSource* const> kernels, const graph::Target& target,
                      const std::function<bool(const SharedText&)>& is_prebuilt = {});

}  // namespace tarry::codegen
