// C: blocks of lines side by side, of a scan whose combination the kernel spells out. One function combines arrays with
// arrays, row by row; all steps are calls of it, so the compiler sees the combination once. A state says whether it has
// anything: there is no value that would leave every other one alone. What is missing at the end of a row is 0, which
// no result comes from.
#include <fmt/format.h>

#include "codegen/c/scan_steps.h"

namespace tarry::codegen {
namespace {

class CombineSteps : public ScanSteps {
 public:
  using ScanSteps::ScanSteps;

  void functions() override {
    both_function();
    states_ = fmt::format("{}_state", kEntryName);
    state();
    push_function();
    node_function();
    block_function();
  }
  [[nodiscard]] std::string fill(const std::string& array, std::uint32_t r, const std::string& from,
                                 const std::string& to) const override {
    return fmt::format("if ({2} < {3}) __builtin_memset({0} + {2}, 0, (({3}) - ({2})) * sizeof({1}));", array, type(r),
                       from, to);
  }
  void nodes() override {
    w_.line(fmt::format("{}_node(p, {}, quarters, {});", kEntryName, all("x{}"), all("node{}")));
  }
  void results() override {
    w_.line(fmt::format("{}_block(p, {}, quarters, {}, there);", kEntryName, all("x{}"), all("offset{}")));
  }
  void declare_offsets() override { w_.line(fmt::format("int there[{}];", width_)); }
  void take_offset(const std::string& line) override { w_.line(fmt::format("there[{}] = before->there;", line)); }
  void take_offsets() override {
    w_.line(fmt::format("for (int j = 0; j < {}; ++j) there[j] = before->there;", width_));
  }
  void parameters(const std::string& from) override {
    w_.line(fmt::format("const struct {}_params* const p = {};", kEntryName, from));
  }
  std::string share(const std::string& name, const std::function<void()>& write) override {
    std::string own = fmt::format("{}_{}", kEntryName, name), text = w_.aside(write);
    replace_all(text, kSharedName, own);
    w_.label(std::string_view(text).substr(0, text.size() - 1));
    return own;
  }
  [[nodiscard]] std::string push(const std::string& arguments) const override {
    return fmt::format("{}_push(p, {});", states_, arguments);
  }

 private:
  /// `form` for every reduction, by commas.
  [[nodiscard]] std::string all(std::string_view form) const {
    std::string text;
    each_scan([&](std::uint32_t r) { text += (r > 0 ? ", " : "") + fmt::format(fmt::runtime(form), r); });
    return text;
  }
  [[nodiscard]] std::string parameter(std::string_view form) const {
    std::string text;
    each_scan([&](std::uint32_t r) { text += (r > 0 ? ", " : "") + fmt::format(fmt::runtime(form), type(r), r); });
    return text;
  }
  void open_function(std::string_view name, const std::string& parameters) {
    w_.open(fmt::format("static __attribute__((noinline)) void {0}_{1}(const struct {0}_params* p, {2})", kEntryName,
                        name, parameters));
  }

  /// `rows` times `count` neighbours: to becomes a with b. Steps are elements from row to row.
  void both_function() {
    open_function("both", fmt::format("int rows, int count, tarry_i64 a_step, tarry_i64 b_step, tarry_i64 to_step, {}, "
                                      "{}, {}",
                                      parameter("const {}* a{}"), parameter("const {}* b{}"), parameter("{}* to{}")));
    for (std::uint32_t s = 0; s < ir_.scalars.size(); ++s) {
      const std::string name = slot_name({SlotKind::Scalar, s});
      w_.line(fmt::format("const {0} {1} = p->{1};", c_type(ir_.scalars[s]), name));
    }
    w_.open("for (int i = 0; i < rows; ++i)");
    w_.open_loop("j", "0", "count");
    for (const std::string& statement : w_.expressions.combination("a{}[j]", "b{}[j]", "")) w_.line(statement);
    each_scan(
        [&](std::uint32_t r) { w_.line(fmt::format("to{}[j] = {};", r, value_name(ir_.reductions[r].combined))); });
    w_.close();
    each_scan([&](std::uint32_t r) { w_.line(fmt::format("a{0} += a_step, b{0} += b_step, to{0} += to_step;", r)); });
    w_.close();
    w_.close();
  }
  void both(const std::string& rows, const std::string& count, const std::string& a, const std::string& a_step,
            const std::string& b, const std::string& b_step, const std::string& to, const std::string& to_step) {
    w_.line(fmt::format("{}_both(p, {}, {}, {}, {}, {}, {}, {}, {});", kEntryName, rows, count, a_step, b_step, to_step,
                        all(a), all(b), all(to)));
  }
  void copy(const std::string& to, const std::string& from, int count) {
    each_scan([&](std::uint32_t r) {
      w_.line(fmt::format("__builtin_memcpy({}, {}, {} * sizeof({}));", fmt::format(fmt::runtime(to), r),
                          fmt::format(fmt::runtime(from), r), count, type(r)));
    });
  }

