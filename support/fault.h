// Fault injection: every call that can fail in the environment asks here first, so that a test can make it fail.
#pragma once

#include <cstdint>

namespace tarry::support::fault {

enum class Site : std::uint8_t { Driver, Nvrtc, Allocation, Compiler, File, Load, Thread };

/// True where the call about to be made at `site` must pretend to fail. Counts the call. Cost when unarmed: one load.
bool fails(Site site) noexcept;

/// Makes the k-th counted call from now on (over all sites, or of one site) fail once; k = 0 only counts. Thread-safe.
void arm(std::uint64_t k) noexcept;
void arm(Site site, std::uint64_t k) noexcept;
/// Stops failing; returns how many calls were counted since the last arm().
std::uint64_t disarm() noexcept;

}  // namespace tarry::support::fault
