// Scale: graphs a million nodes deep on a small stack, and optimiser work that grows linearly.
#include <chrono>

#include <functional>

#include "graph/fusion/fusion.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/allocations.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/small_stack.h"

namespace ta = tarry;
using ta::test::on_small_stack;
using ta::test::ramp;

TEST_CASE("scale: a million ops in a row record, evaluate and die on a 256 KiB stack", "[runtime][scale]") {
  const std::int64_t before = ta::graph::live_nodes();
  float result = 0;
  std::int64_t kernels = 0;
  on_small_stack(256 * 1024, [&] {
    const ta::Scope on_cpu(ta::cpu), whole(ta::Budget::unlimited());
    ta::Array y = ta::asarray(std::vector<float>{0.0f, 1.0f});
    const ta::Array one = ta::asarray(std::vector<float>{1.0f, 1.0f});
    for (int i = 0; i < 1'000'000; ++i) y = y + one;
    kernels = ta::evaluate(y).counters().kernels;
    result = y.to_vector<float>()[1];
  });
  CHECK(result == 1'000'001.0f);
  CHECK(kernels <= 2);
  CHECK(ta::graph::live_nodes() == before);
}

TEST_CASE("scale: a million ops print and plan without recursion", "[runtime][scale]") {
  std::size_t length = 0;
  on_small_stack(256 * 1024, [&] {
    const ta::Scope whole(ta::Budget::unlimited());
    ta::Array y = ta::asarray(std::vector<float>{0.0f, 1.0f});
    for (int i = 0; i < 1'000'000; ++i) y = -y * y;
    const ta::graph::Snapshot s = ta::test::snapshot_of({&y});
    length = to_string(s.graph).size();
  });
  CHECK(length > 10'000'000);
}

TEST_CASE("scale: kernels and statements grow linearly with the graph", "[graph][scale]") {
  const auto work = [](int n) {
    const ta::Scope whole(ta::Budget::unlimited());
    ta::Array x = ta::asarray(ramp(64)), y = x;
    std::vector<ta::Array> recent{x, x, x, x};
    for (int i = 0; i < n; ++i) {  // each op reads a recent value and one a few steps older
      y = i % 3 == 0   ? y + recent[static_cast<std::size_t>(i % 4)]
          : i % 3 == 1 ? y * 0.5f
                       : ta::maximum(y, recent[static_cast<std::size_t>((i + 1) % 4)]);
      recent[static_cast<std::size_t>(i % 4)] = y;
    }
    const ta::graph::Snapshot s = ta::test::snapshot_of({&y});
    const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
    const auto plan =
        ta::runtime::make_plan(s, *ta::graph::find_target("sm_90"), here, alias, ta::runtime::plan_switches(), nullptr);
    std::size_t instructions = 0;
    for (const auto& step : plan.steps)
      instructions += std::get<ta::runtime::KernelStep>(step).lowered.ir.instrs.size();
    return static_cast<double>(instructions);
  };
  const double small = work(1000), large = work(100'000);
  CHECK(large / small <= 1.3 * 100);
}

TEST_CASE("scale: planning a recurrence takes as much a level, however many there are", "[runtime][scale]") {
  if (!ta::test::kOwnAllocations) return;
  const auto bytes = [](std::int64_t levels) {
    const ta::Array a = ta::asarray(std::vector<float>(static_cast<std::size_t>(levels) * 3), {levels, 3});
    std::vector<ta::Array> x = {a(0)};
    for (std::int64_t k = 1; k < levels; ++k) x.push_back(x.back() * 0.5f + a(k));
    const ta::graph::Snapshot s = ta::test::snapshot_of_all(std::vector{ta::stack(x)});
    const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
    const std::int64_t before = ta::test::allocated_bytes_here();
    const auto plan =
        ta::runtime::make_plan(s, *ta::graph::find_target("sm_90"), here, alias, ta::runtime::plan_switches(), nullptr);
    CHECK(plan.steps.size() == 1);
    return ta::test::allocated_bytes_here() - before;
  };
  CHECK(static_cast<double>(bytes(2400)) < 4.5 * static_cast<double>(bytes(600)));
}

TEST_CASE("scale: what a plan takes does not grow with the elements", "[runtime][scale]") {
  if (!ta::test::kOwnAllocations) return;
  using ta::Array;
  using ta::slice;
  const std::pair<const char*, std::function<std::vector<Array>(const Array&)>> programs[] = {
      {"join", [](const Array& x) { return std::vector{ta::concat({x(slice(0, 1)), ta::diff(x)})}; }},
      {"border", [](const Array& x) { return std::vector{ta::pad(x, 3, ta::Pad::Edge), ta::pad(x, 3)}; }},
      {"interleaved", [](const Array& x) { return std::vector{ta::reshape(ta::stack({x, -x}, 1), {-1})}; }},
      {"blocks", [](const Array& x) { return std::vector{ta::max(ta::reshape(ta::diff(ta::pad(x, 1)), {-1}), 0)}; }},
      {"moved", [](const Array& x) { return std::vector{ta::roll(x, 7) + ta::flip(x), ta::tile(x, {3})}; }},
      {"windows", [](const Array& x) { return std::vector{ta::sum(ta::sliding_window_view(x, 5, 0), -1)}; }},
      {"updated",
       [](const Array& x) {
         const std::int64_t n = x.shape()[0];
         Array y = -x;
         y.set({slice(0, n, 2)}, 1.0f);
         y.set({slice(3, -3)}, x(slice(6, n)));
         return std::vector{y, ta::cumulative_sum(y), ta::sort(y)};
       }},
  };
  for (const auto& [name, program] : programs) {
    const auto bytes = [&](std::int64_t n) {
      const std::vector<float> memory(static_cast<std::size_t>(n));
      const std::vector<Array> results = program(ta::borrow(memory.data(), {n}));
      const ta::graph::Snapshot s = ta::test::snapshot_of_all(results);
      const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
      const std::int64_t before = ta::test::allocated_bytes_here();
      for (const char* target : {"x86-64-v3", "sm_90"})
        (void)ta::runtime::make_plan(s, *ta::graph::find_target(target), here, alias, ta::runtime::plan_switches(),
                                     nullptr);
      return ta::test::allocated_bytes_here() - before;
    };
    INFO(name);
    const std::int64_t few = bytes(40'000), many = bytes(4'000'000);
    CHECK(many < few * 3 / 2);
  }
}
