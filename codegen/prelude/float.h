// Float arithmetic that is correctly rounded or exact: the same bits everywhere.
#pragma once

//== float : core : add subtract multiply divide square reciprocal sign
#define TARRY_FLOAT(S, T) \
  TARRY_FN T tarry_add_##S(T a, T b) { return a + b; } \
  TARRY_FN T tarry_subtract_##S(T a, T b) { return a - b; } \
  TARRY_FN T tarry_multiply_##S(T a, T b) { return a * b; } \
  TARRY_FN T tarry_divide_##S(T a, T b) { return a / b; } \
  TARRY_FN T tarry_square_##S(T a) { return a * a; } \
  TARRY_FN T tarry_reciprocal_##S(T a) { return 1 / a; } \
  TARRY_FN T tarry_sign_##S(T a) { \
    T rest = a != a ? a : 0, low = a < 0 ? -1 : rest; \
    return a > 0 ? 1 : low; \
  }
//== float_f32 : float
TARRY_FLOAT(f32, float)
//== float_f64 : float
TARRY_FLOAT(f64, double)
// Equal operands differ at most in the sign of a zero: | keeps a minus, & drops it. From sm_80 on one instruction does it.
//== extremes : core : minimum maximum
#define TARRY_EXTREMES(S, T) \
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
//== extremes_f32 : extremes
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
TARRY_FN float tarry_minimum_f32(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
TARRY_FN float tarry_maximum_f32(float a, float b) {
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
}
#else
TARRY_EXTREMES(f32, float)
#endif
#else
TARRY_EXTREMES(f32, float)
#endif
//== extremes_f64 : extremes
TARRY_EXTREMES(f64, double)
// By bits. A step away from zero is the next larger number without its sign, from one binade to the next as well.
//== float_bits : core : abs copysign signbit isfinite isinf isnan nextafter
#define TARRY_FLOAT_BITS(S, T, U, INF) \
  TARRY_FN T tarry_abs_##S(T a) { return tarry_from_bits_##S(tarry_bits_##S(a) & ((U)-1 >> 1)); } \
  TARRY_FN T tarry_copysign_##S(T a, T b) { \
    const U size = (U)-1 >> 1; \
    return tarry_from_bits_##S((tarry_bits_##S(a) & size) | (tarry_bits_##S(b) & ~size)); \
  } \
  TARRY_FN tarry_u8 tarry_signbit_##S(T a) { return (tarry_u8)(tarry_bits_##S(a) > ((U)-1 >> 1)); } \
  TARRY_FN tarry_u8 tarry_isfinite_##S(T a) { return (tarry_u8)((tarry_bits_##S(a) & ((U)-1 >> 1)) < INF); } \
  TARRY_FN tarry_u8 tarry_isinf_##S(T a) { return (tarry_u8)((tarry_bits_##S(a) & ((U)-1 >> 1)) == INF); } \
  TARRY_FN tarry_u8 tarry_isnan_##S(T a) { return (tarry_u8)(a != a); } \
  TARRY_FN T tarry_nextafter_##S(T a, T b) { \
    U from = tarry_bits_##S(a), step = (a < b) == (a > 0) ? 1 : (U)-1; \
    U next = a == 0 ? ((tarry_bits_##S(b) & ~((U)-1 >> 1)) | 1) : from + step; \
    T moved = a == b ? b : tarry_from_bits_##S(next); \
    return ((a != a) | (b != b)) ? a + b : moved; \
  }
//== float_bits_f32 : float_bits
TARRY_FLOAT_BITS(f32, float, tarry_u32, 0x7f800000u)
//== float_bits_f64 : float_bits
TARRY_FLOAT_BITS(f64, double, tarry_u64, 0x7ff0000000000000ull)
// gcc 12 and 13 make -fma(a, b, c) one instruction that computes -(a b) - c, which loses the sign of -0.
//== negative_f32 : core
#ifdef __CUDACC__
TARRY_FN float tarry_negative_f32(float x) { return -x; }
#else
TARRY_FN float tarry_negative_f32(float x) { return tarry_from_bits_f32(tarry_bits_f32(x) ^ 0x80000000u); }
#endif
//== negative_f64 : core
#ifdef __CUDACC__
TARRY_FN double tarry_negative_f64(double x) { return -x; }
#else
TARRY_FN double tarry_negative_f64(double x) { return tarry_from_bits_f64(tarry_bits_f64(x) ^ 0x8000000000000000ull); }
#endif
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
// To an integer: exact, one instruction on every target. round goes to the nearest, ties to even.
//== rounding : core : ceil floor round trunc
#ifdef __CUDACC__
#define TARRY_ROUNDING(S, T, F) \
  TARRY_FN T tarry_ceil_##S(T x) { return ceil##F(x); } \
  TARRY_FN T tarry_floor_##S(T x) { return floor##F(x); } \
  TARRY_FN T tarry_round_##S(T x) { return rint##F(x); } \
  TARRY_FN T tarry_trunc_##S(T x) { return trunc##F(x); }
#else
#define TARRY_ROUNDING(S, T, F) \
  TARRY_FN T tarry_ceil_##S(T x) { return __builtin_ceil##F(x); } \
  TARRY_FN T tarry_floor_##S(T x) { return __builtin_floor##F(x); } \
  TARRY_FN T tarry_round_##S(T x) { return __builtin_rint##F(x); } \
  TARRY_FN T tarry_trunc_##S(T x) { return __builtin_trunc##F(x); }
#endif
//== rounding_f32 : rounding
TARRY_ROUNDING(f32, float, f)
//== rounding_f64 : rounding
TARRY_ROUNDING(f64, double, )
// fmod is exact: |a| = ma 2^(ea-1075), |b| = mb 2^(eb-1075), and (ma 2^(ea-eb)) mod mb in steps of 11 bits, which is what
// 64 bits hold beside a 53-bit rest. A float32 result is exact in float32 too, so that dtype goes through float64.
// A quotient of fewer than 53 bits, rounded, is the whole one or the next: both rests are multiples of b's last bit and
// no larger than b, so that one fused operation, or float64 for float32 and 29 bits, has them exactly.
//== fmod_f64 : core
#ifdef __CUDACC__
TARRY_FN double tarry_fmod_f64(double a, double b) { return fmod(a, b); }
#else
TARRY_FN double tarry_fmod_f64(double a, double b) {
#if defined(__FMA__) || defined(__aarch64__)
  const double size = __builtin_fabs(a), by = __builtin_fabs(b), whole = __builtin_trunc(size / by);
  if ((whole < 4503599627370496.0) & (by < __builtin_inf())) {
    const double some = __builtin_fma(-whole, by, size);
    return __builtin_copysign(some + (some < 0 ? by : 0), a);
  }
#endif
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
TARRY_FN float tarry_fmod_f32(float a, float b) {
  const double size = __builtin_fabs((double)a), by = __builtin_fabs((double)b), whole = __builtin_trunc(size / by);
  if ((whole < 536870912.0) & (by < __builtin_inf())) {
    const double some = size - whole * by;
    return (float)__builtin_copysign(some + (some < 0 ? by : 0), (double)a);
  }
  return (float)tarry_fmod_f64((double)a, (double)b);
}
#endif
//== modulo : core : remainder
#define TARRY_MODULO(S, T, U) \
  TARRY_FN T tarry_remainder_##S(T a, T b) { \
    T rest = tarry_fmod_##S(a, b); \
    T zero = tarry_from_bits_##S(tarry_bits_##S(b) & ~((U)-1 >> 1)); \
    T moved = rest + tarry_from_bits_##S(tarry_bits_##S(b) & -(U)((rest < 0) != (b < 0))); \
    return rest == 0 ? zero : moved; \
  }
//== modulo_f32 : modulo fmod_f32
TARRY_MODULO(f32, float, tarry_u32)
//== modulo_f64 : modulo fmod_f64
TARRY_MODULO(f64, double, tarry_u64)
// a + b, a neighbour with an odd last bit where that is not exact: rounded once more, to a type with two bits less or
// fewer, it gives what rounding the exact sum would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// 2008). rest is exact (Knuth's two-sum).
//== odd_sum : core : odd_sum
#define TARRY_ODD_SUM(S, T, U) \
  TARRY_FN T tarry_odd_sum_##S(T a, T b) { \
    T sum = a + b, part = sum - a; \
    T rest = (a - (sum - part)) + (b - part); \
    U bits = tarry_bits_##S(sum), step = (rest > 0) == (sum > 0) ? 1 : (U)-1; \
    return tarry_from_bits_##S((((rest > 0) | (rest < 0)) & ((bits & 1) == 0)) ? bits + step : bits); \
  }
