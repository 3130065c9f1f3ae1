typedef tarry_u32 tarry_turn4_vector __attribute__((vector_size(16), aligned(4), may_alias));
static TARRY_PLAIN __attribute__((noinline)) void tarry_turn4(const tarry_u32* from, tarry_i64 pitch, tarry_u32* to, tarry_i64 width, tarry_i64 rows, tarry_i64 columns) {
  tarry_i64 c = 0;
  for (; c + 4 <= columns; c += 4, from += 4 * pitch, to += 4) {
    const tarry_u32* x = from;
    tarry_u32* y = to;
    tarry_i64 r = 0;
    for (; r + 4 <= rows; r += 4, x += 4, y += 4 * width) {
      if (r % 16 == 0) for (int k = 0; k < 4; ++k) __builtin_prefetch(x + (16 + k) * pitch, 0, 2);
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
struct ENTRY_params {
  const float* a0;
  tarry_i64 t0_0;
  const float* a1;
  tarry_i64 t1_1;
  float* a2;
  tarry_i64 t2_0;
  tarry_i64 e0;
  tarry_i64 e1;
  tarry_i64 n1;
};
TARRY_PLAIN void ENTRY(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t1_1 = p->t1_1;
  const tarry_i64 t2_0 = p->t2_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const tarry_i64 n1 = p->n1;
  tarry_u32 t1[4096] __attribute__((aligned(64)));
  for (tarry_i64 item = lo; item < hi; ++item) {
    const tarry_i64 across = n1, down = (e0 + 63) / 64;
    tarry_i64 at = item / (down * across), in = item - at * (down * across);
    const tarry_i64 top = in / (8 * across) * 8, height = down - top < 8 ? down - top : 8;
    in -= top * across;
    const tarry_i64 i0 = (top + in % height) * 64, i1 = in / height * 64;
    const tarry_i64 rows = e0 - i0 < 64 ? e0 - i0 : 64;
    const tarry_i64 columns = e1 - i1 < 64 ? e1 - i1 : 64;
    const float* const b0 = p->a0 + i0 * t0_0 + i1;
    const float* const b1 = p->a1 + i0 + i1 * t1_1;
    float* const b2 = p->a2 + i0 * t2_0 + i1;
    tarry_turn4((const tarry_u32*)b1, t1_1, t1, 64, rows, columns);
    for (tarry_i64 r = 0; r < rows; ++r) {
      const float* const a0 = b0 + r * t0_0;
      const float* const a1 = (const float*)t1 + r * 64;
      float* const a2 = b2 + r * t2_0;
      {
        tarry_i64 i = 0;
        {
          typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
          for (; i + 8 <= columns; i += 8) {
            const vector v0 = *(const vector*)(a0 + i);
            const vector v1 = *(const vector*)(a1 + i);
            const vector v2 = v0 + v1;
            *(vector*)(a2 + i) = v2;
          }
        }
        {
          typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));
          for (; i + 4 <= columns; i += 4) {
            const vector v0 = *(const vector*)(a0 + i);
            const vector v1 = *(const vector*)(a1 + i);
            const vector v2 = v0 + v1;
            *(vector*)(a2 + i) = v2;
          }
        }
        for (; i < columns; ++i) {
          TARRY_SCALAR;
          const float v0 = a0[i];
          const float v1 = a1[i];
          const float v2 = v0 + v1;
          a2[i] = v2;
        }
      }
    }
  }
}
