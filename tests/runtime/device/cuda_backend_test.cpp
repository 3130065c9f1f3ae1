// Tests of the CUDA backend: kernels, tickets, failures, threads. tests/runtime/device/cuda_memory_test.cpp has its
// memory.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/device/cuda_bench.h"

using namespace tarry;
using namespace tarry::test;

TEST_CASE("cuda: a kernel gets its packed parameters and its result is read after it ran", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  const Values values = sequence(100003);
  const auto x = bench.upload(values);
  const auto y = bench.backend->allocate(values.size() * sizeof(float));
  bench.scale(*y, *x, values.size(), 0.5f);
  CHECK_VALUES(bench.download(*y, values.size()), times(values, 0.5f));
}

TEST_CASE("cuda: an empty launch does nothing", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  const auto x = bench.upload({1.0f});
  bench.scale(*x, *x, 0, 5.0f);
  CHECK_VALUES(bench.download(*x, 1), Values{1.0f});
}

TEST_CASE("cuda: tickets are zero, grow, and stay where they are", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  const auto count_up = bench.load("count");
  void* const first = bench.backend->tickets(100);
  CHECK(bench.backend->tickets(50) == first);
  const std::size_t many = 200000;
  void* const second = bench.backend->tickets(many);
  CHECK(second != first);
  for (void* const tickets : {first, second}) {
    bench.launch("count", *count_up, {reinterpret_cast<std::uint64_t>(tickets), 100}, 100);
    const graph::Buffer view(bench.backend->device(), graph::Owner::Borrowed, tickets, 101 * sizeof(unsigned));
    std::vector<unsigned> seen(101);
    bench.backend->download(seen.data(), view, 0, 101 * sizeof(unsigned));
    CHECK(seen.front() == 1);
    CHECK(seen[99] == 1);
    CHECK(seen[100] == 0);
  }
}

TEST_CASE("cuda: record without new work is the same ticket, and completed tickets do not block", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  CHECK(bench.backend->record() == 0);
  CHECK(bench.backend->wait(0, std::chrono::nanoseconds(0)));
  const auto x = bench.upload(sequence(10));
  const std::uint64_t first = bench.backend->record();
  CHECK(first > 0);
  CHECK(bench.backend->record() == first);
  bench.scale(*x, *x, 10, 2.0f);
  const std::uint64_t second = bench.backend->record();
  CHECK(second == first + 1);
  CHECK(bench.backend->wait(second, kForever));
  CHECK(bench.backend->wait(first, std::chrono::nanoseconds(0)));
  CHECK(bench.backend->wait(second, std::chrono::nanoseconds(0)));
}

TEST_CASE("cuda: a wait ends at its deadline", "[runtime][cuda]") {
  Bench bench(On::Fake);
  const auto x = bench.upload(sequence(10));
  bench.scale(*x, *x, 10, 2.0f);
  bench.fake->paused = true;
  CHECK(!bench.backend->wait(bench.backend->record(), std::chrono::milliseconds(5)));
  bench.fake->paused = false;
  CHECK(bench.backend->wait(bench.backend->record(), std::chrono::seconds(10)));
}

TEST_CASE("cuda: kernels of one image load it once and unload it last", "[runtime][cuda]") {
  Bench bench(On::Fake);
  auto a = bench.load("scale");
  auto b = bench.load("count");
  CHECK(bench.fake->counts["module_load_data"] == 1);
  a.reset();
  CHECK(bench.fake->modules == 1);
  b.reset();
  CHECK(bench.fake->modules == 0);
  a = bench.load("scale");
  CHECK(bench.fake->counts["module_load_data"] == 2);
}

TEST_CASE("cuda: an entry that the image lacks is an error", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  CHECK_THROWS_AS(bench.load("absent"), DeviceError);
  CHECK(bench.load("scale") != nullptr);
}

TEST_CASE("cuda: an image that is none is an error that names its compiler", "[runtime][cuda]") {
  TARRY_REQUIRE_CUDA();
  Bench bench(On::Gpu);
  bench.image = std::make_shared<const std::string>("this is no image");
  CHECK_THROWS_WITH(bench.load("scale"), Catch::Contains("cuModuleLoadDataEx") && Catch::Contains("test"));
}

