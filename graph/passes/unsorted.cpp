// fold_unsorted: patterns of what graph/record/groups.cpp and segments.cpp record.
//
//   order = index(argsort(numbers)), offsets = searchsorted(gather(numbers, order), 0..m)
//   segment_sum(gather(x, order), offsets) = segment_sum reversed(x, numbers), where numbers are not negative
//   segment_sum(x, searchsorted(numbers, 0..m)) = segment_sum reversed(x, numbers), where these ascend and m is many
//   offsets = the running sum of 0 and how often each number is there
//   where(offsets(0..m-1) < offsets(1..m), 0 + segment_sum(x, offsets), 0) = 0 + segment_sum(x, offsets)
//
// Views and reshapes may stand anywhere between these, as long as they keep the sorted axis whole.
#include "graph/passes/unsorted.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "support/check.h"

namespace tarry::graph {
namespace {

struct Axis {
  NodeId node;
  int axis;
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// The axis of a view's source that is `axis` of the view, whole and in order; -1 where there is none.
int viewed_axis(const IndexMap& map, const Dims& source, int axis, std::int64_t extent) {
  int found = -1;
  for (int d = 0; d < map.size; ++d) {
    if (map[d].axis != axis) continue;
    if (found >= 0 || map[d].start != 0 || map[d].step != 1 || source[d] != extent) return -1;
    found = d;
  }
  return found;
}

/// The same for a reshape: an axis of the same extent behind as many elements.
int reshaped_axis(const Dims& source, const Dims& to, int axis) {
  std::int64_t within = 1;
  for (int d = axis + 1; d < to.size(); ++d) within *= to[d];
  std::int64_t of_source = 1;
  for (int d = source.size(); d-- > 0; of_source *= source[d])
    if (of_source == within && source[d] == to[axis]) return d;
  return -1;
}

class Finder {
 public:
  explicit Finder(const Graph& g) : g_(g), read_elsewhere_(g.nodes.size()) {
    for (const GraphEdge& r : g.roots) read_elsewhere_[r.node] = true;
    for (const GraphNode& n : g.nodes)
      for (int i = 0; i < n.n_inputs && !is_segments(n.op); ++i) read_elsewhere_[n.inputs[i].node] = true;
  }

  /// The source of the elements along an axis, below views and reshapes. `passed`, if any, gets these, top first.
  [[nodiscard]] Axis origin(NodeId id, int axis, std::vector<NodeId>* passed = nullptr) const {
    for (;;) {
      const GraphNode& n = g_.nodes[id];
      if ((n.op != Op::View && n.op != Op::Reshape) || n.inputs[0].output != 0) return {id, axis};
      const NodeId from = n.inputs[0].node;
      const int source = n.op == Op::View ? viewed_axis(g_.views[n.payload], g_.shape(from), axis, g_.shape(id)[axis])
                                          : reshaped_axis(g_.shape(from), g_.shape(id), axis);
      if (source < 0) return {id, axis};
      if (passed != nullptr) passed->push_back(id);
      id = from;
      axis = source;
    }
  }

  /// The sort whose places are the elements along an axis, whatever the others are.
  [[nodiscard]] std::optional<NodeId> order(NodeId id, int axis) const {
    Axis at = origin(id, axis);
    if (g_.nodes[at.node].op == Op::Index) at = origin(g_.nodes[at.node].inputs[0].node, at.axis);
    const GraphNode& n = g_.nodes[at.node];
    if (n.op != Op::Argsort || n.payload != 0 || g_.shape(at.node).size() != 1 || !are_natural(n.inputs[0].node))
      return std::nullopt;
    return at.node;
  }

  /// The sort by which a gather puts elements along an axis in order.
  [[nodiscard]] std::optional<NodeId> order_of_gather(const Axis& at) const {
    const GraphNode& n = g_.nodes[at.node];
    if (n.op != Op::Gather || static_cast<int>(n.payload) != at.axis) return std::nullopt;
    const std::optional<NodeId> found = order(n.inputs[1].node, at.axis);
    if (!found || g_.count(*found) != g_.shape(n.inputs[0].node)[at.axis]) return std::nullopt;
    return found;
  }

  /// The sort whose numbers a node finds the groups of: where each of 0..m begins.
  [[nodiscard]] std::optional<NodeId> order_of_offsets(NodeId id) const {
    const GraphNode& n = g_.nodes[id];
    if (n.op != Op::Searchsorted || n.payload != 0 || g_.count(id) < 2) return std::nullopt;
    const Axis sorted = origin(n.inputs[0].node, 0);
    const std::optional<NodeId> found = order_of_gather(sorted);
    if (!found || !(origin(g_.nodes[sorted.node].inputs[0].node, 0) == origin(numbers(*found).node, 0)))
      return std::nullopt;
    return counts_up(n.inputs[1].node) ? found : std::nullopt;
  }

