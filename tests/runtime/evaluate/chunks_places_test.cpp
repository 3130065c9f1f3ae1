// Counts, groups, searches, scatters, running values and ends of sorted rows in chunks: the bits of one piece.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "tests/helpers/devices.h"
#include "tests/helpers/message_of.h"
#include "tests/helpers/streamed.h"
#include "tests/helpers/test.h"

using namespace tarry;
using test::chunks_of, test::kSpare, test::wandering;
using Arrays = std::vector<Array>;
using Files = test::StreamedFiles;

namespace {

constexpr std::int64_t kCount = 200'003, kLong = 1'000'003;
constexpr std::size_t kSpareOfSorts = 8 * kSpare;  // which have tables of their own

/// Numbers of groups 0 .. groups - 1.
std::vector<std::int32_t> numbers(std::size_t count, std::int32_t groups, std::uint32_t seed) {
  std::vector<std::int32_t> values = wandering<std::int32_t>(count, seed);
  for (std::int32_t& v : values) v = (v + 128) % groups;
  return values;
}

/// Few different numbers, zeros of both signs, and NaN now and then.
std::vector<float> with_ties(std::size_t count, std::uint32_t seed) {
  std::vector<float> values = wandering<float>(count, seed);
  for (std::size_t i = 0; i < count; ++i) values[i] = i % 5003 == 17 ? std::nanf("") : std::trunc(values[i] * 0.01F);
  return values;
}

bool on_gpu() { return default_device().kind == DeviceKind::Cuda; }

}  // namespace

TEST_CASE("chunks: counts and histograms add up", "[chunks]") {
  Files f;
  Array& i = f.write("i.npy", numbers(kCount, 97, 1), {kCount});
  Array& x = f.write("x.npy", wandering<float>(kCount, 2), {kCount});
  CHECK(chunks_of(f, [&] { return Arrays{bincount(i), segment_count(i, {.groups = 101})}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{histogram(x, 31, {.range = {{-2.0, 3.0}}}).counts}; }, kSpare) > 4);
  // The extremes are found while it is recorded, and a GPU keeps what that has uploaded.
  const std::int64_t whole_range = chunks_of(f, [&] { return Arrays{histogram(x, 31).counts}; }, kSpare);
  CHECK((whole_range > 4 || on_gpu()));
}

