// Extents: which of a program's extents are free, and that every extent of a class gets the kernels of its class.
#include "runtime/warm/extents.h"

#include <tarry/tarry.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
using ta::graph::Dims;
using ta::graph::Graph;

namespace {

const ta::graph::Target& target(const char* name) { return *ta::graph::find_target(name); }

/// A leaf of any size: memory that is planned with and never read.
template <class T = float>
ta::Array leaf(std::vector<std::int64_t> shape) {
  static const T element{};
  return ta::borrow(&element, ta::Shape(shape));
}

std::set<std::string> kernels(const Graph& g, const ta::graph::Target& t) {
  ta::graph::Snapshot s;
  s.graph = g;
  s.leaves.resize(g.leaves.size());
  const std::vector<bool> yes(g.leaves.size(), true), no(g.leaves.size(), false);
  const auto plan = ta::runtime::make_plan(s, t, yes, no, ta::runtime::plan_switches(), nullptr);
  std::set<std::string> texts;
  for (const auto& step : plan.steps)
    if (const auto* k = std::get_if<ta::runtime::KernelStep>(&step)) texts.insert(k->source->text);
  return texts;
}

/// The shapes of the first root.
std::set<std::vector<std::int64_t>> shapes(const ta::Array& root) {
  std::set<std::vector<std::int64_t>> all;
  ta::runtime::for_other_extents(ta::test::snapshot_of({&root}).graph, target("x86-64-v3"),
                                 [&](const Graph& g) { all.insert(g.shape(g.roots[0].node).vector()); });
  return all;
}

/// The dimensions of the root that take other values than the recorded ones.
std::vector<bool> varies(const ta::Array& root) {
  std::vector<bool> v(root.shape().size());
  for (const auto& shape : shapes(root))
    for (std::size_t d = 0; d < v.size(); ++d) v[d] = v[d] || shape[d] != root.shape()[d];
  return v;
}

using Formula = std::function<ta::Array(std::int64_t rows, std::int64_t columns)>;

}  // namespace

TEST_CASE("extents: what broadcasts, reduces or keeps whole axes leaves extents free", "[extents]") {
  const ta::Scope on_cpu(ta::cpu);
  using Free = std::vector<bool>;
  const ta::Array x = leaf({6, 10});
  CHECK(varies(x + 1.f) == Free{true, true});
  CHECK(varies(x + leaf({10})) == Free{true, true});
  CHECK(varies(ta::sum(x, 0)) == Free{true});
  CHECK(varies(ta::permute_dims(x, {1, 0}) * 2.f) == Free{true, true});
  CHECK(varies(ta::flip(x) * 2.f) == Free{true, true});
  CHECK(varies(ta::softmax(x, -1)) == Free{true, true});
  CHECK(varies(ta::std(x, 0)) == Free{true});
  CHECK(varies(x - x(0)) == Free{true, true});
  CHECK(varies(ta::arange(7) * 2) == Free{true});
}

TEST_CASE("extents: slices, indices, reshapes and partial updates pin extents", "[extents]") {
  const ta::Scope on_cpu(ta::cpu);
  using Free = std::vector<bool>;
  const ta::Array x = leaf({6, 10});
  CHECK(varies(x(ta::slice(1, 4)) * 2.f) == Free{false, true});
  CHECK(varies(x(ta::ellipsis, 3) * 2.f) == Free{true});
  CHECK(varies(x - x(3)) == Free{false, true});
  CHECK(varies(ta::reshape(x * 2.f, {3, 20})) == Free{false, false});
  CHECK(varies(ta::reshape(x * 2.f, {6, 5, 2})) == Free{true, false, false});
  CHECK(varies(ta::with_set(x, {ta::slice(1, 3)}, 1.f)) == Free{false, true});
  CHECK(varies(leaf({1, 10}) + x) == Free{true, true});
  CHECK(varies(leaf({1, 10}) * 2.f) == Free{false, true});
}

TEST_CASE("extents: those that must be equal stay equal, and a flip stays whole", "[extents]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = leaf({7, 7});
  const ta::Array both = ta::flip(x) + ta::permute_dims(x, {1, 0});
  std::size_t seen = 0;
  for (const auto& shape : shapes(both)) {
    CHECK(shape[0] == shape[1]);
    ++seen;
  }
  CHECK(seen > 8);
  ta::runtime::for_other_extents(ta::test::snapshot_of({&both}).graph, target("sm_90"), [](const Graph& g) {
    verify(g);
    for (ta::graph::NodeId id = 0; id < g.nodes.size(); ++id) {
      if (g.nodes[id].op != ta::graph::Op::View) continue;
      const auto& map = g.views[g.nodes[id].payload];
      for (int d = 0; d < map.size; ++d)
        if (map[d].step == -1) CHECK(map[d].start == g.shape(g.nodes[id].inputs[0].node)[d] - 1);
    }
  });
}

