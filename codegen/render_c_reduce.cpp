// C kernels that reduce along one axis by tree R (docs/numerics.md).
//
// A work item is (outer tile, chunk). A state holds one partial result per outer element of the tile and the number of
// elements it stands for; an empty state (count 0) merges as nothing, which is how R skips missing lanes. States are
// pushed on a stack in the order of the tree's leaves and merged as often as the leaf's number has trailing ones: a
// binary counter, so every merge is a node of the aligned tree. What is left is folded from the right. With lanes
// visited in bit-reversed order, lanes and blocks are one such tree.
//   ReduceSerial, ReduceOuter  the inner loops run over the tile's outer elements
//   ReduceInner                the tile is one element; a block's 32 lanes are the vector
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "codegen/render_c.h"
#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr int kStateBytesPerLevel = 4096;  // of one tile: rows of a page each, and five levels of lanes near the core
constexpr int kSerial = 32;                // longest axis that is folded left to right
constexpr int kSegment = 1024;             // elements of the reduced axis evaluated at once (ReduceInner)

bool is_moments(const Reduction& r) { return r.op == Op::Moments || r.op == Op::MomentsMerge; }

class ReduceWriter {
 public:
  explicit ReduceWriter(const KernelIr& ir)
      : ir_(ir), inner_(ir.schedule == Schedule::ReduceInner), tile_(reduce_tile(ir)),
        // The inner extent of rank 1 is the outer count.
        parameters_(make_parameters(ir, {ir.rank == 1 ? SlotKind::OuterCount : SlotKind::Extent, SlotKind::Reduced,
                                         SlotKind::Chunks, SlotKind::ChunkBlocks, SlotKind::Scratch})),
        w_(ir, parameters_) {}

  KernelSource render();

 private:
  // Text of names.
  [[nodiscard]] std::string part(std::uint32_t r, std::string_view name) const { return fmt::format("{}{}", name, r); }
  [[nodiscard]] std::string accumulator(std::uint32_t r) const { return c_type(ir_.reductions[r].dtype); }
  [[nodiscard]] std::string outer_arguments(bool declare) const;
  [[nodiscard]] bool varies_by_row(Value v) const;
  [[nodiscard]] bool is_direct(Value v) const;
  [[nodiscard]] std::string input(std::uint32_t r, std::size_t k) const { return fmt::format("x{}_{}", r, k); }
  [[nodiscard]] std::string weighted(std::uint32_t r, std::string_view count) const;
  [[nodiscard]] static std::size_t inputs(const Reduction& r) { return r.op == Op::MomentsMerge ? 2 : 1; }

  // Functions of the kernel.
  void state();
  void merge();
  void merge_part(std::uint32_t r);
  void reduce_tiles();
  void reduce_segments();
  void finish();
  void entry();
  void fold();

  // Pieces of them.
  void row_values();
  void inputs_of_points(Axis axis, std::string_view extent, int capacity);
  void leaf_step(std::uint32_t r);
  void full_lane();
  [[nodiscard]] bool has_full_lane() const;
  void moments_step(std::uint32_t r, const std::string& mean, const std::string& m2, const std::string& i);
  void moments_step_constants(std::uint32_t r, std::string_view k);
  void line_functions(std::uint32_t r);
  void tree_function(std::uint32_t r);
  void moments_tree_function(std::uint32_t r);
  void push(std::string_view leaf);
  void fold_stack();
  void clear(std::string_view state, std::string_view extent);

  const KernelIr& ir_;
  const bool inner_;
  const int tile_;
  const Parameters parameters_;
  CWriter w_;
};

// ---------------------------------------------------------------- names

/// The tile's place: "i0, i1, j0, m" as arguments or declared. The tile of ReduceInner is one element.
std::string ReduceWriter::outer_arguments(bool declare) const {
  std::string text;
  for (int d = 0; d + 1 < ir_.rank; ++d) text += fmt::format(", {}i{}", declare ? "tarry_i64 " : "", d);
  text += declare ? ", tarry_i64 j0" : ", j0";
  if (!inner_) text += declare ? ", tarry_i64 m" : ", m";
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
  return inner_ ? a.reduced == StrideClass::One : ir_.rank > 0 && a.strides.back() == StrideClass::One;
}

std::string ReduceWriter::weighted(std::uint32_t r, std::string_view count) const {
  const Reduction& reduction = ir_.reductions[r];
  if (reduction.op == Op::Moments) return std::string(count);
  return fmt::format("{} * p->{}", count, slot_name({SlotKind::Scalar, reduction.weight}));
}

