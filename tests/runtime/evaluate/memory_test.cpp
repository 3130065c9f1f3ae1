// Memory of devices: limits, what happens when there is no more, and peaks that plan() predicts.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <thread>

#include "runtime/device/backend.h"
#include "support/fault.h"
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/program.h"
#include "tests/fuzz/run.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"

namespace ta = tarry;
using Catch::Contains;
using ta::test::Setting;
using Values = std::vector<float>;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// A limit of the device for the time of a test.
class Limit {
 public:
  Limit(ta::Device device, std::int64_t bytes) : device_(device) {
    ta::trim(device);
    ta::set_memory_limit(device, bytes);
  }
  ~Limit() { ta::set_memory_limit(device_, 0); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  ta::Device device_;
};

/// Allocates and frees at random around `live` bytes; the device has a fifth more.
void churn(ta::runtime::Backend& device, std::size_t live, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::shared_ptr<ta::graph::Buffer>> held;
  std::size_t bytes = 0;
  for (int i = 0; i < 4000; ++i) {
    // Sizes over four powers of ten, the large ones as often as the small ones by bytes.
    const auto size = static_cast<std::size_t>(std::exp2(8 + 12 * std::generate_canonical<double, 32>(random)));
    while (bytes + size > live) {
      std::swap(held[random() % held.size()], held.back());
      bytes -= held.back()->bytes;
      held.pop_back();
    }
    held.push_back(device.allocate(size));
    bytes += size;
  }
}

}  // namespace

TEST_CASE("memory: statistics count what arrays hold, and trim returns the rest", "[memory]") {
  const ta::Scope on_cpu(ta::cpu);
  ta::trim(ta::cpu);
  const ta::MemoryStats before = ta::memory_stats(ta::cpu);
  CHECK(before.device == ta::cpu);
  CHECK(before.cached == 0);
  CHECK(before.limit == 0);
  ta::reset_memory_peak(ta::cpu);
  {
    const ta::Array x = ta::asarray(Values(1 << 18, 1.0f));
    CHECK(ta::memory_stats(ta::cpu).live == before.live + kMiB);
    const ta::Array y = x + 1.0f;
    CHECK(ta::memory_stats(ta::cpu).live == before.live + kMiB);  // lazy
    ta::evaluate(y);
    CHECK(ta::memory_stats(ta::cpu).live == before.live + 2 * kMiB);
  }
  const ta::MemoryStats after = ta::memory_stats(ta::cpu);
  CHECK(after.live == before.live);
  CHECK(after.cached >= 2 * kMiB);
  CHECK(after.peak == before.live + 2 * kMiB);
  CHECK(after.str().find("cpu: ") == 0);
  ta::trim(ta::cpu);
  CHECK(ta::memory_stats(ta::cpu).cached == 0);
}

TEST_CASE("memory: a limit holds for the CPU too, and is a clear error with a table", "[memory]") {
  const ta::Scope on_cpu(ta::cpu);
  const std::int64_t live = ta::memory_stats(ta::cpu).live;
  const Limit limit(ta::cpu, live + 3 * kMiB);
  CHECK(ta::memory_stats(ta::cpu).limit == live + 3 * kMiB);
  const ta::Array x = ta::asarray(Values(1 << 18, 1.0f));
  CHECK_THROWS_WITH(ta::asarray(Values(1 << 20, 1.0f)), Contains("no host memory for 4.00 MiB") && Contains("live") &&
                                                            Contains("pinned") && Contains("cached") &&
                                                            Contains("requested") && Contains("set_memory_limit"));
  CHECK((x + 1.0f).to_vector<float>() == Values(1 << 18, 2.0f));
  CHECK_THROWS_AS(ta::set_memory_limit(ta::cpu, -1), ta::InvalidArgument);
}

TEST_CASE("memory: threads that allocate at once never hold more than the limit", "[memory]") {
  const ta::Scope on_cpu(ta::cpu);
  const std::int64_t before = ta::memory_stats(ta::cpu).live;
  const Limit limit(ta::cpu, before + 8 * kMiB);
  ta::reset_memory_peak(ta::cpu);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 50; ++i) {
          try {
            const auto held = ta::runtime::backend(ta::cpu).allocate(5 * kMiB);
            std::this_thread::yield();
          } catch (const ta::OutOfMemory&) {
          }
          if (i % 3 == 0) ta::trim(ta::cpu);
        }
      });
    }
  }
  CHECK(ta::memory_stats(ta::cpu).peak <= before + 8 * kMiB);
}

