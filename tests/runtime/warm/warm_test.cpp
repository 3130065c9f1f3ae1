// warm(): the kernels of recorded programs are compiled into a directory or a bundle, and what was built serves a run.
#include <tarry/tarry.h>
#include <tarry/warm.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache/disk_store.h"
#include "runtime/device/backend.h"
#include "runtime/device/cpu/target.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
namespace fs = std::filesystem;
using ta::test::ramp;
using ta::test::Setting;

namespace {

/// Formulas that no other test compiles, number by number.
std::vector<ta::Array> formulas(std::int64_t rows = 6, std::int64_t columns = 10) {
  const ta::Array x = ta::asarray(ramp(static_cast<std::size_t>(rows * columns)), {rows, columns});
  return {ta::exp(ta::sin(x)) * 0.5f + ta::cosh(x), ta::softmax(ta::log1p(x), -1), ta::sum(ta::cosh(x) - x, 0),
          ta::with_set(ta::tanh(x), {ta::slice(1, 3)}, 4.f)};
}

void run_formulas() {
  for (const ta::Array& f : formulas()) ta::evaluate(f);
}

/// A recorded run of the formulas, and room for what is made of it.
struct Workshop {
  Workshop() {
    const ta::Scope on_cpu(ta::cpu);
    const Setting no_disk("TARRY_CACHE_DIR", "off");
    const ta::Recording recording(manifest);
    run_formulas();
  }
  ta::WarmReport warm(std::vector<std::string> targets, const std::string& out) const {
    ta::WarmOptions options;
    options.targets = std::move(targets);
    options.out = out;
    return ta::warm(std::vector{manifest}, options);
  }
  [[nodiscard]] std::string at(const char* name) const { return (directory.path() / name).string(); }

  ta::support::ScopedTemporaryDirectory directory;
  std::string manifest = at("run.manifest");
};

std::string host() { return ta::runtime::backend(ta::cpu).target().name; }

}  // namespace

TARRY_CHILD(warm_user) {
  const ta::Scope on_cpu(ta::cpu);
  run_formulas();
  return ta::cache_counters().compiles == 0 && ta::cache_counters().disk_hits >= 4 ? 0 : 1;
}

TEST_CASE("warm: a process that must find its kernels finds them in what was warmed", "[warm]") {
  const Workshop shop;
  const std::string out = shop.at(GENERATE("shipped", "shipped.bundle"));
  const ta::WarmReport report = shop.warm({host()}, out);
  CHECK(report.kernels >= 4);
  CHECK(report.compiled == report.kernels);
  CHECK(report.failures.empty());
  const std::string moved = shop.at(out.ends_with(".bundle") ? "elsewhere.bundle" : "elsewhere");
  fs::rename(out, moved);
  const auto run =
      ta::test::run_child("warm_user", {"TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=" + moved, "TARRY_REQUIRE_CACHED=1"});
  INFO(run.error);
  CHECK(run.succeeded());
}

TARRY_CHILD(warm_user_without_compiler) {
  const ta::Scope on_cpu(ta::cpu);
  run_formulas();
  ta::evaluate(ta::erf(ta::asarray(ramp(11))) * ta::sqrt(ta::asarray(ramp(11))));
  const ta::CacheCounters c = ta::cache_counters();
  return c.compiles == 0 && c.disk_hits >= 4 ? 0 : 1;
}

TEST_CASE("warm: without a C compiler shipped kernels are used, and only the others are interpreted", "[warm]") {
  const Workshop shop;
  const std::string out = shop.at("shipped.bundle");
  REQUIRE(shop.warm({host()}, out).failures.empty());
  std::vector<std::string> settings{"TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=" + out, "TARRY_CC=/no/such/compiler"};
  const auto user = ta::test::run_child("warm_user", settings);
  CHECK((user.succeeded() && user.error.empty()));
  const auto other = ta::test::run_child("warm_user_without_compiler", settings);
  CHECK((other.succeeded() && other.error.find("no C compiler") == other.error.rfind("no C compiler")));
  CHECK_THAT(other.error, Catch::Contains("no C compiler"));
  settings.push_back("TARRY_REQUIRE_CACHED=1");
  CHECK(ta::test::run_child("warm_user", settings).succeeded());
  CHECK_THAT(ta::test::run_child("warm_user_without_compiler", settings).error,
             Catch::Contains("TARRY_REQUIRE_CACHED is set and 1 kernel"));
}

