// C kernels of which some loads are contiguous along another dimension than the stores. A work item is a square tile.
//
// What the crossed loads need is copied, transposed, into arrays of a tile's shape, which the first cache holds; then the
// instructions run along the last dimension as in every other kernel. Both ways whole cache lines are read. The copy is a
// network of shuffles: vectors of 16 bytes from K columns of K elements, log2 K times interleaved with those half their
// number away, are K rows. It walks along memory and asks for the columns ahead in the second cache: where rows are a power
// of two apart, columns share the few lines that the first one has for them.
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "codegen/render_c.h"

namespace tarry::codegen {
namespace {

constexpr std::size_t kVectorBytes = 16;  // which every level has
constexpr int kLineBytes = 64;
constexpr int kColumnsAhead = 16;

constexpr std::string_view kShuffle = R"~(#ifndef TARRY_SHUFFLE
#if defined(__clang__)
#define TARRY_SHUFFLE(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define TARRY_SHUFFLE(type, a, b, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif
#endif)~";

class TransposeWriter {
 public:
  explicit TransposeWriter(const KernelIr& ir)
      : ir_(ir), edge_(ir.tile_rows), parameters_(make_parameters(ir, {SlotKind::Extent, SlotKind::Tiles})), w_(ir, parameters_) {
    for (const Instr& in : ir.instrs) {
      if (in.kind != InstrKind::Load || !ir.crosses(in.index)) continue;
      const auto same = [&](const Crossed& c) { return c.access == in.index; };
      if (std::none_of(crossed_.begin(), crossed_.end(), same)) crossed_.push_back({in.index, in.guard});
    }
  }

  KernelSource render() {
    w_.preamble();
    w_.label(kShuffle);
    std::set<std::size_t> sizes;
    for (const Crossed& c : crossed_) sizes.insert(size(c));
    for (const std::size_t s : sizes) {
      interleave(s, false);
      interleave(s, true);
      turn(s);
    }
    entry();
    const std::vector<std::string> functions = w_.expressions.functions();
    KernelSource source = finish_kernel(ir_, Dialect::C, w_.take(), parameters_, functions);
    source.point_cost = point_cost(ir_);
    source.tile = edge_ * edge_;
    return source;
  }

 private:
  struct Crossed {
    std::uint32_t access, guard;
  };

  [[nodiscard]] std::size_t size(const Crossed& c) const { return itemsize(ir_.buffers[ir_.accesses[c.access].buffer]); }
  [[nodiscard]] static std::string word(std::size_t size) { return fmt::format("tarry_u{}", 8 * size); }
  [[nodiscard]] static std::string vector(std::size_t size) { return fmt::format("{}_v{}", kEntryName, size); }

  /// Elements of the first or of the second halves of two vectors, in turn.
  void interleave(std::size_t size, bool second) {
    const std::size_t lanes = kVectorBytes / size;
    if (!second) w_.line(fmt::format("typedef {} {} __attribute__((vector_size({})));", word(size), vector(size), kVectorBytes));
    std::string order;
    for (std::size_t l = 0; l < lanes; ++l) order += fmt::format(", {}", l / 2 + (second ? lanes / 2 : 0) + (l % 2) * lanes);
    w_.open(fmt::format("static inline {0} {1}_{2}{3}({0} a, {0} b)", vector(size), kEntryName, second ? "high" : "low", size));
    w_.line(fmt::format("return TARRY_SHUFFLE({}, a, b{});", vector(size), order));
    w_.close();
  }

  /// to[r][c] = from[c][r]; `pitch` lies between the columns of `from`, an edge between the rows of `to`.
  void turn(std::size_t size) {
    const std::size_t lanes = kVectorBytes / size, line = kLineBytes / size;
    w_.open(fmt::format("static void {0}_turn{1}(const {2}* from, tarry_i64 pitch, {2}* to, tarry_i64 rows, tarry_i64 columns)",
                        kEntryName, size, word(size)));
    w_.line("tarry_i64 c = 0;");
    w_.open(fmt::format("for (; c + {0} <= columns; c += {0}, from += {0} * pitch)", lanes));
    w_.line("tarry_i64 r = 0;");
    w_.open(fmt::format("for (; r + {0} <= rows; r += {0})", lanes));
    w_.line(fmt::format("if (r % {} == 0) for (int k = 0; k < {}; ++k) __builtin_prefetch(from + r + ({} + k) * pitch, 0, 2);",
                        line, lanes, kColumnsAhead));
    std::string names;
    for (std::size_t k = 0; k < lanes; ++k) names += fmt::format("{}x0_{}", k ? ", " : "", k);
    w_.line(fmt::format("{} {};", vector(size), names));
    for (std::size_t k = 0; k < lanes; ++k) w_.line(fmt::format("__builtin_memcpy(&x0_{0}, from + r + {0} * pitch, {1});", k, kVectorBytes));
    std::size_t step = 0;
    for (; (std::size_t{1} << step) < lanes; ++step)
      for (std::size_t k = 0; k < lanes / 2; ++k)
        w_.line(fmt::format("const {0} x{1}_{2} = {3}_low{4}(x{5}_{6}, x{5}_{7}), x{1}_{8} = {3}_high{4}(x{5}_{6}, x{5}_{7});",
                            vector(size), step + 1, 2 * k, kEntryName, size, step, k, k + lanes / 2, 2 * k + 1));
    for (std::size_t k = 0; k < lanes; ++k)
      w_.line(fmt::format("__builtin_memcpy(to + (r + {0}) * {1} + c, &x{2}_{0}, {3});", k, edge_, step, kVectorBytes));
    w_.close();
    w_.line(fmt::format("for (; r < rows; ++r) for (int k = 0; k < {}; ++k) to[r * {} + c + k] = from[r + k * pitch];", lanes, edge_));
    w_.close();
    w_.line(fmt::format("for (; c < columns; ++c, from += pitch) for (tarry_i64 r = 0; r < rows; ++r) to[r * {} + c] = from[r];", edge_));
    w_.close();
  }

