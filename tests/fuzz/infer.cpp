// The result of a statement, and when it throws: written from the documents.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/fuzz/program.h"

namespace tarry::test::fuzz {
namespace {

bool is_among(Function f, Function first, Function last) { return f >= first && f <= last; }

/// Functions that make floats of integers.
bool is_float_function(Function f) {
  return f == Function::Divide || f == Function::Reciprocal || is_among(f, Function::Atan2, Function::Nextafter) ||
         is_among(f, Function::Sqrt, kLastOfTable);
}
bool gives_bool(Function f) {
  return is_among(f, Function::Equal, Function::LogicalXor) || is_among(f, Function::Isfinite, Function::LogicalNot);
}
bool is_logical(Function f) {
  return is_among(f, Function::LogicalAnd, Function::LogicalXor) || f == Function::LogicalNot;
}
bool is_bitwise(Function f) {
  return is_among(f, Function::BitwiseAnd, Function::BitwiseXor) || f == Function::BitwiseInvert;
}
bool is_shift(Function f) { return f == Function::LeftShift || f == Function::RightShift; }
bool is_comparison(Function f) { return is_among(f, Function::Equal, Function::GreaterEqual); }
bool is_signed(Dtype d) { return tarry::info(d).kind == DtypeKind::Int; }

/// The dtype of bools and integers beside a fraction, and where they are divided.
Dtype float_for(Dtype d) { return is_floating(d) ? d : itemsize(d) > 2 ? float64 : float32; }

/// A weak scalar changes a dtype only by being of a higher kind.
Dtype promoted(Dtype array, Scalar scalar) {
  if (scalar.kind() == Scalar::Kind::Bool) return array;
  if (scalar.is_integer()) return array == bool_ ? int64 : array;
  return float_for(array);
}

/// True if a comparison orders or equates bools only.
bool are_bools(std::span<const Argument> operands, std::span<const Type> values) {
  return std::all_of(operands.begin(), operands.end(), [&](const Argument& a) {
    return a.value < 0 ? a.scalar.kind() == Scalar::Kind::Bool
                       : values[static_cast<std::size_t>(a.value)].dtype == bool_;
  });
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
  return Type{gives_bool(s.function) ? bool_ : *computed, shape};
}

/// The shape of x(cuts...).
std::optional<Extents> box_of(const std::vector<Cut>& cuts, const Extents& x) {
  if (cuts.empty() || cuts.size() > x.size() || cuts.size() > 4) return std::nullopt;
  Extents shape;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (d >= cuts.size()) {
      shape.push_back(x[d]);
      continue;
    }
    const std::optional<Range> range = range_of(cuts[d], x[d]);
    if (!range) return std::nullopt;
    if (!cuts[d].at) shape.push_back(range->count);
  }
  return shape;
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
        if (x.shape[static_cast<std::size_t>(axis)] == 1)
          result.shape.erase(result.shape.begin() + axis);
        else if (!s.axes.empty())
          return std::nullopt;
      }
      return result;
    }
    case Function::Slice: {
      if (s.cuts.empty() || s.cuts.size() > rank) return std::nullopt;
      const std::optional<Extents> box = box_of(s.cuts, x.shape);
      if (!box) return std::nullopt;
      result.shape = *box;
      return result;
    }
    case Function::Reshape: {
      result.shape = s.shape;
      std::int64_t known = 1, open = 0;
      for (const std::int64_t extent : s.shape)
        (extent == -1 ? open : known) = extent == -1 ? open + 1 : known * extent;
      if (open > 1 || (open == 1 && (known == 0 || count_of(x.shape) % known != 0))) return std::nullopt;
      for (std::int64_t& extent : result.shape)
        if (extent == -1) extent = count_of(x.shape) / known;
      return count_of(result.shape) == count_of(x.shape) ? std::optional(result) : std::nullopt;
    }
    case Function::Pad: {
      const auto axes = normalised_axes(s.axes, rank);
      if (!axes || s.axes.size() != 1 || s.shape.size() != 2 || s.shape[0] < 0 || s.shape[1] < 0) return std::nullopt;
      std::int64_t& extent = result.shape[static_cast<std::size_t>((*axes)[0])];
      if (extent == 0 && s.shape[0] + s.shape[1] > 0) return std::nullopt;
      extent += s.shape[0] + s.shape[1];
      return result;
    }
    case Function::Windows: {
      const auto axes = normalised_axes(s.axes, rank);
      if (!axes || s.axes.size() != 1 || s.shape.size() != 1) return std::nullopt;
      std::int64_t& extent = result.shape[static_cast<std::size_t>((*axes)[0])];
      if (s.shape[0] < 1 || s.shape[0] > extent) return std::nullopt;
      extent -= s.shape[0] - 1;
      result.shape.push_back(s.shape[0]);
      return result;
    }
    case Function::Diagonal: {
      if (rank < 2) return std::nullopt;
      const auto offset = static_cast<std::int64_t>(s.number);
      const std::int64_t rows = x.shape[rank - 2] + std::min<std::int64_t>(offset, 0);
      const std::int64_t columns = x.shape[rank - 1] - std::max<std::int64_t>(offset, 0);
      result.shape.resize(rank - 2);
      result.shape.push_back(std::max<std::int64_t>(std::min(rows, columns), 0));
      return result;
    }
    case Function::Roll:
      if (!normalised_axes(s.axes, rank)) return std::nullopt;
      return result;
    default:
      if (!normalised_axes(s.axes, rank)) return std::nullopt;  // flip
      return result;
  }
}

