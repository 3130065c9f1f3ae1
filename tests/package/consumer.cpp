// A user's program, built outside the project: one expression, one kernel, and an exception of the library caught by
// type.
#include <tarry/tarry.h>

#include <cstdio>
#include <vector>

int main() {
  namespace ta = tarry;
  const ta::Array x = ta::asarray(std::vector<float>{1.0F, 2.0F, 3.0F});
  const ta::Array y = 2.0F * x;
  const ta::Report report = ta::evaluate(y);
  float total = 0;
  for (const float v : y.to_vector<float>()) total += v;
  std::printf("%g kernels %d\n", static_cast<double>(total), static_cast<int>(report.counters().kernels));
  try {
    static_cast<void>(x + ta::asarray(std::vector<float>{1.0F, 2.0F}));
  } catch (const ta::InvalidArgument&) {
    return 0;
  }
  return 1;
}
