// C kernels that reduce across rows by tree R (docs/numerics.md); codegen/render_c_inner.cpp has those that reduce along them.
//
// A work item is (outer tile, chunk); the inner loops run over the tile's outer elements. Its states (codegen/render_c_states.h)
// are the leaves of an aligned tree: with lanes visited in bit-reversed order, lanes and blocks are one such tree.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include <fmt/format.h>

#include "codegen/render_c_states.h"
#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr int kStateBytesPerLevel = 4096;  // of one tile: rows of a page each, and five levels of lanes near the core

/// Outer elements per work item, and bytes of one chunk state.
int reduce_tile(const KernelIr& ir) {
  if (ir.schedule == Schedule::ReduceInner) return 1;
  std::size_t bytes = 0;
  for (const StateField& f : state_fields(ir)) bytes += itemsize(f.dtype);
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<std::size_t>(kStateBytesPerLevel) / bytes)), 16, 1024);
}

std::size_t reduce_state_bytes(const KernelIr& ir) {
  // The struct: the count, then one array per field, each aligned to its element.
  std::size_t at = 8;
  for (const StateField& f : state_fields(ir)) {
    const std::size_t size = itemsize(f.dtype);
    at = (at + size - 1) / size * size + size * static_cast<std::size_t>(reduce_tile(ir));
  }
  return (at + 7) / 8 * 8;
}

class ReduceWriter {
 public:
  ReduceWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir), tile_(reduce_tile(ir)),
        // The inner extent of rank 1 is the outer count.
        parameters_(make_parameters(ir, {ir.rank == 1 ? SlotKind::OuterCount : SlotKind::Extent, SlotKind::Reduced,
                                         SlotKind::Chunks, SlotKind::ChunkBlocks, SlotKind::Scratch})),
        w_(ir, parameters_, target, tile_) {}

  KernelSource render();

 private:
  [[nodiscard]] bool is_direct(Value v) const;

  // Functions of the kernel.
  void reduce_tiles();
  void finish();
  void entry();
  void fold();

  // Pieces of them.
  void open_reduce();
  void row_values();
  void point_bases();
  void inputs_of_points();
  [[nodiscard]] std::vector<Value> stored() const;
  [[nodiscard]] CWriter::Loop point_loop() const;
  void each_input(const std::function<void(std::uint32_t r, std::uint32_t access, const std::string& from)>& f);
  void lanes();
  [[nodiscard]] bool has_full_lane() const;
  [[nodiscard]] bool has_pairs() const;
  [[nodiscard]] bool only_calls() const { return has_pairs() && w_.instructions(Region::Row).empty(); }
  [[nodiscard]] std::string place(bool declare) const { return tile_place(ir_, tile_, declare); }

  const KernelIr& ir_;
  const int tile_;
  const Parameters parameters_;
  StateWriter w_;
};

/// An input that is a contiguous load is read in place. Not beside stores of points: one of them may take the memory
/// of what is read.
bool ReduceWriter::is_direct(Value v) const {
  const Instr& instr = ir_.instrs[v];
  if (instr.kind != InstrKind::Load || instr.region != Region::Point || instr.guard != kNone) return false;
  if (ir_.accesses[instr.index].buffer == kNone || !w_.stores(Region::Point).empty()) return false;
  return ir_.rank > 0 && ir_.accesses[instr.index].strides.back() == StrideClass::One;
}

/// Inputs that need an array.
std::vector<Value> ReduceWriter::stored() const {
  return w_.kept_inputs([this](Value v) { return is_direct(v); });
}

// ---------------------------------------------------------------- leaves

/// Values of Row instructions: arrays over the tile.
void ReduceWriter::row_values() {
  CWriter::Loop loop{w_.instructions(Region::Row), Axis::LastOuter, "j", "0", "m"};
  if (loop.values.empty()) return;
  for (const Value v : loop.values) w_.line(fmt::format("{} row{}[{}];", c_type(ir_.instrs[v].dtype), v, tile_));
  w_.open("");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, Region::Row) && !ir_.accesses[a].store) w_.base('a', a, fmt::format("b{}", a), "0");
  w_.loop(loop, [&] {
    for (const Value v : loop.values) w_.line(fmt::format("row{0}[j] = v{0};", v));
  });
  w_.close();
}

void ReduceWriter::point_bases() {
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, Region::Point)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, "k", ""));
}

