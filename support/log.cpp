// The logger. Nothing else includes spdlog.
#include "support/log.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <tarry/log.h>

#include "support/env.h"
#include "support/fork.h"
#include "support/printable.h"

namespace tarry::support::log {

namespace {

constexpr int kOff = static_cast<int>(Level::Error) + 1;

int parse_threshold() {
  const std::string value = env::get("TARRY_LOG").value_or("warning");
  if (value == "debug") return static_cast<int>(Level::Debug);
  if (value == "info") return static_cast<int>(Level::Info);
  if (value == "error") return static_cast<int>(Level::Error);
  if (value == "off") return kOff;
  return static_cast<int>(Level::Warning);
}

struct State {
  Mutex mutex;
  std::unordered_set<std::string> warned;
  Sink sink;
  // Made by hand and never destroyed: spdlog's registry is gone when static arrays report while the process exits.
  spdlog::logger logger{"tarry", std::make_shared<spdlog::sinks::stderr_sink_st>()};
  // Threshold and the generation of the switches it was read at, in one word so that both change together.
  std::atomic<std::uint64_t> threshold{~std::uint64_t{0}};

  State() {
    logger.set_pattern("[tarry] %l: %v");
    logger.set_level(spdlog::level::trace);
    logger.flush_on(spdlog::level::trace);
  }
};

State& state() {
  static State& s = *new State;
  return s;
}

int threshold() {
  constexpr std::uint64_t kLevelBits = 8;
  std::atomic<std::uint64_t>& cached = state().threshold;
  const std::uint64_t generation = env::generation();
  std::uint64_t word = cached.load(std::memory_order_relaxed);
  if (word >> kLevelBits != generation) {
    word = generation << kLevelBits | static_cast<std::uint64_t>(parse_threshold());
    cached.store(word, std::memory_order_relaxed);
  }
  return static_cast<int>(word & ((std::uint64_t{1} << kLevelBits) - 1));
}

/// A sink may call the library, which may log: such lines go to stderr, or a sink that always causes one would never
/// end.
thread_local constinit bool inside_sink = false;
struct InsideSink {
  InsideSink() { inside_sink = true; }
  ~InsideSink() { inside_sink = false; }
  InsideSink(const InsideSink&) = delete;
  InsideSink& operator=(const InsideSink&) = delete;
};

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::Debug: return spdlog::level::debug;
    case Level::Info: return spdlog::level::info;
    case Level::Warning: return spdlog::level::warn;
    case Level::Error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

bool enabled(Level level) { return static_cast<int>(level) >= threshold(); }

void write(Level level, std::string_view message) noexcept {
  try {
    if (!enabled(level)) return;
    State& s = state();
    const std::string line = printable(message, "\n\t");
    Sink sink;
    {
      const std::lock_guard lock(s.mutex);
      if (level == Level::Warning && !s.warned.emplace(message).second) return;
      if (!inside_sink) sink = s.sink;
    }
    if (sink) {
      const InsideSink now;
      sink(level, line);
    } else {
      const std::lock_guard lock(s.mutex);
      s.logger.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
    }
  } catch (...) {  // no memory for the line, or the sink threw: work goes on without
  }
}

void set_sink(Sink sink) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.sink = std::move(sink);
}

}  // namespace tarry::support::log

namespace tarry {
inline namespace v0 {

void set_log_callback(LogCallback callback, void* context) {
  using support::log::Level;
  static_assert(static_cast<int>(LogLevel::Debug) == static_cast<int>(Level::Debug) &&
                static_cast<int>(LogLevel::Error) == static_cast<int>(Level::Error));
  if (callback == nullptr) return support::log::set_sink({});
  support::log::set_sink([callback, context](Level level, std::string_view message) {
    callback(context, static_cast<LogLevel>(level), message);
  });
}

}  // namespace v0
}  // namespace tarry
