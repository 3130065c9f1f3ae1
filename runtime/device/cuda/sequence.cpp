// A straight line of kernel nodes.
#include "runtime/device/cuda/sequence.h"

#include <algorithm>

#include "support/check.h"

namespace tarry::runtime {

std::unique_ptr<CudaSequence> CudaSequence::make(std::shared_ptr<CudaTimeline> timeline,
                                                 std::span<const Kernel> kernels) {
  if (!timeline->context().api().has_graphs) return nullptr;
  std::unique_ptr<CudaSequence> made(new CudaSequence(std::move(timeline)));
  for (const Kernel& k : kernels) {
    made->nodes_.push_back(
        {nullptr, k.function, k.blocks, k.threads, k.shared_bytes, made->words_.size(), k.words.size()});
    made->words_.insert(made->words_.end(), k.words.begin(), k.words.end());
  }
  return made->build() ? std::move(made) : nullptr;
}

cuda::KernelNodeParams CudaSequence::parameters_of(const Node& n, void** pointer) const {
  *pointer = const_cast<std::uint64_t*>(words_.data() + n.first);  // the driver copies
  return {n.function, n.blocks, 1, 1, n.threads, 1, 1, n.shared_bytes, pointer, nullptr, nullptr, nullptr};
}

bool CudaSequence::build() {
  const CudaContext& context = timeline_->context();
  const cuda::DriverApi& api = context.api();
  cuda::Graph object = nullptr;
  if (!context.accepts("cuGraphCreate", api.graph_create, &object, 0U)) return false;
  graph_.reset({&context, object});
  cuda::GraphNode before = nullptr;
  for (Node& n : nodes_) {
    void* pointer = nullptr;
    const cuda::KernelNodeParams parameters = parameters_of(n, &pointer);
    const bool added = context.accepts("cuGraphAddKernelNode", api.graph_add_kernel_node, &n.node, object,
                                       static_cast<const cuda::GraphNode*>(&before),
                                       std::size_t{before != nullptr ? 1U : 0U}, &parameters);
    if (!added) return false;
    before = n.node;
  }
  cuda::GraphExec exec = nullptr;
  if (!context.accepts("cuGraphInstantiate", api.graph_instantiate, &exec, object, 0ULL)) return false;
  exec_.reset({&context, exec});
  return true;
}

bool CudaSequence::replay(std::span<const std::uint64_t> words) {
  TARRY_ASSERT(words.size() == words_.size());
  const CudaContext& context = timeline_->context();
  const cuda::DriverApi& api = context.api();
  const cuda::GraphExec exec = exec_.get().object;
  for (const Node& n : nodes_) {
    const auto wanted = words.subspan(n.first, n.count);
    const auto held = words_.begin() + static_cast<std::ptrdiff_t>(n.first);
    if (std::equal(wanted.begin(), wanted.end(), held)) continue;
    std::copy(wanted.begin(), wanted.end(), held);
    void* pointer = nullptr;
    const cuda::KernelNodeParams parameters = parameters_of(n, &pointer);
    if (!context.accepts("cuGraphExecKernelNodeSetParams", api.graph_exec_set_parameters, exec, n.node, &parameters))
      return false;
  }
  if (!context.accepts("cuGraphLaunch", api.graph_launch, exec, context.compute())) return false;
  timeline_->touched();
  return true;
}

}  // namespace tarry::runtime
