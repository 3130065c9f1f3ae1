// write_bundle and BundleLayer. Reading trusts no offset and no size before it has checked it.
#include "cache/bundle.h"

#include <sys/stat.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/bytes.h"
#include "cache/trust.h"
#include "support/log.h"

namespace tarry::cache {

namespace {

using support::Hash128;

constexpr std::string_view kBundleMagic = "TARRYBDL";
constexpr std::size_t kHeadSize = 32, kRowSize = kHashSize + 24, kImageRowSize = kHashSize + 16;

bool before(const Hash128& a, const Hash128& b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; }

struct Keyed {
  Hash128 hash;
  const Entry* entry;
};

/// By hash, then material; one of each material.
std::vector<Keyed> in_order(std::span<const Entry> entries) {
  std::vector<Keyed> sorted;
  for (const Entry& entry : entries) sorted.push_back({support::hash_bytes(entry.material), &entry});
  std::stable_sort(sorted.begin(), sorted.end(), [](const Keyed& a, const Keyed& b) {
    return a.hash == b.hash ? a.entry->material < b.entry->material : before(a.hash, b.hash);
  });
  const auto same = [](const Keyed& a, const Keyed& b) { return a.entry->material == b.entry->material; };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  return sorted;
}

/// The distinct images of some entries, numbered as they appear.
class Images {
 public:
  std::uint64_t number_of(const std::string& image) {
    const auto [known, is_new] = numbers_.try_emplace(image, images_.size());
    if (is_new) images_.push_back(image);
    return known->second;
  }
  [[nodiscard]] const std::vector<std::string_view>& all() const { return images_; }

 private:
  std::unordered_map<std::string_view, std::uint64_t> numbers_;
  std::vector<std::string_view> images_;
};

void report(std::string* defect, const char* what) {
  if (defect != nullptr) *defect = what;
}

std::int64_t modified(const support::OpenFile& file) {
  struct stat status{};
  return ::fstat(file.descriptor(), &status) == 0 ? status.st_mtime : 0;
}

}  // namespace

std::error_code write_bundle(const std::filesystem::path& file, std::span<const Entry> entries) {
  const std::vector<Keyed> sorted = in_order(entries);
  std::vector<std::string> records;
  std::vector<std::uint64_t> image_of;
  Images images;
  for (const Keyed& k : sorted) {
    image_of.push_back(images.number_of(k.entry->image));
    records.push_back(encode({k.entry->material, k.entry->compiler, k.entry->name, k.entry->log, ""}));
  }

  std::string bytes(kBundleMagic);
  append_integer(bytes, kBundleVersion, 4);
  append_integer(bytes, 0, 4);
  append_integer(bytes, sorted.size(), 8);
  append_integer(bytes, images.all().size(), 8);
  std::uint64_t at = kHeadSize + kRowSize * sorted.size() + kImageRowSize * images.all().size() + kHashSize;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    append_hash(bytes, sorted[i].hash);
    append_integer(bytes, at, 8);
    append_integer(bytes, records[i].size(), 8);
    append_integer(bytes, image_of[i], 8);
    at += records[i].size();
  }
  for (const std::string_view image : images.all()) {
    append_hash(bytes, support::checksum_bytes(image));
    append_integer(bytes, at, 8);
    append_integer(bytes, image.size(), 8);
    at += image.size();
  }
  append_checksum(bytes);
  for (const std::string& record : records) bytes += record;
  for (const std::string_view image : images.all()) bytes += image;
  append_checksum(bytes);
  return support::write_file_atomically(file, bytes);
}

std::unique_ptr<BundleLayer> BundleLayer::open(const std::filesystem::path& path, std::string& why) {
  support::Refusal refusal;
  std::optional<support::OpenFile> file = open_bundle_file(path, refusal);
  why = refusal.text();
  if (!file) return nullptr;
  std::unique_ptr<BundleLayer> layer(new BundleLayer(path, std::move(*file)));
  why = layer->read_index();
  return why.empty() ? std::move(layer) : nullptr;
}

/// The fault of the part that opening reads, or "".
std::string BundleLayer::read_index() {
  const std::string head = file_.read(0, std::min<std::uint64_t>(kHeadSize, file_.size())).value_or("");
  if (head.substr(0, kBundleMagic.size()) != kBundleMagic) return "it is neither a directory nor a bundle of kernels";
  Reader counts(std::string_view(head).substr(kBundleMagic.size()));
  const std::uint64_t version = counts.integer(4);
  counts.integer(4);
  const std::uint64_t entries = counts.integer(8), images = counts.integer(8);
  if (!counts.good()) return "it is cut off";
  if (version != kBundleVersion) {
    return "it is a bundle of format version " + std::to_string(version) + ", not " + std::to_string(kBundleVersion);
  }
  if (entries > file_.size() / kRowSize || images > file_.size() / kImageRowSize) return "it is cut off";
  const std::uint64_t size = kHeadSize + kRowSize * entries + kImageRowSize * images + kHashSize;
  std::optional<std::string> bytes = file_.read(0, size);
  if (!bytes) return "it is cut off";
  if (!has_checksum(*bytes)) return "the checksum of its index is wrong";
  index_ = std::move(*bytes);
  entries_ = static_cast<std::size_t>(entries);
  images_ = static_cast<std::size_t>(images);
  return "";
}

