// KernelIr: verifier, printer and the layout of reduction states.
#include "codegen/ir/kernel_ir.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/ir/steps.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

const char* text(Schedule s) {
  switch (s) {
    case Schedule::Pointwise: return "pointwise";
    case Schedule::ReduceSerial: return "reduce_serial";
    case Schedule::ReduceInner: return "reduce_inner";
    case Schedule::ReduceOuter: return "reduce_outer";
    case Schedule::ReduceCrossed: return "reduce_crossed";
    case Schedule::RowSerial: return "row_serial";
    case Schedule::RowInner: return "row_inner";
    case Schedule::Stencil: return "stencil";
    case Schedule::Planes: return "planes";
    case Schedule::Transpose: return "transpose";
    case Schedule::Steps: return "steps";
    case Schedule::ScanSerial: return "scan_serial";
    case Schedule::ScanInner: return "scan_inner";
    case Schedule::ScanTiles: return "scan_tiles";
    case Schedule::Contract: return "contract";
    case Schedule::ContractReduce: return "contract_reduce";
  }
  return "?";
}

const char* text(Region r) {
  switch (r) {
    case Region::Row: return "row";
    case Region::Point: return "point";
    case Region::Outer: return "outer";
    case Region::Loop: return "loop";
  }
  return "?";
}

char text(StrideClass c) { return c == StrideClass::Zero ? '0' : c == StrideClass::One ? '1' : '*'; }

std::string stage_text(int stage) { return stage > 0 ? fmt::format(".{}", stage) : std::string(); }