// ---------------------------------------------------------------- states

void ReduceWriter::state() {
  w_.open(fmt::format("struct {}_state", kEntryName));
  w_.line("tarry_i64 count;");
  for (const StateField& f : state_fields(ir_)) w_.line(fmt::format("{} {}[{}];", c_type(f.dtype), part(f.reduction, f.part), tile_));
  w_.close(";");
}

void ReduceWriter::clear(std::string_view state, std::string_view extent) {
  w_.line(fmt::format("{}->count = 0;", state));
  for (const StateField& f : state_fields(ir_))
    w_.line(fmt::format("for (tarry_i64 j = 0; j < {}; ++j) {}->{}[j] = 0;", extent, state, part(f.reduction, f.part)));
}

void ReduceWriter::merge_part(std::uint32_t r) {
  const Reduction& reduction = ir_.reductions[r];
  const std::string type = accumulator(r);
  if (!is_moments(reduction)) {
    w_.open_loop("j", "0", "m");
    const std::string value = part(r, "value");
    w_.line(fmt::format("a->{0}[j] = {1};", value,
                        w_.expressions.combine(reduction, fmt::format("a->{}[j]", value), fmt::format("b->{}[j]", value))));
    w_.close();
    return;
  }
  const std::string mean = part(r, "mean"), m2 = part(r, "m2");
  w_.open("");
  w_.line(fmt::format("const {0} w = ({0})({1}) / ({0})({2});", type, weighted(r, "b->count"), weighted(r, "(a->count + b->count)")));
  w_.line(fmt::format("const {0} aw = ({0})({1}) * w;", type, weighted(r, "a->count")));
  w_.open_loop("j", "0", "m");
  w_.line(fmt::format("const {} d = b->{}[j] - a->{}[j];", type, mean, mean));
  w_.line(fmt::format("a->{0}[j] = a->{0}[j] + d * w;", mean));
  w_.line(fmt::format("a->{0}[j] = (a->{0}[j] + b->{0}[j]) + (d * d) * aw;", m2));
  w_.close();
  w_.close();
}

void ReduceWriter::merge() {
  w_.open(fmt::format("static void {0}_merge(const struct {0}_params* p, tarry_i64 m, struct {0}_state* a, const struct {0}_state* b)", kEntryName));
  w_.line("(void)p;");
  w_.line("if (b->count == 0) return;");
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) merge_part(r);
  w_.line("a->count += b->count;");
  w_.close();
}

void ReduceWriter::push(std::string_view leaf) {
  w_.line("++depth;");
  w_.open(fmt::format("for (tarry_i64 t = {}; t & 1; t >>= 1, --depth)", leaf));
  w_.line(fmt::format("{}_merge(p, {}, stack + depth - 2, stack + depth - 1);", kEntryName, inner_ ? "1" : "m"));
  w_.close();
}

void ReduceWriter::fold_stack() {
  w_.line(fmt::format("for (; depth > 1; --depth) {}_merge(p, {}, stack + depth - 2, stack + depth - 1);", kEntryName, inner_ ? "1" : "m"));
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
  if (inner_) {
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
    for (std::size_t k = 0; k < inputs(r); ++k)
      if (!is_direct(r.args[k]) && std::find(stored.begin(), stored.end(), r.args[k]) == stored.end()) stored.push_back(r.args[k]);
  for (const Instr& instr : ir_.instrs) evaluate = evaluate || (instr.kind == InstrKind::Store && instr.region == Region::Point);
  for (const Value v : stored) w_.line(fmt::format("{} y{}[{}];", c_type(ir_.instrs[v].dtype), v, capacity));
  if (evaluate || !stored.empty()) {
    const auto operand = [&](Value v) { return !inner_ && varies_by_row(v) ? fmt::format("row{}[i]", v) : value_name(v); };
    w_.open("");
    w_.invariant_loads(Region::Point, axis);
    w_.open_loop("i", "0", extent);
    w_.statements(Region::Point, axis, "i", operand, CWriter::Stores::Write);
    for (const Value v : stored) w_.line(fmt::format("y{}[i] = {};", v, operand(v)));
    w_.close();
    w_.close();
  }
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t k = 0; k < inputs(ir_.reductions[r]); ++k) {
      const Value v = ir_.reductions[r].args[k];
      w_.line(fmt::format("const {}* const {} = {}{};", accumulator(r), input(r, k), is_direct(v) ? "a" : "y", is_direct(v) ? ir_.instrs[v].index : v));
    }
}

