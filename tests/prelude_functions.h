// For the prelude's tests: every function the op table asks of the prelude, and how to call one on values.
#pragma once

#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "codegen/interpreter.h"
#include "codegen/prelude_text.h"

namespace tarry::test {

/// One (op, dtypes) that must have a prelude function.
struct PreludeFunction {
  graph::Op op;
  Dtype input, output;
  [[nodiscard]] std::string name() const { return codegen::function_name(op, input, output); }
  /// Dtype of operand i: where's first is its condition.
  [[nodiscard]] Dtype operand(int i) const { return op == graph::Op::Where && i == 0 ? Dtype::Bool : input; }
};

/// From the table's dtype rules alone, so that a row without a prelude function fails the tests.
inline std::vector<PreludeFunction> every_prelude_function() {
  using graph::DtypeRule;
  std::vector<PreludeFunction> all;
  for (const graph::OpInfo& row : graph::kOpTable) {
    if (row.op_class != graph::OpClass::Map) continue;
    for (int d = 0; d < kDtypeCount; ++d) {
      const Dtype dtype = static_cast<Dtype>(d);
      if (!info(dtype).available) continue;
      if (row.op == graph::Op::Cast) {
        for (int to = 0; to < kDtypeCount; ++to)
          if (info(static_cast<Dtype>(to)).available) all.push_back({row.op, dtype, static_cast<Dtype>(to)});
      } else if (row.rule == DtypeRule::Logical) {
        if (dtype == Dtype::Bool) all.push_back({row.op, dtype, dtype});
      } else if (row.rule == DtypeRule::Bool) {
        all.push_back({row.op, dtype, Dtype::Bool});
      } else if (row.op == graph::Op::Where || row.op == graph::Op::Minimum || row.op == graph::Op::Maximum) {
        all.push_back({row.op, dtype, dtype});
      } else if (is_floating(dtype) || (row.rule == DtypeRule::Same && dtype != Dtype::Bool)) {
        all.push_back({row.op, dtype, dtype});
      }
    }
  }
  return all;
}

/// The library's own copy of a prelude function, called on values.
template <class R, class A> R call(graph::Op op, A a) {
  R result;
  codegen::scalar_function(op, dtype_of<A>, dtype_of<R>)(&result, &a, nullptr, nullptr);
  return result;
}
template <class R, class A> R call(graph::Op op, A a, A b) {
  R result;
  codegen::scalar_function(op, dtype_of<A>, dtype_of<R>)(&result, &a, &b, nullptr);
  return result;
}

/// Equal bits, where any NaN equals any NaN.
template <class T> bool equal_bits(T a, T b) {
  if (a != a || b != b) return a != a && b != b;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Both signs of NaN, infinity, zero, the smallest and largest denormal, the largest finite, and ordinary values.
template <class T> std::vector<T> special_floats() {
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
