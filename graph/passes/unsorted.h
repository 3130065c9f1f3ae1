// unsorted: groups are folded without a sort of their elements.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tarry::graph {

/// Ways to find few elements of each of many groups whose numbers ascend, as the user says.
enum class Ascending : std::uint8_t {
  ByOffsets,  ///< a search for where each group begins
  ByNumbers   ///< Way::Reversed, which looks at the numbers
};

/// A Segment op on elements that a stable sort of their numbers put in order becomes one on the elements as they stand
/// (Way::Reversed), and a search for where each number begins a count. A group's elements keep their order, so the bits
/// are the same. The sort is dropped where nothing else reads it. Of more columns one order serves all better.
inline constexpr std::int64_t kUnsortedColumns = 4;
Graph fold_unsorted(const Graph& g, Ascending ascending, std::int64_t most_columns = kUnsortedColumns);

}  // namespace tarry::graph
