// CUDA C: pointwise kernels of which some accesses have the channels of a short dimension interleaved and others
// planar.
//
// A thread computes all channels, the rows of its tile, at one column, or at as many as have four
// bytes. So interleaved channels are contiguous in a thread, and planar ones along a warp; nothing goes through shared
// memory. All loads come first.
#include <fmt/format.h>

#include "codegen/cuda/tile.h"

namespace tarry::codegen::cuda {
namespace {

class PlanarWriter final : public TileWriter {
 public:
  explicit PlanarWriter(const KernelIr& ir)
      : TileWriter(ir), planes_(ir.as<PlanarLayout>().channels), loads_(buffer_loads()) {}

  KernelSource run() {
    place();
    loads();
    take();
    give();
    entry();
    return finish(kThreads);
  }

 private:
  [[nodiscard]] bool side_by_side(std::uint32_t a) const {
    return access(a).strides[static_cast<std::size_t>(ir_.as<PlanarLayout>().channel_dimension)] == StrideClass::One &&
           access(a).strides.back() == StrideClass::Any;
  }
  [[nodiscard]] int planes(std::uint32_t a) const { return along_rows(a) ? planes_ : 1; }
  [[nodiscard]] int columns(std::uint32_t a) const { return along_columns(a) ? ir_.vector() : 1; }
  /// Index of a point among a thread's elements of an access, in the order of memory.
  [[nodiscard]] std::string index(std::uint32_t a) const {
    if (side_by_side(a)) return fmt::format("j * {} + r", planes_);
    if (!along_rows(a)) return columns(a) > 1 ? "j" : "0";
    return columns(a) > 1 ? fmt::format("r * {} + j", ir_.vector()) : std::string("r");
  }

  [[nodiscard]] std::string loaded(const Instr& in) const override {
    return fmt::format("x.a{}[{}]", in.index, index(in.index));
  }
  [[nodiscard]] std::string counted(std::uint32_t a) const override { return offset(a, "r", "j"); }
  [[nodiscard]] std::string result_index(std::uint32_t a) const override { return index(a); }
  [[nodiscard]] std::string inside(std::uint32_t guard) const override {
    return fmt::format("({})", all_hold(guard, "r", "j"));
  }

  void loads() {
    std::string fields;
    for (const Load& l : loads_)
      fields += fmt::format(" {} a{}[{}];", type(l.access), l.access, planes(l.access) * columns(l.access));
    out_.line(fmt::format("struct $N_loads {{{} }};", fields));
  }

  void points(int planes, int columns) {
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int r = 0; r < {}; ++r)", planes));
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int j = 0; j < {}; ++j)", columns));
  }
  /// Where an access has a column of its own for each point, one may be missing.
  [[nodiscard]] std::string where_there(std::uint32_t a) const {
    return columns(a) > 1 ? "if (whole || j < columns) " : "";
  }

  void end_points() {
    out_.close();
    out_.close();
  }

  /// From a tile's number to its place and operands; without one it has no columns. `whole`: all tiles have all
  /// columns.
  void take() {
    out_.label("template <bool whole>");
    out_.open("__device__ __forceinline__ int $N_take(const $N_params& p, tarry_i64 number, $N_at& at, $N_loads& x)");
    out_.line("if (number >= p.tiles) return 0;");
    find();
    for (const Load& l : loads_) {
      if (access(l.access).aligned) {
        moves("get", l.access, fmt::format("x.a{}", l.access));
        continue;
      }
      points(planes(l.access), columns(l.access));
      const std::string value = fmt::format("t.a{}[{}]", l.access, offset(l.access, "r", "j"));
      const std::string to = fmt::format("x.a{}[{}]", l.access, index(l.access));
      const std::string read =
          l.guard == kNone ? value : fmt::format("{} ? {} : ({})0", inside(l.guard), value, type(l.access));
      out_.line(fmt::format("{}{} = {};", where_there(l.access), to, read));
      end_points();
    }
    out_.line("at = t;");
    out_.line("return columns;");
    out_.close();
  }

