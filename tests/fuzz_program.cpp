// The functions a program may call, the types they give, the inputs, and recording.
#include "tests/fuzz_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/op.h"

namespace tarry::fuzz {
namespace {

using Binary = Array (*)(const Operand&, const Operand&);
using Unary = Array (*)(const Array&, std::source_location);

/// One row per function, in the order of the enum.
struct FunctionInfo {
  const char* name;
  Family family;
  Binary binary = nullptr;
  Unary unary = nullptr;
};
constexpr std::array<FunctionInfo, kFunctionCount> kFunctions = {{
    {"add", Family::Binary, add},
    {"subtract", Family::Binary, subtract},
    {"multiply", Family::Binary, multiply},
    {"divide", Family::Binary, divide},
    {"floor_divide", Family::Binary, floor_divide},
    {"remainder", Family::Binary, remainder},
    {"minimum", Family::Binary, minimum},
    {"maximum", Family::Binary, maximum},
    {"equal", Family::Binary, equal},
    {"not_equal", Family::Binary, not_equal},
    {"less", Family::Binary, less},
    {"less_equal", Family::Binary, less_equal},
    {"greater", Family::Binary, greater},
    {"greater_equal", Family::Binary, greater_equal},
    {"logical_and", Family::Binary, logical_and},
    {"logical_or", Family::Binary, logical_or},
    {"negative", Family::Unary, nullptr, negative},
    {"abs", Family::Unary, nullptr, tarry::abs},
    {"sqrt", Family::Unary, nullptr, tarry::sqrt},
    {"exp", Family::Unary, nullptr, tarry::exp},
    {"log", Family::Unary, nullptr, tarry::log},
    {"erf", Family::Unary, nullptr, tarry::erf},
    {"logical_not", Family::Unary, nullptr, logical_not},
    {"where", Family::Where},
    {"astype", Family::Astype},
    {"broadcast_to", Family::View},
    {"permute_dims", Family::View},
    {"matrix_transpose", Family::View, nullptr, matrix_transpose},
    {"expand_dims", Family::View},
    {"squeeze", Family::View},
    {"flip", Family::View},
    {"full", Family::Create},
    {"zeros", Family::Create},
    {"ones", Family::Create},
    {"full_like", Family::Create},
    {"zeros_like", Family::Create},
    {"ones_like", Family::Create},
    {"arange", Family::Create},
    {"linspace", Family::Create},
    {"eye", Family::Create},
    {"sum", Family::Reduce},
    {"min", Family::Reduce},
    {"max", Family::Reduce},
    {"mean", Family::Reduce},
    {"var", Family::Reduce},
    {"std", Family::Reduce},
}};
const FunctionInfo& info_of(Function f) { return kFunctions[static_cast<std::size_t>(f)]; }

/// Functions that make floats of integers (docs: "integers become float32 first").
bool is_float_function(Function f) {
  return f == Function::Divide || f == Function::Sqrt || f == Function::Exp || f == Function::Log || f == Function::Erf;
}
bool is_comparison(Function f) { return f >= Function::Equal && f <= Function::GreaterEqual; }
bool is_logical(Function f) {
  return f == Function::LogicalAnd || f == Function::LogicalOr || f == Function::LogicalNot;
}

/// Promotion among the five dtypes: the order bool < int32 < int64 < float32 < float64 holds every rule.
Dtype promoted(Dtype a, Dtype b) { return a > b ? a : b; }

/// A weak scalar changes a dtype only by being of a higher kind.
Dtype promoted(Dtype array, Scalar scalar) {
  if (scalar.kind() == Scalar::Kind::Bool) return array;
  if (scalar.is_integer()) return array == bool_ ? int64 : array;
  return is_floating(array) ? array : float32;
}

std::optional<Extents> broadcast(const Extents& a, const Extents& b) {
  const Extents& longer = a.size() >= b.size() ? a : b;
  const Extents& shorter = a.size() >= b.size() ? b : a;
  Extents shape = longer;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& extent = shape[shape.size() - 1 - i];
    const std::int64_t other = shorter[shorter.size() - 1 - i];
    if (extent == 1) extent = other;
    else if (other != 1 && other != extent) return std::nullopt;
  }
  return shape;
}

std::optional<Type> infer_elementwise(const Statement& s, std::span<const Type> values) {
  const std::optional<Dtype> computed = compute_dtype(s, values);
  if (!computed) return std::nullopt;
  Extents shape;
  for (const Argument& a : s.arguments) {
    if (a.value < 0) continue;
    const auto both = broadcast(shape, values[static_cast<std::size_t>(a.value)].shape);
    if (!both) return std::nullopt;
    shape = *both;
  }
  return Type{is_comparison(s.function) ? bool_ : *computed, shape};
}

std::optional<Type> infer_view(const Statement& s, const Type& x) {
  const std::size_t rank = x.shape.size();
  Type result = x;
  switch (s.function) {
    case Function::BroadcastTo: {
      const auto both = broadcast(x.shape, s.shape);
      if (!both || *both != s.shape) return std::nullopt;
      result.shape = s.shape;
      return result;
    }
    case Function::PermuteDims: {
      const auto axes = normalised_axes(s.axes, rank);
      if (!axes || s.axes.size() != rank) return std::nullopt;
      for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t from = s.axes[d] < 0 ? s.axes[d] + static_cast<std::int64_t>(rank) : s.axes[d];
        result.shape[d] = x.shape[static_cast<std::size_t>(from)];
      }
      return result;
    }
    case Function::MatrixTranspose:
      if (rank < 2) return std::nullopt;
      std::swap(result.shape[rank - 1], result.shape[rank - 2]);
      return result;
    case Function::ExpandDims: {
      const auto limit = static_cast<std::int64_t>(rank);
      if (s.axes.size() != 1 || s.axes[0] < -limit - 1 || s.axes[0] > limit) return std::nullopt;
      const std::int64_t at = s.axes[0] < 0 ? s.axes[0] + limit + 1 : s.axes[0];
      result.shape.insert(result.shape.begin() + at, 1);
      return result;
    }
    case Function::Squeeze: {
      const auto axes = normalised_axes(s.axes, rank);
      if (!axes) return std::nullopt;
      for (std::size_t i = axes->size(); i-- > 0;) {
        const std::int64_t axis = (*axes)[i];
        if (x.shape[static_cast<std::size_t>(axis)] == 1) result.shape.erase(result.shape.begin() + axis);
        else if (!s.axes.empty()) return std::nullopt;
      }
      return result;
    }
    default:
      if (!normalised_axes(s.axes, rank)) return std::nullopt;  // flip
      return result;
  }
}

