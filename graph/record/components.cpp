// Components: which axes of each value are lanes, then the operations of single elements.
#include "graph/record/components.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "graph/record/join.h"
#include "graph/record/parts.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

constexpr std::size_t kMostElements = 64;      // of a value
constexpr std::size_t kMostOperations = 1024;  // of a level
constexpr std::int64_t kMostInOrder = 32;      // elements that tree R takes one after the other
constexpr int kNone = -1;

bool is_few(std::size_t elements) { return elements > 0 && elements <= kMostElements; }

/// The elementwise op that a reduction is made of.
std::optional<Op> combines_by(Op op) {
  switch (op) {
    case Op::Sum: return Op::Add;
    case Op::Prod: return Op::Multiply;
    case Op::Min: return Op::Minimum;
    case Op::Max: return Op::Maximum;
    default: return std::nullopt;
  }
}

/// The lanes along the axis of an outside value that stands, right-aligned, beside one of `rank` axes.
std::vector<int> aligned(const std::vector<int>& lanes, const Node& x, int rank) {
  std::vector<int> own;
  for (const int axis : lanes) {
    const int at = axis - (rank - x.rank);
    own.push_back(at >= 0 && x.shape()[static_cast<std::size_t>(at)] > 1 ? at : kNone);
  }
  return own;
}

std::int64_t extent(const Node& n, int axis) { return n.shape()[static_cast<std::size_t>(axis)]; }

}  // namespace

bool Components::Form::is_lane(int axis) const { return std::ranges::find(lanes, axis) != lanes.end(); }

std::size_t Components::Form::count() const {
  std::size_t n = 1;
  for (int d = 0; d < shape.size(); ++d)
    if (!is_lane(d)) n *= static_cast<std::size_t>(shape[d]);
  return n;
}

std::size_t Components::Form::number(const Dims& at) const {
  std::size_t n = 0;
  for (int d = 0; d < shape.size(); ++d)
    if (!is_lane(d)) n = n * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(at[d]);
  return n;
}

