// A sorting network over several short rows at once: a vector holds the same place of each of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarry::runtime {

/// Bytes of the words that stand at one place of all rows: a cache line.
inline constexpr std::size_t kNetworkBytes = 64;

/// Rows of `Word`, a signed integer of 32 or 64 bits, that are sorted together.
template <class Word>
inline constexpr std::int64_t kNetworkRows = kNetworkBytes / sizeof(Word);

/// The most elements of a row for which the network is faster than passes over the bytes of words.
inline constexpr std::int64_t kLongestInNetwork = 2048;

/// True if the processor has the instructions.
bool has_network();

/// Sorts kNetworkRows rows of n words, ascending. Element i of row r stands at words[i * kNetworkRows + r]; words are
/// aligned to kNetworkBytes. Where has_network().
void sort_in_network(std::int32_t* words, std::int64_t n);
void sort_in_network(std::int64_t* words, std::int64_t n);

}  // namespace tarry::runtime
