// Kernels before they are needed, and why they had to be compiled.
#include <tarry/cache.h>
#include <tarry/warm.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <nanobind/stl/vector.h>

namespace tarry::python {
namespace {

/// Records while a `with` block runs.
struct RecordingBlock {
  std::string file;
  std::optional<Recording> recording;
};

/// `call`, which outlives the result, as what warm() calls from any of its threads: what it throws is only shown.
std::function<void(const WarmProgress&)> shown_by(nb::handle call) {
  if (call.is_none()) return {};
  return [call](const WarmProgress& progress) {
    const WithGil locked;
    try {
      call(progress);
    } catch (nb::python_error& e) {
      e.discard_as_unraisable(call);
    }
  };
}

WarmReport warmed(const std::vector<std::string>& manifests, const WarmOptions& options) {
  Where where = here();
  const WithoutGil unlocked;
  return warm(manifests, options, where);
}

void bind_warm(nb::module_& m) {
  nb::class_<RecordingBlock>(m, "Recording",
                             "Inside of a `with` block, what this process evaluates is added to a manifest: "
                             "operations, dtypes, shapes and layouts, never values. warm makes its kernels.")
      .def(
          "__init__", [](RecordingBlock* self, std::string file) { new (self) RecordingBlock{std::move(file), {}}; },
          "file"_a)
      .def("__enter__",
           [](nb::handle self) {
             auto* const block = nb::inst_ptr<RecordingBlock>(self);
             block->recording.emplace(block->file, here());
             return nb::borrow(self);
           })
      .def("__exit__", [](RecordingBlock& self, const nb::args&) { self.recording.reset(); });
  nb::class_<WarmProgress>(m, "WarmProgress", "How far warm is.")
      .def_ro("plans_left", &WarmProgress::plans_left)
      .def_ro("kernels", &WarmProgress::kernels)
      .def_ro("hits", &WarmProgress::hits)
      .def_ro("compiled", &WarmProgress::compiled)
      .def_ro("failed", &WarmProgress::failed);
  nb::class_<WarmFailure>(m, "WarmFailure", "A kernel that could not be made.")
      .def_ro("kernel", &WarmFailure::kernel)
      .def_ro("target", &WarmFailure::target)
      .def_ro("ops", &WarmFailure::ops)
      .def_ro("message", &WarmFailure::message);
  nb::class_<WarmReport>(m, "WarmReport", "The work of warm.")
      .def_ro("evaluates", &WarmReport::evaluates)
      .def_ro("kernels", &WarmReport::kernels)
      .def_ro("hits", &WarmReport::hits)
      .def_ro("compiled", &WarmReport::compiled)
      .def_ro("failed", &WarmReport::failed)
      .def_ro("bytes", &WarmReport::bytes)
      .def_ro("seconds", &WarmReport::seconds)
      .def_ro("failures", &WarmReport::failures);
  m.def(
      "warm",
      [](const std::vector<std::string>& manifests, std::vector<std::string> targets, std::string out, bool all_extents,
         int jobs, nb::handle progress) {
        WarmOptions options;
        options.targets = std::move(targets);
        options.out = std::move(out);
        options.all_extents = all_extents;
        options.jobs = jobs;
        options.progress = shown_by(progress);
        return warmed(manifests, options);
      },
      "manifests"_a, nb::kw_only(), "targets"_a = std::vector<std::string>(), "out"_a = "", "all_extents"_a = false,
      "jobs"_a = 0, "progress"_a = nb::none(), document("warm"));
}

}  // namespace

void bind_caches(nb::module_& m) {
  bind_warm(m);
#define TARRY_PYTHON_COUNTER(NAME) .def_ro(#NAME, &CacheCounters::NAME)
  nb::class_<CacheCounters>(m, "CacheCounters", "Counted since the process began, over all devices.")
      TARRY_PYTHON_COUNTER(memory_hits) TARRY_PYTHON_COUNTER(disk_hits) TARRY_PYTHON_COUNTER(compiles)
          TARRY_PYTHON_COUNTER(compile_batches) TARRY_PYTHON_COUNTER(load_failures) TARRY_PYTHON_COUNTER(write_failures)
              TARRY_PYTHON_COUNTER(evicted) TARRY_PYTHON_COUNTER(foreign_compiler);
#undef TARRY_PYTHON_COUNTER
  nb::class_<CacheMiss>(m, "CacheMiss", "A kernel that no directory and no bundle could give.")
      .def_ro("kernel", &CacheMiss::kernel)
      .def_ro("key", &CacheMiss::key)
      .def_ro("target", &CacheMiss::target)
      .def_ro("component", &CacheMiss::component)
      .def_ro("nearest", &CacheMiss::nearest)
      .def_ro("explanation", &CacheMiss::explanation);
  m.def("cache_counters", [] { return cache_counters(here()); }, document("cache_counters"));
  m.def(
      "cache_misses",
      [] {
        Where where = here();
        const WithoutGil unlocked;
        return cache_misses(where);
      },
      document("cache_misses"));
}

}  // namespace tarry::python
