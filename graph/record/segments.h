// Rows put together by the groups that they belong to.
#pragma once

#include <tarry/group.h>

#include "graph/record/order.h"

namespace tarry::graph {

/// Rows in order of their groups. A place that is no group stands behind all of them.
class Grouping {
 public:
  /// `places`: int64 of one dimension, from 0 to `groups`, which is none.
  Grouping(std::string_view called, const Array& places, std::int64_t groups, Where where);
  /// Rows of groups that are known already, in `order` from offset to offset.
  Grouping(std::string_view called, Array order, Array offsets, std::int64_t groups, Where where);
  /// The same where the rows stand in order.
  static Grouping sorted(std::string_view called, const Array& places, std::int64_t groups, Where where);

  /// A Segment op over rows of x: x's shape, with the groups in place of the first axis. In the dtype of `sum`.
  [[nodiscard]] Array fold(Op op, const Array& x) const;
  [[nodiscard]] Array aggregate(Aggregate what, const Array& x) const;
  [[nodiscard]] Array counts() const;
  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  Grouping(std::string_view called, std::int64_t rows, std::int64_t groups, Where where)
      : called_(called), rows_(rows), groups_(groups), where_(where) {}
  void find_offsets(const Array& in_order);
  [[nodiscard]] Array in_groups(const Array& x) const;
  [[nodiscard]] Array counts_beside(const Array& x, Dtype dtype) const;

  std::string_view called_;
  std::int64_t rows_, groups_;
  Where where_;
  Array order_;  ///< undefined where rows stand in order
  Array offsets_;
};

/// How often each of 0 .. groups - 1 is among int64 places of one dimension, from -1 to `groups`.
Array count_places(std::string_view called, const Array& places, std::int64_t groups, Where where);
/// The smallest and the largest element of x, which it reads once, and computes where that is not long.
std::pair<Array, Array> evaluated_extremes(const Array& x, Dtype dtype, Where where);

}  // namespace tarry::graph
