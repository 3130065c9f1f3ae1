// Finds and runs nvcc, nvdisasm, cuobjdump and dot. NVRTC comes first where it can do the work.
#include "runtime/observe/dump_tools.h"

#include <fmt/format.h>
#include <tarry/error.h>

#include <initializer_list>
#include <optional>
#include <vector>

#include "runtime/device/compilers/nvrtc.h"
#include "support/env.h"
#include "support/file.h"
#include "support/process.h"
#include "support/temporary.h"

namespace tarry::runtime {
namespace {

/// The CUDA tool of that name: on PATH, or in the toolkit that CUDA_HOME or CUDA_PATH names or that stands at the usual
/// place.
std::optional<std::string> find_tool(const std::string& name) {
  std::vector<std::string> candidates = {name};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const auto root = support::env::system(variable)) candidates.push_back(*root + "/bin/" + name);
  candidates.push_back("/usr/local/cuda/bin/" + name);
  for (const std::string& program : candidates)
    if (support::run_process({program, "--version"}).succeeded()) return program;
  return std::nullopt;
}

/// The output of nvcc for `source`: the file that `option` (-ptx, -cubin) asks for.
ToolText nvcc(const std::string& source, const graph::Target& target, graph::Mode mode, const char* option) {
  const auto program = find_tool("nvcc");
  if (!program) return {"", fmt::format("there is neither NVRTC ({}) nor nvcc", nvrtc_unavailable_reason())};
  const support::ScopedTemporaryDirectory directory;
  const auto input = directory.path() / "kernel.cu", output = directory.path() / "kernel.out";
  if (const std::error_code error = support::write_file_atomically(input, source)) return {"", error.message()};
  const support::ProcessResult result = support::run_process(
      {*program, fmt::format("-arch={}", target.name), mode == graph::Mode::Strict ? "--fmad=false" : "--fmad=true",
       option, "-o", output.string(), input.string()});
  if (auto made = support::read_file(output)) return {std::move(*made), ""};
  return {"", fmt::format("nvcc failed: {}", result.error)};
}

ToolText compiled(const std::string& source, const graph::Target& target, graph::Mode mode, ImageKind kind) {
  if (!nvrtc_unavailable_reason().empty())
    return nvcc(source, target, mode, kind == ImageKind::Ptx ? "-ptx" : "-cubin");
  try {
    NvrtcImage image = nvrtc_compile(source, target, mode, kind);
    if (image.kind != kind) return {"", fmt::format("{} makes no machine code for {}", image.compiler, target.name)};
    return {std::move(image.bytes), ""};
  } catch (const CompileError& error) {
    return {"", error.what()};
  }
}

}  // namespace

ToolText ptx_of(const std::string& source, const graph::Target& target, graph::Mode mode) {
  ToolText ptx = compiled(source, target, mode, ImageKind::Ptx);
  while (!ptx.text.empty() && ptx.text.back() == '\0') ptx.text.pop_back();  // NVRTC counts the end of the string
  return ptx;
}

ToolText sass_of(const std::string& source, const graph::Target& target, graph::Mode mode) {
  std::vector<std::string> command;
  if (const auto program = find_tool("nvdisasm")) {
    command = {*program};
  } else if (const auto other = find_tool("cuobjdump")) {
    command = {*other, "-sass"};
  } else {
    return {"", "there is neither nvdisasm nor cuobjdump"};
  }
  ToolText cubin = compiled(source, target, mode, ImageKind::Cubin);
  if (!cubin.missing.empty()) return cubin;
  const support::ScopedTemporaryDirectory directory;
  const auto file = directory.path() / "kernel.cubin";
  if (const std::error_code error = support::write_file_atomically(file, cubin.text)) return {"", error.message()};
  command.push_back(file.string());
  support::ProcessResult result = support::run_process(command);
  if (!result.succeeded()) return {"", fmt::format("{} failed: {}", command.front(), result.error)};
  return {std::move(result.output), ""};
}

ToolText svg_of(const std::filesystem::path& dot) {
  support::ProcessResult result = support::run_process({"dot", "-Tsvg", dot.string()});
  if (!result.started) return {"", "there is no dot; install Graphviz"};
  if (!result.succeeded()) return {"", fmt::format("dot failed: {}", result.error)};
  return {std::move(result.output), ""};
}

}  // namespace tarry::runtime
