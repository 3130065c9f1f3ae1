// median, quantile and percentile: a sort, and elements of it.
#include <tarry/ops.h>
#include <tarry/sort.h>
#include <tarry/views.h>

#include <algorithm>
#include <cmath>

#include "graph/record/order.h"
#include "graph/record/reductions.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Dims;
using graph::Edge;
using graph::Typed;

/// A place between two elements of n in order: `share` of the way from `low` to `high`.
struct Between {
  std::int64_t low, high;
  double share;
};

Between between(double h, std::int64_t n) {
  const double last = static_cast<double>(n - 1), at = std::clamp(h, 0.0, last), low = std::floor(at);
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(std::min(low + 1, last)), at - low};
}

Between place_of(double q, std::int64_t n, QuantileMethod method) {
  const auto count = static_cast<double>(n);
  const auto interpolated = [&](double a) { return between(count * q + a + q * (1 - 2 * a) - 1, n); };
  Between at = between(q * (count - 1), n);
  switch (method) {
    case QuantileMethod::Linear: return at;
    case QuantileMethod::Lower: return {at.low, at.low, 0};
    case QuantileMethod::Higher: return at.share == 0 ? at : Between{at.high, at.high, 0};
    case QuantileMethod::Midpoint: return at.share == 0 ? at : Between{at.low, at.high, 0.5};
    case QuantileMethod::Nearest: {
      const bool up = at.share > 0.5 || (at.share == 0.5 && at.low % 2 != 0);
      return up ? Between{at.high, at.high, 0} : Between{at.low, at.low, 0};
    }
    case QuantileMethod::InvertedCdf: return between(std::ceil(count * q) - 1, n);
    case QuantileMethod::Hazen: return interpolated(0.5);
    case QuantileMethod::Weibull: return interpolated(0);
    case QuantileMethod::MedianUnbiased: return interpolated(1.0 / 3);
    case QuantileMethod::NormalUnbiased: return interpolated(3.0 / 8);
  }
  return at;
}

/// Elements of x in order along one axis.
class Ordered {
 public:
  Ordered(std::string_view called, const Array& x, const QuantileOptions& options, Where where)
      : called_(called), where_(where), keepdims_(options.keepdims) {
    Edge e = detail::edge(x, called, where);
    rank_ = e.node()->rank;
    if (options.axis) axis_ = graph::checked_axis(called, *options.axis, e, where);
    if (!options.axis) e = graph::record_reshape(e, Dims{graph::element_count(e.node()->shape())}.span(), where);
    along_ = axis_.value_or(0);
    n_ = e.node()->shape()[static_cast<std::size_t>(along_)];
    if (n_ == 0) {
      TARRY_THROW(InvalidShape, std::string(called), where,
                  Typed(detail::edge(x, called, where)).str() + " has no element along the axis");
    }
    given_ = e.node()->dtype;
    sorted_ = graph::record_sort(graph::Op::Sort, called, e, along_, graph::RoutineAttributes::Way::Usual, where);
  }

  [[nodiscard]] std::int64_t count() const { return n_; }

  [[nodiscard]] Array at(const Between& place) const {
    const Array low = element(place.low);
    if (place.share == 0) return finished(low);
    const Array high = element(place.high), step = subtract(on(high), on(low));
    if (place.share < 0.5) return finished(add(on(low), on(multiply(on(step), number(place.share)))));
    return finished(subtract(on(high), on(multiply(on(step), number(1 - place.share)))));
  }
  [[nodiscard]] Array middle() const {
    const Array low = element((n_ - 1) / 2);
    if (n_ % 2 != 0) return finished(low);
    return finished(multiply(on(add(on(low), on(element(n_ / 2)))), number(0.5)));
  }

 private:
  [[nodiscard]] Operand on(const Array& x) const { return {x, where_}; }
  [[nodiscard]] Operand number(double x) const { return {x, where_}; }
  /// The dtype of results, and the one in which they are computed.
  [[nodiscard]] Dtype kept() const { return is_floating(given_) ? given_ : float64; }

