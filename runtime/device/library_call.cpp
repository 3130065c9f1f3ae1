// A product as text.
#include "runtime/device/library_call.h"

#include <fmt/format.h>

namespace tarry::runtime {

std::string MatmulSpec::str() const {
  return fmt::format("matmul {} ({}, {}, {}) ({}, {}, {})", info(dtype).suffix, a_count, m, k, b_count, k, n);
}

}  // namespace tarry::runtime
