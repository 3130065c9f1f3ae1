// Why a kernel was compiled: the nearest entry, the component that differs, the API and the log line at exit.
#include <tarry/tarry.h>

#include <set>

#include "cache/disk_layer.h"
#include "cache/explain.h"
#include "tests/helpers/child.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/one_core.h"
#include "tests/helpers/test.h"

namespace fs = std::filesystem;
using namespace tarry::cache;
using namespace tarry::test;
using Catch::Contains;
using tarry::CacheMiss;

namespace {

const std::string kPrelude = "typedef float f32;\ntypedef double f64;\n#define RESTRICT __restrict\n";

KernelKey key_of(const std::string& formula, const std::string& target) {
  return {kPrelude + "f(x) {\n  return " + formula + ";\n}\n", "-march=" + target, target, "strict"};
}

/// Its symbol begins with the operation and ends in a hash, as those of the engine do.
KernelRequest asked(const std::string& formula, const std::string& target) {
  const KernelKey key = key_of(formula, target);
  return {key, (formula.find('*') == std::string::npos ? "add_" : "multiply_") + key.hash().hex().substr(24)};
}

std::vector<CacheMiss> misses_of(FakeBackend& fake, const std::vector<KernelRequest>& requests) {
  KernelCache cache;
  cache.get(requests, fake.backend());
  return cache.misses();
}

}  // namespace

TEST_CASE("cache key: material is parsed back, and nothing else is", "[cache]") {
  const KernelKey key{"text\nmode 6\nstrict\n", "-a -b", "sm_90", "strict"};
  const std::string material = key.material();
  const auto fields = parse_material(material);
  REQUIRE(fields.has_value());
  CHECK(fields->text == key.text);
  CHECK(fields->options == key.options);
  CHECK(fields->target == key.target);
  CHECK(fields->mode == key.mode);
  CHECK(fields->format == std::to_string(kFormatVersion));
  for (std::size_t size = 0; size < material.size(); ++size) REQUIRE_FALSE(parse_material(material.substr(0, size)));
  CHECK_FALSE(parse_material(material + "\n"));
  CHECK_FALSE(parse_material("format 99999999999999999999\n1\n"));
  CHECK_FALSE(parse_material("format -1\n1\n"));
}

TEST_CASE("cache: kernels of one batch share one image, whichever files they come from", "[cache]") {
  const CacheDirectory directory;
  const OneCore two_batches;
  FakeBackend fake;
  fake.get_fresh(requests(0, 16));
  std::vector<std::shared_ptr<const std::string>> held;
  fake.on_load = [&](const KernelRequest&, const Binary& binary) { held.push_back(binary.image); };
  CacheStats stats;
  CHECK(right(requests(0, 16), fake.get_fresh(requests(0, 16), &stats)));
  CHECK(stats.disk_hits == 16);
  CHECK(held.size() == 16);
  CHECK(std::set(held.begin(), held.end()).size() == 2);  // two batches of eight
}

TEST_CASE("cache explain: each component is named with both values", "[cache][explain]") {
  const KernelKey key = key_of("x + 1", "sm_90");
  struct Row {
    const char* component;
    KernelKey found;
    std::string text;
  };
  std::vector<Row> rows{{"target", key, "target is sm_80, not sm_90"},
                        {"mode", key, "mode is relaxed, not strict"},
                        {"options", key, "options have -O1, not -march=sm_90"},
                        {"text", key, "text has the line \"  return x + 2;\", not \"  return x + 1;\""}};
  rows[0].found.target = "sm_80";
  rows[1].found.mode = "relaxed";
  rows[2].found.options = "-O1";
  rows[3].found.text = key_of("x + 2", "sm_90").text;
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.component) {
      const auto differences = compare({key.material(), "f"}, {row.found.material(), "f"});
      REQUIRE(differences.size() == 1);
      CHECK(differences[0].component == row.component);
      CHECK_THAT(describe(Nearest{"f", "ab12", "/cache", differences}),
                 Contains(row.text) && Contains("f (key ab12 in /cache)"));
    }
  }
  CHECK(compare({key.material(), "f"}, {key.material(), "f"}).empty());
}

