// Recording of single nodes: promotion, broadcasting, placement and the checks of all three.
#include "graph/record/record.h"

#include <tarry/scope.h>

#include <algorithm>

#include "graph/record/powers.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

std::string quoted(Dtype d) { return std::string(tarry::name(d)); }

/// The operation to write instead of this op on bools.
std::string bool_hint(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Maximum: return "; use logical_or, or astype first";
    case Op::Multiply:
    case Op::Minimum: return "; use logical_and, or astype first";
    case Op::Subtract: return "; use not_equal, or astype first";
    case Op::Negative: return "; use logical_not, or astype first";
    default: return "; convert with astype first";
  }
}

/// The dtype that op's inputs are brought to; throws for `called` where the op does not take `common`.
Dtype compute_dtype(Op op, Dtype common, std::span<const Argument> arguments, std::string_view called, Where where) {
  check_available(called, common, where);
  const DtypeRule rule = info(op).rule;
  if ((rule == DtypeRule::Same || rule == DtypeRule::Bool) && common != bool_) return common;
  const bool takes_bool =
      rule == DtypeRule::Logical || rule == DtypeRule::Bits || op == Op::Where || op == Op::Equal || op == Op::NotEqual;
  if (common == bool_ && !takes_bool) {
    TARRY_THROW(InvalidDtype, std::string(called), where,
                (rule == DtypeRule::Integer ? "takes integers" : "takes numbers") + (", not bool" + bool_hint(op)) +
                    given(arguments));
  }
  if (rule == DtypeRule::Logical && common != bool_) {
    TARRY_THROW(InvalidDtype, std::string(called), where,
                "takes bool, not " + quoted(common) + "; compare first, as in x != 0" + given(arguments));
  }
  if ((rule == DtypeRule::Integer || rule == DtypeRule::Bits) && is_floating(common)) {
    TARRY_THROW(InvalidDtype, std::string(called), where,
                std::string(rule == DtypeRule::Bits ? "takes integers and bool" : "takes integers") + ", not " +
                    quoted(common) + "; convert with astype first" + given(arguments));
  }
  return rule == DtypeRule::Float && is_integral(common) ? fractional(common) : common;
}

Dtype output_dtype(Op op, Dtype computed) { return info(op).rule == DtypeRule::Bool ? bool_ : computed; }

/// The shape of a result of `dtype`.
Dims broadcast_shape(std::string_view op, Dtype dtype, std::span<const Argument> arguments, Where where) {
  int rank = 0;
  for (const Argument& a : arguments) {
    if (a.edge) rank = std::max<int>(rank, a.edge.node()->rank);
  }
  Dims shape = Dims::filled(rank, 1);
  for (const Argument& a : arguments) {
    if (!a.edge) continue;
    const auto extents = a.edge.node()->shape();
    const int lead = rank - static_cast<int>(extents.size());
    for (int d = lead; d < rank; ++d) {
      const std::int64_t extent = extents[static_cast<std::size_t>(d - lead)];
      if (extent == 1 || extent == shape[d]) continue;
      if (shape[d] != 1) {
        TARRY_THROW(InvalidShape, std::string(op), where,
                    list_arrays(arguments) + " do not broadcast: axes meet from the last one, and newaxis inserts one");
      }
      shape[d] = extent;
    }
  }
  check_shape(op, {dtype, shape.span()}, where);
  return shape;
}

/// The array to whose shape all others broadcast, where there is one.
const Node* covering(std::span<const Argument> arguments) {
  for (const Argument& whole : arguments) {
    const auto fits = [&](const Argument& a) {
      return !a.edge || broadcasts(a.edge.node()->shape(), whole.edge.node()->shape());
    };
    if (whole.edge && std::all_of(arguments.begin(), arguments.end(), fits)) return whole.edge.node();
  }
  return nullptr;
}

bool same_shape(const Node& a, const Node& b) {
  if (a.rank != b.rank) return false;
  const std::int64_t *x = a.shape().data(), *y = b.shape().data();
  for (int d = 0; d < a.rank; ++d)
    if (x[d] != y[d]) return false;  // few: comparing costs less than a call
  return true;
}

