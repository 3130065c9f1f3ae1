// The kernels of selection as text (select.cpp). Elements are ordered by key and place, which no two share. A target is
// a rank of a row, and the range of keys that its element is in: passes count the digits of keys above the lower end
// and narrow the range to one digit. Once the key is known, ranges are of places.
#pragma once

#include <string_view>

namespace tarry::codegen {

// `state` of a target: its range is of keys, of places, or narrow enough. `kind`: an element, the first of those that
// are wanted or the last of them. Ranges of the first and the last end where nothing unwanted is in them.
inline constexpr std::string_view kSelectShared = R"($KEY
struct $N_target {
  tarry_u64 low, high;
  tarry_u32 first, last, rest, state;
};
struct $N_row {
  tarry_u32 whole, ticket, found, unused;
};
struct $N_params {
  const $BITS* x;
  $RESULT* to;
  $N_target* targets;
  $N_target* bounds;
  $N_row* states;
  tarry_u32* within;
  tarry_u32* digits;
  tarry_u32* kept;
  $BITS* keys;
  tarry_u32* places;
  $BITS* found_keys;
  tarry_u32* found_places;
  tarry_i64 rows, n, parts, room, sample, step, sample_parts, from, wanted;
  tarry_i64 ranks[8], bound_ranks[8], window_of[8];
};
// Elements with one key differ, or their places are asked for.
TARRY_FN bool $N_placed($BITS key) { return $PLACED; }
// Range low..high has `count` elements, of which number `rest` is the target.
TARRY_FN $N_target $N_settled(const $N_params& p, int kind, tarry_u64 low, tarry_u64 high, tarry_u32 rest,
                              tarry_u32 count) {
  $N_target s = {low, high, 0, (tarry_u32)(p.n - 1), rest, 0};
  if (kind == 1 && rest == 0) {
    s.state = 2;
  } else if (kind == 2 && rest == count - 1) {
    s.first = s.last;
    s.state = 2;
  } else if (low == high) {
    s.state = $N_placed(($BITS)low) ? 1 : 2;
  }
  return s;
}
TARRY_FN $N_target $N_settled_places($N_target s, int kind, tarry_u32 first, tarry_u32 last, tarry_u32 rest,
                                     tarry_u32 count) {
  s.first = kind == 2 && rest == count - 1 ? last : first;
  s.last = last;
  s.rest = rest;
  if (first == last || (kind == 1 && rest == 0) || (kind == 2 && rest == count - 1)) s.state = 2;
  return s;
}
TARRY_FN $N_target $N_settled_bound(const $N_params& p, int kind, tarry_u64 low, tarry_u64 high, tarry_u32 rest,
                                    tarry_u32 count) {
  $N_target s = $N_settled(p, kind, low, high, rest, count);
  if (low == high || count <= p.sample / 4096) s.state = 2;
  return s;
}
// The sum of what the lanes up to this one have.
TARRY_FN tarry_u32 $N_through(tarry_u32 own) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const tarry_u32 left = __shfl_up_sync(~0u, own, d);
    if (lane >= d) own += left;
  }
  return own;
}
// True in the last of the thread blocks of a row to come here, which sees what the others have written.
TARRY_FN bool $N_last(tarry_u32* ticket, tarry_i64 parts) {
  __shared__ tarry_u32 turn;
  __syncthreads();
  if (threadIdx.x == 0) {
    tarry_u32 before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
    turn = before;
    if (before == (tarry_u32)(parts - 1)) *ticket = 0;
  }
  __syncthreads();
  return turn == (tarry_u32)(parts - 1);
}
// Place k of a sample: one in each of as many parts of a row, spread by multiples of the golden ratio. Where the parts
// are not equal, there are 2^17.
TARRY_FN tarry_u32 $N_sampled(const $N_params& p, tarry_u32 k) {
  const tarry_u32 step = (tarry_u32)p.step, more = (tarry_u32)(p.n - p.sample * p.step);
  return k * step + (tarry_u32)((tarry_u64)k * more >> 17) + __umulhi(k * 0x9e3779b1u, step);
}
)";

