// float16 and bfloat16: 16 bits, computed in float32 and rounded once per op. For + - * / sqrt that is the correctly
// rounded result: float32 has more than twice their bits.
#pragma once

// widen is exact, narrow goes to the nearest, ties to even, with denormals kept and NaN quiet.
// float16, widened: rebias the exponent; a denormal gets a leading one that is taken off again.
// float16, narrowed: adding half a unit below what is kept (less one unless that is odd) carries; adding 1/2, whose last
// bit has the weight of a denormal's, rounds to those. From 65520 on the carry makes infinity, from 2^16 on a select.
//== convert_f16 : core
#ifdef __CUDACC__
TARRY_FN float tarry_widen_f16(tarry_f16 x) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
  return r;
}
TARRY_FN tarry_f16 tarry_narrow_f16(float x) {
  tarry_f16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
#else
TARRY_FN float tarry_widen_f16(tarry_f16 x) {
  tarry_u32 size = (x & 0x7fffu) << 13, sign = (x & 0x8000u) << 16;
  tarry_u32 small = tarry_bits_f32(tarry_from_bits_f32(size + 0x38800000u) - 0x1p-14f);
  tarry_u32 wide = size + 0x38000000u;
  wide = size >= 0x0f800000u ? size | 0x7f800000u : wide;
  return tarry_from_bits_f32(sign | (size < 0x00800000u ? small : wide));
}
TARRY_FN tarry_f16 tarry_narrow_f16(float x) {
  tarry_u32 size = tarry_bits_f32(x) & 0x7fffffffu, sign = (tarry_bits_f32(x) & 0x80000000u) >> 16;
  tarry_u32 small = tarry_bits_f32(tarry_from_bits_f32(size) + 0.5f) - 0x3f000000u;
  tarry_u32 r = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1)) >> 13;
  r = size < 0x38800000u ? small : r;
  r = size >= 0x47800000u ? 0x7c00u : r;
  r = size > 0x7f800000u ? 0x7e00u | ((size >> 13) & 0x3ffu) : r;
  return (tarry_f16)(sign | r);
}
#endif
//== convert_bf16 : core
TARRY_FN float tarry_widen_bf16(tarry_bf16 x) { return tarry_from_bits_f32((tarry_u32)x << 16); }
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
TARRY_FN tarry_bf16 tarry_narrow_bf16(float x) {
  tarry_bf16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
#define TARRY_NARROWS_BF16
#endif
#endif
#ifndef TARRY_NARROWS_BF16
TARRY_FN tarry_bf16 tarry_narrow_bf16(float x) {
  tarry_u32 bits = tarry_bits_f32(x), r = bits + 0x7fffu + ((bits >> 16) & 1);
  return (tarry_bf16)((x != x ? bits | 0x00400000u : r) >> 16);
}
#endif
//== half : core : equal not_equal less less_equal greater greater_equal add subtract multiply divide square reciprocal
#define TARRY_HALF_COMPARE(OP, SYMBOL, S) \
  TARRY_FN tarry_u8 tarry_##OP##_##S(tarry_##S a, tarry_##S b) { \
    return (tarry_u8)(tarry_widen_##S(a) SYMBOL tarry_widen_##S(b)); \
  }
#define TARRY_HALF_ARITHMETIC(OP, SYMBOL, S) \
  TARRY_FN tarry_##S tarry_##OP##_##S(tarry_##S a, tarry_##S b) { \
    return tarry_narrow_##S(tarry_widen_##S(a) SYMBOL tarry_widen_##S(b)); \
  }
#define TARRY_HALF(S) \
  TARRY_HALF_COMPARE(equal, ==, S) \
  TARRY_HALF_COMPARE(not_equal, !=, S) \
  TARRY_HALF_COMPARE(less, <, S) \
  TARRY_HALF_COMPARE(less_equal, <=, S) \
  TARRY_HALF_COMPARE(greater, >, S) \
  TARRY_HALF_COMPARE(greater_equal, >=, S) \
  TARRY_HALF_ARITHMETIC(add, +, S) \
  TARRY_HALF_ARITHMETIC(subtract, -, S) \
  TARRY_HALF_ARITHMETIC(multiply, *, S) \
  TARRY_HALF_ARITHMETIC(divide, /, S) \
  TARRY_FN tarry_##S tarry_square_##S(tarry_##S a) { return tarry_multiply_##S(a, a); } \
  TARRY_FN tarry_##S tarry_reciprocal_##S(tarry_##S a) { return tarry_narrow_##S(1 / tarry_widen_##S(a)); }
