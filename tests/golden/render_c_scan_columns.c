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
  tarry_i64 r0;
  float* a1;
  tarry_i64 r1;
  tarry_i64 count;
  tarry_i64 n;
  tarry_i64 chunks;
  tarry_i64 chunk_blocks;
  void* scratch;
};
static __attribute__((noinline)) void ENTRY_fill0(float* x, tarry_i64 from, tarry_i64 to) {
  for (tarry_i64 i = from; i < to; ++i) x[i] = -0.0f;
}
static const unsigned char ENTRY_left[12] = {0, 2, 4, 6, 1, 1, 5, 5, 3, 3, 3, 3}, ENTRY_right[12] = {1, 3, 5, 7, 2, 3, 6, 7, 4, 5, 6, 7};
struct ENTRY_state {
  float r0[32];
};
static void ENTRY_clear(struct ENTRY_state* s) {
  ENTRY_fill0(s->r0, 0, 32);
}
static __attribute__((noinline)) void ENTRY_node0(const float* x, int quarters, float* node) {
  float lane[1024];
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 1024; ++l) {
    lane[l] = x[l];
  }
  for (int k = 1; k < quarters; ++k) {
    TARRY_INDEPENDENT
    for (tarry_i64 l = 0; l < 1024; ++l) {
      lane[l] = lane[l] + x[l + k * 1024];
    }
  }
  TARRY_INDEPENDENT
  for (tarry_i64 l = 0; l < 512; ++l) {
    lane[l] = lane[l] + lane[l + 512];
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
    node[l] = lane[l] + lane[l + 32];
  }
}
static __attribute__((noinline)) void ENTRY_block0(float* x, int quarters, const float* offset) {
  float rows[32], through[256];
  ENTRY_fill0(rows, 0, 32);
  for (int k = 0; k < quarters; ++k, x += 1024) {
    for (int q = 0; q < 8; ++q) {
      float* const own = x + q * 128;
      TARRY_INDEPENDENT
      for (tarry_i64 j = 0; j < 32; ++j) {
        own[j + 32] = own[j + 0] + own[j + 32];
        own[j + 64] = own[j + 32] + own[j + 64];
        own[j + 96] = own[j + 64] + own[j + 96];
        through[q * 32 + j] = own[j + 96];
      }
    }
    for (int s = 0; s < 12; ++s) {
      const float* const left = through + ENTRY_left[s] * 32;
      float* const right = through + ENTRY_right[s] * 32;
      TARRY_INDEPENDENT
      for (tarry_i64 j = 0; j < 32; ++j) {
        right[j] = left[j] + right[j];
      }
    }
    for (int q = 0; q < 8; ++q) {
      float* const own = x + q * 128;
      TARRY_INDEPENDENT
      for (tarry_i64 j = 0; j < 32; ++j) {
        float before = offset[j] + rows[j];
        if (q > 0) before = before + through[q * 32 - 32 + j];
        own[j + 0] = before + own[j + 0];
        own[j + 32] = before + own[j + 32];
        own[j + 64] = before + own[j + 64];
        own[j + 96] = before + own[j + 96];
      }
    }
    TARRY_INDEPENDENT
    for (tarry_i64 j = 0; j < 32; ++j) {
      rows[j] = rows[j] + through[j + 224];
    }
  }
}
static __attribute__((noinline)) void ENTRY_push(struct ENTRY_state* node, struct ENTRY_state* fold, int* depth, tarry_i64 at, const struct ENTRY_state* start, const struct ENTRY_state* s) {
  int d = *depth;
  struct ENTRY_state sum = *s;
  for (; at & 1; at >>= 1) {
    --d;
    TARRY_INDEPENDENT
    for (tarry_i64 j = 0; j < 32; ++j) {
      sum.r0[j] = node[d].r0[j] + sum.r0[j];
    }
  }
  const struct ENTRY_state* const before = d == 0 ? start : &fold[d - 1];
  node[d] = sum;
  TARRY_INDEPENDENT
  for (tarry_i64 j = 0; j < 32; ++j) {
    fold[d].r0[j] = before->r0[j] + sum.r0[j];
  }
  *depth = d + 1;
}
static __attribute__((noinline)) void ENTRY_blocks(const struct ENTRY_params* p, tarry_i64 j0, tarry_i64 m, tarry_i64 first, tarry_i64 last, const struct ENTRY_state* start, struct ENTRY_state* whole) {
  const tarry_i64 r0 = p->r0;
  const tarry_i64 r1 = p->r1;
  const tarry_i64 count = p->count;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const float* const b0 = p->a0 + j0;
  float* const b1 = p->a1 + j0;
  struct ENTRY_state node[36], fold[36];
  int depth = 0;
  float x0[4096] __attribute__((aligned(64)));
  if (m < 32)
  ENTRY_fill0(x0, 0, 4096);
  float node0[32], offset0[32];
  for (tarry_i64 block = first; block < last; block += 1) {
    const tarry_i64 length = n - block * 128 < 128 ? n - block * 128 : 128;
    const int quarters = (int)((length + 31) / 32);
    for (tarry_i64 k = 0; k < length; ++k) {
      const float* const a0 = b0 + (block * 128 + k) * r0;
      float* const a1 = b1 + (block * 128 + k) * r1;
      for (tarry_i64 i = 0; i < m; i += 16) __builtin_prefetch(a0 + 16 * r0 + i, 0, 2);
      for (tarry_i64 i = 0; i < m; i += 16) __builtin_prefetch(a1 + 16 * r1 + i, 1, 2);
      {
        TARRY_INDEPENDENT
        for (tarry_i64 i = 0; i < m; ++i) {
          const float v0 = a0[i];
          x0[k * 32 + i] = v0;
        }
      }
    }
    ENTRY_fill0(x0, length * 32, quarters * 1024);
    ENTRY_node0(x0, quarters, node0);
    const struct ENTRY_state* const before = depth == 0 ? start : &fold[depth - 1];
    struct ENTRY_state sum;
    for (int j = 0; j < 32; ++j) offset0[j] = before->r0[j], sum.r0[j] = node0[j];
    ENTRY_push(node, fold, &depth, block - first, start, &sum);
    if (whole) continue;
    ENTRY_block0(x0, quarters, offset0);
    for (tarry_i64 k = 0; k < length; ++k) {
      const float* const a0 = b0 + (block * 128 + k) * r0;
      float* const a1 = b1 + (block * 128 + k) * r1;
      {
        TARRY_INDEPENDENT
        for (tarry_i64 i = 0; i < m; ++i) {
          const float v1 = x0[k * 32 + i];
          a1[i] = x0[k * 32 + i];
        }
      }
    }
  }
  if (whole) *whole = node[0];
}
TARRY_PLAIN void ENTRY(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 r0 = p->r0;
  const tarry_i64 r1 = p->r1;
  const tarry_i64 count = p->count;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const tarry_i64 tiles = (count + 31) / 32;
  const tarry_i64 blocks = n / 128 + (n % 128 != 0);
  struct ENTRY_state* const scratch = (struct ENTRY_state*)p->scratch;
  struct ENTRY_state nothing;
  ENTRY_clear(&nothing);
  for (tarry_i64 item = lo; item < hi; ++item) {
    const tarry_i64 at = item / chunks, chunk = item - at * chunks;
    const tarry_i64 first = chunk * chunk_blocks;
    const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;
    const tarry_i64 row = at / tiles, j0 = (at - row * tiles) * 32;
    (void)row;
    const tarry_i64 m = count - j0 < 32 ? count - j0 : 32;
    if (chunks == 1) ENTRY_blocks(p, j0, m, first, last, &nothing, 0);
    else if (chunk + 1 < chunks) ENTRY_blocks(p, j0, m, first, last, &nothing, scratch + item);
  }
}
TARRY_PLAIN void ENTRY_fold(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 r0 = p->r0;
  const tarry_i64 r1 = p->r1;
  const tarry_i64 count = p->count;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const tarry_i64 tiles = (count + 31) / 32;
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
    const tarry_i64 row = at / tiles, j0 = (at - row * tiles) * 32;
    (void)row;
    const tarry_i64 m = count - j0 < 32 ? count - j0 : 32;
    if (item == lo || chunk == 0) next = 0, depth = 0;
    for (; next < chunk; ++next) ENTRY_push(node, fold, &depth, next, &nothing, scratch + at * chunks + next);
    ENTRY_blocks(p, j0, m, first, last, depth == 0 ? &nothing : &fold[depth - 1], 0);
  }
}
