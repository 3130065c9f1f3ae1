// C kernels of which some loads are contiguous along another dimension than the stores. A work item is a square tile.
//
// Operands of the transposed loads are copied, transposed, into arrays of a tile's shape, which fit L1;
// then the instructions run along the last dimension as in every other kernel. Both ways whole cache lines are read.
// The copy walks along memory and asks for the columns ahead in L2: where rows are a power of two apart,
// columns share the few lines that the first one has for them.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/c/transpose_block.h"
#include "codegen/ir/transpose.h"

namespace tarry::codegen {
namespace {

constexpr int kColumnsAhead = 16;

class TransposeWriter {
 public:
  TransposeWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        edge_(ir.as<TransposeLayout>().rows),
        parameters_(make_parameters(ir, {SlotKind::Extent, SlotKind::Tiles})),
        w_(ir, parameters_, target.vector_bytes) {
    for (const Instr& in : ir.instrs) {
      if (in.kind != InstrKind::Load || !is_transposed(ir, in.index)) continue;
      const auto same = [&](const Transposed& c) { return c.access == in.index; };
      if (std::none_of(transposed_.begin(), transposed_.end(), same)) transposed_.push_back({in.index, in.guard});
    }
  }

  KernelSource render() {
    w_.preamble();
    std::set<std::size_t> sizes;
    for (const Transposed& c : transposed_) sizes.insert(size(c));
    for (const std::size_t s : sizes) transposes_[s] = transpose_function(w_, s, kColumnsAhead);
    entry();
    KernelSource source = w_.finish();
    source.tile = edge_ * edge_;
    return source;
  }

 private:
  struct Transposed {
    std::uint32_t access, guard;
  };

  [[nodiscard]] std::size_t size(const Transposed& c) const {
    return itemsize(ir_.buffers[ir_.accesses[c.access].buffer]);
  }
  /// The strides of access `a` from row to row, or from column to column.
  [[nodiscard]] std::string stride(std::uint32_t a, int dimension) const {
    const auto d = static_cast<std::uint32_t>(dimension);
    const StrideClass known = ir_.accesses[a].strides[d];
    return known == StrideClass::Zero ? "0" : known == StrideClass::One ? "1" : slot_name({SlotKind::Stride, a, d});
  }

  /// A guard holds in a box of the tile: only that is read.
  void copy(const Transposed& c) {
    const std::string call = transposes_.at(size(c)), pitch = stride(c.access, ir_.rank - 1);
    const std::string types = fmt::format("(const {}*)", word_type(size(c)));
    if (c.guard == kNone) {
      w_.line(fmt::format("{0}({1}b{2}, {3}, t{2}, {4}, rows, columns);", call, types, c.access, pitch, edge_));
      return;
    }
    w_.open("");
    w_.line("tarry_i64 top = 0, bottom = rows, left = 0, right = columns;");
    for (const GuardTerm& term : ir_.guards[c.guard].terms) {
      const bool along = ir_.accesses[term.access].strides.back() != StrideClass::Zero;
      w_.inside(term, fmt::format("b{}", term.access),
                stride(term.access, along ? ir_.rank - 1 : ir_.as<TransposeLayout>().across), along ? "left" : "top",
                along ? "right" : "bottom");
    }
    w_.line(
        fmt::format("if (top < bottom && left < right) {0}({1}b{2} + top + left * {3}, {3}, t{2} + top * {4} + left, "
                    "{4}, bottom - top, right - left);",
                    call, types, c.access, pitch, edge_));
    w_.close();
  }

