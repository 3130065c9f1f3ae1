// Orbits are put in loops as early as those that they need, then as late as those that need them.
#include "graph/fusion/loop_plan.h"

#include <algorithm>
#include <limits>
#include <map>

namespace tarry::graph {

bool LoopPlan::find() {
  const std::size_t n = orbits_.size();
  reach_.assign(n, std::vector<bool>(n));
  for (std::size_t from = 0; from < n; ++from) {
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      each_need(at, [&](std::size_t to, std::int64_t) {
        if (reach_[from][to]) return;
        reach_[from][to] = true;
        open.push_back(to);
      });
    }
  }
  way_.assign(n, 0);
  for (std::size_t q = 0; q < n; ++q) {
    bool both = true;
    each_need(q, [&](std::size_t to, std::int64_t shift) {
      if (!reach_[to][q] || shift == 0) return;
      const int way = shift > 0 ? 1 : -1;
      each_in_cycle(q, [&](std::size_t o) {
        both = both && way_[o] != -way;
        way_[o] = way;
      });
    });
    if (!both) return false;
  }
  for (std::size_t q = 0; q < n; ++q) loop_of[q] = 2 * orbits_[q].run;
  carries = std::ranges::any_of(way_, [](int way) { return way != 0; });
  early();
  late();
  return compress();
}

void LoopPlan::early() {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t q = 0; q < orbits_.size(); ++q) {
      int loop = loop_of[q];
      each_need(q, [&](std::size_t to, std::int64_t shift) {
        if (reach_[to][q]) {
          loop = std::max(loop, loop_of[to]);
        } else {
          int least = loop_of[to];
          if (!shares(least, shift)) ++least;
          loop = std::max(loop, least);
        }
      });
      while (way_[q] != 0 && way_of(loop) != way_[q]) ++loop;
      moved = moved || loop != loop_of[q];
      loop_of[q] = loop;
    }
  }
}

void LoopPlan::late() {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t q = 0; q < orbits_.size(); ++q) {
      if (way_[q] != 0) continue;
      int latest = -1;
      for (std::size_t reader = 0; reader < orbits_.size(); ++reader)
        each_need(reader, [&](std::size_t to, std::int64_t shift) {
          if (to != q) return;
          const int here = loop_of[reader] - (shares(loop_of[reader], shift) ? 0 : 1);
          latest = latest < 0 ? here : std::min(latest, here);
        });
      if (latest <= loop_of[q]) continue;
      loop_of[q] = latest;
      moved = true;
    }
  }
}

bool LoopPlan::compress() {
  std::map<int, int> numbers;
  for (const int loop : loop_of) numbers[loop] = 0;
  for (auto& [loop, number] : numbers) {
    number = static_cast<int>(ways.size());
    ways.push_back(way_of(loop));
  }
  low.assign(ways.size(), 0);
  high.assign(ways.size(), std::numeric_limits<std::int64_t>::max());
  for (std::size_t q = 0; q < orbits_.size(); ++q) {
    loop_of[q] = numbers[loop_of[q]];
    const auto loop = static_cast<std::size_t>(loop_of[q]);
    low[loop] = std::max(low[loop], orbits_[q].from);
    high[loop] = std::min(high[loop], orbits_[q].to);
  }
  for (std::size_t l = 0; l < ways.size(); ++l)
    if (high[l] - low[l] < Orbits::kFewestLevels) return false;
  return true;
}

}  // namespace tarry::graph