TEST_CASE("memory: what is idle while much is served goes back, and a loop keeps what it uses", "[memory]") {
  const ta::test::FakeGpu gpu;
  for (const ta::Device device : {ta::cpu, ta::test::kFakeGpu}) {
    ta::runtime::Backend& b = ta::runtime::backend(device);
    b.trim();
    for (std::size_t mib = 64; mib < 128; mib += 8)
      (void)b.allocate(mib << 20);  // a class each, and none asked for again
    const std::size_t many = b.memory().cached;
    for (int i = 0; i < 600; ++i) (void)b.allocate(std::size_t{32} << 20);
    const auto warm = b.memory();
    CHECK(many >= std::size_t{640} << 20);
    CHECK(warm.cached < std::size_t{160} << 20);
    for (int i = 0; i < 2000; ++i) (void)(i % 100 ? b.allocate(4096) : b.allocate(std::size_t{32} << 20));
    CHECK(b.memory().allocations <= warm.allocations + 1);
    b.trim();
    b.reset_peak();
  }
}

TEST_CASE("memory: a loop keeps all blocks that it uses, however many a step takes", "[memory]") {
  ta::trim(ta::cpu);
  const ta::Array x = ta::ones({1 << 22});
  std::int64_t last = -1;
  for (int step = 0; step < 12; ++step) {
    std::vector<ta::Array> results;
    for (int i = 0; i < 12; ++i) results.push_back(x + static_cast<float>(i));
    last = ta::evaluate(results).counters().allocations;
  }
  CHECK(last == 0);
}

TEST_CASE("memory: where there is no room, what waits is evaluated, and then there is", "[memory]") {
  const ta::Scope on_cpu(ta::cpu), patient(ta::Budget::unlimited());
  const std::int64_t live = ta::memory_stats(ta::cpu).live;
  const Limit limit(ta::cpu, live + 8 * kMiB + 64 * 1024);
  ta::reset_memory_peak(ta::cpu);
  std::vector<ta::Array> sums;
  for (int i = 0; i < 40; ++i) sums.push_back(ta::sum(ta::asarray(Values(1 << 18, static_cast<float>(i)))));
  CHECK(sums.front().is_evaluated());
  CHECK_FALSE(sums.back().is_evaluated());
  for (int i = 0; i < 40; ++i)
    CHECK(sums[static_cast<std::size_t>(i)].item<float>() == 262144.0f * static_cast<float>(i));
  CHECK(ta::memory_stats(ta::cpu).peak <= live + 8 * kMiB + 64 * 1024);
}

TEST_CASE("memory: plan predicts the peak, and the evaluate has it", "[memory]") {
  const ta::Scope on_cpu(ta::cpu);
  const std::int64_t n = 1 << 18;
  const ta::Array x = ta::asarray(Values(static_cast<std::size_t>(n), 0.5f)), m = ta::reshape(x, {512, 512});
  const std::function<std::vector<ta::Array>()> programs[] = {
      [&] { return std::vector{x + 1.0f}; },
      [&] { return std::vector{x * 2.0f, ta::exp(x), ta::sqrt(x)}; },
      [&] { return std::vector{ta::cumulative_sum(ta::cumulative_sum(x) * 2.0f) + x}; },
      [&] { return std::vector{ta::matmul(m + 1.0f, ta::matrix_transpose(m) * 2.0f) - m}; },
      [&] { return std::vector{m / ta::sum(m, {0}, {.keepdims = true}), ta::mean(m)}; },
      [&] {
        return std::vector{ta::flip(ta::cumulative_sum(m * m, {.axis = 0})) + ta::cumulative_sum(m, {.axis = 1})};
      },
  };
  for (const auto& program : programs) {
    const std::vector<ta::Array> roots = program();
    const ta::Counters predicted = ta::plan(std::span<const ta::Array>(roots)).counters();
    CHECK(predicted.peak_bytes > 0);
    ta::reset_memory_peak(ta::cpu);
    const std::int64_t live = ta::memory_stats(ta::cpu).live;
    CHECK(ta::evaluate(std::span<const ta::Array>(roots)).counters().peak_bytes == predicted.peak_bytes);
    CHECK(ta::memory_stats(ta::cpu).peak - live == predicted.peak_bytes);
  }
}

TEST_CASE("memory: on a GPU the peak that plan predicts holds copies of what comes from the host", "[memory][cuda]") {
  TARRY_REQUIRE_NVRTC();
  ta::test::FakeGpu gpu;
  const ta::Scope placed(ta::test::kFakeGpu);
  const ta::Array x = ta::asarray(Values(1 << 18, 0.5f)), y = ta::asarray(Values(1 << 18, 0.5f));
  for (const std::int64_t uploaded : {2, 0}) {  // the second time they are there
    const ta::Array z = ta::cumulative_sum(x * 2.0f) + y;
    const ta::Counters predicted = ta::plan(z).counters();
    CHECK(predicted.uploads == uploaded);
    CHECK(predicted.peak_bytes >= (1 + uploaded) * kMiB);
    const ta::Counters measured = ta::evaluate(z).counters();
    CHECK(measured.uploads == uploaded);
    CHECK(measured.peak_bytes == predicted.peak_bytes);
  }
}

