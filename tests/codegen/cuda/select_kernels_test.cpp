// Selection on the emulated GPU: what a whole sort has at the places that are read, with ties, NaNs and samples that
// mislead; and for every GPU without spills.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "codegen/cuda/routine.h"
#include "codegen/cuda/routine_kernels.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/cpu/routine.h"
#include "tests/helpers/devices.h"
#include "tests/kernels/cuda_emulation.h"
#include "tests/kernels/tile_kernels.h"

namespace tarry::test {
namespace {

using codegen::KernelSource, codegen::RankRange, codegen::RoutineSpec;
using graph::Op;
using Way = graph::RoutineAttributes::Way;
using Bytes = std::vector<unsigned char>;

constexpr Dtype kAll[] = {bool_,  int8,   int16,   int32,    int64,   uint8,  uint16,
                          uint32, uint64, float16, bfloat16, float32, float64};

/// Rows that differ in their order and their ties.
enum class Kind : std::uint8_t { Bits, Tied, Equal, Rising, Falling, Nans };
constexpr Kind kKinds[] = {Kind::Bits, Kind::Tied, Kind::Equal, Kind::Rising, Kind::Falling, Kind::Nans};

/// Any bits, which of floats are also zeros of both signs, infinities and NaNs of many payloads.
Bytes elements(Dtype dtype, std::int64_t count, Kind kind, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::size_t size = itemsize(dtype);
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * size);
  Bytes bytes(static_cast<std::size_t>(count) * size);
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t x = random();
    switch (kind) {
      case Kind::Bits: break;
      case Kind::Tied: x = (x % 5) << (8 * size - 3); break;
      case Kind::Equal: x = 3; break;
      case Kind::Rising: x = static_cast<std::uint64_t>(i); break;
      case Kind::Falling: x = static_cast<std::uint64_t>(count - i); break;
      case Kind::Nans:
        if (x % 4 != 0) x = (ones >> (x % 2)) ^ (x >> 60);
        break;
    }
    if (dtype == bool_) x &= 1;
    std::memcpy(&bytes[static_cast<std::size_t>(i) * size], &x, size);
  }
  return bytes;
}

std::vector<RankRange> ranks_read(const RoutineSpec& s) {
  return s.op == Op::Argsort ? std::vector<RankRange>{{0, s.m}} : s.ranks;
}

/// The kernels of several routines in one unit.
class Emulated {
 public:
  explicit Emulated(const std::vector<RoutineSpec>& specs) {
    for (const RoutineSpec& spec : specs)
      for (KernelSource& s : codegen::render_routine(spec, target("sm_90"))) sources_.try_emplace(s.text, std::move(s));
    std::vector<const KernelSource*> unit;
    for (const auto& [text, s] : sources_) unit.push_back(&s);
    kernels_.emplace(unit);
  }
  void run(const RoutineSpec& spec, std::span<void* const> operands) const {
    const std::vector<KernelSource> sources = codegen::render_routine(spec, target("sm_90"));
    std::vector<std::uint64_t> scratch(codegen::routine_scratch(spec, target("sm_90")) / 8 + 32, 0xeeeeeeeeeeeeeeee);
    const auto launches = codegen::routine_launches(spec, operands, scratch.data());
    CHECK(static_cast<std::int64_t>(launches.size()) == codegen::routine_launch_count(spec, sources.size()));
    for (const codegen::RoutineLaunch& l : launches) kernels_->run(sources[l.kernel], l.geometry.grid(), l.words);
  }

 private:
  std::map<std::string, KernelSource> sources_;
  std::optional<EmulatedKernels> kernels_;
};

/// The same bits as a whole sort's at the places that are read; the others stay as they are.
void check(const RoutineSpec& spec, Bytes x, const Emulated& emulated) {
  INFO(spec.str());
  REQUIRE(codegen::selects(spec));
  RoutineSpec whole = spec;
  whole.m = spec.n;
  whole.ranks.clear();
  const std::size_t size = spec.op == Op::Sort ? itemsize(spec.dtype) : 8,
                    row = static_cast<std::size_t>(spec.n) * size;
  Bytes sorted(static_cast<std::size_t>(spec.rows) * row), found(sorted.size(), 0xab), expected = found;
  Bytes scratch(codegen::routine_scratch(whole, target("x86-64-v3")));
  void* const on_host[] = {x.data(), sorted.data()};
  runtime::run_on_host(whole, on_host, scratch.data());
  for (std::int64_t r = 0; r < spec.rows; ++r)
    for (const RankRange& range : ranks_read(spec)) {
      const std::size_t from = static_cast<std::size_t>(r) * row + static_cast<std::size_t>(range.from) * size;
      std::copy_n(&sorted[from], static_cast<std::size_t>(range.to - range.from) * size, &expected[from]);
    }
  void* const on_gpu[] = {x.data(), found.data()};
  emulated.run(spec, on_gpu);
  if (spec.ranks.size() > 1)  // of a range what lies between may be there too
    for (std::size_t at = 0; at < found.size(); at += size)
      if (std::all_of(&expected[at], &expected[at] + size, [](unsigned char b) { return b == 0xab; }))
        std::copy_n(&expected[at], size, &found[at]);
  CHECK(found == expected);
}

RoutineSpec first_places(Dtype dtype, Way way, std::int64_t rows, std::int64_t n, std::int64_t m) {
  return {Op::Argsort, dtype, way, rows, n, m};
}
RoutineSpec at_ranks(Dtype dtype, Way way, std::int64_t rows, std::int64_t n, std::vector<RankRange> ranks) {
  return {Op::Sort, dtype, way, rows, n, n, std::move(ranks)};
}

