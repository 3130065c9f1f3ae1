// Graphs made node by node, without recording, and what they give: loops over one node after another, written here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "graph/graph.h"
#include "graph/loops.h"
#include "tests/helpers/test.h"
#include "tests/helpers/visit.h"

namespace tarry::test {

using graph::Dims;
using graph::Graph;
using graph::GraphEdge;
using graph::GraphNode;
using graph::IndexMap;
using graph::kNoId;
using graph::NodeId;
using graph::Op;
using graph::OpClass;

/// Numbers in memory of any dtype; tests use whole numbers that all of them hold.
inline double get(Dtype d, const unsigned char* at) {
  return visit(d == bool_ ? uint8 : d, [&](auto v) {
    std::memcpy(&v, at, sizeof v);
    return static_cast<double>(v);
  });
}
inline void put(Dtype d, unsigned char* at, double value) {
  visit(d == bool_ ? uint8 : d, [&](auto zero) {
    const auto v = static_cast<decltype(zero)>(d == bool_ ? value != 0 : value);
    std::memcpy(at, &v, sizeof v);
  });
}

using Memory = std::vector<unsigned char>;

inline Memory memory_of(Dtype d, const std::vector<double>& values) {
  Memory m(values.size() * itemsize(d));
  for (std::size_t i = 0; i < values.size(); ++i) put(d, &m[i * itemsize(d)], values[i]);
  return m;
}
inline std::vector<double> values_in(Dtype d, const Memory& m) {
  std::vector<double> values(m.size() / itemsize(d));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = get(d, &m[i * itemsize(d)]);
  return values;
}

/// A graph made node by node, with the memory of its leaves.
struct Maker {
  Graph g;
  std::vector<Memory> leaves;

  GraphEdge add(Op op, Dtype d, const Dims& shape, std::vector<GraphEdge> inputs = {}, std::uint32_t payload = kNoId) {
    GraphNode n;
    n.op = op;
    n.dtype = d;
    n.shape = g.intern(shape);
    n.payload = payload;
    n.n_inputs = static_cast<std::uint8_t>(inputs.size());
    std::copy(inputs.begin(), inputs.end(), n.inputs);
    n.origin = static_cast<NodeId>(g.nodes.size());
    g.nodes.push_back(n);
    return {n.origin, 0};
  }
  [[nodiscard]] Dtype dtype(GraphEdge e) const { return g.nodes[e.node].dtype; }
  [[nodiscard]] const Dims& shape(GraphEdge e) const { return g.shape(e.node); }

