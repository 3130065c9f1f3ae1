// Row-major host memory that a result is collected in piece by piece, or a sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "graph/node.h"
#include "runtime/device/backend.h"
#include "runtime/evaluate/chunks.h"

namespace tarry::runtime {

class ResultCollector {
 public:
  ResultCollector(const graph::Dims& shape, int axis, std::size_t size, Sink* sink);

  /// Elements `from` <= index < `to` along the axis.
  void take(const graph::Edge& piece, std::int64_t from, std::int64_t to, Where where);
  [[nodiscard]] std::shared_ptr<graph::Storage> storage() const;

 private:
  [[nodiscard]] std::byte* bytes() const { return static_cast<std::byte*>(memory_->data); }

  const graph::Dims shape_;
  Sink* const sink_;
  std::size_t outer_ = 1, extent_ = 0, inner_ = 0;
  std::shared_ptr<graph::Buffer> memory_;
};

}  // namespace tarry::runtime
