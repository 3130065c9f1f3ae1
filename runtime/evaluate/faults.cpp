// Words to errors.
#include "runtime/evaluate/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "support/check.h"

namespace tarry::runtime {
namespace {

constexpr std::chrono::nanoseconds kUntilDone = std::chrono::nanoseconds::max();

/// All checks of one run.
class RunFaults {
 public:
  /// An Index as the user wrote it.
  struct Check {
    graph::IndexAttributes attributes;
    graph::Dims shape;  ///< of the indices
    std::int64_t extent;
    Where where;
  };

  RunFaults(std::shared_ptr<graph::Buffer> words, Backend& b, std::vector<Check> checks, Where evaluated)
      : words_(std::move(words)),
        backend_(b),
        checks_(std::move(checks)),
        evaluated_(evaluated),
        found_(checks_.size()) {}

  /// True if the device is done; then the words are here. Waits for it until the deadline.
  bool settle(std::chrono::nanoseconds deadline) {
    const std::lock_guard lock(mutex_);
    if (!words_) return true;
    if (words_->last_write != 0 && !backend_.wait(words_->last_write, deadline)) return false;
    backend_.download(found_.data(), *words_, 0, found_.size() * sizeof found_[0]);
    words_.reset();
    return true;
  }
  [[nodiscard]] bool writes(const graph::Buffer* words) {
    const std::lock_guard lock(mutex_);
    return words != nullptr && words_.get() == words;
  }
  /// After settle().
  [[nodiscard]] bool any(std::span<const std::uint32_t> checks) const {
    return std::ranges::any_of(checks, [&](std::uint32_t c) { return found_[c][0] != kNothing; });
  }
  void rethrow(std::span<const std::uint32_t> checks) const {
    for (const std::uint32_t c : checks)
      if (found_[c][0] != kNothing) fail(checks_[c], found_[c]);
  }

 private:
  using Words = std::array<std::uint64_t, codegen::kFaultWords>;
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  [[noreturn]] void fail(const Check& check, const Words& words) const {
    constexpr std::uint64_t kMask = (std::uint64_t{1} << codegen::kFaultBits) - 1;
    std::uint64_t index = 0;
    for (std::size_t k = words.size(); k-- > 0;) index = index << codegen::kFaultBits | (words[k] & kMask);
    using Called = graph::IndexAttributes::Called;
    if (check.attributes.called == Called::Mask) fail_count(check, static_cast<std::int64_t>(index) / 2);
    if (check.attributes.called == Called::Min || check.attributes.called == Called::Max) fail_nothing(check);
    const auto number = static_cast<std::int64_t>(words[0] >> codegen::kFaultBits);
    TARRY_THROW(OutOfRange, std::string(to_string(check.attributes.called)), check.where,
                fmt::format("index {}{} is out of range for axis {} of extent {} (indices int64 {}, evaluated at {})",
                            static_cast<std::int64_t>(index), place(check, number), check.attributes.axis, check.extent,
                            graph::to_string(check.shape.span()), evaluated_.str()));
  }

  [[noreturn]] void fail_count(const Check& check, std::int64_t more) const {
    TARRY_THROW(
        InvalidShape, std::string(to_string(check.attributes.called)), check.where,
        fmt::format("the mask has {} true elements {} than the value has rows (places int64 {}, evaluated at {})",
                    std::abs(more), more > 0 ? "more" : "fewer", graph::to_string(check.shape.span()),
                    evaluated_.str()));
  }

  [[noreturn]] void fail_nothing(const Check& check) const {
    const std::string op(to_string(check.attributes.called));
    TARRY_THROW(InvalidShape, op, check.where,
                fmt::format("the mask has no true element: nothing has no {} (place int64 {}, evaluated at {})", op,
                            graph::to_string(check.shape.span()), evaluated_.str()));
  }

  /// A single index has no place to name, nor has a part of the indices that the user wrote.
  static std::string place(const Check& check, std::int64_t number) {
    if (check.shape.empty() || check.attributes.part || number >= codegen::kMostNumber) return {};
    graph::Dims at = graph::Dims::filled(check.shape.size(), 0);
    for (int d = check.shape.size(); d-- > 0; number /= check.shape[d]) at[d] = number % check.shape[d];
    return fmt::format(" at {} of the indices", graph::to_string(at.span()));
  }

