// Tests of the CUDA backend. Each runs on a driver made of host memory, and once more on the GPU where there is one.
#include "runtime/cuda_backend.h"

#include <sys/wait.h>
#include <tarry/error.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/cuda_pool.h"
#include "runtime/nvrtc.h"
#include "support/env.h"
#include "support/fault.h"
#include "tests/fake_driver.h"
#include "tests/test.h"

using namespace tarry;
using runtime::Backend;
using support::fault::Site;
using test::FakeDriver;
using Values = std::vector<float>;

namespace {

// to[i] = from[i] * factor, and counters[i] += 1. Every parameter is a slot of 8 bytes.
constexpr const char* kKernels = R"(
struct Scale { float* to; const float* from; long long count; float factor, unused; };
extern "C" __global__ void __launch_bounds__(256) scale(const __grid_constant__ Scale p) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < p.count) p.to[i] = p.from[i] * p.factor;
}
struct Count { unsigned* counters; long long count; };
extern "C" __global__ void __launch_bounds__(256) count(const __grid_constant__ Count p) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < p.count) p.counters[i] += 1;
}
)";

void add_host_kernels(FakeDriver& driver) {
  driver.kernels["scale"] = [](const std::uint64_t* words, unsigned, unsigned) {
    auto* to = reinterpret_cast<float*>(words[0]);
    const auto* from = reinterpret_cast<const float*>(words[1]);
    float factor = 0;
    std::memcpy(&factor, &words[3], sizeof factor);
    for (std::uint64_t i = 0; i < words[2]; ++i) to[i] = from[i] * factor;
  };
  driver.kernels["count"] = [](const std::uint64_t* words, unsigned, unsigned) {
    for (std::uint64_t i = 0; i < words[1]; ++i) ++reinterpret_cast<unsigned*>(words[0])[i];
  };
}

enum class On { Fake, Gpu };

/// A backend, on a driver of its own or on the GPU, and the two kernels.
struct Bench {
  explicit Bench(On on) {
    if (on == On::Fake) {
      add_host_kernels(fake.emplace());
      api = &fake->api;
      image = std::make_shared<const std::string>("not looked at");
    } else {
      api = runtime::cuda::driver().api;
    }
    backend = runtime::make_cuda_backend(*api, 0);
    if (on == On::Gpu) {
      image = std::make_shared<const std::string>(
          runtime::nvrtc_compile(kKernels, backend->target(), graph::Mode::Strict).bytes);
    }
  }

  std::shared_ptr<cache::Executable> load(const char* entry) {
    cache::KernelRequest request;
    request.entry = entry;
    return backend->load(request, {image, "test", ""});
  }

  std::shared_ptr<graph::Buffer> upload(const Values& values) {
    auto buffer = backend->allocate(values.size() * sizeof(float));
    backend->upload(*buffer, values.data(), values.size() * sizeof(float));
    return buffer;
  }

  Values download(const graph::Buffer& buffer, std::size_t count) {
    Values values(count, -1.0f);
    backend->download(values.data(), buffer, 0, count * sizeof(float));
    return values;
  }

  void launch(const char* entry, const cache::Executable& kernel, std::vector<std::uint64_t> words, std::size_t count) {
    codegen::KernelSource source;
    source.entry = entry;
    codegen::Geometry geometry;
    geometry.outer_tiles = static_cast<std::int64_t>((count + 255) / 256);
    backend->launch({&kernel, &source, words, geometry});
  }

  void scale(graph::Buffer& to, const graph::Buffer& from, std::size_t count, float factor) {
    if (!scale_kernel) scale_kernel = load("scale");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &factor, sizeof factor);
    launch("scale", *scale_kernel,
           {reinterpret_cast<std::uint64_t>(to.data), reinterpret_cast<std::uint64_t>(from.data), count, bits}, count);
  }

  std::optional<FakeDriver> fake;
  const runtime::cuda::DriverApi* api = nullptr;
  std::shared_ptr<const std::string> image;
  std::unique_ptr<Backend> backend;
  std::shared_ptr<cache::Executable> scale_kernel;
};

