// CUDA C: the device functions of a kernel, and the skeleton of pointwise kernels.
#include "codegen/cuda/render.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "support/check.h"

namespace tarry::codegen {

KernelSource render_cuda(const KernelIr& ir, const graph::Target& target) {
  TARRY_ASSERT(target.is_cuda());
  using namespace cuda;
  using Renderer = KernelSource (*)(const KernelIr&, const graph::Target&);
  static constexpr Renderer kRenderers[] = {
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, c_render, c_geometry, render, ...) render,
#include "codegen/ir/schedules.def"
  };
  return kRenderers[ir.layout.index()](ir, target);
}

namespace cuda {
int items(const KernelIr& ir) {
  if (ir.is_contraction()) return ir.is_map() ? kTileItems : kTileLanes;
  if (ir.schedule() == Schedule::ReduceOuter) return outer_tile(ir).items;
  if (ir.has(trait::kLanes)) return std::max(ir.vector(), kInnerItems);
  if (ir.schedule() == Schedule::ReduceSerial) return ir.vector();
  if (along_row(ir)) return kInnerItems;
  return ir.is_map() ? ir.vector() : 1;
}

int serial_tile(const KernelIr& ir) {
  const auto* serial = std::get_if<ReduceSerialLayout>(&ir.layout);
  return serial ? serial->rows : 1;
}

Template::Template(const KernelIr& ir, const Stage& stage, std::vector<std::pair<std::string, std::string>> more)
    : stores_(stage.stores),
      draws_(stage.draws),
      rolled_(stage.rolled),
      brief_(stage.brief),
      replacements_(std::move(more)) {
  const bool narrow = ir.has_narrow_lanes();
  replacements_.emplace_back("$lane", narrow ? "$S_lane" : "$S_state");
  replacements_.emplace_back("$widen", narrow ? "$S_widen" : "");
  replacements_.emplace_back(
      "$S", ir.staged() || ir.is_row_column() ? fmt::format("$N_{}", stage.number) : std::string("$N"));
  replacements_.emplace_back("$N", std::string(kEntryName));
  replacements_.emplace_back("$K", ir.wide_index ? "tarry_i64" : "int");
  replacements_.emplace_back("$O", ir.wide_index ? "tarry_i64" : "tarry_u32");
  replacements_.emplace_back("$W", std::to_string(items(ir)));
  replacements_.emplace_back("$total", "p.n");
  replacements_.emplace_back("$once", stage.rolled ? " 1" : "");
  replacements_.emplace_back("$s", stage.rolled ? "0" : "s");
}

bool Template::is_there(char kind) const {
  switch (kind) {
    case 'S': return stores_;
    case 'D': return draws_;
    case 'R': return rolled_;
    case 'U': return !rolled_;
    case 'B': return brief_;
    default: TARRY_ASSERT(kind == 'W'); return !brief_;
  }
}

std::string Template::fill(std::string_view text) const {
  std::string filled;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with('@')) {
      const char kind = line[1];
      if (!is_there(kind)) continue;
      line.remove_prefix(2);
    }
    filled += line;
  }
  for (const auto& [what, by] : replacements_) replace_all(filled, what, by);
  return filled;
}

Functions::Functions(const KernelIr& ir, const StagePlan& plan)
    : ir_(ir),
      plan_(plan),
      items_(items(ir)),
      item_(ir.striped() ? fmt::format("j * {}", kTreeBlock) : std::string("j")),
      held_(ir.schedule() == Schedule::ReduceSerial ? held_loops(ir) : std::vector<HeldLoop>(ir.loops.size())),
      expressions_(ir) {}

std::string Functions::shared_text() {
  types();
  place();
  if (!ir_.checks.empty()) index();
  if (!ir_.is_map()) begin();
  hold();
  return out_.take();
}

std::string Functions::stage_text(const Stage& stage) {
  stage_ = &stage;
  for (const bool store : {false, true}) {
    if (store && !stage.stores) continue;
    moved(store);
    move(store);
  }
  if (stage.draws) draw();
  point();
  if (!ir_.is_map() && !ir_.is_scan()) finish();
  return Template(ir_, stage).fill(out_.take());
}

/// How an access moves from one item of a thread to the next.
StrideClass Functions::item_class(std::uint32_t access) const {
  const Access& a = ir_.accesses[access];
  if (along_row(ir_)) return a.outer_only ? StrideClass::Zero : a.reduced;
  return a.strides.empty() ? StrideClass::Zero : a.strides.back();
}

