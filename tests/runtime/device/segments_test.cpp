// Folds of runs by the numbers of their elements, whatever way they take: tree R of each run's elements in order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/device/cpu/routine.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"
#include "tests/helpers/reduction_tree.h"
#include "tests/helpers/same_bits.h"

using namespace tarry;
using codegen::RoutineSpec;
using graph::Op;
using test::Ints;

namespace {

template <class T>
constexpr Dtype kDtype = sizeof(T) == 4 ? Dtype::Float32 : Dtype::Float64;

Dtype numbers_of(std::int64_t runs) {
  return runs < 255 ? Dtype::UInt8 : runs < 65'535 ? Dtype::UInt16 : Dtype::UInt32;
}

/// Memory whose end is watched.
class Watched {
 public:
  explicit Watched(std::size_t bytes) : bytes_(bytes), memory_(bytes + 2 * kRoom, kUntouched) {}
  void* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kRoom - at % kRoom) % kRoom;
  }
  bool is_whole() {
    const auto* const end = static_cast<const unsigned char*>(data()) + bytes_;
    return std::all_of(end, end + kRoom - 1, [](unsigned char c) { return c == kUntouched; });
  }

 private:
  static constexpr std::size_t kRoom = 256;
  static constexpr unsigned char kUntouched = 0xa5;
  std::size_t bytes_;
  std::vector<unsigned char> memory_;
};

template <class T>
struct Fold {
  Op op;
  T of_nothing;
  std::function<T(T, T)> join;
};

template <class T>
T deviation(const std::vector<T>& x) {
  const T shift = std::isfinite(x[0]) ? x[0] : T{0};
  if (x.size() == 1) return x[0] - x[0];
  return test::reduce_moments<T>(static_cast<std::int64_t>(x.size()),
                                 [&](std::int64_t k) { return x[static_cast<std::size_t>(k)] - shift; })
      .m2;
}

template <class T>
std::vector<T> expected(const Fold<T>& fold, const std::vector<T>& x, const Ints& numbers, std::int64_t runs) {
  std::vector<std::vector<T>> of_runs(static_cast<std::size_t>(runs));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (numbers[i] < runs) of_runs[static_cast<std::size_t>(numbers[i])].push_back(x[i]);
  std::vector<T> results;
  for (const std::vector<T>& run : of_runs) {
    const auto element = [&](std::int64_t k) { return run[static_cast<std::size_t>(k)]; };
    results.push_back(run.empty() ? fold.of_nothing
                      : fold.op == Op::SegmentM2
                          ? deviation(run)
                          : test::reduce_values<T>(static_cast<std::int64_t>(run.size()), element, fold.join));
  }
  return results;
}

template <class Number>
std::vector<unsigned char> bytes_of(const Ints& numbers) {
  std::vector<Number> narrow(numbers.begin(), numbers.end());
  std::vector<unsigned char> bytes(narrow.size() * sizeof(Number));
  std::memcpy(bytes.data(), narrow.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> folded(const Fold<T>& fold, std::vector<T> x, const Ints& numbers, std::int64_t runs) {
  RoutineSpec spec{.op = fold.op,
                   .dtype = kDtype<T>,
                   .way = graph::RoutineAttributes::Way::Reversed,
                   .n = static_cast<std::int64_t>(x.size()),
                   .m = runs};
  spec.numbers = numbers_of(runs);
  std::vector<unsigned char> narrow = spec.numbers == Dtype::UInt8    ? bytes_of<std::uint8_t>(numbers)
                                      : spec.numbers == Dtype::UInt16 ? bytes_of<std::uint16_t>(numbers)
                                                                      : bytes_of<std::uint32_t>(numbers);
  Watched scratch(codegen::host_scratch(spec));
  std::vector<T> results(static_cast<std::size_t>(runs), T{77});
  void* const operands[] = {x.data(), narrow.data(), results.data()};
  runtime::run_on_host(spec, operands, scratch.data());
  CHECK(scratch.is_whole());
  return results;
}

template <class T>
std::vector<Fold<T>> folds() {
  const T infinity = std::numeric_limits<T>::infinity();
  const auto greater = [](T a, T b) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
  };
  return {{Op::SegmentSum, 0, [](T a, T b) { return a + b; }},
          {Op::SegmentProd, 1, [](T a, T b) { return a * b; }},
          {Op::SegmentMax, -infinity, greater},
          {Op::SegmentM2, 0, {}}};
}

/// Values whose sums depend on their order, -0 and NaN now and then.
template <class T>
std::vector<T> values(std::int64_t n) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(1, 0.5);
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t which = random() % 4096;
    x.push_back(which == 0 ? std::numeric_limits<T>::quiet_NaN() : which < 9 ? -T{0} : static_cast<T>(normal(random)));
  }
  return x;
}