/// Constants of a lane's k-th step (k >= 2): the reciprocal, or the weights of Chan's rule.
void ReduceWriter::moments_step_constants(std::uint32_t r, std::string_view k) {
  const std::string type = accumulator(r);
  if (ir_.reductions[r].op == Op::Moments) {
    w_.line(fmt::format("const {} w = {}_reciprocal{}[{}];", type, kEntryName, r, k));
    return;
  }
  w_.line(fmt::format("const {0} w = ({0})({1}) / ({0})({2});", type, weighted(r, "(tarry_i64)1"), weighted(r, k)));
  w_.line(fmt::format("const {0} aw = ({0})({1}) * w;", type, weighted(r, fmt::format("({} - 1)", k))));
}

void ReduceWriter::moments_step(std::uint32_t r, const std::string& mean, const std::string& m2, const std::string& i) {
  const std::string x = fmt::format("{}[{}]", input(r, 0), i);
  w_.line(fmt::format("const {} d = {} - {};", accumulator(r), x, mean));
  w_.line(fmt::format("{0} = {0} + d * w;", mean));
  if (ir_.reductions[r].op == Op::Moments) w_.line(fmt::format("{0} = {0} + d * ({1} - {2});", m2, x, mean));
  else w_.line(fmt::format("{0} = ({0} + {1}[{2}]) + (d * d) * aw;", m2, input(r, 1), i));
}

