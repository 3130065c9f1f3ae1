// simplify and fold: the closed list of strict rewrites. One rule per line, its proof beside it.
//
// A rule may look at dtypes, shapes, structure and ScalarClass, never at a value. Floats: "any NaN equals any NaN".
#include <optional>

#include "graph/passes/overlap.h"
#include "graph/passes/passes.h"

namespace tarry::graph {
namespace {

/// The scalar class of an edge: of a Scalar, or of a view that broadcasts one; Other for anything else.
ScalarClass known(const Graph& g, GraphEdge e) {
  const GraphNode* n = &g.nodes[e.node];
  if (n->op == Op::View) n = &g.nodes[n->inputs[0].node];
  return n->op == Op::Scalar ? g.scalars[n->payload].known : ScalarClass::Other;
}

bool is_identity(const Graph& g, const GraphNode& view) {
  const Dims& source = g.shape(view.inputs[0].node);
  if (!(source == g.shapes[view.shape])) return false;
  const IndexMap& m = g.views[view.payload];
  for (int i = 0; i < m.size; ++i) {
    const bool unit = source[i] == 1 && m[i].start == 0;
    if (!unit && !(m[i].axis == i && m[i].start == 0 && m[i].step == 1)) return false;
  }
  return true;
}

GraphNode view_of(Rewriter& r, const GraphNode& like, GraphEdge source, const IndexMap& map) {
  GraphNode v = like;
  v.op = Op::View;
  v.dtype = r.graph().nodes[source.node].dtype;
  v.n_inputs = 1;
  v.inputs[0] = source;
  v.payload = static_cast<std::uint32_t>(r.graph().views.size());
  r.graph().views.push_back(map);
  return v;
}

/// `source` as the result of `n`: itself where the shapes are equal, else broadcast to n's shape.
GraphEdge as_result(Rewriter& r, const GraphNode& n, GraphEdge source) {
  Graph& g = r.graph();
  if (g.nodes[source.node].shape == n.shape) return source;
  return r.add(view_of(r, n, source, broadcast_map(g.shape(source.node).span(), g.shapes[n.shape].span())));
}

/// Updates and views passed through for one node: a bound on the work for long chains of updates.
constexpr int kHops = 32;

/// The coordinates along dimension d of its source that a view reads.
Progression read_along(const IndexMap& map, int d, const Dims& view) {
  const AxisMap& m = map[d];
  return {m.start, m.step, m.axis < 0 ? 1 : view[m.axis]};
}

/// The coordinates along dimension d that an update writes.
Progression written_along(const Graph& g, const GraphNode& update, int d) {
  const UpdateAttributes& u = g.updates[update.payload];
  return {u.start[d], u.step[d], g.shape(update.inputs[1].node)[d]};
}

/// A view of an update, past it: of the base where it misses the box, of the value where it stays inside. Moves only.
bool pass_update(Rewriter& r, GraphNode& view) {
  Graph& g = r.graph();
  const GraphNode update = g.nodes[view.inputs[0].node];
  const Dims shape = g.shapes[view.shape];
  IndexMap map = g.views[view.payload];
  bool inside = true;
  for (int d = 0; d < map.size; ++d) {
    const Progression read = read_along(map, d, shape), written = written_along(g, update, d);
    if (!overlap(read, written)) {
      view.inputs[0] = update.inputs[0];
      return true;
    }
    inside = inside && contains(written, read);
  }
  if (!inside) return false;
  for (int d = 0; d < map.size; ++d) {
    const Progression read = read_along(map, d, shape), written = written_along(g, update, d);
    const std::int64_t start = (read.start - written.start) / written.step;
    map[d] = read.count == 1 ? AxisMap{-1, start, 0} : AxisMap{map[d].axis, start, read.step / written.step};
  }
  view = view_of(r, view, update.inputs[1], map);
  return true;
}

GraphEdge simplify_view(Rewriter& r, GraphNode n) {
  Graph& g = r.graph();
  for (int hops = 0; hops < kHops; ++hops) {
    const GraphNode source = g.nodes[n.inputs[0].node];
    if (source.op == Op::View) {  // moves bits only; index maps compose exactly
      const IndexMap composed = compose(g.views[source.payload], g.views[n.payload]);
      n = view_of(r, n, source.inputs[0], composed);
    } else if (source.op != Op::Update || !pass_update(r, n)) {
      break;
    }
  }
  if (is_identity(g, n)) return n.inputs[0];
  return r.add(n);
}

/// True if update `a` writes all that update `b` of the same shape writes.
bool covers(const Graph& g, const GraphNode& a, const GraphNode& b) {
  for (int d = 0; d < g.shapes[a.shape].size(); ++d)
    if (!contains(written_along(g, a, d), written_along(g, b, d))) return false;
  return true;
}

GraphEdge simplify_update(Rewriter& r, GraphNode n) {
  Graph& g = r.graph();
  const Dims& box = g.shape(n.inputs[1].node);
  if (g.count(n.inputs[1].node) == 0) return n.inputs[0];  // nothing is written
  bool whole = true;
  for (int d = 0; d < box.size(); ++d)
    whole = whole && contains(written_along(g, n, d), {0, 1, g.shapes[n.shape][d]}) && g.updates[n.payload].step[d] > 0;
  if (whole) return n.inputs[1];  // everything is written, in order
  for (int hops = 0; hops < kHops && g.nodes[n.inputs[0].node].op == Op::Update; ++hops) {
    const GraphNode& inner = g.nodes[n.inputs[0].node];
    if (!covers(g, n, inner)) break;
    n.inputs[0] = inner.inputs[0];  // what it wrote is written over
  }
  return r.add(n);
}

/// A reduction over one element: R(1) is the element; the moments of one element are (y, 0).
GraphEdge simplify_reduce(Rewriter& r, const GraphNode& n) {
  Graph& g = r.graph();
  const Dims& source = g.shape(n.inputs[0].node);
  const int axis = g.reduces[n.payload].axis;
  const bool gives_element = output_count(n.op) == 1 && !is_arg_reduce(n.op);
  if (!gives_element || source[axis] != 1) return r.add(n);
  IndexMap map;
  for (int i = 0, out = 0; i < source.size(); ++i) map.push_back(i == axis ? AxisMap{-1, 0, 0} : AxisMap{out++, 0, 1});
  return simplify_view(r, view_of(r, n, n.inputs[0], map));
}

/// `a` without a minus sign, where it has one that a product hands on: -x, or a product with a factor -x.
std::optional<GraphEdge> without_minus(Rewriter& r, GraphEdge a, Mode mode) {
  const Graph& g = r.graph();
  const GraphNode n = g.nodes[a.node];
  if (n.mode != mode) return {};
  if (n.op == Op::Negative) return n.inputs[0];
  if (n.op != Op::Multiply) return {};
  for (const int i : {0, 1}) {
    const GraphNode& factor = g.nodes[n.inputs[i].node];
    if (factor.op != Op::Negative || factor.mode != mode) continue;
    GraphNode product = n;
    product.inputs[i] = factor.inputs[0];
    return r.add(product);
  }
  return {};
}

GraphEdge simplify_map(Rewriter& r, const GraphNode& n) {
  Graph& g = r.graph();
  const GraphEdge a = n.inputs[0], b = n.inputs[1], c = n.inputs[2];
  const bool floating = is_floating(n.dtype);
  const auto scalar = [&](GraphEdge e, ScalarClass k) { return known(g, e) == k; };
  const auto made_by = [&](GraphEdge e, Op op) { return g.nodes[e.node].op == op && g.nodes[e.node].mode == n.mode; };
  const auto input_of = [&](GraphEdge e) { return g.nodes[e.node].inputs[0]; };
  const auto same = [&](GraphEdge x, GraphEdge y) { return x == y; };
  const ScalarClass nothing = floating ? ScalarClass::NegativeZero : ScalarClass::Zero;
  switch (n.op) {
    case Op::Add:
      if (scalar(b, nothing)) return as_result(r, n, a);  // x + -0 is x for every x, -0 included; x + 0 is not (-0)
      if (scalar(a, nothing)) return as_result(r, n, b);
      if (made_by(b, Op::Negative)) {  // x + -y is x - y by definition; integers wrap alike
        GraphNode m = n;
        m.op = Op::Subtract;
        m.inputs[1] = input_of(b);
        return r.add(m);
      }
      break;
    case Op::Subtract:
      if (scalar(b, ScalarClass::Zero)) return as_result(r, n, a);  // x - +0 is x for every x: -0 - +0 = -0
      break;
    case Op::Multiply:
      if (scalar(b, ScalarClass::One)) return as_result(r, n, a);  // x * 1 is x, signed zeros and infinities included
      if (scalar(a, ScalarClass::One)) return as_result(r, n, b);
      break;
    case Op::Divide:
      if (scalar(b, ScalarClass::One)) return as_result(r, n, a);  // x / 1 is x
      break;
    case Op::FloorDivide:
      if (!floating && scalar(b, ScalarClass::One)) return as_result(r, n, a);  // integers only: float floors
      break;
    case Op::Negative:
      if (made_by(a, Op::Negative)) return input_of(a);  // flips the sign bit twice; integers wrap twice
      break;
    case Op::Abs:
      if (made_by(a, Op::Abs)) return a;                                        // idempotent
      if (made_by(a, Op::Negative) && info(n.dtype).kind != DtypeKind::UInt) {  // |-x| = |x|; INT_MIN wraps alike
        GraphNode m = n;
        m.inputs[0] = input_of(a);
        return r.add(m);
      }
      break;
    case Op::Erf:
      // erf(-x) is -erf(x): every implementation computes with |x| or in odd powers and puts the sign on at the end;
      // and
      // (-x) * y is -(x * y), since rounding to nearest is symmetric.
      if (const std::optional<GraphEdge> positive = without_minus(r, a, n.mode)) {
        GraphNode m = n;
        m.inputs[0] = *positive;
        GraphNode minus = n;
        minus.op = Op::Negative;
        minus.inputs[0] = r.add(m);
        return r.add(minus);
      }
      break;
    case Op::LogicalNot:
      if (made_by(a, Op::LogicalNot)) return input_of(a);  // bool is 0 or 1
      break;
    case Op::Minimum:
    case Op::Maximum:
    case Op::LogicalAnd:
    case Op::LogicalOr:
      if (same(a, b)) return as_result(r, n, a);  // idempotent, NaN stays NaN
      break;
    case Op::Where:
      if (same(b, c)) return as_result(r, n, b);  // moves the same bits either way
      break;
    case Op::Cast:
      if (g.nodes[a.node].dtype == n.dtype) return a;  // no conversion
      break;
    default: break;
  }
  return r.add(n);
}

/// The last place that an iota names, also behind views; none of anything else.
std::optional<std::int64_t> last_coordinate(const Graph& g, GraphEdge e) {
  while (g.nodes[e.node].op == Op::View) e = g.nodes[e.node].inputs[0];
  const GraphNode& n = g.nodes[e.node];
  if (n.op != Op::Iota || n.payload == kNumberPayload) return std::nullopt;
  return g.shape(e.node)[static_cast<int>(n.payload)] - 1;
}

/// True if places are coordinates, or sums of two, none of which is `extent` or more.
bool lies_within(const Graph& g, GraphEdge places, std::int64_t extent) {
  const GraphNode& n = g.nodes[places.node];
  if (n.op != Op::Add) return last_coordinate(g, places).value_or(extent) < extent;
  const auto a = last_coordinate(g, n.inputs[0]), b = last_coordinate(g, n.inputs[1]);
  return a && b && *a < extent && *b < extent - *a;
}

/// A gather whose places lie in the array by their extents needs no check: an Index gives what it is given then.
GraphEdge simplify_gather(Rewriter& r, GraphNode n) {
  Graph& g = r.graph();
  const std::int64_t extent = g.shape(n.inputs[0].node)[static_cast<int>(n.payload)];
  const GraphNode above = g.nodes[n.inputs[1].node];
  const GraphEdge index = above.op == Op::View ? above.inputs[0] : n.inputs[1];
  if (g.nodes[index.node].op != Op::Index) return r.add(n);
  const GraphEdge places = g.nodes[index.node].inputs[0];
  if (!lies_within(g, places, extent)) return r.add(n);
  n.inputs[1] = above.op == Op::View ? r.add(view_of(r, above, places, g.views[above.payload])) : places;
  return r.add(n);
}

/// The Scalar behind an edge: the node itself, or what a view broadcasts. kNoId where there is none.
NodeId scalar_behind(const Graph& g, GraphEdge e) {
  NodeId id = e.node;
  if (g.nodes[id].op == Op::View) id = g.nodes[id].inputs[0].node;
  return g.nodes[id].op == Op::Scalar ? id : kNoId;
}

}  // namespace

Graph simplify(const Graph& g) {
  return Rewriter(g).run([](Rewriter& r, const GraphNode& n) {
    switch (info(n.op).op_class) {
      case OpClass::View: return simplify_view(r, n);
      case OpClass::Update: return simplify_update(r, n);
      case OpClass::Reduce: return simplify_reduce(r, n);
      case OpClass::Map: return simplify_map(r, n);
      case OpClass::Gather: return simplify_gather(r, n);
      default: return r.add(n);
    }
  });
}

Graph fold(const Graph& g) {
  return Rewriter(g).run([](Rewriter& r, const GraphNode& n) {
    Graph& to = r.graph();
    const OpInfo& op = info(n.op);
    if (op.op_class != OpClass::Map || op.ulp32 != 0 || op.ulp64 != 0 || !is_pure(n.op)) return r.add(n);
    ScalarSource source;
    source.kind = ScalarSource::Kind::Compute;
    source.op = n.op;
    source.dtype = n.dtype;
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId s = scalar_behind(to, n.inputs[i]);
      if (s == kNoId) return r.add(n);
      source.args[i] = to.nodes[s].payload;
      source.input = to.nodes[s].dtype;  // the last operand's: Where reads its values' dtype, not the condition's
    }
    GraphNode scalar = n;
    scalar.op = Op::Scalar;
    scalar.n_inputs = 0;
    scalar.shape = to.intern(Dims{});
    scalar.payload = static_cast<std::uint32_t>(to.scalars.size());
    to.scalars.push_back(source);
    return as_result(r, n, r.add(scalar));
  });
}

}  // namespace tarry::graph
