// Wrong calls of products along axes, windows, statistics and grids.
#include "tests/errors/rows.h"

namespace tarry::test {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 40;

Array f32(const Shape& shape) { return zeros(shape); }
Array matrix() { return zeros({2, 3}); }
Array truth() { return zeros({2, 3}, bool_); }
Array deepest() { return zeros(std::vector<std::int64_t>(16, 1)); }

Array on(Device device, const Shape& shape) {
  const Scope placed(device);
  return zeros(shape);
}

void add_along_axes(ErrorRows& rows) {
  rows.wrong<InvalidShape>("vecdot", {"float32 (2, 3) and float32 (2, 4)", "3 and 4 elements", "axis -1"},
                           [] { (void)vecdot(matrix(), f32({2, 4})); });
  rows.wrong<InvalidShape>("vecdot", {"float32 (2, 3) and float32 (4, 3)", "do not broadcast but for axis -1"},
                           [] { (void)vecdot(matrix(), f32({4, 3})); });
  rows.wrong<OutOfRange>("vecdot", {"axis 1", "(3,)"}, [] { (void)vecdot(matrix(), f32({3}), 1); });
  rows.wrong<InvalidDtype>("vecdot", {"not bool", "bool (2, 3)"}, [] { (void)vecdot(truth(), truth()); });
  rows.wrong("vecdot", {"different devices"}, [] { (void)vecdot(on(cpu, {2}), on(cuda(), {2})); });
  rows.wrong("vecdot", {"undefined"}, [] { (void)vecdot(Array(), matrix()); });
  rows.wrong<InvalidShape>("inner", {"float32 (2, 3) and float32 (2,)", "axis 1 has 3 elements, axis 0 has 2"},
                           [] { (void)inner(matrix(), f32({2})); });
  rows.wrong("inner", {"undefined"}, [] { (void)inner(matrix(), Array()); });
  rows.wrong<InvalidDtype>("outer", {"uint64", "int64"}, [] { (void)outer(zeros({2}, uint64), zeros({2}, int64)); });
  rows.wrong<InvalidShape>("outer", {"more than 2^63 - 1"}, [] { (void)outer(f32({kLarge}), f32({kLarge})); });
  rows.wrong("outer", {"undefined"}, [] { (void)outer(Array(), matrix()); });
  rows.wrong<InvalidShape>("tensordot", {"float32 (2, 3) and float32 (2, 3)", "axis 1 has 3 elements, axis 0 has 2"},
                           [] { (void)tensordot(matrix(), matrix(), 1); });
  rows.wrong<InvalidValue>("tensordot", {"float32 (2, 3) and float32 (3,)", "2 axes in common"},
                           [] { (void)tensordot(matrix(), f32({3})); });
  rows.wrong<InvalidValue>("tensordot", {"float32 (2, 3)", "2 axes of the first meet 1 of the second"},
                           [] { (void)tensordot(matrix(), matrix(), {0, 1}, 0); });
  rows.wrong<InvalidValue>("tensordot", {"axis 0 is named twice", "(2, 3)"},
                           [] { (void)tensordot(matrix(), matrix(), {0, 0}, {0, 1}); });
  rows.wrong<InvalidShape>("tensordot", {"float32 (1, 1, 1,", "more than 16 axes"},
                           [] { (void)tensordot(deepest(), matrix(), 0); });
  rows.wrong("tensordot", {"undefined"}, [] { (void)tensordot(Array(), matrix()); });
  rows.wrong("tensordot", {"undefined"}, [] { (void)tensordot(Array(), matrix(), 0, 0); });
  rows.wrong("tensordot", {"different devices"}, [] { (void)tensordot(on(cpu, {2, 2}), on(cuda(), {2, 2}), 1); });
}

void add_einsum(ErrorRows& rows) {
  rows.wrong<InvalidValue>("einsum", {"\"ij,jk->ik\" name 2 operands, not 1", "float32 (2, 3)"},
                           [] { (void)einsum("ij,jk->ik", {matrix()}); });
  rows.wrong<InvalidShape>("einsum", {"name 3 axes of float32 (2, 3), which has 2"},
                           [] { (void)einsum("ijk", {matrix()}); });
  rows.wrong<InvalidShape>("einsum", {"name 3 axes of float32 (2, 3), which has 2"},
                           [] { (void)einsum("i...jk", {matrix()}); });
  rows.wrong<InvalidValue>("einsum", {"'1', which names no axis"}, [] { (void)einsum("i1", {matrix()}); });
  rows.wrong<InvalidValue>("einsum", {"'.', which names no axis"}, [] { (void)einsum("i..", {matrix()}); });
  rows.wrong<InvalidValue>("einsum", {"second ellipsis"}, [] { (void)einsum("...i...", {matrix()}); });
  rows.wrong<InvalidValue>("einsum", {"'k' in the result alone"}, [] { (void)einsum("ij->ijk", {matrix()}); });
  rows.wrong<InvalidValue>("einsum", {"'i' twice in the result"}, [] { (void)einsum("ij->ii", {matrix()}); });
  rows.wrong<InvalidValue>("einsum", {"leave out the axes of an ellipsis"},
                           [] { (void)einsum("...i->i", {matrix()}); });
  rows.wrong<InvalidShape>("einsum", {"'i' twice in a term, for axes of 2 and 3 elements"},
                           [] { (void)einsum("ii", {matrix()}); });
  rows.wrong<InvalidShape>("einsum", {"one axis two extents", "float32 (2, 3) and float32 (4, 2)"},
                           [] { (void)einsum("ij,jk", {matrix(), f32({4, 2})}); });
  rows.wrong<InvalidDtype>("einsum", {"not bool"}, [] { (void)einsum("ij", {truth()}); });
  rows.wrong("einsum", {"no array"}, [] { (void)einsum("", std::vector<Array>()); });
  rows.wrong("einsum", {"undefined"}, [] { (void)einsum("ij", {Array()}); });
}

void add_matrices(ErrorRows& rows) {
  rows.wrong<InvalidShape>("kron", {"float32 (1, 1, 1,", "more than 16 axes"}, [] { (void)kron(deepest(), matrix()); });
  rows.wrong<InvalidDtype>("kron", {"not bool"}, [] { (void)kron(truth(), matrix() > 0); });
  rows.wrong("kron", {"undefined"}, [] { (void)kron(Array(), matrix()); });
  rows.wrong<InvalidShape>("cross", {"axis -1 of float32 (2,) has not 3 elements"},
                           [] { (void)cross(matrix(), f32({2})); });
  rows.wrong<InvalidShape>("cross", {"(2, 3)", "(4, 3)"}, [] { (void)cross(matrix(), f32({4, 3})); });
  rows.wrong<OutOfRange>("cross", {"axis 2", "(2, 3)"}, [] { (void)cross(matrix(), matrix(), 2); });
  rows.wrong("cross", {"undefined"}, [] { (void)cross(Array(), matrix()); });
  rows.wrong<InvalidShape>("matrix_power", {"float32 (2, 3)", "not square"}, [] { (void)matrix_power(matrix(), 2); });
  rows.wrong<InvalidDtype>("matrix_power", {"bool (2, 3)"}, [] { (void)matrix_power(truth(), 2); });
  rows.wrong<InvalidShape>("matrix_power", {"float32 (3,) has fewer than 2 axes"},
                           [] { (void)matrix_power(f32({3}), 2); });
  rows.wrong("matrix_power", {"undefined"}, [] { (void)matrix_power(Array(), 2); });
  rows.wrong<InvalidShape>("diagonal", {"float32 (3,) has fewer than 2 axes"}, [] { (void)diagonal(f32({3})); });
  rows.wrong<InvalidValue>("diagonal", {"axis 1 is named twice", "(2, 3)"}, [] { (void)diagonal(matrix(), 0, 1, -1); });
  rows.wrong<OutOfRange>("diagonal", {"axis 2", "(2, 3)"}, [] { (void)diagonal(matrix(), 0, 0, 2); });
  rows.wrong("diagonal", {"undefined"}, [] { (void)diagonal(Array()); });
  rows.wrong<InvalidDtype>("trace", {"float32 (2, 3)", "bool"}, [] { (void)trace(matrix(), {.dtype = bool_}); });
  rows.wrong<InvalidShape>("trace", {"float32 () has fewer than 2 axes"}, [] { (void)trace(f32({})); });
  rows.wrong("trace", {"undefined"}, [] { (void)trace(Array()); });
  rows.wrong<InvalidValue>("vector_norm", {"ord is NaN", "float32 (2, 3)"},
                           [] { (void)vector_norm(matrix(), {}, {.ord = nan}); });
  rows.wrong<InvalidShape>("vector_norm", {"axis 0 of float32 (0, 3) is empty"},
                           [] { (void)vector_norm(f32({0, 3}), 0, {.ord = inf}); });
  rows.wrong<InvalidDtype>("vector_norm", {"not bool (2, 3)"}, [] { (void)vector_norm(truth()); });
  rows.wrong("vector_norm", {"undefined"}, [] { (void)vector_norm(Array()); });
}

void add_windows(ErrorRows& rows) {
  rows.wrong<InvalidValue>("pad", {"1 pairs of widths for 2 axes of float32 (2, 3)"},
                           [] { (void)pad(matrix(), {{1, 1}}); });
  rows.wrong<InvalidValue>("pad", {"the width -1 for float32 (2, 3) is negative"},
                           [] { (void)pad(matrix(), {1, -1}); });
  rows.wrong<InvalidShape>("pad", {"axis 0 of float32 (2, 3)", "2^63 - 1"}, [] { (void)pad(matrix(), INT64_MAX); });
  rows.wrong<InvalidShape>("pad", {"more than 2^63 - 1"}, [] { (void)pad(matrix(), kLarge); });
  rows.wrong<InvalidShape>("pad", {"axis 0 of float32 (0,) has no elements"},
                           [] { (void)pad(f32({0}), 1, Pad::Wrap); });
  rows.wrong<InvalidValue>("pad", {"the number 0.5 does not fit int32"},
                           [] { (void)pad(zeros({2}, int32), 1, Pad::Constant, 0.5); });
  rows.wrong("pad", {"undefined"}, [] { (void)pad(Array(), 1); });
  rows.wrong<InvalidValue>("sliding_window_view", {"1 lengths for 2 axes of float32 (2, 3)"},
                           [] { (void)sliding_window_view(matrix(), 1); });
  rows.wrong<InvalidShape>("sliding_window_view", {"axis 1 of float32 (2, 3) has no windows of 4 elements"},
                           [] { (void)sliding_window_view(matrix(), 4, 1); });
  rows.wrong<InvalidShape>("sliding_window_view", {"no windows of 0 elements"},
                           [] { (void)sliding_window_view(matrix(), 0, 1); });
  rows.wrong<InvalidShape>("sliding_window_view", {"more than 16 axes"},
                           [] { (void)sliding_window_view(deepest(), 1, 0); });
  rows.wrong<OutOfRange>("sliding_window_view", {"axis 2", "(2, 3)"},
                         [] { (void)sliding_window_view(matrix(), 1, 2); });
  rows.wrong("sliding_window_view", {"undefined"}, [] { (void)sliding_window_view(Array(), 1); });
  rows.wrong<InvalidShape>("diff", {"float32 () has fewer than 1 axis"}, [] { (void)diff(f32({})); });
  rows.wrong<InvalidValue>("diff", {"float32 (2, 3)", "-1 times"}, [] { (void)diff(matrix(), {.n = -1}); });
  rows.wrong<OutOfRange>("diff", {"axis 2", "(2, 3)"}, [] { (void)diff(matrix(), {.axis = 2}); });
  rows.wrong<InvalidDtype>("diff", {"bool (2, 3)"}, [] { (void)diff(truth()); });
  rows.wrong<InvalidShape>("diff", {"float32 (2, 3) and float32 (3, 1)"},
                           [] { (void)diff(matrix(), {.append = f32({3, 1})}); });
  rows.wrong("diff", {"undefined"}, [] { (void)diff(Array()); });
  rows.wrong<InvalidShape>("convolve", {"float32 (2, 3) is no sequence"}, [] { (void)convolve(matrix(), f32({2})); });
  rows.wrong<InvalidShape>("convolve", {"float32 (0,) is no sequence"}, [] { (void)convolve(f32({2}), f32({0})); });
  rows.wrong<InvalidDtype>("convolve", {"not bool"}, [] { (void)convolve(zeros({2}, bool_), zeros({2}, bool_)); });
  rows.wrong("convolve", {"undefined"}, [] { (void)convolve(Array(), f32({2})); });
}

void add_statistics(ErrorRows& rows) {
  rows.wrong<InvalidDtype>("nansum", {"float32 (2, 3)", "bool"}, [] { (void)nansum(matrix(), {}, {.dtype = bool_}); });
  rows.wrong<OutOfRange>("nansum", {"axis 2", "(2, 3)"}, [] { (void)nansum(matrix(), 2); });
  rows.wrong("nansum", {"undefined"}, [] { (void)nansum(Array()); });
  rows.wrong("nanprod", {"undefined"}, [] { (void)nanprod(Array()); });
  rows.wrong<InvalidShape>("nanmin", {"axis 0 of float32 (0, 3) is empty"}, [] { (void)nanmin(f32({0, 3})); });
  rows.wrong("nanmin", {"undefined"}, [] { (void)nanmin(Array()); });
  rows.wrong<InvalidValue>("nanmax", {"axis -1 is named twice", "(2, 3)"}, [] { (void)nanmax(matrix(), {1, -1}); });
  rows.wrong("nanmax", {"undefined"}, [] { (void)nanmax(Array()); });
  rows.wrong("nanmean", {"undefined"}, [] { (void)nanmean(Array()); });
  rows.wrong<OutOfRange>("nanvar", {"axis 5", "(2, 3)"}, [] { (void)nanvar(matrix(), 5); });
  rows.wrong("nanvar", {"undefined"}, [] { (void)nanvar(Array()); });
  rows.wrong("nanstd", {"undefined"}, [] { (void)nanstd(Array()); });
  rows.wrong<InvalidDtype>("ptp", {"not bool (2, 3)"}, [] { (void)ptp(truth()); });
  rows.wrong<InvalidShape>("ptp", {"axis 0 of float32 (0,) is empty"}, [] { (void)ptp(f32({0})); });
  rows.wrong("ptp", {"undefined"}, [] { (void)ptp(Array()); });
  rows.wrong<InvalidShape>("average", {"weights of float32 (2,) do not fit float32 (2, 3)"},
                           [] { (void)average(matrix(), f32({2}), 1); });
  rows.wrong<InvalidShape>("average", {"weights of float32 (6,) do not fit float32 (2, 3)"},
                           [] { (void)average(matrix(), f32({6})); });
  rows.wrong("average", {"undefined"}, [] { (void)average(matrix(), Array()); });
  rows.wrong<InvalidShape>("cov", {"float32 () is no table"}, [] { (void)cov(f32({})); });
  rows.wrong("cov", {"undefined"}, [] { (void)cov(Array()); });
  rows.wrong<InvalidShape>("corrcoef", {"float32 (2, 3, 4) is no table"}, [] { (void)corrcoef(f32({2, 3, 4})); });
  rows.wrong("corrcoef", {"undefined"}, [] { (void)corrcoef(Array()); });
}

void add_grids(ErrorRows& rows) {
  rows.wrong<InvalidShape>("meshgrid", {"float32 (2, 3) has several axes"}, [] { (void)meshgrid({matrix()}); });
  rows.wrong<InvalidShape>("meshgrid", {"17 arrays", "float32 (1,)", "more than 16 axes"},
                           [] { (void)meshgrid(std::vector<Array>(17, f32({1}))); });
  rows.wrong("meshgrid", {"no array"}, [] { (void)meshgrid(std::vector<Array>()); });
  rows.wrong<InvalidShape>("meshgrid", {"more than 2^63 - 1"}, [] { (void)meshgrid({f32({kLarge}), f32({kLarge})}); });
  rows.wrong("meshgrid", {"undefined"}, [] { (void)meshgrid({Array()}); });
  rows.wrong<InvalidShape>("tril", {"float32 (3,) has fewer than 2 axes"}, [] { (void)tril(f32({3})); });
  rows.wrong("tril", {"undefined"}, [] { (void)tril(Array()); });
  rows.wrong<InvalidShape>("triu", {"float32 () has fewer than 2 axes"}, [] { (void)triu(f32({})); });
  rows.wrong("triu", {"undefined"}, [] { (void)triu(Array()); });
  rows.wrong("empty_like", {"undefined"}, [] { (void)empty_like(Array()); });
  rows.wrong<InvalidShape>("broadcast_arrays", {"float32 (2, 3)", "float32 (2,)"},
                           [] { (void)broadcast_arrays({matrix(), f32({2})}); });
  rows.wrong("broadcast_arrays", {"no array"}, [] { (void)broadcast_arrays(std::vector<Array>()); });
  rows.wrong("broadcast_arrays", {"undefined"}, [] { (void)broadcast_arrays({Array()}); });
}

void add_curves(ErrorRows& rows) {
  rows.wrong<InvalidValue>("round", {"309 decimals", "308"}, [] { (void)round(f32({3}), 309); });
  rows.wrong<InvalidDtype>("round", {"bool (2, 3)"}, [] { (void)round(truth(), 1); });
  rows.wrong<InvalidDtype>("fmod", {"not bool"}, [] { (void)fmod(truth(), truth()); });
  rows.wrong<InvalidDtype>("fmax", {"not bool"}, [] { (void)fmax(truth(), truth()); });
  rows.wrong<InvalidDtype>("heaviside", {"not bool"}, [] { (void)heaviside(truth(), false); });
  rows.wrong<InvalidDtype>("cbrt", {"bool (2, 3)"}, [] { (void)cbrt(truth()); });
  rows.wrong("nan_to_num", {"undefined"}, [] { (void)nan_to_num(Array()); });
  rows.wrong<InvalidShape>("interp", {"points float32 (3,) and values float32 (2,)", "one axis"},
                           [] { (void)interp(f32({4}), f32({3}), f32({2})); });
  rows.wrong<InvalidShape>("interp", {"at least one"}, [] { (void)interp(f32({4}), f32({0}), f32({0})); });
  rows.wrong<InvalidDtype>("interp", {"bool (2, 3)"}, [] { (void)interp(truth(), f32({3}), f32({3})); });
  rows.wrong<InvalidShape>("gradient", {"float32 (1,) has fewer than 2 points along axis -1"},
                           [] { (void)gradient(f32({1})); });
  rows.wrong<InvalidShape>("gradient", {"float32 (3,) has no point for each element of axis 0", "(2, 3)"},
                           [] { (void)gradient(matrix(), f32({3}), 0); });
  rows.wrong<OutOfRange>("gradient", {"axis 2 is out of range"}, [] { (void)gradient(matrix(), {.axis = 2}); });
  rows.wrong<InvalidShape>("trapezoid", {"fewer than 1 points"}, [] { (void)trapezoid(f32({0})); });
  rows.wrong<InvalidShape>("trapezoid", {"float32 (2,) has no point"}, [] { (void)trapezoid(matrix(), f32({2})); });
  rows.wrong<InvalidShape>("correlate", {"float32 (2, 3) is no sequence"}, [] { (void)correlate(matrix(), f32({2})); });
  rows.wrong<InvalidShape>("matrix_norm", {"float32 (3,) has fewer than 2 axes"}, [] { (void)matrix_norm(f32({3})); });
  rows.wrong<InvalidDtype>("matrix_norm", {"bool (2, 3)"}, [] { (void)matrix_norm(truth()); });
  rows.wrong<InvalidShape>("matrix_power", {"not square"}, [] { (void)matrix_power(matrix(), -1); });
  rows.wrong<InvalidShape>("svdvals", {"float32 (3,) has fewer than 2 axes"}, [] { (void)linalg::svdvals(f32({3})); });
  rows.wrong<InvalidShape>("matrix_rank", {"fewer than 2 axes"}, [] { (void)linalg::matrix_rank(f32({3})); });
  rows.wrong("pinv", {"undefined"}, [] { (void)linalg::pinv(Array()); });
  rows.wrong<InvalidShape>("pinv", {"rtols are floats, one of each matrix or fewer", "float32 (5,)"},
                           [] { (void)linalg::pinv(f32({3, 2}), {.rtols = f32({5})}); });
  rows.wrong<InvalidDtype>("pinv", {"rtols are floats", "int32 ()"},
                           [] { (void)linalg::pinv(f32({3, 2}), {.rtols = zeros({}, int32)}); });
}

}  // namespace

void add_window_rows(ErrorRows& rows) {
  add_along_axes(rows);
  add_einsum(rows);
  add_matrices(rows);
  add_windows(rows);
  add_statistics(rows);
  add_grids(rows);
  add_curves(rows);
}

}  // namespace tarry::test
