// CUDA C: kernels that load shifted views of their buffers.
//
// A thread computes a tile of tile_rows rows of `vector` columns. All of the tile's elements are loaded first, each
// once, in the widest runs that alignment allows; then row after row is computed and stored. The text exists twice, by a
// template: for tiles where every point is there and every guard holds, and for the others, where bits say which rows
// and columns of the tile a guard holds for.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/render_cuda.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

/// The elements of a buffer that a tile needs, by rows and columns from the anchor at the tile's first point.
struct Window {
  std::uint32_t anchor = kNone;
  std::vector<std::uint32_t> members;
  bool along_rows = false, along_columns = false;  ///< whether it moves along them
  int top = 0, left = 0, rows = 1, columns = 1;
};

constexpr std::string_view kRuns = R"(template <class T, int N> struct alignas(N * sizeof(T)) $N_run { T v[N]; };
template <class T, int N> __device__ __forceinline__ void $N_get(const T* from, tarry_u32 wanted, T* x) {
  if (wanted == (1u << N) - 1) {
    const $N_run<T, N> run = *(const $N_run<T, N>*)from;
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] = run.v[j];
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) if (wanted >> j & 1u) x[j] = from[j];
  }
}
template <class T, int N> __device__ __forceinline__ void $N_put(T* to, tarry_u32 wanted, const T* y) {
  if (wanted == (1u << N) - 1) {
    $N_run<T, N> run;
#pragma unroll
    for (int j = 0; j < N; ++j) run.v[j] = y[j];
    *($N_run<T, N>*)to = run;
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) if (wanted >> j & 1u) to[j] = y[j];
  }
}
)";

