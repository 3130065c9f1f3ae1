// C kernels that reduce rows along their contiguous axis by tree R (docs/reference/numerics.md).
//
// A work item is (row, chunk). Runs of whole blocks, which are subtrees, become states (codegen/c/states.h). The
// kernels of a unit share the walk (codegen/c/walk.h), which calls a kernel's own function of a run's points.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "codegen/c/walk.h"

namespace tarry::codegen {

namespace {

constexpr std::size_t kAlign = 64;  // of arrays of points

class InnerWriter {
 public:
  InnerWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir), parameters_(walk_parameters(ir)), w_(ir, parameters_, target, 1), walk_(w_) {}

  KernelSource render();

 private:
  [[nodiscard]] bool is_direct(Value v) const;
  [[nodiscard]] std::vector<Value> stored() const;
  [[nodiscard]] std::vector<std::uint32_t> streams() const;
  [[nodiscard]] std::size_t room(std::size_t count) const;
  [[nodiscard]] CWriter::Loop point_loop() const;

  void walk_rows();

  // What is the kernel's own.
  void row_values();
  void points();
  void finish();

  const KernelIr& ir_;
  const Parameters parameters_;
  StateWriter w_;
  Walk walk_;
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
    if (!access.store && access.buffer != kNone && access.reduced == StrideClass::One && w_.uses(a, Region::Point))
      found.push_back(a);
  }
  return found;
}

/// Bytes of the arrays of the first `count` stored inputs.
std::size_t InnerWriter::room(std::size_t count) const {
  const std::vector<Value> arrays = stored();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i)
    bytes += static_cast<std::size_t>(w_.segment_length()) * itemsize(ir_.instrs[arrays[i]].dtype);
  return bytes;
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
  CWriter::Loop loop{w_.instructions(Region::Point), Axis::Reduced, "i", ahead ? "part" : "0",
                     ahead ? "stop" : "length"};
  loop.values.insert(loop.values.end(), stores.begin(), stores.end());
  for (const Value v : stored()) loop.kept.emplace_back(fmt::format("y{}[i]", v), v);
  loop.is_part = ahead;
  loop.vectors = w_.has_vectors(loop);
  return loop;
}

/// The points of a run, and where its inputs are. Its loop, unless it is written out, is all that gcc has to find
/// vectors in.
void InnerWriter::points() {
  const std::vector<Value> arrays = stored();
  const bool has_loop = !arrays.empty() || !w_.stores(Region::Point).empty();
  const CWriter::Loop loop = point_loop();
  w_.open(fmt::format("static {1}void {0}_points({2}, tarry_i64 k, tarry_i64 length, const void** inputs, char* room)",
                      kEntryName, loop.vectors || !has_loop ? "TARRY_PLAIN " : "", Walk::kPlace));
  walk_.own_parameters();
  constexpr std::array kRegions = {Region::Row, Region::Point};
  w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
  if (has_loop) row_values();
  for (std::size_t i = 0; i < arrays.size(); ++i)
    w_.line(
        fmt::format("{0}* const y{1} = ({0}*)(room + {2});", c_type(ir_.instrs[arrays[i]].dtype), arrays[i], room(i)));
  w_.open("");  // an access of rows may be one of points too
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (w_.uses(a, Region::Point)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, "k", ""));
  if (has_loop) {
    const std::vector<std::uint32_t> read = streams();
    const bool ahead = read.size() == 1;
    if (ahead) {
      // Memory is asked for the next run meanwhile, a few lines at a time, as the tree asks for none. Several streams
      // keep it busy.
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
      w_.line(fmt::format("inputs[{}] = {}{};", number++, is_direct(v) ? "a" : "y",
                          is_direct(v) ? ir_.instrs[v].index : v));
    }
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- the walk

void InnerWriter::walk_rows() {
  walk_.open_items(Walk::Code::Plain, [this] {
    w_.line(
        fmt::format("char room[{}] __attribute__((aligned({})));", std::max(room(stored().size()), kAlign), kAlign));
  });
  w_.line("const tarry_i64 end = n < last * 128 ? n : last * 128;");
  w_.open(fmt::format("for (tarry_i64 k = first * 128; k < end; k += {})", w_.segment_length()));
  w_.line(fmt::format("const tarry_i64 length = end - k < {0} ? end - k : {0};", w_.segment_length()));
  w_.line("walk->points(walk->parameters, at, m, k, length, inputs, room);");
  int number = 0;
  for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
    for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k)
      w_.line(fmt::format("const {}* const {} = inputs[{}];", w_.accumulator(r), w_.input(r, k), number++));
  w_.segment("first * 128");
  w_.close();
  walk_.close_items();
}

// ---------------------------------------------------------------- entries

/// Outer instructions of a row whose reductions are done, and the row values that they use.
void InnerWriter::finish() {
  std::vector<Value> values;
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (ir_.instrs[v].region == Region::Row || ir_.instrs[v].region == Region::Outer) values.push_back(v);
  walk_.open_finish(Walk::Code::Plain);
  constexpr std::array kRegions = {Region::Row, Region::Outer};
  w_.bases('a', kRegions, outer_indices(ir_, "j0"), "0");
  w_.straight(values, [&](Value v) {
    const Instr& instr = ir_.instrs[v];
    if (instr.kind != InstrKind::Result) return value_name(v);
    return fmt::format("s->{}[0]", w_.part(instr.index, output_field(ir_.reductions[instr.index], instr.output)));
  });
  w_.close();
}

KernelSource InnerWriter::render() {
  w_.preamble();
  w_.declare_states();
  w_.line_functions([this](Value v) { return is_direct(v); });
  walk_.write("rows", "tarry_i64 k, tarry_i64 length, const void** inputs, char* room", [this] { walk_rows(); });
  points();
  finish();
  walk_.entries("0");
  KernelSource source = w_.finish();
  source.tile = 1;
  return source;
}

}  // namespace

KernelSource render_c_inner(const KernelIr& ir, const graph::Target& target) {
  return InnerWriter(ir, target).render();
}

}  // namespace tarry::codegen