NodeSpec spec_of(Op op, Dtype dtype, Device device, std::span<const std::int64_t> shape, Where where) {
  NodeSpec spec;  // filled field by field: a braced list of this size is zeroed first
  spec.op = op;
  spec.dtype = dtype;
  spec.mode = context().mode;
  spec.device = device;
  spec.shape = shape;
  spec.where.file = where.file;  // one by one, as they were stored: a processor waits where it loads both at once
  spec.where.line = where.line;
  return spec;
}

/// A node of this thread's mode, without inputs; then as new_node().
Node* shaped_node(Op op, Dtype dtype, Device device, std::span<const std::int64_t> shape, Where where) {
  if (shape.size() > Node::kInlineRank) return new_node(spec_of(op, dtype, device, shape, where));
  Node* const n = begin_node(op, dtype, device, where);
  n->set_shape(shape);
  return n;
}

/// The first array where all have one shape, device and dtype and the numbers beside them take that dtype, which is so
/// most often; nullptr for others.
template <std::size_t kCount>
const Node* alike(std::span<const Argument, kCount> arguments) {
  const Node* first = nullptr;
  bool numbers = false, fractions = false;
  for (const Argument& a : arguments) {
    const Node* const n = a.edge.node();
    if (n == nullptr) {
      numbers = true;
      fractions = fractions || a.scalar.kind() == Scalar::Kind::Float;
    } else if (first == nullptr) {
      first = n;
    } else if (n != first && (n->dtype != first->dtype || n->device != first->device || !same_shape(*n, *first))) {
      return nullptr;
    }
  }
  if (first == nullptr || first->rank > Node::kInlineRank) return nullptr;
  if (numbers && (first->dtype == bool_ || (fractions && !is_floating(first->dtype)))) return nullptr;
  return first;
}

/// The same of what a condition chooses from, where that is a bool of their shape and device.
const Node* alike_chosen(std::span<const Argument> arguments) {
  const Node* const condition = arguments.front().edge.node();
  const Node* const like = alike(arguments.last<2>());
  if (like == nullptr || condition == nullptr || condition->dtype != bool_) return nullptr;
  return condition->device == like->device && same_shape(*condition, *like) ? like : nullptr;
}

/// True if the op takes that dtype and computes in it.
bool computes_in(Op op, Dtype dtype) {
  if (!tarry::info(dtype).available) return false;
  const DtypeRule rule = info(op).rule;
  if (rule == DtypeRule::Same || rule == DtypeRule::Bool) return dtype != bool_;
  if (rule == DtypeRule::Float) return is_floating(dtype);
  if (rule == DtypeRule::Logical) return dtype == bool_;
  if (op == Op::Where) return true;
  return !is_floating(dtype) && (rule == DtypeRule::Bits || (rule == DtypeRule::Integer && dtype != bool_));
}

}  // namespace

std::string Typed::str() const {
  const bool known = static_cast<int>(dtype) < kDtypeCount;
  return (known ? quoted(dtype) : "dtype " + std::to_string(static_cast<int>(dtype))) + " " + to_string(shape);
}

std::string list_arrays(std::span<const Argument> arguments) {
  std::vector<std::string> arrays;
  for (const Argument& a : arguments) {
    if (a.edge) arrays.push_back(Typed(a.edge).str());
  }
  std::string list = arrays.empty() ? "" : arrays.front();
  for (std::size_t i = 1; i < arrays.size(); ++i) list += (i + 1 == arrays.size() ? " and " : ", ") + arrays[i];
  return list;
}

std::string given(std::span<const Argument> arguments) {
  const std::string arrays = list_arrays(arguments);
  return arrays.empty() ? arrays : " (given " + arrays + ")";
}

Device combine(Device a, Device b, std::string_view op, Where where, std::span<const Argument> arguments) {
  if (b == Device{} || a == b) return a;
  if (a == Device{}) return b;
  TARRY_THROW(InvalidArgument, std::string(op), where,
              "operands are placed on different devices, " + a.str() + " and " + b.str() + given(arguments));
}

