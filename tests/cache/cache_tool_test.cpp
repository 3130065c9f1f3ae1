// `tarry cache`: every command on directories and bundles made here, its JSON, its exit status; completion and manual.
#include <fcntl.h>
#include <tarry/tarry.h>
#include <tarry/warm.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cache/bundle.h"
#include "cache/disk_layer.h"
#include "support/process.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/test.h"

#ifndef TARRY_TOOL
#define TARRY_TOOL ""
#endif

namespace fs = std::filesystem;
using namespace tarry::cache;
using namespace tarry::test;
using Catch::Contains;
using Json = nlohmann::json;
using tarry::support::ProcessResult;
using tarry::support::read_file;

#define TARRY_REQUIRE_TOOL() \
  if (std::string(TARRY_TOOL).empty()) TARRY_SKIP("built without the tool")

namespace {

/// A cache directory, and the tool that is told of it by its environment.
struct Bench {
  CacheDirectory directory;
  FakeBackend fake;
  std::string path;  ///< TARRY_CACHE_PATH

  [[nodiscard]] ProcessResult run(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"env",
                                 "TARRY_CACHE_DIR=" + directory.root().string(),
                                 "TARRY_CACHE_PATH=" + path,
                                 "TARRY_CACHE_SIZE=",
                                 "TARRY_LOG=",
                                 TARRY_TOOL,
                                 "cache"};
    all.insert(all.end(), words.begin(), words.end());
    return tarry::support::run_process(all);
  }
  std::string output(const std::vector<std::string>& words) const {
    const ProcessResult result = run(words);
    INFO(result.output << result.error);
    REQUIRE(result.exit_status == 0);
    return result.output;
  }
  [[nodiscard]] Json json(std::vector<std::string> words) const {
    words.emplace_back("--json");
    return Json::parse(output(words));
  }
  void fill(int first, int count) { fake.get_fresh(requests(first, count)); }
  [[nodiscard]] std::string at(const char* name) const { return (directory.base() / name).string(); }
};

std::string key(int number) { return request(number).key.hash().hex(); }

Entry gpu_entry() {
  const KernelKey k{"__global__ void scale_f32_map_ab12cd34() {}\n", "--fmad=false", "sm_90", "strict"};
  return {k.material(), "nvrtc 13.0", "scale_f32_map_ab12cd34",
          "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
          "ptxas info    : Used 99 registers, used 0 barriers\n"
          "ptxas info    : Compiling entry function 'scale_f32_map_ab12cd34' for 'sm_90'\n"
          "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
          "ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem\n",
          "cubin"};
}

void age(const fs::path& file, int hours) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

}  // namespace

TEST_CASE("tarry cache stat: counts kernels, targets, compilers and damage of every layer", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 5);
  const std::uint64_t bytes = bench.directory.bytes();
  REQUIRE_FALSE(DiskLayer(bench.directory.root(), Access::ReadWrite).write(gpu_entry()).error);
  write(bench.directory.root() / "ab" / (std::string(32, 'a') + ".kernel"), "damaged");
  const Entry entries[] = {gpu_entry()};
  REQUIRE_FALSE(write_bundle(bench.at("gpu.bundle"), entries));
  bench.path = bench.at("gpu.bundle") + ":/no/such/layer";
  const Json stat = bench.json({"stat"});
  REQUIRE(stat.size() == 3);
  CHECK(stat[0]["path"] == bench.directory.root().string());
  CHECK(stat[0]["kernels"] == 6);
  CHECK(stat[0]["damaged"] == 1);
  CHECK(stat[0]["bytes"] == bytes + encode(gpu_entry()).size() + 7);
  CHECK(stat[0]["targets"] == Json{{"fake_1", 5}, {"sm_90", 1}});
  CHECK(stat[0]["compilers"] == Json{{"fake 1.0", 5}, {"nvrtc 13.0", 1}});
  CHECK(stat[0]["access"] == "written");
  CHECK(stat[1]["kind"] == "bundle");
  CHECK(stat[1]["kernels"] == 1);
  CHECK(stat[1]["access"] == "only read");
  CHECK(stat[2]["not_used"] == "No such file or directory");
  const std::string text = bench.output({"stat"});
  CHECK_THAT(text,
             Contains("5 of fake_1; 1 of sm_90") && Contains("damaged    1") && Contains("not used   No such file"));
}

