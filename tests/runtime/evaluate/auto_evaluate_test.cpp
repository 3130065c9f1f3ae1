// The automatic evaluate: what a thread records without evaluating is bounded, and is evaluated in portions that
// repeat.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "graph/node.h"
#include "support/fault.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"

namespace ta = tarry;
using ta::test::CapturedLog;
using ta::test::Setting;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Counts of what the engine evaluated by itself and compiled since this was made.
class Since {
 public:
  [[nodiscard]] std::int64_t evaluates() const { return ta::pending_work().evaluates - before_.evaluates; }
  [[nodiscard]] std::int64_t plan_hits() const { return ta::pending_work().plan_hits - before_.plan_hits; }
  [[nodiscard]] std::int64_t launches() const { return ta::pending_work().launches - before_.launches; }
  /// Kernels that this process did not have.
  [[nodiscard]] std::int64_t kernels() const { return made() - made_; }

 private:
  static std::int64_t made() {
    const ta::CacheCounters c = ta::cache_counters();
    return c.compiles + c.disk_hits;
  }
  ta::PendingWork before_ = ta::pending_work();
  std::int64_t made_ = made();
};

/// A tenth of the documented default, so that a test takes a tenth of the time.
const ta::Budget kTenth{.operations = 1'000, .bytes = 0};

std::vector<float> constant(std::size_t n, float value) { return std::vector<float>(n, value); }

/// y = y + x for a thousand new arrays, each a 64th of the limit, on a device that has no more memory than that.
void thousand_sums(ta::Device device, std::int64_t limit_bytes, const char* limit_text) {
  const ta::Scope placed(device);
  const std::size_t n = static_cast<std::size_t>(limit_bytes) / 64 / sizeof(float);
  ta::trim(device);
  const Setting limit("TARRY_MEMORY_LIMIT", limit_text);
  ta::reset_memory_peak(device);
  const Since start;
  const auto before = ta::memory_stats(device).live;
  std::vector<float> x(n);
  float expected = 0;
  ta::Array y = ta::asarray(constant(n, 0.0f));
  for (int i = 0; i < 1000; ++i) {
    std::fill(x.begin(), x.end(), static_cast<float>(i % 7));
    y = y + ta::asarray(x);
    expected += static_cast<float>(i % 7);
  }
  const std::vector<float> values = y.to_vector<float>();
  CHECK(std::all_of(values.begin(), values.end(), [&](float v) { return v == expected; }));
  const ta::MemoryStats stats = ta::memory_stats(device);
  CHECK(stats.limit == limit_bytes);
  CHECK(stats.peak <= limit_bytes);
  CHECK(stats.peak - before <= limit_bytes / 2);  // the budget is a quarter of the limit
  CHECK(start.kernels() <= 4);
  CHECK(start.evaluates() >= 1000 / 17);
  CHECK(start.plan_hits() >= start.evaluates() - 3);
}

}  // namespace

TEST_CASE("auto evaluate: a thousand sums of fresh arrays need memory for a few of them", "[auto_evaluate]") {
  thousand_sums(ta::cpu, 64 * kMiB, "64m");  // of 1 MiB each
}

TEST_CASE("auto evaluate: a thousand sums of fresh arrays of 64 MiB need 4 GiB", "[.slow][auto_evaluate]") {
  for (const ta::Device device : ta::devices()) thousand_sums(device, 4096 * kMiB, "4g");
}

TEST_CASE("auto evaluate: a loop over the same arrays costs no more than with evaluate in each round",
          "[auto_evaluate]") {
  const ta::Scope on_cpu(ta::cpu), budget(kTenth);
  const ta::Array s = ta::asarray(constant(1000, 0.5f)), a = ta::asarray(constant(1000, 3.0f));
  ta::Array b = ta::asarray(constant(1000, 1.0f)), c;
  const Since start;
  for (int i = 0; i < 1000; ++i) {
    b = b + s;
    c = b + a;
  }
  const ta::Counters rest = ta::evaluate(b, c).counters();
  CHECK(b.to_vector<float>() == constant(1000, 501.0f));
  CHECK(c.to_vector<float>() == constant(1000, 504.0f));
  CHECK(start.evaluates() >= 1);
  CHECK(start.kernels() <= 4);
  CHECK(start.launches() + rest.launches <= 100);  // 1,000 and more with evaluate in each round
  CHECK(start.plan_hits() >= start.evaluates() - 2);
}

