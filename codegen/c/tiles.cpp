// C: how the states of a tile take elements.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/c/states.h"

namespace tarry::codegen {

bool StateWriter::is_plain(std::uint32_t r) const { return !is_moments(ir.reductions[r]) && !is_arg(r); }

/// A function over the m elements of arrays of the type of reduction r: `to` becomes `value`, which gets a way to spell
/// the element of an array. Returns its name.
std::string StateWriter::elements_function(
    std::uint32_t r, const std::string& name, std::string_view parameters, const std::string& before,
    const std::function<std::string(const std::function<std::string(const std::string&)>&)>& value) {
  return share(name, [&] { elements(r, parameters, before, value); });
}

void StateWriter::elements(
    std::uint32_t r, std::string_view parameters, const std::string& before,
    const std::function<std::string(const std::function<std::string(const std::string&)>&)>& value) {
  const std::string type = accumulator(r);
  const int size = static_cast<int>(itemsize(ir.reductions[r].dtype));
  open(fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}(tarry_i64 m, {1}* to, const {1}* {2})",
                   kSharedName, type, parameters));
  if (!before.empty()) line(before);
  line("tarry_i64 j = 0;");
  for (int bytes = vector_bytes_; bytes >= 16; bytes = bytes > 16 ? 16 : 0) {
    line(fmt::format("typedef {} vector{} __attribute__((vector_size({}), aligned({}), may_alias));", type, bytes,
                     bytes, size));
    line(fmt::format(
        "for (const tarry_i64 whole = m & -{0}; j < whole; j += {0}) *(vector{1}*)(to + j) = {2};", bytes / size, bytes,
        value([&](const std::string& array) { return fmt::format("*(const vector{}*)({} + j)", bytes, array); })));
  }
  line(fmt::format("for (; j < m; ++j) {{ TARRY_SCALAR; to[j] = {}; }}",
                   value([](const std::string& array) { return array + "[j]"; })));
  close();
}

/// The functions that merge(), leaf_step() and pair_of_lanes() call.
void StateWriter::tile_functions(std::uint32_t r) {
  if (!is_plain(r)) return;
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  copies_[r] = elements_function(r, "copy_" + std::string(info(reduction.dtype).suffix), "x", "",
                                 [](const auto& element) { return element("x"); });
  const std::string name = function_name(r);
  if (!has_vectors(r)) {
    combines_[r] = share(name + "_both", [&] {
      open(fmt::format("static __attribute__((noinline)) void {0}(tarry_i64 m, {1}* to, const {1}* x, const {1}* y)",
                       kSharedName, type));
      open_short_loop("j", "0", "m");
      line(fmt::format("to[j] = {};", expressions.combine(reduction, "x[j]", "y[j]")));
      close();
      close();
    });
  } else {
    const auto combine = [&](const std::string& a, const std::string& b) {
      return fmt::format("({})", expressions.combine(reduction, a, b));
    };
    combines_[r] = elements_function(r, name + "_both", fmt::format("x, const {}* y", type), "",
                                     [&](const auto& element) { return combine(element("x"), element("y")); });
    std::string rows = fmt::format("const {} *const x0 = x", type);
    for (int k = 1; k < 8; ++k) rows += fmt::format(", *const x{} = x{} + h", k, k - 1);
    lanes_[r] = elements_function(r, name + "_lanes", "x, tarry_i64 h", rows + ";", [&](const auto& element) {
      const auto lane = [&](int first) {
        std::string value = element(fmt::format("x{}", first));
        for (int k = first + 2; k < 8; k += 2) value = combine(value, element(fmt::format("x{}", k)));
        return value;
      };
      return combine(lane(0), lane(1));
    });
  }
}

