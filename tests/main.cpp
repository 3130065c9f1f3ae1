// Catch2's main, and the count of tests that skipped.
#define CATCH_CONFIG_RUNNER
#include "tests/helpers/test.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "runtime/device/backend.h"
#include "runtime/device/compilers/nvrtc.h"
#include "support/env.h"
#include "tests/helpers/child.h"

namespace tarry::test {
namespace {

struct Skips {
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> tests_of_reason;
};
Skips& skips() {
  static Skips all;
  return all;
}

void print_skips() {
  std::size_t count = 0;
  for (const auto& [reason, tests] : skips().tests_of_reason) count += tests.size();
  if (count == 0) return;
  std::cout << "skipped " << count << (count == 1 ? " test:\n" : " tests:\n");
  for (const auto& [reason, tests] : skips().tests_of_reason) {
    std::cout << "  " << tests.size() << " because " << reason << '\n';
  }
}

}  // namespace

std::uint64_t environment(const char* name, std::uint64_t fallback) {
  const auto value = support::env::system(name);
  return value ? std::strtoull(value->c_str(), nullptr, 10) : fallback;
}

std::string source_directory() { return TARRY_SOURCE_DIR; }

void note_skip(const std::string& reason) {
  const std::lock_guard lock(skips().mutex);
  skips().tests_of_reason[reason].insert(Catch::getResultCapture().getCurrentTestName());
}

std::string cuda_missing() { return runtime::cuda_unavailable_reason(); }
std::string nvrtc_missing() { return runtime::nvrtc_unavailable_reason(); }

bool cuda_required() { return support::env::system("TARRY_TEST_REQUIRE_CUDA").value_or("") == "1"; }

}  // namespace tarry::test

int main(int argc, char** argv) {
  if (const auto status = tarry::test::child_main()) return *status;
  // Tests of a device mean that device; placement_test switches it on.
  ::setenv("TARRY_DISABLE", "placement", 0);
  const int failures = Catch::Session().run(argc, argv);
  tarry::test::print_skips();
#ifdef __SANITIZE_ADDRESS__
  // Here all threads rest. At exit, where leaks would be looked for otherwise, oneTBB's end one by one, and the search
  // can crash on what one leaves behind.
  __lsan_do_leak_check();
#endif
  return failures;
}
