// C kernels that go over a row several times (kernel_ir.h, "Stages").
//
//   RowSerial  a work item is a tile of rows of at most 32 points; the inner loops run over the tile
//   RowInner   a work item is one row; the inner loops run along it, its reductions are blocks of tree R
//
// A point value that a later stage needs is computed again where that is cheap and kept in an array otherwise; loads
// are read again, from the core's cache. All stores of points stand in the last stage and all stores of rows at the
// end, so that an output may take the memory of an input.
#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include <fmt/format.h>

#include "codegen/c/row_stages.h"
#include "codegen/c/states.h"
#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr int kLongestRow = 16384;  // graph::Limits::row

class RowWriter {
 public:
  RowWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        stages_(ir),
        tile_(row_tile(ir, stages_)),
        parameters_(make_parameters(ir, {ir.rank == 1 ? SlotKind::OuterCount : SlotKind::Extent, SlotKind::Reduced})),
        w_(ir, parameters_, target, tile_) {
    std::vector<bool> kept(ir.instrs.size());
    for (Value v = 0; v < ir.instrs.size(); ++v) kept[v] = stages_.is_kept(v);
    w_.set_kept(std::move(kept));
  }

  KernelSource render();

 private:
  [[nodiscard]] bool inner() const { return ir_.schedule() == Schedule::RowInner; }
  [[nodiscard]] bool is_direct(Value v, int stage) const;
  [[nodiscard]] std::string operand(Value v, int stage, std::string_view i, std::string_view k) const;
  [[nodiscard]] std::string result(const Instr& instr, std::string_view j) const;

  void rows();
  void bases(Region region, std::string_view k);
  void row_values();
  [[nodiscard]] std::vector<std::uint32_t> ahead(int stage) const;
  [[nodiscard]] std::vector<Value> stored(int stage) const;
  [[nodiscard]] std::vector<Value> evaluated(int stage) const;
  [[nodiscard]] bool has_points(int stage) const { return !stored(stage).empty() || !evaluated(stage).empty(); }
  [[nodiscard]] bool is_of_row(Value v) const;
  void row_struct();
  [[nodiscard]] CWriter::Loop point_loop(int stage, std::string extent, const std::string& k) const;
  void points_function(int stage);
  void points(int stage);
  void each_input(int stage, const std::function<void(std::uint32_t r, std::size_t x, Value v)>& each) const;
  [[nodiscard]] std::string point_parameters(int stage) const;
  std::string reduce_function(int stage);
  std::string ask_function();
  [[nodiscard]] bool is_in_parts(int stage) const;
  void call_points(int stage, std::string_view function, std::string_view row, std::span<const std::string> next);
  void segments(int stage);
  void steps(int stage);
  void outer_values(int stage);
  void outer_stores();
  [[nodiscard]] bool only_calls() const;

  const KernelIr& ir_;
  const Stages stages_;
  const int tile_;
  const Parameters parameters_;
  StateWriter w_;
};

// ---------------------------------------------------------------- names

/// An input that is a contiguous load is read in place, but not where points are stored.
bool RowWriter::is_direct(Value v, int stage) const {
  const Instr& instr = ir_.instrs[v];
  if (instr.kind != InstrKind::Load || instr.region != Region::Point || instr.guard != kNone) return false;
  if (stages_.is_last(stage) && !w_.stores(Region::Point).empty()) return false;
  const Access& a = ir_.accesses[instr.index];
  if (a.buffer == kNone) return false;
  return inner() ? a.reduced == StrideClass::One : ir_.rank > 0 && a.strides.back() == StrideClass::One;
}

