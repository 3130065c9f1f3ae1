// The chapters of the module; each binds one.
#pragma once

#include <nanobind/nanobind.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <tarry/array.h>

#include <string>
#include <vector>

#include "python/documents.h"

namespace tarry::python {

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT: "x"_a

using ArrayClass = nb::class_<Array>;

void bind_dtypes(nb::module_& m);
void bind_devices(nb::module_& m);
ArrayClass bind_arrays(nb::module_& m);
void bind_caches(nb::module_& m);
void bind_curves(nb::module_& m, ArrayClass& array);
void bind_creation(nb::module_& m, ArrayClass& array);
void bind_cuda_interface(ArrayClass& array);
void bind_dlpack(nb::module_& m, ArrayClass& array);
void bind_elementwise(nb::module_& m, ArrayClass& array);
void bind_evaluate(nb::module_& m, ArrayClass& array);
void bind_files(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_indexing(nb::module_& m, ArrayClass& array);
void bind_linalg(nb::module_& m, ArrayClass& array);
void bind_own_code(nb::module_& m);
void bind_loops(nb::module_& m);
void bind_manipulation(nb::module_& m, ArrayClass& array);
void bind_names(nb::module_& m, ArrayClass& array);
void bind_grouping(nb::module_& m);
void bind_random(nb::module_& m);
void bind_sorting(nb::module_& m, ArrayClass& array);
void bind_windows(nb::module_& m);
void bind_reductions(nb::module_& m, ArrayClass& array);

/// A function of the module that is a method of arrays too.
template <class F, class... Extra>
void define(nb::module_& m, ArrayClass& array, const char* name, F f, const Extra&... extra) {
  m.def(name, f, "x"_a, extra..., document(name));
  array.def(name, f, extra..., document(name));
}

/// Throws InvalidArgument: the op would change an array that has no name.
[[noreturn]] void refuse_lost(const std::string& op);
/// The same where the object that an operation changes has no name.
void refuse_nameless(PyObject* object, const char* op);

/// The places of what is not 0, an array for each axis. Evaluates.
nb::tuple nonzero_of(const Array& x);

/// Slots of the type of arrays that operators, indices and memory fill.
void add_operators(std::vector<PyType_Slot>& slots);
void add_subscripts(std::vector<PyType_Slot>& slots);
void add_buffers(std::vector<PyType_Slot>& slots);

}  // namespace tarry::python
