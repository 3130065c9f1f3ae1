// exp, log and what is made of them in float64.
#pragma once

//== exp_parts_f64 : core
#ifndef __CUDACC__
TARRY_FN double tarry_exp_shifted_f64(double x) { return x * 0x1.71547652b82fep0 + 0x1.8p52; }
TARRY_FN double tarry_exp_rest_f64(double x, double shifted) {
  double n = shifted - 0x1.8p52;
  return (x - n * 0x1.62e42fefa4000p-1) + n * 0x1.8432a1b0e2634p-43;
}
TARRY_FN double tarry_exp_curve_f64(double r) {  // exp(r) - 1 - r
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
  return (r * r) * q;
}
TARRY_FN double tarry_exp_fraction_f64(double x, double shifted) {
  double r = tarry_exp_rest_f64(x, shifted);
  return 1.0 + (r + tarry_exp_curve_f64(r));
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
// x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); with s = f / (2 + f),
// log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + s^2 Q(s^2))).
//== log_core_f64 : core
struct tarry_log_parts_f64 { double k, f; };
TARRY_FN struct tarry_log_parts_f64 tarry_log_split_f64(double x) {
  struct tarry_log_parts_f64 split;
  double scaled = x < 0x1p-1022 ? x * 0x1p52 : x;
  double bias = x < 0x1p-1022 ? 1023.0 + 52.0 : 1023.0;
  tarry_u64 u = tarry_bits_f64(scaled) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  split.k = (tarry_from_bits_f64(0x4330000000000000ull | (u >> 52)) - 0x1p52) - bias;
  split.f = tarry_from_bits_f64((u & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
  return split;
}
TARRY_FN double tarry_log_tail_f64(double f, double half_square) {
  double s = f / (2.0 + f), z = s * s;
  double q = 0x1.2f0412dd30a8dp-3;
  q = q * z + 0x1.39a1e17cdcb1dp-3;
  q = q * z + 0x1.74663d25ce8a0p-3;
  q = q * z + 0x1.c71c521391cbep-3;
  q = q * z + 0x1.24924941e1d58p-2;
  q = q * z + 0x1.999999997ff17p-2;
  q = q * z + 0x1.5555555555592p-1;
  return s * (half_square + z * q);
}
// y for x > pole, else the limit at `pole` and NaN below.
//== log_parts_f64 : log_core_f64
#ifndef __CUDACC__
TARRY_FN double tarry_log_edges_f64(double x, double pole, double y) {
  double edge = x == pole ? tarry_from_bits_f64(0xfff0000000000000ull) : tarry_from_bits_f64(0x7ff8000000000000ull);
  y = x > 0x1.fffffffffffffp1023 ? x : y;
  return x > pole ? y : edge;
}
#endif
//== log_f64 : log_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_log_f64(double x) { return log(x); }
#else
TARRY_FN double tarry_log_f64(double x) {
  struct tarry_log_parts_f64 part = tarry_log_split_f64(x);
  double k = part.k, f = part.f, half_square = 0.5 * f * f;
  double small = tarry_log_tail_f64(f, half_square) - k * 0x1.8432a1b0e2634p-43;
  return tarry_log_edges_f64(x, 0.0, k * 0x1.62e42fefa4000p-1 + (f - (half_square - small)));
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
// log(1 + x): 1 + x is rounded to u, and (1 + x) - u over u makes up for it. Where u needs no power of two, f is x.
//== log1p_f64 : log_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_log1p_f64(double x) { return log1p(x); }
#else
TARRY_FN double tarry_log1p_f64(double x) {
  double u = 1.0 + x, missing = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  struct tarry_log_parts_f64 part = tarry_log_split_f64(u);
  double k = part.k, f = k == 0 ? x : part.f, half_square = 0.5 * f * f;
  double small = tarry_log_tail_f64(f, half_square) + ((k == 0 ? 0.0 : missing / u) - k * 0x1.8432a1b0e2634p-43);
  double y = k * 0x1.62e42fefa4000p-1 + (f - (half_square - small));
  return tarry_log_edges_f64(x, -1.0, x == 0 ? x : y);
}
#endif
// Other bases: the leading bits of log(1 + f) have exact products with those of 1 / log(base), the rest is added
// (FreeBSD's e_log2.c). Powers of the base give integers.
//== log_base_parts_f64 : log_parts_f64
#ifndef __CUDACC__
TARRY_FN double tarry_log_base_f64(double x, double high, double low, double two_high, double two_low) {
  struct tarry_log_parts_f64 part = tarry_log_split_f64(x);
  double f = part.f, half_square = 0.5 * f * f;
  double top = tarry_from_bits_f64(tarry_bits_f64(f - half_square) & 0xffffffff00000000ull);
  double rest = ((f - top) - half_square) + tarry_log_tail_f64(f, half_square);
  double integer = part.k * two_high, fraction = top * high, sum = integer + fraction;
  double small = part.k * two_low + (top + rest) * low + rest * high;
  return tarry_log_edges_f64(x, 0.0, sum + (((integer - sum) + fraction) + small));
}
#endif
//== log2_f64 : log_base_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_log2_f64(double x) { return log2(x); }
#else
TARRY_FN double tarry_log2_f64(double x) {
  return tarry_log_base_f64(x, 0x1.7154700000000p0, 0x1.94ae0bf85ddf4p-22, 1.0, 0.0);
}
#endif
//== log10_f64 : log_base_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_log10_f64(double x) { return log10(x); }
#else
TARRY_FN double tarry_log10_f64(double x) {
  return tarry_log_base_f64(x, 0x1.bcb7b00000000p-2, 0x1.526e50e32a6abp-26, 0x1.34413509f8000p-2, -0x1.80433b83b532ap-44);
}
#endif
// exp(t) = 2^n (1 + p + lost), p + lost = exp(r) - 1 with the rounding errors of r and of p. 2^(n-1) comes in two factors,
// half and more: n = 1024 and 1025 occur. Then (exp(t) - 1) / 2 / more = half p + (half - 1/2), and no bit that the sum
// cancels is missing.
//== expm1_parts_f64 : exp_parts_f64
#ifndef __CUDACC__
struct tarry_exp_parts_f64 { double p, lost, half, more; };
TARRY_FN struct tarry_exp_parts_f64 tarry_exp_split_f64(double t) {
  struct tarry_exp_parts_f64 e;
  double shifted = tarry_exp_shifted_f64(t), n = shifted - 0x1.8p52, some = n > 1000.0 ? 0x1.8p52 + 1000.0 : shifted;
  double high = t - n * 0x1.62e42fefa4000p-1, low = n * 0x1.8432a1b0e2634p-43, r = high + low;
  double curve = tarry_exp_curve_f64(r);
  e.p = r + curve;
  e.lost = ((r - e.p) + curve) + ((high - r) + low);
  e.half = tarry_from_bits_f64((tarry_bits_f64(some) + 1022) << 52);
  e.more = tarry_from_bits_f64((tarry_bits_f64(shifted) - tarry_bits_f64(some) + 1023) << 52);
  return e;
}
TARRY_FN double tarry_half_expm1_f64(struct tarry_exp_parts_f64 e) {
  double base = e.half - 0.5, grown = e.half * e.p, sum = base + grown;
  return (sum + (((base - sum) + grown) + e.half * e.lost)) * e.more;
}
#endif
//== expm1_f64 : expm1_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_expm1_f64(double x) { return expm1(x); }
#else
TARRY_FN double tarry_expm1_f64(double x) {
  double t = x > 710.0 ? 710.0 : x;
  t = t < -50.0 ? -50.0 : t;
  struct tarry_exp_parts_f64 e = tarry_exp_split_f64(t);
  double y = e.half == 0.5 ? e.p : 2.0 * tarry_half_expm1_f64(e);
  return x == 0 ? x : y;
}
#endif
// Hyperbolic functions of t = |x|, of which the sign is put back: m + m / (2 m + 1) with m = (exp(t) - 1) / 2, and
// exp(t) / 2 + 1 / (2 exp(t)).
//== sinh_f64 : expm1_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_sinh_f64(double x) { return sinh(x); }
#else
TARRY_FN double tarry_sinh_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double t = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign);
  double m = tarry_half_expm1_f64(tarry_exp_split_f64(t > 711.0 ? 711.0 : t));
  double y = m > 0x1p60 ? m : m + m / (m + (m + 1.0));
  return tarry_from_bits_f64(tarry_bits_f64(t < 0x1p-28 ? t : y) | sign);
}
#endif
//== cosh_f64 : expm1_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_cosh_f64(double x) { return cosh(x); }
#else
TARRY_FN double tarry_cosh_f64(double x) {
  double t = tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull);
  struct tarry_exp_parts_f64 e = tarry_exp_split_f64(t > 711.0 ? 711.0 : t);
  double m = (e.half * e.p + e.half) * e.more;
  return m + 0.25 / m;
}
#endif
//== tanh_f64 : expm1_f64
#ifdef __CUDACC__
TARRY_FN double tarry_tanh_f64(double x) { return tanh(x); }
#else
TARRY_FN double tarry_tanh_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double t = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign);
  double e = tarry_expm1_f64(t > 20.0 ? 40.0 : 2.0 * t);
  double y = t < 0.75 ? e / (e + 2.0) : 1.0 - 2.0 / (e + 2.0);
  return tarry_from_bits_f64(tarry_bits_f64(y) | sign);
}
#endif
// Inverse hyperbolic functions by log1p, which keeps small arguments exact. Beyond 2^60 the argument is doubled by ln 2.
//== asinh_f64 : log1p_f64 sqrt_f64
#ifdef __CUDACC__
TARRY_FN double tarry_asinh_f64(double x) { return asinh(x); }
#else
TARRY_FN double tarry_asinh_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double t = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign);
  double w = t + t * t / (1.0 + tarry_sqrt_f64(1.0 + t * t));
  double y = tarry_log1p_f64(t > 0x1p60 ? t : w) + (t > 0x1p60 ? 0x1.62e42fefa39efp-1 : 0.0);
  return tarry_from_bits_f64(tarry_bits_f64(y) | sign);
}
#endif
//== acosh_f64 : log1p_f64 sqrt_f64
#ifdef __CUDACC__
TARRY_FN double tarry_acosh_f64(double x) { return acosh(x); }
#else
TARRY_FN double tarry_acosh_f64(double x) {
  double u = x - 1.0, w = u + tarry_sqrt_f64(u * (u + 2.0));
  double y = tarry_log1p_f64(x > 0x1p60 ? x : w) + (x > 0x1p60 ? 0x1.62e42fefa39efp-1 : 0.0);
  return x >= 1.0 ? y : tarry_from_bits_f64(0x7ff8000000000000ull);
}
#endif
//== atanh_f64 : log1p_f64
#ifdef __CUDACC__
TARRY_FN double tarry_atanh_f64(double x) { return atanh(x); }
#else
TARRY_FN double tarry_atanh_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double t = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign);
  double y = 0.5 * tarry_log1p_f64(2.0 * t / (1.0 - t));
  return tarry_from_bits_f64(tarry_bits_f64(y) | sign);
}
#endif
// 1 / (1 + exp(-x)), and exp(x) / (1 + exp(x)) below 0, where exp(-x) would overflow.
//== sigmoid_f64 : exp_f64
TARRY_FN double tarry_sigmoid_f64(double x) {
  double e = tarry_exp_f64(x < 0 ? x : -x);
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
//== rsqrt_f64 : sqrt_f64
#ifdef __CUDACC__
TARRY_FN double tarry_rsqrt_f64(double x) { return rsqrt(x); }
#else
TARRY_FN double tarry_rsqrt_f64(double x) { return 1.0 / tarry_sqrt_f64(x); }
#endif
