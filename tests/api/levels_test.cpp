// Recurrences recorded level by level: values, kernels and bytes, beside the same with an evaluation at each level.
#include <functional>
#include <random>
#include <vector>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

constexpr ta::Slice kAll = ta::slice();

ta::Array noise(const std::vector<std::int64_t>& shape, unsigned seed) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> v(static_cast<std::size_t>(count));
  std::mt19937 random(seed);
  for (double& x : v) x = std::uniform_real_distribution<double>(0.5, 1.5)(random);
  return ta::asarray(v, shape);
}

/// Evaluates on the way, or not.
using Pause = std::function<void(const ta::Array&)>;
using Program = std::function<std::vector<ta::Array>(const Pause&)>;

/// A program gives the same bits at once and level by level; returns the counters of the former.
ta::Counters check_program(const Program& program) {
  std::vector<ta::Array> now = program([](const ta::Array&) {});
  const ta::Counters c = ta::evaluate(now).counters();
  const std::vector<ta::Array> apart = program([](const ta::Array& x) { ta::evaluate(x); });
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::vector<double> x = now[i].to_vector<double>(), y = apart[i].to_vector<double>();
    REQUIRE(x.size() == y.size());
    for (std::size_t k = 0; k < x.size(); ++k) CHECK(same_bits<double>(x[k], y[k]));
  }
  return c;
}

std::int64_t bytes(const ta::Counters& c) { return c.bytes_read + c.bytes_written; }

}  // namespace

TEST_CASE("levels: a recurrence by set or by stack is one kernel at the floor", "[levels]") {
  on_every_device([](ta::Device) {
    for (const std::int64_t levels : {20, 80}) {
      const ta::Array a = noise({50, levels}, 1), b = noise({50, levels}, 2);
      for (const bool stacked : {false, true}) {
        const ta::Counters c = check_program([&](const Pause& pause) {
          ta::Array x = ta::zeros_like(a), s = b(kAll, 0);
          std::vector<ta::Array> columns;
          for (std::int64_t k = 0; k < levels; ++k) {
            if (k > 0) s = s * a(kAll, k) + b(kAll, k);
            pause(s);
            if (stacked)
              columns.push_back(s);
            else
              x.set({kAll, k}, s);
          }
          return std::vector{stacked ? ta::stack(columns, 1) : x};
        });
        CHECK(c.kernels == 1);
        CHECK(bytes(c) == c.bytes_lower_bound);
      }
    }
  });
}

TEST_CASE("levels: a tridiagonal solve is one kernel that stores the solution alone", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 24;
    for (const bool last : {true, false}) {
      const std::vector<std::int64_t> shape =
          last ? std::vector<std::int64_t>{40, n} : std::vector<std::int64_t>{n, 40};
      const ta::Array a = noise(shape, 1), b = ta::with_add(noise(shape, 2), {}, 4.0), c = noise(shape, 3),
                      d = noise(shape, 4);
      ta::evaluate(b);
      const auto level = [&](const ta::Array& x, std::int64_t k) { return last ? x(kAll, k) : x(k); };
      const auto set = [&](ta::Array& x, std::int64_t k, const ta::Array& v) {
        last ? x.set({kAll, k}, v) : x.set({k}, v);
      };
      const ta::Counters counters = check_program([&](const Pause& pause) {
        ta::Array up = ta::zeros_like(a), right = ta::zeros_like(a), x = ta::zeros_like(a);
        set(up, 0, level(c, 0) / level(b, 0));
        set(right, 0, level(d, 0) / level(b, 0));
        for (std::int64_t k = 1; k < n; ++k) {
          const ta::Array pivot = level(b, k) - level(a, k) * level(up, k - 1);
          set(up, k, level(c, k) / pivot);
          set(right, k, (level(d, k) - level(a, k) * level(right, k - 1)) / pivot);
          pause(up), pause(right);
        }
        set(x, n - 1, level(right, n - 1));
        for (std::int64_t k = n - 1; k-- > 0;) {
          set(x, k, level(right, k) - level(up, k) * level(x, k + 1));
          pause(x);
        }
        return std::vector{x};
      });
      CHECK(counters.kernels == 1);
      CHECK(bytes(counters) <= counters.bytes_lower_bound);
    }
  });
}

TEST_CASE("levels: states that feed each other, and the last of them", "[levels]") {
  on_every_device([](ta::Device) {
    const ta::Array a = noise({12, 30}, 5);
    const ta::Counters c = check_program([&](const Pause& pause) {
      ta::Array x = ta::zeros_like(a), y = ta::zeros_like(a);
      x.set({0}, a(0));
      y.set({0}, a(1));
      for (std::int64_t k = 1; k < 12; ++k) {
        const ta::Array px = x(k - 1), py = y(k - 1);
        x.set({k}, px + py * 0.1);
        y.set({k}, py - ta::sin(px) * a(k));
        pause(x), pause(y);
      }
      return std::vector{x, y, y(11) * 2.0};
    });
    CHECK(c.kernels <= 2);
  });
}

TEST_CASE("levels: what a base holds beside the levels stays", "[levels]") {
  on_every_device([](ta::Device) {
    const ta::Array base = noise({9, 40}, 6), a = noise({9, 40}, 7);
    const ta::Counters c = check_program([&](const Pause& pause) {
      ta::Array x = base;
      for (std::int64_t k = 29; k-- > 2;) {
        x.set({kAll, k}, x(kAll, k + 1) - a(kAll, k) * 0.5);
        pause(x);
      }
      return std::vector{x};
    });
    CHECK(c.kernels == 1);
    CHECK(base(0, 5).item<double>() == noise({9, 40}, 6)(0, 5).item<double>());
  });
}
