// Loops whose body mixes lanes: sums, slices, products, sorts and other loops, with the bits of their levels one by
// one.
#include <functional>
#include <string>
#include <vector>

#include <tarry/linalg.h>
#include <tarry/loop.h>
#include <tarry/replay.h>
#include <tarry/solve.h>
#include <tarry/tarry.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/message_of.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

using Arrays = std::vector<ta::Array>;
using Step = std::function<std::pair<ta::Array, ta::Array>(const ta::Array&, const ta::Array&)>;

ta::Array noise(const std::vector<std::int64_t>& shape, unsigned seed) {
  ta::random::Generator random(seed);
  return ta::random::uniform(random, ta::Shape(shape), {.dtype = ta::float64}) - 0.5;
}

/// Level after level, each evaluated by itself.
std::pair<ta::Array, ta::Array> one_by_one(ta::Array carry, const ta::Array& xs, const Step& step, int axis,
                                           bool reverse) {
  const std::int64_t n = xs.shape()[static_cast<std::size_t>(axis)];
  Arrays ys(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t k = reverse ? n - 1 - i : i;
    auto [next, y] = step(carry, ta::take(xs, ta::full({}, k, ta::int64), axis));
    ta::evaluate(next, y);
    carry = next;
    ys[static_cast<std::size_t>(k)] = y;
  }
  return {carry, ta::stack(ys, axis)};
}

void check_same(const ta::Array& got, const ta::Array& expected) {
  REQUIRE(got.shape() == expected.shape());
  REQUIRE(got.dtype() == expected.dtype());
  const auto a = got.to_vector<double>(), b = expected.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(same_bits<double>(a[i], b[i]));
}

/// Along the first axis; along the second one, where a y has an axis, from the last level to the first.
void check_scan(const ta::Array& init, const ta::Array& xs, const Step& step, int axes = 2) {
  for (int axis = 0; axis < axes; ++axis) {
    INFO("axis " << axis);
    const bool reverse = axis == 1;
    const ta::Array along = ta::moveaxis(xs, 0, axis);
    const auto [last, ys] = ta::scan(init, along, step, {.axis = axis, .reverse = reverse});
    const auto [last_one, ys_one] = one_by_one(init, along, step, axis, reverse);
    check_same(last, last_one);
    check_same(ys, ys_one);
  }
}

}  // namespace

TEST_CASE("scan: a body may multiply, add up, cut, sort and join values of a level", "[loop]") {
  on_every_device([](ta::Device) {
    const ta::Array weights = noise({6, 6}, 1), h = noise({5, 6}, 2), xs = noise({7, 5, 6}, 3);
    const ta::Array wide = noise({5, 70}, 4), many = noise({7, 5, 70}, 5), mixed = noise({70, 70}, 6);
    check_scan(wide, many, [&](const ta::Array& c, const ta::Array& x) {
      const ta::Array next = ta::tanh(ta::matmul(c, mixed) + x);
      return std::pair(next, next);
    });
    const auto [small, steps] = ta::scan(h, xs, [&](const ta::Array& c, const ta::Array& x) {
      const ta::Array next = ta::tanh(ta::matmul(c, weights) + x);
      return std::pair(next, ta::matmul(next, weights));
    });
    ta::Array expected = h;
    for (int k = 0; k < 7; ++k) {
      expected = ta::tanh(ta::matmul(expected, weights) + xs(k));
      CHECK(ta::allclose(steps(k), ta::matmul(expected, weights)).item<bool>());
    }
    CHECK(ta::allclose(small, expected).item<bool>());
    check_scan(h, xs, [](const ta::Array& c, const ta::Array& x) {
      const ta::Array next = c / ta::sum(ta::abs(c), -1, {.keepdims = true}) + x;
      return std::pair(next, ta::max(next, 0));
    });
    check_scan(h, xs, [](const ta::Array& c, const ta::Array& x) {
      const ta::Array left =
          ta::concat(Arrays{c(ta::slice(), ta::slice(1, ta::none)), x(ta::slice(), ta::slice(0, 1))}, 1);
      return std::pair(left, c(ta::slice(), 0));
    });
    check_scan(h, xs, [](const ta::Array& c, const ta::Array& x) {
      return std::pair(ta::sort(c + x), ta::cumulative_sum(x, {.axis = -1}));
    });
    check_scan(h, xs, [](const ta::Array& c, const ta::Array& x) {
      return std::pair(ta::matrix_transpose(ta::reshape(c + x, {6, 5})), ta::var(c, -1));
    });
  });
}

