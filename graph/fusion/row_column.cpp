// pair_rows_and_columns(): the pair that saves most, then the next one among the kernels that are left.
#include "graph/fusion/row_column.h"

#include <algorithm>
#include <map>

namespace tarry::graph {
namespace {

constexpr double kTreeBlock = 128;      // points of a partial state
constexpr double kLeastSaved = 0.1;     // of the time that the two kernels take
constexpr std::size_t kMostState = 24;  // bytes of one way: a thread holds 16 states
constexpr std::size_t kMostInputs =
    32;  // bytes that the reductions of one way take at a point: 1,024 points are in shared memory

/// Bytes of the reductions of a kernel: of a partial state, and taken at a point.
struct ReductionBytes {
  std::size_t state = 0, inputs = 0;
};
ReductionBytes reduction_bytes(const Graph& g, const Walk& w) {
  ReductionBytes bytes;
  for (const NodeId id : w.reductions) {
    const GraphNode& n = g.nodes[id];
    const std::size_t size = itemsize(g.nodes[n.inputs[0].node].dtype);
    bytes.inputs += size * static_cast<std::size_t>(n.n_inputs);
    bytes.state += output_count(n.op) == 2 ? 2 * size : is_arg_reduce(n.op) ? size + sizeof(std::int64_t) : size;
  }
  return bytes;
}

class PairFinder {
 public:
  PairFinder(const FusionGraph& f, Partition& p, const CostModel& cost, const Limits& limits)
      : f_(f), p_(p), cost_(cost), limits_(limits) {}

  std::vector<RowColumnPair> run() {
    for (KernelId k = 0; k < p_.kernel_count(); ++k) walks_.push_back(p_.walk(k));
    partner_.assign(walks_.size(), kNoId);
    std::vector<Candidate> candidates = find();
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.saved > b.saved; });
    std::vector<RowColumnPair> found;
    for (const Candidate& c : candidates) {
      if (partner_[c.a] != kNoId || partner_[c.b] != kNoId) continue;
      if (waits(c.a, c.b) || waits(c.b, c.a)) {
        if (!separate(c.a, c.b) && !separate(c.b, c.a)) continue;
        if (waits(c.a, c.b) || waits(c.b, c.a) || saves(c.a, c.b) + p_.saved_seconds() <= 0) {
          take_back(c.a, c.b);
          continue;
        }
        p_.keep();
      }
      partner_[c.a] = c.b;
      partner_[c.b] = c.a;
      found.push_back({c.a, c.b});
    }
    return found;
  }

 private:
  struct Candidate {
    KernelId a, b;
    double saved;
  };

  [[nodiscard]] const ReduceSpace& space(KernelId k) const { return f_.reduce_space(walks_[k].key); }

  [[nodiscard]] std::vector<Candidate> find() {
    std::vector<Candidate> found;
    std::map<SpaceId, std::vector<KernelId>> over;
    for (KernelId k = 0; k < walks_.size(); ++k)
      if (may_pair(k)) over[space(k).point].push_back(k);
    const auto window = static_cast<std::size_t>(limits_.window);
    for (const auto& [point, kernels] : over)
      for (std::size_t i = 0; i < kernels.size(); ++i)
        for (std::size_t j = i + 1; j < kernels.size() && j < i + window; ++j)
          if (const double saved = would_save(kernels[i], kernels[j]); saved > 0)
            found.push_back({kernels[i], kernels[j], saved});
    return found;
  }

  [[nodiscard]] bool may_pair(KernelId k) const {
    if (!walks_[k].simple) return false;
    const ReductionBytes bytes = reduction_bytes(f_.g, walks_[k]);
    const std::int64_t n = space(k).extent;
    return n >= limits_.row_column && n > kSerialRow && n <= cost_.longest_row_column && bytes.state <= kMostState &&
           bytes.inputs <= kMostInputs;
  }

  /// Seconds, also where one of the two has to compute points again first.
  double would_save(KernelId a, KernelId b) {
    if (!separate(a, b) && !separate(b, a)) return saves(a, b);
    const double saved = saves(a, b) > 0 ? saves(a, b) + p_.saved_seconds() : 0;
    take_back(a, b);
    return saved;
  }

