// Dispatch: what an evaluate asks of allocator, driver and planner once its plan is known. Everything is counted.
#include <atomic>
#include <thread>

#include "runtime/device/cuda/backend.h"
#include "support/fault.h"
#include "tests/helpers/allocations.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"

namespace ta = tarry;
using ta::test::FakeGpu;
using ta::test::kFakeGpu;
using ta::test::ramp;
using ta::test::Setting;

namespace {

/// Calls of operator new that `body` makes in this thread.
template <class F>
std::int64_t allocations_of(F&& body) {
  const std::int64_t before = ta::test::allocations_here();
  body();
  return ta::test::allocations_here() - before;
}

/// An array that an evaluate made.
ta::Array computed(std::size_t n) {
  const ta::Array x = ta::asarray(ramp(n)) + 0.0f;
  ta::evaluate(x);
  return x;
}

ta::Array ten_operations(const ta::Array& x, const ta::Array& y) {
  ta::Array a = x * y + 1.0f;
  a = ta::exp(-a) + x;
  a = ta::sqrt(a * a + 1.0f);
  return a * 0.5f - y;
}

/// Steps of the heat equation: views, updates and several kernels.
ta::Array heat(ta::Array u, int steps) {
  const ta::Slice in{1, -1}, low{0, -2}, high{2, ta::none};
  for (int step = 0; step < steps; ++step) {
    const ta::Array c = u(in, in);
    u.set({in, in}, c + 0.1f * (u(low, in) + u(high, in) + u(in, low) + u(in, high) - 4.0f * c));
  }
  return u;
}

/// Several kernels: a reduction of everything, and what is done with it.
ta::Array several(const ta::Array& x) { return x * 3.0f / ta::sum(ta::exp(x * 0.001f)); }

ta::Array matrix(std::size_t n) { return ta::reshape(computed(n * n), ta::Shape(n, n)) * 1.0f; }

}  // namespace

TEST_CASE("dispatch: a loop of evaluates allocates nothing once its plan is known", "[dispatch]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  TARRY_SKIP("allocations are not counted under this sanitizer");
#endif
  ta::test::on_every_device([](ta::Device) {
    const ta::Array x = computed(1024), y = computed(1024);
    ta::Array u = matrix(32);
    ta::evaluate(u);
    std::int64_t hits = 0;
    const auto small = [&] { hits += ta::evaluate(ten_operations(x, y)).counters().plan_hit; };
    const auto steps = [&] { hits += ta::evaluate(heat(u, 3)).counters().plan_hit; };
    const auto in_place = [&] {
      u = u * 0.5f + 1.0f;
      hits += ta::evaluate(u).counters().plan_hit;
    };
    for (const std::function<void()>& call :
         {std::function<void()>(small), std::function<void()>(steps), std::function<void()>(in_place)}) {
      for (int i = 0; i < 8; ++i) call();
      ta::synchronize();  // the first event is made, which serves all later ones
      hits = 0;
      CHECK(allocations_of([&] {
              for (int i = 0; i < 100; ++i) call();
            }) == 0);
      CHECK(hits == 100);
    }
  });
}

TEST_CASE("dispatch: on a GPU a cached evaluate is one driver call and its context", "[dispatch][cuda]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  const ta::Array x = computed(1024), y = computed(1024);
  const auto call = [&] { return ta::evaluate(ten_operations(x, y)); };
  for (int i = 0; i < 4; ++i) call();
  auto& counts = gpu.driver().counts;
  {
    counts.clear();
    ta::Report report;
    for (int i = 0; i < 10; ++i) report = call();
    CHECK(report.counters().replays == 1);
    CHECK(report.counters().launches == 1);
    CHECK(counts["graph_launch"] == 10);
    CHECK(counts["launch_kernel"] == 0);
    CHECK(counts["graph_instantiate"] == 0);
    CHECK(counts["mem_alloc"] == 0);
    CHECK(counts["event_record"] <= 1);
    CHECK(counts["ctx_push_current"] == 10);
    CHECK(counts["graph_exec_set_parameters"] <= 10);
    CHECK_THAT(report.str(), Catch::Contains("one CUDA graph"));
  }
  const Setting off("TARRY_DISABLE", "graphs");
  for (int i = 0; i < 4; ++i) call();
  counts.clear();
  CHECK(call().counters().replays == 0);
  CHECK(counts["graph_launch"] == 0);
  CHECK(counts["launch_kernel"] == 1);
}

TEST_CASE("dispatch: a large kernel may start while the one before it ends, which a graph does not",
          "[dispatch][cuda]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  for (const std::int64_t n : {1024, 1 << 23}) {
    const ta::Array x = computed(n);
    ta::evaluate(x);
    for (int i = 0; i < 3; ++i) ta::evaluate(x + 1.0f);
    auto& counts = gpu.driver().counts;
    counts.clear();
    const ta::Report report = ta::evaluate(x + 1.0f);
    INFO(n << " elements");
    CHECK(counts["launch_kernel"] == 0);
    CHECK(counts["launch_kernel_ex"] == (n > 1024));
    CHECK(counts["graph_launch"] == (n == 1024));
    CHECK(report.counters().launches == 1);
  }
}

