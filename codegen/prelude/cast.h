// Conversions, a family per kind of destination; the source is part of the op's word.
#pragma once

// Conversions, a family per kind of destination; the source is part of the op's word. Integers wrap, floats saturate:
// MIN and the end MAX + 1 are exact in every float type, and NaN fails both comparisons.
// What truncates to 0 becomes +0 first: gcc 12 turns a conversion there and back into trunc, which keeps a minus.
//== to_bool : core : astype_bool astype_i32 astype_i64 astype_f32 astype_f64
#define TARRY_TO_BOOL(S, T) \
  TARRY_FN T tarry_astype_bool_##S(tarry_u8 x) { return x; } \
  TARRY_FN T tarry_astype_i32_##S(tarry_i32 x) { return (T)(x != 0); } \
  TARRY_FN T tarry_astype_i64_##S(tarry_i64 x) { return (T)(x != 0); } \
  TARRY_FN T tarry_astype_f32_##S(float x) { return (T)(x != 0.0f); } \
  TARRY_FN T tarry_astype_f64_##S(double x) { return (T)(x != 0.0); }
//== to_bool_bool : to_bool
TARRY_TO_BOOL(bool, tarry_u8)
//== to_integer : core : astype_bool astype_i32 astype_i64 astype_f32 astype_f64
#define TARRY_SATURATE(T, F, MIN, MAX) \
  const F low = (F)(MIN), end = (F)((MAX) / 2 + 1) * 2; \
  T inside = (T)(((x >= low) & (x < end) & ((x >= 1) | (x <= -1))) ? x : 0); \
  T upper = x >= end ? (T)(MAX) : inside; \
  return x < low ? (T)(MIN) : upper;
#define TARRY_TO_INTEGER(S, T, MIN, MAX) \
  TARRY_FN T tarry_astype_bool_##S(tarry_u8 x) { return (T)x; } \
  TARRY_FN T tarry_astype_i32_##S(tarry_i32 x) { return (T)x; } \
  TARRY_FN T tarry_astype_i64_##S(tarry_i64 x) { return (T)x; } \
  TARRY_FN T tarry_astype_f32_##S(float x) { TARRY_SATURATE(T, float, MIN, MAX) } \
  TARRY_FN T tarry_astype_f64_##S(double x) { TARRY_SATURATE(T, double, MIN, MAX) }
//== to_integer_i32 : to_integer
TARRY_TO_INTEGER(i32, tarry_i32, -0x7fffffff - 1, 0x7fffffff)
//== to_integer_i64 : to_integer
TARRY_TO_INTEGER(i64, tarry_i64, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)
//== to_float : core : astype_bool astype_i32 astype_i64 astype_f32 astype_f64
#define TARRY_TO_FLOAT(S, T) \
  TARRY_FN T tarry_astype_bool_##S(tarry_u8 x) { return (T)x; } \
  TARRY_FN T tarry_astype_i32_##S(tarry_i32 x) { return (T)x; } \
  TARRY_FN T tarry_astype_i64_##S(tarry_i64 x) { return (T)x; } \
  TARRY_FN T tarry_astype_f32_##S(float x) { return (T)x; } \
  TARRY_FN T tarry_astype_f64_##S(double x) { return (T)x; }
//== to_float_f32 : to_float
TARRY_TO_FLOAT(f32, float)
//== to_float_f64 : to_float
TARRY_TO_FLOAT(f64, double)
