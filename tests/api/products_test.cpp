// Products along axes against loops over all indices: einsum and what it is a case of, and the products that are views.
#include <tarry/linalg.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"

namespace ta = tarry;
using ta::test::counting;
using ta::test::in_every_way;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints values(const ta::Array& x) { return ta::astype(x, ta::int64).to_vector<std::int64_t>(); }

/// Integers on the host, row-major.
struct Table {
  std::vector<std::int64_t> shape;
  Ints elements;
  [[nodiscard]] ta::Array array(ta::Dtype dtype = ta::int64) const {
    return ta::astype(ta::asarray(elements, shape), dtype);
  }
};

Table table(std::vector<std::int64_t> shape, std::mt19937& random) {
  std::int64_t count = 1;
  for (const std::int64_t e : shape) count *= e;
  Ints elements(static_cast<std::size_t>(count));
  for (std::int64_t& e : elements) e = static_cast<std::int64_t>(random() % 7) - 3;
  return {std::move(shape), std::move(elements)};
}

/// One loop over every letter of `terms`; an element of the result is the sum of what falls on it.
Ints loops(const std::vector<std::string>& terms, const std::string& result, const std::vector<Table>& tables) {
  std::map<char, std::int64_t> extents, at;
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t d = 0; d < terms[i].size(); ++d)
      extents[terms[i][d]] = std::max(extents[terms[i][d]], tables[i].shape[d]);
  std::int64_t all = 1, size = 1;
  for (const auto& [letter, extent] : extents) all *= extent;
  for (const char letter : result) size *= extents[letter];
  Ints sums(static_cast<std::size_t>(size));
  for (std::int64_t n = 0; n < all; ++n) {
    std::int64_t rest = n, product = 1, to = 0;
    for (const auto& [letter, extent] : extents) {
      at[letter] = rest % extent;
      rest /= extent;
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
      std::int64_t from = 0;
      for (std::size_t d = 0; d < terms[i].size(); ++d)
        from = from * tables[i].shape[d] + (tables[i].shape[d] == 1 ? 0 : at[terms[i][d]]);
      product *= tables[i].elements[static_cast<std::size_t>(from)];
    }
    for (const char letter : result) to = to * extents[letter] + at[letter];
    sums[static_cast<std::size_t>(to)] += product;
  }
  return sums;
}

std::string random_letters(std::mt19937& random, std::size_t most) {
  std::string letters;
  for (std::size_t n = random() % (most + 1); n > 0; --n) letters.push_back(static_cast<char>('a' + random() % 5));
  return letters;
}

}  // namespace

TEST_CASE("einsum: random subscripts give what loops over all letters give", "[products][einsum]") {
  std::mt19937 random(7);
  for (int i = 0; i < 150; ++i) {
    std::map<char, std::int64_t> extents;
    for (char letter = 'a'; letter < 'f'; ++letter) extents[letter] = static_cast<std::int64_t>(random() % 4);
    std::vector<std::string> terms;
    std::vector<Table> tables;
    std::string all, result, subscripts;
    for (std::size_t n = 1 + random() % 3; n > 0; --n) {
      terms.push_back(random_letters(random, 3));
      std::vector<std::int64_t> shape;
      for (const char letter : terms.back()) shape.push_back(extents[letter]);
      tables.push_back(table(shape, random));
      all += terms.back();
      subscripts += (terms.size() == 1 ? "" : ",") + terms.back();
    }
    for (const char letter : all)
      if (result.find(letter) == std::string::npos && random() % 2 == 0) result.push_back(letter);
    std::shuffle(result.begin(), result.end(), random);
    INFO(subscripts << "->" << result);
    for (const ta::Dtype dtype : {ta::int64, ta::float64}) {
      std::vector<ta::Array> arrays;
      for (const Table& t : tables) arrays.push_back(t.array(dtype));
      const ta::Array found = ta::einsum(subscripts + " -> " + result, arrays);
      CHECK(found.dtype() == dtype);
      CHECK(values(found) == loops(terms, result, tables));
    }
  }
}

