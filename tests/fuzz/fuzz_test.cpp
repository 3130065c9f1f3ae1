// Random graphs: fused = stepwise = interpreted = without reuse = without passes = oracle, and tests of the tester.
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <set>

#include "tests/fuzz/oracle.h"
#include "tests/fuzz/run.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/test.h"

namespace {

using namespace tarry::test::fuzz;
using tarry::test::environment;

constexpr std::size_t kBatch = 64;
/// A new one every day: fresh graphs in every run of the CI, the same ones all day.
std::uint64_t first_seed() {
  const auto days =
      std::chrono::duration_cast<std::chrono::hours>(std::chrono::system_clock::now().time_since_epoch()).count() / 24;
  return static_cast<std::uint64_t>(days) * 1'000'000;
}
#ifdef TARRY_SANITIZE_NAME
constexpr std::uint64_t kGraphs = 96;  // instrumented kernels take several times as long to compile
#else
constexpr std::uint64_t kGraphs = 1000;
#endif

/// Two of eight batches are compiled as well.
Depth depth_of(std::uint64_t batch) {
  return batch % 8 == 0 ? Depth::All : batch % 8 == 4 ? Depth::Compiled : Depth::Basic;
}

/// Checks `count` graphs. Returns explanations of the failures, five at most.
std::vector<std::string> fuzz(std::uint64_t count, tarry::Device device) {
  const std::uint64_t first = environment("TARRY_FUZZ_SEED", first_seed());
  std::cerr << "fuzz on " << device.str() << ": " << count << " graphs from seed " << first << std::endl;
  // TARRY_FUZZ_STOP: the first failure is enough, and nobody reads its smallest form.
  const bool stop = environment("TARRY_FUZZ_STOP", 0) != 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> explanations;
  for (std::uint64_t done = 0, batch = 0; done < count && explanations.size() < 5; ++batch) {
    std::vector<Program> programs;
    for (; programs.size() < kBatch && done < count; ++done) programs.push_back(generate(first + done));
    for (const Failure& f : check(programs, device, depth_of(batch), stop)) {
      explanations.push_back(stop ? "seed " + std::to_string(programs[f.program].seed) + ": " + f.what
                                  : explain(programs[f.program], f, device));
      std::cerr << explanations.back() << std::endl;
      if (stop) return explanations;
    }
    if (batch % 8 != 7 && done < count) continue;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cerr << "fuzz on " << device.str() << ": " << done << " graphs, "
              << static_cast<double>(done) / seconds.count() << " per second, " << explanations.size() << " failures"
              << std::endl;
  }
  return explanations;
}

void require_agreement(std::uint64_t count, tarry::Device device) {
  const std::vector<std::string> explanations = fuzz(count, device);
  for (const std::string& explanation : explanations) FAIL_CHECK(explanation);
  CHECK(explanations.empty());
}

Input input(tarry::Dtype dtype, Extents shape, Layout layout = Layout::Copied, Content content = Content::Plain) {
  return {{dtype, std::move(shape)}, layout, content, 7};
}
Statement unary(Function f, int x) { return {f, {{x, 0}}, {}, {}, {}, false, 0}; }
Statement binary(Function f, int x, int y) { return {f, {{x, 0}, {y, 0}}, {}, {}, {}, false, 0}; }

}  // namespace

TEST_CASE("fuzz: random graphs agree on the CPU", "[fuzz]") {
  require_agreement(environment("TARRY_FUZZ_GRAPHS", kGraphs), tarry::cpu);
}

TEST_CASE("fuzz: graphs that few others are like agree on the CPU", "[fuzz]") {
  std::vector<Program> programs;
  programs.push_back(generate(20782001045));  // steps that share an operand, which they read at columns of their own
  programs.push_back(generate(20782000210));  // rows whose choice depends on a guard of another scope
  programs.push_back(generate(31415926772));  // a loop of three guards in parts, of which the last has only one
  for (const Failure& f : check(programs, tarry::cpu, Depth::All, true))
    FAIL_CHECK(programs[f.program].seed << ": " << f.what);
  CHECK(programs[0].statements.size() > 1);
}

