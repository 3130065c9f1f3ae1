// PartialUpload: what makes operands smaller is done before they cross to a GPU. Of a host array of which a graph reads
// boxes only these cross; one that is only converted to a narrower dtype is converted on its way; one that is only
// reduced is reduced on the host where that takes less time (runtime/plan/placement.h). All give the bits that they
// would have there. What has crossed is kept with the array, and once its parts would come to more than all of it, all
// of it crosses; so it does when it is to be reduced for the second time: never more than twice the least.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tarry/plan.h>

#include "graph/slices/slices.h"
#include "runtime/plan/placement.h"

namespace tarry::runtime {

/// The plan for one leaf.
struct UploadedLeaf {
  graph::NodeId node = graph::kNoId;
  std::uint32_t leaf = 0;
  Dtype dtype{};                      ///< in which it crosses
  std::vector<graph::Box> boxes;      ///< what crosses of it
  std::vector<graph::NodeId> casts;   ///< all of its readers, where it crosses in their dtype
  std::int64_t bytes = 0, whole = 0;  ///< of these boxes, and of the leaf
};

struct PartialUpload {
  std::vector<UploadedLeaf> leaves;
  std::vector<tarry::Placement> placements;  ///< of all reductions that either side could do
  std::vector<HostReduction> reductions;  ///< done on the host: what of their leaves is read elsewhere is in `leaves`
  [[nodiscard]] bool empty() const { return leaves.empty(); }
};

/// Fewer bytes saved than this are not worth an evaluation of their own.
inline constexpr std::int64_t kLeastUpload = std::int64_t{1} << 20;

/// The part of a recorded graph that can be done before its leaves cross to `device`; a function of the graph and of
/// where leaves are. `reductions`: those that the host is to do, where all that would cross for them is saved.
PartialUpload find_partial_upload(const graph::Snapshot& s, Device device, std::vector<HostReduction> reductions,
                                  std::int64_t least = kLeastUpload);
/// With the reductions that are worth it, and without any where that differs.
std::vector<PartialUpload> find_partial_uploads(const graph::Snapshot& s, Device device,
                                                std::vector<HostReduction> reductions);
/// The one that is the way to go now, or nullptr: not where all of it is there, or where a leaf went there in parts too
/// often or was reduced on the host before.
const PartialUpload* that_pays(const std::vector<PartialUpload>& partial_uploads,
                               const std::vector<std::shared_ptr<graph::Storage>>& leaves, Device device);

/// True if a value, or a copy of it, is there. The caller holds its replica_mutex.
bool is_on(const graph::Storage& s, Device device);
/// True if a device has that part of a leaf. The caller holds the leaf's replica_mutex.
bool has_part(const graph::Storage& s, Dtype dtype, const graph::Box& box, Device device);

}  // namespace tarry::runtime
