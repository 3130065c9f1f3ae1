// result_type: the promotion of two dtypes (docs/numerics.md, "Promotion").
#include <tarry/dtype.h>

#include <algorithm>

#include "support/check.h"

namespace tarry {
inline namespace v0 {
namespace {

Dtype signed_of_size(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return int8;
    case 2:
      return int16;
    case 4:
      return int32;
    default:
      return int64;
  }
}

/// The smallest signed dtype that holds all values of both.
Dtype mixed_sign(Dtype signed_, Dtype unsigned_) {
  if (unsigned_ == uint64) {
    TARRY_THROW(InvalidArgument, "result_type", Where{},
                "no integer dtype holds both " + std::string(name(signed_)) +
                    " and uint64; convert one of them with astype first");
  }
  return signed_of_size(std::max(itemsize(signed_), 2 * itemsize(unsigned_)));
}

Dtype wider(Dtype a, Dtype b) { return itemsize(a) >= itemsize(b) ? a : b; }

Dtype floats(Dtype a, Dtype b) {
  const bool two_halves = a != b && itemsize(a) == 2 && itemsize(b) == 2;  // neither half format holds the other
  return two_halves ? float32 : wider(a, b);
}

Dtype complex_with(Dtype complex, Dtype other) {
  return other == float64 || other == complex128 ? complex128 : complex;
}

}  // namespace

Dtype result_type(Dtype a, Dtype b) {
  if (info(a).kind > info(b).kind) std::swap(a, b);  // Bool < Int < UInt < Float < Complex
  const DtypeKind low = info(a).kind, high = info(b).kind;
  if (high == DtypeKind::Complex) return complex_with(b, a);
  if (high == DtypeKind::Float) return low == DtypeKind::Float ? floats(a, b) : b;
  if (low == DtypeKind::Bool) return b;
  return low == high ? wider(a, b) : mixed_sign(a, b);
}

}  // namespace v0
}  // namespace tarry
