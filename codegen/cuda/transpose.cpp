// CUDA C: pointwise kernels of which some loads are contiguous along another dimension than the stores.
//
// A thread block computes a tile. What the transposed loads need is read line by line along their own contiguous
// dimension, put into shared memory and read back across; everything else goes from memory to registers directly. All
// loads come first.
//
// A warp takes a line after another: of a load the elements of a column (a line of the tile for itself), of a store
// those of a row. Where channels are interleaved, a line has all of them, elsewhere they have lines of their own. What
// does not change from line to line is computed before the first: only so is this as fast as memory.
//
// Elements of less than a word move in words. A line that begins inside of one is read in the words that cover it: one
// more than it fills, so tiles have a word's rows less and a warp has them all at once. It lies in shared memory as far
// behind the beginning of a word as in memory: lines are that many elements more apart, so that the place of an element
// is linear in its row and column. Of words that reach beyond what the array has of the line, its elements alone are
// read. A row whose memory begins inside of a sector has columns of its own: they begin where the sector does, up to
// a sector's elements before the tile's, so that no sector is written in parts by two thread blocks.
//
// Lines in shared memory are padded so that reading across meets every bank. Where elements are narrow, a thread reads
// as many neighbouring lines as its word has elements: lines are dealt by that, so that those which a warp reads at
// once are neighbours.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "codegen/cuda/tile.h"
#include "codegen/ir/transpose.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kWarp = 32, kMostInWord = 4;

/// Bits of the n elements that lie between the first and the end, counted from element 0.
constexpr std::string_view kWithin =
    R"(template <int n> __device__ __forceinline__ tarry_u32 $N_within(int first, int end) {
  return ((1u << min(max(end, 0), n)) - 1) & ~((1u << min(max(first, 0), n)) - 1);
})";

/// Neighbouring elements of less than a word in one: those that are wanted.
constexpr std::string_view kPart =
    R"(template <class T> __device__ __forceinline__ tarry_u32 $N_part(const T* from, tarry_u32 wanted) {
  tarry_u32 word = 0;
#pragma unroll
  for (int j = 0; j < 4 / (int)sizeof(T); ++j) if (wanted >> j & 1u) word |= ((tarry_u32)from[j] & ((1u << 8 * sizeof(T)) - 1)) << j * 8 * (int)sizeof(T);
  return word;
})";

/// Elements from where a word begins, or a sector.
constexpr std::string_view kPast =
    R"(template <int bytes, class T> __device__ __forceinline__ int $N_past(const T* p) { return (int)((tarry_u64)p % bytes / sizeof(T)); })";

/// Where the line of number n lies: `word` elements farther after every 2^run lines.
constexpr std::string_view kLines = R"(template <int word> struct $N_lines { int pitch, run, past; };
template <int word> __device__ __forceinline__ int $N_place(const $N_lines<word>& l, int n) { return n * l.pitch + (n >> l.run) * word + l.past; })";

class TransposeWriter final : public TileWriter {
 public:
  explicit TransposeWriter(const KernelIr& ir)
      : TileWriter(ir, ir.as<TransposeLayout>().channel_dimension),
        layout_(ir.as<TransposeLayout>()),
        warps_(transpose_threads(ir) / kWarp),
        vector_(layout_.vector),
        values_(layout_.channels),
        before_(columns_before(ir)),
        pixels_(stores_interleaved(ir)),
        loads_(buffer_loads()) {}

  KernelSource run() {
    place();
    shared();
    tile();
    entry();
    return finish(warps_ * kWarp);
  }

 private:
  [[nodiscard]] bool is_transposed(const Load& l) const { return codegen::is_transposed(ir_, l.access); }
  [[nodiscard]] int size(const Load& l) const {
    return static_cast<int>(itemsize(ir_.buffers[access(l.access).buffer]));
  }
  static int divide_up(int a, int b) { return (a + b - 1) / b; }