TEST_CASE("fuzz: random graphs agree on the GPU", "[fuzz][cuda]") {
  TARRY_REQUIRE_CUDA();
  require_agreement(environment("TARRY_FUZZ_GRAPHS", 1000), tarry::cuda(0));
}

TEST_CASE("fuzz: random graphs have plans for GPUs that are not here", "[fuzz]") {
  const std::uint64_t first = environment("TARRY_FUZZ_SEED", first_seed());
  for (std::uint64_t seed = first; seed < first + environment("TARRY_FUZZ_GRAPHS", kGraphs) / 4; ++seed) {
    INFO("seed " << seed);
    const Program p = generate(seed);
    Arrays arrays = make_inputs(p);
    for (const Statement& s : p.statements) arrays.values.push_back(record(s, arrays.values));
    std::vector<const tarry::Array*> outputs;
    for (const int v : p.outputs) outputs.push_back(&arrays.values[static_cast<std::size_t>(v)]);
    for (const char* target : {"sm_75", "sm_90"}) CHECK(tarry::detail::plan(outputs, target, {}).counters().nodes >= 0);
  }
}

TEST_CASE("plan: sums and variances of columns of which there are none, for GPUs that are not here", "[fuzz]") {
  const tarry::Array x = tarry::zeros({100, 0}) + 1.0f;
  for (const char* target : {"sm_75", "sm_90"})
    CHECK_NOTHROW((void)tarry::plan_for(target, tarry::sum(x, 0), tarry::var(x, 0)));
}

TEST_CASE("plan: reductions and scans of up to 2^54 elements, whichever way they lie", "[fuzz]") {
  constexpr std::int64_t kAll = std::int64_t{1} << 54,
                         kSide = std::int64_t{1} << 27;  // as int64, all that memory can hold
  for (const char* target : {"x86-64-v2", "x86-64-v4", "armv8-a", "sm_90"}) {
    for (const tarry::Shape& shape : {tarry::Shape{kAll}, tarry::Shape{kSide, kSide}, tarry::Shape{kAll / 4, 4},
                                      tarry::Shape{100, kAll / 128}, tarry::Shape{std::int64_t{1} << 37}}) {
      INFO(target << ' ' << shape.str());
      const tarry::Array x = tarry::ones(shape, tarry::int8), y = tarry::astype(x, tarry::float32) * 0.5f;
      for (const int axis : {0, static_cast<int>(shape.size()) - 1})
        CHECK(tarry::plan_for(target, tarry::sum(x), tarry::max(tarry::sum(y, axis)),
                              tarry::min(tarry::argmax(x, axis)), tarry::max(tarry::var(y, axis)))
                  .counters()
                  .kernels > 0);
      CHECK(tarry::plan_for(target, tarry::max(tarry::cumulative_sum(x, {.axis = 0}))).counters().kernels > 0);
    }
  }
}

TEST_CASE("fusion: what a reduction gives stands at every point of a row, whoever reads it elsewhere",
          "[fuzz][graph]") {
  const tarry::Array x = tarry::asarray(std::vector<double>{1, 2, 3, 4}), w = tarry::asarray(std::vector<double>{5});
  for (const bool keeps : {false, true}) {  // an axis of extent 1 or none
    const tarry::Array apart = tarry::sum(x, {}, {.keepdims = keeps}) + w, result = tarry::std(x);
    const tarry::Array wide = tarry::broadcast_to(result, {17, 4}), row = wide(16),
                       like = tarry::broadcast_to(result, {4});
    tarry::evaluate(apart, row, wide, like);
    CHECK(apart.to_vector<double>() == std::vector<double>{15});
    CHECK(row.to_vector<double>() == std::vector<double>(4, std::sqrt(1.25)));
    CHECK(like.to_vector<double>() == row.to_vector<double>());
  }
}

