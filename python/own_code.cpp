// Code of the user's: functions from text, functions that the host calls, CUDA kernels.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tarry/kernel.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

namespace tarry::python {
namespace {

std::vector<Array> applied(const function& f, const nb::args& arguments) {
  const Where where = here();
  std::vector<Value> values;  // all of them before the first operand, which points into one
  for (const nb::handle a : arguments) values.emplace_back(a);
  std::vector<Operand> operands;
  for (Value& v : values) operands.push_back(v.operand(where));
  return f.apply(operands, where);
}

nb::object called(const function& f, const nb::args& arguments) {
  const std::vector<Array> results = applied(f, arguments);
  return results.size() == 1 ? nb::cast(results[0]) : nb::object(tuple_of(results));
}

/// (shape, dtype) pairs.
std::vector<OutputSpec> outputs_of(nb::handle pairs) {
  std::vector<OutputSpec> all;
  for (const nb::handle pair : pairs) {
    if (PySequence_Check(pair.ptr()) == 0 || nb::len(pair) != 2)
      throw nb::type_error("an output is a pair (shape, dtype)");
    std::vector<std::int64_t> shape;
    const nb::object extents = pair[0], type = pair[1];
    const std::optional<Dtype> dtype = dtype_from(type.ptr());
    if (!integers_from(extents.ptr(), shape) || !dtype) throw nb::type_error("an output is a pair (shape, dtype)");
    all.push_back({Shape(std::move(shape)), *dtype});
  }
  return all;
}

/// A Python object that any thread may let go of.
std::shared_ptr<nb::object> kept(nb::object o) {
  return {new nb::object(std::move(o)), [](nb::object* held) {
            const WithGil gil;
            delete held;
          }};
}

nb::object numpy_view(void* data, const Shape& shape, Dtype dtype) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  std::size_t bytes = itemsize(dtype);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  const nb::object memory =
      nb::steal(PyMemoryView_FromMemory(static_cast<char*>(data), static_cast<Py_ssize_t>(bytes), PyBUF_WRITE));
  return numpy.attr("frombuffer")(memory, info(dtype).name).attr("reshape")(shape_tuple(shape));
}

/// f(*inputs), whose results are copied into the outputs.
void call_host(const nb::object& f, std::span<const HostInput> in, std::span<const HostOutput> out) {
  const WithGil gil;
  nb::list arguments;
  for (const HostInput& x : in) {
    // A copy: f may keep it, and the memory holds no longer than the call.
    const nb::object copy = numpy_view(const_cast<void*>(x.data()), x.shape(), x.dtype()).attr("copy")();
    copy.attr("setflags")("write"_a = false);
    arguments.append(copy);
  }
  const nb::object result = f(*nb::tuple(arguments));
  const nb::tuple results = nb::isinstance<nb::tuple>(result) ? nb::borrow<nb::tuple>(result) : nb::make_tuple(result);
  if (results.size() != out.size())
    throw nb::value_error(("the function gives " + std::to_string(results.size()) + " results, and " +
                           std::to_string(out.size()) + " are declared")
                              .c_str());
  const nb::module_ numpy = nb::module_::import_("numpy");
  for (std::size_t i = 0; i < out.size(); ++i) {
    const nb::object view = numpy_view(out[i].data(), out[i].shape(), out[i].dtype());
    numpy.attr("copyto")(view, results[i], "casting"_a = "same_kind");
  }
}

std::vector<Scalar> numbers_of(nb::handle one_or_many) {
  std::vector<Scalar> all;
  const auto add = [&](nb::handle h) {
    const std::optional<Scalar> value = number(h.ptr());
    if (!value) throw nb::type_error("an identity is a number, or a list of one for each state");
    all.push_back(*value);
  };
  if (one_or_many.is_none()) return all;
  if (PySequence_Check(one_or_many.ptr()) == 0) {
    add(one_or_many);
  } else {
    for (const nb::handle h : one_or_many) add(h);
  }
  return all;
}

nb::object reduced(const reduction& r, const nb::args& states, const Axes& axis, bool keepdims) {
  const std::vector<Array> given = arrays_of(states);
  const std::vector<Array> results = r.all(given, axis, {keepdims}, here());
  return results.size() == 1 ? nb::cast(results[0]) : nb::object(tuple_of(results));
}

}  // namespace

