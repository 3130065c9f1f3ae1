// The oracle for reductions: the bits by the scalar definition of tree R, and error bounds that know nothing of the tree.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "tests/oracle.h"
#include "tests/oracle_values.h"
#include "tests/reduction_tree.h"

namespace tarry::fuzz {
namespace {

using tests::Moments;

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
  if constexpr (std::is_floating_point_v<T>) return a + b;
  else return static_cast<T>(static_cast<Int128>(a) + b);
}
template <class T>
T lesser(T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? a : b;
  return b < a ? b : a;
}
template <class T>
T greater(T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

template <class T, class Combine>
std::vector<T> reduced(std::vector<T> x, Extents shape, const Extents& axes, Combine combine) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    x = along<T>(shape, axes[i], [&](const Lines& lines, std::int64_t line) {
      if (lines.extent == 0) return T{};
      return tests::reduce_values<T>(lines.extent, [&](std::int64_t k) { return x[lines.at(line, k)]; }, combine);
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
  const bool is_single = std::all_of(axes.begin(), axes.end(), [&](std::int64_t a) { return shape[static_cast<std::size_t>(a)] == 1; });
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t extent = shape[static_cast<std::size_t>(axes[i])];
    const bool leaf = i + 1 == axes.size();
    state = along<Moments<T>>(shape, axes[i], [&](const Lines& lines, std::int64_t line) {
      if (leaf) return tests::reduce_moments<T>(extent, [&](std::int64_t k) { return y[lines.at(line, k)]; });
      return tests::reduce_moments_merge<T>(extent, weight, [&](std::int64_t k) { return state[lines.at(line, k)]; });
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
std::string judge_bounds(const Statement& s, const std::vector<T>& x, const Tensor& operand, const Extents& axes, std::span<const T> got) {
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
    std::snprintf(message, sizeof message, "%s %zu is %.17g, exactly %.17g: off by %.3g, bound %.3g", name(s.function), i,
                  static_cast<double>(value), static_cast<double>(exact), static_cast<double>(distance), static_cast<double>(bound));
    return message;
  }
  return "";
}

template <class T>
std::string judge_as(const Statement& s, const Tensor& operand, const Tensor& got) {
  const auto elements = operand.as<T>();
  std::vector<T> x(elements.begin(), elements.end());
  const Extents& shape = operand.type.shape;
  Extents axes = *normalised_axes(s.axes, shape.size());
  std::vector<T> expected;
  std::int64_t n = 1;
  for (const std::int64_t axis : axes) n *= shape[static_cast<std::size_t>(axis)];
  Tensor as_axis = operand;  // a 0-d set is one axis of one element
  if (axes.empty()) {
    as_axis.type.shape.push_back(1);
    axes = {static_cast<std::int64_t>(shape.size())};
  }
  switch (s.function) {
    case Function::Sum: expected = reduced(x, as_axis.type.shape, axes, plus<T>); break;
    case Function::Min: expected = reduced(x, as_axis.type.shape, axes, lesser<T>); break;
    case Function::Max: expected = reduced(x, as_axis.type.shape, axes, greater<T>); break;
    default:
      if constexpr (std::is_floating_point_v<T>) {
        if (s.function == Function::Mean) {
          expected = reduced(x, as_axis.type.shape, axes, plus<T>);
          for (T& v : expected) v = v / static_cast<T>(static_cast<double>(n));
        } else if (n == 0) {
          expected.assign(got.as<T>().size(), std::numeric_limits<T>::quiet_NaN());
        } else {
          x = shifted(x, as_axis.type.shape, axes);
          expected = variances(s, x, as_axis.type.shape, axes);
          if (s.function == Function::Std)
            for (T& v : expected) v = std::sqrt(v);
        }
      }
  }
  Tensor wanted(got.type);
  std::copy(expected.begin(), expected.end(), wanted.as<T>().begin());
  if (std::string problem = difference(got, wanted); !problem.empty()) return problem;
  if constexpr (std::is_floating_point_v<T>) {
    if (s.function != Function::Min && s.function != Function::Max && n > 0) return judge_bounds<T>(s, x, as_axis, axes, got.as<T>());
  }
  return "";
}

}  // namespace

std::string judge_reduction(const Statement& s, const Tensor& x, const Tensor& got) {
  return visit(got.type.dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) return "a reduction gave bool";
    else return judge_as<T>(s, converted(x, got.type.dtype), got);
  });
}

}  // namespace tarry::fuzz
