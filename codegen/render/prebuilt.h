// Prebuilt text: shared texts of C kernels whose functions the library brings along as machine code, so that compiling
// a kernel takes only what is its own. Which ones does not show: a kernel's text, key and name are the same.
//
// Every function of a shared text begins with "static " at the start of a line and ends in a line "}"; what is inline,
// and types and constants, are of each unit.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/render/types.h"
#include "graph/target.h"

namespace tarry::codegen {

/// A shared text as the unit has it that holds its functions for others.
std::string definitions(std::string_view text);
/// A shared text as a unit has it that is linked with those.
std::string declarations(std::string_view text);

/// Shared texts as the library brings them along.
struct PrebuiltUnit {
  std::string text;   ///< their definitions
  std::string index;  ///< prebuilt_row() of each
};
/// Those of `kernels`, all for `target`.
PrebuiltUnit prebuilt_unit(std::span<const KernelSource* const> kernels, const graph::Target& target);
/// The line of an index that stands for a text.
std::string prebuilt_row(const SharedText& text);

}  // namespace tarry::codegen
