// Devices, their memory, and what the machine has.
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

namespace tarry::python {
namespace {

/// A device where Python sees it.
struct DeviceObject {
  Device device;
};

std::optional<Device> device_named(std::string_view name) {
  if (name == "cpu") return cpu;
  if (name == "unplaced") return Device{};
  if (name == "cuda") return cuda(0);
  if (!name.starts_with("cuda:") || name.size() > 8) return {};
  int number = 0;
  for (const char c : name.substr(5)) {
    if (c < '0' || c > '9') return {};
    number = 10 * number + (c - '0');
  }
  return name.size() > 5 && number < 256 ? std::optional(cuda(number)) : std::nullopt;
}

}  // namespace

std::optional<Device> device_from(PyObject* o) {
  const nb::handle h(o);
  if (nb::isinstance<DeviceObject>(h)) return nb::inst_ptr<DeviceObject>(h)->device;
  if (!PyUnicode_Check(o)) return {};
  const char* const name = PyUnicode_AsUTF8AndSize(o, nullptr);
  if (name != nullptr) return device_named(name);
  PyErr_Clear();
  return {};
}

void Named<Device>::refuse(nb::handle name) {
  throw InvalidValue("device", here(),
                     std::string("there is no device ") + nb::repr(name).c_str() +
                         "; there are 'cpu', 'cuda', 'cuda:0', 'cuda:1' and so on, and 'unplaced'");
}

void bind_devices(nb::module_& m) {
  nb::class_<DeviceObject>(m, "Device", "Where arrays live and kernels run.")
      .def(
          "__init__", [](DeviceObject* self, Device device) { new (self) DeviceObject{device}; }, "name"_a)
      .def("__repr__", [](const DeviceObject& d) { return "tarry.Device('" + d.device.str() + "')"; })
      .def("__str__", [](const DeviceObject& d) { return d.device.str(); })
      .def("__hash__", [](const DeviceObject& d) { return static_cast<int>(d.device.kind) * 256 + d.device.index; })
      .def(
          "__eq__",
          [](const DeviceObject& d, nb::handle other) {
            const auto device = device_from(other.ptr());
            return device.has_value() && *device == d.device;
          },
          nb::arg().none())
      .def("__reduce__",
           [m](const DeviceObject& d) { return nb::make_tuple(m.attr("Device"), nb::make_tuple(d.device.str())); });
  m.attr("cpu") = nb::cast(DeviceObject{cpu});
  m.def("cuda", [](int index) { return cuda(index, here()); }, "index"_a = 0, document("cuda"));
  m.def("devices", [] { return devices(here()); }, document("devices"));
  m.def("default_device", [] { return default_device(here()); }, document("default_device"));
  m.def("describe_system", [] { return describe_system(here()); }, document("describe_system"));
  m.def(
      "synchronize",
      [] {
        Where where = here();
        const WithoutGil unlocked;
        synchronize(where);
      },
      document("synchronize"));

  nb::class_<MemoryStats>(m, "MemoryStats", "Bytes that Tarry manages on one device.")
      .def_ro("device", &MemoryStats::device)
      .def_ro("live", &MemoryStats::live)
      .def_ro("cached", &MemoryStats::cached)
      .def_ro("peak", &MemoryStats::peak)
      .def_ro("limit", &MemoryStats::limit)
      .def_ro("requests", &MemoryStats::requests)
      .def_ro("allocations", &MemoryStats::allocations)
      .def("__repr__", [](const MemoryStats& s) { return s.str(here()); });
  m.def(
      "memory_stats", [](Device device) { return memory_stats(device, here()); }, "device"_a = "unplaced",
      document("memory_stats"));
  m.def(
      "reset_memory_peak", [](Device device) { reset_memory_peak(device, here()); }, "device"_a = "unplaced",
      document("reset_memory_peak"));
  m.def("trim", [](Device device) { trim(device, here()); }, "device"_a = "unplaced", document("trim"));
  m.def(
      "set_memory_limit", [](Device device, std::int64_t bytes) { set_memory_limit(device, bytes, here()); },
      "device"_a, "bytes"_a, document("set_memory_limit"));
}

nb::object device_object(Device device) { return nb::cast(DeviceObject{device}); }

}  // namespace tarry::python
