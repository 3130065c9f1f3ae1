// schedule(): collapsing of dimensions, choice of schedule and vector width, bytes.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

using graph::Dims;
using graph::Group;

constexpr std::int64_t kNarrowLimit = std::int64_t{1} << 31;
constexpr int kSerialExtent = 32;          // R is left to right up to here
constexpr int kPartRowExtent = 512;        // a part of a warp per row up to here
constexpr int kWarpRowExtent = 4096;       // a warp per row up to here, or a block; a block per piece of a row beyond
constexpr int kHeldRowExtent = 16384;      // in registers of a block up to here
constexpr int kFewestLines = 4;            // of a scan that go side by side on a CPU
constexpr int kShortScan = 2048;           // rows of a scan go side by side up to here
constexpr int kLongScan = 1 << 17;         // rows of several of the largest tiles
constexpr int kManyColumns = 16384;        // enough for a thread each
constexpr int kReduceVector = 4;           // consecutive elements a GPU thread loads along the reduced axis
constexpr std::int64_t kShortExtent = 32;  // a tile of a transpose would be mostly empty
constexpr std::int64_t kRun = 4096;        // whose elements, times a short extent, the caches of a core hold
constexpr int kDrawBlock = 4;              // words of a block of Philox
constexpr int kNarrowVector = 8;           // the same of narrow elements, where the thread does not hold them
constexpr int kByteVector = 16;            // the same of bytes, where only one number is kept of each
constexpr int kMixedVector = 8;            // elements of a pointwise vector where values are wider than memory

StrideClass stride_class(std::int64_t s) {
  return s == 0 ? StrideClass::Zero : s == 1 ? StrideClass::One : StrideClass::Any;
}

class Scheduler {
 public:
  Scheduler(Selection s, const Group& group, const graph::Target& target)
      : raw_(std::move(s.accesses)),
        boxes_(std::move(s.boxes)),
        buffer_bytes_(std::move(s.buffer_bytes)),
        loops_(std::move(s.loops)),
        group_(group),
        target_(target),
        out_(std::move(s.lowered)),
        ir_(out_.ir),
        args_(out_.args) {}

  Lowered run() {
    collapse();
    choose_schedule();
    count_bytes();
    return std::move(out_);
  }

 private:
  /// Axes of the space as collapsed outer dimensions, outermost first: neighbours that every access walks as one merge.
  [[nodiscard]] std::vector<std::vector<int>> merged_axes() const {
    std::vector<std::vector<int>> merged;
    for (int d = 0; d < group_.space.size(); ++d) {
      if (d == group_.axis || d == group_.across) continue;
      const bool joins = !merged.empty() && std::all_of(raw_.begin(), raw_.end(), [&](const RawAccess& a) {
        return a.strides[merged.back().back()] == a.strides[d] * group_.space[d];
      });
      if (joins)
        merged.back().push_back(d);
      else
        merged.push_back({d});
    }
    if (group_.crossed()) merged.push_back({group_.across});
    return merged;
  }

  void collapse() {
    const std::vector<std::vector<int>> merged = merged_axes();
    ir_.rank = static_cast<int>(merged.size());
    for (const auto& m : merged) {
      std::int64_t extent = 1;
      for (int d : m) extent *= group_.space[d];
      args_.extents.push_back(extent);
    }
    if (group_.reduces) args_.reduced = group_.space[group_.axis];
    for (const RawAccess& raw : raw_) {
      AccessArgs aa;
      Access a;
      aa.offset = raw.offset;
      a.buffer = raw.buffer;
      a.store = raw.store;
      a.outer_only = raw.outer_only;
      for (const auto& m : merged) aa.strides.push_back(raw.strides[m.back()]);
      if (group_.reduces && !raw.outer_only) aa.reduced_stride = raw.strides[group_.axis];
      a.loop = raw.loop;
      aa.loop_stride = raw.loop_stride;
      a.step = stride_class(aa.loop_stride);
      for (std::int64_t s : aa.strides) a.strides.push_back(stride_class(s));
      a.reduced = stride_class(aa.reduced_stride);
      ir_.wide_index |= reach(aa) >= kNarrowLimit;
      ir_.accesses.push_back(std::move(a));
      args_.accesses.push_back(aa);
    }
    ir_.wide_index |= args_.outer_count() >= kNarrowLimit || args_.reduced >= kNarrowLimit ||
                      (args_.reduced > 0 && args_.outer_count() >= kNarrowLimit / args_.reduced);
  }

