// Functions that are traced once for each structure of their arguments, and then replayed.
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <any>
#include <bit>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tarry::python {
namespace {

using random::Generator;

/// One part of a structure, in the order in which its parts are met.
struct Part {
  enum class Kind : std::uint8_t { Array, Generator, Tuple, List, Dict, Integer, Float, Other } kind;
  std::uint64_t bits = 0;  ///< how many follow, or the number
  nb::object object = {};  ///< the type of a tuple, a float or a generator, or another object as it is

  [[nodiscard]] bool equals(const Part& p) const {
    if (kind != p.kind || bits != p.bits) return false;
    if (object.is(p.object)) return true;
    if (kind != Kind::Other || !object.type().is(p.object.type())) return false;
    return object.equal(p.object);
  }
};
using Structure = std::vector<Part>;

bool equal(const Structure& a, const Structure& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].equals(b[i])) return false;
  return true;
}

/// Arguments or results taken apart: nested tuples, lists and dicts of arrays, generators, and what is constant.
struct Flat {
  enum class Of : std::uint8_t { Arguments, Results };
  Of of;
  Structure structure = {};
  std::vector<Array> arrays = {};
  std::vector<Generator*> generators = {};

  void add(nb::handle o, int depth = 0) {
    PyObject* const p = o.ptr();
    if (depth > kDeepest) refuse_depth("function");
    if (is_array(p)) {
      structure.push_back({Part::Kind::Array});
      arrays.push_back(array_of(p));
    } else if (PyTuple_Check(p) || PyList_Check(p)) {
      const bool tuple = PyTuple_Check(p) != 0;
      const auto count = static_cast<std::uint64_t>(PySequence_Size(p));
      structure.push_back({tuple ? Part::Kind::Tuple : Part::Kind::List, count, nb::borrow(o.type())});
      for (std::uint64_t i = 0; i < count; ++i)
        add(tuple ? PyTuple_GetItem(p, static_cast<Py_ssize_t>(i)) : PyList_GetItem(p, static_cast<Py_ssize_t>(i)),
            depth + 1);
    } else if (PyDict_Check(p)) {
      structure.push_back({Part::Kind::Dict, static_cast<std::uint64_t>(PyDict_Size(p))});
      for (const auto [key, value] : nb::borrow<nb::dict>(o)) {
        structure.push_back({Part::Kind::Other, 0, nb::borrow(key)});
        add(value, depth + 1);
      }
    } else if (nb::isinstance<Generator>(o)) {
      if (of == Of::Results) raise(PyExc_TypeError, "a generator goes on by itself, and is not returned");
      structure.push_back({Part::Kind::Generator, 0, nb::borrow(o.type())});
      generators.push_back(nb::cast<Generator*>(o));
    } else {
      add_constant(o);
    }
  }

 private:
  void add_constant(nb::handle o) {
    PyObject* const p = o.ptr();
    if (PyFloat_Check(p)) {  // by bits: 0.0 and -0.0 are equal, and give other results
      structure.push_back({Part::Kind::Float, std::bit_cast<std::uint64_t>(PyFloat_AsDouble(p)), nb::borrow(o.type())});
    } else if (of == Of::Arguments && !PyLong_Check(p) && is_foreign_array(p)) {
      structure.push_back({Part::Kind::Array});
      arrays.push_back(to_array(o));
    } else if (of == Of::Results || PySlice_Check(p) || PyObject_Hash(p) != -1) {
      structure.push_back({Part::Kind::Other, 0, nb::borrow(o)});
    } else {
      PyErr_Clear();
      raise(PyExc_TypeError,
            "takes arrays, generators, numbers, tuples, lists and dicts of them, and objects that "
            "have a hash, not " +
                class_name(o));
    }
  }
};

/// The same put together again with other arrays and generators.
class Nest {
 public:
  Nest(const Structure& structure, std::span<const nb::object> arrays, std::span<const nb::object> generators)
      : structure_(structure), arrays_(arrays), generators_(generators) {}

  nb::object next() {
    const Part& p = structure_[at_++];
    switch (p.kind) {
      case Part::Kind::Array: return arrays_[array_++];
      case Part::Kind::Generator: return generators_[generator_++];
      case Part::Kind::Tuple:
      case Part::Kind::List: return sequence(p);
      case Part::Kind::Dict: {
        nb::dict made;
        for (std::uint64_t i = 0; i < p.bits; ++i) {
          const nb::object key = structure_[at_++].object;
          made[key] = next();
        }
        return made;
      }
      case Part::Kind::Float: {
        nb::object value = nb::float_(std::bit_cast<double>(p.bits));
        return p.object.is(value.type()) ? value : p.object(value);
      }
      default: return p.object;
    }
  }

 private:
  nb::object sequence(const Part& p) {
    nb::list parts;
    for (std::uint64_t i = 0; i < p.bits; ++i) parts.append(next());
    if (p.kind == Part::Kind::List) return parts;
    nb::tuple made(parts);
    if (made.type().is(p.object)) return made;
    return nb::hasattr(p.object, "_make") ? p.object.attr("_make")(made) : p.object(made);  // a named tuple
  }

