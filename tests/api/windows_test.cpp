// Borders, windows, differences and convolutions against loops that say where each element comes from.
#include <tarry/windows.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "graph/passes/passes.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"

namespace ta = tarry;
using ta::Convolution;
using ta::Pad;
using ta::slice;
using ta::test::in_every_way;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints values(const ta::Array& x) { return ta::astype(x, ta::int64).to_vector<std::int64_t>(); }

/// The place in an axis of n elements that place i of a padded one shows; -1: a constant. One step at a time.
std::int64_t source(Pad mode, std::int64_t i, std::int64_t n) {
  if (mode == Pad::Constant) return i >= 0 && i < n ? i : -1;
  while (i < 0 || i >= n) {
    switch (mode) {
      case Pad::Edge: i = i < 0 ? 0 : n - 1; break;
      case Pad::Wrap: i += i < 0 ? n : -n; break;
      case Pad::Symmetric: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
      default: i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
    }
  }
  return i;
}

/// A matrix counted from 1 with widths (top, bottom, left, right), 99 for a constant.
Ints padded(Pad mode, std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& w) {
  Ints out;
  for (std::int64_t i = -w[0]; i < rows + w[1]; ++i) {
    for (std::int64_t j = -w[2]; j < columns + w[3]; ++j) {
      const std::int64_t r = source(mode, i, rows), c = source(mode, j, columns);
      out.push_back(r < 0 || c < 0 ? 99 : 1 + r * columns + c);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("pad: every mode, for widths within the array and far beyond it", "[windows][pad]") {
  in_every_way([] {
    for (const Pad mode : {Pad::Constant, Pad::Edge, Pad::Reflect, Pad::Symmetric, Pad::Wrap}) {
      for (const std::vector<std::int64_t>& w : std::vector<std::vector<std::int64_t>>{
               {0, 0, 0, 0}, {1, 0, 0, 2}, {2, 2, 3, 3}, {3, 1, 4, 0}, {7, 0, 0, 9}, {0, 5, 11, 1}}) {
        for (const auto& [rows, columns] : {std::pair{3, 4}, {1, 4}, {2, 1}}) {
          INFO("mode " << static_cast<int>(mode) << " of (" << rows << ", " << columns << ") by " << w[0] << ' ' << w[1]
                       << ' ' << w[2] << ' ' << w[3]);
          const ta::Array x = ints({rows, columns}) + 1;
          const ta::Array found = ta::pad(x, {{w[0], w[1]}, {w[2], w[3]}}, mode, 99);
          CHECK(values(found) == padded(mode, rows, columns, w));
        }
      }
    }
  });
}

TEST_CASE("pad: widths for every axis at once, empty and 0-d arrays, any dtype", "[windows][pad]") {
  in_every_way([] {
    CHECK(values(ta::pad(ta::array({1, 2}), 1)) == Ints{0, 1, 2, 0});
    CHECK(values(ta::pad(ta::array({1, 2}), {0, 2}, Pad::Edge)) == Ints{1, 2, 2, 2});
    CHECK(ta::pad(ints({2, 3, 4}), {1, 2}).shape() == ta::Shape{5, 6, 7});
    CHECK(values(ta::pad(ta::zeros({0}, ta::int64), {1, 2}, Pad::Constant, 5)) == Ints{5, 5, 5});
    CHECK(ta::pad(ta::zeros({0, 2}), {{0, 0}, {1, 1}}, Pad::Edge).shape() == ta::Shape{0, 4});
    CHECK(ta::pad(ta::Array(3.0), 2).item<double>() == 3);
    CHECK(ta::pad(ta::zeros({2}, ta::bool_), 1, Pad::Constant, true).to_vector<bool>() ==
          std::vector<bool>{true, false, false, true});
    CHECK(ta::pad(ta::ones({2}, ta::float16), 1).dtype() == ta::float16);
  });
}

TEST_CASE("pad: a border and the stencil that reads it are one kernel where the border is constant", "[windows][pad]") {
  const ta::Array x = ta::asarray(ta::test::ramp(64), {8, 8});
  const ta::Array p = ta::pad(x, 1);
  const ta::Array y = p(slice(0, -2), slice(1, -1)) + p(slice(2, ta::none), slice(1, -1));
  CHECK(ta::plan(y).counters().kernels == 1);
  CHECK(ta::plan(ta::pad(x, 2, Pad::Reflect)).counters().kernels == 1);
}

TEST_CASE("sliding_window_view: each window is the slice that begins there", "[windows]") {
  in_every_way([] {
    const ta::Array x = ints({7}), y = ints({4, 5});
    CHECK(values(ta::sliding_window_view(x, 3)) == Ints{0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6});
    CHECK(ta::sliding_window_view(x, 7).shape() == ta::Shape{1, 7});
    CHECK(ta::sliding_window_view(x, 1).shape() == ta::Shape{7, 1});
    const ta::Array columns = ta::sliding_window_view(y, 2, -2);
    CHECK(columns.shape() == ta::Shape{3, 5, 2});
    CHECK(values(columns(1, 2)) == Ints{7, 12});
    const ta::Array both = ta::sliding_window_view(y, {2, 3});
    CHECK(both.shape() == ta::Shape{3, 3, 2, 3});
    CHECK(values(both(2, 1)) == Ints{11, 12, 13, 16, 17, 18});
    CHECK(values(ta::sliding_window_view(y, {3, 2}, {1, 0})(0, 0)) == Ints{0, 5, 1, 6, 2, 7});
    CHECK(ta::sliding_window_view(ta::zeros({0, 4}), 2, 1).shape() == ta::Shape{0, 3, 2});
  });
}

TEST_CASE("sliding_window_view: windows of what is computed, and sums over them, store nothing", "[windows]") {
  in_every_way([] {
    const ta::Array x = ints({9});
    CHECK(values(ta::sum(ta::sliding_window_view(x * x, 3), -1)) == Ints{5, 14, 29, 50, 77, 110, 149});
    CHECK(values(ta::max(ta::sliding_window_view(x % 4, 4), -1)) == Ints{3, 3, 3, 3, 3, 3});
  });
  const ta::Array x = ta::asarray(ta::test::ramp(1000));
  CHECK(ta::plan(ta::sum(ta::sliding_window_view(x, 5), -1)).counters().kernels == 1);
}

TEST_CASE("sliding_window_view: places that lie in an array by their extents are not checked", "[windows][take]") {
  const auto checks = [](const ta::Array& x) {
    const ta::graph::Snapshot s = ta::test::snapshot_of({&x});
    const ta::graph::Graph g = ta::graph::run_passes(s.graph, [](std::string_view) { return false; });
    return std::ranges::count(g.nodes, ta::graph::Op::Index, &ta::graph::GraphNode::op);
  };
  const ta::Array x = ints({9}) * 2, i = ints({9});
  CHECK(checks(ta::sliding_window_view(x, 3)) == 0);
  CHECK(checks(ta::sliding_window_view(ints({4, 5}), {2, 2})) == 0);
  CHECK(checks(ta::take(x, ta::arange(9), 0)) == 0);
  CHECK(checks(ta::take(x, ta::arange(10), 0)) == 1);
  CHECK(checks(ta::take(x, ta::arange(5) + ta::arange(6)(slice(), ta::newaxis), 0)) == 1);
  CHECK(checks(ta::take(x, i, 0)) == 1);
}

TEST_CASE("diff: any number of times, with something before and after", "[windows]") {
  in_every_way([] {
    const ta::Array x = ta::array({1, 4, 9, 16, 25});
    CHECK(values(ta::diff(x)) == Ints{3, 5, 7, 9});
    CHECK(values(ta::diff(x, {.n = 2})) == Ints{2, 2, 2});
    CHECK(values(ta::diff(x, {.n = 0})) == values(x));
    CHECK(ta::diff(x, {.n = 5}).shape() == ta::Shape{0});
    CHECK(ta::diff(x, {.n = INT64_MAX}).shape() == ta::Shape{0});
    CHECK(values(ta::diff(ints({2, 3}) * ints({2, 3}), {.axis = 0})) == Ints{9, 15, 21});
    CHECK(values(ta::diff(x, {.prepend = ta::Array(0), .append = ta::array({30, 31})})) == Ints{1, 3, 5, 7, 9, 5, 1});
    CHECK(ta::diff(x, {.prepend = ta::array({0.5})}).dtype() == ta::float64);
    CHECK(values(ta::diff(ta::asarray(std::vector<std::uint8_t>{3, 1}))) == Ints{254});
    CHECK(ta::diff(ta::zeros({0, 3}), {.axis = 0}).shape() == ta::Shape{0, 3});
  });
}

TEST_CASE("convolve: full, same and valid are sums over all pairs", "[windows]") {
  std::mt19937 random(1);
  in_every_way([&] {
    for (const auto& [m, n] : {std::pair{1, 1}, {5, 3}, {3, 5}, {6, 2}, {4, 4}, {40, 37}}) {
      Ints a(static_cast<std::size_t>(m)), v(static_cast<std::size_t>(n)), all(static_cast<std::size_t>(m + n - 1));
      for (Ints* side : {&a, &v})
        for (std::int64_t& x : *side) x = static_cast<std::int64_t>(random() % 9) - 4;
      for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < v.size(); ++j) all[i + j] += a[i] * v[j];
      const std::int64_t shorter = std::min(m, n), longer = std::max(m, n);
      const auto part = [&](std::int64_t from, std::int64_t count) {
        return Ints(all.begin() + from, all.begin() + from + count);
      };
      INFO(m << " and " << n);
      const ta::Array x = ta::asarray(a), y = ta::asarray(v);
      CHECK(values(ta::convolve(x, y)) == all);
      CHECK(values(ta::convolve(x, y, Convolution::Same)) == part((shorter - 1) / 2, longer));
      CHECK(values(ta::convolve(x, y, Convolution::Valid)) == part(shorter - 1, longer - shorter + 1));
      CHECK(values(ta::convolve(ta::astype(x, ta::float32), ta::astype(y, ta::float16))) == all);
    }
  });
}

TEST_CASE("convolve: what lies beyond the ends is no term, also beside an infinity", "[windows]") {
  in_every_way([] {
    const ta::Array x = ta::array({1.0, 2.0}), v = ta::array({ta::inf, 1.0});
    CHECK(ta::convolve(x, v).to_vector<double>() == std::vector<double>{ta::inf, ta::inf, 2});
  });
}
