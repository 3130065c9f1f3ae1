// Routines as CUDA C, on the emulated GPU: the bits that the CPU's code gives, at every length where something changes;
// and for every GPU without spills.
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codegen/cuda/routine.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/cpu/routine.h"
#include "tests/helpers/devices.h"
#include "tests/kernels/cuda_emulation.h"
#include "tests/kernels/tile_kernels.h"

namespace tarry::test {
namespace {

using codegen::RoutineSpec;
using graph::Op;
using Way = graph::RoutineAttributes::Way;
using Bytes = std::vector<unsigned char>;

/// Elements with ties, of floats also zeros of both signs, infinities and NaNs.
Bytes elements(Dtype dtype, std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::size_t size = itemsize(dtype);
  Bytes bytes(static_cast<std::size_t>(count) * size);
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    std::uint64_t x = random();
    if (x % 3 == 0) x &= ~std::uint64_t{0} << (8 * size - 3);  // few exponents: zeros and infinities of both signs
    if (x % 3 == 1 && dtype == bool_) x = 1;
    if (dtype == bool_) x &= 1;
    std::memcpy(&bytes[i], &x, size);
  }
  return bytes;
}

/// Matrices of floats around their diagonal, symmetric where a factor needs that; the last one has other elements.
Bytes matrices(const RoutineSpec& s) {
  std::mt19937_64 random(5);
  const std::int64_t each = s.n * s.n;
  std::vector<double> values(static_cast<std::size_t>(s.rows * each));
  for (double& x : values) x = std::ldexp(static_cast<double>(random() >> 40), -23) - 1;
  for (std::int64_t p = 0; p < s.rows; ++p) {
    double* const a = values.data() + p * each;
    for (std::int64_t r = 0; r < s.n; ++r) {
      if (p % 2 == 0) a[r * s.n + r] += static_cast<double>(s.n);
      for (std::int64_t c = 0; c < r && s.op != Op::Solve; ++c) a[c * s.n + r] = a[r * s.n + c];
    }
  }
  values.back() = std::numeric_limits<double>::infinity();
  Bytes bytes(values.size() * itemsize(s.dtype));
  const std::vector<float> narrow(values.begin(), values.end());
  std::memcpy(bytes.data(), s.dtype == float32 ? static_cast<const void*>(narrow.data()) : values.data(), bytes.size());
  return bytes;
}

std::size_t result_bytes(const RoutineSpec& s) {
  if (graph::is_matrices(s.op)) {
    const std::int64_t rows = s.op == Op::Eigh ? s.n + 1 : s.n, columns = s.op == Op::Pivots ? 1 : s.m;
    return static_cast<std::size_t>(s.rows * rows * columns) * itemsize(s.dtype);
  }
  const bool kept = s.op == Op::Sort || graph::is_segments(s.op);
  const std::int64_t count = graph::is_sort(s.op) ? s.rows * s.n : graph::is_segments(s.op) ? s.rows * s.m : s.m;
  return static_cast<std::size_t>(count) * (kept ? itemsize(s.dtype) : 8);
}

Bytes bytes_of(const std::vector<std::int64_t>& v) {
  Bytes bytes(v.size() * 8);
  std::memcpy(bytes.data(), v.data(), bytes.size());
  return bytes;
}

/// Numbers of runs, in a dtype that holds all of them; some are none, and half of them are one.
Bytes numbers(std::int64_t count, std::int64_t runs, Dtype dtype) {
  std::mt19937_64 random(3);
  const std::size_t size = itemsize(dtype);
  Bytes bytes(static_cast<std::size_t>(count) * size);
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    const auto drawn = static_cast<std::int64_t>(random() >> 1);
    const std::int64_t x = drawn % 2 == 0 ? runs / 3 : drawn % (runs + 2) - 1;
    std::memcpy(&bytes[i], &x, size);
  }
  return bytes;
}