BundleLayer::Row BundleLayer::row_at(std::size_t number) const {
  Reader reader(std::string_view(index_).substr(kHeadSize + kRowSize * number, kRowSize));
  Row row;
  row.hash = reader.hash();
  row.offset = reader.integer(8);
  row.size = reader.integer(8);
  row.image = reader.integer(8);
  return row;
}

BundleLayer::Image BundleLayer::image_at(std::size_t number) const {
  Reader reader(
      std::string_view(index_).substr(kHeadSize + kRowSize * entries_ + kImageRowSize * number, kImageRowSize));
  Image image;
  image.checksum = reader.hash();
  image.offset = reader.integer(8);
  image.size = reader.integer(8);
  return image;
}

std::optional<Entry> BundleLayer::record_at(const Row& row, std::string* defect) const {
  const std::optional<std::string> bytes = file_.read(row.offset, row.size);
  if (!bytes) {
    report(defect, "its record cannot be read");
    return std::nullopt;
  }
  return decode(*bytes, defect);
}

bool BundleLayer::attach_image(const Row& row, Entry& entry, std::string* defect) const {
  if (row.image >= images_) {
    report(defect, "its image is missing");
    return false;
  }
  const Image image = image_at(static_cast<std::size_t>(row.image));
  std::optional<std::string> bytes = file_.read(image.offset, image.size);
  if (!bytes) {
    report(defect, "its image cannot be read");
    return false;
  }
  if (support::checksum_bytes(*bytes) != image.checksum) {
    report(defect, "the checksum of its image is wrong");
    return false;
  }
  entry.image = std::move(*bytes);
  return true;
}

std::optional<Entry> BundleLayer::read(const std::string& material) {
  // Asked again each time: an index that was checked says nothing of bytes that somebody wrote since.
  if (const std::string reason = reason_to_refuse(file_.descriptor(), Access::ReadOnly); !reason.empty()) {
    support::log::warn_once("the kernels in " + path_.string() +
                            " (TARRY_CACHE_PATH) are not used any more: " + reason);
    return std::nullopt;
  }
  const Hash128 hash = support::hash_bytes(material);
  const auto numbers = std::views::iota(std::size_t{0}, entries_);
  const auto hash_at = [this](std::size_t number) { return row_at(number).hash; };
  const auto first = std::ranges::lower_bound(numbers, hash, before, hash_at);
  for (auto i = static_cast<std::size_t>(first - numbers.begin()); i < entries_; ++i) {
    const Row row = row_at(i);
    if (row.hash != hash) break;
    std::optional<Entry> entry = record_at(row, nullptr);
    if (entry && entry->material == material && attach_image(row, *entry, nullptr)) return entry;
  }
  return std::nullopt;
}

void BundleLayer::discard(const std::string&) {}

Written BundleLayer::write(const Entry&) { return {std::make_error_code(std::errc::read_only_file_system)}; }

void BundleLayer::visit(const Visitor& visitor) {
  const std::int64_t made = modified(file_);
  std::vector<bool> counted(images_);
  for (std::size_t i = 0; i < entries_; ++i) {
    const Row row = row_at(i);
    Found found{.file = path_, .bytes = row.size, .shared = 0, .used = made, .entry = nullptr, .defect = ""};
    std::optional<Entry> entry = record_at(row, &found.defect);
    if (entry && support::hash_bytes(entry->material) != row.hash) {
      found.defect = "it is the entry of another key";
    } else if (entry && attach_image(row, *entry, &found.defect)) {
      found.entry = &*entry;
      const auto number = static_cast<std::size_t>(row.image);
      found.bytes += entry->image.size();
      if (counted[number]) found.shared = entry->image.size();
      counted[number] = true;
    }
    if (found.entry == nullptr) found.defect = "the entry of key " + row.hash.hex() + ": " + found.defect;
    visitor(found);
  }
  const std::optional<std::string> all = file_.read(0, file_.size());
  if (all && has_checksum(*all)) return;
  visitor({.file = path_,
           .bytes = 0,
           .shared = 0,
           .used = made,
           .entry = nullptr,
           .defect = "the checksum of the file is wrong"});
}

}  // namespace tarry::cache
