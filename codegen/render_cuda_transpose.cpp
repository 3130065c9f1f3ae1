// CUDA C: pointwise kernels of which some loads are contiguous along another dimension than the stores.
//
// A thread block computes a square tile. What the crossed loads need is read along their own contiguous dimension, put
// into shared memory and read back across; everything else goes from memory to registers directly. All loads come first.
// Rows in shared memory are padded to an odd number of words, so that reading across meets every bank; where a thread reads
// `vector` neighbouring rows, they are dealt by that, and the rows that a warp reads at once are neighbours.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/render_cuda_tile.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kRowsAtOnce = 8;  // that the threads of a block cover

class Writer final : public TileWriter {
 public:
  explicit Writer(const KernelIr& ir) : TileWriter(ir), edge_(ir.tile_rows), lanes_(edge_ / ir.vector), steps_(edge_ / kRowsAtOnce), loads_(buffer_loads()) {}

  KernelSource run() {
    place();
    shared();
    tile();
    entry();
    return finish(kRowsAtOnce * lanes_);
  }

 private:
  [[nodiscard]] bool is_crossed(const Load& l) const { return ir_.crosses(l.access); }
  /// Where a row of the tile lies in shared memory.
  [[nodiscard]] std::string dealt(const std::string& row) const { return ir_.vector > 1 ? fmt::format("{0} % {1} * {2} + {0} / {1}", row, ir_.vector, lanes_) : row; }
  /// Columns that a thread holds of a load.
  [[nodiscard]] int width(const Load& l) const { return is_crossed(l) || along_columns(l.access) ? ir_.vector : 1; }
  [[nodiscard]] std::string loaded(const Instr& in) const override {
    const Load& l = *std::find_if(loads_.begin(), loads_.end(), [&](const Load& x) { return x.access == in.index; });
    if (is_crossed(l)) return fmt::format("s.s{}[{}][r]", in.index, ir_.vector > 1 ? fmt::format("j * {} + lane / {}", lanes_, ir_.vector) : "lane + j");
    return fmt::format("x{}[i][{}]", in.index, width(l) > 1 ? "j" : "0");
  }
  [[nodiscard]] std::string inside(std::uint32_t guard) const override { return fmt::format("(whole || ({}))", all_hold(guard, "r", "lane + j")); }
  [[nodiscard]] std::string counted(std::uint32_t a) const override { return offset(a, "r", "(lane + j)"); }
  [[nodiscard]] std::string result_index(std::uint32_t) const override { return "j"; }

  void shared() {
    out_.open("struct alignas(16) $N_shared");
    for (const Load& l : loads_) {
      if (!is_crossed(l)) continue;
      const int padding = std::max(ir_.vector, 4 / static_cast<int>(itemsize(ir_.buffers[access(l.access).buffer])));
      out_.line(fmt::format("{} s{}[{}][{}];", type(l.access), l.access, edge_, edge_ + std::max(1, padding)));
    }
    out_.close(";");
  }

  void steps() {
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int i = 0; i < {}; ++i)", steps_));
    out_.line(fmt::format("const int r = first + i * {};", kRowsAtOnce));
  }

  void tile() {
    out_.label("template <bool whole>");
    out_.open("__device__ __forceinline__ void $N_tile(const $N_params& p, const $N_at& t, $N_shared& s, int rows, int columns)");
    out_.line(fmt::format("const int lane = (int)(threadIdx.x % {}) * {}, first = (int)(threadIdx.x / {});", lanes_, ir_.vector, lanes_));
    for (const bool crossed : {true, false}) {
      for (const Load& l : loads_) {
        if (is_crossed(l) != crossed) continue;
        out_.line(fmt::format("{} x{}[{}][{}] = {{}};", type(l.access), l.access, steps_, width(l)));
        load(l);
      }
    }
    steps();
    for (const Load& l : loads_)
      if (is_crossed(l)) out_.line(fmt::format("$N_put<{}, {}>(&s.s{}[{}][lane], {}u, x{}[i]);", type(l.access), ir_.vector, l.access, dealt("r"), (1u << ir_.vector) - 1, l.access));
    out_.close();
    out_.line("__syncthreads();");
    steps();
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) out_.line(fmt::format("{} y{}[{}];", type(in.index), in.index, ir_.vector));
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int j = 0; j < {}; ++j)", ir_.vector));
    point();
    out_.close();
    wanted("r", "lane + j", kNone);
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) move("put", in.index, "r", "lane", fmt::format("y{}", in.index));
    out_.close();
    out_.close();
  }

  /// Bits of the thread's columns that exist, where a guard holds.
  void wanted(const std::string& row, const std::string& column, std::uint32_t guard) {
    out_.line(fmt::format("tarry_u32 wanted = {}u;", (1u << ir_.vector) - 1));
    out_.open("if (!whole)");
    out_.line("wanted = 0;");
    out_.label("#pragma unroll");
    const std::string held = guard == kNone ? std::string() : " && " + all_hold(guard, row, column);
    out_.line(fmt::format("for (int j = 0; j < {}; ++j) if ({} < rows && {} < columns{}) wanted |= 1u << j;", ir_.vector, row, column, held));
    out_.close();
  }

  /// Crossed: the thread's row is a column of the tile, and its columns are rows.
  void load(const Load& l) {
    steps();
    if (is_crossed(l)) {
      wanted("lane + j", "r", l.guard);
      move("get", l.access, "lane", "r", fmt::format("x{}[i]", l.access));
    } else {
      wanted("r", "lane + j", l.guard);
      if (width(l) == ir_.vector) move("get", l.access, "r", "lane", fmt::format("x{}[i]", l.access));
      else out_.line(fmt::format("if (wanted) x{0}[i][0] = t.a{0}[{1}];", l.access, offset(l.access, "r", "0")));
    }
    out_.close();
  }

  void move(const char* how, std::uint32_t a, const std::string& row, const std::string& column, const std::string& values) {
    if (access(a).aligned || ir_.vector == 1)
      return out_.line(fmt::format("$N_{}<{}, {}>({}, wanted, {});", how, type(a), ir_.vector, sum_text(fmt::format("t.a{}", a), offset(a, row, column)), values));
    const bool stores = how == std::string_view("put");
    const bool crossed = !stores && ir_.crosses(a);
    const std::string memory = fmt::format("t.a{}[{}]", a, offset(a, crossed ? "(lane + j)" : row, crossed ? column : "(lane + j)"));
    const std::string value = values + "[j]";
    out_.label("#pragma unroll");
    out_.line(fmt::format("for (int j = 0; j < {}; ++j) if (wanted >> j & 1u) {} = {};", ir_.vector, stores ? memory : value, stores ? value : memory));
  }

  void entry() {
    out_.open(fmt::format("extern \"C\" __global__ void __launch_bounds__({}) $N(const __grid_constant__ struct $N_params p)", kRowsAtOnce * lanes_));
    out_.line("__shared__ $N_shared s;");
    out_.line("const tarry_i64 number = blockIdx.x;");
    find();
    out_.line(fmt::format("if ({}) $N_tile<true>(p, t, s, rows, columns);", whole()));
    out_.line("else $N_tile<false>(p, t, s, rows, columns);");
    out_.close();
  }

  const int edge_, lanes_, steps_;
  const std::vector<Load> loads_;
};

}  // namespace

KernelSource render_transpose(const KernelIr& ir) { return Writer(ir).run(); }

}  // namespace tarry::codegen::cuda
