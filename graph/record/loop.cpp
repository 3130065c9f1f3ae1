// scan, while_loop: a body recorded once, between nodes that stand for the values of a level.
#include "graph/record/loop.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/loops.h"
#include "graph/record/parts.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Argument;
using graph::Dims;
using graph::Edge;
using graph::Mode;
using graph::Node;
using graph::Op;

constexpr std::string_view kScan = "scan", kWhile = "while_loop";

std::string typed(const Edge& e) { return graph::Typed(e).str(); }

class LoopRecorder {
 public:
  /// Without a condition every level is gone over.
  LoopRecorder(std::span<const Array> init, std::span<const Array> xs, const ScanBody& body,
               const LoopCondition* condition, const LoopOptions& options, Where where)
      : called_(condition == nullptr ? kScan : kWhile),
        inits_(edges(init, where)),
        xs_(edges(xs, where)),
        body_(body),
        condition_(condition),
        options_(options),
        where_(where) {}

  Scanned record() {
    for (const std::vector<Edge>* edges : {static_cast<const std::vector<Edge>*>(&inits_), &xs_})
      for (const Edge& e : *edges)
        if (e.node()->in_loop) refuse(where_, "the body of another loop has no loop of its own");
    find_length();
    std::size_t tries = 0;  // a carry is broadcast by another one, which is broadcast by the next
    while (!call_body())
      if (++tries == inits_.size() + 2) refuse(where_, "the carries grow from level to level");
    find_lanes();
    check_body();
    return count_ == 0 || graph::element_count(lanes_.span()) == 0 ? nothing() : results();
  }

 private:
  [[noreturn]] void refuse(Where where, const std::string& why) const {
    TARRY_THROW(InvalidArgument, std::string(called_), where, why);
  }

  [[nodiscard]] std::vector<Edge> edges(std::span<const Array> arrays, Where where) const {
    return arrays.empty() ? std::vector<Edge>() : graph::edges_of(called_, arrays, where);
  }

  void find_length() {
    if (options_.length) count_ = *options_.length;
    for (const Edge& x : xs_) {
      axes_.push_back(graph::checked_axis(called_, options_.axis, x, where_));
      const std::int64_t extent = x.node()->shape()[static_cast<std::size_t>(axes_.back())];
      if (count_ >= 0 && count_ != extent)
        refuse(where_, fmt::format("{} has {} levels along axis {}, not {}", typed(x), extent, axes_.back(), count_));
      count_ = extent;
    }
    if (count_ < 0) refuse(where_, "how many levels? pass {.length = ...} where there are no xs");
  }

  /// A node of the loop.
  [[nodiscard]] Edge node(Op op, Dtype dtype, std::span<const std::int64_t> shape, std::initializer_list<Edge> inputs,
                          std::int32_t axis = 0) const {
    Device device{};
    std::vector<Argument> all;
    for (const Edge& e : inputs) all.push_back({e, 0});
    for (const Edge& e : inputs) device = graph::combine(device, e.node()->device, called_, where_, all);
    const graph::AttributeBytes bytes = graph::encode(graph::IotaAttributes{axis});
    return graph::make_node({.op = op,
                             .dtype = dtype,
                             .mode = mode_,
                             .device = device,
                             .shape = shape,
                             .attributes = has_axis(op) ? &bytes : nullptr,
                             .cell = {},
                             .where = where_},
                            {inputs.begin(), inputs.size()});
  }

  /// False where it has to be called again, with inits of other shapes.
  bool call_body() {
    const std::int64_t levels[1] = {std::max<std::int64_t>(count_, 1)};
    level_ = node(Op::LoopLevel, int64, levels, {}, options_.reverse ? 1 : 0);
    carries_.clear();
    std::vector<Array> carries, xs;
    for (const Edge& init : inits_) {
      carries_.push_back(node(Op::LoopCarry, init.node()->dtype, init.node()->shape(), {init, level_}));
      carries.push_back(detail::wrap(carries_.back()));
    }
    for (std::size_t i = 0; i < xs_.size(); ++i) {
      Edge x = xs_[i];
      Dims shape(x.node()->shape());
      if (count_ == 0) {
        shape[axes_[i]] = 1;
        x = graph::record_fill(graph::record_scalar(0, x.node()->dtype, called_, where_), shape.span(), where_);
      }
      shape.erase(axes_[i]);
      xs.push_back(detail::wrap(node(Op::LoopElement, x.node()->dtype, shape.span(), {x, level_}, axes_[i])));
    }
    if (condition_ != nullptr) goes_on_ = goes_on((*condition_)(carries));
    const Scanned step = body_(carries, xs);
    if (step.carries.size() != inits_.size())
      refuse(where_, fmt::format("the body returns {} carries, and is given {}", step.carries.size(), inits_.size()));
    nexts_.clear();
    ys_.clear();
    for (const Array& c : step.carries) nexts_.push_back(detail::defined_edge(c, called_, where_));
    for (const Array& y : step.ys) ys_.push_back(detail::defined_edge(y, called_, where_));
    bool fits = true;
    for (std::size_t k = 0; k < inits_.size(); ++k) fits = fit(k) && fits;
    return fits;
  }

