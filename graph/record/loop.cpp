// scan, while_loop: a body recorded once, between nodes that stand for the values of a level. What is more than
// elementwise is copied for each level.
#include <tarry/loop.h>

#include <tarry/evaluate.h>
#include <tarry/progress.h>
#include <tarry/reduce.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "graph/record/body.h"
#include "graph/record/components.h"
#include "graph/record/join.h"
#include "graph/record/parts.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Argument;
using graph::Body;
using graph::Components;
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
        asked_(inits_),
        xs_(edges(xs, where)),
        body_(body),
        condition_(condition),
        options_(options),
        where_(where) {}

  Scanned record() {
    find_length();
    std::size_t tries = 0;  // a carry is broadcast by another one, which is broadcast by the next
    while (!call_body())
      if (++tries == inits_.size() + 2) refuse<InvalidShape>(where_, "the carries grow from level to level");
    const Body body(level_.node(), made());
    const bool given_inside = is_inside(inits_) || is_inside(xs_);
    if (body.reads_lost() || (given_inside && (Body(nullptr, inits_).reads_lost() || Body(nullptr, xs_).reads_lost())))
      refuse<InvalidArgument>(where_, "the body uses a value of the body of another loop");
    inside_ = given_inside || body.reads_outside();
    if (nexts_.empty() && ys_.empty()) refuse<InvalidArgument>(where_, "the body returns nothing");
    if (body.mixing() != nullptr) {
      check_shapes(*body.mixing());
      if (std::optional<Scanned> whole = by_components(body)) return *std::move(whole);
      return condition_ == nullptr ? by_levels(body) : by_rounds(body);
    }
    mode_ = body.mode();
    find_lanes();
    return count_ == 0 || graph::element_count(lanes_.span()) == 0 ? nothing() : results();
  }

 private:
  template <class Kind>
  [[noreturn]] void refuse(Where where, const std::string& why) const {
    TARRY_THROW(Kind, std::string(called_), where, why);
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
        refuse<InvalidShape>(
            where_, fmt::format("{} has {} levels along axis {}, not {}", typed(x), extent, axes_.back(), count_));
      count_ = extent;
    }
    if (count_ < 0) refuse<InvalidValue>(where_, "how many levels? pass {.length = ...} where there are no xs");
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
    elements_.clear();
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
      elements_.push_back(node(Op::LoopElement, x.node()->dtype, shape.span(), {x, level_}, axes_[i]));
      xs.push_back(detail::wrap(elements_.back()));
    }
    const graph::OpenLoop open(level_.node());
    if (condition_ != nullptr) goes_on_ = checked_condition((*condition_)(carries));
    const Scanned step = body_(carries, xs);
    if (step.carries.size() != inits_.size())
      refuse<InvalidArgument>(
          where_, fmt::format("the body returns {} carries, and is given {}", step.carries.size(), inits_.size()));
    nexts_.clear();
    ys_.clear();
    for (const Array& c : step.carries) nexts_.push_back(detail::defined_edge(c, called_, where_));
    for (const Array& y : step.ys) ys_.push_back(detail::defined_edge(y, called_, where_));
    bool fits = true;
    for (std::size_t k = 0; k < inits_.size(); ++k) fits = fit(k) && fits;
    return fits;
  }

  [[nodiscard]] Edge checked_condition(const Array& condition) const {
    Edge e = detail::defined_edge(condition, called_, where_);
    if (e.node()->dtype != bool_) refuse<InvalidDtype>(where_, fmt::format("the condition is {}, not bool", typed(e)));
    return e;
  }

  /// Brings a carry and its next value to one shape.
  bool fit(std::size_t k) {
    Edge &init = inits_[k], &next = nexts_[k];
    if (next.node()->dtype != init.node()->dtype)
      refuse<InvalidDtype>(where_, fmt::format("carry {} is {} and becomes {}; convert one of them with astype", k,
                                               typed(init), typed(next)));
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
    lanes_ = graph::broadcast_shape(called_, all, where_);
    const int rank = lanes_.size() + 1;
    if (rank > graph::kMaxRank)
      refuse<InvalidShape>(where_,
                           fmt::format("lanes and levels have {} dimensions, more than {}", rank, graph::kMaxRank));
    axis_ = options_.axis < 0 ? options_.axis + rank : options_.axis;
    if (axis_ < 0 || axis_ >= rank)
      refuse<OutOfRange>(where_,
                         fmt::format("axis {} is out of range for results of {} dimensions", options_.axis, rank));
  }

  /// All that the body makes: the next carries, ys, and whether it goes on.
  [[nodiscard]] std::vector<Edge> made() const {
    std::vector<Edge> all = nexts_;
    all.insert(all.end(), ys_.begin(), ys_.end());
    if (goes_on_) all.push_back(goes_on_);
    return all;
  }

  /// A carry that is broadcast would mean something else to an operation that mixes lanes.
  void check_shapes(const Node& mixing) const {
    for (std::size_t k = 0; k < inits_.size(); ++k)
      if (!std::ranges::equal(asked_[k].node()->shape(), inits_[k].node()->shape()))
        refuse<InvalidShape>(where_,
                             fmt::format("carry {} is {} and becomes {}: beside {} (at {}) a carry keeps its shape", k,
                                         typed(asked_[k]), typed(inits_[k]), name(mixing.op), mixing.where().str()));
  }

  static bool is_inside(std::span<const Edge> edges) {
    return std::ranges::any_of(edges, [](const Edge& e) { return e.node()->in_loop != 0; });
  }

  void leave_to_budget() const {
    if (!inside_ && graph::pending::overdue()) graph::pending::evaluate_overdue(where_);
  }

  /// One kernel after all, where the elements that mix are those of small axes.
  [[nodiscard]] std::optional<Scanned> by_components(const Body& body) const {
    std::vector<Edge> given = carries_;
    given.insert(given.end(), elements_.begin(), elements_.end());
    int lanes = given.empty() || count_ == 0 ? -1 : graph::kMaxRank;
    for (const Edge& e : given) lanes = std::min<int>(lanes, e.node()->rank);
    for (; lanes >= 0; --lanes) {
      const Components parts(body, given, lanes, where_);
      if (!parts.fits()) continue;
      if (std::ranges::all_of(nexts_, [&](const Edge& e) { return parts.leads(e); })) return by_parts(parts);
    }
    return std::nullopt;
  }

  [[nodiscard]] Scanned by_parts(const Components& parts) const {
    std::vector<std::size_t> counts;
    const auto add = [&](std::vector<Array>& to, const std::vector<Edge>& elements) {
      counts.push_back(elements.size());
      for (const Edge& e : elements) to.push_back(detail::wrap(e));
    };
    std::vector<Array> init, xs;
    for (const Edge& e : inits_) add(init, parts.cut(e));
    for (std::size_t i = 0; i < xs_.size(); ++i) add(xs, parts.cut(xs_[i], axes_[i]));
    const auto results = [&](std::span<const Array> carries, std::span<const Array> elements) {
      std::vector<Edge> all = edges(carries, where_);
      for (const Edge& e : edges(elements, where_)) all.push_back(e);
      std::vector<std::vector<Edge>> values;
      auto next = all.begin();
      for (const std::size_t count : counts) {
        values.emplace_back(next, next + static_cast<std::ptrdiff_t>(count));
        next += static_cast<std::ptrdiff_t>(count);
      }
      return parts.with(values);
    };
    const ScanBody body = [&](std::span<const Array> carries, std::span<const Array> elements) {
      Scanned step;
      const std::vector<std::vector<Edge>> all = results(carries, elements);
      for (std::size_t r = 0; r < inits_.size() + ys_.size(); ++r)
        for (const Edge& e : all[r]) (r < inits_.size() ? step.carries : step.ys).push_back(detail::wrap(e));
      return step;
    };
    const LoopCondition condition = [&](std::span<const Array> carries) {
      Edge more;
      const std::vector<Edge> goes_on = results(carries, {}).back();
      for (const Edge& e : goes_on) more = more ? graph::mapped(Op::LogicalOr, more, e, where_) : e;
      return detail::wrap(more);
    };
    const Scanned elements = LoopRecorder(init, xs, body, condition_ == nullptr ? nullptr : &condition,
                                          {.axis = 0, .reverse = options_.reverse, .length = count_}, where_)
                                 .record();
    return joined(parts, counts, elements);
  }

  /// Arrays of the elements that a loop over them gives.
  [[nodiscard]] Scanned joined(const Components& parts, std::span<const std::size_t> counts,
                               const Scanned& elements) const {
    Scanned done;
    const std::vector<Edge> carries = edges(elements.carries, where_), ys = edges(elements.ys, where_);
    std::size_t at = 0;
    for (std::size_t k = 0; k < nexts_.size(); at += counts[k], ++k)
      done.carries.push_back(detail::wrap(parts.joined(nexts_[k], std::span(carries).subspan(at, counts[k]))));
    at = 0;
    for (const Edge& y : ys_) {
      const std::size_t count = parts.count(y);
      const int axis = graph::checked_axis(called_, options_.axis, with_levels(y, 0), where_);
      done.ys.push_back(detail::wrap(parts.joined(y, std::span(ys).subspan(at, count), axis)));
      at += count;
    }
    return done;
  }

  /// The body for each level, on slices of the xs.
  [[nodiscard]] Scanned by_levels(const Body& body) const {
    std::vector<Edge> given = carries_, state = inits_;
    given.insert(given.end(), elements_.begin(), elements_.end());
    std::vector<std::vector<Edge>> ys(ys_.size(), std::vector<Edge>(static_cast<std::size_t>(count_)));
    for (std::int64_t i = 0; i < count_; ++i) {
      leave_to_budget();
      const std::int64_t k = options_.reverse ? count_ - 1 - i : i;
      std::vector<Edge> values = state;
      for (std::size_t x = 0; x < xs_.size(); ++x) values.push_back(graph::part_at(xs_[x], axes_[x], k, where_));
      std::vector<Edge> step = body.with(given, values);
      for (std::size_t y = 0; y < ys.size(); ++y) ys[y][static_cast<std::size_t>(k)] = step[state.size() + y];
      step.resize(state.size());
      state = std::move(step);
    }
    Scanned done;
    for (const Edge& e : state) done.carries.push_back(detail::wrap(e));
    for (std::size_t y = 0; y < ys.size(); ++y) done.ys.push_back(detail::wrap(stacked(ys_[y], ys[y])));
    return done;
  }

  [[nodiscard]] Edge stacked(const Edge& y, const std::vector<Edge>& levels) const {
    Dims shape(y.node()->shape());
    const int axis = graph::checked_axis(called_, options_.axis, with_levels(y, 0), where_);
    if (count_ == 0) {
      shape.insert(axis, 0);
      return graph::record_fill(graph::record_scalar(0, y.node()->dtype, called_, where_), shape.span(), where_);
    }
    std::vector<Edge> parts;
    for (const Edge& e : levels) parts.push_back(graph::with_axis(e, axis, where_));
    return graph::concatenated("stack", parts, axis, where_);
  }

  /// y of one level along an axis of levels.
  [[nodiscard]] Edge with_levels(const Edge& y, int axis) const {
    if (y.node()->rank == graph::kMaxRank)
      refuse<InvalidShape>(
          where_, fmt::format("ys and levels have {} dimensions, more than {}", y.node()->rank + 1, graph::kMaxRank));
    return graph::with_axis(y, axis, where_);
  }

  /// Rounds until the condition holds nowhere: some of them at a time, after which the host looks. There are never more
  /// rounds in vain than a quarter of those that were needed.
  [[nodiscard]] Scanned by_rounds(const Body& body) const {
    if (inside_ || std::ranges::any_of(inits_, [](const Edge& e) { return e.node()->traced != 0; }))
      refuse<InvalidArgument>(
          where_, fmt::format("{} of the state ({}) makes this a loop that runs when it is recorded, and here the "
                              "state has no values yet",
                              name(body.mixing()->op), body.mixing()->where().str()));
    constexpr std::int64_t kMostAtOnce = 16, kInVain = 4;
    const Body condition(level_.node(), std::vector<Edge>{goes_on_});
    std::vector<Edge> state = inits_;
    for (std::int64_t done = 0, at_once = 1; done < count_; done += at_once) {
      if (at_once < kMostAtOnce && done >= 2 * kInVain * at_once) at_once *= 2;
      at_once = std::min(at_once, count_ - done);
      for (std::int64_t i = 0; i < at_once; ++i) {
        leave_to_budget();
        state = body.with(carries_, state);
        state.resize(inits_.size());
      }
      if (!goes_on(condition.with(carries_, state)[0], state)) break;
      OnProgress::report({.chunks_done = done + at_once, .chunks = count_});
    }
    Scanned last;
    for (const Edge& e : state) last.carries.push_back(detail::wrap(e));
    return last;
  }

  /// Evaluates the state; true where the condition holds anywhere.
  [[nodiscard]] bool goes_on(const Edge& condition, std::span<const Edge> state) const {
    std::vector<Array> all = {any(detail::wrap(condition))};
    for (const Edge& e : state) all.push_back(detail::wrap(e));
    std::vector<const Array*> roots;
    for (const Array& a : all) roots.push_back(&a);
    detail::evaluate(roots, where_);
    bool more = false;
    detail::ArrayAccess::read(all[0], &more, where_);
    return more;
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
      last.node()->in_loop = inside_ ? 1 : 0;
      done.carries.push_back(detail::wrap(narrowed(last, Dims(nexts_[k].node()->shape()))));
    }
    for (const Edge& y : ys_) {
      graph::check_shape(called_, {y.node()->dtype, shape.span()}, where_);
      const Edge value = graph::to_shape(y, lanes_.span(), where_);
      const Edge all = node(Op::LoopStack, value.node()->dtype, shape.span(), {value, chain}, axis_);
      all.node()->in_loop = inside_ ? 1 : 0;
      done.ys.push_back(detail::wrap(all));
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
  const std::vector<Edge> asked_, xs_;  // asked_: inits that are not broadcast
  const ScanBody& body_;
  const LoopCondition* const condition_;
  const LoopOptions& options_;
  const Where where_;
  std::int64_t count_ = -1;
  std::vector<int> axes_;  // by x
  Mode mode_ = graph::context().mode;
  Edge level_;
  std::vector<Edge> carries_, elements_, nexts_, ys_;
  Edge goes_on_;         // where there is a condition
  bool inside_ = false;  // it depends on values of a loop whose body is being recorded
  Dims lanes_;
  int axis_ = 0;  // of results
};

}  // namespace

Scanned scan(std::span<const Array> init, std::span<const Array> xs, const ScanBody& body, LoopOptions options,
             Where where) try {
  return LoopRecorder(init, xs, body, nullptr, options, where).record();
}
TARRY_OR_OUT_OF_MEMORY("scan", where)

std::vector<Array> detail::while_loop(const LoopCondition& condition, const LoopStep& body, std::span<const Array> init,
                                      WhileOptions options, Where where) try {
  if (options.limit < 0) TARRY_THROW(InvalidValue, "while_loop", where, fmt::format("{} rounds", options.limit));
  const ScanBody step = [&](std::span<const Array> carries, std::span<const Array>) {
    return Scanned{body(carries), {}};
  };
  return LoopRecorder(init, {}, step, &condition, {.length = options.limit}, where).record().carries;
}
TARRY_OR_OUT_OF_MEMORY("while_loop", where)

}  // namespace v0

}  // namespace tarry
