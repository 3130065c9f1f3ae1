// Programs of stacked fields: several arrays of one shape as the elements along a short axis of another.
#include <vector>

#include "tests/fuzz/generator.h"

namespace tarry::test::fuzz {
namespace {

Function draw_join_of_fields(Random& r) {
  return r.pick({Function::Add, Function::Subtract, Function::Multiply, Function::Minimum, Function::Maximum});
}

}  // namespace

std::optional<Argument> Generator::draw_component(Argument stacked, std::int64_t axis, std::int64_t count) {
  Statement s;
  s.function = Function::Slice;
  s.arguments = {stacked};
  s.cuts.resize(static_cast<std::size_t>(axis) + 1);
  s.cuts.back() = Cut{r_.below(count), {}, {}, true};
  if (!add(s)) return std::nullopt;
  if (!r_.chance(40)) return last_value();
  Statement moved;
  moved.function = Function::Roll;
  moved.arguments = {last_value()};
  moved.axes = {r_.below(std::ssize(type_of(moved.arguments[0]).shape))};
  moved.number = static_cast<double>(r_.between(-2, 2));
  if (!add(moved)) return std::nullopt;
  return last_value();
}

std::optional<Argument> Generator::draw_field(Argument stacked, std::int64_t axis, std::int64_t count) {
  std::optional<Argument> value = draw_component(stacked, axis, count);
  for (std::int64_t i = r_.between(0, 2); value && i > 0; --i) {
    const std::optional<Argument> other = draw_component(stacked, axis, count);
    if (!other) return std::nullopt;
    Statement s;
    s.function = draw_join_of_fields(r_);
    s.arguments = {*value, r_.chance(70) ? *other : Argument{-1, draw_scalar(r_)}};
    if (!add(s)) return value;
    value = last_value();
    if (!r_.chance(20)) continue;
    Statement mask;
    mask.function = Function::Less;
    mask.arguments = {*value, *other};
    if (!add(mask)) continue;
    s.function = Function::Where;
    s.arguments = {last_value(), *value, *other};
    if (add(s)) value = last_value();
  }
  return value;
}

Program Generator::fields() {
  base_ = r_.chance(50) ? Extents{r_.between(3, 200)} : Extents{r_.between(2, 20), r_.between(2, 20)};
  const std::int64_t rank = std::ssize(base_), count = r_.between(2, 9);
  std::int64_t axis = r_.chance(80) ? 0 : r_.between(1, rank);
  Extents shape = base_;
  shape.insert(shape.begin() + axis, count);
  Input all{{draw_dtype(r_), shape}, r_.pick({Layout::Copied, Layout::Transposed}), Content::Plain, r_.bits()};
  Extents ones(shape.size(), 1);
  ones[static_cast<std::size_t>(axis)] = count;
  Input weights{{all.type.dtype, ones}, Layout::Copied, Content::Small, r_.bits()};
  for (const Input* input : {&all, &weights}) {
    types_.push_back(input->type);
    program_.inputs.push_back(*input);
  }
  Argument x{0, 0};
  for (std::int64_t round = r_.between(1, 3); round > 0; --round) {
    Statement stack;
    stack.function = Function::Stack;
    stack.axes = {axis};
    for (std::int64_t i = 0; i < count; ++i) {
      const std::optional<Argument> field = draw_field(x, axis, count);
      if (!field) return finished();
      stack.arguments.push_back(*field);
    }
    if (!add(stack)) return finished();
    x = last_value();
    Statement after;
    after.arguments = {x};
    if (r_.chance(40)) {  // what every field takes part in, beside each of them
      after.function = r_.pick({Function::Sum, Function::Max, Function::Mean});
      after.axes = {axis};
      after.flag = true;
      if (add(after)) after.arguments = {x, last_value()};
      after.axes = {};
      after.flag = false;
    } else {
      after.arguments.push_back({1, 0});
    }
    after.function = draw_join_of_fields(r_);
    if (after.arguments.size() == 2 && r_.chance(70) && add(after) && type_of(last_value()).shape == shape)
      x = last_value();
  }
  if (r_.chance(40)) {
    Statement end;
    end.function = r_.pick({Function::Sum, Function::Min, Function::Argmax, Function::Var});
    end.arguments = {x};
    end.axes = {r_.below(rank + 1)};
    if (add(end)) program_.outputs.push_back(x.value);
  }
  return finished();
}

}  // namespace tarry::test::fuzz
