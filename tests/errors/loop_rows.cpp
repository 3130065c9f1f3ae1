// Wrong bodies of scans, and wrong calls of recurrences with names.
#include <tarry/kernel.h>
#include <tarry/linalg.h>
#include <tarry/random.h>

#include "tests/errors/rows.h"

namespace tarry::test {
namespace {

/// A scan of (3,) whose body gives `carry` and `y` back.
void scan_of(const std::function<std::pair<Array, Array>(const Array&, const Array&)>& body, LoopOptions options = {},
             Where where = std::source_location::current()) {
  (void)scan(zeros({}), zeros({3}), body, options, where);
}

void add_scan_rows(ErrorRows& rows) {
  const ScanBody nothing = [](std::span<const Array>, std::span<const Array>) { return Scanned{}; };
  const auto same = [](const Array& c, const Array& x) { return std::pair(c, x); };
  rows.wrong<OutOfRange>("scan", {"axis 1", "float32 (3,)"}, [=] { scan_of(same, {.axis = 1}); });
  rows.wrong<InvalidShape>("scan", {"float32 (3,) has 3 levels along axis 0, not 4"},
                           [=] { scan_of(same, {.length = 4}); });
  rows.wrong<InvalidValue>("scan", {"how many levels?"}, [=] { (void)scan({}, {}, nothing); });
  rows.wrong("scan", {"returns 0 carries, and is given 1"},
             [=] { (void)scan(std::vector{zeros({})}, std::vector{zeros({3})}, nothing); });
  rows.wrong("scan", {"returns nothing"}, [=] { (void)scan({}, std::vector{zeros({3})}, nothing); });
  rows.wrong("scan", {"undefined"},
             [] { scan_of([](const Array&, const Array& x) { return std::pair(Array(), x); }); });
  rows.wrong<InvalidDtype>("scan", {"carry 0 is float32 () and becomes float64 ()", "astype"}, [] {
    scan_of([](const Array& c, const Array& x) { return std::pair(astype(c, float64), x); });
  });
  rows.wrong<InvalidShape>("scan", {"carry 0 is float32 () and becomes float32 (2,)", "sum", "keeps its shape"}, [] {
    (void)scan(zeros({}), zeros({3, 2}), [](const Array& c, const Array& x) { return std::pair(c * x, x + sum(x)); });
  });
  rows.wrong("uniform", {"body of a loop", "same numbers at every level", "draw before the loop"}, [] {
    random::Generator g(1);
    scan_of([&](const Array& c, const Array& x) { return std::pair(c, x + random::uniform(g, {})); });
  });
  rows.wrong("while_loop", {"sum of the state", "runs when it is recorded", "no values yet"}, [] {
    const auto doubled = [](const Array& c, const Array& x) {
      const auto small = [](const Array& d) { return sum(d) < 3.f; };
      return std::pair(while_loop(small, [](const Array& d) { return d * 2.f; }, c), x);
    };
    (void)scan(zeros({100}), zeros({3, 100}), doubled);
  });
  rows.wrong("scan", {"uses a value of the body of another loop"}, [] {
    Array outer;
    scan_of([&](const Array& c, const Array& x) {
      outer = x;
      return std::pair(c, x);
    });
    scan_of([&](const Array& c, const Array& x) { return std::pair(c + outer, x); });
  });
  rows.wrong<OutOfRange>("scan", {"axis 2", "results of 1 dimensions"}, [=] {
    (void)scan(std::vector{zeros({})}, {},
               [](std::span<const Array> c, std::span<const Array>) { return Scanned{{c[0]}, {}}; },
               {.axis = 2, .length = 2});
  });
  rows.wrong("loop_carry", {"is a value of the body of a scan", "what the body returns"}, [] {
    scan_of([](const Array& c, const Array& x) { return c.item<float>() > 0 ? std::pair(c, x) : std::pair(x, c); });
  });
  rows.wrong<InvalidShape>("scan", {"17 dimensions, more than 16"}, [] {
    const ScanBody copies = [](std::span<const Array> c, std::span<const Array>) { return Scanned{{c[0]}, {c[0]}}; };
    (void)scan(std::vector{zeros(std::vector<std::int64_t>(16, 1))}, {}, copies, {.length = 2});
  });
  rows.wrong<InvalidShape>("scan", {"carries grow"}, [] {
    scan_of([](const Array& c, const Array& x) { return std::pair(expand_dims(c, 0), x); });
  });
  rows.wrong("scan", {"different devices"}, [=] {
    const Scope placed(cuda(0));
    const Array there = zeros({3});
    const Scope back(cpu);
    (void)scan(zeros({}), there, same);
  });
}

void add_while_rows(ErrorRows& rows) {
  const LoopStep same = [](std::span<const Array> s) { return std::vector<Array>(s.begin(), s.end()); };
  const LoopCondition below = [](std::span<const Array> s) { return s[0] < 3; };
  rows.wrong<InvalidDtype>("while_loop", {"the condition is int32 (), not bool"}, [=] {
    (void)while_loop([](std::span<const Array> s) { return s[0]; }, same, std::vector{zeros({}, int32)});
  });
  rows.wrong<InvalidValue>("while_loop", {"-1 rounds"},
                           [=] { (void)while_loop(below, same, std::vector{zeros({})}, {.limit = -1}); });
  rows.wrong<InvalidDtype>("while_loop", {"carry 0 is int32 () and becomes float64 ()"}, [=] {
    (void)while_loop(
        below, [](std::span<const Array> s) { return std::vector{s[0] * 0.5}; }, std::vector{zeros({}, int32)});
  });
}

void add_function_rows(ErrorRows& rows) {
  rows.wrong("soft", {"'y' is not declared", "return y;", "^"},
             [] { (void)tarry::function("soft", "(float x)", "return y;"); });
  rows.wrong("soft", {"2 arguments for soft(float x)"},
             [] { (void)tarry::function("soft", "(float x)", "return x;")(zeros({2}), 1); });
  rows.wrong<InvalidDtype>("soft", {"argument 'x'", "float64 (2,)", "astype"},
                           [] { (void)tarry::function("soft", "(float x)", "return x;")(zeros({2}, float64)); });
  rows.wrong("soft", {"2 results"},
             [] { (void)tarry::function("soft", "(float x) -> (float a, float b)", "a = x; b = x;")(zeros({2})); });
}

void add_reduction_rows(ErrorRows& rows) {
  const tarry::function plus("plus", "(T a, T b)", "return a + b;"),
      halves("halves", "(float a, float b)", "return a;");
  const tarry::function three("three", "(T a, T b, T c)", "return a;");
  rows.wrong("three", {"two states of 1 parts are 2 parameters, not 3"}, [=] { (void)reduction(three); });
  rows.wrong("plus", {"2 identities for 1 states"}, [=] { (void)reduction(plus, {0, 0}); });
  rows.wrong("plus", {"three has 3 parameters for 1 states"}, [=] { (void)reduction(plus, {}, three); });
  rows.wrong<InvalidShape>("plus", {"float32 (0, 3) has no element along axis 0", "no identity"},
                           [=] { (void)reduction(plus)(zeros({0, 3}), 0); });
  rows.wrong("plus", {"2 arrays for 1 states"},
             [=] { (void)reduction(plus).all(std::vector{zeros({3}), zeros({3})}); });
  rows.wrong("plus", {"no array is given"}, [=] { (void)reduction(plus).all({}); });
  rows.wrong<InvalidDtype>("halves", {"state 0 is float16 (", "combines to float32"},
                           [=] { (void)reduction(halves)(zeros({3}, float16)); });
  const tarry::function two("two", "(T a, T b, T c, T d) -> (T x, T y)", "x = a; y = b;");
  rows.wrong("two", {"1 arrays for 2 states"}, [=] { (void)reduction(two)(zeros({3})); });
  const tarry::function pair("pair", "(T a) -> (T x, T y)", "x = a; y = a;");
  rows.wrong("plus", {"2 results: call all()"}, [=] { (void)reduction(plus, {}, pair)(zeros({3})); });
  const Combine none = [](std::span<const Array>, std::span<const Array>) { return std::vector<Array>(); };
  rows.wrong("associative_scan", {"1 states combine to 0 arrays"},
             [=] { (void)associative_scan(none, std::vector{zeros({3})}); });
  const Combine seven = [](std::span<const Array>, std::span<const Array>) { return std::vector{zeros({7})}; };
  rows.wrong<InvalidShape>("associative_scan", {"state 0 is float32 (", "combines to float32 (7,)"},
                           [=] { (void)associative_scan(seven, std::vector{zeros({3})}); });
}

void add_call_rows(ErrorRows& rows) {
  const HostCallable nothing = [](std::span<const HostInput>, std::span<const HostOutput>) {};
  const std::vector<OutputSpec> one = {{{1}, float32}};
  rows.wrong("sorted", {"there is no function"}, [=] { (void)host_function({}, {}, one, "sorted"); });
  rows.wrong("sorted", {"no output is declared"}, [=] { (void)host_function(nothing, {}, {}, "sorted"); });
  rows.wrong("sorted", {"is a value of the body of a loop"}, [=] {
    (void)while_loop([](auto x) { return x < 1; },
                     [=](auto x) { return host_function(nothing, {x}, {{{}, int32}}, "sorted")[0]; }, zeros({}, int32));
  });
  rows.wrong<InvalidDtype>("values", {"elements of float32 have 4 bytes, not 8"}, [=] {
    const HostCallable wide = [](auto, auto out) { out[0].template values<double>()[0] = 1; };
    (void)host_function(wide, {}, one)[0].item<float>();
  });
  rows.wrong("itself", {"needs its own result"}, [=] {
    Array x;
    x = host_function([&x](auto, auto) { (void)x.item<float>(); }, {}, one, "itself")[0];
    (void)x.item<float>();
  });
  rows.wrong<InvalidValue>("axpy", {"(0, 1, 1) threads"},
                           [=] { (void)cuda_kernel("", "axpy", {}, one, {.block = {0, 1, 1}}); });
  rows.wrong("axpy", {"cpu runs no CUDA kernel"},
             [=] { (void)cuda_kernel("", "axpy", {to_device(zeros({1}), cpu)}, one); });
}

void add_solve_rows(ErrorRows& rows) {
  rows.wrong<InvalidShape>("tridiagonal_solve", {"float32 (3,) and float32 (4,)", "extents along the axis"},
                           [] { (void)tridiagonal_solve(zeros({4}), zeros({4}), zeros({3}), zeros({4})); });
  rows.wrong<InvalidShape>("linear_recurrence", {"(2,)", "(4,)"},
                           [] { (void)linear_recurrence(zeros({4, 3}), zeros({4, 3}), {.initial = zeros({2})}); });
  rows.wrong<InvalidShape>("linear_recurrence", {"initial is float32 (2, 4)", "(4,) lanes"},
                           [] { (void)linear_recurrence(zeros({4, 3}), zeros({4, 3}), {.initial = zeros({2, 4})}); });
  rows.wrong<OutOfRange>("linear_recurrence", {"axis 1", "(3,)"},
                         [] { (void)linear_recurrence(zeros({3}), zeros({3}), {.axis = 1}); });
  rows.wrong<InvalidValue>("ewma", {"alpha is 1.5"}, [] { (void)ewma(zeros({3}), 1.5); });
  rows.wrong<InvalidValue>("lfilter", {"a[0] is 0"}, [] { (void)lfilter({1.0}, {0.0}, zeros({3})); });
  rows.wrong<InvalidValue>("lfilter", {"coefficients in b and in a"},
                           [] { (void)lfilter(std::span<const double>(), std::span<const double>(), zeros({3})); });
}

void add_replay_rows(ErrorRows& rows) {
  rows.wrong("greater", {"depends on the arguments of a function", "what the function returns"},
             [] { (void)replay([](const Array& x) { return (sum(x) > 0).item<bool>() ? x : -x; })(zeros({3})); });
  rows.wrong("uniform", {"draws from a generator from outside", "pass the generator as an argument"}, [] {
    random::Generator g(1);
    (void)replay([&g](const Array& x) { return x + random::uniform(g, {3}); })(zeros({3}));
  });
  rows.wrong("draws", {"an argument of a function that is recorded", "fork it outside"}, [] {
    random::Generator g(1);
    (void)replay([](random::Generator& h) { return full({}, static_cast<double>(h.draws())); })(g);
  });
  rows.wrong("replay", {"writes to its argument 1, float32 (2,)", "return the new array"}, [] {
    const Array x = zeros({3}), y = zeros({2});
    const Array* const arrays[] = {&x, &y};
    const detail::TracedBody writes = [](std::span<Array> given, std::span<random::Generator>) {
      given[1] += 1.0F;
      return detail::Traced{{given[1]}};
    };
    (void)detail::Traces(1).call(arrays, {}, {}, writes, std::source_location::current());
  });
}

}  // namespace

void add_loop_rows(ErrorRows& rows) {
  add_scan_rows(rows);
  add_while_rows(rows);
  add_function_rows(rows);
  add_reduction_rows(rows);
  add_call_rows(rows);
  add_solve_rows(rows);
  add_replay_rows(rows);
}

}  // namespace tarry::test
