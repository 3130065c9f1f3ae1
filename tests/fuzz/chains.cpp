// Programs of states that are computed again and again, each from the ones before, and of which the last are kept.
#include <algorithm>
#include <vector>

#include "tests/fuzz/generator.h"

namespace tarry::test::fuzz {
namespace {

/// An operand of a statement: another state, of this step or the one before; an input; a place of an input that moves
/// with the steps; a number, the same in all steps or not.
enum class Operand : std::uint8_t { State, Input, Moving, Number, Counter };

struct Term {
  Function function{};
  Operand operand{};
  std::int64_t state = 0;
};

}  // namespace

Program Generator::chains() {
  const std::int64_t rank = r_.between(0, 2), states = r_.between(1, 3), steps = r_.between(8, 48);
  for (std::int64_t d = 0; d < rank; ++d) base_.push_back(r_.between(1, rank == 2 ? 9 : 70));
  for (int i = 0; i < 2; ++i) {
    add_input();
    program_.inputs.back().type = types_.back() = {types_[0].dtype, base_};
  }
  const std::int64_t axis = r_.below(rank + 1);
  Extents along = base_;
  along.insert(along.begin() + static_cast<std::ptrdiff_t>(axis), steps + 3);
  Input path{{types_[0].dtype, along}, r_.pick({Layout::Copied, Layout::Transposed}), Content::Plain, r_.bits()};
  types_.push_back(path.type);
  program_.inputs.push_back(std::move(path));
  const bool is_up = r_.chance(70);
  std::vector<std::vector<Term>> formulas;
  std::vector<bool> chooses;
  std::vector<Argument> now, kept;
  for (std::int64_t s = 0; s < states; ++s) {
    std::vector<Term>& formula = formulas.emplace_back();
    for (std::int64_t i = r_.between(1, 4); i > 0; --i)
      formula.push_back(
          {r_.pick({Function::Add, Function::Subtract, Function::Multiply, Function::Minimum, Function::Maximum}),
           r_.pick(
               {Operand::State, Operand::State, Operand::Input, Operand::Moving, Operand::Number, Operand::Counter}),
           r_.below(states)});
    chooses.push_back(r_.chance(30));
    now.push_back({static_cast<int>(r_.below(2)), 0});
  }
  const auto apply = [&](Function function, std::vector<Argument> arguments) {
    Statement s;
    s.function = function;
    s.arguments = std::move(arguments);
    return add(s);
  };
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s < now.size(); ++s) {
      Argument v = now[s];
      for (const Term& term : formulas[s]) {
        Argument other{-1, 3};
        if (term.operand == Operand::State) other = now[static_cast<std::size_t>(term.state)];
        if (term.operand == Operand::Input) other = {1, 0};
        if (term.operand == Operand::Counter) other = {-1, static_cast<double>(1 + t % 7)};
        if (term.operand == Operand::Moving) {
          Statement part;
          part.function = Function::Slice;
          part.arguments = {Argument{2, 0}};
          part.cuts.assign(static_cast<std::size_t>(axis) + 1, Cut{});
          part.cuts.back() = {is_up ? t : steps + 2 - t, {}, {}, true};
          if (!add(part)) return finished();
          other = last_value();
        }
        if (!apply(term.function, {v, other})) return finished();
        v = last_value();
      }
      if (chooses[s]) {
        if (!apply(Function::Less, {v, now[s]})) return finished();
        if (!apply(Function::Where, {last_value(), v, now[s]})) return finished();
        v = last_value();
      }
      now[s] = v;
      if (r_.chance(1)) kept.push_back(v);
    }
  }
  for (const Argument& v : kept) program_.outputs.push_back(v.value);
  if (r_.chance(30)) program_.outputs.push_back(now.front().value);
  Argument all = now[0];
  for (std::size_t s = 1; s < now.size(); ++s) {
    if (!apply(Function::Maximum, {all, now[s]})) return finished();
    all = last_value();
  }
  if (r_.chance(40)) apply(r_.pick({Function::Negative, Function::Abs, Function::Square}), {all});
  return finished();
}

}  // namespace tarry::test::fuzz
