// The one file that includes Catch2, of version 2 or 3, and how a test skips.
#pragma once

#include <cstdint>
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
// Version 3 has moved these names; the tests use those of version 2.
namespace Catch {
inline Matchers::StringContainsMatcher Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
using Matchers::EndsWith;
using Matchers::StartsWith;
}  // namespace Catch
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace tarry::test {

/// A number from the environment.
std::uint64_t environment(const char* name, std::uint64_t fallback);

/// The folder of the sources that the tests were built from.
std::string source_directory();

/// Notes that the running test could not run here; main prints the notes after the results.
void note_skip(const std::string& reason);

std::string cuda_missing();   ///< why there is no GPU to test on, or ""
std::string nvrtc_missing();  ///< why there is no NVRTC, or ""
/// TARRY_TEST_REQUIRE_CUDA=1 says that this machine has a GPU: skipping for lack of one is then a failure.
bool cuda_required();

}  // namespace tarry::test

/// Leaves the test; it counts as passed, and as skipped in the summary.
#define TARRY_SKIP(REASON)            \
  do {                                \
    ::tarry::test::note_skip(REASON); \
    SUCCEED("skipped");               \
    return;                           \
  } while (false)

#define TARRY_SKIP_MISSING(MISSING)                                            \
  do {                                                                         \
    if (const std::string tarry_missing = (MISSING); !tarry_missing.empty()) { \
      if (::tarry::test::cuda_required()) FAIL(tarry_missing);                 \
      TARRY_SKIP(tarry_missing);                                               \
    }                                                                          \
  } while (false)

/// First line of a test that needs a GPU.
#define TARRY_REQUIRE_CUDA() TARRY_SKIP_MISSING(::tarry::test::cuda_missing())
/// First line of a test that compiles with NVRTC.
#define TARRY_REQUIRE_NVRTC() TARRY_SKIP_MISSING(::tarry::test::nvrtc_missing())
