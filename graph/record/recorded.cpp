// The rules of recording, op by op.
#include "graph/record/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "graph/loops.h"
#include "graph/record/reductions.h"

namespace tarry::graph {
namespace {

/// A rule that does not hold, in words; nullptr where all do.
using Broken = const char*;

/// True if 0 <= start + i * step < end for all i < count.
bool stays_within(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t end) {
  std::int64_t way = 0, last = 0;
  if (__builtin_mul_overflow(step, count - 1, &way) || __builtin_add_overflow(start, way, &last)) return false;
  return std::min(start, last) >= 0 && std::max(start, last) < end;
}

/// True if an op computes on inputs of `dtype`.
bool takes(Op op, Dtype dtype) {
  if (!tarry::info(dtype).available) return false;
  const bool is_bool = dtype == bool_;
  switch (info(op).rule) {
    case DtypeRule::Same: return !is_bool;
    case DtypeRule::Float: return is_floating(dtype);
    case DtypeRule::Bool: return !is_bool || op == Op::Equal || op == Op::NotEqual;
    case DtypeRule::Logical: return is_bool;
    case DtypeRule::Integer: return !is_bool && !is_floating(dtype);
    case DtypeRule::Bits: return !is_floating(dtype);
    case DtypeRule::Draw:
    case DtypeRule::Special: return true;
  }
  return false;
}

class Judge {
 public:
  explicit Judge(const Graph& g) : g_(g), named_(g.leaves.size()) {}

  std::string run() {
    for (id_ = 0; id_ < g_.nodes.size(); ++id_) {
      const GraphNode& n = g_.nodes[id_];
      Broken broken = edges(n);
      if (!broken) broken = node(n);
      if (broken) return fmt::format("node {} ({}): {}", id_, name(n.op), broken);
    }
    if (std::find(named_.begin(), named_.end(), false) != named_.end()) return "a leaf that no node names";
    if (g_.roots.empty()) return "there are no roots";
    for (const GraphEdge& root : g_.roots)
      if (Broken broken = edge(root)) return fmt::format("a root: {}", broken);
    if (Broken broken = find_broken_loop(g_)) return broken;
    return "";
  }

 private:
  [[nodiscard]] const GraphNode& input(const GraphNode& n, int i) const { return g_.nodes[n.inputs[i].node]; }
  [[nodiscard]] const Dims& shape_of(const GraphNode& n) const { return g_.shapes[n.shape]; }
  [[nodiscard]] std::int64_t count_of(const GraphNode& n) const { return g_.counts[n.shape]; }

  /// An edge to a node before the present one.
  [[nodiscard]] Broken edge(const GraphEdge& e) const {
    if (e.node >= id_) return "an edge to a node that does not come before";
    if (e.output >= static_cast<std::uint32_t>(output_count(g_.nodes[e.node].op)))
      return "an edge to an output that there is not";
    return nullptr;
  }
  [[nodiscard]] Broken edges(const GraphNode& n) const {
    if (n.n_inputs != info(n.op).arity) return "another number of inputs than the op has";
    for (int i = 0; i < n.n_inputs; ++i)
      if (Broken broken = edge(n.inputs[i])) return broken;
    return tarry::info(n.dtype).available ? nullptr : "a dtype that no kernel computes in";
  }

  Broken node(const GraphNode& n) {
    switch (info(n.op).op_class) {
      case OpClass::Leaf: return leaf(n);
      case OpClass::Scalar: return shape_of(n).empty() ? nullptr : "a number that has dimensions";
      case OpClass::Iota: return iota(n);
      case OpClass::View: return view(n);
      case OpClass::Reshape:
        if (n.dtype != input(n, 0).dtype) return "another dtype than its input";
        return count_of(n) == count_of(input(n, 0)) ? nullptr : "another number of elements than its input";
      case OpClass::Update: return update(n);
      case OpClass::Gather: return gather(n);
      case OpClass::Map: return map(n);
      case OpClass::Reduce: return reduce(n);
      case OpClass::Scan: return scan(n);
      case OpClass::Library: return product(n);
      case OpClass::Routine: return routine(n);
      case OpClass::Loop: return nullptr;  // loops as a whole: see run()
      case OpClass::Composite: break;
    }
    return "an op that is recorded as others";
  }

