// open_layers: from switches to directories and bundles.
#include "cache/disk_store.h"

#include "cache/bundle.h"
#include "cache/disk_layer.h"
#include "cache/trust.h"
#include "support/env.h"
#include "support/log.h"

namespace tarry::cache {

namespace fs = std::filesystem;
namespace env = support::env;

namespace {

constexpr std::uint64_t kDefaultCapacity = std::uint64_t{1} << 30;

/// Absolute, so that a later chdir does not move the cache.
fs::path absolute(const std::string& text) {
  std::error_code error;
  fs::path path = fs::absolute(text, error).lexically_normal();
  return error ? fs::path(text) : path;
}

/// The directory to write to; empty where there is none to name.
fs::path default_directory() {
  // The XDG specification says that a relative path there is to be ignored.
  if (const auto base = env::system("XDG_CACHE_HOME"); base && base->front() == '/') return fs::path(*base) / "tarry";
  if (const auto home = env::system("HOME")) return absolute(*home) / ".cache" / "tarry";
  return {};
}

void warn_unwritable(const std::string& reason) {
  support::log::warn_once("compiled kernels are not kept on disk: " + reason +
                          "; results are unaffected. Set TARRY_CACHE_DIR to a directory of your own, or to off");
}

std::unique_ptr<Layer> open_writable() {
  const auto named = env::get("TARRY_CACHE_DIR");
  if (named == "off") return nullptr;
  const fs::path directory = named ? absolute(*named) : default_directory();
  if (directory.empty()) {
    warn_unwritable("neither HOME nor XDG_CACHE_HOME is set");
    return nullptr;
  }
  const std::error_code error = make_private_directory(directory);
  const std::string reason = error ? error.message() : reason_to_refuse(directory, Access::ReadWrite);
  if (!reason.empty()) {
    warn_unwritable(directory.string() + ": " + reason);
    return nullptr;
  }
  return std::make_unique<DiskLayer>(directory, Access::ReadWrite, env::bytes("TARRY_CACHE_SIZE", kDefaultCapacity));
}

std::unique_ptr<Layer> open_read_only(const std::string& named) {
  const fs::path path = absolute(named);
  std::string reason;
  std::unique_ptr<Layer> layer = open_layer(path, reason);
  if (!layer) support::log::warn_once("the kernels in " + path.string() + " (TARRY_CACHE_PATH) are not used: " + reason);
  return layer;
}

}  // namespace

std::unique_ptr<Layer> open_layer(const fs::path& path, std::string& why) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return BundleLayer::open(path, why);
  why = reason_to_refuse(path, Access::ReadOnly);
  return why.empty() ? std::make_unique<DiskLayer>(path, Access::ReadOnly) : nullptr;
}

std::vector<std::unique_ptr<Layer>> open_layers() {
  std::vector<std::unique_ptr<Layer>> layers;
  const auto keep = [&](std::unique_ptr<Layer> layer) {
    if (layer) layers.push_back(std::move(layer));
  };
  keep(open_writable());
  const std::string path = env::get("TARRY_CACHE_PATH").value_or("");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) keep(open_read_only(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return layers;
}

}  // namespace tarry::cache
