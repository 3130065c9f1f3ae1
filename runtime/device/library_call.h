// LibraryCall: a call of a library as a step of a plan, chosen once by shape, dtype and device, then made many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tarry/dtype.h>

#include "codegen/cuda/matmul.h"
#include "graph/op.h"

namespace tarry::runtime {

/// (a_count, m, k) times (b_count, k, n), all row-major and from the start of their buffers; a count of 1 serves all.
struct MatmulSpec {
  Dtype dtype{};
  graph::Mode mode{};
  std::int64_t a_count = 1, b_count = 1, m = 1, k = 1, n = 1;  ///< each within int32
  [[nodiscard]] std::int64_t count() const { return a_count > b_count ? a_count : b_count; }
  [[nodiscard]] codegen::MatmulShape shape() const { return {a_count, b_count, m, k, n}; }
  [[nodiscard]] std::string str() const;  ///< "matmul f32 (1, 3, 4) (1, 4, 5)"
};

class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  [[nodiscard]] virtual std::size_t workspace() const { return 0; }  ///< bytes of device memory it wants to scratch in
  /// Enqueues (CUDA) or does (CPU) the work. Thread-safe. Throws DeviceError.
  virtual void run(const void* a, const void* b, void* result, void* workspace) const = 0;
};

}  // namespace tarry::runtime
