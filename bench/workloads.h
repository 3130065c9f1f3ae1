// The workloads: what a user writes, what it reads, and the double precision reference that its results must meet.
// bench/peers.py has the same formulas, sizes and bytes for the systems that Tarry is compared with.
#pragma once

#include <tarry/tarry.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bench {

/// Extents of the workloads.
struct Sizes {
  std::int64_t vector, pair, reduced;  ///< elements of an operand: of axpy and its like, of dot, of sum
  std::int64_t rows, columns;
  std::int64_t square;                    ///< of matrices
  std::int64_t points, centres;           ///< of rbf and of rbf_sum
  std::int64_t small, small_grid;         ///< where dispatch is all
  std::int64_t grid;                      ///< of heat_big
  std::int64_t draws;                     ///< of mcpi
  std::int64_t units, features, samples;  ///< of dahl: a layer
};
[[nodiscard]] Sizes gpu_sizes();
[[nodiscard]] Sizes cpu_sizes();
/// Small primes, and the smallest that the formulas allow: for checking alone.
[[nodiscard]] Sizes odd_sizes();
[[nodiscard]] Sizes least_sizes();

/// The ceiling that a workload is held against: the direction in which it moves most.
enum class Ceiling : std::uint8_t { None, Copy, Read, Write };

using Arrays = std::vector<tarry::Array>;
using HostInputs = std::vector<std::span<const float>>;

/// The largest error of a result, and what it may be.
struct Accuracy {
  double error = 0, allowed = 0;
  [[nodiscard]] bool holds() const { return error <= allowed; }  ///< false for NaN
};

struct Workload {
  const char* name;
  Ceiling ceiling;
  std::vector<tarry::Shape> inputs;  ///< float32, uniform in [0.1, 1)
  double bytes;                      ///< each input read once, each output written once
  std::function<Arrays(const Arrays&)> record;
  std::function<Accuracy(const HostInputs&, std::span<const tarry::Array>)> check;
};

[[nodiscard]] std::vector<Workload> workloads(const Sizes& sizes);

}  // namespace bench
