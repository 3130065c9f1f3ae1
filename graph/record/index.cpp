// x(...), and updates of what it names.
#include <tarry/dynamic.h>
#include <tarry/views.h>

#include <algorithm>

#include "graph/record/gather.h"
#include "graph/record/mask.h"
#include "graph/record/record.h"
#include "graph/record/scatter.h"
#include "graph/record/selection.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

/// Positions along one axis: start + i * step for i < count.
struct Positions {
  std::int64_t start = 0, step = 1, count = 0;
};

/// The part that indices name, as a view of the array. Axes that arrays index are whole in it.
struct Part {
  Dims shape;                        ///< of the view
  IndexMap map;                      ///< the array's dimensions at coordinates of the view
  std::vector<Gathered> gathered{};  ///< the arrays, in order
  int front = 0;                     ///< where their shape goes: axes of the view before it
};

/// One call's view of its arguments, for messages. A mask evaluates `beside` too.
struct IndexCall {
  const char* op;
  Typed x;
  Where where;
  const Edge* beside = nullptr;
};

template <class Kind>
[[noreturn]] void fail(const IndexCall& call, const std::string& message) {
  TARRY_THROW(Kind, call.op, call.where, message);
}

std::int64_t checked_at(const IndexCall& call, std::int64_t at, int axis) {
  const std::int64_t extent = call.x.shape[static_cast<std::size_t>(axis)];
  if (at < -extent || at >= extent) {
    fail<OutOfRange>(call, "index " + std::to_string(at) + " is out of range for axis " + std::to_string(axis) +
                               " of extent " + std::to_string(extent) + " in " + call.x.str());
  }
  return at < 0 ? at + extent : at;
}

/// Most slices: without a step, and so without the questions which way to go.
inline Positions cut(const Slice& s, std::int64_t extent) {
  const auto cut = [&](std::int64_t end) { return std::clamp<std::int64_t>(end < 0 ? end + extent : end, 0, extent); };
  const std::int64_t first = s.start.value() ? cut(*s.start.value()) : 0;
  const std::int64_t stop = s.stop.value() ? cut(*s.stop.value()) : extent;
  return first < stop ? Positions{first, 1, stop - first} : Positions{0, 1, 0};
}

/// As Python's slice.indices().
Positions slice_range(const IndexCall& call, const Slice& s, int axis) {
  const std::int64_t extent = call.x.shape[static_cast<std::size_t>(axis)];
  const std::int64_t step = std::max(s.step.value().value_or(1), -INT64_MAX);
  if (step == 0) {
    fail<InvalidValue>(call, "the slice of axis " + std::to_string(axis) + " of " + call.x.str() + " has step 0");
  }
  if (step == 1) return cut(s, extent);
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = extent + lowest;
  const auto cut = [&](std::int64_t end) { return std::clamp(end < 0 ? end + extent : end, lowest, highest); };
  const std::int64_t first = s.start.value() ? cut(*s.start.value()) : step > 0 ? lowest : highest;
  const std::int64_t stop = s.stop.value() ? cut(*s.stop.value()) : step > 0 ? highest : lowest;
  const std::int64_t span = step > 0 ? stop - first : first - stop;
  if (span <= 0) return {0, 1, 0};
  const std::int64_t count = (span - 1) / std::abs(step) + 1;
  return {first, count > 1 ? step : 1, count};
}

class PartBuilder {
 public:
  PartBuilder(const IndexCall& call, Part& part) : call_(call), part_(part) {}

  void run(std::span<const Index> indices) {
    const int rank = static_cast<int>(call_.x.shape.size());
    if (indices.size() > call_.x.shape.size() && named(indices) > rank) {
      fail<OutOfRange>(call_, std::to_string(named(indices)) + " indices are too many for " + call_.x.str());
    }
    bool spread = false;
    for (const Index& i : indices) {
      if (i.kind() != Index::Kind::Ellipsis) {
        add(i);
        continue;
      }
      note_between();
      if (spread) fail<OutOfRange>(call_, "an ellipsis may stand once, for the axes of " + call_.x.str());
      spread = true;
      for (auto left = rank - named(indices); left > 0; --left) keep(whole());
    }
    while (part_.map.size < rank) keep(whole());
    if (apart_) part_.front = 0;
  }

