// How a target says what it found.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz_targets/target.h"

void tarry::test::found(std::string_view what) {
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}
