// C kernels that reduce rows along their contiguous axis by tree R (docs/numerics.md).
//
// A work item is (row, chunk). Runs of whole blocks, which are subtrees, become states (codegen/render_c_states.h). The walk
// over runs, chunks and rows knows what is reduced, but not of what, so that the kernels of a unit share it: it calls a
// kernel's own functions of one run's points and of a row whose reductions are done.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "codegen/render_c_states.h"

namespace tarry::codegen {

namespace {

constexpr std::size_t kAlign = 64;  // of arrays of points

class InnerWriter {
 public:
  InnerWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        parameters_(make_parameters(ir, {SlotKind::Extent, SlotKind::Reduced, SlotKind::Chunks, SlotKind::ChunkBlocks, SlotKind::Scratch})),
        w_(ir, parameters_, target, 1) {}

  KernelSource render();

 private:
  [[nodiscard]] bool is_direct(Value v) const;
  [[nodiscard]] std::vector<Value> stored() const;
  [[nodiscard]] std::vector<std::uint32_t> streams() const;
  [[nodiscard]] std::size_t room(std::size_t count) const;
  [[nodiscard]] CWriter::Loop point_loop() const;

  // The walk.
  void walk();
  void walk_rows();
  void walk_chunks();
  void run();

  // What is the kernel's own.
  void own_parameters();
  void place();
  void row_values();
  void points();
  void finish();
  void entry(std::string_view suffix, std::string_view part);

  const KernelIr& ir_;
  const Parameters parameters_;
  StateWriter w_;
  std::string walk_;  ///< name of the walk
};

// ---------------------------------------------------------------- points

/// An input that is a contiguous load is read in place. Not beside stores of points: one of them may take the memory
/// of what is read.
bool InnerWriter::is_direct(Value v) const {
  const Instr& instr = ir_.instrs[v];
  if (instr.kind != InstrKind::Load || instr.region != Region::Point || instr.guard != kNone) return false;
  if (ir_.accesses[instr.index].buffer == kNone || !w_.stores(Region::Point).empty()) return false;
  return ir_.accesses[instr.index].reduced == StrideClass::One;
}

/// Inputs that need an array.
std::vector<Value> InnerWriter::stored() const {
  return w_.kept_inputs([this](Value v) { return is_direct(v); });
}

/// Loads of points that go along the row.
std::vector<std::uint32_t> InnerWriter::streams() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const Access& access = ir_.accesses[a];
    if (!access.store && access.buffer != kNone && access.reduced == StrideClass::One && w_.uses(a, Region::Point)) found.push_back(a);
  }
  return found;
}

/// Bytes of the arrays of the first `count` stored inputs.
std::size_t InnerWriter::room(std::size_t count) const {
  const std::vector<Value> arrays = stored();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<std::size_t>(w_.segment_length()) * itemsize(ir_.instrs[arrays[i]].dtype);
  return bytes;
}

/// What a function of the kernel finds in its parameters.
void InnerWriter::own_parameters() {
  w_.line(fmt::format("const struct {}_params* const p = parameters;", kEntryName));
  w_.locals();
}

/// Outer indices as locals.
void InnerWriter::place() {
  const std::vector<std::string> names = outer_indices(ir_, "j0");
  for (std::size_t d = 0; d < names.size(); ++d) w_.line(fmt::format("const tarry_i64 {} = at[{}];", names[d], d));
}

void InnerWriter::row_values() {
  const std::vector<Value> values = w_.instructions(Region::Row);
  if (values.empty()) return;
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, Region::Row) && !ir_.accesses[a].store) w_.base('a', a, fmt::format("b{}", a), "0");
  w_.straight(values);
}

CWriter::Loop InnerWriter::point_loop() const {
  const std::vector<Value> stores = w_.stores(Region::Point);
  const bool ahead = streams().size() == 1;
  CWriter::Loop loop{w_.instructions(Region::Point), Axis::Reduced, "i", ahead ? "part" : "0", ahead ? "stop" : "length"};
  loop.values.insert(loop.values.end(), stores.begin(), stores.end());
  for (const Value v : stored()) loop.kept.emplace_back(fmt::format("y{}[i]", v), v);
  loop.vectors = w_.has_vectors(loop);
  return loop;
}

