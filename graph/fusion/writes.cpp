// Chains of updates, and what is read through them.
#include "graph/fusion/writes.h"

#include <algorithm>

namespace tarry::graph {
namespace {

constexpr int kMostOthers = 64;  ///< boxes that are looked at one by one

}  // namespace

Lies lies(const Graph& g, const Source& read, const Dims& whole, int but) {
  const GraphNode& n = g.nodes[read.edge.node];
  const Dims &start = g.updates[n.payload].start, &extents = g.shape(n.inputs[1].node);
  Lies found = Lies::Inside;
  for (int d = 0; d < read.map.size; ++d) {
    if (d == but) continue;
    const AxisMap& m = read.map[d];
    const std::int64_t last = m.axis < 0 ? m.start : m.start + m.step * (whole[m.axis] - 1);
    const std::int64_t low = std::min(m.start, last), high = std::max(m.start, last) + 1;
    if (high <= start[d] || low >= start[d] + extents[d]) return Lies::Outside;
    if (low < start[d] || high > start[d] + extents[d]) found = Lies::Across;
  }
  return found;
}

Writes::Writes(const Graph& g) : g_(&g), viewed_(g.nodes.size()) {
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    if (g.nodes[id].op == Op::View) viewed_[g.nodes[id].inputs[0].node] = true;
    if (g.nodes[id].op != Op::Update || !g.updates[g.nodes[id].payload].dense()) continue;
    const auto base = places_.find(g.nodes[id].inputs[0].node);
    const bool goes_on =
        base != places_.end() && base->second.position + 1 == chains_[base->second.chain].updates.size();
    if (!goes_on) chains_.emplace_back();
    const std::uint32_t chain = goes_on ? base->second.chain : static_cast<std::uint32_t>(chains_.size() - 1);
    places_[id] = {chain, static_cast<std::uint32_t>(chains_[chain].updates.size())};
    add(chains_[chain], id);
  }
}

void Writes::add(Chain& chain, NodeId update) {
  const Graph& g = *g_;
  const Dims &shape = g.shape(update), &box = g.shape(g.nodes[update].inputs[1].node);
  int axis = -1, narrow = 0;
  for (int d = 0; d < shape.size(); ++d)
    if (box[d] < shape[d]) axis = d, ++narrow;
  const auto position = static_cast<std::uint32_t>(chain.updates.size());
  chain.updates.push_back(update);
  const bool is_place = narrow == 1 && box[axis] == 1 && (chain.axis < 0 || chain.axis == axis);
  if (!is_place) return chain.others.push_back(position);
  chain.axis = axis;
  chain.at[g.updates[g.nodes[update].payload].start[axis]].push_back(position);
}

/// The place of a chain's axis that is read, where it is one.
std::optional<std::int64_t> Writes::place_read(const Chain& chain, const Source& s) const {
  if (chain.axis < 0 || s.map[chain.axis].axis >= 0) return std::nullopt;
  return s.map[chain.axis].start;
}

Source Writes::resolve(Source s, const Dims& lanes) const {
  const Graph& g = *g_;
  while (true) {
    const NodeId z = s.edge.node;
    const auto found = places_.find(z);
    if (found == places_.end() || !(s.shape == g.shape(z))) return s;
    const Chain& chain = chains_[found->second.chain];
    const std::optional<std::int64_t> at = place_read(chain, s);
    if (!at && chain.axis >= 0) return s;
    // The last update up to here that writes the place.
    std::int64_t writer = -1;
    if (const auto list = at ? chain.at.find(*at) : chain.at.end(); list != chain.at.end()) {
      const auto after = std::ranges::upper_bound(list->second, found->second.position);
      if (after != list->second.begin()) writer = *(after - 1);
    }
    // Other boxes that come after it.
    auto other = std::ranges::upper_bound(chain.others, found->second.position);
    Lies how = Lies::Outside;
    for (int looked = 0; other != chain.others.begin() && *(other - 1) > writer && how == Lies::Outside; ++looked) {
      --other;
      if (looked == kMostOthers) return s;
      s.edge = {chain.updates[*other], 0};
      how = lies(g, s, lanes);
      if (how == Lies::Across) return s;
      if (how == Lies::Inside) writer = *other;
    }
    const bool writes = writer >= 0;
    const GraphNode& n = g.nodes[chain.updates[writes ? static_cast<std::size_t>(writer) : 0]];
    IndexMap map = s.map;
    if (writes)
      for (int d = 0; d < map.size; ++d) map[d].start -= g.updates[n.payload].start[d];
    s = trace(g, n.inputs[writes ? 1 : 0], map);
  }
}

NodeId Writes::latest(NodeId view) const {
  const Graph& g = *g_;
  const GraphNode& n = g.nodes[view];
  NodeId last = n.inputs[0].node;
  const auto found = places_.find(last);
  if (found == places_.end()) return last;
  const Chain& chain = chains_[found->second.chain];
  const bool is_long = static_cast<std::int64_t>(chain.at.size()) >= kFewestPlaces;
  Source read{{}, g.views[n.payload], g.shape(last)};
  for (std::size_t i = found->second.position + 1; i < chain.updates.size() && chain.updates[i] < view; ++i) {
    read.edge = {chain.updates[i], 0};
    if (i > found->second.position + kMostOthers || lies(g, read, g.shape(view)) != Lies::Outside) break;
    if (is_long || viewed_[chain.updates[i]]) last = chain.updates[i];
  }
  return last;
}

}  // namespace tarry::graph
