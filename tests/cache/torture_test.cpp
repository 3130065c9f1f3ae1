// Many processes on one kernel cache. Left alone they compile every kernel once, counted by a wrapper of cc and a
// library in front of NVRTC; killed, starved and with their files damaged they still compute the right values.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/entry_format.h"
#include "runtime/device/compilers/nvrtc.h"
#include "support/hash.h"
#include "support/process.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/fake_gpu.h"

namespace fs = std::filesystem;
namespace ta = tarry;
namespace env = tarry::support::env;
using namespace ta::test;

namespace {

constexpr int kProcesses = 64;
constexpr int kKernels = 50;
constexpr uid_t kNobody = 65534;

/// Fifty formulas of which no two share a kernel.
ta::Array formula(int number, const ta::Array& x, const ta::Array& y) {
  ta::Array z;
  switch (number % 5) {
    case 0: z = x + y; break;
    case 1: z = x - y; break;
    case 2: z = x * y; break;
    case 3: z = x / y; break;
    default: z = ta::maximum(x, y);
  }
  switch (number / 5 % 5) {
    case 0: z = ta::sqrt(ta::abs(z)); break;
    case 1: z = ta::exp(z * -0.01f); break;
    case 2: z = ta::floor(z); break;
    case 3: z = ta::square(z) - 1.0f; break;
    default: z = -z;
  }
  return number < kKernels / 2 ? z : ta::sum(z);
}

/// The values of the first `count` formulas, each evaluated by itself in an order of its own.
std::string digest(int count, unsigned seed) {
  const ta::Array x = ta::asarray(ramp(1000)), y = ta::reciprocal(ta::asarray(ramp(1000)) + 3.0f);
  ta::evaluate(y);
  std::vector<int> order(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), std::minstd_rand(seed));
  std::map<int, std::vector<float>> values;
  for (const int number : order) values[number] = formula(number, x, y).to_vector<float>();
  std::string bytes;
  for (const auto& [number, v] : values)
    bytes.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
  return ta::support::checksum_bytes(bytes).hex();
}

int number_of(const char* variable, int fallback) {
  const auto text = env::system(variable);
  return text ? std::stoi(*text) : fallback;
}

void print_summary(const std::string& values) {
  const ta::CacheCounters s = ta::cache_counters();
  std::printf("%s compiles %lld disk_hits %lld write_failures %lld\n", values.c_str(),
              static_cast<long long>(s.compiles), static_cast<long long>(s.disk_hits),
              static_cast<long long>(s.write_failures));
}

/// The last words of a child.
struct Summary {
  std::string values;
  long compiles = -1, disk_hits = -1, write_failures = -1;
};

Summary summary_of(const std::string& output) {
  const std::size_t end = output.find_last_not_of('\n');
  const std::size_t begin = output.rfind('\n', end);
  std::istringstream words(output.substr(begin == std::string::npos ? 0 : begin + 1));
  Summary s;
  std::string word;
  words >> s.values >> word >> s.compiles >> word >> s.disk_hits >> word >> s.write_failures;
  return s;
}

/// Values that no compiler and no cache had a part in.
std::string expected(int count) {
  const Setting interpreted("TARRY_DISABLE", "compile");
  const ta::Scope placed(ta::cpu);
  return digest(count, 1);
}

/// A directory with a cache, a compiler that counts its calls, and processes that use both.
class Torture {
 public:
  Torture() {
    write(cc(), "#!/bin/sh\ncase \"$*\" in *--version*) ;; *) echo >> '" + calls().string() +
                    "' ;; esac\nulimit -S -f unlimited\nexec cc \"$@\"\n");
    fs::permissions(cc(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec |
                              fs::perms::group_read | fs::perms::others_read);
    write(calls(), "");
    fs::permissions(calls(),
                    fs::perms::all & ~(fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec));
    fs::permissions(directory.base(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  }

  [[nodiscard]] fs::path cc() const { return directory.base() / "counting_cc"; }
  [[nodiscard]] fs::path calls() const { return directory.base() / "calls"; }
  [[nodiscard]] std::uintmax_t call_count() const { return fs::file_size(calls()); }

  void start(const char* name, unsigned seed, const std::vector<std::string>& settings = {}) {
    std::vector<std::string> all = {"TARRY_CACHE_DIR=" + directory.root().string(),
                                    "TARRY_CACHE_PATH=",
                                    "TARRY_CC=" + cc().string(),
                                    "TARRY_NUM_THREADS=2",
                                    "TARRY_DEVICE=cpu",
                                    "TARRY_TEST_SEED=" + std::to_string(seed)};
    all.insert(all.end(), settings.begin(), settings.end());
    children.emplace_back(name, all, directory.base() / ("output" + std::to_string(children.size())));
  }

  CacheDirectory directory;
  std::vector<RunningChild> children;
};

/// A library in front of NVRTC that counts the calls of nvrtcCompileProgram.
fs::path make_counting_nvrtc(const Torture& t) {
  const fs::path source = t.directory.base() / "nvrtc.c", library = t.directory.base() / "libnvrtc.so";
  write(source, R"(#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  int calls = open(")" +
                    t.calls().string() + R"(", O_WRONLY | O_APPEND);
  if (calls < 0 || write(calls, "x", 1) != 1) return 1;
  close(calls);
  int (*next)(void*, int, const char* const*) = dlsym(RTLD_NEXT, "nvrtcCompileProgram");
  return next ? next(program, count, options) : 1;
}
)");
  const fs::path real = ta::runtime::nvrtc_location();
  const auto made = ta::support::run_process({"cc", "-shared", "-fPIC", "-Wl,--no-as-needed",
                                              "-Wl,-rpath," + real.parent_path().string(), source.string(), "-o",
                                              library.string(), real.string()});
  INFO(made.error);
  REQUIRE(made.succeeded());
  return library;
}

