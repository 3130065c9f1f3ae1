// TARRY_DUMP: which files appear, what they say, and that each kernel's file is a program that computes what the engine
// does.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/nvrtc.h"
#include "support/file.h"
#include "support/process.h"
#include "support/temporary.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/runtime/observe/dump_programs.h"

namespace ta = tarry;
namespace fs = std::filesystem;
using ta::test::ramp;
using ta::test::run_child;
using ta::test::Setting;

namespace {

/// A directory that TARRY_DUMP fills while this lives.
class DumpDirectory {
 public:
  explicit DumpDirectory(const std::string& words) : words_("TARRY_DUMP", words) {}
  [[nodiscard]] const fs::path& path() const { return directory_.path(); }
  /// Names of files that end in `ending`, sorted.
  [[nodiscard]] std::vector<std::string> files(const std::string& ending) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path()))
      if (entry.path().filename().string().ends_with(ending)) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  /// The only file that ends in `ending`.
  [[nodiscard]] std::string text(const std::string& ending) const {
    const std::vector<std::string> found = files(ending);
    REQUIRE(found.size() == 1);
    return ta::support::read_file(path() / found[0]).value();
  }
  [[nodiscard]] std::vector<nlohmann::json> index() const {
    std::vector<nlohmann::json> lines;
    std::ifstream in(path() / "index.jsonl");
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

 private:
  ta::support::ScopedTemporaryDirectory directory_;
  Setting words_, where_{"TARRY_DUMP_DIR", directory_.path().string()};
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Builds and runs a dumped C file as its "// build:" line says, but with `compiler` and for `level` where they are
/// named, and the program as an argument of `runner`; the checksums that it prints.
std::vector<std::string> run_c(const fs::path& file, const std::string& compiler = ta::runtime::c_compiler().program,
                               const std::string& level = "", const std::string& runner = "") {
  const std::string text = ta::support::read_file(file).value();
  const std::size_t at = text.find("// build: ");
  REQUIRE(at != std::string::npos);
  std::vector<std::string> command = words(text.substr(at + 10, text.find('\n', at) - at - 10));
  REQUIRE(command.at(0) == "cc");
  command[0] = compiler;
  for (std::string& word : command)
    if (!level.empty() && word.starts_with("-march=")) word = "-march=" + level;
  const fs::path program = fs::path(file).replace_extension();
  command.back() = file.string();
  command.at(command.size() - 2) = program.string();
  if (!runner.empty()) {  // sanitizers have no static libraries
    std::erase_if(command, [](const std::string& word) { return word.starts_with("-fsanitize"); });
    command.emplace_back("-static");
  }
  const ta::support::ProcessResult built = ta::support::run_process(command);
  INFO(file.string() << "\n" << built.error);
  REQUIRE(built.succeeded());
  const std::vector<std::string> run =
      runner.empty() ? std::vector{program.string()} : std::vector{runner, program.string()};
  const ta::support::ProcessResult ran = ta::support::run_process(run);
  REQUIRE(ran.succeeded());
  std::vector<std::string> sums;
  const std::vector<std::string> printed = words(ran.output);
  for (std::size_t i = 0; i + 1 < printed.size(); ++i)
    if (printed[i] == "fnv1a") sums.push_back(printed[i + 1]);
  return sums;
}

/// "kernel" -> checksum, as dump_runs printed them.
std::map<std::string, std::string> engine_results(const std::string& output) {
  std::map<std::string, std::string> results;
  const std::vector<std::string> printed = words(output);
  REQUIRE(printed.size() == 3 * ta::test::one_kernels().size());
  for (std::size_t i = 0; i < printed.size(); i += 3) {
    INFO(printed[i]);
    CHECK(printed[i + 1] != "-");
    results[printed[i + 1]] = printed[i + 2];
  }
  return results;
}

}  // namespace

TEST_CASE("dump: every word is a file, and statements carry the user's lines", "[runtime][dump]") {
  const DumpDirectory dump("source,graph,dot,plan,ir,passes");
  const ta::Array x = ta::asarray(ramp(1000)), y = ta::exp(x * -0.5f);
  (void)ta::plan_for("sm_90", y);
  const std::string cuda = dump.text(".cu");
  CHECK(cuda.find("// exp at ") != std::string::npos);
  CHECK(cuda.find("dump_test.cpp:") != std::string::npos);
  CHECK(cuda.find("// launch: grid ") != std::string::npos);
  CHECK(cuda.find("// build: nvcc -arch=sm_90 --fmad=false") != std::string::npos);
  CHECK(dump.text("fused.dot").find("digraph") != std::string::npos);
  CHECK(dump.text("-plan.txt").find("group 0") != std::string::npos);
  CHECK(dump.text("-plan.txt").find("buffers leaf 0, output 0, 4000 bytes read, 4000 written") != std::string::npos);
  CHECK(dump.text(".ir").find("exp") != std::string::npos);
  CHECK(dump.files(".txt").size() > 4);
  CHECK(dump.files(".svg").empty());
  CHECK(dump.files(".ptx").empty());
}

