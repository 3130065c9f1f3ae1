// For the prelude's tests: every function the op table asks of the prelude, and how to call one on values.
#pragma once

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tarry/half.h>

#include "codegen/interpret/interpreter.h"
#include "codegen/prelude/text.h"

namespace tarry::test {

/// One (op, dtypes) that must have a prelude function.
struct PreludeFunction {
  graph::Op op;
  Dtype input, output;
  [[nodiscard]] std::string name() const { return codegen::function_name(op, input, output); }
  /// Dtype of operand i: where's first is its condition.
  [[nodiscard]] Dtype operand(int i) const { return op == graph::Op::Where && i == 0 ? Dtype::Bool : input; }
};

/// True if the op takes `dtype` as it is: recording has converted everything else.
inline bool takes(const graph::OpInfo& row, Dtype dtype) {
  using graph::DtypeRule;
  switch (row.rule) {
    case DtypeRule::Same:
      if (row.op == graph::Op::Minimum || row.op == graph::Op::Maximum) return true;
      return dtype != Dtype::Bool;
    case DtypeRule::Float: return is_floating(dtype);
    case DtypeRule::Logical: return dtype == Dtype::Bool;
    case DtypeRule::Integer: return is_integral(dtype);
    case DtypeRule::Bits: return is_integral(dtype) || dtype == Dtype::Bool;
    case DtypeRule::Draw: return false;  // random_test
    case DtypeRule::Bool:
    case DtypeRule::Special: return true;
  }
  return false;
}

/// From the table's dtype rules alone, so that a row without a prelude function fails the tests.
inline std::vector<PreludeFunction> every_prelude_function() {
  std::vector<Dtype> available;
  for (int d = 0; d < kDtypeCount; ++d)
    if (info(static_cast<Dtype>(d)).available) available.push_back(static_cast<Dtype>(d));
  std::vector<PreludeFunction> all;
  for (const graph::OpInfo& row : graph::kOpTable) {
    if (row.op_class != graph::OpClass::Map || !graph::is_pure(row.op)) continue;
    for (const Dtype dtype : available) {
      if (!takes(row, dtype)) continue;
      if (row.op != graph::Op::Cast)
        all.push_back({row.op, dtype, row.rule == graph::DtypeRule::Bool ? Dtype::Bool : dtype});
      else
        for (const Dtype to : available) all.push_back({row.op, dtype, to});
    }
  }
  return all;
}

/// The library's own copy of a prelude function, looked up once.
template <class R, class A>
codegen::ScalarFunction function(graph::Op op) {
  static codegen::ScalarFunction known[graph::kOpCount] = {};
  codegen::ScalarFunction& found = known[static_cast<int>(op)];
  if (found == nullptr) found = codegen::scalar_function(op, dtype_of<A>, dtype_of<R>);
  return found;
}

/// It, called on values.
template <class R, class A>
R call(graph::Op op, A a) {
  R result;
  function<R, A>(op)(&result, &a, nullptr, nullptr);
  return result;
}
template <class R, class A>
R call(graph::Op op, A a, A b) {
  R result;
  function<R, A>(op)(&result, &a, &b, nullptr);
  return result;
}
template <class R, class A>
R call(graph::Op op, A a, A b, A c) {
  R result;
  function<R, A>(op)(&result, &a, &b, &c);
  return result;
}

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Equal bits, where any NaN equals any NaN.
template <class T>
bool equal_bits(T a, T b) {
  if constexpr (is_16_bit_float<T>) {
    const bool both_nan = std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b));
    return both_nan || a.bits == b.bits;
  } else {
    if (a != a || b != b) return a != a && b != b;
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

/// equal_bits of two elements in memory.
template <class T>
bool same_values(const void* a, const void* b) {
  T x[2];
  std::memcpy(&x[0], a, sizeof(T));
  std::memcpy(&x[1], b, sizeof(T));
  return equal_bits(x[0], x[1]);
}

inline bool same_cell(Dtype dtype, const void* a, const void* b) {
  if (dtype == Dtype::Float16) return same_values<Half>(a, b);
  if (dtype == Dtype::BFloat16) return same_values<BFloat16>(a, b);
  if (dtype == Dtype::Float32) return same_values<float>(a, b);
  if (dtype == Dtype::Float64) return same_values<double>(a, b);
  return std::memcmp(a, b, itemsize(dtype)) == 0;
}

/// Both signs of NaN, infinity, zero, the smallest and largest denormal, the largest finite, and ordinary values.
template <class T>
std::vector<T> special_floats() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T v : {Limits::quiet_NaN(), Limits::infinity(), T(0), Limits::denorm_min(), Limits::min() - Limits::denorm_min(),
              Limits::min(), Limits::max(), Limits::epsilon(), T(0.5), T(1), T(1.5), T(2), T(2.5), T(3), T(7), T(1e10),
              T(8388607.5), T(4503599627370495.5)}) {
    values.push_back(v);
    values.push_back(-v);
  }
  return values;
}

}  // namespace tarry::test