Values sequence(std::size_t count) {
  Values values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// Where two results differ, in words; comparing them inside CHECK would print millions of numbers.
std::string difference(const Values& got, const Values& expected) {
  if (got.size() != expected.size()) return "sizes differ";
  const auto [at, other] = std::mismatch(got.begin(), got.end(), expected.begin());
  if (at == got.end()) return {};
  return "element " + std::to_string(at - got.begin()) + " is " + std::to_string(*at) + ", not " +
         std::to_string(*other);
}
#define CHECK_VALUES(GOT, ...) CHECK(difference((GOT), (__VA_ARGS__)) == "")

Values times(Values values, float factor) {
  for (float& v : values) v *= factor;
  return values;
}

struct Override {
  const char* name;
  Override(const char* switch_name, const std::string& value) : name(switch_name) { support::env::set(name, value); }
  ~Override() { support::env::set(name, std::nullopt); }
  Override(const Override&) = delete;
  Override& operator=(const Override&) = delete;
};

constexpr auto kForever = std::chrono::nanoseconds::max();

}  // namespace

#define TARRY_ON_EACH_DRIVER(bench)                  \
  const On bench##_on = GENERATE(On::Fake, On::Gpu); \
  if (bench##_on == On::Gpu) {                       \
    TARRY_REQUIRE_CUDA();                            \
    TARRY_REQUIRE_NVRTC();                           \
  }                                                  \
  Bench bench(bench##_on)

TEST_CASE("cuda: what was uploaded comes back, at every size", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  for (const std::size_t count : {1UL, 63UL, 1024UL, 2097152UL, 2097153UL, 7000001UL}) {
    INFO(count);
    const Values values = sequence(count);
    const auto buffer = bench.upload(values);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer->data) % 256 == 0);
    CHECK_VALUES(bench.download(*buffer, count), values);
  }
  const auto buffer = bench.upload(sequence(100));
  Values part(10);
  bench.backend->download(part.data(), *buffer, 50 * sizeof(float), 10 * sizeof(float));
  CHECK(part.front() == 51.0f);
  CHECK(part.back() == 60.0f);
}

TEST_CASE("cuda: large uploads, which threads fill side by side, come back whole", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  if (bench.fake) bench.fake->eager_uploads = GENERATE(false, true);
  Values values(40'000'001);  // 39 slots, more than there are
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 16'777'213);
  const Override threads("TARRY_NUM_THREADS", GENERATE("1", "7"));
  for (int again = 0; again < 2; ++again) {
    const auto buffer = bench.upload(values);
    values.front() += 1;
    std::rotate(values.begin(), values.begin() + 1, values.end());  // the host may change its array
    const Values got = bench.download(*buffer, values.size());
    std::rotate(values.rbegin(), values.rbegin() + 1, values.rend());
    values.front() -= 1;
    CHECK_VALUES(got, values);
  }
}

TEST_CASE("cuda: a large upload that fails says why and leaves nothing in flight", "[runtime][cuda][fault]") {
  Bench bench(On::Fake);
  const Override threads("TARRY_NUM_THREADS", "7");
  constexpr std::size_t kBytes = std::size_t{160} << 20;
  const auto ones = [](void* to, std::size_t, std::size_t bytes) { std::memset(to, 1, bytes); };
  const auto buffer = bench.backend->allocate(kBytes);
  const auto first_bytes = [&] {
    std::array<unsigned char, 2> found{};
    bench.backend->download(&found[0], *buffer, 0, 1);
    bench.backend->download(&found[1], *buffer, kBytes - 1, 1);
    return found;
  };
  CHECK_THROWS_AS(bench.backend->upload(
                      *buffer,
                      [&](void* to, std::size_t at, std::size_t bytes) {
                        if (at > kBytes / 2) throw std::runtime_error("cannot be read");
                        std::memset(to, 2, bytes);
                      },
                      kBytes),
                  std::runtime_error);
  bench.backend->upload(*buffer, ones, kBytes);
  CHECK(first_bytes() == std::array<unsigned char, 2>{1, 1});
  support::fault::arm(Site::Driver, 1000000);
  bench.backend->upload(*buffer, ones, kBytes);
  const std::uint64_t calls = support::fault::disarm();
  REQUIRE(calls >= 80);
  int failed = 0, tried = 0;
  for (std::uint64_t k = 1; k <= calls; k += 7, ++tried) {
    support::fault::arm(Site::Driver, k);
    try {
      bench.backend->upload(*buffer, ones, kBytes);
    } catch (const Error&) {
      ++failed;
    }
    support::fault::disarm();
  }
  CHECK(failed > tried / 2);
  bench.backend->upload(*buffer, ones, kBytes);
  CHECK(first_bytes() == std::array<unsigned char, 2>{1, 1});
}

