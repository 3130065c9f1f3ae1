// KernelSource: rendered text and how to call it. A pure function of KernelIr and Target.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tarry::codegen {

/// The kernel's only parameter is a struct of 8-byte slots in this order; counted exactly against the Target's limit.
enum class SlotKind : std::uint8_t {
  Pointer,        ///< a: access; address of its base element (offset already added)
  IotaOffset,     ///< a: access without buffer; its offset (int64)
  Scalar,         ///< a: scalar; the cell's first 8 bytes
  Reciprocal,     ///< a: scalar; what tarry_divide_by wants of the float by which is divided (reciprocal_word)
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

}  // namespace tarry::codegen
