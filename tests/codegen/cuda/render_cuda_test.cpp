// Tests of the CUDA C renderer: it compiles for every architecture without spills, its text is stable, and a host
// emulation of thread blocks computes the bits of the interpreter.
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <span>
#include <sstream>

#include "codegen/render/kernel_source.h"
#include "graph/target.h"
#include "runtime/device/compilers/nvrtc.h"
#include "tests/codegen/cuda/compare.h"
#include "tests/codegen/cuda/row_kernels.h"
#include "tests/helpers/sweep.h"
#include "tests/helpers/test.h"

using namespace tarry;
using namespace tarry::test;
using codegen::Geometry;
using codegen::KernelSource;

namespace {

const graph::Target& target(const char* name = "sm_90") { return *graph::find_target(name); }

constexpr Dtype kDtypes[] = {Dtype::Bool,     Dtype::Int8,    Dtype::Int16,  Dtype::Int32,  Dtype::Int64,
                             Dtype::UInt8,    Dtype::UInt16,  Dtype::UInt32, Dtype::UInt64, Dtype::Float16,
                             Dtype::BFloat16, Dtype::Float32, Dtype::Float64};

std::vector<ReduceShape> reduce_shapes(std::int64_t outer, std::int64_t n) {
  return {{Schedule::ReduceInner, 1, 1, outer, n},      {Schedule::ReduceInner, 8, 4, outer, n},
          {Schedule::ReduceInner, 1, 2, outer, n},      {Schedule::ReduceInner, 8, 1, outer, n, true},
          {Schedule::ReduceOuter, 0, 4, outer, n},      {Schedule::ReduceOuter, 0, 1, outer, n},
          {Schedule::ReduceOuter, 0, 2, outer, n, true}};
}

/// Every kind of reduction kernel for one shape.
std::vector<KernelCase> reductions(const ReduceShape& s) {
  return {simple_reduction(s, Op::Sum, Dtype::Float32),
          simple_reduction(s, Op::Sum, Dtype::Float64),
          simple_reduction(s, Op::Moments, Dtype::Float32),
          simple_reduction(s, Op::Max, Dtype::Bool),
          many_reductions(s, Dtype::Float32),
          many_reductions(s, Dtype::Float64),
          merge_moments(s, Dtype::Float32),
          merge_moments(s, Dtype::Float64),
          indexed_sum(s),
          guarded_sum(s)};
}

/// Products and arg reductions, alone and together.
std::vector<KernelCase> new_reductions(const ReduceShape& s) {
  std::vector<KernelCase> all;
  for (const Dtype dtype : {Dtype::Int32, Dtype::Int64, Dtype::UInt32, Dtype::UInt64, Dtype::Float32, Dtype::Float64})
    for (const Op op : {Op::ArgMin, Op::ArgMax, Op::Min}) all.push_back(simple_reduction(s, op, dtype));
  for (const Dtype dtype : {Dtype::Int64, Dtype::UInt64, Dtype::Float32, Dtype::Float64})
    all.push_back(simple_reduction(s, Op::Prod, dtype));
  for (const Dtype dtype : {Dtype::Float32, Dtype::Int64}) all.push_back(ties(s, dtype));
  return all;
}

/// Sums and maxima of every narrow integer.
std::vector<KernelCase> narrow_reductions(const ReduceShape& s) {
  std::vector<KernelCase> all;
  for (const Dtype dtype : {Dtype::Bool, Dtype::Int8, Dtype::UInt8, Dtype::Int16, Dtype::UInt16}) {
    for (const Dtype wide : {Dtype::Int64, Dtype::UInt64}) all.push_back(narrow_reduction(s, Op::Sum, dtype, wide));
    all.push_back(narrow_reduction(s, Op::Max, dtype, Dtype::Int32));
  }
  return all;
}

/// Every row kernel for one shape.
std::vector<KernelCase> rows(const RowShape& s) {
  return {softmax(s, Dtype::Float32, true), softmax(s, Dtype::Float64),      logsumexp(s, Dtype::Float32),
          layer_norm(s, Dtype::Float32),    layer_norm(s, Dtype::Float64),   everything(s, Dtype::Float32),
          everything(s, Dtype::Float64),    half_softmax(s, Dtype::Float16), half_softmax(s, Dtype::BFloat16)};
}

std::vector<KernelCase> all_kernels() {
  std::vector<KernelCase> all{
      axpy(1000, 4),           axpy(1000, 1),          mixed(1000, 2),   mixed(1000, 1),   plane(30, 40, 2, false),
      plane(30, 40, 1, false), plane(30, 40, 2, true), cube(3, 5, 8, 4), cube(3, 5, 7, 1), counting(100)};
  for (KernelCase& k : reductions({Schedule::ReduceSerial, 0, 1, 8, 8})) all.push_back(std::move(k));
  for (const ReduceShape& s : reduce_shapes(8, 256))
    for (KernelCase& k : reductions(s)) all.push_back(std::move(k));
  for (const Schedule schedule : {Schedule::ReduceSerial, Schedule::ReduceInner, Schedule::ReduceOuter})
    all.push_back(strided_sum({schedule, schedule == Schedule::ReduceInner ? 8 : 0, 1, 6, 16}, 3));
  for (const ReduceShape& s :
       {ReduceShape{Schedule::ReduceSerial, 0, 1, 8, 8}, ReduceShape{Schedule::ReduceInner, 1, 4, 8, 256},
        ReduceShape{Schedule::ReduceInner, 8, 4, 8, 256}, ReduceShape{Schedule::ReduceOuter, 0, 4, 8, 256}})
    for (KernelCase& k : new_reductions(s)) all.push_back(std::move(k));
  for (const ReduceShape& s :
       {ReduceShape{Schedule::ReduceInner, 1, 16, 8, 256}, ReduceShape{Schedule::ReduceInner, 8, 8, 8, 256},
        ReduceShape{Schedule::ReduceOuter, 0, 8, 8, 256}})
    for (KernelCase& k : narrow_reductions(s)) all.push_back(std::move(k));
  for (const std::int64_t n : {8, 100, 200, 400, 1000, 2000, 4000, 8000, 16000, 20000, 100000})
    for (KernelCase& k : rows({3, n})) all.push_back(std::move(k));
  for (const Dtype dtype : kDtypes) all.push_back(copies(100, dtype, static_cast<int>(16 / itemsize(dtype))));
  for (const int vector : {1, 2, 4}) all.push_back(boxes(9, 32, vector, vector == 2));
  return all;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The kernel part alone, free of the hash, which covers the prelude as well.
void check_golden(const std::string& name, const KernelIr& ir) {
  const KernelSource source = codegen::render_cuda(ir, target());
  std::string text = source.kernel;
  for (std::size_t at; (at = text.find(source.entry)) != std::string::npos;)
    text.replace(at, source.entry.size(), "ENTRY");
  const std::string path = source_directory() + "/tests/golden/" + name + ".cu";
  if (const char* update = std::getenv("TARRY_UPDATE_GOLDEN"); update && *update == '1') std::ofstream(path) << text;
  INFO("set TARRY_UPDATE_GOLDEN=1 to write " << path);
  CHECK(text == read_text(path));
}

}  // namespace

TEST_CASE("render_cuda: pointwise kernels have the interpreter's bits", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {1, 3, 255, 256, 1000, 1023, 1024, 1025, 5000}) {
    cases.push_back(axpy(n, 4));
    cases.push_back(axpy(n, 1));
    cases.push_back(mixed(n, 2));
    cases.push_back(mixed(n, 1));
    cases.push_back(counting(n));
  }
  for (const bool wide : {false, true}) {
    for (const int vector : {1, 2}) {
      cases.push_back(plane(33, 70, vector, wide));
      cases.push_back(plane(1, 4096, vector, wide));
      cases.push_back(plane(700, 2, vector, wide));
    }
  }
  for (const int vector : {1, 4}) {
    cases.push_back(cube(3, 5, 8, vector));
    cases.push_back(cube(7, 31, 64, vector));
    cases.push_back(cube(1, 1, 4, vector));
  }
  cases.push_back(cube(3, 11, 17, 1));
  check_bits(cases);
}

