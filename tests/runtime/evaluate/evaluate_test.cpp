// evaluate: values, counters, plans that are reused, sharing between threads; on every device.
#include <cmath>
#include <thread>

#include "runtime/evaluate/engine.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::test::on_every_device;
using ta::test::ramp;

TEST_CASE("evaluate: sum(x * y) is one launch without a temporary", "[runtime]") {
  on_every_device([](ta::Device) {
    const ta::Array x = ta::asarray(ramp(1 << 20)), y = ta::asarray(ramp(1 << 20)), s = ta::sum(x * y);
    const ta::Report r = ta::evaluate(s);
    CHECK(r.counters().launches == 1);
    CHECK(r.counters().kernels == 1);
    CHECK(r.counters().bytes_read == 2 * (1 << 20) * 4);
    CHECK(r.counters().bytes_written == 4);
    CHECK(r.counters().bytes_temporary == 0);
    double expected = 0;
    for (float v : ramp(1 << 20)) expected += static_cast<double>(v) * v;
    CHECK(std::abs(s.item<float>() / expected - 1) < 1e-5);
  });
}

TEST_CASE("evaluate: variance, deviation and mean of one array are one launch", "[runtime]") {
  on_every_device([](ta::Device) {
    const std::size_t n = 100'003;
    const ta::Array x = ta::asarray(ramp(n));
    const ta::Array m = ta::mean(x), v = ta::var(x), s = ta::std(x);
    const ta::Report r = ta::evaluate(m, v, s);
    CHECK(r.counters().launches == 1);
    CHECK(r.counters().bytes_read == static_cast<std::int64_t>(n * 4));
    CHECK(r.counters().bytes_written == 12);
    CHECK(r.counters().bytes_temporary == 0);
    const double count = static_cast<double>(n), variance = 0.25 * (count * count - 1) / 12;
    CHECK(std::abs(m.item<float>() / (0.5 * (count + 1) / 2) - 1) < 1e-6);
    CHECK(std::abs(v.item<float>() / variance - 1) < 1e-5);
    CHECK(std::abs(s.item<float>() / std::sqrt(variance) - 1) < 1e-5);
  });
}

