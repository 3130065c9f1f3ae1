// Reductions and running combinations with an operation of the user's: the tree of sum, several states, any axis.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <tarry/function.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

const ta::function& plus() {
  static const ta::function f("plus", "(T a, T b)", "return a + b;");
  return f;
}

ta::Array waves(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return ta::reshape(ta::sin(ta::arange(0.0, static_cast<double>(n), 1.0) * 0.7) * 1e3, shape);
}

void check_equal_bits(const ta::Array& got, const ta::Array& expected) {
  REQUIRE(got.shape() == expected.shape());
  const auto a = got.to_vector<double>(), b = expected.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(same_bits<double>(a[i], b[i]));
}

}  // namespace

TEST_CASE("reduction: a sum by text has the bits of sum, for every extent", "[reduction]") {
  in_every_way(
      [] {
        const ta::reduction total(plus());
        for (const std::int64_t n :
             {1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 160, 255, 256, 257, 300, 700, 1500}) {
          INFO(n << " elements");
          const ta::Array x = waves({n});
          check_equal_bits(total(x), ta::sum(x));
        }
      },
      {"compile"});
}

TEST_CASE("reduction: along any axes, kept or not", "[reduction]") {
  in_every_way([] {
    const ta::reduction total(plus());
    const ta::Array x = waves({5, 140, 3});
    check_equal_bits(total(x, 1), ta::sum(x, 1));
    check_equal_bits(total(x, {0, 2}), ta::sum(x, {0, 2}));
    check_equal_bits(total(x, {0, -1}, {.keepdims = true}), ta::sum(x, {0, 2}, {.keepdims = true}));
    check_equal_bits(total(x), ta::sum(x));
  });
}

TEST_CASE("reduction: several states, and what finishes them", "[reduction]") {
  in_every_way([] {
    const ta::reduction largest(ta::function("largest",
                                             "(double v, int64_t i, double w, int64_t j) -> (double x, int64_t k)",
                                             "x = w > v ? w : v; k = w > v ? j : i;"));
    const ta::Array x = waves({400});
    const std::vector<ta::Array> both = largest.all(std::vector{x, ta::arange(400)});
    CHECK(both[0].item<double>() == ta::max(x).item<double>());
    CHECK(both[1].item<std::int64_t>() == ta::argmax(x).item<std::int64_t>());
    const ta::reduction norm(plus(), {0}, ta::function("root", "(T s)", "return sqrt(s);"));
    CHECK(std::fabs(norm(x * x).item<double>() - std::sqrt(ta::sum(x * x).item<double>())) < 1e-9);
  });
}

TEST_CASE("reduction: nothing is the identity", "[reduction]") {
  CHECK(ta::reduction(plus(), {7})(ta::zeros({0, 3}), 0).to_vector<float>() == std::vector<float>{7, 7, 7});
  CHECK(ta::reduction(plus())(ta::zeros({0, 3}), 1).shape() == std::vector<std::int64_t>{0});
  CHECK_THROWS_AS(ta::reduction(plus())(ta::zeros({0, 3}), 0), ta::InvalidArgument);
}

TEST_CASE("associative_scan: integers give cumulative_sum, along any axis, in both directions", "[reduction]") {
  in_every_way([] {
    const ta::Combine add = [](std::span<const ta::Array> a, std::span<const ta::Array> b) {
      return std::vector{a[0] + b[0]};
    };
    for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 31, 100}) {
      const ta::Array x = ta::reshape(ta::arange(3 * n) * 37 % 101, {n, 3});
      for (const bool reverse : {false, true}) {
        const ta::Array got = ta::associative_scan(add, std::vector{x}, {.axis = 0, .reverse = reverse})[0];
        CHECK(got.to_vector<std::int64_t>() ==
              ta::cumulative_sum(x, {.axis = 0, .reverse = reverse}).to_vector<std::int64_t>());
      }
      CHECK(ta::associative_scan(add, std::vector{x}, {.axis = -1})[0].to_vector<std::int64_t>() ==
            ta::cumulative_sum(x, {.axis = 1}).to_vector<std::int64_t>());
    }
  });
}

TEST_CASE("associative_scan: a linear recurrence of pairs keeps the order of its operands", "[reduction]") {
  in_every_way([] {
    const ta::function after("after", "(double a, double b, double c, double d) -> (double p, double q)",
                             "p = a * c; q = b * c + d;");
    const ta::Combine combine = [&](std::span<const ta::Array> s, std::span<const ta::Array> t) {
      return after.all(s[0], s[1], t[0], t[1]);
    };
    const ta::Array a = 0.5 + waves({90}) * 1e-4, b = waves({90});
    const auto got = ta::associative_scan(combine, std::vector{a, b})[1].to_vector<double>();
    const auto fa = a.to_vector<double>(), fb = b.to_vector<double>();
    double y = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
      y = fa[k] * y + fb[k];
      CHECK(std::fabs(got[k] - y) < 1e-9);
    }
  });
}
