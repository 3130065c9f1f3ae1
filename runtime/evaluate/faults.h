// Indices out of range: words that kernels write, asked when a value that depends on them is read.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/evaluate/dispatch.h"

namespace tarry::runtime {

class ValueFaults;

/// The faults that each value of a run will have to ask: its own checks, and those of the leaves that it depends on.
/// Made before the run is enqueued, as it takes memory. Empty where there is nothing to ask.
std::vector<std::shared_ptr<ValueFaults>> make_faults(const Run& run, Backend& b, Where where);

/// Gives them to the results of the run, which was enqueued. Where the device is done already nothing is left to ask,
/// or the error itself.
void note_faults(Run& run, std::span<const std::shared_ptr<ValueFaults>> faults);

}  // namespace tarry::runtime
