// Halo, tile, kept values and runs: all from the instructions alone.
#include "codegen/ir/iterated_stencil.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "codegen/ir/verify.h"

namespace tarry::codegen {
namespace {

bool is_used_value(const KernelIr& ir, Value v) { return v != kNone && ir.instrs[v].kind != InstrKind::Scalar; }

void widen(Halo& h, const Instr& in) {
  h.top = std::max(h.top, -in.row);
  h.bottom = std::max<int>(h.bottom, in.row);
  h.left = std::max(h.left, -in.column);
  h.right = std::max<int>(h.right, in.column);
}

/// The last stage that uses each value.
std::vector<int> last_uses(const KernelIr& ir) {
  std::vector<int> last(ir.instrs.size(), -1);
  for (const Instr& in : ir.instrs)
    for (const Value v : in.args)
      if (is_used_value(ir, v)) last[v] = std::max<int>(last[v], in.stage);
  return last;
}

int round_up(int a, int b) { return (a + b - 1) / b * b; }

}  // namespace

Halo halo_after(const KernelIr& ir, int stage) {
  Halo sum;
  for (int s = stage + 1; s < ir.stages(); ++s) {
    Halo h;
    for (const Instr& in : ir.instrs)
      if (in.kind == InstrKind::Neighbour && in.stage == s) widen(h, in);
    sum = {sum.top + h.top, sum.left + h.left, sum.bottom + h.bottom, sum.right + h.right};
  }
  return sum;
}

IteratedTile iterated_tile(const KernelIr& ir, const IteratedStencilLayout& layout) {
  const Halo h = halo_after(ir, 0);
  IteratedTile t{};
  if (layout.warps == 0) {  // on a CPU
    t.rows = t.stored_rows = layout.rows;
    t.columns = t.stored_columns = layout.columns;
    return t;
  }
  t.rows = layout.rows * layout.warps;
  t.columns = IteratedTile::kLanes * layout.columns;
  t.top = h.top;
  t.left = round_up(h.left, layout.columns);
  t.stored_rows = t.rows - h.top - h.bottom;
  t.stored_columns = t.columns - t.left - round_up(h.right, layout.columns);
  if (ir.rank == 1) {  // warps lie side by side
    t.rows = t.stored_rows = 1;
    t.stored_columns *= layout.warps;
  }
  return t;
}

IteratedTile iterated_tile(const KernelIr& ir) { return iterated_tile(ir, ir.as<IteratedStencilLayout>()); }

int IteratedStencilLayout::row_dimension(const KernelIr& ir) const { return ir.rank - 2; }

int IteratedStencilLayout::tile(const KernelIr& ir, int dimension) const {
  const IteratedTile t = iterated_tile(ir, *this);
  if (dimension == ir.rank - 1) return t.stored_columns;
  return dimension >= 0 && dimension == ir.rank - 2 ? t.stored_rows : 1;
}

std::vector<bool> kept_values(const KernelIr& ir) {
  std::vector<bool> kept(ir.instrs.size());
  for (const Instr& in : ir.instrs)
    for (const Value v : in.args)
      if (is_used_value(ir, v) && ir.instrs[v].stage < in.stage) kept[v] = true;
  return kept;
}

int kept_words(const KernelIr& ir) {
  const std::vector<bool> kept = kept_values(ir);
  const std::vector<int> last = last_uses(ir);
  int most = 1;
  for (int stage = 1; stage < ir.stages(); ++stage) {
    int before = 0, after = 0;
    for (Value v = 0; v < ir.instrs.size(); ++v) {
      if (!kept[v]) continue;
      const int words = std::max(1, static_cast<int>(itemsize(ir.instrs[v].dtype)) / 4);
      if (ir.instrs[v].stage < stage && last[v] >= stage) before += words;
      if (ir.instrs[v].stage <= stage && last[v] > stage) after += words;
    }
    most = std::max({most, before, after});
  }
  return most;
}

std::vector<IteratedReach> reaches(const KernelIr& ir, int stage) {
  std::vector<IteratedReach> all;
  for (const Instr& in : ir.instrs) {
    if (in.kind != InstrKind::Neighbour || in.stage != stage) continue;
    auto r = std::find_if(all.begin(), all.end(), [&](const IteratedReach& x) { return x.value == in.args[0]; });
    if (r == all.end()) r = all.insert(all.end(), {in.args[0], {}, 1, 0});
    widen(r->by, in);
    if (in.column == 0) continue;
    const bool none = r->first > r->last;
    r->first = none ? in.row : std::min<int>(r->first, in.row);
    r->last = none ? in.row : std::max<int>(r->last, in.row);
  }
  return all;
}

std::size_t exchanged_bytes(const KernelIr& ir, const IteratedStencilLayout& layout) {
  const int columns = layout.warps * layout.columns * IteratedTile::kLanes;
  std::size_t most = 0;
  for (int stage = 1; stage < ir.stages(); ++stage) {
    std::size_t sum = 0;
    for (const IteratedReach& r : reaches(ir, stage))
      sum += static_cast<std::size_t>((r.by.top + r.by.bottom) * columns) * itemsize(ir.instrs[r.value].dtype);
    most = std::max(most, sum);
  }
  return most;
}

int rows_behind(const KernelIr& ir, int stage) { return halo_after(ir, 0).bottom - halo_after(ir, stage).bottom; }

std::vector<IteratedRing> rings(const KernelIr& ir, const IteratedStencilLayout& layout) {
  constexpr int kLine = 16;
  const std::vector<bool> kept = kept_values(ir);
  std::vector<IteratedRing> all;
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    if (!kept[v]) continue;
    const Halo h = halo_after(ir, ir.instrs[v].stage);
    IteratedRing ring{v, 1, round_up(h.left + layout.columns + h.right, kLine)};
    for (const Instr& in : ir.instrs)
      if (std::find(in.args.begin(), in.args.end(), v) != in.args.end())
        ring.rows = std::max(
            ring.rows, rows_behind(ir, in.stage) - rows_behind(ir, ir.instrs[v].stage) - std::min<int>(in.row, 0) + 1);
    all.push_back(ring);
  }
  return all;
}

