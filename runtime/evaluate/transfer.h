// Moving values between devices, and reading them on the host.
#pragma once

#include <tarry/plan.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/storage.h"
#include "runtime/device/backend.h"

namespace tarry::runtime {

/// Transfers for one piece of work.
struct Crossings {
  Counters& counters;
  std::vector<Transfer>* transfers = nullptr;  ///< where it is noted, if anywhere
  std::optional<bool> busy;  ///< whether the device was when the first crossed: then all overlap its work
};

/// A value of that shape and dtype as a row-major buffer on `to`; crosses once and stays as the storage's replica.
std::shared_ptr<graph::Buffer> bring(const std::shared_ptr<graph::Storage>& value, const graph::Dims& shape,
                                     Dtype dtype, Backend& to, Crossings& crossings);

/// A value that bring() will be asked for.
struct Wanted {
  std::shared_ptr<graph::Storage> value;
  graph::Dims shape;
  Dtype dtype;
};

/// Sends what is small and contiguous on the host and not on `to` yet as one copy into one block; bring() then finds it
/// there.
void bring_small(std::span<const Wanted> values, Backend& to, Crossings& crossings);

/// The elements of a contiguous value of the host, converted on their way to `to`, as a value there.
std::shared_ptr<graph::Storage> bring_converted(const graph::Storage& value, const graph::Dims& shape, Dtype from,
                                                Dtype dtype, Backend& to, Crossings& crossings);

/// Copies elements of `size` bytes from strided to row-major memory. `from` is the address of element offset 0.
void pack(void* to, const void* from, std::int64_t offset, const graph::Dims& strides,
          std::span<const std::int64_t> shape, std::size_t size);

/// Bools that others wrote as bytes: what is not 0 becomes 1.
void normalise_bools(void* bytes, std::size_t count);

/// A box of an array and the place of its first element in a smaller row-major one.
struct BoxPlace {
  graph::Dims lo, extent;
  std::int64_t at = 0;
};
/// Copies the elements of some boxes to host memory, where a step along axis d is strides[d] elements. Waits. Of a lazy
/// array only these elements are evaluated, and it stays lazy; from a GPU no others cross.
void read_boxes(const graph::Edge& edge, std::span<const BoxPlace> boxes, const graph::Dims& strides, void* destination,
                Where where);

}  // namespace tarry::runtime
