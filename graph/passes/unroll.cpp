// unroll: a reduction of a few elements becomes that many terms.
//
// Terms are combined as tree R combines elements (docs/reference/numerics.md): the bits are the same. As an elementwise
// value a reduction is part of whatever kernel reads it, and its loop is along the axis that is long. Elements of a
// stack are what was stacked: each term reads its own part, which a loop along the stack would look for at each point.
#include <algorithm>
#include <map>
#include <utility>

#include "graph/fusion/writes.h"
#include "graph/passes/passes.h"

namespace tarry::graph {
namespace {

constexpr std::int64_t kMostTerms = 8;
constexpr std::int64_t kMostStatements = 96;  ///< of all terms
constexpr std::int64_t kLongFormula = 12;     ///< statements
constexpr std::size_t kMostFormula = 16;      ///< nodes in which a stack is looked for
constexpr std::int64_t kMostParts = 64;       ///< terms of a stack, of one block of tree R
constexpr std::int64_t kMostOfParts = 192;    ///< statements of all terms of a stack

/// The op that combines two elements.
Op combine_of(Op reduction) {
  switch (reduction) {
    case Op::Sum: return Op::Add;
    case Op::Prod: return Op::Multiply;
    case Op::Min: return Op::Minimum;
    default: return Op::Maximum;
  }
}

/// The nodes that read each node.
std::vector<std::vector<NodeId>> readers_of(const Graph& g) {
  std::vector<std::vector<NodeId>> readers(g.nodes.size());
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    for (int i = 0; i < g.nodes[id].n_inputs; ++i) readers[g.nodes[id].inputs[i].node].push_back(id);
  return readers;
}

OpClass class_of(const Graph& g, NodeId id) { return info(g.nodes[id].op).op_class; }

/// Decides on the graph as it is.
class Chooser {
 public:
  explicit Chooser(const Graph& g)
      : g_(g), readers_(readers_of(g)), fits_(g.nodes.size()), is_root_(g.nodes.size()), passed_on_(g.nodes.size()) {
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
    std::vector<bool> feeds_walk(g_.nodes.size()), feeds_short(g_.nodes.size());
    for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      // A kernel that goes over short rows again computes what it reads of them once. What a long axis reads and others
      // read as well is stored, or computed for them in any case.
      const auto feeds = [&](NodeId reader, const auto& is_such, const std::vector<bool>& such) {
        return is_such(reader) || (is_formula(reader) && such[reader]);
      };
      const auto is_short_walk = [&](NodeId r) { return is_walk(r) && !passed_on_[r] && terms_of(r) <= kMostTerms; };
      const auto is_any_walk = [&](NodeId r) { return is_walk(r); };
      const std::vector<NodeId>& readers = readers_[id];
      feeds_short[id] = std::ranges::any_of(readers, [&](NodeId r) { return feeds(r, is_short_walk, feeds_short); });
      feeds_walk[id] = !readers.empty() && !is_root_[id] &&
                       std::ranges::all_of(readers, [&](NodeId r) { return feeds(r, is_any_walk, feeds_walk); });
      if (feeds_short[id]) fits_[id] = false;
      if (fits_[id] && feeds_walk[id]) passed_on_[id] = true, fits_[id] = false;
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
    const bool combines = n.op == Op::Sum || n.op == Op::Prod || n.op == Op::Min || n.op == Op::Max;
    if (!combines || n.dtype == bool_ || g_.count(id) == 0 || terms_of(id) < 2) return false;
    return terms_of(id) <= kMostTerms || (terms_of(id) <= kMostParts && is_of_parts(id));
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
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> fits_;
  std::vector<std::int64_t> statements_;
  std::vector<bool> is_root_;
  std::vector<bool> passed_on_;  // to a kernel that goes along a long axis
};

/// Terms of one reduction: its operand's formula at one place along the axis.
class Terms {
 public:
  /// `shared`: nodes that terms read as they are.
  Terms(Rewriter& r, const std::vector<bool>& shared, const GraphNode& reduction)
      : r_(r), shared_(shared), reduction_(reduction) {}

  GraphEdge run() {
    const GraphEdge operand = reduction_.inputs[0];
    const Dims source = r_.graph().shape(operand.node);
    const int axis = r_.graph().reduces[reduction_.payload].axis;
    std::vector<GraphEdge> terms;
    for (std::int64_t k = 0; k < source[axis]; ++k) {
      IndexMap map;
      for (int d = 0, at = 0; d < source.size(); ++d)
        map.push_back(d == axis ? AxisMap{-1, k, 0} : AxisMap{at++, 0, 1});
      known_.clear();
      terms.push_back(value_at(operand, map));
    }
    return combined(std::move(terms));
  }

