// Recurrences recorded level by level: values, kernels and bytes, beside the same with an evaluation at each level.
#include <algorithm>
#include <functional>
#include <vector>

#include "tests/helpers/devices.h"
#include "tests/helpers/stepwise.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

constexpr ta::Slice kAll = ta::slice();

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

TEST_CASE("levels: a tridiagonal solve of hundreds of levels is one kernel too", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 700;
    const ta::Array a = noise({n, 3}, 1), b = ta::with_add(noise({n, 3}, 2), {}, 4.0), c = noise({n, 3}, 3),
                    d = noise({n, 3}, 4);
    ta::evaluate(b);
    std::vector<ta::Array> up = {c(0) / b(0)}, right = {d(0) / b(0)};
    for (std::int64_t k = 1; k < n; ++k) {
      const ta::Array pivot = b(k) - a(k) * up.back();
      right.push_back((d(k) - a(k) * right.back()) / pivot);
      up.push_back(c(k) / pivot);
    }
    std::vector<ta::Array> x = {right.back()};
    for (std::size_t k = static_cast<std::size_t>(n) - 1; k-- > 0;) x.push_back(right[k] - up[k] * x.back());
    std::ranges::reverse(x);
    const ta::Array solution = ta::stack(x);
    CHECK(ta::plan(solution).counters().kernels == 1);
    CHECK(same_bits(solution.to_vector<double>(), ta::tridiagonal_solve(a, b, c, d, {.axis = 0}).to_vector<double>()));
  });
}

TEST_CASE("levels: many that do not read each other are one kernel at the floor", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 90;
    for (const int axis : {0, 1}) {
      const auto at = [&](const ta::Array& x, std::int64_t k) { return axis == 0 ? x(k) : x(kAll, k); };
      const std::vector<std::int64_t> shape =
          axis == 0 ? std::vector<std::int64_t>{n, 21} : std::vector<std::int64_t>{21, n};
      const ta::Array a = noise({21}, 1), m = noise(shape, 2);
      const std::vector<std::function<ta::Array(std::int64_t)>> formulas = {
          [&](std::int64_t k) { return a * static_cast<double>(k + 1); },
          [&](std::int64_t k) { return at(m, n - 1 - k) * a + at(m, k); },
          [&](std::int64_t k) { return ta::exp(k == 40 ? a : at(m, k)) - at(m, k / 2); },
      };
      for (std::size_t f = 0; f < formulas.size(); ++f) {
        for (const std::int64_t first : {0, 7}) {
          INFO("axis " << axis << ", formula " << f << ", from " << first);
          const ta::Counters c = check_program([&](const Pause& pause) {
            ta::Array x = m - 1.0;
            for (std::int64_t k = first; k < n - first; ++k) {
              axis == 0 ? x.set({k}, formulas[f](k)) : x.set({kAll, k}, formulas[f](k));
              if (k % 10 == 3) pause(x);
            }
            return std::vector{x};
          });
          if (f < 2 && first == 0) CHECK(c.kernels == 1);
          if (f < 2 && first == 0) CHECK(bytes(c) <= c.bytes_lower_bound);
        }
      }
    }
  });
}

