// Programs, and openings of programs, that statements drawn one by one hardly ever come to.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tests/fuzz/generator.h"

namespace tarry::test::fuzz {

Program Generator::steps() {
  const std::int64_t rank = r_.pick<std::int64_t>({1, 2, 2, 2, 3});
  Input grid{{draw_dtype(r_), {}},
             r_.pick({Layout::Copied, Layout::Contiguous, Layout::Transposed}),
             Content::Plain,
             r_.bits()};
  for (std::int64_t d = 0; d < rank; ++d)
    grid.type.shape.push_back(rank == 3 && d == 0 ? r_.between(1, 3)
                              : r_.chance(20)     ? r_.between(120, 150)
                                                  : r_.between(6, 40));
  while (count_of(grid.type.shape) > kMaxElements / 2)
    *std::max_element(grid.type.shape.begin(), grid.type.shape.end()) = r_.between(5, 20);
  types_.push_back(grid.type);
  program_.inputs.push_back(std::move(grid));
  if (r_.chance(40)) {  // for every point, at every step
    base_ = types_[0].shape;
    add_input();
  }
  const bool keeps_border = r_.chance(70);
  const std::int64_t count = r_.between(3, 6), reach = r_.pick<std::int64_t>({1, 1, 1, 2});
  const std::int64_t inputs = static_cast<std::int64_t>(types_.size());
  Argument x{0, 0};
  std::vector<std::pair<Function, std::vector<Cut>>> formula;
  for (std::int64_t i = r_.between(2, 4); i > 0; --i) {
    std::vector<Cut> cuts;
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t by = rank == 3 && d == 0 ? 0 : r_.between(0, 2 * reach);
      cuts.push_back(rank == 3 && d == 0
                         ? Cut{}
                         : Cut{by, by == 2 * reach ? std::nullopt : std::optional(by - 2 * reach), {}, false});
    }
    formula.emplace_back(
        r_.pick({Function::Add, Function::Subtract, Function::Minimum, Function::Maximum, Function::Multiply}),
        std::move(cuts));
  }
  for (std::int64_t step = 0; step < count; ++step) {
    Argument sum{-1, r_.chance(80) ? Scalar(2) : Scalar(static_cast<int>(step))};
    for (const auto& [function, cuts] : formula) {
      Statement part;
      part.function = Function::Slice;
      part.arguments = {x};
      part.cuts = cuts;
      if (!add(part)) return finished();
      Statement join;
      join.function = function;
      join.arguments = {last_value(), sum};
      if (!add(join)) return finished();
      sum = last_value();
    }
    if (inputs > 1 && keeps_border && type_of({1, 0}).shape == type_of(x).shape) {
      Statement part;
      part.function = Function::Slice;
      part.arguments = {Argument{1, 0}};
      part.cuts = formula.front().second;
      Statement join;
      join.function = Function::Maximum;
      if (add(part)) join.arguments = {last_value(), sum};
      if (!join.arguments.empty() && add(join)) sum = last_value();
    }
    if (keeps_border) {
      Statement set;
      set.function = Function::Set;
      set.arguments = {x, sum};
      for (std::int64_t d = 0; d < rank; ++d)
        set.cuts.push_back(rank == 3 && d == 0 ? Cut{} : Cut{reach, -reach, {}, false});
      if (!add(set)) return finished();
    }
    x = last_value();
  }
  return finished();
}

