// CUDA C: pointwise kernels of which some loads are contiguous along another dimension than the stores.
//
// A thread block computes a tile. What the crossed loads need is read line by line along their own contiguous dimension, put
// into shared memory and read back across; everything else goes from memory to registers directly. All loads come first.
//
// A warp takes a line after another: of a load the elements of a column (a line of the tile for itself), of a store those of a
// row. Where the values of a pixel lie side by side, a line has all of them, elsewhere they have lines of their own. What does
// not change from line to line is computed before the first: only so is this as fast as memory.
//
// Lines in shared memory are padded so that reading across meets every bank. Where elements are narrow, a thread reads as
// many neighbouring lines as its word has elements: lines are dealt by that, so that those which a warp reads at once are neighbours.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/render_cuda_tile.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kWarp = 32;

/// Neighbouring elements of less than a word in one: those that are wanted.
constexpr std::string_view kWord = R"(template <class W, class T> __device__ __forceinline__ W $N_word(const T* from, tarry_u32 wanted) {
  constexpr int n = sizeof(W) / sizeof(T);
  if (wanted == (1u << n) - 1) return *(const W*)from;
  W word = 0;
#pragma unroll
  for (int j = 0; j < n; ++j) if (wanted >> j & 1u) word |= ((W)from[j] & (W)((1ull << 8 * sizeof(T)) - 1)) << j * 8 * (int)sizeof(T);
  return word;
})";

class Writer final : public TileWriter {
 public:
  explicit Writer(const KernelIr& ir)
      : TileWriter(ir), warps_(ir.transpose_threads() / kWarp), vector_(ir.vector), values_(ir.pixel_values), pixels_(ir.stores_pixels()), loads_(buffer_loads()) {}

  KernelSource run() {
    place();
    shared();
    tile();
    entry();
    return finish(warps_ * kWarp);
  }

 private:
  [[nodiscard]] bool is_crossed(const Load& l) const { return ir_.crosses(l.access); }
  [[nodiscard]] int size(const Load& l) const { return static_cast<int>(itemsize(ir_.buffers[access(l.access).buffer])); }
  static int divide_up(int a, int b) { return (a + b - 1) / b; }

  /// Of a crossed load: values of a pixel in a line, lines of a column, elements of a line, words of a lane in it, lines of a warp.
  [[nodiscard]] int line_values(const Load& l) const { return access(l.access).pixels_along >= 0 ? values_ : 1; }
  [[nodiscard]] int column_lines(const Load& l) const { return values_ / line_values(l); }
  [[nodiscard]] int line(const Load& l) const { return ir_.tile_rows * line_values(l); }
  [[nodiscard]] int word_elements(const Load& l) const { return is_crossed(l) && access(l.access).aligned ? 4 / size(l) : 1; }
  [[nodiscard]] int lane_words(const Load& l) const { return divide_up(line(l), kWarp * word_elements(l)); }
  [[nodiscard]] int warp_columns() const { return divide_up(ir_.tile_columns, warps_); }
  /// Of a row: values of a pixel in it, rows of the tile's rows, elements, words of a lane, rows of a warp.
  [[nodiscard]] int row_values() const { return pixels_ ? values_ : 1; }
  [[nodiscard]] int row() const { return ir_.tile_columns * row_values(); }
  [[nodiscard]] int row_words() const { return divide_up(row(), kWarp * vector_); }
  [[nodiscard]] int warp_rows() const { return divide_up(ir_.tile_rows, warps_); }

  /// Where neighbouring elements of a row are in different lines, and a thread has some.
  [[nodiscard]] bool dealt(const Load& l) const { return vector_ > 1 && !(pixels_ && line_values(l) > 1); }
  [[nodiscard]] int lines(const Load& l) const { return ir_.tile_columns * column_lines(l); }
  /// Elements from line to line. An odd number of words meets every bank; where a row's neighbours are a pixel's values, then
  /// those of the next line, the banks go on where the last line's values end.
  [[nodiscard]] int pitch(const Load& l) const {
    const int word = std::max(1, 4 / size(l));
    int words = divide_up(line(l), word);
    if (word == 1 && pixels_ && line_values(l) > 1)
      while (words % kWarp != line_values(l)) ++words;
    else if (words % 2 == 0) ++words;
    return words * word;
  }
  /// Where the line of column y, and of its value c if it is for that alone, lies.
  [[nodiscard]] std::string slot(const Load& l) const {
    const std::string number = column_lines(l) > 1 ? fmt::format("y * {} + c", values_) : std::string("y");
    return dealt(l) ? fmt::format("({0}) % {1} * {2} + ({0}) / {1}", number, vector_, divide_up(lines(l), vector_)) : number;
  }

