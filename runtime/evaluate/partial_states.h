// Partial states of a reduction whose axis is worked off in chunks, and how they combine: tree R of
// docs/reference/numerics.md above the level of chunks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/evaluate/piece_folds.h"

namespace tarry::runtime {

/// States hold the value; mean and m2; or the index from `at` on, and the value there.
class PartialStates final : public PieceFold {
 public:
  PartialStates(const graph::Slicer& slicer, graph::NodeId reduce, std::int64_t chunk, EvaluateEdges evaluate)
      : slicer_(slicer), reduce_(reduce), chunk_(chunk), evaluate_(std::move(evaluate)) {}

  /// Chunks of `chunk` elements, a power of two of tree blocks, of an axis of n: the ends of the pieces that the axis
  /// is reduced in. All but the last are subtrees of R; a rest too short to be a block on its own comes element by
  /// element.
  static std::vector<std::int64_t> ends(std::int64_t n, std::int64_t chunk);
  /// The largest length of that kind up to `most`, 0 where there is none.
  static std::int64_t chunk_length(std::int64_t most);

  [[nodiscard]] PartialState record(std::span<const graph::Edge> inputs, std::int64_t at, std::int64_t count) override;
  void take(PartialState state) override;
  [[nodiscard]] PartialState total() override;

 private:
  void push(PartialState state);
  [[nodiscard]] PartialState merge(const PartialState& a, const PartialState& b) const;

  const graph::Slicer& slicer_;
  const graph::NodeId reduce_;
  const std::int64_t chunk_;
  const EvaluateEdges evaluate_;
  std::int64_t whole_ = 0;              ///< pieces of full length so far
  std::vector<PartialState> stack_;     ///< aligned subtrees, the largest first
  std::vector<PartialState> elements_;  ///< of a short rest
};

}  // namespace tarry::runtime
