// Portions of pending work, oldest first, each evaluated like any other.
#include "runtime/evaluate/auto_evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <span>
#include <vector>

#include "graph/pending.h"
#include "graph/record/trace.h"
#include "runtime/evaluate/engine.h"
#include "support/log.h"

namespace tarry::runtime {
namespace {

using graph::Edge;
namespace pending = graph::pending;

thread_local constinit bool inside = false;
thread_local constinit EvaluatedByItself done;

/// While the engine evaluates by itself, what it records or evaluates does not start over.
struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// Portion by portion. True where there was one.
bool evaluate_rounds(const pending::Pace& pace, std::span<const Edge> but, Where where) {
  bool some = false;
  for (;;) {
    std::vector<Edge> roots = pending::take_oldest(pace);
    std::erase_if(roots, [&](const Edge& r) {
      return std::any_of(but.begin(), but.end(), [&](const Edge& e) { return e.node() == r.node(); });
    });
    if (roots.empty()) return some;
    evaluate_by_device(roots, where);
    some = true;
    if (pace.rounds == 0) return true;
  }
}

void say_once(const pending::Amount& waiting, const pending::Pace& pace, Where where) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const std::string loop = pace.rounds == 0 ? "" : fmt::format(" of a loop at {}", pace.where.str());
  support::log::warn_once(
      fmt::format("{} operations{} that keep {:.1f} MiB waited for evaluate() at {}: they are evaluated now, and from "
                  "now on whenever there "
                  "are as many; call evaluate() once per round to say when, or allow more with "
                  "tarry::Scope{{tarry::Budget{{...}}}}",
                  waiting.nodes, loop, static_cast<double>(waiting.bytes) / (1024.0 * 1024.0), where.str()));
}

void say_failed(std::string_view what) noexcept {
  try {
    support::log::warn_once(
        fmt::format("operations that waited for evaluate() could not be evaluated yet and go on waiting: {}", what));
  } catch (const std::bad_alloc&) {  // no memory to say it
  }
}

}  // namespace

void evaluate_by_device(std::vector<Edge>& roots, Where where) {
  const auto key = [](const Edge& e) { return std::pair(e.node()->device.kind, e.node()->device.index); };
  std::stable_sort(roots.begin(), roots.end(), [&](const Edge& a, const Edge& b) { return key(a) < key(b); });
  for (auto first = roots.begin(); first != roots.end();) {
    const auto last = std::find_if(first, roots.end(), [&](const Edge& e) { return key(e) != key(*first); });
    const Report report = evaluate(std::span<const Edge>(first, last), where);
    if (inside) {
      ++done.evaluates;
      done.plan_hits += report.counters().plan_hit;
      done.launches += report.counters().launches;
    }
    first = last;
  }
  roots.clear();
}

const EvaluatedByItself& evaluated_by_itself() { return done; }

bool evaluate_pending(std::span<const Edge> but, Where where) noexcept {
  if (inside) return false;
  const Inside now;
  bool some = false;
  try {
    if (pending::count().bytes == 0) return false;
    const pending::Pace pace = pending::find_pace();
    some = evaluate_rounds(pace, but, where);
    if (pace.rounds != 0) some = evaluate_rounds({}, but, where) || some;
  } catch (...) {  // the caller has an error of its own to report
  }
  return some;
}

}  // namespace tarry::runtime

namespace tarry::graph::pending {

void evaluate_overdue(Where where) noexcept {
  if (runtime::inside || Tracing::here() != nullptr) return;  // a trace has no values yet
  const runtime::Inside now;
  try {
    const Amount waiting = count();
    if (!exceeds(waiting)) return;
    const Pace pace = find_pace();
    runtime::say_once(waiting, pace, where);
    try {
      runtime::evaluate_rounds(pace, {}, where);
    } catch (const std::exception& e) {
      runtime::say_failed(e.what());
    }
    (void)count();
  } catch (...) {  // no memory for the lists
    budget_changed();
    runtime::say_failed("the host is out of memory");
  }
}

}  // namespace tarry::graph::pending
