// CUDA C of scans whose combination the kernel spells out. There is no neutral element: what may have nothing before it
// says whether it has, and what is missing at the end of a row is 0, which no result comes from. A warp takes a block
// at a time, a thread four neighbours of it: states may be wide, and the text has the combination at few places.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/scan.h"

namespace tarry::codegen::cuda {
namespace {

constexpr std::string_view kCombineWarp = R"(
// The inputs of a tree block from `base` on, m of whose elements are there: x[j] is element 4 * lane + j.
template <bool kWhole>
__device__ __forceinline__ void $N_inputs(const $N_params& p, const $N_at& t, const $N_row& r, $K base, int m, $N_0_state (&x)[4]) {
  const int l = (threadIdx.x & 31) * 4, left = kWhole ? 4 : m - l;
  const $K k = base + l;
  $N_outer o;
  $N_kept h;
  $N_0_loads a;
  $N_0_load(p, t, k, left, a);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (j < left) x[j] = $N_take($N_0_point(p, t, r, o, a, j, k, h));
    else x[j] = $N_neutral();
  }
}

__device__ __forceinline__ $N_0_state $N_pick(const $N_0_state (&x)[4], int i) {
  $N_0_state s = x[0];
#pragma unroll
  for (int j = 1; j < 4; ++j)
    if (i == j) s = x[j];
  return s;
}

// The node of a block, in all threads: its rows from left to right, each the tree of its eight quads.
__device__ __forceinline__ $N_0_state $N_node(const $N_params& p, const $N_0_state (&x)[4]) {
  $N_0_state s = x[0];
#pragma unroll 1
  for (int j = 1; j < 4; ++j) s = $N_combine(p, s, $N_pick(x, j));
#pragma unroll 1
  for (int d = 1; d < 8; d *= 2) s = $N_across(p, s, d);
#pragma unroll 1
  for (int row = 1; row < 4; ++row) {
    const $N_0_state before = $N_from(s, 8 * row - 8);
    if ((threadIdx.x & 31) >> 3 == row) s = $N_combine(p, before, s);
  }
  return $N_from(s, 31);
}

// Scans a block behind its offset: four rows of eight quads, a thread each.
__device__ __forceinline__ void $N_scan(const $N_params& p, $N_0_state (&x)[4], $N_maybe offset) {
  const int lane = threadIdx.x & 31, q = lane & 7, row = lane >> 3;
#pragma unroll
  for (int j = 1; j < 4; ++j) x[j] = $N_combine(p, x[j - 1], x[j]);
  $N_0_state v = x[3];
#pragma unroll 1
  for (int d = 1; d < 8; d *= 2) {
    const $N_0_state left = $N_from(v, (lane & -(2 * d)) + d - 1);
    if (q & d) v = $N_combine(p, left, v);
  }
  const $N_0_state before = $N_from(v, (lane - 1) & 31);
  $N_maybe rows = $N_nothing();
#pragma unroll 1
  for (int s = 0; s < 3; ++s) {
    const $N_0_state total = $N_from(v, s * 8 + 7);
    if (row > s) rows = $N_join(p, rows, total);
  }
  $N_maybe base = offset;
  if (rows.there) base = $N_join(p, base, rows.s);
  if (q > 0) base = $N_join(p, base, before);
#pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = $N_join(p, base, x[j]).s;
}

template <bool kWhole>
__device__ __forceinline__ void $N_results(const $N_params& p, const $N_at& t, const $N_row& r, $K base, int m, const $N_0_state (&x)[4]) {
  const int l = (threadIdx.x & 31) * 4, left = kWhole ? 4 : m - l;
  const $K k = base + l;
  $N_outer o;
  $N_kept h;
  $N_1_loads a;
  $N_1_load(p, t, k, left, a);
  $N_1_stores y;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (j < left) $N_1_point(p, t, r, o, a, j, k, y, h, x[j]);
  $N_1_store(p, t, k, left, y);
}
)";

constexpr std::string_view kCombineInner = R"(
// A block of a row; gives its node.
template <bool kWhole>
__device__ __forceinline__ $N_0_state $N_block(const $N_params& p, const $N_at& t, const $N_row& r, $K base, int m, $N_maybe offset) {
  $N_0_state x[4];
  $N_inputs<kWhole>(p, t, r, base, m, x);
  const $N_0_state node = $N_node(p, x);
  $N_scan(p, x, offset);
  $N_results<kWhole>(p, t, r, base, m, x);
  return node;
}

extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  __shared__ $N_0_state pending[8][$LEVELS], folded[8][$LEVELS];
  const int warp = threadIdx.x >> 5;
  const tarry_i64 i = (tarry_i64)blockIdx.x * 8 + warp;
  if (i >= p.count) return;
  const $N_at t = $N_place(p, ($O)i);
  const $N_row r = $N_begin(p, t, 0);
  $N_maybe offset = $N_nothing();
  tarry_i64 step = 0;
  int depth = 0;
#pragma unroll 1
  for (tarry_i64 k = 0; k < p.n; k += 128, ++step) {
    const tarry_i64 left = p.n - k;
    const $N_0_state s = left >= 128 ? $N_block<true>(p, t, r, ($K)k, 128, offset) : $N_block<false>(p, t, r, ($K)k, (int)left, offset);
    if ((threadIdx.x & 31) == 0) offset.s = $N_push(p, pending[warp], folded[warp], depth, step, s);
    offset.there = true;
    offset = $N_from(offset, 0);
  }
}
)";

constexpr std::string_view kCombineSerial = R"(
extern "C" __global__ void __launch_bounds__(256, 1) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 i = (tarry_i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= p.count) return;
  const $N_at t = $N_place(p, ($O)i);
  const $N_row r = $N_begin(p, t, 0);
  $N_outer o;
  $N_kept h;
  $N_0_state pending[$LEVELS], folded[$LEVELS];
  $N_maybe offset = $N_nothing();
  int depth = 0;
#pragma unroll 1
  for (tarry_i64 block = 0; block * 128 < p.n; ++block) {
    $N_maybe rows = $N_nothing();
#pragma unroll 1
    for (int row = 0; row < 4 && block * 128 + row * 32 < p.n; ++row) {
      const tarry_i64 left = p.n - block * 128 - row * 32;
      $N_maybe base = offset;
      if (rows.there) base = $N_join(p, base, rows.s);
      $N_0_state one = $N_neutral(), two = one, four = one, through = one;
#pragma unroll 1
      for (int q = 0; q < 8 && q * 4 < left; ++q) {
        const $K k = ($K)(block * 128) + row * 32 + q * 4;
        $N_0_loads a[4];
        $N_1_loads b[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) $N_0_load(p, t, k + j, q * 4 + j < left ? 1 : 0, a[j]);
#pragma unroll
        for (int j = 0; j < 4; ++j) $N_1_load(p, t, k + j, q * 4 + j < left ? 1 : 0, b[j]);
        $N_maybe before = base;
        if (q > 0) before = $N_join(p, before, through);
        $N_0_state sum = $N_neutral();
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          $N_0_state v = $N_neutral();
          if (q * 4 + j < left) v = $N_take($N_0_point(p, t, r, o, a[j], 0, k + j, h));
          sum = j == 0 ? v : $N_combine(p, sum, v);
          if (q * 4 + j < left) {
            $N_1_stores y;
            $N_1_point(p, t, r, o, b[j], 0, k + j, y, h, $N_join(p, before, sum).s);
            $N_1_store(p, t, k + j, 1, y);
          }
        }
        through = sum;
        if (q & 1) through = $N_combine(p, one, through);
        if ((q & 3) == 1) two = through;
        if ((q & 2) != 0) through = $N_combine(p, two, through);
        if (q == 3) four = through;
        if (q & 4) through = $N_combine(p, four, through);
        one = sum;
      }
      rows = $N_join(p, rows, through);
    }
    if (block * 128 + 128 >= p.n) break;
    offset.s = $N_push(p, pending, folded, depth, block, rows.s);
    offset.there = true;
  }
}
)";

constexpr std::string_view kCombineStage = R"(
__device__ __forceinline__ void $N_note(const $N_params& p, $N_slot& slot, int unit, const $N_0_state (&x)[4]) {
  const $N_0_state node = $N_node(p, x);
  if ((threadIdx.x & 31) == 0) slot.one[unit] = node;
}
// The node of a tile, by one warp.
__device__ __forceinline__ void $N_complete(const $N_params& p, const $N_plan& plan, $N_slot& slot, tarry_u32 row, tarry_u32 at) {
  const int lane = threadIdx.x & 31;
  $N_0_state node = lane < $BLOCKS ? slot.one[lane] : $N_neutral();
#pragma unroll 1
  for (int d = 1; d < $BLOCKS; d *= 2) node = $N_across(p, node, d);
  if (lane != 0) return;
  $N_publish($N_published(plan, row, 0) + (tarry_u64)at * $PARTS, node);
  slot.all = node;
}
__device__ __forceinline__ void $N_stage($N_quad* quads, int unit, const $N_0_state (&x)[4]) {
  $N_quad quad;
#pragma unroll
  for (int j = 0; j < 4; ++j) quad.v[j] = x[j];
  quads[unit * 32 + (threadIdx.x & 31)] = quad;
}
__device__ __forceinline__ void $N_staged(const $N_quad* quads, int unit, $N_0_state (&x)[4]) {
  const $N_quad quad = quads[unit * 32 + (threadIdx.x & 31)];
#pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = quad.v[j];
}
)";