TEST_CASE("render_cuda: short reductions go left to right", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {0, 1, 2, 3, 31, 32})
    for (const std::int64_t outer : {1, 300})
      for (KernelCase& k : reductions({Schedule::ReduceSerial, 0, 1, outer, n})) cases.push_back(std::move(k));
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 9, 32})
    for (KernelCase& k : reductions({Schedule::ReduceSerial, codegen::serial_class(n, codegen::kShortLoop), 1, 300, n}))
      cases.push_back(std::move(k));
  cases.push_back(strided_sum({Schedule::ReduceSerial, 0, 1, 70, 19}, 5));
  check_bits(cases);
}

TEST_CASE("render_cuda: rows reduce by tree R", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n :
       {33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 4095, 4096, 4097}) {
    for (const ReduceShape& s : reduce_shapes(3, n)) {
      if (s.schedule != Schedule::ReduceInner || (s.shape_class == 1 && n > 4096)) continue;
      for (KernelCase& k : reductions(s)) cases.push_back(std::move(k));
    }
  }
  for (const std::int64_t n : {33, 129, 511, 512, 513, 1023, 1025, 4095, 9001})
    for (KernelCase& k : reductions({Schedule::ReduceInner, n > 4096 ? 8 : 1, 4, 3, n, false, true}))
      cases.push_back(std::move(k));
  for (const ReduceShape& s :
       {ReduceShape{Schedule::ReduceInner, 8, 4, 1, 40000}, ReduceShape{Schedule::ReduceInner, 8, 1, 2, 300001, true}})
    for (KernelCase& k : reductions(s)) cases.push_back(std::move(k));
  cases.push_back(strided_sum({Schedule::ReduceInner, 8, 1, 2, 8300}, 2));
  cases.push_back(simple_reduction({Schedule::ReduceInner, 1, 4, 19, 260}, Op::Sum, Dtype::Float32));
  check_bits(cases);
}

