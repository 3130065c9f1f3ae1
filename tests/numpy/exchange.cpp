// Functions for check.py: tensors of NumPy taken over and given back, through DLPack as NumPy speaks it.
#include <tarry/dlpack.h>
#include <tarry/tarry.h>

#include <exception>
#include <string>

namespace {

using Tensor = tarry::dlpack::ManagedTensor;

std::string& last_error() {
  static std::string text;
  return text;
}

template <class Make>
void* tensor_of(const Make& make) noexcept {
  try {
    return tarry::to_dlpack<Tensor>(make());
  } catch (const std::exception& e) {
    last_error() = e.what();
    return nullptr;
  }
}

}  // namespace

extern "C" {

/// The tensor's elements, in the memory that they are in.
TARRY_EXPORT void* exchange_same(void* tensor) {
  return tensor_of([&] { return tarry::from_dlpack(static_cast<Tensor*>(tensor)); });
}

/// The sum of the tensor and itself.
TARRY_EXPORT void* exchange_twice(void* tensor) {
  return tensor_of([&] {
    const tarry::Array x = tarry::from_dlpack(static_cast<Tensor*>(tensor));
    return x + x;
  });
}

/// Why the last call returned null.
TARRY_EXPORT const char* exchange_error() { return last_error().c_str(); }
}
