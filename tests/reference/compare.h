// Compares what the examples of docstrings print with what they say; scripts/make_reference.py writes the program.
#pragma once

#include <tarry/dlpack.h>
#include <tarry/dynamic.h>
#include <tarry/interop.h>
#include <tarry/kernel.h>
#include <tarry/tarry.h>
#include <tarry/type_info.h>
#include <tarry/warm.h>

#include <array>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#pragma GCC diagnostic ignored "-Wunused-variable"  // examples that only declare
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

namespace ta = tarry;

inline int wrong = 0;

/// The value as `<<` prints it, lines and columns as one line with single spaces.
template <class T>
std::string shown(const T& value) {
  std::ostringstream out;
  out << std::boolalpha << value;
  std::string text;
  for (const char c : out.str()) {
    const char next = c == '\n' ? ' ' : c;
    if (next != ' ' || text.empty() || text.back() != ' ') text += next;
  }
  return text;
}

inline void compare(const char* place, const std::string& found, const std::string& expected) {
  if (found == expected) return;
  std::cerr << place << ": gives " << found << ", not " << expected << '\n';
  ++wrong;
}