  /// A transposed load: channels of a point in a line, lines of a column, elements of a line, words of a lane in it,
  /// lines of a warp.
  [[nodiscard]] int line_values(const Load& l) const { return access(l.access).interleaved_along >= 0 ? values_ : 1; }
  [[nodiscard]] int column_lines(const Load& l) const { return values_ / line_values(l); }
  [[nodiscard]] int line(const Load& l) const { return layout_.rows * line_values(l); }
  [[nodiscard]] int word_elements(const Load& l) const { return std::max(1, 4 / size(l)); }
  [[nodiscard]] int lane_words(const Load& l) const { return divide_up(covered(l), kWarp * word_elements(l)); }
  [[nodiscard]] int columns() const { return layout_.columns + before_; }
  [[nodiscard]] int warp_columns() const { return divide_up(columns(), warps_); }
  /// True if lines begin inside of words, and the elements of the words that cover one.
  [[nodiscard]] bool shifted(const Load& l) const {
    return is_transposed(l) && word_elements(l) > 1 && !access(l.access).aligned;
  }
  [[nodiscard]] int covered(const Load& l) const { return line(l) + (shifted(l) ? word_elements(l) : 0); }
  /// True if the place of such a line is linear in its column.
  [[nodiscard]] bool linear(const Load& l) const { return shifted(l) && column_lines(l) == 1; }
  /// A row: channels of a point in it, elements, words of a lane, rows of a warp; the first rows of a warp, which
  /// begin each in its own way, and those behind each of them, which begin like it.
  [[nodiscard]] int row() const { return layout_.columns * row_channels(ir_); }
  [[nodiscard]] int row_words() const { return divide_up(row(), kWarp * vector_); }
  [[nodiscard]] int warp_rows() const { return divide_up(layout_.rows, warps_); }
  [[nodiscard]] int first_rows() const { return std::clamp(layout_.sector / warps_, 1, warp_rows()); }
  [[nodiscard]] int later_rows() const { return divide_up(warp_rows(), first_rows()); }

  /// Where neighbouring elements of a row are in different lines, and a thread has some.
  [[nodiscard]] bool dealt(const Load& l) const { return vector_ > 1 && !(pixels_ && line_values(l) > 1); }
  [[nodiscard]] int lines(const Load& l) const { return columns() * column_lines(l); }
  /// Elements from line to line. An odd number of words meets every bank; where a row's neighbours are a pixel's
  /// values, then those of the next line, the banks go on where the last line's values end.
  [[nodiscard]] int pitch(const Load& l) const {
    const int word = word_elements(l);
    int words = divide_up(covered(l), word);
    if (word == 1 && pixels_ && line_values(l) > 1)
      while (words % kWarp != line_values(l)) ++words;
    else if (words % 2 == 0)
      ++words;
    return words * word;
  }
  /// Elements of the linear lines of a load: farther apart by up to a word, and by another one from run to run.
  [[nodiscard]] int linear_elements(const Load& l) const {
    return lines(l) * (pitch(l) + word_elements(l) - 1) + (lines(l) / kWarp + 2) * word_elements(l);
  }
  /// The place of the line of column y.
  [[nodiscard]] std::string linear_line(const Load& l) const {
    return fmt::format("$N_place(l{}, {})", l.access, before_ > 0 ? fmt::format("y + {}", before_) : "y");
  }
  /// Where the line of column y, and of its value c if it is for that alone, lies.
  [[nodiscard]] std::string slot(const Load& l, const std::string& y = "y") const {
    std::string number = before_ > 0 ? fmt::format("(tarry_u32)({} + {})", y, before_) : "(tarry_u32)" + y;
    if (column_lines(l) > 1) number = fmt::format("({} * {} + c)", number, values_);
    return dealt(l) ? fmt::format("{0} % {1} * {2} + {0} / {1}", number, vector_, divide_up(lines(l), vector_))
                    : number;
  }

  const Load& load_of(std::uint32_t a) const {
    return *std::find_if(loads_.begin(), loads_.end(), [&](const Load& x) { return x.access == a; });
  }
  /// Columns that a thread holds of a load that is not transposed.
  [[nodiscard]] int width(const Load& l) const {
    return along_columns(l.access) || (pixels_ && along_values(l.access)) ? vector_ : 1;
  }
  [[nodiscard]] bool along_values(std::uint32_t a) const {
    return layout_.channel_dimension >= 0 &&
           access(a).strides[static_cast<std::size_t>(layout_.channel_dimension)] != StrideClass::Zero;
  }