TEST_CASE("fuzz: empty arrays are drawn often, and folds beside rows", "[fuzz]") {
  int empty = 0, borrowed = 0, results = 0;
  for (std::uint64_t seed = 0; seed < 1200; ++seed) {
    const Program p = generate(seed);
    const std::vector<Type> types = *infer(p);
    for (const Input& i : p.inputs) borrowed += count_of(i.type.shape) == 0 && i.layout != Layout::Copied;
    for (std::size_t i = 0; i < p.statements.size(); ++i) {
      const Statement& s = p.statements[i];
      empty += count_of(types[p.inputs.size() + i].shape) == 0;
      results += family(s.function) == Family::Reduce &&
                 count_of(types[static_cast<std::size_t>(s.arguments[0].value)].shape) == 0 &&
                 count_of(types[p.inputs.size() + i].shape) > 0;
    }
  }
  CHECK(empty > 500);
  CHECK(borrowed > 60);
  CHECK(results > 100);
}

TEST_CASE("fusion: a reduction of a reduction along extents of 1 reads finished results", "[fuzz][graph]") {
  Program p;
  p.inputs = {input(tarry::float32, {1, 1, 5})};
  p.statements = {unary(Function::Var, 0), unary(Function::Std, 1), binary(Function::Add, 1, 2),
                  unary(Function::Var, 3)};
  p.outputs = {4};
  const std::vector<Failure> failures = check(std::span(&p, 1), tarry::cpu, Depth::All);
  CHECK((failures.empty() ? std::string() : failures[0].what) == "");
}

TEST_CASE("reshape: memory that an update is written over is copied before, whatever else reads it", "[fuzz][graph]") {
  Program p;  // the copy of v0 shares its reader with the casts, which read the update
  p.inputs = {input(tarry::int16, {127, 13, 2}, Layout::Strided)};
  Statement update{Function::AddTo, {{0, 0}, {-1, 1}}, {}, {}, {}, false, 0, {{{}, 7, -2, false}}};
  Statement spread = unary(Function::Std, 1), whole = unary(Function::Var, 2);
  spread.axes = {0, 1};
  p.statements = {update, spread, whole, binary(Function::Maximum, 0, 3), binary(Function::Minimum, 4, 1)};
  p.outputs = {5};
  const std::vector<Failure> failures = check(std::span(&p, 1), tarry::cpu, Depth::All);
  CHECK((failures.empty() ? std::string() : failures[0].what) == "");
}

TEST_CASE("prelude: a float that becomes an integer and a float again has no negative zero", "[fuzz][codegen]") {
  std::vector<Program> programs;
  for (const tarry::Dtype from : {tarry::float32, tarry::float64}) {
    for (const tarry::Dtype through : {tarry::int32, tarry::int64}) {
      for (std::int64_t n = 12; n < 20; ++n) {  // bodies and tails of vectors
        Program p;
        p.inputs = {input(from, {2, n})};  // in [-4, 4)
        p.statements = {unary(Function::Astype, 0), unary(Function::Abs, 1), unary(Function::Astype, 1)};
        p.statements[0].dtype = through;
        p.statements[2].dtype = from;
        p.outputs = {2, 3};
        programs.push_back(p);
      }
    }
  }
  for (const Failure& f : check(programs, tarry::cpu, Depth::Compiled)) FAIL_CHECK(f.what);
  CHECK(programs.size() == 32);
}

TEST_CASE("fuzz: equal seeds give equal programs, and all of them are valid", "[fuzz]") {
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Program p = generate(seed);
    REQUIRE(infer(p));
    REQUIRE(to_cpp(p) == to_cpp(generate(seed)));
    texts.insert(to_cpp(p));
  }
  CHECK(texts.size() == 100);
}