TEST_CASE("levels: boxes that are copied, that take turns, and what lies between them", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 120;
    const ta::Array a = noise({9}, 1), m = noise({2 * n, 9}, 2), line = noise({n}, 3);
    struct Program {
      const char* name;
      std::function<ta::Array(const Pause&)> f;
      std::int64_t kernels;
    };
    const auto every = [&](std::int64_t first, std::int64_t last, std::int64_t step, const auto& value) {
      return [=](const Pause& pause) {
        ta::Array x = m(ta::slice(0, n));
        for (std::int64_t k = first; k < last; k += step) {
          x.set({k}, value(k));
          if (k % 16 == 2) pause(x);
        }
        return x;
      };
    };
    const auto scaled = [&](std::int64_t k) { return a * (static_cast<double>(k) + 0.5); };
    const Program programs[] = {
        {"rows of other arrays", every(0, n, 1, [&](std::int64_t k) { return m(2 * n - 1 - 2 * k); }), 1},
        {"the middle", every(20, 100, 1, scaled), 1},
        {"every third", every(0, n, 3, scaled), 1},
        {"two take turns", every(0, n, 1, [&](std::int64_t k) { return k % 2 ? ta::sqrt(m(k)) : scaled(k); }), 1},
        {"three, and the first of them twice",
         every(0, n, 1, [&](std::int64_t k) { return k % 3 == 1 ? ta::sqrt(m(k))
                                                     : k % 3    ? m(k)
                                                                : scaled(k); }), 1},
        {"another formula in the second half",
         every(0, n, 1, [&](std::int64_t k) { return k < 70 ? ta::sqrt(m(k)) : scaled(k); }), 1},
        {"a recurrence behind a copy", every(80, n, 1, [&](std::int64_t k) { return m(k) * 0.5; }), 1},
        {"numbers",
         [&](const Pause& pause) {
           ta::Array x = line * 2.0;
           for (std::int64_t k = 0; k < n - 10; ++k) {
             x.set({k}, 1.0 / static_cast<double>(k + 1));
             if (k % 16 == 2) pause(x);
           }
           return x;
         },
         2},
        {"a recurrence, then another",
         [&](const Pause& pause) {
           ta::Array x = m(ta::slice(0, n));
           for (std::int64_t k = 1; k < n; ++k) {
             x.set({k}, k < 60 ? x(k - 1) * 0.5 + m(k) : x(k - 1) * m(k));
             if (k % 16 == 2) pause(x);
           }
           return x;
         },
         0},
    };
    for (const Program& p : programs) {
      INFO(p.name);
      const ta::Counters c = check_program([&](const Pause& pause) { return std::vector{p.f(pause)}; });
      if (p.kernels > 0) CHECK(c.kernels == p.kernels);
    }
  });
}

TEST_CASE("levels: thousands of elements that are numbers are one kernel on a CPU", "[levels]") {
  const ta::Scope placed(ta::cpu);
  const std::int64_t n = 6000;
  ta::Array x = ta::zeros({n}, ta::float64);
  for (std::int64_t k = 0; k < n; ++k) x.set({k}, static_cast<double>(k) * 0.25);
  CHECK(ta::plan(x).counters().kernels == 1);
  CHECK(same_bits(x.to_vector<double>(), (ta::arange(n, ta::float64) * 0.25).to_vector<double>()));
}

TEST_CASE("levels: arrays that begin with the same levels, and one of them that others read", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 80;
    const ta::Array a = noise({n, 5}, 1), b = noise({n, 5}, 2);
    const auto grown = [&](ta::Array x, std::int64_t from, std::int64_t to, const ta::Array& by, const Pause& pause) {
      for (std::int64_t k = from; k < to; ++k) {
        x.set({k}, x(k - 1) * by(k) + a(k));
        if (k % 16 == 2) pause(x);
      }
      return x;
    };
    check_program([&](const Pause& pause) {
      const ta::Array half = grown(b, 1, n / 2, b, pause);
      const ta::Array first = grown(half, n / 2, n, a, pause), second = grown(half, n / 2, n, b, pause);
      return std::vector{first * 2.0, second, ta::sum(half, 1), ta::stack({first(n - 1), half(n - 1)})};
    });
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

TEST_CASE("levels: systems of constant coefficients take their pivots as numbers of each level", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 40;
    const ta::Array right = noise({30, n, 20}, 8);
    for (const int axis : {1, 2}) {
      const ta::Array rhs = axis == 1 ? right : ta::permute_dims(right, {0, 2, 1}) * 1.0;
      ta::evaluate(rhs);
      const auto at = [&](const ta::Array& x, std::int64_t k) {
        return axis == 2 ? x(ta::ellipsis, k) : x(ta::ellipsis, k, kAll);
      };
      const auto set = [&](ta::Array& x, std::int64_t k, const ta::Array& v) {
        axis == 2 ? x.set({ta::ellipsis, k}, v) : x.set({ta::ellipsis, k, kAll}, v);
      };
      const ta::Counters c = check_program([&](const Pause& pause) {
        std::vector<double> upper;
        ta::Array x = rhs;
        for (std::int64_t k = 0; k < n; ++k) {
          const double pivot = 1 / (4.0 + 0.01 * static_cast<double>(k) - (k > 0 ? upper.back() : 0));
          upper.push_back(pivot);
          set(x, k, (k > 0 ? at(rhs, k) + at(x, k - 1) : at(rhs, k)) * pivot);
          pause(x);
        }
        for (std::int64_t k = n - 2; k >= 0; --k) {
          set(x, k, at(x, k) + upper[static_cast<std::size_t>(k)] * at(x, k + 1));
          pause(x);
        }
        return std::vector{x};
      });
      CHECK(c.kernels == 1);
      CHECK(bytes(c) == c.bytes_lower_bound);
    }
  });
}

