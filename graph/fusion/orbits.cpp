// Orbits: two levels in the middle say what a statement's inputs are; as far as that holds it is one statement.
#include "graph/fusion/orbits.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tarry::graph {
namespace {

constexpr std::size_t kMostOrbits = 200;
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

std::uint32_t Orbits::make(std::int64_t low, std::vector<Source> at) {
  const auto id = static_cast<std::uint32_t>(all.size());
  for (std::size_t k = 0; k < at.size(); ++k)
    if (is_statement(at[k])) places_.try_emplace(at[k].edge.node, Place{id, low + static_cast<std::int64_t>(k)});
  Orbit orbit;
  orbit.low = orbit.from = low;
  orbit.to = low + static_cast<std::int64_t>(at.size());
  orbit.at = std::move(at);
  all.push_back(std::move(orbit));
  return id;
}

bool Orbits::add(const Layers& layers) {
  const auto known = std::ranges::find_if(layers.levels, [&](const Source& s) { return find(s).has_value(); });
  if (known != layers.levels.end()) return join(layers, *find(*known), known - layers.levels.begin());
  std::size_t done = all.size();
  of_arrays.push_back({make(0, layers.levels), 0});
  for (; done < all.size(); ++done)
    if (all.size() > kMostOrbits || !settle(static_cast<std::uint32_t>(done))) return false;
  return true;
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
  of_arrays.push_back({place.orbit, shift});
  return true;
}

bool Orbits::settle(std::uint32_t id) {
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
  for (std::int64_t k = low; k < high; ++k) read.push_back(input(all[id][k], i));
  const auto at = [&](std::int64_t k) -> const Source& { return read[static_cast<std::size_t>(k - low)]; };
  const Source a = at(middle), b = at(middle + 1);
  OrbitInput in;
  in.at = a;
  in.level = middle;
  std::function<bool(std::int64_t)> holds;
  const auto here = find(a), next = find(b);
  const auto is_number = [&](const Source& s) {
    return f_->op_class(s.edge.node) == OpClass::Scalar && g_->nodes[s.edge.node].dtype == g_->nodes[a.edge.node].dtype;
  };
  const bool numbers = is_number(a) && std::ranges::all_of(read, is_number);
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
  if (in.kind == OrbitInput::Kind::Orbit && in.orbit == kNoId)
    in.orbit = make(from, std::vector<Source>(read.begin() + (from - low), read.begin() + (to - low)));
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
    if (work > 4 * levels + 64) return std::nullopt;
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
  layers.levels.resize(static_cast<std::size_t>(levels));
  for (const Filled& piece : filled) fill(layers, piece);
  return layers;
}

}  // namespace tarry::graph
