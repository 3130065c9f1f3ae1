// Every row of the op table through the public functions: every dtype, layout and device against
// tests/api/ops_reference.h.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "graph/op.h"
#include "tests/api/ops_reference.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"
#include "tests/helpers/visit.h"

using namespace tarry;
using graph::Op;
using graph::OpClass;
using test::Cell;
using test::visit;

namespace {

constexpr Dtype kDtypes[] = {bool_,  int8,   int16,   int32,    int64,   uint8,  uint16,
                             uint32, uint64, float16, bfloat16, float32, float64};

// ---- The public function of each op. ----

struct Function {
  Op op;
  Array (*call)(const Array* x);
};
#define UNARY(NAME, ENUM)                               \
  Function {                                            \
    Op::ENUM, [](const Array* x) { return NAME(x[0]); } \
  }
#define BINARY(NAME, ENUM)                                    \
  Function {                                                  \
    Op::ENUM, [](const Array* x) { return NAME(x[0], x[1]); } \
  }
#define TERNARY(NAME, ENUM)                                         \
  Function {                                                        \
    Op::ENUM, [](const Array* x) { return NAME(x[0], x[1], x[2]); } \
  }
#define INFIX(SYMBOL, ENUM)                                   \
  Function {                                                  \
    Op::ENUM, [](const Array* x) { return x[0] SYMBOL x[1]; } \
  }
const Function kFunctions[] = {
    INFIX(+, Add),
    INFIX(-, Subtract),
    INFIX(*, Multiply),
    INFIX(/, Divide),
    INFIX(%, Remainder),
    INFIX(&, BitwiseAnd),
    INFIX(|, BitwiseOr),
    INFIX(^, BitwiseXor),
    INFIX(<<, BitwiseLeftShift),
    INFIX(>>, BitwiseRightShift),
    INFIX(==, Equal),
    INFIX(!=, NotEqual),
    INFIX(<, Less),
    INFIX(<=, LessEqual),
    INFIX(>, Greater),
    INFIX(>=, GreaterEqual),
    UNARY(-, Negative),
    UNARY(~, BitwiseInvert),
    BINARY(floor_divide, FloorDivide),
    BINARY(pow, Pow),
    TERNARY(fma, Fma),
    UNARY(positive, Positive),
    UNARY(abs, Abs),
    UNARY(sign, Sign),
    UNARY(square, Square),
    UNARY(reciprocal, Reciprocal),
    BINARY(minimum, Minimum),
    BINARY(maximum, Maximum),
    TERNARY(clip, Clip),
    UNARY(ceil, Ceil),
    UNARY(floor, Floor),
    UNARY(round, Round),
    UNARY(trunc, Trunc),
    UNARY(sqrt, Sqrt),
#define TARRY_FUNCTION(ENUM, NAME) UNARY(NAME, ENUM),
#include "tests/helpers/functions.def"
    BINARY(atan2, Atan2),
    BINARY(hypot, Hypot),
    BINARY(logaddexp, Logaddexp),
    BINARY(copysign, Copysign),
    BINARY(nextafter, Nextafter),
    UNARY(isfinite, Isfinite),
    UNARY(isinf, Isinf),
    UNARY(isnan, Isnan),
    UNARY(signbit, Signbit),
    BINARY(logical_and, LogicalAnd),
    BINARY(logical_or, LogicalOr),
    BINARY(logical_xor, LogicalXor),
    UNARY(logical_not, LogicalNot),
    BINARY(isclose, Isclose),
    Function{Op::Where, [](const Array* x) { return where(x[3], x[0], x[1]); }},
};
#undef UNARY
#undef BINARY
#undef TERNARY
#undef INFIX

/// Rows that are no function of elements; other tests have them.
bool elsewhere(const graph::OpInfo& row) {
  switch (row.op_class) {
    case OpClass::Leaf:
    case OpClass::Scalar:
    case OpClass::Iota:
    case OpClass::View:
    case OpClass::Reshape:
    case OpClass::Update:
    case OpClass::Gather:
    case OpClass::Reduce:
    case OpClass::Library:
    case OpClass::Routine:
    case OpClass::Loop:
    case OpClass::Scan: return true;
    case OpClass::Composite: return row.op >= Op::Mean;  // reductions
    case OpClass::Map:
      return row.op == Op::Cast || row.op == Op::Index ||
             row.rule == graph::DtypeRule::Draw;  // below, to every dtype; take_test; random_test
  }
  return false;
}

bool takes(Op op, Dtype d) {
  switch (graph::info(op).rule) {
    case graph::DtypeRule::Same:
    case graph::DtypeRule::Float: return d != bool_;
    case graph::DtypeRule::Bool: return d != bool_ || op == Op::Equal || op == Op::NotEqual;
    case graph::DtypeRule::Logical: return d == bool_;
    case graph::DtypeRule::Integer: return is_integral(d);
    case graph::DtypeRule::Bits: return is_integral(d) || d == bool_;
    case graph::DtypeRule::Draw: return false;
    case graph::DtypeRule::Special: return true;
  }
  return false;
}

Dtype gives(Op op, Dtype d) {
  const graph::DtypeRule rule = graph::info(op).rule;
  if (rule == graph::DtypeRule::Bool || op == Op::Isclose) return bool_;
  return rule == graph::DtypeRule::Float && is_integral(d) ? (itemsize(d) > 2 ? float64 : float32) : d;
}

// ---- Cells in and out of arrays. ----

template <class T>
T value_of(Cell c) {
  T value;
  std::memcpy(static_cast<void*>(&value), &c.bits, sizeof value);
  return value;
}

Array to_array(const std::vector<Cell>& cells, const Shape& shape, Dtype d) {
  return visit(d, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values;
    for (const Cell c : cells) values.push_back(value_of<T>(c));
    return asarray(values, shape);
  });
}

