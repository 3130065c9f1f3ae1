// CUDA C of scans: what the forms by row and by tile share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/render.h"

namespace tarry::codegen::cuda {

/// How ScanTiles cuts rows and thread blocks: loading warps, a gathering one, scanning warps.
struct ScanTile {
  int blocks = 32;   ///< tree blocks per tile
  int stages = 3;    ///< tiles in shared memory
  int loaders = 4;   ///< warps
  int scanners = 4;  ///< warps
  int resident = 1;  ///< thread blocks on a multiprocessor
  [[nodiscard]] int threads() const { return 32 * (loaders + 1 + scanners); }
  [[nodiscard]] std::int64_t elements() const { return std::int64_t{kTreeBlock} * blocks; }
};
ScanTile scan_tile(const KernelIr& ir);
/// Bytes of a state as the kernel's struct lays it out.
std::size_t scan_state_bytes(const KernelIr& ir);
/// Types, functions and entry of ScanTiles, and what they leave open.
std::string tile_text(const KernelIr& ir);
std::vector<std::pair<std::string, std::string>> tile_choices(const KernelIr& ir);

/// Scans whose combination the kernel spells out (cuda/combine.cpp): the state's type and functions; those of a warp
/// that takes a block at a time; entries of ScanSerial and ScanInner; the part of ScanTiles that stages blocks; what
/// all of them leave open.
std::string combine_state(const KernelIr& ir);
std::string combine_functions(const KernelIr& ir, Expressions& expressions);
std::string_view combine_warp();
std::string_view combine_serial();
std::string_view combine_inner();
std::string_view combine_stage();
std::vector<std::pair<std::string, std::string>> combine_choices(const KernelIr& ir);

}  // namespace tarry::codegen::cuda
