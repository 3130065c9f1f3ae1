// The kernels of this process: what each cost to make and has done since.
#pragma once

#include <tarry/error.h>
#include <tarry/export.h>

#include <cstdint>
#include <iosfwd>
#include <source_location>
#include <string>
#include <vector>

namespace tarry {
inline namespace v0 {

/// How a kernel first came to this process.
enum class KernelHit : std::uint8_t {
  Compiled,
  Disk,         ///< from a cache directory or bundle
  Memory,       ///< another thread was making it
  Interpreted,  ///< KernelRecord::interpreted says why
  Called,       ///< a host_function: nothing is made
};

/// One kernel on one device, summed over all its launches. Times are of this process. A host_function or a cuda_kernel
/// has a record too: one for each name and line.
struct KernelRecord {
  std::string name;    ///< its entry symbol: operations, dtype, schedule, hash; of code of yours the name you gave
  std::string reason;  ///< "user" where it is code of yours, "" where it was generated
  std::string key;  ///< of its cache entry, 32 hexadecimal digits: what `tarry cache show` takes; "" where it has none
  std::string target;  ///< "sm_90", "x86-64-v3"
  std::string device;  ///< "cuda:0", "cpu"
  KernelHit hit = KernelHit::Compiled;
  double codegen_seconds = 0;  ///< from a group of operations to text
  double compile_seconds = 0;  ///< its share of the batch it was compiled in; 0 unless Compiled
  double load_seconds = 0;
  std::int64_t launches = 0;
  std::int64_t interpreted_launches = 0;  ///< of those: run by the interpreter
  std::string interpreted;                ///< why: no compiler, TARRY_DISABLE=compile; "" where it never was
  /// Launches that run_seconds covers: all on the CPU; on a GPU those under TARRY_SYNC=1, where evaluate waits for
  /// each.
  std::int64_t measured_launches = 0;
  double run_seconds = 0;
  std::int64_t bytes_read = 0, bytes_written = 0;  ///< of device memory, by all launches
  /// "exp at main.cpp:9": what the user wrote, for each evaluate that planned the kernel. An evaluate whose plan was
  /// found in the plan cache adds none. Of code of yours the line where it was recorded.
  std::vector<std::string> lines;
};

/// Every kernel that was prepared for a launch, in order of first use; the oldest are forgotten beyond 4,096.
/// Thread-safe.  Throws OutOfMemory alone.  Example: `for (const auto& k : ta::kernel_history()) std::cout << k`.
[[nodiscard]] TARRY_EXPORT std::vector<KernelRecord> kernel_history(Where where = std::source_location::current());
/// One line: name, device, how it came, milliseconds, launches and bytes.  Throws what the stream throws.
/// Example: `std::cout << ta::KernelRecord{}`.
TARRY_EXPORT std::ostream& operator<<(std::ostream& out, const KernelRecord& record);

}  // namespace v0
}  // namespace tarry