  const Structure& structure_;
  std::span<const nb::object> arrays_, generators_;
  std::size_t at_ = 0, array_ = 0, generator_ = 0;
};

std::vector<nb::object> objects(std::span<const Array> arrays) {
  std::vector<nb::object> made;
  made.reserve(arrays.size());
  for (const Array& x : arrays) made.push_back(object(x));
  return made;
}

/// Freed with the GIL, whoever drops it last.
std::shared_ptr<const Structure> shared(Structure&& structure) {
  return {new Structure(std::move(structure)), [](const Structure* s) {
            const WithGil gil;
            delete s;
          }};
}

class Function {
 public:
  Function(nb::callable function, std::int64_t most)
      : function_(std::move(function)), most_(static_cast<std::size_t>(most)) {
    if (most < 1)
      throw InvalidValue("function", here(), "keeps one structure or more, not most = " + std::to_string(most));
  }

  nb::object operator()(const nb::args& positional, const nb::kwargs& named) {
    Flat given{Flat::Of::Arguments};
    if (named.size() == 0) {
      given.add(positional);
      given.add(named);
    } else {  // by position where the signature has them, so that both ways to call are one structure
      if (!order_.is_valid()) order_ = nb::module_::import_("tarry._functions").attr("_order")(function_);
      const nb::object both = nb::module_::import_("tarry._functions").attr("_bound")(order_, positional, named);
      given.add(both[0]);
      given.add(both[1]);
    }
    const std::shared_ptr<Known> known = find(given.structure);
    std::vector<const Array*> arrays;
    for (const Array& x : given.arrays) arrays.push_back(&x);
    const auto body = [&](std::span<Array> stand_ins, std::span<Generator> generators) {
      const WithGil gil;
      return traced(known->structure, stand_ins, generators);
    };
    const Where where = here();
    detail::Traced done = [&] {
      const Unlocked unlocked;
      return known->traces.call(arrays, given.generators, {}, body, where);
    }();
    const auto nesting = std::any_cast<std::shared_ptr<const Structure>>(done.beside);
    return Nest(*nesting, objects(done.results), {}).next();
  }

  [[nodiscard]] std::int64_t traces() const {
    std::int64_t count = forgotten_;
    for (const std::shared_ptr<Known>& k : known_) count += k->traces.count();
    return count;
  }

 private:
  struct Known {
    Structure structure;
    detail::Traces traces;
  };

  std::shared_ptr<Known> find(Structure& structure) {
    for (auto it = known_.begin(); it != known_.end(); ++it) {
      if (!equal((*it)->structure, structure)) continue;
      known_.splice(known_.begin(), known_, it);
      return known_.front();
    }
    known_.push_front(std::make_shared<Known>(Known{std::move(structure), detail::Traces(most_)}));
    if (known_.size() > most_) {
      forgotten_ += known_.back()->traces.count();
      known_.pop_back();
    }
    return known_.front();
  }

  detail::Traced traced(const Structure& structure, std::span<Array> arrays, std::span<Generator> generators) {
    const std::vector<nb::object> stand_ins = objects(arrays);
    std::vector<nb::object> drawing;
    for (const Part& p : structure)
      if (p.kind == Part::Kind::Generator) drawing.push_back(generator_object(p.object, generators[drawing.size()]));
    Nest nest(structure, stand_ins, drawing);
    const nb::object positional = nest.next(), named = nest.next();
    const nb::object result = nb::steal(PyObject_Call(function_.ptr(), positional.ptr(), named.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = array_of(stand_ins[i].ptr());
    for (std::size_t i = 0; i < generators.size(); ++i) generators[i] = nb::cast<Generator&>(drawing[i]);
    Flat results{Flat::Of::Results};
    results.add(result);
    return {std::move(results.arrays), shared(std::move(results.structure))};
  }

  nb::callable function_;
  nb::object order_;  ///< the names of its parameters, once a call names one
  std::size_t most_;
  std::list<std::shared_ptr<Known>> known_;  ///< most recently called first
  std::int64_t forgotten_ = 0;
};

}  // namespace

void bind_functions(nb::module_& m) {
  nb::class_<Function>(m, "Function", nb::dynamic_attr(), nb::is_weak_referenceable(),
                       "A function that is traced once for each structure of its arguments, and then replayed: what "
                       "tarry.function makes.")
      .def(nb::init<nb::callable, std::int64_t>(), "function"_a, "most"_a)
      .def("__call__", &Function::operator())
      .def(
          "__get__",
          [](nb::handle self, nb::handle object, nb::handle) -> nb::object {
            if (object.is_none()) return nb::borrow(self);
            return nb::module_::import_("types").attr("MethodType")(self, object);
          },
          "object"_a.none(), "type"_a = nb::none())
      .def_prop_ro("traces", &Function::traces, "How often the function was traced.");
}

}  // namespace tarry::python