  /// In memory that there can be, each leaf of one node.
  Broken leaf(const GraphNode& n) {
    if (named_[n.payload]) return "a leaf that another node names";
    named_[n.payload] = true;
    const LeafLayout& layout = g_.leaves[n.payload];
    const Dims& shape = shape_of(n);
    const std::int64_t most = Graph::kUnaddressable / static_cast<std::int64_t>(itemsize(n.dtype));
    if (layout.strides.size() != shape.size()) return "strides of another rank";
    if (count_of(n) >= most || layout.offset < 0 || layout.offset >= most) return "more memory than there is";
    if (count_of(n) == 0) return layout.strides == row_major_strides(shape.span()) ? nullptr : "strides of nothing";
    std::int64_t low = layout.offset, high = layout.offset;
    for (int d = 0; d < shape.size(); ++d) {
      std::int64_t way = 0;
      if (__builtin_mul_overflow(layout.strides[d], shape[d] - 1, &way) || way >= most || way <= -most)
        return "strides that leave all memory";
      if (shape[d] == 1 && (layout.strides[d] >= most || layout.strides[d] <= -most))
        return "strides that leave all memory";
      (way < 0 ? low : high) += way;  // at most kMaxRank such terms: far from int64's ends
    }
    return low >= 0 && high < most ? nullptr : "elements before or beyond their memory";
  }

  [[nodiscard]] Broken iota(const GraphNode& n) const {
    if (n.dtype != int64) return "coordinates that are not int64";
    if (n.payload == kNumberPayload) return nullptr;
    return n.payload < static_cast<std::uint32_t>(shape_of(n).size()) ? nullptr : "an axis out of range";
  }

  [[nodiscard]] Broken view(const GraphNode& n) const {
    const Dims &source = shape_of(input(n, 0)), &shape = shape_of(n);
    const IndexMap& map = g_.views[n.payload];
    if (n.dtype != input(n, 0).dtype) return "another dtype than its input";
    if (map.size != source.size()) return "a map of another rank than its input";
    const bool empty = count_of(n) == 0;
    for (int d = 0; d < map.size; ++d) {
      const AxisMap& a = map[d];
      if (a.axis < -1 || a.axis >= shape.size()) return "an axis out of range";
      const std::int64_t count = a.axis < 0 ? 1 : shape[a.axis];
      if (count <= 1 && a.step != 0 && a.step != 1 && a.step != -1) return "a step where there is nothing to step to";
      // Nothing is read of an empty one; it may begin where its input ends.
      const std::int64_t end = empty ? source[d] + 1 : source[d];
      if (!stays_within(a.start, a.step, std::max<std::int64_t>(count, 1), end)) return "a map that leaves its input";
    }
    return nullptr;
  }

  [[nodiscard]] Broken update(const GraphNode& n) const {
    const Dims &shape = shape_of(n), &box = shape_of(input(n, 1));
    const UpdateAttributes& u = g_.updates[n.payload];
    if (n.dtype != input(n, 0).dtype || n.dtype != input(n, 1).dtype) return "another dtype than its inputs";
    if (shape_of(input(n, 0)) != shape) return "another shape than its base";
    if (box.size() != shape.size() || u.start.size() != box.size() || u.step.size() != box.size())
      return "a box of another rank than its base";
    const bool empty = count_of(input(n, 1)) == 0;
    for (int d = 0; d < box.size(); ++d) {
      if (u.step[d] < 1 || (box[d] <= 1 && u.step[d] > std::max<std::int64_t>(shape[d], 1)))
        return "a step that no box has";
      const std::int64_t end = empty ? shape[d] + 1 : shape[d];  // nothing is written; it may begin where its base ends
      if (!stays_within(u.start[d], u.step[d], std::max<std::int64_t>(box[d], 1), end))
        return "a box that leaves its base";
    }
    return nullptr;
  }

  [[nodiscard]] Broken gather(const GraphNode& n) const {
    Dims shape = shape_of(input(n, 0));
    if (n.dtype != input(n, 0).dtype || input(n, 1).dtype != int64) return "dtypes that the op does not take";
    if (n.payload >= static_cast<std::uint32_t>(shape.size())) return "an axis out of range";
    const auto axis = static_cast<int>(n.payload);
    if (shape_of(n).size() != shape.size() || shape_of(input(n, 1)) != shape_of(n)) return "indices of another shape";
    if (count_of(n) > 0 && shape[axis] == 0) return "nothing to take from";
    shape[axis] = shape_of(n)[axis];
    return shape == shape_of(n) ? nullptr : "another shape than its input but for the axis";
  }

