// Finds libnvrtc, compiles with it, and reads what ptxas said.
#include "runtime/device/compilers/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "runtime/device/compilers/failed_source.h"
#include "runtime/device/compilers/nvrtc_api.h"
#include "runtime/device/handle.h"
#include "support/check.h"
#include "support/env.h"
#include "support/packages.h"

namespace tarry::runtime {
namespace cuda {
namespace {

template <class F>
bool find(void* library, const char* symbol, F& entry) {
  entry = reinterpret_cast<F>(dlsym(library, symbol));
  return entry != nullptr;
}

}  // namespace

std::string resolve(void* library, NvrtcApi& api) {
#define TARRY_RESOLVE(member, symbol, parameters) \
  if (!find(library, #symbol, api.member)) return #symbol;
  TARRY_NVRTC_ENTRIES(TARRY_RESOLVE)
#undef TARRY_RESOLVE
  if (!find(library, "nvrtcGetErrorString", api.get_error_string)) return "nvrtcGetErrorString";
  return {};
}

}  // namespace cuda

namespace {

namespace env = support::env;
using cuda::NvrtcResult;

/// One choice per mode, spelled out although most are defaults: they are what strict means.
constexpr std::string_view kStrictOptions = "--std=c++17 --fmad=false --ftz=false --prec-div=true --prec-sqrt=true";
constexpr std::string_view kRelaxedOptions = "--std=c++17 --fmad=true --ftz=false --prec-div=true --prec-sqrt=true";

constexpr std::array kNames{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

void add_folder(std::vector<std::string>& candidates, const std::string& folder) {
  for (const char* name : kNames) {
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path, ignored)) candidates.push_back(path.string());
  }
}

void add_toolkit(std::vector<std::string>& candidates, const std::string& root) {
  for (const char* part : {"lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"}) {
    add_folder(candidates, root + "/" + part);
  }
}

/// Names to hand to dlopen, best first: what the user named, the loader's choice, toolkits, Python wheels.
std::vector<std::string> candidates(const std::string& named) {
  std::vector<std::string> result;
  if (!named.empty()) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(named, ignored)) return {named};
    add_folder(result, named);
    return result;
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = env::system(variable)) add_toolkit(result, *root);
  }
  result.insert(result.end(), kNames.begin(), kNames.end());
  add_toolkit(result, "/usr/local/cuda");
  for (const std::string& root : support::matches("/usr/local/cuda-*")) add_toolkit(result, root);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = env::system(variable)) add_folder(result, *prefix + "/lib");
  }
  for (const std::string& packages : support::package_folders())
    for (const std::string& folder : support::matches(packages + "/nvidia/*/lib")) add_folder(result, folder);
  return result;
}

/// libnvrtc opens its builtins by bare name, which the loader finds only where it already holds them when libnvrtc
/// itself was opened by path.
void preload_builtins(const std::filesystem::path& library) {
  if (!library.has_parent_path()) return;
  for (const std::string& path : support::matches((library.parent_path() / "libnvrtc-builtins.so.*").string())) {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  }
}

struct NvrtcLibrary {
  cuda::NvrtcApi api;
  std::string path;
  std::string reason;  ///< why there is none; then nothing else counts
  std::string compiler;
  std::vector<int> archs;  ///< compute capabilities it knows, ascending
};

std::string version_and_archs(NvrtcLibrary& library) {
  int major = 0;
  int minor = 0;
  int count = 0;
  NvrtcResult result = cuda::call(library.api.version, &major, &minor);
  if (result == NvrtcResult::Success) result = cuda::call(library.api.get_num_supported_archs, &count);
  if (result == NvrtcResult::Success) {
    library.archs.resize(static_cast<std::size_t>(count));
    result = cuda::call(library.api.get_supported_archs, library.archs.data());
  }
  if (result != NvrtcResult::Success) return library.api.get_error_string(result);
  std::sort(library.archs.begin(), library.archs.end());
  library.compiler = fmt::format("nvrtc {}.{}", major, minor);
  return {};
}

/// Opens the first candidate that works. A library once opened stays: compiles may be running at exit.
std::unique_ptr<NvrtcLibrary> open_library(const std::string& named) {
  auto library = std::make_unique<NvrtcLibrary>();
  std::vector<std::string> refused;
  for (const std::string& path : candidates(named)) {
    preload_builtins(path);
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      refused.emplace_back(why != nullptr ? why : path);
      continue;
    }
    if (const std::string missing = cuda::resolve(handle, library->api); !missing.empty()) {
      refused.push_back(fmt::format("{} lacks {} (CUDA 11.2 or newer is needed)", path, missing));
      continue;
    }
    library->path = path;
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(library->api.version), &info) != 0 && info.dli_fname != nullptr) {
      library->path = info.dli_fname;
    }
    return library;
  }
  library->reason = fmt::format(
      "no NVRTC ({}); install the CUDA toolkit or Python's nvidia-cuda-nvrtc, or set TARRY_NVRTC to libnvrtc.so",
      refused.empty() ? fmt::format("TARRY_NVRTC={} holds no libnvrtc", named)
                      : fmt::format("{}", fmt::join(refused, "; ")));
  return library;
}

