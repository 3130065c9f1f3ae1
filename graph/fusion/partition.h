// Partition: which kernel stores what, under moves that can be taken back; the state of every search over fusions.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "graph/fusion/memo.h"

namespace tarry::graph {

/// Two kernels that become one row-and-column group.
struct RowColumnPair {
  KernelId along, across;
};

class Partition {
 public:
  /// From the groups and recomputed sets of `start`. The nodes of a group that the model does not accept are kernels of
  /// their own. usable() is false where it does not accept these either.
  Partition(const FusionGraph& f, KernelModel& model, const Fusion& start, const Limits& limits);
  /// From kernels that load only from those before them.
  Partition(const FusionGraph& f, KernelModel& model, std::vector<Kernel> kernels, const Limits& limits);
  /// Another one of the same graph.
  [[nodiscard]] Partition with(std::vector<Kernel> kernels) const {
    return {*f_, *model_, std::move(kernels), *limits_};
  }

  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double seconds(KernelId k) const { return kernels_[k].known->cost.seconds; }
  [[nodiscard]] std::size_t kernel_count() const { return kernels_.size(); }  ///< empty ones included
  [[nodiscard]] const Kernel& kernel(KernelId k) const { return kernels_[k].plan; }
  [[nodiscard]] const std::vector<GraphEdge>& loads(KernelId k) const { return kernels_[k].known->cost.loads; }
  [[nodiscard]] NodeId walks(KernelId k) const { return kernels_[k].known->walks; }  ///< a member along an axis, if any
  [[nodiscard]] const std::vector<NodeId>& repeated(KernelId k) const { return kernels_[k].known->repeated; }
  [[nodiscard]] const std::vector<NodeId>& widened(KernelId k) const { return kernels_[k].known->widened; }
  [[nodiscard]] const std::vector<KernelId>& repeated_by(NodeId v) const { return repeated_by_[v]; }
  [[nodiscard]] const std::vector<KernelId>& loaded_by(NodeId v) const { return loaded_by_[v]; }
  [[nodiscard]] KernelId kernel_of(NodeId v) const { return kernel_of_[v]; }
  [[nodiscard]] bool can_repeat(NodeId v) const { return again(v) && !f_->root(v); }
  /// True if a kernel may compute what another stores.
  [[nodiscard]] bool again(NodeId v) const { return f_->repeatable(v) || f_->nestable(v); }

  /// True if one kernel does everything and computes each node once: no partition takes less.
  [[nodiscard]] bool ideal();

  /// The place of a kernel in an order in which each comes after those that it loads from.
  [[nodiscard]] std::uint32_t rank(KernelId k) const { return rank_[k]; }

  /// Moves. Each begins a trial; settle() works out the consequences and says whether the result is legal; then keep()
  /// or undo().
  void merge(KernelId a, KernelId b);
  /// Quick noes: whether one space has room for both.
  [[nodiscard]] bool may_merge(KernelId a, KernelId b) const;
  [[nodiscard]] bool may_store(NodeId v, KernelId k) const;
  void assign(NodeId v, KernelId k);  ///< kNoId: stored by none; kernel_count(): a new kernel
  void toggle_again(KernelId k, NodeId v);
  void repeat(KernelId k, std::vector<NodeId> again);
  bool settle(int patience = 1);
  void keep();
  void undo();
  /// Where settle() found that kernels wait for each other: what each loads from the one before it.
  struct Link {
    KernelId from, to;
    NodeId node;  ///< one that `to` loads from `from`
  };
  [[nodiscard]] const std::vector<Link>& circle() const { return circle_; }
  /// Where settle() found that a kernel must store another value, or two kernels the same: that value and the kernel.
  /// Without a kernel: one that is a reduction within a loop, and may be stored by any other kernel along its axis.
  struct Obstacle {
    NodeId node = kNoId;
    KernelId kernel = kNoId;
  };
  [[nodiscard]] const Obstacle& obstacle() const { return obstacle_; }
  /// settle(), then keeps what saves more than `least` seconds.
  bool improve(double least);

  /// The relation of a kernel to one that reduces another axis.
  [[nodiscard]] Walk walk(KernelId k);
  /// For at most 16 nodes, numbered as bits: the kernel that stores `members`, with all outputs, loads what is in
  /// `loads` and computes the rest.
  KernelCost probe(const std::vector<NodeId>& window, std::uint32_t members, std::uint32_t loads);