inline constexpr std::string_view kSelectBegin = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const int t = threadIdx.x;
  for (tarry_i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const tarry_u64 most = ($BITS)~($BITS)0;
    if (t == 0) p.states[row] = {$WHOLE, 0, 0, 0};
    if (t < $TARGETS) {
      const int kind = $KIND;
      p.targets[row * $TARGETS + t] = $N_settled(p, kind, 0, most, (tarry_u32)p.ranks[t], (tarry_u32)p.n);
    }
    if (t < $BOUNDS) {
      $N_target s = {0, most, 0, 0, 0, 2};
      const tarry_i64 rank = p.bound_ranks[t];
      if (rank >= 0) s = $N_settled_bound(p, 1 + t % 2, 0, most, (tarry_u32)rank, (tarry_u32)p.sample);
      p.bounds[row * $BOUNDS + t] = s;
      p.within[row * $BOUNDS + t] = 0;
    }
    for (int i = t; p.parts > 1 && i < $TABLE; i += 256) p.digits[row * $TABLE + i] = 0;
  }
}
)";

// One pass. A row of one thread block needs no other launch: it goes on until all targets are found.
inline constexpr std::string_view kSelectNarrow = R"(
struct $N_goal {
  $BITS low, width;
  tarry_u32 first, span;
  int shift, state;
};
TARRY_FN void $N_count(tarry_u32* counts, const $N_goal* goals, $BITS key, tarry_u32 place) {
#pragma unroll ($COUNT <= 4 ? $COUNT : 1)
  for (int t = 0; t < $COUNT; ++t) {
    const $N_goal& g = goals[t];
    const $BITS above = ($BITS)(key - g.low);
    const tarry_u32 after = place - g.first;
    if (g.state == 0 && above <= g.width) atomicAdd(&counts[(t << $DIGIT) + (int)(above >> g.shift)], 1u);
    if (g.state == 1 && above == 0 && after <= g.span) atomicAdd(&counts[(t << $DIGIT) + (int)(after >> g.shift)], 1u);
  }
}
// A warp finds the digit of a target.
TARRY_FN void $N_narrow(const $N_params& p, $N_target* to, int t, const tarry_u32* own, const $N_goal& goal) {
  constexpr int kEach = (1 << $DIGIT) / 32;
  const int lane = threadIdx.x % 32;
  const $N_target s = *to;
  tarry_u32 sum = 0;
#pragma unroll 4
  for (int k = 0; k < kEach; ++k) sum += own[lane * kEach + (k + lane) % kEach];
  const tarry_u32 through = $N_through(sum);
  const int of = __ffs((int)__ballot_sync(~0u, s.rest < through)) - 1;
  const tarry_u32 before = __shfl_sync(~0u, through - sum, of);
  int digit = of * kEach + lane * (kEach / 32);
  tarry_u32 some = own[digit];
#pragma unroll
  for (int k = 1; k < kEach / 32; ++k) some += own[digit + k];
  const tarry_u32 upto = before + $N_through(some);
  if (lane != __ffs((int)__ballot_sync(~0u, s.rest < upto)) - 1) return;
  tarry_u32 at = upto - some;
  while (s.rest >= at + own[digit]) at += own[digit++];
  const tarry_u32 rest = s.rest - at, count = own[digit];
  const int kind = $KIND;
  const tarry_u64 step = ((tarry_u64)1 << goal.shift) - 1;
  if (s.state == 0) {
    const tarry_u64 low = s.low + ((tarry_u64)digit << goal.shift);
    *to = $SETTLED(p, kind, low, s.high - low < step ? s.high : low + step, rest, count);
  } else {
    const tarry_u32 first = s.first + ((tarry_u32)digit << goal.shift);
    *to = $N_settled_places(s, kind, first, s.last - first < step ? s.last : first + (tarry_u32)step, rest, count);
  }
}
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ tarry_u32 counts[$COUNT << $DIGIT];
  __shared__ $N_goal goals[$COUNT];
  for (tarry_u32 job = blockIdx.x; job < p.rows * $PARTS; job += gridDim.x) {
    const tarry_u32 row = job / (tarry_u32)$PARTS, part = job % (tarry_u32)$PARTS;
    const $BITS* const x = p.x + row * p.n;
    $N_target* const targets = $STATES + row * $COUNT;
    do {
      if (threadIdx.x < $COUNT) {
        const $N_target s = targets[threadIdx.x];
        $N_goal g = {($BITS)s.low, ($BITS)(s.high - s.low), s.first, s.last - s.first, 0, (int)s.state};
        const tarry_u64 width = g.state == 0 ? s.high - s.low : (tarry_u64)g.span;
        while (width >> g.shift >> $DIGIT != 0) ++g.shift;
        goals[threadIdx.x] = g;
      }
      for (int i = threadIdx.x; i < $COUNT << $DIGIT; i += 256) counts[i] = 0;
      __syncthreads();
      bool open = false, all = false;
      tarry_u32 first = ~0u, end = 0;
      for (int t = 0; t < $COUNT; ++t) {
        const $N_goal& g = goals[t];
        open |= g.state != 2;
        all |= g.state == 0;
        if (g.state == 1 && g.first < first) first = g.first;
        if (g.state == 1 && g.first + g.span > end) end = g.first + g.span;
      }
      if (!open) break;
$READ
      if ($PARTS > 1) {
        __syncthreads();
        tarry_u32* const sums = p.digits + row * $TABLE;
        for (int i = threadIdx.x; i < $COUNT << $DIGIT; i += 256)
          if (counts[i] != 0) atomicAdd(&sums[i], counts[i]);
        if (!$N_last(&p.states[row].ticket, $PARTS)) break;
        for (int i = threadIdx.x; i < $COUNT << $DIGIT; i += 256) {
          counts[i] = sums[i];
          sums[i] = 0;
        }
      }
      __syncthreads();
      for (int t = threadIdx.x / 32; t < $COUNT; t += 8)
        if (goals[t].state != 2) $N_narrow(p, targets + t, t, counts + (t << $DIGIT), goals[t]);
      __syncthreads();
    } while ($PARTS == 1);
    __syncthreads();
  }
}
)";

