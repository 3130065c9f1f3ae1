// Bundles: one file of many kernels, as a layer, damaged, replaced, distrusted; files that stay open.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cache/bundle.h"
#include "cache/disk_store.h"
#include "support/fault.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
using namespace tarry::cache;
using namespace tarry::test;
using Catch::Contains;
using tarry::support::OpenFile;
using tarry::support::read_file;

namespace {

/// Entries as batches of four leave them: each with a key of its own and the image of all four.
std::vector<Entry> batched_entries(int count) {
  std::vector<Entry> entries;
  for (int i = 0; i < count; ++i) {
    const KernelRequest r = request(i);
    std::string image;
    for (int k = i / 4 * 4; k < i / 4 * 4 + 4; ++k) image += request(k).entry + "=" + request(k).key.text + "\n";
    entries.push_back({r.key.material(), "fake 1.0", r.entry, "0 spills", image});
  }
  return entries;
}

bool equal(const Entry& a, const Entry& b) {
  return a.material == b.material && a.compiler == b.compiler && a.name == b.name && a.log == b.log &&
         a.image == b.image;
}

std::unique_ptr<BundleLayer> open_bundle(const fs::path& file) {
  std::string why;
  auto layer = BundleLayer::open(file, why);
  INFO(why);
  REQUIRE(layer != nullptr);
  return layer;
}

struct Visited {
  std::vector<Entry> entries;
  std::vector<std::string> defects;
  std::uint64_t bytes = 0;
};

Visited visit_all(Layer& layer) {
  Visited all;
  layer.visit([&](const Found& found) {
    if (found.entry != nullptr) all.entries.push_back(*found.entry);
    if (!found.defect.empty()) all.defects.push_back(found.defect);
    all.bytes += found.bytes - found.shared;
  });
  return all;
}

}  // namespace

TEST_CASE("open file: pieces are read, and only pieces that are there", "[cache]") {
  const CacheDirectory directory;
  const fs::path file = directory.base() / "file";
  write(file, "0123456789");
  const auto open = OpenFile::open(file);
  REQUIRE(open.has_value());
  CHECK(open->size() == 10);
  CHECK(open->read(3, 4) == "3456");
  CHECK(open->read(10, 0) == "");
  CHECK_FALSE(open->read(8, 3).has_value());
  CHECK_FALSE(open->read(11, 0).has_value());
  CHECK_FALSE(open->read(1, ~std::uint64_t{0}).has_value());
  write(directory.base() / "other", "another content");
  fs::rename(directory.base() / "other", file);
  CHECK(open->read(0, 10) == "0123456789");
  CHECK_FALSE(OpenFile::open(directory.base()).has_value());
  CHECK_FALSE(OpenFile::open(directory.base() / "missing").has_value());
}

TEST_CASE("cache bundle: what was written is read, and images that entries share are stored once", "[cache][bundle]") {
  const CacheDirectory directory;
  const fs::path file = directory.base() / "kernels.bundle";
  const std::vector<Entry> entries = batched_entries(32);
  REQUIRE_FALSE(write_bundle(file, entries));
  const auto layer = open_bundle(file);
  for (const Entry& entry : entries) {
    const auto found = layer->read(entry.material);
    REQUIRE(found.has_value());
    CHECK(equal(*found, entry));
  }
  CHECK_FALSE(layer->read("absent").has_value());
  CHECK(layer->contents().kernels == 32);
  CHECK(layer->contents().bytes == fs::file_size(file));

  const Visited all = visit_all(*layer);
  CHECK(all.entries.size() == 32);
  CHECK(all.defects.empty());
  CHECK(all.bytes == fs::file_size(file) - 32 - 40 * 32 - 32 * 8 - 2 * 16);  // all but head, index and checksums
  std::uint64_t images = 0, rest = 0;
  for (const Entry& entry : entries) {
    images += entry.image.size();
    rest += encode(entry).size() - entry.image.size() + 40;
  }
  CHECK(fs::file_size(file) == 32 + rest + images / 4 + 8 * 32 + 2 * 16);
}

