// KernelModel: what a kernel would load, store and compute, and whether it is legal, without lowering it.
//
// A partition says for every scheduled node which kernel stores it, or that none does: then every reader computes it
// again. That decides everything: a kernel computes what its outputs need, down to what other kernels store. It follows
// the same index maps as the lowering, so that bytes and instructions are those of the KernelIr.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/fusion/graph.h"
#include "graph/fusion/number_table.h"

namespace tarry::graph {

using KernelId = std::uint32_t;

struct Kernel {
  std::vector<NodeId> members;  ///< nodes that it alone computes or stores
  std::vector<NodeId> again;    ///< nodes that others store and this one computes again instead of loading
};

/// A node wanted at one place of a kernel's space. Decided: an update that is one of its inputs there.
struct Computed {
  NodeId node;
  std::uint32_t place;
  bool home = false;  ///< at the coordinates of the kernel's space
  bool decided = false;
  bool depends = false;  ///< on a reduction of the kernel
  bool early = false;    ///< wanted before the epilogue
  bool spread = false;   ///< stored at every point
  std::uint8_t region = 0;
  std::uint32_t loop = kNoId;                   ///< the request of the nested reduction that it is computed in
  std::uint32_t inputs[Node::kMaxInputs] = {};  ///< a request, or one of KernelModel's constants
};

/// An input of a reduction, a copy or a scatter.
struct MemberInput {
  NodeId member;
  int input;
  std::uint32_t found;
};

/// A value that a kernel reads at one place of its space.
struct Stream {
  GraphEdge edge;
  std::int64_t bytes = 0;  ///< of all that is read of the value
  std::uint32_t axes = 0;  ///< bits: axes of the kernel's space that move it
  int contiguous = -1;     ///< the axis along which neighbours lie side by side
};

/// The relation of a kernel that reduces one axis to one that reduces another.
struct Walk {
  bool simple = false;  ///< goes over its space once, without loops or scans
  ReduceKey key = kNoId;
  Mode mode{};
  std::vector<NodeId> reductions;
  std::vector<Stream> streams;
  int buffers = 0, statements = 0;
};

struct KernelCost {
  bool legal = false;
  Reason reason = Reason::Fused;  ///< why it is not legal
  NodeId obstacle = kNoId;        ///< another kernel stores it; it would be legal if this one did
  NodeId inner = kNoId;           ///< a reduction within a loop, stored by none; it may be legal if another kernel did
  double seconds = 0;
  std::vector<GraphEdge> loads;  ///< stored values that it reads, each once
};

class KernelModel {
 public:
  KernelModel(const FusionGraph& f, const CostModel& cost, const Limits& limits);

  /// `kernel_of`: by node, kNoId where no kernel stores it. `readers`: by node and output, kernels that load it.
  KernelCost evaluate(KernelId id, const Kernel& kernel, const std::vector<KernelId>& kernel_of,
                      const std::vector<std::uint32_t>& readers);
  /// The nodes that the last evaluated kernel computes.
  [[nodiscard]] const std::vector<Computed>& computed() const { return requests_; }
  /// Places at which the last evaluated kernel computes a node.
  [[nodiscard]] int places(NodeId v) const { return places_of_[v].kernel == kernel_number_ ? places_of_[v].count : 0; }
  /// Nodes of which it depends on where the last evaluated kernel finds them.
  [[nodiscard]] const std::vector<NodeId>& met() const { return met_; }
  /// True if the last evaluated kernel needs a reduction of its members.
  [[nodiscard]] bool live(NodeId reduce) const { return std::find(live_.begin(), live_.end(), reduce) != live_.end(); }
  [[nodiscard]] Walk walk() const;  ///< of the last evaluated kernel
  /// True if the last evaluated kernel computes each of its nodes once, as often as it has elements.
  [[nodiscard]] bool computes_once();
  [[nodiscard]] const std::vector<MemberInput>& member_inputs() const { return member_inputs_; }
  /// Inputs of a Computed that are no requests.
  static constexpr std::uint32_t kLoad = ~std::uint32_t{0} - 3, kVaryingLoad = kLoad + 1, kResult = kLoad + 2,
                                 kFree = kLoad + 3;
  static constexpr std::uint32_t kCopy = std::uint32_t{1} << 30;
  /// Requests looked at since the start: the unit of the scheduler's work.
  [[nodiscard]] std::uint64_t visits() const { return visits_; }
  void spend(std::uint64_t visits) { visits_ += visits; }
  [[nodiscard]] const CostModel& cost() const { return cost_; }
  static std::size_t slot(const GraphEdge& e) { return std::size_t{e.node} * 2 + e.output; }
  [[nodiscard]] bool root(const GraphEdge& e) const { return root_[slot(e)]; }

 private:
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
  /// Coordinates of a kernel's space -> dimensions of a value, and where along the axes it is wanted.
  struct Place {
    std::vector<AxisMap> dims;
    std::vector<std::int64_t> box;  // low and high by axis; empty: everywhere
    std::uint32_t axes = 0;         // bits: axes that move it
    std::uint32_t loop = kNoId;     // whose axis moves it
    bool gathered = false;          // at coordinates that the kernel computes
  };
  struct Step {
    GraphEdge edge;
    std::uint32_t place = 0;
    bool memory = false;
  };
  struct Buffer {
    GraphEdge edge;
    bool leaf;
    std::int64_t bytes;
  };

