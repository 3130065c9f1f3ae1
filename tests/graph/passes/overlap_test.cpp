// Overlap against brute force, and on the shapes that updates have.
#include "graph/passes/overlap.h"

#include <algorithm>
#include <random>
#include <set>

#include "tests/helpers/test.h"

namespace tg = tarry::graph;

namespace {

std::set<std::int64_t> elements(const tg::StridedBox& b) {
  std::set<std::int64_t> found{b.offset};
  for (int d = 0; d < b.extents.size(); ++d) {
    std::set<std::int64_t> next;
    for (const std::int64_t at : found)
      for (std::int64_t i = 0; i < b.extents[d]; ++i) next.insert(at + i * b.strides[d]);
    found = std::move(next);
  }
  return found;
}

bool share(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  for (const std::int64_t x : a)
    if (b.contains(x)) return true;
  return false;
}

}  // namespace

TEST_CASE("overlap: two progressions meet exactly where brute force says so", "[graph][overlap]") {
  std::vector<tg::Progression> all;
  for (std::int64_t start = -3; start <= 4; ++start)
    for (std::int64_t step = -4; step <= 4; ++step)
      for (std::int64_t count = 0; count <= 4; ++count) all.push_back({start, step, count});
  int wrong = 0;
  for (const auto& a : all) {
    const auto in_a = elements({a.start, {a.count}, {a.step}});
    for (const auto& b : all) {
      const auto in_b = elements({b.start, {b.count}, {b.step}});
      wrong += overlap(a, b) != share(in_a, in_b);
      wrong += contains(a, b) != std::includes(in_a.begin(), in_a.end(), in_b.begin(), in_b.end());
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("overlap: two boxes of two axes meet exactly where brute force says so", "[graph][overlap]") {
  std::vector<tg::StridedBox> all;
  std::vector<std::set<std::int64_t>> contents;
  for (const std::int64_t offset : {0, 1, 5})
    for (const std::int64_t m : {0, 1, 2, 3})
      for (const std::int64_t n : {1, 2, 4})
        for (const std::int64_t s : {-7, 0, 3, 6, 10})
          for (const std::int64_t t : {-2, 1, 4, 5}) {
            all.push_back({offset, {m, n}, {s, t}});
            contents.push_back(elements(all.back()));
          }
  int wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j) wrong += overlap(all[i], all[j]) != share(contents[i], contents[j]);
  CHECK(wrong == 0);
}

TEST_CASE("overlap: random boxes of up to four axes meet exactly where brute force says so", "[graph][overlap]") {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
  const auto box = [&] {
    tg::StridedBox b{draw(0, 40), {}, {}};
    for (auto rank = draw(0, 4); rank > 0; --rank) {
      b.extents.push_back(draw(1, 4));
      b.strides.push_back(draw(-20, 20));
    }
    return b;
  };
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const tg::StridedBox a = box(), b = box();
    wrong += overlap(a, b) != share(elements(a), elements(b));
  }
  CHECK(wrong == 0);
}

TEST_CASE("overlap: boxes of a row-major array are told apart axis by axis, whatever their size", "[graph][overlap]") {
  constexpr std::int64_t n = 1 << 20, side = std::int64_t{1} << 30;
  const auto box = [](std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
                      std::int64_t width) { return tg::StridedBox{row * width + column, {rows, columns}, {width, 1}}; };
  CHECK_FALSE(overlap(box(0, 0, n, 5, n), box(0, 5, n, 5, n)));
  CHECK(overlap(box(0, 0, n, 6, n), box(0, 5, n, 5, n)));
  CHECK_FALSE(overlap(box(0, 0, 7, n, n), box(7, 0, 9, n, n)));
  CHECK_FALSE(overlap(box(0, 0, side / 2, side, side), box(side / 2, 0, side / 2, side, side)));
  // Even and odd positions interleave without meeting.
  CHECK_FALSE(overlap(tg::StridedBox{0, {n, n}, {2 * n, 2}}, tg::StridedBox{1, {n, n}, {2 * n, 2}}));
  CHECK(overlap(tg::StridedBox{0, {n, n}, {2 * n, 2}}, tg::StridedBox{3, {n, n}, {2 * n, 3}}));
}

TEST_CASE("overlap: a search that gives up answers yes", "[graph][overlap]") {
  const tg::StridedBox odd{1, {100, 100, 100}, {2, 10'000, 3'000'000}},
      even{0, {100, 100, 100}, {2, 10'000, 3'000'000}};
  CHECK_FALSE(overlap(odd, even, 1));  // parity decides before the search
  const tg::StridedBox a{0, {90, 90, 90}, {1009, 1013, 1019}}, b{1, {90, 90, 90}, {1021, 1031, 1033}};
  CHECK(overlap(a, b, 0));
}
