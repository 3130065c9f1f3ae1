// The prelude: what every op computes on one element, written once for three readers: NVRTC (CUDA C++), the system C
// compiler (C11) and this library (C++20, included inside a namespace). No headers, no libm, no macro without TARRY_.
//
// A line `//== names : needs : ops` opens a section; codegen/prelude/text.cpp emits only those that a kernel needs, in
// this order, without comment lines and with `#ifdef __CUDACC__` resolved; other conditionals inside of it stay.
// Section `exp_f32` defines tarry_exp_f32; one with several names, `exp_f16 exp_bf16`, defines each. A section with an
// ops list is a family: a macro that a row section `family_suffix` expands for one dtype, defining tarry_<op>_<suffix>
// for each op of the list. A new dtype is a row per family and a word in the lists of the casts.
//
// Semantics are those of docs/reference/numerics.md. Nothing here depends on contraction or on rounding that a vector
// width could change, so an element has the same bits in body and tail at every instruction set level (compile with
// -ffp-contract=off). What can be vectorised is written as selects, without branches. Polynomials and their sources are
// in scripts/fit_polynomials.py. Bit casts are unions: C11 defines them, and gcc and clang do in C++ as well.
//
// float16 and bfloat16 are the 16-bit integers tarry_f16 and tarry_bf16, one C type: only a function's name tells them
// apart. Integer arithmetic on 8 and 16 bits is done in 32 unsigned bits: int, which C would take, can overflow.
//
// The sections stand in codegen/prelude/, in the order of this list.
#pragma once

// clang-format off
#include "codegen/prelude/core.h"
#include "codegen/prelude/integer.h"
#include "codegen/prelude/float.h"
#include "codegen/prelude/cast.h"
#include "codegen/prelude/half.h"
#include "codegen/prelude/math_f64.h"
#include "codegen/prelude/trig_f64.h"
#include "codegen/prelude/pow_f64.h"
#include "codegen/prelude/math_f32.h"
#include "codegen/prelude/math_half.h"
#include "codegen/prelude/random.h"
// clang-format on
