// Functions of two arguments in float64: pow, hypot, logaddexp.
#pragma once

// The error of a rounded product (Dekker 1971). The parts are cut by masks, which no contraction can harm.
//== product_f64 : core
TARRY_FN double tarry_product_error_f64(double a, double b, double product) {
  double a1 = tarry_from_bits_f64(tarry_bits_f64(a) & 0xfffffffff8000000ull), a2 = a - a1;
  double b1 = tarry_from_bits_f64(tarry_bits_f64(b) & 0xfffffffff8000000ull), b2 = b - b1;
  return (((a1 * b1 - product) + a1 * b2) + a2 * b1) + a2 * b2;
}
struct tarry_pair_f64 { double high, low; };  // the sum of both
// log(x) as a sum of two floats, to about 2^-65: the leading terms k ln2 + 2 s + 2/3 s^3 are kept in two floats each, and
// s^5 Q(s^2) is small enough for one.
//== pow_log_f64 : log_parts_f64 product_f64
#ifndef __CUDACC__
TARRY_FN struct tarry_pair_f64 tarry_pow_log_f64(double x) {
  struct tarry_log_parts_f64 part = tarry_log_split_f64(x);
  double k = part.k, f = part.f;
  double d = 2.0 + f, d_low = f - (d - 2.0);
  double s = f / d, back = s * d;
  double s_low = ((f - back) - tarry_product_error_f64(s, d, back) - s * d_low) / d;
  double z = s * s, z_low = tarry_product_error_f64(s, s, z) + 2.0 * s * s_low;
  double cube = s * z, cube_low = tarry_product_error_f64(s, z, cube) + (s * z_low + s_low * z);
  double third = 0x1.5555555555555p-1 * cube;
  double third_low = tarry_product_error_f64(0x1.5555555555555p-1, cube, third) +
                     (0x1.5555555555555p-1 * cube_low + 0x1.5555555555555p-55 * cube);
  double q = 0x1.0e42cb9132722p-3;
  q = q * z + 0x1.0f7fe6ebeac6ap-3;
  q = q * z + 0x1.3b1eec207cb2ep-3;
  q = q * z + 0x1.745ce9e3130bcp-3;
  q = q * z + 0x1.c71c722d66a53p-3;
  q = q * z + 0x1.2492492457d60p-2;
  q = q * z + 0x1.9999999999b30p-2;
  double twos = k * 0x1.62e42fefa4000p-1, sum = twos + 2.0 * s, high = sum + third;
  double lost = ((twos - sum) + 2.0 * s) + ((sum - high) + third);
  double low = lost + ((2.0 * s_low + third_low) + ((cube * z) * q - k * 0x1.8432a1b0e2634p-43));
  struct tarry_pair_f64 log;
  log.high = high + low;
  log.low = (high - log.high) + low;
  return log;
}
#endif
// exp(y log|x|), where both ends are clamped, then the cases of C's Annex F: an odd y takes over the sign of x, another
// integer drops it, and no integer gives NaN; x^0 and 1^y are 1 even for a NaN, and (-1)^inf is 1.
//== pow_f64 : pow_log_f64 exp_parts_f64 chosen
#ifdef __CUDACC__
TARRY_FN double tarry_pow_f64(double x, double y) { return pow(x, y); }
#else
TARRY_FN double tarry_pow_f64(double x, double y) {
  const double most = 0x1.fffffffffffffp1023;
  const tarry_u64 sign = 0x8000000000000000ull;
  double base = tarry_from_bits_f64(tarry_bits_f64(x) & ~sign), power = tarry_from_bits_f64(tarry_bits_f64(y) & ~sign);
  struct tarry_pair_f64 log = tarry_pow_log_f64(base);
  double t = log.high * y, t_low = tarry_product_error_f64(log.high, y, t) + log.low * y;
  double limit = (base - 1.0) * y > 0 ? 900.0 : -900.0;
  t = tarry_chosen_f64(TARRY_MASK_64(base == 0) | TARRY_MASK_64(base > most), limit, t);
  t = tarry_chosen_f64(TARRY_MASK_64(base == 1), 0.0, t);
  t_low = ((t > 800.0) | (t < -800.0) | (t == 0)) ? 0.0 : t_low;
  t = t > 800.0 ? 800.0 : t;
  t = t < -800.0 ? -800.0 : t;
  double shifted = tarry_exp_shifted_f64(t), n = shifted - 0x1.8p52;
  double r = (t - n * 0x1.62e42fefa4000p-1) + (n * 0x1.8432a1b0e2634p-43 + t_low), e = 1.0 + (r + tarry_exp_curve_f64(r));
  tarry_u64 bits = tarry_bits_f64(shifted), half = bits >> 1;
  double result = e * tarry_from_bits_f64((half + 1023) << 52) * tarry_from_bits_f64((bits - half + 1023) << 52);
  double whole = (power + 0x1p52) - 0x1p52, half_power = 0.5 * power, half_whole = (half_power + 0x1p52) - 0x1p52;
  tarry_u64 integer = TARRY_MASK_64(power >= 0x1p52) | TARRY_MASK_64(whole == power);
  tarry_u64 odd = integer & TARRY_MASK_64(power < 0x1p53) & TARRY_MASK_64(half_whole != half_power);
  tarry_u64 undefined = ~integer & TARRY_MASK_64(x < 0) & TARRY_MASK_64(base <= most);
  tarry_u64 added = (tarry_bits_f64(x) & sign & odd) | (0x7ff8000000000000ull & undefined);
  result = tarry_from_bits_f64(tarry_bits_f64(result) | added);
  result = tarry_chosen_f64(TARRY_MASK_64(x != x) | TARRY_MASK_64(y != y), x + y, result);
  return tarry_chosen_f64(TARRY_MASK_64(x == 1) | TARRY_MASK_64(y == 0), 1.0, result);
}
#endif
// A power of two keeps the squares in range. An infinity wins against a NaN.
//== hypot_f64 : sqrt_f64
#ifdef __CUDACC__
TARRY_FN double tarry_hypot_f64(double x, double y) { return hypot(x, y); }
#else
TARRY_FN double tarry_hypot_f64(double x, double y) {
  double a = tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull);
  double b = tarry_from_bits_f64(tarry_bits_f64(y) & 0x7fffffffffffffffull);
  double most = a > b ? a : b;
  double down = most > 0x1p500 ? 0x1p-600 : (most < 0x1p-400 ? 0x1p600 : 1.0);
  double up = most > 0x1p500 ? 0x1p600 : (most < 0x1p-400 ? 0x1p-600 : 1.0);
  double length = tarry_sqrt_f64((a * down) * (a * down) + (b * down) * (b * down)) * up;
  int infinite = (a > 0x1.fffffffffffffp1023) | (b > 0x1.fffffffffffffp1023);
  return infinite ? tarry_from_bits_f64(0x7ff0000000000000ull) : length;
}
#endif
// exp(x) - less, less 0 or 1, to about 2^-100 of exp(x), or of exp(x) - 1 near 0, for -700 < x < 1: exp(x) = 2^n (1 + e)
// with 16 t = r, a Taylor series whose seven leading terms are pairs, and four times expm1(2 t) = e (e + 2).
//== exp_pair_f64 : product_f64
TARRY_FN struct tarry_pair_f64 tarry_sum_pair_f64(double a, double b, double low) {
  struct tarry_pair_f64 sum;
  double high = a + b, part = high - a, lost = (a - (high - part)) + (b - part) + low;
  sum.high = high + lost;
  sum.low = (high - sum.high) + lost;
  return sum;
}
TARRY_FN struct tarry_pair_f64 tarry_multiply_pair_f64(struct tarry_pair_f64 a, struct tarry_pair_f64 b) {
  double product = a.high * b.high;
  double low = tarry_product_error_f64(a.high, b.high, product) + (a.high * b.low + a.low * b.high);
  return tarry_sum_pair_f64(product, low, 0.0);
}
TARRY_FN struct tarry_pair_f64 tarry_horner_f64(struct tarry_pair_f64 e, struct tarry_pair_f64 t, double high, double low) {
  struct tarry_pair_f64 product = tarry_multiply_pair_f64(e, t);
  return tarry_sum_pair_f64(high, product.high, low + product.low);
}
TARRY_FN struct tarry_pair_f64 tarry_exp_pair_f64(double x, double less) {
  double n = (x * 0x1.71547652b82fep0 + 0x1.8p52) - 0x1.8p52;
  double scale = tarry_from_bits_f64((tarry_bits_f64(n + 0x1.8p52) + 1023) << 52);
  struct tarry_pair_f64 r, t, e;
  r = tarry_sum_pair_f64(x - n * 0x1.62e42fefa4000p-1, n * 0x1.8432a1b0e2000p-43, n * 0x1.8cff81a12a17ep-85);
  t.high = 0.0625 * r.high;
  t.low = 0.0625 * r.low;
  double q = 0x1.93974a8c07c9dp-37;
  q = q * t.high + 0x1.6124613a86d09p-33;
  q = q * t.high + 0x1.1eed8eff8d898p-29;
  q = q * t.high + 0x1.ae64567f544e4p-26;
  q = q * t.high + 0x1.27e4fb7789f5cp-22;
  q = q * t.high + 0x1.71de3a556c734p-19;
  e = tarry_sum_pair_f64(0x1.a01a01a01a01ap-16, q * t.high, 0.0);
  e = tarry_horner_f64(e, t, 0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73);
  e = tarry_horner_f64(e, t, 0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65);
  e = tarry_horner_f64(e, t, 0x1.1111111111111p-7, 0x1.1111111111111p-63);
  e = tarry_horner_f64(e, t, 0x1.5555555555555p-5, 0x1.5555555555555p-59);
  e = tarry_horner_f64(e, t, 0x1.5555555555555p-3, 0x1.5555555555555p-57);
  e = tarry_horner_f64(e, t, 0.5, 0.0);
  e = tarry_horner_f64(e, t, 1.0, 0.0);
  e = tarry_multiply_pair_f64(e, t);
  for (int i = 0; i < 4; ++i) e = tarry_multiply_pair_f64(e, tarry_sum_pair_f64(2.0, e.high, e.low));
  return tarry_sum_pair_f64(scale - less, scale * e.high, scale * e.low);
}
// log(exp(a) + exp(b)) = max + log1p(exp(min - max)), as accurate as max is.
//== logaddexp_parts_f64 : exp_f64 log1p_f64
TARRY_FN double tarry_logaddexp_simple_f64(double a, double b) {
  double most = a > b ? a : b, least = a > b ? b : a;
  double apart = least - most, lost = apart > -800.0 ? (least - apart) - most : 0.0, e = tarry_exp_f64(apart);
  double y = most + tarry_log1p_f64(e + e * lost);
  y = a == b ? a + 0x1.62e42fefa39efp-1 : y;
  return ((a != a) | (b != b)) ? a + b : y;
}
// Where max is negative the terms cancel: the result is log1p of exp(min) + (exp(max) - 1), summed in pairs.
//== logaddexp_f64 : logaddexp_parts_f64 exp_pair_f64
#ifdef __CUDACC__
static __device__ __noinline__
#else
static __attribute__((noinline, unused))
#endif
double tarry_logaddexp_near_f64(double most, double least) {
  struct tarry_pair_f64 above = tarry_exp_pair_f64(most, 1.0), below = tarry_exp_pair_f64(least, 0.0);
  struct tarry_pair_f64 sum = tarry_sum_pair_f64(above.high, below.high, above.low + below.low);
  return tarry_log1p_f64(sum.high) + sum.low / (1.0 + sum.high);
}
TARRY_FN double tarry_logaddexp_f64(double a, double b) {
  double y = tarry_logaddexp_simple_f64(a, b), most = a > b ? a : b, least = a > b ? b : a;
  if ((most < 0) & (y > -0.7) & (least > -700.0)) return tarry_logaddexp_near_f64(most, least);
  return y;
}
