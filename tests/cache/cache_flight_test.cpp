// One compile per kernel across processes and caches: locks, their owners' deaths, directories without locks, batches.
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <sys/stat.h>
#include <tarry/error.h>

#include "cache/disk_layer.h"
#include "cache/flight_lock.h"
#include "support/in_parallel.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/one_core.h"
#include "tests/helpers/processes.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
using namespace tarry::cache;
using namespace tarry::test;
using namespace std::chrono_literals;
using State = FlightLock::State;

namespace {

/// Waits until `done()`; false after twenty seconds.
template <class Done>
bool eventually(const Done& done) {
  for (const auto deadline = std::chrono::steady_clock::now() + 20s; !done();) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

fs::path lock_of(const CacheDirectory& directory, const KernelRequest& r) {
  return DiskLayer(directory.root(), Access::ReadWrite).lock_file(r.key.material());
}

/// Starts a process and waits until it is in the middle of compiling `asked`, where it does `then`.
template <class Then>
pid_t start_owner(const std::vector<KernelRequest>& asked, const Then& then) {
  SharedCounter compiling;
  const pid_t owner = start_child([&] {
    FakeBackend fake;
    fake.on_compile = [&] {
      compiling.add();
      then();
    };
    return right(asked, fake.get_fresh(asked));
  });
  const int batches = static_cast<int>(std::min(asked.size(), tarry::support::all_cores()));
  REQUIRE(eventually([&] { return compiling.value() == batches; }));
  return owner;
}

}  // namespace

TEST_CASE("cache flight: sixteen processes on one cold directory compile every kernel once", "[cache][process]") {
  const CacheDirectory directory;
  const auto asked = distinct_requests(20);
  SharedCounter compiled, disk_hits;
  std::vector<pid_t> children;
  for (unsigned p = 0; p < 16; ++p) {
    children.push_back(start_child([&, p] {
      auto mine = asked;
      std::shuffle(mine.begin(), mine.end(), std::minstd_rand(p + 1));
      FakeBackend fake;
      fake.on_compile = [] { std::this_thread::sleep_for(20ms); };
      CacheStats stats;
      const bool good = right(mine, fake.get_fresh(mine, &stats));
      compiled.add(static_cast<int>(stats.compiles));
      disk_hits.add(static_cast<int>(stats.disk_hits));
      return good;
    }));
  }
  for (const pid_t child : children) CHECK(wait_child(child) == 0);
  CHECK(compiled.value() == 20);
  CHECK(disk_hits.value() == 15 * 20);
  CHECK(directory.files().size() == 20);  // no lock is left
}

TEST_CASE("cache flight: two caches of one process compile a kernel once", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.on_compile = [] { std::this_thread::sleep_for(20ms); };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) threads.emplace_back([&] { fake.get_fresh(distinct_requests(3)); });
  }
  CHECK(fake.compiled == 3);
}

TEST_CASE("cache flight: a killed owner's kernels are compiled by who waits for them", "[cache][process]") {
  const CacheDirectory directory;
  const auto asked = distinct_requests(3);
  const pid_t owner = start_owner(asked, [] { std::this_thread::sleep_for(60s); });
  FakeBackend fake;
  CacheStats stats;
  bool good = false;
  {
    std::jthread waiter([&] { good = right(asked, fake.get_fresh(asked, &stats)); });
    std::this_thread::sleep_for(50ms);
    CHECK(fake.compiled == 0);
    ::kill(owner, SIGKILL);
    CHECK(wait_child(owner) == 128 + SIGKILL);
  }
  CHECK(good);
  CHECK(stats.compiles == 3);
  CHECK(directory.files().size() == 3);
}

TEST_CASE("cache flight: what another process compiles is waited for, the rest is compiled meanwhile",
          "[cache][process]") {
  const CacheDirectory directory;
  const auto asked = distinct_requests(4);
  SharedCounter may_end;
  const pid_t owner = start_owner({asked[1]}, [&] { eventually([&] { return may_end.value() != 0; }); });
  FakeBackend fake;
  CacheStats stats;
  bool good = false;
  {
    std::jthread waiter([&] { good = right(asked, fake.get_fresh(asked, &stats)); });
    CHECK(eventually([&] { return directory.files().size() == 4; }));  // three entries and the owner's lock
    may_end.add();
    CHECK(wait_child(owner) == 0);
  }
  CHECK(good);
  CHECK(stats.compiles == 3);
  CHECK(stats.disk_hits == 1);
}

TEST_CASE("cache flight: an owner whose compile fails leaves the kernel to the others", "[cache][process]") {
  const CacheDirectory directory;
  const auto asked = distinct_requests(1);
  const pid_t owner = start_owner(asked, [] {
    std::this_thread::sleep_for(50ms);
    throw tarry::CompileError("", {}, "no good");
  });
  FakeBackend fake;
  CHECK(count(fake.get_fresh(asked), Hit::Compiled) == 1);
  CHECK(wait_child(owner) == 1);
}