TEST_CASE("warm: kernels of a lower level are found where none may be compiled, and a miss names the level that hits",
          "[warm]") {
  if (ta::runtime::cpu_target().level < 3 || host().starts_with("arm")) TARRY_SKIP("this CPU has one level only");
  const Workshop shop;
  const std::string out = shop.at("shipped.bundle"), v2 = shop.at("v2.bundle");
  REQUIRE(shop.warm({"v3"}, out).failures.empty());
  REQUIRE(shop.warm({"v2"}, v2).failures.empty());
  const auto run = [](const std::string& bundle, const std::string& more) {
    return ta::test::run_child("warm_user",
                               {"TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=" + bundle, "TARRY_REQUIRE_CACHED=1", more});
  };
  CHECK(run(out, "TARRY_CPU=").succeeded());
  CHECK(run(v2, "TARRY_CPU=").succeeded());
  CHECK(run(out, "TARRY_CPU=v3").succeeded());
  CHECK(run(v2 + ":" + out, "TARRY_CPU=").succeeded());
  CHECK_THAT(run(out, "TARRY_CPU=v2").error, Catch::Contains("TARRY_CPU=x86-64-v3 finds all of them"));
  CHECK_THAT(run(v2, "TARRY_CPU=x86-64-v3").error, Catch::Contains("TARRY_CPU=x86-64-v2 finds all of them"));
}

TARRY_CHILD(warm_user_of_other_extents) {
  const ta::Scope on_cpu(ta::cpu);
  for (auto [rows, columns] : {std::pair{5, 31}, {100, 32}, {4, 33}, {70, 1000}, {3, 20000}, {300, 10}})
    for (const ta::Array& f : formulas(rows, columns)) ta::evaluate(f);
  return ta::cache_counters().compiles == 0 && ta::cache_counters().disk_hits > 8 ? 0 : 1;
}

TEST_CASE("warm: with all extents, a process finds kernels for extents that were never recorded", "[warm]") {
  const Workshop shop;
  ta::WarmOptions options;
  options.targets = {host()};
  options.out = shop.at("shipped");
  const auto run = [&] {
    return ta::test::run_child("warm_user_of_other_extents",
                               {"TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=" + options.out, "TARRY_REQUIRE_CACHED=1"});
  };
  REQUIRE(ta::warm(std::vector{shop.manifest}, options).failures.empty());
  CHECK_THAT(run().error, Catch::Contains("TARRY_REQUIRE_CACHED"));
  options.all_extents = true;
  REQUIRE(ta::warm(std::vector{shop.manifest}, options).failures.empty());
  const auto served = run();
  INFO(served.error);
  CHECK(served.succeeded());
}

TEST_CASE("warm: one run serves several targets, none of which is here", "[warm]") {
  TARRY_REQUIRE_NVRTC();
  const Workshop shop;
  const ta::WarmReport report = shop.warm({"sm_80", "sm_90", "sm_100", "x86-64-v2"}, shop.at("shipped"));
  CHECK(report.failures.empty());
  CHECK(report.compiled == report.kernels);
  std::string why;
  const auto layer = ta::cache::open_layer(shop.at("shipped"), why);
  REQUIRE(layer);
  std::map<std::string, int> kernels;
  layer->visit([&](const ta::cache::Found& found) {
    REQUIRE(found.entry);
    for (const char* target : {"sm_80", "sm_90", "sm_100", "x86-64-v2"})
      if (found.entry->material.find("\n" + std::string(target) + "\n") != std::string::npos) ++kernels[target];
  });
  REQUIRE(kernels.size() == 4);
  for (const auto& [target, count] : kernels) CHECK(count >= 4);
}

