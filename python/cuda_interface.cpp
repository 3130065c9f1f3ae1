// __cuda_array_interface__ both ways, without a copy.
#include <tarry/evaluate.h>
#include <tarry/interop.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "python/memory.h"
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <nanobind/stl/vector.h>

namespace tarry::python {
namespace {

/// The attribute of arrays on a GPU; others do not have it.
nb::dict exported(const Array& x) {
  const Device device = x.device() == Device{} ? default_device(here()) : x.device();
  if (device.kind != DeviceKind::Cuda) raise(PyExc_AttributeError, "the array is not on a GPU");
  if (x.dtype() == bfloat16) raise(PyExc_AttributeError, "there is no type string for bfloat16");
  Where where = here();
  const Array arrays[] = {x};
  {
    const Unlocked unlocked;
    evaluate(arrays, where);  // whose errors are the program's, not the attribute's
  }
  const CudaArrayInterface view = [&] {
    try {
      const Unlocked unlocked;
      return cuda_array_interface(x, where);
    } catch (const InvalidArgument& e) {  // placed nowhere, and its memory is the host's
      raise(PyExc_AttributeError, e.what());
    }
  }();
  nb::dict made;
  made["shape"] = shape_tuple(view.shape);
  made["strides"] = view.strides.empty() ? nb::object(nb::none()) : nb::object(shape_tuple(view.strides));
  made["typestr"] = view.typestr;
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.data), view.read_only);
  made["version"] = view.version;
  made["stream"] = view.stream == nullptr ? nb::object(nb::none())
                                          : nb::object(nb::int_(reinterpret_cast<std::uintptr_t>(view.stream)));
  return made;
}

/// The GPU that new arrays are placed on; the first where they are placed on none.
Device gpu() {
  const Device placed = empty({0}, {}, here()).device();
  const Device usual = placed == Device{} ? default_device(here()) : placed;
  return usual.kind == DeviceKind::Cuda ? usual : cuda(0, here());
}

template <class T>
T entry(const nb::dict& view, const char* name, T otherwise) {
  if (!view.contains(name) || nb::object(view[name]).is_none()) return otherwise;
  return nb::cast<T>(nb::object(view[name]));
}

/// An array that keeps the object until its memory is needed no more.
Array adopted(nb::handle o, const CudaArrayInterface& view, Device device) {
  AdoptOptions options;
  options.context = nb::borrow(o).release().ptr();
  options.deleter = [](void* owner) {
    release_later([](void* object) { Py_DECREF(static_cast<PyObject*>(object)); }, owner);
  };
  try {
    return from_cuda_array_interface(view, device, options, here());
  } catch (...) {
    o.dec_ref();
    throw;
  }
}

void* pointer(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

}  // namespace

Array import_cuda(nb::handle o) {
  const auto shown = nb::cast<nb::dict>(o.attr("__cuda_array_interface__"));
  if (!nb::object(entry(shown, "mask", nb::object(nb::none()))).is_none()) {
    raise(PyExc_TypeError, class_name(o) + " has a mask, which arrays do not have");
  }
  CudaArrayInterface view;
  view.shape = nb::cast<std::vector<std::int64_t>>(nb::object(shown["shape"]));
  view.strides = entry(shown, "strides", std::vector<std::int64_t>());
  view.typestr = nb::cast<std::string>(nb::object(shown["typestr"]));
  view.data = pointer(nb::cast<std::uintptr_t>(nb::object(nb::object(shown["data"])[0])));
  view.stream = pointer(entry(shown, "stream", std::uintptr_t{0}));
  const Device device = gpu();
  const Array x = adopted(o, view, device);
  const std::vector<Device> there = devices(here());
  if (std::ranges::find(there, device) == there.end())
    throw DeviceError("asarray", here(), class_name(o) + " lies on a GPU, and this process has no " + device.str());
  return x;
}

void bind_cuda_interface(ArrayClass& array) {
  array.def_prop_ro("__cuda_array_interface__", &exported, "The memory of an array on a GPU. Evaluates.");
}

}  // namespace tarry::python
