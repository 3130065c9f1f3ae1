// CUDA C of contractions: tiles of rows and columns share what the steps of loops read, through shared memory; a thread
// holds the folds of `rows` by eight points in registers. Contract goes on as a pointwise kernel over vectors of
// columns, ContractReduce reduces the columns by tree R: a tile's 128 columns are a block of it.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

/// A thread's operands of an access that is contiguous along its loop: four steps at a time. What lies beyond the
/// tile's last row or column is a copy of that.
constexpr std::string_view kStageSteps = R"(
struct alignas(@align) $N_four@a { @type v[4]; };
struct alignas(16) $N_side@a { @type v[@steps][@pitch]; };
__device__ __forceinline__ void $N_fetch@a(const $N_params& p, const @type* from, int there, int steps, $N_four@a (&q)[@q]) {
#pragma unroll
  for (int i = 0; i < @q; ++i) {
    const int g = i * 256 + (int)threadIdx.x, c = g / @groups, k = g % @groups * 4;
    if (@fillsk < steps) {
      const @type* at = from + @offset;
@load
    }
  }
}
__device__ __forceinline__ void $N_put@a($N_side@a& s, const $N_four@a (&q)[@q]) {
#pragma unroll
  for (int i = 0; i < @q; ++i) {
    const int g = i * 256 + (int)threadIdx.x, c = g / @groups, k = g % @groups * 4;
@fit#pragma unroll
    for (int j = 0; j < 4; ++j) s.v[k + j][@place] = q[i].v[j];
  }
}
)";

constexpr std::string_view kStageSides = R"(
struct alignas(@align) $N_four@a { @type v[4]; };
struct alignas(16) $N_side@a { @type v[@steps][@pitch]; };
__device__ __forceinline__ void $N_fetch@a(const $N_params& p, const @type* from, int there, int steps, @type (&q)[@q]) {
#pragma unroll
  for (int i = 0; i < @q; ++i) {
    const int g = i * 256 + (int)threadIdx.x, c = g % @side, k = g / @side;
    if (@fillsk < steps) q[i] = from[@offset + @step];
  }
}
__device__ __forceinline__ void $N_put@a($N_side@a& s, const @type (&q)[@q]) {
#pragma unroll
  for (int i = 0; i < @q; ++i) {
    const int g = i * 256 + (int)threadIdx.x, c = g % @side, k = g / @side;
@fit    s.v[k][@place] = q[i];
  }
}
)";

/// The steps of loop @l for the points of a thread, into f. A loop as long as its class allows is unrolled: one whose
/// length the compiler does not know takes 6 to 8 % longer.
constexpr std::string_view kAccumulate = R"(    {
      const auto step = [&](int u) {
@read#pragma unroll
        for (int i = 0; i < $TM; ++i) {
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            $N_staged@l z;
@take            $N_step@l(p, @direct, z, u, f[i][j]);
          }
        }
      };
      if (p.@steps == @whole) {
#pragma unroll @unroll
        for (int u = 0; u < @whole; ++u) step(u);
      } else {
#pragma unroll 1
        for (int u = 0; u < (int)p.@steps; ++u) step(u);
      }
    }
)";

constexpr std::string_view kStart = R"(    $N_folds f[$TM][8];
#pragma unroll
    for (int i = 0; i < $TM; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
@start      }
    }
)";