std::optional<Type> infer_join(const Statement& s, std::span<const Type> values) {
  const Type& first = values[static_cast<std::size_t>(s.arguments[0].value)];
  const auto rank = static_cast<std::int64_t>(first.shape.size()) + (s.function == Function::Stack ? 1 : 0);
  if (s.axes.size() != 1 || s.axes[0] < -rank || s.axes[0] >= rank) return std::nullopt;
  const std::int64_t axis = s.axes[0] < 0 ? s.axes[0] + rank : s.axes[0];
  Type result = first;
  if (s.function == Function::Stack) result.shape.insert(result.shape.begin() + axis, 0);
  std::int64_t& along = result.shape[static_cast<std::size_t>(axis)];
  along = 0;
  for (const Argument& a : s.arguments) {
    const Type& x = values[static_cast<std::size_t>(a.value)];
    const std::optional<Dtype> dtype = fuzz::promoted(result.dtype, x.dtype);
    if (!dtype || x.shape.size() != first.shape.size()) return std::nullopt;
    result.dtype = *dtype;
    for (std::size_t d = 0; d < x.shape.size(); ++d) {
      const bool differs = s.function == Function::Stack || static_cast<std::int64_t>(d) != axis;
      if (differs && x.shape[d] != first.shape[d]) return std::nullopt;
    }
    along += s.function == Function::Stack ? 1 : x.shape[static_cast<std::size_t>(axis)];
  }
  return result;
}

std::optional<Type> infer_gather(const Statement& s, std::span<const Type> values) {
  const Type& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Type& i = values[static_cast<std::size_t>(s.arguments[1].value)];
  const bool along = s.function == Function::TakeAlongAxis;
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  if (i.dtype == bool_ || is_floating(i.dtype) || (along && (s.axes.empty() || i.shape.size() != x.shape.size())))
    return std::nullopt;
  if (!s.axes.empty() && (s.axes.size() != 1 || s.axes[0] < -rank || s.axes[0] >= rank)) return std::nullopt;
  if (s.axes.empty())
    return count_of(x.shape) > 0 || count_of(i.shape) == 0 ? std::optional(Type{x.dtype, i.shape}) : std::nullopt;
  const std::int64_t axis = s.axes[0] < 0 ? s.axes[0] + rank : s.axes[0];
  Type result = x;
  const std::int64_t extent = x.shape[static_cast<std::size_t>(axis)];
  if (along) {
    result.shape = i.shape;
    for (std::int64_t d = 0; d < rank; ++d) {
      std::int64_t& to = result.shape[static_cast<std::size_t>(d)];
      const std::int64_t from = x.shape[static_cast<std::size_t>(d)];
      if (d == axis || from == 1 || from == to) continue;
      if (to != 1) return std::nullopt;
      to = from;
    }
    return extent > 0 || count_of(result.shape) == 0 ? std::optional(result) : std::nullopt;
  }
  result.shape.erase(result.shape.begin() + axis);
  result.shape.insert(result.shape.begin() + axis, i.shape.begin(), i.shape.end());
  return extent > 0 || count_of(i.shape) == 0 ? std::optional(result) : std::nullopt;
}

