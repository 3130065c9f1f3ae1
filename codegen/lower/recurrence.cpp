// lower_levels(): a group of levels, value by value, as loops over an axis, or as a scan that combines neighbours; and
// how many lanes of loops go side by side.
#include <algorithm>
#include <bit>

#include "codegen/lower/choice.h"
#include "graph/fusion/levels.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::Dims;
using graph::Graph;
using graph::GraphEdge;
using graph::Group;
using graph::IndexMap;
using graph::kNoId;
using graph::Levels;
using graph::OpClass;
using Kind = graph::Levels::Kind;

class RecurrenceLowering {
 public:
  RecurrenceLowering(const Graph& g, const Group& group, const std::vector<GraphEdge>& outputs,
                     const graph::Target& target)
      : g_(g), levels_(*group.levels), outputs_(outputs), target_(target), walk_(group), ir_(out_.lowered.ir) {
    ir_.mode = g.nodes[levels_.outputs.front().node].mode;
    walk_.reduces = true;
    walk_.axis = walk_.space.size();
    walk_.space.push_back(*std::ranges::max_element(levels_.loops));
    if (!levels_.combines) return;
    walk_.scans = true;
    walk_.levels = nullptr;
  }

  Lowered run() {
    for (const std::int64_t count : levels_.loops)
      if (!levels_.combines) ir_.levels.push_back(constant(count));
    for (const Levels::Array& a : levels_.arrays) ir_.arrays.push_back({a.dtype, constant(a.extent)});
    now_.assign(levels_.values.size(), kNone);
    // Stores of a scan come last: a buffer may be taken over from one that is loaded.
    const auto waits = [&](const Levels::Value& v) { return levels_.combines && v.kind == Kind::Store; };
    for (const bool last : {false, true})
      for (std::size_t v = 0; v < levels_.values.size(); ++v)
        if (waits(levels_.values[v]) == last) now_[v] = lower(levels_.values[v]);
    for (std::size_t v = 0; v < levels_.values.size(); ++v)
      if (levels_.values[v].kind == Kind::Carried) carry(now_[v], now_[levels_.values[v].args[1]]);
    if (levels_.combines) assign_stages(ir_);
    const std::vector<RawAccess> raw = out_.accesses;
    const std::vector<std::int64_t> sizes = out_.buffer_bytes;
    Lowered lowered = schedule(std::move(out_), walk_, target_);
    for (const Levels::Array& a : levels_.arrays)
      lowered.args.array_bytes.push_back(a.extent * static_cast<std::int64_t>(itemsize(a.dtype)));
    count_bytes(raw, sizes, lowered);
    return lowered;
  }

 private:
  /// The scalars of series `of`, side by side.
  std::uint32_t series(std::uint32_t of) {
    const auto known = std::ranges::find(series_of_, of);
    if (known != series_of_.end()) return static_cast<std::uint32_t>(known - series_of_.begin());
    series_of_.push_back(of);
    const std::vector<GraphEdge>& all = levels_.numbers[of];
    ir_.series.push_back({static_cast<std::uint32_t>(ir_.scalars.size()), static_cast<std::uint32_t>(all.size())});
    for (const GraphEdge& e : all) {
      out_.lowered.scalars.push_back({g_.nodes[e.node].payload, 0});
      ir_.scalars.push_back(g_.nodes[e.node].dtype);
    }
    return static_cast<std::uint32_t>(ir_.series.size() - 1);
  }

  void carry(Value carried, Value next) {
    if (levels_.combines)
      ir_.reductions[ir_.instrs[carried].index].combined = next;
    else
      ir_.instrs[carried].args[1] = next;
  }

  /// A state of a neighbour, or a scan's result.
  void state_of(Instr& in, const Levels::Value& v) {
    if (v.kind == Kind::Carried) {
      Reduction r;
      r.op = graph::Op::LoopStack;
      r.args[0] = now_[v.args[0]];
      r.dtype = ir_.instrs[r.args[0]].dtype;
      in.index = static_cast<std::uint32_t>(ir_.reductions.size());
      ir_.reductions.push_back(r);
    } else {
      in.index = ir_.instrs[now_[v.args[0]]].index;
    }
    in.kind = v.kind == Kind::Carried ? InstrKind::Earlier
              : v.kind == Kind::Later ? InstrKind::Later
                                      : InstrKind::Result;
    if (in.kind == InstrKind::Result)
      in.stage = 1;
    else
      in.region = Region::Combine;
    in.dtype = ir_.reductions[in.index].dtype;
  }

  /// Operations of states, and of nothing but numbers, are of the combination.
  void combine(Instr& in) const {
    if (!levels_.combines || in.region != Region::Point) return;
    for (const Value v : in.args)
      if (v != kNone && ir_.instrs[v].region == Region::Combine) in.region = Region::Combine;
  }