TEST_CASE("tarry cache list: has every kernel, or those for a target", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 3);
  REQUIRE_FALSE(DiskLayer(bench.directory.root(), Access::ReadWrite).write(gpu_entry()).error);
  const Json list = bench.json({"list"});
  REQUIRE(list.size() == 4);
  CHECK(list[0]["kernel"] == "kernel_0");
  CHECK(list[0]["key"] == key(0));
  CHECK(list[0]["mode"] == "strict");
  CHECK(list[3]["kernel"] == gpu_entry().name);
  const Json gpu = bench.json({"list", "--target", "sm_80,sm_90"});
  REQUIRE(gpu.size() == 1);
  CHECK(gpu[0]["target"] == "sm_90");
  CHECK_THAT(bench.output({"list"}), Contains(key(2).substr(0, 12)) && Contains("kernel_2\n"));
}

TEST_CASE("tarry cache show: by key or name, with source, binary, registers and spills", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 20);
  const Entry gpu = gpu_entry();
  REQUIRE_FALSE(DiskLayer(bench.directory.root(), Access::ReadWrite).write(gpu).error);
  CHECK(bench.output({"show", key(7), "--source"}) == request(7).key.text);
  CHECK(bench.output({"show", "kernel_7", "--source"}) == request(7).key.text);
  const Json shown = bench.json({"show", key_of(gpu.material)});
  CHECK(shown["kernel"] == gpu.name);
  CHECK(shown["options"] == "--fmad=false");
  CHECK(shown["registers"] == 32);
  CHECK(shown["shared_bytes"] == 2048);
  CHECK(shown["spill_store_bytes"] == 8);
  CHECK(shown["spill_load_bytes"] == 12);
  CHECK(shown["source"] == "__global__ void scale_f32_map_ab12cd34() {}\n");
  CHECK(shown["binary_bytes"] == 5);
  CHECK_FALSE(bench.json({"show", "kernel_7"}).contains("registers"));
  CHECK_THAT(bench.output({"show", gpu.name}),
             Contains("registers  32\n") && Contains("8 bytes stored, 12 bytes loaded"));
  bench.output({"show", gpu.name, "--binary", bench.at("image")});
  CHECK(read_file(bench.at("image")) == "cubin");
}

TEST_CASE("tarry cache show: what names no kernel or several is an error", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 20);
  const ProcessResult none = bench.run({"show", "kernel_99"});
  CHECK(none.exit_status == 1);
  CHECK(none.output.empty());
  CHECK_THAT(none.error, Contains("tarry: no kernel has the key or the name kernel_99"));
  const ProcessResult several = bench.run({"show", ""});
  CHECK(several.exit_status == 1);
  CHECK_THAT(several.error, Contains("fits 20 kernels") && Contains("..."));
}

TEST_CASE("tarry cache verify: finds every damaged file and says what is wrong", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 12);
  CHECK(bench.json({"verify"}) == Json{{"sound", 12}, {"damaged", Json::array()}});
  std::vector<fs::path> files = bench.directory.files();
  std::sort(files.begin(), files.end());
  const std::string bytes = *read_file(files[0]);
  write(files[0], bytes.substr(0, bytes.size() - 1));
  std::string flipped = *read_file(files[1]);
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 4);
  write(files[1], flipped);
  write(files[2], "#!/bin/sh\n");
  write(files[3], "TARRYKRN");
  fs::copy_file(files[5], files[4], fs::copy_options::overwrite_existing);
  write(bench.directory.root() / "README", "foreign");

  const ProcessResult result = bench.run({"verify"});
  CHECK(result.exit_status == 1);
  const char* const defects[] = {"its checksum is wrong", "its checksum is wrong", "it is no kernel of this library",
                                 "it is cut off", "it is the entry of another key"};
  for (std::size_t i = 0; i < 5; ++i) CHECK_THAT(result.output, Contains(files[i].string() + ": " + defects[i] + "\n"));
  CHECK_THAT(result.output, Contains("7 kernels sound, 5 damaged"));
  const Json json = Json::parse(bench.run({"verify", "--json"}).output);
  CHECK(json["sound"] == 7);
  CHECK(json["damaged"].size() == 5);
  CHECK(*read_file(files[2]) == "#!/bin/sh\n");  // it only looks
}

