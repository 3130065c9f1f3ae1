// The support room: errors, devices' names, hashes, switches, log, files, processes.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <sys/stat.h>
#include <tarry/device.h>
#include <tarry/log.h>
#include <unistd.h>

#include "support/check.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/log.h"
#include "support/process.h"
#include "support/temporary.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/test.h"

namespace env = tarry::support::env;
namespace fault = tarry::support::fault;
namespace fs = std::filesystem;
namespace tlog = tarry::support::log;
using namespace tarry::support;
using tarry::test::CapturedLog;
using tarry::test::ScopedSwitch;

TEST_CASE("error: what() holds op, message and place, as far as they are known", "[support][error]") {
  struct Row {
    const char* op;
    tarry::Where where;
    const char* expected;
  };
  const Row rows[] = {
      {"add", {"a.cpp", 7}, "[add] shapes differ (at a.cpp:7)"},
      {"add", {}, "[add] shapes differ"},
      {"", {"a.cpp", 7}, "shapes differ (at a.cpp:7)"},
      {"", {}, "shapes differ"},
  };
  for (const Row& row : rows) {
    const tarry::InvalidArgument error(row.op, row.where, "shapes differ");
    CHECK(std::string(error.what()) == row.expected);
    CHECK(error.op() == row.op);
    CHECK(error.where().line == row.where.line);
    CHECK(error.code() == tarry::ErrorCode::InvalidArgument);
  }
}

TEST_CASE("error: a place prints as file:line", "[support][error]") {
  CHECK(tarry::Where("dir/a.cpp", 12).str() == "dir/a.cpp:12");
  CHECK(tarry::Where().str() == "unknown location");
}

TEST_CASE("error: every type is an Error with its own code", "[support][error]") {
  using tarry::ErrorCode;
  CHECK(tarry::OutOfMemory("", {}, "").code() == ErrorCode::OutOfMemory);
  CHECK(tarry::CompileError("", {}, "").code() == ErrorCode::CompileError);
  CHECK(tarry::DeviceError("", {}, "").code() == ErrorCode::DeviceError);
  CHECK(tarry::DeviceLost("", {}, "").code() == ErrorCode::DeviceLost);
  CHECK(tarry::NotCached("", {}, "").code() == ErrorCode::NotCached);
  CHECK(tarry::InternalError("", {}, "").code() == ErrorCode::InternalError);
}

TEST_CASE("check: a broken invariant throws InternalError with expression and place", "[support][check]") {
  try {
    TARRY_ASSERT(1 + 1 == 3);
    FAIL("did not throw");
  } catch (const tarry::InternalError& error) {
    const std::string what = error.what();
    CHECK_THAT(what, Catch::Contains("1 + 1 == 3") && Catch::Contains("please report"));
    CHECK_THAT(what, Catch::Contains("support_test.cpp:"));
  }
}

TEST_CASE("device: names", "[support][device]") {
  CHECK(tarry::Device{}.str() == "unplaced");
  CHECK(tarry::cpu.str() == "cpu");
  CHECK(tarry::cuda(1).str() == "cuda:1");
}

TEST_CASE("hash: checksums are XXH3-128", "[support][hash]") {
  CHECK(checksum_bytes("").hex() == "99aa06d3014798d86001c324468d497f");
  CHECK(Hash128{0x1, 0xab}.hex() == "00000000000000ab0000000000000001");
}

TEST_CASE("hash: an identity hash holds the low bits of the checksum", "[support][hash]") {
  const Hash128 all = checksum_bytes("tarry"), kept = hash_bytes("tarry");
  CHECK((all.lo & kept.lo) == kept.lo);
  CHECK((all.lo & 1) == (kept.lo & 1));
  CHECK(hash_bytes("tarry") == kept);
}

TEST_CASE("env: byte counts", "[support][env]") {
  struct Row {
    const char* text;
    std::uint64_t expected;
  };
  constexpr std::uint64_t kFallback = 7;
  const Row rows[] = {{"", kFallback},
                      {"0", 0},
                      {"4096", 4096},
                      {"4k", 4096},
                      {"3M", 3 << 20},
                      {"2g", 2ULL << 30},
                      {" 2 GiB ", 2ULL << 30},
                      {"1kb", 1024},
                      {"10b", 10},
                      {"-1", kFallback},
                      {"1.5g", kFallback},
                      {"g", kFallback},
                      {"2x", kFallback},
                      {"2kk", kFallback},
                      {"17179869184g", kFallback}};
  ScopedSwitch size("TARRY_CACHE_SIZE", "");
  for (const Row& row : rows) {
    size.set(row.text);
    INFO(row.text);
    CHECK(env::bytes("TARRY_CACHE_SIZE", kFallback) == row.expected);
  }
}

