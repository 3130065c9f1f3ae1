// KernelMemo: what the model has found, for kernels that a search comes back to.
//
// The time of a kernel depends on its members, on which of their outputs others load, and on where the nodes that it
// meets below them are stored: here, elsewhere, or nowhere. All of that is kept with a result and compared, so that a
// result that is found again is the one the model would give.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/fusion/model.h"

namespace tarry::graph {

struct Evaluation {
  KernelCost cost;
  std::vector<NodeId> repeated;  ///< what it computes and does not store
  std::vector<NodeId> after;     ///< of those: what depends on its own reductions
  std::vector<NodeId> widened;   ///< of those: what it computes at more places than a value made of it
  std::vector<NodeId> dead;      ///< reductions of its members that nothing needs
  NodeId walks = kNoId;          ///< a member that goes along an axis, if any
};

class KernelMemo {
 public:
  KernelMemo(const FusionGraph& f, KernelModel& model);

  /// As KernelModel::evaluate.
  std::shared_ptr<const Evaluation> evaluate(KernelId id, const Kernel& kernel, const std::vector<KernelId>& kernel_of,
                                             const std::vector<std::uint32_t>& readers);

 private:
  enum Role : std::uint8_t { kNowhere, kElsewhere, kAgain, kHere };  // above two bits: which outputs others load
  struct Met {
    NodeId node;
    std::uint8_t role;
  };
  struct Known {
    std::uint64_t key = 0;
    std::size_t members = 0;
    std::vector<Met> met;  // members first
    std::shared_ptr<const Evaluation> evaluation;
  };
  static constexpr std::size_t kMostSets = 1024, kWays = 4;
  static constexpr std::uint64_t kWorthKeeping = 8;  // requests

  [[nodiscard]] std::uint8_t role(NodeId v, KernelId owner) const;
  [[nodiscard]] static std::uint8_t loaded(NodeId v, const std::vector<std::uint32_t>& readers);
  std::shared_ptr<const Evaluation> look(KernelId id, const Kernel& kernel, const std::vector<KernelId>& kernel_of,
                                         const std::vector<std::uint32_t>& readers);

  const FusionGraph& f_;
  KernelModel& model_;
  std::vector<std::vector<Known>> known_;      // by a hash of the members, the newest last
  std::vector<std::uint32_t> again_, listed_;  // by node: when it was on the list
  std::uint32_t moment_ = 0, listing_ = 0;
};

}  // namespace tarry::graph
