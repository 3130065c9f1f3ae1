// find_place: the walk that the system makes for open(), a step at a time, so that each step can be looked at.
#include "support/trust.h"

#include <array>
#include <cerrno>
#include <climits>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/last_error.h"

namespace tarry::support {

namespace fs = std::filesystem;

namespace {

/// The number of a file of /proc, or `fallback`.
std::uint64_t number_in(const char* file, std::uint64_t fallback) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? number : fallback;
}

/// True where `owner` stands for every user that a user namespace has no number for, root outside among them.
bool is_unmapped(uid_t owner) {
  constexpr std::uint64_t kOverflowUid = 65534;
  if (owner != number_in("/proc/sys/kernel/overflowuid", kOverflowUid)) return false;
  std::ifstream map("/proc/self/uid_map");
  bool any = false;
  for (std::uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count; any = true) {
    if (owner >= inside && owner - inside < count) return false;
  }
  return any;
}

/// True where a group of the owner's number, which is how systems number a group of one, holds the right of groups, and
/// no access control list gives it to others: their rights show as those of the group.
bool is_private_group(int descriptor, const struct stat& status) {
  if (status.st_gid != status.st_uid) return false;
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);  // O_PATH has no fgetxattr
  return ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) < 0 && (errno == ENODATA || errno == ENOTSUP);
}

/// Why other users could rename or replace what is in a directory on the way. What is in a sticky one belongs to its
/// owner.
std::string reason_to_avoid_step(const Directory& directory, const fs::path& path) {
  const struct stat& status = directory.opened();
  const bool ours = is_trusted(status.st_uid) || is_unmapped(status.st_uid);
  const bool groups_write = (status.st_mode & S_IWGRP) != 0 && !is_private_group(directory.descriptor(), status);
  const bool others_write = ((status.st_mode & S_IWOTH) != 0 || groups_write) && (status.st_mode & S_ISVTX) == 0;
  if ((ours && !others_write) || is_immutable(directory.descriptor())) return "";
  return ours ? "other users can write to " + path.string() + " and put another in its place"
              : path.string() + " belongs to another user, who can put another in its place";
}

/// Names still to follow, the next one last.
class Steps {
 public:
  void add(const fs::path& path) {
    const std::vector<fs::path> names(path.begin(), path.end());
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      const std::string text = name->string();
      if (!text.empty() && text != "." && text != "/") names_.push_back(text);
    }
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }
  std::string take() {
    std::string name = std::move(names_.back());
    names_.pop_back();
    return name;
  }

 private:
  std::vector<std::string> names_;
};

class Walk {
 public:
  Walk(Directory root, const fs::path& path, Missing missing) : at_(std::move(root)), missing_(missing) {
    steps_.add(path);
  }

  std::optional<Place> to_end(Refusal& why) {
    for (;;) {
      if (why.reason = reason_to_avoid_step(at_, path_); !why.reason.empty()) return std::nullopt;
      if (steps_.empty()) return Place{std::move(at_), "."};
      const std::string name = steps_.take();
      const std::optional<struct stat> found = look_at(name);
      if (found && S_ISLNK(found->st_mode)) {
        if (!follow(name, *found, why)) return std::nullopt;
      } else if (steps_.empty()) {
        return Place{std::move(at_), name};
      } else {
        std::optional<Directory> next = at_.open_directory(name, why.error);
        if (!next) return std::nullopt;
        at_ = std::move(*next);
        path_ /= name;
      }
    }
  }

 private:
  std::optional<struct stat> look_at(const std::string& name) {
    std::optional<struct stat> found = at_.status_of(name);
    if (found || steps_.empty() || missing_ == Missing::Leave || errno != ENOENT) return found;
    constexpr mode_t kMode = 0755;  // whatever the umask: others must not write here
    if (at_.make_directory(name, kMode)) return std::nullopt;
    return at_.status_of(name);
  }

  /// False where the link must not be followed.
  bool follow(const std::string& name, const struct stat& link, Refusal& why) {
    constexpr int kMostLinks = 40;  // as many as the system follows
    const bool ours = is_trusted(link.st_uid) || is_unmapped(link.st_uid) || is_immutable(at_.descriptor());
    if (!ours) why.reason = "the link " + (path_ / name).string() + " belongs to another user";
    if (++links_ > kMostLinks) why.error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    if (!ours || why.error) return false;
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlinkat(at_.descriptor(), name.c_str(), target.data(), target.size());
    if (size < 0) return why.error = last_error(), false;
    const fs::path to(std::string(target.data(), static_cast<std::size_t>(size)));
    steps_.add(to);
    if (to.is_relative()) return true;
    std::optional<Directory> root = Directory::open("/", why.error);
    if (!root) return false;
    at_ = std::move(*root);
    path_ = "/";
    return true;
  }

  Directory at_;
  fs::path path_ = "/";
  Steps steps_;
  const Missing missing_;
  int links_ = 0;
};

}  // namespace

bool is_trusted(uid_t owner) { return owner == ::geteuid() || owner == 0; }

std::string reason_to_distrust(const struct stat& status) {
  if (!is_trusted(status.st_uid)) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users can write to it";
  return "";
}

bool is_immutable(int descriptor) {
  struct statvfs volume{};
  return ::fstatvfs(descriptor, &volume) == 0 && (volume.f_flag & ST_RDONLY) != 0;
}

std::string reason_to_avoid(const fs::path& directory) {
  Refusal why;
  find_place(directory / "anything", Missing::Leave, why);
  return why.reason;
}

std::optional<Place> find_place(const fs::path& path, Missing missing, Refusal& why) {
  why = {};
  const fs::path full = fs::absolute(path, why.error);
  if (why.error) return std::nullopt;
  std::optional<Directory> root = Directory::open("/", why.error);
  if (!root) return std::nullopt;
  return Walk(std::move(*root), full, missing).to_end(why);
}

}  // namespace tarry::support
