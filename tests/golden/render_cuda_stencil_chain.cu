struct ENTRY_params {
  const float* a0;
  tarry_i64 t0_0;
  tarry_i64 o1;
  tarry_i64 o2;
  tarry_i64 o7;
  tarry_i64 o14;
  float* a21;
  tarry_i64 t21_0;
  float s0, s0_pad[1];
  tarry_i64 s1;
  float s2, s2_pad[1];
  tarry_i64 s3;
  tarry_i64 e0;
  tarry_i64 e1;
  tarry_i64 n1;
  tarry_u64 w1;
  tarry_i64 tiles;
};
template <class T, int N> struct alignas(N * sizeof(T)) ENTRY_run { T v[N]; };
template <class T, int N> __device__ __forceinline__ void ENTRY_get(const T* from, tarry_u32 wanted, T* x) {
  if (wanted == (1u << N) - 1) {
    const ENTRY_run<T, N> run = *(const ENTRY_run<T, N>*)from;
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] = run.v[j];
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) if (wanted >> j & 1u) x[j] = from[j];
  }
}
template <class T, int N> __device__ __forceinline__ void ENTRY_put(T* to, tarry_u32 wanted, const T* y) {
  if (N == 2 && sizeof(T) == 2 && wanted == 3) {
    union { T v[2]; tarry_u32 word; } both = {{y[0], y[N - 1]}};
    *(tarry_u32*)to = both.word;
  } else if (wanted == (1u << N) - 1) {
    ENTRY_run<T, N> run;
#pragma unroll
    for (int j = 0; j < N; ++j) run.v[j] = y[j];
    *(ENTRY_run<T, N>*)to = run;
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) if (wanted >> j & 1u) to[j] = y[j];
  }
}
struct ENTRY_at {
  const float* a0;
  tarry_i64 o1;
  tarry_i64 o2;
  tarry_i64 o7;
  tarry_i64 o14;
  float* a21;
};
__device__ __forceinline__ void ENTRY_passes(const ENTRY_params& p, const ENTRY_at& t) {
  const tarry_u32 rs = 255u, cs = 15u;
  float x0[12][8] = {};
  {
    const tarry_u32 wanted = (rs >> 0 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + -2 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[0] + 2);
  }
  {
    const tarry_u32 wanted = (rs >> 0 & 1u ? cs << 2 : 0u) | (rs >> 1 & 1u ? cs << 2 : 0u) | (rs >> 0 & 1u ? cs << 1 : 0u) | (rs >> 0 & 1u ? cs << 3 : 0u);
    const float* from = t.a0 + -1 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 1 & 1u, x0[1] + 1);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[1] + 2);
    ENTRY_get<float, 1>(from + 4, wanted >> 6 & 1u, x0[1] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 0 & 1u ? cs << 2 : 0u) | (rs >> 1 & 1u ? cs << 2 : 0u) | (rs >> 0 & 1u ? cs << 1 : 0u) | (rs >> 0 & 1u ? cs << 3 : 0u) | (rs >> 2 & 1u ? cs << 2 : 0u) | (rs >> 1 & 1u ? cs << 1 : 0u) | (rs >> 1 & 1u ? cs << 3 : 0u) | (rs >> 0 & 1u ? cs : 0u) | (rs >> 0 & 1u ? cs << 4 : 0u);
    const float* from = t.a0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[2] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[2] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[2] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 1 & 1u ? cs << 2 : 0u) | (rs >> 2 & 1u ? cs << 2 : 0u) | (rs >> 0 & 1u ? cs << 2 : 0u) | (rs >> 1 & 1u ? cs << 1 : 0u) | (rs >> 1 & 1u ? cs << 3 : 0u) | (rs >> 3 & 1u ? cs << 2 : 0u) | (rs >> 2 & 1u ? cs << 1 : 0u) | (rs >> 2 & 1u ? cs << 3 : 0u) | (rs >> 0 & 1u ? cs << 1 : 0u) | (rs >> 0 & 1u ? cs << 3 : 0u) | (rs >> 1 & 1u ? cs : 0u) | (rs >> 1 & 1u ? cs << 4 : 0u);
    const float* from = t.a0 + 1 * p.t0_0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[3] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[3] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[3] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 2 & 1u ? cs << 2 : 0u) | (rs >> 3 & 1u ? cs << 2 : 0u) | (rs >> 1 & 1u ? cs << 2 : 0u) | (rs >> 2 & 1u ? cs << 1 : 0u) | (rs >> 2 & 1u ? cs << 3 : 0u) | (rs >> 4 & 1u ? cs << 2 : 0u) | (rs >> 3 & 1u ? cs << 1 : 0u) | (rs >> 3 & 1u ? cs << 3 : 0u) | (rs >> 0 & 1u ? cs << 2 : 0u) | (rs >> 1 & 1u ? cs << 1 : 0u) | (rs >> 1 & 1u ? cs << 3 : 0u) | (rs >> 2 & 1u ? cs : 0u) | (rs >> 2 & 1u ? cs << 4 : 0u);
    const float* from = t.a0 + 2 * p.t0_0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[4] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[4] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[4] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 3 & 1u ? cs << 2 : 0u) | (rs >> 4 & 1u ? cs << 2 : 0u) | (rs >> 2 & 1u ? cs << 2 : 0u) | (rs >> 3 & 1u ? cs << 1 : 0u) | (rs >> 3 & 1u ? cs << 3 : 0u) | (rs >> 5 & 1u ? cs << 2 : 0u) | (rs >> 4 & 1u ? cs << 1 : 0u) | (rs >> 4 & 1u ? cs << 3 : 0u) | (rs >> 1 & 1u ? cs << 2 : 0u) | (rs >> 2 & 1u ? cs << 1 : 0u) | (rs >> 2 & 1u ? cs << 3 : 0u) | (rs >> 3 & 1u ? cs : 0u) | (rs >> 3 & 1u ? cs << 4 : 0u);
    const float* from = t.a0 + 3 * p.t0_0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[5] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[5] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[5] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 4 & 1u ? cs << 2 : 0u) | (rs >> 5 & 1u ? cs << 2 : 0u) | (rs >> 3 & 1u ? cs << 2 : 0u) | (rs >> 4 & 1u ? cs << 1 : 0u) | (rs >> 4 & 1u ? cs << 3 : 0u) | (rs >> 6 & 1u ? cs << 2 : 0u) | (rs >> 5 & 1u ? cs << 1 : 0u) | (rs >> 5 & 1u ? cs << 3 : 0u) | (rs >> 2 & 1u ? cs << 2 : 0u) | (rs >> 3 & 1u ? cs << 1 : 0u) | (rs >> 3 & 1u ? cs << 3 : 0u) | (rs >> 4 & 1u ? cs : 0u) | (rs >> 4 & 1u ? cs << 4 : 0u);
    const float* from = t.a0 + 4 * p.t0_0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[6] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[6] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[6] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 5 & 1u ? cs << 2 : 0u) | (rs >> 6 & 1u ? cs << 2 : 0u) | (rs >> 4 & 1u ? cs << 2 : 0u) | (rs >> 5 & 1u ? cs << 1 : 0u) | (rs >> 5 & 1u ? cs << 3 : 0u) | (rs >> 7 & 1u ? cs << 2 : 0u) | (rs >> 6 & 1u ? cs << 1 : 0u) | (rs >> 6 & 1u ? cs << 3 : 0u) | (rs >> 3 & 1u ? cs << 2 : 0u) | (rs >> 4 & 1u ? cs << 1 : 0u) | (rs >> 4 & 1u ? cs << 3 : 0u) | (rs >> 5 & 1u ? cs : 0u) | (rs >> 5 & 1u ? cs << 4 : 0u);
    const float* from = t.a0 + 5 * p.t0_0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[7] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[7] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[7] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 6 & 1u ? cs << 2 : 0u) | (rs >> 7 & 1u ? cs << 2 : 0u) | (rs >> 5 & 1u ? cs << 2 : 0u) | (rs >> 6 & 1u ? cs << 1 : 0u) | (rs >> 6 & 1u ? cs << 3 : 0u) | (rs >> 7 & 1u ? cs << 1 : 0u) | (rs >> 7 & 1u ? cs << 3 : 0u) | (rs >> 4 & 1u ? cs << 2 : 0u) | (rs >> 5 & 1u ? cs << 1 : 0u) | (rs >> 5 & 1u ? cs << 3 : 0u) | (rs >> 6 & 1u ? cs : 0u) | (rs >> 6 & 1u ? cs << 4 : 0u);
    const float* from = t.a0 + 6 * p.t0_0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[8] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[8] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[8] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 7 & 1u ? cs << 2 : 0u) | (rs >> 6 & 1u ? cs << 2 : 0u) | (rs >> 7 & 1u ? cs << 1 : 0u) | (rs >> 7 & 1u ? cs << 3 : 0u) | (rs >> 5 & 1u ? cs << 2 : 0u) | (rs >> 6 & 1u ? cs << 1 : 0u) | (rs >> 6 & 1u ? cs << 3 : 0u) | (rs >> 7 & 1u ? cs : 0u) | (rs >> 7 & 1u ? cs << 4 : 0u);
    const float* from = t.a0 + 7 * p.t0_0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[9] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[9] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[9] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 7 & 1u ? cs << 2 : 0u) | (rs >> 6 & 1u ? cs << 2 : 0u) | (rs >> 7 & 1u ? cs << 1 : 0u) | (rs >> 7 & 1u ? cs << 3 : 0u);
    const float* from = t.a0 + 8 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 1 & 1u, x0[10] + 1);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[10] + 2);
    ENTRY_get<float, 1>(from + 4, wanted >> 6 & 1u, x0[10] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 7 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 9 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[11] + 2);
  }
  float q5[10][6];
