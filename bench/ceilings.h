// The most that the machine's memory can do, by plain hand-written kernels and loops: nothing of the code generator's.
#pragma once

namespace bench {

/// Bytes per second of device memory; a copy counts both directions.
struct Ceilings {
  double copy = 0, read = 0, write = 0;
};

Ceilings measure_ceilings(bool gpu);

}  // namespace bench
