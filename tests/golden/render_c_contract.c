static __attribute__((noinline)) void tarry_exp_f32_run(tarry_i64 n, float* to, const float* x0) {
  if (n == 1) {
    to[0] = tarry_exp_f32(x0[0]);
    return;
  }
  enum { lanes = 8 };
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
  float rest[lanes] __attribute__((aligned(64)));
  TARRY_INDEPENDENT TARRY_ROLLED
  for (tarry_i64 i = 0; i < whole; ++i) {
    to[i] = tarry_exp_f32(x0[i]);
  }
  if (whole < n) for (int l = 0; l < lanes; ++l) rest[l] = tarry_exp_f32(last0[l]);
  if (whole < n) {
    if (n > lanes) for (int l = 0; l < lanes; ++l) to[n - lanes + l] = rest[l];
    else for (int l = 0; l < n; ++l) { TARRY_SCALAR; to[l] = rest[l]; }
  }
}
struct ENTRY_params {
  const float* a0;
  tarry_i64 t0_0;
  const float* a1;
  tarry_i64 t1_1;
  float* a2;
  tarry_i64 t2_0;
  float s0, s0_pad[1];
  tarry_i64 s1;
  tarry_i64 e0;
  tarry_i64 e1;
};
struct ENTRY_columns {
  float x1[16][32][32];
};
struct ENTRY_folds {
  float f0[4][512];
};
static TARRY_PLAIN __attribute__((noinline)) void ENTRY_stage(const struct ENTRY_params* p, tarry_i64 k, tarry_i64 m, struct ENTRY_columns* s) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t1_1 = p->t1_1;
  const tarry_i64 t2_0 = p->t2_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const float v5 = p->s0;
  for (tarry_i64 j = 0, b = 0; j < m; j += 32, ++b) {
    const tarry_i64 there = m - j < 32 ? m - j : 32;
    {
      for (tarry_i64 l = 0; l < 32; ++l) {
        const tarry_i64 c = j + (l < there ? l : there - 1);
        const float* const at = p->a1 + k * t1_1 + c * t1_1;
        for (tarry_i64 u0 = 0; u0 < p->s1; ++u0) s->x1[b][u0][l] = at[u0];
      }
    }
  }
}
static TARRY_PLAIN __attribute__((noinline)) void ENTRY_accumulate(const struct ENTRY_params* p, tarry_i64 y, tarry_i64 rows, tarry_i64 k, tarry_i64 m, const struct ENTRY_columns* s, struct ENTRY_folds* f) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t1_1 = p->t1_1;
  const tarry_i64 t2_0 = p->t2_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const float v5 = p->s0;
  const tarry_i64 y0 = y;
  const tarry_i64 y1 = y + (1 < rows ? 1 : rows - 1);
  const tarry_i64 y2 = y + (2 < rows ? 2 : rows - 1);
  const tarry_i64 y3 = y + (3 < rows ? 3 : rows - 1);
  {
    const float* const a0_0 = p->a0 + y0 * t0_0;
    const float* const a0_1 = p->a0 + y1 * t0_0;
    const float* const a0_2 = p->a0 + y2 * t0_0;
    const float* const a0_3 = p->a0 + y3 * t0_0;
    for (tarry_i64 j = 0, b = 0; j < m; j += 32, ++b) {
      typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
      typedef tarry_i32 places __attribute__((vector_size(32), aligned(4), may_alias));
      for (int l = 0; l < 32; l += 16) {
        vector f0_0_a = -(vector){};
        vector f0_1_a = -(vector){};
        vector f0_2_a = -(vector){};
        vector f0_3_a = -(vector){};
        vector f0_0_b = -(vector){};
        vector f0_1_b = -(vector){};
        vector f0_2_b = -(vector){};
        vector f0_3_b = -(vector){};
        for (tarry_i64 u0 = 0; u0 < p->s1; ++u0) {
          const float* const c1 = s->x1[b][u0] + l;
          const float v0_0 = a0_0[u0];
          const float v0_1 = a0_1[u0];
          const float v0_2 = a0_2[u0];
          const float v0_3 = a0_3[u0];
          const vector all_v0_0 = -(vector){} + v0_0;
          const vector all_v0_1 = -(vector){} + v0_1;
          const vector all_v0_2 = -(vector){} + v0_2;
          const vector all_v0_3 = -(vector){} + v0_3;
          const vector v1_a = *(const vector*)(c1 + 0);
          const vector v2_0_a = all_v0_0 - v1_a;
          const vector v2_1_a = all_v0_1 - v1_a;
          const vector v2_2_a = all_v0_2 - v1_a;
          const vector v2_3_a = all_v0_3 - v1_a;
          const vector v3_0_a = v2_0_a * v2_0_a;
          const vector v3_1_a = v2_1_a * v2_1_a;
          const vector v3_2_a = v2_2_a * v2_2_a;
          const vector v3_3_a = v2_3_a * v2_3_a;
          f0_0_a = f0_0_a + v3_0_a;
          f0_1_a = f0_1_a + v3_1_a;
          f0_2_a = f0_2_a + v3_2_a;
          f0_3_a = f0_3_a + v3_3_a;
          const vector v1_b = *(const vector*)(c1 + 8);
          const vector v2_0_b = all_v0_0 - v1_b;
          const vector v2_1_b = all_v0_1 - v1_b;
          const vector v2_2_b = all_v0_2 - v1_b;
          const vector v2_3_b = all_v0_3 - v1_b;
          const vector v3_0_b = v2_0_b * v2_0_b;
          const vector v3_1_b = v2_1_b * v2_1_b;
          const vector v3_2_b = v2_2_b * v2_2_b;
          const vector v3_3_b = v2_3_b * v2_3_b;
          f0_0_b = f0_0_b + v3_0_b;
          f0_1_b = f0_1_b + v3_1_b;
          f0_2_b = f0_2_b + v3_2_b;
          f0_3_b = f0_3_b + v3_3_b;
        }
        *(vector*)(f->f0[0] + j + l + 0) = f0_0_a;
        *(vector*)(f->f0[1] + j + l + 0) = f0_1_a;
        *(vector*)(f->f0[2] + j + l + 0) = f0_2_a;
        *(vector*)(f->f0[3] + j + l + 0) = f0_3_a;
        *(vector*)(f->f0[0] + j + l + 8) = f0_0_b;
        *(vector*)(f->f0[1] + j + l + 8) = f0_1_b;
        *(vector*)(f->f0[2] + j + l + 8) = f0_2_b;
        *(vector*)(f->f0[3] + j + l + 8) = f0_3_b;
      }
    }
  }
}
static TARRY_PLAIN __attribute__((noinline)) void ENTRY_points(const struct ENTRY_params* p, tarry_i64 y, tarry_i64 k, tarry_i64 m, const struct ENTRY_folds* f, tarry_i64 row) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t1_1 = p->t1_1;
  const tarry_i64 t2_0 = p->t2_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const float v5 = p->s0;
  float* const a2 = p->a2 + y * t2_0 + k;
  const float* const f0 = f->f0[row];
  {
    float part0[272] __attribute__((aligned(64)));
    for (tarry_i64 here = 0, there; here < m; here = there) {
      there = m - here < 256 ? m : here + 256;
      {
        tarry_i64 i = here;
        {
          typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
          const vector all_v5 = -(vector){} + v5;
          for (; i + 8 <= there; i += 8) {
            const vector v6 = *(const vector*)(f0 + i) * all_v5;
            *(vector*)(part0 + i - here) = v6;
          }
        }
        for (; i < there; ++i) {
          TARRY_SCALAR;
          const float v6 = f0[i] * v5;
          part0[i - here] = v6;
        }
      }
      tarry_exp_f32_run(there - here, &a2[here], part0);
    }
  }
}
TARRY_PLAIN void ENTRY(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t1_1 = p->t1_1;
  const tarry_i64 t2_0 = p->t2_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const float v5 = p->s0;
  const tarry_i64 down = (e0 + 31) / 32;
  const tarry_i64 across = (e1 + 511) / 512;
  struct ENTRY_columns s;
  struct ENTRY_folds f;
  tarry_i64 staged_line = -1, staged_k = -1;
  for (tarry_i64 at = lo; at < hi; ++at) {
    const tarry_i64 line = at / down, top = (at - line * down) * 32;
    const tarry_i64 end = e0 - top < 32 ? e0 : top + 32;
    const tarry_i64 plane = line / across, part = line - plane * across;
    const tarry_i64 first = part * 512, last = first + 512;
    for (tarry_i64 k = first; k < last && k < e1; k += 512) {
      const tarry_i64 m = e1 - k < 512 ? e1 - k : 512;
      if (line != staged_line || k != staged_k) ENTRY_stage(p, k, m, &s);
      staged_line = line, staged_k = k;
      for (tarry_i64 y = top; y < end; y += 4) {
        const tarry_i64 rows = end - y < 4 ? end - y : 4;
        ENTRY_accumulate(p, y, rows, k, m, &s, &f);
        for (tarry_i64 row = 0; row < rows; ++row) ENTRY_points(p, y + row, k, m, &f, row);
      }
    }
  }
}
