// C: transposed copies of small matrices. Vectors of 16 bytes from K columns of K elements, log2 K times interleaved
// with those half their number away, are K rows.
#pragma once

#include "codegen/c/render.h"

namespace tarry::codegen {

inline constexpr int kVectorBytes = 16;  ///< of vectors that every level has
inline constexpr int kTileBand = 8;      ///< rows of tiles that are walked column by column

/// The name of an unsigned integer of `size` bytes.
std::string word_type(std::size_t size);
/// Shares NAME(from, pitch, to, width, rows, columns) and returns its name: to[r * width + c] = from[c * pitch + r]. It
/// walks along memory and asks for `ahead` columns further in L2, where that is not 0.
std::string transpose_function(CWriter& w, std::size_t size, int ahead);

}  // namespace tarry::codegen
