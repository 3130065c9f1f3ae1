struct ENTRY_params {
  const float* a0;
  tarry_i64 t0_0;
  float* a1;
  tarry_i64 t1_0;
  tarry_i64 count;
  tarry_i64 n;
};
struct alignas(16) ENTRY_f32 { float v[4]; };
struct ENTRY_at {
  const float* a0;
  float* a1;
};
__device__ __forceinline__ ENTRY_at ENTRY_place(const ENTRY_params& p, tarry_u32 i) {
  ENTRY_at t;
  t.a0 = p.a0 + i * p.t0_0;
  t.a1 = p.a1 + i * p.t1_0;
  return t;
}
struct ENTRY_row { };
__device__ __forceinline__ ENTRY_row ENTRY_begin(const ENTRY_params& p, const ENTRY_at& t, int j) {
  ENTRY_row r;
  return r;
}
struct ENTRY_outer { float v1; float v4; };
struct ENTRY_kept { float v0; float v3; };
struct ENTRY_0_state { float r0; };
struct ENTRY_0_loads { ENTRY_f32 a0; };
__device__ __forceinline__ void ENTRY_0_load(const ENTRY_params& p, const ENTRY_at& t, int k, int m, ENTRY_0_loads& x) {
  if (m >= 4) {
    x.a0 = *(const ENTRY_f32*)(t.a0 + k);
  }
  else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < m) {
        x.a0.v[j] = t.a0[(k + j)];
      }
    }
  }
}
struct ENTRY_0_inputs { float x0; };
__device__ __forceinline__ ENTRY_0_inputs ENTRY_0_point(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, const ENTRY_0_loads& x, int j, int k, ENTRY_kept& h) {
  const float v0 = x.a0.v[j];
  h.v0 = v0;
  ENTRY_0_inputs in;
  in.x0 = v0;
  return in;
}
__device__ __forceinline__ void ENTRY_0_finish(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_0_state& s, bool leader, ENTRY_outer& o) {
  const float v1 = s.r0;
  o.v1 = v1;
}
struct ENTRY_0_split { };
template <class Count>
__device__ __forceinline__ ENTRY_0_split ENTRY_0_even(const ENTRY_params& p, Count na) {
  ENTRY_0_split h;
  return h;
}
template <class Count>
__device__ __forceinline__ ENTRY_0_split ENTRY_0_share(const ENTRY_params& p, Count na, Count nb) {
  if (na == nb) return ENTRY_0_even(p, na);
  ENTRY_0_split h;
  return h;
}
__device__ __forceinline__ ENTRY_0_state ENTRY_0_first(const ENTRY_0_inputs& in) {
  ENTRY_0_state s;
  s.r0 = in.x0;
  return s;
}
__device__ __forceinline__ ENTRY_0_state ENTRY_0_step(const ENTRY_params& p, ENTRY_0_state a, const ENTRY_0_inputs& in, int k) {
  a.r0 = tarry_maximum_f32(a.r0, in.x0);
  return a;
}
__device__ __forceinline__ ENTRY_0_state ENTRY_0_combine(ENTRY_0_state a, ENTRY_0_state b, ENTRY_0_split h) {
  a.r0 = tarry_maximum_f32(a.r0, b.r0);
  return a;
}
__device__ __forceinline__ ENTRY_0_state ENTRY_0_meet(ENTRY_0_state a, ENTRY_0_state b, ENTRY_0_split h, bool left) {
  a.r0 = tarry_maximum_f32(a.r0, b.r0);
  return a;
}
__device__ __forceinline__ ENTRY_0_state ENTRY_0_across(ENTRY_0_state s, int d) {
  s.r0 = (float)__shfl_xor_sync(0xffffffffu, s.r0, d);
  return s;
}
__device__ __forceinline__ ENTRY_0_state ENTRY_0_down(ENTRY_0_state s, int d) {
  s.r0 = (float)__shfl_down_sync(0xffffffffu, s.r0, d);
  return s;
}
__device__ __forceinline__ ENTRY_0_state ENTRY_0_from(ENTRY_0_state s, int lane) {
  s.r0 = (float)__shfl_sync(0xffffffffu, s.r0, lane);
  return s;
}