std::vector<Cell> to_cells(const Array& x) {
  return visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<Cell> cells;
    for (const T value : x.to_vector<T>()) {
      Cell c{x.dtype(), 0};
      std::memcpy(&c.bits, &value, sizeof value);
      cells.push_back(c);
    }
    return cells;
  });
}

void evaluate_all(const std::vector<Array>& arrays) {
  for (std::size_t i = 0; i < arrays.size(); i += 64) {
    evaluate(std::span(arrays).subspan(i, std::min<std::size_t>(64, arrays.size() - i)));
  }
}

// ---- Operands. Values vary down the rows (a), across the columns (b), and across in another order (c, condition).
// ----

constexpr std::size_t kSide = 47;

struct Values {
  std::array<std::vector<Cell>, 4> line;  ///< a down, the others across; the last is bool
  explicit Values(Dtype d) {
    line[0] = line[1] = test::telling_values(d, kSide);
    line[3] = test::telling_values(bool_, kSide);
    for (std::size_t j = 0; j < kSide; ++j) line[2].push_back(line[0][(5 * j + 1) % kSide]);
  }
  [[nodiscard]] Cell at(std::size_t operand, std::size_t row, std::size_t column) const {
    return line[operand][operand == 0 ? row : column];
  }
};

enum class Layout : std::uint8_t { Contiguous, Strided, Reversed, Broadcast };

Array operand(const Values& values, std::size_t k, Layout layout) {
  const Dtype d = values.line[k].front().dtype;
  const auto side = static_cast<std::int64_t>(kSide);
  const bool down = k == 0;
  if (layout == Layout::Broadcast) return to_array(values.line[k], down ? Shape{side, 1} : Shape{side}, d);
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j < kSide; ++j) {
      const bool back = layout == Layout::Reversed;
      cells.push_back(back ? values.at(k, kSide - 1 - i, kSide - 1 - j) : values.at(k, i, j));
      if (layout == Layout::Strided) cells.push_back({d, 1});
    }
  }
  switch (layout) {
    case Layout::Strided: return to_array(cells, {side, 2 * side}, d)(slice(), slice(0, 2 * side, 2));
    case Layout::Reversed: return flip(to_array(cells, {side, side}, d));
    default: return to_array(cells, {side, side}, d);
  }
}

/// All operands, each in another layout.
std::array<Array, 4> operands(const Values& values, int rotation) {
  std::array<Array, 4> x;
  for (std::size_t k = 0; k < 4; ++k)
    x[k] = operand(values, k, static_cast<Layout>((k + static_cast<std::size_t>(rotation)) % 4));
  return x;
}

std::vector<const Function*> functions_of(Dtype d) {
  std::vector<const Function*> result;
  for (const Function& f : kFunctions) {
    if (takes(f.op, d)) result.push_back(&f);
  }
  return result;
}

std::string verdict(const Function& f, const Values& values, std::size_t row, std::size_t column, Cell got) {
  const Cell x[] = {values.at(0, row, column), values.at(1, row, column), values.at(2, row, column)};
  const Cell selected[] = {values.at(3, row, column), x[0], x[1]};
  const std::string wrong = test::judge(f.op, f.op == Op::Where ? selected : x, got);
  if (wrong.empty()) return "";
  std::string text = std::string(name(f.op)) + "(" + test::to_string(x[0]);
  for (int i = 1; i < graph::info(f.op).arity; ++i) text += ", " + test::to_string(x[i]);
  return text + ") is " + wrong;
}

/// Judges all elements of one result, and reports the first wrong ones.
void check_elements(const Function& f, const Values& values, const std::vector<Cell>& got) {
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool up_and_down_only = f.op != Op::Where && graph::info(f.op).arity == 1;
    if (up_and_down_only && i % kSide != 0) continue;  // the same again
    const std::string text = verdict(f, values, i / kSide, i % kSide, got[i]);
    if (!text.empty() && ++wrong <= 3) FAIL_CHECK(text);
  }
  CHECK(wrong == 0);
}

