// C: nodes of segments whose vectors are written out, for what gcc would take long to find them in.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "codegen/c/states.h"

namespace tarry::codegen {

/// Sums and products of floats: their vectors are written out.
bool StateWriter::has_vectors(std::uint32_t r) const {
  const Reduction& reduction = ir.reductions[r];
  return (reduction.op == Op::Sum || reduction.op == Op::Prod) &&
         (reduction.dtype == Dtype::Float32 || reduction.dtype == Dtype::Float64);
}

std::string StateWriter::function_name(std::uint32_t r) const {
  return fmt::format("{}_{}", graph::name(ir.reductions[r].op), info(ir.reductions[r].dtype).suffix);
}

/// padding() of the elements of `in`, with the vector `none`.
void StateWriter::vector_padding(std::uint32_t r, int lanes) {
  line(fmt::format("{} none_y[32] __attribute__((aligned(64))), rest_y[32] __attribute__((aligned(64)));",
                   accumulator(r)));
  open("if (length & 127)");
  for (int l = 0; l < 32; l += lanes)
    line(fmt::format("*(vector*)(none_y + {0}) = *(vector*)(rest_y + {0}) = none;", l));
  line("const tarry_i64 whole = length & -32, rest = length & 31;");
  line("tarry_i64 k = 0;");
  line(fmt::format("for (; k + {0} <= rest; k += {0}) *(vector*)(rest_y + k) = *(const vector*)(in + whole + k);",
                   lanes));
  line("for (; k < rest; ++k) { TARRY_SCALAR; rest_y[k] = in[whole + k]; }");
  close();
}

/// The upper half of the first `count` lanes of a vector in place of the lower one.
std::string StateWriter::upper_half(const std::string& vector, int lanes, int count) {
  std::string places;
  for (int k = 0; k < lanes; ++k) places += fmt::format(", {}", k < count / 2 ? k + count / 2 : k);
  return fmt::format("TARRY_SHUFFLE(places, {0}, {0}{1})", vector, places);
}

/// plain_node() of vectors, at most eight lanes: each combines all lanes that end in it, then its upper half with its
/// lower one. `in_place`: it reads memory as it lies.
void StateWriter::vector_node(std::uint32_t r, bool in_place) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  const int size = static_cast<int>(itemsize(reduction.dtype)), lanes = std::min(8, vector_bytes_ / size);
  const auto combine = [&](const std::string& a, const std::string& b) {
    return fmt::format("({})", expressions.combine(reduction, a, b));
  };
  const std::function<std::string(int, int)> tree = [&](int l, int step) {
    if (step < 32) return combine(tree(l, 2 * step), tree(l + step, 2 * step));
    std::string lane = fmt::format("*(const vector*)(y0 + {})", l);
    for (int k = 1; k < 4; ++k) lane = combine(lane, fmt::format("*(const vector*)(y{} + {})", k, l));
    return lane;
  };
  lane_types(r, lanes);
  open(fmt::format("if (n <= {})", kSerial));
  line(fmt::format("{} value = in[0];", type));
  line(fmt::format("for (tarry_i64 k = 1; k < length; ++k) value = {};",
                   expressions.combine(reduction, "value", "in[k]")));
  line("return value;");
  close();
  line(fmt::format("{} node[{}];", type, segment_blocks()));
  line("const tarry_i64 blocks = (length + 127) >> 7;");
  line(fmt::format("const vector none = {};", reduction.op == Op::Sum ? "-(vector){}" : "(vector){} + 1"));
  vector_padding(r, lanes);
  open("for (tarry_i64 q = 0; q < blocks; ++q)");
  line("const tarry_i64 m = length - q * 128;");
  quarters(r, 'y', "in + q * 128");
  if (in_place) {  // one stream keeps too few lines under way by itself; what L2 holds is not asked for
    open(fmt::format("if (n >= {})", kCached / static_cast<std::size_t>(size)));
    ask_for_next_run("in + q * 128", r);
    close();
  }
  line(fmt::format("const vector s{} = {};", lanes, tree(0, lanes)));
  for (int l = lanes; l > 2; l /= 2) {
    const std::string s = fmt::format("s{}", l);
    line(fmt::format("const vector s{} = {};", l / 2, combine(s, upper_half(s, lanes, l))));
  }
  line(fmt::format("node[q] = {};", combine("s2[0]", "s2[1]")));
  line(fmt::format("if (q & 1) node[q - 1] = {};", combine("node[q - 1]", "node[q]")));
  close();
  line("for (tarry_i64 step = 2; step < blocks; step *= 2)");
  line(fmt::format("  for (tarry_i64 at = 0; at + step < blocks; at += 2 * step) node[at] = {};",
                   combine("node[at]", "node[at + step]")));
  line("return node[0];");
}

