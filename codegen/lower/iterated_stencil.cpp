// lower_iterated_stencil(): a group of steps, from the stored value that they begin with to the last node. What is read
// at several shifts is computed in a stage of its own; memory is loaded before, the result is stored after all of them.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "codegen/ir/iterated_stencil.h"
#include "codegen/lower/choice.h"
#include "graph/fusion/stencil_places.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::Dims;
using graph::Graph;
using graph::GraphEdge;
using graph::GraphNode;
using graph::Group;
using graph::IndexMap;
using graph::kNoId;
using graph::NodeId;
using graph::OpClass;
using graph::Source;

constexpr std::int64_t kMostAround = 2048;  // points around the space that a tile may cover
constexpr int kColumns = 4;                 // of a lane
constexpr int kHeldWords =
    48;  // of a thread, for the values of its points: with these 8 warps twice on a multiprocessor do not spill
constexpr int kNarrowWords = 40;  // the same where elements are narrower than what they are computed in
constexpr int kWarps = 8;         // of a thread block, one below the other
constexpr int kItemRows = 128, kItemColumns = 1024;  // of a work item on a CPU
// The rows that a work item keeps fit L2 and the smallest stacks.
constexpr std::size_t kRingBytes = std::size_t{96} << 10;

IteratedStencilLayout choose_item(const KernelIr& ir) {
  IteratedStencilLayout layout{kItemColumns, ir.rank > 1 ? kItemRows : 1};
  while (ring_bytes(ir, layout) > kRingBytes && layout.columns > 32) layout.columns /= 2;
  return layout;
}

/// In rows of a lane of one column, of the busiest multiprocessor. As measured on an H200 with five points: ten steps
/// of 256^2 take 3.9, 5.0, 7.8, 10.0 us with 2 x 4, 4 x 4, 2 x 16, 4 x 12 columns and rows, those of 8192^2 0.356 ms
/// with the last and 1.1 with the first.
double time_of(const Choice& c, const IteratedStencilLayout& layout) {
  constexpr double kEnds = 0.9, kExchange = 0.5;
  double blocks = 1;
  for (int d = 0; d < c.ir.rank; ++d) {
    const std::int64_t tile = layout.tile(c.ir, d);
    blocks *= static_cast<double>((c.args.extents[d] + tile - 1) / tile);
  }
  return std::max(1.0, blocks / c.target.multiprocessors) * layout.warps * (layout.columns + kEnds) *
         (layout.rows + kExchange);
}

/// True if lanes reach their neighbours' points, and tiles have points left.
bool reaches_all(const KernelIr& ir, const IteratedStencilLayout& layout) {
  int farthest_row = 1, farthest_column = 1;
  for (const Instr& in : ir.instrs) {
    farthest_row = std::max(farthest_row, std::abs(in.row));
    farthest_column = std::max(farthest_column, std::abs(in.column));
  }
  const IteratedTile t = iterated_tile(ir, layout);
  return layout.columns >= farthest_column && layout.rows >= farthest_row && t.stored_rows > 0 && t.stored_columns > 0;
}

/// As many warps as can exchange their ends.
IteratedStencilLayout fill_block(const Choice& c, IteratedStencilLayout layout) {
  while (exchanged_bytes(c.ir, layout) > static_cast<std::size_t>(c.target.shared_bytes) && layout.warps > 1)
    layout.warps /= 2;
  return layout;
}

IteratedStencilLayout choose_block(const Choice& c) {
  if (c.ir.rank == 1) return {kColumns, 1, kWarps};
  const bool narrow = std::ranges::any_of(c.ir.buffers, [](Dtype d) { return is_floating(d) && itemsize(d) < 4; });
  const int most_rows = std::max(1, (narrow ? kNarrowWords : kHeldWords) / (kColumns * kept_words(c.ir)));
  std::optional<IteratedStencilLayout> best;
  for (const int columns : {kColumns, kColumns / 2}) {
    for (const int rows : {most_rows, most_rows * 2 / 3, most_rows / 3}) {
      const IteratedStencilLayout layout = fill_block(c, {columns, rows, kWarps});
      if (reaches_all(c.ir, layout) && (!best || time_of(c, layout) < time_of(c, *best))) best = layout;
    }
  }
  TARRY_ASSERT(best);
  return *best;
}

