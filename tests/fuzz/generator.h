// Generator: the drawing of one random program, statement by statement (fuzz/generate.cpp) or by a plan
// (fuzz/scenarios.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/fuzz/draw.h"

namespace tarry::test::fuzz {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : r_(seed) { program_.seed = seed; }
  Program run();

 private:
  /// Several steps of a simulation and little else: what is computed on the way has no other readers.
  Program steps();
  /// Reductions of a matrix along each of its axes, whose extents are blocks of the tree and a little more.
  Program both_ways();
  /// Reductions short enough to be gone over anywhere, what follows them in their own shape, and the same at every
  /// point of their operand's shape and of larger ones.
  Program beside_rows();
  /// Arrays without elements beside others: what reductions make of nothing meets what has something.
  Program of_nothing();
  /// A recurrence along an axis, recorded level by level.
  Program levels();
  /// States that follow from each other, of which the last are kept.
  Program chains();
  /// Boxes of an array with two short last axes, one for each of their elements.
  Program slots();
  /// Fields stacked along a short axis, each made of some of those before, round by round.
  Program fields();
  /// One field of a stack, sometimes moved along an axis; none where it is not valid.
  std::optional<Argument> draw_component(Argument stacked, std::int64_t axis, std::int64_t count);
  /// A field made of some of them.
  std::optional<Argument> draw_field(Argument stacked, std::int64_t axis, std::int64_t count);
  Program finished();
  void add_input();
  /// Patterns that statements drawn one by one hardly ever form.
  void add_opening();
  /// Recent values are likelier, so that chains grow; any value may be used again.
  int draw_value();
  int draw_input() { return static_cast<int>(r_.below(static_cast<std::int64_t>(program_.inputs.size()))); }
  /// An input of several axes, if there is one.
  int draw_grid();
  /// A bool, if there is one.
  int draw_bool();
  int draw_integers();
  Argument draw_argument();
  [[nodiscard]] Argument last_value() const { return {static_cast<int>(types_.size()) - 1, 0}; }
  const Type& type_of(const Argument& a) const { return types_[static_cast<std::size_t>(a.value)]; }
  /// Forms that the optimiser has rules for: neutral numbers, equal operands, an inverse of the last statement.
  void draw_redundancy(Statement& s);
  void draw_view(Statement& s);
  /// Ends inside and beyond the axis, from either side; often the interior of a stencil.
  Cut draw_cut(std::int64_t extent);
  /// A part of one axis.
  std::vector<Cut> draw_part(const Extents& x);
  std::vector<Cut> draw_cuts(const Extents& x);
  /// The same number of elements: axes joined, cut, dropped, added or left to be found.
  Extents draw_reshape(const Extents& x);
  /// A value of the same shape if there is one, so that joins are not always of one array.
  int draw_like(int value);
  void draw_join(Statement& s);
  void draw_gather(Statement& s);
  void draw_order(Statement& s);
  void draw_line(Statement& s);
  void draw_put(Statement& s);
  void draw_update(Statement& s);
  void draw_create(Statement& s);
  /// Parts of a kernel over rows: a reduced axis that stays, and its operand beside it.
  Statement draw_row();
  /// Numbers alone, in the shape of an array: a scalar by the time that kernels are made.
  Statement draw_constant();
  /// As many positions as before, elsewhere along the axis where there is room; sometimes in the other order.
  Cut moved(const Cut& cut, std::int64_t extent);
  void move_one(std::vector<Cut>& cuts, const Extents& shape);
  /// The same update in another place, of the same array or of what the first one gave.
  Statement draw_moved(Statement s);
  /// Elements of an array written to other places of it.
  Statement draw_shifted(const Statement& slice);
  /// Everything written over: what was there has no reader left.
  Statement draw_covered();
  Statement draw_view_of_last(Function f);
  /// Something that reads the last value whatever its shape.
  Statement draw_reader();
  /// Statements that go on from the last one, in the ways that programs do.
  std::optional<Statement> draw_continuation();
  Statement draw_statement();
  void add_statement();
  /// True if the statement is valid; then it is part of the program.
  bool add(Statement s);
  /// True if the statement is valid; then it is an output too.
  bool add_output(Statement s);
  /// Values that nothing reads, and some that are read.
  void choose_outputs();
  Random r_;
  Program program_;
  std::vector<Type> types_;
  std::vector<bool> kept_;  // by value: an output whoever reads it
  Extents base_;
  int lines_ = 0;  // percent of the statements that are functions of lines
};

}  // namespace tarry::test::fuzz
