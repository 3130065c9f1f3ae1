// Numbers as elements: what a dtype holds of a C++ number, and what stands for the rest.
#include "graph/record/numbers.h"

#include <tarry/half.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "support/floating_point.h"

namespace tarry::graph {
namespace {

template <class T>
bool integer_cell(Scalar value, ScalarCell& cell) noexcept {
  if (value.kind() == Scalar::Kind::Float) return false;
  const bool unsigned_value = value.kind() == Scalar::Kind::UInt;
  const bool fits = unsigned_value ? std::in_range<T>(value.as_uint()) : std::in_range<T>(value.as_int());
  if (!fits) return false;
  cell = ScalarCell::of(unsigned_value ? static_cast<T>(value.as_uint()) : static_cast<T>(value.as_int()));
  return true;
}

/// float32 has this number, and no denormal: it converts alike in every floating-point state.
bool converts_alike(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t exponent = bits >> 52 & 0x7ff;
  return (bits & 0x1fffffff) == 0 && exponent >= 1023 - 126 && exponent <= 1023 + 127;
}

template <class T>
bool float_cell(Scalar value, ScalarCell& cell) noexcept {
  if (value.kind() == Scalar::Kind::Float && converts_alike(value.as_float())) {
    cell = ScalarCell::of(static_cast<T>(value.as_float()));
    return true;
  }
  const support::DefaultFloatingPoint state;
  T converted{};
  switch (value.kind()) {  // each kind rounds once
    case Scalar::Kind::Float: converted = static_cast<T>(value.as_float()); break;
    case Scalar::Kind::UInt: converted = static_cast<T>(value.as_uint()); break;
    default: converted = static_cast<T>(value.as_int()); break;
  }
  cell = ScalarCell::of(converted);
  return std::isfinite(converted) || !std::isfinite(value.to_double());
}

/// A number as a float64 that rounds to a 16-bit float as the number itself would: integers beyond 2^53 keep their
/// lower bits as one sticky bit.
double for_rounding(Scalar value) noexcept {
  if (value.kind() == Scalar::Kind::Float) return value.as_float();
  const bool negative = value.kind() != Scalar::Kind::UInt && value.as_int() < 0;
  std::uint64_t magnitude = value.as_uint();
  if (value.kind() != Scalar::Kind::UInt) magnitude = static_cast<std::uint64_t>(value.as_int());
  if (negative) magnitude = 0 - magnitude;
  if (magnitude >> 53 != 0) magnitude = (magnitude & ~std::uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
  const auto size = static_cast<double>(magnitude);  // exact
  return negative ? -size : size;
}

template <class T>
bool half_cell(Scalar value, ScalarCell& cell) noexcept {
  const T converted(for_rounding(value));
  cell = ScalarCell::of(converted.bits);
  return std::isfinite(static_cast<float>(converted)) || !std::isfinite(value.to_double());
}

__extension__ typedef __int128 Wide;  // holds every int64 and uint64

Wide whole(Scalar value) {
  return value.kind() == Scalar::Kind::UInt ? static_cast<Wide>(value.as_uint()) : static_cast<Wide>(value.as_int());
}

/// An integer as that, beyond all dtypes where it is beyond 2^64.
Wide whole(double integer) {
  constexpr double kBeyond = 0x1p65;
  return static_cast<Wide>(std::fmin(std::fmax(integer, -kBeyond), kBeyond));
}

struct IntegerRange {
  Wide least, most;
};
IntegerRange range_of(Dtype integer) {
  const int bits = 8 * static_cast<int>(itemsize(integer));
  if (tarry::info(integer).kind == DtypeKind::UInt) return {0, (Wide{1} << bits) - 1};
  return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
}

/// An integer that is within int64 or uint64.
Scalar as_scalar(Wide value) {
  return value < 0 ? Scalar(static_cast<std::int64_t>(value)) : Scalar(static_cast<std::uint64_t>(value));
}

/// Integers x and a number: x < v is x < ceil(v), x <= v is x <= floor(v); beyond the dtype all x answer alike.
Threshold integer_threshold(Op op, Scalar value, Dtype dtype) {
  const support::DefaultFloatingPoint state;
  const bool fraction = value.kind() == Scalar::Kind::Float;
  if (fraction && std::isnan(value.as_float())) return {.answer = op == Op::NotEqual};
  const Wide below = fraction ? whole(std::floor(value.as_float())) : whole(value);
  const Wide above = fraction ? whole(std::ceil(value.as_float())) : below;
  if (below != above && (op == Op::Equal || op == Op::NotEqual)) return {.answer = op == Op::NotEqual};
  const Wide bound = op == Op::Less || op == Op::GreaterEqual ? above : below;
  const IntegerRange range = range_of(dtype);
  if (bound < range.least) return {.answer = op == Op::Greater || op == Op::GreaterEqual || op == Op::NotEqual};
  if (bound > range.most) return {.answer = op == Op::Less || op == Op::LessEqual || op == Op::NotEqual};
  Threshold within;
  to_cell(as_scalar(bound), dtype, within.cell);
  return within;
}

/// The float in a cell.
double widened(const ScalarCell& cell, Dtype dtype) {
  switch (dtype) {
    case Dtype::Float16: return static_cast<double>(static_cast<float>(cell.as<Half>()));
    case Dtype::BFloat16: return static_cast<double>(static_cast<float>(cell.as<BFloat16>()));
    case Dtype::Float32: return static_cast<double>(cell.as<float>());
    default: return cell.as<double>();
  }
}

/// The next float of a cell that is not zero, by its bits: away from zero or towards it.
ScalarCell neighbour(const ScalarCell& cell, Dtype dtype, int away) {
  switch (itemsize(dtype)) {
    case 2: return ScalarCell::of(static_cast<std::uint16_t>(cell.as<std::uint16_t>() + away));
    case 4: return ScalarCell::of(cell.as<std::uint32_t>() + static_cast<std::uint32_t>(away));
    default: return ScalarCell::of(cell.as<std::uint64_t>() + static_cast<std::uint64_t>(away));
  }
}

/// Floats x and a number v that they do not have: x < v is x < the least float above v, x <= v is x <= the largest
/// below; no x equals NaN.
Threshold float_threshold(Op op, Scalar value, Dtype dtype) {
  const support::DefaultFloatingPoint state;
  Threshold t;
  const bool fits = to_cell(value, dtype, t.cell), fraction = value.kind() == Scalar::Kind::Float;
  if (fits && fraction) return t;
  const double nearest = widened(t.cell, dtype);
  const bool above = fraction ? nearest > value.as_float() : whole(nearest) > whole(value);
  const bool below = fraction ? nearest < value.as_float() : whole(nearest) < whole(value);
  if (!above && !below) return t;
  if (op == Op::Equal || op == Op::NotEqual) {
    to_cell(std::numeric_limits<double>::quiet_NaN(), dtype, t.cell);
    return t;
  }
  const bool from_above = op == Op::Less || op == Op::GreaterEqual;
  if (from_above && below) t.cell = neighbour(t.cell, dtype, nearest > 0 ? 1 : -1);
  if (!from_above && above) t.cell = neighbour(t.cell, dtype, nearest > 0 ? -1 : 1);
  return t;
}

}  // namespace

bool to_cell(Scalar value, Dtype dtype, ScalarCell& cell) noexcept {
  switch (dtype) {
    case Dtype::Bool: {
      ScalarCell number;
      if (!integer_cell<std::int64_t>(value, number) || (number.as<std::uint64_t>() > 1)) return false;
      cell = ScalarCell::of(static_cast<std::uint8_t>(number.as<std::int64_t>()));
      return true;
    }
    case Dtype::Int8: return integer_cell<std::int8_t>(value, cell);
    case Dtype::Int16: return integer_cell<std::int16_t>(value, cell);
    case Dtype::Int32: return integer_cell<std::int32_t>(value, cell);
    case Dtype::Int64: return integer_cell<std::int64_t>(value, cell);
    case Dtype::UInt8: return integer_cell<std::uint8_t>(value, cell);
    case Dtype::UInt16: return integer_cell<std::uint16_t>(value, cell);
    case Dtype::UInt32: return integer_cell<std::uint32_t>(value, cell);
    case Dtype::UInt64: return integer_cell<std::uint64_t>(value, cell);
    case Dtype::Float16: return half_cell<Half>(value, cell);
    case Dtype::BFloat16: return half_cell<BFloat16>(value, cell);
    case Dtype::Float32: return float_cell<float>(value, cell);
    case Dtype::Float64: return float_cell<double>(value, cell);
    default: return false;
  }
}

std::string to_string(Scalar value) {
  switch (value.kind()) {
    case Scalar::Kind::Bool: return value.as_int() != 0 ? "true" : "false";
    case Scalar::Kind::Int: return std::to_string(value.as_int());
    case Scalar::Kind::UInt: return std::to_string(value.as_uint());
    case Scalar::Kind::Float: break;
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", value.as_float());
  return digits;
}

Scalar clamped(Scalar value, Dtype dtype) {
  if (is_integral(dtype)) {
    const IntegerRange range = range_of(dtype);
    return as_scalar(std::min(std::max(whole(value), range.least), range.most));
  }
  ScalarCell cell;
  if (dtype == bool_ || to_cell(value, dtype, cell)) return value;
  return widened(neighbour(cell, dtype, -1), dtype);  // it rounded to an infinity
}

Threshold threshold(Op op, Scalar value, Dtype dtype) {
  return is_floating(dtype) ? float_threshold(op, value, dtype) : integer_threshold(op, value, dtype);
}

}  // namespace tarry::graph
