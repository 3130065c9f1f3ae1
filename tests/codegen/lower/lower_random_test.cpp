// lower(): random graphs, fused and not, against loops over their nodes.
#include "graph/fusion/fusion.h"
#include "tests/helpers/random_graph.h"
#include "tests/kernels/lowered.h"

using namespace tarry;
using namespace tarry::test;

namespace {

#ifdef TARRY_SANITIZE_NAME
constexpr int kGraphs = 150;  // instrumented code takes several times as long
#else
constexpr int kGraphs = 600;
#endif

}  // namespace

TEST_CASE("lower: random graphs give what loops over their nodes give, fused or not", "[codegen][lower]") {
  int kernels = 0, rows = 0, guards = 0, scatters = 0, reductions = 0;
  for (int seed = 0; seed < kGraphs; ++seed) {
    Maker m = RandomGraph(static_cast<unsigned>(seed)).m;
    m.g = graph::dce(graph::empty_arrays(m.g));
    INFO("seed " << seed);
    for (const char* name : {"sm_90", "x86-64-v3"}) {
      for (const bool enabled : {true, false}) {
        for (const Lowered& l :
             check_plan(m, graph::fuse(m.g, named_target(name), {.fuses = enabled}), named_target(name))) {
          ++kernels;
          rows += l.ir.is_row();
          guards += !l.ir.guards.empty();
          scatters += l.scatter.has_value();
          reductions += !l.ir.reductions.empty();
        }
      }
    }
  }
  INFO(kernels << " kernels");
  constexpr int kSixth = kGraphs / 6;
  CHECK(rows > kSixth);  // the drawing reaches everything
  CHECK(guards > 4 * kSixth);
  CHECK(scatters > 2 * kSixth);
  CHECK(reductions > rows + 2 * kSixth);
}
