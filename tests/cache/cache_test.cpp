// KernelCache within one process: keys, entries, hits, defects, batches, single flight, errors.
#include "cache/kernel_cache.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <thread>

#include <sys/stat.h>
#include <tarry/error.h>
#include <unistd.h>

#include "cache/batches.h"
#include "cache/disk_layer.h"
#include "cache/entry_format.h"
#include "support/fault.h"
#include "support/in_parallel.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/one_core.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
namespace fault = tarry::support::fault;
using namespace tarry::cache;
using namespace tarry::test;
using Catch::Contains;
using tarry::support::read_file;

namespace {

const Entry kEntry{"material", "fake 1.0", "kernel", "log", std::string("im\0age", 6)};

std::string with_checksum(std::string body) {
  const auto sum = tarry::support::checksum_bytes(body);
  for (const std::uint64_t half : {sum.lo, sum.hi}) {
    for (int i = 0; i < 8; ++i) body += static_cast<char>(half >> (8 * i) & 255);
  }
  return body;
}

std::string body_of(const std::string& bytes) { return bytes.substr(0, bytes.size() - 16); }

std::string with_version(const std::string& bytes, char version) {
  std::string body = body_of(bytes);
  body[8] = version;
  return with_checksum(body);
}

std::string with_size(const std::string& bytes, std::size_t part, char low, char high) {
  std::string body = body_of(bytes);
  body[12 + 8 * part] = low;
  body[12 + 8 * part + 7] = high;
  return with_checksum(body);
}

/// Waits until `count` threads have arrived; false after ten seconds.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  bool arrive() {
    std::unique_lock lock(mutex_);
    --missing_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
};

}  // namespace

TEST_CASE("cache key: every field changes the material, and no field can imitate another", "[cache]") {
  const KernelKey key{"text", "options", "target", "mode"};
  std::vector<KernelKey> others(5, key);
  others[0].text += "x";
  others[1].options += "x";
  others[2].target += "x";
  others[3].mode += "x";
  others[4].options = "options\ntext 4\ntext";
  for (const KernelKey& other : others) CHECK(other.material() != key.material());
  CHECK(KernelKey(key).material() == key.material());
  CHECK(key.hash() == tarry::support::hash_bytes(key.material()));
}

TEST_CASE("cache entry: what was encoded is decoded", "[cache]") {
  const auto entry = decode(encode(kEntry));
  REQUIRE(entry.has_value());
  CHECK(entry->material == kEntry.material);
  CHECK(entry->compiler == kEntry.compiler);
  CHECK(entry->name == kEntry.name);
  CHECK(entry->log == kEntry.log);
  CHECK(entry->image == kEntry.image);
  CHECK(decode(encode(Entry{})).has_value());
}

TEST_CASE("cache entry: every truncation and every flipped bit is noticed", "[cache]") {
  const std::string bytes = encode(kEntry);
  int accepted = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) accepted += decode(bytes.substr(0, size)) ? 1 : 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    accepted += decode(damaged) ? 1 : 0;
  }
  CHECK(accepted == 0);
}

TEST_CASE("cache entry: sizes that do not add up are refused even with a right checksum", "[cache]") {
  const std::string bytes = encode(kEntry);
  REQUIRE(decode(with_size(bytes, 0, 8, 0)).has_value());  // 8 is right: the material is 8 bytes long
  for (std::size_t part = 0; part < 5; ++part) {
    CHECK_FALSE(decode(with_size(bytes, part, '\x7f', 0)).has_value());
    CHECK_FALSE(decode(with_size(bytes, part, 0, 0)).has_value());
    CHECK_FALSE(decode(with_size(bytes, part, '\xff', '\xff')).has_value());
  }
  CHECK_FALSE(decode(with_checksum(body_of(bytes) + "more")).has_value());
  CHECK_FALSE(decode(with_version(bytes, kFormatVersion + 1)).has_value());
}

