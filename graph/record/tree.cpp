// CombinedAxis: levels of the tree, each over all blocks or pairs at once.
#include "graph/record/tree.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/loops.h"
#include "graph/record/join.h"
#include "graph/record/parts.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

constexpr std::int64_t kLeftToRight = 32, kLanes = 32, kBlock = 128;

template <class Kind>
[[noreturn]] void refuse_state(std::string_view called, std::size_t state, const Typed& was, const Typed& is,
                               Where where) {
  TARRY_THROW(Kind, std::string(called), where,
              fmt::format("state {} is {} and combines to {}", state, was.str(), is.str()));
}

}  // namespace

CombinedAxis::States CombinedAxis::part(const States& states, std::int64_t from, std::int64_t count,
                                        std::int64_t step) const {
  return each(states, [&](const Edge& e) { return cut(e, axis_, count == 0 ? 0 : from, count, where_, step); });
}

CombinedAxis::States CombinedAxis::joined(const States& a, const States& b) const {
  if (extent(a) == 0 || extent(b) == 0) return extent(a) == 0 ? b : a;
  States out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(concatenated("concat", {a[i], b[i]}, axis_, where_));
  return out;
}

CombinedAxis::States CombinedAxis::combined(const States& a, const States& b) const {
  const auto arrays = [](const States& s) {
    std::vector<Array> all;
    for (const Edge& e : s) all.push_back(detail::wrap(e));
    return all;
  };
  const std::vector<Array> first = arrays(a), second = arrays(b), both = combine_(first, second);
  if (both.size() != a.size())
    TARRY_THROW(InvalidArgument, std::string(called_), where_,
                fmt::format("{} states combine to {} arrays", a.size(), both.size()));
  States out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    Edge e = detail::defined_edge(both[i], called_, where_);
    const Typed was(a[i]), is(e);
    const bool same = was.dtype == is.dtype && std::ranges::equal(was.shape, is.shape);
    if (was.dtype != is.dtype) refuse_state<InvalidDtype>(called_, i, was, is, where_);
    if (!same && !is.shape.empty()) refuse_state<InvalidShape>(called_, i, was, is, where_);
    out.push_back(same ? std::move(e) : to_shape(e, was.shape, where_));
  }
  return out;
}

/// Lanes fold to one: lane l takes up lane l + 16, then l + 8 and so on; one that has no partner stays.
CombinedAxis::States CombinedAxis::halved(States lanes) const {
  for (std::int64_t apart = kLanes / 2; apart > 0; apart /= 2) {
    const std::int64_t count = extent(lanes), partners = std::clamp<std::int64_t>(count - apart, 0, apart);
    if (partners == 0) continue;
    const States both = combined(part(lanes, 0, partners), part(lanes, apart, partners));
    lanes = joined(both, part(lanes, partners, std::min(count, apart) - partners));
  }
  return lanes;
}

/// Elements k, k + 32, ... of each whole block, left to right: (blocks, lanes) in the place of the axis.
CombinedAxis::States CombinedAxis::lanes_of_whole_blocks(const States& states, std::int64_t blocks) const {
  const States whole = part(states, 0, blocks * kBlock);
  const States rows = each(whole, [&](const Edge& e) {
    Dims shape(e.node()->shape());
    shape[axis_] = blocks;
    shape.insert(axis_ + 1, kBlock / kLanes);
    shape.insert(axis_ + 2, kLanes);
    return record_reshape(e, shape.span(), where_);
  });
  const auto row = [&](std::int64_t r) {
    return each(rows, [&](const Edge& e) { return part_at(e, axis_ + 1, r, where_); });
  };
  States lanes = row(0);
  for (std::int64_t r = 1; r < kBlock / kLanes; ++r) lanes = combined(lanes, row(r));
  return lanes;
}