constexpr std::string_view kContract = R"(
extern "C" __global__ void __launch_bounds__(256, $M) $N(const __grid_constant__ struct $N_params p) {
$SHARED  const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  const tarry_u32 across = (tarry_u32)((p.$EX + 127) / 128), down = (tarry_u32)((p.$EY + $C - 1) / $C);
  const tarry_u32 line = blockIdx.x / across, plane = line / down;
  const $O b = plane;
  const $K y0 = ($K)(line - plane * down) * $C, x0 = ($K)(blockIdx.x - line * across) * 128;
  const int rows = p.$EY - y0 < $C ? (int)(p.$EY - y0) : $C, left = p.$EX - x0 < 128 ? (int)(p.$EX - x0) : 128;
  {
    const $N_at corner = $N_place(p, b, y0, x0);
$COLUMNQ$ROWQ$FETCHCOLUMNS$FETCHROWS$PUTCOLUMNS$PUTROWS  }
  __syncthreads();
  {
$START$LOOPS    const bool whole = rows == $C && left == 128;
#pragma unroll
    for (int i = 0; i < $TM; ++i) {
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const int row = $ROW, column = g * 64 + tx * 4;
        if (whole || (row < rows && column < left)) {
          const $N_at t = $N_place(p, b, y0 + row, x0 + column);
          const int m = whole ? 4 : left - column;
          $S_loads x = {};
          $S_stores y;
          $S_load(p, t, m, x);
#pragma unroll
          for (int j = 0; j < 4; ++j) $S_point(p, t, x, j, y, f[i][g * 4 + j]);
          $S_store(p, t, m, y);
        }
      }
    }
  }
}
)";

/// Threads share their rows out while they combine lanes: at each level a thread gives away half of its rows and gets
/// the other lanes of the rest.
constexpr std::string_view kShare = R"(
__device__ __forceinline__ void $N_exchange($S_state& low, const $S_state& high, bool up, int d, $S_split split) {
  const $S_state give = up ? low : high, keep = up ? high : low;
  low = $S_meet(keep, $S_across(give, d), split, !up);
}
// The nodes of a whole block for the thread's rows: the lanes in c, to nodes of the tile.
__device__ __forceinline__ void $N_block(const $N_params& p, $S_state (&c)[$TM][2], $S_state* nodes, int tx, int ty) {
  int d = 8, row = 0;
#pragma unroll
  for (int half = $TM / 2; half > 0; half /= 2) {
    const bool up = (tx & d) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      $N_exchange(c[i][0], c[i + half][0], up, d, $S_even(p, 32 / d));
      $N_exchange(c[i][1], c[i + half][1], up, d, $S_even(p, 32 / d));
    }
    if (up) row += half;
    d /= 2;
  }
  const int lanes = d;
  $N_exchange(c[0][0], c[0][1], (tx & d) != 0, d, $S_even(p, 32 / d));
#pragma unroll
  for (d /= 2; d > 0; d /= 2) c[0][0] = $S_meet(c[0][0], $S_across(c[0][0], d), $S_even(p, 32 / d), (tx & d) == 0);
  c[0][0] = $S_meet(c[0][0], $S_across(c[0][0], lanes), $S_even(p, 64), (tx & lanes) == 0);
  const int i = row;
  if ((tx & (2 * lanes - 1)) == 0) nodes[$ROW] = c[0][0];
}
)";

