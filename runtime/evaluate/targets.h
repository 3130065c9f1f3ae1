// Targets: the values that a pass over pieces computes, and where their pieces end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/slices/chunking.h"
#include "graph/slices/slices.h"

namespace tarry::runtime {

/// A value that is computed in chunks.
struct Target {
  enum class Kind : std::uint8_t {
    Result,  ///< a root that has the axis
    Cut,     ///< what its pieces fold to
    Carry    ///< what comes before the pieces of a scan
  } kind{};
  graph::GraphEdge edge;
  graph::Cut cut;      ///< of a Cut or a Carry: what its pieces are made of
  int axis = 0;        ///< of a Result's shape
  std::int64_t n = 0;  ///< extent of the axis
  std::int64_t chunk = 0;
  std::vector<std::int64_t> ends;  ///< of the pieces

  [[nodiscard]] std::int64_t begin(std::size_t piece) const { return piece == 0 ? 0 : ends[piece - 1]; }
  [[nodiscard]] bool has(std::size_t piece) const { return piece < ends.size(); }
  [[nodiscard]] bool is_tree() const {
    return kind == Kind::Carry || (kind == Kind::Cut && cut.kind == graph::CutKind::Tree);
  }
  /// Asks for what a piece is made of.
  void request(const graph::Graph& g, std::size_t piece, std::vector<graph::SliceRequest>& requests) const;
};

Target result_target(const graph::Graph& g, graph::GraphEdge edge, int axis);
Target cut_target(const graph::Cut& cut);
Target carry_target(const graph::Graph& g, graph::NodeId scan);

/// The one whose pieces say how long those of others are: the longest whose pieces are subtrees of tree R, or else the
/// longest.
const Target& main_of(const std::vector<Target>& targets);
std::int64_t shortest_chunk(const Target& t);
/// Pieces of about as many elements as `length` of the main target.
void divide(std::vector<Target>& targets, std::int64_t length);
std::size_t pieces_of(const std::vector<Target>& targets);

}  // namespace tarry::runtime
