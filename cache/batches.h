// Batches: kernels that are compiled together, into one image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "cache/types.h"

namespace tarry::cache {

inline constexpr std::size_t kBatch = 8;  ///< kernels at most

/// True if two kernels may share a translation unit: symbols are made of readable names and hashes, which may be equal.
inline bool fit_together(const KernelRequest& a, const KernelRequest& b) {
  return a.entry != b.entry && a.key.options == b.key.options && a.key.target == b.key.target &&
         a.key.mode == b.key.mode;
}

/// A batch for each of `workers` as far as there are jobs, or more where kBatch or the jobs ask for more. The longest
/// text comes first, and each goes where the least text is: batches begin with the costliest and end together.
/// `request(job)`: the KernelRequest of one.
template <class Job, class Request>
std::vector<std::vector<Job>> batches_of(std::span<const Job> jobs, std::size_t workers, const Request& request) {
  const auto length = [&](const Job& job) { return request(job).key.text.size(); };
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return length(jobs[a]) > length(jobs[b]); });
  const std::size_t wanted = std::max((jobs.size() + kBatch - 1) / kBatch, std::min(jobs.size(), workers));
  std::vector<std::vector<Job>> batches;
  std::vector<std::size_t> lengths;
  for (const std::size_t i : order) {
    std::size_t place = batches.size();
    for (std::size_t b = 0; b < batches.size() && batches.size() >= wanted; ++b) {
      const bool takes =
          batches[b].size() < kBatch &&
          std::ranges::all_of(
              batches[b], [&](const Job& other) { return fit_together(request(other), request(jobs[i])); });
      if (takes && (place == batches.size() || lengths[b] < lengths[place])) place = b;
    }
    if (place == batches.size()) {
      batches.emplace_back();
      lengths.push_back(0);
    }
    batches[place].push_back(jobs[i]);
    lengths[place] += length(jobs[i]);
  }
  return batches;
}

}  // namespace tarry::cache
