// CUDA C of scans on the emulation of thread blocks: every schedule has the interpreter's bits, and every kernel
// compiles for every architecture.
#include <map>

#include "codegen/render/kernel_source.h"
#include "graph/target.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/codegen/cuda/compare.h"
#include "tests/helpers/sweep.h"
#include "tests/helpers/test.h"

using namespace tarry;
using namespace tarry::test;
using codegen::KernelSource;

namespace {

const graph::Target& target(const char* name = "sm_90") { return *graph::find_target(name); }

/// Rows of n elements, contiguous or side by side; strides as in memory.
struct ScanShape {
  Schedule schedule;
  std::int64_t rows, n;
  int vector = 4;
  bool columns = false, wide = false;
  int units = 1;  ///< ScanTiles: 16 KiB of a tile
};

KernelBuilder begin(const char* name, const ScanShape& s) {
  KernelBuilder b(name, s.schedule, {s.rows}, s.n);
  b.tile_units(s.units);
  b.vector(s.schedule == Schedule::ScanSerial ? 1 : s.vector);
  if (s.wide) b.wide();
  return b;
}
std::vector<std::int64_t> row_stride(const ScanShape& s) { return {s.columns ? 1 : s.n}; }
std::int64_t stride(const ScanShape& s) { return s.columns ? s.rows : 1; }

KernelCase simple(const ScanShape& s, Op op, Dtype dtype) {
  KernelBuilder b = begin("simple", s);
  const Value x = b.load(Region::Point, dtype, row_stride(s), stride(s));
  const std::uint32_t scan = b.reduce(op, x);
  b.stage(1);
  b.store(Region::Point, b.result(scan), row_stride(s), stride(s));
  return b.build();
}

/// A product before two scans, of which one is of a broadcast operand; maps of both and of what was loaded, two stores.
KernelCase everything(const ScanShape& s) {
  KernelBuilder b = begin("everything", s);
  const Value x = b.load(Region::Point, Dtype::Float32, row_stride(s), stride(s));
  const Value y = b.load(Region::Point, Dtype::Float32, {0}, 1);
  const Value one = b.load(Region::Row, Dtype::Float32, {1});
  const Value product = b.compute(Region::Point, Op::Multiply, Dtype::Float32, {x, y});
  const Value shifted = b.compute(Region::Point, Op::Subtract, Dtype::Float32, {y, one});
  const std::uint32_t first = b.reduce(Op::CumulativeSum, product), second = b.reduce(Op::CumulativeSum, shifted);
  b.stage(1);
  const Value index = b.iota(Region::Point, 3, {0}, 1);
  const Value sum = b.compute(Region::Point, Op::Add, Dtype::Float32, {b.result(first), b.result(second)});
  b.store(Region::Point, b.compute(Region::Point, Op::Subtract, Dtype::Float32, {sum, x}), row_stride(s), stride(s));
  b.store(Region::Point, index, row_stride(s), stride(s));
  return b.build();
}

/// Elements outside a box are 0.
KernelCase guarded(const ScanShape& s) {
  KernelBuilder b = begin("guarded", s);
  const std::uint32_t box = b.guard(Region::Point, {{-2, {0}, 1, s.n / 2}});
  const Value x = b.guarded_load(Region::Point, Dtype::Float64, box, s.n, -2, {0}, 1);
  const std::uint32_t scan = b.reduce(Op::CumulativeSum, x);
  b.stage(1);
  b.store(Region::Point, b.result(scan), row_stride(s), stride(s));
  return b.build();
}

std::vector<KernelCase> cases_of(const ScanShape& s) {
  return {simple(s, Op::CumulativeSum, Dtype::Float32),
          simple(s, Op::CumulativeSum, Dtype::Float64),
          simple(s, Op::CumulativeSum, Dtype::Int64),
          simple(s, Op::CumulativeProd, Dtype::Float32),
          simple(s, Op::CumulativeMin, Dtype::Float32),
          simple(s, Op::CumulativeMax, Dtype::Int64),
          simple(s, Op::CumulativeMin, Dtype::Int32),
          simple(s, Op::CumulativeMax, Dtype::UInt32),
          everything(s),
          guarded(s)};
}

}  // namespace

TEST_CASE("render_cuda: a thread scans a row, or one of many columns", "[render_cuda][scan]") {
  std::vector<KernelCase> cases;
  for (const bool columns : {false, true})
    for (const std::int64_t n : {2, 5, 32, 33, 128, 129, 300, 1000})
      for (KernelCase& k : cases_of({Schedule::ScanSerial, 70, n, 1, columns})) cases.push_back(std::move(k));
  check_bits(cases);
}

