// Every reduction of the op table through the public functions: every dtype, layout and device, to the bit by the tree
// of docs/reference/numerics.md; what has no defined bits within bounds; compositions against their parts.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <tarry/tarry.h>

#include "graph/op.h"
#include "tests/api/ops_reference.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/reduction_tree.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;
using graph::OpClass;

namespace {

// ---- The public functions. ----

struct Reduction {
  Op op;
  Array (*call)(const Array& x, const Axes& axes, bool keepdims);
};
#define ALONG_AXES(NAME, ENUM)                                                                                       \
  Reduction {                                                                                                        \
    Op::ENUM,                                                                                                        \
        [](const Array& x, const Axes& axes, bool keepdims) { return tarry::NAME(x, axes, {.keepdims = keepdims}); } \
  }
#define ALONG_AXIS(NAME, ENUM)                                                                                       \
  Reduction {                                                                                                        \
    Op::ENUM, [](const Array& x, const Axes& axes, bool keepdims) {                                                  \
      const std::optional<int> axis = axes.all() ? std::nullopt : std::optional(static_cast<int>(axes.vector()[0])); \
      return tarry::NAME(x, axis, {.keepdims = keepdims});                                                           \
    }                                                                                                                \
  }
const Reduction kReductions[] = {
    ALONG_AXES(sum, Sum),   ALONG_AXES(prod, Prod),     ALONG_AXES(min, Min),
    ALONG_AXES(max, Max),   ALONG_AXIS(argmin, ArgMin), ALONG_AXIS(argmax, ArgMax),
    ALONG_AXES(mean, Mean), ALONG_AXES(var, Var),       ALONG_AXES(std, Std),
    ALONG_AXES(any, Any),   ALONG_AXES(all, All),       ALONG_AXES(count_nonzero, CountNonzero),
};
#undef ALONG_AXES
#undef ALONG_AXIS

// ---- Definitions. ----

template <class T>
constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr bool is_float = std::is_floating_point_v<T> || is_half<T>;
template <class T>
using Accumulator =
    std::conditional_t<is_half<T>, float,
                       std::conditional_t<std::is_floating_point_v<T>, T,
                                          std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>,
                                                             std::uint64_t, std::int64_t>>>;
template <class T>
using Statistic = std::conditional_t<is_float<T>, Accumulator<T>, double>;

template <class A>
A plus(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return a + b;
  else
    return static_cast<A>(std::uint64_t(a) + std::uint64_t(b));
}
template <class A>
A times(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return a * b;
  else
    return static_cast<A>(std::uint64_t(a) * std::uint64_t(b));
}
/// True if a is the more extreme: NaN before all, then by value, then by sign of zeros.
template <class A>
bool comes_first(A a, A b, bool low) {
  if (a != a || b != b) return a != a;
  if constexpr (std::is_floating_point_v<A>)
    if (a == b) return std::signbit(a) == low;
  return low ? a < b : b < a;
}

/// A matrix of values, one line per reduced set.
template <class A>
struct Lines {
  std::vector<std::vector<A>> line;
};

template <class A, class Combine>
A tree(const std::vector<A>& x, Combine combine) {
  return test::reduce_values<A>(
      static_cast<std::int64_t>(x.size()), [&](std::int64_t k) { return x[static_cast<std::size_t>(k)]; }, combine);
}
/// Every line, then, for all axes, the results of the lines.
template <class A, class Combine>
std::vector<A> reduced(const Lines<A>& x, bool all, Combine combine) {
  std::vector<A> results;
  for (const auto& line : x.line) results.push_back(tree(line, combine));
  return all ? std::vector<A>{tree(results, combine)} : results;
}

template <class A>
std::vector<std::int64_t> positions(const Lines<A>& x, bool all, bool low) {
  std::vector<std::vector<A>> sets = x.line;
  if (all) {
    for (std::size_t i = 1; i < sets.size(); ++i) sets[0].insert(sets[0].end(), sets[i].begin(), sets[i].end());
    sets.resize(1);
  }
  std::vector<std::int64_t> result;
  for (const auto& set : sets) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < set.size(); ++k)
      if (set[k] != set[best] && comes_first(set[k], set[best], low) && set[best] == set[best]) best = k;
    result.push_back(static_cast<std::int64_t>(best));
  }
  return result;
}

