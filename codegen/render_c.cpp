// C kernels: the statements of a loop, pointwise kernels, launch geometry on the CPU.
#include "codegen/render_c.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "support/check.h"

namespace tarry::codegen {

namespace {

// "Independent" and not `restrict`: an output may take the memory of an input that is read at the same place, which
// restrict forbids; that iterations do not depend on each other is exactly what holds.
constexpr std::string_view kMacros = R"~(#ifndef TARRY_INDEPENDENT
#if defined(__clang__)
#define TARRY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TARRY_INDEPENDENT _Pragma("GCC ivdep")
#endif
#endif
)~";

bool is_integer_parameter(SlotKind kind) {
  switch (kind) {
    case SlotKind::Pointer:
    case SlotKind::IotaOffset:
    case SlotKind::Scalar:
    case SlotKind::Scratch:
    case SlotKind::Tickets: return false;
    default: return true;
  }
}

}  // namespace

void CWriter::preamble() {
  label(kMacros.substr(0, kMacros.size() - 1));
  const std::string text = parameter_struct(parameters_);
  label(std::string_view(text).substr(0, text.size() - 1));
}

void CWriter::locals() {
  for (const Slot& slot : parameters_.slots)
    if (is_integer_parameter(slot.kind)) line(fmt::format("const tarry_i64 {0} = p->{0};", slot_name(slot)));
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& instr = ir.instrs[v];
    if (instr.kind != InstrKind::Scalar) continue;
    line(fmt::format("const {} {} = p->{};", c_type(instr.dtype), value_name(v), slot_name({SlotKind::Scalar, instr.index})));
  }
}

bool CWriter::uses(std::uint32_t access, Region region) const {
  return std::any_of(ir.instrs.begin(), ir.instrs.end(), [&](const Instr& instr) {
    return (instr.kind == InstrKind::Load || instr.kind == InstrKind::Store) && instr.index == access && instr.region == region;
  });
}

std::string CWriter::address_type(std::uint32_t access) const {
  const Access& a = ir.accesses[access];
  if (a.buffer == kNone) return "const tarry_i64";
  return fmt::format("{}{}* const", a.store ? "" : "const ", c_type(ir.buffers[a.buffer]));
}

void CWriter::base(char name, std::uint32_t access, const std::string& start, const std::string& offset) {
  line(fmt::format("{} {}{} = {};", address_type(access), name, access, sum_text(start, offset)));
}

void CWriter::bases(char name, std::span<const Region> regions, std::span<const std::string> indices, std::string_view k) {
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) {
    if (std::none_of(regions.begin(), regions.end(), [&](Region r) { return uses(a, r); })) continue;
    const SlotKind kind = ir.accesses[a].buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer;
    base(name, a, "p->" + slot_name({kind, a}), sum_text(outer_offset(ir, a, indices, ""), reduced_offset(ir, a, k, "")));
  }
}

StrideClass CWriter::stride_class(std::uint32_t access, Axis axis) const {
  const Access& a = ir.accesses[access];
  if (axis == Axis::Reduced) return a.outer_only ? StrideClass::Zero : a.reduced;
  return ir.rank == 0 ? StrideClass::Zero : a.strides.back();
}

std::string CWriter::element(std::uint32_t access, Axis axis, std::string_view i) const {
  const auto last = static_cast<std::uint32_t>(ir.rank - 1);
  const Slot stride = axis == Axis::Reduced ? Slot{SlotKind::ReducedStride, access} : Slot{SlotKind::Stride, access, last};
  std::string offset = "0";
  if (stride_class(access, axis) == StrideClass::One) offset = i;
  if (stride_class(access, axis) == StrideClass::Any) offset = fmt::format("{} * {}", i, slot_name(stride));
  if (ir.accesses[access].buffer == kNone) return sum_text(fmt::format("a{}", access), offset);
  return fmt::format("a{}[{}]", access, offset);
}

void CWriter::invariant_loads(Region region, Axis axis) {
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& instr = ir.instrs[v];
    if (instr.kind != InstrKind::Load || instr.region != region || stride_class(instr.index, axis) != StrideClass::Zero) continue;
    line(fmt::format("const {} {} = {};", c_type(instr.dtype), value_name(v), element(instr.index, axis, "0")));
  }
}

void CWriter::open_loop(std::string_view i, std::string_view from, std::string_view to) {
  line("TARRY_INDEPENDENT");
  open(fmt::format("for (tarry_i64 {0} = {1}; {0} < {2}; ++{0})", i, from, to));
}

void CWriter::statements(Region region, Axis axis, std::string_view i, const Operand& operand, Stores stores) {
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& instr = ir.instrs[v];
    if (instr.region != region) continue;
    std::string text;
    switch (instr.kind) {
      case InstrKind::Scalar: continue;
      case InstrKind::Load:
        if (stride_class(instr.index, axis) == StrideClass::Zero) continue;  // an invariant load
        text = element(instr.index, axis, i);
        break;
      case InstrKind::Store:
        if (stores == Stores::Write) line(fmt::format("{} = {};", element(instr.index, axis, i), operand(instr.args[0])));
        continue;
      case InstrKind::Inside: TARRY_ASSERT(false && "guards are not rendered yet"); break;
      case InstrKind::Result: text = operand(v); break;
      case InstrKind::Compute: {
        std::vector<std::string> operands;
        for (int k = 0; k < arity(instr); ++k) operands.push_back(operand(instr.args[static_cast<std::size_t>(k)]));
        text = expressions.compute(v, operands);
        break;
      }
    }
    line(fmt::format("const {} {} = {};", c_type(instr.dtype), value_name(v), text));
  }
}

