// C kernels of several steps of shifted views. A work item is a tile of the result.
//
// Rows go through the stages one after the other: a stage computes a row as soon as the rows that it reaches are there, so
// of every kept value only a few rows exist, in a ring that the cache holds. The stages' rows are as many columns longer as
// later ones reach: tiles compute those twice. Each stage is a loop along a row, cut where a guard begins or ends.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "codegen/render_c.h"
#include "codegen/steps.h"

namespace tarry::codegen {
namespace {

constexpr int kLineBytes = 64;
constexpr int kAhead = 4096;  // times the rows of a ring: no row number is negative then

class StepsWriter {
 public:
  explicit StepsWriter(const KernelIr& ir)
      : ir_(ir), parameters_(make_parameters(ir, {SlotKind::Extent, SlotKind::Tiles})), w_(ir, parameters_), rings_(rings(ir)) {}

  KernelSource render() {
    w_.preamble();
    entry();
    KernelSource source = w_.finish();
    source.tile = ir_.tile_rows * ir_.vector;
    return source;
  }

 private:
  void entry() {
    constexpr std::array kPoint = {Region::Point};
    const Halo all = halo_after(ir_, 0);
    w_.open(fmt::format("void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
    w_.locals();
    for (const StepsRing& r : rings_)
      w_.line(fmt::format("{} k{}[{}][{}] __attribute__((aligned({})));", c_type(ir_.instrs[r.value].dtype), r.value, r.rows, r.columns, kLineBytes));
    w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
    place_tile(w_);
    w_.bases('b', kPoint, outer_indices(ir_, fmt::format("i{}", ir_.rank - 1)), "0");
    w_.open(fmt::format("for (tarry_i64 row = {}; row < rows + {}; ++row)", -all.top, all.bottom));
    for (int stage = 0; stage < ir_.stages(); ++stage) row(stage);
    w_.close();
    w_.close();
    w_.close();
  }

  /// A row of a stage, i from its first column.
  void row(int stage) {
    const Halo h = halo_after(ir_, stage);
    w_.open("");
    w_.line(fmt::format("const tarry_i64 y = row - {};", rows_behind(ir_, stage)));
    w_.open(fmt::format("if (y >= {} && y < rows + {})", -h.top, h.bottom));
    std::vector<std::string> at(static_cast<std::size_t>(ir_.rank), "0");
    at.back() = h.left > 0 ? fmt::format("(-{})", h.left) : "0";
    if (ir_.row_dimension() >= 0) at[static_cast<std::size_t>(ir_.row_dimension())] = "y";
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (is_used(a, stage)) w_.base('a', a, fmt::format("b{}", a), outer_offset(ir_, a, at, ""));
    for (const StepsRing& r : rings_) lines(r, stage, h);
    CWriter::Loop loop{{}, Axis::LastOuter, "i", "0", fmt::format("columns + {}", h.left + h.right), [&](Value v) { return operand(v, stage); }};
    for (Value v = 0; v < ir_.instrs.size(); ++v) {
      const Instr& in = ir_.instrs[v];
      if (in.stage == stage && in.kind != InstrKind::Scalar && in.kind != InstrKind::Neighbour) loop.values.push_back(v);
    }
    w_.loop(loop, [&] {
      for (const StepsRing& r : rings_)
        if (ir_.instrs[r.value].stage == stage) w_.line(fmt::format("k{0}_at[i] = {1};", r.value, value_name(r.value)));
    });
    w_.close();
    w_.close();
  }

  [[nodiscard]] bool is_used(std::uint32_t access, int stage) const {
    for (const Instr& in : ir_.instrs) {
      if (in.stage != stage) continue;
      if ((in.kind == InstrKind::Load || in.kind == InstrKind::Store) && in.index == access) return true;
      const std::uint32_t guard = in.kind == InstrKind::Inside ? in.index : in.guard;
      if (guard == kNone) continue;
      for (const GuardTerm& term : ir_.guards[guard].terms)
        if (term.access == access) return true;
    }
    return false;
  }

  /// The rows of a ring that a stage writes or reads, as pointers to the column of i = 0.
  void lines(const StepsRing& r, int stage, const Halo& h) {
    const int made = ir_.instrs[r.value].stage, first = halo_after(ir_, made).left - h.left;
    const std::string type = c_type(ir_.instrs[r.value].dtype);
    const auto line = [&](const std::string& name, int by) {
      w_.line(fmt::format("{}{}* const {} = k{}[(y + {}) % {}] + {};", made == stage ? "" : "const ", type, name, r.value, r.rows * kAhead + by, r.rows, first));
    };
    if (made == stage) return line(fmt::format("k{}_at", r.value), 0);
    std::vector<int> seen;
    for (const Instr& in : ir_.instrs) {
      if (in.stage != stage || std::find(in.args.begin(), in.args.end(), r.value) == in.args.end()) continue;
      if (std::find(seen.begin(), seen.end(), in.row) != seen.end()) continue;
      seen.push_back(in.row);
      line(name(r.value, in.row), in.row);
    }
  }

  static std::string name(Value v, int row) { return fmt::format("k{}_{}{}", v, row < 0 ? "m" : "", std::abs(row)); }

  [[nodiscard]] std::string operand(Value v, int stage) const {
    const Instr& in = ir_.instrs[v];
    if (in.kind == InstrKind::Neighbour) return fmt::format("{}[i + {}]", name(in.args[0], in.row), in.column);
    if (in.kind == InstrKind::Scalar || in.stage == stage) return value_name(v);
    return fmt::format("{}[i]", name(v, 0));
  }

  const KernelIr& ir_;
  const Parameters parameters_;
  CWriter w_;
  const std::vector<StepsRing> rings_;
};

}  // namespace

KernelSource render_c_steps(const KernelIr& ir) { return StepsWriter(ir).render(); }

}  // namespace tarry::codegen
