// Arrays from every kind of memory and every C++ type that has a dtype; small values in streams.
#include <tarry/tarry.h>

#include <array>
#include <iomanip>
#include <sstream>

#include "tests/helpers/test.h"

using namespace tarry;

namespace {

template <class T>
void goes_both_ways(Dtype dtype) {
  const std::vector<T> values = {T(1), T(2), T(3), T(4), T(5), T(6)};
  const Array x = asarray(values);
  CHECK(x.dtype() == dtype);
  CHECK(x.to_vector<T>() == values);
  const std::span<const T> whole(values);
  for (const Array& y :
       {asarray(values.data(), {2, 3}), asarray(whole, {2, 3}), asarray(whole.template first<6>(), {2, 3})}) {
    CHECK(y.shape() == Shape{2, 3});
    CHECK(y.dtype() == dtype);
    CHECK(y.to_vector<T>() == values);
  }
  CHECK(asarray(T(3)).template item<T>() == T(3));
  CHECK(borrow(values.data(), 6).template to_vector<T>() == values);
}

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

TEST_CASE("asarray: every standard integer and floating type has a dtype, long long beside int64_t", "[array]") {
  goes_both_ways<signed char>(int8), goes_both_ways<unsigned char>(uint8);
  goes_both_ways<short>(int16), goes_both_ways<unsigned short>(uint16);
  goes_both_ways<int>(int32), goes_both_ways<unsigned>(uint32);
  goes_both_ways<long>(int64), goes_both_ways<unsigned long>(uint64);
  goes_both_ways<long long>(int64), goes_both_ways<unsigned long long>(uint64);
  goes_both_ways<float>(float32), goes_both_ways<double>(float64);
  CHECK(asarray(std::vector<unsigned long long>{~0ULL}).item<std::uint64_t>() == ~std::uint64_t{0});
}

TEST_CASE("asarray: memory of writers, C arrays and std::array take a shape too", "[array]") {
  float values[] = {1, 2, 3, 4, 5, 6};
  std::span<float> some(values);
  for (const Array& x : {asarray(values, {3, 2}), asarray(some, {3, 2}), asarray(std::span<float, 6>(values), {3, 2}),
                         asarray(std::array<float, 6>{1, 2, 3, 4, 5, 6}, {3, 2})})
    CHECK(x(2, 1).item<float>() == 6);
  const Array copied = asarray(values, 6);
  values[0] = 9;
  CHECK(copied(0).item<float>() == 1);
  bool truths[] = {true, false};
  CHECK(asarray(truths, 2).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(asarray(static_cast<const float*>(nullptr), {0, 3}).size() == 0);
}

TEST_CASE("stream: shapes, dtypes and devices are written by name, in the width that was set", "[array]") {
  CHECK(text(Shape{3, 4}) == "(3, 4)");
  CHECK(text(ones({5}).shape()) == "(5,)");
  CHECK(text(Shape{}) == "()");
  CHECK(text(float32) == "float32");
  CHECK(text(static_cast<Dtype>(200)) == "dtype 200");
  CHECK(text(cpu) == "cpu");
  CHECK(text(cuda(2)) == "cuda:2");
  CHECK(text(Device{}) == "unplaced");
  std::ostringstream out;
  out << std::setw(8) << Shape{1} << std::setw(8) << bool_ << '|' << std::left << std::setw(5) << cpu << '|';
  CHECK(out.str() == "    (1,)    bool|cpu  |");
}
