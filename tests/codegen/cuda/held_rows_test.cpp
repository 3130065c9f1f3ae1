// Short rows that a thread reads more than once: held in registers over the elements of another axis, loaded as wide as
// they lie, or once for several rows beside each other.
#include <set>

#include "codegen/ir/held.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/helpers/sweep.h"
#include "tests/kernels/plan_kernels.h"

using namespace tarry;
using codegen::KernelIr;
using codegen::KernelSource;
using codegen::Lowered;
using codegen::ReduceSerialLayout;
using codegen::Schedule;
using graph::GraphEdge;
using graph::Op;
using test::Maker;
using test::numbers;
using test::planned_for;

namespace {

/// The nearest of `clusters` centres to each of `points` points.
Maker nearest(std::int64_t points, std::int64_t clusters, std::int64_t axes, Dtype d) {
  Maker m;
  const GraphEdge x = m.keep(numbers(m, {points, axes}, d), 1), centres = m.keep(numbers(m, {clusters, axes}, d), 0);
  const GraphEdge far = m.map(Op::Subtract, {x, centres});
  m.g.roots = {m.reduce(Op::ArgMin, m.reduce(Op::Sum, m.map(Op::Multiply, {far, far}), 2), 1)};
  return m;
}

/// The same of what rows and centres are after a function each; what is invariant is half precision in memory.
Maker nearest_after_functions(std::int64_t points, std::int64_t clusters, std::int64_t axes) {
  Maker m;
  const GraphEdge half = numbers(m, {points, axes}, float16), centres = numbers(m, {clusters, axes});
  const GraphEdge scale = m.keep(numbers(m, {points}), 1);
  const GraphEdge x = m.keep(m.map(Op::Multiply, {m.map(Op::Cast, {half}, float32), scale}), 1);
  const GraphEdge far = m.map(Op::Subtract, {x, m.map(Op::Abs, {m.keep(centres, 0)})});
  m.g.roots = {m.reduce(Op::Max, m.reduce(Op::Min, m.map(Op::Multiply, {far, x}), 2), 1)};
  return m;
}

/// Exponents of normal distributions with a variance per part and axis: the sum over axes of (x - mean)^2 / variance +
/// c.
Maker exponents(std::int64_t points, std::int64_t parts, std::int64_t axes, Dtype d) {
  Maker m;
  const GraphEdge x = m.keep(numbers(m, {points, axes}, d), 1);
  const GraphEdge mean = numbers(m, {parts, axes}, d), variance = numbers(m, {parts, axes}, d),
                  constant = numbers(m, {parts, axes}, d);
  const GraphEdge far = m.map(Op::Subtract, {x, m.keep(mean, 0)});
  const GraphEdge ratio = m.map(Op::Divide, {m.map(Op::Multiply, {far, far}), m.keep(variance, 0)});
  m.g.roots = {m.reduce(Op::Sum, m.map(Op::Add, {ratio, m.keep(constant, 0)}), 2)};
  return m;
}

/// A graph, what one kernel per node gives, and its kernels for a GPU.
struct Planned {
  Maker graph;
  std::vector<test::Memory> expected;
  std::vector<Lowered> kernels;
};

Planned planned(Maker m) {
  Planned p{.graph = std::move(m), .expected = {}, .kernels = {}};
  p.expected =
      test::plan_results(p.graph, test::plan_kernels(p.graph, planned_for("x86-64-v3"), false), test::run_interpreted);
  p.kernels = test::plan_kernels(p.graph, planned_for("sm_90"));
  for (const Lowered& l : p.kernels) codegen::verify(l.ir);
  return p;
}

/// All of them on the emulation, in one unit, and on the interpreter.
void check_bits(const std::vector<Planned>& all) {
  std::map<std::string, KernelSource> sources;
  for (const Planned& p : all)
    for (const Lowered& l : p.kernels) {
      KernelSource source = codegen::render_cuda(l.ir, planned_for("sm_90"));
      sources.emplace(source.text, std::move(source));
    }
  std::vector<const KernelSource*> unit;
  for (const auto& [text, source] : sources) unit.push_back(&source);
  const test::EmulatedKernels emulated(unit);
  const test::KernelRun run = [&](const Lowered& l, std::vector<void*> buffers, const std::vector<std::uint64_t>& s) {
    const KernelSource& source = sources.at(codegen::render_cuda(l.ir, planned_for("sm_90")).text);
    const codegen::Geometry g = codegen::geometry_cuda(l.ir, planned_for("sm_90"), l.args);
    test::Memory scratch(g.scratch_bytes);
    std::vector<std::uint32_t> tickets(g.ticket_count);
    emulated.run(source, g.grid(),
                 codegen::pack_parameters(l.ir, source, l.args, g, {buffers, s, scratch.data(), tickets.data()}));
  };
  for (const Planned& p : all) {
    INFO(to_string(p.graph.g) << to_string(p.kernels.back().ir));
    const Dtype d = p.graph.dtype(p.graph.g.roots[0]);
    CHECK(test::same_elements(d, p.expected[0], test::plan_results(p.graph, p.kernels, run)[0]));
    CHECK(test::same_elements(d, p.expected[0], test::plan_results(p.graph, p.kernels, test::run_interpreted)[0]));
  }
}

/// No kernel spills on any architecture.
void check_compiles(const std::vector<Planned>& all) {
  TARRY_REQUIRE_NVRTC();
  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_100"}) {
    std::map<std::string, KernelSource> sources;
    for (const Planned& p : all)
      for (const Lowered& l : p.kernels) {
        KernelSource source = codegen::render_cuda(l.ir, planned_for(arch));
        sources.emplace(source.entry, std::move(source));
      }
    std::vector<const KernelSource*> unit;
    for (const auto& [entry, source] : sources) unit.push_back(&source);
    const std::string text = codegen::join_unit(unit, planned_for(arch));
    for (const auto& r : runtime::nvrtc_compile(text, planned_for(arch), graph::Mode::Strict).resources) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers");
      CHECK(r.spill_store_bytes + r.spill_load_bytes + r.stack_bytes == 0);
      CHECK(r.registers <= 128);
    }
  }
}

