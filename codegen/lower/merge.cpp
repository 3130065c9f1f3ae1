// merge_axes(): neighbouring axes as one, also under guards: a box that is one run of rows is an interval of it.
#include <algorithm>
#include <functional>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

using graph::Dims;
using graph::Group;

/// True if a box has the elements of `axes` that lie between two of them, in row-major order.
bool is_run(const Bounds& box, const Dims& space, const std::vector<int>& axes) {
  bool moves = false;
  for (const int d : axes) {
    if (moves && (box.low[d] != 0 || box.high[d] != space[d])) return false;
    moves = moves || box.high[d] - box.low[d] > 1;
  }
  return true;
}

/// By access: it is what guards test, and nothing else.
std::vector<bool> tested(const KernelIr& ir, std::size_t accesses) {
  std::vector<bool> only(accesses);
  for (const Guard& g : ir.guards)
    for (const GuardTerm& term : g.terms) only[term.access] = true;
  for (const Instr& in : ir.instrs)
    if (names_access(in)) only[in.index] = false;
  for (const std::uint32_t element : ir.checks) only[element] = false;
  return only;
}

MergedAxes merged(const Selection& s, const Group& group, const std::vector<bool>& ignored, bool by_boxes) {
  MergedAxes all;
  for (int d = 0; d < group.space.size(); ++d) {
    if (d == group.axis || d == group.across) continue;
    const auto walks_on = [&] {
      for (std::size_t i = 0; i < s.accesses.size(); ++i) {
        const RawAccess& a = s.accesses[i];
        if (!ignored[i] && a.strides[all.back().back()] != a.strides[d] * group.space[d]) return false;
      }
      if (!by_boxes) return true;
      std::vector<int> longer = all.back();
      longer.push_back(d);
      return std::ranges::all_of(s.boxes, [&](const Bounds& box) { return is_run(box, group.space, longer); });
    };
    if (!all.empty() && walks_on())
      all.back().push_back(d);
    else
      all.push_back({d});
  }
  if (group.row_column()) all.push_back({group.across});
  return all;
}

/// Guards made anew: a term for each merged axis that the box does not cover.
class Rewriter {
 public:
  Rewriter(Selection& s, const Group& group, const MergedAxes& merged)
      : s_(s), ir_(s.lowered.ir), group_(group), merged_(merged) {}

  void run(const std::vector<bool>& dropped) {
    std::vector<bool> outer_only;
    for (const Guard& g : ir_.guards) outer_only.push_back(s_.accesses[g.terms.front().access].outer_only);
    drop_accesses(dropped);
    drop_unused_scalars(s_);
    for (std::size_t g = 0; g < ir_.guards.size(); ++g) {
      for (const std::vector<int>& axes : merged_) term(g, axes, outer_only[g]);
      if (group_.reduces) term(g, {group_.axis}, outer_only[g]);
    }
  }

 private:
  void drop_accesses(const std::vector<bool>& dropped) {
    std::vector<std::uint32_t> now(s_.accesses.size(), kNone);
    std::vector<RawAccess> kept;
    for (std::size_t i = 0; i < s_.accesses.size(); ++i) {
      if (dropped[i]) continue;
      now[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(s_.accesses[i]);
    }
    s_.accesses = std::move(kept);
    for (Instr& in : ir_.instrs)
      if (names_access(in)) in.index = now[in.index];
    for (std::uint32_t& element : ir_.checks) element = now[element];
    if (ir_.faults != kNone) ir_.faults = now[ir_.faults];
    for (Guard& g : ir_.guards) g.terms.clear();
  }

  void term(std::size_t g, const std::vector<int>& axes, bool outer_only) {
    const Bounds& box = s_.boxes[g];
    RawAccess iota;
    iota.outer_only = outer_only;
    iota.strides = Dims::filled(group_.space.size(), 0);
    std::int64_t stride = 1, low = 0, last = 0;
    for (auto d = axes.rbegin(); d != axes.rend(); ++d) {
      iota.strides[*d] = stride;
      low += box.low[*d] * stride;
      last += (box.high[*d] - 1) * stride;
      stride *= group_.space[*d];
    }
    if (low == 0 && last + 1 == stride) return;
    iota.offset = -low;
    const ScalarRef extent{graph::kNoId, static_cast<std::uint64_t>(last + 1 - low)};
    std::vector<ScalarRef>& scalars = s_.lowered.scalars;
    const auto known = static_cast<std::size_t>(std::ranges::find(scalars, extent) - scalars.begin());
    if (known == scalars.size()) {
      scalars.push_back(extent);
      ir_.scalars.push_back(Dtype::Int64);
    }
    const auto at = static_cast<std::size_t>(std::ranges::find(s_.accesses, iota) - s_.accesses.begin());
    if (at == s_.accesses.size()) s_.accesses.push_back(iota);
    ir_.guards[g].terms.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(known)});
  }

  Selection& s_;
  KernelIr& ir_;
  const Group& group_;
  const MergedAxes& merged_;
};

/// Guards that do not hold in the largest part of the space, the product of the longest interval of each axis.
void find_rare(Selection& s, const Group& group) {
  for (int d = 0; d < group.space.size(); ++d) {
    std::vector<std::int64_t> cuts{0, group.space[d]};
    for (const Bounds& box : s.boxes) cuts.insert(cuts.end(), {box.low[d], box.high[d]});
    std::ranges::sort(cuts);
    std::size_t longest = 0;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      if (cuts[i + 1] - cuts[i] > cuts[longest + 1] - cuts[longest]) longest = i;
    for (std::size_t g = 0; g < s.boxes.size(); ++g)
      if (s.boxes[g].low[d] > cuts[longest] || s.boxes[g].high[d] < cuts[longest + 1])
        s.lowered.ir.guards[g].usual = false;
  }
}

}  // namespace

MergedAxes merged_axes(const Selection& s, const Group& group) {
  const MergedAxes plain = merged(s, group, std::vector<bool>(s.accesses.size()), false);
  if (s.boxes.empty()) return plain;
  MergedAxes joined = merged(s, group, tested(s.lowered.ir, s.accesses.size()), true);
  return joined.size() < plain.size() ? joined : plain;
}

MergedAxes merge_axes(Selection& s, const Group& group) {
  MergedAxes axes = merged_axes(s, group);
  if (s.boxes.empty()) return axes;
  find_rare(s, group);
  const std::vector<bool> none(s.accesses.size());
  if (axes.size() < merged(s, group, none, false).size())
    Rewriter(s, group, axes).run(tested(s.lowered.ir, s.accesses.size()));
  return axes;
}

}  // namespace tarry::codegen
