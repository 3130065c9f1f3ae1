// Random numbers: Philox against its published vectors, what a word makes, and one number per element wherever it is made.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "codegen/interpreter.h"
#include "codegen/kernel_source.h"
#include "runtime/compiled_plan.h"
#include "tests/cuda_emulation.h"
#include "tests/devices.h"
#include "tests/same_bits.h"

namespace ta = tarry;
using ta::Array;
using ta::test::on_every_device;
namespace rnd = ta::random;

namespace {

/// The kernels that compute `outputs` on `target`.
std::vector<ta::runtime::KernelStep> kernels(const std::vector<Array>& outputs, const char* target) {
  std::vector<ta::graph::Edge> roots;
  for (const Array& x : outputs) roots.push_back(ta::detail::edge(x, "test", {}));
  ta::graph::Snapshot s;
  {
    const std::lock_guard lock(ta::graph::engine_mutex());
    ta::graph::Node* blocked = nullptr;
    s = ta::graph::take_snapshot(roots, &blocked);
  }
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  const auto plan = ta::runtime::make_plan(s, *ta::graph::find_target(target), here, alias, ta::runtime::plan_switches(), nullptr);
  std::vector<ta::runtime::KernelStep> found;
  for (const auto& step : plan.steps)
    if (const auto* k = std::get_if<ta::runtime::KernelStep>(&step)) found.push_back(*k);
  return found;
}

Array mcpi(std::int64_t pairs, std::uint64_t seed) {
  rnd::Generator g(seed);
  const Array u = rnd::uniform(g, pairs), w = rnd::uniform(g, pairs);
  return 4 * ta::mean(ta::astype(u * u + w * w < 1, ta::float32));
}

}  // namespace

TEST_CASE("random: texts", "[.][randomtext]") {
  const char* folder = std::getenv("TARRY_TEXTS");
  rnd::Generator g(7);
  int n = 0;
  const auto print = [&](const std::vector<Array>& outputs) {
    for (const auto& k : kernels(outputs, "sm_90")) {
      std::ofstream(std::string(folder) + "/" + std::to_string(n) + ".cu") << k.source->text;
      std::ofstream(std::string(folder) + "/" + std::to_string(n++) + ".ir") << ta::codegen::to_string(k.lowered.ir);
    }
    for (const auto& k : kernels(outputs, "x86-64-v3")) std::ofstream(std::string(folder) + "/" + std::to_string(n) + ".c") << k.source->text;
  };
  print({mcpi(std::int64_t{1} << 28, 1)});
  print({rnd::uniform(g, std::int64_t{1} << 28)});
  print({rnd::normal(g, std::int64_t{1} << 28)});
  print({rnd::uniform(g, std::int64_t{1} << 28, {.dtype = ta::float16})});
}

TEST_CASE("random: Philox gives the published words", "[random]") {
  // Random123, kat_vectors, philox4x32 with 10 rounds. The first as a draw; the others have numbers beyond any array.
  on_every_device([](ta::Device) {
    rnd::Generator g(0);
    CHECK(rnd::bits(g, 4).to_vector<std::uint32_t>() == std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  });
  const auto function = ta::codegen::scalar_function(ta::graph::Op::RandomBits, ta::int64, ta::uint64);
  const auto pair = [&](std::uint64_t number, std::uint64_t key, std::uint64_t draw) {
    std::uint64_t word = 0;
    function(&word, &number, &key, &draw);
    return word;
  };
  CHECK(pair(0, 0, 0) == 0xe169c58d6627e8d5);
  CHECK(pair(1, 0, 0) == 0x9b00dbd8bc57ac4c);
  // The highest block that a number of 64 bits has is 2^63 - 1, so of all ones the upper bit of the second word is missing:
  // these are the words of the reference implementation for {ffffffff 7fffffff ffffffff ffffffff}.
}
