struct ENTRY_params {
  const tarry_u8* a0;
  tarry_i64 t0_1;
  tarry_u8* a1;
  tarry_i64 t1_0;
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
  tarry_u8* a1;
};
struct alignas(16) ENTRY_shared {
  alignas(16) tarry_u8 s0[42108];
};
template <int n> __device__ __forceinline__ tarry_u32 ENTRY_within(int first, int end) {
  return ((1u << min(max(end, 0), n)) - 1) & ~((1u << min(max(first, 0), n)) - 1);
}
template <class T> __device__ __forceinline__ tarry_u32 ENTRY_part(const T* from, tarry_u32 wanted) {
  tarry_u32 word = 0;
#pragma unroll
  for (int j = 0; j < 4 / (int)sizeof(T); ++j) if (wanted >> j & 1u) word |= ((tarry_u32)from[j] & ((1u << 8 * sizeof(T)) - 1)) << j * 8 * (int)sizeof(T);
  return word;
}
template <int bytes, class T> __device__ __forceinline__ int ENTRY_past(const T* p) { return (int)((tarry_u64)p % bytes / sizeof(T)); }
template <int word> struct ENTRY_lines { int pitch, run, past; };
template <int word> __device__ __forceinline__ int ENTRY_place(const ENTRY_lines<word>& l, int n) { return n * l.pitch + (n >> l.run) * word + l.past; }
template <bool whole>
__device__ __forceinline__ void ENTRY_tile(const ENTRY_params& p, const ENTRY_at& t, ENTRY_shared& s, int above, int before, int rows, int columns) {
  const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
  const int more0 = (int)((tarry_u64)(1 * p.t0_1) % 4);
  const ENTRY_lines<4> l0 = {260 + more0, more0 % 2 ? 31 : 5 + more0 / 2, ENTRY_past<4>(t.a0 + -32 * p.t0_1)};
  tarry_u32 x0[20] = {};
#pragma unroll
  for (int c = 0; c < 1; ++c) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const tarry_u8* from = t.a0 + (warp - 32) * p.t0_1;
      const int e = (lane + k * 32) * 4 - ENTRY_past<4>(from);
      const tarry_u32 there = whole ? 15u : ENTRY_within<4>(above - e, rows - e);
      from += e;
      if (whole || there == 15u) {
#pragma unroll
        for (int i = 0; i < 10; ++i) {
          const int y = warp + i * 16 + -32, n = (c * 2 + k) * 10 + i;
          if (whole || (y >= before && y < columns)) x0[n] = *(const tarry_u32*)from;
          from += 16 * p.t0_1;
        }
      }
      else if (there != 0) {
#pragma unroll
        for (int i = 0; i < 10; ++i) {
          const int y = warp + i * 16 + -32, n = (c * 2 + k) * 10 + i;
          if (whole || (y >= before && y < columns)) x0[n] = ENTRY_part(from, there);
          from += 16 * p.t0_1;
        }
      }
    }
  }
#pragma unroll
  for (int c = 0; c < 1; ++c) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int e = (lane + k * 32) * 4;
#pragma unroll
      for (int i = 0; i < 10; ++i) {
        const int y = warp + i * 16 + -32, n = (c * 2 + k) * 10 + i;
        tarry_u8* to = &s.s0[(ENTRY_place(l0, y + 32) & -4) + e];
        *(tarry_u32*)to = x0[n];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < 1; ++v) {
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      const int past = ENTRY_past<32>(t.a1 + (warp + g * 16) * p.t1_0);
#pragma unroll
      for (int k = 0; k < 1; ++k) {
        const int e = (lane + k * 32) * 4 - past;
        const tarry_u32 there = whole ? 15u : ENTRY_within<4>(before - e, columns - e);
        int at0[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int y = e + j, c = v;
          at0[j] = ENTRY_place(l0, y + 32);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const int r = warp + (i * 2 + g) * 16, n = ((v * 2 + g) * 1 + k) * 8 + i;
          if (i * 2 + g >= 15 && r >= 252) continue;
          if (!whole && r >= rows) continue;
          tarry_u8 y1[4];
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const int y = e + j, c = v;
            const tarry_u8 v0 = s.s0[at0[j] + r];
            y1[j] = v0;
          }
          ENTRY_put<tarry_u8, 4>(t.a1 + r * p.t1_0 + e, there, y1);
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
  const tarry_u32 column = i1 * 128;
  const int columns = (int)(p.e1 - column < 128 ? p.e1 - column : 128);
  const tarry_u32 row = i * 252;
  const int rows = (int)(p.e0 - row < 256 ? p.e0 - row : 256);
  ENTRY_at t;
  t.a0 = p.a0 + row + column * p.t0_1;
  t.a1 = p.a1 + row * p.t1_0 + column;
  const int above = row > 0 ? -3 : 0, before = column > 0 ? -32 : 0;
  if (rows == 256 && columns == 128 && row > 0 && column > 0) ENTRY_tile<true>(p, t, s, above, before, rows, columns);
  else ENTRY_tile<false>(p, t, s, above, before, rows, columns);
}
