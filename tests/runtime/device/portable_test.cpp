// Kernels go to other machines: they need no library, their keys no machine, and cached ones no compiler.
#include <cstdio>
#include <locale>
#include <set>

#include "cache/kernel_cache.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/cpu/target.h"
#include "support/process.h"
#include "tests/fuzz/program.h"
#include "tests/helpers/child.h"
#include "tests/helpers/elf_sections.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/fake_gpu.h"
#include "tests/helpers/sample_results.h"

namespace ta = tarry;
using ta::codegen::KernelSource;
using namespace ta::test;

namespace {

/// 1.234.567,5: what a program may have made of its numbers.
struct OtherNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

/// Keys, symbols and checksums of the sources.
std::string describe_kernels() {
  std::string all;
  for (const char* name : {"sm_90", "x86-64-v3"}) {
    const ta::graph::Target& target = *ta::graph::find_target(name);
    const std::string options =
        target.is_cuda() ? ta::runtime::nvrtc_options(ta::graph::Mode::Strict) : ta::runtime::c_flags(target);
    for (const auto& kernel : sample_kernels(target)) {
      const ta::cache::KernelKey key{kernel->text, options, name, "strict"};
      all += key.hash().hex() + ' ' + kernel->entry + ' ' + ta::support::checksum_bytes(key.material()).hex() + '\n';
    }
  }
  return all;
}

ta::support::ProcessResult run_gpu_child(const CacheDirectory& directory, const std::string& nvrtc) {
  return run_child("evaluates_on_a_gpu", {"TARRY_CACHE_DIR=" + directory.root().string(), "TARRY_NVRTC=" + nvrtc});
}

ta::support::ProcessResult run_cpu_child(const std::vector<std::string>& settings) {
  std::vector<std::string> all{"TARRY_DEVICE=cpu"};
  all.insert(all.end(), settings.begin(), settings.end());
  return run_child("evaluates_the_sample", all);
}

}  // namespace

TARRY_CHILD(describes_kernels) {
  if (ta::support::env::system("TARRY_TEST_NUMBERS"))
    std::locale::global(std::locale(std::locale::classic(), new OtherNumbers));
  std::fputs(describe_kernels().c_str(), stdout);
  return 0;
}

TARRY_CHILD(evaluates_on_a_gpu) {
  const FakeGpu gpu;
  const ta::Scope placed(kFakeGpu);
  ta::evaluate(sample_results());
  const ta::CacheCounters counters = ta::cache_counters();
  std::printf("%s, %s", counters.compiles == 0 ? "none compiled" : "compiled",
              counters.disk_hits > 10 ? "many read" : "none read");
  return 0;
}

TARRY_CHILD(evaluates_the_sample) {
  std::printf("%s", digest_of(sample_results()).c_str());
  return 0;
}

TEST_CASE("portable: a CPU kernel needs no library and no symbol of the machine", "[codegen][cpu]") {
  if (ta::runtime::c_compiler().program.empty()) TARRY_SKIP("no C compiler");
#ifdef TARRY_SANITIZE_NAME
  TARRY_SKIP("the sanitizer's runtime is linked");
#endif
  const std::string name = GENERATE("x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a");
  const ta::graph::Target& target = *ta::graph::find_target(name);
  const ta::runtime::CCompiler compiler = ta::runtime::c_compiler(target);
  if (compiler.program.empty()) TARRY_SKIP(compiler.missing);
  std::map<std::string, std::shared_ptr<const KernelSource>> kernels;
  for (const auto& k : sample_kernels(target)) kernels.emplace(k->entry, k);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const ta::test::fuzz::Program p = ta::test::fuzz::generate(seed);
    ta::test::fuzz::Arrays arrays = make_inputs(p);
    for (const ta::test::fuzz::Statement& s : p.statements)
      arrays.values.push_back(ta::test::fuzz::record(s, arrays.values));
    for (const int v : p.outputs)
      for (const auto& k : kernels_of(arrays.values[static_cast<std::size_t>(v)], target)) kernels.emplace(k->entry, k);
  }
  std::vector<const KernelSource*> unit;
  for (const auto& [entry, source] : kernels) unit.push_back(source.get());
  CHECK(unit.size() > 20);
  const std::string image =
      ta::runtime::compile_c(ta::codegen::join_unit(unit, target), ta::runtime::c_flags(target), compiler).image;
  INFO(name);
  // Copies of large structs: on ARM gcc calls memcpy, which every process has.
  CHECK((elf_needs(image) == "" || (name == "armv8-a" && elf_needs(image) == "memcpy ")));
  CHECK_THAT(elf_section(image, ".dynstr"), Catch::Contains(unit.front()->entry));
}

TEST_CASE("portable: the check for needs sees a library and a symbol", "[codegen][cpu]") {
  const std::string image = ta::runtime::compile_c("double sin(double); double f(double x) { return sin(x); }\n",
                                                   "-O1 -shared -fPIC -Wl,--no-as-needed -lm")
                                .image;
  CHECK_THAT(elf_needs(image), Catch::Contains("sin ") && Catch::Contains("libm.so"));
}