 private:
  /// Tree R of one block.
  GraphEdge combined(std::vector<GraphEdge> terms) {
    constexpr std::size_t kLanes = 32;
    const auto combine = [&](GraphEdge& left, GraphEdge right) {
      left = add(combine_of(reduction_.op), reduction_.dtype, {left, right});
    };
    const bool is_run = terms.size() <= kLanes;
    for (std::size_t k = is_run ? 1 : kLanes; k < terms.size(); ++k) combine(terms[is_run ? 0 : k % kLanes], terms[k]);
    for (std::size_t d = is_run ? 0 : kLanes / 2; d > 0; d /= 2)
      for (std::size_t l = 0; l < d; ++l) combine(terms[l], terms[l + d]);
    return terms[0];
  }

  /// Past updates that write all of what is read, or nothing.
  void pass_updates(GraphEdge& edge, IndexMap& map) const {
    const Graph& g = r_.graph();
    for (std::int64_t passed = 0; passed < 2 * kMostParts; ++passed) {
      const GraphNode& n = g.nodes[edge.node];
      if (n.op != Op::Update || !g.updates[n.payload].dense()) return;
      const Lies how = lies(g, {edge, map, g.shape(edge.node)}, g.shapes[reduction_.shape]);
      if (how == Lies::Across) return;
      for (int d = 0; d < map.size && how == Lies::Inside; ++d) map[d].start -= g.updates[n.payload].start[d];
      edge = n.inputs[how == Lies::Inside ? 1 : 0];
    }
  }

  /// `edge` read through `map`, of the reduction's shape. Views end on what is computed or stored. As deep as a formula
  /// of kMostStatements.
  GraphEdge value_at(GraphEdge edge, IndexMap map) {
    pass_updates(edge, map);
    const GraphNode n = r_.graph().nodes[edge.node];
    if (n.op == Op::Scalar) return edge;
    const auto [it, fresh] = known_.try_emplace({edge.node, std::string(encode(map))});
    if (!fresh) return it->second;
    GraphEdge value;
    if (n.op == Op::View) {
      value = value_at(n.inputs[0], compose(r_.graph().views[n.payload], map));
    } else if (info(n.op).op_class == OpClass::Map && !(edge.node < shared_.size() && shared_[edge.node])) {
      GraphNode here = n;
      for (int i = 0; i < n.n_inputs; ++i) {
        const Dims from = r_.graph().shape(n.inputs[i].node), to = r_.graph().shapes[n.shape];
        here.inputs[i] = value_at(n.inputs[i], compose(broadcast_map(from.span(), to.span()), map));
      }
      here.shape = reduction_.shape;
      value = r_.add(here);
    } else {
      r_.graph().views.push_back(map);
      const auto payload = static_cast<std::uint32_t>(r_.graph().views.size() - 1);
      value = add(Op::View, n.dtype, {edge}, payload);
    }
    return known_[{edge.node, std::string(encode(map))}] = value;
  }

  GraphEdge add(Op op, Dtype dtype, std::initializer_list<GraphEdge> inputs, std::uint32_t payload = kNoId) {
    GraphNode n = reduction_;  // stands for it in messages
    n.op = op;
    n.dtype = dtype;
    n.payload = payload;
    n.n_inputs = static_cast<std::uint8_t>(inputs.size());
    std::copy(inputs.begin(), inputs.end(), n.inputs);
    return r_.add(n);
  }

  Rewriter& r_;
  const std::vector<bool>& shared_;
  const GraphNode reduction_;
  std::map<std::pair<NodeId, std::string>, GraphEdge> known_;
};

}  // namespace

Graph unroll(const Graph& g) {
  const Chooser chooser(g);
  std::vector<bool> shared;  // by node of the result
  NodeId at = 0;
  return Rewriter(g).run([&](Rewriter& r, const GraphNode& n) {
    const GraphEdge made = chooser.fits(at) ? Terms(r, shared, n).run() : r.add(n);
    shared.resize(r.graph().nodes.size());
    if (chooser.is_shared(at++)) shared[made.node] = true;
    return made;
  });
}

}  // namespace tarry::graph
