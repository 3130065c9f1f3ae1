// The oracle: views, joins, updates, creation and conversion. Elementwise functions are in oracle_elementwise.cpp,
// reductions in oracle_reduce.cpp.
#include "tests/fuzz/oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "tests/fuzz/oracle_values.h"
#include "tests/helpers/same_bits.h"

namespace tarry::test::fuzz {
namespace {

/// For every element of x(cuts...), in its order, the number of the element of x.
std::vector<std::int64_t> box_indices(const std::vector<Cut>& cuts, const Extents& x) {
  std::vector<Range> ranges;
  Extents box;
  for (std::size_t d = 0; d < x.size(); ++d) {
    ranges.push_back(d < cuts.size() ? *range_of(cuts[d], x[d]) : Range{0, 1, x[d]});
    box.push_back(ranges.back().count);
  }
  const Extents strides = row_major(x);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count_of(box)));
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Extents at = coordinates(static_cast<std::int64_t>(k), box);
    for (std::size_t d = 0; d < x.size(); ++d) indices[k] += (ranges[d].first + at[d] * ranges[d].step) * strides[d];
  }
  return indices;
}

std::int64_t modulo(std::int64_t k, std::int64_t n) { return (k % n + n) % n; }

/// The place in an axis of n elements that shows at place i of one that is continued by its own, a step at a time.
std::int64_t continued(int mode, std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) {
    const bool front = i < 0;
    switch (mode) {
      case 1: return front ? 0 : n - 1;                            // edge
      case 2: i = n == 1 ? 0 : front ? -i : 2 * n - 2 - i; break;  // reflect
      case 3: i = front ? -1 - i : 2 * n - 1 - i; break;           // symmetric
      default: i += front ? n : -n;                                // wrap
    }
  }
  return i;
}

/// The place in x of one in a border, a window or a diagonal.
Extents place_in(const Statement& s, const Extents& x, Extents at) {
  const std::size_t rank = x.size();
  if (s.function == Function::Diagonal) {
    const auto offset = static_cast<std::int64_t>(s.number);
    const std::int64_t k = at.back();
    at.back() = k + std::max<std::int64_t>(-offset, 0);
    at.push_back(k + std::max<std::int64_t>(offset, 0));
    return at;
  }
  const auto axis = static_cast<std::size_t>((*normalised_axes(s.axes, rank))[0]);
  if (s.function == Function::Pad) {
    at[axis] = continued(static_cast<int>(s.number), at[axis] - s.shape[0], x[axis]);
    return at;
  }
  at[axis] += at.back();
  at.pop_back();
  return at;
}

/// For every element of the view the number of the element of x that it shows.
std::vector<std::int64_t> view_indices(const Statement& s, const Extents& x, const Extents& shape) {
  const std::size_t rank = x.size();
  if (s.function == Function::BroadcastTo) return gather(x, shape);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = static_cast<std::int64_t>(k);
  if (s.function == Function::Slice) return box_indices(s.cuts, x);
  if (s.function == Function::Pad || s.function == Function::Windows || s.function == Function::Diagonal) {
    const Extents strides = row_major(x);
    for (std::int64_t& k : indices) {
      const Extents at = place_in(s, x, coordinates(k, shape));
      k = 0;
      for (std::size_t d = 0; d < rank; ++d) k += at[d] * strides[d];
    }
    return indices;
  }
  // Extents of 1 move nothing, and neither does another shape.
  if (s.function == Function::ExpandDims || s.function == Function::Squeeze || s.function == Function::Reshape)
    return indices;
  if (s.function == Function::Roll && s.axes.empty()) {  // of the flattened x
    const auto n = static_cast<std::int64_t>(indices.size());
    for (std::int64_t k = 0; k < n; ++k)
      indices[static_cast<std::size_t>(k)] = modulo(k - static_cast<std::int64_t>(s.number), n);
    return indices;
  }
  std::vector<std::size_t> from(rank);  // axis of x behind axis d of the view
  for (std::size_t d = 0; d < rank; ++d) from[d] = d;
  if (s.function == Function::MatrixTranspose) std::swap(from[rank - 1], from[rank - 2]);
  if (s.function == Function::PermuteDims)
    for (std::size_t d = 0; d < rank; ++d)
      from[d] = static_cast<std::size_t>(s.axes[d] < 0 ? s.axes[d] + static_cast<std::int64_t>(rank) : s.axes[d]);
  const bool rolls = s.function == Function::Roll;
  const Extents reversed = s.function == Function::Flip || rolls ? *normalised_axes(s.axes, rank) : Extents{};
  const Extents strides = row_major(x);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Extents at = coordinates(static_cast<std::int64_t>(k), shape);
    indices[k] = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const bool is_reversed =
          std::find(reversed.begin(), reversed.end(), static_cast<std::int64_t>(d)) != reversed.end();
      const std::int64_t moved =
          rolls ? modulo(at[d] - static_cast<std::int64_t>(s.number), shape[d]) : shape[d] - 1 - at[d];
      indices[k] += (is_reversed ? moved : at[d]) * strides[from[d]];
    }
  }
  return indices;
}

