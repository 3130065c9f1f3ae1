// Orbits: two levels in the middle say what a statement's inputs are; as far as that holds it is one statement.
#include "graph/fusion/orbits.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tarry::graph {
namespace {

constexpr std::size_t kMostOrbits = 200;
constexpr int kMostOtherRuns = 4;          ///< of an array, beside the longest
constexpr std::int64_t kMostTurns = 4;     ///< statements that take turns
constexpr std::int64_t kMostLevels = 256;  ///< of an array, to each that an update of its own made

/// Coordinates that cannot move are dropped, so that equal places have equal maps.
Source settled(Source s) {
  for (int d = 0; d < s.shape.size(); ++d)
    if (s.shape[d] == 1 || s.map[d].step == 0 || s.map[d].axis < 0)
      s.map[d] = {-1, s.shape[d] == 1 ? 0 : s.map[d].start, 0};
  return s;
}

bool same_map(const IndexMap& a, const IndexMap& b) {
  return a.size == b.size && std::equal(a.dims.begin(), a.dims.begin() + a.size, b.dims.begin());
}

bool same_place(const Source& a, const Source& b) {
  return a.edge == b.edge && a.shape == b.shape && same_map(a.map, b.map);
}

/// From one place of a value to another; nothing where more than starts differ.
std::optional<Dims> steps_between(const Source& a, const Source& b) {
  if (!(a.edge == b.edge) || !(a.shape == b.shape)) return std::nullopt;
  Dims steps;
  for (int d = 0; d < a.map.size; ++d) {
    if (a.map[d].axis != b.map[d].axis || a.map[d].step != b.map[d].step) return std::nullopt;
    steps.push_back(b.map[d].start - a.map[d].start);
  }
  return steps;
}

/// Every step-th level, from `first` on.
std::vector<Source> every(const std::vector<Source>& levels, std::int64_t first, std::int64_t step) {
  std::vector<Source> some;
  for (std::int64_t k = first; k < static_cast<std::int64_t>(levels.size()); k += step)
    some.push_back(levels[static_cast<std::size_t>(k)]);
  return some;
}

/// True if a value that began at `a` is at `b`, `count` steps on.
bool is_there(const Source& a, const Dims& steps, std::int64_t count, const Source& b) {
  const std::optional<Dims> apart = steps_between(a, b);
  for (int d = 0; apart && d < steps.size(); ++d)
    if ((*apart)[d] != steps[d] * count) return false;
  return apart.has_value();
}

}  // namespace

std::optional<Orbits::Place> Orbits::find(const Source& s) const {
  const auto it = places_.find(s.edge.node);
  if (it == places_.end() || !same_place(all[it->second.orbit][it->second.level], s)) return std::nullopt;
  return it->second;
}

Source Orbits::input(const Source& of, int i) const {
  const GraphNode& n = g_->nodes[of.edge.node];
  const Dims& from = g_->shape(n.inputs[i].node);
  const IndexMap map = compose(broadcast_map(from.span(), g_->shape(of.edge.node).span()), of.map);
  return settled(writes_->resolve(trace(*g_, n.inputs[i], map), lanes_));
}

bool Orbits::is_statement(const Source& s) const {
  return f_->op_class(s.edge.node) == OpClass::Map && is_pure(g_->nodes[s.edge.node].op) &&
         s.shape == g_->shape(s.edge.node);
}

bool Orbits::alike(const Source& a, const Source& b) const {
  const GraphNode &x = g_->nodes[a.edge.node], &y = g_->nodes[b.edge.node];
  return is_statement(b) && x.op == y.op && x.dtype == y.dtype && x.mode == y.mode && x.shape == y.shape &&
         x.payload == y.payload && same_map(a.map, b.map);
}

namespace {

/// How far the numbers of each orbit's levels move.
class Numbering {
 public:
  explicit Numbering(const std::vector<Orbit>& orbits) : later(orbits.size(), 0), orbits_(orbits) {
    for (std::size_t q = 0; q < orbits.size(); ++q)
      for (const OrbitInput& in : orbits[q].inputs)
        if (in.kind == OrbitInput::Kind::Orbit) edges_.push_back({q, in.orbit, in.shift});
  }

  /// No orbit reads a later level of another. False where that cannot be: some go down the levels.
  bool settle() {
    bool moved = true;
    for (std::size_t round = 0; moved; ++round) {
      if (round > orbits_.size()) return false;
      moved = false;
      for (const Edge& e : edges_) {
        if (shift(e) >= 0) continue;
        later[e.reader] = later[e.read] - e.shift;
        moved = true;
      }
    }
    return true;
  }

