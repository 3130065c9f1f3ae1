// OpenBLAS: cblas_sgemm and cblas_dgemm, matrix by matrix.
#include "runtime/cpu_blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "runtime/cpu_target.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry::runtime {
namespace {

// CBLAS, declared by ourselves; its integers are int where the library is not built for 64 bits.
constexpr int kRowMajor = 101, kNoTranspose = 111;
template <class T>
using Gemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T* a, int lda,
                      const T* b, int ldb, T beta, T* c, int ldc);

struct Blas {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  const char* (*core_name)() = nullptr;
  const char* (*configuration)() = nullptr;
  std::string missing;
};

Blas open_blas() {
  Blas blas;
  void* handle = nullptr;
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    blas.missing = why != nullptr ? why : "libopenblas.so.0 does not load";
    return blas;
  }
  blas.sgemm = reinterpret_cast<Gemm<float>>(dlsym(handle, "cblas_sgemm"));
  blas.dgemm = reinterpret_cast<Gemm<double>>(dlsym(handle, "cblas_dgemm"));
  blas.core_name = reinterpret_cast<const char* (*)()>(dlsym(handle, "openblas_get_corename"));
  blas.configuration = reinterpret_cast<const char* (*)()>(dlsym(handle, "openblas_get_config"));
  if (blas.sgemm == nullptr || blas.dgemm == nullptr) blas.missing = "libopenblas has no cblas_sgemm";
  return blas;
}

/// Whether it runs narrower vectors than the processor has: versions older than a processor may not know it.
bool is_behind(std::string_view core) {
  constexpr std::string_view kWide[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
  try {
    return cpu_target().level == 4 && std::find(std::begin(kWide), std::end(kWide), core) == std::end(kWide);
  } catch (const InvalidArgument&) {  // a TARRY_CPU of which another line says what is wrong
    return false;
  }
}

/// Opened once and never closed: its threads may be running at exit.
const Blas& blas() {
  static const auto* const opened = new Blas(open_blas());
  return *opened;
}

template <class T>
class CpuMatmul final : public LibraryCall {
 public:
  CpuMatmul(const MatmulSpec& spec, Gemm<T> gemm) : spec_(spec), gemm_(gemm) {}

  void run(const void* a, const void* b, void* result, void*) const override {
    const support::DefaultFloatingPoint state;
    const auto m = static_cast<int>(spec_.m), n = static_cast<int>(spec_.n), k = static_cast<int>(spec_.k);
    for (std::int64_t i = 0; i < spec_.count(); ++i) {
      gemm_(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, T{1},
            static_cast<const T*>(a) + (spec_.a_count == 1 ? 0 : i * spec_.m * spec_.k), k,
            static_cast<const T*>(b) + (spec_.b_count == 1 ? 0 : i * spec_.k * spec_.n), n, T{0},
            static_cast<T*>(result) + i * spec_.m * spec_.n, n);
    }
  }

 private:
  const MatmulSpec spec_;
  const Gemm<T> gemm_;
};

}  // namespace

const std::string& cpu_blas_missing() { return blas().missing; }

std::string describe_cpu_blas() {
  if (!blas().missing.empty()) return fmt::format("none, matmul needs it: {}", blas().missing);
  if (blas().core_name == nullptr || blas().configuration == nullptr) return "OpenBLAS";
  const std::string_view configuration = blas().configuration(), core = blas().core_name();
  const std::size_t version = configuration.find(' ', configuration.find(' ') + 1);
  return fmt::format("{}, kernels for {}{}", configuration.substr(0, version), core,
                     is_behind(core) ? "; those with AVX-512 run where OPENBLAS_CORETYPE is SKYLAKEX" : "");
}

std::unique_ptr<LibraryCall> make_cpu_matmul(const MatmulSpec& spec) {
  TARRY_ASSERT(blas().missing.empty() && (spec.dtype == float32 || spec.dtype == float64));
  if (spec.dtype == float32) return std::make_unique<CpuMatmul<float>>(spec, blas().sgemm);
  return std::make_unique<CpuMatmul<double>>(spec, blas().dgemm);
}

}  // namespace tarry::runtime
