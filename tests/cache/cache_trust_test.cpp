// Whose code the cache executes: its own user's and root's, whatever else lies in its directories, on the way to them
// and in the environment of a program that has more rights than its user.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <tarry/error.h>
#include <unistd.h>

#include "cache/bundle.h"
#include "cache/disk_store.h"
#include "support/process.h"
#include "support/temporary.h"
#include "support/trust.h"
#include "tests/helpers/child.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/processes.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
namespace support = tarry::support;
using namespace tarry::cache;
using namespace tarry::test;
using Catch::Contains;

namespace {

constexpr uid_t kAttacker = 4002;

void give_away(const fs::path& path) { REQUIRE(::lchown(path.c_str(), kAttacker, kAttacker) == 0); }
void set_mode(const fs::path& path, mode_t mode) { REQUIRE(::chmod(path.c_str(), mode) == 0); }

/// A kernel that is in `directory`, and in its place one of the same key that somebody else made.
struct Planted {
  CacheDirectory directory;
  fs::path entry;

  Planted() {
    FakeBackend fake;
    fake.get_fresh(requests(0, 1));
    entry = only_file(directory);
    Entry evil = *decode(*support::read_file(entry));
    evil.image = "kernel_0=evil\n";
    std::ofstream(entry, std::ios::binary) << encode(evil);
  }
  [[nodiscard]] fs::path bucket() const { return entry.parent_path(); }
  void only_read() {
    directory.path.set(directory.root().string());
    directory.dir.set("off");
  }
  /// True if what was planted is what runs.
  static bool runs() {
    FakeBackend fake;
    return !right(requests(0, 1), fake.get_fresh(requests(0, 1)));
  }
};

}  // namespace

TEST_CASE("cache trust: what is planted in a sound directory by its owner would run", "[cache][trust]") {
  Planted planted;
  CHECK(Planted::runs());
  planted.only_read();
  CHECK(Planted::runs());
}

TEST_CASE("cache trust: a directory or file below a layer that others can write to is not used, with one warning",
          "[cache][trust]") {
  Planted planted;
  fs::path named = planted.bucket();
  std::string reason = "other users can write to it";
  SECTION("a directory, by all") { set_mode(planted.bucket(), 0777); }
  SECTION("a directory, by its group") { set_mode(planted.bucket(), 0770); }
  SECTION("a directory, sticky") { set_mode(planted.bucket(), 01777); }
  SECTION("a file") { set_mode(named = planted.entry, 0666); }
  SECTION("a file of another user") {
    if (::geteuid() != 0) TARRY_SKIP("only root can give a file away");
    give_away(named = planted.entry);
    reason = "it belongs to another user";
  }
  SECTION("a link") {
    fs::rename(planted.entry, planted.directory.base() / "elsewhere");
    fs::create_symlink(planted.directory.base() / "elsewhere", named = planted.entry);
    reason = "is a link";
  }
  planted.only_read();
  const CapturedLog captured;
  CHECK_FALSE(Planted::runs());
  CHECK_FALSE(Planted::runs());
  REQUIRE(captured.messages().size() == 1);
  CHECK_THAT(captured.messages()[0],
             Contains("TARRY_CACHE_PATH") && Contains(named.filename().string()) && Contains(reason));
}

TEST_CASE("cache trust: an open layer sees that rights have changed", "[cache][trust]") {
  Planted planted;
  bool read_only = false;
  SECTION("written") {}
  SECTION("only read") { read_only = true; }
  if (read_only) planted.only_read();
  std::string why;
  const std::unique_ptr<Layer> layer =
      read_only ? open_layer(planted.directory.root(), why) : open_writable_layer(planted.directory.root(), why);
  const std::string material = request(0).key.material();
  const CapturedLog captured;
  REQUIRE(layer->read(material).has_value());
  set_mode(planted.directory.root(), 0777);
  CHECK_FALSE(layer->read(material).has_value());
  set_mode(planted.directory.root(), 0700);
  set_mode(planted.bucket(), 0777);
  CHECK_FALSE(layer->read(material).has_value());
  set_mode(planted.bucket(), 0700);
  CHECK(layer->read(material).has_value());
}

TEST_CASE("cache trust: an open bundle sees that rights have changed", "[cache][trust][bundle]") {
  Planted planted;
  const fs::path file = planted.directory.base() / "kernels.bundle";
  const std::vector<Entry> entries{*decode(*support::read_file(planted.entry))};
  REQUIRE_FALSE(write_bundle(file, entries));
  std::string why;
  const std::unique_ptr<Layer> layer = open_layer(file, why);
  const CapturedLog captured;
  REQUIRE(layer->read(entries[0].material).has_value());
  set_mode(file, 0666);
  CHECK_FALSE(layer->read(entries[0].material).has_value());
  CHECK(captured.messages().size() == 1);
}