CWriter::Loop ReduceWriter::point_loop() const {
  const std::vector<Value> stores = w_.stores(Region::Point);
  CWriter::Loop loop{w_.instructions(Region::Point), Axis::LastOuter, "i", "0", "m"};
  loop.values.insert(loop.values.end(), stores.begin(), stores.end());
  loop.is_short = true;  // a tile may be a few elements
  loop.operand = [this](Value v) {
    const Instr& instr = ir_.instrs[v];
    const bool in_array = instr.region == Region::Row && instr.kind != InstrKind::Scalar;
    return in_array ? fmt::format("row{}[i]", v) : value_name(v);
  };
  for (const Value v : stored()) loop.kept.emplace_back(fmt::format("y{}[i]", v), v);
  return loop;
}

/// Evaluates the points of one loop: `x{r}_{k}` then points at the inputs of reduction r.
void ReduceWriter::inputs_of_points() {
  for (const Value v : stored()) w_.line(fmt::format("{} y{}[{}] __attribute__((aligned(64)));", c_type(ir_.instrs[v].dtype), v, tile_));
  if (!stored().empty() || !w_.stores(Region::Point).empty()) w_.loop(point_loop());
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k) {
      const Value v = ir_.reductions[r].args[k];
      w_.line(fmt::format("const {}* const {} = {}{};", w_.accumulator(r), w_.input(r, k), is_direct(v) ? "a" : "y", is_direct(v) ? ir_.instrs[v].index : v));
    }
}

/// The function that reduces blocks first..last of a tile into stack[0], up to its row values.
void ReduceWriter::open_reduce() {
  w_.open(fmt::format("static {3}void {0}_reduce(const struct {0}_params* p{1}, tarry_i64 first, tarry_i64 last, {2}* stack)",
                      kEntryName, place(true), w_.state_type(), only_calls() ? "TARRY_PLAIN " : ""));
  w_.locals();
  constexpr std::array kRegions = {Region::Row, Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  row_values();
}

// ---------------------------------------------------------------- ReduceSerial, ReduceOuter

/// A lane of four elements is one loop where all inputs are read in place: partial results stay in registers.
bool ReduceWriter::has_full_lane() const {
  return ir_.schedule == Schedule::ReduceOuter && std::all_of(ir_.reductions.begin(), ir_.reductions.end(), [&](const Reduction& r) {
    return has_lanes_of_four(r) && is_direct(r.args[0]);
  });
}

/// Whether the loops over a tile are all calls: of sums and products of floats that lie in place.
bool ReduceWriter::has_pairs() const {
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    if (!w_.has_vectors(r) || !is_direct(ir_.reductions[r].args[0])) return false;
  return true;
}

void ReduceWriter::each_input(const std::function<void(std::uint32_t r, std::uint32_t access, const std::string& from)>& f) {
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) {
    const std::uint32_t access = ir_.instrs[ir_.reductions[r].args[0]].index;
    f(r, access, sum_text(fmt::format("b{}", access), reduced_offset(ir_, access, "from", "")));
  }
}

