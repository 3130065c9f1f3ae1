// The stages of a row kernel (kernel_ir.h, "Stages") as its C renderer sees them: what each computes, what it keeps.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "codegen/c/states.h"

namespace tarry::codegen {

inline constexpr int kKeptBytes = 8;        // of one point: 128 KiB of the longest row, on stacks of 256 KiB
inline constexpr int kKeepCost = 4;         // of the op table: what storing and loading again amounts to
inline constexpr int kSerialBytes = 32768;  // of the kept points of a tile

/// The computations of each stage at a point, and the values that it leaves for later ones.
class Stages {
 public:
  explicit Stages(const KernelIr& ir) : ir_(ir), kept_(ir.instrs.size()), cost_(ir.instrs.size()) {
    const auto used_later = later_uses();
    int bytes = 0;
    for (Value v = 0; v < ir.instrs.size(); ++v) {
      if (!is_point(v)) continue;
      cost_[v] = own_cost(v);
      const int size = static_cast<int>(itemsize(ir.instrs[v].dtype));
      if (!used_later[v] || cost_[v] <= kKeepCost || bytes + size > kKeptBytes) continue;
      kept_[v] = true;
      bytes += size;
    }
    kept_bytes_ = bytes;
  }

  [[nodiscard]] int count() const { return ir_.stages(); }
  [[nodiscard]] bool is_last(int stage) const { return stage + 1 == count(); }
  [[nodiscard]] int kept_bytes() const { return kept_bytes_; }
  [[nodiscard]] bool is_kept(Value v) const { return kept_[v]; }
  /// True if `stage` finds v in its array.
  [[nodiscard]] bool is_there(Value v, int stage) const { return kept_[v] && ir_.instrs[v].stage < stage; }

  /// Inputs of the reductions of a stage, without repetition.
  [[nodiscard]] std::vector<Value> inputs(int stage) const {
    std::vector<Value> found;
    for (const Reduction& r : ir_.reductions)
      for (std::size_t k = 0; r.stage == stage && k < input_count(r); ++k)
        if (std::find(found.begin(), found.end(), r.args[k]) == found.end()) found.push_back(r.args[k]);
    return found;
  }

  /// Point instructions that a stage runs to have `wanted` and what it keeps, in order; in the last stage the stores
  /// too.
  [[nodiscard]] std::vector<Value> points(int stage, const std::vector<Value>& wanted) const {
    std::vector<bool> needed(ir_.instrs.size());
    for (const Value v : wanted) needed[v] = true;
    std::vector<Value> found;
    for (Value v = static_cast<Value>(ir_.instrs.size()); v-- > 0;) {
      const Instr& instr = ir_.instrs[v];
      if (!is_point(v)) continue;
      if (instr.kind == InstrKind::Store) needed[v] = is_last(stage);
      if (kept_[v] && instr.stage == stage) needed[v] = true;
      if (!needed[v] || is_there(v, stage)) continue;
      found.push_back(v);
      for (const Value a : arguments(instr)) needed[a] = true;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  [[nodiscard]] bool is_point(Value v) const {
    return ir_.instrs[v].region == Region::Point && ir_.instrs[v].kind != InstrKind::Scalar;
  }
  static std::vector<Value> arguments(const Instr& instr) {
    if (instr.kind == InstrKind::Store) return {instr.args[0]};
    return {instr.args.begin(), instr.args.begin() + arity(instr)};
  }

  [[nodiscard]] std::vector<bool> later_uses() const {
    std::vector<bool> used(ir_.instrs.size());
    const auto use = [&](Value v, int stage) { used[v] = used[v] || ir_.instrs[v].stage < stage; };
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (is_point(v))
        for (const Value a : arguments(ir_.instrs[v]))
          use(a, ir_.instrs[v].kind == InstrKind::Store ? count() - 1 : ir_.instrs[v].stage);
    for (const Reduction& r : ir_.reductions)
      for (std::size_t k = 0; k < input_count(r); ++k) use(r.args[k], r.stage);
    return used;
  }

  /// The cost of computing v from loads and kept values.
  [[nodiscard]] int own_cost(Value v) const {
    const Instr& instr = ir_.instrs[v];
    if (instr.kind != InstrKind::Compute) return 1;
    int cost = graph::info(instr.op).cost;
    for (const Value a : arguments(instr))
      if (is_point(a) && !kept_[a]) cost = std::min(1000, cost + cost_[a]);
    return cost;
  }

  const KernelIr& ir_;
  std::vector<bool> kept_;
  std::vector<int> cost_;
  int kept_bytes_ = 0;
};

/// Rows of a work item.
inline int row_tile(const KernelIr& ir, const Stages& stages) {
  if (ir.schedule() == Schedule::RowInner) return 1;
  const int bytes = kSerial * std::max(stages.kept_bytes(), 1);
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<unsigned>(kSerialBytes / bytes))), 16, 256);
}

}  // namespace tarry::codegen
