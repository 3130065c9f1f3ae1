#ifndef TARRY_INDEPENDENT
#if defined(__clang__)
#define TARRY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define TARRY_ROLLED
#define TARRY_PLAIN
#define TARRY_SHUFFLE(PLACES, A, B, ...) __builtin_shufflevector(A, B, __VA_ARGS__)
#define TARRY_LANES(A, PLACES) __builtin_shufflevector(A, PLACES)
#else
#define TARRY_INDEPENDENT _Pragma("GCC ivdep")
#define TARRY_ROLLED _Pragma("GCC unroll 1")
#define TARRY_PLAIN __attribute__((optimize("Og", "no-schedule-insns", "no-schedule-insns2", "no-gcse", "no-peel-loops", "no-tree-vectorize")))
#define TARRY_SHUFFLE(PLACES, A, B, ...) __builtin_shuffle(A, B, (PLACES){__VA_ARGS__})
#define TARRY_LANES(A, PLACES) __builtin_shuffle(A, PLACES)
#endif
#define TARRY_SCALAR __asm__("")
#endif
struct ENTRY_params {
  const float* a0;
  float* a1;
  tarry_i64 n;
  tarry_i64 chunks;
  tarry_i64 chunk_blocks;
  void* scratch;
};
typedef tarry_u32 ENTRY_v4 __attribute__((vector_size(16)));
static inline ENTRY_v4 ENTRY_low4(ENTRY_v4 a, ENTRY_v4 b) {
  return TARRY_SHUFFLE(ENTRY_v4, a, b, 0, 4, 1, 5);
}
static inline ENTRY_v4 ENTRY_high4(ENTRY_v4 a, ENTRY_v4 b) {
  return TARRY_SHUFFLE(ENTRY_v4, a, b, 2, 6, 3, 7);
}
static __attribute__((noinline)) void ENTRY_turn4(const tarry_u32* from, tarry_i64 pitch, tarry_u32* to, tarry_i64 width, tarry_i64 rows, tarry_i64 columns) {
  tarry_i64 c = 0;
  for (; c + 4 <= columns; c += 4, from += 4 * pitch) {
    tarry_i64 r = 0;
    for (; r + 4 <= rows; r += 4) {
      ENTRY_v4 x0_0, x0_1, x0_2, x0_3;
      __builtin_memcpy(&x0_0, from + r + 0 * pitch, 16);
      __builtin_memcpy(&x0_1, from + r + 1 * pitch, 16);
      __builtin_memcpy(&x0_2, from + r + 2 * pitch, 16);
      __builtin_memcpy(&x0_3, from + r + 3 * pitch, 16);
      const ENTRY_v4 x1_0 = ENTRY_low4(x0_0, x0_2), x1_1 = ENTRY_high4(x0_0, x0_2);
      const ENTRY_v4 x1_2 = ENTRY_low4(x0_1, x0_3), x1_3 = ENTRY_high4(x0_1, x0_3);
      const ENTRY_v4 x2_0 = ENTRY_low4(x1_0, x1_2), x2_1 = ENTRY_high4(x1_0, x1_2);
      const ENTRY_v4 x2_2 = ENTRY_low4(x1_1, x1_3), x2_3 = ENTRY_high4(x1_1, x1_3);
      __builtin_memcpy(to + (r + 0) * width + c, &x2_0, 16);
      __builtin_memcpy(to + (r + 1) * width + c, &x2_1, 16);
      __builtin_memcpy(to + (r + 2) * width + c, &x2_2, 16);
      __builtin_memcpy(to + (r + 3) * width + c, &x2_3, 16);
    }
    for (; r < rows; ++r) for (int k = 0; k < 4; ++k) to[r * width + c + k] = from[r + k * pitch];
  }
  for (; c < columns; ++c, from += pitch) for (tarry_i64 r = 0; r < rows; ++r) to[r * width + c] = from[r];
}
static __attribute__((noinline)) void ENTRY_fill0(float* x, tarry_i64 from, tarry_i64 to) {
  for (tarry_i64 i = from; i < to; ++i) x[i] = -0.0f;
}
static const unsigned char ENTRY_left[12] = {0, 2, 4, 6, 1, 1, 5, 5, 3, 3, 3, 3}, ENTRY_right[12] = {1, 3, 5, 7, 2, 3, 6, 7, 4, 5, 6, 7};
struct ENTRY_state {
  float r0[1];
};
static void ENTRY_clear(struct ENTRY_state* s) {
  ENTRY_fill0(s->r0, 0, 1);
}
static __attribute__((noinline)) void ENTRY_node0(const float* x, int quarters, float* node) {
  float lane[512];
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 512; ++l) {
    lane[l] = x[l];
  }
  for (int k = 1; k < quarters; ++k) {
    TARRY_INDEPENDENT
    for (tarry_i64 l = 0; l < 512; ++l) {
      lane[l] = lane[l] + x[l + k * 512];
    }
  }
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 256; ++l) {
    lane[l] = lane[l] + lane[l + 256];
  }
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 128; ++l) {
    lane[l] = lane[l] + lane[l + 128];
  }
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 64; ++l) {
    lane[l] = lane[l] + lane[l + 64];
  }
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 32; ++l) {
    lane[l] = lane[l] + lane[l + 32];
  }
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 16; ++l) {
    node[l] = lane[l] + lane[l + 16];
  }
}
static __attribute__((noinline)) void ENTRY_block0(float* x, int quarters, const float* offset) {
  float rows[16], through[128];
  ENTRY_fill0(rows, 0, 16);
  for (int k = 0; k < quarters; ++k, x += 512) {
    for (int q = 0; q < 8; ++q) {
      float* const own = x + q * 64;
      TARRY_INDEPENDENT
      for (tarry_i64 j = 0; j < 16; ++j) {
        own[j + 16] = own[j + 0] + own[j + 16];
        own[j + 32] = own[j + 16] + own[j + 32];
        own[j + 48] = own[j + 32] + own[j + 48];
        through[q * 16 + j] = own[j + 48];
      }
    }
    for (int s = 0; s < 12; ++s) {
      const float* const left = through + ENTRY_left[s] * 16;
      float* const right = through + ENTRY_right[s] * 16;
      TARRY_INDEPENDENT
      for (tarry_i64 j = 0; j < 16; ++j) {
        right[j] = left[j] + right[j];
      }
    }
    for (int q = 0; q < 8; ++q) {
      float* const own = x + q * 64;
      TARRY_INDEPENDENT
      for (tarry_i64 j = 0; j < 16; ++j) {
        float before = offset[j] + rows[j];
        if (q > 0) before = before + through[q * 16 - 16 + j];
        own[j + 0] = before + own[j + 0];
        own[j + 16] = before + own[j + 16];
        own[j + 32] = before + own[j + 32];
        own[j + 48] = before + own[j + 48];
      }
    }
    TARRY_INDEPENDENT
    for (tarry_i64 j = 0; j < 16; ++j) {
      rows[j] = rows[j] + through[j + 112];
    }
  }
}
static __attribute__((noinline)) void ENTRY_push(struct ENTRY_state* node, struct ENTRY_state* fold, int* depth, tarry_i64 at, const struct ENTRY_state* start, const struct ENTRY_state* s) {
  int d = *depth;
  struct ENTRY_state sum = *s;
  for (; at & 1; at >>= 1) {
    --d;
    TARRY_INDEPENDENT
    for (tarry_i64 j = 0; j < 1; ++j) {
      sum.r0[j] = node[d].r0[j] + sum.r0[j];
    }
  }
  const struct ENTRY_state* const before = d == 0 ? start : &fold[d - 1];
  node[d] = sum;
  TARRY_INDEPENDENT
  for (tarry_i64 j = 0; j < 1; ++j) {
    fold[d].r0[j] = before->r0[j] + sum.r0[j];
  }
  *depth = d + 1;
}
static __attribute__((noinline)) void ENTRY_blocks(const struct ENTRY_params* p, tarry_i64 j0, tarry_i64 first, tarry_i64 last, const struct ENTRY_state* start, struct ENTRY_state* whole) {
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const float* const b0 = p->a0;
  float* const b1 = p->a1;
  struct ENTRY_state node[36], fold[36];
  int depth = 0;
  float x0[2048] __attribute__((aligned(64)));
  float y0[2048] __attribute__((aligned(64)));
  float node0[16], offset0[16];
  for (tarry_i64 block = first; block < last; block += 16) {
    const tarry_i64 lines = last - block < 16 ? last - block : 16;
    const int quarters = 4;
    ENTRY_fill0(y0, lines * 128, 2048);
    for (tarry_i64 line = 0; line < lines; ++line) {
      const tarry_i64 k = (block + line) * 128, length = n - k < 128 ? n - k : 128;
      const float* const a0 = b0 + k;
      float* const a1 = b1 + k;
      for (tarry_i64 i = 0; i < length; i += 16) __builtin_prefetch(a0 + 16 * 128 + i, 0, 2);
      for (tarry_i64 i = 0; i < length; i += 16) __builtin_prefetch(a1 + 16 * 128 + i, 1, 2);
      {
        TARRY_INDEPENDENT
        for (tarry_i64 i = 0; i < length; ++i) {
          const float v0 = a0[i];
          y0[line * 128 + i] = v0;
        }
      }
      ENTRY_fill0(y0, line * 128 + length, line * 128 + quarters * 32);
    }
    ENTRY_turn4((const tarry_u32*)y0, 128, (tarry_u32*)x0, 16, quarters * 32, 16);
    ENTRY_node0(x0, quarters, node0);
    for (tarry_i64 line = 0; line < lines; ++line) {
      const struct ENTRY_state* const before = depth == 0 ? start : &fold[depth - 1];
      struct ENTRY_state sum;
      offset0[line] = before->r0[0], sum.r0[0] = node0[line];
      ENTRY_push(node, fold, &depth, block + line - first, start, &sum);
    }
    if (whole) continue;
    ENTRY_block0(x0, quarters, offset0);
    ENTRY_turn4((const tarry_u32*)x0, 16, (tarry_u32*)y0, 128, 16, quarters * 32);
    for (tarry_i64 line = 0; line < lines; ++line) {
      const tarry_i64 k = (block + line) * 128, length = n - k < 128 ? n - k : 128;
      const float* const a0 = b0 + k;
      float* const a1 = b1 + k;
      {
        TARRY_INDEPENDENT
        for (tarry_i64 i = 0; i < length; ++i) {
          const float v1 = y0[line * 128 + i];
          a1[i] = y0[line * 128 + i];
        }
      }
    }
  }
  if (whole) *whole = node[0];
}
TARRY_PLAIN void ENTRY(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const tarry_i64 tiles = (1 + 0) / 1;
  const tarry_i64 blocks = n / 128 + (n % 128 != 0);
  struct ENTRY_state* const scratch = (struct ENTRY_state*)p->scratch;
  struct ENTRY_state nothing;
  ENTRY_clear(&nothing);
  for (tarry_i64 item = lo; item < hi; ++item) {
    const tarry_i64 at = item / chunks, chunk = item - at * chunks;
    const tarry_i64 first = chunk * chunk_blocks;
    const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;
    const tarry_i64 row = at / tiles, j0 = (at - row * tiles) * 1;
    (void)row;
    if (chunks == 1) ENTRY_blocks(p, j0, first, last, &nothing, 0);
    else if (chunk + 1 < chunks) ENTRY_blocks(p, j0, first, last, &nothing, scratch + item);
  }
}
TARRY_PLAIN void ENTRY_fold(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const tarry_i64 tiles = (1 + 0) / 1;
  const tarry_i64 blocks = n / 128 + (n % 128 != 0);
  struct ENTRY_state* const scratch = (struct ENTRY_state*)p->scratch;
  struct ENTRY_state nothing;
  ENTRY_clear(&nothing);
  struct ENTRY_state node[36], fold[36];
  int depth = 0;
  tarry_i64 next = 0;
  for (tarry_i64 item = lo; item < hi; ++item) {
    const tarry_i64 at = item / chunks, chunk = item - at * chunks;
    const tarry_i64 first = chunk * chunk_blocks;
    const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;
    const tarry_i64 row = at / tiles, j0 = (at - row * tiles) * 1;
    (void)row;
    if (item == lo || chunk == 0) next = 0, depth = 0;
    for (; next < chunk; ++next) ENTRY_push(node, fold, &depth, next, &nothing, scratch + at * chunks + next);
    ENTRY_blocks(p, j0, first, last, depth == 0 ? &nothing : &fold[depth - 1], 0);
  }
}
