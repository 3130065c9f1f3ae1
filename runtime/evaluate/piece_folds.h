// Folds of pieces: a value without the axis, from pieces of what it is computed from (CutKind in
// graph/slices/chunking.h). The bits are those of the whole, whatever the length of pieces is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/slices/chunking.h"
#include "graph/slices/slices.h"

namespace tarry::runtime {

/// The state of some consecutive elements of the axis.
struct PartialState {
  graph::Edge first, second;          ///< to be evaluated; what they are is the fold's
  std::int64_t at = 0;                ///< of the first element
  std::int64_t count = 0;             ///< elements
  std::vector<graph::Edge> operands;  ///< of the piece, where `first` waits for the pieces before
};

/// Evaluates what a fold records beside pieces. None where a fold only pretends, to find out how much memory it takes.
using EvaluateEdges = std::function<void(std::span<const graph::Edge>)>;

class PieceFold {
 public:
  PieceFold() = default;
  PieceFold(const PieceFold&) = delete;
  PieceFold& operator=(const PieceFold&) = delete;
  virtual ~PieceFold() = default;

  /// The piece that begins at an element is recorded next.
  virtual void expect(std::int64_t at) { (void)at; }
  /// Records the state of a piece, of slices of the cut's operands. Those of some more pieces may be recorded before
  /// the first is evaluated.
  [[nodiscard]] virtual PartialState record(std::span<const graph::Edge> operands, std::int64_t at,
                                            std::int64_t count) = 0;
  /// Completes a state that is evaluated next, in the order of pieces.
  virtual void start(PartialState& state) { (void)state; }
  /// Takes the evaluated state of the next piece.
  virtual void take(PartialState state) = 0;
  /// The value, evaluated, once all pieces are taken.
  [[nodiscard]] virtual PartialState total() = 0;
};

/// Bytes of what a fold keeps from one piece to the next; of a tree, of one subtree.
std::size_t bytes_of_state(const graph::Graph& g, const graph::Cut& cut);

/// A value that is never read, of new memory where it is that of a cut: for sizes.
graph::Edge stand_in(Dtype dtype, const graph::Dims& shape, Device device);

}  // namespace tarry::runtime
