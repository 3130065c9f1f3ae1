// qr, svd and lstsq, by what defines them.
#include <limits>
#include <utility>
#include <vector>

#include "tests/helpers/devices.h"

using namespace tarry::test;
namespace ta = tarry;

namespace {

ta::Array noise(const ta::Shape& shape, std::uint64_t seed, ta::Dtype dtype = ta::float64) {
  ta::random::Generator g(seed);
  return ta::astype(ta::random::normal(g, shape, {.dtype = ta::float64}), dtype);
}

ta::Array transposed(const ta::Array& x) { return ta::matrix_transpose(x); }

double largest(const ta::Array& x) {
  return x.size() == 0 ? 0 : ta::astype(ta::max(ta::abs(x)), ta::float64).item<double>();
}
/// How far the columns are from orthogonal ones of length 1.
double off(const ta::Array& q) {
  return largest(ta::matmul(transposed(q), q) - ta::eye(q.shape()[q.ndim() - 1], {.dtype = q.dtype()}));
}

const std::vector<ta::Shape> kShapes = {{1, 1}, {4, 3}, {3, 4}, {9, 2}, {2, 3, 3}};

}  // namespace

TEST_CASE("qr: q times r is x, q is orthogonal and r is upper triangular", "[linalg][qr]") {
  on_every_device([](ta::Device) {
    for (const ta::Shape& shape : kShapes)
      for (const auto mode : {ta::linalg::QrMode::Reduced, ta::linalg::QrMode::Complete}) {
        const ta::Dtype dtype = shape.size() == 3 ? ta::float32 : ta::float64;
        const ta::Array x = noise(shape, 3, dtype);
        const auto [q, r] = ta::linalg::qr(x, mode);
        const double close = dtype == ta::float32 ? 1e-5 : 1e-13;
        INFO(ta::name(dtype) << " of " << shape);
        CHECK(largest(ta::matmul(q, r) - x) < close);
        CHECK(off(q) < close);
        CHECK(largest(ta::tril(r, -1)) == 0);
        CHECK(r.dtype() == dtype);
      }
  });
}

TEST_CASE("qr: columns of zeros, large elements and what is triangular already", "[linalg][qr]") {
  const auto nothing = ta::linalg::qr(ta::zeros({4, 3}, ta::float64));
  CHECK(off(nothing.q) == 0);
  CHECK(largest(nothing.r) == 0);
  const auto large = ta::linalg::qr(ta::array({{1e200, 1e200}, {1e200, 2e200}}));
  CHECK(ta::all(ta::isfinite(large.r)).item<bool>());
  const ta::Array triangle = ta::array({{2.0, 1.0}, {0.0, -3.0}});
  CHECK(ta::linalg::qr(triangle).r.to_vector<double>() == triangle.to_vector<double>());
  CHECK(ta::linalg::qr(ta::zeros({0, 3})).r.shape() == ta::Shape{0, 3});
  CHECK(ta::linalg::qr(ta::zeros({3, 0}), ta::linalg::QrMode::Complete).q.shape() == ta::Shape{3, 3});
}

TEST_CASE("qr: many columns share a few kernels", "[linalg][qr]") {
  const ta::Scope placed(ta::cpu);
  const std::int64_t before = ta::cache_counters().compiles + ta::cache_counters().disk_hits;
  (void)ta::linalg::qr(noise({200, 80}, 3)).r.to_vector<double>();
  CHECK(ta::cache_counters().compiles + ta::cache_counters().disk_hits - before <= 24);
}

TEST_CASE("svd: u s vh is x, and both are orthogonal, of matrices of any rank", "[linalg][svd]") {
  std::vector<ta::Array> all;
  for (const ta::Shape& shape : kShapes) all.push_back(noise(shape, 5));
  all.push_back(ta::zeros({4, 3}, ta::float64));
  all.push_back(ta::ones({4, 3}, ta::float64));
  all.push_back(ta::matmul(noise({4, 2}, 7), noise({2, 3}, 8)));
  for (const ta::Array& x : all)
    for (const bool full : {true, false}) {
      const auto [u, s, vh] = ta::linalg::svd(x, {.full_matrices = full});
      const std::int64_t k = s.shape()[s.ndim() - 1], scale = x.size();
      INFO(x.shape() << (full ? " full" : ""));
      const ta::Slice some = ta::slice(0, k);
      const ta::Array back =
          ta::matmul(u(ta::ellipsis, some) * ta::expand_dims(s, -2), vh(ta::ellipsis, some, ta::slice()));
      CHECK(largest(back - x) < 1e-13 * static_cast<double>(scale));
      CHECK(off(u) < 1e-12);
      CHECK(off(transposed(vh)) < 1e-12);
      CHECK(u.shape()[u.ndim() - 1] == (full ? x.shape()[x.ndim() - 2] : k));
      CHECK(largest(s - ta::linalg::svdvals(x)) < 1e-13 * static_cast<double>(scale));
    }
}

TEST_CASE("pinv: a long matrix takes memory of its own size", "[linalg][svd]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = noise({3000, 4}, 9);
  ta::evaluate(x);
  for (const ta::Array& of : {x, transposed(x)}) {
    const ta::Array inverse = ta::linalg::pinv(of);
    CHECK(ta::plan(inverse).counters().peak_bytes < 40 * 3000 * 4 * 8);
    CHECK(largest(ta::matmul(ta::matmul(of, inverse), of) - of) < 1e-12);
  }
  CHECK(ta::linalg::matrix_rank(ta::matmul(noise({900, 2}, 1), noise({2, 3}, 2))).item<std::int64_t>() == 2);
}

TEST_CASE("matrix_rank: a long matrix of float16 loses no digits on the way", "[linalg][svd]") {
  const ta::Array left = ta::reshape(ta::arange(18) % 5, {9, 2}), right = ta::array({{1, 2, 0, 1}, {0, 0, 1, 3}});
  const ta::Array x =
      ta::astype(ta::matmul(ta::astype(left, ta::float64), ta::astype(right, ta::float64)), ta::float16);
  for (const ta::Array& of : {x, transposed(x)}) {
    CHECK(ta::linalg::matrix_rank(of).item<std::int64_t>() == 2);
    CHECK(ta::linalg::svdvals(of).dtype() == ta::float16);
    CHECK(ta::linalg::pinv(of).dtype() == ta::float16);
  }
}

TEST_CASE("lstsq: what it finds cannot be moved nearer, and its residuals are what is left", "[linalg][svd]") {
  const ta::Array a = noise({50, 3}, 4), b = noise({50, 2}, 5);
  const auto [x, residuals, rank, values] = ta::linalg::lstsq(a, b);
  const ta::Array left = b - ta::matmul(a, x);
  CHECK(largest(ta::matmul(transposed(a), left)) < 1e-12);
  CHECK(largest(ta::sum(left * left, 0) - residuals) < 1e-12);
  CHECK(rank.item<std::int64_t>() == 3);
  CHECK(values.shape() == ta::Shape{3});
  const ta::Array of_one = ta::linalg::lstsq(a, b(ta::slice(), 1)).x;
  CHECK(largest(of_one - x(ta::slice(), 1)) < 1e-12);
}