/// Selections of all forms.
std::vector<RoutineSpec> selections(Dtype dtype, Way way, std::int64_t rows, std::int64_t n) {
  const std::int64_t few = std::min<std::int64_t>(n / 40, 400);
  return {first_places(dtype, way, rows, n, 1),
          first_places(dtype, way, rows, n, few),
          at_ranks(dtype, way, rows, n, {{n / 2 - 1, n / 2 + 1}, {n - 1, n}}),
          at_ranks(dtype, way, rows, n, {{n / 3, n / 3 + 1}}),
          at_ranks(dtype, way, rows, n,
                   {{0, 1}, {n / 4, n / 4 + 2}, {n / 2, n / 2 + 1}, {n / 2 + 2, n / 2 + 4}, {n - 1, n}}),
          at_ranks(dtype, way, rows, n, {{0, few}}),
          at_ranks(dtype, way, rows, n, {{n / 5, n / 5 + 9}, {n / 5 + 20, n / 5 + 30}}),
          at_ranks(dtype, way, rows, n, {{n - 20, n}})};
}

}  // namespace

TEST_CASE("select kernels: few elements of a sort on the emulated GPU are those of all", "[routine][sort][sweep]") {
  for (const Dtype dtype : part_of_sweep(std::vector(std::begin(kAll), std::end(kAll)), 4))
    for (const Way way : {Way::Usual, Way::Reversed}) {
      std::vector<RoutineSpec> specs;
      for (const auto& [rows, n] : {std::pair(3, 2049), {2, 20'000}, {1, 40'003}})
        for (RoutineSpec& s : selections(dtype, way, rows, n)) specs.push_back(std::move(s));
      const Emulated emulated(specs);
      for (const RoutineSpec& spec : specs)
        for (const Kind kind : kKinds) check(spec, elements(spec.dtype, spec.rows * spec.n, kind, 1), emulated);
    }
}

TEST_CASE("select kernels: a sample bounds the ranks of very long rows", "[routine][sort][sweep]") {
  constexpr std::int64_t n = (1 << 19) + 3;
  const std::vector<RoutineSpec> of_rows = {
      first_places(float32, Way::Usual, 60, 9000, 1), first_places(float32, Way::Reversed, 60, 9000, 200),
      at_ranks(float32, Way::Usual, 9, 60'000, {{30'000, 30'001}, {59'999, 60'000}})};
  const Emulated rows(of_rows);
  for (const RoutineSpec& spec : of_rows)
    for (const Kind kind : {Kind::Bits, Kind::Equal, Kind::Rising})
      check(spec, elements(float32, spec.rows * spec.n, kind, 3), rows);
  for (const Dtype dtype : part_of_sweep(std::vector{uint8, float16, float32, int32, float64, int64}, 3)) {
    std::vector<RoutineSpec> specs = selections(dtype, dtype == int32 ? Way::Reversed : Way::Usual, 1, n);
    specs.push_back(first_places(dtype, Way::Reversed, 2, n, 300));
    const Emulated emulated(specs);
    std::size_t next = 0;
    for (const RoutineSpec& spec : specs)
      for (int k = 0; k < 2; ++k)
        check(spec, elements(dtype, spec.rows * n, kKinds[next++ % std::size(kKinds)], 2), emulated);
  }
}

TEST_CASE("select kernels: a sample that misleads costs passes, not the result", "[routine][sort]") {
  constexpr std::int64_t n = 1 << 19, sample = n / 16;
  Bytes x(n * 4);
  const auto put = [&](std::int64_t place, std::uint32_t value) {
    std::memcpy(&x[static_cast<std::size_t>(place) * 4], &value, 4);
  };
  for (std::int64_t i = 0; i < n; ++i) put(i, static_cast<std::uint32_t>(i * 7919 % 500'000));
  for (std::int64_t k = 0; k < sample; ++k) {  // the places that the kernels look at
    const std::uint64_t chance = static_cast<std::uint32_t>(k) * 0x9e3779b1U;
    put(16 * k + static_cast<std::int64_t>(chance * 16 >> 32), 4'000'000'000U);
  }
  const std::vector<RoutineSpec> specs = {at_ranks(uint32, Way::Usual, 1, n, {{n / 2 - 1, n / 2 + 1}, {n - 1, n}}),
                                          first_places(uint32, Way::Usual, 1, n, 100),
                                          first_places(uint32, Way::Reversed, 1, n, 100)};
  const Emulated emulated(specs);
  for (const RoutineSpec& spec : specs) check(spec, x, emulated);
}

TEST_CASE("select kernels: all compile for every GPU without spills", "[routine][nvrtc][sweep]") {
  TARRY_REQUIRE_NVRTC();
  for (const char* arch : part_of_sweep(std::vector{"sm_75", "sm_80", "sm_90", "sm_100"}, 4)) {
    std::map<std::string, KernelSource> sources;
    for (const Dtype dtype : {bool_, int16, bfloat16, uint32, float32, int64, float64})
      for (const RoutineSpec& spec : selections(dtype, Way::Reversed, 3, dtype == bool_ ? 5000 : 1 << 27))
        if (spec.ranks.size() != 1 || spec.ranks[0].from > 0)
          for (KernelSource& s : codegen::render_routine(spec, target(arch)))
            sources.try_emplace(s.entry, std::move(s));
    check_without_spills(sources, arch);
  }
}

}  // namespace tarry::test
