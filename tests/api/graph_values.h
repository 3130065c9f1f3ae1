// The meaning of a Graph of int64 and bool arrays, element by element: the judge of passes that must keep every value.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"
#include "support/check.h"

namespace tarry::test {

class GraphValues {
 public:
  explicit GraphValues(const graph::Graph& g, const graph::Snapshot& s) : g_(g), s_(s), values_(g.nodes.size()) {
    for (graph::NodeId id = 0; id < g.nodes.size(); ++id) values_[id] = compute(id);
  }
  [[nodiscard]] const std::vector<std::int64_t>& of(graph::GraphEdge e) const { return values_[e.node]; }

 private:
  using Values = std::vector<std::int64_t>;
  using Dims = graph::Dims;

  /// Calls body(coordinates, flat) for every element in row-major order.
  template <class Body>
  static void each(const Dims& shape, Body&& body) {
    const std::int64_t count = graph::element_count(shape.span());
    Dims at = Dims::filled(shape.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      body(at, static_cast<std::size_t>(i));
      for (int d = shape.size(); d-- > 0;) {
        if (++at[d] < shape[d]) break;
        at[d] = 0;
      }
    }
  }

  static std::size_t flat(const Dims& shape, const Dims& at) {
    std::int64_t index = 0;
    for (int d = 0; d < shape.size(); ++d) {
      TARRY_ASSERT(at[d] >= 0 && at[d] < shape[d]);
      index = index * shape[d] + at[d];
    }
    return static_cast<std::size_t>(index);
  }

  static Dims through(const graph::IndexMap& map, const Dims& at) {
    Dims source;
    for (int d = 0; d < map.size; ++d)
      source.push_back(map[d].start + (map[d].axis < 0 ? 0 : map[d].step * at[map[d].axis]));
    return source;
  }

  Values compute(graph::NodeId id) const {
    const graph::GraphNode& n = g_.nodes[id];
    const Dims& shape = g_.shape(id);
    Values out(static_cast<std::size_t>(g_.count(id)));
    const auto input = [&](int i) -> const Values& { return values_[n.inputs[i].node]; };
    const auto input_shape = [&](int i) -> const Dims& { return g_.shape(n.inputs[i].node); };
    switch (graph::info(n.op).op_class) {
      case graph::OpClass::Leaf:
        each(shape, [&](const Dims& at, std::size_t i) { out[i] = leaf(n, shape, at); });
        break;
      case graph::OpClass::Scalar: out[0] = scalar(g_.scalars[n.payload]); break;
      case graph::OpClass::Iota:
        each(shape, [&](const Dims& at, std::size_t i) { out[i] = at[static_cast<int>(n.payload)]; });
        break;
      case graph::OpClass::View:
        each(shape, [&](const Dims& at, std::size_t i) {
          out[i] = input(0)[flat(input_shape(0), through(g_.views[n.payload], at))];
        });
        break;
      case graph::OpClass::Reshape: out = input(0); break;
      case graph::OpClass::Update: {
        out = input(0);
        const graph::UpdateAttributes& u = g_.updates[n.payload];
        each(input_shape(1), [&](const Dims& at, std::size_t i) {
          Dims to;
          for (int d = 0; d < at.size(); ++d) to.push_back(u.start[d] + u.step[d] * at[d]);
          out[flat(shape, to)] = input(1)[i];
        });
        break;
      }
      case graph::OpClass::Gather:
        each(shape, [&](const Dims& at, std::size_t i) {
          Dims from = at;
          from[static_cast<int>(n.payload)] = input(1)[i];
          out[i] = input(0)[flat(input_shape(0), from)];
        });
        break;
      case graph::OpClass::Map:
        each(shape, [&](const Dims& at, std::size_t i) {
          std::int64_t v[3] = {};
          for (int k = 0; k < n.n_inputs; ++k) {
            const graph::IndexMap map = graph::broadcast_map(input_shape(k).span(), shape.span());
            v[k] = input(k)[flat(input_shape(k), through(map, at))];
          }
          out[i] = apply(n.op, v);
        });
        break;
      case graph::OpClass::Reduce: {
        TARRY_ASSERT(n.op == graph::Op::Sum);
        const int axis = g_.reduces[n.payload].axis;
        each(input_shape(0), [&](const Dims& at, std::size_t i) {
          Dims kept = at;
          kept.erase(axis);
          out[flat(shape, kept)] += input(0)[i];
        });
        break;
      }
      case graph::OpClass::Library:
        each(shape, [&](const Dims& at, std::size_t i) {
          for (std::int64_t k = 0; k < input_shape(0)[2]; ++k)
            out[i] += input(0)[flat(input_shape(0), {input_shape(0)[0] == 1 ? 0 : at[0], at[1], k})] *
                      input(1)[flat(input_shape(1), {input_shape(1)[0] == 1 ? 0 : at[0], k, at[2]})];
        });
        break;
      case graph::OpClass::Scan: {
        TARRY_ASSERT(n.op == graph::Op::CumulativeSum);
        const int axis = g_.reduces[n.payload].axis;
        each(shape, [&](const Dims& at, std::size_t i) {
          out[i] = input(0)[i];
          if (at[axis] == 0) return;
          Dims before = at;
          --before[axis];
          out[i] += out[flat(shape, before)];
        });
        break;
      }
      case graph::OpClass::Routine:
      case graph::OpClass::Loop:
      case graph::OpClass::Composite: TARRY_ASSERT(false);
    }
    return out;
  }

  [[nodiscard]] std::int64_t leaf(const graph::GraphNode& n, const Dims& shape, const Dims& at) const {
    const graph::LeafLayout& layout = g_.leaves[n.payload];
    const Dims strides = layout.contiguous ? graph::row_major_strides(shape.span()) : layout.strides;
    std::int64_t index = layout.offset;
    for (int d = 0; d < at.size(); ++d) index += at[d] * strides[d];
    const void* data = s_.leaves[n.payload]->buffer->data;
    if (n.dtype == Dtype::Bool) return static_cast<const std::uint8_t*>(data)[index];
    TARRY_ASSERT(n.dtype == Dtype::Int64);
    return static_cast<const std::int64_t*>(data)[index];
  }

  [[nodiscard]] std::int64_t scalar(const graph::ScalarSource& source) const {
    if (source.kind == graph::ScalarSource::Kind::Constant) return source.constant.as<std::int64_t>();
    if (source.kind == graph::ScalarSource::Kind::Cell) return s_.cells[source.cell].as<std::int64_t>();
    std::int64_t v[3] = {};
    for (int i = 0; i < 3; ++i)
      if (source.args[i] != graph::kNoId) v[i] = scalar(g_.scalars[source.args[i]]);
    return apply(source.op, v);
  }

  static std::int64_t apply(graph::Op op, const std::int64_t* v) {
    switch (op) {
      case graph::Op::Add: return v[0] + v[1];
      case graph::Op::Subtract: return v[0] - v[1];
      case graph::Op::Multiply: return v[0] * v[1];
      case graph::Op::FloorDivide: return v[0] / v[1];  // not negative where tests use it
      case graph::Op::Remainder: return v[0] % v[1];
      case graph::Op::Negative: return -v[0];
      case graph::Op::Maximum: return std::max(v[0], v[1]);
      case graph::Op::Where: return v[0] ? v[1] : v[2];
      case graph::Op::Greater: return v[0] > v[1];
      case graph::Op::Cast: return v[0];
      default: TARRY_ASSERT(false && "an op that these tests do not use"); return 0;
    }
  }

  const graph::Graph& g_;
  const graph::Snapshot& s_;
  std::vector<Values> values_;
};

}  // namespace tarry::test
