// Requests and compilers: NVRTC for GPUs, the system's C compiler for CPUs.
#include "runtime/device/compilers/toolchain.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/prebuilt.h"
#include "support/check.h"
#include "support/env.h"
#include "support/log.h"

namespace tarry::runtime {
namespace {

/// By the first compiler that works.
cache::Binary compile_with_any(const std::string& text, const LinkedText& linked, const std::string& options,
                               const graph::Target& target) {
  std::string failed;  // what the one before has against it
  for (CCompiler compiler = c_compiler(target);;) {
    try {
      CompiledC compiled = compile_c(text, linked, options, compiler);
      if (!failed.empty()) support::log::warn_once(fmt::format("{}; {} is used instead", failed, compiler.program));
      return {std::make_shared<const std::string>(std::move(compiled.image)), compiler.version,
              std::move(compiled.log)};
    } catch (const CompilerUnavailable& e) {
      CCompiler next = c_compiler(target);
      if (compiler.program.empty() || next.program == compiler.program) throw;
      if (next.program.empty()) throw CompilerUnavailable(next.missing);
      failed = e.what();
      compiler = std::move(next);
    }
  }
}

}  // namespace

std::string compile_options(const graph::Target& target, graph::Mode mode) {
  return target.is_cuda() ? nvrtc_options(mode) : c_flags(target);
}

std::string compiler_of(const graph::Target& target) {
  return target.is_cuda() ? nvrtc_compiler() : c_compiler(target).version;
}

cache::KernelRequest kernel_request(const codegen::KernelSource& source, graph::Mode mode, std::string options,
                                    const graph::Target& target) {
  return {{source.text, std::move(options), target.name, mode == graph::Mode::Strict ? "strict" : "relaxed"},
          source.entry,
          &source};
}

cache::Binary compile_kernels(std::span<const cache::KernelRequest* const> requests, const graph::Target& target,
                              ImageKind kind) {
  TARRY_ASSERT(!requests.empty());
  std::vector<const codegen::KernelSource*> sources;
  for (const cache::KernelRequest* request : requests)
    sources.push_back(static_cast<const codegen::KernelSource*>(request->user));
  const cache::KernelKey& key = requests.front()->key;
  if (!target.is_cuda()) {
    const Prebuilt prebuilt = support::env::has_word("TARRY_DISABLE", "prebuilt") ? Prebuilt() : prebuilt_for(target);
    LinkedText linked;
    linked.text = codegen::join_unit(sources, target, [&](const codegen::SharedText& text) {
      if (!prebuilt.holds(text)) return false;
      linked.object = prebuilt.object;
      return true;
    });
    return compile_with_any(codegen::join_unit(sources, target), linked, key.options, target);
  }
  const graph::Mode mode = key.mode == "strict" ? graph::Mode::Strict : graph::Mode::Relaxed;
  NvrtcImage image = nvrtc_compile(codegen::join_unit(sources, target), target, mode, kind);
  return {std::make_shared<const std::string>(std::move(image.bytes)), std::move(image.compiler), std::move(image.log)};
}

}  // namespace tarry::runtime
