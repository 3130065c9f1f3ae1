// host_storage: the pool's buffer, and its error with what it was for.
#include "runtime/arrays/host_storage.h"

#include <algorithm>
#include <string>

#include "runtime/evaluate/engine.h"
#include "runtime/rethrow.h"

namespace tarry::runtime {

std::shared_ptr<graph::Storage> host_storage(std::string_view op, Dtype dtype, std::span<const std::int64_t> shape,
                                             Where where) {
  const auto bytes = static_cast<std::size_t>(graph::element_count(shape)) * itemsize(dtype);
  auto storage = std::make_shared<graph::Storage>();
  try {
    storage->buffer = host_buffer(std::max<std::size_t>(bytes, 1), where);
  } catch (const OutOfMemory& e) {
    rethrow(e, std::string(op), where,
            std::string(e.what()) + " (for " + std::string(name(dtype)) + " " + graph::to_string(shape) + ")");
  }
  storage->strides = graph::row_major_strides(shape);
  return storage;
}

}  // namespace tarry::runtime