TEST_CASE("scan: a body may have loops of its own, which read values of its level", "[loop]") {
  on_every_device([](ta::Device) {
    const ta::Array h = noise({5, 6}, 2), xs = noise({4, 5, 6}, 3);
    const auto diffused = [](const ta::Array& c, const ta::Array& x) {
      const ta::Array rate = ta::abs(x);
      return ta::tridiagonal_solve(-rate, 1.0 + 2.0 * rate, -rate, c);
    };
    check_scan(h, xs, [&](const ta::Array& c, const ta::Array& x) {
      const ta::Array next = diffused(c, x);
      return std::pair(next, next);
    });
    check_scan(
        h, xs,
        [](const ta::Array& c, const ta::Array& x) {
          // The inner loop's values beside one of the outer loop, which is no x of it.
          const ta::Array scale = ta::mean(c);
          const auto [last, all] = ta::scan(
              c(0), x, [&](const ta::Array& d, const ta::Array& y) { return std::pair(0.5 * d + scale * y, d * y); });
          return std::pair(c + last, ta::sum(all));
        },
        1);
    check_scan(
        h, xs,
        [&](const ta::Array& c, const ta::Array& x) {
          // Three deep: the middle one mixes, the innermost does not.
          const auto [last, all] = ta::scan(c, x, [&](const ta::Array& d, const ta::Array& y) {
            const ta::Array grown = ta::while_loop([](const ta::Array& e) { return ta::abs(e) < 0.3; },
                                                   [](const ta::Array& e) { return 1.5 * e + 0.01; }, d);
            return std::pair(grown - ta::mean(grown) + y, ta::max(grown));
          });
          return std::pair(diffused(last, x), ta::sum(all));
        },
        1);
    check_scan(h, xs, [](const ta::Array& c, const ta::Array& x) {
      const ta::Combine add = [](std::span<const ta::Array> a, std::span<const ta::Array> b) {
        return Arrays{a[0] + b[0]};
      };
      return std::pair(c + ta::associative_scan(add, Arrays{x}, {.axis = 0})[0], x);
    });
  });
}

TEST_CASE("scan: a loop inside that reads nothing of the level is a value from outside", "[loop]") {
  const ta::Array xs = noise({4, 3}, 1), table = noise({5, 3}, 2);
  const auto [last, ys] = ta::scan(ta::zeros({3}, ta::float64), xs, [&](const ta::Array& c, const ta::Array& x) {
    const auto [sums, all] = ta::scan(ta::zeros({3}, ta::float64), table,
                                      [](const ta::Array& d, const ta::Array& y) { return std::pair(d + y, d); });
    return std::pair(c + x * sums, c);
  });
  const ta::Report report = ta::evaluate(last, ys);
  CHECK(report.counters().launches <= 2);
  CHECK(ta::allclose(last, ta::sum(xs, 0) * ta::sum(table, 0)).item<bool>());
}

TEST_CASE("scan: small vectors and matrices of a level stay in registers, in one kernel", "[loop]") {
  on_every_device([](ta::Device) {
    // A bank of Kalman filters: a state of two numbers and its covariance for each of 100 series.
    const ta::Array f = ta::array({{1.0, 1.0}, {0.0, 1.0}}), noise_of_model = 0.01 * ta::eye(2, {.dtype = ta::float64});
    const ta::Array observed = noise({40, 100}, 7);
    const std::vector<ta::Array> start = {ta::zeros({100, 2}, ta::float64),
                                          ta::broadcast_to(ta::eye(2, {.dtype = ta::float64}), {100, 2, 2})};
    const ta::ScanBody step = [&](std::span<const ta::Array> c, std::span<const ta::Array> z) {
      const ta::Array state = ta::matmul(c[0], ta::matrix_transpose(f));
      const ta::Array p = ta::matmul(ta::matmul(f, c[1]), ta::matrix_transpose(f)) + noise_of_model;
      const ta::Array gain = p(ta::ellipsis, 0) / (p(ta::ellipsis, 0, 0) + 0.1)(ta::ellipsis, ta::newaxis);
      const ta::Array rest = (z[0] - state(ta::ellipsis, 0))(ta::ellipsis, ta::newaxis);
      const ta::Array next = state + gain * rest;
      ta::Array covariance = p - gain(ta::ellipsis, ta::newaxis) * p(ta::ellipsis, ta::slice(0, 1), ta::slice());
      covariance = 0.5 * (covariance + ta::matrix_transpose(covariance));
      return ta::Scanned{{next, covariance}, {next, ta::trace(covariance)}};
    };
    const ta::Scanned done = ta::scan(start, std::vector{observed}, step);
    const ta::Report report = ta::evaluate(done.carries[0], done.carries[1], done.ys[1]);
    CHECK(report.counters().launches <= 4);  // the model's noise, the loop, and the joins of the two carries
    Arrays state = start;
    for (int k = 0; k < 40; ++k) state = step(state, std::vector{observed(k)}).carries;
    CHECK(ta::allclose(done.carries[0], state[0]).item<bool>());
    CHECK(ta::allclose(done.carries[1], state[1]).item<bool>());
    CHECK(ta::allclose(done.ys[0](39), state[0]).item<bool>());
    CHECK(ta::allclose(done.ys[1](39), ta::trace(state[1])).item<bool>());
  });
}

