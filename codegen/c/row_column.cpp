// C kernels that reduce two dimensions, each by itself, by tree R (docs/reference/numerics.md).
//
// A work item is (outer index but for the last dimension, band of 128 rows, chunk of columns). It goes over its rows in
// the order of a block's lanes: of a row the chunk is a node of the tree along the reduced axis, and for the columns,
// side by side, the row is an element of a lane; lanes merge as those of c/reduce.cpp. What an item has, a state
// for each row and each column, goes to memory. Then each band folds its rows' chunks and the bands of some chunks'
// columns.
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "codegen/c/states.h"
#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr int kRows = 128;       // of a band: a block of R
constexpr int kLevels = 7;       // of a block's lanes, or of a segment's blocks
constexpr int kBandLevels = 31;  // of the bands

/// Blocks of columns in a chunk.
int chunk_blocks(const KernelIr& ir) {
  std::size_t bytes = 0;
  for (const StateField& f : state_fields(ir))
    if (ir.reductions[f.reduction].stage == 1) bytes += itemsize(f.dtype);
  return std::clamp(static_cast<int>(std::bit_floor(kStateBytesPerLevel / 128 / bytes)), 1, 8);
}

/// Bytes of the struct of a stage's states: the count, then one array per field.
std::size_t struct_bytes(const KernelIr& ir, int stage, std::size_t elements) {
  std::size_t at = 8;
  for (const StateField& f : state_fields(ir)) {
    if (ir.reductions[f.reduction].stage != stage) continue;
    const std::size_t size = itemsize(f.dtype);
    at = (at + size - 1) / size * size + size * elements;
  }
  return (at + 7) / 8 * 8;
}

class RowColumnWriter {
 public:
  RowColumnWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        columns_(128 * chunk_blocks(ir)),
        parameters_(make_parameters(ir, {SlotKind::Extent, SlotKind::Reduced, SlotKind::Chunks, SlotKind::Scratch})),
        w_(ir, parameters_, target, 1, chunk_blocks(ir)) {}

  KernelSource render();

 private:
  void along_rows() { w_.select_stage(0, 1); }
  void along_columns() { w_.select_stage(1, columns_); }
  [[nodiscard]] bool is_direct(Value v) const;
  [[nodiscard]] std::vector<Value> kept_inputs() const;
  [[nodiscard]] std::string place(bool declare, std::string_view more) const;
  [[nodiscard]] std::string rows_extent() const { return fmt::format("e{}", ir_.rank - 1); }
  [[nodiscard]] std::string parts() const {
    return fmt::format("struct {0}_part* const parts = (struct {0}_part*)p->scratch;", kEntryName);
  }

  void line_function();
  void tile_function();
  void points();
  void ask_for_next();
  void full_lane(std::uint32_t r);
  void finish(int stage);
  void band(std::string_view item);
  void entry();
  void fold();

  const KernelIr& ir_;
  const int columns_;  ///< of a chunk
  const Parameters parameters_;
  StateWriter w_;
};

/// An input that is a contiguous load is read in place. Not beside stores of points: one of them may take the memory of
/// what is read.
bool RowColumnWriter::is_direct(Value v) const {
  const Instr& instr = ir_.instrs[v];
  if (instr.kind != InstrKind::Load || instr.guard != kNone || ir_.accesses[instr.index].buffer == kNone) return false;
  return w_.stores(Region::Point).empty() && ir_.accesses[instr.index].reduced == StrideClass::One;
}

/// Values that the reductions take and do not read in place, each once.
std::vector<Value> RowColumnWriter::kept_inputs() const {
  return w_.kept_inputs([this](Value v) { return is_direct(v); });
}

/// ", i0, i1" and what follows, as parameters or arguments.
std::string RowColumnWriter::place(bool declare, std::string_view more) const {
  std::string text;
  for (int d = 0; d + 1 < ir_.rank; ++d) text += fmt::format(", {}i{}", declare ? "tarry_i64 " : "", d);
  return text + std::string(more);
}

// ---------------------------------------------------------------- items

