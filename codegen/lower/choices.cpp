// choice(): pieces of an array that lie side by side, as those of a rolled one, have one formula. Their loads are
// chosen between, not their results: the formula is written once, and loads of one place in boxes that meet are one.
#include "codegen/lower/choices.h"

#include <algorithm>

#include "codegen/ir/usual.h"

namespace tarry::codegen {
namespace {

constexpr int kDeepest = 64;             // formulas below each other that are compared
constexpr std::size_t kMostPieces = 32;  // of an array

/// The box of two, where they meet along one axis and are alike along the others.
std::optional<Bounds> joined(const Bounds& a, const Bounds& b) {
  int along = -1;
  for (int d = 0; d < a.low.size(); ++d) {
    if (a.low[d] == b.low[d] && a.high[d] == b.high[d]) continue;
    if (along >= 0 || (a.high[d] != b.low[d] && b.high[d] != a.low[d])) return std::nullopt;
    along = d;
  }
  Bounds both = a;
  if (along < 0) return both;
  both.low[along] = std::min(a.low[along], b.low[along]);
  both.high[along] = std::max(a.high[along], b.high[along]);
  return both;
}

/// The part of a box in another one; nothing where they do not meet.
std::optional<Bounds> common(Bounds a, const Bounds& b) {
  for (int d = 0; d < a.low.size(); ++d) {
    a.low[d] = std::max(a.low[d], b.low[d]);
    a.high[d] = std::min(a.high[d], b.high[d]);
    if (a.low[d] >= a.high[d]) return std::nullopt;
  }
  return a;
}

/// Loads that can be one: of an array by the same strides.
bool are_alike(const RawAccess& a, const RawAccess& b) {
  return a.buffer == b.buffer && a.strides == b.strides && a.loop == kNone && b.loop == kNone &&
         a.outer_only == b.outer_only;
}

}  // namespace

std::optional<Bounds> rest_of(const Bounds& outer, const Bounds& inner) {
  std::optional<Bounds> rest;
  for (int d = 0; d < outer.low.size(); ++d) {
    const bool from_start = inner.low[d] == outer.low[d], to_end = inner.high[d] == outer.high[d];
    if (from_start && to_end) continue;
    if (rest || (!from_start && !to_end)) return std::nullopt;
    rest = outer;
    (from_start ? rest->low : rest->high)[d] = from_start ? inner.high[d] : inner.low[d];
  }
  return rest;
}

Value Choices::choice(const Bounds& outer, const Bounds& inner, Value x, Value y) {
  const std::optional<Bounds> rest = rest_of(outer, inner);
  if (!rest) return kNone;
  Between b{outer, inner, *rest, box_number(outer), box_number(inner)};
  const std::size_t before = ir_.instrs.size();
  const Value v = between(b, x, y);
  chose_ = chose_ || v != kNone || ir_.instrs.size() > before;
  return v;
}

bool Choices::are_equal(Value x, Value y) const {
  if (x == y) return true;
  const Instr &a = ir_.instrs[x], &b = ir_.instrs[y];
  return a.kind == InstrKind::Scalar && b.kind == InstrKind::Scalar && a.index == b.index;
}

Value Choices::between(Between& b, Value x, Value y) {
  if (are_equal(x, y)) return x;
  if (b.depth == kDeepest) return kNone;
  const std::array<std::uint32_t, 4> key{b.outer_number, b.inner_number, x, y};
  if (const auto known = chosen_.find(key); known != chosen_.end()) return known->second;
  Value v = between_loads(b, x, y);
  if (v == kNone) v = between_formulas(b, x, y);
  return chosen_[key] = v;
}

/// A value that is loaded piece by piece, of which there are not too many.
bool Choices::add_pieces(Value v, const Bounds& domain, std::vector<Piece>& pieces) const {
  const Instr& in = ir_.instrs[v];
  if (pieces.size() > kMostPieces) return false;
  if (in.kind == InstrKind::Load && out_.accesses[in.index].buffer != kNone) {
    pieces.push_back({domain, v, in.guard != kNone});
    return true;
  }
  if (const auto known = pieces_.find(v); known != pieces_.end()) {
    for (const Piece& p : known->second)
      if (const std::optional<Bounds> box = common(p.box, domain)) pieces.push_back({*box, p.load, p.tested});
    return true;
  }
  if (!is_choice(ir_, in)) return false;
  const std::optional<Bounds> inner = common(domain, out_.boxes[ir_.instrs[in.args[0]].index]);
  if (!inner) return add_pieces(in.args[2], domain, pieces);
  if (*inner == domain) return add_pieces(in.args[1], domain, pieces);
  const std::optional<Bounds> rest = rest_of(domain, *inner);
  return rest && add_pieces(in.args[1], *inner, pieces) && add_pieces(in.args[2], *rest, pieces);
}

Value Choices::between_loads(const Between& b, Value x, Value y) {
  std::vector<Piece> pieces;
  if (!add_pieces(x, b.inner, pieces) || !add_pieces(y, b.rest, pieces)) return kNone;
  const auto access = [&](const Piece& p) -> const RawAccess& { return out_.accesses[ir_.instrs[p.load].index]; };
  if (pieces.size() > kMostPieces ||
      !std::ranges::all_of(pieces, [&](const Piece& p) { return are_alike(access(p), access(pieces[0])); }))
    return kNone;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t j = i + 1; j < pieces.size(); ++j) {
      const std::optional<Bounds> both = joined(pieces[i].box, pieces[j].box);
      if (!both || access(pieces[i]).offset != access(pieces[j]).offset) continue;
      pieces[i].box = *both;
      pieces[i].tested = pieces[i].tested && pieces[j].tested;
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(j));
      i = static_cast<std::size_t>(-1);  // a larger box may meet one before it
      break;
    }
  }
  const Value v = one_of(b.outer, pieces);
  if (v == kNone || pieces.size() == 1) return v;
  if (b.outer_number == kNone) ir_.instrs[v].whole = true;
  pieces_[v] = std::move(pieces);
  return v;
}