TEST_CASE("dump: the index tells kernel, call, how it was had and which lines", "[runtime][dump]") {
  const DumpDirectory dump("source");
  const ta::test::CacheDirectory cache;
  const ta::Array x = ta::asarray(ramp(777)), y = ta::cosh(x) * 3.25f;
  ta::evaluate(y);
  const std::vector<nlohmann::json> lines = dump.index();
  REQUIRE(lines.size() == 1);
  const nlohmann::json& line = lines[0];
  CHECK(line["call"] == "evaluate");
  CHECK(line["at"].get<std::string>().find("dump_test.cpp:") != std::string::npos);
  CHECK(line["hit"] == "compiled");
  CHECK(line["launches"] == 1);
  CHECK(line["kernel"].get<std::string>().starts_with("cosh_multiply_f32_map_"));
  CHECK(fs::exists(dump.path() / line["file"].get<std::string>()));
  const auto key = line["key"].get<std::string>();
  const std::vector<fs::path> entries = cache.files();
  CHECK(std::any_of(entries.begin(), entries.end(),
                    [&](const auto& e) { return e.filename().string().starts_with(key); }));
  CHECK(ta::kernel_history().back().key == key);
  REQUIRE(line["lines"].size() == 2);
  CHECK(line["lines"][0].get<std::string>().starts_with("cosh at "));
}

TEST_CASE("dump: a kernel from memory and one from disk are dumped like a compiled one", "[runtime][dump]") {
  const ta::test::CacheDirectory cache;
  const auto run = [] {
    const ta::Array x = ta::asarray(ramp(501)), y = ta::sinh(x) - 1.75f;
    ta::evaluate(y);
  };
  run();  // compiles, and plans without dumping
  const char* const suffix = ta::default_device().kind == ta::DeviceKind::Cuda ? ".cu" : ".c";
  const DumpDirectory memory("source");
  run();
  CHECK(memory.files(suffix).size() == 1);
  REQUIRE(memory.index().size() == 1);
  CHECK(memory.index()[0]["hit"] == "memory");
  run();  // the plan is found now
  CHECK(memory.files(suffix).size() == 1);
  REQUIRE(memory.index().size() == 2);
  CHECK(memory.index()[1]["plan"] == memory.index()[0]["plan"]);
  CHECK(memory.index()[1]["lines"] == memory.index()[0]["lines"]);
}

TARRY_CHILD(dump_one) {
  const ta::Array x = ta::asarray(ramp(501)), y = ta::sinh(x) - 1.75f;
  ta::evaluate(y);
  return 0;
}

TEST_CASE("dump: a second process finds the kernel on disk and dumps it", "[runtime][dump]") {
  const ta::test::CacheDirectory cache;
  for (const char* hit : {"compiled", "disk"}) {
    const DumpDirectory dump("source");
    REQUIRE(run_child("dump_one", {"TARRY_DUMP=source", "TARRY_DUMP_DIR=" + dump.path().string(), "TARRY_DEVICE=cpu",
                                   "TARRY_CACHE_DIR=" + cache.root().string()})
                .succeeded());
    CHECK(dump.files(".c").size() == 1);
    REQUIRE(dump.index().size() == 1);
    CHECK(dump.index()[0]["hit"] == hit);
  }
}

TEST_CASE("dump: every C file is a program that computes what the engine does", "[runtime][dump]") {
  if (ta::runtime::c_compiler().program.empty()) TARRY_SKIP("no C compiler");
  const DumpDirectory dump("source");
  const ta::support::ProcessResult child =
      run_child("dump_runs", {"TARRY_DUMP=source", "TARRY_DUMP_DIR=" + dump.path().string(), "TARRY_DEVICE=cpu"});
  INFO(child.error);
  REQUIRE(child.succeeded());
  const std::map<std::string, std::string> expected = engine_results(child.output);
  REQUIRE(expected.size() == ta::test::one_kernels().size());
  REQUIRE(dump.files(".c").size() == expected.size());
  for (const auto& [kernel, sum] : expected) {
    INFO(kernel);
    CHECK(run_c(dump.path() / (kernel + ".c")) == std::vector<std::string>{sum});
  }
}

