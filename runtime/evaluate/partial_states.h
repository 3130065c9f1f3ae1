// Partial states of a reduction whose axis is worked off in chunks, and how they combine: tree R of
// docs/reference/numerics.md above the level of chunks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/slices/slices.h"

namespace tarry::runtime {

/// The state of some consecutive elements of the axis. Evaluated.
struct PartialState {
  graph::Edge first, second;  ///< the value; mean and m2; the index from `at` on, and the value there
  std::int64_t at = 0;        ///< of the first element
  std::int64_t count = 0;     ///< elements
};

class PartialStates {
 public:
  using Evaluate = std::function<void(std::span<const graph::Edge>)>;

  PartialStates(const graph::Slicer& slicer, graph::NodeId reduce, Evaluate evaluate)
      : slicer_(slicer), reduce_(reduce), evaluate_(std::move(evaluate)) {}

  /// Chunks of `chunk` elements, a power of two of tree blocks, of an axis of n: the ends of the pieces that the axis
  /// is reduced in. All but the last are subtrees of R; a rest too short to be a block on its own comes element by
  /// element.
  static std::vector<std::int64_t> ends(std::int64_t n, std::int64_t chunk);
  /// The largest length of that kind up to `most`, 0 where there is none.
  static std::int64_t chunk_length(std::int64_t most);

  /// The lazy state of elements `at` <= k < `at` + `count`, of slices of the reduction's inputs: its edges are to be
  /// evaluated.
  [[nodiscard]] PartialState reduce(std::span<const graph::Edge> inputs, std::int64_t at, std::int64_t count) const;
  /// Takes the evaluated state of the next piece, of full length.
  void push(PartialState state);
  /// The same of one that is shorter: the last, or its last elements one by one.
  void push_rest(PartialState state);
  /// All of the axis.
  [[nodiscard]] PartialState total();

 private:
  [[nodiscard]] PartialState merge(const PartialState& a, const PartialState& b) const;

  const graph::Slicer& slicer_;
  const graph::NodeId reduce_;
  const Evaluate evaluate_;
  std::int64_t whole_ = 0;              ///< pieces of full length so far
  std::vector<PartialState> stack_;     ///< aligned subtrees, the largest first
  std::vector<PartialState> elements_;  ///< of a short rest
};

}  // namespace tarry::runtime
