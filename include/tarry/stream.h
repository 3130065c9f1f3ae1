// Shapes, dtypes and devices in streams, as their names say them.
#pragma once

#include <tarry/device.h>
#include <tarry/dtype.h>
#include <tarry/export.h>
#include <tarry/shape.h>

#include <iosfwd>

namespace tarry {
inline namespace v0 {

/// "(3, 4)", "(5,)", "()"
TARRY_EXPORT std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// "float32"
TARRY_EXPORT std::ostream& operator<<(std::ostream& out, Dtype dtype);
/// "cpu", "cuda:0", "unplaced"
TARRY_EXPORT std::ostream& operator<<(std::ostream& out, Device device);

}  // namespace v0
}  // namespace tarry
