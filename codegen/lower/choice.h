// Choice: a kernel whose dimensions are collapsed and whose layout is still to be chosen. The choosers of schedules
// (codegen/ir/schedules.def) go over it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/lower/selection.h"

namespace tarry::codegen {

inline constexpr int kSerialExtent = 32;  ///< tree R is left to right up to here
inline constexpr int kWarpRowExtent =
    4096;                                ///< a warp per row up to here, or a block; a block per piece of a row beyond
inline constexpr int kReduceVector = 4;  ///< consecutive elements that a GPU thread loads along the reduced axis

inline constexpr int kDrawBlock = 4;  ///< words of a block of Philox

/// True if an access loads from a buffer.
inline bool is_load(const Access& a) { return a.buffer != kNone && !a.store; }

/// True if offset and strides (but that of dimension `skip`) are multiples of `elements`; buffers start at 256-byte
/// boundaries.
inline bool is_aligned(const AccessArgs& a, int elements, int skip) {
  if (a.offset % elements != 0) return false;
  for (int d = 0; d < a.strides.size(); ++d)
    if (d != skip && a.strides[d] % elements != 0) return false;
  return true;
}

/// A chooser that returns a layout has put dimensions and accesses in order for it. One that returns none has left them
/// as they were.
class Choice {
 public:
  /// `loops`: by loop of the IR, its extent.
  Choice(Lowered& kernel, const graph::Group& of, const graph::Target& on, std::vector<std::int64_t> loops);

  Lowered& lowered;
  KernelIr& ir;
  KernelArgs& args;
  const graph::Group& group;
  const graph::Target& target;
  std::vector<std::int64_t> loops;

  /// A map over a space that is not empty and has neither loops nor gathers.
  [[nodiscard]] bool is_plain_map() const;
  [[nodiscard]] bool is_serial() const { return args.reduced <= kSerialExtent; }
  /// A reduction along one axis.
  [[nodiscard]] bool reduces() const { return group.reduces && !group.scans && !group.row_column(); }
  /// True if more bytes are contiguous, or at least nearer, along the last outer dimension than along the reduced axis.
  /// A draw counts as loaded.
  [[nodiscard]] bool outer_is_best() const;

  /// An access of memory without a guard; what a guard lets through is loaded element by element.
  [[nodiscard]] bool is_plain(std::size_t access) const;
  [[nodiscard]] bool is_vector(std::size_t access) const {
    return is_plain(access) && ir.accesses[access].loop == kNone;
  }
  /// An iota that numbers the elements of a draw: where it is aligned, neighbours share a block of words.
  [[nodiscard]] bool numbers_draw(std::size_t access) const;
  /// True if an access of memory, or the numbers of draws, go from element to element along the reduced axis.
  [[nodiscard]] bool runs_along(std::size_t access) const {
    return (is_vector(access) || numbers_draw(access)) && ir.accesses[access].reduced == StrideClass::One;
  }
  /// True if the steps of a short loop at neighbouring points, `stride` apart, lie one behind the other.
  [[nodiscard]] bool runs_through(std::size_t access, std::int64_t stride) const;
  [[nodiscard]] bool is_aligned(std::size_t access, int elements, int skip) const {
    return codegen::is_aligned(args.accesses[access], elements, skip);
  }

 private:
  std::vector<bool> guarded_;  ///< by access
};

/// Elements of a vector along the reduced axis; accesses that run along it become aligned to it. Streams of narrow
/// elements are loaded 16 bytes at a time too; rows that are held keep to few lanes per thread: at most `most`.
int choose_inner_vector(Choice& c, int most);
inline constexpr int kNarrowVector = 8;  ///< of narrow elements, where the thread does not hold them

/// A short dimension along which loads are contiguous, like the channels of images, goes inside of all others but a run
/// of the last one: whoever reads one of its elements reads the others soon, while caches have them.
void gather_short(KernelIr& ir, KernelArgs& args);

/// On a GPU: a long map whose formula repeats itself, as a Recurrence of its steps.
std::optional<Layout> roll(Choice& c);

/// On a CPU: a Transpose of whole runs of columns, where interleaved channels become planar or planar ones interleaved.
std::optional<Layout> choose_interleaved(Choice& c);

// The choosers of schedules.
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, ...) std::optional<Layout> choose(Choice& c);
#include "codegen/ir/schedules.def"

/// The layout of the first row of the table that serves the kernel.
Layout choose_layout(Choice& c);

}  // namespace tarry::codegen