/// What takes several elements at once.
void ReduceWriter::lanes() {
  if (has_pairs()) {
    if (ir_.schedule == Schedule::ReduceOuter) {
      w_.open("if (stride == 32 && !(q & 1) && to - from > 112)");  // a lane and the next, which begins 16 behind
      each_input([&](std::uint32_t r, std::uint32_t access, const std::string& from) { w_.pair_of_lanes(r, from, reduced_offset(ir_, access, "16", "")); });
      w_.line("step = 8;");
      w_.line("leaf = q++ >> 1;");
      w_.close();
      w_.line("else");
    }
    w_.open(fmt::format("if (m < {} && from < to)", kFew));
    w_.line("step = (to - from + stride - 1) / stride;");
    each_input([&](std::uint32_t r, std::uint32_t access, const std::string& from) { w_.few_lane(r, from, reduced_offset(ir_, access, "stride", ""), "step"); });
    w_.close();
    w_.line("else");
  } else if (has_full_lane()) {
    w_.open("if (stride == 32 && to - from > 96)");
    each_input([&](std::uint32_t r, std::uint32_t access, const std::string& from) { w_.full_lane(r, from, reduced_offset(ir_, access, "32", "")); });
    w_.line("step = 4;");
    w_.close();
    w_.line("else");
  }
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
  w_.line(fmt::format("{}* const top = stack + depth;", w_.state_type()));
  w_.line("tarry_i64 step = 0, leaf = q;");
  lanes();
  w_.open("for (tarry_i64 k = from; k < to; k += stride)");
  w_.line("++step;");
  point_bases();
  inputs_of_points();
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.leaf_step(r);
  w_.close();
  w_.line("top->count = step;");
  w_.push("leaf");
  w_.close();
  w_.fold_stack();
  w_.open("if (n == 0)");
  w_.clear("stack");
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- entries

/// Outer instructions of a tile whose reductions are done, and the row values that they use.
void ReduceWriter::finish() {
  CWriter::Loop loop{{}, Axis::LastOuter, "j", "0", "m"};
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (ir_.instrs[v].region == Region::Row || ir_.instrs[v].region == Region::Outer) loop.values.push_back(v);
  loop.operand = [&](Value v) {
    const Instr& instr = ir_.instrs[v];
    if (instr.kind != InstrKind::Result) return value_name(v);
    return fmt::format("s->{}[j]", w_.part(instr.index, output_field(ir_.reductions[instr.index], instr.output)));
  };
  loop.vectors = has_pairs() && w_.has_vectors(loop);  // else gcc looks for vectors in other loops too
  w_.open(fmt::format("static {3}void {0}_finish(const struct {0}_params* p{1}, const {2}* s)", kEntryName, place(true), w_.state_type(),
                      loop.vectors ? "TARRY_PLAIN " : ""));
  w_.locals();
  constexpr std::array kRegions = {Region::Row, Region::Outer};
  w_.bases('a', kRegions, outer_indices(ir_, "j0"), "0");
  w_.loop(loop);
  w_.close();
}

void ReduceWriter::entry() {
  w_.open(fmt::format("TARRY_PLAIN void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  count_tiles(w_, tile_);
  w_.line("const tarry_i64 blocks = n / 128 + (n % 128 != 0);");
  w_.line(fmt::format("{0}* const scratch = ({0}*)p->scratch;", w_.state_type()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
  w_.line("const tarry_i64 at = item / chunks, chunk = item - at * chunks;");
  w_.line("const tarry_i64 first = chunk * chunk_blocks;");
  w_.line("const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;");
  decode_tile(w_, tile_);
  w_.line(fmt::format("{}_reduce(p{}, first, last, stack);", kEntryName, place(false)));
  w_.line(fmt::format("if (chunks == 1) {}_finish(p{}, stack);", kEntryName, place(false)));
  w_.line("else scratch[item] = stack[0];");
  w_.close();
  w_.close();
}

void ReduceWriter::fold() {
  w_.open(fmt::format("TARRY_PLAIN void {0}_fold(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  count_tiles(w_, tile_);
  w_.line(fmt::format("const {0}* const scratch = (const {0}*)p->scratch;", w_.state_type()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.open("for (tarry_i64 at = lo; at < hi; ++at)");
  decode_tile(w_, tile_);
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 chunk = 0; chunk < chunks; ++chunk)");
  w_.line("stack[depth] = scratch[at * chunks + chunk];");
  w_.push("chunk");
  w_.close();
  w_.fold_stack();
  w_.line(fmt::format("{}_finish(p{}, stack);", kEntryName, place(false)));
  w_.close();
  w_.close();
}

KernelSource ReduceWriter::render() {
  w_.preamble();
  if (has_pairs()) w_.share_loops();
  w_.declare_states();
  reduce_tiles();
  finish();
  entry();
  fold();
  KernelSource source = w_.finish();
  source.tile = tile_;
  return source;
}

}  // namespace

Geometry geometry_c_reduce(const KernelIr& ir, const KernelArgs& args) {
  constexpr std::int64_t kEnoughTiles = 64;       // fills the threads of a large machine without chunks
  constexpr std::int64_t kChunkPoints = 1 << 16;  // large enough to hide the cost of an item, small enough to balance
  constexpr std::int64_t kMostItems = 4096;
  Geometry g;
  const std::int64_t tile = reduce_tile(ir);
  g.outer_tiles = tile_count(args, static_cast<int>(tile));
  if (g.outer_tiles == 0) return g;
  TARRY_ASSERT(args.reduced < std::int64_t{1} << (kReduceLevels + 1));
  const std::int64_t inner = ir.rank == 0 ? 1 : args.extents.back();
  const std::int64_t blocks = std::max<std::int64_t>(1, args.reduced / 128 + (args.reduced % 128 != 0));
  g.chunk_blocks = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks)));
  if (ir.schedule == Schedule::ReduceSerial || g.outer_tiles >= kEnoughTiles) return g;
  std::int64_t wanted = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, kChunkPoints / 128 / std::min(tile, inner)))));
  while ((blocks + wanted - 1) / wanted * g.outer_tiles > kMostItems) wanted *= 2;
  if (wanted >= blocks) return g;
  g.chunk_blocks = wanted;
  g.chunks = (blocks + wanted - 1) / wanted;
  g.scratch_bytes = static_cast<std::size_t>(g.grid()) * reduce_state_bytes(ir);
  return g;
}

KernelSource render_c_reduce(const KernelIr& ir, const graph::Target& target) {
  return ir.schedule == Schedule::ReduceInner ? render_c_inner(ir, target) : ReduceWriter(ir, target).render();
}

}  // namespace tarry::codegen