std::vector<std::string> outer_indices(const KernelIr& ir, std::string_view last) {
  std::vector<std::string> indices;
  for (int d = 0; d + 1 < ir.rank; ++d) indices.push_back(fmt::format("i{}", d));
  if (ir.rank > 0) indices.emplace_back(last);
  return indices;
}

void decode_row(CWriter& w, std::string_view row) {
  if (w.ir.rank < 2) return;
  std::string rest(row);
  for (int d = w.ir.rank - 2; d > 0; --d) {
    w.line(fmt::format("tarry_i64 i{} = {} % e{};", d, rest, d));
    w.line(fmt::format("const tarry_i64 q{} = {} / e{};", d, rest, d));
    rest = fmt::format("q{}", d);
  }
  w.line(fmt::format("tarry_i64 i0 = {};", rest));
}

void next_row(CWriter& w) {
  for (int d = w.ir.rank - 2; d > 0; --d) {
    w.open(fmt::format("if (++i{0} == e{0})", d));
    w.line(fmt::format("i{} = 0;", d));
  }
  w.line("++i0;");
  for (int d = w.ir.rank - 2; d > 0; --d) w.close();
}

int point_cost(const KernelIr& ir) {
  // A quarter of a nanosecond is what a core needs for 4 bytes of memory traffic, or for a vector instruction's element
  // of cost 4 in the op table; a strided access costs about 4 of them.
  int bytes = 0, work = 0;
  for (const Instr& instr : ir.instrs) {
    if (instr.region != Region::Point) continue;
    if (instr.kind == InstrKind::Compute) work += graph::info(instr.op).cost;
    if (instr.kind != InstrKind::Load && instr.kind != InstrKind::Store) continue;
    const Access& a = ir.accesses[instr.index];
    if (a.buffer != kNone) bytes += static_cast<int>(itemsize(ir.buffers[a.buffer]));
  }
  for (const Reduction& r : ir.reductions) work += graph::info(r.op).cost;
  return std::max(1, bytes / 4 + work / 4);
}

namespace {

constexpr std::array kPoint = {Region::Point};

void pointwise_loop(CWriter& w, std::string_view from, std::string_view to) {
  w.bases('a', kPoint, outer_indices(w.ir, "0"), "0");
  w.invariant_loads(Region::Point, Axis::LastOuter);
  w.open_loop("i", from, to);
  w.statements(Region::Point, Axis::LastOuter, "i", value_name, CWriter::Stores::Write);
  w.close();
}

KernelSource render_c_pointwise(const KernelIr& ir) {
  const Parameters parameters = make_parameters(ir, {SlotKind::Extent});
  CWriter w(ir, parameters);
  w.preamble();
  w.open(fmt::format("void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w.locals();
  if (ir.rank < 2) {
    pointwise_loop(w, "lo", "hi");
  } else {
    w.line(fmt::format("const tarry_i64 inner = e{};", ir.rank - 1));
    w.line("const tarry_i64 row = lo / inner;");
    w.line("tarry_i64 from = lo - row * inner;");
    decode_row(w, "row");
    w.open("while (lo < hi)");
    w.line("const tarry_i64 to = inner - from < hi - lo ? inner : from + (hi - lo);");
    pointwise_loop(w, "from", "to");
    w.line("lo += to - from;");
    w.line("from = 0;");
    next_row(w);
    w.close();
  }
  w.close();
  const std::vector<std::string> functions = w.expressions.functions();
  KernelSource source = finish_kernel(ir, Dialect::C, w.take(), parameters, functions);
  source.point_cost = point_cost(ir);
  return source;
}

Geometry geometry_c_reduce(const KernelIr& ir, const KernelArgs& args) {
  constexpr std::int64_t kEnoughTiles = 64;       // fills the threads of a large machine without chunks
  constexpr std::int64_t kChunkPoints = 1 << 16;  // large enough to hide the cost of an item, small enough to balance
  constexpr std::int64_t kMostItems = 4096;
  Geometry g;
  if (args.outer_count() == 0) {
    g.outer_tiles = 0;
    return g;
  }
  TARRY_ASSERT(args.reduced < std::int64_t{1} << (kReduceLevels + 1));
  const std::int64_t tile = reduce_tile(ir);
  const std::int64_t inner = ir.rank == 0 ? 1 : args.extents.back();
  const std::int64_t tiles_per_row = (inner + tile - 1) / tile;
  g.outer_tiles = args.outer_count() / inner * tiles_per_row;
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

}  // namespace

KernelSource render_c(const KernelIr& ir, const graph::Target&) {
  return ir.schedule == Schedule::Pointwise ? render_c_pointwise(ir) : render_c_reduce(ir);
}

Geometry geometry_c(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  if (ir.schedule != Schedule::Pointwise) return geometry_c_reduce(ir, args);
  Geometry g;
  g.outer_tiles = args.outer_count();
  return g;
}

}  // namespace tarry::codegen