TEST_CASE("cache explain: a text that goes on where the other ends differs there", "[cache][explain]") {
  KernelKey longer = key_of("x", "sm_90");
  longer.text += "more\n";
  const auto differences = compare({longer.material(), "f"}, {key_of("x", "sm_90").material(), "f"});
  REQUIRE(differences.size() == 1);
  CHECK(differences[0].wanted == "more");
  CHECK(differences[0].found.empty());
}

TEST_CASE("cache explain: of options the words that differ are named", "[cache][explain]") {
  const auto sentence = [](const char* wanted, const char* found) {
    const KernelKey a{"text", wanted, "t", "strict"}, b{"text", found, "t", "strict"};
    return describe(Nearest{"f", "ab12", "/cache", compare({a.material(), "f"}, {b.material(), "f"})});
  };
  CHECK_THAT(sentence("-O3 -march=v4 -wide -shared", "-O3 -march=v3 -shared"),
             Contains("options have -march=v3, not -march=v4 -wide"));
  CHECK_THAT(sentence("-O3 -wide", "-O3"), Contains("options lack -wide"));
  CHECK_THAT(sentence("-O3", "-a -O3 -a"), Contains("options have -a -a too"));
}

TEST_CASE("cache explain: the hash in a symbol is no difference", "[cache][explain]") {
  KernelKey one = key_of("x", "sm_90"), two = one;
  one.text += "struct add_01234567_params;\nvoid add_01234567(add_01234567_params p) { a; }\n";
  two.text += "struct add_89abcdef_params;\nvoid add_89abcdef(add_89abcdef_params p) { b; }\n";
  const auto differences = compare({one.material(), "add_01234567"}, {two.material(), "add_89abcdef"});
  REQUIRE(differences.size() == 1);
  CHECK(differences[0].wanted == "void add(add_params p) { a; }");
  CHECK(differences[0].found == "void add(add_params p) { b; }");
}

TEST_CASE("cache explain: nearest is the same operations first, then the same text, then the rest",
          "[cache][explain]") {
  const CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh({asked("x * 1", "sm_90"), asked("x + 1", "sm_80"), asked("x + 2", "sm_80")});
  DiskLayer layer(directory.root(), Access::ReadOnly);
  Layer* const layers[] = {&layer};
  struct Row {
    const char *formula, *target, *component;
  };
  const Row rows[] = {{"x + 1", "sm_90", "target"},  // x * 1 is there for sm_90
                      {"x + 2", "sm_90", "target"},
                      {"x + 9", "sm_80", "text"}};
  for (const Row& row : rows) {
    INFO(row.formula << " for " << row.target);
    const KernelRequest r = asked(row.formula, row.target);
    const Subject wanted[] = {{r.key.material(), r.entry}};
    const auto nearest = find_nearest(wanted, layers)[0];
    REQUIRE(nearest.has_value());
    REQUIRE_FALSE(nearest->differences.empty());
    CHECK(nearest->differences[0].component == row.component);
    CHECK(nearest->name.starts_with("add_"));
    CHECK(nearest->place == directory.root().string());
    if (row.component == std::string("target")) CHECK(nearest->key == key_of(row.formula, "sm_80").hash().hex());
  }
}

