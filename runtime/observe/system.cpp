// The public face of devices: which there are, which one is the default, and what `tarry info` prints.
#include <atomic>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <tarry/cache.h>
#include <tarry/device.h>

#include "cache/disk_store.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/cpu/blas.h"
#include "runtime/device/cpu/target.h"
#include "runtime/device/kernel_caches.h"
#include "runtime/device/parallel.h"
#include "support/check.h"
#include "support/env.h"
#include "support/log.h"
#include "support/out_of_memory.h"

namespace tarry::runtime {
namespace {

/// The device that a TARRY_DEVICE of this text names. Whether it works is found out when it is used.
Device parse_device(std::string_view text) {
  if (text == "cpu") return cpu;
  if (text == "cuda") return tarry::cuda();
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    std::uint8_t index = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, index);
    if (error == std::errc{} && stop == end) return tarry::cuda(index);
  }
  TARRY_THROW(InvalidArgument, "", Where{}, fmt::format("TARRY_DEVICE is \"{}\"; it may be cpu, cuda or cuda:N", text));
}

Device choose_default_device() {
  if (const auto named = support::env::get("TARRY_DEVICE")) return parse_device(*named);
  if (cuda_device_count() == 0) return cpu;
  // Shipped kernels need no compiler; anything else on the GPU would fail at its first evaluate.
  const bool shipped = support::env::get("TARRY_CACHE_PATH") || support::env::flag("TARRY_REQUIRE_CACHED");
  if (!shipped && nvrtc_compiler().empty()) {
    support::log::warn_once("a GPU is here but NVRTC is not, so the CPU is used: " + nvrtc_unavailable_reason());
    return cpu;
  }
  return tarry::cuda();
}

std::string describe_cpu_target() {
  try {
    return cpu_target().name;
  } catch (const InvalidArgument& error) {
    return fmt::format("nothing: {}", error.what());
  }
}

std::string describe_compiler() {
  const CCompiler found = c_compiler();
  if (!found.program.empty()) return fmt::format("{}, run as {}", found.version, found.program);
  return "none: neither TARRY_CC nor cc, gcc or clang works, so an interpreter runs CPU kernels; install gcc or set "
         "TARRY_CC";
}

std::string describe_default_device() {
  try {
    const Device device = unplaced_device();
    return device.str() + (support::env::get("TARRY_DEVICE") ? " (TARRY_DEVICE)" : "");
  } catch (const InvalidArgument& error) {
    return fmt::format("none: {}", error.what());
  }
}

std::string describe_cache_directory(const std::vector<std::unique_ptr<cache::Layer>>& layers) {
  for (const auto& layer : layers) {
    if (layer->access() == cache::Access::ReadWrite) return layer->describe();
  }
  if (support::env::get("TARRY_CACHE_DIR") == "off") return "none: TARRY_CACHE_DIR is off";
  return "none: it cannot be used; set TARRY_CACHE_DIR to a directory of your own";
}

}  // namespace

Device unplaced_device() {
  // Asked at every evaluate, answered once per change of the switches: generation + 1, kind and index in one word.
  static std::atomic<std::uint64_t> known{0};
  const std::uint64_t generation = support::env::generation() + 1;
  const std::uint64_t word = known.load(std::memory_order_acquire);
  if (word >> 16U == generation) return {static_cast<DeviceKind>(word >> 8U & 0xFFU), static_cast<std::uint8_t>(word)};
  const Device device = choose_default_device();
  known.store(generation << 16U | static_cast<std::uint64_t>(device.kind) << 8U | device.index,
              std::memory_order_release);
  return device;
}

}  // namespace tarry::runtime

namespace tarry {
inline namespace v0 {

std::vector<Device> devices(Where where) try {
  std::vector<Device> all{cpu};
  const int count = runtime::cuda_device_count();
  for (int i = 0; i < count; ++i) all.push_back(cuda(i));
  return all;
}
TARRY_OR_OUT_OF_MEMORY("devices", where)

Device default_device(Where where) try { return runtime::unplaced_device(); }
TARRY_OR_OUT_OF_MEMORY("default_device", where)

std::string describe_system(Where where) try {
  std::string text;
  const auto fact = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{}: {}\n", name, value);
  };
  const auto layers = cache::open_layers();

  fact("tarry", TARRY_VERSION);
  fact("default device", runtime::describe_default_device());
  const int threads = runtime::thread_count();
  fact("cpu",
       fmt::format("{} thread{}, kernels for {}", threads, threads == 1 ? "" : "s", runtime::describe_cpu_target()));
  fact("c compiler", runtime::describe_compiler());
  fact("blas", runtime::describe_cpu_blas());
  for (const std::string& line : runtime::describe_cuda()) text += line + '\n';
  fact("cache", runtime::describe_cache_directory(layers));
  for (const auto& layer : layers) {
    if (layer->access() == cache::Access::ReadOnly) fact("cache below", layer->describe());
  }
  fact("cache counters", runtime::describe(runtime::cache_stats()));
  return text;
}
TARRY_OR_OUT_OF_MEMORY("describe_system", where)

void synchronize(Where where) try { runtime::synchronize(); }
TARRY_OR_OUT_OF_MEMORY("synchronize", where)

CacheCounters cache_counters(Where where) try { return runtime::cache_stats(); }
TARRY_OR_OUT_OF_MEMORY("cache_counters", where)

std::vector<CacheMiss> cache_misses(Where where) try { return runtime::cache_misses(); }
TARRY_OR_OUT_OF_MEMORY("cache_misses", where)

}  // namespace v0
}  // namespace tarry
