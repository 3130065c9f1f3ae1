// Arrays in .npy files, and how far an evaluate is that works them off in chunks.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

namespace tarry::python {
namespace {

/// The callables of this thread's `with` blocks, the innermost last.
std::vector<nb::object>& callables() {
  static thread_local auto& made = *new std::vector<nb::object>();  // threads may outlive the interpreter
  return made;
}

/// A callable that is told, inside of a `with` block.
struct ProgressBlock {
  nb::object call;
};

/// The path of a string or of an object that stands for one, as pathlib has.
std::string path_of(nb::handle o) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(o.ptr(), &encoded) == 0) throw nb::python_error();
  const nb::object held = nb::steal(encoded);
  return {PyBytes_AsString(encoded), static_cast<std::size_t>(PyBytes_Size(encoded))};
}

template <class Open>
nb::object opened(nb::handle path, Open open) {
  const std::string name = path_of(path);
  Where where = here();
  try {
    return object([&] {
      const Unlocked unlocked;
      return open(name, where);
    }());
  } catch (const InvalidArgument& e) {
    if (std::error_code ignored; std::filesystem::exists(name, ignored)) throw;
    refuse_file(e.what());
  }
}

void bind_progress(nb::module_& m) {
  nb::class_<Progress>(m, "Progress", "How far an evaluate is that works its operands off in chunks.")
      .def_ro("chunks_done", &Progress::chunks_done)
      .def_ro("chunks", &Progress::chunks)
      .def_ro("bytes", &Progress::bytes);
  nb::class_<ProgressBlock>(m, "OnProgress",
                            "Inside of a `with` block, calls `call(progress)` after each chunk of what this thread "
                            "evaluates in chunks. An exception of the call ends the evaluate: its arrays stay lazy.")
      .def(
          "__init__", [](ProgressBlock* self, nb::object call) { new (self) ProgressBlock{std::move(call)}; }, "call"_a)
      .def("__enter__",
           [](nb::handle self) {
             callables().push_back(nb::inst_ptr<ProgressBlock>(self)->call);
             return nb::borrow(self);
           })
      .def("__exit__", [](const ProgressBlock& self, const nb::args&) {
        const auto own = std::find_if(callables().rbegin(), callables().rend(),
                                      [&](const nb::object& call) { return call.is(self.call); });
        if (own != callables().rend()) callables().erase(std::next(own).base());
      });
}

}  // namespace

BetweenChunks between_chunks;

void BetweenChunks::operator()(const Progress& progress) const {
  const WithGil locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!callables().empty()) callables().back()(progress);
}

void bind_files(nb::module_& m) {
  bind_progress(m);
  m.def(
      "save_npy",
      [](nb::handle path, Value x) {
        const std::string name = path_of(path);
        const Array& saved = x.array();
        Where where = here();
        const std::filesystem::path folder = std::filesystem::path(name).parent_path();
        if (std::error_code ignored; !folder.empty() && !std::filesystem::is_directory(folder, ignored))
          refuse_file(InvalidArgument("save_npy", where, "there is no folder " + folder.string()).what());
        const Unlocked unlocked;
        save_npy(name, saved, where);
      },
      "path"_a, "x"_a, nb::sig("def save_npy(path: str | os.PathLike[str], x: Array | bool | int | float) -> None"),
      document("save_npy"));
  const auto reader = [&](const char* name, auto open, const char* signature) {
    m.def(name, [open](nb::handle path) { return opened(path, open); }, "path"_a, nb::sig(signature), document(name));
  };
  reader("load_npy", &load_npy, "def load_npy(path: str | os.PathLike[str]) -> Array");
  reader("open_npy", &open_npy, "def open_npy(path: str | os.PathLike[str]) -> Array");
}

}  // namespace tarry::python
