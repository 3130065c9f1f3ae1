// Moves: the small steps of a local search. Kernels are merged; nodes are stored, computed again, moved or shared; each
// step that saves time stays, until none does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/fusion/partition.h"
#include "graph/fusion/ways.h"

namespace tarry::graph {

class Moves {
 protected:
  static constexpr double kLeast = 1e-12;  ///< seconds a move must save

  Moves(Partition& p, KernelModel& model, const FusionGraph& f, std::uint64_t budget)
      : p_(p), model_(model), f_(f), ways_(p), end_(model.visits() + budget) {}

  [[nodiscard]] bool spent() const { return model_.visits() >= end_; }
  [[nodiscard]] bool empty(KernelId k) const { return k >= p_.kernel_count() || p_.kernel(k).members.empty(); }
  /// The same numbers for the same graph.
  std::size_t pick(std::size_t n);
  void shuffle(std::vector<std::uint32_t>& v);

  // --- The queue ----------------------------------------------------------------------------------------------------

  void enqueue(KernelId k);
  /// Takes the steps around kernels of the queue, and around those that these change.
  void descend();
  /// Keeps the trial at hand if it saves more than `least` seconds.
  bool improve(double least = kLeast);
  void accept();
  void note(const std::vector<KernelId>& changed);

  // --- Steps --------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::vector<KernelId> neighbours(KernelId k);
  void merges(KernelId k);
  void nodes(KernelId k);
  /// The values that the kernel computes and nobody stores: what others compute as well, or this one at other points
  /// than its own.
  [[nodiscard]] std::vector<NodeId> worth_storing(KernelId k) const;
  /// Kernel `k` stores a node, or none does, with what kernels must store then; kept if it saves more than `least`.
  bool try_assign(NodeId v, KernelId k, double least = kLeast);

  Partition& p_;
  KernelModel& model_;
  const FusionGraph& f_;
  Ways ways_;          // from the kernel at hand
  std::uint64_t end_;  // of model_.visits(): when to stop
  double launch_ = model_.cost().seconds_per_launch, least_ = 0;
  std::vector<KernelId> queue_;
  bool thorough_ = true;                // whether all nodes of a kernel are tried
  std::uint64_t moment_ = 0;            // moves kept
  std::vector<std::uint64_t> changed_;  // by kernel: when

 private:
  enum class Merged : std::uint8_t { Saves, SavesNothing, HasNoRoom };
  /// A value that nobody stores, and those that its kernel makes of it and stores.
  struct Common {
    NodeId node;
    std::vector<NodeId> stored;
  };

  /// The time of a kernel beyond its launch: no more can be saved while it stays.
  [[nodiscard]] double work(KernelId k) const { return empty(k) ? 0 : p_.seconds(k) - launch_; }
  [[nodiscard]] double load_seconds(NodeId v) const {
    return static_cast<double>(f_.g.bytes(v)) / model_.cost().bytes_per_second;
  }
  void count_ways(KernelId k);
  bool fresh(KernelId a, KernelId b);
  bool merge(KernelId k, KernelId o);
  Merged merge_all(KernelId k, std::vector<KernelId> others);
  bool merge_needed(KernelId k, KernelId o);
  bool merge_with(KernelId k, const std::vector<KernelId>& others, const std::vector<NodeId>& stored);
  void store_common(KernelId k);
  [[nodiscard]] std::vector<Common> common_values(KernelId k);
  [[nodiscard]] std::vector<NodeId> loaded(KernelId k) const;
  std::vector<NodeId> some(std::vector<NodeId> nodes);
  void stored_node(NodeId v, KernelId k);
  double seconds_without(NodeId v, KernelId k);
  [[nodiscard]] std::vector<KernelId> around(NodeId v) const;
  [[nodiscard]] KernelId reducer(NodeId reduce);
  [[nodiscard]] double most_by_repeating(NodeId v) const;
  bool try_again(KernelId k, NodeId v);

  std::uint64_t random_ = 0x9E3779B97F4A7C15u;
  std::vector<bool> waiting_;
  bool legal_ = false;                                      // whether the last trial was
  std::vector<std::vector<KernelId>> full_;                 // sets for which the kernel at hand has no room
  std::unordered_map<std::uint64_t, std::uint64_t> tried_;  // by pair: when its merge was tried
};

}  // namespace tarry::graph
