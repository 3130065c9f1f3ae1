// Elementwise operations of single elements: of forms of operations that are more than elementwise.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "graph/record/record.h"

namespace tarry::graph {

/// The elements of a value, or of a part of it, in row-major order.
using Elements = std::vector<Edge>;

class ElementOps {
 public:
  /// Records operations as parts of n: in its mode and on its device.
  ElementOps(const Node& n, Where where) : part_of_(&n), where_(where) {}
  /// Counts operations, and gives this for their results.
  explicit ElementOps(Edge stand_in) : stand_in_(std::move(stand_in)) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] Edge operator()(Op op, std::initializer_list<Edge> inputs);
  [[nodiscard]] Edge chosen(const Edge& condition, const Edge& a, const Edge& b) {
    return (*this)(Op::Where, {condition, a, b});
  }
  /// The operation that n is, on other inputs.
  [[nodiscard]] Edge same(std::span<const Edge> inputs);
  /// x in a dtype.
  [[nodiscard]] Edge cast(const Edge& x, Dtype dtype);
  [[nodiscard]] Edge number(Scalar value, Dtype dtype) const;

 private:
  [[nodiscard]] Edge record(Op op, Dtype dtype, std::span<const Edge> inputs,
                            const AttributeBytes* attributes = nullptr) const;

  const Node* const part_of_ = nullptr;
  const Edge stand_in_;
  const Where where_{};
  std::size_t count_ = 0;
};

}  // namespace tarry::graph
