// The oracle for reductions: the bits by the scalar definition of tree R, and error bounds that know nothing of the
// tree.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "tests/fuzz/oracle.h"
#include "tests/fuzz/oracle_values.h"
#include "tests/helpers/reduction_tree.h"

namespace tarry::test::fuzz {
namespace {

using test::Moments;

/// Values along one axis: element k of the line through element i of the rest.
struct Lines {
  std::int64_t outer = 1, extent = 1, inner = 1;
  Lines(const Extents& shape, std::size_t axis) {
    for (std::size_t d = 0; d < shape.size(); ++d) (d < axis ? outer : d > axis ? inner : extent) *= shape[d];
  }
  [[nodiscard]] std::int64_t count() const { return outer * inner; }
  [[nodiscard]] std::size_t at(std::int64_t line, std::int64_t k) const {
    return static_cast<std::size_t>((line / inner * extent + k) * inner + line % inner);
  }
};

/// `line(lines, i)` for every line along the axis; the shape loses the axis.
template <class State, class Line>
std::vector<State> along(Extents& shape, std::int64_t axis, Line line) {
  const Lines lines(shape, static_cast<std::size_t>(axis));
  std::vector<State> result;
  for (std::int64_t i = 0; i < lines.count(); ++i) result.push_back(line(lines, i));
  shape.erase(shape.begin() + axis);
  return result;
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Int128>(a) + b);
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

template <class T, class Combine>
std::vector<T> reduced(std::vector<T> x, Extents shape, const Extents& axes, Combine combine, T of_nothing = T{}) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    x = along<T>(shape, axes[i], [&](const Lines& lines, std::int64_t line) {
      if (lines.extent == 0) return of_nothing;
      return test::reduce_values<T>(lines.extent, [&](std::int64_t k) { return x[lines.at(line, k)]; }, combine);
    });
  }
  return x;
}

/// For every element of x the number of the result it goes into.
std::vector<std::size_t> targets(const Extents& shape, const Extents& axes) {
  Extents kept = shape;
  for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  const Extents strides = row_major(kept);
  std::vector<std::size_t> result(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t k = 0; k < result.size(); ++k) {
    const Extents at = coordinates(static_cast<std::int64_t>(k), shape);
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (kept[d] != 1) result[k] += static_cast<std::size_t>(at[d] * strides[d]);
  }
  return result;
}

/// x less the first element of its reduced set, where that is finite; rounded once.
template <class T>
std::vector<T> shifted(const std::vector<T>& x, const Extents& shape, const Extents& axes) {
  const std::vector<std::size_t> to = targets(shape, axes);
  std::vector<T> first(x.size());
  std::vector<bool> seen(x.size());
  std::vector<T> y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {  // row-major: index 0 along every reduced axis comes first
    if (!seen[to[k]]) first[to[k]] = std::isfinite(x[k]) ? x[k] : T{0};
    seen[to[k]] = true;
    y[k] = x[k] - first[to[k]];
  }
  return y;
}

template <class T>
std::vector<T> variances(const Statement& s, const std::vector<T>& y, Extents shape, const Extents& axes) {
  std::int64_t weight = 1;
  std::vector<Moments<T>> state;
  const bool is_single =
      std::all_of(axes.begin(), axes.end(), [&](std::int64_t a) { return shape[static_cast<std::size_t>(a)] == 1; });
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t extent = shape[static_cast<std::size_t>(axes[i])];
    const bool leaf = i + 1 == axes.size();
    state = along<Moments<T>>(shape, axes[i], [&](const Lines& lines, std::int64_t line) {
      if (leaf) return test::reduce_moments<T>(extent, [&](std::int64_t k) { return y[lines.at(line, k)]; });
      return test::reduce_moments_merge<T>(extent, weight, [&](std::int64_t k) { return state[lines.at(line, k)]; });
    });
    weight *= extent;
  }
  if (is_single)
    for (std::size_t i = 0; i < y.size(); ++i) state[i].m2 = y[i] - y[i];  // NaN where the element is not finite
  const double divisor = static_cast<double>(weight) - s.number;
  std::vector<T> result;
  for (const Moments<T>& m : state)
    result.push_back(divisor > 0 ? m.m2 / static_cast<T>(divisor) : std::numeric_limits<T>::quiet_NaN());
  return result;
}

