// C kernels that reduce along one axis by tree R (docs/numerics.md).
//
// A work item is (outer tile, chunk). Its states (codegen/render_c_states.h) are the leaves of an aligned tree: blocks are,
// and with lanes visited in bit-reversed order, lanes and blocks are one such tree.
//   ReduceSerial, ReduceOuter  the inner loops run over the tile's outer elements
//   ReduceInner                the tile is one element; a block's 32 lanes are the vector
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "codegen/render_c_states.h"
#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr int kStateBytesPerLevel = 4096;  // of one tile: rows of a page each, and five levels of lanes near the core
constexpr int kSegment = 1024;             // elements of the reduced axis evaluated at once (ReduceInner)

class ReduceWriter {
 public:
  explicit ReduceWriter(const KernelIr& ir)
      : ir_(ir), tile_(reduce_tile(ir)),
        // The inner extent of rank 1 is the outer count.
        parameters_(make_parameters(ir, {ir.rank == 1 ? SlotKind::OuterCount : SlotKind::Extent, SlotKind::Reduced,
                                         SlotKind::Chunks, SlotKind::ChunkBlocks, SlotKind::Scratch})),
        w_(ir, parameters_) {}

  KernelSource render();

 private:
  // Text of names.
  [[nodiscard]] std::string outer_arguments(bool declare) const;
  [[nodiscard]] bool varies_by_row(Value v) const;
  [[nodiscard]] bool is_direct(Value v) const;

  // Functions of the kernel.
  void reduce_tiles();
  void reduce_segments();
  void finish();
  void entry();
  void fold();

  // Pieces of them.
  void open_reduce();
  void row_values();
  void inputs_of_points(Axis axis, std::string_view extent, int capacity);
  void full_lane();
  [[nodiscard]] bool has_full_lane() const;

  const KernelIr& ir_;
  const int tile_;
  const Parameters parameters_;
  StateWriter w_;
};

// ---------------------------------------------------------------- names

/// The tile's place: "i0, i1, j0, m" as arguments or declared. The tile of ReduceInner is one element.
std::string ReduceWriter::outer_arguments(bool declare) const {
  std::string text;
  for (int d = 0; d + 1 < ir_.rank; ++d) text += fmt::format(", {}i{}", declare ? "tarry_i64 " : "", d);
  text += declare ? ", tarry_i64 j0" : ", j0";
  if (!w_.inner()) text += declare ? ", tarry_i64 m" : ", m";
  return text;
}

bool ReduceWriter::varies_by_row(Value v) const {
  return ir_.instrs[v].region == Region::Row && ir_.instrs[v].kind != InstrKind::Scalar;
}

/// An input that is a contiguous load is read in place. Not beside stores of points: one of them may take the memory
/// of what is read.
bool ReduceWriter::is_direct(Value v) const {
  const Instr& instr = ir_.instrs[v];
  if (instr.kind != InstrKind::Load || instr.region != Region::Point || ir_.accesses[instr.index].buffer == kNone) return false;
  for (const Instr& other : ir_.instrs)
    if (other.kind == InstrKind::Store && other.region == Region::Point) return false;
  const Access& a = ir_.accesses[instr.index];
  return w_.inner() ? a.reduced == StrideClass::One : ir_.rank > 0 && a.strides.back() == StrideClass::One;
}

// ---------------------------------------------------------------- leaves

/// Values of Row instructions: locals where the tile is one element, else arrays over the tile.
void ReduceWriter::row_values() {
  const bool any = std::any_of(ir_.instrs.begin(), ir_.instrs.end(), [](const Instr& i) {
    return i.region == Region::Row && (i.kind == InstrKind::Load || i.kind == InstrKind::Compute);
  });
  if (!any) return;
  const auto row_bases = [&] {
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (w_.uses(a, Region::Row) && !ir_.accesses[a].store) w_.base('a', a, fmt::format("b{}", a), "0");
    w_.invariant_loads(Region::Row, Axis::LastOuter);
  };
  if (w_.inner()) {
    row_bases();
    w_.statements(Region::Row, Axis::LastOuter, "0", value_name, CWriter::Stores::Skip);
    return;
  }
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (varies_by_row(v) && ir_.instrs[v].kind != InstrKind::Store)
      w_.line(fmt::format("{} row{}[{}];", c_type(ir_.instrs[v].dtype), v, tile_));
  w_.open("");
  row_bases();
  w_.open_loop("j", "0", "m");
  w_.statements(Region::Row, Axis::LastOuter, "j", value_name, CWriter::Stores::Skip);
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (varies_by_row(v) && ir_.instrs[v].kind != InstrKind::Store) w_.line(fmt::format("row{0}[j] = v{0};", v));
  w_.close();
  w_.close();
}

