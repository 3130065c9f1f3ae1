// Functions of two arguments in float64: pow, hypot, logaddexp.
#pragma once

// The error of a rounded product (Dekker 1971). The parts are cut by masks, which no contraction can harm.
//== product_f64 : core
#ifndef __CUDACC__
TARRY_FN double tarry_product_error_f64(double a, double b, double product) {
  double a1 = tarry_from_bits_f64(tarry_bits_f64(a) & 0xfffffffff8000000ull), a2 = a - a1;
  double b1 = tarry_from_bits_f64(tarry_bits_f64(b) & 0xfffffffff8000000ull), b2 = b - b1;
  return ((a1 * b1 - product) + (a1 * b2 + a2 * b1)) + a2 * b2;
}
#endif
// log(x) as a sum of two floats, to about 2^-65: the leading terms k ln2 + 2 s + 2/3 s^3 are kept in two floats each, and
// s^5 Q(s^2) is small enough for one.
//== pow_log_f64 : log_parts_f64 product_f64
#ifndef __CUDACC__
struct tarry_pair_f64 { double high, low; };
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
//== pow_f64 : pow_log_f64 exp_parts_f64
#ifdef __CUDACC__
TARRY_FN double tarry_pow_f64(double x, double y) { return pow(x, y); }
#else
TARRY_FN double tarry_pow_f64(double x, double y) {
  const double most = 0x1.fffffffffffffp1023;
  double base = tarry_from_bits_f64(tarry_bits_f64(x) & 0x7fffffffffffffffull);
  double power = tarry_from_bits_f64(tarry_bits_f64(y) & 0x7fffffffffffffffull);
  struct tarry_pair_f64 log = tarry_pow_log_f64(base);
  double t = log.high * y, t_low = tarry_product_error_f64(log.high, y, t) + log.low * y;
  int extreme = (base == 0) | (base > most) | (power > most);
  double limit = base == 1 ? 0.0 : ((base > 1) == (y > 0) ? 800.0 : -800.0);
  t = extreme ? limit : t;
  t_low = extreme | (t > 800.0) | (t < -800.0) ? 0.0 : t_low;
  t = t > 800.0 ? 800.0 : t;
  t = t < -800.0 ? -800.0 : t;
  double shifted = tarry_exp_shifted_f64(t), n = shifted - 0x1.8p52;
  double e = 1.0 + tarry_exp_tail_f64((t - n * 0x1.62e42fefa4000p-1) + (n * 0x1.8432a1b0e2634p-43 + t_low));
  tarry_u64 bits = tarry_bits_f64(shifted), half = bits >> 1;
  double result = e * tarry_from_bits_f64((half + 1023) << 52) * tarry_from_bits_f64((bits - half + 1023) << 52);
  double whole = (power + 0x1p52) - 0x1p52, half_power = 0.5 * power, half_whole = (half_power + 0x1p52) - 0x1p52;
  int integer = (power >= 0x1p52) | (whole == power);
  int odd = integer & (power < 0x1p53) & (half_whole != half_power);
  result = (x < 0) & (base <= most) & !integer ? tarry_from_bits_f64(0x7ff8000000000000ull) : result;
  result = odd ? tarry_from_bits_f64(tarry_bits_f64(result) | (tarry_bits_f64(x) & 0x8000000000000000ull)) : result;
  result = (x != x) | (y != y) ? x + y : result;
  return (x == 1) | (y == 0) ? 1.0 : result;
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
// log(exp(a) + exp(b)) = max + log1p(exp(min - max)).
//== logaddexp_f64 : exp_f64 log1p_f64
TARRY_FN double tarry_logaddexp_f64(double a, double b) {
  double most = a > b ? a : b, least = a > b ? b : a, apart = least - most;
  double y = most + tarry_log1p_f64(tarry_exp_f64(apart));
  y = a == b ? a + 0x1.62e42fefa39efp-1 : y;
  return (a != a) | (b != b) ? a + b : y;
}