TEST_CASE("evaluate: three outputs of two inputs are one launch", "[runtime]") {
  on_every_device([](ta::Device) {
    const ta::Array x = ta::asarray(ramp(12'345)), y = ta::asarray(ramp(12'345));
    const ta::Array a = x + y, b = x - y, c = x * y;
    const ta::Report r = ta::evaluate(a, b, c);
    CHECK(r.counters().launches == 1);
    CHECK(r.counters().bytes_read + r.counters().bytes_written == 5 * 12'345 * 4);
    CHECK(r.counters().bytes_temporary == 0);
    CHECK(a.to_vector<float>()[7] == 8.0f);
    CHECK(b.to_vector<float>()[7] == 0.0f);
    CHECK(c.to_vector<float>()[7] == 16.0f);
  });
}

TEST_CASE("evaluate: the same formula on new values reuses plan and kernels", "[runtime]") {
  on_every_device([](ta::Device) {
    const auto formula = [](const ta::Array& x, float s) { return ta::sqrt(x * s + 0.123f); };
    const ta::Array first = formula(ta::asarray(ramp(1000)), 2.5f), second = formula(ta::asarray(ramp(1000)), 7.5f);
    ta::evaluate(first);
    const ta::Report again = ta::evaluate(second);
    CHECK(again.counters().plan_hit == 1);
    CHECK(again.counters().compiles == 0);
    CHECK(second.to_vector<float>()[1] == std::sqrt(1.0f * 7.5f + 0.123f));
  });
}

TEST_CASE("evaluate: 10,000 scalars and 100 shapes of one formula compile a handful of kernels", "[runtime]") {
  on_every_device([](ta::Device) {
    const auto kernels = [](const ta::CacheCounters& s) { return s.compiles + s.disk_hits; };
    const auto before = kernels(ta::cache_counters());
    double checked = 0;
    for (int i = 0; i < 10'000; ++i) {
      const auto n = static_cast<std::size_t>(1 + i % 100 * 7);
      const float s = 0.37f + 0.001f * static_cast<float>(i);
      const ta::Array y = (ta::asarray(ramp(n)) * s - 1.25f) / (s + 3.0f);
      ta::evaluate(y);
      if (i % 997 == 0) checked += std::abs(y.to_vector<float>()[n - 1] - (ramp(n)[n - 1] * s - 1.25f) / (s + 3.0f));
    }
    CHECK(checked == 0);
    CHECK(kernels(ta::cache_counters()) - before <= 4);
  });
}

TEST_CASE("evaluate: handles keep their values when another handle moves on", "[runtime]") {
  on_every_device([](ta::Device) {
    ta::Array a = ta::asarray(ramp(100));
    const ta::Array b = a;
    a += 1.0f;
    ta::evaluate(a);
    CHECK(b.to_vector<float>()[0] == 0.5f);
    CHECK(a.to_vector<float>()[0] == 1.5f);
  });
}

TEST_CASE("evaluate: an evaluated part is a leaf and stays the same", "[runtime]") {
  on_every_device([](ta::Device) {
    const ta::Array x = ta::asarray(ramp(5000)), part = ta::exp(x * 0.001f), whole = ta::sum(part * x);
    const float before = whole.item<float>();
    const ta::Array part2 = ta::exp(x * 0.001f);
    ta::evaluate(part2);
    const ta::Array whole2 = ta::sum(part2 * x);
    CHECK(whole2.item<float>() == before);
    CHECK(ta::evaluate(whole).counters().launches == 0);
  });
}

TEST_CASE("evaluate: a map stored beside a reduction of short rows stays in its rows", "[runtime]") {
  on_every_device([](ta::Device) {
    for (std::int64_t n : {33, 34, 36, 40, 65, 100, 129, 132}) {
      const ta::Array x = ta::asarray(ramp(static_cast<std::size_t>(5 * n)), {5, n}), y = x * 3.0f, s = ta::sum(y, 1);
      CHECK(ta::evaluate(y, s).counters().launches == 1);
      std::vector<float> expected = ramp(static_cast<std::size_t>(5 * n));
      for (float& v : expected) v *= 3.0f;
      INFO("n " << n);
      CHECK(y.to_vector<float>() == expected);
    }
  });
}

TEST_CASE("evaluate: integers that compilers like to simplify keep their values", "[runtime]") {
  on_every_device([](ta::Device) {
    std::vector<std::int32_t> v;
    for (std::int32_t i = -9; i <= 9; ++i) v.push_back(i);
    const ta::Array x = ta::asarray(v), y = ta::astype(x, ta::int64);
    const ta::Array clamped = ta::maximum(ta::minimum(x, 4), 0), top = clamped == 4,
                    low = ta::minimum(ta::maximum(x, 0), 4) < 2;
    const ta::Array divided = ta::floor_divide(1, -ta::abs(y)), rest = ta::remainder(7, -ta::abs(y));
    ta::evaluate(top, low, divided, rest);
    const std::vector<bool> is_top = top.to_vector<bool>(), is_low = low.to_vector<bool>();
    const std::vector<std::int64_t> quotient = divided.to_vector<std::int64_t>(), left = rest.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < v.size(); ++i) {
      INFO(v[i]);
      CHECK(is_top[i] == (v[i] >= 4));
      CHECK(is_low[i] == (v[i] < 2));
      CHECK(quotient[i] == (v[i] == 0 ? 0 : -1));
      const std::int64_t m = std::abs(v[i]);
      CHECK(left[i] == (m == 0 || 7 % m == 0 ? 0 : 7 % m - m));
    }
    const ta::Array table = ta::array({{3, 0, 0, 3}, {4, -4, -1, -3}, {-2, 1, 7, 5}});
    const ta::Array a = table * 2, b = ta::maximum(ta::maximum(a, -table), -(table + 1));
    CHECK(ta::max(-table, 1).to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 4, 2});
    CHECK(b.to_vector<std::int32_t>() == std::vector<std::int32_t>{6, 0, 0, 6, 8, 4, 1, 3, 2, 2, 14, 10});
  });
}

TEST_CASE("evaluate: the zero of a negated fma has the sign of a negation, not that of another fma", "[runtime]") {
  on_every_device([](ta::Device) {
    const auto check = []<class T>(T one) {
      std::vector<T> v(37, one);
      for (std::size_t i = 0; i < v.size(); i += 3) v[i] = -one;
      const ta::Array x = ta::asarray(v), y = ta::asarray(v) * one;
      const std::vector<T> left = (-ta::fma(x, one, 1)).template to_vector<T>(),
                           right = (0 - ta::fma(x, y, -1)).template to_vector<T>();
      for (std::size_t i = 0; i < v.size(); ++i) {
        INFO(i);
        CHECK(left[i] == (i % 3 == 0 ? 0 : -2));
        CHECK(std::signbit(left[i]));
        CHECK(right[i] == 0);
        CHECK_FALSE(std::signbit(right[i]));
      }
    };
    check(1.0f);
    check(1.0);
  });
}

