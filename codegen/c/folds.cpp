// C: points in strips, a few vectors of them at a time. They take the steps of a short loop side by side, so that what
// the loop computes becomes vectors whatever its own elements have to do with each other; and they find the places of
// all elements that they gather before the first is read, so that all but the reading becomes vectors.
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
    std::vector<Value> values;              ///< computed before the folds and the gathers
    std::vector<std::uint32_t> loops = {};  ///< whose folds follow
    std::vector<Value> gathers = {};        ///< that follow
  };
  bool finds_places = false;           ///< indices are looked at for all points together
  std::set<Value> cuts;                ///< folds and gathers
  std::map<Value, std::size_t> depth;  ///< the piece that has a value
  std::vector<Piece> pieces;
  std::set<Value> arrays;  ///< the cuts, and what later pieces, loops and looks at indices read
  int points = 0;

  [[nodiscard]] static std::string array_of(Value v) { return fmt::format("strip{}", v); }
  [[nodiscard]] static std::string element(Value v, std::string_view i) {
    return fmt::format("{}[-low + {}]", array_of(v), i);
  }
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

/// True if much of finding a loop's places are vectors: there is more than one index that is there already.
bool CWriter::finds_places(const Loop& l) const {
  int found = 0;
  for (const Value v : l.values)
    if (is_checked(v, l)) found += is_computed(ir.instrs[v].args[0]) ? 2 : 1;
  return found > 1 && !l.is_part && !l.is_short;
}

/// True for an index that is another one at each point.
bool CWriter::is_checked(Value v, const Loop& l) const {
  const Instr& in = ir.instrs[v];
  return in.kind == InstrKind::Index && in.loop == kNone && !is_invariant(in, l.axis);
}

/// True for what takes more than a conversion of something that is loaded.
bool CWriter::is_computed(Value v) const {
  const Instr& in = ir.instrs[v];
  return in.kind == InstrKind::Compute && (in.op != Op::Cast || is_computed(in.args[0]));
}

