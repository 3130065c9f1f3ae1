// Integer arithmetic: wrapping, with every division, shift and power defined.
#pragma once

// U computes: the unsigned type of the same width, or 32 bits for narrower ones; wrapping is defined there and the cast
// back to T keeps the low bits. PICK keeps a minimum or maximum from the device compiler (core.h). Both kinds of integers
// have these.
//== integer : core : add subtract multiply fma square negative minimum maximum
#define TARRY_INTEGER(S, T, U, PICK) \
  TARRY_FN T tarry_add_##S(T a, T b) { return (T)((U)a + (U)b); } \
  TARRY_FN T tarry_subtract_##S(T a, T b) { return (T)((U)a - (U)b); } \
  TARRY_FN T tarry_multiply_##S(T a, T b) { return (T)((U)a * (U)b); } \
  TARRY_FN T tarry_fma_##S(T a, T b, T c) { return (T)((U)a * (U)b + (U)c); } \
  TARRY_FN T tarry_square_##S(T a) { return (T)((U)a * (U)a); } \
  TARRY_FN T tarry_negative_##S(T a) { return (T)((U)0 - (U)a); } \
  TARRY_FN T tarry_minimum_##S(T a, T b) { return (T)PICK(a < b, a, b); } \
  TARRY_FN T tarry_maximum_##S(T a, T b) { return (T)PICK(a > b, a, b); }
//== integer_i8 : integer
TARRY_INTEGER(i8, tarry_i8, tarry_u32, TARRY_PICK_32)
//== integer_i16 : integer
TARRY_INTEGER(i16, tarry_i16, tarry_u32, TARRY_PICK_32)
//== integer_i32 : integer
TARRY_INTEGER(i32, tarry_i32, tarry_u32, TARRY_PICK_32)
//== integer_i64 : integer
TARRY_INTEGER(i64, tarry_i64, tarry_u64, TARRY_PICK)
//== integer_u8 : integer
TARRY_INTEGER(u8, tarry_u8, tarry_u32, TARRY_PICK_32)
//== integer_u16 : integer
TARRY_INTEGER(u16, tarry_u16, tarry_u32, TARRY_PICK_32)
//== integer_u32 : integer
TARRY_INTEGER(u32, tarry_u32, tarry_u32, TARRY_PICK_32)
//== integer_u64 : integer
TARRY_INTEGER(u64, tarry_u64, tarry_u64, TARRY_PICK)
// Signed division works on magnitudes, so INT_MIN / -1 wraps by itself; a divisor of 0 is replaced by 1. (A select on
// b == -1 after an abs is dropped by the device compiler of CUDA 13.0, which gave 1 // -1 = 1.)
// A GPU divides words of 64 bits by a routine of a hundred instructions; most numbers fit in 32 bits, where it takes 20.
// The vectors of a CPU divide floats alone. a + 1/2 over b is at least 1/(2 b) from every integer, further than a type
// with twice the digits rounds, so its floor is that of a / b; and loops invert one divisor for all elements once.
//== over : core
#ifdef __CUDACC__
#define TARRY_OVER_16(A, B) ((A) / (B))
#define TARRY_OVER_32 TARRY_OVER_16
TARRY_FN tarry_u64 tarry_over_64(tarry_u64 a, tarry_u64 b) {
  return (a | b) >> 32 == 0 ? (tarry_u32)a / (tarry_u32)b : a / b;
}
#define TARRY_OVER_64(A, B) tarry_over_64((A), (B))
#else
#define TARRY_OVER_16(A, B) ((tarry_u32)(tarry_i32)(((float)(tarry_i32)(A) + 0.5f) * (1.0f / (float)(tarry_i32)(B))))
#define TARRY_OVER_32(A, B) ((tarry_u32)(((double)(A) + 0.5) * (1.0 / (double)(B))))
#ifdef __AVX2__
// Two quotients by an inverse that is too small: five roundings are less than 2^-50, so neither exceeds its own, and the
// rests stay in 0 .. a. The first is short of a / b by at most 2^-49 a / b + 1, the second then by at most 1.
TARRY_FN tarry_u64 tarry_over_64(tarry_u64 a, tarry_u64 b) {
  double inverse = (1.0 / (double)b) * (1.0 - 0x1p-50);
  tarry_u64 first = (tarry_u64)((double)a * inverse), left = a - first * b;
  tarry_u64 second = (tarry_u64)((double)left * inverse);
  return first + second + (left - second * b >= b);
}
#define TARRY_OVER_64(A, B) tarry_over_64((A), (B))
#else
#define TARRY_OVER_64(A, B) ((A) / (B))
#endif
#endif
//== signed : over : floor_divide remainder abs sign signbit
#define TARRY_SIGNED(S, T, U, PICK, OVER) \
  TARRY_FN T tarry_abs_##S(T a) { return a < 0 ? (T)((U)0 - (U)a) : a; } \
  TARRY_FN T tarry_sign_##S(T a) { return (T)((a > 0) - (a < 0)); } \
  TARRY_FN tarry_u8 tarry_signbit_##S(T a) { return (tarry_u8)(a < 0); } \
  TARRY_FN T tarry_floor_divide_##S(T a, T b) { \
    U x = a < 0 ? (U)0 - (U)a : (U)a, y = b < 0 ? (U)0 - (U)b : (U)b, divisor = (U)PICK(y == 0, 1, y); \
    U quotient = OVER(x, divisor), rest = x - quotient * divisor; \
    T floored = (a ^ b) < 0 ? (T)((U)0 - (quotient + (U)(rest != 0))) : (T)quotient; \
    return b == 0 ? (T)0 : floored; \
  } \
  TARRY_FN T tarry_remainder_##S(T a, T b) { \
    U x = a < 0 ? (U)0 - (U)a : (U)a, y = b < 0 ? (U)0 - (U)b : (U)b, divisor = (U)PICK(y == 0, 1, y); \
    U rest = x - OVER(x, divisor) * divisor, floored = ((rest != 0) & ((a ^ b) < 0)) ? divisor - rest : rest; \
    return b < 0 ? (T)((U)0 - floored) : (T)floored; \
  }
