// Switches, read once per change.
#include "runtime/settings.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/compiled_plan.h"
#include "support/env.h"
#include "support/log.h"

namespace tarry::runtime {

std::uint32_t number_of(const std::string& text, std::uint32_t most) {
  static auto& mutex = *new std::mutex;
  static auto& texts = *new std::vector<std::string>;
  const std::lock_guard lock(mutex);
  const auto at = std::find(texts.begin(), texts.end(), text);
  const auto number = static_cast<std::uint32_t>(at - texts.begin());
  if (at == texts.end() && texts.size() < most) texts.push_back(text);
  return std::min(number, most);
}

bool interpreted(Backend& b) {
  if (b.target().is_cuda()) return false;
  if (support::env::has_word("TARRY_DISABLE", "compile")) return true;
  if (!b.compiler().empty()) return false;
  support::log::warn_once(
      "no C compiler was found: kernels run in the interpreter; install gcc or clang, or set TARRY_CC");
  return true;
}

Settings settings() {
  static std::atomic<std::uint64_t> known{0};  // generation + 1, number of the words, quick
  const std::uint64_t generation = support::env::generation() + 1;
  std::uint64_t word = known.load(std::memory_order_acquire);
  if (word >> 16U != generation) {
    const PlanSwitches switches = plan_switches();
    const std::uint32_t number = number_of(switches.words, kMostWords);
    const bool quick = number < kMostWords && !switches.disabled("plan_cache") && !support::env::get("TARRY_DUMP");
    word = generation << 16U | number << 1U | (quick ? 1U : 0U);
    known.store(word, std::memory_order_release);
  }
  return {static_cast<std::uint32_t>(word & 0xFFFFU) >> 1U, (word & 1U) != 0};
}

bool may_interpret(Backend& b) {
  static std::atomic<std::uint64_t> compiles{0};  // generation + 1 in which a C compiler was found and not disabled
  const std::uint64_t generation = support::env::generation() + 1;
  if (b.target().is_cuda() || compiles.load(std::memory_order_acquire) == generation) return false;
  if (interpreted(b)) return true;
  compiles.store(generation, std::memory_order_release);
  return false;
}

}  // namespace tarry::runtime
