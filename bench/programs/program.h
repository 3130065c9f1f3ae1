// A program: what somebody who knows NumPy would write, what it reads, and how one step follows another.
#pragma once

#include <tarry/tarry.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bench {

namespace ta = tarry;
using Array = ta::Array;
using Arrays = std::vector<Array>;

/// Extents that are for checking, for measuring on a processor, for measuring on a GPU.
enum class Size : std::uint8_t { Small, Cpu, Gpu };

/// The setting that a program is made for.
struct Setting {
  Size size;
  ta::Dtype dtype;  ///< of its floats; the default float while it records
  [[nodiscard]] std::int64_t extent(std::int64_t small, std::int64_t cpu, std::int64_t gpu) const {
    return size == Size::Small ? small : size == Size::Cpu ? cpu : gpu;
  }
};

/// Numbers uniform in [low, high) that depend on the input's number and the element's alone: inputs.h makes them, and
/// inputs.py the same. Integers are rounded down, and bool is true where that is not 0.
struct Input {
  ta::Shape shape;
  double low = 0, high = 1;
  std::optional<ta::Dtype> dtype = {};  ///< else that of the program's floats
};

struct Program {
  std::vector<Input> inputs = {};
  std::size_t state = 0;  ///< so many results are the first inputs of the next step
  std::function<Arrays(const Arrays&)> step = {};
};

/// A row of programs.def.
struct ProgramRow {
  const char* name;
  std::vector<ta::Dtype> dtypes;
  Program (*make)(const Setting&);
};
[[nodiscard]] std::span<const ProgramRow> program_rows();

#define TARRY_PROGRAM(name, ...) [[nodiscard]] Program name(const Setting& setting);
#include "bench/programs/programs.def"
#undef TARRY_PROGRAM

}  // namespace bench
