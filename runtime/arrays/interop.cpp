// Pointers, views and streams of other code, and arrays that change devices.
#include <tarry/interop.h>
#include <tarry/views.h>

#include <fmt/format.h>

#include <array>

#include "graph/record/record.h"
#include "runtime/arrays/adopted.h"
#include "runtime/device/backend.h"
#include "runtime/evaluate/engine.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

struct TypeString {
  Dtype dtype;
  const char* text;
};
constexpr std::array<TypeString, 12> kTypeStrings{{{bool_, "|b1"},
                                                   {int8, "|i1"},
                                                   {uint8, "|u1"},
                                                   {int16, "<i2"},
                                                   {uint16, "<u2"},
                                                   {int32, "<i4"},
                                                   {uint32, "<u4"},
                                                   {int64, "<i8"},
                                                   {uint64, "<u8"},
                                                   {float16, "<f2"},
                                                   {float32, "<f4"},
                                                   {float64, "<f8"}}};

void require_gpu(const char* op, Device device, Where where) {
  if (device.kind != DeviceKind::Cuda) TARRY_THROW(InvalidArgument, op, where, device.str() + " is no GPU");
}

}  // namespace

Array detail::adopt(const void* data, Dtype dtype, const Shape& shape, Device device, const AdoptOptions& options,
                    Where where) try {
  runtime::Foreign memory;
  memory.data = const_cast<void*>(data);  // buffers are typed for writers too; an adopted one is never written
  memory.dtype = dtype;
  memory.shape.assign(shape.begin(), shape.end());
  memory.row_major = !options.strides;
  if (options.strides) memory.strides = *options.strides;
  memory.device = device;
  memory.stream = options.stream;
  return wrap(runtime::adopt(memory, options.deleter, options.context, "from_device_pointer", where));
}
TARRY_OR_OUT_OF_MEMORY("from_device_pointer", where)

CudaArrayInterface cuda_array_interface(const Array& x, Where where) try {
  const graph::Edge e = detail::defined_edge(x, "cuda_array_interface", where);
  const graph::Node& n = *e.node();
  CudaArrayInterface view;
  for (const TypeString& t : kTypeStrings)
    if (t.dtype == n.dtype) view.typestr = t.text;
  if (view.typestr.empty()) {
    TARRY_THROW(InvalidDtype, "cuda_array_interface", where,
                fmt::format("there is no type string for {}; convert with astype first", name(n.dtype)));
  }
  const std::shared_ptr<graph::Storage> s = runtime::shared_storage(e, where);
  require_gpu("cuda_array_interface", s->buffer->device, where);
  const auto size = static_cast<std::int64_t>(itemsize(n.dtype));
  view.shape.assign(n.shape().begin(), n.shape().end());
  if (!s->contiguous)
    for (const std::int64_t stride : s->strides) view.strides.push_back(stride * size);
  if (graph::element_count(n.shape()) != 0) view.data = static_cast<const char*>(s->buffer->data) + s->offset * size;
  view.stream = runtime::backend(s->buffer->device).stream();
  return view;
}
TARRY_OR_OUT_OF_MEMORY("cuda_array_interface", where)

Array from_cuda_array_interface(const CudaArrayInterface& view, Device device, const AdoptOptions& options,
                                Where where) try {
  constexpr const char* kOp = "from_cuda_array_interface";
  require_gpu(kOp, device, where);
  const TypeString* type = nullptr;
  for (const TypeString& t : kTypeStrings)
    if (view.typestr == t.text ||
        (view.typestr.size() == 3 && view.typestr.substr(1) == t.text + 1 && t.text[2] == '1'))
      type = &t;
  if (type == nullptr)
    TARRY_THROW(InvalidDtype, kOp, where, fmt::format("the type string \"{}\" is not available", view.typestr));
  runtime::Foreign memory;
  memory.data = const_cast<void*>(view.data);
  memory.dtype = type->dtype;
  memory.shape = view.shape;
  memory.row_major = view.strides.empty();
  const auto size = static_cast<std::int64_t>(itemsize(type->dtype));
  for (const std::int64_t stride : view.strides) {
    if (stride % size != 0)
      TARRY_THROW(InvalidArgument, kOp, where,
                  fmt::format("a stride of {} bytes is not a whole number of {}", stride, name(type->dtype)));
    memory.strides.push_back(stride / size);
  }
  memory.device = device;
  memory.stream = view.stream;
  return detail::wrap(runtime::adopt(memory, options.deleter, options.context, kOp, where));
}
TARRY_OR_OUT_OF_MEMORY("from_cuda_array_interface", where)

void use_stream(Device device, void* stream, Where where) try {
  require_gpu("use_stream", device, where);
  runtime::backend(device).use_stream(stream);
}
TARRY_OR_OUT_OF_MEMORY("use_stream", where)

Array to_device(const Array& x, Device device, Where where) try {
  const graph::Edge e = detail::edge(x, "to_device", where);
  const graph::Node& n = *e.node();
  if (n.device == device) return x;
  const bool ready = n.state.load(std::memory_order_acquire) == graph::State::Ready && n.op != graph::Op::Scalar;
  if (!ready && n.device == Device{})
    return detail::wrap(graph::record_view(e, graph::broadcast_map(n.shape(), n.shape()), n.shape(), where, device));
  return detail::wrap(graph::make_input(n.dtype, n.shape(), runtime::ready_storage(e, where), device, where));
}
TARRY_OR_OUT_OF_MEMORY("to_device", where)

}  // namespace v0
}  // namespace tarry