/// A block's lines, one run after the block at `address`.
void StateWriter::ask_for_next_run(std::string_view address, std::uint32_t r) {
  for (std::size_t l = 0; l < 128; l += kLine / itemsize(ir.reductions[r].dtype))
    line(fmt::format("__builtin_prefetch({} + {});", address, static_cast<std::size_t>(segment_length()) + l));
}

/// Lanes of vectors of extremes: x86 compares 32 bytes into a vector, and more into a mask.
int StateWriter::extreme_lanes(std::uint32_t r) const {
  return std::min(32, vector_bytes_) / static_cast<int>(itemsize(ir.reductions[r].dtype));
}

/// An instruction of x86 on vectors of extremes; compilers find these in plain C only where they look for vectors.
std::string StateWriter::x86(std::uint32_t r, std::string_view name) const {
  return fmt::format("__builtin_ia32_{}{}{}", name, ir.reductions[r].dtype == Dtype::Float64 ? "pd" : "ps",
                     vector_bytes_ > 16 ? "256" : "");
}

/// The better ones of the lanes of two vectors, `a` where neither is.
std::string StateWriter::better_lanes(std::uint32_t r, const std::string& a, const std::string& b) const {
  const Op op = ir.reductions[r].op;
  const bool least = op == Op::Min || op == Op::ArgMin;
  if (is_x86_) return fmt::format("{}({}, {})", x86(r, least ? "min" : "max"), b, a);
  const std::string better = fmt::format("({} {} {})", b, least ? "<" : ">", a);
  return fmt::format("(vector)(((places){0} & {1}) | ((places){2} & ~{1}))", b, better, a);
}

/// Where the lanes of two vectors are equal, or one of them is a NaN, as places of all bits.
std::string StateWriter::equal_lanes(std::uint32_t r, const std::string& a, const std::string& b) const {
  if (!is_x86_) return fmt::format("(places)({} == {})", a, b);
  return vector_bytes_ > 16 ? fmt::format("(places){}({}, {}, 0)", x86(r, "cmp"), a, b)
                            : fmt::format("(places){}({}, {})", x86(r, "cmpeq"), a, b);
}
std::string StateWriter::unordered_lanes(std::uint32_t r, const std::string& a, const std::string& b) const {
  if (!is_x86_) return fmt::format("(places)(({0} != {0}) | ({1} != {1}))", a, b);
  return vector_bytes_ > 16 ? fmt::format("(places){}({}, {}, 3)", x86(r, "cmp"), a, b)
                            : fmt::format("(places){}({}, {})", x86(r, "cmpunord"), a, b);
}

