// Ways: longest ones by the kernels' order, each once.
#include "graph/fusion/ways.h"

#include <algorithm>

namespace tarry::graph {

std::size_t Ways::count_from(KernelId k) {
  from_ = k;
  lengths_.assign(p_.kernel_count(), 0);
  std::vector<KernelId> order;
  for (KernelId other = 0; other < p_.kernel_count(); ++other)
    if (!p_.kernel(other).members.empty()) order.push_back(other);
  if (p_.kernel(k).members.empty()) return order.size();
  std::ranges::sort(order, {}, [&](KernelId id) { return p_.rank(id); });
  const auto at = static_cast<std::size_t>(std::ranges::find(order, k) - order.begin());
  lengths_[k] = 1;
  const auto reach = [&](KernelId to, KernelId from) { lengths_[to] = std::max(lengths_[to], lengths_[from] + 1); };
  for (std::size_t i = at; i < order.size(); ++i)
    if (lengths_[order[i]] != 0)
      for (const NodeId member : p_.kernel(order[i]).members)
        for (const KernelId reader : p_.loaded_by(member)) reach(reader, order[i]);
  for (std::size_t i = at + 1; i-- > 0;)
    if (lengths_[order[i]] != 0)
      for (const GraphEdge& load : p_.loads(order[i])) reach(p_.kernel_of(load.node), order[i]);
  return order.size();
}

std::vector<KernelId> Ways::between(KernelId o, std::size_t most) const {
  std::vector<KernelId> found, open{o};
  const bool later = p_.rank(o) > p_.rank(from_);
  const auto add = [&](KernelId k) {
    if (k == from_ || lengths_[k] == 0 || (p_.rank(k) > p_.rank(from_)) != later) return;
    if (std::ranges::find(found, k) != found.end()) return;
    found.push_back(k);
    open.push_back(k);
  };
  for (std::size_t at = 0; lengths_[o] > 2 && at < open.size() && found.size() <= most; ++at) {
    if (later) {
      for (const GraphEdge& load : p_.loads(open[at])) add(p_.kernel_of(load.node));
    } else {
      for (const NodeId member : p_.kernel(open[at]).members)
        for (const KernelId reader : p_.loaded_by(member)) add(reader);
    }
  }
  return found;
}

}  // namespace tarry::graph
