// Wrong calls of operations and reductions.
#include <tarry/type_info.h>

#include "tests/errors/rows.h"
#include "tests/helpers/devices.h"

namespace tarry::test {
namespace {

Array f32(const Shape& shape) { return zeros(shape); }
Array u8() { return zeros({3}, uint8); }
Array bools() { return zeros({3}, bool_); }

Array on(Device device) {
  const Scope placed(device);
  return zeros({3});
}

void add_dtype_rows(ErrorRows& rows) {
  rows.wrong<InvalidDtype>("add", {"takes numbers, not bool; use logical_or"}, [] { (void)(bools() + bools()); });
  rows.wrong<InvalidDtype>("subtract", {"not bool; use not_equal"}, [] { (void)(bools() - true); });
  rows.wrong<InvalidDtype>("multiply", {"not bool; use logical_and"}, [] { (void)(bools() * bools()); });
  rows.wrong<InvalidDtype>("negative", {"not bool; use logical_not"}, [] { (void)-bools(); });
  rows.wrong<InvalidDtype>("maximum", {"not bool; use logical_or"}, [] { (void)maximum(bools(), bools()); });
  rows.wrong<InvalidDtype>("less", {"not bool"}, [] { (void)(bools() < bools()); });
  rows.wrong<InvalidDtype>("divide", {"not bool"}, [] { (void)(bools() / bools()); });
  rows.wrong<InvalidDtype>("sqrt", {"not bool"}, [] { (void)sqrt(bools()); });
  rows.wrong<InvalidDtype>("exp", {"not bool"}, [] { (void)exp(bools()); });
  rows.wrong<InvalidDtype>("floor", {"not bool"}, [] { (void)floor(bools()); });
  rows.wrong<InvalidDtype>("isnan", {"not bool"}, [] { (void)isnan(bools()); });
  rows.wrong<InvalidDtype>("positive", {"takes numbers, not bool"}, [] { (void)positive(bools()); });
  rows.wrong<InvalidDtype>("clip", {"takes numbers, not bool"}, [] { (void)clip(bools(), false); });
  rows.wrong<InvalidDtype>("bitwise_left_shift", {"takes integers, not bool"}, [] { (void)(bools() << bools()); });
  rows.wrong<InvalidDtype>("bitwise_left_shift", {"takes integers, not float32"}, [] { (void)(f32({3}) << 1); });
  rows.wrong<InvalidDtype>("bitwise_and", {"takes integers and bool, not float32", "astype"},
                           [] { (void)(f32({3}) & u8()); });
  rows.wrong<InvalidDtype>("bitwise_invert", {"takes integers and bool, not float32"}, [] { (void)~f32({3}); });
  rows.wrong<InvalidDtype>("logical_and", {"takes bool, not float32; compare first"},
                           [] { (void)logical_and(f32({3}), bools()); });
  rows.wrong<InvalidDtype>("logical_not", {"takes bool, not uint8; compare first"}, [] { (void)logical_not(u8()); });
  rows.wrong<InvalidDtype>("where", {"the condition is uint8, not bool"}, [] { (void)where(u8(), f32({3}), 0); });
  rows.wrong<InvalidDtype>("where", {"the condition is int64, not bool"}, [] { (void)where(1, f32({3}), 0); });
  rows.wrong<InvalidDtype>("add", {"int8 and uint64", "astype"}, [] { (void)(zeros({3}, int8) + zeros({3}, uint64)); });
  rows.wrong<InvalidDtype>("where", {"int8 and uint64"},
                           [] { (void)where(bools(), zeros({3}, int8), zeros({3}, uint64)); });
  rows.wrong<InvalidDtype>("result_type", {"int16 and uint64", "astype"}, [] { (void)result_type(uint64, int16); });
  rows.wrong("result_type", {"takes a dtype, an array or a number"},
             [] { (void)result_type(std::span<const TypeOperand>()); });
  rows.wrong<InvalidDtype>("astype", {"complex64 is not available"}, [] { (void)astype(f32({3}), complex64); });
  rows.wrong<InvalidDtype>("astype", {"dtype 99 is not available"},
                           [] { (void)astype(f32({3}), static_cast<Dtype>(99)); });
}

void add_operand_rows(ErrorRows& rows) {
  rows.wrong<InvalidShape>("add", {"float32 (2, 3) and float32 (4,) do not broadcast"},
                           [] { (void)(f32({2, 3}) + f32({4})); });
  rows.wrong<InvalidShape>("where", {"bool (3,), float32 (2, 3) and float32 (4,) do not broadcast"},
                           [] { (void)where(bools(), f32({2, 3}), f32({4})); });
  rows.wrong<InvalidShape>("fma", {"float32 (2,), float32 (3,) and float32 (1,) do not broadcast"},
                           [] { (void)fma(f32({2}), f32({3}), f32({1})); });
  rows.wrong<InvalidShape>("clip", {"float32 (2,) and float32 (3,) do not broadcast"},
                           [] { (void)clip(f32({2}), f32({3})); });
  rows.wrong<InvalidShape>("isclose", {"float32 (2,) and float32 (3,) do not broadcast"},
                           [] { (void)isclose(f32({2}), f32({3})); });
  rows.wrong("allclose", {"different devices, cpu and cuda:0"}, [] { (void)allclose(on(cpu), on(cuda(0))); });
  rows.wrong<InvalidShape>("add", {"(4294967296, 4294967296) has more than 2^63 - 1 elements"},
                           [] { (void)(f32({std::int64_t{1} << 32, 1}) + f32({std::int64_t{1} << 32})); });
  rows.wrong<InvalidValue>("add", {"the number 300 does not fit uint8"}, [] { (void)(u8() + 300); });
  rows.wrong<InvalidValue>("multiply", {"the number -1 does not fit uint8"}, [] { (void)(u8() * -1); });
  rows.wrong<InvalidValue>("maximum", {"the number 1e+300 does not fit float32", "astype"},
                           [] { (void)maximum(f32({3}), 1e300); });
  rows.wrong<InvalidShape>("less", {"uint64 (2,) and float32 (3,) do not broadcast"},
                           [] { (void)(zeros({2}, uint64) < f32({3})); });
  rows.wrong("greater", {"different devices, cpu and cuda:0"}, [] { (void)(astype(on(cpu), int64) > on(cuda(0))); });
  rows.wrong<InvalidDtype>("Scope", {"float32 or float64, not int32"}, [] { const Scope scope(int32); });
  rows.wrong<InvalidValue>("allclose", {"the number 1e+300 does not fit float32"},
                           [] { (void)allclose(f32({3}), f32({3}), {.atol = 1e300}); });
  rows.wrong("add", {"different devices, cpu and cuda:0"}, [] { (void)(on(cpu) + on(cuda(0))); });
  rows.wrong("where", {"different devices, cuda:1 and cpu"}, [] { (void)where(on(cuda(1)) > 0, on(cpu), 0); });
  rows.wrong("add", {"undefined"}, [] { (void)(Array() + f32({3})); });
  rows.wrong("pow", {"undefined"}, [] { (void)pow(2, Array()); });
  rows.wrong("sin", {"undefined"}, [] { (void)sin(Array()); });
  rows.wrong("trunc", {"undefined"}, [] { (void)trunc(Array()); });
  rows.wrong("isinf", {"undefined"}, [] { (void)isinf(Array()); });
  rows.wrong("positive", {"undefined"}, [] { (void)positive(Array()); });
  rows.wrong("astype", {"undefined"}, [] { (void)astype(Array(), float32); });
  rows.wrong("clip", {"undefined"}, [] { (void)clip(f32({3}), Array()); });
  rows.wrong("array_equal", {"undefined"}, [] { (void)array_equal(f32({3}), Array()); });
  rows.wrong("add", {"undefined"}, [] {
    Array x;
    x += 1;
  });
  rows.wrong("add", {"undefined"}, [] {
    Array x = f32({3});
    const Array y = std::move(x);
    (void)(x + y);
  });
  rows.wrong<InvalidShape>("+=", {"float32 (3,) into float32 (2, 3)", "x = x + y"}, [] {
    Array x = f32({3});
    x += f32({2, 3});
  });
  rows.wrong<InvalidDtype>("*=", {"uint8 (3,) into float32 (3,)", "x = x * y"}, [] {
    Array x = u8();
    x *= 0.5;
  });
  rows.wrong<InvalidDtype>("<<=", {"uint8 (3,) into uint16 (3,)", "x = x << y"}, [] {
    Array x = u8();
    x <<= zeros({3}, uint16);
  });
}

void add_reduction_rows(ErrorRows& rows) {
  rows.wrong<OutOfRange>("sum", {"axis 2", "(2, 3)"}, [] { (void)sum(f32({2, 3}), 2); });
  rows.wrong<OutOfRange>("mean", {"axis -3", "(2, 3)"}, [] { (void)mean(f32({2, 3}), -3); });
  rows.wrong<OutOfRange>("softmax", {"axis 0", "()"}, [] { (void)softmax(f32({}), 0); });
  rows.wrong<InvalidValue>("var", {"axis 1 is named twice", "(2, 3)"}, [] { (void)var(f32({2, 3}), {1, 0, 1}); });
  rows.wrong<InvalidValue>("std", {"axis -1 is named twice", "(2, 3)"}, [] { (void)tarry::std(f32({2, 3}), {1, -1}); });
  rows.wrong<OutOfRange>("argmax", {"axis 9", "(2, 3)"}, [] { (void)argmax(f32({2, 3}), 9); });
  rows.wrong<InvalidDtype>("sum", {"bool", "any and all"}, [] { (void)sum(f32({3}), {}, {.dtype = bool_}); });
  rows.wrong<InvalidDtype>("prod", {"complex128"}, [] { (void)prod(f32({3}), {}, {.dtype = complex128}); });
  rows.wrong<InvalidShape>("min", {"axis 0 of bool (0,) is empty"}, [] { (void)min(zeros({0}, bool_)); });
  rows.wrong<InvalidShape>("argmax", {"axis 1 of bool (2, 0) is empty"}, [] { (void)argmax(zeros({2, 0}, bool_), 1); });
  rows.wrong<InvalidDtype>("logsumexp", {"not bool"}, [] { (void)logsumexp(bools()); });
  rows.wrong<InvalidDtype>("softmax", {"not bool"}, [] { (void)softmax(bools()); });
  rows.wrong<InvalidShape>("max", {"axis 0 of float32 (0, 3) is empty"}, [] { (void)max(f32({0, 3}), 0); });
  rows.wrong<InvalidShape>("min", {"axis 1 of float32 (3, 0) is empty"}, [] { (void)min(f32({3, 0})); });
  rows.wrong<InvalidShape>("argmax", {"axis 0 of float32 (0,) is empty"}, [] { (void)argmax(f32({0})); });
  rows.wrong("sum", {"undefined"}, [] { (void)sum(Array()); });
  rows.wrong("count_nonzero", {"undefined"}, [] { (void)count_nonzero(Array()); });
  rows.wrong("any", {"undefined"}, [] { (void)any(Array()); });
  rows.wrong("mean", {"undefined"}, [] { (void)mean(Array()); });
  rows.wrong("std", {"undefined"}, [] { (void)tarry::std(Array()); });
  rows.wrong("argmin", {"undefined"}, [] { (void)argmin(Array()); });
  rows.wrong("logsumexp", {"undefined"}, [] { (void)logsumexp(Array()); });
  rows.wrong<InvalidShape>("cumulative_sum", {"without dimensions"}, [] { (void)cumulative_sum(f32({})); });
  rows.wrong<InvalidValue>("cumulative_min", {"which axis", "(2, 3)", ".axis"},
                           [] { (void)cumulative_min(f32({2, 3})); });
  rows.wrong<OutOfRange>("cumulative_max", {"axis 2", "(2, 3)"},
                         [] { (void)cumulative_max(f32({2, 3}), {.axis = 2}); });
  rows.wrong<InvalidShape>("cumulative_max", {"without dimensions"}, [] { (void)cumulative_max(f32({})); });
  rows.wrong("cumulative_min", {"undefined"}, [] { (void)cumulative_min(Array()); });
  rows.wrong<InvalidValue>("cumulative_prod", {"which axis", "(2, 3)", ".axis"},
                           [] { (void)cumulative_prod(f32({2, 3})); });
  rows.wrong<OutOfRange>("cumulative_sum", {"axis 2", "(2, 3)"},
                         [] { (void)cumulative_sum(f32({2, 3}), {.axis = 2}); });
  rows.wrong<InvalidDtype>("cumulative_sum", {"bool", "astype"},
                           [] { (void)cumulative_sum(f32({3}), {.dtype = bool_}); });
  rows.wrong<InvalidDtype>("cumulative_prod", {"complex64"},
                           [] { (void)cumulative_prod(f32({3}), {.dtype = complex64}); });
  rows.wrong("cumulative_sum", {"undefined"}, [] { (void)cumulative_sum(Array()); });
}

}  // namespace

void add_operation_rows(ErrorRows& rows) {
  add_dtype_rows(rows);
  add_operand_rows(rows);
  add_reduction_rows(rows);
}

}  // namespace tarry::test
