// Draft: a group of the greedy partition while it grows.
#pragma once

#include <utility>
#include <vector>

#include "graph/fusion/graph.h"

namespace tarry::graph {

struct Draft {
  std::vector<NodeId> nodes;
  std::vector<NodeId> producers;                    // nodes outside that it reads, once each
  std::vector<std::pair<NodeId, NodeId>> barriers;  // edges through memory: these two groups never merge
  Mode mode{};
  bool reduces = false, scans = false;
  bool scatter = false;                            // closed: nothing joins it later
  bool library = false;                            // alone
  bool places = false;                             // reads at computed places
  std::uint32_t point_space = 0, outer_space = 0;  // squeezed shape ids
  ReduceKey key = kNoId;
  int statements = 0, reductions = 0;
  int live = 0;  // words that a point holds at once, or more
  NodeId first = kNoId, last = 0;
};

}  // namespace tarry::graph