  Value lower(const Levels::Value& v) {
    Instr in;
    in.region = v.once ? Region::Row : Region::Point;
    in.stage = v.loop;
    switch (v.kind) {
      case Kind::Free:
      case Kind::Memory: read(in, v); break;
      case Kind::Number:
        in.kind = InstrKind::Number;
        in.dtype = g_.nodes[v.edge.node].dtype;
        in.index = series(v.array);
        break;
      case Kind::Compute:
        in.kind = InstrKind::Compute;
        in.op = g_.nodes[v.edge.node].op;
        in.dtype = g_.nodes[v.edge.node].dtype;
        in.note = note(v.edge.node);
        for (std::size_t i = 0; i < v.args.size(); ++i)
          if (v.args[i] != kNoId) in.args[i] = now_[v.args[i]];
        combine(in);
        break;
      case Kind::Copy:
        in.kind = InstrKind::Compute;
        in.op = graph::Op::Cast;
        in.args[0] = now_[v.args[0]];
        in.dtype = ir_.instrs[in.args[0]].dtype;
        if (levels_.combines) in.region = Region::Combine;
        break;
      case Kind::Later:
      case Kind::Running: state_of(in, v); break;
      case Kind::Carried:
      case Kind::Last:
        if (levels_.combines) {
          state_of(in, v);
          break;
        }
        in.kind = v.kind == Kind::Last ? InstrKind::Last : InstrKind::Carried;
        in.args[0] = now_[v.args[0]];
        in.dtype = ir_.instrs[in.args[0]].dtype;
        break;
      case Kind::While:
        in.kind = InstrKind::While;
        in.args[0] = now_[v.args[0]];
        in.dtype = bool_;
        break;
      case Kind::Keep:
      case Kind::Kept:
        in.kind = v.kind == Kind::Keep ? InstrKind::Keep : InstrKind::Kept;
        if (v.kind == Kind::Keep) in.args[0] = now_[v.args[0]];
        in.dtype = levels_.arrays[v.array].dtype;
        in.output = v.array;
        in.index = place(kNone, v.position, {}, {}, {}, v.step, 1);
        break;
      case Kind::Store:
        if (std::ranges::find(outputs_, v.edge) == outputs_.end()) return kNone;
        in.kind = InstrKind::Store;
        in.args[0] = now_[v.args[0]];
        in.dtype = g_.nodes[v.edge.node].dtype;
        in.note = note(v.edge.node);
        in.index = place(buffer({false, kNoId, v.edge}, in.dtype, v.edge.node), 0,
                         graph::row_major_strides(v.shape.span()), v.map, v.steps, 0, levels(v));
        out_.accesses[in.index].store = true;
        break;
    }
    ir_.instrs.push_back(in);
    return static_cast<Value>(ir_.instrs.size() - 1);
  }

  [[nodiscard]] std::int64_t levels(const Levels::Value& v) const { return v.once ? 1 : levels_.loops[v.loop]; }

  void read(Instr& in, const Levels::Value& v) {
    const graph::GraphNode& n = g_.nodes[v.edge.node];
    in.dtype = n.dtype;
    in.note = note(v.edge.node);
    in.kind = InstrKind::Load;
    switch (graph::info(n.op).op_class) {
      case OpClass::Scalar:
        in.kind = InstrKind::Scalar;
        in.region = Region::Row;
        in.stage = 0;
        in.index = scalar({n.payload, 0}, n.dtype);
        return;
      case OpClass::Iota: {
        Dims strides = Dims::filled(v.map.size, 0);
        if (n.payload == graph::kNumberPayload)
          strides = graph::row_major_strides(v.shape.span());
        else
          strides[static_cast<int>(n.payload)] = 1;
        in.index = place(kNone, 0, strides, v.map, v.steps, 0, levels(v));
        return;
      }
      case OpClass::Leaf: {
        const graph::LeafLayout& layout = g_.leaves[n.payload];
        TARRY_ASSERT(layout.contiguous || v.shape == g_.shape(v.edge.node));
        in.index = place(buffer({true, n.payload, {}}, n.dtype, v.edge.node), layout.offset,
                         layout.contiguous ? graph::row_major_strides(v.shape.span()) : layout.strides, v.map, v.steps,
                         0, levels(v));
        return;
      }
      default:
        if (std::ranges::find(out_.lowered.loads, v.edge) == out_.lowered.loads.end())
          out_.lowered.loads.push_back(v.edge);
        in.index = place(buffer({false, kNoId, v.edge}, n.dtype, v.edge.node), 0,
                         graph::row_major_strides(v.shape.span()), v.map, v.steps, 0, levels(v));
    }
  }

  /// An access at the coordinates of `map`, and `more` elements on from level to level.
  std::uint32_t place(std::uint32_t of, std::int64_t offset, const Dims& strides, const IndexMap& map,
                      const Dims& steps, std::int64_t more, std::int64_t count) {
    RawAccess a;
    a.buffer = of;
    a.offset = offset;
    a.strides = Dims::filled(walk_.space.size(), 0);
    a.strides[walk_.axis] = more;
    for (int d = 0; d < map.size; ++d) {
      a.offset += map[d].start * strides[d];
      a.strides[walk_.axis] += steps[d] * strides[d];
      if (map[d].axis >= 0) a.strides[map[d].axis] += map[d].step * strides[d];
    }
    for (std::size_t i = 0; i < counts_.size(); ++i)  // a load that is there already
      if (out_.accesses[i] == a && counts_[i] == count) return static_cast<std::uint32_t>(i);
    out_.accesses.push_back(a);
    counts_.push_back(count);
    return static_cast<std::uint32_t>(out_.accesses.size() - 1);
  }

