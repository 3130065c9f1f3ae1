// Grids backwards through the graph.
#include "graph/passes/needed.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/overlap.h"

namespace tarry::graph {
namespace {

/// A progression along each axis; none is empty, steps are positive.
using Grid = std::vector<Progression>;

Progression all_of(std::int64_t extent) { return {0, 1, extent}; }
std::int64_t last_of(const Progression& p) { return p.start + (p.count - 1) * p.step; }

Grid whole(const Dims& shape) {
  Grid g;
  for (const std::int64_t extent : shape) g.push_back(all_of(extent));
  return g;
}

std::int64_t count_of(const Grid& g) {
  std::int64_t count = 1;
  for (const Progression& p : g) count *= p.count;
  return count;
}

/// The numbers start + step * i for the i of `p`.
Progression mapped(const Progression& p, std::int64_t start, std::int64_t step) {
  Progression q{start + step * p.start, step * p.step, p.count};
  if (q.step < 0) q = {last_of(q), -q.step, q.count};
  if (q.count == 1) q.step = 1;
  return q;
}

/// The i whose start + step * i are the numbers of `p`, all of which there are.
Progression unmapped(const Progression& p, std::int64_t start, std::int64_t step) {
  const std::int64_t first = step > 0 ? p.start : last_of(p);
  return {(first - start) / step, std::max<std::int64_t>(1, p.step / std::abs(step)), p.count};
}

bool contains(const Grid& outer, const Grid& inner) {
  for (std::size_t d = 0; d < outer.size(); ++d)
    if (!contains(outer[d], inner[d])) return false;
  return true;
}

std::optional<Grid> common(const Grid& a, const Grid& b) {
  Grid both;
  for (std::size_t d = 0; d < a.size(); ++d) {
    both.push_back(intersection(a[d], b[d]));
    if (both.back().count == 0) return {};
  }
  return both;
}

/// Both as one progression, where they are one.
std::optional<Progression> united(Progression a, Progression b) {
  if (contains(a, b)) return a;
  if (contains(b, a)) return b;
  if (a.start > b.start) std::swap(a, b);
  const std::int64_t apart = b.start - a.start;
  if (a.count == 1) a.step = b.count == 1 ? apart : b.step;
  if (b.count == 1) b.step = a.step;
  if (a.step != b.step) return {};
  if (apart % a.step == 0 && b.start <= last_of(a) + a.step)
    return Progression{a.start, a.step, (std::max(last_of(a), last_of(b)) - a.start) / a.step + 1};
  const bool in_turn = 2 * apart == a.step && (a.count == b.count || a.count == b.count + 1);
  if (in_turn) return Progression{a.start, apart, a.count + b.count};
  return {};
}

/// Both as one grid, where they differ along one axis and are one along that.
std::optional<Grid> united(const Grid& a, const Grid& b) {
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (contains(a[d], b[d]) && contains(b[d], a[d])) continue;
    if (axis) return {};
    axis = d;
  }
  if (!axis) return a;
  const std::optional<Progression> both = united(a[*axis], b[*axis]);
  if (!both) return {};
  Grid g = a;
  g[*axis] = *both;
  return g;
}

constexpr std::size_t kMostGrids = 16;  // of a node

/// Elements of grids, counted once: of each those that are in none of the later ones. `work` bounds the search; where
/// it runs out the largest grid stands for all.
std::int64_t count_once(const std::vector<Grid>& grids, int& work) {
  std::int64_t count = 0, largest = 0;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    std::vector<Grid> shared;
    for (std::size_t k = i + 1; k < grids.size(); ++k)
      if (std::optional<Grid> both = common(grids[i], grids[k])) shared.push_back(std::move(*both));
    work -= static_cast<int>(grids.size() - i);
    const std::int64_t all = count_of(grids[i]);
    largest = std::max(largest, all);
    if (work < 0) continue;
    count += all - (shared.empty() ? 0 : count_once(shared, work));
  }
  return work < 0 ? largest : count;
}

/// The part of one value that is needed.
struct Need {
  bool all = false;
  std::vector<Grid> grids;  ///< where not all

