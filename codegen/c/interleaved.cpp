// C kernels that make interleaved channels planar or planar ones interleaved, or that transpose images of interleaved
// channels. A work item is a tile of all channels: square where loads are transposed, else part of a line.
//
// Accesses along a tile's columns go on as in every other kernel, for one channel after the other. Transposed loads
// come first, as planar channels, into arrays that fit L1: interleaved channels are taken apart a few
// lines at a time, then transposed. Interleaved rows are taken apart before each row of the tile, and put together
// after it.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "codegen/c/transpose_block.h"
#include "codegen/c/zip.h"
#include "codegen/ir/transpose.h"

namespace tarry::codegen {
namespace {

constexpr int kLinesAhead = 16;  // asked for in L2
constexpr int kLines = 16;       // of interleaved channels, taken apart and transposed at once

class InterleavedWriter {
 public:
  InterleavedWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        layout_(ir.as<TransposeLayout>()),
        values_(layout_.channels),
        rows_(layout_.rows),
        columns_(layout_.columns),
        parameters_(make_parameters(ir, {SlotKind::Extent, SlotKind::Tiles})),
        w_(ir, parameters_, target.vector_bytes) {
    for (const Instr& in : ir.instrs) {
      if (in.kind != InstrKind::Load && in.kind != InstrKind::Store) continue;
      if (!is_transposed(ir, in.index) && ir.accesses[in.index].interleaved_along < 0) continue;
      auto& to = in.kind == InstrKind::Store ? stores_ : is_transposed(ir, in.index) ? transposed_ : interleaved_rows_;
      if (std::ranges::find(to, in.index, &Staged::access) == to.end()) to.push_back({in.index, in.guard, {}, {}});
    }
  }

  KernelSource render() {
    w_.preamble();
    for (Staged& s : transposed_) {
      s.transpose = transpose_function(w_, size(s), is_interleaved(s) ? 0 : kLinesAhead);
      if (is_interleaved(s)) s.zip = unzip_function(w_, size(s), values_);
    }
    for (Staged& s : interleaved_rows_) s.zip = unzip_function(w_, size(s), values_);
    for (Staged& s : stores_) s.zip = zip_function(w_, size(s), values_);
    entry();
    KernelSource source = w_.finish();
    source.tile = rows_ * columns_ * values_;
    return source;
  }

 private:
  struct Staged {
    std::uint32_t access, guard;
    std::string transpose, zip;
  };

  [[nodiscard]] bool is_interleaved(const Staged& s) const { return ir_.accesses[s.access].interleaved_along >= 0; }
  [[nodiscard]] std::size_t size(const Staged& s) const { return itemsize(ir_.buffers[ir_.accesses[s.access].buffer]); }
  [[nodiscard]] std::string words(const Staged& s) const { return word_type(size(s)); }
  [[nodiscard]] int last() const { return ir_.rank - 1; }
  /// The stride of access `a` from point to point of a dimension.
  [[nodiscard]] std::string stride(std::uint32_t a, int dimension) const {
    const auto d = static_cast<std::uint32_t>(dimension);
    const StrideClass known = ir_.accesses[a].strides[d];
    return known == StrideClass::Zero ? "0" : known == StrideClass::One ? "1" : slot_name({SlotKind::Stride, a, d});
  }

  void array(const char* name, const Staged& s, int elements) {
    w_.line(fmt::format("{} {}{}[{}] __attribute__((aligned({})));", words(s), name, s.access, elements, kLineBytes));
  }

  /// Tiles come in bands, as those of matrices do. (cpu/stream.cpp finds them alike.)
  void place() {
    w_.line(fmt::format("const tarry_i64 across = n{}, down = {};", last(),
                        layout_.across >= 0 ? fmt::format("(e{} + {}) / {}", layout_.across, rows_ - 1, rows_) : "1"));
    w_.line("tarry_i64 at = item / (down * across), in = item - at * (down * across);");
    w_.line(fmt::format(
        "const tarry_i64 top = in / ({0} * across) * {0}, height = down - top < {0} ? down - top : {0};", kTileBand));
    w_.line("in -= top * across;");
    if (layout_.across >= 0)
      w_.line(fmt::format("const tarry_i64 i{} = (top + in % height) * {};", layout_.across, rows_));
    w_.line(fmt::format("const tarry_i64 i{} = in / height * {};", last(), columns_));
    for (int d = last() - 1; d >= 0; --d) {
      if (d == layout_.across || d == layout_.channel_dimension) continue;
      w_.line(d > 0 ? fmt::format("const tarry_i64 i{0} = at % n{0};", d) : std::string("const tarry_i64 i0 = at;"));
      if (d > 0) w_.line(fmt::format("at /= n{};", d));
    }
    const auto count = [&](const char* name, int d, int tile) {
      w_.line(fmt::format("const tarry_i64 {0} = e{1} - i{1} < {2} ? e{1} - i{1} : {2};", name, d, tile));
    };
    if (layout_.across >= 0) count("rows", layout_.across, rows_);
    count("columns", last(), columns_);
  }

