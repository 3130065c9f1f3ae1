// run_process: posix_spawn, which does not copy the page tables of a large process as fork does.
#include "support/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/env.h"
#include "support/fault.h"

namespace tarry::support {

namespace {

std::string message_of(int error) { return std::generic_category().message(error); }

/// Both ends close on exec: a compiler started by another thread at this moment must not hold our pipe open.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] bool valid() const { return ends_[0] >= 0; }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_end(std::size_t i) {
    if (ends_[i] >= 0) ::close(ends_[i]);
    ends_[i] = -1;
  }
 private:
  std::array<int, 2> ends_{-1, -1};
};

class SpawnSettings {
 public:
  SpawnSettings(const std::filesystem::path& input, int output, int error) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }
 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Reads both pipes together, so that a program that fills one is never stuck on us reading the other.
void drain(Pipe& output, Pipe& error, ProcessResult& result) {
  std::array<pollfd, 2> polled{pollfd{output.read_end(), POLLIN, 0}, pollfd{error.read_end(), POLLIN, 0}};
  const std::array<std::string*, 2> texts{&result.output, &result.error};
  std::array<char, 65536> buffer;
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      const ssize_t got = ::read(polled[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        polled[i].fd = -1;  // poll skips it
      }
    }
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 0;  // ECHILD: the host program took the status
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const std::filesystem::path& input) {
  TARRY_ASSERT(!arguments.empty());
  ProcessResult result;
  if (env::is_privileged()) {  // PATH and all else that decides what runs is the user's, the rights are not
    result.error = "cannot run " + arguments[0] + ": a program with more rights than its user starts no other";
    return result;
  }
  if (fault::fails(fault::Site::Compiler)) {
    result.error = "cannot run " + arguments[0] + ": " + message_of(EAGAIN);
    return result;
  }
  Pipe output, error;
  if (!output.valid() || !error.valid()) {
    result.error = "cannot run " + arguments[0] + ": " + message_of(errno);
    return result;
  }
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));  // argv is char*const[] by history
  argv.push_back(nullptr);

  const SpawnSettings settings(input, output.write_end(), error.write_end());
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, argv[0], settings.actions(), settings.attributes(), argv.data(), environ);
  output.close_end(1);
  error.close_end(1);
  if (failure != 0) {
    result.error = "cannot run " + arguments[0] + ": " + message_of(failure);
    return result;
  }
  result.started = true;
  drain(output, error, result);
  result.exit_status = wait_for(child);
  return result;
}

}  // namespace tarry::support
