// split: a reduction that keeps a short axis becomes a reduction for each place of it.
//
// Its operand may hold values that do not vary along that axis, as the strength of a force is one number for the three
// coordinates of a distance. One reduction computes such values at each place of the axis, or reads them from memory.
// The reductions of the places go over the same elements side by side, so that their kernel computes these values once.
// Short sums that the values are made of, as the square of a distance, are terms there.
//
// Every result combines the elements that it combined before: tree R is made of places along the reduced axis alone, so
// the bits are the same. The gain depends on the target: whoever makes a plan compares both graphs.
#include <algorithm>
#include <set>
#include <utility>

#include "graph/passes/terms.h"

namespace tarry::graph {
namespace {

constexpr std::int64_t kMostReductions = 8;  ///< places of the short axis
constexpr double kLeastShared = 8;           ///< instructions that do not vary along it: a division, say
constexpr std::size_t kMostLooked = 256;     ///< nodes of one formula

/// Decides on the graph as it is.
class SplitChooser {
 public:
  explicit SplitChooser(const Graph& g) : g_(g), axes_(g.nodes.size(), -1), terms_(g.nodes.size()) {
    std::vector<NodeId> reductions;
    for (NodeId id = 0; id < g.nodes.size(); ++id)
      if (keeps_short_axis(id)) reductions.push_back(id);
    if (reductions.empty()) return;
    kept_.assign(g.nodes.size(), false);
    readers_.assign(g.nodes.size(), 0);
    for (const GraphEdge& r : g_.roots) kept_[r.node] = true;
    for (const GraphNode& n : g.nodes)
      for (int i = 0; i < n.n_inputs; ++i) ++readers_[n.inputs[i].node];
    for (const NodeId id : reductions) choose(id);
  }

  [[nodiscard]] bool any() const { return any_; }
  /// The axis of what is reduced that the reduction is split along, or -1.
  [[nodiscard]] int axis(NodeId id) const { return axes_[id]; }
  /// A short sum of what does not vary along such an axis.
  [[nodiscard]] bool is_terms(NodeId id) const { return terms_[id]; }
  /// Read as it is: a result, or a value that a formula reads again and again. Fusion decides where it is computed.
  [[nodiscard]] bool is_kept(NodeId id) const { return kept_[id]; }

 private:
  [[nodiscard]] OpClass class_of(NodeId id) const { return info(g_.nodes[id].op).op_class; }
  [[nodiscard]] const Dims& reduced_shape(NodeId reduction) const {
    return g_.shape(g_.nodes[reduction].inputs[0].node);
  }
  [[nodiscard]] int along(NodeId reduction) const { return g_.reduces[g_.nodes[reduction].payload].axis; }
  [[nodiscard]] std::int64_t length(NodeId reduction) const { return reduced_shape(reduction)[along(reduction)]; }
  static bool is_short(std::int64_t extent) { return extent >= 2 && extent <= kMostReductions; }
  [[nodiscard]] bool is_short_sum(NodeId id) const {
    return class_of(id) == OpClass::Reduce && combines(g_.nodes[id]) && is_short(length(id));
  }
  [[nodiscard]] bool keeps_short_axis(NodeId id) const {
    const GraphNode& n = g_.nodes[id];
    return class_of(id) == OpClass::Reduce && n.n_inputs == 1 && output_count(n.op) == 1 && g_.count(id) > 0 &&
           length(id) > kMostTerms && std::any_of(g_.shape(id).begin(), g_.shape(id).end(), is_short);
  }

  void choose(NodeId reduction) {
    const Dims& shape = reduced_shape(reduction);
    for (int axis = shape.size(); axis-- > 0;) {
      if (axis == along(reduction) || !is_short(shape[axis])) continue;
      points_ = g_.count(g_.nodes[reduction].inputs[0].node) / shape[axis];
      const std::vector<NodeId> fixed = fixed_parts(g_.nodes[reduction].inputs[0].node, axis);
      std::vector<NodeId> sums;
      if (instructions(fixed, sums) < kLeastShared) continue;
      axes_[reduction] = axis;
      any_ = true;
      for (const NodeId sum : sums) terms_[sum] = is_cheap(sum);
      return;
    }
  }

  /// The parts of a formula that do not vary along an axis; none where the rest is too long to be there for each place.
  std::vector<NodeId> fixed_parts(NodeId formula, int axis) {
    struct Read {
      NodeId node;
      IndexMap map;
    };
    const Dims& shape = g_.shape(formula);
    std::vector<Read> open{{formula, broadcast_map(shape.span(), shape.span())}};
    std::set<std::pair<NodeId, std::string>> seen;
    std::set<NodeId> fixed;
    std::int64_t statements = 0;
    for (std::size_t at = 0; at < open.size(); ++at) {
      const Read read = open[at];
      if (!seen.insert({read.node, std::string(encode(read.map))}).second) continue;
      const GraphNode& n = g_.nodes[read.node];
      bool varies = false;
      for (int d = 0; d < read.map.size; ++d) varies |= read.map[d].axis == axis && read.map[d].step != 0;
      if (!varies) {
        fixed.insert(read.node);
      } else if (n.op == Op::View) {
        open.push_back({n.inputs[0].node, compose(g_.views[n.payload], read.map)});
      } else if (is_repeated(read.node)) {
        if (!is_pure(n.op) || (statements += shape[axis]) > kMostStatements) return {};
        for (int i = 0; i < n.n_inputs; ++i) {
          const NodeId in = n.inputs[i].node;
          open.push_back({in, compose(broadcast_map(g_.shape(in).span(), g_.shape(read.node).span()), read.map)});
        }
      }
    }
    return {fixed.begin(), fixed.end()};
  }

