// Op and OpInfo: what an op is, as data. Generated from ops.def.
#pragma once

#include <cstdint>
#include <string_view>

#include <tarry/dtype.h>

namespace tarry::graph {

enum class Op : std::uint8_t {
#define TARRY_OP(ENUM, ...) ENUM,
#include "graph/ops.def"
#undef TARRY_OP
};

enum class OpClass : std::uint8_t {
  Leaf,
  Scalar,
  Iota,
  View,
  Reshape,
  Update,
  Gather,
  Map,
  Reduce,
  Scan,
  Library,
  Routine,
  Loop,
  Composite
};
enum class DtypeRule : std::uint8_t { Same, Float, Bool, Logical, Integer, Bits, Draw, Special };

enum class OpForm : std::uint8_t { Unary, Binary, Whole, Function, Own };

struct OpInfo {
  Op op;
  const char* name;
  std::uint8_t arity;
  OpClass op_class;
  DtypeRule rule;
  const char* infix;
  int cost;
  double ulp32, ulp64;
  OpForm form;
};

inline constexpr OpInfo kOpTable[] = {
#define TARRY_OP(ENUM, NAME, ARITY, CLASS, RULE, INFIX, COST, ULP32, ULP64, FORM) \
  {Op::ENUM, #NAME, ARITY, OpClass::CLASS, DtypeRule::RULE, INFIX, COST, ULP32, ULP64, OpForm::FORM},
#include "graph/ops.def"
#undef TARRY_OP
};
inline constexpr int kOpCount = static_cast<int>(sizeof(kOpTable) / sizeof(kOpTable[0]));

inline constexpr std::string_view kOpNames[] = {
#define TARRY_OP(ENUM, NAME, ...) #NAME,
#include "graph/ops.def"
#undef TARRY_OP
};

constexpr const OpInfo& info(Op op) { return kOpTable[static_cast<int>(op)]; }
constexpr std::string_view name(Op op) { return kOpNames[static_cast<int>(op)]; }  // its length is known when compiled

/// Outputs of an op: Moments and MomentsMerge give (mean, m2), everything else one array.
constexpr int output_count(Op op) { return op == Op::Moments || op == Op::MomentsMerge ? 2 : 1; }

/// A Scan keeps the shape: element k of its axis is what the elements 0..k combine to.
constexpr bool is_scan(Op op) { return info(op).op_class == OpClass::Scan; }

/// A step of its own, between memory and memory.
constexpr bool is_call(Op op) { return info(op).op_class == OpClass::Library || info(op).op_class == OpClass::Routine; }

/// A Routine that keeps the shape and works along the last axis, row by row.
constexpr bool is_sort(Op op) { return op == Op::Sort || op == Op::Argsort; }

/// A Routine that puts values into its first input.
constexpr bool is_scatter(Op op) { return op >= Op::ScatterSet && op <= Op::ScatterMax; }

/// A Routine that reduces the runs between offsets.
constexpr bool is_segments(Op op) { return op >= Op::SegmentSum && op <= Op::SegmentM2; }

/// True if Bincount and Segment ops take numbers of bins and of runs in the dtype.
constexpr bool holds_numbers(Dtype dtype) {
  return dtype == Dtype::UInt8 || dtype == Dtype::UInt16 || dtype == Dtype::UInt32 || dtype == Dtype::Int64;
}
/// The narrowest of these that holds 0 .. count, so that the fewest bytes move; -1 then wraps to more than `count`.
constexpr Dtype dtype_of_numbers(std::int64_t count) {
  return count < 0xff         ? Dtype::UInt8
         : count < 0xffff     ? Dtype::UInt16
         : count < 0xffffffff ? Dtype::UInt32
                              : Dtype::Int64;
}

/// A Routine of each matrix of a stack: (p, n, n), and of Solve right sides (p, n, m). Solve and Inverse give the
/// solutions, Cholesky the lower factor, Pivots (p, n) factors of the determinant, Eigh (p, n + 1, n) the eigenvalues
/// above the eigenvectors.
constexpr bool is_matrices(Op op) { return op >= Op::Solve && op <= Op::Eigh; }

/// Part of a loop over levels: see node.h.
constexpr bool is_loop(Op op) { return info(op).op_class == OpClass::Loop; }

/// Has the axis along which levels lie, or the way in which they are gone over.
constexpr bool has_axis(Op op) { return op == Op::LoopLevel || op == Op::LoopElement || op == Op::LoopStack; }

/// Bits of a LoopLevel's attribute: from the last level to the first; neighbours are combined, in the order of scans.
inline constexpr std::uint32_t kFromLast = 1, kCombines = 2;

/// A result of a loop.
constexpr bool is_loop_result(Op op) { return op == Op::LoopStack || op == Op::LoopLast; }

/// An elementwise op that computes nothing else: Index reports what is out of range.
constexpr bool is_pure(Op op) { return op != Op::Index; }

constexpr bool is_comparison(Op op) { return op >= Op::Equal && op <= Op::GreaterEqual; }

constexpr bool is_arg_reduce(Op op) { return op == Op::ArgMin || op == Op::ArgMax; }

/// Numerics mode of a node (docs/reference/numerics.md); part of its hash and of the kernel's key.
enum class Mode : std::uint8_t { Strict, Relaxed };

}  // namespace tarry::graph
