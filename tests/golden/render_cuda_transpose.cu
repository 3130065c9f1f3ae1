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
  const float* a1;
  float* a2;
};
struct alignas(16) ENTRY_shared {
  alignas(16) float s1[64][65];
};
template <int n> __device__ __forceinline__ tarry_u32 ENTRY_within(int first, int end) {
  return ((1u << min(max(end, 0), n)) - 1) & ~((1u << min(max(first, 0), n)) - 1);
}
template <bool whole>
__device__ __forceinline__ void ENTRY_tile(const ENTRY_params& p, const ENTRY_at& t, ENTRY_shared& s, int above, int before, int rows, int columns) {
  const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
  float x1[8] = {};
#pragma unroll
  for (int c = 0; c < 1; ++c) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const float* from = t.a1 + warp * p.t1_1;
      const int e = (lane + k * 32) * 1;
      const tarry_u32 there = whole ? 1u : ENTRY_within<1>(0 - e, rows - e);
      from += e;
      if (whole || there != 0) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int y = warp + i * 16, n = (c * 2 + k) * 4 + i;
          if (whole || (y >= 0 && y < columns)) x1[n] = *from;
          from += 16 * p.t1_1;
        }
      }
    }
  }
  float x0[8][1] = {};
#pragma unroll
  for (int v = 0; v < 1; ++v) {
#pragma unroll
    for (int g = 0; g < 1; ++g) {
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int e = (lane + k * 32) * 1;
        const tarry_u32 there = whole ? 1u : ENTRY_within<1>(0 - e, columns - e);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int r = warp + (i * 1 + g) * 16, n = ((v * 1 + g) * 2 + k) * 4 + i;
          if (!whole && !(r < rows)) continue;
          ENTRY_get<float, 1>(t.a0 + r * p.t0_0 + e, there, x0[n]);
        }
      }
    }
  }
#pragma unroll
  for (int c = 0; c < 1; ++c) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int e = (lane + k * 32) * 1;
      float* to = &s.s1[(tarry_u32)warp][e];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int y = warp + i * 16, n = (c * 2 + k) * 4 + i;
        *to = x1[n];
        to += 1040;
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < 1; ++v) {
#pragma unroll
    for (int g = 0; g < 1; ++g) {
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int e = (lane + k * 32) * 1;
        const tarry_u32 there = whole ? 1u : ENTRY_within<1>(0 - e, columns - e);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int r = warp + (i * 1 + g) * 16, n = ((v * 1 + g) * 2 + k) * 4 + i;
          if (!whole && r >= rows) continue;
          float y2[1];
#pragma unroll
          for (int j = 0; j < 1; ++j) {
            const int y = e + j, c = v;
            const float v0 = x0[n][0];
            const float v1 = s.s1[(tarry_u32)y][r];
            const float v2 = v0 + v1;
            y2[j] = v2;
          }
          ENTRY_put<float, 1>(t.a2 + r * p.t2_0 + e, there, y2);
        }
      }
    }
  }
}
extern "C" __global__ void __launch_bounds__(512, 3) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  __shared__ ENTRY_shared s;
  const tarry_i64 number = blockIdx.x;
  tarry_u32 i = (tarry_u32)number;
  const tarry_u32 q1 = (__umulhi((tarry_u32)p.w1, i) + i) >> (tarry_u32)(p.w1 >> 32);
  const tarry_u32 i1 = i - q1 * (tarry_u32)p.n1;
  i = q1;
  const tarry_u32 column = i1 * 64;
  const int columns = (int)(p.e1 - column < 64 ? p.e1 - column : 64);
  const tarry_u32 row = i * 64;
  const int rows = (int)(p.e0 - row < 64 ? p.e0 - row : 64);
  ENTRY_at t;
  t.a0 = p.a0 + row * p.t0_0 + column;
  t.a1 = p.a1 + row + column * p.t1_1;
  t.a2 = p.a2 + row * p.t2_0 + column;
  const int above = row > 0 ? 0 : 0, before = column > 0 ? 0 : 0;
  if (rows == 64 && columns == 64) ENTRY_tile<true>(p, t, s, above, before, rows, columns);
  else ENTRY_tile<false>(p, t, s, above, before, rows, columns);
}