TEST_CASE("cache bundle: equal content gives equal bytes, in any order and with repetitions", "[cache][bundle]") {
  const CacheDirectory directory;
  std::vector<Entry> entries = batched_entries(9);
  REQUIRE_FALSE(write_bundle(directory.base() / "a", entries));
  std::reverse(entries.begin(), entries.end());
  entries.push_back(entries[3]);
  REQUIRE_FALSE(write_bundle(directory.base() / "b", entries));
  CHECK(*read_file(directory.base() / "a") == *read_file(directory.base() / "b"));
  CHECK(open_bundle(directory.base() / "b")->contents().kernels == 9);
}

TEST_CASE("cache bundle: no kernels are a bundle too", "[cache][bundle]") {
  const CacheDirectory directory;
  REQUIRE_FALSE(write_bundle(directory.base() / "empty", {}));
  const auto layer = open_bundle(directory.base() / "empty");
  CHECK(layer->contents().kernels == 0);
  CHECK_FALSE(layer->read("anything").has_value());
  CHECK(visit_all(*layer).defects.empty());
}

TEST_CASE("cache bundle: every flipped bit is reported, and never gives another entry", "[cache][bundle]") {
  const CacheDirectory directory;
  const fs::path file = directory.base() / "kernels.bundle";
  const std::vector<Entry> entries = batched_entries(2);
  REQUIRE_FALSE(write_bundle(file, entries));
  const std::string bytes = *read_file(file);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    write(file, damaged);
    std::string why;
    const auto layer = BundleLayer::open(file, why);
    REQUIRE((layer == nullptr) == !why.empty());
    if (!layer) continue;
    REQUIRE_FALSE(visit_all(*layer).defects.empty());
    for (const Entry& entry : entries) {
      const auto found = layer->read(entry.material);
      REQUIRE((!found || equal(*found, entry)));
    }
  }
}

TEST_CASE("cache bundle: no truncation opens, or those that do report it", "[cache][bundle]") {
  const CacheDirectory directory;
  const fs::path file = directory.base() / "kernels.bundle";
  REQUIRE_FALSE(write_bundle(file, batched_entries(3)));
  const std::string bytes = *read_file(file);
  std::size_t opened = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write(file, bytes.substr(0, size));
    std::string why;
    const auto layer = BundleLayer::open(file, why);
    opened += layer ? 1 : 0;
    if (layer) REQUIRE_FALSE(visit_all(*layer).defects.empty());
    if (!layer) REQUIRE_FALSE(why.empty());
  }
  CHECK(opened > 0);  // the index is whole, entries at the end are not
}

TEST_CASE("cache bundle: as a layer it hits from anywhere and compiles nothing", "[cache][bundle]") {
  CacheDirectory directory;
  FakeBackend fake;
  const auto asked = requests(0, 30);
  fake.get_fresh(asked);
  std::vector<Entry> entries;
  for (const auto& layer : open_layers()) {
    layer->visit([&](const Found& found) { entries.push_back(*found.entry); });
  }
  const fs::path file = directory.base() / "elsewhere" / "kernels.bundle";
  fs::create_directory(file.parent_path());
  REQUIRE_FALSE(write_bundle(file, entries));
  fs::remove_all(directory.root());
  directory.path.set("/no/such/layer:" + file.string());
  directory.require_cached.set("1");
  const CapturedLog captured;
  CacheStats stats;
  SECTION("beside a writable directory") {}
  SECTION("alone") { directory.dir.set("off"); }
  SECTION("made by another compiler: used and counted") { fake.compiler = "fake 2.0"; }
  CHECK(right(asked, fake.get_fresh(asked, &stats)));
  CHECK(stats.disk_hits == 30);
  CHECK(stats.foreign_compiler == (fake.compiler == "fake 2.0" ? 30 : 0));
  CHECK(directory.files().empty());
}