/// One operation, of arguments that are the same or chosen between. A choice that stays one costs a statement, and an
/// operation spares one.
Value Choices::between_formulas(Between& b, Value x, Value y) {
  const Instr in = ir_.instrs[x], other = ir_.instrs[y];
  if (in.kind != InstrKind::Compute || other.kind != InstrKind::Compute || in.op != other.op ||
      in.dtype != other.dtype || in.loop != kNone || other.loop != kNone || is_choice(ir_, in) || is_choice(ir_, other))
    return kNone;
  for (std::size_t i = 0; i < in.args.size(); ++i)  // casts may be of two dtypes
    if (in.args[i] != kNone && ir_.instrs[in.args[i]].dtype != ir_.instrs[other.args[i]].dtype) return kNone;
  Instr both = in;
  int stay = 0;
  ++b.depth;
  for (std::size_t i = 0; i < both.args.size() && stay < 2; ++i) {
    if (in.args[i] == kNone) continue;
    both.args[i] = between(b, in.args[i], other.args[i]);
    if (both.args[i] != kNone) continue;
    both.args[i] = ++stay == 1 ? where(b.inner, in.args[i], other.args[i]) : kNone;
  }
  --b.depth;
  return stay < 2 ? push_numbered(placed(both)) : kNone;
}

/// A choice between pieces that fill a box, by cuts through all of it: a guard tests the coordinate of one axis.
Value Choices::one_of(const Bounds& box, std::span<const Piece> pieces) {
  if (pieces.size() == 1) return load_of(pieces[0]);
  for (int d = 0; d < box.low.size(); ++d) {
    for (const Piece& p : pieces) {
      const std::int64_t cut = p.box.high[d];
      const auto is_crossed = [&](const Piece& q) { return q.box.low[d] < cut && cut < q.box.high[d]; };
      if (cut == box.high[d] || std::ranges::any_of(pieces, is_crossed)) continue;
      Bounds before = box, behind = box, test = box_of(kNone);
      before.high[d] = behind.low[d] = test.high[d] = cut;
      test.low[d] = box.low[d];
      std::vector<Piece> first, second;
      for (const Piece& q : pieces) (q.box.high[d] <= cut ? first : second).push_back(q);
      const Value x = one_of(before, first), y = one_of(behind, second);
      return x == kNone || y == kNone ? kNone : where(test, x, y);
    }
  }
  return kNone;
}

Value Choices::load_of(const Piece& piece) {
  const Instr in = ir_.instrs[piece.load];
  return push_numbered(load(in, out_.accesses[in.index], piece.tested ? box_number(piece.box) : kNone));
}

Value Choices::where(const Bounds& box, Value x, Value y) {
  Instr in;
  in.kind = InstrKind::Compute;
  in.op = Op::Where;
  in.dtype = ir_.instrs[x].dtype;
  in.note = ir_.instrs[x].note;
  in.args = {inside(box), x, y};
  return push_numbered(placed(in));
}

}  // namespace tarry::codegen
