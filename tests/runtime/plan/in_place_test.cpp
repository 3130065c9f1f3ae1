// In place: what an evaluate allocates where the old value dies, and that nobody ever sees memory written over.
#include <numeric>
#include <thread>

#include "runtime/device/backend.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::none;
using ta::slice;

namespace {

std::vector<float> floats(std::size_t n) { return ta::test::ramp(n); }

/// Bytes that `body` takes from the pool of the device and still holds, and requests it makes.
struct Taken {
  std::int64_t live, requests;
};
Taken taken(ta::Device device, const std::function<void()>& body) {
  ta::runtime::Backend& b = ta::runtime::backend(device);
  b.synchronize();
  const auto before = b.memory();
  body();
  const auto after = b.memory();
  return {static_cast<std::int64_t>(after.live) - static_cast<std::int64_t>(before.live),
          after.requests - before.requests};
}

ta::Array on_device(std::size_t n, const ta::Shape& shape) {
  ta::Array a = ta::asarray(floats(n), shape) + 0.0f;
  ta::evaluate(a);
  return a;
}

void everywhere(const std::function<void(ta::Device)>& body) {
  ta::test::on_every_device(body);
  const ta::test::Setting interpreted("TARRY_DISABLE", "compile");
  INFO("interpreted");
  const ta::Scope placed(ta::cpu);
  body(ta::cpu);
}

constexpr std::size_t kCount = 5000;

}  // namespace

TEST_CASE("in place: a = a * 2 with a sole owner takes no memory", "[in_place]") {
  everywhere([](ta::Device device) {
    ta::Array a = on_device(kCount, kCount);
    a = a * 2.0f;
    ta::Report report;
    const Taken t = taken(device, [&] { report = ta::evaluate(a); });
    CHECK(t.requests == 0);
    CHECK(report.counters().peak_bytes == 0);
    std::vector<float> expected = floats(kCount);
    for (float& v : expected) v *= 2;
    CHECK(a.to_vector<float>() == expected);
  });
}

TEST_CASE("in place: another handle, an inner handle or a host view keeps the old value", "[in_place]") {
  everywhere([](ta::Device device) {
    const std::vector<float> old = floats(kCount);
    {
      ta::Array a = on_device(kCount, kCount);
      const ta::Array other = a;
      a = a * 2.0f;
      CHECK(taken(device, [&] { ta::evaluate(a); }).requests == 1);
      CHECK(other.to_vector<float>() == old);
    }
    {
      ta::Array a = on_device(kCount, kCount);
      const ta::Array inner = a + 1.0f;  // lazy, and still needs a
      a = inner * 2.0f;
      CHECK(taken(device, [&] { ta::evaluate(a); }).requests == 1);
      CHECK(inner.to_vector<float>()[10] == old[10] + 1);
    }
    {
      ta::Array a = on_device(kCount, kCount);
      const ta::Host<float> view = a.host<float>();
      a = a * 2.0f;
      ta::evaluate(a);
      CHECK(std::equal(view.begin(), view.end(), old.begin(), old.end()));
    }
    {
      ta::Array a = on_device(kCount, kCount);
      const ta::Array row = a(slice(0, 3));  // a view holds it, too
      a = a * 2.0f;
      ta::evaluate(a);
      CHECK(row.to_vector<float>() == std::vector<float>{0.5f, 1.0f, 1.5f});
    }
    {
      ta::Array a = on_device(kCount, kCount);
      const ta::Array same = ta::reshape(a, {2, -1});
      ta::evaluate(same);  // shares the buffer
      a = a * 2.0f;
      ta::evaluate(a);
      CHECK(same.to_vector<float>() == old);
    }
  });
}

TEST_CASE("in place: an inner value without a handle dies with its root", "[in_place]") {
  everywhere([](ta::Device device) {
    ta::Array a = on_device(kCount, kCount);
    a = (a + 1.0f) * (a - 1.0f) + a;
    CHECK(taken(device, [&] { ta::evaluate(a); }).requests == 0);
    const std::vector<float> old = floats(kCount);
    const std::vector<float> now = a.to_vector<float>();
    for (std::size_t i = 0; i < kCount; ++i) REQUIRE(now[i] == (old[i] + 1) * (old[i] - 1) + old[i]);
  });
}

