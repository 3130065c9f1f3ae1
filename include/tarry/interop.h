// Memory and streams of other code: pointers to a device's memory as arrays, arrays as pointers, and work on a stream
// of the program's own. <tarry/dlpack.h> exchanges arrays with libraries that know DLPack.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace tarry {
inline namespace v0 {

/// How from_device_pointer() is to treat the memory.
struct AdoptOptions {
  std::optional<std::vector<std::int64_t>> strides;  ///< in elements, also zero or negative; none: row-major
  void (*deleter)(void* context) = nullptr;  ///< called once no array and no work needs the memory; must not throw
  void* context = nullptr;
  /// A CUstream that makes the contents: work on the array waits for what is enqueued there, and the deleter is called
  /// in its order. Null: the contents are there, and the last owner waits for work before it calls the deleter.
  void* stream = nullptr;
};

namespace detail {
[[nodiscard]] TARRY_EXPORT Array adopt(const void* data, Dtype dtype, const Shape& shape, Device device,
                                       const AdoptOptions& options, Where where);
}  // namespace detail

/// An array that reads memory of `device`, without a copy. It is never written, and must not change until everything
/// recorded from the array is evaluated. The array is placed on the device. Shapes: `shape`. Dtypes: that of T. Throws
/// InvalidArgument for an unplaced device, no or misaligned memory, and strides that do not fit the shape. Example:
/// `static float v[4] = {}; ta::Array x = ta::from_device_pointer(v, {4}, ta::cpu)`.
template <class T>
[[nodiscard]] Array from_device_pointer(const T* data, const Shape& shape, Device device,
                                        const AdoptOptions& options = {},
                                        Where where = std::source_location::current()) {
  return detail::adopt(data, dtype_of<T>, shape, device, options, where);
}

/// The fields of __cuda_array_interface__, version 3.
struct CudaArrayInterface {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in bytes; empty for row-major
  std::string typestr;                ///< "<f4", "|u1", "|b1"
  const void* data = nullptr;
  bool read_only = true;
  void* stream = nullptr;  ///< work enqueued there, or ordered after it, sees the values; null: no order is needed
  int version = 3;
};
/// The values of x, which must be on a GPU; valid while x or a copy of the handle lives. Evaluates, and does not wait:
/// use the stream. Shapes: any. Dtypes: all but bfloat16. Throws InvalidArgument for an array on the CPU and for
/// bfloat16, for which there is no type string. Example: `auto view =
/// ta::cuda_array_interface(ta::to_device(ta::zeros({4}), ta::cuda()))`.
[[nodiscard]] TARRY_EXPORT CudaArrayInterface cuda_array_interface(const Array& x,
                                                                   Where where = std::source_location::current());
/// An array that reads what the view describes; `device` says on which GPU. As from_device_pointer(); of `options` the
/// deleter counts. Shapes, Dtypes: those of the view. Throws InvalidArgument for a type string that is not available
/// and for strides that are not whole elements. Example: `ta::Array x =
/// ta::from_cuda_array_interface(ta::CudaArrayInterface{}, ta::cuda())`.
[[nodiscard]] TARRY_EXPORT Array from_cuda_array_interface(const CudaArrayInterface& view, Device device,
                                                           const AdoptOptions& options = {},
                                                           Where where = std::source_location::current());

/// From now on the device's kernels run on this CUstream of the program's own, after all that was enqueued before;
/// null: on the engine's own again. The stream must live that long. No other thread may evaluate on the device
/// meanwhile. Throws InvalidArgument for a device that is no GPU.  Example: `ta::use_stream(ta::cuda(), nullptr)`.
TARRY_EXPORT void use_stream(Device device, void* stream, Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
