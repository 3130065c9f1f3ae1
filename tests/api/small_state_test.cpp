// Loops over small vectors and matrices: operations that routines and reductions have, by elements and with their bits.
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <tarry/linalg.h>
#include <tarry/loop.h>
#include <tarry/tarry.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

using Arrays = std::vector<ta::Array>;
using Function = std::function<Arrays(const ta::Array&)>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

ta::Array noise(const std::vector<std::int64_t>& shape, unsigned seed) {
  ta::random::Generator random(seed);
  return ta::random::uniform(random, ta::Shape(shape), {.dtype = ta::float64}) - 0.5;
}

/// Random matrices, integers with ties among pivots, singular and permuted ones, zeros of both signs, and what is no
/// number: (6, 9, n, n).
ta::Array hostile_matrices(std::int64_t n, unsigned seed) {
  const auto count = static_cast<std::size_t>(6 * 9 * n * n);
  const auto random = noise({6 * 9 * n * n}, seed).to_vector<double>();
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto matrix = i / static_cast<std::size_t>(n * n), at = i % static_cast<std::size_t>(n * n);
    const auto r = at / static_cast<std::size_t>(n), c = at % static_cast<std::size_t>(n);
    const double x = random[i];
    const double whole = std::round(4.0 * x), odd = x < -0.3 ? kNaN : x < -0.15 ? kInf : x < 0.0 ? -kInf : x;
    const double shifted = (r + matrix) % static_cast<std::size_t>(n) == c ? 1.0 + x : 0.0;
    switch (matrix % 9) {
      case 0: all[i] = whole; break;
      case 1: all[i] = matrix % 2 == 0 ? odd : x * 1e300; break;
      case 2: all[i] = shifted; break;
      case 3: all[i] = -0.0 * x; break;
      case 4: all[i] = c + 1 == static_cast<std::size_t>(n) ? 0.0 : x; break;
      case 5: all[i] = r == c ? 3.0 + x : 0.25; break;  // positive definite
      case 6: all[i] = at == matrix % static_cast<std::size_t>(n * n) ? kNaN : x; break;
      default: all[i] = x;
    }
  }
  return ta::asarray(all, {6, 9, n, n});
}

void check_bits(const ta::Array& got, const ta::Array& expected) {
  REQUIRE(got.shape() == expected.shape());
  REQUIRE(got.dtype() == expected.dtype());
  const auto a = ta::astype(got, ta::float64).to_vector<double>(),
             b = ta::astype(expected, ta::float64).to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("element " << i);
    REQUIRE(same_bits<double>(a[i], b[i]));
  }
}

/// ys of f, level by level in one kernel and the joins of results, have the bits of f of all levels at once.
void check_levels(const ta::Array& xs, const Function& f) {
  ta::evaluate(xs);
  const Arrays expected = f(xs);
  const ta::ScanBody body = [&](std::span<const ta::Array> c, std::span<const ta::Array> x) {
    return ta::Scanned{{c[0] + 1}, f(x[0])};
  };
  const Arrays start = {ta::zeros({xs.shape()[1]}, ta::int64)};
  const ta::Scanned done = ta::scan(start, Arrays{xs}, body);
  std::vector<const ta::Array*> roots;
  for (const ta::Array& y : done.ys) roots.push_back(&y);
  INFO(ta::plan(done.ys[0]).str());
  CHECK(ta::plan(done.ys[0]).counters().launches <= 3);
  for (std::size_t i = 0; i < expected.size(); ++i) check_bits(done.ys[i], expected[i]);
}

}  // namespace

