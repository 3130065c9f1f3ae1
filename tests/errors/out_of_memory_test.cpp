// Memory of the host runs out: the k-th operator new fails, for every k. What comes out is OutOfMemory, nothing stays
// claimed, and the same arrays evaluate afterwards.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "support/temporary.h"
#include "tests/helpers/allocations.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"

namespace ta = tarry;
using ta::test::FailingAllocation;
using ta::test::Setting;
using Values = std::vector<float>;

namespace {

/// A trial: `make` records, `use` gives the right values.
struct Work {
  std::function<ta::Array(const ta::Array&)> make;
  std::function<bool(const ta::Array&)> use;
};

/// Fails each allocation of `work` in turn, one and then all from there on. Returns how many it tried.
std::int64_t fail_each(const Work& work, std::int64_t step = 1) {
  const ta::Array x = ta::asarray(Values(64, 4.0f));
  std::int64_t tried = 0;
  for (const auto lasts : {FailingAllocation::Lasts::Once, FailingAllocation::Lasts::On}) {
    bool reached = true;
    for (std::int64_t k = 0; reached; k += step, ++tried) {
      ta::Array y;
      bool right = true, typed = true;
      {
        const FailingAllocation failing(k, lasts);
        try {
          y = work.make(x);
          right = work.use(y);
        } catch (const ta::OutOfMemory&) {
        } catch (...) {
          typed = false;
        }
        reached = failing.reached();
      }
      INFO("allocation " << k);
      REQUIRE(typed);
      REQUIRE(right);
      if (!y.is_defined()) y = work.make(x);
      std::jthread([&] {  // a claim that was left would let this wait for ever
        try {
          right = work.use(y);
        } catch (...) {
          right = false;
        }
      })
          .join();
      REQUIRE(right);
    }
  }
  return tried;
}

/// Reads without memory of its own.
bool all_are(const ta::Array& y, float expected) {
  std::array<float, 64> v{};
  y.copy_to(std::span<float>(v));
  return std::ranges::all_of(v, [&](float x) { return x == expected; });
}

const Work kRoots{[](const ta::Array& x) { return ta::sqrt(x) + 1.0f; },
                  [](const ta::Array& y) { return all_are(y, 3.0f); }};

}  // namespace

TEST_CASE("out of memory: whichever allocation of an evaluate fails, it is OutOfMemory and the next one is right",
          "[memory]") {
  if (!ta::test::kOwnAllocations) return;
  const ta::Scope on_cpu(ta::cpu);
  fail_each(kRoots);
  {
    const Setting anew("TARRY_DISABLE", "plan_cache,placement");
    CHECK(fail_each(kRoots, 7) > 100);
  }
  const ta::Shape square{8, 8};
  CHECK(fail_each({[&](const ta::Array& x) { return ta::softmax(ta::reshape(x, square), 1) * 8.0f + ta::sum(x); },
                   [](const ta::Array& y) { return all_are(y, 257.0f); }},
                  3) > 3);
}

TEST_CASE("out of memory: recording, printing, plans, files and updates fail with OutOfMemory too", "[memory]") {
  if (!ta::test::kOwnAllocations) return;
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const std::string file = (directory.path() / "x.npy").string();
  fail_each({[](const ta::Array& x) { return ta::std(ta::concat({x + 1.0f, x * 2.0f})) + x(ta::slice(1, 5)); },
             [](const ta::Array& y) { return y.size() == 4; }});
  fail_each({[](const ta::Array& x) { return x; }, [](const ta::Array& y) { return !y.repr().empty(); }});
  fail_each(
      {[](const ta::Array& x) { return x + 0.5f; }, [](const ta::Array& y) { return !ta::plan(y).str().empty(); }}, 61);
  fail_each({[](const ta::Array& x) { return x + 0.5f; },
             [](const ta::Array& y) {
               (void)ta::evaluate(y).str();
               return all_are(y, 4.5f);
             }},
            5);
  fail_each({[](const ta::Array& x) { return x; },
             [&](const ta::Array& y) {
               ta::save_npy(file, y);
               return all_are(ta::load_npy(file), 4.0f);
             }});
  fail_each({[](const ta::Array& x) { return ta::with_set(x + 0.5f, {ta::slice(0, 3)}, 7.0f); },
             [](const ta::Array& y) { return y(0).item<float>() == 7.0f && y(3).item<float>() == 4.5f; }},
            5);
  fail_each({[](const ta::Array& x) { return x; }, [](const ta::Array&) { return !ta::describe_system().empty(); }},
            29);
}