  /// True of sums onto zeros, chosen where there is something to sum; elsewhere they are zeros too.
  [[nodiscard]] bool chooses_sums_on_zeros(const GraphNode& n) const {
    if (n.op != Op::Where || g_.nodes[n.inputs[0].node].op != Op::Less || !is_zeros(n.inputs[2].node)) return false;
    const GraphNode &some = g_.nodes[n.inputs[0].node], &joined = g_.nodes[below(n.inputs[1].node, Op::Cast)];
    const NodeId offsets = edges(some.inputs[0].node, 0);
    if (offsets == kNone || edges(some.inputs[1].node, 1) != offsets || joined.op != Op::Add) return false;
    if (!is_zeros(joined.inputs[0].node)) return false;
    const Axis sums = origin(joined.inputs[1].node, 0);
    const GraphNode& fold = g_.nodes[sums.node];
    return fold.op == Op::SegmentSum && sums.axis == 1 && fold.inputs[1].node == offsets;
  }

  /// The ascending numbers of few elements for each group, where folds alone read the places that a search finds.
  [[nodiscard]] std::optional<GraphEdge> ascending_numbers(NodeId offsets) const {
    constexpr std::int64_t kFewToGroup = 16;
    const GraphNode& n = g_.nodes[offsets];
    if (n.op != Op::Searchsorted || n.payload != 0 || read_elsewhere_[offsets]) return std::nullopt;
    if (g_.shape(n.inputs[0].node).size() != 1) return std::nullopt;
    if (g_.count(n.inputs[0].node) > kFewToGroup * g_.count(offsets)) return std::nullopt;
    if (!are_natural(n.inputs[0].node) || !counts_up(n.inputs[1].node)) return std::nullopt;
    return n.inputs[0];
  }

  [[nodiscard]] GraphEdge numbers(NodeId order) const { return g_.nodes[order].inputs[0]; }

 private:
  static constexpr NodeId kNone = ~NodeId{0};

  [[nodiscard]] NodeId below(NodeId id, Op op) const {
    while (g_.nodes[id].op == op) id = g_.nodes[id].inputs[0].node;
    return id;
  }
  [[nodiscard]] bool is_zeros(NodeId id) const {
    for (; g_.nodes[id].op != Op::Scalar; id = g_.nodes[id].inputs[0].node)
      if (const Op op = g_.nodes[id].op; op != Op::View && op != Op::Reshape && op != Op::Cast) return false;
    return g_.scalars[g_.nodes[id].payload].known == ScalarClass::Zero;
  }
  /// The offsets of which all but the last, or all but the first, stand along the first axis of a view.
  [[nodiscard]] NodeId edges(NodeId id, std::int64_t first) const {
    const GraphNode& n = g_.nodes[id];
    if (n.op != Op::View || !order_of_offsets(n.inputs[0].node)) return kNone;
    const IndexMap& map = g_.views[n.payload];
    const bool along = map.size == 1 && map[0].axis == 0 && map[0].start == first && map[0].step == 1;
    return along && g_.shape(id)[0] + 1 == g_.count(n.inputs[0].node) ? n.inputs[0].node : kNone;
  }

  /// Integers, none of them negative.
  [[nodiscard]] bool are_natural(NodeId id) const {
    for (;;) {
      const GraphNode& n = g_.nodes[id];
      const DtypeKind kind = tarry::info(n.dtype).kind;
      if (kind == DtypeKind::UInt) return n.dtype != Dtype::UInt64;  // which int64 does not hold
      if (n.dtype != Dtype::Int64) return false;
      if (n.op == Op::Index || n.op == Op::Iota) return true;
      if (n.op != Op::View && n.op != Op::Reshape && n.op != Op::Gather && n.op != Op::Cast) return false;
      id = n.inputs[0].node;
    }
  }

  /// 0, 1, 2 ..., all of which the dtype holds.
  [[nodiscard]] bool counts_up(NodeId id) const {
    const std::int64_t last = g_.count(id) - 1;
    Axis at = origin(id, 0);
    if (g_.nodes[at.node].op == Op::Cast) {
      const auto bits =
          8 * itemsize(g_.nodes[at.node].dtype) - (tarry::info(g_.nodes[at.node].dtype).kind == DtypeKind::Int);
      if (!is_integral(g_.nodes[at.node].dtype) || (bits < 63 && last >> bits != 0)) return false;
      at = origin(g_.nodes[at.node].inputs[0].node, at.axis);
    }
    return g_.nodes[at.node].op == Op::Iota && g_.shape(at.node).size() == 1;
  }

  const Graph& g_;
  std::vector<bool> read_elsewhere_;  ///< by others than folds
};

class Maker {
 public:
  Maker(const Graph& from, Ascending ascending, std::int64_t most_columns)
      : from_(from),
        find_(from),
        ascending_(ascending),
        most_columns_(most_columns),
        to_(from.like()),
        made_(from.nodes.size()) {}