/// Additions on the longest path of the chain of trees.
double depth_of(const Extents& shape, const Extents& axes) {
  double depth = 0;
  for (const std::int64_t axis : axes) {
    const auto n = static_cast<double>(shape[static_cast<std::size_t>(axis)]);
    depth += n > 32 ? 2 + std::log2(n) : std::max(n - 1, 0.0);
  }
  return depth;
}

/// Exact quantities of each reduced set.
struct Exact {
  Quad sum = 0, magnitude = 0, squares = 0;
  bool finite = true;
};

template <class T>
std::vector<Exact> exact_sums(const std::vector<T>& x, const Extents& shape, const Extents& axes, std::size_t count) {
  std::vector<Exact> sums(count);
  const std::vector<std::size_t> to = targets(shape, axes);
  for (std::size_t k = 0; k < x.size(); ++k) {
    Exact& e = sums[to[k]];
    const Quad v = x[k];
    e.finite = e.finite && std::isfinite(x[k]);
    e.sum += v;
    e.magnitude += v < 0 ? -v : v;
    e.squares += v * v;
  }
  return sums;
}

/// |got - exact| <= bound for every result whose reduced set neither holds nor nears what is not finite.
template <class T>
std::string judge_bounds(const Statement& s, const std::vector<T>& x, const Tensor& operand, const Extents& axes,
                         std::span<const T> got) {
  using Limits = std::numeric_limits<T>;
  const Quad unit = Limits::epsilon() / 2, tiny = Limits::min();
  const Quad depth = depth_of(operand.type.shape, axes) * 1.01;
  Quad n = 1;
  for (const std::int64_t axis : axes) n *= static_cast<Quad>(operand.type.shape[static_cast<std::size_t>(axis)]);
  const std::vector<Exact> sums = exact_sums(x, operand.type.shape, axes, got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Exact& e = sums[i];
    Quad value = got[i], exact = e.sum, bound = depth * unit * e.magnitude;  // Higham 1993
    Quad largest = e.magnitude;
    if (s.function == Function::Mean) {
      exact = e.sum / n;
      bound = bound / n + 2 * unit * (exact < 0 ? -exact : exact) + tiny * unit * 4;
    } else if (s.function != Function::Sum) {
      // x holds the shifted values. Every step of the merge has a result of at most their squared norm, and an error of
      // a few units of that (Chan, Golub, LeVeque 1983, with condition number 1 for the shifted mean).
      const Quad divisor = n - static_cast<Quad>(s.number);
      if (divisor <= 0) continue;
      exact = (e.squares - e.sum * e.sum / n) / divisor;
      bound = (8 * (depth + 4) * unit * e.squares + 8 * n * tiny) / divisor;
      if (s.function == Function::Std) {
        value = value * value;
        bound += 4 * unit * (exact + bound) + tiny;
      }
      largest = e.squares * n;
    }
    if (!e.finite || largest > static_cast<Quad>(Limits::max()) / 4) continue;
    const Quad distance = value < exact ? exact - value : value - exact;
    if (distance <= bound) continue;
    char message[200];
    std::snprintf(message, sizeof message, "%s %zu is %.17g, exactly %.17g: off by %.3g, bound %.3g", name(s.function),
                  i, static_cast<double>(value), static_cast<double>(exact), static_cast<double>(distance),
                  static_cast<double>(bound));
    return message;
  }
  return "";
}

/// The result of a reduction, in the dtype it accumulates in; the axes are never empty.
template <class T>
std::vector<T> expected_values(const Statement& s, std::vector<T> x, const Extents& shape, const Extents& axes,
                               std::int64_t n) {
  switch (s.function) {
    case Function::Sum: return reduced(x, shape, axes, plus<T>);
    case Function::Prod: return reduced(x, shape, axes, times<T>, T{1});
    case Function::Min: return reduced(x, shape, axes, lesser<T>);
    case Function::Max: return reduced(x, shape, axes, greater<T>);
    default: break;
  }
  std::vector<T> result;
  if constexpr (std::is_floating_point_v<T>) {
    if (s.function == Function::Mean) {
      result = reduced(x, shape, axes, plus<T>);
      for (T& v : result) v = v / static_cast<T>(static_cast<double>(n));
    } else if (n == 0) {
      result.assign(reduced(x, shape, axes, plus<T>).size(), std::numeric_limits<T>::quiet_NaN());
    } else {
      result = variances(s, shifted(x, shape, axes), shape, axes);
      if (s.function == Function::Std)
        for (T& v : result) v = std::sqrt(v);
    }
  }
  return result;
}

