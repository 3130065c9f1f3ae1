// Results that need kernels of every schedule, for tests of what is made of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/render/kernel_source.h"
#include "runtime/plan/compiled_plan.h"
#include "support/hash.h"
#include "tests/helpers/devices.h"

namespace tarry::test {

/// Twelve results that need a kernel or more each: extents differ, so nothing fuses with its neighbour.
inline std::vector<Array> sample_results() {
  std::vector<Array> all;
  for (int i = 0; i < 12; ++i) {
    const std::int64_t columns = 100 + 7 * i;
    const Array x = asarray(ramp(static_cast<std::size_t>(20 * columns)), {20, columns}) * 0.001f;
    switch (i % 6) {
      case 0: all.push_back(exp(-x) + static_cast<float>(i)); break;
      case 1: all.push_back(sum(sin(x) * x, 1)); break;
      case 2: all.push_back(softmax(x, 1)); break;
      case 3: all.push_back(std(x, 0)); break;
      case 4: all.push_back(log(x) / max(x, 1, {.keepdims = true})); break;
      default: all.push_back(astype(floor(x * 10.0f), int32) % 7);
    }
    if (i >= 6) all.back() = all.back() + all.back();
  }
  return all;
}

/// All values.
inline std::string digest_of(const std::vector<Array>& arrays) {
  std::string bytes;
  for (const Array& a : arrays) {
    const std::vector<double> values = astype(a, float64).to_vector<double>();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  return support::checksum_bytes(bytes).hex();
}

/// The kernels that `a` takes on `target`.
inline std::vector<std::shared_ptr<const codegen::KernelSource>> kernels_of(const Array& a,
                                                                            const graph::Target& target) {
  const graph::Snapshot s = snapshot_of({&a});
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  const auto plan = runtime::make_plan(s, target, here, alias, runtime::plan_switches(), nullptr);
  std::vector<std::shared_ptr<const codegen::KernelSource>> found;
  for (const auto& step : plan.steps)
    if (const auto* k = std::get_if<runtime::KernelStep>(&step)) found.push_back(k->source);
  return found;
}

/// The kernels of the sample, ordered by text.
inline std::vector<std::shared_ptr<const codegen::KernelSource>> sample_kernels(const graph::Target& target) {
  std::map<std::string, std::shared_ptr<const codegen::KernelSource>> found;
  for (const Array& a : sample_results())
    for (const auto& k : kernels_of(a, target)) found.emplace(k->text, k);
  std::vector<std::shared_ptr<const codegen::KernelSource>> all;
  for (const auto& [text, source] : found) all.push_back(source);
  return all;
}

}  // namespace tarry::test
