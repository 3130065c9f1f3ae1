// Running what was recorded, and asking beforehand what would run.
#pragma once

#include <tarry/array.h>
#include <tarry/plan.h>

#include <cstddef>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>

namespace tarry {
inline namespace v0 {

/// The first array of evaluate() and plan(), with the location of the call. Meant for parameters only.
class Root {
 public:
  Root(const Array& x, Where where = std::source_location::current()) noexcept  // NOLINT
      : array_(&x), where_(where) {}
  [[nodiscard]] const Array* array() const noexcept { return array_; }
  [[nodiscard]] Where where() const noexcept { return where_; }

 private:
  const Array* array_;
  Where where_;
};

/// Name of a target that kernels can be made for without being there ("sm_90", "x86-64-v3"), with the location of the
/// call. Meant for parameters only.
class TargetName {
 public:
  TargetName(const char* name, Where where = std::source_location::current()) noexcept  // NOLINT
      : name_(name), where_(where) {}
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] Where where() const noexcept { return where_; }

 private:
  std::string_view name_;
  Where where_;
};

namespace detail {
using ArrayPointers = std::span<const Array* const>;
TARRY_EXPORT Report evaluate(ArrayPointers arrays, Where where);
[[nodiscard]] TARRY_EXPORT Plan plan(ArrayPointers arrays, std::string_view target, Where where);
/// For bindings: `call` is what waits inside of other calls goes through from now on, as that of shape() of an x(mask).
/// It calls work(state) once, in its thread.
TARRY_EXPORT void wait_in(void (*call)(void (*work)(void*), void* state)) noexcept;
/// True where the shapes are equal, asked without waiting for what is selected by one mask.
[[nodiscard]] TARRY_EXPORT bool have_one_shape(const Array& a, const Array& b);
template <class T>
concept IsArray = std::is_same_v<T, Array>;
}  // namespace detail

/// Computes the arrays and all they need in one go; what they share is computed once. Of what they need, arrays that
/// you hold are stored as well if an evaluate before this one needed them too. Returns when the work is enqueued (CUDA)
/// or done (CPU). Shapes, Dtypes: any. Throws InvalidArgument for an undefined array, OutOfMemory, CompileError,
/// NotCached or DeviceError; until the first kernel runs a failure leaves every array as it was, and evaluate may be
/// called again. Example: `ta::evaluate(ta::exp(ta::zeros({3}))).counters().kernels` is `1`.
template <detail::IsArray... Arrays>
Report evaluate(Root first, const Arrays&... rest) {
  const Array* arrays[] = {first.array(), &rest...};
  return detail::evaluate(arrays, first.where());
}
TARRY_EXPORT Report evaluate(std::span<const Array> arrays, Where where = std::source_location::current());

/// The work that evaluate would do now: kernels, bytes, transfers, compiles and peak memory. Runs and changes nothing.
/// Shapes, Dtypes: any. Throws InvalidArgument for an undefined array.
/// Example: `ta::plan(ta::exp(ta::zeros({3}))).counters().bytes_written` is `12`.
template <detail::IsArray... Arrays>
[[nodiscard]] Plan plan(Root first, const Arrays&... rest) {
  const Array* arrays[] = {first.array(), &rest...};
  return detail::plan(arrays, {}, first.where());
}
[[nodiscard]] TARRY_EXPORT Plan plan(std::span<const Array> arrays, Where where = std::source_location::current());
/// The same for a target that need not be in this machine.  Shapes, Dtypes: any.
/// Throws InvalidArgument for a name that no target has, and for an undefined array.
/// Example: `ta::plan_for("sm_90", ta::exp(ta::zeros({3}))).counters().kernels` is `1`.
template <detail::IsArray... Arrays>
[[nodiscard]] Plan plan_for(TargetName target, const Array& first, const Arrays&... rest) {
  const Array* arrays[] = {&first, &rest...};
  return detail::plan(arrays, target.name(), target.where());
}

}  // namespace v0
}  // namespace tarry