  [[nodiscard]] Broken map(const GraphNode& n) const {
    Dims shape;  // what the inputs broadcast to
    for (int i = 0; i < n.n_inputs; ++i) {
      const Dims& s = shape_of(input(n, i));
      while (shape.size() < s.size()) shape.insert(0, 1);
      for (int d = 0; d < s.size(); ++d)
        if (s[s.size() - 1 - d] != 1) shape[shape.size() - 1 - d] = s[s.size() - 1 - d];
    }
    if (shape != shape_of(n)) return "another shape than its inputs broadcast to";
    for (int i = 0; i < n.n_inputs; ++i)
      if (!broadcasts(shape_of(input(n, i)).span(), shape.span())) return "shapes that do not broadcast";
    return dtypes(n);
  }

  [[nodiscard]] Broken dtypes(const GraphNode& n) const {
    constexpr Broken kOther = "dtypes that the op does not take";
    if (info(n.op).rule == DtypeRule::Draw) return drawn(n) ? nullptr : kOther;
    if (n.op == Op::Cast) return nullptr;
    if (n.op == Op::Index)
      return n.dtype == int64 && input(n, 0).dtype == int64 && input(n, 1).dtype == int64 &&
                     input(n, 1).op == Op::Scalar
                 ? nullptr
                 : kOther;
    const int first = n.op == Op::Where ? 1 : 0;
    if (first == 1 && input(n, 0).dtype != bool_) return "a condition that is not bool";
    const Dtype common = input(n, first).dtype;
    for (int i = first; i < n.n_inputs; ++i)
      if (input(n, i).dtype != common) return "inputs of different dtypes";
    if (!takes(n.op, common)) return kOther;
    return n.dtype == (info(n.op).rule == DtypeRule::Bool ? bool_ : common) ? nullptr
                                                                            : "another dtype than the op gives";
  }

  /// As graph/record/random.cpp records them.
  [[nodiscard]] bool drawn(const GraphNode& n) const {
    const auto is_word = [](Dtype d) { return d == uint32 || d == uint64; };
    const Dtype given = input(n, 0).dtype;
    switch (n.op) {
      case Op::RandomBits:
        return given == int64 && input(n, 1).dtype == uint64 && input(n, 2).dtype == uint32 && is_word(n.dtype) &&
               shape_of(input(n, 0)) == shape_of(n);
      case Op::MultiplyHigh: return is_word(given) && input(n, 1).dtype == given && n.dtype == given;
      default: return is_floating(n.dtype) && given == (n.dtype == float64 ? uint64 : uint32);
    }
  }

  [[nodiscard]] Broken reduce(const GraphNode& n) const {
    const ReduceAttributes& a = g_.reduces[n.payload];
    const Dims& from = shape_of(input(n, 0));
    const Dtype dtype = input(n, 0).dtype;
    if (a.axis < 0 || a.axis >= from.size()) return "an axis out of range";
    if (dtype == bool_ || accumulator(n.op, dtype) != dtype) return "a dtype that is not accumulated in";
    const bool moments = n.op == Op::Moments || n.op == Op::MomentsMerge;
    if (moments && !is_floating(dtype)) return "a dtype that is not accumulated in";
    if (n.dtype != (is_arg_reduce(n.op) ? int64 : dtype)) return "another dtype than the op gives";
    if (from[a.axis] == 0 && n.op != Op::Sum && n.op != Op::Prod) return "nothing has no such value";
    if (n.op == Op::MomentsMerge) {
      std::int64_t all = 0;
      if (input(n, 1).dtype != dtype || shape_of(input(n, 1)) != from)
        return "means and deviations of different arrays";
      if (a.weight < 1 || __builtin_mul_overflow(a.weight, from[a.axis], &all))
        return "a weight that no number of elements is";
    }
    Dims kept = from;
    kept.erase(a.axis);
    return kept == shape_of(n) ? nullptr : "another shape than is left";
  }

