// The treatment of the path by save_npy, and of files of any content by load_npy and open_npy.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include <tarry/tarry.h>

#include "runtime/device/backend.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/test.h"

using namespace tarry;
namespace fs = std::filesystem;

namespace {

struct Folder {
  support::ScopedTemporaryDirectory directory;
  [[nodiscard]] std::string operator()(const char* name) const { return (directory.path() / name).string(); }
};

std::vector<float> loaded(const std::string& path) { return load_npy(path).to_vector<float>(); }

unsigned mode_of(const std::string& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

/// A file of a header text and `elements`.
std::string write_npy(const std::string& path, const std::string& header, const std::string& elements) {
  std::string bytes = "\x93NUMPY\2";
  bytes += '\0';
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  std::ofstream(path, std::ios::binary) << bytes << header << elements;
  return path;
}

/// The bytes that a thread reads from a pipe until its writer closes it.
std::future<std::string> reader_of(const std::string& path) {
  return std::async(std::launch::async, [path] {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  });
}

}  // namespace

TEST_CASE("npy: a link stays a link, and what it leads to is written", "[npy]") {
  const Folder f;
  save_npy(f("a.npy"), array({1.0F}));
  fs::create_directory(f("d"));
  fs::create_symlink("../a.npy", f("d/link"));
  fs::create_symlink(f("d/link"), f("second"));
  fs::create_symlink(f("new.npy"), f("dangling"));
  save_npy(f("second"), array({2.0F, 3.0F}));
  save_npy(f("dangling"), array({4.0F}));
  CHECK(loaded(f("a.npy")) == std::vector<float>{2, 3});
  CHECK(loaded(f("new.npy")) == std::vector<float>{4});
  for (const char* link : {"d/link", "second", "dangling"}) CHECK(fs::is_symlink(f(link)));
  fs::create_symlink("loop", f("loop"));
  CHECK_THROWS_WITH(save_npy(f("loop"), array({1.0F})), Catch::Contains("symbolic link"));
}

TEST_CASE("npy: a file keeps its mode, and a new one has what the process gives new files", "[npy]") {
  const Folder f;
  const mode_t before = ::umask(027);
  save_npy(f("a.npy"), array({1.0F}));
  ::umask(before);
  CHECK(mode_of(f("a.npy")) == 0640);
  for (const unsigned mode : {0600U, 0666U, 0751U, 02640U}) {
    REQUIRE(::chmod(f("a.npy").c_str(), mode) == 0);
    save_npy(f("a.npy"), array({2.0F}));
    CHECK(mode_of(f("a.npy")) == mode);
  }
}

TEST_CASE("npy: a file of several names has the new content under each", "[npy]") {
  const Folder f;
  save_npy(f("a.npy"), array({1.0F, 2.0F, 3.0F}));
  fs::create_hard_link(f("a.npy"), f("b.npy"));
  save_npy(f("a.npy"), open_npy(f("b.npy")) + 1.0F);  // computed from itself before it is touched
  CHECK(loaded(f("b.npy")) == std::vector<float>{2, 3, 4});
  save_npy(f("b.npy"), array({5.0F}));
  CHECK(fs::hard_link_count(f("a.npy")) == 2);
  CHECK(support::read_file(f("a.npy"))->size() == 128 + 4);
}

TEST_CASE("npy: pipes, devices and open files take what a file takes", "[npy]") {
  const Folder f;
  const Array x = ones({300000}) * 2.0F;
  save_npy(f("a.npy"), x);
  REQUIRE(::mkfifo(f("pipe").c_str(), 0600) == 0);
  auto read = reader_of(f("pipe"));
  save_npy(f("pipe"), x);
  CHECK(read.get() == support::read_file(f("a.npy")));
  CHECK(fs::is_fifo(f("pipe")));
  save_npy("/dev/null", x);
  CHECK(fs::is_character_file("/dev/null"));
  const int fd = ::open(f("open.npy").c_str(), O_RDWR | O_CREAT, 0600);
  fs::remove(f("open.npy"));
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  save_npy(path, array({7.0F}));
  CHECK(loaded(path) == std::vector<float>{7});
  ::close(fd);
}

TEST_CASE("npy: a pipe that is closed and a device that is full are errors", "[npy][error]") {
  const Folder f;
  CHECK_THROWS_WITH(save_npy("/dev/full", ones({4})), Catch::Contains("cannot write /dev/full: No space left"));
  REQUIRE(::mkfifo(f("pipe").c_str(), 0600) == 0);
  auto reader = std::async(std::launch::async, [path = f("pipe")] { ::close(::open(path.c_str(), O_RDONLY)); });
  CHECK_THROWS_WITH(save_npy(f("pipe"), ones({1 << 20})), Catch::Contains("Broken pipe"));
  CHECK_THROWS_WITH(save_npy(f("."), ones({4})), Catch::Contains("Is a directory"));
}

TEST_CASE("npy: headers of Python 2 are read", "[npy]") {
  const Folder f;
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 1L), }  \n";
  CHECK(load_npy(write_npy(f("a.npy"), text, std::string("\0\0\0\0\0\0\x80\x3f", 8))).shape() == Shape{2, 1});
  const std::string one = "{'descr': '|u1', 'fortran_order': False, 'shape': (1L,), }";
  CHECK(load_npy(write_npy(f("b.npy"), one, "\7")).item<std::uint8_t>() == 7);
}

TEST_CASE("npy: a header of any length or content costs a short message", "[npy][error]") {
  const Folder f;
  const std::string path = write_npy(f("a.npy"), std::string(100000, ' '), "");
  CHECK_THROWS_WITH(load_npy(path), Catch::Contains("its header has 100000 bytes"));
  const auto why = [&](const std::string& header) {
    try {
      (void)open_npy(write_npy(f("b.npy"), header, ""));
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(why("{" + std::string(60000, '\x1b') + "}").size() < 1200);
  CHECK_THAT(why("{\x1b[2J\xff}"), Catch::Contains("{\\x1b[2J\\xff}"));
  CHECK(why("{'descr': '<" + std::string(60000, 'x') + "', 'fortran_order': False, 'shape': (), }").size() < 1200);
}

TEST_CASE("npy: without memory for the elements there is OutOfMemory", "[npy][error]") {
  const Folder f;
  save_npy(f("a.npy"), ones({1000}));
  runtime::backend(cpu).trim();
  support::fault::arm(support::fault::Site::Allocation, 1);
  CHECK_THROWS_AS(load_npy(f("a.npy")), OutOfMemory);
  support::fault::disarm();
  CHECK(load_npy(f("a.npy")).size() == 1000);
}

TEST_CASE("npy: any byte but 0 is true", "[npy]") {
  const Folder f;
  const std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }";
  const Array x = load_npy(write_npy(f("a.npy"), header, std::string("\0\1\377\2", 4)));
  CHECK(x.to_vector<bool>() == std::vector<bool>{false, true, true, true});
  CHECK(sum(x).item<std::int64_t>() == 3);
}
