// CUDA C: what the schedules of tiles share. A tile is `ir.tile(d)` points along each outer dimension; tiles are
// numbered in row-major order. Its points are named by a row (of dimension ir.row_dimension()) and a column (of the
// last one).
#pragma once

#include <string>

#include "codegen/cuda/render.h"

namespace tarry::codegen::cuda {

class TileWriter {
 public:
  TileWriter(const TileWriter&) = delete;
  TileWriter& operator=(const TileWriter&) = delete;

 protected:
  /// `channel_dimension`: of a tile that has all channels of a point beside its rows and columns.
  explicit TileWriter(const KernelIr& ir, int channel_dimension = -1)
      : ir_(ir), channel_dimension_(channel_dimension), expressions_(ir) {}
  ~TileWriter() = default;

  /// How a point finds the value of a load of a buffer, and whether a guard holds there.
  [[nodiscard]] virtual std::string loaded(const Instr& in) const = 0;
  [[nodiscard]] virtual std::string inside(std::uint32_t guard) const = 0;
  /// The value of an iota at the point.
  [[nodiscard]] virtual std::string counted(std::uint32_t access) const = 0;
  /// True if the words of a draw are in memory of the thread: dV[row][column].
  [[nodiscard]] virtual bool shares_block(Value) const { return false; }
  /// Index of the point among the results of its thread that one store takes to memory.
  [[nodiscard]] virtual std::string result_index(std::uint32_t access) const = 0;

  [[nodiscard]] const Access& access(std::uint32_t a) const { return ir_.accesses[a]; }
  [[nodiscard]] std::string type(std::uint32_t a) const { return c_type(ir_.buffers[access(a).buffer]); }
  [[nodiscard]] bool along_rows(std::uint32_t a) const { return moves(a, ir_.row_dimension()); }
  [[nodiscard]] bool along_columns(std::uint32_t a) const { return moves(a, ir_.rank - 1); }
  [[nodiscard]] std::string name(std::uint32_t a) const;
  [[nodiscard]] std::string operand(Value v) const;
  [[nodiscard]] static std::string block_word(Value v) { return "d" + std::to_string(v) + "[r][c]"; }
  /// True if an access has an address or an offset of its own.
  [[nodiscard]] bool is_placed(std::uint32_t a) const { return access(a).window == kNone || access(a).window == a; }
  /// The offset of an access at a row and a column of the tile, and a channel.
  [[nodiscard]] std::string offset(std::uint32_t a, const std::string& row, const std::string& column,
                                   const std::string& value = "0") const;
  /// True if a term of a guard holds at a row and a column of the tile.
  [[nodiscard]] std::string holds(const GuardTerm& term, const std::string& row, const std::string& column) const;
  /// The same of all terms.
  [[nodiscard]] std::string all_hold(std::uint32_t guard, const std::string& row, const std::string& column) const;
  struct Load {
    std::uint32_t access, guard;
  };
  /// Loads of buffers, each access once.
  [[nodiscard]] std::vector<Load> buffer_loads() const;
  /// Rows and columns, counted from the tile's first ones.
  struct TileRange {
    int first_row, first_column, last_row, last_column;
  };
  [[nodiscard]] TileRange tile_box() const {
    return {0, 0, ir_.tile(ir_.row_dimension()) - 1, ir_.tile(ir_.rank - 1) - 1};
  }
  /// True if all points of a box are there and all guards hold at them. `rows` and `columns` count as far as it goes.
  [[nodiscard]] std::string whole(const TileRange& box) const;
  [[nodiscard]] std::string whole() const { return whole(tile_box()); }
  /// True if all points of the tile are there and each guard is as usual at all of them.
  [[nodiscard]] std::string usual() const;
  /// Loads and stores of runs of elements: $N_get, $N_put.
  static std::string_view runs();

  void place();                     ///< the struct of addresses and offsets: $N_at
  void find(const TileRange& box);  ///< from `number`, a tile's: row, column, t, and rows and columns that are there,
                                    ///< up to the end of the box
  void find() { find(tile_box()); }
  void point();        ///< all instructions; a store of access A goes to yA[result_index()]
  void usual_point();  ///< the same where guards are as usual
  KernelSource finish(int threads);

  const KernelIr& ir_;
  const int channel_dimension_;
  Expressions expressions_;
  CodeWriter out_;

 private:
  [[nodiscard]] std::vector<std::string> tests(const GuardTerm& term, const TileRange& box) const;
  [[nodiscard]] std::string misses(const GuardTerm& term) const;
  void instruction(Value v, const std::vector<Value>& args);
  [[nodiscard]] bool moves(std::uint32_t a, int dimension) const {
    return dimension >= 0 && access(a).strides[static_cast<std::size_t>(dimension)] != StrideClass::Zero;
  }
};

}  // namespace tarry::codegen::cuda
