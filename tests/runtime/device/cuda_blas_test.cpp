// Calls of the GPU backend to cuBLASLt, on a fake driver and a fake library: row-major operands without a copy, full
// float32 unless relaxed, repeatable algorithms, workspace from the plan's scratch memory, and what its failures
// become.
#include <tarry/tarry.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/device/cuda/blas.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/fake_blas.h"
#include "tests/helpers/fake_gpu.h"
#include "tests/helpers/test.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

using namespace tarry;
using test::BlasStatus;
using test::FakeBlas;

namespace {

#if __has_include(<cublasLt.h>)
static_assert(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == 5 && CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == 6);
static_assert(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == 1 && CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK == 3);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES == 5 && CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == 8);
static_assert(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == 2);
static_assert(CUBLAS_COMPUTE_32F == 68 && CUBLAS_COMPUTE_32F_FAST_TF32 == 77 && CUBLAS_COMPUTE_64F == 70);
static_assert(CUDA_R_32F == 0 && CUDA_R_64F == 1 && CUDA_R_16F == 2 && CUDA_R_16BF == 14);
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == sizeof(runtime::cuda::MatmulHeuristic));
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) ==
              offsetof(runtime::cuda::MatmulHeuristic, workspace));
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, state) == offsetof(runtime::cuda::MatmulHeuristic, state));
#endif

/// cuda:250 with the fake library. Kernel caches know a backend by its address, so none is ever freed, nor what it
/// uses.
class Gpu {
 public:
  Gpu() : blas(*new FakeBlas) {
    install(runtime::make_cuda_backend(gpu_.driver().api, test::kFakeGpu.index, &blas.api));
  }
  ~Gpu() { install(nullptr); }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  FakeBlas& blas;

 private:
  const test::ScopedSwitch own_plans_{"TARRY_DISABLE", "plan_cache"};  // a plan holds what a library before made
  static void install(std::unique_ptr<runtime::Backend> backend) {
    static auto& kept = *new std::vector<std::unique_ptr<runtime::Backend>>;
    kept.push_back(runtime::exchange_backend(test::kFakeGpu, std::move(backend)));
  }
  test::FakeGpu gpu_;
};

Array matrix(std::int64_t rows, std::int64_t columns, Dtype dtype = float32) { return zeros({rows, columns}, dtype); }

}  // namespace

TEST_CASE("cublas: a row-major product is the library's column-major product of the operands exchanged",
          "[cuda][matmul]") {
  TARRY_REQUIRE_NVRTC();
  Gpu gpu;
  const Scope placed(test::kFakeGpu);
  evaluate(matmul(matrix(30, 40), matrix(40, 50)));
  REQUIRE(gpu.blas.products.size() == 1);
  const FakeBlas::Product& p = gpu.blas.products[0];
  CHECK((p.a.rows == 50 && p.a.columns == 40 && p.a.leading == 50));
  CHECK((p.b.rows == 40 && p.b.columns == 30 && p.b.leading == 40));
  CHECK((p.d.rows == 50 && p.d.columns == 30 && p.d.leading == 50));
  CHECK((p.a.count == 1 && p.b.count == 1 && p.d.count == 1));
  CHECK(p.a_data != p.b_data);
}

TEST_CASE("cublas: stacks are strided batches, and one matrix for all has stride 0", "[cuda][matmul]") {
  TARRY_REQUIRE_NVRTC();
  Gpu gpu;
  const Scope placed(test::kFakeGpu);
  evaluate(matmul(zeros({30, 40}), zeros({7, 40, 50})));
  REQUIRE(gpu.blas.products.size() == 1);
  const FakeBlas::Product& p = gpu.blas.products[0];
  CHECK((p.a.count == 7 && p.a.stride == 40 * 50));
  CHECK((p.b.count == 7 && p.b.stride == 0));
  CHECK((p.d.count == 7 && p.d.stride == 30 * 50));
}

