// The directories that the switches name: at most one that is written, and read-only ones below it.
#pragma once

#include <memory>
#include <vector>

#include "cache/disk_layer.h"

namespace tarry::cache {

/// Layers in the order they are searched, made from TARRY_CACHE_DIR, TARRY_CACHE_PATH and TARRY_CACHE_SIZE. A directory
/// that cannot or must not be used is left out with one warning that names the switch.
std::vector<std::unique_ptr<DiskLayer>> open_layers();

}  // namespace tarry::cache
