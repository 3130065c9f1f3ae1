// Fusion: kernels, bytes and reasons, without running anything; and that plans grow linearly.
#include "graph/fusion/fusion.h"

#include <bit>
#include <cstring>
#include <set>

#include "codegen/interpret/interpreter.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;

namespace {

ta::runtime::CompiledPlan plan_of(const ta::graph::Snapshot& s, const char* target) {
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  return ta::runtime::make_plan(s, *ta::graph::find_target(target), here, alias, ta::runtime::plan_switches(), nullptr);
}

ta::runtime::CompiledPlan plan_of(std::initializer_list<const ta::Array*> arrays, const char* target = "sm_90") {
  return plan_of(ta::test::snapshot_of(arrays), target);
}

ta::runtime::CompiledPlan plan_of(const std::vector<ta::Array>& arrays, const char* target = "sm_90") {
  return plan_of(ta::test::snapshot_of_all(arrays), target);
}

ta::Array vector_of(std::size_t n) { return ta::asarray(ta::test::ramp(n)); }
ta::Array matrix_of(std::int64_t rows, std::int64_t columns) {
  return ta::asarray(ta::test::ramp(static_cast<std::size_t>(rows * columns)), ta::Shape(rows, columns));
}

ta::Array cdf(const ta::Array& x) { return 0.5f * (1.0f + ta::erf(x * 0.70710678f)); }

}  // namespace

TEST_CASE("fusion: a map, a reduction and the map after it are one kernel", "[graph][fusion]") {
  const ta::Array x = vector_of(5000), y = vector_of(5000);
  const ta::Array dot = ta::sum(x * y), norm = ta::sqrt(dot) * 2.0f;
  const auto plan = plan_of({&dot, &norm});
  CHECK(plan.counters.launches == 1);
  CHECK(plan.counters.bytes_read == 2 * 5000 * 4);
  CHECK(plan.counters.bytes_written == 2 * 4);
  CHECK(plan.counters.bytes_temporary == 0);
  CHECK(plan.unfused.empty());
}

TEST_CASE("fusion: mean, variance and deviation of one array read it once", "[graph][fusion]") {
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    const ta::Array x = vector_of(10'000'000);
    const ta::Array m = ta::mean(x), v = ta::var(x), s = ta::std(x);
    const auto plan = plan_of({&m, &v, &s}, target);
    CHECK(plan.counters.launches == 1);
    CHECK(plan.counters.bytes_temporary == 0);
    CHECK(plan.counters.bytes_read == 10'000'000 * 4);
  }
}

TEST_CASE("fusion: a reduced value that is spread over its own axis is stored row by row, or by a kernel of its own",
          "[graph][fusion]") {
  for (const std::int64_t n : {6, 100, 20'000, 300'000}) {
    const ta::Array x = vector_of(static_cast<std::size_t>(n));
    const ta::Array root = ta::broadcast_to(ta::sqrt(ta::sum(x)), {n});          // longer than a row kernel holds
    const ta::Array spread = ta::broadcast_to(ta::std(ta::softmax(x, 0)), {n});  // short ones nest loops
    const ta::Array sum = ta::sqrt(ta::sum(x)), deviation = ta::std(ta::softmax(x, 0));
    CHECK(plan_of({&root, &spread}).counters.launches >= 1);
    const ta::test::Setting interpreted("TARRY_DISABLE", "compile");
    const ta::Scope placed(ta::cpu);
    CHECK(root.to_vector<float>() == std::vector<float>(static_cast<std::size_t>(n), sum.item<float>()));
    CHECK(spread.to_vector<float>() == std::vector<float>(static_cast<std::size_t>(n), deviation.item<float>()));
  }
}

TEST_CASE("fusion: outputs that share inputs share a kernel", "[graph][fusion]") {
  const ta::Array x = vector_of(777), y = vector_of(777);
  const ta::Array a = x + y, b = x - y, c = x * y;
  const auto plan = plan_of({&a, &b, &c});
  CHECK(plan.counters.launches == 1);
  CHECK(plan.counters.bytes_read + plan.counters.bytes_written == 5 * 777 * 4);
  CHECK(plan.counters.bytes_lower_bound == 5 * 777 * 4);
}