inline constexpr std::string_view kSelectReadSample = R"(
#pragma unroll 1
      for (tarry_u32 k = part * 256 + threadIdx.x; k < p.sample; k += (tarry_u32)$PARTS * 256)
        $N_count(counts, goals, $N_key(x[$N_sampled(p, k)]), 0);
)";

// Once the keys of all targets are known, only places that are left are read.
inline constexpr std::string_view kSelectRead = R"(
      if (p.states[row].whole != 0) {
        if (all) first = 0, end = (tarry_u32)(p.n - 1);
        for (tarry_i64 tile = first / $TILE + part; tile * $TILE <= end; tile += p.parts) {
#pragma unroll 1
          for (int group = 0; group < $ITEMS; group += 4) {
            const tarry_i64 own = tile * $TILE + group * 256 + threadIdx.x;
            $BITS element[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) element[k] = own + k * 256 < p.n ? x[own + k * 256] : ($BITS)0;
#pragma unroll
            for (int k = 0; k < 4; ++k)
              if (own + k * 256 < p.n) $N_count(counts, goals, $N_key(element[k]), (tarry_u32)(own + k * 256));
          }
        }
      } else {
        const tarry_u32 kept = p.kept[job];
#pragma unroll 1
        for (tarry_u32 k = threadIdx.x; k < kept; k += 256)
          $N_count(counts, goals, p.keys[job * p.room + k], p.places[job * p.room + k]);
      }
)";