TEST_CASE("cache trust: a directory that took the place of an open one is not read", "[cache][trust]") {
  Planted planted;
  const fs::path root = planted.directory.root(), good = planted.directory.base() / "good";
  fs::rename(root, planted.directory.base() / "evil");
  FakeBackend fake;
  fake.get_fresh(requests(0, 1));
  std::string why;
  const std::unique_ptr<Layer> layer = open_layer(root, why);
  fs::rename(root, good);
  fs::rename(planted.directory.base() / "evil", root);
  const auto found = layer->read(request(0).key.material());
  REQUIRE(found.has_value());
  CHECK(found->image != "kernel_0=evil\n");
}

TEST_CASE("cache trust: the writable directory replaces files of others and keeps nothing where they can write",
          "[cache][trust]") {
  const Planted planted;
  const CapturedLog captured;
  SECTION("a file that others can write to is a miss and is replaced") {
    set_mode(planted.entry, 0666);
    CHECK_FALSE(Planted::runs());
    FakeBackend fake;
    CHECK(count(fake.get_fresh(requests(0, 1)), Hit::Disk) == 1);
    CHECK(captured.messages().empty());
  }
  SECTION("a directory that others can write to is left alone, with one warning") {
    const auto before = support::read_file(planted.entry);
    set_mode(planted.bucket(), 0777);
    CHECK_FALSE(Planted::runs());
    CHECK_FALSE(Planted::runs());
    CHECK(support::read_file(planted.entry) == before);
    CHECK(planted.directory.files().size() == 1);  // no lock and no temporary either
    REQUIRE(captured.messages().size() == 1);
    CHECK_THAT(captured.messages()[0], Contains("TARRY_CACHE_DIR") && Contains(planted.bucket().string()));
  }
}

TEST_CASE("cache trust: a layer is refused where others can replace something on the way to it", "[cache][trust]") {
  Planted planted;
  const fs::path parent = planted.directory.base() / "parent", layer = parent / "layer";
  fs::create_directory(parent);
  set_mode(parent, 0755);
  fs::rename(planted.directory.root(), layer);
  fs::path named = layer;
  std::string reason;
  SECTION("a parent that all can write to") {
    set_mode(parent, 0777);
    reason = "other users can write to " + parent.string();
  }
  SECTION("a parent of another user") {
    if (::geteuid() != 0) TARRY_SKIP("only root can give a directory away");
    give_away(parent);
    reason = parent.string() + " belongs to another user";
  }
  SECTION("a link of another user, in a directory of ours") {
    if (::geteuid() != 0) TARRY_SKIP("only root can give a link away");
    named = planted.directory.base() / "link";
    fs::create_directory_symlink(layer, named);
    give_away(named);
    reason = "the link " + named.string() + " belongs to another user";
  }
  SECTION("a link of ours, through a directory that all can write to") {
    const fs::path shared = planted.directory.base() / "shared";
    fs::create_directory(shared);
    set_mode(shared, 0777);
    fs::create_directory_symlink(layer, shared / "second");
    named = planted.directory.base() / "first";
    fs::create_directory_symlink("shared/second", named);
    reason = "other users can write to " + shared.string();
  }
  std::string why;
  CHECK(open_layer(named, why) == nullptr);
  CHECK_THAT(why, Contains(reason));
  CHECK(open_writable_layer(named, why) == nullptr);
  CHECK_THAT(why, Contains(reason));
}

TEST_CASE("cache trust: sticky parents, links of ours and private groups are no danger", "[cache][trust]") {
  Planted planted;
  const fs::path parent = planted.directory.base() / "parent", layer = parent / "layer", link = parent / "link";
  fs::create_directory(parent);
  fs::rename(planted.directory.root(), layer);
  fs::create_directory_symlink("../parent/./layer", link);
  REQUIRE(::chown(parent.c_str(), ::geteuid(), ::getegid()) == 0);
  SECTION("sticky") { set_mode(parent, 01777); }
  SECTION("a group of one, where it has the number of the user") {
    set_mode(parent, ::geteuid() == ::getegid() ? 0775 : 0755);
  }
  std::string why;
  CHECK(open_layer(layer, why) != nullptr);
  CHECK(open_layer(link, why) != nullptr);
  CHECK(why.empty());
}

