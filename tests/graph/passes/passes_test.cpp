// Passes: rows of what was recorded -> what is left, and the proofs of the strict rules over bit patterns.
#include "graph/passes/passes.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "codegen/interpret/interpreter.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::graph::Op;

namespace {

struct Row {
  const char* name;
  std::function<ta::Array(const ta::Array& x, const ta::Array& y)> build;
  const char* expected;
};

std::string optimised(const ta::Array& a, const std::string& disabled = "") {
  const ta::graph::Snapshot s = ta::test::snapshot_of({&a});
  return to_string(ta::graph::run_passes(s.graph, [&](std::string_view name) { return name == disabled; }));
}

}  // namespace

TEST_CASE("simplify: identities that keep every bit disappear", "[graph][passes]") {
  const ta::Array x = ta::asarray(std::vector<float>{1, 2, 3}), y = ta::asarray(std::vector<float>{4, 5, 6});
  const std::string leaf = "%0 = input f32 (3,) leaf 0\nroots %0\n";
  const Row rows[] = {
      {"x * 1 is x", [](auto& a, auto&) { return a * 1.0f; }, leaf.c_str()},
      {"1 * x is x", [](auto& a, auto&) { return 1.0f * a; }, leaf.c_str()},
      {"x / 1 is x", [](auto& a, auto&) { return a / 1.0f; }, leaf.c_str()},
      {"x - 0 is x", [](auto& a, auto&) { return a - 0.0f; }, leaf.c_str()},
      {"x + -0 is x", [](auto& a, auto&) { return a + -0.0f; }, leaf.c_str()},
      {"--x is x", [](auto& a, auto&) { return -(-a); }, leaf.c_str()},
      {"min(x, x) is x", [](auto& a, auto&) { return ta::minimum(a, a); }, leaf.c_str()},
      {"max(x, x) is x", [](auto& a, auto&) { return ta::maximum(a, a); }, leaf.c_str()},
      {"where(c, x, x) is x", [](auto& a, auto& b) { return ta::where(a < b, a, a); }, leaf.c_str()},
      {"flip(flip(x)) is x", [](auto& a, auto&) { return ta::flip(ta::flip(a)); }, leaf.c_str()},
      {"sum over one element is the element", [](auto& a, auto&) { return ta::sum(ta::expand_dims(a, 0), 0); },
       leaf.c_str()},
      {"abs(-x) is abs(x)", [](auto& a, auto&) { return ta::abs(-a); },
       "%0 = input f32 (3,) leaf 0\n%1 = abs f32 (3,) %0\nroots %1\n"},
      {"x + -y is x - y", [](auto& a, auto& b) { return a + -b; },
       "%0 = input f32 (3,) leaf 0\n%1 = input f32 (3,) leaf 1\n%2 = subtract f32 (3,) %0, %1\nroots %2\n"},
      {"erf(-x) is -erf(x)", [](auto& a, auto&) { return ta::erf(-a); },
       "%0 = input f32 (3,) leaf 0\n%1 = erf f32 (3,) %0\n%2 = negative f32 (3,) %1\nroots %2\n"},
      {"erf(y * -x) is -erf(y * x), and 1 + that is 1 - erf(y * x)",
       [](auto& a, auto& b) { return a + ta::erf(b * -a); },
       "%0 = input f32 (3,) leaf 0\n%1 = input f32 (3,) leaf 1\n%2 = multiply f32 (3,) %1, %0\n%3 = erf f32 (3,) "
       "%2\n%4 = "
       "subtract f32 (3,) %0, %3\nroots %4\n"},
      {"x + 0 is not x: -0 + 0 is 0", [](auto& a, auto&) { return a + 0.0f; },
       "%0 = input f32 (3,) leaf 0\n%1 = scalar f32 ()\n%2 = add f32 (3,) %0, %1\nroots %2\n"},
      {"equal expressions are computed once", [](auto& a, auto& b) { return (a + b) * (a + b); },
       "%0 = input f32 (3,) leaf 0\n%1 = input f32 (3,) leaf 1\n%2 = add f32 (3,) %0, %1\n%3 = multiply f32 (3,) %2, "
       "%2\nroots %3\n"},
      {"a broadcast identity keeps the broadcast", [](auto& a, auto&) { return a * ta::ones({2, 3}); },
       "%0 = input f32 (3,) leaf 0\n%1 = view f32 (2, 3) %0 [0+1*i1]\nroots %1\n"},
  };
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.name) { CHECK(optimised(row.build(x, y)) == row.expected); }
  }
}