// Counts what is below and within each window, and keeps what is within. A window that has not its targets, and rooms
// that are too small, cost passes over all of the row.
inline constexpr std::string_view kSelectFilter = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ tarry_u32 sums[2 * $WINDOWS], kept;
  const int lane = threadIdx.x % 32;
  for (tarry_u32 job = blockIdx.x; job < p.rows * p.parts; job += gridDim.x) {
    const tarry_u32 row = job / (tarry_u32)p.parts, part = job % (tarry_u32)p.parts;
    const $BITS* const x = p.x + row * p.n;
    const $N_target* const bounds = p.bounds + row * 2 * $WINDOWS;
    $BITS* const keys = p.keys + job * p.room;
    tarry_u32* const places = p.places + job * p.room;
    if (threadIdx.x < 2 * $WINDOWS) sums[threadIdx.x] = 0;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    $BITS low[$WINDOWS], width[$WINDOWS];
    bool keeps[$WINDOWS];
    tarry_u32 below[$WINDOWS], within[$WINDOWS];
#pragma unroll
    for (int w = 0; w < $WINDOWS; ++w) {
      low[w] = ($BITS)bounds[2 * w].low;
      width[w] = ($BITS)(bounds[2 * w + 1].high - bounds[2 * w].low);
      keeps[w] = width[w] != 0 || $N_placed(low[w]);
      below[w] = within[w] = 0;
    }
    for (tarry_i64 tile = part; tile * $TILE < p.n; tile += p.parts) {
      const tarry_i64 own = tile * $TILE + threadIdx.x;
      const int left = own + $TILE < p.n ? $TILE : (int)(p.n - own);
      $BITS key[$ITEMS];
#pragma unroll
      for (int k = 0; k < $ITEMS; ++k) key[k] = k * 256 < left ? x[own + k * 256] : ($BITS)0;
      tarry_u32 mine = 0;
#pragma unroll
      for (int k = 0; k < $ITEMS; ++k) {
        key[k] = $N_key(key[k]);
        const bool there = k * 256 < left;
#pragma unroll
        for (int w = 0; w < $WINDOWS; ++w) {
          const bool in = there && ($BITS)(key[k] - low[w]) <= width[w];
          if (there && key[k] < low[w]) ++below[w];
          if (in) ++within[w];
          if (in && keeps[w]) mine |= 1u << k;
        }
      }
      if (__ballot_sync(~0u, mine != 0) == 0) continue;
      const tarry_u32 some = (tarry_u32)__popc(mine), through = $N_through(some);
      tarry_u32 at = 0;
      if (lane == 31) at = atomicAdd(&kept, through);
      at = __shfl_sync(~0u, at, 31) + through - some;
#pragma unroll
      for (int k = 0; k < $ITEMS; ++k) {
        if ((mine >> k & 1) == 0) continue;
        if (at < p.room) {
          keys[at] = key[k];
          places[at] = (tarry_u32)(own + k * 256);
        }
        ++at;
      }
    }
#pragma unroll
    for (int w = 0; w < $WINDOWS; ++w) {
      const tarry_u32 all_below = $N_through(below[w]), all_within = $N_through(within[w]);
      if (lane == 31 && all_below != 0) atomicAdd(&sums[2 * w], all_below);
      if (lane == 31 && all_within != 0) atomicAdd(&sums[2 * w + 1], all_within);
    }
    __syncthreads();
    if (threadIdx.x < 2 * $WINDOWS && sums[threadIdx.x] != 0)
      atomicAdd(&p.within[row * 2 * $WINDOWS + threadIdx.x], sums[threadIdx.x]);
    if (threadIdx.x == 0) {
      p.kept[job] = kept;
      if (kept > p.room) atomicMax(&p.states[row].whole, 1u);
    }
    if (!$N_last(&p.states[row].ticket, p.parts)) continue;
    const int t = threadIdx.x;
    if (t < $TARGETS) {
      const int kind = $KIND, w = (int)p.window_of[t];
      const tarry_u32 rank = (tarry_u32)p.ranks[t], before = p.within[row * 2 * $WINDOWS + 2 * w],
                      count = p.within[row * 2 * $WINDOWS + 2 * w + 1];
      if (rank >= before && rank - before < count)
        p.targets[row * $TARGETS + t] =
            $N_settled(p, kind, bounds[2 * w].low, bounds[2 * w + 1].high, rank - before, count);
      else
        atomicMax(&p.states[row].whole, 1u);
    }
    __syncthreads();
  }
}
)";

// Writes elements at ranks.
inline constexpr std::string_view kSelectWrite = R"(
TARRY_FN $BITS $N_element($BITS key) {
  const $BITS k = $UPWARD;
  return $ELEMENT;
}
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 256 + threadIdx.x; i < p.rows * $TARGETS;
       i += (tarry_i64)gridDim.x * 256) {
    const tarry_i64 row = i / $TARGETS;
    const $BITS key = ($BITS)p.targets[i].low;
    p.to[row * p.n + p.ranks[i % $TARGETS]] =
        $N_placed(key) ? p.x[row * p.n + p.targets[i].first] : $N_element(key);
  }
}
)";

