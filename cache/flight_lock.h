// One compile per kernel across processes: a locked file beside the entry says that its owner is compiling the kernel.
// The system frees the lock when its owner dies, whatever kills it. Nobody waits while holding one, so nothing
// deadlocks, and where a directory cannot be locked everybody compiles: a lock saves work, results never depend on it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

namespace tarry::cache {

/// Lock files are "<32 hex digits>.lock".
inline constexpr std::string_view kLockSuffix = ".lock";

class FlightLock {
 public:
  enum class State {
    Held,     ///< by us, until destroyed, which removes the file
    Busy,     ///< another process, or another cache of this one, is compiling the kernel
    Missing,  ///< the directory cannot be locked: compile without
  };
  /// Takes the lock if it is free, makes the file and its directory if need be; never waits.
  explicit FlightLock(std::filesystem::path file);
  FlightLock(FlightLock&& other) noexcept
      : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)), state_(other.state_) {}
  FlightLock& operator=(FlightLock&&) = delete;
  ~FlightLock();
  [[nodiscard]] State state() const { return state_; }

 private:
  bool open_file();
  State lock_file();
  std::filesystem::path file_;
  int descriptor_ = -1;
  State state_ = State::Missing;
};

enum class Outcome {
  Ended,      ///< the owner is through; what it made is in the directory, unless it failed
  Abandoned,  ///< the owner died
  TimedOut,
};
/// Waits until the lock of `file` is free.
Outcome wait_for_owner(const std::filesystem::path& file, std::chrono::steady_clock::duration patience);

}  // namespace tarry::cache