#if defined(__x86_64__)
TEST_CASE("dump: kernels for armv8-a compute the bits of this processor, every op of float32 among them",
          "[runtime][dump]") {
  const ta::runtime::CCompiler cross = ta::runtime::c_compiler(*ta::graph::find_target("armv8-a"));
  if (cross.program.empty()) TARRY_SKIP(cross.missing);
  const char* const emulator = "qemu-aarch64";
  if (!ta::support::run_process({emulator, "--version"}).succeeded())
    TARRY_SKIP("there is no qemu-aarch64 to run what is for another processor");
  const DumpDirectory dump("source");
  const ta::support::ProcessResult child = run_child(
      "dump_some", {"TARRY_DUMP=source", "TARRY_DUMP_DIR=" + dump.path().string(), "TARRY_TEST_TARGET=armv8-a"});
  INFO(child.error);
  REQUIRE(child.succeeded());
  const std::vector<std::string> files = dump.files(".c");
  CHECK(files.size() > ta::test::one_kernels().size());
  for (const std::string& file : files) {
    INFO(file);
    const std::vector<std::string> sums = run_c(dump.path() / file, cross.program, "", emulator);
    CHECK_FALSE(sums.empty());
    CHECK(sums == run_c(dump.path() / file, ta::runtime::c_compiler().program, "x86-64-v2"));
  }
}
#endif

TEST_CASE("dump: every CUDA file of all ops, dtypes and schedules compiles", "[runtime][dump]") {
  TARRY_REQUIRE_NVRTC();
  const DumpDirectory dump("source");
  const ta::support::ProcessResult child = run_child(
      "dump_everything", {"TARRY_DUMP=source", "TARRY_DUMP_DIR=" + dump.path().string(), "TARRY_TEST_TARGET=sm_90"});
  INFO(child.error);
  REQUIRE(child.succeeded());
  const std::vector<std::string> files = dump.files(".cu");
  CHECK(files.size() > 40);
  for (const char* schedule : {"_map_", "_serial_", "_inner_", "_outer_", "_rows_", "_short_rows_"})
    CHECK(
        std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.find(schedule) != std::string::npos; }));
  for (const std::string& file : files) {
    INFO(file);
    const auto text = ta::support::read_file(dump.path() / file).value();
    CHECK_NOTHROW(ta::runtime::nvrtc_compile(text, *ta::graph::find_target("sm_90"), ta::graph::Mode::Strict,
                                             ta::runtime::ImageKind::Ptx));
  }
}

TEST_CASE("dump: PTX comes from NVRTC", "[runtime][dump]") {
  TARRY_REQUIRE_NVRTC();
  const DumpDirectory dump("ptx");
  const ta::Array x = ta::asarray(ramp(100));
  (void)ta::plan_for("sm_80", ta::tan(x) + 0.125f);
  CHECK(dump.text(".ptx").find(".target sm_80") != std::string::npos);
  CHECK(dump.files(".cu").empty());
}

TEST_CASE("dump: a disassembler of the toolkit that CUDA_HOME names makes the SASS", "[runtime][dump]") {
  TARRY_REQUIRE_NVRTC();
  const ta::support::ScopedTemporaryDirectory toolkit;
  fs::create_directories(toolkit.path() / "bin");
  const fs::path tool = toolkit.path() / "bin" / "nvdisasm";
  std::ofstream(tool) << "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nhead -c 4 \"$1\" | tail -c 3\n";
  fs::permissions(tool, fs::perms::owner_all);
  if (ta::support::run_process({"nvdisasm", "--version"}).succeeded()) TARRY_SKIP("the real nvdisasm is on PATH");
  const Setting home("CUDA_HOME", toolkit.path().string());
  const DumpDirectory dump("sass");
  const ta::Array x = ta::asarray(ramp(100));
  (void)ta::plan_for("sm_80", ta::tan(x) + 0.375f);
  CHECK(dump.text(".sass") == "ELF");  // what the tool was given is machine code
}

TEST_CASE("dump: graphs are drawn where Graphviz is", "[runtime][dump]") {
  if (!ta::support::run_process({"dot", "-V"}).succeeded()) TARRY_SKIP("no Graphviz");
  const DumpDirectory dump("svg");
  const ta::Array x = ta::asarray(ramp(100));
  (void)ta::plan(x * 2.0f + 1.0f);
  CHECK(dump.text("fused.svg").find("<svg") != std::string::npos);
  CHECK(dump.files("recorded.svg").size() == 1);
}

TEST_CASE("dump: a word that means nothing and a place that cannot be written cost a warning each", "[runtime][dump]") {
  const ta::test::CapturedLog log;
  const Setting words("TARRY_DUMP", "sauce,source"), where("TARRY_DUMP_DIR", "/proc/none");
  const ta::Array x = ta::asarray(ramp(100)), y = x * 2.5f;
  ta::evaluate(y);
  CHECK(y.to_vector<float>()[1] == 2.5f);
  const std::vector<std::string> messages = log.messages();
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].find("sauce") != std::string::npos);
  CHECK(messages[1].find("TARRY_DUMP_DIR") != std::string::npos);
}
