// select(): demand-driven instruction selection over index maps.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>

#include "codegen/lower/choices.h"
#include "graph/fusion/trace.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::AxisMap;
using graph::Dims;
using graph::Fusion;
using graph::Graph;
using graph::GraphEdge;
using graph::GraphNode;
using graph::Group;
using graph::IndexMap;
using graph::kNoId;
using graph::NodeId;
using graph::OpClass;

/// A value wanted at some coordinates. `recomputed`: the recomputation it belongs to; `compute`: not read from memory;
/// `box`: it is wanted there only, kNone everywhere.
struct Request {
  graph::Source source;
  std::uint32_t recomputed = kNoId;
  bool compute = false;
  std::uint32_t box = kNone;
};

std::string key(const graph::Source& s, std::uint32_t box, bool reshaped) {
  std::string bytes(reinterpret_cast<const char*>(&s.edge), sizeof s.edge);
  bytes.append(reinterpret_cast<const char*>(&box), sizeof box);
  bytes.push_back(reshaped ? '\1' : '\0');
  if (reshaped) bytes.append(reinterpret_cast<const char*>(s.shape.begin()), s.shape.span().size_bytes());
  for (int i = 0; i < s.map.size; ++i) {
    const std::int64_t part[3] = {s.map[i].axis, s.map[i].start, s.map[i].step};
    bytes.append(reinterpret_cast<const char*>(part), sizeof part);
  }
  return bytes;
}

class Selector : private Choices {
 public:
  Selector(const Graph& g, const Fusion& fusion, std::uint32_t group, const Group& walk)
      : Choices(walk), g_(g), fusion_(fusion), group_id_(group) {}

  Selection run(const std::vector<GraphEdge>& outputs) {
    for (NodeId id : reductions_for(outputs)) reduce(id);
    for (const GraphEdge& e : outputs)
      if (!is_outer(e.node)) store(e, Region::Point);
    outer_phase_ = group_.reduces;
    if (outer_phase_) forget_points();
    for (const GraphEdge& e : outputs)
      if (is_outer(e.node)) store(e, Region::Outer);
    return done();
  }

  /// Every slot of every output, and only then the stores: a buffer that is taken over has been read.
  std::optional<Selection> run_slots(const std::vector<GraphEdge>& outputs, const Dims& slots, std::size_t most) {
    struct Stored {
      GraphEdge edge;
      IndexMap home;
      Value value;
    };
    std::vector<Stored> all;
    numbers_values_ = true;  // many are equal at all slots
    std::int64_t count = 1;
    for (const std::int64_t extent : slots) count *= std::max<std::int64_t>(extent, 1);
    for (const GraphEdge& e : outputs) {
      for (std::int64_t slot = 0; slot < count; ++slot) {
        const IndexMap home = slot_map(group_, g_.shape(e.node), slots, slot);
        all.push_back({e, home, value_at(e, home)});
        if (ir_.instrs.size() > most) return std::nullopt;
      }
    }
    for (const Stored& s : all)
      store_at(s.edge, s.value, Region::Point, graph::row_major_strides(g_.shape(s.edge.node).span()), 0, s.home);
    return done();
  }

 private:
  Selection done() {
    if (has_choices()) drop_unused(out_);
    return std::move(out_);
  }

  [[nodiscard]] OpClass op_class(NodeId id) const { return graph::info(g_.nodes[id].op).op_class; }
  [[nodiscard]] bool walks(NodeId id) const { return op_class(id) == OpClass::Reduce || op_class(id) == OpClass::Scan; }
  [[nodiscard]] bool in_group(NodeId id) const { return fusion_.group_of[id] == group_id_; }

  /// Epilogue nodes: over the outer space. Where the reduced extent is 1 shapes cannot tell, dependence does.
  [[nodiscard]] bool is_outer(NodeId id) const {
    if (!group_.reduces || group_.scans) return false;
    if (op_class(id) == OpClass::Reduce) return true;
    if (group_.space[group_.axis] != 1) return !(graph::squeeze(g_.shape(id)) == graph::squeeze(group_.space));
    return !needed_reductions({{id, 0}}).empty();
  }

