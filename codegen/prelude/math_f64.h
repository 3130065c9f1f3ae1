// Elementary functions in float64.
#pragma once

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
