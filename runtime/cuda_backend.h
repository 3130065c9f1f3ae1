// Making CUDA backends; the backend itself is all in cuda_backend.cpp.
#pragma once

#include <memory>

#include "runtime/backend.h"
#include "runtime/cuda_api.h"

namespace tarry::runtime {

/// A backend on any driver, also one that a test wrote. `api` outlives the backend and its buffers.
std::unique_ptr<Backend> make_cuda_backend(const cuda::DriverApi& api, int index);

}  // namespace tarry::runtime
