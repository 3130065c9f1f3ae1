// Sweeps over many cases: every run takes a part of them, another one each day. scripts/test.sh --long takes them
// whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "tests/helpers/test.h"

namespace tarry::test {

/// TARRY_WHOLE_SWEEPS=1. Tests that ask carry the tag [sweep].
inline bool whole_sweeps() { return environment("TARRY_WHOLE_SWEEPS", 0) != 0; }

/// The same number all day.
inline std::size_t today() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::size_t>(std::chrono::duration_cast<std::chrono::hours>(now).count() / 24);
}

/// Every nth of the cases, so that n days go through all of them.
template <class T>
std::vector<T> part_of_sweep(std::vector<T> cases, std::size_t nth) {
  if (whole_sweeps()) return cases;
  std::vector<T> part;
  for (std::size_t i = today() % nth; i < cases.size(); i += nth) part.push_back(std::move(cases[i]));
  return part;
}

}  // namespace tarry::test
