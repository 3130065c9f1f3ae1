// Values in between: computed at most twice while somebody holds them, whatever is read of what.
#include <cmath>
#include <numeric>
#include <thread>

#include "support/temporary.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::slice;
using ta::test::on_every_device;
using ta::test::ramp;
using ta::test::Setting;

namespace {

constexpr std::int64_t kCount = 4096;  // elements of a state
constexpr std::int64_t kBytes = 4 * kCount;

/// Kernels that this process did not have before.
class NewKernels {
 public:
  [[nodiscard]] std::int64_t count() const { return made() - before_; }

 private:
  static std::int64_t made() {
    const ta::CacheCounters c = ta::cache_counters();
    return c.compiles + c.disk_hits;
  }
  std::int64_t before_ = made();
};

std::vector<float> values(const ta::Array& x) { return x.to_vector<float>(); }

/// On the device of the scope, evaluated.
ta::Array state(std::int64_t n = kCount) {
  ta::Array x = ta::asarray(ramp(static_cast<std::size_t>(n))) + 0.0f;
  ta::evaluate(x);
  return x;
}

}  // namespace

TEST_CASE("second use: a loop that reads only its error stores one state a round", "[runtime][marks]") {
  on_every_device([](ta::Device) {
    const NewKernels kernels;
    ta::Array y = state();
    for (int round = 0; round < 1000; ++round) {
      y = y * 0.5f + 0.25f;
      const ta::Array error = ta::max(ta::abs(y - 0.5f));
      const ta::Report report = ta::evaluate(error);
      if (round < 2) continue;
      REQUIRE(report.counters().plan_hit == 1);
      REQUIRE(report.stored().size() == 1);
      REQUIRE(report.counters().bytes_read + report.counters().bytes_written <= 2 * kBytes + 1024);
    }
    CHECK(kernels.count() <= 4);
    std::vector<float> expected = ramp(kCount);
    for (float& v : expected)
      for (int round = 0; round < 1000; ++round) v = v * 0.5f + 0.25f;
    CHECK(values(y) == expected);
  });
}

TEST_CASE("second use: element reads of a lazy array compute it twice", "[runtime][marks]") {
  on_every_device([](ta::Device) {
    const ta::Array x = state(), a = ta::asarray(ramp(64 * 64), {64, 64}) + 0.0f;
    const ta::Array lazy[] = {ta::cumulative_sum(x), ta::sum(ta::reshape(x, {64, 64}), 1), ta::exp(x * 1e-3f),
                              ta::matmul(a, a)(3)};
    for (const ta::Array& c : lazy) {
      const NewKernels kernels;
      const auto read = [&](std::int64_t i) {
        const ta::Array element = c(i);
        return ta::evaluate(element).counters();
      };
      (void)read(0);
      CHECK_FALSE(c.is_evaluated());
      const std::int64_t second = read(1).bytes_read;
      CHECK(second <= 3 * kBytes);
      for (std::int64_t i = 2; i < 40; ++i) REQUIRE(read(i).bytes_read <= 4);
      CHECK(kernels.count() <= 4);
      CHECK(c(5).item<float>() == values(c)[5]);
    }
  });
}

TEST_CASE("second use: of a large array read by elements nothing is stored", "[runtime][marks]") {
  on_every_device([](ta::Device) {
    const ta::Array x = state(1 << 20), c = ta::sqrt(x);
    for (std::int64_t i = 0; i < 20; ++i) {
      const ta::Array element = c(i);
      const ta::Report report = ta::evaluate(element);
      CHECK(report.counters().bytes_read == 4);
      CHECK(report.stored().empty());
    }
    const ta::Array s = ta::cumulative_sum(x);  // an element of a scan takes all before it
    for (std::int64_t i = 0; i < 3; ++i) (void)s(i).item<float>();
    CHECK(s.is_evaluated());
    ta::Array y = x;  // and where the graph grows between reads, there would be kernels without end
    const NewKernels kernels;
    for (int round = 0; round < 40; ++round) {
      y = y * 0.5f + 1.0f;
      (void)y(round).item<float>();
    }
    CHECK(kernels.count() <= 6);
  });
}

TEST_CASE("second use: what is reached by branches on values compiles a handful of kernels", "[runtime][marks]") {
  on_every_device([](ta::Device) {
    const NewKernels kernels;
    ta::Array y = state(100);
    std::vector<float> expected = ramp(100);
    for (int round = 0; round < 200; ++round) {
      const bool large = ta::max(y).item<float>() > 1.0f;
      y = large ? y * 0.5f : y + 0.75f;
      const bool was = *std::max_element(expected.begin(), expected.end()) > 1.0f;
      REQUIRE(large == was);
      for (float& v : expected) v = was ? v * 0.5f : v + 0.75f;
    }
    CHECK(kernels.count() <= 12);
    CHECK(values(y) == expected);
  });
}