/// A device function of a kernel's text.
std::string function_text(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("_" + name + "(const");
  return at == std::string::npos ? "" : text.substr(at, text.find("\n}\n", at) - at);
}

constexpr std::int64_t kExtents[] = {1, 2, 3, 8, 16, 17, 32, 33};

}  // namespace

TEST_CASE("held rows: a thread loads its row once, whatever the number of centres", "[held_rows][sweep]") {
  std::vector<Planned> all;
  for (const Dtype d : {float32, float64}) {
    for (const std::int64_t axes : kExtents) {
      for (const std::int64_t clusters : {3, 9}) all.push_back(planned(nearest(300, clusters, axes, d)));
      const KernelIr& ir = all.back().kernels.back().ir;
      REQUIRE(ir.schedule() == Schedule::ReduceSerial);
      if (ir.loops.empty()) continue;  // of one element, or of too many to be a loop
      INFO(axes << " axes\n" << to_string(ir));
      CHECK(ir.short_loops[0] == codegen::steps_class(axes));
      const std::vector<codegen::HeldLoop> held = codegen::held_loops(ir);
      REQUIRE(held[0].kept.size() == 1);
      const std::uint32_t row = ir.instrs[held[0].kept[0]].index;
      const std::string text = codegen::render_cuda(ir, planned_for("sm_90")).kernel;
      CHECK(function_text(text, "point").find("t.a" + std::to_string(row)) == std::string::npos);
      CHECK(function_text(text, "hold").find("t.a" + std::to_string(row)) != std::string::npos);
      CHECK(ir.accesses[row].aligned == (axes % 2 == 0));
    }
  }
  check_bits(test::part_of_sweep(std::move(all), 4));
}

TEST_CASE("held rows: what is computed from a row alone is held in its place", "[held_rows]") {
  std::vector<Planned> all;
  for (const std::int64_t axes : {3, 8, 17}) {
    all.push_back(planned(nearest_after_functions(70, 5, axes)));
    const KernelIr& ir = all.back().kernels.back().ir;
    INFO(to_string(ir));
    REQUIRE(ir.loops.size() == 1);
    const std::vector<codegen::HeldLoop> held = codegen::held_loops(ir);
    REQUIRE(held[0].kept.size() == 1);
    CHECK(ir.instrs[held[0].kept[0]].op == Op::Multiply);
  }
  check_bits(all);
  check_compiles(all);
}

