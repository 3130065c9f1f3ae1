// Arguments: what a kernel that is being selected takes: buffers, scalars and accesses, each once.
#pragma once

#include <cstdint>

#include "codegen/lower/selection.h"

namespace tarry::codegen {

class Arguments {
 protected:
  /// `axes`: of the group's space.
  explicit Arguments(int axes) : ir_(out_.lowered.ir), axes_(axes) {}

  std::uint32_t note(graph::NodeId id);
  /// Another group must store `edge`.
  void need(const graph::GraphEdge& edge);
  std::uint32_t buffer(const BufferRef& ref, Dtype dtype, std::int64_t bytes);
  std::uint32_t scalar(const ScalarRef& ref, Dtype dtype);
  /// An access of a buffer whose dimensions have `strides`, at the coordinates of `map` but those that are computed.
  /// Without a buffer: an iota.
  [[nodiscard]] RawAccess access(std::uint32_t buffer, std::int64_t offset = 0, const graph::Dims& strides = {},
                                 const graph::IndexMap& map = {}) const;
  std::uint32_t number(const RawAccess& a);

  Selection out_;
  KernelIr& ir_;
  bool outer_phase_ = false;  ///< values that are not there yet belong to the epilogue

 private:
  const int axes_;
};

}  // namespace tarry::codegen