  void state() {
    w_.open(state_type());
    each_scan([&](std::uint32_t r) { w_.line(fmt::format("{} r{}[{}];", type(r), r, tile_)); });
    w_.line("int there;");
    w_.close(";");
    w_.line(fmt::format("static void {}_clear({}* s) {{ __builtin_memset(s, 0, sizeof *s); }}", states_, state_type()));
  }

  /// Node number `at` of a run comes in, which begins at `start`: fold[*depth - 1] is the offset of the next one.
  void push_function() {
    const std::string tile = std::to_string(tile_);
    w_.open(
        fmt::format("static __attribute__((noinline)) void {0}_push(const struct {2}_params* p, {1}* node, {1}* "
                    "fold, int* depth, tarry_i64 at, const {1}* start, const {1}* s)",
                    states_, state_type(), kEntryName));
    w_.line("int d = *depth;");
    w_.line(fmt::format("{} sum = *s;", state_type()));
    w_.line("sum.there = 1;");
    w_.open("for (; at & 1; at >>= 1)");
    w_.line("--d;");
    both("1", tile, "node[d].r{}", "0", "sum.r{}", "0", "sum.r{}", "0");
    w_.close();
    w_.line(fmt::format("const {}* const before = d == 0 ? start : &fold[d - 1];", state_type()));
    w_.line("node[d] = sum;");
    w_.line("fold[d] = sum;");
    w_.open("if (before->there)");
    both("1", tile, "before->r{}", "0", "sum.r{}", "0", "fold[d].r{}", "0");
    w_.close();
    w_.line("*depth = d + 1;");
    w_.close();
  }

  /// The nodes of a block of every line, of its `quarters` rows from left to right: each the tree of its eight quads.
  void node_function() {
    const auto lines = [&](int count) { return std::to_string(count * width_); };
    const std::string one = lines(1), two = lines(2);
    open_function("node", fmt::format("{}, int quarters, {}", parameter("const {}* x{}"), parameter("{}* node{}")));
    each_scan([&](std::uint32_t r) {
      w_.line(fmt::format("{0} quad{1}[{2}] __attribute__((aligned(64)));", type(r), r, lines(8)));
    });
    w_.open("for (int k = 0; k < quarters; ++k)");
    w_.line("for (int q = 0; q < 8; ++q) {");
    copy("quad{} + q * " + one, "x{} + 4 * q * " + one, width_);
    w_.line("}");
    w_.line("for (int i = 1; i < 4; ++i)");
    both("8", one, "quad{}", one, "x{} + i * " + one, lines(4), "quad{}", one);
    for (const char* count : {"4", "2", "1"}) both(count, one, "quad{}", two, "quad{} + " + one, two, "quad{}", one);
    w_.line("if (k > 0)");
    both("1", one, "node{}", "0", "quad{}", "0", "node{}", "0");
    w_.line("else {");
    copy("node{}", "quad{}", width_);
    w_.line("}");
    each_scan([&](std::uint32_t r) { w_.line(fmt::format("x{} += {};", r, lines(32))); });
    w_.close();
    w_.close();
  }

