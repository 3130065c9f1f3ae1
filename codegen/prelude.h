// The prelude: what every op computes on one element, written once for three readers: NVRTC (CUDA C++), the system C
// compiler (C11) and this library (C++20, included inside a namespace). No headers, no libm, no macro without TARRY_.
//
// A line `//== name : needs : ops` opens a section; codegen/prelude_text.cpp emits only those that a kernel needs, in
// this order, without comment lines and with `#ifdef __CUDACC__` resolved. Section `exp_f32` defines tarry_exp_f32. A
// section with an ops list is a family: a macro that a row section `family_suffix` expands for one dtype, defining
// tarry_<op>_<suffix> for each op of the list. A new dtype is a row per family and a word in the lists of the casts.
//
// Semantics are those of docs/numerics.md. Nothing here uses fma and nothing depends on rounding that a vector width
// could change, so an element has the same bits in body and tail at every instruction set level (compile with
// -ffp-contract=off). What can be vectorised is written as selects, without branches. Polynomials and their sources are
// in scripts/fit_polynomials.py. Bit casts are unions: C11 defines them, and gcc and clang do in C++ as well.
#pragma once

//== core :
typedef unsigned char tarry_u8;
typedef int tarry_i32;
typedef unsigned int tarry_u32;
typedef long long tarry_i64;
typedef unsigned long long tarry_u64;
#ifdef __CUDACC__
#define TARRY_FN static __device__ __forceinline__
TARRY_FN tarry_u32 tarry_bits_f32(float x) { return __float_as_uint(x); }
TARRY_FN float tarry_from_bits_f32(tarry_u32 u) { return __uint_as_float(u); }
TARRY_FN tarry_u64 tarry_bits_f64(double x) { return (tarry_u64)__double_as_longlong(x); }
TARRY_FN double tarry_from_bits_f64(tarry_u64 u) { return __longlong_as_double((tarry_i64)u); }
// A 32-bit select that compilers cannot turn into a minimum or maximum: ptxas 13.0 loses a minus sign where it joins two
// of them into VIMNMX3, so that max(max(a, -b), -c) read b.
TARRY_FN tarry_i32 tarry_pick_i32(int condition, tarry_i32 a, tarry_i32 b) {
  tarry_i32 r;
  asm("{.reg .pred q; setp.ne.s32 q, %1, 0; selp.b32 %0, %2, %3, q;}" : "=r"(r) : "r"(condition), "r"(a), "r"(b));
  return r;
}
#define TARRY_PICK_i32(C, A, B) tarry_pick_i32((C), (A), (B))
#else
#define TARRY_PICK_i32(C, A, B) ((C) ? (A) : (B))
#define TARRY_FN static inline __attribute__((always_inline, unused))
union tarry_cell_f32 { float value; tarry_u32 bits; };
union tarry_cell_f64 { double value; tarry_u64 bits; };
TARRY_FN tarry_u32 tarry_bits_f32(float x) { union tarry_cell_f32 c; c.value = x; return c.bits; }
TARRY_FN float tarry_from_bits_f32(tarry_u32 u) { union tarry_cell_f32 c; c.bits = u; return c.value; }
TARRY_FN tarry_u64 tarry_bits_f64(double x) { union tarry_cell_f64 c; c.value = x; return c.bits; }
TARRY_FN double tarry_from_bits_f64(tarry_u64 u) { union tarry_cell_f64 c; c.bits = u; return c.value; }
#endif

#define TARRY_PICK_bool(C, A, B) ((C) ? (A) : (B))
#define TARRY_PICK_i64(C, A, B) ((C) ? (A) : (B))
#define TARRY_PICK_f32(C, A, B) ((C) ? (A) : (B))
#define TARRY_PICK_f64(C, A, B) ((C) ? (A) : (B))

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
//== compare_i32 : compare
TARRY_COMPARE(i32, tarry_i32)
//== compare_i64 : compare
TARRY_COMPARE(i64, tarry_i64)
//== compare_f32 : compare
TARRY_COMPARE(f32, float)
//== compare_f64 : compare
TARRY_COMPARE(f64, double)

//== select : core : where
#define TARRY_SELECT(S, T) \
  TARRY_FN T tarry_where_##S(tarry_u8 condition, T a, T b) { return TARRY_PICK_##S(condition, a, b); }
