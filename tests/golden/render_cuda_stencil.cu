struct ENTRY_params {
  const float* a0;
  tarry_i64 t0_0;
  tarry_i64 o1;
  tarry_i64 o2;
  float* a7;
  tarry_i64 t7_0;
  float s0, s0_pad[1];
  tarry_i64 s1;
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
  float* a7;
};
__device__ __forceinline__ void ENTRY_passes(const ENTRY_params& p, const ENTRY_at& t) {
  const tarry_u32 rs = 255u, cs = 15u;
  float x0[10][6] = {};
  {
    const tarry_u32 wanted = (rs >> 0 & 1u ? cs << 1 : 0u);
    const float* from = t.a0 + -1 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[0] + 1);
  }
  {
    const tarry_u32 wanted = (rs >> 0 & 1u ? cs << 1 : 0u) | (rs >> 1 & 1u ? cs << 1 : 0u) | (rs >> 0 & 1u ? cs : 0u) | (rs >> 0 & 1u ? cs << 2 : 0u);
    const float* from = t.a0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[1] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[1] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[1] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 1 & 1u ? cs << 1 : 0u) | (rs >> 2 & 1u ? cs << 1 : 0u) | (rs >> 0 & 1u ? cs << 1 : 0u) | (rs >> 1 & 1u ? cs : 0u) | (rs >> 1 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 1 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[2] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[2] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[2] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 2 & 1u ? cs << 1 : 0u) | (rs >> 3 & 1u ? cs << 1 : 0u) | (rs >> 1 & 1u ? cs << 1 : 0u) | (rs >> 2 & 1u ? cs : 0u) | (rs >> 2 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 2 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[3] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[3] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[3] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 3 & 1u ? cs << 1 : 0u) | (rs >> 4 & 1u ? cs << 1 : 0u) | (rs >> 2 & 1u ? cs << 1 : 0u) | (rs >> 3 & 1u ? cs : 0u) | (rs >> 3 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 3 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[4] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[4] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[4] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 4 & 1u ? cs << 1 : 0u) | (rs >> 5 & 1u ? cs << 1 : 0u) | (rs >> 3 & 1u ? cs << 1 : 0u) | (rs >> 4 & 1u ? cs : 0u) | (rs >> 4 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 4 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[5] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[5] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[5] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 5 & 1u ? cs << 1 : 0u) | (rs >> 6 & 1u ? cs << 1 : 0u) | (rs >> 4 & 1u ? cs << 1 : 0u) | (rs >> 5 & 1u ? cs : 0u) | (rs >> 5 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 5 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[6] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[6] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[6] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 6 & 1u ? cs << 1 : 0u) | (rs >> 7 & 1u ? cs << 1 : 0u) | (rs >> 5 & 1u ? cs << 1 : 0u) | (rs >> 6 & 1u ? cs : 0u) | (rs >> 6 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 6 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[7] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[7] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[7] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 7 & 1u ? cs << 1 : 0u) | (rs >> 6 & 1u ? cs << 1 : 0u) | (rs >> 7 & 1u ? cs : 0u) | (rs >> 7 & 1u ? cs << 2 : 0u);
    const float* from = t.a0 + 7 * p.t0_0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[8] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[8] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[8] + 5);
  }
  {
    const tarry_u32 wanted = (rs >> 7 & 1u ? cs << 1 : 0u);
    const float* from = t.a0 + 8 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[9] + 1);
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    float y7[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float v0 = x0[r + 1][c + 1];
      const float v2 = v0 * p.s0;
      const float v3 = x0[r][c + 1];
      const float v4 = v2 - v3;
      const float v5 = x0[r + 2][c + 1];
      const float v6 = v4 - v5;
      const float v7 = x0[r + 1][c];
      const float v8 = v6 - v7;
      const float v9 = x0[r + 1][c + 2];
      const float v10 = v8 - v9;
      y7[c] = v10;
    }
    {
      float* to = t.a7 + r * p.t7_0;
      ENTRY_put<float, 4>(to, (rs >> r & 1u ? cs : 0u), y7);
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
  float x0[3][6] = {};
  {
    const tarry_u32 wanted = (rs0 >> 0 & 1u ? cs0 << 1 : 0u);
    const float* from = t.a0 + -1 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[0] + 1);
  }
  {
    const tarry_u32 wanted = (rs >> 0 & 1u ? cs << 1 : 0u) | (rs0 >> 0 & 1u ? cs0 : 0u) | (rs0 >> 0 & 1u ? cs0 << 2 : 0u);
    const float* from = t.a0;
    ENTRY_get<float, 1>(from + -1, wanted >> 0 & 1u, x0[1] + 0);
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[1] + 1);
    ENTRY_get<float, 1>(from + 4, wanted >> 5 & 1u, x0[1] + 5);
  }
  {
    const tarry_u32 wanted = (rs0 >> 0 & 1u ? cs0 << 1 : 0u);
    const float* from = t.a0 + 1 * p.t0_0;
    ENTRY_get<float, 4>(from + 0, wanted >> 1 & 15u, x0[2] + 1);
  }
#pragma unroll
  for (int r = 0; r < 1; ++r) {
    float y7[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float v0 = x0[r + 1][c + 1];
      const float v2 = v0 * p.s0;
      const float v3 = (rs0 >> r & cs0 >> c & 1u) ? x0[r][c + 1] : (float)0;
      const float v4 = v2 - v3;
      const float v5 = (rs0 >> r & cs0 >> c & 1u) ? x0[r + 2][c + 1] : (float)0;
      const float v6 = v4 - v5;
      const float v7 = (rs0 >> r & cs0 >> c & 1u) ? x0[r + 1][c] : (float)0;
      const float v8 = v6 - v7;
      const float v9 = (rs0 >> r & cs0 >> c & 1u) ? x0[r + 1][c + 2] : (float)0;
      const float v10 = v8 - v9;
      const tarry_u8 v11 = (rs0 >> r & cs0 >> c & 1u);
      const float v12 = tarry_where_f32(v11, v10, v0);
      y7[c] = v12;
    }
    {
      float* to = t.a7 + r * p.t7_0;
      ENTRY_put<float, 4>(to, (rs >> r & 1u ? cs : 0u), y7);
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
  t.a7 = p.a7 + row * p.t7_0 + column;
  if (rows == 8 && columns == 4 && (tarry_u32)(t.o1) < (tarry_u32)p.s1 && (tarry_u32)(t.o1 + 7) < (tarry_u32)p.s1 && (tarry_u32)(t.o2) < (tarry_u32)p.s1 && (tarry_u32)(t.o2 + 3) < (tarry_u32)p.s1) return ENTRY_passes(p, t);
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    ENTRY_tile<false>(p, t, 1, columns);
    t.a0 += 1 * p.t0_0;
    t.o1 += 1;
    t.a7 += 1 * p.t7_0;
  }
}
