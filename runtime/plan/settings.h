// The switches that evaluate() must know, at no cost where they have not changed.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/device/backend.h"

namespace tarry::runtime {

/// A number for each text, at most `most` of them.
std::uint32_t number_of(const std::string& text, std::uint32_t most);

/// The switches in the plan's key, and whether a plan may be looked up before there is a graph: where nothing
/// is dumped or recorded and the plan cache is on. Worked out once per change of the switches.
struct Settings {
  std::uint32_t words = 0;
  bool quick = false;
  bool marks = true;  ///< what is needed for the second time is stored
};
inline constexpr std::uint32_t kMostWords = 4095;
Settings settings();

/// Why kernels of `b` that no cache layer holds run in the interpreter, or "". With TARRY_DISABLE=compile all do.
std::string why_interpreted(Backend& b);
/// True if there is no such reason; at no cost where that was known.
bool compiles(Backend& b);

}  // namespace tarry::runtime
