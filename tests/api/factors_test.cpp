// Systems and factors of matrices, by what defines them.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tests/helpers/devices.h"

using namespace tarry::test;
namespace ta = tarry;
using Catch::Matchers::WithinRel;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ta::Array noise(const ta::Shape& shape, std::uint64_t seed, ta::Dtype dtype = ta::float64) {
  ta::random::Generator g(seed);
  return ta::astype(ta::random::normal(g, shape, {.dtype = ta::float64}), dtype);
}

ta::Array transposed(const ta::Array& x) { return ta::matrix_transpose(x); }

/// The products by ta::sum alone.
ta::Array product(const ta::Array& a, const ta::Array& b) {
  return ta::sum(ta::expand_dims(a, -1) * ta::expand_dims(b, -3), -2);
}

double largest(const ta::Array& x) { return ta::astype(ta::max(ta::abs(x)), ta::float64).item<double>(); }

double unit(ta::Dtype dtype) { return dtype == ta::float32 ? 0x1p-24 : 0x1p-53; }

void check_same(const ta::Array& a, const ta::Array& b) { CHECK(ta::all(ta::equal(a, b)).item<bool>()); }

/// Determinant by the sum over the first row's minors.
long double minors(const std::vector<std::vector<double>>& a) {
  if (a.empty()) return 1;
  long double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    std::vector<std::vector<double>> rest(a.begin() + 1, a.end());
    for (auto& row : rest) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
    sum += (c % 2 == 0 ? 1 : -1) * static_cast<long double>(a[0][c]) * minors(rest);
  }
  return sum;
}

}  // namespace

TEST_CASE("solve: the solution solves, whatever the extent, the dtype and the number of right sides", "[factors]") {
  in_every_way([] {
    for (const ta::Dtype dtype : {ta::float32, ta::float64}) {
      for (const std::int64_t n : {1, 2, 3, 7, 16, 32, 33, 50}) {
        INFO(dtype << ", " << n);
        const ta::Array a = noise({3, n, n}, 1, dtype) + 3.0 * ta::eye(n, {.dtype = dtype});
        const ta::Array b = noise({3, n, 70}, 2, dtype);
        const ta::Array x = ta::linalg::solve(a, b);
        CHECK(x.dtype() == dtype);
        const double size = static_cast<double>(n) * (largest(a) * largest(x) + largest(b));
        CHECK(largest(product(a, x) - b) <= 30 * unit(dtype) * size);
      }
    }
  });
}

TEST_CASE("solve: one right side, and shapes that broadcast", "[factors]") {
  on_every_device([](ta::Device) {
    const ta::Array a = noise({4, 3, 3}, 1), b = noise({3}, 2), c = noise({2, 1, 3, 5}, 3);
    const ta::Array x = ta::linalg::solve(a, b);
    CHECK(x.shape() == ta::Shape{4, 3});
    CHECK(ta::allclose(ta::sum(a * ta::expand_dims(x, -2), -1), ta::broadcast_to(b, {4, 3})).item<bool>());
    const ta::Array y = ta::linalg::solve(a, c);
    CHECK(y.shape() == ta::Shape{2, 4, 3, 5});
    CHECK(ta::allclose(product(a, y), ta::broadcast_to(c, {2, 4, 3, 5})).item<bool>());
    CHECK(ta::allclose(product(a(0), ta::linalg::solve(a(0), c)), c).item<bool>());
  });
}

TEST_CASE("solve: rows are exchanged where a pivot is 0 or small", "[factors]") {
  on_every_device([](ta::Device) {
    CHECK(ta::all(ta::equal(ta::linalg::solve(ta::array({{0.0, 1.0}, {2.0, 0.0}}), ta::array({3.0, 8.0})),
                            ta::array({4.0, 3.0})))
              .item<bool>());
    const ta::Array x = ta::linalg::solve(ta::array({{1e-20, 1.0}, {1.0, 1.0}}), ta::array({1.0, 2.0}));
    CHECK(ta::allclose(x, ta::array({1.0, 1.0})).item<bool>());
  });
}

TEST_CASE("solve: a singular matrix gives no finite number, and leaves its neighbours alone", "[factors]") {
  on_every_device([](ta::Device) {
    const ta::Array a = ta::stack({ta::eye(2), ta::ones({2, 2}), ta::eye(2)});
    const ta::Array x = ta::linalg::solve(a, ta::array({1.0f, 2.0f}));
    CHECK_FALSE(ta::any(ta::isfinite(x(1))).item<bool>());
    CHECK(ta::all(ta::equal(x(2), ta::array({1.0f, 2.0f}))).item<bool>());
  });
}

TEST_CASE("inv: the product with the matrix is the identity", "[factors]") {
  in_every_way([] {
    for (const std::int64_t n : {1, 4, 5, 31, 40}) {
      const ta::Array a = noise({2, 3, n, n}, 5) + 4.0 * ta::eye(n, {.dtype = ta::float64}), x = ta::linalg::inv(a);
      const ta::Array identity = ta::broadcast_to(ta::eye(n, {.dtype = ta::float64}), {2, 3, n, n});
      CHECK(ta::allclose(product(a, x), identity, {.rtol = 0, .atol = 1e-11}).item<bool>());
    }
  });
}

