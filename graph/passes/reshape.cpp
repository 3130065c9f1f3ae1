// canonical_reshapes: what a Reshape may stand on when the graph is scheduled, so that readers can address its memory.
//
// Moves only: a reshaping keeps the row-major sequence of elements, and elementwise ops work on sequences alike, so no
// rule here changes a bit. Backwards, a node that is read under one other shape only takes that shape itself (chains of
// elementwise ops are reshaped at their inputs in one sweep). Forwards, reshapings of views become views of reshapings
// where axes split and merge in memory as they do in the view; those of coordinates become arithmetic. A view that can
// do neither stays below its Reshape, to be copied. So does a leaf whose elements lie apart below an update of memory
// or a call of a library.
#include <algorithm>
#include <numeric>
#include <optional>

#include "graph/fusion/trace.h"
#include "graph/passes/passes.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

/// Axes [from_begin, from_end) of one shape and [to_begin, to_end) of another that hold the same elements; extents of 1
/// belong to no block.
struct Block {
  std::vector<int> from, to;
};

/// The finest blocks of two shapes with equal, positive numbers of elements.
std::vector<Block> match(const Dims& from, const Dims& to) {
  std::vector<Block> blocks;
  int i = 0, k = 0;
  for (;;) {
    while (i < from.size() && from[i] == 1) ++i;
    while (k < to.size() && to[k] == 1) ++k;
    if (i == from.size() && k == to.size()) return blocks;
    TARRY_ASSERT(i < from.size() && k < to.size());
    Block b{{i}, {k}};
    std::int64_t left = from[i++], right = to[k++];
    while (left != right) {
      if (left < right) {
        b.from.push_back(i);
        left *= from[i++];
      } else {
        b.to.push_back(k);
        right *= to[k++];
      }
    }
    std::erase_if(b.from, [&](int d) { return from[d] == 1; });
    std::erase_if(b.to, [&](int d) { return to[d] == 1; });
    blocks.push_back(std::move(b));
  }
}

/// A view of `source` after its source took another shape.
struct Folded {
  Dims source;
  IndexMap map;
};

/// Rewrites "source read through `map` at coordinates of `from`, under the shape `to`" as a view, over coordinates of
/// `to`, of the reshaped source: possible where each block of several axes runs through neighbouring dimensions of the
/// source, all but the first of them whole, or does not move at all.
class Folder {
 public:
  Folder(const Dims& source, const IndexMap& map, const Dims& from, const Dims& to)
      : source_(source), map_(map), from_(from), to_(to) {}

  std::optional<Folded> run() {
    if (element_count(to_.span()) == 0) {  // nothing is read
      Folded nothing{source_, {}};
      for (int d = 0; d < source_.size(); ++d) nothing.map.push_back({-1, 0, 0});
      return nothing;
    }
    replaced_.assign(static_cast<std::size_t>(source_.size()), Part{});
    for (const Block& b : match(from_, to_)) {
      if (!place(b)) return {};
    }
    return assemble();
  }

 private:
  /// The dimension of the result where a dimension of the source stood.
  struct Part {
    bool replaced = false;
    Dims extents;
    IndexMap map;
  };

  [[nodiscard]] bool moves(int d, int axis) const {
    return map_[d].axis == axis && map_[d].step != 0 && from_[axis] != 1;
  }
  [[nodiscard]] std::vector<int> moved_by(int axis) const {
    std::vector<int> found;
    for (int d = 0; d < source_.size(); ++d)
      if (moves(d, axis)) found.push_back(d);
    return found;
  }

  void replace(int d, Dims extents, const IndexMap& map) {
    replaced_[static_cast<std::size_t>(d)] = {true, extents, map};
  }

  bool place(const Block& b) {
    if (b.from.size() == 1 && b.to.size() == 1) {
      for (const int d : moved_by(b.from[0])) {
        IndexMap one;
        one.push_back({b.to[0], map_[d].start, map_[d].step});
        replace(d, {source_[d]}, one);
      }
      return true;
    }
    std::vector<int> run;
    for (const int axis : b.from) {
      const std::vector<int> moved = moved_by(axis);
      if (moved.size() > 1) return false;
      run.insert(run.end(), moved.begin(), moved.end());
    }
    if (run.empty()) return true;
    return run.size() == b.from.size() && is_run(b, run) && reshape_run(b, run);
  }

