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

std::string_view output_field(const Reduction& r, std::uint32_t output) {
  if (is_moments(r)) return output == 0 ? "mean" : "m2";
  return graph::is_arg_reduce(r.op) ? "index" : "value";
}

std::vector<std::uint32_t> StateWriter::reductions() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t r = 0; r < ir.reductions.size(); ++r)
    if (ir.reductions[r].stage == stage_) found.push_back(r);
  return found;
}

std::string StateWriter::state_type() const {
  return fmt::format("struct {}_state{}", kEntryName, ir.is_row() ? std::to_string(stage_) : std::string());
}

std::string StateWriter::at(std::string_view state, std::uint32_t r, std::string_view field) const {
  return fmt::format("{}->{}[j]", state, part(r, field));
}

void StateWriter::open_tile() {
  if (tile_ > 1) {
    open_loop("j", "0", "m");
  } else {
    open("");
    line("enum { j = 0 };");
  }
}

void StateWriter::declare_states() {
  for (const std::uint32_t r : reductions())
    if (ir.reductions[r].op == Op::Moments) reciprocals(r);
  open(state_type());
  line("tarry_i64 count;");
  for (const StateField& f : state_fields(ir))
    if (ir.reductions[f.reduction].stage == stage_) line(fmt::format("{} {}[{}];", c_type(f.dtype), part(f.reduction, f.part), tile_));
  close(";");
  merge();
}

/// That the value `a` goes before `b` whatever their places: smaller (larger), or the only NaN of the two.
std::string StateWriter::beats(std::uint32_t r, const std::string& a, const std::string& b) const {
  const Reduction& reduction = ir.reductions[r];
  const std::string order = fmt::format("({} {} {})", a, reduction.op == Op::ArgMin ? "<" : ">", b);
  if (!is_floating(reduction.dtype)) return order;
  return fmt::format("({0} | (({1} != {1}) & ({2} == {2})))", order, a, b);
}

/// That place alone decides between `a` and `b`.
std::string StateWriter::ties(std::uint32_t r, const std::string& a, const std::string& b) const {
  if (!is_floating(ir.reductions[r].dtype)) return fmt::format("({} == {})", a, b);
  return fmt::format("(({0} == {1}) | (({0} != {0}) & ({1} != {1})))", a, b);
}

void StateWriter::merge_part(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  if (is_moments(reduction)) {
    const std::string mean = part(r, "mean"), m2 = part(r, "m2");
    open("");
    line(fmt::format("const {0} w = ({0})({1}) / ({0})({2});", type, weighted(r, "b->count"), weighted(r, "(a->count + b->count)")));
    line(fmt::format("const {0} aw = ({0})({1}) * w;", type, weighted(r, "a->count")));
    open_tile();
    line(fmt::format("const {} d = b->{}[j] - a->{}[j];", type, mean, mean));
    line(fmt::format("a->{0}[j] = a->{0}[j] + d * w;", mean));
    line(fmt::format("a->{0}[j] = (a->{0}[j] + b->{0}[j]) + (d * d) * aw;", m2));
    close();
    close();
    return;
  }
  const std::string a = at("a", r, "value"), b = at("b", r, "value");
  open_tile();
  if (is_arg(r)) {
    const std::string i = at("a", r, "index"), k = at("b", r, "index");
    line(fmt::format("const {0} u = {1}, v = {2};", type, a, b));
    line(fmt::format("const int better = {} | ({} & ({} < {}));", beats(r, "v", "u"), ties(r, "v", "u"), k, i));
    line(fmt::format("{} = better ? v : u;", a));
    line(fmt::format("{0} = better ? {1} : {0};", i, k));
  } else {
    line(fmt::format("{} = {};", a, expressions.combine(reduction, a, b)));
  }
  close();
}

void StateWriter::merge() {
  open(fmt::format("static void {0}_merge{1}(const struct {0}_params* p, {2}{3}* a, const {3}* b)", kEntryName, stage_,
                   tile_ > 1 ? "tarry_i64 m, " : "", state_type()));
  line("(void)p;");
  line("if (b->count == 0) return;");
  for (const std::uint32_t r : reductions()) merge_part(r);
  line("a->count += b->count;");
  close();
}

void StateWriter::clear(std::string_view state) {
  line(fmt::format("{}->count = 0;", state));
  open_tile();
  for (const StateField& f : state_fields(ir))
    if (ir.reductions[f.reduction].stage == stage_)
      line(fmt::format("{} = {};", at(state, f.reduction, f.part), ir.reductions[f.reduction].op == Op::Prod ? "1" : "0"));
  close();
}