  /// Then as few values as possible are carried from level to level: an orbit that is read a level later than it may
  /// be moves, with those that it needs at the same level, or that need it there.
  void carry_less() {
    for (int round = 0; round < kRounds; ++round) {
      const std::int64_t before = carried();
      for (std::size_t q = 0; q < orbits_.size(); ++q)
        for (const std::int64_t way : {-1, 1}) move_if_less(q, way);
      if (carried() == before) return;
    }
  }

  std::vector<std::int64_t> later;  // by orbit

 private:
  static constexpr int kRounds = 4;
  struct Edge {
    std::size_t reader, read;
    std::int64_t shift;
  };
  [[nodiscard]] std::int64_t shift(const Edge& e) const { return e.shift + later[e.reader] - later[e.read]; }

  /// Values that a lane hands from level to level.
  [[nodiscard]] std::int64_t carried() const {
    std::vector<std::int64_t> back(orbits_.size(), 0);
    for (const Edge& e : edges_) back[e.read] = std::max(back[e.read], shift(e));
    return std::accumulate(back.begin(), back.end(), std::int64_t{0});
  }

  void move_if_less(std::size_t q, std::int64_t way) {
    std::vector<bool> moves(orbits_.size());
    moves[q] = true;
    for (bool grown = true; grown;) {
      grown = false;
      for (const Edge& e : edges_) {
        const std::size_t first = way < 0 ? e.reader : e.read, then = way < 0 ? e.read : e.reader;
        if (!moves[first] || moves[then] || shift(e) > 0) continue;
        moves[then] = grown = true;
      }
    }
    const std::int64_t before = carried();
    const std::vector<std::int64_t> kept = later;
    for (std::size_t o = 0; o < moves.size(); ++o)
      if (moves[o]) later[o] += way;
    if (carried() >= before) later = kept;
  }

  const std::vector<Orbit>& orbits_;
  std::vector<Edge> edges_;
};

}  // namespace

void Orbits::settle_levels() {
  Numbering numbering(all);
  if (!numbering.settle()) return;
  numbering.carry_less();
  const std::vector<std::int64_t>& later = numbering.later;
  for (std::size_t q = 0; q < all.size(); ++q) {
    Orbit& o = all[q];
    for (std::int64_t* level : {&o.low, &o.from, &o.to}) *level += later[q];
    for (OrbitInput& in : o.inputs) {
      in.level += later[q];
      if (in.kind == OrbitInput::Kind::Orbit) in.shift += later[q] - later[in.orbit];
    }
  }
  for (OfArray& a : of_arrays) a.shift += later[a.orbit];
  for (auto& [node, place] : places_) place.level += later[place.orbit];
}

/// All levels that are known.
std::uint32_t Orbits::make(Orbit orbit) {
  const auto id = static_cast<std::uint32_t>(all.size());
  for (std::size_t k = 0; k < orbit.at.size() && !orbit.copies; ++k)
    if (is_statement(orbit.at[k]))
      places_.try_emplace(orbit.at[k].edge.node, Place{id, orbit.low + static_cast<std::int64_t>(k)});
  orbit.from = orbit.low;
  orbit.to = orbit.low + static_cast<std::int64_t>(orbit.at.size());
  all.push_back(std::move(orbit));
  return id;
}

bool Orbits::settle_from(std::size_t first) {
  for (std::size_t done = first; done < all.size(); ++done)
    if (all.size() > kMostOrbits || !settle(static_cast<std::uint32_t>(done))) return false;
  return true;
}

bool Orbits::add(const Layers& layers) {
  ++arrays_;
  const auto known = std::ranges::find_if(layers.levels, [&](const Source& s) { return find(s).has_value(); });
  if (known != layers.levels.end()) return join(layers, *find(*known), known - layers.levels.begin());
  const Run best = best_run(layers.levels);
  if (2 * best.count() < static_cast<std::int64_t>(layers.levels.size()) && add_in_turns(layers)) return true;
  if (best.count() < kFewestLevels) return false;
  return add_run(layers, best.copies ? best : Run{0, static_cast<std::int64_t>(layers.levels.size()), false});
}

/// Levels of every step-th. Those of one step share a loop.
bool Orbits::add_run(const Layers& layers, const Run& run, std::int64_t first, std::int64_t step) {
  const std::size_t before = all.size();
  Orbit orbit;
  orbit.copies = run.copies;
  orbit.low = run.from;
  for (const OfArray& a : of_arrays)
    if (a.array + 1 == arrays_ && step == 1) ++orbit.run;
  const std::vector<Source> levels = every(layers.levels, first, step);
  orbit.at.assign(levels.begin() + run.from, levels.begin() + run.to);
  of_arrays.push_back({arrays_ - 1, make(std::move(orbit)), 0, first, step});
  return settle_from(before);
}