/// Evaluates the points of one loop: `x{r}_{k}` then points at the inputs of reduction r.
void ReduceWriter::inputs_of_points(Axis axis, std::string_view extent, int capacity) {
  std::vector<Value> stored;  // inputs that need an array
  bool evaluate = false;
  for (const Reduction& r : ir_.reductions)
    for (std::size_t k = 0; k < input_count(r); ++k)
      if (!is_direct(r.args[k]) && std::find(stored.begin(), stored.end(), r.args[k]) == stored.end()) stored.push_back(r.args[k]);
  for (const Instr& instr : ir_.instrs) evaluate = evaluate || (instr.kind == InstrKind::Store && instr.region == Region::Point);
  for (const Value v : stored) w_.line(fmt::format("{} y{}[{}];", c_type(ir_.instrs[v].dtype), v, capacity));
  if (evaluate || !stored.empty()) {
    const auto operand = [&](Value v) { return !w_.inner() && varies_by_row(v) ? fmt::format("row{}[i]", v) : value_name(v); };
    w_.open("");
    w_.invariant_loads(Region::Point, axis);
    w_.open_loop("i", "0", extent);
    w_.statements(Region::Point, axis, "i", operand, CWriter::Stores::Write);
    for (const Value v : stored) w_.line(fmt::format("y{}[i] = {};", v, operand(v)));
    w_.close();
    w_.close();
  }
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k) {
      const Value v = ir_.reductions[r].args[k];
      w_.line(fmt::format("const {}* const {} = {}{};", w_.accumulator(r), w_.input(r, k), is_direct(v) ? "a" : "y", is_direct(v) ? ir_.instrs[v].index : v));
    }
}

/// The function that reduces blocks first..last of a tile into stack[0], up to its row values.
void ReduceWriter::open_reduce() {
  w_.open(fmt::format("static void {0}_reduce(const struct {0}_params* p{1}, tarry_i64 first, tarry_i64 last, struct {0}_state* stack)",
                      kEntryName, outer_arguments(true)));
  w_.locals();
  constexpr std::array kRegions = {Region::Row, Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  row_values();
}

// ---------------------------------------------------------------- ReduceSerial, ReduceOuter

/// A lane of four elements is one loop where all inputs are read in place: partial results stay in registers.
bool ReduceWriter::has_full_lane() const {
  return ir_.schedule == Schedule::ReduceOuter && std::all_of(ir_.reductions.begin(), ir_.reductions.end(), [&](const Reduction& r) {
    return r.op != Op::MomentsMerge && is_direct(r.args[0]);
  });
}

void ReduceWriter::full_lane() {
  constexpr int kSteps = 4;
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) {
    const Reduction& reduction = ir_.reductions[r];
    const std::uint32_t access = ir_.instrs[reduction.args[0]].index;
    const std::string x = w_.input(r, 0), type = w_.accumulator(r);
    w_.open("");
    w_.line(fmt::format("const {}* const {} = {};", type, x, sum_text(fmt::format("b{}", access), reduced_offset(ir_, access, "from", ""))));
    w_.line(fmt::format("const tarry_i64 h = {};", reduced_offset(ir_, access, "32", "")));
    w_.open_loop("j", "0", "m");
    if (is_moments(reduction)) {
      w_.line(fmt::format("{} mean = {}[j], m2 = 0;", type, x));
      for (int step = 2; step <= kSteps; ++step) {
        w_.open("");
        w_.line(fmt::format("const {} w = {};", type, float_literal(reduction.dtype, 1.0 / step)));
        w_.moments_step(r, "mean", "m2", fmt::format("j + {} * h", step - 1));
        w_.close();
      }
      w_.line(fmt::format("top->{}[j] = mean;", w_.part(r, "mean")));
      w_.line(fmt::format("top->{}[j] = m2;", w_.part(r, "m2")));
    } else {
      w_.line(fmt::format("{} value = {}[j];", type, x));
      for (int step = 2; step <= kSteps; ++step)
        w_.line(fmt::format("value = {};", w_.expressions.combine(reduction, "value", fmt::format("{}[j + {} * h]", x, step - 1))));
      w_.line(fmt::format("top->{}[j] = value;", w_.part(r, "value")));
    }
    w_.close();
    w_.close();
  }
  w_.line(fmt::format("step = {};", kSteps));
}

