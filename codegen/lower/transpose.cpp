// choose_transpose(): loads that are contiguous along another dimension than the stores go through shared memory, or on
// a CPU through an array that fits L1.
#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/ir/transpose.h"
#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kShort = 32;  // along either dimension: caches hold what a tile would
constexpr std::int64_t kShortOnCpu = kMostChannels;
constexpr int kLoadRegisters = 64;  // for the elements that a thread loads
constexpr std::int64_t kMostOnStack = 1 << 16;
constexpr std::int64_t kSector = 32;  // bytes that memory writes at once
constexpr int kMostInWord = 4, kWarp = 32;

/// Rows and columns of a tile.
struct Edges {
  int rows = 1, columns = 1;
};

/// The properties that choose a tile.
struct TileOf {
  std::int64_t itemsize;  ///< of the widest transposed element
  int values;             ///< channels
  bool from_planar;       ///< true if lines have one channel
  bool to_planar;         ///< the same of what is stored
  bool earlier;           ///< true if rows begin earlier, at sectors
  bool shifted;           ///< true if lines begin inside of words
};

/// Measured on an H200: about 32 KiB of narrow elements, so that few columns are read for two tiles, and long lines,
/// which have few parts of sectors.
Edges edges_of(const TileOf& t) {
  switch (t.itemsize) {
    case 1: return {256, 128};
    case 2: return t.shifted ? Edges{192, 64} : Edges{128, 128};
    case 4: return {64, 64};
    default: return {32, 32};
  }
}

/// Measured on a Zen 4: what L1 holds, or with long lines of small elements twice that.
Edges edges_on_cpu(const TileOf& t) {
  if (t.values > 1) {
    const std::int64_t bytes = t.itemsize * t.values;
    const int edge = bytes <= 8 ? 64 : bytes <= 32 ? 32 : 16;
    return {edge, edge};
  }
  switch (t.itemsize) {
    case 1: return {128, 128};
    case 2:
    case 4: return {64, 64};
    default: return {32, 32};
  }
}

/// The same of interleaved channels, measured on an H200: planar ones want long lines, and tiles are no larger than
/// needed for that.
Edges edges_of_channels(const TileOf& t) {
  const bool many = t.values > 4;
  const int columns = t.values > 3 || (t.values == 3 && t.earlier) ? 32 : 64;  // where they are stored
  switch (t.itemsize) {
    case 1:
      if (t.to_planar && many) return t.earlier ? Edges{16, 128} : Edges{64, 64};
      if (t.to_planar) return t.values == 3 ? Edges{128, 64} : Edges{64, 128};
      if (t.from_planar) return {128, t.values == 8 && t.earlier ? 16 : t.values > 3 ? 32 : 64};
      if (many) return {96, 32};
      if (t.values == 4) return {64, 128};
      return {t.values == 2 && t.earlier ? 192 : 128, 64};
    case 2:
      if (t.to_planar && many) return t.earlier ? Edges{8, 128} : Edges{16, 64};
      if (t.to_planar) return {t.values == 4 ? 32 : 64, t.values == 3 ? 64 : 128};
      return {many && !t.from_planar ? 32 : 64, columns};
    case 4:
      if (t.to_planar && many && t.earlier) return {8, 128};
      return {32, t.to_planar && t.values < 4 ? 64 : 32};
    default: return {many ? 16 : 32, 32};
  }
}

/// Dimensions of the rows, of the columns, and of the channels.
struct Interleaved {
  int rows, columns, channels;
};

std::int64_t size(const KernelIr& ir, const Access& a) {
  return static_cast<std::int64_t>(itemsize(ir.buffers[a.buffer]));
}

std::int64_t transposed_bytes(const KernelIr& ir, int dimension) {
  std::int64_t sum = 0;
  for (const Access& a : ir.accesses)
    if (is_load(a) && is_transposed(a, dimension)) sum += size(ir, a);
  return sum;
}

/// The dimension along which the widest loads are transposed, or -1.
int find_rows(const Choice& c) {
  const std::int64_t shortest = c.target.is_cuda() ? kShort : kShortOnCpu;
  if (c.args.extents.back() <= shortest) return -1;
  int found = -1;
  std::int64_t most = 0;
  for (int d = 0; d + 1 < c.ir.rank; ++d) {
    const std::int64_t bytes = transposed_bytes(c.ir, d);
    if (c.args.extents[d] <= shortest || bytes <= most) continue;
    most = bytes;
    found = d;
  }
  return found;
}

bool is_interleaved(const KernelArgs& args, const AccessArgs& a, int channel, int along) {
  return a.strides[channel] == 1 && a.strides[along] == args.extents[channel];
}