bool Functions::vector_access(std::uint32_t access) const {
  return items_ > 1 && ir_.vector() > 1 && ir_.accesses[access].aligned && item_class(access) == StrideClass::One;
}

/// Offset of item j at index k along the reduced axis, from where `place` put the access.
std::string Functions::element(std::uint32_t access, Region region) const {
  if (along_row(ir_) && region == Region::Point)
    return reduced_offset(ir_, access, fmt::format("(k + {})", item_), "p.");
  if (along_row(ir_)) return ir_.is_row_column() && stage_->number == 1 ? reduced_offset(ir_, access, "k", "p.") : "0";
  std::string item = "0";
  if (items_ > 1 && region != Region::Outer && item_class(access) != StrideClass::Zero) {
    std::vector<std::string> indices(static_cast<std::size_t>(ir_.rank), "0");
    indices.back() = "j";
    item = outer_offset(ir_, access, indices, "p.");
  }
  const bool along = region == Region::Point && !ir_.is_map();
  return sum_text(item, along ? reduced_offset(ir_, access, "k", "p.") : "0");
}

bool shares_block(const KernelIr& ir, Value v) {
  const Instr& in = ir.instrs[v];
  const bool along = has_single_points(ir) || ir.schedule() == Schedule::ReduceOuter || draws_late(ir);
  if (in.kind != InstrKind::Compute || in.op != Op::RandomBits || in.region != Region::Point || !along ||
      items(ir) == 1)
    return false;
  return is_iota(ir, in.args[0]) && ir.accesses[ir.instrs[in.args[0]].index].aligned;
}

std::vector<Value> Functions::draws() const {
  std::vector<Value> found;
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (stage_->runs[v] && shares_block(ir_, v)) found.push_back(v);
  return found;
}

void Functions::draw() {
  out_.open("__device__ __forceinline__ void $S_draw(const $N_params& p, const $N_at& t, $K k, $S_loads& x)");
  for (const Value v : draws()) draw(v);
  out_.close();
}

/// The words of a draw for all items. The last thread block of a pointwise kernel has single points anywhere.
void Functions::draw(Value v) {
  const Instr& in = ir_.instrs[v];
  const std::uint32_t access = ir_.instrs[in.args[0]].index;
  const std::string along = ir_.is_map() ? "0" : reduced_offset(ir_, access, "k", "p.");
  // Where offsets are narrow, so are numbers: the upper word of a block's is zero.
  const std::string number = fmt::format("({})({})", ir_.wide_index ? "tarry_u64" : "tarry_u32",
                                         sum_text(fmt::format("t.o{}", access), along));
  const std::string stream =
      fmt::format("{}, {}", operand(in.args[1], Region::Point), operand(in.args[2], Region::Point));
  const char* word = info(in.dtype).suffix;
  const std::string whole =
      expressions_.call(fmt::format("tarry_words_{}", word), fmt::format("x.d{}, $W, {}, {}", v, number, stream));
  if (!ir_.is_map()) return out_.line(whole + ";");
  out_.line(fmt::format("if (m >= $W) {};", whole));
  out_.line(
      fmt::format("else x.d{}[0] = {};", v,
                  expressions_.call(fmt::format("tarry_random_bits_{}", word), fmt::format("{}, {}", number, stream))));
}

/// True if a guard holds at item j: one unsigned comparison per term. Where offsets are narrow, so are coordinates.
std::string Functions::guard(std::uint32_t index, Region region) const {
  const char* word = ir_.wide_index ? "tarry_u64" : "tarry_u32";
  std::string all;
  for (const GuardTerm& term : ir_.guards[index].terms) {
    const std::string at = sum_text(fmt::format("t.o{}", term.access), element(term.access, region));
    all += fmt::format("{}(({})({}) < ({})p.{})", all.empty() ? "" : " & ", word, at, word,
                       slot_name({SlotKind::Scalar, term.extent}));
  }
  return all.empty() ? "1" : all;
}

std::string Functions::operand(Value v, Region user) const {
  const Instr& in = ir_.instrs[v];
  if (in.region == Region::Loop) return value_name(v);
  if (in.kind == InstrKind::Scalar) return "p." + slot_name({SlotKind::Scalar, in.index});
  const bool row = ir_.staged(),
             here = in.region == user && (!row || user != Region::Outer || outer_stage(ir_, v) == stage_->number);
  if (in.region == Region::Row && (user == Region::Point || (row && user == Region::Outer)))
    return "r." + value_name(v);
  if (in.region == Region::Outer && !here) return "o." + value_name(v);
  const bool held =
      row && user == Region::Point && std::find(stage_->held.begin(), stage_->held.end(), v) != stage_->held.end();
  return (held ? "h." : "") + value_name(v);
}

