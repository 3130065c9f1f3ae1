// The floor of a quotient as docs/reference/numerics.md defines it, by products that are exact.
#pragma once

#include <cmath>
#include <type_traits>

namespace tarry::test {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 ExactProduct;  // of two float64
#else
using ExactProduct = long double;  // 113 bits where there is no __float128
#endif

template <class T>
T floor_quotient(T a, T b) {
  using Wide = std::conditional_t<sizeof(T) == 4, double, ExactProduct>;
  const T floored = std::floor(a / b);
  const Wide product = Wide(floored) * Wide(b), x = a;
  const bool beyond = b > 0 ? product > x : b < 0 && product < x;
  return beyond ? floored - 1 : floored;
}

}  // namespace tarry::test
