// The list of kernels behind kernel_history().
#include "runtime/observe/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <ostream>
#include <string_view>
#include <unordered_map>

#include "runtime/observe/report.h"
#include "runtime/plan/compiled_plan.h"
#include "support/fork.h"
#include "support/out_of_memory.h"

namespace tarry::runtime {
namespace {

constexpr std::size_t kMostKernels = 4096, kMostLines = 64;

struct Entry {
  KernelRecord record;
  /// With the target, mode and device the kernel's identity; null for code of the user's, which its key and line name.
  std::shared_ptr<const codegen::KernelSource> source;
  graph::Mode mode;
  std::shared_ptr<KernelSums> sums;
};

class KernelHistory {
 public:
  std::shared_ptr<KernelSums> enter(const KernelStep& step, const graph::Target& target, const std::string& device,
                                    std::vector<std::string> lines, const std::string& interpreted) {
    const cache::KernelKey key = kernel_key(step, target);
    const support::Hash128 hash = key.hash();
    const auto same = [&](const Entry& e) {
      return e.source && e.record.device == device && e.record.target == target.name &&
             e.mode == step.lowered.ir.mode && e.source->text == step.source->text;
    };
    const std::lock_guard lock(mutex_);
    Entry* entry = find(hash.lo, same);
    if (entry == nullptr) {
      KernelRecord record;
      record.name = step.source->entry;
      record.key = hash.hex();
      record.target = target.name;
      record.device = device;
      record.hit = step.making.hit;
      record.codegen_seconds = step.making.codegen_seconds;
      record.compile_seconds = step.making.compile_seconds;
      record.load_seconds = step.making.load_seconds;
      entry = &add(hash.lo, {std::move(record), step.source, step.lowered.ir.mode, std::make_shared<KernelSums>()});
    }
    if (!step.executable) entry->record.interpreted = interpreted;
    for (std::string& line : lines)
      if (entry->record.lines.size() < kMostLines &&
          std::ranges::find(entry->record.lines, line) == entry->record.lines.end())
        entry->record.lines.push_back(std::move(line));
    return entry->sums;
  }

  std::shared_ptr<KernelSums> enter(const OwnCode& code) {
    const std::string device = code.device.str();
    std::string line = code.line();
    const std::uint64_t hash = std::hash<std::string>{}(code.key + line);
    const auto same = [&](const Entry& e) {
      return !e.source && e.record.name == code.name && e.record.key == code.key && e.record.device == device &&
             e.record.target == code.target && e.record.lines.front() == line;
    };
    const std::lock_guard lock(mutex_);
    Entry* entry = find(hash, same);
    if (entry == nullptr) {
      KernelRecord record;
      record.name = code.name;
      record.reason = kUser;
      record.key = code.key;
      record.target = code.target;
      record.device = device;
      record.hit = code.hit;
      record.compile_seconds = code.compile_seconds;
      record.lines.push_back(std::move(line));
      entry = &add(hash, {std::move(record), nullptr, graph::Mode::Strict, std::make_shared<KernelSums>()});
    }
    return entry->sums;
  }

  std::vector<KernelRecord> list() const {
    const std::lock_guard lock(mutex_);
    std::vector<KernelRecord> records;
    records.reserve(entries_.size());
    for (const Entry& e : entries_) {
      KernelRecord& r = records.emplace_back(e.record);
      r.launches = e.sums->launches.load(std::memory_order_relaxed);
      r.interpreted_launches = e.sums->interpreted.load(std::memory_order_relaxed);
      r.measured_launches = e.sums->measured.load(std::memory_order_relaxed);
      r.run_seconds = static_cast<double>(e.sums->nanoseconds.load(std::memory_order_relaxed)) * 1e-9;
      r.bytes_read = e.sums->read.load(std::memory_order_relaxed);
      r.bytes_written = e.sums->written.load(std::memory_order_relaxed);
    }
    return records;
  }

 private:
  using Place = std::list<Entry>::iterator;

  template <class Same>
  Entry* find(std::uint64_t hash, const Same& same) {
    const auto [begin, end] = places_.equal_range(hash);
    const auto found = std::find_if(begin, end, [&](const auto& place) { return same(*place.second); });
    return found == end ? nullptr : &*found->second;
  }