TEST_CASE("fuzz: programs cover every function, dtype, layout and content", "[fuzz]") {
  std::set<int> functions, dtypes, layouts, contents, ranks;
  std::set<std::int64_t> extents;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Program p = generate(seed);
    for (const Statement& s : p.statements) functions.insert(static_cast<int>(s.function));
    for (const Input& i : p.inputs) {
      dtypes.insert(static_cast<int>(i.type.dtype));
      layouts.insert(static_cast<int>(i.layout));
      contents.insert(static_cast<int>(i.content));
      ranks.insert(static_cast<int>(i.type.shape.size()));
      extents.insert(i.type.shape.begin(), i.type.shape.end());
    }
  }
  std::string missing;
  for (int f = 0; f < kFunctionCount; ++f)
    if (!functions.contains(f)) missing += std::string(name(static_cast<Function>(f))) + ' ';
  CHECK(missing == "");
  CHECK(dtypes.size() == std::size(kDtypes));
  CHECK(layouts.size() == 6);
  CHECK(contents.size() == 3);
  CHECK(ranks.size() == 5);
  for (const std::int64_t edge : {0, 1, 2, 31, 32, 33, 127, 128, 129}) CHECK(extents.count(edge) == 1);
}

TEST_CASE("fuzz: recording gives the shapes and dtypes that the documents say", "[fuzz]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Program p = generate(seed);
    const std::vector<Type> types = *infer(p);
    Arrays arrays = make_inputs(p);
    for (const Statement& s : p.statements) arrays.values.push_back(record(s, arrays.values));
    for (std::size_t v = 0; v < types.size(); ++v) {
      const Type recorded{arrays.values[v].dtype(), arrays.values[v].shape().vector()};
      INFO("value " << v << " of\n" << to_cpp(p));
      REQUIRE(recorded == types[v]);
    }
  }
}

TEST_CASE("fuzz: an input has the same values in every layout that repeats nothing", "[fuzz]") {
  const Tensor expected = values_of(input(tarry::float32, {3, 5, 2}));
  for (const Layout layout :
       {Layout::Copied, Layout::Contiguous, Layout::Transposed, Layout::Strided, Layout::Reversed}) {
    Program p;
    p.inputs = {input(tarry::float32, {3, 5, 2}, layout)};
    const Arrays arrays = make_inputs(p);
    CHECK(tarry::test::same_bits(arrays.values[0].to_vector<float>(),
                                 std::vector<float>(expected.as<float>().begin(), expected.as<float>().end())));
  }
}

TEST_CASE("fuzz: a failing program shrinks to the statements that matter", "[fuzz]") {
  // Planted: a sum over more than 32 elements of something that comes from exp of some elements.
  const auto fails = [](const Program& p) {
    const std::vector<Type> types = *infer(p);
    std::vector<bool> from_exp(p.inputs.size());
    for (const Statement& s : p.statements) {
      bool tainted = s.function == Function::Exp && count_of(types[from_exp.size()].shape) > 0;
      for (const Argument& a : s.arguments)
        tainted = tainted || (a.value >= 0 && from_exp[static_cast<std::size_t>(a.value)]);
      const bool is_long =
          s.function == Function::Sum && count_of(types[static_cast<std::size_t>(s.arguments[0].value)].shape) > 32;
      if (tainted && is_long) return true;
      from_exp.push_back(tainted);
    }
    return false;
  };
  int shrunk = 0;
  for (std::uint64_t seed = 0; shrunk < 20; ++seed) {
    const Program p = generate(seed);
    if (!fails(p)) continue;
    const Program small = shrink(p, fails);
    INFO(to_cpp(small));
    CHECK(fails(small));
    REQUIRE(small.statements.size() <= 4);  // exp, sum, and what makes many elements of a small exp
    CHECK(small.inputs.size() <= 2);
    CHECK(small.outputs.size() == 1);
    ++shrunk;
  }
}

