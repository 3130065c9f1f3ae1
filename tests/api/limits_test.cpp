// Values, ranges and arguments at their limits: whole ranges of integers, quotients beside integers, lists without an
// axis, bytes of bools that others wrote, large arrays printed, devices that are not there.
#include <tarry/dlpack.h>
#include <tarry/interop.h>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include <unistd.h>

#include "tests/helpers/devices.h"

using namespace tarry;
using Catch::Contains;
using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

namespace {

std::string printed(const Array& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

const Axes kNone = Ints();

/// A file whose elements are these bytes, called bool.
class BoolFile {
 public:
  explicit BoolFile(const std::vector<std::uint8_t>& bytes)
      : path_("tarry-bools-" + std::to_string(getpid()) + ".npy") {
    save_npy(path_, asarray(std::vector<bool>(bytes.size())));
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-static_cast<std::streamoff>(bytes.size()), std::ios::end);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~BoolFile() { std::remove(path_.c_str()); }
  BoolFile(const BoolFile&) = delete;
  BoolFile& operator=(const BoolFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::vector<std::uint8_t> kBytes = {0, 1, 2, 255, 128, 0};
const std::vector<bool> kTruth = {false, true, true, true, true, false};

dlpack::ManagedTensor* tensor_of_bools(std::vector<std::uint8_t>& bytes, std::int64_t& extent) {
  static dlpack::ManagedTensor made;
  made = {};
  made.dl_tensor.data = bytes.data();
  made.dl_tensor.device = {1, 0};
  made.dl_tensor.ndim = 1;
  made.dl_tensor.dtype = {6, 8, 1};
  made.dl_tensor.shape = &extent;
  return &made;
}

/// However it is read, moved or computed with.
void check_bools(const Array& x) {
  CHECK(x.to_vector<bool>() == kTruth);
  const auto host = x.host<bool>();
  for (std::size_t i = 0; i < kBytes.size(); ++i)
    CHECK(reinterpret_cast<const std::uint8_t*>(host.data())[i] == (kBytes[i] != 0));
  CHECK(count_nonzero(x).item<std::int64_t>() == 4);
  CHECK(sum(x).item<std::int64_t>() == 4);
  CHECK((x & ones({6}, bool_)).to_vector<bool>() == kTruth);
  CHECK((x == true).to_vector<bool>() == kTruth);
  CHECK(astype(x, uint8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 1, 1, 1, 1, 0});
  CHECK(astype(flip(x), int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 1, 1, 1, 0});
  CHECK(max(x(slice(2, 5))).item<bool>());
  CHECK(concat({x, logical_not(x)}).to_vector<bool>()[8] == false);
  CHECK(printed(x) == "[False  True  True  True  True False]");
  auto* const out = to_dlpack(x);
  const bool on_host = out->dl_tensor.device.type == 1;
  for (std::size_t i = 0; on_host && i < kBytes.size(); ++i)
    CHECK(static_cast<const std::uint8_t*>(out->dl_tensor.data)[i] == (kBytes[i] != 0));
  out->deleter(out);
}

}  // namespace

TEST_CASE("limits: integers are drawn from all of a dtype, and every half of it is met", "[random][limits]") {
  test::on_every_device([](Device) {
    random::Generator g(1);
    const Ints all = random::integers(g, {1000}, INT64_MIN, std::uint64_t{1} << 63).to_vector<std::int64_t>();
    CHECK(std::set<std::int64_t>(all.begin(), all.end()).size() == 1000);
    const auto negative = std::count_if(all.begin(), all.end(), [](std::int64_t x) { return x < 0; });
    CHECK((negative > 440 && negative < 560));
    random::Generator again(1), words(1);
    CHECK(random::integers(again, {1000}).to_vector<std::int64_t>() == all);
    const std::vector<std::uint64_t> bits = random::bits(words, {1000}, uint64).to_vector<std::uint64_t>();
    for (std::size_t i = 0; i < all.size(); ++i)
      CHECK(static_cast<std::uint64_t>(all[i]) == bits[i] + (std::uint64_t{1} << 63));
    random::Generator unsigned_words(1);
    CHECK(random::integers(unsigned_words, {1000}, uint64).to_vector<std::uint64_t>() == bits);
    const std::vector<std::int8_t> bytes = random::integers(g, {10'000}, int8).to_vector<std::int8_t>();
    CHECK(std::set<std::int8_t>(bytes.begin(), bytes.end()).size() == 256);
    const std::vector<std::uint64_t> high =
        random::integers(g, {100}, UINT64_MAX - 3, UINT64_MAX, uint64).to_vector<std::uint64_t>();
    CHECK(std::set<std::uint64_t>(high.begin(), high.end()) ==
          std::set<std::uint64_t>{UINT64_MAX - 3, UINT64_MAX - 2, UINT64_MAX - 1});
    const Ints wide = random::integers(g, {100}, INT64_MIN, INT64_MAX).to_vector<std::int64_t>();
    CHECK(std::set<std::int64_t>(wide.begin(), wide.end()).size() == 100);
  });
}

TEST_CASE("limits: arange holds every integer of its dtype", "[create][limits]") {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  CHECK(arange(kHalf, kHalf + 2, 1, uint64).to_vector<std::uint64_t>() == std::vector<std::uint64_t>{kHalf, kHalf + 1});
  CHECK(arange(UINT64_MAX, kHalf, -(std::int64_t{1} << 61), uint64).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{UINT64_MAX, UINT64_MAX - kHalf / 4, UINT64_MAX - kHalf / 2,
                                   UINT64_MAX - 3 * (kHalf / 4)});
  CHECK(arange(0, UINT64_MAX, kHalf, uint64).to_vector<std::uint64_t>() == std::vector<std::uint64_t>{0, kHalf});
  CHECK(arange(INT64_MIN, INT64_MAX, INT64_MAX).to_vector<std::int64_t>() == Ints{INT64_MIN, -1, INT64_MAX - 1});
  CHECK(arange(INT64_MIN, kHalf, kHalf).to_vector<std::int64_t>() == Ints{INT64_MIN, 0});
  CHECK(arange(kHalf, kHalf + 4096, 2048, float64).to_vector<double>() == Doubles{0x1p63, 0x1p63 + 2048});
  // More than int64 and less than 0: no integer dtype has all of them.
  CHECK(arange(-1, UINT64_MAX, std::int64_t{1} << 62, float64).to_vector<double>() ==
        Doubles{-1, 0x1p62, 0x1p63, 0x1.8p63});
  CHECK(arange(kHalf, -2, -(std::int64_t{1} << 62), float64).to_vector<double>() == Doubles{0x1p63, 0x1p62, 0});
  CHECK_THROWS_WITH(arange(-1, UINT64_MAX, std::int64_t{1} << 62, uint64),
                    Contains("-1 to 13835058055282163711 does not fit uint64"));
  CHECK_THROWS_WITH(arange(kHalf, kHalf + 1), Contains("does not fit int64"));
}

TEST_CASE("limits: ranges of floats whose ends lie further apart than the largest float", "[create][limits]") {
  test::on_every_device([](Device) {
    CHECK(linspace(-1e308, 1e308, 3, {.dtype = float64}).to_vector<double>() == Doubles{-1e308, 0, 1e308});
    CHECK(linspace(DBL_MAX, -DBL_MAX, 2, {.dtype = float64}).to_vector<double>() == Doubles{DBL_MAX, -DBL_MAX});
    CHECK(linspace(-DBL_MAX, DBL_MAX, 2, {.endpoint = false, .dtype = float64}).to_vector<double>() ==
          Doubles{-DBL_MAX, 0});
    CHECK(linspace(-1e308, 1e308, 1, {.dtype = float64}).to_vector<double>() == Doubles{-1e308});
    CHECK(linspace(-FLT_MAX, FLT_MAX, 3).to_vector<float>() == std::vector<float>{-FLT_MAX, 0, FLT_MAX});
    CHECK(linspace(-65504, 65504, 3, {.dtype = float16}).to_vector<Half>()[2].bits == Half(65504.0).bits);
    CHECK(arange(-1.5e308, 1.5e308, 1e308, float64).to_vector<double>() == Doubles{-1.5e308, -0.5e308, 0.5e308});
    CHECK(arange(DBL_MAX, -DBL_MAX, -DBL_MAX, float64).to_vector<double>() == Doubles{DBL_MAX, 0});
  });
}

TEST_CASE("limits: floor_divide is the floor of the exact quotient, and remainder what is left", "[ops][limits]") {
  struct Row {
    double a, b, quotient, rest;
  };
  const double inf = INFINITY;
  const Row rows[] = {
      {1, 0.1, 9, std::fmod(1, 0.1)},
      {7, 2, 3, 1},
      {-7, 2, -4, 1},
      {7, -2, -4, -1},
      {-1e-300, 1e300, -1, 1e300},
      {0.0, 2, 0.0, 0.0},
      {-0.0, 2, -0.0, 0.0},
      {0.0, -2, -0.0, -0.0},
      {-0.0, -2, 0.0, -0.0},
      {1, 0.0, inf, NAN},
      {-1, 0.0, -inf, NAN},
      {inf, 2, inf, NAN},
      {1, inf, 0.0, 1},
      {-1, inf, -0.0, inf},
      {inf, inf, NAN, NAN},
      {0.0, 0.0, NAN, NAN},
      {NAN, 1, NAN, NAN},
  };
  const auto same = [](double x, double y) {
    return std::isnan(y) ? std::isnan(x) : x == y && std::signbit(x) == std::signbit(y);
  };
  test::on_every_device([&](Device) {
    for (const Row& r : rows) {
      INFO(r.a << " // " << r.b);
      const Array a = asarray(Doubles{r.a}), b = asarray(Doubles{r.b});
      CHECK(same(floor_divide(a, b).item<double>(), r.quotient));
      CHECK(same(floor_divide(Array(r.a), r.b).item<double>(), r.quotient));  // folded
      CHECK(same((a % b).item<double>(), r.rest));
    }
  });
}

TEST_CASE("limits: quotient times divisor and remainder are the dividend", "[ops][limits]") {
  std::mt19937 random(3);
  Doubles a, b;
  for (int i = 0; i < 4000; ++i) {
    b.push_back((1 + static_cast<int>(random() % 999)) / (random() % 2 == 0 ? 10.0 : -100.0));
    a.push_back(b.back() * (static_cast<int>(random() % 2001) - 1000));  // often beside a multiple
  }
  const Doubles q = floor_divide(asarray(a), asarray(b)).to_vector<double>(),
                r = (asarray(a) % asarray(b)).to_vector<double>();
  int wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double exact = static_cast<long double>(q[i]) * b[i];  // 64 bits: 53 of b, 11 of a quotient up to 1000
    const long double left = a[i] - exact;
    wrong += q[i] != std::rint(q[i]) || (left != 0 && (left < 0) != (b[i] < 0)) ||
             std::fabs(left) >= std::fabs(static_cast<long double>(b[i]));
    wrong += std::fabs(left - r[i]) > 0x1p-52L * std::fabs(static_cast<long double>(b[i]));
  }
  CHECK(wrong == 0);
}

TEST_CASE("limits: quotients of 64 bits are exact beside multiples of every size", "[ops][limits]") {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> a, b;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t divisor = std::max<std::uint64_t>(1, random() >> random() % 64);
    const std::uint64_t multiple = (random() >> random() % 64) / divisor * divisor;
    for (const std::uint64_t dividend : {multiple - 1, multiple, multiple + 1, ~divisor, UINT64_MAX}) {
      a.push_back(dividend);
      b.push_back(i % 50 == 0 ? 0 - divisor : divisor);
    }
  }
  std::vector<std::int64_t> x(a.begin(), a.end()), y(b.begin(), b.end());
  test::on_every_device([&](Device) {
    const auto quotient = floor_divide(asarray(a), asarray(b)).to_vector<std::uint64_t>(),
               rest = (asarray(a) % asarray(b)).to_vector<std::uint64_t>(),
               thirds = floor_divide(asarray(a), std::uint64_t{3}).to_vector<std::uint64_t>();
    const Ints floored = floor_divide(asarray(x), asarray(y)).to_vector<std::int64_t>(),
               left = (asarray(x) % asarray(y)).to_vector<std::int64_t>();
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      wrong += quotient[i] != a[i] / b[i] || rest[i] != a[i] % b[i] || thirds[i] != a[i] / 3;
      if (y[i] == -1) continue;  // the host's own division overflows there
      const std::int64_t r = x[i] % y[i], away = r != 0 && (r < 0) != (y[i] < 0) ? 1 : 0;
      wrong += floored[i] != x[i] / y[i] - away || left[i] != r + away * y[i];
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("limits: the sign of a zero is 0", "[ops][limits]") {
  test::on_every_device([](Device) {
    for (const Dtype dtype : {float16, bfloat16, float32, float64}) {
      const Array s = sign(astype(asarray(Doubles{-0.0, 0.0, -3.0, INFINITY, NAN}), dtype));
      CHECK(signbit(s(0)).item<bool>() == false);
      CHECK(astype(s(slice(0, 4)), int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 0, -1, 1});
      CHECK(isnan(s(4)).item<bool>());
    }
  });
}

TEST_CASE("limits: extremes of bools", "[reduce][limits]") {
  test::on_every_device([](Device) {
    const Array x = asarray(std::vector<bool>{false, true, false, true, true, true}, {2, 3});
    CHECK(max(x).item<bool>());
    CHECK_FALSE(min(x).item<bool>());
    CHECK(max(x).dtype() == bool_);
    CHECK(min(x, 1).to_vector<bool>() == std::vector<bool>{false, true});
    CHECK(max(x, 0, {.keepdims = true}).shape() == Shape{1, 3});
    CHECK(argmax(x).item<std::int64_t>() == 1);
    CHECK(argmin(x, 1).to_vector<std::int64_t>() == Ints{0, 0});
    CHECK(argmax(x, 0, {.keepdims = true}).to_vector<std::int64_t>() == Ints{1, 0, 1});
    CHECK_THROWS_WITH(max(zeros({0}, bool_)), Contains("is empty"));
  });
}

TEST_CASE("limits: a list without an axis names none, and no list names all", "[reduce][limits]") {
  const Array x = asarray(std::vector<float>{3, 0, -2}, {3, 1});
  const std::vector<float> same = {3, 0, -2};
  for (const auto keepdims : {false, true}) {
    CHECK(sum(x, kNone, {.keepdims = keepdims}).to_vector<float>() == same);
    CHECK(mean(x, kNone, {.keepdims = keepdims}).shape() == Shape{3, 1});
  }
  CHECK(prod(x, kNone).to_vector<float>() == same);
  CHECK(min(x, kNone).to_vector<float>() == same);
  CHECK(max(x, kNone).to_vector<float>() == same);
  CHECK(mean(x, kNone).to_vector<float>() == same);
  CHECK(logsumexp(x, kNone).to_vector<float>() == same);
  CHECK(tarry::var(x, kNone).to_vector<float>() == std::vector<float>(3));
  CHECK(isnan(tarry::std(x, kNone, {.correction = 1})).to_vector<bool>() == std::vector<bool>(3, true));
  CHECK(any(x, kNone).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(all(x, kNone).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(count_nonzero(x, kNone).to_vector<std::int64_t>() == Ints{1, 0, 1});
  CHECK(sum(astype(x, int8), kNone).dtype() == int64);
  CHECK(squeeze(x, kNone).shape() == Shape{3, 1});
  CHECK(squeeze(x, {}).shape() == Shape{3});
  CHECK(flip(x, kNone).to_vector<float>() == same);
  CHECK(flip(x).to_vector<float>() == std::vector<float>{-2, 0, 3});
  CHECK(roll(x, 1, kNone).to_vector<float>() == same);
  CHECK(roll(x, 1).to_vector<float>() == std::vector<float>{-2, 3, 0});
  CHECK(sum(x, {}).shape() == Shape{});
  CHECK(max(zeros({0, 2}), kNone).shape() == Shape{0, 2});
  CHECK(tarry::var(Array(2.0), {}).item<double>() == 0);
}

TEST_CASE("limits: bytes of bools that others wrote are true where they are not 0", "[interop][limits]") {
  std::vector<std::uint8_t> bytes = kBytes;
  std::int64_t extent = 6;
  const BoolFile file(kBytes);
  test::on_every_device([&](Device device) {
    check_bools(load_npy(file.path()));
    check_bools(open_npy(file.path()));
    check_bools(borrow(reinterpret_cast<const bool*>(bytes.data()), {6}));
    if (device == cpu) check_bools(from_dlpack(tensor_of_bools(bytes, extent)));
  });
}

TEST_CASE("limits: other bytes of bools change no plan of plain ones, and stay true after a touch",
          "[interop][limits]") {
  std::vector<std::uint8_t> bytes = {0, 255};
  Array lent = borrow(reinterpret_cast<const bool*>(bytes.data()), {2});
  const Array plain = asarray(std::vector<bool>{true, false});
  const auto ones_in = [](const Array& x) { return astype(x, uint8).to_vector<std::uint8_t>(); };
  CHECK(ones_in(lent) == std::vector<std::uint8_t>{0, 1});
  CHECK(ones_in(plain) == std::vector<std::uint8_t>{1, 0});
  const Array before = lent;
  lent.touch();
  bytes = {7, 0};
  CHECK(ones_in(lent) == std::vector<std::uint8_t>{1, 0});
  CHECK(ones_in(before) == std::vector<std::uint8_t>{0, 1});
}

TEST_CASE("limits: of a large array the elements shown are evaluated alone", "[print][limits]") {
  constexpr std::int64_t kLong = std::int64_t{1} << 40;
  CHECK(printed(zeros({0, kLong})) == "[]");
  CHECK(printed(zeros({kLong, 0})) == "[]");
  CHECK(printed(zeros({INT64_MAX, 0})) == "[]");
  const Array x = arange(kLong);
  CHECK(printed(x) == "[            0             1             2 ... 1099511627773 1099511627774\n 1099511627775]");
  CHECK_FALSE(x.is_evaluated());
  const Array square = reshape(arange(kLong), {std::int64_t{1} << 20, std::int64_t{1} << 20}) % 7;
  CHECK(printed(square) ==
        "[[0 1 2 ... 1 2 3]\n [4 5 6 ... 5 6 0]\n [1 2 3 ... 2 3 4]\n ...\n [4 5 6 ... 5 6 0]\n [1 2 3 ... 2 3 4]\n [5 "
        "6 0 ... 6 0 1]]");
  const Array deep = broadcast_to(Array(1), Shape(std::vector<std::int64_t>(12, 9)));
  CHECK(printed(deep).size() < 100'000);  // both ends of twelve axes, one element each
}

TEST_CASE("limits: a computed array prints as a lazy one, wherever it is", "[print][limits]") {
  test::on_every_device([](Device) {
    const auto make = [] { return reshape(arange(40 * 7 * 50), {40, 7, 50}) % 1000; };
    const Array lazy = make(), computed = make();
    evaluate(computed);
    CHECK(printed(lazy) == printed(computed));
    CHECK(printed(matrix_transpose(lazy)) == printed(matrix_transpose(computed)));
    CHECK_THAT(printed(computed), Contains(" ... "));
  });
  std::vector<float> memory(4000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  CHECK(printed(borrow(memory.data(), {2000}, {2})) ==
        "[0.000e+00 2.000e+00 4.000e+00 ... 3.994e+03 3.996e+03 3.998e+03]");
}

TEST_CASE("limits: the device of an array that was never placed is an answer that to_device takes",
          "[placement][limits]") {
  const Array x = asarray(std::vector<float>{1, 2}), lazy = x + 1, here = to_device(x, cpu);
  for (const Array& y : {x, lazy, here, to_device(lazy, cpu)}) {
    const Array moved = to_device(y, x.device());
    CHECK(moved.to_vector<float>() == y.to_vector<float>());
    CHECK((moved + to_device(x, cpu)).device() == cpu);
    CHECK((moved + x).shape() == Shape{2});
  }
  const Array elsewhere = to_device(x, cuda(251));
  CHECK_THROWS_WITH(elsewhere.to_vector<float>(), Contains("cuda:251 cannot be used"));
  CHECK_THROWS_AS(evaluate(elsewhere), DeviceError);
  CHECK_THROWS_AS(evaluate(to_device(x + 1, cuda(251))), DeviceError);
  CHECK_THROWS_AS(printed(elsewhere), DeviceError);
}