TEST_CASE("fusion: Black-Scholes moves exactly its five arrays, counted from loads and stores", "[graph][fusion]") {
  const std::size_t n = 4001;
  const ta::Array s = vector_of(n), k = vector_of(n), t = vector_of(n);
  const ta::Array d1 = (ta::log(s / k) + (0.02f + 0.045f) * t) / (0.3f * ta::sqrt(t));
  const ta::Array discount = k * ta::exp(-0.02f * t);
  const ta::Array call = s * cdf(d1) - discount * cdf(d1 - 0.3f * ta::sqrt(t));
  const ta::Array put = call - s + discount;
  const ta::graph::Snapshot snapshot = ta::test::snapshot_of({&call, &put});
  const std::vector<bool> here(3, true), alias(3, false);
  const auto plan = ta::runtime::make_plan(snapshot, *ta::graph::find_target("x86-64-v3"), here, alias,
                                           ta::runtime::plan_switches(), nullptr);
  REQUIRE(plan.counters.launches == 1);
  const auto& step = std::get<ta::runtime::KernelStep>(plan.steps[0]);
  std::vector<std::vector<float>> outputs(plan.outputs.size(), std::vector<float>(n));
  std::vector<void*> buffers;
  for (const auto& o : step.operands)
    buffers.push_back(o.kind == ta::runtime::Operand::Kind::Leaf ? snapshot.leaves[o.index]->buffer->data
                                                                 : outputs[o.index].data());
  std::vector<std::uint64_t> scalars;
  for (const auto& r : step.lowered.scalars) {
    std::uint64_t word = 0;
    std::memcpy(&word, snapshot.cells[plan.scalars[r.source].cell].bytes, 8);
    scalars.push_back(word);
  }
  ta::codegen::Traffic traffic;
  ta::codegen::interpret(step.lowered.ir, step.lowered.args, buffers, scalars, &traffic);
  CHECK(traffic.bytes_read == static_cast<std::int64_t>(3 * n * 4));
  CHECK(traffic.bytes_written == static_cast<std::int64_t>(2 * n * 4));
  CHECK(traffic.bytes_read == plan.counters.bytes_read);
  CHECK(traffic.bytes_written == plan.counters.bytes_written);
}

TEST_CASE("fusion: an edge through memory says why", "[graph][fusion]") {
  const ta::Array x = matrix_of(300, 500);
  SECTION("a reduction is needed whole by every point of its column") {
    const ta::Array y = x / ta::sum(x, 0, {.keepdims = true});
    const auto plan = plan_of({&y});
    CHECK(plan.counters.launches == 2);
    REQUIRE(plan.unfused.size() == 1);
    CHECK(plan.unfused[0].reason == ta::graph::Reason::WholeReduction);
  }
  SECTION("a reduction of a reduction") {
    const ta::Array y = ta::sum(x);
    const auto plan = plan_of({&y});
    CHECK(plan.counters.launches == 2);
    REQUIRE(plan.unfused.size() == 1);
    CHECK(plan.unfused[0].reason == ta::graph::Reason::ReductionChain);
  }
  SECTION("something dear that a broadcast would repeat") {
    const ta::Array b = vector_of(4096), big = ta::zeros({20000, 4096}) + ta::exp(b);
    const auto plan = plan_of({&big});
    CHECK(plan.counters.launches == 2);
    REQUIRE(plan.unfused.size() == 1);
    CHECK(plan.unfused[0].reason == ta::graph::Reason::BroadcastCost);
  }
  SECTION("something cheap is computed again instead") {
    const ta::Array b = vector_of(500), y = x * (b + 1.0f);
    CHECK(plan_of({&y}).counters.launches == 1);
  }
  SECTION("more statements than a kernel may hold") {
    ta::Array y = vector_of(100);
    for (unsigned i = 0; i < 800; ++i)  // no two stretches of it are alike
      y = std::popcount(i) % 2 == 0 ? y * 1.5f + 0.25f : ta::minimum(y, 3.0f) - 0.5f;
    const auto plan = plan_of({&y});
    CHECK(plan.counters.launches == 3);
    CHECK(plan.unfused.front().reason == ta::graph::Reason::Limit);
  }
  SECTION("strict and relaxed work") {
    const ta::Array a = x * x;
    const ta::Scope s(ta::relaxed);
    const ta::Array y = a + x;
    const auto plan = plan_of({&y});
    REQUIRE(plan.unfused.size() == 1);
    CHECK(plan.unfused[0].reason == ta::graph::Reason::Mode);
  }
}