  /// What access `a` adds from row to row, or from column to column.
  [[nodiscard]] std::string stride(std::uint32_t a, int dimension) const {
    const auto d = static_cast<std::uint32_t>(dimension);
    const StrideClass known = ir_.accesses[a].strides[d];
    return known == StrideClass::Zero ? "0" : known == StrideClass::One ? "1" : slot_name({SlotKind::Stride, a, d});
  }

  /// Where `item` lies: i0, i1, ... the first point of the tile, rows and columns those that are there.
  void place() {
    w_.line("tarry_i64 at = item;");
    for (int d = ir_.rank - 1; d >= 0; --d) {
      const std::string index = d > 0 ? fmt::format("at % n{}", d) : std::string("at");
      const int tile = ir_.tile(d);
      w_.line(fmt::format("const tarry_i64 i{} = {};", d, tile > 1 ? fmt::format("({}) * {}", index, tile) : index));
      if (d > 0) w_.line(fmt::format("at /= n{};", d));
    }
    for (const auto& [name, d] : {std::pair("rows", ir_.cross), std::pair("columns", ir_.rank - 1)})
      w_.line(fmt::format("const tarry_i64 {0} = e{1} - i{1} < {2} ? e{1} - i{1} : {2};", name, d, edge_));
  }

  /// A guard holds in a box of the tile: only that is read.
  void copy(const Crossed& c) {
    const std::string call = fmt::format("{}_turn{}", kEntryName, size(c)), pitch = stride(c.access, ir_.rank - 1);
    const std::string types = fmt::format("(const {}*)", word(size(c)));
    if (c.guard == kNone) {
      w_.line(fmt::format("{}({}b{}, {}, t{}, rows, columns);", call, types, c.access, pitch, c.access));
      return;
    }
    w_.open("");
    w_.line("tarry_i64 top = 0, bottom = rows, left = 0, right = columns;");
    for (const GuardTerm& term : ir_.guards[c.guard].terms) {
      const bool along = ir_.accesses[term.access].strides.back() != StrideClass::Zero;
      w_.inside(term, fmt::format("b{}", term.access), stride(term.access, along ? ir_.rank - 1 : ir_.cross), along ? "left" : "top",
                along ? "right" : "bottom");
    }
    w_.line(fmt::format("if (top < bottom && left < right) {0}({1}b{2} + top + left * {3}, {3}, t{2} + top * {4} + left, bottom - top, right - left);",
                        call, types, c.access, pitch, edge_));
    w_.close();
  }

  void entry() {
    constexpr std::array kPoint = {Region::Point};
    w_.open(fmt::format("void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
    w_.locals();
    for (const Crossed& c : crossed_) w_.line(fmt::format("{} t{}[{}] __attribute__((aligned({})));", word(size(c)), c.access, edge_ * edge_, kLineBytes));
    w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
    place();
    w_.bases('b', kPoint, outer_indices(ir_, fmt::format("i{}", ir_.rank - 1)), "0");
    for (const Crossed& c : crossed_) copy(c);
    w_.open("for (tarry_i64 r = 0; r < rows; ++r)");
    std::vector<std::string> row(static_cast<std::size_t>(ir_.rank), "0");
    row[static_cast<std::size_t>(ir_.cross)] = "r";
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!w_.uses(a, Region::Point)) continue;
      if (ir_.crosses(a)) w_.base('a', a, fmt::format("(const {}*)t{}", c_type(ir_.buffers[ir_.accesses[a].buffer]), a), fmt::format("r * {}", edge_));
      else w_.base('a', a, fmt::format("b{}", a), outer_offset(ir_, a, row, ""));
    }
    CWriter::Loop loop{{}, Axis::LastOuter, "i", "0", "columns"};
    for (Value v = 0; v < ir_.instrs.size(); ++v) loop.values.push_back(v);
    w_.loop(loop);
    w_.close();
    w_.close();
    w_.close();
  }

  const KernelIr& ir_;
  const int edge_;
  const Parameters parameters_;
  CWriter w_;
  std::vector<Crossed> crossed_;
};

}  // namespace

KernelSource render_c_transpose(const KernelIr& ir) { return TransposeWriter(ir).render(); }

Geometry geometry_c_transpose(const KernelIr& ir, const KernelArgs& args) {
  Geometry g;
  for (int d = 0; d < ir.rank; ++d) g.outer_tiles *= (args.extents[d] + ir.tile(d) - 1) / ir.tile(d);
  return g;
}

}  // namespace tarry::codegen
