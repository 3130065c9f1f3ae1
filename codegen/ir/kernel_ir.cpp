// KernelIr by its layout and instructions: vectors and tiles, lanes, stages, the layout of reduction
// states.
#include "codegen/ir/kernel_ir.h"

#include <algorithm>
#include <bit>

namespace tarry::codegen {

Layout empty_layout(Schedule schedule) {
  const Layout layouts[] = {
#define TARRY_SCHEDULE(schedule, ...) schedule##Layout{},
#include "codegen/ir/schedules.def"
  };
  return layouts[static_cast<std::size_t>(schedule)];
}

const char* entry_word(Schedule schedule) {
  constexpr const char* kWords[] = {
#define TARRY_SCHEDULE(schedule, name, word, ...) word,
#include "codegen/ir/schedules.def"
  };
  return kWords[static_cast<std::size_t>(schedule)];
}

int KernelIr::vector() const {
  return std::visit(
      [](const auto& l) {
        if constexpr (requires { l.vector; })
          return l.vector;
        else
          return 1;
      },
      layout);
}

bool KernelIr::striped() const {
  return std::visit(
      [](const auto& l) {
        if constexpr (requires { l.striped; })
          return l.striped;
        else
          return false;
      },
      layout);
}

int KernelIr::row_dimension() const {
  return std::visit(
      [this](const auto& l) {
        if constexpr (requires { l.row_dimension(*this); })
          return l.row_dimension(*this);
        else
          return -1;
      },
      layout);
}

int KernelIr::tile(int dimension) const {
  return std::visit(
      [&](const auto& l) {
        if constexpr (requires { l.tile(*this, dimension); })
          return l.tile(*this, dimension);
        else
          return 1;
      },
      layout);
}

std::int64_t KernelIr::tiles(int dimension, std::int64_t extent) const {
  return std::visit(
      [&](const auto& l) -> std::int64_t {
        if constexpr (requires { l.tiles(*this, dimension, extent); })
          return l.tiles(*this, dimension, extent);
        else
          return (extent + tile(dimension) - 1) / tile(dimension);
      },
      layout);
}

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

bool KernelIr::sums_narrow() const {
  return !reductions.empty() && std::all_of(reductions.begin(), reductions.end(), [&](const Reduction& r) {
    if (r.op != Op::Sum || is_floating(r.dtype)) return false;
    const Instr& in = instrs[r.args[0]];
    if (in.kind != InstrKind::Compute || in.op != Op::Cast) return false;
    const Dtype from = instrs[in.args[0]].dtype;
    return !is_floating(from) && itemsize(from) <= 2;
  });
}

bool KernelIr::has_narrow_lanes() const {
  return (schedule() == Schedule::ReduceInner || schedule() == Schedule::ReduceOuter) && sums_narrow();
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

int scan_lines(const KernelIr& ir) {
  constexpr std::size_t kLineBytes = 256;
  constexpr int kMost = 16, kFewest = 4;
  if (!ir.combines()) return kMost;
  std::size_t bytes = 0;
  for (const Reduction& r : ir.reductions) bytes += itemsize(r.dtype);
  return std::clamp(static_cast<int>(std::bit_floor(kLineBytes / std::min(bytes, kLineBytes))), kFewest, kMost);
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
