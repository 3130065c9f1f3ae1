// Programs that learn dtypes, indices and places when they run, as bindings of other languages do: the functions that
// take them as values. `where` is any location, such as the line of a script.
#pragma once

#include <tarry/array.h>
#include <tarry/index.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <utility>

namespace tarry {
inline namespace v0 {

// ---- Indices ----
// As x(...), Array::set and roll.
// Dtypes: x's is kept.

/// x(indices...); x itself for no index.  Shapes: as x(...).
/// Throws InvalidArgument as x(...) does.
/// Example: `ta::index(ta::array({1, 2, 3}), std::vector<ta::Index>{2})` is `3`.
[[nodiscard]] TARRY_EXPORT Array index(const Array& x, std::span<const Index> indices,
                                       Where where = std::source_location::current());
/// x with the elements of v in x(box...).  Shapes: v broadcasts to that of x(box...).
/// Throws InvalidArgument as Array::set does.
/// Example: `ta::with_set(ta::array({1, 2, 3}), std::vector<ta::Index>{0}, 9)` is `[9 2 3]`.
[[nodiscard]] TARRY_EXPORT Array with_set(const Array& x, std::span<const Index> box, const Operand& v);
/// x.set(box, v).  Shapes: v broadcasts to that of x(box...).  Throws InvalidArgument as Array::set does.
/// Example: `ta::Array x = ta::zeros({3}); ta::set(x, std::vector<ta::Index>{0}, 9)`.
TARRY_EXPORT void set(Array& x, std::span<const Index> box, const Operand& v);
/// x.set, x.add, x.multiply, x.minimum or x.maximum of the box, as `how` says.  Shapes: v broadcasts to that of
/// x(box...).  Throws InvalidArgument as those do.
/// Example: `ta::Array x = ta::zeros({3}); ta::update(x, std::vector<ta::Index>{0}, 9, ta::Put::Add)`.
TARRY_EXPORT void update(Array& x, std::span<const Index> box, const Operand& v, Put how);
/// roll(x, shifts, axes).  Shapes: that of x.  Throws InvalidArgument as roll does.
/// Example: `ta::roll(ta::array({1, 2, 3}), std::vector<std::int64_t>{1}, 0)` is `[3 1 2]`.
[[nodiscard]] TARRY_EXPORT Array roll(const Array& x, std::span<const std::int64_t> shifts, const Axes& axes,
                                      Where where = std::source_location::current());

// ---- Elements ----

/// Elements in host memory, row-major, whatever their dtype; keeps them alive.
/// Example: `const ta::HostBytes bytes = ta::host_bytes(ta::arange(3)); (void)bytes.data()`.
class HostBytes {
 public:
  HostBytes(detail::HostData data, std::size_t size) : data_(std::move(data)), size_(size) {}
  [[nodiscard]] const std::byte* data() const noexcept { return static_cast<const std::byte*>(data_.data); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  detail::HostData data_;
  std::size_t size_;
};
/// The elements of x, without a copy where they are in host memory already. Evaluates and waits.
/// Shapes, Dtypes: any.  Throws InvalidArgument for an undefined array, and what evaluate() throws.
/// Example: `ta::host_bytes(ta::array({1, 2})).size()` is `8`.
[[nodiscard]] TARRY_EXPORT HostBytes host_bytes(const Array& x, Where where = std::source_location::current());
/// The value of an array of one element. Evaluates and waits.  Shapes: one element.  Dtypes: any.
/// Throws InvalidArgument for another size, and what evaluate() throws.
/// Example: `ta::item(ta::sum(ta::array({1.5, 2.0}))).to_double()` is `3.5`.
[[nodiscard]] TARRY_EXPORT Scalar item(const Array& x, Where where = std::source_location::current());
/// The number in memory.  Dtypes: any that is available.  Throws InvalidArgument for others.
/// Example: `float f = 2; (void)ta::load_element(&f, ta::float32).to_double()`.
[[nodiscard]] TARRY_EXPORT Scalar load_element(const void* element, Dtype dtype,
                                               Where where = std::source_location::current());
/// Writes a number, floats rounded once.  Dtypes: any that is available.
/// Throws InvalidArgument where the dtype does not hold the number, and for other dtypes.
/// Example: `float f; ta::store_element(&f, ta::float32, 2)`.
TARRY_EXPORT void store_element(void* element, Dtype dtype, Scalar value,
                                Where where = std::source_location::current());

// ---- Libraries ----

/// Folders of Python packages in which NVRTC, cuBLAS and OpenBLAS are looked for before those that the environment
/// names: for bindings, before the first evaluate.  Throws OutOfMemory alone.
/// Example: `ta::search_packages(std::vector<std::string>{"/opt/python/lib/python3.13/site-packages"})`.
TARRY_EXPORT void search_packages(std::span<const std::string> folders, Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
