// The prelude through the compilers that generated kernels go through: same bits at every instruction set level and
// position, and every section accepted alone by NVRTC and the C compiler.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/nvrtc.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/codegen/prelude/functions.h"
#include "tests/helpers/test.h"

using namespace tarry;
using codegen::Dialect;
using test::PreludeFunction;

namespace {

constexpr int kElements =
    1001;  // odd, and the data begin one element off alignment: a body and two ends at every width

/// The host runs what the C compiler makes for this level.
bool host_runs(const graph::Target& target) {
#if defined(__x86_64__)
  if (target.level == 2) return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  if (target.level == 3)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return target.level == 4 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#else
  return std::string_view(target.name) == "armv8-a";
#endif
}

std::string sections_of(const std::vector<PreludeFunction>& functions, Dialect dialect) {
  std::vector<std::string> names;
  for (const PreludeFunction& f : functions) names.push_back(f.name());
  return codegen::prelude_text(codegen::prelude_sections(names), dialect);
}

/// "const float* restrict a, const float* restrict b", by the op's arity.
std::string parameters(const PreludeFunction& f, const std::string& restrict) {
  std::string text;
  for (int i = 0; i < graph::info(f.op).arity; ++i)
    text += ", const " + codegen::c_type(f.operand(i)) + "* " + restrict + " " + static_cast<char>('a' + i);
  return text;
}

std::string application(const PreludeFunction& f) {
  std::vector<std::string> operands;
  for (int i = 0; i < graph::info(f.op).arity; ++i)
    operands.push_back(std::string(1, static_cast<char>('a' + i)) + "[i]");
  return "o[i] = " + codegen::expression(f.op, f.input, f.output, operands) + ";";
}

std::string c_loop(const PreludeFunction& f) {
  return "void loop_" + f.name() + "(" + codegen::c_type(f.output) + "* restrict o" + parameters(f, "restrict") +
         ", tarry_i64 n) { for (tarry_i64 i = 0; i < n; ++i) " + application(f) + " }\n";
}

std::string cuda_kernel(const PreludeFunction& f) {
  return "extern \"C\" __global__ void kernel_" + f.name() + "(" + codegen::c_type(f.output) + "* o" +
         parameters(f, "__restrict__") + ") { int i = threadIdx.x; " + application(f) + " }\n";
}

/// The functions that need the same sections, by the text of these.
std::map<std::string, std::vector<PreludeFunction>> by_sections(Dialect dialect) {
  std::map<std::string, std::vector<PreludeFunction>> groups;
  for (const PreludeFunction& f : test::every_prelude_function()) groups[sections_of({f}, dialect)].push_back(f);
  return groups;
}

/// A shared object loaded from an image, for one test.
class Loaded {
 public:
  explicit Loaded(const std::string& image) {
    const support::ScopedTemporaryDirectory directory;
    const auto path = directory.path() / "prelude.so";
    REQUIRE_FALSE(support::write_file_atomically(path, image));
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO((handle_ ? "" : dlerror()));
    REQUIRE(handle_ != nullptr);
  }
  ~Loaded() {
    if (handle_) dlclose(handle_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  [[nodiscard]] void* symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

 private:
  void* handle_ = nullptr;
};

/// Elements that meet every path: special values, values of ordinary size and random bits.
std::vector<unsigned char> elements(Dtype dtype, std::mt19937_64& random) {
  const std::size_t size = itemsize(dtype);
  std::vector<unsigned char> bytes((kElements + 1) * size);
  const std::vector<float> f32 = test::special_floats<float>();
  const std::vector<double> f64 = test::special_floats<double>();
  for (std::size_t i = 0; i <= kElements; ++i) {
    std::uint64_t bits = random();
    const double ordinary = std::uniform_real_distribution<double>(-20, 20)(random);
    if (dtype == Dtype::Bool) {
      bits &= 1;
    } else if (dtype == Dtype::Float32) {
      const float value = i % 3 == 0 ? f32[random() % f32.size()] : static_cast<float>(ordinary);
      if (i % 3 != 2) std::memcpy(&bits, &value, sizeof value);
    } else if (dtype == Dtype::Float64) {
      const double value = i % 3 == 0 ? f64[random() % f64.size()] : ordinary;
      if (i % 3 != 2) std::memcpy(&bits, &value, sizeof value);
    } else if (is_floating(dtype)) {  // 16 random bits are special often enough
      if (i % 3 != 2) bits = dtype == Dtype::Float16 ? Half(ordinary).bits : BFloat16(ordinary).bits;
    } else if (i % 3 == 1) {
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(ordinary));
    }
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

/// How many elements of the compiled loop differ from the library's own function.
int differing_elements(const PreludeFunction& f, void* loop) {
  std::mt19937_64 random(11);
  std::vector<unsigned char> in[3];
  const unsigned char* at[3] = {};
  const int arity = graph::info(f.op).arity;
  for (int i = 0; i < arity; ++i) {
    in[i] = elements(f.operand(i), random);
    at[i] = in[i].data() + itemsize(f.operand(i));
  }
  const std::size_t size = itemsize(f.output);
  std::vector<unsigned char> out((kElements + 1) * size);
  unsigned char* to = out.data() + size;
  if (arity == 1) reinterpret_cast<void (*)(void*, const void*, long long)>(loop)(to, at[0], kElements);
  if (arity == 2)
    reinterpret_cast<void (*)(void*, const void*, const void*, long long)>(loop)(to, at[0], at[1], kElements);
  if (arity == 3)
    reinterpret_cast<void (*)(void*, const void*, const void*, const void*, long long)>(loop)(to, at[0], at[1], at[2],
                                                                                              kElements);

  const codegen::ScalarFunction function = codegen::scalar_function(f.op, f.input, f.output);
  int differing = 0;
  for (std::size_t i = 0; i < kElements; ++i) {
    std::uint64_t operands[3] = {}, expected = 0;
    for (int k = 0; k < arity; ++k)
      std::memcpy(&operands[k], at[k] + i * itemsize(f.operand(k)), itemsize(f.operand(k)));
    function(&expected, &operands[0], &operands[1], &operands[2]);
    differing += !test::same_cell(f.output, &expected, to + i * size);
  }
  return differing;
}

/// Calls `work` for every index below `count`, on all cores.
template <class F>
void for_each_index(std::size_t count, F work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::jthread> others(std::max(1u, std::thread::hardware_concurrency()) - 1);
  for (std::jthread& other : others) other = std::jthread(run);
  run();
}

/// Functions of one operand dtype as loops for one level of this host.
struct CompiledLoops {
  const graph::Target* target;
  std::vector<PreludeFunction> functions;
  std::string image, error;

  void compile() {
    std::string text = sections_of(functions, Dialect::C);
    for (const PreludeFunction& f : functions) text += c_loop(f);
    try {
      image = runtime::compile_c(text, runtime::c_flags(*target)).image;
    } catch (const std::exception& e) {
      error = e.what();
    }
  }
};

std::vector<const graph::Target*> host_levels() {
  std::vector<const graph::Target*> levels;
  for (const graph::Target& target : graph::targets())
    if (!target.is_cuda() && host_runs(target)) levels.push_back(&target);
  return levels;
}

/// Compiles and compares every function at the host's highest level, and those of `dtypes` at the levels below.
void check_levels(const std::vector<Dtype>& dtypes) {
  const std::vector<const graph::Target*> levels = host_levels();
  REQUIRE_FALSE(levels.empty());
  std::vector<CompiledLoops> all;
  for (const graph::Target* level : levels) {
    std::map<Dtype, std::vector<PreludeFunction>> by_dtype;
    for (const PreludeFunction& f : test::every_prelude_function())
      if (level == levels.back() || std::ranges::count(dtypes, f.input) != 0) by_dtype[f.input].push_back(f);
    for (const auto& [dtype, functions] : by_dtype) all.push_back({level, functions, {}, {}});
  }
  for_each_index(all.size(), [&](std::size_t i) { all[i].compile(); });
  for (const CompiledLoops& loops : all) {
    INFO(loops.error);
    REQUIRE_FALSE(loops.image.empty());
    const Loaded library(loops.image);
    for (const PreludeFunction& f : loops.functions) {
      INFO(f.name() << " for " << loops.target->name);
      void* loop = library.symbol("loop_" + f.name());
      REQUIRE(loop != nullptr);
      CHECK(differing_elements(f, loop) == 0);
    }
  }
}

}  // namespace

// Instruction sets differ in float arithmetic: the 16-bit floats are made of float32 and integers.
TEST_CASE("prelude: an element has the same bits at every level, in body and tail, as in the library",
          "[codegen][prelude]") {
  if (runtime::c_compiler().program.empty()) TARRY_SKIP("there is no C compiler");
  check_levels({Dtype::Float32, Dtype::Float64});
}

TEST_CASE("prelude: elements of every dtype have the same bits at every level", "[codegen][prelude][.slow]") {
  if (runtime::c_compiler().program.empty()) TARRY_SKIP("there is no C compiler");
  std::vector<Dtype> dtypes;
  for (int d = 0; d < kDtypeCount; ++d) dtypes.push_back(static_cast<Dtype>(d));
  check_levels(dtypes);
}

TEST_CASE("prelude: the C compiler takes each function with its sections alone", "[codegen][prelude]") {
  if (runtime::c_compiler().program.empty()) TARRY_SKIP("there is no C compiler");
  std::vector<std::string> sources;
  for (const auto& [text, functions] : by_sections(Dialect::C)) {
    sources.push_back(text);
    for (const PreludeFunction& f : functions) sources.back() += c_loop(f);
  }
  std::vector<std::string> errors(sources.size());
  for_each_index(sources.size(), [&](std::size_t i) {
    try {
      runtime::compile_c(sources[i], "-std=c11 -O0 -Wall -Wextra -Wpedantic -Werror -c");
    } catch (const std::exception& e) {
      errors[i] = e.what();
    }
  });
  for (const std::string& error : errors) CHECK(error == "");
}

// PTX: what the sections define and need is the front end's business.
TEST_CASE("prelude: NVRTC takes each function with its sections alone", "[codegen][prelude]") {
  TARRY_REQUIRE_NVRTC();
  const graph::Target& target = *graph::find_target("sm_90");
  for (const auto& [text, functions] : by_sections(Dialect::Cuda)) {
    std::string source = text;
    for (const PreludeFunction& f : functions) source += cuda_kernel(f);
    INFO(functions.front().name());
    CHECK_NOTHROW(runtime::nvrtc_compile(source, target, graph::Mode::Strict, runtime::ImageKind::Ptx));
  }
}

namespace {

void check_cubin(const std::vector<PreludeFunction>& functions, const char* target) {
  std::string text = sections_of(functions, Dialect::Cuda);
  for (const PreludeFunction& f : functions) text += cuda_kernel(f);
  const runtime::NvrtcImage image = runtime::nvrtc_compile(text, *graph::find_target(target), graph::Mode::Strict);
  CHECK(image.kind == runtime::ImageKind::Cubin);
  CHECK(image.resources.size() == functions.size());
  for (const runtime::KernelResources& kernel : image.resources) CHECK(kernel.spill_store_bytes == 0);
}

}  // namespace

TEST_CASE("prelude: NVRTC compiles all of it", "[codegen][prelude]") {
  TARRY_REQUIRE_NVRTC();
  check_cubin(test::every_prelude_function(), "sm_90");
}

// Only bfloat16 has text of its own for a generation.
TEST_CASE("prelude: NVRTC compiles it for every supported generation", "[codegen][prelude]") {
  TARRY_REQUIRE_NVRTC();
  std::vector<PreludeFunction> functions;
  for (const PreludeFunction& f : test::every_prelude_function())
    if (f.input == Dtype::BFloat16 || f.output == Dtype::BFloat16) functions.push_back(f);
  for (const char* target : {"sm_75", "sm_80", "sm_100"}) check_cubin(functions, target);
}
