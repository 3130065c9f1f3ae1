// Every generated CUDA kernel compiles, for several architectures and without a GPU; and rendering is a pure function.
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "codegen/render/kernel_source.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/fuzz/program.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/sweep.h"

namespace ta = tarry;
using ta::codegen::KernelSource;
using ta::test::ramp;

namespace {

constexpr std::uint64_t kPrograms = 60;
constexpr std::size_t kUnitKernels = 8;
/// Bytes. ptxas spills a few values to stay at 32 registers or around the calls that division makes for rare operands,
/// and CUDA's sin, cos and tan keep a table there for arguments that need all of pi. Rows that missed the registers
/// take more.
constexpr std::int64_t kStack = 255;

struct Kernel {
  std::shared_ptr<const KernelSource> source;
  std::size_t widest = 1;  ///< bytes of the largest type of value
  ta::codegen::Mode mode{};
};
using Kernels = std::map<std::string, Kernel>;  // by text

void add_kernels(std::span<const ta::Array> outputs, const char* target, Kernels& kernels) {
  std::vector<ta::graph::Edge> roots;
  for (const ta::Array& x : outputs) roots.push_back(ta::detail::edge(x, "test", {}));
  ta::graph::Snapshot s;
  {
    const std::lock_guard lock(ta::graph::engine_mutex());
    ta::graph::Node* blocked = nullptr;
    s = ta::graph::take_snapshot(roots, &blocked);
  }
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  const auto plan =
      ta::runtime::make_plan(s, *ta::graph::find_target(target), here, alias, ta::runtime::plan_switches(), nullptr);
  for (const auto& step : plan.steps) {
    const auto* found = std::get_if<ta::runtime::KernelStep>(&step);
    if (found == nullptr) continue;  // a copy
    const ta::runtime::KernelStep& k = *found;
    Kernel kernel{k.source, 1, k.lowered.ir.mode};
    for (const auto& i : k.lowered.ir.instrs) kernel.widest = std::max(kernel.widest, ta::itemsize(i.dtype));
    kernels.emplace(k.source->text, std::move(kernel));
  }
}

ta::Array cdf(const ta::Array& x) { return 0.5f * (1.0f + ta::erf(x * 0.70710678f)); }

/// The computations of the examples.
std::vector<std::vector<ta::Array>> formulas(float rate, float volatility) {
  const ta::Array s = ta::asarray(ramp(1000)), k = ta::asarray(ramp(1000)), t = ta::asarray(ramp(1000));
  const ta::Array spread = volatility * ta::sqrt(t),
                  d1 = (ta::log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
  const ta::Array discounted = k * ta::exp(-rate * t), call = s * cdf(d1) - discounted * cdf(d1 - spread);
  const ta::Array y = ta::sqrt(s * s + rate) - s;
  const ta::Array m = ta::asarray(ramp(64 * 300), {64, 300}), e = ta::exp(m - ta::max(m, 1, {.keepdims = true}));
  ta::random::Generator g(7);
  const ta::Array u = ta::random::uniform(g, {64, 300}), n = ta::random::normal(g, {64, 300}, {.mean = rate});
  const ta::Array inside = ta::mean(ta::astype(u * u + ta::square(ta::random::uniform(g, {64, 300})) < 1, ta::float32));
  ta::Array heat = ta::asarray(ramp(64 * 300), {64, 300});
  const ta::Slice low = ta::slice(-2), mid = ta::slice(1, -1), high = ta::slice(2, ta::none);
  for (int step = 0; step < 6; ++step) {
    const ta::Array c = heat(mid, mid);
    heat.set({mid, mid}, c + rate * (heat(low, mid) + heat(high, mid) + heat(mid, low) + heat(mid, high) - 4.0f * c));
  }
  return {{heat},
          {u, n},
          {inside},
          {ta::sum(u, 0), ta::var(n, 0)},
          {ta::softmax(n, 1)},
          {ta::random::integers(g, 1000, 0, 6)},
          {ta::random::normal(g, 1000, {.dtype = ta::float64})},
          {ta::random::uniform(g, 1000, {.low = rate, .high = 2, .dtype = ta::bfloat16})},
          {call, call - s + discounted},
          {ta::mean(s), ta::std(s)},
          {ta::sum(y), ta::std(y)},
          {e / ta::sum(e, 1, {.keepdims = true})},
          {(m - ta::mean(m, 0)) / (ta::std(m, 0) + rate)}};
}

/// All kernels of the random programs and the formulas.
Kernels kernels_for(const char* target) {
  Kernels kernels;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const ta::test::fuzz::Program p = ta::test::fuzz::generate(seed);
    ta::test::fuzz::Arrays arrays = make_inputs(p);
    for (const ta::test::fuzz::Statement& s : p.statements)
      arrays.values.push_back(ta::test::fuzz::record(s, arrays.values));
    std::vector<ta::Array> outputs;
    for (const int v : p.outputs) outputs.push_back(arrays.values[static_cast<std::size_t>(v)]);
    add_kernels(outputs, target, kernels);
  }
  for (const auto& outputs : formulas(0.7391f, 0.8317f)) add_kernels(outputs, target, kernels);
  return kernels;
}

/// Words of C: identifiers, keywords and numbers.
std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.') {
      word += c;
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

/// Bytes in which short scans of float32 keep the lanes of a block and, in two lists by level, nodes whose neighbours
/// come later.
int bytes_of_nodes(const std::string& entry) {
  constexpr int kLevels = 30, kLists = 2, kLanes = 32;
  if (entry.find("short_scan") == std::string::npos) return 0;
  int scans = 0;
  for (std::size_t at = 0; (at = entry.find("cumulative", at)) != std::string::npos; ++at) ++scans;
  return scans * (kLists * kLevels + kLanes) * static_cast<int>(sizeof(float));
}

std::string texts_of(const char* target) {
  std::string all;
  for (const auto& [text, kernel] : kernels_for(target)) all += text + '\n' + kernel.source->entry + '\n';
  return all;
}

}  // namespace