  /// The first column of a warp.
  [[nodiscard]] std::string first_column() const {
    return before_ > 0 ? fmt::format("(warp - {})", before_) : std::string("warp");
  }
  /// The address of the first element of the line of column y.
  [[nodiscard]] std::string line_start(const Load& l, const std::string& y) const {
    return sum_text(fmt::format("t.a{}", l.access), offset(l.access, "0", y, line_values(l) > 1 ? "0" : "c"));
  }
  [[nodiscard]] std::string loaded(const Instr& in) const override {
    const Load& l = load_of(in.index);
    if (!is_transposed(l)) return fmt::format("x{}[n][{}]", in.index, width(l) > 1 ? "j" : "0");
    const std::string element = line_values(l) > 1 ? fmt::format("r * {}", values_) : std::string("r");
    if (keeps_places()) return fmt::format("s.s{0}[at{0}[j] + {1}]", in.index, element);
    return linear(l) ? fmt::format("s.s{}[{} + {}]", in.index, line_place(l), element)
                     : fmt::format("s.s{}[{}][{}{}]", in.index, slot(l), element, first_element(l));
  }
  /// True if a thread computes them before its rows: where they are more than a sum. But where each value has rows of
  /// its own they are too many at a time.
  [[nodiscard]] bool keeps_places() const {
    const bool begin_anywhere =
        layout_.sector > 0 || std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return shifted(l); });
    return begin_anywhere && values_ == row_channels(ir_);
  }
  /// Where element 0 of the line of column y, or of its value c, lies.
  [[nodiscard]] std::string line_place(const Load& l) const {
    return (linear(l) ? linear_line(l) : fmt::format("(int)({}) * {}", slot(l), pitch(l))) + first_element(l);
  }
  /// The part of the line's place in it.
  [[nodiscard]] std::string first_element(const Load& l) const {
    const std::string past =
        shifted(l) && !linear(l) ? fmt::format(" + $N_past<4>({})", line_start(l, "y")) : std::string();
    return past + (line_values(l) > 1 ? " + c" : "");
  }
  /// True if lines have no index of their own.
  [[nodiscard]] bool flat(const Load& l) const { return linear(l) || keeps_places(); }
  [[nodiscard]] std::string inside(std::uint32_t guard) const override {
    return fmt::format("(whole || ({}))", all_hold(guard, "r", "y"));
  }
  [[nodiscard]] std::string counted(std::uint32_t a) const override { return offset(a, "r", "y", "c"); }
  [[nodiscard]] std::string result_index(std::uint32_t) const override { return "j"; }

  /// Terms of a guard that columns decide, or all others; empty where there are none.
  [[nodiscard]] std::string terms(std::uint32_t guard, bool of_columns, const std::string& at) const {
    std::string all;
    if (guard == kNone) return all;
    for (const GuardTerm& term : ir_.guards[guard].terms)
      if (along_columns(term.access) == of_columns)
        all += (all.empty() ? "" : " && ") + holds(term, of_columns ? "0" : at, of_columns ? at : "0");
    return all;
  }
  /// The same with " && " before it.
  [[nodiscard]] std::string and_terms(std::uint32_t guard, bool of_columns, const std::string& at) const {
    const std::string all = terms(guard, of_columns, at);
    return all.empty() ? all : " && " + all;
  }
  /// Declares the bits of the n elements from e on that lie between the first and the end and that a guard's terms let
  /// be.
  void there_of(int n, const std::string& first, const std::string& end, const std::string& all,
                const std::function<void()>& place) {
    out_.line(fmt::format("{}tarry_u32 there = whole ? {}u : $N_within<{}>({} - e, {} - e);",
                          all.empty() ? "const " : "", (1u << n) - 1, n, first, end));
    if (all.empty()) return;
    out_.open("if (!whole)");
    loop("j", n);
    place();
    out_.line(fmt::format("if (!({})) there &= ~(1u << j);", all));
    close(2);
  }

  void shared() {
    out_.open("struct alignas(16) $N_shared");
    for (const Load& l : loads_) {
      if (!is_transposed(l)) continue;
      const int count = divide_up(lines(l), vector_) * vector_;
      const std::string size = linear(l) ? std::to_string(linear_elements(l))
                                         : fmt::format("{}{}{}", count, flat(l) ? " * " : "][", pitch(l));
      out_.line(fmt::format("alignas(16) {} s{}[{}];", type(l.access), l.access, size));
    }
    out_.close(";");
  }

  void loop(const char* name, int count) {
    out_.label("#pragma unroll");
    out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", name, count));
  }
  void close(int count) {
    while (count-- > 0) out_.close();
  }

  /// Opens the loops over what a thread has of a transposed load: elements from e on of a column's line c; then over
  /// columns y.
  void words_of(const Load& l) {
    loop("c", column_lines(l));
    loop("k", lane_words(l));
  }
  void columns_of(const Load& l) {
    loop("i", warp_columns());
    out_.line(fmt::format("const int y = warp + {}, n = (c * {} + k) * {} + i;",
                          sum_text(fmt::format("i * {}", warps_), before_ > 0 ? fmt::format("-{}", before_) : "0"),
                          lane_words(l), warp_columns()));
    if (columns() % warps_ != 0) out_.line(fmt::format("if (y >= {}) continue;", layout_.columns));
  }
  /// Opens the loops over rows r and their elements from e on, of values c where those have rows of their own. A row
  /// begins `past` elements behind the beginning of a sector.
  void rows_of(std::uint32_t guard, bool keeps = false) {
    loop("v", values_ / row_channels(ir_));
    loop("g", first_rows());
    if (layout_.sector > 0) {
      const std::uint32_t a = narrowest_store(ir_);
      out_.line(fmt::format("const int past = $N_past<{}>({});",
                            layout_.sector * static_cast<int>(itemsize(ir_.buffers[access(a).buffer])),
                            sum_text(fmt::format("t.a{}", a),
                                     offset(a, fmt::format("(warp + g * {})", warps_), "0", pixels_ ? "0" : "v"))));
    }
    loop("k", row_words());
    out_.line(
        fmt::format("const int e = (lane + k * {}) * {}{};", kWarp, vector_, layout_.sector > 0 ? " - past" : ""));
    if (row() % (kWarp * vector_) != 0)
      out_.line(fmt::format("if ((lane + k * {}) * {} >= {}) continue;", kWarp, vector_, row()));
    const std::string values = pixels_ ? fmt::format(" * {}", values_) : "";
    there_of(vector_, before_ > 0 ? "before" + values : "0", "columns" + values, terms(guard, true, "y"),
             [&] { element(); });
    if (keeps && keeps_places()) places();
    loop("i", later_rows());
    out_.line(fmt::format("const int r = warp + (i * {0} + g) * {1}, n = ((v * {0} + g) * {2} + k) * {3} + i;",
                          first_rows(), warps_, row_words(), later_rows()));
    const int last = layout_.rows / warps_;  // of a warp's rows, where only some warps have one
    if (layout_.rows != first_rows() * later_rows() * warps_)
      out_.line(fmt::format("if (i * {} + g >= {} && r >= {}) continue;", first_rows(), last, layout_.rows));
  }
  /// Where the lines lie that a thread's elements of a row are in: the same for all rows that begin alike.
  void places() {
    for (const Load& l : loads_)
      if (is_transposed(l)) out_.line(fmt::format("int at{}[{}];", l.access, vector_));
    loop("j", vector_);
    element();
    for (const Load& l : loads_)
      if (is_transposed(l)) out_.line(fmt::format("at{}[j] = {};", l.access, line_place(l)));
    out_.close();
  }
  /// Column and value of element j of a row.
  void element() {
    if (!pixels_) return out_.line("const int y = e + j, c = v;");
    if (before_ == 0) return out_.line(fmt::format("const int y = (e + j) / {0}, c = (e + j) % {0};", values_));
    out_.line(fmt::format("const tarry_u32 f = (tarry_u32)(e + j + {});", before_ * values_));
    out_.line(fmt::format("const int y = (int)(f / {0}) - {1}, c = (int)(f % {0});", values_, before_));
  }

  void tile() {
    const auto is_word = [&](const Load& l) { return is_transposed(l) && word_elements(l) > 1; };
    const auto is_shifted = [&](const Load& l) { return shifted(l); };
    const auto is_linear = [&](const Load& l) { return linear(l); };
    out_.label(kWithin);
    if (std::any_of(loads_.begin(), loads_.end(), is_word)) out_.label(kPart);
    if (layout_.sector > 0 || std::any_of(loads_.begin(), loads_.end(), is_shifted)) out_.label(kPast);
    if (std::any_of(loads_.begin(), loads_.end(), is_linear)) out_.label(kLines);
    out_.label("template <bool whole>");
    out_.open(
        "__device__ __forceinline__ void $N_tile(const $N_params& p, const $N_at& t, $N_shared& s, int above, int "
        "before, int rows, int columns)");
    out_.line("const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);");
    for (const Load& l : loads_)
      if (linear(l)) place_lines(l);
    for (const Load& l : loads_)
      if (is_transposed(l)) load_lines(l);
    for (const Load& l : loads_)
      if (!is_transposed(l)) load_rows(l);
    for (const Load& l : loads_)
      if (is_transposed(l)) put_lines(l);
    out_.line("__syncthreads();");
    rows_of(kNone, true);
    out_.line("if (!whole && r >= rows) continue;");
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) out_.line(fmt::format("{} y{}[{}];", type(in.index), in.index, vector_));
    loop("j", vector_);
    element();
    point();
    out_.close();
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store) move_row("put", in.index, "there", fmt::format("y{}", in.index));
    close(4);
    out_.close();
  }

  /// The part of a line that a thread takes at once.
  [[nodiscard]] std::string word(const Load& l) const { return word_elements(l) > 1 ? "tarry_u32" : type(l.access); }

  /// Bits of the elements from e on that the array has of a line, and that rows do not guard.
  void there_of(const Load& l) {
    const int values = line_values(l), word = word_elements(l);
    const std::string row =
        values == 1 ? std::string("(e + j)") : fmt::format("((e + j + {0}) / {1} - {2})", word * values, values, word);
    there_of(word, shifted(l) ? "above" : "0", values > 1 ? fmt::format("rows * {}", values) : "rows",
             terms(l.guard, false, row), [] {});
  }
  [[nodiscard]] std::string column_there(const Load& l) const {
    return fmt::format("whole || ({} && y < columns{})", before_ > 0 ? "y >= before" : "y >= 0",
                       and_terms(l.guard, true, "y"));
  }

  /// By as many elements as lines in memory are apart beyond words, those in shared memory are too. If that is an even
  /// number, a warp would meet the same banks again after 32 or 64 lines.
  void place_lines(const Load& l) {
    const int word = word_elements(l);
    out_.line(
        fmt::format("const int more{} = (int)((tarry_u64)({}) % {});", l.access, offset(l.access, "0", "1"), word));
    out_.line(fmt::format(
        "const $N_lines<{0}> l{1} = {{{2} + more{1}, more{1} % 2 ? 31 : 5 + more{1} / 2, $N_past<4>({3})}};", word,
        l.access, pitch(l), line_start(l, std::to_string(-before_))));
  }

  void load_lines(const Load& l) {
    out_.line(fmt::format("{} x{}[{}] = {{}};", word(l), l.access, column_lines(l) * lane_words(l) * warp_columns()));
    words_of(l);
    out_.line(fmt::format("const {}* from = {};", type(l.access), line_start(l, first_column())));
    out_.line(fmt::format("const int e = (lane + k * {}) * {}{};", kWarp, word_elements(l),
                          shifted(l) ? " - $N_past<4>(from)" : ""));
    if (covered(l) % (kWarp * word_elements(l)) != 0)
      out_.line(fmt::format("if ((lane + k * {}) * {} >= {}) continue;", kWarp, word_elements(l), covered(l)));
    there_of(l);
    out_.line("from += e;");
    const bool words = word_elements(l) > 1;
    out_.open(words ? fmt::format("if (whole || there == {}u)", (1u << word_elements(l)) - 1)
                    : "if (whole || there != 0)");
    columns_from(l, words ? "*(const tarry_u32*)from" : "*from");
    if (words) {
      out_.close();
      out_.open("else if (there != 0)");
      columns_from(l, "$N_part(from, there)");
    }
    close(3);
  }
  void columns_from(const Load& l, const std::string& value) {
    columns_of(l);
    out_.line(fmt::format("if ({}) x{}[n] = {};", column_there(l), l.access, value));
    out_.line(fmt::format("from += {};", offset(l.access, "0", std::to_string(warps_))));
    out_.close();
  }

  void put_lines(const Load& l) {
    words_of(l);
    out_.line(fmt::format("const int e = (lane + k * {}) * {};", kWarp, word_elements(l)));
    if (covered(l) % (kWarp * word_elements(l)) != 0) out_.line(fmt::format("if (e >= {}) continue;", covered(l)));
    const std::string first = slot(l, first_column());
    if (!linear(l))
      out_.line(fmt::format("{}* to = &s.s{}[{}e];", type(l.access), l.access,
                            flat(l) ? fmt::format("(int)({}) * {} + ", first, pitch(l)) : first + "]["));
    columns_of(l);
    if (linear(l))
      out_.line(
          fmt::format("{}* to = &s.s{}[({} & -{}) + e];", type(l.access), l.access, linear_line(l), word_elements(l)));
    out_.line(fmt::format("*{}to = x{}[n];", word_elements(l) > 1 ? "(tarry_u32*)" : "", l.access));
    if (!linear(l)) out_.line(fmt::format("to += {};", warps_ * column_lines(l) / (dealt(l) ? vector_ : 1) * pitch(l)));
    close(3);
  }

  void load_rows(const Load& l) {
    const int count = values_ / row_channels(ir_) * row_words() * first_rows() * later_rows();
    out_.line(fmt::format("{} x{}[{}][{}] = {{}};", type(l.access), l.access, count, width(l)));
    rows_of(l.guard);
    out_.line(fmt::format("if (!whole && !(r < rows{})) continue;", and_terms(l.guard, false, "r")));
    if (width(l) == vector_)
      move_row("get", l.access, "there", fmt::format("x{}[n]", l.access));
    else
      out_.line(fmt::format("if (there) x{0}[n][0] = t.a{0}[{1}];", l.access,
                            offset(l.access, "r", "0", pixels_ ? "0" : "v")));
    close(4);
  }

  /// Elements of a row of the tile.
  void move_row(const char* how, std::uint32_t a, const char* wanted, const std::string& own) {
    const bool runs =
        pixels_ ? access(a).interleaved_along == ir_.rank - 1 : access(a).strides.back() == StrideClass::One;
    if (runs && (vector_ == 1 || access(a).aligned)) {
      const std::string start = pixels_ ? sum_text(offset(a, "r", "0"), "e") : offset(a, "r", "e", "v");
      return out_.line(fmt::format("$N_{}<{}, {}>({}, {}, {});", how, type(a), vector_,
                                   sum_text(fmt::format("t.a{}", a), start), wanted, own));
    }
    loop("j", vector_);
    element();
    const std::string memory = fmt::format("t.a{}[{}]", a, offset(a, "r", "y", "c")), value = own + "[j]";
    const bool stores = how == std::string_view("put");
    out_.line(fmt::format("if ({} >> j & 1u) {} = {};", wanted, stores ? memory : value, stores ? value : memory));
    out_.close();
  }

  /// That a multiprocessor must have registers for.
  [[nodiscard]] int threads_at_once() const {
    constexpr int kFew = 24;
    constexpr std::size_t kLittle = 6;  // instructions
    if (transpose_registers(ir_) > kFew) return 512;
    if (warps_ * kWarp == 256) return 768;
    return ir_.instrs.size() <= kLittle ? 1536 : 1024;
  }

  void entry() {
    out_.open(fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}, {}) $N(const __grid_constant__ struct $N_params p)",
        warps_ * kWarp, threads_at_once() / (warps_ * kWarp)));
    out_.line("__shared__ $N_shared s;");
    out_.line("const tarry_i64 number = blockIdx.x;");
    TileRange box = tile_box();
    box.first_column = -before_;
    if (std::any_of(loads_.begin(), loads_.end(),
                    [&](const Load& l) { return shifted(l); })) {  // words reach beyond a line
      box.first_row -= kMostInWord - 1;
      box.last_row += kMostInWord;
    }
    find(box);
    out_.line(fmt::format("const int above = row > 0 ? {} : 0, before = column > 0 ? {} : 0;", box.first_row,
                          box.first_column));
    for (const char* is_whole : {"true", "false"})
      out_.line(fmt::format("{} $N_tile<{}>(p, t, s, above, before, rows, columns);",
                            is_whole == std::string_view("true") ? fmt::format("if ({})", whole(box)) : "else",
                            is_whole));
    out_.close();
  }

  const TransposeLayout& layout_;
  const int warps_, vector_, values_;
  const int before_;   ///< columns by which rows begin earlier at most
  const bool pixels_;  ///< true if stores have channels interleaved
  const std::vector<Load> loads_;
};

}  // namespace

KernelSource render_transpose(const KernelIr& ir, const graph::Target&) { return TransposeWriter(ir).run(); }

}  // namespace tarry::codegen::cuda
