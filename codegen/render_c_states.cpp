// C kernels: the states of a kernel's reductions, how they take elements and merge.
#include "codegen/render_c_states.h"

#include <algorithm>
#include <utility>

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

/// At most sixteen blocks, or eight where the values of that many points would take much of a small stack.
int StateWriter::segment_blocks() const {
  constexpr std::size_t kBytes = 16;  // of the inputs of a point
  std::size_t bytes = 0;
  for (const Reduction& r : ir.reductions) bytes += input_count(r) * itemsize(r.dtype);
  return std::min(most_blocks_, bytes <= kBytes ? 16 : 8);
}

/// Min, max and their places of float32 and float64.
bool StateWriter::is_extreme(std::uint32_t r) const {
  const Reduction& reduction = ir.reductions[r];
  return (reduction.op == Op::Min || reduction.op == Op::Max || is_arg(r)) &&
         (reduction.dtype == Dtype::Float32 || reduction.dtype == Dtype::Float64);
}

std::vector<std::string_view> StateWriter::block_fields(std::uint32_t r) const {
  if (is_moments(ir.reductions[r])) return {"mean", "m2"};
  return {"value"};
}

std::vector<std::uint32_t> StateWriter::reductions() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t r = 0; r < ir.reductions.size(); ++r)
    if (ir.reductions[r].stage == stage_) found.push_back(r);
  return found;
}

