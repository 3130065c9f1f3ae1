// The oracle for indices: places, and what the values become that are put to one place.
#include "tests/fuzz/oracle_values.h"
#include "tests/helpers/reduction_tree.h"

namespace tarry::test::fuzz {
namespace {

/// The old element and the values for it, in the order of the indices.
template <class T>
T joined(Put how, T old, const std::vector<T>& values) {
  using Wide = Computed<T>;
  const auto each = [&](auto combine) {
    T result = old;
    for (const T v : values) result = combine(result, v);
    return result;
  };
  if constexpr (std::is_integral_v<T>) {
    const auto word = [](T x) { return static_cast<std::uint64_t>(x); };
    switch (how) {
      case Put::Set: return values.back();
      case Put::Add: return each([&](T a, T b) { return static_cast<T>(word(a) + word(b)); });
      case Put::Multiply: return each([&](T a, T b) { return static_cast<T>(word(a) * word(b)); });
      case Put::Minimum: return each([](T a, T b) { return lesser(a, b); });
      case Put::Maximum: break;
    }
    return each([](T a, T b) { return greater(a, b); });
  } else {
    const auto wide = [](T x) { return static_cast<Wide>(x); };
    const auto tree = [&](auto combine) {
      const Wide all = test::reduce_values<Wide>(
          static_cast<std::int64_t>(values.size()),
          [&](std::int64_t k) { return wide(values[static_cast<std::size_t>(k)]); }, combine);
      return narrowed<T>(combine(wide(old), all));
    };
    switch (how) {
      case Put::Set: return values.back();
      case Put::Add: return tree([](Wide a, Wide b) { return a + b; });
      case Put::Multiply: return tree([](Wide a, Wide b) { return a * b; });
      case Put::Minimum: return each([&](T a, T b) { return narrowed<T>(lesser(wide(a), wide(b))); });
      case Put::Maximum: break;
    }
    return each([&](T a, T b) { return narrowed<T>(greater(wide(a), wide(b))); });
  }
}

}  // namespace

/// The element of an axis of `extent` that an index takes: wrapped or clipped.
std::int64_t place_of(const Tensor& indices, std::int64_t k, std::int64_t extent, bool clip) {
  std::int64_t index = 0;
  bool beyond = false;  // int64
  std::uint64_t word = 0;
  visit(indices.type.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T value = indices.as<T>()[static_cast<std::size_t>(k)];
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      word = value;
      beyond = value > static_cast<std::uint64_t>(INT64_MAX);
    }
    if constexpr (std::is_integral_v<T>) index = static_cast<std::int64_t>(value);
  });
  if (clip) return beyond ? extent - 1 : std::clamp<std::int64_t>(index, 0, extent - 1);
  if (beyond) return static_cast<std::int64_t>(word % static_cast<std::uint64_t>(extent));
  return (index % extent + extent) % extent;
}

Tensor with_puts(const Statement& s, std::span<const Tensor> values, Tensor result) {
  const Tensor& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Tensor& i = values[static_cast<std::size_t>(s.arguments[1].value)];
  result.bytes = x.bytes;
  visit(result.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto out = result.as<T>();
    const std::vector<T> from = operand<T>(s.arguments[2], values, i.type.shape);
    std::vector<std::vector<T>> groups(out.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::int64_t place =
          place_of(i, static_cast<std::int64_t>(k), static_cast<std::int64_t>(out.size()), s.flag);
      groups[static_cast<std::size_t>(place)].push_back(from[k]);
    }
    for (std::size_t k = 0; k < out.size(); ++k)
      if (!groups[k].empty()) out[k] = joined<T>(way_of(s.function), out[k], groups[k]);
  });
  return result;
}

}  // namespace tarry::test::fuzz
