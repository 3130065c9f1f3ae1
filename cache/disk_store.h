// The layers that the switches name: at most one that is written, and read-only ones below it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cache/layer.h"

namespace tarry::cache {

/// A layer that the switches name, or why there is none.
struct NamedLayer {
  std::filesystem::path path;  ///< empty where the default directory cannot be named
  Access access{};
  std::unique_ptr<Layer> layer;
  std::string why;
};
/// In the order they are searched, from TARRY_CACHE_DIR, TARRY_CACHE_PATH and TARRY_CACHE_SIZE; TARRY_CACHE_DIR=off is
/// not among them.
std::vector<NamedLayer> named_layers();

/// Those that can and may be used. What is left out costs one warning that names the switch.
std::vector<std::unique_ptr<Layer>> open_layers();

/// The read-only layer of a directory or of a bundle; null where it must not be used, and then `why` says the reason.
std::unique_ptr<Layer> open_layer(const std::filesystem::path& path, std::string& why);

/// The layer of a directory that is written, made where it is missing; bounded as TARRY_CACHE_SIZE says. Null likewise.
std::unique_ptr<Layer> open_writable_layer(const std::filesystem::path& directory, std::string& why);
/// The same without a bound.
std::unique_ptr<Layer> open_unbounded_layer(const std::filesystem::path& directory, std::string& why);

}  // namespace tarry::cache