#pragma unroll
  for (int r = 0; r < 10; ++r) {
#pragma unroll
    for (int c = 0; c < 6; ++c) {
      const float v2 = x0[r + 1][c + 1] * p.s0;
      const float v4 = v2 - x0[r][c + 1];
      const float v6 = v4 - x0[r + 2][c + 1];
      const float v8 = v6 - x0[r + 1][c];
      const float v10 = v8 - x0[r + 1][c + 2];
      q5[r][c] = v10;
    }
  }
  float q10[8][4];
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float v14 = q5[r + 1][c + 1] * p.s2;
      const float v25 = v14 - q5[r][c + 1];
      const float v36 = v25 - q5[r + 2][c + 1];
      const float v47 = v36 - q5[r + 1][c];
      const float v58 = v47 - q5[r + 1][c + 2];
      q10[r][c] = v58;
    }
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    float y21[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      y21[c] = q10[r][c];
    }
    {
      float* to = t.a21 + r * p.t21_0;
      ENTRY_put<float, 4>(to, (rs >> r & 1u ? cs : 0u), y21);
    }
  }
}
template <bool whole>
__device__ __forceinline__ void ENTRY_tile(const ENTRY_params& p, const ENTRY_at& t, int rows, int columns) {
  const tarry_u32 rs = whole ? 1u : (1u << rows) - 1, cs = whole ? 15u : (1u << columns) - 1;
  tarry_u32 rs0 = rs, cs0 = cs;
  if (!whole) {
#pragma unroll
    for (int r = 0; r < 1; ++r) if (!((tarry_u32)(t.o1 + r) < (tarry_u32)p.s1)) rs0 &= ~(1u << r);
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!((tarry_u32)(t.o2 + c) < (tarry_u32)p.s1)) cs0 &= ~(1u << c);
  }
  tarry_u32 rs1 = rs, cs1 = cs;
  if (!whole) {
#pragma unroll
    for (int r = 0; r < 1; ++r) if (!((tarry_u32)(t.o7 + r) < (tarry_u32)p.s3)) rs1 &= ~(1u << r);
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!((tarry_u32)(t.o2 + c) < (tarry_u32)p.s1)) cs1 &= ~(1u << c);
  }
  tarry_u32 rs2 = rs, cs2 = cs;
  if (!whole) {
#pragma unroll
    for (int r = 0; r < 1; ++r) if (!((tarry_u32)(t.o1 + r) < (tarry_u32)p.s3)) rs2 &= ~(1u << r);
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!((tarry_u32)(t.o2 + c) < (tarry_u32)p.s1)) cs2 &= ~(1u << c);
  }
  tarry_u32 rs3 = rs, cs3 = cs;
  if (!whole) {
#pragma unroll
    for (int r = 0; r < 1; ++r) if (!((tarry_u32)(t.o1 + r) < (tarry_u32)p.s1)) rs3 &= ~(1u << r);
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!((tarry_u32)(t.o14 + c) < (tarry_u32)p.s3)) cs3 &= ~(1u << c);
  }
  tarry_u32 rs4 = rs, cs4 = cs;
  if (!whole) {
#pragma unroll
    for (int r = 0; r < 1; ++r) if (!((tarry_u32)(t.o1 + r) < (tarry_u32)p.s1)) rs4 &= ~(1u << r);
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!((tarry_u32)(t.o2 + c) < (tarry_u32)p.s3)) cs4 &= ~(1u << c);
  }
  float x0[5][8] = {};
  {
    const tarry_u32 wanted = (rs1 >> 0 & 1u ? cs1 << 2 : 0u);
    const float* from = t.a0 + -2 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[0] + 2);
  }
  {
    const tarry_u32 wanted = (rs0 >> 0 & 1u ? cs0 << 2 : 0u) | (rs1 >> 0 & 1u ? cs1 << 1 : 0u) | (rs1 >> 0 & 1u ? cs1 << 3 : 0u) | (rs3 >> 0 & 1u ? cs3 << 1 : 0u) | (rs4 >> 0 & 1u ? cs4 << 3 : 0u);
    const float* from = t.a0 + -1 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 1 & 1u, x0[1] + 1);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[1] + 2);
    ENTRY_get<float, 1>(from + 4, wanted >> 6 & 1u, x0[1] + 6);
  }
  {
    const tarry_u32 wanted = (rs >> 0 & 1u ? cs << 2 : 0u) | (rs0 >> 0 & 1u ? cs0 << 1 : 0u) | (rs0 >> 0 & 1u ? cs0 << 3 : 0u) | (rs3 >> 0 & 1u ? cs3 : 0u) | (rs4 >> 0 & 1u ? cs4 << 4 : 0u);
    const float* from = t.a0;
    ENTRY_get<float, 2>(from + -2, wanted >> 0 & 3u, x0[2] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[2] + 2);
    ENTRY_get<float, 2>(from + 4, wanted >> 6 & 3u, x0[2] + 6);
  }
  {
    const tarry_u32 wanted = (rs0 >> 0 & 1u ? cs0 << 2 : 0u) | (rs2 >> 0 & 1u ? cs2 << 1 : 0u) | (rs2 >> 0 & 1u ? cs2 << 3 : 0u) | (rs3 >> 0 & 1u ? cs3 << 1 : 0u) | (rs4 >> 0 & 1u ? cs4 << 3 : 0u);
    const float* from = t.a0 + 1 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 1 & 1u, x0[3] + 1);
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[3] + 2);
    ENTRY_get<float, 1>(from + 4, wanted >> 6 & 1u, x0[3] + 6);
  }
  {
    const tarry_u32 wanted = (rs2 >> 0 & 1u ? cs2 << 2 : 0u);
    const float* from = t.a0 + 2 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 2 & 15u, x0[4] + 2);
  }
