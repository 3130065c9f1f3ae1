// Programs that a test runs in a process of their own: with a fresh library, its own exit and its own standard error.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/process.h"

namespace tarry::test {

/// A program of this executable. Define one per TARRY_CHILD below; it runs only where run_child() asks for it.
class Child {
 public:
  Child(const char* name, int (*run)());
};

/// Starts this executable again as the named program and waits. `settings` are "NAME=value" of its environment, or "-C"
/// and a directory to run in.
support::ProcessResult run_child(const std::string& name, const std::vector<std::string>& settings = {});

/// The same beside the test: it may be killed. What it prints goes to a file.
class RunningChild {
 public:
  RunningChild(const std::string& name, const std::vector<std::string>& settings, std::filesystem::path output);
  RunningChild(RunningChild&& other) noexcept;
  RunningChild& operator=(RunningChild&&) = delete;
  ~RunningChild();  ///< kills it, unless it was waited for
  void kill() const;
  /// The status as the shell gives it: 128 + signal where killed.
  int wait();
  /// Standard output and standard error so far.
  [[nodiscard]] std::string output() const;

 private:
  pid_t process_ = -1;
  std::filesystem::path output_;
};

/// For main(): what the program returned where this process was started by run_child(), else nullopt.
std::optional<int> child_main();

}  // namespace tarry::test

/// TARRY_CHILD(records_only) { ...; return 0; }
#define TARRY_CHILD(NAME)                                               \
  static int child_##NAME();                                            \
  static const ::tarry::test::Child kChild_##NAME(#NAME, child_##NAME); \
  static int child_##NAME()
