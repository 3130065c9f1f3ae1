// site-packages and dist-packages, wherever they are.
#include "support/packages.h"

#include <tarry/dynamic.h>

#include <fmt/format.h>
#include <glob.h>
#include <string.h>

#include <algorithm>
#include <iterator>

#include "support/env.h"
#include "support/fork.h"
#include "support/out_of_memory.h"

namespace tarry::support {
namespace {

struct Added {
  Mutex mutex;
  std::vector<std::string> folders;  // guarded by mutex
};
Added& added() {
  static auto* const a = new Added;  // libraries may be looked for at exit
  return *a;
}

}  // namespace

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) > 0; });
  return paths;
}

void add_package_folders(std::span<const std::string> folders) {
  const std::lock_guard lock(added().mutex);
  for (const std::string& folder : folders)
    if (std::ranges::find(added().folders, folder) == added().folders.end()) added().folders.push_back(folder);
}

std::vector<std::string> package_folders() {
  std::vector<std::string> all;
  {
    const std::lock_guard lock(added().mutex);
    all = added().folders;
  }
  const auto add = [&](const std::string& prefix) {
    for (const char* packages : {"site-packages", "dist-packages"})
      std::ranges::move(matches(fmt::format("{}/lib/python3*/{}", prefix, packages)), std::back_inserter(all));
  };
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = env::system(variable)) add(*prefix);
  if (const auto home = env::system("HOME")) add(*home + "/.local");
  add("/usr/local");
  add("/usr");
  return all;
}

}  // namespace tarry::support

namespace tarry {
inline namespace v0 {

void search_packages(std::span<const std::string> folders, Where where) try { support::add_package_folders(folders); }
TARRY_OR_OUT_OF_MEMORY("search_packages", where)

}  // namespace v0
}  // namespace tarry
