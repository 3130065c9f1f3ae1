// C: arrays that are loaded piece by piece. Loops are cut where pieces end, so each part of a loop reads one of them by
// its address, and none needs a test: one loop serves all parts.
#include "codegen/c/pieces.h"

#include "codegen/ir/usual.h"

namespace tarry::codegen {
namespace {

class PieceReader {
 public:
  explicit PieceReader(const KernelIr& ir) : ir_(ir) {}

  /// The pieces of a choice that reads an array at every point, each along its rows; empty where it is none.
  Pieces pieces_of(Value v) {
    found_.clear();
    if (!ir_.instrs[v].whole || !add(v)) return {};
    return found_;
  }

 private:
  bool add(Value v) {
    const Instr& in = ir_.instrs[v];
    if (in.kind == InstrKind::Load) {
      const Access& a = ir_.accesses[in.index];
      if (a.buffer == kNone || a.loop != kNone || a.strides.back() != StrideClass::One) return false;
      found_.push_back({kNone, in.index});
      return true;
    }
    if (!is_choice(ir_, in)) return false;
    found_.push_back({ir_.instrs[in.args[0]].index, kNone});
    return add(in.args[1]) && add(in.args[2]);
  }

  const KernelIr& ir_;
  Pieces found_;
};

}  // namespace

std::optional<PiecedKernel> with_pieces(const KernelIr& ir) {
  if (ir.rank == 0) return std::nullopt;
  std::optional<PiecedKernel> kernel;
  PieceReader reader(ir);
  for (Value v = 0; v < ir.instrs.size(); ++v) {
    Pieces pieces = reader.pieces_of(v);
    if (pieces.empty()) continue;
    if (!kernel) kernel = PiecedKernel{ir, {}, {}};
    const auto access = static_cast<std::uint32_t>(kernel->ir.accesses.size());
    kernel->ir.accesses.push_back(ir.accesses[pieces.back().access]);
    Instr& load = kernel->ir.instrs[v];
    load.kind = InstrKind::Load;
    load.args = {kNone, kNone, kNone};
    load.index = access;
    kernel->pieces[access] = std::move(pieces);
  }
  if (kernel) kernel->needed = needed_values(kernel->ir);
  return kernel;
}

}  // namespace tarry::codegen
