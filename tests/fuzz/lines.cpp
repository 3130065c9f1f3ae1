// Functions of lines and of groups: running values, searches, segments, and functions that a user wrote. How each is
// recorded, what it gives, and its values by docs/reference/numerics.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/fuzz/oracle.h"
#include "tests/fuzz/oracle_values.h"
#include "tests/helpers/scan_definition.h"

namespace tarry::test::fuzz {
namespace {

constexpr const char* kOwnParameters = "(T x, T a)";
constexpr const char* kOwnBody = "const T d = x - a; if (x > a) return d; return x < a ? d * x : a;";

std::size_t axis_of(const Statement& s, const Extents& shape) {
  return static_cast<std::size_t>(s.axes[0] < 0 ? s.axes[0] + std::ssize(shape) : s.axes[0]);
}
const Type& type_of(const Statement& s, std::size_t argument, std::span<const Type> values) {
  return values[static_cast<std::size_t>(s.arguments[argument].value)];
}
bool has_initial(const Statement& s) { return s.number != 0; }
bool is_extreme(Function f) {
  return f == Function::CumulativeMin || f == Function::CumulativeMax || f == Function::SegmentMin ||
         f == Function::SegmentMax;
}
/// The dtype that sums and products of x have.
Dtype summed(Dtype x) {
  if (is_floating(x)) return x;
  return tarry::info(x).kind == DtypeKind::UInt ? uint64 : int64;
}

std::optional<Type> infer_scan(const Statement& s, std::span<const Type> values) {
  Type result = type_of(s, 0, values);
  const auto rank = std::ssize(result.shape);
  if (s.axes.size() != 1 || s.axes[0] < -rank || s.axes[0] >= rank) return std::nullopt;
  if (s.function == Function::AffineScan)
    return result.dtype != bool_ && result == type_of(s, 1, values) ? std::optional(result) : std::nullopt;
  if (is_extreme(s.function)) return s.dtype || has_initial(s) ? std::nullopt : std::optional(result);
  result.dtype = s.dtype.value_or(summed(result.dtype));
  if (has_initial(s)) ++result.shape[axis_of(s, result.shape)];
  return result.dtype == bool_ ? std::nullopt : std::optional(result);
}

/// True if there is an id for each element of x, instead of each row.
bool is_flat(const Type& x, const Type& ids) { return x.shape == ids.shape; }

std::optional<Type> infer_segments(const Statement& s, std::span<const Type> values) {
  const Type &x = type_of(s, 0, values), &ids = type_of(s, 1, values);
  const bool has_rows = ids.shape.size() == 1 && !x.shape.empty() && x.shape[0] == ids.shape[0];
  if (!is_integral(ids.dtype) || x.dtype == bool_ || (!is_flat(x, ids) && !has_rows)) return std::nullopt;
  Type result{x.dtype, {static_cast<std::int64_t>(s.number)}};
  if (!is_flat(x, ids)) result.shape.insert(result.shape.end(), x.shape.begin() + 1, x.shape.end());
  if (s.function == Function::SegmentSum) result.dtype = summed(x.dtype);
  if (s.function == Function::SegmentMean && !is_floating(x.dtype)) result.dtype = float64;
  return result;
}

/// A number as T, and each operation rounded to it.
template <class T, class Operation>
T rounded(T a, T b, Operation operation) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(operation(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  else
    return narrowed<T>(operation(static_cast<Computed<T>>(a), static_cast<Computed<T>>(b)));
}
constexpr auto kPlus = [](auto a, auto b) { return a + b; };
constexpr auto kMinus = [](auto a, auto b) { return a - b; };
constexpr auto kTimes = [](auto a, auto b) { return a * b; };

template <class T>
struct Affine {
  T scale, shift;
};

/// How the values of T of two neighbours combine.
template <class T>
T combined(Function f, T a, T b) {
  switch (f) {
    case Function::CumulativeSum:
    case Function::SegmentSum:
    case Function::SegmentMean: return rounded(a, b, kPlus);
    case Function::CumulativeProd: return rounded(a, b, kTimes);
    case Function::CumulativeMin:
    case Function::SegmentMin: return lesser(a, b);
    default: return greater(a, b);
  }
}

/// `line(numbers)` gives the results of the elements with these numbers, in their order along the axis.
template <class Line>
void each_line(const Extents& shape, std::size_t axis, Line line) {
  const std::int64_t extent = shape[axis], stride = row_major(shape)[axis];
  if (extent == 0) return;
  for (std::int64_t first = 0; first < count_of(shape); ++first) {
    if (coordinates(first, shape)[axis] != 0) continue;
    std::vector<std::size_t> numbers;
    for (std::int64_t k = 0; k < extent; ++k) numbers.push_back(static_cast<std::size_t>(first + k * stride));
    line(numbers);
  }
}

Tensor affine_scan(const Statement& s, std::span<const Tensor> values, Tensor result) {
  const Extents& shape = result.type.shape;
  visit(result.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto x = values[static_cast<std::size_t>(s.arguments[0].value)].as<T>();
    const auto y = values[static_cast<std::size_t>(s.arguments[1].value)].as<T>();
    const auto join = [](Affine<T> a, Affine<T> b) {
      return Affine<T>{rounded(a.scale, b.scale, kTimes), rounded(rounded(a.shift, b.scale, kTimes), b.shift, kPlus)};
    };
    each_line(shape, axis_of(s, shape), [&](std::vector<std::size_t> numbers) {
      if (s.flag) std::reverse(numbers.begin(), numbers.end());
      std::vector<Affine<T>> states;
      for (const std::size_t n : numbers) states.push_back({x[n], y[n]});
      const std::vector<Affine<T>> scan = test::scanned(std::move(states), join, test::BlockNode::OfRows);
      for (std::size_t k = 0; k < numbers.size(); ++k) result.as<T>()[numbers[k]] = scan[k].shift;
    });
  });
  return result;
}

/// The type that values of dtype d accumulate in.
Dtype accumulator(Dtype d) { return is_half(d) ? float32 : summed(d); }
/// f(T{}) for the T of an accumulator.
template <class F>
void visit_accumulator(Dtype d, F f) {
  visit(d, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!kHalf<T> && sizeof(T) >= sizeof(float)) f(zero);
  });
}

