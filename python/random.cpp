// Random numbers: draws of a generator, lazy like all else.
#include "python/module.h"
#include "python/values.h"

#include <new>
#include <string>
#include <utility>

namespace tarry::python {
namespace {

using random::Generator;
using MaybeDtype = std::optional<Dtype>;

Scalar whole(nb::handle o) {
  const nb::object integer = nb::steal(PyNumber_Index(o.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  return integer_scalar(integer.ptr());
}

}  // namespace

nb::object generator_object(nb::handle type, const Generator& g) {
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<Generator>(made)) Generator(g);
  nb::inst_mark_ready(made);
  return made;
}

void bind_random(nb::module_& m) {
  nb::module_ r = m.def_submodule("random", "Random arrays: a generator's draws are computed where they are used.");
  nb::class_<Generator>(r, "Generator",
                        "A stream of draws. Element i of draw number s depends on (seed, s, i) alone, on any device.")
      .def(
          "__init__",
          [](Generator* self, std::uint64_t seed, std::uint64_t draws) { new (self) Generator(seed, draws); }, "seed"_a,
          "draws"_a = 0)
      .def_prop_ro("key", [](const Generator& g) { return g.key(here()); })
      .def_prop_ro("draws", [](const Generator& g) { return g.draws(here()); })
      .def(
          "fork",
          [](nb::handle self, std::optional<std::uint64_t> number) {
            Generator& g = *nb::inst_ptr<Generator>(self);
            return generator_object(self.type(), number ? std::as_const(g).fork(*number) : g.fork());
          },
          "number"_a = nb::none(), nb::sig("def fork(self, number: int | None = None) -> Generator"), document("fork"))
      .def(
          "bits", [](Generator& g, const Shape& shape, Dtype dtype) { return random::bits(g, shape, dtype, here()); },
          "shape"_a, nb::kw_only(), "dtype"_a = "uint32", document("bits"))
      .def(
          "uniform",
          [](Generator& g, const Shape& shape, double low, double high, MaybeDtype dtype) {
            return random::uniform(g, shape, {low, high, dtype}, here());
          },
          "shape"_a, "low"_a = 0.0, "high"_a = 1.0, nb::kw_only(), "dtype"_a = nb::none(), document("uniform"))
      .def(
          "normal",
          [](Generator& g, const Shape& shape, double mean, double deviation, MaybeDtype dtype) {
            return random::normal(g, shape, {mean, deviation, dtype}, here());
          },
          "shape"_a, "mean"_a = 0.0, "deviation"_a = 1.0, nb::kw_only(), "dtype"_a = nb::none(), document("normal"))
      .def(
          "exponential",
          [](Generator& g, const Shape& shape, double scale, MaybeDtype dtype) {
            return random::exponential(g, shape, {scale, dtype}, here());
          },
          "shape"_a, "scale"_a = 1.0, nb::kw_only(), "dtype"_a = nb::none(), document("exponential"))
      .def(
          "integers",
          [](Generator& g, const Shape& shape, nb::handle low, nb::handle high, Dtype dtype) {
            return random::integers(g, shape, whole(low), whole(high), dtype, here());
          },
          "shape"_a, "low"_a, "high"_a, nb::kw_only(), "dtype"_a = "int64", document("integers"))
      .def(
          "bernoulli",
          [](Generator& g, const Shape& shape, Value p) {
            return random::bernoulli(g, shape, p.operand(here()), here());
          },
          "shape"_a, "p"_a, document("bernoulli"))
      .def(
          "gamma",
          [](Generator& g, const Shape& shape, Value a, MaybeDtype dtype) {
            return random::gamma(g, shape, a.operand(here()), {dtype}, here());
          },
          "shape"_a, "a"_a, nb::kw_only(), "dtype"_a = nb::none(), document("gamma"))
      .def(
          "beta",
          [](Generator& g, const Shape& shape, Value a, Value b, MaybeDtype dtype) {
            return random::beta(g, shape, a.operand(here()), b.operand(here()), {dtype}, here());
          },
          "shape"_a, "a"_a, "b"_a, nb::kw_only(), "dtype"_a = nb::none(), document("beta"))
      .def(
          "poisson",
          [](Generator& g, const Shape& shape, Value mean) {
            return random::poisson(g, shape, mean.operand(here()), here());
          },
          "shape"_a, "mean"_a, document("poisson"))
      .def(
          "binomial",
          [](Generator& g, const Shape& shape, Value n, Value p) {
            return random::binomial(g, shape, n.operand(here()), p.operand(here()), here());
          },
          "shape"_a, "n"_a, "p"_a, document("binomial"))
      .def("__repr__",
           [](const Generator& g) {
             return "tarry.random.Generator(" + std::to_string(g.key()) + ", draws=" + std::to_string(g.draws()) + ")";
           })
      .def(
          "__copy__", [](nb::handle self) { return generator_object(self.type(), *nb::inst_ptr<Generator>(self)); },
          nb::sig("def __copy__(self) -> Generator"))
      .def("__reduce__",
           [r](const Generator& g) { return nb::make_tuple(r.attr("Generator"), nb::make_tuple(g.key(), g.draws())); })
      .def("__eq__", [](const Generator& a, const Generator& b) { return a == b; });
}

}  // namespace tarry::python
