// Random bodies: scans beside their levels one by one, with and without what may change them.
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <tarry/loop.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

using Arrays = std::vector<ta::Array>;
using Random = std::mt19937_64;

int below(Random& r, int n) { return std::uniform_int_distribution<int>(0, n - 1)(r); }

/// A scan as data: drawn once, recorded as often as is wanted.
struct Drawn {
  struct Operation {
    int kind;
    std::size_t a, b, c;
  };
  ta::Dtype dtype;
  int axis;
  bool reverse;
  Arrays init, xs, outside;
  std::vector<Operation> body, behind;  ///< behind: of what is carried out of the loop
  std::vector<std::size_t> carries, ys, asked;
  bool computed_xs;
  bool asks_all;  ///< for what is carried out and stacked too
  bool mixes;     ///< lanes, at some levels of its operations

  /// An operation that mixes lanes: its result has the shape and the dtype of a.
  static ta::Array mixed(int kind, const ta::Array& a, const ta::Array& b) {
    if (a.ndim() == 0) return a + ta::astype(ta::sum(b), a.dtype());
    switch (kind) {
      case 7: return a - ta::astype(ta::max(a, -1, {.keepdims = true}), a.dtype());
      case 8: return ta::flip(a, {0});
      case 9: return ta::roll(a, 1, {-1});
      case 10: return ta::sort(a);
      case 11: return ta::astype(ta::cumulative_sum(a, {.axis = -1}), a.dtype());
      case 12: return ta::concat(Arrays{a(ta::slice(1, ta::none)), a(ta::slice(0, 1))}, 0);
      default: {
        return ta::scan(
                   ta::min(b) + ta::zeros(a(0).shape(), a.dtype()), a,
                   [&](const ta::Array& c, const ta::Array& x) { return std::pair(ta::maximum(c, x), c + ta::min(b)); })
            .second;
      }
    }
  }

  static void compute(const std::vector<Operation>& operations, Arrays& values) {
    for (const Operation& o : operations) {
      const ta::Array &a = values[o.a], &b = values[o.b];
      switch (o.kind) {
        case 0: values.push_back(a + b); break;
        case 1: values.push_back(a - b); break;
        case 2: values.push_back(a * b); break;
        case 3: values.push_back(ta::minimum(a, b)); break;
        case 4: values.push_back(ta::maximum(a, b)); break;
        case 5: values.push_back(-a); break;
        case 6: values.push_back(ta::where(a < b, a, values[o.c])); break;
        default: values.push_back(mixed(o.kind, a, b)); break;
      }
    }
  }

  [[nodiscard]] ta::Scanned step(std::span<const ta::Array> c, std::span<const ta::Array> x) const {
    Arrays values(c.begin(), c.end());
    values.insert(values.end(), x.begin(), x.end());
    values.insert(values.end(), outside.begin(), outside.end());
    compute(body, values);
    ta::Scanned result;
    for (const std::size_t v : carries) result.carries.push_back(values[v]);
    for (const std::size_t v : ys) {
      const bool has_axis =
          values[v].ndim() >= axis;  // a number has no place for the one that results are stacked along
      result.ys.push_back(has_axis ? values[v] : values[v] + ta::zeros_like(x[0]));
    }
    return result;
  }

  /// Values made of the carries behind the loop.
  [[nodiscard]] Arrays followed(const Arrays& last) const {
    Arrays values = last, results;
    values.insert(values.end(), outside.begin(), outside.end());
    compute(behind, values);
    for (const std::size_t v : asked) results.push_back(values[v]);
    return results;
  }

  /// The xs as a program has them: in memory, or computed before.
  [[nodiscard]] Arrays given() const {
    Arrays all;
    for (const ta::Array& x : xs) all.push_back(computed_xs ? ta::maximum(x, -x) - x : x);
    return all;
  }
  [[nodiscard]] ta::Scanned scanned() const {
    return ta::scan(init, given(), [this](auto c, auto x) { return step(c, x); }, {.axis = axis, .reverse = reverse});
  }
};

ta::Array noise(Random& r, const ta::Shape& shape, ta::Dtype dtype) {
  std::vector<double> v(static_cast<std::size_t>(ta::zeros(shape).size()));
  for (double& x : v) x = below(r, 17) - 8;
  return ta::astype(ta::reshape(ta::asarray(v), shape), dtype);
}

