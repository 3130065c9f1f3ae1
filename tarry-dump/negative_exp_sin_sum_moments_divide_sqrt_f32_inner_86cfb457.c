// negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457 for x86-64-v4
// key c4b4607df849c62de289d76dbd225f50, 88 parameter bytes
// launch: grid 16, block 1, over () reducing 1000000 in 16 chunks
// build: cc -std=gnu11 -O1 -fgcse -fschedule-insns -fschedule-insns2 -ftree-vectorize -fpeel-loops -march=x86-64-v4 -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv -fno-strict-aliasing -w -mprefer-vector-width=512 -mno-mmx -DTARRY_MAIN -o negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457 negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457.c
typedef signed char tarry_i8;
typedef short tarry_i16;
typedef int tarry_i32;
typedef long long tarry_i64;
typedef unsigned char tarry_u8;
typedef unsigned short tarry_u16;
typedef unsigned int tarry_u32;
typedef unsigned long long tarry_u64;
typedef unsigned short tarry_f16;
typedef unsigned short tarry_bf16;
#define TARRY_PICK_32(C, A, B) ((C) ? (A) : (B))
#define TARRY_FN static inline __attribute__((always_inline, unused))
union tarry_cell_f32 { float value; tarry_u32 bits; };
union tarry_cell_f64 { double value; tarry_u64 bits; };
TARRY_FN tarry_u32 tarry_bits_f32(float x) { union tarry_cell_f32 c; c.value = x; return c.bits; }
TARRY_FN float tarry_from_bits_f32(tarry_u32 u) { union tarry_cell_f32 c; c.bits = u; return c.value; }
TARRY_FN tarry_u64 tarry_bits_f64(double x) { union tarry_cell_f64 c; c.value = x; return c.bits; }
TARRY_FN double tarry_from_bits_f64(tarry_u64 u) { union tarry_cell_f64 c; c.bits = u; return c.value; }
#define TARRY_MASK_32(C) (-(tarry_u32)(C))
#define TARRY_MASK_64(C) (-(tarry_u64)(C))
TARRY_FN float tarry_chosen_f32(tarry_u32 mask, float a, float b) {
  return tarry_from_bits_f32((tarry_bits_f32(a) & mask) | (tarry_bits_f32(b) & ~mask));
}
TARRY_FN double tarry_chosen_f64(tarry_u64 mask, double a, double b) {
  return tarry_from_bits_f64((tarry_bits_f64(a) & mask) | (tarry_bits_f64(b) & ~mask));
}
#define TARRY_PICK(C, A, B) ((C) ? (A) : (B))
#define TARRY_SELECT(S, T, PICK) \
  TARRY_FN T tarry_where_##S(tarry_u8 condition, T a, T b) { return (T)PICK(condition, a, b); }
TARRY_SELECT(f32, float, TARRY_PICK)
TARRY_FN float tarry_negative_f32(float x) { return tarry_from_bits_f32(tarry_bits_f32(x) ^ 0x80000000u); }
TARRY_FN float tarry_sqrt_f32(float x) { return __builtin_sqrtf(x); }
struct tarry_angle_f64 { double r; tarry_u64 quadrant; };
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
TARRY_FN float tarry_exp_f32(float x) {
  tarry_i32 sum = (tarry_i32)tarry_bits_f32(tarry_exp_shifted_f32(x));
  sum = sum < 0x4b40017f ? sum : 0x4b40017f;  // 129 and the two biases
  tarry_u32 n = (tarry_u32)sum, half = n >> 1;
  float low = tarry_from_bits_f32(half << 23), high = tarry_from_bits_f32((n - half) << 23);
  float result = tarry_exp_fraction_f32(x, tarry_from_bits_f32(n)) * low * high;
  return x < -104.0f ? 0.0f : result;
}
TARRY_FN struct tarry_angle_f64 tarry_angle_f32(float x) {
  struct tarry_angle_f64 angle;
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
  double shifted = (double)x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = shifted - 0x1.8p52;
  double near = ((double)x - n * 0x1.921fb54400000p0) - n * 0x1.0b4611a626331p-34;
  angle.r = x < 0x1p20f ? near : far;
  angle.quadrant = x < 0x1p20f ? tarry_bits_f64(shifted) : turns >> 62;
  return angle;
}
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
TARRY_FN float tarry_sin_f32(float x) {
  tarry_u32 sign = tarry_bits_f32(x) & 0x80000000u;
  float size = tarry_from_bits_f32(tarry_bits_f32(x) ^ sign);
  struct tarry_angle_f64 angle = tarry_angle_f32(size);
  float y = tarry_from_bits_f32(tarry_bits_f32(tarry_wave_f32(angle.r, angle.quadrant)) ^ sign);
  return size <= 0x1.fffffep127f ? y : tarry_from_bits_f32(0x7fc00000u);
}
#if defined(__clang__)
#define TARRY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define TARRY_ROLLED
#define TARRY_PLAIN
#define TARRY_GUARDED
#define TARRY_ONCE
#define TARRY_SHUFFLE(PLACES, A, B, ...) __builtin_shufflevector(A, B, __VA_ARGS__)
#define TARRY_LANES(A, PLACES) __builtin_shufflevector(A, PLACES)
#define TARRY_CHOOSE(SUFFIX, MASK, A, B) __builtin_ia32_select##SUFFIX##_512(MASK, A, B)
#else
#define TARRY_INDEPENDENT _Pragma("GCC ivdep")
#define TARRY_ROLLED _Pragma("GCC unroll 1")
#define TARRY_LIGHT "Og", "no-schedule-insns", "no-schedule-insns2", "no-gcse", "no-peel-loops", "no-tree-vectorize", \
  "no-aggressive-loop-optimizations", "no-forward-propagate", "no-cprop-registers", "no-compare-elim", "no-combine-stack-adjustments"
