// The prelude compiled into the library: every op as a function on 8-byte cells, for the interpreter and for constant
// folding. Compiled with the generated kernels' floating-point options, so the bits are theirs.
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "codegen/interpret/interpreter.h"
#include "codegen/prelude/text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

#include "codegen/prelude/prelude.h"

template <class T>
T load(const void* cell) {
  T value;
  std::memcpy(&value, cell, sizeof value);
  return value;
}

template <class R>
void store(void* cell, R value) {
  std::memcpy(cell, &value, sizeof value);
}

/// Adapts a prelude function of one to three operands to cells.
template <auto F>
struct OnCells;
template <class R, class A, R (*F)(A)>
struct OnCells<F> {
  static void call(void* out, const void* a, const void*, const void*) { store(out, F(load<A>(a))); }
};
template <class R, class A, class B, R (*F)(A, B)>
struct OnCells<F> {
  static void call(void* out, const void* a, const void* b, const void*) { store(out, F(load<A>(a), load<B>(b))); }
};
template <class R, class A, class B, class C, R (*F)(A, B, C)>
struct OnCells<F> {
  static void call(void* out, const void* a, const void* b, const void* c) {
    store(out, F(load<A>(a), load<B>(b), load<C>(c)));
  }
};

// Which ops there are for which dtypes: X(op, dtype suffix) for each. A function of the prelude is in the table once
// its op's word stands here.
// clang-format off
#define TARRY_FOR_ANY(X, S)                                                                                          \
  X(equal, S) X(not_equal, S) X(less, S) X(less_equal, S) X(greater, S) X(greater_equal, S)                          \
  X(where, S) X(minimum, S) X(maximum, S) X(isfinite, S) X(isinf, S) X(isnan, S) X(signbit, S)                       \
  X(astype_bool, S) X(astype_i8, S) X(astype_i16, S) X(astype_i32, S) X(astype_i64, S)                               \
  X(astype_u8, S) X(astype_u16, S) X(astype_u32, S) X(astype_u64, S)                                                 \
  X(astype_f16, S) X(astype_bf16, S) X(astype_f32, S) X(astype_f64, S)
#define TARRY_FOR_NUMBERS(X, S)                                                                                      \
  TARRY_FOR_ANY(X, S)                                                                                                \
  X(add, S) X(subtract, S) X(multiply, S) X(floor_divide, S) X(remainder, S) X(fma, S) X(square, S)                  \
  X(negative, S) X(abs, S) X(sign, S) X(ceil, S) X(floor, S) X(round, S) X(trunc, S)
#define TARRY_FOR_BITS(X, S) X(bitwise_and, S) X(bitwise_or, S) X(bitwise_xor, S) X(bitwise_invert, S)
#define TARRY_FOR_BOOLS(X, S)                                                                                        \
  TARRY_FOR_ANY(X, S) TARRY_FOR_BITS(X, S)                                                                           \
  X(logical_and, S) X(logical_or, S) X(logical_xor, S) X(logical_not, S)
#define TARRY_FOR_INTEGERS(X, S)                                                                                     \
  TARRY_FOR_NUMBERS(X, S) TARRY_FOR_BITS(X, S) X(bitwise_left_shift, S) X(bitwise_right_shift, S) X(pow, S)
#define TARRY_FOR_FLOATS(X, S)                                                                                       \
  TARRY_FOR_NUMBERS(X, S) TARRY_FOR_FUNCTIONS(X, S)                                                                  \
  X(divide, S) X(reciprocal, S) X(sqrt, S) X(copysign, S) X(nextafter, S)
/// The elementary functions, in all four floats.
#define TARRY_FOR_FUNCTIONS(X, S)                                                                                    \
  X(rsqrt, S) X(exp, S) X(expm1, S) X(log, S) X(log1p, S) X(log2, S) X(log10, S) X(sin, S) X(cos, S) X(tan, S)       \
  X(asin, S) X(acos, S) X(atan, S) X(sinh, S) X(cosh, S) X(tanh, S) X(asinh, S) X(acosh, S) X(atanh, S)              \
  X(erf, S) X(sigmoid, S) X(pow, S) X(atan2, S) X(hypot, S) X(logaddexp, S)

/// Draws, by the dtype they give.
#define TARRY_FOR_DRAWS(X)                                                                                           \
  X(random_bits, u32) X(random_bits, u64) X(multiply_high, u32) X(multiply_high, u64)                                \
  X(uniform, f16) X(uniform, bf16) X(uniform, f32) X(uniform, f64)                                                   \
  X(normal, f16) X(normal, bf16) X(normal, f32) X(normal, f64)
// clang-format on

using Table = std::unordered_map<std::string_view, ScalarFunction>;
const Table& table() {
#define TARRY_ON_CELLS(OP, S) {"tarry_" #OP "_" #S, &OnCells<&tarry_##OP##_##S>::call},
  static const Table& rows =
      *new Table{// never destroyed: static arrays may be evaluated at exit
                 TARRY_FOR_BOOLS(TARRY_ON_CELLS, bool) TARRY_FOR_INTEGERS(TARRY_ON_CELLS, i8)
                     TARRY_FOR_INTEGERS(TARRY_ON_CELLS, u8) TARRY_FOR_INTEGERS(TARRY_ON_CELLS, i16)
                         TARRY_FOR_INTEGERS(TARRY_ON_CELLS, u16) TARRY_FOR_INTEGERS(TARRY_ON_CELLS, i32)
                             TARRY_FOR_INTEGERS(TARRY_ON_CELLS, u32) TARRY_FOR_INTEGERS(TARRY_ON_CELLS, i64)
                                 TARRY_FOR_INTEGERS(TARRY_ON_CELLS, u64) TARRY_FOR_FLOATS(TARRY_ON_CELLS, f16)
                                     TARRY_FOR_FLOATS(TARRY_ON_CELLS, bf16) TARRY_FOR_FLOATS(TARRY_ON_CELLS, f32)
                                         TARRY_FOR_FLOATS(TARRY_ON_CELLS, f64) TARRY_FOR_DRAWS(TARRY_ON_CELLS)};
#undef TARRY_ON_CELLS
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
