struct ENTRY_params {
  const float* a0;
  tarry_i64 r0;
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
  t.a0 = p.a0 + i;
  t.a1 = p.a1 + i;
  return t;
}
struct ENTRY_row { };
__device__ __forceinline__ ENTRY_row ENTRY_begin(const ENTRY_params& p, const ENTRY_at& t, int j) {
  ENTRY_row r;
  return r;
}
struct ENTRY_state { float r0_mean; float r0_m2; };
struct ENTRY_loads { ENTRY_f32 a0; };
__device__ __forceinline__ void ENTRY_load(const ENTRY_params& p, const ENTRY_at& t, int k, int m, ENTRY_loads& x) {
  if (m >= 4) {
    x.a0 = *(const ENTRY_f32*)(t.a0 + k * p.r0);
  }
  else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < m) {
        x.a0.v[j] = t.a0[j + k * p.r0];
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
  const float v1 = s.r0_mean;
  t.a1[0] = v1;
}
struct ENTRY_split { float n0, w0; };
template <class Count>
__device__ __forceinline__ ENTRY_split ENTRY_even(const ENTRY_params& p, Count na) {
  ENTRY_split h;
  h.n0 = (float)(na);
  h.w0 = (float)0.5;
  return h;
}
template <class Count>
__device__ __forceinline__ ENTRY_split ENTRY_share(const ENTRY_params& p, Count na, Count nb) {
  if (na == nb) return ENTRY_even(p, na);
  ENTRY_split h;
  h.n0 = (float)(na);
  h.w0 = (float)(nb) / (float)((na + nb));
  return h;
}
__device__ __forceinline__ ENTRY_state ENTRY_first(const ENTRY_inputs& in) {
  ENTRY_state s;
  s.r0_mean = in.x0; s.r0_m2 = 0;
  return s;
}
__device__ __forceinline__ ENTRY_state ENTRY_step(const ENTRY_params& p, ENTRY_state a, const ENTRY_inputs& in, int k) {
  {
    const float d = in.x0 - a.r0_mean;
    a.r0_mean = a.r0_mean + d * ((float)1 / (float)k);
    a.r0_m2 = a.r0_m2 + d * (in.x0 - a.r0_mean);
  }
  return a;
}
__device__ __forceinline__ ENTRY_state ENTRY_combine(ENTRY_state a, ENTRY_state b, ENTRY_split h) {
  {
    const float d = b.r0_mean - a.r0_mean;
    a.r0_mean = a.r0_mean + d * h.w0;
    a.r0_m2 = (a.r0_m2 + b.r0_m2) + (d * d) * (h.n0 * h.w0);
  }
  return a;
}
__device__ __forceinline__ ENTRY_state ENTRY_meet(ENTRY_state a, ENTRY_state b, ENTRY_split h, bool left) {
  {
    const float d = b.r0_mean - a.r0_mean, from = left ? a.r0_mean : b.r0_mean;
    a.r0_mean = from + (left ? d : -d) * h.w0;
    a.r0_m2 = (a.r0_m2 + b.r0_m2) + (d * d) * (h.n0 * h.w0);
  }
  return a;
}
__device__ __forceinline__ ENTRY_state ENTRY_across(ENTRY_state s, int d) {
  s.r0_mean = (float)__shfl_xor_sync(0xffffffffu, s.r0_mean, d);
  s.r0_m2 = (float)__shfl_xor_sync(0xffffffffu, s.r0_m2, d);
  return s;
}
__device__ __forceinline__ ENTRY_state ENTRY_down(ENTRY_state s, int d) {
  s.r0_mean = (float)__shfl_down_sync(0xffffffffu, s.r0_mean, d);
  s.r0_m2 = (float)__shfl_down_sync(0xffffffffu, s.r0_m2, d);
  return s;
}

// The split of lanes l and l + d of a tree block of m elements: lane l holds the elements l, l + 2d, l + 4d, ..., which are
// m / 2d or one more. `uneven` is the split of one more with m / 2d.
__device__ __forceinline__ ENTRY_split ENTRY_lane_pair(const ENTRY_params& p, int m, int l, int d, ENTRY_split uneven) {
  const int na = (m - l + 2 * d - 1) / (2 * d), nb = (m - l + d - 1) / (2 * d);
  return na == nb ? ENTRY_even(p, na) : uneven;
}
__device__ __forceinline__ ENTRY_split ENTRY_uneven(const ENTRY_params& p, int m, int d) { return ENTRY_share(p, m / (2 * d) + 1, m / (2 * d)); }

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

