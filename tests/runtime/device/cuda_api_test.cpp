// Tests of the declarations of the CUDA driver and NVRTC against the real headers, and of Handle.
#include <type_traits>
#include <utility>

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#define TARRY_HAVE_CUDA_HEADERS 1
#include <cuda.h>
#include <nvrtc.h>
#endif

#include "runtime/device/backend.h"
#include "runtime/device/compilers/nvrtc_api.h"
#include "runtime/device/cuda/api.h"
#include "runtime/device/cuda/backend.h"
#include "runtime/device/handle.h"
#include "support/fault.h"
#include "tests/helpers/test.h"

using namespace tarry;
namespace ours = tarry::runtime::cuda;

#ifdef TARRY_HAVE_CUDA_HEADERS
namespace {

/// True where a call through a declaration with A passes the same bits as one with B: the names of enums and of opaque
/// structs may differ, nothing else.
template <class A, class B>
constexpr bool same_abi() {
  if constexpr (std::is_same_v<A, B>) {
    return true;
  } else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using X = std::remove_pointer_t<A>;
    using Y = std::remove_pointer_t<B>;
    if constexpr (std::is_const_v<X> != std::is_const_v<Y>) return false;
    return same_abi<std::remove_const_t<X>, std::remove_const_t<Y>>();
  } else if constexpr (std::is_enum_v<A> && std::is_enum_v<B>) {
    return std::is_same_v<std::underlying_type_t<A>, std::underlying_type_t<B>>;
  } else {
    return std::is_class_v<A> && std::is_class_v<B>;
  }
}

template <class A, class B>
struct SameFunction : std::false_type {};
template <class R, class... P, class S, class... Q>
struct SameFunction<R (*)(P...), S (*)(Q...)> {
  static constexpr bool compare() {
    if constexpr (sizeof...(P) != sizeof...(Q)) {
      return false;
    } else {
      return same_abi<R, S>() && (same_abi<P, Q>() && ...);
    }
  }
  static constexpr bool value = compare();
};

