// C kernels: the renderer of a kernel's schedule, pointwise kernels, the cost of a point, dense stores.
#include "codegen/c/render.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tarry::codegen {

int point_cost(const KernelIr& ir) {
  // A quarter of a nanosecond is what a core needs for 4 bytes of memory traffic, or for a vector instruction's element
  // of cost 4 in the op table; a strided access costs about 4 of them.
  constexpr int kLoopSteps = 8;  // of which the kernel knows only that there are 2 to 32
  int bytes = 0, work = 0;
  for (const Instr& instr : ir.instrs) {
    if (ir.home_region(instr) != Region::Point) continue;
    const int times = instr.loop == kNone ? 1 : kLoopSteps;
    if (instr.kind == InstrKind::Compute) work += times * graph::info(instr.op).cost;
    if (instr.kind == InstrKind::Index) work += times * graph::info(Op::Index).cost;
    if (instr.kind == InstrKind::Gather) bytes += times * 4 * static_cast<int>(itemsize(instr.dtype));
    if (instr.kind == InstrKind::Fold) work += kLoopSteps * graph::info(ir.folds[instr.index].op).cost;
    if (instr.kind != InstrKind::Load && instr.kind != InstrKind::Store) continue;
    const Access& a = ir.accesses[instr.index];
    const bool shared = ir.is_contraction() && a.loop != kNone;
    if (a.buffer != kNone && !shared) bytes += times * static_cast<int>(itemsize(ir.buffers[a.buffer]));
  }
  for (const Reduction& r : ir.reductions) work += graph::info(r.op).cost;
  return std::max(1, bytes / 4 + work / 4);
}

namespace {

CWriter::Loop pointwise_loop(const CWriter& w, const std::optional<PiecedKernel>& pieced) {
  CWriter::Loop loop{{}, Axis::LastOuter, "i", "lo", "hi"};
  for (Value v = 0; v < w.ir.instrs.size(); ++v)
    if (w.ir.instrs[v].region != Region::Loop && (!pieced || pieced->needed[v])) loop.values.push_back(v);
  loop.is_long = w.ir.rank < 2;
  loop.vectors = w.has_vectors(loop);
  return loop;
}

}  // namespace

KernelSource render_c_pointwise(const KernelIr& ir, const graph::Target& target) {
  const Parameters parameters = make_parameters(ir, {SlotKind::Extent});
  const std::optional<PiecedKernel> pieced = with_pieces(ir);
  CWriter w(pieced ? pieced->ir : ir, parameters, target.vector_bytes);
  if (pieced) w.set_pieces(pieced->pieces);
  w.preamble();
  CWriter::Loop loop = pointwise_loop(w, pieced);
  w.open(fmt::format("{1}void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                     loop.vectors ? "TARRY_PLAIN " : ""));
  w.locals();
  constexpr std::array kPoint = {Region::Point};
  const auto row = [&] {
    w.bases('a', kPoint, outer_indices(w.ir, "0"), "0");
    w.loop(loop);
  };
  if (ir.rank < 2) {
    row();
  } else {
    loop.from = "from", loop.to = "to";
    w.line(fmt::format("const tarry_i64 inner = e{};", ir.rank - 1));
    w.line("const tarry_i64 row = lo / inner;");
    w.line("tarry_i64 from = lo - row * inner;");
    decode_row(w, "row");
    w.open("while (lo < hi)");
    w.line("const tarry_i64 to = inner - from < hi - lo ? inner : from + (hi - lo);");
    row();
    w.line("lo += to - from;");
    w.line("from = 0;");
    next_row(w);
    w.close();
  }
  w.close();
  return w.finish();
}

DenseStores dense_stores(const KernelIr& ir, const KernelArgs& args, std::int64_t elements) {
  DenseStores dense;
  const std::int64_t items = args.outer_count();
  for (const Instr& instr : ir.instrs) {
    if (instr.kind != InstrKind::Store || instr.region != Region::Point || instr.index >= 64) continue;
    const AccessArgs& a = args.accesses[instr.index];
    bool is_dense = elements == 1 || a.reduced_stride == 1;
    std::int64_t expected = elements;
    for (int d = args.extents.size(); d-- > 0; expected *= args.extents[d])
      is_dense = is_dense && (args.extents[d] == 1 || a.strides[d] == expected);
    if (!is_dense) continue;
    dense.accesses |= std::uint64_t{1} << instr.index;
    dense.bytes += items * elements * static_cast<std::int64_t>(itemsize(ir.buffers[ir.accesses[instr.index].buffer]));
  }
  if (dense.accesses != 0) dense.elements = elements;
  return dense;
}

KernelSource render_c(const KernelIr& ir, const graph::Target& target) {
  using Renderer = KernelSource (*)(const KernelIr&, const graph::Target&);
  static constexpr Renderer kRenderers[] = {
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, render, ...) render,
#include "codegen/ir/schedules.def"
  };
  return kRenderers[ir.layout.index()](ir, target);
}

}  // namespace tarry::codegen