// The nodes of a run's steps, as a binary counter: node `step` of nb <= unit elements comes in.
__device__ __forceinline__ void ENTRY_push(const ENTRY_params& p, ENTRY_state* pending, int pitch, int step, ENTRY_state s, tarry_i64 unit, tarry_i64 nb) {
  int level = 0;
  for (; step >> level & 1; ++level) {
    s = ENTRY_combine(pending[level * pitch], s, ENTRY_share(p, unit << level, nb));
    nb += unit << level;
  }
  pending[level * pitch] = s;
}

// The node of a run of `steps` nodes with m elements in all: what is pending, from the right.
__device__ __forceinline__ ENTRY_state ENTRY_collect(const ENTRY_params& p, const ENTRY_state* pending, int pitch, int steps, tarry_i64 unit, tarry_i64 m) {
  int level = __ffs(steps) - 1;
  ENTRY_state s = pending[level * pitch];
  tarry_i64 nb = m - (tarry_i64)(steps & (steps - 1)) * unit;
  for (++level; steps >> level; ++level) {
    if (!(steps >> level & 1)) continue;
    s = ENTRY_combine(pending[level * pitch], s, ENTRY_share(p, unit << level, nb));
    nb += unit << level;
  }
  return s;
}

// Counts a thread block in; what it and those counted before have written is visible to the last one.
__device__ __forceinline__ tarry_u32 ENTRY_arrive(tarry_u32* ticket) {
  tarry_u32 before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
  return before;
}