/// The library for the present value of TARRY_NVRTC; opened once for each value.
const NvrtcLibrary& library() {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::string, std::unique_ptr<NvrtcLibrary>>;
  const std::string named = env::get("TARRY_NVRTC").value_or("");
  const std::lock_guard lock(mutex);
  std::unique_ptr<NvrtcLibrary>& slot = (*opened)[named];
  if (!slot) {
    std::unique_ptr<NvrtcLibrary> found = open_library(named);
    if (found->reason.empty()) {
      // A failing query is reported but not kept: it says nothing about the next one.
      if (const std::string error = version_and_archs(*found); !error.empty()) {
        TARRY_THROW(CompileError, "", Where{}, fmt::format("{}: {}", found->path, error));
      }
    }
    slot = std::move(found);
  }
  return *slot;
}

struct ProgramRef {
  const cuda::NvrtcApi* api = nullptr;
  cuda::Program program = nullptr;
  friend bool operator==(const ProgramRef&, const ProgramRef&) = default;
};
void destroy_program(ProgramRef p) noexcept { (void)cuda::call(p.api->destroy_program, &p.program); }
using ProgramHandle = Handle<ProgramRef, destroy_program>;

void check(const NvrtcLibrary& library, NvrtcResult result, const char* what) {
  if (result == NvrtcResult::Success) return;
  TARRY_THROW(CompileError, "", Where{}, fmt::format("{}: {}", what, library.api.get_error_string(result)));
}

/// The text that a pair (size, get) of NVRTC calls returns.
template <class Size, class Get>
std::string fetch(const NvrtcLibrary& library, cuda::Program program, Size size, Get get, const char* what) {
  std::size_t bytes = 0;
  check(library, cuda::call(size, program, &bytes), what);
  std::string text(bytes, '\0');
  if (bytes != 0) check(library, cuda::call(get, program, text.data()), what);
  return text;
}

/// The log without its final NUL and without ptxas's timings, which differ from run to run.
std::string read_log(const NvrtcLibrary& library, cuda::Program program) {
  const std::string raw =
      fetch(library, program, library.api.get_program_log_size, library.api.get_program_log, "nvrtcGetProgramLog");
  std::string log;
  std::string_view rest = std::string_view(raw).substr(0, raw.find('\0'));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    if (line.find("Compile time = ") == std::string_view::npos) log += line;
    rest.remove_prefix(end);
  }
  return log;
}

struct Arch {
  std::string option;
  ImageKind kind;
};

Arch choose_arch(const NvrtcLibrary& library, const graph::Target& target, ImageKind wanted) {
  const std::vector<int>& known = library.archs;
  if (wanted == ImageKind::Cubin && std::binary_search(known.begin(), known.end(), target.level)) {
    return {fmt::format("--gpu-architecture=sm_{}", target.level), ImageKind::Cubin};
  }
  const auto above = std::upper_bound(known.begin(), known.end(), target.level);
  if (above == known.begin()) {
    TARRY_THROW(CompileError, "", Where{},
                fmt::format("{} knows no architecture as old as {}; its oldest is sm_{}", library.compiler, target.name,
                            known.empty() ? 0 : known.front()));
  }
  return {fmt::format("--gpu-architecture=compute_{}", *(above - 1)), ImageKind::Ptx};
}

/// Options that change no bit of the result; the last ones are unknown to old versions, which then go without.
/// --modify-stack-limit=false: NVRTC would otherwise raise the stack limit of the whole process.
/// --no-cache: a hit in the driver's compile cache comes without ptxas's report, on which splitting depends.
constexpr std::array kOwnOptions{"--device-as-default-execution-space", "--modify-stack-limit=false",
                                 "--ptxas-options=-v", "--minimal", "--no-cache"};
