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

// A row of ops.def is in the table for the dtypes that its rule takes: TARRY_<rule>(op).
// clang-format off
#define TARRY_CELLS(OP, S) {"tarry_" #OP "_" #S, &OnCells<&tarry_##OP##_##S>::call},
#define TARRY_Logical(OP) TARRY_CELLS(OP, bool)
#define TARRY_Integer(OP)                                                                                 \
  TARRY_CELLS(OP, i8)                                                                                     \
  TARRY_CELLS(OP, u8) TARRY_CELLS(OP, i16) TARRY_CELLS(OP, u16) TARRY_CELLS(OP, i32) TARRY_CELLS(OP, u32) \
      TARRY_CELLS(OP, i64) TARRY_CELLS(OP, u64)
#define TARRY_Float(OP) TARRY_CELLS(OP, f16) TARRY_CELLS(OP, bf16) TARRY_CELLS(OP, f32) TARRY_CELLS(OP, f64)
#define TARRY_Bits(OP) TARRY_Logical(OP) TARRY_Integer(OP)
#define TARRY_Same(OP) TARRY_Integer(OP) TARRY_Float(OP)
#define TARRY_Bool(OP) TARRY_Logical(OP) TARRY_Same(OP)
#define TARRY_Draw(OP)
#define TARRY_Special(OP)
#define TARRY_Map(RULE, OP) TARRY_##RULE(OP)
#define TARRY_Leaf(RULE, OP)
#define TARRY_Scalar(RULE, OP)
#define TARRY_Iota(RULE, OP)
#define TARRY_View(RULE, OP)
#define TARRY_Reshape(RULE, OP)
#define TARRY_Update(RULE, OP)
#define TARRY_Gather(RULE, OP)
#define TARRY_Reduce(RULE, OP)
#define TARRY_Scan(RULE, OP)
#define TARRY_Library(RULE, OP)
#define TARRY_Routine(RULE, OP)
#define TARRY_Loop(RULE, OP)
#define TARRY_Composite(RULE, OP)
// clang-format on

using Table = std::unordered_map<std::string_view, ScalarFunction>;
const Table& table() {
  // Never destroyed: static arrays may be evaluated at exit.
  // clang-format off
  static const Table& rows = *new Table{
#define TARRY_OP(ENUM, NAME, ARITY, CLASS, RULE, ...) TARRY_##CLASS(RULE, NAME)
#include "graph/ops.def"
#undef TARRY_OP
      // Beyond their rules: bools are chosen among and moved, and every dtype converts to every other.
      TARRY_Logical(minimum) TARRY_Logical(maximum) TARRY_Bool(where)
      TARRY_Bool(astype_bool) TARRY_Bool(astype_i8) TARRY_Bool(astype_u8) TARRY_Bool(astype_i16) TARRY_Bool(astype_u16)
      TARRY_Bool(astype_i32) TARRY_Bool(astype_u32) TARRY_Bool(astype_i64) TARRY_Bool(astype_u64)
      TARRY_Bool(astype_f16) TARRY_Bool(astype_bf16) TARRY_Bool(astype_f32) TARRY_Bool(astype_f64)
      // Draws, by the dtype they give.
      TARRY_CELLS(random_bits, u32) TARRY_CELLS(random_bits, u64)
      TARRY_CELLS(multiply_high, u32) TARRY_CELLS(multiply_high, u64)
      TARRY_Float(uniform) TARRY_Float(normal)};
  // clang-format on
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