TEST_CASE("cuda: many small uploads keep their own values", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  std::vector<std::shared_ptr<graph::Buffer>> buffers;
  for (int i = 0; i < 2000; ++i) buffers.push_back(bench.upload(Values(3000, static_cast<float>(i))));
  for (int i = 0; i < 2000; ++i) {
    if (bench.download(*buffers[static_cast<std::size_t>(i)], 3000) != Values(3000, static_cast<float>(i))) FAIL(i);
  }
}

TEST_CASE("cuda: the host may change its array as soon as upload returns", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  Values values = sequence(3000000);
  const Values original = values;
  const auto buffer = bench.upload(values);
  std::fill(values.begin(), values.end(), 0.0f);
  CHECK_VALUES(bench.download(*buffer, values.size()), original);
}

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

TEST_CASE("cuda: a freed block is reused at once without disturbing work in flight", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  if (bench.fake) bench.fake->eager_uploads = GENERATE(false, true);
  constexpr std::size_t kCount = 1000000;
  const Values old_values = sequence(kCount);
  const auto y = bench.backend->allocate(kCount * sizeof(float));
  auto x = bench.upload(old_values);
  const void* const place = x->data;
  for (int i = 0; i < 20; ++i) bench.scale(*y, *x, kCount, 2.0f);
  x.reset();
  const Values new_values(kCount, -7.0f);
  x = bench.upload(new_values);
  CHECK(x->data == place);
  CHECK_VALUES(bench.download(*y, kCount), times(old_values, 2.0f));
  CHECK_VALUES(bench.download(*x, kCount), new_values);
}

TEST_CASE("cuda: uploading into a buffer waits for the kernels that read it", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  if (bench.fake) bench.fake->eager_uploads = GENERATE(false, true);
  constexpr std::size_t kCount = 1000000;
  const auto x = bench.upload(sequence(kCount));
  const auto y = bench.backend->allocate(kCount * sizeof(float));
  const auto z = bench.backend->allocate(kCount * sizeof(float));
  bench.scale(*y, *x, kCount, 3.0f);
  const Values new_values(kCount, 4.0f);
  bench.backend->upload(*x, new_values.data(), kCount * sizeof(float));
  bench.scale(*z, *x, kCount, 1.0f);
  CHECK_VALUES(bench.download(*z, kCount), new_values);
  CHECK_VALUES(bench.download(*y, kCount), times(sequence(kCount), 3.0f));
}

TEST_CASE("cuda: a loop allocates nothing from the driver once it is warm", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  const auto round = [&] {
    const auto x = bench.upload(sequence(5000));
    const auto y = bench.backend->allocate(5000 * sizeof(float));
    const auto scratch = bench.backend->allocate(12345);
    bench.scale(*y, *x, 5000, 2.0f);
    bench.backend->wait(bench.backend->record(), kForever);
  };
  round();
  const runtime::MemoryStats warm = bench.backend->memory();
  const int events = bench.fake ? bench.fake->events : 0;
  for (int i = 0; i < 100; ++i) round();
  const runtime::MemoryStats after = bench.backend->memory();
  CHECK(after.allocations == warm.allocations);
  CHECK(after.requests == warm.requests + 300);
  CHECK(after.live == 0);
  CHECK(after.peak == warm.peak);
  CHECK((bench.fake ? bench.fake->events : 0) <= events + 1);
}

TEST_CASE("cuda: trim returns what is cached, and only that", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  const auto held = bench.upload(sequence(1000));
  (void)bench.backend->allocate(1 << 20);
  CHECK(bench.backend->memory().cached >= (1 << 20));
  bench.backend->trim();
  CHECK(bench.backend->memory().cached == 0);
  CHECK(bench.backend->memory().live >= 4000);
  CHECK_VALUES(bench.download(*held, 1000), sequence(1000));
}