/// Statements that take turns, each at every second level, or third, and so on.
bool Orbits::add_in_turns(const Layers& layers) {
  const auto count = static_cast<std::int64_t>(layers.levels.size());
  for (std::int64_t step = 2; step <= kMostTurns; ++step) {
    std::vector<Run> runs;
    for (std::int64_t first = 0; first < step; ++first) runs.push_back(best_run(every(layers.levels, first, step)));
    if (!std::ranges::all_of(
            runs, [&](const Run& r) { return r.count() >= kFewestLevels && r.count() * step * 10 >= count * 9; }))
      continue;
    const Orbits before = *this;
    bool there = true;
    for (std::int64_t first = 0; first < step && there; ++first)
      there = add_run(layers, runs[static_cast<std::size_t>(first)], first, step);
    if (there) return true;
    *this = before;
  }
  return false;
}

void Orbits::add_other_runs(const Layers& layers) {
  const auto count = static_cast<std::int64_t>(layers.levels.size());
  for (int more = 0; more < kMostOtherRuns; ++more) {
    std::vector<bool> there(layers.levels.size());
    for (const OfArray& a : of_arrays) {
      if (a.array + 1 != arrays_) continue;
      for (std::int64_t k = all[a.orbit].from; k < all[a.orbit].to; ++k)
        if (a.place(k) >= 0 && a.place(k) < count) there[static_cast<std::size_t>(a.place(k))] = true;
    }
    Run best;
    for (std::int64_t from = 0; from < count; ++from) {
      std::int64_t to = from;
      while (to < count && !there[static_cast<std::size_t>(to)]) ++to;
      if (to - from > best.count()) {
        Run run = best_run(
            std::span(layers.levels).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
        run.from += from;
        run.to += from;
        if (run.count() > best.count()) best = run;
      }
      from = to;
    }
    if (best.count() < kFewestLevels) return;
    Orbits before = *this;
    if (!add_run(layers, best)) {
      *this = std::move(before);
      return;
    }
  }
}

bool Orbits::is_number(const Source& s) const { return f_->op_class(s.edge.node) == OpClass::Scalar; }

/// True if b, the level after a, is a number like a, or `steps` behind it.
bool Orbits::is_copied(const Source& a, const Source& b, const std::optional<Dims>& steps) const {
  if (is_number(a) && is_number(b)) return g_->nodes[a.edge.node].dtype == g_->nodes[b.edge.node].dtype;
  return steps && is_there(a, *steps, 1, b);
}

Orbits::Run Orbits::best_run(std::span<const Source> levels) const {
  Run best;
  const auto count = static_cast<std::int64_t>(levels.size());
  const auto at = [&](std::int64_t k) -> const Source& { return levels[static_cast<std::size_t>(k)]; };
  for (std::int64_t from = 0; from < count;) {
    const bool statement = is_statement(at(from));
    const std::optional<Dims> steps = from + 1 < count ? steps_between(at(from), at(from + 1)) : std::nullopt;
    std::int64_t to = from + 1, copied = from + 1;
    while (statement && to < count && alike(at(from), at(to))) ++to;
    while (copied < count && is_copied(at(copied - 1), at(copied), steps)) ++copied;
    const Run run{from, std::max(to, copied), copied > to};
    if (run.count() > best.count()) best = run;
    from = run.to - (run.copies && run.count() > 2 ? 1 : 0);
  }
  return best;
}

/// Another array of an orbit that is there: more of its levels are known then.
bool Orbits::join(const Layers& layers, const Place& place, std::int64_t level) {
  const std::int64_t shift = place.level - level, count = static_cast<std::int64_t>(layers.levels.size());
  std::int64_t found = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::optional<Place> here = find(layers.levels[static_cast<std::size_t>(k)]);
    if (here && here->orbit == place.orbit && here->level == k + shift) ++found;
  }
  Orbit& orbit = all[place.orbit];
  const std::int64_t low = std::min(orbit.low, shift);
  const std::int64_t high = std::max(orbit.low + static_cast<std::int64_t>(orbit.at.size()), shift + count);
  if (found < kFewestLevels) return false;
  std::vector<Source> at;
  for (std::int64_t q = low; q < high; ++q) {
    const bool in_array = q >= shift && q < shift + count;
    if (!in_array && !orbit.knows(q)) return false;
    const Source& s = in_array ? layers.levels[static_cast<std::size_t>(q - shift)] : orbit[q];
    if (in_array && orbit.knows(q) && !same_place(orbit[q], s)) return false;
    if (is_statement(s)) places_.try_emplace(s.edge.node, Place{place.orbit, q});
    at.push_back(s);
  }
  orbit.low = low;
  orbit.at = std::move(at);
  of_arrays.push_back({arrays_ - 1, place.orbit, shift});
  return true;
}

