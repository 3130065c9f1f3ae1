// A bundle: many kernels in one relocatable file that is only read. Equal content gives equal bytes, in any order.
//
//   magic "TARRYBDL" | format version u32 | zero u32 | number of entries u64 | number of images u64
//   per entry, by hash: hash of the key material | offset of its record u64 | size u64 | number of its image u64
//   per image: XXH3-128 of it | offset u64 | size u64
//   XXH3-128 of all before: a bundle is opened by reading this far
//   records: entries without image (entry_format.h), each with a checksum of its own
//   images: kernels that were compiled together share one
//   XXH3-128 of all before
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "cache/layer.h"
#include "support/file.h"
#include "support/hash.h"

namespace tarry::cache {

inline constexpr std::uint32_t kBundleVersion = 1;

/// Writes a bundle of `entries`, atomically. Of entries of equal material the first counts.
std::error_code write_bundle(const std::filesystem::path& file, std::span<const Entry> entries);

/// A bundle as a layer. It stays open: replacing or removing the file disturbs no process that reads it.
class BundleLayer final : public Layer {
 public:
  /// Null where the file is no sound bundle or must not be trusted, and then `why` says the reason. Damage behind the
  /// index is a miss of the entries concerned.
  static std::unique_ptr<BundleLayer> open(const std::filesystem::path& path, std::string& why);

  std::optional<Entry> read(const std::string& material) override;
  void discard(const std::string& material) override;
  Written write(const Entry& entry) override;
  void visit(const Visitor& visitor) override;
  [[nodiscard]] Contents contents() const override { return {entries_, file_.size()}; }
  [[nodiscard]] Access access() const override { return Access::ReadOnly; }
  [[nodiscard]] const std::filesystem::path& path() const override { return path_; }

 private:
  struct Row {
    support::Hash128 hash;
    std::uint64_t offset = 0, size = 0, image = 0;
  };
  struct Image {
    support::Hash128 checksum;
    std::uint64_t offset = 0, size = 0;
  };
  BundleLayer(std::filesystem::path path, support::OpenFile file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string read_index();
  [[nodiscard]] Row row_at(std::size_t number) const;
  [[nodiscard]] Image image_at(std::size_t number) const;
  std::optional<Entry> record_at(const Row& row, std::string* defect) const;
  bool attach_image(const Row& row, Entry& entry, std::string* defect) const;

  const std::filesystem::path path_;
  const support::OpenFile file_;
  std::string index_;  // as in the file, so that opening costs one read whatever the number of kernels
  std::size_t entries_ = 0, images_ = 0;
};

}  // namespace tarry::cache
