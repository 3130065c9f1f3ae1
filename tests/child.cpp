// The table of child programs, and starting one.
#include "tests/child.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>

#include "support/env.h"

namespace tarry::test {
namespace {

constexpr const char* kVariable = "TARRY_TEST_CHILD";

std::map<std::string, int (*)()>& children() {
  static std::map<std::string, int (*)()> all;
  return all;
}

}  // namespace

Child::Child(const char* name, int (*run)()) { children()[name] = run; }

support::ProcessResult run_child(const std::string& name, const std::vector<std::string>& settings) {
  std::vector<std::string> arguments = {"env"};
  arguments.insert(arguments.end(), settings.begin(), settings.end());
  arguments.push_back(std::string(kVariable) + "=" + name);
  arguments.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  return support::run_process(arguments);
}

std::optional<int> child_main() {
  const auto name = support::env::system(kVariable);
  if (!name) return std::nullopt;
  const auto found = children().find(*name);
  if (found == children().end()) {
    std::fprintf(stderr, "no child is called %s\n", name->c_str());
    return 2;
  }
  try {
    return found->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s threw %s\n", name->c_str(), error.what());
    return 3;
  }
}

}  // namespace tarry::test
