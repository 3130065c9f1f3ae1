// The inputs of programs, the same as in inputs.py.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "bench/programs/program.h"
#include "bench/threads.h"

namespace bench {

/// Element i of input k: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) of both, its 24 highest bits as a fraction.
inline double input_number(std::size_t k, std::size_t i, double low, double high) {
  std::uint64_t z = (i + (k << 40)) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return static_cast<double>((z ^ z >> 31) >> 40) * 0x1p-24 * (high - low) + low;
}

/// Input k in the device's own memory, as after an evaluation there.
inline Array make_input(const Input& input, std::size_t k, ta::Dtype floats) {
  const auto count = static_cast<std::size_t>(
      std::accumulate(input.shape.begin(), input.shape.end(), std::int64_t{1}, std::multiplies<>()));
  const ta::Dtype dtype = input.dtype.value_or(floats);
  std::vector<double> values(count);
  for_ranges(count, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const double x = input_number(k, i, input.low, input.high);
      values[i] = ta::is_floating(dtype) ? x : std::floor(x);
    }
  });
  const Array exact = ta::borrow(values.data(), input.shape);
  Array x = dtype == ta::float64 ? exact + 0.0 : ta::astype(exact, dtype);
  ta::evaluate(x);
  ta::synchronize();
  return x;
}

}  // namespace bench
