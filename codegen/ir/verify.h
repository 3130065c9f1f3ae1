// Rules of kernels: what verify() shares with the verifiers of schedules.
#pragma once

#include <string>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {

/// Throws InternalError: a rule, and the printed kernel that breaks it.
[[noreturn]] void broken(const KernelIr& ir, const std::string& rule);

/// True if an access moves along a dimension, if there is such a dimension.
inline bool moves_along(const Access& a, int dimension) {
  return dimension >= 0 && a.strides[static_cast<std::size_t>(dimension)] != StrideClass::Zero;
}

/// That each term of a guard varies along the tile's rows or along its columns, not both: tiles test it by either.
void verify_row_column_guards(const KernelIr& ir);
/// Carried, While, Last, Keep and Kept.
void verify_level(const KernelIr& ir, std::size_t i, const std::string& here);

// The verifiers of schedules; no_rules is that of one without rules of its own.
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, ...) void verify(const KernelIr& ir);
#include "codegen/ir/schedules.def"

}  // namespace tarry::codegen
