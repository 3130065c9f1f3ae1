// Elementary functions in float32.
#pragma once

// exp(x) = 2^n exp(r), r = x - n ln2. Adding 1.5 * 2^23 + 254 rounds x / ln2 to n and leaves n + 254, two biases of an
// exponent, in the low bits of the sum, from where a shift moves it into one. ln2 has a high part whose product with n is
// exact.
//== exp_parts_f32 : core
#ifndef __CUDACC__
TARRY_FN float tarry_exp_shifted_f32(float x) { return x * 0x1.715476p0f + 0x1.8001fcp23f; }
TARRY_FN float tarry_exp_fraction_f32(float x, float shifted) {
  float n = shifted - 0x1.8001fcp23f;
  float r = (x - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
  float q = 0x1.6a5190p-10f;
  q = q * r + 0x1.12397ep-7f;
  q = q * r + 0x1.5558acp-5f;
  q = q * r + 0x1.555492p-3f;
  q = q * r + 0x1.fffffcp-2f;
  return 1.0f + (r + (r * r) * q);
}
#endif
// Scaling in two halves lets the result be denormal (rounded once more, in the last product) or overflow to infinity. From
// n = 129 on it always does, so there n stops, as an integer; NaNs pass through the fraction.
//== exp_f32 : exp_parts_f32
#ifdef __CUDACC__
TARRY_FN float tarry_exp_f32(float x) { return expf(x); }
#else
TARRY_FN float tarry_exp_f32(float x) {
  tarry_i32 sum = (tarry_i32)tarry_bits_f32(tarry_exp_shifted_f32(x));
  sum = sum < 0x4b40017f ? sum : 0x4b40017f;  // 129 and the two biases
  tarry_u32 n = (tarry_u32)sum, half = n >> 1;
  float low = tarry_from_bits_f32(half << 23), high = tarry_from_bits_f32((n - half) << 23);
  float result = tarry_exp_fraction_f32(x, tarry_from_bits_f32(n)) * low * high;
  return x < -104.0f ? 0.0f : result;
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
  float scale = tarry_from_bits_f32((tarry_bits_f32(shifted) - 127) << 23);
  float large = 1.0f - tarry_exp_fraction_f32(q, shifted) * scale;
  large = tarry_from_bits_f32(tarry_bits_f32(large) | sign);
  return t <= 1.0f ? x + x * p : large;
}
#endif
// Through float64, which leaves half an ulp and a hair: functions that need more than a few steps to be accurate in
// float32. What follows computes some bits more than float32 has: log(1 + f) = 2 s (1 + z P(z)), s = f / (2 + f), z = s^2,
// and exp(t) = 2^n (1 + p), p = r + r^2 Q(r), r = t - n ln2. Powers of two and of ten have exact logarithms.
//== short_log : log_parts_f64
#ifndef __CUDACC__
TARRY_FN double tarry_short_log_fraction(double f) {
  double s = f / (2.0 + f), z = s * s, p = 0x1.e2f718e06a75bp-4;
  p = p * z + 0x1.2438d31b22dc4p-3;
  p = p * z + 0x1.999a7a9ba9f73p-3;
  p = p * z + 0x1.555554fd94082p-2;
  double twice = s + s;
  return twice + twice * (z * p);
}
TARRY_FN double tarry_short_log(double x, double of_two, double of_e) {
  struct tarry_log_parts_f64 part = tarry_log_split_f64(x);
  return tarry_log_edges_f64(x, 0.0, part.k * of_two + tarry_short_log_fraction(part.f) * of_e);
}
#endif
//== short_expm1 : exp_parts_f64
#ifndef __CUDACC__
TARRY_FN double tarry_short_expm1(double x) {
  double most = x > 128.0 ? 128.0 : x, t = most < -128.0 ? -128.0 : most;
  double shifted = tarry_exp_shifted_f64(t), r = t - (shifted - 0x1.8p52) * 0x1.62e42fefa39efp-1;
  double q = 0x1.a1a164f97c50fp-13;
  q = q * r + 0x1.6d7485859dbc2p-10;
  q = q * r + 0x1.11108f9b2b273p-7;
  q = q * r + 0x1.5554add413d08p-5;
  q = q * r + 0x1.555555890318ap-3;
  q = q * r + 0x1.00000027dea54p-1;
  double scale = tarry_from_bits_f64((tarry_bits_f64(shifted) + 1023) << 52);
  return (scale - 1.0) + scale * (r + (r * r) * q);
}
#endif
//== expm1_f32 : short_expm1
#ifdef __CUDACC__
TARRY_FN float tarry_expm1_f32(float x) { return expm1f(x); }
#else
TARRY_FN float tarry_expm1_f32(float x) { return x == 0.0f ? x : (float)tarry_short_expm1((double)x); }
#endif
//== log1p_f32 : log1p_f64
#ifdef __CUDACC__
TARRY_FN float tarry_log1p_f32(float x) { return log1pf(x); }
#else
TARRY_FN float tarry_log1p_f32(float x) { return (float)tarry_log1p_f64((double)x); }
#endif
//== log2_f32 : short_log
#ifdef __CUDACC__
TARRY_FN float tarry_log2_f32(float x) { return log2f(x); }
#else
TARRY_FN float tarry_log2_f32(float x) { return (float)tarry_short_log((double)x, 1.0, 0x1.71547652b82fep0); }
#endif
//== log10_f32 : short_log
#ifdef __CUDACC__
TARRY_FN float tarry_log10_f32(float x) { return log10f(x); }
#else
TARRY_FN float tarry_log10_f32(float x) {
  return (float)tarry_short_log((double)x, 0x1.34413509f79ffp-2, 0x1.bcb7b1526e50ep-2);
}
#endif
//== asin_f32 : asin_f64
#ifdef __CUDACC__
TARRY_FN float tarry_asin_f32(float x) { return asinf(x); }
#else
TARRY_FN float tarry_asin_f32(float x) { return (float)tarry_asin_f64((double)x); }
#endif
//== acos_f32 : acos_f64
#ifdef __CUDACC__
TARRY_FN float tarry_acos_f32(float x) { return acosf(x); }
#else
TARRY_FN float tarry_acos_f32(float x) { return (float)tarry_acos_f64((double)x); }
#endif
//== atan_f32 : atan_f64
#ifdef __CUDACC__
TARRY_FN float tarry_atan_f32(float x) { return atanf(x); }
#else
TARRY_FN float tarry_atan_f32(float x) { return (float)tarry_atan_f64((double)x); }
#endif
//== sinh_f32 : short_expm1
#ifdef __CUDACC__
TARRY_FN float tarry_sinh_f32(float x) { return sinhf(x); }
#else
TARRY_FN float tarry_sinh_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  double t = (double)tarry_from_bits_f32(tarry_bits_f32(x) ^ sign);
  double grown = tarry_short_expm1(t);
  return tarry_from_bits_f32(tarry_bits_f32((float)(0.5 * (grown + grown / (1.0 + grown)))) | sign);
}
#endif
//== cosh_f32 : short_expm1
#ifdef __CUDACC__
TARRY_FN float tarry_cosh_f32(float x) { return coshf(x); }
#else
TARRY_FN float tarry_cosh_f32(float x) {
  double power = 1.0 + tarry_short_expm1((double)tarry_from_bits_f32(tarry_bits_f32(x) & 0x7fffffffu));
  return (float)(0.5 * (power + 1.0 / power));
}
#endif
//== asinh_f32 : short_log sqrt_f64
#ifdef __CUDACC__
TARRY_FN float tarry_asinh_f32(float x) { return asinhf(x); }
#else
TARRY_FN float tarry_asinh_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  double t = (double)tarry_from_bits_f32(tarry_bits_f32(x) ^ sign);
  float y = (float)tarry_short_log(t + tarry_sqrt_f64(t * t + 1.0), 0x1.62e42fefa39efp-1, 1.0);
  return t < 0x1p-13 ? x : tarry_from_bits_f32(tarry_bits_f32(y) | sign);
}
#endif
//== acosh_f32 : short_log sqrt_f64
#ifdef __CUDACC__
TARRY_FN float tarry_acosh_f32(float x) { return acoshf(x); }
#else
TARRY_FN float tarry_acosh_f32(float x) {
  double t = (double)x, power = t < 1.0 ? -1.0 : t + tarry_sqrt_f64(t * t - 1.0);
  return (float)tarry_short_log(power, 0x1.62e42fefa39efp-1, 1.0);
}
#endif
//== atanh_f32 : short_log
#ifdef __CUDACC__
TARRY_FN float tarry_atanh_f32(float x) { return atanhf(x); }
#else
TARRY_FN float tarry_atanh_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  double t = (double)tarry_from_bits_f32(tarry_bits_f32(x) ^ sign);
  float y = (float)(0.5 * tarry_short_log((1.0 + t) / (1.0 - t), 0x1.62e42fefa39efp-1, 1.0));
  return t < 0x1p-13 ? x : tarry_from_bits_f32(tarry_bits_f32(y) | sign);
}
#endif
//== atan2_f32 : atan2_f64
#ifdef __CUDACC__
TARRY_FN float tarry_atan2_f32(float y, float x) { return atan2f(y, x); }
#else
TARRY_FN float tarry_atan2_f32(float y, float x) { return (float)tarry_atan2_f64((double)y, (double)x); }
#endif
// The squares are exact in float64 and cannot overflow there.
//== hypot_f32 : sqrt_f64
#ifdef __CUDACC__
TARRY_FN float tarry_hypot_f32(float x, float y) { return hypotf(x, y); }
#else
TARRY_FN float tarry_hypot_f32(float x, float y) {
  double a = (double)x, b = (double)y;
  float length = (float)tarry_sqrt_f64(a * a + b * b);
  tarry_u32 u = tarry_bits_f32(x) & 0x7fffffffu, v = tarry_bits_f32(y) & 0x7fffffffu;
  int infinite = (u == 0x7f800000u) | (v == 0x7f800000u);
  return infinite ? tarry_from_bits_f32(0x7f800000u) : length;
}
#endif
//== logaddexp_f32 : logaddexp_parts_f64
TARRY_FN float tarry_logaddexp_f32(float a, float b) { return (float)tarry_logaddexp_simple_f64((double)a, (double)b); }
// In float64 neither the logarithm nor its product with y can lose what float32 shows, and |x|^y needs no care at its ends.
//== pow_f32 : exp_f64 log_f64 chosen
#ifdef __CUDACC__
TARRY_FN float tarry_pow_f32(float x, float y) { return powf(x, y); }
#else
TARRY_FN float tarry_pow_f32(float x, float y) {
  float base = tarry_from_bits_f32(tarry_bits_f32(x) & 0x7fffffffu);
  float power = tarry_from_bits_f32(tarry_bits_f32(y) & 0x7fffffffu);
  float result = (float)tarry_exp_f64((double)y * tarry_log_f64((double)base));
  float whole = (power + 0x1p23f) - 0x1p23f, half_power = 0.5f * power, half_whole = (half_power + 0x1p23f) - 0x1p23f;
  tarry_u32 integer = TARRY_MASK_32(power >= 0x1p23f) | TARRY_MASK_32(whole == power);
  tarry_u32 odd = integer & TARRY_MASK_32(power < 0x1p24f) & TARRY_MASK_32(half_whole != half_power);
  tarry_u32 undefined = ~integer & TARRY_MASK_32(x < 0) & TARRY_MASK_32(base <= 0x1.fffffep127f);
  result = tarry_chosen_f32(undefined, tarry_from_bits_f32(0x7fc00000u), result);
  result = tarry_from_bits_f32(tarry_bits_f32(result) | (tarry_bits_f32(x) & 0x80000000u & odd));
  tarry_u32 one = TARRY_MASK_32(x == 1) | TARRY_MASK_32(y == 0);
  one |= TARRY_MASK_32(base == 1) & TARRY_MASK_32(power > 0x1.fffffep127f);
  return tarry_chosen_f32(one, 1.0f, result);
}
#endif
// The angle in float64: x = n pi/2 + r. Below 2^20 two parts of pi/2 do; above, the bits of 2/pi that matter are
// multiplied as in angle_far_f64. Here 96 do, selected and not loaded, so that loops become vectors.
//== angle_f32 : angle_f64
#ifndef __CUDACC__
TARRY_FN tarry_u32 tarry_far_f32(float x) { return !(tarry_from_bits_f32(tarry_bits_f32(x) & 0x7fffffffu) < 0x1p20f); }
TARRY_FN struct tarry_angle_f64 tarry_angle_near_f32(float x) {
  struct tarry_angle_f64 angle;
  double shifted = (double)x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = shifted - 0x1.8p52;
  angle.r = ((double)x - n * 0x1.921fb54400000p0) - n * 0x1.0b4611a626331p-34;
  angle.quadrant = tarry_bits_f64(shifted);
  return angle;
}
TARRY_FN struct tarry_angle_f64 tarry_angle_f32(float x) {
  struct tarry_angle_f64 near = tarry_angle_near_f32(x), angle;
  tarry_u64 u = tarry_bits_f32(x), m = (u & 0x007fffffu) | 0x00800000u;
  tarry_i64 at = (tarry_i64)(u >> 23) - 120, shift = at & 31;
  tarry_u64 upper = (at & 32) != 0 ? 0xa2f9836e4e441529ull : 0x00000000a2f9836eull;  // of words (0, 1) + at / 32
  tarry_u64 lower = (at & 32) != 0 ? 0xfc2757d1f534ddc0ull : 0x4e441529fc2757d1ull;  // of words (2, 3) + at / 32
  tarry_u64 later = (at & 32) != 0 ? 0xdb6295993c439041ull : 0xf534ddc0db629599ull;  // of words (4, 5) + at / 32
  upper = (at & 128) != 0 ? 0xf534ddc0db629599ull : ((at & 64) != 0 ? lower : upper);
  lower = (at & 128) != 0 ? 0x3c439041fe5163abull : ((at & 64) != 0 ? later : lower);
  upper = (upper << shift) | ((lower >> 1) >> (63 - shift));
  tarry_u64 turns = m * upper + ((m * ((lower << shift) >> 32)) >> 32) + 0x2000000000000000ull;  // half a quarter more
  tarry_u64 rest = turns & 0x3fffffffffffffffull;
  double high = tarry_from_bits_f64(0x4330000000000000ull | (rest >> 31)) - (0x1p52 + 0x1p30);
  double low = tarry_from_bits_f64(0x4330000000000000ull | (rest & 0x7fffffffu)) - 0x1p52;
  double far = high * 0x1.921fb54442d18p-31 + low * 0x1.921fb54442d18p-62;
  angle.r = x < 0x1p20f ? near.r : far;
  angle.quadrant = x < 0x1p20f ? near.quadrant : turns >> 62;
  return angle;
}
#endif
//== wave_f32 : core
#ifndef __CUDACC__
TARRY_FN double tarry_sin_core_f32(double r) {
  double z = r * r;
  double q = 0x1.6cd1b2096a80cp-19;
  q = q * z - 0x1.a00f7e1c6ace7p-13;
  q = q * z + 0x1.1111086918cb8p-7;
  q = q * z - 0x1.5555554c70160p-3;
  return r + (r * z) * q;
}
TARRY_FN double tarry_cos_core_f32(double r) {
  double z = r * r;
  double q = 0x1.99eb4dd72aa12p-16;
  q = q * z - 0x1.6c0c329c49856p-10;
  q = q * z + 0x1.55554a0fb0086p-5;
  return (1.0 - 0.5 * z) + (z * z) * q;
}
TARRY_FN float tarry_wave_f32(double r, tarry_u64 quadrant) {
  double y = (quadrant & 1) != 0 ? tarry_cos_core_f32(r) : tarry_sin_core_f32(r);
  return (float)tarry_from_bits_f64(tarry_bits_f64(y) ^ ((quadrant & 2) << 62));
}
#endif
// CUDA reduces an angle from 105615 on in a loop. Behind the same comparison the compiler leaves that loop out of what it
// copies; without it the value is the same and the text three times as long.
//== sin_f32 : angle_f32 wave_f32
#ifdef __CUDACC__
static __device__ __noinline__ float tarry_sin_far_f32(float x) { return sinf(x); }
TARRY_FN float tarry_sin_f32(float x) { return fabsf(x) >= 105615.0f ? tarry_sin_far_f32(x) : sinf(x); }
#else
TARRY_FN float tarry_sin_near_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  struct tarry_angle_f64 angle = tarry_angle_near_f32(tarry_from_bits_f32(tarry_bits_f32(x) ^ sign));
  return tarry_from_bits_f32(tarry_bits_f32(tarry_wave_f32(angle.r, angle.quadrant)) ^ sign);
}
TARRY_FN float tarry_sin_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  float size = tarry_from_bits_f32(tarry_bits_f32(x) ^ sign);
  struct tarry_angle_f64 angle = tarry_angle_f32(size);
  float y = tarry_from_bits_f32(tarry_bits_f32(tarry_wave_f32(angle.r, angle.quadrant)) ^ sign);
  return size <= 0x1.fffffep127f ? y : tarry_from_bits_f32(0x7fc00000u);
}
#endif
//== cos_f32 : angle_f32 wave_f32
#ifdef __CUDACC__
static __device__ __noinline__ float tarry_cos_far_f32(float x) { return cosf(x); }
TARRY_FN float tarry_cos_f32(float x) { return fabsf(x) >= 105615.0f ? tarry_cos_far_f32(x) : cosf(x); }
#else
TARRY_FN float tarry_cos_near_f32(float x) {
  struct tarry_angle_f64 angle = tarry_angle_near_f32(tarry_from_bits_f32(tarry_bits_f32(x) & 0x7fffffffu));
  return tarry_wave_f32(angle.r, angle.quadrant + 1);
}
TARRY_FN float tarry_cos_f32(float x) {
  float size = tarry_from_bits_f32(tarry_bits_f32(x) & 0x7fffffffu);
  struct tarry_angle_f64 angle = tarry_angle_f32(size);
  float y = tarry_wave_f32(angle.r, angle.quadrant + 1);
  return size <= 0x1.fffffep127f ? y : tarry_from_bits_f32(0x7fc00000u);
}
#endif
//== tan_f32 : angle_f32 wave_f32
#ifdef __CUDACC__
static __device__ __noinline__ float tarry_tan_far_f32(float x) { return tanf(x); }
TARRY_FN float tarry_tan_f32(float x) { return fabsf(x) >= 105615.0f ? tarry_tan_far_f32(x) : tanf(x); }
#else
TARRY_FN float tarry_slope_f32(struct tarry_angle_f64 angle) {
  double s = tarry_sin_core_f32(angle.r), c = tarry_cos_core_f32(angle.r);
  return (float)(((angle.quadrant & 1) != 0 ? -c : s) / ((angle.quadrant & 1) != 0 ? s : c));
}
TARRY_FN float tarry_tan_near_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  float y = tarry_slope_f32(tarry_angle_near_f32(tarry_from_bits_f32(tarry_bits_f32(x) ^ sign)));
  return tarry_from_bits_f32(tarry_bits_f32(y) ^ sign);
}
TARRY_FN float tarry_tan_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  float size = tarry_from_bits_f32(tarry_bits_f32(x) ^ sign);
  float y = tarry_from_bits_f32(tarry_bits_f32(tarry_slope_f32(tarry_angle_f32(size))) ^ sign);
  return size <= 0x1.fffffep127f ? y : tarry_from_bits_f32(0x7fc00000u);
}
#endif
// |x| <= 0.55: x + x^3 Q(x^2). Above: 1 - 2 / (exp(2 |x|) + 1). Beyond the clamp tanh rounds to 1.
//== tanh_f32 : exp_parts_f32
#ifdef __CUDACC__
TARRY_FN float tarry_tanh_f32(float x) { return tanhf(x); }
#else
TARRY_FN float tarry_tanh_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  float t = tarry_from_bits_f32(tarry_bits_f32(x) ^ sign), z = x * x;
  float p = -0x1.9a2a90p-8f;
  p = p * z + 0x1.590ce4p-6f;
  p = p * z - 0x1.b92240p-5f;
  p = p * z + 0x1.110cfcp-3f;
  p = p * z - 0x1.55554ap-2f;
  float twice = t > 10.0f ? 20.0f : 2.0f * t, shifted = tarry_exp_shifted_f32(twice);
  float e = tarry_exp_fraction_f32(twice, shifted) * tarry_from_bits_f32((tarry_bits_f32(shifted) - 127) << 23);
  float y = t <= 0.55f ? t + (t * z) * p : 1.0f - 2.0f / (e + 1.0f);
  return tarry_from_bits_f32(tarry_bits_f32(y) | sign);
}
#endif
// 1 / (1 + exp(-x)), and exp(x) / (1 + exp(x)) below 0, where exp(-x) would overflow.
//== sigmoid_f32 : exp_f32
TARRY_FN float tarry_sigmoid_f32(float x) {
  float e = tarry_exp_f32(x < 0 ? x : -x);
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}
//== rsqrt_f32 : sqrt_f32
#ifdef __CUDACC__
TARRY_FN float tarry_rsqrt_f32(float x) { return rsqrtf(x); }
#else
TARRY_FN float tarry_rsqrt_f32(float x) { return 1.0f / tarry_sqrt_f32(x); }
#endif
