// Finds and runs the C compiler.
#include "runtime/c_compiler.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runtime/failed_source.h"
#include "support/check.h"
#include "support/env.h"
#include "support/file.h"
#include "support/process.h"

namespace tarry::runtime {

namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr std::string_view kOtherFamily = "armv8-", kCrossCompiler = "aarch64-linux-gnu-gcc";
#else
constexpr std::string_view kOtherFamily = "x86-64-", kCrossCompiler = "x86_64-linux-gnu-gcc";
#endif

CCompiler find_compiler(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    const support::ProcessResult result = support::run_process({program, "--version"});
    if (result.succeeded() && !result.output.empty()) return {program, result.output.substr(0, result.output.find('\n')), {}};
  }
  return {};
}

CCompiler known_compiler(const std::vector<std::string>& programs) {
  static std::mutex mutex;
  static std::map<std::vector<std::string>, CCompiler> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(programs);
  if (found != known.end()) return found->second;
  CCompiler compiler = find_compiler(programs);
  if (!compiler.program.empty()) known.emplace(programs, compiler);  // a compiler that is missing may be installed later
  return compiler;
}

[[noreturn]] void fail(const std::string& text, const std::string& command, const support::ProcessResult& result) {
  const std::string status = result.started ? fmt::format("exit status {}", result.exit_status) : std::string("not started");
  TARRY_THROW(CompileError, "", Where{},
              fmt::format("the C compiler failed ({}): {}\n{}\n{}", status, command, result.error,
                          keep_failed_source(text, "failed_kernel.c")));
}

}  // namespace

CCompiler c_compiler() {
  const std::string wanted = support::env::get("TARRY_CC").value_or("");
  CCompiler compiler = wanted.empty() ? known_compiler({"cc", "gcc", "clang"}) : known_compiler({wanted});
  compiler.missing = "no C compiler works here; install one (cc, gcc or clang) or name it in TARRY_CC";
  return compiler;
}

CCompiler c_compiler(const graph::Target& target) {
  if (!std::string_view(target.name).starts_with(kOtherFamily)) return c_compiler();
  CCompiler compiler = known_compiler({std::string(kCrossCompiler)});
  compiler.missing = fmt::format("no C compiler for {} works here; install {}", target.name, kCrossCompiler);
  return compiler;
}

std::string c_flags(const graph::Target& target) {
  // No contraction and no libm: strict numerics. -fwrapv and -fno-strict-aliasing: generated code relies on them.
  // Half of what -O3 costs gcc: of its passes those that show in a kernel. -fpeel-loops keeps small arrays in registers,
  // -fschedule-insns brings independent operations of long expressions side by side.
  std::string flags = fmt::format(
      "-std=gnu11 -O1 -fgcse -fschedule-insns -fschedule-insns2 -ftree-vectorize -fpeel-loops -march={} -ffp-contract=off -fno-math-errno "
      "-fno-trapping-math -fwrapv -fno-strict-aliasing -w", target.name);
  if (target.vector_bytes == 64) flags += " -mprefer-vector-width=512";
  // gcc moves words of 64 bits through MMX registers where that saves it one of its own; those are the caller's x87 stack.
  if (std::string_view(target.name).starts_with("x86-64")) flags += " -mno-mmx";
#ifdef TARRY_SANITIZE_NAME
  flags += " -fsanitize=" TARRY_SANITIZE_NAME " -fno-sanitize-recover=all -fno-omit-frame-pointer";
#else
  flags += " -ffreestanding -nostdlib";
#endif
  return flags + " -shared -fPIC";
}

CompiledC compile_c(const std::string& text, const std::string& flags, const CCompiler& compiler) { return compile_c(text, {}, flags, compiler); }

CompiledC compile_c(const std::string& text, const LinkedText& linked, const std::string& flags, const CCompiler& compiler) {
  if (compiler.program.empty()) TARRY_THROW(CompileError, "", Where{}, compiler.missing);
  const support::ScopedTemporaryDirectory directory;
  const fs::path source = directory.path() / "kernels.c", object = directory.path() / "prebuilt.o", library = directory.path() / "kernels.so";
  const bool links = !linked.object.empty() && !support::write_file_atomically(object, linked.object);
  if (const std::error_code error = support::write_file_atomically(source, links ? linked.text : text))
    TARRY_THROW(CompileError, "", Where{}, fmt::format("cannot write {}: {}; TMPDIR may name another directory", source.string(), error.message()));
  std::vector<std::string> arguments = {compiler.program, "-pipe"};  // the assembler works meanwhile
  std::istringstream words(flags);
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.insert(arguments.end(), {"-o", library.string()});
  if (links) arguments.insert(arguments.end(), {"-Wl,--gc-sections", object.string()});
  arguments.push_back(source.string());
  const support::ProcessResult result = support::run_process(arguments);
  // The exit status may be lost; a library that is there is what counts.
  std::optional<std::string> image;
  if (result.succeeded()) image = support::read_file(library);
  if (!image || image->empty()) fail(text, fmt::format("{} {}", compiler.program, flags), result);
  return {std::move(*image), result.error};
}

}  // namespace tarry::runtime
