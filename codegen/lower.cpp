// lower(): demand-driven instruction selection over index maps, then collapsing of dimensions and choice of schedule.
#include "codegen/lower.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>

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

constexpr std::int64_t kNarrowLimit = std::int64_t{1} << 31;
constexpr int kSerialExtent = 32;     // R is left to right up to here
constexpr int kWarpRowExtent = 4096;  // a warp per row up to here, a block per piece of a row beyond
constexpr int kReduceVector = 4;      // consecutive elements a GPU thread loads along the reduced axis

/// An access before dimensions are collapsed: strides over every axis of the group's space.
struct RawAccess {
  std::uint32_t buffer = kNone;
  bool store = false, outer_only = false;
  std::int64_t offset = 0;
  Dims strides;
  friend bool operator==(const RawAccess&, const RawAccess&) = default;
};

/// A value wanted at some coordinates. `cone`: the recomputation it belongs to; `compute`: not read from memory.
struct Request {
  GraphEdge edge;
  IndexMap map;
  std::uint32_t cone = kNoId;
  bool compute = false;
};

class Lowerer {
 public:
  Lowerer(const Graph& g, const Fusion& fusion, std::uint32_t group, const graph::Target& target)
      : g_(g), fusion_(fusion), group_id_(group), group_(fusion.groups[group]), target_(target) {
    out_.ir.mode = group_.mode;
  }

  Lowered run(const std::vector<GraphEdge>& outputs) {
    if (group_.reduces) lower_reductions(outputs);
    for (const GraphEdge& e : outputs)
      if (!is_outer(e.node)) store(e, Region::Point);
    outer_stage_ = true;
    for (const GraphEdge& e : outputs)
      if (is_outer(e.node)) store(e, Region::Outer);
    collapse();
    choose_schedule();
    count_bytes();
    verify(out_.ir);
    return std::move(out_);
  }

 private:
  [[nodiscard]] OpClass op_class(NodeId id) const { return graph::info(g_.nodes[id].op).op_class; }
  [[nodiscard]] bool in_group(NodeId id) const { return fusion_.group_of[id] == group_id_; }

  /// Epilogue nodes: over the outer space. Where the reduced extent is 1 shapes cannot tell, dependence does.
  [[nodiscard]] bool is_outer(NodeId id) const {
    if (!group_.reduces) return false;
    if (op_class(id) == OpClass::Reduce) return true;
    if (group_.space[group_.axis] != 1) return !(graph::squeeze(g_.shape(id)) == graph::squeeze(group_.space));
    std::vector<NodeId> stack{id}, seen;
    while (!stack.empty()) {
      const NodeId n = stack.back();
      stack.pop_back();
      if (!in_group(n) || std::find(seen.begin(), seen.end(), n) != seen.end()) continue;
      if (op_class(n) == OpClass::Reduce) return true;
      seen.push_back(n);
      for (int i = 0; i < g_.nodes[n].n_inputs; ++i) stack.push_back(graph::input_source(g_, n, i).edge.node);
    }
    return false;
  }

  /// Coordinates of the group's space -> dimensions of a shape that lives in it.
  [[nodiscard]] IndexMap home_map(const Dims& shape, bool outer) const {
    IndexMap m;
    int axis = -1;
    const auto next = [&] {
      do ++axis;
      while (axis < group_.space.size() && ((outer && axis == group_.axis) || group_.space[axis] == 1));
    };
    for (std::int64_t extent : shape) {
      if (extent == 1) {
        m.push_back({-1, 0, 0});
      } else {
        next();
        m.push_back({axis, 0, 1});
      }
    }
    return m;
  }

  // --- Values -------------------------------------------------------------------------------------------------------

  static std::string memo_key(const GraphEdge& e, const IndexMap& m) {
    std::string key(reinterpret_cast<const char*>(&e), sizeof e);
    for (int i = 0; i < m.size; ++i) {
      const std::int64_t part[3] = {m[i].axis, m[i].start, m[i].step};
      key.append(reinterpret_cast<const char*>(part), sizeof part);
    }
    return key;
  }

