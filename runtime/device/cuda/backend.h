// Making CUDA backends; the backend itself is all in cuda/backend.cpp.
#pragma once

#include <memory>

#include "runtime/device/backend.h"
#include "runtime/device/cuda/api.h"

namespace tarry::runtime {

namespace cuda {
struct BlasApi;
}

/// A backend on any driver, also one that a test wrote. `api` outlives the backend and its buffers; so does `blas`,
/// which is the machine's where it is null.
std::unique_ptr<Backend> make_cuda_backend(const cuda::DriverApi& api, int index, const cuda::BlasApi* blas = nullptr);

}  // namespace tarry::runtime