/// A value seen from a loop over points: `i` counts along the loop, `k` is the place of the loop on the row.
std::string RowWriter::operand(Value v, int stage, std::string_view i, std::string_view k) const {
  const Instr& instr = ir_.instrs[v];
  if (instr.kind == InstrKind::Scalar) return value_name(v);
  if (instr.region == Region::Point) {
    if (!stages_.is_there(v, stage)) return value_name(v);
    return inner() ? fmt::format("kept{}[{}]", v, sum_text(k, i)) : fmt::format("kept{}[{}][{}]", v, k, i);
  }
  if (inner()) return value_name(v);
  return fmt::format("{}{}[{}]", instr.region == Region::Row ? "row" : "outer", v, i);
}

std::string RowWriter::result(const Instr& instr, std::string_view j) const {
  const Reduction& r = ir_.reductions[instr.index];
  return fmt::format("s{}.{}[{}]", r.stage, w_.part(instr.index, output_field(r, instr.output)), j);
}

// ---------------------------------------------------------------- values of rows

void RowWriter::bases(Region region, std::string_view k) {
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, region)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, k, ""));
}

void RowWriter::row_values() {
  CWriter::Loop loop{w_.instructions(Region::Row), Axis::LastOuter, "j", "0", "m"};
  if (loop.values.empty()) return;
  if (inner()) {
    bases(Region::Row, "0");
    w_.straight(loop.values);
    return;
  }
  for (const Value v : loop.values) w_.line(fmt::format("{} row{}[{}];", c_type(ir_.instrs[v].dtype), v, tile_));
  w_.open("");
  bases(Region::Row, "0");
  for (const Value v : loop.values) loop.kept.emplace_back(fmt::format("row{}[j]", v), v);
  w_.loop(loop);
  w_.close();
}

/// Outer instructions of a stage whose reductions are done.
void RowWriter::outer_values(int stage) {
  CWriter::Loop loop{w_.instructions(Region::Outer, stage), Axis::LastOuter, "j", "0", "m"};
  if (loop.values.empty()) return;
  loop.operand = [&](Value v) {
    const Instr& instr = ir_.instrs[v];
    if (instr.kind == InstrKind::Result) return result(instr, inner() ? "0" : "j");
    return instr.region == Region::Outer && instr.stage == stage ? value_name(v) : operand(v, stage, "j", "");
  };
  if (inner()) {
    w_.straight(loop.values, loop.operand);
    return;
  }
  for (const Value v : loop.values) w_.line(fmt::format("{} outer{}[{}];", c_type(ir_.instrs[v].dtype), v, tile_));
  for (const Value v : loop.values) loop.kept.emplace_back(fmt::format("outer{}[j]", v), v);
  w_.loop(loop);
}

void RowWriter::outer_stores() {
  CWriter::Loop loop{w_.stores(Region::Row), Axis::LastOuter, "j", "0", "m"};
  for (const Value v : w_.stores(Region::Outer)) loop.values.push_back(v);
  if (loop.values.empty()) return;
  loop.operand = [&](Value v) { return operand(v, stages_.count(), "j", ""); };
  if (inner())
    w_.straight(loop.values, loop.operand);
  else
    w_.loop(loop);
}

// ---------------------------------------------------------------- values of points

/// Accesses that a stage asks for at the next row, of which the stage before reads the first bytes: that one waits for
/// memory, this one computes from the cache.
std::vector<std::uint32_t> RowWriter::ahead(int stage) const {
  std::vector<std::uint32_t> found;
  for (const Instr& instr : ir_.instrs) {
    if (!inner() || instr.kind != InstrKind::Load || instr.region != Region::Point || instr.stage + 1 != stage)
      continue;
    const Access& a = ir_.accesses[instr.index];
    if (a.buffer == kNone || a.reduced != StrideClass::One || ir_.rank == 0 || a.strides.back() == StrideClass::Zero)
      continue;
    if (std::find(found.begin(), found.end(), instr.index) == found.end()) found.push_back(instr.index);
  }
  return found;
}

/// Inputs of a stage that need an array of the loop.
std::vector<Value> RowWriter::stored(int stage) const {
  std::vector<Value> found;
  for (const Value v : stages_.inputs(stage))
    if (!is_direct(v, stage) && !stages_.is_kept(v)) found.push_back(v);
  return found;
}