/// Columns 32 s + 2 tx and 32 s + 2 tx + 1, s = 0 to 3, are a thread's: two lanes of the block.
constexpr std::string_view kContractReduce = R"(
extern "C" __global__ void __launch_bounds__(256, $M) $N(const __grid_constant__ struct $N_params p) {
$SHARED  __shared__ $S_state pending[$L][$C], nodes[$C];
  __shared__ bool last;
  const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  const tarry_u32 chunks = (tarry_u32)p.chunks, tile = blockIdx.x / chunks, chunk = blockIdx.x - tile * chunks;
  const tarry_u32 down = (tarry_u32)((p.$EY + $C - 1) / $C), plane = tile / down;
  const $O b = plane;
  const $K y0 = ($K)(tile - plane * down) * $C;
  const int rows = p.$EY - y0 < $C ? (int)(p.$EY - y0) : $C;
  const tarry_i64 first = chunk * p.chunk_blocks * 128;
  const tarry_i64 m = p.n - first < p.chunk_blocks * 128 ? p.n - first : p.chunk_blocks * 128;
  const $N_at corner = $N_place(p, b, y0);
  $N_at t[$TM];
  $N_row r[$TM];
#pragma unroll
  for (int i = 0; i < $TM; ++i) {
    const int row = $ROW;
    t[i] = $N_place(p, b, y0 + (row < rows ? row : rows - 1));
    r[i] = $N_begin(p, t[i], 0);
  }
$COLUMNQ  {
    const $K base = ($K)first;
    const int left = m < 128 ? (int)m : 128;
$ROWQ$FETCHCOLUMNS$FETCHROWS$PUTROWS  }
  int step = 0;
#pragma unroll 1
  for (tarry_i64 at = 0; at < m; at += 128, ++step) {
    const int there = m - at < 128 ? (int)(m - at) : 128;
    const $K k0 = ($K)(first + at);
    if (step > 0) __syncthreads();
$PUTCOLUMNS    if (step > 0 && threadIdx.x < $C) $N_push(p, &pending[0][threadIdx.x], $C, step - 1, nodes[threadIdx.x], 128, 128);
    __syncthreads();
    if (at + 128 < m) {
      const $K base = k0 + 128;
      const int left = m - at - 128 < 128 ? (int)(m - at) - 128 : 128;
$FETCHCOLUMNS    }
$START$LOOPS    $S_state c[$TM][2];
    if (there == 128) {
#pragma unroll
      for (int i = 0; i < $TM; ++i) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          const $K k = k0 + s * 32 + tx * 2;
          $S_loads x;
@S          $S_stores y;
          $S_load(p, t[i], k, 2, x);
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const $S_inputs in = $S_point(p, t[i], r[i], x, j, k$Y, f[i][s * 2 + j]);
            c[i][j] = s == 0 ? $S_first(in) : $S_step(p, c[i][j], in, s + 1);
          }
@S          $S_store(p, t[i], k, $ROW < rows ? 2 : 0, y);
        }
      }
      $N_block(p, c, nodes, tx, ty);
    } else {
#pragma unroll
      for (int i = 0; i < $TM; ++i) {
        c[i][0] = c[i][1] = $S_state{};
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          const $K k = k0 + s * 32 + tx * 2;
          const int some = there - s * 32 - tx * 2;
          $S_loads x;
@S          $S_stores y;
          $S_load(p, t[i], k, some, x);
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            if (j < some) {
              const $S_inputs in = $S_point(p, t[i], r[i], x, j, k$Y, f[i][s * 2 + j]);
              c[i][j] = s == 0 ? $S_first(in) : $S_step(p, c[i][j], in, s + 1);
            }
          }
@S          $S_store(p, t[i], k, $ROW < rows ? some : 0, y);
        }
#pragma unroll
        for (int d = 8; d > 0; d /= 2) {
          const $S_split uneven = $S_uneven(p, there, 2 * d);
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const $S_state other = $S_down(c[i][j], d);
            const int l = tx * 2 + j;
            if (tx < d && l + 2 * d < there) c[i][j] = $S_combine(c[i][j], other, $S_lane_pair(p, there, l, 2 * d, uneven));
          }
        }
        if (there > 1) c[i][0] = $S_combine(c[i][0], c[i][1], $S_share(p, (there + 1) / 2, there / 2));
        if (tx == 0) nodes[$ROW] = c[i][0];
      }
    }
  }
  __syncthreads();
  const bool mine = (int)threadIdx.x < rows;
  $S_state s = {};
  if (mine) {
    $N_push(p, &pending[0][threadIdx.x], $C, step - 1, nodes[threadIdx.x], 128, m - (step - 1) * 128);
    s = $N_collect(p, &pending[0][threadIdx.x], $C, step, 128, m);
  }
  if (chunks > 1) {
    $S_state* part = ($S_state*)p.scratch + ((tarry_i64)b * p.$EY + y0);
    if (mine) part[chunk * p.count + threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x == 0) last = $N_arrive(p.tickets + tile) == chunks - 1;
    __syncthreads();
    if (!last) return;
    int parts = (int)chunks;
    tarry_i64 elements = p.chunk_blocks * 128;
    $N_fold(p, part, p.count, rows, parts, elements, 1);
    if (threadIdx.x == 0) p.tickets[tile] = 0;
    if (mine) s = part[threadIdx.x];
  }
  if (mine) $S_finish(p, $N_place(p, b, y0 + (int)threadIdx.x), s);
}
)";