TEST_CASE("tarry cache verify: finds damage anywhere in a bundle", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  const std::string file = bench.at("kernels.bundle");
  const Entry entries[] = {gpu_entry()};
  REQUIRE_FALSE(write_bundle(file, entries));
  CHECK(bench.run({"verify", "--at", file}).exit_status == 0);
  const std::string bytes = *read_file(file);
  for (const std::size_t at :
       {std::size_t{3}, std::size_t{9}, std::size_t{40}, bytes.size() / 2, bytes.size() - 20, bytes.size() - 1}) {
    INFO("byte " << at << " of " << bytes.size());
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write(file, damaged);
    const ProcessResult result = bench.run({"verify", "--at", file});
    CHECK(result.exit_status == 1);
    CHECK_THAT(result.output, Contains(file + ": "));
  }
}

TEST_CASE("tarry cache prune: removes damage, remains and what the options name", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 6);
  std::vector<fs::path> files = bench.directory.files();
  for (std::size_t i = 0; i < files.size(); ++i) age(files[i], static_cast<int>(24 * i + 1));
  const fs::path stale = files[0].string() + ".tmp-0123456789abcdef", foreign = bench.directory.root() / "README";
  write(stale, "half");
  age(stale, 2);
  write(foreign, "foreign");
  std::size_t left = 6;
  SECTION("nothing else without options") {
    write(files[2], "damaged");
    CHECK(bench.json({"prune"})["removed"] == Json{{"damaged", {{"files", 1}, {"bytes", 7}}}});
    CHECK_FALSE(fs::exists(files[2]));
    left = 5;
  }
  SECTION("kernels that were not used for days") {
    CHECK_THAT(bench.output({"prune", "--unused", "3"}), Contains("removed 3 files") && Contains("3 kernels left"));
    for (std::size_t i = 0; i < 6; ++i) CHECK(fs::exists(files[i]) == (i < 3));
    left = 3;
  }
  SECTION("the least recently used until the rest fits") {
    const std::string size = std::to_string(2 * fs::file_size(files[0]) + 10);
    CHECK(bench.json({"prune", "--size", size})["kept"]["files"] == 2);
    for (std::size_t i = 0; i < 6; ++i) CHECK(fs::exists(files[i]) == (i < 2));
    left = 2;
  }
  SECTION("kernels for a target") {
    REQUIRE_FALSE(DiskLayer(bench.directory.root(), Access::ReadWrite).write(gpu_entry()).error);
    CHECK(bench.json({"prune", "--target", "sm_90,sm_100"})["removed"]["target"]["files"] == 1);
  }
  CHECK(bench.directory.files().size() == left + 1);
  CHECK_FALSE(fs::exists(stale));
  CHECK(fs::exists(foreign));
}

TEST_CASE("tarry cache prune: a dry run only says what would go", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 3);
  write(bench.directory.files()[0], "damaged");
  CHECK_THAT(bench.output({"prune", "--size", "0", "--dry-run"}), Contains("would remove 1 file, 7 B (damaged)") &&
                                                                      Contains("would remove 2 files") &&
                                                                      Contains("0 kernels left"));
  CHECK(bench.directory.files().size() == 3);
}

TEST_CASE("tarry cache clear: removes all kernels and nothing else", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 9);
  write(bench.directory.root() / "ab" / "notes.txt", "foreign");
  CHECK_THAT(bench.output({"clear"}), Contains("0 kernels left"));
  REQUIRE(bench.directory.files().size() == 1);
  CHECK(bench.directory.files()[0].filename() == "notes.txt");
}

TEST_CASE("tarry cache export: a bundle from anywhere, with which nothing compiles", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 20);
  REQUIRE_FALSE(DiskLayer(bench.directory.root(), Access::ReadWrite).write(gpu_entry()).error);
  write(bench.directory.root() / "ab" / (std::string(32, 'a') + ".kernel"), "damaged");
  const Json exported = bench.json({"export", bench.at("all.bundle")});
  CHECK(exported["kernels"] == 21);
  CHECK(exported["damaged"] == 1);
  CHECK(exported["bytes"] == fs::file_size(bench.at("all.bundle")));
  CHECK(bench.json({"export", bench.at("gpu.bundle"), "--target", "sm_90"})["kernels"] == 1);

  bench.output({"clear"});
  bench.directory.path.set(bench.at("all.bundle"));
  bench.directory.require_cached.set("1");
  CHECK(right(requests(0, 20), bench.fake.get_fresh(requests(0, 20))));
}

