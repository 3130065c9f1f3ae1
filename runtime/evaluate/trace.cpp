// A trace is walked over once for each layout of its arguments; a call with a known one copies lists and runs the plan.
#include "runtime/evaluate/trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "graph/pending.h"
#include "graph/record/draws.h"
#include "runtime/evaluate/auto_evaluate.h"
#include "runtime/evaluate/claims.h"
#include "runtime/evaluate/run_lease.h"
#include "runtime/plan/route.h"
#include "support/check.h"

namespace tarry::runtime {

using detail::ArrayAccess;
using detail::Draws;
using graph::Edge;
using graph::Node;
using graph::Op;
using graph::State;

namespace {

constexpr std::string_view kReplay = "replay";

bool alike(const Node& a, const Node& b) {
  return a.dtype == b.dtype && (a.op == Op::Scalar) == (b.op == Op::Scalar) && a.device == b.device &&
         std::ranges::equal(a.shape(), b.shape());
}

const std::shared_ptr<graph::Storage>& storage(const Edge& e) { return e.node()->extra->results.at(e.output()); }

/// A view or a reshape of what needs no computation.
bool is_view_of_value(const Node* n) {
  const auto moves = [](graph::OpClass c) { return c == graph::OpClass::View || c == graph::OpClass::Reshape; };
  if (!moves(graph::info(n->op).op_class)) return false;
  while (n->n_inputs != 0 && moves(graph::info(n->op).op_class)) n = n->input(0);
  return n->n_inputs == 0;
}

bool is_leaf(const Node& n) { return n.op != Op::Scalar && n.state.load(std::memory_order_acquire) == State::Ready; }

}  // namespace

void require_unwritten(std::span<const Array> arrays, std::span<const Edge> given, Where where) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (ArrayAccess::node(arrays[i]) != given[i].node())
      TARRY_THROW(InvalidArgument, std::string(kReplay), where,
                  fmt::format("the function writes to its argument {}, {}, which the caller's array would not see; "
                              "return the new array instead",
                              i, graph::Typed(given[i]).str()));
}

/// The stand-ins have the arguments' values while it lives, with engine_mutex() held.
class Trace::Bound {
 public:
  Bound(const Trace& t, std::span<const Edge> arguments) noexcept : trace_(t) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      Node* const n = t.stand_ins_[i].node();
      if (n->op == Op::Scalar) continue;
      n->extra->results.assign(1, storage(arguments[i]));  // there is room for it
      n->state.store(State::Ready, std::memory_order_release);
    }
  }
  ~Bound() {
    for (const Edge& e : trace_.stand_ins_) {
      if (e.node()->op == Op::Scalar) continue;
      e.node()->state.store(State::Lazy, std::memory_order_release);
      e.node()->extra->results.clear();
    }
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  const Trace& trace_;
};

Trace::Trace(const TracedCall& call, const detail::TracedBody& body)
    : context_(graph::context()), structure_(call.structure.begin(), call.structure.end()) {
  std::vector<Array> arrays;
  for (const Edge& e : call.arguments) {
    stand_ins_.push_back(graph::stand_in_for(*e.node(), call.where));
    arrays.push_back(detail::wrap(stand_ins_.back()));
  }
  detail::Traced traced;
  {
    graph::Tracing tracing;
    std::vector<random::Generator> generators;
    for (std::size_t i = 0; i < call.generators.size(); ++i) {
      keys_.push_back(graph::number_stand_in(uint64, call.where));
      generators.push_back(Draws::stand_in(keys_.back()));
    }
    tracing.keys = keys_;
    traced = body(arrays, generators);
    draws_ = std::move(tracing.draws);
    for (const random::Generator& g : generators) drawn_.push_back(Draws::drawn(g));
  }
  require_unwritten(arrays, stand_ins_, call.where);
  for (const Array& x : traced.results) add_result(x, call.where);
  beside_ = std::move(traced.beside);
  settle(call);
}

void Trace::add_result(const Array& x, Where where) {
  const Edge e = detail::defined_edge(x, kReplay, where);
  const auto same = [&e](const Edge& other) { return other.node() == e.node() && other.output() == e.output(); };
  if (const auto at = std::ranges::find_if(stand_ins_, same); at != stand_ins_.end()) {
    results_.push_back({Result::Kind::Argument, static_cast<std::uint32_t>(at - stand_ins_.begin()), {}});
  } else if (!e.node()->traced) {
    results_.push_back({Result::Kind::Constant, 0, x});
  } else {
    const auto root = static_cast<std::uint32_t>(std::ranges::find_if(roots_, same) - roots_.begin());
    if (root == roots_.size()) roots_.push_back(e);
    results_.push_back({Result::Kind::Root, root, {}});
  }
}