Ints numbers_of_kind(const std::string& kind, std::int64_t n, std::int64_t runs) {
  std::mt19937_64 random(12);
  Ints numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto any = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(runs));
    numbers.push_back(kind == "equal" || (kind == "skewed" && random() % 2 == 0) ? runs / 3 : any);
    if (kind == "gaps" && numbers.back() % 3 != 0) numbers.back() = runs;  // in none
  }
  if (kind == "sorted" || kind == "gaps") std::ranges::sort(numbers);
  if (kind == "reversed") std::ranges::sort(numbers, std::greater());
  if (kind == "nearly" && n > 1) {
    std::ranges::sort(numbers);
    std::swap(numbers.front(), numbers.back());
  }
  return numbers;
}

template <class T>
void check_all(std::int64_t n, std::int64_t runs) {
  const std::vector<T> x = values<T>(n);
  for (const char* const kind : {"random", "sorted", "gaps", "reversed", "equal", "skewed", "nearly"}) {
    const Ints numbers = numbers_of_kind(kind, n, runs);
    for (const Fold<T>& fold : folds<T>()) {
      const std::vector<T> right = expected(fold, x, numbers, runs);
      for (const char* const threads : {"1", "2", "7"}) {
        const test::Setting count("TARRY_NUM_THREADS", threads);
        const auto wrong =
            test::first_difference(std::span<const T>(folded(fold, x, numbers, runs)), std::span<const T>(right));
        INFO(graph::name(fold.op) << " of " << n << " elements in " << runs << " runs, " << kind << ", " << threads
                                  << " threads, element size " << sizeof(T) << ": run "
                                  << (wrong ? static_cast<std::int64_t>(*wrong) : -1));
        CHECK_FALSE(wrong);
      }
    }
  }
}

}  // namespace

TEST_CASE("segments: few runs of every length near those of blocks", "[device][segments]") {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 64, 127, 128, 129, 256, 257, 1023, 1024, 1025, 4097})
    for (const std::int64_t runs : {1, 2, 3}) {
      check_all<float>(length * runs, runs);
      check_all<double>(length * runs, runs);
    }
}

TEST_CASE("segments: elements in parts, whose first blocks the part before began", "[device][segments]") {
  for (const std::int64_t runs : {10, 400, 2'000}) check_all<float>(270'001, runs);
  check_all<double>(270'001, 37);
}

TEST_CASE("segments: long runs are folded by all threads", "[device][segments]") {
  check_all<float>(200'003, 2);
  check_all<double>(150'000, 5);
}

TEST_CASE("segments: many runs, of few elements each or of some", "[device][segments]") {
  for (const std::int64_t runs : {300, 5'000, 70'000}) check_all<float>(100'003, runs);
  check_all<double>(100'003, 4'200);
  check_all<double>(40'000, 70'000);
  check_all<float>(300'007, 5'000);
  check_all<double>(300'007, 40'000);
}

TEST_CASE("segments: where numbers begin is found by a search and by a pass", "[device][segments]") {
  for (const std::int64_t n : {1, 5, 1'000, 50'000})
    for (const std::int64_t m : {1, 7, 300, 20'000}) {
      for (const char* const kind : {"random", "sorted", "gaps", "equal", "beyond"}) {
        const bool beyond = std::string(kind) == "beyond";
        Ints numbers = numbers_of_kind(beyond ? "sorted" : kind, n, beyond ? 3 * m : m),
             sought(static_cast<std::size_t>(m)), places(sought.size(), -1);
        if (std::string(kind) == "gaps") numbers.front() = -4;
        if (std::string(kind) == "random") std::ranges::sort(numbers);
        std::iota(sought.begin(), sought.end(), 0);
        const RoutineSpec spec{.op = Op::Searchsorted, .dtype = Dtype::Int64, .n = n, .m = m};
        void* const operands[] = {numbers.data(), sought.data(), places.data()};
        runtime::run_on_host(spec, operands, nullptr);
        Ints right;
        for (const std::int64_t k : sought) right.push_back(std::ranges::lower_bound(numbers, k) - numbers.begin());
        INFO(n << " numbers below " << m << ", " << kind);
        CHECK(places == right);
      }
    }
}
