// cuBLASLt: where it is, and a product as it wants to be asked for one.
#include "runtime/device/cuda/blas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "graph/storage.h"
#include "runtime/device/compilers/nvrtc.h"
#include "support/check.h"
#include "support/fault.h"

namespace tarry::runtime {
namespace cuda {
namespace {

/// As NVRTC was found: by the loader, beside NVRTC, in its neighbour among Python's wheels, in the toolkit.
std::vector<std::string> candidates() {
  constexpr const char* kNames[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"};
  std::vector<std::string> result(std::begin(kNames), std::end(kNames));
  std::vector<std::filesystem::path> folders{"/usr/local/cuda/lib64"};
  if (const std::filesystem::path nvrtc = nvrtc_location(); nvrtc.has_parent_path()) {
    folders.push_back(nvrtc.parent_path());
    folders.push_back(nvrtc.parent_path().parent_path().parent_path() / "cublas" / "lib");
  }
  for (const auto& folder : folders)
    for (const char* name : kNames) result.push_back((folder / name).string());
  return result;
}

std::string resolve(void* library, BlasApi& api) {
#define TARRY_RESOLVE(member, symbol, parameters)                               \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, #symbol)); \
  if (api.member == nullptr) return #symbol;
  TARRY_BLAS_ENTRIES(TARRY_RESOLVE)
#undef TARRY_RESOLVE
  return {};
}

struct BlasLibrary {
  BlasApi api;
  std::string reason;
};

BlasLibrary* open_library() {
  auto* const found = new BlasLibrary;  // stays: products may be running at exit
  std::string refused;
  for (const std::string& path : candidates()) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      if (refused.empty()) refused = why != nullptr ? why : path;
      continue;
    }
    const std::string missing = resolve(handle, found->api);
    if (missing.empty()) return found;
    refused = fmt::format("{} lacks {}", path, missing);
  }
  found->reason = refused + "; install the CUDA toolkit or Python's nvidia-cublas";
  return found;
}

}  // namespace

BlasState blas() {
  static const BlasLibrary* const found = open_library();
  if (!found->reason.empty()) return {nullptr, found->reason};
  return {&found->api, {}};
}

}  // namespace cuda

namespace {

using cuda::BlasApi;
using cuda::BlasStatus;

// Numbers of the library's enumerations.
constexpr int kBatchCount = 5, kBatchStride = 6;                              // attributes of a layout
constexpr int kMaxWorkspace = 1, kReductionSchemes = 3, kFirstAlignment = 5;  // of a preference; one for each matrix
constexpr std::uint32_t kComputeTypeReduction = 2;
constexpr int kCompute32 = 68, kCompute32Tf32 = 77, kCompute64 = 70;
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

template <class... P, class... A>
BlasStatus call(BlasStatus (*entry)(P...), A... arguments) {
  if (support::fault::fails(support::fault::Site::Driver)) return BlasStatus::InternalError;
  return entry(arguments...);
}

int type_number(Dtype d) {
  switch (d) {
    case Dtype::Float16: return 2;
    case Dtype::BFloat16: return 14;
    case Dtype::Float64: return 1;
    default: return 0;
  }
}

int compute_number(const MatmulSpec& spec) {
  if (spec.dtype == float64) return kCompute64;
  return spec.dtype == float32 && spec.mode == graph::Mode::Relaxed ? kCompute32Tf32 : kCompute32;
}

void check(BlasStatus status, const char* what, const MatmulSpec& spec) {
  if (status == BlasStatus::Success) return;
  TARRY_THROW(DeviceError, "", Where{},
              fmt::format("{} of {}: cuBLAS status {}", what, spec.str(), static_cast<unsigned>(status)));
}

/// Something of the library's, destroyed by it.
template <class Object>
class BlasObject {
 public:
  using Destroy = BlasStatus (*)(Object);
  explicit BlasObject(Destroy destroy) : destroy_(destroy) {}
  ~BlasObject() {
    if (object != nullptr) (void)destroy_(object);
  }
  BlasObject(const BlasObject&) = delete;
  BlasObject& operator=(const BlasObject&) = delete;
  Object object = nullptr;

 private:
  Destroy destroy_;
};

}  // namespace

/// Row-major a times b is column-major b times a: the library sees the transposed of each, without moving anything.
class CudaMatmul final : public LibraryCall {
 public:
  CudaMatmul(std::shared_ptr<const CudaBlas> blas, const MatmulSpec& spec)
      : blas_(std::move(blas)),
        api_(*blas_->api_),
        spec_(spec),
        description_(api_.destroy_description),
        left_(api_.destroy_layout),
        right_(api_.destroy_layout),
        result_(api_.destroy_layout) {
    const int scale = type_number(spec.dtype == float64 ? float64 : float32);
    check(call(api_.create_description, &description_.object, compute_number(spec), scale), "cublasLtMatmulDescCreate",
          spec);
    describe(left_, spec.n, spec.k, spec.b_count);
    describe(right_, spec.k, spec.m, spec.a_count);
    describe(result_, spec.n, spec.m, spec.count());
    choose();
  }

