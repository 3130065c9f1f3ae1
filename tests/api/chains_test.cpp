// Chains of states, each computed from the one before, of which a program keeps the last: values, kernels and bytes,
// beside the same with an evaluation at each step.
#include <vector>

#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/stepwise.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

ta::Array langevin(ta::Array x, const ta::Array& noise, std::int64_t steps, const Pause& pause = {}) {
  for (std::int64_t t = 0; t < steps; ++t) {
    x = x - 0.01 * (x * x * x - x) + 0.1 * noise(t);
    if (pause) pause(x);
  }
  return x;
}

}  // namespace

TEST_CASE("chains: steps along an axis are one kernel that reads each place once", "[chains]") {
  on_every_device([](ta::Device) {
    for (const std::int64_t steps : {30, 200}) {
      const ta::Array start = noise({500}, 1), path = noise({steps, 500}, 2);
      const ta::Counters c =
          check_program([&](const Pause& pause) { return std::vector{langevin(start, path, steps, pause)}; });
      CHECK(c.kernels == 1);
      CHECK(bytes(c) == c.bytes_lower_bound);
    }
  });
}

TEST_CASE("chains: one compiled kernel serves any number of steps", "[chains]") {
  on_every_device([](ta::Device) {
    const CacheDirectory cache;
    const ta::Array start = noise({500}, 1), path = noise({300, 500}, 2);
    for (const std::int64_t steps : {120, 115, 121, 300}) {
      ta::Array x = start;
      for (std::int64_t t = 0; t < steps; ++t) x = ta::minimum(x * 0.5 + path(t) * x * x - 0.25, 3.0) + 0.125;
      const ta::Counters c = ta::evaluate(x).counters();
      CHECK(c.kernels == 1);
      CHECK(c.compiles == (steps == 120 ? 1 : 0));
    }
  });
}

TEST_CASE("chains: states that read each other are one loop, whichever is new already", "[chains]") {
  on_every_device([](ta::Device) {
    const ta::Array a = noise({300}, 1), b = noise({300}, 2), u = noise({40, 300}, 3);
    const ta::Counters c = check_program([&](const Pause& pause) {
      ta::Array x = a, y = b, sum = ta::zeros({300}, ta::float64);
      for (std::int64_t t = 0; t < 40; ++t) {
        const ta::Array before = x;
        const ta::Array moved = x + 0.05 * y * (1.0 - x);
        x = ta::where(u(t) < 1.2, moved, x);
        y = y - 0.03 * before * y + 0.01 * x;
        sum = sum + x;
        pause(x), pause(y), pause(sum);
      }
      return std::vector{x, y, sum / 40.0};
    });
    CHECK(c.kernels == 1);
    CHECK(bytes(c) == c.bytes_lower_bound);
  });
}

TEST_CASE("chains: a walk, how often it moved and the sum of its places are one kernel", "[chains]") {
  on_every_device([](ta::Device) {
    const ta::Array z = noise({200, 300}, 1), u = noise({200, 300}, 2);
    for (const std::int64_t steps : {100, 200}) {
      const ta::Counters c = check_program([&](const Pause& pause) {
        ta::Array x = ta::zeros({300}, ta::float64), moved = x, sum = x;
        const auto density = [](const ta::Array& at) { return at * at - 0.25 * ta::square(ta::square(at)); };
        for (std::int64_t t = 0; t < steps; ++t) {
          const ta::Array next = x + 0.8 * (z(t) - 1.0), accepted = ta::log(u(t)) < density(next) - density(x);
          x = ta::where(accepted, next, x);
          moved = moved + ta::astype(accepted, ta::float64);
          sum = sum + x;
          pause(x), pause(moved), pause(sum);
        }
        return std::vector{x, moved, sum};
      });
      CHECK(c.kernels == 1);
      CHECK(bytes(c) == c.bytes_lower_bound);
    }
  });
}

TEST_CASE("chains: rounds of a formula that needs no memory", "[chains]") {
  on_every_device([](ta::Device) {
    const ta::Array re = noise({200}, 1) - 1.5, im = noise({200}, 2) - 1.0;
    const ta::Counters c = check_program([&](const Pause& pause) {
      ta::Array x = ta::zeros_like(re), y = x, count = ta::zeros({200}, ta::float64);
      for (int i = 0; i < 50; ++i) {
        const ta::Array xx = x * x, yy = y * y, live = xx + yy <= 4.0;
        y = ta::where(live, 2.0 * x * y + im, y);
        x = ta::where(live, xx - yy + re, x);
        count = count + ta::astype(live, ta::float64);
        pause(count), pause(x), pause(y);
      }
      return std::vector{count};
    });
    CHECK(c.kernels == 1);
    CHECK(c.bytes_temporary == 0);
  });
}

TEST_CASE("chains: a number of each step is a parameter, and places may go backwards", "[chains]") {
  on_every_device([](ta::Device) {
    const ta::Array start = noise({64}, 1), path = noise({64, 60}, 2);
    const ta::Counters c = check_program([&](const Pause& pause) {
      ta::Array x = start;
      for (std::int64_t t = 0; t < 60; ++t) {
        x = ta::minimum(x * 0.9 + path(ta::slice(), 59 - t) / static_cast<double>(t + 1), 2.0);
        pause(x);
      }
      return std::vector{x};
    });
    CHECK(c.kernels == 1);
  });
}

TEST_CASE("chains: what others read on the way, and what follows a chain", "[chains]") {
  on_every_device([](ta::Device) {
    const ta::Array start = noise({80}, 1), path = noise({64, 80}, 2), scale = 2.0 * ta::cos(noise({80}, 3));
    ta::Counters c = check_program([&](const Pause& pause) {
      ta::Array x = start, before = start, half;
      for (std::int64_t t = 0; t < 64; ++t) {
        const ta::Array next = path(t) + scale * x - before;
        before = x, x = next;
        pause(x);
        if (t == 31) half = x;
      }
      return std::vector{x * x + before * before - scale * x * before, half};
    });
    CHECK(c.kernels <= 3);
    c = check_program([&](const Pause& pause) {
      const ta::Array x = langevin(start, path, 64, pause);
      return std::vector{ta::sum(x), ta::max(ta::exp(x) + start)};
    });
    CHECK(c.kernels <= 3);
  });
}

TEST_CASE("chains: neighbours and sums in a step are no chain, and have the bits of steps", "[chains]") {
  on_every_device([](ta::Device) {
    const ta::Array start = noise({90}, 1);
    check_program([&](const Pause& pause) {
      ta::Array x = start, y = start;
      for (int t = 0; t < 30; ++t) {
        x = x + 0.1 * (ta::roll(x, 1) - 2.0 * x + ta::roll(x, -1));
        y = y / ta::sum(y) + 0.5 * y * y - 0.1 * y;
        pause(x), pause(y);
      }
      return std::vector{x, y};
    });
  });
}