//== signed_i8 : signed
TARRY_SIGNED(i8, tarry_i8, tarry_u32, TARRY_PICK_32, TARRY_OVER_16)
//== signed_i16 : signed
TARRY_SIGNED(i16, tarry_i16, tarry_u32, TARRY_PICK_32, TARRY_OVER_16)
//== signed_i32 : signed
TARRY_SIGNED(i32, tarry_i32, tarry_u32, TARRY_PICK_32, TARRY_OVER_32)
//== signed_i64 : signed
TARRY_SIGNED(i64, tarry_i64, tarry_u64, TARRY_PICK, TARRY_OVER_64)
//== unsigned : over : floor_divide remainder abs sign signbit
#define TARRY_UNSIGNED(S, T, PICK, OVER) \
  TARRY_FN T tarry_abs_##S(T a) { return a; } \
  TARRY_FN T tarry_sign_##S(T a) { return (T)(a != 0); } \
  TARRY_FN tarry_u8 tarry_signbit_##S(T a) { return (void)a, (tarry_u8)0; } \
  TARRY_FN T tarry_floor_divide_##S(T a, T b) { \
    T divisor = (T)PICK(b == 0, 1, b); \
    return (T)(b == 0 ? 0 : OVER(a, divisor)); \
  } \
  TARRY_FN T tarry_remainder_##S(T a, T b) { \
    T divisor = (T)PICK(b == 0, 1, b); \
    return (T)(b == 0 ? 0 : a - OVER(a, divisor) * divisor); \
  }
//== unsigned_u8 : unsigned
TARRY_UNSIGNED(u8, tarry_u8, TARRY_PICK_32, TARRY_OVER_16)
//== unsigned_u16 : unsigned
TARRY_UNSIGNED(u16, tarry_u16, TARRY_PICK_32, TARRY_OVER_16)
//== unsigned_u32 : unsigned
TARRY_UNSIGNED(u32, tarry_u32, TARRY_PICK_32, TARRY_OVER_32)
//== unsigned_u64 : unsigned
TARRY_UNSIGNED(u64, tarry_u64, TARRY_PICK, TARRY_OVER_64)
// By squaring. A negative exponent inverts: 1 and -1 give by parity, which (U)b keeps, everything else gives 0.
//== signed_power : core : pow
#define TARRY_SIGNED_POWER(S, T, U) \
  TARRY_FN T tarry_pow_##S(T a, T b) { \
    U square = (U)a, power = 1; \
    for (U left = (U)b; left != 0; left >>= 1) { \
      power = (left & 1) != 0 ? power * square : power; \
      square *= square; \
    } \
    return ((b < 0) & (a != 1) & (a != -1)) ? (T)0 : (T)power; \
  }
//== signed_power_i8 : signed_power
TARRY_SIGNED_POWER(i8, tarry_i8, tarry_u32)
//== signed_power_i16 : signed_power
TARRY_SIGNED_POWER(i16, tarry_i16, tarry_u32)
//== signed_power_i32 : signed_power
TARRY_SIGNED_POWER(i32, tarry_i32, tarry_u32)
//== signed_power_i64 : signed_power
TARRY_SIGNED_POWER(i64, tarry_i64, tarry_u64)
//== unsigned_power : core : pow
#define TARRY_UNSIGNED_POWER(S, T, U) \
  TARRY_FN T tarry_pow_##S(T a, T b) { \
    U square = (U)a, power = 1; \
    for (U left = (U)b; left != 0; left >>= 1) { \
      power = (left & 1) != 0 ? power * square : power; \
      square *= square; \
    } \
    return (T)power; \
  }
