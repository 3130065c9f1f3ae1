// bincount, digitize and histograms: places of elements among bins, which are counted.
#include <tarry/create.h>
#include <tarry/index.h>
#include <tarry/ops.h>
#include <tarry/reduce.h>
#include <tarry/sort.h>
#include <tarry/views.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/record/segments.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Grouping;
using graph::Typed;

/// Operations of one call.
class Binning {
 public:
  Binning(std::string_view called, const Array& x, Where where)
      : called_(called), x_(detail::edge(x, called, where)), where_(where) {}

  [[nodiscard]] const Edge& x() const { return x_; }
  template <class Kind>
  [[noreturn]] void fail(const std::string& message) const {
    TARRY_THROW(Kind, std::string(called_), where_, message + " (given " + Typed(x_).str() + ")");
  }
  [[nodiscard]] Edge edge(const Array& x) const { return detail::edge(x, called_, where_); }
  [[nodiscard]] Operand on(const Array& x) const { return {x, where_}; }
  template <class T>
  [[nodiscard]] Operand number(T x) const {
    return {x, where_};
  }
  [[nodiscard]] Array flat(const Array& x) const {
    return reshape(x, {graph::element_count(edge(x).node()->shape())}, where_);
  }
  [[nodiscard]] Array part(const Array& x, std::int64_t from, std::int64_t count) const {
    graph::IndexMap map;
    map.push_back({0, from, 1});
    return detail::wrap(graph::record_view(edge(x), map, Dims{count}.span(), where_));
  }

  /// Ascending edges of bins.
  void check_edges(const Array& edges) const {
    const Edge e = edge(edges);
    if (e.node()->rank != 1 || e.node()->shape()[0] < 2)
      fail<InvalidShape>("edges have one dimension and two elements at least, not " + Typed(e).str());
    const std::int64_t bins = e.node()->shape()[0] - 1;
    const Array ascends = all(less_equal(on(part(edges, 0, bins)), on(part(edges, 1, bins))), {}, {}, where_);
    if (!ascends.item<bool>(where_)) fail<InvalidValue>("edges ascend, and none is NaN");
  }

  /// The bins of elements between edges, int64; what is in none has another number than a bin.
  [[nodiscard]] Array among(const Array& x, const Array& edges) const {
    const std::int64_t bins = edges.size(where_) - 1;
    const Array place = subtract(on(searchsorted(edges, x, {.side = Side::Right}, where_)), number(1));
    const Array last = part(edges, bins, 1);
    const Array at_end = equal(on(x), on(last));
    return where(on(at_end), number(bins - 1), on(place));
  }

  /// The same for equal bins, whose edges are float64: a bin is guessed, and the edges beside it decide.
  [[nodiscard]] Array among_equal(const Array& x, const Array& edges, double low, double high) const {
    const std::int64_t bins = edges.size(where_) - 1;
    const double width = (high - low) / static_cast<double>(bins), size = std::max(std::abs(low), std::abs(high));
    // So far from the rounding of edges and differences a guess is wrong by one bin at most.
    constexpr double kRoom = 0x1p40;
    if (!(std::isfinite(high - low) && width * kRoom >= size && std::isfinite(1 / width))) return among(x, edges);
    const Array wide = astype(x, float64, where_);
    const Array steps = floor(multiply(on(subtract(on(wide), number(low))), number(1 / width)), where_);
    const Array inside = logical_and(on(greater_equal(on(wide), number(low))), on(less_equal(on(wide), number(high))));
    const Array guess = astype(clip(steps, number(0.0), number(static_cast<double>(bins - 1)), where_), int64, where_);
    const Array left = take(edges, guess, 0, Bounds::Clip, where_);
    const Array right = take(edges, add(on(guess), number(1)), 0, Bounds::Clip, where_);
    const Array below = astype(less(on(wide), on(left)), int64, where_);
    const Array above = astype(
        logical_and(on(greater_equal(on(wide), on(right))), on(less(on(guess), number(bins - 1)))), int64, where_);
    const Array bin = add(on(subtract(on(guess), on(below))), on(above));
    return where(on(inside), on(bin), number(-1));
  }