  [[nodiscard]] Array element(std::int64_t place) const {
    graph::IndexMap map;
    Dims shape(sorted_.node()->shape());
    for (int d = 0; d < shape.size(); ++d)
      map.push_back(d == along_ ? graph::AxisMap{-1, place, 0} : graph::AxisMap{d < along_ ? d : d - 1, 0, 1});
    shape.erase(along_);
    const Edge e = graph::record_view(sorted_, map, shape.span(), where_);
    return detail::wrap(graph::record_cast(e, graph::float_for_computing(kept()), where_));
  }
  /// NaN where the last element is, in the dtype and shape of results.
  [[nodiscard]] Array finished(const Array& x) const {
    Array result = x;
    if (is_floating(given_)) {
      const Array last = element(n_ - 1);
      result = where(on(isnan(last, where_)), on(last), on(result));
    }
    Edge e = graph::record_cast(detail::edge(result, called_, where_), kept(), where_);
    if (!keepdims_) return detail::wrap(e);
    Dims shape(e.node()->shape());
    if (axis_) shape.insert(along_, 1);
    if (!axis_) shape = Dims::filled(rank_, 1);
    return detail::wrap(graph::record_reshape(e, shape.span(), where_));
  }

  std::string_view called_;
  Where where_;
  bool keepdims_;
  int rank_ = 0, along_ = 0;
  std::optional<int> axis_;
  std::int64_t n_ = 0;
  Dtype given_{};
  Edge sorted_;
};

/// Shares of a call, each within 0 and `scale`.
class Shares {
 public:
  Shares(std::string_view called, const Array& x, double scale, const QuantileOptions& options, Where where)
      : called_(called), x_(x), scale_(scale), options_(options), where_(where) {}

  [[nodiscard]] Array one(double q) const {
    check(q);
    return at(Ordered(called_, x_, options_, where_), q);
  }
  [[nodiscard]] Array several(const std::vector<double>& q) const {
    if (q.empty()) fail<InvalidValue>("there is no q");
    for (const double share : q) check(share);
    const Ordered ordered(called_, x_, options_, where_);
    std::vector<Array> results;
    for (const double share : q) results.push_back(at(ordered, share));
    return stack(results, 0, where_);
  }

 private:
  void check(double q) const {
    if (!(q >= 0 && q <= scale_))
      fail<InvalidValue>("q is " + std::to_string(q) + ", not within 0 and " +
                         std::to_string(static_cast<int>(scale_)));
  }
  template <class Kind>
  [[noreturn]] void fail(const std::string& message) const {
    TARRY_THROW(Kind, std::string(called_), where_,
                message + " (given " + Typed(detail::edge(x_, called_, where_)).str() + ")");
  }
  [[nodiscard]] Array at(const Ordered& ordered, double q) const {
    return ordered.at(place_of(q / scale_, ordered.count(), options_.method));
  }

  std::string_view called_;
  const Array& x_;
  double scale_;
  const QuantileOptions& options_;
  Where where_;
};

}  // namespace

Array median(const Array& x, QuantileOptions options, Where where) try {
  return Ordered("median", x, options, where).middle();
}
TARRY_OR_OUT_OF_MEMORY("median", where)

Array quantile(const Array& x, double q, QuantileOptions options, Where where) try {
  return Shares("quantile", x, 1, options, where).one(q);
}
TARRY_OR_OUT_OF_MEMORY("quantile", where)

Array quantile(const Array& x, const std::vector<double>& q, QuantileOptions options, Where where) try {
  return Shares("quantile", x, 1, options, where).several(q);
}
TARRY_OR_OUT_OF_MEMORY("quantile", where)

Array percentile(const Array& x, double q, QuantileOptions options, Where where) try {
  return Shares("percentile", x, 100, options, where).one(q);
}
TARRY_OR_OUT_OF_MEMORY("percentile", where)

Array percentile(const Array& x, const std::vector<double>& q, QuantileOptions options, Where where) try {
  return Shares("percentile", x, 100, options, where).several(q);
}
TARRY_OR_OUT_OF_MEMORY("percentile", where)

}  // namespace v0
}  // namespace tarry
