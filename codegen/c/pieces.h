// Pieces of arrays: what a map on a CPU loads from one of several places, by the box that a point lies in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// A piece of an array, or a guard, behind which come the pieces where it holds, then those where it does not.
struct PieceOrGuard {
  std::uint32_t guard = kNone;   ///< kNone: a piece
  std::uint32_t access = kNone;  ///< of a piece
};
using Pieces = std::vector<PieceOrGuard>;

/// A map whose choices between pieces of an array are loads, each by an access of its own that has no parameters.
struct PiecedKernel {
  KernelIr ir;
  std::map<std::uint32_t, Pieces> pieces;  ///< by access
  std::vector<bool> needed;                ///< by value: the others are of no use any more
};

/// The kernel so; nothing where no array is loaded by pieces.
std::optional<PiecedKernel> with_pieces(const KernelIr& ir);

}  // namespace tarry::codegen
