// A shared library with a copy of the static library in it: TARRY_COPY names its only function.
#include <tarry/tarry.h>

#include <vector>

/// The sum of 2 * {1, 2, 3} by this copy; a negative number where its exception is not caught by type.
extern "C" __attribute__((visibility("default"))) float TARRY_COPY() {
  namespace ta = tarry;
  const ta::Array x = ta::asarray(std::vector<float>{1.0F, 2.0F, 3.0F});
  try {
    static_cast<void>(x + ta::asarray(std::vector<float>{1.0F, 2.0F}));
    return -1.0F;
  } catch (const ta::InvalidArgument&) {
    return ta::sum(2.0F * x).item<float>();
  }
}
