// Planted bug: a signed addition that overflows. UndefinedBehaviorSanitizer must report it.
#include <limits>

int main(int argc, char**) {
  const int largest = std::numeric_limits<int>::max();
  return largest + argc == 0 ? 1 : 0;
}