void ReduceWriter::reduce_tiles() {
  const bool tree = ir_.schedule == Schedule::ReduceOuter;
  if (tree)
    w_.line(fmt::format("static const unsigned char {}_lane[32] = {{0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, "
                        "1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31}};", kEntryName));
  open_reduce();
  w_.line("tarry_i64 depth = 0;");
  w_.line(tree ? "const tarry_i64 leaves = n <= 32 ? 1 : (last - first) * 32;" : "const tarry_i64 leaves = 1;");
  if (!tree) w_.line("(void)first, (void)last;");
  w_.open("for (tarry_i64 q = 0; q < leaves; ++q)");
  if (tree) {
    w_.line("const tarry_i64 block = (first + q / 32) * 128;");
    w_.line(fmt::format("const tarry_i64 from = n <= 32 ? 0 : block + {}_lane[q & 31];", kEntryName));
    w_.line("const tarry_i64 to = n <= 32 || n - block < 128 ? n : block + 128;");
    w_.line("const tarry_i64 stride = n <= 32 ? 1 : 32;");
  } else {
    w_.line("const tarry_i64 from = 0, to = n, stride = 1;");
  }
  w_.line(fmt::format("struct {}_state* const top = stack + depth;", kEntryName));
  w_.line("tarry_i64 step = 0;");
  if (has_full_lane()) {
    w_.open("if (stride == 32 && to - from > 96)");
    full_lane();
    w_.close();
    w_.line("else");
  }
  w_.open("for (tarry_i64 k = from; k < to; k += stride)");
  w_.line("++step;");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, Region::Point)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, "k", ""));
  inputs_of_points(Axis::LastOuter, "m", tile_);
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.leaf_step(r);
  w_.close();
  w_.line("top->count = step;");
  w_.push("q");
  w_.close();
  w_.fold_stack();
  w_.open("if (n == 0)");
  w_.clear("stack", "m");
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- ReduceInner

void ReduceWriter::reduce_segments() {
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.line_functions(r);
  const auto call = [&](std::uint32_t r, std::string_view function, std::string_view m, std::string_view at) {
    std::string text = fmt::format("{}_{}{}(p, {}, top", kEntryName, function, r, m);
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k) text += fmt::format(", {}{}", w_.input(r, k), at);
    w_.line(text + ");");
  };
  open_reduce();
  w_.line("const tarry_i64 end = n < last * 128 ? n : last * 128;");
  w_.line("tarry_i64 depth = 0, leaf = 0;");
  w_.open(fmt::format("for (tarry_i64 k = first * 128; k < end; k += {})", kSegment));
  w_.line(fmt::format("const tarry_i64 length = end - k < {0} ? end - k : {0};", kSegment));
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, Region::Point)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, "k", ""));
  inputs_of_points(Axis::Reduced, "length", kSegment);
  w_.open("for (tarry_i64 i = 0; i < length; i += 128, ++leaf)");
  w_.line("const tarry_i64 m = length - i < 128 ? length - i : 128;");
  w_.line(fmt::format("struct {}_state* const top = stack + depth;", kEntryName));
  w_.line("top->count = m;");
  w_.open("if (m == 128)");
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) call(r, "block", "128", " + i");
  w_.close();
  w_.open(fmt::format("else if (n > {})", kSerial));
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) call(r, "block", "m", " + i");
  w_.close();
  w_.open("else");
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) call(r, "serial", "m", "");
  w_.close();
  w_.push("leaf");
  w_.close();
  w_.close();
  w_.fold_stack();
  w_.open("if (n == 0)");
  w_.clear("stack", "1");
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- entries

/// Row and Outer instructions of a tile whose reductions are done.
void ReduceWriter::finish() {
  w_.open(fmt::format("static void {0}_finish(const struct {0}_params* p{1}, const struct {0}_state* s)", kEntryName, outer_arguments(true)));
  w_.locals();
  constexpr std::array kRegions = {Region::Row, Region::Outer};
  w_.bases('a', kRegions, outer_indices(ir_, "j0"), "0");
  const auto operand = [&](Value v) {
    const Instr& instr = ir_.instrs[v];
    if (instr.kind != InstrKind::Result) return value_name(v);
    const Reduction& reduction = ir_.reductions[instr.index];
    const std::string_view field = !is_moments(reduction) ? "value" : instr.output == 0 ? "mean" : "m2";
    return fmt::format("s->{}[j]", w_.part(instr.index, field));
  };
  w_.invariant_loads(Region::Row, Axis::LastOuter);
  w_.invariant_loads(Region::Outer, Axis::LastOuter);
  w_.open_loop("j", "0", w_.inner() ? "1" : "m");
  w_.statements(Region::Row, Axis::LastOuter, "j", value_name, CWriter::Stores::Write);
  w_.statements(Region::Outer, Axis::LastOuter, "j", operand, CWriter::Stores::Write);
  w_.close();
  w_.close();
}

