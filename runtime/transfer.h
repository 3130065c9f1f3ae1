// Moving values between devices, and reading them on the host.
#pragma once

#include <tarry/plan.h>

#include <memory>

#include "graph/graph.h"
#include "graph/storage.h"
#include "runtime/backend.h"

namespace tarry::runtime {

/// A value of that shape and dtype as a row-major buffer on `to`; crosses once and stays as the storage's replica.
std::shared_ptr<graph::Buffer> bring(graph::Storage& storage, const graph::Dims& shape, Dtype dtype, Backend& to,
                                     Counters& counters);

/// Copies elements of `size` bytes from strided to row-major memory. `from` is the address of element offset 0.
void pack(void* to, const void* from, std::int64_t offset, const graph::Dims& strides,
          std::span<const std::int64_t> shape, std::size_t size);

}  // namespace tarry::runtime
