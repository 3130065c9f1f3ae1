// Loops with a body: the same bits as the operations level by level, one kernel, and what a body may not do.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <tarry/dynamic.h>
#include <tarry/loop.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/message_of.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

using Arrays = std::vector<ta::Array>;

ta::Array noise(const std::vector<std::int64_t>& shape, unsigned seed, ta::Dtype dtype = ta::float64) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> v(static_cast<std::size_t>(count));
  std::mt19937 random(seed);
  for (double& x : v) x = std::uniform_real_distribution<double>(-1.0, 1.0)(random);
  return ta::astype(ta::asarray(v, shape), dtype);
}

/// The level of an array along an axis.
ta::Array level(const ta::Array& x, std::int64_t k, int axis) { return ta::take(x, ta::full({}, k, ta::int64), axis); }

/// The same levels one after the other, each evaluated by itself.
ta::Scanned one_by_one(Arrays carries, const Arrays& xs, const ta::ScanBody& body, int axis, bool reverse = false) {
  const std::int64_t n = xs.front().shape()[static_cast<std::size_t>(axis)];
  std::vector<Arrays> ys(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t k = reverse ? n - 1 - i : i;
    Arrays at;
    for (const ta::Array& x : xs) at.push_back(level(x, k, axis));
    ta::Scanned step = body(carries, at);
    carries = std::move(step.carries);
    ta::evaluate(carries);
    ta::evaluate(step.ys);
    ys[static_cast<std::size_t>(k)] = std::move(step.ys);
  }
  ta::Scanned done{carries, {}};
  for (std::size_t y = 0; y < ys.front().size(); ++y) {
    Arrays all;
    for (const Arrays& of_level : ys) all.push_back(of_level[y]);
    done.ys.push_back(ta::stack(all, axis));
  }
  return done;
}

void check_same(const Arrays& got, const Arrays& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i].shape() == expected[i].shape());
    REQUIRE(got[i].dtype() == expected[i].dtype());
    const auto a = ta::astype(got[i], ta::float64).to_vector<double>();
    const auto b = ta::astype(expected[i], ta::float64).to_vector<double>();
    for (std::size_t k = 0; k < a.size(); ++k) REQUIRE(same_bits<double>(a[k], b[k]));
  }
}

/// A scan has the bits of its levels one by one. Returns the counters of its evaluate.
ta::Counters check_scan(const Arrays& init, const Arrays& xs, const ta::ScanBody& body, int axis,
                        bool reverse = false) {
  ta::Scanned got = ta::scan(init, xs, body, {.axis = axis, .reverse = reverse});
  Arrays all = got.carries;
  all.insert(all.end(), got.ys.begin(), got.ys.end());
  const ta::Counters counters = ta::evaluate(all).counters();
  const ta::Scanned expected = one_by_one(init, xs, body, axis, reverse);
  check_same(got.carries, expected.carries);
  check_same(got.ys, expected.ys);
  return counters;
}

/// x <- a x + b
ta::Scanned linear(std::span<const ta::Array> c, std::span<const ta::Array> x) {
  const ta::Array next = c[0] * x[0] + x[1];
  return {{next}, {next}};
}

}  // namespace

TEST_CASE("scan: a recurrence along any axis, in both directions, is one kernel at the floor", "[loop]") {
  in_every_way([] {
    for (const int axis : {0, 1, 2})
      for (const bool reverse : {false, true}) {
        const ta::Array a = noise({6, 7, 5}, 1), b = noise({6, 7, 5}, 2);
        std::vector<std::int64_t> lanes = {6, 7, 5};
        lanes.erase(lanes.begin() + axis);
        const ta::Counters c = check_scan({noise(lanes, 3)}, {a, b}, linear, axis, reverse);
        CHECK(c.kernels == 1);
        CHECK(c.launches == 1);
        CHECK(c.bytes_read + c.bytes_written == c.bytes_lower_bound);
      }
  });
}

TEST_CASE("scan: one long recurrence is one launch", "[loop]") {
  in_every_way([] {
    const ta::Array a = noise({3000}, 1, ta::float32), b = noise({3000}, 2, ta::float32);
    CHECK(check_scan({ta::full({}, 0.5f, ta::float32)}, {a, b}, linear, 0).launches == 1);
  });
}

