// C kernels that reduce across rows by tree R (docs/reference/numerics.md); codegen/c/inner.cpp has those that
// reduce along them.
//
// A work item is (outer tile, chunk); the inner loops run over the tile's outer elements. Its states
// (codegen/c/states.h) are the leaves of an aligned tree: with lanes visited in bit-reversed order, lanes and
// blocks are one such tree. As in c/inner.cpp the kernels of a unit share the walk, which calls a kernel's own
// functions of some rows' points.
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "codegen/c/walk.h"
#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr int kLane = 4;                      // rows of a lane; as many are evaluated at once
constexpr int kShortest = 8, kLongest = 128;  // elements of rows of which those of the next block are asked for
constexpr int kRowGap = 16;                   // elements between rows that are kept: not one page from each other
constexpr int kRowsInCache = 128;             // rows of up to 32 elements that the first-level cache holds

/// Outer elements per work item, and bytes of one chunk state.
int reduce_tile(const KernelIr& ir) {
  if (ir.schedule() == Schedule::ReduceInner) return 1;
  std::size_t bytes = 0;
  for (const StateField& f : state_fields(ir)) bytes += itemsize(f.dtype);
  // Rows that are contiguous are taken an element of each at a time.
  const bool along = ir.schedule() == Schedule::ReduceSerial && std::ranges::any_of(ir.accesses, [](const Access& a) {
                       return streams(a) && a.reduced == StrideClass::One && !a.strides.empty() &&
                              a.strides.back() == StrideClass::Any;
                     });
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<std::size_t>(kStateBytesPerLevel) / bytes)), 16,
                    along ? kRowsInCache : 1024);
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
      : ir_(ir),
        tile_(reduce_tile(ir)),
        parameters_(walk_parameters(ir)),
        w_(ir, parameters_, target, tile_),
        walk_(w_) {}

  KernelSource render();

 private:
  [[nodiscard]] bool is_direct(Value v) const;
  [[nodiscard]] std::vector<Value> stored() const;
  /// True if points are computed; all inputs are read in place otherwise.
  [[nodiscard]] bool has_loop() const { return !stored().empty() || !w_.stores(Region::Point).empty(); }
  [[nodiscard]] std::size_t room(std::size_t rows, std::size_t arrays) const;
  [[nodiscard]] bool all_plain() const;
  [[nodiscard]] bool has_pairs() const;
  [[nodiscard]] bool has_full_lane() const;

  // The walk.
  void walk_rows();
  void lanes();
  void rows(const std::string& first, const std::string& stride, const std::string& count);

  // What is the kernel's own.
  void room_arrays(bool points);
  [[nodiscard]] CWriter::Loop point_loop() const;
  void begin();
  void ask_for_next_block();
  void points();
  void finish();

  const KernelIr& ir_;
  const int tile_;
  const Parameters parameters_;
  StateWriter w_;
  Walk walk_;
};

/// An input that is a contiguous load is read in place. Not beside stores of points: one of them may take the memory
/// of what is read.
bool ReduceWriter::is_direct(Value v) const {
  const Instr& instr = ir_.instrs[v];
  if (instr.kind != InstrKind::Load || instr.region != Region::Point || instr.guard != kNone) return false;
  if (ir_.accesses[instr.index].buffer == kNone || !w_.stores(Region::Point).empty()) return false;
  return ir_.rank > 0 && ir_.accesses[instr.index].strides.back() == StrideClass::One;
}

/// Inputs that need arrays.
std::vector<Value> ReduceWriter::stored() const {
  return w_.kept_inputs([this](Value v) { return is_direct(v); });
}

/// True if the loops over a tile are calls.
bool ReduceWriter::all_plain() const {
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    if (!w_.is_plain(r)) return false;
  return true;
}

/// True if lanes are taken by two: sums and products of floats that lie in place.
bool ReduceWriter::has_pairs() const {
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    if (!w_.has_vectors(r) || !is_direct(ir_.reductions[r].args[0])) return false;
  return ir_.schedule() == Schedule::ReduceOuter;
}

/// True if a whole lane is one loop: partial results stay in registers.
bool ReduceWriter::has_full_lane() const {
  return ir_.schedule() == Schedule::ReduceOuter && std::ranges::all_of(ir_.reductions, has_lanes_of_four);
}

// ---------------------------------------------------------------- points