TEST_CASE("scan: elements of small axes have the bits of their levels one by one", "[loop]") {
  on_every_device([](ta::Device) {
    const ta::Array h = noise({9, 3}, 2), xs = noise({6, 9, 3}, 3);
    const auto one_kernel = [&](const Step& step) {
      check_scan(h, xs, step);
      const auto [last, ys] = ta::scan(h, xs, step);
      CHECK(ta::evaluate(last, ys).counters().launches <= 3);
    };
    one_kernel([](const ta::Array& c, const ta::Array& x) {
      const ta::Array next = c / ta::sum(ta::abs(c), -1, {.keepdims = true}) + x;
      return std::pair(next, ta::min(next, 1));
    });
    one_kernel([](const ta::Array& c, const ta::Array& x) {
      return std::pair(ta::roll(c, 1, {-1}) - x, ta::matrix_transpose(ta::flip(c, {1})));
    });
    one_kernel([](const ta::Array& c, const ta::Array& x) {
      ta::Array next = c * 0.5;
      next.set({ta::slice(), ta::slice(0, 3, 2)}, x(ta::slice(), ta::slice(1, 3)));
      return std::pair(next, ta::stack(Arrays{c, next}, 1));
    });
    one_kernel([](const ta::Array& c, const ta::Array& x) {
      const ta::Array both = ta::reshape(ta::stack(Arrays{c, x}, 2), {9, 6});
      return std::pair(both(ta::slice(), ta::slice(0, 6, 2)) + ta::prod(both, 1, {.keepdims = true}), both);
    });
    one_kernel([](const ta::Array& c, const ta::Array& x) {
      // All elements of one lane.
      const ta::Array whole = c(0) + x(1);
      return std::pair(c + ta::where(whole > 0.0, 1.0, -1.0), whole);
    });
  });
}

TEST_CASE("while_loop: vectors that are done by themselves, in one kernel", "[loop]") {
  on_every_device([](ta::Device) {
    const ta::Array start = noise({50, 2}, 3) * 3.0;
    const auto condition = [](const ta::Array& v) { return ta::sum(v * v, -1, {.keepdims = true}) < 100.0; };
    const auto body = [](const ta::Array& v) { return v + 0.5 * ta::flip(v, {-1}) + 0.1; };
    const ta::Array done = ta::while_loop(condition, body, start, {.limit = 60});
    CHECK(ta::evaluate(done).counters().launches <= 2);
    ta::Array expected = start;
    for (int i = 0; i < 60; ++i) expected = ta::where(condition(expected), body(expected), expected);
    check_same(done, expected);
  });
}

TEST_CASE("scan: no levels and no lanes, where the body mixes", "[loop]") {
  const auto step = [](const ta::Array& c, const ta::Array& x) { return std::pair(c + ta::sum(x), ta::sum(x, 0)); };
  const auto none = ta::scan(ta::ones({2, 3}), ta::zeros({0, 2, 3}), step);
  CHECK(none.second.shape() == ta::Shape{0, 3});
  CHECK(none.first.to_vector<float>() == std::vector<float>(6, 1.f));
  const auto thin = ta::scan(ta::ones({0, 3}), ta::zeros({4, 0, 3}), step);
  CHECK(thin.second.to_vector<float>() == std::vector<float>(12, 0.f));
  const auto flipped = [](const ta::Array& c, const ta::Array& x) { return std::pair(ta::flip(c, {1}), ta::flip(x)); };
  const auto empty = ta::scan(ta::ones({2, 0}), ta::zeros({4, 2, 0}), flipped);
  CHECK(empty.first.shape() == ta::Shape{2, 0});
  CHECK(empty.second.shape() == ta::Shape{4, 2, 0});
}

