// find_loops(): loops that were recorded as such, as kernels of levels.
// A loop that combines neighbours is a kernel of its own.
//
// Coordinates. Sources are traced at the coordinates of the lanes, the extents other than 1 of what values of the loop
// broadcast to, and one behind them: the level. A loop that reads what another one stacks joins its kernel where it has
// the same levels and lanes, reads its own lane, and a lane can keep the stack. Elementwise operations of what is
// carried out of a loop, lane by lane, are computed behind it where they end in results that are asked for: then they
// add no value to those in memory. So are those of what a loop that combines stacks, level by level. An array that
// joins results of a loop, and nothing else, is written by the loop, each result at its place.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "graph/fusion/levels.h"
#include "graph/fusion/loop_joins.h"
#include "graph/loops.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

using Kind = Levels::Kind;

/// A graph with loops, analysed once.
struct LoopGraph {
  explicit LoopGraph(const Graph& graph)
      : g(graph),
        level_of(find_loop_levels(graph)),
        readers(graph.nodes.size()),
        roots(graph.nodes.size()),
        behind(graph.nodes.size()),
        cost_of_coordinates(graph.nodes.size(), kNotOfCoordinates) {
    for (NodeId id = 0; id < g.nodes.size(); ++id) {
      find_cost(id);
      behind[id] = is_loop_result(g.nodes[id].op);
      for (int i = 0; i < g.nodes[id].n_inputs; ++i) {
        readers[g.nodes[id].inputs[i].node].push_back(id);
        if (behind[g.nodes[id].inputs[i].node]) behind[id] = true;
      }
    }
    for (const GraphEdge& r : g.roots) roots[r.node] = true;
  }
  void find_cost(NodeId id) {
    const GraphNode& n = g.nodes[id];
    const OpClass c = info(n.op).op_class;
    const bool moves = c == OpClass::View || c == OpClass::Reshape, computes = c == OpClass::Map && is_pure(n.op);
    if (c != OpClass::Scalar && c != OpClass::Iota && !moves && !computes) return;
    int cost = computes ? info(n.op).cost : 0;
    for (int i = 0; i < n.n_inputs; ++i) cost += cost_of_coordinates[n.inputs[i].node];
    cost_of_coordinates[id] = std::min(cost, kNotOfCoordinates);
  }

  static constexpr int kNotOfCoordinates = 1 << 20;
  const Graph& g;
  std::vector<NodeId> level_of;
  std::vector<std::vector<NodeId>> readers;
  std::vector<bool> roots;
  std::vector<bool> behind;              ///< results of loops, and what is made of them
  std::vector<int> cost_of_coordinates;  ///< of a value that numbers and coordinates make
};

/// One kernel of one or several loops, in order.
class LoopMaker {
 public:
  LoopMaker(const LoopGraph& graph, std::vector<NodeId> levels, bool fuses)
      : all_(graph),
        g_(graph.g),
        levels_(std::move(levels)),
        fuses_(fuses),
        own_(g_.nodes.size()),
        depends_(g_.nodes.size()),
        consumes_(g_.nodes.size()) {}

  /// Nothing where the loops are no kernel together; one alone is.
  std::shared_ptr<const Levels> make() {
    find_nodes();
    if (!find_lanes()) return nullptr;
    take_joins();
    take_consumers();
    take_producers();
    values_.resize(2 * levels_.size() + 1);
    for (loop_ = 0; loop_ < levels_.size(); ++loop_) {
      for (NodeId id = level(); id < g_.nodes.size() && ok_; ++id)
        if (all_.level_of[id] == level()) add(id);
      out_.loops.push_back(count());
    }
    if (!ok_) return nullptr;
    add_results_behind();
    if (combines()) loop_ = 0;
    add_consumers();
    if (!ok_) return nullptr;
    for (const auto& [carry, next] : nexts_) value(carry).args[1] = next;
    collect();
    return std::make_shared<const Levels>(std::move(out_));
  }

 private:
  // A value's place until all are known: a section (before loop 0, in loop 0, before loop 1, ..., behind the last) and
  // its number there.
  static constexpr int kSectionBits = 8;
  static std::uint32_t packed(std::size_t section, std::size_t i) {
    return static_cast<std::uint32_t>(i << kSectionBits | section);
  }
  static std::size_t section_of(std::uint32_t v) { return v & ((1U << kSectionBits) - 1); }
  Levels::Value& value(std::uint32_t v) { return values_[section_of(v)][v >> kSectionBits]; }
  [[nodiscard]] std::size_t before() const { return 2 * loop_; }
  [[nodiscard]] std::size_t inside() const { return 2 * loop_ + 1; }