/// The operand's elements as T, and the axes of the reduction; a 0-d set is one axis of one element.
template <class T>
struct Reduced {
  std::vector<T> x;
  Extents shape, axes;
  std::int64_t n = 1;
  Reduced(const Statement& s, const Tensor& operand)
      : shape(operand.type.shape), axes(*normalised_axes(s.axes, shape.size())) {
    const auto elements = operand.as<T>();
    x.assign(elements.begin(), elements.end());
    for (const std::int64_t axis : axes) n *= shape[static_cast<std::size_t>(axis)];
    if (!axes.empty()) return;
    axes = {static_cast<std::int64_t>(shape.size())};
    shape.push_back(1);
  }
};

/// T: what the reduction accumulates in.
template <class T>
std::string judge_values(const Statement& s, const Tensor& operand, const Tensor& got) {
  const Reduced<T> r(s, operand);
  const std::vector<T> expected = expected_values<T>(s, r.x, r.shape, r.axes, r.n);
  Tensor wanted(got.type);
  visit(got.type.dtype, [&](auto zero) {
    using Out = decltype(zero);
    const auto out = wanted.as<Out>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = convert<Out>(T(expected[i]));
  });
  if (std::string problem = difference(got, wanted); !problem.empty()) return problem;
  const bool has_bound = s.function == Function::Sum || s.function == Function::Mean || s.function == Function::Var ||
                         s.function == Function::Std;
  if constexpr (std::is_floating_point_v<T>) {
    if (!has_bound || r.n == 0 || is_half(got.type.dtype)) return "";
    Tensor as_axis = operand;
    as_axis.type.shape = r.shape;
    const bool is_moment = s.function == Function::Var || s.function == Function::Std;
    return judge_bounds<T>(s, is_moment ? shifted(r.x, r.shape, r.axes) : r.x, as_axis, r.axes, got.as<T>());
  }
  return "";
}

/// The first of the best; NaN is better than anything.
template <class T>
std::string judge_position(const Statement& s, const Tensor& operand, const Tensor& got) {
  Reduced<T> r(s, operand);
  if (s.axes.empty()) {  // of the flattened array
    r.shape = {static_cast<std::int64_t>(r.x.size())};
    r.axes = {0};
  }
  const Lines lines(r.shape, static_cast<std::size_t>(r.axes[0]));
  const bool largest = s.function == Function::Argmax;
  Tensor wanted(got.type);
  for (std::int64_t i = 0; i < lines.count(); ++i) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < lines.extent; ++k) {
      const T a = r.x[lines.at(i, best)], b = r.x[lines.at(i, k)];
      if (a == a && (b != b || (largest ? b > a : b < a))) best = k;
    }
    wanted.as<std::int64_t>()[static_cast<std::size_t>(i)] = best;
  }
  return difference(got, wanted);
}

std::string judge_count(const Statement& s, const Tensor& operand, const Tensor& got) {
  const std::vector<std::size_t> to = targets(operand.type.shape, *normalised_axes(s.axes, operand.type.shape.size()));
  std::vector<std::int64_t> nonzero(static_cast<std::size_t>(count_of(got.type.shape))), total(nonzero.size());
  visit(operand.type.dtype, [&](auto zero) {
    const auto x = operand.as<decltype(zero)>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      nonzero[to[k]] += convert<bool>(decltype(zero)(x[k])) ? 1 : 0;
      ++total[to[k]];
    }
  });
  Tensor wanted(got.type);
  for (std::size_t i = 0; i < nonzero.size(); ++i) {
    if (s.function == Function::CountNonzero)
      wanted.as<std::int64_t>()[i] = nonzero[i];
    else
      wanted.as<bool>()[i] = s.function == Function::Any ? nonzero[i] > 0 : nonzero[i] == total[i];
  }
  return difference(got, wanted);
}