std::string inner_extent(const KernelIr& ir) {
  return ir.rank == 0 ? "1" : ir.rank == 1 ? "count" : fmt::format("e{}", ir.rank - 1);
}

/// The place of tile number `at`: i0.., j0, m.
void decode_tile(CWriter& w, int tile, bool inner) {
  w.line(fmt::format("const tarry_i64 row = at / tiles, j0 = (at - row * tiles) * {};", tile));
  w.line("(void)row;");
  decode_row(w, "row");
  if (!inner) w.line(fmt::format("const tarry_i64 m = {0} - j0 < {1} ? {0} - j0 : {1};", inner_extent(w.ir), tile));
}

void ReduceWriter::entry() {
  w_.open(fmt::format("void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  w_.line(fmt::format("const tarry_i64 tiles = ({} + {}) / {};", inner_extent(ir_), tile_ - 1, tile_));
  w_.line("const tarry_i64 blocks = n / 128 + (n % 128 != 0);");
  w_.line(fmt::format("struct {0}_state* const scratch = (struct {0}_state*)p->scratch;", kEntryName));
  w_.line(fmt::format("struct {}_state stack[{}];", kEntryName, kReduceLevels));
  w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
  w_.line("const tarry_i64 at = item / chunks, chunk = item - at * chunks;");
  w_.line("const tarry_i64 first = chunk * chunk_blocks;");
  w_.line("const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;");
  decode_tile(w_, tile_, w_.inner());
  w_.line(fmt::format("{}_reduce(p{}, first, last, stack);", kEntryName, outer_arguments(false)));
  w_.line(fmt::format("if (chunks == 1) {}_finish(p{}, stack);", kEntryName, outer_arguments(false)));
  w_.line("else scratch[item] = stack[0];");
  w_.close();
  w_.close();
}

void ReduceWriter::fold() {
  w_.open(fmt::format("void {0}_fold(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  w_.line(fmt::format("const tarry_i64 tiles = ({} + {}) / {};", inner_extent(ir_), tile_ - 1, tile_));
  w_.line(fmt::format("const struct {0}_state* const scratch = (const struct {0}_state*)p->scratch;", kEntryName));
  w_.line(fmt::format("struct {}_state stack[{}];", kEntryName, kReduceLevels));
  w_.open("for (tarry_i64 at = lo; at < hi; ++at)");
  decode_tile(w_, tile_, w_.inner());
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 chunk = 0; chunk < chunks; ++chunk)");
  w_.line("stack[depth] = scratch[at * chunks + chunk];");
  w_.push("chunk");
  w_.close();
  w_.fold_stack();
  w_.line(fmt::format("{}_finish(p{}, stack);", kEntryName, outer_arguments(false)));
  w_.close();
  w_.close();
}

KernelSource ReduceWriter::render() {
  w_.preamble();
  w_.declare_states();
  if (w_.inner()) reduce_segments();
  else reduce_tiles();
  finish();
  entry();
  fold();
  const std::vector<std::string> functions = w_.expressions.functions();
  KernelSource source = finish_kernel(ir_, Dialect::C, w_.take(), parameters_, functions);
  source.point_cost = point_cost(ir_);
  source.tile = tile_;
  return source;
}

}  // namespace

int reduce_tile(const KernelIr& ir) {
  if (ir.schedule == Schedule::ReduceInner) return 1;
  std::size_t bytes = 0;
  for (const StateField& f : state_fields(ir)) bytes += itemsize(f.dtype);
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<std::size_t>(kStateBytesPerLevel) / bytes)), 16, 1024);
}

std::size_t reduce_state_bytes(const KernelIr& ir) {
  // struct ENTRY_state: the count, then one array per field, each aligned to its element.
  std::size_t at = 8;
  for (const StateField& f : state_fields(ir)) {
    const std::size_t size = itemsize(f.dtype);
    at = (at + size - 1) / size * size + size * static_cast<std::size_t>(reduce_tile(ir));
  }
  return (at + 7) / 8 * 8;
}

KernelSource render_c_reduce(const KernelIr& ir) { return ReduceWriter(ir).render(); }

}  // namespace tarry::codegen
