// Runs of equal elements in order, and the unique functions, which are made of them.
#include <tarry/create.h>
#include <tarry/evaluate.h>
#include <tarry/index.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/scan.h>
#include <tarry/sort.h>
#include <tarry/views.h>

#include <cstdint>

#include "graph/record/order.h"
#include "graph/record/segments.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

/// `count` elements from one on.
Array part(std::string_view called, const Array& x, std::int64_t from, std::int64_t count, Where where) {
  IndexMap map;
  map.push_back({0, from, 1});
  return detail::wrap(record_view(detail::edge(x, called, where), map, Dims{count}.span(), where));
}

/// True where an element of n is another than the one before it.
Array steps(std::string_view called, const Array& x, std::int64_t n, Where where) {
  return not_equal({part(called, x, 0, n - 1, where), where}, {part(called, x, 1, n - 1, where), where});
}

/// Operations of one call.
class RunFinder {
 public:
  RunFinder(std::string_view called, Where where) : called_(called), where_(where) {}

  Runs run(std::span<const Array> columns, Nans nans) const {
    const PlacedLike placed(detail::edge(columns.front(), called_, where_));
    std::vector<Array> keys;
    for (const Array& c : columns) keys.push_back(narrow(with_one_zero(c)));
    Runs runs;
    for (std::size_t c = keys.size(); c-- > 0;) {
      const Array key = runs.order.is_defined() ? taken(keys[c], runs.order) : keys[c];
      const Array order = argsort(key, {}, where_);
      runs.order = runs.order.is_defined() ? taken(runs.order, order) : order;
    }
    const std::int64_t n = runs.order.size(where_);
    if (n == 0) {
      runs.group = runs.order;
      runs.offsets = zeros({1}, int64, where_);
      return runs;
    }
    Array begins;
    for (const Array& key : keys) {
      const Array differs = steps(taken(key, runs.order), n, nans);
      begins = begins.is_defined() ? logical_or(on(begins), on(differs)) : differs;
    }
    const Array both[] = {runs.order, begins};
    evaluate(both, where_);
    runs.group = cumulative_sum(begins, {.axis = 0, .dtype = int64, .include_initial = true}, where_);
    const Array inside = add(on(flatnonzero(begins, where_)), {1, where_});
    const Array offsets[] = {zeros({1}, int64, where_), inside, full({1}, n, int64, where_)};
    runs.offsets = concat(offsets, 0, where_);
    runs.count = runs.offsets.size(where_) - 1;
    return runs;
  }

  [[nodiscard]] Array taken(const Array& x, const Array& places) const {
    return places.size(where_) == 0 ? x : take(x, places, 0, Bounds::Error, where_);
  }
  [[nodiscard]] Array part(const Array& x, std::int64_t from, std::int64_t count) const {
    return graph::part(called_, x, from, count, where_);
  }
  [[nodiscard]] Operand on(const Array& x) const { return {x, where_}; }

 private:
  [[nodiscard]] Array with_one_zero(const Array& x) const {
    if (!is_floating(x.dtype(where_))) return x;
    return tarry::where(on(equal(on(x), {0, where_})), {0, where_}, on(x));
  }
  /// Distances to the smallest element, where they fit into 32 bits and are many: fewer bytes are sorted.
  [[nodiscard]] Array narrow(const Array& x) const {
    constexpr std::int64_t kLong = 1 << 16;
    if (x.dtype(where_) != int64 || x.size(where_) < kLong) return x;
    const auto [smallest, largest] = evaluated_extremes(x, int64, where_);
    const auto least = smallest.item<std::int64_t>(where_), most = largest.item<std::int64_t>(where_);
    if (static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) > UINT32_MAX) return x;
    return astype(subtract(on(x), {least, where_}), uint32, where_);
  }
  /// True where an element is another than the one before it.
  [[nodiscard]] Array steps(const Array& x, std::int64_t n, Nans nans) const {
    const Array left = part(x, 0, n - 1), right = part(x, 1, n - 1);
    const Array differs = graph::steps(called_, x, n, where_);
    if (nans == Nans::Apart || !is_floating(x.dtype(where_))) return differs;
    const Array nan = logical_and(on(isnan(left, where_)), on(isnan(right, where_)));
    return logical_and(on(differs), on(logical_not(nan, where_)));
  }

  std::string_view called_;
  Where where_;
};

}  // namespace

