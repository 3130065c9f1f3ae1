// Toolchain: from kernels to images for any target, present here or not. Backends compile through it, and so does warm.
#pragma once

#include <span>
#include <string>

#include "cache/kernel_cache.h"
#include "codegen/render/kernel_source.h"
#include "graph/target.h"
#include "runtime/device/compilers/nvrtc.h"

namespace tarry::runtime {

/// Options that change a binary: part of the cache key. Known without a compiler.
std::string compile_options(const graph::Target& target, graph::Mode mode);
/// Name and version of the compiler for `target`, "" where none is present.
std::string compiler_of(const graph::Target& target);
/// A request to the cache for a kernel. `source` must outlive the request.
cache::KernelRequest kernel_request(const codegen::KernelSource& source, graph::Mode mode, std::string options,
                                    const graph::Target& target);
/// One image of up to 8 kernels of one mode. Throws CompileError.
cache::Binary compile_kernels(std::span<const cache::KernelRequest* const> requests, const graph::Target& target,
                              ImageKind kind = ImageKind::Cubin);

}  // namespace tarry::runtime
