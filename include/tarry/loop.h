// Loops with a body of yours: recurrences that are one kernel. Calls record and check; a while_loop over a whole array
// runs at once.
#pragma once

#include <tarry/array.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

namespace tarry {
inline namespace v0 {

/// Options of scan.
struct LoopOptions {
  int axis = 0;                             ///< of the xs, along which the levels lie; of the ys too
  bool reverse = false;                     ///< from the last level to the first
  std::optional<std::int64_t> length = {};  ///< levels; needed where there are no xs
};

/// A level of a scan, and its results: what is carried on, after the last level in the end; and values of which each
/// level has its own, along the axis in the end.
struct Scanned {
  std::vector<Array> carries, ys;
};
/// The step from one level to the next. It is called to be recorded, not once a level.
using ScanBody = std::function<Scanned(std::span<const Array> carries, std::span<const Array> xs)>;

/// Goes along an axis with values that are carried from level to level: {carries, ys} = body(carries, xs at the level).
/// The body is recorded when scan is called, with arrays that stand for the values of any level. Where all it does is
/// elementwise, with arrays of any size from outside that broadcast to the lanes, the whole is one kernel: a thread for
/// each lane, an element of the other axes, goes over all levels with its carries in registers. What makes xs and init
/// is computed there too where it is elementwise and nothing else reads it. A body that mixes lanes, by a sum, a slice,
/// a product, a loop of its own, is copied for each level; the copies are fused as other operations are. Shapes: an x
/// has the axis, a level of it has not. Carries and ys of an elementwise body broadcast to the lanes, and an init is
/// broadcast to what the body makes of it; the ys of the result have the lanes' shape and the axis. Where lanes are
/// mixed, a carry keeps its shape, and a y has its own and the axis. Dtypes: a carry keeps its dtype.  Bits: those of
/// the same operations level by level. Throws InvalidArgument where an x lacks the axis, extents along it differ, there
/// is no length, or the body returns another number of carries, another dtype or, where it mixes lanes, another shape;
/// reading a value of a level throws where it is read. Example: `ta::scan(std::vector{ta::ones({})}, {},
/// ta::ScanBody([](auto c, auto) { return ta::Scanned{{c[0] * 2}, {c[0]}}; }), {.length = 4}).ys[0]` is
/// `[1. 2. 4. 8.]`.
[[nodiscard]] TARRY_EXPORT Scanned scan(std::span<const Array> init, std::span<const Array> xs, const ScanBody& body,
                                        LoopOptions options = {}, Where where = std::source_location::current());

/// The same with one carry and one x: body(carry, x) gives the next carry and a y as a pair, as the result does.
/// Shapes, Dtypes: as above.  Throws InvalidArgument as above.
/// Example: `ta::scan(ta::zeros({}, ta::int32), ta::array({1, 2, 3}), [](auto c, auto x) { return std::pair(c + x, c *
/// x); }).second` is `[0 2 9]`.
template <class One, class Body>
  requires std::same_as<One, Array> && std::invocable<Body&, const Array&, const Array&>
[[nodiscard]] std::pair<Array, Array> scan(const One& init, const Array& xs, Body&& body, LoopOptions options = {},
                                           Where where = std::source_location::current()) {
  const ScanBody of_lists = [&body](std::span<const Array> carries, std::span<const Array> at) {
    std::pair<Array, Array> step = body(carries[0], at[0]);
    return Scanned{{std::move(step.first)}, {std::move(step.second)}};
  };
  Scanned done = scan(std::span(&init, 1), std::span(&xs, 1), of_lists, options, where);
  return {std::move(done.carries[0]), std::move(done.ys[0])};
}

/// Options of while_loop.
struct WhileOptions {
  std::int64_t limit = 0x7fffffff;  ///< rounds; an element that is not done then stays as it is
};
/// True where another round follows; and what a round makes of the state. Both are called to be recorded.
using LoopCondition = std::function<Array(std::span<const Array> state)>;
using LoopStep = std::function<std::vector<Array>(std::span<const Array> state)>;

namespace detail {
[[nodiscard]] TARRY_EXPORT std::vector<Array> while_loop(const LoopCondition& condition, const LoopStep& body,
                                                         std::span<const Array> init, WhileOptions options,
                                                         Where where);
}  // namespace detail

/// Repeats state = body(state) while condition(state), element by element: an element is done once its condition is
/// false, and keeps its state from then on. The state is a list of arrays; both functions take a span of them. One
/// kernel, in which a thread leaves its loop when its elements are done; what makes init is computed there too where it
/// is elementwise and nothing else reads it. Condition and body may mix elements of small axes, as those of a scan.
/// Where they mix more, as the norm of a long vector does, the loop runs when it is recorded, and is done when no
/// element has a round left: several rounds at a time, between which the host looks. Rounds in vain are at most one in
/// four. Shapes: those of all states and of the condition broadcast; so the results. Where elements are mixed, a state
/// keeps its shape.  Dtypes: a state keeps its dtype. Bits: those of the same operations round by round, with
/// `where(condition, next, state)` after each. Throws InvalidArgument where the condition is not bool, the body returns
/// another number of arrays, another dtype or, where elements are mixed, another shape, the limit is negative, or the
/// loop has to run where its state has no values: in the body of another one, in a function that is replayed; reading a
/// value of the state throws where it is read. Example: `ta::while_loop([](auto s) { return s[0] < 100; }, [](auto s) {
/// return std::vector{s[0] * 2}; }, std::vector{ta::array({1, 3, 200})})[0]` is `[128 192 200]`.
template <class States, class Condition, class Body>
  requires std::convertible_to<const States&, std::span<const Array>> &&
           std::invocable<Condition&, std::span<const Array>> && std::invocable<Body&, std::span<const Array>>
[[nodiscard]] std::vector<Array> while_loop(Condition&& condition, Body&& body, const States& init,
                                            WhileOptions options = {}, Where where = std::source_location::current()) {
  return detail::while_loop(LoopCondition(std::ref(condition)), LoopStep(std::ref(body)), init, options, where);
}

/// The same with one array as its state: condition(x) and body(x) take and give an array.
/// Shapes, Dtypes: as above.  Throws InvalidArgument as above.
/// Example: `ta::while_loop([](auto x) { return x < 100; }, [](auto x) { return x * 2; }, ta::array({1, 3}))` is
/// `[128 192]`.
template <class One, class Condition, class Body>
  requires std::same_as<One, Array> && std::invocable<Condition&, const Array&> && std::invocable<Body&, const Array&>
[[nodiscard]] Array while_loop(Condition&& condition, Body&& body, const One& init, WhileOptions options = {},
                               Where where = std::source_location::current()) {
  const LoopCondition goes_on = [&](std::span<const Array> state) -> Array { return condition(state[0]); };
  const LoopStep step = [&](std::span<const Array> state) { return std::vector<Array>{body(state[0])}; };
  return detail::while_loop(goes_on, step, std::span(&init, 1), options, where)[0];
}

}  // namespace v0
}  // namespace tarry
