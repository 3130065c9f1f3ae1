// Functions, reductions and scans of your own. Functions are text. They are recorded as the operations that the text
// stands for, so they are part of fused kernels on every device.
#pragma once

#include <tarry/array.h>
#include <tarry/reduce.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tarry {
inline namespace v0 {
namespace detail {
class FunctionText;  // what a text says
}  // namespace detail

/// A function of scalars, written in the language of docs/guides/own_code.md: a part of C. It is applied to arrays
/// element by element.
///     const ta::function soft("soft", "(float x, float a)", "return x > a ? x - a : x < -a ? x + a : 0.f;");
///     ta::Array y = soft(ta::array({1.0F, -2.0F}), 0.5F);
/// The parameters' types say which dtypes it takes; those of type T, one dtype of all arguments that are given for
/// them. Behind the parameters may stand what it returns: `-> bool`, or several results by name, which the body
/// assigns: `(double x, double y) -> (double r, double phi)`. The text is read here once: a mistake in it throws here,
/// and shows its line.
/// Shapes, Dtypes: those of a call.  Throws InvalidArgument as its constructor does.
/// Example: `ta::function("square_of", "(T x)", "return x * x;")(ta::array({2, 3}))` is `[4 9]`.
class TARRY_EXPORT function {  // NOLINT(readability-identifier-naming): what it makes is called as a function is
 public:
  /// Throws InvalidArgument, with the line of the text, for what is not in the language: a name that is not declared, a
  /// function that does not exist, an end without a `return`.
  function(std::string_view name, std::string_view parameters, std::string_view body,
           Where where = std::source_location::current());

  /// The result for arrays or numbers, one for each parameter.
  /// Shapes: those of the arguments broadcast.  Dtypes: an argument becomes its parameter's type where that loses
  /// nothing, as float16 becomes float; the result has the type of what is returned.
  /// Throws InvalidArgument where the number of arguments differs, an argument's dtype is another one, the shapes do
  /// not broadcast, or there are several results.
  /// Example: `ta::function("half_of", "(float x)", "return 0.5 * x;")(ta::array({2.0F, 3.0F}))` is `[1. 1.5]`.
  template <class... More>
  [[nodiscard]] Array operator()(const Operand& first, const More&... more) const {
    return one(arguments(first, more...), first.where());
  }
  /// All results, in the order in which they are declared.
  /// Shapes, Dtypes: as above.  Throws InvalidArgument as above, but not for several results.
  /// Example: `ta::function("both", "(int x) -> (int a, int b)", "a = x + 1; b = 2 * x;").all(ta::array({1, 2}))[1]` is
  /// `[2 4]`.
  template <class... More>
  [[nodiscard]] std::vector<Array> all(const Operand& first, const More&... more) const {
    return apply(arguments(first, more...), first.where());
  }
  /// The same for a list of arguments.
  /// Shapes, Dtypes: as above.  Throws InvalidArgument as above.
  [[nodiscard]] std::vector<Array> apply(const std::vector<Operand>& arguments, Where where) const;

  [[nodiscard]] const std::string& name() const noexcept;  ///< as in messages
  [[nodiscard]] const std::string& text() const noexcept;  ///< parameters and body
  [[nodiscard]] std::size_t parameters() const noexcept;
  [[nodiscard]] std::size_t results() const noexcept;

 private:
  template <class More>
  static Operand operand(const More& x, Where where) {
    if constexpr (std::is_convertible_v<const More&, const Array&>)
      return {static_cast<const Array&>(x), where};
    else
      return Operand(x);
  }
  template <class... More>
  static std::vector<Operand> arguments(const Operand& first, const More&... more) {
    return {first, operand(more, first.where())...};
  }
  [[nodiscard]] Array one(const std::vector<Operand>& arguments, Where where) const;

  std::shared_ptr<const detail::FunctionText> text_;
};

// ---- Reductions and scans ----

/// The state of two neighbours together, the earlier one first: arrays of one shape, as many as there are states. It is
/// called to be recorded, and has to be associative.
using Combine = std::function<std::vector<Array>(std::span<const Array> a, std::span<const Array> b)>;

/// Options of associative_scan.
struct CombineOptions {
  int axis = 0;
  bool reverse = false;  ///< from the last element to the first
};

/// A reduction with an operation of yours, in the order of sum: tree R of docs/reference/numerics.md.
///     const ta::reduction largest(ta::function("largest", "(T a, T b)", "return a > b ? a : b;"));
///     ta::Array y = largest(ta::ones({3, 4}), 0);
/// Several states are several arrays, as a value and its place: `(float v, int i, float w, int j) -> (float u, int k)`.
/// The operation has to be associative and commutative, but for rounding: tree R combines elements that are no
/// neighbours. A place of the largest element chooses the smaller of two where their values are equal.
/// Shapes, Dtypes: those of a call.  Throws as its constructors do.
/// Example: `ta::reduction(ta::function("bits", "(T a, T b)", "return a | b;"))(ta::array({1, 4}))` is `5`.
class TARRY_EXPORT reduction {  // NOLINT(readability-identifier-naming): what it makes is called as a function is
 public:
  /// `combine` has two parameters for each state, first all of one operand, then all of the other. `identity` is what
  /// nothing reduces to, a number for each state; without one a reduction of nothing throws. `finish` makes the result
  /// of the states. Throws InvalidArgument where the numbers of parameters, results and identities do not fit.
  explicit reduction(const function& combine, std::vector<Scalar> identity = {}, std::optional<function> finish = {},
                     Where where = std::source_location::current());

  /// Shapes: the reduced axes are removed, or kept with extent 1; `{}` reduces all.  Dtypes: that of x, unless `finish`
  /// gives another.
  /// Throws InvalidArgument where an axis is out of range, a state's dtype changes, or nothing is reduced without an
  /// identity.
  /// Example: `ta::reduction(ta::function("times", "(T a, T b)", "return a * b;"))(ta::array({{1, 2}, {3, 4}}), 0)` is
  /// `[3 8]`.
  [[nodiscard]] Array operator()(const Array& x, const Axes& axes = {}, ReduceOptions options = {},
                                 Where where = std::source_location::current()) const;
  /// The same of several states, which broadcast; all results.
  /// Shapes, Dtypes: as above.  Throws InvalidArgument as above.
  [[nodiscard]] std::vector<Array> all(std::span<const Array> states, const Axes& axes = {}, ReduceOptions options = {},
                                       Where where = std::source_location::current()) const;

 private:
  function combine_;
  std::vector<Scalar> identity_;
  std::optional<function> finish_;
};

/// Running combinations along an axis: element k of the result is what the elements 0..k combine to, in their order.
/// `combine` has to be associative, and need not be commutative.
/// Shapes: the states broadcast; the results have that shape.  Dtypes: kept.
/// Throws InvalidArgument where the axis is out of range, or `combine` gives another number of arrays, another shape or
/// dtype.
/// Algorithm: a `combine` of elementwise operations of its arguments and of numbers, with states of at most 36 bytes,
/// is one kernel, in the order of cumulative_sum (docs/reference/numerics.md, "Scans"); what makes the states and what
/// follows the results level by level is computed there too where it is elementwise. Others combine neighbours, then
/// the running combinations of pairs, then what lies between (Ladner and Fischer, J. ACM 27(4), 1980): several kernels.
/// Either order is fixed by the extent alone.
/// Example: `ta::associative_scan([](auto a, auto b) { return std::vector{ta::maximum(a[0], b[0])}; },
/// std::vector{ta::array({1, 3, 2})})[0]` is `[1 3 3]`.
[[nodiscard]] TARRY_EXPORT std::vector<Array> associative_scan(const Combine& combine, std::span<const Array> states,
                                                               CombineOptions options = {},
                                                               Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