template <class S>
std::vector<S> variances(const Lines<S>& x, bool all) {
  using test::Moments;
  std::vector<Moments<S>> states;
  bool single = false;
  const auto shift = [](S first) { return std::isfinite(first) ? first : S(0); };
  for (const auto& line : x.line) {
    const S x0 = shift(all ? x.line[0][0] : line[0]);
    states.push_back(test::reduce_moments<S>(static_cast<std::int64_t>(line.size()),
                                             [&](std::int64_t k) { return line[static_cast<std::size_t>(k)] - x0; }));
    single = line.size() == 1 && (!all || x.line.size() == 1);
    if (single) states.back().m2 = (line[0] - x0) - (line[0] - x0);
  }
  if (all && !single) {
    const auto weight = static_cast<std::int64_t>(x.line[0].size());
    states = {test::reduce_moments_merge<S>(static_cast<std::int64_t>(states.size()), weight,
                                            [&](std::int64_t k) { return states[static_cast<std::size_t>(k)]; })};
  }
  std::vector<S> result;
  for (const auto& s : states) result.push_back(s.m2 / static_cast<S>(x.line[0].size() * (all ? x.line.size() : 1)));
  return result;
}

template <class To, class From>
Lines<To> converted(const Lines<From>& x) {
  Lines<To> result;
  for (const auto& line : x.line) {
    auto& to = result.line.emplace_back();
    for (const From v : line) to.push_back(static_cast<To>(v));
  }
  return result;
}

/// A value of a C++ type as a cell of its dtype.
template <class T>
test::Cell cell(T value) {
  test::Cell c{dtype_of<T>, 0};
  std::memcpy(&c.bits, &value, sizeof value);
  return c;
}
template <class To, class From>
std::vector<test::Cell> cells(const std::vector<From>& values) {
  std::vector<test::Cell> result;
  for (const From v : values) result.push_back(cell(static_cast<To>(v)));
  return result;
}

template <class T>
std::vector<test::Cell> defined(Op op, const Lines<T>& given, bool all) {
  using A = Accumulator<T>;
  using S = Statistic<T>;
  using Sum = std::conditional_t<is_half<T>, T, A>;
  using Result = std::conditional_t<is_float<T>, T, double>;
  const Lines<A> x = converted<A>(given);
  const Lines<S> s = converted<S>(x);
  const auto n = static_cast<S>(x.line[0].size() * (all ? x.line.size() : 1));
  const auto extreme = [](bool low) { return [low](A a, A b) { return comes_first(a, b, low) ? a : b; }; };
  Lines<std::int64_t> truth;
  for (const auto& line : x.line) {
    auto& to = truth.line.emplace_back();
    for (const A v : line) to.push_back(v != 0);
  }
  const auto add = [](std::int64_t a, std::int64_t b) { return a + b; };
  std::vector<S> statistic;
  switch (op) {
    case Op::Sum: return cells<Sum>(reduced(x, all, plus<A>));
    case Op::Prod: return cells<Sum>(reduced(x, all, times<A>));
    case Op::Min: return cells<T>(reduced(x, all, extreme(true)));
    case Op::Max: return cells<T>(reduced(x, all, extreme(false)));
    case Op::ArgMin: return cells<std::int64_t>(positions(x, all, true));
    case Op::ArgMax: return cells<std::int64_t>(positions(x, all, false));
    case Op::CountNonzero: return cells<std::int64_t>(reduced(truth, all, add));
    case Op::Any: return cells<bool>(reduced(truth, all, [](std::int64_t a, std::int64_t b) { return a | b; }));
    case Op::All: return cells<bool>(reduced(truth, all, [](std::int64_t a, std::int64_t b) { return a & b; }));
    case Op::Mean:
      for (const S total : reduced(s, all, plus<S>)) statistic.push_back(total / n);
      return cells<Result>(statistic);
    case Op::Var: return cells<Result>(variances(s, all));
    case Op::Std:
      for (const S v : variances(s, all)) statistic.push_back(std::sqrt(v));
      return cells<Result>(statistic);
    default: break;
  }
  FAIL("no definition of " << name(op));
  return {};
}

