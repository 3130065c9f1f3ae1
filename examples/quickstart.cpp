// The example of the README: scripts/check_docs.py compares the two.
#include <tarry/tarry.h>

#include <iostream>
#include <numeric>
#include <vector>

namespace ta = tarry;

int main() {
  std::vector<float> values(1'000'000);
  std::iota(values.begin(), values.end(), 1.0F);
  const ta::Array x = ta::asarray(values);

  const ta::Array y = ta::sqrt(x * x + 1.0F) - x;  // nothing is computed yet
  const ta::Array total = ta::sum(y), spread = ta::std(y);

  std::cout << ta::plan(total, spread);                    // kernels, bytes and compilations, predicted
  const ta::Report report = ta::evaluate(total, spread);   // one kernel: reads x once, writes two numbers
  std::cout << report << "sum " << total.item<float>() << ", std " << spread.item<float>() << '\n';
}
