// From a dtype to the C++ type of its elements.
#pragma once

#include <cstdint>

#include <tarry/tarry.h>

namespace tarry::test {

/// Calls f(T{}) with the C++ type of a dtype that operations are implemented for.
template <class F>
decltype(auto) visit(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::Bool: return f(bool{});
    case Dtype::Int8: return f(std::int8_t{});
    case Dtype::Int16: return f(std::int16_t{});
    case Dtype::Int32: return f(std::int32_t{});
    case Dtype::Int64: return f(std::int64_t{});
    case Dtype::UInt8: return f(std::uint8_t{});
    case Dtype::UInt16: return f(std::uint16_t{});
    case Dtype::UInt32: return f(std::uint32_t{});
    case Dtype::UInt64: return f(std::uint64_t{});
    case Dtype::Float16: return f(Half{});
    case Dtype::BFloat16: return f(BFloat16{});
    case Dtype::Float32: return f(float{});
    default: return f(double{});
  }
}

}  // namespace tarry::test
