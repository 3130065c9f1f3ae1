// Where the build embeds nothing: the generator itself, and builds with a sanitizer or for another kind of machine.
#include "runtime/device/compilers/embedded.h"

namespace tarry::runtime {

const Embedded* embedded_units() {
  static constexpr Embedded kNone{};
  return &kNone;
}

}  // namespace tarry::runtime
