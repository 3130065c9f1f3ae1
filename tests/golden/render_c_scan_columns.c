static __attribute__((noinline)) void tarry_fill_f32(float* x, tarry_i64 from, tarry_i64 to) {
  tarry_i64 i = from;
  for (; i < to; ++i) x[i] = -0.0f;
}
static __attribute__((noinline)) void tarry_cumulative_sum_node_f32(const float* x, int quarters, float* node) {
  float lane[1024] __attribute__((aligned(64)));
  const float* from = x;
  for (int k = 1; k < quarters; ++k) {
    TARRY_INDEPENDENT
    for (tarry_i64 j = 0; j < 1024; ++j) {
      lane[j] = from[j] + x[k * 1024 + j];
    }
    from = lane;
  }
  for (int d = 512; d >= 32; d /= 2, from = lane) {
    float* const to = d > 32 ? lane : node;
    TARRY_INDEPENDENT TARRY_ROLLED
    for (tarry_i64 j = 0; j < d; ++j) {
      to[j] = from[j] + from[d + j];
    }
  }
}
static __attribute__((noinline)) void tarry_cumulative_sum_block_f32(float* x, int quarters, const float* offset) {
  float rows[32] __attribute__((aligned(64)));
  tarry_fill_f32(rows, 0, 32);
  for (int k = 0; k < quarters; ++k, x += 1024) {
    TARRY_INDEPENDENT
    for (tarry_i64 j = 0; j < 32; ++j) {
      float quad0 = (((x[j] + x[32 + j]) + x[64 + j]) + x[96 + j]);
      float quad1 = (((x[128 + j] + x[160 + j]) + x[192 + j]) + x[224 + j]);
      float quad2 = (((x[256 + j] + x[288 + j]) + x[320 + j]) + x[352 + j]);
      float quad3 = (((x[384 + j] + x[416 + j]) + x[448 + j]) + x[480 + j]);
      float quad4 = (((x[512 + j] + x[544 + j]) + x[576 + j]) + x[608 + j]);
      float quad5 = (((x[640 + j] + x[672 + j]) + x[704 + j]) + x[736 + j]);
      float quad6 = (((x[768 + j] + x[800 + j]) + x[832 + j]) + x[864 + j]);
      float quad7 = (((x[896 + j] + x[928 + j]) + x[960 + j]) + x[992 + j]);
      quad1 = quad0 + quad1;
      quad3 = quad2 + quad3;
      quad5 = quad4 + quad5;
      quad7 = quad6 + quad7;
      quad2 = quad1 + quad2;
      quad3 = quad1 + quad3;
      quad6 = quad5 + quad6;
      quad7 = quad5 + quad7;
      quad4 = quad3 + quad4;
      quad5 = quad3 + quad5;
      quad6 = quad3 + quad6;
      quad7 = quad3 + quad7;
      const float start = offset[j] + rows[j];
      float before = start, sum;
      sum = x[j];
      x[j] = before + sum;
      sum = sum + x[32 + j];
      x[32 + j] = before + sum;
      sum = sum + x[64 + j];
      x[64 + j] = before + sum;
      sum = sum + x[96 + j];
      x[96 + j] = before + sum;
      before = start + quad0;
      sum = x[128 + j];
      x[128 + j] = before + sum;
      sum = sum + x[160 + j];
      x[160 + j] = before + sum;
      sum = sum + x[192 + j];
      x[192 + j] = before + sum;
      sum = sum + x[224 + j];
      x[224 + j] = before + sum;
      before = start + quad1;
      sum = x[256 + j];
      x[256 + j] = before + sum;
      sum = sum + x[288 + j];
      x[288 + j] = before + sum;
      sum = sum + x[320 + j];
      x[320 + j] = before + sum;
      sum = sum + x[352 + j];
      x[352 + j] = before + sum;
      before = start + quad2;
      sum = x[384 + j];
      x[384 + j] = before + sum;
      sum = sum + x[416 + j];
      x[416 + j] = before + sum;
      sum = sum + x[448 + j];
      x[448 + j] = before + sum;
      sum = sum + x[480 + j];
      x[480 + j] = before + sum;
      before = start + quad3;
      sum = x[512 + j];
      x[512 + j] = before + sum;
      sum = sum + x[544 + j];
      x[544 + j] = before + sum;
      sum = sum + x[576 + j];
      x[576 + j] = before + sum;
      sum = sum + x[608 + j];
      x[608 + j] = before + sum;
      before = start + quad4;
      sum = x[640 + j];
      x[640 + j] = before + sum;
      sum = sum + x[672 + j];
      x[672 + j] = before + sum;
      sum = sum + x[704 + j];
      x[704 + j] = before + sum;
      sum = sum + x[736 + j];
      x[736 + j] = before + sum;
      before = start + quad5;
      sum = x[768 + j];
      x[768 + j] = before + sum;
      sum = sum + x[800 + j];
      x[800 + j] = before + sum;
      sum = sum + x[832 + j];
      x[832 + j] = before + sum;
      sum = sum + x[864 + j];
      x[864 + j] = before + sum;
      before = start + quad6;
      sum = x[896 + j];
      x[896 + j] = before + sum;
      sum = sum + x[928 + j];
      x[928 + j] = before + sum;
      sum = sum + x[960 + j];
      x[960 + j] = before + sum;
      sum = sum + x[992 + j];
      x[992 + j] = before + sum;
      rows[j] = rows[j] + quad7;
    }
  }
}
struct tarry_scan_states {
  float r0[32];
};
static void tarry_scan_states_clear(struct tarry_scan_states* s) {
  tarry_fill_f32(s->r0, 0, 32);
}
static __attribute__((noinline)) void tarry_scan_states_push(struct tarry_scan_states* node, struct tarry_scan_states* fold, int* depth, tarry_i64 at, const struct tarry_scan_states* start, const struct tarry_scan_states* s) {
  int d = *depth;
  struct tarry_scan_states sum = *s;
  for (; at & 1; at >>= 1) {
    --d;
    TARRY_INDEPENDENT
    for (tarry_i64 j = 0; j < 32; ++j) {
      sum.r0[j] = node[d].r0[j] + sum.r0[j];
    }
  }
  const struct tarry_scan_states* const before = d == 0 ? start : &fold[d - 1];
  node[d] = sum;
  TARRY_INDEPENDENT
  for (tarry_i64 j = 0; j < 32; ++j) {
    fold[d].r0[j] = before->r0[j] + sum.r0[j];
  }
  *depth = d + 1;
}
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
static __attribute__((noinline)) void ENTRY_blocks(const struct ENTRY_params* p, tarry_i64 j0, tarry_i64 m, tarry_i64 first, tarry_i64 last, const struct tarry_scan_states* start, struct tarry_scan_states* whole) {
  const tarry_i64 r0 = p->r0;
  const tarry_i64 r1 = p->r1;
  const tarry_i64 count = p->count;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  const float* const b0 = p->a0 + j0;
  float* const b1 = p->a1 + j0;
  struct tarry_scan_states node[36], fold[36];
  int depth = 0;
  float x0[4096] __attribute__((aligned(64)));
  if (m < 32)
  tarry_fill_f32(x0, 0, 4096);
  float node0[32] __attribute__((aligned(64))), offset0[32] __attribute__((aligned(64)));
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
    tarry_fill_f32(x0, length * 32, quarters * 1024);
    tarry_cumulative_sum_node_f32(x0, quarters, node0);
    const struct tarry_scan_states* const before = depth == 0 ? start : &fold[depth - 1];
    struct tarry_scan_states sum;
    for (int j = 0; j < 32; ++j) offset0[j] = before->r0[j], sum.r0[j] = node0[j];
    tarry_scan_states_push(node, fold, &depth, block - first, start, &sum);
    if (whole) continue;
    tarry_cumulative_sum_block_f32(x0, quarters, offset0);
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
  struct tarry_scan_states* const scratch = (struct tarry_scan_states*)p->scratch;
  const tarry_i64 blocks = n / 128 + (n % 128 != 0);
  struct tarry_scan_states nothing;
  tarry_scan_states_clear(&nothing);
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
  struct tarry_scan_states* const scratch = (struct tarry_scan_states*)p->scratch;
  const tarry_i64 blocks = n / 128 + (n % 128 != 0);
  struct tarry_scan_states nothing;
  tarry_scan_states_clear(&nothing);
  struct tarry_scan_states node[36], fold[36];
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
    for (; next < chunk; ++next) tarry_scan_states_push(node, fold, &depth, next, &nothing, scratch + at * chunks + next);
    ENTRY_blocks(p, j0, m, first, last, depth == 0 ? &nothing : &fold[depth - 1], 0);
  }
}
