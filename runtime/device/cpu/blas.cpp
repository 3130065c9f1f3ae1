// dnnl_sgemm, cblas_sgemm and cblas_dgemm, matrix by matrix.
#include "runtime/device/cpu/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "runtime/device/cpu/target.h"
#include "runtime/device/parallel.h"
#include "support/check.h"
#include "support/env.h"
#include "support/floating_point.h"
#include "support/own_thread.h"
#include "support/packages.h"

namespace tarry::runtime {
namespace {

// CBLAS, declared by ourselves.
constexpr int kRowMajor = 101, kNoTranspose = 111;
template <class T, class Integer>
using CblasGemm = void (*)(int order, int transpose_a, int transpose_b, Integer m, Integer n, Integer k, T alpha,
                           const T* a, Integer lda, const T* b, Integer ldb, T beta, T* c, Integer ldc);

/// A product of row-major matrices; the library's integers have 32 or 64 bits.
template <class T>
struct Gemm {
  CblasGemm<T, int> with_int = nullptr;
  CblasGemm<T, std::int64_t> with_int64 = nullptr;
  [[nodiscard]] bool found() const { return with_int != nullptr || with_int64 != nullptr; }
  void operator()(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) const {
    const auto call = [&]<class Integer>(CblasGemm<T, Integer> gemm) {
      const auto rows = static_cast<Integer>(m), columns = static_cast<Integer>(n), inner = static_cast<Integer>(k);
      gemm(kRowMajor, kNoTranspose, kNoTranspose, rows, columns, inner, T{1}, a, inner, b, columns, T{0}, c, columns);
    };
    if (with_int64 != nullptr) return call(with_int64);
    call(with_int);
  }
};

struct OpenBlas {
  Gemm<float> sgemm;
  Gemm<double> dgemm;
  const char* (*core_name)() = nullptr;
  const char* (*configuration)() = nullptr;
  std::string missing;
};

/// oneDNN: its kernels are written at run time for the vectors that the processor has. On x86 only: elsewhere its
/// product is a plain loop.
struct OneDnn {
  using Sgemm = int (*)(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                        const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                        std::int64_t ldc);
  struct Version {
    int major, minor, patch;
  };
  Sgemm sgemm = nullptr;
  const Version* (*version)() = nullptr;
  /// The OpenMP that its threads come from, if they do.
  int (*in_parallel)() = nullptr;
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;  ///< of the calling thread alone
  int threads = 0;                     ///< as OpenMP gives a thread of which nobody has asked anything
  /// True if a call from this thread is shared by as many threads, as then its bits are those of any other.
  [[nodiscard]] bool is_plain() const { return threads == 0 || (in_parallel() == 0 && max_threads() == threads); }
};

void* open_first(std::initializer_list<const char*> names) {
  void* handle = nullptr;
  for (const char* name : names)
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

template <class F>
void find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
}

/// A library that meets the end of memory while it is loaded ends the process: it is tried where there is room for it.
void require_room() {
  constexpr std::size_t kLibrary = std::size_t{64} << 20;
  const std::unique_ptr<std::byte[]> room(new std::byte[kLibrary]);
}

/// Threads beside the caller's that a library starts unless it is told otherwise.
int further_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())) - 1; }

/// Names to hand to dlopen: what the user named, or the loader's choice and what comes with packages of Python.
std::vector<std::string> openblas_candidates() {
  if (const auto named = support::env::get("TARRY_BLAS")) return {*named};
  std::vector<std::string> names{"libopenblas.so.0", "libopenblas.so"};
  for (const std::string& packages : support::package_folders())
    for (const char* library : {"/scipy_openblas32/lib/libscipy_openblas*.so", "/numpy.libs/lib*openblas*.so*",
                                "/scipy_openblas64/lib/libscipy_openblas*.so"})
      std::ranges::move(support::matches(packages + library), std::back_inserter(names));
  return names;
}

/// Symbols as the library is built: plain, renamed for Python's packages, and with integers of 64 bits.
void find_openblas(void* handle, OpenBlas& blas) {
  for (const std::string prefix : {"", "scipy_"}) {
    const auto look = [&](const std::string& name, auto& function) {
      if (function == nullptr) find(handle, (prefix + name).c_str(), function);
    };
    for (const std::string suffix : {"", "64_"}) {
      look("openblas_get_corename" + suffix, blas.core_name);
      look("openblas_get_config" + suffix, blas.configuration);
    }
    look("cblas_sgemm", blas.sgemm.with_int);
    look("cblas_dgemm", blas.dgemm.with_int);
    look("cblas_sgemm64_", blas.sgemm.with_int64);
    look("cblas_dgemm64_", blas.dgemm.with_int64);
  }
}

