// Where libraries of Python's packages are looked for.
#include "support/packages.h"

#include <tarry/dynamic.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "support/temporary.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
using namespace tarry::support;

namespace {

/// A variable of the environment that has another value while this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("packages: paths that match are there, newest version first", "[support][packages]") {
  const ScopedTemporaryDirectory directory;
  for (const char* name : {"liba.so.9", "liba.so.10", "libb.so.11"}) std::ofstream(directory.path() / name) << "x";
  const std::string folder = directory.path().string();
  CHECK(matches(folder + "/liba.so*") == std::vector<std::string>{folder + "/liba.so.10", folder + "/liba.so.9"});
  CHECK(matches(folder + "/libc*").empty());
}

TEST_CASE("packages: folders that a binding names come before those of the environment", "[support][packages]") {
  const ScopedTemporaryDirectory directory;
  const fs::path environment = directory.path() / "lib" / "python3.99" / "site-packages";
  fs::create_directories(environment);
  fs::create_directories(directory.path() / "lib" / "python3.99" / "other");
  const Variable active("VIRTUAL_ENV", directory.path().string());
  const std::vector<std::string> named = {"/first/site-packages", "/second/dist-packages"};
  tarry::search_packages(named);
  tarry::search_packages(named);
  const std::vector<std::string> all = package_folders();
  REQUIRE(all.size() >= 3);
  CHECK(std::equal(named.begin(), named.end(), all.begin()));
  CHECK(std::ranges::count(all, named[0]) == 1);
  CHECK(all[2] == environment.string());
}
