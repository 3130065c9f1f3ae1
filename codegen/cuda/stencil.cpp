// CUDA C: kernels that load shifted views of their buffers.
//
// A thread computes a tile of rows of `vector` columns. All of the tile's elements are loaded first, each
// once, in the widest runs that alignment allows; then row after row is computed and stored. The text exists twice, by
// a template: for tiles where every point is there and every guard holds, and for the others, where bits say which rows
// and columns of the tile a guard holds for. Of a chain (stencil_chain.h) the first text is one of passes: what is
// needed at several shifts is computed once for the tile and what lies around it, into registers; and the second goes
// row by row. Where nearly all tiles have their guards as usual (usual.h), the first text is for those, and the second
// goes row by row or point by point: it takes few registers.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/tile.h"
#include "codegen/ir/stencil_chain.h"
#include "codegen/ir/usual.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

// A row of a tile at the border is loaded at once where it takes no more: the loads wait together. Else it goes point
// by point, as all tiles would pay for registers that few of them use.
constexpr int kBorderRegisters = 40;

/// The elements of a buffer that a tile needs, by rows and columns from the anchor at the tile's first point.
struct Window {
  std::uint32_t anchor = kNone;
  std::vector<std::uint32_t> members;
  bool along_rows = false, along_columns = false;  ///< true if it moves along them
  int top = 0, left = 0, rows = 1, columns = 1;
};

