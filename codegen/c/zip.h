// C: pixels become planes and planes pixels, in arrays that fit L1. Vectors of 16 bytes: where a pixel
// has a power of two of values, log2 of that many times halves of all vectors are interleaved, or what is at even and
// at odd places comes together; elsewhere each vector takes its elements from one vector after another.
#pragma once

#include "codegen/c/render.h"

namespace tarry::codegen {

/// Shares NAME(from, to, apart, n) and returns its name: to[v * apart + j] = from[j * values + v], of elements of
/// `size` bytes.
std::string unzip_function(CWriter& w, std::size_t size, int values);
/// Shares NAME(from, apart, to, n) and returns its name: to[j * values + v] = from[v * apart + j].
std::string zip_function(CWriter& w, std::size_t size, int values);

}  // namespace tarry::codegen