  const Load& load_of(std::uint32_t a) const { return *std::find_if(loads_.begin(), loads_.end(), [&](const Load& x) { return x.access == a; }); }
  /// Columns that a thread holds of a load that is not crossed.
  [[nodiscard]] int width(const Load& l) const { return along_columns(l.access) || (pixels_ && along_values(l.access)) ? vector_ : 1; }
  [[nodiscard]] bool along_values(std::uint32_t a) const { return ir_.pixel >= 0 && access(a).strides[static_cast<std::size_t>(ir_.pixel)] != StrideClass::Zero; }

  [[nodiscard]] std::string loaded(const Instr& in) const override {
    const Load& l = load_of(in.index);
    if (!is_crossed(l)) return fmt::format("x{}[n][{}]", in.index, width(l) > 1 ? "j" : "0");
    const std::string element = line_values(l) > 1 ? fmt::format("r * {} + c", values_) : std::string("r");
    return fmt::format("s.s{}[{}][{}]", in.index, slot(l), element);
  }
  [[nodiscard]] std::string inside(std::uint32_t guard) const override { return fmt::format("(whole || ({}))", all_hold(guard, "r", "y")); }
  [[nodiscard]] std::string counted(std::uint32_t a) const override { return offset(a, "r", "y", "c"); }
  [[nodiscard]] std::string result_index(std::uint32_t) const override { return "j"; }

  void shared() {
    out_.open("struct alignas(16) $N_shared");
    for (const Load& l : loads_)
      if (is_crossed(l)) out_.line(fmt::format("{} s{}[{}][{}];", type(l.access), l.access, divide_up(lines(l), vector_) * vector_, pitch(l)));
    out_.close(";");
  }

  void loop(const char* name, int count) {
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", name, count));
  }

  /// Threads and warps beyond a line of `elements`, and beyond the `count` of what warps take in turn, have nothing.
  void skip_unless(int elements, int word, const char* taken, int count) {
    std::string there;
    if (elements % (kWarp * word) != 0) there += fmt::format("e < {}", elements);
    if (count % warps_ != 0) there += fmt::format("{}{} < {}", there.empty() ? "" : " && ", taken, count);
    if (!there.empty()) out_.line(fmt::format("if (!({})) continue;", there));
  }

  /// Opens the loops over what a thread has of a crossed load: a column y and elements from e on of its line c.
  void lines_of(const Load& l) {
    loop("c", column_lines(l));
    loop("k", lane_words(l));
    loop("i", warp_columns());
    out_.line(fmt::format("const int y = warp + i * {}, e = (lane + k * {}) * {}, n = (c * {} + k) * {} + i;", warps_, kWarp, word_elements(l), lane_words(l), warp_columns()));
    skip_unless(line(l), word_elements(l), "y", ir_.tile_columns);
  }
  /// The same of rows: a row r, elements from e on, of values c where those have rows of their own.
  void rows_of() {
    loop("v", values_ / row_values());
    loop("k", row_words());
    loop("i", warp_rows());
    out_.line(fmt::format("const int r = warp + i * {}, e = (lane + k * {}) * {}, n = (v * {} + k) * {} + i;", warps_, kWarp, vector_, row_words(), warp_rows()));
    skip_unless(row(), vector_, "r", ir_.tile_rows);
  }
  void end() {
    out_.close();
    out_.close();
    out_.close();
  }
  /// Column and value of element j of a row.
  void element() {
    out_.line(pixels_ ? fmt::format("const int y = (e + j) / {0}, c = (e + j) % {0};", values_) : std::string("const int y = e + j, c = v;"));
  }

