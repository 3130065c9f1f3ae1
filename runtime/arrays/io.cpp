// Values into and out of arrays, and the public evaluate and plan: what of the API needs the engine.
#include <tarry/create.h>
#include <tarry/evaluate.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "graph/record/record.h"
#include "runtime/arrays/adopted.h"
#include "runtime/arrays/borrowed.h"
#include "runtime/arrays/host_storage.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/transfer.h"
#include "support/check.h"
#include "support/out_of_memory.h"
#include "support/recycle.h"
#include "support/shared.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;

std::span<const std::int64_t> extents(const Shape& shape) { return {shape.data(), shape.size()}; }

void check_count(std::size_t count, Dtype dtype, const Shape& shape, Where where) {
  graph::check_shape("asarray", {dtype, extents(shape)}, where);
  if (graph::element_count(extents(shape)) != static_cast<std::int64_t>(count)) {
    TARRY_THROW(InvalidShape, "asarray", where,
                std::to_string(count) + " elements do not fill " + graph::Typed(dtype, extents(shape)).str());
  }
}

Array host_array(Dtype dtype, const Shape& shape, std::shared_ptr<graph::Storage> storage, Where where) {
  return detail::wrap(graph::make_input(dtype, extents(shape), std::move(storage), graph::context().device, where));
}

using Edges = std::vector<Edge, support::Recycler<Edge>>;

Edges edges_of(detail::ArrayPointers arrays, const char* function, Where where) {
  Edges edges;
  edges.reserve(arrays.size());
  for (const Array* x : arrays) edges.push_back(detail::defined_edge(*x, function, where));
  return edges;
}

}  // namespace

Array detail::copy_in(const void* data, Dtype dtype, std::size_t count, const Shape& shape, Where where) try {
  graph::check_available("asarray", dtype, where);
  check_count(count, dtype, shape, where);
  auto storage = runtime::host_storage("asarray", dtype, extents(shape), where);
  if (count > 0) std::memcpy(storage->buffer->data, data, count * itemsize(dtype));
  if (dtype == bool_) runtime::normalise_bools(storage->buffer->data, count);
  return host_array(dtype, shape, std::move(storage), where);
}
TARRY_OR_OUT_OF_MEMORY("asarray", where)

Array detail::copy_in(const void* data, Dtype dtype, const Shape& shape, Where where) try {
  graph::check_shape("asarray", {dtype, extents(shape)}, where);
  const auto count = static_cast<std::size_t>(graph::element_count(extents(shape)));
  if (data == nullptr && count > 0)
    TARRY_THROW(InvalidArgument, "asarray", where, "no memory for " + graph::Typed(dtype, extents(shape)).str());
  return copy_in(data, dtype, count, shape, where);
}
TARRY_OR_OUT_OF_MEMORY("asarray", where)

Array detail::copy_in(const std::vector<bool>& values, const Shape& shape, Where where) try {
  check_count(values.size(), bool_, shape, where);
  auto storage = runtime::host_storage("asarray", bool_, extents(shape), where);
  auto* bytes = static_cast<std::uint8_t*>(storage->buffer->data);
  std::transform(values.begin(), values.end(), bytes, [](bool b) { return b ? std::uint8_t{1} : std::uint8_t{0}; });
  return host_array(bool_, shape, std::move(storage), where);
}
TARRY_OR_OUT_OF_MEMORY("asarray", where)

Array detail::borrow(const void* data, Dtype dtype, const Shape& shape, const std::vector<std::int64_t>* strides,
                     Where where) try {
  graph::check_available("borrow", dtype, where);
  graph::check_shape("borrow", {dtype, extents(shape)}, where);
  const bool empty = graph::element_count(extents(shape)) == 0;
  if (data == nullptr && !empty)
    TARRY_THROW(InvalidArgument, "borrow", where, "no memory for " + graph::Typed(dtype, extents(shape)).str());
  const Dims row_major = graph::row_major_strides(extents(shape));
  auto storage = std::make_shared<graph::Storage>();
  storage->strides =
      strides == nullptr ? row_major : runtime::normalised_strides(extents(shape), *strides, "borrow", where);
  storage->contiguous = storage->strides == row_major;
  storage->any_byte = dtype == bool_;
  const std::size_t size = itemsize(dtype);
  const runtime::Extent extent =
      empty ? runtime::Extent{} : runtime::extent_of(extents(shape), storage->strides, size, "borrow", where);
  storage->offset = extent.first;
  // Buffers are typed for writers too; a borrowed one is never written.
  char* lowest = static_cast<char*>(const_cast<void*>(data)) - extent.first * static_cast<std::int64_t>(size);
  storage->buffer = std::make_shared<graph::Buffer>(cpu, graph::Owner::Borrowed, lowest,
                                                    static_cast<std::size_t>(extent.elements) * size);
  runtime::watch(*storage, dtype, extents(shape), where);
  return host_array(dtype, shape, std::move(storage), where);
}
TARRY_OR_OUT_OF_MEMORY("borrow", where)

