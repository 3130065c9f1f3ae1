// Element types: the names, sizes and promotion rules of the Python array API standard.
#pragma once

#include <tarry/error.h>
#include <tarry/export.h>
#include <tarry/half.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

namespace tarry {
inline namespace v0 {

/// Element type of an array. The numeric values are part of the canonical byte form and never change.
enum class Dtype : std::uint8_t {
  Bool = 0,
  Int8 = 1,
  Int16 = 2,
  Int32 = 3,
  Int64 = 4,
  UInt8 = 5,
  UInt16 = 6,
  UInt32 = 7,
  UInt64 = 8,
  Float16 = 9,
  BFloat16 = 10,
  Float32 = 11,
  Float64 = 12,
  Complex64 = 13,
  Complex128 = 14,
};
inline constexpr int kDtypeCount = 15;

inline constexpr Dtype bool_ = Dtype::Bool, int8 = Dtype::Int8, int16 = Dtype::Int16, int32 = Dtype::Int32,
                       int64 = Dtype::Int64, uint8 = Dtype::UInt8, uint16 = Dtype::UInt16, uint32 = Dtype::UInt32,
                       uint64 = Dtype::UInt64, float16 = Dtype::Float16, bfloat16 = Dtype::BFloat16,
                       float32 = Dtype::Float32, float64 = Dtype::Float64, complex64 = Dtype::Complex64,
                       complex128 = Dtype::Complex128;

/// Kinds of dtype.
enum class DtypeKind : std::uint8_t { Bool, Int, UInt, Float, Complex };

/// Facts about a dtype.
struct DtypeInfo {
  const char* name;    ///< array API name, e.g. "float32"
  const char* suffix;  ///< short form in generated code, e.g. "f32"
  DtypeKind kind;
  std::uint8_t size;  ///< bytes per element
  bool available;     ///< operations on it are implemented
};

inline constexpr DtypeInfo kDtypeTable[kDtypeCount] = {
    {"bool", "bool", DtypeKind::Bool, 1, true},
    {"int8", "i8", DtypeKind::Int, 1, true},
    {"int16", "i16", DtypeKind::Int, 2, true},
    {"int32", "i32", DtypeKind::Int, 4, true},
    {"int64", "i64", DtypeKind::Int, 8, true},
    {"uint8", "u8", DtypeKind::UInt, 1, true},
    {"uint16", "u16", DtypeKind::UInt, 2, true},
    {"uint32", "u32", DtypeKind::UInt, 4, true},
    {"uint64", "u64", DtypeKind::UInt, 8, true},
    {"float16", "f16", DtypeKind::Float, 2, true},
    {"bfloat16", "bf16", DtypeKind::Float, 2, true},
    {"float32", "f32", DtypeKind::Float, 4, true},
    {"float64", "f64", DtypeKind::Float, 8, true},
    {"complex64", "c64", DtypeKind::Complex, 8, false},
    {"complex128", "c128", DtypeKind::Complex, 16, false},
};

/// Facts about a dtype: all of them; its name in the array API; bytes an element; kind.
/// Throws nothing.  Example: `ta::name(ta::float32)` is `float32`.
constexpr const DtypeInfo& info(Dtype d) { return kDtypeTable[static_cast<int>(d)]; }
constexpr std::string_view name(Dtype d) { return info(d).name; }
constexpr std::size_t itemsize(Dtype d) { return info(d).size; }
constexpr bool is_floating(Dtype d) { return info(d).kind == DtypeKind::Float; }
constexpr bool is_integral(Dtype d) { return info(d).kind == DtypeKind::Int || info(d).kind == DtypeKind::UInt; }

/// The dtype that an operation on arrays of `a` and `b` computes in (docs/reference/numerics.md, "Promotion").
/// Throws InvalidArgument for uint64 with a signed integer: no integer dtype holds both.
/// Example: `ta::result_type(ta::int32, ta::float32)` is `float32`.
[[nodiscard]] TARRY_EXPORT Dtype result_type(Dtype a, Dtype b, Where where = std::source_location::current());

/// Maps a C++ element type to its Dtype: `dtype_of<float>` is float32.
template <class T>
inline constexpr Dtype dtype_of = [] {
  static_assert(sizeof(T) == 0, "no tarry dtype for this C++ type");
  return Dtype::Bool;
}();
template <>
inline constexpr Dtype dtype_of<bool> = Dtype::Bool;
template <>
inline constexpr Dtype dtype_of<std::int8_t> = Dtype::Int8;
template <>
inline constexpr Dtype dtype_of<std::int16_t> = Dtype::Int16;
template <>
inline constexpr Dtype dtype_of<std::int32_t> = Dtype::Int32;
template <>
inline constexpr Dtype dtype_of<std::int64_t> = Dtype::Int64;
template <>
inline constexpr Dtype dtype_of<std::uint8_t> = Dtype::UInt8;
template <>
inline constexpr Dtype dtype_of<std::uint16_t> = Dtype::UInt16;
template <>
inline constexpr Dtype dtype_of<std::uint32_t> = Dtype::UInt32;
template <>
inline constexpr Dtype dtype_of<std::uint64_t> = Dtype::UInt64;
template <>
inline constexpr Dtype dtype_of<Half> = Dtype::Float16;
template <>
inline constexpr Dtype dtype_of<BFloat16> = Dtype::BFloat16;
template <>
inline constexpr Dtype dtype_of<float> = Dtype::Float32;
template <>
inline constexpr Dtype dtype_of<double> = Dtype::Float64;
/// The type of 64 bits that std::int64_t and std::uint64_t are not.
template <>
inline constexpr Dtype dtype_of<std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>> = Dtype::Int64;
template <>
inline constexpr Dtype
    dtype_of<std::conditional_t<std::is_same_v<std::uint64_t, unsigned long>, unsigned long long, unsigned long>> =
        Dtype::UInt64;
static_assert(sizeof(long) == sizeof(std::int64_t) && sizeof(long long) == sizeof(std::int64_t));
#ifdef __STDCPP_FLOAT16_T__
template <>
inline constexpr Dtype dtype_of<decltype(0.0f16)> = Dtype::Float16;
#endif
#ifdef __STDCPP_BFLOAT16_T__
template <>
inline constexpr Dtype dtype_of<decltype(0.0bf16)> = Dtype::BFloat16;
#endif

}  // namespace v0
}  // namespace tarry