TEST_CASE("einsum: without a result, letters that stand once come in alphabetical order", "[products][einsum]") {
  in_every_way([] {
    const ta::Array x = ints({2, 3}), y = ints({3, 4});
    CHECK(values(ta::einsum("ba", {x})) == Ints{0, 3, 1, 4, 2, 5});
    CHECK(values(ta::einsum("ij,jk", {x, y})) == values(ta::matmul(x, y)));
    CHECK(values(ta::einsum("ii", {ints({3, 3})})) == Ints{12});
    CHECK(values(ta::einsum("i,i", {ints({3}), ints({3})})) == Ints{5});
    CHECK(ta::einsum(",", {ta::Array(std::int64_t{3}), ta::Array(std::int64_t{4})}).item<std::int64_t>() == 12);
  });
}

TEST_CASE("einsum: the axes of an ellipsis broadcast and come first", "[products][einsum]") {
  in_every_way([] {
    const ta::Array x = ints({2, 3, 4}), y = ints({4, 5});
    CHECK(values(ta::einsum("...ij,jk", {x, y})) == values(ta::matmul(x, y)));
    CHECK(values(ta::einsum("...i->...", {x})) == values(ta::sum(x, -1)));
    CHECK(values(ta::einsum("i...->i...", {x})) == counting(24));
    CHECK(values(ta::einsum("...,...", {x, ta::array({10})})) == values(x * 10));
    CHECK(values(ta::einsum("a...,...b->ab...", {ints({2, 3}), ints({3, 2})})).size() == 12);
    CHECK(ta::einsum("...->...", {x}).shape() == x.shape());
  });
}

TEST_CASE("einsum: diagonals, axes of one element that broadcast, and promotion", "[products][einsum]") {
  in_every_way([] {
    CHECK(values(ta::einsum("iij->ij", {ints({2, 2, 3})})) == Ints{0, 1, 2, 9, 10, 11});
    CHECK(values(ta::einsum("iii->i", {ints({2, 2, 2})})) == Ints{0, 7});
    CHECK(values(ta::einsum("ij,ij->ij", {ta::array({{1, 2, 3}}), ints({2, 3})})) == Ints{0, 2, 6, 3, 8, 15});
    CHECK(values(ta::einsum("i,i->", {ta::array({2}), ints({3})})) == Ints{6});
    CHECK(ta::einsum("i,i", {ta::array({2}), ta::array({1.5F})}).dtype() == ta::float32);
    CHECK(ta::einsum("i,i", {ta::full({9}, 300, ta::float16), ta::full({9}, 20, ta::float16)}).dtype() == ta::float16);
  });
}

TEST_CASE("einsum: products of float matrices have the bits of matmul", "[products][einsum]") {
  ta::test::on_every_device([](ta::Device) {
    ta::random::Generator rng(3);
    const ta::Array a = ta::random::normal(rng, {5, 40}, {.dtype = ta::float32});
    const ta::Array b = ta::random::normal(rng, {40, 6}, {.dtype = ta::float32});
    CHECK(ta::array_equal(ta::einsum("ij,jk->ik", {a, b}), ta::matmul(a, b)).item<bool>());
    CHECK(ta::array_equal(ta::tensordot(a, b, 1), ta::matmul(a, b)).item<bool>());
    CHECK(ta::plan(ta::einsum("ij,jk->ik", {a, b})).counters().kernels ==
          ta::plan(ta::matmul(a, b)).counters().kernels);
  });
}

TEST_CASE("tensordot: pairs of axes are summed over, the rest stays in order", "[products]") {
  std::mt19937 random(1);
  const Table a = table({2, 3, 4}, random), b = table({3, 4, 5}, random), c = table({4, 2, 3}, random);
  in_every_way([&] {
    for (const ta::Dtype dtype : {ta::int64, ta::float64}) {
      const ta::Array x = a.array(dtype), y = b.array(dtype), z = c.array(dtype);
      CHECK(values(ta::tensordot(x, y)) == loops({"abc", "bcd"}, "ad", {a, b}));
      CHECK(values(ta::tensordot(x, y, 0)) == loops({"abc", "def"}, "abcdef", {a, b}));
      CHECK(values(ta::tensordot(x, z, {0, 2}, {1, 0})) == loops({"abc", "cad"}, "bd", {a, c}));
      CHECK(values(ta::tensordot(x, z, -1, 0)) == loops({"abc", "cde"}, "abde", {a, c}));
    }
    CHECK(ta::tensordot(ta::zeros({2, 0}), ta::zeros({0, 3}), 1).to_vector<float>() == std::vector<float>(6));
    CHECK(ta::tensordot(ta::Array(2.0), ta::Array(3.0), 0).item<double>() == 6);
  });
}

