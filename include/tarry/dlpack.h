// Arrays exchanged with other libraries through DLPack, without a copy. The structures are those of <dlpack/dlpack.h>,
// in both versions of its ABI; that header is not needed, and where a program has it, its own types work here too.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <source_location>

namespace tarry {
inline namespace v0 {
namespace dlpack {

/// Version of the ABI.
struct Version {
  std::uint32_t major = 1, minor = 0;
};
/// kDLDevice: 1 host, 2 CUDA, 3 host memory that CUDA pinned, 13 memory that CUDA manages.
struct DeviceType {
  std::int32_t type = 1, index = 0;
};
/// kDLDataType: code 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool.
struct DataType {
  std::uint8_t code = 0, bits = 0;
  std::uint16_t lanes = 1;
};
/// DLTensor.
struct Tensor {
  void* data = nullptr;
  DeviceType device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  ///< in elements; null for row-major
  std::uint64_t byte_offset = 0;
};
/// DLManagedTensor: the older form, which cannot say that it is read-only.
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor* self) = nullptr;
};
inline constexpr std::uint64_t kReadOnly = 1, kCopied = 2;  ///< flags
/// DLManagedTensorVersioned.
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensorVersioned* self) = nullptr;
  std::uint64_t flags = 0;
  Tensor dl_tensor;
};

/// The order of work on a GPU: a CUstream (also cudaStream_t) of the other library.
struct Options {
  /// Importing: the array's contents are what work enqueued there before makes of them; the memory is given back in its
  /// order. Exporting: work enqueued there from now on sees the values. Null: the contents are there already, and the
  /// call or the last owner waits.
  void* stream = nullptr;
};

}  // namespace dlpack

namespace detail {
[[nodiscard]] TARRY_EXPORT Array import(dlpack::ManagedTensor* tensor, dlpack::Options options, Where where);
[[nodiscard]] TARRY_EXPORT Array import(dlpack::ManagedTensorVersioned* tensor, dlpack::Options options, Where where);
[[nodiscard]] TARRY_EXPORT dlpack::ManagedTensor* export_unversioned(const Array& x, dlpack::Options options,
                                                                     Where where);
[[nodiscard]] TARRY_EXPORT dlpack::ManagedTensorVersioned* export_versioned(const Array& x, dlpack::Options options,
                                                                            Where where);
/// Another declaration of the same C structure.
template <class T>
concept DlpackVersioned = requires(T t) {
  t.version;
  t.flags;
  t.dl_tensor.byte_offset;
  requires sizeof(T) == sizeof(dlpack::ManagedTensorVersioned);
};
template <class T>
concept DlpackUnversioned = requires(T t) {
  t.manager_ctx;
  t.dl_tensor.byte_offset;
  requires sizeof(T) == sizeof(dlpack::ManagedTensor);
};
}  // namespace detail

/// The tensor's memory as an array, without a copy; its deleter is called once no array and no work needs it. The
/// memory is never written and must not change meanwhile. Placed on the tensor's device. Shapes, Dtypes: the tensor's,
/// with any strides; bool, integers and floats of one lane. Throws InvalidArgument for a dtype, device, alignment or
/// version that is not available; the tensor is the caller's then.
/// Example: `ta::Array x = ta::from_dlpack(ta::to_dlpack(ta::arange(3)))`.
template <class T>
  requires(detail::DlpackVersioned<T> || detail::DlpackUnversioned<T>)
[[nodiscard]] Array from_dlpack(T* tensor, dlpack::Options options = {},
                                Where where = std::source_location::current()) {
  if constexpr (detail::DlpackVersioned<T>) {
    return detail::import(reinterpret_cast<dlpack::ManagedTensorVersioned*>(tensor), options, where);
  } else {
    return detail::import(reinterpret_cast<dlpack::ManagedTensor*>(tensor), options, where);
  }
}

/// The values of x as a tensor, without a copy, marked read-only: values of an array never change, and other arrays may
/// have the same memory. Evaluates. The caller owns the tensor and gives it back by its deleter.  Shapes, Dtypes: any.
/// Throws InvalidArgument for an undefined array, and what evaluate() throws.
/// Example: `auto* tensor = ta::to_dlpack(ta::arange(3)); tensor->deleter(tensor)`.
template <class T = dlpack::ManagedTensorVersioned>
  requires(detail::DlpackVersioned<T> || detail::DlpackUnversioned<T>)
[[nodiscard]] T* to_dlpack(const Array& x, dlpack::Options options = {},
                           Where where = std::source_location::current()) {
  if constexpr (detail::DlpackVersioned<T>) {
    return reinterpret_cast<T*>(detail::export_versioned(x, options, where));
  } else {  // the older structure cannot say that it is read-only; that holds all the same
    return reinterpret_cast<T*>(detail::export_unversioned(x, options, where));
  }
}

}  // namespace v0
}  // namespace tarry