TEST_CASE("cache: a kernel is compiled, then found in memory, then on disk", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  KernelCache cache;
  const auto asked = requests(0, 3);
  const auto compiled = cache.get(asked, fake.backend());
  CHECK(count(compiled, Hit::Compiled) == 3);
  CHECK(right(asked, compiled));
  const auto again = cache.get(asked, fake.backend());
  CHECK(count(again, Hit::Memory) == 3);
  CHECK(again[0].executable == compiled[0].executable);
  cache.clear_memory();
  const auto loaded = cache.get(asked, fake.backend());
  CHECK(count(loaded, Hit::Disk) == 3);
  CHECK(right(asked, loaded));
  const CacheStats stats = cache.stats();
  CHECK(stats.compiles == 3);
  CHECK(stats.memory_hits == 3);
  CHECK(stats.disk_hits == 3);
  CHECK(static_cast<std::size_t>(stats.compile_batches) == fake.batches);
  CHECK(directory.files().size() == 3);
}

TEST_CASE("cache: an empty request is answered without touching anything", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  CHECK(fake.get_fresh({}).empty());
  CHECK_FALSE(fs::exists(directory.root()));
}

TEST_CASE("cache: the compiler's log comes back with a disk hit", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  std::vector<std::string> logs;
  fake.on_load = [&](const KernelRequest&, const Binary& binary) { logs.push_back(binary.log); };
  fake.get_fresh(requests(0, 1));
  fake.get_fresh(requests(0, 1));
  CHECK(logs == std::vector<std::string>{"0 spills", "0 spills"});
}

TEST_CASE("cache: a kernel knows what its compiler said of its registers, from disk too", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.log =
      "ptxas info    : Compiling entry function 'kernel_1' for 'sm_90'\n"
      "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n";
  for (int time = 0; time < 2; ++time) {
    const auto got = fake.get_fresh(requests(0, 2));
    CHECK(got[0].executable->spilled_bytes == 0);
    CHECK(got[1].executable->spilled_bytes == 20);
  }
  CHECK(fake.compiled == 2);
}

TEST_CASE("cache: kernels of one batch load from disk on their own", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 8));
  const auto asked = requests(5, 1);
  const auto got = fake.get_fresh(asked);
  CHECK(count(got, Hit::Disk) == 1);
  CHECK(right(asked, got));
}

TEST_CASE("cache: any defect of an entry is a miss that heals", "[cache]") {
  struct Row {
    const char* name;
    std::function<std::string(const std::string&)> damage;
  };
  const Row rows[] = {
      {"empty", [](const std::string&) { return std::string(); }},
      {"one byte", [](const std::string& s) { return s.substr(0, 1); }},
      {"magic only", [](const std::string& s) { return s.substr(0, 8); }},
      {"cut in the sizes", [](const std::string& s) { return s.substr(0, 30); }},
      {"header only", [](const std::string& s) { return s.substr(0, 52); }},
      {"cut in the material", [](const std::string& s) { return s.substr(0, 60); }},
      {"no checksum", [](const std::string& s) { return s.substr(0, s.size() - 16); }},
      {"last byte missing", [](const std::string& s) { return s.substr(0, s.size() - 1); }},
      {"a byte too many", [](const std::string& s) { return s + '\n'; }},
      {"a bit of the magic", [](std::string s) { return s[3] ^= 4, s; }},
      {"a bit of the material", [](std::string s) { return s[70] ^= 1, s; }},
      {"a bit of the image", [](std::string s) { return s[s.size() - 20] ^= 64, s; }},
      {"a bit of the checksum", [](std::string s) { return s.back() ^= 1, s; }},
      {"another version", [](const std::string& s) { return with_version(s, kFormatVersion + 1); }},
      {"zeros", [](const std::string& s) { return std::string(s.size(), '\0'); }},
      {"a foreign file", [](const std::string&) { return std::string("#!/bin/sh\necho hello\n"); }},
      {"other material",
       [](const std::string&) {
         Entry other = kEntry;
         other.material = request(99).key.material();
         return encode(other);
       }},
  };
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.name) {
      const CacheDirectory directory;
      const CapturedLog captured;
      FakeBackend fake;
      const auto asked = requests(0, 1);
      fake.get_fresh(asked);
      const fs::path file = only_file(directory);
      write(file, row.damage(*read_file(file)));
      CacheStats stats;
      const auto got = fake.get_fresh(asked, &stats);
      CHECK(count(got, Hit::Compiled) == 1);
      CHECK(right(asked, got));
      CHECK(stats.write_failures == 0);
      CHECK(count(fake.get_fresh(asked), Hit::Disk) == 1);
      CHECK(captured.messages().empty());
    }
  }
}

