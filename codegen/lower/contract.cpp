// Contractions: where loops read operands that do not vary along one of two neighbouring dimensions, a tile of both
// shares them. A short reduction of such operands is a loop at every point of the outer space.
#include <algorithm>
#include <utility>

#include "codegen/ir/contract.h"
#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// True if the points of a short reduction are nothing but what it takes: no stores, no guards.
bool is_loop(const KernelIr& ir) {
  return ir.guards.empty() && ir.loops.empty() && ir.stages() == 1 &&
         std::all_of(ir.reductions.begin(), ir.reductions.end(),
                     [&](const Reduction& r) { return folds(r.op) && ir.instrs[r.args[0]].region == Region::Point; }) &&
         std::none_of(ir.instrs.begin(), ir.instrs.end(),
                      [](const Instr& in) { return in.kind == InstrKind::Store && in.region != Region::Outer; });
}

/// The reduced axis becomes a loop, its outer indices the points.
void make_loop(Lowered& l, std::int64_t& extent) {
  KernelIr& ir = l.ir;
  extent = std::exchange(l.args.reduced, 1);
  ir.loops = {static_cast<std::uint32_t>(ir.scalars.size())};
  ir.scalars.push_back(Dtype::Int64);
  l.scalars.push_back({graph::kNoId, static_cast<std::uint64_t>(extent)});
  for (Instr& in : ir.instrs) {
    const bool point = in.region == Region::Point;
    in.region = point ? Region::Loop : Region::Point;
    if (point) in.loop = 0;
    if (point && in.kind == InstrKind::Load) ir.accesses[in.index].loop = 0;
    if (in.kind == InstrKind::Result) in.kind = InstrKind::Fold;
  }
  for (std::size_t i = 0; i < ir.accesses.size(); ++i) {
    Access& a = ir.accesses[i];
    a.outer_only = false;
    a.step = std::exchange(a.reduced, StrideClass::Zero);
    l.args.accesses[i].loop_stride = std::exchange(l.args.accesses[i].reduced_stride, 0);
  }
  for (const Reduction& r : std::exchange(ir.reductions, {})) ir.folds.push_back({r.op, r.dtype, r.args[0], 0});
}

/// True if every loop is at points and takes nothing from them but scalars. On a GPU one that computes much gains
/// nothing from operands at hand, and a tile would hold 32 copies of it.
bool stand_alone(const KernelIr& ir, const graph::Target& target) {
  constexpr int kMostCost = 24;
  for (std::uint32_t l = 0; l < ir.loops.size(); ++l)
    if (target.is_cuda() && loop_cost(ir, l) > kMostCost) return false;
  const auto own = [&](Value v, std::uint32_t loop) {
    return v == kNone || ir.instrs[v].loop == loop || ir.instrs[v].kind == InstrKind::Scalar;
  };
  for (const Instr& in : ir.instrs) {
    if (in.kind == InstrKind::Fold &&
        (in.region != Region::Point || !own(ir.folds[in.index].arg, ir.folds[in.index].loop)))
      return false;
    if (in.loop != kNone && !std::all_of(in.args.begin(), in.args.end(), [&](Value v) { return own(v, in.loop); }))
      return false;
  }
  return true;
}

/// True if a tile shares operands of both its sides, and what it does not share comes in runs of columns; on a CPU,
/// where blocks of columns are whole, that it shares all that moves along columns.
bool shares(const KernelIr& ir, const graph::Target& target) {
  bool rows = false, columns = false;
  for (const Staged& s : staged(ir)) (s.rows ? rows : columns) = true;
  return rows && columns && std::none_of(ir.accesses.begin(), ir.accesses.end(), [&](const Access& a) {
           if (a.loop == kNone || a.buffer == kNone) return false;
           const auto back = a.strides.size();
           const StrideClass row = a.strides[back - (ir.is_map() ? 2 : 1)],
                             column = ir.is_map() ? a.strides[back - 1] : a.reduced;
           return row != StrideClass::Zero &&
                  (target.is_cuda() ? column == StrideClass::Any : column != StrideClass::Zero);
         });
}

