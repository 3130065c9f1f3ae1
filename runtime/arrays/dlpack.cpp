// DLPack: tensors of other libraries as arrays, and arrays as tensors.
#include <tarry/dlpack.h>

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "graph/record/record.h"
#include "runtime/arrays/adopted.h"
#include "runtime/device/backend.h"
#include "runtime/evaluate/engine.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using dlpack::Tensor;

enum DeviceCode : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

static_assert(sizeof(dlpack::DataType) == 4 && sizeof(dlpack::DeviceType) == 8 && sizeof(Tensor) == 48);
static_assert(sizeof(dlpack::ManagedTensor) == 64 && sizeof(dlpack::ManagedTensorVersioned) == 80);

struct Row {
  Dtype dtype;
  dlpack::DataType type;
};
constexpr Row kTypes[] = {
    {bool_, {kBool, 8}},       {int8, {kInt, 8}},       {int16, {kInt, 16}},     {int32, {kInt, 32}},
    {int64, {kInt, 64}},       {uint8, {kUInt, 8}},     {uint16, {kUInt, 16}},   {uint32, {kUInt, 32}},
    {uint64, {kUInt, 64}},     {float16, {kFloat, 16}}, {float32, {kFloat, 32}}, {float64, {kFloat, 64}},
    {bfloat16, {kBfloat, 16}},
};

std::string text(const dlpack::DataType& t) {
  const char* const names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  return t.code < std::size(names) ? fmt::format("{}{}", names[t.code], t.bits)
                                   : fmt::format("code {} of {} bits", t.code, t.bits);
}

Dtype dtype_of_tensor(const Tensor& t, Where where) {
  if (t.dtype.lanes != 1)
    TARRY_THROW(InvalidDtype, "from_dlpack", where, fmt::format("elements are vectors of {} lanes", t.dtype.lanes));
  for (const Row& r : kTypes)
    if (r.type.code == t.dtype.code && r.type.bits == t.dtype.bits) return r.dtype;
  TARRY_THROW(InvalidDtype, "from_dlpack", where, fmt::format("the dtype {} is not available", text(t.dtype)));
}

Device device_of_tensor(const Tensor& t, Where where) {
  switch (t.device.type) {
    case kCpu:
    case kCudaHost: return cpu;
    case kCuda:
    case kCudaManaged:
      if (t.device.index >= 0 && t.device.index <= 255)
        return {DeviceKind::Cuda, static_cast<std::uint8_t>(t.device.index)};
      break;
    default: break;
  }
  TARRY_THROW(InvalidArgument, "from_dlpack", where,
              fmt::format("the tensor is on a device of type {} and number {}; host memory and CUDA are available",
                          t.device.type, t.device.index));
}

template <class Managed>
Array import_tensor(Managed* managed, dlpack::Options options, Where where) {
  const Tensor& t = managed->dl_tensor;
  if (t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr))
    TARRY_THROW(InvalidArgument, "from_dlpack", where,
                fmt::format("a tensor of {} dimensions without a shape", t.ndim));
  runtime::Foreign memory;
  memory.device = device_of_tensor(t, where);
  memory.dtype = dtype_of_tensor(t, where);
  memory.shape.assign(t.shape, t.shape + t.ndim);
  memory.row_major = t.strides == nullptr;
  if (t.strides != nullptr) memory.strides.assign(t.strides, t.strides + t.ndim);
  if (t.data != nullptr) memory.data = static_cast<char*>(t.data) + t.byte_offset;
  if (memory.device.kind == DeviceKind::Cuda) memory.stream = options.stream;
  const auto give_back = [](void* context) {
    auto* const tensor = static_cast<Managed*>(context);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  };
  return detail::wrap(runtime::adopt(memory, give_back, managed, "from_dlpack", where));
}

template <class Managed>
void require(const Managed* managed, Where where) {
  if (managed == nullptr) TARRY_THROW(InvalidArgument, "from_dlpack", where, "no tensor");
}

/// A tensor and what keeps its memory.
template <class Managed>
struct Exported {
  Managed managed;
  std::shared_ptr<graph::Storage> storage;
  std::vector<std::int64_t> shape, strides;
};

template <class Managed>
Managed* export_tensor(const Array& x, dlpack::Options options, Where where) {
  const graph::Edge e = detail::defined_edge(x, "to_dlpack", where);
  auto made = std::make_unique<Exported<Managed>>();
  made->storage = runtime::shared_storage(e, where);
  const graph::Node& n = *e.node();
  const graph::Storage& s = *made->storage;
  const Device device = s.buffer->device;
  if (device.kind == DeviceKind::Cuda) {
    runtime::Backend& b = runtime::backend(device);
    if (options.stream != nullptr) {
      b.let_wait(options.stream, s.buffer->last_write);
    } else if (s.buffer->last_write != 0) {
      b.wait(s.buffer->last_write, std::chrono::nanoseconds::max());
    }
  }
  made->shape.assign(n.shape().begin(), n.shape().end());
  made->strides.assign(s.strides.begin(), s.strides.end());
  Tensor& t = made->managed.dl_tensor;
  t.data = s.buffer->data;
  t.byte_offset = static_cast<std::uint64_t>(s.offset) * itemsize(n.dtype);
  t.device = {device.kind == DeviceKind::Cuda ? kCuda : kCpu, device.index};
  t.ndim = static_cast<std::int32_t>(made->shape.size());
  t.shape = made->shape.data();
  t.strides = made->strides.data();
  for (const Row& r : kTypes)
    if (r.dtype == n.dtype) t.dtype = r.type;
  made->managed.manager_ctx = made.get();
  made->managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
  return &made.release()->managed;
}

}  // namespace

Array detail::import(dlpack::ManagedTensor* tensor, dlpack::Options options, Where where) try {
  require(tensor, where);
  return import_tensor(tensor, options, where);
}
TARRY_OR_OUT_OF_MEMORY("from_dlpack", where)

Array detail::import(dlpack::ManagedTensorVersioned* tensor, dlpack::Options options, Where where) try {
  require(tensor, where);
  if (tensor->version.major != 1) {
    TARRY_THROW(
        InvalidArgument, "from_dlpack", where,
        fmt::format("the tensor is of DLPack {}.{}; 1.x is available", tensor->version.major, tensor->version.minor));
  }
  return import_tensor(tensor, options, where);
}
TARRY_OR_OUT_OF_MEMORY("from_dlpack", where)

dlpack::ManagedTensor* detail::export_unversioned(const Array& x, dlpack::Options options, Where where) try {
  return export_tensor<dlpack::ManagedTensor>(x, options, where);
}
TARRY_OR_OUT_OF_MEMORY("to_dlpack", where)

dlpack::ManagedTensorVersioned* detail::export_versioned(const Array& x, dlpack::Options options, Where where) try {
  auto* const managed = export_tensor<dlpack::ManagedTensorVersioned>(x, options, where);
  managed->version = {1, 0};
  managed->flags = dlpack::kReadOnly;
  return managed;
}
TARRY_OR_OUT_OF_MEMORY("to_dlpack", where)

}  // namespace v0
}  // namespace tarry
