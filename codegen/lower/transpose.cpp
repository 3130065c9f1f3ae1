// choose_transpose(): loads that are contiguous along another dimension than the stores go through shared memory, or on
// a CPU through an array that the first cache holds.
#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/lower/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kShort = 32;  // along either dimension: caches hold what a tile would
constexpr std::int64_t kShortOnCpu = kMostPixelValues;
constexpr int kMostRegisters = 64;  // for the elements that a thread loads
constexpr std::int64_t kMostOnStack = 1 << 16;
constexpr std::int64_t kSector = 32;  // bytes that memory writes at once
constexpr int kMostInWord = 4, kWarp = 32;

/// Rows and columns of a tile.
struct Edges {
  int rows = 1, columns = 1;
};

/// The properties that choose a tile.
struct TileOf {
  std::int64_t itemsize;  ///< of the widest crossed element
  int values;             ///< of a pixel
  bool from_planes;       ///< whether lines have one value of each pixel
  bool to_planes;         ///< the same of what is stored
  bool earlier;           ///< whether rows begin earlier, at sectors
  bool shifted;           ///< whether lines begin inside of words
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

/// Measured on a Zen 4: what the first cache holds, or with long lines of small elements twice that.
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

/// The same of pixels, measured on an H200: planes want long lines, and tiles are no larger than needed for that.
Edges edges_of_pixels(const TileOf& t) {
  const bool many = t.values > 4;
  const int columns = t.values > 3 || (t.values == 3 && t.earlier) ? 32 : 64;  // where pixels are stored
  switch (t.itemsize) {
    case 1:
      if (t.to_planes && many) return t.earlier ? Edges{16, 128} : Edges{64, 64};
      if (t.to_planes) return t.values == 3 ? Edges{128, 64} : Edges{64, 128};
      if (t.from_planes) return {128, t.values == 8 && t.earlier ? 16 : t.values > 3 ? 32 : 64};
      if (many) return {96, 32};
      if (t.values == 4) return {64, 128};
      return {t.values == 2 && t.earlier ? 192 : 128, 64};
    case 2:
      if (t.to_planes && many) return t.earlier ? Edges{8, 128} : Edges{16, 64};
      if (t.to_planes) return {t.values == 4 ? 32 : 64, t.values == 3 ? 64 : 128};
      return {many && !t.from_planes ? 32 : 64, columns};
    case 4:
      if (t.to_planes && many && t.earlier) return {8, 128};
      return {32, t.to_planes && t.values < 4 ? 64 : 32};
    default: return {many ? 16 : 32, 32};
  }
}

class Transpose {
 public:
  Transpose(KernelIr& ir, KernelArgs& args, const graph::Target& target) : ir_(ir), args_(args), target_(target) {}

  bool choose() {
    if (ir_.rank < 2 || args_.outer_count() == 0) return false;
    const int rows = find_rows();
    const std::optional<Pixels> pixels = rows < 0 ? find_pixels() : std::nullopt;
    if (rows < 0 && !pixels) return false;
    KernelIr ir = ir_;
    KernelArgs args = args_;
    if (pixels)
      to_the_end(*pixels);
    else
      ir_.cross = rows;
    if (target_.is_cuda()) choose_vector(kMostInWord);
    if (!are_tiles() || !fits()) {
      ir_ = std::move(ir);
      args_ = std::move(args);
      return false;
    }
    ir_.schedule = Schedule::Transpose;
    return true;
  }

 private:
  /// Dimensions of the rows, of the columns, and of a pixel's values.
  struct Pixels {
    int rows, columns, values;
  };

  /// The dimension that the widest loads cross, or -1.
  [[nodiscard]] int find_rows() const {
    const std::int64_t shortest = target_.is_cuda() ? kShort : kShortOnCpu;
    if (args_.extents.back() <= shortest) return -1;
    int found = -1;
    std::int64_t most = 0;
    for (int d = 0; d + 1 < ir_.rank; ++d) {
      const std::int64_t bytes = crossed_bytes(d);
      if (args_.extents[d] <= shortest || bytes <= most) continue;
      most = bytes;
      found = d;
    }
    return found;
  }