std::string Functions::Member::name() const { return fmt::format("a{}", access); }

Functions::Member Functions::load_member(const Instr& in) const {
  return {in.index, in.guard, in.guard == kNone && item_class(in.index) == StrideClass::Zero};
}

/// Accesses of the stage's points to memory, each once.
std::vector<Functions::Member> Functions::members(bool store) const {
  std::vector<Member> found;
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const Instr& in = ir_.instrs[v];
    if (!stage_->runs[v] || in.kind != (store ? InstrKind::Store : InstrKind::Load) ||
        ir_.accesses[in.index].buffer == kNone)
      continue;
    const Member member = store ? Member{in.index, kNone, false} : load_member(in);
    if (std::find(found.begin(), found.end(), member) == found.end()) found.push_back(member);
  }
  return found;
}

void Functions::types() {
  std::vector<Dtype> dtypes;
  for (const Instr& in : ir_.instrs) {
    const bool moves = in.region == Region::Point && (in.kind == InstrKind::Load || in.kind == InstrKind::Store);
    if (moves && ir_.accesses[in.index].buffer != kNone) dtypes.push_back(element_type(in.index));
  }
  std::sort(dtypes.begin(), dtypes.end());
  dtypes.erase(std::unique(dtypes.begin(), dtypes.end()), dtypes.end());
  for (const Dtype dtype : dtypes) {
    // A vector access is as wide as the schedule's alignment allows, and never wider than 16 bytes.
    const auto together = static_cast<unsigned>(std::min(ir_.vector(), items_));
    const std::size_t alignment =
        std::min<std::size_t>(16, itemsize(dtype) * (std::has_single_bit(together) ? together : 1));
    out_.line(fmt::format("struct alignas({}) $N_{} {{ {} v[$W]; }};", alignment, info(dtype).suffix, c_type(dtype)));
    if (packs(dtype))
      out_.line(fmt::format("struct alignas({}) $N_{}_words {{ tarry_u32 w[{}]; }};", alignment, info(dtype).suffix,
                            static_cast<std::size_t>(items_) * itemsize(dtype) / 4));
  }
}

void Functions::place() {
  const auto rank = static_cast<std::size_t>(ir_.rank);
  out_.open("struct $N_at");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const Access& access = ir_.accesses[a];
    if (access.gathered || access.faults) continue;  // the parameter itself
    if (access.buffer == kNone)
      out_.line(fmt::format("tarry_i64 o{};", a));
    else
      out_.line(fmt::format("{}{}* a{};", access.store ? "" : "const ", c_type(ir_.buffers[access.buffer]), a));
  }
  if (serial_tile(ir_) > 1) out_.line("int rows;  // from here on, that the thread has");
  out_.close(";");
  // A tile's dimensions come as they are, only what lies around them is one number.
  std::vector<std::string> indices(rank, "i");
  std::size_t flat = rank;
  std::string apart;
  for (const char* index : {"x", "y"}) {
    const bool tiled = ir_.is_contraction() || ir_.is_row_column();
    if (!tiled || (!ir_.is_map() && *index == 'x')) continue;
    indices[--flat] = index;
    apart = fmt::format(", $K {}{}", index, apart);
  }
  out_.open(fmt::format("__device__ __forceinline__ $N_at $N_place(const $N_params& p, $O i{})", apart));
  for (std::size_t d = flat; d-- > 1;) {
    if (ir_.wide_index)
      out_.line(fmt::format("const $O q{0} = i / p.e{0};", d));
    else
      out_.line(fmt::format("const $O q{0} = (__umulhi((tarry_u32)p.m{0}, i) + i) >> (tarry_u32)(p.m{0} >> 32);", d));
    out_.line(fmt::format("const $O i{0} = i - q{0} * ($O)p.e{0};", d));
    out_.line(fmt::format("i = q{};", d));
    indices[d] = fmt::format("i{}", d);
  }
  const int rows = serial_tile(ir_);
  if (rows > 1) out_.line(fmt::format("i *= {};", rows));
  out_.line("$N_at t;");
  if (rows > 1) out_.line(fmt::format("t.rows = p.e0 - (tarry_i64)i < {0} ? (int)(p.e0 - (tarry_i64)i) : {0};", rows));
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    if (ir_.accesses[a].gathered || ir_.accesses[a].faults) continue;
    const std::string name = slot_name({ir_.accesses[a].buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer, a});
    out_.line(fmt::format("t.{0} = {1};", name, sum_text("p." + name, outer_offset(ir_, a, indices, "p."))));
  }
  out_.line("return t;");
  out_.close();
  if (serial_tile(ir_) > 1) next_row();
}