//== select_bool : select
TARRY_SELECT(bool, tarry_u8)
//== select_i32 : select
TARRY_SELECT(i32, tarry_i32)
//== select_i64 : select
TARRY_SELECT(i64, tarry_i64)
//== select_f32 : select
TARRY_SELECT(f32, float)
//== select_f64 : select
TARRY_SELECT(f64, double)

//== logical : core : logical_and logical_or logical_not minimum maximum
#define TARRY_LOGICAL(S, T) \
  TARRY_FN T tarry_logical_and_##S(T a, T b) { return (T)(a & b); } \
  TARRY_FN T tarry_logical_or_##S(T a, T b) { return (T)(a | b); } \
  TARRY_FN T tarry_logical_not_##S(T a) { return (T)(a ^ 1); } \
  TARRY_FN T tarry_minimum_##S(T a, T b) { return (T)(a & b); } \
  TARRY_FN T tarry_maximum_##S(T a, T b) { return (T)(a | b); }
//== logical_bool : logical
TARRY_LOGICAL(bool, tarry_u8)

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

// Floats. Equal operands of minimum and maximum differ at most in the sign of a zero: | keeps a minus, & drops it.
//== float : core : add subtract multiply divide negative abs minimum maximum
#define TARRY_FLOAT(S, T, U) \
  TARRY_FN T tarry_add_##S(T a, T b) { return a + b; } \
  TARRY_FN T tarry_subtract_##S(T a, T b) { return a - b; } \
  TARRY_FN T tarry_multiply_##S(T a, T b) { return a * b; } \
  TARRY_FN T tarry_divide_##S(T a, T b) { return a / b; } \
  TARRY_FN T tarry_negative_##S(T a) { return -a; } \
  TARRY_FN T tarry_abs_##S(T a) { return tarry_from_bits_##S(tarry_bits_##S(a) & ((U)-1 >> 1)); } \
  TARRY_FN T tarry_minimum_##S(T a, T b) { \
    T least = a < b ? a : b; \
    least = a == b ? tarry_from_bits_##S(tarry_bits_##S(a) | tarry_bits_##S(b)) : least; \
    return a != a ? a : least; \
  } \
  TARRY_FN T tarry_maximum_##S(T a, T b) { \
    T most = a > b ? a : b; \
    most = a == b ? tarry_from_bits_##S(tarry_bits_##S(a) & tarry_bits_##S(b)) : most; \
    return a != a ? a : most; \
  }
//== float_f32 : float
TARRY_FLOAT(f32, float, tarry_u32)
//== float_f64 : float
TARRY_FLOAT(f64, double, tarry_u64)

//== sqrt_f32 : core
#ifdef __CUDACC__
TARRY_FN float tarry_sqrt_f32(float x) { return __fsqrt_rn(x); }
#else
TARRY_FN float tarry_sqrt_f32(float x) { return __builtin_sqrtf(x); }
#endif
//== sqrt_f64 : core
#ifdef __CUDACC__
TARRY_FN double tarry_sqrt_f64(double x) { return __dsqrt_rn(x); }
#else
TARRY_FN double tarry_sqrt_f64(double x) { return __builtin_sqrt(x); }
#endif

// Adding and subtracting 2^p, p the bits after the leading one, rounds 0 <= x < 2^p to the nearest integer; larger x are
// integers. It is done on |x| and the sign put back, which also gives a zero the sign of x.
//== floor : core : floor_divide
#define TARRY_FLOOR(S, T, U, TWO_P) \
  TARRY_FN T tarry_floor_##S(T x) { \
    U sign = tarry_bits_##S(x) & ~((U)-1 >> 1); \
    T size = tarry_from_bits_##S(tarry_bits_##S(x) ^ sign); \
    T nearest = tarry_from_bits_##S(tarry_bits_##S((size + TWO_P) - TWO_P) | sign); \
    T below = nearest > x ? nearest - 1 : nearest; \
    return size < TWO_P ? below : x; \
  } \
  TARRY_FN T tarry_floor_divide_##S(T a, T b) { return tarry_floor_##S(a / b); }
//== floor_f32 : floor
TARRY_FLOOR(f32, float, tarry_u32, 0x1p23f)
//== floor_f64 : floor
TARRY_FLOOR(f64, double, tarry_u64, 0x1p52)