Tensor view(const Statement& s, const Tensor& x, Tensor result) {
  const std::vector<std::int64_t> indices = view_indices(s, x.type.shape, result.type.shape);
  const std::size_t size = itemsize(x.type.dtype);
  for (std::size_t k = 0; k < indices.size(); ++k)
    std::copy_n(x.bytes.data() + static_cast<std::size_t>(indices[k]) * size, size, result.bytes.data() + k * size);
  return result;
}

Tensor join(const Statement& s, std::span<const Tensor> values, Tensor result) {
  const auto rank = static_cast<std::int64_t>(result.type.shape.size());
  const auto axis = static_cast<std::size_t>(s.axes[0] < 0 ? s.axes[0] + rank : s.axes[0]);
  const Extents strides = row_major(result.type.shape);
  const std::size_t size = itemsize(result.type.dtype);
  std::int64_t start = 0;
  for (const Argument& a : s.arguments) {
    const Tensor x = converted(values[static_cast<std::size_t>(a.value)], result.type.dtype);
    Extents shape = x.type.shape;
    if (s.function == Function::Stack) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    for (std::int64_t k = 0; k < count_of(shape); ++k) {
      Extents at = coordinates(k, shape);
      at[axis] += start;
      std::int64_t to = 0;
      for (std::size_t d = 0; d < at.size(); ++d) to += at[d] * strides[d];
      std::copy_n(x.bytes.data() + static_cast<std::size_t>(k) * size, size,
                  result.bytes.data() + static_cast<std::size_t>(to) * size);
    }
    start += shape[axis];
  }
  return result;
}

Tensor taken(const Statement& s, std::span<const Tensor> values, Tensor result) {
  const Tensor& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Tensor& i = values[static_cast<std::size_t>(s.arguments[1].value)];
  const Extents from = s.axes.empty() ? Extents{count_of(x.type.shape)} : x.type.shape;
  const auto rank = static_cast<std::int64_t>(from.size());
  const auto axis = static_cast<std::size_t>(s.axes.empty() ? 0 : s.axes[0] < 0 ? s.axes[0] + rank : s.axes[0]);
  const bool along = s.function == Function::TakeAlongAxis;
  const std::size_t size = itemsize(x.type.dtype), wide = along ? 1 : i.type.shape.size();
  const Extents strides = row_major(from), of_index = row_major(i.type.shape);
  for (std::int64_t k = 0; k < count_of(result.type.shape); ++k) {
    const Extents at = coordinates(k, result.type.shape);
    std::int64_t number = 0, element = 0;
    for (std::size_t d = 0; d < i.type.shape.size(); ++d)
      number += (i.type.shape[d] == 1 ? 0 : at[along ? d : axis + d]) * of_index[d];
    for (std::size_t d = 0; d < from.size(); ++d) {
      const std::int64_t place = d == axis ? place_of(i, number, from[d], s.flag) : d < axis ? at[d] : at[d - 1 + wide];
      element += (from[d] == 1 ? 0 : place) * strides[d];
    }
    std::copy_n(x.bytes.data() + static_cast<std::size_t>(element) * size, size,
                result.bytes.data() + static_cast<std::size_t>(k) * size);
  }
  return result;
}

/// Elements of one axis in the order of a stable sort: numbers, -0 before +0, then NaNs.
Tensor ordered(const Statement& s, const Tensor& x, Tensor result) {
  const auto rank = static_cast<std::int64_t>(x.type.shape.size());
  const auto axis = static_cast<std::size_t>(s.axes[0] < 0 ? s.axes[0] + rank : s.axes[0]);
  const std::int64_t extent = x.type.shape[axis], stride = row_major(x.type.shape)[axis];
  const std::size_t size = itemsize(x.type.dtype);
  for (std::int64_t first = 0; first < count_of(x.type.shape); ++first) {
    if (coordinates(first, x.type.shape)[axis] != 0) continue;
    std::vector<std::int64_t> places(static_cast<std::size_t>(extent));
    std::iota(places.begin(), places.end(), 0);
    visit(x.type.dtype, [&](auto tag) {
      using T = decltype(tag);
      const auto before = [&](std::int64_t p, std::int64_t q) {
        const auto a = x.as<T>()[static_cast<std::size_t>(first + p * stride)];
        const auto b = x.as<T>()[static_cast<std::size_t>(first + q * stride)];
        if constexpr (std::is_integral_v<T>) {
          return s.flag ? b < a : a < b;
        } else {
          const auto u = static_cast<double>(a), v = static_cast<double>(b);
          if (u != u || v != v) return u == u && v != v;
          if (u != v) return s.flag ? v < u : u < v;
          return s.flag ? std::signbit(u) < std::signbit(v) : std::signbit(u) > std::signbit(v);
        }
      };
      std::stable_sort(places.begin(), places.end(), before);
    });
    for (std::int64_t k = 0; k < extent; ++k) {
      const std::int64_t place = places[static_cast<std::size_t>(k)];
      std::byte* const to = result.bytes.data() + static_cast<std::size_t>(first + k * stride) *
                                                      (s.function == Function::Sort ? size : sizeof place);
      if (s.function == Function::Sort)
        std::copy_n(x.bytes.data() + static_cast<std::size_t>(first + place * stride) * size, size, to);
      else
        std::memcpy(to, &place, sizeof place);
    }
  }
  return result;
}

