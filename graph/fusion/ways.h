// Ways: kernels that wait for each other over others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/fusion/partition.h"

namespace tarry::graph {

class Ways {
 public:
  explicit Ways(const Partition& p) : p_(p) {}

  /// Counts from kernel `k`, as the partition is now. Returns the number of kernels that it went through.
  std::size_t count_from(KernelId k);
  /// Kernels on the longest way between `o` and the one counted from, both included; 0 where there is none.
  [[nodiscard]] std::uint32_t length(KernelId o) const { return lengths_[o]; }
  /// The kernels on all ways to `o`, without its ends: as far as they are no more than `most`, else more than that.
  [[nodiscard]] std::vector<KernelId> between(KernelId o, std::size_t most) const;

 private:
  const Partition& p_;
  KernelId from_ = kNoId;
  std::vector<std::uint32_t> lengths_;  // by kernel
};

}  // namespace tarry::graph