  /// True if a map is computed again at each point. What has fewer elements is kept: it may be stored.
  bool is_repeated(NodeId map) {
    if (class_of(map) != OpClass::Map) return false;
    if (g_.count(map) < points_) kept_[map] = true;
    return !kept_[map];
  }

  /// Instructions of some formulas at a point; `sums` are the short ones among them.
  double instructions(const std::vector<NodeId>& formulas, std::vector<NodeId>& sums) {
    struct Part {
      NodeId node;
      double times;
    };
    std::vector<Part> open;
    for (const NodeId id : formulas) open.push_back({id, 1});
    std::set<NodeId> seen;
    double all = 0;
    for (std::size_t at = 0; at < open.size() && at < kMostLooked; ++at) {
      const Part part = open[at];
      if (!seen.insert(part.node).second) continue;
      const GraphNode& n = g_.nodes[part.node];
      const bool is_sum = is_short_sum(part.node) && g_.count(part.node) >= points_;
      if (is_sum) sums.push_back(part.node);
      if (!is_sum && n.op != Op::View && (class_of(part.node) != OpClass::Map || g_.count(part.node) < points_))
        continue;
      const double times = is_sum ? part.times * static_cast<double>(length(part.node)) : part.times;
      all += times * info(n.op).cost;
      for (int i = 0; i < n.n_inputs; ++i) open.push_back({n.inputs[i].node, times});
    }
    return all;
  }

  /// A few statements, none of them dear and wanted elsewhere too, and no loops.
  bool is_cheap(NodeId sum) {
    std::set<NodeId> seen;
    std::vector<NodeId> open{g_.nodes[sum].inputs[0].node};
    std::int64_t statements = 0;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      const GraphNode& n = g_.nodes[id];
      if (class_of(id) == OpClass::Reduce || class_of(id) == OpClass::Scan) return false;
      if (n.op != Op::View && !is_repeated(id)) continue;
      if (!is_pure(n.op) || (info(n.op).ulp32 > 0 && readers_[id] > 1)) return false;
      if ((statements += length(sum)) > kMostStatements) return false;
      for (int i = 0; i < n.n_inputs; ++i) open.push_back(n.inputs[i].node);
    }
    return true;
  }

  const Graph& g_;
  std::vector<int> axes_;
  std::vector<bool> terms_, kept_;
  std::vector<int> readers_;
  std::int64_t points_ = 0;  // of the reduction at hand, at one place of its short axis
  bool any_ = false;
};

/// A reduction for each place of `axis`, and the array of their results.
GraphEdge split_along(Rewriter& r, const std::vector<bool>& kept, const GraphNode& reduction, int axis) {
  Graph& g = r.graph();
  const GraphEdge operand = reduction.inputs[0];
  const Dims source = g.shape(operand.node), whole = g.shapes[reduction.shape];
  ReduceAttributes attributes = g.reduces[reduction.payload];
  const int at = axis - (axis > attributes.axis ? 1 : 0);  // the axis in the result
  attributes.axis -= axis < attributes.axis ? 1 : 0;
  Dims inner = source, outer = whole, box = whole;
  inner.erase(axis);
  outer.erase(at);
  box[at] = 1;
  GraphNode element = reduction, one = reduction, part = reduction;
  element.shape = g.intern(inner);
  one.shape = g.intern(outer);
  part.shape = g.intern(box);
  one.payload = static_cast<std::uint32_t>(g.reduces.size());
  g.reduces.push_back(attributes);

  IndexMap spread;  // coordinates of the result -> those of one place's
  for (int d = 0; d < whole.size(); ++d)
    if (d != at) spread.push_back({d, 0, whole[d] == 1 ? 0 : 1});
  PlacedFormula elements(r, kept, element), parts(r, kept, part), results(r, kept, reduction);
  GraphEdge all;
  for (std::int64_t k = 0; k < source[axis]; ++k) {
    GraphEdge x = elements.at(operand, place_map(source.size(), axis, k));
    if (g.nodes[x.node].shape != element.shape)
      x = elements.view(x, broadcast_map(g.shape(x.node).span(), inner.span()));
    one.inputs[0] = x;
    const GraphEdge result = r.add(one);
    if (k == 0) {
      all = results.view(result, spread);
      continue;
    }
    UpdateAttributes place{Dims::filled(whole.size(), 0), Dims::filled(whole.size(), 1)};
    place.start[at] = k;
    g.updates.push_back(place);
    const auto payload = static_cast<std::uint32_t>(g.updates.size() - 1);
    all = results.add(Op::Update, reduction.dtype, {all, parts.view(result, spread)}, payload);
  }
  return all;
}

}  // namespace

Graph split(const Graph& g) {
  const SplitChooser chooser(g);
  if (!chooser.any()) return g;
  std::vector<bool> kept;  // by node of the result
  NodeId at = 0;
  return Rewriter(g).run([&](Rewriter& r, const GraphNode& n) {
    const NodeId id = at++;
    GraphEdge made;
    if (chooser.axis(id) >= 0)
      made = split_along(r, kept, n, chooser.axis(id));
    else
      made = chooser.is_terms(id) ? as_terms(r, kept, n) : r.add(n);
    kept.resize(r.graph().nodes.size());
    if (chooser.is_kept(id)) kept[made.node] = true;
    return made;
  });
}

}  // namespace tarry::graph
