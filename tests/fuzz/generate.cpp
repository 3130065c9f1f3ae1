// generate(): a seed becomes a valid program. Statements are drawn freely and kept where infer() accepts them.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

#include "tests/fuzz/generator.h"

namespace tarry::test::fuzz {

Program Generator::run() {
  if (program_.seed % 12 == 5) return steps();
  if (program_.seed % 24 == 11) return both_ways();
  if (program_.seed % 12 == 1) return beside_rows();
  if (program_.seed % 12 == 7) return of_nothing();
  if (program_.seed % 24 == 3) return levels();
  if (program_.seed % 24 == 21) return chains();
  if (program_.seed % 24 == 15) return slots();
  if (program_.seed % 24 == 9) return fields();
  if (program_.seed % 8 == 0) lines_ = 30;
  base_ = draw_shape(r_);
  const std::int64_t inputs = r_.between(1, 4), statements = r_.between(3, 14);
  for (std::int64_t i = 0; i < inputs; ++i) add_input();
  if (r_.chance(24)) add_opening();
  for (std::int64_t i = 0; i < statements; ++i) add_statement();
  choose_outputs();
  return std::move(program_);
}

void Generator::add_input() {
  Input input;
  input.type = {draw_dtype(r_), r_.chance(60) ? base_ : narrowed(r_, base_)};
  input.layout = r_.pick({Layout::Copied, Layout::Copied, Layout::Contiguous, Layout::Transposed, Layout::Strided,
                          Layout::Reversed, Layout::Broadcast});
  input.content = r_.pick({Content::Small, Content::Plain, Content::Plain, Content::Special});
  input.seed = r_.bits();
  types_.push_back(input.type);
  program_.inputs.push_back(std::move(input));
}

int Generator::draw_value() {
  const auto n = static_cast<std::int64_t>(types_.size());
  return static_cast<int>(r_.chance(40) ? std::max(n - 1 - r_.below(3), std::int64_t{0}) : r_.below(n));
}

int Generator::draw_grid() {
  for (int attempt = 0; attempt < 4; ++attempt)
    if (const int v = draw_input(); types_[static_cast<std::size_t>(v)].shape.size() > 1) return v;
  return draw_input();
}

int Generator::draw_bool() {
  for (int attempt = 0; attempt < 8; ++attempt)
    if (const int v = draw_value(); types_[static_cast<std::size_t>(v)].dtype == bool_) return v;
  return draw_value();
}

int Generator::draw_integers() {
  for (int attempt = 0; attempt < 8; ++attempt)
    if (const int v = draw_value(); is_integral(types_[static_cast<std::size_t>(v)].dtype)) return v;
  return draw_value();
}

Argument Generator::draw_argument() {
  if (r_.chance(25)) return {-1, draw_scalar(r_)};
  return {draw_value(), 0};
}

void Generator::draw_redundancy(Statement& s) {
  const int last = static_cast<int>(types_.size()) - 1;
  if (family(s.function) == Family::Unary)
    s.arguments[0].value = last;
  else if (r_.chance(30))
    s.arguments[0] = s.arguments[1] = {last, 0};
  else {
    s.arguments[1] = {-1, r_.chance(50) ? Scalar(r_.pick({0.0, -0.0, 1.0})) : Scalar(r_.pick({0, 1, -1}))};
    if (r_.chance(60)) s.arguments[0].value = -1;  // an input: its zeros have both signs
  }
  if (s.arguments[0].value < 0) s.arguments[0] = {draw_input(), 0};
  if (s.arguments.size() == 2 && r_.chance(30)) std::swap(s.arguments[0], s.arguments[1]);
}

void Generator::draw_view(Statement& s) {
  const Extents& from = type_of(s.arguments[0]).shape;
  const auto rank = static_cast<std::int64_t>(from.size());
  switch (s.function) {
    case Function::BroadcastTo:
      s.shape = r_.chance(50) ? base_ : from;
      if (r_.chance(40)) s.shape.insert(s.shape.begin(), r_.between(1, 3));
      break;
    case Function::PermuteDims:
      for (std::int64_t d = 0; d < rank; ++d) s.axes.insert(s.axes.begin() + r_.between(0, d), d);
      break;
    case Function::ExpandDims: s.axes = {r_.between(-rank - 1, rank)}; break;
    case Function::Squeeze:
      if (r_.chance(50)) s.axes = {r_.between(0, std::max<std::int64_t>(rank - 1, 0))};
      break;
    case Function::Slice: s.cuts = draw_cuts(from); break;
    case Function::Reshape: s.shape = draw_reshape(from); break;
    case Function::Roll:
      s.number = static_cast<double>(r_.between(-5, 40));
      s.axes = draw_axes(r_, from.size());
      break;
    case Function::Pad:
      s.axes = {r_.between(-rank, std::max<std::int64_t>(rank - 1, 0))};
      s.shape = {r_.between(0, 5), r_.between(0, 5)};
      s.number = static_cast<double>(r_.between(1, 4));
      break;
    case Function::Windows:
      s.axes = {r_.between(-rank, std::max<std::int64_t>(rank - 1, 0))};
      s.shape = {r_.between(1, 5)};
      break;
    case Function::Diagonal: s.number = static_cast<double>(r_.between(-3, 3)); break;
    default: s.axes = draw_axes(r_, from.size());
  }
}

Cut Generator::draw_cut(std::int64_t extent) {
  if (r_.chance(20)) return {r_.between(-extent, std::max<std::int64_t>(extent - 1, 0)), {}, {}, true};
  const auto end = [&]() -> std::optional<std::int64_t> {
    return r_.chance(35) ? std::nullopt
                         : std::optional(r_.chance(60) ? r_.between(-3, 3) : r_.between(-extent - 2, extent + 2));
  };
  Cut cut{end(), end(), {}, false};
  if (r_.chance(35)) cut.step = r_.pick<std::int64_t>({1, 2, 3, -1, -1, -2});
  return cut;
}

std::vector<Cut> Generator::draw_part(const Extents& x) {
  std::vector<Cut> cuts(
      static_cast<std::size_t>(x.empty() ? 0 : r_.between(1, std::min<std::int64_t>(std::ssize(x), 4))));
  if (count_of(x) == 0 || cuts.empty()) return cuts;
  const std::int64_t extent = x[cuts.size() - 1], from = r_.chance(40) ? 0 : r_.below(extent);
  cuts.back() = {from, r_.between(from, extent - 1) + 1, {}, false};
  return cuts;
}

std::vector<Cut> Generator::draw_cuts(const Extents& x) {
  std::vector<Cut> cuts;
  const auto most = static_cast<std::int64_t>(std::min<std::size_t>(x.size(), 4));
  if (most > 0 && r_.chance(40)) return draw_part(x);
  for (std::int64_t d = 0, n = r_.between(1, std::max<std::int64_t>(most, 1)); d < n && d < most; ++d)
    cuts.push_back(r_.chance(15) ? Cut{} : draw_cut(x[static_cast<std::size_t>(d)]));
  return cuts;
}

Extents Generator::draw_reshape(const Extents& x) {
  if (r_.chance(30)) return {-1};
  Extents shape = x;
  for (std::int64_t i = r_.between(1, 3); i > 0; --i) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t at = rank == 0 ? 0 : r_.below(rank);
    const std::int64_t extent = rank == 0 ? 1 : shape[static_cast<std::size_t>(at)];
    if (r_.chance(40) && at + 1 < rank) {
      shape[static_cast<std::size_t>(at)] *= shape[static_cast<std::size_t>(at + 1)];
      shape.erase(shape.begin() + at + 1);
    } else if (const std::int64_t part = r_.pick<std::int64_t>({1, 2, 3, 4, 8});
               rank < kMaxAxes && extent % part == 0) {
      if (rank > 0) shape[static_cast<std::size_t>(at)] /= part;
      if (rank > 0 || part == 1) shape.insert(shape.begin() + at, part);
    } else if (extent == 1 && rank > 0) {
      shape.erase(shape.begin() + at);
    }
  }
  if (!shape.empty() && r_.chance(20))
    shape[static_cast<std::size_t>(r_.below(static_cast<std::int64_t>(shape.size())))] = -1;
  return shape;
}

