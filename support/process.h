// Runs a program and waits for it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace tarry::support {

struct ProcessResult {
  bool started = false;  ///< false: the program could not be run; `error` says why
  /// The exit status, or 128 + signal. 0 also where the status is lost because the host program ignores SIGCHLD or
  /// reaps every child itself; a caller that must be sure looks at what the program produced.
  int exit_status = 0;
  bool timed_out = false;  ///< it ran longer than it may and was killed
  std::string output;      ///< its standard output, 16 MiB of it at most
  std::string error;       ///< its standard error, as much
  [[nodiscard]] bool succeeded() const { return started && !timed_out && exit_status == 0; }
};

struct ProcessSettings {
  std::filesystem::path input = {};        ///< file to read as standard input; none: there is nothing to read
  std::chrono::milliseconds limit{0};      ///< how long it may run; 0: for ever
  std::vector<std::string> environment{};  ///< "NAME=value" in place of this process's own
};

/// Runs arguments[0] (searched in PATH) with `arguments`, no shell, in a process group of its own: what a terminal
/// sends to this process does not reach it. The program starts with default signal handling and an empty signal mask.
/// Returns when it has ended, also where something that it started goes on and holds its output open. Asks
/// fault::fails(Site::Compiler) first. Never throws for a failure of the program or of the system.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessSettings& settings = {});

}  // namespace tarry::support
