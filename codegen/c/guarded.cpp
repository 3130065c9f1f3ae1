// C: parts of a loop in which every guard is a constant. Where updates lie one over the other, each part takes the
// value of one of them: a ladder of loops without a test. Elsewhere there are a loop for the usual case and one that
// tests.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/c/render.h"
#include "codegen/ir/usual.h"

namespace tarry::codegen {

/// Values that a loop's results are made of, also from elsewhere; where guards are constants, the other side of a
/// choice is not.
std::set<Value> CWriter::needed(const Loop& l) const {
  std::vector<bool> own(ir.instrs.size()), seen(ir.instrs.size());
  for (const Value v : l.values) own[v] = true;
  std::vector<Value> open;
  for (const auto& [to, v] : l.kept) open.push_back(v);
  for (const Value v : l.values)
    if (ir.instrs[v].kind == InstrKind::Store) open.push_back(v);
  while (!open.empty()) {
    const Value v = open.back();
    open.pop_back();
    if (seen[v]) continue;
    seen[v] = true;
    if (!own[v]) continue;
    const Instr& instr = ir.instrs[v];
    if (const Value known = chosen(instr); known != kNone) {
      open.push_back(known);
      continue;
    }
    for (const Value arg : instr.args)
      if (arg != kNone) open.push_back(arg);
    if (instr.kind != InstrKind::Fold) continue;
    const std::uint32_t loop = ir.folds[instr.index].loop;
    open.push_back(ir.folds[instr.index].arg);
    for (Value in_loop = 0; in_loop < ir.instrs.size(); ++in_loop)
      if (ir.instrs[in_loop].loop == loop)
        for (const Value arg : ir.instrs[in_loop].args)
          if (arg != kNone) open.push_back(arg);
  }
  std::set<Value> found;
  for (Value v = 0; v < seen.size(); ++v)
    if (seen[v]) found.insert(found.end(), v);
  return found;
}

/// True if the current scope knows all guards of some values as constants.
bool CWriter::is_decided(const std::vector<Value>& values) const {
  return std::ranges::all_of(guards_of(values), [&](std::uint32_t guard) {
    const auto holds = holds_.find(guard);
    return holds != holds_.end() && (holds->second == "0" || holds->second == "1");
  });
}

/// The guard that the last of the values that are needed depends on, or kNone.
std::uint32_t CWriter::undecided(const Loop& l) const {
  std::vector<bool> own(ir.instrs.size());
  for (const Value v : l.values) own[v] = true;
  const std::set<Value> used = needed(l);
  for (auto v = used.rbegin(); v != used.rend(); ++v) {
    const Instr& instr = ir.instrs[*v];
    if (!own[*v] || chosen(instr) != kNone) continue;
    if (is_choice(ir, instr)) return ir.instrs[instr.args[0]].index;
    const std::uint32_t guard = instr.kind == InstrKind::Inside ? instr.index : instr.guard;
    if (guard != kNone && !is_decided({*v})) return guard;
  }
  return kNone;
}

/// True if deciding one guard after the other leaves a case for each and one more, of little text.
bool CWriter::is_ladder(const Loop& l) const {
  constexpr std::size_t kLeastText = 128;  // statements
  const std::size_t guards = guards_of(l.values).size(), most = std::max(kLeastText, 4 * l.values.size());
  if (guards < 2) return false;
  CWriter scratch(ir, parameters_, vector_bytes_);
  std::vector<std::map<std::uint32_t, std::string>> open{{}};
  std::size_t cases = 0, text = 0;
  while (!open.empty()) {
    scratch.holds_ = std::move(open.back());
    open.pop_back();
    const std::uint32_t g = scratch.undecided(l);
    if (g == kNone) {
      text += scratch.needed(l).size();
      if (++cases > guards + 1 || text > most) return false;
      continue;
    }
    for (const char* const holds : {"0", "1"}) {
      open.push_back(scratch.holds_);
      open.back()[g] = holds;
    }
  }
  return true;
}

/// The loop once for each case. What holds is asked for from the last update to the first.
void CWriter::ladder(const Loop& l) {
  const auto around = holds_;
  std::uint32_t g = undecided(l);
  for (bool first = true; g != kNone; g = undecided(l), first = false) {
    open(fmt::format("{}if (g{})", first ? "" : "else ", g));
    holds_[g] = "1";
    ladder(l);
    close();
    holds_[g] = "0";
  }
  const bool is_alone = holds_ == around;
  if (!is_alone) open("else");
  Loop one = l;
  std::erase_if(one.values, [used = needed(l)](Value v) { return !used.contains(v); });
  run(one);
  if (!is_alone) close();
  holds_ = around;
}

void CWriter::guarded_part(const Loop& part, const std::vector<std::uint32_t>& guards) {
  if (is_ladder(part)) return ladder(part);
  std::string usual;
  for (const std::uint32_t g : guards)
    usual += fmt::format("{}{}g{}", usual.empty() ? "" : " & ", ir.guards[g].usual || guards.size() == 1 ? "" : "!", g);
  open(fmt::format("if ({})", usual));
  for (const std::uint32_t g : guards) holds_[g] = ir.guards[g].usual || guards.size() == 1 ? "1" : "0";
  if (guards.size() == 1) {
    run(part);
  } else {
    Loop one = part;
    std::erase_if(one.values, [used = needed(part)](Value v) { return !used.contains(v); });
    run(one);
  }
  close();
  open("else");
  for (const std::uint32_t g : guards) holds_[g] = guards.size() == 1 ? std::string("0") : fmt::format("g{}", g);
  run(part);
  close();
}

}  // namespace tarry::codegen