int Generator::draw_like(int value) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const int other = draw_value();
    if (types_[static_cast<std::size_t>(other)].shape == types_[static_cast<std::size_t>(value)].shape) return other;
  }
  return value;
}

void Generator::draw_join(Statement& s) {
  const int first = draw_value();
  for (std::int64_t i = r_.between(1, 3); i > 0; --i)
    s.arguments.push_back({s.arguments.empty() ? first : draw_like(first), 0});
  const auto rank = static_cast<std::int64_t>(types_[static_cast<std::size_t>(first)].shape.size());
  s.axes = {r_.between(-rank, std::max<std::int64_t>(rank - (s.function == Function::Stack ? 0 : 1), 0))};
}

void Generator::draw_gather(Statement& s) {
  s.arguments = {{draw_value(), 0}, {draw_integers(), 0}};
  const auto rank = static_cast<std::int64_t>(type_of(s.arguments[0]).shape.size());
  if (rank > 0 && (s.function == Function::TakeAlongAxis || r_.chance(70))) s.axes = {r_.between(-rank, rank - 1)};
  s.flag = r_.chance(40);
}

void Generator::draw_order(Statement& s) {
  s.arguments = {{draw_value(), 0}};
  const auto rank = static_cast<std::int64_t>(type_of(s.arguments[0]).shape.size());
  s.axes = {rank > 0 ? r_.between(-rank, rank - 1) : -1};
  s.flag = r_.chance(40);
}

