// Programs of steps: the same at once and with an evaluation at each step.
#pragma once

#include <tarry/tarry.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/helpers/same_bits.h"
#include "tests/helpers/test.h"

namespace tarry::test {

/// Float64 from 0.5 to 1.5.
inline Array noise(const std::vector<std::int64_t>& shape, unsigned seed) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> v(static_cast<std::size_t>(count));
  std::mt19937 random(seed);
  for (double& x : v) x = std::uniform_real_distribution<double>(0.5, 1.5)(random);
  return asarray(v, shape);
}

/// Evaluates on the way, or not.
using Pause = std::function<void(const Array&)>;
using Stepwise = std::function<std::vector<Array>(const Pause&)>;

/// A program gives the same bits at once and step by step; returns the counters of the former.
inline Counters check_program(const Stepwise& program) {
  const std::vector<Array> now = program([](const Array&) {});
  const Counters c = evaluate(now).counters();
  const std::vector<Array> apart = program([](const Array& x) { evaluate(x); });
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::vector<double> x = now[i].to_vector<double>(), y = apart[i].to_vector<double>();
    REQUIRE(x.size() == y.size());
    for (std::size_t k = 0; k < x.size(); ++k) CHECK(same_bits<double>(x[k], y[k]));
  }
  return c;
}

inline std::int64_t bytes(const Counters& c) { return c.bytes_read + c.bytes_written; }

}  // namespace tarry::test