/// Instructions of the loop over a stage's points.
std::vector<Value> RowWriter::evaluated(int stage) const {
  std::vector<Value> wanted;
  for (const Value v : stages_.inputs(stage))
    if (!is_direct(v, stage)) wanted.push_back(v);
  return stages_.points(stage, wanted);
}

/// Asks for memory that is read soon: text that kernels share. Without TARRY_SCALAR gcc finds that it does nothing, and
/// does not call it.
std::string RowWriter::ask_function() {
  return w_.share("ask", [&] {
    w_.open(fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {}(const void* from, tarry_i64 bytes)",
                        kSharedName));
    w_.line(fmt::format(
        "for (tarry_i64 at = 0; at < bytes; at += {}) {{ TARRY_SCALAR; __builtin_prefetch((const char*)from + at); }}",
        kLine));
    w_.close();
  });
}

/// Arguments of the functions of points about a row: its place, arrays of kept points, and values of the row that are
/// there.
void RowWriter::row_struct() {
  w_.open(fmt::format("struct {}_row", kEntryName));
  w_.line(fmt::format("const struct {}_params* p;", kEntryName));
  for (const std::string& index : outer_indices(ir_, "j0")) w_.line(fmt::format("tarry_i64 {};", index));
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    if (stages_.is_kept(v)) w_.line(fmt::format("{}* kept{};", c_type(ir_.instrs[v].dtype), v));
    if (is_of_row(v)) w_.line(fmt::format("{} {};", c_type(ir_.instrs[v].dtype), value_name(v)));
  }
  w_.close(";");
}

bool RowWriter::is_of_row(Value v) const {
  const Instr& instr = ir_.instrs[v];
  return instr.kind != InstrKind::Scalar && instr.kind != InstrKind::Store &&
         (instr.region == Region::Row || instr.region == Region::Outer);
}

CWriter::Loop RowWriter::point_loop(int stage, std::string extent, const std::string& k) const {
  CWriter::Loop loop{evaluated(stage), inner() ? Axis::Reduced : Axis::LastOuter, "i", "0", std::move(extent)};
  loop.operand = [=, this](Value v) { return operand(v, stage, "i", k); };
  for (const Value v : stored(stage)) loop.kept.emplace_back(fmt::format("y{}[i]", v), v);
  for (const Value v : loop.values)
    if (stages_.is_kept(v) && ir_.instrs[v].stage == stage) loop.kept.emplace_back(operand(v, stage + 1, "i", k), v);
  loop.is_long = true;  // narrow vectors for the end of a row would cost a compiler more than they save
  loop.vectors = inner() && w_.has_vectors(loop);
  return loop;
}

/// The points of RowInner as a function of their own: its loop, unless it is written out, is all that gcc has to find
/// vectors in. Rows are plain.
void RowWriter::points_function(int stage) {
  if (!has_points(stage)) return;
  CWriter::Loop loop = point_loop(stage, "length", "k");
  w_.open(fmt::format("static {2}__attribute__((noinline)) void {0}_points{1}({3})", kEntryName, stage,
                      loop.vectors ? "TARRY_PLAIN " : "", point_parameters(stage)));
  w_.line(fmt::format("const struct {}_row* const row = of;", kEntryName));
  w_.line(fmt::format("const struct {}_params* const p = row->p;", kEntryName));
  w_.locals();
  for (const std::string& index : outer_indices(ir_, "j0"))
    w_.line(fmt::format("const tarry_i64 {0} = row->{0};", index));
  const std::vector<Value> own = stored(stage);
  for (std::size_t i = 0; i < own.size(); ++i)
    w_.line(fmt::format("{}* const y{} = array{};", c_type(ir_.instrs[own[i]].dtype), own[i], i));
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    if (stages_.is_kept(v)) w_.line(fmt::format("{0}* const kept{1} = row->kept{1};", c_type(ir_.instrs[v].dtype), v));
    if (is_of_row(v) && (ir_.instrs[v].region == Region::Row || ir_.instrs[v].stage < stage))
      w_.line(fmt::format("const {0} {1} = row->{1};", c_type(ir_.instrs[v].dtype), value_name(v)));
  }
  constexpr std::array kRegions = {Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  bases(Region::Point, "k");
  loop.is_part = is_in_parts(stage);
  w_.loop(loop);
  w_.close();
}