/// A block that is not whole: its lanes have different numbers of elements.
CombinedAxis::States CombinedAxis::block(const States& states) const {
  const std::int64_t count = extent(states);
  States lanes = part(states, 0, std::min(count, kLanes));
  for (std::int64_t from = kLanes; from < count; from += kLanes) {
    const std::int64_t more = std::min(kLanes, count - from), all = extent(lanes);
    lanes = joined(combined(part(lanes, 0, more), part(states, from, more)), part(lanes, more, all - more));
  }
  return halved(std::move(lanes));
}

std::vector<Edge> CombinedAxis::reduced(const std::vector<Edge>& states) const {
  const std::int64_t n = extent(states), blocks = n / kBlock;
  States now;
  if (n <= kLeftToRight) {
    now = part(states, 0, 1);
    for (std::int64_t k = 1; k < n; ++k) now = combined(now, part(states, k, 1));
  } else {
    if (blocks > 0) {
      const CombinedAxis lanes(called_, combine_, axis_ + 1, where_);
      now = each(lanes.halved(lanes_of_whole_blocks(states, blocks)),
                 [&](const Edge& e) { return part_at(e, axis_ + 1, 0, where_); });
    }
    if (n % kBlock != 0) {
      States rest = block(part(states, blocks * kBlock, n % kBlock));
      now = blocks > 0 ? joined(now, rest) : std::move(rest);
    }
  }
  while (extent(now) > 1) {
    const std::int64_t pairs = extent(now) / 2, left = extent(now) % 2;
    const States both = combined(part(now, 0, pairs, 2), part(now, 1, pairs, 2));
    now = joined(both, part(now, 2 * pairs, left));
  }
  return each(now, [&](const Edge& e) { return part_at(e, axis_, 0, where_); });
}

std::vector<Edge> CombinedAxis::scanned(const std::vector<Edge>& states, From from) const {
  if (extent(states) <= 1) return states;
  if (std::optional<States> at_once = by_loop(states, from)) return *std::move(at_once);
  return from == From::Last ? turned(by_pairs(turned(states))) : by_pairs(states);
}

CombinedAxis::States CombinedAxis::turned(const States& states) const {
  const std::int64_t n = extent(states);
  return part(states, n - 1, n, -1);
}

/// True if what two neighbours combine to is made by elementwise operations of their states and numbers, few enough for
/// a kernel that has them at several places.
bool CombinedAxis::is_elementwise(const States& a, const States& b, const States& both) {
  constexpr std::size_t kMostNodes = 256;
  const std::span<const std::int64_t> shape = a.front().node()->shape();
  std::unordered_set<const Node*> known;
  for (const States* s : {&a, &b})
    for (const Edge& e : *s) known.insert(e.node());
  std::vector<const Node*> open;
  const auto reach = [&](const Node* n) {
    if (known.insert(n).second) open.push_back(n);
  };
  for (const Edge& e : both) reach(e.node());
  while (!open.empty() && known.size() <= kMostNodes) {
    const Node& n = *open.back();
    open.pop_back();
    if (info(n.op).op_class != OpClass::Map || !is_pure(n.op) || !std::ranges::equal(n.shape(), shape)) return false;
    for (int i = 0; i < n.n_inputs; ++i)
      if (n.input(i)->op != Op::Scalar) reach(n.input(i));
  }
  return open.empty();
}