Array& Array::touch(Where where) & try {
  return *this = detail::wrap(runtime::touch(detail::defined_edge(*this, "touch", where), where));
}
TARRY_OR_OUT_OF_MEMORY("touch", where)

void detail::throw_ragged(std::size_t expected, std::size_t found, Where where) {
  TARRY_THROW(InvalidShape, "array", where,
              "rows differ in length: " + std::to_string(expected) + " and " + std::to_string(found));
}

std::size_t Array::expect(const char* function, Dtype dtype, Where where) const try {
  const Edge e = detail::defined_edge(*this, function, where);
  if (e.node()->dtype != dtype) {
    TARRY_THROW(InvalidDtype, function, where,
                "the array is " + std::string(name(e.node()->dtype)) + ", not " + std::string(name(dtype)) +
                    "; convert with astype first");
  }
  const std::int64_t count = graph::element_count(e.node()->shape());
  if (count > INT64_MAX / static_cast<std::int64_t>(itemsize(dtype))) {
    TARRY_THROW(
        OutOfMemory, function, where,
        std::string(name(dtype)) + " " + graph::to_string(e.node()->shape()) + " takes more than 2^63 - 1 bytes");
  }
  return static_cast<std::size_t>(count);
}
TARRY_OR_OUT_OF_MEMORY(function, where)

void Array::expect(const char* function, Dtype dtype, std::int64_t size, Where where) const try {
  const std::size_t count = expect(function, dtype, where);
  if (static_cast<std::int64_t>(count) != size) {
    TARRY_THROW(InvalidShape, function, where,
                std::string(name(dtype)) + " " + shape().str() + " has " + std::to_string(count) + " elements, not " +
                    std::to_string(size));
  }
}
TARRY_OR_OUT_OF_MEMORY(function, where)

void Array::read(void* destination, Where where) const try {
  runtime::read(detail::defined_edge(*this, "read", where), destination, where);
}
TARRY_OR_OUT_OF_MEMORY("read", where)

std::vector<bool> Array::to_bools(Where where) const try {
  std::vector<std::uint8_t> bytes(expect("to_vector", bool_, where));
  read(bytes.data(), where);
  return {bytes.begin(), bytes.end()};
}
TARRY_OR_OUT_OF_MEMORY("to_vector", where)

namespace {

struct Held final : detail::Shared::Object {
  explicit Held(std::shared_ptr<const void> d) : data(std::move(d)) {}
  std::shared_ptr<const void> data;
};

}  // namespace

detail::HostData Array::host_data(Where where) const try {
  const auto* const held = new Held(runtime::host_data(detail::defined_edge(*this, "host", where), where));
  return {detail::Shared(held), held->data.get()};
}
TARRY_OR_OUT_OF_MEMORY("host", where)

Array::operator bool() const try {
  const Edge e = detail::defined_edge(*this, "bool", Where{});
  const Where where = e.node()->where();
  if (size() != 1) {
    TARRY_THROW(InvalidShape, "bool", where, graph::Typed(e).str() + " has no single truth value");
  }
  graph::ScalarCell cell;
  read(cell.bytes, where);
  switch (dtype()) {
    case Dtype::Float16:
    case Dtype::BFloat16: return (cell.as<std::uint16_t>() & 0x7fff) != 0;
    case Dtype::Float32: return cell.as<float>() != 0;  // -0 is false, NaN is true
    case Dtype::Float64: return cell.as<double>() != 0;
    default: return cell.as<std::int64_t>() != 0;  // zero-padded
  }
}
TARRY_OR_OUT_OF_MEMORY("bool", Where{})

Report detail::evaluate(ArrayPointers arrays, Where where) try {
  return runtime::evaluate(edges_of(arrays, "evaluate", where), where);
}
TARRY_OR_OUT_OF_MEMORY("evaluate", where)

namespace {

std::vector<const Array*> pointers_to(std::span<const Array> arrays) {
  std::vector<const Array*> pointers;
  pointers.reserve(arrays.size());
  for (const Array& x : arrays) pointers.push_back(&x);
  return pointers;
}

}  // namespace

Report evaluate(std::span<const Array> arrays, Where where) try { return detail::evaluate(pointers_to(arrays), where); }
TARRY_OR_OUT_OF_MEMORY("evaluate", where)

Plan plan(std::span<const Array> arrays, Where where) try { return detail::plan(pointers_to(arrays), {}, where); }
TARRY_OR_OUT_OF_MEMORY("plan", where)

Plan detail::plan(ArrayPointers arrays, std::string_view target, Where where) try {
  return runtime::plan(edges_of(arrays, "plan", where), target, where);
}
TARRY_OR_OUT_OF_MEMORY("plan", where)

}  // namespace v0
}  // namespace tarry
