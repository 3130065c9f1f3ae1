// CUDA C: several steps of shifted views.
//
// A thread block holds a tile of points in registers, the halo that all steps need around what it stores included:
// warps one below the other, lanes side by side, a few rows and columns each. A stage computes all of them from what it
// finds there; neighbours in a row come from the next lane by shuffle, the rows of the next warp pass through shared
// memory. What is computed at the edge of the tile is wrong, and each stage goes in by as much as it reaches: nothing
// wrong is stored. Stages that are alike are a loop. The text exists twice: for tiles where every guard holds, and for
// the others.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "codegen/cuda/tile.h"
#include "codegen/ir/iterated_stencil.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kResident = 2;  // thread blocks of eight warps: one loads while the other computes

// Columns beyond both ends of a row of the tile, from the lanes beside.
constexpr std::string_view kEnds =
    R"(template <int L, int W, int R, class T> __device__ __forceinline__ void $N_ends(T* x) {
#pragma unroll
  for (int j = 0; j < L; ++j) x[j] = (T)__shfl_up_sync(0xffffffffu, x[W + j], 1);
#pragma unroll
  for (int j = 0; j < R; ++j) x[L + W + j] = (T)__shfl_down_sync(0xffffffffu, x[L + j], 1);
}
)";

const IteratedStencilLayout& layout(const KernelIr& ir) { return ir.as<IteratedStencilLayout>(); }

class IteratedStencilWriter final : public TileWriter {
 public:
  IteratedStencilWriter(const KernelIr& ir, const graph::Target& target)
      : TileWriter(ir),
        tile_(iterated_tile(ir)),
        runs_(find_runs(ir)),
        kept_(kept_values(ir)),
        rows_(layout(ir).rows),
        columns_(layout(ir).columns),
        own_columns_(ir.rank == 1 ? tile_.stored_columns / layout(ir).warps : tile_.stored_columns),
        turns_(2 * exchanged_bytes(ir, layout(ir)) <= static_cast<std::size_t>(target.shared_bytes) ? 2 : 1) {}

  KernelSource run() {
    place();
    shared();
    out_.label(kEnds.substr(0, kEnds.size() - 1));
    tile();
    entry();
    return finish(threads());
  }

 private:
  [[nodiscard]] int threads() const { return layout(ir_).warps * IteratedTile::kLanes; }
  [[nodiscard]] std::string loaded(const Instr& in) const override { return fmt::format("k{}[r][c]", in.index); }
  [[nodiscard]] std::string inside(std::uint32_t guard) const override {
    return fmt::format("(whole || (rs{0} >> r & cs{0} >> c & 1u))", guard);
  }
  [[nodiscard]] std::string counted(std::uint32_t a) const override { return offset(a, "r", "c"); }
  [[nodiscard]] std::string result_index(std::uint32_t) const override { return "c"; }

  void each(const char* i, int count) {
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", i, count));
  }
  void each_point() {
    each("r", rows_);
    each("c", columns_);
  }
  void close_both() {
    out_.close();
    out_.close();
  }

  // --- Shared memory ------------------------------------------------------------------------------------------------

  [[nodiscard]] static bool exchanges(const IteratedReach& r) { return r.by.top + r.by.bottom > 0; }

  /// Rows that the warps show each other in each run of stages that needs some: the first ones, then the last ones.
  void shared() {
    out_.open("union $N_shared");
    out_.line("int none;");
    for (const IteratedRun& run : runs_) {
      std::string members;
      for (const IteratedReach& r : reaches(ir_, run.first))
        if (exchanges(r))
          members += fmt::format(" {} e{}[{}][{}][{}][{}];", c_type(ir_.instrs[r.value].dtype), r.value,
                                 layout(ir_).warps, r.by.top + r.by.bottom, columns_, IteratedTile::kLanes);
      if (!members.empty()) out_.line(fmt::format("struct {{{} }} s{};", members, run.first));
    }
    out_.close(";");
  }

  // --- The tile -----------------------------------------------------------------------------------------------------

