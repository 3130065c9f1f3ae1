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
  tarry_i64 o3;
  tarry_i64 o4;
  float* a5;
};
union ENTRY_shared {
  int none;
  struct { float e0[8][2][4][32]; } s1;
};
template <int L, int W, int R, class T> __device__ __forceinline__ void ENTRY_ends(T* x) {
#pragma unroll
  for (int j = 0; j < L; ++j) x[j] = (T)__shfl_up_sync(0xffffffffu, x[W + j], 1);
#pragma unroll
  for (int j = 0; j < R; ++j) x[L + W + j] = (T)__shfl_down_sync(0xffffffffu, x[L + j], 1);
}
template <bool whole>
__device__ __forceinline__ void ENTRY_tile(const ENTRY_params& p, ENTRY_at t, ENTRY_shared* s, int rows, int columns) {
  const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
  const int own = lane * 4 - 12, left = own, top = warp * 12 - 10;
  t.a0 += top * p.t0_0 + left;
  t.o1 += top;
  t.o2 += left;
  t.o3 += top;
  t.o4 += left;
  t.a5 += top * p.t5_0 + left;
  tarry_u32 rs0 = 4095u, cs0 = 15u;
  if (!whole) {
#pragma unroll
    for (int r = 0; r < 12; ++r) if (!((tarry_u32)(t.o1 + r) < (tarry_u32)p.s0)) rs0 &= ~(1u << r);
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!((tarry_u32)(t.o2 + c) < (tarry_u32)p.s1)) cs0 &= ~(1u << c);
  }
  tarry_u32 rs1 = 4095u, cs1 = 15u;
  if (!whole) {
#pragma unroll
    for (int r = 0; r < 12; ++r) if (!((tarry_u32)(t.o3 + r) < (tarry_u32)p.s3)) rs1 &= ~(1u << r);
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!((tarry_u32)(t.o4 + c) < (tarry_u32)p.s4)) cs1 &= ~(1u << c);
  }
  float k0[12][4] = {};
#pragma unroll
  for (int r = 0; r < 12; ++r) {
    const tarry_u32 wanted = rs0 >> r & 1u ? cs0 : 0u;
    ENTRY_get<float, 4>(t.a0 + r * p.t0_0, wanted, k0[r]);
  }
  int turn = 0;
  (void)turn, (void)warp, (void)s;
#pragma unroll 1
  for (int step = 0; step < 10; ++step) {
    {
      auto& e = s[turn].s1;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        e.e0[warp][0][c][lane] = k0[0][c];
        e.e0[warp][1][c][lane] = k0[11][c];
      }
      __syncthreads();
      const int above = warp > 0 ? warp - 1 : 0, below = warp < 7 ? warp + 1 : 7;
      (void)above, (void)below;
      float x0[14][6];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        x0[0][c + 1] = e.e0[above][1][c][lane];
#pragma unroll
        for (int r = 0; r < 12; ++r) x0[r + 1][c + 1] = k0[r][c];
        x0[13][c + 1] = e.e0[below][0][c][lane];
      }
      turn ^= 1;
      if (!whole) asm volatile("" : "+r"(rs1), "+r"(cs1));
      float next[12][4];
#pragma unroll
      for (int r = 0; r < 12; ++r) {
        ENTRY_ends<1, 4, 1>(x0[r + 1]);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const float v2 = k0[r][c] * p.s2;
          const float v3 = x0[r][c + 1];
          const float v4 = v2 - v3;
          const float v5 = tarry_minimum_f32(v4, k0[r][c]);
          const float v6 = x0[r + 2][c + 1];
          const float v7 = v5 - v6;
          const float v8 = tarry_minimum_f32(v7, k0[r][c]);
          const float v9 = x0[r + 1][c];
          const float v10 = v8 - v9;
          const float v11 = tarry_minimum_f32(v10, k0[r][c]);
          const float v12 = x0[r + 1][c + 2];
          const float v13 = v11 - v12;
          const float v14 = tarry_minimum_f32(v13, k0[r][c]);
          const tarry_u8 v15 = (whole || (rs1 >> r & cs1 >> c & 1u));
          const float v16 = tarry_where_f32(v15, v14, k0[r][c]);
          next[r][c] = v16;
        }
      }
#pragma unroll
      for (int r = 0; r < 12; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          k0[r][c] = next[r][c];
        }
      }
    }
  }
  {
#pragma unroll
    for (int r = 0; r < 12; ++r) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
      }
    }
    tarry_u32 wanted = (tarry_u32)own < 104u ? 15u : 0u;
#pragma unroll
    for (int c = 0; c < 4; ++c) if (!whole && left + c >= columns) wanted &= ~(1u << c);
#pragma unroll
    for (int r = 0; r < 12; ++r) {
      if (top + r < 0 || top + r >= rows) continue;
      ENTRY_put<float, 4>(t.a5 + r * p.t5_0, wanted, k0[r]);
    }
  }
}
extern "C" __global__ void __launch_bounds__(256, 2) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  __shared__ ENTRY_shared s[2];
  const tarry_i64 number = blockIdx.x;
  tarry_u32 i = (tarry_u32)number;
  const tarry_u32 q1 = (__umulhi((tarry_u32)p.w1, i) + i) >> (tarry_u32)(p.w1 >> 32);
  const tarry_u32 i1 = i - q1 * (tarry_u32)p.n1;
  i = q1;
  const tarry_u32 column = i1 * 104;
  const int columns = (int)(p.e1 - column < 104 ? p.e1 - column : 104);
  const tarry_u32 row = i * 76;
  const int rows = (int)(p.e0 - row < 76 ? p.e0 - row : 76);
  ENTRY_at t;
  t.a0 = p.a0 + row * p.t0_0 + column;
  t.o1 = p.o1 + row;
  t.o2 = p.o2 + column;
  t.o3 = p.o3 + row;
  t.o4 = p.o4 + column;
  t.a5 = p.a5 + row * p.t5_0 + column;
  if (rows == 76 && columns == 104 && (tarry_u32)(t.o1 + (-10)) < (tarry_u32)p.s0 && (tarry_u32)(t.o1 + 85) < (tarry_u32)p.s0 && (tarry_u32)(t.o2 + (-12)) < (tarry_u32)p.s1 && (tarry_u32)(t.o2 + 115) < (tarry_u32)p.s1 && (tarry_u32)(t.o3 + (-10)) < (tarry_u32)p.s3 && (tarry_u32)(t.o3 + 85) < (tarry_u32)p.s3 && (tarry_u32)(t.o4 + (-12)) < (tarry_u32)p.s4 && (tarry_u32)(t.o4 + 115) < (tarry_u32)p.s4) ENTRY_tile<true>(p, t, s, rows, columns);
  else ENTRY_tile<false>(p, t, s, rows, columns);
}
