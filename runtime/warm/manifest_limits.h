// Checks of a manifest's text before it is parsed: a parser takes memory, time and stack by what it reads.
#pragma once

#include <cstddef>
#include <string_view>

namespace tarry::runtime {

// A graph of a million nodes is a line of 100 MiB with 15 million values.
inline constexpr std::size_t kMaxManifestBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 28;
inline constexpr std::size_t kMaxLineValues = std::size_t{1} << 25;
inline constexpr std::size_t kMaxMembers = 32;  ///< of one object
inline constexpr std::size_t kMaxNesting = 8;

/// Which limit a line of JSON passes, in words; nullptr where it keeps all. Takes time linear in the line and no
/// memory.
const char* passed_limit(std::string_view line);

}  // namespace tarry::runtime