/// Nothing where the combination is not elementwise, or its states are too large.
std::optional<CombinedAxis::States> CombinedAxis::by_loop(const States& states, From from) const {
  std::size_t bytes = 0;
  for (const Edge& e : states) bytes += bytes_of_state(e.node()->dtype);
  if (bytes > kMostStateBytes || element_count(states.front().node()->shape()) == 0) return std::nullopt;
  const States first = part(states, 0, 1), second = part(states, 1, 1);
  if (!is_elementwise(first, second, combined(first, second))) return std::nullopt;
  const std::int64_t levels[1] = {extent(states)};
  Dims lanes(states.front().node()->shape());
  lanes.erase(axis_);
  Mode mode = context().mode;
  const auto node = [&](Op op, Dtype dtype, std::span<const std::int64_t> shape, std::initializer_list<Edge> inputs,
                        std::int32_t attribute) {
    Device device{};
    std::vector<Argument> all;
    for (const Edge& e : inputs) all.push_back({e, 0});
    for (const Edge& e : inputs) device = combine(device, e.node()->device, called_, where_, all);
    const AttributeBytes encoded = encode(IotaAttributes{attribute});
    return make_node({.op = op,
                      .dtype = dtype,
                      .mode = mode,
                      .device = device,
                      .shape = shape,
                      .attributes = has_axis(op) ? &encoded : nullptr,
                      .cell = {},
                      .where = where_},
                     {inputs.begin(), inputs.size()});
  };
  const Edge level = node(Op::LoopLevel, int64, levels, {},
                          static_cast<std::int32_t>(kCombines | (from == From::Last ? kFromLast : 0)));
  const States elements = each(
      states, [&](const Edge& e) { return node(Op::LoopElement, e.node()->dtype, lanes.span(), {e, level}, axis_); });
  const States earlier =
      each(elements, [&](const Edge& e) { return node(Op::LoopCarry, e.node()->dtype, lanes.span(), {e, level}, 0); });
  const States later =
      each(earlier, [&](const Edge& e) { return node(Op::LoopLater, e.node()->dtype, lanes.span(), {e}, 0); });
  const States next = combined(earlier, later);
  if (!is_elementwise(earlier, later, next)) return std::nullopt;
  mode = mode_of(next);
  Edge chain = level;
  for (std::size_t i = 0; i < next.size(); ++i) chain = node(Op::LoopNext, bool_, {}, {earlier[i], next[i], chain}, 0);
  const bool inside = std::ranges::any_of(states, [](const Edge& e) { return e.node()->in_loop != 0; });
  return each(earlier, [&](const Edge& e) {
    const Edge all = node(Op::LoopStack, e.node()->dtype, states.front().node()->shape(), {e, chain}, axis_);
    all.node()->in_loop = inside ? 1 : 0;  // a value of a level of another loop
    return all;
  });
}

/// Relaxed where all operations between the values of a loop and these are.
Mode CombinedAxis::mode_of(const States& next) {
  std::unordered_set<const Node*> known;
  std::vector<const Node*> open;
  bool any = false;
  const auto reach = [&](const Node* n) {
    if (n->in_loop && !is_loop(n->op) && known.insert(n).second) open.push_back(n);
  };
  for (const Edge& e : next) reach(e.node());
  while (!open.empty()) {
    const Node& n = *open.back();
    open.pop_back();
    any = true;
    if (n.mode == Mode::Strict) return Mode::Strict;
    for (int i = 0; i < n.n_inputs; ++i) reach(n.input(i));
  }
  return any ? Mode::Relaxed : context().mode;
}

CombinedAxis::States CombinedAxis::by_pairs(const States& states) const {
  std::vector<States> levels = {states};  // of pairs of pairs of ...
  while (extent(levels.back()) > 1) {
    const States& s = levels.back();
    const std::int64_t pairs = extent(s) / 2;
    levels.push_back(combined(part(s, 0, pairs, 2), part(s, 1, pairs, 2)));
  }
  States at_odd = levels.back();  // running combinations of the level above
  for (levels.pop_back(); !levels.empty(); levels.pop_back()) {
    const States& s = levels.back();
    const std::int64_t n = extent(s), pairs = n / 2, later = (n - 1) / 2;
    States at_even = part(s, 0, 1);
    if (later > 0) at_even = joined(at_even, combined(part(at_odd, 0, later), part(s, 2, later, 2)));
    States woven;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const Edge first = with_axis(cut(at_even[i], axis_, 0, pairs, where_), axis_ + 1, where_);
      const Edge second = with_axis(at_odd[i], axis_ + 1, where_);
      woven.push_back(record_reshape(concatenated("stack", {first, second}, axis_ + 1, where_),
                                     cut(s[i], axis_, 0, 2 * pairs, where_).node()->shape(), where_));
    }
    at_odd = n % 2 == 0 ? woven : joined(woven, part(at_even, pairs, 1));
  }
  return at_odd;
}

}  // namespace tarry::graph
