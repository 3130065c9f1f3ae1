// C: blocks of lines side by side, of scans that combine by an op each.
#include "codegen/c/scan_steps.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tarry::codegen {

void ScanSteps::functions() {
  each_scan([&](std::uint32_t r) {
    const std::string suffix(info(ir_.reductions[r].dtype).suffix), name(graph::name(ir_.reductions[r].op));
    fills_[r] = w_.share("fill_" + suffix, [&] { fill_function(r); });
    nodes_[r] = w_.share(fmt::format("{}_node_{}", name, suffix), [&] { node_function(r); });
    blocks_[r] = w_.share(fmt::format("{}_block_{}", name, suffix), [&] { block_function(r); });
  });
  states_ = w_.share("scan_states", [&] {
    states_ = kSharedName;
    state();
    push_function();
  });
}

std::string ScanSteps::fill(const std::string& array, std::uint32_t r, const std::string& from,
                            const std::string& to) const {
  return fmt::format("{}({}, {}, {});", fills_.at(r), array, from, to);
}

void ScanSteps::nodes() {
  each_scan([&](std::uint32_t r) { w_.line(fmt::format("{0}(x{1}, quarters, node{1});", nodes_.at(r), r)); });
}

void ScanSteps::results() {
  each_scan([&](std::uint32_t r) { w_.line(fmt::format("{0}(x{1}, quarters, offset{1});", blocks_.at(r), r)); });
}

std::string ScanSteps::combine(std::uint32_t r, const std::string& a, const std::string& b) {
  return w_.expressions.combine(ir_.reductions[r], a, b);
}

/// True if loops over lines have their vectors written out: gcc would take long to find them.
bool ScanSteps::has_vectors(std::uint32_t r) const {
  const Reduction& scan = ir_.reductions[r];
  return width_ == kScanLines && (scan.op == Op::CumulativeSum || scan.op == Op::CumulativeProd) &&
         (scan.dtype == Dtype::Float32 || scan.dtype == Dtype::Float64);
}

int ScanSteps::lanes(std::uint32_t r) const {
  return vector_bytes_ / static_cast<int>(itemsize(ir_.reductions[r].dtype));
}

void ScanSteps::open_function(std::uint32_t r, const std::string& parameters) {
  w_.open(fmt::format("static {}__attribute__((noinline)) void {}({})", has_vectors(r) ? "TARRY_PLAIN " : "",
                      kSharedName, parameters));
  vector_type(r);
}

void ScanSteps::vector_type(std::uint32_t r) {
  if (has_vectors(r))
    w_.line(fmt::format("typedef {} vector{} __attribute__((vector_size({}), aligned({}), may_alias));", type(r), r,
                        vector_bytes_, itemsize(ir_.reductions[r].dtype)));
}

/// A loop over `count` lines, a multiple of those of a vector.
void ScanSteps::open_lines(std::uint32_t r, const std::string& count) {
  if (has_vectors(r))
    w_.open(fmt::format("for (int j = 0; j < {}; j += {})", count, lanes(r)));
  else
    w_.open_loop("j", "0", count);
}

/// The elements of an array that such a loop has, from `at` on.
std::string ScanSteps::line_of(std::uint32_t r, const std::string& array, const std::string& at) const {
  const std::string index = sum_text(at, "j");
  return has_vectors(r) ? fmt::format("*(vector{}*)({} + {})", r, array, index) : fmt::format("{}[{}]", array, index);
}

/// A function that stays one: every loop in line is compiled again.
void ScanSteps::fill_function(std::uint32_t r) {
  open_function(r, fmt::format("{}* x, tarry_i64 from, tarry_i64 to", type(r)));
  const std::string neutral = neutral_literal(ir_.reductions[r]);
  w_.line("tarry_i64 i = from;");
  if (has_vectors(r))
    w_.line(fmt::format("for (; i + {0} <= to; i += {0}) *(vector{1}*)(x + i) = -(vector{1}){{}} + {2};", lanes(r), r,
                        neutral));
  w_.line(fmt::format("for (; i < to; ++i) x[i] = {};", neutral));
  w_.close();
}

/// One value per line of a tile, or one of the row.
void ScanSteps::state() {
  w_.open(state_type());
  each_scan([&](std::uint32_t r) { w_.line(fmt::format("{} r{}[{}];", type(r), r, tile_)); });
  w_.close(";");
  w_.open(fmt::format("static void {}_clear({}* s)", states_, state_type()));
  each_scan([&](std::uint32_t r) { w_.line(fill(fmt::format("s->r{}", r), r, "0", std::to_string(tile_))); });
  w_.close();
}

/// The nodes of a block of every line: of rows 0..quarters * 32 - 1 of x, what is missing being neutral.
void ScanSteps::node_function(std::uint32_t r) {
  open_function(r, fmt::format("const {0}* x, int quarters, {0}* node", type(r)));
  w_.line(fmt::format("{} lane[{}] __attribute__((aligned(64)));", type(r), 32 * width_));
  const std::string all = std::to_string(32 * width_);
  w_.line(fmt::format("const {}* from = x;", type(r)));
  w_.open("for (int k = 1; k < quarters; ++k)");
  open_lines(r, all);
  w_.line(fmt::format("{} = {};", line_of(r, "lane"), combine(r, line_of(r, "from"), line_of(r, "x", "k * " + all))));
  w_.close();
  w_.line("from = lane;");
  w_.close();
  w_.open(fmt::format("for (int d = {0}; d >= {1}; d /= 2, from = lane)", 16 * width_, width_));
  w_.line(fmt::format("{}* const to = d > {} ? lane : node;", type(r), width_));
  open_lines(r, "d");
  w_.line(fmt::format("{} = {};", line_of(r, "to"), combine(r, line_of(r, "from"), line_of(r, "from", "d"))));
  w_.close();
  w_.close();
  w_.close();
}

