// put, put_along_axis, and what set, add, multiply, minimum and maximum of arrays of indices end in.
#include "graph/record/scatter.h"

#include "graph/record/groups.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

Op scatter_of(Write write) {
  switch (write) {
    case Write::Set: return Op::ScatterSet;
    case Write::Add: return Op::ScatterAdd;
    case Write::Multiply: return Op::ScatterMultiply;
    case Write::Minimum: return Op::ScatterMin;
    case Write::Maximum: break;
  }
  return Op::ScatterMax;
}

/// True if the order of the values shows in the bits.
bool is_ordered(Write write, Dtype dtype) {
  return (write == Write::Add || write == Write::Multiply) && is_floating(dtype);
}

/// x joined by what the groups of equal numbers fold to, by tree R in the order of the numbers. What nothing goes to
/// stays as it is: a sum of nothing would turn -0 into +0.
Edge joined_by_groups(std::string_view op, Write write, const Edge& x, const Edge& numbers, const Edge& value,
                      Where where) {
  const Dtype dtype = x.node()->dtype, computed = float_for_computing(dtype);
  const std::int64_t n = x.node()->shape()[0], count = numbers.node()->shape()[0], row = x.node()->shape()[1];
  const Groups groups = record_groups(op, numbers, n, where);
  // Folds go along rows: the values are seen column by column, in the order of the groups.
  const std::int64_t columns[] = {row, count}, folded[] = {row, n}, rows[] = {n, row}, edges[] = {n, 1};
  const IndexMap turned{{1, 0, 1}, {0, 0, 1}};
  const Edge order = record_view(groups.order, IndexMap{{1, 0, 1}}, columns, where);
  const Edge sorted =
      record_gather(op, record_view(record_cast(value, computed, where), turned, columns, where), order, 1, where);
  const Op fold = write == Write::Add ? Op::SegmentSum : Op::SegmentProd;
  const Edge folds[] = {sorted, groups.offsets};
  const Edge result =
      record_view(record_routine(fold, op, folds, Typed(computed, folded), {}, where), turned, rows, where);
  const Edge from = record_view(groups.offsets, IndexMap{{0, 0, 1}}, edges, where);
  const Edge to = record_view(groups.offsets, IndexMap{{0, 1, 1}}, edges, where);
  const Edge any = record_comparison(Op::Less, {from, 0}, {to, 0}, where, op);
  const Edge all = record_map(join_of(write), {{record_cast(x, computed, where), 0}, {result, 0}}, where, op);
  return record_map(Op::Where, {{any, 0}, {record_cast(all, dtype, where), 0}, {x, 0}}, where, op);
}

}  // namespace

Op join_of(Write write) {
  switch (write) {
    case Write::Add: return Op::Add;
    case Write::Multiply: return Op::Multiply;
    case Write::Minimum: return Op::Minimum;
    default: TARRY_ASSERT(write == Write::Maximum); return Op::Maximum;
  }
}

IndexAttributes::Called called(Write write) {
  using Called = IndexAttributes::Called;
  switch (write) {
    case Write::Set: return Called::Set;
    case Write::Add: return Called::Add;
    case Write::Multiply: return Called::Multiply;
    case Write::Minimum: return Called::Minimum;
    case Write::Maximum: break;
  }
  return Called::Maximum;
}

Edge record_numbers(std::span<const std::int64_t> shape, Where where) {
  const AttributeBytes number = encode(IotaAttributes{IotaAttributes::kNumber});
  const NodeSpec spec{.op = Op::Iota,
                      .dtype = int64,
                      .mode = context().mode,
                      .device = {},
                      .shape = shape,
                      .attributes = &number,
                      .cell = {},
                      .where = where};
  return make_node(spec, {});
}