/// The second operand, where there is one: what is searched for, numbers of runs, or offsets of runs, of which some are
/// empty.
Bytes second_operand(const RoutineSpec& s) {
  if (s.op == Op::Solve) return elements(s.dtype, s.rows * s.n * s.m, 2);
  if (s.op == Op::Searchsorted) return elements(s.dtype, s.m, 2);
  if (s.reversed()) return numbers(s.n, s.m, s.numbers);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(s.m + 1));
  for (std::int64_t g = 0; g <= s.m; ++g) offsets[static_cast<std::size_t>(g)] = g == s.m ? s.n : s.n * (g / 2) / s.m;
  return bytes_of(offsets);
}

/// Kernels of the same texts, once for all extents.
const EmulatedKernels& emulated(const std::vector<const codegen::KernelSource*>& sources) {
  static std::map<std::string, EmulatedKernels> made;
  std::string texts;
  for (const auto* s : sources) texts += s->text;
  return made.try_emplace(texts, sources).first->second;
}

void check(RoutineSpec spec) {
  if (graph::is_sort(spec.op)) spec.m = spec.n;  // every place is read
  INFO(spec.str());
  std::vector<Bytes> inputs{elements(spec.dtype, spec.rows * spec.n, 1)};
  if (graph::is_matrices(spec.op)) inputs[0] = matrices(spec);
  if (spec.op == Op::Bincount) inputs[0] = numbers(spec.n, spec.m, spec.dtype);
  if (spec.op == Op::Searchsorted) {
    RoutineSpec sort{Op::Sort, spec.dtype, Way::Usual, 1, spec.n};
    Bytes sorted = inputs[0], scratch(codegen::routine_scratch(sort, target("x86-64-v3")));
    void* const both[] = {inputs[0].data(), sorted.data()};
    runtime::run_on_host(sort, both, scratch.data());
    inputs[0] = sorted;
  }
  if (spec.op == Op::Searchsorted || spec.op == Op::Solve || graph::is_segments(spec.op))
    inputs.push_back(second_operand(spec));
  Bytes expected(result_bytes(spec), 0xcd), found(result_bytes(spec), 0xab);
  std::vector<void*> operands;
  for (Bytes& b : inputs) operands.push_back(b.data());
  operands.push_back(expected.data());
  constexpr std::size_t kAligned = 64;  // as the pool's memory is
  Bytes scratch(codegen::routine_scratch(spec, target("x86-64-v3")) + kAligned);
  void* aligned = scratch.data();
  std::size_t room = scratch.size();
  runtime::run_on_host(spec, operands, std::align(kAligned, 1, aligned, room));

  operands.back() = found.data();
  scratch.assign(codegen::routine_scratch(spec, target("sm_90")) + 256, 0xee);
  const std::vector<codegen::KernelSource> sources = codegen::render_routine(spec, target("sm_90"));
  std::vector<const codegen::KernelSource*> all;
  for (const auto& s : sources) all.push_back(&s);
  const EmulatedKernels& kernels = emulated(all);
  const auto launches = codegen::routine_launches(spec, operands, scratch.data());
  CHECK(static_cast<std::int64_t>(launches.size()) == codegen::routine_launch_count(spec, sources.size()));
  for (const codegen::RoutineLaunch& l : launches) kernels.run(sources[l.kernel], l.geometry.grid(), l.words);
  const bool computes = graph::is_segments(spec.op) || graph::is_matrices(spec.op);
  if (computes && spec.dtype == float32) {
    for (std::size_t i = 0; i < found.size(); i += 4) {
      float a = 0, b = 0;
      std::memcpy(&a, &expected[i], 4);
      std::memcpy(&b, &found[i], 4);
      CHECK(((a != a && b != b) || std::memcmp(&a, &b, 4) == 0));
    }
  } else if (computes && spec.dtype == float64) {
    for (std::size_t i = 0; i < found.size(); i += 8) {
      double a = 0, b = 0;
      std::memcpy(&a, &expected[i], 8);
      std::memcpy(&b, &found[i], 8);
      CHECK(((a != a && b != b) || std::memcmp(&a, &b, 8) == 0));
    }
  } else {
    CHECK(found == expected);
  }
}

