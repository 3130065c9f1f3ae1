// Wrong calls of views, indexing, updates and joining.
#include <limits>

#include "tests/errors/rows.h"

namespace tarry::test {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 40;

Array f32(const Shape& shape) { return zeros(shape); }
Array matrix() { return zeros({2, 3}); }
Array integers() { return zeros({2, 3}, int32); }
/// As many axes as there may be.
Array deepest() { return zeros(std::vector<std::int64_t>(16, 1)); }

Array on(Device device, const Shape& shape) {
  const Scope placed(device);
  return zeros(shape);
}

void add_view_rows(ErrorRows& rows) {
  rows.wrong<InvalidShape>("broadcast_to", {"(2, 3)", "(3, 2)"}, [] { (void)broadcast_to(matrix(), {3, 2}); });
  rows.wrong<InvalidShape>("broadcast_to", {"(2, 3)", "(3,)"}, [] { (void)broadcast_to(matrix(), 3); });
  rows.wrong<InvalidShape>("broadcast_to", {"(-1,)", "negative"}, [] { (void)broadcast_to(f32({1}), -1); });
  rows.wrong<InvalidValue>("permute_dims", {"1 axes", "(2, 3)"}, [] { (void)permute_dims(matrix(), 0); });
  rows.wrong<InvalidValue>("permute_dims", {"axis 1 is named twice", "(2, 3)"},
                           [] { (void)permute_dims(matrix(), {1, 1}); });
  rows.wrong<OutOfRange>("permute_dims", {"axis 2", "(2, 3)"}, [] { (void)permute_dims(matrix(), {0, 2}); });
  rows.wrong<InvalidShape>("matrix_transpose", {"(3,)", "two axes"}, [] { (void)matrix_transpose(f32({3})); });
  rows.wrong<OutOfRange>("expand_dims", {"axis 3", "(2, 3)"}, [] { (void)expand_dims(matrix(), 3); });
  rows.wrong<InvalidShape>("expand_dims", {"highest rank", "16"}, [] { (void)expand_dims(deepest()); });
  rows.wrong<InvalidShape>("squeeze", {"axis 1 of float32 (1, 3) has extent 3"}, [] { (void)squeeze(f32({1, 3}), 1); });
  rows.wrong<OutOfRange>("squeeze", {"axis 2", "(1, 3)"}, [] { (void)squeeze(f32({1, 3}), 2); });
  rows.wrong<OutOfRange>("flip", {"axis -3", "(2, 3)"}, [] { (void)flip(matrix(), -3); });
  rows.wrong<InvalidValue>("moveaxis", {"2 axes to move to 1 places", "(2, 3)"},
                           [] { (void)moveaxis(matrix(), {0, 1}, 0); });
  rows.wrong<InvalidValue>("moveaxis", {"axis -2 is named twice", "(2, 3)"},
                           [] { (void)moveaxis(matrix(), {0, 1}, {0, -2}); });
  rows.wrong<InvalidShape>("reshape", {"float32 (2, 3) has 6 elements, (4,) has 4"},
                           [] { (void)reshape(matrix(), 4); });
  rows.wrong<InvalidShape>("reshape", {"-1 in (4, -1)", "(2, 3)"}, [] { (void)reshape(matrix(), {4, -1}); });
  rows.wrong<InvalidShape>("reshape", {"-1 in (0, -1)", "(0,)"}, [] { (void)reshape(f32({0}), {0, -1}); });
  rows.wrong<InvalidShape>("reshape", {"float32 (2, 3) does not reshape to (-1, -1)", "more than one -1"},
                           [] { (void)reshape(matrix(), {-1, -1}); });
  rows.wrong<InvalidShape>("reshape", {"(-6,)", "negative"}, [] { (void)reshape(matrix(), -6); });
  rows.wrong<InvalidShape>("reshape", {"rank 17"}, [] { (void)reshape(f32({1}), std::vector<std::int64_t>(17, 1)); });
  rows.wrong<OutOfRange>("unstack", {"axis 2", "(2, 3)"}, [] { (void)unstack(matrix(), 2); });
  rows.wrong<OutOfRange>("unstack", {"axis 0", "()"}, [] { (void)unstack(f32({})); });
  rows.wrong<InvalidValue>("repeat", {"-2 repetitions of axis 1", "(2, 3)"}, [] { (void)repeat(matrix(), -2, 1); });
  rows.wrong<OutOfRange>("repeat", {"axis 2", "(2, 3)"}, [] { (void)repeat(matrix(), 1, 2); });
  rows.wrong<InvalidShape>("repeat", {"more than 2^63 - 1"}, [] { (void)repeat(matrix(), INT64_MAX); });
  rows.wrong<InvalidShape>("repeat", {"more than 2^63 - 1"}, [] { (void)repeat(matrix(), INT64_MAX / 2, 0); });
  rows.wrong<InvalidShape>("repeat", {"highest rank", "16"}, [] { (void)repeat(deepest(), 2, 0); });
  rows.wrong<InvalidValue>("tile", {"-1 repetitions of axis 0", "(2, 3)"}, [] { (void)tile(matrix(), {-1, 1}); });
  rows.wrong<InvalidShape>("tile", {"more than 2^63 - 1"}, [] { (void)tile(matrix(), {kLarge, kLarge}); });
  rows.wrong<InvalidShape>("tile", {"highest rank", "16"}, [] { (void)tile(deepest(), 2); });
  rows.wrong<InvalidShape>("tile", {"more than 16 axes"},
                           [] { (void)tile(f32({1}), std::vector<std::int64_t>(40, 1)); });
  rows.wrong("broadcast_to", {"undefined"}, [] { (void)broadcast_to(Array(), {2}); });
  rows.wrong("permute_dims", {"undefined"}, [] { (void)permute_dims(Array(), {}); });
  rows.wrong("matrix_transpose", {"undefined"}, [] { (void)matrix_transpose(Array()); });
  rows.wrong("expand_dims", {"undefined"}, [] { (void)expand_dims(Array()); });
  rows.wrong("squeeze", {"undefined"}, [] { (void)squeeze(Array(), {}); });
  rows.wrong("flip", {"undefined"}, [] { (void)flip(Array()); });
  rows.wrong("moveaxis", {"undefined"}, [] { (void)moveaxis(Array(), {}, {}); });
  rows.wrong("reshape", {"undefined"}, [] { (void)reshape(Array(), {}); });
  rows.wrong("unstack", {"undefined"}, [] { (void)unstack(Array()); });
  rows.wrong("repeat", {"undefined"}, [] { (void)repeat(Array(), 1); });
  rows.wrong("tile", {"undefined"}, [] { (void)tile(Array(), {}); });
}

void add_joining_rows(ErrorRows& rows) {
  rows.wrong("concat", {"no array"}, [] { (void)concat(std::vector<Array>()); });
  rows.wrong("stack", {"no array"}, [] { (void)stack(std::vector<Array>()); });
  rows.wrong<InvalidShape>("concat", {"0-d", "stack"}, [] { (void)concat({f32({}), f32({})}); });
  rows.wrong<InvalidShape>("concat", {"float32 (2, 3) and float32 (3, 3)"},
                           [] { (void)concat({matrix(), f32({3, 3})}, 1); });
  rows.wrong<InvalidShape>("concat", {"float32 (2, 3) and float32 (3,)"}, [] { (void)concat({matrix(), f32({3})}); });
  rows.wrong<OutOfRange>("concat", {"axis 2", "(2, 3)"}, [] { (void)concat({matrix(), matrix()}, 2); });
  rows.wrong<InvalidShape>("concat", {"2^63 - 1 elements along axis 0"},
                           [] { (void)concat({f32({INT64_MAX}), f32({INT64_MAX})}); });
  rows.wrong<InvalidShape>("concat", {"(4, 3458764513820540925) has more than 2^63 - 1"},
                           [] { (void)concat({f32({2, INT64_MAX / 8 * 3}), f32({2, INT64_MAX / 8 * 3})}); });
  rows.wrong<InvalidDtype>("concat", {"int8 and uint64"}, [] { (void)concat({zeros({2}, int8), zeros({2}, uint64)}); });
  rows.wrong("concat", {"different devices"}, [] { (void)concat({on(cpu, {2}), on(cuda(0), {2})}); });
  rows.wrong("concat", {"undefined"}, [] { (void)concat({matrix(), Array()}); });
  rows.wrong<InvalidShape>("stack", {"float32 (2, 3) and float32 (3,)"}, [] { (void)stack({matrix(), f32({3})}); });
  rows.wrong<OutOfRange>("stack", {"axis 3"}, [] { (void)stack({matrix(), matrix()}, 3); });
  rows.wrong<InvalidShape>("stack", {"highest rank", "16"}, [] { (void)stack({deepest()}); });
  rows.wrong("stack", {"undefined"}, [] { (void)stack({Array()}); });
  rows.wrong<InvalidValue>("roll", {"1 shifts for 2 axes", "(2, 3)"}, [] { (void)roll(matrix(), {1}, {0, 1}); });
  rows.wrong<InvalidValue>("roll", {"axis 0 is named twice", "(2, 3)"}, [] { (void)roll(matrix(), {1, 2}, {0, 0}); });
  rows.wrong<OutOfRange>("roll", {"axis 5", "(2, 3)"}, [] { (void)roll(matrix(), 1, 5); });
  rows.wrong("roll", {"undefined"}, [] { (void)roll(Array(), 1); });
}

void add_index_rows(ErrorRows& rows) {
  rows.wrong<OutOfRange>("index", {"index 2 is out of range for axis 0 of extent 2 in float32 (2, 3)"},
                         [] { (void)matrix()(2); });
  rows.wrong<OutOfRange>("index", {"index -4 is out of range for axis 1"}, [] { (void)matrix()(0, -4); });
  rows.wrong<OutOfRange>("index", {"index 9223372036854775807"}, [] { (void)matrix()(UINT64_MAX); });
  rows.wrong<InvalidValue>("index", {"the slice of axis 1 of float32 (2, 3) has step 0"},
                           [] { (void)matrix()(0, slice(0, 1, 0)); });
  rows.wrong<OutOfRange>("index", {"3 indices are too many for float32 (2, 3)"}, [] { (void)matrix()(0, 0, 0); });
  rows.wrong<OutOfRange>("index", {"1 indices are too many for float32 ()"}, [] { (void)f32({})(0); });
  rows.wrong<OutOfRange>("index", {"ellipsis", "(2, 3)"}, [] { (void)matrix()(ellipsis, ellipsis); });
  rows.wrong<InvalidShape>("index", {"more than 16 axes"}, [] { (void)deepest()(newaxis); });
  rows.wrong("index", {"undefined"}, [] { (void)Array()(0); });
  rows.wrong("index", {"undefined"}, [] { (void)matrix()(Array()); });
  rows.wrong<InvalidDtype>("index", {"integers, not float32 (2, 3)", "astype"}, [] { (void)matrix()(matrix()); });
  rows.wrong<InvalidShape>("index", {"int32 (2, 3)", "int32 (2,)", "broadcast"},
                           [] { (void)matrix()(integers(), zeros({2}, int32)); });
  rows.wrong<OutOfRange>("index", {"axis 1 of float32 (2, 0) has no elements"},
                         [] { (void)f32({2, 0})(slice(), integers()); });
  rows.wrong<InvalidShape>("index", {"more than 16 axes"}, [] { (void)deepest()(integers()); });
  rows.wrong<OutOfRange>("index", {"index 2 at (1,) of the indices", "axis 1 of extent 2"},
                         [] { (void)f32({3, 2})(0, array({1, 2})).to_vector<float>(); });
  rows.wrong<OutOfRange>("index", {"mask of bool (3,)", "axis 0 of float32 (2, 3)"},
                         [] { (void)matrix()(f32({3}) > 0); });
  rows.wrong<OutOfRange>("index", {"mask of bool ()", "axis 0"}, [] { (void)matrix()(f32({}) > 0); });
  rows.wrong("take", {"undefined"}, [] { (void)take(Array(), integers()); });
  rows.wrong("take", {"undefined"}, [] { (void)take(matrix(), Array()); });
  rows.wrong<InvalidDtype>("take", {"integers, not bool (2, 3)"}, [] { (void)take(matrix(), matrix() > 0); });
  rows.wrong<OutOfRange>("take", {"axis 2", "(2, 3)"}, [] { (void)take(matrix(), integers(), 2); });
  rows.wrong<OutOfRange>("take", {"axis 0 of float32 (0,) has no elements"}, [] { (void)take(f32({0}), integers()); });
  rows.wrong<InvalidShape>("take", {"more than 2^63 - 1"}, [] {
    (void)take(broadcast_to(f32({1}), {kLarge, 1}), broadcast_to(integers()(0, 0), kLarge), 1);
  });
  rows.wrong("take", {"different devices, cpu and cuda:0"},
             [] { (void)take(on(cpu, {2}), astype(on(cuda(0), {2}), int32)); });
  rows.wrong<OutOfRange>("take", {"index -7 at (0,) of the indices", "axis 0 of extent 6", "evaluated at"},
                         [] { (void)sum(take(matrix(), array({-7, 9}))).item<float>(); });
  rows.wrong("take_along_axis", {"undefined"}, [] { (void)take_along_axis(Array(), integers()); });
  rows.wrong("take_along_axis", {"undefined"}, [] { (void)take_along_axis(matrix(), Array()); });
  rows.wrong<InvalidShape>("take_along_axis", {"int32 (2,)", "float32 (2, 3)", "axis 1"},
                           [] { (void)take_along_axis(matrix(), zeros({2}, int32)); });
  rows.wrong<InvalidShape>("take_along_axis", {"int32 (3, 3)", "axis 1"},
                           [] { (void)take_along_axis(matrix(), zeros({3, 3}, int32)); });
  rows.wrong<OutOfRange>("take_along_axis", {"axis 2", "(2, 3)"},
                         [] { (void)take_along_axis(matrix(), integers(), 2); });
  rows.wrong<InvalidShape>("index", {"0-d"}, [] {
    for (const Array& row : f32({})) (void)row;
  });
  rows.wrong("index", {"undefined"}, [] { (void)Array().begin(); });
  rows.wrong("index", {"undefined"}, [] { (void)Array().end(); });
}

void add_update_rows(ErrorRows& rows) {
  rows.wrong<OutOfRange>("set", {"index 2", "(2, 3)"}, [] {
    Array x = matrix();
    x.set({2}, 1);
  });
  rows.wrong<InvalidShape>("set", {"(3,)", "(2,)"}, [] {
    Array x = matrix();
    x.set({slice(), 0}, f32({3}));
  });
  rows.wrong<InvalidDtype>("set", {"int32", "float32", "astype"}, [] {
    Array x = integers();
    x.set({0}, f32({3}));
  });
  rows.wrong<InvalidValue>("set", {"the number 0.5 does not fit int32"}, [] {
    Array x = integers();
    x.set({0}, 0.5);
  });
  rows.wrong<InvalidDtype>("set", {"indices are integers, not float32 (2, 3)"}, [] {
    Array x = matrix();
    x.set(matrix(), 1);
  });
  rows.wrong<OutOfRange>("set", {"mask of bool (4,)", "float32 (2, 3)"}, [] {
    Array x = matrix();
    x.set(f32({4}) > 0, 1);
  });
  rows.wrong<InvalidShape>("set", {"value of float32 (4, 3)", "float32 (2, 3)"}, [] {
    Array x = matrix();
    x.set(matrix() > 0, f32({4, 3}));
  });
  rows.wrong<InvalidShape>("set", {"mask has 4 true elements fewer than the value has rows", "evaluated at"}, [] {
    Array x = matrix();
    x.set(matrix() > 0, f32({4}));
    (void)x.to_vector<float>();
  });
  rows.wrong<InvalidShape>("min", {"no true element", "nothing has no min (place int64 ()", "evaluated at"},
                           [] { (void)min(matrix()(matrix() < -9)).item<float>(); });
  rows.wrong<InvalidShape>("max", {"no true element", "nothing has no max", "evaluated at"},
                           [] { (void)max(matrix()(matrix() < -9)).item<float>(); });
  rows.wrong<OutOfRange>("set", {"index 2 at (1,) of the indices", "axis 0 of extent 2"}, [] {
    Array x = matrix();
    x.set(array({0, 2}), 1);
    (void)x.to_vector<float>();
  });
  rows.wrong<InvalidShape>("set", {"value of float32 (2,)", "float32 (3, 3)"}, [] {
    Array x = matrix();
    x.set(array({0, 1, 0}), f32({2}));
  });
  rows.wrong<InvalidShape>("set", {"more than 16 axes"}, [] {
    Array x = deepest();
    x.set({integers()}, 1);
  });
  rows.wrong<InvalidDtype>("add", {"takes numbers, not bool", "bool (2, 3)"}, [] {
    Array x = matrix() > 0;
    x.add({array({0, 0})}, true);
  });
  rows.wrong("with_add", {"undefined"}, [] { (void)with_add(Array(), array({0}), 1); });
  rows.wrong("with_add", {"undefined"}, [] { (void)with_add(matrix(), Array(), 1); });
  rows.wrong("put", {"undefined"}, [] { (void)put(Array(), integers(), 1); });
  rows.wrong("put", {"undefined"}, [] { (void)put(matrix(), Array(), 1); });
  rows.wrong<InvalidDtype>("put", {"integers, not float32 (2, 3)"}, [] { (void)put(matrix(), matrix(), 1); });
  rows.wrong<OutOfRange>("put", {"axis 0 of float32 (0,) has no elements"}, [] { (void)put(f32({0}), integers(), 1); });
  rows.wrong<InvalidValue>("put", {"the number 0.5 does not fit int32"},
                           [] { (void)put(integers(), integers(), 0.5); });
  rows.wrong<OutOfRange>("put", {"index 6 at (0,) of the indices", "axis 0 of extent 6", "evaluated at"},
                         [] { (void)put(matrix(), array({6}), 1).to_vector<float>(); });
  rows.wrong("put", {"different devices, cpu and cuda:0"},
             [] { (void)put(on(cpu, {2}), astype(on(cuda(0), {2}), int32), 1); });
  rows.wrong("put_along_axis", {"undefined"}, [] { (void)put_along_axis(Array(), integers(), 1); });
  rows.wrong("put_along_axis", {"undefined"}, [] { (void)put_along_axis(matrix(), Array(), 1); });
  rows.wrong<InvalidShape>("put_along_axis", {"int32 (2,)", "(2, 3)", "axis 1"},
                           [] { (void)put_along_axis(matrix(), zeros({2}, int32), 1); });
  rows.wrong("nonzero", {"undefined"}, [] { (void)nonzero(Array()); });
  rows.wrong<InvalidShape>("nonzero", {"float32 () is 0-d"}, [] { (void)nonzero(f32({})); });
  rows.wrong<InvalidShape>("where", {"float32 () is 0-d"}, [] { (void)where(f32({})); });
  rows.wrong("argwhere", {"undefined"}, [] { (void)argwhere(Array()); });
  rows.wrong("flatnonzero", {"undefined"}, [] { (void)flatnonzero(Array()); });
  rows.wrong("compress", {"undefined"}, [] { (void)compress(Array(), matrix()); });
  rows.wrong("compress", {"undefined"}, [] { (void)compress(matrix(), Array()); });
  rows.wrong<OutOfRange>("compress", {"condition of float32 (2, 3)", "axis 0 of float32 (2, 3)", "1-d"},
                         [] { (void)compress(matrix(), matrix(), 0); });
  rows.wrong<OutOfRange>("compress", {"condition of float32 (4,)", "axis 1"},
                         [] { (void)compress(f32({4}), matrix(), 1); });
  rows.wrong<OutOfRange>("compress", {"axis 2", "(2, 3)"}, [] { (void)compress(f32({2}), matrix(), 2); });
  rows.wrong("set", {"different devices, cpu and cuda:0"}, [] {
    Array x = on(cpu, {3});
    x.set({0}, on(cuda(0), {}));
  });
  rows.wrong("set", {"undefined"}, [] {
    Array x;
    x.set({0}, 1);
  });
  rows.wrong("set", {"undefined"}, [] {
    Array x = matrix();
    x.set({0}, Array());
  });
  rows.wrong("set", {"undefined"}, [] {
    Array x = matrix();
    x.set(Array(), 1);
  });
  rows.wrong<OutOfRange>("add", {"index 2", "(2, 3)"}, [] {
    Array x = matrix();
    x.add({2}, 1);
  });
  rows.wrong("set", {"different devices, cuda:0 and cpu"}, [] {
    Array x = on(cpu, {3});
    x.set(on(cuda(0), {3}) > 0, 1);
  });
  rows.wrong<InvalidDtype>("add", {"bool"}, [] {
    Array x = matrix() > 0;
    x.add({0}, true);
  });
  rows.wrong<InvalidDtype>("with_add", {"bool"}, [] { (void)with_add(matrix() > 0, {0}, true); });
  rows.wrong<InvalidShape>("with_set", {"(3,)", "(2,)"}, [] { (void)with_set(matrix(), {slice(), 0}, f32({3})); });
  rows.wrong<InvalidDtype>("set", {"indices are integers, not float32 (2, 3)"},
                           [] { (void)with_set(matrix(), matrix(), 1); });
  rows.wrong<InvalidValue>("with_add", {"step 0"}, [] { (void)with_add(matrix(), {slice(none, none, 0)}, 1); });
}

void add_product_rows(ErrorRows& rows) {
  rows.wrong<InvalidShape>("inv", {"float32 (2, 3)", "no stack of square matrices"},
                           [] { (void)linalg::inv(matrix()); });
  rows.wrong<InvalidShape>("qr", {"float32 (3,)", "2"}, [] { (void)linalg::qr(f32({3})); });
  rows.wrong<InvalidShape>("svd", {"float32 (3,)", "2"}, [] { (void)linalg::svd(f32({3})); });
  rows.wrong<InvalidShape>("lstsq", {"float32 (3,)", "beside float32 (2, 3)"},
                           [] { (void)linalg::lstsq(matrix(), f32({3})); });
  rows.wrong<InvalidShape>("eigvalsh", {"float32 (3,)", "2"}, [] { (void)linalg::eigvalsh(f32({3})); });
  rows.wrong<InvalidShape>("solve", {"float32 (3, 3) and float32 (4,)", "do not fit"},
                           [] { (void)linalg::solve(f32({3, 3}), f32({4})); });
  rows.wrong<InvalidShape>("solve", {"float32 (2, 3, 3) and float32 (5, 3, 1)", "do not fit"},
                           [] { (void)linalg::solve(f32({2, 3, 3}), f32({5, 3, 1})); });
  rows.wrong<InvalidShape>("matmul", {"float32 (3, 4) and float32 (5, 6)", "rows of 4 meet columns of 5"},
                           [] { (void)matmul(f32({3, 4}), f32({5, 6})); });
  rows.wrong<InvalidShape>("matmul", {"float32 (3,) and float32 (4,)", "do not multiply"},
                           [] { (void)matmul(f32({3}), f32({4})); });
  rows.wrong<InvalidShape>("matmul", {"float32 (2, 3) and float32 ()", "no dimensions"},
                           [] { (void)matmul(matrix(), f32({})); });
  rows.wrong<InvalidShape>("matmul", {"float32 (2, 3, 4) and float32 (5, 4, 6)", "do not broadcast"},
                           [] { (void)matmul(f32({2, 3, 4}), f32({5, 4, 6})); });
  rows.wrong<InvalidDtype>("matmul", {"not bool", "astype"},
                           [] { (void)matmul(zeros({2, 2}, bool_), zeros({2, 2}, bool_)); });
  rows.wrong("matmul", {"undefined"}, [] { (void)matmul(Array(), matrix()); });
  rows.wrong<InvalidDtype>("matmul", {"uint64", "int64"},
                           [] { (void)matmul(zeros({2, 2}, uint64), zeros({2, 2}, int64)); });
  rows.wrong("matmul", {"different devices"}, [] { (void)matmul(on(cpu, {2, 2}), on(cuda(), {2, 2})); });
  rows.wrong<InvalidShape>("matmul", {"more than 2^63 - 1"}, [] { (void)matmul(f32({kLarge, 1}), f32({1, kLarge})); });
}

}  // namespace

void add_shape_rows(ErrorRows& rows) {
  add_view_rows(rows);
  add_joining_rows(rows);
  add_index_rows(rows);
  add_update_rows(rows);
  add_product_rows(rows);
}

}  // namespace tarry::test