  [[nodiscard]] std::size_t workspace() const override { return heuristic_.workspace; }

  void run(const void* a, const void* b, void* result, void* workspace) const override {
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const bool wide = spec_.dtype == float64;
    const void* const alpha = wide ? static_cast<const void*>(&one64) : &one32;
    const void* const beta = wide ? static_cast<const void*>(&zero64) : &zero32;
    check(call(api_.matmul, blas_->handle_, description_.object, alpha, b, left_.object, a, right_.object, beta,
               static_cast<const void*>(result), result_.object, result, result_.object, &heuristic_.algorithm,
               workspace, heuristic_.workspace, blas_->context_->compute()),
          "cublasLtMatmul", spec_);
  }

 private:
  void describe(BlasObject<cuda::MatrixLayout>& layout, std::int64_t rows, std::int64_t columns,
                std::int64_t count) const {
    check(call(api_.create_layout, &layout.object, type_number(spec_.dtype), static_cast<std::uint64_t>(rows),
               static_cast<std::uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate", spec_);
    const auto batch = static_cast<std::int32_t>(spec_.count());
    const std::int64_t stride = count == 1 ? 0 : rows * columns;
    if (batch == 1) return;
    set(layout, kBatchCount, batch);
    set(layout, kBatchStride, stride);
  }
  template <class T>
  void set(const BlasObject<cuda::MatrixLayout>& layout, int attribute, T value) const {
    check(call(api_.set_layout, layout.object, attribute, static_cast<const void*>(&value), sizeof value),
          "cublasLtMatrixLayoutSetAttribute", spec_);
  }

  void choose() {
    BlasObject<cuda::MatmulPreference> preference(api_.destroy_preference);
    check(call(api_.create_preference, &preference.object), "cublasLtMatmulPreferenceCreate", spec_);
    const auto prefer = [&](int attribute, auto value) {
      check(call(api_.set_preference, preference.object, attribute, static_cast<const void*>(&value), sizeof value),
            "cublasLtMatmulPreferenceSetAttribute", spec_);
    };
    prefer(kMaxWorkspace, static_cast<std::uint64_t>(kWorkspace));
    prefer(kReductionSchemes, kComputeTypeReduction);
    for (int matrix = 0; matrix < 4; ++matrix) prefer(kFirstAlignment + matrix, std::uint32_t{graph::kBufferAlignment});
    int found = 0;
    check(call(api_.heuristic, blas_->handle_, description_.object, left_.object, right_.object, result_.object,
               result_.object, preference.object, 1, &heuristic_, &found),
          "cublasLtMatmulAlgoGetHeuristic", spec_);
    if (found == 0 || heuristic_.state != BlasStatus::Success)
      TARRY_THROW(DeviceError, "", Where{}, fmt::format("cuBLASLt has no algorithm for {}", spec_.str()));
  }

  const std::shared_ptr<const CudaBlas> blas_;
  const BlasApi& api_;
  const MatmulSpec spec_;
  BlasObject<cuda::MatmulDescription> description_;
  BlasObject<cuda::MatrixLayout> left_, right_, result_;
  cuda::MatmulHeuristic heuristic_{};
};

CudaBlas::CudaBlas(std::shared_ptr<const CudaContext> context, const cuda::BlasApi* given)
    : context_(std::move(context)), api_(given) {
  if (api_ == nullptr) {
    const cuda::BlasState state = cuda::blas();
    api_ = state.api;
    missing_ = state.reason;
    if (api_ == nullptr) return;
  }
  const CudaContext::Current current(*context_);
  const BlasStatus status = call(api_->create, &handle_);
  if (status != BlasStatus::Success)
    missing_ = fmt::format("cublasLtCreate: cuBLAS status {}", static_cast<unsigned>(status));
}

CudaBlas::~CudaBlas() {
  if (handle_ == nullptr || cuda::forked()) return;
  const CudaContext::Current current(*context_);
  (void)api_->destroy(handle_);
}

std::unique_ptr<LibraryCall> CudaBlas::make(const std::shared_ptr<const CudaBlas>& blas, const MatmulSpec& spec) {
  TARRY_ASSERT(blas->missing().empty());
  const CudaContext::Current current(*blas->context_);
  return std::make_unique<CudaMatmul>(blas, spec);
}

}  // namespace tarry::runtime