TEST_CASE("cache: something that is no file in the place of an entry is a miss that heals", "[cache]") {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> plant;
  };
  const Row rows[] = {
      {"directory", [](const fs::path& p) { fs::create_directory(p); }},
      {"directory with a file", [](const fs::path& p) { write(p / "f", "f"); }},
      {"pipe", [](const fs::path& p) { REQUIRE(::mkfifo(p.c_str(), 0600) == 0); }},
      {"dangling link", [](const fs::path& p) { fs::create_symlink("/no/such/file", p); }},
      {"link to itself", [](const fs::path& p) { fs::create_symlink(p, p); }},
      {"nothing, nor the directory above", [](const fs::path& p) { fs::remove_all(p.parent_path()); }},
      {"nothing, nor the cache", [](const fs::path& p) { fs::remove_all(p.parent_path().parent_path()); }},
  };
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.name) {
      const CacheDirectory directory;
      const CapturedLog captured;
      FakeBackend fake;
      const auto asked = requests(0, 1);
      fake.get_fresh(asked);
      const fs::path file = only_file(directory);
      fs::remove(file);
      row.plant(file);
      CHECK(right(asked, fake.get_fresh(asked)));
      CHECK(count(fake.get_fresh(asked), Hit::Disk) == 1);
      CHECK(fake.compiled == 2);
      CHECK(captured.messages().empty());
    }
  }
}

TEST_CASE("cache: kernels of equal hash live side by side", "[cache]") {
  const CacheDirectory directory;
  DiskLayer layer(directory.root(), Access::ReadWrite);
  // Seen through 8 bits many of these clash; through 128 none does. Both must find every one.
  Entry entry = kEntry;
  for (int i = 0; i < 40; ++i) {
    entry.material = "material " + std::to_string(i);
    REQUIRE_FALSE(layer.write(entry).error);
  }
  for (int i = 0; i < 40; ++i) {
    const std::string material = "material " + std::to_string(i);
    REQUIRE(layer.read(material).value_or(Entry{}).material == material);
  }
}

TEST_CASE("cache: an entry whose image does not load is compiled again", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  const auto asked = requests(0, 1);
  fake.get_fresh(asked);
  Entry entry = *decode(*read_file(only_file(directory)));
  entry.image = "nothing";
  write(only_file(directory), encode(entry));
  CacheStats stats;
  CHECK(right(asked, fake.get_fresh(asked, &stats)));
  CHECK(stats.load_failures == 1);
  CHECK(stats.compiles == 1);
  CHECK(count(fake.get_fresh(asked), Hit::Disk) == 1);
}

TEST_CASE("cache: running out of memory while loading says nothing about the entry", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  const auto asked = requests(0, 1);
  fake.get_fresh(asked);
  fake.on_load = [](const auto&, const auto&) { throw tarry::OutOfMemory("", {}, "device full"); };
  CHECK_THROWS_AS(fake.get_fresh(asked), tarry::OutOfMemory);
  fake.on_load = [](const auto&, const auto&) {};
  CHECK(count(fake.get_fresh(asked), Hit::Disk) == 1);
}

TEST_CASE("cache: memory holds the most recently used kernels up to its capacity", "[cache]") {
  CacheDirectory directory;
  directory.dir.set("off");
  FakeBackend fake;
  KernelCache cache(3);
  for (const int i : {0, 1, 2, 0, 3}) cache.get(requests(i, 1), fake.backend());  // 1 goes
  CHECK(fake.compiled == 4);
  for (const int i : {0, 2, 3}) CHECK(count(cache.get(requests(i, 1), fake.backend()), Hit::Memory) == 1);
  CHECK(count(cache.get(requests(1, 1), fake.backend()), Hit::Compiled) == 1);
}

