// Layouts: how a kernel of each schedule cuts its space. One struct per schedule holds what is chosen for a kernel and
// part of its text, and nothing else; schedules.def has a row for each.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <variant>

namespace tarry::codegen {

struct KernelIr;

/// A way to walk an iteration space; schedules.def says what each is. Its number is that of its layout in Layout.
enum class Schedule : std::uint8_t {
#define TARRY_SCHEDULE(schedule, ...) schedule,
#include "codegen/ir/schedules.def"
};

/// Properties that schedules share, as bits of a row's traits.
namespace trait {
inline constexpr unsigned kMap = 1 << 0;          ///< no reduction: every instruction runs once per point
inline constexpr unsigned kTiles = 1 << 1;        ///< a map whose work items are tiles of rows and columns
inline constexpr unsigned kWindows = 1 << 2;      ///< loads belong to windows
inline constexpr unsigned kNeighbours = 1 << 3;   ///< points use values of other points
inline constexpr unsigned kContraction = 1 << 4;  ///< tiles share what loops read
inline constexpr unsigned kRow = 1 << 5;          ///< goes over a row several times
inline constexpr unsigned kScan = 1 << 6;         ///< gives prefixes of the reduced axis
inline constexpr unsigned kRowColumn = 1 << 7;    ///< reduces two dimensions, each by itself
inline constexpr unsigned kStages = 1 << 8;       ///< instructions have stages
inline constexpr unsigned kAlong = 1 << 9;        ///< on a GPU: a thread's items lie along the reduced axis
inline constexpr unsigned kLanes = 1 << 10;       ///< on a GPU: they are lanes of a tree block
inline constexpr unsigned kLevels = 1 << 11;      ///< goes over levels in order, with carried values
}  // namespace trait

/// A field of a layout, for dumps. A flag is printed by its name alone.
struct LayoutField {
  const char* name;
  int value;
  bool flag;
  constexpr LayoutField(const char* n, int v) : name(n), value(v), flag(false) {}
  constexpr LayoutField(const char* n, std::same_as<bool> auto v) : name(n), value(v), flag(true) {}
};

// `vector`: elements per memory access along the vector dimension. Classes are those of kernel_ir.h; they are chosen on
// a GPU, and 0 on a CPU.

/// On a GPU, `single`: a thread has one point at a time, in one copy of the code, instead of all of its points at once.
/// `resident`: thread blocks that a multiprocessor shall hold, or 0 where the compiler chooses.
struct PointwiseLayout {
  int vector = 1;
  bool single = false;
  int resident = 0;
  [[nodiscard]] std::array<LayoutField, 2> fields() const { return {{{"single", single}, {"resident", resident}}}; }
};

/// A thread computes `rows` rows of `vector` columns.
struct StencilLayout {
  int vector = 1;
  int rows = 1;
  bool apart = false;  ///< tiles where guards are not as usual are few: they go part by part
  [[nodiscard]] std::array<LayoutField, 2> fields() const { return {{{"rows", rows}, {"apart", apart}}}; }
  [[nodiscard]] int row_dimension(const KernelIr& ir) const;
  [[nodiscard]] int tile(const KernelIr& ir, int dimension) const;
};

/// A thread computes all channels of `vector` columns.
struct PlanarLayout {
  int vector = 1;
  int channels = 1;
  int channel_dimension = -1;  ///< the short one
  [[nodiscard]] std::array<LayoutField, 2> fields() const {
    return {{{"channels", channels}, {"channel_dimension", channel_dimension}}};
  }
  [[nodiscard]] int row_dimension(const KernelIr&) const { return channel_dimension; }
  [[nodiscard]] int tile(const KernelIr& ir, int dimension) const;
};

struct TransposeLayout {
  int vector = 1;
  int rows = 1, columns = 1;  ///< of a tile
  /// On a GPU, where rows of what is stored begin anywhere: elements of its narrowest store in a sector of memory. A
  /// row of a tile begins up to that many earlier, where a sector does, and is whole sectors; so none is written in
  /// parts by two tiles. Else 0.
  int sector = 0;
  int across = -1;  ///< the dimension along which transposed loads are contiguous, and of rows; on a CPU -1 where
                    ///< interleaved channels become planar or planar ones interleaved
  int channel_dimension = -1, channels = 1;  ///< tiles have all channels; or -1 and 1
  [[nodiscard]] std::array<LayoutField, 6> fields() const {
    return {{{"rows", rows},
             {"columns", columns},
             {"sector", sector},
             {"across", across},
             {"channel_dimension", channel_dimension},
             {"channels", channels}}};
  }
  [[nodiscard]] int row_dimension(const KernelIr&) const { return across; }
  [[nodiscard]] int tile(const KernelIr& ir, int dimension) const;
  [[nodiscard]] std::int64_t tiles(const KernelIr& ir, int dimension, std::int64_t extent) const;
};

/// On a GPU: `warps` warps of a thread block, one below the other, of which a lane has `rows` rows of `columns`
/// columns. On a CPU: no warps, and the rows and columns of a work item.
struct IteratedStencilLayout {
  int columns = 1, rows = 1;
  int warps = 0;
  [[nodiscard]] std::array<LayoutField, 2> fields() const { return {{{"warps", warps}, {"rows", rows}}}; }
  [[nodiscard]] int row_dimension(const KernelIr& ir) const;
  [[nodiscard]] int tile(const KernelIr& ir, int dimension) const;
};

/// On a CPU: outer indices that go side by side.
struct RecurrenceLayout {
  int vector = 1;
  int lanes = 0;
  [[nodiscard]] std::array<LayoutField, 1> fields() const { return {{{"lanes", lanes}}}; }
};

/// On a GPU a thread takes `vector` neighbouring elements of a row at a time, and has `rows` rows that are neighbours
/// along the first dimension.
struct ReduceSerialLayout {
  int vector = 1;
  int longest_row = 0;  ///< serial_class(n)
  int rows = 1;
  [[nodiscard]] std::array<LayoutField, 2> fields() const { return {{{"longest_row", longest_row}, {"rows", rows}}}; }
  [[nodiscard]] int tile(const KernelIr&, int dimension) const { return dimension == 0 ? rows : 1; }
};

/// Striped: a thread's items are a tree block apart, not neighbours, so that the threads of a warp touch neighbouring
/// elements one by one.
struct ReduceInnerLayout {
  int vector = 1;
  int warps_per_row = 0;  ///< on a GPU 1 or 8
  bool striped = false;
  [[nodiscard]] std::array<LayoutField, 2> fields() const {
    return {{{"warps_per_row", warps_per_row}, {"striped", striped}}};
  }
};

struct ReduceOuterLayout {
  int vector = 1;
  int columns = 0;  ///< column_class of the last outer dimension, where it is shorter than a warp is wide and a thread
                    ///< block has its columns alone
  [[nodiscard]] std::array<LayoutField, 1> fields() const { return {{{"columns", columns}}}; }
};

struct ReduceRowColumnLayout {
  int vector = 1;
  [[nodiscard]] std::array<LayoutField, 0> fields() const { return {}; }
};

struct RowSerialLayout {
  int longest_row = 0;  ///< serial_class(n)
  [[nodiscard]] std::array<LayoutField, 1> fields() const { return {{{"longest_row", longest_row}}}; }
};

struct RowInnerLayout {
  int vector = 1;
  int blocks_per_row = 0;   ///< row_class(n)
  bool striped = false;     ///< as above
  bool half_block = false;  ///< rows are no longer than half a tree block: lanes end after two steps
  [[nodiscard]] std::array<LayoutField, 3> fields() const {
    return {{{"blocks_per_row", blocks_per_row}, {"striped", striped}, {"half_block", half_block}}};
  }
};

struct ScanSerialLayout {
  int lines = 0;  ///< on a CPU: rows side by side
  [[nodiscard]] std::array<LayoutField, 1> fields() const { return {{{"lines", lines}}}; }
};

struct ScanInnerLayout {
  int vector = 1;
  [[nodiscard]] std::array<LayoutField, 0> fields() const { return {}; }
};

struct ScanTilesLayout {
  int vector = 1;
  int units = 0;  ///< of 16 KiB, of a tile: 1, 2 or 4
  [[nodiscard]] std::array<LayoutField, 1> fields() const { return {{{"units", units}}}; }
};

struct ContractLayout {
  int vector = 1;
  int loop_class = 0;  ///< of the longest loop; on a CPU of any
  [[nodiscard]] std::array<LayoutField, 1> fields() const { return {{{"loop_class", loop_class}}}; }
};
struct ContractReduceLayout {
  int vector = 1;
  int loop_class = 0;
  [[nodiscard]] std::array<LayoutField, 1> fields() const { return {{{"loop_class", loop_class}}}; }
};

namespace detail {
template <class, class... Layouts>
struct LayoutOf {
  using type = std::variant<Layouts...>;
};
}  // namespace detail

/// The layout of any schedule, in the order of Schedule.
using Layout = detail::LayoutOf<void
#define TARRY_SCHEDULE(schedule, ...) , schedule##Layout
#include "codegen/ir/schedules.def"
                                >::type;

constexpr Schedule schedule_of(const Layout& layout) { return static_cast<Schedule>(layout.index()); }
/// The layout of a schedule before anything is chosen.
Layout empty_layout(Schedule schedule);

constexpr unsigned traits_of(Schedule schedule) {
  using namespace trait;
  constexpr unsigned kTraits[] = {
#define TARRY_SCHEDULE(schedule, name, word, traits, ...) traits,
#include "codegen/ir/schedules.def"
  };
  return kTraits[static_cast<std::size_t>(schedule)];
}

/// Its name in dumps, and its word in the names of entries.
const char* name_of(Schedule schedule);
const char* entry_word(Schedule schedule);

}  // namespace tarry::codegen