/// Evaluates what others hold: else each call would compute it again. The graph waits for nobody any more.
void Trace::settle(const TracedCall& call) {
  std::vector<Edge> captured;
  {
    RunLease run;
    graph::KeyWalk& o = run->key_walk;
    std::unique_lock lock(graph::engine_mutex());
    for (;;) {
      Node* blocked = nullptr;
      {
        const Bound bound(*this, call.arguments);
        blocked = graph::walk(roots_, o, {.stand_ins = graph::StandIns::Bound});
      }
      if (blocked == nullptr) break;
      wait_for(blocked, lock, kReplay, call.where);
    }
    captured.reserve(o.visits.size());
    for (const graph::KeyWalk::Visit& v : o.visits) {
      Node* const n = v.node;
      if (n->state.load(std::memory_order_acquire) != State::Lazy) continue;
      graph::pending::settled(n);
      const bool computes = !n->traced && n->n_inputs != 0 && graph::output_count(n->op) == 1 && !is_view_of_value(n);
      if (!computes || n->refs.load(std::memory_order_acquire) == v.readers) continue;
      graph::retain(n);
      captured.emplace_back(n, 0);
    }
  }
  evaluate_by_device(captured, call.where);
}

bool Trace::fits(const TracedCall& call) const {
  const graph::Context& now = graph::context();
  if (now.mode != context_.mode || now.device != context_.device || now.default_float != context_.default_float)
    return false;
  if (call.arguments.size() != stand_ins_.size() || call.generators.size() != keys_.size()) return false;
  for (std::size_t i = 0; i < stand_ins_.size(); ++i)
    if (!alike(*call.arguments[i].node(), *stand_ins_[i].node())) return false;
  return std::ranges::equal(call.structure, structure_);
}

bool Trace::one_stream(const TracedCall& call) const {
  for (std::size_t i = 0; i < drawn_.size(); ++i)
    if (!Draws::one_stream(*call.generators[i], drawn_[i])) return false;
  return true;
}

Trace::Source Trace::source_of(const Node* n) const {
  const auto is = [n](const Edge& e) { return e.node() == n; };
  const auto found = [](Source::Kind kind, const auto& list, auto at) {
    return Source{kind, static_cast<std::uint32_t>(at - list.begin())};
  };
  if (const auto at = std::ranges::find_if(stand_ins_, is); at != stand_ins_.end())
    return found(Source::Kind::Argument, stand_ins_, at);
  if (const auto at = std::ranges::find_if(keys_, is); at != keys_.end()) return found(Source::Kind::Key, keys_, at);
  const auto draw = std::ranges::find_if(draws_, is, &graph::Tracing::Draw::number);
  if (draw != draws_.end()) return found(Source::Kind::Draw, draws_, draw);
  return {};
}

Device Trace::placed() const {
  for (const Edge& e : roots_)
    if (e.node()->device.kind != DeviceKind::Unplaced) return e.node()->device;
  return {};
}

/// Nodes as roots are once they are computed.
std::vector<Edge> Trace::fresh_results() const {
  std::vector<Edge> made;
  made.reserve(roots_.size());
  for (const Edge& root : roots_) {
    const Node& n = *root.node();
    made.emplace_back(graph::new_node({.op = n.op,
                                       .dtype = n.dtype,
                                       .mode = n.mode,
                                       .device = n.device,
                                       .shape = n.shape(),
                                       .attributes = nullptr,
                                       .cell = {},
                                       .where = n.where()}),
                      0);
  }
  return made;
}

void Trace::fill_leaves(const Variant& v, const TracedCall& call, Run& run) const {
  run.key_walk.leaves.clear();
  for (const Source& s : v.leaves)
    run.key_walk.leaves.push_back(storage(s.kind == Source::Kind::Argument ? call.arguments[s.index] : s.constant));
}

