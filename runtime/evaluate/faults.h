// Indices out of range: words that kernels write, asked when a value that depends on them is read.
#pragma once

#include "runtime/evaluate/dispatch.h"

namespace tarry::runtime {

/// Gives the results of a run, which was enqueued, what they have to ask: its own checks, and the faults of the leaves
/// that they depend on. Where the device is done already nothing is left to ask, or the error itself.
void note_faults(Run& run, Backend& b, Where where);

}  // namespace tarry::runtime
