// find_chains(): states that a program computes again and again, each from the one before, and of which it keeps the
// last. They are told by what computes them: statements of a chain are the same, a step apart.
#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "graph/fusion/orbits.h"

namespace tarry::graph {
namespace {

constexpr std::size_t kMostAlike = 4;  ///< statements of a step that look the same
constexpr std::size_t kMostChains = 32;
constexpr int kMostEnds = 256;  ///< last states that are looked at
constexpr int kDepth = 3;       ///< of what is compared of a statement and its inputs

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15U + (a << 12) + (a >> 4);
  return a * 0xbf58476d1ce4e5b9U;
}

/// By node: hashes of the operation and its result, and of these with what they are computed from, to a depth. The
/// former are equal for a statement in all steps of a chain, the latter in all but the first few.
struct Forms {
  explicit Forms(const Graph& g);
  std::vector<std::uint64_t> own, deep;
};

Forms::Forms(const Graph& g) {
  for (const GraphNode& n : g.nodes) {
    const bool placed = info(n.op).op_class == OpClass::View || info(n.op).op_class == OpClass::Leaf;
    std::uint64_t hash = mixed(static_cast<std::uint64_t>(n.op), static_cast<std::uint64_t>(n.dtype));
    hash = mixed(hash, mixed(static_cast<std::uint64_t>(n.mode), n.shape));
    own.push_back(placed || info(n.op).op_class == OpClass::Scalar ? hash : mixed(hash, n.payload));
  }
  deep = own;
  for (int depth = 1; depth < kDepth; ++depth) {
    const std::vector<std::uint64_t> before = deep;
    for (NodeId id = 0; id < g.nodes.size(); ++id) {
      deep[id] = own[id];
      for (int i = 0; i < g.nodes[id].n_inputs; ++i) deep[id] = mixed(deep[id], before[g.nodes[id].inputs[i].node]);
    }
  }
}

/// Nodes of one form as far apart as the last of them and the one `every` places before it, from the first to the last.
std::vector<NodeId> evenly_apart(const Forms& forms, const std::vector<NodeId>& alike, std::size_t end,
                                 std::size_t every) {
  std::vector<NodeId> run{alike[end]};
  const NodeId apart = alike[end] - alike[end - every];
  while (run.back() >= apart && forms.own[run.back() - apart] == forms.own[alike[end]])
    run.push_back(run.back() - apart);
  std::ranges::reverse(run);
  return run;
}

/// True if a node needs an earlier one. The work is linear in the nodes between them.
bool needs(const Graph& g, NodeId later, NodeId earlier) {
  std::vector<bool> needed(later - earlier + 1);
  needed.back() = true;
  for (NodeId id = later; id > earlier; --id) {
    if (!needed[id - earlier]) continue;
    for (int i = 0; i < g.nodes[id].n_inputs; ++i)
      if (const NodeId input = g.nodes[id].inputs[i].node; input >= earlier) needed[input - earlier] = true;
  }
  return needed.front();
}

}  // namespace

std::vector<Layers> find_chains(const FusionGraph& f, const std::vector<bool>& taken) {
  const Graph& g = f.g;
  std::vector<Layers> chains;
  const Forms forms(g);
  std::unordered_map<std::uint64_t, std::vector<NodeId>> alike;
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    if (f.op_class(id) == OpClass::Map && is_pure(g.nodes[id].op) && !taken[id]) alike[forms.deep[id]].push_back(id);
  const auto repeats = [&](NodeId id) {
    const auto at = alike.find(forms.deep[id]);
    return at != alike.end() && at->second.size() >= static_cast<std::size_t>(Orbits::kFewestLevels);
  };
  std::vector<bool> ends(g.nodes.size());  // read by what does not repeat, or by nobody
  for (const GraphEdge& r : g.roots) ends[r.node] = true;
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    for (int i = 0; i < g.nodes[id].n_inputs && !repeats(id); ++i) ends[g.nodes[id].inputs[i].node] = true;
  std::vector<bool> in_chain(g.nodes.size());
  int looked = 0;
  for (auto id = static_cast<NodeId>(g.nodes.size()); id-- > 0 && chains.size() < kMostChains;) {
    if (!ends[id] || in_chain[id] || !repeats(id)) continue;
    if (++looked > kMostEnds) break;
    const std::vector<NodeId>& same = alike.at(forms.deep[id]);
    const auto end = static_cast<std::size_t>(std::ranges::lower_bound(same, id) - same.begin());
    if (end >= same.size() || same[end] != id) continue;
    std::vector<NodeId> run;
    for (std::size_t every = 1; every <= kMostAlike && every <= end; ++every) {
      run = evenly_apart(forms, same, end, every);
      if (2 * every * run.size() > end) break;  // most of them
    }
    if (run.size() < static_cast<std::size_t>(Orbits::kFewestLevels) || !needs(g, id, run[run.size() - 2])) continue;
    Layers layers;
    const Dims& shape = g.shape(id);
    layers.lanes = squeeze(shape);
    for (const NodeId level : run) {
      in_chain[level] = forms.deep[level] == forms.deep[id];
      layers.levels.push_back({{level, 0}, at_lanes(shape), shape});
    }
    chains.push_back(std::move(layers));
  }
  return chains;
}

}  // namespace tarry::graph
