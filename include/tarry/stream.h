// Shapes, dtypes and devices in streams, as their names say them.
#pragma once

#include <tarry/device.h>
#include <tarry/dtype.h>
#include <tarry/export.h>
#include <tarry/shape.h>

#include <iosfwd>

namespace tarry {
inline namespace v0 {

/// Writes "(3, 4)", "(5,)" or "()".  Throws what the stream throws.  Example: `ta::Shape{5}` is `(5,)`.
TARRY_EXPORT std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// Writes "float32" and the like.  Throws what the stream throws.  Example: `ta::float32` is `float32`.
TARRY_EXPORT std::ostream& operator<<(std::ostream& out, Dtype dtype);
/// Writes "cpu", "cuda:0" or "unplaced".  Throws what the stream throws.  Example: `ta::cpu` is `cpu`.
TARRY_EXPORT std::ostream& operator<<(std::ostream& out, Device device);

}  // namespace v0
}  // namespace tarry