class StencilWriter final : public TileWriter {
 public:
  explicit StencilWriter(const KernelIr& ir)
      : TileWriter(ir), chain_(find_chain(ir)), guard_of_(ir.accesses.size(), kNone) {
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Load) guard_of_[in.index] = in.guard;
  }

  KernelSource run() {
    const auto& layout = ir_.as<StencilLayout>();
    place();
    if (chain_.worthwhile() || layout.apart) {
      form_ = Form::Usual;
      set_tile(layout.rows, layout.vector);
      passes();
      form_ = Form::Tile;
      set_tile(1, layout.vector);
      if (layout.apart && held() > kBorderRegisters) set_tile(1, 1);
    } else {
      set_tile(layout.rows, layout.vector);
    }
    tile();
    entry();
    return finish(kThreads);
  }

 private:
  /// A text is for tiles of which bits say what holds, or for tiles with guards as usual.
  enum class Form { Tile, Usual };

  /// Rows and columns of the tile that the text is written for.
  void set_tile(int rows, int columns) {
    rows_ = rows;
    columns_ = columns;
    used_ = form_ == Form::Usual ? usually_loaded(ir_) : std::vector<bool>(ir_.accesses.size(), true);
    windows_.clear();
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (access(a).window == a)
        if (Window w = window(a); !w.members.empty()) windows_.push_back(std::move(w));
  }

  /// Registers for what the tile loads.
  [[nodiscard]] int held() const {
    int sum = 0;
    for (const Window& w : windows_)
      sum += w.rows * w.columns * (itemsize(ir_.buffers[access(w.anchor).buffer]) > 4 ? 2 : 1);
    return sum;
  }

  [[nodiscard]] Window window(std::uint32_t anchor) const {
    Window w;
    w.anchor = anchor;
    w.along_rows = along_rows(anchor);
    w.along_columns = along_columns(anchor);
    int bottom = 0, right = 0;
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (access(a).window != anchor || !used_[a]) continue;
      w.members.push_back(a);
      w.top = std::min<int>(w.top, access(a).row);
      w.left = std::min<int>(w.left, access(a).column);
      bottom = std::max<int>(bottom, access(a).row);
      right = std::max<int>(right, access(a).column);
    }
    if (w.along_rows) w.rows = rows_ + bottom - w.top;
    if (w.along_columns) w.columns = columns_ + right - w.left;
    return w;
  }

  /// Bits of the tile's rows ('r') or columns ('c') where a guard holds; without a guard, that exist.
  [[nodiscard]] std::string bits(char which, std::uint32_t guard) const {
    return guard == kNone || form_ == Form::Usual ? fmt::format("{}s", which) : fmt::format("{}s{}", which, guard);
  }
  /// True if a guard holds at row r and column c.
  [[nodiscard]] std::string at_point(std::uint32_t guard) const {
    return fmt::format("({} >> r & {} >> c & 1u)", bits('r', guard), bits('c', guard));
  }

  [[nodiscard]] std::string inside(std::uint32_t guard) const override { return at_point(guard); }
  [[nodiscard]] std::string counted(std::uint32_t a) const override { return offset(a, "r", "c"); }
  [[nodiscard]] std::string result_index(std::uint32_t) const override { return "c"; }
  [[nodiscard]] std::string loaded(const Instr& in) const override {
    if (form_ == Form::Usual && is_usually_zero(ir_, in)) return fmt::format("({})0", type(in.index));
    const Access& a = access(in.index);
    const std::string element = window_element(a.window, a.row, a.column);
    if (in.guard == kNone || form_ == Form::Usual) return element;
    return fmt::format("{} ? {} : ({})0", at_point(in.guard), element, type(in.index));
  }

  static std::string index(const char* at, int shift) {
    return shift == 0 ? std::string(at) : fmt::format("{} + {}", at, shift);
  }

  /// The element of a window at a shift from row r, column c.
  [[nodiscard]] std::string window_element(std::uint32_t anchor, int row, int column) const {
    const Window& w =
        *std::find_if(windows_.begin(), windows_.end(), [&](const Window& x) { return x.anchor == anchor; });
    return fmt::format("x{}[{}][{}]", anchor, w.along_rows ? index("r", row - w.top) : "0",
                       w.along_columns ? index("c", column - w.left) : "0");
  }

  // --- Tiles with guards as usual, chains among them ----------------------------------------------------------------

  void passes() {
    out_.open("__device__ __forceinline__ void $N_passes(const $N_params& p, const $N_at& t)");
    const unsigned rows = (1u << rows_) - 1, columns = (1u << columns_) - 1;
    out_.line(fmt::format("const tarry_u32 rs = {}u, cs = {}u;", rows, columns));
    load_tile();
    draws();
    if (chain_.worthwhile())
      chain();
    else
      results([&] { usual_point(); });
    out_.close();
  }

  void chain() {
    for (const ChainPass& pass : chain_.passes) run_pass(pass);
    results([&] {
      for (const Instr& in : ir_.instrs)
        if (in.kind == InstrKind::Store)
          out_.line(fmt::format("y{}[c] = {};", in.index, chain_operand(in.args[0], {0, 0}, {0, 0}, -1)));
    });
  }

  void run_pass(const ChainPass& pass) {
    const ChainValue& first = chain_.values[pass.values.front()];
    const int rows = rows_ + first.bottom - first.top, columns = columns_ + first.right - first.left;
    for (const std::uint32_t i : pass.values)
      if (is_kept(i))
        out_.line(fmt::format("{} q{}[{}][{}];", c_type(ir_.instrs[chain_.values[i].sample].dtype), i, rows, columns));
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int r = 0; r < {}; ++r)", rows));
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int c = 0; c < {}; ++c)", columns));
    for (const std::uint32_t i : pass.values) {
      const ChainValue& value = chain_.values[i];
      const Instr& in = ir_.instrs[value.sample];
      std::vector<std::string> operands;
      for (std::size_t k = 0; k < static_cast<std::size_t>(arity(in)); ++k)
        operands.push_back(chain_operand(in.args[k], value.at, {value.top, value.left}, value.pass));
      out_.line(fmt::format(
          "const {} {} = {};", c_type(in.dtype), value_name(value.sample),
          shares_block(value.sample) ? block_word(value.sample) : expressions_.compute(value.sample, operands)));
      if (is_kept(i)) out_.line(fmt::format("q{}[r][c] = {};", i, value_name(value.sample)));
    }
    out_.close();
    out_.close();
  }

  /// True if another pass, or a store, uses a value.
  [[nodiscard]] bool is_kept(std::uint32_t value) const {
    const auto uses = [&](const Instr& in) {
      return std::any_of(in.args.begin(), in.args.end(),
                         [&](Value arg) { return arg != kNone && chain_.value_of[arg] == value; });
    };
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store && uses(in)) return true;
    return std::any_of(chain_.values.begin(), chain_.values.end(), [&](const ChainValue& v) {
      return v.pass >= 0 && v.pass != chain_.values[value].pass && uses(ir_.instrs[v.sample]);
    });
  }

  /// An operand of an instruction at shift `user`, for the point that lies at r, c from `origin`, in a pass.
  [[nodiscard]] std::string chain_operand(Value of, Shift user, Shift origin, int pass) const {
    const Value v = usual_value(ir_, of);
    const Instr& in = ir_.instrs[v];
    if (in.kind == InstrKind::Inside) return ir_.guards[in.index].usual ? "1" : "0";
    if (is_usually_zero(ir_, in)) return fmt::format("({})0", type(in.index));
    if (in.kind == InstrKind::Scalar) return operand(v);
    const std::uint32_t number = chain_.value_of[v];
    const ChainValue& value = chain_.values[number];
    const int row = chain_.shift_of[v].first - user.first + origin.first,
              column = chain_.shift_of[v].second - user.second + origin.second;
    const Instr& sample = ir_.instrs[value.sample];
    if (sample.kind == InstrKind::Load && access(sample.index).buffer == kNone)
      return fmt::format("({})", sum_text("t." + name(sample.index), offset(sample.index, "(" + index("r", row) + ")",
                                                                            "(" + index("c", column) + ")")));
    if (sample.kind == InstrKind::Load) return window_element(access(sample.index).window, row, column);
    if (value.pass == pass) return value_name(value.sample);
    return fmt::format("q{}[{}][{}]", number, index("r", row - value.top), index("c", column - value.left));
  }

  // --- The tile -----------------------------------------------------------------------------------------------------

  void tile() {
    out_.label("template <bool whole>");
    out_.open("__device__ __forceinline__ void $N_tile(const $N_params& p, const $N_at& t, int rows, int columns)");
    out_.line(
        fmt::format("const tarry_u32 rs = whole ? {}u : (1u << rows) - 1, cs = whole ? {}u : (1u << columns) - 1;",
                    (1u << rows_) - 1, (1u << columns_) - 1));
    for (std::uint32_t g = 0; g < ir_.guards.size(); ++g) guard(g);
    load_tile();
    draws();
    results([&] { point(); });
    out_.close();
  }

  /// True if neighbouring columns draw from one block of words, which is then drawn once.
  [[nodiscard]] bool shares_block(Value v) const override {
    const Instr& in = ir_.instrs[v];
    if (columns_ == 1 || in.kind != InstrKind::Compute || in.op != Op::RandomBits || !is_iota(ir_, in.args[0]))
      return false;
    const bool shifted = form_ == Form::Usual && chain_.worthwhile() &&
                         chain_.values[chain_.value_of[v]].needed != std::set<Shift>{{0, 0}};
    return !shifted && access(ir_.instrs[in.args[0]].index).aligned;
  }

  void draws() {
    const std::vector<bool> needed = usually_needed(ir_);
    for (Value v = 0; v < ir_.instrs.size(); ++v) {
      const Instr& in = ir_.instrs[v];
      if (!shares_block(v) || (form_ == Form::Usual && !needed[v])) continue;
      const std::uint32_t number = ir_.instrs[in.args[0]].index;
      out_.line(fmt::format("{} d{}[{}][{}];", c_type(in.dtype), v, rows_, columns_));
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int r = 0; r < {}; ++r) {};", rows_,
                            expressions_.call(fmt::format("tarry_words_{}", info(in.dtype).suffix),
                                              fmt::format("d{}[r], {}, ({})({}), {}, {}", v, columns_,
                                                          ir_.wide_index ? "tarry_u64" : "tarry_u32",
                                                          sum_text("t." + name(number), offset(number, "r", "0")),
                                                          operand(in.args[1]), operand(in.args[2])))));
    }
  }

  void load_tile() {
    for (const Window& w : windows_)
      out_.line(fmt::format("{} x{}[{}][{}] = {{}};", type(w.anchor), w.anchor, w.rows, w.columns));
    for (const Window& w : windows_)
      for (int row = 0; row < w.rows; ++row) load_row(w, row);
  }

  /// Row after row: what `compute` writes for a point at r, c, and the stores.
  template <class F>
  void results(const F& compute) {
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int r = 0; r < {}; ++r)", rows_));
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) out_.line(fmt::format("{} y{}[{}];", type(in.index), in.index, columns_));
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int c = 0; c < {}; ++c)", columns_));
    compute();
    out_.close();
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) store_row(in.index);
    out_.close();
  }

  void guard(std::uint32_t g) {
    out_.line(fmt::format("tarry_u32 rs{0} = rs, cs{0} = cs;", g));
    std::string rows, columns;
    for (const GuardTerm& term : ir_.guards[g].terms) {
      std::string& all = along_columns(term.access) ? columns : rows;
      all += (all.empty() ? "" : " && ") + holds(term, "r", "c");
    }
    out_.open("if (!whole)");
    const auto test = [&](char which, int count, const std::string& all) {
      if (all.empty()) return;
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) if (!({2})) {0}s{3} &= ~(1u << {0});", which, count,
                            all, g));
    };
    test('r', rows_, rows);
    test('c', columns_, columns);
    out_.close();
  }

  /// Loads what the tile needs of a row of the window: the bits that want it, then its elements in aligned runs.
  void load_row(const Window& w, int row) {
    std::vector<std::string> wants;
    std::vector<bool> needed(static_cast<std::size_t>(w.columns));
    for (const std::uint32_t a : w.members) {
      const int at = row + w.top - access(a).row, from = access(a).column - w.left;
      if (w.along_rows && (at < 0 || at >= rows_)) continue;
      const std::string rows = bits('r', guard_of_[a]), columns = bits('c', guard_of_[a]);
      const std::string wanted = w.along_columns ? from == 0 ? columns : fmt::format("{} << {}", columns, from)
                                                 : fmt::format("({} ? 1u : 0u)", columns);
      const std::string want =
          fmt::format("({} ? {} : 0u)", w.along_rows ? fmt::format("{} >> {} & 1u", rows, at) : rows, wanted);
      if (std::find(wants.begin(), wants.end(), want) == wants.end()) wants.push_back(want);
      for (int c = 0; c < (w.along_columns ? columns_ : 1); ++c) needed[static_cast<std::size_t>(from + c)] = true;
    }
    if (wants.empty()) return;
    out_.open("");
    std::string all;
    for (const std::string& want : wants) all += (all.empty() ? "" : " | ") + want;
    out_.line(fmt::format("const tarry_u32 wanted = {};", all));
    const int distance = row + w.top;
    out_.line(
        fmt::format("const {}* from = {};", type(w.anchor),
                    sum_text(fmt::format("t.a{}", w.anchor),
                             w.along_rows && distance != 0 ? offset(w.anchor, std::to_string(distance), "0") : "0")));
    for (int c = 0; c < w.columns;) {
      if (!needed[static_cast<std::size_t>(c)]) {
        ++c;
        continue;
      }
      const int run = run_at(w, c, needed);
      out_.line(fmt::format("$N_get<{}, {}>(from + {}, wanted >> {} & {}u, x{}[{}] + {});", type(w.anchor), run,
                            c + w.left, c, (1u << run) - 1, w.anchor, row, c));
      c += run;
    }
    out_.close();
  }

  /// The longest aligned run of needed elements that begins at a column of the window.
  [[nodiscard]] int run_at(const Window& w, int column, const std::vector<bool>& needed) const {
    const Access& a = access(w.anchor);
    int run = a.aligned ? columns_ : 1;
    const int place = a.phase + column + w.left + 64 * columns_;  // of the element in its vector; never negative
    const auto fits = [&] {
      if (place % run != 0 || column + run > w.columns) return false;
      return std::all_of(needed.begin() + column, needed.begin() + column + run, [](bool n) { return n; });
    };
    while (run > 1 && !fits()) run /= 2;
    return run;
  }

  void store_row(std::uint32_t a) {
    out_.open("");
    out_.line(fmt::format("{}* to = {};", type(a), sum_text(fmt::format("t.a{}", a), offset(a, "r", "0"))));
    const std::string wanted = "(rs >> r & 1u ? cs : 0u)";
    if (access(a).aligned && along_columns(a)) {
      out_.line(fmt::format("$N_put<{}, {}>(to, {}, y{});", type(a), columns_, wanted, a));
    } else {
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int c = 0; c < {}; ++c) if ({} >> c & 1u) to[{}] = y{}[c];", columns_, wanted,
                            offset(a, "0", "c"), a));
    }
    out_.close();
  }

  /// A thread's number is that of its tile.
  void entry() {
    out_.open("extern \"C\" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p)");
    out_.line("const tarry_i64 number = (tarry_i64)blockIdx.x * 256 + threadIdx.x;");
    out_.line("if (number >= p.tiles) return;");
    find();
    if (ir_.as<StencilLayout>().apart) {
      out_.line(fmt::format("if ({}) return $N_passes(p, t);", usual()));
      const auto& layout = ir_.as<StencilLayout>();
      const auto step = [&](const char* r, const char* c) {
        for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
          if (const std::string by = offset(a, r, c); is_placed(a) && by != "0")
            out_.line(fmt::format("t.{} += {};", name(a), by));
      };
      const auto each = [&](const char* i, const char* count) {
        out_.label("#pragma unroll 1");
        out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", i, count));
      };
      if (layout.rows > 1) each("r", "rows");
      const bool single = columns_ < layout.vector;
      if (single) each("c", "columns");
      out_.line(fmt::format("$N_tile<false>(p, t, 1, {});", single ? "1" : "columns"));
      if (single) {
        step("0", "1");
        out_.close();
      }
      if (layout.rows > 1) {
        step("1", single ? "(-columns)" : "0");
        out_.close();
      }
    } else if (chain_.worthwhile()) {
      out_.line(fmt::format("if ({}) return $N_passes(p, t);", usual()));
      out_.label("#pragma unroll 1");
      out_.open("for (int r = 0; r < rows; ++r)");
      out_.line("$N_tile<false>(p, t, 1, columns);");
      for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
        if (is_placed(a) && along_rows(a)) out_.line(fmt::format("t.{} += {};", name(a), offset(a, "1", "0")));
      out_.close();
    } else {
      out_.line(fmt::format("if ({}) $N_tile<true>(p, t, rows, columns);", whole()));
      out_.line("else $N_tile<false>(p, t, rows, columns);");
    }
    out_.close();
  }

  const Chain chain_;
  Form form_ = Form::Tile;
  int rows_ = 1, columns_ = 1;
  std::vector<bool> used_;               ///< per access: the text may load it
  std::vector<std::uint32_t> guard_of_;  ///< per access
  std::vector<Window> windows_;
};

}  // namespace

KernelSource render_stencil(const KernelIr& ir, const graph::Target&) {
  TARRY_ASSERT(ir.rank > 0);
  return StencilWriter(ir).run();
}

}  // namespace tarry::codegen::cuda