/// One more element into every lane of the tile's top state; `step` is its number in the lane, from 1.
void ReduceWriter::leaf_step(std::uint32_t r) {
  const Reduction& reduction = ir_.reductions[r];
  const std::string value = part(r, is_moments(reduction) ? "mean" : "value"), m2 = part(r, "m2");
  const std::string top = fmt::format("top->{}[j]", value);
  w_.open("if (step == 1)");
  w_.open_loop("j", "0", "m");
  w_.line(fmt::format("{} = {}[j];", top, input(r, 0)));
  if (reduction.op == Op::Moments) w_.line(fmt::format("top->{}[j] = 0;", m2));
  if (reduction.op == Op::MomentsMerge) w_.line(fmt::format("top->{}[j] = {}[j];", m2, input(r, 1)));
  w_.close();
  w_.close();
  w_.open("else");
  if (is_moments(reduction)) moments_step_constants(r, "step");
  w_.open_loop("j", "0", "m");
  if (is_moments(reduction)) moments_step(r, top, fmt::format("top->{}[j]", m2), "j");
  else w_.line(fmt::format("{} = {};", top, w_.expressions.combine(reduction, top, input(r, 0) + "[j]")));
  w_.close();
  w_.close();
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
    const std::string x = input(r, 0), type = accumulator(r);
    w_.open("");
    w_.line(fmt::format("const {}* const {} = {};", type, x, sum_text(fmt::format("b{}", access), reduced_offset(ir_, access, "from", ""))));
    w_.line(fmt::format("const tarry_i64 h = {};", reduced_offset(ir_, access, "32", "")));
    w_.open_loop("j", "0", "m");
    if (is_moments(reduction)) {
      w_.line(fmt::format("{} mean = {}[j], m2 = 0;", type, x));
      for (int step = 2; step <= kSteps; ++step) {
        w_.open("");
        w_.line(fmt::format("const {} w = {};", type, float_literal(reduction.dtype, 1.0 / step)));
        moments_step(r, "mean", "m2", fmt::format("j + {} * h", step - 1));
        w_.close();
      }
      w_.line(fmt::format("top->{}[j] = mean;", part(r, "mean")));
      w_.line(fmt::format("top->{}[j] = m2;", part(r, "m2")));
    } else {
      w_.line(fmt::format("{} value = {}[j];", type, x));
      for (int step = 2; step <= kSteps; ++step)
        w_.line(fmt::format("value = {};", w_.expressions.combine(reduction, "value", fmt::format("{}[j + {} * h]", x, step - 1))));
      w_.line(fmt::format("top->{}[j] = value;", part(r, "value")));
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
  w_.open(fmt::format("static void {0}_reduce(const struct {0}_params* p{1}, tarry_i64 first, tarry_i64 last, struct {0}_state* stack)",
                      kEntryName, outer_arguments(true)));
  w_.locals();
  constexpr std::array kRegions = {Region::Row, Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  row_values();
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
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) leaf_step(r);
  w_.close();
  w_.line("top->count = step;");
  push("q");
  w_.close();
  fold_stack();
  w_.open("if (n == 0)");
  clear("stack", "m");
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- ReduceInner

/// The functions that reduce a run of contiguous inputs: left to right (n <= 32) and one block of the tree.
void ReduceWriter::line_functions(std::uint32_t r) {
  const Reduction& reduction = ir_.reductions[r];
  std::string arguments = fmt::format("const struct {0}_params* p, tarry_i64 m, struct {0}_state* top", kEntryName);
  for (std::size_t k = 0; k < inputs(reduction); ++k) arguments += fmt::format(", const {}* {}", accumulator(r), input(r, k));
  w_.open(fmt::format("static void {}_serial{}({})", kEntryName, r, arguments));
  w_.line("(void)p;");
  const std::string type = accumulator(r);
  if (is_moments(reduction)) {
    w_.line(fmt::format("{} mean = {}[0], m2 = {};", type, input(r, 0), reduction.op == Op::Moments ? "0" : input(r, 1) + "[0]"));
    w_.open("for (tarry_i64 k = 1; k < m; ++k)");
    moments_step_constants(r, "(k + 1)");
    moments_step(r, "mean", "m2", "k");
    w_.close();
    w_.line(fmt::format("top->{}[0] = mean;", part(r, "mean")));
    w_.line(fmt::format("top->{}[0] = m2;", part(r, "m2")));
  } else {
    w_.line(fmt::format("{} value = {}[0];", type, input(r, 0)));
    w_.line(fmt::format("for (tarry_i64 k = 1; k < m; ++k) value = {};", w_.expressions.combine(reduction, "value", input(r, 0) + "[k]")));
    w_.line(fmt::format("top->{}[0] = value;", part(r, "value")));
  }
  w_.close();
  // Inlined twice: with m the constant 128 every loop below has a constant trip count and becomes vector code.
  w_.open(fmt::format("static inline __attribute__((always_inline)) void {}_block{}({})", kEntryName, r, arguments));
  w_.line("(void)p;");
  if (is_moments(reduction)) moments_tree_function(r);
  else tree_function(r);
  w_.close();
}

void ReduceWriter::tree_function(std::uint32_t r) {
  const Reduction& reduction = ir_.reductions[r];
  const std::string x = input(r, 0);
  w_.line(fmt::format("{} lane[32];", accumulator(r)));
  w_.open("if (m >= 32)");
  w_.line(fmt::format("for (int l = 0; l < 32; ++l) lane[l] = {}[l];", x));
  w_.line("tarry_i64 k = 32;");
  w_.open("for (; k + 32 <= m; k += 32)");
  w_.line(fmt::format("for (int l = 0; l < 32; ++l) lane[l] = {};", w_.expressions.combine(reduction, "lane[l]", x + "[k + l]")));
  w_.close();
  w_.line(fmt::format("for (tarry_i64 l = 0; l < m - k; ++l) lane[l] = {};", w_.expressions.combine(reduction, "lane[l]", x + "[k + l]")));
  for (int d = 16; d >= 1; d /= 2)
    w_.line(fmt::format("for (int l = 0; l < {0}; ++l) lane[l] = {1};", d,
                        w_.expressions.combine(reduction, "lane[l]", fmt::format("lane[l + {}]", d))));
  w_.close();
  w_.open("else");
  w_.line(fmt::format("for (tarry_i64 l = 0; l < m; ++l) lane[l] = {}[l];", x));
  w_.open("for (tarry_i64 d = 16; d; d >>= 1)");
  w_.line(fmt::format("for (tarry_i64 l = 0; l < d && l + d < m; ++l) lane[l] = {};", w_.expressions.combine(reduction, "lane[l]", "lane[l + d]")));
  w_.close();
  w_.close();
  w_.line(fmt::format("top->{}[0] = lane[0];", part(r, "value")));
}

void ReduceWriter::moments_tree_function(std::uint32_t r) {
  const Reduction& reduction = ir_.reductions[r];
  const std::string type = accumulator(r), x = input(r, 0);
  const std::string m2 = reduction.op == Op::Moments ? "0" : input(r, 1) + "[l]";
  w_.line(fmt::format("{} mean[32], m2[32];", type));
  w_.line("const tarry_i64 lanes = m < 32 ? m : 32;");
  w_.line(fmt::format("for (tarry_i64 l = 0; l < lanes; ++l) mean[l] = {}[l], m2[l] = {};", x, m2));
  w_.line("tarry_i64 k = 32, steps = 1;");
  const auto steps = [&](std::string_view extent) {
    moments_step_constants(r, "(steps + 1)");
    w_.open(fmt::format("for (tarry_i64 l = 0; l < {}; ++l)", extent));
    moments_step(r, "mean[l]", "m2[l]", "k + l");
    w_.close();
  };
  const auto merge_lanes = [&] {
    w_.line(fmt::format("const {} e = mean[l + d] - mean[l];", type));
    w_.line("mean[l] = mean[l] + e * w;");
    w_.line("m2[l] = (m2[l] + m2[l + d]) + (e * e) * aw;");
  };
  w_.open("for (; k + 32 <= m; k += 32, ++steps)");
  steps("32");
  w_.close();
  w_.open("if (k == m)");
  w_.line("tarry_i64 count = steps;");
  for (int d = 16; d >= 1; d /= 2) {
    w_.open("");
    w_.line(fmt::format("const {0} w = ({0})({1}) / ({0})({2}), aw = ({0})({1}) * w;", type, weighted(r, "count"), weighted(r, "(2 * count)")));
    w_.line("count *= 2;");
    w_.line(fmt::format("enum {{ d = {} }};", d));
    w_.open("for (int l = 0; l < d; ++l)");
    merge_lanes();
    w_.close();
    w_.close();
  }
  w_.close();
  w_.open("else");
  w_.line("tarry_i64 count[32];");
  w_.line("for (tarry_i64 l = 0; l < lanes; ++l) count[l] = steps + (l < m - k);");
  w_.open("if (k < m)");
  steps("m - k");
  w_.close();
  w_.open("for (tarry_i64 d = 16; d; d >>= 1)");
  w_.open("for (tarry_i64 l = 0; l < d && l + d < lanes; ++l)");
  w_.line(fmt::format("const {0} w = ({0})({1}) / ({0})({2}), aw = ({0})({3}) * w;", type, weighted(r, "count[l + d]"),
                      weighted(r, "(count[l] + count[l + d])"), weighted(r, "count[l]")));
  merge_lanes();
  w_.line("count[l] += count[l + d];");
  w_.close();
  w_.close();
  w_.close();
  w_.line(fmt::format("top->{}[0] = mean[0];", part(r, "mean")));
  w_.line(fmt::format("top->{}[0] = m2[0];", part(r, "m2")));
}

void ReduceWriter::reduce_segments() {
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) line_functions(r);
  const auto call = [&](std::uint32_t r, std::string_view function, std::string_view m, std::string_view at) {
    std::string text = fmt::format("{}_{}{}(p, {}, top", kEntryName, function, r, m);
    for (std::size_t k = 0; k < inputs(ir_.reductions[r]); ++k) text += fmt::format(", {}{}", input(r, k), at);
    w_.line(text + ");");
  };
  w_.open(fmt::format("static void {0}_reduce(const struct {0}_params* p{1}, tarry_i64 first, tarry_i64 last, struct {0}_state* stack)",
                      kEntryName, outer_arguments(true)));
  w_.locals();
  constexpr std::array kRegions = {Region::Row, Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  row_values();
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
  push("leaf");
  w_.close();
  w_.close();
  fold_stack();
  w_.open("if (n == 0)");
  clear("stack", "1");
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
    return fmt::format("s->{}[j]", part(instr.index, field));
  };
  w_.invariant_loads(Region::Row, Axis::LastOuter);
  w_.invariant_loads(Region::Outer, Axis::LastOuter);
  w_.open_loop("j", "0", inner_ ? "1" : "m");
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
  decode_tile(w_, tile_, inner_);
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
  decode_tile(w_, tile_, inner_);
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 chunk = 0; chunk < chunks; ++chunk)");
  w_.line("stack[depth] = scratch[at * chunks + chunk];");
  push("chunk");
  w_.close();
  fold_stack();
  w_.line(fmt::format("{}_finish(p{}, stack);", kEntryName, outer_arguments(false)));
  w_.close();
  w_.close();
}

KernelSource ReduceWriter::render() {
  w_.preamble();
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) {
    if (ir_.reductions[r].op != Op::Moments) continue;
    std::string text = fmt::format("static const {} {}_reciprocal{}[{}] = {{0, 1", accumulator(r), kEntryName, r, kSerial + 1);
    for (int k = 2; k <= kSerial; ++k) text += ", " + float_literal(ir_.reductions[r].dtype, 1.0 / k);
    w_.line(text + "};");
  }
  state();
  merge();
  if (inner_) reduce_segments();
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
