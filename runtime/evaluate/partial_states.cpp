// States combine by ordinary elementwise operations, recorded and evaluated pair by pair.
#include "runtime/evaluate/partial_states.h"

#include <algorithm>
#include <bit>

#include "graph/fusion/trace.h"
#include "graph/slices/chunking.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

using graph::Edge;
using graph::Op;

constexpr std::int64_t kTreeBlock = 128;  // elements of a block of tree R
constexpr int kTreeLanes = 32;

}  // namespace

std::int64_t PartialStates::chunk_length(std::int64_t most) {
  return most < kTreeBlock
             ? 0
             : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most / kTreeBlock))) * kTreeBlock;
}

std::vector<std::int64_t> PartialStates::ends(std::int64_t n, std::int64_t chunk) {
  std::vector<std::int64_t> ends;
  for (std::int64_t end = chunk; end <= n; end += chunk) ends.push_back(end);
  const std::int64_t rest = ends.empty() ? n : n - ends.back();
  if (rest == 0) return ends;
  // Up to 32 elements alone reduce from left to right, as part of a longer axis in lanes.
  const bool alone = ends.empty() || rest > graph::kUncut;
  for (std::int64_t end = alone ? n : n - rest + 1; end <= n; ++end) ends.push_back(end);
  return ends;
}

PartialState PartialStates::record(std::span<const Edge> inputs, std::int64_t at, std::int64_t count) {
  const graph::GraphNode& n = slicer_.graph().nodes[reduce_];
  const graph::Dims& shape = slicer_.graph().shape(reduce_);
  const graph::AttributeBytes attributes = encode(slicer_.graph().reduces[n.payload]);
  PartialState s{slicer_.node(n, n.op, n.dtype, shape, inputs, attributes), {}, at, count, {}};
  if (graph::output_count(n.op) == 2) {
    graph::retain(s.first.node());  // what is evaluated is output 0 of a node
    const Edge second(s.first.node(), 1);
    s.second = slicer_.node(n, Op::View, n.dtype, shape, {&second, 1}, encode(graph::identity_map(shape.size())));
  } else if (graph::is_arg_reduce(n.op)) {
    const Op extreme = n.op == Op::ArgMin ? Op::Min : Op::Max;
    s.second = slicer_.node(n, extreme, inputs.front().node()->dtype, shape, inputs, attributes);
  }
  return s;
}

void PartialStates::take(PartialState state) {
  if (state.count == chunk_) return push(std::move(state));
  (state.count == 1 ? elements_ : stack_).push_back(std::move(state));
}

void PartialStates::push(PartialState state) {
  for (std::int64_t n = ++whole_; n % 2 == 0; n /= 2) {
    state = merge(stack_.back(), state);
    stack_.pop_back();
  }
  stack_.push_back(std::move(state));
}

PartialState PartialStates::total() {
  if (!elements_.empty()) {  // the lanes of a block that has one element in each
    for (std::size_t step = kTreeLanes / 2; step > 0; step /= 2)
      for (std::size_t lane = 0; lane < step && lane + step < elements_.size(); ++lane)
        elements_[lane] = merge(elements_[lane], elements_[lane + step]);
    stack_.push_back(std::move(elements_.front()));
    elements_.clear();
  }
  PartialState out = stack_.back();
  for (std::size_t i = stack_.size() - 1; i-- > 0;) out = merge(stack_[i], out);
  return out;
}

namespace {

/// Records what combines two states of one reduction.
class Merger {
 public:
  Merger(const graph::Slicer& slicer, graph::NodeId reduce)
      : slicer_(slicer), like_(slicer.graph().nodes[reduce]), shape_(slicer.graph().shape(reduce)) {}

  [[nodiscard]] PartialState merge(const PartialState& a, const PartialState& b) const {
    PartialState out{{}, {}, std::min(a.at, b.at), a.count + b.count, {}};
    switch (like_.op) {
      case Op::Sum: out.first = map(Op::Add, {a.first, b.first}); break;
      case Op::Prod: out.first = map(Op::Multiply, {a.first, b.first}); break;
      case Op::Min: out.first = map(Op::Minimum, {a.first, b.first}); break;
      case Op::Max: out.first = map(Op::Maximum, {a.first, b.first}); break;
      case Op::ArgMin:
      case Op::ArgMax: merge_positions(a, b, out); break;
      default:
        TARRY_ASSERT(graph::output_count(like_.op) == 2);
        like_.dtype == float32 ? merge_moments<float>(a, b, out) : merge_moments<double>(a, b, out);
    }
    return out;
  }

 private:
  [[nodiscard]] Edge map(Op op, std::initializer_list<Edge> inputs, Dtype dtype) const {
    return slicer_.node(like_, op, dtype, shape_, {inputs.begin(), inputs.size()});
  }
  [[nodiscard]] Edge map(Op op, std::initializer_list<Edge> inputs) const {
    return map(op, inputs, inputs.begin()->node()->dtype);
  }
  template <class T>
  [[nodiscard]] Edge number(T value, Dtype dtype) const {
    return slicer_.number(like_, dtype, graph::ScalarCell::of(value));
  }

  /// The second value is taken where it is better: greater (less), or the first NaN.
  void merge_positions(const PartialState& a, const PartialState& b, PartialState& out) const {
    Edge later = map(like_.op == Op::ArgMin ? Op::Less : Op::Greater, {b.second, a.second}, bool_);
    if (is_floating(a.second.node()->dtype)) {
      const Edge first_nan = map(Op::LogicalAnd, {map(Op::NotEqual, {b.second, b.second}, bool_),
                                                  map(Op::Equal, {a.second, a.second}, bool_)});
      later = map(Op::LogicalOr, {later, first_nan});
    }
    const Edge index = map(Op::Add, {b.first, number(b.at - a.at, int64)});
    out.first = map(Op::Where, {later, index, a.first}, int64);
    out.second = map(Op::Where, {later, b.second, a.second}, a.second.node()->dtype);
  }

  /// Chan's merge, as docs/reference/numerics.md writes it.
  template <class T>
  void merge_moments(const PartialState& a, const PartialState& b, PartialState& out) const {
    const std::int64_t weight = like_.op == Op::MomentsMerge ? slicer_.graph().reduces[like_.payload].weight : 1;
    const auto na = static_cast<T>(a.count * weight), nb = static_cast<T>(b.count * weight);
    const T w = nb / static_cast<T>((a.count + b.count) * weight);
    const Edge d = map(Op::Subtract, {b.first, a.first});
    out.first = map(Op::Add, {a.first, map(Op::Multiply, {d, number(w, like_.dtype)})});
    out.second = map(Op::Add, {map(Op::Add, {a.second, b.second}),
                               map(Op::Multiply, {map(Op::Multiply, {d, d}), number(na * w, like_.dtype)})});
  }

  const graph::Slicer& slicer_;
  const graph::GraphNode& like_;
  const graph::Dims& shape_;
};

}  // namespace

PartialState PartialStates::merge(const PartialState& a, const PartialState& b) const {
  PartialState out = Merger(slicer_, reduce_).merge(a, b);
  const Edge both[] = {out.first, out.second};
  evaluate_(std::span(both).first(out.second ? 2 : 1));
  return out;
}

}  // namespace tarry::runtime
