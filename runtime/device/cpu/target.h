// The target of kernels of the CPU device.
#pragma once

#include <vector>

#include "graph/target.h"

namespace tarry::runtime {

/// The highest level that this CPU has, or the lower one that TARRY_CPU names. Throws InvalidArgument where it names
/// none or a higher one.
const graph::Target& cpu_target();

/// The levels that this CPU can run, the highest first.
std::vector<const graph::Target*> cpu_levels();

}  // namespace tarry::runtime