TEST_CASE("second use: of two arrays that a loop goes on with both are stored", "[runtime][marks]") {
  on_every_device([](ta::Device) {
    const NewKernels kernels;
    ta::Array x = state(), v = state();
    for (int round = 0; round < 50; ++round) {
      const ta::Array next = x + v * 1e-3f;
      v = v - next * 1e-3f;
      x = next;
      const ta::Array energy = ta::sum(x * x + v * v);
      const ta::Report report = ta::evaluate(energy);
      if (round > 1) REQUIRE(report.counters().bytes_read <= 2 * kBytes + 1024);
    }
    CHECK(kernels.count() <= 6);
  });
}

TEST_CASE("second use: what nobody holds any more is not stored", "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = state();
  ta::Array a, b;
  {
    const ta::Array shared = ta::exp(x * 1e-3f);
    a = ta::sum(shared);
    b = ta::max(shared);
  }
  CHECK(ta::evaluate(a).stored().empty());
  CHECK(ta::evaluate(b).stored().empty());  // its own graph is the last to hold it
}

TEST_CASE("second use: of values that are held the one that all others come from is not stored in vain",
          "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = state();
  const auto chain = [&] {
    const ta::Array one = x * 2.0f, two = one + 1.0f, three = two * 3.0f;
    return three;
  };
  const ta::Array y = chain(), first = ta::sum(y), second = ta::max(y);
  ta::evaluate(first);
  const ta::Report report = ta::evaluate(second);
  REQUIRE(report.stored().size() == 1);
  CHECK(report.stored()[0].value.starts_with("multiply at "));
  CHECK(report.stored()[0].bytes == kBytes);
  CHECK(report.stored()[0].reason == "second-use");
  CHECK(report.str().find("stored besides multiply at ") != std::string::npos);
  CHECK(y.is_evaluated());
}

TEST_CASE("second use: a value that a result shows in another shape is stored with it", "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = state(), y = ta::exp(x * 1e-3f), flat = ta::reshape(y, {-1, 2});
  const ta::Report report = ta::evaluate(flat);
  CHECK(y.is_evaluated());
  REQUIRE(report.stored().size() == 1);
  CHECK(report.stored()[0].reason == "same-memory");
  CHECK(report.counters().launches == 1);
  CHECK(report.counters().bytes_written == kBytes);
  CHECK(y.to_vector<float>() == flat.to_vector<float>());

  const ta::Array turned = ta::matrix_transpose(ta::reshape(ta::exp(x * 2e-3f), {2, -1}));
  ta::evaluate(ta::reshape(turned, {-1}));  // of another order
  CHECK_FALSE(turned.is_evaluated());
  const Setting off("TARRY_DISABLE", "marks");
  const ta::Array z = ta::exp(x * 3e-3f);
  ta::evaluate(ta::reshape(z, {-1, 2}));
  CHECK_FALSE(z.is_evaluated());
}

TEST_CASE("second use: a view is stored where it is the smaller, and what it views where that is held",
          "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = state();
  const auto reads = [](const ta::Array& view) {
    ta::evaluate(ta::sum(view));
    const ta::Array again = ta::max(view);
    return ta::evaluate(again).stored();
  };
  const ta::Array part = ta::exp(x * 1e-3f)(slice(0, 10));
  REQUIRE(reads(part).size() == 1);
  CHECK(part.is_evaluated());
  const ta::Array whole = ta::exp(x * 1e-3f), of_whole = whole(slice(0, 10));
  REQUIRE(reads(of_whole).size() == 1);
  CHECK(whole.is_evaluated());
  CHECK_FALSE(of_whole.is_evaluated());
  const ta::Array spread = ta::broadcast_to(ta::exp(x * 1e-3f), {20, kCount});
  REQUIRE(reads(spread).size() == 1);
  CHECK(reads(spread).empty());
  CHECK_FALSE(spread.is_evaluated());
}

TEST_CASE("second use: constants and views of memory are not stored", "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = state();
  const ta::Array held[] = {x(slice(0, 100)), ta::zeros({kCount}), ta::arange(kCount),
                            ta::broadcast_to(x, {3, kCount})};
  for (const ta::Array& h : held)
    for (int i = 0; i < 3; ++i) {
      const ta::Array total = ta::sum(ta::astype(h, ta::float32) * 2.0f);
      CHECK(ta::evaluate(total).stored().empty());
    }
}