TEST_CASE("cuda: nothing is left when the last buffer goes, before or after the backend", "[runtime][cuda]") {
  FakeDriver driver;
  add_host_kernels(driver);
  {
    std::shared_ptr<graph::Buffer> survivor;
    {
      const auto backend = runtime::make_cuda_backend(driver.api, 0);
      survivor = backend->allocate(1000);
      const Values values = sequence(100);
      backend->upload(*survivor, values.data(), 400);
      (void)backend->tickets(1);
      (void)backend->record();
    }
    CHECK(driver.retained == 1);
  }
  CHECK(driver.nothing_left());
  CHECK(test::fake_contexts().empty());
}

TEST_CASE("cuda: the caller's current context is left as found", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  runtime::cuda::Context before = nullptr;
  runtime::cuda::Context after = nullptr;
  if (bench.fake) test::fake_contexts().push_back(reinterpret_cast<runtime::cuda::Context>(&bench));
  (void)bench.api->ctx_get_current(&before);
  {
    const auto x = bench.upload(sequence(10));
    bench.scale(*x, *x, 10, 2.0f);
    (void)bench.backend->tickets(1);
    CHECK(bench.backend->wait(bench.backend->record(), kForever));
    (void)bench.download(*x, 10);
    bench.backend->synchronize();
    bench.backend->trim();
    CHECK_THROWS_AS(bench.load("absent"), DeviceError);
  }
  (void)bench.api->ctx_get_current(&after);
  CHECK(before == after);
}

TEST_CASE("cuda: any driver call may fail while a backend is made; the next try succeeds", "[runtime][cuda][fault]") {
  FakeDriver driver;
  support::fault::arm(Site::Driver, 1000);
  runtime::make_cuda_backend(driver.api, 0).reset();
  const std::uint64_t calls = support::fault::disarm();
  REQUIRE(calls > 10);
  for (std::uint64_t k = 1; k <= calls; ++k) {
    support::fault::arm(Site::Driver, k);
    try {
      runtime::make_cuda_backend(driver.api, 0).reset();
    } catch (const DeviceError&) {
    }
    support::fault::disarm();
    CHECK(test::fake_contexts().empty());
    CHECK(runtime::make_cuda_backend(driver.api, 0) != nullptr);
  }
}

TEST_CASE("cuda: any driver call may fail; the backend stays usable and the context as found",
          "[runtime][cuda][fault]") {
  const On on = GENERATE(On::Fake, On::Gpu);
  std::unique_ptr<Backend> keeps_context;  // making a primary context anew for every k would take minutes
  if (on == On::Gpu) {
    TARRY_REQUIRE_CUDA();
    TARRY_REQUIRE_NVRTC();
    keeps_context = runtime::make_cuda_backend(0);
  }
  const Values values = sequence(6500000);  // more than three staging slots hold: the ring turns
  const auto scenario = [&](Bench& bench) {
    const auto x = bench.upload(values);
    const auto y = bench.backend->allocate(values.size() * sizeof(float));
    bench.scale(*y, *x, values.size(), 2.0f);
    (void)bench.backend->tickets(10);
    y->last_write = bench.backend->record();
    bench.backend->wait(y->last_write, kForever);
    return bench.download(*y, values.size());
  };
  const Values expected = times(values, 2.0f);
  std::uint64_t calls = 0;
  {
    Bench bench(on);
    support::fault::arm(Site::Driver, 1000000);
    CHECK_VALUES(scenario(bench), expected);
    calls = support::fault::disarm();
  }
  REQUIRE(calls > 40);
  std::uint64_t failed = 0;
  for (std::uint64_t k = 1; k <= calls; ++k) {
    Bench bench(on);
    support::fault::arm(Site::Driver, k);
    try {
      (void)scenario(bench);
    } catch (const Error&) {
      ++failed;
    }
    support::fault::disarm();
    runtime::cuda::Context current = nullptr;
    (void)bench.api->ctx_get_current(&current);
    if (current != nullptr) FAIL("call " << k << " left a context behind");
    if (scenario(bench) != expected) FAIL("wrong values after call " << k << " failed");
  }
  CHECK(failed > calls / 2);
}