  [[nodiscard]] const GraphNode& node(NodeId id) const { return g_.nodes[id]; }
  [[nodiscard]] NodeId level() const { return levels_[loop_]; }
  [[nodiscard]] std::int64_t count() const { return g_.shape(level())[0]; }
  [[nodiscard]] bool combines() const { return (node(levels_.front()).payload & kCombines) != 0; }
  [[nodiscard]] bool is_part(NodeId id) const { return std::ranges::find(levels_, all_.level_of[id]) != levels_.end(); }
  [[nodiscard]] bool is_result(NodeId id) const { return is_loop_result(node(id).op) && is_part(id); }
  [[nodiscard]] bool is_inside(NodeId id) const { return all_.level_of[id] == level() && !is_loop_result(node(id).op); }

  void find_nodes() {
    for (NodeId id = levels_.front(); id < g_.nodes.size(); ++id) {
      own_[id] = all_.level_of[id] != kNoId && is_part(id);
      depends_[id] = is_result(id);
      for (int i = 0; i < node(id).n_inputs; ++i)
        if (depends_[node(id).inputs[i].node]) depends_[id] = true;
    }
  }

  // --- Extents
  // --------------------------------------------------------------------------------------------------------

  bool find_lanes() {
    const Dims* lanes = nullptr;
    for (NodeId id = levels_.front(); id < g_.nodes.size(); ++id) {
      if (!is_result(id)) continue;
      const Dims& of_result = g_.shape(node(id).inputs[0].node);
      if (lanes != nullptr && (*lanes != of_result || node(id).mode != mode_)) return false;
      lanes = &of_result;
      mode_ = node(id).mode;
      if (combines()) stack_axis_ = static_cast<int>(node(id).payload);
      if (combines()) whole_ = g_.shape(id);
    }
    TARRY_ASSERT(lanes != nullptr);
    for (const NodeId l : levels_)
      if (g_.shape(l) != g_.shape(levels_.front())) return false;
    lanes_ = *lanes;
    if (!combines()) whole_ = lanes_;
    out_.combines = combines();
    for (const std::int64_t extent : lanes_) {
      lane_.push_back(extent == 1 ? -1 : out_.lanes.size());
      if (extent != 1) out_.lanes.push_back(extent);
    }
    return true;
  }

  [[nodiscard]] AxisMap lane(int d) const {
    const int at = lane_[static_cast<std::size_t>(d)];
    return at < 0 ? AxisMap{-1, 0, 0} : AxisMap{at, 0, 1};
  }
  [[nodiscard]] int level_axis() const { return out_.lanes.size(); }
  [[nodiscard]] AxisMap along_levels() const {
    const bool backwards = (node(level()).payload & kFromLast) != 0;
    return {level_axis(), backwards ? count() - 1 : 0, backwards ? -1 : 1};
  }
  /// Coordinates -> dimensions of a value of a loop.
  [[nodiscard]] IndexMap at_lanes(const Dims& shape) const {
    IndexMap map;
    for (int d = 0; d < shape.size(); ++d)
      map.push_back(shape[d] == 1 ? AxisMap{-1, 0, 0} : lane(lanes_.size() - shape.size() + d));
    return map;
  }
  /// The same of an array that has the axis of levels as well.
  [[nodiscard]] IndexMap at_levels(const Dims& shape, int axis) const {
    Dims without = shape;
    without.erase(axis);
    const IndexMap lanes = at_lanes(without);
    IndexMap map;
    for (int d = 0; d < shape.size(); ++d) map.push_back(d == axis ? along_levels() : lanes[d < axis ? d : d - 1]);
    return map;
  }

  // --- What is computed inside
  // ----------------------------------------------------------------------------------------

  /// Computing it again takes no longer than reading it: a comparison of coordinates with numbers, and the like.
  [[nodiscard]] bool is_trivial(NodeId id) const {
    constexpr int kMostCost = 4;
    return all_.cost_of_coordinates[id] <= kMostCost;
  }

  /// Takes the updates that join results of the loops.
  void take_joins() {
    if (!fuses_ || combines()) return;
    for (NodeId id = levels_.front(); id < g_.nodes.size(); ++id) {
      if (node(id).op != Op::Update || !all_.behind[id]) continue;
      const auto is_alone = [&](NodeId update) { return !all_.roots[update] && all_.readers[update].size() == 1; };
      for (const JoinedPart& part : joined_parts(g_, id, is_alone, [&](NodeId n) { return is_result(n); })) {
        own_[part.array] = true;
        joined_[part.result].push_back({part.result, id, part.place});
      }
    }
  }

