// DLPack both ways, without a copy.
#include "python/memory.h"
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <nanobind/stl/pair.h>
#include <tarry/dlpack.h>

#include <cstdint>
#include <memory>
#include <string>

namespace tarry::python {
namespace {

using dlpack::ManagedTensor;
using dlpack::ManagedTensorVersioned;

constexpr std::int32_t kHost = 1, kCuda = 2;

template <class Tensor>
constexpr const char* kName = "dltensor";
template <>
constexpr const char* kName<ManagedTensorVersioned> = "dltensor_versioned";
template <class Tensor>
constexpr const char* kUsedName = "used_dltensor";
template <>
constexpr const char* kUsedName<ManagedTensorVersioned> = "used_dltensor_versioned";

/// A tensor of another library that is given back where the GIL is held.
template <class Tensor>
struct Wrapped {
  Tensor shown;
  Tensor* original;

  static void give_back(void* wrapped) {
    const std::unique_ptr<Wrapped> self(static_cast<Wrapped*>(wrapped));
    if (self->original->deleter != nullptr) self->original->deleter(self->original);
  }
};

template <class Tensor>
Array import_capsule(const nb::object& capsule, dlpack::Options options) {
  auto* const tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule.ptr(), kName<Tensor>));
  if (tensor == nullptr) throw nb::python_error();
  auto wrapped = std::make_unique<Wrapped<Tensor>>(Wrapped<Tensor>{*tensor, tensor});
  wrapped->shown.manager_ctx = wrapped.get();
  wrapped->shown.deleter = [](Tensor* self) { release_later(&Wrapped<Tensor>::give_back, self->manager_ctx); };
  Array x = from_dlpack(&wrapped->shown, options, here());
  PyCapsule_SetName(capsule.ptr(), kUsedName<Tensor>);
  (void)wrapped.release();
  return x;
}

template <class Tensor>
void delete_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName<Tensor>) == 0) return;
  auto* const tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, kName<Tensor>));
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

template <class Tensor>
nb::object export_capsule(const Array& x, dlpack::Options options, bool writable) {
  Where where = here();
  Tensor* const tensor = [&] {
    const Unlocked unlocked;
    return to_dlpack<Tensor>(x, options, where);
  }();
  if constexpr (std::is_same_v<Tensor, ManagedTensorVersioned>) {
    if (writable) tensor->flags = (tensor->flags & ~dlpack::kReadOnly) | dlpack::kCopied;
  }
  PyObject* const capsule = PyCapsule_New(tensor, kName<Tensor>, &delete_capsule<Tensor>);
  if (capsule == nullptr) {
    tensor->deleter(tensor);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

std::pair<int, int> device_pair(const Array& x) {
  const Where where = here();
  Device device = x.device();
  if (device == Device{}) {
    const Array* arrays[] = {&x};
    const Unlocked unlocked;
    (void)detail::evaluate(arrays, where);
    device = x.device();
  }
  return {device.kind == DeviceKind::Cuda ? kCuda : kHost, device.index};
}

/// As the protocol numbers them: None is the legacy stream, -1 asks for no order.
dlpack::Options order_of(const Array& x, std::optional<std::int64_t> stream) {
  if (device_pair(x).first == kHost || stream.value_or(0) == -1) return {};
  return {reinterpret_cast<void*>(static_cast<std::intptr_t>(stream.value_or(1)))};
}

nb::object to_capsule(const Array& x, std::optional<std::int64_t> stream,
                      std::optional<std::pair<int, int>> max_version, std::optional<std::pair<int, int>> dl_device,
                      std::optional<bool> copy) {
  Array shown = x;
  if (dl_device && *dl_device != device_pair(x)) {
    if (dl_device->first != kHost || (copy.has_value() && !*copy)) {
      raise(PyExc_BufferError, "the array is on " + x.device().str() + "; move it with to_device");
    }
    shown = to_device(x, cpu, here());
  }
  const bool fresh = copy.value_or(false);
  if (fresh) shown = copied(shown);
  const dlpack::Options options = order_of(shown, stream);
  return max_version && max_version->first >= 1 ? export_capsule<ManagedTensorVersioned>(shown, options, fresh)
                                                : export_capsule<ManagedTensor>(shown, options, fresh);
}

nb::object capsule_of(nb::handle o) {
  const nb::object method = o.attr("__dlpack__");
  try {
    return method("max_version"_a = nb::make_tuple(1, 0));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    return method();
  }
}

nb::object from(nb::handle o, std::optional<Device> device, std::optional<bool> copy) {
  if (PyObject_HasAttrString(o.ptr(), "__dlpack__") == 0) raise(PyExc_TypeError, class_name(o) + " has no __dlpack__");
  Array x = is_array(o.ptr()) ? array_of(o.ptr()) : import_dlpack(o);
  if (copy.value_or(false) && !is_array(o.ptr()) && x.device() == cpu) x = copied(x);
  if (device && x.device() != *device) {
    const bool moves = x.device() != Device{};  // an array that was never placed is where it is wanted
    if (moves && copy.has_value() && !*copy) raise(PyExc_ValueError, "another device takes a copy, and copy is False");
    x = to_device(x, *device, here());
  }
  return object(std::move(x));
}

}  // namespace

Array import_dlpack(nb::handle o) {
  const nb::object where = o.attr("__dlpack_device__")();
  const bool on_host = nb::cast<int>(nb::object(where[0])) == kHost;
  const dlpack::Options options{on_host ? nullptr : reinterpret_cast<void*>(std::intptr_t{1})};  // the legacy stream
  const nb::object capsule = capsule_of(o);
  if (PyCapsule_IsValid(capsule.ptr(), kName<ManagedTensorVersioned>) != 0) {
    return import_capsule<ManagedTensorVersioned>(capsule, options);
  }
  return import_capsule<ManagedTensor>(capsule, options);
}

void bind_dlpack(nb::module_& m, ArrayClass& array) {
  array.def("__dlpack__", &to_capsule, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
            "dl_device"_a = nb::none(), "copy"_a = nb::none(),
            "The values as a DLPack capsule, without a copy and read-only. Evaluates.");
  array.def("__dlpack_device__", &device_pair, "The array's device as DLPack numbers it. Evaluates.");
  m.def("from_dlpack", &from, "x"_a, nb::kw_only(), "device"_a = nb::none(), "copy"_a = nb::none(),
        nb::sig("def from_dlpack(x: object, *, device: Device | str | None = None, copy: bool | None = None) -> Array"),
        "An array that reads the memory of another library's array, which must not change until everything recorded "
        "from it is evaluated; with copy=True an array of its own.");
}

}  // namespace tarry::python