TEST_CASE("fusion: without it every op is a kernel of its own", "[graph][fusion]") {
  const ta::test::Setting off("TARRY_DISABLE", "fusion");
  const ta::Array x = vector_of(5000), y = vector_of(5000);
  const ta::Array z = ta::sum(x * y + x) * 2.0f;
  const auto plan = plan_of({&z});
  CHECK(plan.counters.launches == 4);
  for (const auto& u : plan.unfused) CHECK(u.reason == ta::graph::Reason::FusionDisabled);
}

TEST_CASE("fusion: a kernel never waits for itself", "[graph][fusion]") {
  // s depends on m through memory; joining both into the kernel that reads x would close a cycle.
  const ta::Array x = matrix_of(64, 200000);  // more than a cluster of thread blocks holds
  const ta::Array m = ta::max(x, 1, {.keepdims = true});
  const ta::Array e = ta::exp(x - m), s = ta::sum(e, 1, {.keepdims = true}), y = e / s;
  const auto plan = plan_of({&y});
  CHECK(plan.counters.launches == 3);
  CHECK(plan.counters.bytes_temporary < std::int64_t{64} * 200000 * 4);  // exp(x - m) is computed again, not stored
}

TEST_CASE("fusion: a softmax of rows is one read and one write", "[graph][fusion]") {
  for (std::int64_t n : {20, 640, 16384}) {
    const ta::Array x = matrix_of(64, n);
    const ta::Array e = ta::exp(x - ta::max(x, 1, {.keepdims = true})), y = e / ta::sum(e, 1, {.keepdims = true});
    const auto plan = plan_of({&y});
    CHECK(plan.counters.launches == 1);
    CHECK(plan.counters.bytes_read == 64 * n * 4);
    CHECK(plan.counters.bytes_written == 64 * n * 4);
    CHECK(plan.unfused.empty());
  }
}

TEST_CASE("fusion: short columns are rows of one thread", "[graph][fusion]") {
  const ta::Array x = matrix_of(20, 5000);
  const ta::Array y = (x - ta::mean(x, 0, {.keepdims = true})) / ta::std(x, 0, {.keepdims = true});
  CHECK(plan_of({&y}).counters.launches == 1);
}

TEST_CASE("fusion: what a call reads flat is computed in its own shape, beside what it is made of", "[graph][fusion]") {
  const ta::Array x = vector_of(400), table = ta::asarray(ta::test::ramp(16));
  const ta::Array apart = ta::abs(ta::expand_dims(x, 1) - ta::expand_dims(x, 0));
  const ta::Array of_maps = ta::reshape(ta::sqrt(apart) + 1.0f, {400 * 400});
  const ta::Array of_sums = ta::reshape(ta::sqrt(ta::sum(ta::expand_dims(apart, 2) * table, 2)), {400 * 400});
  for (const ta::Array& flat : {of_maps, of_sums}) {
    const ta::Array found = ta::searchsorted(table, flat);
    const auto plan = plan_of({&found});
    CHECK(plan.counters.launches == 2);
    CHECK(plan.counters.bytes_temporary == 400 * 400 * 4);
  }
}