void check_shape(std::string_view op, const Typed& result, Where where) {
  const std::span<const std::int64_t> shape = result.shape;
  if (shape.size() > static_cast<std::size_t>(kMaxRank)) {
    TARRY_THROW(InvalidShape, std::string(op), where,
                result.str() + " has rank " + std::to_string(shape.size()) + "; at most " + std::to_string(kMaxRank) +
                    " is supported");
  }
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      TARRY_THROW(InvalidShape, std::string(op), where, result.str() + " has a negative extent");
    }
    // An extent of 0 does not excuse the others: strides are their products.
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product)) {
      TARRY_THROW(InvalidShape, std::string(op), where, result.str() + " has more than 2^63 - 1 elements");
    }
  }
}

void check_available(std::string_view op, Dtype dtype, Where where) {
  const auto number = static_cast<int>(dtype);
  if (number < kDtypeCount && tarry::info(dtype).available) return;
  TARRY_THROW(InvalidDtype, std::string(op), where,
              "dtype " + (number < kDtypeCount ? quoted(dtype) : std::to_string(number)) +
                  " is not available in this version; bool, integers and floats are");
}

void check_broadcast(std::string_view op, Dtype result, std::span<const Argument> arguments, Where where) {
  if (covering(arguments) == nullptr) (void)broadcast_shape(op, result, arguments, where);
}

