// C: the walk over the work items of a reduction, and the entries that start it.
#include "codegen/c/walk.h"

#include <fmt/format.h>

namespace tarry::codegen {

Parameters walk_parameters(const KernelIr& ir) {
  // The inner extent of rank 1 is the outer count.
  return make_parameters(ir, {ir.rank == 1 ? SlotKind::OuterCount : SlotKind::Extent, SlotKind::Reduced,
                              SlotKind::Chunks, SlotKind::ChunkBlocks, SlotKind::Scratch});
}

void walk_extents(CWriter& w) {
  w.line("tarry_i64 inner;");
  w.line("const tarry_i64* tiles;");
  w.line("int rank;");
}

void walk_place(CWriter& w, int tile) {
  w.open(fmt::format("static TARRY_PLAIN tarry_i64 {0}_place(const struct {0}* walk, tarry_i64 tile, tarry_i64* at)",
                     kSharedName));
  w.open("for (int d = walk->rank - 1; d > 0; --d)");
  w.line("const tarry_i64 before = tile / walk->tiles[d];");
  w.line("at[d] = tile - before * walk->tiles[d];");
  w.line("tile = before;");
  w.close();
  w.line("at[0] = tile;");
  if (tile == 1) {
    w.line("return 1;");
  } else {
    w.line("tarry_i64* const last = at + (walk->rank > 0 ? walk->rank - 1 : 0);");
    w.line(fmt::format("*last *= {};", tile));
    w.line(fmt::format("return walk->inner - *last < {0} ? walk->inner - *last : {0};", tile));
  }
  w.close();
}

void walk_entry(CWriter& w, int tile, const std::string& name, const std::string& first, std::string_view function) {
  const int rank = w.ir.rank;
  std::string tiles = "0";
  for (int d = 1; d < rank; ++d) {
    const std::string extent = "p->" + slot_name({SlotKind::Extent, static_cast<std::uint32_t>(d)});
    tiles += ", " + (d + 1 == rank && tile > 1 ? fmt::format("({} + {}) / {}", extent, tile - 1, tile) : extent);
  }
  if (rank > 1) w.line(fmt::format("const tarry_i64 tiles[] = {{{}}};", tiles));
  const std::string inner =
      rank == 0 ? "1"
                : "p->" + slot_name(rank == 1 ? Slot{SlotKind::OuterCount}
                                              : Slot{SlotKind::Extent, static_cast<std::uint32_t>(rank - 1)});
  w.line(
      fmt::format("const struct {} walk = {{p, {}, {}, {}, {}}};", name, first, inner, rank > 1 ? "tiles" : "0", rank));
  w.line(fmt::format("{}_{}(&walk, lo, hi);", name, function));
}

int Walk::inputs() const {
  std::size_t count = 0;
  for (const Reduction& r : w_.ir.reductions) count += input_count(r);
  return static_cast<int>(count);
}

void Walk::write(std::string_view name, std::string_view points, const std::function<void()>& rows) {
  name_ = w_.share(name, [&] {
    w_.open(fmt::format("struct {}", kSharedName));
    w_.line("const void* parameters;");
    w_.line(fmt::format("void (*begin)({}, char* room);", kPlace));
    w_.line(fmt::format("void (*points)({}, {});", kPlace, points));
    w_.line(fmt::format("void (*finish)({}, const {}* s);", kPlace, w_.state_type()));
    w_.line("tarry_i64 n, chunks, chunk_blocks;");
    w_.line("void* scratch;");
    w_.line("const tarry_i64* weight;");
    walk_extents(w_);
    w_.close(";");
    walk_place(w_, w_.tile());
    rows();
    chunks();
  });
}

void Walk::open_items(Code code, const std::function<void()>& declare) {
  w_.open(fmt::format(
      "static {1}__attribute__((noinline)) void {0}_items(const struct {0}* walk, tarry_i64 lo, tarry_i64 hi)",
      kSharedName, code == Code::Plain ? "TARRY_PLAIN " : ""));
  w_.line(
      "const tarry_i64 n = walk->n, chunks = walk->chunks, chunk_blocks = walk->chunk_blocks, blocks = n / 128 + (n % "
      "128 != 0);");
  if (w_.has_weights()) w_.line("const tarry_i64* const weight = walk->weight;");
  w_.line(fmt::format("{0}* const scratch = ({0}*)walk->scratch;", w_.state_type()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.line(fmt::format("const void* inputs[{}];", inputs()));
  w_.line(fmt::format("tarry_i64 at[{}];", graph::kMaxRank));
  declare();
  w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
  w_.line("const tarry_i64 tile = item / chunks, first = (item - tile * chunks) * chunk_blocks;");
  w_.line("const tarry_i64 last = blocks - first < chunk_blocks ? blocks : first + chunk_blocks;");
  w_.line(fmt::format("const tarry_i64 m = {}_place(walk, tile, at);", kSharedName));
  w_.line("tarry_i64 depth = 0;");
}

void Walk::close_items() {
  w_.fold_stack();
  w_.open("if (n == 0)");
  w_.clear("stack");
  w_.close();
  w_.line("if (chunks == 1) walk->finish(walk->parameters, at, m, stack);");
  w_.line("else scratch[item] = stack[0];");
  w_.close();
  w_.close();
}

/// The other entry: chunks become one state.
void Walk::chunks() {
  w_.open(fmt::format(
      "static TARRY_ONCE __attribute__((noinline)) void {0}_chunks(const struct {0}* walk, tarry_i64 lo, tarry_i64 hi)",
      kSharedName));
  w_.line("const tarry_i64 chunks = walk->chunks;");
  if (w_.has_weights()) w_.line("const tarry_i64* const weight = walk->weight;");
  w_.line(fmt::format("const {0}* const scratch = (const {0}*)walk->scratch;", w_.state_type()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.line(fmt::format("tarry_i64 at[{}];", graph::kMaxRank));
  w_.open("for (tarry_i64 tile = lo; tile < hi; ++tile)");
  w_.line(fmt::format("const tarry_i64 m = {}_place(walk, tile, at);", kSharedName));
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 chunk = 0; chunk < chunks; ++chunk)");
  w_.line("stack[depth] = scratch[tile * chunks + chunk];");
  w_.push("chunk");
  w_.close();
  w_.fold_stack();
  w_.line("walk->finish(walk->parameters, at, m, stack);");
  w_.close();
  w_.close();
}

// ---------------------------------------------------------------- the kernel's own

void Walk::open_finish(Code code) {
  w_.open(fmt::format("static {1}void {0}_finish({2}, const {3}* s)", kEntryName,
                      code == Code::Plain ? "TARRY_PLAIN " : "", kPlace, w_.state_type()));
  own_parameters();
}

void Walk::entries(std::string_view begin) {
  entry("", "items", begin);
  entry("_fold", "chunks", begin);
}

/// A part of the walk over lo to hi - 1.
void Walk::entry(std::string_view suffix, std::string_view part, std::string_view begin) {
  w_.open(fmt::format("TARRY_ONCE void {0}{1}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                      suffix));
  w_.weights_array();
  walk_entry(w_, w_.tile(), name_,
             fmt::format("{0}, {1}_points, {1}_finish, p->n, p->chunks, p->chunk_blocks, p->scratch, {2}", begin,
                         kEntryName, w_.has_weights() ? "weight" : "0"),
             part);
  w_.close();
}

}  // namespace tarry::codegen