std::vector<Dims> Components::Form::places() const {
  std::vector<Dims> all;
  Dims at = Dims::filled(shape.size(), 0);
  for (std::size_t left = count(); left > 0; --left) {
    all.push_back(at);
    for (int d = shape.size() - 1; d >= 0; --d) {
      if (is_lane(d)) continue;
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
  return all;
}

Components::Components(const Body& body, std::span<const Edge> given, int lanes, Where where)
    : body_(body), given_(given), lanes_(lanes), where_(where) {
  Lanes leading(static_cast<std::size_t>(lanes));
  std::iota(leading.begin(), leading.end(), 0);
  for (int d = 0; d < lanes; ++d) extents_.push_back(given.empty() ? 0 : extent(*given.front().node(), d));
  for (const Edge& e : given) {
    const Dims shape(e.node()->shape());
    if (shape.size() < lanes ||
        !std::ranges::equal(shape.span().first(static_cast<std::size_t>(lanes)), extents_.span()))
      return;
    const Form form{shape, leading};
    if (!is_few(form.count())) return;
    forms_.emplace(e.node(), form);
  }
  for (const Node* n : body.order())
    if (body.varies(n) && !body.is_given(*n) && !add(*n)) return;
  fits_ = std::ranges::all_of(body.results(), [&](const Edge& e) { return form_of(*e.node()) != nullptr; });
}

bool Components::leads(const Edge& result) const {
  const Lanes& lanes = form_of(*result.node())->lanes;
  for (std::size_t j = 0; j < lanes.size(); ++j)
    if (lanes[j] != static_cast<int>(j)) return false;
  return true;
}

const Components::Form* Components::form_of(const Node& n) const {
  const auto found = forms_.find(&n);
  return found == forms_.end() ? nullptr : &found->second;
}

bool Components::add(const Node& n) {
  Lanes lanes;
  switch (info(n.op).op_class) {
    case OpClass::Map:
      if (!is_pure(n.op) || !find_map(n, lanes)) return false;
      break;
    case OpClass::View:
      if (!find_view(n, lanes)) return false;
      break;
    case OpClass::Reshape:
      if (!find_reshape(n, lanes)) return false;
      break;
    case OpClass::Reduce:
      if (!find_reduce(n, lanes)) return false;
      break;
    case OpClass::Update:
      if (!find_update(n, lanes)) return false;
      break;
    default:
      if (n.op != Op::Matmul || !find_matmul(n, lanes)) return false;
  }
  const Form form{Dims(n.shape()), lanes};
  for (std::size_t j = 0; j < lanes.size(); ++j)
    if (lanes[j] == kNone || form.shape[lanes[j]] != extents_[static_cast<int>(j)]) return false;
  operations_ += info(n.op).op_class == OpClass::Map ? form.count() : 0;
  if (!is_few(form.count()) || operations_ > kMostOperations) return false;
  forms_.emplace(&n, form);
  return true;
}

/// Takes over the lanes of one input; false where another one has them along other axes.
bool Components::agree(Lanes& lanes, const Lanes& others) const {
  if (lanes.empty()) lanes = others;
  return lanes == others;
}

bool Components::find_map(const Node& n, Lanes& lanes) const {
  for (int i = 0; i < n.n_inputs; ++i) {
    const Form* const from = form_of(*n.input(i));
    if (from == nullptr) continue;
    Lanes own = from->lanes;
    for (int& axis : own) axis += n.rank - from->shape.size();
    if (!agree(lanes, own)) return false;
  }
  return true;
}

bool Components::find_view(const Node& n, Lanes& lanes) const {
  const IndexMap map = decode_view(n.attributes());
  const Form& from = *form_of(*n.input(0));
  for (const int axis : from.lanes) {
    const AxisMap& m = map[axis];
    if (m.axis < 0 || m.start != 0 || m.step != 1) return false;
    lanes.push_back(m.axis);
  }
  for (int d = 0; d < from.shape.size(); ++d)
    if (!from.is_lane(d) && map[d].axis >= 0 && std::ranges::find(lanes, map[d].axis) != lanes.end()) return false;
  return true;
}

/// An axis stays an axis where as many elements lie before it, and as many behind it.
bool Components::find_reshape(const Node& n, Lanes& lanes) const {
  const Form& from = *form_of(*n.input(0));
  for (const int axis : from.lanes) {
    std::int64_t before = 1, to = 1;
    for (int d = 0; d < axis; ++d) before *= from.shape[d];
    int at = 0;
    while (at < n.rank && (to < before || extent(n, at) != from.shape[axis])) to *= extent(n, at++);
    if (at == n.rank || to != before || std::ranges::find(lanes, at) != lanes.end()) return false;
    lanes.push_back(at);
  }
  return true;
}

bool Components::find_reduce(const Node& n, Lanes& lanes) {
  const int axis = decode_reduce(n.attributes()).axis;
  const Form& from = *form_of(*n.input(0));
  if (!combines_by(n.op) || from.is_lane(axis) || from.shape[axis] < 1 || from.shape[axis] > kMostInOrder) return false;
  for (const int lane : from.lanes) lanes.push_back(lane > axis ? lane - 1 : lane);
  operations_ += from.count();
  return true;
}

bool Components::find_matmul(const Node& n, Lanes& lanes) {
  for (int i = 0; i < 2; ++i) {
    const Form* const from = form_of(*n.input(i));
    if (from == nullptr) continue;
    const int summed = i == 0 ? 2 : 1;
    if (from->is_lane(summed) || !agree(lanes, from->lanes)) return false;
  }
  const std::int64_t sum = extent(*n.input(0), 2);
  if (itemsize(n.dtype) < 4) return false;  // is summed in float32
  if (sum < 1 || sum > kMostInOrder) return false;
  std::size_t count = static_cast<std::size_t>(2 * sum);
  for (int d = 0; d < 3; ++d)
    if (std::ranges::find(lanes, d) == lanes.end()) count *= static_cast<std::size_t>(extent(n, d));
  operations_ += count;
  return true;
}

bool Components::find_update(const Node& n, Lanes& lanes) const {
  const UpdateAttributes place = decode_update(n.attributes());
  for (int i = 0; i < 2; ++i)
    if (const Form* const from = form_of(*n.input(i)); from != nullptr && !agree(lanes, from->lanes)) return false;
  return std::ranges::all_of(lanes, [&](int axis) {
    return place.start[axis] == 0 && place.step[axis] == 1 && extent(*n.input(1), axis) == extent(n, axis);
  });
}

/// x at a place, over the lanes that it has.
Edge Components::outside(const Edge& x, const Dims& at, const Lanes& lanes) const {
  const Node& n = *x.node();
  if (n.rank == 0) return x;
  IndexMap map;
  for (int d = 0; d < n.rank; ++d) map.push_back({kNone, at[d], 0});
  Dims shape;
  bool none = true;
  for (std::size_t j = 0; j < lanes.size(); ++j) {
    shape.push_back(lanes[j] == kNone ? 1 : extent(n, lanes[j]));
    if (lanes[j] == kNone) continue;
    map[lanes[j]] = {static_cast<int>(j), 0, 1};
    none = false;
  }
  return record_view(x, map, none ? std::span<const std::int64_t>() : shape.span(), where_);
}

std::vector<Edge> Components::cut(const Edge& x, int levels) const {
  Form form{Dims(x.node()->shape()), {}};
  Lanes along;
  if (levels >= 0) along.push_back(levels);
  for (int j = 0; j < lanes_; ++j) along.push_back(levels >= 0 && j >= levels ? j + 1 : j);
  form.lanes = along;
  std::vector<Edge> all;
  for (const Dims& at : form.places()) all.push_back(outside(x, at, along));
  return all;
}

Edge Components::element(const Node& n, int input, const Dims& at, const Lanes& lanes, const Elements& made) const {
  const Node& from = *n.input(input);
  if (const Form* const form = form_of(from)) return made.at(&from)[form->number(at)];
  retain(n.input(input));
  return outside(Edge(n.input(input), n.input_output(input)), at, lanes);
}

/// An elementwise op of elements, in the mode and on the device of n, which it is part of.
Edge Components::computed(const Node& n, Op op, std::span<const Edge> inputs) const {
  const Dims shape = broadcast_shape(name(n.op), inputs, where_);
  const AttributeBytes attributes = n.attributes();
  return make_node({.op = op,
                    .dtype = n.dtype,
                    .mode = n.mode,
                    .device = n.device,
                    .shape = shape.span(),
                    .attributes = op == n.op && n.extra != nullptr ? &attributes : nullptr,
                    .cell = {},
                    .where = n.where()},
                   inputs);
}

Edge Components::mapped_at(const Node& n, const Dims& at, const Form& form, const Elements& made) const {
  std::vector<Edge> inputs;
  for (int i = 0; i < n.n_inputs; ++i) {
    const Node& from = *n.input(i);
    Dims own;
    for (int d = 0; d < from.rank; ++d) own.push_back(extent(from, d) == 1 ? 0 : at[d + n.rank - from.rank]);
    inputs.push_back(element(n, i, own, aligned(form.lanes, from, n.rank), made));
  }
  return computed(n, n.op, inputs);
}

Edge Components::viewed_at(const Node& n, const Dims& at, const Elements& made) const {
  const IndexMap map = decode_view(n.attributes());
  Dims own;
  for (int d = 0; d < n.input(0)->rank; ++d)
    own.push_back(map[d].start + (map[d].axis < 0 ? 0 : map[d].step * at[map[d].axis]));
  return element(n, 0, own, {}, made);
}

Edge Components::reduced_at(const Node& n, const Dims& at, const Form& form, const Elements& made) const {
  const int axis = decode_reduce(n.attributes()).axis;
  Edge result;
  for (std::int64_t k = 0; k < extent(*n.input(0), axis); ++k) {
    Dims own = at;
    own.insert(axis, k);
    const Edge next = element(n, 0, own, form.lanes, made);
    result = result ? computed(n, *combines_by(n.op), std::vector{result, next}) : next;
  }
  return result;
}

Edge Components::multiplied_at(const Node& n, const Dims& at, const Form& form, const Elements& made) const {
  const Node &a = *n.input(0), &b = *n.input(1);
  const auto lanes_of = [&](const Node& x, int other) {
    Lanes own = form.lanes;
    for (int& axis : own)
      if (axis == other || extent(x, axis) == 1) axis = kNone;
    return own;
  };
  Edge result;
  for (std::int64_t k = 0; k < extent(a, 2); ++k) {
    const Edge left = element(n, 0, Dims{extent(a, 0) == 1 ? 0 : at[0], at[1], k}, lanes_of(a, 2), made);
    const Edge right = element(n, 1, Dims{extent(b, 0) == 1 ? 0 : at[0], k, at[2]}, lanes_of(b, 1), made);
    const Edge product = computed(n, Op::Multiply, std::vector{left, right});
    result = result ? computed(n, Op::Add, std::vector{result, product}) : product;
  }
  return result;
}

Edge Components::updated_at(const Node& n, const Dims& at, const Form& form, const Elements& made) const {
  const UpdateAttributes place = decode_update(n.attributes());
  Dims inside;
  for (int d = 0; d < n.rank; ++d) {
    const std::int64_t offset = at[d] - place.start[d], number = offset / place.step[d];
    if (offset % place.step[d] != 0 || number < 0 || number >= extent(*n.input(1), d)) {
      return element(n, 0, at, form.lanes, made);
    }
    inside.push_back(number);
  }
  return element(n, 1, inside, form.lanes, made);
}

std::vector<Edge> Components::make(const Node& n, const Elements& made) const {
  const Form& form = *form_of(n);
  std::vector<Edge> all;
  if (info(n.op).op_class == OpClass::Reshape) {  // in the same order, though lanes may stand elsewhere
    const Form& from = *form_of(*n.input(0));
    TARRY_ASSERT(from.count() == form.count());
    return made.at(n.input(0));
  }
  for (const Dims& at : form.places()) {
    switch (info(n.op).op_class) {
      case OpClass::Map: all.push_back(mapped_at(n, at, form, made)); break;
      case OpClass::View: all.push_back(viewed_at(n, at, made)); break;
      case OpClass::Reduce: all.push_back(reduced_at(n, at, form, made)); break;
      case OpClass::Update: all.push_back(updated_at(n, at, form, made)); break;
      default: all.push_back(multiplied_at(n, at, form, made));
    }
  }
  return all;
}

std::vector<std::vector<Edge>> Components::with(std::span<const std::vector<Edge>> values) const {
  Elements made;
  for (std::size_t i = 0; i < given_.size(); ++i) made.emplace(given_[i].node(), values[i]);
  for (const Node* n : body_.order())
    if (body_.varies(n) && !body_.is_given(*n)) made.emplace(n, make(*n, made));
  std::vector<std::vector<Edge>> results;
  for (const Edge& e : body_.results()) {
    std::vector<Edge> elements;
    for (const Edge& element : made.at(e.node())) elements.push_back(to_shape(element, extents_.span(), where_));
    results.push_back(std::move(elements));
  }
  return results;
}

Edge Components::joined(const Edge& result, std::span<const Edge> elements, int levels) const {
  const Form& form = *form_of(*result.node());
  const int lead = levels < 0 ? 0 : 1, first = lanes_ + lead;
  std::vector<Edge> parts;
  for (const Edge& e : elements) parts.push_back(with_axis(e, first, where_));
  Edge whole = concatenated("stack", parts, first, where_);
  Dims shape(whole.node()->shape());
  shape.erase(first);
  std::vector<int> order(static_cast<std::size_t>(form.shape.size()));
  int next = first;
  for (int d = 0; d < form.shape.size(); ++d) {
    const auto lane = std::ranges::find(form.lanes, d);
    if (lane != form.lanes.end()) {
      order[static_cast<std::size_t>(d)] = lead + static_cast<int>(lane - form.lanes.begin());
    } else {
      order[static_cast<std::size_t>(d)] = next++;
      shape.push_back(form.shape[d]);
    }
  }
  if (levels >= 0) order.insert(order.begin() + levels, 0);
  whole = record_reshape(whole, shape.span(), where_);
  return arranged(whole, order, where_);
}

}  // namespace tarry::graph