#pragma unroll
  for (int r = 0; r < 1; ++r) {
    float y21[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float v0 = x0[r + 2][c + 2];
      const float v2 = v0 * p.s0;
      const float v3 = (rs0 >> r & cs0 >> c & 1u) ? x0[r + 1][c + 2] : (float)0;
      const float v4 = v2 - v3;
      const float v5 = (rs0 >> r & cs0 >> c & 1u) ? x0[r + 3][c + 2] : (float)0;
      const float v6 = v4 - v5;
      const float v7 = (rs0 >> r & cs0 >> c & 1u) ? x0[r + 2][c + 1] : (float)0;
      const float v8 = v6 - v7;
      const float v9 = (rs0 >> r & cs0 >> c & 1u) ? x0[r + 2][c + 3] : (float)0;
      const float v10 = v8 - v9;
      const tarry_u8 v11 = (rs0 >> r & cs0 >> c & 1u);
      const float v12 = tarry_where_f32(v11, v10, v0);
      const float v14 = v10 * p.s2;
      const float v15 = v3 * p.s0;
      const float v16 = (rs1 >> r & cs1 >> c & 1u) ? x0[r][c + 2] : (float)0;
      const float v17 = v15 - v16;
      const float v18 = v17 - v0;
      const float v19 = (rs1 >> r & cs1 >> c & 1u) ? x0[r + 1][c + 1] : (float)0;
      const float v20 = v18 - v19;
      const float v21 = (rs1 >> r & cs1 >> c & 1u) ? x0[r + 1][c + 3] : (float)0;
      const float v22 = v20 - v21;
      const tarry_u8 v23 = (rs1 >> r & cs1 >> c & 1u);
      const float v24 = tarry_where_f32(v23, v22, v3);
      const float v25 = v14 - v24;
      const float v26 = v5 * p.s0;
      const float v27 = v26 - v0;
      const float v28 = (rs2 >> r & cs2 >> c & 1u) ? x0[r + 4][c + 2] : (float)0;
      const float v29 = v27 - v28;
      const float v30 = (rs2 >> r & cs2 >> c & 1u) ? x0[r + 3][c + 1] : (float)0;
      const float v31 = v29 - v30;
      const float v32 = (rs2 >> r & cs2 >> c & 1u) ? x0[r + 3][c + 3] : (float)0;
      const float v33 = v31 - v32;
      const tarry_u8 v34 = (rs2 >> r & cs2 >> c & 1u);
      const float v35 = tarry_where_f32(v34, v33, v5);
      const float v36 = v25 - v35;
      const float v37 = v7 * p.s0;
      const float v38 = (rs3 >> r & cs3 >> c & 1u) ? x0[r + 1][c + 1] : (float)0;
      const float v39 = v37 - v38;
      const float v40 = (rs3 >> r & cs3 >> c & 1u) ? x0[r + 3][c + 1] : (float)0;
      const float v41 = v39 - v40;
      const float v42 = (rs3 >> r & cs3 >> c & 1u) ? x0[r + 2][c] : (float)0;
      const float v43 = v41 - v42;
      const float v44 = v43 - v0;
      const tarry_u8 v45 = (rs3 >> r & cs3 >> c & 1u);
      const float v46 = tarry_where_f32(v45, v44, v7);
      const float v47 = v36 - v46;
      const float v48 = v9 * p.s0;
      const float v49 = (rs4 >> r & cs4 >> c & 1u) ? x0[r + 1][c + 3] : (float)0;
      const float v50 = v48 - v49;
      const float v51 = (rs4 >> r & cs4 >> c & 1u) ? x0[r + 3][c + 3] : (float)0;
      const float v52 = v50 - v51;
      const float v53 = v52 - v0;
      const float v54 = (rs4 >> r & cs4 >> c & 1u) ? x0[r + 2][c + 4] : (float)0;
      const float v55 = v53 - v54;
      const tarry_u8 v56 = (rs4 >> r & cs4 >> c & 1u);
      const float v57 = tarry_where_f32(v56, v55, v9);
      const float v58 = v47 - v57;
      const float v59 = tarry_where_f32(v11, v58, v12);
      y21[c] = v59;
    }
    {
      float* to = t.a21 + r * p.t21_0;
      ENTRY_put<float, 4>(to, (rs >> r & 1u ? cs : 0u), y21);
    }
  }
}
extern "C" __global__ void __launch_bounds__(256) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  const tarry_i64 number = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (number >= p.tiles) return;
  tarry_u32 i = (tarry_u32)number;
  const tarry_u32 q1 = (__umulhi((tarry_u32)p.w1, i) + i) >> (tarry_u32)(p.w1 >> 32);
  const tarry_u32 i1 = i - q1 * (tarry_u32)p.n1;
  i = q1;
  const tarry_u32 column = i1 * 4;
  const int columns = (int)(p.e1 - column < 4 ? p.e1 - column : 4);
  const tarry_u32 row = i * 8;
  const int rows = (int)(p.e0 - row < 8 ? p.e0 - row : 8);
  ENTRY_at t;
  t.a0 = p.a0 + row * p.t0_0 + column;
  t.o1 = p.o1 + row;
  t.o2 = p.o2 + column;
  t.o7 = p.o7 + row;
  t.o14 = p.o14 + column;
  t.a21 = p.a21 + row * p.t21_0 + column;
  if (rows == 8 && columns == 4 && (tarry_u32)(t.o1) < (tarry_u32)p.s1 && (tarry_u32)(t.o1 + 7) < (tarry_u32)p.s1 && (tarry_u32)(t.o2) < (tarry_u32)p.s1 && (tarry_u32)(t.o2 + 3) < (tarry_u32)p.s1 && (tarry_u32)(t.o7) < (tarry_u32)p.s3 && (tarry_u32)(t.o7 + 7) < (tarry_u32)p.s3 && (tarry_u32)(t.o1) < (tarry_u32)p.s3 && (tarry_u32)(t.o1 + 7) < (tarry_u32)p.s3 && (tarry_u32)(t.o14) < (tarry_u32)p.s3 && (tarry_u32)(t.o14 + 3) < (tarry_u32)p.s3 && (tarry_u32)(t.o2) < (tarry_u32)p.s3 && (tarry_u32)(t.o2 + 3) < (tarry_u32)p.s3) return ENTRY_passes(p, t);
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    ENTRY_tile<false>(p, t, 1, columns);
    t.a0 += 1 * p.t0_0;
    t.o1 += 1;
    t.o7 += 1;
    t.a21 += 1 * p.t21_0;
  }
}