TEST_CASE("render_cuda: columns reduce by tree R", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {33, 39, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 4095, 4096, 4097}) {
    for (const ReduceShape& s : reduce_shapes(12, n)) {
      if (s.schedule != Schedule::ReduceOuter) continue;
      for (KernelCase& k : reductions(s)) cases.push_back(std::move(k));
    }
  }
  for (const ReduceShape& s :
       {ReduceShape{Schedule::ReduceOuter, 0, 4, 132, 40000}, ReduceShape{Schedule::ReduceOuter, 0, 1, 33, 2600}})
    for (KernelCase& k : reductions(s)) cases.push_back(std::move(k));
  cases.push_back(strided_sum({Schedule::ReduceOuter, 0, 1, 40, 300}, 3));
  check_bits(cases);
}

TEST_CASE("render_cuda: steps in one copy of the code have the same bits", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {33, 129, 512, 1023, 2049, 9001})
    for (const ReduceShape& s : reduce_shapes(12, n))
      for (KernelCase& k : reductions(s))
        if (s.shape_class != 1 || n <= 4096) cases.push_back(std::move(k));
  for (const std::int64_t n : {129, 512, 1023, 4000})
    for (KernelCase& k : reductions({Schedule::ReduceInner, 1, 4, 3, n, false, true})) cases.push_back(std::move(k));
  for (const std::int64_t n : {100, 512, 3000, 9000})
    for (KernelCase& k : rows({3, n})) cases.push_back(std::move(k));
  for (KernelCase& k : cases) k.ir.rolled = true;
  check_bits(cases);
}

TEST_CASE("render_cuda: few columns reduce by tree R, many tree blocks at once", "[render_cuda]") {
  std::vector<KernelCase> cases;
  struct Columns {
    std::int64_t count;
    int vector;
  };
  for (const Columns c : {Columns{2, 1},
                          {2, 2},
                          {3, 1},
                          {3, 3},
                          {4, 4},
                          {5, 1},
                          {5, 5},
                          {6, 3},
                          {7, 1},
                          {8, 4},
                          {12, 4},
                          {13, 1},
                          {16, 4},
                          {32, 4},
                          {64, 4}})
    for (const std::int64_t n : {33, 129, 1030, 4097})
      for (KernelCase& k : reductions({Schedule::ReduceOuter, codegen::column_class(c.count), c.vector, c.count, n}))
        cases.push_back(std::move(k));
  for (KernelCase& k : reductions({Schedule::ReduceOuter, 4, 3, 3, 70001, true})) cases.push_back(std::move(k));
  for (KernelCase& k : reductions({Schedule::ReduceOuter, 0, 3, 33, 2600})) cases.push_back(std::move(k));
  cases.push_back(strided_sum({Schedule::ReduceOuter, 4, 1, 3, 5000}, 3));
  check_bits(cases);
}