  [[nodiscard]] Broken scan(const GraphNode& n) const {
    const std::int32_t axis = g_.reduces[n.payload].axis;
    const Dims& shape = shape_of(n);
    const Dtype dtype = input(n, 0).dtype;
    if (axis < 0 || axis >= shape.size()) return "an axis out of range";
    if (shape_of(input(n, 0)) != shape || n.dtype != dtype) return "another shape or dtype than its input";
    if (dtype == bool_ || accumulator(n.op, dtype) != dtype) return "a dtype that is not accumulated in";
    return shape[axis] > 1 && count_of(n) > 0 ? nullptr : "fewer than two elements to go along";
  }

  [[nodiscard]] Broken scatter(const GraphNode& n) const {
    const Dims &index = shape_of(input(n, 1)), &to = shape_of(n);
    const bool adds = n.op == Op::ScatterAdd || n.op == Op::ScatterMultiply;
    if (input(n, 1).dtype != int64 || input(n, 2).dtype != n.dtype) return "dtypes that the op does not take";
    if ((n.op != Op::ScatterSet && n.dtype == bool_) || (adds && is_floating(n.dtype)))
      return "dtypes that the op does not take";
    if (shape_of(input(n, 0)) != to || to.size() != 2 || index.size() != 1 || count_of(n) == 0 || index[0] == 0)
      return "shapes that the op does not take";
    return shape_of(input(n, 2)) == Dims{index[0], to[1]} ? nullptr : "shapes that the op does not take";
  }

  [[nodiscard]] Broken routine(const GraphNode& n) const {
    const Dims &from = shape_of(input(n, 0)), &with = shape_of(input(n, n.n_inputs - 1)), &to = shape_of(n);
    const Dtype given = input(n, 0).dtype, second = input(n, n.n_inputs - 1).dtype;
    constexpr Broken kDtypes = "dtypes that the op does not take", kShapes = "shapes that the op does not take";
    const bool keeps = n.op == Op::Sort || is_segments(n.op) || is_scatter(n.op) || is_matrices(n.op);
    if (n.payload > 1) return "a way that there is not";
    if (n.dtype != (keeps ? given : int64)) return kDtypes;
    if (n.op == Op::Compact)
      return given != bool_ ? kDtypes : from.size() == 1 && from[0] > 0 && to == Dims{from[0] + 1} ? nullptr : kShapes;
    if (is_scatter(n.op)) return scatter(n);
    if (is_matrices(n.op)) {
      if ((given != float32 && given != float64) || second != given || n.payload != 0) return kDtypes;
      return count_of(n) > 0 && to == matrices_shape(n.op, from, with) ? nullptr : kShapes;
    }
    if (is_sort(n.op)) return !to.empty() && from == to ? nullptr : kShapes;
    if (n.op == Op::Searchsorted)
      return given != second ? kDtypes : from.size() == 1 && !to.empty() && with == to ? nullptr : kShapes;
    if (n.op == Op::Bincount)
      return !holds_numbers(given) ? kDtypes : from.size() == 1 && to.size() == 1 ? nullptr : kShapes;
    if (second != int64 || given == bool_ || accumulator(Op::Sum, given) != given) return kDtypes;
    if (n.op == Op::SegmentM2 && !is_floating(given)) return kDtypes;
    const bool fits = from.size() == 2 && with.size() == 1 && with[0] > 0;
    return fits && to == Dims{from[0], with[0] - 1} ? nullptr : kShapes;
  }

  [[nodiscard]] Broken product(const GraphNode& n) const {
    const Dims &a = shape_of(input(n, 0)), &b = shape_of(input(n, 1));
    if (!is_floating(n.dtype) || input(n, 0).dtype != n.dtype || input(n, 1).dtype != n.dtype)
      return "dtypes that the op does not take";
    if (a.size() != 3 || b.size() != 3 || a[2] != b[1] || (a[0] != b[0] && a[0] != 1 && b[0] != 1))
      return "shapes that have no product";
    return shape_of(n) == Dims{std::max(a[0], b[0]), a[1], b[2]} ? nullptr : "another shape than the product has";
  }

  const Graph& g_;
  std::vector<bool> named_;  // by leaf
  NodeId id_ = 0;            // of the node that is looked at; behind the last one for roots
};

}  // namespace

std::string why_not_recorded(const Graph& g) { return Judge(g).run(); }

}  // namespace tarry::graph
