// Constants of the Python array API standard, as C++ numbers: beside an array they take its dtype.
#pragma once

#include <limits>
#include <numbers>

namespace tarry {
inline namespace v0 {

inline constexpr double pi = std::numbers::pi;
inline constexpr double e = std::numbers::e;
inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace v0
}  // namespace tarry
