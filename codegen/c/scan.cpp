// C kernels of scans (docs/reference/numerics.md, "Scans"): many lines side by side, so that every step of the
// definition is a loop over vectors.
//
//   ScanSerial  the lines are `width` outer elements: columns, or short rows. A work item is a chunk of such a tile.
//   ScanInner   the lines are sixteen blocks of one row. A work item is a chunk of a row.
// A chunk is an aligned run of tree blocks. Where the inputs are contiguous along the reduced axis, they are evaluated
// line by line and turned (c/turn.h) into an array x whose element [k][line] is element k of a block; columns go
// there directly.
//
// Axes in chunks go in two passes: the entry sums every chunk but the last, the fold starts each chunk from the chunks
// before it and scans. In both passes blocks come in from left to right; what is pending is a binary counter of aligned
// subtrees, and beside each the fold of it and all larger ones, which is the offset of the next block.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "codegen/c/scan_steps.h"
#include "codegen/c/transpose_block.h"
#include "codegen/c/walk.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr int kScanBlock = 128;

bool has_lines(const KernelIr& ir) { return ir.schedule() == Schedule::ScanSerial; }

/// True if more bytes of the points are contiguous along the last outer dimension than along the reduced axis.
bool in_columns(const KernelIr& ir) {
  if (!has_lines(ir) || ir.rank == 0) return false;
  std::size_t inner = 0, outer = 0;
  for (const Access& a : ir.accesses) {
    if (a.buffer == kNone) continue;
    if (a.reduced == StrideClass::One) inner += itemsize(ir.buffers[a.buffer]);
    if (a.strides.back() == StrideClass::One) outer += itemsize(ir.buffers[a.buffer]);
  }
  return outer > inner;
}

class ScanWriter {
 public:
  ScanWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        columns_(in_columns(ir)),
        width_(scan_width(ir)),
        tile_(has_lines(ir) ? width_ : 1),
        parameters_(walk_parameters(ir)),
        w_(ir, parameters_, target.vector_bytes),
        steps_(scan_steps(w_, width_, tile_, target.vector_bytes)) {}

  KernelSource render() {
    w_.preamble();
    if (!columns_) {
      std::set<std::size_t> sizes;
      for (const Reduction& r : ir_.reductions) sizes.insert(itemsize(r.dtype));
      for (const std::size_t size : sizes) transposes_[size] = transpose_function(w_, size, 0);
    }
    steps_->functions();
    if (columns_) {
      own_walk();
    } else {
      shared_walk();
    }
    KernelSource source = w_.finish();
    source.tile = tile_;
    source.fold_per_chunk = true;
    return source;
  }