int checked_axis(std::string_view op, std::int64_t axis, const Typed& x, Where where) {
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  if (axis < -rank || axis >= rank) {
    TARRY_THROW(OutOfRange, std::string(op), where, "axis " + std::to_string(axis) + " is out of range for " + x.str());
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Dims checked_axes(std::string_view op, const Axes& axes, const Typed& x, Where where) {
  std::array<bool, kMaxRank> named{};
  for (const std::int64_t axis : axes.vector()) {
    bool& seen = named[static_cast<std::size_t>(checked_axis(op, axis, x, where))];
    if (seen) {
      TARRY_THROW(InvalidValue, std::string(op), where,
                  "axis " + std::to_string(axis) + " is named twice for " + x.str());
    }
    seen = true;
  }
  Dims result;
  for (int d = 0; d < static_cast<int>(x.shape.size()); ++d) {
    if (axes.all() || named[static_cast<std::size_t>(d)]) result.push_back(d);
  }
  return result;
}

Edge bring_to(const Argument& a, Dtype dtype, std::string_view op, Where where) {
  return a.edge ? record_cast(a.edge, dtype, where) : record_scalar(a.scalar, dtype, op, where);
}

Edge record_map(Op op, std::span<const Argument> arguments, Where where, std::string_view called) {
  std::array<Argument, Node::kMaxInputs> copies;
  TARRY_ASSERT(arguments.size() <= copies.size());
  std::copy(arguments.begin(), arguments.end(), copies.begin());
  return record_map_from(op, {copies.data(), arguments.size()}, where, called);
}

namespace {

/// Arguments of any dtypes, shapes and devices.
[[gnu::noinline]] Edge record_mixed(Op op, std::span<Argument> arguments, Where where, std::string_view called) {
  if (called.empty()) called = name(op);
  std::span<const Argument> values = arguments;
  if (op == Op::Where) {
    const Argument& condition = arguments.front();
    const Dtype given = condition.edge ? condition.edge.node()->dtype : condition.scalar.default_dtype();
    if (given != bool_)
      TARRY_THROW(
          InvalidDtype, std::string(called), where,
          "the condition is " + quoted(given) + ", not bool; compare first, as in x != 0" + graph::given(arguments));
    values = arguments.subspan(1);
  }
  const Node* first = nullptr;
  bool alike = true, same = true, together = true;  // dtypes, shapes, devices
  for (const Argument& a : arguments) {
    const Node* const n = a.edge.node();
    if (first == nullptr) first = n;
    alike = alike && n != nullptr && n->dtype == first->dtype;
    if (n == nullptr || n == first) continue;
    same = same && same_shape(*n, *first);
    together = together && n->device == first->device;
  }
  const Dtype dtype =
      compute_dtype(op, alike ? first->dtype : common_dtype(called, values, where), arguments, called, where);
  Dims broadcast;
  std::span<const std::int64_t> shape;
  if (same) {
    if (first != nullptr) shape = first->shape();
  } else if (const Node* const whole = covering(arguments)) {
    shape = whole->shape();
  } else {
    broadcast = broadcast_shape(called, output_dtype(op, dtype), arguments, where);
    shape = broadcast.span();
  }
  Device device;
  if (first != nullptr) device = first->device;
  if (!together) {
    for (const Argument& a : arguments)
      if (a.edge) device = combine(device, a.edge.node()->device, called, where, arguments);
  }
  const auto bring = [&](Argument& a, Dtype wanted) {
    if (!a.edge) a.edge = record_scalar(a.scalar, wanted, called, where);
    if (a.edge.node()->dtype != wanted) a.edge = record_cast(std::move(a.edge), wanted, where);
  };
  if (op == Op::Where) bring(arguments.front(), bool_);
  for (Argument& a : arguments.last(values.size())) bring(a, dtype);
  Node* const n = shaped_node(op, output_dtype(op, dtype), device, shape, where);
  for (Argument& a : arguments) n->add_input(std::move(a.edge));
  return pending::recorded(n);
}

/// An op of so many arguments.
template <std::size_t kCount>
Edge record_few(Op op, std::span<Argument, kCount> arguments, Where where, std::string_view called) {
  const Node* const like =
      op == Op::Where ? alike_chosen(arguments) : alike(std::span<const Argument, kCount>(arguments));
  if (like == nullptr || !computes_in(op, like->dtype)) return record_mixed(op, arguments, where, called);
  for (Argument& a : arguments)
    if (!a.edge) a.edge = record_scalar(a.scalar, like->dtype, called.empty() ? name(op) : called, where);
  Node* const n = begin_node(op, output_dtype(op, like->dtype), like->device, where);
  n->set_shape({like->dims, like->rank});
  for (Argument& a : arguments) n->add_input(std::move(a.edge));
  return pending::recorded(n);
}

}  // namespace

Edge record_map_from(Op op, std::span<Argument> arguments, Where where, std::string_view called) {
  if (is_comparison(op)) return record_comparison(op, std::move(arguments[0]), std::move(arguments[1]), where, called);
  if (op == Op::Pow && !arguments[1].edge)
    if (std::optional<Edge> known = known_power(arguments[0], arguments[1].scalar, where)) return *std::move(known);
  return record_promoted(op, arguments, where, called);
}

Edge record_promoted(Op op, std::span<Argument> arguments, Where where, std::string_view called) {
  TARRY_ASSERT(info(op).op_class == OpClass::Map && arguments.size() == info(op).arity);
  static_assert(Node::kMaxInputs == 3);
  if (arguments.size() == 2) return record_few(op, arguments.first<2>(), where, called);
  if (arguments.size() == 1) return record_few(op, arguments.first<1>(), where, called);
  return record_few(op, arguments.first<3>(), where, called);
}

Edge record_map(Op op, std::initializer_list<Argument> arguments, Where where, std::string_view called) {
  return record_map(op, std::span(arguments.begin(), arguments.size()), where, called);
}

Edge record_draw(Op op, std::span<const Edge> inputs, Dtype dtype, Where where) {
  TARRY_ASSERT(info(op).rule == DtypeRule::Draw && static_cast<int>(inputs.size()) == info(op).arity);
  const Node& n = *inputs.front().node();
  return make_node(spec_of(op, dtype, n.device, n.shape(), where), inputs);
}

Edge record_cast(Edge x, Dtype dtype, Where where) {
  const Node& n = *x.node();
  if (n.dtype == dtype) return x;
  check_available(name(Op::Cast), dtype, where);
  Node* const cast = shaped_node(Op::Cast, dtype, n.device, n.shape(), where);
  cast->add_input(std::move(x));
  return pending::recorded(cast);
}

Edge record_scalar(Scalar value, Dtype dtype, std::string_view op, Where where, Device device) {
  check_available(op, dtype, where);
  ScalarCell cell;
  if (!to_cell(value, dtype, cell)) {
    TARRY_THROW(InvalidValue, std::string(op), where,
                "the number " + to_string(value) + " does not fit " + quoted(dtype) +
                    "; a dtype that holds it is wanted (see astype)");
  }
  return record_cell(cell, dtype, where, device);
}

Edge record_cell(const ScalarCell& cell, Dtype dtype, Where where, Device device) {
  Node* const n = begin_node(Op::Scalar, dtype, device, where);
  std::memcpy(n->dims, cell.bytes, sizeof cell.bytes);
  return pending::recorded(n);
}

Edge record_constant(const Edge& x, Scalar value, Dtype dtype, std::string_view op, Where where) {
  const Node& n = *x.node();
  return record_view(record_scalar(value, dtype, op, where), IndexMap{}, n.shape(), where, n.device);
}

Edge record_opaque(std::uint64_t value, Dtype dtype, Where where) {
  NodeSpec spec = spec_of(Op::Scalar, dtype, Device{}, {}, where);
  spec.cell = dtype == uint32 ? ScalarCell::of(static_cast<std::uint32_t>(value)) : ScalarCell::of(value);
  const AttributeBytes opaque = kOpaque;
  spec.attributes = &opaque;
  return make_node(spec, {});
}

Edge record_iota(std::span<const std::int64_t> shape, int axis, Where where) {
  TARRY_ASSERT(axis >= IotaAttributes::kNumber && axis < static_cast<int>(shape.size()));
  NodeSpec spec = spec_of(Op::Iota, int64, context().device, shape, where);
  const AttributeBytes attributes = encode(IotaAttributes{axis});
  spec.attributes = &attributes;
  return make_node(spec, {});
}

namespace {

/// Every step is 1 and the axes keep their order.
bool is_box(const IndexMap& map, std::size_t rank) {
  if (static_cast<std::size_t>(map.size) != rank || rank > static_cast<std::size_t>(Node::kBoxRank)) return false;
  for (int d = 0; d < map.size; ++d)
    if (map[d].axis != d || map[d].step != 1) return false;
  return true;
}

}  // namespace

Edge record_view(Edge x, const IndexMap& map, std::span<const std::int64_t> shape, Where where, Device device) {
  const Node& n = *x.node();
  TARRY_ASSERT(map.size == n.rank);
  if (device == Device{}) device = n.device;
  Node* const view = shaped_node(Op::View, n.dtype, device, shape, where);
  view->add_input(std::move(x));
  Edge edge = pending::recorded(view);
  if (is_box(map, shape.size())) {
    for (int d = 0; d < map.size; ++d) view->box_start(d) = map[d].start;
  } else {
    encode(map, view->need_extra().attributes);
  }
  return edge;
}

Edge record_reshape(Edge x, std::span<const std::int64_t> shape, Where where) {
  const Node& n = *x.node();
  TARRY_ASSERT(element_count(shape) == element_count(n.shape()));
  if (std::ranges::equal(shape, n.shape())) return x;
  Node* const reshaped = shaped_node(Op::Reshape, n.dtype, n.device, shape, where);
  reshaped->add_input(std::move(x));
  return pending::recorded(reshaped);
}

Edge record_fill(const Edge& x, std::span<const std::int64_t> shape, Where where) {
  return record_view(x, IndexMap{}, shape, where, context().device);
}

Edge record_reduce(Op op, std::span<const Edge> inputs, ReduceAttributes attributes, Where where) {
  TARRY_ASSERT(info(op).op_class == OpClass::Reduce && static_cast<int>(inputs.size()) == info(op).arity);
  const Node& n = *inputs.front().node();
  Dims shape(n.shape());
  shape.erase(attributes.axis);
  NodeSpec spec = spec_of(op, is_arg_reduce(op) ? int64 : n.dtype, n.device, shape.span(), where);
  const AttributeBytes bytes = encode(attributes);
  spec.attributes = &bytes;
  return make_node(spec, inputs);
}

Edge record_matmul(const Edge& a, const Edge& b, Where where) {
  const Node &x = *a.node(), &y = *b.node();
  TARRY_ASSERT(x.rank == 3 && y.rank == 3 && x.dtype == y.dtype);
  const Dims shape{std::max(x.shape()[0], y.shape()[0]), x.shape()[1], y.shape()[2]};
  const Device device = combine(x.device, y.device, name(Op::Matmul), where, {});
  const Edge inputs[] = {a, b};
  return make_node(spec_of(Op::Matmul, x.dtype, device, shape.span(), where), inputs);
}

Edge record_scan(Op op, const Edge& x, int axis, Where where) {
  TARRY_ASSERT(is_scan(op));
  const Node& n = *x.node();
  NodeSpec spec = spec_of(op, n.dtype, n.device, n.shape(), where);
  const AttributeBytes attributes = encode(ReduceAttributes{axis, 1});
  spec.attributes = &attributes;
  return make_node(spec, {&x, 1});
}

Edge record_index(Edge indices, std::int64_t extent, IndexAttributes attributes, Where where) {
  TARRY_ASSERT(extent > 0 && indices.node()->dtype == int64);
  Edge size = record_opaque(static_cast<std::uint64_t>(extent), int64, where);
  Node* const n = shaped_node(Op::Index, int64, indices.node()->device, indices.node()->shape(), where);
  n->need_extra().attributes.keep(encode(attributes));
  n->add_input(std::move(indices));
  n->add_input(std::move(size));
  return pending::recorded(n);
}

Edge record_gather(std::string_view op, Edge x, Edge index, int axis, Where where) {
  const Node &base = *x.node(), &places = *index.node();
  const Argument both[] = {{x, 0}, {index, 0}};
  const Device device = combine(base.device, places.device, op, where, both);
  Node* const n = shaped_node(Op::Gather, base.dtype, device, places.shape(), where);
  n->need_extra().attributes.keep(encode(IotaAttributes{axis}));
  n->add_input(std::move(x));
  n->add_input(std::move(index));
  return pending::recorded(n);
}

Edge record_routine(Op op, std::string_view called, std::span<const Edge> inputs, const Typed& result,
                    RoutineAttributes attributes, Where where) {
  std::vector<Argument> all;
  for (const Edge& e : inputs) all.push_back({e, 0});
  Device device = inputs.front().node()->device;
  for (const Edge& e : inputs.subspan(1)) device = combine(device, e.node()->device, called, where, all);
  NodeSpec spec = spec_of(op, result.dtype, device, result.shape, where);
  const AttributeBytes bytes = encode(attributes);
  spec.attributes = &bytes;
  return make_node(spec, inputs);
}

Edge output_of(const Edge& e, std::uint32_t output) {
  retain(e.node());
  return {e.node(), output};
}

}  // namespace tarry::graph

namespace tarry {
inline namespace v0 {

void detail::throw_undefined(std::string_view op, Where where) {
  TARRY_THROW(InvalidArgument, std::string(op), where, "an operand is undefined: default-constructed or moved from");
}

Scope::Scope() noexcept
    : numerics_(static_cast<Numerics>(graph::context().mode)),
      device_(graph::context().device),
      budget_{graph::context().budget.nodes, graph::context().budget.bytes},
      default_float_(graph::context().default_float) {}

Scope::Scope(Numerics numerics) noexcept : Scope() { graph::context().mode = static_cast<graph::Mode>(numerics); }

Scope::Scope(Device device) noexcept : Scope() { graph::context().device = device; }

Scope::Scope(Budget budget) noexcept : Scope() {
  graph::context().budget = {budget.operations, budget.bytes};
  graph::pending::budget_changed();
}

Scope::Scope(Dtype default_float, Where where) : Scope() {
  if (default_float != float32 && default_float != float64) {
    TARRY_THROW(InvalidDtype, "Scope", where,
                "the default float is float32 or float64, not " + std::string(name(default_float)));
  }
  graph::context().default_float = default_float;
}

Scope::~Scope() {
  graph::context().default_float = default_float_;
  graph::context().mode = static_cast<graph::Mode>(numerics_);
  graph::context().device = device_;
  graph::Budget& budget = graph::context().budget;
  const graph::Budget before{budget_.operations, budget_.bytes};
  if (std::exchange(budget, before) != before) graph::pending::budget_changed();
}

static_assert(static_cast<int>(Numerics::Strict) == static_cast<int>(graph::Mode::Strict) &&
              static_cast<int>(Numerics::Relaxed) == static_cast<int>(graph::Mode::Relaxed));

}  // namespace v0
}  // namespace tarry