/// True if it runs narrower vectors than the processor has: versions older than a processor may not know it.
bool is_behind(std::string_view core) {
  constexpr std::string_view kWide[] = {"SkylakeX", "Cooperlake", "SapphireRapids"}, kMiddle[] = {"Haswell", "Zen"};
  const auto is_one_of = [core](const auto& cores) {
    return std::find(std::begin(cores), std::end(cores), core) != std::end(cores);
  };
  try {
    const int level = cpu_target().level;
    return level >= 3 && !is_one_of(kWide) && (level == 4 || !is_one_of(kMiddle));
  } catch (const InvalidArgument&) {  // a TARRY_CPU of which another line says what is wrong
    return false;
  }
}

/// The first that knows the processor, else the first of all.
OpenBlas open_openblas() {
  OpenBlas first;
  require_room();
  support::require_threads("OpenBLAS", further_threads());
  for (const std::string& path : openblas_candidates()) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      if (first.missing.empty()) first.missing = why != nullptr ? why : path + " does not load";
      continue;
    }
    OpenBlas blas;
    find_openblas(handle, blas);
    const bool found = blas.sgemm.found() && blas.dgemm.found();
    if (found && (blas.core_name == nullptr || !is_behind(blas.core_name()))) return blas;
    if (found && !first.dgemm.found()) first = blas;
    if (!found && !first.dgemm.found()) first.missing = path + " has no cblas_sgemm";
  }
  return first;
}

/// It writes kernels in its first calls and remembers for ever that there was no room for one: they are written here,
/// where nothing is lost, the few for small and for narrow products and those that copy, of one thread and of all.
void write_kernels(const OneDnn& dnn) {
  constexpr std::int64_t kSide = 256, kSmall = 8;
  const std::vector<float> ones(kSide * kSide, 1.0F);
  std::vector<float> result(kSide * kSide);
  const auto write = [&] {
    for (const std::int64_t m : {std::int64_t{1}, kSmall, kSide})
      for (const std::int64_t n : {std::int64_t{1}, kSmall, kSide})
        for (const std::int64_t k : {kSmall, kSide})
          if (dnn.sgemm('N', 'N', m, n, k, 1.0F, ones.data(), k, ones.data(), n, 0.0F, result.data(), n) != 0)
            throw std::bad_alloc();
  };
  write();
  if (dnn.set_threads == nullptr) return;
  dnn.set_threads(1);
  write();
}

OneDnn open_onednn() {
  OneDnn dnn;
#ifdef __x86_64__
  if (support::env::get("TARRY_BLAS")) return dnn;
  require_room();
  support::require_threads("matmul", 1 + further_threads());
  support::in_own_thread("matmul", [&] {
    void* const handle = open_first({"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"});
    if (handle == nullptr) return;
    find(handle, "dnnl_sgemm", dnn.sgemm);
    find(handle, "dnnl_version", dnn.version);
    find(handle, "omp_in_parallel", dnn.in_parallel);
    find(handle, "omp_get_max_threads", dnn.max_threads);
    find(handle, "omp_set_num_threads", dnn.set_threads);
    if (dnn.in_parallel != nullptr && dnn.max_threads != nullptr) dnn.threads = dnn.max_threads();
    if (dnn.sgemm != nullptr) write_kernels(dnn);
  });
#endif
  return dnn;
}

/// Each opened once and never closed: its threads may be running at exit.
const OpenBlas& openblas() {
  static const auto* const opened = new OpenBlas(open_openblas());
  return *opened;
}
const OneDnn& onednn() {
  static const auto* const opened = new OneDnn(open_onednn());
  return *opened;
}

/// Matrices first to last - 1 of the two stacks, one after the other, by `gemm(a, b, result)`.
template <class T, class F>
void each_matrix(const MatmulSpec& s, const void* a, const void* b, void* result, std::int64_t first, std::int64_t last,
                 const F& gemm) {
  for (std::int64_t i = first; i < last; ++i) {
    gemm(static_cast<const T*>(a) + (s.a_count == 1 ? 0 : i * s.m * s.k),
         static_cast<const T*>(b) + (s.b_count == 1 ? 0 : i * s.k * s.n), static_cast<T*>(result) + i * s.m * s.n);
  }
}

