// The choosers of scans: a thread per row where rows are short, or contiguous along the outer dimension and many; a
// warp per row of medium length; tiles of long rows. On a CPU lines side by side, or blocks of one row.
#include <algorithm>
#include <bit>

#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

constexpr int kFewestLines = 4;      // that go side by side on a CPU
constexpr int kShortScan = 2048;     // rows go side by side up to here
constexpr int kLongScan = 1 << 17;   // rows of several of the largest tiles
constexpr int kManyColumns = 16384;  // enough for a thread each

/// In units of 16 KiB, of which three tiles and 2 KiB fit the shared memory of a thread block.
int largest_tile(const graph::Target& target) {
  constexpr int kUnit = 3 * 16 * 1024;
  return static_cast<int>(
      std::min(4u, std::bit_floor(static_cast<unsigned>((target.most_shared_bytes - 2048) / kUnit))));
}

/// On a CPU columns, or rows that have less than sixteen blocks, side by side: as many as fit 256 bytes. 0 for none.
int choose_lines(const Choice& c) {
  if (c.ir.rank == 0 || c.args.extents.back() < kFewestLines) return 0;
  const bool columns = c.outer_is_best();
  if (!columns && c.args.reduced > kShortScan) return 0;
  std::size_t bytes = 0;
  for (const Reduction& r : c.ir.reductions) bytes += itemsize(r.dtype);
  const std::int64_t least = scan_lines(c.ir);
  const std::int64_t most =
      columns ? std::max(least, static_cast<std::int64_t>(std::bit_floor(256 / std::min<std::size_t>(bytes, 256))))
              : least;
  const auto extent = static_cast<std::uint64_t>(std::min(c.args.extents.back(), most));
  return std::max(static_cast<int>(least), static_cast<int>(std::bit_ceil(extent)));
}

}  // namespace

std::optional<Layout> choose_scan_serial(Choice& c) {
  if (!c.group.scans) return std::nullopt;
  if (!c.target.is_cuda()) {
    const int lines = choose_lines(c);
    return lines > 0 ? std::optional<Layout>(ScanSerialLayout{lines}) : std::nullopt;
  }
  const bool columns = c.outer_is_best() && c.args.outer_count() >= kManyColumns;
  return c.is_serial() || columns ? std::optional<Layout>(ScanSerialLayout{}) : std::nullopt;
}

std::optional<Layout> choose_scan_tiles(Choice& c) {
  if (!c.group.scans || !c.target.is_cuda() || c.args.reduced <= kWarpRowExtent) return std::nullopt;
  ScanTilesLayout layout;
  layout.units = c.args.reduced < kLongScan ? 1 : largest_tile(c.target);
  layout.vector = choose_inner_vector(c, kNarrowVector);
  return layout;
}

std::optional<Layout> choose_scan_inner(Choice& c) {
  if (!c.group.scans) return std::nullopt;
  return ScanInnerLayout{c.target.is_cuda() ? choose_inner_vector(c, kNarrowVector) : 1};
}

}  // namespace tarry::codegen
