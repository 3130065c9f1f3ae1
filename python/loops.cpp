// Loops with a body that Python records.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tarry/function.h>

#include "python/module.h"
#include "python/unlocked.h"
#include "python/values.h"

namespace tarry::python {
namespace {

/// body(carries, xs) -> (carries, ys), all of them lists.
Scanned called(const nb::callable& body, std::span<const Array> carries, std::span<const Array> xs) {
  const nb::object step = body(tuple_of({carries.begin(), carries.end()}), tuple_of({xs.begin(), xs.end()}));
  return {arrays_of(step[0]), arrays_of(step[1])};
}

}  // namespace

void bind_loops(nb::module_& m) {
  m.def(
      "tridiagonal_solve",
      [](Value lower, Value diagonal, Value upper, Value right, int axis) {
        return tridiagonal_solve(lower.array(), diagonal.array(), upper.array(), right.array(), {axis}, here());
      },
      "lower"_a, "diagonal"_a, "upper"_a, "right"_a, nb::kw_only(), "axis"_a = -1, document("tridiagonal_solve"));
  m.def(
      "pentadiagonal_solve",
      [](Value lower2, Value lower, Value diagonal, Value upper, Value upper2, Value right, int axis) {
        return pentadiagonal_solve(lower2.array(), lower.array(), diagonal.array(), upper.array(), upper2.array(),
                                   right.array(), {axis}, here());
      },
      "lower2"_a, "lower"_a, "diagonal"_a, "upper"_a, "upper2"_a, "right"_a, nb::kw_only(), "axis"_a = -1,
      document("pentadiagonal_solve"));
  m.def(
      "linear_recurrence",
      [](Value a, Value b, int axis, bool reverse, Value initial) {
        const Array start = initial.is_none() ? Array() : initial.array();
        return linear_recurrence(a.array(), b.array(), {axis, reverse, start}, here());
      },
      "a"_a, "b"_a, nb::kw_only(), "axis"_a = -1, "reverse"_a = false, "initial"_a = nb::none(),
      document("linear_recurrence"));
  m.def(
      "ewma", [](Value x, double alpha, int axis) { return ewma(x.array(), alpha, {axis}, here()); }, "x"_a, "alpha"_a,
      nb::kw_only(), "axis"_a = -1, document("ewma"));
  m.def(
      "lfilter",
      [](const std::vector<double>& b, const std::vector<double>& a, Value x, int axis) {
        return lfilter(std::span(b), std::span(a), x.array(), {axis}, here());
      },
      "b"_a, "a"_a, "x"_a, nb::kw_only(), "axis"_a = -1, document("lfilter"));
  m.def(
      "_while_loop",
      [](const nb::callable& condition, const nb::callable& body, nb::handle init, std::int64_t limit) {
        const LoopCondition goes_on = [&](std::span<const Array> state) {
          const WithGil locked;
          const nb::object answer = condition(tuple_of({state.begin(), state.end()}));
          return Value(answer).array();
        };
        const LoopStep step = [&](std::span<const Array> state) {
          const WithGil locked;
          return arrays_of(body(tuple_of({state.begin(), state.end()})));
        };
        const std::vector<Array> start = arrays_of(init);
        const Where where = here();
        std::vector<Array> done;
        {
          const Unlocked unlocked;
          done = while_loop(goes_on, step, start, {limit}, where);
        }
        return tuple_of(done);
      },
      "condition"_a, "body"_a, "init"_a, "limit"_a);
  m.def(
      "_associative_scan",
      [](const nb::callable& combine, nb::handle elements, int axis, bool reverse) {
        const Combine recorded = [&](std::span<const Array> a, std::span<const Array> b) {
          return arrays_of(combine(tuple_of({a.begin(), a.end()}), tuple_of({b.begin(), b.end()})));
        };
        return tuple_of(associative_scan(recorded, arrays_of(elements), {axis, reverse}, here()));
      },
      "combine"_a, "elements"_a, "axis"_a, "reverse"_a);
  m.def(
      "_scan",
      [](const nb::callable& body, nb::handle init, nb::handle xs, std::optional<std::int64_t> length, int axis,
         bool reverse) {
        const std::vector<Array> inits = arrays_of(init), all = arrays_of(xs);
        const ScanBody recorded = [&](std::span<const Array> carries, std::span<const Array> at) {
          return called(body, carries, at);
        };
        const Scanned done = scan(inits, all, recorded, {axis, reverse, length}, here());
        return nb::make_tuple(tuple_of(done.carries), tuple_of(done.ys));
      },
      "body"_a, "init"_a, "xs"_a, "length"_a.none(), "axis"_a, "reverse"_a);
}

}  // namespace tarry::python