// ---- Arrays. ----

/// Lines with special values, with ordinary ones, and with nothing but zeros of both signs.
template <class T>
Lines<T> lines_of(std::size_t n) {
  Lines<T> x;
  const std::vector<test::Cell> telling = test::telling_values(dtype_of<T>, n + 40);
  for (int i = 0; i < 4; ++i) {
    auto& line = x.line.emplace_back();
    for (std::size_t k = 0; k < n; ++k) {
      T value{};
      const double small = static_cast<double>((k * 7 + static_cast<std::size_t>(i) * 3) % 11) * 0.25;
      if (i == 0) std::memcpy(static_cast<void*>(&value), &telling[k + 18].bits, sizeof value);
      if (i == 1) value = static_cast<T>(small + 0.3);
      if (i == 2 && is_float<T>) value = static_cast<T>(k % 3 == 1 ? -0.0 : 0.0);
      if (i == 3) value = static_cast<T>(k == n / 2 ? 3.0 : small);
      line.push_back(value);
    }
  }
  return x;
}

template <class T>
Array stored(const Lines<T>& x, bool across, bool backwards) {
  const std::size_t rows = x.line.size(), n = x.line[0].size();
  std::vector<T> flat;
  for (std::size_t i = 0; i < rows * n; ++i) {
    const std::size_t at = backwards ? rows * n - 1 - i : i;
    flat.push_back(across ? x.line[at % rows][at / rows] : x.line[at / n][at % n]);
  }
  const auto r = static_cast<std::int64_t>(rows), c = static_cast<std::int64_t>(n);
  return asarray(flat, across ? Shape{c, r} : Shape{r, c});
}

template <class F>
void for_every_type(F f) {
  f(bool{});
  f(std::int8_t{});
  f(std::int16_t{});
  f(std::int32_t{});
  f(std::int64_t{});
  f(std::uint8_t{});
  f(std::uint16_t{});
  f(std::uint32_t{});
  f(std::uint64_t{});
  f(Half{});
  f(BFloat16{});
  f(float{});
  f(double{});
}

template <class T>
std::vector<test::Cell> read(const Array& x) {
  std::vector<test::Cell> result;
  for (const T v : x.to_vector<T>()) result.push_back(cell(v));
  return result;
}
std::vector<test::Cell> cells_of(const Array& x) {
  std::vector<test::Cell> result;
  for_every_type([&](auto zero) {
    if (x.dtype() == dtype_of<decltype(zero)>) result = read<decltype(zero)>(x);
  });
  return result;
}

void check_cells(const Array& got, const std::vector<test::Cell>& expected) {
  const std::vector<test::Cell> cells = cells_of(got);
  REQUIRE(cells.size() == expected.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!test::same_bits(cells[i], expected[i]))
      FAIL_CHECK("result " << i << " is " << test::to_string(cells[i]) << " instead of "
                           << test::to_string(expected[i]));
  }
}

/// How many of the layouts below; every one is a kernel more to compile for each dtype and schedule.
enum class Layouts : std::uint8_t { Main, All };

template <class T>
void check_reductions(std::size_t n, Layouts which) {
  const Lines<T> lines = lines_of<T>(n);
  struct Case {
    const char* layout;
    Op op;
    Array result;
    bool all;
  };
  const Array along = stored(lines, false, false), across = stored(lines, true, false);
  struct Laid {
    const char* name;
    Array x;
    Axes axes;
  };
  std::vector<Laid> layouts = {{"contiguous", along, 1}, {"first axis", across, 0}, {"all axes", along, {}}};
  if (which == Layouts::All) {
    layouts.push_back({"transposed", matrix_transpose(across), -1});
    layouts.push_back({"reversed", flip(stored(lines, false, true)), 1});
    layouts.push_back({"all axes, reversed", flip(stored(lines, false, true)), {}});
  }
  std::vector<Case> cases;
  std::vector<Array> results;
  for (const Reduction& r : kReductions) {
    for (const auto& layout : layouts) {
      cases.push_back({layout.name, r.op, r.call(layout.x, layout.axes, false), layout.axes.all()});
      results.push_back(cases.back().result);
    }
  }
  for (std::size_t i = 0; i < results.size(); i += 64)
    evaluate(std::span(results).subspan(i, std::min<std::size_t>(64, results.size() - i)));
  for (const Case& c : cases) {
    INFO(name(c.op) << " of " << n << " " << name(dtype_of<T>) << ", " << c.layout);
    check_cells(c.result, defined(c.op, lines, c.all));
  }
}

}  // namespace