void StateWriter::leaf_step(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string top = at("top", r, is_moments(reduction) ? "mean" : "value"), m2 = at("top", r, "m2");
  const std::string index = at("top", r, "index"), x = input(r, 0) + "[j]";
  if (shares_loops_ && is_plain(r)) {
    line(fmt::format("if (m < {})", kFew));
    line("  TARRY_ROLLED");
    line(fmt::format("  for (tarry_i64 j = 0; j < m; ++j) {{ TARRY_SCALAR; {0} = step == 1 ? {1} : {2}; }}", top, x,
                     expressions.combine(reduction, top, x)));
    line(fmt::format("else if (step == 1) {}(m, top->{}, {});", copies_.at(r), part(r, "value"), input(r, 0)));
    line(fmt::format("else {0}(m, top->{1}, top->{1}, {2});", combines_.at(r), part(r, "value"), input(r, 0)));
    return;
  }
  open("if (step == 1)");
  open_short_loop("j", "0", "m");
  line(fmt::format("{} = {};", top, x));
  if (is_arg(r)) line(fmt::format("{} = k;", index));
  if (reduction.op == Op::Moments) line(fmt::format("{} = 0;", m2));
  if (reduction.op == Op::MomentsMerge) line(fmt::format("{} = {}[j];", m2, input(r, 1)));
  close();
  close();
  open("else");
  if (is_moments(reduction)) moments_step_constants(r, "step");
  open_short_loop("j", "0", "m");
  if (is_moments(reduction)) {
    moments_step(r, top, m2, "j");
  } else if (is_plain(r)) {
    line(fmt::format("{} = {};", top, expressions.combine(reduction, top, x)));
  } else {
    // Elements of a lane come in increasing order, so an equal one is too late.
    line(fmt::format("const {0} u = {1}, v = {2};", accumulator(r), top, x));
    line(fmt::format("const int better = {};", beats(r, "v", "u")));
    line(fmt::format("{} = better ? v : u;", top));
    line(fmt::format("{0} = better ? k : {0};", index));
  }
  close();
  close();
}

void StateWriter::full_lane(std::uint32_t r, const std::string& from, const std::string& apart) {
  constexpr int kSteps = 4;
  const Reduction& reduction = ir.reductions[r];
  const std::string x = input(r, 0), type = accumulator(r);
  open("");
  line(fmt::format("const {}* const {} = {};", type, x, from));
  line(fmt::format("const tarry_i64 h = {};", apart));
  open_short_loop("j", "0", "m");
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
      line(fmt::format("value = {};",
                       expressions.combine(reduction, "value", fmt::format("{}[j + {} * h]", x, step - 1))));
    line(fmt::format("top->{}[j] = value;", part(r, "value")));
  }
  close();
  close();
}

void StateWriter::lane_function(std::uint32_t r) {
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r), name = function_name(r) + "_lane";
  const auto combine = [&](const std::string& a, const std::string& b) {
    return fmt::format("({})", expressions.combine(reduction, a, b));
  };
  const std::string rows = fmt::format("const {} *const x1 = x + h, *const x2 = x1 + h, *const x3 = x2 + h;", type);
  if (has_vectors(r)) {
    fours_[r] = elements_function(r, name, "x, tarry_i64 h", rows, [&](const auto& element) {
      return combine(combine(combine(element("x"), element("x1")), element("x2")), element("x3"));
    });
    return;
  }
  fours_[r] = share(name, [&] {
    open(fmt::format("static __attribute__((noinline)) void {0}(tarry_i64 m, {1}* to, const {1}* x, tarry_i64 h)",
                     kSharedName, type));
    line(rows);
    open_short_loop("j", "0", "m");
    line(fmt::format("to[j] = {};", combine(combine(combine("x[j]", "x1[j]"), "x2[j]"), "x3[j]")));
    close();
    close();
  });
}

void StateWriter::lane_of_four(std::uint32_t r, const std::string& from, const std::string& apart) {
  line(fmt::format("{}(m, top->{}, {}, {});", fours_.at(r), part(r, "value"), from, apart));
}

void StateWriter::pair_of_lanes(std::uint32_t r, const std::string& from, const std::string& apart) {
  line(fmt::format("{}(m, top->{}, {}, {});", lanes_.at(r), part(r, "value"), from, apart));
}

/// A lane of few elements beside each other: column after column, partial results in registers.
void StateWriter::few_lane(std::uint32_t r, const std::string& from, const std::string& apart,
                           const std::string& count) {
  const std::string type = accumulator(r);
  open("");
  line(fmt::format("const {}* const x = {};", type, from));
  line(fmt::format("const tarry_i64 h = {};", apart));
  open("for (tarry_i64 j = 0; j < m; ++j)");
  line(fmt::format("{} value = step ? {} : x[j];", type,
                   expressions.combine(ir.reductions[r], fmt::format("top->{}[j]", part(r, "value")), "x[j]")));
  line(fmt::format("for (tarry_i64 k = 1; k < {}; ++k) {{ TARRY_SCALAR; value = {}; }}", count,
                   expressions.combine(ir.reductions[r], "value", "x[j + k * h]")));
  line(fmt::format("top->{}[j] = value;", part(r, "value")));
  close();
  close();
}

}  // namespace tarry::codegen
