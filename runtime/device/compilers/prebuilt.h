// Machine code of shared texts (codegen/render/prebuilt.h) that was made with the library, one object for each level of
// its kind of processor; none where it was built with a sanitizer or for another kind of machine.
#pragma once

#include <string_view>

#include "codegen/render/kernel_source.h"
#include "graph/target.h"

namespace tarry::runtime {

struct Prebuilt {
  std::string_view index, object;  ///< codegen::PrebuiltUnit::index; relocatable machine code
  [[nodiscard]] bool holds(const codegen::SharedText& text) const;
};
/// Empty where there is none.
Prebuilt prebuilt_for(const graph::Target& target);

}  // namespace tarry::runtime
