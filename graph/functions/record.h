// A call of a function as operations.
#pragma once

#include <span>
#include <vector>

#include "graph/functions/syntax.h"
#include "graph/record/record.h"

namespace tarry::graph {

/// The results of a function for arguments, one for each parameter. Conversions are those of C, but for a real number
/// without a suffix, which takes the type of the real value that it meets. `defined` is the place of its text.
std::vector<Edge> record_function(const Syntax& syntax, std::string_view name, std::span<const Argument> arguments,
                                  Where defined, Where where);

}  // namespace tarry::graph
