// KernelIr: one kernel as linear SSA over an iteration space, before any dialect. Schedules make it (lower.h), the
// renderers print it as CUDA C and C, the interpreter runs it. A plain value: no nodes, no addresses, no extents.
//
// Semantics. The space is `rank` outer dimensions (row-major, collapsed) and, for the Reduce schedules, one reduced
// axis of extent n. Instructions are SSA in program order; an instruction's index is its value. Regions say how often
// one runs:
//   Row    once per outer index (values that do not vary along the reduced axis)
//   Point  once per point (outer index, k)
//   Outer  once per outer index, after the reductions; may use Row values and Result
// A map (Pointwise, the schedules of tiles, Contract) has Point instructions only. An access addresses element
// base + sum_d index_d * stride_d (+ k * reduced_stride); strides and base are launch arguments, their class (0, 1,
// any) is part of the text. An access without a buffer is an iota: its value is that sum itself, as int64. Reductions
// follow tree R of docs/reference/numerics.md over k; all reductions of a kernel share the space. Order of stores among
// different buffers is free; no buffer is both loaded and stored unless the accesses are equal.
//
// Stages. The Row schedules go over a row several times: for s = 0, 1, ...: Point instructions of stage s at every k,
// then the reductions of stage s, then Outer instructions of stage s. A Point instruction may use Point values of its
// own and earlier stages and Outer values of earlier stages; what it uses of an earlier stage is kept or computed
// again, with the same bits. Every other schedule has stage 0 only.
//
// Rows and columns. A ReduceRowColumn kernel reduces two dimensions, each by itself: the reduced axis in stage 0, the
// last outer dimension in stage 1. A reduction's stage says which. An Outer instruction of stage 0 runs once per outer
// index, one of stage 1 once per index of the other outer dimensions and k: its accesses move along k, and not along
// the last outer dimension. It uses Outer values of its own stage. Point instructions have stage 0, for both; Row
// instructions are scalars. The reduced extents are longer than 32.
//
// Windows. A Stencil kernel loads each element of a tile once, whichever of the window's accesses it belongs to.
//
// Iterated stencils. An IteratedStencil kernel has stages too, of Point instructions, each at all points before the
// next one, also at those around the space (along its last two dimensions) that later stages ask for: Neighbour is the
// value that another point has of an earlier stage. Memory is loaded in stage 0, each buffer once; stores are in the
// last stage, at points of the space.
//
// Scans. The Scan schedules have two stages and no Outer instructions: stage 0 gives the inputs of the scans at every
// k; a Result is a Point value of stage 1, what the inputs 0..k combine to in the order of docs/reference/numerics.md;
// Point instructions of stage 1 and all stores follow. No store comes before what is loaded at its place has been
// loaded for both stages. Reductions of op LoopStack are the states of one scan whose combination the kernel spells
// out: Combine instructions run once for each two neighbours that are combined. Earlier and Later are a neighbour's
// state; what the two combine to is each reduction's `combined`. They use such values and scalars, and nothing else
// uses theirs. A kernel with such a reduction has no other ones.
//
// Recurrences. A Recurrence kernel goes over the levels of its axis in loops, one after the other: for s = 0, 1, ...:
// Row instructions of stage s, then Point instructions of stage s at each level k = 0, 1, ..., `levels[s]` - 1, in
// order; behind the last loop Row instructions of one more stage. Carried is, at k = 0, its first argument, a Row
// value, and later what its second one, a Point value of the stage that may come later in the program, was at k - 1.
// Last is a Row value: what a Point value of an earlier stage was at its last level. Keep writes a value to an element
// of an array that each outer index has for itself; Kept reads one that was written before. Which element is an iota's
// value. Number is a scalar of each level: at level k number k of a series. While ends a loop: at levels where its
// argument is false, and at those behind, nothing changes; every Last of the loop is what a Carried one was at the
// level before. An access moves along k by reduced_stride, in every loop. What levels load or store is not both.
//
// Loops. A short reduction along an axis that the space does not have, once per row, point or outer index. Its Loop
// instructions run at each of its steps k' = 0, 1, ..., from left to right, and its folds (sum, prod, min, max) each
// take a value there. Fold instructions give the results; the loop runs where the first of them stands, all of them are
// in one region, and what Loop instructions use comes before. A Loop instruction sees the values of its loop and what
// its folds' region sees; nothing else sees its value. An access of a loop moves by loop_stride per step.
// ReduceRowColumn, the Row and Scan schedules and those of tiles have no loops. Contract is a map, ContractReduce a
// reduction of more than 32 elements, where tiles of two dimensions share what loops read: the Loop
// instructions use no values but those of their loop and scalars.
//
// Places that are computed. An Index is the place i, or i + n of a negative i, along an axis of n elements (its two
// first arguments, n > 0). Where that is not one of 0..n-1 it is 0, and the words of its check get the least triple: of
// the number of the element (its check's iota, plus its third argument where it has one) and of i, see kFaultWords. A
// Gather is the element of a buffer at its argument, counted from the start of its access, which moves along no
// dimension. What it reads may lie anywhere in the buffer. Both may have a guard: where that does not hold they are 0,
// and nothing is checked or read.
//
// Guards. A guarded load reads where its guard holds and gives 0 elsewhere, without touching memory. A guard is a box:
// it holds where every term does, and a term is 0 <= value of an iota access < an extent (a scalar argument). All loads
// of an access have the same guard or none.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "codegen/ir/layout.h"
#include "graph/op.h"
#include "graph/shape.h"
#include "graph/target.h"

