// Fault injection: one flag that is read always, and counters that are touched only while armed.
#include "support/fault.h"

#include <atomic>

namespace tarry::support::fault {

namespace {

constexpr int kAnySite = -1;

std::atomic<bool> armed{false};
std::atomic<int> armed_site{kAnySite};
std::atomic<std::uint64_t> failing_call{0};
std::atomic<std::uint64_t> calls{0};

void start(int site, std::uint64_t k) noexcept {
  armed = false;  // a call that runs meanwhile is not counted against half of the old and half of the new setting
  armed_site = site;
  failing_call = k;
  calls = 0;
  armed = true;
}

}  // namespace

bool fails(Site site) noexcept {
  if (!armed.load(std::memory_order_acquire)) return false;
  const int wanted = armed_site;
  if (wanted != kAnySite && wanted != static_cast<int>(site)) return false;
  return calls.fetch_add(1) + 1 == failing_call;
}

void arm(std::uint64_t k) noexcept { start(kAnySite, k); }
void arm(Site site, std::uint64_t k) noexcept { start(static_cast<int>(site), k); }

std::uint64_t disarm() noexcept {
  armed = false;
  return calls;
}

}  // namespace tarry::support::fault
