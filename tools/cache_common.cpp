// Layers, keys and units of the `tarry cache` commands, and the command that holds them.
#include "tools/cache_common.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <stdexcept>

#include "tools/commands.h"
#include "tools/output.h"

namespace tarry::tools {

void Common::add_to(CLI::App& command) {
  command
      .add_option("--at", at,
                  "Directory or bundle to work on, instead of those that TARRY_CACHE_DIR and TARRY_CACHE_PATH name")
      ->allow_extra_args(false)
      ->type_name("PATH");
  command.add_flag("--json", json, "Print JSON");
}

std::vector<cache::NamedLayer> layers_of(const Common& common) {
  if (common.at.empty()) {
    std::vector<cache::NamedLayer> layers = cache::named_layers();
    if (layers.empty())
      throw std::runtime_error(
          "TARRY_CACHE_DIR is off and TARRY_CACHE_PATH is not set; name a directory or bundle by --at");
    return layers;
  }
  std::vector<cache::NamedLayer> layers;
  for (const std::string& path : common.at) {
    cache::NamedLayer named{path, cache::Access::ReadOnly, nullptr, ""};
    named.layer = cache::open_layer(named.path, named.why);
    layers.push_back(std::move(named));
  }
  return layers;
}

cache::NamedLayer writable_layer(const Common& common) {
  if (common.at.size() > 1) throw std::runtime_error("one directory can be changed at a time; --at names several");
  cache::NamedLayer named;
  if (!common.at.empty()) {
    named.path = common.at[0];
    named.layer = cache::open_writable_layer(named.path, named.why);
  } else {
    std::vector<cache::NamedLayer> layers = cache::named_layers();
    if (layers.empty() || layers[0].access != cache::Access::ReadWrite) {
      throw std::runtime_error("TARRY_CACHE_DIR is off; name a directory by --at");
    }
    named = std::move(layers[0]);
  }
  if (!named.layer) throw std::runtime_error(fmt::format("{}: {}", named.path.string(), named.why));
  return named;
}

void complain(const std::vector<cache::NamedLayer>& layers) {
  for (const cache::NamedLayer& named : layers) {
    if (!named.layer) say(stderr, "tarry: {} is not used: {}\n", named.path.string(), named.why);
  }
}

Held::Held(const cache::Found& found, std::size_t layer_number)
    : entry(*found.entry),
      key(cache::key_of(entry.material)),
      fields(cache::parse_material(entry.material).value_or(cache::KeyFields{})),
      file(found.file),
      bytes(found.bytes),
      used(found.used),
      layer(layer_number) {}

std::unique_ptr<Held> find_entry(const std::vector<cache::NamedLayer>& layers, const std::string& prefix) {
  std::unique_ptr<Held> held;
  std::map<std::string, std::string> others;  // material that fits too, and its name
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].layer) continue;
    layers[i].layer->visit([&](const cache::Found& found) {
      if (found.entry == nullptr) return;
      const std::string key = cache::key_of(found.entry->material);
      if (!key.starts_with(prefix) && found.entry->name != prefix) return;
      if (!held) {
        held = std::make_unique<Held>(found, i);
      } else if (held->entry.material != found.entry->material) {
        others.try_emplace(found.entry->material, fmt::format("{} {}", key, found.entry->name));
      }
    });
  }
  if (!held)
    throw std::runtime_error(fmt::format("no kernel has the key or the name {}; `tarry cache list` shows all", prefix));
  if (others.empty()) return held;
  constexpr std::size_t kShown = 5;
  std::string text =
      fmt::format("{} fits {} kernels:\n  {} {}", prefix, others.size() + 1, held->key, held->entry.name);
  std::size_t shown = 1;
  for (const auto& [material, name] : others) {
    if (shown++ < kShown) text += "\n  " + name;
  }
  if (shown > kShown) text += "\n  ...";
  throw std::runtime_error(text);
}

std::string counted(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string size_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1U << 10U) return fmt::format("{} B", bytes);
  if (bytes < 1U << 20U) return fmt::format("{:.1f} KiB", value / (1 << 10));
  if (bytes < 1U << 30U) return fmt::format("{:.1f} MiB", value / (1 << 20));
  return fmt::format("{:.2f} GiB", value / (1 << 30));
}

std::string time_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

bool is_wanted(const std::vector<std::string>& wanted, std::string_view target) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), target) != wanted.end();
}

void add_cache(CLI::App& program) {
  CLI::App* const group = program.add_subcommand("cache", "Kernels on disk: look at them, check them, ship them");
  group->require_subcommand(1);
  add_cache_queries(*group);
  add_cache_maintenance(*group);
  add_cache_transfer(*group);
}

}  // namespace tarry::tools