std::optional<Type> infer_arange(const Statement& s) {
  bool integers = true;
  for (const Argument& a : s.arguments) {
    if (a.scalar.kind() == Scalar::Kind::Bool || !std::isfinite(a.scalar.to_double())) return std::nullopt;
    integers = integers && a.scalar.is_integer();
  }
  const double start = s.arguments[0].scalar.to_double(), stop = s.arguments[1].scalar.to_double();
  const double step = s.arguments[2].scalar.to_double();
  const Dtype dtype = s.dtype.value_or(integers ? int64 : float32);
  if (step == 0 || dtype == bool_ || (!integers && !is_floating(dtype))) return std::nullopt;
  const double count = std::max(0.0, std::ceil((stop - start) / step));  // exact for the integers that are generated
  if (count > static_cast<double>(kMaxElements)) return std::nullopt;
  if (integers && count > 0) {
    const std::int64_t first = s.arguments[0].scalar.as_int();
    const std::int64_t last = first + (static_cast<std::int64_t>(count) - 1) * s.arguments[2].scalar.as_int();
    if (!fits(first, dtype) || !fits(last, dtype)) return std::nullopt;
  }
  return Type{dtype, {static_cast<std::int64_t>(count)}};
}

std::optional<Type> infer_create(const Statement& s, std::span<const Type> values) {
  switch (s.function) {
    case Function::Full: {
      const Scalar value = s.arguments[0].scalar;
      const Dtype natural = value.kind() == Scalar::Kind::Bool ? bool_ : value.is_integer() ? int64 : float32;
      const Dtype dtype = s.dtype.value_or(natural);
      if (!fits(value, dtype)) return std::nullopt;
      return Type{dtype, s.shape};
    }
    case Function::Zeros:
    case Function::Ones: return Type{s.dtype.value_or(float32), s.shape};
    case Function::FullLike:
    case Function::ZerosLike:
    case Function::OnesLike: {
      const Type& like = values[static_cast<std::size_t>(s.arguments[0].value)];
      const Dtype dtype = s.dtype.value_or(like.dtype);
      if (s.function == Function::FullLike && !fits(s.arguments[1].scalar, dtype)) return std::nullopt;
      return Type{dtype, like.shape};
    }
    case Function::Arange: return infer_arange(s);
    case Function::Linspace: {
      for (const Argument& a : s.arguments)
        if (!std::isfinite(a.scalar.to_double())) return std::nullopt;
      const Dtype dtype = s.dtype.value_or(float32);
      if (s.shape.size() != 1 || !is_floating(dtype)) return std::nullopt;
      return Type{dtype, s.shape};
    }
    default: return s.shape.size() == 2 ? std::optional(Type{s.dtype.value_or(float32), s.shape}) : std::nullopt;  // eye
  }
}

