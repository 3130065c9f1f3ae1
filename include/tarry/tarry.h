// Tarry: arrays that wait. Operations only record; evaluate() runs everything as a few fused kernels.
//
//     #include <tarry/tarry.h>
//     namespace ta = tarry;
//
//     ta::Array x = ta::asarray(values);                       // copies
//     ta::Array z = (x - ta::mean(x)) / ta::std(x);            // nothing has run
//     ta::Array loss = ta::sum(ta::where(z > 3, z, 0));
//     ta::evaluate(loss);                                      // one pass over x per reduction
//     float value = loss.item<float>();
//
// <tarry/warm.h>, for deployment tools and recording, <tarry/dlpack.h> and <tarry/interop.h>, for memory of other code,
// are included on their own.
// `/` is true division (int64 / int64 gives float64) and `%` takes the sign of the divisor.
#pragma once

#include <tarry/array.h>       // IWYU pragma: export
#include <tarry/cache.h>       // IWYU pragma: export
#include <tarry/constants.h>   // IWYU pragma: export
#include <tarry/create.h>      // IWYU pragma: export
#include <tarry/device.h>      // IWYU pragma: export
#include <tarry/dtype.h>       // IWYU pragma: export
#include <tarry/error.h>       // IWYU pragma: export
#include <tarry/evaluate.h>    // IWYU pragma: export
#include <tarry/function.h>    // IWYU pragma: export
#include <tarry/group.h>       // IWYU pragma: export
#include <tarry/half.h>        // IWYU pragma: export
#include <tarry/history.h>     // IWYU pragma: export
#include <tarry/index.h>       // IWYU pragma: export
#include <tarry/io.h>          // IWYU pragma: export
#include <tarry/linalg.h>      // IWYU pragma: export
#include <tarry/log.h>         // IWYU pragma: export
#include <tarry/loop.h>        // IWYU pragma: export
#include <tarry/memory.h>      // IWYU pragma: export
#include <tarry/ops.h>         // IWYU pragma: export
#include <tarry/plan.h>        // IWYU pragma: export
#include <tarry/progress.h>    // IWYU pragma: export
#include <tarry/random.h>      // IWYU pragma: export
#include <tarry/reduce.h>      // IWYU pragma: export
#include <tarry/replay.h>      // IWYU pragma: export
#include <tarry/scan.h>        // IWYU pragma: export
#include <tarry/scope.h>       // IWYU pragma: export
#include <tarry/shape.h>       // IWYU pragma: export
#include <tarry/solve.h>       // IWYU pragma: export
#include <tarry/sort.h>        // IWYU pragma: export
#include <tarry/statistics.h>  // IWYU pragma: export
#include <tarry/stream.h>      // IWYU pragma: export
#include <tarry/views.h>       // IWYU pragma: export
#include <tarry/windows.h>     // IWYU pragma: export
