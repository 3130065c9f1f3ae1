// The table of child programs, and starting one.
#include "tests/helpers/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <utility>

#include "support/file.h"

namespace tarry::test {
namespace {

constexpr const char* kVariable = "TARRY_TEST_CHILD";

std::map<std::string, int (*)()>& children() {
  static std::map<std::string, int (*)()> all;
  return all;
}

std::vector<std::string> command_of(const std::string& name, const std::vector<std::string>& settings) {
  std::vector<std::string> arguments = {"env"};
  arguments.insert(arguments.end(), settings.begin(), settings.end());
  arguments.push_back(std::string(kVariable) + "=" + name);
  arguments.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  return arguments;
}

}  // namespace

Child::Child(const char* name, int (*run)()) { children()[name] = run; }

support::ProcessResult run_child(const std::string& name, const std::vector<std::string>& settings) {
  return support::run_process(command_of(name, settings));
}

RunningChild::RunningChild(const std::string& name, const std::vector<std::string>& settings,
                           std::filesystem::path output)
    : output_(std::move(output)) {
  const std::vector<std::string> arguments = command_of(name, settings);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND,
                                   0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  const int failure = ::posix_spawnp(&process_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot start " + name);
}

RunningChild::RunningChild(RunningChild&& other) noexcept
    : process_(std::exchange(other.process_, -1)), output_(std::move(other.output_)) {}

RunningChild::~RunningChild() {
  if (process_ < 0) return;
  kill();
  wait();
}

void RunningChild::kill() const {
  if (process_ > 0) ::kill(process_, SIGKILL);
}

int RunningChild::wait() {
  int status = 0;
  if (::waitpid(std::exchange(process_, -1), &status, 0) < 0) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string RunningChild::output() const { return support::read_file(output_).value_or("nothing"); }

std::optional<int> child_main() {
  const char* const name = std::getenv(kVariable);  // a child may be a set-user-ID program
  if (name == nullptr || *name == '\0') return std::nullopt;
  const auto found = children().find(name);
  if (found == children().end()) {
    std::fprintf(stderr, "no child is called %s\n", name);
    return 2;
  }
  try {
    return found->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s threw %s\n", name, error.what());
    return 3;
  }
}

}  // namespace tarry::test