Program Generator::both_ways() {
  base_ = {r_.between(128, 141), r_.between(128, 141)};
  add_input();
  program_.inputs[0].type.shape = types_[0].shape = base_;
  if (r_.chance(80)) program_.inputs[0].layout = r_.pick({Layout::Copied, Layout::Contiguous, Layout::Transposed});
  if (r_.chance(30)) add_input();
  Statement s;
  s.arguments = {Argument{0, 0}};
  if (r_.chance(50)) {
    s.function = types_.size() > 1 ? r_.pick({Function::Add, Function::Multiply, Function::Maximum})
                                   : r_.pick({Function::Square, Function::Negative, Function::Abs});
    if (types_.size() > 1) s.arguments.push_back({1, 0});
    if (add(s))
      s.arguments = {last_value()};
    else
      s.arguments.resize(1);
  }
  const std::int64_t first = r_.below(2);
  for (std::int64_t i = r_.between(2, 4); i-- > 0;) {
    s.function = r_.pick({Function::Sum, Function::Sum, Function::Prod, Function::Min, Function::Max, Function::Argmin,
                          Function::Argmax, Function::Mean, Function::Var, Function::Any, Function::CountNonzero});
    s.axes = {(first + i) % 2};
    s.flag = r_.chance(20);
    if (!add(s)) continue;
    const Argument result = last_value();
    Statement after;
    after.function = r_.pick({Function::Add, Function::Multiply, Function::Minimum});
    after.arguments = {result, {-1, draw_scalar(r_)}};
    if (r_.chance(30)) add(after);
  }
  if (program_.statements.empty()) add_statement();
  choose_outputs();
  return std::move(program_);
}

Program Generator::beside_rows() {
  base_ = draw_shape(r_);
  if (base_.empty()) base_.push_back(2);
  base_[static_cast<std::size_t>(r_.below(std::ssize(base_)))] =
      r_.chance(75) ? r_.between(2, 32) : r_.between(33, 300);
  while (count_of(base_) > kMaxElements / 4) *std::max_element(base_.begin(), base_.end()) = r_.between(2, 5);
  add_input();
  program_.inputs[0].type.shape = types_[0].shape = base_;
  if (r_.chance(50)) add_input();
  Input one{{draw_dtype(r_), {1}}, Layout::Copied, Content::Small, r_.bits()};  // what gives a result an axis again
  types_.push_back(one.type);
  program_.inputs.push_back(std::move(one));
  const Argument number = last_value();
  for (std::int64_t i = r_.between(2, 5); i > 0; --i) {
    Statement s;
    s.arguments = {Argument{static_cast<int>(r_.chance(70) ? 0 : r_.below(std::ssize(types_))), 0}};
    if (r_.chance(30)) {
      s.function = r_.pick({Function::Negative, Function::Square, Function::Abs});
      if (r_.chance(50) ? add_output(s) : add(s)) s.arguments = {last_value()};
    }
    s.function = r_.pick({Function::Sum, Function::Sum, Function::Prod, Function::Min, Function::Max, Function::Any,
                          Function::Std, Function::Var, Function::Mean});
    if (r_.chance(60) && !type_of(s.arguments[0]).shape.empty())
      s.axes = {r_.below(std::ssize(type_of(s.arguments[0]).shape))};
    s.flag = r_.chance(40);
    if (!add(s)) continue;
    const Argument result = last_value();
    Statement after;
    if (r_.chance(60)) {
      after.function = r_.pick({Function::Add, Function::Maximum, Function::Where});
      after.arguments = {result, number};
      if (after.function == Function::Where) after.arguments.insert(after.arguments.begin(), result);
      if (r_.chance(80))
        add_output(after);
      else
        add(after);
    }
    if (!r_.chance(60)) continue;
    Statement spread;
    spread.function = Function::BroadcastTo;
    spread.arguments = {r_.chance(70) ? result : last_value()};
    spread.shape = base_;
    if (r_.chance(50)) spread.shape.insert(spread.shape.begin(), r_.between(2, 17));
    if (!add_output(spread) || spread.shape.size() == base_.size()) continue;
    spread.function = Function::Slice;
    spread.arguments = {last_value()};
    spread.cuts = {Cut{r_.below(spread.shape.front()), {}, {}, true}};
    add_output(spread);
  }
  for (std::int64_t i = r_.between(0, 3); i > 0; --i) add_statement();
  if (program_.statements.empty()) add_statement();
  choose_outputs();
  return std::move(program_);
}

