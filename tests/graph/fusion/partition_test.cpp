// Partition: whatever moves are made and taken back, it knows of each kernel what the model says.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/graph/fusion/quality.h"
#include "tests/helpers/random_graph.h"
#include "tests/kernels/lowered.h"

using namespace tarry;
using namespace tarry::test;
using graph::Computed;
using graph::GraphEdge;
using graph::KernelCost;
using graph::KernelId;
using graph::KernelModel;
using graph::kNoId;
using graph::NodeId;
using graph::Partition;

namespace {

#ifdef TARRY_SANITIZE_NAME
constexpr unsigned kGraphs = 40;  // instrumented code takes several times as long
#else
constexpr unsigned kGraphs = 200;
#endif

std::vector<std::size_t> slots(const std::vector<GraphEdge>& edges) {
  std::vector<std::size_t> s;
  for (const GraphEdge& e : edges) s.push_back(KernelModel::slot(e));
  std::sort(s.begin(), s.end());
  return s;
}

struct Seen {
  int kernels = 0, repeated = 0, scattered_and_read = 0;
};

/// Compares everything with a model that has seen nothing before.
void check(test::Search& s, const Partition& p, Seen& seen) {
  std::vector<KernelId> kernel_of;
  for (NodeId v = 0; v < s.g.nodes.size(); ++v) kernel_of.push_back(p.kernel_of(v));
  std::vector<std::uint32_t> readers(2 * s.g.nodes.size());
  std::map<NodeId, std::multiset<KernelId>> loaded_by, repeated_by;
  for (KernelId k = 0; k < p.kernel_count(); ++k) {
    for (const GraphEdge& l : p.loads(k)) {
      REQUIRE(kernel_of[l.node] != kNoId);
      ++readers[KernelModel::slot(l)];
      loaded_by[l.node].insert(k);
    }
    for (NodeId v : p.repeated(k)) repeated_by[v].insert(k);
  }
  KernelModel model(s.f, s.cost, s.limits);
  double seconds = 0;
  for (KernelId k = 0; k < p.kernel_count(); ++k) {
    if (p.kernel(k).members.empty()) continue;
    ++seen.kernels;
    const KernelCost cost = model.evaluate(k, p.kernel(k), kernel_of, readers);
    REQUIRE(cost.legal);
    CHECK(cost.seconds == p.seconds(k));
    const std::vector<std::size_t> loads = slots(p.loads(k));
    CHECK(loads == slots(cost.loads));
    CHECK(std::adjacent_find(loads.begin(), loads.end()) == loads.end());
    std::set<NodeId> repeated;
    for (const Computed& c : model.computed())
      if (kernel_of[c.node] != k) repeated.insert(c.node);
    CHECK(std::set<NodeId>(p.repeated(k).begin(), p.repeated(k).end()) == repeated);
    CHECK(repeated.size() == p.repeated(k).size());
    seen.repeated += static_cast<int>(repeated.size());
    seconds += cost.seconds;
    for (NodeId m : p.kernel(k).members) {
      CHECK(kernel_of[m] == k);
      if (!s.f.scatter(m)) continue;
      const NodeId base = s.g.nodes[m].inputs[0].node;
      for (const Computed& c : model.computed())
        for (int i = 0; i < s.g.nodes[c.node].n_inputs; ++i)
          seen.scattered_and_read += kernel_of[base] != kNoId && s.f.source(c.node, i).edge.node == base;
    }
  }
  CHECK(p.seconds() == Approx(seconds));
  for (NodeId v = 0; v < s.g.nodes.size(); ++v) {
    CHECK(std::multiset<KernelId>(p.loaded_by(v).begin(), p.loaded_by(v).end()) == loaded_by[v]);
    CHECK(std::multiset<KernelId>(p.repeated_by(v).begin(), p.repeated_by(v).end()) == repeated_by[v]);
  }
}

}  // namespace

TEST_CASE("partition: after any moves, kept or taken back, it knows what the model says", "[graph][fusion]") {
  Seen seen;
  int kept = 0, undone = 0, groups = 0;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    const graph::Graph g = graph::dce(graph::empty_arrays(test::RandomGraph(seed, 8, 40).m.g));
    INFO("seed " << seed);
    test::Search s(g, named_target(seed % 2 == 0 ? "sm_90" : "x86-64-v3"));
    Partition p = s.fresh();
    REQUIRE(p.usable());
    const std::vector<NodeId> nodes = s.scheduled_nodes();
    if (nodes.empty()) continue;
    std::mt19937_64 random(seed);
    bool grouped = false;
    for (int move = 0; move < 120; ++move) {
      if (!grouped && random() % 12 == 0) {
        p.begin_group();
        grouped = true;
        ++groups;
      }
      if (test::begin_random_move(s, p, nodes, random)) {
        const bool legal = p.settle(static_cast<int>(random() % 2));
        if (legal && random() % 4 != 0) {
          p.keep();
          ++kept;
        } else {
          p.undo();
          ++undone;
        }
      }
      if (grouped && random() % 8 == 0) {
        if (random() % 2 == 0)
          p.keep_group();
        else
          p.undo_group();
        grouped = false;
      }
      if (move % 10 == 9) check(s, p, seen);
    }
  }
  CHECK(kept > 20 * static_cast<int>(kGraphs));  // the moves reach everything
  CHECK(undone > 10 * static_cast<int>(kGraphs));
  CHECK(groups > static_cast<int>(kGraphs));
  CHECK(seen.kernels > 20 * static_cast<int>(kGraphs));
  CHECK(seen.repeated > static_cast<int>(kGraphs));
  CHECK(seen.scattered_and_read > 0);
}
