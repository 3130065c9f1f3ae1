// Switches, read once per change.
#include "runtime/plan/settings.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/plan/compiled_plan.h"
#include "support/env.h"
#include "support/fork.h"

namespace tarry::runtime {

std::uint32_t number_of(const std::string& text, std::uint32_t most) {
  static auto& mutex = *new support::Mutex;
  static auto& texts = *new std::vector<std::string>;
  const std::lock_guard lock(mutex);
  const auto at = std::find(texts.begin(), texts.end(), text);
  const auto number = static_cast<std::uint32_t>(at - texts.begin());
  if (at == texts.end() && texts.size() < most) texts.push_back(text);
  return std::min(number, most);
}

std::string why_interpreted(Backend& b) {
  if (b.target().is_cuda()) return {};
  if (support::env::has_word("TARRY_DISABLE", "compile")) return "TARRY_DISABLE=compile";
  return b.compiler().empty() ? "no C compiler works here" : "";
}

Settings settings() {
  static std::atomic<std::uint64_t> known{0};  // generation + 1, number of the words, quick, marks
  const std::uint64_t generation = support::env::generation() + 1;
  std::uint64_t word = known.load(std::memory_order_acquire);
  if (word >> 16U != generation) {
    const PlanSwitches switches = plan_switches();
    const std::uint32_t number = number_of(switches.words, kMostWords);
    const bool quick = number < kMostWords && !switches.disabled("plan_cache") && !support::env::get("TARRY_DUMP");
    const bool marks = !switches.disabled("marks");
    word = generation << 16U | number << 2U | (marks ? 2U : 0U) | (quick ? 1U : 0U);
    known.store(word, std::memory_order_release);
  }
  return {static_cast<std::uint32_t>(word & 0xFFFFU) >> 2U, (word & 1U) != 0, (word & 2U) != 0};
}

bool compiles(Backend& b) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPause{1};  // a compiler that is missing may be installed later
  static std::atomic<std::uint64_t> found{0},
      missed{0};  // the state in which a C compiler was found and not disabled, or not
  static std::atomic<Clock::rep> missed_at{0};
  const std::uint64_t state = support::env::generation() + compiler_changes() + 1;
  if (b.target().is_cuda() || found.load(std::memory_order_acquire) == state) return true;
  const Clock::rep now = Clock::now().time_since_epoch().count();
  if (missed.load(std::memory_order_acquire) == state &&
      now - missed_at.load(std::memory_order_relaxed) < Clock::duration(kPause).count())
    return false;
  const bool works = why_interpreted(b).empty();
  const std::uint64_t after = support::env::generation() + compiler_changes() + 1;
  missed_at.store(now, std::memory_order_relaxed);
  (works ? found : missed).store(after, std::memory_order_release);
  return works;
}

}  // namespace tarry::runtime
