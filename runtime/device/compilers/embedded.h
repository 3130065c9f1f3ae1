// Files that the build makes with the library's own generator of kernels and puts into it.
#pragma once

namespace tarry::runtime {

struct Embedded {
  const char* target;  ///< nullptr after the last
  const char *index, *index_end, *object, *object_end;
};
const Embedded* embedded_units();

}  // namespace tarry::runtime
