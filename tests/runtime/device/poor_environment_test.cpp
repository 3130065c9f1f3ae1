// Poor surroundings: compilers that hang, lie or are killed, no room for files, descriptors that are closed, misspelt
// switches.
#include <tarry/tarry.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "runtime/device/compilers/c_compiler.h"
#include "support/file.h"
#include "support/process.h"
#include "support/switch_check.h"
#include "support/temporary.h"
#include "tests/helpers/child.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
namespace fs = std::filesystem;
using ta::support::ProcessResult;
using ta::support::run_process;
using ta::support::ScopedTemporaryDirectory;
using ta::test::run_child;
using Setting = ta::test::ScopedSwitch;

namespace {

#ifdef TARRY_SANITIZE_NAME
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr const char* kSanitizerNeeds = "the sanitizer itself needs what is taken away";

/// Programs that stand for compilers, a directory for temporary files, and what a process says there.
struct Workshop {
  std::string program(const std::string& name, const std::string& script) const {
    const fs::path file = directory.path() / name;
    ta::test::write(file, "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
  /// One that says its version, and does `otherwise` for everything else.
  std::string compiler(const std::string& name, const std::string& otherwise) const {
    return program(name, "[ \"$1\" = --version ] && exec gcc --version\n" + otherwise);
  }
  ProcessResult run(std::vector<std::string> settings, const char* child = "poor_evaluates") const {
    fs::create_directories(temporary);
    settings.insert(settings.end(),
                    {"TMPDIR=" + temporary.string(), "TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=", "TARRY_DEVICE=cpu"});
    return run_child(child, settings);
  }
  [[nodiscard]] bool nothing_left() const { return fs::is_empty(temporary); }

  ScopedTemporaryDirectory directory;
  fs::path temporary = directory.path() / "tmp";
};

int lines_of(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

/// Prints how many kernels were compiled; 0: the value is right.
int evaluate_something() {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = ta::asarray(std::vector<float>{1, 2, 3});
  const bool right = (x * x + 1.0f).to_vector<float>() == std::vector<float>{2, 5, 10};
  std::printf("%d compiled, %d read\n", static_cast<int>(ta::cache_counters().compiles),
              static_cast<int>(ta::cache_counters().disk_hits));
  return right ? 0 : 1;
}

}  // namespace

TARRY_CHILD(poor_evaluates) { return evaluate_something(); }

TARRY_CHILD(poor_in_file_limit) {
  const struct rlimit limit{1024, 1024};
  setrlimit(RLIMIT_FSIZE, &limit);
  return evaluate_something();
}

TARRY_CHILD(poor_without_descriptors) {
  const struct rlimit limit{5, 5};
  setrlimit(RLIMIT_NOFILE, &limit);
  return evaluate_something();
}

TARRY_CHILD(poor_without_standard_descriptors) {
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  const ProcessResult result = run_process({"sh", "-c", "cat; echo out; echo err >&2"});
  return result.output == "out\n" && result.error == "err\n" ? evaluate_something() : 2;
}

constexpr int kNotArranged = 3;  // what a child returns where the system lets nobody arrange its surroundings

/// No /proc, and no program runs from TMPDIR.
TARRY_CHILD(poor_without_proc) {
  const char* const temporary = std::getenv("TMPDIR");
  const bool arranged = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        mount("none", temporary, "tmpfs", MS_NOEXEC, nullptr) == 0 &&
                        mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
  if (!arranged) return kNotArranged;
  const bool right = evaluate_something() == 0 && evaluate_something() == 0;
  return right && fs::is_empty(temporary) ? 0 : 1;
}

/// No further process and no thread. Limits do not hold for root.
TARRY_CHILD(poor_without_processes) {
  constexpr uid_t kNobody = 65534;
  const struct rlimit limit{1, 1};
  if (chown(std::getenv("TMPDIR"), kNobody, kNobody) != 0) return kNotArranged;
  if (setrlimit(RLIMIT_NPROC, &limit) != 0 || setuid(kNobody) != 0) return kNotArranged;
  return evaluate_something();
}

/// A product by a library, where the user has few threads: the value or an error.
TARRY_CHILD(poor_in_threads) {
  constexpr uid_t kNobody = 65534;
  const auto most = static_cast<rlim_t>(std::atoi(std::getenv("POOR_THREADS")));
  const struct rlimit limit{most, most};
  if (setrlimit(RLIMIT_NPROC, &limit) != 0 || setuid(kNobody) != 0) return kNotArranged;
  const ta::Scope on_cpu(ta::cpu);
  for (const ta::Dtype dtype : {ta::float32, ta::float64}) {
    try {
      const ta::Array a = ta::ones({700, 600}, dtype), b = ta::ones({600, 700}, dtype);
      ta::evaluate(a, b);
      if (ta::astype(ta::matmul(a, b), ta::float64).to_vector<double>() != std::vector<double>(490'000, 600.0))
        return 1;
    } catch (const ta::OutOfMemory& error) {
      std::printf("%s\n", error.what());
    }
  }
  return 0;
}

/// Room for a few further mappings.
TARRY_CHILD(poor_without_mappings) {
  constexpr int kMost = 1 << 20, kRoom = 3;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<void*> taken;
  taken.reserve(kMost);
  while (taken.size() < kMost) {  // neighbours of one kind would be one mapping
    const int kind = taken.size() % 2 == 0 ? PROT_READ : PROT_NONE;
    void* const one = mmap(nullptr, page, kind, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (one == MAP_FAILED) break;
    taken.push_back(one);
  }
  if (taken.size() == kMost) return kNotArranged;
  for (int i = 0; i < kRoom; ++i, taken.pop_back()) munmap(taken.back(), page);
  return evaluate_something();
}

TEST_CASE("process: what a program started and left running is not waited for", "[support][process]") {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({"sh", "-c", "sleep 60 & echo out; echo err >&2"});
  CHECK(result.output == "out\n");
  CHECK(result.error == "err\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("process: a program that takes longer than it may is killed", "[support][process]") {
  const ProcessResult result =
      run_process({"sh", "-c", "echo out; sleep 60 & sleep 60"}, {.limit = std::chrono::milliseconds(300)});
  CHECK(result.timed_out);
  CHECK(result.exit_status == 128 + SIGKILL);
  CHECK(result.output == "out\n");
  CHECK_FALSE(run_process({"true"}, {.limit = std::chrono::seconds(30)}).timed_out);
}

TEST_CASE("process: a program runs in a group of its own, with the environment that is asked for",
          "[support][process]") {
  const ProcessResult result = run_process({"sh", "-c", "echo $$; cut -d ' ' -f 5 /proc/$$/stat"});
  CHECK(result.output.substr(0, result.output.find('\n')) ==
        result.output.substr(result.output.find('\n') + 1, result.output.size() / 2 - 1));
  CHECK(run_process({"sh", "-c", "echo $HOME"}, {.environment = {"HOME=/else"}}).output == "/else\n");
}

TEST_CASE("compilers: one that does not work is left out with one warning, and nothing is left behind",
          "[runtime][cpu][process]") {
  const Workshop shop;
  const auto [name, script] = GENERATE(table<std::string, std::string>(
      {{"only_version", "exit 0"},
       {"always_fails", "echo broken >&2; exit 1"},
       {"killed", "kill -9 $$"},
       {"garbage", "for a; do [ \"$o\" = -o ] && head -c 5000 /dev/urandom > \"$a\"; o=$a; done"},
       {"hangs", "sleep 600"}}));
  INFO(name);
  const ProcessResult result = shop.run({"TARRY_CC=" + shop.compiler(name, script)});
  INFO(result.error);
  CHECK(result.exit_status == 0);
  CHECK(result.output == "0 compiled, 0 read\n");
  CHECK(lines_of(result.error) == 1);
  CHECK_THAT(result.error, Catch::Contains(name) && Catch::Contains("interpreter"));
  CHECK(shop.nothing_left());
}

TEST_CASE("compilers: where one hangs or fails the next is used", "[runtime][cpu][process]") {
  if (!run_process({"gcc", "--version"}).succeeded()) TARRY_SKIP("no gcc");
  const Workshop shop;
  shop.compiler("cc", "exit 7");
  const std::string gcc = run_process({"sh", "-c", "command -v gcc"}).output;
  shop.program("gcc", "exec " + gcc.substr(0, gcc.size() - 1) + " \"$@\"");
  const ProcessResult result = shop.run({"PATH=" + shop.directory.path().string() + ":/usr/bin:/bin"});
  INFO(result.error);
  CHECK(result.output == "1 compiled, 0 read\n");
  CHECK(lines_of(result.error) == 1);
  CHECK_THAT(result.error,
             Catch::Contains("/cc: it fails with exit status 7") && Catch::Contains("/gcc is used instead"));
}

TEST_CASE("compilers: a daemon that a wrapper leaves is not waited for", "[runtime][cpu][process]") {
  const Workshop shop;
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = shop.run({"TARRY_CC=" + shop.program("cc", "sleep 120 &\nexec gcc \"$@\"")});
  CHECK(result.output == "1 compiled, 0 read\n");
  CHECK(result.error.empty());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}

TEST_CASE("compilers: cc and gcc that are one compiler share entries", "[runtime][cpu][cache][process]") {
  const ta::test::CacheDirectory cache;
  const std::string version = run_process({"cc", "--version"}).output;
  if (version.find("Free Software Foundation") == std::string::npos) TARRY_SKIP("cc is not GCC");
  const std::vector<std::string> settings{"TARRY_CACHE_DIR=" + cache.root().string(), "TARRY_CACHE_PATH="};
  const auto with = [&](const char* compiler) {
    return run_child("poor_evaluates", {settings[0], settings[1], std::string("TARRY_CC=") + compiler}).output;
  };
  CHECK(with("cc") == "1 compiled, 0 read\n");
  CHECK(with("gcc") == "0 compiled, 1 read\n");
}

TEST_CASE("surroundings: a TMPDIR that looks like an option, or is none, is no obstacle", "[runtime][cpu][process]") {
  const ScopedTemporaryDirectory directory;
  const std::string named = GENERATE("-o", "@x", "/no/such", "missing");
  if (named == "-o" || named == "@x") fs::create_directory(directory.path() / named);
  const ProcessResult result =
      run_child("poor_evaluates", {"-C", directory.path().string(), "TMPDIR=" + named, "TARRY_CACHE_DIR=off"});
  INFO(named << result.error);
  CHECK(result.output == "1 compiled, 0 read\n");
  CHECK(result.error.empty());
}

TEST_CASE("surroundings: without room for files or descriptors the interpreter serves and says why",
          "[runtime][cpu][process]") {
  if (kSanitized) TARRY_SKIP(kSanitizerNeeds);
  const Workshop shop;
  const char* const child = GENERATE("poor_in_file_limit", "poor_without_descriptors");
  const ProcessResult result = shop.run({}, child);
  INFO(child << result.error);
  CHECK(result.exit_status == 0);
  CHECK(result.output == "0 compiled, 0 read\n");
  CHECK_THAT(result.error, Catch::Contains("interpreter"));
  CHECK(shop.nothing_left());
}

TEST_CASE("surroundings: a product by a library that gets too few threads is an error", "[runtime][cpu][process]") {
  if (kSanitized) TARRY_SKIP(kSanitizerNeeds);
  const Workshop shop;
  fs::permissions(shop.directory.path(), fs::perms::others_exec, fs::perm_options::add);
  for (const char* threads : {"1", "2", "3", "4"}) {
    const ProcessResult result =
        shop.run({"TARRY_DISABLE=compile", std::string("POOR_THREADS=") + threads}, "poor_in_threads");
    if (result.exit_status == kNotArranged) TARRY_SKIP("the system lets nobody arrange this");
    INFO(threads << " threads\n" << result.output << result.error);
    CHECK(result.exit_status == 0);
  }
}

TEST_CASE("surroundings: without processes, mappings or a place to run code from the interpreter serves",
          "[runtime][cpu][process]") {
  if (kSanitized) TARRY_SKIP(kSanitizerNeeds);
  const Workshop shop;
  const char* const child = GENERATE("poor_without_processes", "poor_without_mappings", "poor_without_proc");
  fs::create_directories(shop.temporary);
  fs::permissions(shop.directory.path(), fs::perms::others_exec, fs::perm_options::add);
  const ProcessResult result = shop.run({}, child);
  if (result.exit_status == kNotArranged) TARRY_SKIP("the system lets nobody arrange this");
  INFO(child << "\n" << result.output << result.error);
  CHECK(result.exit_status == 0);
  CHECK_THAT(result.output, Catch::StartsWith("0 compiled, 0 read\n"));
  CHECK(lines_of(result.error) == 1);
  CHECK_THAT(result.error, Catch::Contains("interpreter"));
  CHECK(shop.nothing_left());
}

TEST_CASE("surroundings: without standard descriptors compilers still run", "[runtime][cpu][process]") {
  CHECK(Workshop().run({}, "poor_without_standard_descriptors").exit_status == 0);
}

TEST_CASE("file: what a killed process left is removed, what another uses is not", "[support][file]") {
  const Workshop shop;
  fs::create_directories(shop.temporary / "tarry-work-killed" / "with" / "more");
  fs::create_directories(shop.temporary / "somebody-else");
  const Setting here("TMPDIR", shop.temporary.string());
  const ScopedTemporaryDirectory used;
  CHECK(used.path().parent_path() == shop.temporary);
  CHECK(shop.run({}).output == "1 compiled, 0 read\n");
  CHECK_FALSE(fs::exists(shop.temporary / "tarry-work-killed"));
  CHECK(fs::exists(used.path()));
  CHECK(fs::exists(shop.temporary / "somebody-else"));
}

TARRY_CHILD(keeps_a_directory) {
  const ScopedTemporaryDirectory used;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // another's sweep is over by then
  return fs::exists(used.path()) ? 0 : 1;
}

TEST_CASE("file: processes that begin together do not remove each other's directories", "[support][file]") {
  const Workshop shop;
  std::atomic<int> lost = 0;
  std::vector<std::jthread> starters;
  for (int t = 0; t < 12; ++t)
    starters.emplace_back([&] {
      for (int i = 0; i < 10; ++i) lost += shop.run({}, "keeps_a_directory").succeeded() ? 0 : 1;
    });
  starters.clear();
  CHECK(lost == 0);
  CHECK(shop.nothing_left());
}

TEST_CASE("compilers: a source that does not compile is kept once", "[runtime][cpu]") {
  const ScopedTemporaryDirectory directory;
  const Setting here("TMPDIR", directory.path().string());
  for (int i = 0; i < 3; ++i)
    CHECK_THROWS_AS(ta::runtime::compile_c("this is no C\n", "-shared -fPIC"), ta::CompileError);
  std::vector<fs::path> kept;
  for (const auto& file : fs::recursive_directory_iterator(directory.path()))
    if (file.is_regular_file()) kept.push_back(file.path());
  REQUIRE(kept.size() == 1);
  CHECK(ta::support::read_file(kept[0]) == "this is no C\n");
}

TEST_CASE("switches: a name that is none is named with the nearest that is", "[support][env]") {
  using ta::support::env::complaint_of_name;
  CHECK_THAT(complaint_of_name("TARRY_CACHE_DIRS").value(), Catch::Contains("the nearest is TARRY_CACHE_DIR"));
  CHECK_THAT(complaint_of_name("TARRY_NUM_THREAD").value(), Catch::Contains("the nearest is TARRY_NUM_THREADS"));
  CHECK_FALSE(complaint_of_name("TARRY_LOG"));
  CHECK_FALSE(complaint_of_name("TARRYING"));
  const ProcessResult result =
      run_child("poor_evaluates", {"TARRY_CASHE_DIR=/tmp/x", "TARRY_LOG=warn", "TARRY_CACHE_DIR=off"});
  CHECK(result.exit_status == 0);
  CHECK(lines_of(result.error) == 2);
  CHECK_THAT(result.error, Catch::Contains("TARRY_CASHE_DIR is no switch") &&
                               Catch::Contains("TARRY_LOG does not know \"warn\"; the nearest is warning"));
}

TEST_CASE("switches: a value that is not understood is named, one that is is not", "[support][env]") {
  const auto [name, good, bad] =
      GENERATE(table<const char*, const char*, const char*>({{"TARRY_DEVICE", "cuda:12", "gpu"},
                                                             {"TARRY_CACHE_SIZE", "64 MiB", "1.5g"},
                                                             {"TARRY_MEMORY_LIMIT", "0", "10q"},
                                                             {"TARRY_NUM_THREADS", "8", "-5"},
                                                             {"TARRY_SYNC", "yes", "2"},
                                                             {"TARRY_REQUIRE_CACHED", "0", "perhaps"},
                                                             {"TARRY_LOG", "off", "verbose"},
                                                             {"TARRY_DUMP", "ir, plan", "iR"},
                                                             {"TARRY_CHECK", "borrow", "borrows"},
                                                             {"TARRY_CPU", "v3", "x86-64-v9"},
                                                             {"TARRY_DISABLE", "fusion,fold", "fuse"}}));
  INFO(name);
  constexpr std::string_view kPasses[] = {"fold"};
  const auto complaints = [&, name = name](const char* value) {
    const Setting set(name, value);
    return ta::support::env::complaints_of_value(name, value, kPasses).size();
  };
  CHECK(complaints(good) == 0);
  CHECK(complaints(bad) == 1);
}
