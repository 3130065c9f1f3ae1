// Where evaluated values live: Buffer (one allocation) and Storage (a value's place in buffers).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include <tarry/device.h>
#include <tarry/dtype.h>

#include "graph/shape.h"

namespace tarry::graph {

/// Every address that a pool gives is a multiple of it; kernels rely on that.
inline constexpr std::size_t kBufferAlignment = 256;

enum class Owner : std::uint8_t { Pool, Borrowed, Adopted, Mapped };  ///< Mapped: a file (runtime/device/file_buffer.h)

/// One allocation on one device. Derived classes return it to their pool in stream order when destroyed.
class Buffer {
 public:
  Buffer(Device on, Owner owned_by, void* address, std::size_t size)
      : device(on), owner(owned_by), data(address), bytes(size) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Copies bytes of host memory to `to`. Not for device memory.
  virtual void read(std::size_t at, std::size_t count, void* to) const {
    std::memcpy(to, static_cast<const std::byte*>(data) + at, count);
  }

  const Device device;
  const Owner owner;
  void* const data;  ///< host or device address
  const std::size_t bytes;
  std::uint64_t last_write = 0;  ///< ticket of the device's timeline after which the contents are valid; 0: now
};

/// Looks whether borrowed memory is as it was (TARRY_CHECK=borrow).
class UseCheck {
 public:
  virtual ~UseCheck() = default;
  virtual void remember() = 0;  ///< something was recorded from it
  virtual void use() = 0;       ///< it is read; throws InvalidArgument where it has changed
};

/// Indices out of range that were met while a value was computed.
class Faults {
 public:
  virtual ~Faults() = default;
  virtual void rethrow() = 0;  ///< waits until it is known; throws InvalidArgument where there is one
};

/// A value: elements of `buffer` at element offset + strides. Results of evaluate are row-major contiguous at offset 0.
/// `replica` caches the same elements on another device (one upload per host array while it stays resident).
struct Storage {
  std::shared_ptr<Buffer> buffer;
  std::int64_t offset = 0;
  Dims strides;                     ///< in elements; may be zero or negative for borrowed memory
  bool contiguous = true;           ///< strides are row-major
  bool any_byte = false;            ///< bools that others wrote: bytes other than 0 and 1 are true as well
  std::uint64_t version = 0;        ///< grows when touch() announces a change
  std::shared_ptr<UseCheck> check;  ///< of borrowed memory, where asked for
  std::shared_ptr<Faults> faults;   ///< whoever reads the value asks them; null where it is known that there are none
  std::atomic<std::uint32_t> readers{
      0};  ///< evaluates and reads of borrowed memory under way; counted up under engine_mutex()
  std::mutex replica_mutex;
  std::shared_ptr<Buffer> replica;  ///< row-major copy on another device
  bool reduced = false;             ///< on the host, for the sake of another device; guarded by replica_mutex

  /// A box of the elements that went to another device alone, maybe as another dtype: `storage` or its replica is
  /// there.
  struct Part {
    Dtype dtype;
    Dims lo, extent;
    std::shared_ptr<Storage> storage;
  };
  std::vector<Part> parts;  ///< guarded by replica_mutex; empty once there is a replica of everything
  [[nodiscard]] std::shared_ptr<Storage> part(Dtype dtype, const Dims& lo, const Dims& extent) const {
    for (const Part& p : parts)
      if (p.dtype == dtype && p.lo == lo && p.extent == extent) return p.storage;
    return nullptr;
  }
};

}  // namespace tarry::graph
