// Recording: shapes, broadcasting, views, compositions, places and errors. Nothing here evaluates.
#include <limits>
#include <string>
#include <type_traits>

#include <tarry/tarry.h>

#include "graph/record/record.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::IndexMap;
using graph::Node;
using graph::Op;

namespace {

const Node& node(const Array& x) { return *detail::ArrayAccess::node(x); }

/// One line per node, inputs first: "op dtype shape(inputs)".
std::string tree(const Node& n) {
  std::string s(name(n.op));
  s += ":" + std::string(info(n.dtype).suffix);
  if (n.op == Op::Scalar && n.dtype == float32) s += "=" + std::to_string(n.cell().as<float>()).substr(0, 4);
  if (n.op == Op::Scalar && n.dtype == float64) s += "=" + std::to_string(n.cell().as<double>()).substr(0, 4);
  if (n.op == Op::Scalar && n.dtype == int64) s += "=" + std::to_string(n.cell().as<std::int64_t>());
  if (graph::info(n.op).op_class == graph::OpClass::Reduce) {
    const auto a = graph::decode_reduce(n.attributes());
    s += "@" + std::to_string(a.axis) + (n.op == Op::MomentsMerge ? "x" + std::to_string(a.weight) : "");
  }
  if (n.n_inputs == 0) return s;
  s += "(";
  for (int i = 0; i < n.n_inputs; ++i) {
    if (i > 0) s += ", ";
    s += tree(*n.input(i));
    if (n.input_output(i) != 0) s += "#" + std::to_string(n.input_output(i));
  }
  return s + ")";
}
std::string tree(const Array& x) { return tree(node(x)); }

std::string view_of(const Array& x) {
  const IndexMap map = graph::decode_view(node(x).attributes());
  std::string s;
  for (int d = 0; d < map.size; ++d) {
    s += "[" + std::to_string(map[d].axis) + " " + std::to_string(map[d].start) + " " + std::to_string(map[d].step) +
         "]";
  }
  return s + " " + x.shape().str();
}

std::string at(int line) { return "(at " + std::string(__FILE__) + ":" + std::to_string(line) + ")"; }

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "did not throw";
}

template <class A, class B>
concept Conjunction = requires(A a, B b) { a&& b; };
template <class A>
concept AddsToTemporary = requires(A a) { static_cast<A&&>(a) += 1; };
template <class A>
concept SumTakesBool = requires(A a) { sum(a, true); };

}  // namespace

TEST_CASE("record: a set that throws leaves the array as it was", "[graph][record]") {
  Array x = zeros({4, 4});
  const Node* const before = &node(x);
  CHECK_THROWS_AS(x.set({slice(), slice()}, zeros({4, 4}, float64)), InvalidArgument);
  CHECK_THROWS_AS(x.set({slice(1, none), slice()}, zeros({2, 4})), InvalidArgument);
  REQUIRE(x.is_defined());
  CHECK(&node(x) == before);
  x.set({slice(), slice()}, x);
  CHECK(tree(x).starts_with("update:f32"));
}

TEST_CASE("record: shapes broadcast as NumPy's do", "[graph][record]") {
  const struct {
    Shape a, b, result;
  } rows[] = {
      {{3, 4}, {4}, {3, 4}},
      {{3, 1}, {1, 4}, {3, 4}},
      {{}, {2, 3}, {2, 3}},
      {{0}, {1}, {0}},
      {{5, 1, 3}, {2, 1}, {5, 2, 3}},
      {{1}, {1}, {1}},
      {{2, 0, 3}, {1, 1, 1}, {2, 0, 3}},
      {{}, {}, {}},
  };
  for (const auto& row : rows) {
    INFO(row.a.str() << " with " << row.b.str());
    CHECK((zeros(row.a) + zeros(row.b)).shape() == row.result);
    CHECK((zeros(row.b) < zeros(row.a)).shape() == row.result);
  }
  CHECK(where(zeros({3, 1}, bool_), zeros({4}), zeros({2, 1, 1})).shape() == Shape{2, 3, 4});
}

