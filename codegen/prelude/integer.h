// Integer arithmetic: wrapping, with every division and shift defined.
#pragma once

// Signed integers. U is the unsigned type of the same width: wrapping is defined there. Division works on magnitudes, so
// INT_MIN / -1 wraps by itself; a divisor of 0 is replaced by 1. (A select on b == -1 after an abs is dropped by the
// device compiler of CUDA 13.0, which gave 1 // -1 = 1.)
//== integer : core : add subtract multiply floor_divide remainder negative abs minimum maximum
#define TARRY_INTEGER(S, T, U) \
  TARRY_FN T tarry_add_##S(T a, T b) { return (T)((U)a + (U)b); } \
  TARRY_FN T tarry_subtract_##S(T a, T b) { return (T)((U)a - (U)b); } \
  TARRY_FN T tarry_multiply_##S(T a, T b) { return (T)((U)a * (U)b); } \
  TARRY_FN T tarry_negative_##S(T a) { return (T)((U)0 - (U)a); } \
  TARRY_FN T tarry_abs_##S(T a) { return a < 0 ? (T)((U)0 - (U)a) : a; } \
  TARRY_FN T tarry_minimum_##S(T a, T b) { return TARRY_PICK_##S(a < b, a, b); } \
  TARRY_FN T tarry_maximum_##S(T a, T b) { return TARRY_PICK_##S(a > b, a, b); } \
  TARRY_FN T tarry_floor_divide_##S(T a, T b) { \
    U x = a < 0 ? (U)((U)0 - (U)a) : (U)a, y = b < 0 ? (U)((U)0 - (U)b) : (U)b, divisor = y == 0 ? (U)1 : y; \
    U quotient = (U)(x / divisor), rest = (U)(x - (U)(quotient * divisor)); \
    T floored = (a ^ b) < 0 ? (T)((U)0 - (U)(quotient + (U)(rest != 0))) : (T)quotient; \
    return b == 0 ? (T)0 : floored; \
  } \
  TARRY_FN T tarry_remainder_##S(T a, T b) { \
    U x = a < 0 ? (U)((U)0 - (U)a) : (U)a, y = b < 0 ? (U)((U)0 - (U)b) : (U)b, divisor = y == 0 ? (U)1 : y; \
    U rest = (U)(x % divisor), floored = (rest != 0) & ((a ^ b) < 0) ? (U)(divisor - rest) : rest; \
    return b < 0 ? (T)((U)0 - floored) : (T)floored; \
  }
//== integer_i32 : integer
TARRY_INTEGER(i32, tarry_i32, tarry_u32)
//== integer_i64 : integer
TARRY_INTEGER(i64, tarry_i64, tarry_u64)
