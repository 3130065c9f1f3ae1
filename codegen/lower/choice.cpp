// Questions of choosers about a kernel, and the choice over the table of schedules.
#include "codegen/lower/choice.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "support/check.h"

namespace tarry::codegen {

namespace {

constexpr std::int64_t kFewestStored = 8, kFewestSharing = 16;  // columns side by side that are worth it

}  // namespace

Choice::Choice(Lowered& kernel, const graph::Group& of, const graph::Target& on, std::vector<std::int64_t> extents)
    : lowered(kernel),
      ir(kernel.ir),
      args(kernel.args),
      group(of),
      target(on),
      loops(std::move(extents)),
      guarded_(kernel.ir.accesses.size()) {
  for (const Instr& in : ir.instrs)
    if (in.kind == InstrKind::Load && in.guard != kNone) guarded_[in.index] = true;
}

bool Choice::is_plain_map() const {
  return !group.reduces && !group.iterated_stencil() && !group.levels && ir.loops.empty() && !gathers(ir) &&
         args.outer_count() != 0;
}

bool Choice::outer_is_best() const {
  std::int64_t inner = 0, outer = 0;
  const std::int64_t columns = ir.rank == 0 ? 0 : args.extents.back();
  for (const Access& a : ir.accesses) {
    const bool drawn = numbers_draw(static_cast<std::size_t>(&a - ir.accesses.data()));
    if (a.outer_only || (a.buffer == kNone && !drawn)) continue;
    const auto bytes = static_cast<std::int64_t>(drawn ? itemsize(Dtype::UInt32) : itemsize(ir.buffers[a.buffer]));
    const std::int64_t size = a.store ? 2 * bytes : bytes;  // lines that are written in part are read, too
    const bool varies =
        std::any_of(a.strides.begin(), a.strides.end(), [](StrideClass s) { return s != StrideClass::Zero; });
    if (a.reduced == StrideClass::One && (varies || ir.rank == 0)) inner += size;
    if (ir.rank == 0 || a.reduced == StrideClass::Zero || (a.store && columns < kFewestStored)) continue;
    const AccessArgs& walk = args.accesses[static_cast<std::size_t>(&a - ir.accesses.data())];
    const bool nearer =
        a.strides.back() == StrideClass::Any && std::abs(walk.strides.back()) < std::abs(walk.reduced_stride);
    const bool shared =  // one element for all columns, and apart along each
        a.strides.back() == StrideClass::Zero && a.reduced == StrideClass::Any && columns >= kFewestSharing;
    if (a.strides.back() == StrideClass::One || nearer || shared) outer += size;
  }
  return outer > inner;
}

bool Choice::is_plain(std::size_t access) const { return ir.accesses[access].buffer != kNone && !guarded_[access]; }

bool Choice::numbers_draw(std::size_t access) const {
  return std::ranges::any_of(ir.instrs, [&](const Instr& in) {
    return in.kind == InstrKind::Compute && in.op == graph::Op::RandomBits && is_iota(ir, in.args[0]) &&
           ir.instrs[in.args[0]].index == access;
  });
}

bool Choice::runs_through(std::size_t access, std::int64_t stride) const {
  const Access& a = ir.accesses[access];
  return is_plain(access) && a.loop != kNone && ir.steps_of(a.loop) > 0 && a.step == StrideClass::One &&
         stride == ir.steps_of(a.loop);
}

int choose_inner_vector(Choice& c, int most) {
  const std::size_t accesses = c.ir.accesses.size();
  std::size_t widest = 0;
  for (std::size_t i = 0; i < accesses; ++i)
    if (c.runs_along(i) && c.is_vector(i)) widest = std::max(widest, itemsize(c.ir.buffers[c.ir.accesses[i].buffer]));
  int vector = kReduceVector;
  if (widest > 0 && c.ir.stages() == 1)
    vector = std::clamp(c.target.vector_bytes / static_cast<int>(widest), kReduceVector, most);
  const auto fits = [&](int v) {
    for (std::size_t i = 0; i < accesses; ++i)
      if (c.runs_along(i) && !c.is_aligned(i, v, -1)) return false;
    return true;
  };
  while (vector > kReduceVector && !fits(vector)) vector /= 2;
  for (std::size_t i = 0; i < accesses; ++i)
    c.ir.accesses[i].aligned =
        (c.runs_along(i) || c.runs_through(i, c.args.accesses[i].reduced_stride)) && c.is_aligned(i, vector, -1);
  return vector;
}

Layout choose_layout(Choice& c) {
  using Chooser = std::optional<Layout> (*)(Choice&);
  static constexpr Chooser kChoosers[] = {
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, ...) choose,
#include "codegen/ir/schedules.def"
  };
  std::optional<Layout> layout;
  for (const Chooser choose : kChoosers)
    if ((layout = choose(c))) break;
  TARRY_ASSERT(layout);
  return *layout;
}

}  // namespace tarry::codegen