std::optional<Type> infer_reduce(const Statement& s, const Type& x) {
  const auto axes = normalised_axes(s.axes, x.shape.size());
  if (!axes) return std::nullopt;
  Type result{x.dtype, {}};
  const bool is_extremum = s.function == Function::Min || s.function == Function::Max;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (std::find(axes->begin(), axes->end(), static_cast<std::int64_t>(d)) == axes->end()) {
      result.shape.push_back(x.shape[d]);
      continue;
    }
    if (is_extremum && x.shape[d] == 0) return std::nullopt;
    if (s.flag) result.shape.push_back(1);
  }
  if (is_extremum) return x.dtype == bool_ ? std::nullopt : std::optional(result);
  if (s.function == Function::Sum) {
    result.dtype = s.dtype.value_or(is_floating(x.dtype) ? x.dtype : int64);
    return result.dtype == bool_ ? std::nullopt : std::optional(result);
  }
  if (!is_floating(x.dtype)) result.dtype = float64;
  return result;
}

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class T>
constexpr bool kFloating = std::is_floating_point_v<T>;

template <class T>
T special_value(std::uint64_t r) {
  using Limits = std::numeric_limits<T>;
  if constexpr (kFloating<T>) {
    constexpr T kSpecial[] = {Limits::quiet_NaN(), Limits::infinity(), 0, Limits::denorm_min(), Limits::min(), Limits::max(), 1};
    const T magnitude = kSpecial[(r >> 8) % std::size(kSpecial)];
    if (r % 4 == 0) return (r & 128) != 0 ? -magnitude : magnitude;
    if (r % 4 == 1) return static_cast<T>(std::ldexp(static_cast<double>(r >> 40) - 0x1p23, static_cast<int>(r >> 8) % 60 - 50));
    return static_cast<T>(static_cast<std::int64_t>(r >> 32) % 512) / 32 - 8;
  } else {
    constexpr T kSpecial[] = {Limits::min(), Limits::max(), 0, -1, 1, Limits::min() + 1, 2, Limits::max() - 1};
    if (r % 4 == 0) return kSpecial[(r >> 8) % std::size(kSpecial)];
    return r % 4 == 1 ? static_cast<T>(r >> 16) : static_cast<T>(static_cast<std::int64_t>(r >> 32) % 128 - 64);
  }
}

template <class T>
T element(const Input& input, std::int64_t k) {
  const std::uint64_t r = mixed(input.seed ^ mixed(static_cast<std::uint64_t>(k)));
  const auto small = static_cast<std::int64_t>(r >> 20) % 9 - 4;
  if (input.content == Content::Zeros) return T{};
  if constexpr (std::is_same_v<T, bool>) {
    return (r & 1) != 0;
  } else {
    if (kFloating<T> && input.content == Content::Small && small == 0) return (r & 1) != 0 ? static_cast<T>(-0.0) : T{};
    if (input.content == Content::Small) return static_cast<T>(small);
    if (input.content == Content::Special) return special_value<T>(r);
    if constexpr (kFloating<T>) return static_cast<T>(static_cast<double>(r >> 11) * 0x1p-50 - 4);  // [-4, 4)
    return static_cast<T>(static_cast<std::int64_t>(r >> 20) % 2001 - 1000);
  }
}

/// Whether a Broadcast input repeats along axis d.
bool repeats(const Input& input, std::size_t d) {
  return input.layout == Layout::Broadcast && ((input.seed >> d) & 1) != 0;
}

Operand operand(const Argument& a, std::span<const Array> values) {
  if (a.value >= 0) return Operand(values[static_cast<std::size_t>(a.value)]);
  switch (a.scalar.kind()) {
    case Scalar::Kind::Bool: return Operand(a.scalar.as_int() != 0);
    case Scalar::Kind::Int: return Operand(a.scalar.as_int());
    case Scalar::Kind::UInt: return Operand(a.scalar.as_uint());
    default: return Operand(a.scalar.as_float());
  }
}

Array record_view(const Statement& s, const Array& x) {
  switch (s.function) {
    case Function::BroadcastTo: return broadcast_to(x, s.shape);
    case Function::PermuteDims: return permute_dims(x, s.axes);
    case Function::MatrixTranspose: return matrix_transpose(x);
    case Function::ExpandDims: return expand_dims(x, static_cast<int>(s.axes[0]));
    case Function::Squeeze: return squeeze(x, s.axes);
    default: return flip(x, s.axes);
  }
}

