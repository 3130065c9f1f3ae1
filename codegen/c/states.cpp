// C kernels: the states of a kernel's reductions, how they take elements and merge.
#include "codegen/c/states.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tarry::codegen {

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

std::vector<std::uint32_t> StateWriter::reductions() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t r = 0; r < ir.reductions.size(); ++r)
    if (ir.reductions[r].stage == stage_) found.push_back(r);
  return found;
}

std::string StateWriter::state_type() const { return fmt::format("struct {}", states()); }

std::string StateWriter::weights_parameter() const { return has_weights() ? "const tarry_i64* weight, " : ""; }
std::string StateWriter::weights_argument() const { return has_weights() ? "weight, " : ""; }

bool StateWriter::has_weights() const {
  return std::ranges::any_of(reductions(), [&](std::uint32_t r) { return ir.reductions[r].op == Op::MomentsMerge; });
}

void StateWriter::weights_array() {
  if (std::ranges::none_of(ir.reductions, [](const Reduction& r) { return r.op == Op::MomentsMerge; })) return;
  std::string all;
  for (const Reduction& r : ir.reductions)
    all += fmt::format("{}{}", all.empty() ? "" : ", ",
                       r.weight == kNone ? "1" : "p->" + slot_name({SlotKind::Scalar, r.weight}));
  line(fmt::format("const tarry_i64 weight[] = {{{}}};", all));
}

std::string StateWriter::at(std::string_view state, std::uint32_t r, std::string_view field) const {
  return fmt::format("{}->{}[j]", state, part(r, field));
}

void StateWriter::open_tile() {
  if (tile_ > 1) {
    open_short_loop("j", "0", "m");
  } else {
    open("");
    line("enum { j = 0 };");
  }
}

void StateWriter::declare_states() {
  for (const std::uint32_t r : reductions()) {
    if (ir.reductions[r].op == Op::Moments) reciprocals(r);
    if (shares_loops_) tile_functions(r);
  }
  states_[stage_] = share("states", [&] {
    states_[stage_] = kSharedName;
    open(state_type());
    line("tarry_i64 count;");
    for (const StateField& f : state_fields(ir))
      if (ir.reductions[f.reduction].stage == stage_)
        line(fmt::format("{} {}[{}];", c_type(f.dtype), part(f.reduction, f.part), tile_));
    close(";");
    merge();
    push_function();
  });
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
    line(fmt::format("const {0} w = ({0})({1}) / ({0})({2});", type, weighted(r, "b->count"),
                     weighted(r, "(a->count + b->count)")));
    line(fmt::format("const {0} aw = ({0})({1}) * w;", type, weighted(r, "a->count")));
    open_tile();
    line(fmt::format("const {} d = b->{}[j] - a->{}[j];", type, mean, mean));
    line(fmt::format("a->{0}[j] = a->{0}[j] + d * w;", mean));
    line(fmt::format("a->{0}[j] = (a->{0}[j] + b->{0}[j]) + (d * d) * aw;", m2));
    close();
    close();
    return;
  }
  if (shares_loops_ && is_plain(r)) {
    line(fmt::format("{0}(m, a->{1}, a->{1}, b->{1});", combines_.at(r), part(r, "value")));
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
  const std::vector<std::uint32_t> own = reductions();
  const bool only_calls = tile_ == 1 || (shares_loops_ && std::all_of(own.begin(), own.end(),
                                                                      [&](std::uint32_t r) { return is_plain(r); }));
  open(fmt::format("static {3}void {0}_merge({1}{2}* a, const {2}* b)", states(),
                   weights_parameter() + (tile_ > 1 ? "tarry_i64 m, " : ""), state_type(),
                   only_calls ? "TARRY_PLAIN " : ""));
  line("if (b->count == 0) return;");
  for (const std::uint32_t r : reductions()) merge_part(r);
  line("a->count += b->count;");
  close();
}

void StateWriter::clear(std::string_view state) {
  line(fmt::format("{}->count = 0;", state));
  open_tile();
  if (tile_ > 1) line("TARRY_SCALAR;");
  for (const StateField& f : state_fields(ir))
    if (ir.reductions[f.reduction].stage == stage_)
      line(fmt::format("{} = {};", at(state, f.reduction, f.part),
                       ir.reductions[f.reduction].op == Op::Prod ? "1" : "0"));
  close();
}

void StateWriter::copy(std::string_view to, std::string_view from) {
  line(fmt::format("{}->count = {}->count;", to, from));
  open_tile();
  for (const StateField& f : state_fields(ir))
    if (ir.reductions[f.reduction].stage == stage_)
      line(fmt::format("{} = {};", at(to, f.reduction, f.part), at(from, f.reduction, f.part)));
  close();
}

