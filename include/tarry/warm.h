// Kernels before they are needed: record what a program evaluates, compile it on another machine, ship the result.
#pragma once

#include <tarry/error.h>
#include <tarry/export.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace tarry {
inline namespace v0 {

/// While it lives, what this process evaluates is added to a manifest, as TARRY_RECORD does for a whole program. The
/// manifest holds operations, dtypes, shapes and memory layouts, never values. Any number of processes may append to
/// one file; what it holds already is not added again (docs/reference/warm.md).
///
///     ta::Recording recording("model.manifest");
///     ta::evaluate(ta::exp(ta::zeros({1000})));
///
/// Example: `ta::Recording recording("model.manifest")`.
class TARRY_EXPORT Recording {
 public:
  /// Throws InvalidArgument where the file cannot be written or holds something else.
  [[nodiscard]] explicit Recording(const std::string& file, Where where = std::source_location::current());
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  void stop() noexcept;  ///< ends it before the destructor does

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How far warm() is: first plans are made, then hits are found, then the rest is compiled.
struct WarmProgress {
  std::int64_t plans_left = 0;  ///< evaluates times targets that have no plan yet; until then no kernel is known
  std::int64_t kernels = 0, hits = 0, compiled = 0, failed = 0;  ///< as in WarmReport, so far; kernels is final
};

/// Options of warm().
struct WarmOptions {
  /// "sm_90", "x86-64-v3": what to compile for. Empty: the devices of this machine. No device has to be present.
  std::vector<std::string> targets = {};
  /// Directory, or a file that ends in .bundle, for TARRY_CACHE_PATH of other machines. Empty: this machine's
  /// TARRY_CACHE_DIR. What it holds already is kept and not compiled again.
  std::string out = {};
  /// False: the extents that were recorded. True: also the other classes of extents that get kernels of their own,
  /// along every dimension that the program leaves open.
  bool all_extents = false;
  int jobs = 0;  ///< threads; 0: one per core
  std::function<void(const WarmProgress&)> progress =
      {};  ///< called after every plan and kernel, by one thread at a time
};

/// A kernel that could not be made, or an evaluate that has no plan for a target.
struct WarmFailure {
  std::string kernel;  ///< entry symbol; "" where there is none yet
  std::string target;
  std::string ops;  ///< "exp float32 (100,) at main.cpp:12; ..."
  std::string message;
};

/// The work of warm(). kernels == hits + compiled + failed, but for evaluates that failed before they had kernels.
struct WarmReport {
  std::int64_t evaluates = 0;  ///< recorded
  std::int64_t kernels = 0;    ///< distinct ones, over all targets
  std::int64_t hits = 0;       ///< that `out` held
  std::int64_t compiled = 0;
  std::int64_t failed = 0;
  std::int64_t bytes = 0;  ///< of all kernels, as stored
  double seconds = 0;
  std::vector<WarmFailure> failures;
};

/// Makes every kernel that the recorded programs need. Needs the compilers (NVRTC for sm_..., a C compiler for the CPU)
/// and no GPU. Kernels that fail are listed in the report. Throws InvalidArgument for a manifest that cannot be read, a
/// target that is not known or an `out` that cannot be used.
/// Example: `std::string file[] = {"model.manifest"}; ta::warm(file, {.targets = {"sm_90"}, .out = "model.bundle"})`.
TARRY_EXPORT WarmReport warm(std::span<const std::string> manifests, const WarmOptions& options = {},
                             Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