TEST_CASE("scan: several carries of several dtypes, which may swap", "[loop]") {
  in_every_way([] {
    const ta::Array x = noise({9, 40}, 4, ta::float32);
    const auto body = [](std::span<const ta::Array> c, std::span<const ta::Array> at) -> ta::Scanned {
      const ta::Array count = c[2] + ta::astype(at[0] > 0.0f, ta::int32);
      return {{c[1], c[0] * 0.5f + at[0], count, c[3]}, {c[0] - c[1], count, c[3]}};
    };
    CHECK(check_scan({noise({40}, 5, ta::float32), noise({40}, 6, ta::float32), ta::zeros({40}, ta::int32),
                      ta::full({40}, 3, ta::int16)},
                     {x}, body, 0)
              .kernels == 1);
  });
}

TEST_CASE("scan: a linear recurrence of two states, Fibonacci without xs", "[loop]") {
  in_every_way([] {
    const Arrays init = {ta::zeros({}, ta::int64), ta::ones({}, ta::int64)};
    const ta::Scanned done = ta::scan(init, {},
                                      [](std::span<const ta::Array> c, std::span<const ta::Array>) -> ta::Scanned {
                                        return {{c[1], c[0] + c[1]}, {c[0]}};
                                      },
                                      {.length = 10});
    CHECK(done.ys[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 1, 2, 3, 5, 8, 13, 21, 34});
    CHECK(done.carries[0].item<std::int64_t>() == 55);
  });
}

TEST_CASE("scan: what makes the xs and the init is computed in its kernel, what others read is stored", "[loop]") {
  in_every_way(
      [] {
        const ta::Array x = noise({8, 30}, 7), y = noise({8, 30}, 8), start = noise({30}, 9);
        const ta::Array a = ta::exp(x) * 0.25, b = ta::sin(y) + x;
        const Arrays init{start * 2.0}, xs{a, b};
        ta::Scanned done = ta::scan(init, xs, linear);
        ta::Array mean = ta::mean(done.ys[0], 1);
        const ta::Counters c = ta::evaluate(done.ys[0]).counters();
        CHECK(c.kernels == 1);
        check_same(done.ys, one_by_one({start * 2.0}, {a, b}, linear, 0).ys);
        CHECK(mean.shape() == std::vector<std::int64_t>{8});
      },
      {"compile"});
}

TEST_CASE("scan: xs and the init in another shape than they are stored in", "[loop]") {
  in_every_way([] {
    const ta::Array x = noise({6, 8, 5}, 1), few = noise({8, 1}, 2);
    const ta::Array turned = ta::reshape(ta::permute_dims(x, {1, 0, 2}), {12, 20});
    const ta::Array repeated = ta::reshape(ta::broadcast_to(few, {6, 8, 5}), {12, 20});
    const ta::Array counted = ta::reshape(ta::arange(0, 20, 1, ta::float64), {5, 4});
    const Arrays init{ta::reshape(ta::matrix_transpose(counted), {20})};
    for (const Arrays& xs :
         {Arrays{turned, repeated}, Arrays{repeated, turned}, Arrays{turned, ta::reshape(x, {12, 20})}})
      for (const int axis : {0, 1})
        check_scan(axis == 0 ? init : Arrays{ta::zeros({12}, ta::float64)}, xs, linear, axis);
  });
}

TEST_CASE("scan: an init, xs and arrays from outside broadcast", "[loop]") {
  in_every_way([] {
    const ta::Array x = noise({6, 4, 5}, 1), decay = noise({4, 1}, 2), seen = noise({6}, 3);
    const auto body = [&](std::span<const ta::Array> c, std::span<const ta::Array> at) -> ta::Scanned {
      const ta::Array next = c[0] * decay + at[0] * at[1];
      return {{next, c[1] + 1}, {next}};
    };
    const Arrays init{ta::zeros({}, ta::float64), ta::zeros({}, ta::int64)}, xs{x, seen};
    const ta::Scanned done = ta::scan(init, xs, body);
    const ta::Scanned expected = one_by_one({ta::zeros({4, 5}, ta::float64), ta::zeros({}, ta::int64)}, xs, body, 0);
    check_same(done.carries, expected.carries);
    check_same(done.ys, expected.ys);
    CHECK(done.carries[1].item<std::int64_t>() == 6);
  });
}