// fmod is exact: |a| = ma 2^(ea-1075), |b| = mb 2^(eb-1075), and (ma 2^(ea-eb)) mod mb in steps of 11 bits, which is what
// 64 bits hold beside a 53-bit rest. A float32 result is exact in float32 too, so that dtype goes through float64.
//== fmod_f64 : core
#ifdef __CUDACC__
TARRY_FN double tarry_fmod_f64(double a, double b) { return fmod(a, b); }
#else
TARRY_FN double tarry_fmod_f64(double a, double b) {
  const tarry_u64 infinity = 0x7ff0000000000000ull, hidden = 0x0010000000000000ull;
  tarry_u64 sign = tarry_bits_f64(a) & 0x8000000000000000ull;
  tarry_u64 ua = tarry_bits_f64(a) ^ sign, ub = tarry_bits_f64(b) & 0x7fffffffffffffffull;
  if (ub == 0 || ua >= infinity || ub > infinity) return tarry_from_bits_f64(0x7ff8000000000000ull);
  if (ua < ub) return a;
  tarry_u64 ea = ua >> 52, eb = ub >> 52;
  tarry_u64 ma = ea ? (ua & (hidden - 1)) | hidden : ua, mb = eb ? (ub & (hidden - 1)) | hidden : ub;
  ea = ea ? ea : 1;
  eb = eb ? eb : 1;
  tarry_u64 rest = ma % mb;
  for (tarry_u64 left = ea - eb; left != 0 && rest != 0;) {
    tarry_u64 step = left < 11 ? left : 11;
    rest = (rest << step) % mb;
    left -= step;
  }
  double unit = tarry_from_bits_f64(eb > 52 ? (eb - 52) << 52 : 1ull << (eb - 1));
  return tarry_from_bits_f64(tarry_bits_f64((double)(tarry_i64)rest * unit) | sign);
}
#endif
//== fmod_f32 : fmod_f64
#ifdef __CUDACC__
TARRY_FN float tarry_fmod_f32(float a, float b) { return fmodf(a, b); }
#else
TARRY_FN float tarry_fmod_f32(float a, float b) { return (float)tarry_fmod_f64((double)a, (double)b); }
#endif
//== modulo : core : remainder
#define TARRY_MODULO(S, T, U) \
  TARRY_FN T tarry_remainder_##S(T a, T b) { \
    T rest = tarry_fmod_##S(a, b); \
    T zero = tarry_from_bits_##S(tarry_bits_##S(b) & ~((U)-1 >> 1)); \
    T moved = (rest < 0) != (b < 0) ? rest + b : rest; \
    return rest == 0 ? zero : moved; \
  }
//== modulo_f32 : modulo fmod_f32
TARRY_MODULO(f32, float, tarry_u32)
//== modulo_f64 : modulo fmod_f64
TARRY_MODULO(f64, double, tarry_u64)

