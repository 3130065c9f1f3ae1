// << of the small values.
#include <tarry/stream.h>

#include <ostream>

namespace tarry {
inline namespace v0 {

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.str(); }

std::ostream& operator<<(std::ostream& out, Dtype dtype) {
  const auto number = static_cast<int>(dtype);
  return number < kDtypeCount ? out << name(dtype) : out << "dtype " << number;
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }

}  // namespace v0
}  // namespace tarry
