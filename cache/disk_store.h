// The layers that the switches name: at most one that is written, and read-only ones below it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cache/layer.h"

namespace tarry::cache {

/// Layers in the order they are searched, made from TARRY_CACHE_DIR, TARRY_CACHE_PATH and TARRY_CACHE_SIZE. What
/// cannot or must not be used is left out with one warning that names the switch.
std::vector<std::unique_ptr<Layer>> open_layers();

/// The read-only layer of a directory or of a bundle; null where it must not be used, and then `why` says the reason.
std::unique_ptr<Layer> open_layer(const std::filesystem::path& path, std::string& why);

}  // namespace tarry::cache