TEST_CASE("scan: systems and factors of small matrices have the bits of the routines", "[loop]") {
  on_every_device([](ta::Device) {
    for (const ta::Dtype dtype : {ta::float64, ta::float32}) {
      for (const std::int64_t n : {1, 2, 3, 4, 5}) {
        INFO("n " << n << (dtype == ta::float32 ? " float32" : " float64"));
        const ta::Array xs = ta::astype(hostile_matrices(n, static_cast<unsigned>(n)), dtype);
        const ta::Array right = ta::astype(noise({n, 2}, 3), dtype);
        check_levels(xs, [](const ta::Array& x) { return Arrays{ta::linalg::inv(x)}; });
        check_levels(xs, [&](const ta::Array& x) { return Arrays{ta::linalg::solve(x, right)}; });
        check_levels(xs, [](const ta::Array& x) { return Arrays{ta::linalg::cholesky(x)}; });
        check_levels(xs, [](const ta::Array& x) { return Arrays{ta::linalg::det(x)}; });
        if (n > 3) continue;
        check_levels(xs, [&](const ta::Array& x) {
          const ta::Array b = x(ta::ellipsis, ta::slice(0, 1));
          const auto found = ta::linalg::slogdet(x);
          return Arrays{ta::linalg::solve(x, b), ta::linalg::cholesky(x, {.upper = true}), found.sign, found.logabsdet};
        });
      }
    }
  });
}

TEST_CASE("scan: a matrix of all lanes, and several of a lane, are solved by elements", "[loop]") {
  const ta::Array xs = hostile_matrices(3, 7);
  const auto [last, all] =
      ta::scan(ta::eye(3, {.dtype = ta::float64}), xs(ta::slice(), 7), [](const ta::Array& c, const ta::Array& x) {
        const ta::Array y = ta::linalg::inv(0.1 * c + x);
        return std::pair(x, y);
      });
  CHECK(ta::plan(all).counters().launches <= 3);
  ta::Array carry = ta::eye(3, {.dtype = ta::float64});
  for (int k = 0; k < 6; ++k) {
    check_bits(all(k), ta::linalg::inv(0.1 * carry + xs(k, 7)));
    carry = xs(k, 7);
  }
  check_bits(last, xs(5, 7));
  check_levels(ta::reshape(noise({5 * 4 * 2 * 3 * 3}, 8), {5, 4, 2, 3, 3}),
               [](const ta::Array& x) { return Arrays{ta::linalg::inv(x)}; });
}

TEST_CASE("scan: places, moments, running sums and orders of small axes have the bits of kernels", "[loop]") {
  on_every_device([](ta::Device) {
    for (const ta::Dtype dtype : {ta::float64, ta::float32}) {
      ta::Array wide = noise({6, 9, 11}, 3);
      wide.set({2, ta::slice(), 3}, kNaN);
      wide.set({3, ta::slice(), ta::slice(2, 9, 3)}, kNaN);
      wide.set({4, ta::slice(), ta::slice(0, 11, 2)}, 0.0);
      wide.set({4, ta::slice(), ta::slice(1, 8, 2)}, -0.0);
      wide.set({5, 3, 0}, kInf);
      const ta::Array xs = ta::astype(wide, dtype), few = xs(ta::ellipsis, ta::slice(0, 5));
      check_levels(xs, [](const ta::Array& x) { return Arrays{ta::argmax(x, -1), ta::argmin(x, -1)}; });
      check_levels(xs, [](const ta::Array& x) { return Arrays{ta::var(x, -1), ta::mean(x, -1)}; });
      check_levels(few, [](const ta::Array& x) {
        return Arrays{x - ta::std(x, -1, {.keepdims = true, .correction = 1}), ta::softmax(x, -1)};
      });
      check_levels(xs, [](const ta::Array& x) { return Arrays{ta::cumulative_sum(x, {.axis = -1})}; });
      check_levels(xs, [](const ta::Array& x) { return Arrays{ta::cumulative_max(x, {.axis = -1})}; });
      check_levels(few, [](const ta::Array& x) { return Arrays{ta::sort(x), ta::argsort(x)}; });
      check_levels(few, [](const ta::Array& x) {
        return Arrays{ta::sort(x, {.descending = true}), ta::argsort(x, {.descending = true})};
      });
      check_levels(few, [](const ta::Array& x) { return Arrays{ta::take(x, ta::array({4, 0, -2}), -1)}; });
    }
    const ta::Array square = ta::reshape(noise({6 * 9 * 12}, 4), {6, 9, 3, 4});
    check_levels(square, [](const ta::Array& x) { return Arrays{ta::var(x, {-2, -1}), ta::logsumexp(x, {-2, -1})}; });
    check_levels(square, [](const ta::Array& x) {
      return Arrays{ta::take_along_axis(x, ta::argsort(x), -1, ta::Bounds::Clip), ta::any(x > 0.3, {-1})};
    });
  });
}