TEST_CASE("plan: temporaries with disjoint lifetimes share memory", "[runtime][plan]") {
  ta::Array y = matrix_of(300, 500);
  for (int i = 0; i < 6; ++i) y = ta::exp(y - ta::sum(y, 0, {.keepdims = true}));
  const auto shared = plan_of({&y});
  CHECK(shared.counters.launches > 5);
  CHECK(shared.temporaries.size() <= 4);
  const ta::test::Setting off("TARRY_DISABLE", "reuse");
  CHECK(plan_of({&y}).temporaries.size() + 1 >= static_cast<std::size_t>(shared.counters.launches));
}

TEST_CASE("plan: kernels stay below the target's parameter limit, counted from their signature", "[runtime][plan]") {
  ta::Array y = vector_of(1000);
  for (int i = 0; i < 100; ++i) y = y * (1.5f + static_cast<float>(i)) + 0.25f;
  const ta::graph::Snapshot s = ta::test::snapshot_of({&y});
  const std::vector<bool> here{true}, alias{false};
  ta::graph::Target small = *ta::graph::find_target("sm_90");
  CHECK(ta::runtime::make_plan(s, small, here, alias, ta::runtime::plan_switches(), nullptr).counters.launches == 1);
  small.parameter_bytes = 512;
  const auto plan = ta::runtime::make_plan(s, small, here, alias, ta::runtime::plan_switches(), nullptr);
  CHECK(plan.counters.launches > 1);
  for (const auto& step : plan.steps) CHECK(std::get<ta::runtime::KernelStep>(step).source->slots.size() * 8 <= 512);
}

TEST_CASE("plan: a sum of 2,000 arrays", "[runtime][plan]") {
  std::vector<ta::Array> inputs;
  ta::Array y = ta::zeros({10});
  for (int i = 0; i < 2000; ++i) y = y + inputs.emplace_back(ta::full({10}, 1.0f) * vector_of(10));
  const ta::Scope on_cpu(ta::cpu);
  CHECK(y.to_vector<float>()[0] == 1000.0f);
}

TEST_CASE("plan: a chain of equal links is one kernel text", "[runtime][plan]") {
  ta::Array y = vector_of(1000);
  for (int i = 0; i < 12800; ++i) y = y * 1.5f;
  CHECK(plan_of({&y}).counters.kernels <= 2);
}

TEST_CASE("fusion: long formulas that share nothing are apart, as few texts; short ones share a launch",
          "[graph][fusion]") {
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    const ta::Array x = matrix_of(48, 5000);
    const auto rows = [&](auto formula) {
      std::vector<ta::Array> outputs;
      for (std::int64_t row = 0; row < 48; ++row) outputs.push_back(formula(x(row)));
      return plan_of(outputs, target);
    };
    const auto lengthy = rows([](const ta::Array& v) { return ta::tanh(ta::exp(v) / (1.0f + ta::exp(-v))); });
    CHECK(lengthy.counters.launches >= 9);
    CHECK(lengthy.counters.kernels <= 3);
    CHECK(lengthy.counters.bytes_read == 48 * 5000 * 4);
    CHECK(rows([](const ta::Array& v) { return v + 1.0f; }).counters.launches <= 4);
  }
}

TEST_CASE("fusion: formulas that share what they read share a kernel, however long", "[graph][fusion]") {
  const ta::Array x = vector_of(1 << 22);
  std::vector<ta::Array> outputs;
  for (int i = 1; i <= 12; ++i) outputs.push_back(ta::tanh(ta::exp(x * static_cast<float>(i))));
  CHECK(plan_of(outputs).counters.launches == 1);
}