TEST_CASE("render_cuda: a thread's points share one copy of the code where they are dear", "[render_cuda][scan]") {
  std::vector<KernelCase> cases;
  for (const bool columns : {false, true})
    for (const std::int64_t n : {2, 31, 32, 33, 128, 129, 300, 1000})
      for (KernelCase& k : cases_of({Schedule::ScanSerial, 70, n, 1, columns})) cases.push_back(std::move(k));
  for (KernelCase& k : cases) {
    CHECK(codegen::render_cuda(k.ir, target()).text.find("points[32]") == std::string::npos);
    k.ir.rolled = true;
    CHECK(codegen::render_cuda(k.ir, target()).text.find("points[32]") != std::string::npos);
  }
  check_bits(cases);
}

TEST_CASE("render_cuda: a warp scans a row", "[render_cuda][scan]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {33, 128, 511, 512, 513, 1024, 3000, 4096})
    for (KernelCase& k : cases_of({Schedule::ScanInner, 5, n, n % 4 == 0 ? 4 : 1})) cases.push_back(std::move(k));
  for (KernelCase& k : cases_of({Schedule::ScanInner, 3, 700, 1, true, true})) cases.push_back(std::move(k));
  check_bits(cases);
}

TEST_CASE("render_cuda: tiles of long rows fold the nodes before them", "[render_cuda][scan]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {4097, 20000, 8192 * 9 + 5})
    for (KernelCase& k : cases_of({Schedule::ScanTiles, 2, n, n % 4 == 0 ? 4 : 1})) cases.push_back(std::move(k));
  for (const int units : {2, 4})
    for (KernelCase& k : cases_of({Schedule::ScanTiles, 2, 100003, 1, false, false, units}))
      cases.push_back(std::move(k));
  cases.push_back(simple({Schedule::ScanTiles, 1, 8192 * 260 + 77, 1}, Op::CumulativeSum, Dtype::Float32));
  check_bits(cases);
}

TEST_CASE("render_cuda: elements of a warp's thread in one copy of the code have the same bits",
          "[render_cuda][scan]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {33, 512, 513, 3000, 4096})
    for (KernelCase& k : cases_of({Schedule::ScanInner, 5, n, n % 4 == 0 ? 4 : 1})) cases.push_back(std::move(k));
  for (KernelCase& k : cases_of({Schedule::ScanInner, 3, 700, 1, true, true})) cases.push_back(std::move(k));
  for (const std::int64_t n : {4097, 20000})
    for (KernelCase& k : cases_of({Schedule::ScanTiles, 2, n, n % 4 == 0 ? 4 : 1})) cases.push_back(std::move(k));
  for (KernelCase& k : cases) {
    CHECK(codegen::render_cuda(k.ir, target()).text.find(" in[16]") == std::string::npos);
    k.ir.rolled = true;
    CHECK(codegen::render_cuda(k.ir, target()).text.find(" in[16]") != std::string::npos);
  }
  check_bits(cases);
}

TEST_CASE("render_cuda: scans compile for every architecture with next to no spills", "[render_cuda][scan]") {
  TARRY_REQUIRE_NVRTC();
  for (const char* arch : test::part_of_sweep(std::vector{"sm_75", "sm_80", "sm_90", "sm_100"}, 4)) {
    std::map<std::string, KernelSource> sources;
    for (const ScanShape& s :
         {ScanShape{Schedule::ScanSerial, 70, 300}, ScanShape{Schedule::ScanInner, 5, 1024},
          ScanShape{Schedule::ScanTiles, 2, 20000}, ScanShape{Schedule::ScanTiles, 2, 20000, 1, false, true},
          ScanShape{Schedule::ScanTiles, 2, 20000, 4, false, false, 2},
          ScanShape{Schedule::ScanTiles, 2, 20000, 4, false, false, 4},
          ScanShape{Schedule::ScanTiles, 2, 20000, 1, false, true, 4}}) {
      for (const KernelCase& k :
           {simple(s, Op::CumulativeSum, Dtype::Float32), simple(s, Op::CumulativeSum, Dtype::Int64),
            simple(s, Op::CumulativeMin, Dtype::Float32), simple(s, Op::CumulativeMax, Dtype::Float64),
            everything(s)}) {
        KernelSource source = codegen::render_cuda(k.ir, target(arch));
        sources.emplace(source.entry, std::move(source));
      }
    }
    std::vector<const KernelSource*> all;
    for (const auto& [entry, source] : sources) all.push_back(&source);
    const runtime::NvrtcImage image =
        runtime::nvrtc_compile(codegen::join_unit(all, target(arch)), target(arch), graph::Mode::Strict);
    CHECK(image.resources.size() == all.size());
    for (const runtime::KernelResources& r : image.resources) {
      INFO(arch << " " << r.entry << ": " << r.registers << " registers, " << r.stack_bytes << " bytes of stack");
      CHECK(r.spill_store_bytes <=
            256);  // a gathering warp may keep a few words elsewhere, for four thread blocks at a time
      CHECK(r.shared_bytes <= 48 * 1024);
    }
  }
}