TEST_CASE("scan: products with a matrix from outside are by elements, whichever side it is on", "[loop]") {
  const ta::Array m = noise({5, 5}, 1), xs = noise({4, 7, 5, 5}, 2), pairs = noise({4, 3, 2, 5, 5}, 3);
  const auto sides = [&](const ta::Array& c, const ta::Array& x) {
    const ta::Array next = 0.5 * ta::matmul(m, c) + x;
    return std::pair(next, ta::matmul(next, ta::matrix_transpose(m)));
  };
  for (const ta::Array& all : {xs, pairs}) {
    ta::Array carry = ta::zeros_like(all(0));
    const auto [last, ys] = ta::scan(carry, all, sides);
    CHECK(ta::plan(ys).counters().launches <= 3);
    for (int k = 0; k < 4; ++k) {
      const auto [next, y] = sides(carry, all(k));
      CHECK(ta::allclose(ys(k), y).item<bool>());
      carry = next;
    }
    CHECK(ta::allclose(last, carry).item<bool>());
  }
}

namespace {

/// A Kalman filter of positions and velocities along `axes` axes, of which the positions are observed.
struct Kalman {
  explicit Kalman(std::int64_t axes, std::int64_t series)
      : eye(ta::eye(2 * axes, {.dtype = ta::float64})),
        f(eye + 0.1 * ta::eye(2 * axes, {.k = static_cast<int>(axes), .dtype = ta::float64})),
        h(eye(ta::slice(0, axes))),
        r(0.5 * ta::eye(axes, {.dtype = ta::float64})),
        start{ta::zeros({series, 2 * axes}, ta::float64), ta::broadcast_to(eye, {series, 2 * axes, 2 * axes})} {
    ta::evaluate(eye, f, h, r);
  }
  [[nodiscard]] ta::Scanned operator()(std::span<const ta::Array> c, std::span<const ta::Array> z) const {
    const ta::Array x = ta::matmul(c[0], ta::matrix_transpose(f));
    const ta::Array p = ta::matmul(ta::matmul(f, c[1]), ta::matrix_transpose(f)) + 0.01 * eye;
    const ta::Array s = ta::matmul(ta::matmul(h, p), ta::matrix_transpose(h)) + r;
    const ta::Array k = ta::matmul(ta::matmul(p, ta::matrix_transpose(h)), ta::linalg::inv(s));
    const ta::Array rest = (z[0] - ta::matmul(x, ta::matrix_transpose(h)))(ta::ellipsis, ta::newaxis);
    const ta::Array next = x + ta::matmul(k, rest)(ta::ellipsis, 0);
    return ta::Scanned{{next, ta::matmul(eye - ta::matmul(k, h), p)}, {next}};
  }
  ta::Array eye, f, h, r;
  Arrays start;
};

}  // namespace

TEST_CASE("scan: a Kalman filter as it is written in books is one kernel, results included", "[loop]") {
  on_every_device([](ta::Device) {
    const Kalman step(2, 30);
    const ta::Array observed = noise({9, 30, 2}, 5);
    ta::evaluate(observed);
    const ta::Scanned done = ta::scan(step.start, Arrays{observed}, step);
    CHECK(ta::plan(done.ys[0], done.carries[0], done.carries[1]).counters().launches == 1);
    Arrays state = step.start;
    for (int i = 0; i < 9; ++i) state = step(state, Arrays{observed(i)}).carries;
    CHECK(ta::allclose(done.ys[0](8), state[0]).item<bool>());
    CHECK(ta::allclose(done.carries[1], state[1]).item<bool>());
  });
}

TEST_CASE("scan: a Kalman filter of three positions and velocities is one kernel too", "[loop]") {
  const Kalman step(3, 30);
  const ta::Scanned done = ta::scan(step.start, Arrays{noise({9, 30, 3}, 5)}, step);
  CHECK(ta::plan(done.ys[0]).counters().kernels <= 2);
  CHECK(ta::plan(done.ys[0]).counters().launches <= 2);
}