  [[nodiscard]] std::int64_t reach(const AccessArgs& a) const {
    std::int64_t r = std::abs(a.offset) + std::abs(a.reduced_stride) * std::max<std::int64_t>(args_.reduced - 1, 0) +
                     std::abs(a.loop_stride) * (kLongestLoop - 1);
    for (int d = 0; d < a.strides.size(); ++d)
      r += std::abs(a.strides[d]) * std::max<std::int64_t>(args_.extents[d] - 1, 0);
    return r;
  }

  void choose_schedule() {
    if (choose_contract(out_, loops_, target_)) {
      if (target_.is_cuda()) choose_tile_vector();
      return;
    }
    if (target_.is_cuda())
      for (const std::int64_t extent : loops_)
        ir_.short_loops.push_back(extent <= kShortLoop ? static_cast<int>(extent) : 0);
    if (!group_.reduces) {
      ir_.schedule = Schedule::Pointwise;
      if (!ir_.loops.empty() || choose_transpose(ir_, args_, target_) || choose_planes(ir_, args_, target_)) return;
      gather_short();
      if (!target_.is_cuda()) return;
      if (!choose_stencil(ir_, args_, target_)) choose_pointwise_vector();
      return;
    }
    if (group_.scans) return choose_scan();
    if (group_.crossed()) {
      ir_.schedule = Schedule::ReduceCrossed;
      if (target_.is_cuda()) choose_crossed_vector();
      return;
    }
    const bool serial = args_.reduced <= kSerialExtent;
    if (ir_.stages() > 1)
      ir_.schedule = serial ? Schedule::RowSerial : Schedule::RowInner;
    else
      ir_.schedule = serial ? Schedule::ReduceSerial : outer_is_best() ? Schedule::ReduceOuter : Schedule::ReduceInner;
    if (!target_.is_cuda()) return;
    const bool held = args_.reduced <= kPartRowExtent ||
                      (args_.reduced <= kHeldRowExtent && (args_.reduced > kWarpRowExtent || block_is_best()));
    if (ir_.schedule == Schedule::ReduceInner && held && ir_.loops.empty()) ir_.schedule = Schedule::RowInner;
    if (serial) ir_.rows_class = serial_class(args_.reduced, ir_.exact_rows());
    if (ir_.schedule == Schedule::ReduceInner) ir_.rows_class = args_.reduced <= kWarpRowExtent ? 1 : 8;
    if (ir_.schedule == Schedule::RowInner) {
      ir_.rows_class = row_class(args_.reduced);
      ir_.half_block = args_.reduced <= kTreeBlock / 2;
    }
    if (ir_.schedule == Schedule::ReduceInner || ir_.schedule == Schedule::RowInner) choose_inner_vector();
    if (ir_.schedule == Schedule::ReduceOuter) {
      choose_outer_vector();
      choose_columns();
    }
  }

  /// True if a thread block does better with a row that a warp could have, as it loads all of it at once. Rows of few
  /// bytes leave its threads too little to wait for; and where an element costs much, the end of a row is dearer to it
  /// than to a warp.
  [[nodiscard]] bool block_is_best() const {
    constexpr std::int64_t kLeastBytes = 4000, kUnit = 4 * kTreeBlock;
    if (args_.reduced * static_cast<std::int64_t>(ir_.point_bytes()) < kLeastBytes) return false;
    std::size_t narrowest = sizeof(double);
    for (const Access& a : ir_.accesses)
      if (streams(a)) narrowest = std::min(narrowest, itemsize(ir_.buffers[a.buffer]));
    const bool narrow = narrowest < sizeof(float), moments = ir_.has_moments();
    if (narrowest == 1 || (narrow && moments)) return false;
    const bool places = std::any_of(ir_.reductions.begin(), ir_.reductions.end(),
                                    [](const Reduction& r) { return graph::is_arg_reduce(r.op); });
    const bool costly = narrow ? places : moments && narrowest < sizeof(double);
    return !costly || args_.reduced % kUnit == 0;
  }