TEST_CASE("out of memory: kernels that are compiled, stored and recorded are so after a failure", "[memory][cache]") {
  if (!ta::test::kOwnAllocations) return;
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const Setting cache("TARRY_CACHE_DIR", (directory.path() / "kernels").string());
  const Setting record("TARRY_RECORD", (directory.path() / "run.manifest").string());
  int operations = 0;
  const Work fresh{[&](const ta::Array& x) {
                     ta::Array y = x;
                     for (int i = 0; i <= operations % 60; ++i) y = ta::maximum(y, -y);
                     ++operations;
                     return ta::sqrt(y) + 1.0f;
                   },
                   kRoots.use};
  CHECK(fail_each(fresh, 487) > 4);
}

TEST_CASE("out of memory: operations that wait beyond their budget go on waiting", "[memory]") {
  if (!ta::test::kOwnAllocations) return;
  const ta::Scope on_cpu(ta::cpu), few{ta::Budget{50, 1 << 20}};
  const ta::test::CapturedLog quiet;
  fail_each({[](const ta::Array& x) {
               ta::Array a = x;
               for (int i = 0; i < 120; ++i) a = a * 0.5f + 2.0f;
               return a;
             },
             [](const ta::Array& y) { return y(1).item<float>() == 4.0f; }},
            97);
}

TEST_CASE("out of memory: sorting, searching, sets and adding at places fail with OutOfMemory and are right afterwards",
          "[memory][sort][scatter]") {
  if (!ta::test::kOwnAllocations) return;
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array few = ta::astype(ta::arange(64) % 7, ta::int64);
  fail_each(
      {[](const ta::Array& x) { return ta::sort(x) + 1.0f; }, [](const ta::Array& y) { return all_are(y, 5.0f); }}, 11);
  fail_each({[&](const ta::Array& x) { return ta::searchsorted(ta::sort(few), few) * 0 + x; },
             [](const ta::Array& y) { return all_are(y, 4.0f); }},
            11);
  fail_each({[](const ta::Array& x) { return x; },
             [](const ta::Array& y) { return ta::unique_values(y).item<float>() == 4.0f; }},
            23);
  const ta::Array rows = ta::reshape(ta::astype(ta::arange(80'000) % 7, ta::float32), {8, 10'000});
  ta::evaluate(rows);  // of which threads find the medians
  fail_each({[&](const ta::Array& x) { return x + ta::median(rows, {.axis = 1})(0); },
             [](const ta::Array& y) { return all_are(y, 7.0f); }},
            11);
  const ta::Shape seven{7};
  fail_each({[&](const ta::Array& x) { return ta::with_add(ta::zeros(seven, ta::float32), {few}, x); },
             [](const ta::Array& y) { return y(0).item<float>() == 40.0f && y(6).item<float>() == 36.0f; }},
            11);
}

/// A process that has not opened the libraries of products: each of its allocations fails in turn.
TARRY_CHILD(products_without_memory) {
  const ta::Scope on_cpu(ta::cpu);
  const Setting anew("TARRY_DISABLE", "plan_cache");
  for (const ta::Dtype dtype : {ta::float32, ta::float64}) {
    const ta::Array a = ta::ones({8, 8}, dtype);
    bool reached = true;
    for (std::int64_t k = 0; reached; k += 3) {
      const ta::Array y = ta::matmul(a, a);
      {
        const FailingAllocation failing(k);
        try {
          ta::evaluate(y);
        } catch (const ta::OutOfMemory&) {
        }
        reached = failing.reached();
      }
      if (ta::astype(y, ta::float32)(3, 4).item<float>() != 8.0f) return 1;
    }
  }
  return 0;
}

TEST_CASE("out of memory: products by a library fail with OutOfMemory and are right afterwards", "[memory][matmul]") {
  if (!ta::test::kOwnAllocations) return;
  const auto result = ta::test::run_child("products_without_memory", {"TARRY_DEVICE=cpu"});
  INFO(result.error);
  CHECK(result.exit_status == 0);
}

TEST_CASE("out of memory: the error has the table of host memory", "[memory]") {
  if (!ta::test::kOwnAllocations) return;
  const ta::Scope on_cpu(ta::cpu);
  const Setting anew("TARRY_DISABLE", "plan_cache,placement");
  const ta::Array y = ta::asarray(Values(64, 4.0f)) * 3.0f;
  std::string message;
  try {
    const FailingAllocation failing(100);
    ta::evaluate(y);
  } catch (const ta::OutOfMemory& e) {
    message = e.what();
  }
  INFO(message);
  CHECK(message.find("the host is out of memory") != std::string::npos);
  CHECK(message.find("  live ") != std::string::npos);
}
