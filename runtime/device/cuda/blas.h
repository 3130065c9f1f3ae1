// cuBLASLt: matrix products on a GPU. Its types are declared by ourselves and it is opened at run time, so that neither
// building nor starting needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/device/cuda/api.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/library_call.h"

namespace tarry::runtime {
namespace cuda {

enum class BlasStatus : std::uint32_t {
  Success = 0,
  NotInitialized = 1,
  AllocFailed = 3,
  ExecutionFailed = 13,
  InternalError = 14
};
using BlasHandle = struct BlasHandleObject*;
using MatmulDescription = struct MatmulDescriptionObject*;
using MatrixLayout = struct MatrixLayoutObject*;
using MatmulPreference = struct MatmulPreferenceObject*;

struct MatmulAlgorithm {
  std::uint64_t data[8];
};
struct MatmulHeuristic {
  MatmulAlgorithm algorithm;
  std::size_t workspace;
  BlasStatus state;
  float waves;
  int reserved[4];
};

// X(member, exported symbol, parameters). All return BlasStatus and exist since CUDA 11.2.
#define TARRY_BLAS_ENTRIES(X)                                                                                          \
  X(create, cublasLtCreate, (BlasHandle * handle))                                                                     \
  X(destroy, cublasLtDestroy, (BlasHandle handle))                                                                     \
  X(create_description, cublasLtMatmulDescCreate, (MatmulDescription * description, int compute, int scale))           \
  X(destroy_description, cublasLtMatmulDescDestroy, (MatmulDescription description))                                   \
  X(create_layout, cublasLtMatrixLayoutCreate,                                                                         \
    (MatrixLayout * layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading))                \
  X(destroy_layout, cublasLtMatrixLayoutDestroy, (MatrixLayout layout))                                                \
  X(set_layout, cublasLtMatrixLayoutSetAttribute,                                                                      \
    (MatrixLayout layout, int attribute, const void* value, std::size_t bytes))                                        \
  X(create_preference, cublasLtMatmulPreferenceCreate, (MatmulPreference * preference))                                \
  X(destroy_preference, cublasLtMatmulPreferenceDestroy, (MatmulPreference preference))                                \
  X(set_preference, cublasLtMatmulPreferenceSetAttribute,                                                              \
    (MatmulPreference preference, int attribute, const void* value, std::size_t bytes))                                \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                                         \
    (BlasHandle handle, MatmulDescription description, MatrixLayout a, MatrixLayout b, MatrixLayout c, MatrixLayout d, \
     MatmulPreference preference, int wanted, MatmulHeuristic* results, int* found))                                   \
  X(matmul, cublasLtMatmul,                                                                                            \
    (BlasHandle handle, MatmulDescription description, const void* alpha, const void* a, MatrixLayout a_layout,        \
     const void* b, MatrixLayout b_layout, const void* beta, const void* c, MatrixLayout c_layout, void* d,            \
     MatrixLayout d_layout, const MatmulAlgorithm* algorithm, void* workspace, std::size_t workspace_bytes,            \
     Stream stream))

/// The entry points, all resolved. A test may fill one with functions of its own.
struct BlasApi {
#define TARRY_MEMBER(member, symbol, parameters) BlasStatus(*member) parameters = nullptr;
  TARRY_BLAS_ENTRIES(TARRY_MEMBER)
#undef TARRY_MEMBER
};

/// The library of this machine, or why there is none. The first call opens it.
struct BlasState {
  const BlasApi* api = nullptr;
  std::string reason;
};
BlasState blas();

}  // namespace cuda

/// cuBLASLt on one device, from the first product on.
class CudaBlas {
 public:
  /// `given`: a test's; null for the machine's.
  CudaBlas(std::shared_ptr<const CudaContext> context, const cuda::BlasApi* given);
  ~CudaBlas();
  CudaBlas(const CudaBlas&) = delete;
  CudaBlas& operator=(const CudaBlas&) = delete;

  /// Why products cannot be computed, or "".
  [[nodiscard]] const std::string& missing() const { return missing_; }
  /// The first algorithm that the library proposes for the shape, among those that give the same bits at every run.
  /// Throws DeviceError where it proposes none.
  [[nodiscard]] static std::unique_ptr<LibraryCall> make(const std::shared_ptr<const CudaBlas>& blas,
                                                         const MatmulSpec& spec);

 private:
  friend class CudaMatmul;
  const std::shared_ptr<const CudaContext> context_;
  const cuda::BlasApi* api_ = nullptr;
  cuda::BlasHandle handle_ = nullptr;
  std::string missing_;
};

}  // namespace tarry::runtime
