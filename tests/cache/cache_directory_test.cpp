// The directories of the kernel cache: where they are, layers, refusals, failing writes, size and age.
#include <chrono>

#include <sys/stat.h>
#include <tarry/error.h>
#include <unistd.h>

#include "cache/disk_layer.h"
#include "cache/kernel_cache.h"
#include "cache/walk.h"
#include "cache/write_lock.h"
#include "support/fault.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/processes.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
namespace fault = tarry::support::fault;
using namespace tarry::cache;
using namespace tarry::test;
using Catch::Contains;
using tarry::support::read_file;

TEST_CASE("cache: TARRY_CACHE_DIR=off keeps nothing on disk", "[cache]") {
  CacheDirectory directory;
  directory.dir.set("off");
  const CapturedLog captured;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Compiled) == 1);
  CHECK(captured.messages().empty());
}

TEST_CASE("cache: the directory is made private, below XDG_CACHE_HOME or HOME", "[cache]") {
  CacheDirectory directory;
  directory.dir.set("");
  ScopedSwitch home("HOME", (directory.base() / "home").string());
  ScopedSwitch xdg("XDG_CACHE_HOME", (directory.base() / "xdg").string());
  FakeBackend fake;
  fs::path expected = directory.base() / "xdg" / "tarry";
  SECTION("XDG_CACHE_HOME") {}
  SECTION("HOME, where XDG_CACHE_HOME is unset") {
    xdg.set("");
    expected = directory.base() / "home" / ".cache" / "tarry";
  }
  SECTION("HOME, where XDG_CACHE_HOME is relative") {
    xdg.set("relative");
    expected = directory.base() / "home" / ".cache" / "tarry";
  }
  fake.get_fresh(requests(0, 1));
  REQUIRE(fs::is_directory(expected));
  CHECK((fs::status(expected).permissions() & fs::perms::all) == fs::perms::owner_all);
}

TEST_CASE("cache: a directory that cannot be used costs one warning that names the switch", "[cache]") {
  CacheDirectory directory;
  ScopedSwitch home("HOME", "");
  ScopedSwitch xdg("XDG_CACHE_HOME", "");
  const fs::path root = directory.root();
  SECTION("no HOME") { directory.dir.set(""); }
  SECTION("a file in its place") { write(root, "file"); }
  SECTION("a file above it") {
    write(root, "file");
    directory.dir.set((root / "below").string());
  }
  SECTION("a parent where nothing can be made") {
    directory.dir.set("/proc/tarry" + directory.base().filename().string());
  }
  SECTION("others can write to it") {
    fs::create_directory(root);
    fs::permissions(root, fs::perms::all);
  }
  SECTION("its group can write to it") {
    fs::create_directory(root);
    fs::permissions(root, fs::perms::owner_all | fs::perms::group_write);
  }
  SECTION("it belongs to another user") {
    if (::geteuid() != 0) TARRY_SKIP("only root can give a directory away");
    fs::create_directory(root);
    REQUIRE(::chown(root.c_str(), 65534, 65534) == 0);
  }
  const CapturedLog captured;
  FakeBackend fake;
  for (int i = 0; i < 2; ++i) {
    KernelCache cache;
    CHECK(right(requests(0, 2), cache.get(requests(0, 2), fake.backend())));
    CHECK(right(requests(2, 2), cache.get(requests(2, 2), fake.backend())));
  }
  CHECK(fake.compiled == 8);
  REQUIRE(captured.messages().size() == 1);
  CHECK_THAT(captured.messages()[0], Contains("TARRY_CACHE_DIR"));
  CHECK((!fs::is_directory(root) || fs::is_empty(root)));
}

TEST_CASE("cache: entries that cannot be written cost one warning", "[cache]") {
  const CacheDirectory directory;
  fs::create_directory(directory.root());
  fs::permissions(directory.root(), fs::perms::owner_all);
  for (int i = 0; i < 256; ++i) {
    static constexpr char kDigits[] = "0123456789abcdef";
    write(directory.root() / std::string{kDigits[i / 16], kDigits[i % 16]}, "in the way");
  }
  const CapturedLog captured;
  FakeBackend fake;
  CacheStats stats;
  CHECK(right(requests(0, 20), fake.get_fresh(requests(0, 20), &stats)));
  CHECK(stats.write_failures == 20);
  REQUIRE(captured.messages().size() == 1);
  CHECK_THAT(captured.messages()[0], Contains("TARRY_CACHE_DIR"));
}

