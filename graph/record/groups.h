// Groups: the elements that have one number, in order.
#pragma once

#include <string_view>

#include "graph/record/record.h"

namespace tarry::graph {

struct Groups {
  Edge order;    ///< int64 (k): the elements, group after group, those of a group as they stood
  Edge offsets;  ///< int64 (n + 1): where the group of each number begins in that order, and the end of the last one
};
/// The elements of `numbers`, int64 (k) within 0..n-1, by their number. k is not 0.
Groups record_groups(std::string_view op, const Edge& numbers, std::int64_t n, Where where);

}  // namespace tarry::graph
