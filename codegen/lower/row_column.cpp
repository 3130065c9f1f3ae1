// select_row_column(): each way of a group that reduces rows and columns is selected as a group of its own; equal
// points of the two are one.
#include <algorithm>
#include <iterator>
#include <utility>

#include "codegen/lower/selection.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

using graph::GraphEdge;
using graph::Group;

/// One way as a group that reduces one axis.
Group way(const Group& both, bool across) {
  Group one = both;
  one.axis = across ? both.across : both.axis;
  one.across = -1;
  one.of_columns.clear();
  std::erase_if(one.nodes, [&](graph::NodeId id) {
    return std::binary_search(both.of_columns.begin(), both.of_columns.end(), id) != across;
  });
  return one;
}

/// True if more bytes lie along `axis` than along `other`.
bool lies_along(const Selection& s, int axis, int other) {
  std::int64_t balance = 0;
  for (const RawAccess& a : s.accesses) {
    if (a.buffer == kNone || a.store || a.strides[axis] == 0 || a.strides[other] == 0) continue;
    const auto size = static_cast<std::int64_t>(itemsize(s.lowered.ir.buffers[a.buffer]));
    balance += (a.strides[axis] == 1 ? size : 0) - (a.strides[other] == 1 ? size : 0);
  }
  return balance >= 0;
}

class Crosser {
 public:
  explicit Crosser(Mode mode) { ir_.mode = mode; }

  /// Points of one way after the other, then all stores of points: nothing is stored before what is loaded at its
  /// place.
  Selection run(const Selection& along, const Selection& across) {
    Way ways[] = {{along, 0}, {across, 1}};
    for (Way& w : ways) import(w);
    for (Way& w : ways) points(w);
    for (Way& w : ways) point_stores(w);
    for (Way& w : ways) outers(w);
    return std::move(out_);
  }

 private:
  struct Way {
    const Selection& from;
    std::uint8_t stage;
    std::vector<std::uint32_t> buffers{}, scalars{};  // by number there
    std::uint32_t first_reduction = 0, first_note = 0;
    std::vector<Value> values{};        // by instruction there: kNone where it is not here yet
    std::vector<Value> outer_values{};  // the same of those that Outer instructions use
  };

  template <class T>
  static std::uint32_t number(std::vector<T>& all, const T& x) {
    const auto it = std::find(all.begin(), all.end(), x);
    if (it != all.end()) return static_cast<std::uint32_t>(it - all.begin());
    all.push_back(x);
    return static_cast<std::uint32_t>(all.size() - 1);
  }

  void import(Way& w) {
    const Lowered& from = w.from.lowered;
    TARRY_ASSERT(from.ir.loops.empty() && !from.scatter);
    Lowered& to = out_.lowered;
    for (std::size_t b = 0; b < from.buffers.size(); ++b) {
      w.buffers.push_back(number(to.buffers, from.buffers[b]));
      if (to.buffers.size() == ir_.buffers.size()) continue;
      ir_.buffers.push_back(from.ir.buffers[b]);
      out_.buffer_bytes.push_back(w.from.buffer_bytes[b]);
    }
    for (std::size_t s = 0; s < from.scalars.size(); ++s) {
      w.scalars.push_back(number(to.scalars, from.scalars[s]));
      if (to.scalars.size() != ir_.scalars.size()) ir_.scalars.push_back(from.ir.scalars[s]);
    }
    for (const GraphEdge& e : from.loads) number(to.loads, e);
    w.first_note = static_cast<std::uint32_t>(to.notes.size());
    to.notes.insert(to.notes.end(), from.notes.begin(), from.notes.end());
    w.values.assign(from.ir.instrs.size(), kNone);
    w.outer_values = w.values;
  }

  /// Where nothing moves along the last outer dimension, what is after its reduction has the accesses of points.
  [[nodiscard]] static bool outer_only(const Way& w, Region region) { return region == Region::Outer && w.stage == 0; }

  std::uint32_t access(const Way& w, std::uint32_t there, Region region) {
    RawAccess a = w.from.accesses[there];
    if (a.buffer != kNone) a.buffer = w.buffers[a.buffer];
    if (a.guard != kNone) a.guard = guard(w, a.guard, region);
    a.outer_only = outer_only(w, region);
    return number(out_.accesses, a);
  }

  std::uint32_t guard(const Way& w, std::uint32_t there, Region region) {
    Guard g;
    for (const GuardTerm& term : w.from.lowered.ir.guards[there].terms)
      g.terms.push_back({access(w, term.access, region), w.scalars[term.extent]});
    const std::uint32_t found = number(ir_.guards, g);
    if (found == out_.boxes.size()) out_.boxes.push_back(w.from.boxes[there]);
    return found;
  }

