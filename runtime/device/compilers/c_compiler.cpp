// Runs the C compiler, and finds out whose fault it is where that fails.
#include "runtime/device/compilers/c_compiler.h"

#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "runtime/device/compilers/compiler_search.h"
#include "runtime/device/compilers/failed_source.h"
#include "support/check.h"
#include "support/env.h"
#include "support/file.h"
#include "support/fork.h"
#include "support/printable.h"
#include "support/process.h"
#include "support/temporary.h"

namespace tarry::runtime {

namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr std::string_view kOtherFamily = "armv8-", kCrossCompiler = "aarch64-linux-gnu-gcc";
#else
constexpr std::string_view kOtherFamily = "x86-64-", kCrossCompiler = "x86_64-linux-gnu-gcc";
#endif

/// Time that suffices a working compiler, whatever the kernel.
constexpr std::chrono::minutes kLongest{5};

constexpr std::string_view kCheck = "int tarry_check(int x) { return x + 1; }\n";

/// `advice`: what to do where there is none.
CCompiler found(const std::vector<std::string>& programs, std::string_view none, std::string_view advice) {
  KnownCompiler known = find_compiler(programs);
  CCompiler compiler{std::move(known.path), std::move(known.version), std::string(none)};
  if (!known.defect.empty()) compiler.missing += fmt::format(" ({})", known.defect);
  compiler.missing += fmt::format("; {}", advice);
  return compiler;
}

/// True if all of a shared object is there: the table that linkers write at its end is. Where the exit status is lost,
/// a compiler that was killed looks like one that is done.
bool is_whole_library(std::string_view image) {
  struct Header {  // of an ELF file of 64 bits
    char magic[16];
    std::uint16_t type, machine;
    std::uint32_t version;
    std::uint64_t entry, segments, sections;
    std::uint32_t flags;
    std::uint16_t size, segment_size, segment_count, section_size, section_count, names;
  } header;
  if (image.size() < sizeof header) return false;
  std::memcpy(&header, image.data(), sizeof header);
  const std::uint64_t table = std::uint64_t{header.section_size} * header.section_count;
  return std::string_view(header.magic, 4) ==
             "\x7f"
             "ELF" &&
         header.sections <= image.size() && table <= image.size() - header.sections;
}

/// One run of a compiler. Where it gives no image, `obstacle` is what the system has against it, and else the result
/// says more.
struct Attempt {
  std::optional<std::string> image;
  std::string obstacle;
  support::ProcessResult result;
};

Attempt attempt(std::string_view text, const LinkedText& linked, const std::string& flags, const std::string& program,
                std::chrono::milliseconds limit) {
  Attempt a;
  std::optional<support::ScopedTemporaryDirectory> directory;
  try {
    directory.emplace();
  } catch (const CompileError& e) {
    a.obstacle = e.what();
    return a;
  }
  const fs::path source = directory->path() / "kernels.c", object = directory->path() / "prebuilt.o",
                 library = directory->path() / "kernels.so";
  const bool links = !linked.object.empty() && !support::write_file_atomically(object, linked.object);
  if (const std::error_code error =
          support::write_file_atomically(source, links ? std::string_view(linked.text) : text)) {
    a.obstacle = fmt::format("cannot write {}: {}; TMPDIR may name another directory",
                             source.parent_path().parent_path().string(), error.message());
    return a;
  }
  std::vector<std::string> arguments = {program, "-pipe"};  // the assembler works meanwhile
  std::istringstream words(flags);
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.insert(arguments.end(), {"-o", library.string()});
  if (links) arguments.insert(arguments.end(), {"-Wl,--gc-sections", object.string()});
  arguments.push_back(source.string());
  // Files that the compiler leaves behind go with the directory. It looks for its own programs along PATH.
  support::ProcessSettings settings{
      .input = {}, .limit = limit, .environment = {"TMPDIR=" + directory->path().string()}};
  if (!support::env::system("PATH")) settings.environment.emplace_back("PATH=/usr/local/bin:/usr/bin:/bin");
  a.result = support::run_process(arguments, settings);
  if (!a.result.started) a.obstacle = a.result.error;
  if (a.result.succeeded()) a.image = support::read_file(library);  // the exit status may be lost
  if (a.image && !is_whole_library(*a.image)) a.image.reset();
  return a;
}

/// Why there is no image.
std::string reason(const Attempt& a, std::chrono::milliseconds limit) {
  if (!a.obstacle.empty()) return a.obstacle;
  if (a.result.timed_out) return fmt::format("it did not end within {} seconds", limit.count() / 1000);
  if (a.result.exit_status > 128) return fmt::format("signal {} ended it", a.result.exit_status - 128);
  if (a.result.exit_status == 0) return "it makes no shared object";
  const std::string first = a.result.error.substr(0, std::min<std::size_t>(a.result.error.find('\n'), 200));
  return fmt::format("it fails with exit status {}{}{}", a.result.exit_status, first.empty() ? "" : ": ",
                     support::printable(first));
}

/// True if the compiler read the text and would not have it.
bool refused(const Attempt& a) {
  const support::ProcessResult& r = a.result;
  const auto says = [&](const char* words) { return r.error.find(words) != std::string::npos; };
  const bool part_killed =
      says("signal terminated program") || says("unable to execute command");  // its own compiler or linker
  return a.obstacle.empty() && !r.timed_out && r.exit_status > 0 && r.exit_status < 128 && !part_killed;
}

/// True if `program` compiles anything at all; asked where it has failed. One thread asks. Throws CompilerUnavailable.
void check(const std::string& program, const std::string& flags) {
  static auto& mutex = *new support::Mutex;
  const std::lock_guard lock(mutex);
  const std::string known = known_compiler(program).defect;
  if (!known.empty()) throw CompilerUnavailable(fmt::format("{}: {}", program, known));
  const Attempt a = attempt(kCheck, {}, flags, program, kCompilerPatience);
  if (a.image) return note_works(program);
  const std::string why = reason(a, kCompilerPatience);
  if (a.result.started) note_broken(program, why);
  throw CompilerUnavailable(fmt::format("{}: {}", program, why));
}

[[noreturn]] void fail(const std::string& text, const std::string& command, const support::ProcessResult& result) {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  TARRY_THROW(CompileError, "", Where{},
              fmt::format("the C compiler failed (exit status {}): {}\n{}\n{}", result.exit_status, command,
                          result.error.substr(0, kMost), keep_failed_source(text, "failed_kernel.c")));
}

}  // namespace