TEST_CASE("tarry cache import: adds what is not there, from bundles and directories", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 10);
  bench.output({"export", bench.at("a.bundle")});
  bench.output({"clear"});
  bench.fill(0, 4);
  CHECK_THAT(bench.output({"import", bench.at("a.bundle")}), Contains("6 kernels added, 4 already there"));
  CHECK(bench.json({"import", bench.at("a.bundle"), "--at", bench.at("other")})["added"] == 10);
  CHECK(bench.json({"import", bench.at("other")})["present"] == 10);
  CHECK(count(bench.fake.get_fresh(requests(0, 10)), Hit::Disk) == 10);
  bench.output({"export", bench.at("b.bundle"), "--at", bench.at("other")});
  CHECK(*read_file(bench.at("a.bundle")) == *read_file(bench.at("b.bundle")));

  const ProcessResult result = bench.run({"import", "/no/such/file"});
  CHECK(result.exit_status == 1);
  CHECK_THAT(result.error, Contains("/no/such/file: No such file or directory"));
}

TEST_CASE("tarry cache explain: says which component of the key differs", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 3);
  bench.output({"export", bench.at("shipped.bundle")});
  KernelRequest other = request(1);
  other.key.target = "fake_2";
  bench.fake.get_fresh({other});
  const std::string here = other.key.hash().hex();
  SECTION("of all that were compiled beside what was shipped") {
    bench.path = bench.at("shipped.bundle");
    const Json all = bench.json({"explain"});
    REQUIRE(all.size() == 1);
    CHECK(all[0]["key"] == here);
    CHECK(all[0]["nearest"]["key"] == key(1));
    CHECK(all[0]["nearest"]["layer"] == bench.path);
    CHECK(all[0]["differences"] == Json::array({{{"component", "target"}, {"wanted", "fake_2"}, {"found", "fake_1"}}}));
    CHECK_THAT(bench.output({"explain"}), Contains("whose target is fake_1, not fake_2"));
  }
  SECTION("of one kernel") {
    bench.path = bench.at("shipped.bundle");
    CHECK_THAT(bench.output({"explain", here}), Contains("whose target is fake_1, not fake_2"));
    CHECK_THAT(bench.output({"explain", key(2)}), Contains("it is in " + bench.path + ", made by fake 1.0"));
  }
  SECTION("of two kernels") { CHECK(bench.json({"explain", here, key(2)})[0]["differences"].size() == 2); }
  SECTION("there must be something to compare with") {
    const ProcessResult result = bench.run({"explain"});
    CHECK(result.exit_status == 1);
    CHECK_THAT(result.error, Contains("TARRY_CACHE_PATH"));
  }
}

TEST_CASE("tarry cache: what cannot be used is an error that says why", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  for (const char* command : {"stat", "clear"}) {
    const ProcessResult off =
        tarry::support::run_process({"env", "TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=", TARRY_TOOL, "cache", command});
    CHECK(off.exit_status == 1);
    CHECK_THAT(off.error, Contains("TARRY_CACHE_DIR is off"));
  }
  write(bench.at("file"), "text");
  const ProcessResult clear = bench.run({"clear", "--at", bench.at("file")});
  CHECK(clear.exit_status == 1);
  CHECK_THAT(clear.error, Contains(bench.at("file") + ": Not a directory"));
  CHECK(read_file(bench.at("file")) == "text");
  for (const std::vector<std::string>& misunderstood : {std::vector<std::string>{"nonsense"}, {}, {"list", "--nope"}}) {
    const ProcessResult result = bench.run(misunderstood);
    CHECK(result.exit_status == 2);
    CHECK_THAT(result.error, Contains("tarry: ") && Contains("Usage: tarry cache"));
  }
  CHECK(bench.run({"--help"}).exit_status == 0);
}

TEST_CASE("tarry: bash completes commands and options", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  struct Row {
    const char *words, *completed;
  };
  const Row rows[] = {{"ca", "cache"},
                      {"cache ex", "explain export"},
                      {"cache prune --d", "--dry-run"},
                      {"cache show --source --b", "--binary"},
                      {"info --j", "--json"},
                      {"cache show x", ""}};
  for (const Row& row : rows) {
    INFO(row.words);
    const std::string script = "source <(" TARRY_TOOL " completion); COMP_WORDS=(" TARRY_TOOL " " +
                               std::string(row.words) +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tarry; echo ${COMPREPLY[@]}";
    const ProcessResult result = tarry::support::run_process({"bash", "-c", script});
    CHECK(result.error.empty());
    CHECK(result.output == std::string(row.completed) + "\n");
  }
}