TEST_CASE("reductions: every reduction of the op table has a function and a test", "[ops][reduce]") {
  const Op composed[] = {Op::Logsumexp, Op::Softmax, Op::Allclose, Op::ArrayEqual};  // below
  const Op internal[] = {Op::Moments, Op::MomentsMerge};
  for (const graph::OpInfo& row : graph::kOpTable) {
    const bool reduces = row.op_class == OpClass::Reduce || (row.op_class == OpClass::Composite && row.op >= Op::Mean);
    if (!reduces) continue;
    INFO("op " << row.name);
    const auto count = std::count_if(std::begin(kReductions), std::end(kReductions),
                                     [&](const Reduction& r) { return r.op == row.op; }) +
                       std::count(std::begin(composed), std::end(composed), row.op) +
                       std::count(std::begin(internal), std::end(internal), row.op);
    CHECK(count == 1);
  }
}

TEST_CASE("reductions: every dtype, layout and length has the bits of the definition", "[ops][reduce][values]") {
  test::on_every_device([](Device) {
    for_every_type([](auto zero) {
      for (const std::size_t n : {5, 300}) check_reductions<decltype(zero)>(n, Layouts::Main);
    });
    for (const std::size_t n : {1, 5, 32, 33, 300}) {
      check_reductions<Half>(n, Layouts::All);
      check_reductions<float>(n, Layouts::All);
    }
  });
}

TEST_CASE("reductions: the interpreter has the bits of the definition in every dtype and layout",
          "[ops][reduce][values]") {
  const test::Setting interpreted("TARRY_DISABLE", "compile");
  const Scope placed(cpu);
  for_every_type([](auto zero) {
    for (const std::size_t n : {1, 5, 32, 33, 300}) check_reductions<decltype(zero)>(n, Layouts::All);
  });
}

TEST_CASE("reductions: kept dimensions hold the same values", "[ops][reduce][values]") {
  const Array x = reshape(astype(arange(60), float32), {3, 4, 5});
  for (const Reduction& r : kReductions) {
    INFO(name(r.op));
    for (const Axes& axes : {Axes{}, Axes{1}, Axes{-1}}) {
      const Array kept = r.call(x, axes, true), dropped = r.call(x, axes, false);
      CHECK(kept.ndim() == 3);
      CHECK(squeeze(kept, axes).shape() == dropped.shape());
      check_cells(kept, cells_of(dropped));
    }
  }
}

TEST_CASE("reductions: nothing reduces to the identity where there is one", "[ops][reduce][values]") {
  const double none = std::numeric_limits<double>::quiet_NaN(), low = -std::numeric_limits<double>::infinity();
  for_every_type([&](auto zero) {
    using T = decltype(zero);
    const Array x = zeros({2, 0}, dtype_of<T>);
    INFO(name(dtype_of<T>));
    const struct {
      const char* name;
      Array result;
      double expected;
    } rows[] = {{"sum", sum(x, 1), 0},
                {"prod", prod(x, 1), 1},
                {"any", any(x, 1), 0},
                {"all", all(x, 1), 1},
                {"count_nonzero", count_nonzero(x, 1), 0},
                {"mean", mean(x, 1), none},
                {"var", var(x, 1), none}};
    for (const auto& row : rows) {
      INFO(row.name);
      const std::vector<double> got = astype(row.result, float64).template to_vector<double>();
      REQUIRE(got.size() == 2);
      CHECK((got[1] == row.expected || (got[1] != got[1] && row.expected != row.expected)));
    }
    CHECK(sum(zeros({0, 2}, dtype_of<T>), 1).shape() == Shape{0});
    if (dtype_of<T> == bool_) return;
    CHECK(astype(logsumexp(x, 1), float64).template to_vector<double>() == std::vector<double>{low, low});
    CHECK(softmax(x).shape() == Shape{2, 0});
    CHECK_THROWS_WITH(max(x, 1), Catch::Contains("nothing has no max"));
    CHECK_THROWS_WITH(argmin(x), Catch::Contains("nothing has no argmin"));
  });
}

