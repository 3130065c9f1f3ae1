// Draft: a group of the greedy partition while it grows.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/fusion/graph.h"

namespace tarry::graph {

struct Draft {
  std::vector<NodeId> nodes;
  std::vector<NodeId> producers;                    // nodes outside that it reads, once each
  std::vector<NodeId> at_point;                     // those that it reads at its own point
  std::vector<std::pair<NodeId, NodeId>> barriers;  // edges through memory: these two groups never merge
  Mode mode{};
  bool reduces = false, scans = false;
  bool scatter = false;                            // closed: nothing joins it later
  bool library = false;                            // alone
  bool places = false;                             // reads at computed places
  std::uint32_t point_space = 0, outer_space = 0;  // squeezed shape ids
  ReduceKey key = kNoId;
  int statements = 0, reductions = 0;
  int instructions = 0;  // at a point
  int live = 0;          // words that a point holds at once, or more
  NodeId first = kNoId, last = 0;

  static bool among(const std::vector<NodeId>& list, NodeId p) { return std::ranges::find(list, p) != list.end(); }
  static void add(std::vector<NodeId>& list, NodeId p) {
    if (!among(list, p)) list.push_back(p);
  }

  /// Edges into the group that compute `producer` again.
  [[nodiscard]] int repeated_reads(const FusionGraph& f, const Fusion& found, NodeId producer) const {
    int count = 0;
    for (const NodeId v : nodes)
      for (int i = 0; i < f.g.nodes[v].n_inputs; ++i)
        count += found.recomputed_set(v, i) != kNoId && f.source(v, i).edge.node == producer;
    return count;
  }

  /// True where the group reads the node from memory: by an edge of its own, or where it computes others again.
  [[nodiscard]] bool reads(const FusionGraph& f, const Fusion& found, NodeId producer) const {
    const auto inputs_of = [&](NodeId v, auto is_it) {
      for (int i = 0; i < f.g.nodes[v].n_inputs; ++i)
        if (is_it(i, f.source(v, i).edge.node)) return true;
      return false;
    };
    return std::ranges::any_of(nodes, [&](NodeId v) {
      return inputs_of(v, [&](int i, NodeId from) {
        const std::uint32_t set = found.recomputed_set(v, i);
        if (set == kNoId) return from == producer;
        const std::vector<NodeId>& again = found.recomputed_sets[set];
        return !std::ranges::binary_search(again, producer) && std::ranges::any_of(again, [&](NodeId w) {
          return inputs_of(w, [&](int, NodeId of_it) { return of_it == producer; });
        });
      });
    });
  }
};

}  // namespace tarry::graph