  Graph run() {
    for (NodeId id = 0; id < from_.nodes.size(); ++id) {
      GraphNode n = from_.nodes[id];
      for (int i = 0; i < n.n_inputs; ++i) n.inputs[i] = made(n.inputs[i]);
      if (const std::optional<NodeId> order = find_.order_of_offsets(id))
        made_[id] = offsets(n, made(find_.numbers(*order)));
      else if (find_.chooses_sums_on_zeros(from_.nodes[id]))
        made_[id] = n.inputs[1];
      else if (!fold(id, n))
        made_[id] = add(n);
    }
    for (const GraphEdge& r : from_.roots) to_.roots.push_back(made(r));
    return std::move(to_);
  }

 private:
  /// False where the elements of a fold stand as they were given, or it is none.
  bool fold(NodeId id, const GraphNode& n) {
    if (!is_segments(n.op) || n.payload != 0 || to_.shape(n.inputs[0].node)[0] > most_columns_) return false;
    const GraphNode& given = from_.nodes[id];
    std::vector<NodeId> views;
    const Axis values = find_.origin(given.inputs[0].node, 1, &views);
    const std::optional<NodeId> order = find_.order_of_gather(values);
    if (!order || find_.order_of_offsets(find_.origin(given.inputs[1].node, 0).node) != order)
      return ascending_ == Ascending::ByNumbers && fold_ascending(id, n);
    GraphEdge x = made(from_.nodes[values.node].inputs[0]);
    for (std::size_t v = views.size(); v-- > 0;) {
      GraphNode view = from_.nodes[views[v]];
      view.inputs[0] = x;
      x = add(view);
    }
    GraphNode folded = n;
    folded.payload = static_cast<std::uint32_t>(RoutineAttributes::Way::Reversed);
    folded.inputs[0] = x;
    folded.inputs[1] = made(find_.numbers(*order));
    made_[id] = add(folded);
    return true;
  }

  /// False where the elements of a fold do not stand in order of numbers that ascend.
  bool fold_ascending(NodeId id, const GraphNode& n) {
    const std::optional<GraphEdge> numbers = find_.ascending_numbers(from_.nodes[id].inputs[1].node);
    if (!numbers || n.op == Op::SegmentM2) return false;
    GraphNode folded = n;
    folded.payload = static_cast<std::uint32_t>(RoutineAttributes::Way::Reversed);
    folded.inputs[1] = made(*numbers);
    made_[id] = add(folded);
    return true;
  }

  /// Where the group of each number begins: how many numbers are less.
  GraphEdge offsets(const GraphNode& search, GraphEdge numbers) {
    const std::int64_t groups = to_.shapes[search.shape][0] - 1;
    const ShapeId counted = to_.intern(Dims{groups});
    ScalarSource zero;
    zero.kind = ScalarSource::Kind::Constant;
    zero.known = ScalarClass::Zero;
    zero.dtype = Dtype::Int64;
    to_.scalars.push_back(zero);
    const GraphEdge none = add(like(search, Op::Scalar, to_.intern(Dims{}), {}, to_.scalars.size() - 1));
    to_.views.push_back(IndexMap());
    const GraphEdge zeros = add(like(search, Op::View, search.shape, {none}, to_.views.size() - 1));
    const GraphEdge counts = add(like(search, Op::Bincount, counted, {numbers}, 0));
    to_.updates.push_back({Dims{1}, Dims{1}});
    const GraphEdge from_zero = add(like(search, Op::Update, search.shape, {zeros, counts}, to_.updates.size() - 1));
    to_.reduces.push_back({0, 1});
    return add(like(search, Op::CumulativeSum, search.shape, {from_zero}, to_.reduces.size() - 1));
  }

  /// A node of int64 that stands for `named` in messages.
  static GraphNode like(const GraphNode& named, Op op, ShapeId shape, std::initializer_list<GraphEdge> inputs,
                        std::size_t payload) {
    GraphNode n = named;
    n.op = op;
    n.dtype = Dtype::Int64;
    n.shape = shape;
    n.payload = static_cast<std::uint32_t>(payload);
    n.n_inputs = static_cast<std::uint8_t>(inputs.size());
    std::ranges::copy(inputs, n.inputs);
    return n;
  }

  GraphEdge add(const GraphNode& n) {
    to_.nodes.push_back(n);
    return {static_cast<NodeId>(to_.nodes.size() - 1), 0};
  }
  [[nodiscard]] GraphEdge made(GraphEdge e) const { return {made_[e.node].node, made_[e.node].output + e.output}; }

  const Graph& from_;
  const Finder find_;
  const Ascending ascending_;
  const std::int64_t most_columns_;
  Graph to_;
  std::vector<GraphEdge> made_;
};

}  // namespace

Graph fold_unsorted(const Graph& g, Ascending ascending, std::int64_t most_columns) {
  const auto folds = [](const GraphNode& n) { return is_segments(n.op); };
  return std::ranges::any_of(g.nodes, folds) ? Maker(g, ascending, most_columns).run() : g;
}

}  // namespace tarry::graph
