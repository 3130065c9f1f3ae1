// C kernels of scans (docs/numerics.md, "Scans"). A work item is a row, or a chunk of one: an aligned run of tree blocks.
//
// Rows in chunks go in two passes: the entry sums every chunk but the last, the fold starts each chunk from the chunks
// before it and scans. In both passes blocks come in from left to right; what is pending is a binary counter of aligned
// subtrees, and beside each the fold of it and all larger ones, which is the offset of the next block.
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "codegen/render_c.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr int kBlock = 128;

class ScanWriter {
 public:
  explicit ScanWriter(const KernelIr& ir)
      : ir_(ir),
        parameters_(make_parameters(ir, {ir.rank == 1 ? SlotKind::OuterCount : SlotKind::Extent, SlotKind::Reduced,
                                         SlotKind::Chunks, SlotKind::ChunkBlocks, SlotKind::Scratch})),
        w_(ir, parameters_) {}

  KernelSource render() {
    w_.preamble();
    state();
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) {
      node_function(r);
      block_function(r);
    }
    push_function();
    blocks(false);
    blocks(true);
    entry();
    fold();
    const std::vector<std::string> functions = w_.expressions.functions();
    KernelSource source = finish_kernel(ir_, Dialect::C, w_.take(), parameters_, functions);
    source.point_cost = point_cost(ir_);
    source.fold_per_chunk = true;
    return source;
  }

 private:
  [[nodiscard]] std::string type(std::uint32_t r) const { return c_type(ir_.reductions[r].dtype); }
  [[nodiscard]] std::string combine(std::uint32_t r, const std::string& a, const std::string& b) {
    return w_.expressions.combine(ir_.reductions[r], a, b);
  }
  [[nodiscard]] std::string place(bool declare) const { return tile_place(ir_, 1, declare); }

  void state() {
    w_.open(fmt::format("struct {}_state", kEntryName));
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.line(fmt::format("{} r{};", type(r), r));
    w_.close(";");
    w_.line(fmt::format("static const struct {0}_state {0}_nothing = {{{1}}};", kEntryName, neutral()));
  }
  [[nodiscard]] std::string neutral() const {
    std::string all;
    for (const Reduction& r : ir_.reductions) all += fmt::format("{}{}", all.empty() ? "" : ", ", neutral_literal(r));
    return all;
  }

  /// The node of a whole block of tree R.
  void node_function(std::uint32_t r) {
    w_.open(fmt::format("static inline {0} {1}_node{2}(const {0}* x)", type(r), kEntryName, r));
    w_.line(fmt::format("{} lane[32];", type(r)));
    w_.open_loop("l", "0", "32");
    w_.line(fmt::format("{} s = x[l];", type(r)));
    for (int k = 32; k < kBlock; k += 32) w_.line(fmt::format("s = {};", combine(r, "s", fmt::format("x[l + {}]", k))));
    w_.line("lane[l] = s;");
    w_.close();
    for (int d = 16; d > 0; d /= 2) {
      w_.open_loop("l", "0", std::to_string(d));
      w_.line(fmt::format("lane[l] = {};", combine(r, "lane[l]", fmt::format("lane[l + {}]", d))));
      w_.close();
    }
    w_.line("return lane[0];");
    w_.close();
  }

  /// Scans a block in place: rows of eight quads of four.
  void block_function(std::uint32_t r) {
    w_.open(fmt::format("static inline void {1}_block{2}({0}* x, {0} offset)", type(r), kEntryName, r));
    w_.line(fmt::format("{} quad[32];", type(r)));
    w_.open_loop("q", "0", "32");
    for (int j = 1; j < 4; ++j)
      w_.line(fmt::format("x[4 * q + {0}] = {1};", j, combine(r, fmt::format("x[4 * q + {}]", j - 1), fmt::format("x[4 * q + {}]", j))));
    w_.line("quad[q] = x[4 * q + 3];");
    w_.close();
    for (int d = 1; d < 8; d *= 2) {
      w_.open(fmt::format("for (int q = 0; q < 32; q += {})", 2 * d));
      w_.line(fmt::format("for (int i = 0; i < {0}; ++i) quad[q + {0} + i] = {1};", d,
                          combine(r, fmt::format("quad[q + {}]", d - 1), fmt::format("quad[q + {} + i]", d))));
      w_.close();
    }
    w_.line(fmt::format("{} rows = {};", type(r), neutral_literal(ir_.reductions[r])));
    w_.open("for (int q = 0; q < 32; q += 8)");
    w_.line(fmt::format("const {} base = {};", type(r), combine(r, "offset", "rows")));
    w_.open("for (int i = 0; i < 8; ++i)");
    w_.line(fmt::format("const {} before = i == 0 ? base : {};", type(r), combine(r, "base", "quad[q + i - (i > 0)]")));
    w_.line(fmt::format("for (int j = 4 * (q + i); j < 4 * (q + i) + 4; ++j) x[j] = {};", combine(r, "before", "x[j]")));
    w_.close();
    w_.line(fmt::format("rows = {};", combine(r, "rows", "quad[q + 7]")));
    w_.close();
    w_.close();
  }

  /// Node number `at` of a run comes in: fold[*depth - 1] is the offset of the next one.
  void push_function() {
    w_.open(fmt::format("static inline void {0}_push(struct {0}_state* node, struct {0}_state* fold, int* depth, tarry_i64 at, "
                        "struct {0}_state start, struct {0}_state s)", kEntryName));
    w_.open("for (; at & 1; at >>= 1)");
    w_.line("--*depth;");
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
      w_.line(fmt::format("s.r{0} = {1};", r, combine(r, fmt::format("node[*depth].r{}", r), fmt::format("s.r{}", r))));
    w_.close();
    w_.line(fmt::format("const struct {}_state before = *depth == 0 ? start : fold[*depth - 1];", kEntryName));
    w_.line("node[*depth] = s;");
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
      w_.line(fmt::format("fold[*depth].r{0} = {1};", r, combine(r, fmt::format("before.r{}", r), fmt::format("s.r{}", r))));
    w_.line("++*depth;");
    w_.close();
  }

  void stack() {
    w_.line(fmt::format("struct {0}_state node[{1}], fold[{1}];", kEntryName, kReduceLevels));
    w_.line("int depth = 0;");
  }

  /// Values of a stage at every point: what its scans take, or what its stores need.
  [[nodiscard]] std::vector<Value> points(bool last) const {
    std::vector<bool> needed(ir_.instrs.size());
    for (const Reduction& r : ir_.reductions)
      if (!last) needed[r.args[0]] = true;
    std::vector<Value> found;
    for (Value v = static_cast<Value>(ir_.instrs.size()); v-- > 0;) {
      const Instr& in = ir_.instrs[v];
      if (in.region != Region::Point || in.kind == InstrKind::Scalar) continue;
      if (!(needed[v] || (last && in.kind == InstrKind::Store))) continue;
      found.push_back(v);
      for (const Value a : in.args)
        if (a != kNone) needed[a] = true;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  /// Blocks first..last of a row: their node, or their scan from `start` on.
  void blocks(bool scans) {
    w_.open(fmt::format("static {1} {0}_{2}(const struct {0}_params* p{3}, tarry_i64 first, tarry_i64 last{4})", kEntryName,
                        scans ? std::string("void") : fmt::format("struct {}_state", kEntryName), scans ? "scan" : "sum",
                        place(true), scans ? fmt::format(", struct {}_state start", kEntryName) : std::string()));
    w_.locals();
    constexpr std::array kRegions = {Region::Row, Region::Point};
    w_.bases('b', kRegions, outer_indices(ir_, "j0"), "0");
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (w_.uses(a, Region::Row) && !ir_.accesses[a].store) w_.base('a', a, fmt::format("b{}", a), "0");
    w_.straight(w_.instructions(Region::Row));
    stack();
    w_.open("for (tarry_i64 b = first; b < last; ++b)");
    w_.line(fmt::format("const tarry_i64 k = b * {0}, m = n - k < {0} ? n - k : {0};", kBlock));
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (w_.uses(a, Region::Point)) w_.base('a', a, fmt::format("b{}", a), reduced_offset(ir_, a, "k", ""));
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.line(fmt::format("{} x{}[{}];", type(r), r, kBlock));
    CWriter::Loop inputs{points(false), Axis::Reduced, "i", "0", "m"};
    w_.loop(inputs, [&] {
      for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
        w_.line(fmt::format("x{}[i] = {};", r, value_name(ir_.reductions[r].args[0])));
    });
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
      w_.line(fmt::format("for (tarry_i64 i = m; i < {}; ++i) x{}[i] = {};", kBlock, r, neutral_literal(ir_.reductions[r])));
    w_.line(fmt::format("struct {}_state s;", kEntryName));
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r) w_.line(fmt::format("s.r{0} = {1}_node{0}(x{0});", r, kEntryName));
    if (scans) {
      w_.line(fmt::format("const struct {}_state offset = depth == 0 ? start : fold[depth - 1];", kEntryName));
      for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
        w_.line(fmt::format("{1}_block{0}(x{0}, offset.r{0});", r, kEntryName));
      CWriter::Loop results{points(true), Axis::Reduced, "i", "0", "m"};
      results.operand = [&](Value v) {
        return ir_.instrs[v].kind == InstrKind::Result ? fmt::format("x{}[i]", ir_.instrs[v].index) : value_name(v);
      };
      w_.loop(results);
    }
    w_.line(fmt::format("{0}_push(node, fold, &depth, b - first, {1}, s);", kEntryName,
                        scans ? std::string("start") : fmt::format("{}_nothing", kEntryName)));
    w_.close();
    if (!scans) w_.line("return node[0];");
    w_.close();
  }

  void open_items(std::string_view name) {
    w_.open(fmt::format("void {0}{1}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName, name));
    w_.locals();
    count_tiles(w_, 1);
    w_.line("const tarry_i64 blocks = n / 128 + (n % 128 != 0);");
    w_.line(fmt::format("struct {0}_state* const scratch = (struct {0}_state*)p->scratch;", kEntryName));
    w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
    w_.line("const tarry_i64 at = item / chunks, chunk = item - at * chunks;");
    w_.line("const tarry_i64 first = chunk * chunk_blocks;");
    w_.line("const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;");
    decode_tile(w_, 1);
  }

  void entry() {
    open_items("");
    w_.line(fmt::format("if (chunks == 1) {0}_scan(p{1}, first, last, {0}_nothing);", kEntryName, place(false)));
    w_.line(fmt::format("else if (chunk + 1 < chunks) scratch[item] = {}_sum(p{}, first, last);", kEntryName, place(false)));
    w_.close();
    w_.close();
  }

  void fold() {
    open_items("_fold");
    stack();
    w_.line(fmt::format("for (tarry_i64 c = 0; c < chunk; ++c) {0}_push(node, fold, &depth, c, {0}_nothing, scratch[at * chunks + c]);",
                        kEntryName));
    w_.line(fmt::format("{0}_scan(p{1}, first, last, depth == 0 ? {0}_nothing : fold[depth - 1]);", kEntryName, place(false)));
    w_.close();
    w_.close();
  }

  const KernelIr& ir_;
  const Parameters parameters_;
  CWriter w_;
};

}  // namespace

KernelSource render_c_scan(const KernelIr& ir) { return ScanWriter(ir).render(); }

Geometry geometry_c_scan(const KernelIr& ir, const KernelArgs& args) {
  constexpr std::int64_t kEnoughRows = 64;     // fills the threads of a large machine without chunks
  constexpr std::int64_t kChunkBlocks = 512;   // large enough to hide the cost of an item, small enough to balance
  constexpr std::int64_t kMostItems = 4096;
  Geometry g;
  g.outer_tiles = tile_count(args, 1);
  if (g.outer_tiles == 0) return g;
  TARRY_ASSERT(args.reduced < std::int64_t{1} << (kReduceLevels + 1));
  const std::int64_t blocks = std::max<std::int64_t>(1, args.reduced / kBlock + (args.reduced % kBlock != 0));
  g.chunk_blocks = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks)));
  if (g.outer_tiles >= kEnoughRows) return g;
  std::int64_t wanted = kChunkBlocks;
  while ((blocks + wanted - 1) / wanted * g.outer_tiles > kMostItems) wanted *= 2;
  if (wanted >= blocks) return g;
  g.chunk_blocks = wanted;
  g.chunks = (blocks + wanted - 1) / wanted;
  g.scratch_bytes = static_cast<std::size_t>(g.grid()) * state_bytes(ir);
  return g;
}

}  // namespace tarry::codegen
