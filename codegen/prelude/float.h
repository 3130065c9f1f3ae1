// Float arithmetic that is correctly rounded or exact: the same bits everywhere.
#pragma once

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
