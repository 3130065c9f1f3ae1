// cpu_target: the machine is asked here and nowhere else.
#include "runtime/cpu_target.h"

#include <string>

#include <fmt/format.h>

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
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const char* const name = v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : "x86-64-v2";
#else
  const char* const name = "armv8-a";
#endif
  const graph::Target* const target = graph::find_target(name);
  TARRY_ASSERT(target != nullptr);
  return *target;
}

/// "x86-64-v2, x86-64-v3": what kernels for this CPU may be made for.
std::string levels_up_to(const graph::Target& host) {
  std::string names;
  for (const graph::Target& t : graph::targets()) {
    if (!std::string_view(t.name).starts_with(kFamily) || t.level > host.level) continue;
    if (!names.empty()) names += ", ";
    names += t.name;
  }
  return names;
}

}  // namespace

const graph::Target& cpu_target() {
  const graph::Target& host = host_target();
  const auto named = support::env::get("TARRY_CPU");
  if (!named) return host;
  const graph::Target* const target = graph::find_target(*named);
  if (target == nullptr || !named->starts_with(kFamily) || target->level > host.level) {
    TARRY_THROW(InvalidArgument, "", Where{},
                fmt::format("TARRY_CPU is \"{}\"; this CPU can run kernels for {}", *named, levels_up_to(host)));
  }
  return *target;
}

}  // namespace tarry::runtime