TEST_CASE("fuzz: a program prints as C++", "[fuzz]") {
  Program p;
  p.seed = 5;
  p.inputs = {input(tarry::float32, {2, 3}, Layout::Transposed, Content::Small),
              input(tarry::int32, {}, Layout::Copied, Content::Zeros)};
  Statement total = unary(Function::Sum, 2);
  total.axes = {0, -1};
  total.flag = true;
  Statement scaled = binary(Function::Multiply, 0, 1);
  scaled.arguments[1] = {-1, -0.5};
  p.statements = {scaled, total, binary(Function::Maximum, 3, 1)};
  p.outputs = {2, 4};
  const std::string text = to_cpp(p);
  CHECK(text.find("ta::Array v0 = ta::borrow(m0 + 0, ta::Shape{2, 3}, std::vector<std::int64_t>{1, 2});") !=
        std::string::npos);
  CHECK(text.find("ta::Array v1 = ta::asarray(std::span<const std::int32_t>(m1, 1), ta::Shape{});") !=
        std::string::npos);
  CHECK(text.find("ta::Array v2 = ta::multiply(v0, -0x1p-1);") != std::string::npos);
  CHECK(text.find("ta::Array v3 = ta::sum(v2, ta::Axes{0, -1}, {.keepdims = true});") != std::string::npos);
  CHECK(text.find("ta::Array v4 = ta::maximum(v3, v1);") != std::string::npos);
  CHECK(text.find("ta::evaluate(v2, v4);") != std::string::npos);
}

TEST_CASE("oracle: a changed bit in any result is noticed", "[fuzz]") {
  std::vector<Program> programs;
  for (std::uint64_t seed = 0; seed < 60; ++seed) programs.push_back(generate(seed));
  const auto all = run(programs, {"stepwise", "compile", Order::Stepwise});
  int changed = 0, noticed = 0;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    for (std::size_t i = 0; i < programs[p].statements.size(); ++i) {
      const Statement& s = programs[p].statements[i];
      const std::size_t value = programs[p].inputs.size() + i;
      Tensor got = all[p][value];
      if (got.bytes.empty() || ulp_bound(s.function, got.type.dtype) > 0) continue;
      const std::size_t middle =
          got.bytes.size() / tarry::itemsize(got.type.dtype) / 2 * tarry::itemsize(got.type.dtype);
      got.bytes[middle] ^= std::byte{1};
      if (difference(got, all[p][value]).empty()) continue;  // one NaN became another
      ++changed;
      noticed += !judge(s, std::span(all[p]).first(value), got).empty();
    }
  }
  CHECK(changed > 200);
  CHECK(noticed == changed);
}

TEST_CASE("oracle: a transcendental one ulp beyond its bound is noticed", "[fuzz]") {
  Program p;
  p.inputs = {input(tarry::float32, {64})};
  for (const Function f : {Function::Exp, Function::Erf}) {
    const Statement s = unary(f, 0);
    const std::vector<Tensor> values = {values_of(p.inputs[0])};
    Tensor got({tarry::float32, {64}});
    const auto x = values[0].as<float>();
    const auto y = got.as<float>();
    for (std::size_t k = 0; k < 64; ++k)
      y[k] = static_cast<float>(f == Function::Exp ? std::exp(double{x[k]}) : std::erf(double{x[k]}));
    CHECK(judge(s, values, got).empty());
    for (int step = 0; step <= ulp_bound(f, tarry::float32); ++step) y[9] = std::nextafter(y[9], INFINITY);
    CHECK_FALSE(judge(s, values, got).empty());
  }
}

TEST_CASE("same_bits: zeros of both signs differ, NaNs do not", "[fuzz]") {
  using tarry::test::same_bits;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(same_bits(nan, -nan));
  CHECK(same_bits(-0.0, -0.0));
  CHECK_FALSE(same_bits(0.0f, -0.0f));
  CHECK_FALSE(same_bits(nan, 1.0f));
  CHECK_FALSE(same_bits(1.0, std::nextafter(1.0, 2.0)));
  CHECK(tarry::test::first_difference<int>(std::vector{1, 2, 3}, std::vector{1, 5, 3}) == 1);
  CHECK_FALSE(same_bits(std::vector<float>{1, 2}, std::vector<float>{1}));
}