  void tile() {
    out_.label("template <bool whole>");
    out_.open(
        "__device__ __forceinline__ void $N_tile(const $N_params& p, $N_at t, $N_shared* s, int rows, int columns)");
    out_.line("const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);");
    const bool line = ir_.rank == 1;
    out_.line(fmt::format("const int own = lane * {} - {}, left = own{}, top = {};", columns_, tile_.left,
                          line ? fmt::format(" + warp * {}", own_columns_) : "",
                          line ? std::string("0") : fmt::format("warp * {} - {}", rows_, tile_.top)));
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      if (const std::string by = offset(a, "top", "left"); by != "0")
        out_.line(fmt::format("t.{} += {};", name(a), by));
    for (std::uint32_t g = 0; g < ir_.guards.size(); ++g) guard(g);
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (is_loaded(v)) load(v);
    out_.line("int turn = 0;");
    out_.line("(void)turn, (void)warp, (void)s;");
    for (const IteratedRun& run : runs_) stages(run);
    out_.close();
  }

  [[nodiscard]] bool is_loaded(Value v) const {
    return ir_.instrs[v].kind == InstrKind::Load && access(ir_.instrs[v].index).buffer != kNone;
  }

  /// Bits of the thread's rows and columns where a guard holds.
  void guard(std::uint32_t g) {
    out_.line(fmt::format("tarry_u32 rs{0} = {1}u, cs{0} = {2}u;", g, (1u << rows_) - 1, (1u << columns_) - 1));
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

  void load(Value v) {
    const Instr& in = ir_.instrs[v];
    const std::uint32_t a = in.index;
    array_[v] = fmt::format("k{}", v);
    out_.line(fmt::format("{} {}[{}][{}] = {{}};", type(a), array_[v], rows_, columns_));
    each("r", rows_);
    out_.line(fmt::format("const tarry_u32 wanted = {};", in.guard == kNone
                                                              ? fmt::format("{}u", (1u << columns_) - 1)
                                                              : fmt::format("rs{0} >> r & 1u ? cs{0} : 0u", in.guard)));
    if (access(a).aligned && along_columns(a)) {
      out_.line(fmt::format("$N_get<{}, {}>({}, wanted, {}[r]);", type(a), columns_,
                            sum_text(fmt::format("t.a{}", a), offset(a, "r", "0")), array_[v]));
    } else {
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int c = 0; c < {}; ++c) if (wanted >> c & 1u) {}[r][c] = t.a{}[{}];", columns_,
                            array_[v], a, offset(a, "r", "c")));
    }
    out_.close();
  }

  // --- Stages -------------------------------------------------------------------------------------------------------

  void stages(const IteratedRun& run) {
    if (run.count == 1) return stage(run.first, {});
    for (const Value v : run.values) array_[v] = array_.at(run.values.front());
    out_.label("#pragma unroll 1");
    out_.open(fmt::format("for (int step = 0; step < {}; ++step)", run.count));
    stage(run.first, array_.at(run.values.front()));
    out_.close();
  }

  /// Stage `number`. Of a run of several, `over`: the array that its kept value replaces.
  void stage(int number, const std::string& over) {
    std::vector<Value> made;
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (ir_.instrs[v].stage == number && kept_[v]) made.push_back(v);
    if (over.empty())
      for (const Value v : made) {
        array_[v] = fmt::format("k{}", v);
        out_.line(fmt::format("{} k{}[{}][{}];", c_type(ir_.instrs[v].dtype), v, rows_, columns_));
      }
    out_.open("");
    const std::vector<IteratedReach> reached = reaches(ir_, number);
    exchange(number, reached);
    refresh(number);
    if (!over.empty())
      out_.line(fmt::format("{} next[{}][{}];", c_type(ir_.instrs[made.front()].dtype), rows_, columns_));
    for (const IteratedReach& r : reached)
      for (int row = r.first; row < r.last; ++row) ends(r, std::to_string(r.by.top + row));
    each("r", rows_);
    for (const IteratedReach& r : reached)
      if (r.first <= r.last)
        ends(r, r.by.top + r.last == 0 ? std::string("r") : fmt::format("r + {}", r.by.top + r.last));
    each("c", columns_);
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (ir_.instrs[v].stage == number) point(v, reached);
    for (const Value v : made)
      out_.line(fmt::format("{}[r][c] = {};", over.empty() ? array_.at(v) : "next", value_name(v)));
    close_both();
    if (!over.empty()) {
      each_point();
      out_.line(fmt::format("{}[r][c] = next[r][c];", over));
      close_both();
    }
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store && in.stage == number) store(in);
    out_.close();
  }

  /// The value with the rows above and below that the stage reaches, and place for the columns beside: x.
  void exchange(int number, const std::vector<IteratedReach>& reached) {
    if (std::any_of(reached.begin(), reached.end(), exchanges)) {
      out_.line(fmt::format("auto& e = s[{}].s{};", turns_ == 2 ? "turn" : "0", number));
      for (const IteratedReach& r : reached) {
        if (!exchanges(r)) continue;
        each("c", columns_);
        for (int j = 0; j < r.by.bottom; ++j)
          out_.line(fmt::format("e.e{}[warp][{}][c][lane] = {}[{}][c];", r.value, j, array_.at(r.value), j));
        for (int j = 0; j < r.by.top; ++j)
          out_.line(fmt::format("e.e{}[warp][{}][c][lane] = {}[{}][c];", r.value, r.by.bottom + j, array_.at(r.value),
                                rows_ - r.by.top + j));
        out_.close();
      }
      out_.line("__syncthreads();");
      out_.line(fmt::format("const int above = warp > 0 ? warp - 1 : 0, below = warp < {0} ? warp + 1 : {0};",
                            layout(ir_).warps - 1));
      out_.line("(void)above, (void)below;");
    }
    for (const IteratedReach& r : reached) {
      out_.line(fmt::format("{} x{}[{}][{}];", c_type(ir_.instrs[r.value].dtype), r.value,
                            r.by.top + rows_ + r.by.bottom, r.by.left + columns_ + r.by.right));
      each("c", columns_);
      const std::string column = r.by.left > 0 ? fmt::format("c + {}", r.by.left) : "c";
      for (int j = 0; j < r.by.top; ++j)
        out_.line(fmt::format("x{0}[{1}][{2}] = e.e{0}[above][{3}][c][lane];", r.value, j, column, r.by.bottom + j));
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int r = 0; r < {}; ++r) x{}[r + {}][{}] = {}[r][c];", rows_, r.value, r.by.top,
                            column, array_.at(r.value)));
      for (int j = 0; j < r.by.bottom; ++j)
        out_.line(
            fmt::format("x{0}[{1}][{2}] = e.e{0}[below][{3}][c][lane];", r.value, r.by.top + rows_ + j, column, j));
      out_.close();
    }
    if (std::any_of(reached.begin(), reached.end(), exchanges))
      out_.line(turns_ == 2 ? "turn ^= 1;" : "__syncthreads();");
  }

  /// Keeps the compiler from testing all bits of the guards ahead, which takes registers from the points.
  void refresh(int number) {
    for (std::uint32_t g = 0; g < ir_.guards.size(); ++g) {
      const bool used = std::any_of(ir_.instrs.begin(), ir_.instrs.end(), [&](const Instr& in) {
        return in.kind == InstrKind::Inside && in.stage == number && in.index == g;
      });
      if (used) out_.line(fmt::format("if (!whole) asm volatile(\"\" : \"+r\"(rs{0}), \"+r\"(cs{0}));", g));
    }
  }

  void ends(const IteratedReach& r, const std::string& row) {
    out_.line(fmt::format("$N_ends<{}, {}, {}>(x{}[{}]);", r.by.left, columns_, r.by.right, r.value, row));
  }

  static std::string index(const char* at, int shift) {
    return shift == 0 ? std::string(at) : fmt::format("{} + {}", at, shift);
  }

  [[nodiscard]] std::string here(Value v, int stage) const {
    const Instr& in = ir_.instrs[v];
    if (in.kind == InstrKind::Scalar || in.stage == stage) return operand(v);
    return fmt::format("{}[r][c]", array_.at(v));
  }

  void point(Value v, const std::vector<IteratedReach>& reached) {
    const Instr& in = ir_.instrs[v];
    const std::string head = fmt::format("const {} {} = ", c_type(in.dtype), value_name(v));
    switch (in.kind) {
      case InstrKind::Load: out_.line(head + sum_text("t." + name(in.index), counted(in.index)) + ";"); break;
      case InstrKind::Inside: out_.line(fmt::format("{}{};", head, inside(in.index))); break;
      case InstrKind::Neighbour: {
        const IteratedReach& r = *std::find_if(reached.begin(), reached.end(),
                                               [&](const IteratedReach& x) { return x.value == in.args[0]; });
        out_.line(fmt::format("{}x{}[{}][{}];", head, r.value, index("r", r.by.top + in.row),
                              index("c", r.by.left + in.column)));
        break;
      }
      case InstrKind::Compute: {
        std::vector<std::string> operands;
        for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i)
          operands.push_back(here(in.args[i], in.stage));
        out_.line(fmt::format("{}{};", head, expressions_.compute(v, operands)));
        break;
      }
      case InstrKind::Store:
      case InstrKind::Scalar:
      case InstrKind::Result:
      case InstrKind::Carried:
      case InstrKind::While:
      case InstrKind::Last:
      case InstrKind::Number:
      case InstrKind::Keep:
      case InstrKind::Kept:
      case InstrKind::Fold:
      case InstrKind::Index:
      case InstrKind::Gather:
      case InstrKind::Earlier:
      case InstrKind::Later: break;
    }
  }

  void store(const Instr& in) {
    const std::uint32_t a = in.index;
    const std::string from = array_.at(in.args[0]);
    out_.line(fmt::format("tarry_u32 wanted = (tarry_u32)own < {}u ? {}u : 0u;", own_columns_, (1u << columns_) - 1));
    out_.label("#pragma unroll");
    out_.line(
        fmt::format("for (int c = 0; c < {}; ++c) if (!whole && left + c >= columns) wanted &= ~(1u << c);", columns_));
    each("r", rows_);
    out_.line("if (top + r < 0 || top + r >= rows) continue;");
    if (access(a).aligned && along_columns(a)) {
      out_.line(fmt::format("$N_put<{}, {}>({}, wanted, {}[r]);", type(a), columns_,
                            sum_text(fmt::format("t.a{}", a), offset(a, "r", "0")), from));
    } else {
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int c = 0; c < {}; ++c) if (wanted >> c & 1u) t.a{}[{}] = {}[r][c];", columns_, a,
                            offset(a, "r", "c"), from));
    }
    out_.close();
  }

  // --- Entry --------------------------------------------------------------------------------------------------------

  /// A term is linear along rows or along columns: it holds in the tile, halo included, where it holds at both ends.
  [[nodiscard]] std::string whole() const {
    std::string text = fmt::format("rows == {} && columns == {}", tile_.stored_rows, tile_.stored_columns);
    const int last_row = tile_.rows - tile_.top - 1;
    const int last_column = tile_.stored_columns - own_columns_ + tile_.columns - tile_.left - 1;
    for (const Guard& g : ir_.guards) {
      for (const GuardTerm& term : g.terms) {
        if (along_columns(term.access))
          text += fmt::format(" && {} && {}", holds(term, "0", fmt::format("({})", -tile_.left)),
                              holds(term, "0", std::to_string(last_column)));
        else if (along_rows(term.access))
          text += fmt::format(" && {} && {}", holds(term, fmt::format("({})", -tile_.top), "0"),
                              holds(term, std::to_string(last_row), "0"));
        else
          text += " && " + holds(term, "0", "0");
      }
    }
    return text;
  }

  void entry() {
    const int resident = std::max(1, kResident * 8 / layout(ir_).warps);
    out_.open(fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}, {}) $N(const __grid_constant__ struct $N_params p)",
        threads(), resident));
    out_.line(fmt::format("__shared__ $N_shared s[{}];", turns_));
    out_.line("const tarry_i64 number = blockIdx.x;");
    find();
    out_.line(fmt::format("if ({}) $N_tile<true>(p, t, s, rows, columns);", whole()));
    out_.line("else $N_tile<false>(p, t, s, rows, columns);");
    out_.close();
  }

  const IteratedTile tile_;
  const std::vector<IteratedRun> runs_;
  const std::vector<bool> kept_;
  const int rows_, columns_, own_columns_, turns_;
  std::map<Value, std::string> array_;  ///< of kept values, in registers
};

}  // namespace

KernelSource render_iterated_stencil(const KernelIr& ir, const graph::Target& target) {
  return IteratedStencilWriter(ir, target).run();
}

}  // namespace tarry::codegen::cuda