/// Damages one file of the cache as the world does.
void sabotage(const CacheDirectory& directory, std::minstd_rand& random) {
  const std::vector<fs::path> files = directory.files();
  if (files.empty()) return;
  const fs::path& victim = files[random() % files.size()];
  std::error_code ignored;
  const std::string bytes = ta::support::read_file(victim).value_or("");
  switch (random() % 7) {
    case 0: fs::resize_file(victim, bytes.empty() ? 0 : random() % bytes.size(), ignored); break;
    case 1:
      if (!bytes.empty()) {
        std::string flipped = bytes;
        flipped[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
        std::ofstream(victim, std::ios::binary) << flipped;
      }
      break;
    case 2: fs::remove(victim, ignored); break;
    case 3: fs::remove_all(victim.parent_path(), ignored); break;
    case 4:
      fs::remove(victim, ignored);
      fs::create_directory(victim, ignored);
      break;
    case 5: std::ofstream(victim.parent_path() / "notes.txt") << "not a kernel"; break;
    default: std::ofstream(victim, std::ios::binary | std::ios::app) << "more";
  }
}

}  // namespace

TARRY_CHILD(torture_cpu) {
  if (const int limit = number_of("TARRY_TEST_FILE_LIMIT", 0); limit != 0) {
    ::signal(SIGXFSZ, SIG_IGN);  // so that write() fails, as it does on a full disk
    rlimit files{};
    ::getrlimit(RLIMIT_FSIZE, &files);
    files.rlim_cur = static_cast<rlim_t>(limit);
    if (::setrlimit(RLIMIT_FSIZE, &files) != 0) return 4;
  }
  if (env::system("TARRY_TEST_NOBODY") && ::geteuid() == 0 && ::setuid(kNobody) != 0) return 5;
  const int count = number_of("TARRY_TEST_KERNELS", kKernels);
  print_summary(digest(count, static_cast<unsigned>(number_of("TARRY_TEST_SEED", 1))));
  return 0;
}

TARRY_CHILD(torture_cuda) {
  const FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  print_summary(digest(kKernels, static_cast<unsigned>(number_of("TARRY_TEST_SEED", 1))));
  return 0;
}

/// Waits for all; returns what each printed of its values. Of every kernel one process is the maker, all others its
/// readers.
std::vector<std::string> check_one_compile_per_kernel(Torture& t) {
  std::vector<std::string> values;
  long compiles = 0, disk_hits = 0;
  for (RunningChild& child : t.children) {
    const int status = child.wait();
    INFO(child.output());
    REQUIRE(status == 0);
    const Summary s = summary_of(child.output());
    values.push_back(s.values);
    compiles += s.compiles;
    disk_hits += s.disk_hits;
  }
  const long kernels = kKernels + 1;  // the operand takes one
  CHECK(t.call_count() == static_cast<std::uintmax_t>(kernels));
  CHECK(compiles == kernels);
  CHECK(disk_hits == (kProcesses - 1) * kernels);
  return values;
}

TEST_CASE("torture: sixty-four processes that are left alone run cc once per kernel", "[cache][torture]") {
  Torture t;
  const std::string right = expected(kKernels);
  for (unsigned p = 0; p < kProcesses; ++p) t.start("torture_cpu", p + 1);
  for (const std::string& values : check_one_compile_per_kernel(t)) CHECK(values == right);
  CHECK(t.directory.files().size() == static_cast<std::size_t>(kKernels + 1));
}

TEST_CASE("torture: sixty-four processes that are left alone call NVRTC once per kernel", "[cache][torture][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  Torture t;
  const std::string library = "TARRY_NVRTC=" + make_counting_nvrtc(t).string();
  for (unsigned p = 0; p < kProcesses; ++p) t.start("torture_cuda", p + 1, {library});
  check_one_compile_per_kernel(t);
}