  /// Scans a block of every line in place: rows of eight quads of four. `there`: lines that have an offset.
  void block_function() {
    const auto lines = [&](int count) { return std::to_string(count * width_); };
    const std::string one = lines(1), two = lines(2), four = lines(4);
    open_function("block", fmt::format("{}, int quarters, {}, const int* there", parameter("{}* x{}"),
                                       parameter("const {}* offset{}")));
    each_scan([&](std::uint32_t r) {
      w_.line(fmt::format("{0} quad{1}[{2}] __attribute__((aligned(64))), base{1}[{2}] __attribute__((aligned(64)));",
                          type(r), r, lines(8)));
      w_.line(fmt::format("{0} rows{1}[{2}] __attribute__((aligned(64))), own{1}[{3}] __attribute__((aligned(64)));",
                          type(r), r, one, four));
    });
    w_.line("int all = 1;");
    w_.line(fmt::format("for (int j = 0; j < {}; ++j) all &= there[j];", one));
    w_.open("for (int k = 0; k < quarters; ++k)");
    w_.line("for (int i = 1; i < 4; ++i)");
    both("8", one, "x{} + (i - 1) * " + one, four, "x{} + i * " + one, four, "x{} + i * " + one, four);
    w_.line("for (int q = 0; q < 8; ++q) {");
    copy("quad{} + q * " + one, "x{} + (4 * q + 3) * " + one, width_);
    w_.line("}");
    // The quads of a row: halves of two, four and eight, the last quad of the left one with the right one's.
    both("4", one, "quad{}", two, "quad{} + " + one, two, "quad{} + " + one, two);
    both("2", one, "quad{} + " + one, "0", "quad{} + " + two, one, "quad{} + " + two, one);
    both("2", one, "quad{} + " + lines(5), "0", "quad{} + " + lines(6), one, "quad{} + " + lines(6), one);
    both("4", one, "quad{} + " + lines(3), "0", "quad{} + " + four, one, "quad{} + " + four, one);
    copy("base{}", "offset{}", width_);
    w_.line("if (k > 0)");
    both("1", one, "offset{}", "0", "rows{}", "0", "base{}", "0");
    both("7", one, "base{}", "0", "quad{}", one, "base{} + " + one, one);
    w_.open("if (!all)");
    w_.open(fmt::format("for (int j = 0; j < {}; ++j)", one));
    w_.line("if (there[j]) continue;");
    each_scan([&](std::uint32_t r) { w_.line(fmt::format("if (k > 0) base{0}[j] = rows{0}[j];", r)); });
    w_.close();
    w_.line("if (k > 0)");
    both("7", one, "base{}", "0", "quad{}", one, "base{} + " + one, one);
    each_scan([&](std::uint32_t r) {
      w_.line(
          fmt::format("for (int j = 0; k == 0 && j < {1}; ++j) if (!there[j]) for (int q = 1; q < 8; ++q) "
                      "base{0}[q * {1} + j] = quad{0}[(q - 1) * {1} + j];",
                      r, one));
    });
    w_.close();
    copy("own{}", "x{}", 4 * width_);
    w_.line("for (int i = 0; i < 4; ++i)");
    both("8", one, "base{}", one, "x{} + i * " + one, four, "x{} + i * " + one, four);
    each_scan([&](std::uint32_t r) {
      w_.line(
          fmt::format("for (int j = 0; !all && k == 0 && j < {1}; ++j) if (!there[j]) for (int i = 0; i < 4; ++i) "
                      "x{0}[i * {1} + j] = own{0}[i * {1} + j];",
                      r, one));
    });
    w_.line("if (k > 0)");
    both("1", one, "rows{}", "0", "quad{} + " + lines(7), "0", "rows{}", "0");
    w_.line("else {");
    copy("rows{}", "quad{} + " + lines(7), width_);
    w_.line("}");
    each_scan([&](std::uint32_t r) { w_.line(fmt::format("x{} += {};", r, lines(32))); });
    w_.close();
    w_.close();
  }
};

}  // namespace

std::unique_ptr<ScanSteps> combine_steps(CWriter& w, int width, int tile, int vector_bytes) {
  return std::make_unique<CombineSteps>(w, width, tile, vector_bytes);
}

}  // namespace tarry::codegen
