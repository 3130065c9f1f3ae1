// Graph as a model of Boost.Graph's concepts, its verifier and printers. This file and graph.h alone know Boost.Graph.
#include "graph/graph.h"

#include <tarry/half.h>

// g++ 12 sees an uninitialised boost::optional inside Boost.Graph's edge iterator; it is written before it is read.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <sstream>

#include "graph/loops.h"
#include "support/check.h"
#include "support/hash.h"

namespace tarry::graph {

std::size_t Graph::DimsHash::operator()(const Dims& d) const {
  return support::hash_bytes(d.begin(), static_cast<std::size_t>(d.size()) * sizeof(std::int64_t)).lo +
         static_cast<std::size_t>(d.size());
}

ShapeId Graph::intern(const Dims& shape) {
  const auto [it, inserted] = shape_ids_.try_emplace(shape, static_cast<ShapeId>(shapes.size()));
  if (inserted) {
    shapes.push_back(shape);
    counts.push_back(element_count(shape.span()));
  }
  return it->second;
}

Graph Graph::like() const {
  Graph g = *this;
  g.nodes.clear();
  g.nodes.reserve(nodes.size());
  g.roots.clear();
  return g;
}

ScalarClass classify(Dtype dtype, const ScalarCell& cell) {
  const auto of_float = [](auto v) {
    if (v == 1) return ScalarClass::One;
    if (v != 0) return ScalarClass::Other;
    return __builtin_signbit(v) ? ScalarClass::NegativeZero : ScalarClass::Zero;
  };
  switch (dtype) {
    case Dtype::Float16: return of_float(static_cast<float>(Half::from_bits(cell.as<std::uint16_t>())));
    case Dtype::BFloat16: return of_float(static_cast<float>(BFloat16::from_bits(cell.as<std::uint16_t>())));
    case Dtype::Float32: return of_float(cell.as<float>());
    case Dtype::Float64: return of_float(cell.as<double>());
    case Dtype::Complex64:
    case Dtype::Complex128: return ScalarClass::Other;
    default:  // bool and integers: cells are zero-padded
      const auto v = cell.as<std::uint64_t>();
      return v == 0 ? ScalarClass::Zero : v == 1 ? ScalarClass::One : ScalarClass::Other;
  }
}

namespace {

using BoostGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

void check_routine(const Graph& g, NodeId id) {
  const GraphNode& n = g.nodes[id];
  const GraphNode &first = g.nodes[n.inputs[0].node], &last = g.nodes[n.inputs[n.n_inputs - 1].node];
  const Dims &from = g.shapes[first.shape], &with = g.shapes[last.shape], &to = g.shape(id);
  TARRY_ASSERT(n.payload <= 1 && !to.empty());
  if (is_scatter(n.op)) {
    const Dims& index = g.shape(n.inputs[1].node);
    TARRY_ASSERT(from == to && from.size() == 2 && index.size() == 1 && with == (Dims{index[0], from[1]}));
    TARRY_ASSERT(first.dtype == n.dtype && last.dtype == n.dtype && g.nodes[n.inputs[1].node].dtype == int64);
  } else if (n.op == Op::Compact) {
    TARRY_ASSERT(from.size() == 1 && to == Dims{from[0] + 1} && first.dtype == bool_ && n.dtype == int64);
  } else if (is_matrices(n.op)) {
    TARRY_ASSERT(to == matrices_shape(n.op, from, with) && (first.dtype == float32 || first.dtype == float64));
    TARRY_ASSERT(n.payload == 0 && n.dtype == first.dtype && last.dtype == first.dtype);
  } else if (is_sort(n.op)) {
    TARRY_ASSERT(from == to && n.dtype == (n.op == Op::Sort ? first.dtype : Dtype::Int64));
  } else if (n.op == Op::Searchsorted) {
    TARRY_ASSERT(from.size() == 1 && with == to && first.dtype == last.dtype && n.dtype == Dtype::Int64);
  } else if (n.op == Op::Bincount) {
    TARRY_ASSERT(from.size() == 1 && to.size() == 1 && holds_numbers(first.dtype) && n.dtype == Dtype::Int64);
  } else {
    TARRY_ASSERT(is_segments(n.op) && from.size() == 2 && with.size() == 1);
    TARRY_ASSERT(n.payload == 0 ? last.dtype == Dtype::Int64 : holds_numbers(last.dtype));
    TARRY_ASSERT(to.size() == 2 && to[0] == from[0] && n.dtype == first.dtype);
    TARRY_ASSERT(with[0] == (n.payload == 0 ? to[1] + 1 : from[1]));
  }
}

void check_node(const Graph& g, NodeId id) {
  const GraphNode& n = g.nodes[id];
  TARRY_ASSERT(n.shape < g.shapes.size());
  TARRY_ASSERT(n.n_inputs == info(n.op).arity);
  for (int i = 0; i < n.n_inputs; ++i) {
    TARRY_ASSERT(n.inputs[i].node < id);
    TARRY_ASSERT(static_cast<int>(n.inputs[i].output) < output_count(g.nodes[n.inputs[i].node].op));
  }
  switch (info(n.op).op_class) {
    case OpClass::Leaf: TARRY_ASSERT(n.payload < g.leaves.size()); break;
    case OpClass::Scalar:
      TARRY_ASSERT(n.payload < g.scalars.size() && g.shape(id).empty() && g.scalars[n.payload].dtype == n.dtype);
      break;
    case OpClass::Iota:
      TARRY_ASSERT(n.payload == kNumberPayload || n.payload < static_cast<std::uint32_t>(g.shape(id).size()));
      TARRY_ASSERT(n.dtype == Dtype::Int64);
      break;
    case OpClass::View: {
      const Dims& source = g.shape(n.inputs[0].node);
      TARRY_ASSERT(n.payload < g.views.size() && g.views[n.payload].size == source.size());
      for (int d = 0; g.count(id) > 0 && d < source.size(); ++d) {
        const AxisMap& a = g.views[n.payload][d];
        TARRY_ASSERT(a.axis < g.shape(id).size());
        const std::int64_t last = a.axis < 0 ? a.start : a.start + (g.shape(id)[a.axis] - 1) * a.step;
        TARRY_ASSERT(a.start >= 0 && a.start < source[d] && last >= 0 && last < source[d]);
      }
      break;
    }
    case OpClass::Reshape: TARRY_ASSERT(g.count(n.inputs[0].node) == g.count(id)); break;
    case OpClass::Update: {
      TARRY_ASSERT(n.payload < g.updates.size() && g.shape(n.inputs[0].node) == g.shape(id));
      const Dims& box = g.shape(n.inputs[1].node);
      const UpdateAttributes& u = g.updates[n.payload];
      TARRY_ASSERT(box.size() == g.shape(id).size() && u.start.size() == box.size());
      for (int d = 0; d < box.size(); ++d) {
        const std::int64_t last = u.start[d] + (box[d] - 1) * u.step[d], extent = g.shape(id)[d];
        TARRY_ASSERT(box[d] == 0 ||
                     (u.start[d] >= 0 && u.start[d] < extent && last >= 0 && last < extent && u.step[d] != 0));
      }
      break;
    }
    case OpClass::Gather: {
      const auto axis = static_cast<int>(n.payload);
      Dims expected = g.shape(n.inputs[0].node);
      TARRY_ASSERT(axis < expected.size() && g.shape(n.inputs[1].node) == g.shape(id));
      TARRY_ASSERT(g.nodes[n.inputs[1].node].dtype == Dtype::Int64 && g.nodes[n.inputs[0].node].dtype == n.dtype);
      TARRY_ASSERT(g.count(id) == 0 || expected[axis] > 0);
      expected[axis] = g.shape(id)[axis];
      TARRY_ASSERT(expected == g.shape(id));
      break;
    }
    case OpClass::Composite: TARRY_ASSERT(false && "composite ops are recorded as others"); break;
    case OpClass::Map:
      for (int i = 0; i < n.n_inputs; ++i) TARRY_ASSERT(g.shape(n.inputs[i].node).size() <= g.shape(id).size());
      break;
    case OpClass::Library: {
      const Dims &a = g.shape(n.inputs[0].node), &b = g.shape(n.inputs[1].node), &c = g.shape(id);
      TARRY_ASSERT(is_floating(n.dtype) && a.size() == 3 && b.size() == 3 && a[2] == b[1]);
      TARRY_ASSERT((a[0] == b[0] || a[0] == 1 || b[0] == 1) && c == (Dims{std::max(a[0], b[0]), a[1], b[2]}));
      for (int i = 0; i < 2; ++i) TARRY_ASSERT(g.nodes[n.inputs[i].node].dtype == n.dtype);
      break;
    }
    case OpClass::Routine: check_routine(g, id); break;
    case OpClass::Loop: break;  // loops as a whole: see verify()
    case OpClass::Reduce: {
      TARRY_ASSERT(n.payload < g.reduces.size());
      Dims expected = g.shape(n.inputs[0].node);
      expected.erase(g.reduces[n.payload].axis);
      TARRY_ASSERT(expected == g.shape(id));
      break;
    }
    case OpClass::Scan:
      TARRY_ASSERT(n.payload < g.reduces.size() && g.shape(n.inputs[0].node) == g.shape(id));
      TARRY_ASSERT(g.shape(id)[g.reduces[n.payload].axis] > 1 && g.nodes[n.inputs[0].node].dtype == n.dtype);
      break;
  }
}

std::string operands(const GraphNode& n) {
  std::string s;
  for (int i = 0; i < n.n_inputs; ++i) {
    s += fmt::format("{} %{}", i ? "," : "", n.inputs[i].node);
    if (n.inputs[i].output) s += fmt::format(".{}", n.inputs[i].output);
  }
  return s;
}

}  // namespace

std::vector<std::uint32_t> topological_order(const std::vector<std::vector<std::uint32_t>>& predecessors) {
  BoostGraph g(predecessors.size());
  for (std::uint32_t v = 0; v < predecessors.size(); ++v)
    for (std::uint32_t p : predecessors[v]) boost::add_edge(v, p, g);  // reversed, so that the sort comes out forward
  std::vector<std::uint32_t> order;
  order.reserve(predecessors.size());
  try {
    boost::topological_sort(g, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    TARRY_THROW(InternalError, "", Where{}, "the kernels of a plan depend on each other in a cycle");
  }
  return order;
}

void verify(const Graph& g) {
  for (NodeId id = 0; id < g.nodes.size(); ++id) check_node(g, id);
  for (const GraphEdge& r : g.roots) TARRY_ASSERT(r.node < g.nodes.size());
  TARRY_ASSERT(find_broken_loop(g) == nullptr);
}

std::vector<bool> reachable(const Graph& g, NodeId root) {
  std::vector<bool> reached(g.nodes.size());
  reached[root] = true;
  for (NodeId id = root + 1; id-- > 0;)
    for (int i = 0; reached[id] && i < g.nodes[id].n_inputs; ++i) reached[g.nodes[id].inputs[i].node] = true;
  return reached;
}

std::string to_string(const Graph& g) {
  std::string s;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    s += fmt::format("%{} = {} {} {}{}", id, name(n.op), info(n.dtype).suffix, to_string(g.shape(id)), operands(n));
    if (info(n.op).op_class == OpClass::Reduce || is_scan(n.op))
      s += fmt::format(" axis {}", g.reduces[n.payload].axis);
    if (n.op == Op::Gather || n.op == Op::LoopElement || n.op == Op::LoopStack) s += fmt::format(" axis {}", n.payload);
    if (info(n.op).op_class == OpClass::Routine && n.payload != 0) s += " reversed";
    if (n.op == Op::LoopLevel && (n.payload & kFromLast) != 0) s += " reversed";
    if (n.op == Op::LoopLevel && (n.payload & kCombines) != 0) s += " combined";
    if (n.op == Op::Update)
      s += fmt::format(" at {} step {}", to_string(g.updates[n.payload].start), to_string(g.updates[n.payload].step));
    if (n.op == Op::Input) s += fmt::format(" leaf {}", n.payload);
    if (n.op == Op::View) {
      const IndexMap& m = g.views[n.payload];
      s += " [";
      for (int i = 0; i < m.size; ++i)
        s += m[i].axis < 0 ? fmt::format("{}{}", i ? ", " : "", m[i].start)
                           : fmt::format("{}{}+{}*i{}", i ? ", " : "", m[i].start, m[i].step, m[i].axis);
      s += "]";
    }
    s += "\n";
  }
  s += "roots";
  for (const GraphEdge& r : g.roots) s += fmt::format(" %{}{}", r.node, r.output ? fmt::format(".{}", r.output) : "");
  return s + "\n";
}

std::string to_dot(const Graph& g, const std::vector<std::uint32_t>& group_of) {
  BoostGraph b(g.nodes.size());
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    for (int i = 0; i < g.nodes[id].n_inputs; ++i) boost::add_edge(g.nodes[id].inputs[i].node, id, b);
  static constexpr const char* kColours[] = {"#cfe8fc", "#d8f0d0", "#fce8cf", "#ead6f5",
                                             "#f5d6da", "#d6f3f5", "#f3f0c8", "#dddddd"};
  std::ostringstream out;
  boost::write_graphviz(
      out, b,
      [&](std::ostream& o, std::size_t v) {
        const auto id = static_cast<NodeId>(v);
        const GraphNode& n = g.nodes[id];
        o << "[shape=box,label=\"%" << id << " " << name(n.op) << "\\n"
          << info(n.dtype).suffix << " " << to_string(g.shape(id));
        if (n.file) o << "\\n" << n.where().str();
        o << "\"";
        if (id < group_of.size() && group_of[id] != kNoId)
          o << ",style=filled,fillcolor=\"" << kColours[group_of[id] % std::size(kColours)] << "\",xlabel=\"kernel "
            << group_of[id] << "\"";
        const bool root = std::any_of(g.roots.begin(), g.roots.end(), [&](const GraphEdge& r) { return r.node == id; });
        if (root) o << ",penwidth=2";
        o << "]";
      },
      [](std::ostream&, const BoostGraph::edge_descriptor&) {}, [](std::ostream& o) { o << "rankdir=TB;\n"; });
  return out.str();
}

}  // namespace tarry::graph
