// Host memory for the elements of a new array.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <tarry/error.h>

#include "graph/storage.h"

namespace tarry::runtime {

/// Row-major memory of the CPU pool for an array of `shape`. Throws OutOfMemory for `op` where there is no room.
std::shared_ptr<graph::Storage> host_storage(std::string_view op, Dtype dtype, std::span<const std::int64_t> shape,
                                             Where where);

}  // namespace tarry::runtime
