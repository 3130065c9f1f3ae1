// Targets on a GPU: the few elements of a sort of long rows that are read, without the sort. Passes over a row count
// digits of keys and narrow down where each rank is, from the highest digit (radix selection). Of a long row a
// sample bounds the ranks first (Floyd and Rivest, "Expected time bounds for selection", 1975): one pass keeps what is
// within the bounds, and the others read that alone. Everything is decided on the GPU, by counts of integers: which
// thread counts first shows in no result, as keys and places together are all different.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/cuda/select_text.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kShortestRow = 2049;  // elements of a row; one thread block sorts shorter ones
constexpr std::int64_t kMostElements = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMostTargets = 8;
constexpr std::int64_t kMostWanted = 1 << 14;  // elements that are put in order, each compared with all
constexpr std::int64_t kSampled = 1 << 19;     // elements of all rows that are worth samples
constexpr std::int64_t kLeastSample = 512, kMostSample = 1 << 17;
constexpr std::int64_t kSampleOfAPart = 1024;
constexpr std::size_t kMostWindows = 4;
constexpr std::int64_t kMostParts = 2048;  // of all rows: enough for any GPU

/// The elements that are found of each row: one for each of a few ranks, or all of one range in order.
struct Targets {
  std::vector<std::int64_t> ranks;  ///< targets: each rank, or the first of the range, if it is not 0, and the last
  std::vector<RankRange> windows;   ///< ranges of ranks between two bounds each
  std::vector<std::int64_t> window_of;
  std::optional<RankRange> range;
};

Targets by_ranks(std::span<const RankRange> ranges) {
  Targets s;
  for (const RankRange& r : ranges) {
    for (std::int64_t rank = r.from; rank < r.to; ++rank) {
      s.ranks.push_back(rank);
      s.window_of.push_back(static_cast<std::int64_t>(s.windows.size()));
    }
    s.windows.push_back(r);
  }
  return s;
}

std::optional<Targets> by_range(const RoutineSpec& spec, RankRange range) {
  const std::int64_t wanted = range.to - range.from;
  if (wanted > std::min(spec.n / 16, kMostWanted) || wanted * wanted > 64 * spec.n) return std::nullopt;
  Targets s;
  if (range.from > 0) s.ranks.push_back(range.from);
  s.ranks.push_back(range.to - 1);
  s.window_of.assign(s.ranks.size(), 0);
  s.windows = {range};
  s.range = range;
  return s;
}

std::optional<Targets> targets_of(const RoutineSpec& spec) {
  if (spec.n < kShortestRow || spec.n > kMostElements) return std::nullopt;
  if (spec.op == graph::Op::Argsort) return by_range(spec, {0, spec.m});
  if (spec.ranks.empty()) return std::nullopt;
  std::int64_t ranks = 0;
  for (const RankRange& r : spec.ranks) ranks += r.to - r.from;
  const bool is_range = spec.ranks.size() == 1 && ranks > 2;
  if (!is_range && ranks <= kMostTargets) return by_ranks(spec.ranks);
  return by_range(spec, {spec.ranks.front().from, spec.ranks.back().to});
}

/// Bits of the digits that passes for so many targets count: their tables fit in 32 KiB.
int digit_bits(std::size_t targets) { return targets <= 4 ? 11 : 10; }
std::int64_t passes_of(int bits, std::size_t targets) { return (bits + digit_bits(targets) - 1) / digit_bits(targets); }

enum Kernel : std::uint8_t { kBegin, kNarrowSample, kFilter, kNarrow, kFinish, kOrder };
/// A kernel that a selection needs, and its launches one after the other.
struct Launches {
  Kernel kernel;
  std::int64_t times;
};