/// Reduces `length` elements of a row, from k on, into one state.
void RowColumnWriter::line_function() {
  along_rows();
  w_.line_functions([](Value) { return false; });
  std::string inputs;
  for (const std::uint32_t r : w_.reductions())
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k)
      inputs += fmt::format(", const {}* {}", w_.accumulator(r), w_.input(r, k));
  w_.open(fmt::format("static void {0}_line(const struct {0}_params* p, tarry_i64 k, tarry_i64 length{1}, {2}* to)",
                      kEntryName, inputs, w_.state_type()));
  w_.line("const tarry_i64 n = p->n;");
  w_.weights_array();
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kLevels));
  w_.line("tarry_i64 depth = 0;");
  w_.open("");
  w_.segment("k");
  w_.close();
  w_.fold_stack();
  w_.line("*to = stack[0];");
  w_.close();
}

/// The points of the lane's row number `step` (from 1): `x{r}_{i}` then points at what reduction r takes. What is not
/// read in place is kept for all rows of the lane.
void RowColumnWriter::points() {
  constexpr std::array kPoint = {Region::Point};
  w_.bases('a', kPoint, outer_indices(ir_, "k"), "k0");
  CWriter::Loop loop{w_.instructions(Region::Point), Axis::Reduced, "i", "0", "m"};
  const std::vector<Value> stores = w_.stores(Region::Point), kept = kept_inputs();
  loop.values.insert(loop.values.end(), stores.begin(), stores.end());
  for (const Value v : kept)
    w_.line(fmt::format("{0}* const y{1} = ys{1} + (step - 1) * {2};", c_type(ir_.instrs[v].dtype), v, columns_));
  for (const Value v : kept) loop.kept.emplace_back(fmt::format("y{}[i]", v), v);
  if (!kept.empty() || !stores.empty()) w_.loop(loop);
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t i = 0; i < input_count(ir_.reductions[r]); ++i) {
      const Value v = ir_.reductions[r].args[i];
      const std::string place = is_direct(v) ? fmt::format("a{}", ir_.instrs[v].index) : fmt::format("y{}", v);
      w_.line(fmt::format("const {}* const {} = {};", w_.accumulator(r), w_.input(r, i), place));
    }
}

/// The next row's piece of each matrix: it begins on another page, where the core does not look ahead by itself.
void RowColumnWriter::ask_for_next() {
  w_.line(fmt::format("const tarry_i64 next = k + 32 < end ? 32 : j0 + {}_lane[(q + 1) & 31] - k;", kEntryName));
  std::vector<std::string> apart(static_cast<std::size_t>(ir_.rank), "0");
  apart.back() = "next";
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const Access& access = ir_.accesses[a];
    if (access.buffer == kNone || access.store || !w_.uses(a, Region::Point)) continue;
    if (access.reduced != StrideClass::One || access.strides.back() == StrideClass::Zero) continue;
    const std::size_t line = kLine / itemsize(ir_.buffers[access.buffer]);
    w_.line(fmt::format("for (tarry_i64 i = 0; i < m; i += {}) __builtin_prefetch(a{} + {} + i);", line, a,
                        outer_offset(ir_, a, apart, "")));
  }
}

/// The columns take all rows of a lane at once.
void RowColumnWriter::full_lane(std::uint32_t r) {
  const Value v = ir_.reductions[r].args[0];
  std::string x = fmt::format("ys{}", v), h = std::to_string(columns_);
  if (is_direct(v)) {
    const std::uint32_t access = ir_.instrs[v].index;
    std::vector<std::string> apart(static_cast<std::size_t>(ir_.rank), "0");
    apart.back() = "32";
    h = outer_offset(ir_, access, apart, "");
    const std::string row = outer_offset(ir_, access, outer_indices(ir_, "first"), "");
    x = sum_text(fmt::format("p->a{}", access), sum_text(row, reduced_offset(ir_, access, "k0", "")));
  }
  w_.full_lane(r, x, h);
}