/// Scans a block of every line in place: rows of eight quads of four. Steps through the quads of a row: halves of
/// two, four and eight quads, the last quad of the left one and those of the right one.
void ScanSteps::block_function(std::uint32_t r) {
  constexpr std::array<std::pair<int, int>, 12> kSteps = {
      {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {1, 2}, {1, 3}, {5, 6}, {5, 7}, {3, 4}, {3, 5}, {3, 6}, {3, 7}}};
  const std::string value = has_vectors(r) ? fmt::format("vector{}", r) : type(r);
  const auto own = [&](int i) { return line_of(r, "x", std::to_string(i * width_)); };
  const auto through = [](int q) { return fmt::format("quad{}", q); };
  open_function(r, fmt::format("{0}* x, int quarters, const {0}* offset", type(r)));
  w_.line(fmt::format("{} rows[{}] __attribute__((aligned(64)));", type(r), width_));
  w_.line(fill("rows", r, "0", std::to_string(width_)));
  w_.open(fmt::format("for (int k = 0; k < quarters; ++k, x += {})", 32 * width_));
  open_lines(r, std::to_string(width_));
  for (int q = 0; q < 8; ++q) {
    std::string sum = own(4 * q);
    for (int i = 1; i < 4; ++i) sum = fmt::format("({})", combine(r, sum, own(4 * q + i)));
    w_.line(fmt::format("{} {} = {};", value, through(q), sum));
  }
  for (const auto& [left, right] : kSteps)
    w_.line(fmt::format("{} = {};", through(right), combine(r, through(left), through(right))));
  w_.line(fmt::format("const {} start = {};", value, combine(r, line_of(r, "offset"), line_of(r, "rows"))));
  w_.line(fmt::format("{0} before = start, sum;", value));
  for (int q = 0; q < 8; ++q) {
    if (q > 0) w_.line(fmt::format("before = {};", combine(r, "start", through(q - 1))));
    w_.line(fmt::format("sum = {};", own(4 * q)));
    for (int i = 0; i < 4; ++i) {
      if (i > 0) w_.line(fmt::format("sum = {};", combine(r, "sum", own(4 * q + i))));
      w_.line(fmt::format("{} = {};", own(4 * q + i), combine(r, "before", "sum")));
    }
  }
  w_.line(fmt::format("{} = {};", line_of(r, "rows"), combine(r, line_of(r, "rows"), through(7))));
  w_.close();
  w_.close();
  w_.close();
}

/// Node number `at` of a run comes in, which begins at `start`: fold[*depth - 1] is the offset of the next one.
void ScanSteps::push_function() {
  bool is_plain = true;
  each_scan([&](std::uint32_t r) { is_plain = is_plain && (tile_ == 1 || has_vectors(r)); });
  w_.open(
      fmt::format("static {2}__attribute__((noinline)) void {0}_push({1}* node, {1}* fold, int* depth, tarry_i64 at, "
                  "const {1}* start, const {1}* s)",
                  states_, state_type(), is_plain ? "TARRY_PLAIN " : ""));
  if (tile_ > 1) each_scan([&](std::uint32_t r) { vector_type(r); });
  w_.line("int d = *depth;");
  w_.line(fmt::format("{} sum = *s;", state_type()));
  const auto lines = [&](const std::string& to, const std::string& left) {
    each_scan([&](std::uint32_t r) {
      const auto part = [&](const std::string& state) {
        const std::string array = fmt::format("{}r{}", state, r);
        return tile_ == 1 ? array + "[0]" : line_of(r, array);
      };
      if (tile_ > 1) open_lines(r, std::to_string(tile_));
      w_.line(fmt::format("{} = {};", part(to), combine(r, part(left), part("sum."))));
      if (tile_ > 1) w_.close();
    });
  };
  w_.open("for (; at & 1; at >>= 1)");
  w_.line("--d;");
  lines("sum.", "node[d].");
  w_.close();
  w_.line(fmt::format("const {}* const before = d == 0 ? start : &fold[d - 1];", state_type()));
  w_.line("node[d] = sum;");
  lines("fold[d].", "before->");
  w_.line("*depth = d + 1;");
  w_.close();
}

std::unique_ptr<ScanSteps> scan_steps(CWriter& w, int width, int tile, int vector_bytes) {
  if (w.ir.combines()) return combine_steps(w, width, tile, vector_bytes);
  return std::make_unique<ScanSteps>(w, width, tile, vector_bytes);
}

std::size_t scan_state_bytes(const KernelIr& ir, int tile) {
  std::size_t bytes = 0, widest = 1;
  const auto add = [&](std::size_t size, std::size_t count) {
    bytes = (bytes + size - 1) / size * size + size * count;
    widest = std::max(widest, size);
  };
  for (const Reduction& r : ir.reductions) add(itemsize(r.dtype), static_cast<std::size_t>(tile));
  if (ir.combines()) add(sizeof(int), 1);
  return (bytes + widest - 1) / widest * widest;
}

}  // namespace tarry::codegen
