// Formulas at places, and terms in the order of tree R.
#include "graph/passes/terms.h"

#include <algorithm>

#include "graph/fusion/writes.h"

namespace tarry::graph {
namespace {

constexpr std::int64_t kMostUpdates = 128;  ///< that one place is looked for behind

/// The op that combines two elements.
Op combine_of(Op reduction) {
  switch (reduction) {
    case Op::Sum: return Op::Add;
    case Op::Prod: return Op::Multiply;
    case Op::Min: return Op::Minimum;
    default: return Op::Maximum;
  }
}

bool is_identity(const IndexMap& map) {
  for (int d = 0; d < map.size; ++d)
    if (!(map[d] == AxisMap{d, 0, 1})) return false;
  return true;
}

}  // namespace

bool combines(const GraphNode& n) {
  return (n.op == Op::Sum || n.op == Op::Prod || n.op == Op::Min || n.op == Op::Max) && n.dtype != bool_;
}

IndexMap place_map(int rank, int axis, std::int64_t place) {
  IndexMap map;
  for (int d = 0, at = 0; d < rank; ++d) map.push_back(d == axis ? AxisMap{-1, place, 0} : AxisMap{at++, 0, 1});
  return map;
}

/// Past updates that write all of what is read, or nothing.
void PlacedFormula::pass_updates(GraphEdge& edge, IndexMap& map) const {
  const Graph& g = r_.graph();
  for (std::int64_t passed = 0; passed < kMostUpdates; ++passed) {
    const GraphNode& n = g.nodes[edge.node];
    if (n.op != Op::Update || !g.updates[n.payload].dense()) return;
    const Lies how = lies(g, {edge, map, g.shape(edge.node)}, g.shapes[like_.shape]);
    if (how == Lies::Across) return;
    for (int d = 0; d < map.size && how == Lies::Inside; ++d) map[d].start -= g.updates[n.payload].start[d];
    edge = n.inputs[how == Lies::Inside ? 1 : 0];
  }
}

GraphEdge PlacedFormula::at(GraphEdge edge, IndexMap map) {
  pass_updates(edge, map);
  const GraphNode n = r_.graph().nodes[edge.node];
  if (n.op == Op::Scalar) return edge;
  const std::pair key(std::uint64_t{edge.node} * 2 + edge.output, std::string(encode(map)));
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const bool is_formula = info(n.op).op_class == OpClass::Map && !(edge.node < kept_.size() && kept_[edge.node]);
  GraphEdge value;
  if (is_formula && n.shape == like_.shape && is_identity(map)) {
    value = edge;
  } else if (n.op == Op::View) {
    value = at(n.inputs[0], compose(r_.graph().views[n.payload], map));
  } else if (is_formula) {
    GraphNode here = n;
    for (int i = 0; i < n.n_inputs; ++i) {
      const Dims from = r_.graph().shape(n.inputs[i].node), to = r_.graph().shapes[n.shape];
      here.inputs[i] = at(n.inputs[i], compose(broadcast_map(from.span(), to.span()), map));
    }
    here.shape = like_.shape;
    value = r_.add(here);
  } else {
    value = view(edge, map);
  }
  return known_[key] = value;
}

GraphEdge PlacedFormula::view(GraphEdge edge, const IndexMap& map) {
  r_.graph().views.push_back(map);
  const auto payload = static_cast<std::uint32_t>(r_.graph().views.size() - 1);
  return add(Op::View, r_.graph().nodes[edge.node].dtype, {edge}, payload);
}

GraphEdge PlacedFormula::add(Op op, Dtype dtype, std::initializer_list<GraphEdge> inputs, std::uint32_t payload) {
  GraphNode n = like_;
  n.op = op;
  n.dtype = dtype;
  n.payload = payload;
  n.n_inputs = static_cast<std::uint8_t>(inputs.size());
  std::copy(inputs.begin(), inputs.end(), n.inputs);
  return r_.add(n);
}

GraphEdge as_terms(Rewriter& r, const std::vector<bool>& kept, const GraphNode& reduction) {
  const GraphEdge operand = reduction.inputs[0];
  const Dims source = r.graph().shape(operand.node);
  const int axis = r.graph().reduces[reduction.payload].axis;
  std::vector<GraphEdge> terms;
  for (std::int64_t k = 0; k < source[axis]; ++k)
    terms.push_back(PlacedFormula(r, kept, reduction).at(operand, place_map(source.size(), axis, k)));
  // Tree R of one block.
  constexpr std::size_t kLanes = 32;
  PlacedFormula made(r, kept, reduction);
  const auto combine = [&](GraphEdge& left, GraphEdge right) {
    left = made.add(combine_of(reduction.op), reduction.dtype, {left, right});
  };
  const bool is_run = terms.size() <= kLanes;
  for (std::size_t k = is_run ? 1 : kLanes; k < terms.size(); ++k) combine(terms[is_run ? 0 : k % kLanes], terms[k]);
  for (std::size_t d = is_run ? 0 : kLanes / 2; d > 0; d /= 2)
    for (std::size_t l = 0; l < d; ++l) combine(terms[l], terms[l + d]);
  return terms[0];
}

}  // namespace tarry::graph
