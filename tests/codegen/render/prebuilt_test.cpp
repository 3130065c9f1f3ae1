// Shared texts that the library brings along as machine code: which ones, and that nobody sees it in a result.
#include "codegen/render/prebuilt.h"

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/prebuilt.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/elf_sections.h"
#include "tests/helpers/sample_results.h"
#include "tests/kernels/tile_kernels.h"

namespace ta = tarry;
using ta::codegen::SharedText;
using namespace ta::test;

namespace {

constexpr const char* kText =
    "struct tarry_pair_7 {\n  int a, b;\n};\n"
    "static const int tarry_two_7 = 2;\n"
    "static TARRY_PLAIN __attribute__((noinline)) int tarry_pair_7_sum(const struct tarry_pair_7* p, int n) {\n"
    "  if (n == 0) {\n    return 0;\n  }\n"
    "  return n * (p->a + p->b);\n"
    "}\n"
    "static int tarry_pair_7_twice(const struct tarry_pair_7* p) {\n"
    "  return tarry_pair_7_sum(p, tarry_two_7);\n"
    "}\n";

#if defined(__x86_64__) && !defined(TARRY_SANITIZE_NAME)
constexpr bool kBuilt = true;
#else
constexpr bool kBuilt = false;
#endif

KernelSource row_kernel(ta::graph::Op op, const ta::graph::Target& target) {
  Maker m;
  m.g.roots = {m.reduce(op, m.map(ta::graph::Op::Sqrt, {m.leaf({64, 1000}, ta::float32)}), 1)};
  return ta::codegen::render(lowered(m, target.name).ir, target);
}

}  // namespace

TEST_CASE("prebuilt: a unit that is linked declares functions and has types and constants", "[codegen]") {
  CHECK(ta::codegen::declarations(kText) ==
        "struct tarry_pair_7 {\n  int a, b;\n};\n"
        "static const int tarry_two_7 = 2;\n"
        "extern __attribute__((visibility(\"hidden\"))) int tarry_pair_7_sum(const struct tarry_pair_7* p, int n);\n"
        "extern __attribute__((visibility(\"hidden\"))) int tarry_pair_7_twice(const struct tarry_pair_7* p);\n");
}

TEST_CASE("prebuilt: the unit that others are linked with has functions for them", "[codegen]") {
  std::string expected = kText;
  for (const char* function : {"TARRY_PLAIN", "int tarry_pair_7_twice"})
    expected.erase(expected.find(std::string("static ") + function), 7);
  CHECK(ta::codegen::definitions(kText) == expected);
}

TEST_CASE("prebuilt: what row reductions of float32 share is there for every level, and nothing that differs from it",
          "[codegen][runtime]") {
  if (!kBuilt) {
    SUCCEED("nothing is brought along here");
    return;
  }
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const ta::graph::Target& target = *ta::graph::find_target(level);
    const ta::runtime::Prebuilt prebuilt = ta::runtime::prebuilt_for(target);
    for (const auto op : {ta::graph::Op::Sum, ta::graph::Op::Max, ta::graph::Op::ArgMin}) {
      const KernelSource kernel = row_kernel(op, target);
      REQUIRE(kernel.shared.size() >= 4);
      for (SharedText text : kernel.shared) {
        INFO(level << ' ' << text.name);
        CHECK(prebuilt.holds(text));
        text.text += "\n";
        CHECK_FALSE(prebuilt.holds(text));
      }
    }
  }
}

TEST_CASE("prebuilt: nothing is there for a GPU, or another kind of processor", "[runtime]") {
  CHECK(ta::runtime::prebuilt_for(*ta::graph::find_target("sm_90")).object.empty());
#if defined(__x86_64__)
  CHECK(ta::runtime::prebuilt_for(*ta::graph::find_target("armv8-a")).object.empty());
#endif
}

TEST_CASE("prebuilt: the unit of a row sum has little but its own text", "[codegen][runtime]") {
  const ta::graph::Target& target = *ta::graph::find_target("x86-64-v3");
  const KernelSource kernel = row_kernel(ta::graph::Op::Sum, target);
  const std::vector<const KernelSource*> unit{&kernel};
  const std::string whole = ta::codegen::join_unit(unit, target),
                    own = ta::codegen::join_unit(unit, target, [](const SharedText&) { return true; });
  CHECK(whole == kernel.text);
  CHECK(own.ends_with(kernel.kernel));
  CHECK(own.size() < whole.size());
  CHECK(own.find("static TARRY_PLAIN __attribute__((noinline)) float tarry_sum_f32") == std::string::npos);
}

TEST_CASE("prebuilt: a kernel that is linked with it needs no library and no symbol of the machine",
          "[codegen][runtime]") {
  if (!kBuilt || ta::runtime::c_compiler().program.empty()) TARRY_SKIP("nothing is linked here");
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const ta::graph::Target& target = *ta::graph::find_target(level);
    const KernelSource kernel = row_kernel(ta::graph::Op::Max, target);
    const std::vector<const KernelSource*> unit{&kernel};
    const ta::runtime::Prebuilt prebuilt = ta::runtime::prebuilt_for(target);
    const ta::runtime::LinkedText linked{
        ta::codegen::join_unit(unit, target, [&](const SharedText& text) { return prebuilt.holds(text); }),
        prebuilt.object};
    const std::string image =
        ta::runtime::compile_c("not C", linked, ta::runtime::c_flags(target), ta::runtime::c_compiler(target)).image;
    INFO(level);
    CHECK(elf_needs(image).empty());
    CHECK(image.size() < 40'000);  // the functions that are called, not all
  }
}

TARRY_CHILD(prints_digests) {
  const ta::Scope placed(ta::cpu);
  std::printf("%s", digest_of(sample_results()).c_str());
  return 0;
}

TEST_CASE("prebuilt: the same bits with it and without", "[runtime][cpu]") {
  const auto with = run_child("prints_digests", {"TARRY_CACHE_DIR=off", "TARRY_DEVICE=cpu"});
  const auto without =
      run_child("prints_digests", {"TARRY_CACHE_DIR=off", "TARRY_DEVICE=cpu", "TARRY_DISABLE=prebuilt"});
  REQUIRE(with.succeeded());
  REQUIRE(without.succeeded());
  CHECK(with.output == without.output);
}