TEST_CASE("in place: a kernel that reads elements of others does not write over them", "[in_place]") {
  everywhere([](ta::Device device) {
    const std::vector<float> old = floats(kCount);
    ta::Array a = on_device(kCount, kCount);
    a = ta::flip(a) + a;
    CHECK(taken(device, [&] { ta::evaluate(a); }).requests == 1);
    CHECK(a.to_vector<float>()[1] == old[1] + old[kCount - 2]);
    ta::Array m = on_device(64 * 64, {64, 64});
    m = m + ta::permute_dims(m, {1, 0});
    ta::evaluate(m);
    CHECK(m.to_vector<float>()[1] == 0.5f * 2 + 0.5f * 65);
    ta::Array s = on_device(64 * 64, {64, 64});
    s = s / ta::sum(s, 1)(slice(), ta::newaxis);
    const std::vector<float> rows = s.to_vector<float>();
    CHECK(rows[0] == Approx(0.5f / (0.5f * 32 * 65)));
  });
}

TEST_CASE("in place: two results of one leaf: one takes its memory, the other gets new", "[in_place]") {
  everywhere([](ta::Device device) {
    const std::vector<float> old = floats(kCount);
    ta::Array a = on_device(kCount, kCount);
    ta::Array b = a * 3.0f;
    a = a + 1.0f;
    CHECK(taken(device, [&] { ta::evaluate(a, b); }).requests == 1);
    CHECK(a.to_vector<float>()[7] == old[7] + 1);
    CHECK(b.to_vector<float>()[7] == old[7] * 3);
    ta::Array shaped = ta::reshape(a, {-1, 10});
    a = a + 1.0f;  // the old a lives on as a result of the same evaluate
    ta::evaluate(shaped, a);
    CHECK(shaped.to_vector<float>()[7] == old[7] + 1);
    CHECK(a.to_vector<float>()[7] == old[7] + 2);
  });
}

TEST_CASE("in place: borrowed memory is never written", "[in_place]") {
  const std::vector<float> mine = floats(kCount);
  {
    const ta::Scope placed(ta::cpu);
    ta::Array a = ta::borrow(mine.data(), kCount);
    a = a * 2.0f;
    ta::evaluate(a);
    a = a * 2.0f;
    ta::evaluate(a);
    CHECK(a.to_vector<float>()[3] == 4 * mine[3]);
  }
  CHECK(mine == floats(kCount));
}

TEST_CASE("in place: a large update of a dying value writes its box alone", "[in_place][update]") {
  everywhere([](ta::Device device) {
    constexpr std::int64_t n = 2048;  // 16 MiB: on a GPU too the time to write it is more than a launch
    ta::Array a = on_device(n * n, {n, n});
    a.set({slice(3, 5)}, -1.0f);
    ta::Report report;
    CHECK(taken(device, [&] { report = ta::evaluate(a); }).requests == 0);
    CHECK(report.counters().launches == 1);
    CHECK(report.counters().copies == 0);
    CHECK(report.counters().bytes_written == 2 * n * 4);
    a.set({slice(), slice(none, none, 7)}, 0.0f);
    CHECK(taken(device, [&] { report = ta::evaluate(a); }).requests == 0);
    CHECK(report.counters().copies == 0);
    const ta::Array old = a;
    a.set({slice(none, none, 2)}, 9.0f);  // the old value stays: it is copied first
    CHECK(taken(device, [&] { report = ta::evaluate(a); }).requests == 1);
    CHECK(report.counters().copies == 1);
    CHECK_THAT(report.str(), Catch::Contains("1 copies"));
    const std::vector<float> before = old.to_vector<float>(), after = a.to_vector<float>();
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const std::size_t at = i * n + 5;
      REQUIRE(before[at] == (i == 3 || i == 4 ? -1 : 0.5f * static_cast<float>(at + 1)));
      REQUIRE(after[at] == (i % 2 == 0 ? 9 : before[at]));
      REQUIRE(before[i * n + 7] == 0);
    }
  });
}

