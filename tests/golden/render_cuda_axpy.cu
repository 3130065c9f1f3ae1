struct ENTRY_params {
  const float* a0;
  const float* a1;
  float* a2;
  float s0, s0_pad[1];
  tarry_i64 count;
};
struct alignas(16) ENTRY_f32 { float v[4]; };
struct ENTRY_at {
  const float* a0;
  const float* a1;
  float* a2;
};
__device__ __forceinline__ ENTRY_at ENTRY_place(const ENTRY_params& p, tarry_u32 i) {
  ENTRY_at t;
  t.a0 = p.a0 + i;
  t.a1 = p.a1 + i;
  t.a2 = p.a2 + i;
  return t;
}
struct ENTRY_loads { ENTRY_f32 a0; ENTRY_f32 a1; };
__device__ __forceinline__ void ENTRY_load(const ENTRY_params& p, const ENTRY_at& t, int m, ENTRY_loads& x) {
  if (m >= 4) {
    x.a0 = *(const ENTRY_f32*)(t.a0);
    x.a1 = *(const ENTRY_f32*)(t.a1);
  }
  else {
    constexpr int j = 0;
    x.a0.v[j] = t.a0[j];
    x.a1.v[j] = t.a1[j];
  }
}
struct ENTRY_stores { ENTRY_f32 a2; };
__device__ __forceinline__ void ENTRY_store(const ENTRY_params& p, const ENTRY_at& t, int m, const ENTRY_stores& x) {
  if (m >= 4) {
    *(ENTRY_f32*)(t.a2) = x.a2;
  }
  else {
    constexpr int j = 0;
    t.a2[j] = x.a2.v[j];
  }
}
__device__ __forceinline__ void ENTRY_point(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_loads& x, int j, ENTRY_stores& y) {
  const float v0 = x.a0.v[j];
  const float v1 = x.a1.v[j];
  const float v3 = v0 * p.s0;
  const float v4 = v3 + v1;
  y.a2.v[j] = v4;
}

extern "C" __global__ void __launch_bounds__(256) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  const tarry_i64 first = (tarry_i64)blockIdx.x * (1 * 256 * 4);
  if (p.count - first >= 1 * 256 * 4) {
    ENTRY_at t[1];
    ENTRY_loads x[1];
#pragma unroll
    for (int g = 0; g < 1; ++g) {
      t[g] = ENTRY_place(p, (tarry_u32)first + (tarry_u32)((g * 256 + threadIdx.x) * 4));
      ENTRY_load(p, t[g], 4, x[g]);
    }
#pragma unroll
    for (int g = 0; g < 1; ++g) {
      ENTRY_stores y;
#pragma unroll
      for (int j = 0; j < 4; ++j) ENTRY_point(p, t[g], x[g], j, y);
      ENTRY_store(p, t[g], 4, y);
    }
  } else {
#pragma unroll 1
    for (tarry_i64 i = first + threadIdx.x; i < p.count; i += 256) {
      const ENTRY_at t = ENTRY_place(p, (tarry_u32)i);
      ENTRY_loads x;
      ENTRY_stores y;
      ENTRY_load(p, t, 1, x);
      ENTRY_point(p, t, x, 0, y);
      ENTRY_store(p, t, 1, y);
    }
  }
}