TEST_CASE("scan: constants of a body, and what it passes through", "[loop]") {
  in_every_way([] {
    const ta::Array x = noise({5, 6}, 1), w = noise({6}, 2);
    const auto body = [&](std::span<const ta::Array>, std::span<const ta::Array> at) -> ta::Scanned {
      return {{w}, {at[0], w * 2.0, ta::full({6}, 1.5)}};
    };
    check_scan({noise({6}, 3)}, {x}, body, 0);
  });
}

TEST_CASE("scan: a carry and a y as a pair", "[loop]") {
  const auto [total, sums] =
      ta::scan(ta::zeros({}, ta::int32), ta::array({1, 2, 3, 4}), [](const ta::Array& c, const ta::Array& x) {
        const ta::Array next = c + x;
        return std::pair(next, next * next);
      });
  CHECK(total.item<int>() == 10);
  CHECK(sums.to_vector<int>() == std::vector<int>{1, 9, 36, 100});
}

TEST_CASE("scan: the result of one is the x of the next", "[loop]") {
  in_every_way([] {
    const ta::Array a = noise({12, 9}, 1), b = noise({12, 9}, 2);
    const auto twice = [&](const auto& scan) {
      const ta::Array first = scan(Arrays{ta::zeros({9}, ta::float64)}, Arrays{a, b}, false).ys[0];
      return scan(Arrays{ta::zeros({9}, ta::float64)}, Arrays{a, first}, true).ys;
    };
    const Arrays got = twice([](const Arrays& init, const Arrays& xs, bool reverse) {
      return ta::scan(init, xs, linear, {.reverse = reverse});
    });
    check_same(got, twice([](const Arrays& init, const Arrays& xs, bool reverse) {
                 return one_by_one(init, xs, linear, 0, reverse);
               }));
  });
}

TEST_CASE("scan: equal scans are loops of their own", "[loop]") {
  in_every_way([] {
    const ta::Array a = noise({6, 8}, 1), b = noise({6, 8}, 2), zero = ta::zeros({8}, ta::float64);
    const Arrays init{zero}, xs{a, b};
    const ta::Array once = ta::scan(init, xs, linear).ys[0], again = ta::scan(init, xs, linear).ys[0];
    CHECK(ta::all(ta::equal(once, again)).item<bool>());
  });
}

TEST_CASE("scan: nothing to go over, and no lanes", "[loop]") {
  in_every_way([] {
    const Arrays init{ta::full({3}, 2.0)};
    const ta::Array none = ta::zeros({0, 3}, ta::float64);
    const ta::Scanned done = ta::scan(init, Arrays{none, none}, linear);
    CHECK(done.ys[0].shape() == std::vector<std::int64_t>{0, 3});
    CHECK(done.carries[0].to_vector<double>() == std::vector<double>{2.0, 2.0, 2.0});
    const ta::Array narrow = ta::zeros({4, 0}, ta::float64);
    CHECK(ta::scan(Arrays{ta::zeros({0}, ta::float64)}, Arrays{narrow, narrow}, linear).ys[0].shape() ==
          std::vector<std::int64_t>{4, 0});
  });
}

TEST_CASE("scan: a second evaluate and another length find the kernel", "[loop][cache]") {
  const ta::Scope on_cpu(ta::cpu);
  const auto run = [](std::int64_t n) {
    const ta::Array a = noise({n, 33}, 1), b = noise({n, 33}, 2);
    return ta::evaluate(ta::scan(Arrays{ta::zeros({33}, ta::float64)}, Arrays{a, b}, linear).ys[0]).counters();
  };
  run(20);
  CHECK(run(20).compiles == 0);
  CHECK(run(20).plan_hit);
  CHECK(run(31).compiles == 0);
}

