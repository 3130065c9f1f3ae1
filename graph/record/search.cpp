// Searching in sorted rows. Numbers of different dtypes are compared as they are, as the comparisons of compare.cpp do.
#include <tarry/index.h>
#include <tarry/ops.h>
#include <tarry/sort.h>
#include <tarry/type_info.h>

#include <limits>

#include "graph/record/order.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

using graph::Edge;
using graph::Op;
using graph::Typed;
using Way = graph::RoutineAttributes::Way;

/// One call: the first places in `row`, or those behind the last ones, where values could stand.
class Search {
 public:
  Search(std::string_view called, const Edge& row, Way way, Where where)
      : called_(called), row_(detail::wrap(row)), way_(way), where_(where) {}

  [[nodiscard]] Array places(const Array& values) const {
    const Dtype of_row = row_.dtype(where_), of_values = values.dtype(where_);
    if (is_wide(of_row) && is_floating(of_values)) return floats_among_integers(values);
    if (is_floating(of_row) && is_wide(of_values)) return integers_among_floats(values);
    if (of_row == uint64 && is_signed(of_values)) return signed_among_unsigned(values);
    if (is_signed(of_row) && of_values == uint64) return unsigned_among_signed(values);
    return found(row_, values, common(values));
  }

 private:
  static bool is_signed(Dtype dtype) { return tarry::info(dtype).kind == DtypeKind::Int; }
  /// Has numbers that no float has.
  static bool is_wide(Dtype dtype) { return is_integral(dtype) && itemsize(dtype) == 8; }
  [[nodiscard]] bool behind() const { return way_ == Way::Reversed; }
  [[nodiscard]] Operand on(const Array& x) const { return {x, where_}; }
  template <class T>
  [[nodiscard]] Operand number(T x) const {
    return {x, where_};
  }

  /// The dtype that has all numbers of both.
  [[nodiscard]] Dtype common(const Array& values) const {
    const Dtype a = row_.dtype(where_), b = values.dtype(where_);
    if (is_integral(a) && is_floating(b)) return graph::float_of_both(a, b);
    if (is_floating(a) && is_integral(b)) return graph::float_of_both(b, a);
    const graph::Argument both[] = {{detail::edge(row_, called_, where_), 0},
                                    {detail::edge(values, called_, where_), 0}};
    return graph::common_dtype(called_, both, where_);
  }
  [[nodiscard]] Array found(const Array& row, const Array& values, Dtype dtype) const {
    const Edge in = detail::edge(astype(row, dtype, where_), called_, where_);
    const Edge of = detail::edge(astype(values, dtype, where_), called_, where_);
    return detail::wrap(graph::record_search(called_, in, of, way_, where_));
  }
  /// `places` but for values beyond all numbers of the row's dtype, which stand at its end.
  [[nodiscard]] Array at_end_where(const Array& beyond, const Array& places) const {
    return tarry::where(on(beyond), number(row_.size(where_)), on(places));
  }

  /// An integer is not below v where it is not below ceil(v), and above v where it is above floor(v).
  [[nodiscard]] Array floats_among_integers(const Array& values) const {
    const Dtype dtype = row_.dtype(where_);
    const Array wide = astype(values, float64, where_);
    const Array whole = behind() ? floor(wide, where_) : ceil(wide, where_);
    const double least = dtype == int64 ? -0x1p63 : 0, end = dtype == int64 ? 0x1p63 : 0x1p64;
    const Array beyond = logical_not(less(on(whole), number(end)), where_);  // NaN too
    const Array inside = found(row_, whole, dtype);
    return at_end_where(beyond, tarry::where(less(on(whole), number(least)), number(std::int64_t{0}), on(inside)));
  }

  /// A float is not below i where it is not below the first float from i on, and above i where it is above the last
  /// float up to i.
  [[nodiscard]] Array integers_among_floats(const Array& values) const {
    const Array near = astype(values, float64, where_);
    const double infinity = std::numeric_limits<double>::infinity();
    const Array misses = behind() ? greater(on(near), on(values)) : less(on(near), on(values));
    const Array next = nextafter(on(near), number(behind() ? -infinity : infinity));
    return found(row_, tarry::where(on(misses), on(next), on(near)), float64);
  }

  [[nodiscard]] Array signed_among_unsigned(const Array& values) const {
    const Array inside = found(row_, values, uint64);
    return tarry::where(less(on(values), number(0)), number(std::int64_t{0}), on(inside));
  }
  [[nodiscard]] Array unsigned_among_signed(const Array& values) const {
    const Array beyond = greater(on(values), number(std::numeric_limits<std::int64_t>::max()));
    return at_end_where(beyond, found(row_, values, int64));
  }

  std::string_view called_;
  Array row_;
  Way way_;
  Where where_;
};

Array places_among(std::string_view called, const Edge& row, const Array& values, Side side, Where where) {
  return Search(called, row, side == Side::Right ? Way::Reversed : Way::Usual, where).places(values);
}

}  // namespace

Array searchsorted(const Array& sorted, const Array& values, const SearchOptions& options, Where where) try {
  constexpr const char* op = "searchsorted";
  Edge row = detail::edge(sorted, op, where);
  const Edge wanted = detail::edge(values, op, where);
  const auto check_row = [&](const Edge& e, const char* what) {
    if (e.node()->rank == 1) return;
    TARRY_THROW(InvalidShape, op, where, std::string(what) + " has one dimension, not " + Typed(e).str());
  };
  check_row(row, "what is searched");
  if (options.sorter.is_defined()) {
    const Edge sorter = detail::edge(options.sorter, op, where);
    check_row(sorter, "a sorter");
    if (sorter.node()->shape()[0] != row.node()->shape()[0]) {
      TARRY_THROW(InvalidShape, op, where,
                  "a sorter of " + Typed(sorter).str() + " does not order " + Typed(row).str());
    }
    row = detail::edge(take(sorted, options.sorter, 0, Bounds::Error, where), op, where);
  }
  return places_among(op, row, detail::wrap(wanted), options.side, where);
}
TARRY_OR_OUT_OF_MEMORY("searchsorted", where)

Array isin(const Array& x, const Array& test, Where where) try {
  constexpr const char* op = "isin";
  const Edge wanted = detail::edge(x, op, where), given = detail::edge(test, op, where);
  const std::int64_t count = graph::element_count(given.node()->shape());
  if (count == 0 || graph::element_count(wanted.node()->shape()) == 0)
    return detail::wrap(graph::record_constant(wanted, false, bool_, op, where));
  const Edge flat = graph::record_reshape(given, graph::Dims{count}.span(), where);
  const Edge sorted = graph::record_sort(Op::Sort, op, flat, 0, Way::Usual, where);
  const Array place = places_among(op, sorted, x, Side::Left, where);
  return equal({take(detail::wrap(sorted), place, 0, Bounds::Clip, where), where}, {x, where});
}
TARRY_OR_OUT_OF_MEMORY("isin", where)

}  // namespace v0
}  // namespace tarry
