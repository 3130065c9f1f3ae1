// LoopPlan: which orbits share a loop over the levels, which way it goes, and over which levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/fusion/orbits.h"

namespace tarry::graph {

/// Loops: orbits that need each other are in one, and go up or down the levels.
class LoopPlan {
 public:
  /// `orbits` outlive it.
  explicit LoopPlan(const std::vector<Orbit>& orbits) : loop_of(orbits.size()), orbits_(orbits) {}

  /// False where a loop would go both ways, or over too few levels.
  bool find();

  std::vector<int> loop_of;             // by orbit
  std::vector<int> ways;                // by loop
  std::vector<std::int64_t> low, high;  // levels of each loop
  bool carries = false;                 // some orbit needs an earlier level of itself

 private:
  template <class F>
  void each_need(std::size_t q, F&& f) const {
    for (const OrbitInput& in : orbits_[q].inputs)
      if (in.kind == OrbitInput::Kind::Orbit) f(std::size_t{in.orbit}, in.shift);
  }
  template <class F>
  void each_in_cycle(std::size_t q, F&& f) const {
    for (std::size_t o = 0; o < orbits_.size(); ++o)
      if (o == q || (reach_[q][o] && reach_[o][q])) f(o);
  }
  /// Even loops go up, odd ones down.
  static int way_of(int loop) { return loop % 2 == 0 ? 1 : -1; }
  static bool shares(int loop, std::int64_t shift) { return shift * way_of(loop) >= 0; }
  void early();
  void late();
  bool compress();

  const std::vector<Orbit>& orbits_;
  std::vector<std::vector<bool>> reach_;  // by orbit: those that it needs, of whatever level
  std::vector<int> way_;                  // by orbit: 1 up, -1 down, 0 any
};

}  // namespace tarry::graph