constexpr std::size_t kOptionalCount = 2;

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end != 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<std::string> command_line(const Arch& arch, graph::Mode mode, std::size_t own_options) {
  std::vector<std::string> options{arch.option};
  for (std::string& word : split_words(mode == graph::Mode::Strict ? kStrictOptions : kRelaxedOptions)) {
    options.push_back(std::move(word));
  }
  for (std::size_t i = 0; i < own_options; ++i) {
    const std::string_view option = kOwnOptions[i];
    if (arch.kind == ImageKind::Cubin || option != "--ptxas-options=-v") options.emplace_back(option);
  }
  return options;
}

ProgramHandle make_program(const NvrtcLibrary& library, const std::string& text) {
  cuda::Program program = nullptr;
  check(library, cuda::call(library.api.create_program, &program, text.c_str(), "tarry.cu", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  return ProgramHandle(ProgramRef{&library.api, program});
}

NvrtcResult run(const NvrtcLibrary& library, cuda::Program program, std::span<const std::string> options) {
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  return cuda::call(library.api.compile_program, program, static_cast<int>(words.size()), words.data());
}

}  // namespace

std::string nvrtc_options(graph::Mode mode) {
  std::string options(mode == graph::Mode::Strict ? kStrictOptions : kRelaxedOptions);
  // NVRTC reads these itself, so a binary made under them must not be taken for one made without.
  for (const char* variable : {"NVRTC_PREPEND_FLAGS", "NVRTC_APPEND_FLAGS"}) {
    if (const auto flags = env::system(variable); flags && !flags->empty()) {
      options += fmt::format(" {}={}", variable, *flags);
    }
  }
  return options;
}

namespace {

const NvrtcLibrary& usable_library() {
  const NvrtcLibrary& nvrtc = library();
  if (!nvrtc.reason.empty()) TARRY_THROW(CompileError, "", Where{}, nvrtc.reason);
  return nvrtc;
}

NvrtcImage finished(const NvrtcLibrary& nvrtc, const Arch& arch, cuda::Program program, NvrtcResult result,
                    const std::string& text, const graph::Target& target) {
  const std::string log = read_log(nvrtc, program);
  if (result != NvrtcResult::Success) {
    TARRY_THROW(CompileError, "", Where{},
                fmt::format("{} could not compile for {}: {}\n{}\n{}", nvrtc.compiler, target.name,
                            nvrtc.api.get_error_string(result), log, keep_failed_source(text, "failed_kernel.cu")));
  }
  std::string bytes = arch.kind == ImageKind::Cubin
                          ? fetch(nvrtc, program, nvrtc.api.get_cubin_size, nvrtc.api.get_cubin, "nvrtcGetCUBIN")
                          : fetch(nvrtc, program, nvrtc.api.get_ptx_size, nvrtc.api.get_ptx, "nvrtcGetPTX");
  return {std::move(bytes), arch.kind, nvrtc.compiler, log, cache::parse_ptxas_log(log)};
}

}  // namespace

NvrtcImage nvrtc_compile(const std::string& text, const graph::Target& target, graph::Mode mode, ImageKind kind) {
  TARRY_ASSERT(target.is_cuda());
  const NvrtcLibrary& nvrtc = usable_library();
  const Arch arch = choose_arch(nvrtc, target, kind);

  static std::atomic<bool> knows_optional{true};
  ProgramHandle program = make_program(nvrtc, text);
  const bool all = knows_optional.load(std::memory_order_relaxed);
  NvrtcResult result =
      run(nvrtc, program.get().program, command_line(arch, mode, kOwnOptions.size() - (all ? 0 : kOptionalCount)));
  if (result == NvrtcResult::InvalidOption && all) {
    program = make_program(nvrtc, text);
    result = run(nvrtc, program.get().program, command_line(arch, mode, kOwnOptions.size() - kOptionalCount));
    if (result == NvrtcResult::Success) knows_optional.store(false, std::memory_order_relaxed);
  }
  return finished(nvrtc, arch, program.get().program, result, text, target);
}

NvrtcImage nvrtc_compile_own(const std::string& text, const graph::Target& target, std::span<const std::string> options,
                             ImageKind kind) {
  TARRY_ASSERT(target.is_cuda());
  const NvrtcLibrary& nvrtc = usable_library();
  const Arch arch = choose_arch(nvrtc, target, kind);
  std::vector<std::string> words{arch.option, "--modify-stack-limit=false"};
  words.insert(words.end(), options.begin(), options.end());
  const ProgramHandle program = make_program(nvrtc, text);
  const NvrtcResult result = run(nvrtc, program.get().program, words);
  return finished(nvrtc, arch, program.get().program, result, text, target);
}

std::string nvrtc_compiler() { return library().compiler; }
std::string nvrtc_location() { return library().path; }
std::string nvrtc_unavailable_reason() { return library().reason; }

}  // namespace tarry::runtime