TEST_CASE("extents: sums of few elements find their kernels, whatever axes they lie on", "[extents]") {
  const ta::Scope on_cpu(ta::cpu);
  const char* const name = GENERATE("sm_80", "sm_90", "x86-64-v3");
  const auto graph = [](std::int64_t n, std::int64_t m) {
    const ta::Array y = ta::sum(leaf({n, m}) * 2.f);
    return ta::test::snapshot_of({&y}).graph;
  };
  const Graph recorded = graph(24, 48);
  std::set<std::string> warmed = kernels(recorded, target(name));
  ta::runtime::for_other_extents(recorded, target(name),
                                 [&](const Graph& other) { warmed.merge(kernels(other, target(name))); });
  for (std::int64_t n = 2; n <= 16; ++n)
    for (std::int64_t m = 2; m <= 16; ++m) {
      INFO(n << " x " << m << " for " << name);
      for (const std::string& text : kernels(graph(n, m), target(name))) CHECK(warmed.contains(text));
    }
}

TEST_CASE("extents: a program at any other extents finds its kernels", "[extents]") {
  const ta::Scope on_cpu(ta::cpu);
  const char* const name = GENERATE("sm_80", "sm_90", "x86-64-v3", "x86-64-v4");
  const std::vector<std::pair<const char*, Formula>> formulas = {
      {"elementwise", [](auto n, auto m) { return ta::exp(leaf({n, m})) * 2.5f + leaf({n, m}); }},
      {"row broadcast", [](auto n, auto m) { return leaf({n, m}) * leaf({m}) + leaf({n, 1}); }},
      {"half", [](auto n, auto m) { return leaf<ta::Half>({n, m}) * 2.5f; }},
      {"mixed", [](auto n, auto m) { return ta::astype(leaf<std::int8_t>({n, m}), ta::float32) * leaf({n, m}); }},
      {"transposed", [](auto n, auto m) { return ta::permute_dims(leaf({n, m}), {1, 0}) * 2.f; }},
      {"sum of rows", [](auto n, auto m) { return ta::sum(leaf({n, m}), 1); }},
      {"sum of columns", [](auto n, auto m) { return ta::sum(leaf({n, m}), 0); }},
      {"sum of all", [](auto n, auto m) { return ta::sum(leaf({n, m}) * 2.f); }},
      {"softmax", [](auto n, auto m) { return ta::softmax(leaf({n, m}), -1); }},
      {"standard deviation", [](auto n, auto m) { return ta::std(leaf({n, m}), 1); }},
      {"layer norm",
       [](auto n, auto m) {
         const ta::Array x = leaf({n, m});
         return (x - ta::mean(x, 1, {.keepdims = true})) / ta::sqrt(ta::var(x, 1, {.keepdims = true}) + 1e-5f) *
                leaf({m});
       }},
  };
  std::mt19937 random(7);
  const auto any_extent = [&]() -> std::int64_t {  // of every magnitude, of every alignment
    const std::int64_t e = std::int64_t{2} << random() % 20;
    const std::int64_t aligned = std::int64_t{1} << random() % 5;
    return std::max<std::int64_t>(
        2, (e + static_cast<std::int64_t>(random() % static_cast<unsigned>(e))) / aligned * aligned);
  };
  std::size_t asked = 0;
  for (const auto& [what, formula] : formulas) {
    std::set<std::string> warmed;
    const ta::Array recorded = formula(24, 48);
    const Graph g = ta::test::snapshot_of({&recorded}).graph;
    warmed.merge(kernels(g, target(name)));
    ta::runtime::for_other_extents(g, target(name),
                                   [&](const Graph& other) { warmed.merge(kernels(other, target(name))); });
    for (int i = 0; i < 40; ++i) {
      // Past 2^31 elements one axis at a time: classes of wide indices are not crossed with all others.
      std::int64_t n = any_extent(), m = any_extent();
      while (n * m >= std::int64_t{1} << 31) m /= 2;
      if (i % 8 == 0) n = (std::int64_t{1} << 31) / 48 + any_extent(), m = 48;
      INFO(what << " of " << n << " x " << m << " for " << name);
      const ta::Array asked_for = formula(n, m);
      for (const std::string& text : kernels(ta::test::snapshot_of({&asked_for}).graph, target(name))) {
        CHECK(warmed.contains(text));
        ++asked;
      }
    }
  }
  CHECK(asked >= formulas.size() * 40);
}