Array record_create(const Statement& s, std::span<const Array> values) {
  const auto like = [&]() -> const Array& { return values[static_cast<std::size_t>(s.arguments[0].value)]; };
  const auto scalar = [&](std::size_t i) { return s.arguments[i].scalar; };
  switch (s.function) {
    case Function::Full: return full(s.shape, scalar(0), s.dtype);
    case Function::Zeros: return zeros(s.shape, s.dtype.value_or(float32));
    case Function::Ones: return ones(s.shape, s.dtype.value_or(float32));
    case Function::FullLike: return full_like(like(), scalar(1), s.dtype);
    case Function::ZerosLike: return zeros_like(like(), s.dtype);
    case Function::OnesLike: return ones_like(like(), s.dtype);
    case Function::Arange: return arange(scalar(0), scalar(1), scalar(2), s.dtype);
    case Function::Linspace:
      return linspace(scalar(0), scalar(1), s.shape[0], {.endpoint = s.flag, .dtype = s.dtype.value_or(float32)});
    default:
      return eye(s.shape[0], {.columns = s.shape[1], .k = static_cast<std::int64_t>(s.number), .dtype = s.dtype.value_or(float32)});
  }
}

Array record_reduce(const Statement& s, const Array& x) {
  switch (s.function) {
    case Function::Sum: return sum(x, s.axes, {.keepdims = s.flag, .dtype = s.dtype});
    case Function::Min: return min(x, s.axes, {.keepdims = s.flag});
    case Function::Max: return max(x, s.axes, {.keepdims = s.flag});
    case Function::Mean: return mean(x, s.axes, {.keepdims = s.flag});
    case Function::Var: return var(x, s.axes, {.keepdims = s.flag, .correction = s.number});
    default: return tarry::std(x, s.axes, {.keepdims = s.flag, .correction = s.number});
  }
}

}  // namespace

std::int64_t count_of(const Extents& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Family family(Function f) { return info_of(f).family; }
const char* name(Function f) { return info_of(f).name; }

int ulp_bound(Function f, Dtype d) {
  for (const graph::OpInfo& op : graph::kOpTable)
    if (std::string_view(op.name) == name(f)) return static_cast<int>(d == float64 ? op.ulp64 : op.ulp32);
  return 0;  // composed of ops that round once each
}

bool fits(Scalar value, Dtype dtype) {
  const double x = value.to_double();
  if (dtype == float64) return true;
  if (dtype == float32) return !std::isfinite(x) || std::isfinite(static_cast<float>(x));
  if (value.kind() == Scalar::Kind::Float) return false;
  if (dtype == bool_) return x == 0 || x == 1;
  if (value.kind() == Scalar::Kind::UInt) return value.as_uint() <= static_cast<std::uint64_t>(dtype == int32 ? INT32_MAX : INT64_MAX);
  return dtype == int64 || (value.as_int() >= INT32_MIN && value.as_int() <= INT32_MAX);
}

std::optional<Extents> normalised_axes(const Extents& axes, std::size_t rank) {
  Extents result;
  if (axes.empty())
    for (std::size_t d = 0; d < rank; ++d) result.push_back(static_cast<std::int64_t>(d));
  for (const std::int64_t axis : axes) {
    const auto limit = static_cast<std::int64_t>(rank);
    if (axis < -limit || axis >= limit) return std::nullopt;
    result.push_back(axis < 0 ? axis + limit : axis);
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) return std::nullopt;
  return result;
}

std::optional<Dtype> compute_dtype(const Statement& s, std::span<const Type> values) {
  std::span<const Argument> operands = s.arguments;
  if (s.function == Function::Where) {
    const Argument& condition = operands[0];
    const bool is_bool = condition.value >= 0 ? values[static_cast<std::size_t>(condition.value)].dtype == bool_
                                              : condition.scalar.kind() == Scalar::Kind::Bool;
    if (!is_bool) return std::nullopt;
    operands = operands.subspan(1);
  }
  Dtype dtype = bool_;
  for (const Argument& a : operands)
    if (a.value >= 0) dtype = promoted(dtype, values[static_cast<std::size_t>(a.value)].dtype);
  for (const Argument& a : operands)
    if (a.value < 0) dtype = promoted(dtype, a.scalar);
  if (is_logical(s.function)) return dtype == bool_ ? std::optional(dtype) : std::nullopt;
  const bool takes_bool = s.function == Function::Where || s.function == Function::Equal || s.function == Function::NotEqual;
  if (dtype == bool_ && !takes_bool) return std::nullopt;
  if (is_float_function(s.function) && is_integral(dtype)) dtype = float32;
  for (const Argument& a : operands)
    if (a.value < 0 && !fits(a.scalar, dtype)) return std::nullopt;
  return dtype;
}

std::optional<Type> infer(const Statement& s, std::span<const Type> values) {
  const auto x = [&]() -> const Type& { return values[static_cast<std::size_t>(s.arguments[0].value)]; };
  switch (family(s.function)) {
    case Family::Binary:
    case Family::Unary:
    case Family::Where: return infer_elementwise(s, values);
    case Family::Astype: return Type{*s.dtype, x().shape};
    case Family::View: return infer_view(s, x());
    case Family::Create: return infer_create(s, values);
    default: return infer_reduce(s, x());
  }
}

std::optional<std::vector<Type>> infer(const Program& p) {
  std::vector<Type> types;
  for (const Input& i : p.inputs) types.push_back(i.type);
  for (const Statement& s : p.statements) {
    const std::optional<Type> t = infer(s, types);
    if (!t || count_of(t->shape) > kMaxElements || t->shape.size() > kMaxAxes) return std::nullopt;
    types.push_back(*t);
  }
  return types;
}

Placement place(const Input& input) {
  const Extents& shape = input.type.shape;
  const std::size_t rank = shape.size();
  Placement p;
  p.strides.resize(rank);
  std::int64_t stride = input.layout == Layout::Strided ? 2 : 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = input.layout == Layout::Transposed ? i : rank - 1 - i;
    p.strides[d] = repeats(input, d) ? 0 : stride;
    if (repeats(input, d)) continue;
    stride *= std::max<std::int64_t>(shape[d], 1);
    if (input.layout == Layout::Strided) stride += 3;  // a gap after every row
  }
  p.size = stride;
  if (input.layout == Layout::Reversed) {
    for (std::size_t d = 0; d < rank; ++d) {
      p.offset += p.strides[d] * std::max<std::int64_t>(shape[d] - 1, 0);
      p.strides[d] = -p.strides[d];
    }
  }
  return p;
}