/// True if at least a third of the points of the tiles is there: without them a point takes about three times as long.
bool fills(const KernelIr& ir, const KernelArgs& args, const graph::Target& target) {
  const int row = ir.rank - (ir.is_map() ? 2 : 1);
  const std::int64_t rows = args.extents[row], columns = ir.is_map() ? args.extents[row + 1] : args.reduced;
  const ContractRun run = contract_run(ir, target);
  const std::int64_t down = target.is_cuda() ? contract_tile(ir).block_rows() : run.rows;
  const std::int64_t across = target.is_cuda() ? ContractTile::kColumns : run.vector;
  return 3 * rows * columns >= divide_up(rows, down) * down * divide_up(columns, across) * across;
}

/// Columns, and steps of loops, four at a time.
void align_tiles(const Choice& c, Lowered& l, const std::vector<std::int64_t>& extents) {
  const bool map = l.ir.is_map();
  const auto aligned = [&](std::size_t i) {
    const Access& a = l.ir.accesses[i];
    const AccessArgs& args = l.args.accesses[i];
    if (a.loop != kNone)
      return a.step == StrideClass::One && extents[a.loop] % 4 == 0 && is_aligned(args, 4, -1) &&
             args.reduced_stride % 4 == 0;
    if (map) return a.strides.back() == StrideClass::One && is_aligned(args, 4, l.ir.rank - 1);
    return a.reduced == StrideClass::One && is_aligned(args, 4, -1);
  };
  for (std::size_t i = 0; i < l.ir.accesses.size(); ++i)
    if (c.is_plain(i) && !l.ir.accesses[i].outer_only) l.ir.accesses[i].aligned = aligned(i);
}

/// The kernel as it would be with a tile of `least_rank` outer dimensions; takes its place in `c` where that serves it.
template <class Of>
std::optional<Layout> choose(Choice& c, Lowered l, std::vector<std::int64_t> extents, int least_rank) {
  KernelIr& ir = l.ir;
  ir.short_loops.clear();
  if (ir.loops.empty() || gathers(ir) || ir.stages() > 1 || ir.rank < least_rank || l.args.outer_count() == 0)
    return std::nullopt;
  Of layout;
  layout.loop_class = loop_class(c.target.is_cuda() ? std::ranges::max(extents) : kLongestLoop);
  ir.layout = layout;
  if (!stand_alone(ir, c.target) || !shares(ir, c.target) || !contract_fits(ir, c.target) ||
      !fills(ir, l.args, c.target))
    return std::nullopt;
  if (c.target.is_cuda()) {
    layout.vector = 4;
    align_tiles(c, l, extents);
  }
  c.lowered = std::move(l);
  c.loops = std::move(extents);
  return layout;
}

}  // namespace

std::optional<Layout> choose_contract(Choice& c) {
  if (c.ir.reductions.empty()) {
    if (c.ir.loops.empty()) return std::nullopt;
    return choose<ContractLayout>(c, c.lowered, c.loops, 2);
  }
  if (c.args.reduced < 2 || c.args.reduced > kLongestLoop || !is_loop(c.ir)) return std::nullopt;
  Lowered l = c.lowered;
  std::vector<std::int64_t> extents = c.loops;
  make_loop(l, extents.emplace_back());
  return choose<ContractLayout>(c, std::move(l), std::move(extents), 2);
}

std::optional<Layout> choose_contract_reduce(Choice& c) {
  if (c.ir.reductions.empty() || c.args.reduced <= kLongestLoop || c.ir.loops.empty()) return std::nullopt;
  return choose<ContractReduceLayout>(c, c.lowered, c.loops, 1);
}

}  // namespace tarry::codegen
