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
#include <vector>

#include <tarry/tarry.h>

namespace tarry::fuzz {

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
  explicit Tensor(Type of) : type(std::move(of)), bytes(static_cast<std::size_t>(count_of(type.shape)) * itemsize(type.dtype)) {}
  template <class T> [[nodiscard]] std::span<T> as() { return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)}; }
  template <class T> [[nodiscard]] std::span<const T> as() const { return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)}; }
};

/// Calls f(T{}) with the C++ type of a dtype that operations are implemented for.
template <class F>
decltype(auto) visit(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::Bool: return f(bool{});
    case Dtype::Int32: return f(std::int32_t{});
    case Dtype::Int64: return f(std::int64_t{});
    case Dtype::Float32: return f(float{});
    default: return f(double{});
  }
}

/// How an input lies in memory. Copied goes through asarray, the others through borrow.
enum class Layout : std::uint8_t { Copied, Contiguous, Transposed, Strided, Reversed, Broadcast };
/// What an input holds: zeros; integers in [-4, 4]; moderate numbers; NaN, infinities, denormals, limits among any bits.
enum class Content : std::uint8_t { Zeros, Small, Plain, Special };

struct Input {
  Type type;
  Layout layout{};
  Content content{};
  std::uint64_t seed = 0;
};

enum class Function : std::uint8_t {
  Add, Subtract, Multiply, Divide, FloorDivide, Remainder, Minimum, Maximum,
  Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr,
  Negative, Abs, Sqrt, Exp, Log, Erf, LogicalNot,
  Where, Astype,
  BroadcastTo, PermuteDims, MatrixTranspose, ExpandDims, Squeeze, Flip,
  Full, Zeros, Ones, FullLike, ZerosLike, OnesLike, Arange, Linspace, Eye,
  Sum, Min, Max, Mean, Var, Std,
};
inline constexpr int kFunctionCount = static_cast<int>(Function::Std) + 1;

enum class Family : std::uint8_t { Binary, Unary, Where, Astype, View, Create, Reduce };
Family family(Function f);
const char* name(Function f);
/// The ulp bound of the function in dtype `d` by the op table; 0: correctly rounded, the same on every backend.
int ulp_bound(Function f, Dtype d);

/// An array by its number, or a C++ number.
struct Argument {
  int value = -1;
  Scalar scalar = 0;
};

struct Statement {
  Function function{};
  std::vector<Argument> arguments;  ///< Create: full's value; arange's start, stop, step; linspace's start, stop
  Extents axes;                     ///< of views and reductions; expand_dims has one
  Extents shape;                    ///< broadcast_to, full, zeros, ones; linspace (count); eye (rows, columns)
  std::optional<Dtype> dtype;
  bool flag = false;                ///< reductions: keepdims; linspace: endpoint
  double number = 0;                ///< var, std: correction; eye: k
};

struct Program {
  std::uint64_t seed = 0;
  std::vector<Input> inputs;
  std::vector<Statement> statements;
  std::vector<int> outputs;
  [[nodiscard]] int value_count() const { return static_cast<int>(inputs.size() + statements.size()); }
};

/// No value of a generated program has more elements or axes.
inline constexpr std::int64_t kMaxElements = 20000;
inline constexpr int kMaxAxes = 6;

/// What a statement gives on operands of these types; nullopt where the documents say that it throws.
std::optional<Type> infer(const Statement& s, std::span<const Type> values);
/// Types of all values; nullopt where a statement is not valid.
std::optional<std::vector<Type>> infer(const Program& p);
/// The dtype that elementwise arguments are converted to before the function applies; nullopt where it throws.
std::optional<Dtype> compute_dtype(const Statement& s, std::span<const Type> values);
bool fits(Scalar value, Dtype dtype);
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

/// A complete C++ program that records, evaluates and prints the outputs.
std::string to_cpp(const Program& p);

/// The smallest program found for which `fails` still holds; `fails(p)` holds already. Calls `fails` at most `calls` times.
Program shrink(Program p, const std::function<bool(const Program&)>& fails, int calls = 2000);

/// The memory of an input: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] + ...
struct Placement {
  std::int64_t offset = 0;
  Extents strides;
  std::int64_t size = 1;  ///< elements of memory
};
Placement place(const Input& input);

}  // namespace tarry::fuzz