/// Bytes of the arrays of the first `rows` values of rows and of the first `arrays` stored inputs.
std::size_t ReduceWriter::room(std::size_t rows, std::size_t arrays) const {
  const std::vector<Value> of_rows = w_.instructions(Region::Row), of_points = stored();
  std::size_t bytes = 0;
  const auto add = [&](Value v, int elements) {
    bytes = (bytes + static_cast<std::size_t>(elements) * itemsize(ir_.instrs[v].dtype) + 63) / 64 * 64;
  };
  for (std::size_t i = 0; i < rows; ++i) add(of_rows[i], tile_);
  for (std::size_t i = 0; i < arrays; ++i) add(of_points[i], kLane * (tile_ + kRowGap));
  return bytes;
}

/// The arrays in `room`: values of rows, and inputs from row number c of those that are evaluated on.
void ReduceWriter::room_arrays(bool points) {
  const std::vector<Value> of_rows = w_.instructions(Region::Row), of_points = stored();
  const auto array = [&](std::string_view name, Value v, std::size_t at, std::string_view more) {
    w_.line(fmt::format("{0}* const {1}{2} = ({0}*)(room + {3}){4};", c_type(ir_.instrs[v].dtype), name, v, at, more));
  };
  for (std::size_t i = 0; i < of_rows.size(); ++i) array("row", of_rows[i], room(i, 0), "");
  for (std::size_t i = 0; points && i < of_points.size(); ++i)
    array("y", of_points[i], room(of_rows.size(), i), " + c * gap");
}

/// Values of Row instructions, arrays over the tile.
void ReduceWriter::begin() {
  CWriter::Loop loop{w_.instructions(Region::Row), Axis::LastOuter, "j", "0", "m"};
  if (loop.values.empty()) return;
  w_.open(fmt::format("static void {}_begin({}, char* room)", kEntryName, Walk::kPlace));
  walk_.own_parameters();
  constexpr std::array kRegions = {Region::Row};
  w_.bases('a', kRegions, outer_indices(ir_, "j0"), "0");
  room_arrays(false);
  for (const Value v : loop.values) loop.kept.emplace_back(fmt::format("row{}[j]", v), v);
  w_.loop(loop);
  w_.close();
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
  loop.vectors = w_.has_vectors(loop);
  return loop;
}

/// For short rows, which the core does not find by itself in the order of lanes, those of the next block.
void ReduceWriter::ask_for_next_block() {
  if (ir_.schedule() != Schedule::ReduceOuter) return;
  w_.open(fmt::format("if (m >= {} && m <= {})", kShortest, kLongest));
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const Access& access = ir_.accesses[a];
    if (access.buffer == kNone || access.store || !w_.uses(a, Region::Point) || ir_.rank == 0 ||
        access.strides.back() != StrideClass::One || access.reduced == StrideClass::Zero)
      continue;
    w_.line(fmt::format("for (tarry_i64 i = 0; i < m; i += {}) __builtin_prefetch(a{} + {} + i, 0, 2);",
                        kLine / itemsize(ir_.buffers[access.buffer]), a, reduced_offset(ir_, a, "128", "")));
  }
  w_.close();
}

/// The points of `rows` rows from `first` on, `stride` apart, and where the inputs of the first are and how far apart.
void ReduceWriter::points() {
  const CWriter::Loop loop = point_loop();
  w_.open(
      fmt::format("static {1}void {0}_points({2}, tarry_i64 first, tarry_i64 stride, tarry_i64 rows, const void** "
                  "inputs, tarry_i64* apart, char* room)",
                  kEntryName, loop.vectors || !has_loop() ? "TARRY_PLAIN " : "", Walk::kPlace));
  walk_.own_parameters();
  constexpr std::array kRegions = {Region::Row, Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  if (!stored().empty()) w_.line(fmt::format("const tarry_i64 gap = ((m + {0}) & -{1}) + {1};", kRowGap - 1, kRowGap));
  if (has_loop()) {
    w_.open("for (tarry_i64 c = 0; c < rows; ++c)");
    w_.line("const tarry_i64 k = first + c * stride;");
    room_arrays(true);
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (w_.uses(a, Region::Point)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, "k", ""));
    ask_for_next_block();
    w_.loop(loop);
    w_.close();
  }
  const std::vector<Value> arrays = stored();
  int number = 0;
  for (const Reduction& r : ir_.reductions)
    for (std::size_t k = 0; k < input_count(r); ++k, ++number) {
      const Value v = r.args[k];
      const std::uint32_t access = ir_.instrs[v].index;
      const auto place = static_cast<std::size_t>(std::ranges::find(arrays, v) - arrays.begin());
      w_.line(is_direct(v) ? fmt::format("inputs[{}] = {}, apart[{}] = {};", number,
                                         sum_text(fmt::format("b{}", access), reduced_offset(ir_, access, "first", "")),
                                         number, reduced_offset(ir_, access, "stride", ""))
                           : fmt::format("inputs[{0}] = room + {1}, apart[{0}] = gap;", number,
                                         room(w_.instructions(Region::Row).size(), place)));
    }
  w_.close();
}