 private:
  [[nodiscard]] std::string type(std::uint32_t r) const { return c_type(ir_.reductions[r].dtype); }
  [[nodiscard]] std::string place(List list) const { return tile_place(ir_, tile_, list); }
  [[nodiscard]] std::string state_type() const { return "struct " + steps_->states(); }
  template <class F>
  void each_scan(F&& f) {
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) f(r);
  }
  void fill(const std::string& array, std::uint32_t r, const std::string& from, const std::string& to) {
    w_.line(steps_->fill(array, r, from, to));
  }

  void stack() {
    w_.line(fmt::format("{0} node[{1}], fold[{1}];", state_type(), kReduceLevels));
    w_.line("int depth = 0;");
  }

  /// Values of a stage at every point: what its scans take, or what its stores need.
  [[nodiscard]] std::vector<Value> points(bool last) const {
    std::vector<bool> needed(ir_.instrs.size());
    for (const Reduction& r : ir_.reductions)
      if (!last) needed[r.args[0]] = true;
    std::vector<Value> found;
    for (Value v = static_cast<Value>(ir_.instrs.size()); v-- > 0;) {
      const Instr& in = ir_.instrs[v];
      if (in.region != Region::Point || in.kind == InstrKind::Scalar) continue;
      if (!(needed[v] || (last && in.kind == InstrKind::Store))) continue;
      found.push_back(v);
      for (const Value a : in.args)
        if (a != kNone) needed[a] = true;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  // ---------------------------------------------------------------- values

  void addresses(Region region, const std::string& line, const std::string& k) {
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!w_.uses(a, region) || (region == Region::Row && ir_.accesses[a].store)) continue;
      std::vector<std::string> indices(static_cast<std::size_t>(ir_.rank), "0");
      if (ir_.rank > 0) indices.back() = line;
      w_.base('a', a, fmt::format("b{}", a),
              sum_text(outer_offset(ir_, a, indices, ""), k == "0" ? k : reduced_offset(ir_, a, k, "")));
    }
  }

  /// Row values of columns, as arrays over the tile.
  void row_arrays() {
    CWriter::Loop loop{w_.instructions(Region::Row), Axis::LastOuter, "j", "0", "m"};
    if (loop.values.empty()) return;
    for (const Value v : loop.values) w_.line(fmt::format("{} row{}[{}];", c_type(ir_.instrs[v].dtype), v, width_));
    w_.open("");
    addresses(Region::Row, "0", "0");
    for (const Value v : loop.values) loop.kept.emplace_back(fmt::format("row{}[j]", v), v);
    w_.loop(loop);
    w_.close();
  }

  [[nodiscard]] std::string operand(Value v, const std::string& results) const {
    const Instr& in = ir_.instrs[v];
    if (in.kind == InstrKind::Result) return fmt::format(fmt::runtime(results), in.index);
    if (columns_ && in.region == Region::Row && in.kind != InstrKind::Scalar) return fmt::format("row{}[i]", v);
    return value_name(v);
  }

  /// Stage 0 of a row of columns or of a line into x or y, or stage 1 from there.
  [[nodiscard]] CWriter::Loop evaluation(bool last, const std::string& place) {
    CWriter::Loop loop{points(last), columns_ ? Axis::LastOuter : Axis::Reduced, "i", "0", columns_ ? "m" : "length"};
    loop.operand = [=, this](Value v) { return operand(v, place); };
    loop.is_short = true;
    if (!last)
      each_scan([&](std::uint32_t r) {
        loop.kept.emplace_back(fmt::format(fmt::runtime(place), r), ir_.reductions[r].args[0]);
      });
    loop.vectors = !columns_ && w_.has_vectors(loop);
    return loop;
  }

  /// Asks for what the sixteenth line from here takes and leaves: in between the core is busy with the lines before.
  void look_ahead() {
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      const Access& access = ir_.accesses[a];
      if (access.buffer == kNone || !w_.uses(a, Region::Point)) continue;
      const auto last = static_cast<std::uint32_t>(ir_.rank - 1);
      std::string step = std::to_string(kScanBlock);
      StrideClass along = access.reduced, across = StrideClass::Any;
      if (has_lines(ir_)) {
        across = columns_ ? access.reduced : access.strides.back();
        along = columns_ ? access.strides.back() : access.reduced;
        step = slot_name(columns_ ? Slot{SlotKind::ReducedStride, a} : Slot{SlotKind::Stride, a, last});
      }
      if (along != StrideClass::One || across != StrideClass::Any) continue;
      w_.line(fmt::format("for (tarry_i64 i = 0; i < {}; i += {}) __builtin_prefetch(a{} + {} * {} + i, {}, 2);",
                          columns_ ? "m" : "length", 64 / itemsize(ir_.buffers[access.buffer]), a, kScanLines, step,
                          access.store ? 1 : 0));
    }
  }

  /// Columns: element k of a block of every line is a row of x.
  void column_inputs() {
    w_.open("for (tarry_i64 k = 0; k < length; ++k)");
    addresses(Region::Point, "0", "(block * 128 + k)");
    look_ahead();
    w_.loop(evaluation(false, fmt::format("x{{}}[k * {} + i]", width_)));
    w_.close();
    each_scan([&](std::uint32_t r) {
      fill(fmt::format("x{}", r), r, fmt::format("length * {}", width_), fmt::format("quarters * {}", 32 * width_));
    });
  }
  void column_results() {
    w_.open("for (tarry_i64 k = 0; k < length; ++k)");
    addresses(Region::Point, "0", "(block * 128 + k)");
    w_.loop(evaluation(true, fmt::format("x{{}}[k * {} + i]", width_)));
    w_.close();
  }

  /// A line from place k on, a row of the tile or a block of the row, into arrays y or from there.
  void line_function(std::string_view name, bool last) {
    const CWriter::Loop loop = evaluation(last, "y{}[i]");
    w_.open(fmt::format("static {2}void {0}_{1}({3})", kEntryName, name, loop.vectors ? "TARRY_PLAIN " : "",
                        kLineParameters));
    own_parameters(w_);
    each_scan([&](std::uint32_t r) {
      w_.line(fmt::format("{0}* const y{1} = ({0}*)arrays[{1}] + line * {2};", type(r), r, kScanBlock));
    });
    constexpr std::array kRegions = {Region::Row, Region::Point};
    w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
    const std::string line = has_lines(ir_) ? "line" : "0";
    addresses(Region::Row, line, "0");
    w_.straight(w_.instructions(Region::Row));
    w_.open("");
    addresses(Region::Point, line, "k");
    if (!last) look_ahead();
    w_.loop(loop);
    w_.close();
    w_.close();
  }
  /// Lines: rows of the tile, or blocks of the row from `block` on; a line of y is 128 elements.
  void each_line(std::string_view name) {
    w_.open("for (tarry_i64 line = 0; line < lines; ++line)");
    if (has_lines(ir_))
      w_.line("const tarry_i64 k = block * 128;");
    else
      w_.line(fmt::format("const tarry_i64 k = (block + line) * {0}, length = n - k < {0} ? n - k : {0};", kScanBlock));
    w_.line(fmt::format("walk->{}(walk->parameters, at, line, k, length, arrays);", name));
  }
  void line_inputs() {
    each_scan([&](std::uint32_t r) {
      fill(fmt::format("y{}", r), r, fmt::format("lines * {}", kScanBlock), std::to_string(width_ * kScanBlock));
    });
    each_line("take");
    each_scan([&](std::uint32_t r) {
      fill(fmt::format("y{}", r), r, fmt::format("line * {} + length", kScanBlock),
           fmt::format("line * {} + quarters * 32", kScanBlock));
    });
    w_.close();
    each_scan([&](std::uint32_t r) { turn(r, "y", kScanBlock, "x", width_, "quarters * 32", std::to_string(width_)); });
  }
  void line_results() {
    each_scan([&](std::uint32_t r) { turn(r, "x", width_, "y", kScanBlock, std::to_string(width_), "quarters * 32"); });
    each_line("give");
    w_.close();
  }
  void turn(std::uint32_t r, const char* from, int pitch, const char* to, int to_width, const std::string& rows,
            const std::string& columns) {
    const std::size_t size = itemsize(ir_.reductions[r].dtype);
    w_.line(fmt::format("{0}((const {1}*){2}{3}, {4}, ({1}*){5}{3}, {6}, {7}, {8});", transposes_.at(size),
                        word_type(size), from, r, pitch, to, to_width, rows, columns));
  }

  // ---------------------------------------------------------------- blocks

  /// Blocks first..last of a tile or a row: their scan from `start` on, or their node, where `whole` wants it.
  void blocks() {
    const std::string own = fmt::format("const struct {}_params* p{}", kEntryName, place(List::Parameters)),
                      shared = fmt::format("const struct {}* walk, const tarry_i64* at, tarry_i64 m", kSharedName);
    w_.open(
        fmt::format("static {3}__attribute__((noinline)) void {0}_blocks({1}, tarry_i64 first, tarry_i64 last, const "
                    "{2}* start, {2}* whole)",
                    owner(), columns_ ? own : shared, state_type(), columns_ ? "" : "TARRY_PLAIN "));
    if (!columns_) {
      w_.line("const tarry_i64 n = walk->n;");
      steps_->parameters("walk->parameters");
    } else {
      w_.locals();
      constexpr std::array kRegions = {Region::Row, Region::Point};
      w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
      row_arrays();
    }
    stack();
    each_scan([&](std::uint32_t r) {
      w_.line(fmt::format("{} x{}[{}] __attribute__((aligned(64)));", type(r), r, kScanBlock * width_));
      if (!columns_) w_.line(fmt::format("{} y{}[{}] __attribute__((aligned(64)));", type(r), r, kScanBlock * width_));
      if (columns_) {
        w_.line(fmt::format("if (m < {})", width_));
        fill(fmt::format("x{}", r), r, "0", std::to_string(kScanBlock * width_));
      }
      w_.line(fmt::format("{0} node{1}[{2}] __attribute__((aligned(64))), offset{1}[{2}] __attribute__((aligned(64)));",
                          type(r), r, width_));
    });
    steps_->declare_offsets();
    if (!columns_) {
      std::string arrays;
      each_scan([&](std::uint32_t r) { arrays += fmt::format("{}y{}", r ? ", " : "", r); });
      w_.line(fmt::format("void* const arrays[] = {{{}}};", arrays));
    }
    w_.open(fmt::format("for (tarry_i64 block = first; block < last; block += {})", has_lines(ir_) ? 1 : width_));
    if (!columns_)
      w_.line(has_lines(ir_) ? "const tarry_i64 lines = m;"
                             : fmt::format("const tarry_i64 lines = last - block < {0} ? last - block : {0};", width_));
    if (has_lines(ir_))
      w_.line(fmt::format("const tarry_i64 length = n - block * {0} < {0} ? n - block * {0} : {0};", kScanBlock));
    w_.line(has_lines(ir_) ? "const int quarters = (int)((length + 31) / 32);" : "const int quarters = 4;");
    if (columns_)
      column_inputs();
    else
      line_inputs();
    steps_->nodes();
    if (has_lines(ir_))
      tile_offsets();
    else
      row_offsets();
    w_.line("if (whole) continue;");
    steps_->results();
    if (columns_)
      column_results();
    else
      line_results();
    w_.close();
    w_.line("if (whole) *whole = node[0];");
    w_.close();
  }

  /// The offsets of every line, whose blocks then come in.
  void tile_offsets() {
    w_.line(fmt::format("const {}* const before = depth == 0 ? start : &fold[depth - 1];", state_type()));
    w_.line(fmt::format("{} sum;", state_type()));
    each_scan([&](std::uint32_t r) {
      w_.line(fmt::format("for (int j = 0; j < {0}; ++j) offset{1}[j] = before->r{1}[j], sum.r{1}[j] = node{1}[j];",
                          width_, r));
    });
    steps_->take_offsets();
    w_.line(steps_->push("node, fold, &depth, block - first, start, &sum"));
  }
  void row_offsets() {
    w_.open("for (tarry_i64 line = 0; line < lines; ++line)");
    w_.line(fmt::format("const {}* const before = depth == 0 ? start : &fold[depth - 1];", state_type()));
    w_.line(fmt::format("{} sum;", state_type()));
    each_scan([&](std::uint32_t r) {
      w_.line(fmt::format("offset{0}[line] = before->r{0}[0], sum.r{0}[0] = node{0}[line];", r));
    });
    steps_->take_offset("line");
    w_.line(steps_->push("node, fold, &depth, block + line - first, start, &sum"));
    w_.close();
  }

  // ---------------------------------------------------------------- entries

  void open_items(std::string_view own, std::string_view shared) {
    if (columns_) {
      w_.open(fmt::format("TARRY_PLAIN void {0}{1}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                          own));
      w_.locals();
      count_tiles(w_, tile_);
      w_.line(fmt::format("{0}* const scratch = ({0}*)p->scratch;", state_type()));
    } else {
      w_.open(
          fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}_{1}(const struct {0}* walk, tarry_i64 lo, "
                      "tarry_i64 hi)",
                      kSharedName, shared));
      w_.line("const tarry_i64 n = walk->n, chunks = walk->chunks, chunk_blocks = walk->chunk_blocks;");
      w_.line(fmt::format("{0}* const scratch = ({0}*)walk->scratch;", state_type()));
      w_.line(fmt::format("tarry_i64 at[{}];", graph::kMaxRank));
      steps_->parameters("walk->parameters");
    }
    w_.line("const tarry_i64 blocks = n / 128 + (n % 128 != 0);");
    w_.line(fmt::format("{} nothing;", state_type()));
    w_.line(fmt::format("{}_clear(&nothing);", steps_->states()));
  }
  void open_item() {
    w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
    w_.line(fmt::format("const tarry_i64 {0} = item / chunks, chunk = item - {0} * chunks;", tile_number()));
    w_.line("const tarry_i64 first = chunk * chunk_blocks;");
    w_.line("const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;");
    if (columns_)
      decode_tile(w_, tile_);
    else
      w_.line(fmt::format("const tarry_i64 m = {}_place(walk, tile, at);", kSharedName));
  }
  [[nodiscard]] std::string_view tile_number() const { return columns_ ? "at" : "tile"; }
  [[nodiscard]] std::string_view owner() const { return columns_ ? kEntryName : kSharedName; }
  [[nodiscard]] std::string arguments() const { return columns_ ? "p" + place(List::Arguments) : "walk, at, m"; }

  void entry() {
    open_items("", "items");
    open_item();
    w_.line(fmt::format("if (chunks == 1) {0}_blocks({1}, first, last, &nothing, 0);", owner(), arguments()));
    w_.line(fmt::format("else if (chunk + 1 < chunks) {}_blocks({}, first, last, &nothing, scratch + item);", owner(),
                        arguments()));
    w_.close();
    w_.close();
  }

  /// Chunks of one tile that follow each other share what comes before them.
  void fold() {
    open_items("_fold", "chunks");
    stack();
    w_.line("tarry_i64 next = 0;");
    open_item();
    w_.line("if (item == lo || chunk == 0) next = 0, depth = 0;");
    w_.line(fmt::format(
        "for (; next < chunk; ++next) {}",
        steps_->push(fmt::format("node, fold, &depth, next, &nothing, scratch + {} * chunks + next", tile_number()))));
    w_.line(fmt::format("{0}_blocks({1}, first, last, depth == 0 ? &nothing : &fold[depth - 1], 0);", owner(),
                        arguments()));
    w_.close();
    w_.close();
  }

  /// Columns are evaluated in the walk itself, which is then the kernel's own.
  void own_walk() {
    blocks();
    entry();
    fold();
  }

  /// Lines are evaluated by functions of the kernel: the walk is what kernels share (codegen/c/walk.h).
  void shared_walk() {
    const std::string name = steps_->share("scan", [&] {
      w_.open(fmt::format("struct {}", kSharedName));
      w_.line("const void* parameters;");
      for (const char* function : {"take", "give"}) w_.line(fmt::format("void (*{})({});", function, kLineParameters));
      w_.line("tarry_i64 n, chunks, chunk_blocks;");
      w_.line("void* scratch;");
      walk_extents(w_);
      w_.close(";");
      walk_place(w_, tile_);
      blocks();
      entry();
      fold();
    });
    line_function("take", false);
    line_function("give", true);
    for (const auto& [suffix, part] : {std::pair("", "items"), std::pair("_fold", "chunks")}) {
      w_.open(fmt::format("TARRY_ONCE void {0}{1}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                          suffix));
      walk_entry(w_, tile_, name,
                 fmt::format("{0}_take, {0}_give, p->n, p->chunks, p->chunk_blocks, p->scratch", kEntryName), part);
      w_.close();
    }
  }

  static constexpr std::string_view kLineParameters =
      "const void* parameters, const tarry_i64* at, tarry_i64 line, tarry_i64 k, tarry_i64 length, void* const* arrays";

  const KernelIr& ir_;
  const bool columns_;
  const int width_, tile_;
  const Parameters parameters_;
  CWriter w_;
  std::unique_ptr<ScanSteps> steps_;
  std::map<std::size_t, std::string> transposes_;  // names of shared text, by size
};

}  // namespace

KernelSource render_c_scan(const KernelIr& ir, const graph::Target& target) { return ScanWriter(ir, target).render(); }

}  // namespace tarry::codegen
