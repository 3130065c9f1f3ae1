// Runs a program and waits for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tarry::support {

struct ProcessResult {
  bool started = false;  ///< false: the program could not be run; `error` says why
  /// The exit status, or 128 + signal. 0 also where the status is lost because the host program ignores SIGCHLD or
  /// reaps every child itself; a caller that must be sure looks at what the program produced.
  int exit_status = 0;
  std::string output;    ///< all of its standard output
  std::string error;     ///< all of its standard error
  [[nodiscard]] bool succeeded() const { return started && exit_status == 0; }
};

/// Runs arguments[0] (searched in PATH) with `arguments`, standard input from the file `input`, no shell. The program
/// starts with default signal handling and an empty signal mask. Asks fault::fails(Site::Compiler) first. Never throws
/// for a failure of the program or of the system.
ProcessResult run_process(const std::vector<std::string>& arguments, const std::filesystem::path& input = "/dev/null");

}  // namespace tarry::support
