// Linear algebra.
#include "python/module.h"
#include "python/values.h"

namespace tarry::python {

void bind_linalg(nb::module_& m, ArrayClass&) {
  nb::module_ linalg = m.def_submodule("linalg", "Linear algebra, by its names in the array API standard.");
  for (nb::module_* const each : {&m, &linalg}) {
    each->def(
        "matmul", [](Value x1, Value x2) { return matmul(x1.array(), x2.array(), line()); }, "x1"_a, "x2"_a,
        document("matmul"));
  }
  linalg.attr("matrix_transpose") = m.attr("matrix_transpose");
}

}  // namespace tarry::python