TEST_CASE("cublas: float32 keeps all its bits unless the scope is relaxed", "[cuda][matmul]") {
  TARRY_REQUIRE_NVRTC();
  Gpu gpu;
  const Scope placed(test::kFakeGpu);
  struct Case {
    Dtype dtype;
    int type, strict, relaxed, scale;
  };
  for (const Case& c :
       {Case{float32, 0, 68, 77, 0}, {float64, 1, 70, 70, 1}, {float16, 2, 68, 68, 0}, {bfloat16, 14, 68, 68, 0}}) {
    INFO(name(c.dtype));
    gpu.blas.products.clear();
    evaluate(matmul(matrix(20, 30, c.dtype), matrix(30, 40, c.dtype)));
    const Scope numerics(relaxed);
    evaluate(matmul(matrix(20, 30, c.dtype), matrix(30, 40, c.dtype)));
    REQUIRE(gpu.blas.products.size() == 2);
    CHECK(gpu.blas.products[0].a.type == c.type);
    CHECK(gpu.blas.products[0].compute == c.strict);
    CHECK(gpu.blas.products[1].compute == c.relaxed);
    CHECK(gpu.blas.products[0].scale == c.scale);
  }
}

TEST_CASE("cublas: large float32 products have a kernel instead, unless relaxed or switched off", "[cuda][matmul]") {
  TARRY_REQUIRE_NVRTC();
  Gpu gpu;
  const Scope placed(test::kFakeGpu);
  const auto products = [&](Dtype dtype) {
    gpu.blas.products.clear();
    CHECK(evaluate(matmul(matrix(1024, 1024, dtype), matrix(1024, 1024, dtype))).counters().launches >= 1);
    return gpu.blas.products.size();
  };
  CHECK(products(float32) == 0);
  CHECK(products(float64) == 1);
  {
    const Scope numerics(relaxed);
    CHECK(products(float32) == 1);
  }
  const test::ScopedSwitch off("TARRY_DISABLE", "matmul,plan_cache");
  CHECK(products(float32) == 1);
}

TEST_CASE("cublas: only repeatable algorithms are asked for, whatever the addresses", "[cuda][matmul]") {
  TARRY_REQUIRE_NVRTC();
  Gpu gpu;
  const Scope placed(test::kFakeGpu);
  const Array a = matrix(20, 30), b = matrix(30, 40);
  evaluate(matmul(a, b));
  CHECK(gpu.blas.preferences.at(3) == 2);  // partial sums in the compute type, in the workspace
  for (int alignment = 5; alignment <= 8; ++alignment) CHECK(gpu.blas.preferences.at(alignment) == 256);
  CHECK(gpu.blas.products.at(0).workspace != nullptr);
  CHECK(gpu.blas.products.at(0).workspace_bytes == 4096);
}

TEST_CASE("cublas: everything made is destroyed with the backend", "[cuda][matmul]") {
  FakeBlas blas;
  test::FakeDriver driver;
  {
    const std::unique_ptr<runtime::Backend> backend = runtime::make_cuda_backend(driver.api, 0, &blas.api);
    REQUIRE(backend->library_missing(float32).empty());
    const auto call = backend->prepare({float32, graph::Mode::Strict, 1, 1, 20, 30, 40});
    CHECK(call->workspace() == 4096);
    CHECK(blas.alive == 5);  // a handle, a description, three layouts
  }
  CHECK(blas.alive == 0);
}

TEST_CASE("cublas: without the library a product is a kernel, with one warning", "[cuda][matmul]") {
  TARRY_REQUIRE_NVRTC();
  const test::CapturedLog log;
  Gpu gpu;
  gpu.blas.on_create = BlasStatus::NotInitialized;
  const Scope placed(test::kFakeGpu);
  const Report report = evaluate(matmul(matrix(20, 30), matrix(30, 40)));
  CHECK(report.counters().launches == 1);
  CHECK(gpu.blas.products.empty());
  const auto messages = log.messages();
  CHECK(std::count_if(messages.begin(), messages.end(),
                      [](const std::string& m) { return m.find("matmul on cuda:250") != std::string::npos; }) == 1);
}

TEST_CASE("cublas: a shape for which it has nothing, and a call that fails, are errors of the device",
          "[cuda][matmul]") {
  TARRY_REQUIRE_NVRTC();
  Gpu gpu;
  const Scope placed(test::kFakeGpu);
  const Array a = matrix(20, 30), b = matrix(30, 40), c = matmul(a, b);
  gpu.blas.proposals = 0;
  CHECK_THROWS_WITH(evaluate(c), Catch::Contains("cuBLASLt has no algorithm for matmul f32 (1, 20, 30) (1, 30, 40)") &&
                                     Catch::Contains("matmul float32"));
  gpu.blas.proposals = 1;
  CHECK_NOTHROW(evaluate(c));  // nothing had started
  const Array d = matmul(matrix(40, 20), a);
  gpu.blas.on_product = BlasStatus::ExecutionFailed;
  CHECK_THROWS_AS(evaluate(d), DeviceError);
}