TEST_CASE("det and slogdet: as the sum over minors; 0 of what is singular, 1 of no rows", "[factors]") {
  in_every_way([] {
    for (const std::int64_t n : {1, 2, 3, 5, 6}) {
      const ta::Array a = noise({4, n, n}, 7);
      const ta::Array found = ta::linalg::det(a);
      const auto [sign, logarithm] = ta::linalg::slogdet(a);
      for (std::int64_t i = 0; i < 4; ++i) {
        std::vector<std::vector<double>> rows;
        for (std::int64_t r = 0; r < n; ++r) {
          rows.emplace_back();
          for (std::int64_t c = 0; c < n; ++c) rows.back().push_back(a(i, r, c).item<double>());
        }
        const auto expected = static_cast<double>(minors(rows));
        CHECK_THAT(found(i).item<double>(), WithinRel(expected, 1e-12));
        CHECK_THAT(sign(i).item<double>() * std::exp(logarithm(i).item<double>()), WithinRel(expected, 1e-11));
      }
    }
    const ta::Array singular = ta::array({{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}, {0.0, 0.0, 0.0}});
    CHECK(ta::linalg::det(singular).item<double>() == 0);
    CHECK(ta::linalg::slogdet(singular).sign.item<double>() == 0);
    CHECK(ta::linalg::slogdet(singular).logabsdet.item<double>() == -std::numeric_limits<double>::infinity());
    CHECK(ta::linalg::det(ta::zeros({0, 0})).item<float>() == 1);
    CHECK(ta::linalg::slogdet(ta::zeros({2, 0, 0})).logabsdet.shape() == ta::Shape{2});
    CHECK(std::isnan(ta::linalg::det(ta::array({{1.0, kNaN}, {1.0, 1.0}})).item<double>()));
  });
}

TEST_CASE("cholesky: the factor is triangular and its square the matrix; the other triangle is not read", "[factors]") {
  in_every_way([] {
    for (const std::int64_t n : {1, 2, 6, 32, 45}) {
      INFO(n);
      const ta::Array b = noise({3, n, n}, 9);
      const ta::Array a = product(b, transposed(b)) + ta::eye(n, {.dtype = ta::float64});
      const ta::Array above = ta::triu(ta::ones({n, n}, ta::bool_), 1);
      const ta::Array lower = ta::linalg::cholesky(ta::where(above, kNaN, a));
      CHECK(ta::allclose(product(lower, transposed(lower)), a).item<bool>());
      CHECK_FALSE(ta::any(ta::where(above, lower, 0.0) != 0.0).item<bool>());
      const ta::Array upper = ta::linalg::cholesky(ta::where(transposed(above), kNaN, a), {.upper = true});
      CHECK(ta::all(ta::equal(upper, transposed(lower))).item<bool>());
    }
  });
}

TEST_CASE("cholesky: NaN where a matrix is not positive definite, and no trace of it beside", "[factors]") {
  on_every_device([](ta::Device) {
    for (const ta::Array& bad :
         {ta::array({{1.0, 2.0}, {2.0, 1.0}}), ta::zeros({2, 2}, ta::float64), ta::array({{kNaN, 0.0}, {0.0, 1.0}}),
          ta::array({{std::numeric_limits<double>::infinity(), 0.0}, {0.0, 1.0}})}) {
      const ta::Array lower = ta::linalg::cholesky(ta::stack({bad, 4.0 * ta::eye(2, {.dtype = ta::float64})}));
      CHECK(std::isnan(lower(0, 0, 0).item<double>()));
      CHECK(std::isnan(lower(0, 1, 1).item<double>()));
      CHECK(lower(0, 0, 1).item<double>() == 0);
      CHECK(lower(1, 1, 1).item<double>() == 2);
    }
  });
}

TEST_CASE("eigh: vectors are orthonormal and the matrix only scales them; values ascend", "[factors]") {
  in_every_way([] {
    for (const ta::Dtype dtype : {ta::float32, ta::float64}) {
      for (const std::int64_t n : {1, 2, 3, 8, 9, 32, 41}) {
        INFO(dtype << ", " << n);
        const ta::Array b = noise({2, n, n}, 11, dtype), a = b + transposed(b);
        const auto [values, vectors] = ta::linalg::eigh(ta::tril(a));
        const double allowed = 8 * static_cast<double>(n) * unit(dtype);
        const ta::Array scaled = vectors * ta::expand_dims(values, -2);
        CHECK(largest(product(a, vectors) - scaled) <= allowed * largest(a) * std::sqrt(static_cast<double>(n)));
        const ta::Array ones = product(transposed(vectors), vectors);
        CHECK(largest(ones - ta::eye(n, {.dtype = dtype})) <= allowed);
        if (n > 1)
          CHECK(ta::all(values(ta::ellipsis, ta::slice(1, ta::none)) >= values(ta::ellipsis, ta::slice(0, n - 1)))
                    .item<bool>());
        CHECK(ta::all(ta::equal(ta::linalg::eigvalsh(a), values)).item<bool>());
      }
    }
  });
}

