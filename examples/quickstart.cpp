// The example of the README: scripts/check_docs.py compares the two, and scripts/check_guides.py what it prints.
#include <tarry/tarry.h>

#include <iostream>
#include <vector>

namespace ta = tarry;

int main() {
  std::vector<float> seconds(1'000'000);
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] = static_cast<float>(i) * 1e-5F;
  const ta::Array t = ta::asarray(seconds);

  const ta::Array y = ta::exp(-t) * ta::sin(t);  // nothing is computed yet
  const ta::Array area = ta::sum(y) * 1e-5F, spread = ta::std(y);

  std::cout << ta::plan(area, spread);                   // kernels, bytes and compilations, predicted
  const ta::Report report = ta::evaluate(area, spread);  // one kernel: reads t once, writes two numbers
  std::cout << report << "area " << area.item<float>() << ", std " << spread.item<float>() << '\n';
}
