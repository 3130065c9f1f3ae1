// Elements of a Sort on the CPU at few ranks, without the sort.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/cuda/routine.h"

namespace tarry::runtime {

/// True where spec.ranks are so few that rank_on_host() is worth its while.
bool ranks_are_few(const codegen::RoutineSpec& spec);

/// Writes the elements of a Sort at spec.ranks to their places in the result and leaves the others as they are. False,
/// with nothing of use in the result, where a row's sample misled.
bool rank_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch);

/// Elements of a row of n that are its sample, and where the k-th of them stands: one in each equal part of the row, at
/// a place that depends on k as if by chance.
std::int64_t sample_size(std::int64_t n);
std::int64_t sample_place(std::int64_t k, std::int64_t n);

}  // namespace tarry::runtime
