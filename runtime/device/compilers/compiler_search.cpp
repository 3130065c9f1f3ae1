// find_compiler: along PATH, asking each file once.
#include "runtime/device/compilers/compiler_search.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/env.h"
#include "support/fork.h"
#include "support/process.h"

namespace tarry::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Tells whether a file is still the one that was asked.
using Identity = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;

struct Record {
  Identity identity;
  KnownCompiler compiler;
  int failures = 0;
  Clock::time_point again;  ///< where it has a defect
};

struct Records {
  support::Mutex mutex;
  std::map<std::string, Record> by_path;
  std::atomic<std::uint64_t> changes{0};
};
Records& records() {
  // Never destroyed: static arrays may be evaluated while the process exits. Not by new: noexcept functions begin here.
  alignas(Records) static std::byte memory[sizeof(Records)];
  static auto& all = *new (memory) Records;
  return all;
}

/// False where no program is at `path`.
bool identify(const std::string& path, Identity& identity) {
  struct stat status{};
  if (::access(path.c_str(), X_OK) != 0 || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  identity = {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  return true;
}

/// Where `program` is, "" where it is not.
std::string path_of(const std::string& program, Identity& identity) {
  if (program.find('/') != std::string::npos) return identify(program, identity) ? program : "";
  const std::string path = support::env::system("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::string_view rest = path;
  for (;;) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    const std::string file = fmt::format("{}/{}", directory.empty() ? "." : directory, program);
    if (identify(file, identity)) return file;
    if (directory.size() == rest.size()) return {};
    rest.remove_prefix(directory.size() + 1);
  }
}

/// GCC names itself as it was called, so that cc and gcc would be two compilers.
std::string version_in(const std::string& output) {
  constexpr std::size_t kMost = 200;
  std::string line = output.substr(0, std::min(output.find('\n'), kMost));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  const std::size_t bracket = line.find(" (");
  const bool is_gcc = output.find("Free Software Foundation") != std::string::npos && bracket != std::string::npos;
  return is_gcc ? "gcc" + line.substr(bracket) : line;
}

KnownCompiler ask(const std::string& path, bool& started) {
  KnownCompiler compiler{path, {}, {}, false};
  const support::ProcessResult answer = support::run_process({path, "--version"}, {.limit = kCompilerPatience});
  started = answer.started;
  if (answer.timed_out) {
    compiler.defect = fmt::format("it did not say its version within {} seconds", kCompilerPatience.count());
  } else if (!answer.started) {
    compiler.defect = answer.error;
  } else if (!answer.succeeded() || answer.output.empty()) {
    compiler.defect = fmt::format("it does not say its version (exit status {})", answer.exit_status);
  }
  compiler.version = version_in(answer.output);
  return compiler;
}

/// records().mutex held.
void put_off(Record& record) {
  constexpr int kMostDoublings = 10;
  record.again = Clock::now() + std::chrono::minutes(std::int64_t{1} << std::min(record.failures++, kMostDoublings));
  records().changes.fetch_add(1, std::memory_order_release);
}

KnownCompiler compiler_at(const std::string& path, const Identity& identity) {
  const std::lock_guard lock(records().mutex);  // one thread asks
  const auto [at, fresh] = records().by_path.try_emplace(path);
  Record& record = at->second;
  const bool same = !fresh && record.identity == identity;
  if (same && (record.compiler.defect.empty() || Clock::now() < record.again)) return record.compiler;
  bool started = false;
  KnownCompiler answered = ask(path, started);
  records().changes.fetch_add(1, std::memory_order_release);
  if (!started) {  // for want of a descriptor or a process: says nothing about the compiler
    records().by_path.erase(at);
    return answered;
  }
  if (!same) record.failures = 0;
  record.identity = identity;
  record.compiler = answered;
  if (!answered.defect.empty()) put_off(record);
  return answered;
}

}  // namespace

KnownCompiler find_compiler(const std::vector<std::string>& programs) {
  std::string defects;
  if (support::env::is_privileged())
    return {{}, {}, "a program with more rights than its user starts no compiler", false};
  for (const std::string& program : programs) {
    Identity identity;
    const std::string path = path_of(program, identity);
    if (path.empty()) continue;
    KnownCompiler compiler = compiler_at(path, identity);
    if (compiler.defect.empty()) return compiler;
    defects += fmt::format("{}{}: {}", defects.empty() ? "" : "; ", path, compiler.defect);
  }
  return {{}, {}, std::move(defects), false};
}

void note_works(const std::string& path) {
  const std::lock_guard lock(records().mutex);
  Record& record = records().by_path[path];
  record.compiler.proven = true;
  record.failures = 0;
}

void note_broken(const std::string& path, std::string defect) {
  const std::lock_guard lock(records().mutex);
  Record& record = records().by_path[path];
  record.compiler.proven = false;
  record.compiler.defect = std::move(defect);
  put_off(record);
}

KnownCompiler known_compiler(const std::string& path) {
  const std::lock_guard lock(records().mutex);
  const auto found = records().by_path.find(path);
  return found == records().by_path.end() ? KnownCompiler{path, {}, {}, false} : found->second.compiler;
}

std::uint64_t compiler_changes() noexcept { return records().changes.load(std::memory_order_acquire); }

}  // namespace tarry::runtime
