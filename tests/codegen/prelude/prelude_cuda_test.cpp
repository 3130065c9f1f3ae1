// The prelude on a GPU: every function whose bits are promised to be those of a CPU, on every 8-bit pair, every 16-bit
// value and the special values and random bits of the wider types.
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/codegen/prelude/functions.h"
#include "tests/helpers/test.h"

using namespace tarry;
using codegen::Dialect;
using test::PreludeFunction;

namespace {

constexpr std::size_t kElements = 65536;

/// The table publishes no error for them: correctly rounded or exact.
std::map<Dtype, std::vector<PreludeFunction>> exact_functions_by_input() {
  std::map<Dtype, std::vector<PreludeFunction>> groups;
  for (const PreludeFunction& f : test::every_prelude_function())
    if (graph::info(f.op).ulp32 == 0 && graph::info(f.op).ulp64 == 0) groups[f.input].push_back(f);
  return groups;
}

std::string kernel(const PreludeFunction& f) {
  std::vector<std::string> operands;
  for (int i = 0; i < graph::info(f.op).arity; ++i)
    operands.push_back("((const " + codegen::c_type(f.operand(i)) + "*)p." +
                       std::string(1, static_cast<char>('a' + i)) + ")[i]");
  return "extern \"C\" __global__ void __launch_bounds__(256) kernel_" + f.name() +
         "(const __grid_constant__ Operands p) {\n" +
         "  long long i = blockIdx.x * 256LL + threadIdx.x;\n  if (i < p.n) ((" + codegen::c_type(f.output) +
         "*)p.o)[i] = " + codegen::expression(f.op, f.input, f.output, operands) + ";\n}\n";
}

std::string text_of(const std::vector<PreludeFunction>& functions) {
  std::vector<std::string> names;
  std::string kernels;
  for (const PreludeFunction& f : functions) {
    names.push_back(f.name());
    kernels += kernel(f);
  }
  return codegen::prelude_text(codegen::prelude_sections(names), Dialect::Cuda) +
         "struct Operands { void* o; const void* a; const void* b; const void* c; long long n; };\n" + kernels;
}

/// Element i of operand `k`: the first two 8-bit operands go through all pairs, the first 16-bit one through all
/// values.
template <class T>
std::uint64_t element(std::size_t i, int k, std::mt19937_64& random) {
  static const std::vector<T> special = test::special_floats<T>();
  T value = static_cast<T>(std::uniform_real_distribution<double>(-20, 20)(random));
  if (i % 3 == 0) value = special[(k == 0 ? i / 3 : i / 3 / special.size()) % special.size()];
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return i % 3 == 2 ? random() : bits;
}

std::vector<unsigned char> elements(Dtype dtype, int k, std::mt19937_64& random) {
  const std::size_t size = itemsize(dtype);
  std::vector<unsigned char> bytes(kElements * size);
  for (std::size_t i = 0; i < kElements; ++i) {
    std::uint64_t bits = random();
    if (dtype == Dtype::Bool)
      bits = i >> k & 1;
    else if (size == 1 && k < 2)
      bits = i >> (8 * k);
    else if (size == 2 && k == 0)
      bits = i;
    else if (dtype == Dtype::Float32)
      bits = element<float>(i, k, random);
    else if (dtype == Dtype::Float64)
      bits = element<double>(i, k, random);
    else if (i % 3 == 1)
      bits = bits % 80 - 8;  // small numbers and shift counts
    else if (i % 3 == 2)
      bits = (std::uint64_t{1} << (bits % 64)) + (bits >> 62) - 1;
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

/// The results of one function on the device, beside the library's own.
class Run {
 public:
  Run(runtime::Backend& backend, const PreludeFunction& f) : backend_(backend), f_(f) {
    std::mt19937_64 random(29);
    for (int k = 0; k < graph::info(f.op).arity; ++k) {
      in_.push_back(elements(f.operand(k), k, random));
      buffers_.push_back(backend.allocate(in_.back().size()));
      backend.upload(*buffers_.back(), in_.back().data(), in_.back().size());
    }
  }

  std::vector<unsigned char> on_device(const std::shared_ptr<const std::string>& image) {
    cache::KernelRequest request;
    request.entry = "kernel_" + f_.name();
    const auto executable = backend_.load(request, {image, "test", ""});
    codegen::KernelSource source;
    source.entry = request.entry;
    codegen::Geometry geometry;
    geometry.outer_tiles = kElements / 256;
    const auto out = backend_.allocate(kElements * itemsize(f_.output));
    std::vector<std::uint64_t> words = {reinterpret_cast<std::uint64_t>(out->data), 0, 0, 0, kElements};
    for (std::size_t k = 0; k < buffers_.size(); ++k) words[1 + k] = reinterpret_cast<std::uint64_t>(buffers_[k]->data);
    backend_.launch({executable.get(), &source, words, geometry});
    std::vector<unsigned char> bytes(kElements * itemsize(f_.output));
    backend_.download(bytes.data(), *out, 0, bytes.size());
    return bytes;
  }

  [[nodiscard]] int differing(const std::vector<unsigned char>& got) const {
    const codegen::ScalarFunction function = codegen::scalar_function(f_.op, f_.input, f_.output);
    int count = 0;
    for (std::size_t i = 0; i < kElements; ++i) {
      std::uint64_t operands[3] = {}, expected = 0;
      for (std::size_t k = 0; k < in_.size(); ++k) {
        const std::size_t size = itemsize(f_.operand(static_cast<int>(k)));
        std::memcpy(&operands[k], &in_[k][i * size], size);
      }
      function(&expected, &operands[0], &operands[1], &operands[2]);
      count += !test::same_cell(f_.output, &expected, &got[i * itemsize(f_.output)]);
    }
    return count;
  }

 private:
  runtime::Backend& backend_;
  PreludeFunction f_;
  std::vector<std::vector<unsigned char>> in_;
  std::vector<std::shared_ptr<graph::Buffer>> buffers_;
};

}  // namespace

TEST_CASE("prelude: a GPU gives the bits of the library wherever they are promised", "[codegen][prelude][cuda]") {
  TARRY_REQUIRE_CUDA();
  TARRY_REQUIRE_NVRTC();
  const auto backend = runtime::make_cuda_backend(0);
  for (const auto& [input, functions] : exact_functions_by_input()) {
    const auto image = std::make_shared<const std::string>(
        runtime::nvrtc_compile(text_of(functions), backend->target(), graph::Mode::Strict).bytes);
    for (const PreludeFunction& f : functions) {
      INFO(f.name());
      Run run(*backend, f);
      CHECK(run.differing(run.on_device(image)) == 0);
    }
  }
}

TEST_CASE("prelude: the kernels of the GPU comparison compile", "[codegen][prelude]") {
  TARRY_REQUIRE_NVRTC();
  for (const auto& [input, functions] : exact_functions_by_input()) {
    INFO(name(input));
    CHECK_NOTHROW(runtime::nvrtc_compile(text_of(functions), *graph::find_target("sm_120"), graph::Mode::Strict));
  }
}