std::size_t ring_bytes(const KernelIr& ir, const IteratedStencilLayout& layout) {
  std::size_t sum = 0;
  for (const IteratedRing& r : rings(ir, layout))
    sum += static_cast<std::size_t>(r.rows * r.columns) * itemsize(ir.instrs[r.value].dtype);
  return sum;
}

namespace {

/// The text of a stage, its instructions numbered from its first one, with `from` for the value it begins with.
std::vector<std::int64_t> words_of(const KernelIr& ir, int stage, Value from) {
  std::vector<std::int64_t> words;
  std::map<Value, std::int64_t> number;
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& in = ir.instrs[v];
    if (in.stage != stage || in.kind == InstrKind::Scalar) continue;
    const auto own = static_cast<std::int64_t>(number.size());
    number[v] = own;
    words.insert(words.end(), {static_cast<std::int64_t>(in.kind), static_cast<std::int64_t>(in.op),
                               static_cast<std::int64_t>(in.dtype), in.index, in.guard, in.row, in.column});
    for (const Value arg : in.args) {
      const auto known = number.find(arg);
      if (arg == from)
        words.insert(words.end(), {0, 0});
      else if (known != number.end())
        words.insert(words.end(), {1, known->second});
      else
        words.insert(words.end(), {2, arg});
    }
  }
  return words;
}

}  // namespace

std::vector<IteratedRun> find_runs(const KernelIr& ir) {
  const std::vector<bool> kept = kept_values(ir);
  const std::vector<int> last = last_uses(ir);
  const auto made = [&](int stage) -> std::optional<Value> {  // its only kept value, for the next stage alone
    std::optional<Value> only;
    for (Value v = 0; v < ir.instrs.size(); ++v) {
      if (ir.instrs[v].stage != stage || !kept[v]) continue;
      if (only || last[v] != stage + 1) return std::nullopt;
      only = v;
    }
    return only;
  };
  // The value that the first step begins with: the loaded value that no later stage uses.
  const auto loaded = [&]() -> std::optional<Value> {
    std::optional<Value> only;
    for (Value v = 0; v < ir.instrs.size(); ++v)
      if (ir.instrs[v].stage == 0 && kept[v] && last[v] == 1) {
        if (only) return std::nullopt;
        only = v;
      }
    return only;
  };
  std::vector<IteratedRun> runs;
  std::optional<Value> from = loaded();
  std::vector<std::int64_t> before;
  for (int stage = 1; stage < ir.stages(); ++stage) {
    const std::optional<Value> to = made(stage);
    std::vector<std::int64_t> words;
    if (from && to && ir.instrs[*from].dtype == ir.instrs[*to].dtype) words = words_of(ir, stage, *from);
    if (words.empty() || words != before) {
      runs.push_back({stage, 1, {}});
      if (!words.empty()) runs.back().values = {*from, *to};
    } else {
      ++runs.back().count;
      runs.back().values.push_back(*to);
    }
    before = std::move(words);
    from = to;
  }
  for (IteratedRun& run : runs)
    if (run.count == 1) run.values.clear();
  return runs;
}

namespace {

/// Loads come first, stores last; a thread reaches its neighbours' points.
void verify_stages(const KernelIr& ir) {
  const auto& layout = ir.as<IteratedStencilLayout>();
  for (const Instr& in : ir.instrs) {
    if (in.kind == InstrKind::Load && ir.accesses[in.index].buffer != kNone && in.stage != 0)
      broken(ir, "iterated stencils load before they begin");
    if (in.kind == InstrKind::Store && in.stage + 1 != ir.stages())
      broken(ir, "iterated stencils store when they are done");
    if (in.kind != InstrKind::Neighbour || layout.warps == 0) continue;
    if (std::abs(in.row) > layout.rows || std::abs(in.column) > layout.columns)
      broken(ir, "a neighbour beyond the next thread");
  }
}

}  // namespace

void verify_iterated_stencil(const KernelIr& ir) {
  const auto& layout = ir.as<IteratedStencilLayout>();
  if (ir.stages() == 1) broken(ir, "an iterated stencil has several stages");
  verify_stages(ir);
  if (ir.rank < 1 || layout.rows < 1 || layout.rows * std::max(layout.warps, 1) > 1024 ||
      (ir.rank == 1 && layout.rows > 1))
    broken(ir, "rows of a tile of an iterated stencil");
  if (ir.tile(ir.rank - 1) < 1 || (ir.rank > 1 && ir.tile(ir.rank - 2) < 1))
    broken(ir, "iterations reach across the whole tile");
  verify_row_column_guards(ir);
}

}  // namespace tarry::codegen