TEST_CASE("scan: a value of a level is no array to read, and a failed body loses nothing", "[loop]") {
  const ta::Array x = noise({4, 3}, 1), zero = ta::zeros({3}, ta::float64);
  const std::string read = message_of([&] {
    (void)ta::scan(zero, x, [](const ta::Array& c, const ta::Array& at) {
      if (c(0).item<double>() > 0) return std::pair(c, at);
      return std::pair(at, c);
    });
  });
  CHECK(read.find("of the body of a scan") != std::string::npos);
  ta::Array leaked;
  const auto [last, ys] = ta::scan(zero, x, [&](const ta::Array& c, const ta::Array& at) {
    leaked = c + at;
    return std::pair(leaked, leaked);
  });
  CHECK(message_of([&] { ta::evaluate(leaked + 1.0); }).find("what the body returns") != std::string::npos);
  CHECK(ta::allclose(last, ta::sum(x, 0)).item<bool>());
  CHECK(ys.shape() == x.shape());
}

TEST_CASE("scan: work that waits beyond its budget leaves values of a level alone", "[loop]") {
  const ta::Scope on_cpu(ta::cpu), few{ta::Budget{30, 1 << 20}};
  const CapturedLog quiet;
  const ta::Array x = noise({5, 4}, 1);
  const auto body = [](const ta::Array& c, const ta::Array& at) {
    ta::Array next = c;
    for (int i = 0; i < 80; ++i) next = next * 0.5 + at;
    return std::pair(next, next);
  };
  const auto [last, ys] = ta::scan(ta::zeros({4}, ta::float64), x, body);
  CHECK(ta::all(ta::equal(last, ys(4))).item<bool>());
}

TEST_CASE("tridiagonal_solve: the solution solves, along any axis, and reads nothing beyond the ends",
          "[loop][solve]") {
  in_every_way([] {
    for (const int axis : {0, 1}) {
      const ta::Array lower = noise({12, 12}, 1), upper = noise({12, 12}, 2), x = noise({12, 12}, 4);
      const ta::Array diagonal = noise({12, 12}, 3) + 4.0;
      ta::Array right = diagonal * x, below = lower, above = upper;
      const auto at = [&](const ta::Slice& s) {
        return axis == 0 ? std::vector<ta::Index>{s} : std::vector<ta::Index>{ta::slice(), s};
      };
      const ta::Slice after = ta::slice(1, ta::none), until = ta::slice(0, 11);
      const auto part = [&](const ta::Array& of, const ta::Slice& s) { return axis == 0 ? of(s) : of(ta::slice(), s); };
      right = ta::with_set(right, at(after), part(right, after) + part(lower, after) * part(x, until));
      right = ta::with_set(right, at(until), part(right, until) + part(upper, until) * part(x, after));
      below = ta::with_set(below, at(ta::slice(0, 1)), std::numeric_limits<double>::quiet_NaN());
      above = ta::with_set(above, at(ta::slice(11, 12)), std::numeric_limits<double>::quiet_NaN());
      const ta::Array solved = ta::tridiagonal_solve(below, diagonal, above, right, {.axis = axis});
      CHECK(ta::allclose(solved, x).item<bool>());
    }
  });
}

TEST_CASE(
    "tridiagonal_solve: coefficients, elimination and substitution are one kernel where lanes keep what is between",
    "[loop][solve]") {
  on_every_device([](ta::Device) {
    for (const int axis : {0, 1}) {
      const ta::Array k = noise({24, 24}, 1), u = noise({24, 24}, 2);
      ta::evaluate(k);
      const ta::Array rate = ta::exp(k) * 0.1;
      const auto solve = [&] { return ta::tridiagonal_solve(-rate, 1.0 + 2.0 * rate, -rate, u, {.axis = axis}); };
      const ta::Array together = solve();
      const ta::Counters c = ta::evaluate(together).counters();
      CHECK(c.kernels == 1);
      CHECK(c.bytes_read + c.bytes_written == c.bytes_lower_bound);
      const Setting apart("TARRY_DISABLE", "fusion");
      check_same({together}, {solve()});
    }
  });
}

