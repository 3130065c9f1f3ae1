// A CUDA backend with two kernels, on a driver made of host memory, and once more on the GPU where there is one.
#pragma once

#include "runtime/device/cuda/backend.h"

#include <tarry/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/cuda/pool.h"
#include "support/env.h"
#include "support/fault.h"
#include "tests/helpers/fake_driver.h"
#include "tests/helpers/test.h"

namespace tarry::test {

using runtime::Backend;
using support::fault::Site;
using Values = std::vector<float>;

// to[i] = from[i] * factor, and counters[i] += 1. Every parameter is a slot of 8 bytes.
inline constexpr const char* kKernels = R"(
struct Scale { float* to; const float* from; long long count; float factor, unused; };
extern "C" __global__ void __launch_bounds__(256) scale(const __grid_constant__ Scale p) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < p.count) p.to[i] = p.from[i] * p.factor;
}
struct Count { unsigned* counters; long long count; };
extern "C" __global__ void __launch_bounds__(256) count(const __grid_constant__ Count p) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < p.count) p.counters[i] += 1;
}
)";

inline void add_host_kernels(FakeDriver& driver) {
  driver.kernels["scale"] = [](const std::uint64_t* words, unsigned, unsigned) {
    auto* to = reinterpret_cast<float*>(words[0]);
    const auto* from = reinterpret_cast<const float*>(words[1]);
    float factor = 0;
    std::memcpy(&factor, &words[3], sizeof factor);
    for (std::uint64_t i = 0; i < words[2]; ++i) to[i] = from[i] * factor;
  };
  driver.kernels["count"] = [](const std::uint64_t* words, unsigned, unsigned) {
    for (std::uint64_t i = 0; i < words[1]; ++i) ++reinterpret_cast<unsigned*>(words[0])[i];
  };
}

enum class On { Fake, Gpu };

/// A backend, on a driver of its own or on the GPU, and the two kernels.
struct Bench {
  explicit Bench(On on) {
    if (on == On::Fake) {
      add_host_kernels(fake.emplace());
      api = &fake->api;
      image = std::make_shared<const std::string>("not looked at");
    } else {
      api = runtime::cuda::driver().api;
    }
    backend = runtime::make_cuda_backend(*api, 0);
    if (on == On::Gpu) {
      image = std::make_shared<const std::string>(
          runtime::nvrtc_compile(kKernels, backend->target(), graph::Mode::Strict).bytes);
    }
  }

  std::shared_ptr<cache::Executable> load(const char* entry) {
    cache::KernelRequest request;
    request.entry = entry;
    return backend->load(request, {image, "test", ""});
  }

  std::shared_ptr<graph::Buffer> upload(const Values& values) {
    auto buffer = backend->allocate(values.size() * sizeof(float));
    backend->upload(*buffer, values.data(), values.size() * sizeof(float));
    return buffer;
  }

  Values download(const graph::Buffer& buffer, std::size_t count) {
    Values values(count, -1.0f);
    backend->download(values.data(), buffer, 0, count * sizeof(float));
    return values;
  }

  void launch(const char* entry, const cache::Executable& kernel, std::vector<std::uint64_t> words, std::size_t count) {
    codegen::KernelSource source;
    source.entry = entry;
    codegen::Geometry geometry;
    geometry.outer_tiles = static_cast<std::int64_t>((count + 255) / 256);
    backend->launch({&kernel, &source, words, geometry});
  }

  void scale(graph::Buffer& to, const graph::Buffer& from, std::size_t count, float factor) {
    if (!scale_kernel) scale_kernel = load("scale");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &factor, sizeof factor);
    launch("scale", *scale_kernel,
           {reinterpret_cast<std::uint64_t>(to.data), reinterpret_cast<std::uint64_t>(from.data), count, bits}, count);
  }

  std::optional<FakeDriver> fake;
  const runtime::cuda::DriverApi* api = nullptr;
  std::shared_ptr<const std::string> image;
  std::unique_ptr<Backend> backend;
  std::shared_ptr<cache::Executable> scale_kernel;
};

inline Values sequence(std::size_t count) {
  Values values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// Where two results differ, in words; comparing them inside CHECK would print millions of numbers.
inline std::string difference(const Values& got, const Values& expected) {
  if (got.size() != expected.size()) return "sizes differ";
  const auto [at, other] = std::mismatch(got.begin(), got.end(), expected.begin());
  if (at == got.end()) return {};
  return "element " + std::to_string(at - got.begin()) + " is " + std::to_string(*at) + ", not " +
         std::to_string(*other);
}
#define CHECK_VALUES(GOT, ...) CHECK(tarry::test::difference((GOT), (__VA_ARGS__)) == "")

inline Values times(Values values, float factor) {
  for (float& v : values) v *= factor;
  return values;
}

struct Override {
  const char* name;
  Override(const char* switch_name, const std::string& value) : name(switch_name) { support::env::set(name, value); }
  ~Override() { support::env::set(name, std::nullopt); }
  Override(const Override&) = delete;
  Override& operator=(const Override&) = delete;
};

inline constexpr auto kForever = std::chrono::nanoseconds::max();

}  // namespace tarry::test

#define TARRY_ON_EACH_DRIVER(bench)                  \
  const On bench##_on = GENERATE(On::Fake, On::Gpu); \
  if (bench##_on == On::Gpu) {                       \
    TARRY_REQUIRE_CUDA();                            \
    TARRY_REQUIRE_NVRTC();                           \
  }                                                  \
  Bench bench(bench##_on)