// Folds chunk states of `unit` elements in place, 8 at a time, to at most `most`: of one chunk part[0, 128) are the results.
__device__ __forceinline__ void ENTRY_fold(const ENTRY_params& p, ENTRY_state* part, tarry_i64 pitch, int columns, int& chunks, tarry_i64& unit, int most) {
  for (; chunks > most; unit *= 8) {
    const int nodes = (chunks + 8 - 1) / 8;
    const tarry_i64 tail = p.n - (chunks - 1) * unit;
    for (int base = 0; base < nodes * 128; base += 256) {
      const int at = base + (int)threadIdx.x, node = at / 128, column = at % 128;
      const bool mine = node < nodes && column < columns;
      ENTRY_state v[8];
      if (mine) {
        const int there = chunks - node * 8 < 8 ? chunks - node * 8 : 8;
        const ENTRY_state* from = part + (tarry_i64)node * 8 * pitch + column;
#pragma unroll
        for (int i = 0; i < 8; ++i)
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

// The 4 columns of a block with m <= 128 elements: lanes w, w + 8, w + 16, w + 24 combined, into c.
__device__ __forceinline__ void ENTRY_columns(const ENTRY_params& p, const ENTRY_at& t, const ENTRY_row* r, int base, int m, ENTRY_state* c) {
  const int w = threadIdx.x >> 5;
  ENTRY_state lane[4][4];
  if (m == 128) {
#pragma unroll
    for (int s = 0; s < 4; s += 2) {
      ENTRY_loads x[4 * 2];
#pragma unroll
      for (int i = 0; i < 4 * 2; ++i) ENTRY_load(p, t, base + s * 32 + i * 8 + w, 4, x[i]);
#pragma unroll
      for (int i = 0; i < 4 * 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const ENTRY_inputs in = ENTRY_point(p, t, r[j], x[i], j, base + s * 32 + i * 8 + w);
          lane[i % 4][j] = s + i / 4 == 0 ? ENTRY_first(in) : ENTRY_step(p, lane[i % 4][j], in, s + i / 4 + 1);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
      c[j] = ENTRY_combine(ENTRY_combine(lane[0][j], lane[2][j], ENTRY_even(p, 4)), ENTRY_combine(lane[1][j], lane[3][j], ENTRY_even(p, 4)), ENTRY_even(p, 8));
    return;
  }
#pragma unroll
  for (int k = 0; k < 16; k += 2) {
    ENTRY_loads x[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = (k + i) * 8 + w;
      ENTRY_load(p, t, base + at, at < m ? 4 : 0, x[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = (k + i) * 8 + w;
      if (at < m) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const ENTRY_inputs in = ENTRY_point(p, t, r[j], x[i], j, base + at);
          lane[(k + i) % 4][j] = k + i < 4 ? ENTRY_first(in) : ENTRY_step(p, lane[(k + i) % 4][j], in, (k + i) / 4 + 1);
        }
      }
    }
  }
  const ENTRY_split uneven16 = ENTRY_uneven(p, m, 16), uneven8 = ENTRY_uneven(p, m, 8);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int l = w + 8 * i;
      if (l + 16 < m) lane[i][j] = ENTRY_combine(lane[i][j], lane[i + 2][j], ENTRY_lane_pair(p, m, l, 16, uneven16));
    }
    if (w + 8 < m) lane[0][j] = ENTRY_combine(lane[0][j], lane[1][j], ENTRY_lane_pair(p, m, w, 8, uneven8));
    c[j] = lane[0][j];
  }
}

// One column of a block of m <= 128 elements: its lanes 0 to 7.
__device__ __forceinline__ ENTRY_state ENTRY_lanes(const ENTRY_params& p, const ENTRY_state* lanes, int m) {
  ENTRY_state v[8];
#pragma unroll
  for (int l = 0; l < 8; ++l) v[l] = lanes[l * 128];
#pragma unroll
  for (int d = 4; d > 0; d /= 2) {
    const ENTRY_split uneven = ENTRY_uneven(p, m, d);
#pragma unroll
    for (int l = 0; l < 4; ++l)
      if (l < d && l + d < m) v[l] = ENTRY_combine(v[l], v[l + d], ENTRY_lane_pair(p, m, l, d, uneven));
  }
  return (v[0]);
}

extern "C" __global__ void __launch_bounds__(256, 2) ENTRY(const __grid_constant__ struct ENTRY_params p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  __shared__ ENTRY_state lanes[4][8][128];
  __shared__ ENTRY_state pending[12][128];
  __shared__ bool last;
  const tarry_u32 chunks = (tarry_u32)p.chunks, tiles = gridDim.x / chunks, chunk = blockIdx.x / tiles, tile = blockIdx.x - chunk * tiles;
  const int w = threadIdx.x >> 5, side = threadIdx.x % 32 * 4, columns = p.count - (tarry_i64)tile * 128 < 128 ? (int)(p.count - (tarry_i64)tile * 128) : 128;
  const tarry_i64 corner = (tarry_i64)tile * 128, first = chunk * p.chunk_blocks * 128;
  const tarry_i64 m = p.n - first < p.chunk_blocks * 128 ? p.n - first : p.chunk_blocks * 128;
  const bool inside = side < columns, column = threadIdx.x < columns;
  ENTRY_at t;
  ENTRY_row r[4];
  if (inside) {
    t = ENTRY_place(p, (tarry_u32)(corner + side));
#pragma unroll
    for (int j = 0; j < 4; ++j) r[j] = ENTRY_begin(p, t, j);
  }
  int step = 0;
  for (tarry_i64 at = 0; at < m; at += 4 * 128, ++step) {
    const int left = m - at < 4 * 128 ? (int)(m - at) : 4 * 128;
    if (inside) {
#pragma unroll 1
      for (int b = 0; b * 128 < left; ++b) {
        ENTRY_state c[4];
        ENTRY_columns(p, t, r, (int)(first + at) + b * 128, left - b * 128 < 128 ? left - b * 128 : 128, c);
#pragma unroll
        for (int j = 0; j < 4; ++j) lanes[b][w][side + j] = c[j];
      }
    }
    __syncthreads();
    if (column) {
      ENTRY_state v[4];
      const int there = (left + 127) / 128;
#pragma unroll
      for (int b = 0; b < 4; ++b)
        if (b < there) v[b] = ENTRY_lanes(p, &lanes[b][0][threadIdx.x], left - b * 128 < 128 ? left - b * 128 : 128);
      ENTRY_push(p, &pending[0][threadIdx.x], 128, step, ENTRY_tree(p, v, there, 128, left - (there - 1) * 128), 4 * 128, left);
    }
    __syncthreads();
  }
  ENTRY_state s = {};
  if (column) s = ENTRY_collect(p, &pending[0][threadIdx.x], 128, step, 4 * 128, m);
  if (chunks > 1) {
    ENTRY_state* part = (ENTRY_state*)p.scratch + corner;
    if (column) part[chunk * p.count + threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x == 0) last = ENTRY_arrive(p.tickets + tile) == chunks - 1;
    __syncthreads();
    if (!last) return;
    int parts = (int)chunks;
    tarry_i64 elements = p.chunk_blocks * 128;
    ENTRY_fold(p, part, p.count, columns, parts, elements, 1);
    if (threadIdx.x == 0) p.tickets[tile] = 0;
    if (column) s = part[threadIdx.x];
  }
  if (column) ENTRY_finish(p, ENTRY_place(p, (tarry_u32)(corner + threadIdx.x)), s);
}