  /// An instruction of the way with all it names as it is named here; `values` has its arguments.
  Instr renamed(const Way& w, const Instr& there, Region region, const std::vector<Value>& values) {
    Instr in = there;
    in.region = region;
    in.stage = region == Region::Outer ? w.stage : std::uint8_t{0};
    for (Value& v : in.args)
      if (v != kNone) v = values[v];
    if (in.kind == InstrKind::Load || in.kind == InstrKind::Store) in.index = access(w, in.index, region);
    if (in.kind == InstrKind::Scalar) in.index = w.scalars[in.index];
    if (in.kind == InstrKind::Result) in.index += w.first_reduction;
    if (in.kind == InstrKind::Inside) in.index = guard(w, in.index, region);
    if (in.guard != kNone) in.guard = guard(w, in.guard, region);
    if (in.note != kNone) in.note += w.first_note;
    return in;
  }

  static bool same(const Instr& a, const Instr& b) {
    return a.kind == b.kind && a.region == b.region && a.stage == b.stage && a.dtype == b.dtype && a.op == b.op &&
           a.args == b.args && a.index == b.index && a.guard == b.guard && a.output == b.output;
  }

  /// The value of an instruction that is here already, or that comes now.
  Value push(const Instr& in) {
    const auto it =
        std::find_if(ir_.instrs.begin(), ir_.instrs.end(), [&](const Instr& other) { return same(in, other); });
    if (it != ir_.instrs.end()) return static_cast<Value>(it - ir_.instrs.begin());
    ir_.instrs.push_back(in);
    return static_cast<Value>(ir_.instrs.size() - 1);
  }

  /// Values that do not vary along one axis do along the other: but for scalars everything before the reductions is a
  /// point.
  void points(Way& w) {
    const std::vector<Instr>& from = w.from.lowered.ir.instrs;
    for (Value v = 0; v < from.size(); ++v) {
      if (from[v].region == Region::Outer || from[v].kind == InstrKind::Store) continue;
      const Region region = from[v].kind == InstrKind::Scalar ? Region::Row : Region::Point;
      w.values[v] = push(renamed(w, from[v], region, w.values));
    }
    w.first_reduction = static_cast<std::uint32_t>(ir_.reductions.size());
    for (Reduction r : w.from.lowered.ir.reductions) {
      r.stage = w.stage;
      for (Value& v : r.args)
        if (v != kNone) v = w.values[v];
      if (r.weight != kNone) r.weight = w.scalars[r.weight];
      ir_.reductions.push_back(r);
    }
  }

  void point_stores(Way& w) {
    for (const Instr& in : w.from.lowered.ir.instrs)
      if (in.kind == InstrKind::Store && in.region != Region::Outer)
        ir_.instrs.push_back(renamed(w, in, Region::Point, w.values));
  }

  void outers(Way& w) {
    const std::vector<Instr>& from = w.from.lowered.ir.instrs;
    for (Value v = 0; v < from.size(); ++v) {
      if (from[v].region != Region::Outer) continue;
      for (const Value used : from[v].args)
        if (used != kNone) outer(w, used);
      if (from[v].kind == InstrKind::Store)
        ir_.instrs.push_back(renamed(w, from[v], Region::Outer, w.outer_values));
      else
        outer(w, v);
    }
  }

  /// A value as Outer instructions see it: what was a Row value is computed once more. Arguments have smaller numbers.
  void outer(Way& w, Value wanted) {
    std::vector<Value> stack{wanted};
    while (!stack.empty()) {
      const Value v = stack.back();
      const Instr& in = w.from.lowered.ir.instrs[v];
      const auto missing = std::find_if(in.args.begin(), in.args.end(),
                                        [&](Value a) { return a != kNone && w.outer_values[a] == kNone; });
      if (w.outer_values[v] == kNone && missing != in.args.end()) {
        stack.push_back(*missing);
        continue;
      }
      stack.pop_back();
      if (w.outer_values[v] != kNone) continue;
      const Region region = in.kind == InstrKind::Scalar ? Region::Row : Region::Outer;
      w.outer_values[v] = push(renamed(w, in, region, w.outer_values));
    }
  }

  Selection out_;
  KernelIr& ir_ = out_.lowered.ir;
};

}  // namespace

Selection select_row_column(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group, Group& walk,
                            const std::vector<GraphEdge>& outputs) {
  std::vector<GraphEdge> wanted[2];
  for (const GraphEdge& e : outputs)
    wanted[std::binary_search(walk.of_columns.begin(), walk.of_columns.end(), e.node)].push_back(e);
  for (const bool across : {false, true}) {
    if (!wanted[!across].empty()) continue;
    walk = way(walk, across);
    return select(g, fusion, group, walk, wanted[across]);
  }
  const Selection first = select(g, fusion, group, way(walk, false), wanted[0]);
  const Selection second = select(g, fusion, group, way(walk, true), wanted[1]);
  const bool turned = !lies_along(first, walk.axis, walk.across);
  if (turned) std::swap(walk.axis, walk.across);
  return Crosser(first.lowered.ir.mode).run(turned ? second : first, turned ? first : second);
}

}  // namespace tarry::codegen
