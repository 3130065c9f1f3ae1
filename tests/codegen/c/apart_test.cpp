// Elements that lie apart (codegen/c/apart.cpp): the bits of the interpreter whatever their distance, their number and
// what is written beside them.
#include <functional>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/sample_results.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
using namespace ta::test;
using ta::slice;

namespace {

constexpr ta::Dtype kDtypes[] = {ta::bool_, ta::uint8, ta::uint16, ta::float16, ta::int32, ta::float32, ta::float64};

ta::Array input(const ta::Shape& shape, ta::Dtype dtype) {
  std::vector<float> values(static_cast<std::size_t>(ta::zeros(shape).size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 23);
  ta::Array x = ta::astype(ta::asarray(values, shape), dtype);
  ta::evaluate(x);
  return x;
}

/// Evaluates what `program` gives with a compiler and without one.
void check_bits(const std::function<ta::Array()>& program) {
  const ta::Scope placed(ta::cpu);
  std::vector<double> expected;
  {
    const Setting interpreted("TARRY_DISABLE", "compile");
    expected = ta::astype(program(), ta::float64).to_vector<double>();
  }
  CHECK(same_bits(ta::astype(program(), ta::float64).to_vector<double>(), expected));
}

std::string text_of(const ta::Array& x) {
  const auto kernels = kernels_of(x, *ta::graph::find_target("x86-64-v3"));
  REQUIRE(kernels.size() == 1);
  return kernels[0]->kernel;
}

/// Channels in another order, each beside the first.
ta::Array turned(const ta::Array& image) {
  std::vector<ta::Array> channels;
  for (std::int64_t k = image.shape()[1]; k-- > 0;)
    channels.push_back(ta::where(image(slice(), 0) == image(slice(), k), image(slice(), 0), image(slice(), k)));
  return ta::stack(channels, 1);
}

}  // namespace

TEST_CASE("apart: what is read at any distance has the interpreter's bits", "[codegen][cpu][apart]") {
  for (const ta::Dtype dtype : kDtypes)
    for (const std::int64_t step : {-7, -2, -1, 2, 3, 4, 5, 9})
      for (const std::int64_t points : {1, 4, 63, 300, 1025}) {
        INFO(ta::name(dtype) << ", " << points << " points, " << step << " apart");
        const std::int64_t n = points * std::abs(step);
        const ta::Array x = input({n}, dtype), y = input({points}, dtype);
        const ta::Array part = step > 0 ? x(slice(0, n, step)) : x(slice(ta::none, ta::none, step));
        check_bits([&] { return ta::where(part == y, y, part); });
      }
}

TEST_CASE("apart: channels side by side are read and written as vectors", "[codegen][cpu][apart]") {
  for (const ta::Dtype dtype : kDtypes)
    for (const std::int64_t channels : {2, 3, 4, 5})
      for (const std::int64_t points : {40, 257, 1000}) {
        INFO(ta::name(dtype) << ", " << points << " points of " << channels << " channels");
        const ta::Array image = input({points, channels}, dtype);
        check_bits([&] { return turned(image); });
        check_bits([&] {  // in place: nobody else has what is turned
          ta::Array own = ta::where(image == image, image, image);
          ta::evaluate(own);
          return turned(std::move(own));
        });
      }
  const std::string text = text_of(turned(input({5000, 3}, ta::uint8)));
  INFO(text);
  CHECK(text.find("read_apart_8_") != std::string::npos);
  CHECK(text.find("interleave_3_8_") != std::string::npos);
}

TEST_CASE("apart: elements written at a distance leave those between alone", "[codegen][cpu][apart]") {
  for (const ta::Dtype dtype : kDtypes)
    for (const std::int64_t step : {2, 3, 5}) {
      INFO(ta::name(dtype) << ", " << step << " apart");
      const ta::Array x = input({700 * step}, dtype), y = input({700}, dtype);
      check_bits([&] {
        ta::Array z = ta::where(x == x, x, x);
        ta::evaluate(z);
        z.set({slice(0, 700 * step, step)}, y);
        return z;
      });
    }
}

TEST_CASE("apart: wide elements pass through arrays in the steps of a loop alone", "[codegen][cpu][apart]") {
  const ta::Array x = input({5000, 3}, ta::float64), rows = input({5000, 10}, ta::float64);
  CHECK(text_of(x(slice(), 0) + x(slice(), 2)).find("read_apart_") == std::string::npos);
  CHECK(text_of(ta::sum(ta::sqrt(ta::max(rows, 1)))).find("read_apart_64_") != std::string::npos);
}
