// Trigonometric functions and their inverses.
#pragma once

// x = n pi/2 + r, |r| <= pi/4 (and a hair): the quadrant is n mod 4. Everything is done on |x|, so that -0 stays -0.
//== angle_f64 : core
#ifndef __CUDACC__
struct tarry_angle_f64 { double r; tarry_u64 quadrant; };
#endif
// Below 2^20 three parts of pi/2 have exact products with n (Cody and Waite); the fourth is its remainder. The first
// difference is exact, and so is the second where it cancels; elsewhere its error is added.
//== angle_near_f64 : angle_f64
#ifndef __CUDACC__
TARRY_FN struct tarry_angle_f64 tarry_angle_near_f64(double x) {
  struct tarry_angle_f64 angle;
  double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = shifted - 0x1.8p52;
  double first = x - n * 0x1.921fb54400000p0, second = n * 0x1.0b4611a600000p-34, r = first - second;
  double lost = (first - r) - second;
  angle.r = (r + (lost - n * 0x1.3198a2e000000p-69)) - n * 0x1.b839a252049c1p-104;
  angle.quadrant = tarry_bits_f64(shifted);
  return angle;
}
#endif
// Payne and Hanek: x = m 2^e with an integer m, and of the product m * 2/pi only the bits below 4 matter. A window of 192
// bits of 2/pi gives those to 2^-137. The table begins with a word of zeros.
//== angle_far_f64 : angle_f64
#ifndef __CUDACC__
__extension__ typedef unsigned __int128 tarry_u128;
TARRY_FN struct tarry_angle_f64 tarry_angle_far_f64(double x) {
  static const tarry_u64 two_over_pi[20] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull,
    0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull,
    0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};
  struct tarry_angle_f64 angle;
  tarry_u64 u = tarry_bits_f64(x), m = (u & 0x000fffffffffffffull) | 0x0010000000000000ull;
  tarry_u64 at = (u >> 52) - 1013, shift = at & 63;
  const tarry_u64* word = two_over_pi + (at >> 6);
  tarry_u64 a = (word[0] << shift) | ((word[1] >> 1) >> (63 - shift));
  tarry_u64 b = (word[1] << shift) | ((word[2] >> 1) >> (63 - shift));
  tarry_u64 c = (word[2] << shift) | ((word[3] >> 1) >> (63 - shift));
  tarry_u128 turns = ((tarry_u128)(m * a) << 64) + (tarry_u128)m * b + (((tarry_u128)m * c) >> 64);
  tarry_u64 negative = (tarry_u64)(turns >> 125) & 1;
  angle.quadrant = (tarry_u64)(turns >> 126) + negative;
  turns <<= 2;  // what is left of the nearest quarter turn, signed
  tarry_u128 size = negative ? 0 - turns : turns;
  tarry_u64 upper = (tarry_u64)(size >> 64);
  double high = (double)(tarry_i64)(upper & 0xffffffffffc00000ull);
  double low = (double)(tarry_i64)(upper & 0x00000000003fffffull) + (double)((tarry_u64)size >> 1) * 0x1p-63;
  // high has up to 41 bits; in two parts its products with the parts of pi/2 are exact
  double top = (double)(tarry_i64)(upper & 0xffffffc000000000ull), middle = high - top;
  double r = top * 0x1.921fb5p-64 + (top * 0x1.110b4611a6263p-90 + (middle + low) * 0x1.921fb54442d18p-64);
  angle.r = negative ? -r : r;
  return angle;
}
#endif
// Loops over angles that are all near are vectors; a far one makes them go element by element.
//== angle_full_f64 : angle_near_f64 angle_far_f64
#ifndef __CUDACC__
TARRY_FN tarry_u64 tarry_far_f64(double x) { return !(tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull) < 0x1p20); }
TARRY_FN struct tarry_angle_f64 tarry_angle_full_f64(double x) {
  if (x < 0x1p20) return tarry_angle_near_f64(x);
  return tarry_angle_far_f64(x);
}
#endif
//== wave_f64 : core
#ifndef __CUDACC__
TARRY_FN double tarry_sin_core_f64(double r) {
  double z = r * r;
  double q = 0x1.5d8e37e36d5f5p-33;
  q = q * z - 0x1.ae5e5478c38d2p-26;
  q = q * z + 0x1.71de355f0a6e3p-19;
  q = q * z - 0x1.a01a019bf2252p-13;
  q = q * z + 0x1.111111110f75dp-7;
  q = q * z - 0x1.5555555555548p-3;
  return r + (r * z) * q;
}
TARRY_FN double tarry_cos_core_f64(double r) {
  double z = r * r, half = 0.5 * z, w = 1.0 - half;
  double q = -0x1.8fa69e2878178p-37;
  q = q * z + 0x1.1ee9dc041207cp-29;
  q = q * z - 0x1.27e4f7f1e125ep-22;
  q = q * z + 0x1.a01a019c8f8c6p-16;
  q = q * z - 0x1.6c16c16c15018p-10;
  q = q * z + 0x1.555555555554bp-5;
  return w + (((1.0 - w) - half) + (z * z) * q);
}
TARRY_FN double tarry_wave_f64(double r, tarry_u64 quadrant) {
  double y = (quadrant & 1) != 0 ? tarry_cos_core_f64(r) : tarry_sin_core_f64(r);
  return tarry_from_bits_f64(tarry_bits_f64(y) ^ ((quadrant & 2) << 62));
}
#endif
//== sin_f64 : angle_full_f64 wave_f64
#ifdef __CUDACC__
TARRY_FN double tarry_sin_f64(double x) { return sin(x); }
#else
TARRY_FN double tarry_sin_near_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  struct tarry_angle_f64 angle = tarry_angle_near_f64(tarry_from_bits_f64(tarry_bits_f64(x) ^ sign));
  return tarry_from_bits_f64(tarry_bits_f64(tarry_wave_f64(angle.r, angle.quadrant)) ^ sign);
}
TARRY_FN double tarry_sin_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double size = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign);
  struct tarry_angle_f64 angle = tarry_angle_full_f64(size);
  double y = tarry_from_bits_f64(tarry_bits_f64(tarry_wave_f64(angle.r, angle.quadrant)) ^ sign);
  return size <= 0x1.fffffffffffffp1023 ? y : tarry_from_bits_f64(0x7ff8000000000000ull);
}
#endif
//== cos_f64 : angle_full_f64 wave_f64
#ifdef __CUDACC__
TARRY_FN double tarry_cos_f64(double x) { return cos(x); }
#else
TARRY_FN double tarry_cos_near_f64(double x) {
  struct tarry_angle_f64 angle = tarry_angle_near_f64(tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull));
  return tarry_wave_f64(angle.r, angle.quadrant + 1);
}
TARRY_FN double tarry_cos_f64(double x) {
  double size = tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull);
  struct tarry_angle_f64 angle = tarry_angle_full_f64(size);
  double y = tarry_wave_f64(angle.r, angle.quadrant + 1);
  return size <= 0x1.fffffffffffffp1023 ? y : tarry_from_bits_f64(0x7ff8000000000000ull);
}
#endif
//== tan_f64 : angle_full_f64 wave_f64
#ifdef __CUDACC__
TARRY_FN double tarry_tan_f64(double x) { return tan(x); }
#else
TARRY_FN double tarry_slope_f64(struct tarry_angle_f64 angle) {
  double s = tarry_sin_core_f64(angle.r), c = tarry_cos_core_f64(angle.r);
  return ((angle.quadrant & 1) != 0 ? -c : s) / ((angle.quadrant & 1) != 0 ? s : c);
}
TARRY_FN double tarry_tan_near_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double y = tarry_slope_f64(tarry_angle_near_f64(tarry_from_bits_f64(tarry_bits_f64(x) ^ sign)));
  return tarry_from_bits_f64(tarry_bits_f64(y) ^ sign);
}
TARRY_FN double tarry_tan_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double size = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign);
  double y = tarry_from_bits_f64(tarry_bits_f64(tarry_slope_f64(tarry_angle_full_f64(size))) ^ sign);
  return size <= 0x1.fffffffffffffp1023 ? y : tarry_from_bits_f64(0x7ff8000000000000ull);
}
#endif
// The angle of the point (b, a) in the upper half plane, mirrored at its axis for side -1: base + atan(w) with
// |w| <= tan(pi/8) and base 0, pi/4 or pi/2.
//== atan_parts_f64 : core
#ifndef __CUDACC__
TARRY_FN double tarry_atan_quotient_f64(double a, double b, double side) {
  double steep = 2.414213562373095 * b, middle = 0.41421356237309503 * b;
  double over = a > steep ? -b : (a > middle ? a - b : a), under = a > steep ? a : (a > middle ? a + b : b);
  double w = over / under, z = w * w;
  double q = -0x1.2567cfa949f38p-6;
  q = q * z + 0x1.37d4820165260p-5;
  q = q * z - 0x1.9cd24df01695ap-5;
  q = q * z + 0x1.df0f33abee270p-5;
  q = q * z - 0x1.10ebb6c573206p-4;
  q = q * z + 0x1.3b1118fe3af53p-4;
  q = q * z - 0x1.745cf8db0dccap-4;
  q = q * z + 0x1.c71c70e60767ep-4;
  q = q * z - 0x1.24924922ad587p-3;
  q = q * z + 0x1.999999999586bp-3;
  q = q * z - 0x1.555555555553dp-2;
  double eighths = a > steep ? 2.0 : (a > middle ? 1.0 : 0.0);
  eighths = side < 0 ? 4.0 - eighths : eighths;
  w = w * side;
  return eighths * 0x1.921fb54442d18p-1 + (w + ((w * z) * q + eighths * 0x1.1a62633145c07p-55));
}
#endif
//== atan_f64 : atan_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_atan_f64(double x) { return atan(x); }
#else
TARRY_FN double tarry_atan_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double y = tarry_atan_quotient_f64(tarry_from_bits_f64(tarry_bits_f64(x) ^ sign), 1.0, 1.0);
  return tarry_from_bits_f64(tarry_bits_f64(y) | sign);
}
#endif
// Both infinite is as both 1, both zero as 0 over 1. Scaling keeps sums from overflow and comparisons from denormals.
//== atan2_f64 : atan_parts_f64 chosen
#ifdef __CUDACC__
TARRY_FN double tarry_atan2_f64(double y, double x) { return atan2(y, x); }
#else
TARRY_FN double tarry_atan2_f64(double y, double x) {
  tarry_u64 sign = tarry_bits_f64(y) & 0x8000000000000000ull;
  double a = tarry_from_bits_f64(tarry_bits_f64(y) ^ sign);
  double b = tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull);
  double most = a > b ? a : b, least = a > b ? b : a;
  double scale = most > 0x1p1000 ? 0.25 : (most < 0x1p-900 ? 0x1p100 : 1.0);
  a = least > 0x1.fffffffffffffp1023 ? 1.0 : a * scale;
  b = ((least > 0x1.fffffffffffffp1023) | (most == 0)) ? 1.0 : b * scale;
  double side = tarry_from_bits_f64((tarry_bits_f64(x) & 0x8000000000000000ull) | 0x3ff0000000000000ull);
  double angle = tarry_atan_quotient_f64(a, b, side);
  angle = tarry_from_bits_f64(tarry_bits_f64(angle) | sign);
  return tarry_chosen_f64(TARRY_MASK_64(x != x) | TARRY_MASK_64(y != y), x + y, angle);
}
#endif
// |x| <= 1/2: x + x^3 Q(x^2). Above: pi/2 - 2 asin(s), s = sqrt((1 - |x|)/2), where x^2 becomes s^2.
//== asin_parts_f64 : sqrt_f64
#ifndef __CUDACC__
TARRY_FN double tarry_asin_tail_f64(double z) {
  double q = 0x1.0b499b1e371a9p-5;
  q = q * z - 0x1.580608cea3924p-6;
  q = q * z + 0x1.63a206e014ab4p-6;
  q = q * z + 0x1.e5e4cbb1ee692p-9;
  q = q * z + 0x1.613d8ac3d8d9cp-7;
  q = q * z + 0x1.758561e1fedd9p-7;
  q = q * z + 0x1.ca1f9190b0d04p-7;
  q = q * z + 0x1.1c49f0392cc22p-6;
  q = q * z + 0x1.6e8bdee1bdb46p-6;
  q = q * z + 0x1.f1c71a94ea190p-6;
  q = q * z + 0x1.6db6db721272cp-5;
  q = q * z + 0x1.333333332e131p-4;
  q = q * z + 0x1.5555555555577p-3;
  return z * q;
}
#endif
//== asin_f64 : asin_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_asin_f64(double x) { return asin(x); }
#else
TARRY_FN double tarry_asin_f64(double x) {
  tarry_u64 sign = tarry_bits_f64(x) & 0x8000000000000000ull;
  double t = tarry_from_bits_f64(tarry_bits_f64(x) ^ sign);
  double z = t > 0.5 ? 0.5 * (1.0 - t) : t * t, s = t > 0.5 ? tarry_sqrt_f64(z) : t;
  double tail = s * tarry_asin_tail_f64(z);
  double y = t > 0.5 ? 0x1.921fb54442d18p0 - 2.0 * (s + (tail - 0x1.1a62633145c07p-55)) : s + tail;
  return tarry_from_bits_f64(tarry_bits_f64(y) | sign);
}
#endif
//== acos_f64 : asin_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_acos_f64(double x) { return acos(x); }
#else
TARRY_FN double tarry_acos_f64(double x) {
  double t = tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull);
  double z = t > 0.5 ? 0.5 * (1.0 - t) : t * t, s = t > 0.5 ? tarry_sqrt_f64(z) : x;
  double tail = s * tarry_asin_tail_f64(z);
  double far = x > 0 ? 2.0 * (s + tail) : 0x1.921fb54442d18p1 - 2.0 * (s + (tail - 0x1.1a62633145c07p-54));
  return t > 0.5 ? far : 0x1.921fb54442d18p0 - (s + (tail - 0x1.1a62633145c07p-54));
}
#endif
