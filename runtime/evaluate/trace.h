// Trace: a function recorded for one structure of its arguments, as a graph whose leaves and scalars each call gives
// anew. Its plans are those of any evaluate, found by how the arguments lie in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <tarry/replay.h>

#include "graph/context.h"
#include "graph/record/trace.h"
#include "runtime/evaluate/bound.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

/// The arguments of a call; arrays are evaluated, or Scalars.
struct TracedCall {
  std::span<const graph::Edge> arguments;
  std::span<random::Generator* const> generators;
  std::span<const std::uint64_t> structure;
  Where where;
};

/// Throws where a function has bound another array to one that it was given.
void require_unwritten(std::span<const Array> arrays, std::span<const graph::Edge> given, Where where);

class Trace {
 public:
  /// Records the body. What it reads from elsewhere, and somebody else holds, is evaluated.
  Trace(const TracedCall& call, const detail::TracedBody& body);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// True for arguments of the structure that it was recorded for.
  [[nodiscard]] bool fits(const TracedCall& call) const;
  /// False where draws of the call have more than one key: then the body is to be called itself.
  [[nodiscard]] bool one_stream(const TracedCall& call) const;
  /// The results; the generators go on.
  [[nodiscard]] detail::Traced run(const TracedCall& call) const;

 private:
  /// A result: of the graph, an argument as it is, or a value that depends on none.
  struct Result {
    enum class Kind : std::uint8_t { Root, Argument, Constant } kind;
    std::uint32_t index;
    Array constant;
  };
  /// Where a leaf or a scalar comes from.
  struct Source {
    enum class Kind : std::uint8_t { Constant, Argument, Key, Draw } kind = Kind::Constant;
    std::uint32_t index = 0;    ///< of an argument, a generator or a draw
    graph::Edge constant = {};  ///< of a leaf
  };
  /// The graph as one walk saw it, and its plan for arguments of one layout.
  struct Variant {
    std::vector<std::uint64_t> layout;
    std::shared_ptr<const CompiledPlan> plan;
    std::vector<Source> leaves, scalars;
    std::vector<graph::ScalarCell> cells;
    std::vector<graph::GraphEdge> roots;
    std::vector<Where> lines;
    Device placed;
  };
  class Bound;

  void add_result(const Array& x, Where where);
  void settle(const TracedCall& call);
  [[nodiscard]] Source source_of(const graph::Node* n) const;
  [[nodiscard]] Device placed() const;
  [[nodiscard]] std::vector<graph::Edge> fresh_results() const;
  void fill_leaves(const Variant& v, const TracedCall& call, Run& run) const;
  void fill_cells(std::span<const Source> scalars, const TracedCall& call, std::vector<graph::ScalarCell>& cells) const;
  [[nodiscard]] std::shared_ptr<const Variant> bind_known(const TracedCall& call, const PlanQuestion& asked,
                                                          Run& run) const;
  [[nodiscard]] std::shared_ptr<Variant> bind_anew(const TracedCall& call, const PlanQuestion& asked, Run& run) const;
  void keep(const std::shared_ptr<const Variant>& v) const;

  graph::Context context_;
  std::vector<std::uint64_t> structure_;
  std::vector<graph::Edge> stand_ins_;  ///< by argument
  std::vector<graph::Edge> keys_;       ///< by generator
  std::vector<graph::Tracing::Draw> draws_;
  std::vector<std::uint64_t> drawn_;  ///< by generator: how many draws a call takes
  std::vector<graph::Edge> roots_;
  std::vector<Result> results_;
  std::any beside_;

  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Variant>> variants_;  ///< most recently made first
};

}  // namespace tarry::runtime