std::string StateWriter::state_type() const {
  return fmt::format("struct {}_state{}", kEntryName, ir.is_row() || ir.is_crossed() ? std::to_string(stage_) : std::string());
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

void StateWriter::copy(std::string_view to, std::string_view from) {
  line(fmt::format("{}->count = {}->count;", to, from));
  open_tile();
  for (const StateField& f : state_fields(ir))
    if (ir.reductions[f.reduction].stage == stage_) line(fmt::format("{} = {};", at(to, f.reduction, f.part), at(from, f.reduction, f.part)));
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

void StateWriter::segment(std::string_view start) {
  const int blocks = segment_blocks();
  line("const tarry_i64 whole = length / 128;");
  const auto inputs = [&](std::uint32_t r, std::string_view offset) {
    std::string text;
    for (std::size_t x = 0; x < input_count(ir.reductions[r]); ++x) text += ", " + sum_text(input(r, x), std::string(offset));
    return text;
  };
  for (const std::uint32_t r : reductions()) {
    std::string fields;
    for (const std::string_view field : block_fields(r)) {
      line(fmt::format("{} {}[{}];", accumulator(r), block(r, field), blocks));
      fields += ", " + block(r, field);
    }
    line(fmt::format("if (whole > 0) {}_blocks{}(p, whole{}{});", kEntryName, r, inputs(r, "0"), fields));
  }
  const auto put = [&](std::uint32_t r, std::string_view node, std::string_view leaf) {
    for (const std::string_view field : block_fields(r))
      line(fmt::format("top->{}[0] = {}[{}];", part(r, field), block(r, field), node));
    if (is_arg(r))
      line(fmt::format("top->{0}[0] = k + {1} * 128 + {2}_find{3}({4} + {1} * 128, 128, {5}[{6}]);", part(r, "index"), leaf, kEntryName,
                       r, input(r, 0), block(r, "value"), node));
  };
  open(fmt::format("if (whole == {})", blocks));
  line(fmt::format("{}* const top = stack + depth;", state_type()));
  line(fmt::format("top->count = {};", blocks * 128));
  for (const std::uint32_t r : reductions()) {
    open("");
    if (is_arg(r)) {  // the place: the first block that holds the extreme, and there
      line(fmt::format("{} all[{}];", accumulator(r), blocks));
      line(fmt::format("for (int i = 0; i < {}; ++i) all[i] = {}[i];", blocks, block(r, "value")));
    }
    for (int nodes = blocks / 2; nodes > 0; nodes /= 2) combine_blocks(r, nodes, 128 * blocks / (2 * nodes));
    if (is_arg(r)) {
      line("tarry_i64 winner = 0;");
      line(fmt::format("while (winner < {} && !{}) ++winner;", blocks - 1, ties(r, "all[winner]", block(r, "value") + "[0]")));
    }
    put(r, "0", "winner");
    close();
  }
  push(fmt::format("{} / {}", start.empty() ? std::string("k") : fmt::format("(k - {})", start), blocks * 128));
  close();
  open("else");
  line("tarry_i64 leaf = 0;");
  open("for (; leaf < whole; ++leaf)");
  line(fmt::format("{}* const top = stack + depth;", state_type()));
  line("top->count = 128;");
  for (const std::uint32_t r : reductions()) put(r, "leaf", "leaf");
  push("leaf");
  close();
  open("if (length > whole * 128)");
  line(fmt::format("{}* const top = stack + depth;", state_type()));
  line("top->count = length - whole * 128;");
  for (const auto& [condition, function] : {std::pair(fmt::format("if (n > {})", kSerial), "rest"), std::pair(std::string("else"), "serial")}) {
    open(condition);
    for (const std::uint32_t r : reductions())
      line(fmt::format("{}_{}{}(p, length - whole * 128, k + whole * 128, top{});", kEntryName, function, r, inputs(r, "whole * 128")));
    close();
  }
  push("leaf");
  close();
  close();
}

/// Neighbouring nodes of `size` elements each: 2 * nodes become `nodes`.
void StateWriter::combine_blocks(std::uint32_t r, int nodes, int size) {
  open("");
  if (is_moments(ir.reductions[r])) even_weights(r, size);
  open(fmt::format("for (int i = 0; i < {}; ++i)", nodes));
  if (is_moments(ir.reductions[r])) {
    const std::string mean = block(r, "mean"), m2 = block(r, "m2");
    line(fmt::format("const {0} e = {1}[2 * i + 1] - {1}[2 * i];", accumulator(r), mean));
    line(fmt::format("{0}[i] = {0}[2 * i] + e * w;", mean));
    line(fmt::format("{0}[i] = ({0}[2 * i] + {0}[2 * i + 1]) + (e * e) * aw;", m2));
  } else {
    const std::string value = block(r, "value");
    line(fmt::format("{}[i] = {};", value, expressions.combine(ir.reductions[r], value + "[2 * i]", value + "[2 * i + 1]")));
  }
  close();
  close();
}

/// The weights of Chan's rule where both sides stand for `count` elements.
void StateWriter::even_weights(std::uint32_t r, int count) {
  line(fmt::format("const {0} w = ({0})({1}) / ({0})({2}), aw = ({0})({1}) * w;", accumulator(r),
                   weighted(r, fmt::format("(tarry_i64){}", count)), weighted(r, fmt::format("(tarry_i64){}", 2 * count))));
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

void StateWriter::full_lane(std::uint32_t r) {
  constexpr int kSteps = 4;
  const Reduction& reduction = ir.reductions[r];
  const std::string x = input(r, 0), type = accumulator(r);
  open_loop("j", "0", "m");
  if (is_moments(reduction)) {
    line(fmt::format("{} mean = {}[j], m2 = 0;", type, x));
    for (int step = 2; step <= kSteps; ++step) {
      open("");
      line(fmt::format("const {} w = {};", type, float_literal(reduction.dtype, 1.0 / step)));
      moments_step(r, "mean", "m2", fmt::format("j + {} * h", step - 1));
      close();
    }
    line(fmt::format("top->{}[j] = mean;", part(r, "mean")));
    line(fmt::format("top->{}[j] = m2;", part(r, "m2")));
  } else {
    line(fmt::format("{} value = {}[j];", type, x));
    for (int step = 2; step <= kSteps; ++step)
      line(fmt::format("value = {};", expressions.combine(reduction, "value", fmt::format("{}[j + {} * h]", x, step - 1))));
    line(fmt::format("top->{}[j] = value;", part(r, "value")));
  }
  close();
}

void StateWriter::line_functions(const std::function<bool(Value)>& in_place) {
  for (const std::uint32_t r : reductions()) {
    const Reduction& reduction = ir.reductions[r];
    std::string inputs;
    for (std::size_t x = 0; x < input_count(reduction); ++x) inputs += fmt::format(", const {}* {}", accumulator(r), input(r, x));
    if (is_arg(r)) find_function(r);
    const std::string arguments =
        fmt::format("const struct {}_params* p, tarry_i64 m, tarry_i64 k0, {}* top{}", kEntryName, state_type(), inputs);
    serial_function(r, arguments);
    open(fmt::format("static __attribute__((noinline)) void {}_rest{}({})", kEntryName, r, arguments));
    line("(void)p, (void)k0;");
    if (is_moments(reduction)) moments_tree_function(r);
    else tree_function(r);
    close();
    std::string outputs;
    for (const std::string_view field : block_fields(r)) outputs += fmt::format(", {}* {}", accumulator(r), block(r, field));
    const std::string many = fmt::format("const struct {}_params* p, tarry_i64 count{}{}", kEntryName, inputs, outputs);
    if (is_moments(reduction)) {
      moments_blocks_function(r, many);
    } else if (is_extreme(r)) {
      extreme_blocks_function(r, many, in_place(reduction.args[0]));
    } else {
      blocks_function(r, many);
    }
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
    if (is_arg(r)) line(fmt::format("top->{}[0] = k0 + {}_find{}({}, m, value);", part(r, "index"), kEntryName, r, input(r, 0)));
  }
  close();
}

/// The place of the first of m elements that is `value`, which is the best of them.
void StateWriter::find_function(std::uint32_t r) {
  const std::string found = ties(r, "x[k + l]", "value");
  open(fmt::format("static __attribute__((noinline)) tarry_i64 {0}_find{1}(const {2}* x, tarry_i64 m, {2} value)", kEntryName, r, accumulator(r)));
  open("for (tarry_i64 k = 0; k < m; k += 32)");
  open("if (m - k > 32)");
  line("int any = 0;");
  line(fmt::format("for (int l = 0; l < 32; ++l) any |= {};", found));
  line("if (!any) continue;");
  close();
  line(fmt::format("for (tarry_i64 l = 0; l < m - k; ++l) if ({}) return k + l;", found));
  close();
  line("return 0;");
  close();
}

/// The levels of tree R inside blocks, of all blocks at once: flat loops, so that lanes of several blocks share a vector.
/// `meet` writes element `to` of a level from elements `low` and `high` of the level before; the last level is `out`.
void StateWriter::levels(const std::function<void(int d, const std::string& from, const std::string& to)>& meet) {
  std::string from = "a", to = "b";
  for (int d = 16; d > 0; d /= 2) {
    open("");
    meet(d, from, d == 1 ? "out" : to);
    close();
    std::swap(from, to);
  }
}

/// The nodes of `count` whole blocks that lie one behind the other.
void StateWriter::blocks_function(std::uint32_t r, const std::string& arguments) {
  const Reduction& reduction = ir.reductions[r];
  const int blocks = segment_blocks();
  const std::string type = accumulator(r);
  open(fmt::format("static __attribute__((noinline)) void {}_blocks{}({})", kEntryName, r, arguments));
  line("(void)p;");
  line(fmt::format("{} a[{}], b[{}], * const out = {};", type, 32 * blocks, 16 * blocks, block(r, "value")));
  open("for (tarry_i64 q = 0; q < count; ++q)");
  line(fmt::format("const {}* const y = {} + q * 128;", type, input(r, 0)));
  open("for (int l = 0; l < 32; ++l)");
  line(fmt::format("{} s = y[l];", type));
  for (int k = 32; k < 128; k += 32) line(fmt::format("s = {};", expressions.combine(reduction, "s", fmt::format("y[l + {}]", k))));
  line("a[q * 32 + l] = s;");
  close();
  close();
  line(fmt::format("for (tarry_i64 l = count * 32; l < {}; ++l) a[l] = 0;", 32 * blocks));
  levels([&](int d, const std::string& from, const std::string& to) {
    line(fmt::format("for (int i = 0; i < {}; ++i) for (int l = 0; l < {}; ++l) {}[i * {} + l] = {};", blocks, d, to, d,
                     expressions.combine(reduction, fmt::format("{}[i * {} + l]", from, 2 * d), fmt::format("{}[i * {} + {} + l]", from, 2 * d, d))));
  });
  close();
}

/// The same for extremes of floats. These are in any order the same but for NaNs and the signs of zeros: a plain comparison
/// finds them, and a block is looked at again where a NaN was among them or its extreme is a zero.
void StateWriter::extreme_blocks_function(std::uint32_t r, const std::string& arguments, bool in_place) {
  const Reduction& reduction = ir.reductions[r];
  const int blocks = segment_blocks();
  const std::string type = accumulator(r), x = input(r, 0), flag = reduction.dtype == Dtype::Float64 ? "tarry_i64" : "int";
  const bool least = reduction.op == Op::Min || reduction.op == Op::ArgMin;
  const char* const order = least ? "<" : ">";
  const std::string suffix(info(reduction.dtype).suffix), sign = reduction.dtype == Dtype::Float64 ? "0x8000000000000000ull" : "0x80000000u";
  const auto better = [&](const std::string& a, const std::string& b) { return fmt::format("{1} {2} {0} ? {1} : {0}", a, b, order); };
  open(fmt::format("static __attribute__((noinline)) void {}_blocks{}({})", kEntryName, r, arguments));
  line(fmt::format("{} a[{}], b[{}], * const out = {};", type, 32 * blocks, 16 * blocks, block(r, "value")));
  line(fmt::format("{} unordered[32];", flag));
  line("for (int l = 0; l < 32; ++l) unordered[l] = 0;");
  open("for (tarry_i64 q = 0; q < count; ++q)");
  line(fmt::format("const {}* const y = {} + q * 128;", type, x));
  if (in_place)  // more instructions a line than keep enough lines under way: the next run is asked for
    line(fmt::format("for (int l = 0; l < 128; l += {}) __builtin_prefetch(y + {} + l);", kLine / itemsize(reduction.dtype), segment_length()));
  open("for (int l = 0; l < 32; ++l)");
  line(fmt::format("const {0} x0 = y[l], x1 = y[l + 32], x2 = y[l + 64], x3 = y[l + 96];", type));
  line(fmt::format("const {} u = {}, v = {};", type, better("x0", "x1"), better("x2", "x3")));
  line(fmt::format("a[q * 32 + l] = {};", better("u", "v")));
  line("unordered[l] |= __builtin_isunordered(x0, x1) | __builtin_isunordered(x2, x3);");
  close();
  close();
  line(fmt::format("for (tarry_i64 l = count * 32; l < {}; ++l) a[l] = 0;", 32 * blocks));
  levels([&](int d, const std::string& from, const std::string& to) {
    line(fmt::format("for (int i = 0; i < {}; ++i) for (int l = 0; l < {}; ++l) {}[i * {} + l] = {};", blocks, d, to, d,
                     better(fmt::format("{}[i * {} + l]", from, 2 * d), fmt::format("{}[i * {} + {} + l]", from, 2 * d, d))));
  });
  line("int odd = 0;");
  line("for (int l = 0; l < 32; ++l) odd |= unordered[l] != 0;");
  open("for (tarry_i64 q = 0; q < count; ++q)");
  line("if (!odd && out[q] != 0) continue;");
  line(fmt::format("const {}* const y = {} + q * 128;", type, x));
  line(fmt::format("{} is_nan = 0, wins = 0;", flag));  // zeros of the sign that wins
  line(fmt::format("for (int l = 0; l < 128; ++l) is_nan |= y[l] != y[l], wins |= tarry_bits_{}(y[l]) == {};", suffix,
                   least ? sign : std::string("0")));
  line(fmt::format("if (out[q] == 0) out[q] = tarry_from_bits_{}(wins {} 0 ? {} : 0);", suffix, least ? "!=" : "==", sign));
  line("if (is_nan) out[q] = __builtin_nanf(\"\");");
  close();
  close();
}

void StateWriter::moments_blocks_function(std::uint32_t r, const std::string& arguments) {
  const int blocks = segment_blocks();
  const std::string type = accumulator(r);
  open(fmt::format("static __attribute__((noinline)) void {}_blocks{}({})", kEntryName, r, arguments));
  line("(void)p;");
  line(fmt::format("{0} a[{1}], b[{2}], a2[{1}], b2[{2}], * const out = {3}, * const out2 = {4};", type, 32 * blocks, 16 * blocks,
                   block(r, "mean"), block(r, "m2")));
  open("for (tarry_i64 q = 0; q < count; ++q)");
  line(fmt::format("{0} *const mean = a + q * 32, *const m2 = a2 + q * 32;", type));
  line(fmt::format("for (int l = 0; l < 32; ++l) mean[l] = {}[q * 128 + l], m2[l] = {};", input(r, 0),
                   ir.reductions[r].op == Op::MomentsMerge ? input(r, 1) + "[q * 128 + l]" : "0"));
  for (int step = 2; step <= 4; ++step) {
    open("");
    moments_step_constants(r, fmt::format("(tarry_i64){}", step));
    open("for (int l = 0; l < 32; ++l)");
    moments_step(r, "mean[l]", "m2[l]", fmt::format("q * 128 + {} + l", 32 * (step - 1)));
    close();
    close();
  }
  close();
  line(fmt::format("for (tarry_i64 l = count * 32; l < {}; ++l) a[l] = 0, a2[l] = 0;", 32 * blocks));
  levels([&](int d, const std::string& from, const std::string& to) {
    even_weights(r, 64 / d);
    open(fmt::format("for (int i = 0; i < {}; ++i) for (int l = 0; l < {}; ++l)", blocks, d));
    const std::string low = fmt::format("[i * {} + l]", 2 * d), high = fmt::format("[i * {} + {} + l]", 2 * d, d);
    const std::string at = fmt::format("[i * {} + l]", d);
    line(fmt::format("const {0} e = {1}{2} - {1}{3};", type, from, high, low));
    line(fmt::format("{}{} = {}{} + e * w;", to, at, from, low));
    line(fmt::format("{0}2{1} = ({2}2{3} + {2}2{4}) + (e * e) * aw;", to, at, from, low, high));
    close();
  });
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
  if (is_arg(r)) line(fmt::format("top->{}[0] = k0 + {}_find{}({}, m, lane[0]);", part(r, "index"), kEntryName, r, x));
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