  Entry& add(std::uint64_t hash, Entry entry) {
    if (entries_.size() == kMostKernels) forget_oldest();
    entries_.push_back(std::move(entry));
    places_.emplace(hash, std::prev(entries_.end()));
    hashes_.push_back(hash);
    return entries_.back();
  }

  void forget_oldest() {
    const auto [begin, end] = places_.equal_range(hashes_.front());
    places_.erase(std::find_if(begin, end, [&](const auto& place) { return place.second == entries_.begin(); }));
    hashes_.pop_front();
    entries_.pop_front();
  }

  mutable support::Mutex mutex_;
  std::list<Entry> entries_;         // in order of first use
  std::list<std::uint64_t> hashes_;  // of entries_, in their order
  std::unordered_multimap<std::uint64_t, Place> places_;
};

/// Never destroyed: arrays in static storage may be evaluated at exit.
KernelHistory& history() {
  static auto* h = new KernelHistory;
  return *h;
}

}  // namespace

std::string_view name(KernelHit hit) {
  switch (hit) {
    case KernelHit::Compiled: return "compiled";
    case KernelHit::Disk: return "disk";
    case KernelHit::Memory: return "memory";
    case KernelHit::Interpreted: return "interpreted";
    case KernelHit::Called: return "called";
  }
  return "";
}

std::string OwnCode::line() const { return fmt::format("{} at {}", name, recorded.str()); }

std::shared_ptr<KernelSums> enter_history(const OwnCode& code) { return history().enter(code); }

void enter_history(CompiledPlan& plan, const graph::Snapshot& snapshot, Device device) {
  // Long chains repeat one kernel thousands of times: it is entered once, with the lines of all.
  struct Use {
    std::vector<KernelStep*> steps;
    std::vector<std::string> lines;
  };
  std::unordered_map<const codegen::KernelSource*, std::size_t> use_of;
  std::vector<Use> uses;
  for (Step& s : plan.steps) {
    auto* const step = std::get_if<KernelStep>(&s);
    if (step == nullptr || step->empty()) continue;
    const auto [at, fresh] = use_of.try_emplace(step->source.get(), uses.size());
    if (fresh) uses.emplace_back();
    Use& use = uses[at->second];
    use.steps.push_back(step);
    if (use.lines.size() < kMostLines) std::ranges::move(user_lines(*step, snapshot), std::back_inserter(use.lines));
  }
  for (Use& use : uses) {
    const auto sums =
        history().enter(*use.steps.front(), *plan.target, device.str(), std::move(use.lines), plan.interpreted);
    for (KernelStep* step : use.steps) step->sums = sums;
  }
}

}  // namespace tarry::runtime

namespace tarry {
inline namespace v0 {

std::vector<KernelRecord> kernel_history(Where where) try { return runtime::history().list(); }
TARRY_OR_OUT_OF_MEMORY("kernel_history", where)

std::ostream& operator<<(std::ostream& out, const KernelRecord& r) try {
  const std::string run = r.measured_launches == 0
                              ? std::string("not measured")
                              : fmt::format("{:.3f} in {} of them", r.run_seconds * 1e3, r.measured_launches);
  const std::string interpreted = r.interpreted_launches == 0
                                      ? std::string()
                                      : fmt::format(" ({} interpreted: {})", r.interpreted_launches, r.interpreted);
  const bool held = r.hit == KernelHit::Disk || r.hit == KernelHit::Memory;
  return out << fmt::format(
             "{}{} on {} ({}), {}{}; milliseconds: codegen {:.3f}, compile {:.3f}, load {:.3f}; {} launches{}, run {}; "
             "{} "
             "bytes "
             "read, {} written",
             r.name, r.reason.empty() ? "" : " (" + r.reason + ")", r.device, r.target, held ? "from " : "",
             runtime::name(r.hit), r.codegen_seconds * 1e3, r.compile_seconds * 1e3, r.load_seconds * 1e3, r.launches,
             interpreted, run, r.bytes_read, r.bytes_written);
}
TARRY_OR_OUT_OF_MEMORY("<<", Where{})

}  // namespace v0
}  // namespace tarry