  /// A thread per row where rows are short, or lie side by side and are many; a warp per row of medium length.
  void choose_scan() {
    ir_.schedule = Schedule::ScanInner;
    if (!target_.is_cuda()) return choose_scan_lines();
    const bool columns = outer_is_best() && args_.outer_count() >= kManyColumns;
    if (args_.reduced <= kSerialExtent || columns) {
      ir_.schedule = Schedule::ScanSerial;
      return;
    }
    if (args_.reduced > kWarpRowExtent) {
      ir_.schedule = Schedule::ScanTiles;
      ir_.rows_class = args_.reduced < kLongScan ? 1 : largest_scan_tile();
    }
    choose_inner_vector();
  }

  /// In units of 16 KiB, of which three tiles and 2 KiB fit the shared memory of a thread block.
  [[nodiscard]] int largest_scan_tile() const {
    constexpr int kUnit = 3 * 16 * 1024;
    return static_cast<int>(
        std::min(4u, std::bit_floor(static_cast<unsigned>((target_.most_shared_bytes - 2048) / kUnit))));
  }

  /// Columns, or rows that have less than sixteen blocks, side by side: as many as fit 256 bytes.
  void choose_scan_lines() {
    if (ir_.rank == 0 || args_.extents.back() < kFewestLines) return;
    const bool columns = outer_is_best();
    if (!columns && args_.reduced > kShortScan) return;
    ir_.schedule = Schedule::ScanSerial;
    std::size_t bytes = 0;
    for (const Reduction& r : ir_.reductions) bytes += itemsize(r.dtype);
    const std::int64_t most =
        columns ? std::max<std::int64_t>(
                      16, static_cast<std::int64_t>(std::bit_floor(256 / std::min<std::size_t>(bytes, 256))))
                : 16;
    const auto extent = static_cast<std::uint64_t>(std::min(args_.extents.back(), most));
    ir_.rows_class = std::max(16, static_cast<int>(std::bit_ceil(extent)));
  }

  /// True if more bytes are contiguous, or at least nearer, along the last outer dimension than along the reduced axis.
  /// A draw counts as loaded.
  [[nodiscard]] bool outer_is_best() const {
    std::int64_t inner = 0, outer = 0;
    for (const Access& a : ir_.accesses) {
      const bool drawn = numbers_draw(static_cast<std::size_t>(&a - ir_.accesses.data()));
      if (a.store || a.outer_only || (a.buffer == kNone && !drawn)) continue;
      const auto size = static_cast<std::int64_t>(drawn ? itemsize(Dtype::UInt32) : itemsize(ir_.buffers[a.buffer]));
      const bool varies =
          std::any_of(a.strides.begin(), a.strides.end(), [](StrideClass s) { return s != StrideClass::Zero; });
      if (a.reduced == StrideClass::One && (varies || ir_.rank == 0)) inner += size;
      if (ir_.rank == 0 || a.reduced == StrideClass::Zero || a.strides.back() == StrideClass::Zero) continue;
      const AccessArgs& args = args_.accesses[static_cast<std::size_t>(&a - ir_.accesses.data())];
      const bool nearer =
          a.strides.back() == StrideClass::Any && std::abs(args.strides.back()) < std::abs(args.reduced_stride);
      if (a.strides.back() == StrideClass::One || nearer) outer += size;
    }
    return outer > inner;
  }