  /// Reductions and scans of the group that the outputs need, in node order.
  [[nodiscard]] std::vector<NodeId> needed_reductions(const std::vector<GraphEdge>& outputs) const {
    if (!group_.reduces) return {};
    std::vector<NodeId> found, stack, seen;
    for (const GraphEdge& e : outputs) stack.push_back(e.node);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!in_group(id) || std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
      seen.push_back(id);
      if (walks(id)) found.push_back(id);
      for (int i = 0; i < g_.nodes[id].n_inputs; ++i)
        if (fusion_.recomputed_set(id, i) == kNoId) stack.push_back(graph::input_source(g_, id, i).edge.node);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Those, or one that nobody needs: a group may be left without readers of its reductions, where updates cover what
  /// reads them, and its kernel walks rows all the same.
  [[nodiscard]] std::vector<NodeId> reductions_for(const std::vector<GraphEdge>& outputs) const {
    std::vector<NodeId> found = needed_reductions(outputs);
    if (!group_.reduces || !found.empty()) return found;
    return {*std::find_if(group_.nodes.begin(), group_.nodes.end(), [&](NodeId id) { return walks(id); })};
  }

  /// Coordinates of the group's space -> dimensions of a shape that lives in it.
  [[nodiscard]] IndexMap home_map(const Dims& shape, Coordinates coordinates) const {
    return codegen::home_map(group_, shape, coordinates);
  }

  // --- Requests -----------------------------------------------------------------------------------------------------

  /// `edge` at `map` as input i of `reader`: followed through views, then through updates that one side decides.
  Request request(GraphEdge edge, IndexMap map, NodeId reader, int i, std::uint32_t recomputed, std::uint32_t box) {
    return decided(follow(edge, std::move(map), reader, i, recomputed, box));
  }

  Request input(const Request& r, int i) {
    if (i == 0 && g_.nodes[r.source.edge.node].op == Op::Update) {
      if (const std::optional<Request> base = base_beside(r)) return *base;
    }
    return decided(follow_input(r, i));
  }

  /// The value below an update at the end of a box, where another one gives all the rest: the next piece of a whole.
  std::optional<Request> base_beside(const Request& update) {
    const std::optional<Bounds> rest = rest_of(box_of(update.box), update_box(update).value());
    if (!rest) return std::nullopt;
    Request below = follow_input(update, 0);
    if (!is_computed(below) || g_.nodes[below.source.edge.node].op != Op::Update) return std::nullopt;
    below.box = box_number(*rest);
    const GraphEdge whole = below.source.edge;
    below = decided(std::move(below));
    if (below.source.edge == whole) return std::nullopt;
    return below;
  }

  Request follow_input(const Request& r, int i) {
    const NodeId reader = r.source.edge.node;
    const GraphNode& n = g_.nodes[reader];
    IndexMap map = r.source.map;
    std::uint32_t box = r.box;
    if (op_class(reader) == OpClass::Reduce) {
      map = loop_map(r);
    } else if (n.op == Op::Update) {
      if (i == 1) {
        const Dims& start = g_.updates[n.payload].start;
        for (int d = 0; d < map.size; ++d) map[d].start -= start[d];
        box = box_number(update_box(r).value());
      }
    } else if (n.op == Op::Gather) {
      if (i == 0) map[static_cast<int>(n.payload)] = {place_axis(r), 0, 1};
    } else {
      map = graph::compose(graph::broadcast_map(g_.shape(n.inputs[i].node).span(), g_.shape(reader).span()), map);
    }
    return follow(n.inputs[i], std::move(map), reader, i, r.recomputed, box);
  }

  Request follow(GraphEdge edge, IndexMap map, NodeId reader, int i, std::uint32_t recomputed,
                 std::uint32_t box) const {
    Request r;
    r.source = traced(g_, edge, std::move(map));
    r.box = box;
    const NodeId z = r.source.edge.node;
    if (through_reshape(r.source)) return r;
    if (recomputed != kNoId) {
      r.compute =
          std::binary_search(fusion_.recomputed_sets[recomputed].begin(), fusion_.recomputed_sets[recomputed].end(), z);
      r.recomputed = recomputed;
    } else if (fusion_.recomputed_set(reader, i) != kNoId) {
      r.compute = true;
      r.recomputed = fusion_.recomputed_set(reader, i);
    } else {
      r.compute = in_group(z);
    }
    const OpClass c = op_class(z);
    if (c == OpClass::Scalar || c == OpClass::Iota || (walks(z) && r.compute)) r.box = kNone;
    return r;
  }

  /// True if the map addresses memory that a reshape gave another shape: it cannot be computed here.
  [[nodiscard]] bool through_reshape(const graph::Source& s) const { return !(s.shape == g_.shape(s.edge.node)); }

  [[nodiscard]] bool is_computed(const Request& r) const {
    const OpClass c = op_class(r.source.edge.node);
    return r.compute && (c == OpClass::Map || c == OpClass::Update || c == OpClass::Gather);
  }

  // --- Loops --------------------------------------------------------------------------------------------------------

  /// A short reduction that the kernel computes at the request's points, as a loop.
  [[nodiscard]] bool is_nested(const Request& r) const {
    return r.compute && op_class(r.source.edge.node) == OpClass::Reduce && !reduction_of_.contains(r.source.edge.node);
  }

  /// Coordinates of a nested reduction's input: its axis is that of its loop, numbered after those of the space.
  IndexMap loop_map(const Request& r) {
    const GraphNode& n = g_.nodes[r.source.edge.node];
    const int axis = g_.reduces[n.payload].axis;
    const auto [it, fresh] =
        loop_of_.try_emplace(key(r.source, kNone, false), static_cast<std::uint32_t>(out_.loops.size()));
    if (fresh) {
      const std::int64_t extent = g_.shape(n.inputs[0].node)[axis];
      out_.loops.push_back(extent);
      ir_.loops.push_back(scalar({kNoId, static_cast<std::uint64_t>(extent)}, Dtype::Int64));
    }
    const AxisMap steps{group_.space.size() + static_cast<int>(it->second), 0, 1};
    IndexMap m;
    for (int d = 0, at = 0; d < g_.shape(n.inputs[0].node).size(); ++d)
      m.push_back(d == axis ? steps : r.source.map[at++]);
    return m;
  }

  Instr fold(const Request& r, Instr in) {
    const Request taken = input(r, 0);
    in.kind = InstrKind::Fold;
    in.index = static_cast<std::uint32_t>(ir_.folds.size());
    const std::uint32_t loop = loop_of_.at(key(r.source, kNone, false));
    ir_.folds.push_back({g_.nodes[r.source.edge.node].op, in.dtype, find(taken), loop});
    // Where it does not vary along the space's axis, once per row; what its loop uses says.
    in.region = outer_phase_ ? Region::Outer : Region::Row;
    const auto use = [&](Value v) {
      if (v == kNone || ir_.instrs[v].region == Region::Loop) return;
      if (ir_.instrs[v].region == Region::Point || in.region == Region::Row) in.region = ir_.instrs[v].region;
    };
    use(ir_.folds.back().arg);
    for (const Instr& i : ir_.instrs) {
      if (i.loop != loop) continue;
      for (Value v : i.args) use(v);
      if (i.kind == InstrKind::Load && group_.reduces && out_.accesses[i.index].strides[group_.axis] != 0)
        in.region = Region::Point;
    }
    return in;
  }

  // --- Updates and guards -------------------------------------------------------------------------------------------

  /// An update whose box holds everywhere or nowhere within the request's is one of its inputs.
  Request decided(Request r) {
    while (is_computed(r) && g_.nodes[r.source.edge.node].op == Op::Update) {
      const std::optional<Bounds> box = update_box(r);
      if (!box)
        r = follow_input(r, 0);
      else if (*box == box_of(r.box))
        r = follow_input(r, 1);
      else
        break;
    }
    return r;
  }

  [[nodiscard]] std::optional<Bounds> update_box(const Request& r) const {
    return codegen::update_box(g_, r.source.edge.node, r.source.map, box_of(r.box));
  }

  // --- Values -------------------------------------------------------------------------------------------------------

  /// Values of points are gone behind the reduction, also those that are the same at all of them.
  void forget_points() {
    std::erase_if(memo_, [&](const auto& known) { return ir_.instrs[known.second].region == Region::Point; });
  }

  /// The value of a request if it is there: computed for its box, or for a larger one.
  [[nodiscard]] Value find(const Request& r) const {
    const bool reshaped = through_reshape(r.source);
    const auto look = [&](std::uint32_t box) {
      const auto it = memo_.find(key(r.source, box, reshaped));
      return it == memo_.end() ? kNone : it->second;
    };
    Value v = look(kNone);
    if (v != kNone || r.box == kNone) return v;
    for (std::uint32_t box = 0; box < boxes_.size() && v == kNone; ++box)
      if (contains(boxes_[box], boxes_[r.box])) v = look(box);
    return v;
  }

  /// The value of a request, by an explicit stack: groups may hold long chains.
  Value solve(Request wanted) {
    std::vector<Request> stack{std::move(wanted)};
    for (;;) {
      const Request top = stack.back();
      Value v = find(top);
      if (v == kNone) {
        if (!have_inputs(top, stack)) continue;
        v = emit(top);
        memo_[key(top.source, top.box, through_reshape(top.source))] = v;
      }
      stack.pop_back();
      if (stack.empty()) return v;
    }
  }

  /// Pushes the first input that has no value yet; true where all have one.
  bool have_inputs(const Request& r, std::vector<Request>& stack) {
    if (!is_computed(r) && !is_nested(r)) return true;
    const GraphNode& n = g_.nodes[r.source.edge.node];
    for (int i = 0; i < n.n_inputs; ++i) {
      Request in = input(r, n.op == Op::Gather ? 1 - i : i);  // where it reads, then what
      if (find(in) != kNone) continue;
      stack.push_back(std::move(in));
      return false;
    }
    return true;
  }

  // --- Places that are computed -------------------------------------------------------------------------------------

  /// That of a gather whose index has its value.
  std::int32_t place_axis(const Request& gather) {
    Computed coordinate{find(input(gather, 1)), 0};
    for (int d = 0; d < gather.source.map.size; ++d) coordinate.axes |= axes_of(gather.source.map[d]);
    return axis_of(coordinate);
  }

  Value emit(const Request& r) {
    const graph::Source& s = r.source;
    const GraphNode& n = g_.nodes[s.edge.node];
    Instr in;
    in.dtype = n.dtype;
    const OpClass c = op_class(s.edge.node);
    const bool stored = through_reshape(s) && c != OpClass::Leaf && c != OpClass::Scalar;
    switch (stored ? OpClass::View : c) {
      case OpClass::Scalar:
        in.kind = InstrKind::Scalar;
        in.region = Region::Row;
        in.index = scalar({n.payload, 0}, n.dtype);
        break;
      case OpClass::Iota: {
        Dims strides = Dims::filled(s.map.size, 0);
        if (n.payload == graph::kNumberPayload)
          strides = graph::row_major_strides(s.shape.span());
        else
          strides[static_cast<int>(n.payload)] = 1;
        const Place at = place(kNone, 0, strides, s.map);
        if (at.computed != kNone) return value_of(at);
        in = load(in, at.known, kNone);
        break;
      }
      case OpClass::Leaf: {
        const graph::LeafLayout& layout = g_.leaves[n.payload];
        TARRY_ASSERT(layout.contiguous || !through_reshape(s));
        const Dims strides = layout.contiguous ? graph::row_major_strides(s.shape.span()) : layout.strides;
        const std::uint32_t b = buffer({true, n.payload, {}}, n.dtype, g_.bytes(s.edge.node));
        in = load_at(in, b, layout.offset, strides, s.map, r.box);
        break;
      }
      case OpClass::Reduce:
      case OpClass::Scan:
        if (is_nested(r)) {
          in = fold(r, in);
          break;
        }
        if (!r.compute) {
          in = load_value(r, in);
          break;
        }
        in.kind = InstrKind::Result;
        in.region = group_.scans ? Region::Point : Region::Outer;
        in.index = reduction_of_.at(s.edge.node);
        in.output = s.edge.output;
        break;
      case OpClass::Gather:
        if (r.compute) {
          const Value v = find(input(r, 0));
          if (ir_.instrs[v].kind == InstrKind::Gather) ir_.instrs[v].note = note(s.edge.node);
          return v;
        }
        in = load_value(r, in);
        break;
      case OpClass::Update:
        if (r.compute) {
          const Value v = choice(box_of(r.box), update_box(r).value(), find(input(r, 1)), find(input(r, 0)));
          if (v != kNone) return v;
        }
        [[fallthrough]];
      case OpClass::Map: in = r.compute ? compute(r, in) : load_value(r, in); break;
      default:  // what a reshape gave another shape, or a view below one
        in = load_value(r, in);
    }
    in.note = note(s.edge.node);
    return push(in);
  }

  Instr load_value(const Request& r, Instr in) {
    const GraphEdge& e = r.source.edge;
    need(e);
    const std::uint32_t b = buffer({false, kNoId, e}, in.dtype, g_.bytes(e.node));
    return load_at(in, b, 0, graph::row_major_strides(r.source.shape.span()), r.source.map, r.box);
  }

  Instr compute(const Request& r, Instr in) {
    const GraphNode& n = g_.nodes[r.source.edge.node];
    if (n.op == Op::Index) {
      in.args = {find(input(r, 0)), find(input(r, 1)), kNone};
      return check(in, r.source.edge.node, r.source.shape, r.source.map, r.box);
    }
    in.kind = InstrKind::Compute;
    in.op = n.op;
    if (n.op == Op::Update) {
      in.op = Op::Where;
      in.args = {inside(update_box(r).value()), find(input(r, 1)), find(input(r, 0))};
    } else {
      for (int i = 0; i < n.n_inputs; ++i) in.args[static_cast<std::size_t>(i)] = find(input(r, i));
    }
    return placed(in);
  }

  // --- Statements ---------------------------------------------------------------------------------------------------

  void reduce(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    Reduction r;
    r.op = n.op;
    r.dtype = g_.nodes[n.inputs[0].node].dtype;
    for (int i = 0; i < n.n_inputs; ++i)
      r.args[static_cast<std::size_t>(i)] = solve(request(n.inputs[i], point_map(g_, group_, id), id, i, kNoId, kNone));
    if (n.op == Op::MomentsMerge)
      r.weight = scalar({kNoId, static_cast<std::uint64_t>(g_.reduces[n.payload].weight)}, Dtype::Int64);
    reduction_of_[id] = static_cast<std::uint32_t>(ir_.reductions.size());
    ir_.reductions.push_back(r);
  }

  void store(const GraphEdge& e, Region where) {
    if (e.node == group_.scatter) return scatter(e);
    const Dims& shape = g_.shape(e.node);
    const IndexMap home = home_map(shape, where == Region::Outer ? Coordinates::Outer : Coordinates::Points);
    store_at(e, value_at(e, home), where, graph::row_major_strides(shape.span()), 0, home);
  }

  Value value_at(const GraphEdge& e, const IndexMap& home) {
    const OpClass c = op_class(e.node);
    Request r;
    if (c == OpClass::View || c == OpClass::Reshape) {
      r = request(e, home, e.node, 0, kNoId, kNone);
    } else {
      r.source = traced(g_, e, home);
      r.compute = true;
      r = decided(std::move(r));
    }
    return solve(std::move(r));
  }

  /// The value of an update into its box of the buffer that holds the base.
  void scatter(const GraphEdge& e) {
    const GraphNode& n = g_.nodes[e.node];
    const graph::UpdateAttributes& at = g_.updates[n.payload];
    const IndexMap home = home_map(g_.shape(n.inputs[1].node), Coordinates::Points);
    Dims strides = graph::row_major_strides(g_.shape(e.node).span());
    std::int64_t offset = 0;
    for (int d = 0; d < strides.size(); ++d) {
      offset += at.start[d] * strides[d];
      strides[d] *= at.step[d];
    }
    store_at(e, solve(request(n.inputs[1], home, e.node, 1, kNoId, kNone)), Region::Point, strides, offset, home);
    GraphEdge base = n.inputs[0];
    if (fusion_.group_of[base.node] == kNoId) base = graph::input_source(g_, e.node, 0).edge;
    if (op_class(base.node) != OpClass::Leaf) need(base);
    out_.lowered.scatter = Scatter{e, base};
  }

  void store_at(const GraphEdge& e, Value v, Region where, const Dims& strides, std::int64_t offset,
                const IndexMap& map) {
    Instr in;
    in.kind = InstrKind::Store;
    in.region = where;
    in.dtype = g_.nodes[e.node].dtype;
    in.args[0] = v;
    in.note = note(e.node);
    RawAccess to = access(buffer({false, kNoId, e}, in.dtype, g_.bytes(e.node)), offset, strides, map);
    to.store = true;
    in.index = number(to);
    push(in);
  }

  const Graph& g_;
  const Fusion& fusion_;
  std::uint32_t group_id_;
  std::unordered_map<std::string, Value> memo_;
  std::unordered_map<NodeId, std::uint32_t> reduction_of_;
  std::unordered_map<std::string, std::uint32_t> loop_of_;  // by nested reduction and place
};

}  // namespace

Selection select(const Graph& g, const Fusion& fusion, std::uint32_t group, const Group& walk,
                 const std::vector<GraphEdge>& outputs) {
  return Selector(g, fusion, group, walk).run(outputs);
}

std::optional<Selection> select_slots(const Graph& g, const Fusion& fusion, std::uint32_t group, const Group& walk,
                                      const std::vector<GraphEdge>& outputs, const Dims& slots, std::size_t most) {
  return Selector(g, fusion, group, walk).run_slots(outputs, slots, most);
}

}  // namespace tarry::codegen
