// KernelSource: rendered text and how to call it. A pure function of KernelIr and Target.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// The kernel's only parameter is a struct of 8-byte slots in this order; counted exactly against the Target's limit.
enum class SlotKind : std::uint8_t {
  Pointer,        ///< a: access; address of its base element (offset already added)
  IotaOffset,     ///< a: access without buffer; its offset (int64)
  Scalar,         ///< a: scalar; the cell's first 8 bytes
  Extent,         ///< a: outer dimension (int64)
  Magic,          ///< a: outer dimension; multiplier | shift << 32 of division by its extent (indices below 2^31)
  Tiles,          ///< a: outer dimension; tiles along it (int64)
  TileMagic,      ///< a: outer dimension; as Magic, of the number of tiles
  TileCount,      ///< product of the numbers of tiles
  Stride,         ///< a: access, b: outer dimension (int64, elements)
  ReducedStride,  ///< a: access
  LoopStride,     ///< a: access
  OuterCount,     ///< product of the extents
  Reduced,        ///< n
  Chunks,         ///< partial states per outer index
  ChunkBlocks,    ///< tree blocks (of 128) per chunk, a power of two
  Scratch,        ///< address of chunk states: [outer][chunk] of state_bytes
  Tickets,        ///< address of zeroed u32 counters, one per outer tile; the kernel leaves them zero
};
struct Slot {
  SlotKind kind;
  std::uint32_t a = 0, b = 0;
};

/// A store as the parameters name it.
struct StoreSlot {
  std::uint32_t access, word;
  std::int64_t itemsize;
};

/// Text that no kernel owns: every symbol in it begins with its name, which ends in the hash of the text.
struct SharedText {
  std::string name, text;
};

struct KernelSource {
  std::string text;     ///< complete translation unit body of this kernel: used prelude sections, shared texts, kernel
  std::string prelude;  ///< the prelude part alone (a batch emits the union of its kernels' sections once)
  std::vector<std::string> sections;
  std::vector<SharedText> shared;  ///< in order; kernels of a batch have in common what is equal
  std::string kernel;              ///< the kernel part alone
  std::string entry;               ///< global symbol; ends in the hash of the text
  std::vector<Slot> slots;
  std::vector<StoreSlot> stores;
  int threads = 256;     ///< GPU block size
  int tile = 1;          ///< CPU: outer elements of a work item
  int cluster = 1;       ///< GPU: thread blocks of a cluster, as the text says
  int shared_bytes = 0;  ///< GPU: dynamic shared memory of a thread block
  bool waits = false;  ///< GPU: from sm_90 on the kernel itself waits for those before it, and may start while they end
  bool fold_per_chunk = false;  ///< CPU: the fold runs once per chunk, not once per outer tile
  int point_cost = 1;           ///< CPU: estimated quarter-nanoseconds of one point, for the grain of parallel loops
};

/// Stores of a CPU kernel whose elements lie one behind the other in the order of its work items.
struct DenseStores {
  std::int64_t elements = 0;   ///< that one work item writes
  std::uint64_t accesses = 0;  ///< a bit for each of the first 64
  std::int64_t bytes = 0;      ///< that a launch writes through them
};

/// Stores of a CPU kernel whose work items are tiles of the last dimension and of `cross`, if that is not -1, of which
/// each row is contiguous, with all `values` of dimension `pixel`: a row of each, or all side by side. Of the tiles
/// with equal other indices the first `band` rows of tiles come first, column after column.
struct TiledStores {
  int rows = 1, columns = 1, cross = -1, band = 1;
  int pixel = -1, values = 1;
  std::uint64_t accesses = 0;  ///< a bit for each of the first 64
  std::uint64_t pixels = 0;    ///< the same of those that have the values side by side
  std::int64_t bytes = 0;      ///< that a launch writes through them
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
/// (Scalar), or the address of Scratch or Tickets.
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