  void tile() {
    if (std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return word_elements(l) > 1; })) out_.label(kWord);
    out_.label("template <bool whole>");
    out_.open("__device__ __forceinline__ void $N_tile(const $N_params& p, const $N_at& t, $N_shared& s, int rows, int columns)");
    out_.line("const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);");
    for (const bool crossed : {true, false}) {
      for (const Load& l : loads_) {
        if (is_crossed(l) != crossed) continue;
        if (crossed) load_lines(l);
        else load_rows(l);
      }
    }
    for (const Load& l : loads_) {
      if (!is_crossed(l)) continue;
      lines_of(l);
      const std::string to = fmt::format("s.s{}[{}][e]", l.access, slot(l));
      out_.line(fmt::format("{} = x{}[n];", word_elements(l) == 1 ? to : fmt::format("*({}*)&{}", word(l), to), l.access));
      end();
    }
    out_.line("__syncthreads();");
    rows_of();
    out_.line("if (!whole && r >= rows) continue;");
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) out_.line(fmt::format("{} y{}[{}];", type(in.index), in.index, vector_));
    loop("j", vector_);
    element();
    point();
    out_.close();
    wanted(kNone);
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) move_row("put", in.index, fmt::format("y{}", in.index));
    end();
    out_.close();
  }

  /// Bits of the elements of a row that exist, where a guard holds.
  void wanted(std::uint32_t guard) {
    out_.line(fmt::format("tarry_u32 wanted = {}u;", (1u << vector_) - 1));
    out_.open("if (!whole)");
    out_.line("wanted = 0;");
    loop("j", vector_);
    element();
    const std::string held = guard == kNone ? std::string() : " && " + all_hold(guard, "r", "y");
    out_.line(fmt::format("if (r < rows && y < columns{}) wanted |= 1u << j;", held));
    out_.close();
    out_.close();
  }

  /// What a thread takes of a line at once.
  [[nodiscard]] std::string word(const Load& l) const { return word_elements(l) > 1 ? "tarry_u32" : type(l.access); }

  void load_lines(const Load& l) {
    out_.line(fmt::format("{} x{}[{}] = {{}};", word(l), l.access, column_lines(l) * lane_words(l) * warp_columns()));
    lines_of(l);
    out_.line(fmt::format("tarry_u32 wanted = {}u;", (1u << word_elements(l)) - 1));
    out_.open("if (!whole)");
    out_.line("wanted = 0;");
    const std::string row = line_values(l) > 1 ? fmt::format("(e + j) / {}", values_) : std::string("e + j");
    const std::string held = l.guard == kNone ? std::string() : " && " + all_hold(l.guard, row, "y");
    loop("j", word_elements(l));
    out_.line(fmt::format("if ({} < rows && y < columns{}) wanted |= 1u << j;", row, held));
    out_.close();
    out_.close();
    const std::string start = line_values(l) > 1 ? sum_text(offset(l.access, "0", "y"), "e") : offset(l.access, "e", "y", "c");
    const std::string from = sum_text(fmt::format("t.a{}", l.access), start);
    if (word_elements(l) > 1) out_.line(fmt::format("x{}[n] = $N_word<{}>({}, wanted);", l.access, word(l), from));
    else out_.line(fmt::format("if (wanted) x{}[n] = *({});", l.access, from));
    end();
  }

  void load_rows(const Load& l) {
    const int count = values_ / row_values() * row_words() * warp_rows();
    out_.line(fmt::format("{} x{}[{}][{}] = {{}};", type(l.access), l.access, count, width(l)));
    rows_of();
    wanted(l.guard);
    if (width(l) == vector_) move_row("get", l.access, fmt::format("x{}[n]", l.access));
    else out_.line(fmt::format("if (wanted) x{0}[n][0] = t.a{0}[{1}];", l.access, offset(l.access, "r", "0", pixels_ ? "0" : "v")));
    end();
  }

  /// Elements of a row of the tile.
  void move_row(const char* how, std::uint32_t a, const std::string& own) {
    const bool runs = pixels_ ? access(a).pixels_along == ir_.rank - 1 : access(a).strides.back() == StrideClass::One;
    if (runs && (vector_ == 1 || access(a).aligned)) {
      const std::string start = pixels_ ? sum_text(offset(a, "r", "0"), "e") : offset(a, "r", "e", "v");
      return move(a, how, start, own);
    }
    loop("j", vector_);
    element();
    const std::string memory = fmt::format("t.a{}[{}]", a, offset(a, "r", "y", "c")), value = own + "[j]";
    const bool stores = how == std::string_view("put");
    out_.line(fmt::format("if (wanted >> j & 1u) {} = {};", stores ? memory : value, stores ? value : memory));
    out_.close();
  }

  void move(std::uint32_t a, const char* how, const std::string& start, const std::string& own) {
    out_.line(fmt::format("$N_{}<{}, {}>({}, wanted, {});", how, type(a), vector_, sum_text(fmt::format("t.a{}", a), start), own));
  }

  /// That a multiprocessor must have registers for.
  [[nodiscard]] int threads_at_once() const {
    constexpr int kFew = 24;
    return ir_.transpose_registers() <= kFew ? 768 : 512;
  }

  void entry() {
    out_.open(fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) $N(const __grid_constant__ struct $N_params p)", warps_ * kWarp, threads_at_once() / (warps_ * kWarp)));
    out_.line("__shared__ $N_shared s;");
    out_.line("const tarry_i64 number = blockIdx.x;");
    find();
    out_.line(fmt::format("if ({}) $N_tile<true>(p, t, s, rows, columns);", whole()));
    out_.line("else $N_tile<false>(p, t, s, rows, columns);");
    out_.close();
  }

  const int warps_, vector_, values_;
  const bool pixels_;  ///< whether stores have pixels side by side
  const std::vector<Load> loads_;
};

}  // namespace

KernelSource render_transpose(const KernelIr& ir) { return Writer(ir).run(); }

}  // namespace tarry::codegen::cuda