/// Merges the top states as often as `leaf` ends in ones, at most until one is left; returns the new depth.
void StateWriter::push_function() {
  open(fmt::format(
      "static TARRY_PLAIN __attribute__((noinline)) tarry_i64 {}_push({}{}* stack, tarry_i64 depth, tarry_i64 leaf)",
      states(), weights_parameter() + (tile_ > 1 ? "tarry_i64 m, " : ""), state_type()));
  line(fmt::format(
      "for (; (leaf & 1) && depth > 1; leaf >>= 1, --depth) {}_merge({}stack + depth - 2, stack + depth - 1);",
      states(), weights_argument() + (tile_ > 1 ? "m, " : "")));
  line("return depth;");
  close();
}

void StateWriter::push(std::string_view leaf) {
  line("++depth;");
  line(fmt::format("if (({0}) & 1) depth = {1}_push({2}stack, depth, {0});", leaf, states(),
                   weights_argument() + (tile_ > 1 ? "m, " : "")));
}

void StateWriter::fold_stack() {
  line(fmt::format("if (depth > 1) depth = {}_push({}stack, depth, -1);", states(),
                   weights_argument() + (tile_ > 1 ? "m, " : "")));
}

void StateWriter::segment(std::string_view start) {
  line(fmt::format("{}* const top = stack + depth;", state_type()));
  line("top->count = length;");
  for (const std::uint32_t r : reductions()) {
    const Reduction& reduction = ir.reductions[r];
    const std::string& node = nodes_.at(r);
    if (reduction.op == Op::MomentsMerge) {
      line(fmt::format("{0}(weight + {1}, n, length, top->{2}, top->{3}, {4}, {5});", node, r, part(r, "mean"),
                       part(r, "m2"), input(r, 0), input(r, 1)));
    } else if (reduction.op == Op::Moments) {
      line(fmt::format("{0}(n, length, top->{1}, top->{2}, {3});", node, part(r, "mean"), part(r, "m2"), input(r, 0)));
    } else {
      line(fmt::format("top->{}[0] = {}(n, length, {});", part(r, "value"), node, input(r, 0)));
      if (is_arg(r))
        line(fmt::format("top->{}[0] = k + {}({}, length, top->{}[0]);", part(r, "index"), finds_.at(r), input(r, 0),
                         part(r, "value")));
    }
  }
  push(fmt::format("{} / {}", start.empty() ? std::string("k") : fmt::format("(k - {})", start), segment_length()));
}

std::vector<Value> StateWriter::kept_inputs(const std::function<bool(Value)>& in_place) const {
  std::vector<Value> found;
  for (const Reduction& r : ir.reductions)
    for (std::size_t k = 0; k < input_count(r); ++k)
      if (!in_place(r.args[k]) && std::find(found.begin(), found.end(), r.args[k]) == found.end())
        found.push_back(r.args[k]);
  return found;
}

/// The function that makes a run of `length` inputs of n a part of the state: it returns the value, or writes both
/// moments.
void StateWriter::node_function(std::uint32_t r, bool in_place) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  if (is_moments(reduction)) return moments_node(r);
  const bool is_plain_loop = !has_vectors(r) && !is_extreme(r);
  open(fmt::format("static {2}__attribute__((noinline)) {0} {1}(tarry_i64 n, tarry_i64 length, const {0}* in)", type,
                   kSharedName, is_plain_loop ? "" : "TARRY_PLAIN "));
  if (has_vectors(r))
    vector_node(r, in_place);
  else if (is_extreme(r))
    extreme_node(r, in_place);
  else
    plain_node(r);
  close();
}

void StateWriter::line_functions(const std::function<bool(Value)>& in_place) {
  in_node_ = true;
  for (const std::uint32_t r : reductions()) {
    // All of one operation and type share the function, which asks for memory where all of them read it as it lies.
    const bool all_in_place = std::ranges::all_of(reductions(), [&](std::uint32_t s) {
      return function_name(s) != function_name(r) || in_place(ir.reductions[s].args[0]);
    });
    nodes_[r] = share(function_name(r), [&] { node_function(r, all_in_place); });
    if (is_arg(r))
      finds_[r] = share("find_" + std::string(info(ir.reductions[r].dtype).suffix), [&] { find_function(r); });
  }
  in_node_ = false;
}