#define TARRY_COMPARE(member, symbol, parameters) \
  static_assert(SameFunction<decltype(ours::DriverApi::member), decltype(&::symbol)>::value, #symbol);
TARRY_CUDA_DRIVER_ENTRIES(TARRY_COMPARE)
#if CUDA_VERSION >= 12000
TARRY_CUDA_GRAPH_ENTRIES(TARRY_COMPARE)
static_assert(sizeof(ours::KernelNodeParams) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
static_assert(offsetof(ours::KernelNodeParams, parameters) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams));
static_assert(offsetof(ours::KernelNodeParams, shared_bytes) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes));
static_assert(offsetof(ours::KernelNodeParams, context) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, ctx));
static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::LaunchConfig, count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(static_cast<unsigned>(ours::LaunchAttributeId::ProgrammaticStreamSerialization) ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
#endif
#undef TARRY_COMPARE
#define TARRY_COMPARE(member, symbol, parameters) \
  static_assert(SameFunction<decltype(ours::NvrtcApi::member), decltype(&::symbol)>::value, #symbol);
TARRY_NVRTC_ENTRIES(TARRY_COMPARE)
#undef TARRY_COMPARE
static_assert(SameFunction<decltype(ours::NvrtcApi::get_error_string), decltype(&::nvrtcGetErrorString)>::value);
static_assert(!SameFunction<decltype(&::cuMemFree_v2), decltype(&::cuMemFreeHost)>::value, "the comparison can fail");
static_assert(!SameFunction<decltype(&::cuStreamCreate), decltype(&::cuMemFreeHost)>::value, "the comparison can fail");

template <class A, class B>
constexpr bool same_value(A a, B b) {
  return static_cast<std::uint64_t>(a) == static_cast<std::uint64_t>(b);
}
#define TARRY_VALUE(mine, theirs) static_assert(same_value(mine, theirs), #theirs)
TARRY_VALUE(ours::Result::Success, CUDA_SUCCESS);
TARRY_VALUE(ours::Result::InvalidValue, CUDA_ERROR_INVALID_VALUE);
TARRY_VALUE(ours::Result::OutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
TARRY_VALUE(ours::Result::NotInitialized, CUDA_ERROR_NOT_INITIALIZED);
TARRY_VALUE(ours::Result::Deinitialized, CUDA_ERROR_DEINITIALIZED);
TARRY_VALUE(ours::Result::StubLibrary, CUDA_ERROR_STUB_LIBRARY);
TARRY_VALUE(ours::Result::NoDevice, CUDA_ERROR_NO_DEVICE);
TARRY_VALUE(ours::Result::InvalidDevice, CUDA_ERROR_INVALID_DEVICE);
TARRY_VALUE(ours::Result::InvalidImage, CUDA_ERROR_INVALID_IMAGE);
TARRY_VALUE(ours::Result::NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
TARRY_VALUE(ours::Result::EccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
TARRY_VALUE(ours::Result::InvalidPtx, CUDA_ERROR_INVALID_PTX);
TARRY_VALUE(ours::Result::NvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
TARRY_VALUE(ours::Result::UnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
TARRY_VALUE(ours::Result::OperatingSystem, CUDA_ERROR_OPERATING_SYSTEM);
TARRY_VALUE(ours::Result::NotFound, CUDA_ERROR_NOT_FOUND);
TARRY_VALUE(ours::Result::NotReady, CUDA_ERROR_NOT_READY);
TARRY_VALUE(ours::Result::IllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
TARRY_VALUE(ours::Result::LaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
TARRY_VALUE(ours::Result::ContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
TARRY_VALUE(ours::Result::Assert, CUDA_ERROR_ASSERT);
TARRY_VALUE(ours::Result::HardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
TARRY_VALUE(ours::Result::IllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
TARRY_VALUE(ours::Result::MisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
TARRY_VALUE(ours::Result::InvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
TARRY_VALUE(ours::Result::InvalidPc, CUDA_ERROR_INVALID_PC);
TARRY_VALUE(ours::Result::LaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
TARRY_VALUE(ours::Result::SystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
TARRY_VALUE(ours::Result::CompatNotSupportedOnDevice, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
TARRY_VALUE(ours::Result::ExternalDevice, CUDA_ERROR_EXTERNAL_DEVICE);
TARRY_VALUE(ours::Result::Unknown, CUDA_ERROR_UNKNOWN);
#if CUDA_VERSION >= 13000
TARRY_VALUE(ours::Result::Contained, CUDA_ERROR_CONTAINED);
TARRY_VALUE(ours::Result::TensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif
TARRY_VALUE(ours::DeviceAttribute::ComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
TARRY_VALUE(ours::DeviceAttribute::ComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
TARRY_VALUE(ours::JitOption::ErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
TARRY_VALUE(ours::JitOption::ErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
TARRY_VALUE(ours::kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
TARRY_VALUE(ours::kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
TARRY_VALUE(ours::NvrtcResult::Success, NVRTC_SUCCESS);
TARRY_VALUE(ours::NvrtcResult::OutOfMemory, NVRTC_ERROR_OUT_OF_MEMORY);
TARRY_VALUE(ours::NvrtcResult::InvalidOption, NVRTC_ERROR_INVALID_OPTION);
TARRY_VALUE(ours::NvrtcResult::Compilation, NVRTC_ERROR_COMPILATION);
TARRY_VALUE(ours::NvrtcResult::BuiltinOperationFailure, NVRTC_ERROR_BUILTIN_OPERATION_FAILURE);
TARRY_VALUE(ours::NvrtcResult::InternalError, NVRTC_ERROR_INTERNAL_ERROR);

}  // namespace

TEST_CASE("cuda api: the launch parameter markers are those of the real header", "[runtime][cuda_api]") {
  CHECK(reinterpret_cast<void*>(ours::kLaunchParamEnd) == CU_LAUNCH_PARAM_END);
  CHECK(reinterpret_cast<void*>(ours::kLaunchParamBufferPointer) == CU_LAUNCH_PARAM_BUFFER_POINTER);
  CHECK(reinterpret_cast<void*>(ours::kLaunchParamBufferSize) == CU_LAUNCH_PARAM_BUFFER_SIZE);
}
#else
TEST_CASE("cuda api: declarations match the real headers", "[runtime][cuda_api]") {
  TARRY_SKIP("there are no CUDA headers to compare with");
}
#endif

namespace {

int destroyed = 0;
void count_destroy(int) noexcept { ++destroyed; }
using Counted = runtime::Handle<int, count_destroy>;
static_assert(!std::is_copy_constructible_v<Counted> && !std::is_copy_assignable_v<Counted>);
static_assert(std::is_nothrow_move_constructible_v<Counted> && std::is_nothrow_move_assignable_v<Counted>);

}  // namespace

TEST_CASE("handle: an object is destroyed once, by its last owner", "[runtime][handle]") {
  destroyed = 0;
  {
    Counted a(7);
    Counted b(std::move(a));
    CHECK(!a);  // NOLINT: a moved-from handle is empty
    CHECK(b.get() == 7);
    Counted empty;
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 1);
}

TEST_CASE("handle: assignment destroys the old object and survives assignment to itself", "[runtime][handle]") {
  destroyed = 0;
  Counted a(1);
  Counted b(2);
  a = std::move(b);
  CHECK(destroyed == 1);
  CHECK(a.get() == 2);
  Counted& same = a;
  a = std::move(same);
  CHECK(a.get() == 2);
  CHECK(destroyed == 1);
  std::swap(a, b);
  CHECK(b.get() == 2);
  CHECK(destroyed == 1);
}

TEST_CASE("handle: reset destroys, release does not", "[runtime][handle]") {
  destroyed = 0;
  Counted a(1);
  a.reset(2);
  CHECK(destroyed == 1);
  CHECK(a.release() == 2);
  CHECK(!a);
  a.reset();
  CHECK(destroyed == 1);
}

TEST_CASE("cuda api: where there is no GPU the reason names the cause and a remedy", "[runtime][cuda_api]") {
  const ours::DriverState state = ours::driver();
  CHECK((state.api == nullptr) == !state.reason.empty());
  if (state.api == nullptr) {
    CHECK(runtime::cuda_device_count() == 0);
    CHECK(runtime::cuda_unavailable_reason() == state.reason);
    CHECK_THROWS_WITH(runtime::make_cuda_backend(0), Catch::Contains(state.reason));
    CHECK_THAT(state.reason, Catch::Contains("libcuda.so.1") || Catch::Contains("cuInit"));
  }
  CHECK(runtime::describe_cuda().size() >= 2);
}

TEST_CASE("cuda api: only errors that end the context are sticky", "[runtime][cuda_api]") {
  CHECK(ours::is_sticky(ours::Result::IllegalAddress));
  CHECK(ours::is_sticky(ours::Result::LaunchFailed));
  CHECK(!ours::is_sticky(ours::Result::OutOfMemory));
  CHECK(!ours::is_sticky(ours::Result::NotReady));
  CHECK(!ours::is_sticky(ours::Result::OperatingSystem));
}
