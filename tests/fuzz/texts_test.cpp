// Prints what random programs are planned and rendered to: two builds that print the same lines make the same kernels.
// scripts/compare_texts.py compares them by the hidden test.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "graph/record/record.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/fuzz/program.h"
#include "tests/helpers/test.h"

namespace ta = tarry;

namespace {

std::vector<ta::Array> outputs_of(const ta::test::fuzz::Program& program) {
  std::vector<ta::Array> values = ta::test::fuzz::make_inputs(program).values, outputs;
  for (const ta::test::fuzz::Statement& s : program.statements) values.push_back(ta::test::fuzz::record(s, values));
  for (const int v : program.outputs) outputs.push_back(values[static_cast<std::size_t>(v)]);
  return outputs;
}

ta::graph::Snapshot snapshot(const std::vector<ta::Array>& outputs) {
  std::vector<ta::graph::Edge> roots;
  for (const ta::Array& x : outputs) roots.push_back(ta::detail::edge(x, "test", {}));
  const std::lock_guard lock(ta::graph::engine_mutex());
  ta::graph::Node* blocked = nullptr;
  return ta::graph::take_snapshot(roots, &blocked);
}

std::string numbers(const ta::codegen::Geometry& g, const ta::codegen::KernelArgs& args) {
  std::string text = std::to_string(g.outer_tiles) + "," + std::to_string(g.chunks) + "," +
                     std::to_string(g.chunk_blocks) + "," + std::to_string(g.scratch_bytes) + "," +
                     std::to_string(g.dense.bytes) + "," + std::to_string(g.tiled.bytes);
  for (const ta::codegen::AccessArgs& a : args.accesses) {
    text += ";" + std::to_string(a.offset);
    for (const std::int64_t s : a.strides.span()) text += "," + std::to_string(s);
    text += "," + std::to_string(a.reduced_stride) + "," + std::to_string(a.loop_stride);
  }
  return text;
}

void print_plan(std::ostream& out, std::uint64_t seed, const char* target, const ta::runtime::CompiledPlan& plan) {
  out << seed << ' ' << target << ' ' << plan.steps.size() << " steps, " << plan.counters.bytes_read << " read, "
      << plan.counters.bytes_written << " written, " << plan.temporaries.size() << " temporaries\n";
  for (const auto& step : plan.steps) {
    const auto* kernel = std::get_if<ta::runtime::KernelStep>(&step);
    if (kernel == nullptr) continue;
    out << "  " << kernel->source->entry << ' ' << ta::runtime::kernel_key(*kernel, *plan.target).hash().hex() << ' '
        << numbers(kernel->geometry, kernel->lowered.args) << '\n';
  }
}

void print_plans(std::ostream& out, std::uint64_t seed) {
  const ta::graph::Snapshot s = snapshot(outputs_of(ta::test::fuzz::generate(seed)));
  const std::vector<bool> here(s.leaves.size(), true), alias(s.leaves.size(), false);
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a", "sm_80", "sm_90"})
    print_plan(
        out, seed, target,
        ta::runtime::make_plan(s, *ta::graph::find_target(target), here, alias, ta::runtime::plan_switches(), nullptr));
}

}  // namespace

TEST_CASE("texts: a program recorded twice is planned alike", "[fuzz]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::ostringstream once, again;
    print_plans(once, seed);
    print_plans(again, seed);
    CHECK(once.str() == again.str());
  }
}

TEST_CASE("texts: every random program is planned for every target", "[.texts]") {
  const std::uint64_t count = ta::test::environment("TARRY_FUZZ_GRAPHS", 200);
  const char* const file = std::getenv("TEXTS_FILE");
  REQUIRE(file != nullptr);
  std::ofstream out(file);
  for (std::uint64_t seed = 1; seed <= count; ++seed) print_plans(out, seed);
  REQUIRE(out.flush());
}