/// The columns' states into stack[0], those of the rows into `rows`.
void RowColumnWriter::tile_function() {
  line_function();
  std::string taken;
  for (const std::uint32_t r : w_.reductions())
    for (std::size_t i = 0; i < input_count(ir_.reductions[r]); ++i) taken += ", " + w_.input(r, i);
  const std::string row_type = w_.state_type();
  along_columns();
  w_.line(fmt::format(
      "static const unsigned char {}_lane[32] = {{0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, "
      "1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31}};",
      kEntryName));
  w_.open(fmt::format("static void {0}_tile(const struct {0}_params* p{1}, {2}* stack, {3}* rows)", kEntryName,
                      place(true, ", tarry_i64 j0, tarry_i64 k0"), w_.state_type(), row_type));
  w_.locals();
  w_.line(fmt::format("const tarry_i64 end = {0} - j0 < {1} ? {0} : j0 + {1};", rows_extent(), kRows));
  w_.line(fmt::format("const tarry_i64 m = n - k0 < {0} ? n - k0 : {0};", columns_));
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 q = 0; q < 32; ++q)");
  w_.line(fmt::format("{}* const top = stack + depth;", w_.state_type()));
  w_.line("tarry_i64 step = 0;");
  w_.line(fmt::format("const tarry_i64 first = j0 + {}_lane[q];", kEntryName));
  w_.line("const int full = first + 96 < end;");
  for (const Value v : kept_inputs())
    w_.line(fmt::format("{} ys{}[4 * {}];", c_type(ir_.instrs[v].dtype), v, columns_));
  w_.open("for (tarry_i64 k = first; k < end; k += 32)");
  w_.line("++step;");
  points();
  ask_for_next();
  w_.line(fmt::format("{}_line(p, k0, m{}, rows + (k - j0));", kEntryName, taken));
  for (const bool alone : {true, false}) {
    if (!alone) w_.open("if (!full)");
    for (const std::uint32_t r : w_.reductions())
      if (has_lanes_of_four(ir_.reductions[r]) != alone) w_.leaf_step(r);
    if (!alone) w_.close();
  }
  w_.close();
  w_.open("if (full)");
  for (const std::uint32_t r : w_.reductions())
    if (has_lanes_of_four(ir_.reductions[r])) full_lane(r);
  w_.close();
  w_.line("top->count = step;");
  w_.push("q");
  w_.close();
  w_.fold_stack();
  w_.close();
}

// ---------------------------------------------------------------- entries

/// Outer instructions of a stage: at row j0, or at the m columns from k0 on.
void RowColumnWriter::finish(int stage) {
  stage == 0 ? along_rows() : along_columns();
  w_.open(fmt::format("static void {0}_finish{1}(const struct {0}_params* p{2}, const {3}* s)", kEntryName, stage,
                      place(true, stage == 0 ? ", tarry_i64 j0" : ", tarry_i64 k0, tarry_i64 m"), w_.state_type()));
  w_.locals();
  constexpr std::array kOuter = {Region::Outer};
  CWriter::Loop loop{{}, Axis::Reduced, "j", "0", "m"};
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (ir_.instrs[v].region == Region::Outer && ir_.instrs[v].stage == stage) loop.values.push_back(v);
  loop.operand = [&](Value v) {
    const Instr& instr = ir_.instrs[v];
    if (instr.kind != InstrKind::Result) return value_name(v);
    return fmt::format("s->{}[{}]", w_.part(instr.index, output_field(ir_.reductions[instr.index], instr.output)),
                       stage == 0 ? "0" : "j");
  };
  if (stage == 0) {
    w_.bases('a', kOuter, outer_indices(ir_, "j0"), "0");
    w_.straight(loop.values, loop.operand);
  } else {
    w_.bases('a', kOuter, outer_indices(ir_, "0"), "k0");
    w_.loop(loop);
  }
  w_.close();
}

/// The place of a band: i0.., j0 of number `item` of all bands.
void RowColumnWriter::band(std::string_view item) {
  w_.line(fmt::format("const tarry_i64 before = {0} / bands, at = {0} - before * bands, j0 = at * {1};", item, kRows));
  w_.line("(void)before;");
  decode_row(w_, "before");
}

