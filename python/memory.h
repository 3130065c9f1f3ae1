// Memory of Python's objects, and when it is given back.
#pragma once

#include <tarry/array.h>

#include <optional>

#include "python/values.h"

namespace tarry::python {

/// The elements of an object that shows its memory; nothing for other objects.
std::optional<Array> copy_of_memory(nb::handle o);
/// An array that reads the object's memory; throws where a conversion to `dtype` would take a copy.
Array borrowed(nb::handle o, std::optional<Dtype> dtype);

/// from_dlpack(o) without a copy, and the same with one.
Array import_dlpack(nb::handle o);
Array copied(const Array& x);

/// An array that reads the memory of an object with __cuda_array_interface__.
Array import_cuda(nb::handle o);

/// Calls `release` once with the GIL held. The library gives memory back on any thread, with locks of its own that
/// others may wait for with the GIL: taking it there would be a deadlock.
void release_later(void (*release)(void*), void* context) noexcept;

}  // namespace tarry::python