/// The points of a run, and where its inputs are. Its loop, unless it is written out, is all that gcc has to find vectors in.
void InnerWriter::points() {
  const std::vector<Value> arrays = stored();
  const bool has_loop = !arrays.empty() || !w_.stores(Region::Point).empty();
  const CWriter::Loop loop = point_loop();
  w_.open(fmt::format("static {1}void {0}_points(const void* parameters, const tarry_i64* at, tarry_i64 k, tarry_i64 length, const void** inputs, "
                      "char* room)", kEntryName, loop.vectors || !has_loop ? "TARRY_PLAIN " : ""));
  own_parameters();
  place();
  constexpr std::array kRegions = {Region::Row, Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  if (has_loop) row_values();
  for (std::size_t i = 0; i < arrays.size(); ++i)
    w_.line(fmt::format("{0}* const y{1} = ({0}*)(room + {2});", c_type(ir_.instrs[arrays[i]].dtype), arrays[i], room(i)));
  w_.open("");  // an access of rows may be one of points too
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, Region::Point)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, "k", ""));
  if (has_loop) {
    const std::vector<std::uint32_t> read = streams();
    const bool ahead = read.size() == 1;
    if (ahead) {
      // Memory is asked for the next run meanwhile, a few lines at a time, as the tree asks for none. Several streams keep it busy.
      w_.open("for (tarry_i64 part = 0, stop; part < length; part = stop)");
      w_.line(fmt::format("stop = length - part < {0} ? length : part + {0};", kPart));
      w_.line(fmt::format("for (tarry_i64 i = part; i < stop; i += {}) __builtin_prefetch(a{} + length + i, 0, 2);",
                          kLine / itemsize(ir_.buffers[ir_.accesses[read[0]].buffer]), read[0]));
    }
    w_.loop(loop);
    if (ahead) w_.close();
  }
  int number = 0;
  for (const Reduction& r : ir_.reductions)
    for (std::size_t k = 0; k < input_count(r); ++k) {
      const Value v = r.args[k];
      w_.line(fmt::format("inputs[{}] = {}{};", number++, is_direct(v) ? "a" : "y", is_direct(v) ? ir_.instrs[v].index : v));
    }
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- the walk

/// The runs of blocks first to last - 1 into stack[0].
void InnerWriter::run() {
  w_.line("const tarry_i64 end = n < last * 128 ? n : last * 128;");
  w_.line("tarry_i64 depth = 0;");
  w_.open(fmt::format("for (tarry_i64 k = first * 128; k < end; k += {})", w_.segment_length()));
  w_.line(fmt::format("const tarry_i64 length = end - k < {0} ? end - k : {0};", w_.segment_length()));
  w_.line("walk->points(walk->parameters, at, k, length, inputs, room);");
  int number = 0;
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k)
      w_.line(fmt::format("const {}* const {} = inputs[{}];", w_.accumulator(r), w_.input(r, k), number++));
  w_.segment("first * 128");
  w_.close();
  w_.fold_stack();
  w_.open("if (n == 0)");
  w_.clear("stack");
  w_.close();
}

