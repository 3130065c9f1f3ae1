// The kernels of routines as text, which only the files of routines include.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/cuda/routine.h"

namespace tarry::codegen {

/// `$NAME` and what stands for it in a text.
struct TextPart {
  std::string_view name;
  std::string text;
};
/// A kernel made of a template, for thread blocks of `threads`. `word` begins its name; `functions` are those of the
/// prelude that it calls. $N stands for its name.
KernelSource routine_kernel(std::string_view word, std::string_view text, std::span<const TextPart> parts,
                            std::span<const std::string> functions, int threads);

/// The unsigned integer of as many bytes as an element, which sorts and searches move instead of it.
std::string bits_type(Dtype dtype);
/// The bits of a float's infinity.
const char* infinity_bits(Dtype dtype);
/// The function `$N_key` from an element's bits to an integer that orders as the element does: NaNs are all equal and
/// last in both directions. `Zeros::Equal`: -0 has the key of +0.
enum class Zeros : std::uint8_t { Apart, Equal };
std::string key_function(const RoutineSpec& spec, Zeros zeros);
/// The function `$N_element` from a key of `Zeros::Apart` to the element, which is no NaN.
std::string element_function(const RoutineSpec& spec);

// Sort and Argsort.
std::size_t sort_scratch(const RoutineSpec& spec);
std::vector<KernelSource> sort_kernels(const RoutineSpec& spec);
std::vector<RoutineLaunch> sort_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch);
std::int64_t sort_launch_count(const RoutineSpec& spec);

// Sort and Argsort of which few elements of long rows are read.
bool selects(const RoutineSpec& spec);
std::size_t select_scratch(const RoutineSpec& spec);
std::vector<KernelSource> select_kernels(const RoutineSpec& spec);
std::vector<RoutineLaunch> select_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch);
std::int64_t select_launch_count(const RoutineSpec& spec);

// Searchsorted and Bincount.
std::vector<KernelSource> run_kernels(const RoutineSpec& spec);
std::vector<RoutineLaunch> run_launches(const RoutineSpec& spec, std::span<void* const> operands);

/// A kernel that gives every element one value.
KernelSource fill_kernel(std::string_view word, std::string_view type, std::string_view value);
RoutineLaunch fill_launch(std::uint32_t kernel, void* to, std::int64_t count);

// The Segment ops.
std::size_t segment_scratch(const RoutineSpec& spec);
std::vector<KernelSource> segment_kernels(const RoutineSpec& spec);
std::vector<RoutineLaunch> segment_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch);
std::int64_t segment_launch_count(const RoutineSpec& spec);

// The Scatter ops: set, and what has the same bits in any order.
std::size_t scatter_scratch(const RoutineSpec& spec);
std::vector<KernelSource> scatter_kernels(const RoutineSpec& spec);
std::vector<RoutineLaunch> scatter_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch);

KernelSource join_kernel(const RoutineSpec& spec);
/// `operands`: places, values, result.
RoutineLaunch join_launch(const RoutineSpec& spec, std::uint32_t kernel, std::span<void* const> operands);

// Systems and factors of matrices.
std::size_t matrix_scratch(const RoutineSpec& spec);
std::vector<KernelSource> matrix_kernels(const RoutineSpec& spec);
std::vector<RoutineLaunch> matrix_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch);

// Compact.
std::size_t compact_scratch(const RoutineSpec& spec);
std::vector<KernelSource> compact_kernels();
std::vector<RoutineLaunch> compact_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch);

/// Thread blocks of a launch whose blocks go on with what is left: enough for any GPU, within any grid.
std::int64_t striding_grid(std::int64_t wanted);
inline std::uint64_t word_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
inline std::uint64_t word_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace tarry::codegen