bool Orbits::settle(std::uint32_t id) {
  if (all[id].copies) return settle_input(id, 0);
  std::int64_t best_from = 0, best_to = 0, from = all[id].from;
  const std::int64_t end = all[id].to;
  for (std::int64_t k = from; k <= end; ++k) {
    const Orbit& o = all[id];
    if (k < end && k > from && alike(o[from], o[k])) continue;
    if (k < end && k == from && is_statement(o[k])) continue;
    if (k - from > best_to - best_from) best_from = from, best_to = k;
    from = k < end && is_statement(o[k]) ? k : k + 1;
  }
  all[id].from = best_from;
  all[id].to = best_to;
  if (best_to - best_from < kFewestLevels) return false;
  const int inputs = g_->nodes[all[id][best_from].edge.node].n_inputs;
  for (int i = 0; i < inputs; ++i)
    if (!settle_input(id, i)) return false;
  return true;
}

bool Orbits::settle_input(std::uint32_t id, int i) {
  const std::int64_t low = all[id].from, high = all[id].to, middle = (low + high) / 2;
  std::vector<Source> read;
  for (std::int64_t k = low; k < high; ++k) read.push_back(all[id].copies ? all[id][k] : input(all[id][k], i));
  const auto at = [&](std::int64_t k) -> const Source& { return read[static_cast<std::size_t>(k - low)]; };
  const Source a = at(middle), b = at(middle + 1);
  OrbitInput in;
  in.at = a;
  in.level = middle;
  std::function<bool(std::int64_t)> holds;
  const auto here = find(a), next = find(b);
  const bool numbers = std::ranges::all_of(read, [&](const Source& s) {
    return is_number(s) && g_->nodes[s.edge.node].dtype == g_->nodes[a.edge.node].dtype;
  });
  if (numbers && !std::ranges::all_of(read, [&](const Source& s) { return same_place(a, s); })) {
    in.kind = OrbitInput::Kind::Number;
    in.level = low;
    for (const Source& s : read) in.numbers.push_back(s.edge);
    holds = [](std::int64_t) { return true; };
  } else if (same_place(a, b)) {
    in.kind = OrbitInput::Kind::Same;
    holds = [&](std::int64_t k) { return same_place(a, at(k)); };
  } else if (const std::optional<Dims> steps = steps_between(a, b)) {
    in.kind = OrbitInput::Kind::Moving;
    in.steps = *steps;
    holds = [&](std::int64_t k) { return is_there(a, in.steps, k - middle, at(k)); };
  } else if (here && next && here->orbit == next->orbit && next->level == here->level + 1) {
    in.kind = OrbitInput::Kind::Orbit;
    in.orbit = here->orbit;
    in.shift = middle - here->level;
    holds = [&](std::int64_t k) {
      const Orbit& o = all[in.orbit];
      return o.knows(k - in.shift) && same_place(o[k - in.shift], at(k));
    };
  } else if (!here && !next && is_statement(a) && alike(a, b)) {
    in.kind = OrbitInput::Kind::Orbit;
    holds = [&](std::int64_t k) { return alike(a, at(k)) && !find(at(k)); };
  } else {
    return false;
  }
  std::int64_t from = middle, to = middle + 1;
  while (from > low && holds(from - 1)) --from;
  while (to < high && holds(to)) ++to;
  if (in.kind == OrbitInput::Kind::Orbit && in.orbit == kNoId) {
    Orbit statement;
    statement.run = all[id].run;
    statement.low = from;
    statement.at.assign(read.begin() + (from - low), read.begin() + (to - low));
    in.orbit = make(std::move(statement));
  }
  all[id].inputs.push_back(std::move(in));
  all[id].from = from;
  all[id].to = to;
  return to - from >= kFewestLevels;
}

// --- Layers ---------------------------------------------------------------------------------------------------------