 private:
  /// How many axes they name: a mask as many as it has.
  [[nodiscard]] std::ptrdiff_t named(std::span<const Index> indices) const {
    std::ptrdiff_t axes = 0;
    for (const Index& i : indices) {
      if (i.kind() == Index::Kind::Ellipsis || i.kind() == Index::Kind::Newaxis) continue;
      const bool masks = i.kind() == Index::Kind::Array && i.array().is_defined() && edge_of(i).node()->dtype == bool_;
      axes += masks ? edge_of(i).node()->rank : 1;
    }
    return axes;
  }
  [[nodiscard]] Edge edge_of(const Index& i) const { return detail::edge(i.array(), call_.op, call_.where); }
  [[nodiscard]] int axis() const { return part_.map.size; }
  [[nodiscard]] Positions whole() const { return {0, 1, call_.x.shape[static_cast<std::size_t>(axis())]}; }

  void add(const Index& i) {
    if (i.kind() == Index::Kind::Slice || i.kind() == Index::Kind::Newaxis)
      note_between();
    else
      note_place();
    if (i.kind() == Index::Kind::Slice) {
      keep(slice_range(call_, i.slice(), axis()));
    } else if (i.kind() == Index::Kind::Newaxis) {
      grow(1);
    } else if (i.kind() == Index::Kind::Array) {
      add(edge_of(i));
    } else {
      part_.map.push_back({-1, checked_at(call_, i.at(), axis()), 0});
    }
  }

  void add(Edge array) {
    if (array.node()->dtype == bool_) return add_mask(array);
    part_.gathered.push_back({part_.shape.size(), axis(), std::move(array)});
    keep(whole());
  }

  /// The numbers of its true elements, in place of its axes.
  void add_mask(const Edge& mask) {
    const auto shape = mask.node()->shape(), of_x = call_.x.shape.subspan(static_cast<std::size_t>(axis()));
    if (shape.empty() || shape.size() > of_x.size() || !std::ranges::equal(shape, of_x.first(shape.size()))) {
      fail<OutOfRange>(call_, "a mask of " + Typed(mask).str() + " does not fit axis " + std::to_string(axis()) +
                                  " of " + call_.x.str() + " and those behind it");
    }
    Edge numbers = record_true_places(call_.op, mask, call_.beside, call_.where);
    part_.gathered.push_back({part_.shape.size(), axis(), std::move(numbers), mask.node()->rank});
    for (int d = 0; d < mask.node()->rank; ++d) keep(whole());
  }

  /// Integers and arrays are places; where something else is between two of them, their shape goes to the front.
  void note_place() {
    if (places_ == Places::None) part_.front = part_.shape.size();
    if (places_ == Places::Ended) apart_ = true;
    places_ = Places::Begun;
  }
  void note_between() {
    if (places_ == Places::Begun) places_ = Places::Ended;
  }

  void keep(const Positions& r) {
    part_.map.push_back({part_.shape.size(), r.start, r.step});
    grow(r.count);
  }

  void grow(std::int64_t extent) {
    if (part_.shape.size() == kMaxRank) {
      fail<InvalidShape>(
          call_, "of " + call_.x.str() + " the result would have more than " + std::to_string(kMaxRank) + " axes");
    }
    part_.shape.push_back(extent);
  }

  const IndexCall& call_;
  Part& part_;
  enum class Places : std::uint8_t { None, Begun, Ended } places_ = Places::None;
  bool apart_ = false;
};

Part part_of(const char* op, const Edge& x, std::span<const Index> indices, Where where, const Edge* beside = nullptr) {
  const IndexCall call{op, x, where, beside};
  Part part;
  PartBuilder(call, part).run(indices);
  return part;
}

/// True if the indices are a slice without a step for each of few axes, which most are.
bool names_box(const Node& x, std::span<const Index> indices) {
  if (indices.size() != x.rank || x.rank > Node::kBoxRank) return false;
  return std::all_of(indices.begin(), indices.end(),
                     [](const Index& i) { return i.kind() == Index::Kind::Slice && !i.slice().step.value(); });
}

/// A view of the box that they name.
Edge record_box(Edge x, std::span<const Index> indices, Where where) {
  const Node& of = *x.node();
  Node* const n = begin_node(Op::View, of.dtype, of.device, where);
  n->rank = of.rank;
  for (int d = 0; d < n->rank; ++d) {
    const Positions r = cut(indices[static_cast<std::size_t>(d)].slice(), of.dims[d]);
    n->dims[d] = r.count;
    n->box_start(d) = r.start;
  }
  n->add_input(std::move(x));
  return pending::recorded(n);
}