void RowColumnWriter::entry() {
  along_columns();
  w_.open(fmt::format("void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  w_.line(fmt::format("const tarry_i64 bands = ({} + {}) / {};", rows_extent(), kRows - 1, kRows));
  w_.line(parts());
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kLevels));
  w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
  w_.line("const tarry_i64 number = item / chunks, chunk = item - number * chunks;");
  band("number");
  w_.line(fmt::format("const tarry_i64 k0 = chunk * {0}, m = n - k0 < {0} ? n - k0 : {0};", columns_));
  w_.line(fmt::format("{0} *const top = &parts[item].columns, *const found = stack;", w_.state_type()));
  w_.line(fmt::format("{}_tile(p{}, stack, parts[item].rows);", kEntryName, place(false, ", j0, k0")));
  w_.copy("top", "found");
  w_.close();
  w_.close();
}

void RowColumnWriter::fold() {
  w_.open(fmt::format("void {0}_fold(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  w_.line(fmt::format("const tarry_i64 bands = ({} + {}) / {};", rows_extent(), kRows - 1, kRows));
  w_.line("const " + parts());
  w_.open("for (tarry_i64 number = lo; number < hi; ++number)");
  band("number");
  along_rows();
  w_.open(fmt::format("for (tarry_i64 row = 0; row < {} && j0 + row < {}; ++row)", kRows, rows_extent()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 chunk = 0; chunk < chunks; ++chunk)");
  w_.line("stack[depth] = parts[number * chunks + chunk].rows[row];");
  w_.push("chunk");
  w_.close();
  w_.fold_stack();
  w_.line(fmt::format("{}_finish0(p{}, stack);", kEntryName, place(false, ", j0 + row")));
  w_.close();
  along_columns();
  w_.open("for (tarry_i64 chunk = at; chunk < chunks; chunk += bands)");
  w_.line(fmt::format("const tarry_i64 k0 = chunk * {0}, m = n - k0 < {0} ? n - k0 : {0};", columns_));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kBandLevels));
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 b = 0; b < bands; ++b)");
  w_.line(fmt::format("{} *const top = stack + depth;", w_.state_type()));
  w_.line(fmt::format("const {} *const found = &parts[(number - at + b) * chunks + chunk].columns;", w_.state_type()));
  w_.copy("top", "found");
  w_.push("b");
  w_.close();
  w_.fold_stack();
  w_.line(fmt::format("{}_finish1(p{}, stack);", kEntryName, place(false, ", k0, m")));
  w_.close();
  w_.close();
  w_.close();
}

KernelSource RowColumnWriter::render() {
  w_.preamble();
  along_rows();
  w_.declare_states();
  const std::string row_type = w_.state_type();
  along_columns();
  w_.declare_states();
  w_.open(fmt::format("struct {}_part", kEntryName));
  w_.line(fmt::format("{} columns;", w_.state_type()));
  w_.line(fmt::format("{} rows[{}];", row_type, kRows));
  w_.close(";");
  tile_function();
  finish(0);
  finish(1);
  entry();
  fold();
  KernelSource source = w_.finish();
  source.tile = kRows;
  return source;
}

}  // namespace

Geometry geometry_c_row_column(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  const std::int64_t rows = args.extents.back(), count = args.outer_count();
  g.outer_tiles = count == 0 ? 0 : count / rows * ((rows + kRows - 1) / kRows);
  if (g.outer_tiles == 0) return g;
  TARRY_ASSERT(rows > kSerial && args.reduced > kSerial);  // shorter ones are summed from left to right
  g.chunk_blocks = chunk_blocks(ir);
  const std::int64_t columns = 128 * g.chunk_blocks;
  g.chunks = (args.reduced + columns - 1) / columns;
  const std::size_t part = struct_bytes(ir, 1, static_cast<std::size_t>(columns)) + kRows * struct_bytes(ir, 0, 1);
  g.scratch_bytes = static_cast<std::size_t>(g.grid()) * part;
  return g;
}

KernelSource render_c_row_column(const KernelIr& ir, const graph::Target& target) {
  return RowColumnWriter(ir, target).render();
}

}  // namespace tarry::codegen
