// walk: two levels of directories, and names that only we give.
#include "cache/walk.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cache/flight_lock.h"
#include "support/file.h"

namespace tarry::cache {

namespace fs = std::filesystem;

namespace {

/// No write and no compile takes that long: the process that made an older temporary or lock is gone.
constexpr auto kStale = std::chrono::hours(1);

std::optional<FileKind> kind_of(const std::string& name) {
  constexpr std::string_view kSuffix = ".kernel";
  constexpr std::size_t kHexDigits = 32;
  if (name.find_first_not_of("0123456789abcdef") < kHexDigits) return std::nullopt;
  if (name.size() == kHexDigits + kLockSuffix.size() && name.ends_with(kLockSuffix)) return FileKind::Lock;
  const std::size_t suffix = name.find(kSuffix);
  if (suffix == std::string::npos || suffix < kHexDigits) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(suffix + kSuffix.size());
  if (rest.empty()) return FileKind::Entry;
  if (rest.starts_with(support::kTemporaryMark)) return FileKind::Temporary;
  return std::nullopt;
}

std::chrono::microseconds time_of(const timespec& time) {
  constexpr std::int64_t kLatest = std::int64_t{1} << 33;  // whoever set a later one must not make us overflow
  const std::chrono::seconds seconds(std::clamp<std::int64_t>(time.tv_sec, 0, kLatest));
  return seconds + std::chrono::microseconds(time.tv_nsec / 1000);
}

std::optional<CacheFile> inspect(const support::Directory& directory, const std::string& name) {
  const std::optional<FileKind> kind = kind_of(name);
  const std::optional<struct stat> status = kind ? directory.status_of(name) : std::nullopt;
  if (!status || !S_ISREG(status->st_mode)) return std::nullopt;
  return CacheFile{"", name, *kind, static_cast<std::uint64_t>(status->st_size), time_of(status->st_mtim), &directory};
}

}  // namespace

bool is_bucket_name(const std::string& name) { return name.size() == 2; }

void walk_bucket(const support::Directory& root, const std::string& bucket, const FileVisitor& visit) {
  std::error_code error;
  const std::optional<support::Directory> directory = root.open_directory(bucket, error);
  if (!directory) return;
  directory->list([&](const std::string& name) {
    std::optional<CacheFile> file = inspect(*directory, name);
    if (!file) return;
    file->bucket = bucket;
    visit(*file);
  });
}

void walk(const support::Directory& root, const FileVisitor& visit) {
  root.list([&](const std::string& name) {
    if (is_bucket_name(name)) walk_bucket(root, name, visit);
  });
}

void walk(const fs::path& root, const FileVisitor& visit) {
  std::error_code error;
  if (const std::optional<support::Directory> directory = support::Directory::open(root, error))
    walk(*directory, visit);
}

bool remove_stale(const fs::path& root, const CacheFile& file) {
  const auto age = std::chrono::system_clock::now().time_since_epoch() - file.used;
  if (file.kind == FileKind::Entry || age <= kStale) return false;
  if (file.kind == FileKind::Temporary) return !file.directory->remove_file(file.name);
  return FlightLock(root / file.bucket / file.name).state() == FlightLock::State::Held;  // and removes it
}

}  // namespace tarry::cache