Program Generator::of_nothing() {
  Extents full = draw_shape(r_);
  if (full.empty()) full.push_back(3);
  Extents none = full;
  const std::int64_t axis = r_.below(std::ssize(none));
  none[static_cast<std::size_t>(axis)] = 0;
  for (std::int64_t i = r_.between(2, 4); i > 0; --i) {
    base_ = r_.chance(i == 1 ? 100 : 60) ? none : full;
    if (r_.chance(15)) base_ = {0, r_.between(0, 3)};
    add_input();
  }
  if (r_.chance(50)) base_ = none;
  for (std::int64_t i = r_.between(3, 12); i > 0; --i) {
    Statement s;
    const int kind = static_cast<int>(r_.below(10));
    s.arguments = {{draw_value(), 0}};
    if (kind < 3) {
      s.function = r_.pick({Function::Sum, Function::Sum, Function::Prod, Function::Any, Function::All,
                            Function::CountNonzero, Function::Mean, Function::Var, Function::Std});
      const auto rank = std::ssize(type_of(s.arguments[0]).shape);
      if (r_.chance(70) && rank > 0) s.axes = {r_.chance(70) ? std::min<std::int64_t>(axis, rank - 1) : r_.below(rank)};
      s.flag = r_.chance(60);
    } else if (kind < 6) {
      s.function = r_.pick(
          {Function::Add, Function::Subtract, Function::Multiply, Function::Less, Function::Maximum, Function::Where});
      s.arguments.push_back({draw_value(), 0});
      if (s.function == Function::Where) s.arguments = {{draw_bool(), 0}, {draw_value(), 0}, {draw_value(), 0}};
    } else if (kind == 6 && count_of(type_of(s.arguments[0]).shape) == 0) {
      s.function = Function::Reshape;
      s.shape = r_.pick<Extents>({{0}, {0, 1}, {1, 0}, {3, 0}, {0, 5}, {2, 0, 4}, none});
    } else {
      add_statement();
      continue;
    }
    add(std::move(s));
  }
  if (program_.statements.empty()) add_statement();
  choose_outputs();
  return std::move(program_);
}

Program Generator::finished() {
  if (program_.statements.empty()) add_statement();
  program_.outputs.push_back(static_cast<int>(types_.size()) - 1);
  return std::move(program_);
}

