// ElementOps: nodes of the mode and the device of what they are part of.
#include "graph/record/element_ops.h"

#include "graph/record/parts.h"

namespace tarry::graph {
namespace {

Dtype result_dtype(Op op, std::span<const Edge> inputs) {
  if (info(op).rule == DtypeRule::Bool || info(op).rule == DtypeRule::Logical) return bool_;
  return inputs[op == Op::Where ? 1 : 0].node()->dtype;
}

}  // namespace

Edge ElementOps::operator()(Op op, std::initializer_list<Edge> inputs) {
  const std::span<const Edge> all(inputs.begin(), inputs.size());
  ++count_;
  return part_of_ == nullptr ? stand_in_ : record(op, result_dtype(op, all), all);
}

Edge ElementOps::same(std::span<const Edge> inputs) {
  ++count_;
  if (part_of_ == nullptr) return stand_in_;
  const AttributeBytes attributes = part_of_->attributes();
  return record(part_of_->op, part_of_->dtype, inputs, part_of_->extra != nullptr ? &attributes : nullptr);
}

Edge ElementOps::cast(const Edge& x, Dtype dtype) {
  if (part_of_ == nullptr || x.node()->dtype != dtype) ++count_;
  if (part_of_ == nullptr || x.node()->dtype == dtype) return x;
  return record(Op::Cast, dtype, {&x, 1});
}

Edge ElementOps::number(Scalar value, Dtype dtype) const {
  return part_of_ == nullptr ? stand_in_ : record_scalar(value, dtype, name(part_of_->op), where_);
}

Edge ElementOps::record(Op op, Dtype dtype, std::span<const Edge> inputs, const AttributeBytes* attributes) const {
  const Dims shape = broadcast_shape(name(part_of_->op), inputs, where_);
  return make_node({.op = op,
                    .dtype = dtype,
                    .mode = part_of_->mode,
                    .device = part_of_->device,
                    .shape = shape.span(),
                    .attributes = attributes,
                    .cell = {},
                    .where = part_of_->where()},
                   inputs);
}

}  // namespace tarry::graph
