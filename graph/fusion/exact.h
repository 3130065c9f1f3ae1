// The best partition of a few nodes by branch and bound, everything around them left as it is.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/fusion/partition.h"

namespace tarry::graph {

class Exact {
 public:
  static constexpr std::size_t kMostNodes = 10;

  Exact(Partition& p, KernelModel& model, const FusionGraph& f) : p_(p), model_(model), f_(f), g_(f.g) {}

  /// Makes the best of `window`: ascending; with a node that a kernel stores, all that it stores. False where that is
  /// too much work. What has changed is in changed().
  bool improve(const std::vector<NodeId>& window);
  [[nodiscard]] const std::vector<KernelId>& changed() const { return changed_; }

 private:
  using Set = std::uint32_t;  // of the window's nodes, by number
  struct Option {             // a kernel of some members
    Set loads = 0;            // what it may load
    Set loaded = 0;           // what it does load; second outputs from bit kSecond on
    Set computed = 0;
    double seconds = kIllegal;
  };
  struct Block {
    Set members;
    Option option;
  };
  static constexpr double kIllegal = 1e30;
  static constexpr int kSecond = 16;
  static constexpr std::uint64_t kMostSteps = 100'000;

  void describe();
  [[nodiscard]] bool may_meet(NodeId a, NodeId b) const;
  [[nodiscard]] bool in_space(NodeId id, SpaceId a, SpaceId b) const;
  [[nodiscard]] double store_seconds(Set loaded) const;
  const Option& option(Set members, Set loads);
  const Option& cheapest(Set members, Set stored);
  double bound(Set left, Set stored);
  void descend(Set left, Set stored, double so_far);
  void finish(double so_far);
  void apply();

  Partition& p_;
  KernelModel& model_;
  const FusionGraph& f_;
  const Graph& g_;
  std::vector<NodeId> nodes_;
  std::vector<KernelId> kernels_, changed_;
  std::vector<Set> above_, meets_;  // by node: what it needs; what may share a kernel with it
  std::vector<bool> fits_;          // by set: whether all of it may
  // Not repeatable; with stores that are counted in the end; always stored; loaded by kernels of other nodes.
  Set all_ = 0, hard_ = 0, late_ = 0, must_ = 0, outside_ = 0;
  std::unordered_map<std::uint64_t, Option> options_, cheapest_;
  std::vector<double> bounds_;
  std::vector<Set> bound_of_;
  std::vector<Block> blocks_, best_blocks_;
  double best_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace tarry::graph