  /// Stores a result wherever it is wanted; `map`: coordinates -> its dimensions.
  void store_result(std::size_t section, NodeId result, std::uint32_t stored, const IndexMap& map) {
    if (is_wanted(result)) store(section, result, stored, map);
    const auto found = joined_.find(result);
    if (found == joined_.end()) return;
    for (const JoinedPart& part : found->second) {
      IndexMap to;
      for (int d = 0; d < part.place.size; ++d) {
        const AxisMap &own = part.place[d], from = own.axis < 0 ? AxisMap{-1, 0, 0} : map[own.axis];
        to.push_back({from.axis, from.start + own.start, from.step});
      }
      store(section, part.array, stored, to);
    }
  }

  /// Coordinates of what follows the loops: the lanes, or all that a loop stacks.
  [[nodiscard]] IndexMap at_whole() const { return combines() ? at_levels(whole_, stack_axis_) : at_lanes(whole_); }
  [[nodiscard]] Source at_point(NodeId id) const { return {{id, 0}, at_whole(), whole_}; }
  [[nodiscard]] bool leads_out(NodeId id) const {
    if (!is_part(id)) return false;
    return combines() ? node(id).op == Op::LoopStack && g_.shape(id) == whole_ &&
                            static_cast<int>(node(id).payload) == stack_axis_
                      : node(id).op == Op::LoopLast;
  }

  /// True for an elementwise op of what this kernel has at the same point, and of arrays that no loop makes.
  [[nodiscard]] bool follows(NodeId id) const {
    const GraphNode& n = node(id);
    if (!all_.behind[id]) return false;  // most nodes: nothing is traced for them
    if (info(n.op).op_class != OpClass::Map || !is_pure(n.op) || n.mode != mode_ || g_.shape(id) != whole_)
      return false;
    bool reads = false;
    for (int i = 0; i < n.n_inputs; ++i) {
      const Source s = input(at_point(id), i);
      const NodeId from = s.edge.node;
      if (consumes_[from] || leads_out(from)) {
        if (s.shape != whole_ || key(s) != key({s.edge, at_whole(), whole_})) return false;
        reads = true;
      } else if (all_.behind[from]) {
        return false;
      }
    }
    return reads;
  }

