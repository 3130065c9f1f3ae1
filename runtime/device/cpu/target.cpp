// cpu_target: the machine is asked here and nowhere else.
#include "runtime/device/cpu/target.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "support/env.h"

namespace tarry::runtime {

namespace {

#if defined(__x86_64__)
constexpr std::string_view kFamily = "x86-64-";
#else
constexpr std::string_view kFamily = "armv8-";
#endif

const graph::Target& host_target() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  const char* const name = v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : "x86-64-v2";
#else
  const char* const name = "armv8-a";
#endif
  const graph::Target* const target = graph::find_target(name);
  TARRY_ASSERT(target != nullptr);
  return *target;
}

}  // namespace

std::vector<const graph::Target*> cpu_levels() {
  std::vector<const graph::Target*> levels;
  for (const graph::Target& t : graph::targets())
    if (std::string_view(t.name).starts_with(kFamily) && t.level <= host_target().level) levels.push_back(&t);
  std::ranges::sort(levels, std::greater<>(), [](const graph::Target* t) { return t->level; });
  return levels;
}

const graph::Target& cpu_target() {
  const graph::Target& host = host_target();
  const auto named = support::env::get("TARRY_CPU");
  if (!named) return host;
  const graph::Target* const target = graph::find_target(*named);
  const std::vector<const graph::Target*> levels = cpu_levels();
  if (std::ranges::find(levels, target) == levels.end()) {
    const auto names = std::views::transform(levels, [](const graph::Target* t) { return t->name; });
    TARRY_THROW(InvalidArgument, "", Where{},
                fmt::format("TARRY_CPU is \"{}\"; this CPU can run kernels for {}", *named, fmt::join(names, ", ")));
  }
  return *target;
}

}  // namespace tarry::runtime
