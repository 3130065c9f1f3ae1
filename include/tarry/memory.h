// Memory of devices: what is in use, how much may be, and how to give the rest back.
#pragma once

#include <tarry/device.h>
#include <tarry/error.h>
#include <tarry/export.h>

#include <cstdint>
#include <source_location>
#include <string>

namespace tarry {
inline namespace v0 {

/// Bytes that the engine manages on one device. On the CPU that is what asarray() copied to and what was computed
/// there; borrowed and adopted memory is the program's own and does not count.
struct MemoryStats {
  Device device;
  std::int64_t live = 0;         ///< in arrays and in work under way
  std::int64_t cached = 0;       ///< kept for reuse
  std::int64_t peak = 0;         ///< most that was live since the process began or reset_memory_peak()
  std::int64_t limit = 0;        ///< most that live and cached may be together; 0: all there is
  std::int64_t requests = 0;     ///< that were served
  std::int64_t allocations = 0;  ///< of these, calls that had to ask the driver or the system
  [[nodiscard]] TARRY_EXPORT std::string str(Where where = std::source_location::current()) const;  ///< one line
};

/// The counters of one device; `Device{}` is the default device here and below.
/// Throws DeviceError where the device cannot be used.  Example: `std::cout << ta::memory_stats(ta::cpu).str()`.
[[nodiscard]] TARRY_EXPORT MemoryStats memory_stats(Device device = {}, Where where = std::source_location::current());
/// From here on, peak is what is live now.  Throws DeviceError where the device cannot be used.
/// Example: `ta::reset_memory_peak()`.
TARRY_EXPORT void reset_memory_peak(Device device = {}, Where where = std::source_location::current());

/// Returns cached memory to the driver or the system, once work that is under way needs it no more.
/// Throws DeviceError where the device cannot be used.  Example: `ta::trim(ta::cpu)`.
TARRY_EXPORT void trim(Device device = {}, Where where = std::source_location::current());

/// Most memory that the engine takes on the device from now on; 0: TARRY_MEMORY_LIMIT, or all there is. What is live
/// stays. Where an allocation does not fit, cached memory is returned, then work that this thread has recorded and not
/// evaluated is evaluated as far as that frees memory; only then OutOfMemory is thrown, with a table of where the
/// memory is. Throws InvalidArgument for a negative number.
/// Example: `ta::set_memory_limit(ta::cpu, std::int64_t{2} << 30)`.
TARRY_EXPORT void set_memory_limit(Device device, std::int64_t bytes, Where where = std::source_location::current());

/// Work that this thread recorded and nobody has evaluated, and work that the engine evaluated because of a Budget.
struct PendingWork {
  std::int64_t operations = 0;  ///< that wait
  std::int64_t bytes = 0;       ///< of evaluated arrays that only they keep
  std::int64_t evaluates = 0;   ///< by the engine itself, in this thread
  std::int64_t plan_hits = 0;   ///< of these, how many found their plan
  std::int64_t launches = 0;    ///< by them
};
/// The pending work of this thread.  Throws OutOfMemory alone.  Example: `std::cout << ta::pending_work().operations`.
[[nodiscard]] TARRY_EXPORT PendingWork pending_work(Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