using Choices = std::vector<std::pair<std::string, std::string>>;

std::string filled(std::string_view text, const Choices& by) {
  std::string out(text);
  for (const auto& [what, with] : by)
    for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos; at += with.size())
      out.replace(at, what.size(), with);
  return out;
}

class Contraction {
 public:
  explicit Contraction(const KernelIr& ir) : ir_(ir), tile_(contract_tile(ir)), staged_(staged(ir)) {}

  /// Types and functions of what is staged, and the folds of a point.
  [[nodiscard]] std::string functions() const {
    std::string fields, text;
    for (std::size_t i = 0; i < ir_.folds.size(); ++i) fields += fmt::format(" {} f{};", c_type(ir_.folds[i].dtype), i);
    for (const Staged& s : staged_) text += filled(along_steps(s) ? kStageSteps : kStageSides, choices(s));
    return fmt::format("struct $N_folds {{{} }};\n{}", fields, text);
  }

  [[nodiscard]] std::vector<std::uint32_t> staged_by(std::uint32_t loop) const {
    std::vector<std::uint32_t> found;
    for (const Staged& s : staged_)
      if (ir_.accesses[s.access].loop == loop) found.push_back(s.access);
    return found;
  }

  /// The parts that the skeletons leave open.
  [[nodiscard]] Choices pieces() const {
    Choices all;
    const auto add = [&](const char* what, std::string by) { all.emplace_back(what, std::move(by)); };
    std::string shared, queues[2], fetches[2], puts[2];
    for (const Staged& s : staged_) {
      const Choices by = choices(s);
      shared += filled("  __shared__ $N_side@a s@a;\n", by);
      queues[s.rows] += filled(along_steps(s) ? "    $N_four@a q@a[@q];\n" : "    @type q@a[@q];\n", by);
      const std::string from = !s.rows && !ir_.is_map() ? sum_text(fmt::format("corner.a{}", s.access),
                                                                   reduced_offset(ir_, s.access, "base", "p."))
                                                        : fmt::format("corner.a{}", s.access);
      fetches[s.rows] += fmt::format("    $N_fetch{0}(p, {1}, {2}, (int)p.{3}, q{0});\n", s.access, from,
                                     s.rows ? "rows" : "left", extent(s));
      puts[s.rows] += fmt::format("    $N_put{0}(s{0}, q{0});\n", s.access);
    }
    add("$SHARED", shared);
    add("$COLUMNQ", queues[0]);
    add("$ROWQ", queues[1]);
    add("$FETCHCOLUMNS", fetches[0]);
    add("$FETCHROWS", fetches[1]);
    add("$PUTCOLUMNS", puts[0]);
    add("$PUTROWS", puts[1]);
    add("$START", start());
    add("$LOOPS", loops());
    add("$ROW", row("i"));
    add("$TM", std::to_string(tile_.rows));
    add("$C", std::to_string(tile_.block_rows()));
    add("$L", std::to_string(ContractTile::kLevels));
    add("$M", std::to_string(tile_.resident));
    add("$EY", fmt::format("e{}", ir_.rank - (ir_.is_map() ? 2 : 1)));
    add("$EX", fmt::format("e{}", ir_.rank - 1));
    return all;
  }

 private:
  [[nodiscard]] bool along_steps(const Staged& s) const { return ir_.accesses[s.access].step == StrideClass::One; }
  [[nodiscard]] std::string extent(const Staged& s) const {
    return slot_name({SlotKind::Scalar, ir_.loops[ir_.accesses[s.access].loop]});
  }

  /// The row of a tile that is number `i` of a thread.
  [[nodiscard]] std::string row(std::string_view i) const {
    if (tile_.rows <= 4) return fmt::format("(ty * {} + {})", tile_.rows, i);
    return fmt::format("({0} / 4 * 64 + ty * 4 + {0} % 4)", i);
  }