TEST_CASE("render_cuda: products and arg reductions have the interpreter's bits in every schedule", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {0, 1, 2, 31, 32})
    for (KernelCase& k : new_reductions({Schedule::ReduceSerial, 0, 1, 70, n})) cases.push_back(std::move(k));
  for (const std::int64_t n : {33, 130, 513, 1025, 4096})
    for (const ReduceShape& s : reduce_shapes(4, n))
      for (KernelCase& k : new_reductions(s)) cases.push_back(std::move(k));
  for (KernelCase& k : new_reductions({Schedule::ReduceInner, 8, 4, 1, 70001})) cases.push_back(std::move(k));
  for (KernelCase& k : new_reductions({Schedule::ReduceInner, 8, 4, 2, 9001, false, true}))
    cases.push_back(std::move(k));
  for (KernelCase& k : new_reductions({Schedule::ReduceOuter, 0, 1, 5, 2600})) cases.push_back(std::move(k));
  check_bits(cases);
}

TEST_CASE("render_cuda: narrow integers are taken from words and added in 32 bits", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {33, 512, 2048, 4095, 4096}) {
    for (const int vector : {1, 4, 8, 16})
      for (KernelCase& k : narrow_reductions({Schedule::ReduceInner, 1, vector, 3, n})) cases.push_back(std::move(k));
    for (const int vector : {1, 4, 8})
      for (KernelCase& k : narrow_reductions({Schedule::ReduceOuter, 0, vector, 24, n})) cases.push_back(std::move(k));
  }
  for (const int vector : {8, 16})
    for (KernelCase& k : narrow_reductions({Schedule::ReduceInner, 8, vector, 1, 70001})) cases.push_back(std::move(k));
  check_bits(cases);
}

TEST_CASE("render_cuda: a row of very many chunks is folded in passes", "[render_cuda]") {
  // 256 threads fold 16 states of four bytes each at once, or 4 large ones.
  check_bits({many_reductions({Schedule::ReduceInner, 8, 4, 1, 1030 * 1024 + 77}, Dtype::Float64)}, 8);
  check_bits({simple_reduction({Schedule::ReduceInner, 8, 4, 1, 4100 * 1024 + 5}, Op::Sum, Dtype::Float32)}, 8);
  // So are chunks of one tree block of few columns, whatever their number.
  std::vector<KernelCase> cases;
  struct Columns {
    std::int64_t count;
    int vector;
  };
  for (const Columns c : {Columns{2, 2}, {3, 3}, {5, 5}, {6, 3}, {7, 1}, {12, 4}, {13, 1}})
    for (const Op op : {Op::Sum, Op::Moments})
      cases.push_back(
          simple_reduction({Schedule::ReduceOuter, codegen::column_class(c.count), c.vector, c.count, 1100 * 128 + 77},
                           op, Dtype::Float32));
  for (const int vector : {3, 4})
    cases.push_back(simple_reduction({Schedule::ReduceOuter, 0, vector, 12, 1100 * 128 + 77}, Op::Sum, Dtype::Float32));
  check_bits(cases, 1);
}

TEST_CASE("render_cuda: elements of every dtype move with all their bits", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const Dtype dtype : kDtypes)
    for (const std::int64_t n : {1, 1000, 5003})
      for (const int vector : {1, static_cast<int>(16 / itemsize(dtype))}) cases.push_back(copies(n, dtype, vector));
  check_bits(cases);
}

TEST_CASE("render_cuda: guarded loads read their box and nothing else", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const bool wide : {false, true})
    for (const int vector : {1, 2, 4})
      for (const std::int64_t columns : {8, 100, 700}) cases.push_back(boxes(9, columns, vector, wide));
  check_bits(cases);
}

TEST_CASE("render_cuda: row kernels have the interpreter's bits", "[render_cuda]") {
  std::vector<KernelCase> cases;
  // Every kernel for a row in a thread, in a quarter of a warp, in a warp, in a thread block; two of them for all
  // classes.
  for (const std::int64_t n : {2, 31, 32})
    for (KernelCase& k : rows({300, n})) cases.push_back(std::move(k));
  for (const std::int64_t n : {33, 100, 127, 128, 257, 511, 512})
    for (KernelCase& k : rows({37, n})) cases.push_back(std::move(k));
  for (const std::int64_t n : {2049, 4000, 4096})
    for (KernelCase& k : rows({3, n})) cases.push_back(std::move(k));
  for (const std::int64_t n : {1, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 34, 63, 64, 65}) {
    cases.push_back(softmax({70, n}, Dtype::Float32));
    cases.push_back(everything({70, n}, Dtype::Float32));
  }
  for (const std::int64_t n : {129, 200, 255, 256, 513, 1000, 1024, 1025, 2048, 4097, 8191, 8192, 8193, 12289, 16384}) {
    cases.push_back(softmax({3, n}, Dtype::Float32));
    cases.push_back(everything({3, n}, Dtype::Float32));
  }
  for (const std::int64_t n : {4100, 8192, 8193, 9000, 13000, 16384})
    cases.push_back(everything({2, n}, Dtype::Float64));
  for (const std::int64_t n : {100, 333, 1001}) {
    cases.push_back(everything({5, n, 1}, Dtype::Float32));
    cases.push_back(everything({5, n, 4, true, 24}, Dtype::Float64));
    cases.push_back(strided_rows(3, 5, n));
  }
  cases.push_back(strided_rows(3, 5, 17));
  check_bits(cases);
}

