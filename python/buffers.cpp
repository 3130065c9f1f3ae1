// The buffer protocol both ways: NumPy, array.array and memoryview read arrays, and arrays are made of them.
#include "python/memory.h"
#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

#include <tarry/interop.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tarry::python {
namespace {

/// A view of an array while Python holds it.
struct Exported {
  HostBytes bytes;
  std::vector<Py_ssize_t> extents, strides;
};

const char* format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::Bool: return "?";
    case Dtype::Int8: return "b";
    case Dtype::Int16: return "h";
    case Dtype::Int32: return "i";
    case Dtype::Int64: return "q";
    case Dtype::UInt8: return "B";
    case Dtype::UInt16: return "H";
    case Dtype::UInt32: return "I";
    case Dtype::UInt64: return "Q";
    case Dtype::Float16: return "e";
    case Dtype::Float32: return "f";
    case Dtype::Float64: return "d";
    default: return nullptr;
  }
}

std::optional<Dtype> dtype_of_format(const char* format, Py_ssize_t size) {
  if (format == nullptr) return uint8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == '\0' || format[1] != '\0') return {};
  const auto sized = [size](Dtype smallest) {
    Dtype d = smallest;
    while (static_cast<Py_ssize_t>(itemsize(d)) < size) d = static_cast<Dtype>(static_cast<int>(d) + 1);
    return d;
  };
  if (std::strchr("bhilqn", *format) != nullptr) return sized(int8);
  if (std::strchr("BHILQN", *format) != nullptr) return sized(uint8);
  switch (*format) {
    case '?': return bool_;
    case 'e': return float16;
    case 'f': return float32;
    case 'd': return float64;
    default: return {};
  }
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded(
      [&] {
        view->obj = nullptr;
        const Array& x = array_of(self);
        const char* const format = format_of(x.dtype());
        if (format == nullptr) raise(PyExc_BufferError, "buffers have no format for " + std::string(name(x.dtype())));
        if ((flags & PyBUF_WRITABLE) != 0) raise(PyExc_BufferError, "the elements of an array are read-only");
        const Where where = here();
        const auto bytes = [&] {
          const Unlocked unlocked;
          return host_bytes(x, where);
        }();
        auto held = std::make_unique<Exported>(Exported{bytes, {}, {}});
        const Shape shape = x.shape();
        held->extents.assign(shape.begin(), shape.end());
        held->strides.resize(shape.size());
        auto stride = static_cast<Py_ssize_t>(itemsize(x.dtype()));
        for (std::size_t d = shape.size(); d-- > 0; stride *= held->extents[d]) held->strides[d] = stride;
        static const char nothing[16] = {};
        const void* const data = bytes.data() != nullptr ? static_cast<const void*>(bytes.data()) : nothing;
        view->buf = const_cast<void*>(data);
        view->len = static_cast<Py_ssize_t>(bytes.size());
        view->itemsize = static_cast<Py_ssize_t>(itemsize(x.dtype()));
        view->readonly = 1;
        view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
        view->ndim = static_cast<int>(shape.size());
        view->shape = (flags & PyBUF_ND) != 0 ? held->extents.data() : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? held->strides.data() : nullptr;
        view->suboffsets = nullptr;
        view->internal = held.release();
        view->obj = self;
        Py_INCREF(self);
        return 0;
      },
      -1);
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

