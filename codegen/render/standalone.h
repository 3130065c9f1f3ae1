// A kernel as a program of its own: a main() that makes its buffers, launches it once and prints what it stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "codegen/render/kernel_source.h"

namespace tarry::codegen {

/// One launch of a kernel, without addresses.
struct StandaloneLaunch {
  const KernelArgs* args;
  Geometry geometry;
  std::span<const std::uint64_t> scalars;
  std::span<const std::size_t> buffer_bytes;  ///< by buffer of the IR
};

/// Text to append to the kernel's source: under TARRY_MAIN a main(), for a GPU with CUDA's runtime API, else in C.
///
/// Element i of buffer b is a function of (dtype, b, i), exact in every dtype: with h = the hash below, floats are
/// (8 + h mod 64) / 32, integers 1 + h mod 7, bools h mod 2. All arithmetic is modulo 2^32:
///   h = i * 2654435761 + b * 40503;  h ^= h >> 15;  h *= 0x85ebca6b;  h ^= h >> 13
/// Each buffer that the kernel stores into becomes a line "b1 f32 4000 bytes fnv1a 0123456789abcdef": FNV-1a of 64
/// bits.
std::string standalone_main(const KernelIr& ir, const KernelSource& source, const StandaloneLaunch& launch,
                            const graph::Target& target);

}  // namespace tarry::codegen