TEST_CASE("pentadiagonal_solve: the solution solves, along any axis, and reads nothing beyond the ends",
          "[loop][solve]") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  in_every_way([] {
    for (const std::int64_t n : {1, 2, 3, 9}) {
      const ta::Array x = noise({n, 4}, 9);
      Arrays bands;  // of diagonals -2 to 2; what lies outside of the matrix is NaN
      ta::Array right = ta::zeros({n, 4}, ta::float64);
      for (int d = -2; d <= 2; ++d) {
        std::vector<double> inside;
        for (std::int64_t k = 0; k < n; ++k) inside.push_back(k + d < 0 || k + d >= n ? 0 : 1);
        const ta::Array there = ta::reshape(ta::asarray(inside), {n, 1}) != 0.0;
        const ta::Array band = noise({n, 4}, static_cast<unsigned>(d + 20)) + (d == 0 ? 6.0 : 0.0);
        bands.push_back(ta::where(there, band, kNaN));
        right = right + ta::where(there, band * ta::roll(x, -d, 0), 0.0);
      }
      const ta::Array down =
          ta::pentadiagonal_solve(bands[0], bands[1], bands[2], bands[3], bands[4], right, {.axis = 0});
      CHECK(ta::allclose(down, x).item<bool>());
      for (ta::Array& band : bands) band = ta::matrix_transpose(band);
      const ta::Array across =
          ta::pentadiagonal_solve(bands[0], bands[1], bands[2], bands[3], bands[4], ta::matrix_transpose(right));
      CHECK(ta::allclose(across, ta::matrix_transpose(x)).item<bool>());
    }
  });
}

TEST_CASE("scan: loops that read each other's results lane by lane are one kernel, others are not", "[loop]") {
  on_every_device([](ta::Device) {
    const ta::Array a = noise({15, 9}, 1), b = noise({15, 9}, 2), zero = ta::zeros({9}, ta::float64);
    const Arrays init{zero};
    const ta::Scanned up = ta::scan(init, Arrays{a, b}, linear);
    const auto kernels = [](const ta::Array& x) { return ta::evaluate(x).counters().kernels; };
    const ta::Scanned down = ta::scan(up.carries, Arrays{a, up.ys[0] * 2.0}, linear, {.reverse = true});
    CHECK(kernels(down.ys[0]) == 1);
    check_same(down.ys, one_by_one(up.carries, {a, up.ys[0] * 2.0}, linear, 0, true).ys);
    const ta::Scanned anew = ta::scan(init, Arrays{a, b}, linear);
    const ta::Array turned = ta::flip(anew.ys[0], 1);
    CHECK(kernels(ta::scan(init, Arrays{a, turned}, linear).ys[0]) == 2);
    const ta::Scanned more = ta::scan(init, Arrays{a, b}, linear);
    const ta::Array rows = ta::softmax(more.ys[0], 1);
    CHECK(kernels(ta::scan(init, Arrays{a, rows}, linear).ys[0]) == 3);
  });
}

TEST_CASE("scan and while_loop: what follows elementwise is part of the kernel, where it adds no value to memory",
          "[loop]") {
  in_every_way([] {
    const ta::Array x = noise({40, 30}, 1), weights = noise({30}, 2), zero = ta::zeros({30}, ta::float64);
    ta::evaluate(x, weights, zero);
    const auto last = [&] {
      return ta::scan(Arrays{zero}, Arrays{x},
                      [](std::span<const ta::Array> c, std::span<const ta::Array> at) {
                        return ta::Scanned{{c[0] * 0.5 + at[0]}, {}};
                      })
          .carries[0];
    };
    ta::evaluate(last());
    const ta::Array alone = last();
    ta::evaluate(alone);
    const auto of = [&](const ta::Array& c) {
      return Arrays{ta::where(c > 0.0, ta::sqrt(ta::abs(c)), weights) * ta::exp(weights), c * c};
    };
    const Arrays expected = of(alone);
    ta::evaluate(expected);
    const Arrays together = of(last());
    const ta::Counters c = ta::evaluate(together).counters();
    check_same(together, expected);
    const ta::Array carried = last(), twice = carried * 2.0;
    const ta::Counters both = ta::evaluate(carried, twice).counters();
    check_same({carried, twice}, {alone, alone * 2.0});
    const ta::Array sum = ta::sum(of(last())[0]), turned = ta::flip(last()) + 1.0, mixed = last() * ta::sum(last());
    check_same({sum, turned, mixed}, {ta::sum(expected[0]), ta::flip(alone) + 1.0, alone * ta::sum(alone)});
    if (ta::support::env::get("TARRY_DISABLE").value_or("") == "fusion") return;
    CHECK(c.kernels == 1);
    CHECK(c.bytes_read == (40 * 30 + 2 * 30) * 8);
    CHECK(c.bytes_written == 2 * 30 * 8);
    CHECK(both.kernels == 1);
  });
}