TEST_CASE("chunks: integers and extremes fold by group", "[chunks]") {
  Files f;
  const SegmentOptions groups{.groups = 103};
  Array& i = f.write("i.npy", numbers(kCount, 97, 1), {kCount});
  Array& x = f.write("x.npy", with_ties(kCount, 2), {kCount});
  Array& v = f.write("v.npy", wandering<std::int32_t>(kCount, 3), {kCount});
  CHECK(chunks_of(f, [&] { return Arrays{segment_sum(v, i, groups)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{segment_min(x, i, groups), segment_max(x, i, groups)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{segment_min(v, i, groups), segment_max(v * 3, i, groups)}; }, kSpare) > 4);
  Array& j = f.write("j.npy", numbers(20'011, 29, 4), {20'011});
  Array& rows = f.write("rows.npy", wandering<float>(20'011 * 13, 5), {20'011, 13});
  CHECK(chunks_of(f, [&] { return Arrays{segment_max(rows, j, {.groups = 31})}; }, kSpare) > 4);
}

TEST_CASE("chunks: what is written at places is written in order", "[chunks]") {
  Files f;
  Array& i = f.write("i.npy", numbers(kCount, 97, 1), {kCount});
  Array& x = f.write("x.npy", with_ties(kCount, 2), {kCount});
  Array& v = f.write("v.npy", wandering<std::int32_t>(kCount, 3), {kCount});
  const auto written = [&](const Array& base, const Array& value, Put how) { return put(base, i, value, {how}); };
  const Array kept = asarray(wandering<float>(97, 6));
  CHECK(chunks_of(f, [&] { return Arrays{written(kept, x, Put::Set), kept + 1}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{written(zeros({97}), x * 2, Put::Set)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{written(zeros({97}, int64), v, Put::Add)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{written(ones({97}, int64), v, Put::Multiply)}; }, kSpare) > 4);
  CHECK(
      chunks_of(f, [&] { return Arrays{written(kept, x, Put::Minimum), written(kept, x, Put::Maximum)}; }, kSpare) > 4);
  CHECK(kept.to_vector<float>() == wandering<float>(97, 6));
  Array& rows = f.write("rows.npy", wandering<float>(20'011 * 13, 5), {20'011, 13});
  Array& j = f.write("j.npy", numbers(20'011, 29, 4), {20'011});
  CHECK(chunks_of(
            f,
            [&] {
              Array base = zeros({29, 13});
              base.set({j}, rows);
              return Arrays{base};
            },
            kSpare) > 4);
}

TEST_CASE("chunks: values are searched for piece by piece, and in pieces", "[chunks]") {
  Files f;
  std::vector<float> points = with_ties(257, 7);
  std::sort(points.begin(), points.end(), [](float a, float b) { return a < b || (b != b && a == a); });
  const Array few = asarray(points), bins = linspace(-3.0F, 3.0F, 33, {.dtype = float32});
  Array& x = f.write("x.npy", with_ties(kCount, 2), {kCount});
  Array& i = f.write("i.npy", numbers(kCount, 97, 1), {kCount});
  CHECK(chunks_of(f, [&] { return Arrays{searchsorted(few, x)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{digitize(x, bins), digitize(x, flip(bins), {.right = true})}; }, kSpare) > 4);
  const std::int64_t few_wanted = chunks_of(f, [&] { return Arrays{isin(i, array({3, 5, 8}))}; }, kSpareOfSorts);
  CHECK((few_wanted > 4 || on_gpu()));  // of which the room holds all
  CHECK(chunks_of(f, [&] { return Arrays{interp(x, bins, bins * bins)}; }, kSpare) > 4);
  std::vector<float> sorted = with_ties(kCount, 8);
  std::sort(sorted.begin(), sorted.end(), [](float a, float b) { return a < b || (b != b && a == a); });
  Array& row = f.write("row.npy", sorted, {kCount});
  CHECK(chunks_of(
            f, [&] { return Arrays{searchsorted(row, few), searchsorted(row, few, {.side = Side::Right})}; }, kSpare) >
        4);
}

TEST_CASE("chunks: running values go on from piece to piece", "[chunks]") {
  Files f;
  for (const std::int64_t n : {128 * 1024, 128 * 1024 + 1, 128 * 1024 + 33, 150'007}) {
    INFO("n = " << n);
    Array& x = f.write("x.npy", wandering<float>(static_cast<std::size_t>(n), 7), {n});
    CHECK(chunks_of(f, [&] { return Arrays{cumulative_sum(x)}; }, kSpare) > 4);
    CHECK(chunks_of(f, [&] { return Arrays{max(cumulative_sum(x)), sum(cumulative_sum(x * 2))}; }, kSpare) > 4);
    CHECK(chunks_of(f, [&] { return Arrays{cumulative_prod(1 + x * 1e-6F) - 1}; }, kSpare) > 4);
    CHECK(chunks_of(f, [&] { return Arrays{cumulative_max(x), cumulative_min(x)}; }, kSpare) > 4);
  }
  Array& v = f.write("v.npy", wandering<std::int32_t>(kCount, 3), {kCount});
  CHECK(chunks_of(f, [&] { return Arrays{cumulative_sum(v), cumulative_sum(cumulative_sum(v))}; }, kSpare) > 4);
  Array& rows = f.write("rows.npy", wandering<float>(20'011 * 13, 5), {20'011, 13});
  CHECK(chunks_of(f, [&] { return Arrays{cumulative_sum(rows, {.axis = 0})(slice(), slice(2, 9))}; }, kSpare) > 4);
  CHECK(chunks_of(
            f,
            [&] {
              const Array running = cumulative_sum(rows, {.axis = 0});
              return Arrays{running / max(running)};
            },
            kSpare) > 4);
}

TEST_CASE("chunks: the ends of sorted rows are those of the ends of pieces", "[chunks]") {
  Files f;
  Array& x = f.write("x.npy", with_ties(kLong, 2), {kLong});
  for (const bool largest : {false, true}) {
    CHECK(chunks_of(
              f,
              [&] {
                const TopK found = topk(x * 2, 40, {.largest = largest});
                return Arrays{found.values, found.indices};
              },
              kSpareOfSorts) > 4);
    CHECK(chunks_of(f, [&] { return Arrays{topk(x, 1'000, {.largest = largest}).indices}; }, kSpareOfSorts) > 4);
  }
  CHECK(chunks_of(f, [&] { return Arrays{sort(x)(slice(0, 50)), sort(x)(slice(-7, none))}; }, kSpareOfSorts) > 4);
  Array& y = f.write("y.npy", wandering<float>(kLong, 9), {kLong});
  CHECK(chunks_of(f, [&] { return Arrays{quantile(y, 0.001), quantile(y, 0.999)}; }, kSpareOfSorts) > 4);
  Array& rows = f.write("rows.npy", with_ties(80'021 * 13, 5), {80'021, 13});
  CHECK(chunks_of(f, [&] { return Arrays{topk(rows, 20, {.axis = 0}).indices}; }, kSpareOfSorts) > 4);
}

TEST_CASE("chunks: few rows of what is computed come from their pieces", "[chunks]") {
  Files f;
  Array& rows = f.write("rows.npy", wandering<float>(20'011 * 13, 5), {20'011, 13});
  const Array places = array({20'010, 0, 7'777, -1, 7'777});
  CHECK(chunks_of(f, [&] { return Arrays{take(rows * 2, places, 0)}; }, kSpare) > 4);
  CHECK(chunks_of(f, [&] { return Arrays{take(rows, places, 0)}; }, kSpare) > 4);
}

TEST_CASE("chunks: a place out of range is named in chunks too", "[chunks]") {
  const Scope on_cpu(cpu);
  Files f;
  std::vector<std::int32_t> values = numbers(kCount, 97, 1);
  values[kCount - 5] = 97;
  const Array& i = f.write("i.npy", values, {kCount});
  trim(cpu);
  const test::Setting limit("TARRY_MEMORY_LIMIT", std::to_string(memory_stats(cpu).live + kSpare));
  const Array counts = segment_count(i, {.groups = 97});
  CHECK_THAT(test::message_of([&] { (void)counts.to_vector<std::int64_t>(); }),
             Catch::Contains("97") && Catch::Contains("segment_count"));
}

TEST_CASE("chunks: what needs its operand whole is named", "[chunks]") {
  const Scope on_cpu(cpu);
  Files f;
  const Array& x = f.write("x.npy", wandering<float>(kCount, 2), {kCount});
  const Array& i = f.write("i.npy", numbers(kCount, 97, 1), {kCount});
  trim(cpu);
  const test::Setting limit("TARRY_MEMORY_LIMIT", std::to_string(memory_stats(cpu).live + kSpare));
  const auto refused = [](const Array& y) -> std::string {
    try {
      evaluate(y);
    } catch (const OutOfMemory& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  CHECK_THAT(refused(sort(x)),
             Catch::Contains("sort float32 (200003,)") && Catch::Contains("needs all of its operand"));
  CHECK_THAT(refused(median(x)), Catch::Contains("sort float32 (200003,)"));
  CHECK_THAT(refused(segment_sum(x, i, {.groups = 97})), Catch::Contains("segment_sum float32 (1, 97)"));
  CHECK_THAT(refused(max(take(x, i * 2, 0))),
             Catch::Contains("gather float32 (200003,)") && Catch::Contains("reads any place of its operand"));
  CHECK_THAT(refused(sum(flip(cumulative_sum(x)) * x)), Catch::Contains("cumulative_sum float32 (200003,)"));
}
