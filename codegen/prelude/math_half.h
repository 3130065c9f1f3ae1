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