#define TARRY_PLAIN __attribute__((optimize(TARRY_LIGHT, "no-guess-branch-probability", "no-reorder-blocks")))
#define TARRY_GUARDED __attribute__((optimize(TARRY_LIGHT)))
#define TARRY_ONCE __attribute__((optimize("O0")))
#define TARRY_SHUFFLE(PLACES, A, B, ...) __builtin_shuffle(A, B, (PLACES){__VA_ARGS__})
#define TARRY_LANES(A, PLACES) __builtin_shuffle(A, PLACES)
#define TARRY_CHOOSE(SUFFIX, MASK, A, B) __builtin_ia32_blendm##SUFFIX##_512_mask(B, A, MASK)
#endif
#define TARRY_SCALAR __asm__("")
static const float tarry_reciprocals_f32_d67a743d[33] = {0, 1, 0x1p-1f, 0x1.555556p-2f, 0x1p-2f, 0x1.99999ap-3f, 0x1.555556p-3f, 0x1.24924ap-3f, 0x1p-3f, 0x1.c71c72p-4f, 0x1.99999ap-4f, 0x1.745d18p-4f, 0x1.555556p-4f, 0x1.3b13b2p-4f, 0x1.24924ap-4f, 0x1.111112p-4f, 0x1p-4f, 0x1.e1e1e2p-5f, 0x1.c71c72p-5f, 0x1.af286cp-5f, 0x1.99999ap-5f, 0x1.861862p-5f, 0x1.745d18p-5f, 0x1.642c86p-5f, 0x1.555556p-5f, 0x1.47ae14p-5f, 0x1.3b13b2p-5f, 0x1.2f684cp-5f, 0x1.24924ap-5f, 0x1.1a7b96p-5f, 0x1.111112p-5f, 0x1.08421p-5f, 0x1p-5f};
struct tarry_states_60667165 {
  tarry_i64 count;
  float value0[1];
  float mean1[1];
  float m21[1];
};
static TARRY_PLAIN void tarry_states_60667165_merge(struct tarry_states_60667165* a, const struct tarry_states_60667165* b) {
  if (b->count == 0) return;
  {
    enum { j = 0 };
    a->value0[j] = a->value0[j] + b->value0[j];
  }
  {
    const float w = (float)(b->count) / (float)((a->count + b->count));
    const float aw = (float)(a->count) * w;
    {
      enum { j = 0 };
      const float d = b->mean1[j] - a->mean1[j];
      a->mean1[j] = a->mean1[j] + d * w;
      a->m21[j] = (a->m21[j] + b->m21[j]) + (d * d) * aw;
    }
  }
  a->count += b->count;
}
static TARRY_PLAIN __attribute__((noinline)) tarry_i64 tarry_states_60667165_push(struct tarry_states_60667165* stack, tarry_i64 depth, tarry_i64 leaf) {
  for (; (leaf & 1) && depth > 1; leaf >>= 1, --depth) tarry_states_60667165_merge(stack + depth - 2, stack + depth - 1);
  return depth;
}
static TARRY_PLAIN __attribute__((noinline)) float tarry_sum_f32_a9a0a6a9(tarry_i64 n, tarry_i64 length, const float* in) {
  typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
  typedef tarry_i32 places __attribute__((vector_size(32), aligned(4), may_alias));
  if (n <= 32) {
    float value = in[0];
    for (tarry_i64 k = 1; k < length; ++k) value = value + in[k];
    return value;
  }
  float node[16];
  const tarry_i64 blocks = (length + 127) >> 7;
  const vector none = -(vector){};
  float none_y[32] __attribute__((aligned(64))), rest_y[32] __attribute__((aligned(64)));
  if (length & 127) {
    *(vector*)(none_y + 0) = *(vector*)(rest_y + 0) = none;
    *(vector*)(none_y + 8) = *(vector*)(rest_y + 8) = none;
    *(vector*)(none_y + 16) = *(vector*)(rest_y + 16) = none;
    *(vector*)(none_y + 24) = *(vector*)(rest_y + 24) = none;
    const tarry_i64 whole = length & -32, rest = length & 31;
    tarry_i64 k = 0;
    for (; k + 8 <= rest; k += 8) *(vector*)(rest_y + k) = *(const vector*)(in + whole + k);
    for (; k < rest; ++k) { TARRY_SCALAR; rest_y[k] = in[whole + k]; }
  }
  for (tarry_i64 q = 0; q < blocks; ++q) {
    const tarry_i64 m = length - q * 128;
    const float *y0 = in + q * 128, *y1 = y0 + 32, *y2 = y0 + 64, *y3 = y0 + 96;
    if (m < 128) {
      y0 = m < 32 ? rest_y : y0;
      y1 = m < 32 ? none_y : m < 64 ? rest_y : y1;
      y2 = m < 64 ? none_y : m < 96 ? rest_y : y2;
      y3 = m < 96 ? none_y : rest_y;
    }
    const vector s8 = (((((*(const vector*)(y0 + 0) + *(const vector*)(y1 + 0)) + *(const vector*)(y2 + 0)) + *(const vector*)(y3 + 0)) + (((*(const vector*)(y0 + 16) + *(const vector*)(y1 + 16)) + *(const vector*)(y2 + 16)) + *(const vector*)(y3 + 16))) + ((((*(const vector*)(y0 + 8) + *(const vector*)(y1 + 8)) + *(const vector*)(y2 + 8)) + *(const vector*)(y3 + 8)) + (((*(const vector*)(y0 + 24) + *(const vector*)(y1 + 24)) + *(const vector*)(y2 + 24)) + *(const vector*)(y3 + 24))));
    const vector s4 = (s8 + TARRY_SHUFFLE(places, s8, s8, 4, 5, 6, 7, 4, 5, 6, 7));
    const vector s2 = (s4 + TARRY_SHUFFLE(places, s4, s4, 2, 3, 2, 3, 4, 5, 6, 7));
    node[q] = (s2[0] + s2[1]);
    if (q & 1) node[q - 1] = (node[q - 1] + node[q]);
  }
  for (tarry_i64 step = 2; step < blocks; step *= 2)
    for (tarry_i64 at = 0; at + step < blocks; at += 2 * step) node[at] = (node[at] + node[at + step]);
  return node[0];
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_moments_f32_rest_dc69b445(int m, const float* in, float* mean, float* m2) {
  typedef float vector __attribute__((vector_size(64), aligned(4), may_alias));
  typedef tarry_i32 places __attribute__((vector_size(64), aligned(4), may_alias));
  float y0[32] __attribute__((aligned(64)));
  *(vector*)(y0 + 0) = (vector){};
  *(vector*)(y0 + 16) = (vector){};
  {
    int k = 0;
    for (; k + 16 <= (m & 31); k += 16) *(vector*)(y0 + k) = *(const vector*)(in + (m & -32) + k);
    for (; k < (m & 31); ++k) { TARRY_SCALAR; y0[k] = in[(m & -32) + k]; }
  }
  const places lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const vector one = (vector){} + 1;
  vector a[2], b[2], c[2];
  for (int k = 0, l = 0; l < 32; ++k, l += 16) {
    int at = 0;
    vector to = *(const vector*)((at + 32 <= m ? in + at : y0) + l), to2 = {}, count = (vector)((places)one & (lane + l < m));
    for (int step = 2; step <= 4; ++step) {
      at += 32;
      const places there = lane + (at + l) < m;
      const vector x = *(const vector*)((at + 32 <= m ? in + at : y0) + l), old = to, old2 = to2;
      const float w = tarry_reciprocals_f32_d67a743d[(tarry_i64)step];
      const vector d = x - to;
      to = to + d * w;
      to2 = to2 + d * (x - to);
      to = (vector)(((places)(to) & there) | ((places)(old) & ~there)), to2 = (vector)(((places)(to2) & there) | ((places)(old2) & ~there));
      count += (vector)((places)one & there);
    }
    a[k] = to, b[k] = to2, c[k] = count;
  }
  for (int h = 1; h > 0; h /= 2) {
    for (int k = 0; k < h; ++k) {
      const vector ca = c[k], cb = c[k + h], old = a[k], old2 = b[k];
      const vector w = cb / (ca + cb), aw = ca * w;
      const vector e = a[k + h] - a[k];
      a[k] = a[k] + e * w, b[k] = (b[k] + b[k + h]) + (e * e) * aw;
      const places there = (places)(cb > 0);
      a[k] = (vector)(((places)(a[k]) & there) | ((places)(old) & ~there)), b[k] = (vector)(((places)(b[k]) & there) | ((places)(old2) & ~there)), c[k] = ca + cb;
    }
  }
  vector to = a[0], to2 = b[0], count = c[0];
  for (int h = 8; h > 0; h /= 2) {
    const places upper = lane ^ h;
    const vector other = TARRY_LANES(to, upper), other2 = TARRY_LANES(to2, upper), others = TARRY_LANES(count, upper);
    const vector ca = count, cb = others, old = to, old2 = to2;
    const vector w = cb / (ca + cb), aw = ca * w;
    const vector e = other - to;
    to = to + e * w, to2 = (to2 + other2) + (e * e) * aw;
    const places there = (places)(cb > 0);
    to = (vector)(((places)(to) & there) | ((places)(old) & ~there)), to2 = (vector)(((places)(to2) & there) | ((places)(old2) & ~there)), count = ca + cb;
  }
  *mean = to[0], *m2 = to2[0];
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_moments_f32_c80f232f(tarry_i64 n, tarry_i64 length, float* to_mean, float* to_m2, const float* in) {
  if (n <= 32) {
    float mean = in[0], m2 = 0;
    for (tarry_i64 k = 1; k < length; ++k) {
      TARRY_SCALAR;
      const float w = tarry_reciprocals_f32_d67a743d[(k + 1)];
      const float d = in[k] - mean;
      mean = mean + d * w;
      m2 = m2 + d * (in[k] - mean);
    }
    *to_mean = mean, *to_m2 = m2;
    return;
  }
  typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
  typedef tarry_i32 places __attribute__((vector_size(32), aligned(4), may_alias));
  typedef float wide __attribute__((vector_size(64), aligned(4), may_alias));
  float mean[256] __attribute__((aligned(64))), m2[256] __attribute__((aligned(64)));
  const tarry_i64 whole = length / 128;
  const wide w2 = (wide){} + tarry_reciprocals_f32_d67a743d[(tarry_i64)2];
  const wide w3 = (wide){} + tarry_reciprocals_f32_d67a743d[(tarry_i64)3];
  const wide w4 = (wide){} + tarry_reciprocals_f32_d67a743d[(tarry_i64)4];
  const wide w = (wide){} + 0.5f, aw = (float)((tarry_i64)4) * w;
  for (tarry_i64 q = 0; q < whole; ++q) {
    {
      const float* const y0 = in + q * 128;
      wide mean0 = *(const wide*)(y0 + 0), m2_0 = {};
      {
        const wide w = w2, x = *(const wide*)(y0 + 32);
        const wide d = x - mean0;
        mean0 = mean0 + d * w;
        m2_0 = m2_0 + d * (x - mean0);
      }
      {
        const wide w = w3, x = *(const wide*)(y0 + 64);
        const wide d = x - mean0;
        mean0 = mean0 + d * w;
        m2_0 = m2_0 + d * (x - mean0);
      }
      {
        const wide w = w4, x = *(const wide*)(y0 + 96);
        const wide d = x - mean0;
        mean0 = mean0 + d * w;
        m2_0 = m2_0 + d * (x - mean0);
      }
      wide mean16 = *(const wide*)(y0 + 16), m2_16 = {};
      {
        const wide w = w2, x = *(const wide*)(y0 + 48);
        const wide d = x - mean16;
        mean16 = mean16 + d * w;
        m2_16 = m2_16 + d * (x - mean16);
      }
      {
        const wide w = w3, x = *(const wide*)(y0 + 80);
        const wide d = x - mean16;
        mean16 = mean16 + d * w;
        m2_16 = m2_16 + d * (x - mean16);
      }
      {
        const wide w = w4, x = *(const wide*)(y0 + 112);
        const wide d = x - mean16;
        mean16 = mean16 + d * w;
        m2_16 = m2_16 + d * (x - mean16);
      }
      const wide e = mean16 - mean0;
      mean0 = mean0 + e * w, m2_0 = (m2_0 + m2_16) + (e * e) * aw;
      *(wide*)(mean + q * 16) = mean0, *(wide*)(m2 + q * 16) = m2_0;
    }
  }
  vector *const a = (vector*)mean, *const b = (vector*)m2;
  tarry_i64 count = whole * 2;
  for (tarry_i64 apart = 1, size = 8; apart > 0; apart /= 2, size *= 2) {
    const vector w = (vector){} + 0.5f, aw = (float)(size) * w;
    for (tarry_i64 k = 0; 2 * k < count; ++k) {
      const tarry_i64 at = k + (k & -apart);
      vector to = a[at], to2 = b[at];
      const vector from = a[at + apart], from2 = b[at + apart];
      const vector e = from - to;
      to = to + e * w, to2 = (to2 + from2) + (e * e) * aw;
      a[k] = to, b[k] = to2;
    }
    count = (count + 1) / 2;
  }
  for (tarry_i64 size = 16; size < 128; size *= 2) {
    const vector w = (vector){} + 0.5f, aw = (float)(size) * w;
    for (tarry_i64 k = 0; 2 * k < count; ++k) {
      const tarry_i64 at = 2 * k, next = at + 1 < count ? at + 1 : at;
      vector to = TARRY_SHUFFLE(places, a[at], a[next], 0, 8, 1, 9, 2, 10, 3, 11);
      const vector from = TARRY_SHUFFLE(places, a[at], a[next], 4, 12, 5, 13, 6, 14, 7, 15);
      vector to2 = TARRY_SHUFFLE(places, b[at], b[next], 0, 8, 1, 9, 2, 10, 3, 11);
      const vector from2 = TARRY_SHUFFLE(places, b[at], b[next], 4, 12, 5, 13, 6, 14, 7, 15);
      const vector e = from - to;
      to = to + e * w, to2 = (to2 + from2) + (e * e) * aw;
      a[k] = to, b[k] = to2;
    }
    count = (count + 1) / 2;
  }
  static const unsigned char place[16] = {0, 4, 2, 6, 1, 5, 3, 7, 8, 12, 10, 14, 9, 13, 11, 15};
  if (length > whole * 128) tarry_moments_f32_rest_dc69b445((int)(length - whole * 128), in + whole * 128, mean + place[whole], m2 + place[whole]);
  for (tarry_i64 size = 128, step = 1; size < length; size *= 2, step *= 2) {
    for (tarry_i64 at = 0, left = length; left > size; at += 2 * step, left -= 2 * size) {
      const tarry_i64 other = left - size < size ? left - size : size, to = place[at], from = place[at + step];
      const float w = (float)(other) / (float)((size + other)), aw = (float)(size) * w;
      const float e = mean[from] - mean[to];
      mean[to] = mean[to] + e * w, m2[to] = (m2[to] + m2[from]) + (e * e) * aw;
    }
  }
  *to_mean = mean[0], *to_m2 = m2[0];
}
struct tarry_rows_153b6329 {
  const void* parameters;
  void (*begin)(const void* parameters, const tarry_i64* at, tarry_i64 m, char* room);
  void (*points)(const void* parameters, const tarry_i64* at, tarry_i64 m, tarry_i64 k, tarry_i64 length, const void** inputs, char* room);
  void (*finish)(const void* parameters, const tarry_i64* at, tarry_i64 m, const struct tarry_states_60667165* s);
  tarry_i64 n, chunks, chunk_blocks;
  void* scratch;
  const tarry_i64* weight;
  tarry_i64 inner;
  const tarry_i64* tiles;
  int rank;
};
static TARRY_PLAIN tarry_i64 tarry_rows_153b6329_place(const struct tarry_rows_153b6329* walk, tarry_i64 tile, tarry_i64* at) {
  for (int d = walk->rank - 1; d > 0; --d) {
    const tarry_i64 before = tile / walk->tiles[d];
    at[d] = tile - before * walk->tiles[d];
    tile = before;
  }
  at[0] = tile;
  return 1;
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_rows_153b6329_items(const struct tarry_rows_153b6329* walk, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 n = walk->n, chunks = walk->chunks, chunk_blocks = walk->chunk_blocks, blocks = n / 128 + (n % 128 != 0);
  struct tarry_states_60667165* const scratch = (struct tarry_states_60667165*)walk->scratch;
  struct tarry_states_60667165 stack[36];
  const void* inputs[2];
  tarry_i64 at[16];
  char room[16384] __attribute__((aligned(64)));
  for (tarry_i64 item = lo; item < hi; ++item) {
    const tarry_i64 tile = item / chunks, first = (item - tile * chunks) * chunk_blocks;
    const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;
    const tarry_i64 m = tarry_rows_153b6329_place(walk, tile, at);
    tarry_i64 depth = 0;
    const tarry_i64 end = n < last * 128 ? n : last * 128;
    for (tarry_i64 k = first * 128; k < end; k += 2048) {
      const tarry_i64 length = end - k < 2048 ? end - k : 2048;
      walk->points(walk->parameters, at, m, k, length, inputs, room);
      const float* const x0_0 = inputs[0];
      const float* const x1_0 = inputs[1];
      struct tarry_states_60667165* const top = stack + depth;
      top->count = length;
      top->value0[0] = tarry_sum_f32_a9a0a6a9(n, length, x0_0);
      tarry_moments_f32_c80f232f(n, length, top->mean1, top->m21, x1_0);
      ++depth;
      if (((k - first * 128) / 2048) & 1) depth = tarry_states_60667165_push(stack, depth, (k - first * 128) / 2048);
    }
    if (depth > 1) depth = tarry_states_60667165_push(stack, depth, -1);
    if (n == 0) {
      stack->count = 0;
      {
        enum { j = 0 };
        stack->value0[j] = 0;
        stack->mean1[j] = 0;
        stack->m21[j] = 0;
      }
    }
    if (chunks == 1) walk->finish(walk->parameters, at, m, stack);
    else scratch[item] = stack[0];
  }
}
static TARRY_ONCE __attribute__((noinline)) void tarry_rows_153b6329_chunks(const struct tarry_rows_153b6329* walk, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 chunks = walk->chunks;
  const struct tarry_states_60667165* const scratch = (const struct tarry_states_60667165*)walk->scratch;
  struct tarry_states_60667165 stack[36];
  tarry_i64 at[16];
  for (tarry_i64 tile = lo; tile < hi; ++tile) {
    const tarry_i64 m = tarry_rows_153b6329_place(walk, tile, at);
    tarry_i64 depth = 0;
    for (tarry_i64 chunk = 0; chunk < chunks; ++chunk) {
      stack[depth] = scratch[tile * chunks + chunk];
      ++depth;
      if ((chunk) & 1) depth = tarry_states_60667165_push(stack, depth, chunk);
    }
    if (depth > 1) depth = tarry_states_60667165_push(stack, depth, -1);
    walk->finish(walk->parameters, at, m, stack);
  }
}
static __attribute__((noinline)) void tarry_exp_f32_run_10fcfcb8(tarry_i64 n, float* to, const float* x0) {
  if (n == 1) {
    to[0] = tarry_exp_f32(x0[0]);
    return;
  }
  enum { lanes = 16 };
  const tarry_i64 whole = n & -lanes;
  float last0[lanes] __attribute__((aligned(64)));
  if (whole < n) {
    if (n > lanes) {
      for (int l = 0; l < lanes; ++l) last0[l] = x0[n - lanes + l];
    }
    else {
      for (int l = 0; l < lanes; ++l) { TARRY_SCALAR; last0[l] = x0[l < n ? l : 0]; }
    }
  }
  TARRY_INDEPENDENT TARRY_ROLLED
  for (tarry_i64 i = 0; i < whole; ++i) {
    to[i] = tarry_exp_f32(x0[i]);
  }
  if (whole < n) {
    float rest[lanes] __attribute__((aligned(64)));
    for (int l = 0; l < lanes; ++l) rest[l] = tarry_exp_f32(last0[l]);
    if (n > lanes) for (int l = 0; l < lanes; ++l) to[n - lanes + l] = rest[l];
    else for (int l = 0; l < n; ++l) { TARRY_SCALAR; to[l] = rest[l]; }
  }
}
static __attribute__((noinline)) void tarry_sin_f32_run_43a3fc63(tarry_i64 n, float* to, const float* x0) {
  if (n == 1) {
    to[0] = tarry_sin_f32(x0[0]);
    return;
  }
  enum { lanes = 16 };
  const tarry_i64 whole = n & -lanes;
  float last0[lanes] __attribute__((aligned(64)));
  if (whole < n) {
    if (n > lanes) {
      for (int l = 0; l < lanes; ++l) last0[l] = x0[n - lanes + l];
    }
    else {
      for (int l = 0; l < lanes; ++l) { TARRY_SCALAR; last0[l] = x0[l < n ? l : 0]; }
    }
  }
  TARRY_INDEPENDENT TARRY_ROLLED
  for (tarry_i64 i = 0; i < whole; ++i) {
    to[i] = tarry_sin_f32(x0[i]);
  }
  if (whole < n) {
    float rest[lanes] __attribute__((aligned(64)));
    for (int l = 0; l < lanes; ++l) rest[l] = tarry_sin_f32(last0[l]);
    if (n > lanes) for (int l = 0; l < lanes; ++l) to[n - lanes + l] = rest[l];
    else for (int l = 0; l < n; ++l) { TARRY_SCALAR; to[l] = rest[l]; }
  }
}
struct negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_params {
  const float* a0;
  const float* a1;
  float* a2;
  float* a3;
  float s0, s0_pad[1];
  float s1, s1_pad[1];
  float s2, s2_pad[1];
  tarry_i64 n;
  tarry_i64 chunks;
  tarry_i64 chunk_blocks;
  void* scratch;
};
static TARRY_PLAIN void negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_points(const void* parameters, const tarry_i64* at, tarry_i64 m, tarry_i64 k, tarry_i64 length, const void** inputs, char* room) {
  const struct negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_params* const p = parameters;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const float v11 = p->s0;  // scalar at /work/main/examples/quickstart.cpp:15
  const float v16 = p->s1;  // scalar at /work/main/examples/quickstart.cpp:15
  const float v20 = p->s2;  // scalar at /work/main/examples/quickstart.cpp:15
  const float* const b0 = p->a0;
  const float* const b1 = p->a1;
  const float* const a1 = b1;
  const float v5 = a1[0];  // input at /work/main/examples/quickstart.cpp:12
  const float v6 = tarry_negative_f32(v5);  // negative at /work/main/examples/quickstart.cpp:14
  float v7;
  tarry_exp_f32_run_10fcfcb8(1, &v7, (const float[]){v6});
  float v8;
  tarry_sin_f32_run_43a3fc63(1, &v8, (const float[]){v5});
  const float v9 = v7 * v8;  // multiply at /work/main/examples/quickstart.cpp:14
  const float v10 = v9 - v9;  // subtract at /work/main/examples/quickstart.cpp:15
  const tarry_u8 v12 = v10 == v11;  // equal at /work/main/examples/quickstart.cpp:15
  const float v13 = tarry_where_f32(v12, v9, v11);  // where at /work/main/examples/quickstart.cpp:15
  float* const y4 = (float*)(room + 0);
  float* const y14 = (float*)(room + 8192);
  {
    const float* const a0 = b0 + k;
    for (tarry_i64 part = 0, stop; part < length; part = stop) {
      stop = length - part < 256 ? length : part + 256;
      for (tarry_i64 i = part; i < stop; i += 16) __builtin_prefetch(a0 + length + i, 0, 2);
      {
        float f2[272] __attribute__((aligned(64)));
        float f3[272] __attribute__((aligned(64)));
        float f1[272] __attribute__((aligned(64)));
        {
          const tarry_i64 here = part, there = stop;
          {
            tarry_i64 i = here;
            {
              typedef float vector __attribute__((vector_size(64), aligned(4), may_alias));
              for (; i + 16 <= there; i += 16) {
                const vector v0 = *(const vector*)(a0 + i);  // input at /work/main/examples/quickstart.cpp:12
                const vector v1 = -v0;  // negative at /work/main/examples/quickstart.cpp:14
                *(vector*)(f1 + i - here) = v1;
              }
            }
            for (; i < there; ++i) {
              TARRY_SCALAR;
              const float v0 = a0[i];  // input at /work/main/examples/quickstart.cpp:12
              const float v1 = tarry_negative_f32(v0);  // negative at /work/main/examples/quickstart.cpp:14
              f1[i - here] = v1;
            }
          }
          tarry_exp_f32_run_10fcfcb8(there - here, f2, f1);
          tarry_sin_f32_run_43a3fc63(there - here, f3, &a0[here]);
          {
            tarry_i64 i = here;
            {
              typedef float vector __attribute__((vector_size(64), aligned(4), may_alias));
              const vector all_v13 = -(vector){} + v13;
              for (; i + 16 <= there; i += 16) {
                const vector v4 = *(const vector*)(f2 + i - here) * *(const vector*)(f3 + i - here);  // multiply at /work/main/examples/quickstart.cpp:14
                const vector v14 = v4 - all_v13;  // subtract at /work/main/examples/quickstart.cpp:15
                *(vector*)(y4 + i) = v4;
                *(vector*)(y14 + i) = v14;
              }
            }
            for (; i < there; ++i) {
              TARRY_SCALAR;
              const float v4 = f2[i - here] * f3[i - here];  // multiply at /work/main/examples/quickstart.cpp:14
              const float v14 = v4 - v13;  // subtract at /work/main/examples/quickstart.cpp:15
              y4[i] = v4;
              y14[i] = v14;
            }
          }
        }
      }
    }
    inputs[0] = y4;
    inputs[1] = y14;
  }
}
static TARRY_PLAIN void negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_finish(const void* parameters, const tarry_i64* at, tarry_i64 m, const struct tarry_states_60667165* s) {
  const struct negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_params* const p = parameters;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const float v11 = p->s0;  // scalar at /work/main/examples/quickstart.cpp:15
  const float v16 = p->s1;  // scalar at /work/main/examples/quickstart.cpp:15
  const float v20 = p->s2;  // scalar at /work/main/examples/quickstart.cpp:15
  const float* const a1 = p->a1;
  float* const a2 = p->a2;
  float* const a3 = p->a3;
  const float v5 = a1[0];  // input at /work/main/examples/quickstart.cpp:12
  const float v6 = tarry_negative_f32(v5);  // negative at /work/main/examples/quickstart.cpp:14
  float v7;
  tarry_exp_f32_run_10fcfcb8(1, &v7, (const float[]){v6});
  float v8;
  tarry_sin_f32_run_43a3fc63(1, &v8, (const float[]){v5});
  const float v9 = v7 * v8;  // multiply at /work/main/examples/quickstart.cpp:14
  const float v10 = v9 - v9;  // subtract at /work/main/examples/quickstart.cpp:15
  const tarry_u8 v12 = v10 == v11;  // equal at /work/main/examples/quickstart.cpp:15
  const float v13 = tarry_where_f32(v12, v9, v11);  // where at /work/main/examples/quickstart.cpp:15
  const float v15 = s->value0[0];  // sum at /work/main/examples/quickstart.cpp:15
  const float v17 = s->value0[0] * v16;  // multiply at /work/main/examples/quickstart.cpp:15
  a2[0] = v17;
  const float v19 = s->m21[0];  // moments at /work/main/examples/quickstart.cpp:15
  const float v21 = s->m21[0] / v20;  // divide at /work/main/examples/quickstart.cpp:15
  const float v22 = tarry_sqrt_f32(v21);  // sqrt at /work/main/examples/quickstart.cpp:15
  a3[0] = v22;
}
TARRY_ONCE void negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457(const struct negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_params* p, tarry_i64 lo, tarry_i64 hi) {
  const struct tarry_rows_153b6329 walk = {p, 0, negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_points, negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_finish, p->n, p->chunks, p->chunk_blocks, p->scratch, 0, 1, 0, 0};
  tarry_rows_153b6329_items(&walk, lo, hi);
}
TARRY_ONCE void negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_fold(const struct negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_params* p, tarry_i64 lo, tarry_i64 hi) {
  const struct tarry_rows_153b6329 walk = {p, 0, negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_points, negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_finish, p->n, p->chunks, p->chunk_blocks, p->scratch, 0, 1, 0, 0};
  tarry_rows_153b6329_chunks(&walk, lo, hi);
}

#ifdef TARRY_MAIN
/* One launch on buffers filled by a rule; prints a checksum of each buffer that the kernel stores into. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tarry_buffer {
  const char* dtype;
  tarry_u64 bytes;
  unsigned size, exponent; /* bytes of an element; bits of a float's exponent, 1 for bool, 0 for integers */
  int stored;
  unsigned char* host;
  void* device;
};

static tarry_u64 tarry_element(const struct tarry_buffer* b, unsigned number, tarry_u64 i) {
  unsigned h = (unsigned)i * 2654435761u + number * 40503u, k, e = 3;
  h ^= h >> 15;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  if (b->exponent == 0) return 1 + h % 7;
  if (b->exponent == 1) return h % 2;
  k = 8 + h % 64; /* the value is k / 32 */
  while (k >> (e + 1)) ++e;
  const unsigned mantissa = 8 * b->size - 1 - b->exponent;
  const tarry_u64 bias = ((tarry_u64)1 << (b->exponent - 1)) - 1;
  return ((bias + e - 5) << mantissa) | (((tarry_u64)k << (mantissa - e)) & (((tarry_u64)1 << mantissa) - 1));
}

static void tarry_fill(struct tarry_buffer* b, unsigned number) {
  b->host = (unsigned char*)malloc(b->bytes ? b->bytes : 1);
  if (!b->host) {
    fprintf(stderr, "no memory for a buffer of %llu bytes\n", b->bytes);
    exit(1);
  }
  for (tarry_u64 i = 0; i < b->bytes / b->size; ++i) {
    const tarry_u64 value = tarry_element(b, number, i);
    memcpy(b->host + i * b->size, &value, b->size); /* the low bytes come first */
  }
}

static void tarry_print(const struct tarry_buffer* b, unsigned number) {
  tarry_u64 sum = 0xcbf29ce484222325ull;
  if (!b->stored) return;
  for (tarry_u64 i = 0; i < b->bytes; ++i) sum = (sum ^ b->host[i]) * 0x100000001b3ull;
  printf("b%u %s %llu bytes fnv1a %016llx\n", number, b->dtype, b->bytes, sum);
}

int main(void) {
  struct tarry_buffer buffers[] = {
    {"f32", 4000000ull, 4, 8, 0, 0, 0},
    {"f32", 4ull, 4, 8, 1, 0, 0},
    {"f32", 4ull, 4, 8, 1, 0, 0},
  };
  const unsigned count = 3;
  for (unsigned b = 0; b < count; ++b) tarry_fill(buffers + b, b);
  for (unsigned b = 0; b < count; ++b) buffers[b].device = buffers[b].host;
  void* scratch = calloc(385, 1);
  const tarry_u64 words[] = {
    (tarry_u64)(size_t)buffers[0].device,  // a0
    (tarry_u64)(size_t)buffers[0].device,  // a1
    (tarry_u64)(size_t)buffers[1].device,  // a2
    (tarry_u64)(size_t)buffers[2].device,  // a3
    0x0ull,  // s0
    0x3727c5acull,  // s1
    0x49742400ull,  // s2
    (tarry_u64)1000000ll,  // n
    (tarry_u64)16ll,  // chunks
    (tarry_u64)512ll,  // chunk_blocks
    (tarry_u64)(size_t)scratch,  // scratch
  };
  struct negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_params p;
  _Static_assert(sizeof p == sizeof words, "eight bytes a parameter");
  memcpy(&p, words, sizeof p);
  negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457(&p, 0, 16ll);
  negative_exp_sin_sum_moments_divide_sqrt_f32_inner_86cfb457_fold(&p, 0, 1ll);
  for (unsigned b = 0; b < count; ++b) {
    tarry_print(buffers + b, b);
    free(buffers[b].host);
  }
  free(scratch);
  return 0;
}
#endif