  /// Loads, stores or both have pixels side by side: rows and columns are those of whole pixels.
  [[nodiscard]] std::optional<Pixels> find_pixels() const {
    for (int pixel = 0; pixel < ir_.rank; ++pixel) {
      if (args_.extents[pixel] > kMostPixelValues) continue;
      for (int columns = 0; columns < ir_.rank; ++columns) {
        for (int rows = 0; rows < ir_.rank; ++rows) {
          const bool apart = pixel != rows && pixel != columns && rows != columns;
          if (apart && args_.extents[rows] > kShort && args_.extents[columns] > kShort &&
              are_pixels({rows, columns, pixel}))
            return Pixels{rows, columns, pixel};
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool side_by_side(const AccessArgs& a, int pixel, int along) const {
    return a.strides[pixel] == 1 && a.strides[along] == args_.extents[pixel];
  }

  /// True if all stores go along the columns, some load goes along the rows, and one side at least has pixels.
  [[nodiscard]] bool are_pixels(const Pixels& p) const {
    bool crossed = false, pixels = false;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) {
      const Access& access = ir_.accesses[i];
      if (access.buffer == kNone) continue;
      const AccessArgs& a = args_.accesses[i];
      const int along = access.store ? p.columns : p.rows;
      const bool packed = side_by_side(a, p.values, along), runs = packed || a.strides[along] == 1;
      if (access.store && !runs) return false;
      pixels |= packed;
      crossed |= !access.store && runs && a.strides[p.columns] != 0;
    }
    return crossed && pixels;
  }

  /// The columns become the last dimension.
  void to_the_end(const Pixels& p) {
    const auto shift = [&](auto begin) { std::rotate(begin + p.columns, begin + p.columns + 1, begin + ir_.rank); };
    shift(args_.extents.begin());
    for (AccessArgs& a : args_.accesses) shift(a.strides.begin());
    for (Access& a : ir_.accesses) shift(a.strides.begin());
    ir_.cross = p.rows > p.columns ? p.rows - 1 : p.rows;
    ir_.pixel = p.values > p.columns ? p.values - 1 : p.values;
    ir_.pixel_values = static_cast<int>(args_.extents[ir_.pixel]);
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i) {
      Access& a = ir_.accesses[i];
      if (a.buffer == kNone) continue;
      if (side_by_side(args_.accesses[i], ir_.pixel, ir_.rank - 1) && (target_.is_cuda() || !is_guarded(ir_, i)))
        a.pixels_along = ir_.rank - 1;
      else if (!a.store && side_by_side(args_.accesses[i], ir_.pixel, ir_.cross))
        a.pixels_along = ir_.cross;
    }
  }

  [[nodiscard]] std::int64_t size(const Access& a) const {
    return static_cast<std::int64_t>(itemsize(ir_.buffers[a.buffer]));
  }
  [[nodiscard]] static bool is_load(const Access& a) { return a.buffer != kNone && !a.store; }
  [[nodiscard]] bool is_crossed(std::size_t access) const {
    return is_load(ir_.accesses[access]) && ir_.crosses(static_cast<std::uint32_t>(access));
  }

  [[nodiscard]] std::int64_t crossed_bytes(int dimension) const {
    std::int64_t sum = 0;
    for (const Access& a : ir_.accesses)
      if (is_load(a) && crosses(a, dimension)) sum += size(a);
    return sum;
  }

  /// True if stores go along columns, all in one way, and guards can be tested by rows and by columns.
  [[nodiscard]] bool are_tiles() const {
    const auto row = static_cast<std::size_t>(ir_.cross);
    for (const Access& a : ir_.accesses)
      if (a.store && (ir_.stores_pixels() ? a.pixels_along < 0 : a.strides.back() != StrideClass::One)) return false;
    for (const Guard& g : ir_.guards)
      for (const GuardTerm& term : g.terms) {
        const auto& strides = ir_.accesses[term.access].strides;
        if (strides.back() != StrideClass::Zero && strides[row] != StrideClass::Zero) return false;
        if (ir_.pixel >= 0 && strides[static_cast<std::size_t>(ir_.pixel)] != StrideClass::Zero) return false;
      }
    return true;
  }

  /// Chooses a tile that fits a thread block and its threads' registers, or a thread's stack.
  bool fits() {
    const bool gpu = target_.is_cuda();
    const TileOf of{widest_crossed(),     ir_.pixel_values, from_planes(),
                    !ir_.stores_pixels(), ir_.sector > 0,   gpu && ir_.transpose_rows_less() > 0};
    const Edges edges = !gpu ? edges_on_cpu(of) : ir_.pixel >= 0 ? edges_of_pixels(of) : edges_of(of);
    ir_.tile_rows = edges.rows;
    ir_.tile_columns = edges.columns;
    const auto too_large = [&] {
      return gpu ? shared_bytes() > target_.shared_bytes || ir_.transpose_registers() > kMostRegisters
                 : shared_bytes() > kMostOnStack;
    };
    const int rows = ir_.pixel >= 0 ? 8 : 32, columns = std::max(ir_.pixel >= 0 ? 16 : 32, ir_.sector);  // at least
    while (too_large() && (ir_.tile_columns > columns || ir_.tile_rows > rows)) {
      const bool narrower = ir_.tile_columns > columns && (ir_.tile_columns >= ir_.tile_rows || ir_.tile_rows <= rows);
      if (narrower)
        ir_.tile_columns /= 2;
      else
        ir_.tile_rows = ir_.tile_rows / 16 * 8;
    }
    if (!gpu) ir_.tile_rows = ir_.tile_columns = std::min(ir_.tile_rows, ir_.tile_columns);
    const bool fit = !too_large();
    if (gpu) ir_.tile_rows -= ir_.transpose_rows_less();
    const int half_lanes = 2 * ir_.tile_columns * ir_.row_values();
    if (gpu && half_lanes < kWarp * ir_.vector)
      choose_vector(half_lanes / kWarp);  // a smaller tile keeps half of a warp busy
    return fit;
  }

  [[nodiscard]] bool from_planes() const {
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (is_crossed(i) && ir_.accesses[i].pixels_along < 0) return true;
    return false;
  }

  [[nodiscard]] std::int64_t widest_crossed() const {
    std::int64_t widest = 1;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (is_crossed(i)) widest = std::max(widest, size(ir_.accesses[i]));
    return widest;
  }

  [[nodiscard]] std::int64_t shared_bytes() const {
    constexpr std::int64_t kPadding = 8;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < ir_.accesses.size(); ++i)
      if (is_crossed(i)) bytes += size(ir_.accesses[i]);
    const std::int64_t line = ir_.tile_rows * ir_.pixel_values,
                       whole = ir_.pixel >= 0 ? (line + kShort - 1) / kShort * kShort : line;
    return bytes * (whole + kPadding * ir_.pixel_values) * (ir_.tile_columns + ir_.columns_before() + kPadding);
  }

  /// Elements of less than four bytes move four bytes at a time: those of lines, those of rows. Where rows of what is
  /// stored do not all begin with a sector, each has columns of its own that do; other accesses are aligned where they
  /// go along with it.
  void choose_vector(int most) {
    ir_.vector = std::clamp(kMostInWord / static_cast<int>(widest_crossed()), 1, std::max(most, 1));
    const std::uint32_t narrowest = ir_.narrowest_store();
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      if (ir_.accesses[a].store && !aligned(a, args_.accesses[a], kSector / size(ir_.accesses[a])))
        ir_.sector = static_cast<int>(kSector / size(ir_.accesses[narrowest]));
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      Access& access = ir_.accesses[a];
      if (!runs(a)) continue;
      AccessArgs args = args_.accesses[a];
      const int word = is_crossed(a) ? 4 / static_cast<int>(size(access)) : ir_.vector;
      if (!is_crossed(a) && ir_.sector > 0) {
        const AccessArgs& first = args_.accesses[narrowest];
        args.offset -= first.offset;
        for (int d = 0; d < ir_.rank; ++d) args.strides[d] -= first.strides[d];
      }
      access.aligned = word > 1 && aligned(a, args, word);
    }
  }

  /// True if a thread's elements of an access are neighbours: of a row of pixels, or of a row of each of their values.
  [[nodiscard]] bool runs(std::size_t access) const {
    const Access& a = ir_.accesses[access];
    if (a.buffer == kNone) return false;
    if (is_crossed(access)) return true;
    return ir_.stores_pixels() ? a.pixels_along == ir_.rank - 1 : a.strides.back() == StrideClass::One;
  }

  [[nodiscard]] bool aligned(std::size_t access, const AccessArgs& a, std::int64_t v) const {
    const Access& of = ir_.accesses[access];
    const int along = of.pixels_along >= 0 ? of.pixels_along : is_crossed(access) ? ir_.cross : ir_.rank - 1;
    if (a.offset % v != 0) return false;
    for (int d = 0; d < ir_.rank; ++d)
      if (d != along && (of.pixels_along < 0 || d != ir_.pixel) && a.strides[d] % v != 0) return false;
    return true;
  }

  KernelIr& ir_;
  KernelArgs& args_;
  const graph::Target& target_;
};

}  // namespace

bool choose_transpose(KernelIr& ir, KernelArgs& args, const graph::Target& target) {
  return Transpose(ir, args, target).choose();
}

}  // namespace tarry::codegen
