// The fold of each kind of cut.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/evaluate/piece_folds.h"

namespace tarry::runtime {

/// A fold of pieces of `chunk` elements, but for shorter ones at the end.
std::unique_ptr<PieceFold> make_fold(graph::Slicer& slicer, const graph::Cut& cut, std::int64_t chunk,
                                     EvaluateEdges evaluate);

}  // namespace tarry::runtime