  /// The value of a request, by an explicit stack: groups may hold long chains.
  Value solve(Request request) {
    std::vector<Request> stack{normalised(std::move(request))};
    for (;;) {
      const Request top = stack.back();
      const std::string key = memo_key(top.edge, top.map);
      if (!memo_.contains(key)) {
        if (!missing_input(top, stack)) continue;
        memo_[key] = emit(top);
      }
      stack.pop_back();
      if (stack.empty()) return memo_.at(key);
    }
  }

  /// Pushes the first input that has no value yet; true where all have one.
  bool missing_input(const Request& r, std::vector<Request>& stack) {
    if (!is_computed_here(r)) return true;
    for (int i = 0; i < g_.nodes[r.edge.node].n_inputs; ++i) {
      Request in = input_request(r, i);
      if (memo_.contains(memo_key(in.edge, in.map))) continue;
      stack.push_back(std::move(in));
      return false;
    }
    return true;
  }

  [[nodiscard]] bool is_computed_here(const Request& r) const {
    return r.compute && op_class(r.edge.node) == OpClass::Map;
  }

  /// Follows views, drops coordinates that cannot move, so that equal requests have equal keys.
  Request normalised(Request r) const {
    graph::Source s = graph::trace(g_, r.edge, r.map);
    r.edge = s.edge;
    r.map = s.map;
    const Dims& shape = g_.shape(r.edge.node);
    for (int i = 0; i < shape.size(); ++i)
      if (shape[i] == 1 || r.map[i].step == 0 || r.map[i].axis < 0)
        r.map[i] = {-1, shape[i] == 1 ? 0 : r.map[i].start, 0};
    return r;
  }

  Request input_request(const Request& r, int i) const {
    const GraphNode& n = g_.nodes[r.edge.node];
    const Dims& source = g_.shape(n.inputs[i].node);
    Request in;
    in.edge = n.inputs[i];
    in.map = op_class(r.edge.node) == OpClass::Map
                 ? graph::compose(graph::broadcast_map(source.span(), g_.shape(r.edge.node).span()), r.map)
                 : r.map;
    return placed(normalised(std::move(in)), r.edge.node, i, r.cone);
  }

  /// Decides whether what input i of `reader` reads is computed in this kernel.
  Request placed(Request in, NodeId reader, int i, std::uint32_t cone) const {
    const NodeId z = in.edge.node;
    if (cone != kNoId) {
      const auto& members = fusion_.cones[cone];
      in.compute = std::binary_search(members.begin(), members.end(), z);
      in.cone = cone;
    } else if (fusion_.cone(reader, i) != kNoId) {
      in.compute = true;
      in.cone = fusion_.cone(reader, i);
    } else {
      in.compute = in_group(z);
    }
    return in;
  }

  Value emit(const Request& r) {
    const GraphNode& n = g_.nodes[r.edge.node];
    Instr in;
    in.dtype = n.dtype;
    in.note = note(r.edge.node);
    switch (op_class(r.edge.node)) {
      case OpClass::Scalar:
        in.kind = InstrKind::Scalar;
        in.region = Region::Row;
        in.index = scalar({n.payload, 0}, n.dtype);
        break;
      case OpClass::Iota:
        in.kind = InstrKind::Load;
        in.index = access(kNone, Dims::filled(r.map.size, 0), 0, r.map, static_cast<int>(n.payload));
        break;
      case OpClass::Leaf: {
        const graph::LeafLayout& layout = g_.leaves[n.payload];
        const Dims strides =
            layout.contiguous ? graph::row_major_strides(g_.shape(r.edge.node).span()) : layout.strides;
        in.kind = InstrKind::Load;
        in.index =
            access(buffer({true, n.payload, {}}, n.dtype, g_.bytes(r.edge.node)), strides, layout.offset, r.map, -1);
        break;
      }
      case OpClass::Reduce:
        if (r.compute) {
          TARRY_ASSERT(outer_stage_);
          in.kind = InstrKind::Result;
          in.region = Region::Outer;
          in.index = reduction_of_.at(r.edge.node);
          in.output = r.edge.output;
          break;
        }
        in = load_value(r, in);
        break;
      case OpClass::Map:
        if (r.compute)
          in = compute(r, in);
        else
          in = load_value(r, in);
        break;
      default:
        TARRY_ASSERT(false && "views are followed before");
    }
    if (in.kind == InstrKind::Load) in.region = load_region(in.index);
    return push(in);
  }