TEST_CASE("in place: an update that reads beside what it writes goes through new memory", "[in_place][update]") {
  everywhere([](ta::Device device) {
    constexpr std::int64_t n = 300;
    ta::Array x = on_device(n * n, {n, n});
    std::vector<float> expected = floats(n * n);
    for (int step = 0; step < 4; ++step) {
      x.set({slice(1, -1), slice(1, -1)}, (x(slice(0, -2), slice(1, -1)) + x(slice(2, none), slice(1, -1)) +
                                           x(slice(1, -1), slice(0, -2)) + x(slice(1, -1), slice(2, none))) *
                                              0.25f);
      ta::Report report;
      const Taken t = taken(device, [&] { report = ta::evaluate(x); });
      CHECK(report.counters().launches == 1);
      CHECK(report.counters().copies == 0);
      CHECK(t.requests == 1);
      CHECK(t.live <= 0);  // the old buffer went back
      std::vector<float> next = expected;
      for (std::size_t i = 1; i + 1 < static_cast<std::size_t>(n); ++i)
        for (std::size_t j = 1; j + 1 < static_cast<std::size_t>(n); ++j) {
          const auto at = [&](std::size_t a, std::size_t b) { return expected[a * static_cast<std::size_t>(n) + b]; };
          next[i * static_cast<std::size_t>(n) + j] =
              (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)) * 0.25f;
        }
      expected = next;
    }
    CHECK(x.to_vector<float>() == expected);
  });
}

TEST_CASE("in place: chains of temporaries share one buffer", "[in_place]") {
  const ta::test::Setting disabled("TARRY_DISABLE", "fusion");
  const ta::Scope placed(ta::cpu);
  ta::Array a = on_device(kCount, kCount);
  const ta::Array keep = a;
  a = ta::sqrt(ta::abs(-(a * 2.0f) + 1.0f));
  const ta::Report report = ta::evaluate(a);
  CHECK(report.counters().launches == 5);
  CHECK(report.counters().bytes_temporary == 0);
  CHECK(report.counters().peak_bytes == static_cast<std::int64_t>(4 * kCount));
  CHECK(a.to_vector<float>()[4] == std::sqrt(std::abs(-(keep.to_vector<float>()[4] * 2) + 1)));
}

TEST_CASE("in place: TARRY_DISABLE=reuse gives every value memory of its own, with the same bits", "[in_place]") {
  const ta::Scope placed(ta::cpu);
  ta::Array a = on_device(kCount, kCount);
  const ta::test::Setting disabled("TARRY_DISABLE", "reuse");
  a = a * 2.0f;
  CHECK(taken(ta::cpu, [&] { ta::evaluate(a); }).requests == 1);
  a.set({slice(none, none, 2)}, 1.0f);
  const ta::Report report = ta::evaluate(a);
  CHECK(report.counters().copies == 1);
  CHECK(a.to_vector<float>()[2] == 1);
  CHECK(a.to_vector<float>()[1] == 2);
}

TEST_CASE("in place: a failure before the first kernel loses nothing", "[in_place][failure]") {
  const ta::Scope placed(ta::cpu);
  ta::Array a = on_device(kCount, kCount);
  const std::vector<float> other = floats(kCount);
  a = a * 2.0f - ta::abs(a - 0.125f) * 3.0f;  // nowhere else
  {
    const ta::test::Setting cached("TARRY_REQUIRE_CACHED", "1");
    const ta::test::Setting nowhere("TARRY_CACHE_DIR", "/nonexistent");
    CHECK_THROWS_AS(ta::evaluate(a), ta::NotCached);
  }
  CHECK_FALSE(a.is_evaluated());
  CHECK(a.to_vector<float>()[9] == other[9] * 2 - std::abs(other[9] - 0.125f) * 3);
}

TEST_CASE("in place: threads that share old values never see them change", "[in_place][threads]") {
  const ta::Scope placed(ta::cpu);
  for (int round = 0; round < 20; ++round) {
    const ta::Array shared = on_device(kCount, kCount);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&wrong, mine = shared, t]() mutable {
        const ta::Scope here(ta::cpu);
        for (int i = 0; i < 3; ++i) {
          mine = mine + static_cast<float>(t);
          ta::evaluate(mine);
        }
        const std::vector<float> values = mine.to_vector<float>();
        for (std::size_t k = 0; k < values.size(); ++k)
          wrong += values[k] != 0.5f * static_cast<float>(k + 1) + static_cast<float>(3 * t);
      });
    }
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
    CHECK(shared.to_vector<float>() == floats(kCount));
  }
}