Tensor values_of(const Input& input) {
  Tensor t(input.type);
  const Extents& shape = input.type.shape;
  visit(input.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> out = t.as<T>();
    for (std::size_t k = 0; k < out.size(); ++k) {
      auto rest = static_cast<std::int64_t>(k), weight = std::int64_t{1}, canonical = std::int64_t{0};
      for (std::size_t d = shape.size(); d-- > 0;) {  // elements along a repeated axis are one element
        if (!repeats(input, d)) canonical += rest % shape[d] * weight;
        weight *= shape[d];
        rest /= shape[d];
      }
      out[k] = element<T>(input, canonical);
    }
  });
  return t;
}

Arrays make_inputs(const Program& p) {
  Arrays result;
  for (const Input& input : p.inputs) {
    const Tensor values = values_of(input);
    const Placement at = place(input);
    visit(input.type.dtype, [&](auto zero) {
      using T = decltype(zero);
      const Extents& shape = input.type.shape;
      std::vector<std::byte>& memory = result.memory.emplace_back(static_cast<std::size_t>(at.size) * sizeof(T));
      T* base = reinterpret_cast<T*>(memory.data()) + at.offset;
      const std::span<const T> elements = values.as<T>();
      for (std::size_t k = 0; k < elements.size(); ++k) {
        std::int64_t rest = static_cast<std::int64_t>(k), offset = 0;
        for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) offset += rest % shape[d] * at.strides[d];
        base[offset] = elements[k];
      }
      if (input.layout == Layout::Copied) result.values.push_back(asarray(elements, shape));
      else if (input.layout == Layout::Contiguous) result.values.push_back(borrow<T>(base, shape));
      else result.values.push_back(borrow<T>(base, shape, at.strides));
    });
  }
  return result;
}

Array record(const Statement& s, std::span<const Array> values) {
  const FunctionInfo& f = info_of(s.function);
  const auto x = [&]() -> const Array& { return values[static_cast<std::size_t>(s.arguments[0].value)]; };
  if (f.binary != nullptr) return f.binary(operand(s.arguments[0], values), operand(s.arguments[1], values));
  if (f.unary != nullptr) return f.unary(x(), std::source_location::current());
  switch (f.family) {
    case Family::Where:
      return where(operand(s.arguments[0], values), operand(s.arguments[1], values), operand(s.arguments[2], values));
    case Family::Astype: return astype(x(), *s.dtype);
    case Family::View: return record_view(s, x());
    case Family::Create: return record_create(s, values);
    default: return record_reduce(s, x());
  }
}

}  // namespace tarry::fuzz
