// Values that a kernel computes again at several places.
#include "graph/fusion/fusion.h"
#include "tests/kernels/lowered.h"

using namespace tarry;
using namespace tarry::test;

namespace {

/// Every second element from `first` on.
GraphEdge half_of(Maker& m, GraphEdge x, std::int64_t first) { return m.view(x, {{0, first, 2}}, {m.shape(x)[0] / 2}); }

/// A tree of pairs over states of which each needs the other one: the least of a, with the b that is beside it.
Maker tree(std::int64_t n) {
  Maker m;
  GraphEdge a = m.leaf({n}), b = m.leaf({n});
  while (m.shape(a)[0] > 1) {
    const GraphEdge a0 = half_of(m, a, 0), a1 = half_of(m, a, 1), b0 = half_of(m, b, 0), b1 = half_of(m, b, 1);
    const GraphEdge less = m.map(Op::Less, {a1, a0}, bool_);
    a = m.map(Op::Where, {less, a1, a0}, float64);
    b = m.map(Op::Where, {less, b1, b0}, float64);
  }
  m.g.roots = {a, b};
  return m;
}

}  // namespace

TEST_CASE("repeats: a tree of pairs is cut before its text doubles too often", "[fusion]") {
  for (const char* name : {"sm_90", "x86-64-v3"}) {
    const Maker m = tree(1 << 14);
    std::size_t longest = 0;
    int kernels = 0;
    for (const Lowered& l : check_plan(m, graph::fuse(m.g, named_target(name)), named_target(name))) {
      longest = std::max(longest, l.ir.instrs.size());
      ++kernels;
    }
    INFO(name << ": " << kernels << " kernels, the longest of " << longest << " instructions");
    CHECK(longest <= 256);
    CHECK(kernels <= 14);  // levels of the tree
  }
}