  /// Runs of an aligned access: one, or one in each plane; a part of them at a time.
  void moves(const char* how, std::uint32_t a, const std::string& values) {
    const bool one = side_by_side(a);
    const int run = columns(a) * (one ? planes_ : 1), part = run_part(ir_, a, run);
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int r = 0; r < {}; ++r)", one ? 1 : planes(a)));
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int i = 0; i < {}; i += {})", run, part));
    out_.line(fmt::format("const int there = whole ? {} : columns * {} - i;", part, one ? planes_ : 1));
    out_.line(fmt::format(
        "$N_{0}<{1}, {2}>({3}, there >= {2} ? {4}u : there > 0 ? (1u << there) - 1 : 0u, {5} + r * {6} + i);", how,
        type(a), part, sum_text(sum_text(fmt::format("t.a{}", a), one ? "0" : offset(a, "r", "0")), "i"),
        (1u << part) - 1, values, run));
    end_points();
  }

  void give() {
    out_.label("template <bool whole>");
    out_.open(
        "__device__ __forceinline__ void $N_give(const $N_params& p, const $N_at& t, int columns, const $N_loads& x)");
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store)
        out_.line(fmt::format("{} y{}[{}];", type(in.index), in.index, planes_ * ir_.vector()));
    points(planes_, ir_.vector());
    point();
    end_points();
    for (const Instr& in : ir_.instrs) {
      if (in.kind != InstrKind::Store) continue;
      if (access(in.index).aligned) {
        moves("put", in.index, fmt::format("y{}", in.index));
        continue;
      }
      points(planes_, ir_.vector());
      out_.line(fmt::format("{}t.a{}[{}] = y{}[{}];", where_there(in.index), in.index, offset(in.index, "r", "j"),
                            in.index, index(in.index)));
      end_points();
    }
    out_.close();
  }

  void entry() {
    const int tiles = planar_tiles(ir_);
    out_.label("template <bool whole>");
    out_.open("__device__ __forceinline__ void $N_tiles(const $N_params& p)");
    out_.line(fmt::format("const tarry_i64 first = (tarry_i64)blockIdx.x * {} + threadIdx.x;", tiles * kThreads));
    out_.line(fmt::format("$N_at t[{}];", tiles));
    out_.line(fmt::format("$N_loads x[{}];", tiles));
    out_.line(fmt::format("int columns[{}];", tiles));
    for (const char* what : {"columns[g] = $N_take<whole>(p, first + g * 256, t[g], x[g]);",
                             "if (columns[g] > 0) $N_give<whole>(p, t[g], columns[g], x[g]);"}) {
      out_.label("#pragma unroll");
      out_.line(fmt::format("for (int g = 0; g < {}; ++g) {}", tiles, what));
    }
    out_.close();
    out_.open("extern \"C\" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p)");
    if (ir_.vector() > 1) {
      out_.line(fmt::format("if (p.e{} % {} != 0) return $N_tiles<false>(p);", ir_.rank - 1, ir_.vector()));
    }
    out_.line("$N_tiles<true>(p);");
    out_.close();
  }

  const int planes_;
  const std::vector<Load> loads_;
};

}  // namespace

/// Measured on an H200: 16 to 24 bytes a thread.
int planar_tiles(const KernelIr& ir) {
  constexpr std::size_t kEnough = 12;
  std::size_t bytes = 0;
  for (const Access& a : ir.accesses)
    if (a.buffer != kNone && !a.store)
      bytes += itemsize(ir.buffers[a.buffer]) * static_cast<std::size_t>(ir.vector() * ir.as<PlanarLayout>().channels);
  return bytes <= kEnough ? 2 : 1;
}

KernelSource render_planar(const KernelIr& ir, const graph::Target&) { return PlanarWriter(ir).run(); }

}  // namespace tarry::codegen::cuda
