// Which kernels a recorded evaluate needs for a target: make_plan again, for every place its leaves may be in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/render/kernel_source.h"
#include "graph/target.h"
#include "runtime/warm/manifest.h"

namespace tarry::runtime {

struct WarmKernel {
  std::shared_ptr<const codegen::KernelSource> source;
  const graph::Target* target = nullptr;
  graph::Mode mode{};
  std::string ops;                              ///< with the places where the user wrote them
  std::shared_ptr<const codegen::KernelIr> ir;  ///< null for a product
};

/// Where the leaves of an evaluate are when it runs.
enum class Residence : std::uint8_t {
  AsRun,     ///< what evaluates made is on the device; what came from the user is on the host
  Uploaded,  ///< everything comes from elsewhere: it arrives row-major and is not donated
  Resident,  ///< everything is on the device, with the recorded layout
};

/// The residences that runs on `target` may have. On the kind of device where it was recorded: the recorded one.
std::vector<Residence> residences(const Recorded& recorded, const graph::Target& target);

/// The kernels of `g`, which is recorded.graph or a variant of it with other extents. Throws what make_plan throws.
std::vector<WarmKernel> kernels_of(const Recorded& recorded, const graph::Graph& g, const graph::Target& target,
                                   Residence residence);

}  // namespace tarry::runtime
