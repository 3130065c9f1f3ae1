// find_levels(): arrays made of levels whose statements repeat, chains of states, and which of them share a kernel.
#include <algorithm>
#include <optional>

#include "graph/fusion/levels.h"
#include "graph/fusion/orbits.h"

namespace tarry::graph {
namespace {

constexpr int kMostTried = 32;  ///< arrays that are looked at for one kernel

/// A kernel takes arrays that read one of its own, and loops over the levels of other runs too; or neither.
enum class Effort : std::uint8_t { AllRuns, Meeting, Alone };

struct Recurrence {
  Orbits orbits;
  std::vector<Layers> arrays;
  std::vector<std::size_t> members;
};

/// Array number `first` and those after it that are the same statements, or read one of them. Nothing where its levels
/// do not repeat.
std::optional<Recurrence> recurrence_of(const FusionGraph& f, const Writes& writes, const std::vector<Layers>& found,
                                        const std::vector<bool>& used, std::size_t first, Effort effort) {
  Recurrence r{Orbits(f, writes, found[first].lanes), {}, {}};
  int tried = 0;
  for (std::size_t k = first; k < found.size() && tried <= kMostTried; ++k) {
    if (used[k] || !(found[k].lanes == found[first].lanes)) continue;
    const bool same =
        std::ranges::any_of(found[k].levels, [&](const Source& s) { return r.orbits.find(s).has_value(); });
    if (k != first && !same && effort == Effort::Alone) continue;
    ++tried;
    Orbits more = r.orbits;
    if (!more.add(found[k])) {
      if (k == first) return std::nullopt;
      continue;
    }
    const std::size_t before = r.orbits.all.size();
    const bool meets =
        std::any_of(more.all.begin() + static_cast<std::ptrdiff_t>(before), more.all.end(), [&](const Orbit& o) {
          return std::ranges::any_of(
              o.inputs, [&](const OrbitInput& in) { return in.kind == OrbitInput::Kind::Orbit && in.orbit < before; });
        });
    if (k != first && !same && !meets) continue;
    if (effort == Effort::AllRuns) more.add_other_runs(found[k]);
    r.orbits = std::move(more);
    r.arrays.push_back(found[k]);
    r.members.push_back(k);
  }
  r.orbits.settle_levels();
  return r;
}

/// Dense updates that no other update goes on from.
std::vector<NodeId> last_updates(const FusionGraph& f) {
  std::vector<bool> goes_on(f.g.nodes.size());
  for (const GraphNode& n : f.g.nodes)
    if (n.op == Op::Update) goes_on[n.inputs[0].node] = true;
  std::vector<NodeId> found;
  for (NodeId id = static_cast<NodeId>(f.g.nodes.size()); id-- > 0;)
    if (f.op_class(id) == OpClass::Update && !goes_on[id] && f.g.updates[f.g.nodes[id].payload].dense())
      found.push_back(id);
  return found;
}

/// Arrays made of levels, each but for those that are only parts of another one.
std::vector<Layers> find_arrays(const FusionGraph& f) {
  const std::size_t n = f.g.nodes.size();
  std::vector<int> reads(n);
  for (const GraphNode& node : f.g.nodes)
    for (int i = 0; i < node.n_inputs; ++i) ++reads[node.inputs[i].node];
  std::vector<bool> is_part(n), gone_through(n);
  std::vector<Layers> arrays;
  for (const NodeId id : last_updates(f)) {
    std::optional<Layers> layers = is_part[id] ? std::nullopt : find_layers(f, id);
    if (!layers) continue;
    for (const NodeId u : layers->updates) {
      if (gone_through[u]) continue;  // arrays may begin with the same updates
      gone_through[u] = true;
      for (int i = 0; i < f.g.nodes[u].n_inputs; ++i) {
        const NodeId from = f.g.nodes[u].inputs[i].node;
        if (--reads[from] == 0) is_part[from] = !f.root(from);
      }
    }
    arrays.push_back(std::move(*layers));
  }
  return arrays;
}

/// Words of 32 bits that a lane hands from level to level, of the loop that hands on most.
int carried_words(const FusionGraph& f, const Levels& kernel) {
  std::vector<int> words(kernel.loops.size() + 1);
  for (const Levels::Value& v : kernel.values)
    if (v.kind == Levels::Kind::Carried && kernel.values[v.args[1]].kind == Levels::Kind::Compute)
      words[v.loop] += itemsize(f.g.nodes[kernel.values[v.args[1]].edge.node].dtype) == 8 ? 2 : 1;
  return *std::ranges::max_element(words);
}

/// True if a lane holds what it hands on, parameters the numbers, and it is worth a loop.
bool fits(const FusionGraph& f, const Levels& kernel, const Limits& limits, std::size_t fewest) {
  return kernel.kept_bytes() <= limits.kept && kernel.number_count() <= limits.numbers &&
         (limits.live == 0 || carried_words(f, kernel) <= limits.live) && kernel.nodes.size() >= fewest;
}

/// Adds the kernels of the arrays or chains that were found, of `fewest` nodes and more, to `kernels`, and their nodes
/// to those that are taken.
void add_kernels(const FusionGraph& f, const Writes& writes, const Limits& limits, std::size_t fewest,
                 const std::vector<Layers>& found, std::vector<bool>& taken,
                 std::vector<std::shared_ptr<const Levels>>& kernels) {
  std::vector<bool> used(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (used[i]) continue;
    for (const Effort effort : {Effort::AllRuns, Effort::Meeting, Effort::Alone}) {
      if (effort == Effort::AllRuns && found[i].array == kNoId) continue;  // a chain stores nothing
      const std::optional<Recurrence> r = recurrence_of(f, writes, found, used, i, effort);
      if (!r) break;
      std::shared_ptr<const Levels> kernel = make_levels(f, limits, r->orbits, r->arrays);
      if (!kernel || !fits(f, *kernel, limits, fewest)) continue;
      if (std::ranges::any_of(kernel->nodes, [&](NodeId id) { return taken[id]; })) continue;
      for (const NodeId id : kernel->nodes) taken[id] = true;
      for (const std::size_t k : r->members) used[k] = true;
      kernels.push_back(std::move(kernel));
      break;
    }
  }
}

}  // namespace

std::vector<std::shared_ptr<const Levels>> find_levels(const FusionGraph& f, const Limits& limits,
                                                       std::vector<bool> taken) {
  std::vector<std::shared_ptr<const Levels>> kernels;
  if (limits.levels == 0) return kernels;
  std::optional<Writes> writes;
  const auto add = [&](const std::vector<Layers>& found, std::size_t fewest) {
    if (found.empty()) return;
    if (!writes) writes.emplace(f.g);
    add_kernels(f, *writes, limits, fewest, found, taken, kernels);
  };
  add(find_arrays(f), 0);
  if (f.g.nodes.size() >= limits.chained) add(find_chains(f, taken), limits.chained);
  return kernels;
}

}  // namespace tarry::graph