namespace {

struct Piece {
  GraphEdge edge;
  IndexMap map;  // coordinates of the array -> dimensions of the edge's node
  std::int64_t low, high;
};

/// The dimension that moves along an axis, by steps of 1.
int dimension_along(const IndexMap& map, int axis) {
  for (int d = 0; d < map.size; ++d)
    if (map[d].axis == axis && map[d].step == 1) return d;
  return -1;
}

struct Filled {
  Source source;
  std::int64_t low, high;
};

/// The value of levels low..high-1 of a piece.
void fill(Layers& layers, const Filled& piece) {
  const Source& s = piece.source;
  for (std::int64_t k = piece.low; k < piece.high; ++k) {
    Source at = s;
    for (int d = 0; d < at.map.size; ++d) {
      AxisMap& m = at.map[d];
      if (m.axis == layers.axis) m = {-1, m.start + m.step * k, 0};
      if (m.axis < 0) continue;
      int lane = 0;
      for (int e = 0; e < m.axis; ++e)
        if (e != layers.axis && layers.place[e].axis >= 0) ++lane;
      m.axis = layers.place[m.axis].axis >= 0 ? lane : -1;
    }
    layers.levels[static_cast<std::size_t>(k)] = settled(std::move(at));
  }
}

}  // namespace

IndexMap at_lanes(const Dims& shape) {
  IndexMap map;
  int lane = 0;
  for (const std::int64_t extent : shape) map.push_back(extent == 1 ? AxisMap{-1, 0, 0} : AxisMap{lane++, 0, 1});
  return map;
}

std::optional<Layers> find_layers(const FusionGraph& f, NodeId array) {
  const Graph& g = f.g;
  const Dims& shape = g.shape(array);
  const Dims& box = g.shape(g.nodes[array].inputs[1].node);
  Layers layers;
  layers.array = array;
  for (int d = 0; d < shape.size(); ++d)
    if (box[d] < shape[d]) layers.axis = layers.axis < 0 ? d : shape.size();
  if (layers.axis < 0 || layers.axis == shape.size() || shape[layers.axis] < Orbits::kFewestLevels) return std::nullopt;
  if (g.count(array) == 0) return std::nullopt;
  for (int d = 0; d < shape.size(); ++d) {
    if (d == layers.axis || shape[d] == 1) {
      layers.place.push_back({-1, 0, 0});
    } else {
      layers.place.push_back({layers.lanes.size(), 0, 1});
      layers.lanes.push_back(shape[d]);
    }
  }
  const std::int64_t levels = shape[layers.axis];
  std::vector<Filled> filled;
  std::vector<Piece> open{{{array, 0}, identity_map(shape.size()), 0, levels}};
  for (std::int64_t work = 0; !open.empty(); ++work) {
    if (work > 16 * levels + 64) return std::nullopt;
    const Piece p = open.back();
    open.pop_back();
    const Source s = trace(g, p.edge, p.map);
    const NodeId z = s.edge.node;
    const int along = dimension_along(s.map, layers.axis);
    const bool parts = f.op_class(z) == OpClass::Update && g.updates[g.nodes[z].payload].dense() && along >= 0 &&
                       s.shape == g.shape(z) && (z == array || !f.root(z));
    const Lies at = parts ? lies(g, s, shape, along) : Lies::Across;
    if (at == Lies::Across) {
      filled.push_back({s, p.low, p.high});
      continue;
    }
    if (std::ranges::find(layers.updates, z) == layers.updates.end()) layers.updates.push_back(z);
    const GraphNode& n = g.nodes[z];
    const Dims &start = g.updates[n.payload].start, &extents = g.shape(n.inputs[1].node);
    const std::int64_t first = start[along] - s.map[along].start;
    const std::int64_t low = std::clamp(first, p.low, p.high), high = std::clamp(first + extents[along], p.low, p.high);
    if (at == Lies::Outside || low >= high) {
      open.push_back({n.inputs[0], s.map, p.low, p.high});
      continue;
    }
    IndexMap inside = s.map;
    for (int d = 0; d < inside.size; ++d) inside[d].start -= start[d];
    open.push_back({n.inputs[1], inside, low, high});
    if (p.low < low) open.push_back({n.inputs[0], s.map, p.low, low});
    if (high < p.high) open.push_back({n.inputs[0], s.map, high, p.high});
  }
  const std::int64_t alone = std::ranges::count_if(filled, [](const Filled& p) { return p.high - p.low == 1; });
  if (alone < Orbits::kFewestLevels || levels > kMostLevels * alone) return std::nullopt;
  layers.pieces = static_cast<std::int64_t>(filled.size());
  layers.levels.resize(static_cast<std::size_t>(levels));
  for (const Filled& piece : filled) fill(layers, piece);
  return layers;
}

}  // namespace tarry::graph