/// The mask that is the only index where it fits x, which has elements.
std::optional<Edge> only_mask(const Edge& x, std::span<const Index> indices) {
  if (indices.size() != 1 || indices[0].kind() != Index::Kind::Array || !indices[0].array().is_defined()) return {};
  Edge mask = detail::edge(indices[0].array(), "index", indices[0].where());
  const auto shape = x.node()->shape(), of_mask = mask.node()->shape();
  if (mask.node()->dtype != bool_ || of_mask.empty() || of_mask.size() > shape.size()) return {};
  if (!std::ranges::equal(of_mask, shape.first(of_mask.size())) || element_count(shape) == 0) return {};
  return mask;
}

/// The elements that any indices name: a view, of which arrays read elements.
Edge record_part(Edge x, std::span<const Index> indices, Where where) {
  if (const std::optional<Edge> mask = only_mask(x, indices)) return record_selection(x, *mask, where);
  const Part part = part_of("index", x, indices, where, &x);
  Edge view = record_view(std::move(x), part.map, part.shape.span(), where);
  if (part.gathered.empty()) return view;
  return record_gathered({IndexAttributes::Called::Index, Bounds::Error, where}, std::move(view), part.gathered,
                         part.front);
}

/// x with `value` in `part`. Negative steps become positive ones: the value is read backwards instead.
Edge put(const char* op, Edge x, Edge value, const Part& part, Where where) {
  if (element_count(part.shape.span()) == 0) return x;
  Dims box;  // elements along each axis of x
  UpdateAttributes at;
  bool backwards = false;
  for (int d = 0; d < part.map.size; ++d) {
    const AxisMap& m = part.map[d];
    const std::int64_t count = m.axis < 0 ? 1 : part.shape[m.axis], step = m.axis < 0 ? 1 : m.step;
    box.push_back(count);
    at.start.push_back(step < 0 ? m.start + (count - 1) * step : m.start);
    at.step.push_back(std::abs(step));
    backwards = backwards || step < 0;
  }
  const bool as_is = !backwards && std::ranges::equal(value.node()->shape(), box.span());
  if (as_is && part.shape.size() == part.map.size) return record_update(op, std::move(x), std::move(value), at, where);
  IndexMap box_of(part.shape.size());  // coordinates of the part at coordinates of the box
  for (int d = 0; d < part.map.size; ++d) {
    const AxisMap& m = part.map[d];
    if (m.axis >= 0) box_of[m.axis] = m.step < 0 ? AxisMap{d, box[d] - 1, -1} : AxisMap{d, 0, 1};
  }
  const IndexMap map = compose(broadcast_map(value.node()->shape(), part.shape.span()), box_of);
  return record_update(op, std::move(x), record_view(std::move(value), map, box.span(), where), at, where);
}

/// x.set() of a box to an array of its shape, which most are; false for others. x's reference moves into the new node.
bool set_box(Array& x, std::span<const Index> indices, const Operand& v) {
  constexpr std::string_view op = "set";
  const Where where = v.where();
  if (pending::overdue()) pending::evaluate_overdue(where);
  const Node* const base = detail::ArrayAccess::node(x);
  const Node* const given = v.array() == nullptr ? nullptr : detail::ArrayAccess::node(*v.array());
  if (base == nullptr || given == nullptr || detail::is_selection(x) || detail::is_selection(*v.array())) return false;
  if (given->rank != base->rank || !names_box(*base, indices)) return false;
  if (base->device != given->device && base->device != Device{} && given->device != Device{}) return false;
  const auto range = [&](int d) { return cut(indices[static_cast<std::size_t>(d)].slice(), base->dims[d]); };
  for (int d = 0; d < base->rank; ++d)
    if (const Positions r = range(d); r.count == 0 || r.count != given->dims[d]) return false;
  Edge value = record_value(op, base->dtype, v, given->shape());
  Node* const n = begin_node(Op::Update, base->dtype, base->device == Device{} ? given->device : base->device, where);
  n->set_shape({base->dims, base->rank});
  for (int d = 0; d < base->rank; ++d) n->box_start(d) = range(d).start;
  n->add_input(detail::ArrayAccess::take(x));
  n->add_input(std::move(value));
  x = detail::wrap(pending::recorded(n));
  return true;
}

std::span<const Index> list(std::initializer_list<Index> box) { return {box.begin(), box.size()}; }

/// The trailing axes of x that a part keeps as they are, behind all arrays: rows that are written as a whole.
int row_axes(const Part& part, std::span<const std::int64_t> x) {
  const auto is_gathered = [&](int axis) {
    return std::ranges::any_of(part.gathered, [&](const Gathered& g) { return g.has(axis); });
  };
  int axes = 0;
  for (int d = part.map.size; d-- > 0; ++axes) {
    const AxisMap& m = part.map[d];
    const int last = part.shape.size() - 1 - axes;
    if (m.axis < 0 || m.axis != last || is_gathered(last) || m.start != 0 || m.step != 1) break;
    if (part.shape[last] != x[static_cast<std::size_t>(d)]) break;
  }
  return axes;
}

