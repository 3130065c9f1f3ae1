// sweep: eviction by time of last use. Other processes may add, remove and sweep at the same moment.
#include <algorithm>
#include <vector>

#include "cache/disk_layer.h"
#include "cache/walk.h"

namespace tarry::cache {

namespace fs = std::filesystem;

std::int64_t sweep(const fs::path& root, std::uint64_t capacity) {
  std::vector<CacheFile> entries;
  std::uint64_t total = 0;
  walk(root, [&](const CacheFile& file) {
    if (file.kind != FileKind::Entry) {
      remove_stale(file);
      return;
    }
    entries.push_back(file);
    total += file.size;
  });
  if (total <= capacity) return 0;

  std::sort(entries.begin(), entries.end(), [](const CacheFile& a, const CacheFile& b) { return a.used < b.used; });
  std::int64_t removed = 0;
  for (const CacheFile& file : entries) {
    if (total <= capacity) break;
    std::error_code error;
    if (fs::remove(file.path, error)) ++removed;  // false: another process was faster
    total -= file.size;
  }
  return removed;
}

}  // namespace tarry::cache