  Instr load_value(const Request& r, Instr in) {
    if (std::find(out_.loads.begin(), out_.loads.end(), r.edge) == out_.loads.end()) out_.loads.push_back(r.edge);
    in.kind = InstrKind::Load;
    in.index = access(buffer({false, kNoId, r.edge}, in.dtype, g_.bytes(r.edge.node)),
                      graph::row_major_strides(g_.shape(r.edge.node).span()), 0, r.map, -1);
    return in;
  }

  Instr compute(const Request& r, Instr in) {
    const GraphNode& n = g_.nodes[r.edge.node];
    in.kind = InstrKind::Compute;
    in.op = n.op;
    in.region = group_.reduces ? Region::Row : Region::Point;
    for (int i = 0; i < n.n_inputs; ++i) {
      const Request input = input_request(r, i);
      const Value v = memo_.at(memo_key(input.edge, input.map));
      in.args[static_cast<std::size_t>(i)] = v;
      const Region region = out_.ir.instrs[v].region;
      if (region != Region::Row) in.region = region;
    }
    if (outer_stage_ && in.region == Region::Row) in.region = Region::Outer;
    return in;
  }

  Region load_region(std::uint32_t index) const {
    if (!group_.reduces) return Region::Point;
    if (outer_stage_) return Region::Outer;
    return raw_[index].strides[group_.axis] == 0 ? Region::Row : Region::Point;
  }

  Value push(Instr in) {
    if (!group_.reduces) in.region = Region::Point;
    out_.ir.instrs.push_back(in);
    return static_cast<Value>(out_.ir.instrs.size() - 1);
  }

  std::uint32_t note(NodeId id) {
    out_.notes.push_back(id);
    return static_cast<std::uint32_t>(out_.notes.size() - 1);
  }

  // --- Parameters ---------------------------------------------------------------------------------------------------

  std::uint32_t buffer(const BufferRef& ref, Dtype dtype, std::int64_t bytes) {
    const auto it = std::find(out_.buffers.begin(), out_.buffers.end(), ref);
    if (it != out_.buffers.end()) return static_cast<std::uint32_t>(it - out_.buffers.begin());
    out_.buffers.push_back(ref);
    out_.ir.buffers.push_back(dtype);
    buffer_bytes_.push_back(bytes);
    return static_cast<std::uint32_t>(out_.buffers.size() - 1);
  }

  std::uint32_t scalar(const ScalarRef& ref, Dtype dtype) {
    const auto it = std::find(out_.scalars.begin(), out_.scalars.end(), ref);
    if (it != out_.scalars.end()) return static_cast<std::uint32_t>(it - out_.scalars.begin());
    out_.scalars.push_back(ref);
    out_.ir.scalars.push_back(dtype);
    return static_cast<std::uint32_t>(out_.scalars.size() - 1);
  }