TEST_CASE("scan: what is made of its ys, level by level, is made in its kernel and not of stored ys", "[loop]") {
  const auto check = [](const std::function<Arrays()>& made, int kernels) {
    const Arrays together = made();
    const ta::Report report = ta::evaluate(together);
    if (ta::support::env::get("TARRY_DISABLE").value_or("") != "fusion") CHECK(report.counters().kernels == kernels);
    const Setting apart("TARRY_DISABLE", "fusion,behind_loops");
    check_same(together, made());
  };
  on_every_device([&](ta::Device device) {
    const int in_rows = device == ta::cpu ? 2 : 1;
    const ta::Array x = noise({40, 300}, 1), u = noise({40, 300}, 2), row = noise({300}, 3), column = noise({40, 1}, 4);
    ta::evaluate(x, u, row, column);
    const auto ys = [&](const ta::Array& of, int axis, bool reverse = false) {
      return ta::scan(ta::zeros({}, ta::float64), of,
                      [](const ta::Array& c, const ta::Array& v) { return std::pair(c * 0.5 + v, c - v); },
                      {.axis = axis, .reverse = reverse})
          .second;
    };
    check([&] { return Arrays{ta::exp(ys(x, 0))}; }, 1);
    check([&] { return Arrays{(ys(x, 0, true) * 2.0 + u) * row}; }, 1);
    check(
        [&] {
          const ta::Array y = ys(x, 0);
          return Arrays{y, ta::sin(y) + u, y * y};
        },
        1);
    check([&] { return Arrays{ta::exp(ys(ta::matrix_transpose(x), 1))}; }, in_rows);
    check([&] { return Arrays{ta::exp(ys(x, 1))}; }, 2);  // of 40 lanes: too few for what is dear
    check([&] { return Arrays{ys(x, 1) + 1.0}; }, in_rows);
    check([&] { return Arrays{ys(x, 1) + u}; }, 2);  // another array to turn
    check(
        [&] {
          const ta::Array y = ys(x, 1);
          return Arrays{y, y + 1.0};
        },
        2);
    check([&] { return Arrays{ys(x, 0) * column}; }, 2);  // has the axis of levels, with one place
    check(
        [&] {
          const ta::Array y = ys(x, 0);
          return Arrays{y - ta::sum(y, 0)};
        },
        3);  // reads all levels at each
    check(
        [&] {
          const ta::Array y = ys(x, 0);
          return Arrays{y + ys(y * u, 0)};
        },
        1);
    check([&] { return Arrays{ta::sum(ta::exp(ys(x, 0)), 1)}; }, 2);  // not asked for itself
    check([&] { return Arrays{ta::tridiagonal_solve(x, x + 5.0, x, u, {.axis = 0}) * 2.0 + u}; }, 1);
  });
}

TEST_CASE("linear_recurrence, ewma and lfilter are their formulas", "[loop][solve]") {
  in_every_way([] {
    const ta::Array a = noise({5, 20}, 1), b = noise({5, 20}, 2), start = noise({5}, 3);
    const auto va = a.to_vector<double>(), vb = b.to_vector<double>(), vs = start.to_vector<double>();
    const auto x = ta::linear_recurrence(a, b, {.initial = start}).to_vector<double>();
    const auto back = ta::linear_recurrence(a, b, {.reverse = true}).to_vector<double>();
    const auto mean = ta::ewma(a, 0.25).to_vector<double>();
    const auto filtered = ta::lfilter({0.5, 0.25, 0.125}, {2.0, -0.5}, a).to_vector<double>();
    for (std::size_t i = 0; i < 5; ++i) {
      double c = vs[i], r = 0, m = va[i * 20];
      for (std::size_t k = 0; k < 20; ++k) {
        const std::size_t at = i * 20 + k, turned = i * 20 + 19 - k;
        c = va[at] * c + vb[at];
        r = va[turned] * r + vb[turned];
        if (k > 0) m = m + 0.25 * (va[at] - m);
        REQUIRE(same_bits<double>(x[at], c));
        REQUIRE(same_bits<double>(back[turned], r));
        REQUIRE(same_bits<double>(mean[at], m));
        double y = 0.25 * va[at];
        if (k > 0) y += 0.125 * va[at - 1] + 0.25 * filtered[at - 1];
        if (k > 1) y += 0.0625 * va[at - 2];
        REQUIRE(std::abs(filtered[at] - y) < 1e-13);
      }
    }
  });
}