TEST_CASE("dispatch: large kernels that follow each other read what those before them have written",
          "[dispatch][cuda]") {
  TARRY_REQUIRE_CUDA();
  const ta::Scope placed(ta::cuda(0));
  const auto run = [] {
    ta::Array x = computed(std::size_t{1} << 23), y = ta::flip(x);
    for (int i = 0; i < 300; ++i) {
      x = ta::flip(x) * 0.6f - ta::sum(y) * 1e-9f + y;  // each element by another thread block
      y += 0.4f * x - y;
      ta::evaluate(x, y);
    }
    return std::pair(x.to_vector<float>(), y.to_vector<float>());
  };
  const auto early = run();
  const Setting one_by_one("TARRY_SYNC", "1");
  CHECK(run() == early);
}

TEST_CASE("dispatch: a plan that has run twice is instantiated once, whatever its kernels", "[dispatch][cuda]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  const ta::Array u = matrix(64);
  ta::evaluate(u);
  auto& counts = gpu.driver().counts;
  std::int64_t launches = 0;
  for (int run = 1; run <= 6; ++run) {
    counts.clear();
    const ta::Report report = ta::evaluate(several(u));
    launches = report.counters().launches;
    INFO("run " << run);
    CHECK(report.counters().replays == (run > 2));
    CHECK(counts["launch_kernel"] == (run > 2 ? 0 : launches));
    CHECK(counts["graph_launch"] == (run > 2));
    CHECK(counts["graph_instantiate"] == (run == 3));
    CHECK(counts["graph_exec_set_parameters"] <= launches);
  }
  CHECK(launches > 1);
}

TEST_CASE("dispatch: replays in flight keep their own parameters", "[dispatch][cuda]") {
  ta::test::FakeDriver driver;
  driver.kernels["scale"] = [](const std::uint64_t* words, unsigned blocks, unsigned threads) {
    if (blocks == 1 && threads == 256) *reinterpret_cast<std::uint64_t*>(words[0]) = 10 * words[1];
  };
  {
    const auto backend = ta::runtime::make_cuda_backend(driver.api, 0);
    ta::cache::KernelRequest request;
    request.entry = "scale";
    const auto kernel = backend->load(request, {std::make_shared<const std::string>("image"), "test", ""});
    ta::codegen::KernelSource source;
    source.entry = "scale";
    const auto out = backend->allocate(64 * sizeof(std::uint64_t));
    const auto words_of = [&](std::uint64_t i) {
      const std::uint64_t base = reinterpret_cast<std::uintptr_t>(out->data) + 16 * i;
      return std::vector<std::uint64_t>{base, i, base + 8, i + 100};  // two launches
    };
    std::vector<std::uint64_t> words = words_of(0);
    const ta::runtime::Launch launches[] = {{kernel.get(), &source, std::span(words).first(2), {}},
                                            {kernel.get(), &source, std::span(words).last(2), {}}};
    backend->launch(launches[0]);
    const auto sequence = backend->sequence(launches);
    REQUIRE(sequence != nullptr);
    for (std::uint64_t i = 0; i < 32; ++i) {
      words = words_of(i);
      REQUIRE(sequence->replay(words));
    }
    std::vector<std::uint64_t> values(64);
    backend->download(values.data(), *out, 0, 64 * sizeof(std::uint64_t));
    for (std::uint64_t i = 0; i < 32; ++i) {
      CHECK(values[2 * i] == 10 * i);
      CHECK(values[2 * i + 1] == 10 * (i + 100));
    }
  }
  CHECK(driver.nothing_left());
}

TEST_CASE("dispatch: whichever call of a graph fails, the kernels are launched", "[dispatch][cuda][fault]") {
  TARRY_REQUIRE_NVRTC();
  const char* const calls[] = {"graph_create", "graph_add_kernel_node", "graph_instantiate",
                               "graph_exec_set_parameters", "graph_launch"};
  for (const char* const broken : calls) {
    INFO(broken);
    FakeGpu gpu;
    ta::runtime::cuda::DriverApi& api = gpu.driver().api;
    const std::string name = broken;
    static constexpr auto kRefused = ta::test::FakeDriver::Result::InvalidValue;
    if (name == "graph_create") api.graph_create = [](auto...) { return kRefused; };
    if (name == "graph_add_kernel_node") api.graph_add_kernel_node = [](auto...) { return kRefused; };
    if (name == "graph_instantiate") api.graph_instantiate = [](auto...) { return kRefused; };
    if (name == "graph_exec_set_parameters") api.graph_exec_set_parameters = [](auto...) { return kRefused; };
    if (name == "graph_launch") api.graph_launch = [](auto...) { return kRefused; };
    const ta::Scope placed(kFakeGpu);
    const ta::Array x = computed(64), y = computed(64);
    std::vector<ta::Array> kept;  // so that addresses differ
    for (int i = 0; i < 6; ++i) {
      gpu.driver().counts.clear();
      kept.push_back(ten_operations(x, y));
      const ta::Report report = ta::evaluate(kept.back());
      CHECK(report.counters().launches == 1);
      const bool replayed = report.counters().replays == 1;
      CHECK(gpu.driver().counts["launch_kernel"] == (replayed ? 0 : 1));
      if (i > 3) CHECK_FALSE(replayed);
    }
  }
}