/// True if the points of a stage come in parts, between which the next row is asked for.
bool RowWriter::is_in_parts(int stage) const { return has_points(stage) && !ahead(stage).empty(); }

/// Calls the points of a stage for a row's `length` elements from k on, where a pointer and names of arrays for them
/// are given. In parts: more lines than the core can have under way at once would hold up the loop behind them.
void RowWriter::call_points(int stage, std::string_view function, std::string_view row,
                            std::span<const std::string> next) {
  const std::size_t arrays = stored(stage).size();
  std::string whole, part;
  for (std::size_t i = 0; i < arrays; ++i) {
    whole += fmt::format(", y{}", i);
    part += fmt::format(", y{} + part", i);
  }
  if (!is_in_parts(stage)) {
    w_.line(fmt::format("{}({}, k, length{});", function, row, whole));
    return;
  }
  w_.open("for (tarry_i64 part = 0, stop; part < length; part = stop)");
  w_.line(fmt::format("stop = length - part < {0} ? length : part + {0};", kPart));
  const std::vector<std::uint32_t> accesses = ahead(stage);
  for (std::size_t i = 0; i < next.size(); ++i)
    w_.line(fmt::format("{0}({1} + k + part, (stop - part) * {2});", ask_function(), next[i],
                        itemsize(ir_.buffers[ir_.accesses[accesses[i]].buffer])));
  w_.line(fmt::format("{}({}, k + part, stop - part{});", function, row, part));
  w_.close();
}

/// Evaluates the points of place k of a tile of RowSerial: `x{r}_{k}` then points at the inputs of reduction r of the
/// stage.
void RowWriter::points(int stage) {
  for (const Value v : stored(stage)) w_.line(fmt::format("{} y{}[{}];", c_type(ir_.instrs[v].dtype), v, tile_));
  if (has_points(stage)) w_.loop(point_loop(stage, "m", "k"));
  each_input(stage, [&](std::uint32_t r, std::size_t x, Value v) {
    std::string from = fmt::format("y{}", v);
    if (is_direct(v, stage))
      from = fmt::format("a{}", ir_.instrs[v].index);
    else if (stages_.is_kept(v))
      from = fmt::format("kept{}[k]", v);
    w_.line(fmt::format("const {}* const {} = {};", w_.accumulator(r), w_.input(r, x), from));
  });
}

void RowWriter::each_input(int stage, const std::function<void(std::uint32_t r, std::size_t x, Value v)>& each) const {
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t x = 0; ir_.reductions[r].stage == stage && x < input_count(ir_.reductions[r]); ++x)
      each(r, x, ir_.reductions[r].args[x]);
}

/// Arguments of the function of a stage's points: the row, a piece of it, and arrays for what is reduced and does not
/// lie along the row.
std::string RowWriter::point_parameters(int stage) const {
  std::string text = "const void* of, tarry_i64 k, tarry_i64 length";
  for (std::size_t i = 0; i < stored(stage).size(); ++i) text += fmt::format(", void* array{}", i);
  return text;
}

