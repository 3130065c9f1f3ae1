// sweep: eviction by time of last use. Other processes may add, remove and sweep at the same moment.
#include <algorithm>
#include <string_view>
#include <vector>

#include "cache/disk_layer.h"
#include "support/file.h"

namespace tarry::cache {

namespace fs = std::filesystem;

namespace {

/// No write takes that long: the process that made an older temporary is gone.
constexpr auto kStaleTemporary = std::chrono::hours(1);

struct File {
  fs::path path;
  std::uint64_t size;
  fs::file_time_type used;
};

enum class Kind { Entry, Temporary, Foreign };

Kind kind_of(const std::string& name) {
  constexpr std::string_view kSuffix = ".kernel";
  constexpr std::size_t kHexDigits = 32;
  const std::size_t suffix = name.find(kSuffix);
  if (suffix == std::string::npos || suffix < kHexDigits) return Kind::Foreign;
  if (name.find_first_not_of("0123456789abcdef") < kHexDigits) return Kind::Foreign;
  const std::string_view rest = std::string_view(name).substr(suffix + kSuffix.size());
  if (rest.empty()) return Kind::Entry;
  return rest.starts_with(support::kTemporaryMark) ? Kind::Temporary : Kind::Foreign;
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

void inspect(const fs::directory_entry& found, std::vector<File>& entries) {
  const Kind kind = kind_of(found.path().filename().string());
  std::error_code error;
  if (kind == Kind::Foreign || !found.is_regular_file(error) || error) return;
  const std::uint64_t size = found.file_size(error);
  if (error) return;
  const fs::file_time_type used = found.last_write_time(error);
  if (error) return;
  if (kind == Kind::Entry) {
    entries.push_back({found.path(), size, used});
  } else if (fs::file_time_type::clock::now() - used > kStaleTemporary) {
    fs::remove(found.path(), error);
  }
}

}  // namespace

std::int64_t sweep(const fs::path& root, std::uint64_t capacity) {
  std::vector<File> entries;
  for_each_in(root, [&](const fs::directory_entry& bucket) {
    std::error_code error;
    if (bucket.path().filename().string().size() != 2 || !bucket.is_directory(error)) return;
    for_each_in(bucket.path(), [&](const fs::directory_entry& found) { inspect(found, entries); });
  });
  std::uint64_t total = 0;
  for (const File& file : entries) total += file.size;
  if (total <= capacity) return 0;

  std::sort(entries.begin(), entries.end(), [](const File& a, const File& b) { return a.used < b.used; });
  std::int64_t removed = 0;
  for (const File& file : entries) {
    if (total <= capacity) break;
    std::error_code error;
    if (fs::remove(file.path, error)) ++removed;  // false: another process was faster
    total -= file.size;
  }
  return removed;
}

}  // namespace tarry::cache