TEST_CASE("record: errors name the op, the shapes and the caller's line", "[graph][record]") {
  const Array a = zeros({3, 4}), b = zeros({5}), none;
  const std::int64_t huge = std::int64_t{1} << 40;
  const std::string hint = ": axes meet from the last one, and newaxis inserts one";
  const struct {
    int line;
    std::string got, expected;
  } rows[] = {
      {__LINE__, message([&] { (void)(a + b); }), "[add] float32 (3, 4) and float32 (5,) do not broadcast" + hint},
      {__LINE__, message([&] { (void)where(a < 1, a, b); }),
       "[where] bool (3, 4), float32 (3, 4) and float32 (5,) do not broadcast" + hint},
      {__LINE__, message([&] { (void)maximum(b, a); }),
       "[maximum] float32 (5,) and float32 (3, 4) do not broadcast" + hint},
      {__LINE__, message([&] { (void)(none * a); }),
       "[multiply] an operand is undefined: default-constructed or moved from"},
      {__LINE__, message([&] { (void)exp(none); }), "[exp] an operand is undefined: default-constructed or moved from"},
      {__LINE__, message([&] { (void)(zeros({huge, 1}) + zeros({1, huge})); }),
       "[add] float32 (1099511627776, 1099511627776) has more than 2^63 - 1 elements"},
      {__LINE__, message([&] { (void)zeros({huge, huge, 0}); }),
       "[zeros] float32 (1099511627776, 1099511627776, 0) has more than 2^63 - 1 elements"},
      {__LINE__, message([&] { (void)ones({2, -1}); }), "[ones] float32 (2, -1) has a negative extent"},
      {__LINE__, message([&] { (void)zeros(Shape(std::vector<std::int64_t>(17, 1))); }),
       "[zeros] float32 (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) has rank 17; at most 16 is supported"},
      {__LINE__, message([&] { (void)expand_dims(zeros(Shape(std::vector<std::int64_t>(16, 1)))); }),
       "[expand_dims] float32 (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) has the highest rank already, 16"},
      {__LINE__, message([&] { (void)sum(a, 2); }), "[sum] axis 2 is out of range for float32 (3, 4)"},
      {__LINE__, message([&] { (void)tarry::std(a, {0, -2}); }), "[std] axis -2 is named twice for float32 (3, 4)"},
      {__LINE__, message([&] { (void)max(zeros({3, 0}), 1); }),
       "[max] axis 1 of float32 (3, 0) is empty: nothing has no max"},
      {__LINE__, message([&] { (void)min(zeros({0})); }), "[min] axis 0 of float32 (0,) is empty: nothing has no min"},
      {__LINE__, message([&] { (void)argmax(zeros({3, 0}), 1); }),
       "[argmax] axis 1 of float32 (3, 0) is empty: nothing has no argmax"},
      {__LINE__, message([&] { (void)argmin(zeros({0})); }),
       "[argmin] axis 0 of float32 (0,) is empty: nothing has no argmin"},
      {__LINE__, message([&] { (void)softmax(a, 2); }), "[softmax] axis 2 is out of range for float32 (3, 4)"},
      {__LINE__, message([&] { (void)clip(a, b); }), "[clip] float32 (3, 4) and float32 (5,) do not broadcast" + hint},
      {__LINE__, message([&] { (void)clip(a, {}, none); }),
       "[clip] an operand is undefined: default-constructed or moved from"},
      {__LINE__, message([&] { (void)(zeros({2}, float16) + 1e6); }),
       "[add] the number 1e+06 does not fit float16; a dtype that holds it is wanted (see astype)"},
      {__LINE__, message([&] { (void)fma(a, 2, b); }), "[fma] float32 (3, 4) and float32 (5,) do not broadcast" + hint},
      {__LINE__, message([&] { (void)broadcast_to(b, {5, 4}); }),
       "[broadcast_to] float32 (5,) does not broadcast to (5, 4)"},
      {__LINE__, message([&] { (void)permute_dims(a, {0}); }), "[permute_dims] 1 axes do not permute float32 (3, 4)"},
      {__LINE__, message([&] { (void)permute_dims(a, {0, 0}); }),
       "[permute_dims] axis 0 is named twice for float32 (3, 4)"},
      {__LINE__, message([&] { (void)matrix_transpose(b); }),
       "[matrix_transpose] float32 (5,) has fewer than two axes"},
      {__LINE__, message([&] { (void)squeeze(a, 0); }), "[squeeze] axis 0 of float32 (3, 4) has extent 3, not 1"},
      {__LINE__, message([&] { (void)expand_dims(a, 3); }), "[expand_dims] axis 3 is out of range for float32 (3, 4)"},
      {__LINE__, message([&] { (void)arange(0, 5, 0); }), "[arange] step is 0"},
      {__LINE__, message([&] { (void)arange(0.5, 5, 1, int32); }),
       "[arange] floating arguments do not make int32; convert with astype"},
      {__LINE__, message([&] { (void)linspace(0, 1, 5, {.dtype = int64}); }), "[linspace] dtype int64 is not floating"},
      {__LINE__, message([&] { (void)linspace(0, 1, -2); }), "[linspace] count -2 is negative"},
      {__LINE__ + 2, message([&] {
         Array x = zeros({2}, int32);
         x += 0.5;
       }),
       "[+=] would turn int32 (2,) into float64 (2,); write x = x + y where that is meant"},
      {__LINE__ + 2, message([&] {
         Array x = zeros({4});
         x *= a;
       }),
       "[*=] would turn float32 (4,) into float32 (3, 4); write x = x * y where that is meant"},
      {__LINE__ + 2, message([&] {
         Array x = zeros({2}, int8);
         x <<= zeros({2}, int64);
       }),
       "[<<=] would turn int8 (2,) into int64 (2,); write x = x << y where that is meant"},
  };
  for (const auto& row : rows) CHECK(row.got == row.expected + " " + at(row.line));
}