/// The reductions of a stage over a row, in pieces: text that kernels share.
std::string RowWriter::reduce_function(int stage) {
  return w_.share("reduce", [&] {
    const std::vector<Value> own = stored(stage);
    std::string inputs;
    std::vector<std::string> from, next;
    each_input(stage, [&](std::uint32_t r, std::size_t, Value v) {
      const auto place = std::find(own.begin(), own.end(), v);
      if (place == own.end()) inputs += fmt::format(", const {}* in{}", w_.accumulator(r), from.size());
      from.push_back(place == own.end() ? fmt::format("in{} + k", from.size())
                                        : fmt::format("y{}", place - own.begin()));
    });
    if (is_in_parts(stage))
      for (const std::uint32_t a : ahead(stage)) {
        next.push_back(fmt::format("next{}", next.size()));
        inputs += fmt::format(", const {}* {}", c_type(ir_.buffers[ir_.accesses[a].buffer]), next.back());
      }
    w_.open(
        fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {}(tarry_i64 n, const void* row, void "
                    "(*points)({}), {}{}* s{})",
                    kSharedName, point_parameters(stage), w_.weights_parameter(), w_.state_type(), inputs));
    for (std::size_t i = 0; i < own.size(); ++i)
      w_.line(fmt::format("{} y{}[{}] __attribute__((aligned({})));", c_type(ir_.instrs[own[i]].dtype), i,
                          w_.segment_length(), kLine));
    const auto piece = [&] {
      if (has_points(stage)) call_points(stage, "points", "row", next);
      std::size_t number = 0;
      each_input(stage, [&](std::uint32_t r, std::size_t x, Value) {
        w_.line(fmt::format("const {}* const {} = {};", w_.accumulator(r), w_.input(r, x), from[number++]));
      });
      w_.segment("");
    };
    w_.open(fmt::format("if (n > 0 && n <= {})", w_.segment_length()));
    w_.line(fmt::format("{}* const stack = s;", w_.state_type()));
    w_.line("const tarry_i64 k = 0, length = n;");
    w_.line("tarry_i64 depth = 0;");
    piece();
    w_.line("return;");
    w_.close();
    w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
    w_.line("tarry_i64 depth = 0;");
    w_.open(fmt::format("for (tarry_i64 k = 0; k < n; k += {})", w_.segment_length()));
    w_.line(fmt::format("const tarry_i64 length = n - k < {0} ? n - k : {0};", w_.segment_length()));
    piece();
    w_.close();
    w_.fold_stack();
    w_.open("if (n == 0)");
    w_.clear("stack");
    w_.close();
    w_.line("*s = stack[0];");
    w_.close();
  });
}

/// A stage of RowInner.
void RowWriter::segments(int stage) {
  const std::string points = has_points(stage) ? fmt::format("{}_points{}", kEntryName, stage) : "0";
  std::vector<std::string> one(static_cast<std::size_t>(ir_.rank), "0"), next;
  if (is_in_parts(stage)) {
    one.back() = "1";
    for (const std::uint32_t a : ahead(stage))
      next.push_back(sum_text(fmt::format("b{}", a), outer_offset(ir_, a, one, "")));
  }
  if (w_.reductions().empty()) {
    w_.open("");
    w_.line("const tarry_i64 k = 0, length = n;");
    call_points(stage, points, "&known", next);
    w_.close();
    return;
  }
  std::string inputs;
  each_input(stage, [&](std::uint32_t, std::size_t, Value v) {
    if (is_direct(v, stage))
      inputs += fmt::format(", b{}", ir_.instrs[v].index);
    else if (stages_.is_kept(v))
      inputs += fmt::format(", kept{}", v);
  });
  for (const std::string& address : next) inputs += ", " + address;
  w_.line(fmt::format("{}(n, &known, {}, {}&s{}{});", reduce_function(stage), points, w_.weights_argument(), stage,
                      inputs));
}