TEST_CASE("cuda: trim frees no block that queued work still uses", "[runtime][cuda]") {
  Bench bench(On::Fake);
  const auto y = bench.backend->allocate(4000);
  auto x = bench.upload(sequence(1000));
  bench.scale(*y, *x, 1000, 2.0f);
  x.reset();
  bench.backend->trim();
  CHECK(bench.fake->counts["mem_free"] == 1);
  CHECK(bench.fake->frees_in_flight == 0);
  CHECK_VALUES(bench.download(*y, 1000), times(sequence(1000), 2.0f));
}

TEST_CASE("cuda: without the pool each buffer is an allocation of its own and ends with it", "[runtime][cuda]") {
  const Override no_pool("TARRY_DISABLE", "pool");
  Bench bench(On::Fake);
  const auto y = bench.backend->allocate(4000);
  auto x = bench.upload(sequence(1000));
  CHECK(bench.fake->bytes == 8000);
  bench.scale(*y, *x, 1000, 2.0f);
  x.reset();
  CHECK(bench.fake->counts["mem_free"] == 1);
  CHECK(bench.fake->frees_in_flight == 0);
  CHECK(bench.backend->memory().cached == 0);
  CHECK(bench.backend->memory().live == 4000);
  CHECK_VALUES(bench.download(*y, 1000), times(sequence(1000), 2.0f));
}

TEST_CASE("cuda: the cache is given up before an allocation fails", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  const Override limit("TARRY_MEMORY_LIMIT", "10m");
  (void)bench.backend->allocate(6 << 20);
  CHECK(bench.backend->memory().cached >= (6 << 20));
  const auto larger = bench.backend->allocate(9 << 20);
  CHECK(larger->bytes >= (9 << 20));
  CHECK_THROWS_AS(bench.backend->allocate(2 << 20), OutOfMemory);
  CHECK_THROWS_WITH(bench.backend->allocate(2 << 20), Catch::Contains("live") && Catch::Contains("cached") &&
                                                          Catch::Contains("requested") && Catch::Contains("2.00 MiB") &&
                                                          Catch::Contains("TARRY_MEMORY_LIMIT"));
  CHECK(bench.backend->allocate(1 << 19) != nullptr);
}

TEST_CASE("cuda: a device that is full throws OutOfMemory and stays usable", "[runtime][cuda]") {
  TARRY_ON_EACH_DRIVER(bench);
  CHECK_THROWS_AS(bench.backend->allocate(std::size_t{1} << 50), OutOfMemory);
  const auto x = bench.upload({1.0f, 2.0f});
  CHECK_VALUES(bench.download(*x, 2), Values{1.0f, 2.0f});
}

TEST_CASE("cuda: a refused allocation is tried again after a trim", "[runtime][cuda][fault]") {
  TARRY_ON_EACH_DRIVER(bench);
  support::fault::arm(Site::Allocation, 1);
  CHECK(bench.backend->allocate(1000) != nullptr);
  CHECK(support::fault::disarm() == 2);
}

TEST_CASE("cuda: block sizes waste little and are few", "[runtime][cuda_pool]") {
  std::size_t sizes = 0;
  std::size_t last = 0;
  for (std::size_t bytes = 1; bytes < (1UL << 30); bytes += bytes / 100 + 1) {
    const std::size_t block = runtime::CudaPool::block_size(bytes);
    if (block < bytes || block % 256 != 0 || block > bytes + bytes / 8 + 256) FAIL(bytes << " -> " << block);
    if (runtime::CudaPool::block_size(block) != block) FAIL(block << " is not stable");
    if (block != last) ++sizes;
    last = block;
  }
  CHECK(sizes < 180);
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
    int code = 1;
    try {
      bench.backend->synchronize();
    } catch (const DeviceError& error) {
      code = std::string(error.what()).find("fork") == std::string::npos ? 2 : 0;
    } catch (...) {
      code = 3;
    }
    x.reset();
    bench.scale_kernel.reset();
    bench.backend.reset();
    _exit(code);
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
