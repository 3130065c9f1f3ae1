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
  if (ir_.steps_of(loop) == 0 || ir_.instrs[fold].region != Region::Point) return false;
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

/// The same of item j and a step of the loop.
std::string Functions::taken_ahead(std::uint32_t loop) const {
  std::string values;
  for (const std::uint32_t a : loop_loads(loop))
    values += fmt::format("{}x.a{}.v[j * {} + u{}]", values.empty() ? "" : ", ", a, ir_.steps_of(loop), loop);
  return values;
}

/// The folds of a loop, computed here. `region`: what the loop sees; `placed`: the place of its accesses. Where loops
/// are short, all their steps load before the first one computes.
void Functions::fold_loop(std::uint32_t loop, Region region, Region placed) {
  const std::string step = fmt::format("u{}", loop);
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (is_fold(v, loop))
      out_.line(fmt::format("{} {} = {};", c_type(ir_.instrs[v].dtype), value_name(v),
                            fold_start(ir_.folds[ir_.instrs[v].index])));
  std::vector<std::uint32_t> loaded;
  if (const int steps = ir_.steps_of(loop); steps > 0) {
    const bool ahead = placed == Region::Point && loads_ahead(loop);
    loaded = loop_loads(loop);
    if (!ahead) load_steps(loop, placed);
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, steps));
    if (!loaded.empty() && ahead)
      out_.line(fmt::format("const {} z = {{{}}};", steps_type(loaded), taken_ahead(loop)));
    else if (!loaded.empty())
      out_.line(fmt::format("const auto& z = z{}[{}];", loop, step));
  } else {
    out_.label("#pragma unroll 4");
    out_.open(fmt::format("for (int {0} = 0; {0} < (int)p.{1}; ++{0})", step,
                          slot_name({SlotKind::Scalar, ir_.loops[loop]})));
  }
  loop_body(loop, region, placed, loaded);
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    if (!is_fold(v, loop)) continue;
    const Fold& f = ir_.folds[ir_.instrs[v].index];
    out_.line(fmt::format("{} = {};", value_name(v),
                          fold_step(expressions_, f, step, value_name(v), operand(f.arg, region))));
  }
  out_.close();
}

/// The loads of all steps of a short loop, as members of z{loop}[step].
void Functions::load_steps(std::uint32_t loop, Region placed) {
  const std::vector<std::uint32_t> loads = loop_loads(loop);
  if (loads.empty()) return;
  const std::string step = fmt::format("u{}", loop);
  out_.line(fmt::format("{} z{}[{}];", steps_type(loads), loop, ir_.steps_of(loop)));
  out_.label("#pragma unroll");
  out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, ir_.steps_of(loop)));
  for (const std::uint32_t a : loads)
    out_.line(fmt::format("z{0}[{1}].a{2} = t.a{2}[{3}];", loop, step, a,
                          sum_text(element(a, placed), loop_offset(ir_, a, "p."))));
  out_.close();
}

/// The loads of a step of a loop, as members a{access}.
std::string Functions::steps_type(const std::vector<std::uint32_t>& loads) const {
  std::string members;
  for (const std::uint32_t a : loads) members += fmt::format(" {} a{};", c_type(element_type(a)), a);
  return fmt::format("struct {{{} }}", members);
}

bool Functions::is_fold(Value v, std::uint32_t loop) const {
  return ir_.instrs[v].kind == InstrKind::Fold && ir_.folds[ir_.instrs[v].index].loop == loop;
}

/// One step of a loop, up to its folds. `staged` accesses are members of z.
void Functions::loop_body(std::uint32_t loop, Region region, Region placed, const std::vector<std::uint32_t>& staged) {
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const Instr& in = ir_.instrs[v];
    if (in.loop != loop) continue;
    std::string text;
    if (in.kind == InstrKind::Compute) {
      std::vector<std::string> operands;
      for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i)
        operands.push_back(operand(in.args[i], region));
      text = expressions_.compute(v, operands);
    } else if (arity(in) > 0) {
      text = at_place(in, region, placed);
    } else if (std::find(staged.begin(), staged.end(), in.index) != staged.end()) {
      text = fmt::format("z.a{}", in.index);
    } else {
      const std::string at = sum_text(element(in.index, placed), loop_offset(ir_, in.index, "p."));
      const bool iota = ir_.accesses[in.index].buffer == kNone;
      text = iota ? sum_text(fmt::format("t.o{}", in.index), at) : fmt::format("t.a{}[{}]", in.index, at);
    }
    out_.line(fmt::format("const {} {} = {};", c_type(in.dtype), value_name(v), text));
  }
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
  loop_body(loop, Region::Point, Region::Point, staged);
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
