struct ENTRY_params {
  const float* a0;
  tarry_i64 t0_0;
  float* a1;
  tarry_i64 count;
  tarry_i64 n;
  tarry_i64 chunks;
  tarry_i64 chunk_blocks;
  void* scratch;
  tarry_u32* tickets;
};
struct alignas(16) ENTRY_f32 { float v[4]; };
struct ENTRY_at {
  const float* a0;
  float* a1;
};
__device__ __forceinline__ ENTRY_at ENTRY_place(const ENTRY_params& p, tarry_u32 i) {
  ENTRY_at t;
  t.a0 = p.a0 + i * p.t0_0;
  t.a1 = p.a1 + i;
  return t;
}
struct ENTRY_row { };
__device__ __forceinline__ ENTRY_row ENTRY_begin(const ENTRY_params& p, const ENTRY_at& t, int j) {
  ENTRY_row r;
  return r;
}
struct ENTRY_state { float r0; };
struct ENTRY_loads { ENTRY_f32 a0; };
__device__ __forceinline__ void ENTRY_load(const ENTRY_params& p, const ENTRY_at& t, int k, int m, ENTRY_loads& x) {
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
struct ENTRY_inputs { float x0; };
__device__ __forceinline__ ENTRY_inputs ENTRY_point(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_loads& x, int j, int k) {
  const float v0 = x.a0.v[j];
  ENTRY_inputs in;
  in.x0 = v0;
  return in;
}
__device__ __forceinline__ void ENTRY_finish(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_state& s) {
  const float v1 = s.r0;
  t.a1[0] = v1;
}
struct ENTRY_split { };
template <class Count>
__device__ __forceinline__ ENTRY_split ENTRY_even(const ENTRY_params& p, Count na) {
  ENTRY_split h;
  return h;
}
template <class Count>
__device__ __forceinline__ ENTRY_split ENTRY_share(const ENTRY_params& p, Count na, Count nb) {
  if (na == nb) return ENTRY_even(p, na);
  ENTRY_split h;
  return h;
}
__device__ __forceinline__ ENTRY_state ENTRY_first(const ENTRY_inputs& in) {
  ENTRY_state s;
  s.r0 = in.x0;
  return s;
}
__device__ __forceinline__ ENTRY_state ENTRY_step(const ENTRY_params& p, ENTRY_state a, const ENTRY_inputs& in, int k) {
  a.r0 = a.r0 + in.x0;
  return a;
}
__device__ __forceinline__ ENTRY_state ENTRY_combine(ENTRY_state a, ENTRY_state b, ENTRY_split h) {
  a.r0 = a.r0 + b.r0;
  return a;
}
__device__ __forceinline__ ENTRY_state ENTRY_meet(ENTRY_state a, ENTRY_state b, ENTRY_split h, bool left) {
  a.r0 = a.r0 + b.r0;
  return a;
}
__device__ __forceinline__ ENTRY_state ENTRY_across(ENTRY_state s, int d) {
  s.r0 = (float)__shfl_xor_sync(0xffffffffu, s.r0, d);
  return s;
}
__device__ __forceinline__ ENTRY_state ENTRY_down(ENTRY_state s, int d) {
  s.r0 = (float)__shfl_down_sync(0xffffffffu, s.r0, d);
  return s;
}

// The split of lanes l and l + d of a tree block of m elements: lane l holds the elements l, l + 2d, l + 4d, ..., which are
// m / 2d or one more. `uneven` is the split of one more with m / 2d.
__device__ __forceinline__ ENTRY_split ENTRY_lane_pair(const ENTRY_params& p, int m, int l, int d, ENTRY_split uneven) {
  const int na = (m - l + 2 * d - 1) / (2 * d), nb = (m - l + d - 1) / (2 * d);
  return na == nb ? ENTRY_even(p, na) : uneven;
}
__device__ __forceinline__ ENTRY_split ENTRY_uneven(const ENTRY_params& p, int m, int d) { return ENTRY_share(p, m / (2 * d) + 1, m / (2 * d)); }

// The lanes of 4 whole blocks, 4 in each thread; x[s] holds elements k + 32 s ... of them.
__device__ __forceinline__ void ENTRY_take(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, const ENTRY_loads* x, int k, ENTRY_state* c) {
#pragma unroll
  for (int s = 0; s < 4; ++s) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const ENTRY_inputs in = ENTRY_point(p, t, r, x[s], j, k + s * 32);
      c[j] = s == 0 ? ENTRY_first(in) : ENTRY_step(p, c[j], in, s + 1);
    }
  }
}

