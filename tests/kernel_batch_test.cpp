// A kernel's text, name and bits do not depend on what it is compiled with.
#include <elf.h>

#include <cstring>
#include <map>
#include <thread>

#include "cache/entry_format.h"
#include "codegen/kernel_source.h"
#include "runtime/compiled_plan.h"
#include "runtime/nvrtc.h"
#include "support/hash.h"
#include "tests/child.h"
#include "tests/devices.h"
#include "tests/fake_backend.h"

namespace ta = tarry;
using ta::codegen::KernelSource;
using namespace ta::test;

namespace {

/// Twelve results that need a kernel or more each: extents differ, so nothing fuses with its neighbour.
std::vector<ta::Array> results() {
  std::vector<ta::Array> all;
  for (int i = 0; i < 12; ++i) {
    const std::int64_t columns = 100 + 7 * i;
    const ta::Array x = ta::asarray(ramp(static_cast<std::size_t>(20 * columns)), {20, columns}) * 0.001f;
    switch (i % 6) {
      case 0: all.push_back(ta::exp(-x) + static_cast<float>(i)); break;
      case 1: all.push_back(ta::sum(ta::sin(x) * x, 1)); break;
      case 2: all.push_back(ta::softmax(x, 1)); break;
      case 3: all.push_back(ta::std(x, 0)); break;
      case 4: all.push_back(ta::log(x) / ta::max(x, 1, {.keepdims = true})); break;
      default: all.push_back(ta::astype(ta::floor(x * 10.0f), ta::int32) % 7);
    }
    if (i >= 6) all.back() = all.back() + all.back();
  }
  return all;
}

std::string digest_of(const std::vector<ta::Array>& arrays) {
  std::string bytes;
  for (const ta::Array& a : arrays) {
    const std::vector<double> values = ta::astype(a, ta::float64).to_vector<double>();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  return ta::support::checksum_bytes(bytes).hex();
}

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

/// The kernels of results() for a GPU.
std::vector<std::shared_ptr<const KernelSource>> cuda_kernels(const ta::graph::Target& target) {
  std::map<std::string, std::shared_ptr<const KernelSource>> found;
  for (const ta::Array& a : results()) {
    const ta::graph::Snapshot s = snapshot_of({&a});
    const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
    const auto plan = ta::runtime::make_plan(s, target, here, alias, ta::runtime::plan_switches(), nullptr);
    for (const auto& step : plan.steps)
      if (const auto* k = std::get_if<ta::runtime::KernelStep>(&step)) found.emplace(k->source->entry, k->source);
  }
  std::vector<std::shared_ptr<const KernelSource>> all;
  for (const auto& [entry, source] : found) all.push_back(source);
  return all;
}

template <class T>
T read_at(const std::string& bytes, std::size_t offset) {
  REQUIRE(offset + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// A section of an ELF file, "" where there is none.
std::string section(const std::string& elf, const std::string& name) {
  const auto header = read_at<Elf64_Ehdr>(elf, 0);
  const auto header_of = [&](std::size_t i) { return read_at<Elf64_Shdr>(elf, header.e_shoff + i * header.e_shentsize); };
  const Elf64_Shdr names = header_of(header.e_shstrndx);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = header_of(i);
    if (elf.data() + names.sh_offset + s.sh_name == name) return elf.substr(s.sh_offset, s.sh_size);
  }
  return "";
}

}  // namespace

TARRY_CHILD(evaluates_together) {
  const std::vector<ta::Array> all = results();
  ta::evaluate(all);
  const ta::CacheCounters s = ta::cache_counters();
  std::printf("%s %d", digest_of(all).c_str(), s.compile_batches < s.compiles);
  return 0;
}

TARRY_CHILD(evaluates_one_by_one) {
  std::vector<ta::Array> all = results();
  for (const ta::Array& a : all) ta::evaluate(a);
  std::printf("%s 1", digest_of(all).c_str());
  return 0;
}

TEST_CASE("batch: the same key, name and result alone and in a batch, in C", "[cache][codegen]") {
  std::string expected;
  {
    const Setting interpreted("TARRY_DISABLE", "compile");
    const ta::Scope placed(ta::cpu);
    expected = digest_of(results()) + " 1";
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
  const auto kernels = cuda_kernels(target);
  REQUIRE(kernels.size() >= 8);
  std::vector<const KernelSource*> batch;
  for (std::size_t i = 0; i < 8; ++i) batch.push_back(kernels[i].get());
  const std::string joined = ta::runtime::nvrtc_compile(ta::codegen::join_unit(batch, target), target, ta::graph::Mode::Strict).bytes;
  for (const KernelSource* k : batch) {
    INFO(k->entry);
    CHECK(ta::codegen::join_unit({&k, 1}, target) == k->text);
    const std::string own = ta::runtime::nvrtc_compile(k->text, target, ta::graph::Mode::Strict).bytes;
    const std::string code = section(own, ".text." + k->entry);
    CHECK(code.size() > 100);
    CHECK((code == section(joined, ".text." + k->entry)));
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