/// From a thread's row to the next one, along the first dimension.
void Functions::next_row() {
  std::vector<std::string> indices(static_cast<std::size_t>(ir_.rank), "0");
  indices[0] = "1";
  out_.open("__device__ __forceinline__ void $N_next(const $N_params& p, $N_at& t)");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const Access& access = ir_.accesses[a];
    if (access.gathered || access.faults || access.strides[0] == StrideClass::Zero) continue;
    out_.line(fmt::format("t.{}{} += {};", access.buffer == kNone ? "o" : "a", a, outer_offset(ir_, a, indices, "p.")));
  }
  out_.close();
}

/// A struct of values.
void Functions::values(const char* type, const std::vector<Value>& values) {
  std::string fields;
  for (const Value v : values) fields += fmt::format(" {} {};", c_type(ir_.instrs[v].dtype), value_name(v));
  out_.line(fmt::format("struct {} {{{} }};", type, fields));
}

/// Row values that other regions use. Without stages `finish` computes those for Outer instructions itself.
std::vector<Value> Functions::row_values() const {
  std::vector<Value> used;
  auto use = [&](Value v) {
    if (v == kNone || ir_.instrs[v].region != Region::Row || ir_.instrs[v].kind == InstrKind::Scalar) return;
    if (std::find(used.begin(), used.end(), v) == used.end()) used.push_back(v);
  };
  for (const Instr& in : ir_.instrs) {
    const bool reads = arity(in) > 0 || in.kind == InstrKind::Store;
    const bool outer = in.region == Region::Outer || in.kind == InstrKind::Store,
               point = ir_.home_region(in) == Region::Point;
    if (reads && (point || (ir_.staged() && outer)))
      for (const Value v : in.args) use(v);
    if (in.kind == InstrKind::Fold && point) use(ir_.folds[in.index].arg);
  }
  for (const Reduction& r : ir_.reductions)
    for (const Value v : r.args) use(v);
  return used;
}

void Functions::begin() {
  const std::vector<Value> used = row_values();
  values("$N_row", used);
  out_.open("__device__ __forceinline__ $N_row $N_begin(const $N_params& p, const $N_at& t, int j)");
  bool checks = false;
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    checks = checks || (ir_.instrs[v].region == Region::Row && only_checks(ir_, v));
  if (checks || !used.empty()) instructions(Region::Row, false);
  out_.line("$N_row r;");
  for (const Value v : used) out_.line(fmt::format("r.{0} = {0};", value_name(v)));
  out_.line("return r;");
  out_.close();
  if (ir_.staged()) values("$N_outer", plan_.carried);
  if (ir_.staged() || !plan_.kept.empty())
    values("$N_kept", plan_.kept);
  else if (ir_.is_row_column())
    out_.line("struct $N_kept { int nothing; };");
}