TEST_CASE("dispatch: after any failing driver call a repeated evaluate is lazy, failed or done",
          "[dispatch][cuda][fault]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  const ta::Array x = computed(64), y = computed(64);
  int done = 0, other = 0;
  for (std::uint64_t k = 1; k < 40; ++k) {
    const std::string salt = std::to_string(k);
    std::vector<ta::Array> kept;
    for (int i = 0; i < 2; ++i) {
      kept.push_back(ten_operations(x, y) * 1.0f + static_cast<float>(k));
      ta::evaluate(kept.back());
    }
    ta::support::fault::arm(ta::support::fault::Site::Driver, k);
    for (int i = 0; i < 2; ++i) {
      kept.push_back(ten_operations(x, y) * 1.0f + static_cast<float>(k));
      try {
        ta::evaluate(kept.back());
        ++done;
        CHECK(kept.back().is_evaluated());
      } catch (const ta::Error&) {
        ++other;
        CHECK_FALSE(kept.back().is_evaluated());
      }
    }
    ta::support::fault::disarm();
    ta::evaluate(ten_operations(x, y));
    CHECK(ta::test::fake_contexts().empty());
  }
  CHECK(done > 40);
  CHECK(other > 0);
}

TEST_CASE("dispatch: threads that repeat one plan share it", "[dispatch][cuda][threads]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  std::atomic<std::int64_t> hits{0};
  {
    const ta::Scope placed(kFakeGpu);
    const ta::Array x = computed(64), y = computed(64);
    for (int i = 0; i < 3; ++i) ta::evaluate(ten_operations(x, y));
    gpu.driver().counts.clear();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const ta::Scope here(kFakeGpu);
        for (int i = 0; i < 50; ++i) hits += ta::evaluate(ten_operations(x, y)).counters().plan_hit;
      });
    }
    for (std::thread& t : threads) t.join();
  }
  CHECK(hits == 200);
  CHECK(gpu.driver().counts["graph_launch"] + gpu.driver().counts["launch_kernel"] == 200);
  CHECK(gpu.driver().counts["graph_instantiate"] == 0);
}

TEST_CASE("dispatch: repeated evaluates give each time what its own inputs say", "[dispatch]") {
  ta::test::on_every_device([](ta::Device) {
    std::vector<float> expected = ramp(100);
    ta::Array a = computed(100);
    for (int i = 0; i < 20; ++i) {  // in place, another scalar each time
      const auto step = static_cast<float>(i);
      a = a * 0.5f + step;
      ta::evaluate(a);
      for (float& v : expected) v = v * 0.5f + step;
    }
    CHECK(a.to_vector<float>() == expected);
    std::vector<ta::Array> kept;
    for (int i = 0; i < 20; ++i) {
      const ta::Array x = ta::asarray(std::vector<float>(7, static_cast<float>(i))) + 0.0f;
      ta::evaluate(x);
      kept.push_back(ta::sum(x * 2.0f) + x);
      ta::evaluate(kept.back());
    }
    for (int i = 0; i < 20; ++i)
      CHECK(kept[static_cast<std::size_t>(i)].to_vector<float>() ==
            std::vector<float>(7, 15.0f * static_cast<float>(i)));
  });
}

TEST_CASE("dispatch: the report of a cached plan names the lines of its own evaluate", "[dispatch][report]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = matrix(64);
  ta::evaluate(x);
  const auto first = [&] { return x / ta::sum(x); };
  const auto second = [&] { return x / ta::sum(x); };
  ta::evaluate(first());
  const ta::Report a = ta::evaluate(first()), b = ta::evaluate(second());
  REQUIRE(a.counters().plan_hit == 1);
  REQUIRE(b.counters().plan_hit == 1);
  REQUIRE_FALSE(a.unfused().empty());
  REQUIRE(b.unfused().size() == a.unfused().size());
  CHECK(a.unfused()[0].reason == b.unfused()[0].reason);
  CHECK_FALSE(a.unfused().back().producer == b.unfused().back().producer);
  CHECK_THAT(b.unfused().back().producer, Catch::Contains("dispatch_test.cpp:"));
}

TEST_CASE("dispatch: an unusual switch is seen by the next evaluate", "[dispatch]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = computed(10);
  const auto call = [&] { return ta::evaluate(x * 2.0f + 1.0f); };
  call();
  CHECK(call().counters().plan_hit == 1);
  {
    const Setting off("TARRY_DISABLE", "plan_cache");
    CHECK(call().counters().plan_hit == 0);
  }
  {
    const Setting unfused("TARRY_DISABLE", "fusion");
    CHECK(call().counters().launches == 2);
  }
  CHECK(call().counters().launches == 1);
}