TEST_CASE("reductions: sums and products compute in the dtype that is asked for", "[ops][reduce][values]") {
  const Array x = asarray(std::vector<std::uint8_t>{200, 100, 7});
  CHECK(sum(x).item<std::uint64_t>() == 307);
  CHECK(sum(x, {}, {.dtype = uint8}).item<std::uint8_t>() == 51);
  CHECK(sum(x, {}, {.dtype = int8}).item<std::int8_t>() == 51);
  CHECK(prod(x, {}, {.dtype = int16}).item<std::int16_t>() == static_cast<std::int16_t>(140000));
  CHECK(sum(x, {}, {.dtype = float32}).item<float>() == 307.0F);
  // Half of a million ones: float16 holds neither the count nor the partial sums, float32 does.
  CHECK(mean(ones({700, 700}, float16)).item<Half>().bits == Half(1.0).bits);
  CHECK(tarry::std(full({300}, 60000, float16)).item<Half>().bits == 0);
  CHECK(sum(full({40000}, 1, bfloat16), {}, {.dtype = float32}).item<float>() == 40000.0F);
}

TEST_CASE("reductions: long arrays of few columns keep the columns apart", "[ops][reduce][values]") {
  constexpr std::int64_t kRows = std::int64_t{1} << 22;  // in a thousand chunks on a GPU
  test::on_every_device([](Device) {
    for (const std::int64_t n : {2, 3, 5, 6, 7}) {
      INFO(n << " columns");
      const Array column = astype(arange(n), float32),
                  x = astype(reshape(remainder(arange(n * kRows), n), {kRows, n}), float32);
      check_cells(sum(x, 0), cells_of(column * static_cast<float>(kRows)));
      check_cells(var(x, 0), cells_of(zeros({n}, float32)));
    }
  });
}

TEST_CASE("softmax: the bits are those of its parts", "[ops][reduce][values]") {
  test::on_every_device([](Device) {
    for (const std::int64_t n : {1, 7, 33, 1000}) {
      for (const Dtype d : {float16, bfloat16, float32, float64}) {
        INFO(n << " " << name(d));
        const Array x = astype(sin(reshape(astype(arange(4 * n), float32), {4, n}) * 1.7) * 5, d);
        const Array wide = d == float64 ? x : astype(x, float32);
        evaluate(wide);
        const Array exponentials = exp(wide - max(wide, 1, {.keepdims = true}));
        evaluate(exponentials);
        const Array total = sum(exponentials, 1, {.keepdims = true});
        evaluate(total);
        check_cells(softmax(x), cells_of(astype(exponentials / total, d)));
        if (d == float32) check_cells(softmax(x, 0), cells_of(matrix_transpose(softmax(matrix_transpose(x)))));
        const Array largest = max(wide, 1);
        evaluate(largest);
        check_cells(logsumexp(x, 1), cells_of(astype(log(squeeze(total, 1)) + largest, d)));
      }
    }
  });
}

