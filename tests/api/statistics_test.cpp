// Statistics made of reductions, against loops in a wider type.
#include <tarry/statistics.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using Doubles = std::vector<double>;

using ta::test::in_every_way;

namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

Doubles values(const ta::Array& x) { return ta::astype(x, ta::float64).to_vector<double>(); }

/// The numbers of row i of a table with every third element NaN, and row 1 nothing but NaN.
constexpr std::int64_t kRows = 4, kColumns = 50;
Doubles table() {
  std::mt19937 random(5);
  Doubles v(static_cast<std::size_t>(kRows * kColumns));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const bool missing = i / kColumns == 1 || random() % 3 == 0;
    v[i] = missing ? kNaN : std::normal_distribution<double>(2, 3)(random);
  }
  return v;
}
Doubles numbers_of_row(std::int64_t row) {
  Doubles kept;
  for (std::int64_t j = 0; j < kColumns; ++j)
    if (const double x = table()[static_cast<std::size_t>(row * kColumns + j)]; !std::isnan(x)) kept.push_back(x);
  return kept;
}

void check_rows(const ta::Array& found, const std::function<double(const Doubles&)>& expected) {
  REQUIRE(found.shape() == ta::Shape{kRows});
  for (std::int64_t i = 0; i < kRows; ++i) {
    const double x = values(found)[static_cast<std::size_t>(i)], wanted = expected(numbers_of_row(i));
    INFO("row " << i << ": " << x << " beside " << wanted);
    CHECK((std::isnan(wanted) ? std::isnan(x) : std::abs(x - wanted) <= 1e-12 * (1 + std::abs(wanted))));
  }
}

double sum_of(const Doubles& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum;
}
double variance_of(const Doubles& v, double correction) {
  const double mean = sum_of(v) / static_cast<double>(v.size()), n = static_cast<double>(v.size()) - correction;
  double sum = 0;
  for (const double x : v) sum += (x - mean) * (x - mean);
  return n > 0 ? sum / n : kNaN;
}

}  // namespace

TEST_CASE("nan reductions: elements that are NaN are passed over", "[statistics]") {
  in_every_way([] {
    const ta::Array x = ta::asarray(table(), {kRows, kColumns});
    check_rows(ta::nansum(x, 1), sum_of);
    check_rows(ta::nanmean(x, 1), [](const Doubles& v) { return sum_of(v) / static_cast<double>(v.size()); });
    check_rows(ta::nanvar(x, 1, {.correction = 1}), [](const Doubles& v) { return variance_of(v, 1); });
    check_rows(ta::nanstd(x, -1), [](const Doubles& v) { return std::sqrt(variance_of(v, 0)); });
    check_rows(ta::nanmin(x, 1), [](const Doubles& v) { return v.empty() ? kNaN : *std::ranges::min_element(v); });
    check_rows(ta::nanmax(x, 1), [](const Doubles& v) { return v.empty() ? kNaN : *std::ranges::max_element(v); });
    check_rows(ta::nanprod(x, 1), [](const Doubles& v) {
      double product = 1;
      for (const double e : v) product *= e;
      return product;
    });
  });
}

TEST_CASE("nan reductions: infinities are numbers, and of nothing comes what reductions give", "[statistics]") {
  in_every_way([] {
    const ta::Array x = ta::array({{kNaN, ta::inf}, {kNaN, -ta::inf}});
    CHECK(values(ta::nanmin(x, 1)) == Doubles{ta::inf, -ta::inf});
    CHECK(values(ta::nanmax(x, 1)) == Doubles{ta::inf, -ta::inf});
    CHECK(std::isnan(values(ta::nanmax(x, 0))[0]));
    CHECK(ta::nansum(ta::zeros({0})).item<float>() == 0);
    CHECK(ta::nanprod(ta::zeros({0})).item<float>() == 1);
    CHECK(std::isnan(ta::nanmean(ta::zeros({0})).item<float>()));
    CHECK(std::isnan(ta::nanvar(ta::array({1.0}), {}, {.correction = 1}).item<double>()));
    CHECK(ta::nanmean(x, {}, {.keepdims = true}).shape() == ta::Shape{1, 1});
  });
}