// ---------------------------------------------------------------- the walk

/// Evaluates rows, unless all are read in place: l{r}_{k} then points at what input k of reduction r has in the first,
/// and h{r}_{k} elements on is the next.
void ReduceWriter::rows(const std::string& first, const std::string& stride, const std::string& count) {
  if (has_loop())
    w_.line(
        fmt::format("walk->points(walk->parameters, at, m, {}, {}, {}, inputs, apart, room);", first, stride, count));
  int number = 0;
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k, ++number) {
      const std::string type = w_.accumulator(r),
                        all = has_loop() ? "" : fmt::format(" + {} * apart[{}]", first, number);
      w_.line(fmt::format("const {0}* const l{1}_{2} = (const {0}*)inputs[{3}]{4};", type, r, k, number, all));
      w_.line(fmt::format("const tarry_i64 h{}_{} = apart[{}]{};", r, k, number, has_loop() ? "" : " * " + stride));
      if (has_loop() || ir_.schedule() != Schedule::ReduceOuter) continue;
      w_.open(fmt::format("if (m >= {} && m <= {})", kShortest, kLongest));
      w_.line(fmt::format("for (int c = 0; c < {}; ++c)", count));
      w_.line(
          fmt::format("  for (tarry_i64 i = 0; i < m; i += {}) __builtin_prefetch(l{}_{} + c * h{}_{} + 128 * "
                      "apart[{}] + i, 0, 2);",
                      kLine / itemsize(ir_.reductions[r].dtype), r, k, r, k, number));
      w_.close();
    }
}

/// The rows from `from` to `to` - 1, `stride` apart, into the top state.
void ReduceWriter::lanes() {
  const auto each = [&](auto&& f) {
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) f(r, fmt::format("l{}_0", r), fmt::format("h{}_0", r));
  };
  const bool pairs = has_pairs(), full = !pairs && !all_plain() && has_full_lane();
  if (pairs) {
    w_.open("if (stride == 32 && !(q & 1) && to - from > 112)");  // a lane and the next, which begins 16 behind
    rows("from", "16", "8");
    each([&](std::uint32_t r, const std::string& x, const std::string& h) { w_.pair_of_lanes(r, x, h); });
    w_.line("step = 8;");
    w_.line("leaf = q++ >> 1;");
    w_.close();
    w_.line("else");
  } else if (full) {
    w_.open("if (stride == 32 && to - from > 96)");
    rows("from", "32", std::to_string(kLane));
    each([&](std::uint32_t r, const std::string& x, const std::string& h) { w_.full_lane(r, x, h); });
    w_.line(fmt::format("step = {};", kLane));
    w_.close();
    w_.line("else");
  }
  w_.open(fmt::format("for (tarry_i64 begin = from; begin < to; begin += {} * stride)", kLane));
  w_.line("const tarry_i64 left = (to - begin + stride - 1) / stride;");
  w_.line(fmt::format("const int count = left < {0} ? (int)left : {0};", kLane));
  rows("begin", "stride", "count");
  if (all_plain()) {
    w_.open(fmt::format("if (m < {})", kFew));
    each([&](std::uint32_t r, const std::string& x, const std::string& h) { w_.few_lane(r, x, h, "count"); });
    w_.line("step += count;");
    w_.line("continue;");
    w_.close();
    if (!pairs) {
      w_.open(fmt::format("if (step == 0 && count == {})", kLane));
      each([&](std::uint32_t r, const std::string& x, const std::string& h) { w_.lane_of_four(r, x, h); });
      w_.line("step = count;");
      w_.line("continue;");
      w_.close();
    }
  }
  w_.open("for (int c = 0; c < count; ++c)");
  w_.line("const tarry_i64 k = begin + c * stride;");
  w_.line("(void)k, ++step;");
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k)
      w_.line(fmt::format("const {0}* const {1} = l{2}_{3} + c * h{2}_{3};", w_.accumulator(r), w_.input(r, k), r, k));
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.leaf_step(r);
  w_.close();
  w_.close();
}

