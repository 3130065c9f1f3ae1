// Facts about a plan's kernels besides their text: cache key, user's lines, scalar arguments.
#include "runtime/plan/compiled_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "codegen/interpret/interpreter.h"
#include "runtime/device/compilers/toolchain.h"

namespace tarry::runtime {

cache::KernelKey kernel_key(const KernelStep& step, const graph::Target& target) {
  const graph::Mode mode = step.lowered.ir.mode;
  return kernel_request(*step.source, mode, compile_options(target, mode), target).key;
}

std::vector<std::string> user_lines(const KernelStep& step, const graph::Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (const graph::NodeId id : step.origins) {
    const graph::GraphNode& n = snapshot.graph.nodes[id];
    const graph::OpClass c = graph::info(n.op).op_class;
    if (c == graph::OpClass::Leaf || c == graph::OpClass::Scalar) continue;
    std::string line = fmt::format("{} at {}", graph::name(n.op), n.where().str());
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

void scalar_values(const CompiledPlan& plan, std::span<const graph::ScalarCell> cells,
                   std::vector<std::uint64_t>& values) {
  values.assign(plan.scalars.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const graph::ScalarSource& s = plan.scalars[i];
    switch (s.kind) {
      case graph::ScalarSource::Kind::Cell: std::memcpy(&values[i], cells[s.cell].bytes, 8); break;
      case graph::ScalarSource::Kind::Constant: std::memcpy(&values[i], s.constant.bytes, 8); break;
      case graph::ScalarSource::Kind::Compute: {
        const auto arg = [&](int k) -> const void* { return s.args[k] == graph::kNoId ? nullptr : &values[s.args[k]]; };
        codegen::scalar_function(s.op, s.input, s.dtype)(&values[i], arg(0), arg(1), arg(2));
        break;
      }
    }
  }
}

std::vector<std::uint64_t> kernel_scalars(const KernelStep& step, const std::vector<std::uint64_t>& values) {
  std::vector<std::uint64_t> scalars;
  scalars.reserve(step.lowered.scalars.size());
  for (const codegen::ScalarRef& r : step.lowered.scalars)
    scalars.push_back(r.source == graph::kNoId ? r.constant : values[r.source]);
  return scalars;
}

}  // namespace tarry::runtime