/// The numbers of the rows that a part with arrays names, of an array whose axes but the last `axes` number them.
Edge row_numbers(const IndexingCall& call, const Edge& x, Part part, int axes) {
  Dims rows(x.node()->shape());
  IndexMap map;
  for (int d = 0; d < rows.size() - axes; ++d) map.push_back(part.map[d]);
  for (int d = 0; d < axes; ++d) {
    rows.erase(rows.size() - 1);
    part.shape.erase(part.shape.size() - 1);
  }
  const Edge all = record_numbers(rows.span(), call.where);
  return record_gathered(call, record_view(all, map, part.shape.span(), call.where), part.gathered, part.front);
}

Edge scattered(const char* op, Write write, const Edge& x, const Part& part, const Operand& v) {
  const Where where = v.where();
  const IndexingCall call{called(write), Bounds::Error, where, &x};
  const int axes = row_axes(part, x.node()->shape());
  const Edge rows = row_numbers(call, x, part, axes);
  Dims shape(rows.node()->shape());
  if (shape.size() + axes > kMaxRank) {
    TARRY_THROW(
        InvalidShape, op, where,
        "what the indices name in " + Typed(x).str() + " would have more than " + std::to_string(kMaxRank) + " axes");
  }
  for (const std::int64_t extent : x.node()->shape().last(static_cast<std::size_t>(axes))) shape.push_back(extent);
  check_shape(op, {x.node()->dtype, shape.span()}, where);
  const Edge value = record_broadcast(record_value(op, x.node()->dtype, v, shape.span()), shape.span(), where);
  return record_scatter(op, write, x, rows, value, where);
}

Edge with_part(const char* op, const Array& x, std::span<const Index> indices, const Operand& v, Write write) {
  const Where where = v.where();
  Edge base = detail::edge(x, op, where);
  if (const std::optional<Edge> mask = only_mask(base, indices))
    if (const std::optional<Edge> all = all_for(v, *mask, base.node()->shape()))
      return record_masked(op, write, base, *mask, *all, where);
  const Part part = part_of(op, base, indices, where);
  if (!part.gathered.empty()) return scattered(op, write, base, part, v);
  Edge value = record_value(op, base.node()->dtype, v, part.shape.span());
  if (write != Write::Set) {
    const Edge old = record_view(base, part.map, part.shape.span(), where);
    value = record_map(join_of(write), {{old, 0}, {value, 0}}, where, op);
  }
  return put(op, std::move(base), std::move(value), part, where);
}

/// The elements, or the rows, that one array names: a mask, or indices of the first axis.
Edge with_array(const char* op, const Array& x, const Array& which, const Operand& v, Write write) {
  const Where where = v.where();
  const Edge base = detail::edge(x, op, where), chosen = detail::edge(which, op, where);
  if (chosen.node()->dtype == bool_) return record_masked_write(op, write, base, chosen, v);
  const Index indices[] = {which};
  return with_part(op, x, indices, v, write);
}

}  // namespace

Edge record_update(std::string_view op, Edge base, Edge value, const UpdateAttributes& place, Where where) {
  const Node &b = *base.node(), &v = *value.node();
  TARRY_ASSERT(b.dtype == v.dtype && b.rank == v.rank && place.start.size() == b.rank);
  if (b.device != v.device && b.device != Device{} && v.device != Device{}) {
    const Argument both[] = {{base, 0}, {value, 0}};
    (void)combine(b.device, v.device, op, where, both);
  }
  const NodeSpec spec{.op = Op::Update,
                      .dtype = b.dtype,
                      .mode = context().mode,
                      .device = b.device == Device{} ? v.device : b.device,
                      .shape = b.shape(),
                      .cell = {},
                      .where = where};
  Edge update = make_node_from(spec, std::move(base), std::move(value));
  if (b.rank <= Node::kBoxRank && place.dense()) {
    for (int d = 0; d < place.start.size(); ++d) update.node()->box_start(d) = place.start[d];
  } else {
    encode(place, update.node()->need_extra().attributes);
  }
  return update;
}

}  // namespace graph