class Lowering {
 public:
  Lowering(const Graph& g, const Group& group, const graph::Target& target)
      : g_(g), group_(group), target_(target), places_(g, group.nodes, group.base), rank_(group.space.size()) {
    TARRY_ASSERT(places_.valid());
    ir_.mode = group.mode;
    ir_.rank = rank_;
    args_.extents = group.space;
  }

  Lowered run() {
    for (std::size_t i = 0; i < places_.operands().size(); ++i) load_operand(i);
    for (const NodeId id : group_.nodes)
      if (places_.kept(id)) stage(id);
    store();
    ir_.wide_index |= args_.outer_count() >= kNarrowLimit;
    Choice choice(out_, group_, target_, {});
    ir_.layout = choose_iterated_stencil(choice).value();
    return std::move(out_);
  }

 private:
  using By = std::array<std::int64_t, 2>;
  [[nodiscard]] OpClass op_class(NodeId id) const { return graph::info(g_.nodes[id].op).op_class; }

  // --- Stages -------------------------------------------------------------------------------------------------------

  /// A kept node and what is computed for it alone.
  void stage(NodeId id) {
    std::vector<NodeId> needed{id};
    int number = 1;
    for (std::size_t at = 0; at < needed.size(); ++at) {
      for (int i = 0; i < g_.nodes[needed[at]].n_inputs; ++i) {
        const Source s = places_.read(needed[at], i);
        const NodeId z = s.edge.node;
        if (!places_.contains(z) || s.edge == group_.base) continue;
        if (const auto known = value_of_.find(z); known != value_of_.end())
          number = std::max(number,
                            ir_.instrs[known->second].stage + (moved(*places_.shift(places_.place(z), s.map)) ? 1 : 0));
        else if (std::find(needed.begin(), needed.end(), z) == needed.end())
          needed.push_back(z);
      }
    }
    stage_ = number;
    std::sort(needed.begin(), needed.end());
    for (const NodeId n : needed) compute(n);
  }

  static bool moved(const By& by) { return by[0] != 0 || by[1] != 0; }

  void compute(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    Instr in = instr(InstrKind::Compute, id);
    in.op = n.op;
    if (n.op == Op::Update) {
      bool everywhere = true, nowhere = false;
      const std::uint32_t box = update_box(id, everywhere, nowhere);
      if (everywhere || nowhere) {
        value_of_[id] = operand(id, nowhere ? 0 : 1);
        return;
      }
      in.op = Op::Where;
      in.args = {inside(box), operand(id, 1), operand(id, 0)};
    } else {
      for (int i = 0; i < n.n_inputs; ++i) in.args[static_cast<std::size_t>(i)] = operand(id, i);
    }
    value_of_[id] = push(in);
  }

  [[nodiscard]] Instr instr(InstrKind kind, NodeId id) {
    Instr in;
    in.kind = kind;
    in.dtype = g_.nodes[id].dtype;
    in.stage = static_cast<std::uint8_t>(stage_);
    out_.notes.push_back(id);
    in.note = static_cast<std::uint32_t>(out_.notes.size() - 1);
    return in;
  }

  Value push(const Instr& in) {
    ir_.instrs.push_back(in);
    return static_cast<Value>(ir_.instrs.size() - 1);
  }

  /// Input i of a node that is computed now.
  Value operand(NodeId id, int i) {
    const Source s = places_.read(id, i);
    const NodeId z = s.edge.node;
    switch (op_class(z)) {
      case OpClass::Scalar: return scalar_value(z);
      case OpClass::Iota: return coordinate(s);
      default: break;
    }
    const auto& operands = places_.operands();
    const auto memory = std::find(operands.begin(), operands.end(), s.edge);
    if (memory == operands.end()) return neighbour(value_of_.at(z), *places_.shift(places_.place(z), s.map), z);
    const auto number = static_cast<std::size_t>(memory - operands.begin());
    return neighbour(loaded_[number], *places_.shift(places_.operand_place(number), s.map), z);
  }

  Value neighbour(Value v, const By& by, NodeId id) {
    if (!moved(by)) return v;
    const auto [it, fresh] = neighbours_.try_emplace({v, stage_, by}, 0);
    if (!fresh) return it->second;
    Instr in = instr(InstrKind::Neighbour, id);
    in.args[0] = v;
    in.row = static_cast<std::int8_t>(by[0]);
    in.column = static_cast<std::int8_t>(by[1]);
    return it->second = push(in);
  }

