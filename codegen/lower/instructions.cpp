// Instructions of a kernel: guards, loads, gathers and their checks.
#include "codegen/lower/instructions.h"

#include <algorithm>

namespace tarry::codegen {

using graph::Dims;
using graph::IndexMap;
using graph::kGatheredAxis;
using graph::kNoId;

namespace {

/// to + from * stride; false where both move along different loops.
bool add_access(RawAccess& to, const RawAccess& from, std::int64_t stride) {
  if (from.loop != kNone && to.loop != kNone && from.loop != to.loop) return false;
  to.offset += from.offset * stride;
  for (int axis = 0; axis < to.strides.size(); ++axis) to.strides[axis] += from.strides[axis] * stride;
  to.loop_stride += from.loop_stride * stride;
  if (from.loop != kNone) to.loop = from.loop;
  return true;
}

/// Equal for instructions of equal values. No kernel of slots has loops or stages.
ValueKey value_key(const Instr& in) {
  const auto [a, b, c] = in.args;
  const auto number = [](auto field) { return static_cast<std::uint32_t>(field); };
  return {number(in.kind), number(in.region), number(in.dtype), number(in.op), a, b, c, in.index, in.guard};
}

}  // namespace

Instructions::Instructions(const graph::Group& walk) : Arguments(walk.space.size()), group_(walk) {
  ir_.mode = group_.mode;
  whole_ = {Dims::filled(group_.space.size(), 0), group_.space};
}

// --- Boxes and guards -----------------------------------------------------------------------------------------------

std::uint32_t Instructions::box_number(const Bounds& box) {
  if (box == whole_) return kNone;
  const auto it = std::find(boxes_.begin(), boxes_.end(), box);
  if (it != boxes_.end()) return static_cast<std::uint32_t>(it - boxes_.begin());
  boxes_.push_back(box);
  return static_cast<std::uint32_t>(boxes_.size() - 1);
}

std::uint32_t Instructions::guard(const Bounds& box) {
  if (box == whole_) return kNone;
  for (std::uint32_t i = 0; i < out_.boxes.size(); ++i)
    if (out_.boxes[i] == box && guard_outer_[i] == outer_phase_) return i;
  Guard g;
  for (int axis = 0; axis < box.low.size(); ++axis) {
    if (box.low[axis] == 0 && box.high[axis] == group_.space[axis]) continue;
    RawAccess iota = access(kNone);
    iota.offset = -box.low[axis];
    iota.strides[axis] = 1;
    const auto extent = static_cast<std::uint64_t>(box.high[axis] - box.low[axis]);
    g.terms.push_back({number(iota), scalar({kNoId, extent}, Dtype::Int64)});
  }
  ir_.guards.push_back(std::move(g));
  out_.boxes.push_back(box);
  guard_outer_.push_back(outer_phase_);
  return static_cast<std::uint32_t>(out_.boxes.size() - 1);
}

bool Instructions::varies_along_axis(std::uint32_t guard) const {
  if (!group_.reduces || guard == kNone) return false;
  const Bounds& box = out_.boxes[guard];
  return box.low[group_.axis] != 0 || box.high[group_.axis] != group_.space[group_.axis];
}

Value Instructions::inside(const Bounds& box) {
  const std::uint32_t g = guard(box);
  if (const auto it = inside_.find(g); it != inside_.end()) return it->second;
  Instr in;
  in.kind = InstrKind::Inside;
  in.dtype = Dtype::Bool;
  in.index = g;
  in.region = region(varies_along_axis(g));
  return inside_[g] = push(in);
}

// --- Places that are computed ---------------------------------------------------------------------------------------

std::int32_t Instructions::axis_of(const Computed& coordinate) {
  const auto it = std::find(computed_.begin(), computed_.end(), coordinate);
  const auto at = static_cast<std::int32_t>(it - computed_.begin());
  if (it == computed_.end()) computed_.push_back(coordinate);
  return kGatheredAxis + at;
}

std::uint32_t Instructions::axes_of(const graph::AxisMap& coordinate) const {
  const std::int32_t axis = coordinate.axis;
  if (axis >= kGatheredAxis) return computed_[static_cast<std::size_t>(axis - kGatheredAxis)].axes;
  return axis >= 0 && axis < group_.space.size() ? 1U << axis : 0;
}

/// A coordinate that is a sum of coordinates of the space, as the access of an iota: it needs no arithmetic, and what
/// is read there is loaded like a slice.
std::optional<RawAccess> Instructions::by_strides(Value coordinate) const {
  constexpr int kMostTerms = 8;
  RawAccess sum = access(kNone);
  std::vector<Value> open = {coordinate};
  for (int terms = 0; !open.empty(); ++terms) {
    const Instr& in = ir_.instrs[open.back()];
    open.pop_back();
    if (terms == 2 * kMostTerms) return std::nullopt;
    if (in.kind == InstrKind::Compute && in.op == Op::Add) {
      open.insert(open.end(), {in.args[0], in.args[1]});
      continue;
    }
    if (in.kind != InstrKind::Load || out_.accesses[in.index].buffer != kNone) return std::nullopt;
    if (!add_access(sum, out_.accesses[in.index], 1)) return std::nullopt;
  }
  return sum;
}

Instructions::Place Instructions::place(std::uint32_t buffer, std::int64_t offset, const Dims& strides,
                                        const IndexMap& map) {
  Place p{access(buffer, offset, strides, map)};
  for (int d = 0; d < map.size; ++d) {
    const std::int64_t stride = map[d].step * strides[d];
    if (stride == 0) continue;
    p.axes |= axes_of(map[d]);
    if (map[d].axis < kGatheredAxis) continue;
    const Value at = computed_[static_cast<std::size_t>(map[d].axis - kGatheredAxis)].place;
    if (const auto known = by_strides(at); known && add_access(p.known, *known, stride)) continue;
    const Value part = stride == 1 ? at : arithmetic(Op::Multiply, at, constant(stride));
    p.computed = p.computed == kNone ? part : arithmetic(Op::Add, p.computed, part);
  }
  return p;
}

Value Instructions::value_of(const Place& place) {
  RawAccess rest = place.known;
  rest.buffer = kNone;
  if (rest.offset == 0 && rest.loop == kNone && rest.strides == Dims::filled(rest.strides.size(), 0))
    return place.computed;
  Instr in;
  in.dtype = Dtype::Int64;
  return arithmetic(Op::Add, push(load(in, rest, kNone)), place.computed);
}

Value Instructions::arithmetic(Op op, Value a, Value b) {
  Instr in;
  in.kind = InstrKind::Compute;
  in.op = op;
  in.dtype = Dtype::Int64;
  in.args = {a, b, kNone};
  return push(placed(in));
}

Value Instructions::constant(std::int64_t value) {
  Instr in;
  in.kind = InstrKind::Scalar;
  in.dtype = Dtype::Int64;
  in.region = Region::Row;
  in.index = scalar({kNoId, static_cast<std::uint64_t>(value)}, in.dtype);
  return push(in);
}

// --- Instructions ---------------------------------------------------------------------------------------------------

Instr Instructions::load_at(Instr in, std::uint32_t buffer, std::int64_t offset, const Dims& strides,
                            const IndexMap& map, std::uint32_t box) {
  const Place at = place(buffer, offset, strides, map);
  if (at.computed == kNone) return load(in, at.known, box);
  RawAccess from = access(buffer);
  from.at = value_of(at);
  from.axes = at.axes;
  from.guard = guard(trimmed(box_of(box), [&](int axis) { return (from.axes >> axis & 1) != 0; }));
  in.kind = InstrKind::Gather;
  in.args[0] = from.at;
  in.guard = from.guard;
  in = placed(in);
  from.loop = in.loop;
  in.index = number(from);
  return in;
}

Instr Instructions::load(Instr in, RawAccess from, std::uint32_t box) {
  const auto moves = [&](int axis) { return from.strides[axis] != 0; };
  from.guard = guard(trimmed(box_of(from.buffer == kNone ? kNone : box), moves));
  in.kind = InstrKind::Load;
  in.guard = from.guard;
  in.loop = from.loop;
  in.region = in.loop != kNone
                  ? Region::Loop
                  : region((group_.reduces && from.strides[group_.axis] != 0) || varies_along_axis(from.guard));
  in.index = number(from);
  return in;
}

Instr Instructions::check(Instr in, graph::NodeId index, const Dims& shape, const IndexMap& map, std::uint32_t box) {
  const Dims strides = graph::row_major_strides(shape.span());
  const Place at = place(kNone, 0, strides, map);
  in.kind = InstrKind::Index;
  if (at.computed != kNone) in.args[2] = value_of(at);
  RawAccess element = at.computed == kNone ? at.known : access(kNone);
  in.guard = guard(trimmed(box_of(box), [&](int axis) { return (at.axes >> axis & 1) != 0; }));
  in.loop = element.loop;
  in = placed(in);
  element.loop = in.loop;
  in.index = static_cast<std::uint32_t>(ir_.checks.size());
  ir_.checks.push_back(number(element));
  out_.lowered.checks.push_back({index, ir_.instrs[in.args[1]].index});
  if (ir_.faults == kNone) {
    RawAccess words = access(buffer({false, kNoId, {}, true}, Dtype::UInt64, 0));
    words.faults = true;
    ir_.faults = number(words);
  }
  if (in.loop == kNone && group_.reduces && element.strides[group_.axis] != 0) in.region = Region::Point;
  return in;
}

Instr Instructions::placed(Instr in) const {
  in.region = outer_phase_ ? Region::Outer : Region::Row;
  for (Value v : in.args)
    if (v != kNone && ir_.instrs[v].loop != kNone) in.loop = ir_.instrs[v].loop;
  if (in.loop != kNone) in.region = Region::Loop;
  for (Value v : in.args) {
    if (v == kNone || in.loop != kNone) continue;
    const Region used = ir_.instrs[v].region;
    if (used == Region::Point || in.region == Region::Row) in.region = used;
  }
  const bool guarded = in.kind == InstrKind::Index || in.kind == InstrKind::Gather;
  // An element that points read is theirs, also where a reduction's result alone says which one it is.
  const bool read_by_points = in.region == Region::Outer && !outer_phase_;
  if (guarded && in.loop == kNone && (read_by_points || varies_along_axis(in.guard))) in.region = Region::Point;
  return in;
}

/// The region of a value that is computed from memory and coordinates alone.
Region Instructions::region(bool varies) const {
  if (varies || !group_.reduces) return Region::Point;
  return outer_phase_ ? Region::Outer : Region::Row;
}

Value Instructions::push(Instr in) {
  if (numbers_values_ && (in.kind == InstrKind::Compute || in.kind == InstrKind::Load)) return push_numbered(in);
  if (!group_.reduces && in.loop == kNone) in.region = Region::Point;
  ir_.instrs.push_back(in);
  return static_cast<Value>(ir_.instrs.size() - 1);
}

Value Instructions::push_numbered(Instr in) {
  if (!group_.reduces && in.loop == kNone) in.region = Region::Point;
  const auto [known, is_new] = value_numbers_.try_emplace(value_key(in), static_cast<Value>(ir_.instrs.size()));
  if (is_new) ir_.instrs.push_back(in);
  return known->second;
}

}  // namespace tarry::codegen