std::optional<Type> infer_order(const Statement& s, const Type& x) {
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  if (s.axes.size() != 1 || s.axes[0] < -rank || s.axes[0] >= rank) return std::nullopt;
  return Type{s.function == Function::Sort ? x.dtype : int64, x.shape};
}

/// True if values of `v` may be put into an array of `dtype`.
bool goes_into(const Argument& v, Dtype dtype, std::span<const Type> values) {
  if (v.value < 0) return promoted(dtype, v.scalar) == dtype && fits(v.scalar, dtype);
  return fuzz::promoted(dtype, values[static_cast<std::size_t>(v.value)].dtype) == dtype;
}

std::optional<Type> infer_put(const Statement& s, std::span<const Type> values) {
  const Type& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Type& i = values[static_cast<std::size_t>(s.arguments[1].value)];
  const Argument& v = s.arguments[2];
  if (i.dtype == bool_ || is_floating(i.dtype) || (x.dtype == bool_ && s.function != Function::PutSet))
    return std::nullopt;
  if (count_of(x.shape) == 0 && count_of(i.shape) > 0) return std::nullopt;
  if (!goes_into(v, x.dtype, values)) return std::nullopt;
  if (v.value >= 0 && broadcast(values[static_cast<std::size_t>(v.value)].shape, i.shape) != i.shape)
    return std::nullopt;
  return x;
}

std::optional<Type> infer_update(const Statement& s, std::span<const Type> values) {
  const Type& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Argument& v = s.arguments.back();
  std::optional<Extents> box = x.shape;
  if (s.function == Function::SetMask) {
    const Type& mask = values[static_cast<std::size_t>(s.arguments[1].value)];
    if (mask.dtype != bool_ || broadcast(mask.shape, x.shape) != x.shape) return std::nullopt;
  } else {
    box = box_of(s.cuts, x.shape);
  }
  if (!box || !goes_into(v, x.dtype, values) || (s.function == Function::AddTo && x.dtype == bool_))
    return std::nullopt;
  if (v.value >= 0 && broadcast(values[static_cast<std::size_t>(v.value)].shape, *box) != *box) return std::nullopt;
  return x;
}

std::optional<Type> infer_arange(const Statement& s) {
  bool integers = true;
  for (const Argument& a : s.arguments) {
    if (a.scalar.kind() == Scalar::Kind::Bool || !std::isfinite(a.scalar.to_double())) return std::nullopt;
    integers = integers && a.scalar.is_integer();
  }
  const double start = s.arguments[0].scalar.to_double(), stop = s.arguments[1].scalar.to_double();
  const double step = s.arguments[2].scalar.to_double();
  Dtype natural = int64;
  for (const Argument& a : s.arguments) natural = *fuzz::promoted(natural, a.scalar.default_dtype());
  const Dtype dtype = s.dtype.value_or(natural);
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
      const Dtype dtype = s.dtype.value_or(value.default_dtype());
      if (!fits(value, dtype)) return std::nullopt;
      return Type{dtype, s.shape};
    }
    case Function::Zeros:
    case Function::Random:
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
    default:
      return s.shape.size() == 2 ? std::optional(Type{s.dtype.value_or(float32), s.shape}) : std::nullopt;  // eye
  }
}

