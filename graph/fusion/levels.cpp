// make_levels(): the loops that compute arrays of levels whose statements repeat.
#include "graph/fusion/levels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/fusion/loop_plan.h"
#include "graph/fusion/orbits.h"

namespace tarry::graph {
namespace {

using Kind = Levels::Kind;

constexpr std::size_t kMostOutputs = 8;
constexpr std::size_t kMostOnce = 256;  ///< nodes that a lane computes once

class KernelMaker {
 public:
  KernelMaker(const FusionGraph& f, const Limits& limits, const Orbits& orbits, const std::vector<Layers>& arrays)
      : f_(f), g_(f.g), limits_(limits), orbits_(orbits), arrays_(arrays), plan_(orbits.all) {}

  std::shared_ptr<const Levels> make() {
    if (!plan_.find() || !(plan_.carries || are_many())) return nullptr;
    out_.lanes = arrays_.front().lanes;
    find_nodes();
    if (!find_outputs()) return nullptr;
    for (std::size_t l = 0; l < plan_.ways.size() && ok_; ++l) loop(static_cast<int>(l));
    if (ok_) end();
    if (!ok_ || !is_apart()) return nullptr;
    collect();
    return std::make_shared<const Levels>(std::move(out_));
  }

 private:
  /// True for more boxes than a point of a map has slots for: each of its points would look for its own.
  [[nodiscard]] bool are_many() const {
    const Layers& a = arrays_.front();
    if (a.array == kNoId) return false;
    const auto bytes = static_cast<double>(itemsize(g_.nodes[a.array].dtype)) * static_cast<double>(a.pieces);
    return a.axis + 1 == g_.shape(a.array).size() ? a.pieces > limits_.slots : bytes > SlotLimits::first_bytes;
  }

  [[nodiscard]] int loops() const { return static_cast<int>(plan_.ways.size()); }
  [[nodiscard]] std::int64_t count(int l) const { return plan_.high[at(l)] - plan_.low[at(l)]; }
  static std::size_t at(int l) { return static_cast<std::size_t>(l); }
  /// The level at step 0 of a loop.
  [[nodiscard]] std::int64_t first(int l) const {
    return plan_.ways[at(l)] > 0 ? plan_.low[at(l)] : plan_.high[at(l)] - 1;
  }
  [[nodiscard]] bool in_loop(const Orbits::Place& p) const {
    const int l = plan_.loop_of[p.orbit];
    return p.level >= plan_.low[at(l)] && p.level < plan_.high[at(l)];
  }

  // --- Nodes --------------------------------------------------------------------------------------------------------

  /// Statements of the loops and the updates that take them; all that depends on them.
  void find_nodes() {
    own_.assign(g_.nodes.size(), false);
    for (std::uint32_t q = 0; q < orbits_.all.size(); ++q)
      for (std::int64_t k = plan_.low[at(plan_.loop_of[q])];
           !orbits_.all[q].copies && k < plan_.high[at(plan_.loop_of[q])]; ++k)
        own_[orbits_.all[q][k].edge.node] = true;
    for (const Layers& a : arrays_) {
      for (const NodeId u : a.updates) own_[u] = true;
      if (a.array == kNoId) own_[a.levels.back().edge.node] = true;
    }
    depends_ = own_;
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      for (int i = 0; i < g_.nodes[id].n_inputs; ++i)
        if (depends_[g_.nodes[id].inputs[i].node]) depends_[id] = true;
    if (arrays_.front().array == kNoId) take_followers();
  }

  /// Operations at the lanes of last states and of what does not depend on the kernel, which end in results that are
  /// asked for: they are computed behind the loops.
  void take_followers() {
    std::vector<bool> ends(g_.nodes.size(), true);  // read by nobody else
    const auto follows = [&](NodeId id) {
      return depends_[id] && !own_[id] && ends[id] && f_.op_class(id) == OpClass::Map && is_pure(g_.nodes[id].op) &&
             g_.nodes[id].mode == mode() && squeeze(g_.shape(id)) == out_.lanes;
    };
    for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;)
      for (int i = 0; i < g_.nodes[id].n_inputs && !follows(id); ++i) ends[g_.nodes[id].inputs[i].node] = false;
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      const GraphNode& n = g_.nodes[id];
      own_[id] = own_[id] || (follows(id) && std::all_of(n.inputs, n.inputs + n.n_inputs, [&](const GraphEdge& e) {
                                return own_[e.node] || !depends_[e.node];
                              }));
    }
  }

