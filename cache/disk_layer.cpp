// DiskLayer: lookup and storage of entries in one directory.
#include "cache/disk_layer.h"

#include <cerrno>
#include <chrono>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/flight_lock.h"
#include "cache/walk.h"
#include "support/file.h"

namespace tarry::cache {

namespace fs = std::filesystem;

namespace {

/// Kernels of equal hash stand side by side in slots; with 128 bits only the first is ever used.
constexpr int kSlots = 8;
/// An entry's time of modification is its last use, give or take this: a hit seldom has to write.
constexpr std::int64_t kTouchSeconds = 3600;
/// A sweep is due when this part of the capacity was written since the last, and it frees as much.
constexpr std::uint64_t kSlackDivisor = 8;

std::error_code last_error() { return {errno, std::generic_category()}; }

bool is_present(const fs::path& file) { return ::access(file.c_str(), F_OK) == 0; }

void touch(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || std::time(nullptr) - status.st_mtime < kTouchSeconds) return;
  ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);  // failing is harmless: the entry looks older than it is
}

std::int64_t seconds_since_epoch(fs::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

}  // namespace

DiskLayer::DiskLayer(fs::path root, Access access, std::uint64_t capacity)
    : root_(std::move(root)),
      access_(access),
      capacity_(capacity),
      unswept_bytes_(capacity) {}  // so that the first write sweeps: the directory may be over a new, lower limit

fs::path DiskLayer::path_of(const support::Hash128& hash, int slot) const {
  const std::string hex = hash.hex();
  const std::string suffix = slot == 0 ? "" : "-" + std::to_string(slot);
  return root_ / hex.substr(0, 2) / (hex + suffix + ".kernel");
}

fs::path DiskLayer::lock_file(const std::string& material) const {
  if (access_ == Access::ReadOnly) return {};
  // The checksum is whole where a build shortens hashes: two kernels never share a lock.
  const std::string hex = support::checksum_bytes(material).hex();
  return root_ / hex.substr(0, 2) / (hex + std::string(kLockSuffix));
}

std::optional<Entry> DiskLayer::read(const std::string& material) {
  const support::Hash128 hash = support::hash_bytes(material);
  for (int slot = 0; slot < kSlots; ++slot) {
    const fs::path file = path_of(hash, slot);
    const std::optional<std::string> bytes = support::read_file(file);
    if (!bytes) {
      if (!is_present(file)) return std::nullopt;
      continue;  // no regular file, or no descriptor left just now: nothing to conclude about its content
    }
    std::optional<Entry> entry = decode(*bytes);
    if (entry && entry->material == material) {
      if (access_ == Access::ReadWrite) touch(file);
      return entry;
    }
    const bool misplaced = !entry || support::hash_bytes(entry->material) != hash;
    if (misplaced && access_ == Access::ReadWrite) ::unlink(file.c_str());
  }
  return std::nullopt;
}

void DiskLayer::discard(const std::string& material) {
  if (access_ == Access::ReadOnly) return;
  const support::Hash128 hash = support::hash_bytes(material);
  for (int slot = 0; slot < kSlots; ++slot) {
    const fs::path file = path_of(hash, slot);
    const std::optional<std::string> bytes = support::read_file(file);
    const std::optional<Entry> entry = bytes ? decode(*bytes) : std::nullopt;
    if (entry && entry->material == material) ::unlink(file.c_str());
  }
}

std::error_code DiskLayer::write_file(const fs::path& file, const std::string& bytes) {
  std::error_code error = support::write_file_atomically(file, bytes);
  if (error != std::errc::no_such_file_or_directory) return error;
  if (error = make_private_directory(file.parent_path()); error) return error;
  return support::write_file_atomically(file, bytes);
}

Written DiskLayer::write(const Entry& entry) {
  const support::Hash128 hash = support::hash_bytes(entry.material);
  const std::string bytes = encode(entry);
  if (access_ == Access::ReadOnly) return {std::make_error_code(std::errc::read_only_file_system)};
  if (capacity_ != 0 && bytes.size() > capacity_) return {};  // would only push out everything else
  const std::lock_guard lock(write_mutex_);
  std::error_code error;
  for (int slot = 0; slot < kSlots; ++slot) {
    const fs::path file = path_of(hash, slot);
    if (const std::optional<std::string> present = support::read_file(file)) {
      const std::optional<Entry> other = decode(*present);
      const bool taken = other && other->material != entry.material && slot + 1 < kSlots;
      if (taken) continue;
    }
    error = write_file(file, bytes);
    if (!error) return {{}, evict_after(bytes.size())};
    if (error != std::errc::is_a_directory) break;
  }
  return {error, 0};
}

std::int64_t DiskLayer::evict_after(std::uint64_t bytes_written) {
  if (capacity_ == 0) return 0;
  const std::uint64_t slack = capacity_ / kSlackDivisor;
  unswept_bytes_ += bytes_written;
  if (unswept_bytes_ < slack) return 0;
  unswept_bytes_ = 0;
  return sweep(root_, capacity_ - slack);
}

void DiskLayer::visit(const Visitor& visitor) {
  walk(root_, [&](const CacheFile& file) {
    if (file.kind != FileKind::Entry) return;
    Found found{.file = file.path, .bytes = file.size, .shared = 0, .used = seconds_since_epoch(file.used), .entry = nullptr, .defect = ""};
    std::error_code why;
    const std::optional<std::string> bytes = support::read_file(file.path, &why);
    if (!bytes && why == std::errc::no_such_file_or_directory) return;  // it vanished just now
    const std::optional<Entry> entry = bytes ? decode(*bytes, &found.defect) : std::nullopt;
    if (!bytes) found.defect = "it cannot be read: " + why.message();
    if (entry && !file.path.filename().string().starts_with(support::hash_bytes(entry->material).hex())) {
      found.defect = "it is the entry of another key";
    } else if (entry) {
      found.entry = &*entry;
    }
    visitor(found);
  });
}

Layer::Contents DiskLayer::contents() const {
  Contents held;
  walk(root_, [&](const CacheFile& file) {
    if (file.kind != FileKind::Entry) return;
    ++held.kernels;
    held.bytes += file.size;
  });
  return held;
}

std::error_code make_private_directory(const fs::path& directory) {
  std::error_code error;
  if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), 0700) == 0) return {};
  const std::error_code failure = last_error();
  if (fs::is_directory(directory, error)) return {};  // it was there already
  return failure == std::errc::file_exists ? std::make_error_code(std::errc::not_a_directory) : failure;
}

}  // namespace tarry::cache