TEST_CASE("auto evaluate: rounds of any length repeat a plan, wherever the budget ends in them", "[auto_evaluate]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array k = ta::asarray(constant(64, 0.25f));
  for (const std::int64_t operations : {300, 301, 307, 400}) {
    CAPTURE(operations);
    const ta::Scope budget(ta::Budget{.operations = operations});
    ta::Array u = ta::asarray(constant(64, 1.0f)), v = ta::asarray(constant(64, 2.0f)), w;
    const Since start;
    for (int i = 0; i < 1000; ++i) {  // six operations
      w = ta::abs(u) * k;
      u = u + w - v * k;
      v = ta::maximum(v, u);
    }
    ta::evaluate(u, v, w);
    CHECK(start.evaluates() >= 10);
    CHECK(start.kernels() <= 6);
    CHECK(start.plan_hits() >= start.evaluates() - 3);
  }
}

TEST_CASE("auto evaluate: the same bits with and without a budget", "[auto_evaluate]") {
  const ta::Scope on_cpu(ta::cpu);
  const Setting interpreter("TARRY_DISABLE", "compile");
  const auto run = [](ta::Budget budget) {
    const ta::Scope scope(budget);
    ta::Array x = ta::asarray(ta::test::ramp(97)), total = ta::zeros({97}), row;
    std::vector<ta::Array> kept;
    for (int i = 0; i < 60; ++i) {
      x = ta::sqrt(x * x + 0.1f) - ta::mean(x) * 0.01f;
      row = x(ta::slice(0, 50));
      total = total + ta::where(x > 3.0f, x, 0.0f);
      if (i % 20 == 0) kept.push_back(row * 2.0f + ta::std(x));
    }
    kept.push_back(total);
    kept.push_back(row);
    std::vector<std::vector<float>> values;
    for (const ta::Array& a : kept) values.push_back(a.to_vector<float>());
    return values;
  };
  const auto whole = run(ta::Budget::unlimited());
  for (const std::int64_t operations : {1, 2, 3, 10, 64}) {
    CAPTURE(operations);
    CHECK(run({.operations = operations}) == whole);
  }
}

TEST_CASE("auto evaluate: one line says where, and what to do about it, once", "[auto_evaluate]") {
  const CapturedLog log;
  std::thread([] {  // a message once per process: only the first test that comes here sees it
    const ta::Scope on_cpu(ta::cpu), budget(ta::Budget{.operations = 50});
    ta::Array x = ta::asarray(constant(8, 1.0f));
    for (int i = 0; i < 500; ++i) x = x + 1.0f;
    CHECK(x.to_vector<float>() == constant(8, 501.0f));
  })
      .join();
  std::int64_t lines = 0;
  for (const std::string& m : log.messages()) {
    if (m.find("waited for evaluate()") == std::string::npos) continue;
    ++lines;
    CHECK(m.find("_test.cpp:") != std::string::npos);
    CHECK(m.find("call evaluate() once per round") != std::string::npos);
    CHECK(m.find("tarry::Budget") != std::string::npos);
  }
  CHECK(lines <= 1);
}

TEST_CASE("auto evaluate: a failure never leaves an operator; the next read throws it, and then all goes on",
          "[auto_evaluate][fault]") {
  const ta::Scope on_cpu(ta::cpu), budget(ta::Budget{.operations = 40});
  const CapturedLog log;
  const ta::Array one = ta::asarray(constant(1024, 1.0f));  // held, so that nothing can happen in its memory
  ta::Array x = one;
  {
    const Setting full("TARRY_MEMORY_LIMIT", "1");
    ta::trim(ta::cpu);
    for (int i = 0; i < 100; ++i) CHECK_NOTHROW(x = x + 0.5f + ta::asarray(2.0f));
    CHECK_FALSE(x.is_evaluated());
    CHECK_THROWS_AS(x.to_vector<float>(), ta::OutOfMemory);
    CHECK_FALSE(x.is_evaluated());
  }
  CHECK(x.to_vector<float>() == constant(1024, 251.0f));
  const auto messages = log.messages();
  CHECK(std::count_if(messages.begin(), messages.end(), [](const std::string& m) {
          return m.find("could not be evaluated yet") != std::string::npos;
        }) >= 1);
}

TEST_CASE("auto evaluate: where memory is out, what keeps none is not evaluated for it", "[auto_evaluate][fault]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array held = ta::asarray(constant(1024, 1.0f));
  const ta::Array waits = held + 1.0f, wanted = held * 3.0f;
  for (const bool keeps : {false, true}) {
    const ta::Array from_dropped = keeps ? ta::asarray(constant(1024, 2.0f)) * 2.0f : held;
    ta::trim(ta::cpu);
    ta::support::fault::arm(ta::support::fault::Site::Allocation, 1);
    if (keeps) {
      CHECK_NOTHROW(ta::evaluate(wanted));
    } else {
      CHECK_THROWS_AS(ta::evaluate(wanted), ta::OutOfMemory);
    }
    ta::support::fault::disarm();
    CHECK(wanted.is_evaluated() == keeps);
    CHECK(waits.is_evaluated() == keeps);
  }
  CHECK(wanted.to_vector<float>() == constant(1024, 3.0f));
}