TEST_CASE("cache: whichever file call fails, the kernels are right", "[cache][fault]") {
  const CapturedLog captured;
  const CacheDirectory directory;
  FakeBackend fake;
  const auto asked = requests(0, 4);
  fake.get_fresh(requests(0, 2));
  fault::arm(fault::Site::File, 0);
  fake.get_fresh(asked);
  const std::uint64_t calls = fault::disarm();
  REQUIRE(calls >= 4);
  for (std::uint64_t k = 1; k <= calls + 2; ++k) {
    for (const fs::path& file : directory.files()) fs::remove(file);
    fake.get_fresh(requests(0, 2));
    fault::arm(fault::Site::File, k);
    const auto got = fake.get_fresh(asked);
    fault::disarm();
    INFO("call " << k);
    CHECK(right(asked, got));
    CHECK(right(asked, fake.get_fresh(asked)));
  }
}

TEST_CASE("cache: a writable entry of another compiler is a miss and is replaced", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  fake.compiler = "fake 2.0";
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Compiled) == 1);
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Disk) == 1);
  CHECK(directory.files().size() == 1);
}

TEST_CASE("cache: without a compiler entries are used, unless strict", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  fake.compiler = "";
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Disk) == 1);
  directory.strict.set("1");
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Compiled) == 1);
}

TEST_CASE("cache: a warmed directory hits from anywhere as a read-only layer", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  const auto asked = requests(0, 30);
  fake.get_fresh(asked);
  const fs::path moved = directory.base() / "elsewhere";
  fs::rename(directory.root(), moved);
  directory.path.set("/no/such/layer:" + moved.string());
  const CapturedLog captured;
  CacheStats stats;

  SECTION("beside a writable one") { CHECK(right(asked, fake.get_fresh(asked, &stats))); }
  SECTION("alone") {
    directory.dir.set("off");
    CHECK(right(asked, fake.get_fresh(asked, &stats)));
  }
  SECTION("made by another compiler: used and counted") {
    fake.compiler = "fake 2.0";
    CHECK(right(asked, fake.get_fresh(asked, &stats)));
    CHECK(stats.foreign_compiler == 30);
  }
  CHECK(stats.disk_hits == 30);
  CHECK(directory.files().empty());
}

TEST_CASE("cache: TARRY_CACHE_STRICT=1 refuses another compiler's kernels in read-only layers", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  directory.path.set(directory.root().string());
  directory.dir.set("off");
  directory.strict.set("1");
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Disk) == 1);
  fake.compiler = "fake 2.0";
  CacheStats stats;
  CHECK(count(fake.get_fresh(requests(0, 1), &stats), Hit::Compiled) == 1);
  CHECK(stats.foreign_compiler == 0);
}

TEST_CASE("cache: a defect in a read-only layer is a miss that is left alone", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  write(only_file(directory), "damaged");
  directory.path.set(directory.root().string());
  directory.dir.set((directory.base() / "writable").string());
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Compiled) == 1);
  CHECK(read_file(only_file(directory)) == "damaged");
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Disk) == 1);
}

TEST_CASE("cache: a read-only layer that others can write to is refused", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  fs::permissions(directory.root(), fs::perms::all);
  directory.path.set(directory.root().string());
  directory.dir.set("off");
  const CapturedLog captured;
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Compiled) == 1);
  REQUIRE(captured.messages().size() == 1);
  CHECK_THAT(captured.messages()[0], Contains("TARRY_CACHE_PATH"));
}

TEST_CASE("cache: switches are read again when they change", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  KernelCache cache;
  directory.dir.set("off");
  cache.get(requests(0, 1), fake.backend());
  CHECK(directory.files().empty());
  directory.dir.set(directory.root().string());
  cache.get(requests(1, 1), fake.backend());
  CHECK(directory.files().size() == 1);
}