void Generator::draw_line(Statement& s) {
  const int x = draw_value();
  s.arguments = {{x, 0}};
  s.flag = r_.chance(40);
  const auto rank = static_cast<std::int64_t>(type_of(s.arguments[0]).shape.size());
  switch (family(s.function)) {
    case Family::Scan:
      s.axes = {rank > 0 ? r_.between(-rank, rank - 1) : -1};
      if (s.function == Function::AffineScan) s.arguments.push_back({draw_like(x), 0});
      if (s.function == Function::CumulativeSum || s.function == Function::CumulativeProd) {
        s.number = r_.chance(25) ? 1 : 0;
        if (r_.chance(15)) s.dtype = draw_dtype(r_);
      }
      break;
    case Family::Segment:
      s.arguments.push_back({r_.chance(50) ? draw_like(x) : draw_integers(), 0});
      s.number = r_.pick({1.0, 2.0, 3.0, 7.0, 40.0, 300.0});
      break;
    default: s.arguments.push_back({r_.chance(50) ? draw_like(x) : draw_value(), 0});
  }
}

void Generator::draw_put(Statement& s) {
  s.arguments = {{draw_value(), 0}, {draw_integers(), 0}};
  if (r_.chance(30))
    s.arguments.push_back({-1, draw_scalar(r_)});
  else
    s.arguments.push_back({r_.chance(50) ? draw_like(s.arguments[1].value) : draw_value(), 0});
  s.flag = r_.chance(40);
}

void Generator::draw_update(Statement& s) {
  const int x = draw_value();
  s.arguments = {{x, 0}};
  if (s.function == Function::SetMask)
    s.arguments.push_back({draw_bool(), 0});
  else
    s.cuts = draw_cuts(types_[static_cast<std::size_t>(x)].shape);
  if (s.function != Function::SetMask && r_.chance(15)) {  // of itself, backwards: elements change places
    s.cuts = {Cut{{}, {}, -1, false}};
    s.arguments.push_back({x, 0});
    return;
  }
  if (r_.chance(40))
    s.arguments.push_back({-1, r_.chance(50) ? Scalar(r_.pick({0, 1})) : draw_scalar(r_)});
  else
    s.arguments.push_back({draw_value(), 0});
}

void Generator::draw_create(Statement& s) {
  if (r_.chance(60)) s.dtype = draw_dtype(r_);
  s.shape = narrowed(r_, base_);
  if (s.function == Function::Ones && r_.chance(60)) s.function = Function::Random;
  switch (s.function) {
    case Function::Random: s.number = static_cast<double>(r_.between(0, 5)); break;
    case Function::Full: s.arguments = {{-1, draw_scalar(r_)}}; break;
    case Function::FullLike: s.arguments = {{draw_value(), 0}, {-1, draw_scalar(r_)}}; break;
    case Function::ZerosLike:
    case Function::OnesLike: s.arguments = {{draw_value(), 0}}; break;
    case Function::Arange: {
      const std::int64_t count = base_.empty() ? draw_extent(r_) : base_.back();
      if (r_.chance(50)) {
        const int start = static_cast<int>(r_.between(-5, 5)), step = r_.pick({1, 1, 2, -3});
        s.arguments = {{-1, start}, {-1, start + step * static_cast<int>(count)}, {-1, step}};
      } else {
        s.arguments = {{-1, 0.1}, {-1, 0.1 + 0.3 * static_cast<double>(count)}, {-1, 0.3}};
      }
      break;
    }
    case Function::Linspace:
      s.arguments = {{-1, draw_scalar(r_)}, {-1, draw_scalar(r_)}};
      s.shape = {base_.empty() ? draw_extent(r_) : base_.back()};
      s.flag = r_.chance(60);
      break;
    case Function::Eye:
      s.shape = {base_.size() > 1 ? base_[base_.size() - 2] : r_.between(1, 9),
                 base_.empty() ? r_.between(1, 9) : base_.back()};
      s.number = r_.chance(50) ? 0 : static_cast<double>(r_.between(-3, 3));
      break;
    default: break;
  }
}