/// Cost from which on a combination is a function that stays one.
constexpr int kLongCombination = 48;

int cost_of_combination(const KernelIr& ir) {
  int cost = 0;
  for (const Instr& in : ir.instrs)
    if (in.region == Region::Combine && in.kind == InstrKind::Compute) cost += graph::info(in.op).cost;
  return cost;
}

}  // namespace

std::string combine_state(const KernelIr& ir) {
  CodeWriter w;
  std::size_t align = 4;
  for (const Reduction& r : ir.reductions) align = std::max(align, itemsize(r.dtype));
  w.open(fmt::format("struct alignas({}) $N_0_state", align));
  for (std::uint32_t r = 0; r < ir.reductions.size(); ++r)
    w.line(fmt::format("{} r{};", c_type(ir.reductions[r].dtype), r));
  w.close(";");
  return w.take();
}

std::string combine_functions(const KernelIr& ir, Expressions& expressions) {
  CodeWriter w;
  const auto each = [&](const auto& text) {
    for (std::uint32_t r = 0; r < ir.reductions.size(); ++r) w.line(text(r));
  };
  const auto function = [&](std::string_view head, const auto& text) {
    w.open(fmt::format("__device__ __forceinline__ $N_0_state {}", head));
    w.line("$N_0_state s;");
    each(text);
    w.line("return s;");
    w.close();
  };
  w.line("// A state, or nothing.");
  w.line("struct $N_maybe { $N_0_state s; bool there; };");
  function("$N_take(const $N_0_inputs& in)", [](auto r) { return fmt::format("s.r{0} = in.x{0};", r); });
  function("$N_neutral()", [](auto r) { return fmt::format("s.r{} = 0;", r); });
  function("$N_from($N_0_state a, int lane)",
           [](auto r) { return fmt::format("s.r{0} = __shfl_sync(0xffffffffu, a.r{0}, lane);", r); });
  w.open(
      fmt::format("__device__ {} $N_0_state $N_combine(const $N_params& p, const $N_0_state& a, const $N_0_state& b)",
                  cost_of_combination(ir) > kLongCombination ? "__noinline__" : "__forceinline__"));
  for (const std::string& statement : expressions.combination("a.r{}", "b.r{}", "p.")) w.line(statement);
  w.line("$N_0_state s;");
  each([&](auto r) { return fmt::format("s.r{} = {};", r, value_name(ir.reductions[r].combined)); });
  w.line("return s;");
  w.close();
  w.line("__device__ __forceinline__ $N_maybe $N_nothing() { return {$N_neutral(), false}; }");
  w.open("__device__ __forceinline__ $N_maybe $N_from($N_maybe a, int lane)");
  w.line("return {$N_from(a.s, lane), (bool)__shfl_sync(0xffffffffu, (int)a.there, lane)};");
  w.close();
  w.open("__device__ __forceinline__ $N_maybe $N_join(const $N_params& p, const $N_maybe& a, const $N_0_state& b)");
  w.line("return {a.there ? $N_combine(p, a.s, b) : b, true};");
  w.close();
  w.open("__device__ __forceinline__ $N_0_state $N_across(const $N_params& p, $N_0_state a, int d)");
  w.line("const bool right = threadIdx.x & d;");
  w.line("const $N_0_state b = $N_from(a, (threadIdx.x & 31) ^ d);");
  w.line("return $N_combine(p, right ? b : a, right ? a : b);");
  w.close();
  return w.take();
}

std::string_view combine_warp() { return kCombineWarp; }
std::string_view combine_serial() { return kCombineSerial; }
std::string_view combine_inner() { return kCombineInner; }
std::string_view combine_stage() { return kCombineStage; }

std::vector<std::pair<std::string, std::string>> combine_choices(const KernelIr& ir) {
  if (!ir.combines())
    return {
        {"$GIVE", ""}, {"$HAVE", ""}, {"$OFFSET", "$N_0_state"}, {"$NOTHING", "$N_neutral"}, {"$JOIN", "$N_combine"}};
  return {{"$GIVE", "p, "},
          {"$HAVE", "const $N_params& p, "},
          {"$OFFSET", "$N_maybe"},
          {"$NOTHING", "$N_nothing"},
          {"$JOIN", "$N_join"}};
}

}  // namespace tarry::codegen::cuda