/// Products that are worth a thread.
constexpr std::int64_t kFewestProducts = std::int64_t{1} << 18;

/// Products by OpenBLAS, which gives those of large matrices to threads of its own. Smaller ones are shared among ours.
template <class T>
class OpenBlasMatmul final : public LibraryCall {
 public:
  OpenBlasMatmul(const MatmulSpec& spec, Gemm<T> gemm) : spec_(spec), gemm_(gemm) {}

  void run(const void* a, const void* b, void* result, void*) const override {
    const std::int64_t products = spec_.m * spec_.k * spec_.n;
    if (products > kFewestProducts) return multiply(a, b, result, 0, spec_.count());
    parallel_for(spec_.count(), kFewestProducts / std::max<std::int64_t>(1, products),
                 [&](std::int64_t first, std::int64_t last) { multiply(a, b, result, first, last); });
  }

 private:
  void multiply(const void* a, const void* b, void* result, std::int64_t first, std::int64_t last) const {
    const support::DefaultFloatingPoint state;
    each_matrix<T>(spec_, a, b, result, first, last,
                   [&](const T* x, const T* y, T* to) { gemm_(spec_.m, spec_.n, spec_.k, x, y, to); });
  }

  const MatmulSpec spec_;
  const Gemm<T> gemm_;
};

/// The pieces of a stack of products that one thread each computes: rows or columns of a result, by shape alone, so
/// that the bits are those of any number of threads.
class Pieces {
 public:
  explicit Pieces(const MatmulSpec& s) : spec_(s), by_rows_(s.m >= s.n) {
    const std::int64_t lines = by_rows_ ? s.m : s.n, across = s.k * (by_rows_ ? s.n : s.m);
    lines_ = std::min(lines, std::max(kFewestLines, kProducts / across));
    each_ = (lines + lines_ - 1) / lines_;
  }

  /// True if pieces are better than the library's own threads, which wait for each other by spinning.
  [[nodiscard]] bool fit() const { return spec_.m * spec_.n <= kMostProducts / spec_.k; }
  [[nodiscard]] std::int64_t count() const { return spec_.count() * each_; }
  /// So many that a thread has something to do.
  [[nodiscard]] std::int64_t grain() const {
    return std::max<std::int64_t>(1, kFewestProducts * each_ / (spec_.m * spec_.k * spec_.n));
  }

  /// Piece `i`: gemm(m, n, a, b, result), whose rows are spec's k, n and n apart.
  template <class F>
  auto run(std::int64_t i, const float* a, const float* b, float* result, const F& gemm) const {
    const MatmulSpec& s = spec_;
    const std::int64_t matrix = i / each_, first = i % each_ * lines_;
    const std::int64_t lines = std::min(lines_, (by_rows_ ? s.m : s.n) - first);
    a += s.a_count == 1 ? 0 : matrix * s.m * s.k;
    b += s.b_count == 1 ? 0 : matrix * s.k * s.n;
    result += matrix * s.m * s.n;
    return by_rows_ ? gemm(lines, s.n, a + first * s.k, b, result + first * s.n)
                    : gemm(s.m, lines, a, b + first, result + first);
  }

 private:
  static constexpr std::int64_t kFewestLines = 32, kProducts = std::int64_t{1} << 20;  ///< of a piece: 20 us and more
  static constexpr std::int64_t kMostProducts = std::int64_t{1} << 24;                 ///< of a matrix

  const MatmulSpec spec_;
  const bool by_rows_;
  std::int64_t lines_ = 1, each_ = 1;
};

/// Products by oneDNN. Small ones are shared among threads of ours. The library's own take the others; the caller's
/// settings of OpenMP, or a parallel region around the call, would change their number and with it the bits: there it
/// is called from a thread of its own.
class OneDnnMatmul final : public LibraryCall {
 public:
  explicit OneDnnMatmul(const MatmulSpec& spec) : spec_(spec), pieces_(spec) {}

  void run(const void* a, const void* b, void* result, void*) const override {
    const auto *x = static_cast<const float*>(a), *y = static_cast<const float*>(b);
    auto* const to = static_cast<float*>(result);
    if (onednn().set_threads != nullptr && onednn().max_threads != nullptr && pieces_.fit()) return by_pieces(x, y, to);
    if (onednn().is_plain()) return by_library(x, y, to);
    support::in_own_thread("matmul", [&] { by_library(x, y, to); });
  }