std::optional<Type> infer_reduce(const Statement& s, const Type& x) {
  const Function f = s.function;
  const auto axes = normalised_axes(s.axes, x.shape.size());
  const bool takes_one = f == Function::Argmin || f == Function::Argmax || f == Function::Softmax;
  if (!axes || (takes_one && s.axes.size() > 1)) return std::nullopt;
  const Dtype statistic = is_floating(x.dtype) ? x.dtype : float64, exponential = float_for(x.dtype);
  if (f == Function::Softmax) {
    if (s.axes.empty() || x.dtype == bool_) return std::nullopt;
    return Type{exponential, x.shape};
  }
  Type result{x.dtype, {}};
  const bool is_extremum = is_among(f, Function::Min, Function::Argmax);
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (std::find(axes->begin(), axes->end(), static_cast<std::int64_t>(d)) == axes->end()) {
      result.shape.push_back(x.shape[d]);
      continue;
    }
    if (is_extremum && x.shape[d] == 0) return std::nullopt;
    if (s.flag) result.shape.push_back(1);
  }
  switch (f) {
    case Function::Sum:
    case Function::Prod:
      result.dtype = s.dtype.value_or(is_floating(x.dtype)                           ? x.dtype
                                      : tarry::info(x.dtype).kind == DtypeKind::UInt ? uint64
                                                                                     : int64);
      return result.dtype == bool_ ? std::nullopt : std::optional(result);
    case Function::Min:
    case Function::Max: break;
    case Function::Argmin:
    case Function::Argmax: result.dtype = int64; break;
    case Function::Any:
    case Function::All: result.dtype = bool_; break;
    case Function::CountNonzero: result.dtype = int64; break;
    case Function::Logsumexp:
      result.dtype = exponential;
      return x.dtype == bool_ ? std::nullopt : std::optional(result);
    default: result.dtype = statistic; break;
  }
  return result;
}

}  // namespace

bool fits(Scalar value, Dtype dtype) {
  const double x = value.to_double();
  if (is_floating(dtype)) {
    if (dtype == float64 || !std::isfinite(x)) return true;
    if (dtype == float16) return std::isfinite(static_cast<float>(Half(x)));
    if (dtype == bfloat16) return std::isfinite(static_cast<float>(BFloat16(x)));
    return std::isfinite(static_cast<float>(x));
  }
  if (value.kind() == Scalar::Kind::Float) return false;
  if (dtype == bool_) return x == 0 || x == 1;
  return visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return value.kind() == Scalar::Kind::UInt ? std::in_range<T>(value.as_uint()) : std::in_range<T>(value.as_int());
    else
      return false;
  });
}

/// The table of the array API standard; where it is silent, docs/reference/numerics.md.
std::optional<Dtype> promoted(Dtype a, Dtype b) {
  if (a == b || b == bool_) return a;
  if (a == bool_) return b;
  if (is_floating(a) && is_floating(b)) return is_half(a) && is_half(b) ? float32 : std::max(a, b);
  if (is_floating(a) || is_floating(b)) return is_floating(a) ? a : b;
  if (is_signed(a) == is_signed(b)) return std::max(a, b);
  const Dtype s = is_signed(a) ? a : b, u = is_signed(a) ? b : a;
  if (u == uint64) return std::nullopt;
  if (itemsize(s) > itemsize(u)) return s;
  return u == uint8 ? int16 : u == uint16 ? int32 : int64;
}

std::optional<Extents> broadcast(const Extents& a, const Extents& b) {
  const Extents& longer = a.size() >= b.size() ? a : b;
  const Extents& shorter = a.size() >= b.size() ? b : a;
  Extents shape = longer;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& extent = shape[shape.size() - 1 - i];
    const std::int64_t other = shorter[shorter.size() - 1 - i];
    if (extent == 1)
      extent = other;
    else if (other != 1 && other != extent)
      return std::nullopt;
  }
  return shape;
}

