// Time of making plans: straight programs of as many operations as asked for, planned for a target that need not be
// there. Nothing is compiled or run.
#include <tarry/tarry.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/timing.h"

namespace ta = tarry;

namespace {

constexpr std::int64_t kPoints = 1 << 22;

using Program = std::vector<ta::Array>;  // its results

/// An array whose values nobody asks for.
template <class T>
ta::Array memory(const ta::Shape& shape) {
  static const std::vector<T> values(kPoints);
  return ta::borrow(values.data(), shape);
}

/// An equation of state: polynomials of two variables with roots and logarithms, several results.
Program polynomial(int operations) {
  const ta::Array x = memory<double>({kPoints}), y = memory<double>({kPoints});
  Program p;
  ta::Array root = ta::sqrt(x), sum = x + y;
  for (int n = 3; n < operations; n += 6) {
    sum = sum * root + 0.25 * y + x / (1.0 + y);
    if (n % 100 < 6) sum = ta::log(1.0 + ta::abs(sum));
    if (n % 300 < 6) p.push_back(sum);
  }
  p.push_back(sum);
  return p;
}

/// Differences of neighbours with tapering, written into the corners of two short trailing axes.
Program slopes(int operations) {
  constexpr std::int64_t kSide = 1024;
  const ta::Array t = memory<double>({kSide, kSide}), s = memory<double>({kSide, kSide});
  Program p;
  for (int n = 0; n < operations;) {
    ta::Array out = ta::zeros({kSide - 1, kSide - 1, 2, 2}, ta::float64);
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t k = 0; k < 2; ++k) {
        const auto at = [&](const ta::Array& a, std::int64_t row, std::int64_t column) {
          return a(ta::slice(row, kSide - 1 + row), ta::slice(column, kSide - 1 + column));
        };
        const ta::Array across = at(t, 1, k) - at(t, 0, k), along = at(s, i, 1) - at(s, i, 0) + 1e-20 * n;
        const ta::Array slope = across / along;
        const ta::Array taper = 0.5 * (1.0 + ta::tanh((0.01 - ta::abs(slope)) / 0.001));
        out.set({ta::slice(), ta::slice(), i, k}, slope * taper);
        n += 13;
      }
    }
    p.push_back(out);
  }
  return p;
}

/// Steps of the heat equation on a plane, the border as it is.
Program stencil(int operations) {
  constexpr std::int64_t kSide = 1024;
  ta::Array u = memory<float>({kSide, kSide});
  const auto inner = ta::slice(1, -1), before = ta::slice(ta::none, -2), behind = ta::slice(2, ta::none);
  for (int n = 0; n < operations; n += 7) {
    const ta::Array next = 0.25f * (u(before, inner) + u(behind, inner) + u(inner, before) + u(inner, behind));
    u.set({inner, inner}, next);
  }
  return {u};
}

/// Iterations of the pressure equation in a driven cavity: a stencil of several arrays, then four borders.
Program cavity(int operations) {
  constexpr std::int64_t kSide = 512;
  ta::Array p = memory<double>({kSide, kSide});
  const ta::Array b = memory<double>({kSide, kSide});
  const auto inner = ta::slice(1, -1), before = ta::slice(ta::none, -2), behind = ta::slice(2, ta::none);
  for (int n = 0; n < operations; n += 13) {
    const ta::Array next =
        ((p(inner, behind) + p(inner, before)) * 0.5 + (p(behind, inner) + p(before, inner)) * 0.7) / 2.4 -
        0.1 * b(inner, inner);
    p.set({inner, inner}, next);
    p.set({ta::slice(), -1}, p(ta::slice(), -2));
    p.set({0, ta::slice()}, p(1));
    p.set({ta::slice(), 0}, p(ta::slice(), 1));
    p.set({-1, ta::slice()}, 0.0);
  }
  return {p};
}

struct Kind {
  const char* name;
  Program (*make)(int);
};

constexpr Kind kKinds[] = {{"polynomial", polynomial}, {"slopes", slopes}, {"stencil", stencil}, {"cavity", cavity}};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("time of making plans");
  std::vector<int> sizes{500, 1000, 10'000, 100'000};
  std::string only, target = "sm_90";
  int repeats = 3;
  app.add_option("--operations", sizes, "operations of the programs");
  app.add_option("--program", only, "one of polynomial, slopes, stencil, cavity");
  app.add_option("--target", target, "a target's name");
  app.add_option("--repeats", repeats, "the least of so many times is printed");
  CLI11_PARSE(app, argc, argv);
  std::printf("%-12s %9s %8s %8s %10s %12s\n", "program", "nodes", "kernels", "launches", "ms", "us per node");
  for (const Kind& kind : kKinds) {
    if (!only.empty() && only != kind.name) continue;
    for (const int size : sizes) {
      const ta::Scope scope(ta::Budget::unlimited());
      const Program program = kind.make(size);
      std::vector<const ta::Array*> results;
      for (const ta::Array& x : program) results.push_back(&x);
      double least = 1e30;
      ta::Counters c;
      for (int i = 0; i < repeats; ++i) {
        const bench::Stopwatch watch;
        c = ta::detail::plan(results, target, {}).counters();
        least = std::min(least, watch.seconds());
      }
      std::printf("%-12s %9lld %8lld %8lld %10.1f %12.1f\n", kind.name, static_cast<long long>(c.nodes),
                  static_cast<long long>(c.kernels), static_cast<long long>(c.launches), 1e3 * least,
                  1e6 * least / static_cast<double>(c.nodes));
    }
  }
  return 0;
}
