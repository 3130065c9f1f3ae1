// Results by members, each with what it depends on.
#include "graph/fusion/memo.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tarry::graph {
namespace {

constexpr std::uint64_t kMetPerVisit = 8;  // comparing so many nodes counts as one request

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

}  // namespace

KernelMemo::KernelMemo(const FusionGraph& f, KernelModel& model) : f_(f), model_(model) {
  again_.resize(f.g.nodes.size());
  listed_.resize(f.g.nodes.size());
}

std::uint8_t KernelMemo::loaded(NodeId v, const std::vector<std::uint32_t>& readers) {
  const std::size_t slot = KernelModel::slot({v, 0});
  return static_cast<std::uint8_t>((readers[slot] != 0 ? 4 : 0) | (readers[slot + 1] != 0 ? 8 : 0));
}

/// The value of a node that is no member.
std::uint8_t KernelMemo::role(NodeId v, KernelId owner) const {
  if (owner == kNoId) return kNowhere;
  return again_[v] == moment_ ? kAgain : kElsewhere;
}

std::shared_ptr<const Evaluation> KernelMemo::evaluate(KernelId id, const Kernel& kernel,
                                                       const std::vector<KernelId>& kernel_of,
                                                       const std::vector<std::uint32_t>& readers) {
  // A call of a library is quickly looked at; what a scatter takes depends on more.
  for (NodeId m : kernel.members)
    if (f_.scatter(m) || f_.library(m)) return look(id, kernel, kernel_of, readers);
  if (kernel.members.empty()) return look(id, kernel, kernel_of, readers);
  std::uint64_t key = 0;
  for (NodeId m : kernel.members) key += mix(std::uint64_t{m} << 4 | loaded(m, readers) | kHere);
  ++moment_;
  for (NodeId v : kernel.again) again_[v] = moment_;
  if (known_.empty()) known_.resize(std::min(std::bit_ceil(f_.g.nodes.size()), kMostSets));
  std::vector<Known>& ways = known_[key & (known_.size() - 1)];
  for (const Known& k : ways) {
    if (k.key != key || k.members != kernel.members.size()) continue;
    const auto same = [&](const Met& m) {
      const KernelId owner = kernel_of[m.node];
      return m.role == (owner == id ? kHere | loaded(m.node, readers) : role(m.node, owner));
    };
    model_.spend(1 + k.met.size() / kMetPerVisit);
    if (std::all_of(k.met.begin(), k.met.end(), same)) return k.evaluation;
  }
  const std::uint64_t before = model_.visits();
  std::shared_ptr<const Evaluation> found = look(id, kernel, kernel_of, readers);
  if (model_.visits() - before < kWorthKeeping) return found;
  if (ways.size() == kWays)
    std::rotate(ways.begin(), ways.begin() + 1, ways.end());
  else
    ways.emplace_back();
  Known& k = ways.back();
  k.key = key;
  k.members = kernel.members.size();
  k.met.clear();
  for (NodeId m : kernel.members) k.met.push_back({m, static_cast<std::uint8_t>(kHere | loaded(m, readers))});
  for (NodeId v : model_.met())
    if (kernel_of[v] != id) k.met.push_back({v, role(v, kernel_of[v])});
  k.evaluation = found;
  return found;
}

std::shared_ptr<const Evaluation> KernelMemo::look(KernelId id, const Kernel& kernel,
                                                   const std::vector<KernelId>& kernel_of,
                                                   const std::vector<std::uint32_t>& readers) {
  auto e = std::make_shared<Evaluation>();
  e->cost = model_.evaluate(id, kernel, kernel_of, readers);
  if (!e->cost.legal || kernel.members.empty()) return e;
  ++listing_;
  for (const Computed& c : model_.computed()) {
    if (kernel_of[c.node] == id || listed_[c.node] == listing_) continue;
    listed_[c.node] = listing_;
    e->repeated.push_back(c.node);
    if (c.depends) e->after.push_back(c.node);
  }
  ++listing_;
  for (const Computed& c : model_.computed()) {
    if (model_.cost().tiles) break;  // places of a tile share what they want
    for (const std::uint32_t in : c.inputs) {
      if (in >= KernelModel::kLoad) continue;
      const NodeId v = model_.computed()[in].node;
      if (kernel_of[v] == id || listed_[v] == listing_ || model_.places(v) <= model_.places(c.node)) continue;
      listed_[v] = listing_;
      e->widened.push_back(v);
    }
  }
  for (NodeId m : kernel.members) {
    if (!f_.walks(m)) continue;
    e->walks = m;
    if (!model_.live(m)) e->dead.push_back(m);
  }
  return e;
}

}  // namespace tarry::graph
