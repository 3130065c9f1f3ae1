// How long calls take: the method that every measurement here and bench/peers.py share.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

namespace bench {

class Stopwatch {
 public:
  /// Seconds since construction.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Timing {
  double back_to_back = 0;  ///< seconds per call: median of seven samples of `calls` calls and one wait
  double alone = 0;         ///< seconds of one call and the wait for it
  int calls = 0;
};

/// Three calls to warm up, one alone, then samples of as many calls as take about 0.05 s, 3 to 200.
template <class Call, class Wait>
Timing measure(const Call& call, const Wait& wait) {
  const auto seconds = [&](int calls) {
    wait();
    const Stopwatch watch;
    for (int i = 0; i < calls; ++i) call();
    wait();
    return watch.seconds();
  };
  seconds(3);
  Timing t;
  t.alone = seconds(1);
  t.calls = static_cast<int>(std::clamp(0.05 / std::max(t.alone, 1e-6), 3.0, 200.0));
  std::array<double, 7> samples{};
  for (double& s : samples) s = seconds(t.calls) / t.calls;
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  t.back_to_back = samples[samples.size() / 2];
  return t;
}

}  // namespace bench
