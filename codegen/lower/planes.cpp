// choose_planes(): some accesses keep the elements of a short dimension side by side, as pixels keep their values, and
// others apart, as planes.
#include <algorithm>
#include <bit>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kFewColumns = 32;        // what goes along the planes would be short itself
constexpr std::int64_t kStagedBytes = 1 << 13;  // of a tile on a CPU, which the first cache holds several times

class Planes {
 public:
  Planes(KernelIr& ir, KernelArgs& args, const graph::Target& target) : ir_(ir), args_(args), target_(target) {}

  bool choose() {
    if (ir_.rank < 2 || args_.outer_count() == 0 || !find()) return false;
    if (!target_.is_cuda() && !are_tiles()) {
      ir_.cross = -1;
      return false;
    }
    to_the_end();
    if (!target_.is_cuda()) {
      choose_tile();
      return true;
    }
    ir_.schedule = Schedule::Planes;
    ir_.tile_rows = static_cast<int>(args_.extents[ir_.cross]);
    choose_vector();
    return true;
  }

 private:
  /// The short dimension is ir_.cross, the one along the planes columns_: the last one, or the next to it of a store
  /// that has pixels.
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
    return ir_.accesses[access].buffer != kNone && side_by_side(access, ir_.cross, columns_);
  }
  [[nodiscard]] bool side_by_side(std::size_t access, int values, int along) const {
    const graph::Dims& strides = args_.accesses[access].strides;
    return strides[values] == 1 && strides[along] == args_.extents[values];
  }

  void to_the_end() {
    const auto shift = [&](auto begin) { std::rotate(begin + columns_, begin + columns_ + 1, begin + ir_.rank); };
    if (ir_.cross > columns_) --ir_.cross;
    shift(args_.extents.begin());
    for (AccessArgs& a : args_.accesses) shift(a.strides.begin());
    for (Access& a : ir_.accesses) shift(a.strides.begin());
    columns_ = ir_.rank - 1;
  }

  /// On a CPU: whether stores go along the columns, all in one way, and no guard varies from value to value.
  [[nodiscard]] bool are_tiles() const {
    bool pixels = false, planes = false;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!ir_.accesses[a].store) continue;
      if (is_interleaved(a))
        pixels = true;
      else if (args_.accesses[a].strides[columns_] == 1)
        planes = true;
      else
        return false;
    }
    for (const Guard& g : ir_.guards)
      for (const GuardTerm& term : g.terms)
        if (args_.accesses[term.access].strides[ir_.cross] != 0) return false;
    return pixels != planes;
  }

  /// On a CPU: part of a line of whole pixels.
  void choose_tile() {
    ir_.schedule = Schedule::Transpose;
    ir_.pixel = ir_.cross;
    ir_.pixel_values = static_cast<int>(args_.extents[ir_.pixel]);
    ir_.cross = -1;
    std::int64_t widest = 1;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      if (ir_.accesses[a].buffer != kNone)
        widest = std::max(widest, static_cast<std::int64_t>(itemsize(ir_.buffers[ir_.accesses[a].buffer])));
      if (ir_.accesses[a].buffer != kNone && side_by_side(a, ir_.pixel, ir_.rank - 1) && !is_guarded(ir_, a))
        ir_.accesses[a].pixels_along = ir_.rank - 1;
    }
    ir_.tile_columns =
        static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(kStagedBytes / (widest * ir_.pixel_values))));
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
    return !is_guarded(ir_, access) && ir_.accesses[access].buffer != kNone &&
           (ir_.accesses[access].strides.back() == StrideClass::One || is_interleaved(access));
  }

  /// True if runs of `columns` begin where one load can take a part of them.
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
  const graph::Target& target_;
  int columns_ = 0;
};

}  // namespace

bool choose_planes(KernelIr& ir, KernelArgs& args, const graph::Target& target) {
  return Planes(ir, args, target).choose();
}

}  // namespace tarry::codegen