  /// A short dimension along which loads are contiguous, like the colours of pixels, goes inside of all others but a
  /// run of the last one: whoever reads one of its elements reads the others soon, while caches have them.
  void gather_short() {
    const int last = ir_.rank - 1;
    for (int d = 0; d < last; ++d) {
      const bool crossed =
          std::any_of(ir_.accesses.begin(), ir_.accesses.end(), [&](const Access& a) { return crosses(a, d); });
      if (!crossed || args_.extents[d] > kShortExtent || args_.extents[last] <= kShortExtent) continue;
      const auto shift = [&](auto begin, int end) { std::rotate(begin + d, begin + d + 1, begin + end); };
      const int end = cut_last() ? last + 1 : last;
      shift(args_.extents.begin(), end);
      for (AccessArgs& a : args_.accesses) shift(a.strides.begin(), end);
      for (Access& a : ir_.accesses) shift(a.strides.begin(), end);
      return;
    }
  }

  /// Cuts the last dimension in two, the inner one of at most kRun elements, where it is longer and has such a divisor.
  bool cut_last() {
    const int last = ir_.rank - 1;
    const std::int64_t extent = args_.extents[last];
    std::int64_t run = std::min(extent, kRun);
    while (run > kShortExtent && extent % run != 0) --run;
    if (run <= kShortExtent || run == extent || ir_.rank == graph::kMaxRank) return false;
    args_.extents[last] = extent / run;
    args_.extents.push_back(run);
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) {
      graph::Dims& strides = args_.accesses[i].strides;
      strides.push_back(strides[last]);
      strides[last] *= run;
      ir_.accesses[i].strides.push_back(ir_.accesses[i].strides.back());
      ir_.accesses[i].strides[static_cast<std::size_t>(last)] = stride_class(strides[last]);
    }
    ++ir_.rank;
    return true;
  }

  /// Streams of narrow elements are loaded 16 bytes at a time too; rows that are held keep to few lanes per thread.
  void choose_inner_vector() {
    std::size_t widest = 0;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (runs_along(i) && is_vector(i)) widest = std::max(widest, itemsize(ir_.buffers[ir_.accesses[i].buffer]));
    ir_.vector = kReduceVector;
    const bool slight = ir_.schedule == Schedule::ReduceInner &&
                        std::all_of(ir_.reductions.begin(), ir_.reductions.end(),
                                    [](const Reduction& r) { return in_any_order(r) && !graph::is_arg_reduce(r.op); });
    if (widest > 0 && ir_.stages() == 1)
      ir_.vector = std::clamp(target_.vector_bytes / static_cast<int>(widest), kReduceVector,
                              slight ? kByteVector : kNarrowVector);
    const auto fits = [&](int v) {
      for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
        if (runs_along(i) && !is_aligned(i, v, -1)) return false;
      return true;
    };
    while (ir_.vector > kReduceVector && !fits(ir_.vector)) ir_.vector /= 2;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      ir_.accesses[i].aligned =
          (runs_along(i) || runs_through(i, args_.accesses[i].reduced_stride)) && is_aligned(i, ir_.vector, -1);
    ir_.interleaved = interleaves();
    for (Access& a : ir_.accesses) a.aligned = a.aligned && !ir_.interleaved;
  }

  /// True if the row fills a warp, and something goes along the reduced axis that is no vector; neighbours that are
  /// only loaded come as fast one way as the other.
  [[nodiscard]] bool interleaves() const {
    const bool lanes = ir_.schedule == Schedule::ReduceInner ||
                       (ir_.schedule == Schedule::RowInner && ir_.rows_class >= kReduceVector);
    if (!lanes || ir_.vector != kReduceVector) return false;
    bool apart = false;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) {
      const Access& a = ir_.accesses[i];
      if (numbers_draw(i)) return false;
      const bool counts =
          ir_.schedule == Schedule::RowInner ? a.reduced != StrideClass::Zero : a.reduced == StrideClass::Any;
      apart |= a.buffer != kNone && !a.outer_only && counts && !a.aligned;
    }
    return apart;
  }

  /// True if an access of memory, or the numbers of draws, go from element to element along the reduced axis.
  [[nodiscard]] bool runs_along(std::size_t access) const {
    return (is_vector(access) || numbers_draw(access)) && ir_.accesses[access].reduced == StrideClass::One;
  }

  /// True if the steps of a short loop at neighbouring points, `stride` apart, lie one behind the other.
  [[nodiscard]] bool runs_through(std::size_t access, std::int64_t stride) const {
    const Access& a = ir_.accesses[access];
    return is_plain(access) && a.loop != kNone && ir_.steps_of(a.loop) > 0 && a.step == StrideClass::One &&
           stride == ir_.steps_of(a.loop);
  }

  /// Columns, and steps of loops, four at a time.
  void choose_tile_vector() {
    const bool map = ir_.is_map();
    ir_.vector = 4;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) {
      Access& a = ir_.accesses[i];
      const AccessArgs& args = args_.accesses[i];
      if (!is_plain(i) || a.outer_only) continue;
      if (a.loop != kNone)
        a.aligned = a.step == StrideClass::One && loops_[a.loop] % 4 == 0 && is_aligned(i, 4, -1) &&
                    args.reduced_stride % 4 == 0;
      else if (map)
        a.aligned = a.strides.back() == StrideClass::One && is_aligned(i, 4, ir_.rank - 1);
      else
        a.aligned = a.reduced == StrideClass::One && is_aligned(i, 4, -1);
    }
  }

  /// A thread has four neighbouring columns of a tile.
  void choose_crossed_vector() {
    ir_.vector = kReduceVector;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      ir_.accesses[i].aligned = is_vector(i) && runs_along(i) && is_aligned(i, kReduceVector, -1);
  }

  /// Four columns a thread, or eight of bytes; of fewer than eight columns the most, up to five, that divide them.
  void choose_outer_vector() {
    const auto fits = [&](std::size_t i, int v) {
      const bool runs = (is_vector(i) || numbers_draw(i)) && ir_.accesses[i].strides.back() == StrideClass::One;
      return (runs || runs_through(i, args_.accesses[i].strides.back())) && args_.accesses[i].reduced_stride % v == 0 &&
             is_aligned(i, v, ir_.rank - 1);
    };
    const auto takes_bytes = [&](std::size_t i) {
      return ir_.accesses[i].outer_only ||
             (is_vector(i) && fits(i, 2 * kReduceVector) && itemsize(ir_.buffers[ir_.accesses[i].buffer]) == 1);
    };
    bool bytes = args_.extents.back() % (2 * kReduceVector) == 0 && ir_.reductions.size() == 1 &&
                 itemsize(ir_.lane_dtype(0)) <= 4 && !graph::is_arg_reduce(ir_.reductions[0].op);
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) bytes = bytes && takes_bytes(i);
    int vector = bytes ? 2 * kReduceVector : kReduceVector;
    if (args_.extents.back() < 2 * kReduceVector)
      for (vector = kReduceVector + 1; args_.extents.back() % vector != 0;) --vector;
    if (vector == 1 || args_.extents.back() % vector != 0) return;
    ir_.vector = vector;
    const bool loads_whole = std::has_single_bit(static_cast<unsigned>(vector));
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) ir_.accesses[i].aligned = loads_whole && fits(i, vector);
  }

  /// Few columns: a warp goes along both axes. Where there are many rows of few columns, it takes those together unless
  /// the reduced axis is long.
  void choose_columns() {
    constexpr int kWarp = 32;
    const bool all_columns = ir_.vector % kReduceVector != 0;  // of a thread; worth it only here
    const int columns = column_class(std::min<std::int64_t>(args_.extents.back(), kWarp * kByteVector)),
              vector = all_columns ? 1 : ir_.vector;
    const int width = std::max(1, columns / vector);
    const std::int64_t at_once = std::int64_t{kTreeBlock} * kWarp / width;  // elements of a column
    if (width < kWarp && (args_.outer_count() <= kWarp * vector || args_.reduced >= 8 * at_once))
      ir_.rows_class = columns;
    if (!all_columns || ir_.rows_class > 0) return;
    ir_.vector = 1;
    for (Access& a : ir_.accesses) a.aligned = false;
  }

  /// 16 bytes of the widest buffer, or the widest vector that every access is aligned to.
  void choose_pointwise_vector() {
    if (ir_.rank == 0) return;
    std::size_t widest = 1;
    for (const Access& a : ir_.accesses) {
      if (a.strides.back() == StrideClass::Any) return;
      if (a.buffer != kNone && a.strides.back() == StrideClass::One)
        widest = std::max(widest, itemsize(ir_.buffers[a.buffer]));
    }
    int v = target_.vector_bytes / static_cast<int>(widest);
    if (std::any_of(ir_.instrs.begin(), ir_.instrs.end(), [&](const Instr& in) { return itemsize(in.dtype) > widest; }))
      v = std::min(v, kMixedVector);
    while (v > 1 && !fits_pointwise(v)) v /= 2;
    if (v == 1) return;
    ir_.vector = v;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      ir_.accesses[i].aligned =
          (is_plain(i) || (numbers_draw(i) && is_aligned(i, std::min(v, kDrawBlock), ir_.rank - 1))) &&
          ir_.accesses[i].strides.back() == StrideClass::One;
  }

  [[nodiscard]] bool fits_pointwise(int v) const {
    if (ir_.rank > 1 && args_.extents.back() % v != 0) return false;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (is_plain(i) && ir_.accesses[i].strides.back() == StrideClass::One && !is_aligned(i, v, ir_.rank - 1))
        return false;
    return true;
  }

  /// An access of memory without a guard; what a guard lets through is loaded element by element.
  [[nodiscard]] bool is_plain(std::size_t access) const {
    return ir_.accesses[access].buffer != kNone && raw_[access].guard == kNone;
  }
  [[nodiscard]] bool is_vector(std::size_t access) const {
    return is_plain(access) && ir_.accesses[access].loop == kNone;
  }

  /// An iota that numbers the elements of a draw: where it is aligned, neighbours share a block of words.
  [[nodiscard]] bool numbers_draw(std::size_t access) const {
    return std::any_of(ir_.instrs.begin(), ir_.instrs.end(), [&](const Instr& in) {
      return in.kind == InstrKind::Compute && in.op == graph::Op::RandomBits && is_iota(ir_, in.args[0]) &&
             ir_.instrs[in.args[0]].index == access;
    });
  }

  /// Offset and strides (but that of dimension `skip`) are multiples of `elements`; buffers start at 256-byte
  /// boundaries.
  [[nodiscard]] bool is_aligned(std::size_t access, int elements, int skip) const {
    const AccessArgs& a = args_.accesses[access];
    if (a.offset % elements != 0) return false;
    for (int d = 0; d < a.strides.size(); ++d)
      if (d != skip && a.strides[d] % elements != 0) return false;
    return true;
  }

  void count_bytes() {
    std::vector<std::int64_t> read(out_.buffers.size()), written(out_.buffers.size());
    for (const RawAccess& a : raw_) {
      if (a.buffer == kNone) continue;
      (a.store ? written : read)[a.buffer] += elements(a) * static_cast<std::int64_t>(itemsize(ir_.buffers[a.buffer]));
    }
    for (std::size_t b = 0; b < out_.buffers.size(); ++b) {
      out_.bytes_read += std::min(read[b], buffer_bytes_[b]);
      out_.bytes_written += written[b];
    }
  }

  /// Elements that an access touches, each once.
  [[nodiscard]] std::int64_t elements(const RawAccess& a) const {
    std::int64_t count = args_.outer_count() == 0 ? 0 : 1;
    for (int d = 0; d < a.strides.size(); ++d) {
      if (a.strides[d] == 0 || (a.outer_only && d == group_.axis)) continue;
      count *= a.guard == kNone ? group_.space[d] : boxes_[a.guard].high[d] - boxes_[a.guard].low[d];
    }
    if (a.loop_stride != 0) count *= loops_[a.loop];
    return count;
  }

  std::vector<RawAccess> raw_;
  std::vector<Box> boxes_;
  std::vector<std::int64_t> buffer_bytes_, loops_;
  const Group& group_;
  const graph::Target& target_;
  Lowered out_;
  KernelIr& ir_;
  KernelArgs& args_;
};

}  // namespace

Lowered schedule(Selection selection, const Group& group, const graph::Target& target) {
  return Scheduler(std::move(selection), group, target).run();
}

}  // namespace tarry::codegen