  /// The box of a tile that a guard lets be.
  void guarded(const Staged& s) {
    w_.line("tarry_i64 top = 0, bottom = rows, left = 0, right = columns;");
    if (s.guard == kNone) return;
    for (const GuardTerm& term : ir_.guards[s.guard].terms) {
      const bool along = ir_.accesses[term.access].strides.back() != StrideClass::Zero;
      w_.inside(term, fmt::format("b{}", term.access), stride(term.access, along ? last() : layout_.across),
                along ? "left" : "top", along ? "right" : "bottom");
    }
    w_.line("if (top > bottom) bottom = top;");
  }

  void copy(const Staged& s) {
    const std::string pitch = stride(s.access, last()), words_of = fmt::format("(const {}*)", words(s));
    w_.open("");
    guarded(s);
    if (is_interleaved(s)) {
      w_.open(fmt::format("for (tarry_i64 c = left; c < right; c += {})", kLines));
      w_.line(fmt::format("const tarry_i64 lines = right - c < {0} ? right - c : {0};", kLines));
      w_.open("for (tarry_i64 k = 0; k < lines; ++k)");
      w_.line(fmt::format("const {0}* const line = {1}b{2} + top * {3} + (c + k) * {4};", words(s), words_of, s.access,
                          values_, pitch));
      w_.line(fmt::format(
          "for (tarry_i64 j = 0; j < (bottom - top) * {0}; j += {1}) __builtin_prefetch(line + {2} * {3} + j, 0, 2);",
          values_, kLineBytes / size(s), kLinesAhead, pitch));
      w_.line(fmt::format("{}(line, u{} + k * {}, {}, bottom - top);", s.zip, s.access, rows_, kLines * rows_));
      w_.close();
      w_.line(
          fmt::format("for (int v = 0; v < {0}; ++v) {1}(u{2} + v * {3}, {4}, t{2} + v * {5} + top * {6} + c, {6}, "
                      "bottom - top, lines);",
                      values_, s.transpose, s.access, kLines * rows_, rows_, rows_ * columns_, columns_));
      w_.close();
    } else {
      w_.line(fmt::format(
          "for (int v = 0; v < {0} && left < right; ++v) {1}({2}b{3} + v * {4} + top + left * {5}, {5}, t{3} + v * {6} "
          "+ top * {7} + left, {7}, bottom - top, right - left);",
          values_, s.transpose, words_of, s.access, stride(s.access, layout_.channel_dimension), pitch,
          rows_ * columns_, columns_));
    }
    w_.close();
  }

  [[nodiscard]] std::string in_row(std::uint32_t a) const {
    return layout_.across < 0 ? std::string("0") : fmt::format("r * {}", stride(a, layout_.across));
  }

  void point(const CWriter::Loop& loop) {
    w_.open(fmt::format("for (tarry_i64 v = 0; v < {}; ++v)", values_));
    std::vector<std::string> indices(static_cast<std::size_t>(ir_.rank), "0");
    indices[static_cast<std::size_t>(layout_.channel_dimension)] = "v";
    if (layout_.across >= 0) indices[static_cast<std::size_t>(layout_.across)] = "r";
    const auto staged = [&](const std::vector<Staged>& all, std::uint32_t a) {
      return std::ranges::find(all, a, &Staged::access) != all.end();
    };
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!w_.uses(a, Region::Point)) continue;
      const bool stored = staged(stores_, a), row = staged(interleaved_rows_, a) || stored;
      if (row)
        w_.base('a', a,
                fmt::format("({}{}*)q{}", stored ? "" : "const ", c_type(ir_.buffers[ir_.accesses[a].buffer]), a),
                fmt::format("v * {}", columns_));
      else if (staged(transposed_, a))
        w_.base('a', a, fmt::format("(const {}*)t{}", c_type(ir_.buffers[ir_.accesses[a].buffer]), a),
                fmt::format("v * {} + r * {}", rows_ * columns_, columns_));
      else
        w_.base('a', a, fmt::format("b{}", a), outer_offset(ir_, a, indices, ""));
    }
    w_.loop(loop);
    w_.close();
  }

