// The prelude compiled into the library: every op as a function on 8-byte cells, for the interpreter and for constant
// folding. Compiled with the generated kernels' floating-point options, so the bits are theirs.
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "codegen/interpreter.h"
#include "codegen/prelude_text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

#include "codegen/prelude.h"

template <class T> T load(const void* cell) {
  T value;
  std::memcpy(&value, cell, sizeof value);
  return value;
}

template <class R> void store(void* cell, R value) { std::memcpy(cell, &value, sizeof value); }

/// Adapts a prelude function of one to three operands to cells.
template <auto F> struct OnCells;
template <class R, class A, R (*F)(A)> struct OnCells<F> {
  static void call(void* out, const void* a, const void*, const void*) { store(out, F(load<A>(a))); }
};
template <class R, class A, class B, R (*F)(A, B)> struct OnCells<F> {
  static void call(void* out, const void* a, const void* b, const void*) { store(out, F(load<A>(a), load<B>(b))); }
};
template <class R, class A, class B, class C, R (*F)(A, B, C)> struct OnCells<F> {
  static void call(void* out, const void* a, const void* b, const void* c) {
    store(out, F(load<A>(a), load<B>(b), load<C>(c)));
  }
};

// The families of the prelude, by dtype suffix.
#define TARRY_CELLS(F) {#F, &OnCells<&F>::call}
#define TARRY_ANY(S)                                                                                             \
  TARRY_CELLS(tarry_equal_##S), TARRY_CELLS(tarry_not_equal_##S), TARRY_CELLS(tarry_less_##S),                   \
      TARRY_CELLS(tarry_less_equal_##S), TARRY_CELLS(tarry_greater_##S), TARRY_CELLS(tarry_greater_equal_##S),   \
      TARRY_CELLS(tarry_where_##S), TARRY_CELLS(tarry_minimum_##S), TARRY_CELLS(tarry_maximum_##S),              \
      TARRY_CELLS(tarry_astype_bool_##S), TARRY_CELLS(tarry_astype_i32_##S), TARRY_CELLS(tarry_astype_i64_##S),  \
      TARRY_CELLS(tarry_astype_f32_##S), TARRY_CELLS(tarry_astype_f64_##S)
#define TARRY_NUMBER(S)                                                                                          \
  TARRY_ANY(S), TARRY_CELLS(tarry_add_##S), TARRY_CELLS(tarry_subtract_##S), TARRY_CELLS(tarry_multiply_##S),    \
      TARRY_CELLS(tarry_floor_divide_##S), TARRY_CELLS(tarry_remainder_##S), TARRY_CELLS(tarry_negative_##S),    \
      TARRY_CELLS(tarry_abs_##S)
#define TARRY_REAL(S)                                                                                            \
  TARRY_NUMBER(S), TARRY_CELLS(tarry_divide_##S), TARRY_CELLS(tarry_sqrt_##S), TARRY_CELLS(tarry_exp_##S),       \
      TARRY_CELLS(tarry_log_##S), TARRY_CELLS(tarry_erf_##S)

using Table = std::unordered_map<std::string_view, ScalarFunction>;
const Table& table() {
  static const Table rows = {
      TARRY_ANY(bool), TARRY_CELLS(tarry_logical_and_bool), TARRY_CELLS(tarry_logical_or_bool),
      TARRY_CELLS(tarry_logical_not_bool), TARRY_NUMBER(i32), TARRY_NUMBER(i64), TARRY_REAL(f32), TARRY_REAL(f64),
  };
  return rows;
}

}  // namespace

ScalarFunction scalar_function(Op op, Dtype input, Dtype output) {
  const std::string name = function_name(op, input, output);
  auto found = table().find(name);
  if (found == table().end())
    TARRY_THROW(InternalError, graph::info(op).name, Where{}, "the prelude does not define " + name);
  return found->second;
}

}  // namespace tarry::codegen
