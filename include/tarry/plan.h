// Plan: the work that an evaluate will do. Report: the work that it did.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <source_location>
#include <string>
#include <vector>

#include <tarry/device.h>
#include <tarry/error.h>
#include <tarry/export.h>
#include <tarry/shared.h>

namespace tarry {
inline namespace v0 {

/// Counters of one evaluate. Bytes are of device memory unless said otherwise.
struct Counters {
  std::int64_t kernels = 0;        ///< distinct kernels in the plan
  std::int64_t launches = 0;       ///< kernel launches
  std::int64_t interpreted = 0;    ///< of those: run by the interpreter, which is slow; interpreted() says why
  std::int64_t copies = 0;         ///< of whole values, before an update that cannot write in place
  std::int64_t bytes_read = 0;     ///< by kernels and copies
  std::int64_t bytes_written = 0;  ///< by kernels and copies
  /// At least: elements of inputs that results depend on and what is written, each once.
  std::int64_t bytes_lower_bound = 0;
  std::int64_t operations_lower_bound = 0;  ///< at least: elements of operations that results depend on, each once
  std::int64_t bytes_temporary = 0;         ///< intermediates in memory
  std::int64_t bytes_uploaded = 0, bytes_downloaded = 0;
  std::int64_t uploads = 0, downloads = 0;
  std::int64_t bytes_overlapped = 0;  ///< of those uploaded: sent while the device was busy with earlier work
  std::int64_t compiles = 0, memory_hits = 0, disk_hits = 0;
  std::int64_t plan_hit = 0;     ///< 1 where the plan came from the plan cache
  std::int64_t replays = 0;      ///< 1 where all launches were one CUDA graph
  std::int64_t chunks = 0;       ///< pieces that what did not fit in memory was worked off in
  std::int64_t allocations = 0;  ///< calls that had to ask the driver or system for memory
  std::int64_t peak_bytes = 0;   ///< of new memory: results, intermediates, copies of what came from elsewhere
  std::int64_t nodes = 0;        ///< recorded nodes that took part
};

/// Seconds by stage of one evaluate.
struct Seconds {
  double snapshot = 0, optimise = 0, schedule = 0, generate = 0, compile = 0, prepare = 0, launch = 0;
};

/// An edge of the graph that went through memory, and why.
struct Unfused {
  std::string producer, consumer;  ///< op names with file:line
  std::string reason;              ///< a word: docs/reference/plan.md explains each
};

/// A value that crossed to another device.
struct Transfer {
  Device from, to;
  std::int64_t bytes = 0;
  std::string reason;  ///< "first use", "touched", "on another device before", "computed on the host", ...
};

/// Work on arrays of the host that either side could do, and where it went: what the release's table of costs says of
/// each (docs/design.md, "Placement").
struct Placement {
  std::string work;                   ///< operations with dtypes and shapes
  Device device;                      ///< where it is done
  double host_ms = 0, device_ms = 0;  ///< on the host, and on the GPU with what crosses for it
};

/// A value that was not asked for and is stored all the same, as somebody still holds it: an evaluate before computed
/// it too, or a result is it in another shape (docs/design.md, "Values in between").
struct Stored {
  std::string value;  ///< op name with file:line
  std::int64_t bytes = 0;
  std::string reason;  ///< machine-readable word: "second-use", "same-memory"
};

/// Prediction by plan(): nothing has run.
/// Example: `ta::plan(ta::exp(ta::zeros({3})) + 1).unfused().size()` is `0`.
class TARRY_EXPORT Plan {
 public:
  struct Impl;
  explicit Plan(detail::Shared impl) : impl_(std::move(impl)) {}
  [[nodiscard]] const Counters& counters() const;
  [[nodiscard]] const std::vector<Unfused>& unfused() const;
  [[nodiscard]] const std::vector<Placement>& placements() const;
  [[nodiscard]] const std::vector<Stored>& stored() const;  ///< beside what was asked for
  [[nodiscard]] const std::string& interpreted() const;     ///< why kernels will be interpreted; "" where none will
  [[nodiscard]] std::vector<std::string> sources(
      Where where = std::source_location::current()) const;  ///< generated text of each distinct kernel
  [[nodiscard]] std::string str(Where where = std::source_location::current()) const;
  friend TARRY_EXPORT std::ostream& operator<<(std::ostream& out, const Plan& plan);

 private:
  [[nodiscard]] const Impl* impl() const;
  detail::Shared impl_;
};

/// The work that evaluate() did. A handle: cheap to copy, text is rendered on demand.
/// Example: `ta::evaluate(ta::exp(ta::zeros({3})) + 1).counters().launches` is `1`.
class TARRY_EXPORT Report {
 public:
  struct Impl;
  Report() = default;
  explicit Report(detail::Shared impl) : impl_(std::move(impl)) {}
  [[nodiscard]] const Counters& counters() const;  ///< zeros where nothing was evaluated
  [[nodiscard]] const Seconds& seconds() const;
  [[nodiscard]] const std::vector<Unfused>& unfused(Where where = std::source_location::current()) const;
  [[nodiscard]] const std::vector<Transfer>& transfers() const;  ///< a value that stays where it went crosses once
  [[nodiscard]] const std::vector<Placement>& placements() const;
  [[nodiscard]] const std::vector<Stored>& stored() const;  ///< beside what was asked for
  [[nodiscard]] const std::string& interpreted() const;     ///< why kernels ran in the interpreter; "" where none did
  [[nodiscard]] std::string str(Where where = std::source_location::current()) const;
  friend TARRY_EXPORT std::ostream& operator<<(std::ostream& out, const Report& report);

 private:
  [[nodiscard]] const Impl* impl() const;
  detail::Shared impl_;
};

}  // namespace v0
}  // namespace tarry