  std::uint32_t buffer(const BufferRef& ref, Dtype dtype, graph::NodeId node) {
    auto& buffers = out_.lowered.buffers;
    const auto it = std::ranges::find(buffers, ref);
    if (it != buffers.end()) return static_cast<std::uint32_t>(it - buffers.begin());
    buffers.push_back(ref);
    ir_.buffers.push_back(dtype);
    out_.buffer_bytes.push_back(g_.bytes(node));
    return static_cast<std::uint32_t>(buffers.size() - 1);
  }

  std::uint32_t scalar(const ScalarRef& ref, Dtype dtype) {
    auto& scalars = out_.lowered.scalars;
    for (std::uint32_t i = 0; i < scalars.size(); ++i)
      if (scalars[i] == ref && std::ranges::none_of(ir_.series, [&](const Series& s) { return s.has(i); })) return i;
    scalars.push_back(ref);
    ir_.scalars.push_back(dtype);
    return static_cast<std::uint32_t>(scalars.size() - 1);
  }
  std::uint32_t constant(std::int64_t value) {
    return scalar({kNoId, static_cast<std::uint64_t>(value)}, Dtype::Int64);
  }

  std::uint32_t note(graph::NodeId id) {
    out_.lowered.notes.push_back(id);
    return static_cast<std::uint32_t>(out_.lowered.notes.size() - 1);
  }

  void count_bytes(const std::vector<RawAccess>& raw, const std::vector<std::int64_t>& sizes, Lowered& lowered) const {
    std::vector<std::int64_t> read(lowered.buffers.size()), written(read);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const RawAccess& a = raw[i];
      if (a.buffer == kNone || std::find(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(i), a) !=
                                   raw.begin() + static_cast<std::ptrdiff_t>(i))
        continue;
      std::int64_t elements = a.strides[walk_.axis] == 0 ? 1 : counts_[i];
      for (int d = 0; d < walk_.axis; ++d)
        if (a.strides[d] != 0) elements *= walk_.space[d];
      (a.store ? written : read)[a.buffer] +=
          elements * static_cast<std::int64_t>(itemsize(lowered.ir.buffers[a.buffer]));
    }
    lowered.bytes_read = lowered.bytes_written = 0;
    for (std::size_t b = 0; b < read.size(); ++b) {
      lowered.bytes_read += std::min(read[b], sizes[b]);
      lowered.bytes_written += written[b];
    }
  }

  const Graph& g_;
  const Levels& levels_;
  const std::vector<GraphEdge>& outputs_;
  const graph::Target& target_;
  Group walk_;
  Selection out_;
  KernelIr& ir_;
  std::vector<Value> now_;                // by value of the levels
  std::vector<std::uint32_t> series_of_;  // by series of the IR: that of the levels
  std::vector<std::int64_t> counts_;      // by access: levels at which it is made
};

}  // namespace

Lowered lower_levels(const Graph& g, const Group& group, const std::vector<GraphEdge>& outputs,
                     const graph::Target& target) {
  return RecurrenceLowering(g, group, outputs, target).run();
}

std::optional<Layout> choose_recurrence(Choice& c) {
  constexpr std::size_t kLaneBytes = std::size_t{64} << 10;  // of all lanes of a work item: small stacks hold it
  constexpr int kFewestLanes = 2, kApart = 16, kNeighbours = 256;
  constexpr int kLeaving = 32;  // lanes that wait for each other
  if (!c.group.levels) return c.target.is_cuda() ? roll(c) : std::nullopt;
  RecurrenceLayout layout;
  if (c.target.is_cuda()) return layout;
  std::size_t bytes = 8 + c.group.levels->kept_bytes();
  for (const Instr& in : c.ir.instrs)
    if (in.kind == InstrKind::Carried || in.kind == InstrKind::Last ||
        (in.region == Region::Row && in.kind != InstrKind::Scalar && in.kind != InstrKind::Store))
      bytes += itemsize(in.dtype);
  const bool side_by_side = c.ir.rank > 0 && std::ranges::any_of(c.ir.accesses, [](const Access& a) {
                              return a.store && a.strides.back() == StrideClass::One;
                            });
  const auto extent = static_cast<std::uint64_t>(c.ir.rank == 0 ? 1 : c.args.extents.back());
  const bool leaves = std::ranges::any_of(c.ir.instrs, [](const Instr& in) { return in.kind == InstrKind::While; });
  layout.lanes = std::clamp(static_cast<int>(std::bit_ceil(std::min<std::uint64_t>(extent, kNeighbours))), kFewestLanes,
                            leaves         ? kLeaving
                            : side_by_side ? kNeighbours
                                           : kApart);
  while (layout.lanes > kFewestLanes && bytes * static_cast<std::size_t>(layout.lanes) > kLaneBytes) layout.lanes /= 2;
  return layout;
}

}  // namespace tarry::codegen
