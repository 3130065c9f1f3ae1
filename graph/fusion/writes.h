// Writes: which update wrote what is read. Updates that go on from each other, each into the last one's result, form
// chains; reading a place of a chain needs none of the updates whose boxes lie elsewhere.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "graph/fusion/trace.h"

namespace tarry::graph {

/// How the box of a dense update lies to what is read of its result, dimension `but` left out: `whole` has the extents
/// that the coordinates of the reader run over.
enum class Lies : std::uint8_t { Inside, Outside, Across };
Lies lies(const Graph& g, const Source& read, const Dims& whole, int but = -1);

class Writes {
 public:
  static constexpr std::int64_t kFewestPlaces = 6;  ///< of a long chain

  explicit Writes(const Graph& g);
  /// The place that is read at coordinates of `lanes`, behind all updates whose box holds all of it or nothing. The
  /// work is logarithmic in the updates that write one place of an axis each.
  [[nodiscard]] Source resolve(Source s, const Dims& lanes) const;
  /// The last update before a view that holds what the view reads of an earlier one. Of a short chain it is one that
  /// others view too: what is viewed is often stored, and one array is then where several were. Of a long chain it is
  /// any: the levels need one result.
  [[nodiscard]] NodeId latest(NodeId view) const;

 private:
  struct Chain {
    std::vector<NodeId> updates;  ///< each goes on from the one before
    int axis = -1;                ///< along which boxes are one place, whole along the others
    std::unordered_map<std::int64_t, std::vector<std::uint32_t>> at;  ///< by place: the positions of its updates
    std::vector<std::uint32_t> others;                                ///< positions of other boxes
  };
  struct Place {
    std::uint32_t chain, position;
  };
  void add(Chain& chain, NodeId update);
  [[nodiscard]] std::optional<std::int64_t> place_read(const Chain& chain, const Source& s) const;

  const Graph* g_;
  std::vector<bool> viewed_;  ///< by node
  std::vector<Chain> chains_;
  std::unordered_map<NodeId, Place> places_;
};

}  // namespace tarry::graph