  Value scalar_value(NodeId id) {
    const auto [it, fresh] = scalar_of_.try_emplace(id, 0);
    if (!fresh) return it->second;
    Instr in = instr(InstrKind::Scalar, id);
    in.stage = 0;
    in.index = static_cast<std::uint32_t>(out_.scalars.size());
    out_.scalars.push_back({g_.nodes[id].payload, 0});
    ir_.scalars.push_back(in.dtype);
    return it->second = push(in);
  }

  Value coordinate(const Source& s) {
    const GraphNode& n = g_.nodes[s.edge.node];
    Dims strides = Dims::filled(s.map.size, 0);
    if (n.payload == graph::kNumberPayload)
      strides = graph::row_major_strides(s.shape.span());
    else
      strides[static_cast<int>(n.payload)] = 1;
    const std::uint32_t a = access(kNone, 0, strides, s.map, false);
    const auto [it, fresh] = coordinates_.try_emplace({a, stage_}, 0);
    if (!fresh) return it->second;
    Instr in = instr(InstrKind::Load, s.edge.node);
    in.index = a;
    return it->second = push(in);
  }

  // --- Memory -------------------------------------------------------------------------------------------------------

  void load_operand(std::size_t number) {
    const GraphEdge e = places_.operands()[number];
    const IndexMap& place = places_.operand_place(number);
    const GraphNode& n = g_.nodes[e.node];
    stage_ = 0;
    BufferRef ref;
    Dims strides = graph::row_major_strides(g_.shape(e.node).span());
    std::int64_t offset = 0;
    if (op_class(e.node) == OpClass::Leaf) {
      const graph::LeafLayout& layout = g_.leaves[n.payload];
      ref = {true, n.payload, {}};
      if (!layout.contiguous) strides = layout.strides;
      offset = layout.offset;
    } else {
      ref = {false, kNoId, e};
      out_.loads.push_back(e);
    }
    Instr in = instr(InstrKind::Load, e.node);
    const std::uint32_t b = buffer(ref, in.dtype);
    in.index = access(b, offset, strides, place, false);
    in.guard = existence(place, g_.shape(e.node));
    loaded_.push_back(push(in));
    std::int64_t elements = 1;
    for (int d = 0; d < place.size; ++d)
      if (place[d].axis >= 0)
        elements *= std::min(g_.shape(e.node)[d], group_.space[place[d].axis] + reach(place[d].axis));
    out_.bytes_read += std::min(elements * static_cast<std::int64_t>(itemsize(in.dtype)), g_.bytes(e.node));
  }

  [[nodiscard]] std::int64_t reach(int axis) const {
    return axis + 2 < rank_ ? 0 : places_.reach()[static_cast<std::size_t>(axis + 2 - rank_)].both();
  }

  void store() {
    const NodeId id = group_.nodes.back();
    stage_ = ir_.stages();
    Instr in = instr(InstrKind::Store, id);
    in.args[0] = value_of_.at(id);
    const std::uint32_t b = buffer({false, kNoId, {id, 0}}, in.dtype);
    in.index = access(b, 0, graph::row_major_strides(g_.shape(id).span()), places_.place(id), true);
    push(in);
    out_.bytes_written = g_.bytes(id);
  }

  std::uint32_t buffer(const BufferRef& ref, Dtype dtype) {
    out_.buffers.push_back(ref);
    ir_.buffers.push_back(dtype);
    return static_cast<std::uint32_t>(out_.buffers.size() - 1);
  }

  /// An access at the coordinates of `map`; accesses of coordinates that are equal are one.
  std::uint32_t access(std::uint32_t buffer, std::int64_t offset, const Dims& strides, const IndexMap& map,
                       bool store) {
    AccessArgs args;
    args.offset = offset;
    args.strides = Dims::filled(rank_, 0);
    for (int d = 0; d < map.size; ++d) {
      args.offset += map[d].start * strides[d];
      if (map[d].axis >= 0) args.strides[map[d].axis] += map[d].step * strides[d];
    }
    for (std::uint32_t a = 0; buffer == kNone && a < ir_.accesses.size(); ++a)
      if (ir_.accesses[a].buffer == kNone && args_.accesses[a].offset == args.offset &&
          args_.accesses[a].strides == args.strides)
        return a;
    Access a;
    a.buffer = buffer;
    a.store = store;
    std::int64_t far = std::abs(args.offset);
    for (int d = 0; d < rank_; ++d) {
      a.strides.push_back(stride_class(args.strides[d]));
      far += std::abs(args.strides[d]) * (group_.space[d] + kMostAround);
    }
    ir_.wide_index |= far >= kNarrowLimit;
    ir_.accesses.push_back(std::move(a));
    args_.accesses.push_back(args);
    return static_cast<std::uint32_t>(ir_.accesses.size() - 1);
  }

