// The functions a program may call, the inputs, and recording.
#include "tests/fuzz/program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/op.h"

namespace tarry::test::fuzz {
namespace {

using Binary = Array (*)(const Operand&, const Operand&);
using Unary = Array (*)(const Array&, Where);

/// Arithmetic leaves a NaN's sign open; what reads signs is therefore given 0 in its place.
Array number_of(const Array& x) { return where(not_equal(x, x), zeros_like(x), x); }
Array sign_of_number(const Array& x, Where where) { return signbit(number_of(x), where); }
Array with_sign_of_number(const Operand& a, const Operand& b) {
  return b.array() == nullptr ? copysign(a, b) : copysign(a, number_of(*b.array()));
}

/// One row per function, in the order of the enum.
struct FunctionInfo {
  const char* name;
  Family family;
  Binary binary = nullptr;
  Unary unary = nullptr;
};
constexpr std::array<FunctionInfo, kFunctionCount> kFunctions = {{
    {"add", Family::Binary, tarry::add},
    {"subtract", Family::Binary, tarry::subtract},
    {"multiply", Family::Binary, tarry::multiply},
    {"divide", Family::Binary, tarry::divide},
    {"floor_divide", Family::Binary, tarry::floor_divide},
    {"remainder", Family::Binary, tarry::remainder},
    {"minimum", Family::Binary, tarry::minimum},
    {"maximum", Family::Binary, tarry::maximum},
    {"pow", Family::Binary, tarry::pow},
    {"atan2", Family::Binary, tarry::atan2},
    {"hypot", Family::Binary, tarry::hypot},
    {"logaddexp", Family::Binary, tarry::logaddexp},
    {"copysign", Family::Binary, with_sign_of_number},
    {"nextafter", Family::Binary, tarry::nextafter},
    {"bitwise_and", Family::Binary, tarry::bitwise_and},
    {"bitwise_or", Family::Binary, tarry::bitwise_or},
    {"bitwise_xor", Family::Binary, tarry::bitwise_xor},
    {"bitwise_left_shift", Family::Binary, tarry::bitwise_left_shift},
    {"bitwise_right_shift", Family::Binary, tarry::bitwise_right_shift},
    {"equal", Family::Binary, tarry::equal},
    {"not_equal", Family::Binary, tarry::not_equal},
    {"less", Family::Binary, tarry::less},
    {"less_equal", Family::Binary, tarry::less_equal},
    {"greater", Family::Binary, tarry::greater},
    {"greater_equal", Family::Binary, tarry::greater_equal},
    {"logical_and", Family::Binary, tarry::logical_and},
    {"logical_or", Family::Binary, tarry::logical_or},
    {"logical_xor", Family::Binary, tarry::logical_xor},
    {"negative", Family::Unary, nullptr, tarry::negative},
    {"positive", Family::Unary, nullptr, tarry::positive},
    {"abs", Family::Unary, nullptr, tarry::abs},
    {"sign", Family::Unary, nullptr, tarry::sign},
    {"square", Family::Unary, nullptr, tarry::square},
    {"reciprocal", Family::Unary, nullptr, tarry::reciprocal},
    {"ceil", Family::Unary, nullptr, tarry::ceil},
    {"floor", Family::Unary, nullptr, tarry::floor},
    {"round", Family::Unary, nullptr, tarry::round},
    {"trunc", Family::Unary, nullptr, tarry::trunc},
    {"sqrt", Family::Unary, nullptr, tarry::sqrt},
#define TARRY_FUNCTION(ENUM, NAME) {#NAME, Family::Unary, nullptr, tarry::NAME},
#include "tests/helpers/functions.def"
    {"bitwise_invert", Family::Unary, nullptr, tarry::bitwise_invert},
    {"isfinite", Family::Unary, nullptr, tarry::isfinite},
    {"isinf", Family::Unary, nullptr, tarry::isinf},
    {"isnan", Family::Unary, nullptr, tarry::isnan},
    {"signbit", Family::Unary, nullptr, sign_of_number},
    {"logical_not", Family::Unary, nullptr, tarry::logical_not},
    {"where", Family::Ternary},
    {"fma", Family::Ternary},
    {"clip", Family::Ternary},
    {"astype", Family::Astype},
    {"broadcast_to", Family::View},
    {"permute_dims", Family::View},
    {"matrix_transpose", Family::View},
    {"expand_dims", Family::View},
    {"squeeze", Family::View},
    {"flip", Family::View},
    {"slice", Family::View},
    {"reshape", Family::View},
    {"roll", Family::View},
    {"pad", Family::View},
    {"sliding_window_view", Family::View},
    {"diagonal", Family::View},
    {"concat", Family::Join},
    {"stack", Family::Join},
    {"take", Family::Gather},
    {"take_along_axis", Family::Gather},
    {"sort", Family::Order},
    {"argsort", Family::Order},
    {"cumulative_sum", Family::Scan},
    {"cumulative_prod", Family::Scan},
    {"cumulative_min", Family::Scan},
    {"cumulative_max", Family::Scan},
    {"associative_scan", Family::Scan},
    {"searchsorted", Family::Search},
    {"segment_sum", Family::Segment},
    {"segment_min", Family::Segment},
    {"segment_max", Family::Segment},
    {"segment_mean", Family::Segment},
    {"own", Family::Own},
    {"put", Family::Put},
    {"put", Family::Put},
    {"put", Family::Put},
    {"put", Family::Put},
    {"put", Family::Put},
    {"with_set", Family::Update},
    {"with_add", Family::Update},
    {"with_set", Family::Update},
    {"full", Family::Create},
    {"zeros", Family::Create},
    {"ones", Family::Create},
    {"full_like", Family::Create},
    {"zeros_like", Family::Create},
    {"ones_like", Family::Create},
    {"arange", Family::Create},
    {"linspace", Family::Create},
    {"eye", Family::Create},
    {"random", Family::Create},
    {"sum", Family::Reduce},
    {"prod", Family::Reduce},
    {"min", Family::Reduce},
    {"max", Family::Reduce},
    {"argmin", Family::Reduce},
    {"argmax", Family::Reduce},
    {"any", Family::Reduce},
    {"all", Family::Reduce},
    {"count_nonzero", Family::Reduce},
    {"mean", Family::Reduce},
    {"var", Family::Reduce},
    {"std", Family::Reduce},
    {"logsumexp", Family::Reduce},
    {"softmax", Family::Reduce},
}};
const FunctionInfo& info_of(Function f) { return kFunctions[static_cast<std::size_t>(f)]; }

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
  if constexpr (kHalf<T>) {
    constexpr T kLimits[] = {T(0.0), T::from_bits(1), T::from_bits(0x7f7f), T(INFINITY), T(1.0), T(65504.0), T(-0.0)};
    if (r % 4 == 0) return kLimits[(r >> 8) % std::size(kLimits)];
    return r % 4 == 1 ? T::from_bits(static_cast<std::uint16_t>(r >> 16))
                      : T(static_cast<double>(special_value<float>(r | 3)));
  } else if constexpr (kFloating<T>) {
    constexpr T kSpecial[] = {Limits::quiet_NaN(), Limits::infinity(), 0, Limits::denorm_min(),
                              Limits::min(),       Limits::max(),      1};
    const T magnitude = kSpecial[(r >> 8) % std::size(kSpecial)];
    if (r % 4 == 0) return (r & 128) != 0 ? -magnitude : magnitude;
    if (r % 4 == 1)
      return static_cast<T>(std::ldexp(static_cast<double>(r >> 40) - 0x1p23, static_cast<int>(r >> 8) % 60 - 50));
    return static_cast<T>(static_cast<std::int64_t>(r >> 32) % 512) / 32 - 8;
  } else {
    constexpr T kSpecial[] = {Limits::min(),    Limits::max(), 0, static_cast<T>(-1), 1, Limits::min() + 1, 2,
                              Limits::max() - 1};
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
  } else if constexpr (kHalf<T>) {
    if (input.content == Content::Special) return special_value<T>(r);
    return T(static_cast<double>(element<float>(input, k)));
  } else {
    if (kFloating<T> && input.content == Content::Small && small == 0) return (r & 1) != 0 ? static_cast<T>(-0.0) : T{};
    if (input.content == Content::Small) return static_cast<T>(small);
    if (input.content == Content::Special) return special_value<T>(r);
    if constexpr (kFloating<T>) return static_cast<T>(static_cast<double>(r >> 11) * 0x1p-50 - 4);  // [-4, 4)
    return static_cast<T>(static_cast<std::int64_t>(r >> 20) % 2001 - 1000);
  }
}

/// True if a Broadcast input repeats along axis d.
bool repeats(const Input& input, std::size_t d) {
  return input.layout == Layout::Broadcast && ((input.seed >> d) & 1) != 0;
}

Operand operand(const Argument& a, std::span<const Array> values) {
  if (a.value >= 0) return Operand(values[static_cast<std::size_t>(a.value)]);
  switch (a.scalar.kind()) {
    case Scalar::Kind::Bool: return Operand(a.scalar.as_int() != 0);
    case Scalar::Kind::Int: return Operand(a.scalar.as_int());
    case Scalar::Kind::UInt: return Operand(a.scalar.as_uint());
    default: break;
  }
  if (a.scalar.default_dtype() == float32) return Operand(static_cast<float>(a.scalar.as_float()));
  return Operand(a.scalar.as_float());
}

Index index(const Cut& cut) {
  if (cut.at) return Index(*cut.start);
  const auto bound = [](const std::optional<std::int64_t>& b) { return b ? Bound(*b) : Bound(none); };
  return Index(slice(bound(cut.start), bound(cut.stop), bound(cut.step)));
}

/// f(indices...) with as many indices as there are cuts, one to four.
template <class F>
Array with_indices(const std::vector<Cut>& cuts, F f) {
  switch (cuts.size()) {
    case 1: return f(index(cuts[0]));
    case 2: return f(index(cuts[0]), index(cuts[1]));
    case 3: return f(index(cuts[0]), index(cuts[1]), index(cuts[2]));
    default: return f(index(cuts[0]), index(cuts[1]), index(cuts[2]), index(cuts[3]));
  }
}

Axes axes_of(const Statement& s) { return s.axes.empty() ? Axes() : Axes(s.axes); }

Array record_view(const Statement& s, const Array& x) {
  switch (s.function) {
    case Function::BroadcastTo: return broadcast_to(x, s.shape);
    case Function::PermuteDims: return permute_dims(x, s.axes);
    case Function::MatrixTranspose: return matrix_transpose(x);
    case Function::ExpandDims: return expand_dims(x, static_cast<int>(s.axes[0]));
    case Function::Squeeze: return squeeze(x, axes_of(s));
    case Function::Slice: return with_indices(s.cuts, [&](auto... i) { return x(i...); });
    case Function::Reshape: return reshape(x, s.shape);
    case Function::Roll: return roll(x, static_cast<std::int64_t>(s.number), axes_of(s));
    case Function::Pad: {
      std::vector<std::pair<std::int64_t, std::int64_t>> widths(x.shape().size());
      const std::int64_t axis = s.axes[0] < 0 ? s.axes[0] + static_cast<std::int64_t>(widths.size()) : s.axes[0];
      widths[static_cast<std::size_t>(axis)] = {s.shape[0], s.shape[1]};
      return pad(x, widths, static_cast<Pad>(static_cast<int>(s.number)));
    }
    case Function::Windows: return sliding_window_view(x, s.shape, s.axes);
    case Function::Diagonal: return diagonal(x, static_cast<std::int64_t>(s.number));
    default: return flip(x, axes_of(s));
  }
}

Array record_join(const Statement& s, std::span<const Array> values) {
  std::vector<Array> parts;
  for (const Argument& a : s.arguments) parts.push_back(values[static_cast<std::size_t>(a.value)]);
  return s.function == Function::Concat ? concat(parts, static_cast<int>(s.axes[0]))
                                        : stack(parts, static_cast<int>(s.axes[0]));
}

Array record_gather(const Statement& s, std::span<const Array> values) {
  const Array& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Array& i = values[static_cast<std::size_t>(s.arguments[1].value)];
  const Bounds bounds = s.flag ? Bounds::Clip : Bounds::Wrap;
  if (s.function == Function::TakeAlongAxis) return take_along_axis(x, i, static_cast<int>(s.axes[0]), bounds);
  return take(x, i, s.axes.empty() ? std::nullopt : std::optional(static_cast<int>(s.axes[0])), bounds);
}

Array record_order(const Statement& s, const Array& x) {
  const SortOptions options{.axis = static_cast<int>(s.axes[0]), .descending = s.flag};
  return s.function == Function::Sort ? sort(x, options) : argsort(x, options);
}

Array record_put(const Statement& s, std::span<const Array> values) {
  const Array& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Array& i = values[static_cast<std::size_t>(s.arguments[1].value)];
  return put(x, i, operand(s.arguments[2], values), {way_of(s.function), s.flag ? Bounds::Clip : Bounds::Wrap});
}

Array record_update(const Statement& s, std::span<const Array> values) {
  const Array& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Operand v = operand(s.arguments.back(), values);
  if (s.function == Function::SetMask) return with_set(x, values[static_cast<std::size_t>(s.arguments[1].value)], v);
  return with_indices(
      s.cuts, [&](auto... i) { return s.function == Function::Set ? with_set(x, {i...}, v) : with_add(x, {i...}, v); });
}

/// A number as an array: not a view of one, as what full() makes of a shape.
Array number(const Scalar& value) {
  if (value.kind() == Scalar::Kind::Bool) return Array(value.as_int() != 0);
  if (value.is_integer()) return Array(value.as_int());
  if (value.default_dtype() == float32) return Array(static_cast<float>(value.as_float()));
  return Array(value.as_float());
}

Array record_create(const Statement& s, std::span<const Array> values) {
  const auto like = [&]() -> const Array& { return values[static_cast<std::size_t>(s.arguments[0].value)]; };
  const auto scalar = [&](std::size_t i) { return s.arguments[i].scalar; };
  switch (s.function) {
    case Function::Full: return is_number(s) ? number(scalar(0)) : full(s.shape, scalar(0), s.dtype);
    case Function::Zeros: return zeros(s.shape, s.dtype.value_or(float32));
    case Function::Ones: return ones(s.shape, s.dtype.value_or(float32));
    case Function::FullLike: return full_like(like(), scalar(1), s.dtype);
    case Function::ZerosLike: return zeros_like(like(), s.dtype);
    case Function::OnesLike: return ones_like(like(), s.dtype);
    case Function::Arange: return arange(scalar(0), scalar(1), scalar(2), s.dtype);
    case Function::Linspace:
      return linspace(scalar(0), scalar(1), s.shape[0], {.endpoint = s.flag, .dtype = s.dtype.value_or(float32)});
    case Function::Random: {
      random::Generator g(static_cast<std::uint64_t>(s.number));
      const Dtype dtype = s.dtype.value_or(float32);
      if (is_floating(dtype)) return random::uniform(g, s.shape, {.dtype = dtype});
      return dtype == bool_ ? random::bernoulli(g, s.shape, 0.5) : random::integers(g, s.shape, 0, 100, dtype);
    }
    default:
      return eye(s.shape[0],
                 {.columns = s.shape[1], .k = static_cast<std::int64_t>(s.number), .dtype = s.dtype.value_or(float32)});
  }
}

Array record_reduce(const Statement& s, const Array& x) {
  const Axes axes = axes_of(s);
  const std::optional<int> axis = s.axes.empty() ? std::nullopt : std::optional(static_cast<int>(s.axes[0]));
  switch (s.function) {
    case Function::Sum: return sum(x, axes, {.keepdims = s.flag, .dtype = s.dtype});
    case Function::Prod: return prod(x, axes, {.keepdims = s.flag, .dtype = s.dtype});
    case Function::Min: return min(x, axes, {.keepdims = s.flag});
    case Function::Max: return max(x, axes, {.keepdims = s.flag});
    case Function::Argmin: return argmin(x, axis, {.keepdims = s.flag});
    case Function::Argmax: return argmax(x, axis, {.keepdims = s.flag});
    case Function::Any: return any(x, axes, {.keepdims = s.flag});
    case Function::All: return all(x, axes, {.keepdims = s.flag});
    case Function::CountNonzero: return count_nonzero(x, axes, {.keepdims = s.flag});
    case Function::Mean: return mean(x, axes, {.keepdims = s.flag});
    case Function::Var: return var(x, axes, {.keepdims = s.flag, .correction = s.number});
    case Function::Logsumexp: return logsumexp(x, axes, {.keepdims = s.flag});
    case Function::Softmax: return softmax(x, *axis);
    default: return tarry::std(x, axes, {.keepdims = s.flag, .correction = s.number});
  }
}

}  // namespace