TEST_CASE("tarry: the manual has every command and option, and names only switches that exist", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  const std::string manual = tarry::support::run_process({TARRY_TOOL, "manual"}).output;
  const auto candidates = [](std::vector<std::string> words) {
    words.insert(words.begin(), {TARRY_TOOL, "complete", "--"});
    std::istringstream lines(tarry::support::run_process(words).output);
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
  };
  std::size_t options = 0;
  for (const std::string& command : candidates({"cache"})) {
    if (command.starts_with("--")) continue;
    CHECK_THAT(manual, Contains(".SS tarry cache " + command + "\n"));
    for (const std::string& option : candidates({"cache", command})) {
      std::string escaped;
      for (const char c : option) escaped += c == '-' ? std::string("\\-") : std::string(1, c);
      CHECK_THAT(manual, Contains(escaped));
      ++options;
    }
  }
  CHECK(options > 25);
  std::size_t named = 0;
  for (std::size_t at = manual.find("TARRY_"); at != std::string::npos; at = manual.find("TARRY_", at + 1)) {
    const std::string name = manual.substr(at, manual.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at) - at);
    INFO(name);
    const auto& table = tarry::support::env::switches();
    CHECK(std::any_of(table.begin(), table.end(), [&](const auto& s) { return s.name == name; }));
    ++named;
  }
  CHECK(named > 10);
}

TEST_CASE("cache tool: whatever bytes an entry and its place have, text is printable and JSON parses",
          "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 1);
  Entry evil = gpu_entry();
  evil.name = "\x1b]0;owned\x07\xff";
  evil.compiler = "\x1b[5m\xfe";
  bench.path = bench.at("m\xfcller.bundle");
  REQUIRE_FALSE(write_bundle(bench.path, std::vector<Entry>{evil}));
  for (const char* command : {"list", "stat", "verify"}) {
    INFO(command);
    CHECK(bench.output({command}).find('\x1b') == std::string::npos);
    CHECK_FALSE(bench.json({command}).empty());
  }
  CHECK_THAT(bench.output({"list"}), Contains("\\x1b]0;owned\\x07\\xff"));
}

TEST_CASE("tarry: what info and list print fits 80 columns", "[cache][tool]") {
  TARRY_REQUIRE_TOOL();
  Bench bench;
  bench.fill(0, 2);
  const Entry gpu = gpu_entry();
  REQUIRE_FALSE(DiskLayer(bench.directory.root(), Access::ReadWrite)
                    .write({gpu.material, gpu.compiler, "a_kernel_whose_name_is_long_ab12cd34", gpu.log, gpu.image})
                    .error);
  const std::string listed = bench.output({"list"});
  CHECK_THAT(listed, Catch::StartsWith("key ") && Contains("last use") && Contains(".._ab12cd34\n"));
  const ProcessResult info = tarry::support::run_process({TARRY_TOOL, "info"});
  for (const std::string& text : {listed, info.output}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  }
}

TEST_CASE("cli: on a terminal the bar of warm moves while plans are made", "[cli][warm]") {
  TARRY_REQUIRE_TOOL();
  const Bench bench;
  const std::string manifest = bench.at("run.manifest");
  {
    const tarry::Scope on_cpu(tarry::cpu);
    const tarry::Recording recording(manifest);
    for (std::int64_t n = 1; n <= 3; ++n) tarry::evaluate(tarry::sqrt(tarry::ones({n, 70})) + 1.0f);
  }
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) TARRY_SKIP("no pseudo terminal");
  const std::string command =
      std::string(TARRY_TOOL) + " warm " + manifest + " --cpu v2 --jobs 1 --out " + bench.at("out");
  CHECK(tarry::support::run_process({"sh", "-c", command + " 2> " + ptsname(terminal)}).exit_status == 0);
  std::string shown(4096, '\0');
  const ssize_t size = ::read(terminal, shown.data(), shown.size());
  ::close(terminal);
  shown.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  CHECK_THAT(shown, Contains("[##########--------------------] planning, 2 left"));
}
