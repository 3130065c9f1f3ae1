// CUDA C: short reductions as loops inside other kernels.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/render_cuda.h"

namespace tarry::codegen::cuda {

/// The folds of a loop, computed here. `region`: what the loop sees; `placed`: the place of its accesses. Where loops are
/// short, all their steps load before the first one computes.
void Functions::fold_loop(std::uint32_t loop, Region region, Region placed) {
  const std::string step = fmt::format("u{}", loop);
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (is_fold(v, loop))
      out_.line(fmt::format("{} {} = {};", c_type(ir_.instrs[v].dtype), value_name(v), fold_start(ir_.folds[ir_.instrs[v].index])));
  std::vector<std::uint32_t> loaded;
  if (const int steps = ir_.steps_of(loop); steps > 0) {
    loaded = load_steps(loop, placed);
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, steps));
    if (!loaded.empty()) out_.line(fmt::format("const auto& z = z{}[{}];", loop, step));
  } else {
    out_.label("#pragma unroll 4");
    out_.open(fmt::format("for (int {0} = 0; {0} < (int)p.{1}; ++{0})", step, slot_name({SlotKind::Scalar, ir_.loops[loop]})));
  }
  loop_body(loop, region, placed, loaded);
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    if (!is_fold(v, loop)) continue;
    const Fold& f = ir_.folds[ir_.instrs[v].index];
    out_.line(fmt::format("{} = {};", value_name(v), fold_step(expressions_, f, step, value_name(v), operand(f.arg, region))));
  }
  out_.close();
}

/// The loads of all steps of a short loop, as members of z{loop}[step]; gives the accesses.
std::vector<std::uint32_t> Functions::load_steps(std::uint32_t loop, Region placed) {
  std::vector<std::uint32_t> loaded;
  std::string members;
  for (const Instr& in : ir_.instrs) {
    const bool loads = in.loop == loop && in.kind == InstrKind::Load && ir_.accesses[in.index].buffer != kNone;
    if (!loads || std::find(loaded.begin(), loaded.end(), in.index) != loaded.end()) continue;
    loaded.push_back(in.index);
    members += fmt::format(" {} a{};", c_type(element_type(in.index)), in.index);
  }
  if (loaded.empty()) return loaded;
  const std::string step = fmt::format("u{}", loop);
  out_.line(fmt::format("struct {{{} }} z{}[{}];", members, loop, ir_.steps_of(loop)));
  out_.label("#pragma unroll");
  out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, ir_.steps_of(loop)));
  for (const std::uint32_t a : loaded)
    out_.line(fmt::format("z{0}[{1}].a{2} = t.a{2}[{3}];", loop, step, a, sum_text(element(a, placed), loop_offset(ir_, a, "p."))));
  out_.close();
  return loaded;
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
      for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i) operands.push_back(operand(in.args[i], region));
      text = expressions_.compute(v, operands);
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
  out_.open(fmt::format("__device__ __forceinline__ void $N_step{0}(const $N_params& p, const $N_at& t, $K k, const $N_staged{0}& z, "
                        "int u{0}, $N_folds& f)", loop));
  out_.line("const int j = 0;");
  loop_body(loop, Region::Point, Region::Point, staged);
  for (std::uint32_t i = 0; i < ir_.folds.size(); ++i) {
    const Fold& f = ir_.folds[i];
    if (f.loop != loop) continue;
    const std::string value = fmt::format("f.f{}", i);
    out_.line(fmt::format("{} = {};", value, fold_step(expressions_, f, fmt::format("u{}", loop), value, operand(f.arg, Region::Point))));
  }
  out_.close();
  return out_.take();
}

}  // namespace tarry::codegen::cuda
