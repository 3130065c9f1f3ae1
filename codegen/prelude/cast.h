// Conversions among bool, integers and float32 and float64, a family per kind of destination; the source is part of the
// op's word. Those from and to 16-bit floats are in half.h.
#pragma once

//== cast : core
#define TARRY_CAST(FROM, F, S, T) \
  TARRY_FN T tarry_astype_##FROM##_##S(F x) { return (T)x; }
#define TARRY_CAST_INTEGERS(S, T) \
  TARRY_CAST(i8, tarry_i8, S, T) \
  TARRY_CAST(i16, tarry_i16, S, T) \
  TARRY_CAST(i32, tarry_i32, S, T) \
  TARRY_CAST(i64, tarry_i64, S, T) \
  TARRY_CAST(u8, tarry_u8, S, T) \
  TARRY_CAST(u16, tarry_u16, S, T) \
  TARRY_CAST(u32, tarry_u32, S, T) \
  TARRY_CAST(u64, tarry_u64, S, T)
//== to_bool : cast : astype_bool astype_i8 astype_i16 astype_i32 astype_i64 astype_u8 astype_u16 astype_u32 astype_u64 astype_f32 astype_f64
#define TARRY_TO_BOOL(FROM, F) \
  TARRY_FN tarry_u8 tarry_astype_##FROM##_bool(F x) { return (tarry_u8)(x != 0); }
//== to_bool_bool : to_bool
TARRY_CAST(bool, tarry_u8, bool, tarry_u8)
TARRY_TO_BOOL(i8, tarry_i8)
TARRY_TO_BOOL(i16, tarry_i16)
TARRY_TO_BOOL(i32, tarry_i32)
TARRY_TO_BOOL(i64, tarry_i64)
TARRY_TO_BOOL(u8, tarry_u8)
TARRY_TO_BOOL(u16, tarry_u16)
TARRY_TO_BOOL(u32, tarry_u32)
TARRY_TO_BOOL(u64, tarry_u64)
TARRY_TO_BOOL(f32, float)
TARRY_TO_BOOL(f64, double)
// Integers wrap, floats saturate: MIN and the end MAX + 1 are exact in every float type, and NaN fails both comparisons.
// What truncates to 0 becomes +0 first: gcc 12 turns a conversion there and back into trunc, which keeps a minus.
//== to_integer : cast : astype_bool astype_i8 astype_i16 astype_i32 astype_i64 astype_u8 astype_u16 astype_u32 astype_u64 astype_f32 astype_f64
#define TARRY_SATURATE(T, F, MIN, MAX) \
  const F low = (F)(MIN), end = (F)((MAX) / 2 + 1) * 2; \
  T inside = (T)(((x >= low) & (x < end) & ((x >= 1) | (x <= -1))) ? x : 0); \
  T upper = x >= end ? (T)(MAX) : inside; \
  return x < low ? (T)(MIN) : upper;
#define TARRY_TO_INTEGER(S, T, MIN, MAX) \
  TARRY_CAST(bool, tarry_u8, S, T) \
  TARRY_CAST_INTEGERS(S, T) \
  TARRY_FN T tarry_astype_f32_##S(float x) { TARRY_SATURATE(T, float, MIN, MAX) } \
  TARRY_FN T tarry_astype_f64_##S(double x) { TARRY_SATURATE(T, double, MIN, MAX) }
//== to_integer_i8 : to_integer
TARRY_TO_INTEGER(i8, tarry_i8, -0x80, 0x7f)
//== to_integer_i16 : to_integer
TARRY_TO_INTEGER(i16, tarry_i16, -0x8000, 0x7fff)
//== to_integer_i32 : to_integer
TARRY_TO_INTEGER(i32, tarry_i32, -0x7fffffff - 1, 0x7fffffff)
//== to_integer_i64 : to_integer
TARRY_TO_INTEGER(i64, tarry_i64, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)
//== to_integer_u8 : to_integer
TARRY_TO_INTEGER(u8, tarry_u8, 0, 0xff)
//== to_integer_u16 : to_integer
TARRY_TO_INTEGER(u16, tarry_u16, 0, 0xffff)
//== to_integer_u32 : to_integer
TARRY_TO_INTEGER(u32, tarry_u32, 0, 0xffffffffu)
//== to_integer_u64 : to_integer
TARRY_TO_INTEGER(u64, tarry_u64, 0, 0xffffffffffffffffull)
// A bool is a choice of two numbers: gcc finds no vectors in the conversion of a comparison whose operands are wider.
//== to_float : cast : astype_bool astype_i8 astype_i16 astype_i32 astype_i64 astype_u8 astype_u16 astype_u32 astype_u64 astype_f32 astype_f64
#define TARRY_TO_FLOAT(S, T) \
  TARRY_FN T tarry_astype_bool_##S(tarry_u8 x) { return x ? (T)1 : (T)0; } \
  TARRY_CAST_INTEGERS(S, T) \
  TARRY_CAST(f32, float, S, T) \
  TARRY_CAST(f64, double, S, T)
//== to_float_f32 : to_float
TARRY_TO_FLOAT(f32, float)
//== to_float_f64 : to_float
TARRY_TO_FLOAT(f64, double)
