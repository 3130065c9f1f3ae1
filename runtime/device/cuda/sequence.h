// CudaSequence: launches that repeat as one CUDA graph, instantiated once; a replay patches the kernels whose
// parameters changed. A graph of any size costs the host about as much as half a launch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/cuda/context.h"

namespace tarry::runtime {

/// Its kernels run in order, after everything enqueued on the compute stream before. Patching touches only replays to
/// come, so earlier ones may still be in flight. The functions must outlive it.
class CudaSequence final : public Sequence {
 public:
  struct Kernel {
    cuda::Function function;
    unsigned blocks, threads, shared_bytes;
    std::span<const std::uint64_t> words;
  };
  /// nullptr where the driver has no graphs or refuses this one. The context must be current.
  static std::unique_ptr<CudaSequence> make(std::shared_ptr<CudaTimeline> timeline, std::span<const Kernel> kernels);

  bool replay(std::span<const std::uint64_t> words) override;

 private:
  struct Node {
    cuda::GraphNode node = nullptr;
    cuda::Function function;
    unsigned blocks, threads, shared_bytes;
    std::size_t first, count;  // words
  };
  explicit CudaSequence(std::shared_ptr<CudaTimeline> timeline) : timeline_(std::move(timeline)) {}
  bool build();
  [[nodiscard]] cuda::KernelNodeParams parameters_of(const Node& n, void** pointer) const;

  const std::shared_ptr<CudaTimeline> timeline_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> words_;  // what the instance holds
  GraphHandle graph_;                 // stays: patches name its nodes
  GraphExecHandle exec_;
};

}  // namespace tarry::runtime