/// Loads and computations of a region as statements. `alone`: one thread stands for the outer index and stores; it has
/// placed the accesses at that index.
void Functions::instructions(Region region, bool alone) {
  const bool staged = (ir_.staged() || ir_.is_row_column()) && region == Region::Outer;
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const Instr& in = ir_.instrs[v];
    if (in.region != region || in.kind == InstrKind::Scalar || (region == Region::Point && !stage_->runs[v])) continue;
    if (staged && outer_stage(ir_, v) != stage_->number) continue;
    const std::string head = fmt::format("const {} {} = ", c_type(in.dtype), value_name(v));
    const Region placed = alone ? Region::Outer : region;
    const bool moves = in.kind == InstrKind::Load || in.kind == InstrKind::Store;
    const std::string at = moves ? element(in.index, placed) : std::string();
    switch (in.kind) {
      case InstrKind::Load: load(v, placed, at); break;
      case InstrKind::Compute: {
        if (shares_block(ir_, v)) {
          out_.line(fmt::format("{}x.d{}[j];", head, v));
          break;
        }
        std::vector<std::string> operands;
        for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i)
          operands.push_back(operand(in.args[i], region));
        if (in.op == Op::RandomBits && is_iota(ir_, in.args[0]) && !ir_.wide_index)
          operands[0] = "(tarry_u32)" + operands[0];
        out_.line(fmt::format("{}{};", head, expressions_.compute(v, operands)));
        break;
      }
      case InstrKind::Result: {
        static constexpr const char* kParts[] = {"_mean", "_m2"};
        const Op op = ir_.reductions[in.index].op;
        const char* part = graph::output_count(op) == 2 ? kParts[in.output] : graph::is_arg_reduce(op) ? "_index" : "";
        out_.line(fmt::format("{}s.r{}{};", head, in.index, part));
        break;
      }
      case InstrKind::Store:
        if (alone || region == Region::Point) store(v, region, at);
        break;
      case InstrKind::Inside: out_.line(fmt::format("{}{};", head, guard(in.index, placed))); break;
      case InstrKind::Index:
      case InstrKind::Gather: out_.line(fmt::format("{}{};", head, at_place(in, region, placed))); break;
      case InstrKind::Fold:
        if (ir_.is_contraction())
          out_.line(fmt::format("{}f.f{};", head, in.index));
        else if (const std::uint32_t loop = ir_.folds[in.index].loop; ir_.first_fold(loop) == v)
          fold_loop(loop, region, placed);
        break;
      case InstrKind::Neighbour:
      case InstrKind::Carried:
      case InstrKind::While:
      case InstrKind::Last:
      case InstrKind::Number:
      case InstrKind::Keep:
      case InstrKind::Kept:
      case InstrKind::Earlier:
      case InstrKind::Later:
      case InstrKind::Scalar: break;
    }
  }
}

bool Functions::indexed() const {
  return std::any_of(stage_->reductions.begin(), stage_->reductions.end(),
                     [&](std::uint32_t i) { return graph::is_arg_reduce(ir_.reductions[i].op); });
}

/// The struct of what the stage's reductions take.
void Functions::taken() {
  std::string fields;
  for (const std::uint32_t i : stage_->reductions) {
    const Reduction& r = ir_.reductions[i];
    fields += fmt::format(" {} x{};", c_type(ir_.lane_dtype(i)), i);
    if (r.op == Op::MomentsMerge) fields += fmt::format(" {} x{}_m2;", c_type(r.dtype), i);
  }
  if (indexed()) fields += " $K at;";
  out_.line(fmt::format("struct $S_inputs {{{} }};", fields));
}

/// That struct's values; `name` says how one is called here.
void Functions::take(const std::function<std::string(Value)>& name, std::string_view at) {
  out_.line("$S_inputs in;");
  for (const std::uint32_t i : stage_->reductions) {
    const Reduction& r = ir_.reductions[i];
    const Dtype dtype = ir_.lane_dtype(i);
    const std::string cast = dtype == r.dtype ? std::string() : fmt::format("({})", c_type(dtype));
    out_.line(fmt::format("in.x{} = {}{};", i, cast, name(r.args[0])));
    if (r.op == Op::MomentsMerge) out_.line(fmt::format("in.x{}_m2 = {};", i, name(r.args[1])));
  }
  if (indexed()) out_.line(fmt::format("in.at = {};", at));
  out_.line("return in;");
}

void Functions::point() {
  const bool reduces = !ir_.is_map(), row = ir_.staged();
  if (reduces) taken();
  out_.open(
      fmt::format("__device__ __forceinline__ {} $S_point(const $N_params& p, const $N_at& t{}{}, const $S_loads& x, "
                  "int j{}{}{}{}{})",
                  reduces ? "$S_inputs" : "void", reduces ? ", const $N_row& r" : "", row ? ", const $N_outer& o" : "",
                  reduces ? ", $K k" : "", stage_->stores ? ", $S_stores& y" : "", row ? ", $N_kept& h" : "",
                  holds() ? ", const $N_held& h" : "",
                  ir_.is_row_column()                    ? ", $N_kept& h, $K row"
                  : ir_.is_scan() && stage_->number == 1 ? ", const $N_0_state& s"
                  : ir_.is_contraction()                 ? ", const $N_folds& f"
                                                         : ""));
  instructions(Region::Point, false);
  for (const Value v : stage_->keeps) out_.line(fmt::format("h.{0} = {0};", value_name(v)));
  if (reduces)
    take([&](Value v) { return operand(v, Region::Point); }, ir_.is_row_column() ? "row"
                                                             : along_row(ir_)    ? "k + " + item_
                                                                                 : "k");
  out_.close();
}