// Brings the elements from the first that is wanted to the last together, in any order.
inline constexpr std::string_view kSelectGather = R"(
// `all`: the lanes whose elements are wanted.
TARRY_FN void $N_take(const $N_params& p, tarry_u32 row, tarry_u32 all, $BITS key, tarry_u32 place) {
  if (all == 0) return;
  const int lane = threadIdx.x % 32;
  tarry_u32 at = 0;
  if (lane == 0) at = atomicAdd(&p.states[row].found, (tarry_u32)__popc(all));
  at = __shfl_sync(~0u, at, 0) + (tarry_u32)__popc(all & ((1u << lane) - 1));
  if ((all >> lane & 1) == 0 || at >= p.wanted) return;
  p.found_keys[row * p.wanted + at] = key;
  p.found_places[row * p.wanted + at] = place;
}
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  for (tarry_u32 job = blockIdx.x; job < p.rows * p.parts; job += gridDim.x) {
    const tarry_u32 row = job / (tarry_u32)p.parts, part = job % (tarry_u32)p.parts;
    const $BITS* const x = p.x + row * p.n;
    const $N_target &least = p.targets[row * $TARGETS], &most = p.targets[row * $TARGETS + $TARGETS - 1];
    const $BITS low = ($BITS)least.low, high = ($BITS)most.high;
    const tarry_u32 first = least.first, last = most.first;
    const auto wanted = [&]($BITS key, tarry_u32 place) {
      return ($TARGETS == 1 || key > low || (key == low && place >= first)) &&
             (key < high || (key == high && place <= last));
    };
    if (p.states[row].whole != 0) {
      for (tarry_i64 tile = part; tile * $TILE < p.n; tile += p.parts) {
        const tarry_i64 own = tile * $TILE + threadIdx.x;
        const int left = own + $TILE < p.n ? $TILE : (int)(p.n - own);
        $BITS key[$ITEMS];
#pragma unroll
        for (int k = 0; k < $ITEMS; ++k) key[k] = k * 256 < left ? x[own + k * 256] : ($BITS)0;
#pragma unroll
        for (int k = 0; k < $ITEMS; ++k) {
          key[k] = $N_key(key[k]);
          const tarry_u32 place = (tarry_u32)(own + k * 256);
          $N_take(p, row, __ballot_sync(~0u, k * 256 < left && wanted(key[k], place)), key[k], place);
        }
      }
    } else {
      const tarry_u32 kept = p.kept[job];
      for (tarry_u32 base = 0; base < kept; base += 256) {
        const tarry_u32 k = base + threadIdx.x;
        const $BITS key = k < kept ? p.keys[job * p.room + k] : ($BITS)0;
        const tarry_u32 place = k < kept ? p.places[job * p.room + k] : 0u;
        $N_take(p, row, __ballot_sync(~0u, k < kept && wanted(key, place)), key, place);
      }
    }
  }
}
)";

// A warp counts what stands before one element, which is its place in order.
inline constexpr std::string_view kSelectOrder = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const int lane = threadIdx.x % 32;
  for (tarry_i64 i = (tarry_i64)blockIdx.x * 8 + threadIdx.x / 32; i < p.rows * p.wanted;
       i += (tarry_i64)gridDim.x * 8) {
    const tarry_i64 row = i / p.wanted;
    const $BITS* const keys = p.found_keys + row * p.wanted;
    const tarry_u32* const places = p.found_places + row * p.wanted;
    const $BITS key = p.found_keys[i];
    const tarry_u32 place = p.found_places[i];
    const int wanted = (int)p.wanted;
    tarry_u32 before = 0;
#pragma unroll 2
    for (int k = lane; k < wanted; k += 32)
      if (keys[k] < key || (keys[k] == key && places[k] < place)) ++before;
    before = $N_through(before);
    if (lane == 31) p.to[row * p.n + p.from + before] = $TAKE;
  }
}
)";

}  // namespace tarry::codegen
