// Types of generated code, bit casts, comparison, selection and logic.
#pragma once

//== core :
typedef signed char tarry_i8;
typedef short tarry_i16;
typedef int tarry_i32;
typedef long long tarry_i64;
typedef unsigned char tarry_u8;
typedef unsigned short tarry_u16;
typedef unsigned int tarry_u32;
typedef unsigned long long tarry_u64;
typedef unsigned short tarry_f16;
typedef unsigned short tarry_bf16;
#ifdef __CUDACC__
#define TARRY_FN static __device__ __forceinline__
TARRY_FN tarry_u32 tarry_bits_f32(float x) { return __float_as_uint(x); }
TARRY_FN float tarry_from_bits_f32(tarry_u32 u) { return __uint_as_float(u); }
TARRY_FN tarry_u64 tarry_bits_f64(double x) { return (tarry_u64)__double_as_longlong(x); }
TARRY_FN double tarry_from_bits_f64(tarry_u64 u) { return __longlong_as_double((tarry_i64)u); }
// A 32-bit select that compilers cannot turn into a minimum or maximum: ptxas 13.0 loses a minus sign where it joins two
// of them into VIMNMX3, so that max(max(a, -b), -c) read b.
TARRY_FN tarry_i32 tarry_pick_32(int condition, tarry_i32 a, tarry_i32 b) {
  tarry_i32 r;
  asm("{.reg .pred q; setp.ne.s32 q, %1, 0; selp.b32 %0, %2, %3, q;}" : "=r"(r) : "r"(condition), "r"(a), "r"(b));
  return r;
}
#define TARRY_PICK_32(C, A, B) tarry_pick_32((C), (tarry_i32)(A), (tarry_i32)(B))
#else
#define TARRY_PICK_32(C, A, B) ((C) ? (A) : (B))
#define TARRY_FN static inline __attribute__((always_inline, unused))
union tarry_cell_f32 { float value; tarry_u32 bits; };
union tarry_cell_f64 { double value; tarry_u64 bits; };
TARRY_FN tarry_u32 tarry_bits_f32(float x) { union tarry_cell_f32 c; c.value = x; return c.bits; }
TARRY_FN float tarry_from_bits_f32(tarry_u32 u) { union tarry_cell_f32 c; c.bits = u; return c.value; }
TARRY_FN tarry_u64 tarry_bits_f64(double x) { union tarry_cell_f64 c; c.value = x; return c.bits; }
TARRY_FN double tarry_from_bits_f64(tarry_u64 u) { union tarry_cell_f64 c; c.bits = u; return c.value; }
#endif
// The select of integers up to 32 bits is TARRY_PICK_32, of all other types TARRY_PICK.
#define TARRY_PICK(C, A, B) ((C) ? (A) : (B))
// Selection by bits, for what may or may not vary in a loop: gcc makes no vectors where a condition comes from outside.
//== chosen : core
#ifndef __CUDACC__
#define TARRY_MASK_32(C) (-(tarry_u32)(C))
#define TARRY_MASK_64(C) (-(tarry_u64)(C))
TARRY_FN float tarry_chosen_f32(tarry_u32 mask, float a, float b) {
  return tarry_from_bits_f32((tarry_bits_f32(a) & mask) | (tarry_bits_f32(b) & ~mask));
}
TARRY_FN double tarry_chosen_f64(tarry_u64 mask, double a, double b) {
  return tarry_from_bits_f64((tarry_bits_f64(a) & mask) | (tarry_bits_f64(b) & ~mask));
}
#endif
//== compare : core : equal not_equal less less_equal greater greater_equal
#define TARRY_COMPARE(S, T) \
  TARRY_FN tarry_u8 tarry_equal_##S(T a, T b) { return (tarry_u8)(a == b); } \
  TARRY_FN tarry_u8 tarry_not_equal_##S(T a, T b) { return (tarry_u8)(a != b); } \
  TARRY_FN tarry_u8 tarry_less_##S(T a, T b) { return (tarry_u8)(a < b); } \
  TARRY_FN tarry_u8 tarry_less_equal_##S(T a, T b) { return (tarry_u8)(a <= b); } \
  TARRY_FN tarry_u8 tarry_greater_##S(T a, T b) { return (tarry_u8)(a > b); } \
  TARRY_FN tarry_u8 tarry_greater_equal_##S(T a, T b) { return (tarry_u8)(a >= b); }
