// Elementary functions in float32.
#pragma once

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
  float scale = tarry_from_bits_f32((tarry_bits_f32(shifted) + 127) << 23);
  float large = 1.0f - tarry_exp_fraction_f32(q, shifted) * scale;
  large = tarry_from_bits_f32(tarry_bits_f32(large) | sign);
  return t <= 1.0f ? x + x * p : large;
}
#endif