CWriter::Strip CWriter::strip_of(const Loop& l) const {
  Strip strip;
  strip.finds_places = finds_places(l);
  for (const Value v : l.values) {
    const Instr& in = ir.instrs[v];
    const bool gathers = in.kind == InstrKind::Gather && in.loop == kNone && !is_invariant(in, l.axis);
    if (in.kind == InstrKind::Fold || (strip.finds_places && gathers)) strip.cuts.insert(v);
  }
  if (strip.cuts.empty() && !strip.finds_places) return strip;
  std::vector<Value> ends;  // stores
  const auto is_cut = [&](Value v) { return strip.cuts.contains(v); };
  const auto is_fold = [&](Value v) { return ir.instrs[v].kind == InstrKind::Fold; };
  std::size_t last = 0;
  for (const Value v : l.values) {
    const Instr& in = ir.instrs[v];
    if (in.kind == InstrKind::Store) ends.push_back(v);
    if (in.kind == InstrKind::Store || in.kind == InstrKind::Scalar || is_invariant(in, l.axis)) continue;
    std::size_t depth = 0;
    for (const Value a : taken_by(v))
      if (strip.depth.contains(a)) depth = std::max(depth, strip.depth.at(a) + (is_cut(a) ? 1 : 0));
    strip.depth[v] = depth;
    last = std::max(last, depth + (is_cut(v) ? 1 : 0));
  }
  for (const Value v : l.values)
    if (strip.finds_places && is_checked(v, l))
      for (const Value a : {ir.instrs[v].args[0], ir.instrs[v].args[2]})
        if (strip.depth.contains(a)) strip.arrays.insert(a);
  strip.pieces.resize(last + 1);
  for (const Value v : l.values)
    if (is_fold(v) && strip.depth.contains(v)) {
      std::vector<std::uint32_t>& loops = strip.pieces[strip.depth.at(v)].loops;
      const std::uint32_t loop = ir.folds[ir.instrs[v].index].loop;
      if (std::ranges::find(loops, loop) == loops.end()) loops.push_back(loop);
    } else if (strip.depth.contains(v) && is_cut(v)) {
      strip.pieces[strip.depth.at(v)].gathers.push_back(v);
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
      if (depth == n && !is_cut(v) && (strip.arrays.contains(v) || is_checked(v, l)))  // checks that nothing reads, too
        open.push_back(v);
    for (const auto& [v, depth] : strip.depth)
      if (depth == n && is_cut(v))
        for (const Value a : taken_by(v))
          if (strip.depth.contains(a)) {
            strip.arrays.insert(a);
            if (strip.depth.at(a) == n && !is_cut(a)) open.push_back(a);
          }
    while (!open.empty()) {
      const Value v = open.back();
      open.pop_back();
      if (!strip.depth.contains(v) || !seen.insert(v).second) continue;
      const bool is_free = arity(ir.instrs[v]) == 0 && !is_cut(v);  // read again, as cheaply as from an array
      if (is_cut(v) || (strip.depth.at(v) < n && !is_free)) {
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
  strip.arrays.insert(strip.cuts.begin(), strip.cuts.end());
  for (const Value v : strip.arrays) bytes += itemsize(strip_dtype(v, strip));
  for (const int points : kStripPoints)
    if (strip.points == 0 && static_cast<std::size_t>(points) * bytes <= kMostStripBytes) strip.points = points;
  return strip;
}

/// The dtype of a strip's array. Truth values are as wide as the narrowest other value of the loop.
Dtype CWriter::strip_dtype(Value v, const Strip& strip) const {
  if (ir.instrs[v].dtype != bool_) return ir.instrs[v].dtype;
  std::size_t narrowest = 8;
  for (const auto& [other, depth] : strip.depth)
    if (ir.instrs[other].dtype != bool_) narrowest = std::min(narrowest, itemsize(ir.instrs[other].dtype));
  return truth_dtype(narrowest);
}

/// Writes the loop in strips; false where it has neither folds nor places to find, or too many.
bool CWriter::run_strips(const Loop& l) {
  const Strip strip = strip_of(l);
  if (strip.points == 0) return false;
  for (const Value v : l.values)
    if (is_invariant(ir.instrs[v], l.axis)) statement(v, l.axis, "0", l.operand);
  for (const Value v : strip.arrays)
    line(fmt::format("{} {}[{}];", c_type(strip_dtype(v, strip)), Strip::array_of(v), strip.points));
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
      return Strip::element(v, i);
    };
    if (n + 1 < strip.pieces.size()) piece.kept.clear();
    for (const auto& [v, depth] : strip.depth)
      if (depth == n && strip.arrays.contains(v) && !strip.cuts.contains(v))
        piece.kept.emplace_back(Strip::element(v, l.i), v);
    if (!piece.values.empty() || !piece.kept.empty()) {
      open("");
      run_checked(piece, l, strip);
      close();
    }
    gather_strip(strip.pieces[n].gathers, l, strip);
    for (const std::uint32_t loop : strip.pieces[n].loops) fold_strip(loop, l, strip);
  }
  close();
  return true;
}

/// A piece. Its indices are looked at together; only where one is beyond its axis each is, to say which.
void CWriter::run_checked(const Loop& piece, const Loop& l, const Strip& strip) {
  Loop each = piece;
  each.kept.clear();
  std::erase_if(each.values, [&](Value v) { return !is_checked(v, l); });
  if (!strip.finds_places || each.values.empty()) return run(piece);
  line("tarry_u64 beyond = 0;");
  sums_up_ = true;
  run(piece);
  sums_up_ = false;
  each.operand = [&](Value v) { return strip.arrays.contains(v) ? Strip::element(v, l.i) : l.operand(v); };
  open("if (beyond)");
  run_plain(each);
  close();
}

/// The elements that all points of a strip gather.
void CWriter::gather_strip(const std::vector<Value>& gathers, const Loop& l, const Strip& strip) {
  if (gathers.empty()) return;
  open(fmt::format("for (tarry_i64 {0} = low; {0} < high; ++{0})", l.i));
  line("TARRY_SCALAR;");
  for (const Value v : gathers) {
    const Value place = ir.instrs[v].args[0];
    const std::string from = strip.arrays.contains(place) ? Strip::element(place, l.i) : l.operand(place);
    line(fmt::format("{} = {};", Strip::element(v, l.i),
                     guarded(ir.instrs[v], fmt::format("{}[{}]", source_of_gather(ir.instrs[v].index), from))));
  }
  close();
}

void CWriter::open_steps(std::uint32_t loop) {
  open(fmt::format("for (tarry_i64 {0} = 0; {0} < p->{1}; ++{0})", step_name(loop),
                   slot_name({SlotKind::Scalar, ir.loops[loop]})));
}

/// The folds of a loop, of all points of a strip.
void CWriter::fold_strip(std::uint32_t loop, const Loop& l, const Strip& strip) {
  const std::string step = step_name(loop);
  std::vector<Value> results;
  for (const auto& [v, depth] : strip.depth)
    if (ir.instrs[v].kind == InstrKind::Fold && ir.folds[ir.instrs[v].index].loop == loop) results.push_back(v);
  for (const Value v : results) {
    open_loop(l.i, "low", "high");
    line(fmt::format("{} = {};", Strip::element(v, l.i), fold_start(ir.folds[ir.instrs[v].index])));
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
  body.operand = [&](Value v) { return strip.arrays.contains(v) ? Strip::element(v, l.i) : l.operand(v); };
  for (const Value v : results) {
    const Fold& fold = ir.folds[ir.instrs[v].index];
    const std::string to = Strip::element(v, l.i);
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