//== compare_bool : compare
TARRY_COMPARE(bool, tarry_u8)
//== compare_i8 : compare
TARRY_COMPARE(i8, tarry_i8)
//== compare_i16 : compare
TARRY_COMPARE(i16, tarry_i16)
//== compare_i32 : compare
TARRY_COMPARE(i32, tarry_i32)
//== compare_i64 : compare
TARRY_COMPARE(i64, tarry_i64)
//== compare_u8 : compare
TARRY_COMPARE(u8, tarry_u8)
//== compare_u16 : compare
TARRY_COMPARE(u16, tarry_u16)
//== compare_u32 : compare
TARRY_COMPARE(u32, tarry_u32)
//== compare_u64 : compare
TARRY_COMPARE(u64, tarry_u64)
//== compare_f32 : compare
TARRY_COMPARE(f32, float)
//== compare_f64 : compare
TARRY_COMPARE(f64, double)
//== select : core : where
#define TARRY_SELECT(S, T, PICK) \
  TARRY_FN T tarry_where_##S(tarry_u8 condition, T a, T b) { return (T)PICK(condition, a, b); }
//== select_bool : select
TARRY_SELECT(bool, tarry_u8, TARRY_PICK)
//== select_i8 : select
TARRY_SELECT(i8, tarry_i8, TARRY_PICK_32)
//== select_i16 : select
TARRY_SELECT(i16, tarry_i16, TARRY_PICK_32)
//== select_i32 : select
TARRY_SELECT(i32, tarry_i32, TARRY_PICK_32)
//== select_i64 : select
TARRY_SELECT(i64, tarry_i64, TARRY_PICK)
//== select_u8 : select
TARRY_SELECT(u8, tarry_u8, TARRY_PICK_32)
//== select_u16 : select
TARRY_SELECT(u16, tarry_u16, TARRY_PICK_32)
//== select_u32 : select
TARRY_SELECT(u32, tarry_u32, TARRY_PICK_32)
//== select_u64 : select
TARRY_SELECT(u64, tarry_u64, TARRY_PICK)
//== select_f16 : select
TARRY_SELECT(f16, tarry_f16, TARRY_PICK)
//== select_bf16 : select
TARRY_SELECT(bf16, tarry_bf16, TARRY_PICK)
//== select_f32 : select
TARRY_SELECT(f32, float, TARRY_PICK)
//== select_f64 : select
TARRY_SELECT(f64, double, TARRY_PICK)
//== logical : core : logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_invert minimum maximum signbit
#define TARRY_LOGICAL(S, T) \
  TARRY_FN T tarry_logical_and_##S(T a, T b) { return (T)(a & b); } \
  TARRY_FN T tarry_logical_or_##S(T a, T b) { return (T)(a | b); } \
  TARRY_FN T tarry_logical_xor_##S(T a, T b) { return (T)(a ^ b); } \
  TARRY_FN T tarry_logical_not_##S(T a) { return (T)(a ^ 1); } \
  TARRY_FN T tarry_bitwise_and_##S(T a, T b) { return (T)(a & b); } \
  TARRY_FN T tarry_bitwise_or_##S(T a, T b) { return (T)(a | b); } \
  TARRY_FN T tarry_bitwise_xor_##S(T a, T b) { return (T)(a ^ b); } \
  TARRY_FN T tarry_bitwise_invert_##S(T a) { return (T)(a ^ 1); } \
  TARRY_FN T tarry_minimum_##S(T a, T b) { return (T)(a & b); } \
  TARRY_FN T tarry_maximum_##S(T a, T b) { return (T)(a | b); } \
  TARRY_FN tarry_u8 tarry_signbit_##S(T a) { return (void)a, (tarry_u8)0; }
//== logical_bool : logical
TARRY_LOGICAL(bool, tarry_u8)