// The split of lanes l and l + d of a tree block of m elements: lane l holds the elements l, l + 2d, l + 4d, ..., which are
// m / 2d or one more. `uneven` is the split of one more with m / 2d.
__device__ __forceinline__ ENTRY_0_split ENTRY_0_lane_pair(const ENTRY_params& p, int m, int l, int d, ENTRY_0_split uneven) {
  const int na = (m - l + 2 * d - 1) / (2 * d), nb = (m - l + d - 1) / (2 * d);
  return na == nb ? ENTRY_0_even(p, na) : uneven;
}
__device__ __forceinline__ ENTRY_0_split ENTRY_0_uneven(const ENTRY_params& p, int m, int d) { return ENTRY_0_share(p, m / (2 * d) + 1, m / (2 * d)); }

// The lanes of 4 whole blocks, 4 in each thread; x[s] holds elements k + 32 s ... of them.
__device__ __forceinline__ void ENTRY_0_take(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, const ENTRY_0_loads* x, int k, ENTRY_0_state* c) {
#pragma unroll
  for (int s = 0; s < 4; ++s) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const ENTRY_0_inputs in = ENTRY_0_point(p, t, r, o, x[s], j, k + s * 32, h[s * 4 + j]);
      c[j] = s == 0 ? ENTRY_0_first(in) : ENTRY_0_step(p, c[j], in, s + 1);
    }
  }
}

// The node of those blocks, in all their threads.
__device__ __forceinline__ ENTRY_0_state ENTRY_0_node(const ENTRY_params& p, ENTRY_0_state* c) {
  const ENTRY_0_split h = ENTRY_0_even(p, 1);
#pragma unroll
  for (int j = 4 / 2; j < 4; ++j) c[j - 4 / 2] = ENTRY_0_combine(c[j - 4 / 2], c[j], h);
#pragma unroll
  for (int j = 1; j < 4 / 2; ++j) c[0] = ENTRY_0_combine(c[0], c[j], h);
#pragma unroll
  for (int d = 1; d < 4 * 8; d *= 2) c[0] = ENTRY_0_combine(c[0], ENTRY_0_across(c[0], d), h);
  return (c[0]);
}

// Up to 4 blocks with m elements in all: lanes and blocks that are missing take no part. Points that are missing are
// computed all the same, from zeros: that is shorter than going round them one by one. Loops load for themselves.
__device__ __forceinline__ ENTRY_0_state ENTRY_0_some(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, int base, int m) {
  const int lane = threadIdx.x & 31, block = (lane / 8) * 128, l = lane % 8 * 4;
  const int here = m - block < 128 ? m - block : 128;
  ENTRY_0_loads x[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
    ENTRY_0_load(p, t, base + block + s * 32 + l, left, x[s]);
  }
  ENTRY_0_state c[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!false || j < left) {
        const ENTRY_0_inputs in = ENTRY_0_point(p, t, r, o, x[s], j, base + block + s * 32 + l, h[s * 4 + j]);
        const ENTRY_0_state next = s == 0 ? ENTRY_0_first(in) : ENTRY_0_step(p, c[j], in, s + 1);
        if (j < left) c[j] = next;
      }
    }
  }
#pragma unroll
  for (int d = 16; d >= 4; d /= 2) {
    const ENTRY_0_split uneven = ENTRY_0_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const ENTRY_0_state b = ENTRY_0_down(c[j], d / 4);
      if (l + j + d < here) c[j] = ENTRY_0_combine(c[j], b, ENTRY_0_lane_pair(p, here, l + j, d, uneven));
    }
  }
  // The lanes of the block's first thread.
#pragma unroll
  for (int d = 4 / 2; d > 0; d /= 2) {
    const ENTRY_0_split uneven = ENTRY_0_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < d; ++j)
      if (j + d < here) c[j] = ENTRY_0_combine(c[j], c[j + d], ENTRY_0_lane_pair(p, here, j, d, uneven));
  }
#pragma unroll
  for (int d = 1; d < 4; d *= 2) {
    const ENTRY_0_state b = ENTRY_0_down(c[0], 8 * d);
    const int left = m - block - d * 128;
    if (left > 0) c[0] = ENTRY_0_combine(c[0], b, ENTRY_0_share(p, d * 128, left < d * 128 ? left : d * 128));
  }
  return (c[0]);
}