/// True if all stores go along the columns, some load goes along the rows, and one side at least has interleaved
/// channels.
bool are_interleaved(const Choice& c, const Interleaved& p) {
  bool transposed = false, interleaved = false;
  for (std::size_t i = 0; i < c.ir.accesses.size(); ++i) {
    const Access& access = c.ir.accesses[i];
    if (access.buffer == kNone) continue;
    const AccessArgs& a = c.args.accesses[i];
    const int along = access.store ? p.columns : p.rows;
    const bool packed = is_interleaved(c.args, a, p.channels, along), runs = packed || a.strides[along] == 1;
    if (access.store && !runs) return false;
    interleaved |= packed;
    transposed |= !access.store && runs && a.strides[p.columns] != 0;
  }
  return transposed && interleaved;
}

/// Loads, stores or both have channels interleaved: rows and columns are those of whole pixels.
std::optional<Interleaved> find_interleaved(const Choice& c) {
  for (int channel = 0; channel < c.ir.rank; ++channel) {
    if (c.args.extents[channel] > kMostChannels) continue;
    for (int columns = 0; columns < c.ir.rank; ++columns) {
      for (int rows = 0; rows < c.ir.rank; ++rows) {
        const bool apart = channel != rows && channel != columns && rows != columns;
        if (apart && c.args.extents[rows] > kShort && c.args.extents[columns] > kShort &&
            are_interleaved(c, {rows, columns, channel}))
          return Interleaved{rows, columns, channel};
      }
    }
  }
  return std::nullopt;
}

/// A copy of the kernel, put in order for a tile.
class Transpose {
 public:
  explicit Transpose(const Choice& c)
      : ir_(c.ir), args_(c.args), target_(c.target), layout_(ir_.layout.emplace<TransposeLayout>()) {}
  Transpose(const Transpose&) = delete;
  Transpose& operator=(const Transpose&) = delete;

  bool choose(int rows, const std::optional<Interleaved>& channels) {
    if (channels)
      to_the_end(*channels);
    else
      layout_.across = rows;
    if (target_.is_cuda()) choose_vector(kMostInWord);
    return are_tiles() && fits();
  }

  Layout take(Choice& c) {
    c.ir = std::move(ir_);
    c.args = std::move(args_);
    return c.ir.layout;
  }

