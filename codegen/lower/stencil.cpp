// choose_stencil(): loads of one buffer under small shifts become windows, and a thread's points a tile.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "codegen/ir/fit.h"
#include "codegen/ir/stencil_chain.h"
#include "codegen/ir/usual.h"
#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kFarthest = 8;  // rows or columns between two accesses of a window
constexpr int kMostRows = 8;           // of a tile: its loads are in flight together
constexpr int kMostColumns = 4;
constexpr int kChainColumns = 2;        // share what a chain computes for neighbours
constexpr std::int64_t kFewRows = 512;  // up to here a space needs its threads more than a thread its rows
// For the elements that a thread loads. Measured on an H200: five points under a guard 0.132 ms with 36 of them, 0.136
// with 60; 25 points without one 0.157 ms with 96, 0.182 with 64.
constexpr int kElementRegisters = 96, kGuardedRegisters = 48;
constexpr int kMostRegisters = 128;
constexpr double kNearlyAll = 0.75;  ///< of the points lie in tiles that have a text of their own

/// A copy of the kernel, put in order for tiles.
class Stencil {
 public:
  explicit Stencil(const Choice& c)
      : choice_(c),
        ir_(c.ir),
        args_(c.args),
        scalars_(c.lowered.scalars),
        target_(c.target),
        layout_(ir_.layout.emplace<StencilLayout>()) {
    gather_short(ir_, args_);
  }
  Stencil(const Stencil&) = delete;
  Stencil& operator=(const Stencil&) = delete;

