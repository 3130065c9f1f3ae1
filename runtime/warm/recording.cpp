// Appending to manifests, and the public tarry::Recording.
#include "runtime/warm/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tarry/warm.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "support/check.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/last_error.h"
#include "support/log.h"

namespace tarry::runtime {
namespace {

namespace fs = std::filesystem;
namespace env = support::env;

/// A file opened for appending, locked against other writers where that can be had in time.
class LockedFile {
 public:
  explicit LockedFile(const fs::path& file) {
    if (support::fault::fails(support::fault::Site::File)) {
      error_ = std::make_error_code(std::errc::no_space_on_device);
      return;
    }
    fd_ = ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) {
      error_ = support::last_error();
      return;
    }
    using namespace std::chrono_literals;
    for (auto waited = 0ms; !locked_ && waited < 2s; waited += 1ms) {  // beyond that its owner was stopped
      locked_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
      if (locked_ || (errno != EWOULDBLOCK && errno != EINTR)) break;  // or a file system without locks
      std::this_thread::sleep_for(1ms);
    }
  }
  ~LockedFile() {
    if (fd_ >= 0) ::close(fd_);  // which unlocks
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool locked() const { return locked_; }
  [[nodiscard]] std::error_code error() const { return error_; }

 private:
  int fd_ = -1;
  bool locked_ = false;
  std::error_code error_;
};

std::error_code read_range(int fd, std::uint64_t from, std::uint64_t to, std::string& content) {
  content.resize(to - from);
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::pread(fd, content.data() + done, content.size() - done, static_cast<off_t>(from + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return support::last_error();
    if (n == 0) break;  // somebody cut it
    done += static_cast<std::size_t>(n);
  }
  content.resize(done);
  return {};
}

std::error_code write_at_end(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? support::last_error() : std::make_error_code(std::errc::no_space_on_device);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

/// Takes in what others appended. `whole`: the last line has its end.
std::error_code ManifestWriter::read_new_lines(int fd, std::uint64_t& size, bool& whole) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return support::last_error();
  if (!S_ISREG(status.st_mode)) return std::make_error_code(std::errc::invalid_argument);
  size = static_cast<std::uint64_t>(status.st_size);
  if (size < read_to_) {  // another file, or one that was emptied
    read_to_ = 0;
    ids_.clear();
  }
  std::string content;
  if (const std::error_code error = read_range(fd, read_to_, size, content)) return error;
  std::string_view rest = content;
  whole = rest.empty() || rest.back() == '\n';
  if (read_to_ == 0 && !rest.empty() && manifest_version(rest.substr(0, rest.find('\n'))) != kManifestVersion)
    return std::make_error_code(std::errc::file_exists);  // not ours to append to
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    if (const std::string_view id = manifest_line_id(rest.substr(0, end)); !id.empty()) ids_.emplace(id);
    rest.remove_prefix(end + 1);
    read_to_ += end + 1;
  }
  return {};
}

std::error_code ManifestWriter::open() { return append({}); }

std::error_code ManifestWriter::append(const std::string& line) {
  const std::lock_guard lock(mutex_);
  const std::string id(manifest_line_id(line));
  if (ids_.contains(id)) return {};
  const LockedFile file(file_);
  if (file.error()) return file.error();
  std::uint64_t size = 0;
  bool whole = true;
  if (const std::error_code error = read_new_lines(file.fd(), size, whole)) return error;
  std::string text;
  if (size == 0) text += manifest_header() + "\n";
  if (!line.empty() && !ids_.contains(id)) text += line + "\n";
  if (text.empty()) return {};
  if (!whole) text.insert(0, "\n");
  const std::error_code error = write_at_end(file.fd(), text);
  // A part of a line stays where nobody is kept from writing meanwhile, or where cutting fails too; readers leave it
  // out.
  if (error && file.locked()) (void)!::ftruncate(file.fd(), static_cast<off_t>(size));
  return error;
}

bool ManifestWriter::is_new(const support::Hash128& key) {
  const std::lock_guard lock(mutex_);
  return keys_.insert(key).second;
}

void ManifestWriter::forget(const support::Hash128& key) {
  const std::lock_guard lock(mutex_);
  keys_.erase(key);
}

namespace {

/// Who records now. Never destroyed: arrays may be evaluated while the process exits.
struct Recordings {
  support::Mutex mutex;
  std::vector<std::shared_ptr<ManifestWriter>> writers;
  std::shared_ptr<ManifestWriter> of_switch;  ///< TARRY_RECORD
  std::atomic<std::uint64_t> generation{0};   ///< of the switches that of_switch was made from, + 1
  std::atomic<int> count{0};                  ///< writers and of_switch
};
Recordings& recordings() {
  static auto* const all = new Recordings;
  return *all;
}

fs::path absolute(const std::string& file) {
  std::error_code error;
  fs::path path = fs::absolute(file, error);  // a later chdir does not move the manifest
  return error ? fs::path(file) : path;
}

void recount(Recordings& all) { all.count = static_cast<int>(all.writers.size()) + (all.of_switch ? 1 : 0); }

void read_switch(Recordings& all, std::uint64_t generation) {
  const std::lock_guard lock(all.mutex);
  if (all.generation == generation) return;
  const auto named = env::get("TARRY_RECORD");
  const fs::path file = named ? absolute(*named) : fs::path();
  if (!named) {
    all.of_switch = nullptr;
  } else if (!all.of_switch || all.of_switch->file() != file) {
    all.of_switch = std::make_shared<ManifestWriter>(file);
  }
  recount(all);
  all.generation = generation;
}

std::string explain(const std::error_code& error) {
  return error == std::errc::file_exists ? "it exists and is no manifest of this version" : error.message();
}

/// A key that tells evaluates of different lines apart.
support::Hash128 key_of(const graph::Snapshot& s, Device device, const PlanSwitches& switches) {
  std::string key = switches.words + device.str();
  for (std::size_t i = 0; i < s.leaves.size(); ++i) {
    const bool pooled = s.leaves[i]->buffer->owner == graph::Owner::Pool;
    key += static_cast<char>('0' + s.leaf_computed[i] + 2 * pooled + 4 * s.graph.leaves[i].donated +
                             8 * (s.leaf_devices[i] == device));
  }
  return support::checksum_bytes(key + s.key);
}

}  // namespace

bool recording_active() {
  Recordings& all = recordings();
  if (const std::uint64_t now = env::generation() + 1; all.generation.load(std::memory_order_acquire) != now)
    read_switch(all, now);
  return all.count.load(std::memory_order_acquire) != 0;
}

void record_evaluate(const graph::Snapshot& snapshot, Device device, const PlanSwitches& switches) {
  if (!recording_active()) return;
  Recordings& all = recordings();
  std::vector<std::shared_ptr<ManifestWriter>> writers;
  {
    const std::lock_guard lock(all.mutex);
    writers = all.writers;
    if (all.of_switch) writers.push_back(all.of_switch);
  }
  const support::Hash128 key = key_of(snapshot, device, switches);
  std::string line;
  for (const auto& writer : writers) {
    if (!writer->is_new(key)) continue;
    if (line.empty()) line = manifest_line(snapshot, device, switches);
    const std::error_code error = writer->append(line);
    if (!error) continue;
    writer->forget(key);
    support::log::warn_once(fmt::format("cannot record to {} (TARRY_RECORD): {}; results are unaffected",
                                        writer->file().string(), explain(error)));
  }
}

void add_recording(const std::shared_ptr<ManifestWriter>& writer) {
  Recordings& all = recordings();
  const std::lock_guard lock(all.mutex);
  all.writers.push_back(writer);
  recount(all);
}

void remove_recording(const std::shared_ptr<ManifestWriter>& writer) {
  Recordings& all = recordings();
  const std::lock_guard lock(all.mutex);
  std::erase(all.writers, writer);
  recount(all);
}

}  // namespace tarry::runtime

namespace tarry {
inline namespace v0 {

struct Recording::Impl {
  std::shared_ptr<runtime::ManifestWriter> writer;
};

Recording::Recording(const std::string& file, Where where) : impl_(std::make_unique<Impl>()) {
  impl_->writer = std::make_shared<runtime::ManifestWriter>(runtime::absolute(file));
  if (const std::error_code error = impl_->writer->open())
    TARRY_THROW(InvalidArgument, "Recording", where,
                fmt::format("cannot record to {}: {}", file, runtime::explain(error)));
  runtime::add_recording(impl_->writer);
}

Recording::~Recording() { stop(); }

void Recording::stop() noexcept {
  if (impl_) runtime::remove_recording(impl_->writer);
  impl_.reset();
}

}  // namespace v0
}  // namespace tarry
