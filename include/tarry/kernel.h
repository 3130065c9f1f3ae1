// Code of your own between arrays: whole CUDA kernels, and functions that the host calls. Both are lazy: they run when
// something that reads their results is evaluated. Not part of tarry.h.
#pragma once

#include <tarry/array.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tarry {
inline namespace v0 {

/// The shape and dtype of a result.
struct OutputSpec {
  Shape shape;
  Dtype dtype = float32;
};

namespace detail {
/// Throws InvalidArgument unless elements of the dtype have so many bytes.
TARRY_EXPORT void check_element_size(Dtype dtype, std::size_t bytes, Where where);
}  // namespace detail

/// An array's elements in host memory, row-major. Valid during the call.
/// Example: `ta::HostInput(nullptr, {2, 3}, ta::float32).shape().str()` is `(2, 3)`.
class HostInput {
 public:
  HostInput(const void* data, Shape shape, Dtype dtype) : data_(data), shape_(std::move(shape)), dtype_(dtype) {}
  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  /// The elements as they are. `T` is the dtype's C++ type, or another one of its size.
  /// Throws InvalidArgument where the sizes differ.
  template <class T>
  [[nodiscard]] std::span<const T> values(Where where = std::source_location::current()) const {
    detail::check_element_size(dtype_, sizeof(T), where);
    return {static_cast<const T*>(data_), count(shape_)};
  }

 private:
  friend class HostOutput;
  static std::size_t count(const Shape& shape) {
    std::size_t n = 1;
    for (const std::int64_t extent : shape) n *= static_cast<std::size_t>(extent);
    return n;
  }
  const void* data_;
  Shape shape_;
  Dtype dtype_;
};

/// A result's elements, to be written.
/// Example: `ta::HostOutput(nullptr, {2, 3}, ta::int8).shape().str()` is `(2, 3)`.
class HostOutput {
 public:
  HostOutput(void* data, Shape shape, Dtype dtype) : data_(data), shape_(std::move(shape)), dtype_(dtype) {}
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  /// The elements, as those of an input.  Throws InvalidArgument as there.
  template <class T>
  [[nodiscard]] std::span<T> values(Where where = std::source_location::current()) const {
    detail::check_element_size(dtype_, sizeof(T), where);
    return {static_cast<T*>(data_), HostInput::count(shape_)};
  }

 private:
  void* data_;
  Shape shape_;
  Dtype dtype_;
};

using HostCallable = std::function<void(std::span<const HostInput>, std::span<const HostOutput>)>;

/// Results that `f` computes on the host from the inputs' elements. It is called once, in the thread that first
/// evaluates something that needs one of the results. What it throws comes out of that evaluate; the results stay lazy,
/// and it is called again the next time. Inputs on a GPU are brought to the host first.
/// Shapes, Dtypes: those of `outputs`.  `name` stands in messages.
/// Throws InvalidArgument where an input is undefined or an output's extent is negative; OutOfMemory.
/// Example: `ta::host_function([](auto in, auto out) { out[0].template values<int>()[0] = in[0].template
/// values<int>()[1]; }, {ta::array({3, 4})}, {{{1}, ta::int32}})[0]` is `[4]`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> host_function(HostCallable f, const std::vector<Array>& inputs,
                                                            const std::vector<OutputSpec>& outputs,
                                                            std::string_view name = "host_function",
                                                            Where where = std::source_location::current());

/// How a CUDA kernel is launched and compiled.
struct KernelLaunch {
  std::array<unsigned, 3> grid = {1, 1, 1};     ///< thread blocks
  std::array<unsigned, 3> block = {256, 1, 1};  ///< threads of each
  std::size_t shared_bytes = 0;                 ///< of dynamic shared memory
  std::vector<Scalar> numbers = {};  ///< parameters behind the arrays: long long, unsigned long long or double
  std::vector<std::string> include_paths = {};  ///< for headers of yours
  std::vector<std::string> options = {};        ///< more of NVRTC's
};

/// Results of a CUDA kernel of yours. `source` is CUDA C++ with `extern "C" __global__ void name(...)`, whose
/// parameters are pointers to the inputs, then to the outputs, all row-major, then the numbers. NVRTC compiles it once;
/// the cache keeps it as it keeps kernels of Tarry's own. It is launched once, on the device's stream, when something
/// that needs a result is evaluated. Outputs begin without a value: the kernel writes all elements. Shapes, Dtypes:
/// those of `outputs`. They are placed on the GPU of the inputs, or on the default one. Throws InvalidArgument where an
/// input is undefined or on the CPU by your wish, or an extent is negative; when evaluated CompileError with NVRTC's
/// messages, and DeviceError where there is no GPU. Example: `ta::cuda_kernel("extern \"C\" __global__ void twice(const
/// float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }", "twice", {ta::zeros({32})}, {{{32}, ta::float32}},
/// {.block = {32, 1, 1}})[0].shape()` is `(32,)`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> cuda_kernel(std::string_view source, std::string_view name,
                                                          const std::vector<Array>& inputs,
                                                          const std::vector<OutputSpec>& outputs,
                                                          const KernelLaunch& launch = {},
                                                          Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