// The node of the unit at `base`, m of whose elements are there; it is in the first lane. `whole`, the same for the warp:
// all of them are.
__device__ __forceinline__ ENTRY_0_state ENTRY_0_unit(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, int base, int m, bool whole) {
  if (!whole) return ENTRY_0_some(p, t, r, o, h, base, m);
  const int lane = threadIdx.x & 31;
  const int k = base + (lane / 8) * 128 + lane % 8 * 4;
  ENTRY_0_loads x[4];
#pragma unroll
  for (int s = 0; s < 4; ++s) ENTRY_0_load(p, t, k + s * 32, 4, x[s]);
  ENTRY_0_state c[4];
  ENTRY_0_take(p, t, r, o, h, x, k, c);
  return ENTRY_0_node(p, c);
}

// Every warp combines the nodes of all of them, so that one barrier is enough.
__device__ __forceinline__ ENTRY_0_state ENTRY_0_join(const ENTRY_params& p, ENTRY_0_state* nodes, ENTRY_0_state s) {
  const int lane = threadIdx.x & 31, n = (int)p.n, there = (n + 1 * 512 - 1) / (1 * 512);
  if (lane == 0) nodes[threadIdx.x >> 5] = s;
  __syncthreads();
  s = nodes[lane < there ? lane : 0];
#pragma unroll
  for (int d = 1; d < 256 / 32; d *= 2) {
    const ENTRY_0_state b = ENTRY_0_down(s, d);
    const int left = n - (lane + d) * (1 * 512);
    if (left > 0) s = ENTRY_0_combine(s, b, ENTRY_0_share(p, d * (1 * 512), left < d * (1 * 512) ? left : d * (1 * 512)));
  }
  return ENTRY_0_from(s, 0);
}
struct ENTRY_1_state { float r1; };
struct ENTRY_1_loads { };
__device__ __forceinline__ void ENTRY_1_load(const ENTRY_params& p, const ENTRY_at& t, int k, int m, ENTRY_1_loads& x) {
}
struct ENTRY_1_inputs { float x1; };
__device__ __forceinline__ ENTRY_1_inputs ENTRY_1_point(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, const ENTRY_1_loads& x, int j, int k, ENTRY_kept& h) {
  const float v2 = h.v0 - o.v1;
  const float v3 = tarry_exp_f32(v2);
  h.v3 = v3;
  ENTRY_1_inputs in;
  in.x1 = v3;
  return in;
}
__device__ __forceinline__ void ENTRY_1_finish(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_1_state& s, bool leader, ENTRY_outer& o) {
  const float v4 = s.r1;
  o.v4 = v4;
}
struct ENTRY_1_split { };
template <class Count>
__device__ __forceinline__ ENTRY_1_split ENTRY_1_even(const ENTRY_params& p, Count na) {
  ENTRY_1_split h;
  return h;
}
template <class Count>
__device__ __forceinline__ ENTRY_1_split ENTRY_1_share(const ENTRY_params& p, Count na, Count nb) {
  if (na == nb) return ENTRY_1_even(p, na);
  ENTRY_1_split h;
  return h;
}
__device__ __forceinline__ ENTRY_1_state ENTRY_1_first(const ENTRY_1_inputs& in) {
  ENTRY_1_state s;
  s.r1 = in.x1;
  return s;
}
__device__ __forceinline__ ENTRY_1_state ENTRY_1_step(const ENTRY_params& p, ENTRY_1_state a, const ENTRY_1_inputs& in, int k) {
  a.r1 = a.r1 + in.x1;
  return a;
}
__device__ __forceinline__ ENTRY_1_state ENTRY_1_combine(ENTRY_1_state a, ENTRY_1_state b, ENTRY_1_split h) {
  a.r1 = a.r1 + b.r1;
  return a;
}
__device__ __forceinline__ ENTRY_1_state ENTRY_1_meet(ENTRY_1_state a, ENTRY_1_state b, ENTRY_1_split h, bool left) {
  a.r1 = a.r1 + b.r1;
  return a;
}
__device__ __forceinline__ ENTRY_1_state ENTRY_1_across(ENTRY_1_state s, int d) {
  s.r1 = (float)__shfl_xor_sync(0xffffffffu, s.r1, d);
  return s;
}
__device__ __forceinline__ ENTRY_1_state ENTRY_1_down(ENTRY_1_state s, int d) {
  s.r1 = (float)__shfl_down_sync(0xffffffffu, s.r1, d);
  return s;
}
__device__ __forceinline__ ENTRY_1_state ENTRY_1_from(ENTRY_1_state s, int lane) {
  s.r1 = (float)__shfl_sync(0xffffffffu, s.r1, lane);
  return s;
}