/// Extremes of floats. These are in any order the same but for NaNs and the signs of zeros: a plain comparison finds
/// them, and whether a NaN was among them; where the extreme is a zero, its sign is looked for.
void StateWriter::extreme_node(std::uint32_t r, bool in_place) {
  constexpr int kVectors = 16;  // at a time
  const Reduction& reduction = ir.reductions[r];
  const bool least = reduction.op == Op::Min || reduction.op == Op::ArgMin;
  const std::string suffix(info(reduction.dtype).suffix),
      sign = reduction.dtype == Dtype::Float64 ? "0x8000000000000000ull" : "0x80000000u";
  const int lanes = extreme_lanes(r);
  lane_types(r, lanes);
  line("const tarry_i64 blocks = (length + 127) >> 7;");
  line("const vector none = (vector){} + in[0];");
  line("vector s = none;");
  line("places unordered = {};");
  vector_padding(r, lanes);
  open("for (tarry_i64 q = 0; q < blocks; ++q)");
  line("const tarry_i64 m = length - q * 128;");
  quarters(r, 'y', "in + q * 128");
  if (in_place)  // more instructions a line than keep enough lines under way: the next run is asked for
    ask_for_next_run("y0", r);
  open(fmt::format("for (int l = 0; l < 32; l += {})", kVectors / 4 * lanes));
  for (int k = 0; k < kVectors; ++k)
    line(fmt::format("const vector x{} = *(const vector*)(y{} + l + {});", k, k / 4, lanes * (k % 4)));
  std::string pairs;
  for (int k = 0; k < kVectors / 2; ++k) {
    const std::string a = fmt::format("x{}", 2 * k), b = fmt::format("x{}", 2 * k + 1);
    line(fmt::format("const vector u{} = {};", k, better_lanes(r, a, b)));
    pairs += (k ? " | " : "") + unordered_lanes(r, a, b);
  }
  for (int k = 0; k + 1 < kVectors / 2; ++k)
    line(fmt::format("const vector u{} = {};", k + kVectors / 2,
                     better_lanes(r, fmt::format("u{}", 2 * k), fmt::format("u{}", 2 * k + 1))));
  line(fmt::format("s = {};", better_lanes(r, "s", fmt::format("u{}", kVectors - 2))));
  line(fmt::format("unordered |= {};", pairs));
  close();
  close();
  for (int l = lanes; l > 1; l /= 2) {
    line(fmt::format("const vector s{} = {};", l, upper_half("s", lanes, l)));
    line(fmt::format("s = {};", better_lanes(r, "s", fmt::format("s{}", l))));
    line(fmt::format("unordered |= {};", upper_half("unordered", lanes, l)));
  }
  line(fmt::format("{} value = s[0];", accumulator(r)));
  line("if (unordered[0]) value = __builtin_nanf(\"\");");
  if (!is_arg(r)) {
    const std::string wins = least ? sign : "0";  // the zero that does
    open("if (value == 0)");
    line("places found = {};");
    line("tarry_i64 k = 0;");
    std::string equal;
    for (int l = 0; l < 4; ++l)
      equal += fmt::format("{}(*(const places*)(in + k + {}) == zero)", l ? " | " : "", l * lanes);
    line(fmt::format("const places zero = (places){{}} + ({}){};",
                     reduction.dtype == Dtype::Float64 ? "tarry_i64" : "tarry_i32", wins));
    line(fmt::format("for (; k + {0} <= length; k += {0}) found |= (places)({1});", 4 * lanes, equal));
    line("int any = 0;");
    line(fmt::format("for (; k < length; ++k) {{ TARRY_SCALAR; any |= tarry_bits_{}(in[k]) == {}; }}", suffix, wins));
    line(fmt::format("for (k = 0; k < {}; ++k) {{ TARRY_SCALAR; any |= found[k] != 0; }}", lanes));
    line(fmt::format("value = tarry_from_bits_{}(any {} 0 ? {} : 0);", suffix, least ? "!=" : "==", sign));
    close();
  }
  line("return value;");
}

/// The place of the first of m elements that is `value`, which is the best of them.
void StateWriter::find_function(std::uint32_t r) {
  constexpr int kVectors = 8;
  const bool is_vector = is_extreme(r);
  open(fmt::format("static {2}__attribute__((noinline)) tarry_i64 {0}(const {1}* x, tarry_i64 m, {1} value)",
                   kSharedName, accumulator(r), is_vector ? "TARRY_PLAIN " : ""));
  line("tarry_i64 k = 0;");
  if (is_vector) {
    const int lanes = extreme_lanes(r);
    lane_types(r, lanes);
    line(fmt::format("typedef tarry_i64 words __attribute__((vector_size({})));", std::min(32, vector_bytes_)));
    line("const vector best = (vector){} + value;");
    open(fmt::format("for (; value == value && k + {0} <= m; k += {0})", kVectors * lanes));
    std::string equal, any;
    for (int l = 0; l < kVectors; ++l)
      equal += (l ? " | " : "") + equal_lanes(r, fmt::format("*(const vector*)(x + k + {})", l * lanes), "best");
    for (int w = 0; w < std::min(32, vector_bytes_) / 8; ++w) any += fmt::format("{}any[{}]", w ? " | " : "", w);
    line(fmt::format("const words any = (words)({});", equal));
    line(fmt::format("if ({}) break;", any));
    close();
  } else {
    constexpr int kStep = 64;
    open(fmt::format("for (; value == value && k + {0} <= m; k += {0})", kStep));
    line("int any = 0;");
    line(fmt::format("for (int l = 0; l < {}; ++l) any |= x[k + l] == value;", kStep));
    line("if (any) break;");
    close();
  }
  open("for (; k + 1 < m; ++k)");
  line("TARRY_SCALAR;");
  line(fmt::format("if ({}) break;", ties(r, "x[k]", "value")));
  close();
  line("return k;");
  close();
}

}  // namespace tarry::codegen
