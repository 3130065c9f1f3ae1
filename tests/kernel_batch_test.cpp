// A kernel's text, name and bits do not depend on what it is compiled with.
#include <map>
#include <thread>

#include "cache/entry_format.h"
#include "codegen/kernel_source.h"
#include "runtime/nvrtc.h"
#include "tests/child.h"
#include "tests/devices.h"
#include "tests/elf_sections.h"
#include "tests/fake_backend.h"
#include "tests/sample_results.h"

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

/// What a child in a process of its own printed.
std::string run_in(const CacheDirectory& directory, const char* child) {
  const auto result = run_child(child, {"TARRY_CACHE_DIR=" + directory.root().string(), "TARRY_DEVICE=cpu"});
  INFO(result.error);
  REQUIRE(result.succeeded());
  return result.output;
}

}  // namespace

TARRY_CHILD(evaluates_together) {
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
  const std::string joined = ta::runtime::nvrtc_compile(ta::codegen::join_unit(batch, target), target, ta::graph::Mode::Strict).bytes;
  for (const KernelSource* k : batch) {
    INFO(k->entry);
    CHECK(ta::codegen::join_unit({&k, 1}, target) == k->text);
    const std::string own = ta::runtime::nvrtc_compile(k->text, target, ta::graph::Mode::Strict).bytes;
    const std::string code = elf_section(own, ".text." + k->entry);
    CHECK(code.size() > 100);
    CHECK((code == elf_section(joined, ".text." + k->entry)));
  }
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