//== half_f16 : half convert_f16
TARRY_HALF(f16)
//== half_bf16 : half convert_bf16
TARRY_HALF(bf16)
// From sm_80 on one instruction, as for float32.
//== half_extremes : core : minimum maximum
#define TARRY_HALF_EXTREMES(S) \
  TARRY_FN tarry_##S tarry_minimum_##S(tarry_##S a, tarry_##S b) { \
    float x = tarry_widen_##S(a), y = tarry_widen_##S(b); \
    tarry_u32 least = x < y ? a : b; \
    least = x == y ? a | b : least; \
    return (tarry_##S)(x != x ? a : least); \
  } \
  TARRY_FN tarry_##S tarry_maximum_##S(tarry_##S a, tarry_##S b) { \
    float x = tarry_widen_##S(a), y = tarry_widen_##S(b); \
    tarry_u32 most = x > y ? a : b; \
    most = x == y ? a & b : most; \
    return (tarry_##S)(x != x ? a : most); \
  }
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
#undef TARRY_HALF_EXTREMES
#define TARRY_HALF_EXTREMES(S) \
  TARRY_FN tarry_##S tarry_minimum_##S(tarry_##S a, tarry_##S b) { \
    tarry_##S least; \
    asm("min.NaN." #S " %0, %1, %2;" : "=h"(least) : "h"(a), "h"(b)); \
    return least; \
  } \
  TARRY_FN tarry_##S tarry_maximum_##S(tarry_##S a, tarry_##S b) { \
    tarry_##S most; \
    asm("max.NaN." #S " %0, %1, %2;" : "=h"(most) : "h"(a), "h"(b)); \
    return most; \
  }
#endif
#endif
//== half_extremes_f16 : half_extremes convert_f16
TARRY_HALF_EXTREMES(f16)
//== half_extremes_bf16 : half_extremes convert_bf16
TARRY_HALF_EXTREMES(bf16)
// By bits; INF and ONE are those of infinity and 1.
//== half_bits : core : negative abs sign copysign signbit isfinite isinf isnan nextafter
#define TARRY_HALF_BITS(S, INF, ONE) \
  TARRY_FN tarry_##S tarry_negative_##S(tarry_##S a) { return (tarry_##S)(a ^ 0x8000u); } \
  TARRY_FN tarry_##S tarry_abs_##S(tarry_##S a) { return (tarry_##S)(a & 0x7fffu); } \
  TARRY_FN tarry_##S tarry_sign_##S(tarry_##S a) { \
    tarry_u32 size = a & 0x7fffu; \
    tarry_u32 one = size == 0 ? 0 : ((a & 0x8000u) | ONE); \
    return (tarry_##S)(size > INF ? a : one); \
  } \
  TARRY_FN tarry_##S tarry_copysign_##S(tarry_##S a, tarry_##S b) { \
    return (tarry_##S)((a & 0x7fffu) | (b & 0x8000u)); \
  } \
  TARRY_FN tarry_u8 tarry_signbit_##S(tarry_##S a) { return (tarry_u8)(a >> 15); } \
  TARRY_FN tarry_u8 tarry_isfinite_##S(tarry_##S a) { return (tarry_u8)((a & 0x7fffu) < INF); } \
  TARRY_FN tarry_u8 tarry_isinf_##S(tarry_##S a) { return (tarry_u8)((a & 0x7fffu) == INF); } \
  TARRY_FN tarry_u8 tarry_isnan_##S(tarry_##S a) { return (tarry_u8)((a & 0x7fffu) > INF); } \
  TARRY_FN tarry_##S tarry_nextafter_##S(tarry_##S a, tarry_##S b) { \
    float x = tarry_widen_##S(a), y = tarry_widen_##S(b); \
    tarry_u32 step = (x < y) == (x > 0) ? 1u : 0xffffu; \
    tarry_u32 next = x == 0 ? ((b & 0x8000u) | 1) : a + step; \
    tarry_u32 moved = x == y ? b : next; \
    return (tarry_##S)(((x != x) | (y != y)) ? 0x7fffu : moved); \
  }