CCompiler c_compiler() {
  const std::string wanted = support::env::get("TARRY_CC").value_or("");
  return found(wanted.empty() ? std::vector<std::string>{"cc", "gcc", "clang"} : std::vector{wanted},
               "no C compiler works here", "install one (cc, gcc or clang) or name it in TARRY_CC");
}

CCompiler c_compiler(const graph::Target& target) {
  if (!std::string_view(target.name).starts_with(kOtherFamily)) return c_compiler();
  return found({std::string(kCrossCompiler)}, fmt::format("no C compiler for {} works here", target.name),
               fmt::format("install {}", kCrossCompiler));
}

std::string c_flags(const graph::Target& target) {
  // No contraction and no libm: strict numerics. -fwrapv and -fno-strict-aliasing: generated code relies on them.
  // Half of what -O3 costs gcc: of its passes those that show in a kernel. -fpeel-loops keeps small arrays in
  // registers, -fschedule-insns brings independent operations of long expressions side by side.
  std::string flags = fmt::format(
      "-std=gnu11 -O1 -fgcse -fschedule-insns -fschedule-insns2 -ftree-vectorize -fpeel-loops -march={} "
      "-ffp-contract=off -fno-math-errno "
      "-fno-trapping-math -fwrapv -fno-strict-aliasing -w",
      target.name);
  if (target.vector_bytes == 64) flags += " -mprefer-vector-width=512";
  // gcc moves words of 64 bits through MMX registers where that saves it one of its own; those are the caller's x87
  // stack.
  if (std::string_view(target.name).starts_with("x86-64")) flags += " -mno-mmx";
#ifdef TARRY_SANITIZE_NAME
  flags += " -fsanitize=" TARRY_SANITIZE_NAME " -fno-sanitize-recover=all -fno-omit-frame-pointer";
#else
  flags += " -ffreestanding -nostdlib";
#endif
  return flags + " -shared -fPIC";
}

CompiledC compile_c(const std::string& text, const std::string& flags, const CCompiler& compiler) {
  return compile_c(text, {}, flags, compiler);
}

CompiledC compile_c(const std::string& text, const LinkedText& linked, const std::string& flags,
                    const CCompiler& compiler) {
  if (compiler.program.empty()) throw CompilerUnavailable(compiler.missing);
  const auto run = [&](std::chrono::milliseconds limit) {
    return attempt(text, linked, flags, compiler.program, limit);
  };
  const bool proven = known_compiler(compiler.program).proven;
  Attempt a = run(proven ? std::chrono::milliseconds(kLongest) : std::chrono::milliseconds(kCompilerPatience));
  if (!a.image) {
    check(compiler.program, flags);
    if (a.result.timed_out && !proven) a = run(kLongest);  // it works, and the text takes it long
  }
  if (a.image) {
    if (!proven) note_works(compiler.program);
    return {*std::move(a.image), std::move(a.result.error)};
  }
  if (refused(a)) fail(text, fmt::format("{} {}", compiler.program, flags), a.result);
  throw CompilerUnavailable(fmt::format("{}: {}", compiler.program, reason(a, kLongest)));
}

}  // namespace tarry::runtime