  /// An access of `buffer` whose dimensions have `strides` at the coordinates of `map`; `iota_axis` >= 0: the
  /// coordinate itself.
  std::uint32_t access(std::uint32_t buffer_index, const Dims& strides, std::int64_t offset, const IndexMap& map,
                       int iota_axis, bool is_store = false, bool outer_only = false) {
    RawAccess a;
    a.buffer = buffer_index;
    a.store = is_store;
    a.outer_only = outer_only || (group_.reduces && outer_stage_);
    a.offset = offset;
    a.strides = Dims::filled(group_.space.size(), 0);
    for (int d = 0; d < map.size; ++d) {
      const std::int64_t stride = iota_axis < 0 ? strides[d] : d == iota_axis ? 1 : 0;
      a.offset += map[d].start * stride;
      if (map[d].axis >= 0) a.strides[map[d].axis] += map[d].step * stride;
    }
    const auto it = std::find(raw_.begin(), raw_.end(), a);
    if (it != raw_.end()) return static_cast<std::uint32_t>(it - raw_.begin());
    raw_.push_back(a);
    return static_cast<std::uint32_t>(raw_.size() - 1);
  }

  // --- Statements ---------------------------------------------------------------------------------------------------

  void lower_reductions(const std::vector<GraphEdge>& outputs) {
    for (NodeId id : needed_reductions(outputs)) {
      const GraphNode& n = g_.nodes[id];
      Reduction r;
      r.op = n.op;
      r.dtype = n.dtype;
      for (int i = 0; i < n.n_inputs; ++i) {
        Request in;
        in.edge = n.inputs[i];
        in.map = point_map(id);
        r.args[static_cast<std::size_t>(i)] = solve(placed(normalised(std::move(in)), id, i, kNoId));
      }
      if (n.op == Op::MomentsMerge)
        r.weight = scalar({kNoId, static_cast<std::uint64_t>(g_.reduces[n.payload].weight)}, Dtype::Int64);
      reduction_of_[id] = static_cast<std::uint32_t>(out_.ir.reductions.size());
      out_.ir.reductions.push_back(r);
    }
  }

  /// Coordinates of the space -> dimensions of a reduction's input: the reduced one is the space's axis even at
  /// extent 1.
  IndexMap point_map(NodeId reduce) const {
    const Dims& shape = g_.shape(g_.nodes[reduce].inputs[0].node);
    const int axis = g_.reduces[g_.nodes[reduce].payload].axis;
    Dims kept = shape;
    kept.erase(axis);
    IndexMap outer = home_map(kept, true), m;
    for (int d = 0, at = 0; d < shape.size(); ++d) m.push_back(d == axis ? AxisMap{group_.axis, 0, 1} : outer[at++]);
    return m;
  }

