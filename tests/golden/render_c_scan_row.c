typedef tarry_u32 tarry_turn4_vector __attribute__((vector_size(16), aligned(4), may_alias));
static TARRY_PLAIN __attribute__((noinline)) void tarry_turn4(const tarry_u32* from, tarry_i64 pitch, tarry_u32* to, tarry_i64 width, tarry_i64 rows, tarry_i64 columns) {
  tarry_i64 c = 0;
  for (; c + 4 <= columns; c += 4, from += 4 * pitch, to += 4) {
    const tarry_u32* x = from;
    tarry_u32* y = to;
    tarry_i64 r = 0;
    for (; r + 4 <= rows; r += 4, x += 4, y += 4 * width) {
      const tarry_turn4_vector x0_0 = *(const tarry_turn4_vector*)(x + 0 * pitch);
      const tarry_turn4_vector x0_1 = *(const tarry_turn4_vector*)(x + 1 * pitch);
      const tarry_turn4_vector x0_2 = *(const tarry_turn4_vector*)(x + 2 * pitch);
      const tarry_turn4_vector x0_3 = *(const tarry_turn4_vector*)(x + 3 * pitch);
      const tarry_turn4_vector x1_0 = TARRY_SHUFFLE(tarry_turn4_vector, x0_0, x0_2, 0, 4, 1, 5);
      const tarry_turn4_vector x1_1 = TARRY_SHUFFLE(tarry_turn4_vector, x0_0, x0_2, 2, 6, 3, 7);
      const tarry_turn4_vector x1_2 = TARRY_SHUFFLE(tarry_turn4_vector, x0_1, x0_3, 0, 4, 1, 5);
      const tarry_turn4_vector x1_3 = TARRY_SHUFFLE(tarry_turn4_vector, x0_1, x0_3, 2, 6, 3, 7);
      const tarry_turn4_vector x2_0 = TARRY_SHUFFLE(tarry_turn4_vector, x1_0, x1_2, 0, 4, 1, 5);
      const tarry_turn4_vector x2_1 = TARRY_SHUFFLE(tarry_turn4_vector, x1_0, x1_2, 2, 6, 3, 7);
      const tarry_turn4_vector x2_2 = TARRY_SHUFFLE(tarry_turn4_vector, x1_1, x1_3, 0, 4, 1, 5);
      const tarry_turn4_vector x2_3 = TARRY_SHUFFLE(tarry_turn4_vector, x1_1, x1_3, 2, 6, 3, 7);
      *(tarry_turn4_vector*)(y + 0 * width) = x2_0;
      *(tarry_turn4_vector*)(y + 1 * width) = x2_1;
      *(tarry_turn4_vector*)(y + 2 * width) = x2_2;
      *(tarry_turn4_vector*)(y + 3 * width) = x2_3;
    }
    for (; r < rows; ++r, ++x, y += width) for (int k = 0; k < 4; ++k) y[k] = x[k * pitch];
  }
  for (; c < columns; ++c, from += pitch, ++to) for (tarry_i64 r = 0; r < rows; ++r) to[r * width] = from[r];
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_fill_f32(float* x, tarry_i64 from, tarry_i64 to) {
  typedef float vector0 __attribute__((vector_size(32), aligned(4), may_alias));
  tarry_i64 i = from;
  for (; i + 8 <= to; i += 8) *(vector0*)(x + i) = -(vector0){} + -0.0f;
  for (; i < to; ++i) x[i] = -0.0f;
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_cumulative_sum_node_f32(const float* x, int quarters, float* node) {
  typedef float vector0 __attribute__((vector_size(32), aligned(4), may_alias));
  float lane[512] __attribute__((aligned(64)));
  const float* from = x;
  for (int k = 1; k < quarters; ++k) {
    for (int j = 0; j < 512; j += 8) {
      *(vector0*)(lane + j) = *(vector0*)(from + j) + *(vector0*)(x + k * 512 + j);
    }
    from = lane;
  }
  for (int d = 256; d >= 16; d /= 2, from = lane) {
    float* const to = d > 16 ? lane : node;
    for (int j = 0; j < d; j += 8) {
      *(vector0*)(to + j) = *(vector0*)(from + j) + *(vector0*)(from + d + j);
    }
  }
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_cumulative_sum_block_f32(float* x, int quarters, const float* offset) {
  typedef float vector0 __attribute__((vector_size(32), aligned(4), may_alias));
  float rows[16] __attribute__((aligned(64)));
  tarry_fill_f32(rows, 0, 16);
  for (int k = 0; k < quarters; ++k, x += 512) {
    for (int j = 0; j < 16; j += 8) {
      vector0 quad0 = (((*(vector0*)(x + j) + *(vector0*)(x + 16 + j)) + *(vector0*)(x + 32 + j)) + *(vector0*)(x + 48 + j));
      vector0 quad1 = (((*(vector0*)(x + 64 + j) + *(vector0*)(x + 80 + j)) + *(vector0*)(x + 96 + j)) + *(vector0*)(x + 112 + j));
      vector0 quad2 = (((*(vector0*)(x + 128 + j) + *(vector0*)(x + 144 + j)) + *(vector0*)(x + 160 + j)) + *(vector0*)(x + 176 + j));
      vector0 quad3 = (((*(vector0*)(x + 192 + j) + *(vector0*)(x + 208 + j)) + *(vector0*)(x + 224 + j)) + *(vector0*)(x + 240 + j));
      vector0 quad4 = (((*(vector0*)(x + 256 + j) + *(vector0*)(x + 272 + j)) + *(vector0*)(x + 288 + j)) + *(vector0*)(x + 304 + j));
      vector0 quad5 = (((*(vector0*)(x + 320 + j) + *(vector0*)(x + 336 + j)) + *(vector0*)(x + 352 + j)) + *(vector0*)(x + 368 + j));
      vector0 quad6 = (((*(vector0*)(x + 384 + j) + *(vector0*)(x + 400 + j)) + *(vector0*)(x + 416 + j)) + *(vector0*)(x + 432 + j));
      vector0 quad7 = (((*(vector0*)(x + 448 + j) + *(vector0*)(x + 464 + j)) + *(vector0*)(x + 480 + j)) + *(vector0*)(x + 496 + j));
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
      const vector0 start = *(vector0*)(offset + j) + *(vector0*)(rows + j);
      vector0 before = start, sum;
      sum = *(vector0*)(x + j);
      *(vector0*)(x + j) = before + sum;
      sum = sum + *(vector0*)(x + 16 + j);
      *(vector0*)(x + 16 + j) = before + sum;
      sum = sum + *(vector0*)(x + 32 + j);
      *(vector0*)(x + 32 + j) = before + sum;
      sum = sum + *(vector0*)(x + 48 + j);
      *(vector0*)(x + 48 + j) = before + sum;
      before = start + quad0;
      sum = *(vector0*)(x + 64 + j);
      *(vector0*)(x + 64 + j) = before + sum;
      sum = sum + *(vector0*)(x + 80 + j);
      *(vector0*)(x + 80 + j) = before + sum;
      sum = sum + *(vector0*)(x + 96 + j);
      *(vector0*)(x + 96 + j) = before + sum;
      sum = sum + *(vector0*)(x + 112 + j);
      *(vector0*)(x + 112 + j) = before + sum;
      before = start + quad1;
      sum = *(vector0*)(x + 128 + j);
      *(vector0*)(x + 128 + j) = before + sum;
      sum = sum + *(vector0*)(x + 144 + j);
      *(vector0*)(x + 144 + j) = before + sum;
      sum = sum + *(vector0*)(x + 160 + j);
      *(vector0*)(x + 160 + j) = before + sum;
      sum = sum + *(vector0*)(x + 176 + j);
      *(vector0*)(x + 176 + j) = before + sum;
      before = start + quad2;
      sum = *(vector0*)(x + 192 + j);
      *(vector0*)(x + 192 + j) = before + sum;
      sum = sum + *(vector0*)(x + 208 + j);
      *(vector0*)(x + 208 + j) = before + sum;
      sum = sum + *(vector0*)(x + 224 + j);
      *(vector0*)(x + 224 + j) = before + sum;
      sum = sum + *(vector0*)(x + 240 + j);
      *(vector0*)(x + 240 + j) = before + sum;
      before = start + quad3;
      sum = *(vector0*)(x + 256 + j);
      *(vector0*)(x + 256 + j) = before + sum;
      sum = sum + *(vector0*)(x + 272 + j);
      *(vector0*)(x + 272 + j) = before + sum;
      sum = sum + *(vector0*)(x + 288 + j);
      *(vector0*)(x + 288 + j) = before + sum;
      sum = sum + *(vector0*)(x + 304 + j);
      *(vector0*)(x + 304 + j) = before + sum;
      before = start + quad4;
      sum = *(vector0*)(x + 320 + j);
      *(vector0*)(x + 320 + j) = before + sum;
      sum = sum + *(vector0*)(x + 336 + j);
      *(vector0*)(x + 336 + j) = before + sum;
      sum = sum + *(vector0*)(x + 352 + j);
      *(vector0*)(x + 352 + j) = before + sum;
      sum = sum + *(vector0*)(x + 368 + j);
      *(vector0*)(x + 368 + j) = before + sum;
      before = start + quad5;
      sum = *(vector0*)(x + 384 + j);
      *(vector0*)(x + 384 + j) = before + sum;
      sum = sum + *(vector0*)(x + 400 + j);
      *(vector0*)(x + 400 + j) = before + sum;
      sum = sum + *(vector0*)(x + 416 + j);
      *(vector0*)(x + 416 + j) = before + sum;
      sum = sum + *(vector0*)(x + 432 + j);
      *(vector0*)(x + 432 + j) = before + sum;
      before = start + quad6;
      sum = *(vector0*)(x + 448 + j);
      *(vector0*)(x + 448 + j) = before + sum;
      sum = sum + *(vector0*)(x + 464 + j);
      *(vector0*)(x + 464 + j) = before + sum;
      sum = sum + *(vector0*)(x + 480 + j);
      *(vector0*)(x + 480 + j) = before + sum;
      sum = sum + *(vector0*)(x + 496 + j);
      *(vector0*)(x + 496 + j) = before + sum;
      *(vector0*)(rows + j) = *(vector0*)(rows + j) + quad7;
    }
  }
}
struct tarry_scan_states {
  float r0[1];
};
static void tarry_scan_states_clear(struct tarry_scan_states* s) {
  tarry_fill_f32(s->r0, 0, 1);
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_scan_states_push(struct tarry_scan_states* node, struct tarry_scan_states* fold, int* depth, tarry_i64 at, const struct tarry_scan_states* start, const struct tarry_scan_states* s) {
  int d = *depth;
  struct tarry_scan_states sum = *s;
  for (; at & 1; at >>= 1) {
    --d;
    sum.r0[0] = node[d].r0[0] + sum.r0[0];
  }
  const struct tarry_scan_states* const before = d == 0 ? start : &fold[d - 1];
  node[d] = sum;
  fold[d].r0[0] = before->r0[0] + sum.r0[0];
  *depth = d + 1;
}
struct tarry_scan {
  const void* parameters;
  void (*take)(const void* parameters, const tarry_i64* at, tarry_i64 line, tarry_i64 k, tarry_i64 length, void* const* arrays);
  void (*give)(const void* parameters, const tarry_i64* at, tarry_i64 line, tarry_i64 k, tarry_i64 length, void* const* arrays);
  tarry_i64 n, chunks, chunk_blocks;
  void* scratch;
  tarry_i64 inner;
  const tarry_i64* tiles;
  int rank;
};
static TARRY_PLAIN tarry_i64 tarry_scan_place(const struct tarry_scan* walk, tarry_i64 tile, tarry_i64* at) {
  for (int d = walk->rank - 1; d > 0; --d) {
    const tarry_i64 before = tile / walk->tiles[d];
    at[d] = tile - before * walk->tiles[d];
    tile = before;
  }
  at[0] = tile;
  return 1;
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_scan_blocks(const struct tarry_scan* walk, const tarry_i64* at, tarry_i64 m, tarry_i64 first, tarry_i64 last, const struct tarry_scan_states* start, struct tarry_scan_states* whole) {
  const tarry_i64 n = walk->n;
  struct tarry_scan_states node[36], fold[36];
  int depth = 0;
  float x0[2048] __attribute__((aligned(64)));
  float y0[2048] __attribute__((aligned(64)));
  float node0[16] __attribute__((aligned(64))), offset0[16] __attribute__((aligned(64)));
  void* const arrays[] = {y0};
  for (tarry_i64 block = first; block < last; block += 16) {
    const tarry_i64 lines = last - block < 16 ? last - block : 16;
    const int quarters = 4;
    tarry_fill_f32(y0, lines * 128, 2048);
    for (tarry_i64 line = 0; line < lines; ++line) {
      const tarry_i64 k = (block + line) * 128, length = n - k < 128 ? n - k : 128;
      walk->take(walk->parameters, at, line, k, length, arrays);
      tarry_fill_f32(y0, line * 128 + length, line * 128 + quarters * 32);
    }
    tarry_turn4((const tarry_u32*)y0, 128, (tarry_u32*)x0, 16, quarters * 32, 16);
    tarry_cumulative_sum_node_f32(x0, quarters, node0);
    for (tarry_i64 line = 0; line < lines; ++line) {
      const struct tarry_scan_states* const before = depth == 0 ? start : &fold[depth - 1];
      struct tarry_scan_states sum;
      offset0[line] = before->r0[0], sum.r0[0] = node0[line];
      tarry_scan_states_push(node, fold, &depth, block + line - first, start, &sum);
    }
    if (whole) continue;
    tarry_cumulative_sum_block_f32(x0, quarters, offset0);
    tarry_turn4((const tarry_u32*)x0, 16, (tarry_u32*)y0, 128, 16, quarters * 32);
    for (tarry_i64 line = 0; line < lines; ++line) {
      const tarry_i64 k = (block + line) * 128, length = n - k < 128 ? n - k : 128;
      walk->give(walk->parameters, at, line, k, length, arrays);
    }
  }
  if (whole) *whole = node[0];
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_scan_items(const struct tarry_scan* walk, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 n = walk->n, chunks = walk->chunks, chunk_blocks = walk->chunk_blocks;
  struct tarry_scan_states* const scratch = (struct tarry_scan_states*)walk->scratch;
  tarry_i64 at[16];
  const tarry_i64 blocks = n / 128 + (n % 128 != 0);
  struct tarry_scan_states nothing;
  tarry_scan_states_clear(&nothing);
  for (tarry_i64 item = lo; item < hi; ++item) {
    const tarry_i64 tile = item / chunks, chunk = item - tile * chunks;
    const tarry_i64 first = chunk * chunk_blocks;
    const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;
    const tarry_i64 m = tarry_scan_place(walk, tile, at);
    if (chunks == 1) tarry_scan_blocks(walk, at, m, first, last, &nothing, 0);
    else if (chunk + 1 < chunks) tarry_scan_blocks(walk, at, m, first, last, &nothing, scratch + item);
  }
}
static TARRY_PLAIN __attribute__((noinline)) void tarry_scan_chunks(const struct tarry_scan* walk, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 n = walk->n, chunks = walk->chunks, chunk_blocks = walk->chunk_blocks;
  struct tarry_scan_states* const scratch = (struct tarry_scan_states*)walk->scratch;
  tarry_i64 at[16];
  const tarry_i64 blocks = n / 128 + (n % 128 != 0);
  struct tarry_scan_states nothing;
  tarry_scan_states_clear(&nothing);
  struct tarry_scan_states node[36], fold[36];
  int depth = 0;
  tarry_i64 next = 0;
  for (tarry_i64 item = lo; item < hi; ++item) {
    const tarry_i64 tile = item / chunks, chunk = item - tile * chunks;
    const tarry_i64 first = chunk * chunk_blocks;
    const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;
    const tarry_i64 m = tarry_scan_place(walk, tile, at);
    if (item == lo || chunk == 0) next = 0, depth = 0;
    for (; next < chunk; ++next) tarry_scan_states_push(node, fold, &depth, next, &nothing, scratch + tile * chunks + next);
    tarry_scan_blocks(walk, at, m, first, last, depth == 0 ? &nothing : &fold[depth - 1], 0);
  }
}
struct ENTRY_params {
  const float* a0;
  float* a1;
  tarry_i64 n;
  tarry_i64 chunks;
  tarry_i64 chunk_blocks;
  void* scratch;
};
static TARRY_PLAIN void ENTRY_take(const void* parameters, const tarry_i64* at, tarry_i64 line, tarry_i64 k, tarry_i64 length, void* const* arrays) {
  const struct ENTRY_params* const p = parameters;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  float* const y0 = (float*)arrays[0] + line * 128;
  const float* const b0 = p->a0;
  float* const b1 = p->a1;
  {
    const float* const a0 = b0 + k;
    float* const a1 = b1 + k;
    for (tarry_i64 i = 0; i < length; i += 16) __builtin_prefetch(a0 + 16 * 128 + i, 0, 2);
    for (tarry_i64 i = 0; i < length; i += 16) __builtin_prefetch(a1 + 16 * 128 + i, 1, 2);
    {
      tarry_i64 i = 0;
      {
        typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
        for (; i + 8 <= length; i += 8) {
          const vector v0 = *(const vector*)(a0 + i);
          *(vector*)(y0 + i) = v0;
        }
      }
      {
        typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));
        for (; i + 4 <= length; i += 4) {
          const vector v0 = *(const vector*)(a0 + i);
          *(vector*)(y0 + i) = v0;
        }
      }
      for (; i < length; ++i) {
        TARRY_SCALAR;
        const float v0 = a0[i];
        y0[i] = v0;
      }
    }
  }
}
static TARRY_PLAIN void ENTRY_give(const void* parameters, const tarry_i64* at, tarry_i64 line, tarry_i64 k, tarry_i64 length, void* const* arrays) {
  const struct ENTRY_params* const p = parameters;
  const tarry_i64 n = p->n;
  const tarry_i64 chunks = p->chunks;
  const tarry_i64 chunk_blocks = p->chunk_blocks;
  float* const y0 = (float*)arrays[0] + line * 128;
  const float* const b0 = p->a0;
  float* const b1 = p->a1;
  {
    const float* const a0 = b0 + k;
    float* const a1 = b1 + k;
    {
      tarry_i64 i = 0;
      {
        typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
        for (; i + 8 <= length; i += 8) {
          const vector v1 = *(const vector*)(y0 + i);
          *(vector*)(a1 + i) = *(const vector*)(y0 + i);
        }
      }
      {
        typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));
        for (; i + 4 <= length; i += 4) {
          const vector v1 = *(const vector*)(y0 + i);
          *(vector*)(a1 + i) = *(const vector*)(y0 + i);
        }
      }
      for (; i < length; ++i) {
        TARRY_SCALAR;
        const float v1 = y0[i];
        a1[i] = y0[i];
      }
    }
  }
}
TARRY_ONCE void ENTRY(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const struct tarry_scan walk = {p, ENTRY_take, ENTRY_give, p->n, p->chunks, p->chunk_blocks, p->scratch, 1, 0, 0};
  tarry_scan_items(&walk, lo, hi);
}
TARRY_ONCE void ENTRY_fold(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const struct tarry_scan walk = {p, ENTRY_take, ENTRY_give, p->n, p->chunks, p->chunk_blocks, p->scratch, 1, 0, 0};
  tarry_scan_chunks(&walk, lo, hi);
}
