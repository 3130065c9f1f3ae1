// The CUDA driver as we know it: the few types and entry points used, declared here, found at run time.
//
// Nothing of the toolkit is needed to build. tests/runtime/device/cuda_api_test.cpp compares every declaration with the
// real headers where they are installed. The symbol names carry their version suffix, so dlsym finds one exact ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/fault.h"

namespace tarry::runtime::cuda {

enum class Result : std::uint32_t {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  StubLibrary = 34,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  NvlinkUncorrectable = 220,
  UnsupportedPtxVersion = 222,
  Contained = 226,
  OperatingSystem = 304,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchTimeout = 702,
  ContextIsDestroyed = 709,
  Assert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  TensorMemoryLeak = 721,
  SystemDriverMismatch = 803,
  CompatNotSupportedOnDevice = 804,
  ExternalDevice = 911,
  Unknown = 999,
};

enum class DeviceAttribute : std::uint32_t { ComputeCapabilityMajor = 75, ComputeCapabilityMinor = 76 };
enum class FunctionAttribute : std::uint32_t { MaxDynamicSharedSizeBytes = 8 };
enum class JitOption : std::uint32_t { ErrorLogBuffer = 5, ErrorLogBufferSizeBytes = 6 };

inline constexpr unsigned kStreamNonBlocking = 1;     ///< CU_STREAM_NON_BLOCKING
inline constexpr unsigned kEventDisableTiming = 2;    ///< CU_EVENT_DISABLE_TIMING
inline constexpr std::uintptr_t kLaunchParamEnd = 0;  ///< CU_LAUNCH_PARAM_*
inline constexpr std::uintptr_t kLaunchParamBufferPointer = 1;
inline constexpr std::uintptr_t kLaunchParamBufferSize = 2;

using Ordinal = int;                       ///< CUdevice
using DevicePointer = unsigned long long;  ///< CUdeviceptr
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Graph = struct GraphObject*;
using GraphExec = struct GraphExecObject*;
using GraphNode = struct GraphNodeObject*;

/// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNodeParams {
  Function function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;     ///< CUkernel, where `function` is null
  Context context;  ///< of `kernel`
};

enum class LaunchAttributeId : std::uint32_t { ProgrammaticStreamSerialization = 6 };

/// CUlaunchAttribute of an int.
struct LaunchAttribute {
  LaunchAttributeId id;
  std::uint32_t unused;
  alignas(8) int value;
  unsigned char rest[60];
};

/// CUlaunchConfig
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned count;
};