TEST_CASE("cache: TARRY_REQUIRE_CACHED=1 turns a compile into NotCached that names the kernels", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  KernelCache cache;
  cache.get(requests(0, 2), fake.backend());
  directory.require_cached.set("1");
  CHECK(right(requests(0, 2), cache.get(requests(0, 2), fake.backend())));
  CHECK(count(fake.get_fresh(requests(0, 2)), Hit::Disk) == 2);
  try {
    fake.get_fresh(requests(1, 12));
    FAIL("did not throw");
  } catch (const tarry::NotCached& error) {
    const std::string what = error.what();
    CHECK_THAT(what, Contains("11 kernels") && Contains("kernel_2 ") && Contains("and 3 more"));
    CHECK_THAT(what, Contains(requests(2, 1)[0].key.hash().hex()));
  }
  CHECK(fake.compiled == 2);
  directory.require_cached.set("");
  CHECK(right(requests(1, 12), cache.get(requests(1, 12), fake.backend())));
}

TEST_CASE("cache: the directory stays below its size, least recently used first out", "[cache]") {
  CacheDirectory directory;
  directory.size.set("40k");
  FakeBackend fake;
  fake.get_fresh(requests(0, 1, 2000));
  const fs::path first = only_file(directory);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(5);
  for (int i = 1; i < 4; ++i) fake.get_fresh(requests(i, 1, 2000));
  for (const fs::path& file : directory.files()) fs::last_write_time(file, old);
  fs::last_write_time(first, old - std::chrono::hours(1));
  CHECK(count(fake.get_fresh(requests(0, 1, 2000)), Hit::Disk) == 1);  // the oldest, used again

  std::int64_t evicted = 0;
  std::uint64_t largest = 0;
  for (int i = 4; i < 20; ++i) {
    CacheStats stats;
    KernelCache cache;
    cache.get(requests(2 * i, 2, 2000), fake.backend());
    evicted += cache.stats().evicted;
    largest = std::max(largest, directory.bytes());
    fake.get_fresh(requests(0, 1, 2000), &stats);
    if (i < 6) CHECK(stats.disk_hits == 1);
  }
  CHECK(evicted > 0);
  CHECK(largest <= 40 * 1024);
  CHECK(largest > 20 * 1024);
}

TEST_CASE("cache: one writer stays below the size within one process too", "[cache]") {
  CacheDirectory directory;
  directory.size.set("40k");
  FakeBackend fake;
  KernelCache cache;
  for (int i = 0; i < 40; ++i) {
    cache.get(requests(i, 1, 1500), fake.backend());
    REQUIRE(directory.bytes() <= 40 * 1024 + 4 * 1024);
  }
  CHECK(directory.bytes() > 20 * 1024);
}

/// Counts while nobody writes: a walk beside writers meets entries that came after others it has counted were removed.
static std::uint64_t bytes_between_writes(const CacheDirectory& directory) {
  std::error_code error;
  const auto root = tarry::support::Directory::open(directory.root(), error);
  REQUIRE(root);
  const WriteLock lock(*root, std::chrono::minutes(1));
  return directory.bytes();
}

TEST_CASE("cache: many writers stay below the size together", "[cache][process]") {
  CacheDirectory directory;
  directory.size.set("40k");
  std::vector<pid_t> children;
  for (int p = 0; p < 8; ++p) {
    children.push_back(start_child([&] {
      FakeBackend fake;
      KernelCache cache;
      bool small = true;
      for (int i = 0; i < 20; ++i) {
        cache.get(requests(100 * p + i, 1, 1500), fake.backend());
        small = small && bytes_between_writes(directory) <= 40 * 1024;
      }
      return small && cache.stats().write_failures == 0;
    }));
  }
  for (const pid_t child : children) CHECK(wait_child(child) == 0);
  CHECK(directory.bytes() <= 40 * 1024);
  CHECK(directory.bytes() > 20 * 1024);
}

TEST_CASE("cache: a writer that is stopped with the lock holds nobody up for long", "[cache]") {
  CacheDirectory directory;
  directory.size.set("40k");
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  std::error_code error;
  const auto root = tarry::support::Directory::open(directory.root(), error);
  const WriteLock held(*root, std::chrono::seconds(1));
  const WriteLock second(*root, std::chrono::milliseconds(5));
  CHECK_FALSE(held.timed_out());
  CHECK(second.timed_out());
}