constexpr Dtype kAll[] = {bool_,  int8,   int16,   int32,    int64,   uint8,  uint16,
                          uint32, uint64, float16, bfloat16, float32, float64};

constexpr Op kMatrices[] = {Op::Solve, Op::Inverse, Op::Pivots, Op::Cholesky, Op::Eigh};

/// One routine of each text, for each dtype.
std::vector<RoutineSpec> every_kernel() {
  std::vector<RoutineSpec> specs;
  for (const Dtype dtype : kAll) {
    for (const std::int64_t n : {std::int64_t{100}, std::int64_t{5000}, std::int64_t{1} << 33})
      for (const Op op : {Op::Sort, Op::Argsort}) specs.push_back({op, dtype, Way::Reversed, 3, n, n});
    specs.push_back({Op::Searchsorted, dtype, Way::Usual, 1, 100, 100});
  }
  for (const Dtype dtype : {uint16, float32, float64})  // rows of every width that a thread block sorts
    for (const std::int64_t n : {8, 32, 256, 2048, 4096, 8192})
      for (const Op op : {Op::Sort, Op::Argsort}) specs.push_back({op, dtype, Way::Usual, 1000, n, n});
  for (const Dtype dtype : {int64, uint64, float32, float64})
    for (const Op op : {Op::SegmentSum, Op::SegmentMin, Op::SegmentMax}) specs.push_back({op, dtype, {}, 2, 5000, 10});
  for (const Dtype dtype : {float32, float64}) specs.push_back({Op::SegmentM2, dtype, {}, 2, 5000, 10});
  for (const Dtype dtype : {int64, uint64, float32, float64})
    for (const Op op : {Op::SegmentSum, Op::SegmentProd, Op::SegmentMin, Op::SegmentMax, Op::SegmentM2})
      for (const std::int64_t n : {std::int64_t{1000}, std::int64_t{1} << 33})
        if (op != Op::SegmentM2 || is_floating(dtype)) specs.push_back({op, dtype, Way::Reversed, 1, n, 100});
  for (const Dtype dtype : {uint8, uint16, uint32, int64}) {
    for (const std::int64_t bins : {10, 100'000}) specs.push_back({Op::Bincount, dtype, {}, 1, 1000, bins});
    for (const Op op : {Op::SegmentSum, Op::SegmentMax})
      specs.push_back({op, float32, Way::Reversed, 1, 1000, 100, {}, dtype});
  }
  for (const Dtype dtype : {float32, float64})
    for (const Op op : kMatrices)
      for (const std::int64_t n : {4, 8, 16, 32, 33}) specs.push_back({op, dtype, {}, 10, n, n});
  return specs;
}

}  // namespace

TEST_CASE("routine kernels: sorts on the emulated GPU have the CPU's bits", "[routine][sort][sweep]") {
  std::vector<RoutineSpec> specs;
  for (const Dtype dtype : kAll)
    for (const Op op : {Op::Sort, Op::Argsort})
      for (const Way way : {Way::Usual, Way::Reversed}) {
        specs.push_back({op, dtype, way, 3, 37});
        specs.push_back({op, dtype, way, 2, 4097});
      }
  for (const RoutineSpec& spec : part_of_sweep(std::move(specs), 8)) check(spec);
  for (const std::int64_t n :
       {1, 2, 3, 7, 8, 9, 64, 65, 255, 256, 257, 512, 2047, 2048, 2049, 4096, 8192, 8193, 20'000})
    for (const Op op : {Op::Sort, Op::Argsort})
      for (const Dtype dtype : {float32, float64}) check({op, dtype, Way::Usual, 2, n});
  for (const std::int64_t n : {5, 60, 130})  // more rows than a thread block has, and a part of one
    for (const Op op : {Op::Sort, Op::Argsort})
      for (const Dtype dtype : {uint8, float32, int64}) check({op, dtype, Way::Reversed, 300, n});
}

TEST_CASE("routine kernels: searches on the emulated GPU have the CPU's bits", "[routine][sort]") {
  for (const Dtype dtype : kAll)
    for (const Way way : {Way::Usual, Way::Reversed}) check({Op::Searchsorted, dtype, way, 1, 1000, 700});
  check({Op::Searchsorted, float64, Way::Usual, 1, 1, 300});
}

TEST_CASE("routine kernels: counts on the emulated GPU are the CPU's", "[routine][group]") {
  for (const std::int64_t bins : {1, 7, 300, 8192, 8193, 70'000})
    for (const Dtype dtype : {graph::dtype_of_numbers(bins), int64}) check({Op::Bincount, dtype, {}, 1, 40'000, bins});
}

TEST_CASE("routine kernels: runs on the emulated GPU are folded as on the CPU", "[routine][group]") {
  for (const Dtype dtype : {int64, uint64, float32, float64})
    for (const Op op : {Op::SegmentSum, Op::SegmentMin, Op::SegmentMax, Op::SegmentM2}) {
      if (op == Op::SegmentM2 && !is_floating(dtype)) continue;
      for (const auto& [n, runs] : {std::pair(40, 3), {500, 9}, {5000, 4}, {4224, 1}, {129, 1}, {1, 1}})
        check({op, dtype, {}, 2, n, runs});
    }
}

TEST_CASE("routine kernels: a run of many chunks is folded as on the CPU", "[routine][group]") {
  for (const auto& [n, runs] : {std::pair(131'072, 1), {700'001, 1}, {300'000, 2}, {50'000, 9}})
    for (const Op op : {Op::SegmentSum, Op::SegmentM2}) check({op, float32, {}, 1, n, runs});
}

TEST_CASE("routine kernels: elements by the numbers of their runs are folded as on the CPU", "[routine][group]") {
  for (const Dtype dtype : {int64, uint64, float32, float64})
    for (const Op op : {Op::SegmentSum, Op::SegmentProd, Op::SegmentMin, Op::SegmentMax, Op::SegmentM2}) {
      if (op == Op::SegmentM2 && !is_floating(dtype)) continue;
      for (const auto& [n, runs] : {std::pair(40, 3), {9000, 5}, {20'000, 300}, {5000, 70'000}, {1, 1}})
        check({op, dtype, Way::Reversed, 2, n, runs});
    }
  for (const auto& [n, runs] : {std::pair(9000, 5), {20'000, 300}, {100'000, 70'000}})
    for (const Op op : {Op::SegmentSum, Op::SegmentMin, Op::SegmentM2})
      check({op, float32, Way::Reversed, 2, n, runs, {}, graph::dtype_of_numbers(runs)});
}

TEST_CASE("routine kernels: systems and factors of matrices on the emulated GPU have the CPU's bits",
          "[routine][factors]") {
  for (const Dtype dtype : {float32, float64})
    for (const Op op : kMatrices)
      for (const auto& [rows, n] : {std::pair(3, 1), {40, 2}, {9, 4}, {5, 5}, {3, 13}, {3, 32}, {2, 35}})
        check({op, dtype, {}, rows, n, n});
  for (const auto& [n, right] : {std::pair(3, 1), {3, 11}, {20, 70}, {33, 1}, {33, 40}})
    check({Op::Solve, float64, {}, 4, n, right});
}

TEST_CASE("routine kernels: all compile for every GPU without spills", "[routine][nvrtc][sweep]") {
  TARRY_REQUIRE_NVRTC();
  for (const char* arch : part_of_sweep(std::vector{"sm_75", "sm_80", "sm_90", "sm_100"}, 4)) {
    std::map<std::string, codegen::KernelSource> sources;
    for (const RoutineSpec& spec : part_of_sweep(every_kernel(), 3))
      for (codegen::KernelSource& s : codegen::render_routine(spec, target(arch)))
        sources.try_emplace(s.entry, std::move(s));
    check_without_spills(sources, arch);
  }
}

}  // namespace tarry::test