  [[nodiscard]] Choices choices(const Staged& s) const {
    const Access& a = ir_.accesses[s.access];
    const int side = s.rows ? tile_.block_rows() : ContractTile::kColumns, elements = side * loop_class(ir_);
    const int each = along_steps(s) ? elements / 4 : elements;
    const auto size = itemsize(ir_.buffers[a.buffer]);
    const std::string c = "(c < there ? c : there - 1)";
    std::string offset = c;
    if (s.side == StrideClass::Any) {
      const auto dimension = static_cast<std::uint32_t>(ir_.rank - (s.rows && ir_.is_map() ? 2 : 1));
      const bool reduced = !s.rows && !ir_.is_map();
      offset += " * p." + slot_name(reduced ? Slot{SlotKind::ReducedStride, s.access}
                                            : Slot{SlotKind::Stride, s.access, dimension});
    }
    // Two lanes of four steps each lie side by side, so that a thread reads its columns as two vectors.
    const bool lanes = !s.rows && !ir_.is_map();
    const bool fills = each % 256 == 0;
    const std::string step = a.step == StrideClass::Zero ? "0" : "k * p." + slot_name({SlotKind::LoopStride, s.access});
    const char* const whole = "      q[i] = *(const $N_four@a*)(at + k);";
    const char* const single =
        "#pragma unroll\n      for (int j = 0; j < 4; ++j)\n        if (k + j < steps) q[i].v[j] = at[k + j];";
    return {{"@load", a.aligned ? whole : single},
            {"@align", std::to_string(std::min<std::size_t>(16, 4 * size))},
            {"@pitch", std::to_string(side + 4)},
            {"@place", lanes ? "(c & 64) + (c & 30) * 2 + (c >> 4 & 2) + (c & 1)" : "c"},
            {"@fills", fills ? "" : fmt::format("g < {} && ", each)},
            {"@fit", fills ? "" : fmt::format("    if (g >= {}) break;\n", each)},
            {"@steps", std::to_string(loop_class(ir_))},
            {"@step", step},
            {"@side", std::to_string(side)},
            {"@offset", offset},
            {"@groups", std::to_string(loop_class(ir_) / 4)},
            {"@type", c_type(ir_.buffers[a.buffer])},
            {"@q", std::to_string((each + 255) / 256)},
            {"@a", std::to_string(s.access)}};
  }

  [[nodiscard]] std::string start() const {
    std::string text;
    for (std::size_t i = 0; i < ir_.folds.size(); ++i)
      text += fmt::format("        f[i][j].f{} = {};\n", i, fold_start(ir_.folds[i]));
    return filled(kStart, {{"@start", text}});
  }

  /// True if a loop reads memory that is not staged, or coordinates.
  [[nodiscard]] bool direct(std::uint32_t loop) const {
    const std::vector<std::uint32_t> shared = staged_by(loop);
    return std::any_of(ir_.instrs.begin(), ir_.instrs.end(), [&](const Instr& in) {
      return in.loop == loop && in.kind == InstrKind::Load &&
             std::find(shared.begin(), shared.end(), in.index) == shared.end();
    });
  }

  /// The place of a point for what is not staged; beyond the last row or column it is that.
  [[nodiscard]] std::string point_place(std::uint32_t loop) const {
    const std::string at = fmt::format("{0} < rows ? {0} : rows - 1", row("i"));
    if (ir_.is_map()) {
      if (!direct(loop)) return "$N_at(), 0";
      const char* column = "(j / 4 * 64 + tx * 4 + j % 4)";
      return fmt::format("$N_place(p, b, y0 + ({}), x0 + ({} < left ? {} : left - 1)), 0", at, column, column);
    }
    if (!direct(loop)) return "t[i], 0";
    const char* column = "(j / 2 * 32 + tx * 2 + j % 2)";
    return fmt::format("t[i], k0 + ({} < there ? {} : there - 1)", column, column);
  }