TEST_CASE("eigh: zeros, equal eigenvalues, diagonals in any order, and what is not finite", "[factors]") {
  on_every_device([](ta::Device) {
    CHECK(ta::all(ta::equal(ta::linalg::eigvalsh(ta::zeros({4, 4})), 0.0f)).item<bool>());
    CHECK(ta::allclose(ta::linalg::eigvalsh(ta::ones({5, 5}, ta::float64)), ta::array({0.0, 0.0, 0.0, 0.0, 5.0}),
                       {.rtol = 1e-14, .atol = 1e-14})
              .item<bool>());
    const auto [values, vectors] = ta::linalg::eigh(ta::array({{3.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, 2.0}}));
    CHECK(ta::all(ta::equal(values, ta::array({-1.0, 2.0, 3.0}))).item<bool>());
    CHECK(ta::all(ta::equal(ta::abs(vectors), ta::array({{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}})))
              .item<bool>());
    for (const double bad : {kNaN, std::numeric_limits<double>::infinity()}) {
      const auto lost = ta::linalg::eigh(ta::stack({ta::full({3, 3}, bad), ta::eye(3, {.dtype = ta::float64})}));
      CHECK(ta::all(ta::isnan(lost.eigenvalues(0))).item<bool>());
      CHECK(ta::all(ta::isnan(lost.eigenvectors(0))).item<bool>());
      CHECK(ta::all(ta::equal(lost.eigenvalues(1), 1.0)).item<bool>());
    }
  });
}

TEST_CASE("eigh: the largest and the smallest numbers there are", "[factors]") {
  on_every_device([](ta::Device) {
    for (const ta::Dtype dtype : {ta::float32, ta::float64})
      for (const int sign : {-1, 1}) {
        const int exponent = sign * (dtype == ta::float32 ? 120 : 1000);
        const ta::Array a = ta::array({{1.0, 1.0}, {1.0, -1.0}});
        const auto far = ta::linalg::eigh(ta::astype(a * std::ldexp(1.0, exponent), dtype));
        const auto near = ta::linalg::eigh(ta::astype(a, dtype));
        const ta::Array scaled = ta::astype(far.eigenvalues, ta::float64) * std::ldexp(1.0, -exponent);
        INFO(dtype << " 2^" << exponent);
        CHECK(ta::array_equal(scaled, ta::astype(near.eigenvalues, ta::float64)).item<bool>());
        CHECK(ta::array_equal(far.eigenvectors, near.eigenvectors).item<bool>());
      }
  });
}

TEST_CASE("factors: float16 computes in float32, integers in float64, and empty stacks are empty", "[factors]") {
  on_every_device([](ta::Device) {
    const ta::Array a = ta::array({{4.0, 2.0}, {2.0, 3.0}}), half = ta::astype(a, ta::float16);
    CHECK(ta::linalg::det(half).dtype() == ta::float16);
    CHECK(ta::astype(ta::linalg::det(half), ta::float64).item<double>() == 8);
    CHECK(ta::linalg::inv(ta::array({{2, 0}, {0, 4}})).dtype() == ta::float64);
    CHECK(ta::linalg::solve(ta::array({{2, 0}, {0, 4}}), ta::array({1.0f, 1.0f})).dtype() == ta::float32);
    CHECK(ta::linalg::solve(ta::zeros({0, 3, 3}), ta::zeros({3, 2})).shape() == ta::Shape{0, 3, 2});
    CHECK(ta::linalg::solve(ta::zeros({2, 0, 0}), ta::zeros({0, 4})).shape() == ta::Shape{2, 0, 4});
    CHECK(ta::linalg::eigh(ta::zeros({2, 0, 0})).eigenvectors.shape() == ta::Shape{2, 0, 0});
    CHECK(ta::linalg::inv(ta::zeros({0, 0})).shape() == ta::Shape{0, 0});
  });
}

TEST_CASE("factors: bits are those of the whole, however a stack is cut and with what it is fused", "[factors]") {
  const ta::Array a = noise({200, 6, 6}, 13) + 3.0 * ta::eye(6, {.dtype = ta::float64}), b = noise({200, 6, 2}, 14);
  ta::evaluate(a, b);
  const ta::Array whole = ta::linalg::solve(a, b), values = ta::linalg::eigvalsh(a), factors = ta::linalg::det(a);
  ta::evaluate(whole, values, factors);
  const auto part = ta::slice(70, 90);
  check_same(ta::linalg::solve(a, b)(part), whole(part));
  check_same(ta::linalg::solve(a(part), b(part)), whole(part));
  check_same(ta::linalg::eigvalsh(a(part)), values(part));
  const ta::Report report = ta::evaluate(ta::linalg::det(a(part)));
  CHECK(report.counters().bytes_read < 200 * 36 * 8);
  check_same(ta::linalg::det(a)(part), factors(part));
  const Setting limit("TARRY_MEMORY_LIMIT", "200k");
  check_same(ta::linalg::solve(a * 1.0, b + 0.0), whole);
}
