// sweep: eviction by time of last use; Census. Other processes may add, remove and sweep at the same moment.
#include "cache/sweep.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include "cache/walk.h"

namespace tarry::cache {

namespace {

bool is_equal(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

/// True if every further change of a directory that changed at `changed` gets another time: the clock of the file
/// system ticks at least as often as this. It is read as the file system reads it: where ticks come late, so do they
/// there.
bool is_settled(const timespec& changed) {
  constexpr std::chrono::milliseconds kTick{50}, kCoarseTick{3000};  // the latter of volumes that keep whole seconds
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  constexpr std::int64_t kLongAgo = 3600;  // and no overflow below
  if (now.tv_sec - changed.tv_sec > kLongAgo) return true;
  const auto age =
      std::chrono::seconds(now.tv_sec - changed.tv_sec) + std::chrono::nanoseconds(now.tv_nsec - changed.tv_nsec);
  return age > (changed.tv_nsec == 0 ? kCoarseTick : kTick);
}

struct Candidate {
  std::string file;  ///< "ab/name"
  std::uint64_t size;
  std::chrono::microseconds used;
};

}  // namespace

Swept sweep(const support::Directory& root, const std::filesystem::path& path, std::uint64_t capacity) {
  std::vector<Candidate> entries;
  Swept swept;
  walk(root, [&](const CacheFile& file) {
    if (file.kind != FileKind::Entry) {
      remove_stale(path, file);
      return;
    }
    entries.push_back({file.bucket + "/" + file.name, file.size, file.used});
    swept.left += file.size;
  });
  if (swept.left <= capacity) return swept;

  std::sort(entries.begin(), entries.end(), [](const Candidate& a, const Candidate& b) { return a.used < b.used; });
  for (const Candidate& entry : entries) {
    if (swept.left <= capacity) break;
    const std::error_code error = root.remove_file(entry.file);
    if (error && error != std::errc::no_such_file_or_directory) continue;
    if (!error) ++swept.removed;  // else another process was faster
    swept.left -= entry.size;
  }
  return swept;
}

std::int64_t sweep(const std::filesystem::path& path, std::uint64_t capacity) {
  std::error_code error;
  const std::optional<support::Directory> root = support::Directory::open(path, error);
  return root ? sweep(*root, path, capacity).removed : 0;
}

std::uint64_t Census::count(const support::Directory& root) {
  std::map<std::string, Bucket> present;
  std::uint64_t total = 0;
  root.list([&](const std::string& name) {
    const std::optional<struct stat> status = is_bucket_name(name) ? root.status_of(name) : std::nullopt;
    if (!status || !S_ISDIR(status->st_mode)) return;
    Bucket& bucket = present[name];
    if (const auto known = buckets_.find(name); known != buckets_.end()) bucket = known->second;
    if (!bucket.settled || !is_equal(bucket.changed, status->st_mtim)) {
      bucket = {status->st_mtim, is_settled(status->st_mtim), 0};
      walk_bucket(root, name, [&](const CacheFile& file) {
        if (file.kind != FileKind::Lock) bucket.bytes += file.size;
      });
    }
    total += bucket.bytes;
  });
  buckets_ = std::move(present);
  return total;
}

}  // namespace tarry::cache
