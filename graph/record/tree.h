// Reductions and scans with a combining operation that is recorded: tree R (docs/reference/numerics.md) over slices.
#pragma once

#include <tarry/function.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/record/record.h"

namespace tarry::graph {

/// The end of an axis at which a scan begins.
enum class From : std::uint8_t { First, Last };

/// States of one shape along an axis, and the operation that combines two of them.
class CombinedAxis {
 public:
  CombinedAxis(std::string_view called, const Combine& combine, int axis, Where where)
      : called_(called), combine_(combine), axis_(axis), where_(where) {}

  /// The states without the axis, whose extent is at least 1: what all elements combine to by tree R.
  [[nodiscard]] std::vector<Edge> reduced(const std::vector<Edge>& states) const;
  /// Running combinations: a loop that combines where the combination is elementwise and its states are small, in the
  /// order of scans; else level by level of pairs.
  [[nodiscard]] std::vector<Edge> scanned(const std::vector<Edge>& states, From from) const;

 private:
  using States = std::vector<Edge>;
  [[nodiscard]] std::int64_t extent(const States& s) const {
    return s.front().node()->shape()[static_cast<std::size_t>(axis_)];
  }
  template <class F>
  static States each(const States& states, F f) {
    States out;
    for (const Edge& e : states) out.push_back(f(e));
    return out;
  }
  [[nodiscard]] States part(const States& states, std::int64_t from, std::int64_t count, std::int64_t step = 1) const;
  [[nodiscard]] States joined(const States& a, const States& b) const;
  [[nodiscard]] States combined(const States& a, const States& b) const;
  [[nodiscard]] States lanes_of_whole_blocks(const States& states, std::int64_t blocks) const;
  [[nodiscard]] States block(const States& states) const;
  [[nodiscard]] States halved(States lanes) const;
  [[nodiscard]] States turned(const States& states) const;
  [[nodiscard]] States by_pairs(const States& states) const;
  [[nodiscard]] static bool is_elementwise(const States& a, const States& b, const States& both);
  [[nodiscard]] std::optional<States> by_loop(const States& states, From from) const;
  [[nodiscard]] static Mode mode_of(const States& next);

  const std::string_view called_;
  const Combine& combine_;
  const int axis_;
  const Where where_;
};

}  // namespace tarry::graph
