// Sorting and splitting signed integers with vectors of AVX-512, in one thread.
#pragma once

#include <cstdint>

namespace tarry::runtime {

/// The instructions that it takes, where the processor is an x86-64.
#define TARRY_VECTOR_SORT_TARGET "avx512f,avx512dq,avx512vl,avx512bw"

/// True if the processor has the instructions.
bool has_vector_sort();

/// Sorts n words, ascending, in place; they need not be aligned. Where has_vector_sort().
void sort_words(std::int32_t* words, std::int64_t n);
void sort_words(std::int64_t* words, std::int64_t n);

/// True if n words are ascending. Where has_vector_sort().
bool are_ascending(const std::int32_t* words, std::int64_t n);
bool are_ascending(const std::int64_t* words, std::int64_t n);

/// Moves words below `bound` in front of the others: how many they are. Where has_vector_sort().
std::int64_t split_words(std::int32_t* words, std::int64_t n, std::int32_t bound);
std::int64_t split_words(std::int64_t* words, std::int64_t n, std::int64_t bound);

}  // namespace tarry::runtime