void bind_own_code(nb::module_& m) {
  nb::class_<function>(m, "scalar_function",
                       "A function of scalars from text, a part of C, applied to arrays element by element.\n\n"
                       "scalar_function(name, parameters, body): see docs/guides/own_code.md for the language. A call "
                       "takes an array or a number for each parameter and gives an array, or a tuple of them where "
                       "the results have names. It is recorded as the operations that the text stands for.")
      .def(
          "__init__",
          [](function* self, const std::string& name, const std::string& parameters, const std::string& body) {
            new (self) function(name, parameters, body, here());
          },
          "name"_a, "parameters"_a, "body"_a)
      .def("__call__", &called)
      .def_prop_ro("name", &function::name, "Its name in messages.")
      .def_prop_ro("text", &function::text, "Parameters and body.")
      .def("__repr__", [](const function& f) { return "scalar_function('" + f.name() + "')"; });
  nb::class_<reduction>(
      m, "reduction",
      "A reduction with an operation of yours, in the order of sum.\n\n"
      "reduction(combine, identity=None, finish=None): combine is a scalar_function of two states, each of as many "
      "parameters as there are arrays. It has to be associative and commutative, but for rounding, since that order "
      "combines elements that are no neighbours. identity, a number or one for each state, is what nothing reduces to; "
      "finish is a scalar_function that makes the results of the states. A call takes an array for each "
      "state, axis (None: all) and keepdims, and gives an array, or a tuple of them where there are several results. "
      "An axis of no elements raises InvalidArgument where there is no identity.")
      .def(
          "__init__",
          [](reduction* self, const function& combine, nb::handle identity, const std::optional<function>& finish) {
            new (self) reduction(combine, numbers_of(identity), finish, here());
          },
          "combine"_a, "identity"_a = nb::none(), "finish"_a = nb::none())
      .def("__call__", &reduced, "states"_a, nb::kw_only(), "axis"_a = nb::none(), "keepdims"_a = false);
  m.def(
      "host_function",
      [](nb::object f, nb::handle inputs, nb::handle outputs, const std::string& name) {
        const std::vector<Array> given = arrays_of(inputs);
        const HostCallable call = [held = kept(std::move(f))](std::span<const HostInput> in,
                                                              std::span<const HostOutput> out) {
          call_host(*held, in, out);
        };
        return tuple_of(host_function(call, given, outputs_of(outputs), name, here()));
      },
      "f"_a, "inputs"_a, "outputs"_a, nb::kw_only(), "name"_a = "host_function",
      "Arrays that f(*inputs) computes on the host, from NumPy arrays, when one of them is evaluated.\n\n"
      "outputs is a list of (shape, dtype); f returns an array or a tuple of them, which are copied there. It "
      "is called once; what it raises comes out of the evaluate, and the arrays stay lazy.");
  m.def(
      "cuda_kernel",
      [](const std::string& source, const std::string& name, nb::handle inputs, nb::handle outputs,
         std::array<unsigned, 3> grid, std::array<unsigned, 3> block, std::size_t shared_bytes, nb::handle numbers,
         const std::vector<std::string>& include_paths, const std::vector<std::string>& options) {
        KernelLaunch launch{grid, block, shared_bytes, {}, include_paths, options};
        for (const nb::handle n : numbers) {
          const std::optional<Scalar> value = number(n.ptr());
          if (!value) throw nb::type_error("a number of a kernel is an int or a float");
          launch.numbers.push_back(*value);
        }
        return tuple_of(cuda_kernel(source, name, arrays_of(inputs), outputs_of(outputs), launch, here()));
      },
      "source"_a, "name"_a, "inputs"_a, "outputs"_a, nb::kw_only(), "grid"_a = std::array<unsigned, 3>{1, 1, 1},
      "block"_a = std::array<unsigned, 3>{256, 1, 1}, "shared_bytes"_a = 0, "numbers"_a = nb::make_tuple(),
      "include_paths"_a = std::vector<std::string>(), "options"_a = std::vector<std::string>(),
      document("cuda_kernel"));
}

}  // namespace tarry::python