TEST_CASE("auto evaluate: arrays that the program holds anyway are no reason to evaluate", "[auto_evaluate]") {
  const ta::Scope on_cpu(ta::cpu), budget(ta::Budget{.operations = 1'000'000, .bytes = 4 * kMiB});
  std::vector<ta::Array> held;
  for (int i = 0; i < 16; ++i) held.push_back(ta::asarray(constant(1 << 18, static_cast<float>(i))));
  const Since start;
  ta::Array sum = held[0];
  for (const ta::Array& x : held) sum = sum + x;
  CHECK_FALSE(sum.is_evaluated());
  CHECK(start.evaluates() == 0);
  CHECK(ta::evaluate(sum).counters().launches == 1);
}

TEST_CASE("auto evaluate: results that nobody combines are evaluated where they free memory", "[auto_evaluate]") {
  const ta::Scope on_cpu(ta::cpu), budget(ta::Budget{.operations = 1'000'000, .bytes = 8 * kMiB});
  const auto before = ta::memory_stats(ta::cpu).live;
  ta::reset_memory_peak(ta::cpu);
  std::vector<ta::Array> sums;
  for (int i = 0; i < 100; ++i) sums.push_back(ta::sum(ta::asarray(constant(1 << 18, static_cast<float>(i))) * 2.0f));
  CHECK(ta::memory_stats(ta::cpu).peak - before <= 12 * kMiB);
  for (int i = 0; i < 100; ++i)
    CHECK(sums[static_cast<std::size_t>(i)].item<float>() == 524288.0f * static_cast<float>(i));
}

TEST_CASE("auto evaluate: views and constants that take no memory are left as they are", "[auto_evaluate]") {
  const ta::Scope on_cpu(ta::cpu), budget(ta::Budget{.operations = 30});
  const ta::Array x = ta::asarray(ta::test::ramp(100));
  const ta::Array large = ta::zeros({std::int64_t{1} << 40}), part = x(ta::slice(3, 9));
  ta::Array y = x;
  for (int i = 0; i < 200; ++i) y = y + 1.0f;
  CHECK_FALSE(large.is_evaluated());
  CHECK_FALSE(part.is_evaluated());
  CHECK(y(0).item<float>() == 200.5f);
  CHECK(large(7).item<float>() == 0.0f);
}

TEST_CASE("auto evaluate: pending work is counted exactly, whichever thread drops it", "[auto_evaluate][threads]") {
  const ta::Scope on_cpu(ta::cpu);
  const std::int64_t waiting = ta::pending_work().operations;  // arrays in static storage
  const std::int64_t before = ta::graph::live_nodes();
  std::vector<ta::Array> kept;
  for (int i = 0; i < 50; ++i) kept.push_back(ta::exp(ta::asarray(constant(256, 1.0f)) + 1.0f));
  CHECK(ta::pending_work().operations == waiting + 100);
  CHECK(ta::pending_work().bytes == 50 * 1024);
  std::thread([&] { kept.resize(20); }).join();
  CHECK(ta::pending_work().operations == waiting + 40);
  CHECK(ta::pending_work().bytes == 20 * 1024);
  std::thread([&] { ta::evaluate(std::span<const ta::Array>(kept)); }).join();
  CHECK(ta::pending_work().operations == waiting);
  kept.clear();
  std::thread([&] {
    for (int i = 0; i < 50; ++i) kept.push_back(ta::exp(ta::asarray(constant(256, 1.0f)) + 1.0f));
  }).join();
  CHECK(ta::pending_work().operations == waiting);  // recorded by a thread that has ended
  kept.clear();
  CHECK(ta::graph::live_nodes() == before);
}

TEST_CASE("auto evaluate: threads that record, evaluate and drop each other's arrays", "[auto_evaluate][threads]") {
  const std::int64_t before = ta::graph::live_nodes();
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::vector<ta::Array> shared(16);
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const ta::Scope on_cpu(ta::cpu), budget(ta::Budget{.operations = 25});
      for (int i = 0; i < 300; ++i) {
        const auto at = static_cast<std::size_t>((i * 7 + t * 5) % 16);
        ta::Array mine;
        {
          const std::lock_guard lock(mutex);
          std::swap(mine, shared[at]);
        }
        if (!mine.is_defined() || i % 40 == 39) mine = ta::asarray(constant(16, 1.0f));
        mine = (mine + 1.0f) * 1.0f;
        if (i % 10 == 0) {
          const std::vector<float> v = mine.to_vector<float>();
          wrong += std::any_of(v.begin(), v.end(), [&](float x) { return x != v[0]; }) ? 1 : 0;
        }
        const std::lock_guard lock(mutex);
        shared[at] = mine;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  shared.clear();
  CHECK(wrong == 0);
  CHECK(ta::graph::live_nodes() == before);
}
