// NVRTC as we know it: the few types and entry points used, declared here, found at run time, as those of the driver
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/fault.h"

namespace tarry::runtime::cuda {

enum class NvrtcResult : std::uint32_t {
  Success = 0,
  OutOfMemory = 1,
  InvalidOption = 5,
  Compilation = 6,
  BuiltinOperationFailure = 7,
  InternalError = 11,
};
using Program = struct ProgramObject*;

// X(member, exported symbol, parameters). All return NvrtcResult and exist since CUDA 11.2.
#define TARRY_NVRTC_ENTRIES(X)                                                                            \
  X(version, nvrtcVersion, (int* major, int* minor))                                                      \
  X(get_num_supported_archs, nvrtcGetNumSupportedArchs, (int* count))                                     \
  X(get_supported_archs, nvrtcGetSupportedArchs, (int* archs))                                            \
  X(create_program, nvrtcCreateProgram,                                                                   \
    (Program * program, const char* text, const char* name, int headers, const char* const* header_texts, \
     const char* const* header_names))                                                                    \
  X(destroy_program, nvrtcDestroyProgram, (Program * program))                                            \
  X(compile_program, nvrtcCompileProgram, (Program program, int count, const char* const* options))       \
  X(get_cubin_size, nvrtcGetCUBINSize, (Program program, std::size_t* bytes))                             \
  X(get_cubin, nvrtcGetCUBIN, (Program program, char* cubin))                                             \
  X(get_ptx_size, nvrtcGetPTXSize, (Program program, std::size_t* bytes))                                 \
  X(get_ptx, nvrtcGetPTX, (Program program, char* ptx))                                                   \
  X(get_program_log_size, nvrtcGetProgramLogSize, (Program program, std::size_t* bytes))                  \
  X(get_program_log, nvrtcGetProgramLog, (Program program, char* log))

struct NvrtcApi {
#define TARRY_MEMBER(member, symbol, parameters) NvrtcResult(*member) parameters = nullptr;
  TARRY_NVRTC_ENTRIES(TARRY_MEMBER)
#undef TARRY_MEMBER
  const char* (*get_error_string)(NvrtcResult result) = nullptr;
};

template <class... P, class... A>
NvrtcResult call(NvrtcResult (*entry)(P...), A... arguments) {
  if (support::fault::fails(support::fault::Site::Nvrtc)) return NvrtcResult::InternalError;
  return entry(arguments...);
}

/// Fills `api` from an opened libnvrtc; returns the name of the first missing symbol, or "".
std::string resolve(void* library, NvrtcApi& api);

}  // namespace tarry::runtime::cuda