// The node of those blocks, in all their threads.
__device__ __forceinline__ ENTRY_state ENTRY_node(const ENTRY_params& p, ENTRY_state* c) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 16; d >= 4; d /= 2) {
#pragma unroll
    for (int j = 0; j < 4; ++j) c[j] = ENTRY_meet(c[j], ENTRY_across(c[j], d / 4), ENTRY_even(p, 64 / d), !(lane & d / 4));
  }
#pragma unroll
  for (int d = 4 / 2; d > 0; d /= 2) {
#pragma unroll
    for (int j = 0; j < d; ++j) c[j] = ENTRY_combine(c[j], c[j + d], ENTRY_even(p, 64 / d));
  }
#pragma unroll
  for (int d = 1; d < 4; d *= 2) c[0] = ENTRY_meet(c[0], ENTRY_across(c[0], 8 * d), ENTRY_even(p, 128 * d), !(lane & 8 * d));
  return (c[0]);
}

// Up to 4 blocks with m elements in all: lanes and blocks that are missing take no part. Points that are missing are
// computed all the same, from zeros: that is shorter than going round them one by one. Loops load for themselves.
__device__ __forceinline__ ENTRY_state ENTRY_some(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, int base, int m) {
  const int lane = threadIdx.x & 31, block = (lane / 8) * 128, l = lane % 8 * 4;
  const int here = m - block < 128 ? m - block : 128;
  ENTRY_loads x[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
    ENTRY_load(p, t, base + block + s * 32 + l, left, x[s]);
  }
  ENTRY_state c[4] = {};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int left = here - s * 32 - l;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!false || j < left) {
        const ENTRY_inputs in = ENTRY_point(p, t, r, x[s], j, base + block + s * 32 + l);
        const ENTRY_state next = s == 0 ? ENTRY_first(in) : ENTRY_step(p, c[j], in, s + 1);
        if (j < left) c[j] = next;
      }
    }
  }
#pragma unroll
  for (int d = 16; d >= 4; d /= 2) {
    const ENTRY_split uneven = ENTRY_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const ENTRY_state b = ENTRY_down(c[j], d / 4);
      if (l + j + d < here) c[j] = ENTRY_combine(c[j], b, ENTRY_lane_pair(p, here, l + j, d, uneven));
    }
  }
  // The lanes of the block's first thread.
#pragma unroll
  for (int d = 4 / 2; d > 0; d /= 2) {
    const ENTRY_split uneven = ENTRY_uneven(p, here, d);
#pragma unroll
    for (int j = 0; j < d; ++j)
      if (j + d < here) c[j] = ENTRY_combine(c[j], c[j + d], ENTRY_lane_pair(p, here, j, d, uneven));
  }
#pragma unroll
  for (int d = 1; d < 4; d *= 2) {
    const ENTRY_state b = ENTRY_down(c[0], 8 * d);
    const int left = m - block - d * 128;
    if (left > 0) c[0] = ENTRY_combine(c[0], b, ENTRY_share(p, d * 128, left < d * 128 ? left : d * 128));
  }
  return (c[0]);
}

// The node of up to 32 neighbouring nodes, one in each lane, of `unit` elements each and m in all; it is in lane 0.
__device__ __forceinline__ ENTRY_state ENTRY_across_lanes(const ENTRY_params& p, ENTRY_state s, tarry_i64 unit, tarry_i64 m) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const ENTRY_state b = ENTRY_down(s, d);
    const tarry_i64 left = m - (lane + d) * unit;
    if (left > 0) s = ENTRY_combine(s, b, ENTRY_share(p, d * unit, left < d * unit ? left : d * unit));
  }
  return s;
}

