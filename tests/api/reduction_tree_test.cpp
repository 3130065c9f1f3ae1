// Reductions through the public API have the bits of tree R (docs/reference/numerics.md): in every layout, along every
// axis, with any number of threads, fused or not, compiled or interpreted, on every device.
#include "tests/helpers/reduction_tree.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <type_traits>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::test::on_every_device;
using ta::test::Setting;

namespace {

using Extents = std::vector<std::int64_t>;

template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
template <class T>
using MeanOf = std::conditional_t<std::is_floating_point_v<T>, T, double>;

/// Elements on the host, row-major.
template <class T>
struct Tensor {
  Extents shape;
  std::vector<T> values;
};

std::int64_t count_of(const Extents& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

Extents row_major(const Extents& shape) {
  Extents strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Calls f(flat, index) for every element, in row-major order.
void for_each_index(const Extents& shape, const std::function<void(std::int64_t, const Extents&)>& f) {
  Extents index(shape.size(), 0);
  for (std::int64_t flat = 0; flat < count_of(shape); ++flat) {
    f(flat, index);
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

std::int64_t dot(const Extents& a, const Extents& b) {
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

/// Floats of many magnitudes, so that every order of a sum rounds differently, with zeros of both signs; integers of
/// all bits, so that sums wrap.
template <class T>
Tensor<T> random_tensor(const Extents& shape, std::uint32_t seed) {
  Tensor<T> x{shape, std::vector<T>(static_cast<std::size_t>(count_of(shape)))};
  std::mt19937_64 bits(seed);
  for (T& v : x.values) {
    const std::uint64_t b = bits();
    if constexpr (std::is_floating_point_v<T>) {
      const T unit = static_cast<T>(static_cast<double>(b >> 11) * 0x1p-53 + 0.5);
      v = b % 29 == 0 ? T{0} : std::ldexp(unit, static_cast<int>(b % 13) - 6);
      if (b & 0x400) v = -v;
    } else {
      v = static_cast<T>(b);
    }
  }
  return x;
}

// ---- What docs/reference/numerics.md says, axis by axis. ----

/// f(first, stride, n) for every line along `axis`, which is left with extent 1.
template <class Out, class F>
std::vector<Out> along(Extents& shape, std::int64_t axis, F f) {
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t n = shape[a], inner = row_major(shape)[a];
  shape[a] = 1;
  std::vector<Out> out(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto line = static_cast<std::int64_t>(i);
    out[i] = f(line / inner * inner * n + line % inner, inner, n);
  }
  return out;
}

template <class T, class Combine>
std::vector<T> reduced(std::vector<T> v, Extents shape, const Extents& axes, Combine combine) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    v = along<T>(shape, axes[i], [&](std::int64_t first, std::int64_t stride, std::int64_t n) {
      const auto element = [&](std::int64_t k) { return v[static_cast<std::size_t>(first + k * stride)]; };
      return n == 0 ? T{0} : ta::test::reduce_values<T>(n, element, combine);
    });
  }
  return v;
}

template <class T>
std::vector<T> variance(const Tensor<T>& x, const Extents& axes) {
  using ta::test::Moments;
  Extents shape = x.shape, kept = row_major(shape);
  for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 0;
  std::vector<Moments<T>> states(x.values.size());
  for_each_index(shape, [&](std::int64_t flat, const Extents& index) {
    const T first = x.values[static_cast<std::size_t>(dot(index, kept))];
    states[static_cast<std::size_t>(flat)].mean =
        x.values[static_cast<std::size_t>(flat)] - (std::isfinite(first) ? first : T{0});
  });
  std::int64_t weight = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const bool leaf = i + 1 == axes.size();
    states = along<Moments<T>>(shape, axes[i], [&](std::int64_t first, std::int64_t stride, std::int64_t n) {
      const auto state = [&](std::int64_t k) { return states[static_cast<std::size_t>(first + k * stride)]; };
      if (leaf) return ta::test::reduce_moments<T>(n, [&](std::int64_t k) { return state(k).mean; });
      return ta::test::reduce_moments_merge<T>(n, weight, state);
    });
    weight *= x.shape[static_cast<std::size_t>(axes[i])];
  }
  std::vector<T> out;
  for (const Moments<T>& s : states) out.push_back((weight == 1 ? s.mean - s.mean : s.m2) / static_cast<T>(weight));
  return out;
}

template <class T>
T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a != a ? a : b;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a != a ? a : b;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}
template <class T>
T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// A reduction of `x` along `axes` (all named) and all its results. Nothing but the sum is there where n is 0.
template <class T>
struct Case {
  Tensor<T> x;
  Extents axes;
  std::vector<SumOf<T>> sum;
  std::vector<T> min, max;
  std::vector<MeanOf<T>> mean, var;

  Case(Tensor<T> given, Extents reduced_axes) : x(std::move(given)), axes(std::move(reduced_axes)) {
    const std::vector<SumOf<T>> wide(x.values.begin(), x.values.end());
    sum = reduced(wide, x.shape, axes, add<SumOf<T>>);
    if (x.values.empty()) return;
    min = reduced(x.values, x.shape, axes, minimum<T>);
    max = reduced(x.values, x.shape, axes, maximum<T>);
    const Tensor<MeanOf<T>> floating{x.shape, {x.values.begin(), x.values.end()}};
    mean = reduced(floating.values, x.shape, axes, add<MeanOf<T>>);
    const auto n = static_cast<MeanOf<T>>(x.values.size() / sum.size());
    for (auto& m : mean) m = m / n;
    var = variance(floating, axes);
  }
};

// ---- The same logical values in memory in different ways. ----

template <class T>
struct Stored {
  const char* layout;
  ta::Array array;
  std::vector<T> memory;  ///< of borrowed arrays
};

template <class T>
Stored<T> transposed(const Tensor<T>& x) {
  const std::size_t rank = x.shape.size();
  const Extents shape(x.shape.rbegin(), x.shape.rend());
  Extents strides = row_major(shape), axes;
  strides = Extents(strides.rbegin(), strides.rend());
  for (std::size_t d = rank; d-- > 0;) axes.push_back(static_cast<std::int64_t>(d));
  std::vector<T> memory(x.values.size());
  for_each_index(x.shape, [&](std::int64_t flat, const Extents& index) {
    memory[static_cast<std::size_t>(dot(index, strides))] = x.values[static_cast<std::size_t>(flat)];
  });
  return {"transposed", ta::permute_dims(ta::asarray(memory, ta::Shape(shape)), axes), {}};
}

template <class T>
Stored<T> strided(const Tensor<T>& x) {
  Extents strides(x.shape.size(), 3);
  for (std::size_t d = x.shape.size(); d-- > 1;) strides[d - 1] = strides[d] * x.shape[d] + 2;
  std::vector<T> memory(static_cast<std::size_t>(strides[0] * x.shape[0] + 1), T{77});
  for_each_index(x.shape, [&](std::int64_t flat, const Extents& index) {
    memory[static_cast<std::size_t>(1 + dot(index, strides))] = x.values[static_cast<std::size_t>(flat)];
  });
  const ta::Array array = ta::borrow(memory.data() + 1, ta::Shape(x.shape), strides);
  return {"strided", array, std::move(memory)};
}

template <class T>
std::vector<Stored<T>> in_every_layout(const Tensor<T>& x) {
  const ta::Shape shape(x.shape);
  std::vector<Stored<T>> all;
  all.push_back({"contiguous", ta::asarray(x.values, shape), {}});
  all.push_back(transposed(x));
  all.push_back(strided(x));
  std::vector<T> backwards(x.values.rbegin(), x.values.rend());
  all.push_back({"flipped", ta::flip(ta::asarray(backwards, shape)), {}});
  Extents strides = row_major(x.shape);
  for (std::int64_t& s : strides) s = -s;
  const T* last = backwards.data() + (backwards.empty() ? 0 : backwards.size() - 1);
  const ta::Array reversed = ta::borrow(last, shape, strides);
  all.push_back({"reversed", reversed, std::move(backwards)});
  return all;
}

// ---- Many arrays in one evaluate. ----

class Batch {
 public:
  template <class T>
  void expect(std::string what, const ta::Array& x, const std::vector<T>& values) {
    arrays_.push_back(x);
    checks_.push_back([what = std::move(what), x, &values]() -> std::string {
      const std::vector<T> got = x.to_vector<T>();
      const auto at = ta::test::first_difference<T>(got, values);
      if (!at) return "";
      const auto print = [](const std::vector<T>& v, std::size_t i) {
        return i < v.size() ? Catch::Detail::stringify(v[i]) : "none";
      };
      return what + ": element " + std::to_string(*at) + " is " + print(got, *at) + " instead of " + print(values, *at);
    });
  }

  template <class T>
  void expect_all(const Case<T>& c, const char* layout, const ta::Array& x) {
    const std::string what = std::string(layout) + " " + std::string(name(x.dtype())) + " " +
                             ta::Shape(c.x.shape).str() + " along " + ta::Shape(c.axes).str() + ", ";
    const ta::Axes axes = c.axes.size() == c.x.shape.size() ? ta::Axes{} : ta::Axes(c.axes);
    expect(what + "sum", ta::sum(x, axes), c.sum);
    if (c.x.values.empty()) return;
    expect(what + "min", ta::min(x, axes, {.keepdims = true}), c.min);
    expect(what + "max", ta::max(x, axes), c.max);
    expect(what + "mean", ta::mean(x, axes, {.keepdims = true}), c.mean);
    expect(what + "var", ta::var(x, axes), c.var);
  }

  /// Computes everything; says what differs.
  void check() {
    ta::evaluate(arrays_);
    int failures = 0;
    for (const auto& c : checks_) {
      const std::string problem = c();
      if (!problem.empty() && ++failures <= 5) FAIL_CHECK(problem);
    }
    CHECK(failures == 0);
  }

 private:
  std::vector<ta::Array> arrays_;
  std::vector<std::function<std::string()>> checks_;
};

/// One evaluate per array: together, equal shapes of several layouts would be one kernel, as large as it is rare.
template <class T>
void check_layouts(const std::vector<Case<T>>& cases) {
  for (const Case<T>& c : cases) {
    for (const Stored<T>& s : in_every_layout(c.x)) {
      Batch batch;
      batch.expect_all(c, s.layout, s.array);
      batch.check();
    }
  }
}

/// On every device; on the CPU with 1, 2 and 7 threads.
void with_every_thread_count(const std::function<void()>& body) {
  on_every_device([&](ta::Device device) {
    if (device != ta::cpu) return body();
    for (const char* threads : {"1", "2", "7"}) {
      INFO(threads << " threads");
      const Setting count("TARRY_NUM_THREADS", threads);
      body();
    }
  });
}

const Extents kExtents = {0,   1,   31,   32,   33,   97,   127,  128,  129,   511,
                          512, 513, 1023, 1024, 1025, 4095, 4097, 7919, 65535, 65537};

template <class T>
std::vector<Case<T>> inner_outer_and_full(const Extents& extents) {
  std::vector<Case<T>> cases;
  std::uint32_t seed = 1;
  for (const std::int64_t n : extents) {
    cases.emplace_back(random_tensor<T>({2, n}, seed++), Extents{1});
    cases.emplace_back(random_tensor<T>({n, 3}, seed++), Extents{0});
    cases.emplace_back(random_tensor<T>({n}, seed++), Extents{0});
  }
  return cases;
}

template <class T>
std::vector<Case<T>> several_axes() {
  std::vector<Case<T>> cases;
  const std::vector<std::pair<Extents, Extents>> rows = {
      {{5, 33, 129}, {0, 1, 2}}, {{5, 33, 129}, {0, 2}},      {{129, 5, 33}, {0, 1}},   {{33, 129, 5}, {1, 2}},
      {{4, 129, 6}, {1}},        {{2, 3, 4, 130}, {0, 1, 3}}, {{1, 200, 1}, {0, 1, 2}}, {{600, 1, 40}, {0, 1}},
  };
  std::uint32_t seed = 1000;
  for (const auto& [shape, axes] : rows) cases.emplace_back(random_tensor<T>(shape, seed++), axes);
  return cases;
}

template <class T>
void check_everywhere(const std::vector<Case<T>>& cases) {
  with_every_thread_count([&] { check_layouts(cases); });
}

}  // namespace

TEMPLATE_TEST_CASE("tree R: inner, outer and full reductions of every layout have its bits", "[runtime][reduction]",
                   float, double, std::int32_t, std::int64_t) {
  check_everywhere(inner_outer_and_full<TestType>(kExtents));
}

TEMPLATE_TEST_CASE("tree R: several axes are reduced one by one, the highest first", "[runtime][reduction]", float,
                   std::int64_t) {
  check_everywhere(several_axes<TestType>());
}

TEST_CASE("tree R: three million elements in every layout", "[runtime][reduction]") {
  check_everywhere(inner_outer_and_full<float>({3'000'017}));
}

TEST_CASE("tree R: broadcast elements count as often as they are read", "[runtime][reduction]") {
  struct Row {
    Extents from, to, axes;
  };
  std::vector<std::pair<Tensor<float>, Case<float>>> cases;
  for (const std::int64_t n : {31, 33, 129, 1025, 4097}) {
    for (const Row& row : {Row{{n}, {3, n}, {1}}, Row{{3, 1}, {3, n}, {1}}, Row{{n}, {3, n}, {0}},
                           Row{{n, 1}, {n, 5}, {0}}, Row{{1, 1}, {n, 5}, {0, 1}}, Row{{n, 1}, {n, 40}, {0, 1}}}) {
      Tensor<float> from = random_tensor<float>(row.from, static_cast<std::uint32_t>(n)), to{row.to, {}};
      Extents strides(row.to.size() - row.from.size(), 0);
      const Extents own = row_major(row.from);
      for (std::size_t d = 0; d < own.size(); ++d) strides.push_back(row.from[d] == 1 ? 0 : own[d]);
      for_each_index(row.to, [&](std::int64_t, const Extents& index) {
        to.values.push_back(from.values[static_cast<std::size_t>(dot(index, strides))]);
      });
      cases.emplace_back(std::move(from), Case<float>(std::move(to), row.axes));
    }
  }
  with_every_thread_count([&] {
    Batch batch;
    for (const auto& [from, c] : cases)
      batch.expect_all(c, "broadcast",
                       ta::broadcast_to(ta::asarray(from.values, ta::Shape(from.shape)), ta::Shape(c.x.shape)));
    batch.check();
  });
}

TEST_CASE("tree R: infinities, NaN, denormals and zeros of both signs", "[runtime][reduction]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> rare(2000);  // of which one is NaN, and the largest is zero
  for (std::size_t i = 0; i < rare.size(); ++i) rare[i] = -0.001f * static_cast<float>(i % 1000);
  rare.back() = nan;
  const std::vector<std::vector<float>> palettes = {{0.0f, -0.0f},
                                                    {-0.0f},
                                                    {1e-45f, -1e-45f, 1e-39f, -0.0f},
                                                    {inf, 1, 2, 3},
                                                    {1, 2, 3, -inf, inf},
                                                    {1, nan, 2, -0.0f},
                                                    {3e38f, 2e38f, 1e38f}};
  std::vector<Case<float>> cases;
  const auto add = [&](const std::vector<float>& palette, std::int64_t n) {
    Tensor<float> x{{2, n}, {}};
    std::mt19937 pick(static_cast<unsigned>(n));
    for (std::int64_t i = 0; i < 2 * n; ++i) x.values.push_back(palette[pick() % palette.size()]);
    cases.emplace_back(Tensor<float>{{n, 2}, x.values}, Extents{0});
    cases.emplace_back(std::move(x), Extents{1});
  };
  for (const std::vector<float>& palette : palettes)
    for (const std::int64_t n : {5, 40, 130, 1100}) add(palette, n);
  add(rare, 4500);
  with_every_thread_count([&] { check_layouts(cases); });
}

TEST_CASE("tree R: fused with what makes its elements, the same bits", "[runtime][reduction]") {
  for (const std::int64_t n : {33, 129, 1025, 65537}) {
    const Tensor<float> x = random_tensor<float>({2, n}, 5), y = random_tensor<float>({2, n}, 6);
    Tensor<float> products = x;
    for (std::size_t i = 0; i < products.values.size(); ++i) products.values[i] = x.values[i] * y.values[i];
    const Case<float> inner(products, {1}), outer(products, {0}), full(products, {0, 1});
    with_every_thread_count([&] {
      const std::vector<Stored<float>> xs = in_every_layout(x), ys = in_every_layout(y);
      for (std::size_t i = 0; i < xs.size(); ++i) {
        Batch batch;
        const ta::Array z = xs[i].array * ys[(i + 1) % ys.size()].array;
        for (const Case<float>* c : {&inner, &outer, &full}) batch.expect_all(*c, xs[i].layout, z);
        if (i == 0) batch.expect("products", z, products.values);
        batch.check();
      }
    });
  }
}

TEST_CASE("tree R: the interpreter and the unfused engine have its bits", "[runtime][reduction]") {
  const ta::Scope on_cpu(ta::cpu);
  const Extents extents = {0, 1, 31, 32, 33, 128, 129, 513, 1025, 4097, 65537};
  for (const char* disabled : {"compile", "compile,fusion"}) {
    INFO("without " << disabled);
    const Setting off("TARRY_DISABLE", disabled);
    check_layouts(inner_outer_and_full<float>(extents));
    check_layouts(inner_outer_and_full<std::int32_t>(extents));
    check_layouts(several_axes<float>());
    check_layouts(several_axes<double>());
  }
}

TEST_CASE("determinism: 50 runs, any threads, two layouts: one result", "[runtime][reduction]") {
  const Extents shape = {13, 322'639};  // 2^22 + 3 elements
  const Case<float> full(random_tensor<float>(shape, 9), {0, 1});
  with_every_thread_count([&] {
    for (const Stored<float>& stored :
         {Stored<float>{"contiguous", ta::asarray(full.x.values, ta::Shape(shape)), {}}, transposed(full.x)}) {
      INFO(stored.layout);
      int wrong = 0;
      for (int run = 0; run < 50; ++run) {
        const ta::Array sum = ta::sum(stored.array), max = ta::max(stored.array), var = ta::var(stored.array);
        ta::evaluate(sum, max, var);
        wrong += !ta::test::same_bits(sum.item<float>(), full.sum[0]) ||
                 !ta::test::same_bits(max.item<float>(), full.max[0]) ||
                 !ta::test::same_bits(var.item<float>(), full.var[0]);
      }
      CHECK(wrong == 0);
    }
  });
}