// The split of lanes l and l + d of a tree block of m elements: lane l holds the elements l, l + 2d, l + 4d, ..., which are
// m / 2d or one more. `uneven` is the split of one more with m / 2d.
__device__ __forceinline__ ENTRY_1_split ENTRY_1_lane_pair(const ENTRY_params& p, int m, int l, int d, ENTRY_1_split uneven) {
  const int na = (m - l + 2 * d - 1) / (2 * d), nb = (m - l + d - 1) / (2 * d);
  return na == nb ? ENTRY_1_even(p, na) : uneven;
}
__device__ __forceinline__ ENTRY_1_split ENTRY_1_uneven(const ENTRY_params& p, int m, int d) { return ENTRY_1_share(p, m / (2 * d) + 1, m / (2 * d)); }

// The lanes of 4 whole blocks, 4 in each thread; x[s] holds elements k + 32 s ... of them.
__device__ __forceinline__ void ENTRY_1_take(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, const ENTRY_1_loads* x, int k, ENTRY_1_state* c) {
#pragma unroll
  for (int s = 0; s < 4; ++s) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const ENTRY_1_inputs in = ENTRY_1_point(p, t, r, o, x[s], j, k + s * 32, h[s * 4 + j]);
      c[j] = s == 0 ? ENTRY_1_first(in) : ENTRY_1_step(p, c[j], in, s + 1);
    }
  }
}

// The node of those blocks, in all their threads.
__device__ __forceinline__ ENTRY_1_state ENTRY_1_node(const ENTRY_params& p, ENTRY_1_state* c) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 16; d >= 4; d /= 2) {
#pragma unroll
    for (int j = 0; j < 4; ++j) c[j] = ENTRY_1_meet(c[j], ENTRY_1_across(c[j], d / 4), ENTRY_1_even(p, 64 / d), !(lane & d / 4));
  }
#pragma unroll
  for (int d = 4 / 2; d > 0; d /= 2) {
#pragma unroll
    for (int j = 0; j < d; ++j) c[j] = ENTRY_1_combine(c[j], c[j + d], ENTRY_1_even(p, 64 / d));
  }
#pragma unroll
  for (int d = 1; d < 4; d *= 2) c[0] = ENTRY_1_meet(c[0], ENTRY_1_across(c[0], 8 * d), ENTRY_1_even(p, 128 * d), !(lane & 8 * d));
  return (c[0]);
}

// Up to 4 blocks with m elements in all: lanes and blocks that are missing take no part. Points that are missing are
// computed all the same, from zeros: that is shorter than going round them one by one. Loops load for themselves.
__device__ __forceinline__ ENTRY_1_state ENTRY_1_some(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, int base, int m) {
  const int lane = threadIdx.x & 31, block = (lane / 8) * 128, l = lane % 8 * 4;
  const int here = m - block < 128 ? m - block : 128;
  ENTRY_1_loads x[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
    ENTRY_1_load(p, t, base + block + s * 32 + l, left, x[s]);
  }
  ENTRY_1_state c[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!false || j < left) {
        const ENTRY_1_inputs in = ENTRY_1_point(p, t, r, o, x[s], j, base + block + s * 32 + l, h[s * 4 + j]);
        const ENTRY_1_state next = s == 0 ? ENTRY_1_first(in) : ENTRY_1_step(p, c[j], in, s + 1);
        if (j < left) c[j] = next;
      }
    }
  }
#pragma unroll
  for (int d = 16; d >= 4; d /= 2) {
    const ENTRY_1_split uneven = ENTRY_1_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const ENTRY_1_state b = ENTRY_1_down(c[j], d / 4);
      if (l + j + d < here) c[j] = ENTRY_1_combine(c[j], b, ENTRY_1_lane_pair(p, here, l + j, d, uneven));
    }
  }
  // The lanes of the block's first thread.
#pragma unroll
  for (int d = 4 / 2; d > 0; d /= 2) {
    const ENTRY_1_split uneven = ENTRY_1_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < d; ++j)
      if (j + d < here) c[j] = ENTRY_1_combine(c[j], c[j + d], ENTRY_1_lane_pair(p, here, j, d, uneven));
  }
#pragma unroll
  for (int d = 1; d < 4; d *= 2) {
    const ENTRY_1_state b = ENTRY_1_down(c[0], 8 * d);
    const int left = m - block - d * 128;
    if (left > 0) c[0] = ENTRY_1_combine(c[0], b, ENTRY_1_share(p, d * 128, left < d * 128 ? left : d * 128));
  }
  return (c[0]);
}

