// CUDA C: short reductions as loops inside other kernels.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"

namespace tarry::codegen::cuda {

/// True if `load` brings all that a short loop at every point reads, so that it is in flight with the loads of other
/// points.
bool Functions::loads_ahead(std::uint32_t loop) const {
  constexpr std::size_t kMostBytes = 48;  // of a thread's points, in registers
  const Value fold = ir_.first_fold(loop);
  if (ir_.steps_of(loop) == 0 || ir_.instrs[fold].region != Region::Point || !held_[loop].kept.empty()) return false;
  std::size_t bytes = 0;
  for (const std::uint32_t a : loop_loads(loop)) {
    const std::size_t size = itemsize(element_type(a));
    if (size < 4 && !ir_.accesses[a].aligned) return false;  // one by one each takes a register
    bytes += size;
  }
  return bytes * static_cast<std::size_t>(ir_.steps_of(loop) * items_) <= kMostBytes;
}

/// Those of the stage.
std::vector<std::uint32_t> Functions::loops_ahead() const {
  std::vector<std::uint32_t> loops;
  for (std::uint32_t loop = 0; loop < ir_.loops.size() && !ir_.is_contraction(); ++loop)
    if (loads_ahead(loop)) loops.push_back(loop);
  return loops;
}

/// The accesses of memory of a loop, each once.
std::vector<std::uint32_t> Functions::loop_loads(std::uint32_t loop) const {
  std::vector<std::uint32_t> found;
  for (const Instr& in : ir_.instrs) {
    const bool loads = in.loop == loop && in.kind == InstrKind::Load && ir_.accesses[in.index].buffer != kNone;
    if (loads && std::find(found.begin(), found.end(), in.index) == found.end()) found.push_back(in.index);
  }
  return found;
}

/// Steps of all items, those of an item side by side: as in memory, where an access is aligned.
std::string Functions::ahead_fields() const {
  std::string fields;
  for (const std::uint32_t loop : loops_ahead()) {
    for (const std::uint32_t a : loop_loads(loop)) {
      const std::size_t size = itemsize(element_type(a)),
                        alignment = ir_.accesses[a].aligned
                                        ? std::min<std::size_t>(16, size * static_cast<std::size_t>(items_))
                                        : size;
      fields += fmt::format(" struct alignas({}) {{ {} v[{}]; }} a{};", alignment, c_type(element_type(a)),
                            items_ * ir_.steps_of(loop), a);
    }
  }
  return fields;
}

void Functions::load_ahead() {
  for (const std::uint32_t loop : loops_ahead()) {
    for (const std::uint32_t a : loop_loads(loop)) {
      if (ir_.accesses[a].aligned) {
        out_.line(
            fmt::format("if (m >= $W) x.a{0} = *(const decltype(x.a{0})*)({1});", a,
                        sum_text(fmt::format("t.a{}", a), ir_.is_map() ? "0" : reduced_offset(ir_, a, "k", "p."))));
        out_.open("else");
      }
      out_.label("#pragma unroll");
      out_.open("for (int j = 0; j < $W; ++j)");
      out_.open(fmt::format("if ({} < m)", item_));
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int u{0} = 0; u{0} < {1}; ++u{0}) x.a{2}.v[j * {1} + u{0}] = t.a{2}[{3}];", loop,
                            ir_.steps_of(loop), a, sum_text(element(a, Region::Point), loop_offset(ir_, a, "p."))));
      out_.close();
      out_.close();
      if (ir_.accesses[a].aligned) out_.close();
    }
  }
}

/// Steps of a loop whose text has them, as the head of a loop of its own.
std::string Functions::steps_head(std::uint32_t loop) const {
  const std::string step = fmt::format("u{}", loop);
  const int most = ir_.steps_of(loop), sure = sure_steps(most);
  std::string head = fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, most);
  if (sure < most)
    head +=
        fmt::format(" if ({0} < {1} || {0} < (int)p.{2})", step, sure, slot_name({SlotKind::Scalar, ir_.loops[loop]}));
  return head;
}

