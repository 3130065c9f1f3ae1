// repeats_too_often(): from readers to what they read, each node when all of its places are known.
#include "graph/fusion/repeats.h"

#include <algorithm>

namespace tarry::graph {
namespace {

/// Coordinates of a node as those of the top one. What is read at places that are computed has none of its own.
IndexMap place_of(const Source& s, const IndexMap& reader) {
  for (int d = 0; d < s.map.size; ++d)
    if (s.map[d].axis >= reader.size) return s.map;
  return compose(s.map, reader);
}

bool equal(const IndexMap& a, const IndexMap& b) {
  return a.size == b.size && std::equal(a.dims.begin(), a.dims.begin() + a.size, b.dims.begin());
}

}  // namespace

bool repeats_too_often(const FusionGraph& f, std::vector<NodeId> nodes, NodeId top) {
  std::ranges::sort(nodes, std::greater{});
  std::vector<std::vector<IndexMap>> places(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n] == top) {
      IndexMap home;
      for (int d = 0; d < f.g.shape(top).size(); ++d) home.push_back({d, 0, 1});
      places[n].push_back(home);
    }
    for (int i = 0; i < f.g.nodes[nodes[n]].n_inputs; ++i) {
      const Source s = f.source(nodes[n], i);
      const auto it = std::ranges::find(nodes, s.edge.node);
      if (it == nodes.end()) continue;
      std::vector<IndexMap>& of = places[static_cast<std::size_t>(it - nodes.begin())];
      for (const IndexMap& reader : places[n]) {
        const IndexMap place = place_of(s, reader);
        if (std::ranges::any_of(of, [&](const IndexMap& known) { return equal(known, place); })) continue;
        if (static_cast<int>(of.size()) == kMostPlaces) return true;
        of.push_back(place);
      }
    }
  }
  return false;
}

}  // namespace tarry::graph