TEST_CASE("warm: what is there already is not compiled again", "[warm]") {
  const Workshop shop;
  const std::string out = shop.at(GENERATE("shipped", "shipped.bundle"));
  const ta::WarmReport first = shop.warm({host()}, out);
  const ta::WarmReport second = shop.warm({host()}, out);
  CHECK(second.compiled == 0);
  CHECK(second.hits == first.kernels);
  CHECK(second.bytes == first.bytes);
  const ta::WarmReport more = shop.warm({"x86-64-v2", host()}, out);
  CHECK(more.hits == first.kernels);
  CHECK(more.compiled == more.kernels - first.kernels);
}

TEST_CASE("warm: an interrupted run goes on where it stopped", "[warm]") {
  const Workshop shop;
  const std::string out = shop.at(GENERATE("shipped", "shipped.bundle"));
  struct Interrupted {};
  ta::WarmOptions options;
  options.targets = {host(), "x86-64-v2"};
  options.out = out;
  options.jobs = 1;
  options.progress = [](const ta::WarmProgress& p) {
    if (p.compiled == 5) throw Interrupted();
  };
  CHECK_THROWS_AS(ta::warm(std::vector{shop.manifest}, options), Interrupted);
  options.progress = nullptr;
  const ta::WarmReport rest = ta::warm(std::vector{shop.manifest}, options);
  CHECK(rest.hits == 5);
  CHECK(rest.compiled == rest.kernels - 5);
  CHECK(fs::exists(out));
  CHECK_FALSE(fs::exists(out + ".partial"));
}

TEST_CASE("warm: equal manifests give equal bundles", "[warm]") {
  const Workshop shop;
  REQUIRE(shop.warm({host()}, shop.at("first.bundle")).compiled > 0);
  REQUIRE(shop.warm({host()}, shop.at("second.bundle")).compiled > 0);
  CHECK(ta::support::read_file(shop.at("first.bundle")) == ta::support::read_file(shop.at("second.bundle")));
}

TEST_CASE("warm: progress counts every kernel once", "[warm]") {
  const Workshop shop;
  ta::WarmOptions options;
  options.targets = {host()};
  options.out = shop.at("shipped");
  std::vector<std::int64_t> done;
  std::int64_t total = 0;
  std::int64_t plans = 0;
  options.progress = [&](const ta::WarmProgress& p) {
    if (p.kernels == 0) {
      ++plans;
      return;
    }
    done.push_back(p.hits + p.compiled + p.failed);
    total = p.kernels;
  };
  const ta::WarmReport report = ta::warm(std::vector{shop.manifest}, options);
  CHECK(plans == report.evaluates);
  CHECK(total == report.kernels);
  REQUIRE(static_cast<std::int64_t>(done.size()) == report.kernels);
  for (std::size_t i = 0; i < done.size(); ++i) CHECK(done[i] == static_cast<std::int64_t>(i) + 1);
}

TEST_CASE("warm: a kernel that does not compile is named with the user's lines, and the others are built", "[warm]") {
  const Workshop shop;
  // A compiler that refuses what has the hyperbolic tangent in it.
  const fs::path program = shop.directory.path() / "cc";
  REQUIRE_FALSE(
      ta::support::write_file_atomically(program,
                                         "#!/bin/sh\nfor f; do :; done\ngrep -q -e tarry_tanh_f32 -- \"$f\" "
                                         "2>/dev/null && echo no hyperbolas >&2 && exit 1\nexec cc \"$@\"\n"));
  fs::permissions(program, fs::perms::owner_all);
  const Setting cc("TARRY_CC", program.string()), kept("TARRY_DUMP_DIR", shop.at("dump"));
  const ta::WarmReport report = shop.warm({host()}, shop.at("shipped"));
  CHECK(report.failed == 1);
  CHECK(report.compiled == report.kernels - 1);
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].target == host());
  CHECK_THAT(report.failures[0].ops, Catch::Contains("tanh float32") && Catch::Contains("at warm_test.cpp:"));
  CHECK_THAT(report.failures[0].message, Catch::Contains("no hyperbolas"));
}