TEST_CASE("evaluate: empty, 0-d and one-element arrays work", "[runtime]") {
  on_every_device([](ta::Device) {
    const ta::Array none = ta::zeros({0, 3}) + 1.0f;
    CHECK(none.to_vector<float>().empty());
    CHECK(ta::sum(none).item<float>() == 0.0f);
    CHECK(ta::sum(none, 0).to_vector<float>() == std::vector<float>{0, 0, 0});
    CHECK(std::isnan(ta::mean(none).item<float>()));
    CHECK(std::isnan(ta::var(none).item<float>()));
    CHECK((ta::full({}, 2.0f) * 3.0f).item<float>() == 6.0f);
    CHECK(ta::std(ta::full({1}, 2.0f)).item<float>() == 0.0f);
  });
}

TEST_CASE("evaluate: a borrowed result is a copy, an own one is shared", "[runtime]") {
  std::vector<float> mine = ramp(10);
  const ta::Scope on_cpu(ta::cpu);
  ta::Array copy;
  {
    const ta::Array borrowed = ta::borrow(mine.data(), {10});
    copy = borrowed * 1.0f;
    CHECK(ta::evaluate(copy).counters().launches == 1);
  }
  mine.assign(10, -1.0f);
  CHECK(copy.to_vector<float>() == ramp(10));
  const ta::Array own = ta::asarray(ramp(10)), same = own * 1.0f;
  CHECK(ta::evaluate(same).counters().launches == 0);
  CHECK(same.to_vector<float>() == ramp(10));
}

TEST_CASE("evaluate: threads that share nodes each get the right values", "[runtime][threads]") {
  on_every_device([](ta::Device device) {
    const ta::Array x = ta::asarray(ramp(2000)), shared = x * x + 1.0f;
    std::vector<float> got(8);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        const ta::Scope placed(device);
        const ta::Array own = shared * static_cast<float>(t + 2);
        ta::evaluate(t % 2 ? own : shared, own);
        got[static_cast<std::size_t>(t)] = own.to_vector<float>()[3];
      });
    for (std::thread& t : threads) t.join();
    for (int t = 0; t < 8; ++t) CHECK(got[static_cast<std::size_t>(t)] == 5.0f * static_cast<float>(t + 2));
  });
}

TEST_CASE("evaluate: arrays placed on the CPU and on a GPU do not mix silently", "[runtime][cuda]") {
  TARRY_REQUIRE_CUDA();
  ta::Array a, b;
  {
    const ta::Scope s(ta::cpu);
    a = ta::asarray(ramp(3));
  }
  {
    const ta::Scope s(ta::cuda(0));
    b = ta::asarray(ramp(3));
  }
  CHECK_THROWS_AS(a + b, ta::InvalidArgument);
}

TEST_CASE("report: says what happened, by counters and as text", "[runtime][report]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = ta::asarray(ramp(300 * 40), {300, 40}), y = x / ta::sum(x, 0, {.keepdims = true});
  const ta::Plan plan = ta::plan(y);
  CHECK_FALSE(y.is_evaluated());
  const ta::Report r = ta::evaluate(y);
  CHECK(plan.counters().launches == r.counters().launches);
  CHECK(plan.counters().bytes_read == r.counters().bytes_read);
  CHECK(plan.counters().bytes_written == r.counters().bytes_written);
  REQUIRE(r.unfused().size() == 1);
  CHECK(r.unfused()[0].reason == "whole-reduction");
  CHECK(r.unfused()[0].consumer.find("evaluate_test.cpp") != std::string::npos);
  CHECK(r.str().find("lower bound") != std::string::npos);
  CHECK(ta::evaluate(y).counters().launches == 0);
}

TEST_CASE("plan: made for a GPU that is not here", "[runtime][plan]") {
  const ta::Array x = ta::asarray(ramp(1000)), y = ta::sum(x * 2.0f);
  const ta::Plan plan = ta::plan_for("sm_90", y);
  REQUIRE(plan.sources().size() == 1);
  CHECK(plan.sources()[0].find("__global__") != std::string::npos);
  CHECK_FALSE(y.is_evaluated());
  CHECK_THROWS_AS(ta::plan_for("sm_1", y), ta::InvalidArgument);
}
