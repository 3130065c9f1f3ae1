// How good fusions are: seeded graphs, the time a fusion takes by its kernels' IR, and other ways to find one.
//
// The generator: values over a space of one or two extents out of {1, 7, 4096, 10^6}, their rows and columns. Each node
// is a pointwise op of up to two earlier values (with a bias towards recent ones, so that chains and diamonds occur), a
// reduction (its result sometimes kept as a row, for normalisations), or a view: a slice, a flip, a transposition.
// Graphs without a reduction, a broadcast or view, or a value with several readers are thrown away. Roots are the
// values that nobody reads, sometimes one more. About a third of such graphs ask no question, because fusing everything
// legal or nothing at all is best. Every tenth seed gives whatever comes; the others give the first graph of which that
// is not true. What the scheduler does with a graph plays no part in the choice.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "graph/fusion/fusion.h"
#include "graph/fusion/refine.h"

namespace tarry::test {

/// A graph of at most `nodes` nodes beside leaves and scalars; equal seeds give equal graphs.
graph::Graph quality_graph(std::uint64_t seed, int nodes);

enum class Growth { Chain, Tree, Ladder, Random };
/// Pointwise ops over one space, as many as asked for.
graph::Graph grown_graph(Growth kind, int nodes);

struct Measured {
  double seconds = 0;  ///< the objective: traffic, launches, statements and what is computed more than once
  std::int64_t launches = 0;
};
/// One that fusing everything legal or nothing does not solve, but for every tenth seed.
graph::Graph quality_case(std::uint64_t seed, int nodes, const graph::Target& target);

/// From the KernelIr of every group: its loads, stores and instructions.
Measured measure(const graph::Graph& g, const graph::Fusion& fusion, const graph::Target& target);

/// State of a search; one object because its parts refer to each other.
struct Search {
  Search(const graph::Graph& graph, const graph::Target& target);
  const graph::Graph& g;
  const graph::Target& target;
  graph::Limits limits;
  graph::CostModel cost;
  graph::FusionGraph f;
  graph::KernelModel model;
  graph::Fusion unfused;
  graph::Partition fresh() { return {f, model, unfused, limits}; }
  [[nodiscard]] std::vector<graph::NodeId> scheduled_nodes() const;
};

/// Every edge in order, wherever the kernels of its ends may merge.
graph::Fusion fuse_all_legal(Search& s);
/// The best of all assignments of nodes to kernels or to none, and of all choices between loading and repeating.
graph::Fusion exhaustive(Search& s);
/// True if the better of everything legal and nothing takes no longer than `least`.
bool is_easy(Search& s, double least);
/// A merge, a node moved, stored or not, a load or a computation instead of the other; settle() comes next. False:
/// none.
bool begin_random_move(Search& s, graph::Partition& p, const std::vector<graph::NodeId>& nodes,
                       std::mt19937_64& random);
/// Simulated annealing over the moves of a Partition, from no fusion at all: for so many moves, which give the same on
/// every machine, or for so many seconds where `moves` is 0.
graph::Fusion anneal(Search& s, std::uint64_t moves, double seconds, std::uint64_t seed);

}  // namespace tarry::test