TEST_CASE("cache: what is larger than any kernel, or than its head says, is a miss and not read", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  const fs::path file = only_file(directory);
  std::string defect;
  SECTION("3 GiB") {
    fs::resize_file(file, std::uint64_t{3} << 30);
    defect = "larger than any kernel";
  }
  SECTION("1 MiB, in a head that says less") {
    fs::resize_file(file, std::uint64_t{1} << 20);
    defect = "its sizes do not add up";
  }
  std::string found;
  const auto opened = tarry::support::OpenFile::open(file);
  fault::arm(fault::Site::File, 0);
  CHECK_FALSE(read_entry(*opened, &found).has_value());
  CHECK(fault::disarm() <= 1);  // its beginning at most
  CHECK_THAT(found, Contains(defect));
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Compiled) == 1);
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Disk) == 1);
}

TEST_CASE("cache census: it counts what others wrote and removed since", "[cache]") {
  CacheDirectory directory;
  FakeBackend fake;
  Census census;
  std::error_code error;
  fake.get_fresh(requests(0, 1));
  const auto root = tarry::support::Directory::open(directory.root(), error);
  for (int i = 1; i < 40; ++i) {
    fake.get_fresh(requests(i, 1));
    REQUIRE(census.count(*root) == directory.bytes());
  }
  fs::remove(directory.files()[0]);
  CHECK(census.count(*root) == directory.bytes());
}

TEST_CASE("cache: a kernel larger than the whole cache pushes nothing out", "[cache]") {
  CacheDirectory directory;
  directory.size.set("20k");
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  CHECK(right(requests(1, 1, 30000), fake.get_fresh(requests(1, 1, 30000))));
  CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Disk) == 1);
}

TEST_CASE("cache: TARRY_CACHE_SIZE=0 is no limit", "[cache]") {
  CacheDirectory directory;
  directory.size.set("0");
  FakeBackend fake;
  fake.get_fresh(requests(0, 20, 2000));
  CHECK(directory.files().size() == 20);
}

TEST_CASE("cache sweep: the least recently used go first", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 6));
  std::vector<fs::path> files = directory.files();
  const auto now = fs::file_time_type::clock::now();
  for (std::size_t i = 0; i < files.size(); ++i) fs::last_write_time(files[i], now - std::chrono::hours(i));
  CHECK(sweep(directory.root(), directory.bytes()) == 0);
  CHECK(sweep(directory.root(), 3 * fs::file_size(files[0])) == 3);
  for (std::size_t i = 0; i < files.size(); ++i) CHECK(fs::exists(files[i]) == (i < 3));
}

TEST_CASE("cache sweep: foreign files stay, stale temporaries go, fresh ones stay", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  const fs::path entry = only_file(directory);
  const fs::path stale = entry.string() + ".tmp-0123456789abcdef", fresh = entry.string() + ".tmp-fedcba9876543210";
  const std::vector<fs::path> foreign{directory.root() / "README", directory.root() / "ab" / "notes.kernel",
                                      directory.root() / "other" / entry.filename()};
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const fs::path& file : {stale, fresh}) write(file, "half");
  for (const fs::path& file : foreign) write(file, "foreign");
  for (const fs::path& file : foreign) fs::last_write_time(file, old);
  fs::last_write_time(stale, old);
  CHECK(sweep(directory.root(), 0) == 1);
  CHECK_FALSE(fs::exists(entry));
  CHECK_FALSE(fs::exists(stale));
  CHECK(fs::exists(fresh));
  for (const fs::path& file : foreign) CHECK(fs::exists(file));
  CHECK(sweep(directory.base() / "missing", 0) == 0);
}

TEST_CASE("cache: a hit keeps an entry young", "[cache]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  const fs::path file = only_file(directory);
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(file, now - std::chrono::minutes(30));
  fake.get_fresh(requests(0, 1));
  CHECK(fs::last_write_time(file) < now - std::chrono::minutes(29));  // young enough: not touched
  fs::last_write_time(file, now - std::chrono::hours(2));
  fake.get_fresh(requests(0, 1));
  CHECK(fs::last_write_time(file) > now - std::chrono::minutes(1));
}