TEST_CASE("cache: more kernels than memory holds are all returned", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  KernelCache cache(2);
  CHECK(right(requests(0, 30), cache.get(requests(0, 30), fake.backend())));
  CHECK(right(requests(0, 30), cache.get(requests(0, 30), fake.backend())));
}

TEST_CASE("cache: every core has a batch, and a batch holds at most eight kernels", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  CacheStats stats;
  const auto asked = requests(0, 20);
  CHECK(right(asked, fake.get_fresh(asked, &stats)));
  CHECK(fake.batches == std::clamp<std::size_t>(tarry::support::all_cores(), 3, 20));
  CHECK(fake.largest_batch <= 8);
  CHECK(static_cast<std::size_t>(stats.compile_batches) == fake.batches);
  CHECK(stats.compiles == 20);
}

TEST_CASE("cache: the longest kernels begin, and batches are of like length", "[cache]") {
  using Sizes = std::vector<std::vector<std::size_t>>;
  std::vector<KernelRequest> asked;
  for (const std::size_t size : {100, 900, 200, 300, 400, 500}) asked.push_back(request(static_cast<int>(size), size));
  const auto sizes = [&](std::size_t workers) {
    Sizes found;
    for (const auto& batch : batches_of<KernelRequest>(asked, workers, std::identity{})) {
      found.emplace_back();
      for (const KernelRequest& r : batch) found.back().push_back(r.key.text.size());
    }
    return found;
  };
  CHECK(sizes(1) == Sizes{{900, 500, 400, 300, 200, 100}});
  CHECK(sizes(2) == Sizes{{900, 300}, {500, 400, 200, 100}});
  CHECK(sizes(16) == Sizes{{900}, {500}, {400}, {300}, {200}, {100}});
}

TEST_CASE("cache: batches compile in parallel", "[cache]") {
  if (tarry::support::all_cores() < 2) TARRY_SKIP("one core");
  const CacheDirectory directory;
  FakeBackend fake;
  Meeting meeting(2);
  std::atomic<int> met{0};
  fake.on_compile = [&] { met += meeting.arrive() ? 1 : 0; };
  fake.get_fresh(requests(0, 16));
  CHECK(met >= 2);
}

TEST_CASE("cache: the same kernel twice in one call compiles once", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  const std::vector<KernelRequest> asked{request(0), request(1), request(0)};
  CacheStats stats;
  const auto got = fake.get_fresh(asked, &stats);
  CHECK(right(asked, got));
  CHECK(got[0].executable == got[2].executable);
  CHECK(fake.compiled == 2);
  CHECK(stats.compiles + stats.memory_hits == 3);
}

TEST_CASE("cache: sixteen threads that ask for one kernel compile it once", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  fake.on_compile = [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  KernelCache cache;
  Meeting start(16);
  std::atomic<std::size_t> compiled{0}, good{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      start.arrive();
      const auto got = cache.get(requests(0, 1), fake.backend());
      compiled += count(got, Hit::Compiled);
      good += right(requests(0, 1), got) ? 1 : 0;
    });
  }
  threads.clear();
  CHECK(fake.compiled == 1);
  CHECK(compiled == 1);
  CHECK(good == 16);
  CHECK(cache.stats().memory_hits == 15);
}

TEST_CASE("cache: threads that need each other's kernels in any order all finish", "[cache]") {
  CacheDirectory directory;
  directory.dir.set("off");
  for (int round = 0; round < 20; ++round) {
    FakeBackend fake;
    KernelCache cache;
    std::atomic<int> good{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([&, t] {
        auto asked = requests(0, 20);
        std::rotate(asked.begin(), asked.begin() + 3 * t, asked.end());
        if (t % 2 == 1) std::reverse(asked.begin(), asked.end());
        good += right(asked, cache.get(asked, fake.backend())) ? 1 : 0;
      });
    }
    threads.clear();
    REQUIRE(good == 6);
    REQUIRE(fake.compiled == 20);
  }
}

