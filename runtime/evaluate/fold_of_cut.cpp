// Folds whose pieces are joined, written or taken one after the other.
#include "runtime/evaluate/fold_of_cut.h"

#include <utility>

#include "runtime/evaluate/partial_states.h"
#include "runtime/evaluate/sorted_ends.h"

namespace tarry::runtime {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Op;

/// Nodes that the folds of one node record.
class Recorder {
 public:
  Recorder(graph::Slicer& slicer, const graph::Cut& cut)
      : slicer_(slicer), n_(slicer.graph().nodes[cut.node]), shape_(slicer.graph().shape(cut.node)) {}

  [[nodiscard]] const graph::GraphNode& like() const { return n_; }
  [[nodiscard]] const Dims& shape() const { return shape_; }
  [[nodiscard]] Edge node(std::span<const Edge> inputs, const graph::AttributeBytes& attributes) const {
    return slicer_.node(n_, n_.op, n_.dtype, shape_, inputs, attributes);
  }
  [[nodiscard]] Edge map(Op op, Dtype dtype, std::initializer_list<Edge> inputs) const {
    return slicer_.node(n_, op, dtype, shape_, {inputs.begin(), inputs.size()});
  }
  [[nodiscard]] Edge number(std::int64_t value) const {
    return slicer_.number(n_, int64, graph::ScalarCell::of(value));
  }
  [[nodiscard]] Edge zeros() const {
    const Edge zero = slicer_.number(n_, n_.dtype, {});
    return slicer_.node(n_, Op::View, n_.dtype, shape_, {&zero, 1}, encode(graph::IndexMap()));
  }
  [[nodiscard]] Edge whole(const graph::GraphEdge& edge) const {
    const graph::SliceRequest request{edge, graph::Box::whole(slicer_.graph().shape(edge.node))};
    return slicer_.slice({&request, 1}).values.front();
  }
  [[nodiscard]] Edge pretended() const { return stand_in(n_.dtype, shape_, slicer_.device()); }

 private:
  graph::Slicer& slicer_;
  const graph::GraphNode& n_;
  const Dims& shape_;
};

/// Values of pieces, joined in any order.
class JoinedFold final : public PieceFold {
 public:
  JoinedFold(const Recorder& recorder, EvaluateEdges evaluate) : to_(recorder), evaluate_(std::move(evaluate)) {}

  PartialState record(std::span<const Edge> operands, std::int64_t at, std::int64_t count) override {
    const graph::RoutineAttributes attributes{graph::RoutineAttributes::Way(to_.like().payload)};
    return {to_.node(operands, encode(attributes)), {}, at, count, {}};
  }
  void take(PartialState state) override {
    if (joined_.first) {
      state.first = to_.map(join_of_pieces(to_.like()), to_.like().dtype, {joined_.first, state.first});
      evaluate_({&state.first, 1});
    }
    joined_ = std::move(state);
  }
  PartialState total() override { return std::move(joined_); }

 private:
  const Recorder to_;
  const EvaluateEdges evaluate_;
  PartialState joined_;
};

/// A base, into which pieces are written in their order.
class WrittenFold final : public PieceFold {
 public:
  WrittenFold(const Recorder& recorder, const EvaluateEdges& evaluate) : to_(recorder), pretends_(!evaluate) {}

  PartialState record(std::span<const Edge> operands, std::int64_t at, std::int64_t count) override {
    return {{}, {}, at, count, {operands.begin(), operands.end()}};
  }
  void start(PartialState& state) override {
    if (!written_) written_ = pretends_ ? to_.pretended() : to_.whole(to_.like().inputs[0]);
    const Edge inputs[] = {std::exchange(written_, {}), state.operands[0], state.operands[1]};
    state.first = to_.node(inputs, encode(graph::RoutineAttributes{}));
    state.operands.clear();
  }
  void take(PartialState state) override { written_ = std::move(state.first); }
  PartialState total() override { return {std::move(written_), {}, 0, 0, {}}; }

 private:
  const Recorder to_;
  const bool pretends_;
  Edge written_;
};

/// Elements at places along the axis, each from the piece that has it.
class TakenFold final : public PieceFold {
 public:
  TakenFold(const Recorder& recorder, const EvaluateEdges& evaluate) : to_(recorder), pretends_(!evaluate) {}

  PartialState record(std::span<const Edge> operands, std::int64_t at, std::int64_t count) override {
    const Edge& place = operands[1];
    const Edge from = to_.map(Op::Subtract, int64, {place, to_.number(at)});
    const Edge not_before = to_.map(Op::Maximum, int64, {from, to_.number(0)});
    const Edge inside = to_.map(Op::Minimum, int64, {not_before, to_.number(count - 1)});
    const Edge both[] = {operands[0], inside};
    const Edge taken = to_.node(both, encode(graph::IotaAttributes{static_cast<std::int32_t>(to_.like().payload)}));
    return {{}, {}, at, count, {to_.map(Op::Equal, bool_, {from, inside}), taken}};
  }
  void start(PartialState& state) override {
    if (!taken_) taken_ = pretends_ ? to_.pretended() : to_.zeros();
    state.first =
        to_.map(Op::Where, to_.like().dtype, {state.operands[0], state.operands[1], std::exchange(taken_, {})});
    state.operands.clear();
  }
  void take(PartialState state) override { taken_ = std::move(state.first); }
  PartialState total() override { return {std::move(taken_), {}, 0, 0, {}}; }

 private:
  const Recorder to_;
  const bool pretends_;
  Edge taken_;
};

}  // namespace

std::unique_ptr<PieceFold> make_fold(graph::Slicer& slicer, const graph::Cut& cut, std::int64_t chunk,
                                     EvaluateEdges evaluate) {
  const Recorder recorder(slicer, cut);
  switch (cut.kind) {
    case graph::CutKind::Tree: return std::make_unique<PartialStates>(slicer, cut.node, chunk, std::move(evaluate));
    case graph::CutKind::Joined: return std::make_unique<JoinedFold>(recorder, std::move(evaluate));
    case graph::CutKind::Written: return std::make_unique<WrittenFold>(recorder, evaluate);
    case graph::CutKind::Taken: return std::make_unique<TakenFold>(recorder, evaluate);
    case graph::CutKind::Ends: break;
  }
  return std::make_unique<SortedEnds>(slicer, cut, std::move(evaluate));
}

}  // namespace tarry::runtime