Runs find_runs(std::string_view called, std::span<const Array> columns, Nans nans, Where where) {
  return RunFinder(called, where).run(columns, nans);
}

Array Runs::counts(Where where) const {
  const RunFinder find("counts", where);
  return subtract(find.on(find.part(offsets, 1, count)), find.on(find.part(offsets, 0, count)));
}

Array Runs::first_of(const Array& x, Where where) const {
  const RunFinder find("values", where);
  return find.taken(x, find.taken(order, find.part(offsets, 0, count)));
}

}  // namespace graph

inline namespace v0 {
namespace {

/// The beginning of all unique functions.
struct Distinct {
  Distinct(std::string_view called, const Array& x, Where at)
      : shape(detail::edge(x, called, at).node()->shape()),
        flat(reshape(x, {graph::element_count(shape.span())}, at)),
        runs(graph::find_runs(called, {&flat, 1}, graph::Nans::Apart, at)),
        where(at) {}

  [[nodiscard]] Array values() const { return runs.first_of(flat, where); }
  [[nodiscard]] Array indices() const { return runs.first_of(arange(flat.size(where), int64, where), where); }
  [[nodiscard]] Array counts() const { return runs.counts(where); }
  [[nodiscard]] Array inverse() const {
    const Array by_element =
        flat.size(where) == 0 ? runs.group : take(runs.group, argsort(runs.order, {}, where), 0, Bounds::Error, where);
    return reshape(by_element, Shape(shape.vector()), where);
  }

  graph::Dims shape;
  Array flat;
  graph::Runs runs;
  Where where;
};

}  // namespace

UniqueAll unique_all(const Array& x, Where where) try {
  const Distinct d("unique_all", x, where);
  return {d.values(), d.indices(), d.inverse(), d.counts()};
}
TARRY_OR_OUT_OF_MEMORY("unique_all", where)

UniqueCounts unique_counts(const Array& x, Where where) try {
  const Distinct d("unique_counts", x, where);
  return {d.values(), d.counts()};
}
TARRY_OR_OUT_OF_MEMORY("unique_counts", where)

UniqueInverse unique_inverse(const Array& x, Where where) try {
  const Distinct d("unique_inverse", x, where);
  return {d.values(), d.inverse()};
}
TARRY_OR_OUT_OF_MEMORY("unique_inverse", where)

/// The sorted elements of which the one before is another. Zeros of both signs are equal: the first of x stands for
/// all.
Array unique_values(const Array& x, Where where) try {
  const graph::Edge edge = detail::edge(x, "unique_values", where);
  const graph::PlacedLike placed(edge);
  const std::int64_t n = graph::element_count(edge.node()->shape());
  const Array flat = reshape(x, {n}, where);
  if (n == 0) return flat;
  const auto on = [&](const Array& a) { return Operand(a, where); };
  const Array sorted = sort(flat, {}, where);
  const Array steps[] = {ones({1}, bool_, where), graph::steps("unique_values", sorted, n, where)};
  const Array both[] = {sorted, concat(steps, 0, where)};
  evaluate(both, where);
  const Array values = compress(both[1], sorted, {}, where);
  if (!is_floating(x.dtype(where))) return values;
  const Array first = take(flat, argmax(equal(on(flat), {0, where}), {}, {}, where), 0, Bounds::Error, where);
  return tarry::where(on(equal(on(values), {0, where})), on(first), on(values));
}
TARRY_OR_OUT_OF_MEMORY("unique_values", where)

}  // namespace v0
}  // namespace tarry