TEST_CASE("softmax: rows sum to 1 and infinities give what IEEE arithmetic does", "[ops][reduce][values]") {
  const std::vector<float> values = {1,        2, 3, 1000,      1001,      1002,      -1e30F, 0,   -INFINITY,
                                     INFINITY, 1, 2, -INFINITY, -INFINITY, -INFINITY, 0,      NAN, 1};
  const Array x = asarray(values, {6, 3});
  const std::vector<float> rows = softmax(x).to_vector<float>(), sums = logsumexp(x, -1).to_vector<float>();
  for (std::size_t i = 0; i < 6; ++i) {
    INFO("row " << i);
    const bool defined = i < 3;
    const float total = rows[3 * i] + rows[3 * i + 1] + rows[3 * i + 2];
    CHECK((defined ? std::fabs(total - 1) <= 3e-7F : std::isnan(total)));
  }
  CHECK(rows[0] == rows[3]);  // only differences count
  CHECK(std::vector<float>{rows[6], rows[7], rows[8]} == std::vector<float>{0, 1, 0});
  CHECK(std::fabs(sums[0] - 3.4076059F) <= 5e-7F);
  CHECK(std::fabs(sums[1] - 1002.4076F) <= 1e-4F);
  CHECK(sums[2] == 0);
  CHECK(sums[3] == INFINITY);
  CHECK(sums[4] == -INFINITY);
  CHECK(std::isnan(sums[5]));
}

TEST_CASE("closeness: tolerances, infinities and NaN as documented", "[ops][reduce][values]") {
  const Array a = array({1.0F, 1.0F, 1e-9F, INFINITY, INFINITY, NAN, 3e38F}),
              b = array({1.000005F, 1.1F, 0.0F, INFINITY, -INFINITY, NAN, -3e38F});
  CHECK(isclose(a, b).to_vector<bool>() == std::vector<bool>{true, false, true, true, false, false, false});
  CHECK(isclose(a, b, {.equal_nan = true}).to_vector<bool>()[5]);
  CHECK(isclose(a, b, {.rtol = 0.2}).to_vector<bool>()[1]);
  CHECK_FALSE(allclose(a, b).item<bool>());
  CHECK(allclose(a, a, {.equal_nan = true}).item<bool>());
  CHECK(allclose(zeros({0}), 1).item<bool>());
  CHECK(allclose(array({std::int64_t{10000000000}}), 10000000001LL).item<bool>());
  CHECK(isclose(array({Half(1.0)}), 1.001).to_vector<bool>()[0] == false);
}

TEST_CASE("equality: shape and every element", "[ops][reduce][values]") {
  const Array a = array({1, 2, 3});
  CHECK(array_equal(a, array({1, 2, 3})).item<bool>());
  CHECK(array_equal(a, array({1.0, 2.0, 3.0})).item<bool>());
  CHECK_FALSE(array_equal(a, array({1, 2, 4})).item<bool>());
  CHECK_FALSE(array_equal(a, reshape(a, {3, 1})).item<bool>());
  CHECK_FALSE(array_equal(array({NAN}), array({NAN})).item<bool>());
  CHECK(array_equal(array({NAN}), array({NAN}), {.equal_nan = true}).item<bool>());
  CHECK(array_equal(array({true, false}), array({true, false})).item<bool>());
  CHECK(array_equal(zeros({0}), zeros({0})).item<bool>());
}

TEST_CASE("reductions: what overflows on the way is there after scaling by a power of two, which is exact",
          "[reduce]") {
  test::on_every_device([](tarry::Device) {
    const tarry::Array large = tarry::asarray(std::vector<float>{3e38F, 3e38F});
    CHECK(tarry::mean(large).item<float>() == std::numeric_limits<float>::infinity());
    CHECK((tarry::mean(large * 0x1p-32F) * 0x1p32F).item<float>() == 3e38F);
    const tarry::Array apart = tarry::asarray(std::vector<float>{1e20F, -1e20F});
    CHECK(tarry::std(apart).item<float>() == std::numeric_limits<float>::infinity());
    CHECK((tarry::std(apart * 0x1p-70F) * 0x1p70F).item<float>() == 1e20F);
    CHECK(tarry::std(tarry::astype(apart, tarry::float64)).item<double>() == static_cast<double>(1e20F));
    const tarry::Array wide = tarry::asarray(std::vector<double>{1e200, -1e200});
    CHECK((tarry::std(wide * 0x1p-660) * 0x1p660).item<double>() == 1e200);
  });
}
