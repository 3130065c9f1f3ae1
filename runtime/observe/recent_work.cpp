// A ring of evaluates, and its text.
#include "runtime/observe/recent_work.h"

#include <fmt/format.h>

#include <variant>

namespace tarry::runtime {
namespace {

std::string kernels_of(const CompiledPlan& plan) {
  constexpr std::size_t kNamed = 4;
  std::string names;
  std::size_t count = 0;
  for (const Step& s : plan.steps) {
    const auto* kernel = std::get_if<KernelStep>(&s);
    if (kernel == nullptr || kernel->empty()) continue;
    if (count++ < kNamed) names += (names.empty() ? "" : ", ") + kernel->source->entry;
  }
  return count > kNamed ? fmt::format("{} and {} more", names, count - kNamed) : names;
}

}  // namespace

void RecentWork::add(Device device, Where where, std::shared_ptr<const CompiledPlan> plan) {
  const std::lock_guard lock(mutex_);
  entries_[next_++ % entries_.size()] = {device, where, std::move(plan)};
}

std::string RecentWork::describe(Device device) const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (std::size_t i = 1; i <= entries_.size(); ++i) {
    const Entry& e = entries_[(next_ + entries_.size() - i) % entries_.size()];
    if (e.plan == nullptr || e.device != device) continue;
    text += fmt::format("{}evaluate at {} ({})", text.empty() ? "" : ", ", e.where.str(), kernels_of(*e.plan));
  }
  return text.empty() ? text : fmt::format("; latest work on {}: {}", device.str(), text);
}

}  // namespace tarry::runtime
