struct ENTRY_params {
  const tarry_u8* a0;
  tarry_i64 t0_1;
  const float* a1;
  const float* a2;
  float* a3;
  tarry_i64 t3_0;
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
  const tarry_u8* a0;
  const float* a1;
  const float* a2;
  float* a3;
};
struct ENTRY_loads { tarry_u8 a0[12]; float a1[3]; float a2[3]; };
template <bool whole>
__device__ __forceinline__ int ENTRY_take(const ENTRY_params& p, tarry_i64 number, ENTRY_at& at, ENTRY_loads& x) {
  if (number >= p.tiles) return 0;
  tarry_u32 i = (tarry_u32)number;
  const tarry_u32 q1 = (__umulhi((tarry_u32)p.w1, i) + i) >> (tarry_u32)(p.w1 >> 32);
  const tarry_u32 i1 = i - q1 * (tarry_u32)p.n1;
  i = q1;
  const tarry_u32 column = i1 * 4;
  const int columns = (int)(p.e1 - column < 4 ? p.e1 - column : 4);
  const tarry_u32 row = i * 3;
  const int rows = (int)(p.e0 - row < 3 ? p.e0 - row : 3);
  ENTRY_at t;
  t.a0 = p.a0 + row + column * p.t0_1;
  t.a1 = p.a1 + row;
  t.a2 = p.a2 + row;
  t.a3 = p.a3 + row * p.t3_0 + column;
#pragma unroll
  for (int r = 0; r < 1; ++r) {
#pragma unroll
    for (int i = 0; i < 12; i += 4) {
      const int there = whole ? 4 : columns * 3 - i;
      ENTRY_get<tarry_u8, 4>(t.a0 + i, there >= 4 ? 15u : there > 0 ? (1u << there) - 1 : 0u, x.a0 + r * 12 + i);
    }
  }
#pragma unroll
  for (int r = 0; r < 3; ++r) {
#pragma unroll
    for (int j = 0; j < 1; ++j) {
      x.a1[r] = t.a1[r];
    }
  }
#pragma unroll
  for (int r = 0; r < 3; ++r) {
#pragma unroll
    for (int j = 0; j < 1; ++j) {
      x.a2[r] = t.a2[r];
    }
  }
  at = t;
  return columns;
}
template <bool whole>
__device__ __forceinline__ void ENTRY_give(const ENTRY_params& p, const ENTRY_at& t, int columns, const ENTRY_loads& x) {
  float y3[12];
#pragma unroll
  for (int r = 0; r < 3; ++r) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const tarry_u8 v0 = x.a0[j * 3 + r];
      const float v1 = tarry_astype_u8_f32(v0);
      const float v2 = x.a1[r];
      const float v3 = v1 * v2;
      const float v4 = x.a2[r];
      const float v5 = v3 + v4;
      y3[r * 4 + j] = v5;
    }
  }
#pragma unroll
  for (int r = 0; r < 3; ++r) {
#pragma unroll
    for (int i = 0; i < 4; i += 4) {
      const int there = whole ? 4 : columns * 1 - i;
      ENTRY_put<float, 4>(t.a3 + r * p.t3_0 + i, there >= 4 ? 15u : there > 0 ? (1u << there) - 1 : 0u, y3 + r * 4 + i);
    }
  }
}
template <bool whole>
__device__ __forceinline__ void ENTRY_tiles(const ENTRY_params& p) {
  const tarry_i64 first = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  ENTRY_at t[1];
  ENTRY_loads x[1];
  int columns[1];
#pragma unroll
  for (int g = 0; g < 1; ++g) columns[g] = ENTRY_take<whole>(p, first + g * 256, t[g], x[g]);
#pragma unroll
  for (int g = 0; g < 1; ++g) if (columns[g] > 0) ENTRY_give<whole>(p, t[g], columns[g], x[g]);
}
extern "C" __global__ void __launch_bounds__(256) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  if (p.e1 % 4 != 0) return ENTRY_tiles<false>(p);
  ENTRY_tiles<true>(p);
}
