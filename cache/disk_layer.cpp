// DiskLayer: lookup and storage of entries in one directory.
#include "cache/disk_layer.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/flight_lock.h"
#include "cache/trust.h"
#include "cache/walk.h"
#include "cache/write_lock.h"
#include "support/log.h"

namespace tarry::cache {

namespace fs = std::filesystem;
using support::Directory;
using support::Hash128;
using support::Missing;
using support::Refusal;

namespace {

/// Kernels of equal hash stand side by side in slots; with 128 bits only the first is ever used.
constexpr int kSlots = 8;
/// An entry's time of modification is its last use, give or take this: a hit seldom has to write.
constexpr std::int64_t kTouchSeconds = 3600;
/// A sweep frees this part of the capacity.
constexpr std::uint64_t kSlackDivisor = 8;
/// A writer holds the lock for milliseconds; one that does for longer is stopped.
constexpr std::chrono::seconds kLockPatience{5};

std::string bucket_of(const Hash128& hash) { return hash.hex().substr(0, 2); }

std::string name_of(const Hash128& hash, int slot) {
  return hash.hex() + (slot == 0 ? "" : "-" + std::to_string(slot)) + ".kernel";
}

void touch(const support::OpenFile& file, const struct stat& status) {
  if (std::time(nullptr) - status.st_mtime < kTouchSeconds) return;
  ::futimens(file.descriptor(), nullptr);  // failing is harmless: the entry looks older than it is
}

}  // namespace

DiskLayer::DiskLayer(fs::path root, Access access, std::uint64_t capacity)
    : root_(std::move(root)), access_(access), capacity_(capacity) {}

DiskLayer::DiskLayer(fs::path root, Directory directory, Access access, std::uint64_t capacity)
    : root_(std::move(root)),
      access_(access),
      capacity_(capacity),
      open_(std::make_shared<const Directory>(std::move(directory))) {}

void DiskLayer::warn(const Refusal& why) const {
  if (why.error || warned_.exchange(true)) return;
  support::log::warn_once(access_ == Access::ReadOnly
                              ? "kernels in " + root_.string() + " (TARRY_CACHE_PATH) are not used: " + why.reason
                              : "compiled kernels are not kept in " + root_.string() + " (TARRY_CACHE_DIR): " +
                                    why.reason + "; results are unaffected. Remove what others can write to");
}

DiskLayer::DirectoryPtr DiskLayer::open_root(Refusal& why) const {
  const std::lock_guard lock(open_mutex_);
  why = {};
  if (const auto status = open_ ? open_->status() : std::nullopt) {
    why.reason = reason_to_refuse(*status, open_->descriptor(), access_);
  } else {
    std::optional<Directory> found = open_directory(root_, access_, why);
    open_ = found ? std::make_shared<const Directory>(std::move(*found)) : nullptr;
  }
  return why.reason.empty() ? open_ : nullptr;
}

std::optional<Directory> DiskLayer::open_bucket(const Directory& root, const Hash128& hash, Missing missing,
                                                Refusal& why) const {
  const std::string name = bucket_of(hash);
  why = {};
  std::optional<Directory> bucket = root.open_directory(name, why.error);
  if (!bucket && missing == Missing::Make && why.error == std::errc::no_such_file_or_directory) {
    constexpr mode_t kPrivate = 0700;
    why.error = root.make_directory(name, kPrivate);
    if (!why.error) bucket = root.open_directory(name, why.error);
  }
  if (!bucket) return bucket;
  why.reason = reason_to_refuse(bucket->opened(), bucket->descriptor(), Access::ReadOnly);
  if (why.reason.empty()) return bucket;
  why.reason = (root_ / name).string() + ": " + why.reason;
  return std::nullopt;
}

fs::path DiskLayer::lock_file(const std::string& material) const {
  if (access_ == Access::ReadOnly) return {};
  // The checksum is whole where a build shortens hashes: two kernels never share a lock.
  const Hash128 hash = support::checksum_bytes(material);
  Refusal why;
  const DirectoryPtr root = open_root(why);
  if (!root || !open_bucket(*root, hash, Missing::Make, why)) return {};
  return root_ / bucket_of(hash) / (hash.hex() + std::string(kLockSuffix));
}

/// The entry at `name`, if it can be trusted and is whole; else it is removed from a ReadWrite layer.
std::optional<Entry> DiskLayer::read_entry_file(const Directory& bucket, const std::string& name,
                                                std::error_code& error) {
  const std::optional<support::OpenFile> file = bucket.open_file(name, error);
  const bool is_link = error == std::errc::too_many_symbolic_link_levels;
  if (is_link && access_ == Access::ReadOnly) warn({{}, name + " is a link"});
  if (!file) return std::nullopt;
  struct stat status{};
  if (::fstat(file->descriptor(), &status) != 0) return std::nullopt;
  const std::string reason = reason_to_refuse(status, file->descriptor(), Access::ReadOnly);
  std::optional<Entry> entry;
  if (reason.empty()) entry = read_entry(*file);
  if (entry && access_ == Access::ReadWrite) touch(*file, status);
  if (entry) return entry;
  if (access_ == Access::ReadWrite) {
    (void)bucket.remove_file(name);
  } else if (!reason.empty()) {
    warn({{}, name + ": " + reason});
  }
  return std::nullopt;
}

std::optional<Entry> DiskLayer::read(const std::string& material) {
  const Hash128 hash = support::hash_bytes(material);
  Refusal why;
  const DirectoryPtr root = open_root(why);
  const std::optional<Directory> bucket = root ? open_bucket(*root, hash, Missing::Leave, why) : std::nullopt;
  if (!bucket) {
    warn(why);
    return std::nullopt;
  }
  for (int slot = 0; slot < kSlots; ++slot) {
    std::error_code error;
    std::optional<Entry> entry = read_entry_file(*bucket, name_of(hash, slot), error);
    if (entry && entry->material == material) return entry;
    if (error == std::errc::no_such_file_or_directory) return std::nullopt;
    // No regular file, or no descriptor left just now: nothing to conclude about its content.
    const bool misplaced = entry && support::hash_bytes(entry->material) != hash;
    if (misplaced && access_ == Access::ReadWrite) (void)bucket->remove_file(name_of(hash, slot));
  }
  return std::nullopt;
}

void DiskLayer::discard(const std::string& material) {
  if (access_ == Access::ReadOnly) return;
  const Hash128 hash = support::hash_bytes(material);
  Refusal why;
  const DirectoryPtr root = open_root(why);
  const std::optional<Directory> bucket = root ? open_bucket(*root, hash, Missing::Leave, why) : std::nullopt;
  for (int slot = 0; bucket && slot < kSlots; ++slot) {
    std::error_code error;
    const std::optional<Entry> entry = read_entry_file(*bucket, name_of(hash, slot), error);
    if (entry && entry->material == material) (void)bucket->remove_file(name_of(hash, slot));
  }
}

Written DiskLayer::write(const Entry& entry) {
  const Hash128 hash = support::hash_bytes(entry.material);
  const std::string bytes = encode(entry);
  if (access_ == Access::ReadOnly) return {std::make_error_code(std::errc::read_only_file_system)};
  if (bytes.size() > kMostEntryBytes) return {};
  if (capacity_ != 0 && bytes.size() > capacity_) return {};  // would only push out everything else
  const std::lock_guard lock(write_mutex_);
  Refusal why;
  const DirectoryPtr root = open_root(why);
  const std::optional<Directory> bucket = root ? open_bucket(*root, hash, Missing::Make, why) : std::nullopt;
  if (!bucket) {
    warn(why);
    const bool refused = !why.error;
    return {refused ? std::make_error_code(std::errc::permission_denied) : why.error, 0, refused};
  }
  Written written;
  for (int slot = 0; slot < kSlots; ++slot) {
    std::error_code error;
    const std::optional<Entry> other = read_entry_file(*bucket, name_of(hash, slot), error);
    const bool taken = other && other->material != entry.material && slot + 1 < kSlots;
    if (taken) continue;
    written = write_file(*root, *bucket, name_of(hash, slot), bytes);
    if (written.error != std::errc::is_a_directory) break;
  }
  return written;
}

Written DiskLayer::write_file(const Directory& root, const Directory& bucket, const std::string& name,
                              const std::string& bytes) {
  Written written;
  if (capacity_ == 0) {
    written.error = bucket.write_file(name, bytes);
    return written;
  }
  const WriteLock lock(root, stalled_ ? std::chrono::seconds{0} : kLockPatience);
  stalled_ = lock.timed_out();
  if (make_room(root, bytes.size(), written)) written.error = bucket.write_file(name, bytes);
  return written;
}

/// False where `bytes` more do not fit whatever is removed.
bool DiskLayer::make_room(const Directory& root, std::uint64_t bytes, Written& written) {
  const bool fits = census_.count(root) + bytes <= capacity_;
  if (fits && swept_) return true;
  swept_ = true;
  const std::uint64_t keep = fits ? capacity_ : capacity_ - capacity_ / kSlackDivisor;
  const Swept swept = sweep(root, root_, keep - std::min(keep, bytes));
  written.evicted = swept.removed;
  if (swept.left + bytes <= capacity_) return true;
  written.error = std::make_error_code(std::errc::no_space_on_device);
  return false;
}

void DiskLayer::visit(const Visitor& visitor) {
  Refusal why;
  const DirectoryPtr root = open_root(why);
  if (!root) return;
  walk(*root, [&](const CacheFile& file) {
    if (file.kind != FileKind::Entry) return;
    Found found{.file = root_ / file.bucket / file.name,
                .bytes = file.size,
                .shared = 0,
                .used = std::chrono::duration_cast<std::chrono::seconds>(file.used).count(),
                .entry = nullptr,
                .defect = ""};
    std::error_code error;
    const std::optional<support::OpenFile> opened = file.directory->open_file(file.name, error);
    if (!opened && error == std::errc::no_such_file_or_directory) return;  // it vanished just now
    std::optional<Entry> entry;
    const std::string above = reason_to_refuse(file.directory->descriptor(), Access::ReadOnly);
    if (!opened) {
      found.defect = "it cannot be read: " + error.message();
    } else if (!above.empty()) {
      found.defect = "of its directory: " + above;
    } else if (found.defect = reason_to_refuse(opened->descriptor(), Access::ReadOnly); found.defect.empty()) {
      entry = read_entry(*opened, &found.defect);
    }
    if (entry && !file.name.starts_with(support::hash_bytes(entry->material).hex())) {
      found.defect = "it is the entry of another key";
    } else if (entry) {
      found.entry = &*entry;
    }
    visitor(found);
  });
}

Layer::Contents DiskLayer::contents() const {
  Contents held;
  Refusal why;
  const DirectoryPtr root = open_root(why);
  if (!root) return held;
  walk(*root, [&](const CacheFile& file) {
    if (file.kind != FileKind::Entry) return;
    ++held.kernels;
    held.bytes += file.size;
  });
  return held;
}

}  // namespace tarry::cache