TEST_CASE("render_cuda: clusters of thread blocks share long rows", "[render_cuda]") {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {16385, 40000})
    for (KernelCase& k : rows({2, n})) cases.push_back(std::move(k));
  for (const std::int64_t n : {16385, 20000, 24576, 32768, 32769, 65537, 100001, 131072})
    cases.push_back(softmax({1, n}, Dtype::Float32));
  cases.push_back(layer_norm({1, 100000}, Dtype::Float64));
  cases.push_back(everything({2, 33001, 1}, Dtype::Float32));
  cases.push_back(everything({2, 17000, 4, true, 24}, Dtype::Float64));
  check_bits(cases);
  const auto cluster = [](std::int64_t n) {
    return codegen::render_cuda(softmax({3, n}, Dtype::Float32).ir, target()).cluster;
  };
  CHECK(cluster(16384) == 1);
  CHECK(cluster(16385) == 5);
  CHECK(cluster(24576) == 3);
  CHECK(cluster(32768) == 2);
  CHECK(cluster(32769) == 3);
  CHECK(cluster(131072) == 8);
}

TEST_CASE("render_cuda: batches of kernels compile for every architecture without spills or local memory",
          "[render_cuda][sweep]") {
  TARRY_REQUIRE_NVRTC();
  const std::vector<KernelCase> cases = all_kernels();
  // Samples, by strides that differ: the text is the same for every architecture.
  const std::pair<const char*, std::size_t> archs[] = {{"sm_90", 5}, {"sm_80", 13}, {"sm_100", 11}, {"sm_75", 17}};
  for (const auto& [arch, stride] : archs) {
    std::map<std::string, KernelSource> sources;
    std::vector<std::size_t> sample;
    for (std::size_t i = 0; i < cases.size(); i += stride) sample.push_back(i);
    for (const std::size_t i : part_of_sweep(std::move(sample), 6)) {
      KernelSource source = codegen::render_cuda(cases[i].ir, target(arch));
      if (source.cluster > target(arch).max_cluster) continue;
      sources.emplace(source.entry, std::move(source));
    }
    std::vector<const KernelSource*> all;
    for (const auto& [entry, source] : sources) all.push_back(&source);
    std::vector<std::future<runtime::NvrtcImage>> images;
    for (std::size_t first = 0; first < all.size(); first += 8) {
      const std::span<const KernelSource* const> unit(all.data() + first, std::min<std::size_t>(8, all.size() - first));
      images.push_back(
          std::async(std::launch::async, [text = codegen::join_unit(unit, target(arch)), &t = target(arch)] {
            return runtime::nvrtc_compile(text, t, graph::Mode::Strict);
          }));
    }
    std::size_t kernels = 0;
    for (auto& pending : images) {
      for (const runtime::KernelResources& r : pending.get().resources) {
        ++kernels;
        INFO(arch << " " << r.entry << ": " << r.registers << " registers, " << r.shared_bytes << " bytes shared");
        CHECK(r.stack_bytes <= 32);  // what the slow path of a division saves
        CHECK(r.spill_store_bytes + r.spill_load_bytes == 0);
        CHECK(r.shared_bytes <= 48 * 1024);
      }
    }
    CHECK(kernels == all.size());
  }
}