//== odd_sum_f32 : odd_sum
TARRY_ODD_SUM(f32, float, tarry_u32)
//== odd_sum_f64 : odd_sum
TARRY_ODD_SUM(f64, double, tarry_u64)
// Without the instruction, float32 goes through float64, which holds the product exactly.
//== fma_f32 : odd_sum_f64
#ifdef __CUDACC__
TARRY_FN float tarry_fma_f32(float a, float b, float c) { return __fmaf_rn(a, b, c); }
#else
#if defined(__FMA__) || defined(__aarch64__)
TARRY_FN float tarry_fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
TARRY_FN float tarry_fma_f32(float a, float b, float c) { return (float)tarry_odd_sum_f64((double)a * b, c); }
#endif
#endif
// float64 without the instruction: product and addend as 126-bit integers p 2^e and q 2^f, bits 124 or 125 the highest of
// p, 124 of q. The one of the lower exponent moves right and keeps lost bits as a sticky last one. Bits are lost of the
// addend where it is below the product by a factor of 2^70, of the product where it is below by 2^19: then the leading bits
// do not cancel, and the sticky bit is below what is rounded.
//== fma_f64 : core
#ifdef __CUDACC__
TARRY_FN double tarry_fma_f64(double a, double b, double c) { return __fma_rn(a, b, c); }
#else
#if defined(__FMA__) || defined(__aarch64__)
TARRY_FN double tarry_fma_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
__extension__ typedef unsigned __int128 tarry_u128;
TARRY_FN int tarry_leading_zeros_u128(tarry_u128 x) {
  return (tarry_u64)(x >> 64) != 0 ? __builtin_clzll((tarry_u64)(x >> 64)) : 64 + __builtin_clzll((tarry_u64)x);
}
TARRY_FN tarry_u128 tarry_shift_sticky_u128(tarry_u128 x, int count) {
  if (count > 127) return x != 0;
  return x >> count | (tarry_u128)((x & (((tarry_u128)1 << count) - 1)) != 0);
}
// A finite x, not 0: its 53 bits, the leading one set, of which *exponent is the weight of the lowest.
TARRY_FN tarry_u64 tarry_split_f64(double x, int* exponent) {
  const tarry_u64 hidden = 0x0010000000000000ull, size = tarry_bits_f64(x) & 0x7fffffffffffffffull;
  const int field = (int)(size >> 52), shift = field != 0 ? 0 : __builtin_clzll(size) - 11;
  *exponent = (field != 0 ? field : 1) - 1075 - shift;
  return field != 0 ? (size & (hidden - 1)) | hidden : size << shift;
}
// sum 2^exponent with a sign, rounded to nearest even; a carry out of the mantissa moves into the exponent, up to infinity.
TARRY_FN double tarry_round_u128(tarry_u128 sum, int exponent, tarry_u64 sign) {
  const int top = 127 - tarry_leading_zeros_u128(sum), power = top + exponent;
  if (power > 1023) return tarry_from_bits_f64(sign | 0x7ff0000000000000ull);
  const int lost = power < -1022 ? -1022 - power : 0, drop = top - 52 + lost;
  if (drop > top + 1) return tarry_from_bits_f64(sign);
  tarry_u64 kept;
  if (drop <= 0) {
    kept = (tarry_u64)(sum << -drop);
  } else {
    const tarry_u128 rest = sum & (((tarry_u128)1 << drop) - 1), half = (tarry_u128)1 << (drop - 1);
    kept = (tarry_u64)(sum >> drop);
    kept += rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
  }
  const tarry_u64 below = lost != 0 ? 0 : (tarry_u64)(power + 1022) << 52;
  return tarry_from_bits_f64(sign | (below + kept));
}
TARRY_FN double tarry_fma_f64(double a, double b, double c) {
  if (!(a - a == 0) || !(b - b == 0) || a == 0 || b == 0) return a * b + c;
  if (!(c - c == 0)) return c;
  if (c == 0) return a * b;
  const tarry_u64 minus = 0x8000000000000000ull;
  tarry_u64 sign = (tarry_bits_f64(a) ^ tarry_bits_f64(b)) & minus;
  const tarry_u64 other = tarry_bits_f64(c) & minus;
  int ea, eb, ec;
  const tarry_u64 ma = tarry_split_f64(a, &ea), mb = tarry_split_f64(b, &eb), mc = tarry_split_f64(c, &ec);
  tarry_u128 p = (tarry_u128)ma * mb << 20, q = (tarry_u128)mc << 72;
  const int e = ea + eb - 20, f = ec - 72;
  if (e > f) q = tarry_shift_sticky_u128(q, e - f);
  else p = tarry_shift_sticky_u128(p, f - e);
  const int exponent = e > f ? e : f;
  if (sign == other) return tarry_round_u128(p + q, exponent, sign);
  if (p == q) return 0;
  sign = p > q ? sign : other;
  return tarry_round_u128(p > q ? p - q : q - p, exponent, sign);
}
#endif
#endif
// a / b for many a, h being 1 / b (reciprocal_word). h and the rest of its rounding give a quotient within an ulp, of which
// one step that knows the exact remainder makes the rounded one (Markstein, IBM J. Res. Dev. 34, 1990), while no product
// leaves the range: |a / b| from USUAL to TOP, by the highest 32 bits. An IEEE division goes a long way round for quotients
// that are 0 or small. Small ones are rounded after a / b grew by UP: where that rounding ends half way between two
// results, the remainder says which. UP, HALF and LEAST fit the divisors that reciprocal_word admits.
//== divide_by : core : divide_by
#define TARRY_DIVIDE_BY(S, T, HIGH, USUAL, TOP, SMALL, UP, DOWN, HALF, LEAST) \
  TARRY_FN T tarry_divide_by_##S(T a, T b, T h) { \
    const T l = tarry_fma_##S(-b, h, 1) * h; \
    const T q = tarry_fma_##S(a, h, a * l), rounded = tarry_fma_##S(tarry_fma_##S(-b, q, a), h, q); \
    if ((HIGH(q) & 0x7fffffffu) - USUAL < TOP - USUAL) return rounded; \
    if (!(a < SMALL && a > -SMALL) || h != h) return a / b; \
    if (a == 0) return a * h; \
    const T big = a * UP, near = tarry_fma_##S(big, h, big * l); \
    const T most = tarry_fma_##S(tarry_fma_##S(-b, near, big), h, near), rest = tarry_fma_##S(-b, most, big); \
    const T small = most * DOWN, lost = most - small * UP; \
    if (lost != HALF && lost != -HALF) return small; \
    if (rest == 0 || ((rest < 0) ^ (b < 0)) != (lost < 0)) return small; \
    return lost < 0 ? small - LEAST : small + LEAST; \
  }