  /// Takes the operations behind the loops that end in results that are asked for.
  void take_consumers() {
    if (!fuses_) return;
    const auto each = [&](auto f) {
      for (NodeId id = levels_.front(); id < g_.nodes.size(); ++id) f(id);
    };
    each([&](NodeId id) { consumes_[id] = !own_[id] && follows(id); });
    for (bool changed = true; changed;) {
      changed = false;
      const auto leave_out = [&](NodeId id) {
        consumes_[id] = false;
        changed = true;
      };
      for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > levels_.front();) {
        const bool ends = std::ranges::all_of(all_.readers[id], [&](NodeId r) { return consumes_[r]; });
        if (consumes_[id] && !all_.roots[id] && !ends) leave_out(id);
      }
      each([&](NodeId id) {
        if (consumes_[id] && !follows(id)) leave_out(id);
      });
    }
    each([&](NodeId id) { own_[id] = own_[id] || consumes_[id]; });
  }

  void add_consumers() {
    for (NodeId id = levels_.front(); id < g_.nodes.size(); ++id) {
      if (!consumes_[id] || !is_wanted(id)) continue;
      const std::uint32_t v = outer(at_point(id));
      if (ok_) store(combines() ? inside() : values_.size() - 1, id, v, at_whole());
    }
  }

  /// Elementwise ops that only this kernel reads are computed where it reads them, if that is about as often.
  void take_producers() {
    const auto every_lane = static_cast<double>(element_count(out_.lanes.span()));
    const double behind = combines() ? every_lane * static_cast<double>(g_.shape(levels_.front())[0]) : every_lane;
    std::vector<double> points(g_.nodes.size());
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (consumes_[id]) points[id] = behind;
    for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      if (own_[id] || all_.roots[id] || all_.readers[id].empty()) continue;
      if (!std::ranges::all_of(all_.readers[id], [&](NodeId r) { return own_[r]; })) continue;
      for (const NodeId r : all_.readers[id]) {
        const double levels = node(r).op == Op::LoopElement ? static_cast<double>(g_.shape(levels_.front())[0]) : 1;
        points[id] = std::max(points[id], is_loop(node(r).op) || is_part(r) ? every_lane * levels : points[r]);
      }
      const OpClass c = info(node(id).op).op_class;
      const bool computes = c == OpClass::Map && is_pure(node(id).op) && node(id).mode == mode_ &&
                            (points[id] <= 2 * static_cast<double>(g_.count(id)) || is_trivial(id));
      own_[id] = c == OpClass::View || computes;
    }
  }

  // --- Values from outside
  // --------------------------------------------------------------------------------------------

  std::uint32_t push(std::size_t section, Levels::Value v) {
    v.once = section % 2 == 0;
    v.loop = static_cast<std::uint8_t>(section / 2);
    values_[section].push_back(std::move(v));
    return packed(section, values_[section].size() - 1);
  }

  [[nodiscard]] bool moves(const Source& s) const {
    for (int d = 0; d < s.map.size; ++d)
      if (s.map[d].axis == level_axis()) return true;
    return false;
  }

  [[nodiscard]] Source input(const Source& of, int i) const {
    const GraphEdge edge = node(of.edge.node).inputs[i];
    return trace(g_, edge, compose(broadcast_map(g_.shape(edge.node).span(), of.shape.span()), of.map));
  }

  /// A value that moves belongs to its loop.
  [[nodiscard]] std::string key_here(const Source& s) const {
    return key(s) + std::to_string(moves(s) ? loop_ : levels_.size());
  }

  [[nodiscard]] bool is_computed(const Source& s) const {
    return own_[s.edge.node] && info(node(s.edge.node).op).op_class == OpClass::Map && s.shape == g_.shape(s.edge.node);
  }

  std::uint32_t outer(const Source& wanted) {
    std::vector<Source> open{wanted};
    for (;;) {
      const Source s = open.back();
      if (!outer_.contains(key_here(s))) {
        const std::size_t waiting = open.size();
        for (int i = 0; is_computed(s) && i < node(s.edge.node).n_inputs; ++i)
          if (Source in = input(s, i); !outer_.contains(key_here(in))) open.push_back(std::move(in));
        if (open.size() != waiting) continue;
        outer_[key_here(s)] = is_computed(s) ? compute(s) : is_result(s.edge.node) ? earlier(s) : read(s);
      }
      open.pop_back();
      if (open.empty()) return outer_.at(key_here(wanted));
    }
  }

  std::uint32_t compute(const Source& s) {
    Levels::Value v;
    v.kind = Kind::Compute;
    v.edge = s.edge;
    for (int i = 0; i < node(s.edge.node).n_inputs; ++i)
      v.args[static_cast<std::size_t>(i)] = outer_.at(key_here(input(s, i)));
    return push(moves(s) ? inside() : before(), std::move(v));
  }

  std::uint32_t read(const Source& s) {
    ok_ = ok_ && !depends_[s.edge.node];
    const OpClass c = info(node(s.edge.node).op).op_class;
    Levels::Value v = placed(s.edge, s.shape, s.map);
    v.kind = c == OpClass::Scalar || c == OpClass::Iota ? Kind::Free : Kind::Memory;
    return push(moves(s) ? inside() : before(), std::move(v));
  }

  /// A result of a loop of this kernel that is done, of the same lane.
  std::uint32_t earlier(const Source& s) {
    const NodeId id = s.edge.node;
    if (combines()) {
      ok_ = ok_ && results_.contains(id) && s.shape == whole_ && key(s) == key(at_point(id));
      return ok_ ? results_.at(id).value : 0;
    }
    const bool stack = node(id).op == Op::LoopStack;
    const int axis = stack ? static_cast<int>(node(id).payload) : -1;
    const bool done = results_.contains(id) && s.shape == g_.shape(id);
    for (int d = 0; done && d < s.map.size; ++d) {
      const AxisMap own = d == axis ? s.map[d] : lane(axis < 0 || d < axis ? d : d - 1);
      ok_ = ok_ && s.map[d].axis == own.axis && s.map[d].start == own.start && s.map[d].step == own.step &&
            (d != axis || own.axis < 0 || own.axis == level_axis());
    }
    ok_ = ok_ && done;
    if (!ok_) return 0;
    Levels::Value v;
    if (stack) {
      v.kind = Kind::Kept;
      v.array = keep(id);
      v.position = s.map[axis].start;
      v.step = s.map[axis].step;
    } else {
      v.kind = Kind::Last;
      v.args[0] = results_.at(id).value;
    }
    return push(moves(s) ? inside() : before(), std::move(v));
  }

  /// The array in which a lane keeps a stack.
  std::uint32_t keep(NodeId stack) {
    const auto [it, fresh] = arrays_.try_emplace(stack, static_cast<std::uint32_t>(out_.arrays.size()));
    if (!fresh) return it->second;
    out_.arrays.push_back({node(stack).dtype, count()});
    const Result& r = results_.at(stack);
    Levels::Value v;
    v.kind = Kind::Keep;
    v.args[0] = r.value;
    v.array = it->second;
    v.position = r.along.start;
    v.step = r.along.step;
    push(section_of(r.value), std::move(v));
    return it->second;
  }

  /// A value in memory: a coordinate of the level becomes steps.
  [[nodiscard]] Levels::Value placed(const GraphEdge& edge, const Dims& shape, IndexMap map) const {
    Levels::Value v;
    v.edge = edge;
    v.shape = shape;
    v.steps = Dims::filled(map.size, 0);
    for (int d = 0; d < map.size; ++d) {
      if (map[d].axis != level_axis()) continue;
      v.steps[d] = map[d].step;
      map[d] = {-1, map[d].start, 0};
    }
    v.map = map;
    return v;
  }

  // --- Values of the loop
  // ---------------------------------------------------------------------------------------------

  /// The operand of a node of the loop: a value of a level, or one from outside.
  std::uint32_t operand(NodeId of, int i) {
    NodeId from = node(of).inputs[i].node;
    if (!is_inside(from)) return outer(trace(g_, node(of).inputs[i], at_lanes(g_.shape(from))));
    while (node(from).op == Op::View) from = node(from).inputs[0].node;
    return now_.at(from);
  }

  /// The same, as a value that the loop computes.
  std::uint32_t computed(NodeId of, int i) {
    const std::uint32_t v = operand(of, i);
    if (!ok_ || (section_of(v) == inside() && value(v).kind == Kind::Compute)) return v;
    const auto [it, fresh] = copies_.try_emplace({loop_, v});
    if (!fresh) return it->second;
    Levels::Value copy;
    copy.kind = Kind::Copy;
    copy.args[0] = v;
    return it->second = push(inside(), std::move(copy));
  }

  std::uint32_t of_carry(Kind kind, NodeId id) {
    Levels::Value v;
    v.kind = kind;
    v.args[0] = now_.at(node(id).inputs[0].node);
    return push(inside(), std::move(v));
  }

  void add(NodeId id) {
    const GraphNode& n = node(id);
    switch (n.op) {
      case Op::LoopLevel:
      case Op::View: return;
      case Op::LoopElement:
        now_[id] = outer(trace(g_, n.inputs[0], at_levels(g_.shape(n.inputs[0].node), static_cast<int>(n.payload))));
        return;
      case Op::LoopCarry: {
        Levels::Value v;
        v.kind = Kind::Carried;
        v.args[0] = combines() ? now_.at(n.inputs[0].node) : outer(trace(g_, n.inputs[0], at_lanes(g_.shape(id))));
        now_[id] = push(inside(), std::move(v));
        return;
      }
      case Op::LoopLater: now_[id] = of_carry(Kind::Later, id); return;
      case Op::LoopWhile: {
        Levels::Value v;
        v.kind = Kind::While;
        v.args[0] = computed(id, 0);
        push(inside(), std::move(v));
        return;
      }
      case Op::LoopNext: nexts_.emplace_back(now_.at(n.inputs[0].node), computed(id, 1)); return;
      case Op::LoopLast: results_[id] = {computed(id, 0), {}}; return;
      case Op::LoopStack: {
        results_[id] = {combines() ? of_carry(Kind::Running, id) : computed(id, 0), along_levels()};
        store_result(inside(), id, results_[id].value, at_levels(g_.shape(id), static_cast<int>(n.payload)));
        return;
      }
      default: {
        Levels::Value v;
        v.kind = Kind::Compute;
        v.edge = {id, 0};
        for (int i = 0; i < n.n_inputs; ++i) v.args[static_cast<std::size_t>(i)] = operand(id, i);
        now_[id] = push(inside(), std::move(v));
      }
    }
  }

  /// A result that is asked for, or read by others.
  [[nodiscard]] bool is_wanted(NodeId id) const {
    return all_.roots[id] || std::ranges::any_of(all_.readers[id], [&](NodeId r) { return !own_[r]; });
  }

  void add_results_behind() {
    const std::size_t behind = values_.size() - 1;
    for (const auto& [id, result] : results_) {
      if (node(id).op != Op::LoopLast || (!is_wanted(id) && !joined_.contains(id))) continue;
      Levels::Value last;
      last.kind = Kind::Last;
      last.args[0] = result.value;
      store_result(behind, id, push(behind, std::move(last)), at_lanes(g_.shape(id)));
    }
  }

  void store(std::size_t section, NodeId result, std::uint32_t stored, const IndexMap& map) {
    Levels::Value v = placed({result, 0}, g_.shape(result), map);
    v.kind = Kind::Store;
    v.args[0] = stored;
    push(section, std::move(v));
    if (std::ranges::find(out_.outputs, GraphEdge{result, 0}) == out_.outputs.end())
      out_.outputs.push_back({result, 0});
  }

  void collect() {
    std::vector<std::size_t> first;
    for (const std::vector<Levels::Value>& section : values_) {
      first.push_back(out_.values.size());
      out_.values.insert(out_.values.end(), section.begin(), section.end());
    }
    for (Levels::Value& v : out_.values) {
      for (std::uint32_t& arg : v.args)
        if (arg != kNoId) arg = static_cast<std::uint32_t>(first[section_of(arg)] + (arg >> kSectionBits));
      if (v.kind == Kind::Memory && std::ranges::find(out_.operands, v.edge) == out_.operands.end())
        out_.operands.push_back(v.edge);
    }
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (own_[id]) out_.nodes.push_back(id);
  }

  struct Result {
    std::uint32_t value = 0;
    AxisMap along;  ///< of a stack: the place along its axis
  };

  const LoopGraph& all_;
  const Graph& g_;
  const std::vector<NodeId> levels_;
  const bool fuses_;
  std::size_t loop_ = 0;
  bool ok_ = true;
  std::vector<bool> own_, depends_;  // by node: of this kernel; made from its results, those included
  std::vector<bool> consumes_;       // by node: of this kernel, and follows its loops
  Mode mode_{};
  Dims lanes_;             // with extents of 1
  Dims whole_;             // what follows the loops has this shape: the lanes, or a stack's where neighbours combine
  int stack_axis_ = -1;    // of levels in it
  std::vector<int> lane_;  // by dimension of lanes_: the coordinate, or -1
  Levels out_;
  std::vector<std::vector<Levels::Value>> values_;  // by section
  std::map<NodeId, std::uint32_t> now_, arrays_;    // of nodes of a loop; of stacks that are kept
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> copies_;  // by loop and value
  std::map<NodeId, Result> results_;                                       // of loops that are done
  std::map<NodeId, std::vector<JoinedPart>> joined_;                       // by result
  std::map<std::string, std::uint32_t> outer_;                             // of what comes from outside
  std::vector<std::pair<std::uint32_t, std::uint32_t>> nexts_;             // by carry
};

}  // namespace