std::int64_t count_of(const Extents& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Put way_of(Function put) {
  switch (put) {
    case Function::PutAdd: return Put::Add;
    case Function::PutMultiply: return Put::Multiply;
    case Function::PutMinimum: return Put::Minimum;
    case Function::PutMaximum: return Put::Maximum;
    default: return Put::Set;
  }
}

Family family(Function f) { return info_of(f).family; }
const char* name(Function f) { return info_of(f).name; }

int ulp_bound(Function f, Dtype d) {
  if (f == Function::Logsumexp || f == Function::Softmax) return ulp_bound(Function::Exp, d);
  for (const graph::OpInfo& op : graph::kOpTable)
    if (std::string_view(op.name) == name(f)) return static_cast<int>(std::ceil(d == float64 ? op.ulp64 : op.ulp32));
  return 0;  // composed of ops that round once each
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
  if (count_of(shape) == 0) return p;
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
      if (input.layout == Layout::Copied)
        result.values.push_back(asarray(elements, shape));
      else if (input.layout == Layout::Contiguous)
        result.values.push_back(borrow<T>(base, shape));
      else
        result.values.push_back(borrow<T>(base, shape, at.strides));
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
    case Family::Ternary: {
      const Operand b = operand(s.arguments[1], values), c = operand(s.arguments[2], values);
      if (s.function == Function::Clip) return clip(x(), b, c);
      return s.function == Function::Fma ? fma(operand(s.arguments[0], values), b, c)
                                         : where(operand(s.arguments[0], values), b, c);
    }
    case Family::Astype: return astype(x(), *s.dtype);
    case Family::View: return record_view(s, x());
    case Family::Join: return record_join(s, values);
    case Family::Gather: return record_gather(s, values);
    case Family::Order: return record_order(s, x());
    case Family::Scan:
    case Family::Search:
    case Family::Segment:
    case Family::Own: return record_line(s, values);
    case Family::Put: return record_put(s, values);
    case Family::Update: return record_update(s, values);
    case Family::Create: return record_create(s, values);
    default: return record_reduce(s, x());
  }
}

}  // namespace tarry::test::fuzz
