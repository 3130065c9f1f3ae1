// Seconds between the stages of an evaluate.
#pragma once

#include <chrono>

namespace tarry::runtime {

class Stopwatch {
 public:
  /// Seconds since the last lap, or since the start.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - start_;
    start_ = now;
    return passed.count();
  }

  /// When the last lap ended.
  [[nodiscard]] std::chrono::steady_clock::time_point last() const { return start_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tarry::runtime