std::vector<std::shared_ptr<const Levels>> find_loops(const Graph& g, const Limits& limits) {
  struct Kernel {
    std::vector<NodeId> levels;
    std::shared_ptr<const Levels> made;
  };
  constexpr std::size_t kMostLoops = 8;
  std::vector<Kernel> kernels;
  std::vector<std::shared_ptr<const Levels>> made;
  if (std::ranges::none_of(g.nodes, [](const GraphNode& n) { return n.op == Op::LoopLevel; })) return made;
  const LoopGraph graph(g);
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    if (g.nodes[id].op != Op::LoopLevel) continue;
    bool joined = false;
    for (Kernel& k : kernels) {
      if (joined || !limits.fuses || k.levels.size() == kMostLoops) continue;
      if (k.made->combines || (g.nodes[id].payload & kCombines) != 0) continue;
      std::vector<NodeId> both = k.levels;
      both.push_back(id);
      const std::shared_ptr<const Levels> together = LoopMaker(graph, both, limits.fuses).make();
      joined = together != nullptr && !together->arrays.empty() && together->arrays.size() > k.made->arrays.size() &&
               together->kept_bytes() <= limits.kept;
      if (joined) k = {both, together};
    }
    if (!joined) kernels.push_back({{id}, LoopMaker(graph, {id}, limits.fuses).make()});
  }
  for (Kernel& k : kernels) made.push_back(std::move(k.made));
  return made;
}

}  // namespace tarry::graph