  [[nodiscard]] Edge goes_on(const Array& condition) const {
    Edge e = detail::defined_edge(condition, called_, where_);
    if (e.node()->dtype != bool_) refuse(where_, fmt::format("the condition is {}, not bool", typed(e)));
    return e;
  }

  /// Brings a carry and its next value to one shape.
  bool fit(std::size_t k) {
    Edge &init = inits_[k], &next = nexts_[k];
    if (next.node()->dtype != init.node()->dtype)
      refuse(where_, fmt::format("carry {} is {} and becomes {}; convert one of them with astype", k, typed(init),
                                 typed(next)));
    const Dims both = graph::broadcast_shape(called_, std::vector<Edge>{init, next}, where_);
    next = graph::to_shape(next, both.span(), where_);
    if (goes_on_) next = graph::chosen(goes_on_, next, carries_[k], where_);
    if (Dims(next.node()->shape()) != both) {  // the condition has more lanes
      init = graph::to_shape(init, next.node()->shape(), where_);
      return false;
    }
    if (Dims(init.node()->shape()) == both) return true;
    init = graph::to_shape(init, both.span(), where_);
    return false;
  }

  void find_lanes() {
    std::vector<Edge> all = nexts_;
    all.insert(all.end(), ys_.begin(), ys_.end());
    if (all.empty()) refuse(where_, "the body returns nothing");
    lanes_ = graph::broadcast_shape(called_, all, where_);
    const int rank = lanes_.size() + 1;
    if (rank > graph::kMaxRank)
      refuse(where_, fmt::format("lanes and levels have {} dimensions, more than {}", rank, graph::kMaxRank));
    axis_ = options_.axis < 0 ? options_.axis + rank : options_.axis;
    if (axis_ < 0 || axis_ >= rank)
      refuse(where_, fmt::format("axis {} is out of range for results of {} dimensions", options_.axis, rank));
  }

  /// Between what the body is given and what it returns are elementwise operations; all of them relaxed, or none.
  void check_body() {
    std::vector<const Node*> open;
    std::unordered_set<const Node*> seen;
    const auto look = [&](const Node* n) {
      if (n->in_loop && seen.insert(n).second) open.push_back(n);
    };
    for (const Edge& e : nexts_) look(e.node());
    for (const Edge& e : ys_) look(e.node());
    bool any_strict = false, any_map = false;
    while (!open.empty()) {
      const Node* const n = open.back();
      open.pop_back();
      check(*n);
      const bool is_map = info(n->op).op_class == graph::OpClass::Map;
      any_map = any_map || is_map;
      any_strict = any_strict || (is_map && n->mode == Mode::Strict);
      for (int i = 0; i < n->n_inputs; ++i) look(n->input(i));
    }
    if (any_map) mode_ = any_strict ? Mode::Strict : Mode::Relaxed;
  }

  void check(const Node& n) const {
    if (&n == level_.node()) return;
    if (n.op == Op::LoopLevel) refuse(where_, "the body uses a value of the body of another loop");
    if (is_loop(n.op)) return;
    const bool map = info(n.op).op_class == graph::OpClass::Map && is_pure(n.op);
    const bool view = n.op == Op::View && graph::is_broadcast(graph::decode_view(n.attributes()),
                                                              Dims(n.input(0)->shape()), Dims(n.shape()));
    if (map || view) return;
    refuse(n.where(), fmt::format("{} {} of a value of a level: the body of a loop (at {}) is elementwise, parts of "
                                  "a carry are carries of their own",
                                  name(n.op), graph::Typed{n.dtype, n.shape()}.str(), where_.str()));
  }

