#include "bench/workloads.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "bench/references.h"

namespace bench {
namespace {

namespace ta = tarry;
using ta::Array;
using ta::Shape;
using Results = std::span<const Array>;

constexpr std::int64_t kDimensions = 16;  // of the points of rbf
constexpr int kSteps = 10;                // of heat

// ---- Formulas of more than a line. ----

Array chain20(const Array& x, const Array& y) {
  Array a = x * 1.1F + y;
  for (int i = 0; i < 6; ++i) {
    a = a * 0.9F + x;
    a = a - y * 0.1F;
    a = ta::where(a > 2.0F, a * 0.5F, a);
  }
  return a;
}

Array cdf(const Array& d) { return 0.5F * (1.0F + ta::erf(d * 0.70710678F)); }

Arrays black_scholes(const Array& spot, const Array& strike, const Array& years) {
  const float rate = 0.02F, volatility = 0.3F;
  const Array spread = volatility * ta::sqrt(years);
  const Array d1 = (ta::log(spot / strike) + (rate + 0.5F * volatility * volatility) * years) / spread,
              d2 = d1 - spread;
  const Array discounted = strike * ta::exp(-rate * years);
  return {spot * cdf(d1) - discounted * cdf(d2), discounted * cdf(-d2) - spot * cdf(-d1)};
}

Array softmax_rows(const Array& x) {
  const Array e = ta::exp(x - ta::max(x, 1, {.keepdims = true}));
  return e / ta::sum(e, 1, {.keepdims = true});
}

Array layernorm_rows(const Array& x, const Array& gain, const Array& bias) {
  const Array d = x - ta::mean(x, 1, {.keepdims = true});
  return d / ta::sqrt(ta::mean(d * d, 1, {.keepdims = true}) + 1e-5F) * gain + bias;
}

Array logsumexp_rows(const Array& x) {
  const Array m = ta::max(x, 1, {.keepdims = true});
  return ta::log(ta::sum(ta::exp(x - m), 1, {.keepdims = true})) + m;
}

Array stencil9(const Array& x) {
  const ta::Slice low = ta::slice(-2), mid = ta::slice(1, -1), high = ta::slice(2, ta::none);
  return (x(low, low) + x(low, mid) + x(low, high) + x(mid, low) + x(mid, mid) + x(mid, high) + x(high, low) +
          x(high, mid) + x(high, high)) /
         9.0F;
}

Array squared_distances(const Array& a, const Array& b) {
  return ta::sum(ta::square(a(ta::slice(), ta::newaxis) - b(ta::newaxis)), -1);
}

Array small10(const Array& x, const Array& y) {
  Array a = x * y + 1.0F;
  a = ta::exp(-a) + x;
  a = ta::sqrt(a * a + 1.0F);
  return a * 0.5F - y;
}

Array heat(Array u) {
  const ta::Slice low = ta::slice(-2), mid = ta::slice(1, -1), high = ta::slice(2, ta::none);
  for (int step = 0; step < kSteps; ++step) {
    const Array c = u(mid, mid);
    u.set({mid, mid}, c + 0.1F * (u(low, mid) + u(high, mid) + u(mid, low) + u(mid, high) - 4.0F * c));
  }
  return u;
}

// ---- References of more than a line. ----

double chain20_reference(double x, double y) {
  double a = x * 1.1 + y;
  for (int i = 0; i < 6; ++i) {
    a = a * 0.9 + x - y * 0.1;
    if (std::abs(a - 2) < 1e-5) return kUndecided;
    if (a > 2) a *= 0.5;
  }
  return a;
}

double black_scholes_reference(double spot, double strike, double years, bool put) {
  const auto below = [](double d) { return 0.5 * std::erfc(-d * std::sqrt(0.5)); };
  const double spread = 0.3 * std::sqrt(years), d1 = (std::log(spot / strike) + 0.065 * years) / spread;
  const double discounted = strike * std::exp(-0.02 * years);
  return put ? discounted * below(spread - d1) - spot * below(-d1) : spot * below(d1) - discounted * below(d1 - spread);
}

double sum_of_exponentials(const float* x, std::size_t n, double most) {
  return std::accumulate(x, x + n, 0.0, [&](double s, float v) { return s + std::exp(v - most); });
}

std::vector<double> heat_reference(std::span<const float> start, std::size_t n) {
  std::vector<double> u(start.begin(), start.end()), next = u;
  for (int step = 0; step < kSteps; ++step, u.swap(next)) {
    for_ranges(n - 2, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = (first + 1) * n; i < (last + 1) * n; i += n)
        for (std::size_t k = i + 1; k < i + n - 1; ++k)
          next[k] = u[k] + 0.1 * (u[k - n] + u[k + n] + u[k - 1] + u[k + 1] - 4 * u[k]);
    });
  }
  return u;
}

