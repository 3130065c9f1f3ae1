// C kernels: loops and their statements, guards, places of tiles.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codegen/c/render.h"
#include "codegen/ir/transpose.h"
#include "codegen/ir/usual.h"

namespace tarry::codegen {

namespace {

// "Independent" and not `restrict`: an output may take the memory of an input that is read at the same place, which
// restrict forbids; that iterations do not depend on each other is exactly what holds.
// Rolled: the elements that are left behind the vectors of a loop stay a loop. gcc would write out all seven or fifteen
// of them, which costs it more than the vectors. Plain functions call others, or have their vectors written out: gcc
// need not look for any, nor schedule. Nor need it guess which branch is taken, where it leaves blocks in the order of
// the text: loops then test at their end. Guarded ones, rows of steps, have several loops with more addresses than
// registers, and it should know which of them are used most. What runs once for many thousand elements need not be
// optimized.
constexpr std::string_view kMacros = R"~(#if defined(__clang__)
#define TARRY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define TARRY_ROLLED
#define TARRY_PLAIN
#define TARRY_GUARDED
#define TARRY_ONCE
#define TARRY_SHUFFLE(PLACES, A, B, ...) __builtin_shufflevector(A, B, __VA_ARGS__)
#define TARRY_LANES(A, PLACES) __builtin_shufflevector(A, PLACES)
#define TARRY_CHOOSE(SUFFIX, MASK, A, B) __builtin_ia32_select##SUFFIX##_512(MASK, A, B)
#else
#define TARRY_INDEPENDENT _Pragma("GCC ivdep")
#define TARRY_ROLLED _Pragma("GCC unroll 1")
#define TARRY_LIGHT "Og", "no-schedule-insns", "no-schedule-insns2", "no-gcse", "no-peel-loops", "no-tree-vectorize", \
  "no-aggressive-loop-optimizations", "no-forward-propagate", "no-cprop-registers", "no-compare-elim", "no-combine-stack-adjustments"
#define TARRY_PLAIN __attribute__((optimize(TARRY_LIGHT, "no-guess-branch-probability", "no-reorder-blocks")))
#define TARRY_GUARDED __attribute__((optimize(TARRY_LIGHT)))
#define TARRY_ONCE __attribute__((optimize("O0")))
#define TARRY_SHUFFLE(PLACES, A, B, ...) __builtin_shuffle(A, B, (PLACES){__VA_ARGS__})
#define TARRY_LANES(A, PLACES) __builtin_shuffle(A, PLACES)
#define TARRY_CHOOSE(SUFFIX, MASK, A, B) __builtin_ia32_blendm##SUFFIX##_512_mask(B, A, MASK)
#endif
#define TARRY_SCALAR __asm__("")
)~";

bool is_integer_parameter(SlotKind kind) {
  switch (kind) {
    case SlotKind::Pointer:
    case SlotKind::IotaOffset:
    case SlotKind::Scalar:
    case SlotKind::Reciprocal:
    case SlotKind::Scratch:
    case SlotKind::Tickets: return false;
    default: return true;
  }
}

bool is_memory(const Instr& instr) { return instr.kind == InstrKind::Load || instr.kind == InstrKind::Store; }

/// Options of gcc for a kernel. Ordered anew, the statements of a long point keep more values alive than there are
/// registers, unless gcc counts them; its search for common parts takes the square of their number. Of choices and
/// extremes whose operands do not vary along a loop, or are known under a guard, its dominator pass makes branches, as
/// many as there are ways past them, which no vector can follow. Shifts and quotients of integers ask twice about the
/// same number, and it threads jumps between them; guards need those to be out of the way. For elements apart it looks
/// for the fewest variables that give all addresses, as many as a vector has elements for each access.
std::string gcc_options(const KernelIr& ir) {
  constexpr int kLengthy = 150;  // instructions by the op table
  constexpr int kApart = 8;      // accesses
  int instructions = 0;
  bool chooses = false, asks_twice = false;
  for (const Instr& instr : ir.instrs) {
    if (instr.kind != InstrKind::Compute) continue;
    instructions += graph::info(instr.op).cost;
    chooses |= instr.op == Op::Minimum || instr.op == Op::Maximum || instr.op == Op::Where;
    asks_twice |= instr.op == Op::BitwiseLeftShift || instr.op == Op::BitwiseRightShift ||
                  (is_integral(instr.dtype) && (instr.op == Op::FloorDivide || instr.op == Op::Remainder));
  }
  const auto apart = std::ranges::count_if(ir.accesses, [](const Access& a) {
    const StrideClass last = a.strides.empty() ? StrideClass::Zero : a.strides.back();
    return last != StrideClass::One && a.reduced != StrideClass::One &&
           (last == StrideClass::Any || a.reduced == StrideClass::Any);
  });
  std::string options = instructions > kLengthy ? R"("sched-pressure", "no-gcse")" : "";
  const auto add = [&](std::string_view option) { options += (options.empty() ? "" : ", ") + std::string(option); };
  if (chooses) add(R"("no-tree-dominator-opts")");
  if (asks_twice && ir.guards.empty()) add(R"("no-thread-jumps")");
  if (apart > kApart) add(R"("no-ivopts")");
  return options;
}

std::uint32_t guard_of(const Instr& instr) { return instr.kind == InstrKind::Inside ? instr.index : instr.guard; }

}  // namespace