TEST_CASE("cache flight: a directory where nothing can be locked costs nothing but compiles", "[cache]") {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> plant;
  };
  const Row rows[] = {
      {"a directory", [](const fs::path& p) { fs::create_directories(p); }},
      {"a pipe", [](const fs::path& p) { REQUIRE(::mkfifo(p.c_str(), 0600) == 0); }},
      {"a link to itself", [](const fs::path& p) { fs::create_symlink(p, p); }},
      {"a link to a file elsewhere", [](const fs::path& p) { fs::create_symlink("/etc/hostname", p); }},
  };
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.name << " in the place of the lock") {
      const CacheDirectory directory;
      const CapturedLog captured;
      const auto asked = requests(0, 1);
      const fs::path lock = lock_of(directory, asked[0]);
      fs::create_directories(lock.parent_path());
      fs::permissions(directory.root(), fs::perms::owner_all);
      row.plant(lock);
      FakeBackend fake;
      CHECK(right(asked, fake.get_fresh(asked)));
      CHECK(count(fake.get_fresh(asked), Hit::Disk) == 1);
      CHECK(captured.messages().empty());
    }
  }
}

TEST_CASE("cache flight: a lock is held once, and its file goes with it", "[cache]") {
  const CacheDirectory directory;
  const fs::path file = directory.root() / "ab" / "kernel.lock";
  {
    const FlightLock first(file);
    CHECK(first.state() == State::Held);
    CHECK(FlightLock(file).state() == State::Busy);
    CHECK(fs::exists(file));  // whoever found it busy left it alone
    CHECK(wait_for_owner(file, 5ms) == Outcome::TimedOut);
  }
  CHECK_FALSE(fs::exists(file));
  CHECK(wait_for_owner(file, 5ms) == Outcome::Ended);
  CHECK(FlightLock(file).state() == State::Held);
}

TEST_CASE("cache flight: a lock whose file was removed does not keep others out, nor remove their file", "[cache]") {
  const CacheDirectory directory;
  const fs::path file = directory.root() / "ab" / "kernel.lock";
  auto first = std::make_unique<FlightLock>(file);
  fs::remove_all(directory.root());
  const FlightLock second(file);
  CHECK(second.state() == State::Held);
  first.reset();
  CHECK(fs::exists(file));
}

TEST_CASE("cache flight: a child that is forked meanwhile does not keep the lock", "[cache][process]") {
  const CacheDirectory directory;
  const fs::path file = directory.root() / "ab" / "kernel.lock";
  SharedCounter may_end;
  pid_t child = 0;
  {
    const FlightLock lock(file);
    child = start_child([&] { return eventually([&] { return may_end.value() != 0; }); });
  }
  CHECK(FlightLock(file).state() == State::Held);
  may_end.add();
  CHECK(wait_child(child) == 0);
}

TEST_CASE("cache flight: locks that the dead left are swept, those of the living stay", "[cache]") {
  const CacheDirectory directory;
  const fs::path dead = lock_of(directory, request(0)), living = lock_of(directory, request(1));
  const fs::path recent = lock_of(directory, request(2)), foreign = directory.root() / "ab" / "my.lock";
  const FlightLock held(living);
  for (const fs::path& file : {dead, recent, foreign}) write(file, "");
  const auto old = fs::file_time_type::clock::now() - 2h;
  for (const fs::path& file : {dead, living, foreign}) fs::last_write_time(file, old);
  CHECK(sweep(directory.root(), 0) == 0);  // locks are no entries
  CHECK_FALSE(fs::exists(dead));
  CHECK(fs::exists(living));
  CHECK(fs::exists(recent));
  CHECK(fs::exists(foreign));
}

TEST_CASE("cache batch: kernels of equal symbol and different text never share one", "[cache]") {
  const CacheDirectory directory;
  std::vector<KernelRequest> asked = requests(0, 6);
  for (int i = 0; i < 3; ++i) {
    asked.push_back(request(0));
    asked.back().key.text += "// variant " + std::to_string(i);
  }
  FakeBackend fake;
  const auto got = fake.get_fresh(asked);
  CHECK(right(asked, got));
  CHECK(count(got, Hit::Compiled) == 9);
  CHECK(fake.batches >= 4);
  const auto again = fake.get_fresh(asked);
  CHECK(right(asked, again));
}

TEST_CASE("cache batch: kernels of different options, targets or modes never share one", "[cache]") {
  const CacheDirectory directory;
  std::vector<KernelRequest> asked = requests(0, 8);
  asked[1].key.options = asked[5].key.options = "-O1";
  asked[2].key.target = asked[6].key.target = "fake_2";
  asked[3].key.mode = asked[7].key.mode = "relaxed";
  const OneCore few_batches;
  FakeBackend fake;
  CHECK(right(asked, fake.get_fresh(asked)));
  CHECK(fake.batches == 4);
  CHECK(fake.largest_batch == 2);
}