  /// Reductions that the outputs need, in node order.
  std::vector<NodeId> needed_reductions(const std::vector<GraphEdge>& outputs) const {
    std::vector<NodeId> found, stack, seen;
    for (const GraphEdge& e : outputs) stack.push_back(e.node);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!in_group(id) || std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
      seen.push_back(id);
      if (op_class(id) == OpClass::Reduce) {
        found.push_back(id);
        continue;
      }
      for (int i = 0; i < g_.nodes[id].n_inputs; ++i)
        if (fusion_.cone(id, i) == kNoId) stack.push_back(graph::input_source(g_, id, i).edge.node);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void store(const GraphEdge& e, Region region) {
    const bool outer = region == Region::Outer;
    const Dims& shape = g_.shape(e.node);
    const IndexMap home = home_map(shape, outer);
    Request r;
    r.edge = e;
    r.map = home;
    r.compute = true;
    Value v;
    const OpClass c = op_class(e.node);
    if (c == OpClass::View) {
      r.map = graph::compose(g_.views[g_.nodes[e.node].payload], home);
      r.edge = g_.nodes[e.node].inputs[0];
      v = solve(placed(normalised(std::move(r)), e.node, 0, kNoId));
    } else {
      v = solve(normalised(std::move(r)));
    }
    Instr in;
    in.kind = InstrKind::Store;
    in.region = region;
    in.dtype = g_.nodes[e.node].dtype;
    in.args[0] = v;
    in.note = note(e.node);
    in.index = access(buffer({false, kNoId, e}, in.dtype, g_.bytes(e.node)), graph::row_major_strides(shape.span()), 0,
                      home, -1, true, outer);
    push(in);
  }

  // --- Collapsing and schedule --------------------------------------------------------------------------------------

  /// Merges outer dimensions that every access walks as one; fills accesses, extents and strides.
  void collapse() {
    std::vector<int> axes;
    for (int d = 0; d < group_.space.size(); ++d)
      if (d != group_.axis) axes.push_back(d);
    std::vector<std::vector<int>> merged;  // each: axes of one collapsed dimension, outermost first
    for (int d : axes) {
      const bool joins = !merged.empty() && std::all_of(raw_.begin(), raw_.end(), [&](const RawAccess& a) {
        return a.strides[merged.back().back()] == a.strides[d] * group_.space[d];
      });
      if (joins)
        merged.back().push_back(d);
      else
        merged.push_back({d});
    }
    KernelIr& ir = out_.ir;
    KernelArgs& args = out_.args;
    ir.rank = static_cast<int>(merged.size());
    for (const auto& m : merged) {
      std::int64_t extent = 1;
      for (int d : m) extent *= group_.space[d];
      args.extents.push_back(extent);
    }
    if (group_.reduces) args.reduced = group_.space[group_.axis];
    for (const RawAccess& raw : raw_) {
      AccessArgs aa;
      Access a;
      aa.offset = raw.offset;
      a.buffer = raw.buffer;
      a.store = raw.store;
      a.outer_only = raw.outer_only;
      for (const auto& m : merged) aa.strides.push_back(raw.strides[m.back()]);
      if (group_.reduces && !raw.outer_only) aa.reduced_stride = raw.strides[group_.axis];
      for (std::int64_t s : aa.strides) a.strides.push_back(stride_class(s));
      a.reduced = stride_class(aa.reduced_stride);
      ir.accesses.push_back(a);
      args.accesses.push_back(aa);
      ir.wide_index |= reach(aa) >= kNarrowLimit;
    }
    ir.wide_index |= args.outer_count() >= kNarrowLimit || args.reduced >= kNarrowLimit ||
                     (args.reduced > 0 && args.outer_count() >= kNarrowLimit / args.reduced);
  }

  static StrideClass stride_class(std::int64_t s) {
    return s == 0 ? StrideClass::Zero : s == 1 ? StrideClass::One : StrideClass::Any;
  }

  [[nodiscard]] std::int64_t reach(const AccessArgs& a) const {
    std::int64_t r = std::abs(a.offset) + std::abs(a.reduced_stride) * std::max<std::int64_t>(out_.args.reduced - 1, 0);
    for (int d = 0; d < a.strides.size(); ++d)
      r += std::abs(a.strides[d]) * std::max<std::int64_t>(out_.args.extents[d] - 1, 0);
    return r;
  }

  void choose_schedule() {
    KernelIr& ir = out_.ir;
    if (!group_.reduces) {
      ir.schedule = Schedule::Pointwise;
      if (target_.is_cuda()) choose_pointwise_vector();
      return;
    }
    std::int64_t inner = 0, outer = 0;
    for (std::size_t i = 0; i < ir.accesses.size(); ++i) {
      const Access& a = ir.accesses[i];
      if (a.store || a.outer_only || a.buffer == kNone) continue;
      const auto size = static_cast<std::int64_t>(itemsize(ir.buffers[a.buffer]));
      if (a.reduced == StrideClass::One) inner += size;
      if (ir.rank > 0 && a.strides.back() == StrideClass::One && a.reduced != StrideClass::Zero) outer += size;
    }
    ir.schedule = out_.args.reduced <= kSerialExtent ? Schedule::ReduceSerial
                  : outer > inner                    ? Schedule::ReduceOuter
                                                     : Schedule::ReduceInner;
    if (!target_.is_cuda()) return;
    if (ir.schedule == Schedule::ReduceInner) {
      ir.rows_class = out_.args.reduced <= kWarpRowExtent ? 1 : 8;
      ir.vector = kReduceVector;
      for (std::size_t i = 0; i < ir.accesses.size(); ++i)
        ir.accesses[i].aligned = ir.accesses[i].buffer != kNone && ir.accesses[i].reduced == StrideClass::One &&
                                 is_aligned(i, kReduceVector, -1);
    }
    if (ir.schedule == Schedule::ReduceOuter && out_.args.extents.back() % kReduceVector == 0) {
      ir.vector = kReduceVector;
      for (std::size_t i = 0; i < ir.accesses.size(); ++i)
        ir.accesses[i].aligned = ir.accesses[i].buffer != kNone && ir.accesses[i].strides.back() == StrideClass::One &&
                                 out_.args.accesses[i].reduced_stride % kReduceVector == 0 &&
                                 is_aligned(i, kReduceVector, ir.rank - 1);
    }
  }

  void choose_pointwise_vector() {
    KernelIr& ir = out_.ir;
    if (ir.rank == 0) return;
    std::size_t widest = 1;
    for (const Access& a : ir.accesses) {
      if (a.strides.back() == StrideClass::Any) return;
      if (a.buffer != kNone && a.strides.back() == StrideClass::One)
        widest = std::max(widest, itemsize(ir.buffers[a.buffer]));
    }
    const int v = target_.vector_bytes / static_cast<int>(widest);
    if (ir.rank > 1 && out_.args.extents.back() % v != 0) return;
    for (std::size_t i = 0; i < ir.accesses.size(); ++i) {
      const Access& a = ir.accesses[i];
      if (a.buffer != kNone && a.strides.back() == StrideClass::One && !is_aligned(i, v, ir.rank - 1)) return;
    }
    ir.vector = v;
    for (Access& a : ir.accesses) a.aligned = a.buffer != kNone && a.strides.back() == StrideClass::One;
  }

  /// Offset and strides (but that of dimension `skip`) are multiples of `elements`; buffers start at 256-byte
  /// boundaries.
  [[nodiscard]] bool is_aligned(std::size_t access_index, int elements, int skip) const {
    const AccessArgs& a = out_.args.accesses[access_index];
    if (a.offset % elements != 0) return false;
    for (int d = 0; d < a.strides.size(); ++d)
      if (d != skip && a.strides[d] % elements != 0) return false;
    return true;
  }

  void count_bytes() {
    std::vector<std::int64_t> read(out_.buffers.size()), written(out_.buffers.size());
    for (std::size_t i = 0; i < out_.ir.accesses.size(); ++i) {
      const Access& a = out_.ir.accesses[i];
      if (a.buffer == kNone) continue;
      const AccessArgs& aa = out_.args.accesses[i];
      std::int64_t elements = out_.args.outer_count() == 0 ? 0 : aa.reduced_stride != 0 ? out_.args.reduced : 1;
      for (int d = 0; d < aa.strides.size(); ++d)
        if (aa.strides[d] != 0) elements *= out_.args.extents[d];
      (a.store ? written : read)[a.buffer] += elements * static_cast<std::int64_t>(itemsize(out_.ir.buffers[a.buffer]));
    }
    for (std::size_t b = 0; b < out_.buffers.size(); ++b) {
      out_.bytes_read += std::min(read[b], buffer_bytes_[b]);
      out_.bytes_written += written[b];
    }
  }

  const Graph& g_;
  const Fusion& fusion_;
  std::uint32_t group_id_;
  const Group& group_;
  const graph::Target& target_;
  bool outer_stage_ = false;
  std::vector<RawAccess> raw_;
  std::vector<std::int64_t> buffer_bytes_;
  std::unordered_map<std::string, Value> memo_;
  std::unordered_map<NodeId, std::uint32_t> reduction_of_;
  Lowered out_;
};

}  // namespace

Lowered lower(const Graph& g, const Fusion& fusion, std::uint32_t group, const std::vector<GraphEdge>& outputs,
              const graph::Target& target) {
  return Lowerer(g, fusion, group, target).run(outputs);
}

}  // namespace tarry::codegen
