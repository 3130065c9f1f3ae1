// Programs of updates that part an axis: recurrences recorded level by level, and boxes of short last axes.
#include <algorithm>
#include <vector>

#include "tests/fuzz/generator.h"

namespace tarry::test::fuzz {
namespace {

/// One place along an axis, all of those before it.
std::vector<Cut> level(std::int64_t axis, std::int64_t k) {
  std::vector<Cut> cuts(static_cast<std::size_t>(axis) + 1);
  cuts.back() = {k, {}, {}, true};
  return cuts;
}

}  // namespace

Program Generator::levels() {
  const std::int64_t rank = r_.pick<std::int64_t>({1, 2, 2, 3}), axis = r_.below(rank), levels = r_.between(6, 16);
  for (std::int64_t d = 0; d < rank; ++d) base_.push_back(d == axis ? levels : r_.between(1, rank == 3 ? 9 : 40));
  for (int i = 0; i < 2; ++i) {
    add_input();
    program_.inputs.back().type = types_.back() = {types_[0].dtype, base_};
    if (program_.inputs.back().layout == Layout::Broadcast) program_.inputs.back().layout = Layout::Copied;
  }
  Argument x{0, 0};
  if (r_.chance(50)) {
    Statement zeros;
    zeros.function = Function::ZerosLike;
    zeros.arguments = {x};
    if (!add(zeros)) return finished();
    x = last_value();
  }
  const bool is_up = r_.chance(60), is_second_order = r_.chance(20);
  std::vector<Function> formula;
  for (std::int64_t i = r_.between(1, 3); i > 0; --i)
    formula.push_back(
        r_.pick({Function::Add, Function::Subtract, Function::Multiply, Function::Minimum, Function::Maximum}));
  const auto read = [&](Argument of, std::int64_t k) {
    Statement s;
    s.function = Function::Slice;
    s.arguments = {of};
    s.cuts = level(axis, k);
    return add(s) ? last_value() : of;
  };
  for (std::int64_t i = is_second_order ? 2 : 1; i < levels; ++i) {
    const std::int64_t k = is_up ? i : levels - 1 - i, back = is_up ? -1 : 1;
    Argument v = read(x, k + back);
    if (is_second_order) {
      const Argument before = read(x, k + 2 * back);
      Statement both;
      both.function = Function::Subtract;
      both.arguments = {v, before};
      if (!add(both)) return finished();
      v = last_value();
    }
    for (std::size_t f = 0; f < formula.size(); ++f) {
      Statement s;
      s.function = formula[f];
      s.arguments = {v, f == 0 ? read({1, 0}, k) : Argument{-1, 3}};
      if (!add(s)) return finished();
      v = last_value();
    }
    Statement set;
    set.function = Function::Set;
    set.arguments = {x, v};
    set.cuts = level(axis, k);
    if (!add(set)) return finished();
    x = last_value();
  }
  if (r_.chance(40)) {  // back over the levels, with a number of each
    for (std::int64_t i = 1; i < levels; ++i) {
      const std::int64_t k = is_up ? levels - 1 - i : i, back = is_up ? 1 : -1;
      Statement scaled;
      scaled.function = Function::Multiply;
      scaled.arguments = {read(x, k + back), Argument{-1, static_cast<double>(1 + i % 5)}};
      if (!add(scaled)) return finished();
      const Argument product = last_value();
      Statement sum;
      sum.function = r_.chance(80) ? Function::Add : Function::Maximum;
      sum.arguments = {read(x, k), product};
      if (!add(sum)) return finished();
      Statement set;
      set.function = Function::Set;
      set.arguments = {x, last_value()};
      set.cuts = level(axis, k);
      if (!add(set)) return finished();
      x = last_value();
    }
  }
  if (r_.chance(40)) {
    Statement part;
    part.function = Function::Slice;
    part.arguments = {x};
    part.cuts = level(axis, 0);
    part.cuts.back() = Cut{1, {}, {}, false};
    if (!add(part)) return finished();
  }
  if (r_.chance(40)) {
    Statement after;
    after.function = r_.pick({Function::Negative, Function::Abs, Function::Square});
    after.arguments = {x};
    add(after);
  }
  return finished();
}

Program Generator::slots() {
  const std::int64_t n = r_.between(33, 90), rows = r_.between(1, 3), columns = r_.between(1, 4), border = r_.below(2);
  base_ = {n};
  for (int i = 0; i < 2; ++i) {
    add_input();
    program_.inputs.back().type = types_.back() = {types_[0].dtype, base_};
  }
  Input whole{{types_[0].dtype, {n, rows, columns}}, Layout::Copied, Content::Plain, r_.bits()};
  types_.push_back(whole.type);
  program_.inputs.push_back(std::move(whole));
  Argument x = last_value();
  if (r_.chance(50)) {
    Statement zeros;
    zeros.function = Function::ZerosLike;
    zeros.arguments = {x};
    if (!add(zeros)) return finished();
    x = last_value();
  }
  for (std::int64_t slot = rows * columns; slot-- > 0;) {
    if (r_.chance(10)) continue;
    const std::int64_t shift = r_.between(0, 2 * border);
    Statement part;
    part.function = Function::Slice;
    part.arguments = {Argument{0, 0}};
    part.cuts = {Cut{shift, n - 2 * border + shift, {}, false}};
    if (!add(part)) return finished();
    const Argument moved = last_value();
    part.arguments = {Argument{1, 0}};
    if (!add(part)) return finished();
    Statement v;
    v.function = r_.pick({Function::Add, Function::Subtract, Function::Minimum, Function::Multiply});
    v.arguments = {moved, last_value()};
    if (!add(v)) return finished();
    Statement set;
    set.function = r_.chance(80) ? Function::Set : Function::AddTo;
    set.arguments = {x, last_value()};
    set.cuts = {Cut{border, n - border, {}, false}, Cut{slot / columns, {}, {}, true},
                Cut{slot % columns, {}, {}, true}};
    if (!add(set)) return finished();
    x = last_value();
  }
  return finished();
}

}  // namespace tarry::test::fuzz