  [[nodiscard]] std::string loops() const {
    std::string text;
    for (std::uint32_t l = 0; l < ir_.loops.size(); ++l) {
      std::string read, take;
      for (const Staged& s : staged_) {
        if (ir_.accesses[s.access].loop != l) continue;
        const std::string type = c_type(ir_.buffers[ir_.accesses[s.access].buffer]);
        if (!s.rows || tile_.rows >= 4) {
          const int vectors = s.rows ? tile_.rows / 4 : 2;
          read += fmt::format("        $N_four{} x{}[{}];\n", s.access, s.access, vectors);
          for (int v = 0; v < vectors; ++v)
            read += fmt::format("        x{0}[{1}] = *(const $N_four{0}*)&s{0}.v[u][{2} + {3} * 4];\n", s.access, v,
                                v * 64, s.rows ? "ty" : "tx");
          take += fmt::format("            z.a{0} = x{0}[{1} / 4].v[{1} % 4];\n", s.access, s.rows ? "i" : "j");
        } else {
          read += fmt::format(
              "        {} x{}[{}];\n#pragma unroll\n        for (int i = 0; i < {}; ++i) x{}[i] = s{}.v[u][{}];\n",
              type, s.access, tile_.rows, tile_.rows, s.access, s.access, row("i"));
          take += fmt::format("            z.a{0} = x{0}[i];\n", s.access);
        }
      }
      text += filled(kAccumulate, {{"@steps", slot_name({SlotKind::Scalar, ir_.loops[l]})},
                                   {"@read", read},
                                   {"@take", take},
                                   {"@direct", point_place(l)},
                                   {"@whole", std::to_string(loop_class(ir_))},
                                   {"@unroll", std::to_string(loop_cost(ir_, l) <= 4 ? 16 : 2)},
                                   {"@l", std::to_string(l)}});
    }
    return text;
  }

  const KernelIr& ir_;
  const ContractTile tile_;
  const std::vector<Staged> staged_;
};

}  // namespace

KernelSource render_contract(const KernelIr& ir, const graph::Target&) {
  using enum SlotKind;
  const bool map = ir.is_map();
  const StagePlan plan = plan_stages(ir);
  const Stage& stage = plan.stages[0];
  const Contraction contraction(ir);
  Functions functions(ir, plan);
  Parameters parameters;
  if (map)
    parameters = ir.wide_index ? make_parameters(ir, {OuterCount, Extent, Reciprocal})
                               : make_parameters(ir, {OuterCount, Extent, Magic, Reciprocal});
  else if (ir.wide_index)
    parameters = make_parameters(ir, {OuterCount, Reduced, Extent, Chunks, ChunkBlocks, Scratch, Tickets, Reciprocal});
  else
    parameters =
        make_parameters(ir, {OuterCount, Reduced, Extent, Magic, Chunks, ChunkBlocks, Scratch, Tickets, Reciprocal});
  Choices all = contraction.pieces();
  all.emplace_back("$Y", stage.stores && !map ? ", y" : "");
  all.emplace_back("$R", state_bytes(ir) <= 16 ? "8" : "4");
  const auto fill = [&](const std::string& text) { return Template(ir, stage, all).fill(text); };
  std::string kernel = parameter_struct(parameters) + fill(functions.shared_text()) + fill(contraction.functions());
  if (!map) kernel += state_type(ir, stage);
  for (std::uint32_t l = 0; l < ir.loops.size(); ++l) kernel += fill(functions.loop_text(l, contraction.staged_by(l)));
  kernel += functions.stage_text(stage);
  if (!map) {
    kernel += state_functions(ir, stage, functions.expressions());
    kernel +=
        fill(fmt::format("{}{}{}{}{}", lane_functions(), tree_functions(), column_fold(), kShare, kContractReduce));
  } else {
    kernel += fill(std::string(kContract));
  }
  return finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
}

}  // namespace tarry::codegen::cuda
