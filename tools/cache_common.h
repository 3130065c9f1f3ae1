// Shared by the `tarry cache` commands: which layers they work on, how they find an entry, how they print.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cache/disk_store.h"
#include "cache/kernel_cache.h"
#include "cache/layer.h"

namespace tarry::tools {

using Json = nlohmann::ordered_json;

/// Options that every command has.
struct Common {
  std::vector<std::string> at;  ///< directories and bundles instead of those that the switches name
  bool json = false;
  void add_to(CLI::App& command);
};

/// The layers to look through; those that cannot be used keep the reason. Throws where there is none at all.
std::vector<cache::NamedLayer> layers_of(const Common& common);

/// The directory to change: the one of --at, or TARRY_CACHE_DIR. Throws with the reason where there is none.
cache::NamedLayer writable_layer(const Common& common);

/// Prints the reason of every layer that cannot be used to standard error.
void complain(const std::vector<cache::NamedLayer>& layers);

/// An entry found by its key.
struct Held {
  cache::Entry entry;
  std::string key;
  cache::KeyFields fields;  ///< of entry.material
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;
  std::size_t layer = 0;  ///< number of the first layer that holds it
  explicit Held(const cache::Found& found, std::size_t layer_number);
  Held(Held&&) = delete;
};

/// The entry whose key begins with `prefix`, or whose kernel has that symbol. Throws where there is none or several.
std::unique_ptr<Held> find_entry(const std::vector<cache::NamedLayer>& layers, const std::string& prefix);

/// "1 kernel", "3 kernels"
std::string counted(std::uint64_t count, const char* noun);
/// "838.5 MiB"
std::string size_text(std::uint64_t bytes);
/// "2025-01-31T12:00:00Z"
std::string time_text(std::int64_t seconds);

/// True where `target` is one of the wanted ones, or any is wanted.
bool is_wanted(const std::vector<std::string>& wanted, std::string_view target);

// The groups of commands; each file adds its own.
void add_cache_queries(CLI::App& group);      ///< stat, list, show, explain
void add_cache_maintenance(CLI::App& group);  ///< verify, prune, clear
void add_cache_transfer(CLI::App& group);     ///< export, import

}  // namespace tarry::tools
