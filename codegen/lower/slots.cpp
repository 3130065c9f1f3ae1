// slot_axes(): short axes whose elements are slots of a point, each with statements of its own.
#include <cstdlib>
#include <limits>
#include <set>

#include "codegen/ir/usual.h"
#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kMostSlots = 16;
constexpr std::int64_t kVector = 8;  ///< elements side by side that one instruction takes

/// True where an access goes through memory in another order than the points: tiles take those.
bool turned(const Selection& s, const MergedAxes& axes) {
  for (const RawAccess& a : s.accesses) {
    std::int64_t outer = 0;
    for (const std::vector<int>& axis : axes) {
      const std::int64_t stride = std::abs(a.strides[axis.back()]);
      if (stride == 0) continue;
      if (outer != 0 && stride > outer) return true;
      outer = stride;
    }
  }
  return false;
}

/// Extents of the last axes that are slots of a point: the last one, up to `longest`, and those before it for as long
/// as they are few together.
graph::Dims short_axes(const MergedAxes& axes, const graph::Group& group, std::int64_t longest) {
  std::int64_t count = 1;
  int dims = 0;
  for (std::size_t i = axes.size(); i-- > 0;) {
    for (const int d : axes[i]) count *= group.space[d];
    if (count > (i + 1 == axes.size() ? longest : kMostSlots)) break;
    dims += static_cast<int>(axes[i].size());
  }
  graph::Dims slots;
  for (int d = group.space.size() - dims; d < group.space.size(); ++d) slots.push_back(group.space[d]);
  return slots;
}

/// True where a box covers only a part of an axis from `first` up to `end`.
bool boxes_end(const Selection& s, const graph::Group& group, int first, int end) {
  return std::ranges::any_of(s.boxes, [&](const Bounds& box) {
    for (int axis = first; axis < end; ++axis)
      if (box.low[axis] != 0 || box.high[axis] != group.space[axis]) return true;
    return false;
  });
}

/// Extents of the last axes that are slots.
graph::Dims last_axes(const Selection& s, const graph::Group& group, const graph::Target& target) {
  const MergedAxes axes = merged_axes(s, group);
  const std::int64_t boxed = target.is_cuda() ? graph::SlotLimits::last : graph::SlotLimits::last_on_cpu;
  const graph::Dims slots = short_axes(axes, group, s.boxes.empty() ? kVector - 1 : boxed);
  const std::int64_t count = graph::element_count(slots.span());
  const std::int64_t points = graph::element_count(group.space.span()) / std::max<std::int64_t>(count, 1);
  if (count < 2 || points < graph::SlotLimits::fewest_points || turned(s, axes)) return {};
  if (!target.is_cuda()) return slots;
  // A GPU's threads take the elements of a short axis side by side, unless they would go different ways.
  return boxes_end(s, group, group.space.size() - slots.size(), group.space.size()) ? slots : graph::Dims{};
}

/// As the model counts them: where a box holds is known, or asked once for a whole run of points.
double cost_of(const KernelIr& ir, const Instr& in) {
  if (in.kind != InstrKind::Compute) return 0;
  return is_choice(ir, in) ? 0 : graph::info(in.op).cost;
}

/// True if an axis moves what is read there, by a stride or by a place that is computed.
bool moves_access(const RawAccess& access, int axis) {
  return access.strides[axis] != 0 || (access.axes >> axis & 1) != 0;
}

/// The part of a point's cost that its elements along the first `dims` axes do not share.
double own_cost(const Selection& s, int dims) {
  const KernelIr& ir = s.lowered.ir;
  std::vector<bool> moves(ir.instrs.size());
  double own = 0;
  for (std::size_t v = 0; v < ir.instrs.size(); ++v) {
    const Instr& in = ir.instrs[v];
    for (const Value arg : in.args) moves[v] = moves[v] || (arg != kNone && moves[arg]);
    for (int axis = 0; axis < dims && names_access(in); ++axis)
      moves[v] = moves[v] || moves_access(s.accesses[in.index], axis);
    if (moves[v]) own += cost_of(ir, in);
  }
  return own;
}

/// Runs of elements along the first `dims` axes that no box parts.
std::int64_t runs(const Selection& s, const graph::Group& group, int dims) {
  std::int64_t count = 1;
  for (int axis = 0; axis < dims; ++axis) {
    std::set<std::int64_t> starts{0};
    for (const Bounds& box : s.boxes) starts.insert({box.low[axis], box.high[axis]});
    starts.erase(group.space[axis]);
    count *= static_cast<std::int64_t>(starts.size());
  }
  return count;
}

/// How many of the first axes may be slots together: elsewhere memory is walked as the points are.
int first_axes(const Selection& s, const graph::Group& group) {
  double bytes = 0;
  for (const Instr& in : s.lowered.ir.instrs)
    if (in.kind == InstrKind::Store) bytes += static_cast<double>(itemsize(in.dtype));
  std::int64_t count = 1;
  int dims = 0;
  for (int axis = 0; axis + 1 < group.space.size(); ++axis) {
    count *= group.space[axis];
    if (static_cast<double>(count) * bytes > graph::SlotLimits::first_bytes) break;
    if (count > 1) dims = axis + 1;
  }
  MergedAxes rest;
  for (int axis = dims; axis < group.space.size(); ++axis)
    if (group.space[axis] > 1) rest.push_back({axis});
  return turned(s, rest) ? 0 : dims;
}

}  // namespace

double cost_of(const KernelIr& ir) {
  double cost = 0;
  for (const Instr& in : ir.instrs) cost += cost_of(ir, in);
  return cost;
}

std::vector<SlotAxes> slot_axes(const Selection& s, const graph::Group& group, const graph::Target& target) {
  const KernelIr& ir = s.lowered.ir;
  if (group.reduces || group.scatter != graph::kNoId || !ir.loops.empty()) return {};
  std::vector<SlotAxes> all;
  const int rank = group.space.size();
  const graph::Dims last = last_axes(s, group, target);
  for (int first = rank - last.size(); first < rank; ++first) {
    graph::Dims extents = graph::Dims::filled(rank, 0);
    for (int axis = first; axis < rank; ++axis) extents[axis] = group.space[axis];
    all.push_back({extents, std::numeric_limits<double>::infinity()});
  }
  if (!all.empty()) return all;

  const double cost = cost_of(ir);
  for (int dims = first_axes(s, group); dims > 0; --dims) {
    graph::Dims extents = graph::Dims::filled(rank, 0);
    for (int axis = 0; axis < dims; ++axis) extents[axis] = group.space[axis];
    const std::int64_t count = graph::element_count(extents.span().first(static_cast<std::size_t>(dims)));
    const std::int64_t points = graph::element_count(group.space.span()) / count;
    if (points < graph::SlotLimits::fewest_points) continue;
    const double most = graph::SlotLimits::saves * static_cast<double>(count) * cost, own = own_cost(s, dims);
    if (runs(s, group, dims) == count)
      all.push_back({extents, std::numeric_limits<double>::infinity()});
    else if (cost - own + own * static_cast<double>(count) < most)
      all.push_back({extents, most});
  }
  return all;
}

}  // namespace tarry::codegen
