// choose_planar(), choose_interleaved(): some accesses have the channels of a short dimension interleaved, as images
// mostly have, and others planar.
#include <algorithm>
#include <bit>

#include "codegen/ir/fit.h"
#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kFewColumns = 32;        // what goes along the planes would be short itself
constexpr std::int64_t kStagedBytes = 1 << 13;  // of a tile on a CPU, several of which fit L1

/// The parts of both choosers: the short dimension is channel_, the one along the planes columns_: the last one, or the
/// next to it of a store that has channels interleaved.
class Channels {
 public:
  explicit Channels(Choice& c) : c_(c), ir_(c.ir), args_(c.args) {}

  bool find() {
    const int last = ir_.rank - 1;
    for (int d = 0; d < last; ++d)
      if (is_pair(d, last) || is_pair(last, d)) return true;
    return false;
  }

  /// Channels of a point.
  [[nodiscard]] int count() const { return static_cast<int>(args_.extents[channel_]); }

  /// On a CPU: whether stores go along the columns, all in one way, and no guard varies from channel to channel.
  [[nodiscard]] bool are_tiles() const {
    bool interleaved = false, planar = false;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!ir_.accesses[a].store) continue;
      if (is_interleaved(a))
        interleaved = true;
      else if (args_.accesses[a].strides[columns_] == 1)
        planar = true;
      else
        return false;
    }
    for (const Guard& g : ir_.guards)
      for (const GuardTerm& term : g.terms)
        if (args_.accesses[term.access].strides[channel_] != 0) return false;
    return interleaved != planar;
  }

  /// The columns become the last dimension.
  void to_the_end() {
    const auto shift = [&](auto begin) { std::rotate(begin + columns_, begin + columns_ + 1, begin + ir_.rank); };
    if (channel_ > columns_) --channel_;
    shift(args_.extents.begin());
    for (AccessArgs& a : args_.accesses) shift(a.strides.begin());
    for (Access& a : ir_.accesses) shift(a.strides.begin());
    columns_ = ir_.rank - 1;
  }

  /// On a CPU: part of a line of whole pixels.
  [[nodiscard]] TransposeLayout tile() {
    TransposeLayout layout;
    layout.channel_dimension = channel_;
    layout.channels = count();
    std::int64_t widest = 1;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      if (ir_.accesses[a].buffer == kNone) continue;
      widest = std::max(widest, static_cast<std::int64_t>(itemsize(ir_.buffers[ir_.accesses[a].buffer])));
      if (is_interleaved(a) && c_.is_plain(a)) ir_.accesses[a].interleaved_along = columns_;
    }
    layout.columns = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(kStagedBytes / (widest * count()))));
    return layout;
  }

  /// As many columns as have four bytes of the smallest elements, where all that runs is aligned.
  [[nodiscard]] PlanarLayout run() {
    std::size_t narrowest = 4;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      if (runs(a)) narrowest = std::min(narrowest, itemsize(ir_.buffers[ir_.accesses[a].buffer]));
    int v = static_cast<int>(4 / narrowest);
    for (std::size_t a = 0; a < ir_.accesses.size() && v > 1; ++a)
      if (runs(a) && !is_aligned(a, v)) v = 1;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) ir_.accesses[a].aligned = runs(a) && is_aligned(a, v);
    return {v, count(), channel_};
  }

 private:
  bool is_pair(int channel, int columns) {
    if (args_.extents[channel] > kMostChannels || args_.extents[columns] <= kFewColumns) return false;
    channel_ = channel;
    columns_ = columns;
    bool interleaved = false, planar = false;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      interleaved |= is_interleaved(a);
      planar |= ir_.accesses[a].buffer != kNone && args_.accesses[a].strides[columns] == 1;
    }
    return interleaved && planar;
  }

  [[nodiscard]] bool is_interleaved(std::size_t access) const {
    const graph::Dims& strides = args_.accesses[access].strides;
    return ir_.accesses[access].buffer != kNone && strides[channel_] == 1 &&
           strides[columns_] == args_.extents[channel_];
  }

  [[nodiscard]] bool runs(std::size_t access) const {
    return c_.is_plain(access) && (ir_.accesses[access].strides.back() == StrideClass::One || is_interleaved(access));
  }

  /// True if runs of `columns` begin where one load can take a part of them.
  [[nodiscard]] bool is_aligned(std::size_t access, int columns) const {
    const AccessArgs& a = args_.accesses[access];
    const bool interleaved = is_interleaved(access);
    const int part = run_part(ir_, static_cast<std::uint32_t>(access), columns * (interleaved ? count() : 1));
    if (a.offset % part != 0) return false;
    for (int d = 0; d + 1 < ir_.rank; ++d)
      if ((!interleaved || d != channel_) && a.strides[d] % part != 0) return false;
    return true;
  }

  const Choice& c_;
  KernelIr& ir_;
  KernelArgs& args_;
  int channel_ = -1, columns_ = 0;
};

}  // namespace

std::optional<Layout> choose_planar(Choice& c) {
  if (!c.target.is_cuda() || !c.is_plain_map() || c.ir.rank < 2) return std::nullopt;
  Channels channels(c);
  if (!channels.find() || fits_one_point(c.ir, 1, channels.count())) return std::nullopt;
  channels.to_the_end();
  return channels.run();
}

std::optional<Layout> choose_interleaved(Choice& c) {
  Channels channels(c);
  if (!channels.find() || !channels.are_tiles()) return std::nullopt;
  channels.to_the_end();
  return channels.tile();
}

}  // namespace tarry::codegen
