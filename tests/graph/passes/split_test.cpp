// Reductions that keep a short axis, split along it: the same bits, no array of pairs in memory, one loop for all.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "graph/passes/passes.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/sweep.h"
#include "tests/kernels/emulated_plan.h"

namespace ta = tarry;
using ta::newaxis;
using ta::slice;
using ta::test::Setting;

namespace {

const ta::Slice kAll{};

ta::Array odd(const ta::Shape& shape, ta::Dtype dtype) {
  const ta::Scope placed(ta::cpu);  // wherever a GPU is
  std::size_t n = 1;
  for (const std::int64_t extent : shape.vector()) n *= static_cast<std::size_t>(extent);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i * 7919 % 1009) / 37.0F - 11.0F;
  ta::Array x = ta::astype(ta::asarray(values, shape), dtype);
  ta::evaluate(x);
  return x;
}

struct Pairs {
  ta::Array force, energy;
};

/// Forces along the distances between all pairs of points, whose coordinates are the last axis, and energies.
Pairs pairs(const ta::Array& x) {
  const ta::Array d = x(kAll, newaxis) - x;
  const ta::Array near = 1 / (ta::sum(d * d, -1) + 0.5), strength = near * (near - 0.25) / (near + 3);
  return {ta::sum(strength(kAll, kAll, newaxis) * d, 1), ta::sum(near * (near - 1), 1)};
}

std::vector<double> values(const ta::Array& x) { return ta::astype(x, ta::float64).to_vector<double>(); }

ta::runtime::CompiledPlan planned(const ta::graph::Snapshot& s, const char* target) {
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  return ta::runtime::make_plan(s, *ta::graph::find_target(target), here, alias, ta::runtime::plan_switches(), nullptr);
}

ta::Counters counters(const ta::Array& y, const char* target) {
  return planned(ta::test::snapshot_of({&y}), target).counters;
}

/// True if a plan of it is another one without the pass.
bool splits(const ta::Array& y, const char* target) {
  const auto kernels = [&] {
    std::string names;
    for (const auto& step : planned(ta::test::snapshot_of({&y}), target).steps)
      if (const auto* k = std::get_if<ta::runtime::KernelStep>(&step)) names += k->source->entry + " ";
    return names;
  };
  const std::string with = kernels();
  const Setting off("TARRY_DISABLE", "split");
  return with != kernels();
}

/// The same bits with and without the pass, unfused, interpreted, and on the emulated GPU.
void check_bits(const std::function<ta::Array()>& make) {
  const ta::Scope placed(ta::cpu);
  const std::vector<double> here = values(make());
  for (const char* off : {"split", "split,unroll", "fusion", "compile"}) {
    const Setting without("TARRY_DISABLE", off);
    INFO("without " << off);
    CHECK(values(make()) == here);
  }
  const ta::Array y = make();
  const ta::graph::Snapshot s = ta::test::snapshot_of({&y});
  const ta::runtime::CompiledPlan plan = planned(s, "sm_90");
  ta::test::EmulatedPlan emulated(s, plan);
  emulated.run();
  ta::evaluate(y);
  const ta::graph::Snapshot done = ta::test::snapshot_of({&y});
  const ta::graph::Buffer& expected = *done.leaves.at(0)->buffer;
  REQUIRE_FALSE(plan.roots.at(0).aliases_leaf);
  CHECK(std::memcmp(expected.data, emulated.root(0).data(), emulated.root(0).size()) == 0);
}

}  // namespace

TEST_CASE("split: forces and energies of pairs are one loop, and no pair is in memory", "[passes][split]") {
  const ta::Scope placed(ta::cpu);
  for (const ta::Dtype dtype : {ta::float32, ta::float64})
    for (const char* target : {"x86-64-v3", "x86-64-v4", "sm_90"}) {
      const ta::Array x = odd({2000, 3}, dtype);
      const Pairs p = pairs(x);
      const ta::graph::Snapshot s = ta::test::snapshot_of({&p.force, &p.energy});
      const ta::runtime::CompiledPlan plan = planned(s, target);
      INFO(target << ", " << ta::name(dtype));
      CHECK(plan.counters.launches == 2);  // one joins the three coordinates
      CHECK(plan.counters.bytes_temporary <= 4096 * 3 * 8);
      CHECK(plan.counters.bytes_read + plan.counters.bytes_written <=
            20 * 2000 * static_cast<std::int64_t>(ta::itemsize(dtype)));
    }
  const ta::Array x = odd({2000, 3}, ta::float32);
  check_bits([&] { return pairs(x).force; });
}