  void entry() {
    constexpr std::array kPoint = {Region::Point};
    CWriter::Loop loop{{}, Axis::LastOuter, "i", "0", "columns"};
    for (Value v = 0; v < ir_.instrs.size(); ++v) loop.values.push_back(v);
    loop.vectors = w_.has_vectors(loop);
    w_.open(fmt::format("{1}void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                        loop.vectors ? "TARRY_PLAIN " : ""));
    w_.locals();
    for (const Staged& s : transposed_) {
      array("t", s, values_ * rows_ * columns_);
      if (is_interleaved(s)) array("u", s, values_ * kLines * rows_);
    }
    for (const auto* all : {&interleaved_rows_, &stores_})
      for (const Staged& s : *all) array("q", s, values_ * columns_);
    w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
    place();
    std::vector<std::string> first = outer_indices(ir_, fmt::format("i{}", last()));
    first[static_cast<std::size_t>(layout_.channel_dimension)] = "0";
    w_.bases('b', kPoint, first, "0");
    for (const Staged& s : transposed_) copy(s);
    w_.open(layout_.across >= 0 ? "for (tarry_i64 r = 0; r < rows; ++r)" : "");
    for (const Staged& s : interleaved_rows_)
      w_.line(fmt::format("{0}((const {1}*)b{2} + {3}, q{2}, {4}, columns);", s.zip, words(s), s.access,
                          in_row(s.access), columns_));
    point(loop);
    for (const Staged& s : stores_)
      w_.line(fmt::format("{0}(q{2}, {4}, ({1}*)b{2} + {3}, columns);", s.zip, words(s), s.access, in_row(s.access),
                          columns_));
    w_.close();
    w_.close();
    w_.close();
  }

  const KernelIr& ir_;
  const TransposeLayout& layout_;
  const int values_, rows_, columns_;
  const Parameters parameters_;
  CWriter w_;
  std::vector<Staged> transposed_, interleaved_rows_, stores_;
};

}  // namespace

KernelSource render_c_interleaved(const KernelIr& ir, const graph::Target& target) {
  return InterleavedWriter(ir, target).render();
}

namespace {

/// True if a tile's rows of a store are whole lines of the caches, or so long that two tiles seldom share one: past the
/// caches a part of a line costs as much as reading and writing all of it.
bool is_past_caches(const KernelIr& ir, const KernelArgs& args, std::uint32_t store) {
  constexpr std::int64_t kLong = 1024;
  const Access& access = ir.accesses[store];
  const AccessArgs& a = args.accesses[store];
  const auto itemsize_of = static_cast<std::int64_t>(itemsize(ir.buffers[access.buffer]));
  const bool pixels = access.interleaved_along >= 0;
  const auto& layout = ir.as<TransposeLayout>();
  if (layout.columns * itemsize_of * (pixels ? layout.channels : 1) >= kLong) return true;
  bool whole = a.offset * itemsize_of % kLineBytes == 0;
  for (int d = 0; d + 1 < ir.rank; ++d)
    whole &= (pixels && d == layout.channel_dimension) || a.strides[d] * itemsize_of % kLineBytes == 0;
  return whole;
}

}  // namespace

Geometry geometry_c_interleaved(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  const auto& layout = ir.as<TransposeLayout>();
  Geometry g = geometry_c_tiles(ir, target, args);
  g.tiled.rows = layout.rows;
  g.tiled.columns = layout.columns;
  g.tiled.across = layout.across;
  g.tiled.band = kTileBand;
  g.tiled.channels = layout.channel_dimension;
  g.tiled.channel_count = layout.channels;
  for (const Instr& in : ir.instrs) {
    if (in.kind != InstrKind::Store || in.index >= 64) continue;
    const Access& a = ir.accesses[in.index];
    const auto moves = [&](int d) { return d < 0 || a.strides[static_cast<std::size_t>(d)] == StrideClass::Any; };
    if (!moves(layout.across) || (a.interleaved_along < 0 && !moves(layout.channel_dimension)) ||
        !is_past_caches(ir, args, in.index))
      continue;
    g.tiled.accesses |= std::uint64_t{1} << in.index;
    if (a.interleaved_along >= 0) g.tiled.interleaved |= std::uint64_t{1} << in.index;
    g.tiled.bytes += args.outer_count() * static_cast<std::int64_t>(itemsize(ir.buffers[a.buffer]));
  }
  return g;
}

}  // namespace tarry::codegen