// The node of elements [first, first + m), 0 < m <= 64 512, of a row, by one warp; it is in lane 0.
__device__ __forceinline__ ENTRY_state ENTRY_run(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row& r, int first, int m, ENTRY_state* kept) {
  const int lane = threadIdx.x & 31;
  int step = 0, left = m;
  if (left >= 2 * 512) {
    int k = first + (lane / 8) * 128 + lane % 8 * 4;
    ENTRY_loads x[4 * 2];
#pragma unroll
    for (int s = 0; s < 4 * 2; ++s) ENTRY_load(p, t, k + (s / 4) * 512 + (s % 4) * 32, 4, x[s]);
#pragma unroll 1
    for (; left >= 2 * 512; left -= 2 * 512, ++step) {
      ENTRY_state node;
#pragma unroll
      for (int half = 0; half < 2; ++half, k += 512) {
        ENTRY_state c[4];
        ENTRY_take(p, t, r, x + half % 2 * 4, k, c);
        if (half + 2 < 2 || left >= 4 * 512) {
#pragma unroll
          for (int s = 0; s < 4; ++s) ENTRY_load(p, t, k + 2 * 512 + s * 32, 4, x[half % 2 * 4 + s]);
        }
        const ENTRY_state h = ENTRY_node(p, c);
        node = half == 0 ? h : ENTRY_combine(node, h, ENTRY_even(p, 512));
      }
      if (lane == 0) kept[step] = node;
    }
    first += m - left;
  }
  if (left > 0) {
    ENTRY_state node;
#pragma unroll 1
    for (int half = 0; half < left; half += 512) {
      const int some = left - half < 512 ? left - half : 512;
      const ENTRY_state h = ENTRY_some(p, t, r, first + half, some);
      node = half == 0 ? h : ENTRY_combine(node, h, ENTRY_share(p, 512, some));
    }
    if (lane == 0) kept[step] = node;
  }
  __syncwarp();
  ENTRY_state s = {};
  if (lane * 2 * 512 < m) s = kept[lane];
  __syncwarp();
  return ENTRY_across_lanes(p, s, 2 * 512, m);
}

// Combines `there` <= kNodes neighbouring nodes of `unit` elements each; the last one may have fewer, `tail`.
template <int kNodes>
__device__ __forceinline__ ENTRY_state ENTRY_tree(const ENTRY_params& p, ENTRY_state (&v)[kNodes], int there, tarry_i64 unit, tarry_i64 tail) {
#pragma unroll
  for (int d = 1; d < kNodes; d *= 2) {
    const int last = (there - 1) / d * d;
    const ENTRY_split whole = ENTRY_even(p, d * unit), cut = ENTRY_share(p, d * unit, tail);
#pragma unroll
    for (int i = 0; i < kNodes; i += 2 * d)
      if (i + d < there) v[i] = ENTRY_combine(v[i], v[i + d], i + d == last ? cut : whole);
    if (last & d) tail += d * unit;
  }
  return v[0];
}

// Counts a thread block in; what it and those counted before have written is visible to the last one.
__device__ __forceinline__ tarry_u32 ENTRY_arrive(tarry_u32* ticket) {
  tarry_u32 before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
  return before;
}

// Folds chunk states of `unit` elements in place, 16 at a time, to at most `most`: of one chunk part[0, 1) are the results.
__device__ __forceinline__ void ENTRY_fold(const ENTRY_params& p, ENTRY_state* part, tarry_i64 pitch, int columns, int& chunks, tarry_i64& unit, int most) {
  for (; chunks > most; unit *= 16) {
    const int nodes = (chunks + 16 - 1) / 16;
    const tarry_i64 tail = p.n - (chunks - 1) * unit;
    for (int base = 0; base < nodes * 1; base += 256) {
      const int at = base + (int)threadIdx.x, node = at / 1, column = at % 1;
      const bool mine = node < nodes && column < columns;
      ENTRY_state v[16];
      if (mine) {
        const int there = chunks - node * 16 < 16 ? chunks - node * 16 : 16;
        const ENTRY_state* from = part + (tarry_i64)node * 16 * pitch + column;
#pragma unroll
        for (int i = 0; i < 16; ++i)
          if (i < there) v[i] = from[i * pitch];
        v[0] = ENTRY_tree(p, v, there, unit, node == nodes - 1 ? tail : unit);
      }
      __syncthreads();
      if (mine) part[node * pitch + column] = v[0];
      __syncthreads();
    }
    chunks = nodes;
  }
}