namespace tarry::codegen {

using graph::Mode;
using graph::Op;
using Value = std::uint32_t;
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

enum class Region : std::uint8_t { Row, Point, Outer, Loop, Combine };
/// Inside: whether a guard holds, as bool. Neighbour: its first argument at the point `row` rows and `column` columns
/// away.
enum class InstrKind : std::uint8_t {
  Load,
  Store,
  Scalar,
  Compute,
  Result,
  Inside,
  Fold,
  Neighbour,
  Carried,
  While,
  Last,
  Number,
  Keep,
  Kept,
  Index,
  Gather,
  Earlier,
  Later
};
enum class StrideClass : std::uint8_t { Zero, One, Any };

inline StrideClass stride_class(std::int64_t stride) {
  return stride == 0 ? StrideClass::Zero : stride == 1 ? StrideClass::One : StrideClass::Any;
}
/// True for an op that a Fold instruction takes.
inline bool folds(Op op) { return op == Op::Sum || op == Op::Prod || op == Op::Min || op == Op::Max; }
inline constexpr std::int64_t kNarrowLimit = std::int64_t{1} << 31;  ///< offsets from here on need 64 bits

struct Instr {
  InstrKind kind{};
  Region region = Region::Point;
  Dtype dtype{};  ///< of the value; of the stored value for Store
  Op op{};        ///< Compute
  std::array<Value, 3> args{kNone, kNone, kNone};
  std::uint32_t index = kNone;  ///< Load, Store, Gather, Keep, Kept: access; Scalar: scalar; Result: reduction; Inside:
                                ///< guard; Fold: fold; Index: check; Number: series; Earlier, Later: reduction
  std::uint32_t guard = kNone;  ///< Load of a buffer, Index, Gather
  bool whole = false;           ///< Compute of Where between loads of an array: one of them holds at every point
  std::uint8_t stage = 0;       ///< Point and Outer; Row of a Recurrence
  std::int8_t row = 0, column = 0;  ///< Neighbour
  std::uint32_t output = 0;         ///< Result: which output of the reduction; Keep, Kept: which array
  std::uint32_t note = kNone;       ///< index into the group's source lines, for dumps only; not printed in the text
  std::uint32_t loop = kNone;       ///< of region Loop
};

struct Access {
  std::uint32_t buffer = kNone;  ///< index into buffers; kNone: iota
  bool store = false;
  bool outer_only = false;           ///< used by Outer instructions: no reduced stride
  bool gathered = false;             ///< of a Gather, which reads anywhere
  bool faults = false;               ///< the words of all checks, kFaultWords each, which kernels write
  bool aligned = false;              ///< base and strides keep vector-wide alignment along the vector dimension; of an
                                     ///< iota, where it numbers a draw: that of a block of words; of a short loop: so
                                     ///< do its steps at a vector's points, one behind the other; of one of which
                                     ///< values are held (held.h): so do its steps, as wide as run_part() says
  std::vector<StrideClass> strides;  ///< one per outer dimension
  int interleaved_along = -1;        ///< Transpose with channels: of an access that has them interleaved, along which
                                     ///< dimension
  StrideClass reduced = StrideClass::Zero;
  std::uint32_t loop = kNone;            ///< used by instructions of this loop
  StrideClass step = StrideClass::Zero;  ///< of loop_stride
  // Stencil. Loads of one buffer with equal strides are a window; each lies a few rows (of the last dimension but one)
  // and columns (of the last) from the window's first access, its anchor, whose base alone is an argument.
  std::uint32_t window = kNone;     ///< of a load of a buffer: its anchor
  std::int8_t row = 0, column = 0;  ///< from the anchor
  std::uint8_t phase = 0;           ///< of an aligned anchor: elements past the last vector boundary
};

struct GuardTerm {
  std::uint32_t access = kNone;  ///< an iota, its start already taken off
  std::uint32_t extent = kNone;  ///< scalar parameter (int64)
  friend bool operator==(const GuardTerm&, const GuardTerm&) = default;
};
struct Guard {
  std::vector<GuardTerm> terms;
  bool usual = true;  ///< it holds in the largest part of the space in which no guard changes
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// Sum, Prod, Min, Max: one input, one output. ArgMin, ArgMax: one input; the state is the best value and its k, the
/// output that k as int64: of equal values (also -0 and +0) the lowest k, of NaNs the first. Moments: one input,
/// outputs mean and m2. MomentsMerge: inputs mean and m2. CumulativeSum and its like: scans, one input, one output.
/// LoopStack: a state of a scan that combines by Combine instructions, one input, one output.
struct Reduction {
  Op op{};
  Dtype dtype{};  ///< of the accumulator and, but for ArgMin and ArgMax, the result
  std::uint8_t stage = 0;
  std::array<Value, 2> args{kNone, kNone};  ///< what a Point instruction of the stage may use
  std::uint32_t weight = kNone;             ///< MomentsMerge: scalar parameter (int64): elements per input
  Value combined = kNone;                   ///< LoopStack: what two neighbours combine to
};

/// True for what a scan schedule has.
inline bool is_scan(const Reduction& r) { return graph::is_scan(r.op) || r.op == Op::LoopStack; }

/// Lines that a scan on a CPU has side by side at least: of wide states fewer, as their blocks lie on the stack.
int scan_lines(const KernelIr& ir);

/// True if an access loads along the reduced axis.
inline bool streams(const Access& a) {
  return !a.store && !a.outer_only && a.buffer != kNone && a.reduced != StrideClass::Zero;
}

/// True if a reduction has the same bits in any order: a choice by a total order (any NaN equals any NaN), or
/// arithmetic that wraps.
inline bool in_any_order(const Reduction& r) {
  if (r.op == Op::Min || r.op == Op::Max || graph::is_arg_reduce(r.op)) return true;
  return (r.op == Op::Sum || r.op == Op::Prod) && !is_floating(r.dtype);
}

/// Channels that may be interleaved here and planar there: their number is part of the text.
constexpr int kMostChannels = 8;

/// True if a load is contiguous along dimension `dimension`, but moves otherwise along the last one.
inline bool is_transposed(const Access& a, int dimension) {
  return !a.store && a.buffer != kNone && dimension >= 0 && a.strides.back() == StrideClass::Any &&
         a.strides[static_cast<std::size_t>(dimension)] == StrideClass::One;
}

/// Sum, Prod, Min or Max of a value along a loop.
struct Fold {
  Op op{};
  Dtype dtype{};
  Value arg = kNone;
  std::uint32_t loop = kNone;
};

/// Levels of a Recurrence that each outer index keeps for itself.
struct KeptLevels {
  Dtype dtype{};
  std::uint32_t extent = kNone;  ///< scalar parameter (int64)
};

/// Scalars that belong to each other: the members of Number.
struct Series {
  std::uint32_t first = kNone, count = 0;  ///< scalar parameters
  [[nodiscard]] bool has(std::uint32_t scalar) const { return scalar >= first && scalar - first < count; }
};

struct KernelIr {
  Layout layout = PointwiseLayout{};  ///< says the schedule, too
  Mode mode{};
  bool wide_index = false;     ///< offsets need 64 bits
  bool roomy = false;          ///< on a GPU: a thread may take all registers, however few thread blocks then share them
  bool rolled = false;         ///< on a GPU: a lane's elements of a tree block go round in one copy of the code
  int rank = 0;                ///< outer dimensions
  std::vector<Dtype> buffers;  ///< element type of each buffer
  std::vector<Dtype> scalars;
  std::vector<Access> accesses;
  std::vector<Guard> guards;
  std::vector<Instr> instrs;
  std::vector<Reduction> reductions;
  std::vector<std::uint32_t> loops;  ///< scalar parameter (int64) of each: its extent, 2 to 32
  std::vector<int> short_loops;  ///< on a GPU, unless tiles share what loops read: the steps of each that the text has
                                 ///< (steps_class), or 0 where only the argument says how many there are
  std::vector<Fold> folds;
  std::vector<std::uint32_t> levels;  ///< Recurrence: scalar parameter (int64) of each loop: its levels
  std::vector<KeptLevels> arrays;     ///< Recurrence
  std::vector<Series> series;         ///< Recurrence
  std::vector<std::uint32_t> checks;  ///< access of each: an iota, the number of the element in row-major order
  std::uint32_t faults = kNone;       ///< access of their words, where there are checks
  [[nodiscard]] int stages() const;   ///< 1 + the highest stage of an instruction or reduction
  [[nodiscard]] Value first_fold(std::uint32_t loop) const;  ///< the instruction where a loop runs
  /// The region that an instruction runs in, or the loop that it belongs to.
  [[nodiscard]] Region home_region(const Instr& in) const {
    return in.region == Region::Loop ? instrs[first_fold(in.loop)].region : in.region;
  }
  [[nodiscard]] Schedule schedule() const { return schedule_of(layout); }
  [[nodiscard]] bool has(unsigned traits) const { return (traits_of(schedule()) & traits) != 0; }
  [[nodiscard]] bool is_map() const { return has(trait::kMap); }
  [[nodiscard]] bool has_tiles() const { return has(trait::kTiles); }
  [[nodiscard]] bool is_contraction() const { return has(trait::kContraction); }
  [[nodiscard]] bool is_row() const { return has(trait::kRow); }
  [[nodiscard]] bool is_scan() const { return has(trait::kScan); }
  /// True for a scan whose combination the kernel spells out.
  [[nodiscard]] bool combines() const { return !reductions.empty() && reductions.front().op == Op::LoopStack; }
  [[nodiscard]] bool is_recurrence() const { return has(trait::kLevels); }
  [[nodiscard]] bool is_row_column() const { return has(trait::kRowColumn); }
  [[nodiscard]] bool staged() const { return has(trait::kRow | trait::kScan); }  ///< goes over a row several times
  /// The layout of a schedule that the kernel has.
  template <class Of>
  [[nodiscard]] const Of& as() const {
    return std::get<Of>(layout);
  }
  template <class Of>
  [[nodiscard]] Of& as() {
    return std::get<Of>(layout);
  }
  /// Elements per memory access along the vector dimension.
  [[nodiscard]] int vector() const;
  /// True if a thread's items are a tree block apart.
  [[nodiscard]] bool striped() const;
  /// Where the schedule has tiles: the dimension of a tile's rows, -1 where there is none; its columns are the last
  /// dimension. Points of a tile along an outer dimension, and tiles along one.
  [[nodiscard]] int row_dimension() const;
  [[nodiscard]] int tile(int dimension) const;
  [[nodiscard]] std::int64_t tiles(int dimension, std::int64_t extent) const;
  /// Steps of a short loop, of the longest of its class, or 0.
  [[nodiscard]] int steps_of(std::size_t loop) const { return short_loops.empty() ? 0 : short_loops[loop]; }
  /// True if all reductions are sums of integers of 8 and 16 bits.
  [[nodiscard]] bool sums_narrow() const;
  /// True if the lanes of tree blocks, and what they combine to in a warp, count such sums in 32 bits, at most 2^11 of
  /// them.
  [[nodiscard]] bool has_narrow_lanes() const;
  /// The dtype in which a lane counts.
  [[nodiscard]] Dtype lane_dtype(std::size_t reduction) const;
  [[nodiscard]] bool has_moments() const;  ///< true if a reduction's state is a mean and a sum of squares
  /// Bytes that a point loads along the reduced axis, at all steps of short loops.
  [[nodiscard]] std::size_t point_bytes() const;
};

/// Arguments of an instruction that computes: of all others 0.
inline int arity(const Instr& in) {
  if (in.kind == InstrKind::Index) return in.args[2] == kNone ? 2 : 3;
  if (in.kind == InstrKind::Gather) return 1;
  return in.kind == InstrKind::Compute ? graph::info(in.op).arity : 0;
}

/// True if a kernel reads at places that it computes.
inline bool gathers(const KernelIr& ir) {
  return ir.faults != kNone || std::ranges::any_of(ir.accesses, [](const Access& a) { return a.gathered; });
}

/// The words of a check: the smallest of each, unsigned, of what was found out of range. Word k has the element's
/// number, at most kMostNumber, above 24 bits of the index: bits 24 * k to 24 * k + 23. All words of the least number
/// come from one element, whatever the order in which elements write. ~0 where nothing was found.
inline constexpr int kFaultWords = 3, kFaultBits = 24;
inline constexpr std::int64_t kMostNumber = (std::int64_t{1} << (64 - kFaultBits)) - 2;

/// True if a value is that of an iota access.
inline bool is_iota(const KernelIr& ir, Value v) {
  return ir.instrs[v].kind == InstrKind::Load && ir.accesses[ir.instrs[v].index].buffer == kNone;
}

/// Elements of a run of `count` that one load or store takes: a power of two, of at most 16 bytes, that divides the
/// run.
inline int run_part(const KernelIr& ir, std::uint32_t access, int count) {
  const auto size = static_cast<int>(itemsize(ir.buffers[ir.accesses[access].buffer]));
  int part = count & -count;
  while (part > 1 && part * size > 16) part /= 2;
  return part;
}

inline constexpr int kPointGroups = 4;  ///< points of a thread of a pointwise kernel that has no vectors
inline constexpr int kTreeBlock = 128;  ///< elements of a block of tree R

/// Tree blocks of a row that a thread block holds at most, and that the largest cluster of thread blocks does.
inline constexpr int kRowBlocks = 128, kClusterBlocks = 8 * kRowBlocks;

/// Class of rows of n elements: tree blocks of the longest row in it, a power of two; of rows that clusters share a
/// multiple of what a thread block holds, or of a quarter of that where two of them would be idle for a good part.
constexpr int row_class(std::int64_t n) {
  int blocks = 1;
  while (std::int64_t{blocks} * 128 < n) blocks *= 2;
  if (blocks <= kRowBlocks) return blocks;
  const std::int64_t step = n <= 192 * 128 ? kRowBlocks / 4 : kRowBlocks;
  return static_cast<int>((n + step * 128 - 1) / (step * 128) * step);
}

inline constexpr int kShortLoop = 4;  ///< steps that registers hold at once
inline constexpr int kShortRow = 8;   ///< elements of a row that later stages come back to
/// Class of rows of n <= 32 elements, one thread each: n up to `exact`, kShortRow of row
/// schedules and kShortLoop of others, then a power of two; of
/// nothing, 0.
constexpr int serial_class(std::int64_t n, int exact) {
  int elements = n <= exact ? static_cast<int>(n) : exact;
  while (elements < n) elements *= 2;
  return elements;
}
/// Class of loops of n <= 32 steps that are written out: the most steps of one in it. Few steps, and whole fours of
/// them, are classes of their own.
constexpr int steps_class(std::int64_t n) { return static_cast<int>(n <= kShortRow || n % 4 == 0 ? n : n | 3); }
/// Steps that every loop of such a class has; the text asks whether those behind them are there.
constexpr int sure_steps(int steps) { return steps > kShortRow && steps % 4 == 3 ? steps - 2 : steps; }
/// The power of two from `least` on that n fits in.
constexpr int power_class(std::int64_t n, int least) {
  while (least < n) least *= 2;
  return least;
}
/// Class of n neighbouring columns, and of loops of n steps.
constexpr int column_class(std::int64_t n) { return power_class(n, 2); }
constexpr int loop_class(std::int64_t n) { return power_class(n, 4); }
inline constexpr std::int64_t kLongestLoop = 32;  ///< tree R is left to right up to here

/// The arguments that vary between launches of one KernelIr without changing its text.
struct AccessArgs {
  std::int64_t offset = 0;  ///< elements
  graph::Dims strides;      ///< one per outer dimension, elements
  std::int64_t reduced_stride = 0;
  std::int64_t loop_stride = 0;
};
struct KernelArgs {
  graph::Dims extents;       ///< outer dimensions
  std::int64_t reduced = 1;  ///< n
  std::vector<AccessArgs> accesses;
  std::vector<std::int64_t> array_bytes{};  ///< of a Recurrence: of each array, for one outer index
  [[nodiscard]] std::int64_t outer_count() const { return graph::element_count(extents.span()); }
};

/// Throws InternalError with the printed IR where a rule above is broken.
void verify(const KernelIr& ir);
/// Stable text, one instruction per line, for dumps and golden tests.
std::string to_string(const KernelIr& ir);

/// Bytes of one partial state of all reductions (each field aligned to its size, struct rounded up to 8).
struct StateField {
  std::uint32_t reduction;
  const char* part;
  Dtype dtype;
};
std::vector<StateField> state_fields(const KernelIr& ir);
std::size_t state_bytes(const KernelIr& ir);
std::size_t state_bytes(const KernelIr& ir, int stage);  ///< of the reductions of a stage

}  // namespace tarry::codegen
