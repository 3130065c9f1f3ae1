// C kernels: the states of a kernel's reductions, how they take elements and merge.
#include "codegen/render_c_states.h"

#include <fmt/format.h>

namespace tarry::codegen {

std::string StateWriter::weighted(std::uint32_t r, std::string_view count) const {
  const Reduction& reduction = ir.reductions[r];
  if (reduction.op == Op::Moments) return std::string(count);
  return fmt::format("{} * p->{}", count, slot_name({SlotKind::Scalar, reduction.weight}));
}

/// 1 / k for the k-th step of a lane, as constants.
void StateWriter::reciprocals(std::uint32_t r) {
  std::string text = fmt::format("static const {} {}_reciprocal{}[{}] = {{0, 1", accumulator(r), kEntryName, r, kSerial + 1);
  for (int k = 2; k <= kSerial; ++k) text += ", " + float_literal(ir.reductions[r].dtype, 1.0 / k);
  line(text + "};");
}

void StateWriter::declare_states() {
  for (std::uint32_t r = 0; r < ir.reductions.size(); ++r)
    if (ir.reductions[r].op == Op::Moments) reciprocals(r);
  open(fmt::format("struct {}_state", kEntryName));
  line("tarry_i64 count;");
  for (const StateField& f : state_fields(ir)) line(fmt::format("{} {}[{}];", c_type(f.dtype), part(f.reduction, f.part), reduce_tile(ir)));
  close(";");
  merge();
}

void StateWriter::merge_part(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  if (!is_moments(reduction)) {
    open_loop("j", "0", "m");
    const std::string value = part(r, "value");
    line(fmt::format("a->{0}[j] = {1};", value,
                     expressions.combine(reduction, fmt::format("a->{}[j]", value), fmt::format("b->{}[j]", value))));
    close();
    return;
  }
  const std::string mean = part(r, "mean"), m2 = part(r, "m2");
  open("");
  line(fmt::format("const {0} w = ({0})({1}) / ({0})({2});", type, weighted(r, "b->count"), weighted(r, "(a->count + b->count)")));
  line(fmt::format("const {0} aw = ({0})({1}) * w;", type, weighted(r, "a->count")));
  open_loop("j", "0", "m");
  line(fmt::format("const {} d = b->{}[j] - a->{}[j];", type, mean, mean));
  line(fmt::format("a->{0}[j] = a->{0}[j] + d * w;", mean));
  line(fmt::format("a->{0}[j] = (a->{0}[j] + b->{0}[j]) + (d * d) * aw;", m2));
  close();
  close();
}

void StateWriter::merge() {
  open(fmt::format("static void {0}_merge(const struct {0}_params* p, tarry_i64 m, struct {0}_state* a, const struct {0}_state* b)", kEntryName));
  line("(void)p;");
  line("if (b->count == 0) return;");
  for (std::uint32_t r = 0; r < ir.reductions.size(); ++r) merge_part(r);
  line("a->count += b->count;");
  close();
}

void StateWriter::clear(std::string_view state, std::string_view extent) {
  line(fmt::format("{}->count = 0;", state));
  for (const StateField& f : state_fields(ir))
    line(fmt::format("for (tarry_i64 j = 0; j < {}; ++j) {}->{}[j] = 0;", extent, state, part(f.reduction, f.part)));
}

void StateWriter::push(std::string_view leaf) {
  line("++depth;");
  open(fmt::format("for (tarry_i64 t = {}; t & 1; t >>= 1, --depth)", leaf));
  line(fmt::format("{}_merge(p, {}, stack + depth - 2, stack + depth - 1);", kEntryName, inner() ? "1" : "m"));
  close();
}

void StateWriter::fold_stack() {
  line(fmt::format("for (; depth > 1; --depth) {}_merge(p, {}, stack + depth - 2, stack + depth - 1);", kEntryName, inner() ? "1" : "m"));
}

/// Constants of a lane's k-th step (k >= 2): the reciprocal, or the weights of Chan's rule.
void StateWriter::moments_step_constants(std::uint32_t r, std::string_view k) {
  const std::string type = accumulator(r);
  if (ir.reductions[r].op == Op::Moments) {
    line(fmt::format("const {} w = {}_reciprocal{}[{}];", type, kEntryName, r, k));
    return;
  }
  line(fmt::format("const {0} w = ({0})({1}) / ({0})({2});", type, weighted(r, "(tarry_i64)1"), weighted(r, k)));
  line(fmt::format("const {0} aw = ({0})({1}) * w;", type, weighted(r, fmt::format("({} - 1)", k))));
}

void StateWriter::moments_step(std::uint32_t r, const std::string& mean, const std::string& m2, const std::string& i) {
  const std::string x = fmt::format("{}[{}]", input(r, 0), i);
  line(fmt::format("const {} d = {} - {};", accumulator(r), x, mean));
  line(fmt::format("{0} = {0} + d * w;", mean));
  if (ir.reductions[r].op == Op::Moments) line(fmt::format("{0} = {0} + d * ({1} - {2});", m2, x, mean));
  else line(fmt::format("{0} = ({0} + {1}[{2}]) + (d * d) * aw;", m2, input(r, 1), i));
}

void StateWriter::leaf_step(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string value = part(r, is_moments(reduction) ? "mean" : "value"), m2 = part(r, "m2");
  const std::string top = fmt::format("top->{}[j]", value);
  open("if (step == 1)");
  open_loop("j", "0", "m");
  line(fmt::format("{} = {}[j];", top, input(r, 0)));
  if (reduction.op == Op::Moments) line(fmt::format("top->{}[j] = 0;", m2));
  if (reduction.op == Op::MomentsMerge) line(fmt::format("top->{}[j] = {}[j];", m2, input(r, 1)));
  close();
  close();
  open("else");
  if (is_moments(reduction)) moments_step_constants(r, "step");
  open_loop("j", "0", "m");
  if (is_moments(reduction)) moments_step(r, top, fmt::format("top->{}[j]", m2), "j");
  else line(fmt::format("{} = {};", top, expressions.combine(reduction, top, input(r, 0) + "[j]")));
  close();
  close();
}

void StateWriter::line_functions(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  std::string arguments = fmt::format("const struct {0}_params* p, tarry_i64 m, struct {0}_state* top", kEntryName);
  for (std::size_t k = 0; k < input_count(reduction); ++k) arguments += fmt::format(", const {}* {}", accumulator(r), input(r, k));
  open(fmt::format("static void {}_serial{}({})", kEntryName, r, arguments));
  line("(void)p;");
  const std::string type = accumulator(r);
  if (is_moments(reduction)) {
    line(fmt::format("{} mean = {}[0], m2 = {};", type, input(r, 0), reduction.op == Op::Moments ? "0" : input(r, 1) + "[0]"));
    open("for (tarry_i64 k = 1; k < m; ++k)");
    moments_step_constants(r, "(k + 1)");
    moments_step(r, "mean", "m2", "k");
    close();
    line(fmt::format("top->{}[0] = mean;", part(r, "mean")));
    line(fmt::format("top->{}[0] = m2;", part(r, "m2")));
  } else {
    line(fmt::format("{} value = {}[0];", type, input(r, 0)));
    line(fmt::format("for (tarry_i64 k = 1; k < m; ++k) value = {};", expressions.combine(reduction, "value", input(r, 0) + "[k]")));
    line(fmt::format("top->{}[0] = value;", part(r, "value")));
  }
  close();
  // Inlined twice: with m the constant 128 every loop below has a constant trip count and becomes vector code.
  open(fmt::format("static inline __attribute__((always_inline)) void {}_block{}({})", kEntryName, r, arguments));
  line("(void)p;");
  if (is_moments(reduction)) moments_tree_function(r);
  else tree_function(r);
  close();
}

void StateWriter::tree_function(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string x = input(r, 0);
  line(fmt::format("{} lane[32];", accumulator(r)));
  open("if (m >= 32)");
  line(fmt::format("for (int l = 0; l < 32; ++l) lane[l] = {}[l];", x));
  line("tarry_i64 k = 32;");
  open("for (; k + 32 <= m; k += 32)");
  line(fmt::format("for (int l = 0; l < 32; ++l) lane[l] = {};", expressions.combine(reduction, "lane[l]", x + "[k + l]")));
  close();
  line(fmt::format("for (tarry_i64 l = 0; l < m - k; ++l) lane[l] = {};", expressions.combine(reduction, "lane[l]", x + "[k + l]")));
  for (int d = 16; d >= 1; d /= 2)
    line(fmt::format("for (int l = 0; l < {0}; ++l) lane[l] = {1};", d,
                     expressions.combine(reduction, "lane[l]", fmt::format("lane[l + {}]", d))));
  close();
  open("else");
  line(fmt::format("for (tarry_i64 l = 0; l < m; ++l) lane[l] = {}[l];", x));
  open("for (tarry_i64 d = 16; d; d >>= 1)");
  line(fmt::format("for (tarry_i64 l = 0; l < d && l + d < m; ++l) lane[l] = {};", expressions.combine(reduction, "lane[l]", "lane[l + d]")));
  close();
  close();
  line(fmt::format("top->{}[0] = lane[0];", part(r, "value")));
}

void StateWriter::moments_tree_function(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r), x = input(r, 0);
  const std::string m2 = reduction.op == Op::Moments ? "0" : input(r, 1) + "[l]";
  line(fmt::format("{} mean[32], m2[32];", type));
  line("const tarry_i64 lanes = m < 32 ? m : 32;");
  line(fmt::format("for (tarry_i64 l = 0; l < lanes; ++l) mean[l] = {}[l], m2[l] = {};", x, m2));
  line("tarry_i64 k = 32, steps = 1;");
  const auto steps = [&](std::string_view extent) {
    moments_step_constants(r, "(steps + 1)");
    open(fmt::format("for (tarry_i64 l = 0; l < {}; ++l)", extent));
    moments_step(r, "mean[l]", "m2[l]", "k + l");
    close();
  };
  const auto merge_lanes = [&] {
    line(fmt::format("const {} e = mean[l + d] - mean[l];", type));
    line("mean[l] = mean[l] + e * w;");
    line("m2[l] = (m2[l] + m2[l + d]) + (e * e) * aw;");
  };
  open("for (; k + 32 <= m; k += 32, ++steps)");
  steps("32");
  close();
  open("if (k == m)");
  line("tarry_i64 count = steps;");
  for (int d = 16; d >= 1; d /= 2) {
    open("");
    line(fmt::format("const {0} w = ({0})({1}) / ({0})({2}), aw = ({0})({1}) * w;", type, weighted(r, "count"), weighted(r, "(2 * count)")));
    line("count *= 2;");
    line(fmt::format("enum {{ d = {} }};", d));
    open("for (int l = 0; l < d; ++l)");
    merge_lanes();
    close();
    close();
  }
  close();
  open("else");
  line("tarry_i64 count[32];");
  line("for (tarry_i64 l = 0; l < lanes; ++l) count[l] = steps + (l < m - k);");
  open("if (k < m)");
  steps("m - k");
  close();
  open("for (tarry_i64 d = 16; d; d >>= 1)");
  open("for (tarry_i64 l = 0; l < d && l + d < lanes; ++l)");
  line(fmt::format("const {0} w = ({0})({1}) / ({0})({2}), aw = ({0})({3}) * w;", type, weighted(r, "count[l + d]"),
                   weighted(r, "(count[l] + count[l + d])"), weighted(r, "count[l]")));
  merge_lanes();
  line("count[l] += count[l + d];");
  close();
  close();
  close();
  line(fmt::format("top->{}[0] = mean[0];", part(r, "mean")));
  line(fmt::format("top->{}[0] = m2[0];", part(r, "m2")));
}

}  // namespace tarry::codegen