std::optional<Range> range_of(const Cut& cut, std::int64_t n) {
  const auto wrapped = [n](std::int64_t i) { return i < 0 ? i + n : i; };
  if (cut.at) {
    const std::int64_t i = wrapped(*cut.start);
    return i < 0 || i >= n ? std::nullopt : std::optional(Range{i, 1, 1});
  }
  const std::int64_t step = cut.step.value_or(1);
  if (step == 0) return std::nullopt;
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;  // where ends are cut
  const std::int64_t start = cut.start ? std::clamp(wrapped(*cut.start), low, high) : step > 0 ? 0 : n - 1;
  const std::int64_t stop = cut.stop ? std::clamp(wrapped(*cut.stop), low, high) : step > 0 ? n : -1;
  const std::int64_t reach = step > 0 ? stop - start : start - stop, size = step > 0 ? step : -step;
  return Range{start, step, reach > 0 ? (reach + size - 1) / size : 0};
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
  const Function f = s.function;
  std::span<const Argument> operands = s.arguments;
  if (f == Function::Where) {
    const Argument& condition = operands[0];
    const bool is_bool = condition.value >= 0 ? values[static_cast<std::size_t>(condition.value)].dtype == bool_
                                              : condition.scalar.kind() == Scalar::Kind::Bool;
    if (!is_bool) return std::nullopt;
    operands = operands.subspan(1);
  }
  if (is_comparison(f)) {  // exact: no dtype is chosen
    const bool equates = f == Function::Equal || f == Function::NotEqual;
    return equates || !are_bools(operands, values) ? std::optional(bool_) : std::nullopt;
  }
  const bool numbers = std::all_of(operands.begin(), operands.end(), [](const Argument& a) { return a.value < 0; });
  std::optional<Dtype> dtype = bool_;
  for (const Argument& a : operands) {
    if (a.value < 0 && !numbers) continue;
    dtype = promoted(*dtype, numbers ? a.scalar.default_dtype() : values[static_cast<std::size_t>(a.value)].dtype);
    if (!dtype) return std::nullopt;
  }
  for (const Argument& a : operands)
    if (a.value < 0 && !numbers) dtype = promoted(*dtype, a.scalar);
  if (is_logical(f) && dtype != bool_) return std::nullopt;
  const bool takes_bool = is_logical(f) || is_bitwise(f) || f == Function::Where;
  if (dtype == bool_ && !takes_bool) return std::nullopt;
  if (is_floating(*dtype) && (is_bitwise(f) || is_shift(f))) return std::nullopt;
  if (is_float_function(f)) dtype = float_for(*dtype);
  for (const Argument& a : operands)
    if (a.value < 0 && f != Function::Clip && !fits(a.scalar, *dtype)) return std::nullopt;
  return dtype;
}

namespace {

/// True if every argument that C++ takes as an array is one.
bool has_arrays(const Statement& s) {
  const auto is_array = [](const Argument& a) { return a.value >= 0; };
  switch (family(s.function)) {
    case Family::Binary: return std::any_of(s.arguments.begin(), s.arguments.end(), is_array);
    case Family::Ternary:
      return s.function == Function::Clip ? is_array(s.arguments[0])
                                          : std::any_of(s.arguments.begin(), s.arguments.end(), is_array);
    case Family::Put: return is_array(s.arguments[0]) && is_array(s.arguments[1]);
    case Family::Gather:
    case Family::Scan:
    case Family::Search:
    case Family::Segment:
    case Family::Own:
    case Family::Join: return std::all_of(s.arguments.begin(), s.arguments.end(), is_array);
    case Family::Update:
      return is_array(s.arguments[0]) && (s.function != Function::SetMask || is_array(s.arguments[1]));
    case Family::Create:
      return !is_among(s.function, Function::FullLike, Function::OnesLike) || is_array(s.arguments[0]);
    default: return is_array(s.arguments[0]);
  }
}

}  // namespace

std::optional<Type> infer(const Statement& s, std::span<const Type> values) {
  if (!has_arrays(s)) return std::nullopt;
  const auto x = [&]() -> const Type& { return values[static_cast<std::size_t>(s.arguments[0].value)]; };
  switch (family(s.function)) {
    case Family::Binary:
    case Family::Unary:
    case Family::Ternary: return infer_elementwise(s, values);
    case Family::Astype: return Type{*s.dtype, x().shape};
    case Family::View: return infer_view(s, x());
    case Family::Join: return infer_join(s, values);
    case Family::Gather: return infer_gather(s, values);
    case Family::Order: return infer_order(s, x());
    case Family::Scan:
    case Family::Search:
    case Family::Segment:
    case Family::Own: return infer_line(s, values);
    case Family::Put: return infer_put(s, values);
    case Family::Update: return infer_update(s, values);
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

}  // namespace tarry::test::fuzz