  void add(Grid g, const Dims& shape) {
    if (all) return;
    for (std::size_t i = 0; i < grids.size();) {
      if (contains(grids[i], g)) return;
      std::optional<Grid> both = united(grids[i], g);
      if (!both) {
        ++i;
        continue;
      }
      g = std::move(*both);
      grids.erase(grids.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    all = count_of(g) == element_count(shape.span());
    if (all) return grids.clear();
    grids.push_back(std::move(g));
    if (grids.size() <= kMostGrids) return;
    grids.erase(std::min_element(grids.begin(), grids.end(),
                                 [](const Grid& a, const Grid& b) { return count_of(a) < count_of(b); }));
  }
  [[nodiscard]] std::int64_t count(const Dims& shape) const {
    if (all) return element_count(shape.span());
    int work = 4096;
    return count_once(grids, work);
  }
};

/// Numbers of `p` that are not in `hole`, a part of it; of a hole with wide steps only some of what lies between.
std::vector<Progression> without(const Progression& p, const Progression& hole) {
  constexpr std::int64_t kBetween = 3;
  std::vector<Progression> rest;
  const std::int64_t before = (hole.start - p.start) / p.step, after = (last_of(p) - last_of(hole)) / p.step;
  if (before > 0) rest.push_back({p.start, p.step, before});
  if (after > 0) rest.push_back({last_of(hole) + p.step, p.step, after});
  const std::int64_t apart = hole.count == 1 ? 1 : hole.step / p.step;
  for (std::int64_t k = 1; k <= std::min(apart - 1, kBetween); ++k)
    rest.push_back({hole.start + k * p.step, hole.step, hole.count - 1});
  for (Progression& r : rest)
    if (r.count == 1) r.step = 1;
  return rest;
}

/// Grids of what is in `g` and not in `box`, apart from each other.
std::vector<Grid> without(const Grid& g, const Grid& box) {
  const std::optional<Grid> both = common(g, box);
  if (!both) return {g};
  std::vector<Grid> rest;
  for (std::size_t d = 0; d < g.size(); ++d) {
    for (const Progression& p : without(g[d], (*both)[d])) {
      Grid part = g;
      std::copy(both->begin(), both->begin() + static_cast<std::ptrdiff_t>(d), part.begin());
      part[d] = p;
      rest.push_back(std::move(part));
    }
  }
  return rest;
}

/// A reshaped value's grid in the shape that it has before. Not all of one that lies apart in the row-major sequence.
std::vector<Grid> reshaped(const Grid& g, const Dims& from, const Dims& to) {
  Grid long_axes;  // without extents of 1
  Dims longs, target;
  for (int d = 0; d < from.size(); ++d) {
    if (from[d] == 1) continue;
    long_axes.push_back(g[static_cast<std::size_t>(d)]);
    longs.push_back(from[d]);
  }
  for (const std::int64_t extent : to)
    if (extent != 1) target.push_back(extent);
  const auto in_target = [&](const Grid& of_longs) {
    Grid all;
    std::size_t next = 0;
    for (const std::int64_t extent : to) all.push_back(extent == 1 ? all_of(1) : of_longs[next++]);
    return all;
  };
  if (longs == target) return {in_target(long_axes)};
  // A run of the sequence, where all axes behind one are whole and those before it stand still.
  std::int64_t first = 0, count = 1, stride = 1;
  bool run = true, ended = false;
  for (int d = longs.size(); d-- > 0; stride *= longs[d]) {
    const Progression& p = long_axes[static_cast<std::size_t>(d)];
    first += p.start * stride;
    if (!ended) {
      count *= p.count;
      run = run && (p.step == 1 || p.count == 1);
      ended = p.count != longs[d];
    } else {
      run = run && p.count == 1;
    }
  }
  if (!run) count = 1;
  // The run as grids: rows that it begins and ends within, along each axis, and whole ones between.
  std::vector<Grid> grids;
  const Dims strides = row_major_strides(target.span());
  while (count > 0) {
    int d = 0;  // the outermost axis along which the next elements are whole rows
    while (d + 1 < target.size() && (first % strides[d] != 0 || count < strides[d])) ++d;
    Grid part(static_cast<std::size_t>(target.size()));
    std::int64_t rest = first;
    for (int k = 0; k < target.size(); ++k) {
      part[static_cast<std::size_t>(k)] = k > d ? all_of(target[k]) : Progression{rest / strides[k], 1, 1};
      rest %= strides[k];
    }
    Progression& rows = part[static_cast<std::size_t>(d)];
    rows.count = std::min(count / strides[d], target[d] - rows.start);
    first += rows.count * strides[d];
    count -= rows.count * strides[d];
    grids.push_back(in_target(part));
  }
  return grids;
}

class Tracer {
 public:
  explicit Tracer(const Graph& g) : g_(g), needs_(g.nodes.size()), base_(g.nodes.size()), goes_on_(g.nodes.size()) {
    for (NodeId id = 0; id < g.nodes.size(); ++id) {
      const GraphNode& n = g.nodes[id];
      base_[id] = n.op == Op::Update ? base_[n.inputs[0].node] : id;
      const bool in_base = n.op == Op::Update || n.op == Op::Reshape || is_scatter(n.op);
      goes_on_[id] = n.op == Op::Input ? g.leaves[n.payload].donated : in_base && goes_on_[n.inputs[0].node];
    }
  }

  LeastWork run(std::span<const GraphEdge> outputs) {
    std::int64_t bytes = 0;
    double operations = 0;
    for (const GraphEdge& e : outputs) bytes += ask(e);
    for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      const Need& need = needs_[id];
      if (g_.nodes[id].op == Op::Input || (!need.all && need.grids.empty())) continue;
      operations += operations_of(id);
      for (int i = 0; i < g_.nodes[id].n_inputs; ++i) pass_on(id, i);
    }
    std::map<std::uint32_t, std::int64_t> leaves;  // a leaf may be there under several shapes
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (g_.nodes[id].op == Op::Input)
        leaves[g_.nodes[id].payload] = std::max(leaves[g_.nodes[id].payload], read_of(id));
    for (const auto& [leaf, read] : leaves) bytes += read;
    return {bytes, static_cast<std::int64_t>(std::min(operations, 0x1p62))};
  }

 private:
  [[nodiscard]] std::int64_t size_of(NodeId id) const {
    return static_cast<std::int64_t>(itemsize(g_.nodes[id].dtype));
  }

  [[nodiscard]] double operations_of(NodeId id) const {
    const GraphNode& n = g_.nodes[id];
    const auto elements = static_cast<double>(needs_[id].count(g_.shape(id)));
    switch (info(n.op).op_class) {
      case OpClass::Map:
      case OpClass::Gather:
      case OpClass::Scan: return elements;
      case OpClass::Reduce:
        return elements * static_cast<double>(g_.shape(n.inputs[0].node)[g_.reduces[n.payload].axis]);
      case OpClass::Library: return elements * 2 * static_cast<double>(g_.shape(n.inputs[0].node)[2]);
      case OpClass::Routine: {
        const Dims& source = g_.shape(n.inputs[0].node);
        const double each = is_matrices(n.op) ? static_cast<double>(source[2]) : 1;  // of the cube of an extent
        return each * static_cast<double>(g_.count(n.inputs[0].node));
      }
      default: return 0;
    }
  }

  /// The bytes of an output that have to be written. Of one that may go on in a leaf's memory: what its updates change.
  std::int64_t ask(const GraphEdge& e) {
    if (g_.count(e.node) == 0) return 0;
    Need& need = needs_[e.node];
    const bool in_place = base_[e.node] != e.node && goes_on_[base_[e.node]];
    if (is_scatter(g_.nodes[e.node].op) && goes_on_[e.node]) {  // all rows may go to one place
      need = {true, {}};
      return g_.shape(e.node)[1] * size_of(e.node);
    }
    if (!in_place) {
      need = {true, {}};
      return g_.bytes(e.node);
    }
    constexpr int kMostUpdates = 64;  // what fewer of them change is a bound too
    Need changed;
    NodeId at = e.node;
    for (int k = 0; k < kMostUpdates && at != base_[e.node]; ++k, at = g_.nodes[at].inputs[0].node)
      if (g_.count(g_.nodes[at].inputs[1].node) > 0) changed.add(box_of(at), g_.shape(e.node));
    if (changed.all) need = changed;
    for (const Grid& grid : changed.grids) need.add(grid, g_.shape(e.node));
    return changed.count(g_.shape(e.node)) * size_of(e.node);
  }

  /// Where an update puts its value.
  [[nodiscard]] Grid box_of(NodeId update) const {
    const UpdateAttributes& u = g_.updates[g_.nodes[update].payload];
    const Dims& value = g_.shape(g_.nodes[update].inputs[1].node);
    Grid box;
    for (int d = 0; d < value.size(); ++d) box.push_back(mapped(all_of(value[d]), u.start[d], u.step[d]));
    return box;
  }

  /// Distinct elements of a leaf's memory: an axis without a stride repeats them.
  [[nodiscard]] std::int64_t read_of(NodeId id) const {
    const Dims& shape = g_.shape(id);
    const LeafLayout& layout = g_.leaves[g_.nodes[id].payload];
    Need need = needs_[id];
    if (layout.contiguous || layout.strides.size() != shape.size()) return need.count(shape) * size_of(id);
    if (need.all) need.grids = {whole(shape)};
    Need once;
    for (Grid& grid : need.grids) {
      for (int d = 0; d < shape.size(); ++d)
        if (layout.strides[d] == 0) grid[static_cast<std::size_t>(d)] = {0, 1, 1};
      once.add(std::move(grid), shape);
    }
    return once.count(shape) * size_of(id);
  }

  /// False if a value is known to be the same all along an axis, since what it is made of lies in memory once.
  [[nodiscard]] bool varies(NodeId value, int axis) const {
    struct At {
      NodeId id;
      int axis;
    };
    std::vector<At> open{{value, axis}};
    constexpr std::size_t kMostLooked = 64;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto [id, along] = open[i];
      const GraphNode& n = g_.nodes[id];
      const Dims& shape = g_.shape(id);
      if (along < 0 || shape[along] == 1 || n.op == Op::Scalar) continue;
      if (i == kMostLooked) return true;
      switch (info(n.op).op_class) {
        case OpClass::Leaf: {
          const LeafLayout& layout = g_.leaves[n.payload];
          if (layout.contiguous || layout.strides.size() != shape.size() || layout.strides[along] != 0) return true;
          break;
        }
        case OpClass::Map:
          for (int k = 0; k < n.n_inputs; ++k) {
            const NodeId from = n.inputs[k].node;
            open.push_back({from, along - shape.size() + g_.shape(from).size()});
          }
          break;
        case OpClass::View: {
          const IndexMap& map = g_.views[n.payload];
          for (int d = 0; d < map.size; ++d)
            if (map[d].axis == along && map[d].step != 0) open.push_back({n.inputs[0].node, d});
          break;
        }
        default: return true;
      }
    }
    return false;
  }