  bool choose() {
    if (!fits_tiles()) return false;
    const bool shared = find_windows();
    choose_columns();
    layout_.apart = !ir_.guards.empty();
    choose_rows();
    if (layout_.apart && usual_share() < kNearlyAll) {
      layout_.apart = false;
      choose_columns();
      choose_rows();
    }
    if (!shared && (!layout_.apart || fits_one_point(ir_, 1, layout_.vector))) return false;
    if (registers() > kMostRegisters) return false;
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) align(a);
    return true;
  }

  Layout take(Choice& c) {
    c.ir = std::move(ir_);
    c.args = std::move(args_);
    return c.ir.layout;
  }

 private:
  [[nodiscard]] bool varies(const Access& a, int from_last) const {
    return ir_.rank >= from_last && a.strides[static_cast<std::size_t>(ir_.rank - from_last)] != StrideClass::Zero;
  }

  /// Memory is walked along columns, and guards can be tested by rows and by columns.
  [[nodiscard]] bool fits_tiles() const {
    for (const Access& a : ir_.accesses)
      if (a.buffer != kNone && a.strides.back() == StrideClass::Any) return false;
    for (const Guard& g : ir_.guards)
      for (const GuardTerm& term : g.terms)
        if (varies(ir_.accesses[term.access], 1) && varies(ir_.accesses[term.access], 2)) return false;
    return true;
  }

  /// Rows and columns that make `distance` elements, where there are such near zero. What lies in another plane has a
  /// window of its own: a tile cannot share it.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> shift(const AccessArgs& a,
                                                                           std::int64_t distance) const {
    std::int64_t rows = 0, columns = 0;
    const std::int64_t stride = ir_.rank > 1 ? a.strides[ir_.rank - 2] : 0;
    if (stride != 0) {
      const std::int64_t half = std::abs(stride) / 2 * (distance < 0 ? -1 : 1);
      rows = (distance + half) / stride;
      distance -= rows * stride;
    }
    if (a.strides[ir_.rank - 1] != 0) columns = std::exchange(distance, 0);
    if (distance != 0 || std::abs(rows) > kFarthest || std::abs(columns) > kFarthest) return std::nullopt;
    return std::pair(rows, columns);
  }

  /// True if some buffer is loaded twice under one walk: what the schedule is for, as are kernels of which nearly all
  /// points go without their guards.
  bool find_windows() {
    bool shared = false;
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!is_load(ir_.accesses[a])) continue;
      ir_.accesses[a].window = a;
      for (std::uint32_t anchor = 0; anchor < a; ++anchor)
        if (joins(a, anchor)) {
          shared = true;
          break;
        }
    }
    return shared;
  }

  bool joins(std::uint32_t access, std::uint32_t anchor) {
    Access& a = ir_.accesses[access];
    const AccessArgs &from = args_.accesses[anchor], &to = args_.accesses[access];
    if (ir_.accesses[anchor].window != anchor || ir_.accesses[anchor].buffer != a.buffer ||
        !(from.strides == to.strides))
      return false;
    const auto by = shift(to, to.offset - from.offset);
    if (!by) return false;
    a.window = anchor;
    a.row = static_cast<std::int8_t>(by->first);
    a.column = static_cast<std::int8_t>(by->second);
    return true;
  }

  /// As many columns as every store is aligned to.
  void choose_columns() {
    std::size_t widest = 1;
    for (const Access& a : ir_.accesses)
      if (a.buffer != kNone && a.strides.back() == StrideClass::One)
        widest = std::max(widest, itemsize(ir_.buffers[a.buffer]));
    int v = std::min(kMostColumns, target_.vector_bytes / static_cast<int>(widest));
    while (v > 1 && (v > args_.extents.back() || !stores_fit(v))) v /= 2;
    layout_.vector = v;
  }

  [[nodiscard]] bool stores_fit(int v) const {
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      if (ir_.accesses[a].store && (args_.accesses[a].offset % v != 0 || !rows_fit(a, v))) return false;
    return true;
  }

  void choose_rows() {
    // The border of a chain, and of tiles that are apart, has a text of its own.
    const bool guarded = !ir_.guards.empty() && !layout_.apart && !find_chain(ir_).worthwhile();
    const int most = guarded ? kGuardedRegisters : kElementRegisters;
    layout_.rows = ir_.rank > 1 && args_.outer_count() / args_.extents.back() > kFewRows ? kMostRows : 1;
    while (registers() > most && layout_.rows > 1) layout_.rows /= 2;
    while (registers() > most && layout_.vector > 1) layout_.vector /= 2;
    const auto is_long = [&] { return has_many_instructions(ir_, layout_.rows * layout_.vector); };
    while (is_long() && layout_.rows > 1) layout_.rows /= 2;
    while (is_long() && layout_.vector > kChainColumns) layout_.vector /= 2;
  }

  /// The part of the points whose tiles lie in the longest interval of each dimension in which no guard changes.
  [[nodiscard]] double usual_share() const {
    double share = 1;
    for (int d = 0; d < ir_.rank; ++d) {
      std::vector<std::int64_t> cuts{0, args_.extents[d]};
      for (const Guard& g : ir_.guards) {
        for (const GuardTerm& term : g.terms) {
          const AccessArgs& iota = args_.accesses[term.access];
          const std::int64_t step = iota.strides[d];
          if (step == 0) continue;
          const auto extent = static_cast<std::int64_t>(scalars_[term.extent].constant);
          for (const std::int64_t at : {-iota.offset, extent - iota.offset})
            cuts.push_back(std::clamp<std::int64_t>(at / step, 0, args_.extents[d]));
        }
      }
      std::ranges::sort(cuts);
      const std::int64_t tile = layout_.tile(ir_, d);
      std::int64_t most = 0;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
        most = std::max(most, cuts[i + 1] / tile - (cuts[i] + tile - 1) / tile);
      share *= static_cast<double>(most * tile) / static_cast<double>(args_.extents[d]);
    }
    return share;
  }

  /// True if every row begins at the same place of a vector; buffers start at 256-byte boundaries.
  [[nodiscard]] bool rows_fit(std::size_t access, int v) const {
    const graph::Dims& strides = args_.accesses[access].strides;
    return std::all_of(strides.begin(), strides.end() - 1, [v](std::int64_t s) { return s % v == 0; });
  }

  void align(std::uint32_t access) {
    Access& a = ir_.accesses[access];
    if (layout_.vector == 1 || a.strides.back() != StrideClass::One) return;
    if (a.buffer == kNone) {
      a.aligned = choice_.numbers_draw(access) &&
                  is_aligned(args_.accesses[access], std::min(layout_.vector, kDrawBlock), ir_.rank - 1);
      return;
    }
    a.aligned = rows_fit(access, layout_.vector);
    if (a.aligned && a.window == access) {
      const std::int64_t past = args_.accesses[access].offset % layout_.vector;
      a.phase = static_cast<std::uint8_t>(past < 0 ? past + layout_.vector : past);
    }
  }

  /// Registers of a thread for the elements that it loads; where tiles are apart, of those with guards as usual.
  [[nodiscard]] int registers() const {
    const std::vector<bool> loaded = layout_.apart ? usually_loaded(ir_) : std::vector<bool>(ir_.accesses.size(), true);
    int sum = 0;
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (ir_.accesses[a].window != a) continue;
      int top = 0, bottom = 0, left = 0, right = 0;
      bool any = false;
      for (std::uint32_t b = a; b < ir_.accesses.size(); ++b) {
        const Access& m = ir_.accesses[b];
        if (m.window != a || !loaded[b]) continue;
        any = true;
        top = std::min<int>(top, m.row);
        bottom = std::max<int>(bottom, m.row);
        left = std::min<int>(left, m.column);
        right = std::max<int>(right, m.column);
      }
      if (!any) continue;
      const int rows = varies(ir_.accesses[a], 2) ? layout_.rows + bottom - top : 1;
      const int columns = varies(ir_.accesses[a], 1) ? layout_.vector + right - left : 1;
      sum += rows * columns * (itemsize(ir_.buffers[ir_.accesses[a].buffer]) > 4 ? 2 : 1);
    }
    return sum;
  }

  const Choice& choice_;
  KernelIr ir_;
  KernelArgs args_;
  const std::vector<ScalarRef>& scalars_;
  const graph::Target& target_;
  StencilLayout& layout_;
};

/// True if some buffer is loaded twice at all.
bool loads_again(const KernelIr& ir) {
  for (auto a = ir.accesses.begin(); a != ir.accesses.end(); ++a)
    if (is_load(*a) &&
        std::any_of(ir.accesses.begin(), a, [&](const Access& b) { return is_load(b) && b.buffer == a->buffer; }))
      return true;
  return false;
}

}  // namespace

std::optional<Layout> choose_stencil(Choice& c) {
  if (!c.target.is_cuda() || !c.is_plain_map() || c.ir.rank == 0 || (!loads_again(c.ir) && c.ir.guards.empty()))
    return std::nullopt;
  Stencil stencil(c);
  return stencil.choose() ? std::optional(stencil.take(c)) : std::nullopt;
}

}  // namespace tarry::codegen