double squared_distance(const float* a, const float* b) {
  return std::inner_product(a, a + kDimensions, b, 0.0, std::plus<>(),
                            [](double p, double q) { return (p - q) * (p - q); });
}

/// How far the sum of `count` draws of probability 1 or 0 each, whose variances sum to `variance`, may be from its
/// mean: six deviations, once in 10^9 runs.
double deviations(double variance) { return 6 * std::sqrt(variance) + 0.5; }

/// 1 or 0 with the probabilities of the other result: the number of ones, and that nothing else is there.
Accuracy check_draws(const Array& draws, const Array& probabilities) {
  const auto s = draws.host<float>(), p = probabilities.host<float>();
  if (s.size() != p.size()) return {HUGE_VAL, 1};
  const double others = total(s.size(), [&](std::size_t i) { return s[i] == 0 || s[i] == 1 ? 0.0 : 1.0; });
  const double ones = total(s.size(), [&](std::size_t i) { return s[i]; });
  const double expected = total(p.size(), [&](std::size_t i) { return p[i]; });
  const double variance = total(p.size(), [&](std::size_t i) { return p[i] * (1 - double{p[i]}); });
  return {others == 0 ? std::abs(ones - expected) : HUGE_VAL, deviations(variance)};
}

/// The first of the largest elements of each row: one number wrong is an error of 1.
Accuracy check_argmax(std::span<const float> x, const Array& result, std::int64_t rows, std::int64_t columns) {
  const auto got = result.host<std::int64_t>();
  const auto n = static_cast<std::size_t>(rows);
  if (got.size() != n) return {HUGE_VAL, 0};
  return {total(n,
                [&](std::size_t r) {
                  const float* row = &x[r * static_cast<std::size_t>(columns)];
                  return got[r] == std::max_element(row, row + columns) - row ? 0.0 : 1.0;
                }),
          0};
}

/// The rates at which arithmetic in float32 may err: a few roundings, a tree of sums, elementary functions.
constexpr double kRounding = 1e-6, kSum = 2e-6, kFunction = 1e-5;

std::int64_t elements(const std::vector<Shape>& shapes) {
  std::int64_t n = 0;
  for (const Shape& s : shapes) n += std::accumulate(s.begin(), s.end(), std::int64_t{1}, std::multiplies<>());
  return n;
}

}  // namespace

Sizes gpu_sizes() {
  const std::int64_t n = 1 << 26;
  return {n, 2 * n, 4 * n, 32768, 4096, 16384, 8192, 16384, 1024, 256, 8192, 1 << 28, 4096, 2048, 256};
}
Sizes cpu_sizes() {
  const std::int64_t n = 1 << 23;
  return {n, 2 * n, 4 * n, 4096, 4096, 4096, 2048, 4096, 1024, 256, 2048, n, 4096, 2048, 256};
}
Sizes odd_sizes() { return {10'007, 20'011, 100'003, 101, 331, 127, 97, 61, 1021, 37, 67, 10'007, 53, 31, 17}; }
Sizes least_sizes() { return {1, 1, 1, 1, 1, 3, 1, 1, 1, 3, 3, 1, 1, 1, 1}; }