/// logsumexp and softmax against long double, within the errors of exp, of the subtraction before it and of the sum.
template <class T>
std::string judge_exponential(const Statement& s, const Tensor& operand, const Tensor& got, double unit) {
  const Reduced<T> r(s, operand);
  const std::vector<std::size_t> to = targets(r.shape, r.axes);
  std::size_t count = 0;
  for (const std::size_t t : to) count = std::max(count, t + 1);
  if (s.function == Function::Logsumexp) count = std::max(count, static_cast<std::size_t>(count_of(got.type.shape)));
  std::vector<long double> most(count, -INFINITY), total(count);
  std::vector<bool> nan(count);
  for (std::size_t k = 0; k < r.x.size(); ++k) {
    nan[to[k]] = nan[to[k]] || std::isnan(r.x[k]);
    most[to[k]] = std::max(most[to[k]], static_cast<long double>(r.x[k]));
  }
  for (std::size_t k = 0; k < r.x.size(); ++k)
    if (std::isfinite(most[to[k]])) total[to[k]] += std::exp(static_cast<long double>(r.x[k]) - most[to[k]]);
  const long double own = std::numeric_limits<T>::epsilon(),
                    depth = static_cast<long double>(depth_of(r.shape, r.axes));
  std::string problem;
  const auto judge_one = [&](std::size_t i, long double exact, long double bound, double value) {
    const bool right = std::isnan(exact)   ? std::isnan(value)
                       : std::isinf(exact) ? static_cast<long double>(value) == exact
                                           : std::fabs(value - exact) <= bound;
    if (right || !problem.empty()) return;
    char message[200];
    std::snprintf(message, sizeof message, "%s %zu is %.17g, exactly %.17Lg, bound %.3Lg", name(s.function), i, value,
                  exact, bound);
    problem = message;
  };
  visit(got.type.dtype, [&](auto zero) {
    using Out = decltype(zero);
    const auto out = got.as<Out>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t set = s.function == Function::Softmax ? to[i] : i;
      const auto value = convert<double>(Out(out[i]));
      // |x - max| matters up to 110 in float32 and 750 in float64, where exp is 0.
      const long double terms = own * (depth + 16 + 2 * (std::is_same_v<T, float> ? 110 : 750));
      if (s.function == Function::Logsumexp) {
        const long double exact = nan[set] ? NAN : std::isinf(most[set]) ? most[set] : most[set] + std::log(total[set]);
        judge_one(i, exact, terms + (std::fabs(exact) + std::fabs(most[set])) * (2 * own + unit), value);
      } else {
        const long double exact = nan[set] || std::isinf(most[set])
                                      ? NAN
                                      : std::exp(static_cast<long double>(r.x[i]) - most[set]) / total[set];
        judge_one(i, exact,
                  exact * (terms + unit) + 4 * static_cast<long double>(std::numeric_limits<T>::denorm_min()) +
                      unit * 0x1p-14L,
                  value);
      }
    }
  });
  return problem;
}

}  // namespace

std::string judge_reduction(const Statement& s, const Tensor& x, const Tensor& got) {
  const Dtype wide = is_half(x.type.dtype) ? float32 : x.type.dtype == bool_ ? int32 : x.type.dtype;
  switch (s.function) {
    case Function::Any:
    case Function::All:
    case Function::CountNonzero: return judge_count(s, x, got);
    case Function::Logsumexp:
    case Function::Softmax: {
      // The last rounding of the result, relative to its size.
      const double unit = got.type.dtype == float16 ? 0x1p-11 : got.type.dtype == bfloat16 ? 0x1p-8 : 0;
      if (got.type.dtype == float64) return judge_exponential<double>(s, converted(x, float64), got, unit);
      return judge_exponential<float>(s, converted(x, float32), got, unit);
    }
    case Function::Argmin:
    case Function::Argmax:
    case Function::Min:
    case Function::Max:
      return visit(wide, [&](auto zero) -> std::string {
        using T = decltype(zero);
        if constexpr (std::is_same_v<T, bool> || kHalf<T>)
          return "an extremum of a type that none is computed in";
        else if (s.function == Function::Min || s.function == Function::Max)
          return judge_values<T>(s, converted(x, wide), got);
        else
          return judge_position<T>(s, converted(x, wide), got);
      });
    default: break;
  }
  const Dtype accumulated = is_half(got.type.dtype) ? float32 : got.type.dtype;
  return visit(accumulated, [&](auto zero) -> std::string {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool> || kHalf<T>) return "a reduction gave bool";
    // The elements become those of the result's dtype, and only then wider.
    else
      return judge_values<T>(s, converted(converted(x, got.type.dtype), accumulated), got);
  });
}

}  // namespace tarry::test::fuzz
