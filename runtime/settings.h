// What evaluate() must know of the switches, at no cost where they have not changed.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/backend.h"

namespace tarry::runtime {

/// A number for each text, at most `most` of them.
std::uint32_t number_of(const std::string& text, std::uint32_t most);

/// What the plan's key says of the switches, and whether a plan may be looked up before there is a graph: where nothing is
/// dumped or recorded and the plan cache is on. Worked out once per change of the switches.
struct Settings {
  std::uint32_t words = 0;
  bool quick = false;
};
inline constexpr std::uint32_t kMostWords = 4095;
Settings settings();

/// True where kernels run in the interpreter: asked for, or no C compiler is there.
bool interpreted(Backend& b);
/// False where it is known that kernels of `b` are compiled.
bool may_interpret(Backend& b);

}  // namespace tarry::runtime
