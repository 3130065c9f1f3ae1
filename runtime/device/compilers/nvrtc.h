// NVRTC: CUDA C text to a cubin. Needs neither a GPU nor the driver, so any machine can compile for any target.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/resources.h"
#include "graph/op.h"
#include "graph/target.h"

namespace tarry::runtime {

using cache::KernelResources;

enum class ImageKind : std::uint8_t { Cubin, Ptx };

struct NvrtcImage {
  std::string bytes;  ///< the image; PTX is text
  ImageKind kind = ImageKind::Cubin;
  std::string compiler;                    ///< "nvrtc 13.0"
  std::string log;                         ///< warnings and the report of ptxas
  std::vector<KernelResources> resources;  ///< one per kernel, in the order of ptxas; empty for PTX
};

/// Compiles a header-free translation unit for `target`: to a cubin, or to PTX for the newest architecture below it
/// where this NVRTC does not know the target (or `kind` asks for PTX). Thread-safe; sets nothing of the process.
/// Throws CompileError with the compiler's log, also where there is no NVRTC.
NvrtcImage nvrtc_compile(const std::string& text, const graph::Target& target, graph::Mode mode,
                         ImageKind kind = ImageKind::Cubin);

/// The same for a text of the user's, with NVRTC's own meaning of everything and these options.
NvrtcImage nvrtc_compile_own(const std::string& text, const graph::Target& target, std::span<const std::string> options,
                             ImageKind kind);

/// The options that change the binary: part of the cache key, and known without NVRTC.
std::string nvrtc_options(graph::Mode mode);

std::string nvrtc_compiler();            ///< "nvrtc 13.0", or "" where there is none
std::string nvrtc_location();            ///< the library in use, or ""
std::string nvrtc_unavailable_reason();  ///< "" where it can be used; else what was tried and what helps

}  // namespace tarry::runtime
