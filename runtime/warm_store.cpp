// Directories of kernels.
#include "runtime/warm_store.h"

#include <fmt/format.h>

#include <filesystem>

#include "cache/disk_store.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

namespace fs = std::filesystem;

class DirectoryStore final : public WarmStore {
 public:
  explicit DirectoryStore(std::unique_ptr<cache::DiskLayer> layer) : layer_(std::move(layer)) {}
  [[nodiscard]] std::string name() const override { return layer_->root().string(); }
  std::optional<cache::Entry> find(const std::string& material) override { return layer_->read(material); }
  std::error_code add(const cache::Entry& entry) override { return layer_->write(entry).error; }
  void finish() override {}

 private:
  const std::unique_ptr<cache::DiskLayer> layer_;
};

std::unique_ptr<cache::DiskLayer> open_directory(const fs::path& directory, Where where) {
  const std::error_code error = cache::make_private_directory(directory);
  const std::string reason = error ? error.message() : cache::reason_to_refuse(directory, cache::Access::ReadWrite);
  if (!reason.empty())
    TARRY_THROW(InvalidArgument, "warm", where, fmt::format("kernels cannot be written to {}: {}", directory.string(), reason));
  return std::make_unique<cache::DiskLayer>(directory, cache::Access::ReadWrite);
}

std::unique_ptr<cache::DiskLayer> open_own_cache(Where where) {
  for (auto& layer : cache::open_layers())
    if (layer->access() == cache::Access::ReadWrite) return std::move(layer);
  TARRY_THROW(InvalidArgument, "warm", where,
              "this machine keeps no kernels on disk: name a directory or bundle to write to, or set TARRY_CACHE_DIR");
}

}  // namespace

std::unique_ptr<WarmStore> open_warm_store(const std::string& out, Where where) {
  return std::make_unique<DirectoryStore>(out.empty() ? open_own_cache(where) : open_directory(out, where));
}

}  // namespace tarry::runtime