TEST_CASE("vecdot: vectors along an axis, the other axes broadcast", "[products]") {
  std::mt19937 random(2);
  const Table a = table({2, 3, 4}, random), b = table({2, 1, 4}, random), c = table({3}, random);
  in_every_way([&] {
    CHECK(values(ta::vecdot(a.array(), b.array())) == loops({"abc", "abc"}, "ab", {a, b}));
    CHECK(values(ta::vecdot(c.array(), c.array())) == loops({"a", "a"}, "", {c, c}));
    const Table d = table({3, 4}, random);
    CHECK(values(ta::vecdot(a.array(), d.array(), -2)) == loops({"abc", "bc"}, "ac", {a, d}));
    CHECK(values(ta::vecdot(a.array(), a.array(), 0)) == loops({"abc", "abc"}, "bc", {a, a}));
    CHECK(ta::vecdot(ta::zeros({2, 0}), ta::zeros({2, 0})).to_vector<float>() == std::vector<float>{0, 0});
  });
}

TEST_CASE("inner, outer: NumPy's, also of numbers that are arrays", "[products]") {
  std::mt19937 random(3);
  const Table a = table({2, 3}, random), b = table({4, 3}, random);
  in_every_way([&] {
    CHECK(values(ta::inner(a.array(), b.array())) == loops({"ac", "bc"}, "ab", {a, b}));
    CHECK(values(ta::inner(a.array(), ta::Array(std::int64_t{2}))) == values(a.array() * 2));
    CHECK(values(ta::outer(ta::array({1, 2}), ta::array({3, 4, 5}))) == Ints{3, 4, 5, 6, 8, 10});
    CHECK(ta::outer(a.array(), b.array()).shape() == ta::Shape{6, 12});
    CHECK(ta::outer(ta::zeros({0}), ta::zeros({3})).shape() == ta::Shape{0, 3});
  });
}

TEST_CASE("kron: every element of one times all of the other", "[products]") {
  in_every_way([] {
    CHECK(values(ta::kron(ints({2, 2}), ta::array({{1, 2}}))) == Ints{0, 0, 1, 2, 2, 4, 3, 6});
    CHECK(values(ta::kron(ta::array({1, 2}), ints({2, 2}))) == Ints{0, 1, 0, 2, 2, 3, 4, 6});
    CHECK(ta::kron(ints({2, 3}), ints({4, 5})).shape() == ta::Shape{8, 15});
    CHECK(values(ta::kron(ta::Array(std::int64_t{2}), ta::Array(std::int64_t{3}))) == Ints{6});
    CHECK(ta::kron(ta::zeros({0}), ta::zeros({3})).shape() == ta::Shape{0});
  });
}

TEST_CASE("cross: along any axis, and the other axes broadcast", "[products]") {
  in_every_way([] {
    CHECK(values(ta::cross(ta::array({1, 2, 3}), ta::array({4, 5, 6}))) == Ints{-3, 6, -3});
    const ta::Array rows = ta::array({{1, 0, 0}, {0, 1, 0}});
    CHECK(values(ta::cross(rows, ta::array({0, 0, 1}))) == Ints{0, -1, 0, 1, 0, 0});
    CHECK(values(ta::cross(ta::matrix_transpose(rows), ta::array({{0}, {0}, {1}}), 0)) == Ints{0, 1, -1, 0, 0, 0});
    CHECK(ta::cross(ta::zeros({0, 3}), ta::zeros({3})).shape() == ta::Shape{0, 3});
  });
}

