// Lengths of pieces: subtrees of tree R where some target needs these.
#include "runtime/evaluate/targets.h"

#include <algorithm>

#include "runtime/evaluate/partial_states.h"

namespace tarry::runtime {

using graph::Box;

void Target::request(const graph::Graph& g, std::size_t piece, std::vector<graph::SliceRequest>& requests) const {
  if (kind == Kind::Result) {
    requests.push_back({edge, Box::whole(g.shape(edge.node)).along(axis, begin(piece), ends[piece])});
    return;
  }
  for (const graph::CutOperand& o : cut.operands) {
    const Box whole = Box::whole(g.shape(o.edge.node));
    requests.push_back({o.edge, o.axis < 0 ? whole : whole.along(o.axis, begin(piece), ends[piece])});
  }
}

Target result_target(const graph::Graph& g, graph::GraphEdge edge, int axis) {
  return {Target::Kind::Result, edge, {}, axis, g.shape(edge.node)[axis], 0, {}};
}

Target cut_target(const graph::Cut& cut) { return {Target::Kind::Cut, {cut.node, 0}, cut, 0, cut.n, 0, {}}; }

Target carry_target(const graph::Graph& g, graph::NodeId scan) {
  const graph::GraphNode& n = g.nodes[scan];
  const int axis = g.reduces[n.payload].axis;
  const std::int64_t extent = g.shape(scan)[axis];
  return {
      Target::Kind::Carry, {scan, 0}, {scan, graph::CutKind::Tree, extent, {{n.inputs[0], axis}}}, 0, extent, 0, {}};
}

const Target& main_of(const std::vector<Target>& targets) {
  return *std::ranges::max_element(
      targets, [](const Target& a, const Target& b) { return a.is_tree() != b.is_tree() ? b.is_tree() : a.n < b.n; });
}

std::int64_t shortest_chunk(const Target& t) { return t.is_tree() ? PartialStates::chunk_length(128) : 1; }

void divide(std::vector<Target>& targets, std::int64_t length) {
  const Target& main = main_of(targets);
  const std::int64_t n = main.n;
  const std::int64_t of_main =
      main.is_tree() ? std::max(PartialStates::chunk_length(length), shortest_chunk(main)) : length;
  for (Target& t : targets) {
    const bool alike = t.n <= 2 * n && n <= 2 * t.n;
    const double scaled = static_cast<double>(of_main) * static_cast<double>(t.n) / static_cast<double>(n);
    t.chunk = std::max<std::int64_t>(1, alike ? of_main : static_cast<std::int64_t>(scaled));
    if (t.is_tree()) t.chunk = std::max(PartialStates::chunk_length(t.chunk), shortest_chunk(t));
    t.ends.clear();
    if (t.kind == Target::Kind::Cut && t.is_tree()) {
      t.ends = PartialStates::ends(t.n, t.chunk);
      continue;
    }
    for (std::int64_t end = t.chunk; end <= t.n; end += t.chunk) t.ends.push_back(end);
    const std::int64_t done = t.ends.empty() ? 0 : t.ends.back();
    if (t.kind != Target::Kind::Carry && done < t.n) t.ends.push_back(t.n);
  }
}

std::size_t pieces_of(const std::vector<Target>& targets) {
  std::size_t pieces = 0;
  for (const Target& t : targets) pieces = std::max(pieces, t.ends.size());
  return pieces;
}

}  // namespace tarry::runtime
