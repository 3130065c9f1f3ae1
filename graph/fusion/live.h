// most_live: the words that a sequence of statements holds at once, which is what registers have to suffice for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "graph/op.h"

namespace tarry::graph {

inline constexpr int kWords = 2;  ///< of the widest value
inline int words(Dtype dtype) { return itemsize(dtype) > 4 ? kWords : 1; }

/// `order`: statements; `last_use(s)`: the statement after which s is not needed, or s itself; `size(s)`: its words.
template <class Statement, class LastUse, class Size>
int most_live(const std::vector<Statement>& order, const LastUse& last_use, const Size& size) {
  std::vector<int> ending(order.size());
  for (const Statement& s : order) {
    const auto at = std::ranges::lower_bound(order, last_use(s));
    ending[static_cast<std::size_t>(at - order.begin())] += size(s);
  }
  int now = 0, most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    now += size(order[i]);
    most = std::max(most, now);
    now -= ending[i];
  }
  return most;
}

}  // namespace tarry::graph