  [[nodiscard]] bool is_run(const Block& b, const std::vector<int>& run) const {
    for (std::size_t i = 0; i < run.size(); ++i) {
      const int d = run[i];
      if (map_[d].step != 1) return false;
      if (i == 0) continue;
      if (map_[d].start != 0 || source_[d] != from_[b.from[i]]) return false;
      for (int between = run[i - 1] + 1; between < d; ++between)
        if (source_[between] != 1) return false;
      if (d < run[i - 1]) return false;
    }
    return true;
  }

  bool reshape_run(const Block& b, const std::vector<int>& run) {
    std::int64_t inner_from = 1, inner_to = 1;
    for (std::size_t i = 1; i < b.from.size(); ++i) inner_from *= from_[b.from[i]];
    for (std::size_t i = 1; i < b.to.size(); ++i) inner_to *= to_[b.to[i]];
    const std::int64_t total = source_[run[0]] * inner_from, start = map_[run[0]].start * inner_from;
    if (total % inner_to != 0 || start % inner_to != 0) return false;
    Dims extents{total / inner_to};
    IndexMap map;
    map.push_back({b.to[0], start / inner_to, 1});
    for (std::size_t i = 1; i < b.to.size(); ++i) {
      extents.push_back(to_[b.to[i]]);
      map.push_back({b.to[i], 0, 1});
    }
    replace(run[0], extents, map);
    for (std::size_t i = 1; i < run.size(); ++i) replace(run[i], {}, {});
    return true;
  }

  [[nodiscard]] std::optional<Folded> assemble() const {
    Folded out;
    for (int d = 0; d < source_.size(); ++d) {
      Part part = replaced_[static_cast<std::size_t>(d)];
      if (!part.replaced) {
        part.extents = {source_[d]};
        part.map.push_back({-1, map_[d].start, 0});
      }
      if (out.source.size() + part.extents.size() > kMaxRank) return {};
      for (int i = 0; i < part.extents.size(); ++i) {
        out.source.push_back(part.extents[i]);
        out.map.push_back(part.map[i]);
      }
    }
    return out;
  }

  const Dims& source_;
  const IndexMap& map_;
  const Dims &from_, &to_;
  std::vector<Part> replaced_;
};

/// `map` between shapes that differ in extents of 1 only.
IndexMap unit_map(const Dims& source, const Dims& view) {
  IndexMap map;
  int axis = 0;
  for (int d = 0; d < source.size(); ++d) {
    if (source[d] == 1) {
      map.push_back({-1, 0, 0});
      continue;
    }
    while (view[axis] == 1) ++axis;
    map.push_back({axis++, 0, 1});
  }
  return map;
}

class Reshaper {
 public:
  explicit Reshaper(const Graph& g) : g_(g), keeps_(g.nodes.size()) {}

  Graph run() {
    for (GraphEdge& root : g_.roots) root = beneath(root);
    find_shapes();
    if (keep_shapes()) find_shapes();
    NodeId at = 0;
    return Rewriter(g_).run([&](Rewriter& r, const GraphNode& n) { return rewrite(r, n, at++); });
  }

 private:
  static constexpr ShapeId kMany = kNoId - 1;

  /// Results are row-major sequences, so a root is what it reshapes.
  [[nodiscard]] GraphEdge beneath(GraphEdge root) const {
    for (;;) {
      const GraphNode& n = g_.nodes[root.node];
      const bool same_elements =
          n.op == Op::Reshape ||
          (n.op == Op::View && is_elementwise(g_.views[n.payload], g_.shape(n.inputs[0].node), g_.shapes[n.shape]));
      if (!same_elements) return root;
      root = n.inputs[0];
    }
  }

  // --- Backwards: which shape every node takes ---------------------------------------------------------------------

