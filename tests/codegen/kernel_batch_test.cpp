// A kernel's text, name and bits do not depend on what it is compiled with.
#include <map>
#include <thread>

#include "cache/entry_format.h"
#include "codegen/render/kernel_source.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/elf_sections.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/one_core.h"
#include "tests/helpers/sample_results.h"
#include "tests/kernels/tile_kernels.h"

namespace ta = tarry;
using ta::codegen::KernelSource;
using namespace ta::test;

namespace {

/// Symbols by key material of what a cache directory holds.
std::map<std::string, std::string> names_by_material(const CacheDirectory& directory) {
  std::map<std::string, std::string> names;
  for (const auto& file : directory.files()) {
    const auto entry = ta::cache::decode(ta::support::read_file(file).value_or(""));
    REQUIRE(entry.has_value());
    names[entry->material] = entry->name;
  }
  return names;
}

/// The output of a child process.
std::string run_in(const CacheDirectory& directory, const char* child) {
  const auto result = run_child(child, {"TARRY_CACHE_DIR=" + directory.root().string(), "TARRY_DEVICE=cpu"});
  INFO(result.error);
  REQUIRE(result.succeeded());
  return result.output;
}

}  // namespace

/// On one core all kernels share a few batches.
TARRY_CHILD(evaluates_together) {
  const OneCore few_batches;
  const std::vector<ta::Array> all = sample_results();
  ta::evaluate(all);
  const ta::CacheCounters s = ta::cache_counters();
  std::printf("%s %d", digest_of(all).c_str(), s.compile_batches < s.compiles);
  return 0;
}

TARRY_CHILD(evaluates_one_by_one) {
  std::vector<ta::Array> all = sample_results();
  for (const ta::Array& a : all) ta::evaluate(a);
  std::printf("%s 1", digest_of(all).c_str());
  return 0;
}

TEST_CASE("batch: the same key, name and result alone and in a batch, in C", "[cache][codegen]") {
  std::string expected;
  {
    const Setting interpreted("TARRY_DISABLE", "compile");
    const ta::Scope placed(ta::cpu);
    expected = digest_of(sample_results()) + " 1";
  }
  const CacheDirectory together, alone;
  CHECK(run_in(together, "evaluates_together") == expected);
  CHECK(run_in(alone, "evaluates_one_by_one") == expected);
  const auto names = names_by_material(together);
  CHECK(names.size() >= 12);
  CHECK((names == names_by_material(alone)));
}

TEST_CASE("batch: the same machine code alone and in a batch, by NVRTC", "[cache][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  const ta::graph::Target& target = *ta::graph::find_target("sm_90");
  const auto kernels = sample_kernels(target);
  std::map<std::string, const KernelSource*> by_symbol;  // short hashes make equal ones
  for (const auto& k : kernels) by_symbol.emplace(k->entry, k.get());
  std::vector<const KernelSource*> batch;
  for (const auto& [symbol, kernel] : by_symbol)
    if (batch.size() < 8) batch.push_back(kernel);
  REQUIRE(batch.size() == 8);
  const std::string joined =
      ta::runtime::nvrtc_compile(ta::codegen::join_unit(batch, target), target, ta::graph::Mode::Strict).bytes;
  for (const KernelSource* k : batch) {
    INFO(k->entry);
    CHECK(ta::codegen::join_unit({&k, 1}, target) == k->text);
    const std::string own = ta::runtime::nvrtc_compile(k->text, target, ta::graph::Mode::Strict).bytes;
    const std::string code = elf_section(own, ".text." + k->entry);
    CHECK(code.size() > 100);
    CHECK((code == elf_section(joined, ".text." + k->entry)));
  }
}

TEST_CASE("batch: what row sums have in common stands in a unit once", "[cache][codegen][cpu]") {
  const ta::graph::Target& target = *ta::graph::find_target("x86-64-v3");
  const auto row_sum = [&](ta::graph::Op map) {
    Maker m;
    m.g.roots = {m.reduce(ta::graph::Op::Sum, m.map(map, {m.leaf({64, 1000}, ta::float32)}), 1)};
    return ta::codegen::render(lowered(m, "x86-64-v3").ir, target);
  };
  const KernelSource first = row_sum(ta::graph::Op::Sqrt), second = row_sum(ta::graph::Op::Negative),
                     third = row_sum(ta::graph::Op::Square);
  REQUIRE(first.shared.size() >= 4);  // macros, states, a sum, the walk over rows
  const std::vector<const KernelSource*> batch{&first, &second, &third};
  const std::string unit = ta::codegen::join_unit(batch, target);
  for (std::size_t i = 0; i < first.shared.size(); ++i) {
    const std::string& text = first.shared[i].text;
    INFO(first.shared[i].name);
    CHECK(second.shared[i].name == first.shared[i].name);
    CHECK(unit.find(text) != std::string::npos);
    CHECK(unit.find(text) == unit.rfind(text));
  }
}

TEST_CASE("batch: shared texts of equal names and different contents both stand in a unit", "[cache][codegen]") {
  const ta::graph::Target& target = *ta::graph::find_target("x86-64-v3");
  KernelSource first, second;
  first.shared = {{"tarry_one_7", "static int tarry_one_7(void) { return 1; }\n"},
                  {"tarry_twice_7", "static int tarry_twice_7(void) { return 2 * tarry_one_7(); }\n"}};
  first.kernel = "int first(void) { return tarry_twice_7(); }\n";
  second.shared = {{"tarry_one_7", "static int tarry_one_7(void) { return 3; }\n"},
                   {"tarry_twice_7", "static int tarry_twice_7(void) { return 2 * tarry_one_7(); }\n"}};
  second.kernel = "int second(void) { return tarry_twice_7(); }\n";
  const std::vector<const KernelSource*> batch{&first, &second};
  CHECK(ta::codegen::join_unit(batch, target)
            .ends_with("static int tarry_one_7(void) { return 1; }\n"
                       "static int tarry_twice_7(void) { return 2 * tarry_one_7(); }\n"
                       "static int tarry_one_7_2(void) { return 3; }\n"
                       "static int tarry_twice_7_2(void) { return 2 * tarry_one_7_2(); }\n"
                       "int first(void) { return tarry_twice_7(); }\n"
                       "int second(void) { return tarry_twice_7_2(); }\n"));
}

TEST_CASE("batch: two plans that share a kernel, evaluated at the same moment, compile it once", "[cache][runtime]") {
  const CacheDirectory directory;
  const ta::Scope placed(ta::cpu);
  const auto formula = [](int kind, std::size_t n) {
    const ta::Array x = ta::asarray(ramp(n));
    const ta::Array y = ta::hypot(ta::log1p(ta::atan(x)), ta::copysign(x, x - 9.0f));
    return kind == 0 ? y : kind == 1 ? ta::sum(y) : ta::max(y);
  };
  const std::vector<ta::Array> one{formula(0, 500), formula(1, 300)}, two{formula(1, 700), formula(2, 400)};
  const std::int64_t before = ta::cache_counters().compiles;
  {
    std::jthread other([&] { ta::evaluate(one); });
    ta::evaluate(two);
  }
  CHECK(ta::cache_counters().compiles - before == 3);
  CHECK(directory.files().size() == 3);
}