TEST_CASE("env: flags, integers and words", "[support][env]") {
  ScopedSwitch sync("TARRY_SYNC", "");
  for (const char* off : {"", "0", "off", "false"}) {
    sync.set(off);
    CHECK_FALSE(env::flag("TARRY_SYNC"));
  }
  for (const char* on : {"1", "on", "yes"}) {
    sync.set(on);
    CHECK(env::flag("TARRY_SYNC"));
  }
  ScopedSwitch threads("TARRY_NUM_THREADS", " 12 ");
  CHECK(env::integer("TARRY_NUM_THREADS", 3) == 12);
  threads.set("12x");
  CHECK(env::integer("TARRY_NUM_THREADS", 3) == 3);

  const ScopedSwitch dump("TARRY_DUMP", " plan,,ir ,source");
  CHECK(env::words("TARRY_DUMP") == std::vector<std::string>{"plan", "ir", "source"});
  CHECK(env::has_word("TARRY_DUMP", "ir"));
  CHECK_FALSE(env::has_word("TARRY_DUMP", "sour"));
}

TEST_CASE("env: set overrides, forgets and counts generations", "[support][env]") {
  const std::uint64_t before = env::generation();
  env::set("TARRY_DUMP_DIR", "/a");
  CHECK(env::get("TARRY_DUMP_DIR") == "/a");
  env::set("TARRY_DUMP_DIR", "");
  CHECK(env::get("TARRY_DUMP_DIR") == std::nullopt);
  env::set("TARRY_DUMP_DIR", std::nullopt);
  CHECK(env::generation() == before + 3);
}

TEST_CASE("env: a switch outside the table is a bug", "[support][env]") {
  CHECK_THROWS_AS(env::get("TARRY_NO_SUCH_SWITCH"), tarry::InternalError);
  CHECK(env::system("TARRY_NO_SUCH_VARIABLE") == std::nullopt);
}