Edge record_value(std::string_view op, Dtype dtype, const Operand& v, std::span<const std::int64_t> shape) {
  const Where where = v.where();
  if (v.array() == nullptr) return record_scalar(v.scalar(), dtype, op, where);
  Edge value = detail::edge(v, op, where);
  const Node& n = *value.node();
  if (n.dtype != dtype && promote(dtype, n.dtype) != dtype) {
    TARRY_THROW(InvalidDtype, std::string(op), where,
                Typed(dtype, shape).str() + " does not hold every element of a " + Typed(value).str() +
                    "; convert the value with astype");
  }
  if (!broadcasts(n.shape(), shape)) {
    TARRY_THROW(InvalidShape, std::string(op), where,
                "a value of " + Typed(value).str() + " does not broadcast to " + Typed(dtype, shape).str() +
                    ", which it replaces");
  }
  return record_cast(std::move(value), dtype, where);
}

Edge record_scatter(std::string_view op, Write write, const Edge& x, const Edge& rows, const Edge& value, Where where) {
  const Node& n = *x.node();
  if (write != Write::Set && n.dtype == bool_) {
    TARRY_THROW(InvalidDtype, std::string(op), where,
                "takes numbers, not bool; convert with astype first (given " + Typed(x).str() + ")");
  }
  if (element_count(value.node()->shape()) == 0) return x;
  const std::int64_t count = element_count(rows.node()->shape()), row = element_count(value.node()->shape()) / count;
  const std::int64_t flat[] = {element_count(n.shape()) / row, row}, values[] = {count, row}, numbers[] = {count};
  const Edge base = record_reshape(x, flat, where), at = record_reshape(rows, numbers, where),
             with = record_reshape(value, values, where);
  const Edge inputs[] = {base, at, with};
  const Edge result = is_ordered(write, n.dtype)
                          ? joined_by_groups(op, write, base, at, with, where)
                          : record_routine(scatter_of(write), op, inputs, Typed(n.dtype, flat), {}, where);
  return record_reshape(result, n.shape(), where);
}

Write write_of(Put how) {
  switch (how) {
    case Put::Set: return Write::Set;
    case Put::Add: return Write::Add;
    case Put::Multiply: return Write::Multiply;
    case Put::Minimum: return Write::Minimum;
    case Put::Maximum: break;
  }
  return Write::Maximum;
}

namespace {

/// x with the value at numbers of its elements.
Edge put_at(std::string_view op, PutOptions options, const Edge& x, const Edge& numbers, const Operand& v,
            Where where) {
  const auto shape = numbers.node()->shape();
  const Edge value = record_broadcast(record_value(op, x.node()->dtype, v, shape), shape, where);
  return record_scatter(op, write_of(options.how), x, numbers, value, where);
}

Edge put(const Array& x, const Array& indices, const Operand& v, PutOptions options, Where where) {
  const Edge base = detail::edge(x, "put", where), given = detail::edge(indices, "put", where);
  const IndexingCall call{IndexAttributes::Called::Put, options.bounds, where, &base};
  return put_at("put", options, base, record_taken(call, record_numbers(base.node()->shape(), where), given, {}), v,
                where);
}

Edge put_along(const Array& x, const Array& indices, const Operand& v, int axis, PutOptions options, Where where) {
  constexpr const char* op = "put_along_axis";
  const Edge base = detail::edge(x, op, where), given = detail::edge(indices, op, where);
  const IndexingCall call{IndexAttributes::Called::PutAlongAxis, options.bounds, where, &base};
  const Edge numbers = record_numbers(base.node()->shape(), where);
  return put_at(op, options, base, record_taken_along(call, numbers, given, axis), v, where);
}

}  // namespace
}  // namespace graph

inline namespace v0 {

Array put(const Array& x, const Array& indices, const Operand& values, PutOptions options, Where where) try {
  return detail::wrap(graph::put(x, indices, values, options, where));
}
TARRY_OR_OUT_OF_MEMORY("put", where)

Array put_along_axis(const Array& x, const Array& indices, const Operand& values, int axis, PutOptions options,
                     Where where) try {
  return detail::wrap(graph::put_along(x, indices, values, axis, options, where));
}
TARRY_OR_OUT_OF_MEMORY("put_along_axis", where)

}  // namespace v0
}  // namespace tarry