TEST_CASE("cache: a kernel that compiles does not hold up another", "[cache]") {
  const CacheDirectory directory;
  FakeBackend slow, quick;
  Meeting begun(2), done(2);
  slow.on_compile = [&] {
    begun.arrive();
    CHECK(done.arrive());
  };
  KernelCache cache;
  std::jthread other([&] { cache.get(requests(0, 1), slow.backend()); });
  begun.arrive();
  CHECK(right(requests(1, 1), cache.get(requests(1, 1), quick.backend())));
  done.arrive();
}

TEST_CASE("cache: an exception reaches everyone who waits, and a later call tries again", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  std::atomic<bool> broken{true};
  fake.on_compile = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (broken) throw tarry::CompileError("", {}, "no good");
  };
  KernelCache cache;
  Meeting start(8);
  std::atomic<int> thrown{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      start.arrive();
      try {
        cache.get(requests(0, 3), fake.backend());
      } catch (const tarry::CompileError&) {
        ++thrown;
      }
    });
  }
  threads.clear();
  CHECK(thrown == 8);
  CHECK(directory.files().empty());
  broken = false;
  CHECK(right(requests(0, 3), cache.get(requests(0, 3), fake.backend())));
}

TEST_CASE("cache: where nothing compiles, what the layers hold is loaded and the rest has no executable", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 2));
  Maker without = fake.backend();
  without.compile = [](auto) { return std::optional<Binary>(); };
  without.compiler = [] { return std::string(); };
  KernelCache cache;
  const auto got = cache.get(requests(0, 3), without);
  CHECK((got[0].hit == Hit::Disk && got[1].hit == Hit::Disk && got[2].hit == Hit::None));
  CHECK((got[1].executable != nullptr && got[2].executable == nullptr));
  CHECK(cache.stats().compiles == 0);
  CHECK(cache.get(requests(2, 1), fake.backend())[0].hit == Hit::Compiled);  // a later call asks again
  directory.require_cached.set("1");
  CHECK_THROWS_AS(cache.get(requests(3, 1), without), tarry::NotCached);
}

TEST_CASE("cache: finding loads what is there and makes nothing", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  KernelCache cache;
  const auto found = cache.find(requests(0, 2), fake.backend());
  CHECK((found[0].hit == Hit::Disk && found[1].hit == Hit::None));
  CHECK(cache.find(requests(0, 1), fake.backend())[0].hit == Hit::Memory);
  CHECK(fake.compiled == 1);
  CHECK(cache.misses().empty());
}

TEST_CASE("cache: one batch that fails leaves the kernels of the others", "[cache]") {
  const CacheDirectory directory;
  const OneCore three_batches;
  FakeBackend fake;
  std::atomic<int> calls{0};
  fake.on_compile = [&] {
    if (++calls == 2) throw tarry::CompileError("", {}, "no good");
  };
  KernelCache cache;
  CHECK_THROWS_AS(cache.get(requests(0, 24), fake.backend()), tarry::CompileError);
  CHECK(cache.stats().compiles == 16);
  CHECK(right(requests(0, 24), cache.get(requests(0, 24), fake.backend())));
  CHECK(cache.stats().compiles == 24);
}

TEST_CASE("cache: a fresh binary that does not load is that kernel's failure alone", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.on_load = [](const KernelRequest& r, const Binary&) {
    if (r.entry == "kernel_1") throw tarry::DeviceError("", {}, "does not load");
  };
  KernelCache cache;
  CHECK_THROWS_AS(cache.get(requests(0, 3), fake.backend()), tarry::DeviceError);
  CHECK(cache.stats().load_failures == 1);
  CHECK(right(requests(2, 1), cache.get(requests(2, 1), fake.backend())));
  CHECK(fake.compiled == 3);
  CHECK(directory.files().size() == 2);
}
