// Devices as the user names them.
#pragma once

#include <tarry/error.h>
#include <tarry/export.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace tarry {
inline namespace v0 {

/// Kinds of device.
enum class DeviceKind : std::uint8_t { Unplaced, Cpu, Cuda };

/// Where arrays live and kernels run. `Device{}` is unplaced: decided when the array is evaluated.
struct Device {
  DeviceKind kind = DeviceKind::Unplaced;
  std::uint8_t index = 0;
  friend constexpr bool operator==(Device, Device) = default;
  [[nodiscard]] TARRY_EXPORT std::string str() const;  ///< "unplaced", "cpu" or "cuda:0"
};

inline constexpr Device cpu{DeviceKind::Cpu, 0};

namespace detail {
[[noreturn]] TARRY_EXPORT void throw_no_device(int index, Where where);
}  // namespace detail

/// The GPU of that number; whether there is one is found out when it is used. Throws InvalidArgument beyond [0, 255].
/// Example: `ta::cuda(1)` is `cuda:1`.
constexpr Device cuda(int index = 0, Where where = std::source_location::current()) {
  if (index < 0 || index > 255) detail::throw_no_device(index, where);
  return {DeviceKind::Cuda, static_cast<std::uint8_t>(index)};
}

/// Devices that work in this process, cpu first. Initialises CUDA where it is present.  Throws OutOfMemory alone.
/// Example: `ta::devices().front()` is `cpu`.
[[nodiscard]] TARRY_EXPORT std::vector<Device> devices(Where where = std::source_location::current());

/// The device that unplaced work runs on: TARRY_DEVICE, else cuda:0 where it works, else cpu.
/// Throws InvalidArgument where TARRY_DEVICE names no device.  Example: `std::cout << ta::default_device()`.
[[nodiscard]] TARRY_EXPORT Device default_device(Where where = std::source_location::current());

/// One line per fact about devices, compilers and cache, as `tarry info` prints them; says why something is missing.
/// Throws OutOfMemory alone.  Example: `std::cout << ta::describe_system()`.
[[nodiscard]] TARRY_EXPORT std::string describe_system(Where where = std::source_location::current());

/// Waits until every device has finished all work enqueued so far.
/// Throws DeviceError or DeviceLost where that work failed.  Example: `ta::synchronize()`.
TARRY_EXPORT void synchronize(Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
