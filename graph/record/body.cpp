// Body: a walk over what depends on the level, then copies node by node.
#include "graph/record/body.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "graph/loops.h"

namespace tarry::graph {
namespace {

constinit thread_local const OpenLoop* innermost = nullptr;

bool is_value_of_level(const Node& n) { return n.op == Op::LoopCarry || n.op == Op::LoopElement; }

/// The level of the loop that a result leads out of.
const Node* level_of_result(const Node& n) {
  const Node* token = n.input(1);
  while (token->op != Op::LoopLevel) token = token->input(token->n_inputs - 1);
  return token;
}

bool is_elementwise(const Node& n) {
  if (info(n.op).op_class == OpClass::Map) return is_pure(n.op);
  return n.op == Op::View && is_broadcast(decode_view(n.attributes()), Dims(n.input(0)->shape()), Dims(n.shape()));
}

}  // namespace

OpenLoop::OpenLoop(const Node* level) noexcept : level_(level), outside_(std::exchange(innermost, this)) {}
OpenLoop::~OpenLoop() { innermost = outside_; }
bool OpenLoop::is_recording() noexcept { return innermost != nullptr; }

Body::Body(const Node* level, std::span<const Edge> results) : level_(level), results_(results.begin(), results.end()) {
  for (const Edge& e : results_) reach(e.node());
  classify();
  find_copied();
}

bool Body::is_given(const Node& n) const { return is_value_of_level(n) && n.input(1) == level_; }

void Body::reach(const Node* root) {
  std::vector<std::pair<const Node*, int>> open;
  const auto enter = [&](const Node* n) {
    if (n->in_loop && kinds_.try_emplace(n).second) open.emplace_back(n, 0);
  };
  enter(root);
  while (!open.empty()) {
    auto& [n, next] = open.back();
    if (is_given(*n) || next == n->n_inputs) {
      order_.push_back(n);
      open.pop_back();
    } else {
      enter(n->input(next++));
    }
  }
}

void Body::classify() {
  std::unordered_set<const Node*> ended;
  for (const Node* n : order_)
    if (is_loop_result(n->op)) ended.insert(level_of_result(*n));
  const auto is_open = [](const Node* level) {
    for (const OpenLoop* loop = innermost; loop != nullptr; loop = loop->outside_)
      if (loop->level_ == level) return true;
    return false;
  };
  for (const Node* n : order_) {
    Kind& kind = kinds_.at(n);
    kind.depends = is_given(*n);
    if (is_value_of_level(*n) && !kind.depends) {
      kind.outside = is_open(n->input(1));
      reads_lost_ = reads_lost_ || (!kind.outside && !ended.contains(n->input(1)));
    }
    for (int i = 0; i < n->n_inputs && !is_given(*n); ++i) {
      const auto found = kinds_.find(n->input(i));
      if (found == kinds_.end()) continue;
      kind.depends = kind.depends || found->second.depends;
      kind.outside = kind.outside || found->second.outside;
    }
    reads_outside_ = reads_outside_ || kind.outside;
  }
}

void Body::find_copied() {
  std::unordered_set<const Node*> inner;
  for (const Node* n : order_)
    if (is_loop_result(n->op) && kinds_.at(n).depends) inner.insert(level_of_result(*n));
  for (const Node* n : order_) {
    Kind& kind = kinds_.at(n);
    kind.copied = kind.depends || inner.contains(n);
    for (int i = 0; i < n->n_inputs && !kind.copied; ++i) {
      const auto found = kinds_.find(n->input(i));
      kind.copied = found != kinds_.end() && found->second.copied;
    }
    if (kind.copied && !is_given(*n) && mixing_ == nullptr && !is_elementwise(*n)) mixing_ = n;
  }
}

Mode Body::mode() const {
  bool any = false;
  for (const Node* n : order_) {
    if (!kinds_.at(n).copied || info(n->op).op_class != OpClass::Map) continue;
    if (n->mode == Mode::Strict) return Mode::Strict;
    any = true;
  }
  return any ? Mode::Relaxed : context().mode;
}

Body::Copy Body::copy(const Node& n, const std::unordered_map<const Node*, Copy>& made) const {
  std::vector<Edge> inputs;
  bool outside = false;
  for (int i = 0; i < n.n_inputs; ++i) {
    Node* const from = n.input(i);
    const auto found = made.find(from);
    if (found == made.end()) {
      retain(from);
      inputs.emplace_back(from, n.input_output(i));
      outside = outside || from->in_loop;
    } else {
      inputs.push_back(found->second.at(n.input_output(i)));
      outside = outside || found->second.outside;
    }
  }
  const AttributeBytes attributes = n.attributes();
  Edge edge = make_node({.op = n.op,
                         .dtype = n.dtype,
                         .mode = n.mode,
                         .device = n.device,
                         .shape = n.shape(),
                         .attributes = n.extra != nullptr || n.is_box() ? &attributes : nullptr,
                         .cell = {},
                         .where = n.where()},
                        inputs);
  if (is_loop_result(n.op)) edge.node()->in_loop = outside ? 1 : 0;
  return {std::move(edge), true, outside};
}

std::vector<Edge> Body::with(std::span<const Edge> given, std::span<const Edge> values) const {
  std::unordered_map<const Node*, Copy> made;
  for (std::size_t i = 0; i < given.size(); ++i)
    made.emplace(given[i].node(), Copy{values[i], false, values[i].node()->in_loop != 0});
  for (const Node* n : order_)
    if (kinds_.at(n).copied && !made.contains(n)) made.emplace(n, copy(*n, made));
  std::vector<Edge> results;
  for (const Edge& e : results_) {
    const auto found = made.find(e.node());
    results.push_back(found == made.end() ? e : found->second.at(e.output()));
  }
  return results;
}

}  // namespace tarry::graph