  /// A contiguous array of -2, -1, 0, 1, 2, 3, ... by a fixed pattern.
  GraphEdge leaf(const Dims& shape, Dtype d = float64, bool donated = false) {
    std::vector<double> values(static_cast<std::size_t>(graph::element_count(shape.span())));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>((i * 7 + leaves.size() * 3) % 6) - (info(d).kind == DtypeKind::UInt ? 0 : 2);
    g.leaves.push_back({0, graph::row_major_strides(shape.span()), true, donated});
    leaves.push_back(memory_of(d, values));
    return add(Op::Input, d, shape, {}, static_cast<std::uint32_t>(leaves.size() - 1));
  }
  /// A leaf that lies in its memory transposed, behind `offset` other elements.
  GraphEdge transposed_leaf(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
    const GraphEdge e = leaf({rows * columns + offset});
    g.leaves.back() = {offset, {1, rows}, false, false};
    g.nodes[e.node].shape = g.intern({rows, columns});
    return e;
  }
  GraphEdge scalar(double value, Dtype d = float64) {
    graph::ScalarSource s;
    s.kind = graph::ScalarSource::Kind::Constant;
    s.dtype = d;
    put(d, s.constant.bytes, value);
    g.scalars.push_back(s);
    return add(Op::Scalar, d, {}, {}, static_cast<std::uint32_t>(g.scalars.size() - 1));
  }
  GraphEdge iota(const Dims& shape, int axis) {
    return add(Op::Iota, int64, shape, {}, static_cast<std::uint32_t>(axis));
  }
  GraphEdge view(GraphEdge x, const IndexMap& map, const Dims& shape) {
    g.views.push_back(map);
    return add(Op::View, dtype(x), shape, {x}, static_cast<std::uint32_t>(g.views.size() - 1));
  }
  GraphEdge broadcast(GraphEdge x, const Dims& to) {
    return view(x, graph::broadcast_map(shape(x).span(), to.span()), to);
  }
  GraphEdge map(Op op, std::vector<GraphEdge> inputs, Dtype d) {
    Dims to;
    for (GraphEdge e : inputs) {
      const Dims& s = shape(e);
      while (to.size() < s.size()) to.insert(0, 1);
      for (int i = 0; i < s.size(); ++i)
        if (s[s.size() - 1 - i] != 1) to[to.size() - 1 - i] = s[s.size() - 1 - i];
    }
    return add(op, d, to, std::move(inputs));
  }
  GraphEdge map(Op op, std::vector<GraphEdge> inputs) {
    const Dtype d = dtype(inputs.back());
    return map(op, std::move(inputs), d);
  }
  GraphEdge reduce(Op op, GraphEdge x, int axis) {
    g.reduces.push_back({axis, 1});
    Dims to = shape(x);
    to.erase(axis);
    return add(op, graph::is_arg_reduce(op) ? int64 : dtype(x), to, {x},
               static_cast<std::uint32_t>(g.reduces.size() - 1));
  }
  GraphEdge scan(Op op, GraphEdge x, int axis) {
    g.reduces.push_back({axis, 1});
    return add(op, dtype(x), shape(x), {x}, static_cast<std::uint32_t>(g.reduces.size() - 1));
  }
  /// The reduced axis again, with extent 1.
  GraphEdge keep(GraphEdge x, int axis) {
    Dims to = shape(x);
    to.insert(axis, 1);
    IndexMap m;
    for (int d = 0; d < shape(x).size(); ++d) m.push_back({d < axis ? d : d + 1, 0, 1});
    return view(x, m, to);
  }
  GraphEdge update(GraphEdge base, GraphEdge value, const Dims& start, Dims step = {}) {
    if (step.empty()) step = Dims::filled(start.size(), 1);
    g.updates.push_back({start, step});
    return add(Op::Update, dtype(base), shape(base), {base, value}, static_cast<std::uint32_t>(g.updates.size() - 1));
  }
  GraphEdge index(GraphEdge i, std::int64_t extent) {
    const GraphEdge n = scalar(static_cast<double>(extent), int64);  // before shape(i), which does not stay in place
    return add(Op::Index, int64, shape(i), {i, n}, graph::IndexAttributes{}.payload());
  }
  GraphEdge gather(GraphEdge x, GraphEdge index, int axis) {
    return add(Op::Gather, dtype(x), shape(index), {x, index}, static_cast<std::uint32_t>(axis));
  }
  GraphEdge reshape(GraphEdge x, const Dims& to) { return add(Op::Reshape, dtype(x), to, {x}); }
};

// --- Loops over nodes ----------------------------------------------------------------------------------------------

/// Calls f(coordinates) in row-major order.
template <class F>
void each(const Dims& shape, F f) {
  Dims at = Dims::filled(shape.size(), 0);
  for (std::int64_t i = 0, n = graph::element_count(shape.span()); i < n; ++i) {
    f(at);
    for (int d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

inline std::size_t flat(const Dims& shape, const Dims& at) {
  std::int64_t i = 0;
  for (int d = 0; d < shape.size(); ++d) i = i * shape[d] + at[d];
  return static_cast<std::size_t>(i);
}

inline double apply(Op op, double a, double b, double c) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Subtract: return a - b;
    case Op::Multiply: return a * b;
    case Op::Maximum: return std::max(a, b);
    case Op::Minimum: return std::min(a, b);
    case Op::Remainder: return b == 0 ? std::nan("") : a - b * std::floor(a / b);
    case Op::Negative: return 0 - a;
    case Op::Abs: return std::abs(a);
    case Op::Less: return a < b ? 1 : 0;
    case Op::Where: return a != 0 ? b : c;
    case Op::Index: return a >= 0 && a < b ? a : a < 0 && a >= -b ? a + b : 0;
    default: return a;  // astype, between dtypes that hold the number
  }
}

inline double reduce_values(Op op, const std::vector<double>& row) {
  double value = op == Op::Prod ? 1 : op == Op::Sum ? 0 : row.at(0);
  std::size_t best = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (op == Op::Sum) value += row[k];
    if (op == Op::Prod) value *= row[k];
    if (op == Op::Max) value = std::max(value, row[k]);
    if (op == Op::Min) value = std::min(value, row[k]);
    if ((op == Op::ArgMax && row[k] > row[best]) || (op == Op::ArgMin && row[k] < row[best])) best = k;
  }
  return graph::is_arg_reduce(op) ? static_cast<double>(best) : value;
}

/// Elements in row-major order, by node; nodes of a loop have those of one level.
using NodeValues = std::vector<std::vector<double>>;

/// A node's elements, from those of its inputs.
inline std::vector<double> value_of(const Maker& m, NodeId id, const NodeValues& all) {
  const Graph& g = m.g;
  const GraphNode& n = g.nodes[id];
  const Dims& shape = g.shape(id);
  const auto input = [&](int i) -> const std::vector<double>& { return all[n.inputs[i].node]; };
  std::vector<double> out;
  switch (graph::info(n.op).op_class) {
    case OpClass::Leaf: {
      const graph::LeafLayout& l = g.leaves[n.payload];
      const std::vector<double> memory = values_in(n.dtype, m.leaves[n.payload]);
      each(shape, [&](const Dims& at) {
        std::int64_t i = l.offset;
        for (int d = 0; d < at.size(); ++d) i += at[d] * l.strides[d];
        out.push_back(memory.at(static_cast<std::size_t>(i)));
      });
      break;
    }
    case OpClass::Scalar: out = {get(n.dtype, g.scalars[n.payload].constant.bytes)}; break;
    case OpClass::Iota:
      each(shape, [&](const Dims& at) { out.push_back(static_cast<double>(at[static_cast<int>(n.payload)])); });
      break;
    case OpClass::View:
      each(shape, [&](const Dims& at) {
        const IndexMap& map = g.views[n.payload];
        Dims from;
        for (int d = 0; d < map.size; ++d)
          from.push_back(map[d].start + (map[d].axis < 0 ? 0 : map[d].step * at[map[d].axis]));
        out.push_back(input(0).at(flat(g.shape(n.inputs[0].node), from)));
      });
      break;
    case OpClass::Reshape: out = input(0); break;
    case OpClass::Update: {
      out = input(0);
      std::size_t i = 0;
      const graph::UpdateAttributes& u = g.updates[n.payload];
      each(g.shape(n.inputs[1].node), [&](const Dims& at) {
        Dims to;
        for (int d = 0; d < at.size(); ++d) to.push_back(u.start[d] + at[d] * u.step[d]);
        out.at(flat(shape, to)) = input(1)[i++];
      });
      break;
    }
    case OpClass::Gather: {
      std::size_t i = 0;
      each(shape, [&](Dims at) {
        at[static_cast<int>(n.payload)] = static_cast<std::int64_t>(input(1)[i++]);
        out.push_back(input(0)[flat(g.shape(n.inputs[0].node), at)]);
      });
      break;
    }
    case OpClass::Map:
      each(shape, [&](const Dims& at) {
        double args[3] = {};
        for (int i = 0; i < n.n_inputs; ++i) {
          const Dims& s = g.shape(n.inputs[i].node);
          Dims from;
          for (int d = 0; d < s.size(); ++d) from.push_back(s[d] == 1 ? 0 : at[at.size() - s.size() + d]);
          args[i] = input(i)[flat(s, from)];
        }
        out.push_back(apply(n.op, args[0], args[1], args[2]));
      });
      break;
    case OpClass::Reduce: {
      const int axis = g.reduces[n.payload].axis;
      const Dims& from = g.shape(n.inputs[0].node);
      each(shape, [&](Dims at) {
        at.insert(axis, 0);
        std::vector<double> row;
        for (; at[axis] < from[axis]; ++at[axis]) row.push_back(input(0)[flat(from, at)]);
        out.push_back(reduce_values(n.op, row));
      });
      break;
    }
    default: FAIL("no such node");
  }
  return out;
}

/// A result of a loop: level after level.
inline std::vector<double> result_of_loop(const Maker& m, NodeId id, NodeValues& all) {
  const Graph& g = m.g;
  const GraphNode& n = g.nodes[id];
  const std::vector<NodeId> level_of = graph::find_loop_levels(g);
  const NodeId level = level_of[id];
  const std::int64_t levels = g.shape(level)[0];
  std::vector<double> out(static_cast<std::size_t>(g.count(id)));
  const auto each_at = [&](NodeId array, std::int64_t k, auto f) {  // f(number in the array, number in the lanes)
    const auto axis = static_cast<int>(g.nodes[array].payload);
    const bool element = g.nodes[array].op == Op::LoopElement;
    const Dims& whole = g.shape(element ? g.nodes[array].inputs[0].node : array);
    std::size_t i = 0;
    Dims lanes = whole;
    lanes.erase(axis);
    each(lanes, [&](Dims at) {
      at.insert(axis, k);
      f(flat(whole, at), i++);
    });
  };
  NodeValues next(g.nodes.size());
  bool ended = false;
  for (std::int64_t step = 0; step < levels && !ended; ++step) {
    const std::int64_t k = g.nodes[level].payload == 0 ? step : levels - 1 - step;
    for (NodeId v = level + 1; v < id; ++v) {
      const GraphNode& node = g.nodes[v];
      if (level_of[v] != level || graph::is_loop_result(node.op)) continue;
      if (node.op == Op::LoopCarry) {
        all[v] = step == 0 ? all[node.inputs[0].node] : next[v];
      } else if (node.op == Op::LoopElement) {
        all[v].assign(static_cast<std::size_t>(g.count(v)), 0);
        each_at(v, k, [&](std::size_t from, std::size_t to) { all[v][to] = all[node.inputs[0].node][from]; });
      } else if (node.op == Op::LoopWhile) {
        ended = std::ranges::none_of(all[node.inputs[0].node], [](double on) { return on != 0; });
      } else if (node.op == Op::LoopNext) {
        next[node.inputs[0].node] = all[node.inputs[1].node];
      } else {
        all[v] = value_of(m, v, all);
      }
    }
    const std::vector<double>& now = all[n.inputs[0].node];
    if (n.op == Op::LoopLast) out = now;
    if (n.op == Op::LoopStack) each_at(id, k, [&](std::size_t to, std::size_t from) { out[to] = now[from]; });
  }
  return out;
}

/// Every node's elements, one node at a time.
inline NodeValues values_of(const Maker& m) {
  const std::vector<NodeId> level_of = graph::find_loop_levels(m.g);
  NodeValues all(m.g.nodes.size());
  for (NodeId id = 0; id < m.g.nodes.size(); ++id) {
    if (graph::is_loop_result(m.g.nodes[id].op))
      all[id] = result_of_loop(m, id, all);
    else if (level_of[id] == graph::kNoId)
      all[id] = value_of(m, id, all);
  }
  return all;
}

}  // namespace tarry::test
