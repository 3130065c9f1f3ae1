// Fault injection itself: exactly the call that was asked for fails, once, whatever thread makes it.
#include "support/fault.h"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/helpers/test.h"

namespace fault = tarry::support::fault;
using fault::Site;

TEST_CASE("fault: nothing fails and nothing is counted unless armed", "[support][fault]") {
  fault::disarm();
  for (int i = 0; i < 100; ++i) REQUIRE_FALSE(fault::fails(Site::File));
  fault::arm(0);
  CHECK(fault::disarm() == 0);
}

TEST_CASE("fault: the k-th call over all sites fails once", "[support][fault]") {
  fault::arm(3);
  CHECK_FALSE(fault::fails(Site::File));
  CHECK_FALSE(fault::fails(Site::Driver));
  CHECK(fault::fails(Site::Allocation));
  CHECK_FALSE(fault::fails(Site::Allocation));
  CHECK(fault::disarm() == 4);
}

TEST_CASE("fault: the k-th call of one site fails, other sites neither fail nor count", "[support][fault]") {
  fault::arm(Site::Nvrtc, 2);
  CHECK_FALSE(fault::fails(Site::Nvrtc));
  CHECK_FALSE(fault::fails(Site::Driver));
  CHECK_FALSE(fault::fails(Site::Compiler));
  CHECK(fault::fails(Site::Nvrtc));
  CHECK(fault::disarm() == 2);
}

TEST_CASE("fault: k = 0 counts without failing", "[support][fault]") {
  fault::arm(0);
  for (int i = 0; i < 5; ++i) REQUIRE_FALSE(fault::fails(Site::Driver));
  CHECK(fault::disarm() == 5);
}

TEST_CASE("fault: of calls by many threads exactly one fails", "[support][fault]") {
  fault::arm(5000);
  std::atomic<int> failed{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) failed += fault::fails(Site::File) ? 1 : 0;
    });
  }
  threads.clear();
  CHECK(failed == 1);
  CHECK(fault::disarm() == 8000);
}