inline namespace v0 {

Array Array::at(const Index* indices, std::size_t count) const try {
  const Where where = indices[0].where();
  graph::Edge e = detail::edge(*this, "index", where);
  if (graph::names_box(*e.node(), {indices, count}))
    return detail::wrap(graph::record_box(std::move(e), {indices, count}, where));
  return detail::wrap(graph::record_part(std::move(e), {indices, count}, where));
}
TARRY_OR_OUT_OF_MEMORY("index", indices[0].where())

RowIterator Array::begin(Where where) const {
  if (const graph::Edge e = detail::edge(*this, "index", where); e.node()->rank == 0) {
    TARRY_THROW(InvalidShape, "index", where, graph::Typed(e).str() + " is 0-d: there are no rows to go through");
  }
  return {*this, 0, where};
}

RowIterator Array::end(Where where) const try {
  const graph::Edge e = detail::edge(*this, "index", where);
  return {*this, e.node()->rank == 0 ? 0 : e.node()->shape()[0], where};
}
TARRY_OR_OUT_OF_MEMORY("end", where)

Array& Array::set(std::initializer_list<Index> box, const Operand& v) & try {
  if (graph::set_box(*this, graph::list(box), v)) return *this;
  return *this = detail::wrap(graph::with_part("set", *this, graph::list(box), v, graph::Write::Set));
}
TARRY_OR_OUT_OF_MEMORY("set", v.where())
#define TARRY_WRITE(METHOD, WRITE)                                                                       \
  Array& Array::METHOD(const Array& which, const Operand& v) & try {                                     \
    return *this = detail::wrap(graph::with_array(#METHOD, *this, which, v, graph::Write::WRITE));       \
  }                                                                                                      \
  TARRY_OR_OUT_OF_MEMORY(#METHOD, v.where())                                                             \
  Array with_##METHOD(const Array& x, std::initializer_list<Index> box, const Operand& v) try {          \
    return detail::wrap(graph::with_part("with_" #METHOD, x, graph::list(box), v, graph::Write::WRITE)); \
  }                                                                                                      \
  TARRY_OR_OUT_OF_MEMORY("with_" #METHOD, v.where())                                                     \
  Array with_##METHOD(const Array& x, const Array& which, const Operand& v) try {                        \
    return detail::wrap(graph::with_array("with_" #METHOD, x, which, v, graph::Write::WRITE));           \
  }                                                                                                      \
  TARRY_OR_OUT_OF_MEMORY("with_" #METHOD, v.where())
#define TARRY_JOIN(METHOD, WRITE)                                                                            \
  Array& Array::METHOD(std::initializer_list<Index> box, const Operand& v) & try {                           \
    return *this = detail::wrap(graph::with_part(#METHOD, *this, graph::list(box), v, graph::Write::WRITE)); \
  }                                                                                                          \
  TARRY_OR_OUT_OF_MEMORY(#METHOD, v.where())                                                                 \
  TARRY_WRITE(METHOD, WRITE)

TARRY_WRITE(set, Set)
TARRY_JOIN(add, Add)
TARRY_JOIN(multiply, Multiply)
TARRY_JOIN(minimum, Minimum)
TARRY_JOIN(maximum, Maximum)
#undef TARRY_WRITE
#undef TARRY_JOIN

Array index(const Array& x, std::span<const Index> indices, Where where) try {
  graph::Edge e = detail::edge(x, "index", where);
  if (indices.empty()) return x;
  if (graph::names_box(*e.node(), indices)) return detail::wrap(graph::record_box(std::move(e), indices, where));
  return detail::wrap(graph::record_part(std::move(e), indices, where));
}
TARRY_OR_OUT_OF_MEMORY("index", where)
Array with_set(const Array& x, std::span<const Index> box, const Operand& v) try {
  return detail::wrap(graph::with_part("with_set", x, box, v, graph::Write::Set));
}
TARRY_OR_OUT_OF_MEMORY("with_set", v.where())
void set(Array& x, std::span<const Index> box, const Operand& v) try {
  if (!graph::set_box(x, box, v)) x = detail::wrap(graph::with_part("set", x, box, v, graph::Write::Set));
}
TARRY_OR_OUT_OF_MEMORY("set", v.where())
void update(Array& x, std::span<const Index> box, const Operand& v, Put how) try {
  if (how == Put::Set) {
    set(x, box, v);
    return;
  }
  constexpr const char* kNames[] = {"set", "add", "multiply", "minimum", "maximum"};  // in the order of Put
  x = detail::wrap(graph::with_part(kNames[static_cast<int>(how)], x, box, v, graph::write_of(how)));
}
TARRY_OR_OUT_OF_MEMORY("update", v.where())

}  // namespace v0
}  // namespace tarry