TEST_CASE("cache trust: links that lead in a circle end, and missing parents are made for nobody to write to",
          "[cache][trust]") {
  const CacheDirectory directory;
  fs::create_symlink(directory.base() / "b", directory.base() / "a");
  fs::create_symlink(directory.base() / "a", directory.base() / "b");
  std::string why;
  CHECK(open_layer(directory.base() / "a" / "x", why) == nullptr);
  CHECK_THAT(why, Contains("symbolic links"));
  const mode_t before = ::umask(0);
  const auto layer = open_writable_layer(directory.base() / "new" / "one" / "cache", why);
  ::umask(before);
  REQUIRE(layer != nullptr);
  CHECK((fs::status(directory.base() / "new" / "one").permissions() & fs::perms::others_write) == fs::perms::none);
}

TEST_CASE("cache trust: root's layers are everybody's, another user's are nobody's", "[cache][trust]") {
  if (::geteuid() != 0) TARRY_SKIP("only root can be another user");
  Planted planted;
  set_mode(planted.directory.base(), 0755);
  for (const fs::path& path : {planted.directory.root(), planted.bucket()}) set_mode(path, 0755);
  const fs::path root = planted.directory.root();
  const auto others_find_it = [&] {
    return wait_child(start_child([&] {
             if (::setresgid(kAttacker + 1, kAttacker + 1, kAttacker + 1) != 0) return false;
             if (::setresuid(kAttacker + 1, kAttacker + 1, kAttacker + 1) != 0) return false;
             const CapturedLog captured;
             std::string why;
             const auto layer = open_layer(root, why);
             return layer != nullptr && layer->read(request(0).key.material()).has_value();
           })) == 0;
  };
  CHECK(others_find_it());
  give_away(planted.entry);
  CHECK_FALSE(others_find_it());
  REQUIRE(::chown(planted.entry.c_str(), 0, 0) == 0);
  give_away(planted.bucket());
  CHECK_FALSE(others_find_it());
}

TEST_CASE("cache trust: temporary files avoid a TMPDIR where others can replace them", "[cache][trust]") {
  const support::ScopedTemporaryDirectory directory;
  const ScopedSwitch temporary("TMPDIR", directory.path().string());
  const CapturedLog captured;
  CHECK(support::ScopedTemporaryDirectory().path().parent_path() == directory.path());
  set_mode(directory.path(), 01777);
  CHECK(support::ScopedTemporaryDirectory().path().parent_path() == directory.path());
  CHECK(captured.messages().empty());
  set_mode(directory.path(), 0777);
  CHECK(support::ScopedTemporaryDirectory().path().parent_path() != directory.path());
  REQUIRE(captured.messages().size() == 1);
  CHECK_THAT(captured.messages()[0], Contains("TMPDIR") && Contains("other users can write to"));
}

TARRY_CHILD(says_what_it_heeds) {
  const bool hears = support::env::get("TARRY_CC").has_value() || support::env::system("HOME").has_value();
  const bool keeps = !named_layers().empty();
  const bool starts = support::run_process({"true"}).started;
  std::printf("privileged %d hears %d keeps %d starts %d\n", support::env::is_privileged(), hears, keeps, starts);
  return 0;
}

TEST_CASE("cache trust: a set-user-ID program heeds no variable, keeps no kernel and starts no compiler",
          "[cache][trust][process]") {
  if (::geteuid() != 0) TARRY_SKIP("only root can make a program for others");
  const support::ScopedTemporaryDirectory directory;
  set_mode(directory.path(), 0755);
  const fs::path program = directory.path() / "program";
  fs::copy_file("/proc/self/exe", program);
  struct statvfs volume{};
  REQUIRE(::statvfs(program.c_str(), &volume) == 0);
  if ((volume.f_flag & ST_NOSUID) != 0) TARRY_SKIP("the temporary directory is mounted nosuid");
  const auto say = [&](mode_t mode) {
    set_mode(program, mode);
    return support::run_process({"setpriv", "--reuid=4002", "--regid=4002", "--clear-groups", "env",
                                 "TARRY_TEST_CHILD=says_what_it_heeds", "TARRY_CC=evil", "HOME=/tmp",
                                 "TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=/tmp", program.string()});
  };
  CHECK_THAT(say(0755).output, Contains("privileged 0 hears 1 keeps 1 starts 1"));
  CHECK_THAT(say(04755).output, Contains("privileged 1 hears 0 keeps 0 starts 0"));
  CHECK_THAT(say(02755).output, Contains("privileged 1 hears 0 keeps 0 starts 0"));
}