Drawn draw(Random& r) {
  const ta::Dtype dtypes[] = {ta::float64, ta::float32, ta::int32, ta::uint8, ta::float16};
  Drawn d;
  d.dtype = dtypes[below(r, 5)];
  const int rank = below(r, 3), levels = 1 + below(r, 12);
  d.mixes = below(r, 3) == 0;
  d.axis = d.mixes ? 0 : below(r, rank + 1);
  d.reverse = below(r, 2) == 0;
  d.computed_xs = below(r, 2) == 0;
  std::vector<std::int64_t> lanes;
  for (int i = 0; i < rank; ++i) lanes.push_back(below(r, 4) == 0 ? 1 : 1 + below(r, 40));
  const auto narrowed = [&] {
    std::vector<std::int64_t> shape = lanes;
    for (std::int64_t& extent : shape)
      if (!d.mixes && below(r, 4) == 0) extent = 1;
    return shape;
  };
  for (int i = 1 + below(r, 3); i > 0; --i) {
    std::vector<std::int64_t> shape = narrowed();
    shape.insert(shape.begin() + d.axis, levels);
    d.xs.push_back(noise(r, shape, d.dtype));
  }
  for (int i = below(r, 4); i > 0; --i)
    d.init.push_back(noise(r, !d.mixes && below(r, 3) == 0 ? ta::Shape() : narrowed(), d.dtype));
  for (int i = below(r, 2); i > 0; --i) d.outside.push_back(noise(r, narrowed(), d.dtype));
  std::size_t values = d.init.size() + d.xs.size() + d.outside.size();
  const auto any = [&] { return static_cast<std::size_t>(below(r, static_cast<int>(values))); };
  for (int i = 1 + below(r, 6); i > 0; --i, ++values)
    d.body.push_back({below(r, d.mixes ? 14 : 7), any(), any(), any()});
  for (std::size_t i = 0; i < d.init.size(); ++i) d.carries.push_back(any());
  for (int i = 1 + below(r, 2); i > 0; --i) d.ys.push_back(any());
  d.asks_all = below(r, 2) == 0;
  values = d.init.size() + d.outside.size();
  for (int i = values == 0 ? 0 : below(r, 5); i > 0; --i, ++values)
    d.behind.push_back({below(r, 7), any(), any(), any()});
  for (int i = values == 0 ? 0 : below(r, 3); i > 0; --i) d.asked.push_back(any());
  return d;
}

void check_bits(const ta::Array& got, const ta::Array& expected) {
  REQUIRE(got.dtype() == expected.dtype());
  const auto a = ta::astype(got, ta::float64).to_vector<double>();
  const auto b = ta::astype(ta::broadcast_to(expected, got.shape()), ta::float64).to_vector<double>();
  for (std::size_t k = 0; k < a.size(); ++k) REQUIRE(same_bits<double>(a[k], b[k]));
}

/// A scan gives the bits of its levels one by one.
void check(const Drawn& d) {
  const ta::Scanned got = d.scanned();
  const Arrays followed = d.followed(got.carries);
  Arrays all = followed, carries = d.init;
  if (d.asks_all || all.empty()) {
    all.insert(all.end(), got.carries.begin(), got.carries.end());
    all.insert(all.end(), got.ys.begin(), got.ys.end());
  }
  ta::evaluate(all);
  const Arrays xs = d.given();
  const std::int64_t levels = xs[0].shape()[static_cast<std::size_t>(d.axis)];
  const auto level = [&](const ta::Array& x, std::int64_t k) {
    return ta::take(x, ta::full({}, k, ta::int64), d.axis);
  };
  for (std::int64_t i = 0; i < levels; ++i) {
    const std::int64_t k = d.reverse ? levels - 1 - i : i;
    Arrays at;
    for (const ta::Array& x : xs) at.push_back(level(x, k));
    const ta::Scanned step = d.step(carries, at);
    carries = step.carries;
    if (!carries.empty()) ta::evaluate(carries);
    for (std::size_t y = 0; y < step.ys.size(); ++y) check_bits(level(got.ys[y], k), step.ys[y]);
  }
  const Arrays expected = d.followed(carries);
  for (std::size_t f = 0; f < expected.size(); ++f) check_bits(followed[f], expected[f]);
  for (std::size_t c = 0; c < carries.size(); ++c) check_bits(got.carries[c], carries[c]);
}

}  // namespace

TEST_CASE("scan: random bodies have the bits of their levels one by one", "[loop][fuzz]") {
  const char* const graphs = std::getenv("TARRY_FUZZ_GRAPHS");
  const char* const first = std::getenv("TARRY_FUZZ_SEED");
  const std::uint64_t seed = first != nullptr ? std::stoull(first) : 1;
  const std::uint64_t count = graphs != nullptr ? std::stoull(graphs) / 20 + 1 : 10;
  on_every_device([&](ta::Device) {
    for (std::uint64_t i = seed; i < seed + count; ++i) {
      Random r(i);
      INFO("TARRY_FUZZ_SEED=" << i);
      const Drawn d = draw(r);
      check(d);
      const Setting way("TARRY_DISABLE", below(r, 2) == 0 ? "compile" : "fusion");
      check(d);
    }
  });
}