std::string line(const KernelIr& ir, std::size_t i) {
  const Instr& in = ir.instrs[i];
  const std::string number = in.region == Region::Loop ? std::to_string(in.loop) : stage_text(in.stage);
  std::string s = fmt::format("  {:5} ", text(in.region) + number);
  if (in.kind != InstrKind::Store) s += fmt::format("%{}: {} = ", i, info(in.dtype).suffix);
  switch (in.kind) {
    case InstrKind::Load:
      s += fmt::format("load a{}", in.index);
      if (in.guard != kNone) s += fmt::format(" if g{}", in.guard);
      break;
    case InstrKind::Scalar: s += fmt::format("scalar s{}", in.index); break;
    case InstrKind::Result: s += fmt::format("result r{}.{}", in.index, in.output); break;
    case InstrKind::Inside: s += fmt::format("inside g{}", in.index); break;
    case InstrKind::Fold: s += fmt::format("fold f{}", in.index); break;
    case InstrKind::Neighbour: s += fmt::format("%{} at {:+},{:+}", in.args[0], in.row, in.column); break;
    case InstrKind::Store: s += fmt::format("store a{}, %{}", in.index, in.args[0]); break;
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

/// The values that an instruction of `region` and `stage` may use.
bool visible(Region region, int stage, const Instr& used) {
  switch (region) {
    case Region::Row: return used.region == Region::Row;
    case Region::Point:
      return used.region == Region::Row || (used.region == Region::Point ? used.stage <= stage : used.stage < stage);
    case Region::Outer: return (used.region == Region::Row || used.region == Region::Outer) && used.stage <= stage;
    case Region::Loop: break;
  }
  return false;
}

/// The same of any instruction.
bool visible(const KernelIr& ir, const Instr& user, const Instr& used) {
  if (user.region != Region::Loop) return visible(user.region, user.stage, used);
  if (used.region == Region::Loop) return used.loop == user.loop;
  if (ir.is_contraction()) return used.kind == InstrKind::Scalar;
  return visible(ir.home_region(user), 0, used);
}

/// True if an instruction of `region` and `stage` runs where the last outer dimension has been reduced.
bool across(const KernelIr& ir, Region region, int stage) {
  return ir.is_crossed() && region == Region::Outer && stage == 1;
}

/// An access that instructions of `region` may load or store, or whose value a guard of theirs tests.
void verify_use(const KernelIr& ir, std::uint32_t access, Region region, int stage, const std::string& here,
                std::uint32_t loop = kNone) {
  if (access >= ir.accesses.size()) broken(ir, here + " names no access");
  const Access& a = ir.accesses[access];
  if (a.loop != loop) broken(ir, here + ": the loop of an access");
  if (a.outer_only != (region == Region::Outer && !across(ir, region, stage))) broken(ir, here + ": access region");
  if (across(ir, region, stage) && a.strides.back() != StrideClass::Zero)
    broken(ir, here + ": it moves along the dimension that is reduced");
  if (region == Region::Row && a.reduced != StrideClass::Zero)
    broken(ir, here + ": a row value varies along the reduced axis");
}

void verify_guard(const KernelIr& ir, std::uint32_t guard, Region region, int stage, const std::string& here) {
  if (guard >= ir.guards.size()) broken(ir, here + " names no guard");
  if (ir.guards[guard].terms.empty()) broken(ir, here + ": a guard without a term");
  for (const GuardTerm& term : ir.guards[guard].terms) {
    verify_use(ir, term.access, region, stage, here);
    if (ir.accesses[term.access].buffer != kNone) broken(ir, here + ": a guard tests an iota");
    if (term.extent >= ir.scalars.size() || ir.scalars[term.extent] != Dtype::Int64)
      broken(ir, here + ": an extent of a guard");
  }
}

void verify_memory(const KernelIr& ir, const Instr& in, const std::string& here) {
  verify_use(ir, in.index, ir.home_region(in), in.stage, here, in.loop);
  const Access& a = ir.accesses[in.index];
  if (a.store != (in.kind == InstrKind::Store)) broken(ir, here + ": access direction");
  const Dtype element = a.buffer == kNone ? Dtype::Int64 : ir.buffers.at(a.buffer);
  const Dtype value = in.kind == InstrKind::Load ? in.dtype : ir.instrs[in.args[0]].dtype;
  if (element != value || in.dtype != element) broken(ir, here + ": element type");
  if (in.kind == InstrKind::Store && a.buffer == kNone) broken(ir, here + " stores to an iota");
  if (in.guard == kNone) return;
  if (in.kind == InstrKind::Store || a.buffer == kNone) broken(ir, here + ": only a load of a buffer has a guard");
  verify_guard(ir, in.guard, in.region, in.stage, here);
}

void verify_result(const KernelIr& ir, const Instr& in, const std::string& here) {
  if (in.index >= ir.reductions.size() || in.region != (ir.is_scan() ? Region::Point : Region::Outer))
    broken(ir, here + ": result");
  const Reduction& r = ir.reductions[in.index];
  if (ir.is_scan() && in.stage <= r.stage) broken(ir, here + ": a result beside its scan");
  if (static_cast<int>(in.output) >= graph::output_count(r.op)) broken(ir, here + ": output of a reduction");
  if (in.dtype != (graph::is_arg_reduce(r.op) ? Dtype::Int64 : r.dtype)) broken(ir, here + ": dtype of a result");
  if (in.stage < r.stage) broken(ir, here + ": a result before its reduction");
}

/// Two dimensions, each by itself.
void verify_crossed(const KernelIr& ir) {
  if (ir.rank < 1 || ir.stages() != 2) broken(ir, "a crossed kernel reduces two dimensions");
  bool any[2] = {};
  for (const Reduction& r : ir.reductions) any[r.stage] = true;
  if (!any[0] || !any[1]) broken(ir, "a crossed kernel reduces both ways");
  for (const Instr& in : ir.instrs) {
    if (in.region == Region::Row && in.kind != InstrKind::Scalar)
      broken(ir, "row values of a crossed kernel are scalars");
    if (in.region == Region::Point && in.stage != 0) broken(ir, "points of a crossed kernel serve both ways");
    if (in.region != Region::Outer) continue;
    if (in.kind == InstrKind::Result && in.stage != ir.reductions[in.index].stage)
      broken(ir, "a result of the other way");
    for (const Value v : in.args)
      if (v != kNone && ir.instrs[v].region == Region::Outer && ir.instrs[v].stage != in.stage)
        broken(ir, "a value of the other way");
  }
  for (const Reduction& r : ir.reductions)
    for (const Value v : r.args)
      if (v != kNone && ir.instrs[v].region == Region::Outer) broken(ir, "a reduction of what the other way gives");
}

bool folds(Op op) { return op == Op::Sum || op == Op::Prod || op == Op::Min || op == Op::Max; }

/// A fold, where it is the first of its loop also that the loop has all it needs.
void verify_fold(const KernelIr& ir, Value at, const std::string& here) {
  const Instr& in = ir.instrs[at];
  if (in.index >= ir.folds.size() || in.region == Region::Loop) broken(ir, here + " names no fold");
  const Fold& f = ir.folds[in.index];
  const Instr& first = ir.instrs[ir.first_fold(f.loop)];
  if (in.region != first.region || in.stage != first.stage)
    broken(ir, here + ": the folds of a loop are in one region");
  if (!folds(f.op) || in.dtype != f.dtype || ir.instrs.at(f.arg).dtype != f.dtype) broken(ir, here + ": fold");
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (ir.instrs[v].loop == f.loop && v > at) broken(ir, here + " comes before its loop");
  Instr user = in;
  user.region = Region::Loop;
  user.loop = f.loop;
  if (f.arg >= at || !visible(ir, user, ir.instrs[f.arg])) broken(ir, here + ": what a fold takes");
}

void verify_loops(const KernelIr& ir) {
  for (std::uint32_t l = 0; l < ir.loops.size(); ++l) {
    if (ir.loops[l] >= ir.scalars.size() || ir.scalars[ir.loops[l]] != Dtype::Int64) broken(ir, "an extent of a loop");
    if (ir.first_fold(l) == kNone) broken(ir, "a loop without a result");
    if (ir.is_contraction() && ir.instrs[ir.first_fold(l)].region != Region::Point)
      broken(ir, "loops of tiles are at points");
  }
  for (const Fold& f : ir.folds)
    if (f.loop >= ir.loops.size()) broken(ir, "a fold names no loop");
  if ((ir.staged() || ir.is_crossed() || ir.has_tiles()) && !ir.loops.empty())
    broken(ir, "crossed, row, scan, stencil, transpose and steps schedules have no loops");
  if (ir.is_contraction() && (ir.loops.empty() || ir.rows_class < 4 || ir.rows_class > kLongestLoop))
    broken(ir, "tiles share what loops read");
  if (!ir.short_loops.empty() && (ir.short_loops.size() != ir.loops.size() || ir.is_contraction()))
    broken(ir, "short loops");
  if (ir.is_contraction() && ir.rank < (ir.schedule == Schedule::Contract ? 2 : 1))
    broken(ir, "tiles have two dimensions");
}

void verify_neighbour(const KernelIr& ir, const Instr& in, const std::string& here) {
  const Instr& of = ir.instrs[in.args[0]];
  if (ir.schedule != Schedule::Steps) broken(ir, here + ": only steps have neighbours");
  if (of.stage >= in.stage) broken(ir, here + ": a neighbour's value is of an earlier stage");
  if (of.dtype != in.dtype || of.kind == InstrKind::Scalar) broken(ir, here + ": what a neighbour has");
  if ((in.row == 0 && in.column == 0) || (in.row != 0 && ir.rank < 2)) broken(ir, here + ": where a neighbour is");
}

/// Loads come first, stores last; a thread reaches its neighbours' points, and a tile has some
/// left.
void verify_steps(const KernelIr& ir) {
  for (const Instr& in : ir.instrs) {
    if (in.kind == InstrKind::Load && ir.accesses[in.index].buffer != kNone && in.stage != 0)
      broken(ir, "steps load before they begin");
    if (in.kind == InstrKind::Store && in.stage + 1 != ir.stages()) broken(ir, "steps store when they are done");
    if (in.kind != InstrKind::Neighbour || ir.rows_class == 0) continue;
    if (std::abs(in.row) > ir.tile_rows || std::abs(in.column) > ir.vector)
      broken(ir, "a neighbour beyond the next thread");
  }
  if (ir.rank < 1 || ir.tile_rows < 1 || ir.tile_rows * std::max(ir.rows_class, 1) > 1024 ||
      (ir.rank == 1 && ir.tile_rows > 1))
    broken(ir, "rows of a tile of steps");
  if (ir.tile(ir.rank - 1) < 1 || (ir.rank > 1 && ir.tile(ir.rank - 2) < 1))
    broken(ir, "steps reach across the whole tile");
}

void verify_instr(const KernelIr& ir, std::size_t i) {
  const Instr& in = ir.instrs[i];
  const auto here = fmt::format("instruction {}", i);
  if (ir.is_scan() && in.region == Region::Outer) broken(ir, here + ": a scan has no outer instructions");
  if (ir.is_scan() && in.kind == InstrKind::Store && in.stage != 1)
    broken(ir, here + " stores before the scan is done");
  if (ir.is_map() && in.region != Region::Point && in.region != Region::Loop)
    broken(ir, here + ": a pointwise kernel has point instructions only");
  if ((in.region == Region::Loop) != (in.loop != kNone) || (in.loop != kNone && in.loop >= ir.loops.size()))
    broken(ir, here + ": its loop");
  if (in.loop != kNone &&
      (in.stage != 0 || in.guard != kNone || (in.kind != InstrKind::Load && in.kind != InstrKind::Compute)))
    broken(ir, here + ": a loop loads and computes");
  if (in.region == Region::Row && in.stage != 0) broken(ir, here + ": a row value has no stage");
  int arity = 0;
  if (in.kind == InstrKind::Compute) arity = graph::info(in.op).arity;
  if (in.kind == InstrKind::Store || in.kind == InstrKind::Neighbour) arity = 1;
  for (int k = 0; k < arity; ++k) {
    const Value v = in.args[static_cast<std::size_t>(k)];
    if (v >= i) broken(ir, here + " uses a later value");
    if (ir.instrs[v].kind == InstrKind::Store) broken(ir, here + " uses a store as a value");
    if (!visible(ir, in, ir.instrs[v])) broken(ir, here + " uses a value that it cannot see");
  }
  switch (in.kind) {
    case InstrKind::Load:
    case InstrKind::Store: return verify_memory(ir, in, here);
    case InstrKind::Scalar:
      if (in.index >= ir.scalars.size() || ir.scalars[in.index] != in.dtype) broken(ir, here + ": scalar");
      return;
    case InstrKind::Result: return verify_result(ir, in, here);
    case InstrKind::Inside:
      if (in.dtype != Dtype::Bool) broken(ir, here + ": inside is a bool");
      return verify_guard(ir, in.index, in.region, in.stage, here);
    case InstrKind::Fold: return verify_fold(ir, static_cast<Value>(i), here);
    case InstrKind::Neighbour: return verify_neighbour(ir, in, here);
    case InstrKind::Compute: return;
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
  if (graph::is_scan(r.op) != ir.is_scan() || (ir.is_scan() && r.stage != 0))
    broken(ir, "scans belong to scan schedules");
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
    if ((a.window != kNone) != (stencil && a.buffer != kNone && !a.store))
      broken(ir, "loads of a stencil have windows");
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
  if (ir.schedule == Schedule::Steps) {
    verify_steps(ir);
  } else if (ir.schedule == Schedule::Stencil) {
    if (ir.rank < 1 || ir.tile_rows < 1 || ir.tile_rows > 8 || ir.vector > 8 || (ir.rank == 1 && ir.tile_rows > 1))
      broken(ir, "a tile of up to 8 rows and 8 columns");
  } else if (ir.schedule == Schedule::Planes) {
    if (ir.cross < 0 || ir.cross + 1 >= ir.rank) broken(ir, "planes lie along a dimension before the last one");
    if (ir.tile_rows < 2 || ir.tile_rows > kMostPixelValues || ir.vector > 4)
      broken(ir, "a tile of few planes and up to 4 columns");
    return;
  } else {
    if ((ir.cross < 0 && ir.pixel < 0) || ir.cross + 1 >= ir.rank)
      broken(ir, "a dimension before the last one is crossed");
    const bool rows = ir.cross < 0 ? ir.tile_rows == 1
                                   : ir.tile_rows > 0 &&
                                         (ir.tile_rows % 8 == 0 || (ir.tile_rows + ir.transpose_rows_less()) % 8 == 0);
    if (!rows || ir.tile_columns % 8 != 0 || ir.vector > 4) broken(ir, "edges of a tile");
    if (ir.sector != 0 && (ir.sector < ir.vector || (ir.sector & (ir.sector - 1)) != 0 ||
                           ir.columns_before() > ir.tile_columns || ir.tile_columns * ir.row_values() % ir.sector != 0))
      broken(ir, "elements of a sector");
    if ((ir.pixel >= 0) != (ir.pixel_values > 1) || ir.pixel + 1 >= ir.rank ||
        (ir.pixel >= 0 && ir.pixel == ir.cross) || ir.pixel_values > kMostPixelValues)
      broken(ir, "a pixel has few values");
    for (const Access& a : ir.accesses) {
      if (a.pixels_along >= 0 && (ir.pixel < 0 || (a.pixels_along != ir.cross && a.pixels_along != ir.rank - 1)))
        broken(ir, "pixels lie along rows or along columns");
      if (a.store && a.strides.back() != StrideClass::One && a.pixels_along != ir.rank - 1)
        broken(ir, "stores go along the last dimension");
    }
  }
  for (const Guard& g : ir.guards)
    for (const GuardTerm& term : g.terms)
      if (varies(ir.accesses[term.access], ir.rank - 1) && varies(ir.accesses[term.access], ir.row_dimension()))
        broken(ir, "a guard's term varies along rows or along columns");
}

}  // namespace

bool KernelIr::has_moments() const {
  return std::any_of(reductions.begin(), reductions.end(),
                     [](const Reduction& r) { return graph::output_count(r.op) == 2; });
}

std::size_t KernelIr::point_bytes() const {
  std::size_t bytes = 0;
  for (const Access& a : accesses)
    if (streams(a))
      bytes +=
          itemsize(buffers[a.buffer]) * static_cast<std::size_t>(a.loop == kNone ? 1 : std::max(1, steps_of(a.loop)));
  return bytes;
}

bool KernelIr::has_narrow_lanes() const {
  if ((schedule != Schedule::ReduceInner && schedule != Schedule::ReduceOuter) || reductions.empty()) return false;
  return std::all_of(reductions.begin(), reductions.end(), [&](const Reduction& r) {
    if (r.op != Op::Sum || is_floating(r.dtype)) return false;
    const Instr& in = instrs[r.args[0]];
    if (in.kind != InstrKind::Compute || in.op != Op::Cast) return false;
    const Dtype from = instrs[in.args[0]].dtype;
    return !is_floating(from) && itemsize(from) <= 2;
  });
}

Dtype KernelIr::lane_dtype(std::size_t reduction) const {
  // Signed also where the sum is not: int8 added up as uint64 wraps.
  return has_narrow_lanes() ? Dtype::Int32 : reductions[reduction].dtype;
}

int KernelIr::stages() const {
  int last = 0;
  for (const Instr& in : instrs) last = std::max<int>(last, in.stage);
  for (const Reduction& r : reductions) last = std::max<int>(last, r.stage);
  return last + 1;
}

Value KernelIr::first_fold(std::uint32_t loop) const {
  for (Value v = 0; v < instrs.size(); ++v)
    if (instrs[v].kind == InstrKind::Fold && instrs[v].index < folds.size() && folds[instrs[v].index].loop == loop)
      return v;
  return kNone;
}

std::uint32_t KernelIr::narrowest_store() const {
  std::uint32_t found = kNone;
  for (std::uint32_t a = 0; a < accesses.size(); ++a)
    if (accesses[a].store &&
        (found == kNone || itemsize(buffers[accesses[a].buffer]) < itemsize(buffers[accesses[found].buffer])))
      found = a;
  return found;
}

std::int64_t KernelIr::tiles(int dimension, std::int64_t extent) const {
  if (sector > 0 && dimension == rank - 1) extent += columns_before();
  return (extent + tile(dimension) - 1) / tile(dimension);
}

int KernelIr::transpose_threads() const {
  constexpr int kMany = 4096;
  std::size_t narrowest = 4;
  for (std::uint32_t a = 0; a < accesses.size(); ++a)
    if (crosses(a)) narrowest = std::min(narrowest, itemsize(buffers[accesses[a].buffer]));
  const bool one_by_one = pixel < 0 || (vector == 1 && narrowest >= 4 && !stores_pixels());
  const bool begin_anywhere =
      sector > 0 && stores_pixels() && pixel_values == 3 && narrowest == 1;  // many columns before a tile's
  return (one_by_one || begin_anywhere) && tile_rows * tile_columns * pixel_values >= kMany ? 512 : 256;
}

int KernelIr::transpose_rows_less() const {
  int less = 0;
  for (std::uint32_t a = 0; a < accesses.size(); ++a) {
    const int word = accesses[a].buffer != kNone && !accesses[a].store && crosses(a) && !accesses[a].aligned
                         ? 4 / static_cast<int>(itemsize(buffers[accesses[a].buffer]))
                         : 0;
    const int values = accesses[a].pixels_along >= 0 ? pixel_values : 1;
    if (word > 1) less = std::max(less, (word + values - 1) / values);
  }
  return less;
}

int KernelIr::transpose_registers() const {
  const int elements = tile_rows * tile_columns * pixel_values / transpose_threads();
  int sum = 0;
  for (std::uint32_t i = 0; i < accesses.size(); ++i) {
    const Access& a = accesses[i];
    if (a.buffer != kNone && !a.store)
      sum += elements * std::max(static_cast<int>(itemsize(buffers[a.buffer])), a.aligned || crosses(i) ? 1 : 4) / 4;
  }
  return sum;
}

void verify(const KernelIr& ir) {
  verify_loops(ir);
  for (std::size_t i = 0; i < ir.instrs.size(); ++i) verify_instr(ir, i);
  verify_one_guard(ir);
  verify_windows(ir);
  verify_tiles(ir);
  for (const Access& a : ir.accesses) {
    if (static_cast<int>(a.strides.size()) != ir.rank) broken(ir, "an access has one stride per outer dimension");
    if (a.buffer != kNone && a.buffer >= ir.buffers.size()) broken(ir, "an access names no buffer");
  }
  if (ir.is_map() != ir.reductions.empty()) broken(ir, "reductions belong to reduce schedules");
  // RowInner has one stage where a short row is reduced by part of a warp.
  const bool staged = ir.staged() || ir.is_crossed() || ir.schedule == Schedule::Steps;
  if (ir.stages() > 1 ? !staged : staged && ir.schedule != Schedule::RowInner)
    broken(ir, "several stages belong to crossed, row, scan and steps schedules");
  const bool lanes = ir.schedule == Schedule::ReduceInner || ir.schedule == Schedule::RowInner;
  if (ir.interleaved &&
      (!lanes || ir.vector != 4 ||
       std::any_of(ir.accesses.begin(), ir.accesses.end(), [](const Access& a) { return a.aligned; })))
    broken(ir, "interleaved items are no vectors");
  if (!std::has_single_bit(static_cast<unsigned>(ir.vector)) &&
      std::any_of(ir.accesses.begin(), ir.accesses.end(), [](const Access& a) { return a.aligned; }))
    broken(ir, "a vector of which memory has parts");
  if (ir.half_block && (ir.schedule != Schedule::RowInner || ir.rows_class != 1 || ir.interleaved))
    broken(ir, "half a tree block is a row in registers of a few lanes");
  if (ir.is_scan() && ir.stages() != 2) broken(ir, "a scan has two stages");
  if (ir.is_crossed()) verify_crossed(ir);
  for (const Reduction& r : ir.reductions) verify_reduction(ir, r);
}

std::string to_string(const KernelIr& ir) {
  std::string s =
      fmt::format("kernel {} {} rank {} vector {} index {}", text(ir.schedule),
                  ir.mode == Mode::Strict ? "strict" : "relaxed", ir.rank, ir.vector, ir.wide_index ? 64 : 32);
  const bool serial = ir.schedule == Schedule::ReduceSerial || ir.schedule == Schedule::RowSerial;
  if (ir.rows_class)
    s += fmt::format(" {} {}",
                     serial                                 ? "elements_per_row"
                     : ir.is_row()                          ? "blocks_per_row"
                     : ir.is_contraction()                  ? "loop_class"
                     : ir.schedule == Schedule::Steps       ? "warps"
                     : ir.schedule == Schedule::ReduceOuter ? "columns"
                                                            : "warps_per_row",
                     ir.rows_class);
  if (ir.interleaved) s += " interleaved";
  if (ir.half_block) s += " half";
  if (ir.tile_rows > 1) s += fmt::format(" rows {}", ir.tile_rows);
  if (ir.tile_columns > 1) s += fmt::format(" columns {}", ir.tile_columns);
  if (ir.sector > 0) s += fmt::format(" sector {}", ir.sector);
  if (ir.cross >= 0) s += fmt::format(" across {}", ir.cross);
  if (ir.pixel >= 0) s += fmt::format(" pixels {} of {}", ir.pixel, ir.pixel_values);
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
    if (a.loop != kNone) s += fmt::format("~{}", text(a.step));
    s += a.aligned ? "] aligned" : "]";
    if (a.pixels_along >= 0) s += fmt::format(" pixels along {}", a.pixels_along);
    if (a.phase > 0) s += fmt::format(" past {}", a.phase);
    if (a.window != kNone && a.window != i) s += fmt::format(" = a{} {:+},{:+}", a.window, a.row, a.column);
    s += "\n";
  }
  for (std::size_t i = 0; i < ir.guards.size(); ++i) s += fmt::format("  guard g{}:{}\n", i, line(ir.guards[i]));
  for (std::size_t l = 0; l < ir.loops.size(); ++l)
    s += fmt::format("  loop l{} < s{}{}\n", l, ir.loops[l],
                     ir.steps_of(l) > 0 ? fmt::format(" = {}", ir.steps_of(l)) : "");
  for (std::size_t i = 0; i < ir.instrs.size(); ++i) s += line(ir, i);
  for (std::size_t i = 0; i < ir.folds.size(); ++i) {
    const Fold& f = ir.folds[i];
    s += fmt::format("  fold f{}: {} = {} %{} in l{}\n", i, info(f.dtype).suffix, graph::name(f.op), f.arg, f.loop);
  }
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

namespace {

template <class Wanted>
std::size_t bytes_of(const KernelIr& ir, const Wanted& wanted) {
  std::size_t at = 0;
  for (const StateField& f : state_fields(ir)) {
    if (!wanted(ir.reductions[f.reduction])) continue;
    const std::size_t size = itemsize(f.dtype);
    at = (at + size - 1) / size * size + size;
  }
  return (at + 7) / 8 * 8;
}

}  // namespace

std::size_t state_bytes(const KernelIr& ir) {
  return bytes_of(ir, [](const Reduction&) { return true; });
}

std::size_t state_bytes(const KernelIr& ir, int stage) {
  return bytes_of(ir, [stage](const Reduction& r) { return r.stage == stage; });
}

}  // namespace tarry::codegen
