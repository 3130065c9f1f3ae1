// The dtypes in which Bincount and the Segment ops take numbers of bins and runs (graph/op.h).
#pragma once

#include <tarry/dtype.h>

#include <cstdint>

#include "support/check.h"

namespace tarry::runtime {

/// Calls body with a value of the dtype's C++ type.
template <class Body>
void with_numbers(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::UInt8: return body(std::uint8_t{});
    case Dtype::UInt16: return body(std::uint16_t{});
    case Dtype::UInt32: return body(std::uint32_t{});
    default: TARRY_ASSERT(dtype == Dtype::Int64); return body(std::int64_t{});
  }
}

}  // namespace tarry::runtime