TEST_CASE("portable: TARRY_CPU lowers what kernels are made for", "[runtime][cpu]") {
  const ta::graph::Target& host = ta::runtime::cpu_target();
  if (host.level < 3) TARRY_SKIP("this CPU has one level only");
  const Setting lower("TARRY_CPU", "x86-64-v2");
  CHECK(std::string(ta::runtime::cpu_target().name) == "x86-64-v2");
  CHECK(std::string(ta::runtime::make_cpu_backend()->target().name) == "x86-64-v2");
  CHECK_THAT(ta::describe_system(), Catch::Contains("kernels for x86-64-v2"));
  CHECK_THAT(ta::describe_system(), Catch::Contains("\nblas: "));
  const Setting brief("TARRY_CPU", "v3");
  CHECK(std::string(ta::runtime::cpu_target().name) == "x86-64-v3");
}

TEST_CASE("portable: a TARRY_CPU that is unknown or too high says what it may be", "[runtime][cpu]") {
  const std::string host = ta::runtime::cpu_target().name;
  for (const char* name : {"x86-64-v9", "v9", "native", "sm_90", host.starts_with("x86") ? "armv8-a" : "x86-64-v2"}) {
    const Setting wrong("TARRY_CPU", name);
    INFO(name);
    CHECK_THROWS_WITH(ta::runtime::cpu_target(), Catch::Contains(std::string("TARRY_CPU is \"") + name + "\"") &&
                                                     Catch::Contains("can run kernels for ") && Catch::Contains(host));
    CHECK_THAT(ta::describe_system(), Catch::Contains("kernels for nothing: TARRY_CPU"));
  }
  const auto child = run_cpu_child({"TARRY_CPU=pdp-11"});
  CHECK(child.exit_status == 3);
  CHECK_THAT(child.error, Catch::Contains("TARRY_CPU is \"pdp-11\""));
}

TEST_CASE("portable: kernels of a lower level serve a higher CPU and give its bits", "[cache][cpu]") {
  if (ta::runtime::cpu_target().level < 3) TARRY_SKIP("this CPU has one level only");
  const CacheDirectory directory;
  const std::string lower = ta::runtime::cpu_target().level == 3 ? "TARRY_CPU=x86-64-v2" : "TARRY_CPU=x86-64-v3";
  const auto own = run_cpu_child({"TARRY_CACHE_DIR=off"});
  const auto made = run_cpu_child({lower, "TARRY_CACHE_DIR=" + directory.root().string()});
  const std::vector<std::string> shipped{lower, "TARRY_CACHE_DIR=off", "TARRY_CACHE_PATH=" + directory.root().string(),
                                         "TARRY_REQUIRE_CACHED=1", "TARRY_CC=/nonexistent/cc"};
  const auto used = run_cpu_child(shipped);
  INFO(own.error << made.error << used.error);
  REQUIRE((own.succeeded() && made.succeeded() && used.succeeded()));
  CHECK(made.output == own.output);
  CHECK(used.output == own.output);
}

TEST_CASE("portable: cached GPU kernels need no NVRTC", "[cache][nvrtc]") {
  TARRY_REQUIRE_NVRTC();
  const CacheDirectory directory;
  const std::string gone = (directory.base() / "libnvrtc.so.gone").string();
  CHECK(run_gpu_child(directory, "").output == "compiled, none read");
  const auto child = run_gpu_child(directory, gone);
  INFO(child.error);
  CHECK(child.output == "none compiled, many read");
  CHECK(child.error == "");
  const CacheDirectory empty;
  CHECK_THAT(run_gpu_child(empty, gone).error, Catch::Contains("TARRY_NVRTC"));
}

TEST_CASE("portable: fifty processes of different places, locales and threads make equal keys and sources",
          "[cache][codegen]") {
  const std::string expected = describe_kernels();
  CHECK(std::count(expected.begin(), expected.end(), '\n') > 20);
  const char* const directories[] = {"/", "/tmp", "/usr", "/proc"};
  const char* const locales[] = {"C", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP", "nonsense"};
  std::set<std::string> texts;
  for (int i = 0; i < 50; ++i) {
    const std::string number = std::to_string(i);
    const auto child =
        run_child("describes_kernels", {"-C", directories[i % 4], std::string("LC_ALL=") + locales[i % 5],
                                        "TARRY_NUM_THREADS=" + std::to_string(i % 7 + 1), "HOME=/home/" + number,
                                        "TZ=UTC+" + std::to_string(i % 12), "MALLOC_PERTURB_=" + number,
                                        i % 3 == 0 ? "TARRY_TEST_NUMBERS=1" : "TARRY_TEST_NUMBERS="});
    INFO(child.error);
    REQUIRE(child.succeeded());
    texts.insert(child.output);
  }
  CHECK((texts == std::set<std::string>{expected}));
}