/// The folds of a loop, computed here. `region`: what the loop sees; `placed`: the place of its accesses. Where the
/// text has the steps of a loop, all of them load before the first one computes.
void Functions::fold_loop(std::uint32_t loop, Region region, Region placed) {
  const std::string step = fmt::format("u{}", loop);
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (is_fold(v, loop))
      out_.line(fmt::format("{} {} = {};", c_type(ir_.instrs[v].dtype), value_name(v),
                            fold_start(ir_.folds[ir_.instrs[v].index])));
  LoopText text{.region = region, .placed = placed, .held = &held_[loop]};
  if (ir_.steps_of(loop) > 0) {
    text.ahead = placed == Region::Point && loads_ahead(loop);
    text.loaded = loop_loads(loop);
    std::erase_if(text.loaded, [&](std::uint32_t a) { return is_held(loop, a); });
    if (!text.ahead) load_steps(loop, text.loaded, placed);
    out_.label("#pragma unroll");
    out_.open(steps_head(loop));
  } else {
    out_.label("#pragma unroll 4");
    out_.open(fmt::format("for (int {0} = 0; {0} < (int)p.{1}; ++{0})", step,
                          slot_name({SlotKind::Scalar, ir_.loops[loop]})));
  }
  loop_body(loop, text);
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    if (!is_fold(v, loop)) continue;
    const Fold& f = ir_.folds[ir_.instrs[v].index];
    out_.line(fmt::format("{} = {};", value_name(v),
                          fold_step(expressions_, f, step, value_name(v), operand(f.arg, region))));
  }
  out_.close();
}

/// The loads of all steps of a loop, as z{access}.v[step]: those that are aligned as wide as that allows.
void Functions::load_steps(std::uint32_t loop, const std::vector<std::uint32_t>& loads, Region placed) {
  std::vector<std::uint32_t> single;
  for (const std::uint32_t a : loads) {
    const bool wide = ir_.accesses[a].aligned && !held_[loop].kept.empty();
    const int steps = ir_.steps_of(loop), part = wide ? run_part(ir_, a, steps) : 1;
    const std::string type = c_type(element_type(a));
    const std::string boundary =
        part > 1 ? fmt::format("alignas({}) ", part * static_cast<int>(itemsize(element_type(a)))) : "";
    out_.line(fmt::format("struct {}{{ {} v[{}]; }} z{};", boundary, type, steps, a));
    if (part > 1)
      out_.line(fmt::format("z{0} = *(const decltype(z{0})*)({1});", a,
                            sum_text(fmt::format("t.a{}", a), element(a, placed))));
    else
      single.push_back(a);
  }
  if (single.empty()) return;
  out_.label("#pragma unroll");
  out_.open(steps_head(loop));
  for (const std::uint32_t a : single)
    out_.line(
        fmt::format("z{0}.v[u{1}] = t.a{0}[{2}];", a, loop, sum_text(element(a, placed), loop_offset(ir_, a, "p."))));
  out_.close();
}

/// True if only instructions before the row load from an access.
bool Functions::is_held(std::uint32_t loop, std::uint32_t access) const {
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (ir_.instrs[v].loop == loop && ir_.instrs[v].kind == InstrKind::Load && ir_.instrs[v].index == access)
      return held_[loop].runs_before(v);
  return false;
}

bool Functions::holds() const {
  return std::ranges::any_of(held_, [](const HeldLoop& held) { return !held.kept.empty(); });
}

