// The first two principal components of a table: power iteration of its covariance, which is never formed.
#include "bench/programs/program.h"

namespace bench {
namespace {

Arrays step(const Array& table, const Array& first, const Array& second) {
  const Array x = (table - ta::mean(table, 0)) / ta::std(table, 0);
  const double rows = static_cast<double>(table.shape()[0]);
  const auto multiplied = [&](const Array& v) { return ta::matmul(ta::matmul(x, v), x) / rows; };
  const auto unit = [](const Array& v) { return v / ta::sqrt(ta::sum(v * v)); };
  Array a = unit(first), b = second;
  for (int i = 0; i < 6; ++i) a = unit(multiplied(a));
  for (int i = 0; i < 6; ++i) {
    const Array v = multiplied(b);
    b = unit(v - ta::sum(v * a) * a);
  }
  return {a, b, ta::sum(a * multiplied(a)), ta::sum(b * multiplied(b))};
}

}  // namespace

Program power_iteration(const Setting& setting) {
  const std::int64_t rows = setting.extent(31, 1 << 15, 1 << 20), columns = setting.extent(6, 64, 64);
  return {.inputs = {{{rows, columns}, -1, 3}, {{columns}, -1, 1}, {{columns}, -1, 1}},
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2]); }};
}

}  // namespace bench
