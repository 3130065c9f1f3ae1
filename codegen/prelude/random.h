// Random numbers: Philox words and what is made of one. docs/reference/numerics.md, "Random numbers", defines them.
#pragma once

// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). A product of 32-bit words is one
// instruction; ptxas 13.0 adds zeros to its halves unless it is asked for by name.
//== philox : core
struct tarry_block { tarry_u32 a, b, c, d; };
#ifdef __CUDACC__
TARRY_FN tarry_u64 tarry_wide_product(tarry_u32 a, tarry_u32 b) {
  tarry_u64 r;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
  return r;
}
#else
TARRY_FN tarry_u64 tarry_wide_product(tarry_u32 a, tarry_u32 b) { return (tarry_u64)a * b; }
#endif
#define TARRY_PHILOX_ROUND(I) { \
    tarry_u64 p = tarry_wide_product(a, 0xd2511f53u), q = tarry_wide_product(c, 0xcd9e8d57u); \
    a = (tarry_u32)(q >> 32) ^ b ^ (low + I * 0x9e3779b9u); \
    b = (tarry_u32)q; \
    c = (tarry_u32)(p >> 32) ^ d ^ (high + I * 0xbb67ae85u); \
    d = (tarry_u32)p; \
  }
TARRY_FN struct tarry_block tarry_philox(tarry_u32 a, tarry_u32 b, tarry_u32 c, tarry_u32 d, tarry_u64 key) {
  tarry_u32 low = (tarry_u32)key, high = (tarry_u32)(key >> 32);
  struct tarry_block block;
  TARRY_PHILOX_ROUND(0u)
  TARRY_PHILOX_ROUND(1u)
  TARRY_PHILOX_ROUND(2u)
  TARRY_PHILOX_ROUND(3u)
  TARRY_PHILOX_ROUND(4u)
  TARRY_PHILOX_ROUND(5u)
  TARRY_PHILOX_ROUND(6u)
  TARRY_PHILOX_ROUND(7u)
  TARRY_PHILOX_ROUND(8u)
  TARRY_PHILOX_ROUND(9u)
  block.a = a;
  block.b = b;
  block.c = c;
  block.d = d;
  return block;
}
// Block `number` of a draw. The draw's number is in the second word: what becomes of the first and third in two rounds is
// then the same for all draws of a key.
TARRY_FN struct tarry_block tarry_draw(tarry_u64 number, tarry_u64 key, tarry_u32 draw) {
  return tarry_philox((tarry_u32)number, draw, (tarry_u32)(number >> 32), 0, key);
}
// Element i of a draw has word i mod 4 of block i / 4, or the pair i mod 2 of block i / 2.
//== random_bits_u32 : philox
TARRY_FN tarry_u32 tarry_random_bits_u32(tarry_i64 i, tarry_u64 key, tarry_u32 draw) {
  struct tarry_block block = tarry_draw((tarry_u64)i >> 2, key, draw);
  tarry_u32 first = (i & 1) != 0 ? block.b : block.a, second = (i & 1) != 0 ? block.d : block.c;
  return (i & 2) != 0 ? second : first;
}
//== random_bits_u64 : philox
TARRY_FN tarry_u64 tarry_random_bits_u64(tarry_i64 i, tarry_u64 key, tarry_u32 draw) {
  struct tarry_block block = tarry_draw((tarry_u64)i >> 1, key, draw);
  tarry_u64 first = block.a | (tarry_u64)block.b << 32, second = block.c | (tarry_u64)block.d << 32;
  return (i & 1) != 0 ? second : first;
}
// The words of `items` neighbours, from a number on that is a multiple of 4, or of `items` where they are fewer.
//== words_u32 : philox
TARRY_FN void tarry_words_u32(tarry_u32* words, int items, tarry_u64 number, tarry_u64 key, tarry_u32 draw) {
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < items; i += 4) {
    struct tarry_block block = tarry_draw((number >> 2) + (tarry_u64)(i >> 2), key, draw);
    int late = items < 4 && (number & 2) != 0;
    words[i] = late ? block.c : block.a;
    words[i + 1] = late ? block.d : block.b;
    if (items < 4) continue;
    words[i + 2] = block.c;
    words[i + 3] = block.d;
  }
}
//== words_u64 : philox
TARRY_FN void tarry_words_u64(tarry_u64* words, int items, tarry_u64 number, tarry_u64 key, tarry_u32 draw) {
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 0; i < items; i += 2) {
    struct tarry_block block = tarry_draw((number >> 1) + (tarry_u64)(i >> 1), key, draw);
    words[i] = block.a | (tarry_u64)block.b << 32;
    words[i + 1] = block.c | (tarry_u64)block.d << 32;
  }
}
// The words of `count` elements from `number` on; gives the first one's place. Up to 7 words more are drawn around them.
//== fill_u32 : philox
TARRY_FN const tarry_u32* tarry_fill_u32(tarry_u32* words, tarry_i64 number, tarry_i64 count, tarry_u64 key, tarry_u32 draw) {
  tarry_i64 first = number >> 2, blocks = ((number + count + 3) >> 2) - first;
  for (tarry_i64 i = 0; i < blocks; ++i) {
    struct tarry_block block = tarry_draw((tarry_u64)(first + i), key, draw);
    words[4 * i] = block.a;
    words[4 * i + 1] = block.b;
    words[4 * i + 2] = block.c;
    words[4 * i + 3] = block.d;
  }
  return words + (number & 3);
}
//== fill_u64 : philox
TARRY_FN const tarry_u64* tarry_fill_u64(tarry_u64* words, tarry_i64 number, tarry_i64 count, tarry_u64 key, tarry_u32 draw) {
  tarry_i64 first = number >> 1, blocks = ((number + count + 1) >> 1) - first;
  for (tarry_i64 i = 0; i < blocks; ++i) {
    struct tarry_block block = tarry_draw((tarry_u64)(first + i), key, draw);
    words[2 * i] = block.a | (tarry_u64)block.b << 32;
    words[2 * i + 1] = block.c | (tarry_u64)block.d << 32;
  }
  return words + (number & 1);
}
// The upper half of a product.
//== multiply_high_u32 : core
TARRY_FN tarry_u32 tarry_multiply_high_u32(tarry_u32 a, tarry_u32 b) { return (tarry_u32)((tarry_u64)a * b >> 32); }
//== multiply_high_u64 : core
#ifdef __CUDACC__
TARRY_FN tarry_u64 tarry_multiply_high_u64(tarry_u64 a, tarry_u64 b) { return __umul64hi(a, b); }
#else
TARRY_FN tarry_u64 tarry_multiply_high_u64(tarry_u64 a, tarry_u64 b) {
  tarry_u64 al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
  tarry_u64 cross = ah * bl + (al * bl >> 32), other = al * bh + (cross & 0xffffffffu);
  return ah * bh + (cross >> 32) + (other >> 32);
}
#endif
// [0, 1): the highest bits of a word as the fraction of a number in [1, 2), less 1. 23 bits, 52 in float64; the 16-bit
// floats have what is left of 23 after rounding down to a multiple of their last place below 1.
//== uniform_f32 : core
TARRY_FN float tarry_uniform_f32(tarry_u32 word) { return tarry_from_bits_f32(0x3f800000u | word >> 9) - 1.0f; }
//== uniform_f64 : core
TARRY_FN double tarry_uniform_f64(tarry_u64 word) {
  return tarry_from_bits_f64(0x3ff0000000000000ull | word >> 12) - 1.0;
}
//== uniform_f16 : uniform_f32 convert_f16
TARRY_FN tarry_f16 tarry_uniform_f16(tarry_u32 word) { return tarry_narrow_f16(tarry_uniform_f32(word & 0xffe00000u)); }
//== uniform_bf16 : uniform_f32 convert_bf16
TARRY_FN tarry_bf16 tarry_uniform_bf16(tarry_u32 word) { return tarry_narrow_bf16(tarry_uniform_f32(word & 0xff000000u)); }
// The normal quantile of a word, the same bits on every device. The highest bit is the sign; the others, m, stand for the
// probability c = (m + 1/2) / 2^31 that a normal number is less than x in size, x = sqrt(2) erfinv(c). 1 - c is exact where
// it is small. x = c Q(w), w = -log(1 - c^2) (Giles, "Approximating the erfinv function", GPU Computing Gems, 2011), with
// one polynomial for the middle and one, in sqrt(w), for the tails.
//== normal_f32 : sqrt_f32
TARRY_FN float tarry_normal_f32(tarry_u32 word) {
  tarry_u32 sign = word & 0x80000000u, m = sign != 0 ? ~word : word;
  float c = ((float)(tarry_i32)m + 0.5f) * 0x1p-31f, rest = ((float)(tarry_i32)(0x7fffffffu - m) + 0.5f) * 0x1p-31f;
  tarry_u32 u = tarry_bits_f32(rest * (1.0f + c)) - 0x3f3504f3u;
  float k = (float)((tarry_i32)u >> 23), f = tarry_from_bits_f32((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float q = -0x1.a2c5c6p-4f;
  q = q * f + 0x1.4a9182p-3f;
  q = q * f - 0x1.5f942ep-3f;
  q = q * f + 0x1.97c318p-3f;
  q = q * f - 0x1.ff9a26p-3f;
  q = q * f + 0x1.5558e4p-2f;
  float square = f * f, w = -(k * 0x1.62e430p-1f + (f + ((square * f) * q - 0.5f * square)));
  tarry_u8 tail = (tarry_u8)(w >= 5.0f);
  float t = tail ? tarry_sqrt_f32(w) - 3.0f : w - 2.5f;
  q = tail ? -0x1.e940b6p-16f : 0.0f;
  q = q * t + (tail ? 0x1.7d16bap-13f : -0x1.b2e672p-27f);
  q = q * t + (tail ? -0x1.7e4a9ep-12f : 0x1.11c2ecp-25f);
  q = q * t + (tail ? -0x1.e53f4ep-14f : 0x1.639638p-21f);
  q = q * t + (tail ? 0x1.0a5fa0p-9f : -0x1.47b48ap-18f);
  q = q * t + (tail ? -0x1.4bf510p-8f : -0x1.d7f872p-18f);
  q = q * t + (tail ? 0x1.087714p-7f : 0x1.43b7b8p-12f);
  q = q * t + (tail ? -0x1.621488p-7f : -0x1.d06b9cp-10f);
  q = q * t + (tail ? 0x1.b58b84p-7f : -0x1.83292ep-8f);
  q = q * t + (tail ? 0x1.6aa528p0f : 0x1.652c5cp-2f);
  q = q * t + (tail ? 0x1.00696cp2f : 0x1.0fc8bcp1f);
  return tarry_from_bits_f32(tarry_bits_f32(c * q) | sign);
}
// The same of 63 bits, x by Wichura, "Algorithm AS241", Applied Statistics 37(3), 1988: in the middle a rational function
// of q^2 times q = c / 2, else one of sqrt(-log p), p = (1 - c) / 2, for either side of 5.
//== normal_f64 : sqrt_f64 log_core_f64
TARRY_FN double tarry_normal_f64(tarry_u64 word) {
  tarry_u64 sign = word & 0x8000000000000000ull, m = sign != 0 ? ~word : word;
  double q = ((double)(tarry_i64)m + 0.5) * 0x1p-64, p = ((double)(tarry_i64)(0x7fffffffffffffffull - m) + 0.5) * 0x1p-64;
  struct tarry_log_parts_f64 part = tarry_log_split_f64(p);
  double half_square = 0.5 * part.f * part.f;
  double small = tarry_log_tail_f64(part.f, half_square) - part.k * 0x1.8432a1b0e2634p-43;
  double size = tarry_sqrt_f64(-(part.k * 0x1.62e42fefa4000p-1 + (part.f - (half_square - small))));
  tarry_u8 middle = (tarry_u8)(q <= 0.425), far = (tarry_u8)(size > 5.0);
  double r = middle ? 0.180625 - q * q : far ? size - 5.0 : size - 1.6;
#define TARRY_NORMAL_STEP(NAME, MIDDLE, NEAR, FAR) NAME = NAME * r + (middle ? MIDDLE : far ? FAR : NEAR);
  double above = 0.0, below = 0.0;
  TARRY_NORMAL_STEP(above, 2.5090809287301226727e+3, 7.74545014278341407640e-4, 2.01033439929228813265e-7)
  TARRY_NORMAL_STEP(above, 3.3430575583588128105e+4, 2.27238449892691845833e-2, 2.71155556874348757815e-5)
  TARRY_NORMAL_STEP(above, 6.7265770927008700853e+4, 2.41780725177450611770e-1, 1.24266094738807843860e-3)
  TARRY_NORMAL_STEP(above, 4.5921953931549871457e+4, 1.27045825245236838258e+0, 2.65321895265761230930e-2)
  TARRY_NORMAL_STEP(above, 1.3731693765509461125e+4, 3.64784832476320460504e+0, 2.96560571828504891230e-1)
  TARRY_NORMAL_STEP(above, 1.9715909503065514427e+3, 5.76949722146069140550e+0, 1.78482653991729133580e+0)
  TARRY_NORMAL_STEP(above, 1.3314166789178437745e+2, 4.63033784615654529590e+0, 5.46378491116411436990e+0)
  TARRY_NORMAL_STEP(above, 3.3871328727963666080e+0, 1.42343711074968357734e+0, 6.65790464350110377720e+0)
  TARRY_NORMAL_STEP(below, 5.2264952788528545610e+3, 1.05075007164441684324e-9, 2.04426310338993978564e-15)
  TARRY_NORMAL_STEP(below, 2.8729085735721942674e+4, 5.47593808499534494600e-4, 1.42151175831644588870e-7)
  TARRY_NORMAL_STEP(below, 3.9307895800092710610e+4, 1.51986665636164571966e-2, 1.84631831751005468180e-5)
  TARRY_NORMAL_STEP(below, 2.1213794301586595867e+4, 1.48103976427480074590e-1, 7.86869131145613259100e-4)
  TARRY_NORMAL_STEP(below, 5.3941960214247511077e+3, 6.89767334985100004550e-1, 1.48753612908506148525e-2)
  TARRY_NORMAL_STEP(below, 6.8718700749205790830e+2, 1.67638483018380384940e+0, 1.36929880922735805310e-1)
  TARRY_NORMAL_STEP(below, 4.2313330701600911252e+1, 2.05319162663775882187e+0, 5.99832206555887937690e-1)
  TARRY_NORMAL_STEP(below, 1.0, 1.0, 1.0)
  double x = (middle ? above * q : above) / below;
  return tarry_from_bits_f64(tarry_bits_f64(x) | sign);
}
//== normal_f16 : normal_f32 convert_f16
TARRY_FN tarry_f16 tarry_normal_f16(tarry_u32 word) { return tarry_narrow_f16(tarry_normal_f32(word)); }
//== normal_bf16 : normal_f32 convert_bf16
TARRY_FN tarry_bf16 tarry_normal_bf16(tarry_u32 word) { return tarry_narrow_bf16(tarry_normal_f32(word)); }