std::vector<Workload> workloads(const Sizes& s) {
  const std::int64_t n = s.vector, cells = s.square * s.square, inner = (s.square - 2) * (s.square - 2);
  const auto columns = static_cast<std::size_t>(s.columns), square = static_cast<std::size_t>(s.square);
  std::vector<Workload> all;
  /// `written`: elements of all results. `passes`: how often a workload of several steps goes over its operands.
  const auto add = [&](const char* name, Ceiling ceiling, const std::vector<Shape>& inputs, std::int64_t written,
                       auto record, auto check, std::int64_t passes = 1) {
    const auto bytes = static_cast<double>((elements(inputs) * passes + written) * std::int64_t{sizeof(float)});
    all.push_back({name, ceiling, inputs, bytes, record, check});
  };

  add(
      "axpy", Ceiling::Copy, {n, n}, n, [](const Arrays& a) { return Arrays{2.5F * a[0] + a[1]}; },
      [n](const HostInputs& in, Results out) {
        return compare(out[0], n, {kRounding}, [&](std::size_t i) { return 2.5 * in[0][i] + in[1][i]; });
      });
  add(
      "chain20", Ceiling::Copy, {n, n}, n, [](const Arrays& a) { return Arrays{chain20(a[0], a[1])}; },
      [n](const HostInputs& in, Results out) {
        return compare(out[0], n, {kFunction, 1}, [&](std::size_t i) { return chain20_reference(in[0][i], in[1][i]); });
      });
  add(
      "black_scholes", Ceiling::Copy, {n, n, n}, 2 * n, [](const Arrays& a) { return black_scholes(a[0], a[1], a[2]); },
      [n](const HostInputs& in, Results out) {
        const auto of = [&](bool put) {
          return compare(out[put], n, {kFunction, 1},
                         [&](std::size_t i) { return black_scholes_reference(in[0][i], in[1][i], in[2][i], put); });
        };
        return worse(of(false), of(true));
      });
  add(
      "sum", Ceiling::Read, {s.reduced}, 1, [](const Arrays& a) { return Arrays{ta::sum(a[0])}; },
      [](const HostInputs& in, Results out) {
        return compare(out[0], {kSum}, total(in[0].size(), [&](std::size_t i) { return in[0][i]; }));
      });
  add(
      "meanstd", Ceiling::Read, {s.reduced}, 2, [](const Arrays& a) { return Arrays{ta::mean(a[0]), ta::std(a[0])}; },
      [](const HostInputs& in, Results out) {
        const auto count = static_cast<double>(in[0].size());
        const double mean = total(in[0].size(), [&](std::size_t i) { return in[0][i]; }) / count;
        const double squares =
            total(in[0].size(), [&](std::size_t i) { return (in[0][i] - mean) * (in[0][i] - mean); });
        return worse(compare(out[0], {kSum}, mean), compare(out[1], {kSum, 1e-9}, std::sqrt(squares / count)));
      });
  add(
      "dot", Ceiling::Read, {s.pair, s.pair}, 1, [](const Arrays& a) { return Arrays{ta::sum(a[0] * a[1])}; },
      [](const HostInputs& in, Results out) {
        return compare(out[0], {kSum}, total(in[0].size(), [&](std::size_t i) { return double{in[0][i]} * in[1][i]; }));
      });
  add(
      "normdiff", Ceiling::Read, {s.pair, s.pair}, 1,
      [](const Arrays& a) { return Arrays{ta::sqrt(ta::sum(ta::square(a[0] - a[1])))}; },
      [](const HostInputs& in, Results out) {
        const double squares =
            total(in[0].size(), [&](std::size_t i) { return std::pow(double{in[0][i]} - in[1][i], 2); });
        return compare(out[0], {kSum}, std::sqrt(squares));
      });
  add(
      "softmax", Ceiling::Copy, {{s.rows, s.columns}}, s.rows * s.columns,
      [](const Arrays& a) { return Arrays{softmax_rows(a[0])}; },
      [s, columns](const HostInputs& in, Results out) {
        return compare_rows(out[0], s.rows, s.columns, {kFunction}, [&](std::size_t r, double* want) {
          const float* x = &in[0][r * columns];
          const double most = *std::max_element(x, x + columns), sum = sum_of_exponentials(x, columns, most);
          for (std::size_t i = 0; i < columns; ++i) want[i] = std::exp(x[i] - most) / sum;
        });
      });
  add(
      "layernorm", Ceiling::Copy, {{s.rows, s.columns}, s.columns, s.columns}, s.rows * s.columns,
      [](const Arrays& a) { return Arrays{layernorm_rows(a[0], a[1], a[2])}; },
      [s, columns](const HostInputs& in, Results out) {
        return compare_rows(out[0], s.rows, s.columns, {kFunction, 1}, [&](std::size_t r, double* want) {
          const float* x = &in[0][r * columns];
          const auto count = static_cast<double>(columns);
          const double mean = std::accumulate(x, x + columns, 0.0) / count;
          double squares = 0;
          for (std::size_t i = 0; i < columns; ++i) squares += (x[i] - mean) * (x[i] - mean);
          const double deviation = std::sqrt(squares / count + 1e-5);
          for (std::size_t i = 0; i < columns; ++i) want[i] = (x[i] - mean) / deviation * in[1][i] + in[2][i];
        });
      });
  add(
      "logsumexp", Ceiling::Read, {{s.rows, s.columns}}, s.rows,
      [](const Arrays& a) { return Arrays{logsumexp_rows(a[0])}; },
      [s, columns](const HostInputs& in, Results out) {
        return compare(out[0], s.rows, {kSum},
                       [&](std::size_t r) { return std::log(sum_of_exponentials(&in[0][r * columns], columns, 0)); });
      });
  add(
      "colsum", Ceiling::Read, {{s.square, s.square}}, s.square,
      [](const Arrays& a) { return Arrays{ta::sum(a[0], 0)}; },
      [s, square](const HostInputs& in, Results out) {
        std::vector<double> sums(square);
        for_ranges(square, [&](std::size_t first, std::size_t last) {
          for (std::size_t r = 0; r < square; ++r)
            for (std::size_t c = first; c < last; ++c) sums[c] += in[0][r * square + c];
        });
        return compare(out[0], s.square, {kSum}, [&](std::size_t i) { return sums[i]; });
      });
  add(
      "stencil9", Ceiling::Copy, {{s.square, s.square}}, inner, [](const Arrays& a) { return Arrays{stencil9(a[0])}; },
      [s, square](const HostInputs& in, Results out) {
        return compare_rows(out[0], s.square - 2, s.square - 2, {kRounding}, [&](std::size_t r, double* want) {
          for (std::size_t c = 0; c + 2 < square; ++c) {
            double nine = 0;
            for (std::size_t k = 0; k < 9; ++k) nine += in[0][(r + k / 3) * square + c + k % 3];
            want[c] = nine / 9;
          }
        });
      });
  add(
      "transpose_add", Ceiling::Copy, {{s.square, s.square}, {s.square, s.square}}, cells,
      [](const Arrays& a) { return Arrays{a[0] + ta::matrix_transpose(a[1])}; },
      [cells, square](const HostInputs& in, Results out) {
        return compare(out[0], cells, {kRounding},
                       [&](std::size_t i) { return double{in[0][i]} + in[1][i % square * square + i / square]; });
      });
  add(
      "cumsum", Ceiling::Copy, {s.pair}, s.pair, [](const Arrays& a) { return Arrays{ta::cumulative_sum(a[0])}; },
      [s](const HostInputs& in, Results out) {
        std::vector<double> sums(in[0].size());
        std::inclusive_scan(in[0].begin(), in[0].end(), sums.begin(), std::plus<>(), 0.0);
        return compare(out[0], s.pair, {kSum, 1}, [&](std::size_t i) { return sums[i]; });
      });
  add(
      "rbf", Ceiling::Write, {{s.points, kDimensions}, {s.points, kDimensions}}, s.points * s.points,
      [](const Arrays& a) { return Arrays{ta::exp(-0.5F * squared_distances(a[0], a[1]))}; },
      [s](const HostInputs& in, Results out) {
        const auto points = static_cast<std::size_t>(s.points);
        return compare(out[0], s.points * s.points, {kFunction}, [&](std::size_t i) {
          return std::exp(-0.5 * squared_distance(&in[0][i / points * kDimensions], &in[1][i % points * kDimensions]));
        });
      });
  add(
      "rbf_sum", Ceiling::None, {{s.centres, kDimensions}, {s.centres, kDimensions}}, s.centres,
      [](const Arrays& a) { return Arrays{ta::sum(ta::exp(-0.5F * squared_distances(a[0], a[1])), 1)}; },
      [s](const HostInputs& in, Results out) {
        return compare(out[0], s.centres, {kFunction}, [&](std::size_t i) {
          double row = 0;
          for (std::size_t k = 0; k < in[1].size(); k += kDimensions)
            row += std::exp(-0.5 * squared_distance(&in[0][i * kDimensions], &in[1][k]));
          return row;
        });
      });
  add(
      "mcpi", Ceiling::None, {}, 1,
      [s](const Arrays&) {
        ta::random::Generator g(7);
        const Array u = ta::random::uniform(g, s.draws), v = ta::random::uniform(g, s.draws);
        return Arrays{4.0F * ta::mean(ta::astype(u * u + v * v < 1.0F, ta::float32))};
      },
      [s](const HostInputs&, Results out) {
        const auto draws = static_cast<double>(s.draws);
        const double inside = std::acos(-1.0) / 4, got = out[0].item<float>() / 4.0;
        return Accuracy{std::abs(got - inside) * draws, deviations(draws * inside * (1 - inside)) + kRounding * draws};
      });
  add(
      "dahl", Ceiling::None, {{s.units, s.features}, {s.features, s.samples}, {s.units, std::int64_t{1}}},
      2 * s.units * s.samples,
      [](const Arrays& a) {
        ta::random::Generator g(7);
        const Array p = ta::sigmoid(ta::matmul(a[0], a[1]) + a[2]);
        return Arrays{p, ta::astype(ta::random::bernoulli(g, p), ta::float32)};
      },
      [s](const HostInputs& in, Results out) {
        const auto features = static_cast<std::size_t>(s.features), samples = static_cast<std::size_t>(s.samples);
        const Accuracy p = compare_rows(out[0], s.units, s.samples, {kFunction}, [&](std::size_t r, double* want) {
          std::fill(want, want + samples, double{in[2][r]});
          for (std::size_t k = 0; k < features; ++k)
            for (std::size_t c = 0; c < samples; ++c)
              want[c] += double{in[0][r * features + k]} * in[1][k * samples + c];
          for (std::size_t c = 0; c < samples; ++c) want[c] = 1 / (1 + std::exp(-want[c]));
        });
        return worse(p, check_draws(out[1], out[0]));
      });
  add(
      "small10", Ceiling::None, {s.small, s.small}, s.small,
      [](const Arrays& a) { return Arrays{small10(a[0], a[1])}; },
      [s](const HostInputs& in, Results out) {
        return compare(out[0], s.small, {kFunction, 1}, [&](std::size_t i) {
          const double x = in[0][i], y = in[1][i], a = std::exp(-(x * y + 1)) + x;
          return 0.5 * std::sqrt(a * a + 1) - y;
        });
      });
  const auto add_heat = [&](const char* name, Ceiling ceiling, std::int64_t extent) {
    add(
        name, ceiling, {{extent, extent}}, extent * extent * kSteps, [](const Arrays& a) { return Arrays{heat(a[0])}; },
        [extent](const HostInputs& in, Results out) {
          const std::vector<double> u = heat_reference(in[0], static_cast<std::size_t>(extent));
          return compare(out[0], extent * extent, {kFunction}, [&](std::size_t i) { return u[i]; });
        },
        kSteps);
  };
  add_heat("heat_small", Ceiling::None, s.small_grid);
  add_heat("heat_big", Ceiling::Copy, s.grid);
  add(
      "where_sum", Ceiling::Read, {s.pair}, 1,
      [](const Arrays& a) { return Arrays{ta::sum(ta::where(a[0] > 0.5F, a[0] * a[0], 0.0F))}; },
      [](const HostInputs& in, Results out) {
        const auto term = [&](std::size_t i) { return in[0][i] > 0.5F ? double{in[0][i]} * in[0][i] : 0.0; };
        return compare(out[0], {kSum, 1e-6}, total(in[0].size(), term));
      });
  add(
      "argmax", Ceiling::Read, {{s.rows, s.columns}}, 2 * s.rows,
      [](const Arrays& a) { return Arrays{ta::argmax(a[0], 1)}; },
      [s](const HostInputs& in, Results out) { return check_argmax(in[0], out[0], s.rows, s.columns); });
  add(
      "multi_out", Ceiling::Copy, {n, n}, 3 * n,
      [](const Arrays& a) { return Arrays{a[0] + a[1], a[0] - a[1], a[0] * a[1]}; },
      [n](const HostInputs& in, Results out) {
        const auto of = [&](std::size_t k, const auto& f) {
          return compare(out[k], n, {kRounding, 1},
                         [&](std::size_t i) { return f(double{in[0][i]}, double{in[1][i]}); });
        };
        return worse(of(0, std::plus<>()), worse(of(1, std::minus<>()), of(2, std::multiplies<>())));
      });
  return all;
}

}  // namespace bench