TARRY_CHILD(prints_kernel_texts) {
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    const std::string all = texts_of(target);
    std::fwrite(all.data(), 1, all.size(), stdout);
  }
  return 0;
}

TEST_CASE("nvrtc suite: every generated kernel compiles, and float32 needs next to no stack",
          "[codegen][nvrtc][sweep]") {
  TARRY_REQUIRE_NVRTC();
  struct Unit {
    const ta::graph::Target* target;
    ta::codegen::Mode mode;
    std::vector<const Kernel*> kernels;
    std::string problem;
  };
  std::map<const char*, Kernels> kernels;
  std::vector<Unit> units;
  // Each for one architecture, the next one every day.
  constexpr std::array kArchs{"sm_80", "sm_90", "sm_100"};
  std::size_t turn = ta::test::today();
  for (const char* name : kArchs) {
    std::size_t number = turn++;
    for (const auto& [text, kernel] : kernels[name] = kernels_for(name)) {
      if (number++ % kArchs.size() != 0 && !ta::test::whole_sweeps()) continue;
      const ta::graph::Target* target = ta::graph::find_target(name);
      const auto same_symbol = [&k = kernel](const Kernel* other) { return other->source->entry == k.source->entry; };
      const bool fits = !units.empty() && units.back().target == target && units.back().mode == kernel.mode &&
                        units.back().kernels.size() < kUnitKernels &&
                        std::ranges::none_of(units.back().kernels, same_symbol);
      if (!fits) units.push_back({target, kernel.mode, {}, {}});
      units.back().kernels.push_back(&kernel);
    }
  }
  const auto compile = [](Unit& unit) {
    std::vector<const KernelSource*> sources;
    for (const Kernel* k : unit.kernels) sources.push_back(k->source.get());
    try {
      const auto image =
          ta::runtime::nvrtc_compile(ta::codegen::join_unit(sources, *unit.target), *unit.target, unit.mode);
      std::map<std::string, ta::runtime::KernelResources> resources;
      for (const auto& r : image.resources) resources[r.entry] = r;
      for (const Kernel* k : unit.kernels) {
        const auto& r = resources[k->source->entry];
        if (r.registers == 0) unit.problem += k->source->entry + " is missing\n";
        const bool narrow = k->widest <= 4;
        if (narrow && r.stack_bytes > kStack + bytes_of_nodes(k->source->entry))
          unit.problem += k->source->entry + " uses " + std::to_string(r.stack_bytes) + " bytes of stack\n" +
                          k->source->kernel + "\n";
      }
    } catch (const ta::Error& e) {
      unit.problem = e.what();
    }
  };
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < units.size();) compile(units[i]);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  std::size_t count = 0;
  for (const Unit& unit : units) {
    count += unit.kernels.size();
    if (!unit.problem.empty()) FAIL_CHECK(unit.target->name << ": " << unit.problem);
  }
  INFO(count << " kernels in " << units.size() << " units");
  CHECK(count > kPrograms);
}

TEST_CASE("render: equal work gives equal texts, in any process, locale and directory", "[codegen]") {
  std::string all;
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    const std::string once = texts_of(target);
    CHECK(once == texts_of(target));
    all += once;
  }
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{},
        {"-C", "/", "LC_ALL=de_DE.UTF-8"},
        {"TZ=Asia/Tokyo", "LC_ALL=C", "TARRY_NUM_THREADS=7", "MALLOC_PERTURB_=85"}}) {
    const auto child = ta::test::run_child("prints_kernel_texts", settings);
    INFO(child.error);
    REQUIRE(child.succeeded());
    CHECK((child.output == all));
  }
}

TEST_CASE("render: texts hold no place, no scalar and no name of infinity", "[codegen]") {
  for (const char* target : {"sm_80", "sm_90", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    for (const auto& [text, kernel] : kernels_for(target)) {
      const std::set<std::string> words = words_of(text);
      INFO(text);
      for (const char* word : {"inf", "INFINITY", "nan", "NAN", "HUGE_VAL", "__FILE__", "__LINE__"})
        REQUIRE(words.count(word) == 0);
      for (const char* part : {".cpp", ".h\"", "#line", "0.7391", "0.8317", "0.70710678"})
        REQUIRE(text.find(part) == std::string::npos);
    }
  }
}

TEST_CASE("render: scalars and extents are arguments: other values make the same texts", "[codegen]") {
  for (const char* target : {"sm_90", "x86-64-v3"}) {
    Kernels some, others;
    for (const auto& outputs : formulas(0.7391f, 0.8317f)) add_kernels(outputs, target, some);
    for (const auto& outputs : formulas(0.0211f, 0.3003f)) add_kernels(outputs, target, others);
    REQUIRE(some.size() == others.size());
    CHECK(std::equal(some.begin(), some.end(), others.begin(),
                     [](const auto& a, const auto& b) { return a.first == b.first; }));
  }
}