template <class T>
T added(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<Int128>(a) + b);
  else
    return narrowed<T>(static_cast<Computed<T>>(a) + static_cast<Computed<T>>(b));
}

Tensor update(const Statement& s, std::span<const Tensor> values, Tensor result) {
  const Tensor& x = values[static_cast<std::size_t>(s.arguments[0].value)];
  const Argument& v = s.arguments.back();
  result.bytes = x.bytes;
  visit(result.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto out = result.as<T>();
    if (s.function == Function::SetMask) {
      const std::vector<T> from = operand<T>(v, values, x.type.shape);
      const std::vector<std::uint8_t> mask = operand<std::uint8_t>(s.arguments[1], values, x.type.shape);
      for (std::size_t k = 0; k < out.size(); ++k)
        if (mask[k] != 0) out[k] = from[k];
      return;
    }
    const std::vector<std::int64_t> box = box_indices(s.cuts, x.type.shape);
    Extents shape;
    for (std::size_t d = 0; d < x.type.shape.size(); ++d) {
      if (d < s.cuts.size() && s.cuts[d].at) continue;
      shape.push_back(d < s.cuts.size() ? range_of(s.cuts[d], x.type.shape[d])->count : x.type.shape[d]);
    }
    const std::vector<T> from = operand<T>(v, values, shape);
    for (std::size_t k = 0; k < box.size(); ++k) {
      T& element = out[static_cast<std::size_t>(box[k])];
      element = s.function == Function::Set ? from[k] : added(element, from[k]);
    }
  });
  return result;
}

/// A word of Philox4x32-10 as docs/reference/numerics.md has it: of draw 0, number i.
std::uint32_t random_word(std::uint64_t key, std::uint64_t i) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(i / 4), 0, static_cast<std::uint32_t>(i / 4 >> 32), 0};
  std::array<std::uint32_t, 2> k = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xd2511f53} * c[0], q = std::uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p)};
    k = {k[0] + 0x9e3779b9, k[1] + 0xbb67ae85};
  }
  return c[i % 4];
}

template <class T>
T random_element(std::uint64_t key, std::uint64_t i) {
  const std::uint32_t word = random_word(key, i);
  if constexpr (std::is_same_v<T, double>)
    return std::ldexp(
        static_cast<double>((random_word(key, 2 * i) | std::uint64_t{random_word(key, 2 * i + 1)} << 32) >> 12), -52);
  else if constexpr (std::is_same_v<T, float>)
    return std::ldexp(static_cast<float>(word >> 9), -23);
  else if constexpr (std::is_same_v<T, Half>)
    return Half(std::ldexp(static_cast<float>(word >> 21), -11));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return BFloat16(std::ldexp(static_cast<float>(word >> 24), -8));
  else if constexpr (std::is_same_v<T, bool>)
    return word >> 9 < 1U << 22;
  else
    return static_cast<T>(std::uint64_t{word} * 100 >> 32);
}

template <class T>
T created(const Statement& s, std::int64_t k, const Extents& shape) {
  const auto scalar = [&](std::size_t i) { return s.arguments[i].scalar; };
  const auto index = static_cast<double>(k);
  switch (s.function) {
    case Function::Full: return convert<T>(scalar(0));
    case Function::FullLike: return convert<T>(scalar(1));
    case Function::Ones:
    case Function::OnesLike: return convert<T>(1);
    case Function::Arange:
      if (scalar(0).is_integer() && scalar(1).is_integer() && scalar(2).is_integer())
        return convert<T>(scalar(0).as_int() + k * scalar(2).as_int());
      return convert<T>(index * scalar(2).to_double() + scalar(0).to_double());
    case Function::Linspace: {
      const double first = scalar(0).to_double(), last = scalar(1).to_double();
      if (s.flag && k == shape[0] - 1 && k > 0) return convert<T>(last);
      const std::int64_t intervals = std::max<std::int64_t>(s.flag ? shape[0] - 1 : shape[0], 1);
      const double step = (last - first) / static_cast<double>(intervals);
      return convert<T>(index * step + first);
    }
    case Function::Random:
      return random_element<T>(static_cast<std::uint64_t>(s.number), static_cast<std::uint64_t>(k));
    case Function::Eye: return convert<T>(k % shape[1] == k / shape[1] + static_cast<std::int64_t>(s.number) ? 1 : 0);
    default: return T{};
  }
}