//== half_bits_f16 : half_bits convert_f16
TARRY_HALF_BITS(f16, 0x7c00u, 0x3c00u)
//== half_bits_bf16 : half_bits convert_bf16
TARRY_HALF_BITS(bf16, 0x7f80u, 0x3f80u)
// A function of float32 on both 16-bit types: its value, rounded once.
//== half_function : convert_f16 convert_bf16
#define TARRY_HALF_UNARY_OF(OP, S) \
  TARRY_FN tarry_##S tarry_##OP##_##S(tarry_##S a) { return tarry_narrow_##S(tarry_##OP##_f32(tarry_widen_##S(a))); }
#define TARRY_HALF_BINARY_OF(OP, S) \
  TARRY_FN tarry_##S tarry_##OP##_##S(tarry_##S a, tarry_##S b) { \
    return tarry_narrow_##S(tarry_##OP##_f32(tarry_widen_##S(a), tarry_widen_##S(b))); \
  }
#define TARRY_HALF_UNARY(OP) TARRY_HALF_UNARY_OF(OP, f16) TARRY_HALF_UNARY_OF(OP, bf16)
#define TARRY_HALF_BINARY(OP) TARRY_HALF_BINARY_OF(OP, f16) TARRY_HALF_BINARY_OF(OP, bf16)
//== ceil_f16 ceil_bf16 : half_function rounding_f32
TARRY_HALF_UNARY(ceil)
//== floor_f16 floor_bf16 : half_function rounding_f32
TARRY_HALF_UNARY(floor)
//== round_f16 round_bf16 : half_function rounding_f32
TARRY_HALF_UNARY(round)
//== trunc_f16 trunc_bf16 : half_function rounding_f32
TARRY_HALF_UNARY(trunc)
//== sqrt_f16 sqrt_bf16 : half_function sqrt_f32
TARRY_HALF_UNARY(sqrt)
//== floor_divide_f16 floor_divide_bf16 : half_function division_f32
TARRY_HALF_BINARY(floor_divide)
//== remainder_f16 remainder_bf16 : half_function modulo_f32
TARRY_HALF_BINARY(remainder)
// x in float32 with an odd last bit where it is not exact: rounded once more, to 16 bits, that is x rounded once.
//== odd_f32 : core
#ifdef __CUDACC__
TARRY_FN float tarry_odd_f32(double x) {
  float below = __double2float_rz(x);
  return (double)below == x ? below : tarry_from_bits_f32(tarry_bits_f32(below) | 1);
}
#else
TARRY_FN float tarry_odd_f32(double x) {
  float near = (float)x;
  double back = near;
  tarry_u32 bits = tarry_bits_f32(near), step = (back < x) == (x > 0) ? 1u : 0xffffffffu;
  return tarry_from_bits_f32((((back < x) | (back > x)) & ((bits & 1) == 0)) ? bits + step : bits);
}
#endif
// Rounded once. The product is exact, in float32 for float16 and in float64 for bfloat16 with its larger range.
//== fma_f16 : convert_f16 odd_sum_f32
TARRY_FN tarry_f16 tarry_fma_f16(tarry_f16 a, tarry_f16 b, tarry_f16 c) {
  return tarry_narrow_f16(tarry_odd_sum_f32(tarry_widen_f16(a) * tarry_widen_f16(b), tarry_widen_f16(c)));
}
//== fma_bf16 : convert_bf16 odd_sum_f64 odd_f32
TARRY_FN tarry_bf16 tarry_fma_bf16(tarry_bf16 a, tarry_bf16 b, tarry_bf16 c) {
  double product = (double)tarry_widen_bf16(a) * tarry_widen_bf16(b);
  return tarry_narrow_bf16(tarry_odd_f32(tarry_odd_sum_f64(product, tarry_widen_bf16(c))));
}
// Conversions from 16-bit floats: those of float32.
//== from_half : convert_f16 convert_bf16 : astype_f16 astype_bf16
#define TARRY_FROM_HALF(S, T) \
  TARRY_FN T tarry_astype_f16_##S(tarry_f16 x) { return tarry_astype_f32_##S(tarry_widen_f16(x)); } \
  TARRY_FN T tarry_astype_bf16_##S(tarry_bf16 x) { return tarry_astype_f32_##S(tarry_widen_bf16(x)); }
