// choose_planes(): some accesses keep the elements of a short dimension side by side, as pixels keep their values, and
// others apart, as planes.
#include <algorithm>

#include "codegen/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kFewColumns = 32;  // what goes along the planes would be short itself

class Planes {
 public:
  Planes(KernelIr& ir, KernelArgs& args) : ir_(ir), args_(args) {}

  bool choose() {
    if (ir_.rank < 2 || args_.outer_count() == 0 || !find()) return false;
    to_the_end();
    ir_.schedule = Schedule::Planes;
    ir_.tile_rows = static_cast<int>(args_.extents[ir_.cross]);
    choose_vector();
    return true;
  }

 private:
  /// The short dimension is ir_.cross, the one along the planes columns_: the last one, or the next to it of a store that
  /// has pixels.
  bool find() {
    const int last = ir_.rank - 1;
    for (int d = 0; d < last; ++d) {
      if (is_pair(d, last)) return true;
      if (is_pair(last, d)) return true;
    }
    return false;
  }

  bool is_pair(int short_one, int columns) {
    const std::int64_t planes = args_.extents[short_one];
    if (planes > kMostPixelValues || args_.extents[columns] <= kFewColumns) return false;
    ir_.cross = short_one;
    columns_ = columns;
    bool side_by_side = false, apart = false;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      side_by_side |= is_interleaved(a);
      apart |= ir_.accesses[a].buffer != kNone && args_.accesses[a].strides[columns] == 1;
    }
    if (!side_by_side || !apart) ir_.cross = -1;
    return side_by_side && apart;
  }

  [[nodiscard]] bool is_interleaved(std::size_t access) const {
    const graph::Dims& strides = args_.accesses[access].strides;
    return ir_.accesses[access].buffer != kNone && strides[ir_.cross] == 1 && strides[columns_] == args_.extents[ir_.cross];
  }

  void to_the_end() {
    const auto shift = [&](auto begin) { std::rotate(begin + columns_, begin + columns_ + 1, begin + ir_.rank); };
    if (ir_.cross > columns_) --ir_.cross;
    shift(args_.extents.begin());
    for (AccessArgs& a : args_.accesses) shift(a.strides.begin());
    for (Access& a : ir_.accesses) shift(a.strides.begin());
    columns_ = ir_.rank - 1;
  }

  /// As many columns as have four bytes of the smallest elements, where all that runs is aligned.
  void choose_vector() {
    std::size_t narrowest = 4;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      if (runs(a)) narrowest = std::min(narrowest, itemsize(ir_.buffers[ir_.accesses[a].buffer]));
    int v = static_cast<int>(4 / narrowest);
    for (std::size_t a = 0; a < ir_.accesses.size() && v > 1; ++a)
      if (runs(a) && !is_aligned(a, v)) v = 1;
    ir_.vector = v;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) ir_.accesses[a].aligned = runs(a) && is_aligned(a, v);
  }

  [[nodiscard]] bool runs(std::size_t access) const {
    const bool guarded = std::any_of(ir_.instrs.begin(), ir_.instrs.end(), [&](const Instr& in) { return in.kind == InstrKind::Load && in.index == access && in.guard != kNone; });
    return !guarded && ir_.accesses[access].buffer != kNone && (ir_.accesses[access].strides.back() == StrideClass::One || is_interleaved(access));
  }

  /// Whether runs of `columns` begin where one load can take a part of them.
  [[nodiscard]] bool is_aligned(std::size_t access, int columns) const {
    const AccessArgs& a = args_.accesses[access];
    const bool interleaved = is_interleaved(access);
    const int part = run_part(ir_, static_cast<std::uint32_t>(access), columns * (interleaved ? ir_.tile_rows : 1));
    if (a.offset % part != 0) return false;
    for (int d = 0; d + 1 < ir_.rank; ++d)
      if ((!interleaved || d != ir_.cross) && a.strides[d] % part != 0) return false;
    return true;
  }

  KernelIr& ir_;
  KernelArgs& args_;
  int columns_ = 0;
};

}  // namespace

bool choose_planes(KernelIr& ir, KernelArgs& args) { return Planes(ir, args).choose(); }

}  // namespace tarry::codegen