TEST_CASE("record: an error carries its op and place", "[graph][record]") {
  const Array a = zeros({3}), b = zeros({4});
  try {
    (void)(a / b);
    FAIL("did not throw");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::InvalidArgument);
    CHECK(e.op() == "divide");
    CHECK(e.where().line == __LINE__ - 5);
    CHECK(std::string(e.where().file) == __FILE__);
  }
}

TEST_CASE("record: nodes know the line of the operator that made them", "[graph][record]") {
  const Array a = zeros({3});
  const Array sum_here = a + 1, function_here = exp(a), from_left = 2 * a;
  const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
  CHECK(node(sum_here).line == line);
  CHECK(node(function_here).line == line);
  CHECK(node(from_left).line == line);
  CHECK(std::string(node(sum_here).file) == __FILE__);
  Array updated = a;
  updated += 1;
  CHECK(node(updated).line == __LINE__ - 1);
}

TEST_CASE("record: promotion is over before a node exists", "[graph][record]") {
  const Array i = zeros({2}, int32), f = zeros({2}), b = zeros({2}, bool_);
  const std::string z32 = "view:f32(scalar:f32=0.00)", zi = "view:i32(scalar:i32)", zb = "view:bool(scalar:bool)";
  CHECK(tree(f + 1) == "add:f32(" + z32 + ", scalar:f32=1.00)");
  CHECK(tree(2.5 - f) == "subtract:f32(scalar:f32=2.50, " + z32 + ")");
  CHECK(tree(i + f) == "add:f32(astype:f32(" + zi + "), " + z32 + ")");
  CHECK(tree(i / 2) == "divide:f64(astype:f64(" + zi + "), scalar:f64=2.00)");
  CHECK(tree(sqrt(i)) == "sqrt:f64(astype:f64(" + zi + "))");
  CHECK(tree(i < f) == "less:bool(astype:f64(" + zi + "), astype:f64(" + z32 + "))");
  CHECK(tree(i < 1) == "less:bool(" + zi + ", scalar:i32)");
  CHECK(tree(1.5 < i) == "less:bool(scalar:i32, " + zi + ")");  // 1 < i
  CHECK(tree(f <= 2) == "less_equal:bool(" + z32 + ", scalar:f32=2.00)");
  CHECK(tree(where(b, i, 1.5)) == "where:f64(" + zb + ", astype:f64(" + zi + "), scalar:f64=1.50)");
  CHECK(tree(astype(f, float32)) == z32);
}

