// The prelude as text: which sections a kernel needs, and how an op is written in it.
// codegen/prelude/prelude.h is one source for three readers: NVRTC (CUDA C++), the C compiler, and this library (C++).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/op.h"

namespace tarry::codegen {

enum class Dialect { C, Cuda };

/// Name of the prelude function: "tarry_exp_f32", "tarry_astype_i32_f32" (from, to), "tarry_less_f32".
std::string function_name(graph::Op op, Dtype input, Dtype output);

/// C expression of the op on operand texts: infix where the table has one and the dtype is floating (and for
/// comparisons of any dtype), else a call of the prelude function.
std::string expression(graph::Op op, Dtype input, Dtype output, std::span<const std::string> operands);

/// The sections that define `functions` and all they need, in prelude order. "core" (types) is always first.
/// Throws InternalError for a function that no section defines.
std::vector<std::string> prelude_sections(std::span<const std::string> functions);

/// The text of those sections for a dialect; compiles alone.
std::string prelude_text(std::span<const std::string> sections, Dialect dialect);

/// C type of an element in generated code: "float", "tarry_i64", "tarry_u8" for bool.
std::string c_type(Dtype dtype);

}  // namespace tarry::codegen