  /// Tiles come in bands of kBand rows of tiles, column after column of a band: both the loads and the stores that are
  /// contiguous go on where they ended while what the core fetched ahead is still there. (cpu/stream.cpp finds them
  /// alike.)
  void place() {
    const int last = ir_.rank - 1, across = ir_.as<TransposeLayout>().across;
    w_.line(fmt::format("const tarry_i64 across = n{}, down = (e{} + {}) / {};", last, across, edge_ - 1, edge_));
    w_.line("tarry_i64 at = item / (down * across), in = item - at * (down * across);");
    w_.line(fmt::format(
        "const tarry_i64 top = in / ({0} * across) * {0}, height = down - top < {0} ? down - top : {0};", kTileBand));
    w_.line("in -= top * across;");
    w_.line(fmt::format("const tarry_i64 i{0} = (top + in % height) * {2}, i{1} = in / height * {2};", across, last,
                        edge_));
    for (int d = last - 1; d >= 0; --d) {
      if (d == across) continue;
      w_.line(d > 0 ? fmt::format("const tarry_i64 i{0} = at % n{0};", d) : std::string("const tarry_i64 i0 = at;"));
      if (d > 0) w_.line(fmt::format("at /= n{};", d));
    }
    w_.line(fmt::format("const tarry_i64 rows = e{0} - i{0} < {1} ? e{0} - i{0} : {1};", across, edge_));
    w_.line(fmt::format("const tarry_i64 columns = e{0} - i{0} < {1} ? e{0} - i{0} : {1};", last, edge_));
  }

  void entry() {
    constexpr std::array kPoint = {Region::Point};
    CWriter::Loop loop{{}, Axis::LastOuter, "i", "0", "columns"};
    loop.is_short = true;
    for (Value v = 0; v < ir_.instrs.size(); ++v) loop.values.push_back(v);
    loop.vectors = w_.has_vectors(loop);
    w_.open(fmt::format("{1}void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                        loop.vectors ? "TARRY_PLAIN " : ""));
    w_.locals();
    for (const Transposed& c : transposed_)
      w_.line(fmt::format("{} t{}[{}] __attribute__((aligned({})));", word_type(size(c)), c.access, edge_ * edge_,
                          kLineBytes));
    w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
    place();
    w_.bases('b', kPoint, outer_indices(ir_, fmt::format("i{}", ir_.rank - 1)), "0");
    for (const Transposed& c : transposed_) copy(c);
    w_.open("for (tarry_i64 r = 0; r < rows; ++r)");
    std::vector<std::string> row(static_cast<std::size_t>(ir_.rank), "0");
    row[static_cast<std::size_t>(ir_.as<TransposeLayout>().across)] = "r";
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!w_.uses(a, Region::Point)) continue;
      if (is_transposed(ir_, a))
        w_.base('a', a, fmt::format("(const {}*)t{}", c_type(ir_.buffers[ir_.accesses[a].buffer]), a),
                fmt::format("r * {}", edge_));
      else
        w_.base('a', a, fmt::format("b{}", a), outer_offset(ir_, a, row, ""));
    }
    w_.loop(loop);
    w_.close();
    w_.close();
    w_.close();
  }

  const KernelIr& ir_;
  const int edge_;
  const Parameters parameters_;
  CWriter w_;
  std::map<std::size_t, std::string> transposes_;  ///< by size
  std::vector<Transposed> transposed_;
};

}  // namespace

KernelSource render_c_transpose(const KernelIr& ir, const graph::Target& target) {
  if (ir.as<TransposeLayout>().channel_dimension >= 0) return render_c_interleaved(ir, target);
  return TransposeWriter(ir, target).render();
}

Geometry geometry_c_transpose(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  const auto& layout = ir.as<TransposeLayout>();
  if (layout.channel_dimension >= 0) return geometry_c_interleaved(ir, target, args);
  Geometry g = geometry_c_tiles(ir, target, args);
  g.tiled.rows = g.tiled.columns = layout.rows;
  g.tiled.across = layout.across;
  g.tiled.band = kTileBand;
  for (const Instr& in : ir.instrs) {
    if (in.kind != InstrKind::Store || in.index >= 64) continue;
    const Access& a = ir.accesses[in.index];
    if (a.strides.back() != StrideClass::One || a.strides[static_cast<std::size_t>(layout.across)] != StrideClass::Any)
      continue;
    g.tiled.accesses |= std::uint64_t{1} << in.index;
    g.tiled.bytes += args.outer_count() * static_cast<std::int64_t>(itemsize(ir.buffers[a.buffer]));
  }
  return g;
}

}  // namespace tarry::codegen