TEST_CASE("scan: many levels of a body that mixes are evaluated in portions, whose kernels they share", "[loop]") {
  const ta::Scope on_cpu(ta::cpu), few{ta::Budget{200, 1 << 20}};
  const CapturedLog quiet;
  const ta::Array weights = noise({4, 4}, 1), xs = noise({300, 4}, 2);
  const auto [last, ys] = ta::scan(ta::zeros({4}, ta::float64), xs, [&](const ta::Array& c, const ta::Array& x) {
    const ta::Array next = ta::tanh(ta::matmul(weights, c) + x);
    return std::pair(next, ta::sum(next));
  });
  CHECK(ta::allclose(ta::sum(last), ys(299)).item<bool>());
  CHECK(ys.shape() == ta::Shape{300});
}

TEST_CASE("while_loop: conjugate gradients go on until the residual of the whole is small", "[loop]") {
  on_every_device([](ta::Device) {
    const ta::Array a = noise({12, 12}, 1),
                    spd = ta::matmul(a, ta::matrix_transpose(a)) + 2.0 * ta::eye(12, {.dtype = ta::float64});
    const ta::Array b = noise({12}, 2);
    int recorded = 0;
    const Arrays state = ta::while_loop(
        [](auto s) { return ta::vecdot(s[1], s[1]) > 1e-24; },
        [&](auto s) {
          ++recorded;
          const ta::Array p = ta::matmul(spd, s[2]), rr = ta::vecdot(s[1], s[1]), step = rr / ta::vecdot(s[2], p);
          const ta::Array rest = s[1] - step * p;
          return Arrays{s[0] + step * s[2], rest, rest + ta::vecdot(rest, rest) / rr * s[2], s[3] + 1};
        },
        Arrays{ta::zeros({12}, ta::float64), b, b, ta::zeros({}, ta::int64)});
    CHECK(recorded == 1);
    CHECK(ta::allclose(ta::matmul(spd, state[0]), b, {.atol = 1e-10}).item<bool>());
    const auto rounds = state[3].item<std::int64_t>();
    CHECK(rounds > 3);
    CHECK(rounds < 40);
  });
}

TEST_CASE("while_loop: rounds of the whole end at the limit, or before the first one", "[loop]") {
  const auto run = [](double least, std::int64_t limit) {
    return ta::while_loop([&](const ta::Array& x) { return ta::sum(x) < least; },
                          [](const ta::Array& x) { return x + 1.0; }, ta::zeros({3}, ta::float64), {.limit = limit});
  };
  CHECK(run(1e9, 5).to_vector<double>() == std::vector<double>(3, 5.0));
  CHECK(run(-1.0, 5).to_vector<double>() == std::vector<double>(3, 0.0));
  CHECK(run(1e9, 0).to_vector<double>() == std::vector<double>(3, 0.0));
  for (const double rounds : {1.0, 2.0, 7.0, 8.0, 9.0, 31.0, 200.0})
    CHECK(run(3.0 * rounds, 1000).to_vector<double>() == std::vector<double>(3, rounds));
}

TEST_CASE("while_loop: an element that is done stays, and its neighbours see it", "[loop]") {
  const ta::Array x = ta::array({1.0, 8.0, 2.0, 16.0});
  const ta::Array done = ta::while_loop([](const ta::Array& s) { return s < 20.0; },
                                        [](const ta::Array& s) { return s + ta::roll(s, 1); }, x);
  std::vector<double> state = {1, 8, 2, 16};
  for (bool more = true; more;) {
    const std::vector<double> before = state;
    more = false;
    for (std::size_t i = 0; i < 4; ++i)
      if (before[i] < 20) state[i] += before[(i + 3) % 4], more = true;
  }
  CHECK(done.to_vector<double>() == state);
}

TEST_CASE("replay: a function may have a scan whose body mixes, and no loop that waits for the whole",
          "[loop][replay]") {
  const ta::Array weights = noise({3, 3}, 1), xs = noise({4, 3}, 2);
  const auto scanned = [&](const ta::Array& h) {
    return ta::scan(h, xs,
                    [&](const ta::Array& c, const ta::Array& x) {
                      const ta::Array next = ta::matmul(weights, c) + x;
                      return std::pair(next, next);
                    })
        .first;
  };
  const auto function = ta::replay(scanned);
  const ta::Array h = noise({3}, 5);
  check_same(function(h), scanned(h));
  const auto until = ta::replay([](const ta::Array& s) {
    return ta::while_loop([](const ta::Array& t) { return ta::sum(t) < 20.0; },
                          [](const ta::Array& t) { return t * 2.0; }, s);
  });
  CHECK(ta::allclose(ta::sum(until(ta::abs(h))), 20.0, {.rtol = 1.0}).item<bool>());
  CHECK(message_of([&] { (void)until(noise({100}, 1)); }).find("runs when it is recorded") != std::string::npos);
}