TEST_CASE("matrix_power: by squares, of stacks too", "[products]") {
  in_every_way([] {
    const ta::Array f = ta::array({{std::int64_t{1}, std::int64_t{1}}, {std::int64_t{1}, std::int64_t{0}}});
    CHECK(values(ta::matrix_power(f, 10)) == Ints{89, 55, 55, 34});
    CHECK(values(ta::matrix_power(f, 1)) == Ints{1, 1, 1, 0});
    CHECK(values(ta::matrix_power(f, 0)) == Ints{1, 0, 0, 1});
    CHECK(values(ta::matrix_power(ta::stack({f, 2 * f}), 2)) == Ints{2, 1, 1, 1, 8, 4, 4, 4});
    CHECK(ta::matrix_power(ta::zeros({2, 3, 3}), 0).shape() == ta::Shape{2, 3, 3});
  });
}

TEST_CASE("diagonal, trace: of any two axes, at any offset", "[products][views]") {
  in_every_way([] {
    const ta::Array x = ints({3, 4});
    CHECK(values(ta::diagonal(x)) == Ints{0, 5, 10});
    CHECK(values(ta::diagonal(x, 1)) == Ints{1, 6, 11});
    CHECK(values(ta::diagonal(x, 2)) == Ints{2, 7});
    CHECK(values(ta::diagonal(x, -1)) == Ints{4, 9});
    for (const std::int64_t far : {std::int64_t{4}, std::int64_t{-3}, INT64_MAX, INT64_MIN})
      CHECK(ta::diagonal(x, far).shape() == ta::Shape{0});
    const ta::Array stacked = ints({2, 3, 2});
    CHECK(values(ta::diagonal(stacked, 0, 0, 2)) == Ints{0, 7, 2, 9, 4, 11});
    CHECK(values(ta::diagonal(stacked, 0, 2, 0)) == values(ta::diagonal(stacked, 0, 0, 2)));
    CHECK(values(ta::diagonal(stacked * 2 + 1)) == Ints{1, 7, 13, 19});
    CHECK(values(ta::trace(stacked)) == Ints{3, 15});
    CHECK(ta::trace(ta::ones({2, 2}, ta::int8)).dtype() == ta::int64);
    CHECK(ta::trace(ta::ones({3, 3}), {.offset = -5}).item<float>() == 0);
  });
}

TEST_CASE("diagonal: an update before it and a sum after it are read through it", "[products][views]") {
  in_every_way([] {
    ta::Array x = ints({4, 4});
    x.set({ta::slice(1, 3), ta::slice(1, 3)}, ta::array({{-1, -2}, {-3, -4}}));
    CHECK(values(ta::diagonal(x)) == Ints{0, -1, -4, 15});
    CHECK(values(ta::diagonal(x, 1)) == Ints{1, -2, 11});
    CHECK(values(ta::sum(ta::diagonal(ta::matmul(x, x)) - ta::vecdot(x, ta::matrix_transpose(x)))) == Ints{0});
  });
}

TEST_CASE("vector_norm: every order", "[products]") {
  in_every_way([] {
    const ta::Array x = ta::array({{3.0, -4.0}, {0.0, 12.0}});
    using Doubles = std::vector<double>;
    CHECK(ta::vector_norm(x).item<double>() == 13);
    CHECK(ta::vector_norm(x, 1).to_vector<double>() == Doubles{5, 12});
    CHECK(ta::vector_norm(x, 0, {.ord = 1}).to_vector<double>() == Doubles{3, 16});
    CHECK(ta::vector_norm(x, 1, {.ord = ta::inf}).to_vector<double>() == Doubles{4, 12});
    CHECK(ta::vector_norm(x, 1, {.ord = -ta::inf}).to_vector<double>() == Doubles{3, 0});
    CHECK(ta::vector_norm(x, 1, {.ord = 0}).to_vector<double>() == Doubles{2, 1});
    CHECK(ta::vector_norm(x, {}, {.ord = 3}).item<double>() == Approx(std::cbrt(27.0 + 64 + 1728)));
    CHECK(ta::vector_norm(x, {}, {.keepdims = true}).shape() == ta::Shape{1, 1});
    CHECK(ta::vector_norm(ta::zeros({0, 2}), 0).to_vector<float>() == std::vector<float>{0, 0});
    CHECK(ta::vector_norm(ta::array({3, 4})).dtype() == ta::float64);
  });
}