  [[nodiscard]] Dims stacked() const {
    Dims shape;
    for (int d = 0; d <= lanes_.size(); ++d) {
      if (d == axis_) shape.push_back(count_);
      if (d < lanes_.size()) shape.push_back(lanes_[d]);
    }
    return shape;
  }

  /// No level, or no lane.
  [[nodiscard]] Scanned nothing() const {
    Scanned done;
    const Dims shape = stacked();
    const auto zero = [&](const Edge& y) { return graph::record_scalar(0, y.node()->dtype, called_, where_); };
    for (std::size_t k = 0; k < inits_.size(); ++k) done.carries.push_back(detail::wrap(inits_[k]));
    for (const Edge& y : ys_) done.ys.push_back(detail::wrap(graph::record_fill(zero(y), shape.span(), where_)));
    return done;
  }

  [[nodiscard]] Scanned results() const {
    Edge chain = goes_on_ ? node(Op::LoopWhile, bool_, {}, {goes_on_, level_}) : level_;
    for (std::size_t k = 0; k < carries_.size(); ++k)
      chain = node(Op::LoopNext, bool_, {}, {carries_[k], nexts_[k], chain});
    const Dims shape = stacked();
    Scanned done;
    for (std::size_t k = 0; k < nexts_.size(); ++k) {
      const Edge value = graph::to_shape(nexts_[k], lanes_.span(), where_);
      const Edge last = node(Op::LoopLast, value.node()->dtype, lanes_.span(), {value, chain});
      done.carries.push_back(detail::wrap(narrowed(last, Dims(nexts_[k].node()->shape()))));
    }
    for (const Edge& y : ys_) {
      graph::check_shape(called_, {y.node()->dtype, shape.span()}, where_);
      const Edge value = graph::to_shape(y, lanes_.span(), where_);
      done.ys.push_back(detail::wrap(node(Op::LoopStack, value.node()->dtype, shape.span(), {value, chain}, axis_)));
    }
    return done;
  }

  /// One of the lanes that have the same value.
  [[nodiscard]] Edge narrowed(const Edge& x, const Dims& shape) const {
    if (shape == lanes_) return x;
    graph::IndexMap map;
    const int lead = lanes_.size() - shape.size();
    for (int d = 0; d < lanes_.size(); ++d)
      map.push_back(d < lead || shape[d - lead] == 1 ? graph::AxisMap{-1, 0, 0} : graph::AxisMap{d - lead, 0, 1});
    return graph::record_view(x, map, shape.span(), where_);
  }

  const std::string_view called_;
  std::vector<Edge> inits_;
  const std::vector<Edge> xs_;
  const ScanBody& body_;
  const LoopCondition* const condition_;
  const LoopOptions& options_;
  const Where where_;
  std::int64_t count_ = -1;
  std::vector<int> axes_;  // by x
  Mode mode_ = graph::context().mode;
  Edge level_;
  std::vector<Edge> carries_, nexts_, ys_;
  Edge goes_on_;  // where there is a condition
  Dims lanes_;
  int axis_ = 0;  // of results
};

}  // namespace

Scanned scan(std::span<const Array> init, std::span<const Array> xs, const ScanBody& body, LoopOptions options,
             std::source_location where) try {
  return LoopRecorder(init, xs, body, nullptr, options, where).record();
}
TARRY_OR_OUT_OF_MEMORY("scan", where)

std::vector<Array> detail::while_loop(const LoopCondition& condition, const LoopStep& body, std::span<const Array> init,
                                      WhileOptions options, std::source_location where) try {
  return graph::record_while(condition, body, init, options.limit, where);
}
TARRY_OR_OUT_OF_MEMORY("while_loop", where)

}  // namespace v0

std::vector<Array> graph::record_while(const LoopCondition& condition, const LoopStep& body,
                                       std::span<const Array> init, std::int64_t limit, Where where) {
  if (limit < 0) TARRY_THROW(InvalidArgument, "while_loop", where, fmt::format("{} rounds", limit));
  const ScanBody step = [&](std::span<const Array> carries, std::span<const Array>) {
    return Scanned{body(carries), {}};
  };
  return LoopRecorder(init, {}, step, &condition, {.length = limit}, where).record().carries;
}

}  // namespace tarry