  [[nodiscard]] bool start(const Kernel& kernel);
  bool place_member(NodeId id);
  bool want_outputs(const Kernel& kernel);
  [[nodiscard]] bool stored(GraphEdge e) const { return root(e) || (*readers_)[slot(e)] != 0; }
  bool want_inputs();
  bool find_regions();
  bool check_reductions();
  bool holds_all();
  int unrelated();
  void count();
  [[nodiscard]] std::uint32_t ending_axes() const;
  [[nodiscard]] std::uint32_t ending_axes(const Computed& update) const;
  [[nodiscard]] std::int64_t runs_along(int axis) const;
  [[nodiscard]] std::uint32_t slot_axes() const;
  [[nodiscard]] double slots_without(const Place& place, std::uint32_t slots) const;
  double scatter_seconds();
  std::uint32_t home(ShapeId shape, bool outer);
  std::uint32_t find_home(ShapeId shape, bool outer);
  std::uint32_t home_of(NodeId id);
  std::uint32_t intern(Place place);
  static void trim(Place& place);
  static bool is_everywhere(const std::vector<std::int64_t>& box);
  Step step(NodeId reader, int input, std::uint32_t place);
  Step make_step(NodeId reader, int input, std::uint32_t place);
  [[nodiscard]] std::optional<std::uint64_t> key_in_space(std::uint64_t slot, std::uint32_t place) const;
  /// The find of a step: a request or one of the constants.
  std::uint32_t want(const Step& s);
  void demand_everywhere(std::uint32_t request, NodeId output);
  void load_operands(NodeId id);
  void reduce(NodeId id);
  std::uint32_t want_for(NodeId member, int input, std::uint32_t place);
  std::uint32_t load(const Step& s);
  [[nodiscard]] int contiguous_axis(const Step& s) const;
  [[nodiscard]] bool moves_everywhere(const Place& place) const;
  [[nodiscard]] std::int64_t stride_along(const Step& s, int axis) const;
  std::uint32_t request(NodeId node, std::uint32_t place);
  int decide(NodeId update, std::uint32_t place);
  [[nodiscard]] int find_decision(NodeId update, std::uint32_t place) const;
  std::uint32_t nest(NodeId reduce, std::uint32_t place);
  std::uint32_t loop_place(const Computed& c);
  [[nodiscard]] double loop_extent(std::uint32_t loop) const {
    return static_cast<double>(f_.reduce_space(f_.key(loops_[loop].first)).extent);
  }
  AxisMap gathered(NodeId gather, std::uint32_t place);
  [[nodiscard]] std::optional<std::vector<std::int64_t>> update_box(NodeId update, const Place& place) const;
  bool fail(Reason reason);
  /// The kernel that stores `node`, noted in met().
  KernelId owner_of(NodeId node) {
    if (met_by_[node] != kernel_number_) met_.push_back(node);
    met_by_[node] = kernel_number_;
    return (*kernel_of_)[node];
  }

  const FusionGraph& f_;
  const Graph& g_;
  const CostModel& cost_;
  const Limits& limits_;
  std::vector<bool> root_, same_place_;
  std::vector<Place> places_;
  std::unordered_map<std::string, std::uint32_t> place_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> homes_;
  NumberTable step_numbers_, space_numbers_;  // of steps; those that depend on the kernel's space
  NumberTable decisions_;
  std::vector<Step> steps_;
  std::vector<std::pair<NodeId, std::uint32_t>> loops_;  // nested reductions, and where they are wanted
  std::unordered_map<std::uint64_t, std::uint32_t> loop_ids_;
  std::vector<std::uint32_t> gathered_axes_;  // by computed coordinate: the axes that move it
  std::unordered_map<std::string, std::int32_t> gathered_ids_;
  std::uint64_t visits_ = 0;

  // The kernel at hand.
  KernelId id_ = kNoId;
  const std::vector<KernelId>* kernel_of_ = nullptr;
  const std::vector<std::uint32_t>* readers_ = nullptr;
  const std::vector<NodeId>* again_ = nullptr;
  KernelCost out_;
  Mode mode_{};
  ReduceKey key_ = kNoId;
  SpaceId point_ = 0, outer_ = 0;
  Dims space_;
  int axis_ = -1;
  NodeId scatter_ = kNoId;
  double points_ = 0, rows_ = 0;
  bool row_kernel_ = false, ambiguous_ = false, scans_ = false, nests_ = false, gathers_ = false;
  std::vector<std::uint32_t> loop_requests_;  // by loop
  int reductions_ = 0;
  std::vector<Computed> requests_;
  std::vector<Buffer> buffers_;
  std::uint32_t last_load_ = kNoId;                                // of loaded_, that was wanted last
  std::vector<std::pair<std::uint32_t, std::uint32_t>> readings_;  // requests, and what of loaded_ they load
  std::vector<std::uint32_t> parents_, first_load_;
  std::vector<int> of_part_;
  std::vector<MemberInput> member_inputs_;
  std::vector<NodeId> live_;
  std::vector<std::uint32_t> reduced_;             // what reductions take
  std::vector<std::uint64_t> order_;               // requests by node: both numbers
  std::vector<std::uint32_t> home_, home_kernel_;  // by shape and `outer`: place, and the kernel it was found for
  std::uint32_t kernel_number_ = 0;
  struct Places {
    std::uint32_t kernel = 0;
    int count = 0;
  };
  std::vector<Places> places_of_;  // by node: requests of the kernel at hand
  std::vector<NodeId> met_;
  std::vector<std::uint32_t> met_by_;  // by node: the kernel that met it last
  NumberTable seen_, seen_loads_, seen_buffers_;
  std::int64_t stored_bytes_ = 0;
  double apart_bytes_ = 0;  // that loops of threads read apart, beyond those that are counted once
  struct Loaded {
    std::uint32_t buffer;
    Step step;
  };
  std::vector<Loaded> loaded_;  // each once
};

}  // namespace tarry::graph