void check_dtype(Dtype d) {
  const Values values(d);
  const std::vector<const Function*> functions = functions_of(d);
  std::vector<std::vector<Cell>> first;
  for (int rotation = 0; rotation < 4; ++rotation) {
    const std::array<Array, 4> x = operands(values, rotation);
    std::vector<Array> results;
    for (const Function* f : functions) {
      const Array result = f->call(x.data());
      results.push_back(broadcast_to(result, {static_cast<std::int64_t>(kSide), static_cast<std::int64_t>(kSide)}));
    }
    evaluate_all(results);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      INFO(name(functions[i]->op) << " of " << name(d) << ", rotation " << rotation);
      REQUIRE(results[i].dtype() == gives(functions[i]->op, d));
      const std::vector<Cell> got = to_cells(results[i]);
      if (rotation == 0) {
        check_elements(*functions[i], values, got);
        first.push_back(got);
      } else {  // no layout may change a bit
        CHECK(std::equal(got.begin(), got.end(), first[i].begin(), first[i].end(),
                         [](Cell a, Cell b) { return test::same_bits(a, b); }));
      }
    }
  }
}

}  // namespace

TEST_CASE("ops: every row of the op table has a function and a place among the tests", "[ops]") {
  for (const graph::OpInfo& row : graph::kOpTable) {
    INFO("op " << row.name);
    const auto count =
        std::count_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function& f) { return f.op == row.op; });
    CHECK(count == (elsewhere(row) ? 0 : 1));
  }
}

TEST_CASE("ops: every function of every dtype gives what it is defined to, in every layout", "[ops][values]") {
  test::on_every_device([](Device) {
    for (const Dtype d : kDtypes) check_dtype(d);
  });
}

TEST_CASE("ops: the interpreter gives what every function is defined to", "[ops][values]") {
  const test::Setting interpreted("TARRY_DISABLE", "compile");
  const Scope placed(cpu);
  for (const Dtype d : kDtypes) check_dtype(d);
}

TEST_CASE("ops: every conversion gives what it is defined to", "[ops][values]") {
  test::on_every_device([](Device) {
    for (const Dtype from : kDtypes) {
      const std::vector<Cell> values = test::telling_values(from, 8 * kSide);
      const Array x = to_array(values, {static_cast<std::int64_t>(values.size())}, from);
      std::vector<Array> results;
      for (const Dtype to : kDtypes) results.push_back(astype(x, to));
      evaluate_all(results);
      for (const Array& result : results) {
        INFO(name(from) << " to " << name(result.dtype()));
        const std::vector<Cell> got = to_cells(result);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const std::string wrong = test::judge(Op::Cast, std::span(&values[i], 1), got[i]);
          if (!wrong.empty()) FAIL_CHECK(test::to_string(values[i]) << " becomes " << wrong);
        }
      }
    }
  });
}

TEST_CASE("ops: 0-d arrays and numbers give what elements of larger arrays give", "[ops][values]") {
  test::on_every_device([](Device) {
    for (const Dtype d : kDtypes) {
      const Values values(d);
      const std::vector<const Function*> functions = functions_of(d);
      for (const std::size_t row : {std::size_t{2}, std::size_t{21}}) {
        const std::size_t column = row + 3;
        std::array<Array, 4> leaf, number;
        for (std::size_t k = 0; k < 4; ++k) {
          const Cell c = values.at(k, row, column);
          leaf[k] = to_array({c}, {}, c.dtype);
          number[k] = visit(c.dtype, [&](auto zero) { return Array(value_of<decltype(zero)>(c)); });
        }
        std::vector<Array> results;
        for (const Function* f : functions) results.push_back(f->call(leaf.data()));
        for (const Function* f : functions) results.push_back(f->call(number.data()));
        evaluate_all(results);
        for (std::size_t i = 0; i < results.size(); ++i) {
          REQUIRE(results[i].shape() == Shape{});
          const std::string wrong =
              verdict(*functions[i % functions.size()], values, row, column, to_cells(results[i])[0]);
          if (!wrong.empty()) FAIL_CHECK(wrong);
        }
      }
    }
  });
}

TEST_CASE("ops: nothing in, nothing out", "[ops][values]") {
  for (const Dtype d : kDtypes) {
    const Array empty = zeros({0, 3}, d), condition = zeros({3}, bool_);
    const Array x[] = {empty, ones({3}, d), empty, condition};
    std::vector<Array> results;
    for (const Function* f : functions_of(d)) results.push_back(f->call(x));
    evaluate_all(results);
    for (const Array& result : results) {
      CHECK(result.shape() == Shape{0, 3});
      CHECK(to_cells(result).empty());
    }
  }
}

TEST_CASE("ops: a dtype that a function does not take throws at the call", "[ops]") {
  for (const Dtype d : kDtypes) {
    const Array v = zeros({2}, d), x[] = {v, v, v, zeros({2}, bool_)};
    for (const Function& f : kFunctions) {
      INFO(name(f.op) << " of " << name(d));
      if (takes(f.op, d)) {
        CHECK(f.call(x).dtype() == gives(f.op, d));
      } else {
        CHECK_THROWS_WITH(f.call(x), Catch::Contains("[" + std::string(name(f.op)) + "] takes"));
      }
    }
  }
}
