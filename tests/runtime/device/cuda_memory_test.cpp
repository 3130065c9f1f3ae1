// Tests of the CUDA backend's memory: uploads, the pool, what is freed and when.
#include "tests/runtime/device/cuda_bench.h"

using namespace tarry;
using namespace tarry::test;

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
  const runtime::PoolStats warm = bench.backend->memory();
  const int events = bench.fake ? bench.fake->events : 0;
  for (int i = 0; i < 100; ++i) round();
  const runtime::PoolStats after = bench.backend->memory();
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
