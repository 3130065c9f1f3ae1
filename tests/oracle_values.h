// What the parts of the oracle share: wide types, index arithmetic, conversion.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "tests/fuzz_program.h"

namespace tarry::fuzz {

__extension__ typedef __int128 Int128;
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;  // 113 bits where there is no __float128
#endif

/// At least 2p + 2 bits for + - * / of p-bit floats, so that rounding twice is rounding once (Figueroa 1995); no
/// overflow for integers.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<std::is_same_v<T, double>, Quad, Int128>>;

Extents row_major(const Extents& shape);
Extents coordinates(std::int64_t k, const Extents& shape);
/// For every element of `shape` the number of the element of `from` that broadcasting puts there.
std::vector<std::int64_t> gather(const Extents& from, const Extents& shape);
Tensor converted(const Tensor& x, Dtype dtype);

std::string judge_reduction(const Statement& s, const Tensor& x, const Tensor& got);

}  // namespace tarry::fuzz
