// Elementwise functions: one for each row of the op table that recording is all of; those with options by hand.
#include "python/module.h"
#include "python/values.h"

#include <tarry/type_info.h>

namespace tarry::python {
namespace {

using Binary = Array (*)(const Operand&, const Operand&);
using Unary = Array (*)(const Array&, Where);

Array call(Unary f, Value& x) { return f(x.array(), here()); }
Array call(Binary f, Value& a, Value& b, const char* name) {
  const Where where = here();
  convert_both(a, b, name, large_of(name));
  return f(a.operand(where), b.operand(where));
}

std::optional<Operand> bound(Value& v, Dtype dtype, Where where) {
  if (v.is_none()) return {};
  v.convert();
  if (!v.large()) return v.operand(where);
  if (is_floating(dtype)) return Operand(*v.large(), where);
  const IntegerInfo limits = iinfo(dtype, where);
  return *v.large() > 0 ? Operand(limits.max, where) : Operand(limits.min, where);
}

Array clipped(Value& x, Value& min, Value& max) {
  const Where where = here();
  const Dtype dtype = x.array().dtype();
  return clip(x.array(), bound(min, dtype, where), bound(max, dtype, where), here());
}

Array converted(const Array& x, Dtype dtype, bool copy, const std::optional<Device>& device) {
  Array y = astype(x, dtype, here());
  static_cast<void>(copy);  // values never change: nobody can tell a copy from x
  return device ? to_device(y, *device, here()) : y;
}

}  // namespace

void bind_elementwise(nb::module_& m, ArrayClass& array) {
#define TARRY_PYTHON_UNARY(NAME) m.def(#NAME, [](Value x) { return call(&NAME, x); }, "x"_a, document(#NAME));
#define TARRY_PYTHON_BINARY(NAME) \
  m.def(#NAME, [](Value x1, Value x2) { return call(&NAME, x1, x2, #NAME); }, "x1"_a, "x2"_a, document(#NAME));
#include "python/op_table.inc"
  TARRY_PYTHON_UNARY(positive)
  TARRY_PYTHON_UNARY(isfinite)
  TARRY_PYTHON_UNARY(isinf)
  TARRY_PYTHON_UNARY(isnan)
#undef TARRY_PYTHON_UNARY
#undef TARRY_PYTHON_BINARY
  m.def(
      "fma",
      [](Value a, Value b, Value c) {
        const Where where = here();
        return fma(a.operand(where), b.operand(where), c.operand(where));
      },
      "a"_a, "b"_a, "c"_a, document("fma"));
  m.def(
      "where",
      [](Value condition, Value x1, Value x2) {
        const Where location = here();
        convert_both(x1, x2, "where");
        return where(condition.operand(location), x1.operand(location), x2.operand(location));
      },
      "condition"_a, "x1"_a, "x2"_a, document("where"));
  m.def(
      "where", [](Value condition) { return nonzero_of(condition.array()); }, "condition"_a,
      "The places of what is not 0, as nonzero gives them. Evaluates.");
  m.def(
      "clip",
      [](Value x, Value min, Value max, Value a_min, Value a_max) {
        return clipped(x, min.is_none() ? a_min : min, max.is_none() ? a_max : max);
      },
      "x"_a, "min"_a = nb::none(), "max"_a = nb::none(), nb::kw_only(), "a_min"_a = nb::none(), "a_max"_a = nb::none(),
      document("clip"));
  array.def(
      "clip", [](Value x, Value min, Value max) { return clipped(x, min, max); }, "min"_a = nb::none(),
      "max"_a = nb::none(), document("clip"));
  m.def(
      "astype",
      [](const Array& x, Dtype dtype, bool copy, std::optional<Device> device) {
        return converted(x, dtype, copy, device);
      },
      "x"_a, "dtype"_a, nb::kw_only(), "copy"_a = true, "device"_a = nb::none(), document("astype"));

  // Every dtype there is has no imaginary part.
  m.def("real", [](Value x) { return x.array(); }, "x"_a, "The real part: x itself, since no dtype is complex.");
  array.def("conj", [](const Array& x) { return x; }, "The conjugate: x itself, since no dtype is complex.");
  array.def_prop_ro("real", [](const Array& x) { return x; }, "The real part: x itself, since no dtype is complex.");
  m.def("conj", [](Value x) { return x.array(); }, "x"_a, "The conjugate: x itself, since no dtype is complex.");
  m.def(
      "imag", [](Value x) { return zeros_like(x.array(), {}, here()); }, "x"_a,
      "The imaginary part: zeros, since no dtype is complex.");

  m.def(
      "isclose",
      [](Value a, Value b, double rtol, double atol, bool equal_nan) {
        const Where where = here();
        convert_both(a, b, "isclose", Large::Compared);
        return isclose(a.operand(where), b.operand(where), {rtol, atol, equal_nan});
      },
      "a"_a, "b"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false, document("isclose"));
  m.def(
      "allclose",
      [](Value a, Value b, double rtol, double atol, bool equal_nan) {
        const Where where = here();
        convert_both(a, b, "allclose", Large::Compared);
        return allclose(a.operand(where), b.operand(where), {rtol, atol, equal_nan});
      },
      "a"_a, "b"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false, document("allclose"));
  m.def(
      "array_equal",
      [](Value a, Value b, bool equal_nan) {
        const Where where = here();
        convert_both(a, b, "array_equal", Large::Compared);
        return array_equal(a.operand(where), b.operand(where), {equal_nan});
      },
      "a1"_a, "a2"_a, "equal_nan"_a = false, document("array_equal"));
}

}  // namespace tarry::python
