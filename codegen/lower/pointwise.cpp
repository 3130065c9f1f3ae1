// choose_pointwise(): the points that a GPU thread has at once, and short dimensions gathered for the caches.
#include <algorithm>

#include "codegen/ir/fit.h"
#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kShortExtent = 32;  // a tile of a transpose would be mostly empty
constexpr std::int64_t kRun = 4096;        // whose elements, times a short extent, the caches of a core hold
constexpr int kMixedVector = 8;            // elements of a vector where values are wider than memory

/// Cuts the last dimension in two, the inner one of at most kRun elements, where it is longer and has such a divisor.
bool cut_last(KernelIr& ir, KernelArgs& args) {
  const int last = ir.rank - 1;
  const std::int64_t extent = args.extents[last];
  std::int64_t run = std::min(extent, kRun);
  while (run > kShortExtent && extent % run != 0) --run;
  if (run <= kShortExtent || run == extent || ir.rank == graph::kMaxRank) return false;
  args.extents[last] = extent / run;
  args.extents.push_back(run);
  for (std::size_t i = 0; i < ir.accesses.size(); ++i) {
    graph::Dims& strides = args.accesses[i].strides;
    strides.push_back(strides[last]);
    strides[last] *= run;
    ir.accesses[i].strides.push_back(ir.accesses[i].strides.back());
    ir.accesses[i].strides[static_cast<std::size_t>(last)] = stride_class(strides[last]);
  }
  ++ir.rank;
  return true;
}

bool fits(const Choice& c, int v) {
  if (c.ir.rank > 1 && c.args.extents.back() % v != 0) return false;
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i)
    if (c.is_plain(i) && c.ir.accesses[i].strides.back() == StrideClass::One && !c.is_aligned(i, v, c.ir.rank - 1))
      return false;
  return true;
}

/// 16 bytes of the widest buffer, or the widest vector that every access is aligned to.
int choose_vector(Choice& c) {
  if (c.ir.rank == 0) return 1;
  std::size_t widest = 1;
  for (const Access& a : c.ir.accesses) {
    if (a.strides.back() == StrideClass::Any) return 1;
    if (a.buffer != kNone && a.strides.back() == StrideClass::One)
      widest = std::max(widest, itemsize(c.ir.buffers[a.buffer]));
  }
  int v = c.target.vector_bytes / static_cast<int>(widest);
  if (std::any_of(c.ir.instrs.begin(), c.ir.instrs.end(), [&](const Instr& in) { return itemsize(in.dtype) > widest; }))
    v = std::min(v, kMixedVector);
  while (v > 1 && !fits(c, v)) v /= 2;
  if (v == 1) return 1;
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i)
    c.ir.accesses[i].aligned =
        (c.is_plain(i) || (c.numbers_draw(i) && c.is_aligned(i, std::min(v, kDrawBlock), c.ir.rank - 1))) &&
        c.ir.accesses[i].strides.back() == StrideClass::One;
  return v;
}

}  // namespace

void gather_short(KernelIr& ir, KernelArgs& args) {
  const int last = ir.rank - 1;
  for (int d = 0; d < last; ++d) {
    const bool transposed =
        std::any_of(ir.accesses.begin(), ir.accesses.end(), [&](const Access& a) { return is_transposed(a, d); });
    if (!transposed || args.extents[d] > kShortExtent || args.extents[last] <= kShortExtent) continue;
    const auto shift = [&](auto begin, int end) { std::rotate(begin + d, begin + d + 1, begin + end); };
    const int end = cut_last(ir, args) ? last + 1 : last;
    shift(args.extents.begin(), end);
    for (AccessArgs& a : args.accesses) shift(a.strides.begin(), end);
    for (Access& a : ir.accesses) shift(a.strides.begin(), end);
    return;
  }
}

std::optional<Layout> choose_pointwise(Choice& c) {
  if (c.group.reduces) return std::nullopt;
  if (c.ir.loops.empty()) gather_short(c.ir, c.args);
  PointwiseLayout layout;
  if (!c.target.is_cuda()) return layout;
  if (c.ir.loops.empty()) layout.vector = choose_vector(c);
  if (!fits_one_point(c.ir, layout.vector == 1 ? kPointGroups : 1, layout.vector)) return layout;
  take_single_points(c.ir);
  return c.ir.layout;
}

}  // namespace tarry::codegen