TEST_CASE("recurrences of integers are float64, and coefficients broadcast", "[loop][solve]") {
  const ta::Array x = ta::reshape(ta::arange(6), {2, 3});
  CHECK(ta::linear_recurrence(ta::array({1, 2, 3}), x).dtype() == ta::float64);
  CHECK(ta::linear_recurrence(ta::array({1, 2, 3}), x).to_vector<double>() == std::vector<double>{0, 1, 5, 3, 10, 35});
  CHECK(ta::ewma(ta::astype(x, ta::float32), 1.0, {.axis = 0}).dtype() == ta::float32);
}

TEST_CASE("while_loop: Newton's method ends element by element, in one kernel", "[loop]") {
  in_every_way([] {
    const ta::Array x = ta::abs(noise({700}, 21)) * 100.0 + 0.5;
    const Arrays state = {x, ta::zeros({}, ta::int32)};
    const Arrays done =
        ta::while_loop([&](std::span<const ta::Array> s) { return ta::abs(s[0] * s[0] - x) > 1e-9 * x; },
                       [&](std::span<const ta::Array> s) { return Arrays{0.5 * (s[0] + x / s[0]), s[1] + 1}; }, state);
    CHECK(ta::evaluate(done).counters().kernels == 1);
    const auto root = done[0].to_vector<double>(), of = x.to_vector<double>();
    const auto rounds = done[1].to_vector<int>();
    for (std::size_t i = 0; i < of.size(); ++i) {
      double r = of[i];
      int n = 0;
      for (; std::fabs(r * r - of[i]) > 1e-9 * of[i]; ++n) r = 0.5 * (r + of[i] / r);
      REQUIRE(same_bits<double>(root[i], r));
      REQUIRE(rounds[i] == n);
    }
  });
}

TEST_CASE("while_loop: an element that is done keeps its state, one that never is stops at the limit", "[loop]") {
  in_every_way([] {
    const ta::Array x = ta::array({1, 3, 200});
    const auto doubled = [&](std::int64_t limit) {
      return ta::while_loop([](const ta::Array& s) { return s < 100; }, [](const ta::Array& s) { return s * 2; }, x,
                            {.limit = limit});
    };
    CHECK(doubled(1000).to_vector<int>() == std::vector<int>{128, 192, 200});
    CHECK(doubled(2).to_vector<int>() == std::vector<int>{4, 12, 200});
    CHECK(doubled(0).to_vector<int>() == std::vector<int>{1, 3, 200});
    const ta::Array for_ever = ta::while_loop([](const ta::Array& s) { return s == s; },
                                              [](const ta::Array& s) { return s + 1; }, x, {.limit = 7});
    CHECK(for_ever.to_vector<int>() == std::vector<int>{8, 10, 207});
  });
}

TEST_CASE("while_loop: the condition and other states widen a state", "[loop]") {
  in_every_way([] {
    const ta::Array limit = ta::array({{4.0}, {9.0}}), step = ta::array({1.0, 2.0, 3.0});
    const ta::Array done = ta::while_loop([&](const ta::Array& s) { return s < limit; },
                                          [&](const ta::Array& s) { return s + step; }, ta::zeros({}, ta::float64));
    CHECK(done.to_vector<double>() == std::vector<double>{4, 4, 6, 9, 10, 9});
  });
}

TEST_CASE("while_loop: a state that only the condition changes, and a body that changes nothing", "[loop]") {
  in_every_way([] {
    const ta::Array x = noise({40}, 22);
    const Arrays same = ta::while_loop([](std::span<const ta::Array> s) { return s[1] < 3; },
                                       [](std::span<const ta::Array> s) { return Arrays{s[0], s[1] + 1}; },
                                       Arrays{x, ta::zeros({}, ta::int32)});
    check_same({same[0]}, {x});
    CHECK(same[1].item<int>() == 3);
    const ta::Array never =
        ta::while_loop([](const ta::Array& s) { return s != s; }, [](const ta::Array& s) { return s * 2.0; }, x);
    check_same({never}, {x});
  });
}