TEST_CASE("empty: what is made of arrays without elements reads none of them", "[graph][passes]") {
  const ta::Array x = ta::borrow(static_cast<const float*>(nullptr), {3, 0}),
                  y = ta::asarray(std::vector<float>{1, 2, 3}, {3, 1});
  const std::string none = "%0 = scalar f32 ()\n%1 = view f32 (3, 0) %0 []\n";
  for (const char* disabled : {"", "fold", "simplify", "cse", "empty"}) {
    CAPTURE(disabled);
    const std::string sum = optimised(ta::sum(ta::reshape(x * 2, {0, 3}), 0) + 1, disabled);
    CHECK(sum.find("input") == std::string::npos);
    CHECK(sum.find("sum f32 (3,) %") != std::string::npos);
    CHECK(optimised(ta::sum(x, 1, {.keepdims = true}) - x * y, disabled) == none + "roots %1\n");
  }
  CHECK(optimised(ta::sum(x * y, 1)) == none + "%2 = sum f32 (3,) %1 axis 1\nroots %2\n");
  CHECK(optimised(y + 0.0f).find("input f32 (3, 1)") != std::string::npos);
}

TEST_CASE("fold: scalars meet before the kernel, but only by exact ops", "[graph][passes]") {
  const ta::Array x = ta::asarray(std::vector<float>{1, 2, 3});
  CHECK(optimised(x * (ta::full({}, 2.0f) + ta::full({}, 3.0f))) ==
        "%0 = input f32 (3,) leaf 0\n%1 = scalar f32 ()\n%2 = multiply f32 (3,) %0, %1\nroots %2\n");
  CHECK(
      optimised(x * ta::exp(ta::full({}, 2.0f))) ==
      "%0 = input f32 (3,) leaf 0\n%1 = scalar f32 ()\n%2 = exp f32 () %1\n%3 = multiply f32 (3,) %0, %2\nroots %3\n");
}