/// Extents of a selection, and where everything lies in its memory.
struct SelectedRows : Targets {
  SelectedRows(const RoutineSpec& s, Targets selected)
      : Targets(std::move(selected)),
        spec(s),
        items(itemsize(s.dtype) == 8 ? 8 : 16),
        tile(kRoutineThreads * items),
        tiles((s.n + tile - 1) / tile),
        parts(std::clamp<std::int64_t>(kMostParts / s.rows, 1, std::max<std::int64_t>(tiles / 2, 1))),
        wanted(range ? range->to - range->from : 0) {
    if (s.rows * s.n >= kSampled && windows.size() <= kMostWindows) take_sample();
    sample_parts = std::clamp<std::int64_t>(sample / kSampleOfAPart, 1, parts);
    room = sample == 0 ? 0 : std::max((tiles + parts - 1) / parts * tile / 8, tile);
    bounds = sample == 0 ? 0 : 2 * windows.size();
    table = std::max(ranks.size() << digit_bits(ranks.size()), bounds << digit_bits(bounds));
    const auto rows = static_cast<std::size_t>(s.rows), size = itemsize(s.dtype);
    const std::size_t jobs = rows * static_cast<std::size_t>(parts), kept = jobs * static_cast<std::size_t>(room);
    const std::size_t found = rows * static_cast<std::size_t>(wanted);
    constexpr std::size_t kTarget = 32, kRow = 16, kPlace = 4;
    const std::size_t sizes[] = {rows * ranks.size() * kTarget,
                                 rows * bounds * kTarget,
                                 rows * kRow,
                                 rows * bounds * kPlace,
                                 parts == 1 ? 0 : rows * table * kPlace,
                                 jobs * kPlace,
                                 kept * size,
                                 kept * kPlace,
                                 found * size,
                                 found * kPlace};
    static_assert(std::size(sizes) == std::tuple_size_v<decltype(at)>);
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i] = bytes;
      bytes += (sizes[i] + 255) / 256 * 256;
    }
  }

  [[nodiscard]] bool asks_for_places() const { return range.has_value(); }
  [[nodiscard]] std::int64_t passes() const {
    if (parts == 1) return 1;
    const bool places = asks_for_places() || is_floating(spec.dtype);
    return passes_of(static_cast<int>(8 * itemsize(spec.dtype)), ranks.size()) +
           (places ? passes_of(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(spec.n - 1))), ranks.size())
                   : 0);
  }
  [[nodiscard]] std::int64_t sample_passes() const {
    return sample_parts == 1 ? 1 : passes_of(static_cast<int>(8 * itemsize(spec.dtype)), bounds);
  }
  /// The rank in the sample that is safely below or above `rank` in the row: more than four standard deviations. -1
  /// where there is none.
  [[nodiscard]] std::int64_t bound(std::int64_t rank, int side) const {
    const double share = static_cast<double>(rank) / static_cast<double>(spec.n), all = static_cast<double>(sample);
    const double spare = 4 * std::sqrt(all * share * (1 - share)) + 8;
    const auto in_sample = static_cast<std::int64_t>(std::floor(share * all + side * spare));
    return in_sample < sample ? std::max<std::int64_t>(in_sample, -1) : -1;
  }
  [[nodiscard]] std::vector<Launches> launched() const {
    std::vector<Launches> all{{kBegin, 1}};
    if (sample != 0) {
      all.push_back({kNarrowSample, sample_passes()});
      all.push_back({kFilter, 1});
    }
    all.push_back({kNarrow, passes()});
    all.push_back({kFinish, 1});
    if (range) all.push_back({kOrder, 1});
    return all;
  }

  /// None where rows are so short that it would leave too much between its bounds.
  void take_sample() {
    sample = std::min(spec.n / 16, kMostSample);
    std::int64_t kept = 0;
    for (const RankRange& w : windows) {
      const std::int64_t high = bound(w.to - 1, 1);
      kept += (high < 0 ? sample : high) - std::max<std::int64_t>(bound(w.from, -1), 0);
    }
    if (sample < kLeastSample || kept > sample / 12) sample = 0;
  }

  const RoutineSpec& spec;
  std::int64_t items, tile, tiles, parts, wanted, sample = 0, sample_parts = 1, room = 0;
  std::size_t bounds = 0, table = 0, bytes = 0;
  std::array<std::size_t, 10> at{};
};

std::optional<SelectedRows> layout_of(const RoutineSpec& spec) {
  std::optional<Targets> selected = targets_of(spec);
  if (!selected) return std::nullopt;
  return SelectedRows(spec, std::move(*selected));
}

/// The element that has the key k of a rising sort.
std::string element_of(const RoutineSpec& spec) {
  const std::string bits = bits_type(spec.dtype);
  const std::string top = fmt::format("(({})1 << {})", bits, 8 * itemsize(spec.dtype) - 1);
  if (is_floating(spec.dtype)) return fmt::format("({0})(k & {1} ? k ^ {1} : ~k)", bits, top);
  return info(spec.dtype).kind == DtypeKind::Int ? fmt::format("({})(k ^ {})", bits, top) : "k";
}

