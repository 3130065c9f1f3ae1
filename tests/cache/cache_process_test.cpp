// One cache directory and several processes: cold starts together, kills at any moment, limits, other users.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/file.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/processes.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
using namespace tarry::cache;
using namespace tarry::test;

namespace {

std::vector<KernelRequest> shuffled(std::vector<KernelRequest> asked, unsigned seed) {
  std::shuffle(asked.begin(), asked.end(), std::minstd_rand(seed));
  return asked;
}

constexpr int kProcesses = 8;

}  // namespace

TEST_CASE("cache processes: eight on one cold directory all get the right kernels and leave a warm one",
          "[cache][process]") {
  const CacheDirectory directory;
  const auto asked = distinct_requests(8, 5000);
  std::vector<pid_t> children;
  for (unsigned p = 0; p < kProcesses; ++p) {
    children.push_back(start_child([&] {
      FakeBackend fake;
      CacheStats stats;
      const auto mine = shuffled(asked, p + 1);
      return right(mine, fake.get_fresh(mine, &stats)) && stats.write_failures == 0 && stats.load_failures == 0;
    }));
  }
  for (const pid_t child : children) CHECK(wait_child(child) == 0);
  FakeBackend fake;
  const auto got = fake.get_fresh(asked);
  CHECK(count(got, Hit::Disk) == 8);
  CHECK(right(asked, got));
  CHECK(directory.files().size() == 8);  // no temporary is left
}

TEST_CASE("cache processes: a kill at any moment leaves nothing wrong", "[cache][process]") {
  const CacheDirectory directory;
  const auto asked = distinct_requests(8, 20000);
  const auto work = [&](unsigned seed) {
    FakeBackend fake;
    for (unsigned round = 0;; ++round) {
      const auto mine = shuffled(asked, seed + round);
      CacheStats stats;
      if (!right(mine, fake.get_fresh(mine, &stats)) || stats.load_failures != 0) return false;
      std::error_code ignored;
      for (const fs::path& file : directory.files()) {  // keeps every process writing
        if (file.extension() == ".kernel") fs::remove(file, ignored);
      }
    }
  };
  std::minstd_rand random(7);
  std::vector<pid_t> children;
  for (unsigned p = 0; p < kProcesses; ++p) children.push_back(start_child([&] { return work(100 * p); }));
  for (const pid_t child : children) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
    ::kill(child, SIGKILL);
    CHECK(wait_child(child) == 128 + SIGKILL);  // anything else: it met a wrong kernel before
  }
  FakeBackend fake;
  CHECK(right(asked, fake.get_fresh(asked)));
  CHECK(count(fake.get_fresh(asked), Hit::Disk) == 8);
}

TEST_CASE("cache processes: eviction by one process never harms another", "[cache][process]") {
  CacheDirectory directory;
  directory.size.set("60k");
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    children.push_back(start_child([&] {
      FakeBackend fake;
      for (int round = 0; round < 20; ++round) {
        const auto asked = requests(2 * (round + p) % 24, 6, 1500);
        CacheStats stats;
        if (!right(asked, fake.get_fresh(asked, &stats)) || stats.write_failures != 0) return false;
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(wait_child(child) == 0);
}

TEST_CASE("cache processes: a disk that is full costs one warning and leaves no part of a file", "[cache][process]") {
  const CacheDirectory directory;
  const pid_t child = start_child([] {
    ::signal(SIGXFSZ, SIG_IGN);  // so that write() fails after 1000 bytes, as it does on a full disk
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const CapturedLog captured;
    FakeBackend fake;
    CacheStats stats;
    const auto asked = requests(0, 3, 5000);
    return right(asked, fake.get_fresh(asked, &stats)) && stats.write_failures == 3 &&
           captured.messages().size() == 1 && captured.messages()[0].find("TARRY_CACHE_DIR") != std::string::npos;
  });
  CHECK(wait_child(child) == 0);
  CHECK(directory.files().empty());
}

TEST_CASE("cache processes: a directory without the right to write is read, with one warning", "[cache][process]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 2));
  const bool root = ::geteuid() == 0;
  constexpr uid_t kNobody = 65534;
  if (root) {  // root may write anywhere: give all of it to somebody who may not
    fs::permissions(directory.base(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    REQUIRE(::chown(directory.root().c_str(), kNobody, kNobody) == 0);
    for (const auto& found : fs::recursive_directory_iterator(directory.root())) {
      REQUIRE(::chown(found.path().c_str(), kNobody, kNobody) == 0);
    }
  }
  std::vector<fs::path> directories{directory.root()};
  for (const auto& found : fs::directory_iterator(directory.root())) directories.push_back(found.path());
  for (const fs::path& d : directories) fs::permissions(d, fs::perms::owner_read | fs::perms::owner_exec);
  const std::size_t files = directory.files().size();

  const pid_t child = start_child([&] {
    if (root && ::setuid(kNobody) != 0) return false;
    const CapturedLog captured;
    FakeBackend other;
    CacheStats stats;
    const auto asked = requests(0, 6);
    return right(asked, other.get_fresh(asked, &stats)) && stats.disk_hits == 2 && stats.compiles == 4 &&
           stats.write_failures == 4 && captured.messages().size() == 1;
  });
  CHECK(wait_child(child) == 0);
  CHECK(directory.files().size() == files);
  for (const fs::path& d : directories) fs::permissions(d, fs::perms::owner_all);
}

TEST_CASE("cache processes: a cache that one process warms serves the next", "[cache][process]") {
  CacheDirectory directory;
  const pid_t warmer = start_child([] {
    FakeBackend fake;
    return right(requests(0, 20), fake.get_fresh(requests(0, 20)));
  });
  REQUIRE(wait_child(warmer) == 0);
  directory.require_cached.set("1");
  FakeBackend fake;
  CHECK(count(fake.get_fresh(requests(0, 20)), Hit::Disk) == 20);
}
