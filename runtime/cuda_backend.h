// Making CUDA backends; the backend itself is all in cuda_backend.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/cuda_api.h"

namespace tarry::runtime {

/// A backend on any driver, also one that a test wrote. `api` outlives the backend and its buffers.
std::unique_ptr<Backend> make_cuda_backend(const cuda::DriverApi& api, int index);

/// Lines for `tarry info`: driver and devices, or why there are none, and NVRTC, or why there is none.
std::vector<std::string> describe_cuda();

}  // namespace tarry::runtime
