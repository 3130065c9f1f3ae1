// KernelModel on long kernels: whether registers hold what is needed at once, and parts that share nothing.
#include <algorithm>
#include <numeric>

#include "graph/fusion/live.h"
#include "graph/fusion/model.h"

namespace tarry::graph {

/// A long kernel has registers for what it holds at once.
bool KernelModel::holds_all() {
  if (!limits_.long_kernel(static_cast<int>(requests_.size()))) return true;
  order_.clear();
  for (std::size_t at = 0; at < requests_.size(); ++at) order_.push_back(std::uint64_t{requests_[at].node} << 32 | at);
  std::sort(order_.begin(), order_.end());
  std::vector<std::uint64_t> last_use(requests_.size());  // by request
  for (const std::uint64_t at : order_) {
    const auto request = static_cast<std::uint32_t>(at);
    last_use[request] = at;
    for (const std::uint32_t in : requests_[request].inputs)
      if (in < kLoad) last_use[in] = at;
  }
  const auto number = [](std::uint64_t at) { return static_cast<std::uint32_t>(at); };
  const int most = most_live(
      order_, [&](std::uint64_t at) { return last_use[number(at)]; },
      [&](std::uint64_t at) { return words(g_.nodes[requests_[number(at)].node].dtype); });
  return most <= limits_.live || fail(Reason::Limit);
}

/// Kernels that the parts of a long one would be if they were apart, beyond the first: parts that neither use values of
/// one another nor load what another loads. A compiler takes longer for them together than apart, and apart those of
/// one text are compiled once.
int KernelModel::unrelated() {
  if (key_ != kNoId) return 0;
  int all = 0;
  for (const Computed& c : requests_) all += info(g_.nodes[c.node].op).cost;
  if (all <= limits_.unrelated) return 0;
  parents_.resize(requests_.size() + loaded_.size());
  std::iota(parents_.begin(), parents_.end(), 0);
  const auto find = [&](std::uint32_t at) {
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  };
  const auto loaded = [&](std::uint32_t load) { return static_cast<std::uint32_t>(requests_.size()) + load; };
  for (std::uint32_t at = 0; at < requests_.size(); ++at) {
    for (const std::uint32_t in : requests_[at].inputs)
      if (in < kLoad) parents_[find(in)] = find(at);
    if (requests_[at].loop != kNoId) parents_[find(requests_[at].loop)] = find(at);
  }
  for (const auto& [at, load] : readings_) parents_[find(loaded(load))] = find(at);
  first_load_.assign(buffers_.size(), kNoId);
  for (std::uint32_t load = 0; load < loaded_.size(); ++load) {
    const Buffer& b = buffers_[loaded_[load].buffer];
    if (b.bytes <= g_.bytes(b.edge.node)) continue;  // its loads do not overlap
    std::uint32_t& first = first_load_[loaded_[load].buffer];
    if (first == kNoId) first = load;
    parents_[find(loaded(load))] = find(loaded(first));
  }
  of_part_.assign(parents_.size(), 0);
  for (std::uint32_t at = 0; at < requests_.size(); ++at)
    of_part_[find(at)] += info(g_.nodes[requests_[at].node].op).cost;
  return (all - *std::ranges::max_element(of_part_)) / limits_.unrelated;
}

}  // namespace tarry::graph
