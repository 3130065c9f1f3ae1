// Routines of the CPU (codegen/cuda/routine.h says what they are): code of this library, in the caller's thread where
// they are small and on all threads of the device where they are not.
#pragma once

#include <span>

#include "codegen/cuda/routine.h"

namespace tarry::runtime {

/// `operands`: inputs, then the result; `scratch` has routine_scratch() bytes.
void run_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);

// Its parts, by op.
void sort_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);
void search_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands);
void count_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);
void scatter_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);
void compact_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);
void fold_runs_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);
void run_matrices_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);
/// The first `spec.m` places of an Argsort, where they are few; the others are left as they are.
void select_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);
bool selects(const codegen::RoutineSpec& spec);

}  // namespace tarry::runtime