TEST_CASE("held rows: rows that registers cannot hold are read again", "[held_rows]") {
  for (const Dtype d : {float32, float64}) {
    Maker m;
    const GraphEdge x = m.keep(numbers(m, {90, 32}, d), 1), y = m.keep(numbers(m, {90, 32}, d), 1);
    const GraphEdge line = m.map(Op::Subtract, {m.map(Op::Multiply, {x, m.keep(numbers(m, {5, 32}, d), 0)}), y});
    m.g.roots = {m.reduce(Op::Max, m.reduce(Op::Sum, line, 2), 1)};
    const Planned p = planned(std::move(m));
    const KernelIr& ir = p.kernels.back().ir;
    INFO(to_string(ir));
    REQUIRE(ir.loops.size() == 1);
    CHECK(ir.steps_of(0) == (d == float32 ? 32 : 0));
    CHECK(codegen::held_loops(ir)[0].kept.size() == (d == float32 ? 2 : 0));
  }
}

TEST_CASE("held rows: loops of almost as many steps have one text", "[held_rows]") {
  std::set<std::string> texts;
  for (const std::int64_t axes : {17, 18, 19})
    texts.insert(
        codegen::render_cuda(planned(nearest(9, 9, axes, float32)).kernels.back().ir, planned_for("sm_90")).text);
  CHECK(texts.size() == 1);
  CHECK(codegen::sure_steps(codegen::steps_class(17)) == 17);
  for (std::int64_t n = 1; n <= codegen::kLongestLoop; ++n) {
    CHECK(codegen::sure_steps(codegen::steps_class(n)) <= n);
    CHECK(n <= codegen::steps_class(n));
  }
}

TEST_CASE("held rows: rows beside each other load once what they share", "[held_rows][sweep]") {
  std::vector<Planned> all;
  for (const Dtype d : {float32, float64}) {
    for (const std::int64_t axes : kExtents) {
      for (const std::int64_t points : {64, 71}) {  // the last threads have fewer rows
        Planned p = planned(exponents(points, 7, axes, d));
        KernelIr& ir = p.kernels.back().ir;
        if (auto* serial = std::get_if<ReduceSerialLayout>(&ir.layout); serial && axes > codegen::kShortLoop) {
          INFO(to_string(ir));
          CHECK(ir.vector() == (axes % 2 != 0 ? 1 : d == float64 ? 2 : 4));
          CHECK(serial->rows == 1);  // few rows are threads
          serial->rows = points == 64 ? 2 : 4;
        }
        all.push_back(std::move(p));
      }
    }
  }
  check_bits(test::part_of_sweep(std::move(all), 4));
}

TEST_CASE("held rows: elements that are stored beside their sum go one by one", "[held_rows]") {
  std::vector<Planned> all;
  for (const Dtype d : {float32, float64}) {
    Maker m;
    const GraphEdge x = m.map(Op::Multiply, {numbers(m, {20, 6, 8}, d), numbers(m, {20, 6, 8}, d)});
    m.g.roots = {x, m.reduce(Op::Sum, x, 2)};
    all.push_back(planned(std::move(m)));
    REQUIRE(all.back().kernels.size() == 1);
    CHECK(all.back().kernels[0].ir.schedule() == Schedule::ReduceSerial);
    CHECK(all.back().kernels[0].ir.vector() == 1);
  }
  check_bits(all);
}

TEST_CASE("held rows: many rows are four of a thread, where registers hold them", "[held_rows]") {
  std::vector<Planned> all;
  for (const auto& [d, parts, rows] : {std::tuple{float64, 16, 4}, {float32, 16, 4}, {float64, 2, 1}}) {
    Planned p{.graph = exponents(parts == 2 ? 400 : 70'000, parts, 8, d), .expected = {}, .kernels = {}};
    p.kernels = test::plan_kernels(p.graph, planned_for("sm_90"));
    REQUIRE(p.kernels.size() == 1);
    CHECK(p.kernels[0].ir.as<ReduceSerialLayout>().rows == rows);
    CHECK(p.kernels[0].ir.vector() == (d == float64 ? 2 : 4));
    all.push_back(std::move(p));
  }
  for (const Dtype d : {float32, float64})
    for (const std::int64_t axes : {8, 16, 19, 32}) all.push_back(planned(nearest(300, 32, axes, d)));
  check_compiles(all);
}
