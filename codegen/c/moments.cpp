// C: moments of segments. Lanes of vectors take elements, and merge by Chan's rule.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "codegen/c/states.h"

namespace tarry::codegen {
namespace {

constexpr int kKept = 16;  // lanes of a block that stay apart until all blocks are there

/// The lowest `bits` bits of k in reverse.
int reversed(int k, int bits) {
  int found = 0;
  for (int b = 0; b < bits; ++b) found |= (k >> b & 1) << (bits - 1 - b);
  return found;
}

std::string vector_at(std::string_view address) { return fmt::format("*(const vector*)({})", address); }

/// The lanes of a where `mask` has all bits, those of b elsewhere.
std::string picked(std::string_view mask, std::string_view a, std::string_view b) {
  return fmt::format("(vector)(((places)({1}) & {0}) | ((places)({2}) & ~{0}))", mask, a, b);
}

std::string list(int count, auto&& element) {
  std::string text;
  for (int k = 0; k < count; ++k) text += fmt::format("{}{}", k ? ", " : "", element(k));
  return text;
}

}  // namespace

std::string StateWriter::inputs(std::uint32_t r) const {
  std::string text;
  for (std::size_t x = 0; x < input_count(ir.reductions[r]); ++x)
    text += fmt::format("{}const {}* {}", x ? ", " : "", accumulator(r), taken(x));
  return text;
}

std::string StateWriter::weighted(std::uint32_t r, std::string_view count) const {
  const Reduction& reduction = ir.reductions[r];
  if (reduction.op == Op::Moments) return std::string(count);
  return fmt::format("{} * weight[{}]", count, in_node_ ? 0 : r);
}

/// 1 / k for the k-th step of a lane, as constants.
void StateWriter::reciprocals(std::uint32_t r) {
  std::string text = fmt::format("static const {} {}[{}] = {{0, 1", accumulator(r), kSharedName, kSerial + 1);
  for (int k = 2; k <= kSerial; ++k) text += ", " + float_literal(ir.reductions[r].dtype, 1.0 / k);
  reciprocals_[r] =
      share("reciprocals_" + std::string(info(ir.reductions[r].dtype).suffix), [&] { line(text + "};"); });
}

/// Constants of a lane's k-th step (k >= 2): the reciprocal, or the weights of Chan's rule. They are of `type`, of
/// scalars unless it is said, and their names end in `suffix`.
void StateWriter::moments_step_constants(std::uint32_t r, std::string_view k, const std::string& suffix,
                                         std::string_view type) {
  if (ir.reductions[r].op == Op::MomentsMerge)
    return weights(r, fmt::format("({} - 1)", k), "(tarry_i64)1", suffix, type);
  const std::string scalar = accumulator(r), all = type.empty() ? "" : fmt::format("({}){{}} + ", type);
  line(fmt::format("const {} w{} = {}{}[{}];", type.empty() ? scalar : type, suffix, all, reciprocals_.at(r), k));
}

/// The weights of Chan's rule where the sides stand for `a` and `b` elements.
void StateWriter::weights(std::uint32_t r, const std::string& a, const std::string& b, const std::string& suffix,
                          std::string_view type) {
  const std::string scalar = accumulator(r), all = type.empty() ? "" : fmt::format("({}){{}} + ", type);
  std::string share =
      fmt::format("({0})({1}) / ({0})({2})", scalar, weighted(r, b), weighted(r, fmt::format("({} + {})", a, b)));
  if (a == b && ir.reductions[r].op == Op::Moments) share = "0.5f";
  line(fmt::format("const {0} w{1} = {2}{3}, aw{1} = ({4})({5}) * w{1};", type.empty() ? scalar : type, suffix, all,
                   share, scalar, weighted(r, a)));
}

void StateWriter::moments_step(std::uint32_t r, const std::string& mean, const std::string& m2, const std::string& i) {
  moments_step(r, accumulator(r), mean, m2, fmt::format("{}[{}]", input(r, 0), i),
               fmt::format("{}[{}]", input(r, 1), i));
}

void StateWriter::moments_step(std::uint32_t r, std::string_view type, const std::string& mean, const std::string& m2,
                               const std::string& x, const std::string& x2) {
  line(fmt::format("const {} d = {} - {};", type, x, mean));
  line(fmt::format("{0} = {0} + d * w;", mean));
  if (ir.reductions[r].op == Op::Moments)
    line(fmt::format("{0} = {0} + d * ({1} - {2});", m2, x, mean));
  else
    line(fmt::format("{0} = ({0} + {1}) + (d * d) * aw;", m2, x2));
}

/// The other side of a merge comes in.
void StateWriter::moments_merge(std::string_view type, const std::string& mean, const std::string& m2,
                                const std::string& other_mean, const std::string& other_m2) {
  line(fmt::format("const {} e = {} - {};", type, other_mean, mean));
  line(fmt::format("{0} = {0} + e * w, {1} = ({1} + {2}) + (e * e) * aw;", mean, m2, other_m2));
}

int StateWriter::moments_lanes(std::uint32_t r) const {
  return std::min(kKept, vector_bytes_ / static_cast<int>(itemsize(ir.reductions[r].dtype)));
}

/// Sixteen lanes of each whole block, then level after level of all of them: what one merge waits for, others fill. A
/// level merges lanes that are `apart` vectors from each other, or the halves of vectors: those of two neighbours
/// interleave, so that the upper half is what merges next. Vectors of levels have 32 bytes at most, which a store hands
/// on to a load. What a short block misses is nothing that moments would be left alone by, so it has a function of its
/// own.
void StateWriter::moments_node(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const bool merges = reduction.op == Op::MomentsMerge;
  const std::string type = accumulator(r);
  const int size = static_cast<int>(itemsize(reduction.dtype)), wide = moments_lanes(r),
            lanes = std::min(wide, 32 / size);
  const std::string rest = share(function_name(r) + "_rest", [&] { moments_rest_function(r); });
  open(
      fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}({1}tarry_i64 n, tarry_i64 length, {2}* "
                  "to_mean, {2}* to_m2, {3})",
                  kSharedName, weights_parameter(r), type, inputs(r)));
  serial(r);
  lane_types(r, lanes);
  line(fmt::format("typedef {} wide __attribute__((vector_size({}), aligned({}), may_alias));", type, wide * size,
                   size));
  line(fmt::format("{0} mean[{1}] __attribute__((aligned(64))), m2[{1}] __attribute__((aligned(64)));", type,
                   kKept * segment_blocks()));
  line("const tarry_i64 whole = length / 128;");
  for (int step = 2; step <= 4; ++step)
    moments_step_constants(r, fmt::format("(tarry_i64){}", step), std::to_string(step), "wide");
  weights(r, "(tarry_i64)4", "(tarry_i64)4", "", "wide");
  open("for (tarry_i64 q = 0; q < whole; ++q)");
  open(wide < kKept ? fmt::format("for (int l = 0; l < {}; l += {})", kKept, wide) : std::string());
  const std::string l = wide < kKept ? " + l" : "";
  const auto element = [&](std::size_t x, int at) { return fmt::format("*(const wide*)(y{} + {})", x, at); };
  for (std::size_t x = 0; x < input_count(reduction); ++x)
    line(fmt::format("const {}* const y{} = {} + q * 128{};", type, x, taken(x), l));
  for (int lane = 0; lane < 32; lane += 16) {
    line(fmt::format("wide mean{0} = {1}, m2_{0} = {2};", lane, element(0, lane), merges ? element(1, lane) : "{}"));
    for (int step = 2; step <= 4; ++step) {
      const int at = lane + 32 * (step - 1);
      open("");
      line(fmt::format("const wide w = w{0}{1}, x = {2};", step, merges ? fmt::format(", aw = aw{}", step) : "",
                       element(0, at)));
      moments_step(r, "wide", fmt::format("mean{}", lane), fmt::format("m2_{}", lane), "x", element(1, at));
      close();
    }
  }
  moments_merge("wide", "mean0", "m2_0", "mean16", "m2_16");
  line(fmt::format("*(wide*)(mean + q * {0}{1}) = mean0, *(wide*)(m2 + q * {0}{1}) = m2_0;", kKept, l));
  close();
  close();
  line("vector *const a = (vector*)mean, *const b = (vector*)m2;");
  line(fmt::format("tarry_i64 count = whole * {};", kKept / lanes));
  const auto open_level = [&] {
    weights(r, "size", "size", "", "vector");
    open("for (tarry_i64 k = 0; 2 * k < count; ++k)");
  };
  const auto close_level = [&] {
    moments_merge("vector", "to", "to2", "from", "from2");
    line("a[k] = to, b[k] = to2;");
    close();
    line("count = (count + 1) / 2;");
    close();
  };
  if (lanes < kKept) {
    open(fmt::format("for (tarry_i64 apart = {}, size = 8; apart > 0; apart /= 2, size *= 2)", kKept / 2 / lanes));
    open_level();
    line("const tarry_i64 at = k + (k & -apart);");
    line("vector to = a[at], to2 = b[at];");
    line("const vector from = a[at + apart], from2 = b[at + apart];");
    close_level();
  }
  open(fmt::format("for (tarry_i64 size = {}; size < 128; size *= 2)", 128 / lanes));
  open_level();
  line("const tarry_i64 at = 2 * k, next = at + 1 < count ? at + 1 : at;");
  for (const char name : {'a', 'b'})
    for (const int half : {0, lanes / 2})
      line(fmt::format("{}vector {}{} = TARRY_SHUFFLE(places, {}[at], {}[next], {});", half ? "const " : "",
                       half ? "from" : "to", name == 'b' ? "2" : "", name, name,
                       list(lanes, [&](int k) { return k / 2 + half + k % 2 * lanes; })));
  close_level();
  const int bits = std::countr_zero(static_cast<unsigned>(lanes));
  line(fmt::format("static const unsigned char place[16] = {{{}}};",
                   list(16, [&](int q) { return (q & -lanes) + reversed(q & (lanes - 1), bits); })));
  std::string behind;
  for (std::size_t x = 0; x < input_count(reduction); ++x) behind += fmt::format("{} + whole * 128, ", taken(x));
  line(fmt::format(
      "if (length > whole * 128) {}({}(int)(length - whole * 128), {}mean + place[whole], m2 + place[whole]);", rest,
      merges ? "weight, " : "", behind));
  // Neighbours, of which the first is whole.
  open("for (tarry_i64 size = 128, step = 1; size < length; size *= 2, step *= 2)");
  open("for (tarry_i64 at = 0, left = length; left > size; at += 2 * step, left -= 2 * size)");
  line("const tarry_i64 other = left - size < size ? left - size : size, to = place[at], from = place[at + step];");
  weights(r, "size", "other");
  moments_merge(type, "mean[to]", "m2[to]", "mean[from]", "m2[from]");
  close();
  close();
  line("*to_mean = mean[0], *to_m2 = m2[0];");
  close();
}