TEST_CASE("fusion: rounds over few elements do not repeat each other's text to save launches", "[graph][fusion]") {
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    ta::Array best = ta::zeros({501}, ta::float32);
    for (std::int64_t item = 1; item <= 60; ++item) {
      const std::int64_t weight = item * 7 % 50 + 1;
      const ta::Array taken = ta::concat({ta::zeros({weight}, ta::float32), best(ta::slice(0, -weight))});
      best = ta::maximum(best, taken + static_cast<float>(item * 31 % 100));
    }
    const auto plan = plan_of({&best}, target);
    std::set<const ta::codegen::KernelSource*> texts;
    std::size_t statements = 0;
    for (const auto& step : plan.steps)
      if (const auto* kernel = std::get_if<ta::runtime::KernelStep>(&step))
        if (texts.insert(kernel->source.get()).second) statements += kernel->lowered.ir.instrs.size();
    INFO(target << ": " << texts.size() << " texts of " << plan.steps.size() << " launches");
    CHECK(statements <= 1000);
  }
}

TEST_CASE("fusion: rounds of products with a matrix that is stored are two kernels each", "[graph][fusion]") {
  const ta::Array x = matrix_of(400, 2), y = matrix_of(300, 2);
  const ta::Array distances = ta::sum(ta::square(x(ta::slice(), ta::newaxis) - y(ta::newaxis)), -1);
  const ta::Array m = ta::exp(distances * -0.05f), turned = ta::matrix_transpose(m);
  ta::Array u = ta::ones({400}, ta::float32), v = ta::ones({300}, ta::float32);
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    u = 1.0f / ta::sum(m * v, 1);
    v = 1.0f / ta::sum(turned * u, 1);
  }
  CHECK(plan_of({&v}, "x86-64-v4").counters.launches <= 2 * kRounds + 1);
}

TEST_CASE("fusion: a round whose result is read at eight places is stored", "[graph][fusion]") {
  const std::int64_t n = 400;
  const ta::Array way = ta::asarray(std::vector<std::int32_t>(static_cast<std::size_t>(n * n), 3), ta::Shape(n, n));
  ta::Array flow = matrix_of(n, n);
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    ta::Array next = ta::ones({n, n}, ta::float32);
    int k = 0;
    for (const int i : {-1, 0, 1})
      for (const int j : {-1, 0, 1}) {
        if (i == 0 && j == 0) continue;
        ta::Array padded = ta::zeros({n + 2, n + 2}, ta::float32);
        padded.set({ta::slice(1, n + 1), ta::slice(1, n + 1)}, ta::where(way == k++, flow, 0.0f));
        next = next + padded(ta::slice(1 - i, n + 1 - i), ta::slice(1 - j, n + 1 - j));
      }
    flow = next;
  }
  CHECK(plan_of({&flow}, "x86-64-v4").counters.launches == kRounds);
}

TEST_CASE("fusion: taps at more places than a kernel computes a value at read it from memory", "[graph][fusion]") {
  const std::int64_t n = 1 << 16, taps = 64, step = 8, m = (n - taps) / step;
  const ta::Array x = vector_of(static_cast<std::size_t>(n)), h = vector_of(static_cast<std::size_t>(taps));
  const ta::Array mixed = x * ta::cos(0.77f * ta::arange(n, ta::float32));
  ta::Array sum = ta::zeros({m}, ta::float32);
  for (std::int64_t k = 0; k < taps; ++k) sum = sum + h(k) * mixed(ta::slice(k, k + step * m, step));
  for (const char* target : {"sm_90", "x86-64-v4"}) {
    const auto plan = plan_of({&sum}, target);
    CHECK(plan.counters.launches == 2);
    CHECK(plan.counters.bytes_temporary == n * 4);
  }
}

TEST_CASE("fusion: a number that is spread over the row it was reduced from goes over that row again",
          "[graph][fusion]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = matrix_of(3, 4),
                  most = ta::max(x, 0);  // a loop at each of its readers' points, which such rows cannot have
  const ta::Array y = ta::with_set(most, {ta::slice()}, 1.0f) + ta::var(ta::argmax(most), ta::Axes{});
  CHECK(y.to_vector<double>() == std::vector<double>(4, 1.0));
}