Tensor running(const Statement& s, const Tensor& x, const Type& type) {
  const Dtype wide = accumulator(type.dtype);
  const Tensor from = converted(converted(x, type.dtype), wide);
  Tensor result({wide, type.shape});
  const std::size_t axis = axis_of(s, type.shape);
  visit_accumulator(wide, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t extent = type.shape[axis], stride = row_major(x.type.shape)[axis];
    each_line(type.shape, axis, [&](std::vector<std::size_t> to) {
      Extents at = coordinates(static_cast<std::int64_t>(to[0]), type.shape);
      std::int64_t first = 0;
      for (std::size_t d = 0; d < at.size(); ++d) first += at[d] * row_major(x.type.shape)[d];
      std::vector<T> line;
      for (std::int64_t k = 0; k < extent - (has_initial(s) ? 1 : 0); ++k)
        line.push_back(from.as<T>()[static_cast<std::size_t>(first + k * stride)]);
      if (s.flag) std::reverse(line.begin(), line.end());
      line = test::scanned(std::move(line), [&](T a, T b) { return combined(s.function, a, b); });
      if (has_initial(s)) line.insert(line.begin(), s.function == Function::CumulativeProd ? T(1) : T(0));
      if (s.flag) std::reverse(line.begin(), line.end());
      for (std::size_t k = 0; k < to.size(); ++k) result.as<T>()[to[k]] = line[k];
    });
  });
  return converted(result, type.dtype);
}

/// For each of the searched numbers how many are below it; from the right those equal to it too. NaNs are above all.
Tensor searched(const Statement& s, std::span<const Tensor> values, Tensor result) {
  const Tensor& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Tensor& v = values[static_cast<std::size_t>(s.arguments[1].value)];
  const Dtype dtype = *promoted(x.type.dtype, v.type.dtype);
  const Tensor among = converted(x, dtype), sought = converted(v, dtype);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    using Number = Computed<T>;
    const auto below = [](Number a, Number b) { return a != a ? false : b != b ? true : a < b; };
    for (std::size_t k = 0; k < sought.as<T>().size(); ++k) {
      const auto b = static_cast<Number>(sought.as<T>()[k]);
      result.as<std::int64_t>()[k] = std::ranges::count_if(among.as<T>(), [&](T element) {
        const auto a = static_cast<Number>(element);
        return s.flag ? !below(b, a) : below(a, b);
      });
    }
  });
  return result;
}