/// Lanes of `mean`, `m2` and `count` elements take in those of others that have any.
void StateWriter::moments_meet(std::uint32_t r, int lanes, const std::string& mean, const std::string& m2,
                               const std::string& count, const std::string& other_mean, const std::string& other_m2,
                               const std::string& other_count) {
  line(fmt::format("const vector ca = {}, cb = {}, old = {}, old2 = {};", count, other_count, mean, m2));
  if (ir.reductions[r].op == Op::MomentsMerge) {
    line("vector w, aw;");
    open(fmt::format("for (int k = 0; k < {}; ++k)", lanes));
    weights(r, "(tarry_i64)ca[k]", "(tarry_i64)cb[k]", "_k");
    line("w[k] = w_k, aw[k] = aw_k;");
    close();
  } else {
    line("const vector w = cb / (ca + cb), aw = ca * w;");
  }
  moments_merge("vector", mean, m2, other_mean, other_m2);
  line("const places there = (places)(cb > 0);");
  line(fmt::format("{} = {}, {} = {}, {} = ca + cb;", mean, picked("there", mean, "old"), m2,
                   picked("there", m2, "old2"), count));
}

/// The moments of a block of m < 128 elements: steps and merges of all lanes, of which those that are there count.
void StateWriter::moments_rest_function(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const bool merges = reduction.op == Op::MomentsMerge;
  const int lanes = moments_lanes(r), vectors = 32 / lanes;
  const std::string type = accumulator(r);
  open(fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}({1}int m, {2}, {3}* mean, {3}* m2)",
                   kSharedName, weights_parameter(r), inputs(r), type));
  lane_types(r, lanes);
  for (std::size_t x = 0; x < input_count(reduction); ++x) {
    line(fmt::format("{} y{}[32] __attribute__((aligned(64)));", type, x));
    for (int l = 0; l < 32; l += lanes) line(fmt::format("*(vector*)(y{} + {}) = (vector){{}};", x, l));
    open("");
    line("int k = 0;");
    line(fmt::format("for (; k + {0} <= (m & 31); k += {0}) *(vector*)(y{1} + k) = {2};", lanes, x,
                     vector_at(taken(x) + " + (m & -32) + k")));
    line(fmt::format("for (; k < (m & 31); ++k) {{ TARRY_SCALAR; y{0}[k] = {1}[(m & -32) + k]; }}", x, taken(x)));
    close();
  }
  line(fmt::format("const places lane = {{{}}};", list(lanes, [](int l) { return l; })));
  line("const vector one = (vector){} + 1;");
  line(fmt::format("vector a[{0}], b[{0}], c[{0}];", vectors));
  open(fmt::format("for (int k = 0, l = 0; l < 32; ++k, l += {})", lanes));
  const auto part = [&](std::size_t x) {
    return vector_at(fmt::format("(at + 32 <= m ? {} + at : y{}) + l", taken(x), x));
  };
  line("int at = 0;");
  line(fmt::format("vector to = {}, to2 = {}, count = (vector)((places)one & (lane + l < m));", part(0),
                   merges ? part(1) : "{}"));
  open("for (int step = 2; step <= 4; ++step)");
  line("at += 32;");
  line("const places there = lane + (at + l) < m;");
  line(fmt::format("const vector x = {}, old = to, old2 = to2;", part(0)));
  moments_step_constants(r, "(tarry_i64)step");
  moments_step(r, "vector", "to", "to2", "x", part(1));
  line(fmt::format("to = {}, to2 = {};", picked("there", "to", "old"), picked("there", "to2", "old2")));
  line("count += (vector)((places)one & there);");
  close();
  line("a[k] = to, b[k] = to2, c[k] = count;");
  close();
  open(fmt::format("for (int h = {}; h > 0; h /= 2)", vectors / 2));
  open("for (int k = 0; k < h; ++k)");
  moments_meet(r, lanes, "a[k]", "b[k]", "c[k]", "a[k + h]", "b[k + h]", "c[k + h]");
  close();
  close();
  line("vector to = a[0], to2 = b[0], count = c[0];");
  open(fmt::format("for (int h = {}; h > 0; h /= 2)", lanes / 2));
  line("const places upper = lane ^ h;");
  line(
      "const vector other = TARRY_LANES(to, upper), other2 = TARRY_LANES(to2, upper), others = TARRY_LANES(count, "
      "upper);");
  moments_meet(r, lanes, "to", "to2", "count", "other", "other2", "others");
  close();
  line("*mean = to[0], *m2 = to2[0];");
  close();
}

}  // namespace tarry::codegen