TEST_CASE("split: the bits are those of one reduction, for any number of coordinates", "[passes][split][sweep]") {
  struct Case {
    ta::Dtype dtype;
    std::int64_t coordinates;
  };
  std::vector<Case> cases;
  for (const ta::Dtype dtype : {ta::float32, ta::float64})
    for (const std::int64_t k : {1, 2, 3, 4, 8, 9}) cases.push_back({dtype, k});
  for (const Case& c : ta::test::part_of_sweep(cases, 3)) {
    const ta::Array few = odd({1000, c.coordinates}, c.dtype), many = odd({4000, c.coordinates}, c.dtype);
    INFO(ta::name(c.dtype) << ", " << c.coordinates << " coordinates");
    check_bits([&] { return pairs(few).force; });
    const bool may = c.coordinates >= 2 && c.coordinates <= 8;
    for (const char* target : {"x86-64-v4", "sm_90"}) {
      CHECK(splits(pairs(many).force, target) == may);
      if (may) CHECK(counters(pairs(many).force, target).bytes_temporary <= 4000 * 8 * c.coordinates);
    }
  }
}

TEST_CASE("split: whatever is reduced, wherever the short axis is", "[passes][split]") {
  const ta::Array w = odd({40, 300}, ta::float32), v = odd({40, 300, 3}, ta::float32),
                  u = odd({4, 40, 300}, ta::float32);
  const auto near = [&] { return 1 / (w * w + 1) / (w + 30); };
  using Make = std::function<ta::Array()>;
  for (const Make& make :
       {Make([&] { return ta::sum(near() * u, 2); }), Make([&] { return ta::max(near() * u, 1); }),
        Make([&] { return ta::sum(near()(kAll, kAll, newaxis) * v, 0); }),
        Make([&] { return ta::prod(1 + near()(kAll, kAll, newaxis) * v, 1); }),
        Make([&] { return ta::argmin(near()(kAll, kAll, newaxis) * v, 1); }),
        Make([&] { return ta::mean(near()(kAll, kAll, newaxis) * ta::flip(v, 2), 1) * 2.0F + 1.0F; }),
        Make([&] { return ta::sum(ta::square(ta::sum(near()(kAll, kAll, newaxis) * v, 1)), -1); }), Make([&] {
          return ta::sum(ta::matrix_transpose(near())(kAll, kAll, newaxis) * ta::permute_dims(v, {1, 0, 2}), 1);
        })})
    check_bits(make);
}

TEST_CASE("split: what else reads the parts gets them", "[passes][split]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = odd({150, 3}, ta::float64);
  const auto make = [&] {
    const ta::Array y = x * 0.5 + 1, d = y(kAll, newaxis) - y, square = ta::sum(d * d, -1), near = 1 / (square + 1);
    const ta::Array force = ta::sum(near(kAll, kAll, newaxis) * d, 1), moved = y + force;
    return std::vector<ta::Array>{force, moved, pairs(moved).force, d, ta::sqrt(square)};
  };
  const std::vector<ta::Array> results = make();
  ta::evaluate(results);
  for (const char* off : {"split", "fusion"}) {
    const Setting without("TARRY_DISABLE", off);
    const std::vector<ta::Array> others = make();
    ta::evaluate(others);
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(values(results[i]) == values(others[i]));
  }
}

TEST_CASE("split: values of few statements, and those that vary along the axis, are left", "[passes][split]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array x = odd({900, 3}, ta::float32), w = odd({900, 900}, ta::float32), m = odd({900}, ta::float32);
  const ta::Array d = x(kAll, newaxis) - x;
  for (const char* target : {"x86-64-v4", "sm_90"}) {
    CHECK_FALSE(splits(ta::sum(w(kAll, kAll, newaxis) * d, 1), target));     // a product
    CHECK_FALSE(splits(ta::sum(ta::exp(d), 1), target));                     // all of it varies
    CHECK_FALSE(splits(ta::sum(ta::exp(m)(kAll, newaxis) * d, 1), target));  // 900 values: stored, or a row's
    CHECK_FALSE(splits(ta::sum(ta::exp(w)(kAll, slice(0, 8), newaxis) * d(kAll, slice(0, 8)), 1), target));  // short
  }
  CHECK(counters(ta::sum(ta::exp(w)(kAll, kAll, newaxis) * d, 1), "sm_90").bytes_temporary <= 900 * 16);
}