  // --- Guards -------------------------------------------------------------------------------------------------------

  GuardTerm term(int axis, std::int64_t start, std::int64_t step, std::int64_t extent) {
    IndexMap map;
    map.push_back({axis, start, step});
    const auto [it, fresh] = extents_.try_emplace({axis, extent}, static_cast<std::uint32_t>(out_.scalars.size()));
    if (fresh) {  // not shared with another axis: the text would know that they are equal
      out_.scalars.push_back({kNoId, static_cast<std::uint64_t>(extent)});
      ir_.scalars.push_back(Dtype::Int64);
    }
    return {access(kNone, 0, {1}, map, false), it->second};
  }

  std::uint32_t guard(Guard g) {
    const auto it = std::find(ir_.guards.begin(), ir_.guards.end(), g);
    if (it != ir_.guards.end()) return static_cast<std::uint32_t>(it - ir_.guards.begin());
    ir_.guards.push_back(std::move(g));
    return static_cast<std::uint32_t>(ir_.guards.size() - 1);
  }

  /// Where memory of a shape is: around the space there may be none.
  std::uint32_t existence(const IndexMap& place, const Dims& shape) {
    Guard g;
    for (int d = 0; d < place.size; ++d)
      if (place[d].axis >= 0 && place[d].axis + 2 >= rank_)
        g.terms.push_back(term(place[d].axis, place[d].start, place[d].step, shape[d]));
    return g.terms.empty() ? kNone : guard(std::move(g));
  }

  /// Where an update gives its value, as a guard; whether that is everywhere or nowhere.
  std::uint32_t update_box(NodeId id, bool& everywhere, bool& nowhere) {
    const GraphNode& n = g_.nodes[id];
    const Dims &start = g_.updates[n.payload].start, &extents = g_.shape(n.inputs[1].node), &shape = g_.shape(id);
    const IndexMap& place = places_.place(id);
    Guard g;
    for (int d = 0; d < shape.size(); ++d) {
      if (start[d] == 0 && extents[d] == shape[d]) continue;
      nowhere |= extents[d] == 0;
      if (place[d].axis < 0) continue;  // of one element, which is the value's
      everywhere = false;
      g.terms.push_back(term(place[d].axis, place[d].start - start[d], 1, extents[d]));
    }
    return everywhere || nowhere ? kNone : guard(std::move(g));
  }

  Value inside(std::uint32_t g) {
    const auto [it, fresh] = inside_.try_emplace({g, stage_}, 0);
    if (!fresh) return it->second;
    Instr in;
    in.kind = InstrKind::Inside;
    in.dtype = Dtype::Bool;
    in.index = g;
    in.stage = static_cast<std::uint8_t>(stage_);
    return it->second = push(in);
  }

  const Graph& g_;
  const Group& group_;
  const graph::Target& target_;
  const graph::StencilPlaces places_;
  const int rank_;
  Lowered out_;
  KernelIr& ir_ = out_.ir;
  KernelArgs& args_ = out_.args;
  int stage_ = 0;
  std::vector<Value> loaded_;  // by operand
  std::unordered_map<NodeId, Value> value_of_, scalar_of_;
  std::map<std::tuple<Value, int, By>, Value> neighbours_;
  std::map<std::pair<std::uint32_t, int>, Value> coordinates_, inside_;
  std::map<std::pair<int, std::int64_t>, std::uint32_t> extents_;
};

}  // namespace

std::optional<Layout> choose_iterated_stencil(Choice& c) {
  if (!c.group.iterated_stencil()) return std::nullopt;
  if (!c.target.is_cuda()) return choose_item(c.ir);
  const IteratedStencilLayout layout = choose_block(c);
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i) {
    Access& a = c.ir.accesses[i];
    if (a.buffer != kNone && a.strides.back() == StrideClass::One)
      a.aligned = c.is_aligned(i, layout.columns, c.ir.rank - 1);
  }
  return layout;
}

Lowered lower_iterated_stencil(const Graph& g, const Group& group, const graph::Target& target) {
  return Lowering(g, group, target).run();
}

}  // namespace tarry::codegen