TEST_CASE("nan reductions: of integers and bool they are the plain ones", "[statistics]") {
  in_every_way([] {
    const ta::Array x = ta::array({{3, 1}, {4, 2}});
    CHECK(ta::nansum(x, 0).to_vector<std::int64_t>() == std::vector<std::int64_t>{7, 3});
    CHECK(ta::nanmin(x).item<int>() == 1);
    CHECK(ta::nanmax(x > 2).item<bool>());
    CHECK(ta::nanmean(x).item<double>() == 2.5);
    CHECK(ta::nanvar(x).item<double>() == 1.25);
    CHECK(ta::nansum(ta::ones({3}, ta::float16)).dtype() == ta::float16);
    CHECK(ta::nansum(ta::array({kNaN, 2.0}), {}, {.dtype = ta::float32}).item<float>() == 2);
  });
}

TEST_CASE("ptp: the largest less the smallest", "[statistics]") {
  in_every_way([] {
    const ta::Array x = ta::array({{3, 9, 5}, {7, 7, 7}});
    CHECK(ta::ptp(x).item<int>() == 6);
    CHECK(ta::ptp(x, 1).to_vector<int>() == std::vector<int>{6, 0});
    CHECK(ta::ptp(x, 0, {.keepdims = true}).shape() == ta::Shape{1, 3});
    CHECK(std::isnan(ta::ptp(ta::array({1.0, kNaN})).item<double>()));
    CHECK(ta::ptp(ta::asarray(std::vector<std::int8_t>{-100, 100})).to_vector<std::int8_t>()[0] == -56);
  });
}

TEST_CASE("average: weights of x's shape, or along the axis that is reduced", "[statistics]") {
  in_every_way([] {
    const ta::Array x = ta::array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
    CHECK(ta::average(x, ta::ones_like(x)).item<double>() == 3.5);
    CHECK(values(ta::average(x, ta::array({1.0, 0.0, 3.0}), 1)) == Doubles{2.5, 5.5});
    CHECK(values(ta::average(x, ta::array({1, 3}), 0)) == Doubles{3.25, 4.25, 5.25});
    CHECK(values(ta::average(x, x, 1)) == Doubles{14.0 / 6, 77.0 / 15});
    CHECK(ta::average(x, x, 1, {.keepdims = true}).shape() == ta::Shape{2, 1});
    CHECK(ta::average(ta::array({1, 2}), ta::array({1, 1})).item<double>() == 1.5);
    CHECK(std::isnan(ta::average(x, ta::zeros_like(x)).item<double>()));
  });
}

TEST_CASE("cov, corrcoef: rows or columns are variables, one of them alone gives a number", "[statistics]") {
  in_every_way([] {
    const ta::Array x = ta::array({{1.0, 2.0, 3.0, 4.0}, {2.0, 1.0, 4.0, 7.0}, {0.0, 0.0, 1.0, -1.0}});
    const Doubles expected = {5.0 / 3, 3, -1.0 / 3, 3, 7, -1, -1.0 / 3, -1, 2.0 / 3};
    const Doubles found = values(ta::cov(x)),
                  columns = values(ta::cov(ta::matrix_transpose(x), {.variables_in_rows = false}));
    for (std::size_t i = 0; i < 9; ++i) {
      CHECK(found[i] == Approx(expected[i]));
      CHECK(columns[i] == Approx(expected[i]));
      CHECK(values(ta::corrcoef(x))[i] == Approx(expected[i] / std::sqrt(expected[i / 3 * 4] * expected[i % 3 * 4])));
    }
    CHECK(ta::cov(x(0)).item<double>() == Approx(5.0 / 3));
    CHECK(ta::cov(x(0), {.correction = 0}).item<double>() == Approx(1.25));
    CHECK(ta::cov(ta::array({1, 2, 3, 4})).dtype() == ta::float64);
    CHECK(ta::cov(ta::ones({2, 3}, ta::float16)).dtype() == ta::float16);
    CHECK(ta::corrcoef(x(1)).item<double>() == 1);
    CHECK(std::isnan(ta::cov(ta::array({1.0})).item<double>()));
    CHECK(ta::cov(ta::zeros({0, 3})).shape() == ta::Shape{0, 0});
  });
}