//== unsigned_power_u8 : unsigned_power
TARRY_UNSIGNED_POWER(u8, tarry_u8, tarry_u32)
//== unsigned_power_u16 : unsigned_power
TARRY_UNSIGNED_POWER(u16, tarry_u16, tarry_u32)
//== unsigned_power_u32 : unsigned_power
TARRY_UNSIGNED_POWER(u32, tarry_u32, tarry_u32)
//== unsigned_power_u64 : unsigned_power
TARRY_UNSIGNED_POWER(u64, tarry_u64, tarry_u64)
// A count past the width (a negative one is far past it) gives what shifting bit by bit would, zeros or the sign: that is
// width - 1 and one more.
//== bits : core : bitwise_and bitwise_or bitwise_xor bitwise_invert bitwise_left_shift bitwise_right_shift
#define TARRY_BITS(S, T, U, WIDTH, PICK) \
  TARRY_FN T tarry_bitwise_and_##S(T a, T b) { return (T)(a & b); } \
  TARRY_FN T tarry_bitwise_or_##S(T a, T b) { return (T)(a | b); } \
  TARRY_FN T tarry_bitwise_xor_##S(T a, T b) { return (T)(a ^ b); } \
  TARRY_FN T tarry_bitwise_invert_##S(T a) { return (T)~a; } \
  TARRY_FN T tarry_bitwise_left_shift_##S(T a, T b) { \
    U shifted = (U)a << (U)PICK((U)b < WIDTH, (U)b, WIDTH - 1); \
    return (T)((U)b < WIDTH ? shifted : shifted << 1); \
  } \
  TARRY_FN T tarry_bitwise_right_shift_##S(T a, T b) { \
    T shifted = (T)(a >> (U)PICK((U)b < WIDTH, (U)b, WIDTH - 1)); \
    return (T)((U)b < WIDTH ? shifted : shifted >> 1); \
  }
//== bits_i8 : bits
TARRY_BITS(i8, tarry_i8, tarry_u32, 8, TARRY_PICK_32)
//== bits_i16 : bits
TARRY_BITS(i16, tarry_i16, tarry_u32, 16, TARRY_PICK_32)
//== bits_i32 : bits
TARRY_BITS(i32, tarry_i32, tarry_u32, 32, TARRY_PICK_32)
//== bits_i64 : bits
TARRY_BITS(i64, tarry_i64, tarry_u64, 64, TARRY_PICK)
//== bits_u8 : bits
TARRY_BITS(u8, tarry_u8, tarry_u32, 8, TARRY_PICK_32)
//== bits_u16 : bits
TARRY_BITS(u16, tarry_u16, tarry_u32, 16, TARRY_PICK_32)
//== bits_u32 : bits
TARRY_BITS(u32, tarry_u32, tarry_u32, 32, TARRY_PICK_32)
//== bits_u64 : bits
TARRY_BITS(u64, tarry_u64, tarry_u64, 64, TARRY_PICK)
// What integers have because floats do.
//== whole : core : ceil floor round trunc isfinite isinf isnan
#define TARRY_WHOLE(S, T) \
  TARRY_FN T tarry_ceil_##S(T a) { return a; } \
  TARRY_FN T tarry_floor_##S(T a) { return a; } \
  TARRY_FN T tarry_round_##S(T a) { return a; } \
  TARRY_FN T tarry_trunc_##S(T a) { return a; } \
  TARRY_FN tarry_u8 tarry_isfinite_##S(T a) { return (void)a, (tarry_u8)1; } \
  TARRY_FN tarry_u8 tarry_isinf_##S(T a) { return (void)a, (tarry_u8)0; } \
  TARRY_FN tarry_u8 tarry_isnan_##S(T a) { return (void)a, (tarry_u8)0; }
//== whole_bool : whole
TARRY_WHOLE(bool, tarry_u8)
//== whole_i8 : whole
TARRY_WHOLE(i8, tarry_i8)
//== whole_i16 : whole
TARRY_WHOLE(i16, tarry_i16)
//== whole_i32 : whole
TARRY_WHOLE(i32, tarry_i32)
//== whole_i64 : whole
TARRY_WHOLE(i64, tarry_i64)
//== whole_u8 : whole
TARRY_WHOLE(u8, tarry_u8)
//== whole_u16 : whole
TARRY_WHOLE(u16, tarry_u16)
//== whole_u32 : whole
TARRY_WHOLE(u32, tarry_u32)
//== whole_u64 : whole
TARRY_WHOLE(u64, tarry_u64)