TEST_CASE("memory: a random workload never fails where there is a fifth more than it holds", "[memory]") {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    const auto host = ta::runtime::make_cpu_backend();
    host->limit_memory(std::size_t{12} << 20);
    CHECK_NOTHROW(churn(*host, std::size_t{10} << 20, seed));
    CHECK(host->memory().live == 0);
    CHECK(host->memory().cached <= std::size_t{12} << 20);
    ta::test::FakeDriver driver;
    driver.capacity = std::size_t{12} << 20;
    const auto device = ta::runtime::make_cuda_backend(driver.api, 0);
    CHECK_NOTHROW(churn(*device, std::size_t{10} << 20, seed));
  }
}

namespace {

/// Results that differ between every value in memory of its own and buffers that are used again and taken over.
std::size_t differences(std::span<const ta::test::fuzz::Program> programs) {
  const auto apart = ta::test::fuzz::run(programs, {"without reuse", "compile,reuse"});
  std::size_t different = 0;
  for (const ta::test::fuzz::Order order :
       {ta::test::fuzz::Order::Together, ta::test::fuzz::Order::Dropping, ta::test::fuzz::Order::Peeking}) {
    const auto reused = ta::test::fuzz::run(programs, {"with reuse", "compile", order});
    for (std::size_t p = 0; p < programs.size(); ++p)
      for (std::size_t i = 0; i < apart[p].size(); ++i)
        different += ta::test::fuzz::difference(reused[p][i], apart[p][i]).empty() ? 0 : 1;
  }
  return different;
}

void require_same(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t done = 0; done < count;) {
    std::vector<ta::test::fuzz::Program> programs;
    for (; programs.size() < 64 && done < count; ++done) programs.push_back(ta::test::fuzz::generate(first + done));
    bool same = false;
    std::string threw;
    try {
      same = differences(programs) == 0;
    } catch (const ta::Error& e) {  // the loop says whether one of them does so alone
      threw = e.what();
    }
    CAPTURE(threw, programs.front().seed);
    for (std::size_t p = 0; !same && p < programs.size(); ++p) {
      CAPTURE(programs[p].seed);
      CHECK(differences({&programs[p], 1}) == 0);
    }
    CHECK(same);
  }
}

}  // namespace

TEST_CASE("memory: buffers that are reused change no bit", "[memory]") { require_same(1, 320); }
TEST_CASE("memory: buffers that are reused change no bit of ten thousand graphs", "[.][slow]") {
  require_same(100'000, 10'000);
}

TEST_CASE("memory: whichever allocation or copy fails, moved and adopted arrays are evaluated in the end",
          "[memory][fault][cuda]") {
  TARRY_REQUIRE_NVRTC();
  using ta::support::fault::Site;
  ta::test::FakeGpu gpu;
  const Values ones(1000, 1.0f);
  Values adopted(1000, 2.0f);
  int failures = 0;
  for (const Site site : {Site::Driver, Site::Allocation}) {
    for (std::uint64_t k = 1; k < 500; ++k) {
      ta::runtime::backend(ta::test::kFakeGpu).trim();
      const ta::Array host = ta::asarray(ones), lent = ta::borrow(ones.data(), {500}, {2});
      std::uint64_t calls = 0;
      ta::Array sum;
      bool failed = false;
      ta::support::fault::arm(site, k);
      try {
        const ta::Array x = ta::to_device(host, ta::test::kFakeGpu);
        sum = x + ta::concat({ta::to_device(lent, ta::test::kFakeGpu), ta::to_device(lent, ta::test::kFakeGpu)}, 0);
        ta::evaluate(sum);
      } catch (const ta::Error&) {
        failed = true;
      }
      calls = ta::support::fault::disarm();
      INFO("site " << static_cast<int>(site) << ", call " << k << " of " << calls);
      failures += failed ? 1 : 0;
      if (failed && sum.is_defined()) REQUIRE_FALSE(sum.is_evaluated());
      CHECK(ta::to_device(host, ta::cpu).to_vector<float>() == ones);
      CHECK(lent.to_vector<float>() == Values(500, 1.0f));
      if (calls < k) break;
    }
  }
  CHECK(failures >= 3);
}