TEST_CASE("cache explain: misses tell what differs from what is there", "[cache][explain]") {
  CacheDirectory directory;
  FakeBackend fake;
  SECTION("nothing is there") {
    const auto misses = misses_of(fake, {asked("x + 1", "sm_90")});
    REQUIRE(misses.size() == 1);
    CHECK(misses[0].component.empty());
    CHECK(misses[0].nearest.empty());
    CHECK_THAT(misses[0].explanation, Contains("no entry to compare"));
  }
  SECTION("another target") {
    fake.get_fresh({asked("x + 1", "sm_80")});
    const auto misses = misses_of(fake, {asked("x + 1", "sm_90")});
    REQUIRE(misses.size() == 1);
    CHECK(misses[0].kernel == asked("x + 1", "sm_90").entry);
    CHECK(misses[0].target == "sm_90");
    CHECK(misses[0].key == key_of("x + 1", "sm_90").hash().hex());
    CHECK(misses[0].component == "target");
    CHECK(misses[0].nearest == key_of("x + 1", "sm_80").hash().hex());
  }
  SECTION("another compiler") {
    fake.get_fresh({asked("x + 1", "sm_90")});
    fake.compiler = "fake 2.0";
    const auto misses = misses_of(fake, {asked("x + 1", "sm_90")});
    REQUIRE(misses.size() == 1);
    CHECK(misses[0].component == "compiler");
    CHECK_THAT(misses[0].explanation, Contains("fake 1.0") && Contains("fake 2.0"));
  }
  SECTION("an image that does not load") {
    fake.get_fresh({asked("x + 1", "sm_90")});
    bool once = true;
    fake.on_load = [&](const KernelRequest&, const Binary&) {
      if (std::exchange(once, false)) throw std::runtime_error("bad image");
    };
    const auto misses = misses_of(fake, {asked("x + 1", "sm_90")});
    REQUIRE(misses.size() == 1);
    CHECK(misses[0].component == "image");
    CHECK_THAT(misses[0].explanation, Contains("bad image"));
  }
  SECTION("hits are no misses") {
    fake.get_fresh({asked("x + 1", "sm_90")});
    CHECK(misses_of(fake, {asked("x + 1", "sm_90")}).empty());
  }
  SECTION("the latest 64 are kept") {
    KernelCache cache;
    for (int i = 0; i < 100; ++i) cache.get(requests(i, 1), fake.backend());
    const auto misses = cache.misses();
    REQUIRE(misses.size() == 64);
    CHECK(misses[0].kernel == "kernel_36");
    CHECK(misses[63].kernel == "kernel_99");
    CHECK(misses[63].component == "text");  // the nearest is one of the first 36
  }
}

TEST_CASE("cache: NotCached says of each kernel what is nearest", "[cache][explain]") {
  CacheDirectory directory;
  FakeBackend fake;
  fake.get_fresh({asked("x + 1", "sm_80")});
  directory.require_cached.set("1");
  CHECK_THROWS_WITH(fake.get_fresh({asked("x + 1", "sm_90")}),
                    Contains("1 kernel is in no cache layer") && Contains("target is sm_80, not sm_90"));
}

TARRY_CHILD(cache_counted) {
  const tarry::Array x = tarry::arange(100) + 1, y = tarry::sqrt(tarry::astype(x, tarry::float32));
  tarry::evaluate(x);
  tarry::evaluate(y);
  const tarry::CacheCounters c = tarry::cache_counters();
  std::printf("%d %d %d", static_cast<int>(c.compiles), static_cast<int>(c.disk_hits),
              static_cast<int>(tarry::cache_misses().size()));
  return 0;
}

TEST_CASE("cache: counters and misses are in the API, and in the log at exit where it is asked for",
          "[cache][process]") {
  const CacheDirectory directory;
  const std::string at = "TARRY_CACHE_DIR=" + directory.root().string();
  const auto cold = run_child("cache_counted", {at, "TARRY_DEVICE=cpu", "TARRY_CACHE_PATH=", "TARRY_LOG=info"});
  CHECK(cold.output == "2 0 2");
  CHECK_THAT(cold.error, Contains("kernel cache: 0 memory hits, 0 disk hits, 2 compiled in 2 batches"));
  const auto warm = run_child("cache_counted", {at, "TARRY_DEVICE=cpu", "TARRY_CACHE_PATH=", "TARRY_LOG="});
  CHECK(warm.output == "0 2 0");
  CHECK(warm.error.empty());
}
