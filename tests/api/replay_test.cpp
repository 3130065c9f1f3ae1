// Functions that are replayed: recorded once for each structure, the bits of the function called directly, and what a
// function may not do.
#include <array>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <tarry/interop.h>
#include <tarry/loop.h>
#include <tarry/replay.h>

#include "graph/node.h"
#include "support/fault.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

/// Ten operations, a constant array and a reduction among them.
ta::Array formula(const ta::Array& x) {
  const ta::Array y = ta::exp(x * -0.25f) + ta::arange(3.0f);
  return (y / (ta::sum(y, -1, {.keepdims = true}) + 1.0f)) * x - ta::sqrt(ta::abs(x)) + ta::ones(x.shape());
}

ta::Array rows(int n, float from) { return ta::reshape(ta::arange(from, from + 3.0f * static_cast<float>(n)), {n, 3}); }

bool same_floats(const ta::Array& a, const ta::Array& b) {
  return same_bits(a.to_vector<float>(), b.to_vector<float>());
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const ta::InvalidArgument& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("replay: the bits are those of the function called directly, and each structure is recorded once",
          "[replay][api]") {
  in_every_way([] {
    int calls = 0;
    const auto f = ta::replay([&](const ta::Array& x) { return ++calls, formula(x); });
    for (int round = 0; round < 3; ++round) {
      for (const int n : {1, 4, 7}) {
        const ta::Array x = rows(n, static_cast<float>(round)), y = f(x);
        CHECK(y.is_evaluated());
        CHECK(y.to_vector<float>() == formula(x).to_vector<float>());
      }
      (void)f(ta::astype(rows(4, 0), ta::float64));
    }
    CHECK(calls == 4);
    CHECK(f.traces() == 4);
  });
}

TEST_CASE("replay: a call of a known structure records nothing", "[replay][api]") {
  const auto f = ta::replay([](const ta::Array& x) { return formula(x); });
  const ta::Array x = rows(4, 0);
  ta::evaluate(x);
  (void)f(x);
  const std::int64_t nodes = ta::graph::live_nodes(), waiting = ta::pending_work().operations;
  const ta::Array y = f(x);
  CHECK(ta::graph::live_nodes() == nodes + 1);  // y
  CHECK(ta::pending_work().operations == waiting);
}

TEST_CASE("replay: the structures that are kept are the last used ones", "[replay][api]") {
  const auto f = ta::replay([](const ta::Array& x) { return x + 1.0f; }, 2);
  for (const int n : {1, 2, 1, 3, 1, 2}) CHECK(f(ta::zeros({n})).to_vector<float>().front() == 1.0f);
  CHECK(f.traces() == 4);  // 1, 2, 3, and 2 again
}

TEST_CASE("replay: lists, pairs, tuples and arrays of arrays go in and out", "[replay][api]") {
  const auto swap = ta::replay([](const ta::Array& a, const ta::Array& b) { return std::pair(b, a + b); });
  const auto [b, sum] = swap(ta::array({1, 2}), ta::array({3, 4}));
  CHECK(b.to_vector<int>() == std::vector{3, 4});
  CHECK(sum.to_vector<int>() == std::vector{4, 6});
  const auto split = ta::replay([](const std::vector<ta::Array>& first, const std::vector<ta::Array>& second) {
    return std::tuple(ta::Array(static_cast<int>(first.size())), first.front() * 2, second.front());
  });
  const ta::Array one = ta::array({1});
  CHECK(std::get<0>(split({one, one}, {one})).item<int>() == 2);
  CHECK(std::get<0>(split({one}, {one, one})).item<int>() == 1);  // another structure
  const auto all = ta::replay([](const std::vector<ta::Array>& xs) {
    std::vector<ta::Array> made;
    for (const ta::Array& x : xs) made.push_back(-x);
    return made;
  });
  CHECK(all({one, one, one}).size() == 3);
  const auto none = ta::replay([] { return std::array{ta::zeros({2}) + 1.0f, ta::ones({1})}; });
  CHECK(none()[0].to_vector<float>() == std::vector{1.0f, 1.0f});
}

TEST_CASE("replay: an array of a number is an argument, whose value may change", "[replay][api]") {
  const auto step = ta::replay([](const ta::Array& x, const ta::Array& dt) { return x + x * dt; });
  const ta::Array x = ta::array({1.0f, 2.0f});
  for (const float dt : {0.0f, 1.0f, -0.5f}) {
    const ta::Array number(dt);
    CHECK(step(x, number).to_vector<float>() == (x + x * number).to_vector<float>());
    CHECK_FALSE(number.is_evaluated());
  }
  CHECK(step.traces() == 1);
}

TEST_CASE("replay: arrays from outside are constants, computed once", "[replay][api]") {
  ta::Array w = ta::array({1.0f, 2.0f});
  ta::Array lazy = ta::exp(w);
  const auto f = ta::replay([&](const ta::Array& x) { return x * w + lazy; });
  const std::vector<float> before = f(ta::ones({2})).to_vector<float>();
  CHECK(lazy.is_evaluated());
  w = w * 100.0f;
  lazy = ta::zeros({2});
  ta::evaluate(w);
  CHECK(f(ta::ones({2})).to_vector<float>() == before);
}

TEST_CASE("replay: the memory of an argument or a constant is never overwritten", "[replay][api]") {
  on_every_device([](ta::Device) {
    ta::Array captured = ta::ones({1000}) + 1.0f;
    ta::evaluate(captured);
    const auto f = ta::replay([&captured](const ta::Array& x) { return (x + captured) * 2.0f; });
    ta::Array x = ta::ones({1000}) * 3.0f;
    (void)f(x);
    captured = ta::Array();
    for (int i = 0; i < 3; ++i) {
      const ta::Array y = f(x), again = f(y);
      CHECK(y.to_vector<float>() == std::vector<float>(1000, 10.0f));
      CHECK(again.to_vector<float>() == std::vector<float>(1000, 24.0f));
    }
    CHECK(x.to_vector<float>() == std::vector<float>(1000, 3.0f));
  });
}

TEST_CASE("replay: borrowed memory is read as it is at each call", "[replay][api][borrow]") {
  std::vector<float> memory{1, 2, 3, 4};
  ta::Array x = ta::borrow(memory.data(), {4});
  const auto f = ta::replay([](const ta::Array& v) { return v * 2.0f; });
  const auto of_constant = ta::replay([x](const ta::Array& v) { return v + x; });
  CHECK(f(x).to_vector<float>() == std::vector<float>{2, 4, 6, 8});
  CHECK(of_constant(ta::zeros({4})).to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  x.touch();
  memory[0] = 10;
  CHECK(f(x).to_vector<float>() == std::vector<float>{20, 4, 6, 8});
  CHECK(of_constant(ta::zeros({4})).to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(f.traces() == 1);
}

TEST_CASE("replay: a generator is an argument that goes on with each call", "[replay][api][random]") {
  const auto draw = [](ta::random::Generator& g, const ta::Array& x) {
    const ta::Array first = ta::random::uniform(g, {4}), second = ta::random::normal(g, {4});
    return first + second * x;
  };
  const auto f = ta::replay(draw);
  const ta::Array x = ta::ones({4});
  ta::random::Generator replayed(7, 100), direct(7, 100);
  for (int i = 0; i < 3; ++i) CHECK(same_floats(f(replayed, x), draw(direct, x)));
  CHECK(replayed == direct);
  CHECK(f.traces() == 1);
  ta::random::Generator late(7, (std::uint64_t{1} << 31) - 1), late_direct = late;  // two keys in one call
  for (int i = 0; i < 2; ++i) CHECK(same_floats(f(late, x), draw(late_direct, x)));
  CHECK(late == late_direct);
}

TEST_CASE("replay: a generator from outside is an error, one of the function's own is none", "[replay][api][random]") {
  ta::random::Generator outside(1);
  const auto draws = ta::replay([&](const ta::Array& x) { return x + ta::random::uniform(outside, {2}); });
  CHECK(error_of([&] { (void)draws(ta::ones({2})); }).find("pass the generator as an argument") != std::string::npos);
  const auto forks = ta::replay([&](const ta::Array& x) {
    ta::random::Generator fork = outside.fork();
    return x + ta::random::uniform(fork, {2});
  });
  CHECK(error_of([&] { (void)forks(ta::ones({2})); }).find("from outside") != std::string::npos);
  const auto asks = ta::replay([](ta::random::Generator& g) { return ta::full({}, static_cast<float>(g.draws())); });
  CHECK(error_of([&] { (void)asks(outside); }).find("not known") != std::string::npos);
  const auto own = ta::replay([](const ta::Array& x) {
    ta::random::Generator g(3);
    return x + ta::random::uniform(g, {2});
  });
  CHECK(same_floats(own(ta::ones({2})), own(ta::ones({2}))));
  CHECK(outside.draws() == 0);
}

TEST_CASE("replay: reading a value that depends on an argument names the operation and its line", "[replay][api]") {
  const auto f = ta::replay([](const ta::Array& x) {
    const ta::Array mean = ta::mean(x);
    return mean.item<float>() > 0 ? x : -x;
  });
  const std::string message = error_of([&] { (void)f(ta::ones({2})); });
  INFO(message);
  CHECK(message.find("replay_test.cpp:") != std::string::npos);
  CHECK(message.find("depends on the arguments of a function") != std::string::npos);
  CHECK(f.traces() == 0);
  ta::Array leaked;
  const auto leaks = ta::replay([&](const ta::Array& x) { return leaked = x + 1.0f; });
  (void)leaks(ta::ones({2}));
  CHECK(error_of([&] { (void)leaked.to_vector<float>(); }).find("depends on") != std::string::npos);
  const auto constant = ta::replay([](const ta::Array& x) { return x * ta::sum(ta::ones({3})).item<float>(); });
  CHECK(constant(ta::ones({1})).item<float>() == 3.0f);  // that is none of them
}

TEST_CASE("replay: within another function and within a scan the function is called directly", "[replay][api]") {
  const auto inner = ta::replay([](const ta::Array& x) { return x * x + 1.0f; });
  const auto outer = ta::replay([&](const ta::Array& x) { return inner(x) + inner(x + 1.0f); });
  CHECK(outer(ta::array({2.0f})).item<float>() == 15.0f);
  const auto [last, all] = ta::scan(ta::zeros({2}), ta::ones({3, 2}), [&](const ta::Array& c, const ta::Array& x) {
    const ta::Array next = inner(c) + x;
    return std::pair(next, next);
  });
  CHECK(last.to_vector<float>() == std::vector<float>{38.0f, 38.0f});
  CHECK(inner.traces() == 0);
}

TEST_CASE("replay: numerics and the default float of the caller are part of the structure", "[replay][api]") {
  const auto f = ta::replay([](const ta::Array& x) { return ta::zeros({2}) + x / 3; });
  CHECK(f(ta::array({1, 2})).dtype() == ta::float64);
  const ta::Array x = ta::array({1.0f, 2.0f});
  CHECK(f(x).dtype() == ta::float32);
  const ta::Scope wide(ta::float64);
  CHECK(f(x).dtype() == ta::float64);
  const ta::Scope fast(ta::relaxed);
  (void)f(x);
  CHECK(f.traces() == 4);
}

TEST_CASE("replay: a function that others evaluate with, and one traced past the budget, are as any other",
          "[replay][api]") {
  const ta::Scope few(ta::Budget{.operations = 50});
  const auto f = ta::replay([](ta::Array x) {
    for (int i = 0; i < 200; ++i) x = x * 0.5f + 1.0f;
    return x;
  });
  const std::int64_t before = ta::pending_work().evaluates;
  CHECK(f(ta::ones({3})).to_vector<float>() == std::vector<float>(3, 2.0f));
  CHECK(ta::pending_work().evaluates == before);
  CHECK(ta::pending_work().operations < 50);
}

TEST_CASE("replay: a plan is that of the same graph evaluated directly", "[replay][api]") {
  const Setting cold("TARRY_CACHE_DIR", "off");
  const auto work = [](const ta::Array& x, const ta::Array& y) { return ta::tanh(x * y) - y; };
  const ta::Array x = ta::ones({5, 9}) + 1.0f, y = ta::ones({9}) * 2.0f;
  ta::evaluate(x, y);
  const ta::Array direct = work(x, y);
  ta::evaluate(direct);
  const std::int64_t compiles = ta::cache_counters().compiles;
  CHECK(same_floats(ta::replay(work)(x, y), direct));
  CHECK(ta::cache_counters().compiles == compiles);
}

TEST_CASE("replay: a failure before the first launch leaves everything as it was", "[replay][api][fault]") {
  const auto f = ta::replay([](ta::random::Generator& g, const ta::Array& x) {
    return ta::log(ta::abs(x) + 17.0f) * ta::random::uniform(g, {31});
  });
  ta::random::Generator g(1), direct(1);
  const ta::Array x = ta::asarray(ramp(31));
  {
    const Setting no_cache("TARRY_CACHE_DIR", "off"), required("TARRY_REQUIRE_CACHED", "1");
    CHECK_THROWS_AS(f(g, x), ta::NotCached);
  }
  CHECK(g == direct);
  for (std::uint64_t k = 1; k < 20; ++k) {
    ta::support::fault::arm(ta::support::fault::Site::Allocation, k);
    try {
      (void)f(g, x);
      direct = g;
    } catch (const ta::OutOfMemory&) {
      CHECK(g == direct);
    }
    if (ta::support::fault::disarm() < k) break;
    ta::trim(ta::cpu);
  }
  CHECK(f(g, x).to_vector<float>().size() == 31);
  CHECK(x.to_vector<float>() == ramp(31));
}

TEST_CASE("replay: an index out of range is the error of who reads the result", "[replay][api]") {
  const auto f = ta::replay([](const ta::Array& x, const ta::Array& i) { return ta::take(x, i) * 2.0f; });
  const ta::Array x = ta::asarray(ramp(4));
  CHECK(f(x, ta::array({1, 3})).to_vector<float>() == std::vector<float>{2.0f, 4.0f});
  const ta::Array bad = f(x, ta::array({1, 4}));
  CHECK(error_of([&] { (void)bad.to_vector<float>(); }).find("replay_test.cpp:") != std::string::npos);
  CHECK(error_of([&] { (void)(bad + 1.0f).to_vector<float>(); }).find("out of range") != std::string::npos);
}

TEST_CASE("replay: several threads call one function", "[replay][api][threads]") {
  const auto f = ta::replay([](const ta::Array& x) { return formula(x); });
  std::array<bool, 4> same{};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      bool all = true;
      for (int i = 0; i < 50; ++i) {
        const ta::Array x = rows(1 + (i + t) % 5, static_cast<float>(i));
        all = all && f(x).to_vector<float>() == formula(x).to_vector<float>();
      }
      same[static_cast<std::size_t>(t)] = all;
    });
  for (std::thread& t : threads) t.join();
  CHECK(same == std::array<bool, 4>{true, true, true, true});
}

TEST_CASE("replay: layouts of arguments are plans of one trace", "[replay][api][borrow]") {
  const std::vector<float> memory = ramp(12);
  const auto f = ta::replay([](const ta::Array& x) { return x * 2.0f; });
  const ta::Array strided = ta::borrow(memory.data(), {4}, {3});
  for (int i = 0; i < 2; ++i) {
    CHECK(f(strided).to_vector<float>() == std::vector<float>{1, 4, 7, 10});
    CHECK(f(ta::ones({4})).to_vector<float>() == std::vector<float>(4, 2.0f));
  }
  CHECK(f.traces() == 1);
}
