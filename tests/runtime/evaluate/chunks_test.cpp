// Work that does not fit in memory is done in chunks: the same bits as in one piece, within the limit.
#include <cmath>
#include <vector>

#include <tarry/tarry.h>

#include "tests/helpers/streamed.h"
#include "tests/helpers/test.h"

using namespace tarry;
using test::chunks_of, test::kSpare, test::wandering;
using Arrays = std::vector<Array>;
using Files = test::StreamedFiles;

TEST_CASE("chunks: elementwise programs have the bits of one piece", "[chunks]") {
  Files f;
  Array& x = f.write("x.npy", wandering<float>(100'003 * 4, 1), {100'003, 4});
  Array& y = f.write("y.npy", wandering<float>(100'003 * 4, 2), {100'003, 4});
  CHECK(chunks_of(f, [&] { return Arrays{sqrt(abs(x)) + 1}; }, kSpare) > 8);
  CHECK(chunks_of(f, [&] { return Arrays{x * y - x / (y + 2), where(x > y, x, -y), x < y}; }, kSpare) > 8);
  CHECK(chunks_of(f, [&] { return Arrays{x * 2, x(slice(), 1) + y(slice(), 2), astype(y, int32)}; }, kSpare) > 8);
}

TEST_CASE("chunks: operands that broadcast are kept", "[chunks]") {
  Files f;
  Array& x = f.write("x.npy", wandering<float>(20'001 * 17, 1), {20'001, 17});
  const Array row = asarray(wandering<float>(17, 3)), column = asarray(wandering<float>(20'001, 4), {20'001, 1});
  CHECK(chunks_of(f, [&] { return Arrays{x * row + column}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{x - exp(row) * sum(row)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{full({20'001, 17}, 3) * row + x}; }, kSpare) > 4);
}

TEST_CASE("chunks: shifted views read the rows around a chunk", "[chunks]") {
  Files f;
  Array& line = f.write("line.npy", wandering<float>(300'007, 5), {300'007});
  CHECK(chunks_of(
            f, [&] { return Arrays{line(slice(0, -2)) + 2 * line(slice(1, -1)) + line(slice(2, none))}; }, kSpare) > 4);
  Array& x = f.write("x.npy", wandering<float>(3'001 * 101, 6), {3'001, 101});
  const auto inner = [](const Array& a) {
    return 0.25F * (a(slice(0, -2), slice(1, -1)) + a(slice(2, none), slice(1, -1)) + a(slice(1, -1), slice(0, -2)) +
                    a(slice(1, -1), slice(2, none)));
  };
  CHECK(chunks_of(f, [&] { return Arrays{inner(x)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{inner(inner(x * x))}; }, kSpare) > 4);
  CHECK(chunks_of(
            f,
            [&] {
              Array y = x;
              y.set({slice(1, -1), slice(1, -1)}, inner(x));
              return Arrays{y};
            },
            kSpare) > 4);
}

TEST_CASE("chunks: reductions along the axis combine as tree R does, whatever the length", "[chunks]") {
  Files f;
  for (const std::int64_t n :
       {200'000, 128 * 1024, 128 * 1024 + 1, 128 * 1024 + 20, 128 * 1024 + 32, 128 * 1024 + 33, 150'007}) {
    INFO("n = " << n);
    Array& x = f.write("x.npy", wandering<float>(static_cast<std::size_t>(n), 7), {n});
    CHECK(chunks_of(f, [&] { return Arrays{sum(x)}; }, kSpare) > 4);
    CHECK(chunks_of(f, [&] { return Arrays{mean(x), var(x), tarry::std(x * 3 + 100)}; }, kSpare) > 4);
    CHECK(chunks_of(f, [&] { return Arrays{min(x), max(x), prod(x), argmin(x), argmax(abs(x))}; }, kSpare) > 4);
    CHECK(chunks_of(f, [&] { return Arrays{any(x > 60000), all(x < 60000), count_nonzero(x > 0)}; }, kSpare) > 4);
  }
}

TEST_CASE("chunks: matrices reduce along either axis and along both", "[chunks]") {
  Files f;
  Array& x = f.write("x.npy", wandering<float>(20'021 * 23, 8), {20'021, 23});
  Array& i = f.write("i.npy", wandering<std::int32_t>(20'021 * 23, 9), {20'021, 23});
  CHECK(chunks_of(f, [&] { return Arrays{sum(x, 0), sum(x, 1), sum(x)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{var(x), tarry::std(x, 0), mean(x, 1)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{argmax(x), argmin(x, 0), argmax(x, 1)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{sum(i), max(i, 0), argmin(i, 0), mean(i)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{softmax(x, 1)}; }, kSpare) > 4);
}

TEST_CASE("chunks: a NaN and equal values are found where they come first", "[chunks]") {
  Files f;
  std::vector<float> values = wandering<float>(150'000, 10);
  values[140'000] = values[90'000] = std::nanf("");
  Array& x = f.write("x.npy", values, {150'000});
  CHECK(chunks_of(f, [&] { return Arrays{argmax(x), argmin(x), max(x), min(x), sum(x)}; }, kSpare) > 4);
  Array& equal = f.write("e.npy", std::vector<float>(150'000, -0.0F), {150'000});
  CHECK(chunks_of(f, [&] { return Arrays{argmax(equal), argmin(equal), sum(equal), max(equal)}; }, kSpare) > 4);
}

TEST_CASE("chunks: what follows a reduction takes another pass", "[chunks]") {
  Files f;
  Array& x = f.write("x.npy", wandering<float>(30'011 * 11, 11), {30'011, 11});
  CHECK(chunks_of(f, [&] { return Arrays{(x - mean(x)) / tarry::std(x)}; }, kSpare) > 8);
  CHECK(chunks_of(f, [&] { return Arrays{softmax(x, 0), sum(x)}; }, kSpare) > 8);
  CHECK(chunks_of(
            f, [&] { return Arrays{(x - mean(x, 0)) / (1 + tarry::std(x, 0)), max(abs(x - mean(x)))}; }, kSpare) > 8);
}

TEST_CASE("chunks: views, updates, joins, numbers and draws know where a chunk lies", "[chunks]") {
  Files f;
  Array& x = f.write("x.npy", wandering<float>(30'011 * 11, 12), {30'011, 11});
  Array& y = f.write("y.npy", wandering<float>(9'001 * 11, 13), {9'001, 11});
  CHECK(chunks_of(f, [&] { return Arrays{flip(x, 0) + x, x(slice(7, none, 3)) * 2}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{concat({x, y * 2, x}, 0)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{roll(x, 1000, 0) - x}; }, kSpare) > 4);
  CHECK(chunks_of(
            f, [&] { return Arrays{reshape(x, {11, 30'011}) + 1, reshape(x * 2, {30'011 * 11})}; }, 5 * kSpare / 2) >
        4);
  CHECK(chunks_of(f, [&] { return Arrays{permute_dims(x, {1, 0}) * 2}; }, kSpare) > 4);
  CHECK(chunks_of(
            f,
            [&] {
              return Arrays{x + reshape(arange(30'011), {30'011, 1}),
                            where(reshape(arange(30'011 * 11), x.shape()) % 3 == 0, x, 0)};
            },
            kSpare) > 4);
  CHECK(chunks_of(
            f,
            [&] {
              random::Generator g(7);
              return Arrays{x + random::normal(g, {30'011, 11})};
            },
            kSpare) > 4);
  CHECK(chunks_of(
            f,
            [&] {
              Array z = x * 2;
              z.set({slice(5, 30'000, 7)}, 1);
              z.add({slice(none, none, -2), 3}, x(slice(none, none, 2), 1));
              return Arrays{z};
            },
            kSpare) > 4);
  CHECK(chunks_of(
            f, [&] { return Arrays{cumulative_sum(x, {.axis = 1}), sum(cumulative_sum(x, {.axis = 1}), 0)}; }, kSpare) >
        4);
}

TEST_CASE("chunks: an axis too short to cut leaves the next one", "[chunks]") {
  Files f;
  Array& x = f.write("x.npy", wandering<float>(8 * 50'021, 14), {8, 50'021});
  CHECK(chunks_of(f, [&] { return Arrays{sum(x, 0)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{cumulative_sum(x, {.axis = 0}), x * 2}; }, kSpare) > 4);
}