/// A stage of RowSerial: place after place of all rows of the tile.
void RowWriter::steps(int stage) {
  w_.open("");
  if (!w_.reductions().empty()) {
    w_.line(fmt::format("{}* const top = &s{};", w_.state_type(), stage));
    w_.open("if (n == 0)");
    w_.clear("top");
    w_.close();
  }
  w_.open("for (tarry_i64 k = 0; k < n; ++k)");
  w_.line("const tarry_i64 step = k + 1;");
  w_.line("(void)step;");
  bases(Region::Point, "k");
  points(stage);
  for (const std::uint32_t r : w_.reductions()) w_.leaf_step(r);
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- entry

/// True if a row is little more than calls.
bool RowWriter::only_calls() const {
  constexpr int kDearest = 10;  // of the op table: a quotient
  return inner() && std::all_of(ir_.instrs.begin(), ir_.instrs.end(), [this](const Instr& instr) {
           return instr.region == Region::Point || instr.kind != InstrKind::Compute ||
                  graph::info(instr.op).cost <= kDearest || w_.is_called(instr);
         });
}

/// The rows of a work item: one, or those of a tile.
void RowWriter::rows() {
  constexpr std::array kBefore = {Region::Row, Region::Point}, kAfter = {Region::Outer, Region::Outer};
  w_.bases('b', kBefore, outer_indices(ir_, "j0"), "0");
  w_.bases('a', kAfter, outer_indices(ir_, "j0"), "0");
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (stages_.is_kept(v))
      w_.line(fmt::format("{} kept{}{} __attribute__((aligned(64)));", c_type(ir_.instrs[v].dtype), v,
                          inner() ? std::string("[n + 1]") : fmt::format("[{}][{}]", kSerial, tile_)));
  row_values();
  if (inner()) {
    w_.line(fmt::format("struct {}_row known;", kEntryName));
    w_.line("known.p = p;");
    for (const std::string& index : outer_indices(ir_, "j0")) w_.line(fmt::format("known.{0} = {0};", index));
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (stages_.is_kept(v)) w_.line(fmt::format("known.kept{0} = kept{0};", v));
  }
  const auto note = [&](Region region, int stage) {
    for (Value v = 0; inner() && v < ir_.instrs.size(); ++v)
      if (is_of_row(v) && ir_.instrs[v].region == region && (region == Region::Row || ir_.instrs[v].stage == stage))
        w_.line(fmt::format("known.{0} = {0};", value_name(v)));
  };
  note(Region::Row, 0);
  for (int stage = 0; stage < stages_.count(); ++stage) {
    w_.select_stage(stage);
    if (!w_.reductions().empty()) w_.line(fmt::format("{} s{};", w_.state_type(), stage));
    if (inner())
      segments(stage);
    else
      steps(stage);
    outer_values(stage);
    if (!stages_.is_last(stage)) note(Region::Outer, stage);
  }
  outer_stores();
}

KernelSource RowWriter::render() {
  w_.preamble();
  if (inner())
    row_struct();
  else
    w_.share_loops();
  for (int stage = 0; stage < stages_.count(); ++stage) {
    w_.select_stage(stage);
    if (inner()) points_function(stage);
    if (w_.reductions().empty()) continue;
    w_.declare_states();
    if (inner()) w_.line_functions([&](Value v) { return is_direct(v, stage); });
  }
  w_.open(fmt::format("{1}void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                      only_calls() ? "TARRY_PLAIN " : ""));
  w_.locals();
  count_tiles(w_, tile_);
  w_.open("for (tarry_i64 at = lo; at < hi; ++at)");
  decode_tile(w_, tile_);
  rows();
  w_.close();
  w_.close();
  KernelSource source = w_.finish();
  source.tile = tile_;
  return source;
}

}  // namespace

KernelSource render_c_row(const KernelIr& ir, const graph::Target& target) { return RowWriter(ir, target).render(); }

Geometry geometry_c_row(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  TARRY_ASSERT(args.reduced <= (ir.schedule() == Schedule::RowSerial ? kSerial : kLongestRow));
  Geometry g;
  g.outer_tiles = tile_count(args, row_tile(ir, Stages(ir)));
  g.chunk_blocks = kLongestRow / 128;  // a row is one piece
  if (ir.schedule() == Schedule::RowInner && args.reduced > 1) g.dense = dense_stores(ir, args, args.reduced);
  return g;
}

}  // namespace tarry::codegen
