// KernelIr as text, for dumps and tests.
#include <fmt/format.h>

#include "codegen/ir/kernel_ir.h"

namespace tarry::codegen {
namespace {

const char* text(Region r) {
  switch (r) {
    case Region::Row: return "row";
    case Region::Point: return "point";
    case Region::Outer: return "outer";
    case Region::Loop: return "loop";
    case Region::Combine: return "both";
  }
  return "?";
}

char text(StrideClass c) { return c == StrideClass::Zero ? '0' : c == StrideClass::One ? '1' : '*'; }

std::string stage_text(int stage) { return stage > 0 ? fmt::format(".{}", stage) : std::string(); }

std::string line(const KernelIr& ir, std::size_t i) {
  const Instr& in = ir.instrs[i];
  const std::string number = in.region == Region::Loop ? std::to_string(in.loop) : stage_text(in.stage);
  std::string s = fmt::format("  {:5} ", text(in.region) + number);
  if (in.kind != InstrKind::Store && in.kind != InstrKind::Keep)
    s += fmt::format("%{}: {} = ", i, info(in.dtype).suffix);
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
    case InstrKind::Carried: s += fmt::format("carried %{}, %{}", in.args[0], in.args[1]); break;
    case InstrKind::While: s += fmt::format("while %{}", in.args[0]); break;
    case InstrKind::Last: s += fmt::format("last %{}", in.args[0]); break;
    case InstrKind::Number: s += fmt::format("number n{}", in.index); break;
    case InstrKind::Keep: s += fmt::format("keep h{}[a{}], %{}", in.output, in.index, in.args[0]); break;
    case InstrKind::Kept: s += fmt::format("kept h{}[a{}]", in.output, in.index); break;
    case InstrKind::Earlier: s += fmt::format("earlier r{}", in.index); break;
    case InstrKind::Later: s += fmt::format("later r{}", in.index); break;
    case InstrKind::Store: s += fmt::format("store a{}, %{}", in.index, in.args[0]); break;
    case InstrKind::Index:
      s += fmt::format("index %{} of %{}, check c{}", in.args[0], in.args[1], in.index);
      if (in.args[2] != kNone) s += fmt::format(" + %{}", in.args[2]);
      if (in.guard != kNone) s += fmt::format(" if g{}", in.guard);
      break;
    case InstrKind::Gather:
      s += fmt::format("gather a{} at %{}", in.index, in.args[0]);
      if (in.guard != kNone) s += fmt::format(" if g{}", in.guard);
      break;
    case InstrKind::Compute:
      s += graph::name(in.op);
      for (int k = 0; k < graph::info(in.op).arity; ++k)
        s += fmt::format("{} %{}", k ? "," : "", in.args[static_cast<std::size_t>(k)]);
      if (in.whole) s += " whole";
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

/// The fields of a layout that say more than one of which nothing is chosen.
template <class Of>
std::string fields_text(const Of& layout) {
  std::string s;
  const auto fields = layout.fields(), empty = Of{}.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].value == empty[i].value) continue;
    s += fmt::format(" {}", fields[i].name);
    if (!fields[i].flag) s += fmt::format(" {}", fields[i].value);
  }
  return s;
}

std::string first_line(const KernelIr& ir) {
  const auto* iterated = std::get_if<IteratedStencilLayout>(&ir.layout);
  return fmt::format("kernel {} {} rank {} {} {} index {}{}{}{}\n", name_of(ir.schedule()),
                     ir.mode == Mode::Strict ? "strict" : "relaxed", ir.rank, iterated ? "columns" : "vector",
                     iterated ? iterated->columns : ir.vector(), ir.wide_index ? 64 : 32,
                     std::visit([](const auto& layout) { return fields_text(layout); }, ir.layout),
                     ir.roomy ? " roomy" : "", ir.rolled ? " rolled" : "");
}

}  // namespace

const char* name_of(Schedule schedule) {
  constexpr const char* kNames[] = {
#define TARRY_SCHEDULE(schedule, name, ...) #name,
#include "codegen/ir/schedules.def"
  };
  return kNames[static_cast<std::size_t>(schedule)];
}

std::string to_string(const KernelIr& ir) {
  std::string s = first_line(ir);
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
    if (a.gathered) s += " gathered";
    if (a.faults) s += " faults";
    if (a.interleaved_along >= 0) s += fmt::format(" interleaved along {}", a.interleaved_along);
    if (a.phase > 0) s += fmt::format(" past {}", a.phase);
    if (a.window != kNone && a.window != i) s += fmt::format(" = a{} {:+},{:+}", a.window, a.row, a.column);
    s += "\n";
  }
  for (std::size_t i = 0; i < ir.guards.size(); ++i)
    s += fmt::format("  guard g{}:{}{}\n", i, line(ir.guards[i]), ir.guards[i].usual ? "" : " rare");
  for (std::size_t i = 0; i < ir.checks.size(); ++i) s += fmt::format("  check c{}: a{}\n", i, ir.checks[i]);
  for (std::size_t l = 0; l < ir.loops.size(); ++l)
    s += fmt::format("  loop l{} < s{}{}\n", l, ir.loops[l],
                     ir.steps_of(l) > 0 ? fmt::format(" = {}", ir.steps_of(l)) : "");
  for (std::size_t l = 0; l < ir.levels.size(); ++l) s += fmt::format("  levels {} < s{}\n", l, ir.levels[l]);
  for (std::size_t h = 0; h < ir.arrays.size(); ++h)
    s += fmt::format("  array h{}: {} [s{}]\n", h, info(ir.arrays[h].dtype).suffix, ir.arrays[h].extent);
  for (std::size_t i = 0; i < ir.series.size(); ++i)
    s += fmt::format("  series n{}: s{} to s{}\n", i, ir.series[i].first, ir.series[i].first + ir.series[i].count - 1);
  for (std::size_t i = 0; i < ir.instrs.size(); ++i) s += line(ir, i);
  for (std::size_t i = 0; i < ir.folds.size(); ++i) {
    const Fold& f = ir.folds[i];
    s += fmt::format("  fold f{}: {} = {} %{} in l{}\n", i, info(f.dtype).suffix, graph::name(f.op), f.arg, f.loop);
  }
  for (std::size_t i = 0; i < ir.reductions.size(); ++i) {
    const Reduction& r = ir.reductions[i];
    s += fmt::format("  reduce r{}: {} = {} %{}", i, info(r.dtype).suffix, graph::name(r.op), r.args[0]);
    if (r.op == Op::MomentsMerge) s += fmt::format(", %{} weight s{}", r.args[1], r.weight);
    if (r.combined != kNone) s += fmt::format(", combined %{}", r.combined);
    if (r.stage > 0) s += fmt::format(" stage {}", r.stage);
    s += "\n";
  }
  return s;
}

}  // namespace tarry::codegen