// ---------------------------------------------------------------- frame

void CWriter::preamble() {
  SharedText macros{"TARRY_INDEPENDENT", std::string(kMacros)};
  add_shared(shared_, macros);
  if (const std::string options = gcc_options(ir); !options.empty())
    label(fmt::format("#pragma GCC push_options\n#pragma GCC optimize({})", options));
  const std::string text = parameter_struct(parameters_);
  label(std::string_view(text).substr(0, text.size() - 1));
  if (!ir.guards.empty()) inside_function();
  if (!ir.checks.empty()) index_function();
}

std::string CWriter::share(std::string_view name, const std::function<void()>& write) {
  SharedText shared = shared_text(name, aside(write));
  add_shared(shared_, shared);
  return std::move(shared.name);
}

KernelSource CWriter::finish() {
  if (!gcc_options(ir).empty()) label("#pragma GCC pop_options");
  const std::vector<std::string> functions = expressions.functions();
  KernelSource source = finish_kernel(ir, Dialect::C, take(), parameters_, functions, std::move(shared_));
  source.point_cost = point_cost(ir);
  return source;
}

void CWriter::locals() {
  for (const Slot& slot : parameters_.slots)
    if (is_integer_parameter(slot.kind)) line(fmt::format("const tarry_i64 {0} = p->{0};", slot_name(slot)));
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& instr = ir.instrs[v];
    if (instr.kind != InstrKind::Scalar) continue;
    line(fmt::format("const {} {} = p->{};", c_type(instr.dtype), value_name(v),
                     slot_name({SlotKind::Scalar, instr.index})));
  }
  std::vector<std::uint32_t> sources;
  for (const Instr& instr : ir.instrs)
    if (instr.kind == InstrKind::Gather && std::ranges::find(sources, instr.index) == sources.end()) {
      sources.push_back(instr.index);
      line(fmt::format("{} {} = p->{};", address_type(instr.index), source_of_gather(instr.index),
                       slot_name({SlotKind::Pointer, instr.index})));
    }
}

std::string CWriter::source_of_gather(std::uint32_t access) { return fmt::format("source{}", access); }

std::vector<Value> CWriter::instructions(Region region, int stage) const {
  std::vector<Value> found;
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& instr = ir.instrs[v];
    if (instr.region == region && instr.stage == stage && instr.kind != InstrKind::Store &&
        instr.kind != InstrKind::Scalar)
      found.push_back(v);
  }
  return found;
}

std::vector<Value> CWriter::stores(Region region) const {
  std::vector<Value> found;
  for (Value v = 0; v < ir.instrs.size(); ++v)
    if (ir.instrs[v].region == region && ir.instrs[v].kind == InstrKind::Store) found.push_back(v);
  return found;
}

// ---------------------------------------------------------------- accesses