TEST_CASE("env: docs/reference/switches.md lists exactly the switches of the table", "[support][env][docs]") {
  const auto page = read_file(fs::path(tarry::test::source_directory()) / "docs" / "reference" / "switches.md");
  REQUIRE(page.has_value());
  std::vector<std::string> rows, expected;
  std::istringstream lines(*page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| `TARRY_")) rows.push_back(line);
  }
  for (const env::Switch& s : env::switches()) {
    expected.push_back("| `" + std::string(s.name) + "` | " + s.values + " | " + s.meaning + " |");
  }
  CHECK(rows == expected);
}

TEST_CASE("log: a warning of the same text appears once", "[support][log]") {
  const CapturedLog captured;
  for (int i = 0; i < 3; ++i) tlog::warn_once("log test: said once");
  tlog::warn_once("log test: something else");
  CHECK(captured.messages() == std::vector<std::string>{"log test: said once", "log test: something else"});
}

TEST_CASE("log: TARRY_LOG decides what appears", "[support][log]") {
  struct Row {
    const char* level;
    std::vector<std::string> expected;
  };
  const Row rows[] = {{"", {"e"}}, {"debug", {"d", "i", "e"}}, {"info", {"i", "e"}}, {"error", {"e"}}, {"off", {}}};
  for (const Row& row : rows) {
    const CapturedLog captured;
    const ScopedSwitch level("TARRY_LOG", row.level);
    tlog::debug("d");
    tlog::info("i");
    tlog::write(tlog::Level::Error, "e");
    INFO(row.level);
    CHECK(captured.messages() == row.expected);
  }
}

TEST_CASE("file: what was written is read back", "[support][file]") {
  const ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "f";
  const std::string content = std::string("a\0b\n", 4) + std::string(100000, 'x');
  CHECK_FALSE(write_file_atomically(file, content));
  CHECK(read_file(file) == content);
  CHECK_FALSE(write_file_atomically(file, ""));
  CHECK(read_file(file) == "");
}

TEST_CASE("file: what is no readable file reads as nothing", "[support][file]") {
  const ScopedTemporaryDirectory directory;
  CHECK(read_file(directory.path()) == std::nullopt);
  CHECK(read_file(directory.path() / "missing") == std::nullopt);
  const fs::path pipe = directory.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(read_file(pipe) == std::nullopt);
  CHECK(read_file("/proc/self/status").value_or("").starts_with("Name:"));
}

TEST_CASE("file: a write that fails leaves the old file and no temporary", "[support][file]") {
  const ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "f";
  REQUIRE_FALSE(write_file_atomically(file, "old"));
  fault::arm(fault::Site::File, 1);
  CHECK(write_file_atomically(file, "new") == std::errc::no_space_on_device);
  fault::disarm();
  CHECK(read_file(file) == "old");
  CHECK(write_file_atomically(directory.path() / "missing" / "f", "new") == std::errc::no_such_file_or_directory);
  fs::create_directory(directory.path() / "d");
  CHECK(write_file_atomically(directory.path() / "d", "new") == std::errc::is_a_directory);
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 2);
}

TEST_CASE("file: readers of a file that is rewritten see whole versions only", "[support][file]") {
  const ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "f";
  REQUIRE_FALSE(write_file_atomically(file, std::string(50000, 'a')));
  std::jthread writer([&](const std::stop_token& stop) {
    for (char c = 'a'; !stop.stop_requested(); c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
      if (write_file_atomically(file, std::string(50000, c))) return;
    }
  });
  int torn = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string content = read_file(file).value_or("");
    if (content.size() != 50000 || content.find_first_not_of(content[0]) != std::string::npos) ++torn;
  }
  CHECK(torn == 0);
}

TEST_CASE("file: a temporary directory is private, unique and removed with its content", "[support][file]") {
  fs::path first;
  {
    const ScopedTemporaryDirectory a, b;
    first = a.path();
    CHECK(a.path() != b.path());
    CHECK((fs::status(first).permissions() & fs::perms::all) == fs::perms::owner_all);
    REQUIRE_FALSE(write_file_atomically(first / "f", "content"));
  }
  CHECK_FALSE(fs::exists(first));
}

TEST_CASE("file: no temporary directory is an error that names TMPDIR", "[support][file]") {
  fault::arm(fault::Site::File, 1);
  CHECK_THROWS_WITH(unique_temporary_dir(), Catch::Contains("TMPDIR"));
  fault::disarm();
}

TEST_CASE("process: output, error and exit status arrive", "[support][process]") {
  const ProcessResult result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  CHECK(result.started);
  CHECK(result.exit_status == 3);
  CHECK_FALSE(result.succeeded());
  CHECK(result.output == "out\n");
  CHECK(result.error == "err\n");
}

TEST_CASE("process: arguments pass unchanged and input comes from the file", "[support][process]") {
  const ScopedTemporaryDirectory directory;
  REQUIRE_FALSE(write_file_atomically(directory.path() / "in", "line"));
  const ProcessResult result =
      run_process({"sh", "-c", "cat; printf '%s' \"$1\"", "sh", " a 'b' $c"}, {.input = directory.path() / "in"});
  CHECK(result.succeeded());
  CHECK(result.output == "line a 'b' $c");
  CHECK(run_process({"cat"}).output.empty());
}

TEST_CASE("process: much output on both streams does not block", "[support][process]") {
  const ProcessResult result =
      run_process({"sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; head -c 500000 /dev/zero"});
  CHECK(result.output.size() == 1500000);
  CHECK(result.error.size() == 1000000);
}

TEST_CASE("process: a program that dies by a signal or does not exist has failed", "[support][process]") {
  CHECK(run_process({"sh", "-c", "kill -9 $$"}).exit_status == 128 + SIGKILL);
  const ProcessResult missing = run_process({"/no/such/compiler"});
  CHECK_FALSE(missing.started);
  CHECK_THAT(missing.error, Catch::Contains("/no/such/compiler"));
  CHECK_FALSE(run_process({"cat"}, {.input = "/no/such/input"}).succeeded());
}

TEST_CASE("process: an injected fault is a program that could not start", "[support][process]") {
  fault::arm(fault::Site::Compiler, 1);
  const ProcessResult result = run_process({"true"});
  fault::disarm();
  CHECK_FALSE(result.started);
  CHECK(run_process({"true"}).succeeded());
}

TEST_CASE("process: programs run from many threads at once keep their outputs apart", "[support][process]") {
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&wrong, text = std::to_string(t)] {
      for (int i = 0; i < 5; ++i) wrong += run_process({"echo", text}).output == text + "\n" ? 0 : 1;
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("log: a callback gets what would go to stderr, control bytes as text", "[support][log]") {
  std::vector<std::string> lines;
  tarry::set_log_callback(
      [](void* context, tarry::LogLevel level, std::string_view message) {
        if (level == tarry::LogLevel::Warning) static_cast<std::vector<std::string>*>(context)->emplace_back(message);
      },
      &lines);
  tlog::warn_once("a line for the callback");
  tlog::warn_once("of a hostile \x1b[31mname\nand a second line");
  tarry::set_log_callback(nullptr);
  tlog::info("not admitted, and not for the callback");
  CHECK(lines == std::vector<std::string>{"a line for the callback", "of a hostile \\x1b[31mname\nand a second line"});
}