/// The struct of values that a thread holds of loops at its points, and the function that makes them.
void Functions::hold() {
  if (!holds()) return;
  std::string fields;
  for (std::uint32_t loop = 0; loop < held_.size(); ++loop)
    for (const Value v : held_[loop].kept)
      fields += fmt::format(" {} {}[{}];", c_type(ir_.instrs[v].dtype), value_name(v), ir_.steps_of(loop));
  out_.line(fmt::format("struct $N_held {{{} }};", fields));
  out_.open("__device__ __forceinline__ void $N_hold(const $N_params& p, const $N_at& t, const $N_row& r, $N_held& h)");
  for (std::uint32_t loop = 0; loop < held_.size(); ++loop) {
    if (held_[loop].kept.empty()) continue;
    LoopText text{.loaded = loop_loads(loop), .held = &held_[loop], .before = true};
    std::erase_if(text.loaded, [&](std::uint32_t a) { return !is_held(loop, a); });
    load_steps(loop, text.loaded, Region::Point);
    out_.label("#pragma unroll");
    out_.open(steps_head(loop));
    loop_body(loop, text);
    for (const Value v : held_[loop].kept) out_.line(fmt::format("h.{0}[u{1}] = {0};", value_name(v), loop));
    out_.close();
  }
  out_.close();
}

bool Functions::is_fold(Value v, std::uint32_t loop) const {
  return ir_.instrs[v].kind == InstrKind::Fold && ir_.folds[ir_.instrs[v].index].loop == loop;
}

/// One step of a loop, up to its folds.
void Functions::loop_body(std::uint32_t loop, const LoopText& body) {
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const Instr& in = ir_.instrs[v];
    if (in.loop != loop) continue;
    const bool before = body.held && body.held->runs_before(v);
    if (before != body.before && !(before && is_iota(ir_, v))) {
      if (before && std::ranges::binary_search(body.held->kept, v))
        out_.line(fmt::format("const {} {} = h.{}[u{}];", c_type(in.dtype), value_name(v), value_name(v), loop));
      continue;
    }
    std::string text;
    if (in.kind == InstrKind::Compute) {
      std::vector<std::string> operands;
      for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i)
        operands.push_back(operand(in.args[i], body.region));
      text = expressions_.compute(v, operands);
    } else if (arity(in) > 0) {
      text = at_place(in, body.region, body.placed);
    } else {
      text = loop_load(loop, in.index, body);
    }
    out_.line(fmt::format("const {} {} = {};", c_type(in.dtype), value_name(v), text));
  }
}

/// The operand of a load of a step: in memory, or loaded from there before.
std::string Functions::loop_load(std::uint32_t loop, std::uint32_t access, const LoopText& body) const {
  if (std::ranges::find(body.loaded, access) != body.loaded.end()) {
    if (ir_.is_contraction()) return fmt::format("z.a{}", access);
    return body.ahead ? fmt::format("x.a{}.v[j * {} + u{}]", access, ir_.steps_of(loop), loop)
                      : fmt::format("z{}.v[u{}]", access, loop);
  }
  const std::string at = sum_text(element(access, body.placed), loop_offset(ir_, access, "p."));
  const bool iota = ir_.accesses[access].buffer == kNone;
  return iota ? sum_text(fmt::format("t.o{}", access), at) : fmt::format("t.a{}[{}]", access, at);
}

std::string Functions::loop_text(std::uint32_t loop, const std::vector<std::uint32_t>& staged) {
  std::string fields;
  for (const std::uint32_t a : staged) fields += fmt::format(" {} a{};", c_type(element_type(a)), a);
  out_.line(fmt::format("struct $N_staged{} {{{} }};", loop, fields));
  out_.open(fmt::format(
      "__device__ __forceinline__ void $N_step{0}(const $N_params& p, const $N_at& t, $K k, const $N_staged{0}& z, "
      "int u{0}, $N_folds& f)",
      loop));
  out_.line("const int j = 0;");
  loop_body(loop, {.loaded = staged});
  for (std::uint32_t i = 0; i < ir_.folds.size(); ++i) {
    const Fold& f = ir_.folds[i];
    if (f.loop != loop) continue;
    const std::string value = fmt::format("f.f{}", i);
    out_.line(fmt::format("{} = {};", value,
                          fold_step(expressions_, f, fmt::format("u{}", loop), value, operand(f.arg, Region::Point))));
  }
  out_.close();
  return out_.take();
}

}  // namespace tarry::codegen::cuda