//== from_half_bool : from_half to_bool_bool
TARRY_FROM_HALF(bool, tarry_u8)
//== from_half_i8 : from_half to_integer_i8
TARRY_FROM_HALF(i8, tarry_i8)
//== from_half_i16 : from_half to_integer_i16
TARRY_FROM_HALF(i16, tarry_i16)
//== from_half_i32 : from_half to_integer_i32
TARRY_FROM_HALF(i32, tarry_i32)
//== from_half_i64 : from_half to_integer_i64
TARRY_FROM_HALF(i64, tarry_i64)
//== from_half_u8 : from_half to_integer_u8
TARRY_FROM_HALF(u8, tarry_u8)
//== from_half_u16 : from_half to_integer_u16
TARRY_FROM_HALF(u16, tarry_u16)
//== from_half_u32 : from_half to_integer_u32
TARRY_FROM_HALF(u32, tarry_u32)
//== from_half_u64 : from_half to_integer_u64
TARRY_FROM_HALF(u64, tarry_u64)
//== from_half_f32 : from_half to_float_f32
TARRY_FROM_HALF(f32, float)
//== from_half_f64 : from_half to_float_f64
TARRY_FROM_HALF(f64, double)
// Conversions to them round once: up to 16 bits by float32, which is exact, 32 bits by float64, 64 bits by an integer that
// float64 holds, with a sticky last bit.
//== to_half : convert_f16 convert_bf16 odd_f32 : astype_bool astype_i8 astype_i16 astype_i32 astype_i64 astype_u8 astype_u16 astype_u32 astype_u64 astype_f16 astype_bf16 astype_f32 astype_f64
#define TARRY_SHORTEN(X) ((X) >> 53 != 0 ? ((X) & ~0x7ffull) | (((X) & 0x7ffull) != 0 ? 0x800u : 0u) : (X))
#define TARRY_TO_HALF(S) \
  TARRY_FN tarry_##S tarry_astype_bool_##S(tarry_u8 x) { return tarry_narrow_##S((float)x); } \
  TARRY_FN tarry_##S tarry_astype_i8_##S(tarry_i8 x) { return tarry_narrow_##S((float)x); } \
  TARRY_FN tarry_##S tarry_astype_i16_##S(tarry_i16 x) { return tarry_narrow_##S((float)x); } \
  TARRY_FN tarry_##S tarry_astype_i32_##S(tarry_i32 x) { return tarry_narrow_##S(tarry_odd_f32((double)x)); } \
  TARRY_FN tarry_##S tarry_astype_i64_##S(tarry_i64 x) { \
    tarry_u64 size = x < 0 ? 0 - (tarry_u64)x : (tarry_u64)x; \
    double exact = (double)TARRY_SHORTEN(size); \
    return tarry_narrow_##S(tarry_odd_f32(x < 0 ? -exact : exact)); \
  } \
  TARRY_FN tarry_##S tarry_astype_u8_##S(tarry_u8 x) { return tarry_narrow_##S((float)x); } \
  TARRY_FN tarry_##S tarry_astype_u16_##S(tarry_u16 x) { return tarry_narrow_##S((float)x); } \
  TARRY_FN tarry_##S tarry_astype_u32_##S(tarry_u32 x) { return tarry_narrow_##S(tarry_odd_f32((double)x)); } \
  TARRY_FN tarry_##S tarry_astype_u64_##S(tarry_u64 x) { \
    return tarry_narrow_##S(tarry_odd_f32((double)TARRY_SHORTEN(x))); \
  } \
  TARRY_FN tarry_##S tarry_astype_f32_##S(float x) { return tarry_narrow_##S(x); } \
  TARRY_FN tarry_##S tarry_astype_f64_##S(double x) { return tarry_narrow_##S(tarry_odd_f32(x)); }
//== to_half_f16 : to_half
TARRY_TO_HALF(f16)
TARRY_FN tarry_f16 tarry_astype_f16_f16(tarry_f16 x) { return x; }
TARRY_FN tarry_f16 tarry_astype_bf16_f16(tarry_bf16 x) { return tarry_narrow_f16(tarry_widen_bf16(x)); }
//== to_half_bf16 : to_half
TARRY_TO_HALF(bf16)
TARRY_FN tarry_bf16 tarry_astype_f16_bf16(tarry_f16 x) { return tarry_narrow_bf16(tarry_widen_f16(x)); }
TARRY_FN tarry_bf16 tarry_astype_bf16_bf16(tarry_bf16 x) { return x; }
