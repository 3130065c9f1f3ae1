// Directories and bundles.
#include "runtime/warm/warm_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "cache/bundle.h"
#include "cache/disk_store.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

namespace fs = std::filesystem;

class DirectoryStore final : public WarmStore {
 public:
  explicit DirectoryStore(std::unique_ptr<cache::Layer> layer) : layer_(std::move(layer)) {}
  [[nodiscard]] std::string name() const override { return layer_->path().string(); }
  std::optional<cache::Entry> find(const std::string& material) override { return layer_->read(material); }
  std::error_code add(const cache::Entry& entry) override { return layer_->write(entry).error; }
  void finish() override {}

 private:
  const std::unique_ptr<cache::Layer> layer_;
};

std::unique_ptr<cache::Layer> open_directory(const fs::path& directory, Where where) {
  std::string reason;
  std::unique_ptr<cache::Layer> layer = cache::open_unbounded_layer(directory, reason);
  if (!layer)
    TARRY_THROW(InvalidArgument, "warm", where,
                fmt::format("kernels cannot be written to {}: {}", directory.string(), reason));
  return layer;
}

/// Kernels gather in a directory beside the bundle, where they survive an interruption, and become a bundle at the end.
class BundleStore final : public WarmStore {
 public:
  BundleStore(fs::path file, Where where)
      : file_(std::move(file)), gathered_(file_.string() + ".partial"), where_(where) {
    std::error_code error;
    if (fs::exists(file_, error)) {
      std::string why;
      bundle_ = cache::BundleLayer::open(file_, why);
      if (!bundle_)
        TARRY_THROW(InvalidArgument, "warm", where_,
                    fmt::format("{} is not used: {}; remove it or name another", file_.string(), why));
    }
    directory_ = open_directory(gathered_, where_);
  }
  [[nodiscard]] std::string name() const override { return file_.string(); }

  std::optional<cache::Entry> find(const std::string& material) override {
    std::optional<cache::Entry> entry = bundle_ ? bundle_->read(material) : std::nullopt;
    return entry ? entry : directory_->read(material);
  }

  std::error_code add(const cache::Entry& entry) override { return directory_->write(entry).error; }

  void finish() override {
    std::vector<cache::Entry> entries;
    const auto take = [&](const cache::Found& found) {
      if (found.entry) entries.push_back(*found.entry);
    };
    directory_->visit(take);  // first: what was compiled again replaces what the bundle held
    if (!entries.empty() || !bundle_) {
      if (bundle_) bundle_->visit(take);
      if (const std::error_code error = cache::write_bundle(file_, entries))
        TARRY_THROW(InvalidArgument, "warm", where_,
                    fmt::format("cannot write {}: {}; the kernels are in {}", file_.string(), error.message(),
                                gathered_.string()));
    }
    std::error_code ignored;
    fs::remove_all(gathered_, ignored);
  }

 private:
  const fs::path file_, gathered_;
  const Where where_;
  std::unique_ptr<cache::BundleLayer> bundle_;
  std::unique_ptr<cache::Layer> directory_;
};

std::unique_ptr<cache::Layer> open_own_cache(Where where) {
  for (auto& layer : cache::open_layers())
    if (layer->access() == cache::Access::ReadWrite) return std::move(layer);
  TARRY_THROW(InvalidArgument, "warm", where,
              "this machine keeps no kernels on disk: name a directory or bundle to write to, or set TARRY_CACHE_DIR");
}

}  // namespace

std::unique_ptr<WarmStore> open_warm_store(const std::string& out, Where where) {
  if (out.ends_with(".bundle")) return std::make_unique<BundleStore>(out, where);
  return std::make_unique<DirectoryStore>(out.empty() ? open_own_cache(where) : open_directory(out, where));
}

}  // namespace tarry::runtime
