// The switch table, its overrides and the parsers of its values.
#include "support/env.h"

#include <atomic>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include <sys/auxv.h>

#include "support/check.h"
#include "support/fork.h"

namespace tarry::support::env {

namespace {

struct Overrides {
  Mutex mutex;
  std::map<std::string, std::string, std::less<>> values;
  std::atomic<std::uint64_t> generation{0};
};

Overrides& overrides() {
  // Never destroyed: static arrays may still ask while the process exits. Not by new: noexcept functions begin here.
  alignas(Overrides) static std::byte memory[sizeof(Overrides)];
  static Overrides& state = *new (memory) Overrides;
  return state;
}

bool in_table(std::string_view name) {
  for (const Switch& s : switches()) {
    if (name == s.name) return true;
  }
  return false;
}

std::optional<std::string> lookup(std::string_view name) {
  std::optional<std::string> value;
  {
    Overrides& state = overrides();
    const std::lock_guard lock(state.mutex);
    if (const auto found = state.values.find(name); found != state.values.end()) value = found->second;
  }
  if (!value) {
    if (is_privileged()) return std::nullopt;  // whoever started us may not say what code runs with our rights
    const char* text = std::getenv(std::string(name).c_str());
    if (text == nullptr) return std::nullopt;
    value = text;
  }
  if (value->empty()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

/// The leading integer of `text`, which is cut off; nullopt where there is none or it does not fit.
template <class T>
std::optional<T> take_integer(std::string_view& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Bits to shift by for a suffix "", "k", "m", "g" (also "kb", "KiB", ...), or nullopt.
std::optional<int> suffix_shift(std::string_view suffix) {
  std::string low;
  for (const char c : trim(suffix)) low += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (low.empty() || low == "b") return 0;
  const std::string_view rest = std::string_view(low).substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
  switch (low[0]) {
    case 'k': return 10;
    case 'm': return 20;
    case 'g': return 30;
    default: return std::nullopt;
  }
}

}  // namespace

const std::vector<Switch>& switches() {
  static const std::vector<Switch>& table = *new std::vector<Switch>{
      {"TARRY_DEVICE", "cpu, cuda, cuda:N", "Device of work that names none; default cuda:0 where it works, else cpu."},
      {"TARRY_CACHE_DIR", "directory, off",
       "Where compiled kernels are kept; default $XDG_CACHE_HOME/tarry or ~/.cache/tarry; off keeps none on disk."},
      {"TARRY_CACHE_PATH", "directories and bundles separated by colons",
       "Further compiled kernels that are only read, searched in this order after TARRY_CACHE_DIR."},
      {"TARRY_CACHE_SIZE", "bytes, suffix k, m or g",
       "Most that TARRY_CACHE_DIR may hold, default 1g; least recently used kernels go first; 0 is no limit."},
      {"TARRY_CACHE_STRICT", "0, 1", "1: a kernel that another compiler version made is compiled again."},
      {"TARRY_REQUIRE_CACHED", "0, 1", "1: a kernel that would have to be compiled throws NotCached instead."},
      {"TARRY_RECORD", "file",
       "Manifest to which evaluations are added, for tarry warm: operations, dtypes and shapes, never values."},
      {"TARRY_DUMP", "words: source, ptx, sass, graph, dot, svg, plan, ir, passes, all",
       "Stages of each evaluation to write to files in TARRY_DUMP_DIR."},
      {"TARRY_DUMP_DIR", "directory",
       "Where TARRY_DUMP and failed compilations leave their files; default ./tarry-dump for the former."},
      {"TARRY_DISABLE",
       "words: names of passes, fusion, steps, levels, row_column, reuse, library, matmul, partial_upload, placement, "
       "marks, "
       "plan_cache, pool, graphs, prebuilt, compile",
       "Stages to leave out; without fusion every operation is a kernel of its own, without steps a kernel makes at "
       "most two "
       "steps of a simulation, without levels a recurrence that was recorded level by level is many operations, "
       "without row_column it reduces one axis, without library `matmul` is a sum, without "
       "matmul "
       "no "
       "product has a kernel of our own, without partial_upload whole arrays cross to a GPU, without placement nothing "
       "is "
       "done on the host instead, without marks only what was asked for is stored, without pool each buffer on a GPU "
       "is an allocation of its own, without graphs every "
       "kernel is launched by itself, without prebuilt the C compiler makes all of a kernel, without compile the "
       "interpreter runs."},
      {"TARRY_LOG", "debug, info, warning, error, off", "Least severe message to print; default warning."},
      {"TARRY_CHECK", "words: borrow",
       "borrow: memory that changed while it was borrowed, and not by touch(), is an error at its next use."},
      {"TARRY_SYNC", "0, 1", "1: wait after every kernel and name the operation that failed."},
      {"TARRY_MEMORY_LIMIT", "bytes, suffix k, m or g",
       "Most memory that arrays may take on a device, new host memory on the CPU; what needs more is worked off in "
       "chunks. Default all there is."},
      {"TARRY_NUM_THREADS", "count", "Threads of the CPU device; default one per core that the process may use."},
      {"TARRY_CPU", "x86-64-v2, x86-64-v3, x86-64-v4, or v2, v3, v4",
       "What CPU kernels are made for; default the highest level of this CPU, and none above it."},
      {"TARRY_NVRTC", "path", "The libnvrtc to load instead of the one that the system finds."},
      {"TARRY_BLAS", "path",
       "The library with cblas_sgemm and cblas_dgemm that computes matrix products on the CPU, instead of those "
       "found."},
      {"TARRY_CC", "program", "The C compiler of the CPU device; default the first of cc, gcc, clang that works."},
  };
  return table;
}

std::optional<std::string> get(std::string_view name) {
  TARRY_ASSERT(in_table(name));
  return lookup(name);
}

std::vector<std::string> words(std::string_view name) {
  std::vector<std::string> result;
  const std::string value = get(name).value_or("");
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (const std::string_view word = trim(rest.substr(0, comma)); !word.empty()) result.emplace_back(word);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return result;
}

bool has_word(std::string_view name, std::string_view word) {
  for (const std::string& w : words(name)) {
    if (w == word) return true;
  }
  return false;
}

bool flag(std::string_view name) {
  const std::string value = get(name).value_or("");
  return !value.empty() && value != "0" && value != "off" && value != "false";
}

std::uint64_t bytes(std::string_view name, std::uint64_t fallback) {
  const std::string value = get(name).value_or("");
  std::string_view text = trim(value);
  const std::optional<std::uint64_t> number = take_integer<std::uint64_t>(text);
  const std::optional<int> shift = suffix_shift(text);
  if (!number || !shift || *number > (~std::uint64_t{0} >> *shift)) return fallback;
  return *number << *shift;
}

std::int64_t integer(std::string_view name, std::int64_t fallback) {
  const std::string value = get(name).value_or("");
  std::string_view text = trim(value);
  const std::optional<std::int64_t> number = take_integer<std::int64_t>(text);
  return number && text.empty() ? *number : fallback;
}

void set(std::string_view name, std::optional<std::string> value) {
  Overrides& state = overrides();
  const std::lock_guard lock(state.mutex);
  if (value) {
    state.values.insert_or_assign(std::string(name), *std::move(value));
  } else if (const auto found = state.values.find(name); found != state.values.end()) {
    state.values.erase(found);
  }
  state.generation.fetch_add(1, std::memory_order_release);
}

std::uint64_t generation() noexcept { return overrides().generation.load(std::memory_order_acquire); }

std::optional<std::string> system(std::string_view name) { return lookup(name); }

bool is_privileged() noexcept { return ::getauxval(AT_SECURE) != 0; }

}  // namespace tarry::support::env
