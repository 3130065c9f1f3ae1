// Recording: validates, promotes, broadcasts and makes nodes. The public operations are thin layers over these.
//
// A node records its mode and, where it starts a graph, its device from the thread's Context; an operation takes the
// explicit device of its operands. Everything a user can get wrong throws InvalidArgument here, at the call.
#pragma once

#include <tarry/array.h>

#include <optional>
#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/context.h"
#include "graph/node.h"
#include "graph/pending.h"
#include "graph/record/numbers.h"

namespace tarry {

namespace graph {

/// An array as messages name it.
struct Typed {
  Dtype dtype;
  std::span<const std::int64_t> shape;
  Typed(Dtype d, std::span<const std::int64_t> s) noexcept : dtype(d), shape(s) {}
  Typed(const Edge& e) noexcept : Typed(e.node()->dtype, e.node()->shape()) {}  // NOLINT: conversion wanted
  [[nodiscard]] std::string str() const;                                        ///< "float32 (2, 3)"
};

/// One operand as the user gave it: an array's edge, or a number that is still weak (edge is empty).
struct Argument {
  Edge edge;
  Scalar scalar = 0;
};
/// "float32 (3,) and int32 (2, 3)": the arrays of a call, for messages.
std::string list_arrays(std::span<const Argument> arguments);
/// The same as the end of a message: " (given bool (3,))"; "" without an array.
std::string given(std::span<const Argument> arguments);

/// A new node that takes the references over.
template <class... Inputs>
Edge make_node_from(const NodeSpec& spec, Inputs... inputs) {
  Node* const n = new_node(spec);
  (n->add_input(std::move(inputs)), ...);
  return pending::recorded(n);
}

/// A node of this thread's mode, without shape or inputs; then as new_node().
inline Node* begin_node(Op op, Dtype dtype, Device device, Where where) {
  const Mode mode = context().mode;
  Node* const n = blank_node();
  n->op = op;
  n->dtype = dtype;
  n->mode = mode;
  n->device = device;
  n->file = where.file;
  n->line = where.line;
  return n;
}

/// The dtype that holds both: nothing for uint64 with a signed integer.
std::optional<Dtype> promote(Dtype a, Dtype b) noexcept;
[[noreturn]] void throw_not_promoted(std::string_view op, Dtype a, Dtype b, std::span<const Argument> values,
                                     Where where);
/// Promotion over all values of an op, whatever their order: arrays first, then the numbers beside them.
Dtype common_dtype(std::string_view op, std::span<const Argument> values, Where where);
/// The dtype that a bool or an integer dtype computes in where it is divided or meets a floating number: the default
/// float for bool and up to 16 bits, else float64.
Dtype fractional(Dtype dtype);
/// An argument as an edge of `dtype`.
Edge bring_to(const Argument& a, Dtype dtype, std::string_view op, Where where);
/// An elementwise op; inserts the casts and scalars that bring all values to one dtype. `called` is the user's function
/// where that is composed of several ops, for messages.
Edge record_map(Op op, std::span<const Argument> arguments, Where where, std::string_view called = {});
/// The same, but the node takes over the references of the arguments.
Edge record_map_from(Op op, std::span<Argument> arguments, Where where, std::string_view called = {});
Edge record_map(Op op, std::initializer_list<Argument> arguments, Where where, std::string_view called = {});
/// The same for values of any dtypes, promoted; comparisons are not exact then.
Edge record_promoted(Op op, std::span<Argument> arguments, Where where, std::string_view called = {});
/// A comparison, exact whatever the operands' dtypes hold.
Edge record_comparison(Op op, Argument a, Argument b, Where where, std::string_view called = {});
/// The float that holds all numbers of an integer dtype of up to 32 bits and of a float dtype.
Dtype float_of_both(Dtype integer, Dtype floating);
/// An op of the rule Draw, on inputs that have its dtypes and broadcast to the first.
Edge record_draw(Op op, std::span<const Edge> inputs, Dtype dtype, Where where);
/// x itself where it has that dtype.
Edge record_cast(Edge x, Dtype dtype, Where where);
/// A 0-d node on `device`. `op` is what the message names where the value does not fit.
Edge record_scalar(Scalar value, Dtype dtype, std::string_view op, Where where, Device device = {});
Edge record_cell(const ScalarCell& cell, Dtype dtype, Where where, Device device = {});
/// `value` for every element of x.
Edge record_constant(const Edge& x, Scalar value, Dtype dtype, std::string_view op, Where where);
/// A 0-d uint64 or uint32 that no rewrite may look at, whatever its value: random streams have one kernel for all
/// seeds.
Edge record_opaque(std::uint64_t value, Dtype dtype, Where where);
/// The coordinate along `axis` (IotaAttributes::kNumber: the row-major number) as int64, on the context's device.
Edge record_iota(std::span<const std::int64_t> shape, int axis, Where where);
/// x read through `map` at coordinates of `shape`; `device` places what has no device yet.
Edge record_view(Edge x, const IndexMap& map, std::span<const std::int64_t> shape, Where where, Device device = {});
/// x's elements, in row-major order, under another shape of as many elements; x itself where it has that shape.
Edge record_reshape(Edge x, std::span<const std::int64_t> shape, Where where);
/// base with `value` in the box that `place` names. The box is not empty and lies in the base; the dtypes are equal.
/// Throws for `op` where the two are placed on different devices.
Edge record_update(std::string_view op, Edge base, Edge value, const UpdateAttributes& place, Where where);
/// Every element of `shape` is the 0-d `x`, on the context's device.
Edge record_fill(const Edge& x, std::span<const std::int64_t> shape, Where where);
/// One reduction along one axis; ArgMin and ArgMax give int64. Moments and MomentsMerge have outputs 0 (mean) and 1
/// (m2): see output_of.
Edge record_reduce(Op op, std::span<const Edge> inputs, ReduceAttributes attributes, Where where);
/// a times b: see Op::Matmul in node.h. Throws where the two are placed on different devices.
Edge record_matmul(const Edge& a, const Edge& b, Where where);
/// One scan along one axis.
Edge record_scan(Op op, const Edge& x, int axis, Where where);
/// The places that integers name along an axis of `extent`, not 0; int64.
Edge record_index(Edge indices, std::int64_t extent, IndexAttributes attributes, Where where);
/// x at `index` along an axis: see Op::Gather in node.h. Throws for `op` where the two are placed on different devices.
Edge record_gather(std::string_view op, Edge x, Edge index, int axis, Where where);
/// A Routine over inputs as node.h has them. Throws for `called` where they are placed on different devices.
Edge record_routine(Op op, std::string_view called, std::span<const Edge> inputs, const Typed& result,
                    RoutineAttributes attributes, Where where);
/// Another output of the same node.
Edge output_of(const Edge& e, std::uint32_t output);

/// Throws where an extent of the result is negative, the rank passes kMaxRank or the product of the extents passes
/// int64.
void check_shape(std::string_view op, const Typed& result, Where where);
/// Throws where the arrays do not broadcast, or not to a shape that may be.
void check_broadcast(std::string_view op, Dtype result, std::span<const Argument> arguments, Where where);
/// Throws where no kernel computes in `dtype` yet.
void check_available(std::string_view op, Dtype dtype, Where where);
/// The elements that a Selection stands for. Their number is a shape: it waits, once.
Edge elements_of(const Node& selection);
/// x itself, or the elements where it is a Selection.
inline Edge settled(Edge x) { return x.node()->op == Op::Selection ? elements_of(*x.node()) : x; }
/// The one explicit device among `a` and `b`, which are devices of `arguments`; throws where both are and differ.
Device combine(Device a, Device b, std::string_view op, Where where, std::span<const Argument> arguments);
/// 0 <= axis < rank from one that may count from the end.
int checked_axis(std::string_view op, std::int64_t axis, const Typed& x, Where where);
/// Ascending axes without repetition.
Dims checked_axes(std::string_view op, const Axes& axes, const Typed& x, Where where);

}  // namespace graph

inline namespace v0 {
namespace detail {

/// The one way between handles and edges.
struct ArrayAccess {
  static graph::Edge edge(const Array& x) {
    if (x.node_ != nullptr) graph::retain(x.node_);
    return {x.node_, x.output_};
  }
  static graph::Edge take(Array& x) noexcept { return {std::exchange(x.node_, nullptr), x.output_}; }
  static graph::Node* node(const Array& x) noexcept { return x.node_; }
  /// Evaluates and waits; `to` takes all elements.
  static void read(const Array& x, void* to, Where where) { x.read(to, where); }
  static Array array(graph::Edge e) noexcept {
    const std::uint32_t output = e.output();
    return {e.release(), output};
  }
};

[[noreturn]] void throw_undefined(std::string_view op, Where where);
/// True for what x(mask) gives (selection.h).
inline bool is_selection(const Array& x) { return x.is_defined() && ArrayAccess::node(x)->op == graph::Op::Selection; }
/// The edge of a defined array for an operation that will record something: what waits beyond the budget is evaluated
/// first. Throws InvalidArgument for an undefined array. A Selection is left as it is.
inline graph::Edge unsettled_edge(const Array& x, std::string_view op, Where where) {
  if (graph::pending::overdue()) graph::pending::evaluate_overdue(where);
  if (!x.is_defined()) throw_undefined(op, where);
  return ArrayAccess::edge(x);
}
/// The same of an operand that is an array; one that is given gives its reference away.
inline graph::Edge unsettled_edge(const Operand& x, std::string_view op, Where where) {
  if (x.given() == nullptr) return unsettled_edge(*x.array(), op, where);
  if (graph::pending::overdue()) graph::pending::evaluate_overdue(where);
  if (!x.given()->is_defined()) throw_undefined(op, where);
  return ArrayAccess::take(*x.given());
}
/// The edge of a defined array; throws InvalidArgument for an undefined one.
inline graph::Edge defined_edge(const Array& x, std::string_view op, Where where) {
  if (!x.is_defined()) throw_undefined(op, where);
  return graph::settled(ArrayAccess::edge(x));
}
inline graph::Edge edge(const Array& x, std::string_view op, Where where) {
  return graph::settled(unsettled_edge(x, op, where));
}
inline graph::Edge edge(const Operand& x, std::string_view op, Where where) {
  return graph::settled(unsettled_edge(x, op, where));
}
inline graph::Argument argument(const Operand& x, std::string_view op, Where where) {
  if (x.array() == nullptr) return {graph::Edge(), x.scalar()};
  return {edge(x, op, where), 0};
}
inline Array wrap(graph::Edge e) noexcept { return ArrayAccess::array(std::move(e)); }

}  // namespace detail
}  // namespace v0
}  // namespace tarry