/// Memory that an object shows, until it is given back.
class Shown {
 public:
  Shown() : view_(new Py_buffer()) {}
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown() {
    if (view_ != nullptr) give_back(view_);
  }
  /// False where the object has no buffer, or none that can be described.
  bool open(nb::handle o) {
    if (PyObject_CheckBuffer(o.ptr()) == 0) return false;
    if (PyObject_GetBuffer(o.ptr(), view_, PyBUF_FULL_RO) == 0) return true;
    PyErr_Clear();
    view_->obj = nullptr;
    return false;
  }
  /// Not const, since functions of Python 3.10 take no such one.
  [[nodiscard]] Py_buffer& view() const { return *view_; }
  [[nodiscard]] Shape shape() const { return std::vector<std::int64_t>(view_->shape, view_->shape + view_->ndim); }
  [[nodiscard]] Dtype dtype(nb::handle o) const {
    if (const auto dtype = dtype_of_format(view_->format, view_->itemsize)) return *dtype;
    raise(PyExc_TypeError, class_name(o) + " has elements of format \"" + view_->format + "\", which no dtype is");
  }
  [[nodiscard]] Py_buffer* keep() { return std::exchange(view_, nullptr); }
  static void give_back(void* view) {
    PyBuffer_Release(static_cast<Py_buffer*>(view));
    delete static_cast<Py_buffer*>(view);
  }

 private:
  Py_buffer* view_;
};

Array copy_of(const Shown& shown, Dtype dtype) {
  if (PyBuffer_IsContiguous(&shown.view(), 'C') != 0)
    return detail::copy_in(shown.view().buf, dtype, shown.shape(), here());
  std::vector<char> bytes(static_cast<std::size_t>(shown.view().len));
  if (PyBuffer_ToContiguous(bytes.data(), &shown.view(), shown.view().len, 'C') != 0) throw nb::python_error();
  return detail::copy_in(bytes.data(), dtype, shown.shape(), here());
}

nb::object numpy_array_of(nb::handle o) {
  const nb::object made = nb::steal(PyObject_CallMethod(o.ptr(), "__array__", nullptr));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

}  // namespace

std::optional<Array> copy_of_memory(nb::handle o) {
  Shown shown;
  if (shown.open(o)) return copy_of(shown, shown.dtype(o));
  if (PyObject_HasAttrString(o.ptr(), "__dlpack__") != 0) {
    const Array x = import_dlpack(o);
    return x.device() == cpu ? copied(x) : x;
  }
  if (PyObject_HasAttrString(o.ptr(), "__cuda_array_interface__") != 0) return import_cuda(o);
  if (PyObject_HasAttrString(o.ptr(), "__array__") == 0) return {};
  const nb::object converted = numpy_array_of(o);
  Shown made;
  if (!made.open(converted)) raise(PyExc_TypeError, class_name(o) + " has elements of no dtype");
  return copy_of(made, made.dtype(o));
}

Array borrowed(nb::handle o, std::optional<Dtype> dtype) {
  Shown shown;
  if (!shown.open(o)) {
    const bool known = PyObject_HasAttrString(o.ptr(), "__dlpack__") != 0;
    const Array x = known ? import_dlpack(o) : import_cuda(o);
    if (dtype && *dtype != x.dtype()) raise(PyExc_ValueError, "another dtype takes a copy, and copy is False");
    return x;
  }
  const Dtype found = shown.dtype(o);
  if (dtype && *dtype != found) raise(PyExc_ValueError, "another dtype takes a copy, and copy is False");
  const Py_buffer& view = shown.view();
  AdoptOptions options;
  options.strides.emplace();
  for (int d = 0; d < view.ndim; ++d) {
    if (view.strides[d] % view.itemsize != 0)
      raise(PyExc_ValueError, "strides are no whole elements: this takes a copy");
    options.strides->push_back(view.strides[d] / view.itemsize);
  }
  const Shape shape = shown.shape();
  const void* const data = view.buf;
  options.context = shown.keep();
  options.deleter = [](void* context) { release_later(&Shown::give_back, context); };
  try {
    return detail::adopt(data, found, shape, cpu, options, here());
  } catch (...) {
    Shown::give_back(options.context);
    throw;
  }
}

Array copied(const Array& x) {
  const Where where = here();
  const auto bytes = [&] {
    const Unlocked unlocked;
    return host_bytes(x, where);
  }();
  return detail::copy_in(bytes.data(), x.dtype(), x.shape(), where);
}

void add_buffers(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)});
  slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)});
}

}  // namespace tarry::python