std::int64_t group_of(const Tensor& ids, std::int64_t k, std::int64_t groups) {
  const std::int64_t id = converted(ids, int64).as<std::int64_t>()[static_cast<std::size_t>(k)];
  return (id % groups + groups) % groups;
}

/// The value of a group of nothing, whose dtype is given, in its accumulator.
template <class T>
T of_no_element(Function f, Dtype dtype) {
  if constexpr (std::is_floating_point_v<T>) {
    const T most = std::numeric_limits<T>::infinity();
    if (f == Function::SegmentMean) return std::numeric_limits<T>::quiet_NaN();
    return f == Function::SegmentSum ? 0 : f == Function::SegmentMin ? most : -most;
  } else {
    return visit(dtype, [&](auto zero) -> T {
      using Limits = std::numeric_limits<decltype(zero)>;
      if constexpr (!Limits::is_integer) return 0;
      return f == Function::SegmentSum   ? T(0)
             : f == Function::SegmentMin ? convert<T>(Limits::max())
                                         : convert<T>(Limits::lowest());
    });
  }
}

Tensor segmented(const Statement& s, std::span<const Tensor> values, const Type& type) {
  const Tensor& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Tensor& ids = values[static_cast<std::size_t>(s.arguments[1].value)];
  const auto groups = static_cast<std::int64_t>(s.number);
  const Dtype wide = accumulator(type.dtype);
  const Tensor from = converted(converted(x, type.dtype), wide);
  Tensor result({wide, type.shape});
  const std::int64_t inner = count_of(type.shape) / groups;
  std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(groups));
  for (std::int64_t k = 0; k < count_of(ids.type.shape); ++k)
    members[static_cast<std::size_t>(group_of(ids, k, groups))].push_back(k);
  visit_accumulator(wide, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t to = 0; to < count_of(type.shape); ++to) {
      const std::vector<std::int64_t>& rows = members[static_cast<std::size_t>(to / inner)];
      T& out = result.as<T>()[static_cast<std::size_t>(to)];
      if (rows.empty()) {
        out = of_no_element<T>(s.function, type.dtype);
        continue;
      }
      const auto element = [&](std::int64_t k) {
        return from.as<T>()[static_cast<std::size_t>(rows[static_cast<std::size_t>(k)] * inner + to % inner)];
      };
      out = test::reduce_values<T>(std::ssize(rows), element, [&](T a, T b) { return combined(s.function, a, b); });
      if (s.function == Function::SegmentMean) out = static_cast<T>(out / static_cast<T>(rows.size()));
    }
  });
  return converted(result, type.dtype);
}

Tensor by_own(const Statement& s, std::span<const Tensor> values, Tensor result) {
  visit(result.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> x = operand<T>(s.arguments[0], values, result.type.shape);
    const std::vector<T> a = operand<T>(s.arguments[1], values, result.type.shape);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto u = static_cast<Computed<T>>(x[k]), v = static_cast<Computed<T>>(a[k]);
      const T d = rounded(x[k], a[k], kMinus);
      result.as<T>()[k] = u > v ? d : u < v ? rounded(d, x[k], kTimes) : a[k];
    }
  });
  return result;
}

std::string flag_text(const Statement& s, const char* field) { return s.flag ? std::string(", ") + field : ""; }

}  // namespace

std::optional<Type> infer_line(const Statement& s, std::span<const Type> values) {
  switch (family(s.function)) {
    case Family::Scan: return infer_scan(s, values);
    case Family::Segment: return infer_segments(s, values);
    case Family::Search: {
      const Type &x = type_of(s, 0, values), &v = type_of(s, 1, values);
      if (x.shape.size() != 1 || !promoted(x.dtype, v.dtype)) return std::nullopt;
      return Type{int64, v.shape};
    }
    default: {
      const Type &x = type_of(s, 0, values), &a = type_of(s, 1, values);
      const auto both = broadcast(x.shape, a.shape);
      const bool is_numeric = is_floating(x.dtype) || x.dtype == int32 || x.dtype == int64;
      return both && is_numeric && x.dtype == a.dtype ? std::optional(Type{x.dtype, *both}) : std::nullopt;
    }
  }
}