TEST_CASE("render_cuda: text is a function of the kernel's structure", "[render_cuda]") {
  const std::vector<KernelCase> cases = all_kernels();
  std::map<std::string, std::string> entries;  // by text
  for (const KernelCase& k : cases) {
    const KernelSource a = codegen::render_cuda(k.ir, target()), b = codegen::render_cuda(k.ir, target("sm_80"));
    CHECK(a.text == b.text);
    // Before it touches memory a kernel waits for those before it.
    CHECK(a.waits);
    const std::size_t body = a.kernel.find("{\n", a.kernel.find("extern \"C\" __global__"));
    CHECK(a.kernel.substr(body + 2).starts_with("#if __CUDA_ARCH__ >= 900\n  asm volatile(\"griddepcontrol.wait;\""));
    CHECK(a.text.find('$') == std::string::npos);
    CHECK(a.text.find("TARRY_ENTRY") == std::string::npos);
    const auto [at, fresh] = entries.emplace(a.text, a.entry);
    CHECK(at->second == a.entry);
  }
  // Extents and scalars are arguments.
  CHECK(codegen::render_cuda(axpy(77, 4).ir, target()).text ==
        codegen::render_cuda(axpy(1 << 20, 4).ir, target()).text);
}

TEST_CASE("render_cuda: geometry covers the space and grows with the extents alone", "[render_cuda]") {
  auto of = [](Schedule schedule, int shape_class, std::int64_t outer, std::int64_t n) {
    KernelIr ir = simple_reduction({schedule, shape_class, 4, 4, 64}, Op::Sum, Dtype::Float32).ir;
    KernelArgs args;
    args.extents = {outer};
    args.reduced = n;
    return codegen::geometry_cuda(ir, target(), args);
  };
  for (std::int64_t n = 33; n < (std::int64_t{1} << 36); n = n * 3 + 1) {
    for (const std::int64_t outer : {1, 7, 100000}) {
      for (const Schedule schedule : {Schedule::ReduceInner, Schedule::ReduceOuter}) {
        const Geometry g = of(schedule, 8, outer, n);
        const std::int64_t blocks = (n + 127) / 128;
        CHECK(g.chunks * g.chunk_blocks >= blocks);
        CHECK((g.chunks - 1) * g.chunk_blocks < blocks);
        CHECK((g.chunk_blocks & (g.chunk_blocks - 1)) == 0);
        CHECK(g.scratch_bytes == (g.chunks > 1 ? static_cast<std::size_t>(8 * outer * g.chunks) : 0));
        CHECK(g.ticket_count == (g.chunks > 1 ? static_cast<std::size_t>(g.outer_tiles) : 0));
        if (schedule == Schedule::ReduceInner)
          CHECK((g.chunks <= 4096 || g.chunk_blocks == 2048));  // of 32 steps a warp
      }
    }
  }
  CHECK(of(Schedule::ReduceInner, 8, 1, std::int64_t{1} << 28).grid() == 2048);
  // Chunks of one row alone are of 256 KiB, as long as all states are folded at once.
  KernelIr one = simple_reduction({Schedule::ReduceInner, 8, 4, 1, 64}, Op::Sum, Dtype::Float32).ir;
  one.rank = 0;
  KernelArgs row;
  for (const int log : {20, 27, 28, 30}) {
    row.reduced = std::int64_t{1} << log;
    CHECK(codegen::geometry_cuda(one, target(), row).grid() == (log == 20 ? 128 : log == 27 ? 2048 : 4096));
  }
  CHECK(of(Schedule::ReduceInner, 8, 1, std::int64_t{1} << 20).grid() >= 128);
  // Long arrays of few columns have more chunks than short ones, and moments fewer than sums.
  auto columns = [](Op op, std::int64_t bytes) {
    const KernelCase k = simple_reduction({Schedule::ReduceOuter, 8, 1, 7, 4096}, op, Dtype::Float32);
    KernelArgs args = k.args;
    args.reduced = bytes / 28;
    return codegen::geometry_cuda(k.ir, target(), args).grid();
  };
  CHECK(columns(Op::Sum, std::int64_t{1} << 29) == 2341);
  CHECK(columns(Op::Moments, std::int64_t{1} << 29) == 1171);
  CHECK(columns(Op::Sum, std::int64_t{1} << 26) == 586);
  CHECK(columns(Op::Sum, std::int64_t{1} << 20) == 37);
}

TEST_CASE("render_cuda: golden texts", "[render_cuda]") {
  check_golden("render_cuda_axpy", axpy(1000, 4).ir);
  check_golden("render_cuda_sum_rows",
               simple_reduction({Schedule::ReduceInner, 8, 4, 1, 4096}, Op::Sum, Dtype::Float32).ir);
  check_golden("render_cuda_softmax_rows", softmax({64, 4096}, Dtype::Float32).ir);
  check_golden("render_cuda_variance_columns",
               simple_reduction({Schedule::ReduceOuter, 0, 4, 64, 4096}, Op::Moments, Dtype::Float32).ir);
}
