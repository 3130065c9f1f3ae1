// Target: what a kernel is made for, as a value from a table by name. Never a query of the machine, so that a machine
// without a GPU plans and compiles exactly what production will ask for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tarry/device.h>

namespace tarry::graph {

struct Target {
  DeviceKind kind;           ///< Cpu or Cuda
  const char* name;          ///< "sm_90", "x86-64-v3"
  int level;                 ///< 90; 3
  int registers_per_thread;  ///< 255; 16 or 32 vector registers
  int vector_bytes;          ///< widest load: 16 on a GPU; 16, 32, 64 on a CPU
  int shared_bytes;          ///< static shared memory per block
  int most_shared_bytes;     ///< with what a launch may ask for
  int max_cluster;           ///< thread blocks per cluster, 1 where absent
  int parameter_bytes;       ///< limit of a kernel's parameters
  std::int64_t l2_bytes;     ///< class of the last-level cache, for placement and streaming stores
  int multiprocessors;       ///< of the class's common parts, for the choice of tiles; 0 on a CPU

  [[nodiscard]] bool is_cuda() const { return kind == DeviceKind::Cuda; }
};

std::span<const Target> targets();
/// The row of that name, or nullptr. "v3" is short for "x86-64-v3".
const Target* find_target(std::string_view name);
/// The newest row not above compute capability major.minor, or nullptr below sm_75.
const Target* cuda_target(int compute_capability);

}  // namespace tarry::graph
