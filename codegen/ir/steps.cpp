// Halo, tile, kept values and runs: all from the instructions alone.
#include "codegen/ir/steps.h"

#include <algorithm>
#include <map>
#include <optional>

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

StepsTile steps_tile(const KernelIr& ir) {
  const Halo h = halo_after(ir, 0);
  StepsTile t{};
  if (ir.rows_class == 0) {  // on a CPU
    t.rows = t.stored_rows = ir.tile_rows;
    t.columns = t.stored_columns = ir.vector;
    return t;
  }
  t.rows = ir.tile_rows * ir.rows_class;
  t.columns = StepsTile::kLanes * ir.vector;
  t.top = h.top;
  t.left = round_up(h.left, ir.vector);
  t.stored_rows = t.rows - h.top - h.bottom;
  t.stored_columns = t.columns - t.left - round_up(h.right, ir.vector);
  if (ir.rank == 1) {  // warps lie side by side
    t.rows = t.stored_rows = 1;
    t.stored_columns *= ir.rows_class;
  }
  return t;
}

int KernelIr::steps_tile(int dimension) const {
  const StepsTile t = codegen::steps_tile(*this);
  return dimension == rank - 1 ? t.stored_columns : dimension >= 0 && dimension == rank - 2 ? t.stored_rows : 1;
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

std::vector<StepsReach> reaches(const KernelIr& ir, int stage) {
  std::vector<StepsReach> all;
  for (const Instr& in : ir.instrs) {
    if (in.kind != InstrKind::Neighbour || in.stage != stage) continue;
    auto r = std::find_if(all.begin(), all.end(), [&](const StepsReach& x) { return x.value == in.args[0]; });
    if (r == all.end()) r = all.insert(all.end(), {in.args[0], {}, 1, 0});
    widen(r->by, in);
    if (in.column == 0) continue;
    const bool none = r->first > r->last;
    r->first = none ? in.row : std::min<int>(r->first, in.row);
    r->last = none ? in.row : std::max<int>(r->last, in.row);
  }
  return all;
}

std::size_t exchanged_bytes(const KernelIr& ir) {
  std::size_t most = 0;
  for (int stage = 1; stage < ir.stages(); ++stage) {
    std::size_t sum = 0;
    for (const StepsReach& r : reaches(ir, stage))
      sum += static_cast<std::size_t>((r.by.top + r.by.bottom) * ir.rows_class * ir.vector * StepsTile::kLanes) *
             itemsize(ir.instrs[r.value].dtype);
    most = std::max(most, sum);
  }
  return most;
}

int rows_behind(const KernelIr& ir, int stage) { return halo_after(ir, 0).bottom - halo_after(ir, stage).bottom; }

std::vector<StepsRing> rings(const KernelIr& ir) {
  constexpr int kLine = 16;
  const std::vector<bool> kept = kept_values(ir);
  std::vector<StepsRing> all;
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    if (!kept[v]) continue;
    const Halo h = halo_after(ir, ir.instrs[v].stage);
    StepsRing ring{v, 1, round_up(h.left + ir.vector + h.right, kLine)};
    for (const Instr& in : ir.instrs)
      if (std::find(in.args.begin(), in.args.end(), v) != in.args.end())
        ring.rows = std::max(
            ring.rows, rows_behind(ir, in.stage) - rows_behind(ir, ir.instrs[v].stage) - std::min<int>(in.row, 0) + 1);
    all.push_back(ring);
  }
  return all;
}

std::size_t ring_bytes(const KernelIr& ir) {
  std::size_t sum = 0;
  for (const StepsRing& r : rings(ir))
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

std::vector<StepsRun> find_runs(const KernelIr& ir) {
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
  std::vector<StepsRun> runs;
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
  for (StepsRun& run : runs)
    if (run.count == 1) run.values.clear();
  return runs;
}

}  // namespace tarry::codegen