void ReduceWriter::walk_rows() {
  const bool tree = ir_.schedule() == Schedule::ReduceOuter;
  if (tree)
    w_.line(fmt::format(
        "static const unsigned char {}_lane[32] = {{0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, "
        "1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31}};",
        kSharedName));
  walk_.open_items(all_plain() ? Walk::Code::Plain : Walk::Code::Any, [&] {
    w_.line(fmt::format("char room[{}] __attribute__((aligned(64)));",
                        std::max<std::size_t>(room(w_.instructions(Region::Row).size(), stored().size()), 64)));
    w_.line(fmt::format("tarry_i64 apart[{}];", walk_.inputs()));
  });
  w_.line("if (walk->begin) walk->begin(walk->parameters, at, m, room);");
  if (!has_loop()) w_.line("walk->points(walk->parameters, at, m, 0, 1, 0, inputs, apart, room);");
  w_.line(tree ? "const tarry_i64 leaves = n <= 32 ? 1 : (last - first) * 32;" : "const tarry_i64 leaves = 1;");
  w_.open("for (tarry_i64 q = 0; q < leaves; ++q)");
  if (tree) {
    w_.line("const tarry_i64 block = (first + q / 32) * 128;");
    w_.line(fmt::format("const tarry_i64 from = n <= 32 ? 0 : block + {}_lane[q & 31];", kSharedName));
    w_.line("const tarry_i64 to = n <= 32 || n - block < 128 ? n : block + 128;");
    w_.line("const tarry_i64 stride = n <= 32 ? 1 : 32;");
  } else {
    w_.line("const tarry_i64 from = 0, to = n, stride = 1;");
  }
  w_.line(fmt::format("{}* const top = stack + depth;", w_.state_type()));
  w_.line("tarry_i64 step = 0, leaf = q;");
  lanes();
  w_.line("top->count = step;");
  w_.push("leaf");
  w_.close();
  walk_.close_items();
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
  loop.vectors = w_.has_vectors(loop);
  walk_.open_finish(loop.vectors ? Walk::Code::Plain : Walk::Code::Any);
  constexpr std::array kRegions = {Region::Row, Region::Outer};
  w_.bases('a', kRegions, outer_indices(ir_, "j0"), "0");
  w_.loop(loop);
  w_.close();
}

KernelSource ReduceWriter::render() {
  w_.preamble();
  if (all_plain()) w_.share_loops();
  w_.declare_states();
  if (all_plain() && !has_pairs())
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.lane_function(r);
  walk_.write("columns",
              "tarry_i64 first, tarry_i64 stride, tarry_i64 rows, const void** inputs, tarry_i64* apart, char* room",
              [this] { walk_rows(); });
  begin();
  points();
  finish();
  walk_.entries(w_.instructions(Region::Row).empty() ? "0" : fmt::format("{}_begin", kEntryName));
  KernelSource source = w_.finish();
  source.tile = tile_;
  return source;
}

}  // namespace

Geometry geometry_c_reduce(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  constexpr std::int64_t kEnoughTiles = 64;       // fills the threads of a large machine without chunks
  constexpr std::int64_t kChunkPoints = 1 << 16;  // large enough to hide the cost of an item, small enough to balance
  constexpr std::int64_t kMostItems = 4096;
  Geometry g;
  const std::int64_t tile = reduce_tile(ir);
  g.outer_tiles = tile_count(args, static_cast<int>(tile));
  if (g.outer_tiles == 0) return g;
  const std::int64_t inner = ir.rank == 0 ? 1 : args.extents.back();
  const std::int64_t blocks = std::max<std::int64_t>(1, args.reduced / 128 + (args.reduced % 128 != 0));
  g.chunk_blocks = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks)));
  if (ir.schedule() == Schedule::ReduceSerial || (g.outer_tiles >= kEnoughTiles && blocks <= kMostBlocks)) return g;
  std::int64_t wanted = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, kChunkPoints / 128 / std::min(tile, inner)))));
  while (wanted < kMostBlocks && (blocks + wanted - 1) / wanted * g.outer_tiles > kMostItems) wanted *= 2;
  if (wanted >= blocks) return g;
  g.chunk_blocks = wanted;
  g.chunks = (blocks + wanted - 1) / wanted;
  g.scratch_bytes = static_cast<std::size_t>(g.grid()) * reduce_state_bytes(ir);
  return g;
}

KernelSource render_c_reduce(const KernelIr& ir, const graph::Target& target) {
  return ReduceWriter(ir, target).render();
}

}  // namespace tarry::codegen