TEST_CASE("second use: a held value that an update went on with keeps its elements", "[runtime][marks]") {
  on_every_device([](ta::Device) {
    ta::Array x = state(100);
    std::vector<ta::Array> old;
    for (int round = 0; round < 30; ++round) {
      x.set({slice(round, round + 3)}, static_cast<float>(round));
      if (round % 10 == 0) old.push_back(x);
      (void)ta::sum(x).item<float>();
    }
    CHECK(values(x)[0] == 0.0f);
    CHECK(values(x)[31] == 29.0f);
    CHECK(values(old[1])[12] == 10.0f);
    CHECK(values(old[1])[13] == ramp(100)[13]);
  });
}

TEST_CASE("second use: plan() says what would be stored, and marks nothing", "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = state(), y = ta::exp(x * 1e-3f), first = ta::sum(y), second = ta::max(y);
  CHECK(ta::plan(first).stored().empty());
  CHECK(ta::plan(first).stored().empty());
  ta::evaluate(first);
  const ta::Plan plan = ta::plan(second);
  REQUIRE(plan.stored().size() == 1);
  CHECK(plan.str().find("stored besides multiply at ") == std::string::npos);
  CHECK(plan.str().find("stored besides exp at ") != std::string::npos);
  const ta::Report report = ta::evaluate(second);
  CHECK(report.counters().launches == plan.counters().launches);
  CHECK(report.counters().bytes_written == plan.counters().bytes_written);
}

TEST_CASE("second use: where there is no room for what is stored besides, it is not", "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  ta::trim(ta::cpu);
  const ta::Array x = state(1 << 20);
  const Setting limit("TARRY_MEMORY_LIMIT", "6m");  // x has four of them
  const ta::Array y = ta::exp(x * 1e-6f);
  const float first = ta::max(y).item<float>(), second = ta::max(y).item<float>(), third = ta::max(y).item<float>();
  CHECK(ta::plan(ta::max(y)).stored().empty());
  CHECK_FALSE(y.is_evaluated());
  CHECK(first == second);
  CHECK(first == third);
}

TEST_CASE("second use: beside what is streamed a small value is stored, a large one is not", "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  constexpr std::int64_t kLarge = std::int64_t{4} << 20;
  const ta::support::ScopedTemporaryDirectory directory;
  const std::string file = (directory.path() / "x.npy").string();
  ta::save_npy(file, ta::astype(ta::arange(kLarge) % 8, ta::float32));
  ta::trim(ta::cpu);
  const Setting limit("TARRY_MEMORY_LIMIT", std::to_string(ta::memory_stats(ta::cpu).live + (4 << 20)));
  const ta::Array mean = ta::mean(ta::open_npy(file)), centred = ta::open_npy(file) - mean;
  for (int i = 0; i < 6; ++i) {
    const ta::Array element = centred(i);
    const ta::Report report = ta::evaluate(element);
    CHECK((report.counters().chunks > 0) == (i < 2));
    CHECK(report.stored().size() == (i == 1 ? 1 : 0));
    CHECK(element.item<float>() == static_cast<float>(i) - 3.5f);
  }
  CHECK(mean.is_evaluated());
  CHECK_FALSE(centred.is_evaluated());
}

TEST_CASE("second use: TARRY_DISABLE=marks stores only what was asked for", "[runtime][marks]") {
  const ta::Scope placed(ta::cpu);
  const Setting off("TARRY_DISABLE", "marks");
  const ta::Array x = state(), y = ta::exp(x * 1e-3f);
  for (int i = 0; i < 3; ++i) {
    (void)ta::max(y).item<float>();
    CHECK_FALSE(y.is_evaluated());
  }
}

TEST_CASE("second use: threads that read one lazy array get its values", "[runtime][marks][threads]") {
  on_every_device([](ta::Device device) {
    const ta::Array x = state(), c = ta::cumulative_sum(x);
    const std::vector<float> expected = values(ta::cumulative_sum(x));
    std::vector<std::thread> threads;
    std::vector<int> wrong(4);
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const ta::Scope scope(device);
        for (std::int64_t i = static_cast<std::int64_t>(t); i < 200; i += 4)
          wrong[t] += c(i).item<float>() != expected[static_cast<std::size_t>(i)];
      });
    for (std::thread& t : threads) t.join();
    CHECK(std::accumulate(wrong.begin(), wrong.end(), 0) == 0);
    CHECK(c.is_evaluated());
  });
}
