// The extension module that the package tarry is made of.
#include "python/module.h"

#include <tarry/dynamic.h>
#include <tarry/log.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "python/errors.h"
#include "python/unlocked.h"

namespace {

/// Sets an attribute of a type that Python itself may not change, as those of nanobind's functions are.
void set_of_type(nanobind::handle type, nanobind::handle name, nanobind::handle value) {
  if (PyObject_GenericSetAttr(type.ptr(), name.ptr(), value.ptr()) != 0) throw nanobind::python_error();
  PyType_Modified(reinterpret_cast<PyTypeObject*>(type.ptr()));
}

/// The folders of packages that this interpreter imports from.
std::vector<std::string> package_folders() {
  std::vector<std::string> folders;
  PyObject* const path = PySys_GetObject("path");  // borrowed; null where a program has deleted it
  if (path == nullptr || !PyList_Check(path)) return folders;
  for (const nanobind::handle entry : nanobind::borrow<nanobind::list>(path))
    if (std::string folder; nanobind::try_cast(entry, folder) && folder.ends_with("-packages"))
      folders.push_back(std::move(folder));
  return folders;
}

/// Prints a line of the log as it is printed where nobody asks for it, in the words of Python.
void print_log(void*, tarry::LogLevel level, std::string_view message) {
  constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};
  const std::string text = tarry::python::in_python(std::string(message));
  std::fprintf(stderr, "[tarry] %s: %s\n", kLevels[static_cast<std::size_t>(level)], text.c_str());
}

}  // namespace

NB_MODULE(_tarry, m) {
  m.doc() = "Lazy arrays that run as a few fused kernels.";
  nanobind::set_leak_warnings(false);  // arrays in other modules outlive this one when the interpreter exits
  tarry::search_packages(package_folders());
  tarry::python::watch_end();
  tarry::python::wait_unlocked();
  tarry::set_log_callback(&print_log);
  m.def("_set_of_type", &set_of_type, nanobind::arg("type"), nanobind::arg("name"), nanobind::arg("value"));
  tarry::python::bind_errors(m);
  tarry::python::bind_dtypes(m);
  tarry::python::bind_devices(m);
  auto array = tarry::python::bind_arrays(m);
  tarry::python::bind_creation(m, array);
  tarry::python::bind_elementwise(m, array);
  tarry::python::bind_reductions(m, array);
  tarry::python::bind_curves(m, array);
  tarry::python::bind_manipulation(m, array);
  tarry::python::bind_indexing(m, array);
  tarry::python::bind_linalg(m, array);
  tarry::python::bind_sorting(m, array);
  tarry::python::bind_grouping(m);
  tarry::python::bind_windows(m);
  tarry::python::bind_loops(m);
  tarry::python::bind_own_code(m);
  tarry::python::bind_random(m);
  tarry::python::bind_dlpack(m, array);
  tarry::python::bind_cuda_interface(array);
  tarry::python::bind_files(m);
  tarry::python::bind_functions(m);
  tarry::python::bind_caches(m);
  tarry::python::bind_evaluate(m, array);
  tarry::python::bind_names(m, array);
}