// exp(x) = 2^n exp(r), r = x - n ln2. Adding 1.5 * 2^p rounds x / ln2 to n and leaves n in the low bits of the sum, from
// where a shift moves it into an exponent. ln2 has a high part whose product with n is exact.
//== exp_parts_f32 : core
#ifndef __CUDACC__
TARRY_FN float tarry_exp_shifted_f32(float x) { return x * 0x1.715476p0f + 0x1.8p23f; }
TARRY_FN float tarry_exp_fraction_f32(float x, float shifted) {
  float n = shifted - 0x1.8p23f;
  float r = (x - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
  float q = 0x1.6a5190p-10f;
  q = q * r + 0x1.12397ep-7f;
  q = q * r + 0x1.5558acp-5f;
  q = q * r + 0x1.555492p-3f;
  q = q * r + 0x1.fffffcp-2f;
  return 1.0f + (r + (r * r) * q);
}
#endif
// Scaling in two halves lets the result be denormal (rounded once more, in the last product) or overflow to infinity.
//== exp_f32 : exp_parts_f32
#ifdef __CUDACC__
TARRY_FN float tarry_exp_f32(float x) { return expf(x); }
#else
TARRY_FN float tarry_exp_f32(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  float shifted = tarry_exp_shifted_f32(x);
  tarry_u32 n = tarry_bits_f32(shifted), half = n >> 1;
  float low = tarry_from_bits_f32((half + 127) << 23), high = tarry_from_bits_f32((n - half + 127) << 23);
  return tarry_exp_fraction_f32(x, shifted) * low * high;
}
#endif
//== exp_parts_f64 : core
#ifndef __CUDACC__
TARRY_FN double tarry_exp_shifted_f64(double x) { return x * 0x1.71547652b82fep0 + 0x1.8p52; }
TARRY_FN double tarry_exp_fraction_f64(double x, double shifted) {
  double n = shifted - 0x1.8p52;
  double r = (x - n * 0x1.62e42fefa4000p-1) + n * 0x1.8432a1b0e2634p-43;
  double q = 0x1.ad908bbc195e6p-26;
  q = q * r + 0x1.28ae067d23107p-22;
  q = q * r + 0x1.71df1aa56ed88p-19;
  q = q * r + 0x1.a0199954b7ce0p-16;
  q = q * r + 0x1.a01a012f09354p-13;
  q = q * r + 0x1.6c16c1847a843p-10;
  q = q * r + 0x1.1111111126e66p-7;
  q = q * r + 0x1.55555555506b0p-5;
  q = q * r + 0x1.55555555554fdp-3;
  q = q * r + 0x1.000000000000ap-1;
  return 1.0 + (r + (r * r) * q);
}
#endif
//== exp_f64 : exp_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_exp_f64(double x) { return exp(x); }
#else
TARRY_FN double tarry_exp_f64(double x) {
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  double shifted = tarry_exp_shifted_f64(x);
  tarry_u64 n = tarry_bits_f64(shifted), half = n >> 1;
  double low = tarry_from_bits_f64((half + 1023) << 52), high = tarry_from_bits_f64((n - half + 1023) << 52);
  return tarry_exp_fraction_f64(x, shifted) * low * high;
}
#endif

// log(x) = k ln2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2). Subtracting the bits of sqrt(1/2) leaves k in the exponent
// field. Denormals are scaled first.
//== log_f32 : core
#ifdef __CUDACC__
TARRY_FN float tarry_log_f32(float x) { return logf(x); }
#else
TARRY_FN float tarry_log_f32(float x) {
  float scaled = x < 0x1p-126f ? x * 0x1p23f : x;
  tarry_u32 bias = x < 0x1p-126f ? 23 : 0;
  tarry_u32 u = tarry_bits_f32(scaled) - 0x3f3504f3u;
  float k = (float)(((tarry_i32)u >> 23) - (tarry_i32)bias);
  float f = tarry_from_bits_f32((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float q = -0x1.38cef2p-4f;
  q = q * f + 0x1.055ff4p-3f;
  q = q * f - 0x1.0d81dcp-3f;
  q = q * f + 0x1.22d8fcp-3f;
  q = q * f - 0x1.54728ep-3f;
  q = q * f + 0x1.99a01ep-3f;
  q = q * f - 0x1.000226p-2f;
  q = q * f + 0x1.555554p-2f;
  float square = f * f;
  float small = (square * f) * q + k * 0x1.7f7d1cp-20f;
  float y = k * 0x1.62e400p-1f + (f + (small - 0.5f * square));
  float edge = x == 0.0f ? tarry_from_bits_f32(0xff800000u) : tarry_from_bits_f32(0x7fc00000u);
  y = x > 0x1.fffffep127f ? x : y;
  return x > 0.0f ? y : edge;
}
#endif
// With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + s^2 Q(s^2))).
//== log_f64 : core
#ifdef __CUDACC__
TARRY_FN double tarry_log_f64(double x) { return log(x); }
#else
TARRY_FN double tarry_log_f64(double x) {
  double scaled = x < 0x1p-1022 ? x * 0x1p52 : x;
  double bias = x < 0x1p-1022 ? 1023.0 + 52.0 : 1023.0;
  tarry_u64 u = tarry_bits_f64(scaled) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  double k = (tarry_from_bits_f64(0x4330000000000000ull | (u >> 52)) - 0x1p52) - bias;
  double f = tarry_from_bits_f64((u & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
  double s = f / (2.0 + f), z = s * s;
  double q = 0x1.2f0412dd30a8dp-3;
  q = q * z + 0x1.39a1e17cdcb1dp-3;
  q = q * z + 0x1.74663d25ce8a0p-3;
  q = q * z + 0x1.c71c521391cbep-3;
  q = q * z + 0x1.24924941e1d58p-2;
  q = q * z + 0x1.999999997ff17p-2;
  q = q * z + 0x1.5555555555592p-1;
  double half_square = 0.5 * f * f;
  double small = s * (half_square + z * q) - k * 0x1.8432a1b0e2634p-43;
  double y = k * 0x1.62e42fefa4000p-1 + (f - (half_square - small));
  double edge = x == 0.0 ? tarry_from_bits_f64(0xfff0000000000000ull) : tarry_from_bits_f64(0x7ff8000000000000ull);
  y = x > 0x1.fffffffffffffp1023 ? x : y;
  return x > 0.0 ? y : edge;
}
#endif

// |x| <= 1: x + x Q(x^2). Above: 1 - exp(Q(|x| - 1)); an error of that Q counts only times erfc(x). Both are computed and
// one is selected. Beyond the clamp erf rounds to 1.
//== erf_f32 : exp_parts_f32
#ifdef __CUDACC__
TARRY_FN float tarry_erf_f32(float x) { return erff(x); }
#else
TARRY_FN float tarry_erf_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  float t = tarry_from_bits_f32(tarry_bits_f32(x) ^ sign), z = x * x;
  float p = 0x1.4917a4p-14f;
  p = p * z - 0x1.a3d812p-11f;
  p = p * z + 0x1.540172p-8f;
  p = p * z - 0x1.b7f88cp-6f;
  p = p * z + 0x1.ce2cf2p-4f;
  p = p * z - 0x1.81273ep-2f;
  p = p * z + 0x1.06eba8p-3f;
  float u = (t > 3.9375f ? 3.9375f : t) - 1.0f;
  float q = -0x1.d30f4ap-18f;
  q = q * u + 0x1.b97cfcp-13f;
  q = q * u - 0x1.e50e62p-10f;
  q = q * u + 0x1.43f6fap-7f;
  q = q * u - 0x1.53d542p-5f;
  q = q * u - 0x1.afae42p-1f;
  q = q * u - 0x1.51c9a0p1f;
  q = q * u - 0x1.d97fc0p0f;
  float shifted = tarry_exp_shifted_f32(q);
  float scale = tarry_from_bits_f32((tarry_bits_f32(shifted) + 127) << 23);
  float large = 1.0f - tarry_exp_fraction_f32(q, shifted) * scale;
  large = tarry_from_bits_f32(tarry_bits_f32(large) | sign);
  return t <= 1.0f ? x + x * p : large;
}
#endif
//== erf_f64 : exp_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_erf_f64(double x) { return erf(x); }
#else
TARRY_FN double tarry_erf_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double t = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign), z = x * x;
  double p = -0x1.ab159c5a4887cp-31;
  p = p * z + 0x1.d6e3d0edd146fp-27;
  p = p * z - 0x1.5bfe7470fec71p-23;
  p = p * z + 0x1.b97e43e39945ap-20;
  p = p * z - 0x1.f4ca2046474bbp-17;
  p = p * z + 0x1.f9a2b754d9df2p-14;
  p = p * z - 0x1.c02db0149ab05p-11;
  p = p * z + 0x1.565bccf7e2786p-8;
  p = p * z - 0x1.b82ce311ee098p-6;
  p = p * z + 0x1.ce2f21a0408d1p-4;
  p = p * z - 0x1.812746b0379b2p-2;
  p = p * z + 0x1.06eba8214db68p-3;
  double u = (t > 5.9375 ? 5.9375 : t) - 1.0;
  double q = -0x1.ab15e78151112p-43;
  q = q * u + 0x1.9abcaca20a77fp-38;
  q = q * u - 0x1.70ea64ece5f91p-34;
  q = q * u + 0x1.9b64a09adc1bdp-31;
  q = q * u - 0x1.3df684b8686a0p-28;
  q = q * u + 0x1.641e710f6c9a4p-26;
  q = q * u - 0x1.1c129f469b967p-24;
  q = q * u + 0x1.08690768fe85ap-23;
  q = q * u + 0x1.cf3d7d46c5989p-24;
  q = q * u - 0x1.0f97394dda651p-19;
  q = q * u + 0x1.4178d30ebc808p-17;
  q = q * u - 0x1.c760cec15d1adp-16;
  q = q * u + 0x1.b8c071b9c6ea0p-16;
  q = q * u + 0x1.f1b4b053f6313p-13;
  q = q * u - 0x1.033f6992a9aaep-9;
  q = q * u + 0x1.48c9d40d77694p-7;
  q = q * u - 0x1.5477f09cbb3d2p-5;
  q = q * u - 0x1.afabc11a28dc6p-1;
  q = q * u - 0x1.51c9b0006c240p1;
  q = q * u - 0x1.d97fbf27aa2a1p0;
  double shifted = tarry_exp_shifted_f64(q);
  double scale = tarry_from_bits_f64((tarry_bits_f64(shifted) + 1023) << 52);
  double large = 1.0 - tarry_exp_fraction_f64(q, shifted) * scale;
  large = tarry_from_bits_f64(tarry_bits_f64(large) | sign);
  return t <= 1.0 ? x + x * p : large;
}
#endif

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
