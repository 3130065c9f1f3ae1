// Recording: appends what evaluates need to manifests, those of TARRY_RECORD and of tarry::Recording.
//
// A file may have any number of writers in any number of processes. A line is appended in one write under flock() and
// only where the file does not hold it yet; a lock that cannot be had in time costs a duplicate at worst, which readers
// drop. Who is killed in the middle leaves a part of a line, which the next writer ends and readers leave out.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_set>

#include "runtime/warm/manifest.h"
#include "support/fork.h"
#include "support/hash.h"

namespace tarry::runtime {

/// One manifest that this process appends to.
class ManifestWriter {
 public:
  explicit ManifestWriter(std::filesystem::path file) : file_(std::move(file)) {}
  /// Makes the file with its header where it is missing. The error says why it cannot be written, or that it is another
  /// file.
  std::error_code open();
  /// Appends the line unless the file holds it.
  std::error_code append(const std::string& line);
  /// False where an evaluate with this key was added before.
  bool is_new(const support::Hash128& key);
  /// Lets an evaluate be added again: its line could not be written.
  void forget(const support::Hash128& key);
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::error_code read_new_lines(int fd, std::uint64_t& size, bool& whole);

  const std::filesystem::path file_;
  support::Mutex mutex_;
  std::unordered_set<support::Hash128, support::Hash128Hasher> keys_;  // of evaluates; guarded by mutex_ as all below
  std::unordered_set<std::string> ids_;                                // of lines in the file
  std::uint64_t read_to_ = 0;                                          // every line before it is in ids_
};

/// True if evaluates are recorded now.
bool recording_active();
/// Adds an evaluate to every manifest that is being recorded. Cheap where there is none; never throws for a file.
void record_evaluate(const graph::Snapshot& snapshot, Device device, const PlanSwitches& switches);

/// From now on evaluates are added to `writer` too, until it is removed.
void add_recording(const std::shared_ptr<ManifestWriter>& writer);
void remove_recording(const std::shared_ptr<ManifestWriter>& writer);

}  // namespace tarry::runtime
