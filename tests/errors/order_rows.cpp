// Wrong calls of sorting, searching, counting and grouping.
#include "tests/errors/rows.h"

namespace tarry::test {
namespace {

Array f32(const Shape& shape) { return zeros(shape); }
Array ids() { return array({0, 1, 1}); }
Array edges() { return array({0.0F, 1.0F, 2.0F}); }
Array placed_on(Device device) {
  const Scope placed(device);
  return zeros({2});
}

void add_sort_rows(ErrorRows& rows) {
  rows.wrong("sort", {"undefined"}, [] { (void)sort(Array()); });
  rows.wrong<OutOfRange>("sort", {"axis 2", "(2, 3)"}, [] { (void)sort(f32({2, 3}), {.axis = 2}); });
  rows.wrong<OutOfRange>("sort", {"axis -1", "()"}, [] { (void)sort(f32({})); });
  rows.wrong<OutOfRange>("argsort", {"axis -3", "(2, 3)"}, [] { (void)argsort(f32({2, 3}), {.axis = -3}); });
  rows.wrong<InvalidValue>("partition", {"k is 3", "axis 1 of float32 (2, 3) has 3 elements"},
                           [] { (void)partition(f32({2, 3}), 3); });
  rows.wrong<InvalidValue>("topk", {"k is 4", "axis 1 of float32 (2, 3) has 3 elements"},
                           [] { (void)topk(f32({2, 3}), 4); });
  rows.wrong<InvalidValue>("topk", {"k is -1"}, [] { (void)topk(f32({3}), -1); });
  rows.wrong<InvalidShape>("searchsorted", {"one dimension, not float32 (2, 3)"},
                           [] { (void)searchsorted(f32({2, 3}), f32({3})); });
  rows.wrong<InvalidShape>("searchsorted", {"a sorter has one dimension", "(1, 3)"},
                           [] { (void)searchsorted(f32({3}), f32({3}), {.sorter = zeros({1, 3}, int64)}); });
  rows.wrong<InvalidShape>("searchsorted", {"a sorter of int64 (2,) does not order float32 (3,)"},
                           [] { (void)searchsorted(f32({3}), f32({3}), {.sorter = zeros({2}, int64)}); });
  rows.wrong("searchsorted", {"different devices, cpu and cuda:0"},
             [] { (void)searchsorted(placed_on(cpu), placed_on(cuda(0))); });
  rows.wrong("isin", {"undefined"}, [] { (void)isin(f32({3}), Array()); });
  rows.wrong("unique_values", {"undefined"}, [] { (void)unique_values(Array()); });
  rows.wrong<InvalidShape>("median", {"float32 (0,) has no element"}, [] { (void)median(f32({0})); });
  rows.wrong<InvalidValue>("quantile", {"q is 1.5", "within 0 and 1"}, [] { (void)quantile(f32({3}), 1.5); });
  rows.wrong<InvalidValue>("quantile", {"there is no q"}, [] { (void)quantile(f32({3}), std::vector<double>()); });
  rows.wrong<InvalidValue>("percentile", {"q is nan", "within 0 and 100"}, [] { (void)percentile(f32({3}), nan); });
}

void add_count_rows(ErrorRows& rows) {
  rows.wrong<InvalidDtype>("bincount", {"integers of one dimension, not float32 (3,)"},
                           [] { (void)bincount(f32({3})); });
  rows.wrong<InvalidShape>("bincount", {"integers of one dimension, not int32 (1, 3)"},
                           [] { (void)bincount(reshape(ids(), {1, 3})); });
  rows.wrong<InvalidValue>("bincount", {"minlength is -1"}, [] { (void)bincount(ids(), {.minlength = -1}); });
  rows.wrong<InvalidValue>("bincount", {"the smallest is -2"}, [] { (void)bincount(array({1, -2})); });
  rows.wrong<InvalidValue>("bincount", {"the largest 9223372036854775807"}, [] { (void)bincount(array({INT64_MAX})); });
  rows.wrong<OutOfRange>("segment_count", {"there are no 2^63 groups"},
                         [] { (void)segment_count(array({INT64_MAX})); });
  rows.wrong<InvalidValue>("histogram", {"2 bins from", "have no width"},
                           [] { (void)histogram(array({std::int64_t{1} << 62, (std::int64_t{1} << 62) + 1}), 2); });
  rows.wrong<InvalidShape>("bincount", {"weights of float32 (2,)", "int32 (3,)"},
                           [] { (void)bincount(ids(), {.weights = f32({2})}); });
  rows.wrong<InvalidShape>("digitize", {"edges have one dimension, not float32 (2, 3)"},
                           [] { (void)digitize(f32({3}), f32({2, 3})); });
  rows.wrong<InvalidValue>("histogram", {"there are no 0 bins"}, [] { (void)histogram(f32({3}), 0); });
  rows.wrong<InvalidValue>("histogram", {"the range from 2", "descends"},
                           [] { (void)histogram(f32({3}), 4, {.range = std::pair(2.0, 1.0)}); });
  rows.wrong<InvalidValue>("histogram", {"the range from nan", "not finite"},
                           [] { (void)histogram(array({1.0, nan})); });
  rows.wrong<InvalidShape>("histogram", {"two elements at least, not float32 (1,)"},
                           [] { (void)histogram(f32({3}), f32({1})); });
  rows.wrong<InvalidValue>("histogram", {"edges ascend"}, [] { (void)histogram(f32({3}), flip(edges())); });
  rows.wrong<InvalidShape>("histogramdd", {"float32 (3, 2) has not a column for each of 1"},
                           [] { (void)histogramdd(f32({3, 2}), {edges()}); });
  rows.wrong<InvalidShape>("histogramdd", {"weights of float32 (2,)", "3 rows"},
                           [] { (void)histogramdd(f32({3, 1}), {edges()}, {.weights = f32({2})}); });
}

void add_group_rows(ErrorRows& rows) {
  rows.wrong<InvalidDtype>("segment_sum", {"integers of one dimension", "float32 (3,)"},
                           [] { (void)segment_sum(f32({3}), f32({3})); });
  rows.wrong<InvalidShape>("segment_sum", {"integers of one dimension", "int32 (1, 3)"},
                           [] { (void)segment_sum(f32({3}), reshape(ids(), {1, 3})); });
  rows.wrong<InvalidShape>("segment_sum", {"float32 (2,) has not a row for each of 3 ids"},
                           [] { (void)segment_sum(f32({2}), ids()); });
  rows.wrong<InvalidValue>("segment_sum", {"there are no -1 groups"},
                           [] { (void)segment_sum(f32({3}), ids(), {.groups = -1}); });
  rows.wrong<OutOfRange>("segment_sum", {"none of 0 groups"},
                         [] { (void)segment_sum(f32({3}), ids(), {.groups = 0}); });
  rows.wrong<OutOfRange>("segment_mean", {"the smallest is -1"}, [] { (void)segment_mean(f32({2}), array({0, -1})); });
  rows.wrong<OutOfRange>("segment_count", {"index 2 at (1,) of the indices", "axis 0 of extent 2"},
                         [] { (void)segment_count(array({0, 2}), {.groups = 2}).to_vector<std::int64_t>(); });
  rows.wrong<OutOfRange>("segment_var", {"index 5 at (0,) of the indices", "axis 0 of extent 2"},
                         [] { (void)segment_var(f32({2}), array({5, 0}), {.groups = 2}).to_vector<float>(); });
  rows.wrong("group_by", {"no array of keys"}, [] { (void)group_by(std::span<const Array>()); });
  rows.wrong<InvalidShape>("group_by", {"int32 (3,) and float32 (2,)"}, [] { (void)group_by({ids(), f32({2})}); });
  rows.wrong<InvalidShape>("aggregate", {"a column of float32 (2,)", "3 keys"},
                           [] { (void)group_by({ids()}).aggregate({{f32({2})}}); });
}

}  // namespace

void add_order_rows(ErrorRows& rows) {
  add_sort_rows(rows);
  add_count_rows(rows);
  add_group_rows(rows);
}

}  // namespace tarry::test