TEST_CASE("scalars: equal numbers of one line are one, and what that makes equal is computed once", "[graph][passes]") {
  const ta::Array x = ta::asarray(std::vector<float>{1, 2, 3});
  const auto occurrences = [](const std::string& graph, std::string_view what) {
    int count = 0;
    for (std::size_t at = 0; (at = graph.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const auto cdf = [](const ta::Array& d, float scale = 0.7f) { return 0.5f * (1.0f + ta::erf(d * scale)); };
  const std::string shared = optimised(cdf(x) * cdf(-x));
  CHECK(occurrences(shared, "= scalar") == 3);
  CHECK(occurrences(shared, "= erf") == 1);
  const std::string other_value = optimised(cdf(x) * cdf(-x, 0.8f));
  CHECK(occurrences(other_value, "= scalar") == 4);
  CHECK(occurrences(other_value, "= erf") == 2);
  const ta::Array one = x * 3.0f;
  const ta::Array two = x * 3.0f;
  CHECK(occurrences(optimised(one - two), "= scalar") == 2);
  const ta::Array of_two_dtypes = (x * 3.0f) * (ta::astype(x, ta::int32) * 3);
  CHECK(occurrences(optimised(of_two_dtypes), "= scalar") == 2);
}

TEST_CASE("scalars: equal numbers that are results themselves are each evaluated", "[runtime]") {
  for (const int order : {0, 1, 2}) {
    std::vector<ta::Array> both;
    for (int i = 0; i < 2; ++i) both.emplace_back(2.5f);
    const ta::Array x = ta::asarray(std::vector<float>{1, 2, 3}), product = x * both[0] * both[1];
    if (order == 0) ta::evaluate(both[0], product, both[1]);
    if (order == 1) ta::evaluate(product, both[0], both[1]);
    if (order == 2) ta::evaluate(product, both[1]);
    CHECK(both[1].is_evaluated());
    CHECK(both[0].item<float>() == 2.5f);
    CHECK(both[1].item<float>() == 2.5f);
    CHECK(product.to_vector<float>() == std::vector<float>{6.25f, 12.5f, 18.75f});
  }
}

TEST_CASE("scalars: one for which another stands is the same for every reader, however far apart they are",
          "[runtime]") {
  std::vector<ta::Array> equal;
  for (int i = 0; i < 2; ++i) equal.emplace_back(2.0f);
  ta::Array y = ta::asarray(std::vector<float>{1, 2, 3}) * equal[0] * equal[1];
  for (int i = 0; i < 40; ++i) y = y + static_cast<float>(i);
  y = y * equal[1] - equal[0];
  CHECK(y.to_vector<float>() == std::vector<float>{1566, 1574, 1582});
}

TEST_CASE("passes: each can be switched off by name", "[graph][passes]") {
  const ta::Array x = ta::asarray(std::vector<float>{1, 2, 3});
  CHECK(optimised(-(-x), "simplify").find("negative") != std::string::npos);
  CHECK(optimised((x + x) * (x + x), "cse").find("%3 = multiply f32 (3,) %1, %2") != std::string::npos);
}

TEST_CASE("passes: the harness times, counts and shows every pass", "[graph][passes]") {
  const ta::Array x = ta::asarray(std::vector<float>{1, 2, 3});
  const ta::Array z = (x * 1.0f + x) * (x + x);
  std::vector<ta::graph::PassTrace> trace;
  std::vector<std::string> seen;
  (void)ta::graph::run_passes(ta::test::snapshot_of({&z}).graph, {}, &trace,
                              [&](std::string_view name, const auto&) { seen.emplace_back(name); });
  CHECK(seen == std::vector<std::string>{"empty", "fold", "simplify", "split", "unroll", "unroll_stacks",
                                         "behind_loops", "behind_row_loops", "cse", "reshape", "dce", "latest"});
  REQUIRE(trace.size() == 12);
  CHECK(trace.back().nodes_after == 3);
  CHECK(trace.front().nodes_before == 6);
}

TEST_CASE("simplify: the float rules hold for every float32 exponent, sign and NaN", "[graph][passes][numerics]") {
  using ta::codegen::scalar_function;
  const auto same = [](float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  };
  const auto apply = [](Op op, float a, float b) {
    float out = 0;
    scalar_function(op, ta::float32, ta::float32)(&out, &a, &b, nullptr);
    return out;
  };
  std::uint32_t broken = 0;
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0xffffu}) {
      const float x = std::bit_cast<float>(high << 16 | low);
      broken += !same(apply(Op::Multiply, x, 1.0f), x) + !same(apply(Op::Multiply, 1.0f, x), x) +
                !same(apply(Op::Divide, x, 1.0f), x);
      broken += !same(apply(Op::Subtract, x, 0.0f), x) + !same(apply(Op::Add, x, -0.0f), x) +
                !same(apply(Op::Add, -0.0f, x), x);
      const float negated = apply(Op::Negative, x, 0);
      broken += !same(apply(Op::Negative, negated, 0), x) + !same(apply(Op::Abs, negated, 0), apply(Op::Abs, x, 0));
      const float other = std::bit_cast<float>(low << 16 | high), minus = apply(Op::Negative, other, 0);
      broken += !same(apply(Op::Add, x, minus), apply(Op::Subtract, x, other));
      broken += !same(apply(Op::Erf, negated, 0), apply(Op::Negative, apply(Op::Erf, x, 0), 0));
      broken += !same(apply(Op::Multiply, negated, other), apply(Op::Negative, apply(Op::Multiply, x, other), 0));
      broken += !same(apply(Op::Minimum, x, x), x) + !same(apply(Op::Maximum, x, x), x);
    }
  }
  CHECK(broken == 0);
  CHECK_FALSE(same(apply(Op::Add, -0.0f, 0.0f), -0.0f));  // why x + 0 stays
}

TEST_CASE("simplify: erf is odd and products hand on a minus for every float16 and bfloat16",
          "[graph][passes][numerics]") {
  using ta::codegen::scalar_function;
  const ta::Dtype dtype = GENERATE(ta::float16, ta::bfloat16);
  CAPTURE(dtype);
  const std::uint16_t infinity = dtype == ta::float16 ? 0x7c00 : 0x7f80;
  const auto apply = [dtype](Op op, std::uint16_t a, std::uint16_t b) {
    std::uint16_t out = 0;
    scalar_function(op, dtype, dtype)(&out, &a, &b, nullptr);
    return out;
  };
  const auto same = [infinity](std::uint16_t a, std::uint16_t b) {
    return a == b || ((a & 0x7fff) > infinity && (b & 0x7fff) > infinity);
  };
  std::uint32_t broken = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto x = static_cast<std::uint16_t>(bits), negated = apply(Op::Negative, x, 0);
    broken += !same(apply(Op::Erf, negated, 0), apply(Op::Negative, apply(Op::Erf, x, 0), 0));
    for (std::uint32_t step = 0; step < 64; ++step) {
      const auto y = static_cast<std::uint16_t>(step * 1025 + bits % 7);
      broken += !same(apply(Op::Multiply, negated, y), apply(Op::Negative, apply(Op::Multiply, x, y), 0));
      broken += !same(apply(Op::Add, y, negated), apply(Op::Subtract, y, x));
    }
  }
  CHECK(broken == 0);
}