  /// Begins a trial in which `to` computes again what `from` has stored for it; false where that is nothing, or
  /// reductions.
  bool separate(KernelId from, KernelId to) {
    std::vector<NodeId> again = p_.kernel(to).again;
    const std::size_t before = again.size();
    for (const GraphEdge& l : p_.loads(to)) {
      if (p_.kernel_of(l.node) != from) continue;
      if (!f_.repeatable(l.node)) return false;
      again.push_back(l.node);
    }
    if (again.size() == before) return false;
    p_.repeat(to, std::move(again));
    if (!p_.settle() || p_.kernel(from).members.empty() || p_.kernel(to).members.empty()) {
      p_.undo();
      return false;
    }
    look(from, to);
    return true;
  }

  void take_back(KernelId a, KernelId b) {
    p_.undo();
    look(a, b);
  }

  void look(KernelId a, KernelId b) {
    walks_[a] = p_.walk(a);
    walks_[b] = p_.walk(b);
  }

  /// Seconds, 0 where the two cannot or should not be one.
  [[nodiscard]] double saves(KernelId a, KernelId b) const {
    const Walk &x = walks_[a], &y = walks_[b];
    if (!may_pair(a) || !may_pair(b) || x.key == y.key || x.mode != y.mode || !(space(a).space == space(b).space))
      return 0;
    if (x.statements + y.statements > limits_.walking || x.buffers + y.buffers > limits_.buffers) return 0;
    if (static_cast<int>(x.reductions.size() + y.reductions.size()) > limits_.reductions) return 0;
    const std::int64_t shared = lies_along(a, b) ? shared_bytes(a, b) : 0;
    if (shared == 0) return 0;
    double points = 1;
    for (const std::int64_t extent : space(a).space) points *= static_cast<double>(extent);
    const auto state = static_cast<double>(reduction_bytes(f_.g, x).state + reduction_bytes(f_.g, y).state);
    const double bytes = static_cast<double>(shared) - 2 * state * points / kTreeBlock;
    const double saved = cost_.seconds_per_launch + bytes / cost_.bytes_per_second;
    return saved > kLeastSaved * (p_.seconds(a) + p_.seconds(b)) ? saved : 0;
  }

  /// True if all that varies along both axes lies along the same one of them.
  [[nodiscard]] bool lies_along(KernelId a, KernelId b) const {
    const int position = space(a).position, other = space(b).position;
    int along = -1;
    for (const KernelId k : {a, b}) {
      for (const Stream& s : walks_[k].streams) {
        if (!varies(s, a, b)) continue;
        if ((s.contiguous != position && s.contiguous != other) || (along >= 0 && along != s.contiguous)) return false;
        along = s.contiguous;
      }
    }
    return along >= 0;
  }

  [[nodiscard]] bool varies(const Stream& s, KernelId a, KernelId b) const {
    return (s.axes >> space(a).position & 1) && (s.axes >> space(b).position & 1);
  }

  /// The values that both read and that vary along both axes.
  [[nodiscard]] std::int64_t shared_bytes(KernelId a, KernelId b) const {
    std::vector<GraphEdge> shared;
    std::int64_t bytes = 0;
    for (const Stream& s : walks_[a].streams)
      for (const Stream& t : walks_[b].streams) {
        if (!(s.edge == t.edge) || s.bytes != t.bytes || !varies(s, a, b) || !varies(t, a, b)) continue;
        if (std::find(shared.begin(), shared.end(), s.edge) != shared.end()) continue;
        shared.push_back(s.edge);
        bytes += s.bytes;
      }
    return bytes;
  }

  /// True if `to` waits for `from`, as the kernels are paired now. Beyond the window the answer is yes.
  [[nodiscard]] bool waits(KernelId to, KernelId from) const {
    std::vector<KernelId> queue{to};
    const auto push = [&](KernelId k) {
      if (std::find(queue.begin(), queue.end(), k) == queue.end()) queue.push_back(k);
    };
    for (std::size_t at = 0; at < queue.size(); ++at) {
      if (queue[at] == from || queue.size() > static_cast<std::size_t>(limits_.window)) return true;
      if (partner_[queue[at]] != kNoId) push(partner_[queue[at]]);
      for (const GraphEdge& l : p_.loads(queue[at])) push(p_.kernel_of(l.node));
    }
    return false;
  }

  const FusionGraph& f_;
  Partition& p_;
  const CostModel& cost_;
  const Limits& limits_;
  std::vector<Walk> walks_;        // by kernel
  std::vector<KernelId> partner_;  // by kernel
};

}  // namespace

std::vector<RowColumnPair> pair_rows_and_columns(const FusionGraph& f, Partition& p, const CostModel& cost,
                                                 const Limits& limits) {
  if (limits.row_column == 0) return {};
  return PairFinder(f, p, cost, limits).run();
}

}  // namespace tarry::graph