void InnerWriter::walk_rows() {
  std::size_t inputs = 0;
  for (const Reduction& r : ir_.reductions) inputs += input_count(r);
  w_.open(fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}_rows(const struct {0}* walk, tarry_i64 lo, tarry_i64 hi)", kSharedName));
  w_.line("const tarry_i64 n = walk->n, chunks = walk->chunks, chunk_blocks = walk->chunk_blocks, blocks = n / 128 + (n % 128 != 0);");
  if (w_.has_weights()) w_.line("const tarry_i64* const weight = walk->weight;");
  w_.line(fmt::format("{0}* const scratch = ({0}*)walk->scratch;", w_.state_type()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.line(fmt::format("const void* inputs[{}];", inputs));
  w_.line(fmt::format("char room[{}] __attribute__((aligned({})));", std::max(room(stored().size()), kAlign), kAlign));
  w_.line(fmt::format("tarry_i64 at[{}];", graph::kMaxRank));
  w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
  w_.line("const tarry_i64 row = item / chunks, first = (item - row * chunks) * chunk_blocks;");
  w_.line("const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;");
  w_.line(fmt::format("{}_place(walk, row, at);", kSharedName));
  run();
  w_.line("if (chunks == 1) walk->finish(walk->parameters, at, stack);");
  w_.line("else scratch[item] = stack[0];");
  w_.close();
  w_.close();
}

void InnerWriter::walk_chunks() {
  w_.open(fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}_chunks(const struct {0}* walk, tarry_i64 lo, tarry_i64 hi)", kSharedName));
  w_.line("const tarry_i64 chunks = walk->chunks;");
  if (w_.has_weights()) w_.line("const tarry_i64* const weight = walk->weight;");
  w_.line(fmt::format("const {0}* const scratch = (const {0}*)walk->scratch;", w_.state_type()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.line(fmt::format("tarry_i64 at[{}];", graph::kMaxRank));
  w_.open("for (tarry_i64 row = lo; row < hi; ++row)");
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 chunk = 0; chunk < chunks; ++chunk)");
  w_.line("stack[depth] = scratch[row * chunks + chunk];");
  w_.push("chunk");
  w_.close();
  w_.fold_stack();
  w_.line(fmt::format("{}_place(walk, row, at);", kSharedName));
  w_.line("walk->finish(walk->parameters, at, stack);");
  w_.close();
  w_.close();
}

void InnerWriter::walk() {
  walk_ = w_.share("rows", [this] {
    w_.open(fmt::format("struct {}", kSharedName));
    w_.line("const void* parameters;");
    w_.line("void (*points)(const void* parameters, const tarry_i64* at, tarry_i64 k, tarry_i64 length, const void** inputs, char* room);");
    w_.line(fmt::format("void (*finish)(const void* parameters, const tarry_i64* at, const {}* s);", w_.state_type()));
    w_.line("tarry_i64 n, chunks, chunk_blocks;");
    w_.line("void* scratch;");
    w_.line("const tarry_i64 *extents, *weight;");
    w_.line("int rank;");
    w_.close(";");
    w_.open(fmt::format("static TARRY_PLAIN void {0}_place(const struct {0}* walk, tarry_i64 row, tarry_i64* at)", kSharedName));
    w_.open("for (int d = walk->rank - 1; d > 0; --d)");
    w_.line("const tarry_i64 before = row / walk->extents[d];");
    w_.line("at[d] = row - before * walk->extents[d];");
    w_.line("row = before;");
    w_.close();
    w_.line("at[0] = row;");
    w_.close();
    walk_rows();
    walk_chunks();
  });
}

// ---------------------------------------------------------------- entries

/// Outer instructions of a row whose reductions are done, and the row values that they use.
void InnerWriter::finish() {
  std::vector<Value> values;
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (ir_.instrs[v].region == Region::Row || ir_.instrs[v].region == Region::Outer) values.push_back(v);
  w_.open(fmt::format("static TARRY_PLAIN void {0}_finish(const void* parameters, const tarry_i64* at, const {1}* s)", kEntryName, w_.state_type()));
  own_parameters();
  place();
  constexpr std::array kRegions = {Region::Row, Region::Outer};
  w_.bases('a', kRegions, outer_indices(ir_, "j0"), "0");
  w_.straight(values, [&](Value v) {
    const Instr& instr = ir_.instrs[v];
    if (instr.kind != InstrKind::Result) return value_name(v);
    return fmt::format("s->{}[0]", w_.part(instr.index, output_field(ir_.reductions[instr.index], instr.output)));
  });
  w_.close();
}

/// An entry: `part` of the walk over the items lo to hi - 1.
void InnerWriter::entry(std::string_view suffix, std::string_view part) {
  std::string extents;
  for (int d = 0; d < ir_.rank; ++d) extents += d == 0 ? "0" : fmt::format(", p->{}", slot_name({SlotKind::Extent, static_cast<std::uint32_t>(d)}));
  w_.open(fmt::format("TARRY_PLAIN void {0}{1}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName, suffix));
  if (ir_.rank > 1) w_.line(fmt::format("const tarry_i64 extents[] = {{{}}};", extents));
  w_.weights_array();
  w_.line(fmt::format("const struct {0} walk = {{p, {1}_points, {1}_finish, p->n, p->chunks, p->chunk_blocks, p->scratch, {2}, {3}, {4}}};", walk_,
                      kEntryName, ir_.rank > 1 ? "extents" : "0", w_.has_weights() ? "weight" : "0", ir_.rank));
  w_.line(fmt::format("{}_{}(&walk, lo, hi);", walk_, part));
  w_.close();
}

KernelSource InnerWriter::render() {
  w_.preamble();
  w_.declare_states();
  w_.line_functions([this](Value v) { return is_direct(v); });
  walk();
  points();
  finish();
  entry("", "rows");
  entry("_fold", "chunks");
  KernelSource source = w_.finish();
  source.tile = 1;
  return source;
}

}  // namespace

KernelSource render_c_inner(const KernelIr& ir, const graph::Target& target) { return InnerWriter(ir, target).render(); }

}  // namespace tarry::codegen