Array record_line(const Statement& s, std::span<const Array> values) {
  const Array& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const auto second = [&]() -> const Array& { return values[static_cast<std::size_t>(s.arguments[1].value)]; };
  const int axis = s.axes.empty() ? 0 : static_cast<int>(s.axes[0]);
  switch (s.function) {
    case Function::CumulativeSum:
    case Function::CumulativeProd: {
      const ScanOptions options{.axis = axis, .dtype = s.dtype, .include_initial = has_initial(s), .reverse = s.flag};
      return s.function == Function::CumulativeSum ? cumulative_sum(x, options) : cumulative_prod(x, options);
    }
    case Function::CumulativeMin: return cumulative_min(x, {.axis = axis, .reverse = s.flag});
    case Function::CumulativeMax: return cumulative_max(x, {.axis = axis, .reverse = s.flag});
    case Function::AffineScan: {
      const auto combine = [](std::span<const Array> a, std::span<const Array> b) {
        return std::vector<Array>{a[0] * b[0], a[1] * b[0] + b[1]};
      };
      return associative_scan(combine, std::array{x, second()}, {.axis = axis, .reverse = s.flag})[1];
    }
    case Function::SearchSorted: return searchsorted(sort(x), second(), {.side = s.flag ? Side::Right : Side::Left});
    case Function::Own: return function("own", kOwnParameters, kOwnBody)(x, second());
    default: break;
  }
  const auto groups = static_cast<std::int64_t>(s.number);
  const bool flat = x.shape() == second().shape();
  const Array rows = flat ? reshape(x, {-1}) : x;
  Array ids = remainder(astype(reshape(second(), {-1}), int64), groups);
  const SegmentOptions options{.groups = groups};
  switch (s.function) {
    case Function::SegmentSum: return segment_sum(rows, ids, options);
    case Function::SegmentMin: return segment_min(rows, ids, options);
    case Function::SegmentMax: return segment_max(rows, ids, options);
    default: return segment_mean(rows, ids, options);
  }
}

Tensor line_values(const Statement& s, std::span<const Tensor> values, const Type& type) {
  switch (family(s.function)) {
    case Family::Scan:
      if (s.function == Function::AffineScan) return affine_scan(s, values, Tensor(type));
      return running(s, values[static_cast<std::size_t>(s.arguments[0].value)], type);
    case Family::Segment: return segmented(s, values, type);
    case Family::Search: return searched(s, values, Tensor(type));
    default: return by_own(s, values, Tensor(type));
  }
}

std::string line_text(const Statement& s) {
  const std::string x = "v" + std::to_string(s.arguments[0].value);
  const std::string y = s.arguments.size() > 1 ? "v" + std::to_string(s.arguments[1].value) : "";
  const std::string axis = s.axes.empty() ? "" : ".axis = " + std::to_string(s.axes[0]);
  switch (s.function) {
    case Function::AffineScan:
      return "ta::associative_scan([](auto a, auto b) { return std::vector<ta::Array>{a[0] * b[0], a[1] * b[0] + "
             "b[1]}; }, std::vector{" +
             x + ", " + y + "}, {" + axis + flag_text(s, ".reverse = true") + "})[1]";
    case Function::SearchSorted:
      return "ta::searchsorted(ta::sort(" + x + "), " + y + ", {.side = ta::Side::" + (s.flag ? "Right" : "Left") +
             "})";
    case Function::Own:
      return std::string("ta::function(\"own\", \"") + kOwnParameters + "\", \"" + kOwnBody + "\")(" + x + ", " + y +
             ")";
    default: break;
  }
  if (family(s.function) == Family::Scan) {
    const std::string dtype =
        s.dtype ? ", .dtype = ta::" + std::string(tarry::name(*s.dtype)) + (*s.dtype == bool_ ? "_" : "") : "";
    return std::string("ta::") + name(s.function) + "(" + x + ", {" + axis + dtype +
           (has_initial(s) ? ", .include_initial = true" : "") + flag_text(s, ".reverse = true") + "})";
  }
  const std::string groups = std::to_string(static_cast<std::int64_t>(s.number));
  return std::string("ta::") + name(s.function) + "(" + x + ".shape() == " + y + ".shape() ? ta::reshape(" + x +
         ", {-1}) : " + x + ", ta::remainder(ta::astype(ta::reshape(" + y + ", {-1}), ta::int64), " + groups +
         "), {.groups = " + groups + "})";
}

}  // namespace tarry::test::fuzz
