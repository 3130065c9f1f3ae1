// Memory of other code as buffers: read, never written, given back when the last work that reads it is done.
#pragma once

#include <tarry/shape.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "graph/node.h"
#include "graph/storage.h"

namespace tarry::runtime {

class AdoptedBuffer final : public graph::Buffer {
 public:
  using Deleter = void (*)(void* context);
  AdoptedBuffer(Device on, void* address, std::size_t size, void* stream)
      : Buffer(on, graph::Owner::Adopted, address, size), stream_(stream) {}
  ~AdoptedBuffer() override;
  /// Gives the memory back. Set once nothing can fail any more: until then the memory is the caller's.
  void own(Deleter deleter, void* context) {
    deleter_ = deleter;
    context_ = context;
  }

 private:
  void* const stream_;  ///< of the memory's maker, or null
  Deleter deleter_ = nullptr;
  void* context_ = nullptr;
};

/// Memory that others describe: `data` is element (0, 0, ...).
struct Foreign {
  void* data = nullptr;
  Dtype dtype{};
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements
  bool row_major = true;              ///< then strides are not read
  Device device;
  void* stream = nullptr;
};

/// A ready array over it, placed on its device. Work on the device waits for the stream from now on. Throws
/// InvalidArgument for `op`; until `deleter` is taken over, which happens last, the memory is the caller's.
graph::Edge adopt(const Foreign& memory, AdoptedBuffer::Deleter deleter, void* context, std::string_view op,
                  Where where);

/// Offset of the first element in a buffer that begins at the lowest one, and how many elements it spans.
struct Extent {
  std::int64_t first = 0, elements = 0;
};
/// Throws InvalidArgument for `op` where the strides reach past what a buffer can have.
Extent extent_of(std::span<const std::int64_t> shape, const graph::Dims& strides, std::size_t size, std::string_view op,
                 Where where);
/// The user's strides, with those that no index uses made row-major.
graph::Dims normalised_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                               std::string_view op, Where where);

}  // namespace tarry::runtime