Statement Generator::draw_row() {
  const Statement& reduction = program_.statements.back();
  Statement s;
  s.function = r_.pick({Function::Subtract, Function::Multiply, Function::Add, Function::Maximum});
  s.arguments = {reduction.arguments[0], last_value()};
  return s;
}

Statement Generator::draw_constant() {
  const Argument last = last_value(), number{-1, draw_scalar(r_)};
  Statement s;
  s.function = r_.pick({Function::Where, Function::Add, Function::Minimum, Function::Less});
  s.arguments = {last, number};
  if (s.function == Function::Where) s.arguments.insert(s.arguments.begin(), {-1, r_.chance(50)});
  if (r_.chance(50)) std::swap(s.arguments.end()[-2], s.arguments.back());
  return s;
}

Cut Generator::moved(const Cut& cut, std::int64_t extent) {
  std::int64_t by = r_.pick<std::int64_t>({1, 1, -1, 2});
  if (cut.at) return {(*cut.start + extent + by) % extent, {}, {}, true};
  Range range = *range_of(cut, extent);
  if (range.count == 0) return cut;
  if (r_.chance(25)) {
    range.first += (range.count - 1) * range.step;
    range.step = -range.step;
  }
  const std::int64_t last = range.first + (range.count - 1) * range.step;
  const auto fits = [&](std::int64_t shift) {
    return std::min(range.first, last) + shift >= 0 && std::max(range.first, last) + shift < extent;
  };
  if (!fits(by)) by = -by;
  if (fits(by)) range.first += by;
  const std::int64_t end = range.first + range.count * range.step;
  return {range.first, end < 0 ? std::nullopt : std::optional(end), range.step, false};
}

void Generator::move_one(std::vector<Cut>& cuts, const Extents& shape) {
  if (cuts.empty()) return;
  const auto axis = static_cast<std::size_t>(r_.below(static_cast<std::int64_t>(cuts.size())));
  cuts[axis] = moved(cuts[axis], shape[axis]);
}

Statement Generator::draw_moved(Statement s) {
  move_one(s.cuts, types_.back().shape);
  if (r_.chance(50)) s.arguments[0] = last_value();
  return s;
}

Statement Generator::draw_shifted(const Statement& slice) {
  Statement s;
  s.function = r_.chance(70) ? Function::Set : Function::AddTo;
  s.arguments = {slice.arguments[0], last_value()};
  s.cuts = slice.cuts;
  move_one(s.cuts, type_of(slice.arguments[0]).shape);
  return s;
}

Statement Generator::draw_covered() {
  Statement s;
  s.function = Function::Set;
  s.arguments = {last_value(), r_.chance(50) ? Argument{-1, r_.pick({0, 1})} : Argument{draw_value(), 0}};
  s.cuts = {Cut{}};
  return s;
}

Statement Generator::draw_view_of_last(Function f) {
  Statement s;
  s.function = f;
  s.arguments = {last_value()};
  draw_view(s);
  return s;
}

Statement Generator::draw_reader() {
  Statement s;
  s.function = r_.pick({Function::Add, Function::Multiply, Function::Square, Function::Sum, Function::Max});
  s.arguments = {last_value()};
  if (family(s.function) == Family::Binary) s.arguments.push_back({-1, draw_scalar(r_)});
  if (family(s.function) == Family::Reduce) s.axes = draw_axes(r_, types_.back().shape.size());
  return s;
}

std::optional<Statement> Generator::draw_continuation() {
  const Statement& last = program_.statements.back();
  switch (family(last.function)) {
    case Family::Reduce:
      if (last.flag && r_.chance(35)) return draw_row();
      break;
    case Family::Create: {
      const bool is_fill = last.function >= Function::Full && last.function <= Function::OnesLike;
      if (is_fill && r_.chance(40)) return draw_constant();
      if (r_.chance(40))
        return draw_view_of_last(last.function == Function::Eye || r_.chance(30) ? Function::Reshape
                                                                                 : Function::BroadcastTo);
      break;
    }
    case Family::View:
      if (last.function == Function::Slice && r_.chance(20)) return draw_shifted(last);
      if (last.function == Function::Reshape && r_.chance(60)) return draw_reader();
      if (r_.chance(last.function == Function::Reshape ? 10 : 50)) return draw_view_of_last(Function::Reshape);
      break;
    case Family::Update:
      if (!last.cuts.empty() && r_.chance(25)) return draw_moved(last);
      if (r_.chance(15)) return draw_view_of_last(Function::Flip);
      break;
    case Family::Binary: {
      const bool row =
          program_.statements.size() > 1 && family(program_.statements.end()[-2].function) == Family::Reduce;
      if (row && r_.chance(15)) return draw_covered();
      break;
    }
    default: break;
  }
  return {};
}