// The node of the unit at `base`, m of whose elements are there; it is in the first lane. `whole`, the same for the warp:
// all of them are.
__device__ __forceinline__ ENTRY_1_state ENTRY_1_unit(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, int base, int m, bool whole) {
  if (!whole) return ENTRY_1_some(p, t, r, o, h, base, m);
  const int lane = threadIdx.x & 31;
  const int k = base + (lane / 8) * 128 + lane % 8 * 4;
  ENTRY_1_loads x[4];
#pragma unroll
  for (int s = 0; s < 4; ++s) ENTRY_1_load(p, t, k + s * 32, 4, x[s]);
  ENTRY_1_state c[4];
  ENTRY_1_take(p, t, r, o, h, x, k, c);
  return ENTRY_1_node(p, c);
}

// Every warp combines the nodes of all of them, so that one barrier is enough.
__device__ __forceinline__ ENTRY_1_state ENTRY_1_join(const ENTRY_params& p, ENTRY_1_state* nodes, ENTRY_1_state s) {
  const int lane = threadIdx.x & 31, n = (int)p.n, there = (n + 1 * 512 - 1) / (1 * 512);
  if (lane == 0) nodes[threadIdx.x >> 5] = s;
  __syncthreads();
  s = nodes[lane < there ? lane : 0];
#pragma unroll
  for (int d = 1; d < 256 / 32; d *= 2) {
    const ENTRY_1_state b = ENTRY_1_down(s, d);
    const int left = n - (lane + d) * (1 * 512);
    if (left > 0) s = ENTRY_1_combine(s, b, ENTRY_1_share(p, d * (1 * 512), left < d * (1 * 512) ? left : d * (1 * 512)));
  }
  return ENTRY_1_from(s, 0);
}
struct ENTRY_2_state { };
struct ENTRY_2_loads { };
__device__ __forceinline__ void ENTRY_2_load(const ENTRY_params& p, const ENTRY_at& t, int k, int m, ENTRY_2_loads& x) {
}
struct ENTRY_2_stores { ENTRY_f32 a1; };
__device__ __forceinline__ void ENTRY_2_store(const ENTRY_params& p, const ENTRY_at& t, int k, int m, const ENTRY_2_stores& x) {
  if (m >= 4) {
    *(ENTRY_f32*)(t.a1 + k) = x.a1;
  }
  else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < m) {
        t.a1[(k + j)] = x.a1.v[j];
      }
    }
  }
}
struct ENTRY_2_inputs { };
__device__ __forceinline__ ENTRY_2_inputs ENTRY_2_point(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, const ENTRY_2_loads& x, int j, int k, ENTRY_2_stores& y, ENTRY_kept& h) {
  const float v5 = h.v3 / o.v4;
  y.a1.v[j] = v5;
  ENTRY_2_inputs in;
  return in;
}
__device__ __forceinline__ void ENTRY_2_finish(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_2_state& s, bool leader, ENTRY_outer& o) {
}
struct ENTRY_2_split { };
template <class Count>
__device__ __forceinline__ ENTRY_2_split ENTRY_2_even(const ENTRY_params& p, Count na) {
  ENTRY_2_split h;
  return h;
}
template <class Count>
__device__ __forceinline__ ENTRY_2_split ENTRY_2_share(const ENTRY_params& p, Count na, Count nb) {
  if (na == nb) return ENTRY_2_even(p, na);
  ENTRY_2_split h;
  return h;
}
__device__ __forceinline__ ENTRY_2_state ENTRY_2_first(const ENTRY_2_inputs& in) {
  ENTRY_2_state s;
  return s;
}
__device__ __forceinline__ ENTRY_2_state ENTRY_2_step(const ENTRY_params& p, ENTRY_2_state a, const ENTRY_2_inputs& in, int k) {
  return a;
}
__device__ __forceinline__ ENTRY_2_state ENTRY_2_combine(ENTRY_2_state a, ENTRY_2_state b, ENTRY_2_split h) {
  return a;
}
__device__ __forceinline__ ENTRY_2_state ENTRY_2_meet(ENTRY_2_state a, ENTRY_2_state b, ENTRY_2_split h, bool left) {
  return a;
}
__device__ __forceinline__ ENTRY_2_state ENTRY_2_across(ENTRY_2_state s, int d) {
  return s;
}
__device__ __forceinline__ ENTRY_2_state ENTRY_2_down(ENTRY_2_state s, int d) {
  return s;
}
__device__ __forceinline__ ENTRY_2_state ENTRY_2_from(ENTRY_2_state s, int lane) {
  return s;
}

