// Moving values between devices, and reading them on the host.
#pragma once

#include <tarry/plan.h>

#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/storage.h"
#include "runtime/backend.h"

namespace tarry::runtime {

/// A value of that shape and dtype as a row-major buffer on `to`; crosses once and stays as the storage's replica. What
/// crosses is counted and, where `transfers` is given, noted.
std::shared_ptr<graph::Buffer> bring(const std::shared_ptr<graph::Storage>& value, const graph::Dims& shape, Dtype dtype,
                                     Backend& to, Counters& counters, std::vector<Transfer>* transfers = nullptr);

/// The elements of a contiguous value of the host, converted on their way to `to`, as a value there.
std::shared_ptr<graph::Storage> bring_converted(const graph::Storage& value, const graph::Dims& shape, Dtype from, Dtype dtype,
                                                Backend& to, Counters& counters, std::vector<Transfer>& transfers);

/// Copies elements of `size` bytes from strided to row-major memory. `from` is the address of element offset 0.
void pack(void* to, const void* from, std::int64_t offset, const graph::Dims& strides,
          std::span<const std::int64_t> shape, std::size_t size);

}  // namespace tarry::runtime