  /// The kernel's nodes that the rest of the graph reads: all from the roots on that is not the kernel's own. Nodes
  /// that only it reads become its own where they are computed once for a lane.
  bool find_outputs() {
    std::vector<bool> wanted(g_.nodes.size());
    wanted_ = std::vector<bool>(g_.nodes.size());
    for (const GraphEdge& r : g_.roots) wanted[r.node] = true;
    for (NodeId id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      if (!wanted[id] || own_[id]) continue;
      for (int i = 0; i < g_.nodes[id].n_inputs; ++i) wanted[g_.nodes[id].inputs[i].node] = true;
    }
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      if (wanted[id] && own_[id]) out_.outputs.push_back({id, 0});
      wanted_[id] = wanted[id];
    }
    for (const GraphEdge& e : out_.outputs)
      if (f_.op_class(e.node) == OpClass::Update &&
          std::ranges::none_of(arrays_, [&](const Layers& a) { return a.array == e.node; }))
        return false;
    return !out_.outputs.empty() && out_.outputs.size() <= kMostOutputs;
  }

  /// Nothing that the kernel reads comes from what it gives.
  [[nodiscard]] bool is_apart() const {
    return std::ranges::none_of(
        out_.values, [&](const Levels::Value& v) { return v.kind == Kind::Memory && depends_[v.edge.node]; });
  }

  // --- Values -------------------------------------------------------------------------------------------------------

  std::uint32_t push(Levels::Value v, int l, bool once) {
    v.loop = static_cast<std::uint8_t>(l);
    v.once = once;
    out_.values.push_back(std::move(v));
    return static_cast<std::uint32_t>(out_.values.size() - 1);
  }

  [[nodiscard]] Levels::Value memory(const Source& s, const Dims& steps) const {
    Levels::Value v;
    v.kind = f_.op_class(s.edge.node) == OpClass::Scalar ? Kind::Free : Kind::Memory;
    if (f_.free(s.edge.node)) v.kind = Kind::Free;
    v.edge = s.edge;
    v.map = s.map;
    v.steps = steps;
    v.shape = s.shape;
    return v;
  }

  /// A value that a lane has once, before loop `l`.
  std::uint32_t once(const Source& wanted, int l) {
    std::vector<Source> open{wanted};
    while (ok_) {
      const Source s = open.back();
      const std::string name = key(s);
      if (!once_.contains(name)) {
        const auto place = orbits_.find(s);
        if (place && in_loop(*place)) {
          once_[name] = of_level(*place, l);
        } else if (f_.op_class(s.edge.node) != OpClass::Map || !is_pure(g_.nodes[s.edge.node].op) ||
                   !(s.shape == g_.shape(s.edge.node)) ||
                   (!depends_[s.edge.node] && (wanted_[s.edge.node] || is_wider(s.edge.node)))) {
          once_[name] = push(memory(s, Dims::filled(s.map.size, 0)), l, true);
        } else if (!inputs_there(s, open)) {
          continue;
        } else {
          Levels::Value v;
          v.kind = Kind::Compute;
          v.edge = s.edge;
          for (int i = 0; i < g_.nodes[s.edge.node].n_inputs; ++i)
            v.args[static_cast<std::size_t>(i)] = once_.at(key(orbits_.input(s, i)));
          once_[name] = push(v, l, true);
          own_[s.edge.node] = true;
          ok_ = ok_ && ++computed_once_ <= kMostOnce && g_.nodes[s.edge.node].mode == mode();
        }
      }
      open.pop_back();
      if (open.empty()) return once_.at(name);
    }
    return 0;
  }

  bool inputs_there(const Source& s, std::vector<Source>& open) const {
    for (int i = 0; i < g_.nodes[s.edge.node].n_inputs; ++i) {
      Source in = orbits_.input(s, i);
      if (once_.contains(key(in))) continue;
      open.push_back(std::move(in));
      return false;
    }
    return true;
  }

  /// True if lanes read only some of a node's elements: where it is stored, others read it too.
  [[nodiscard]] bool is_wider(NodeId id) const { return g_.count(id) > element_count(out_.lanes.span()); }

  [[nodiscard]] Mode mode() const { return g_.nodes[arrays_.front().levels.back().edge.node].mode; }

  /// One level of an orbit after its loop.
  std::uint32_t of_level(const Orbits::Place& p, int l) {
    const int made = plan_.loop_of[p.orbit];
    if (made >= l) {
      ok_ = false;
      return 0;
    }
    Levels::Value v;
    v.args[0] = value_of_[p.orbit];
    if (p.level == first(made) + plan_.ways[at(made)] * (count(made) - 1)) {
      v.kind = Kind::Last;
    } else {
      v.kind = Kind::Kept;
      v.array = array_of(p.orbit);
      v.position = p.level - orbits_.all[p.orbit].low;
    }
    return push(v, l, true);
  }

  /// The array that an orbit's levels are kept in. Its loop is done: what keeps them is put there later.
  std::uint32_t array_of(std::uint32_t q) {
    const auto [it, fresh] = arrays_of_.try_emplace(q, static_cast<std::uint32_t>(out_.arrays.size()));
    if (fresh)
      out_.arrays.push_back({g_.nodes[orbits_.all[q][plan_.low[at(plan_.loop_of[q])]].edge.node].dtype,
                             static_cast<std::int64_t>(orbits_.all[q].at.size())});
    return it->second;
  }

  /// Levels that a loop reads of an orbit of an earlier one: those that are computed apart from its loop are kept, too.
  void keep_apart(std::uint32_t q, std::int64_t from, std::int64_t to, int l) {
    for (std::int64_t k = from; k < to && ok_; ++k) {
      if (in_loop({q, k}) || !kept_apart_.insert({q, k}).second) continue;
      Levels::Value v;
      v.kind = Kind::Keep;
      v.args[0] = once(orbits_.all[q][k], l);
      v.array = array_of(q);
      v.position = k - orbits_.all[q].low;
      push(v, l, true);
    }
  }

  void loop(int l) {
    out_.loops.push_back(count(l));
    std::vector<std::uint32_t> order = in_order(l);
    const int way = plan_.ways[at(l)];
    const auto steps = [&](Dims d) {
      for (std::int64_t& step : d) step *= way;
      return d;
    };
    // Values before the loop.
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> before;  // by orbit and levels back
    for (const std::uint32_t q : order) {
      for (const OrbitInput& in : orbits_.all[q].inputs) {
        if (in.kind == OrbitInput::Kind::Same) once(in.at, l);
        if (in.kind != OrbitInput::Kind::Orbit) continue;
        if (plan_.loop_of[in.orbit] == l) {
          for (std::int64_t back = 1; back <= in.shift * way && ok_; ++back) {
            ok_ = orbits_.all[in.orbit].knows(first(l) - way * back);
            if (ok_ && !before.contains({in.orbit, back}))
              before[{in.orbit, back}] = once(orbits_.all[in.orbit][first(l) - way * back], l);
          }
        } else {
          array_of(in.orbit);
          keep_apart(in.orbit, plan_.low[at(l)] - in.shift, plan_.high[at(l)] - in.shift, l);
        }
      }
    }
    if (!ok_) return;
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> carried;
    for (const auto& [which, initial] : before) {
      Levels::Value v;
      v.kind = Kind::Carried;
      v.args[0] = initial;
      carried[which] = push(v, l, false);
    }
    for (const std::uint32_t q : order) {
      const Orbit& o = orbits_.all[q];
      Levels::Value v;
      v.kind = o.copies ? Kind::Copy : Kind::Compute;
      if (!o.copies) v.edge = o[first(l)].edge;
      for (std::size_t i = 0; i < o.inputs.size(); ++i) v.args[i] = input(o.inputs[i], l, steps, carried);
      value_of_[q] = push(v, l, false);
    }
    for (const auto& [which, v] : carried)
      out_.values[v].args[1] = which.second == 1 ? value_of_[which.first] : carried.at({which.first, which.second - 1});
    stores(l, order);
    ends_.push_back(out_.values.size());
  }

  template <class Steps, class Carried>
  std::uint32_t input(const OrbitInput& in, int l, const Steps& steps, const Carried& carried) {
    const int way = plan_.ways[at(l)];
    switch (in.kind) {
      case OrbitInput::Kind::Same: return once_.at(key(in.at));
      case OrbitInput::Kind::Moving: {
        Source s = in.at;
        for (int d = 0; d < s.map.size; ++d) s.map[d].start += in.steps[d] * (first(l) - in.level);
        std::string name = key(s);
        name.append(reinterpret_cast<const char*>(in.steps.begin()), in.steps.span().size_bytes());
        const auto [it, fresh] = moving_.try_emplace({l, std::move(name)}, 0);
        if (fresh) it->second = push(memory(s, steps(in.steps)), l, false);
        return it->second;
      }
      case OrbitInput::Kind::Number: return number(in, l);
      case OrbitInput::Kind::Orbit: break;
    }
    if (plan_.loop_of[in.orbit] == l)
      return in.shift == 0 ? value_of_.at(in.orbit) : carried.at({in.orbit, in.shift * way});
    Levels::Value v;
    v.kind = Kind::Kept;
    v.args[0] = value_of_.at(in.orbit);
    v.array = array_of(in.orbit);
    v.position = first(l) - in.shift - orbits_.all[in.orbit].low;
    v.step = way;
    return push(v, l, false);
  }

  /// A series of scalars, in the order of the loop.
  std::uint32_t number(const OrbitInput& in, int l) {
    std::vector<GraphEdge> series;
    for (std::int64_t i = 0; i < count(l); ++i)
      series.push_back(in.numbers[static_cast<std::size_t>(first(l) + i * plan_.ways[at(l)] - in.level)]);
    const auto it = std::ranges::find(out_.numbers, series);
    Levels::Value v;
    v.kind = Kind::Number;
    v.edge = series.front();
    v.array = static_cast<std::uint32_t>(it - out_.numbers.begin());
    if (it == out_.numbers.end()) out_.numbers.push_back(std::move(series));
    const auto [known, fresh] = numbers_.try_emplace({l, v.array}, 0);
    if (fresh) known->second = push(v, l, false);
    return known->second;
  }

  /// Orbits of a loop, each after those that it needs at the same level.
  std::vector<std::uint32_t> in_order(int l) const {
    std::vector<std::uint32_t> own, order;
    for (std::uint32_t q = 0; q < orbits_.all.size(); ++q)
      if (plan_.loop_of[q] == l) own.push_back(q);
    std::vector<bool> done(orbits_.all.size());
    while (order.size() < own.size()) {
      for (const std::uint32_t q : own) {
        const bool ready = std::ranges::all_of(orbits_.all[q].inputs, [&](const OrbitInput& in) {
          return in.kind != OrbitInput::Kind::Orbit || in.shift != 0 || plan_.loop_of[in.orbit] != l || done[in.orbit];
        });
        if (done[q] || !ready) continue;
        done[q] = true;
        order.push_back(q);
      }
    }
    return order;
  }

  [[nodiscard]] Levels::Value store_of(const Layers& a, std::int64_t level, std::int64_t step) const {
    Levels::Value v;
    v.kind = Kind::Store;
    v.edge = {a.array, 0};
    v.map = a.place;
    v.map[a.axis].start = level;
    v.shape = g_.shape(a.array);
    v.steps = Dims::filled(v.map.size, 0);
    v.steps[a.axis] = step;
    return v;
  }

  void stores(int l, const std::vector<std::uint32_t>& order) {
    for (const Orbits::OfArray& a : orbits_.of_arrays) {
      const Layers& array = arrays_[a.array];
      if (!is_output(array.array) || std::ranges::find(order, a.orbit) == order.end()) continue;
      ok_ = ok_ && a.place(plan_.low[at(l)]) >= 0 &&
            a.place(plan_.high[at(l)] - 1) < static_cast<std::int64_t>(array.levels.size());
      Levels::Value v = store_of(array, a.place(first(l)), plan_.ways[at(l)] * a.step);
      v.args[0] = value_of_[a.orbit];
      push(v, l, false);
    }
  }

  [[nodiscard]] bool is_output(NodeId id) const {
    return std::ranges::any_of(out_.outputs, [&](const GraphEdge& e) { return e.node == id; });
  }

  /// Levels apart from the loops, and values that others read.
  void end() {
    for (std::size_t i = 0; i < arrays_.size() && ok_; ++i) {
      if (!is_output(arrays_[i].array)) continue;
      const auto levels = static_cast<std::int64_t>(arrays_[i].levels.size());
      std::vector<bool> stored(arrays_[i].levels.size());
      for (const Orbits::OfArray& a : orbits_.of_arrays) {
        const std::size_t l = at(plan_.loop_of[a.orbit]);
        for (std::int64_t k = plan_.low[l]; a.array == i && k < plan_.high[l]; ++k)
          stored[static_cast<std::size_t>(a.place(k))] = true;
      }
      std::size_t apart = 0;
      for (std::int64_t k = 0; k < levels && ok_; ++k) {
        if (stored[static_cast<std::size_t>(k)]) continue;
        const std::uint32_t value = once(arrays_[i].levels[static_cast<std::size_t>(k)], loops());
        Levels::Value v = store_of(arrays_[i], k, 0);
        v.args[0] = value;
        push(v, loops(), true);
        ok_ = ok_ && ++apart <= 2 * kMostOnce;
      }
    }
    for (std::size_t i = 0; i < out_.outputs.size() && ok_; ++i) store_last(out_.outputs[i]);
    leave_to_operands();
    // Values that became the kernel's own on the way may be read by others as well.
    for (NodeId id = 0; id < g_.nodes.size() && ok_; ++id) {
      if (!own_[id] || !wanted_[id] || is_output(id)) continue;
      out_.outputs.push_back({id, 0});
      store_last({id, 0});
    }
    ok_ = ok_ && out_.outputs.size() <= kMostOutputs;
  }

  /// The store of a value that others read and that no array of levels holds.
  void store_last(const GraphEdge& e) {
    if (f_.op_class(e.node) == OpClass::Update) return;
    Levels::Value v;
    v.kind = Kind::Store;
    v.edge = e;
    v.shape = g_.shape(e.node);
    v.map = at_lanes(v.shape);
    ok_ = squeeze(v.shape) == out_.lanes;
    if (!ok_) return;
    v.steps = Dims::filled(v.map.size, 0);
    v.args[0] = once({e, v.map, v.shape}, loops());
    push(v, loops(), true);
  }

  /// Values that operands are computed from are computed outside, and by lanes again.
  void leave_to_operands() {
    std::vector<bool> outside(g_.nodes.size());
    for (const Levels::Value& v : out_.values)
      if (v.kind == Kind::Memory) outside[v.edge.node] = true;
    for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      if (!outside[id]) continue;
      own_[id] = false;
      for (int i = 0; i < g_.nodes[id].n_inputs; ++i) outside[g_.nodes[id].inputs[i].node] = true;
    }
  }

  /// Keeps of loops, where their loops are; what is written, read and computed.
  void collect() {
    std::vector<Levels::Value> all;
    std::vector<std::uint32_t> now(out_.values.size());
    std::size_t from = 0;
    for (int l = 0; l <= loops(); ++l) {
      const std::size_t to = l < loops() ? ends_[at(l)] : out_.values.size();
      for (; from < to; ++from) {
        now[from] = static_cast<std::uint32_t>(all.size());
        all.push_back(out_.values[from]);
      }
      for (const auto& [q, array] : arrays_of_) {
        if (plan_.loop_of[q] != l) continue;
        Levels::Value v;
        v.kind = Kind::Keep;
        v.loop = static_cast<std::uint8_t>(l);
        v.args[0] = value_of_[q];
        v.array = array;
        v.position = first(l) - orbits_.all[q].low;
        v.step = plan_.ways[at(l)];
        all.push_back(v);
      }
    }
    for (Levels::Value& v : all) {
      if (v.kind == Kind::Kept) v.args = {kNoId, kNoId, kNoId};
      for (std::uint32_t& arg : v.args)
        if (arg != kNoId) arg = now[arg];
    }
    out_.values = std::move(all);
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (own_[id]) out_.nodes.push_back(id);
    for (const Levels::Value& v : out_.values)
      if (v.kind == Kind::Memory && std::ranges::find(out_.operands, v.edge) == out_.operands.end())
        out_.operands.push_back(v.edge);
  }

  const FusionGraph& f_;
  const Graph& g_;
  const Limits& limits_;
  const Orbits& orbits_;
  const std::vector<Layers>& arrays_;
  LoopPlan plan_;
  Levels out_;
  bool ok_ = true;
  std::size_t computed_once_ = 0;
  std::vector<bool> own_, depends_, wanted_;
  std::map<std::string, std::uint32_t> once_;
  std::map<std::pair<int, std::string>, std::uint32_t> moving_;     // by loop and place
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> numbers_;  // by loop and series
  std::map<std::uint32_t, std::uint32_t> value_of_, arrays_of_;     // by orbit
  std::set<std::pair<std::uint32_t, std::int64_t>> kept_apart_;
  std::vector<std::size_t> ends_;  // by loop: the number of values behind it
};

}  // namespace

std::string key(const Source& s) {
  std::string bytes(reinterpret_cast<const char*>(&s.edge), sizeof s.edge);
  for (int d = 0; d < s.map.size; ++d) {
    const std::int64_t part[4] = {s.map[d].axis, s.map[d].start, s.map[d].step, s.shape[d]};
    bytes.append(reinterpret_cast<const char*>(part), sizeof part);
  }
  return bytes;
}

std::shared_ptr<const Levels> make_levels(const FusionGraph& f, const Limits& limits, const Orbits& orbits,
                                          const std::vector<Layers>& arrays) {
  return KernelMaker(f, limits, orbits, arrays).make();
}

}  // namespace tarry::graph
