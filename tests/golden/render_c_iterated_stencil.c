#pragma GCC push_options
#pragma GCC optimize("no-tree-dominator-opts")
struct ENTRY_params {
  const float* a0;
  tarry_i64 t0_0;
  tarry_i64 o1;
  tarry_i64 o2;
  tarry_i64 o3;
  tarry_i64 o4;
  float* a5;
  tarry_i64 t5_0;
  tarry_i64 s0;
  tarry_i64 s1;
  float s2, s2_pad[1];
  tarry_i64 s3;
  tarry_i64 s4;
  tarry_i64 e0;
  tarry_i64 e1;
  tarry_i64 n1;
};
TARRY_FN void ENTRY_inside(tarry_i64 at, tarry_i64 step, tarry_i64 extent, tarry_i64* from, tarry_i64* to) {
  tarry_i64 first = 0, end = *to;
  if (step > 0) first = at < 0 ? (step - 1 - at) / step : 0, end = at < extent ? (extent - at + step - 1) / step : 0;
  else if (step < 0) first = at >= extent ? (at - extent) / -step + 1 : 0, end = at >= 0 ? at / -step + 1 : 0;
  else if (at < 0 || at >= extent) end = 0;
  if (first > *from) *from = first;
  if (end < *to) *to = end;
}
static TARRY_GUARDED __attribute__((noinline)) void ENTRY_row0(const struct ENTRY_params* p, tarry_i64 length, const float* const a0, const tarry_i64 a1, const tarry_i64 a2, float* const k0_at) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t5_0 = p->t5_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const tarry_i64 n1 = p->n1;
  const float v1 = p->s2;
  {
    tarry_i64 from0 = 0, to0 = length;
    ENTRY_inside(a1, 0, p->s0, &from0, &to0);
    ENTRY_inside(a2, 1, p->s1, &from0, &to0);
    for (tarry_i64 at = 0, end; at < length; at = end) {
      end = length;
      const int g0 = from0 <= at && at < to0;
      if (g0 && to0 < end) end = to0;
      if (at < from0 && from0 < end) end = from0;
      if (g0) {
        tarry_i64 i = at;
        {
          typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
          for (; i + 8 <= end; i += 8) {
            const vector v0 = *(const vector*)(a0 + i);
            *(vector*)(k0_at + i) = v0;
          }
        }
        {
          typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));
          for (; i + 4 <= end; i += 4) {
            const vector v0 = *(const vector*)(a0 + i);
            *(vector*)(k0_at + i) = v0;
          }
        }
        for (; i < end; ++i) {
          TARRY_SCALAR;
          const float v0 = a0[i];
          k0_at[i] = v0;
        }
      }
      else {
        tarry_i64 i = at;
        {
          typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
          for (; i + 8 <= end; i += 8) {
            const vector v0 = (vector){};
            *(vector*)(k0_at + i) = v0;
          }
        }
        {
          typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));
          for (; i + 4 <= end; i += 4) {
            const vector v0 = (vector){};
            *(vector*)(k0_at + i) = v0;
          }
        }
        for (; i < end; ++i) {
          TARRY_SCALAR;
          const float v0 = 0;
          k0_at[i] = v0;
        }
      }
    }
  }
}
static __attribute__((noinline)) void ENTRY_row1(const struct ENTRY_params* p, tarry_i64 length, const tarry_i64 a3, const tarry_i64 a4, const float* const k0_0, const float* const k0_m1, const float* const k0_1, float* const k16_at) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t5_0 = p->t5_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const tarry_i64 n1 = p->n1;
  const float v1 = p->s2;
  {
    tarry_i64 from1 = 0, to1 = length;
    ENTRY_inside(a3, 0, p->s3, &from1, &to1);
    ENTRY_inside(a4, 1, p->s4, &from1, &to1);
    for (tarry_i64 at = 0, end; at < length; at = end) {
      end = length;
      const int g1 = from1 <= at && at < to1;
      if (g1 && to1 < end) end = to1;
      if (at < from1 && from1 < end) end = from1;
      if (g1) {
        TARRY_INDEPENDENT TARRY_ROLLED
        for (tarry_i64 i = at; i < end; ++i) {
          const float v2 = k0_0[i] * v1;
          const float v4 = v2 - k0_m1[i + 0];
          const float v5 = tarry_minimum_f32(v4, k0_0[i]);
          const float v7 = v5 - k0_1[i + 0];
          const float v8 = tarry_minimum_f32(v7, k0_0[i]);
          const float v10 = v8 - k0_0[i + -1];
          const float v11 = tarry_minimum_f32(v10, k0_0[i]);
          const float v13 = v11 - k0_0[i + 1];
          const float v14 = tarry_minimum_f32(v13, k0_0[i]);
          const tarry_u8 v15 = 1;
          const float v16 = v14;
          k16_at[i] = v16;
        }
      }
      else {
        TARRY_INDEPENDENT TARRY_ROLLED
        for (tarry_i64 i = at; i < end; ++i) {
          const float v2 = k0_0[i] * v1;
          const float v4 = v2 - k0_m1[i + 0];
          const float v5 = tarry_minimum_f32(v4, k0_0[i]);
          const float v7 = v5 - k0_1[i + 0];
          const float v8 = tarry_minimum_f32(v7, k0_0[i]);
          const float v10 = v8 - k0_0[i + -1];
          const float v11 = tarry_minimum_f32(v10, k0_0[i]);
          const float v13 = v11 - k0_0[i + 1];
          const float v14 = tarry_minimum_f32(v13, k0_0[i]);
          const tarry_u8 v15 = 0;
          const float v16 = k0_0[i];
          k16_at[i] = v16;
        }
      }
    }
  }
}
static TARRY_GUARDED __attribute__((noinline)) void ENTRY_row4(const struct ENTRY_params* p, tarry_i64 length, float* const a5, const float* const k46_0) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t5_0 = p->t5_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const tarry_i64 n1 = p->n1;
  const float v1 = p->s2;
  {
    tarry_i64 i = 0;
    {
      typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
      for (; i + 8 <= length; i += 8) {
        *(vector*)(a5 + i) = *(const vector*)(k46_0 + i);
      }
    }
    {
      typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));
      for (; i + 4 <= length; i += 4) {
        *(vector*)(a5 + i) = *(const vector*)(k46_0 + i);
      }
    }
    for (; i < length; ++i) {
      TARRY_SCALAR;
      a5[i] = k46_0[i];
    }
  }
}
TARRY_PLAIN void ENTRY(const struct ENTRY_params* p, tarry_i64 lo, tarry_i64 hi) {
  const tarry_i64 t0_0 = p->t0_0;
  const tarry_i64 t5_0 = p->t5_0;
  const tarry_i64 e0 = p->e0;
  const tarry_i64 e1 = p->e1;
  const tarry_i64 n1 = p->n1;
  const float v1 = p->s2;
  float loop0[3][3][1040] __attribute__((aligned(64)));
  float k46[1][1024] __attribute__((aligned(64)));
  for (tarry_i64 item = lo; item < hi; ++item) {
    tarry_i64 at = item;
    const tarry_i64 i1 = (at % n1) * 1024;
    at /= n1;
    const tarry_i64 i0 = (at) * 128;
    const tarry_i64 rows = e0 - i0 < 128 ? e0 - i0 : 128;
    const tarry_i64 columns = e1 - i1 < 1024 ? e1 - i1 : 1024;
    const float* const b0 = p->a0 + i0 * t0_0 + i1;
    const tarry_i64 b1 = p->o1 + i0;
    const tarry_i64 b2 = p->o2 + i1;
    const tarry_i64 b3 = p->o3 + i0;
    const tarry_i64 b4 = p->o4 + i1;
    float* const b5 = p->a5 + i0 * t5_0 + i1;
    for (tarry_i64 row = -3; row < rows + 3; ++row) {
      const tarry_i64 at1_0 = (row + 4096) % 1;
      const tarry_i64 at3_0 = (row + 12288) % 3;
      const tarry_i64 at3_1 = (row + 12289) % 3;
      const tarry_i64 at3_2 = (row + 12290) % 3;
      {
        const tarry_i64 y = row - 0;
        if (y >= -3 && y < rows + 3) {
          const float* const a0 = b0 + y * t0_0 + (-3);
          const tarry_i64 a1 = b1 + y;
          const tarry_i64 a2 = b2 + (-3);
          ENTRY_row0(p, columns + 6, a0, a1, a2, loop0[0][at3_0] + 0);
        }
      }
      for (tarry_i64 s = 0; s < 2; ++s) {
        {
          const tarry_i64 y = row - (1 + s * 1);
          if (y >= -(2 + s * -1) && y < rows + (2 + s * -1)) {
            const tarry_i64 a3 = b3 + y;
            const tarry_i64 a4 = b4 + (-(2 + s * -1));
            ENTRY_row1(p, columns + (4 + s * -2), a3, a4, loop0[s + 0][(tarry_u32)(row + 12287 - s * 1) % 3] + 1, loop0[s + 0][(tarry_u32)(row + 12286 - s * 1) % 3] + 1, loop0[s + 0][(tarry_u32)(row + 12288 - s * 1) % 3] + 1, loop0[s + 1][(tarry_u32)(row + 12287 - s * 1) % 3] + 0);
          }
        }
      }
      {
        const tarry_i64 y = row - 3;
        if (y >= -0 && y < rows + 0) {
          const tarry_i64 a3 = b3 + y;
          const tarry_i64 a4 = b4;
          ENTRY_row1(p, columns + 0, a3, a4, loop0[2][at3_0] + 1, loop0[2][at3_2] + 1, loop0[2][at3_1] + 1, k46[at1_0] + 0);
        }
      }
      {
        const tarry_i64 y = row - 3;
        if (y >= -0 && y < rows + 0) {
          float* const a5 = b5 + y * t5_0;
          ENTRY_row4(p, columns + 0, a5, k46[at1_0] + 0);
        }
      }
    }
  }
}
#pragma GCC pop_options