class Writer {
 public:
  explicit Writer(const KernelIr& ir) : ir_(ir), expressions_(ir), guard_of_(ir.accesses.size(), kNone) {
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Load) guard_of_[in.index] = in.guard;
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (ir_.accesses[a].window == a) windows_.push_back(window(a));
  }

  KernelSource run() {
    const Parameters parameters =
        ir_.wide_index ? make_parameters(ir_, {SlotKind::Extent, SlotKind::Tiles, SlotKind::TileCount})
                       : make_parameters(ir_, {SlotKind::Extent, SlotKind::Tiles, SlotKind::TileMagic, SlotKind::TileCount});
    place();
    tile();
    entry();
    const Stage none;
    std::string kernel = parameter_struct(parameters);
    kernel += Template(ir_, none).fill(std::string(kRuns) + out_.take());
    return finish_kernel(ir_, Dialect::Cuda, std::move(kernel), parameters, expressions_.functions());
  }

 private:
  [[nodiscard]] const Access& access(std::uint32_t a) const { return ir_.accesses[a]; }
  [[nodiscard]] std::string type(std::uint32_t a) const { return c_type(ir_.buffers[access(a).buffer]); }
  [[nodiscard]] bool varies(std::uint32_t a, int from_last) const {
    return ir_.rank >= from_last && access(a).strides[static_cast<std::size_t>(ir_.rank - from_last)] != StrideClass::Zero;
  }
  /// Accesses with an address or an offset of their own.
  [[nodiscard]] bool is_placed(std::uint32_t a) const { return access(a).window == kNone || access(a).window == a; }
  static const char* letter(const Access& a) { return a.buffer == kNone ? "o" : "a"; }

  [[nodiscard]] Window window(std::uint32_t anchor) const {
    Window w;
    w.anchor = anchor;
    w.along_rows = varies(anchor, 2);
    w.along_columns = varies(anchor, 1);
    int bottom = 0, right = 0;
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (access(a).window != anchor) continue;
      w.members.push_back(a);
      w.top = std::min<int>(w.top, access(a).row);
      w.left = std::min<int>(w.left, access(a).column);
      bottom = std::max<int>(bottom, access(a).row);
      right = std::max<int>(right, access(a).column);
    }
    if (w.along_rows) w.rows = ir_.tile_rows + bottom - w.top;
    if (w.along_columns) w.columns = ir_.vector + right - w.left;
    return w;
  }

  /// What an access adds at a row and a column of the tile.
  [[nodiscard]] std::string offset(std::uint32_t a, const std::string& row, const std::string& column) const {
    std::vector<std::string> indices(static_cast<std::size_t>(ir_.rank), "0");
    if (ir_.rank > 1) indices[static_cast<std::size_t>(ir_.rank) - 2] = row;
    indices.back() = column;
    return outer_offset(ir_, a, indices, "p.");
  }

  /// Bits of the tile's rows ('r') or columns ('c') where a guard holds; without a guard, that exist.
  static std::string bits(char which, std::uint32_t guard) {
    return guard == kNone ? fmt::format("{}s", which) : fmt::format("{}s{}", which, guard);
  }
  /// Whether a guard holds at row r and column c.
  static std::string holds(std::uint32_t guard) { return fmt::format("({} >> r & {} >> c & 1u)", bits('r', guard), bits('c', guard)); }

  [[nodiscard]] std::string holds(const GuardTerm& term, const std::string& row, const std::string& column) const {
    const char* word = ir_.wide_index ? "tarry_u64" : "tarry_u32";
    const std::string at = sum_text(fmt::format("t.o{}", term.access), offset(term.access, row, column));
    return fmt::format("({})({}) < ({})p.{}", word, at, word, slot_name({SlotKind::Scalar, term.extent}));
  }

  void place() {
    out_.open("struct $N_at");
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!is_placed(a)) continue;
      if (access(a).buffer == kNone) out_.line(fmt::format("tarry_i64 o{};", a));
      else out_.line(fmt::format("{}{}* a{};", access(a).store ? "" : "const ", type(a), a));
    }
    out_.close(";");
  }

  // --- The tile -----------------------------------------------------------------------------------------------------

  void tile() {
    out_.label("template <bool whole>");
    out_.open("__device__ __forceinline__ void $N_tile(const $N_params& p, const $N_at& t, int rows, int columns)");
    out_.line(fmt::format("const tarry_u32 rs = whole ? {}u : (1u << rows) - 1, cs = whole ? {}u : (1u << columns) - 1;",
                          (1u << ir_.tile_rows) - 1, (1u << ir_.vector) - 1));
    for (std::uint32_t g = 0; g < ir_.guards.size(); ++g) guard(g);
    for (const Window& w : windows_) out_.line(fmt::format("{} x{}[{}][{}] = {{}};", type(w.anchor), w.anchor, w.rows, w.columns));
    for (const Window& w : windows_)
      for (int row = 0; row < w.rows; ++row) load_row(w, row);
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int r = 0; r < {}; ++r)", ir_.tile_rows));
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) out_.line(fmt::format("{} y{}[{}];", type(in.index), in.index, ir_.vector));
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int c = 0; c < {}; ++c)", ir_.vector));
    for (Value v = 0; v < ir_.instrs.size(); ++v) instruction(v);
    out_.close();
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) store_row(in.index);
    out_.close();
    out_.close();
  }

  void guard(std::uint32_t g) {
    out_.line(fmt::format("tarry_u32 rs{0} = rs, cs{0} = cs;", g));
    std::string rows, columns;
    for (const GuardTerm& term : ir_.guards[g].terms) {
      std::string& all = varies(term.access, 1) ? columns : rows;
      all += (all.empty() ? "" : " && ") + holds(term, "r", "c");
    }
    out_.open("if (!whole)");
    const auto test = [&](char which, int count, const std::string& all) {
      if (all.empty()) return;
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) if (!({2})) {0}s{3} &= ~(1u << {0});", which, count, all, g));
    };
    test('r', ir_.tile_rows, rows);
    test('c', ir_.vector, columns);
    out_.close();
  }

  /// Loads what the tile needs of a row of the window: the bits that want it, then its elements in aligned runs.
  void load_row(const Window& w, int row) {
    std::vector<std::string> wants;
    std::vector<bool> needed(static_cast<std::size_t>(w.columns));
    for (const std::uint32_t a : w.members) {
      const int at = row + w.top - access(a).row, from = access(a).column - w.left;
      if (w.along_rows && (at < 0 || at >= ir_.tile_rows)) continue;
      const std::string rows = bits('r', guard_of_[a]), columns = bits('c', guard_of_[a]);
      const std::string wanted = w.along_columns ? from == 0 ? columns : fmt::format("{} << {}", columns, from) : fmt::format("({} ? 1u : 0u)", columns);
      const std::string want = fmt::format("({} ? {} : 0u)", w.along_rows ? fmt::format("{} >> {} & 1u", rows, at) : rows, wanted);
      if (std::find(wants.begin(), wants.end(), want) == wants.end()) wants.push_back(want);
      for (int c = 0; c < (w.along_columns ? ir_.vector : 1); ++c) needed[static_cast<std::size_t>(from + c)] = true;
    }
    if (wants.empty()) return;
    out_.open("");
    std::string all;
    for (const std::string& want : wants) all += (all.empty() ? "" : " | ") + want;
    out_.line(fmt::format("const tarry_u32 wanted = {};", all));
    const int distance = row + w.top;
    out_.line(fmt::format("const {}* from = {};", type(w.anchor),
                          sum_text(fmt::format("t.a{}", w.anchor), w.along_rows && distance != 0 ? offset(w.anchor, std::to_string(distance), "0") : "0")));
    for (int c = 0; c < w.columns;) {
      if (!needed[static_cast<std::size_t>(c)]) {
        ++c;
        continue;
      }
      const int run = run_at(w, c, needed);
      out_.line(fmt::format("$N_get<{}, {}>(from + {}, wanted >> {} & {}u, x{}[{}] + {});", type(w.anchor), run, c + w.left, c,
                            (1u << run) - 1, w.anchor, row, c));
      c += run;
    }
    out_.close();
  }

  /// The longest aligned run of needed elements that begins at a column of the window.
  [[nodiscard]] int run_at(const Window& w, int column, const std::vector<bool>& needed) const {
    const Access& a = access(w.anchor);
    int run = a.aligned ? ir_.vector : 1;
    const int place = a.phase + column + w.left + 64 * ir_.vector;  // of the element in its vector; never negative
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
    if (access(a).aligned && varies(a, 1)) {
      out_.line(fmt::format("$N_put<{}, {}>(to, {}, y{});", type(a), ir_.vector, wanted, a));
    } else {
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int c = 0; c < {}; ++c) if ({} >> c & 1u) to[{}] = y{}[c];", ir_.vector, wanted, offset(a, "0", "c"), a));
    }
    out_.close();
  }

  // --- A point ------------------------------------------------------------------------------------------------------

  void instruction(Value v) {
    const Instr& in = ir_.instrs[v];
    const std::string head = fmt::format("const {} {} = ", c_type(in.dtype), value_name(v));
    switch (in.kind) {
      case InstrKind::Load: return out_.line(head + load(in) + ";");
      case InstrKind::Inside: return out_.line(fmt::format("{}{};", head, holds(in.index)));
      case InstrKind::Store: return out_.line(fmt::format("y{}[c] = {};", in.index, operand(in.args[0])));
      case InstrKind::Compute: {
        std::vector<std::string> operands;
        for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i) operands.push_back(operand(in.args[i]));
        return out_.line(fmt::format("{}{};", head, expressions_.compute(v, operands)));
      }
      case InstrKind::Scalar:
      case InstrKind::Result: return;
    }
  }

  [[nodiscard]] std::string operand(Value v) const {
    const Instr& in = ir_.instrs[v];
    return in.kind == InstrKind::Scalar ? "p." + slot_name({SlotKind::Scalar, in.index}) : value_name(v);
  }

  [[nodiscard]] std::string load(const Instr& in) const {
    const Access& a = access(in.index);
    if (a.buffer == kNone) return sum_text(fmt::format("t.o{}", in.index), offset(in.index, "r", "c"));
    const Window& w = *std::find_if(windows_.begin(), windows_.end(), [&](const Window& x) { return x.anchor == a.window; });
    const auto index = [](bool moves, const char* at, int shift) {
      return !moves ? std::string("0") : shift == 0 ? std::string(at) : fmt::format("{} + {}", at, shift);
    };
    const std::string element = fmt::format("x{}[{}][{}]", w.anchor, index(w.along_rows, "r", a.row - w.top),
                                            index(w.along_columns, "c", a.column - w.left));
    return in.guard == kNone ? element : fmt::format("{} ? {} : ({})0", holds(in.guard), element, type(in.index));
  }

  // --- The kernel ---------------------------------------------------------------------------------------------------

  /// A thread's number is that of its tile, in row-major order of tiles.
  void entry() {
    const int rank = ir_.rank;
    out_.open("extern \"C\" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p)");
    out_.line("const tarry_i64 number = (tarry_i64)blockIdx.x * 256 + threadIdx.x;");
    out_.line("if (number >= p.tiles) return;");
    out_.line("$O i = ($O)number;");
    std::vector<std::string> indices(static_cast<std::size_t>(rank), "i");
    for (int d = rank; d-- > 1;) {
      if (ir_.wide_index) out_.line(fmt::format("const $O q{0} = i / p.n{0};", d));
      else out_.line(fmt::format("const $O q{0} = (__umulhi((tarry_u32)p.w{0}, i) + i) >> (tarry_u32)(p.w{0} >> 32);", d));
      out_.line(fmt::format("const $O i{0} = i - q{0} * ($O)p.n{0};", d));
      out_.line(fmt::format("i = q{};", d));
      indices[static_cast<std::size_t>(d)] = fmt::format("i{}", d);
    }
    const std::string column = fmt::format("({} * {})", indices.back(), ir_.vector);
    indices.back() = "column";
    out_.line(fmt::format("const $O column = {};", column));
    std::string rows = "1";
    if (rank > 1) {
      std::string& row = indices[static_cast<std::size_t>(rank) - 2];
      out_.line(fmt::format("const $O row = {} * {};", row, ir_.tile_rows));
      row = "row";
      rows = fmt::format("(int)(p.e{0} - row < {1} ? p.e{0} - row : {1})", rank - 2, ir_.tile_rows);
    }
    out_.line(fmt::format("const int rows = {}, columns = (int)(p.e{} - column < {} ? p.e{} - column : {});", rows, rank - 1, ir_.vector,
                          rank - 1, ir_.vector));
    out_.line("$N_at t;");
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (is_placed(a)) out_.line(fmt::format("t.{0}{1} = {2};", letter(access(a)), a, sum_text(fmt::format("p.{}{}", letter(access(a)), a), outer_offset(ir_, a, indices, "p."))));
    std::string whole = fmt::format("rows == {} && columns == {}", ir_.tile_rows, ir_.vector);
    for (const Guard& g : ir_.guards)
      for (const GuardTerm& term : g.terms) whole += whole_term(term);
    out_.line(fmt::format("if ({}) $N_tile<true>(p, t, rows, columns);", whole));
    out_.line("else $N_tile<false>(p, t, rows, columns);");
    out_.close();
  }

  /// A term is linear along rows or along columns: it holds in the tile where it holds at both ends.
  [[nodiscard]] std::string whole_term(const GuardTerm& term) const {
    std::string text = " && " + holds(term, "0", "0");
    const int last = varies(term.access, 1) ? ir_.vector - 1 : varies(term.access, 2) ? ir_.tile_rows - 1 : 0;
    if (last > 0) text += " && " + (varies(term.access, 1) ? holds(term, "0", std::to_string(last)) : holds(term, std::to_string(last), "0"));
    return text;
  }

  const KernelIr& ir_;
  Expressions expressions_;
  std::vector<std::uint32_t> guard_of_;
  std::vector<Window> windows_;
  CodeWriter out_;
};

}  // namespace

KernelSource render_stencil(const KernelIr& ir) {
  TARRY_ASSERT(ir.rank > 0);
  return Writer(ir).run();
}

}  // namespace tarry::codegen::cuda