bool CWriter::uses(std::uint32_t access, Region region) const {
  return std::any_of(ir.instrs.begin(), ir.instrs.end(), [&](const Instr& instr) {
    if (ir.home_region(instr) != region) return false;
    if (is_memory(instr) && instr.index == access) return true;
    if (instr.kind == InstrKind::Index && ir.checks[instr.index] == access) return true;
    const std::uint32_t guard = guard_of(instr);
    return guard != kNone && std::any_of(ir.guards[guard].terms.begin(), ir.guards[guard].terms.end(),
                                         [&](const GuardTerm& term) { return term.access == access; });
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

void CWriter::bases(char name, std::span<const Region> regions, std::span<const std::string> indices,
                    std::string_view k) {
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) {
    if (pieces_.contains(a) || std::none_of(regions.begin(), regions.end(), [&](Region r) { return uses(a, r); }))
      continue;
    const SlotKind kind = ir.accesses[a].buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer;
    base(name, a, "p->" + slot_name({kind, a}),
         sum_text(outer_offset(ir, a, indices, ""), reduced_offset(ir, a, k, "")));
  }
}

StrideClass CWriter::stride_class(std::uint32_t access, Axis axis) const {
  const Access& a = ir.accesses[access];
  if (axis == Axis::Reduced) return a.outer_only ? StrideClass::Zero : a.reduced;
  if (is_transposed(ir, access) || a.interleaved_along >= 0) return StrideClass::One;  // in a tile's array
  return ir.rank == 0 ? StrideClass::Zero : a.strides.back();
}

std::string CWriter::stride(std::uint32_t access, Axis axis) const {
  const StrideClass known = stride_class(access, axis);
  if (known != StrideClass::Any) return known == StrideClass::Zero ? "0" : "1";
  const auto last = static_cast<std::uint32_t>(ir.rank - 1);
  return slot_name(axis == Axis::Reduced ? Slot{SlotKind::ReducedStride, access}
                                         : Slot{SlotKind::Stride, access, last});
}

std::string CWriter::element(std::uint32_t access, Axis axis, std::string_view i) const {
  std::string offset(i);
  if (stride_class(access, axis) == StrideClass::Zero)
    offset = "0";
  else if (stride_class(access, axis) == StrideClass::Any && i != "0")
    offset = fmt::format("{} * {}", i, stride(access, axis));
  offset = sum_text(offset, loop_offset(ir, access, ""));
  if (ir.accesses[access].buffer == kNone) return sum_text(fmt::format("a{}", access), offset);
  return fmt::format("a{}[{}]", access, offset);
}

std::string CWriter::guarded(const Instr& instr, const std::string& text) const {
  if (instr.guard == kNone) return text;
  const std::string& holds = holds_.at(instr.guard);
  return holds == "1" ? text : holds == "0" ? "0" : fmt::format("{} ? {} : 0", holds, text);
}

std::string CWriter::index(const Instr& instr, Axis axis, std::string_view i, const Operand& operand) const {
  if (sums_up_ && !is_invariant(instr, axis))
    return fmt::format("{}_within({}, {}, &beyond)", kEntryName, operand(instr.args[0]), operand(instr.args[1]));
  std::string number = element(ir.checks[instr.index], axis, i);
  if (instr.args[2] != kNone) number = sum_text(number, operand(instr.args[2]));
  return fmt::format("{}_index({}, {}, {}, {})", kEntryName, operand(instr.args[0]), operand(instr.args[1]), number,
                     check_words(ir, instr, "p->"));
}

bool CWriter::is_invariant(const Instr& instr, Axis axis) const {
  if (instr.kind == InstrKind::Load) return stride_class(instr.index, axis) == StrideClass::Zero;
  const auto& fixed = fixed_[axis == Axis::Reduced ? 1 : 0];
  return !fixed.empty() && fixed[static_cast<std::size_t>(&instr - ir.instrs.data())];
}

/// Values that do not vary along an axis, where kernels gather: rows of a table are found once, not at every element.
std::vector<bool> CWriter::find_fixed(Axis axis) const {
  std::vector<bool> fixed(ir.instrs.size());
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    const Instr& in = ir.instrs[v];
    const auto is_fixed = [&](Value a) {
      if (a == kNone || ir.instrs[a].kind == InstrKind::Scalar) return true;
      return fixed[a] && ir.instrs[a].region == in.region && (kept_.empty() || !kept_[a]);
    };
    if (in.region == Region::Loop || is_called(in)) continue;
    if (in.kind == InstrKind::Load)
      fixed[v] = stride_class(in.index, axis) == StrideClass::Zero;
    else if (arity(in) > 0)
      fixed[v] = std::all_of(in.args.begin(), in.args.end(), is_fixed) &&
                 (in.kind != InstrKind::Index || stride_class(ir.checks[in.index], axis) == StrideClass::Zero);
  }
  return fixed;
}

// ---------------------------------------------------------------- guards

std::vector<std::uint32_t> CWriter::guards_of(const std::vector<Value>& values) const {
  std::vector<std::uint32_t> found;
  for (const Value v : values) {
    const std::uint32_t guard = guard_of(ir.instrs[v]);
    if (guard != kNone && std::find(found.begin(), found.end(), guard) == found.end()) found.push_back(guard);
  }
  return found;
}

/// The accesses of values that stand for pieces of an array.
std::vector<std::uint32_t> CWriter::pieced(const std::vector<Value>& values) const {
  std::vector<std::uint32_t> found;
  for (const Value v : values)
    if (ir.instrs[v].kind == InstrKind::Load && pieces_.contains(ir.instrs[v].index))
      found.push_back(ir.instrs[v].index);
  return found;
}

/// The address of the piece that holds here.
void CWriter::choose_piece(std::uint32_t access) {
  const Pieces& pieces = pieces_.at(access);
  std::size_t at = 0;
  const std::function<std::string()> next = [&] {
    const PieceOrGuard& piece = pieces[at++];
    if (piece.guard == kNone) return fmt::format("a{}", piece.access);
    const std::string inside = next();
    return fmt::format("(g{} ? {} : {})", piece.guard, inside, next());
  };
  line(fmt::format("{} a{} = {};", address_type(access), access, next()));
}

/// That `guard` holds at the first element.
std::string CWriter::condition(std::uint32_t guard) const {
  std::string text;
  for (const GuardTerm& term : ir.guards[guard].terms)
    text += fmt::format("{0}0 <= a{1} && a{1} < p->{2}", text.empty() ? "" : " && ", term.access,
                        slot_name({SlotKind::Scalar, term.extent}));
  return text.empty() ? "1" : fmt::format("({})", text);
}

/// Narrows from..to to the i with 0 <= at + i * step < extent; from is not negative. Most steps are constants, of which
/// little is left.
void CWriter::inside_function() {
  open(fmt::format(
      "TARRY_FN void {}_inside(tarry_i64 at, tarry_i64 step, tarry_i64 extent, tarry_i64* from, tarry_i64* to)",
      kEntryName));
  line("tarry_i64 first = 0, end = *to;");
  line(
      "if (step > 0) first = at < 0 ? (step - 1 - at) / step : 0, end = at < extent ? (extent - at + step - 1) / step "
      ": 0;");
  line("else if (step < 0) first = at >= extent ? (at - extent) / -step + 1 : 0, end = at >= 0 ? at / -step + 1 : 0;");
  line("else if (at < 0 || at >= extent) end = 0;");
  line("if (first > *from) *from = first;");
  line("if (end < *to) *to = end;");
  close();
}

/// A fault is rare and written by whoever finds it.
void CWriter::index_function() {
  open(fmt::format("static __attribute__((noinline)) void {}_fault(tarry_u64* words, tarry_i64 element, tarry_i64 i)",
                   kEntryName));
  line(fmt::format("{}    tarry_u64 old = __atomic_load_n(words + k, __ATOMIC_RELAXED);", fault_words()));
  line(
      "  while (word < old && "
      "!__atomic_compare_exchange_n(words + k, &old, word, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}");
  line("}");
  close();
  open(fmt::format("TARRY_FN tarry_i64 {}_index(tarry_i64 i, tarry_i64 n, tarry_i64 element, tarry_u64* words)",
                   kEntryName));
  line(fmt::format("{}  {}_fault(words, element, i);", index_body(), kEntryName));
  line("return 0;");
  close();
  open(fmt::format("TARRY_FN tarry_i64 {}_within(tarry_i64 i, tarry_i64 n, tarry_u64* beyond)", kEntryName));
  line("const tarry_i64 at = i < 0 ? i + n : i;");
  line("*beyond |= (tarry_u64)at >= (tarry_u64)n;");
  line("return (tarry_u64)at < (tarry_u64)n ? at : 0;");
  close();
}

Value CWriter::chosen(const Instr& instr) const {
  if (!is_choice(ir, instr)) return kNone;
  const auto holds = holds_.find(ir.instrs[instr.args[0]].index);
  if (holds == holds_.end()) return kNone;  // another scope has asked
  return holds->second == "1" ? instr.args[1] : holds->second == "0" ? instr.args[2] : kNone;
}

void CWriter::inside(const GuardTerm& term, const std::string& at, const std::string& stride, const std::string& from,
                     const std::string& to) {
  line(fmt::format("{}_inside({}, {}, p->{}, &{}, &{});", kEntryName, at, stride,
                   slot_name({SlotKind::Scalar, term.extent}), from, to));
}

// ---------------------------------------------------------------- loops

namespace {

std::string loop_head(std::string_view i, std::string_view from, std::string_view to) {
  return fmt::format("for (tarry_i64 {0} = {1}; {0} < {2}; ++{0})", i, from, to);
}

}  // namespace

void CWriter::open_loop(std::string_view i, std::string_view from, std::string_view to) {
  const bool is_known = std::all_of(to.begin(), to.end(), [](char c) { return '0' <= c && c <= '9'; });
  if (is_known) return open_short_loop(i, from, to);
  line("TARRY_INDEPENDENT TARRY_ROLLED");
  open(loop_head(i, from, to));
}

void CWriter::open_short_loop(std::string_view i, std::string_view from, std::string_view to) {
  line("TARRY_INDEPENDENT");
  open(loop_head(i, from, to));
}

void CWriter::statement(Value v, Axis axis, std::string_view i, const Operand& operand) {
  const Instr& instr = ir.instrs[v];
  std::string text;
  switch (instr.kind) {
    case InstrKind::Scalar: return;
    case InstrKind::Load: text = guarded(instr, element(instr.index, axis, i)); break;
    case InstrKind::Index: text = guarded(instr, index(instr, axis, i, operand)); break;
    case InstrKind::Gather:
      text = guarded(instr, fmt::format("{}[{}]", source_of_gather(instr.index), operand(instr.args[0])));
      break;
    case InstrKind::Store: line(fmt::format("{} = {};", element(instr.index, axis, i), operand(instr.args[0]))); return;
    case InstrKind::Inside: text = holds_.at(instr.index); break;
    case InstrKind::Neighbour:
    case InstrKind::Carried:
    case InstrKind::While:
    case InstrKind::Last:
    case InstrKind::Number:
    case InstrKind::Keep:
    case InstrKind::Kept:
    case InstrKind::Earlier:
    case InstrKind::Later:
    case InstrKind::Result: text = operand(v); break;
    case InstrKind::Fold:
      if (const std::uint32_t l = ir.folds[instr.index].loop; ir.first_fold(l) == v) fold_loop(l, axis, i, operand);
      return;
    case InstrKind::Compute: {
      if (const Value known = chosen(instr); known != kNone) {
        text = operand(known);
        break;
      }
      std::vector<std::string> operands;
      for (int k = 0; k < arity(instr); ++k) operands.push_back(operand(instr.args[static_cast<std::size_t>(k)]));
      text = expressions.compute(v, operands);
      break;
    }
  }
  line(fmt::format("const {} {} = {};", c_type(instr.dtype), value_name(v), text));
}

void CWriter::straight(const std::vector<Value>& values, const Operand& operand) {
  for (const std::uint32_t g : guards_of(values)) holds_[g] = condition(g);
  for (const Value v : values) {
    if (is_called(ir.instrs[v]))
      call_once(v, operand);
    else
      statement(v, Axis::LastOuter, "0", operand);
  }
}

/// One loop whose guards have the spelling that holds_ says.
void CWriter::run(const Loop& l) {
  if (run_strips(l) || run_apart(l) || run_parts(l)) return;
  if (l.vectors) return run_vectors(l);
  for (const Value v : l.values)
    if (is_invariant(ir.instrs[v], l.axis)) statement(v, l.axis, "0", l.operand);
  run_plain(l);
}

void CWriter::run_plain(const Loop& l) {
  l.is_short ? open_short_loop(l.i, l.from, l.to) : open_loop(l.i, l.from, l.to);
  for (const Value v : l.values) {
    if (is_invariant(ir.instrs[v], l.axis)) continue;
    if (l.drawn.contains(v))
      line(fmt::format("const {} {} = drawn{}[{} - here];", c_type(ir.instrs[v].dtype), value_name(v), v, l.i));
    else
      statement(v, l.axis, l.i, l.operand);
  }
  for (const auto& [kept, v] : l.kept) {
    const auto step = l.steps.find(kept);
    line(fmt::format("{} = {};", kept, step == l.steps.end() ? l.operand(v) : step->second(l.operand(v))));
  }
  close();
}

void CWriter::loop(const Loop& l) {
  const std::vector<std::uint32_t> tests = guards_of(l.values), pieced = this->pieced(l.values);
  std::vector<std::uint32_t> guards = tests;
  for (const std::uint32_t access : pieced)
    for (const PieceOrGuard& piece : pieces_.at(access))
      if (piece.guard != kNone && std::ranges::find(guards, piece.guard) == guards.end()) guards.push_back(piece.guard);
  const auto around = std::exchange(holds_, {});
  open("");
  if (guards.empty()) {
    run(l);
    close();
    holds_ = around;
    return;
  }
  for (const std::uint32_t g : guards) {
    line(fmt::format("tarry_i64 from{0} = {1}, to{0} = {2};", g, l.from, l.to));
    for (const GuardTerm& term : ir.guards[g].terms)
      inside(term, fmt::format("a{}", term.access), stride(term.access, l.axis), fmt::format("from{}", g),
             fmt::format("to{}", g));
  }
  open(fmt::format("for (tarry_i64 at = {}, end; at < {}; at = end)", l.from, l.to));
  line(fmt::format("end = {};", l.to));
  for (const std::uint32_t g : guards) {
    line(fmt::format("const int g{0} = from{0} <= at && at < to{0};", g));
    line(fmt::format("if (g{0} && to{0} < end) end = to{0};", g));
    line(fmt::format("if (at < from{0} && from{0} < end) end = from{0};", g));
  }
  Loop part = l;
  part.from = "at";
  part.to = "end";
  for (const std::uint32_t access : pieced) choose_piece(access);
  tests.empty() ? run(part) : guarded_part(part, tests);
  close();
  close();
  holds_ = around;
}

// ---------------------------------------------------------------- places

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

namespace {

std::string inner_extent(const KernelIr& ir) {
  return ir.rank == 0 ? "1" : ir.rank == 1 ? "count" : fmt::format("e{}", ir.rank - 1);
}

}  // namespace

void count_tiles(CWriter& w, int tile) {
  w.line(fmt::format("const tarry_i64 tiles = ({} + {}) / {};", inner_extent(w.ir), tile - 1, tile));
}

void decode_tile(CWriter& w, int tile) {
  w.line(fmt::format("const tarry_i64 row = at / tiles, j0 = (at - row * tiles) * {};", tile));
  w.line("(void)row;");
  decode_row(w, "row");
  if (tile > 1) w.line(fmt::format("const tarry_i64 m = {0} - j0 < {1} ? {0} - j0 : {1};", inner_extent(w.ir), tile));
}

std::string tile_place(const KernelIr& ir, int tile, List list) {
  const std::string_view type = list == List::Parameters ? "tarry_i64 " : "";
  std::string text;
  for (int d = 0; d + 1 < ir.rank; ++d) text += fmt::format(", {}i{}", type, d);
  text += fmt::format(", {}j0", type);
  if (tile > 1) text += fmt::format(", {}m", type);
  return text;
}

std::int64_t tile_count(const KernelArgs& args, int tile) {
  if (args.outer_count() == 0) return 0;
  const std::int64_t inner = args.extents.empty() ? 1 : args.extents.back();
  return args.outer_count() / inner * ((inner + tile - 1) / tile);
}

void place_tile(CWriter& w) {
  const KernelIr& ir = w.ir;
  w.line("tarry_i64 at = item;");
  for (int d = ir.rank - 1; d >= 0; --d) {
    const std::string index = d > 0 ? fmt::format("at % n{}", d) : std::string("at");
    const int tile = ir.tile(d);
    w.line(fmt::format("const tarry_i64 i{} = {};", d, tile > 1 ? fmt::format("({}) * {}", index, tile) : index));
    if (d > 0) w.line(fmt::format("at /= n{};", d));
  }
  for (const auto& [name, d] : {std::pair("rows", ir.row_dimension()), std::pair("columns", ir.rank - 1)}) {
    if (d >= 0)
      w.line(fmt::format("const tarry_i64 {0} = e{1} - i{1} < {2} ? e{1} - i{1} : {2};", name, d, ir.tile(d)));
    else
      w.line(fmt::format("const tarry_i64 {} = 1;", name));
  }
}

Geometry geometry_c_tiles(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  for (int d = 0; d < ir.rank; ++d) g.outer_tiles *= (args.extents[d] + ir.tile(d) - 1) / ir.tile(d);
  return g;
}

}  // namespace tarry::codegen