KernelSource kernel(const SelectedRows& l, Kernel number) {
  const RoutineSpec& spec = l.spec;
  const std::string bits = bits_type(spec.dtype);
  const bool in_sample = number == kNarrowSample;
  const std::size_t targets = l.ranks.size(), count = in_sample ? l.bounds : targets;
  const char* const placed = l.asks_for_places()       ? "true"
                             : is_floating(spec.dtype) ? "key == ($BITS)~($BITS)0"
                                                       : "false";
  const char* const kind = in_sample ? "1 + t % 2" : !l.range ? "0" : targets == 1 ? "2" : "1 + t";
  const bool gives_places = spec.op == graph::Op::Argsort;
  const TextPart parts[] = {{"$READ", std::string(in_sample ? kSelectReadSample : kSelectRead)},
                            {"$PLACED", placed},
                            {"$KIND", kind},
                            {"$KEY", key_function(spec, Zeros::Apart)},
                            {"$RESULT", gives_places ? "tarry_i64" : bits},
                            {"$TAKE", gives_places ? "(tarry_i64)place" : "p.x[row * p.n + place]"},
                            {"$WHOLE", l.sample == 0 ? "1" : "0"},
                            {"$UPWARD", spec.reversed() ? "($BITS)~key" : "key"},
                            {"$ELEMENT", element_of(spec)},
                            {"$SETTLED", in_sample ? "$N_settled_bound" : "$N_settled"},
                            {"$STATES", in_sample ? "p.bounds" : "p.targets"},
                            {"$PARTS", in_sample ? "p.sample_parts" : "p.parts"},
                            {"$COUNT", std::to_string(count)},
                            {"$TARGETS", std::to_string(targets)},
                            {"$BOUNDS", std::to_string(l.bounds)},
                            {"$WINDOWS", std::to_string(l.windows.size())},
                            {"$TABLE", std::to_string(l.table)},
                            {"$DIGIT", std::to_string(digit_bits(count))},
                            {"$TILE", std::to_string(l.tile)},
                            {"$ITEMS", std::to_string(l.items)},
                            {"$BITS", bits}};
  const auto made = [&](std::string_view word, std::string_view body) {
    return routine_kernel(word, std::string(kSelectShared) + std::string(body), parts, {}, kRoutineThreads);
  };
  switch (number) {
    case kBegin: return made("select_begin", kSelectBegin);
    case kNarrow: return made("select_narrow", kSelectNarrow);
    case kFinish: return l.range ? made("select_gather", kSelectGather) : made("select_write", kSelectWrite);
    case kOrder: return made("select_order", kSelectOrder);
    case kNarrowSample: return made("select_narrow_sample", kSelectNarrow);
    case kFilter: break;
  }
  return made("select_filter", kSelectFilter);
}

/// Thread blocks of a launch.
std::int64_t blocks_of(const SelectedRows& l, Kernel number) {
  const std::int64_t rows = l.spec.rows;
  switch (number) {
    case kBegin: return rows;
    case kNarrow:
    case kFilter: return rows * l.parts;
    case kNarrowSample: return rows * l.sample_parts;
    case kOrder: return (rows * l.wanted * 32 + kRoutineThreads - 1) / kRoutineThreads;
    case kFinish: break;
  }
  if (l.range) return rows * l.parts;
  return (rows * static_cast<std::int64_t>(l.ranks.size()) + kRoutineThreads - 1) / kRoutineThreads;
}

/// The parameters of all kernels.
std::vector<std::uint64_t> words_of(const SelectedRows& l, std::span<void* const> operands, const void* scratch) {
  std::vector<std::uint64_t> words{word_of(operands[0]), word_of(operands[1])};
  for (const std::size_t offset : l.at) words.push_back(word_of(static_cast<const char*>(scratch) + offset));
  for (const std::int64_t extent :
       {l.spec.rows, l.spec.n, l.parts, l.room, l.sample, l.sample == 0 ? 0 : l.spec.n / l.sample, l.sample_parts,
        l.range ? l.range->from : 0, l.wanted})
    words.push_back(word_of(extent));
  std::array<std::int64_t, 2 * kMostWindows> bounds{};
  for (std::size_t w = 0; 2 * w < l.bounds; ++w) {
    bounds[2 * w] = l.bound(l.windows[w].from, -1);
    bounds[2 * w + 1] = l.bound(l.windows[w].to - 1, 1);
  }
  const auto append = [&](std::span<const std::int64_t> values) {
    for (std::size_t i = 0; i < kMostTargets; ++i) words.push_back(i < values.size() ? word_of(values[i]) : 0);
  };
  append(l.ranks);
  append(bounds);
  append(l.window_of);
  return words;
}

}  // namespace

bool selects(const RoutineSpec& spec) { return targets_of(spec).has_value(); }

std::size_t select_scratch(const RoutineSpec& spec) { return layout_of(spec).value().bytes; }

std::vector<KernelSource> select_kernels(const RoutineSpec& spec) {
  const SelectedRows l = layout_of(spec).value();
  std::vector<KernelSource> kernels;
  for (const Launches& needed : l.launched()) kernels.push_back(kernel(l, needed.kernel));
  return kernels;
}

std::int64_t select_launch_count(const RoutineSpec& spec) {
  std::int64_t count = 0;
  for (const Launches& needed : layout_of(spec).value().launched()) count += needed.times;
  return count;
}

std::vector<RoutineLaunch> select_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  TARRY_ASSERT(operands.size() == 2);
  const SelectedRows l = layout_of(spec).value();
  const std::vector<std::uint64_t> words = words_of(l, operands, scratch);
  std::vector<RoutineLaunch> launches;
  std::uint32_t number = 0;
  for (const Launches& needed : l.launched()) {
    Geometry g;
    g.outer_tiles = striding_grid(blocks_of(l, needed.kernel));
    launches.insert(launches.end(), static_cast<std::size_t>(needed.times), {number, words, g});
    ++number;
  }
  return launches;
}

}  // namespace tarry::codegen
