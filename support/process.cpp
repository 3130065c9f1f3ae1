// run_process: posix_spawn, which does not copy the page tables of a large process as fork does.
#include "support/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/env.h"
#include "support/fault.h"

namespace tarry::support {

namespace {

using Clock = std::chrono::steady_clock;

std::string message_of(int error) { return std::generic_category().message(error); }

class Handle {
 public:
  explicit Handle(int fd = -1) : fd_(fd) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  void reset(int fd = -1) {
    if (const int old = std::exchange(fd_, fd); old >= 0) ::close(old);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// Both ends close on exec: a compiler started by another thread at this moment must not hold our pipe open. They lie
/// above the standard three, which the host may have closed: there the program's own would take their place.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    read.reset(above_standard(ends[0]));
    write.reset(above_standard(ends[1]));
  }
  [[nodiscard]] bool valid() const { return read.get() >= 0 && write.get() >= 0; }
  Handle read, write;

 private:
  static int above_standard(int fd) {
    if (fd > STDERR_FILENO) return fd;
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::close(fd);
    return moved;
  }
};

constexpr const char* kNothing = "/dev/null";

class SpawnSettings {
 public:
  /// `nothing`: a descriptor to read nothing from, or -1.
  SpawnSettings(const ProcessSettings& settings, int nothing, int output, int error) {
    posix_spawn_file_actions_init(&actions_);
    if (nothing >= 0) {
      posix_spawn_file_actions_adddup2(&actions_, nothing, STDIN_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO,
                                       settings.input.empty() ? kNothing : settings.input.c_str(), O_RDONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
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

/// This process's environment with the settings in it. They outlive it.
std::vector<char*> environment_of(const ProcessSettings& settings) {
  std::vector<char*> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const auto replaces = [&](const std::string& s) {
      return s.starts_with(name) && s.size() > name.size() && s[name.size()] == '=';
    };
    if (std::ranges::none_of(settings.environment, replaces)) all.push_back(*entry);
  }
  for (const std::string& s : settings.environment) all.push_back(const_cast<char*>(s.c_str()));
  all.push_back(nullptr);
  return all;
}

/// A child until its end. The status stays with it until wait() takes it.
class Child {
 public:
  explicit Child(pid_t process) : process_(process), watch_(open_watch(process)) {}

  /// A descriptor that is readable when the process has ended; -1: ask has_ended().
  [[nodiscard]] int watch() const { return watch_.get(); }
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno != EINTR) return true;  // ECHILD: the host program took the status
    }
    return info.si_pid != 0;
  }
  void kill() const {
    ::kill(-process_, SIGKILL);
    ::kill(process_, SIGKILL);
  }
  [[nodiscard]] int wait() const {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0) {
      if (errno != EINTR) return 0;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  static int open_watch(pid_t process) {
#ifdef SYS_pidfd_open
    return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
#else
    return -1;
#endif
  }
  pid_t process_;
  Handle watch_;
};

/// One output of a program, as it comes.
struct Stream {
  Handle& from;
  std::string& text;

  /// Reads once; closes at the end. False where there is nothing just now.
  bool read() const {
    constexpr std::size_t kMost = std::size_t{16} << 20;
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      from.reset();
      return false;
    }
    text.append(buffer.data(), std::min(static_cast<std::size_t>(got), kMost - std::min(kMost, text.size())));
    return true;
  }
  /// The bytes that a program that has ended left in the pipe. Whoever else holds the other end is not waited for.
  void read_rest() const {
    constexpr int kMostReads = 64;  // more than any pipe holds
    if (from.get() < 0 || ::fcntl(from.get(), F_SETFL, O_NONBLOCK) != 0) return;
    for (int i = 0; i < kMostReads && from.get() >= 0 && read(); ++i) {
    }
  }
};

/// Reads both streams together, so that a program that fills one is never stuck on us reading the other, until it ends
/// or `limit` has passed; then it is killed.
void follow(const Child& child, const std::array<Stream, 2>& streams, std::chrono::milliseconds limit,
            ProcessResult& result) {
  constexpr std::chrono::milliseconds kStep{10}, kGrace{1000};
  Clock::time_point deadline = Clock::now() + limit;
  const bool limited = limit.count() > 0;
  for (;;) {
    std::array<pollfd, 3> polled{pollfd{streams[0].from.get(), POLLIN, 0}, pollfd{streams[1].from.get(), POLLIN, 0},
                                 pollfd{child.watch(), POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    std::chrono::milliseconds wait =
        limited || result.timed_out ? std::max(left, std::chrono::milliseconds(0)) : std::chrono::milliseconds(-1);
    if (child.watch() < 0) wait = wait.count() < 0 ? kStep : std::min(wait, kStep);
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
    for (std::size_t i = 0; i < streams.size() && ready > 0; ++i)
      if (polled[i].revents != 0) streams[i].read();
    const bool ended = child.watch() >= 0 ? ready > 0 && polled[2].revents != 0 : child.has_ended();
    if (ended) break;
    if ((!limited && !result.timed_out) || Clock::now() < deadline) continue;
    if (std::exchange(result.timed_out, true)) return;  // not even killed: it is left alone
    child.kill();
    deadline = Clock::now() + kGrace;
  }
  for (const Stream& s : streams) s.read_rest();
  result.exit_status = child.wait();
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessSettings& settings) {
  TARRY_ASSERT(!arguments.empty());
  ProcessResult result;
  const auto not_run = [&](const std::string& why) {
    result.error = "cannot run " + arguments[0] + ": " + why;
    return result;
  };
  // PATH and all else that decides what runs is the user's, the rights are not.
  if (env::is_privileged()) return not_run("a program with more rights than its user starts no other");
  if (fault::fails(fault::Site::Compiler)) return not_run(message_of(EAGAIN));
  Handle nothing;
  if (settings.input.empty() && ::access(kNothing, R_OK) != 0)
    nothing = std::move(Pipe().read);  // its end is reached at once
  Pipe output, error;
  if (!output.valid() || !error.valid()) return not_run(message_of(errno));
  std::vector<char*> argv;
  for (const std::string& a : arguments)
    argv.push_back(const_cast<char*>(a.c_str()));  // argv is char*const[] by history
  argv.push_back(nullptr);
  std::vector<char*> environment = environment_of(settings);

  const SpawnSettings spawn(settings, nothing.get(), output.write.get(), error.write.get());
  pid_t process = 0;
  const int failure =
      ::posix_spawnp(&process, argv[0], spawn.actions(), spawn.attributes(), argv.data(), environment.data());
  output.write.reset();
  error.write.reset();
  nothing.reset();
  if (failure != 0) return not_run(message_of(failure));
  result.started = true;
  follow(Child(process), {Stream{output.read, result.output}, Stream{error.read, result.error}}, settings.limit,
         result);
  return result;
}

}  // namespace tarry::support
