// Random programs against the public API as plain data: generated from a seed, recorded, printed as C++, shrunk.
//
// Values are numbered: inputs first, then one per statement. Shapes and dtypes of all values follow from infer(), which
// is written from the documents and shares no code with the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <tarry/tarry.h>

#include "tests/helpers/visit.h"

namespace tarry::test::fuzz {

using Extents = std::vector<std::int64_t>;

struct Type {
  Dtype dtype{};
  Extents shape;
  friend bool operator==(const Type&, const Type&) = default;
};
std::int64_t count_of(const Extents& shape);

/// A value on the host, row-major.
struct Tensor {
  Type type;
  std::vector<std::byte> bytes;
  Tensor() = default;
  explicit Tensor(Type of)
      : type(std::move(of)), bytes(static_cast<std::size_t>(count_of(type.shape)) * itemsize(type.dtype)) {}
  template <class T>
  [[nodiscard]] std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

using test::visit;
inline constexpr Dtype kDtypes[] = {bool_,  int8,   int16,   int32,    int64,   uint8,  uint16,
                                    uint32, uint64, float16, bfloat16, float32, float64};

/// The type that functions of T compute in: float32 for the 16-bit floats.
template <class T>
inline constexpr bool kHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
using Computed = std::conditional_t<kHalf<T>, float, T>;
constexpr bool is_half(Dtype d) { return d == float16 || d == bfloat16; }
/// Rounds once, to nearest even.
template <class T>
T narrowed(Computed<T> x) {
  if constexpr (kHalf<T>)
    return T(static_cast<double>(x));
  else
    return x;
}

/// How an input lies in memory. Copied goes through asarray, the others through borrow.
enum class Layout : std::uint8_t { Copied, Contiguous, Transposed, Strided, Reversed, Broadcast };
/// Contents of an input: zeros; integers in [-4, 4]; moderate numbers; NaN, infinities, denormals, limits among any
/// bits.
enum class Content : std::uint8_t { Zeros, Small, Plain, Special };

struct Input {
  Type type;
  Layout layout{};
  Content content{};
  std::uint64_t seed = 0;
};

enum class Function : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Remainder,
  Minimum,
  Maximum,
  Pow,
  Atan2,
  Hypot,
  Logaddexp,
  Copysign,
  Nextafter,
  BitwiseAnd,
  BitwiseOr,
  BitwiseXor,
  LeftShift,
  RightShift,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  LogicalAnd,
  LogicalOr,
  LogicalXor,
  Negative,
  Positive,
  Abs,
  Sign,
  Square,
  Reciprocal,
  Ceil,
  Floor,
  Round,
  Trunc,
  Sqrt,
#define TARRY_FUNCTION(ENUM, NAME) ENUM,
#include "tests/helpers/functions.def"
  BitwiseInvert,
  Isfinite,
  Isinf,
  Isnan,
  Signbit,
  LogicalNot,
  Where,
  Fma,
  Clip,
  Astype,
  BroadcastTo,
  PermuteDims,
  MatrixTranspose,
  ExpandDims,
  Squeeze,
  Flip,
  Slice,
  Reshape,
  Roll,
  Pad,
  Windows,
  Diagonal,
  Concat,
  Stack,
  Take,
  TakeAlongAxis,
  Sort,
  Argsort,
  CumulativeSum,
  CumulativeProd,
  CumulativeMin,
  CumulativeMax,
  AffineScan,
  SearchSorted,
  SegmentSum,
  SegmentMin,
  SegmentMax,
  SegmentMean,
  Own,
  PutSet,
  PutAdd,
  PutMultiply,
  PutMinimum,
  PutMaximum,
  Set,
  AddTo,
  SetMask,
  Full,
  Zeros,
  Ones,
  FullLike,
  ZerosLike,
  OnesLike,
  Arange,
  Linspace,
  Eye,
  Random,
  Sum,
  Prod,
  Min,
  Max,
  Argmin,
  Argmax,
  Any,
  All,
  CountNonzero,
  Mean,
  Var,
  Std,
  Logsumexp,
  Softmax,
};
/// The last of tests/helpers/functions.def, which the op table gives.
inline constexpr Function kLastOfTable = static_cast<Function>(static_cast<int>(Function::BitwiseInvert) - 1);
inline constexpr int kFunctionCount = static_cast<int>(Function::Softmax) + 1;

enum class Family : std::uint8_t {
  Binary,
  Unary,
  Ternary,
  Astype,
  View,
  Join,
  Gather,
  Order,
  Scan,
  Search,
  Segment,
  Own,
  Put,
  Update,
  Create,
  Reduce
};
Family family(Function f);
/// Scans, searches, segments and functions that a user wrote.
inline bool is_line(Function f) { return f >= Function::CumulativeSum && f <= Function::Own; }
/// The way of a put function.
Put way_of(Function put);
const char* name(Function f);
/// The ulp bound of the function in dtype `d` by the op table (of float32 for the 16-bit floats); 0: correctly rounded,
/// the same on every backend.
int ulp_bound(Function f, Dtype d);

/// An array by its number, or a C++ number.
struct Argument {
  int value = -1;
  Scalar scalar = 0;
};

/// One index of a slice or an update: a position, or a range as in Python.
struct Cut {
  std::optional<std::int64_t> start, stop, step;
  bool at = false;  ///< the position `start`; its axis disappears
};

struct Statement {
  Function function{};
  std::vector<Argument> arguments;  ///< Create: full's value; arange's start, stop, step; linspace's start, stop
  Extents axes;   ///< of views and reductions; expand_dims, concat, stack, take, argmin, softmax have one or none
  Extents shape;  ///< broadcast_to, reshape, full, zeros, ones; linspace (count); eye (rows, columns); pad (before,
                  ///< after); windows (length)
  std::optional<Dtype> dtype;
  bool flag = false;  ///< reductions: keepdims; linspace: endpoint; take, put: clip, or else wrap; sort: descending;
                      ///< scans: reverse; searches: from the right
  double number = 0;  ///< var, std: correction; eye: k; roll: shift; random: seed; pad: mode; diagonal: offset;
                      ///< scans: 1 with the initial value; segments: groups
  std::vector<Cut> cuts = {};  ///< slice, set, add: of the first axes
};

/// full() of no axes and no dtype: made as a number that is an array, not as a view of one.
inline bool is_number(const Statement& s) { return s.function == Function::Full && s.shape.empty() && !s.dtype; }

struct Program {
  std::uint64_t seed = 0;
  std::vector<Input> inputs;
  std::vector<Statement> statements;
  std::vector<int> outputs;
  [[nodiscard]] int value_count() const { return static_cast<int>(inputs.size() + statements.size()); }
};

/// No statement of a generated program gives more elements or axes.
inline constexpr std::int64_t kMaxElements = 20000;
inline constexpr int kMaxAxes = 6;

/// The result of a statement on operands of these types; nullopt where the documents say that it throws.
std::optional<Type> infer(const Statement& s, std::span<const Type> values);
/// The same of scans, searches, segments and functions that a user wrote.
std::optional<Type> infer_line(const Statement& s, std::span<const Type> values);
/// Types of all values; nullopt where a statement is not valid.
std::optional<std::vector<Type>> infer(const Program& p);
/// The dtype that elementwise arguments are converted to before the function applies; nullopt where it throws.
std::optional<Dtype> compute_dtype(const Statement& s, std::span<const Type> values);
bool fits(Scalar value, Dtype dtype);
std::optional<Dtype> promoted(Dtype a, Dtype b);
std::optional<Extents> broadcast(const Extents& a, const Extents& b);
/// The positions along an axis of `extent` that a range takes: first, step, count.
struct Range {
  std::int64_t first = 0, step = 1, count = 0;
};
std::optional<Range> range_of(const Cut& cut, std::int64_t extent);
/// Axes counted from the front, ascending, all for {}; nullopt where one is out of range or named twice.
std::optional<Extents> normalised_axes(const Extents& axes, std::size_t rank);

/// A valid program; equal seeds give equal programs.
Program generate(std::uint64_t seed);

/// The elements of an input in logical order.
Tensor values_of(const Input& input);

/// The inputs as arrays on the scope's device. The memory must outlive everything recorded from them.
struct Arrays {
  std::vector<std::vector<std::byte>> memory;
  std::vector<Array> values;
};
Arrays make_inputs(const Program& p);
/// Records one statement through the public API.
Array record(const Statement& s, std::span<const Array> values);

/// The same of scans, searches, segments and functions that a user wrote, and the call as C++.
Array record_line(const Statement& s, std::span<const Array> values);
std::string line_text(const Statement& s);

/// A complete C++ program that records, evaluates and prints the outputs.
std::string to_cpp(const Program& p);

/// The smallest program found for which `fails` still holds; `fails(p)` holds already. Calls `fails` at most `calls`
/// times.
Program shrink(Program p, const std::function<bool(const Program&)>& fails, int calls = 2000);

/// The memory of an input: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] + ...
struct Placement {
  std::int64_t offset = 0;
  Extents strides;
  std::int64_t size = 0;  ///< elements of memory; of none there is no address
};
Placement place(const Input& input);

}  // namespace tarry::test::fuzz
