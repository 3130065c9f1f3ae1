// Pieces are copied to where they stand in the whole, row by row.
#include "runtime/evaluate/result_collector.h"

#include <algorithm>

#include "graph/slices/slices.h"
#include "runtime/device/memory.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/transfer.h"

namespace tarry::runtime {

ResultCollector::ResultCollector(const graph::Dims& shape, int axis, std::size_t size, Sink* sink)
    : shape_(shape), sink_(sink) {
  inner_ = size;
  for (int d = axis + 1; d < shape.size(); ++d) inner_ *= static_cast<std::size_t>(shape[d]);
  for (int d = 0; d < axis; ++d) outer_ *= static_cast<std::size_t>(shape[d]);
  extent_ = static_cast<std::size_t>(shape[axis]);
  if (!sink) memory_ = host_buffer(std::max<std::size_t>(outer_ * extent_ * inner_, 1));
}

void ResultCollector::take(const graph::Edge& piece, std::int64_t from, std::int64_t to, Where where) {
  const auto first = static_cast<std::size_t>(from), count = static_cast<std::size_t>(to - from);
  if (!sink_ && outer_ == 1 && piece.node()->device.kind == DeviceKind::Cuda)
    return read(piece, bytes() + first * inner_, where);
  const std::shared_ptr<const void> data = host_data(piece, where);
  const auto* source = static_cast<const std::byte*>(data.get());
  for (std::size_t o = 0; o < outer_; ++o, source += count * inner_) {
    const std::size_t at = (o * extent_ + first) * inner_;
    if (sink_) {
      sink_->write(at, source, count * inner_);
    } else {
      backend(cpu).copy(bytes() + at, source, count * inner_);
    }
  }
}

std::shared_ptr<graph::Storage> ResultCollector::storage() const {
  auto s = std::make_shared<graph::Storage>();
  s->buffer = memory_;
  s->strides = graph::row_major_strides(shape_.span());
  return s;
}

}  // namespace tarry::runtime