/// Up to 32 elements, from left to right.
void StateWriter::serial(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  open(fmt::format("if (n <= {})", kSerial));
  if (is_moments(reduction)) {
    line(fmt::format("{} mean = in[0], m2 = {};", type, reduction.op == Op::Moments ? "0" : "in2[0]"));
    open("for (tarry_i64 k = 1; k < length; ++k)");
    line("TARRY_SCALAR;");
    moments_step_constants(r, "(k + 1)");
    moments_step(r, type, "mean", "m2", "in[k]", "in2[k]");
    close();
    line("*to_mean = mean, *to_m2 = m2;");
    line("return;");
  } else {
    line(fmt::format("{} value = in[0];", type));
    open("for (tarry_i64 k = 1; k < length; ++k)");
    line("TARRY_SCALAR;");
    line(fmt::format("value = {};", expressions.combine(reduction, "value", "in[k]")));
    close();
    line("return value;");
  }
  close();
}

/// Arrays for what a short block of the `length` elements at `x` has: the elements of its last 32 that are there, and
/// `none` for each that is missing.
void StateWriter::padding(std::uint32_t r, char y, const std::string& x, const std::string& none) {
  line(fmt::format("{0} none_{1}[32], rest_{1}[32];", accumulator(r), y));
  open("if (length & 127)");
  line(fmt::format("for (int l = 0; l < 32; ++l) none_{0}[l] = rest_{0}[l] = {1};", y, none));
  line(fmt::format("__builtin_memcpy(rest_{0}, {1} + (length & -32), (length & 31) * sizeof *{1});", y, x));
  close();
}

/// {y}0 to {y}3 point at 32 elements each of the block at `x`, which has m elements or more.
void StateWriter::quarters(std::uint32_t r, char y, const std::string& x) {
  line(fmt::format("const {0} *{1}0 = {2}, *{1}1 = {1}0 + 32, *{1}2 = {1}0 + 64, *{1}3 = {1}0 + 96;", accumulator(r), y,
                   x));
  open("if (m < 128)");
  line(fmt::format("{0}0 = m < 32 ? rest_{0} : {0}0;", y));
  line(fmt::format("{0}1 = m < 32 ? none_{0} : m < 64 ? rest_{0} : {0}1;", y));
  line(fmt::format("{0}2 = m < 64 ? none_{0} : m < 96 ? rest_{0} : {0}2;", y));
  line(fmt::format("{0}3 = m < 96 ? none_{0} : rest_{0};", y));
  close();
}

void StateWriter::open_blocks(std::uint32_t r) {
  open("for (tarry_i64 q = 0; q < blocks; ++q)");
  line("const tarry_i64 m = length - q * 128;");
  quarters(r, 'y', "in + q * 128");
}

/// The first eight lanes (more, where these are less than 16 bytes) are the vector: each combines all that end in it.
/// The few that are left combine one by one, as do blocks. What a short block misses is what changes no result: the
/// neutral element, or one that is there.
void StateWriter::plain_node(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  const int lanes = std::max(8, 16 / static_cast<int>(itemsize(reduction.dtype)));
  const auto combine = [&](const std::string& a, const std::string& b) {
    return fmt::format("({})", expressions.combine(reduction, a, b));
  };
  // Lane `l` of a level of `step` lanes, which has taken in those above it of all levels up to `count` lanes.
  const std::function<std::string(int, int, int, const std::function<std::string(int)>&)> tree =
      [&](int l, int step, int count, const std::function<std::string(int)>& leaf) {
        return step == count ? leaf(l) : combine(tree(l, 2 * step, count, leaf), tree(l + step, 2 * step, count, leaf));
      };
  if (is_floating(reduction.dtype) && !graph::is_arg_reduce(reduction.op)) serial(r);
  const bool arithmetic = reduction.op == Op::Sum || reduction.op == Op::Prod;
  line(fmt::format("{} node[{}], s[{}];", type, segment_blocks(), lanes));
  line("const tarry_i64 blocks = (length + 127) / 128;");
  padding(r, 'y', "in", arithmetic ? neutral_literal(reduction) : "in[0]");
  open_blocks(r);
  line(fmt::format("for (int l = 0; l < {}; ++l) s[l] = {};", lanes, tree(0, lanes, 32, [&](int l) {
                     std::string lane = fmt::format("y0[l + {}]", l);
                     for (int k = 1; k < 4; ++k) lane = combine(lane, fmt::format("y{}[l + {}]", k, l));
                     return lane;
                   })));
  line(fmt::format("node[q] = {};", tree(0, 1, lanes, [](int l) { return fmt::format("s[{}]", l); })));
  line(fmt::format("if (q & 1) node[q - 1] = {};", combine("node[q - 1]", "node[q]")));
  close();
  open("for (tarry_i64 step = 2; step < blocks; step *= 2)");
  open("for (tarry_i64 at = 0; at + step < blocks; at += 2 * step)");
  line("TARRY_SCALAR;");
  line(fmt::format("node[at] = {};", combine("node[at]", "node[at + step]")));
  close();
  close();
  line("return node[0];");
}

}  // namespace tarry::codegen
