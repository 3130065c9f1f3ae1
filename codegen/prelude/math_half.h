// Elementary functions in float16 and bfloat16: those of float32, rounded once. A function is two lines: a section that
// names both of its types and needs half_function and the float32 section, and TARRY_HALF_UNARY(name) or
// TARRY_HALF_BINARY(name), which define both.
#pragma once

//== exp_f16 exp_bf16 : half_function exp_f32
TARRY_HALF_UNARY(exp)
//== log_f16 log_bf16 : half_function log_f32
TARRY_HALF_UNARY(log)
//== erf_f16 erf_bf16 : half_function erf_f32
TARRY_HALF_UNARY(erf)
//== rsqrt_f16 rsqrt_bf16 : half_function rsqrt_f32
TARRY_HALF_UNARY(rsqrt)
//== expm1_f16 expm1_bf16 : half_function expm1_f32
TARRY_HALF_UNARY(expm1)
//== log1p_f16 log1p_bf16 : half_function log1p_f32
TARRY_HALF_UNARY(log1p)
//== log2_f16 log2_bf16 : half_function log2_f32
TARRY_HALF_UNARY(log2)
//== log10_f16 log10_bf16 : half_function log10_f32
TARRY_HALF_UNARY(log10)
//== sin_f16 sin_bf16 : half_function sin_f32
TARRY_HALF_UNARY(sin)
//== cos_f16 cos_bf16 : half_function cos_f32
TARRY_HALF_UNARY(cos)
//== tan_f16 tan_bf16 : half_function tan_f32
TARRY_HALF_UNARY(tan)
//== asin_f16 asin_bf16 : half_function asin_f32
TARRY_HALF_UNARY(asin)
//== acos_f16 acos_bf16 : half_function acos_f32
TARRY_HALF_UNARY(acos)
//== atan_f16 atan_bf16 : half_function atan_f32
TARRY_HALF_UNARY(atan)
//== sinh_f16 sinh_bf16 : half_function sinh_f32
TARRY_HALF_UNARY(sinh)
//== cosh_f16 cosh_bf16 : half_function cosh_f32
TARRY_HALF_UNARY(cosh)
//== tanh_f16 tanh_bf16 : half_function tanh_f32
TARRY_HALF_UNARY(tanh)
//== asinh_f16 asinh_bf16 : half_function asinh_f32
TARRY_HALF_UNARY(asinh)
//== acosh_f16 acosh_bf16 : half_function acosh_f32
TARRY_HALF_UNARY(acosh)
//== atanh_f16 atanh_bf16 : half_function atanh_f32
TARRY_HALF_UNARY(atanh)
//== sigmoid_f16 sigmoid_bf16 : half_function sigmoid_f32
TARRY_HALF_UNARY(sigmoid)
//== pow_f16 pow_bf16 : half_function pow_f32
TARRY_HALF_BINARY(pow)
//== atan2_f16 atan2_bf16 : half_function atan2_f32
TARRY_HALF_BINARY(atan2)
//== hypot_f16 hypot_bf16 : half_function hypot_f32
TARRY_HALF_BINARY(hypot)
//== logaddexp_f16 logaddexp_bf16 : half_function logaddexp_f32
TARRY_HALF_BINARY(logaddexp)
