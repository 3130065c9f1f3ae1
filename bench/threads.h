// A loop over all cores, for inputs and references: what is measured does not run here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace bench {

inline std::size_t cores() { return std::max(1U, std::thread::hardware_concurrency()); }

/// work(first, last) on ranges that cover [0, count) once, one per core.
template <class Work>
void for_ranges(std::size_t count, const Work& work) {
  const std::size_t threads = std::min(cores(), std::max<std::size_t>(count, 1));
  std::vector<std::jthread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] { work(count * t / threads, count * (t + 1) / threads); });
  }
}

/// The results of of_range(first, last) over such ranges, folded in their order.
template <class T, class OfRange, class Fold>
T fold_ranges(std::size_t count, T start, const OfRange& of_range, const Fold& fold) {
  const std::size_t pieces = cores();
  std::vector<T> parts(pieces, start);
  for_ranges(pieces, [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) parts[p] = of_range(count * p / pieces, count * (p + 1) / pieces);
  });
  for (const T& part : parts) start = fold(start, part);
  return start;
}

}  // namespace bench