// The node of the thread block's warps, `unit` elements each, `left` in all.
__device__ __forceinline__ ENTRY_state ENTRY_warps(const ENTRY_params& p, const ENTRY_state* nodes, tarry_i64 unit, tarry_i64 left) {
  ENTRY_state v[8];
#pragma unroll
  for (int w = 0; w < 8; ++w) v[w] = nodes[w];
  int there = 8;
  while (left <= (there - 1) * unit) --there;
  return ENTRY_tree(p, v, there, unit, left < there * unit ? left - (there - 1) * unit : unit);
}

// The node of all chunks of `unit` elements, 16 or fewer for each thread; it is in thread 0.
__device__ __forceinline__ ENTRY_state ENTRY_fold_row(const ENTRY_params& p, const ENTRY_state* part, ENTRY_state* nodes, int chunks, tarry_i64 unit) {
  int run = 1;
  while (run * 256 < chunks) run *= 2;
  const int first = threadIdx.x * run, there = chunks - first < run ? chunks - first : run;
  const tarry_i64 left = p.n - first * unit;
  ENTRY_state s = {};
  if (there > 0) {
    ENTRY_state v[16];
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if (i < there) v[i] = part[first + i];
    s = ENTRY_tree(p, v, there, unit, left < there * unit ? left - (there - 1) * unit : unit);
  }
  unit *= run;
  s = ENTRY_across_lanes(p, s, unit, left + (threadIdx.x & 31) * unit);
  if ((threadIdx.x & 31) == 0) nodes[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) s = ENTRY_warps(p, nodes, unit * 32, p.n);
  return s;
}

extern "C" __global__ void __launch_bounds__(256, 3) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  __shared__ ENTRY_state kept[8][32];
  __shared__ ENTRY_state nodes[8];
  __shared__ bool last;
  const tarry_u32 chunks = (tarry_u32)p.chunks, row = blockIdx.x / chunks, chunk = blockIdx.x - row * chunks;
  const int warp = threadIdx.x >> 5;
  const ENTRY_at t = ENTRY_place(p, (tarry_u32)row);
  const ENTRY_row r = ENTRY_begin(p, t, 0);
  const tarry_i64 unit = p.chunk_blocks * 16, first = chunk * unit * 8 + warp * unit;
  const tarry_i64 left = p.n - first;
  if (left > 0) {
    const ENTRY_state s = ENTRY_run(p, t, r, (int)first, (int)(left < unit ? left : unit), kept[warp]);
    if ((threadIdx.x & 31) == 0) nodes[warp] = s;
  }
  __syncthreads();
  ENTRY_state* part = (ENTRY_state*)p.scratch + (tarry_i64)row * chunks;
  if (threadIdx.x == 0) {
    const ENTRY_state s = ENTRY_warps(p, nodes, unit, left < 8 * unit ? left : 8 * unit);
    if (chunks == 1) {
      ENTRY_finish(p, t, s);
      last = false;
    } else {
      part[chunk] = s;
      last = ENTRY_arrive(p.tickets + row) == chunks - 1;
    }
  }
  __syncthreads();
  if (!last) return;
  int parts = (int)chunks;
  tarry_i64 elements = unit * 8;
  ENTRY_fold(p, part, 1, 1, parts, elements, 256 * 16);
  const ENTRY_state s = ENTRY_fold_row(p, part, nodes, parts, elements);
  if (threadIdx.x == 0) {
    p.tickets[row] = 0;
    ENTRY_finish(p, t, s);
  }
}