  /// Elements of each bin, or the sums of their weights; what is in no bin counts nothing.
  [[nodiscard]] Array counted(const Array& bin, std::int64_t bins, const Array& weights) const {
    if (!weights.is_defined()) return counted_inside(bin, bins, weights);
    const Array outside = logical_or(on(less(on(bin), number(0))), on(greater_equal(on(bin), number(bins))));
    return counted_inside(where(on(outside), number(bins), on(bin)), bins, weights);
  }
  /// The same where every weighted element is in a bin or in the one behind the last.
  [[nodiscard]] Array counted_inside(const Array& bin, std::int64_t bins, const Array& weights) const {
    if (!weights.is_defined()) return graph::count_places(called_, bin, bins, where_);
    return Grouping(called_, bin, bins, where_).aggregate(Aggregate::Sum, weights);
  }

  [[nodiscard]] Array density(const Array& counts, const std::vector<Array>& edges) const {
    Array share = astype(counts, float64, where_);
    share = divide(on(share), on(sum(share, {}, {}, where_)));
    for (std::size_t d = 0; d < edges.size(); ++d) {
      const std::int64_t bins = edges[d].size(where_) - 1;
      const Array wide = astype(edges[d], float64, where_);
      std::vector<std::int64_t> shape(edges.size(), 1);
      shape[d] = bins;
      const Array widths = subtract(on(part(wide, 1, bins)), on(part(wide, 0, bins)));
      share = divide(on(share), on(reshape(widths, shape, where_)));
    }
    return share;
  }

  void check_weights(const Array& weights, const Edge& x) const {
    if (!weights.is_defined()) return;
    const Edge w = edge(weights);
    if (!std::ranges::equal(w.node()->shape(), x.node()->shape()))
      fail<InvalidShape>("weights of " + Typed(w).str() + " do not stand beside " + Typed(x).str());
  }

  /// Weights in one dimension, undefined where there are none.
  [[nodiscard]] Array flat_weights(const Array& weights) const {
    return weights.is_defined() ? flat(weights) : weights;
  }

 private:
  std::string_view called_;
  Edge x_;
  Where where_;
};

/// The range of histogram: the user's, or that of the elements.
std::pair<double, double> range_of(const Binning& b, const Array& flat, const HistogramOptions& options, Where where) {
  double low = 0, high = 1;
  if (options.range) {
    std::tie(low, high) = *options.range;
  } else if (flat.size(where) > 0) {
    const auto [least, most] = graph::evaluated_extremes(flat, float64, where);
    low = least.item<double>(where);
    high = most.item<double>(where);
  }
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    b.fail<InvalidValue>("the range from " + std::to_string(low) + " to " + std::to_string(high) +
                         " is not finite or descends");
  if (low == high) return {low - 0.5, high + 0.5};
  return {low, high};
}

}  // namespace

Array bincount(const Array& x, const BincountOptions& options, Where where) try {
  const Binning b("bincount", x, where);
  const Edge& e = b.x();
  const std::string misfit = "takes integers of one dimension, not " + Typed(e).str();
  if (!is_integral(e.node()->dtype) && e.node()->dtype != bool_) b.fail<InvalidDtype>(misfit);
  if (e.node()->rank != 1) b.fail<InvalidShape>(misfit);
  if (options.minlength < 0)
    b.fail<InvalidValue>("minlength is " + std::to_string(options.minlength) + ", not negative");
  b.check_weights(options.weights, e);
  std::int64_t bins = options.minlength;
  if (e.node()->shape()[0] > 0) {
    const auto [smallest, largest] = graph::evaluated_extremes(x, int64, where);
    const auto least = smallest.item<std::int64_t>(where), most = largest.item<std::int64_t>(where);
    if (least < 0 || most < 0 || most == std::numeric_limits<std::int64_t>::max())
      b.fail<InvalidValue>(
          "elements are not negative and within int64, with room for as many bins; as int64 the "
          "smallest is " +
          std::to_string(least) + ", the largest " + std::to_string(most));
    bins = std::max(bins, most + 1);
  }
  return b.counted_inside(astype(x, int64, where), bins, options.weights);
}
TARRY_OR_OUT_OF_MEMORY("bincount", where)