 private:
  /// The columns become the last dimension.
  void to_the_end(const Interleaved& p) {
    const auto shift = [&](auto begin) { std::rotate(begin + p.columns, begin + p.columns + 1, begin + ir_.rank); };
    shift(args_.extents.begin());
    for (AccessArgs& a : args_.accesses) shift(a.strides.begin());
    for (Access& a : ir_.accesses) shift(a.strides.begin());
    layout_.across = p.rows > p.columns ? p.rows - 1 : p.rows;
    layout_.channel_dimension = p.channels > p.columns ? p.channels - 1 : p.channels;
    layout_.channels = static_cast<int>(args_.extents[layout_.channel_dimension]);
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) {
      Access& a = ir_.accesses[i];
      if (a.buffer == kNone) continue;
      if (is_interleaved(args_, args_.accesses[i], layout_.channel_dimension, ir_.rank - 1) &&
          (target_.is_cuda() || !is_guarded(ir_, i)))
        a.interleaved_along = ir_.rank - 1;
      else if (!a.store && is_interleaved(args_, args_.accesses[i], layout_.channel_dimension, layout_.across))
        a.interleaved_along = layout_.across;
    }
  }

  [[nodiscard]] bool is_transposed(std::size_t access) const {
    return is_load(ir_.accesses[access]) && codegen::is_transposed(ir_, static_cast<std::uint32_t>(access));
  }

  /// True if stores go along columns, all in one way, and guards can be tested by rows and by columns.
  [[nodiscard]] bool are_tiles() const {
    const auto row = static_cast<std::size_t>(layout_.across);
    for (const Access& a : ir_.accesses)
      if (a.store && (stores_interleaved(ir_) ? a.interleaved_along < 0 : a.strides.back() != StrideClass::One))
        return false;
    for (const Guard& g : ir_.guards)
      for (const GuardTerm& term : g.terms) {
        const auto& strides = ir_.accesses[term.access].strides;
        if (strides.back() != StrideClass::Zero && strides[row] != StrideClass::Zero) return false;
        if (layout_.channel_dimension >= 0 &&
            strides[static_cast<std::size_t>(layout_.channel_dimension)] != StrideClass::Zero)
          return false;
      }
    return true;
  }

  /// Chooses a tile that fits a thread block and its threads' registers, or a thread's stack.
  bool fits() {
    const bool gpu = target_.is_cuda();
    const TileOf of{widest_transposed(),      layout_.channels,   from_planar(),
                    !stores_interleaved(ir_), layout_.sector > 0, gpu && transpose_rows_less(ir_) > 0};
    const Edges edges = !gpu ? edges_on_cpu(of) : layout_.channel_dimension >= 0 ? edges_of_channels(of) : edges_of(of);
    layout_.rows = edges.rows;
    layout_.columns = edges.columns;
    const auto too_large = [&] {
      return gpu ? shared_bytes() > target_.shared_bytes || transpose_registers(ir_) > kLoadRegisters
                 : shared_bytes() > kMostOnStack;
    };
    const int rows = layout_.channel_dimension >= 0 ? 8 : 32,
              columns = std::max(layout_.channel_dimension >= 0 ? 16 : 32, layout_.sector);  // at least
    while (too_large() && (layout_.columns > columns || layout_.rows > rows)) {
      const bool narrower = layout_.columns > columns && (layout_.columns >= layout_.rows || layout_.rows <= rows);
      if (narrower)
        layout_.columns /= 2;
      else
        layout_.rows = layout_.rows / 16 * 8;
    }
    if (!gpu) layout_.rows = layout_.columns = std::min(layout_.rows, layout_.columns);
    const bool fit = !too_large();
    if (gpu) layout_.rows -= transpose_rows_less(ir_);
    const int half_lanes = 2 * layout_.columns * row_channels(ir_);
    if (gpu && half_lanes < kWarp * layout_.vector)
      choose_vector(half_lanes / kWarp);  // a smaller tile keeps half of a warp busy
    return fit;
  }

  [[nodiscard]] bool from_planar() const {
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (is_transposed(i) && ir_.accesses[i].interleaved_along < 0) return true;
    return false;
  }

  [[nodiscard]] std::int64_t widest_transposed() const {
    std::int64_t widest = 1;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (is_transposed(i)) widest = std::max(widest, size(ir_, ir_.accesses[i]));
    return widest;
  }

  [[nodiscard]] std::int64_t shared_bytes() const {
    constexpr std::int64_t kPadding = 8;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (is_transposed(i)) bytes += size(ir_, ir_.accesses[i]);
    const std::int64_t line = layout_.rows * layout_.channels,
                       whole = layout_.channel_dimension >= 0 ? (line + kShort - 1) / kShort * kShort : line;
    return bytes * (whole + kPadding * layout_.channels) * (layout_.columns + columns_before(ir_) + kPadding);
  }

  /// Elements of less than four bytes move four bytes at a time: those of lines, those of rows. Where rows of what is
  /// stored do not all begin with a sector, each has columns of its own that do; other accesses are aligned where they
  /// go along with it.
  void choose_vector(int most) {
    layout_.vector = std::clamp(kMostInWord / static_cast<int>(widest_transposed()), 1, std::max(most, 1));
    const std::uint32_t narrowest = narrowest_store(ir_);
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      if (ir_.accesses[a].store && !aligned(a, args_.accesses[a], kSector / size(ir_, ir_.accesses[a])))
        layout_.sector = static_cast<int>(kSector / size(ir_, ir_.accesses[narrowest]));
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      Access& access = ir_.accesses[a];
      if (!runs(a)) continue;
      AccessArgs args = args_.accesses[a];
      const int word = is_transposed(a) ? 4 / static_cast<int>(size(ir_, access)) : layout_.vector;
      if (!is_transposed(a) && layout_.sector > 0) {
        const AccessArgs& first = args_.accesses[narrowest];
        args.offset -= first.offset;
        for (int d = 0; d < ir_.rank; ++d) args.strides[d] -= first.strides[d];
      }
      access.aligned = word > 1 && aligned(a, args, word);
    }
  }

  /// True if a thread's elements of an access are neighbours: of a row of interleaved channels, or of a row of each
  /// channel.
  [[nodiscard]] bool runs(std::size_t access) const {
    const Access& a = ir_.accesses[access];
    if (a.buffer == kNone) return false;
    if (is_transposed(access)) return true;
    return stores_interleaved(ir_) ? a.interleaved_along == ir_.rank - 1 : a.strides.back() == StrideClass::One;
  }

  [[nodiscard]] bool aligned(std::size_t access, const AccessArgs& a, std::int64_t v) const {
    const Access& of = ir_.accesses[access];
    const int along = of.interleaved_along >= 0 ? of.interleaved_along
                      : is_transposed(access)   ? layout_.across
                                                : ir_.rank - 1;
    if (a.offset % v != 0) return false;
    for (int d = 0; d < ir_.rank; ++d)
      if (d != along && (of.interleaved_along < 0 || d != layout_.channel_dimension) && a.strides[d] % v != 0)
        return false;
    return true;
  }

  KernelIr ir_;
  KernelArgs args_;
  const graph::Target& target_;
  TransposeLayout& layout_;
};

}  // namespace

std::optional<Layout> choose_transpose(Choice& c) {
  if (!c.is_plain_map() || c.ir.rank < 2) return std::nullopt;
  const int rows = find_rows(c);
  const std::optional<Interleaved> channels = rows < 0 ? find_interleaved(c) : std::nullopt;
  if (rows >= 0 || channels) {
    Transpose transpose(c);
    if (transpose.choose(rows, channels)) return transpose.take(c);
  }
  return c.target.is_cuda() ? std::nullopt : choose_interleaved(c);
}

}  // namespace tarry::codegen