Statement Generator::draw_statement() {
  if (!program_.statements.empty())
    if (std::optional<Statement> next = draw_continuation()) return *std::move(next);
  Statement s;
  s.function = lines_ > 0 && r_.chance(lines_) ? fuzz::draw_line(r_) : draw_function(r_);
  switch (family(s.function)) {
    case Family::Binary:
      s.arguments = {draw_argument(), draw_argument()};
      if (s.arguments[0].value < 0 && s.arguments[1].value < 0) s.arguments[0] = {draw_value(), 0};
      break;
    case Family::Ternary:
      s.arguments = {draw_argument(), draw_argument(), draw_argument()};
      if (s.arguments[0].value < 0) s.arguments[0] = {draw_value(), 0};
      break;
    case Family::Join: draw_join(s); break;
    case Family::Gather: draw_gather(s); break;
    case Family::Order: draw_order(s); break;
    case Family::Scan:
    case Family::Search:
    case Family::Segment:
    case Family::Own: draw_line(s); break;
    case Family::Put: draw_put(s); break;
    case Family::Update: draw_update(s); break;
    case Family::Create: draw_create(s); break;
    default: s.arguments = {{draw_value(), 0}};
  }
  if (s.function >= Function::LogicalAnd && s.function <= Function::LogicalXor)
    s.arguments = {{draw_bool(), 0}, {draw_bool(), 0}};
  if (s.function == Function::LogicalNot) s.arguments = {{draw_bool(), 0}};
  const bool is_arithmetic = family(s.function) == Family::Binary || family(s.function) == Family::Unary;
  if (is_arithmetic && r_.chance(25)) draw_redundancy(s);
  if (s.function == Function::Astype) s.dtype = draw_dtype(r_);
  if (s.function == Function::Slice && r_.chance(60)) s.arguments[0].value = draw_grid();
  if (family(s.function) == Family::View) draw_view(s);
  if (family(s.function) == Family::Reduce) {
    s.axes = draw_axes(r_, type_of(s.arguments[0]).shape.size());
    s.flag = r_.chance(50);  // kept axes broadcast against the operand, as in softmax and variance
    if ((s.function == Function::Sum || s.function == Function::Prod) && r_.chance(15)) s.dtype = draw_dtype(r_);
    const bool takes_one =
        s.function == Function::Argmin || s.function == Function::Argmax || s.function == Function::Softmax;
    if (takes_one && s.axes.size() > 1) s.axes = {s.axes.front()};
    if (s.function == Function::Softmax && (s.axes.empty() || r_.chance(50))) s.axes = {-1};
    if (s.function == Function::Softmax) s.flag = false;
    if (s.function == Function::Var || s.function == Function::Std) s.number = r_.pick({0.0, 0.0, 1.0, 0.5});
  }
  return s;
}

void Generator::add_statement() {
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto earlier = static_cast<std::int64_t>(program_.statements.size());
    const bool again = earlier > 0 && r_.chance(4);  // a common subexpression
    Statement s = again ? program_.statements[static_cast<std::size_t>(r_.below(earlier))] : draw_statement();
    if (add(std::move(s))) return;
  }
}

bool Generator::add(Statement s) {
  const std::optional<Type> type = infer(s, types_);
  if (!type || count_of(type->shape) > kMaxElements || type->shape.size() > kMaxAxes) return false;
  types_.push_back(*type);
  program_.statements.push_back(std::move(s));
  return true;
}

bool Generator::add_output(Statement s) {
  if (!add(std::move(s))) return false;
  kept_.resize(types_.size());
  kept_.back() = true;
  return true;
}

void Generator::choose_outputs() {
  kept_.resize(types_.size());
  std::vector<bool> read(types_.size());
  for (const Statement& s : program_.statements)
    for (const Argument& a : s.arguments)
      if (a.value >= 0) read[static_cast<std::size_t>(a.value)] = true;
  for (std::size_t v = program_.inputs.size(); v < types_.size(); ++v)
    if (!read[v] || kept_[v] || r_.chance(12)) program_.outputs.push_back(static_cast<int>(v));
}

Program generate(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace tarry::test::fuzz