TEST_CASE("cuda: after a sticky error every call throws DeviceLost without asking the driver", "[runtime][cuda]") {
  Bench bench(On::Fake);
  auto x = bench.upload(sequence(10));
  bench.scale(*x, *x, 10, 2.0f);
  bench.fake->broken = FakeDriver::Result::IllegalAddress;
  CHECK_THROWS_AS(bench.backend->synchronize(), DeviceError);
  CHECK_THROWS_WITH(bench.backend->record(), Catch::Contains("lost") && Catch::Contains("700"));
  const int calls = bench.fake->total_calls();
  Values values(10);
  CHECK_THROWS_AS(bench.backend->record(), DeviceLost);
  CHECK_THROWS_AS(bench.backend->wait(1, kForever), DeviceLost);
  CHECK_THROWS_AS(bench.backend->allocate(1), DeviceLost);
  CHECK_THROWS_AS(bench.backend->upload(*x, values.data(), 40), DeviceLost);
  CHECK_THROWS_AS(bench.backend->download(values.data(), *x, 0, 40), DeviceLost);
  CHECK_THROWS_AS(bench.scale(*x, *x, 10, 1.0f), DeviceLost);
  CHECK_THROWS_AS(bench.backend->tickets(1), DeviceLost);
  CHECK_THROWS_AS(bench.backend->synchronize(), DeviceLost);
  CHECK_THROWS_AS(bench.backend->trim(), DeviceLost);
  CHECK_THROWS_AS(bench.load("count"), DeviceLost);
  x.reset();
  CHECK(bench.fake->total_calls() == calls);
}

TEST_CASE("cuda: TARRY_SYNC names the kernel that failed", "[runtime][cuda]") {
  Bench bench(On::Fake);
  const auto x = bench.upload(sequence(10));
  bench.scale(*x, *x, 10, 2.0f);
  bench.backend->synchronize();
  bench.fake->kernels["scale"] = [&](const std::uint64_t*, unsigned, unsigned) {};
  CHECK_FALSE(bench.backend->launch_waits());  // so its time cannot be taken
  const Override sync("TARRY_SYNC", "1");
  CHECK(bench.backend->launch_waits());
  const int before = bench.fake->counts["stream_synchronize"];
  bench.scale(*x, *x, 10, 2.0f);
  CHECK(bench.fake->counts["stream_synchronize"] == before + 1);
  bench.fake->api.stream_synchronize = [](runtime::cuda::Stream) { return FakeDriver::Result::LaunchFailed; };
  CHECK_THROWS_WITH(bench.scale(*x, *x, 10, 2.0f), Catch::Contains("kernel scale"));
}

TEST_CASE("cuda: a forked child gets a typed error at once, and frees in silence", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  auto x = bench.upload(sequence(10));
  const pid_t child = fork();
  if (child == 0) {
    const auto refused = [](const std::function<void()>& use) {
      try {
        use();
        return 1;
      } catch (const DeviceError& error) {
        return std::string(error.what()).find("fork") == std::string::npos ? 2 : 0;
      } catch (...) {
        return 3;
      }
    };
    const int codes = refused([&] { bench.backend->synchronize(); }) + refused([&] { bench.backend->compile({}); });
    x.reset();
    bench.scale_kernel.reset();
    bench.backend.reset();
    _exit(codes);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_VALUES(bench.download(*x, 10), sequence(10));
}

TEST_CASE("cuda: threads share a backend", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  bench.scale_kernel = bench.load("scale");
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 30; ++i) {
        const Values values = sequence(1000 + 10 * t + i);
        const auto x = bench.upload(values);
        const auto y = bench.backend->allocate(values.size() * sizeof(float));
        bench.scale(*y, *x, values.size(), static_cast<float>(t));
        y->last_write = bench.backend->record();
        if (bench.download(*y, values.size()) != times(values, static_cast<float>(t))) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}