TEST_CASE("cache bundle: a damaged entry is a miss of that kernel alone", "[cache][bundle]") {
  CacheDirectory directory;
  FakeBackend fake;
  const fs::path file = directory.base() / "kernels.bundle";
  REQUIRE_FALSE(write_bundle(file, batched_entries(8)));
  std::string bytes = *read_file(file);
  const std::size_t at = bytes.find("void kernel_5()");  // in its record: images come after all records
  REQUIRE(at != std::string::npos);
  bytes[at] = 'V';
  write(file, bytes);
  directory.path.set(file.string());
  CacheStats stats;
  const auto asked = requests(0, 8);
  CHECK(right(asked, fake.get_fresh(asked, &stats)));
  CHECK(stats.disk_hits == 7);
  CHECK(stats.compiles == 1);
  CHECK(*read_file(file) == bytes);
}

TEST_CASE("cache bundle: whichever file call fails, the kernels are right", "[cache][bundle][fault]") {
  namespace fault = tarry::support::fault;
  CacheDirectory directory;
  FakeBackend fake;
  const fs::path file = directory.base() / "kernels.bundle";
  REQUIRE_FALSE(write_bundle(file, batched_entries(4)));
  directory.path.set(file.string());
  directory.dir.set("off");
  const CapturedLog captured;
  fault::arm(fault::Site::File, 0);
  CHECK(count(fake.get_fresh(requests(0, 4)), Hit::Disk) == 4);
  const std::uint64_t calls = fault::disarm();
  REQUIRE(calls >= 4);
  std::size_t missed = 0;
  for (std::uint64_t k = 1; k <= calls; ++k) {
    fault::arm(fault::Site::File, k);
    const auto got = fake.get_fresh(requests(0, 4));
    fault::disarm();
    INFO("call " << k);
    CHECK(right(requests(0, 4), got));
    missed += count(got, Hit::Compiled);
  }
  CHECK(missed >= calls);
}

TEST_CASE("cache bundle: replaced or removed while it is open, it goes on as it was", "[cache][bundle]") {
  const CacheDirectory directory;
  const fs::path file = directory.base() / "kernels.bundle";
  const std::vector<Entry> entries = batched_entries(4);
  REQUIRE_FALSE(write_bundle(file, entries));
  const auto layer = open_bundle(file);
  REQUIRE_FALSE(write_bundle(file, {}));
  CHECK(layer->read(entries[1].material).has_value());
  fs::remove(file);
  CHECK(layer->read(entries[2].material).has_value());
}

TEST_CASE("cache bundle: what must not or cannot be used costs one warning that names it", "[cache][bundle]") {
  CacheDirectory directory;
  const fs::path file = directory.base() / "kernels.bundle";
  REQUIRE_FALSE(write_bundle(file, batched_entries(2)));
  std::string reason;
  SECTION("others can write to it") {
    fs::permissions(file, fs::perms::owner_all | fs::perms::others_write);
    reason = "other users can write to it";
  }
  SECTION("it belongs to another user") {
    if (::geteuid() != 0) TARRY_SKIP("only root can give a file away");
    REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
    reason = "it belongs to another user";
  }
  SECTION("it is something else") {
    write(file, "#!/bin/sh\n");
    reason = "neither a directory nor a bundle";
  }
  SECTION("it is of a later version") {
    std::string bytes = *read_file(file);
    bytes[8] = 9;
    write(file, bytes);
    reason = "format version 9";
  }
  SECTION("its index is damaged") {
    std::string bytes = *read_file(file);
    bytes[40] = static_cast<char>(bytes[40] ^ 1);
    write(file, bytes);
    reason = "checksum of its index";
  }
  directory.path.set(file.string());
  const CapturedLog captured;
  FakeBackend fake;
  CHECK(count(fake.get_fresh(requests(0, 2)), Hit::Compiled) == 2);
  CHECK(count(fake.get_fresh(requests(0, 2)), Hit::Disk) == 2);
  REQUIRE(captured.messages().size() == 1);
  CHECK_THAT(captured.messages()[0], Contains("TARRY_CACHE_PATH") && Contains(file.string()) && Contains(reason));
}