Tensor create(const Statement& s, Tensor result) {
  visit(result.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto out = result.as<T>();
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = created<T>(s, static_cast<std::int64_t>(k), result.type.shape);
  });
  return result;
}

Tensor cast(const Tensor& x, Tensor result) {
  visit(result.type.dtype, [&](auto to) {
    const auto out = result.as<decltype(to)>();
    visit(x.type.dtype, [&](auto from) {
      const auto in = x.as<decltype(from)>();
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = convert<decltype(to)>(in[k]);
    });
  });
  return result;
}

template <class T>
std::string element_text(T v) {
  char digits[48];
  if constexpr (std::is_floating_point_v<T> || kHalf<T>)
    std::snprintf(digits, sizeof digits, "%a", static_cast<double>(v));
  else
    std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(v));
  return digits;
}

std::string text(const Type& t) {
  std::string s = std::string(tarry::name(t.dtype)) + " (";
  for (const std::int64_t extent : t.shape) s += std::to_string(extent) + ",";
  return s + ")";
}

}  // namespace

Extents row_major(const Extents& shape) {
  Extents strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
  return strides;
}

Extents coordinates(std::int64_t k, const Extents& shape) {
  Extents at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; k /= shape[d]) at[d] = k % shape[d];
  return at;
}

std::vector<std::int64_t> gather(const Extents& from, const Extents& shape) {
  const Extents strides = row_major(from);
  const std::size_t lead = shape.size() - from.size();
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t k = 0; k < indices.size(); ++k) {
    auto rest = static_cast<std::int64_t>(k);
    for (std::size_t d = shape.size(); d-- > lead; rest /= shape[d])
      if (from[d - lead] != 1) indices[k] += rest % shape[d] * strides[d - lead];
  }
  return indices;
}

Tensor converted(const Tensor& x, Dtype dtype) { return cast(x, Tensor({dtype, x.type.shape})); }

std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.type != expected.type) return text(got.type) + " instead of " + text(expected.type);
  return visit(got.type.dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    const auto a = got.as<T>(), b = expected.as<T>();
    const auto at = test::first_difference(a, b);
    if (!at) return "";
    return "element " + std::to_string(*at) + " of " + text(got.type) + ": " + element_text(a[*at]) + " instead of " +
           element_text(b[*at]);
  });
}

std::string judge(const Statement& s, std::span<const Tensor> values, const Tensor& got) {
  std::vector<Type> types;
  for (const Tensor& v : values) types.push_back(v.type);
  const std::optional<Type> type = infer(s, types);
  if (!type) return "the statement should have thrown";
  if (got.type != *type) return text(got.type) + " instead of " + text(*type);
  const auto x = [&]() -> const Tensor& { return values[static_cast<std::size_t>(s.arguments[0].value)]; };
  switch (family(s.function)) {
    case Family::Astype: return difference(got, cast(x(), Tensor(*type)));
    case Family::View: return difference(got, view(s, x(), Tensor(*type)));
    case Family::Join: return difference(got, join(s, values, Tensor(*type)));
    case Family::Gather: return difference(got, taken(s, values, Tensor(*type)));
    case Family::Order: return difference(got, ordered(s, x(), Tensor(*type)));
    case Family::Scan:
    case Family::Search:
    case Family::Segment:
    case Family::Own: return difference(got, line_values(s, values, *type));
    case Family::Put: return difference(got, with_puts(s, values, Tensor(*type)));
    case Family::Update: return difference(got, update(s, values, Tensor(*type)));
    case Family::Create: return difference(got, create(s, Tensor(*type)));
    case Family::Reduce: return judge_reduction(s, x(), got);
    default: break;
  }
  const Dtype computed = *compute_dtype(s, types);
  const int bound = is_floating(computed) ? ulp_bound(s.function, computed) : 0;
  if (bound > 0) return judge_ulps(s, values, got, computed, bound);
  return difference(got, elementwise(s, values, Tensor(*type), computed));
}

}  // namespace tarry::test::fuzz