// X(member, exported symbol, parameters). All return Result and exist since CUDA 11.0.
#define TARRY_CUDA_DRIVER_ENTRIES(X)                                                                                   \
  X(init, cuInit, (unsigned flags))                                                                                    \
  X(driver_get_version, cuDriverGetVersion, (int* version))                                                            \
  X(get_error_name, cuGetErrorName, (Result error, const char** text))                                                 \
  X(get_error_string, cuGetErrorString, (Result error, const char** text))                                             \
  X(device_get_count, cuDeviceGetCount, (int* count))                                                                  \
  X(device_get, cuDeviceGet, (Ordinal * device, int ordinal))                                                          \
  X(device_get_name, cuDeviceGetName, (char* name, int length, Ordinal device))                                        \
  X(device_get_attribute, cuDeviceGetAttribute, (int* value, DeviceAttribute attribute, Ordinal device))               \
  X(device_total_mem, cuDeviceTotalMem_v2, (std::size_t* bytes, Ordinal device))                                       \
  X(primary_ctx_retain, cuDevicePrimaryCtxRetain, (Context * context, Ordinal device))                                 \
  X(primary_ctx_release, cuDevicePrimaryCtxRelease_v2, (Ordinal device))                                               \
  X(ctx_push_current, cuCtxPushCurrent_v2, (Context context))                                                          \
  X(ctx_pop_current, cuCtxPopCurrent_v2, (Context * context))                                                          \
  X(ctx_get_current, cuCtxGetCurrent, (Context * context))                                                             \
  X(mem_get_info, cuMemGetInfo_v2, (std::size_t* free, std::size_t* total))                                            \
  X(mem_alloc, cuMemAlloc_v2, (DevicePointer * address, std::size_t bytes))                                            \
  X(mem_free, cuMemFree_v2, (DevicePointer address))                                                                   \
  X(mem_host_alloc, cuMemHostAlloc, (void** address, std::size_t bytes, unsigned flags))                               \
  X(mem_free_host, cuMemFreeHost, (void* address))                                                                     \
  X(memcpy_htod_async, cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, std::size_t bytes, Stream stream))   \
  X(memcpy_dtoh_async, cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, std::size_t bytes, Stream stream))         \
  X(memcpy_dtod_async, cuMemcpyDtoDAsync_v2, (DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream)) \
  X(memset_d32_async, cuMemsetD32Async, (DevicePointer to, unsigned value, std::size_t count, Stream stream))          \
  X(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                                                  \
  X(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                                               \
  X(stream_synchronize, cuStreamSynchronize, (Stream stream))                                                          \
  X(stream_wait_event, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                                \
  X(event_create, cuEventCreate, (Event * event, unsigned flags))                                                      \
  X(event_destroy, cuEventDestroy_v2, (Event event))                                                                   \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                                         \
  X(event_query, cuEventQuery, (Event event))                                                                          \
  X(event_synchronize, cuEventSynchronize, (Event event))                                                              \
  X(module_load_data, cuModuleLoadDataEx,                                                                              \
    (Module * module, const void* image, unsigned count, JitOption* options, void** values))                           \
  X(module_unload, cuModuleUnload, (Module module))                                                                    \
  X(module_get_function, cuModuleGetFunction, (Function * function, Module module, const char* name))                  \
  X(func_set_attribute, cuFuncSetAttribute, (Function function, FunctionAttribute attribute, int value))               \
  X(launch_kernel, cuLaunchKernel,                                                                                     \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,         \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))

// The same for entries since CUDA 12.0. An older driver has none of them; then there are no CUDA graphs, and no
// kernel starts before the one before it is done.
#define TARRY_CUDA_GRAPH_ENTRIES(X)                                                                            \
  X(graph_create, cuGraphCreate, (Graph * graph, unsigned flags))                                              \
  X(graph_destroy, cuGraphDestroy, (Graph graph))                                                              \
  X(graph_add_kernel_node, cuGraphAddKernelNode_v2,                                                            \
    (GraphNode * node, Graph graph, const GraphNode* dependencies, std::size_t count,                          \
     const KernelNodeParams* parameters))                                                                      \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (GraphExec * exec, Graph graph, unsigned long long flags)) \
  X(graph_exec_destroy, cuGraphExecDestroy, (GraphExec exec))                                                  \
  X(graph_exec_set_parameters, cuGraphExecKernelNodeSetParams_v2,                                              \
    (GraphExec exec, GraphNode node, const KernelNodeParams* parameters))                                      \
  X(graph_launch, cuGraphLaunch, (GraphExec exec, Stream stream))                                              \
  X(launch_kernel_ex, cuLaunchKernelEx,                                                                        \
    (const LaunchConfig* config, Function function, void** parameters, void** extra))

/// The entry points, all resolved but perhaps those of graphs. A test may fill one with functions of its own.
struct DriverApi {
#define TARRY_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  TARRY_CUDA_DRIVER_ENTRIES(TARRY_MEMBER)
  TARRY_CUDA_GRAPH_ENTRIES(TARRY_MEMBER)
#undef TARRY_MEMBER
  bool has_graphs = false;
};

/// The driver of this machine, initialised, or why there is none. The first call opens libcuda.so.1 and calls cuInit.
struct DriverState {
  const DriverApi* api = nullptr;  ///< null where CUDA cannot be used
  std::string reason;              ///< "" where it can; else the cause and what helps
  int version = 0;                 ///< 13000 for CUDA 13.0; known once libcuda was opened
};
DriverState driver();

/// From now on a forked child knows that it is one. Called once CUDA is in use.
void watch_for_fork();
/// True in a child forked after that: the driver must not be called there any more.
bool forked() noexcept;
inline constexpr const char* kForkedReason =
    "CUDA was in use before fork(); a forked child cannot use it: start the child with exec, or fork before the first "
    "use of a GPU";

/// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string describe(const DriverApi& api, Result result);

/// True for errors after which the context can never be used again.
bool is_sticky(Result result) noexcept;

/// The one way to call the driver: asks the fault injector first.
template <class... P, class... A>
Result call(Result (*entry)(P...), A... arguments) {
  if (support::fault::fails(support::fault::Site::Driver)) return Result::OperatingSystem;
  return entry(arguments...);
}

}  // namespace tarry::runtime::cuda