void StateWriter::push(std::string_view leaf) {
  line("++depth;");
  open(fmt::format("for (tarry_i64 t = {}; t & 1; t >>= 1, --depth)", leaf));
  line(fmt::format("{}_merge{}(p, {}stack + depth - 2, stack + depth - 1);", kEntryName, stage_, tile_ > 1 ? "m, " : ""));
  close();
}

void StateWriter::fold_stack() {
  line(fmt::format("for (; depth > 1; --depth) {}_merge{}(p, {}stack + depth - 2, stack + depth - 1);", kEntryName, stage_,
                   tile_ > 1 ? "m, " : ""));
}

void StateWriter::segment() {
  const auto call = [&](std::string_view function, std::string_view m) {
    for (const std::uint32_t r : reductions()) {
      std::string text = fmt::format("{}_{}{}(p, {}, k + i, top", kEntryName, function, r, m);
      for (std::size_t x = 0; x < input_count(ir.reductions[r]); ++x) text += fmt::format(", {} + i", input(r, x));
      line(text + ");");
    }
  };
  open("for (tarry_i64 i = 0; i < length; i += 128, ++leaf)");
  line("const tarry_i64 m = length - i < 128 ? length - i : 128;");
  line(fmt::format("{}* const top = stack + depth;", state_type()));
  line("top->count = m;");
  open("if (m == 128)");
  call("block", "128");
  close();
  open(fmt::format("else if (n > {})", kSerial));
  call("short_block", "m");
  close();
  open("else");
  call("serial", "m");
  close();
  push("leaf");
  close();
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
  const std::string top = at("top", r, is_moments(reduction) ? "mean" : "value"), m2 = at("top", r, "m2");
  const std::string index = at("top", r, "index"), x = input(r, 0) + "[j]";
  open("if (step == 1)");
  open_loop("j", "0", "m");
  line(fmt::format("{} = {};", top, x));
  if (is_arg(r)) line(fmt::format("{} = k;", index));
  if (reduction.op == Op::Moments) line(fmt::format("{} = 0;", m2));
  if (reduction.op == Op::MomentsMerge) line(fmt::format("{} = {}[j];", m2, input(r, 1)));
  close();
  close();
  open("else");
  if (is_moments(reduction)) moments_step_constants(r, "step");
  open_loop("j", "0", "m");
  if (is_moments(reduction)) {
    moments_step(r, top, m2, "j");
  } else if (is_arg(r)) {
    // Elements of a lane come in increasing order, so an equal one is too late.
    line(fmt::format("const {0} u = {1}, v = {2};", accumulator(r), top, x));
    line(fmt::format("const int better = {};", beats(r, "v", "u")));
    line(fmt::format("{} = better ? v : u;", top));
    line(fmt::format("{0} = better ? k : {0};", index));
  } else {
    line(fmt::format("{} = {};", top, expressions.combine(reduction, top, x)));
  }
  close();
  close();
}

void StateWriter::line_functions() {
  for (const std::uint32_t r : reductions()) {
    const Reduction& reduction = ir.reductions[r];
    std::string types = fmt::format("const struct {}_params* p, tarry_i64 m, tarry_i64 k0, {}* top", kEntryName, state_type());
    std::string names = "p, m, k0, top";
    for (std::size_t x = 0; x < input_count(reduction); ++x) {
      types += fmt::format(", const {}* {}", accumulator(r), input(r, x));
      names += ", " + input(r, x);
    }
    serial_function(r, types);
    // With m the constant 128 every loop below has a constant trip count and becomes vector code; a short block is rare.
    open(fmt::format("static inline __attribute__((always_inline)) void {}_block{}({})", kEntryName, r, types));
    line("(void)p, (void)k0;");
    if (is_moments(reduction)) moments_tree_function(r);
    else tree_function(r);
    close();
    line(fmt::format("static __attribute__((noinline)) void {0}_short_block{1}({2}) {{ {0}_block{1}({3}); }}", kEntryName, r, types, names));
  }
}

void StateWriter::serial_function(std::uint32_t r, const std::string& arguments) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  open(fmt::format("static __attribute__((cold, noinline)) void {}_serial{}({})", kEntryName, r, arguments));
  line("(void)p, (void)k0;");
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
    if (is_arg(r)) find_index(r, "value");
  }
  close();
}

/// The first of m inputs that is `value`, which is the best of them.
void StateWriter::find_index(std::uint32_t r, std::string_view value) {
  line("int found = 128;");
  open("for (int l = 0; l < (int)m; ++l)");
  line(fmt::format("const int place = {} ? l : 128;", ties(r, input(r, 0) + "[l]", std::string(value))));
  line("found = place < found ? place : found;");
  close();
  line(fmt::format("top->{}[0] = k0 + found;", part(r, "index")));
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
  if (is_arg(r)) find_index(r, "lane[0]");
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