template <bool kWhole>
__device__ __forceinline__ void ENTRY_2_each(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, int base, int m) {
  const int lane = threadIdx.x & 31, at = (lane / 8) * 128 + lane % 8 * 4, there = (m - (lane / 8) * 128 < 128 ? m - (lane / 8) * 128 : 128) - lane % 8 * 4;
  const int k = base + at;
  ENTRY_2_loads x[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) ENTRY_2_load(p, t, k + s * 32, kWhole ? 4 : there - s * 32, x[s]);
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    ENTRY_2_stores y;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (!false || kWhole || j < there - s * 32) ENTRY_2_point(p, t, r, o, x[s], j, k + s * 32, y, h[s * 4 + j]);
    ENTRY_2_store(p, t, k + s * 32, kWhole ? 4 : there - s * 32, y);
  }
}
__device__ __forceinline__ void ENTRY_2_unit(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_outer& o, ENTRY_kept* h, int base, int m, bool whole) {
  if (whole) return ENTRY_2_each<true>(p, t, r, o, h, base, m);
  ENTRY_2_each<false>(p, t, r, o, h, base, m);
}

extern "C" __global__ void __launch_bounds__(256, 5) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  const tarry_i64 i = blockIdx.x;
  const int first = (threadIdx.x >> 5) * (1 * 512);
  const int m = (int)p.n - (int)first;
  const bool leader = threadIdx.x == 0;
  const ENTRY_at t = ENTRY_place(p, (tarry_u32)i);
  const ENTRY_row r = ENTRY_begin(p, t, 0);
  ENTRY_outer o;
  ENTRY_kept h[4 * 4 * 1];
  ENTRY_0_state s0 = {}, q0 = {};
#pragma unroll
  for (int u = 0; u < 1; ++u) {
    const int there = m - u * 512;
    if (there > 0) {
      const ENTRY_0_state a = ENTRY_0_unit(p, t, r, o, h + u * (4 * 4), first + u * 512, there, there >= 512);
      const ENTRY_0_split split = ENTRY_0_share(p, 512, there < 512 ? there : 512);
      if (u < 2) s0 = u & 1 ? ENTRY_0_combine(s0, a, split) : a;
      else q0 = u & 1 ? ENTRY_0_combine(q0, a, split) : a;
    }
  }
  if (1 > 2 && m > 2 * 512) s0 = ENTRY_0_combine(s0, q0, ENTRY_0_share(p, 2 * 512, m < 4 * 512 ? m - 2 * 512 : 2 * 512));
  __shared__ ENTRY_0_state nodes0[256 / 32];
  s0 = ENTRY_0_join(p, nodes0, s0);
  ENTRY_0_finish(p, t, r, s0, leader, o);
  ENTRY_1_state s1 = {}, q1 = {};
#pragma unroll
  for (int u = 0; u < 1; ++u) {
    const int there = m - u * 512;
    if (there > 0) {
      const ENTRY_1_state a = ENTRY_1_unit(p, t, r, o, h + u * (4 * 4), first + u * 512, there, there >= 512);
      const ENTRY_1_split split = ENTRY_1_share(p, 512, there < 512 ? there : 512);
      if (u < 2) s1 = u & 1 ? ENTRY_1_combine(s1, a, split) : a;
      else q1 = u & 1 ? ENTRY_1_combine(q1, a, split) : a;
    }
  }
  if (1 > 2 && m > 2 * 512) s1 = ENTRY_1_combine(s1, q1, ENTRY_1_share(p, 2 * 512, m < 4 * 512 ? m - 2 * 512 : 2 * 512));
  __shared__ ENTRY_1_state nodes1[256 / 32];
  s1 = ENTRY_1_join(p, nodes1, s1);
  ENTRY_1_finish(p, t, r, s1, leader, o);
#pragma unroll
  for (int u = 0; u < 1; ++u) {
    const int there = m - u * 512;
    if (there > 0) ENTRY_2_unit(p, t, r, o, h + u * (4 * 4), first + u * 512, there, there >= 512);
  }
  const ENTRY_2_state s2 = {};
  ENTRY_2_finish(p, t, r, s2, leader, o);
}