  void find_shapes() {
    wanted_.assign(g_.nodes.size(), kNoId);
    for (const GraphEdge& r : g_.roots) want(r.node, g_.nodes[r.node].shape);
    for (NodeId id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      if (wanted_[id] == kNoId) continue;  // nobody reads it
      const GraphNode& n = g_.nodes[id];
      if (keeps_[id] || wanted_[id] == kMany || !may_take(id, wanted_[id])) wanted_[id] = n.shape;
      for (int i = 0; i < n.n_inputs; ++i) {
        const NodeId input = n.inputs[i].node;
        const bool passes_on = n.op == Op::Reshape || (is_map(n) && g_.nodes[input].shape == n.shape);
        want(input, passes_on ? wanted_[id] : g_.nodes[input].shape);
      }
    }
  }

  /// Elementwise ops that a reshaping parts from what they read, for a call: they keep their shape, since a call reads
  /// memory, which has none. True if there are any, so that what they read is wanted in another shape than was found.
  bool keep_shapes() {
    std::vector<NodeId> group(g_.nodes.size());
    std::iota(group.begin(), group.end(), NodeId{0});
    const auto find = [&](NodeId id) {
      while (group[id] != id) id = group[id] = group[group[id]];
      return id;
    };
    std::vector<bool> parted(g_.nodes.size()), bound(g_.nodes.size());  // bound: something but a call reads a reshaping
    for (NodeId id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      const GraphNode& n = g_.nodes[id];
      if (wanted_[id] == kNoId) continue;
      for (int i = 0; i < n.n_inputs; ++i) {
        const NodeId p = n.inputs[i].node;
        if (n.op == Op::Reshape || g_.nodes[p].op == Op::Reshape)
          bound[p] = bound[p] || (n.op == Op::Reshape ? bound[id] : !is_call(n.op));
        if (takes_another(id) && takes_another(p) && g_.nodes[p].shape == n.shape) group[find(p)] = find(id);
      }
    }
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (!takes_another(id)) continue;
      if (bound[id]) bound[find(id)] = true;
      const GraphNode& n = g_.nodes[id];
      for (int i = 0; i < n.n_inputs; ++i) {
        const NodeId p = n.inputs[i].node;
        const bool computed = info(g_.nodes[p].op).op_class >= OpClass::Update;
        if (computed && !takes_another(p) && g_.nodes[p].shape == n.shape) parted[find(id)] = true;
      }
    }
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      keeps_[id] = takes_another(id) && parted[find(id)] && !bound[find(id)];
    return std::ranges::find(keeps_, true) != keeps_.end();
  }

  /// True if an elementwise op is to take another shape.
  [[nodiscard]] bool takes_another(NodeId id) const {
    return is_map(g_.nodes[id]) && wanted_[id] != kNoId && wanted_[id] != g_.nodes[id].shape;
  }

  void want(NodeId id, ShapeId shape) { wanted_[id] = wanted_[id] == kNoId || wanted_[id] == shape ? shape : kMany; }

  static bool is_map(const GraphNode& n) { return info(n.op).op_class == OpClass::Map; }

  /// True if the node itself can be computed under that shape, without a copy of what it reads.
  [[nodiscard]] bool may_take(NodeId id, ShapeId shape) const {
    const GraphNode& n = g_.nodes[id];
    if (n.shape == shape || n.op == Op::Reshape) return true;
    if (!is_map(n)) return false;
    for (int i = 0; i < n.n_inputs; ++i) {
      const Dims& source = g_.shape(n.inputs[i].node);
      const Source s = below_views(g_, n.inputs[i], broadcast_map(source.span(), g_.shapes[n.shape].span()));
      if (!folds(g_, s, g_.shapes[n.shape], g_.shapes[shape])) return false;
    }
    return true;
  }

  static Source below_views(const Graph& g, GraphEdge edge, IndexMap map) {
    while (g.nodes[edge.node].op == Op::View) {
      map = compose(g.views[g.nodes[edge.node].payload], map);
      edge = g.nodes[edge.node].inputs[0];
    }
    return {edge, map, g.shape(edge.node)};
  }

  /// True if the memory behind an edge may be addressed under any shape with as many elements, and is worth it: a view
  /// of a small part of something computed is computed by itself.
  static bool is_sequence(const Graph& g, const Source& s, const Dims& view) {
    const GraphNode& n = g.nodes[s.edge.node];
    if (n.op == Op::Input) return g.leaves[n.payload].contiguous;
    return g.count(s.edge.node) <= element_count(view.span());
  }

  static bool folds(const Graph& g, const Source& s, const Dims& from, const Dims& to) {
    if (g.nodes[s.edge.node].op == Op::Iota) return true;
    const std::optional<Folded> f = Folder(s.shape, s.map, from, to).run();
    return f && (squeeze(f->source) == squeeze(s.shape) || is_sequence(g, s, from));
  }

  // --- Forwards ----------------------------------------------------------------------------------------------------

  GraphEdge rewrite(Rewriter& r, GraphNode n, NodeId id) {
    const ShapeId shape = wanted_[id];
    if (shape == kNoId) return {};  // nobody reads it
    if (n.op == Op::Reshape) {
      const Dims from = r.graph().shape(n.inputs[0].node);
      return reshaped(r, n, n.inputs[0], identity_map(from.size()), from, shape);
    }
    if (n.op == Op::Update && !r.graph().updates[n.payload].dense()) n.inputs[0] = as_memory(r, n, n.inputs[0]);
    if (is_call(n.op))
      for (int i = 0; i < n.n_inputs; ++i) n.inputs[i] = as_memory(r, n, n.inputs[i], true);
    if (shape == n.shape) return r.add(n);
    const Dims from = g_.shapes[n.shape];
    for (int i = 0; i < n.n_inputs; ++i) {
      if (r.graph().nodes[n.inputs[i].node].shape == shape) continue;
      const Dims& source = r.graph().shape(n.inputs[i].node);
      n.inputs[i] = reshaped(r, n, n.inputs[i], broadcast_map(source.span(), from.span()), from, shape);
    }
    n.shape = shape;
    return r.add(n);
  }

  /// The base of an update that works on a copy of memory, or an operand of a call. What lies apart is copied by a
  /// view, which stands below a Reshape, because readers look through views for what they show. `aligned`: so is what
  /// does not start where its memory does.
  static GraphEdge as_memory(Rewriter& r, const GraphNode& reader, GraphEdge edge, bool aligned = false) {
    Graph& g = r.graph();
    const ShapeId shape = g.nodes[edge.node].shape;
    if (const Source s = below_views(g, edge, identity_map(g.shapes[shape].size()));
        s.edge.node != edge.node && is_elementwise(s.map, s.shape, g.shapes[shape]))
      edge = sequence(r, reader, s.edge, shape);  // the same elements in the same order
    GraphEdge source = edge;
    while (g.nodes[source.node].op == Op::Reshape) source = g.nodes[source.node].inputs[0];
    const GraphNode n = g.nodes[source.node];
    if (n.op == Op::Input) {
      const LeafLayout& leaf = g.leaves[n.payload];
      if (leaf.contiguous && !(aligned && leaf.offset != 0)) return edge;
      edge = view(r, reader, source, identity_map(g.shapes[n.shape].size()), n.shape, Keep::Leaf);
    }
    if (n.op == Op::Scalar) edge = view(r, reader, source, IndexMap{}, shape);  // of one element: in no memory yet
    const Op op = g.nodes[edge.node].op;
    if (op != Op::View && !(aligned && op == Op::Iota)) return edge;
    GraphNode memory = node_like(reader, Op::Reshape, n.dtype, shape);
    memory.n_inputs = 1;
    memory.inputs[0] = edge;
    return r.add(memory);
  }

  /// `edge`, read through `map` at coordinates of `from`, under another shape. New nodes stand for `like`.
  GraphEdge reshaped(Rewriter& r, const GraphNode& like, GraphEdge edge, const IndexMap& map, const Dims& from,
                     ShapeId to) {
    Graph& g = r.graph();
    const Source s = below_views(g, edge, map);
    const Dims target = g.shapes[to];
    if (const std::optional<Folded> f = Folder(s.shape, s.map, from, target).run()) {
      if (squeeze(f->source) == squeeze(s.shape))
        return view(r, like, s.edge, compose(unit_map(s.shape, f->source), f->map), to);
      if (g.nodes[s.edge.node].op != Op::Iota && is_sequence(g, s, from))
        return view(r, like, sequence(r, like, s.edge, g.intern(f->source)), f->map, to);
    }
    if (g.nodes[s.edge.node].op == Op::Iota) return coordinate(r, like, s, from, to);
    return sequence(r, like, view(r, like, s.edge, s.map, g.intern(from), Keep::Leaf), to);
  }

  enum class Keep : std::uint8_t { Nothing, Leaf };

  /// A view, or the edge itself where the view would show the same. `keep` Leaf: a leaf stays below a view, to be
  /// copied.
  static GraphEdge view(Rewriter& r, const GraphNode& like, GraphEdge source, const IndexMap& map, ShapeId shape,
                        Keep keep = Keep::Nothing) {
    Graph& g = r.graph();
    const bool same = g.nodes[source.node].shape == shape && is_elementwise(map, g.shapes[shape], g.shapes[shape]);
    if (same && !(keep == Keep::Leaf && g.nodes[source.node].op == Op::Input)) return source;
    GraphNode v = node_like(like, Op::View, g.nodes[source.node].dtype, shape);
    v.n_inputs = 1;
    v.inputs[0] = source;
    v.payload = static_cast<std::uint32_t>(g.views.size());
    g.views.push_back(map);
    return r.add(v);
  }

  /// Memory under another shape.
  static GraphEdge sequence(Rewriter& r, const GraphNode& like, GraphEdge source, ShapeId shape) {
    Graph& g = r.graph();
    if (g.nodes[source.node].op == Op::Reshape) source = g.nodes[source.node].inputs[0];
    if (g.nodes[source.node].shape == shape) return source;
    GraphNode n = node_like(like, Op::Reshape, g.nodes[source.node].dtype, shape);
    n.n_inputs = 1;
    n.inputs[0] = source;
    return r.add(n);
  }

  static GraphNode node_like(const GraphNode& like, Op op, Dtype dtype, ShapeId shape) {
    GraphNode n = like;
    n.op = op;
    n.dtype = dtype;
    n.shape = shape;
    n.n_inputs = 0;
    n.payload = kNoId;
    return n;
  }

  // --- Coordinates -------------------------------------------------------------------------------------------------

  /// An iota behind a map, under another shape: start + step * coordinate, the coordinate from the sequence number
  /// within its block. All in int64, exact.
  GraphEdge coordinate(Rewriter& r, const GraphNode& like, const Source& s, const Dims& from, ShapeId to) {
    const std::uint32_t iota_axis = r.graph().nodes[s.edge.node].payload;
    if (iota_axis == kNumberPayload) return element_number(r, like, s, from, to);
    const AxisMap m = s.map[static_cast<int>(iota_axis)];
    if (m.axis < 0 || m.step == 0 || from[m.axis] == 1) return broadcast(r, like, m.start, to);
    const GraphEdge c = block_coordinate(r, like, m.axis, from, to);
    return plus(r, like, times(r, like, c, m.step, to), m.start, to);
  }

  /// The same for row-major numbers: one where the whole is seen in order, else the sum over the axes that move.
  GraphEdge element_number(Rewriter& r, const GraphNode& like, const Source& s, const Dims& from, ShapeId to) {
    if (is_elementwise(s.map, s.shape, from)) return iota(r, like, IotaAttributes::kNumber, to);
    const Dims strides = row_major_strides(s.shape.span());
    std::int64_t start = 0;
    Dims along = Dims::filled(from.size(), 0);  // by how much the number grows
    for (int d = 0; d < s.map.size; ++d) {
      start += s.map[d].start * strides[d];
      if (s.map[d].axis >= 0) along[s.map[d].axis] += s.map[d].step * strides[d];
    }
    GraphEdge sum;
    for (int axis = 0; axis < from.size(); ++axis) {
      if (from[axis] == 1 || along[axis] == 0) continue;
      const GraphEdge part = times(r, like, block_coordinate(r, like, axis, from, to), along[axis], to);
      sum = sum.node == kNoId ? part : map(r, like, Op::Add, sum, part, to);
    }
    return sum.node == kNoId ? broadcast(r, like, start, to) : plus(r, like, sum, start, to);
  }

  GraphEdge block_coordinate(Rewriter& r, const GraphNode& like, int axis, const Dims& from, ShapeId to) {
    const Dims target = r.graph().shapes[to];
    for (const Block& b : match(from, target)) {
      const auto in = std::find(b.from.begin(), b.from.end(), axis);
      if (in == b.from.end()) continue;
      GraphEdge number;  // within the block, row-major
      std::int64_t stride = 1;
      for (std::size_t k = b.to.size(); k-- > 0; stride *= target[b.to[k]]) {
        const GraphEdge part = times(r, like, iota(r, like, b.to[k], to), stride, to);
        number = number.node == kNoId ? part : map(r, like, Op::Add, part, number, to);
      }
      std::int64_t inner = 1;
      for (auto next = in + 1; next != b.from.end(); ++next) inner *= from[*next];
      if (inner != 1) number = map(r, like, Op::FloorDivide, number, scalar(r, like, inner), to);
      if (in != b.from.begin()) number = map(r, like, Op::Remainder, number, scalar(r, like, from[axis]), to);
      return number;
    }
    TARRY_ASSERT(false && "every axis that moves is in a block");
    return {};
  }

  static GraphEdge iota(Rewriter& r, const GraphNode& like, int axis, ShapeId shape) {
    GraphNode n = node_like(like, Op::Iota, Dtype::Int64, shape);
    n.payload = static_cast<std::uint32_t>(axis);
    return r.add(n);
  }

  static GraphEdge scalar(Rewriter& r, const GraphNode& like, std::int64_t value) {
    Graph& g = r.graph();
    GraphNode n = node_like(like, Op::Scalar, Dtype::Int64, g.intern(Dims{}));
    n.payload = static_cast<std::uint32_t>(g.scalars.size());
    ScalarSource source;
    source.kind = ScalarSource::Kind::Constant;
    source.dtype = Dtype::Int64;
    source.constant = ScalarCell::of(value);
    source.known = classify(source.dtype, source.constant);
    g.scalars.push_back(source);
    return r.add(n);
  }

  static GraphEdge broadcast(Rewriter& r, const GraphNode& like, std::int64_t value, ShapeId shape) {
    return view(r, like, scalar(r, like, value), IndexMap{}, shape);
  }

  static GraphEdge map(Rewriter& r, const GraphNode& like, Op op, GraphEdge a, GraphEdge b, ShapeId shape) {
    GraphNode n = node_like(like, op, Dtype::Int64, shape);
    n.n_inputs = 2;
    n.inputs[0] = a;
    n.inputs[1] = b;
    return r.add(n);
  }
  static GraphEdge times(Rewriter& r, const GraphNode& like, GraphEdge a, std::int64_t by, ShapeId shape) {
    return by == 1 ? a : map(r, like, Op::Multiply, a, scalar(r, like, by), shape);
  }
  static GraphEdge plus(Rewriter& r, const GraphNode& like, GraphEdge a, std::int64_t by, ShapeId shape) {
    return by == 0 ? a : map(r, like, Op::Add, a, scalar(r, like, by), shape);
  }

  Graph g_;
  std::vector<ShapeId> wanted_;  // the shape all readers want; kNoId: no reader, kMany: several
  std::vector<bool> keeps_;      // what keeps its shape, whatever readers want
};

}  // namespace

Graph canonical_reshapes(const Graph& g) { return Reshaper(g).run(); }

}  // namespace tarry::graph
