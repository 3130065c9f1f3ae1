// The choosers of reductions: by the length of rows, by what is contiguous, and by what a thread block holds.
#include <algorithm>
#include <bit>

#include "codegen/ir/held.h"
#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

constexpr int kPartRowExtent = 512;    // a part of a warp per row up to here
constexpr int kHeldRowExtent = 16384;  // in registers of a block up to here
constexpr int kByteVector = 16;        // of bytes, where only one number is kept of each

/// True if a thread block does better with a row that a warp could have, as it loads all of it at once. Rows of few
/// bytes leave its threads too little to wait for; and where an element costs much, the end of a row is dearer to it
/// than to a warp.
bool block_is_best(const Choice& c) {
  constexpr std::int64_t kLeastBytes = 4000, kUnit = 4 * kTreeBlock;
  if (c.args.reduced * static_cast<std::int64_t>(c.ir.point_bytes()) < kLeastBytes) return false;
  std::size_t narrowest = sizeof(double);
  for (const Access& a : c.ir.accesses)
    if (streams(a)) narrowest = std::min(narrowest, itemsize(c.ir.buffers[a.buffer]));
  const bool narrow = narrowest < sizeof(float), moments = c.ir.has_moments();
  if (narrowest == 1 || (narrow && moments)) return false;
  const bool places = std::any_of(c.ir.reductions.begin(), c.ir.reductions.end(),
                                  [](const Reduction& r) { return graph::is_arg_reduce(r.op); });
  const bool costly = narrow ? places : moments && narrowest < sizeof(double);
  return !costly || c.args.reduced % kUnit == 0;
}

/// True if something goes along the reduced axis that is no vector: a thread's items are a tree block apart then.
/// Neighbours that are only loaded come as fast one way as the other, which `counts` knows.
template <class Counts>
bool is_striped(const Choice& c, int vector, const Counts& counts) {
  if (vector != kReduceVector) return false;
  bool apart = false;
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i) {
    const Access& a = c.ir.accesses[i];
    if (c.numbers_draw(i)) return false;
    apart |= a.buffer != kNone && !a.outer_only && counts(a) && !a.aligned;
  }
  return apart;
}

void clear_aligned(KernelIr& ir) {
  for (Access& a : ir.accesses) a.aligned = false;
}

/// Four columns a thread, or eight of bytes; of fewer than eight columns the most, up to five, that divide them.
int choose_columns(Choice& c) {
  const auto fits = [&](std::size_t i, int v) {
    const bool runs = (c.is_vector(i) || c.numbers_draw(i)) && c.ir.accesses[i].strides.back() == StrideClass::One;
    return (runs || c.runs_through(i, c.args.accesses[i].strides.back())) &&
           c.args.accesses[i].reduced_stride % v == 0 && c.is_aligned(i, v, c.ir.rank - 1);
  };
  const auto takes_bytes = [&](std::size_t i) {
    return c.ir.accesses[i].outer_only ||
           (c.is_vector(i) && fits(i, 2 * kReduceVector) && itemsize(c.ir.buffers[c.ir.accesses[i].buffer]) == 1);
  };
  bool bytes = c.args.extents.back() % (2 * kReduceVector) == 0 && c.ir.reductions.size() == 1 &&
               (c.ir.sums_narrow() || itemsize(c.ir.reductions[0].dtype) <= 4) &&
               !graph::is_arg_reduce(c.ir.reductions[0].op);
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i) bytes = bytes && takes_bytes(i);
  int vector = bytes ? 2 * kReduceVector : kReduceVector;
  if (c.args.extents.back() < 2 * kReduceVector)
    for (vector = kReduceVector + 1; c.args.extents.back() % vector != 0;) --vector;
  if (vector == 1 || c.args.extents.back() % vector != 0) return 1;
  const bool loads_whole = std::has_single_bit(static_cast<unsigned>(vector));
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i) c.ir.accesses[i].aligned = loads_whole && fits(i, vector);
  return vector;
}

/// Few columns: a warp goes along both axes. Where there are many rows of few columns, it takes those together unless
/// the reduced axis is long.
ReduceOuterLayout choose_few_columns(Choice& c, int vector) {
  constexpr int kWarp = 32;
  const bool all_columns = vector % kReduceVector != 0;  // of a thread; worth it only here
  const int columns = column_class(std::min<std::int64_t>(c.args.extents.back(), kWarp * kByteVector));
  const int at_a_time = all_columns ? 1 : vector, width = std::max(1, columns / at_a_time);
  const std::int64_t at_once = std::int64_t{kTreeBlock} * kWarp / width;  // elements of a column
  if (width < kWarp && (c.args.outer_count() <= kWarp * at_a_time || c.args.reduced >= 8 * at_once))
    return {vector, columns};
  if (!all_columns) return {vector, 0};
  clear_aligned(c.ir);
  return {};
}

/// The steps of loops of which a thread holds something along its row stand in the text. Where they lie one behind the
/// other on boundaries of vectors, they are loaded as such.
void write_out_loops(Choice& c) {
  const std::vector<int> unknown = c.ir.short_loops;
  for (std::size_t l = 0; l < c.loops.size(); ++l) c.ir.short_loops[l] = steps_class(c.loops[l]);
  const std::vector<HeldLoop> held = held_loops(c.ir);
  for (std::size_t l = 0; l < held.size(); ++l)
    if (held[l].kept.empty()) c.ir.short_loops[l] = unknown[l];
  for (std::uint32_t a = 0; a < c.ir.accesses.size(); ++a) {
    Access& access = c.ir.accesses[a];
    if (access.loop == kNone || held[access.loop].kept.empty()) continue;
    const int steps = c.ir.steps_of(access.loop);
    if (!c.is_plain(a) || access.step != StrideClass::One || sure_steps(steps) < steps) continue;
    const int part = run_part(c.ir, a, steps);
    access.aligned = part > 1 && c.is_aligned(a, part, -1) && c.args.accesses[a].reduced_stride % part == 0;
  }
}

