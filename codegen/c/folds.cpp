// C: the short loops of a kernel. Points take the steps of a loop side by side, a few vectors of them at a time, so
// that what the loop computes becomes vectors whatever its own elements have to do with each other.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "codegen/c/render.h"

namespace tarry::codegen {

namespace {

constexpr int kStripPoints[] = {64, 16};       ///< side by side: 64 rows of 32 doubles fill half of an L1
constexpr std::size_t kMostStripBytes = 8192;  ///< of a strip's arrays: stacks may be small

std::string step_name(std::uint32_t loop) { return fmt::format("u{}", loop); }

}  // namespace

/// The points of a loop in strips. What folds take and what is read after them passes through arrays of a strip.
struct CWriter::Strip {
  struct Piece {
    std::vector<Value> values;              ///< computed before the folds
    std::vector<std::uint32_t> loops = {};  ///< whose folds follow
  };
  std::map<Value, std::size_t> depth;  ///< the piece that has a value
  std::vector<Piece> pieces;
  std::set<Value> arrays;  ///< folds, and what later pieces and loops read
  int points = 0;

  [[nodiscard]] static std::string array_of(Value v) { return fmt::format("strip{}", v); }
};

/// Values of a point that an instruction takes; of a fold, all that its loop takes.
std::vector<Value> CWriter::taken_by(Value v) const {
  std::vector<Value> taken;
  const auto add = [&](const Instr& in) {
    for (const Value a : in.args)
      if (a != kNone && ir.instrs[a].loop == kNone) taken.push_back(a);
  };
  add(ir.instrs[v]);
  if (ir.instrs[v].kind != InstrKind::Fold) return taken;
  const Fold& fold = ir.folds[ir.instrs[v].index];
  for (const Instr& in : ir.instrs)
    if (in.loop == fold.loop) add(in);
  for (const Fold& each : ir.folds)
    if (each.loop == fold.loop && each.arg != kNone && ir.instrs[each.arg].loop == kNone) taken.push_back(each.arg);
  return taken;
}

CWriter::Strip CWriter::strip_of(const Loop& l) const {
  Strip strip;
  std::vector<Value> ends;  // stores
  const auto is_fold = [&](Value v) { return ir.instrs[v].kind == InstrKind::Fold; };
  std::size_t last = 0;
  for (const Value v : l.values) {
    const Instr& in = ir.instrs[v];
    if (in.kind == InstrKind::Store) ends.push_back(v);
    if (in.kind == InstrKind::Store || in.kind == InstrKind::Scalar || is_invariant(in, l.axis)) continue;
    std::size_t depth = 0;
    for (const Value a : taken_by(v))
      if (strip.depth.contains(a)) depth = std::max(depth, strip.depth.at(a) + (is_fold(a) ? 1 : 0));
    strip.depth[v] = depth;
    last = std::max(last, depth + (is_fold(v) ? 1 : 0));
  }
  strip.pieces.resize(last + 1);
  for (const Value v : l.values)
    if (is_fold(v) && strip.depth.contains(v)) {
      std::vector<std::uint32_t>& loops = strip.pieces[strip.depth.at(v)].loops;
      const std::uint32_t loop = ir.folds[ir.instrs[v].index].loop;
      if (std::ranges::find(loops, loop) == loops.end()) loops.push_back(loop);
    }
  // From the last piece to the first: what each computes itself, and what it wants of those before.
  for (std::size_t n = last + 1; n-- > 0;) {
    std::set<Value> own, seen;
    std::vector<Value> open;
    if (n == last) {
      for (const Value v : ends) open.push_back(ir.instrs[v].args[0]);
      for (const auto& [to, v] : l.kept) open.push_back(v);
    }
    for (const auto& [v, depth] : strip.depth)
      if (depth == n && strip.arrays.contains(v) && !is_fold(v)) open.push_back(v);
    for (const auto& [v, depth] : strip.depth)
      if (depth == n && is_fold(v))
        for (const Value a : taken_by(v))
          if (strip.depth.contains(a)) {
            strip.arrays.insert(a);
            if (strip.depth.at(a) == n && !is_fold(a)) open.push_back(a);
          }
    while (!open.empty()) {
      const Value v = open.back();
      open.pop_back();
      if (!strip.depth.contains(v) || !seen.insert(v).second) continue;
      const bool is_free = arity(ir.instrs[v]) == 0 && !is_fold(v);  // read again, as cheaply as from an array
      if (is_fold(v) || (strip.depth.at(v) < n && !is_free)) {
        strip.arrays.insert(v);
        continue;
      }
      own.insert(v);
      for (const Value a : ir.instrs[v].args)
        if (a != kNone) open.push_back(a);
    }
    strip.pieces[n].values.assign(own.begin(), own.end());
  }
  strip.pieces.back().values.insert(strip.pieces.back().values.end(), ends.begin(), ends.end());

  std::size_t bytes = 0;  // of a point
  for (const Value v : l.values)
    if (is_fold(v)) strip.arrays.insert(v);
  for (const Value v : strip.arrays) bytes += itemsize(ir.instrs[v].dtype);
  for (const int points : kStripPoints)
    if (strip.points == 0 && static_cast<std::size_t>(points) * bytes <= kMostStripBytes) strip.points = points;
  return strip;
}

/// Writes the loop in strips; false where it has no folds, or too many.
bool CWriter::run_strips(const Loop& l) {
  const auto is_fold = [&](Value v) { return ir.instrs[v].kind == InstrKind::Fold; };
  if (!std::ranges::any_of(l.values, is_fold)) return false;
  const Strip strip = strip_of(l);
  if (strip.points == 0) return false;
  for (const Value v : l.values)
    if (is_invariant(ir.instrs[v], l.axis)) statement(v, l.axis, "0", l.operand);
  for (const Value v : strip.arrays)
    line(fmt::format("{} {}[{}];", c_type(ir.instrs[v].dtype), Strip::array_of(v), strip.points));
  open(fmt::format("for (tarry_i64 low = {0}, high; low < {1}; low = high)", l.from, l.to));
  line(fmt::format("high = {0} - low < {1} ? {0} : low + {1};", l.to, strip.points));
  for (std::size_t n = 0; n < strip.pieces.size(); ++n) {
    Loop piece = l;
    piece.values = strip.pieces[n].values;
    piece.from = "low";
    piece.to = "high";
    piece.is_part = true;
    piece.vectors = false;
    piece.operand = [own = std::set<Value>(piece.values.begin(), piece.values.end()), &strip, i = l.i,
                     operand = l.operand](Value v) {
      if (own.contains(v) || !strip.arrays.contains(v)) return operand(v);
      return fmt::format("{}[-low + {}]", Strip::array_of(v), i);
    };
    if (n + 1 < strip.pieces.size()) {
      piece.kept.clear();
      for (const auto& [v, depth] : strip.depth)
        if (depth == n && strip.arrays.contains(v) && !is_fold(v))
          piece.kept.emplace_back(fmt::format("{}[-low + {}]", Strip::array_of(v), l.i), v);
    }
    if (!piece.values.empty() || !piece.kept.empty()) {
      open("");
      run(piece);
      close();
    }
    for (const std::uint32_t loop : strip.pieces[n].loops) fold_strip(loop, l, strip);
  }
  close();
  return true;
}

void CWriter::open_steps(std::uint32_t loop) {
  open(fmt::format("for (tarry_i64 {0} = 0; {0} < p->{1}; ++{0})", step_name(loop),
                   slot_name({SlotKind::Scalar, ir.loops[loop]})));
}

/// The folds of a loop, of all points of a strip.
void CWriter::fold_strip(std::uint32_t loop, const Loop& l, const Strip& strip) {
  const std::string step = step_name(loop);
  const auto at_point = [&](std::string_view array) { return fmt::format("{}[-low + {}]", array, l.i); };
  std::vector<Value> results;
  for (const auto& [v, depth] : strip.depth)
    if (ir.instrs[v].kind == InstrKind::Fold && ir.folds[ir.instrs[v].index].loop == loop) results.push_back(v);
  for (const Value v : results) {
    open_loop(l.i, "low", "high");
    line(fmt::format("{} = {};", at_point(Strip::array_of(v)), fold_start(ir.folds[ir.instrs[v].index])));
    close();
  }
  open_steps(loop);
  Loop body = l;
  body.values.clear();
  body.kept.clear();
  body.from = "low";
  body.to = "high";
  body.is_part = true;
  body.vectors = false;
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (ir.instrs[v].loop == loop) body.values.push_back(v);
  open("");
  body.operand = [&](Value v) { return strip.arrays.contains(v) ? at_point(Strip::array_of(v)) : l.operand(v); };
  for (const Value v : results) {
    const Fold& fold = ir.folds[ir.instrs[v].index];
    const std::string to = at_point(Strip::array_of(v));
    body.kept.emplace_back(to, fold.arg);
    body.steps[to] = [this, &fold, step, to](const std::string& taken) {
      return fold_step(expressions, fold, step, to, taken);
    };
  }
  run(body);
  close();
  close();
}

/// The folds of a loop at one point, as locals.
void CWriter::fold_loop(std::uint32_t loop, Axis axis, std::string_view i, const Operand& operand) {
  const std::string step = step_name(loop);
  std::vector<Value> results;
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (ir.instrs[v].kind == InstrKind::Fold && ir.folds[ir.instrs[v].index].loop == loop) results.push_back(v);
  for (const Value v : results)
    line(fmt::format("{} {} = {};", c_type(ir.instrs[v].dtype), value_name(v),
                     fold_start(ir.folds[ir.instrs[v].index])));
  open_steps(loop);
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (ir.instrs[v].loop == loop) statement(v, axis, i, operand);
  for (const Value v : results) {
    const Fold& f = ir.folds[ir.instrs[v].index];
    line(fmt::format("{} = {};", value_name(v), fold_step(expressions, f, step, value_name(v), operand(f.arg))));
  }
  close();
}

}  // namespace tarry::codegen