  void need(NodeId id, Grid grid) {
    if (g_.count(id) > 0) needs_[id].add(std::move(grid), g_.shape(id));
  }
  void need_all(NodeId id) {
    if (g_.count(id) > 0) needs_[id] = {true, {}};
  }

  void pass_on(NodeId id, int input) {
    const NodeId from = g_.nodes[id].inputs[input].node;
    if (needs_[from].all || g_.nodes[from].op == Op::Scalar) return;
    const OpClass c = info(g_.nodes[id].op).op_class;
    if (is_scatter(g_.nodes[id].op) && input == 0 && goes_on_[id]) return;  // who reads the result reads that memory
    const bool keeps = c == OpClass::View || (c == OpClass::Update && input == 0);  // some elements are not passed on
    if (needs_[id].all && !keeps && c != OpClass::Gather) return need_all(from);
    const std::vector<Grid> all = needs_[id].all ? std::vector<Grid>{whole(g_.shape(id))} : needs_[id].grids;
    for (const Grid& grid : all) pass_on(id, input, from, grid);
  }

  void pass_on(NodeId id, int input, NodeId from, const Grid& grid) {
    const GraphNode& n = g_.nodes[id];
    const Dims& source = g_.shape(from);
    Grid needed = whole(source);
    switch (info(n.op).op_class) {
      case OpClass::Map:
        for (int d = 0, lead = static_cast<int>(grid.size()) - source.size(); d < source.size(); ++d)
          if (source[d] != 1) needed[static_cast<std::size_t>(d)] = grid[static_cast<std::size_t>(d + lead)];
        return need(from, std::move(needed));
      case OpClass::View: return need(from, viewed(g_.views[n.payload], grid, source));
      case OpClass::Reshape:
        for (Grid& part : reshaped(grid, g_.shape(id), source)) need(from, std::move(part));
        return;
      case OpClass::Update:
        if (input == 0) {
          if (g_.count(n.inputs[1].node) == 0) return need(from, grid);
          for (Grid& part : without(grid, box_of(id))) need(from, std::move(part));
        } else if (const std::optional<Grid> there = common(grid, box_of(id))) {
          const UpdateAttributes& u = g_.updates[n.payload];
          for (int d = 0; d < source.size(); ++d)
            needed[static_cast<std::size_t>(d)] =
                unmapped((*there)[static_cast<std::size_t>(d)], u.start[d], u.step[d]);
          need(from, std::move(needed));
        }
        return;
      case OpClass::Reduce: {
        const int axis = g_.reduces[n.payload].axis;
        for (int d = 0; d < static_cast<int>(grid.size()); ++d)
          needed[static_cast<std::size_t>(d < axis ? d : d + 1)] = grid[static_cast<std::size_t>(d)];
        return need(from, std::move(needed));
      }
      case OpClass::Scan: {  // element k depends on elements 0..k
        const auto axis = static_cast<std::size_t>(g_.reduces[n.payload].axis);
        needed = grid;
        needed[axis] = all_of(last_of(grid[axis]) + 1);
        return need(from, std::move(needed));
      }
      case OpClass::Gather:  // as many elements as there are indices, as if no two that are stored apart were equal
        needed = grid;
        if (input == 1 && g_.shape(n.inputs[0].node)[static_cast<int>(n.payload)] == 1 &&
            g_.nodes[from].op != Op::Index)
          return;  // there is one place, and nobody checks
        if (input == 0) {
          const auto axis = static_cast<std::size_t>(n.payload);
          const std::int64_t indices = varies(n.inputs[1].node, static_cast<int>(axis)) ? grid[axis].count : 1;
          needed[axis] = all_of(std::min(source[static_cast<int>(axis)], indices));
        }
        return need(from, std::move(needed));
      case OpClass::Library:  // (p, m, k) by (q, k, n)
        if (source[0] != 1) needed[0] = grid[0];
        needed[input == 0 ? 1 : 2] = grid[input == 0 ? 1 : 2];
        return need(from, std::move(needed));
      case OpClass::Routine:  // rows as a whole
        if (is_matrices(n.op)) {
          needed = whole(source);
          needed[0] = grid[0];
          return need(from, std::move(needed));
        }
        if (!is_sort(n.op)) return need_all(from);
        needed = grid;
        needed.back() = all_of(source[source.size() - 1]);
        return need(from, std::move(needed));
      case OpClass::Loop: return need_all(from);
      default: return;
    }
  }

  /// The box that a view reads. For a diagonal, along which several axes move together, the first element alone.
  [[nodiscard]] static Grid viewed(const IndexMap& map, const Grid& grid, const Dims& source) {
    const auto moves = [&](int d) { return map[d].axis >= 0 && map[d].step != 0; };
    Grid needed;
    for (int d = 0; d < source.size(); ++d) {
      const AxisMap& m = map[d];
      if (!moves(d)) {
        needed.push_back({m.start, 1, 1});
        continue;
      }
      Progression p = grid[static_cast<std::size_t>(m.axis)];
      for (int k = 0; k < source.size(); ++k)
        if (k != d && moves(k) && map[k].axis == m.axis) p.count = 1;
      needed.push_back(mapped(p, m.start, m.step));
    }
    return needed;
  }

  const Graph& g_;
  std::vector<Need> needs_;
  std::vector<NodeId> base_;   ///< what updates change, below all of them
  std::vector<bool> goes_on_;  ///< its memory may be that of a leaf that dies
};

}  // namespace

LeastWork least_work(const Graph& g, std::span<const GraphEdge> outputs) { return Tracer(g).run(outputs); }

}  // namespace tarry::graph