TEST_CASE("record: a scalar's cell is its value in the dtype, padded with zeros", "[graph][record]") {
  graph::ScalarCell cell;
  REQUIRE(graph::to_cell(-1, int32, cell));
  CHECK(cell == graph::ScalarCell::of(std::int32_t{-1}));
  REQUIRE(graph::to_cell(true, float64, cell));
  CHECK(cell == graph::ScalarCell::of(1.0));
  REQUIRE(graph::to_cell(16777217, float32, cell));  // rounds once, to even
  CHECK(cell == graph::ScalarCell::of(16777216.0F));
  REQUIRE(graph::to_cell(65519.99, float16, cell));  // the last number that rounds to the largest float16
  CHECK(cell == graph::ScalarCell::of(std::uint16_t{0x7bff}));
  CHECK_FALSE(graph::to_cell(65520, float16, cell));
  REQUIRE(graph::to_cell(BFloat16(1.5), bfloat16, cell));
  CHECK(cell == graph::ScalarCell::of(std::uint16_t{0x3fc0}));
  // Just above the middle of two bfloat16 numbers: through a float64 it would be the middle and round to even.
  REQUIRE(graph::to_cell((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1, bfloat16, cell));
  CHECK(cell == graph::ScalarCell::of(std::uint16_t{0x5e81}));
  REQUIRE(graph::to_cell(std::numeric_limits<std::int64_t>::min(), bfloat16, cell));
  CHECK(cell == graph::ScalarCell::of(std::uint16_t{0xdf00}));
  REQUIRE(graph::to_cell(255U, uint8, cell));
  CHECK(cell == graph::ScalarCell::of(std::uint8_t{255}));
  CHECK_FALSE(graph::to_cell(-1, uint64, cell));
  REQUIRE(graph::to_cell((std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1, float32, cell));  // not through double
  CHECK(cell == graph::ScalarCell::of(static_cast<float>((std::int64_t{1} << 60) + (std::int64_t{1} << 37))));
}

TEST_CASE("record: views are index maps", "[graph][record]") {
  const Array x = zeros({2, 3, 4});
  const struct {
    const char* name;
    Array view;
    const char* expected;
  } rows[] = {
      {"broadcast_to", broadcast_to(zeros({3, 1}), {2, 3, 4}), "[1 0 1][-1 0 0] (2, 3, 4)"},
      {"permute_dims", permute_dims(x, {2, 0, 1}), "[1 0 1][2 0 1][0 0 1] (4, 2, 3)"},
      {"matrix_transpose", matrix_transpose(x), "[0 0 1][2 0 1][1 0 1] (2, 4, 3)"},
      {"expand_dims", expand_dims(x, 1), "[0 0 1][2 0 1][3 0 1] (2, 1, 3, 4)"},
      {"expand_dims at the end", expand_dims(x, -1), "[0 0 1][1 0 1][2 0 1] (2, 3, 4, 1)"},
      {"squeeze", squeeze(zeros({1, 3, 1}), {0, -1}), "[-1 0 0][0 0 1][-1 0 0] (3,)"},
      {"squeeze all", squeeze(zeros({1, 3, 1}), {}), "[-1 0 0][0 0 1][-1 0 0] (3,)"},
      {"flip", flip(x, 1), "[0 0 1][1 2 -1][2 0 1] (2, 3, 4)"},
      {"flip all", flip(x), "[0 1 -1][1 2 -1][2 3 -1] (2, 3, 4)"},
      {"flip of nothing", flip(zeros({0})), "[0 0 1] (0,)"},
      {"full", full({2, 2}, 7), " (2, 2)"},
      {"keepdims", sum(x, {0, 2}, {.keepdims = true}), "[1 0 1] (1, 3, 1)"},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(view_of(row.view) == row.expected);
  }
}

TEST_CASE("record: reductions are chains, highest axis first", "[graph][record]") {
  const Array x = astype(arange(24), float32), y = broadcast_to(x, {2, 3, 24});
  const std::string in = tree(y);
  CHECK(tree(sum(y)) == "sum:f32@0(sum:f32@1(sum:f32@2(" + in + ")))");
  CHECK(tree(sum(y, {0, 2})) == "sum:f32@0(sum:f32@2(" + in + "))");
  CHECK(tree(sum(y, {-1, 0})) == tree(sum(y, {0, 2})));
  CHECK(tree(mean(y, 1)) == "divide:f32(sum:f32@1(" + in + "), scalar:f32=3.00)");
  CHECK(tree(sum(y < 1)) == "sum:i64@0(sum:i64@1(sum:i64@2(astype:i64(less:bool(" + in + ", scalar:f32=1.00)))))");
  CHECK(tree(max(y, 2)) == "max:f32@2(" + in + ")");
  CHECK(sum(y, {0, 1}).shape() == Shape{24});
  CHECK(sum(y).shape() == Shape{});
  CHECK(tree(sum(Array(2.0))) == "scalar:f64=2.00");
}

TEST_CASE("record: variance merges moments about the first element", "[graph][record]") {
  const Array x = zeros({2, 3});
  const std::string in = tree(x), first = "view:f32(" + in + ")";
  const std::string finite = "equal:bool(subtract:f32(" + first + ", " + first + "), scalar:f32=0.00)";
  const std::string y = "subtract:f32(" + in + ", where:f32(" + finite + ", " + first + ", scalar:f32=0.00))";
  CHECK(tree(var(x, 1)) == "divide:f32(moments:f32@1(" + y + ")#1, scalar:f32=3.00)");
  const std::string leaf = "moments:f32@1(" + y + ")";
  CHECK(tree(var(x, {}, {.correction = 1})) ==
        "divide:f32(moments_merge:f32@0x3(" + leaf + ", " + leaf + "#1)#1, scalar:f32=5.00)");
  CHECK(tree(tarry::std(x, 1)) == "sqrt:f32(" + tree(var(x, 1)) + ")");
  CHECK(var(x, 1, {.keepdims = true}).shape() == Shape{2, 1});
  CHECK(var(Array(2.0)).shape() == Shape{});
  CHECK(tree(var(zeros({2, 0}), 1)) == "view:f32(scalar:f32=nan)");
  CHECK(var(zeros({2, 0}), 1, {.keepdims = true}).shape() == Shape{2, 1});
  CHECK_THAT(tree(var(x, 0, {.correction = 2})), Catch::EndsWith("scalar:f32=nan)"));
}

TEST_CASE("record: small dtypes reduce in a wide one and come back once", "[graph][record]") {
  const auto in = [](Dtype d) { return zeros({2, 3}, d); };
  const auto of = [&](Dtype d) { return "view:" + std::string(info(d).suffix) + "(scalar:" + info(d).suffix + ")"; };
  CHECK(tree(sum(in(float16))) == "astype:f16(sum:f32@0(sum:f32@1(astype:f32(" + of(float16) + "))))");
  CHECK(tree(prod(in(uint8), 1)) == "prod:u64@1(astype:u64(" + of(uint8) + "))");
  CHECK(tree(sum(in(int8), 1, {.dtype = int16})) == "astype:i16(sum:i64@1(astype:i64(astype:i16(" + of(int8) + "))))");
  CHECK(tree(max(in(int16), 1)) == "astype:i16(max:i32@1(astype:i32(" + of(int16) + ")))");
  CHECK(tree(min(in(uint8), 1)) == "astype:u8(min:u32@1(astype:u32(" + of(uint8) + ")))");
  CHECK(tree(max(in(uint64), 1)) == "max:u64@1(" + of(uint64) + ")");
  CHECK(tree(mean(in(bfloat16), 1)) ==
        "astype:bf16(divide:f32(sum:f32@1(astype:f32(" + of(bfloat16) + ")), scalar:f32=3.00))");
  CHECK_THAT(tree(tarry::std(in(float16), 1)), Catch::StartsWith("astype:f16(sqrt:f32(divide:f32(moments:f32@1("));
  CHECK(tree(any(in(bool_), 1)) == "astype:bool(max:i32@1(astype:i32(" + of(bool_) + ")))");
  CHECK(tree(all(in(uint8), 1)) == "astype:bool(min:i32@1(astype:i32(not_equal:bool(" + of(uint8) + ", scalar:u8))))");
  CHECK(tree(count_nonzero(in(bool_), 1)) == "sum:i64@1(astype:i64(" + of(bool_) + "))");
}

TEST_CASE("record: an index of all axes is that of the flattened array", "[graph][record]") {
  const Array x = zeros({2, 3}, int8);
  CHECK(tree(argmax(x)) == "argmax:i64@0(reshape:i32(astype:i32(view:i8(scalar:i8))))");
  CHECK(tree(argmin(x, -1)) == "argmin:i64@1(astype:i32(view:i8(scalar:i8)))");
  CHECK(argmax(x).shape() == Shape{});
  CHECK(argmax(x, {}, {.keepdims = true}).shape() == Shape{1, 1});
  CHECK(argmax(x, 0, {.keepdims = true}).shape() == Shape{1, 3});
  CHECK(argmax(Array(2.0)).shape() == Shape{});
}

TEST_CASE("record: softmax and logsumexp take the maximum out first", "[graph][record]") {
  const Array x = zeros({2, 3}, float16);
  const std::string in = "astype:f32(view:f16(scalar:f16))", max = "view:f32(max:f32@1(" + in + "))";
  const std::string exponentials = "exp:f32(subtract:f32(" + in + ", " + max + "))";
  CHECK(tree(softmax(x)) == "astype:f16(divide:f32(" + exponentials + ", view:f32(sum:f32@1(" + exponentials + "))))");
  CHECK(softmax(zeros({3, 0})).shape() == Shape{3, 0});
  CHECK(logsumexp(x, 0).shape() == Shape{3});
  CHECK(logsumexp(x, {}, {.keepdims = true}).shape() == Shape{1, 1});
  CHECK(logsumexp(Array(2.0)).shape() == Shape{});
  CHECK(tree(logsumexp(zeros({3, 0}), 1)) == "view:f32(scalar:f32=-inf)");
}

TEST_CASE("record: integers are whole and finite without a node", "[graph][record]") {
  const Array x = zeros({2}, int16);
  for (const Array& y : {ceil(x), floor(x), round(x), trunc(x), positive(x)}) CHECK(&node(y) == &node(x));
  CHECK(tree(isnan(x)) == "view:bool(scalar:bool)");
  CHECK(isfinite(x).shape() == Shape{2});
  CHECK(&node(clip(x)) == &node(x));
}

TEST_CASE("record: arrays of different shapes are not equal and do not throw", "[graph][record]") {
  CHECK(tree(array_equal(zeros({2}), zeros({3}))) == "scalar:bool");
  CHECK(array_equal(zeros({2, 2}), zeros({2, 2})).shape() == Shape{});
  CHECK(allclose(zeros({2, 1}), zeros({3})).shape() == Shape{});
  CHECK_THROWS_WITH(array_equal(zeros({2}), Array()), Catch::Contains("[array_equal] an operand is undefined"));
  CHECK_THROWS_WITH(allclose(zeros({2}), zeros({3})), Catch::Contains("do not broadcast"));
}

TEST_CASE("record: generators have the length and dtype of the standard", "[graph][record]") {
  const struct {
    Array made;
    std::int64_t size;
    Dtype dtype;
  } rows[] = {
      {arange(5), 5, int64},
      {arange(2, 5), 3, int64},
      {arange(0, 10, 3), 4, int64},
      {arange(10, 0, -3), 4, int64},
      {arange(5, 0), 0, int64},
      {arange(0, 1, 0.25), 4, float64},
      {arange(5.0F), 5, float32},
      {arange(5, float64), 5, float64},
      {arange(0, 3, 1, int32), 3, int32},
      {linspace(0, 1, 5), 5, float32},
      {linspace(0, 1, 0), 0, float32},
      {linspace(0, 1, 4, {.endpoint = false, .dtype = float64}), 4, float64},
      {eye(3), 9, float32},
      {eye(3, {.columns = 4, .k = 1, .dtype = int32}), 12, int32},
      {arange(0, 200, 1, uint8), 200, uint8},
      {arange(3, float16), 3, float16},
      {linspace(0, 1, 5, {.dtype = bfloat16}), 5, bfloat16},
      {eye(2, {.dtype = bool_}), 4, bool_},
      {zeros({2}, float16), 2, float16},
      {full_like(zeros({3}, uint16), 65535), 3, uint16},
      {full({2}, true), 2, bool_},
      {full({2}, 1), 2, int64},
      {full({2}, 1.0), 2, float64},
      {ones_like(zeros({2, 3}, int32)), 6, int32},
      {full_like(zeros({2, 3}), 2, float64), 6, float64},
      {Array(1.0F), 1, float32},
      {Array(true), 1, bool_},
      {Array(1), 1, int32},
  };
  for (const auto& row : rows) {
    INFO(row.made.repr());
    CHECK(row.made.size() == row.size);
    CHECK(name(row.made.dtype()) == name(row.dtype));
  }
  using Limits = std::numeric_limits<std::int64_t>;
  CHECK_THROWS_WITH(arange(Limits::min(), Limits::max()), Catch::Contains("are more than 2^63 - 1 elements"));
  CHECK_THROWS_WITH(arange(0, std::int64_t{1} << 33, 1, int32), Catch::Contains("does not fit int32"));
  CHECK_THROWS_WITH(arange(0, 257, 1, uint8), Catch::Contains("0 to 256 does not fit uint8"));
}

TEST_CASE("record: devices that differ do not mix, and the message names both", "[graph][record]") {
  const auto on = [](Device d) {
    const Scope scope(d);
    return zeros({3});
  };
  const Array here = on(cpu), there = on(cuda(1)), anywhere = zeros({3});
  CHECK(here.device() == cpu);
  CHECK(anywhere.device() == Device{});
  CHECK((here + anywhere).device() == cpu);
  CHECK((anywhere * there + 1).device() == cuda(1));
  CHECK(sum(there).device() == cuda(1));
  CHECK(zeros_like(there).device() == cuda(1));
  CHECK_THROWS_WITH(here + there, Catch::Contains("[add]") && Catch::Contains("cpu") && Catch::Contains("cuda:1"));
  CHECK_THROWS_WITH(where(anywhere < 1, there, here), Catch::Contains("cuda:1 and cpu"));
}

TEST_CASE("record: scopes nest and end", "[graph][record]") {
  const Array x = zeros({3});
  CHECK(node(x + 1).mode == graph::Mode::Strict);
  {
    const Scope outer(relaxed);
    CHECK(node(x + 1).mode == graph::Mode::Relaxed);
    {
      const Scope placed(cpu), inner(strict);
      CHECK(node(x + 1).mode == graph::Mode::Strict);
      CHECK(zeros({2}).device() == cpu);
    }
    CHECK(node(x + 1).mode == graph::Mode::Relaxed);
    CHECK(zeros({2}).device() == Device{});
  }
  CHECK(node(x + 1).mode == graph::Mode::Strict);
}

TEST_CASE("record: repr says how an array came about without evaluating it", "[graph][record]") {
  const Array x = zeros({3, 4}) + 1;
  CHECK(x.repr() == "Array(float32, (3, 4), lazy: add at record_test.cpp:" + std::to_string(__LINE__ - 1) + ")");
  CHECK(Array().repr() == "Array(undefined)");
  Array moved = x, target = std::move(moved);
  CHECK(moved.repr() == "Array(undefined)");
  CHECK_FALSE(moved.is_defined());
  CHECK_THROWS_AS(moved.shape(), InvalidArgument);
  CHECK_THROWS_AS(moved + target, InvalidArgument);
  CHECK_FALSE(x.is_evaluated());
}

TEST_CASE("record: compound operators rebind one handle and leave the others", "[graph][record]") {
  Array x = zeros({3});
  const Array before = x;
  x += 1;
  x *= x;
  CHECK(tree(before) == "view:f32(scalar:f32=0.00)");
  CHECK_THAT(tree(x), Catch::StartsWith("multiply:f32(add:f32("));
  Array bits = zeros({3}, int32);
  bits |= 6;
  bits &= ~bits;
  bits ^= 1;
  bits <<= 2;
  bits >>= 1;
  bits %= 3;
  CHECK_THAT(tree(bits),
             Catch::StartsWith("remainder:i32(bitwise_right_shift:i32(bitwise_left_shift:i32(bitwise_xor:i32("
                               "bitwise_and:i32(bitwise_or:i32("));
}

Array twice(const Operand& x) { return multiply(x, x) + multiply(1, x); }

TEST_CASE("record: a temporary beside an operator is held by the result alone, any other operand stays what it is",
          "[graph][record]") {
  const Array x = zeros({3});
  const Array sum = x * 2.0f + (x - 1.0f);
  CHECK(node(sum).input(0)->refs == 1);
  CHECK(node(sum).input(1)->refs == 1);
  CHECK(node(-(x + 1.0f)).input(0)->refs == 1);
  const std::string once = tree(x + 1.0f);
  CHECK(tree(twice(x + 1.0f)) ==
        "add:f32(multiply:f32(" + once + ", " + once + "), multiply:f32(scalar:f32=1.00, " + once + "))");
  Array y = x + 1.0f;
  CHECK(node(y + y).input(0) == &node(y));
  CHECK(y.is_defined());
  CHECK_THROWS_AS(Array() + x, InvalidArgument);
}

TEST_CASE("record: what cannot mean anything does not compile", "[graph][record]") {
  STATIC_REQUIRE_FALSE(Conjunction<Array, Array>);
  STATIC_REQUIRE_FALSE(Conjunction<Array, bool>);
  STATIC_REQUIRE_FALSE(AddsToTemporary<Array>);
  STATIC_REQUIRE_FALSE(SumTakesBool<Array>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<double, Array>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<Array, bool>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<const char*, Operand>);
}
