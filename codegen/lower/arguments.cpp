// Arguments of a kernel, each once.
#include "codegen/lower/arguments.h"

#include <algorithm>

namespace tarry::codegen {
namespace {

/// The place of a value in a list, at whose end it is put where it is not there.
template <class List, class Of>
std::uint32_t place_of(List& list, const Of& value) {
  const auto it = std::find(list.begin(), list.end(), value);
  const auto at = static_cast<std::uint32_t>(it - list.begin());
  if (it == list.end()) list.push_back(value);
  return at;
}

}  // namespace

std::uint32_t Arguments::note(graph::NodeId id) {
  out_.lowered.notes.push_back(id);
  return static_cast<std::uint32_t>(out_.lowered.notes.size() - 1);
}

void Arguments::need(const graph::GraphEdge& edge) { (void)place_of(out_.lowered.loads, edge); }

std::uint32_t Arguments::buffer(const BufferRef& ref, Dtype dtype, std::int64_t bytes) {
  const std::uint32_t at = place_of(out_.lowered.buffers, ref);
  if (at == ir_.buffers.size()) {
    ir_.buffers.push_back(dtype);
    out_.buffer_bytes.push_back(bytes);
  }
  return at;
}

std::uint32_t Arguments::scalar(const ScalarRef& ref, Dtype dtype) {
  const std::uint32_t at = place_of(out_.lowered.scalars, ref);
  if (at == ir_.scalars.size()) ir_.scalars.push_back(dtype);
  return at;
}

RawAccess Arguments::access(std::uint32_t buffer, std::int64_t offset, const graph::Dims& strides,
                            const graph::IndexMap& map) const {
  RawAccess a = access_at(offset, strides, map, axes_);
  a.buffer = buffer;
  a.outer_only = outer_phase_;
  return a;
}

std::uint32_t Arguments::number(const RawAccess& a) { return place_of(out_.accesses, a); }

}  // namespace tarry::codegen
