// The table of targets.
#include "graph/target.h"

#include <array>

namespace tarry::graph {
namespace {

constexpr int kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr int kStaticShared = 48 * kKiB;  // what a kernel may declare without asking at launch, on every arch
constexpr int kCudaParameters = 32764;    // CUDA C++ Programming Guide, kernel parameter limit from sm_70 on
constexpr int kCpuParameters = 1 << 20;   // the words travel behind one pointer: any bound is ours

constexpr std::array kTargets = {
    // kind, name, level, registers, vector, shared, most shared, cluster, parameters, last-level cache and
    // multiprocessors of the class's common parts
    Target{DeviceKind::Cuda, "sm_75", 75, 255, 16, kStaticShared, 64 * kKiB, 1, kCudaParameters, 4 * kMiB, 72},
    Target{DeviceKind::Cuda, "sm_80", 80, 255, 16, kStaticShared, 163 * kKiB, 1, kCudaParameters, 40 * kMiB, 108},
    Target{DeviceKind::Cuda, "sm_86", 86, 255, 16, kStaticShared, 99 * kKiB, 1, kCudaParameters, 6 * kMiB, 84},
    Target{DeviceKind::Cuda, "sm_89", 89, 255, 16, kStaticShared, 99 * kKiB, 1, kCudaParameters, 48 * kMiB, 142},
    Target{DeviceKind::Cuda, "sm_90", 90, 255, 16, kStaticShared, 227 * kKiB, 8, kCudaParameters, 50 * kMiB, 132},
    Target{DeviceKind::Cuda, "sm_100", 100, 255, 16, kStaticShared, 227 * kKiB, 8, kCudaParameters, 126 * kMiB, 148},
    Target{DeviceKind::Cuda, "sm_120", 120, 255, 16, kStaticShared, 99 * kKiB, 8, kCudaParameters, 96 * kMiB, 188},
    Target{DeviceKind::Cpu, "x86-64-v2", 2, 16, 16, 0, 0, 1, kCpuParameters, 32 * kMiB, 0},
    Target{DeviceKind::Cpu, "x86-64-v3", 3, 16, 32, 0, 0, 1, kCpuParameters, 32 * kMiB, 0},
    Target{DeviceKind::Cpu, "x86-64-v4", 4, 32, 64, 0, 0, 1, kCpuParameters, 32 * kMiB, 0},
    Target{DeviceKind::Cpu, "armv8-a", 8, 32, 16, 0, 0, 1, kCpuParameters, 32 * kMiB, 0},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  constexpr std::string_view kFamily = "x86-64-";
  for (const Target& target : kTargets) {
    const std::string_view whole = target.name;
    if (name == whole || (whole.starts_with(kFamily) && name == whole.substr(kFamily.size()))) return &target;
  }
  return nullptr;
}

const Target* cuda_target(int compute_capability) {
  const Target* best = nullptr;
  for (const Target& target : kTargets) {
    const bool fits = target.is_cuda() && target.level <= compute_capability;
    if (fits && (best == nullptr || target.level > best->level)) best = &target;
  }
  return best;
}

}  // namespace tarry::graph
