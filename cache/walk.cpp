// walk: two levels of directories, and names that only we give.
#include "cache/walk.h"

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

/// Calls visit(entry) for what is in `directory`, as far as it can be read.
template <class Visit>
void for_each_in(const fs::path& directory, const Visit& visit) {
  std::error_code error;
  fs::directory_iterator it(directory, error);
  while (!error && it != fs::directory_iterator{}) {
    visit(*it);
    it.increment(error);
  }
}

std::optional<CacheFile> inspect(const fs::directory_entry& found) {
  const std::optional<FileKind> kind = kind_of(found.path().filename().string());
  std::error_code error;
  if (!kind || !found.is_regular_file(error) || error) return std::nullopt;
  const std::uint64_t size = found.file_size(error);
  if (error) return std::nullopt;
  const fs::file_time_type used = found.last_write_time(error);
  if (error) return std::nullopt;
  return CacheFile{found.path(), *kind, size, used};
}

}  // namespace

void walk(const fs::path& root, const std::function<void(const CacheFile&)>& visit) {
  for_each_in(root, [&](const fs::directory_entry& bucket) {
    std::error_code error;
    if (bucket.path().filename().string().size() != 2 || !bucket.is_directory(error)) return;
    for_each_in(bucket.path(), [&](const fs::directory_entry& found) {
      if (const std::optional<CacheFile> file = inspect(found)) visit(*file);
    });
  });
}

bool remove_stale(const CacheFile& file) {
  if (file.kind == FileKind::Entry || fs::file_time_type::clock::now() - file.used <= kStale) return false;
  if (file.kind == FileKind::Lock) return FlightLock(file.path).state() == FlightLock::State::Held;  // and removes it
  std::error_code error;
  return fs::remove(file.path, error);
}

}  // namespace tarry::cache