void Trace::fill_cells(std::span<const Source> scalars, const TracedCall& call,
                       std::vector<graph::ScalarCell>& cells) const {
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const Source& s = scalars[i];
    switch (s.kind) {
      case Source::Kind::Constant: break;
      case Source::Kind::Argument: cells[i] = call.arguments[s.index].node()->cell(); break;
      case Source::Kind::Key: cells[i] = graph::ScalarCell::of(Draws::key_value(*call.generators[s.index])); break;
      case Source::Kind::Draw: {
        const graph::Tracing::Draw& draw = draws_[s.index];
        const std::uint64_t number = Draws::drawn(*call.generators[draw.generator]) + draw.offset;
        cells[i] = graph::ScalarCell::of(static_cast<std::uint32_t>(number % Draws::kStream));
      }
    }
  }
}

std::shared_ptr<const Trace::Variant> Trace::bind_known(const TracedCall& call, const PlanQuestion& asked,
                                                        Run& run) const {
  if (asked.backend == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> layout;
  for (const std::shared_ptr<const Variant>& v : variants_) {
    fill_leaves(*v, call, run);
    put_layout(run.key_walk.leaves, v->placed, asked, layout);
    if (layout != v->layout) continue;
    graph::KeyWalk& o = run.key_walk;
    o.cells = v->cells;
    fill_cells(v->scalars, call, o.cells);
    o.roots = v->roots;
    o.asked = v->roots.size();
    o.lines = v->lines;
    o.placed = v->placed;
    run.plan = v->plan;
    run.backend = asked.backend;
    return v;
  }
  return nullptr;
}

std::shared_ptr<Trace::Variant> Trace::bind_anew(const TracedCall& call, const PlanQuestion& asked, Run& run) const {
  auto v = std::make_shared<Variant>();
  graph::KeyWalk& o = run.key_walk;
  const Bound bound(*this, call.arguments);
  Node* const blocked =
      graph::walk(roots_, o, {.claimed = graph::Claimed::IsLazy, .stand_ins = graph::StandIns::Bound});
  TARRY_ASSERT(blocked == nullptr);
  for (const graph::KeyWalk::Visit& visit : o.visits) {
    Source s = source_of(visit.node);
    if (visit.node->op == Op::Scalar) {
      v->scalars.push_back(std::move(s));
    } else if (is_leaf(*visit.node)) {
      if (s.kind == Source::Kind::Constant) {
        graph::retain(visit.node);
        s.constant = Edge(visit.node, visit.output);
      }
      v->leaves.push_back(std::move(s));
    }
  }
  fill_cells(v->scalars, call, o.cells);
  v->cells = o.cells;
  v->roots = o.roots;
  v->placed = o.placed;
  find_plan(run, asked);
  v->lines = o.lines;
  if (asked.backend) put_layout(o.leaves, o.placed, asked, v->layout);
  return v;
}

void Trace::keep(const std::shared_ptr<const Variant>& v) const {
  constexpr std::size_t kMost = 8;
  std::vector<std::shared_ptr<const Variant>> now{v};
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<const Variant>& other : variants_)
    if (other->layout != v->layout && now.size() < kMost) now.push_back(other);
  variants_.swap(now);  // what goes is destroyed outside the lock
}

detail::Traced Trace::run(const TracedCall& call) const {
  const std::vector<Edge> made = fresh_results();
  if (!made.empty()) {
    const PlanQuestion asked = plan_question(placed());
    std::shared_ptr<const Variant> variant;
    const auto bind = [&](Run& run) {
      variant = bind_known(call, asked, run);
      if (!variant) variant = bind_anew(call, asked, run);
    };
    const auto done = [&](const Run& run) {
      const bool lasts = asked.backend != nullptr && (run.plan->interpreted.empty() || !asked.compiled);
      if (!lasts || variant->plan == run.plan) return;
      auto now = std::make_shared<Variant>(*variant);
      now->plan = run.plan;
      keep(std::move(now));
    };
    evaluate_bound(made, bind, done, call.where);
  }
  for (std::size_t i = 0; i < drawn_.size(); ++i) Draws::skip(*call.generators[i], drawn_[i]);
  detail::Traced results{{}, beside_};
  for (const Result& r : results_) {
    switch (r.kind) {
      case Result::Kind::Root: results.results.push_back(detail::wrap(made[r.index])); break;
      case Result::Kind::Argument: results.results.push_back(detail::wrap(call.arguments[r.index])); break;
      case Result::Kind::Constant: results.results.push_back(r.constant); break;
    }
  }
  return results;
}

}  // namespace tarry::runtime
