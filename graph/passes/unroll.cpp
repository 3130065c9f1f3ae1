// unroll: a reduction of a few elements becomes that many terms.
//
// Terms are combined as tree R combines elements (docs/reference/numerics.md): the bits are the same. As an elementwise
// value a reduction is part of whatever kernel reads it, and its loop is along the axis that is long. Elements of a
// stack are what was stacked: each term reads its own part, which a loop along the stack would look for at each point.
#include <algorithm>

#include "graph/passes/terms.h"

namespace tarry::graph {
namespace {

constexpr std::int64_t kLongFormula = 12;   ///< statements
constexpr std::size_t kMostFormula = 16;    ///< nodes in which a stack is looked for
constexpr std::int64_t kMostParts = 64;     ///< terms of a stack, of one block of tree R
constexpr std::int64_t kMostOfParts = 192;  ///< statements of all terms of a stack

/// The nodes that read each node.
std::vector<std::vector<NodeId>> readers_of(const Graph& g) {
  std::vector<std::vector<NodeId>> readers(g.nodes.size());
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    for (int i = 0; i < g.nodes[id].n_inputs; ++i) readers[g.nodes[id].inputs[i].node].push_back(id);
  return readers;
}

OpClass class_of(const Graph& g, NodeId id) { return info(g.nodes[id].op).op_class; }

/// Operands: any, or those made of parts that were stacked.
enum class Of : std::uint8_t { Any, Parts };

/// Decides on the graph as it is.
class Chooser {
 public:
  Chooser(const Graph& g, Of of)
      : g_(g), of_(of), readers_(readers_of(g)), fits_(g.nodes.size()), is_root_(g.nodes.size()) {
    for (const GraphEdge& r : g.roots) is_root_[r.node] = true;
    for (NodeId id = 0; id < g.nodes.size(); ++id) fits_[id] = is_short(id);
    count_statements();
    // Each decides about those that it reads and that read it.
    constexpr int kMostRounds = 8;
    int round = 0;
    while (drop() && round < kMostRounds) ++round;
    if (round == kMostRounds) fits_.assign(g.nodes.size(), false);
  }

  [[nodiscard]] bool fits(NodeId id) const { return fits_[id]; }
  /// A long formula that is a result or that several nodes read: terms read it, rather than being that many copies of
  /// it.
  [[nodiscard]] bool is_shared(NodeId id) const {
    const std::vector<NodeId>& readers = readers_[id];
    const bool several = std::ranges::any_of(readers, [&](NodeId r) { return r != readers.front(); });
    return (several || is_root_[id]) && statements_[id] > kLongFormula;
  }

 private:
  /// Statements of the formula that a value is, those that are there twice counted twice.
  void count_statements() {
    statements_.assign(g_.nodes.size(), 0);
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      const GraphNode& n = g_.nodes[id];
      if (!is_formula(id)) continue;
      std::int64_t below = 0;
      for (int i = 0; i < n.n_inputs; ++i) below += statements_[n.inputs[i].node];
      const std::int64_t all = fits_[id] ? (below + 1) * terms_of(id) : below + (class_of(g_, id) == OpClass::Map);
      statements_[id] = std::min(all, kMostStatements + 1);
    }
  }

  /// Drops those that do not fit beside the others; false where all do.
  bool drop() {
    const std::vector<bool> before = fits_;
    std::vector<bool> feeds_short(g_.nodes.size());
    for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      // A kernel that goes over short rows again computes what it reads of them once.
      feeds_short[id] = std::ranges::any_of(readers_[id], [&](NodeId r) {
        return (is_walk(r) && terms_of(r) <= kMostTerms) || (is_formula(r) && feeds_short[r]);
      });
      if (feeds_short[id]) fits_[id] = false;
    }
    for (NodeId id = 0; id < g_.nodes.size(); ++id) fits_[id] = fits_[id] && is_cheap(id);
    return fits_ != before;
  }