//== divide_by_f32 : divide_by fma_f32
TARRY_DIVIDE_BY(f32, float, tarry_bits_f32, 0x21800000u, 0x7f000000u, 0x1p-20f, 0x1p96f, 0x1p-96f, 0x1p-54f, 0x1p-149f)
//== divide_by_f64 : divide_by fma_f64
#define TARRY_HIGH_F64(X) (tarry_u32)(tarry_bits_f64(X) >> 32)
TARRY_DIVIDE_BY(f64, double, TARRY_HIGH_F64, 0x20b00000u, 0x7fe00000u, 0x1p-244, 0x1p480, 0x1p-480, 0x1p-595, 0x1p-1074)
// The floor of the exact quotient, beside what remainder() leaves. It is that of the rounded quotient, unless rounding made an
// integer of something less: then a - floored * b, whose sign one rounding keeps, lies on the other side of zero than b.
//== division : core : floor_divide
#define TARRY_FLOOR_DIVIDE(S, T) \
  TARRY_FN T tarry_floor_divide_##S(T a, T b) { \
    T floored = tarry_floor_##S(a / b), rest = tarry_fma_##S(-floored, b, a); \
    return (((rest < 0) & (b > 0)) | ((rest > 0) & (b < 0))) ? floored - 1 : floored; \
  }
//== division_f32 : division rounding_f32 fma_f32
TARRY_FLOOR_DIVIDE(f32, float)
//== division_f64 : division rounding_f64 fma_f64
TARRY_FLOOR_DIVIDE(f64, double)
