// Adopting: checks, a buffer that knows how to give its memory back, and the order of streams around both.
#include "runtime/arrays/adopted.h"

#include <fmt/format.h>

#include <chrono>

#include "graph/record/record.h"
#include "runtime/device/backend.h"
#include "support/check.h"
#include "support/log.h"

namespace tarry::runtime {

AdoptedBuffer::~AdoptedBuffer() {
  if (deleter_ == nullptr) return;
  try {
    Backend& b = backend(device);
    if (stream_ != nullptr) {
      b.let_wait(stream_, b.record());
    } else if (const std::uint64_t ticket = b.record(); ticket != 0) {
      b.wait(ticket, std::chrono::nanoseconds::max());
    }
  } catch (const Error& e) {  // a device that is lost uses no memory any more
    support::log::info(e.what());
  } catch (const std::exception&) {  // no host memory to wait with
  }
  deleter_(context_);
}

Extent extent_of(std::span<const std::int64_t> shape, const graph::Dims& strides, std::size_t size, std::string_view op,
                 Where where) {
  std::int64_t low = 0, high = 0;
  bool overflow = false;
  for (int d = 0; d < strides.size(); ++d) {
    std::int64_t span = 0;
    overflow |= __builtin_mul_overflow(strides[d], shape[static_cast<std::size_t>(d)] - 1, &span);
    std::int64_t& end = span < 0 ? low : high;
    overflow |= __builtin_add_overflow(end, span, &end);
  }
  std::int64_t elements = 0, bytes = 0;
  overflow |= __builtin_sub_overflow(high, low, &elements) || __builtin_add_overflow(elements, 1, &elements) ||
              __builtin_mul_overflow(elements, static_cast<std::int64_t>(size), &bytes);
  if (overflow) {
    TARRY_THROW(InvalidArgument, std::string(op), where,
                "the strides of shape " + graph::to_string(shape) + " reach past 2^63 - 1 bytes");
  }
  return {-low, elements};
}

graph::Dims normalised_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                               std::string_view op, Where where) {
  if (strides.size() != shape.size()) {
    TARRY_THROW(InvalidArgument, std::string(op), where,
                std::to_string(strides.size()) + " strides for shape " + graph::to_string(shape));
  }
  const graph::Dims row_major = graph::row_major_strides(shape);
  if (graph::element_count(shape) == 0) return row_major;
  graph::Dims result(strides);
  for (int d = 0; d < result.size(); ++d)
    if (shape[static_cast<std::size_t>(d)] == 1) result[d] = row_major[d];
  return result;
}

graph::Edge adopt(const Foreign& m, AdoptedBuffer::Deleter deleter, void* context, std::string_view op, Where where) {
  if (m.device == Device{})
    TARRY_THROW(InvalidArgument, std::string(op), where, "the memory is on no device: name cpu or cuda(k)");
  graph::check_available(op, m.dtype, where);
  graph::check_shape(op, {m.dtype, m.shape}, where);
  const std::size_t size = itemsize(m.dtype);
  const bool empty = graph::element_count(m.shape) == 0;
  if (m.data == nullptr && !empty)
    TARRY_THROW(InvalidArgument, std::string(op), where, "no memory for " + graph::Typed(m.dtype, m.shape).str());
  if (reinterpret_cast<std::uintptr_t>(m.data) % size != 0) {
    TARRY_THROW(
        InvalidArgument, std::string(op), where,
        fmt::format("the memory at {} is not aligned to the {} bytes of a {}", fmt::ptr(m.data), size, name(m.dtype)));
  }
  const graph::Dims row_major = graph::row_major_strides(m.shape);
  auto storage = std::make_shared<graph::Storage>();
  storage->strides = m.row_major ? row_major : normalised_strides(m.shape, m.strides, op, where);
  storage->contiguous = storage->strides == row_major;
  storage->any_byte = m.dtype == bool_;
  const Extent extent = empty ? Extent{} : extent_of(m.shape, storage->strides, size, op, where);
  storage->offset = extent.first;
  char* const lowest = static_cast<char*>(m.data) - extent.first * static_cast<std::int64_t>(size);
  auto buffer =
      std::make_shared<AdoptedBuffer>(m.device, lowest, static_cast<std::size_t>(extent.elements) * size, m.stream);
  storage->buffer = buffer;
  graph::Edge edge = graph::make_input(m.dtype, m.shape, std::move(storage), m.device, where);
  if (m.stream != nullptr) backend(m.device).wait_for(m.stream);
  buffer->own(deleter, context);
  return edge;
}

}  // namespace tarry::runtime