void Generator::add_opening() {
  Input grid{{draw_dtype(r_), {r_.between(2, 9), r_.between(2, 9)}},
             r_.pick({Layout::Copied, Layout::Contiguous}),
             Content::Plain,
             r_.bits()};
  if (r_.chance(40)) grid.type.shape.push_back(r_.between(2, 4));
  const std::int64_t kind = r_.below(10);
  if (kind == 2) grid.type.shape = {r_.between(50, 90), r_.between(40, 60)};   // several tiles
  if (kind == 5) grid.type.shape = {r_.between(66000, 90000)};                 // several chunks
  if (kind == 6) grid.type.shape = {r_.between(2, 5), r_.between(600, 3000)};  // long rows
  if (kind == 7) grid.type.shape = {r_.between(3, 12), 1, r_.between(2, 20)};  // points
  if (kind == 9) grid.type.shape = {r_.between(16, 90), r_.between(16, 90)};   // tiles of rows and columns
  types_.push_back(grid.type);
  program_.inputs.push_back(std::move(grid));
  const Argument x = last_value();
  Statement s;
  s.arguments = {x};
  switch (kind) {
    case 0:  // a part of it, read as a sequence
      s.function = Function::Slice;
      s.cuts = draw_part(type_of(x).shape);
      if (r_.chance(40)) {  // the beginnings of rows
        s.cuts.assign(type_of(x).shape.size(), Cut{});
        s.cuts.back() = {0, r_.between(1, type_of(x).shape.back() - 1), {}, false};
      }
      if (add(s) && add(draw_view_of_last(Function::Reshape))) add(draw_reader());
      break;
    case 1:  // coordinates, read as a sequence
      s.function = Function::Eye;
      s.arguments = {};
      s.shape = {r_.between(2, 9), r_.between(2, 9)};
      if (add(s) && add(draw_view_of_last(Function::Reshape))) add(draw_reader());
      break;
    case 2: {  // elements that move within memory of our own, onto others that are still to move
      s.function = Function::Negative;
      if (add(s)) s.arguments = {last_value()};
      s.function = Function::Slice;
      s.cuts = {Cut{0, -2, 2, false}};
      if (!add(s)) break;
      s.function = Function::Set;
      s.arguments.push_back(last_value());
      s.cuts = {Cut{2, {}, 2, false}};
      add(s);
      break;
    }
    case 3:  // every second element, then those between
      s.function = r_.pick({Function::Set, Function::AddTo});
      s.arguments.push_back({-1, r_.pick({0, 1})});
      for (const std::int64_t from : {1, 0}) {
        s.cuts = {Cut{from, {}, 2, false}};
        if (add(s)) s.arguments[0] = last_value();
      }
      break;
    case 5:  // a reduction that several threads share
      s.function = r_.pick({Function::Sum, Function::Max, Function::Argmax, Function::Mean, Function::Var});
      s.flag = r_.chance(50);
      s.axes = {0};
      add(s);
      break;
    case 6:  // points of a row that are read again once it is reduced
      s.function = Function::Square;
      if (add(s)) s.arguments = {last_value()};
      s.function = r_.pick({Function::Max, Function::Sum});
      s.flag = true;
      s.axes = {-1};
      if (add(s)) add(draw_row());
      break;
    case 7: {  // every point of one set beside every point of another
      Input others{{type_of(x).dtype, {r_.between(20, 70), type_of(x).shape.back()}},
                   r_.pick({Layout::Copied, Layout::Transposed}),
                   Content::Plain,
                   r_.bits()};
      types_.push_back(others.type);
      program_.inputs.push_back(std::move(others));
      s.function = r_.pick({Function::Subtract, Function::Multiply, Function::Maximum});
      s.arguments.push_back(last_value());
      if (!add(s)) break;
      s.axes = {-1};
      s.arguments = {last_value()};
      s.function = r_.pick({Function::Sum, Function::Sum, Function::Prod, Function::Min, Function::Max});
      if (!add(s) || r_.chance(50)) break;
      s.arguments = {last_value()};
      s.function = r_.pick({Function::Sum, Function::Max, Function::Argmin, Function::Var});
      add(s);
      break;
    }
    case 8: {  // one number as two arrays, both read again behind other numbers
      Statement number;
      number.function = Function::Full;
      number.arguments = {{-1, r_.chance(50) ? Scalar(static_cast<int>(r_.between(1, 3))) : Scalar(0.5)}};
      Argument equal[2];
      for (Argument& each : equal) {
        if (!add(number)) return;
        each = last_value();
      }
      const std::int64_t others = r_.pick({0, 3, 20});
      for (std::int64_t i = -2; i < others + 2; ++i) {
        s.function = r_.pick({Function::Add, Function::Multiply, Function::Maximum});
        const bool outer = i < 0 || i >= others;
        s.arguments = {s.arguments.front(), outer ? equal[i & 1] : Argument{-1, static_cast<int>(i)}};
        if (add(s)) s.arguments.front() = last_value();
      }
      break;
    }
    case 9: {  // columns of one array among rows of another
      const Extents& rows = type_of(x).shape;
      const std::int64_t top = r_.below(rows[0] / 2), left = r_.below(rows[1] / 2);
      Input columns{{type_of(x).dtype, {rows[1] - left, rows[0] - top}}, Layout::Contiguous, Content::Plain, r_.bits()};
      types_.push_back(columns.type);
      program_.inputs.push_back(std::move(columns));
      s.function = Function::PermuteDims;
      s.arguments = {last_value()};
      s.axes = {1, 0};
      if (!add(s)) break;
      Statement set;
      set.function = r_.pick({Function::Set, Function::AddTo});
      set.arguments = {x, last_value()};
      set.cuts = {Cut{top, {}, {}, false}, Cut{left, {}, {}, false}};
      if (add(set)) add(draw_reader());
      break;
    }
    default:  // a reduction that nobody reads, beside its operand
      s.function = Function::Max;
      s.axes = {r_.below(2)};
      if (add(s) && add(draw_view_of_last(Function::Flip))) add(draw_covered());
      s.function = Function::Square;
      s.axes = {};
      add(s);
  }
}

}  // namespace tarry::test::fuzz