TEST_CASE("torture: kills, damage, full disks and missing homes cost compiles, never a failure or a wrong value",
          "[cache][torture]") {
  constexpr int kFew = 8;     // of processes that have no use of the cache
  constexpr int kActs = 200;  // of sabotage, so that it ends on a slow machine too
  Torture t;
  const std::string values = expected(kKernels), few_values = expected(kFew);
  const std::string few = "TARRY_TEST_KERNELS=" + std::to_string(kFew);
  {
    // Whole kernels, the largest there are: where a file is too large that they could be linked with, they are made
    // again.
    t.start("torture_cpu", 1, {few, "TARRY_DISABLE=prebuilt"});
    REQUIRE(t.children.back().wait() == 0);
    t.children.clear();
  }
  std::size_t largest_image = 0;  // room for what a compiler writes, not for every entry
  for (const fs::path& file : t.directory.files()) {
    const auto entry = ta::cache::decode(ta::support::read_file(file).value_or(""));
    REQUIRE(entry.has_value());
    largest_image = std::max(largest_image, entry->image.size());
  }
  const fs::path file = t.directory.base() / "file", full = t.directory.base() / "full",
                 frozen = t.directory.base() / "frozen";
  write(file, "not a directory");
  fs::copy(t.directory.root(), frozen, fs::copy_options::recursive);
  std::vector<fs::path> directories{frozen};
  for (const auto& found : fs::recursive_directory_iterator(frozen)) {
    if (found.is_directory()) directories.push_back(found.path());
    if (::geteuid() == 0) REQUIRE(::chown(found.path().c_str(), kNobody, kNobody) == 0);
  }
  if (::geteuid() == 0) REQUIRE(::chown(frozen.c_str(), kNobody, kNobody) == 0);
  for (const fs::path& d : directories) fs::permissions(d, fs::perms::owner_read | fs::perms::owner_exec);

  std::minstd_rand random(2025);
  std::vector<std::size_t> doomed, small;
  for (unsigned p = 0; p < kProcesses; ++p) {
    std::vector<std::string> settings;
    if (p % 16 == 1) settings = {few, "TARRY_CACHE_DIR=" + file.string()};
    if (p % 16 == 5) settings = {few, "HOME=", "XDG_CACHE_HOME=", "TARRY_CACHE_DIR="};
    if (p % 16 == 9) settings = {few, "TARRY_CACHE_DIR=" + frozen.string(), "TARRY_TEST_NOBODY=1"};
    if (p % 16 == 13) settings = {"TARRY_CACHE_SIZE=1m"};
    if (p % 8 == 3)
      settings = {few, "TARRY_CACHE_DIR=" + full.string(), "TARRY_TEST_FILE_LIMIT=" + std::to_string(largest_image)};
    if (!settings.empty() && settings.front() == few) small.push_back(p);
    if (p % 4 == 0) doomed.push_back(p);
    t.start("torture_cpu", p + 1, settings);
  }
  std::jthread saboteur([&t](const std::stop_token& stop) {
    std::minstd_rand own(7);
    for (int acts = 0; acts < kActs && !stop.stop_requested(); ++acts) {
      sabotage(t.directory, own);
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
    }
  });
  for (const std::size_t p : doomed) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
    t.children[p].kill();
  }
  int killed = 0, finished = 0;
  long write_failures = 0;
  for (std::size_t p = 0; p < t.children.size(); ++p) {
    const int status = t.children[p].wait();
    const std::string output = t.children[p].output();
    INFO("process " << p << ": " << output);
    const bool is_doomed = std::find(doomed.begin(), doomed.end(), p) != doomed.end();
    if (is_doomed && status == 128 + SIGKILL) {
      ++killed;
      continue;
    }
    REQUIRE(status == 0);
    ++finished;
    const Summary s = summary_of(output);
    const bool is_small = std::find(small.begin(), small.end(), p) != small.end();
    CHECK(s.values == (is_small ? few_values : values));
    write_failures += s.write_failures;
  }
  saboteur.request_stop();
  saboteur.join();
  for (const fs::path& d : directories) fs::permissions(d, fs::perms::owner_all);
  INFO(killed << " killed, " << finished << " finished, " << write_failures << " failed writes");
  CHECK(killed >= 8);
  CHECK(finished >= kProcesses - static_cast<int>(doomed.size()));
  CHECK(write_failures > 0);

  // The remains serve the next process, which heals them.
  for (int round = 0; round < 2; ++round) {
    t.children.clear();
    t.start("torture_cpu", 99);
    REQUIRE(t.children.back().wait() == 0);
    const Summary s = summary_of(t.children.back().output());
    CHECK(s.values == values);
    if (round == 1) CHECK(s.compiles == 0);
  }
}
