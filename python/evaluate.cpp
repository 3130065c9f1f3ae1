// Running what was recorded, asking what would run, and settings for what a thread records.
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tarry::python {
namespace {

void add_roots(std::vector<const Array*>& roots, nb::handle values, int depth) {
  if (depth > kDeepest) refuse_depth("evaluate");
  for (const nb::handle v : nb::iter(values)) {
    if (is_array(v.ptr())) {
      roots.push_back(&array_of(v.ptr()));
    } else if (PyList_Check(v.ptr()) || PyTuple_Check(v.ptr())) {
      add_roots(roots, v, depth + 1);
    } else {
      raise(PyExc_TypeError, "takes arrays, not " + class_name(v));
    }
  }
}

/// Arrays, and sequences of them.
std::vector<const Array*> roots_of(const nb::args& values) {
  std::vector<const Array*> roots;
  add_roots(roots, values, 0);
  return roots;
}

Report evaluated(const nb::args& values) {
  const std::vector<const Array*> roots = roots_of(values);
  const Where where = here();
  const Unlocked unlocked;
  return detail::evaluate(roots, where);
}

Plan planned(const nb::args& values, std::string_view target) {
  const std::vector<const Array*> roots = roots_of(values);
  const Where where = here();
  const Unlocked unlocked;
  return detail::plan(roots, target, where);
}

struct Settings {
  std::optional<std::string> numerics;
  std::optional<Device> device;
  std::optional<Dtype> default_float;
  std::optional<std::int64_t> budget;
};

/// Settings that a thread is inside of.
class Entered {
 public:
  Entered(std::uint64_t own, const Settings& settings, Where where) : number(own), settings_(settings) { apply(where); }
  std::uint64_t number;

  void apply(Where where) {
    if (settings_.default_float) scopes_.push_back(std::make_unique<Scope>(*settings_.default_float, where));  // throws
    if (settings_.numerics) add(*settings_.numerics == "relaxed" ? relaxed : strict);
    if (settings_.device) add(*settings_.device);
    if (settings_.budget) add(Budget{.operations = *settings_.budget});
  }
  void end() {
    while (!scopes_.empty()) scopes_.pop_back();  // in reverse order
  }

 private:
  template <class Setting>
  void add(Setting setting) {
    scopes_.push_back(std::make_unique<Scope>(setting));
  }
  Settings settings_;
  std::vector<std::unique_ptr<Scope>> scopes_;
};

/// Those of this thread, the innermost last.
std::vector<Entered>& entered() {
  static thread_local auto& made = *new std::vector<Entered>();  // threads may outlive the interpreter
  return made;
}

/// Settings that hold inside of a `with` block. Blocks may end in another order than they began in, as those of
/// generators and of tasks do: each takes its own settings away.
class ScopeObject {
 public:
  explicit ScopeObject(Settings settings) : settings_(std::move(settings)) {}
  ScopeObject(const ScopeObject&) = delete;
  ScopeObject& operator=(const ScopeObject&) = delete;
  ~ScopeObject() { leave(); }

  void enter() {
    if (number_ != 0) raise(PyExc_RuntimeError, "this scope is in use; make another one");
    static std::uint64_t last = 0;  // the GIL guards it
    entered().emplace_back(last + 1, settings_, here());
    number_ = ++last;
  }
  void leave() {
    std::vector<Entered>& all = entered();
    const auto own = std::ranges::find(all, number_, &Entered::number);
    number_ = 0;
    if (own == all.end()) return;
    for (auto inner = all.end(); inner != own;) (--inner)->end();
    for (auto inner = all.erase(own); inner != all.end(); ++inner) inner->apply(Where{});
  }

 private:
  Settings settings_;
  std::uint64_t number_ = 0;  ///< while it is entered
};

void bind_scope(nb::module_& m) {
  nb::class_<ScopeObject>(m, "Scope",
                          "Settings for what this thread records inside of a `with` block: numerics ('strict' or "
                          "'relaxed'), the device of new arrays, the default float, and how many operations may wait.")
      .def(
          "__init__",
          [](ScopeObject* self, std::optional<std::string> numerics, std::optional<Device> device,
             std::optional<Dtype> default_float, std::optional<std::int64_t> budget) {
            if (numerics && *numerics != "strict" && *numerics != "relaxed") {
              refuse_value("Scope", "numerics is strict or relaxed, not " + *numerics);
            }
            new (self) ScopeObject({std::move(numerics), device, default_float, budget});
          },
          nb::kw_only(), "numerics"_a = nb::none(), "device"_a = nb::none(), "default_float"_a = nb::none(),
          "budget"_a = nb::none())
      .def("__enter__",
           [](nb::handle self) {
             nb::inst_ptr<ScopeObject>(self)->enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](ScopeObject& self, const nb::args&) { self.leave(); });
}

void bind_counters(nb::module_& m) {
#define TARRY_PYTHON_COUNTER(NAME) .def_ro(#NAME, &Counters::NAME)
  nb::class_<Counters>(m, "Counters", "Counters of one evaluate; bytes are of device memory unless said otherwise.")
      TARRY_PYTHON_COUNTER(kernels) TARRY_PYTHON_COUNTER(launches) TARRY_PYTHON_COUNTER(interpreted)
          TARRY_PYTHON_COUNTER(copies) TARRY_PYTHON_COUNTER(bytes_read) TARRY_PYTHON_COUNTER(bytes_written)
              TARRY_PYTHON_COUNTER(bytes_lower_bound) TARRY_PYTHON_COUNTER(operations_lower_bound)
                  TARRY_PYTHON_COUNTER(bytes_temporary) TARRY_PYTHON_COUNTER(bytes_uploaded)
                      TARRY_PYTHON_COUNTER(bytes_downloaded) TARRY_PYTHON_COUNTER(uploads)
                          TARRY_PYTHON_COUNTER(downloads) TARRY_PYTHON_COUNTER(bytes_overlapped)
                              TARRY_PYTHON_COUNTER(compiles) TARRY_PYTHON_COUNTER(memory_hits)
                                  TARRY_PYTHON_COUNTER(disk_hits) TARRY_PYTHON_COUNTER(plan_hit)
                                      TARRY_PYTHON_COUNTER(replays) TARRY_PYTHON_COUNTER(chunks)
                                          TARRY_PYTHON_COUNTER(allocations) TARRY_PYTHON_COUNTER(peak_bytes)
                                              TARRY_PYTHON_COUNTER(nodes);
#undef TARRY_PYTHON_COUNTER
  nb::class_<Seconds>(m, "Seconds", "Seconds by stage of one evaluate.")
      .def_ro("snapshot", &Seconds::snapshot)
      .def_ro("optimise", &Seconds::optimise)
      .def_ro("schedule", &Seconds::schedule)
      .def_ro("generate", &Seconds::generate)
      .def_ro("compile", &Seconds::compile)
      .def_ro("prepare", &Seconds::prepare)
      .def_ro("launch", &Seconds::launch);
  nb::class_<Unfused>(m, "Unfused", "An edge of the graph that went through memory, and why.")
      .def_ro("producer", &Unfused::producer)
      .def_ro("consumer", &Unfused::consumer)
      .def_ro("reason", &Unfused::reason);
  nb::class_<Transfer>(m, "Transfer", "A value that crossed to another device.")
      .def_ro("source", &Transfer::from)
      .def_ro("to", &Transfer::to)
      .def_ro("bytes", &Transfer::bytes)
      .def_ro("reason", &Transfer::reason);
  nb::class_<Placement>(m, "Placement", "Work that either side could do, and where it went.")
      .def_ro("work", &Placement::work)
      .def_ro("device", &Placement::device)
      .def_ro("host_ms", &Placement::host_ms)
      .def_ro("device_ms", &Placement::device_ms);
  nb::class_<Stored>(m, "Stored", "A value that was stored though it was not asked for, and why.")
      .def_ro("value", &Stored::value)
      .def_ro("bytes", &Stored::bytes)
      .def_ro("reason", &Stored::reason);
}

void bind_history(nb::module_& m) {
  static constexpr std::array kHits{"compiled", "disk", "memory", "interpreted", "called"};  // as KernelHit has them
  nb::class_<KernelRecord>(m, "KernelRecord",
                           "One kernel on one device, summed over all its launches; seconds are of this process. A "
                           "host_function or a cuda_kernel has a record too, with the reason 'user'.")
      .def_ro("name", &KernelRecord::name)
      .def_ro("reason", &KernelRecord::reason)
      .def_ro("key", &KernelRecord::key)
      .def_ro("target", &KernelRecord::target)
      .def_ro("device", &KernelRecord::device)
      .def_prop_ro("hit", [](const KernelRecord& r) { return kHits[static_cast<std::size_t>(r.hit)]; })
      .def_ro("codegen_seconds", &KernelRecord::codegen_seconds)
      .def_ro("compile_seconds", &KernelRecord::compile_seconds)
      .def_ro("load_seconds", &KernelRecord::load_seconds)
      .def_ro("launches", &KernelRecord::launches)
      .def_ro("interpreted_launches", &KernelRecord::interpreted_launches)
      .def_ro("interpreted", &KernelRecord::interpreted)
      .def_ro("measured_launches", &KernelRecord::measured_launches)
      .def_ro("run_seconds", &KernelRecord::run_seconds)
      .def_ro("bytes_read", &KernelRecord::bytes_read)
      .def_ro("bytes_written", &KernelRecord::bytes_written)
      .def_ro("lines", &KernelRecord::lines)
      .def("__repr__", [](const KernelRecord& r) {
        std::ostringstream text;
        text << r;
        return text.str();
      });
  m.def("kernel_history", [] { return kernel_history(here()); }, document("kernel_history"));
}

}  // namespace

void bind_evaluate(nb::module_& m, ArrayClass& array) {
  bind_scope(m);
  bind_counters(m);
  nb::class_<Plan>(m, "Plan", "The work that an evaluate will do: nothing has run.")
      .def_prop_ro("counters", [](const Plan& p) { return p.counters(); })
      .def_prop_ro("unfused", [](const Plan& p) { return p.unfused(); })
      .def_prop_ro("placements", [](const Plan& p) { return p.placements(); })
      .def_prop_ro("stored", [](const Plan& p) { return p.stored(); })
      .def_prop_ro("interpreted", [](const Plan& p) { return p.interpreted(); })
      .def(
          "sources", [](const Plan& p) { return p.sources(here()); }, "The generated text of each distinct kernel.")
      .def("__repr__", [](const Plan& p) { return p.str(here()); });
  nb::class_<Report>(m, "Report", "The work that an evaluate did.")
      .def_prop_ro("counters", [](const Report& r) { return r.counters(); })
      .def_prop_ro("seconds", [](const Report& r) { return r.seconds(); })
      .def_prop_ro("unfused", [](const Report& r) { return r.unfused(here()); })
      .def_prop_ro("transfers", [](const Report& r) { return r.transfers(); })
      .def_prop_ro("placements", [](const Report& r) { return r.placements(); })
      .def_prop_ro("stored", [](const Report& r) { return r.stored(); })
      .def_prop_ro("interpreted", [](const Report& r) { return r.interpreted(); })
      .def("__repr__", [](const Report& r) { return r.str(here()); });
  bind_history(m);
  m.def("evaluate", &evaluated, document("evaluate"));
  m.def(
      "plan", [](const nb::args& arrays, const char* target) { return planned(arrays, target); }, "arrays"_a,
      nb::kw_only(), "target"_a = "", document("plan"));
  array.def(
      "evaluate",
      [](nb::handle self) {
        (void)evaluated(nb::cast<nb::args>(nb::make_tuple(self)));
        return nb::borrow(self);
      },
      "Computes the array, and returns it.");
}

}  // namespace tarry::python