  /// A kernel without members, or kernel_count(), for assign().
  [[nodiscard]] KernelId spare() const;
  /// Everything kept between the two can be taken back as one.
  void begin_group();
  void keep_group();
  void undo_group();
  /// The trial at hand: what it saves, and the kernels it has looked at.
  [[nodiscard]] double saved_seconds() const { return seconds_before_ - seconds_; }
  [[nodiscard]] std::vector<KernelId> changed_now() const {
    std::vector<KernelId> k;
    for (const auto& [id, entry] : saved_) k.push_back(id);
    return k;
  }

  /// The groups, recomputed sets and reasons of the present state.
  Fusion emit(const std::vector<UnfusedEdge>& known, const std::vector<RowColumnPair>& pairs = {});

 private:
  struct Entry {
    Kernel plan;
    std::shared_ptr<const Evaluation> known = std::make_shared<Evaluation>();
  };
  [[nodiscard]] bool read(NodeId v) const {
    return readers_[2 * std::size_t{v}] != 0 || readers_[2 * std::size_t{v} + 1] != 0;
  }
  /// True if it is not stored where nobody loads it; a reduction stays a reduction of its kernel.
  [[nodiscard]] bool droppable(NodeId v) const { return f_->repeatable(v) && !f_->root(v); }
  [[nodiscard]] bool may_meet(NodeId a, NodeId b) const;
  [[nodiscard]] NodeId landmark(KernelId k) const;
  void touch(KernelId k);
  enum class Dirty : std::uint8_t { No, Readers, Nodes, More };  // what has changed since it was looked at
  void mark(KernelId k, Dirty why);
  void set_kernel(NodeId v, KernelId k);
  bool evaluate(KernelId k);
  void add_load(KernelId k, const GraphEdge& l, int by);
  void link(KernelId k, std::shared_ptr<const Evaluation> next);
  void note_readers(KernelId k);
  [[nodiscard]] bool stale(KernelId k) const;
  [[nodiscard]] KernelId next_dirty();
  bool drop_unread();
  void reset();
  bool one_home();
  bool in_order();
  bool put_before(KernelId first, KernelId second);
  void add_link(KernelId from, KernelId to);

  const FusionGraph* f_;
  KernelModel* model_;
  std::shared_ptr<KernelMemo> memo_;
  const Limits* limits_;
  bool usable_ = true;
  std::vector<KernelId> rejected_;  // of several nodes: what the model or the order has no place for, descending
  double seconds_ = 0;
  std::vector<Entry> kernels_;
  std::vector<KernelId> kernel_of_;
  std::vector<std::uint32_t> readers_;            // by node and output
  std::vector<std::vector<KernelId>> loaded_by_;  // by node
  std::vector<std::vector<KernelId>> repeated_by_;
  std::vector<std::uint32_t> after_;  // by node: kernels on whose reductions it depends there

  std::vector<std::uint32_t> rank_;  // by kernel; each number once, a kernel's after those it loads from

  std::vector<std::pair<KernelId, Entry>> saved_;
  std::vector<std::pair<NodeId, KernelId>> moved_;
  std::vector<std::pair<KernelId, std::uint32_t>> ranked_;
  std::vector<KernelId> dirty_;
  std::vector<Dirty> dirty_flag_;
  std::vector<bool> dead_;
  std::vector<std::uint32_t> linked_;  // by node and output: the list that it was last found on
  std::uint32_t linking_ = 0;
  std::vector<bool> base_;   // by node: some scatter writes over it
  std::vector<bool> noted_;  // by node and output: whether others loaded it when its kernel was looked at
  std::vector<std::uint32_t> touched_;
  std::uint32_t trial_ = 1;
  std::vector<NodeId> unread_;
  std::size_t kernels_before_ = 0;
  double seconds_before_ = 0;
  bool grouped_ = false;
  std::uint32_t group_ = 0;
  std::vector<std::uint32_t> group_touched_;
  std::vector<std::pair<KernelId, Entry>> group_saved_;
  std::vector<std::pair<NodeId, KernelId>> group_moved_;
  std::vector<std::pair<KernelId, std::uint32_t>> group_ranked_;
  std::size_t group_kernels_ = 0;
  double group_seconds_ = 0;
  KernelId spare_ = kNoId;
  std::vector<Link> circle_;
  Obstacle obstacle_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t epoch_ = 0;
};

}  // namespace tarry::graph
