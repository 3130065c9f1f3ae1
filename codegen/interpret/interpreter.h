// The tile interpreter: runs KernelIr in 256-element tiles with the prelude compiled into the library. Third party of
// every differential test, counter of the bytes a kernel really touches, fallback where no C compiler is present.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

struct Traffic {
  std::int64_t bytes_read = 0;  ///< an element counts once per load; a load that does not vary in a tile counts once
  std::int64_t bytes_written = 0;
};

/// Host addresses in `buffers` (base of each buffer), 8-byte scalar cells in `scalars`.
void interpret(const KernelIr& ir, const KernelArgs& args, std::span<void* const> buffers,
               std::span<const std::uint64_t> scalars, Traffic* traffic = nullptr);

/// The scalar function behind every op: out and inputs are 8-byte cells. Constant folding uses it too.
/// Throws InternalError for an (op, dtype) without a prelude function.
using ScalarFunction = void (*)(void* out, const void* a, const void* b, const void* c);
ScalarFunction scalar_function(Op op, Dtype input, Dtype output);

}  // namespace tarry::codegen
