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

NamedLayer writable(const std::optional<std::string>& named) {
  NamedLayer result{named ? absolute(*named) : default_directory(), Access::ReadWrite, nullptr, ""};
  if (result.path.empty()) {
    result.why = "neither HOME nor XDG_CACHE_HOME is set";
  } else {
    result.layer = open_writable_layer(result.path, result.why);
  }
  return result;
}

NamedLayer read_only(const std::string& named) {
  NamedLayer result{absolute(named), Access::ReadOnly, nullptr, ""};
  result.layer = open_layer(result.path, result.why);
  return result;
}

std::unique_ptr<Layer> open_directory_layer(const fs::path& path, Access access, std::uint64_t capacity,
                                            std::string& why) {
  support::Refusal refusal;
  std::optional<support::Directory> directory = open_directory(path, access, refusal);
  why = refusal.text();
  if (directory) return std::make_unique<DiskLayer>(path, std::move(*directory), access, capacity);
  const bool may_pass =
      refusal.error == std::errc::too_many_files_open || refusal.error == std::errc::too_many_files_open_in_system;
  if (!may_pass) return nullptr;
  why.clear();
  return std::make_unique<DiskLayer>(path, access, capacity);
}

void warn(const NamedLayer& named) {
  const std::string path = named.path.string();
  support::log::warn_once(
      named.access == Access::ReadOnly
          ? "the kernels in " + path + " (TARRY_CACHE_PATH) are not used: " + named.why
          : "compiled kernels are not kept on disk: " + path + (path.empty() ? "" : ": ") + named.why +
                "; results are unaffected. Set TARRY_CACHE_DIR to a directory of your own, or to off");
}

}  // namespace

std::unique_ptr<Layer> open_layer(const fs::path& path, std::string& why) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return BundleLayer::open(path, why);
  return open_directory_layer(path, Access::ReadOnly, 0, why);
}

std::unique_ptr<Layer> open_writable_layer(const fs::path& directory, std::string& why) {
  return open_directory_layer(directory, Access::ReadWrite, env::bytes("TARRY_CACHE_SIZE", kDefaultCapacity), why);
}

std::unique_ptr<Layer> open_unbounded_layer(const fs::path& directory, std::string& why) {
  return open_directory_layer(directory, Access::ReadWrite, 0, why);
}

std::vector<NamedLayer> named_layers() {
  std::vector<NamedLayer> layers;
  const auto directory = env::get("TARRY_CACHE_DIR");
  const bool has_default = !env::is_privileged();  // nothing says whose home that would be
  if (directory != "off" && (directory || has_default)) layers.push_back(writable(directory));
  const std::string path = env::get("TARRY_CACHE_PATH").value_or("");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) layers.push_back(read_only(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return layers;
}

std::vector<std::unique_ptr<Layer>> open_layers() {
  std::vector<std::unique_ptr<Layer>> layers;
  for (NamedLayer& named : named_layers()) {
    if (named.layer) {
      layers.push_back(std::move(named.layer));
    } else {
      warn(named);
    }
  }
  return layers;
}

}  // namespace tarry::cache