Array digitize(const Array& x, const Array& edges, DigitizeOptions options, Where where) try {
  const Binning b("digitize", x, where);
  const Edge e = b.edge(edges);
  if (e.node()->rank != 1) b.fail<InvalidShape>("edges have one dimension, not " + Typed(e).str());
  const SearchOptions search{.side = options.right ? Side::Left : Side::Right};
  const std::int64_t count = e.node()->shape()[0];
  if (count < 2) return searchsorted(edges, x, search, where);
  const Array falls = greater(b.on(b.part(edges, 0, 1)), b.on(b.part(edges, count - 1, 1)));
  const Array rising = tarry::where(b.on(falls), b.on(flip(edges, 0, where)), b.on(edges));
  const Array place = searchsorted(rising, x, search, where);
  return tarry::where(b.on(falls), b.on(subtract(b.number(count), b.on(place))), b.on(place));
}
TARRY_OR_OUT_OF_MEMORY("digitize", where)

Histogram histogram(const Array& x, std::int64_t bins, const HistogramOptions& options, Where where) try {
  const Binning b("histogram", x, where);
  const Edge& e = b.x();
  const graph::PlacedLike placed(e);
  if (bins < 1) b.fail<InvalidValue>("there are no " + std::to_string(bins) + " bins");
  b.check_weights(options.weights, e);
  const Array flat = b.flat(x);
  const auto [low, high] = range_of(b, flat, options, where);
  const double width = (high - low) / static_cast<double>(bins);
  if (low + width == low || high - width == high)
    b.fail<InvalidValue>(std::to_string(bins) + " bins from " + std::to_string(low) + " to " + std::to_string(high) +
                         " have no width");
  const Array edges = linspace(low, high, bins + 1, {}, where);
  const Array bin = b.among_equal(flat, edges, low, high);
  const Array counts = b.counted(bin, bins, b.flat_weights(options.weights));
  return {options.density ? b.density(counts, {edges}) : counts, edges};
}
TARRY_OR_OUT_OF_MEMORY("histogram", where)

Histogram histogram(const Array& x, const Array& edges, const HistogramOptions& options, Where where) try {
  const Binning b("histogram", x, where);
  const Edge& e = b.x();
  b.check_edges(edges);
  b.check_weights(options.weights, e);
  const std::int64_t bins = edges.size(where) - 1;
  const Array counts = b.counted(b.among(b.flat(x), edges), bins, b.flat_weights(options.weights));
  return {options.density ? b.density(counts, {edges}) : counts, edges};
}
TARRY_OR_OUT_OF_MEMORY("histogram", where)

HistogramDd histogramdd(const Array& x, const std::vector<Array>& edges, const HistogramOptions& options,
                        Where where) try {
  const Binning b("histogramdd", x, where);
  const Edge& e = b.x();
  if (edges.empty() || e.node()->rank != 2 || e.node()->shape()[1] != static_cast<std::int64_t>(edges.size()))
    b.fail<InvalidShape>(Typed(e).str() + " has not a column for each of " + std::to_string(edges.size()) +
                         " arrays of edges");
  const std::int64_t rows = e.node()->shape()[0];
  std::vector<std::int64_t> shape;
  for (const Array& one : edges) {
    b.check_edges(one);
    shape.push_back(one.size(where) - 1);
  }
  graph::check_shape("histogramdd", {int64, shape}, where);
  Array place, beyond;
  for (std::size_t d = 0; d < edges.size(); ++d) {
    graph::IndexMap map;
    map.push_back({0, 0, 1});
    map.push_back({-1, static_cast<std::int64_t>(d), 0});
    const Array column = detail::wrap(graph::record_view(e, map, Dims{rows}.span(), where));
    const Array bin = b.among(column, edges[d]);
    const Array outside =
        logical_or(b.on(less(b.on(bin), b.number(0))), b.on(greater_equal(b.on(bin), b.number(shape[d]))));
    place = d == 0 ? bin : add(b.on(multiply(b.on(place), b.number(shape[d]))), b.on(bin));
    beyond = d == 0 ? outside : logical_or(b.on(beyond), b.on(outside));
  }
  place = tarry::where(b.on(beyond), b.number(-1), b.on(place));
  if (options.weights.is_defined()) {
    const Edge w = b.edge(options.weights);
    if (w.node()->rank != 1 || w.node()->shape()[0] != rows)
      b.fail<InvalidShape>("weights of " + Typed(w).str() + " do not stand beside " + std::to_string(rows) + " rows");
  }
  const Array counts = reshape(b.counted(place, graph::element_count(shape), options.weights), shape, where);
  return {options.density ? b.density(counts, edges) : counts, edges};
}
TARRY_OR_OUT_OF_MEMORY("histogramdd", where)

}  // namespace v0
}  // namespace tarry