void Functions::finish() {
  if (!ir_.staged()) {
    out_.open(fmt::format(
        "__device__ __forceinline__ void $S_finish(const $N_params& p, const $N_at& t{}, const $S_state& s)",
        ir_.is_row_column() && stage_->number == 1 ? ", $K k" : ""));
    instructions(Region::Row, true);
    instructions(Region::Outer, true);
    out_.close();
    return;
  }
  out_.open(
      "__device__ __forceinline__ void $S_finish(const $N_params& p, const $N_at& t, const $N_row& r, const $S_state& "
      "s, bool leader, $N_outer& o)");
  for (Value v = 0; v < ir_.instrs.size() && stage_->number == 0; ++v)
    if (ir_.instrs[v].region == Region::Row && ir_.instrs[v].kind == InstrKind::Store)
      store(v, Region::Outer, element(ir_.instrs[v].index, Region::Outer));
  instructions(Region::Outer, true);
  for (const Value v : plan_.carried)
    if (outer_stage(ir_, v) == stage_->number) out_.line(fmt::format("o.{0} = {0};", value_name(v)));
  out_.close();
}

namespace {

/// One vector per thread, or four points at a distance of the thread block's width, so that a warp always touches
/// neighbouring addresses; all loads come before the first store. The last thread block goes point by point.
constexpr std::string_view kPointwise = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 first = (tarry_i64)blockIdx.x * ($G * 256 * $W);
  if (p.count - first >= $G * 256 * $W) {
    $N_at t[$G];
    $S_loads x[$G];
#pragma unroll
    for (int g = 0; g < $G; ++g) {
      t[g] = $N_place(p, ($O)first + ($O)((g * 256 + threadIdx.x) * $W));
      $S_load(p, t[g], $W, x[g]);
    }
#pragma unroll
    for (int g = 0; g < $G; ++g) {
      $S_stores y;
#pragma unroll
      for (int j = 0; j < $W; ++j) $S_point(p, t[g], x[g], j, y);
      $S_store(p, t[g], $W, y);
    }
  } else {
#pragma unroll 1
    for (tarry_i64 i = first + threadIdx.x; i < p.count; i += 256) {
      const $N_at t = $N_place(p, ($O)i);
      $S_loads x;
      $S_stores y;
      $S_load(p, t, 1, x);
      $S_point(p, t, x, 0, y);
      $S_store(p, t, 1, y);
    }
  }
}
)";

/// The same points one at a time, in one copy of the code: loads of several would take registers that heavy formulas
/// need, and several copies do not fit the instruction cache.
constexpr std::string_view kSinglePoints = R"(
extern "C" __global__ void __launch_bounds__($B) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 first = (tarry_i64)blockIdx.x * ($G * $T), left = p.count - first;
  const int here = left < $G * $T ? (int)left : $G * $T;
#pragma unroll 1
  for (int i = threadIdx.x; i < here; i += $T) {
    const $N_at t = $N_place(p, ($O)first + i);
    $S_loads x;
    $S_stores y;
    $S_load(p, t, 1, x);
    $S_point(p, t, x, 0, y);
    $S_store(p, t, 1, y);
  }
}
)";

}  // namespace

KernelSource render_pointwise(const KernelIr& ir, const graph::Target&) {
  TARRY_ASSERT(ir.rank > 0 || ir.vector() == 1);
  const StagePlan plan = plan_stages(ir);
  Functions functions(ir, plan);
  const Parameters parameters =
      ir.wide_index
          ? make_parameters(ir, {SlotKind::OuterCount, SlotKind::Extent, SlotKind::Reciprocal})
          : make_parameters(ir, {SlotKind::OuterCount, SlotKind::Extent, SlotKind::Magic, SlotKind::Reciprocal});
  const Stage& stage = plan.stages[0];
  std::string kernel =
      parameter_struct(parameters) + Template(ir, stage).fill(functions.shared_text()) + functions.stage_text(stage);
  const auto& layout = ir.as<PointwiseLayout>();
  const std::string threads = std::to_string(pointwise_threads(ir));
  kernel += Template(ir, stage,
                     {{"$G", std::to_string(pointwise_groups(ir))},
                      {"$T", threads},
                      {"$B", layout.resident > 0 ? fmt::format("{}, {}", threads, layout.resident) : threads}})
                .fill(layout.single ? kSinglePoints : kPointwise);
  KernelSource source =
      finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
  source.threads = pointwise_threads(ir);
  return source;
}

}  // namespace cuda
}  // namespace tarry::codegen
