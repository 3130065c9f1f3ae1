// Indexing by arrays, below the public functions.
#pragma once

#include <tarry/index.h>

#include <optional>
#include <span>
#include <string>

#include "graph/record/record.h"

namespace tarry::graph {

/// An array of indices in the place of an axis, or of several side by side: then of their elements in row-major order.
struct Gathered {
  int axis;     ///< of what is indexed, the first
  int of_user;  ///< the same in the user's array, for messages
  Edge indices;
  int axes = 1;

  [[nodiscard]] bool has(int d) const { return d >= axis && d < axis + axes; }
};

/// The user's view of a call that indexes.
struct IndexingCall {
  IndexAttributes::Called called;
  Bounds bounds;
  Where where;
  const Edge* of_user = nullptr;  ///< his array, where its numbers are indexed instead
  [[nodiscard]] std::string op() const { return std::string(to_string(called)); }
};

/// Elements of x at arrays that broadcast to one shape, in the place of their axes. That shape goes behind the first
/// `front` axes of x that are left.
Edge record_gathered(const IndexingCall& call, Edge x, std::span<const Gathered> arrays, int front);
/// Those of take and of take_along_axis.
Edge record_taken(const IndexingCall& call, Edge x, const Edge& indices, std::optional<int> axis);
Edge record_taken_along(const IndexingCall& call, const Edge& x, const Edge& indices, int axis);
/// Throws where indices are no integers.
void check_indices(const IndexingCall& call, const Edge& indices);
/// An array that broadcasts to `shape`, in it.
Edge record_broadcast(const Edge& x, std::span<const std::int64_t> shape, Where where);

}  // namespace tarry::graph