 private:
  /// A thread of which OpenMP thinks that it is alone, for as long as this lives.
  struct Alone {
    const int before = onednn().max_threads();
    Alone() { onednn().set_threads(1); }
    ~Alone() { onednn().set_threads(before); }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
  };

  void by_pieces(const float* a, const float* b, float* result) const {
    std::atomic<bool> lacks_room{false};
    parallel_for(pieces_.count(), pieces_.grain(), [&](std::int64_t first, std::int64_t last) {
      const Alone alone;
      const support::DefaultFloatingPoint state;
      for (std::int64_t i = first; i < last; ++i) {
        const bool done = pieces_.run(
            i, a, b, result, [&](auto m, auto n, auto* x, auto* y, auto* to) { return multiply(m, n, x, y, to); });
        if (!done) lacks_room = true;
      }
    });
    if (lacks_room) throw std::bad_alloc();
  }

  /// Each thread that calls the library has others of its own there, from its first call on.
  static void require_threads() {
    thread_local bool known = false;
    if (!known) support::require_threads("matmul", std::max(onednn().threads, 1) - 1);
    known = true;
  }

  void by_library(const float* a, const float* b, float* result) const {
    require_threads();
    const support::DefaultFloatingPoint state;
    each_matrix<float>(spec_, a, b, result, 0, spec_.count(), [&](const float* x, const float* y, float* to) {
      if (!multiply(spec_.m, spec_.n, x, y, to)) throw std::bad_alloc();
    });
  }

  /// False where the library has no room for its copies: as the arguments are right, nothing else is in its way.
  [[nodiscard]] bool multiply(std::int64_t m, std::int64_t n, const float* a, const float* b, float* result) const {
    return onednn().sgemm('N', 'N', m, n, spec_.k, 1.0F, a, spec_.k, b, spec_.n, 0.0F, result, spec_.n) == 0;
  }

  const MatmulSpec spec_;
  const Pieces pieces_;
};

/// A call of oneDNN takes longer than so small a product; one or two of them are not worth another library.
bool are_small(const MatmulSpec& s) {
  constexpr std::int64_t kMostOfOne = 18 * 18 * 18, kFewest = 64;
  return s.m * s.k * s.n <= kMostOfOne && s.count() >= kFewest && openblas().sgemm.found();
}

std::string describe_openblas() {
  if (!openblas().missing.empty())
    return fmt::format("none, matmul needs it: {}; install libopenblas0 or Python's numpy, or set TARRY_BLAS",
                       openblas().missing);
  if (openblas().core_name == nullptr || openblas().configuration == nullptr) return "OpenBLAS";
  const std::string_view configuration = openblas().configuration(), core = openblas().core_name();
  const std::size_t version = configuration.find(' ', configuration.find(' ') + 1);
  return fmt::format("{}, kernels for {}{}", configuration.substr(0, version), core,
                     is_behind(core) ? "; those with AVX-512 run where OPENBLAS_CORETYPE is SKYLAKEX" : "");
}

}  // namespace

std::string cpu_blas_missing(Dtype dtype) {
  return dtype != float64 && onednn().sgemm != nullptr ? "" : openblas().missing;
}

std::string describe_cpu_blas() {
  if (onednn().sgemm == nullptr) return describe_openblas();
  std::string version;
  if (onednn().version != nullptr) {
    const OneDnn::Version& v = *onednn().version();
    version = fmt::format(" {}.{}.{}", v.major, v.minor, v.patch);
  }
  return fmt::format("float32 by oneDNN{}, stacks of small ones and float64 by {}", version, describe_openblas());
}

std::unique_ptr<LibraryCall> make_cpu_matmul(const MatmulSpec& spec) {
  TARRY_ASSERT(cpu_blas_missing(spec.dtype).empty() && (spec.dtype == float32 || spec.dtype == float64));
  if (spec.dtype == float64) return std::make_unique<OpenBlasMatmul<double>>(spec, openblas().dgemm);
  if (onednn().sgemm != nullptr && !are_small(spec)) return std::make_unique<OneDnnMatmul>(spec);
  return std::make_unique<OpenBlasMatmul<float>>(spec, openblas().sgemm);
}

}  // namespace tarry::runtime
