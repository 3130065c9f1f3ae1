// Batches: kernels that are compiled together, into one image.
#pragma once

#include <algorithm>
#include <cstddef>
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

/// As few batches as the order of the jobs allows. `request(job)`: the KernelRequest of one.
template <class Job, class Request>
std::vector<std::vector<Job>> batches_of(std::span<const Job> jobs, const Request& request) {
  std::vector<std::vector<Job>> batches;
  std::vector<std::size_t> open;  // batches with room
  for (const Job& job : jobs) {
    const auto takes = [&](std::size_t b) {
      return std::ranges::all_of(batches[b],
                                 [&](const Job& other) { return fit_together(request(other), request(job)); });
    };
    const auto place = std::ranges::find_if(open, takes);
    if (place == open.end()) {
      open.push_back(batches.size());
      batches.push_back({job});
      continue;
    }
    batches[*place].push_back(job);
    if (batches[*place].size() == kBatch) open.erase(place);
  }
  return batches;
}

}  // namespace tarry::cache