  /// An elementwise value, as far as is known.
  [[nodiscard]] bool is_formula(NodeId id) const {
    const OpClass c = class_of(g_, id);
    return c == OpClass::Map || c == OpClass::View || fits_[id];
  }
  /// A loop of a kernel, of which what it reads is part already.
  [[nodiscard]] bool is_walk(NodeId id) const {
    const OpClass c = class_of(g_, id);
    return (c == OpClass::Reduce || c == OpClass::Scan) && !fits_[id];
  }
  [[nodiscard]] std::int64_t terms_of(NodeId id) const {
    const GraphNode& n = g_.nodes[id];
    return g_.shape(n.inputs[0].node)[g_.reduces[n.payload].axis];
  }
  [[nodiscard]] bool is_short(NodeId id) const {
    const GraphNode& n = g_.nodes[id];
    if (!combines(n) || g_.count(id) == 0 || terms_of(id) < 2) return false;
    return (of_ == Of::Any && terms_of(id) <= kMostTerms) || (terms_of(id) <= kMostParts && is_of_parts(id));
  }
  /// True if what is reduced is made of a stack along the axis, element by element.
  [[nodiscard]] bool is_of_parts(NodeId reduction) const {
    const NodeId operand = g_.nodes[reduction].inputs[0].node;
    const int axis = g_.reduces[g_.nodes[reduction].payload].axis;
    std::vector<NodeId> open{operand};
    for (std::size_t i = 0; i < open.size() && i < kMostFormula; ++i) {
      const GraphNode& n = g_.nodes[open[i]];
      if (n.op == Op::Update && parts_along(open[i], axis) >= terms_of(reduction) / 2) return true;
      if (class_of(g_, open[i]) != OpClass::Map) continue;
      for (int k = 0; k < n.n_inputs; ++k)
        if (g_.nodes[n.inputs[k].node].shape == g_.nodes[operand].shape) open.push_back(n.inputs[k].node);
    }
    return false;
  }
  /// Parts, side by side along an axis, of which updates make an array; a join of many parts is one of such joins.
  [[nodiscard]] std::int64_t parts_along(NodeId update, int axis) const {
    std::int64_t count = 0;
    for (; g_.nodes[update].op == Op::Update && count < kMostParts; update = g_.nodes[update].inputs[0].node) {
      const NodeId value = g_.nodes[update].inputs[1].node;
      const Dims &whole = g_.shape(update), &box = g_.shape(value);
      for (int d = 0; d < whole.size(); ++d)
        if (d != axis && box[d] != whole[d]) return count;
      count += std::max<std::int64_t>(1, parts_along(value, axis));
    }
    return count;
  }

  /// A few statements, none of them dear and wanted elsewhere too, and no loops.
  [[nodiscard]] bool is_cheap(NodeId reduction) const {
    std::vector<NodeId> formula{g_.nodes[reduction].inputs[0].node};
    std::int64_t statements = 0;
    for (std::size_t i = 0; i < formula.size(); ++i) {
      const GraphNode& n = g_.nodes[formula[i]];
      if (is_walk(formula[i])) return false;
      if (!is_formula(formula[i])) continue;
      statements += fits_[formula[i]] ? terms_of(formula[i]) * terms_of(formula[i]) : 1;
      const std::int64_t most = terms_of(reduction) > kMostTerms ? kMostOfParts : kMostStatements;
      if (statements * terms_of(reduction) > most) return false;
      if (is_shared(formula[i])) continue;
      if (!is_pure(n.op) || (info(n.op).ulp32 > 0 && readers_[formula[i]].size() > 1)) return false;
      for (int k = 0; k < n.n_inputs; ++k)
        if (std::find(formula.begin(), formula.end(), n.inputs[k].node) == formula.end())
          formula.push_back(n.inputs[k].node);
    }
    return true;
  }

  const Graph& g_;
  const Of of_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> fits_;
  std::vector<std::int64_t> statements_;
  std::vector<bool> is_root_;
};

Graph unrolled(const Graph& g, Of of) {
  const Chooser chooser(g, of);
  std::vector<bool> shared;  // by node of the result
  NodeId at = 0;
  return Rewriter(g).run([&](Rewriter& r, const GraphNode& n) {
    const GraphEdge made = chooser.fits(at) ? as_terms(r, shared, n) : r.add(n);
    shared.resize(r.graph().nodes.size());
    if (chooser.is_shared(at++)) shared[made.node] = true;
    return made;
  });
}

}  // namespace

Graph unroll(const Graph& g) { return unrolled(g, Of::Any); }
Graph unroll_stacks(const Graph& g) { return unrolled(g, Of::Parts); }

}  // namespace tarry::graph
