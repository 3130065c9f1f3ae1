// Elements of any dtype in host memory, one by one or all.
#include <tarry/dynamic.h>

#include <string>

#include "graph/record/record.h"
#include "runtime/evaluate/engine.h"
#include "support/check.h"
#include "support/out_of_memory.h"
#include "support/shared.h"

namespace tarry {
inline namespace v0 {
namespace {

struct HeldBytes final : detail::Shared::Object {
  explicit HeldBytes(std::shared_ptr<const void> d) : data(std::move(d)) {}
  std::shared_ptr<const void> data;
};

template <class T>
T at(const void* element) {
  T value;
  __builtin_memcpy(&value, element, sizeof value);
  return value;
}

}  // namespace

HostBytes host_bytes(const Array& x, Where where) try {
  graph::Edge e = detail::defined_edge(x, "host_bytes", where);
  const auto size = static_cast<std::size_t>(graph::element_count(e.node()->shape())) * itemsize(e.node()->dtype);
  const auto* const held = new HeldBytes(runtime::host_data(e, where));
  return HostBytes({detail::Shared(held), held->data.get()}, size);
}
TARRY_OR_OUT_OF_MEMORY("host_bytes", where)

Scalar item(const Array& x, Where where) try {
  const graph::Edge e = detail::defined_edge(x, "item", where);
  if (graph::element_count(e.node()->shape()) != 1) {
    TARRY_THROW(InvalidShape, "item", where, graph::Typed(e).str() + " has not one element");
  }
  return load_element(runtime::host_data(e, where).get(), e.node()->dtype, where);
}
TARRY_OR_OUT_OF_MEMORY("item", where)

Scalar load_element(const void* element, Dtype dtype, Where where) {
  switch (dtype) {
    case Dtype::Bool: return at<std::uint8_t>(element) != 0;
    case Dtype::Int8: return static_cast<std::int64_t>(at<std::int8_t>(element));
    case Dtype::Int16: return at<std::int16_t>(element);
    case Dtype::Int32: return at<std::int32_t>(element);
    case Dtype::Int64: return at<std::int64_t>(element);
    case Dtype::UInt8: return at<std::uint8_t>(element);
    case Dtype::UInt16: return at<std::uint16_t>(element);
    case Dtype::UInt32: return at<std::uint32_t>(element);
    case Dtype::UInt64: return at<std::uint64_t>(element);
    case Dtype::Float16: return at<Half>(element);
    case Dtype::BFloat16: return at<BFloat16>(element);
    case Dtype::Float32: return at<float>(element);
    case Dtype::Float64: return at<double>(element);
    default: graph::check_available("load_element", dtype, where); return 0;
  }
}

void store_element(void* element, Dtype dtype, Scalar value, Where where) {
  graph::check_available("store_element", dtype, where);
  graph::ScalarCell cell;
  if (!graph::to_cell(value, dtype, cell)) {
    TARRY_THROW(InvalidValue, "store_element", where,
                "the number " + graph::to_string(value) + " does not fit " + std::string(name(dtype)));
  }
  __builtin_memcpy(element, cell.bytes, itemsize(dtype));
}

}  // namespace v0
}  // namespace tarry
