// The embedded objects.
#include "runtime/device/compilers/prebuilt.h"

#include "codegen/render/prebuilt.h"
#include "runtime/device/compilers/embedded.h"

namespace tarry::runtime {

bool Prebuilt::holds(const codegen::SharedText& text) const {
  return index.find(codegen::prebuilt_row(text)) != std::string_view::npos;
}

Prebuilt prebuilt_for(const graph::Target& target) {
  for (const Embedded* e = embedded_units(); e->target != nullptr; ++e)
    if (std::string_view(e->target) == target.name) return {{e->index, e->index_end}, {e->object, e->object_end}};
  return {};
}

}  // namespace tarry::runtime