  std::mutex mutex_;
  std::shared_ptr<graph::Buffer> words_;  // until the device is done
  Backend& backend_;
  const std::vector<Check> checks_;
  const Where evaluated_;
  std::vector<Words> found_;
};

}  // namespace

/// The checks of several runs that one value depends on.
class ValueFaults final : public graph::Faults {
 public:
  struct Part {
    std::shared_ptr<RunFaults> run;
    std::vector<std::uint32_t> checks;
  };
  /// Runs that are not known to have found something or nothing; each keeps a word of memory of the device.
  static constexpr std::size_t kMostOpen = 32;

  explicit ValueFaults(std::vector<Part> parts) : parts_(std::move(parts)) {}
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  void rethrow() override {
    for (const Part& p : parts_) {
      p.run->settle(kUntilDone);
      p.run->rethrow(p.checks);
    }
  }

  /// Drops what is known to be in range; false where nothing else is left. `under_way`: words of a run that is not
  /// done.
  bool ask(const graph::Buffer* under_way) {
    const bool wait = parts_.size() > kMostOpen;
    std::erase_if(parts_, [&](const Part& p) {
      return !p.run->writes(under_way) && p.run->settle(wait ? kUntilDone : std::chrono::nanoseconds::zero()) &&
             !p.run->any(p.checks);
    });
    return !parts_.empty();
  }

 private:
  std::vector<Part> parts_;  ///< as they are once a result has them
};

namespace {

using Part = ValueFaults::Part;

std::shared_ptr<RunFaults> faults_of(const Run& run, Backend& b, Where where) {
  std::vector<RunFaults::Check> checks;
  const graph::Graph& recorded = *run.plan->recorded;
  for (const PlanCheck& c : run.plan->checks)
    checks.push_back({graph::IndexAttributes::of(recorded.nodes[c.index].payload), recorded.shape(c.index),
                      static_cast<std::int64_t>(run.values[c.extent]), run.key_walk.lines[c.index]});
  return std::make_shared<RunFaults>(run.faults, b, std::move(checks), where);
}

/// Adds what a value asks, each run once.
void add(std::vector<Part>& parts, const Part& more) {
  const auto known = std::ranges::find(parts, more.run, &Part::run);
  if (known == parts.end()) return parts.push_back(more);
  std::vector<std::uint32_t> both;
  std::ranges::set_union(known->checks, more.checks, std::back_inserter(both));
  known->checks = std::move(both);
}

}  // namespace

std::vector<std::shared_ptr<ValueFaults>> make_faults(const Run& run, Backend& b, Where where) {
  const auto& leaves = run.key_walk.leaves;
  const bool inherits = std::ranges::any_of(leaves, [](const auto& leaf) { return leaf->faults != nullptr; });
  if (!run.faults && !inherits) return {};
  const std::shared_ptr<RunFaults> own = run.faults ? faults_of(run, b, where) : nullptr;
  const graph::Graph& recorded = *run.plan->recorded;
  std::vector<std::vector<Part>> parts(run.plan->outputs.size());
  for (std::size_t o = 0; own && o < parts.size(); ++o)
    if (!run.plan->outputs[o].checks.empty()) parts[o].push_back({own, run.plan->outputs[o].checks});
  for (std::size_t r = 0; inherits && r < run.plan->roots.size(); ++r) {
    if (run.plan->roots[r].aliases_leaf) continue;
    const std::vector<bool> below = graph::reachable(recorded, run.key_walk.roots[r].node);
    for (graph::NodeId id = 0; id < recorded.nodes.size(); ++id) {
      if (!below[id] || recorded.nodes[id].op != graph::Op::Input) continue;
      const auto* const faults = dynamic_cast<const ValueFaults*>(leaves[recorded.nodes[id].payload]->faults.get());
      if (faults == nullptr) continue;
      for (const Part& p : faults->parts()) add(parts[run.plan->roots[r].index], p);
    }
  }
  std::vector<std::shared_ptr<ValueFaults>> made(parts.size());
  for (std::size_t o = 0; o < parts.size(); ++o)
    if (!parts[o].empty()) made[o] = std::make_shared<ValueFaults>(std::move(parts[o]));
  return made;
}

void note_faults(Run& run, std::span<const std::shared_ptr<ValueFaults>> faults) {
  const bool under_way = run.faults && run.faults->last_write != 0;
  for (std::size_t o = 0; o < faults.size(); ++o)
    if (faults[o] && faults[o]->ask(under_way ? run.faults.get() : nullptr)) run.storages[o]->faults = faults[o];
  if (faults.empty()) return;
  for (std::size_t r = 0; r < run.results.size(); ++r)
    if (!run.plan->roots[r].aliases_leaf)
      run.results[r]->results.front()->faults = run.storages[run.plan->roots[r].index]->faults;
}

}  // namespace tarry::runtime
