// KernelIr: verifier, printer and the layout of reduction states.
#include "codegen/kernel_ir.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/check.h"

namespace tarry::codegen {
namespace {

const char* text(Schedule s) {
  switch (s) {
    case Schedule::Pointwise:
      return "pointwise";
    case Schedule::ReduceSerial:
      return "reduce_serial";
    case Schedule::ReduceInner:
      return "reduce_inner";
    case Schedule::ReduceOuter:
      return "reduce_outer";
    case Schedule::RowSerial:
      return "row_serial";
    case Schedule::RowInner:
      return "row_inner";
    case Schedule::Stencil:
      return "stencil";
    case Schedule::Transpose:
      return "transpose";
  }
  return "?";
}

const char* text(Region r) { return r == Region::Row ? "row" : r == Region::Point ? "point" : "outer"; }

char text(StrideClass c) { return c == StrideClass::Zero ? '0' : c == StrideClass::One ? '1' : '*'; }

std::string stage_text(int stage) { return stage > 0 ? fmt::format(".{}", stage) : std::string(); }

std::string line(const KernelIr& ir, std::size_t i) {
  const Instr& in = ir.instrs[i];
  std::string s = fmt::format("  {:5} ", text(in.region) + stage_text(in.stage));
  if (in.kind != InstrKind::Store) s += fmt::format("%{}: {} = ", i, info(in.dtype).suffix);
  switch (in.kind) {
    case InstrKind::Load:
      s += fmt::format("load a{}", in.index);
      if (in.guard != kNone) s += fmt::format(" if g{}", in.guard);
      break;
    case InstrKind::Scalar:
      s += fmt::format("scalar s{}", in.index);
      break;
    case InstrKind::Result:
      s += fmt::format("result r{}.{}", in.index, in.output);
      break;
    case InstrKind::Inside:
      s += fmt::format("inside g{}", in.index);
      break;
    case InstrKind::Store:
      s += fmt::format("store a{}, %{}", in.index, in.args[0]);
      break;
    case InstrKind::Compute:
      s += graph::name(in.op);
      for (int k = 0; k < graph::info(in.op).arity; ++k)
        s += fmt::format("{} %{}", k ? "," : "", in.args[static_cast<std::size_t>(k)]);
      break;
  }
  return s + "\n";
}

std::string line(const Guard& guard) {
  std::string s;
  for (const GuardTerm& term : guard.terms)
    s += fmt::format("{} a{} < s{}", s.empty() ? "" : ",", term.access, term.extent);
  return s;
}

[[noreturn]] void broken(const KernelIr& ir, const std::string& what) {
  TARRY_THROW(InternalError, "", Where{}, "kernel IR breaks a rule: " + what + "\n" + to_string(ir));
}

/// What an instruction of `region` and `stage` may use.
bool visible(Region region, int stage, const Instr& used) {
  switch (region) {
    case Region::Row:
      return used.region == Region::Row;
    case Region::Point:
      return used.region == Region::Row || (used.region == Region::Point ? used.stage <= stage : used.stage < stage);
    case Region::Outer:
      return used.region != Region::Point && used.stage <= stage;
  }
  return false;
}

/// An access that instructions of `region` may load or store, or whose value a guard of theirs tests.
void verify_use(const KernelIr& ir, std::uint32_t access, Region region, const std::string& here) {
  if (access >= ir.accesses.size()) broken(ir, here + " names no access");
  const Access& a = ir.accesses[access];
  if (a.outer_only != (region == Region::Outer)) broken(ir, here + ": access region");
  if (region == Region::Row && a.reduced != StrideClass::Zero)
    broken(ir, here + ": a row value varies along the reduced axis");
}

void verify_guard(const KernelIr& ir, std::uint32_t guard, Region region, const std::string& here) {
  if (guard >= ir.guards.size()) broken(ir, here + " names no guard");
  if (ir.guards[guard].terms.empty()) broken(ir, here + ": a guard without a term");
  for (const GuardTerm& term : ir.guards[guard].terms) {
    verify_use(ir, term.access, region, here);
    if (ir.accesses[term.access].buffer != kNone) broken(ir, here + ": a guard tests an iota");
    if (term.extent >= ir.scalars.size() || ir.scalars[term.extent] != Dtype::Int64)
      broken(ir, here + ": an extent of a guard");
  }
}

void verify_memory(const KernelIr& ir, const Instr& in, const std::string& here) {
  verify_use(ir, in.index, in.region, here);
  const Access& a = ir.accesses[in.index];
  if (a.store != (in.kind == InstrKind::Store)) broken(ir, here + ": access direction");
  const Dtype element = a.buffer == kNone ? Dtype::Int64 : ir.buffers.at(a.buffer);
  const Dtype value = in.kind == InstrKind::Load ? in.dtype : ir.instrs[in.args[0]].dtype;
  if (element != value || in.dtype != element) broken(ir, here + ": element type");
  if (in.kind == InstrKind::Store && a.buffer == kNone) broken(ir, here + " stores to an iota");
  if (in.guard == kNone) return;
  if (in.kind == InstrKind::Store || a.buffer == kNone) broken(ir, here + ": only a load of a buffer has a guard");
  verify_guard(ir, in.guard, in.region, here);
}

void verify_result(const KernelIr& ir, const Instr& in, const std::string& here) {
  if (in.index >= ir.reductions.size() || in.region != Region::Outer) broken(ir, here + ": result");
  const Reduction& r = ir.reductions[in.index];
  if (static_cast<int>(in.output) >= graph::output_count(r.op)) broken(ir, here + ": output of a reduction");
  if (in.dtype != (graph::is_arg_reduce(r.op) ? Dtype::Int64 : r.dtype)) broken(ir, here + ": dtype of a result");
  if (in.stage < r.stage) broken(ir, here + ": a result before its reduction");
}

void verify_instr(const KernelIr& ir, std::size_t i) {
  const Instr& in = ir.instrs[i];
  const auto here = fmt::format("instruction {}", i);
  if (ir.is_map() && in.region != Region::Point)
    broken(ir, here + ": a pointwise kernel has point instructions only");
  if (in.region == Region::Row && in.stage != 0) broken(ir, here + ": a row value has no stage");
  int arity = 0;
  if (in.kind == InstrKind::Compute) arity = graph::info(in.op).arity;
  if (in.kind == InstrKind::Store) arity = 1;
  for (int k = 0; k < arity; ++k) {
    const Value v = in.args[static_cast<std::size_t>(k)];
    if (v >= i) broken(ir, here + " uses a later value");
    if (ir.instrs[v].kind == InstrKind::Store) broken(ir, here + " uses a store as a value");
    if (!visible(in.region, in.stage, ir.instrs[v])) broken(ir, here + " uses a value that it cannot see");
  }
  switch (in.kind) {
    case InstrKind::Load:
    case InstrKind::Store:
      return verify_memory(ir, in, here);
    case InstrKind::Scalar:
      if (in.index >= ir.scalars.size() || ir.scalars[in.index] != in.dtype) broken(ir, here + ": scalar");
      return;
    case InstrKind::Result:
      return verify_result(ir, in, here);
    case InstrKind::Inside:
      if (in.dtype != Dtype::Bool) broken(ir, here + ": inside is a bool");
      return verify_guard(ir, in.index, in.region, here);
    case InstrKind::Compute:
      return;
  }
}

/// All loads of an access have the same guard.
void verify_one_guard(const KernelIr& ir) {
  std::vector<std::uint32_t> load_of(ir.accesses.size(), kNone);
  for (std::uint32_t i = 0; i < ir.instrs.size(); ++i) {
    if (ir.instrs[i].kind != InstrKind::Load) continue;
    std::uint32_t& first = load_of[ir.instrs[i].index];
    if (first != kNone && ir.instrs[first].guard != ir.instrs[i].guard)
      broken(ir, fmt::format("instructions {} and {} load one access under two guards", first, i));
    first = i;
  }
}

void verify_reduction(const KernelIr& ir, const Reduction& r) {
  const int inputs = r.op == Op::MomentsMerge ? 2 : 1;
  for (int k = 0; k < inputs; ++k) {
    const Value v = r.args[static_cast<std::size_t>(k)];
    if (v >= ir.instrs.size() || !visible(Region::Point, r.stage, ir.instrs[v])) broken(ir, "a reduction's input");
    if (ir.instrs[v].dtype != r.dtype) broken(ir, "a reduction's dtype");
  }
  if (r.op == Op::MomentsMerge && (r.weight >= ir.scalars.size() || ir.scalars[r.weight] != Dtype::Int64))
    broken(ir, "a weight");
}

bool varies(const Access& a, int dimension) {
  return dimension >= 0 && a.strides[static_cast<std::size_t>(dimension)] != StrideClass::Zero;
}

/// Loads of a Stencil kernel belong to windows, those of others do not.
void verify_windows(const KernelIr& ir) {
  const bool stencil = ir.schedule == Schedule::Stencil;
  for (std::size_t i = 0; i < ir.accesses.size(); ++i) {
    const Access& a = ir.accesses[i];
    if ((a.window != kNone) != (stencil && a.buffer != kNone && !a.store)) broken(ir, "loads of a stencil have windows");
    if (a.window == kNone) continue;
    const Access& anchor = ir.accesses.at(a.window);
    const bool shifted = a.row != 0 || a.column != 0;
    if (anchor.window != a.window || a.window > i || (a.window == i && shifted)) broken(ir, "an anchor");
    if (anchor.buffer != a.buffer || anchor.strides != a.strides) broken(ir, "a window has one buffer and one walk");
    if ((a.row != 0 && !varies(a, ir.rank - 2)) || (a.column != 0 && !varies(a, ir.rank - 1)))
      broken(ir, "a shift along a dimension that does not move");
    if (a.phase >= ir.vector) broken(ir, "a phase");
  }
}

/// Sizes of tiles, and guards that a tile tests by rows and by columns.
void verify_tiles(const KernelIr& ir) {
  if (!ir.has_tiles()) return;
  if (ir.schedule == Schedule::Stencil) {
    if (ir.rank < 1 || ir.tile_rows < 1 || ir.tile_rows > 8 || ir.vector > 8 || (ir.rank == 1 && ir.tile_rows > 1))
      broken(ir, "a tile of up to 8 rows and 8 columns");
  } else {
    if (ir.cross < 0 || ir.cross + 1 >= ir.rank) broken(ir, "a dimension before the last one is crossed");
    if (ir.tile_rows % 8 != 0 || ir.vector > 4) broken(ir, "an edge of a tile");
    for (const Access& a : ir.accesses)
      if (a.store && a.strides.back() != StrideClass::One) broken(ir, "stores go along the last dimension");
  }
  for (const Guard& g : ir.guards)
    for (const GuardTerm& term : g.terms)
      if (varies(ir.accesses[term.access], ir.rank - 1) && varies(ir.accesses[term.access], ir.row_dimension()))
        broken(ir, "a guard's term varies along rows or along columns");
}

}  // namespace

int KernelIr::stages() const {
  int last = 0;
  for (const Instr& in : instrs) last = std::max<int>(last, in.stage);
  for (const Reduction& r : reductions) last = std::max<int>(last, r.stage);
  return last + 1;
}

void verify(const KernelIr& ir) {
  for (std::size_t i = 0; i < ir.instrs.size(); ++i) verify_instr(ir, i);
  verify_one_guard(ir);
  verify_windows(ir);
  verify_tiles(ir);
  for (const Access& a : ir.accesses) {
    if (static_cast<int>(a.strides.size()) != ir.rank) broken(ir, "an access has one stride per outer dimension");
    if (a.buffer != kNone && a.buffer >= ir.buffers.size()) broken(ir, "an access names no buffer");
  }
  if (ir.is_map() != ir.reductions.empty())
    broken(ir, "reductions belong to reduce schedules");
  if (ir.is_row() != (ir.stages() > 1)) broken(ir, "several stages belong to row schedules");
  for (const Reduction& r : ir.reductions) verify_reduction(ir, r);
}

std::string to_string(const KernelIr& ir) {
  std::string s =
      fmt::format("kernel {} {} rank {} vector {} index {}", text(ir.schedule),
                  ir.mode == Mode::Strict ? "strict" : "relaxed", ir.rank, ir.vector, ir.wide_index ? 64 : 32);
  if (ir.rows_class) s += fmt::format(" {} {}", ir.is_row() ? "blocks_per_row" : "warps_per_row", ir.rows_class);
  if (ir.tile_rows > 1) s += fmt::format(" rows {}", ir.tile_rows);
  if (ir.cross >= 0) s += fmt::format(" across {}", ir.cross);
  s += "\n";
  for (std::size_t i = 0; i < ir.buffers.size(); ++i)
    s += fmt::format("  buffer b{}: {}\n", i, info(ir.buffers[i]).suffix);
  for (std::size_t i = 0; i < ir.scalars.size(); ++i)
    s += fmt::format("  scalar s{}: {}\n", i, info(ir.scalars[i]).suffix);
  for (std::size_t i = 0; i < ir.accesses.size(); ++i) {
    const Access& a = ir.accesses[i];
    s += fmt::format("  access a{}: {} ", i, a.store ? "store" : "load");
    s += a.buffer == kNone ? "iota" : fmt::format("b{}", a.buffer);
    s += "[";
    for (StrideClass c : a.strides) s += text(c);
    if (!ir.is_map()) s += a.outer_only ? "|" : std::string("|") + text(a.reduced);
    s += a.aligned ? "] aligned" : "]";
    if (a.phase > 0) s += fmt::format(" past {}", a.phase);
    if (a.window != kNone && a.window != i) s += fmt::format(" = a{} {:+},{:+}", a.window, a.row, a.column);
    s += "\n";
  }
  for (std::size_t i = 0; i < ir.guards.size(); ++i) s += fmt::format("  guard g{}:{}\n", i, line(ir.guards[i]));
  for (std::size_t i = 0; i < ir.instrs.size(); ++i) s += line(ir, i);
  for (std::size_t i = 0; i < ir.reductions.size(); ++i) {
    const Reduction& r = ir.reductions[i];
    s += fmt::format("  reduce r{}: {} = {} %{}", i, info(r.dtype).suffix, graph::name(r.op), r.args[0]);
    if (r.op == Op::MomentsMerge) s += fmt::format(", %{} weight s{}", r.args[1], r.weight);
    if (r.stage > 0) s += fmt::format(" stage {}", r.stage);
    s += "\n";
  }
  return s;
}

std::vector<StateField> state_fields(const KernelIr& ir) {
  std::vector<StateField> fields;
  for (std::uint32_t i = 0; i < ir.reductions.size(); ++i) {
    const Reduction& r = ir.reductions[i];
    if (graph::output_count(r.op) == 2) {
      fields.push_back({i, "mean", r.dtype});
      fields.push_back({i, "m2", r.dtype});
    } else {
      fields.push_back({i, "value", r.dtype});
      if (graph::is_arg_reduce(r.op)) fields.push_back({i, "index", Dtype::Int64});
    }
  }
  return fields;
}

std::size_t state_bytes(const KernelIr& ir) {
  std::size_t at = 0;
  for (const StateField& f : state_fields(ir)) {
    const std::size_t size = itemsize(f.dtype);
    at = (at + size - 1) / size * size + size;
  }
  return (at + 7) / 8 * 8;
}

}  // namespace tarry::codegen