/// Elements of a row that a thread loads at once, 16 bytes of the widest: neighbouring threads' rows lie apart, so that
/// a single element costs as much of a cache's time.
int choose_serial_vector(Choice& c) {
  const auto loads_along = [&](std::size_t a) { return c.is_vector(a) && !c.ir.accesses[a].store && c.runs_along(a); };
  std::size_t widest = sizeof(float);
  for (std::size_t a = 0; a < c.ir.accesses.size(); ++a)
    if (loads_along(a)) widest = std::max(widest, itemsize(c.ir.buffers[c.ir.accesses[a].buffer]));
  const int vector = static_cast<int>(16 / widest);
  bool any = false;
  for (std::size_t a = 0; a < c.ir.accesses.size(); ++a)
    any |= c.ir.accesses[a].aligned = loads_along(a) && c.is_aligned(a, vector, -1);
  return any ? vector : 1;
}

/// Rows of a thread along the first dimension, where they share what threads beside each other load from places apart:
/// a thread loads that once for all its rows. As many as registers hold, of at most four.
int choose_shared_rows(const Choice& c, int vector) {
  constexpr int kMostRows = 4;
  constexpr std::int64_t kEnoughThreads = std::int64_t{1} << 18, kLeastRows = 16 * kMostRows;
  int shared = 0, own = 0;
  bool apart = false;
  for (const Access& a : c.ir.accesses) {
    if (!streams(a)) continue;
    const bool same = a.strides[0] == StrideClass::Zero;
    apart |= same && a.strides.back() == StrideClass::Any;
    (same ? shared : own) += vector * (itemsize(c.ir.buffers[a.buffer]) == 8 ? 2 : 1);
  }
  if (!apart || c.args.extents[0] < kLeastRows) return 1;
  int rows = kMostRows;
  while (rows > 1 && (shared + rows * own > kHeldRegisters || c.args.outer_count() < rows * kEnoughThreads)) rows /= 2;
  return rows;
}

}  // namespace

std::optional<Layout> choose_row_column(Choice& c) {
  if (!c.group.row_column()) return std::nullopt;
  if (!c.target.is_cuda()) return ReduceRowColumnLayout{};
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i)  // a thread has four neighbouring columns of a tile
    c.ir.accesses[i].aligned = c.is_vector(i) && c.runs_along(i) && c.is_aligned(i, kReduceVector, -1);
  return ReduceRowColumnLayout{kReduceVector};
}

std::optional<Layout> choose_row_serial(Choice& c) {
  if (!c.reduces() || !c.is_serial() || c.ir.stages() == 1) return std::nullopt;
  return RowSerialLayout{c.target.is_cuda() ? serial_class(c.args.reduced, kShortRow) : 0};
}

std::optional<Layout> choose_reduce_serial(Choice& c) {
  if (!c.reduces() || !c.is_serial()) return std::nullopt;
  if (!c.target.is_cuda()) return ReduceSerialLayout{};
  write_out_loops(c);
  ReduceSerialLayout layout;
  layout.longest_row = serial_class(c.args.reduced, kShortLoop);
  const bool stores = std::ranges::any_of(
      c.ir.instrs, [](const Instr& in) { return in.kind == InstrKind::Store && in.region == Region::Point; });
  if (c.ir.rank > 1 && c.ir.loops.empty() && layout.longest_row > kShortLoop && !stores) {
    layout.vector = choose_serial_vector(c);
    layout.rows = choose_shared_rows(c, layout.vector);
  }
  return layout;
}

std::optional<Layout> choose_reduce_outer(Choice& c) {
  if (!c.reduces() || c.ir.stages() > 1 || !c.outer_is_best()) return std::nullopt;
  if (!c.target.is_cuda()) return ReduceOuterLayout{};
  return choose_few_columns(c, choose_columns(c));
}

std::optional<Layout> choose_row_inner(Choice& c) {
  if (!c.reduces()) return std::nullopt;
  const std::int64_t n = c.args.reduced;
  if (c.ir.stages() == 1) {
    const bool held = n <= kPartRowExtent || (n <= kHeldRowExtent && (n > kWarpRowExtent || block_is_best(c)));
    if (!c.target.is_cuda() || !held || !c.ir.loops.empty()) return std::nullopt;
  }
  RowInnerLayout layout;
  if (!c.target.is_cuda()) return layout;
  layout.blocks_per_row = row_class(n);
  layout.half_block = n <= kTreeBlock / 2;
  layout.vector = choose_inner_vector(c, kNarrowVector);
  layout.striped = layout.blocks_per_row >= kReduceVector &&
                   is_striped(c, layout.vector, [](const Access& a) { return a.reduced != StrideClass::Zero; });
  if (layout.striped) clear_aligned(c.ir);
  return layout;
}

std::optional<Layout> choose_reduce_inner(Choice& c) {
  if (!c.reduces()) return std::nullopt;
  ReduceInnerLayout layout;
  if (!c.target.is_cuda()) return layout;
  const bool slight = std::ranges::all_of(
      c.ir.reductions, [](const Reduction& r) { return in_any_order(r) && !graph::is_arg_reduce(r.op); });
  layout.warps_per_row = c.args.reduced <= kWarpRowExtent ? 1 : 8;
  layout.vector = choose_inner_vector(c, slight ? kByteVector : kNarrowVector);
  layout.striped = is_striped(c, layout.vector, [](const Access& a) { return a.reduced == StrideClass::Any; });
  if (layout.striped) clear_aligned(c.ir);
  return layout;
}

}  // namespace tarry::codegen