TEST_CASE("levels: what reads a part of the result reads what the levels have stored", "[levels]") {
  on_every_device([](ta::Device) {
    const ta::Array a = noise({50, 60}, 9);
    const ta::Counters c = check_program([&](const Pause& pause) {
      ta::Array x = a;
      for (std::int64_t k = 1; k < 60; ++k) {
        x.set({kAll, k}, x(kAll, k - 1) * 0.5 + a(kAll, k));
        pause(x);
      }
      for (std::int64_t k = 58; k >= 0; --k) {
        x.set({kAll, k}, x(kAll, k) - x(kAll, k + 1) * 0.25);
        pause(x);
      }
      const ta::Array y = ta::cos(x);
      return std::vector{y(kAll, ta::slice(1, ta::none)) - x(kAll, ta::slice(1, ta::none)), y};
    });
    CHECK(c.kernels <= 3);
    CHECK(bytes(c) <= 3 * c.bytes_lower_bound);
  });
}

TEST_CASE("levels: systems that share their coefficients are one kernel", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 24;
    const ta::Array exchange = noise({40, n - 1}, 10), u = noise({40, n}, 11), v = noise({40, n}, 12);
    const auto solve = [&](const ta::Array& rhs, const Pause& pause) {
      ta::Array upper = ta::zeros_like(rhs), x = rhs;
      for (std::int64_t k = 0; k < n; ++k) {
        const ta::Array down = k + 1 < n ? exchange(kAll, k) : ta::zeros_like(rhs(kAll, 0));
        ta::Array diagonal = 1 + down, value = rhs(kAll, k);
        if (k > 0) {
          const ta::Array up = exchange(kAll, k - 1);
          diagonal = diagonal + up - up * upper(kAll, k - 1);
          value = value + up * x(kAll, k - 1);
        }
        upper.set({kAll, k}, down / diagonal);
        x.set({kAll, k}, value / diagonal);
        pause(upper), pause(x);
      }
      for (std::int64_t k = n - 2; k >= 0; --k) {
        x.add({kAll, k}, upper(kAll, k) * x(kAll, k + 1));
        pause(x);
      }
      return x;
    };
    const ta::Counters c =
        check_program([&](const Pause& pause) { return std::vector{solve(u, pause), solve(v, pause)}; });
    CHECK(c.kernels == 1);
    CHECK(bytes(c) <= c.bytes_lower_bound);
  });
}

TEST_CASE("levels: numbers that are more than a kernel takes as parameters", "[levels]") {
  on_every_device([](ta::Device) {
    const std::int64_t n = 300;
    const ta::Array a = noise({n, 8}, 13);
    check_program([&](const Pause& pause) {
      ta::Array x = a;
      for (std::int64_t k = 1; k < n; ++k) {
        x.set({k}, x(k - 1) * (1.0 / static_cast<double>(k)) + a(k));
        if (k % 64 == 0) pause(x);
      }
      return std::vector{x};
    });
  });
}
