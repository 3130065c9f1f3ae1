// Hoisting: what makes operands smaller is done before they cross to a GPU. Of a host array of which a graph reads boxes only
// these cross; one that is only converted to a narrower dtype is converted on its way. Both give the bits that they would
// have there. What has crossed is kept with the array, and once its parts would come to more than all of it, all of it
// crosses: never more than twice the least.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tarry/plan.h>

#include "graph/slices.h"
#include "runtime/backend.h"

namespace tarry::runtime {

/// Of one leaf.
struct HoistedLeaf {
  graph::NodeId node = graph::kNoId;
  std::uint32_t leaf = 0;
  Dtype dtype{};                      ///< in which it crosses
  std::vector<graph::Box> boxes;      ///< what crosses of it
  std::vector<graph::NodeId> casts;   ///< all of its readers, where it crosses in their dtype
  std::int64_t bytes = 0, whole = 0;  ///< of these boxes, and of the leaf
};
using Hoisting = std::vector<HoistedLeaf>;

/// Fewer bytes saved than this are not worth an evaluation of their own.
inline constexpr std::int64_t kLeastHoisted = std::int64_t{1} << 20;

/// What of a recorded graph can be done before its leaves cross to `device`; a function of the graph and of where leaves are.
Hoisting find_hoisting(const graph::Graph& g, const std::vector<std::shared_ptr<graph::Storage>>& leaves, Device device,
                       std::int64_t least = kLeastHoisted);
/// Whether that is the way to go now: not where all of it is there, or where a leaf went there in parts too often.
bool pays(const Hoisting& hoisting, const std::vector<std::shared_ptr<graph::Storage>>& leaves, Device device);

struct HoistedWork {
  const graph::Graph& graph;
  const std::vector<std::shared_ptr<graph::Storage>>& leaves;
  const std::vector<graph::ScalarCell>& cells;
  Backend& backend;
  Where where;
};

struct HoistedValues {
  std::vector<std::shared_ptr<graph::Storage>> roots;
  Counters counters;
  std::vector<Transfer> transfers;
};

/// The bytes of a leaf that are still to cross by that, and in how many copies.
struct Missing {
  std::int64_t bytes = 0, copies = 0;
};
Missing missing(const HoistedLeaf& leaf, graph::Storage& storage, Device device);

/// Evaluates the roots of the graph. Publishes nothing.
HoistedValues evaluate_hoisted(const HoistedWork& work, const Hoisting& hoisting);

}  // namespace tarry::runtime
