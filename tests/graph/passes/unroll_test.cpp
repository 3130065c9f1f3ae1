// Reductions of a few elements as terms: the same bits, and one kernel with what stands around them.
#include <functional>
#include <string>
#include <vector>

#include "graph/passes/passes.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/sweep.h"

namespace ta = tarry;
using ta::slice;
using ta::test::Setting;

namespace {

ta::Array odd(const ta::Shape& shape, ta::Dtype dtype) {
  std::size_t n = 1;
  for (const std::int64_t extent : shape.vector()) n *= static_cast<std::size_t>(extent);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i * 7919 % 1009) / 37.0F - 11.0F;
  return ta::astype(ta::asarray(values, shape), dtype);
}

std::vector<double> values(const ta::Array& x) { return ta::astype(x, ta::float64).to_vector<double>(); }

std::int64_t launches(const ta::Array& y) { return ta::plan(y).counters().launches; }

}  // namespace

TEST_CASE("unroll: a reduction of a few elements has the bits of tree R", "[passes][unroll][sweep]") {
  const ta::Scope placed(ta::cpu);
  struct Case {
    ta::Dtype dtype;
    std::int64_t terms;
    int axis;
    ta::Array (*reduce)(const ta::Array& x, int axis);
  };
  std::vector<Case> cases;
  for (const ta::Dtype dtype : {ta::float16, ta::float32, ta::float64, ta::int32, ta::uint8})
    for (const std::int64_t terms : {2, 3, 5, 8, 9})
      for (const int axis : {0, 1, 2}) {
        cases.push_back({dtype, terms, axis, [](const ta::Array& x, int along) { return ta::sum(x, along); }});
        cases.push_back({dtype, terms, axis, [](const ta::Array& x, int along) { return ta::prod(x, along); }});
        cases.push_back({dtype, terms, axis, [](const ta::Array& x, int along) { return ta::max(x, along); }});
        cases.push_back({dtype, terms, axis, [](const ta::Array& x, int along) { return ta::mean(x, along); }});
      }
  for (const Case& c : ta::test::part_of_sweep(cases, 7)) {
    std::vector<std::int64_t> extents{40, 40, 40};
    extents[static_cast<std::size_t>(c.axis)] = c.terms;
    const ta::Array x = odd(extents, c.dtype), w = odd(extents, c.dtype);
    INFO(ta::name(c.dtype) << ", " << c.terms << " terms along axis " << c.axis);
    const std::vector<double> unrolled = values(c.reduce(x * w, c.axis));
    const Setting off("TARRY_DISABLE", "unroll");
    CHECK(unrolled == values(c.reduce(x * w, c.axis)));
  }
}

TEST_CASE("unroll: small products and lengths of vectors are part of the formula around them", "[passes][unroll]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array a = odd({500, 3, 3}, ta::float32), b = odd({500, 3, 3}, ta::float32), x = odd({5000, 3}, ta::float32);
  CHECK(launches(ta::matmul(ta::matmul(a, b), a) + 1.0F) == 1);
  CHECK(launches(ta::sqrt(ta::sum(x * x, 1)) * 2.0F) == 1);
  CHECK(launches(ta::sum(ta::square(ta::expand_dims(x(slice(0, 90)), 1) - ta::expand_dims(x(slice(0, 80)), 0)), -1)) ==
        1);
}

TEST_CASE("unroll: dear values with other readers are computed once, and long axes are walked", "[passes][unroll]") {
  const ta::Scope placed(ta::cpu);
  const auto walks = [](const ta::Array& y) {
    const std::string text = to_string(ta::graph::run_passes(ta::test::snapshot_of({&y}).graph, {}));
    return text.find(" sum ") != std::string::npos;
  };
  const ta::Array x = odd({5000, 4}, ta::float32), e = ta::exp(x);
  CHECK(walks(e / ta::sum(e, 1, {.keepdims = true})));
  CHECK(walks(ta::sum(odd({500, 9}, ta::float32), 1)));
  CHECK(walks(ta::sum(odd({3, 500}, ta::float32))));
  CHECK_FALSE(walks(ta::sum(x * x, 1)));
  CHECK_FALSE(walks(ta::sum(odd({3, 4}, ta::float32))));
}

TEST_CASE("unroll: small sums that a long one and others read are terms of what is stored", "[passes][unroll]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array a = odd({900, 4, 4}, ta::float64), b = odd({900, 4, 2}, ta::float64);
  const ta::Array p = ta::matmul(ta::matmul(a, a), ta::matrix_transpose(a)), q = ta::matmul(p, b);
  const std::vector<ta::Array> results{p, q, ta::mean(q)};
  const std::string text =
      to_string(ta::graph::run_passes(ta::test::snapshot_of({&results[0], &results[1], &results[2]}).graph, {}));
  INFO(text);
  CHECK(text.find("sum f64 (900, 4, ") == std::string::npos);
  CHECK(text.find("sum f64 ()") != std::string::npos);  // the mean
  std::vector<ta::Array> now{p + 0.0, q + 0.0, ta::mean(q) + 0.0};
  ta::evaluate(now);
  const Setting off("TARRY_DISABLE", "unroll");
  for (std::size_t i = 0; i < results.size(); ++i) CHECK(values(now[i]) == values(results[i]));
}

TEST_CASE("unroll: small sums of which only a long one reads are terms of its formula", "[passes][unroll]") {
  const ta::Scope placed(ta::cpu);
  const ta::Array a = odd({300, 2}, ta::float32), b = odd({300, 2}, ta::float32);
  const ta::Array y = ta::sum(ta::sqrt(ta::abs(ta::sum(a * b, 1))));
  const std::string text = to_string(ta::graph::run_passes(ta::test::snapshot_of({&y}).graph, {}));
  INFO(text);
  CHECK(text.find("sum f32 (300,)") == std::string::npos);
  CHECK(text.find("sum f32 ()") != std::string::npos);
  CHECK(launches(y) == 1);
  const std::vector<double> unrolled = values(y);
  const Setting off("TARRY_DISABLE", "unroll");
  CHECK(unrolled == values(ta::sum(ta::sqrt(ta::abs(ta::sum(a * b, 1))))));
}

TEST_CASE("unroll: sums over a stack read its parts, in the order of tree R", "[passes][unroll]") {
  const ta::Scope placed(ta::cpu);
  ta::Array x = odd({3000}, ta::float32), w = odd({64}, ta::float32);
  ta::evaluate(x, w);
  for (const std::int64_t count : {9, 16, 17, 32, 33, 40, 64}) {
    std::vector<ta::Array> parts;
    for (std::int64_t i = 0; i < count; ++i) parts.push_back(x(slice(i, 2900 + i)));
    const ta::Array weights = ta::expand_dims(w(slice(0, count)), 1);
    using Make = std::function<ta::Array()>;
    for (const Make& make :
         {Make([&] { return ta::sum(ta::stack(parts, 0), 0); }), Make([&] { return ta::max(ta::stack(parts, 0), 0); }),
          Make([&] { return ta::sum(ta::stack(parts, 0) * weights, 0); }),
          Make([&] { return ta::mean(ta::stack(parts, 1), 1); })}) {
      const ta::Array y = make();
      INFO(count << " parts\n" << ta::plan(y).str());
      const ta::Counters c = ta::plan(y).counters();
      CHECK(c.launches == 1);
      CHECK(c.bytes_read + c.bytes_written <= 4 * (3000 + 2900 + 64));
      const std::vector<double> unrolled = values(y);
      const Setting off("TARRY_DISABLE", "unroll");
      CHECK(unrolled == values(make()));
    }
  }
}
