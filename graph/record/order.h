// Sorts and searches as edges, for what is composed of them.
#pragma once

#include "graph/record/record.h"

namespace tarry::graph {

/// Sort or Argsort along an axis; `called` is what messages name.
Edge record_sort(Op op, std::string_view called, const Edge& x, int axis, RoutineAttributes::Way way, Where where);
/// The places of values, of any shape, in a sorted row of their dtype.
Edge record_search(std::string_view called, const Edge& sorted, const Edge& values, RoutineAttributes::Way way,
                   Where where);

/// Flat columns in order, cut into runs of equal elements.
struct Runs {
  Array order;    ///< the places of elements
  Array group;    ///< by place in the order: the number of the run
  Array offsets;  ///< in the order: where each run begins, and the end
  std::int64_t count = 0;
  [[nodiscard]] Array counts(Where where) const;
  /// The first element of x, which is as long as the columns, in each run.
  [[nodiscard]] Array first_of(const Array& x, Where where) const;
};
/// Equal are elements that are equal in every column, NaNs to each other where they are Together. Evaluates the
/// columns: how many runs there are is an extent.
enum class Nans : std::uint8_t { Apart, Together };
Runs find_runs(std::string_view called, std::span<const Array> columns, Nans nans, Where where);

/// New arrays of this thread go where x is, while it lives.
class PlacedLike {
 public:
  explicit PlacedLike(const Edge& x) noexcept : saved_(context().device) {
    if (!(x.node()->device == Device{})) context().device = x.node()->device;
  }
  ~PlacedLike() { context().device = saved_; }
  PlacedLike(const PlacedLike&) = delete;
  PlacedLike& operator=(const PlacedLike&) = delete;

 private:
  const Device saved_;
};

}  // namespace tarry::graph
