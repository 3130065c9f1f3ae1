// A sample of a row bounds the key of each rank; one pass counts the keys up to the bounds and keeps those between them
// (Floyd and Rivest, "Expected time bounds for selection", 1975). Elements with the key of a bound are only counted, so
// that ties cost nothing.
#include "runtime/device/cpu/ranks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>

#include "runtime/device/cpu/order_key.h"
#include "runtime/device/parallel.h"

namespace tarry::runtime {
namespace {

using codegen::RankRange, codegen::RoutineSpec;
using graph::RoutineAttributes;

constexpr std::int64_t kShortest = 4096;           // elements of a row that is worth a sample
constexpr std::int64_t kRanksOneOf = 64;           // ranks of so many elements
constexpr std::int64_t kRanksOfAThread = 1 << 15;  // elements, at least

/// Ranks between two keys. What it counts is by key: of one part of a row, then of all.
template <class Bits>
struct Window {
  Bits low = 0, high = 0;
  std::span<const RankRange> ranks;
  std::int64_t below = 0, low_ties = 0, between = 0, high_ties = 0;
};

/// Those of a row, in order and apart from each other.
template <class Bits>
struct Windows {
  std::array<Window<Bits>, codegen::kMostRanks> all;
  std::size_t count = 0;
  Window<Bits>* begin() { return all.data(); }
  Window<Bits>* end() { return all.data() + count; }
  Window<Bits>& back() { return all[count - 1]; }
};

template <class Key, RoutineAttributes::Way kWay>
class RankedRow {
 public:
  using Bits = typename Key::Bits;

  /// `memory`: for n keys.
  RankedRow(const Bits* x, Bits* to, std::int64_t n, Bits* memory) : x_(x), to_(to), n_(n), memory_(memory) {}

  /// Takes no memory of its own: threads that share out rows may not throw.
  [[nodiscard]] bool run(std::span<const RankRange> ranks, std::int64_t parts) {
    find_windows(ranks);
    std::array<Windows<Bits>, codegen::kSortParts> counted;
    std::array<std::int64_t, codegen::kSortParts> kept{};
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (auto p = static_cast<std::size_t>(lo); p < static_cast<std::size_t>(hi); ++p) {
        counted[p] = windows_;
        kept[p] = count(start_of(p, parts), start_of(p + 1, parts), counted[p]);
      }
    });
    Bits* end = memory_;
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts); ++p) {
      end = std::copy_n(memory_ + start_of(p, parts), kept[p], end);
      for (std::size_t w = 0; w < windows_.count; ++w) {
        windows_.all[w].below += counted[p].all[w].below;
        windows_.all[w].low_ties += counted[p].all[w].low_ties;
        windows_.all[w].between += counted[p].all[w].between;
        windows_.all[w].high_ties += counted[p].all[w].high_ties;
      }
    }
    return write(end);
  }

 private:
  static Bits key_of(Bits x) { return kWay == RoutineAttributes::Way::Usual ? Key::rising(x) : Key::falling(x); }

  [[nodiscard]] std::int64_t start_of(std::size_t part, std::int64_t parts) const {
    return n_ * static_cast<std::int64_t>(part) / parts;
  }

  /// One window for all ranks whose bounds overlap.
  void find_windows(std::span<const RankRange> ranks) {
    const std::int64_t size = sample_size(n_);
    Bits* const sample = memory_;
    for (std::int64_t k = 0; k < size; ++k) sample[k] = key_of(x_[sample_place(k, n_)]);
    std::sort(sample, sample + size);
    // A rank's place in the sample, give or take more than four standard deviations.
    const auto bound = [&](std::int64_t rank, int side) -> Bits {
      const double share = static_cast<double>(rank) / static_cast<double>(n_), all = static_cast<double>(size);
      const double spare = 4 * std::sqrt(all * share * (1 - share)) + 8;
      const auto at = static_cast<std::int64_t>(std::floor(share * all + side * spare));
      if (at < 0) return 0;
      return at < size ? sample[at] : std::numeric_limits<Bits>::max();
    };
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Bits low = bound(ranks[i].from, -1), high = bound(ranks[i].to - 1, 1);
      if (windows_.count > 0 && low <= windows_.back().high) {
        Window<Bits>& last = windows_.back();
        last.high = std::max(last.high, high);
        last.ranks = {last.ranks.data(), last.ranks.size() + 1};
      } else {
        windows_.all[windows_.count++] = {low, high, ranks.subspan(i, 1)};
      }
    }
  }

  /// Elements from..to-1; returns how many keys are kept, from memory_[from] on.
  std::int64_t count(std::int64_t from, std::int64_t to, Windows<Bits>& windows) const {
    constexpr std::int64_t kChunk = 1024;
    Bits keys[kChunk], found[kChunk], *kept = memory_ + from;
    for (std::int64_t at = from; at < to; at += kChunk) {
      const std::int64_t n = std::min(kChunk, to - at);
      for (std::int64_t i = 0; i < n; ++i) keys[i] = key_of(x_[at + i]);
      for (Window<Bits>& w : windows) {
        // Unsigned differences: a key at or below `low` has a large one.
        const Bits first = static_cast<Bits>(w.low + 1), room = static_cast<Bits>(w.high > w.low ? w.high - first : 0);
        std::int64_t below = 0, to_low = 0, to_high = 0, between = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          below += keys[i] < w.low;
          to_low += keys[i] <= w.low;
          to_high += keys[i] <= w.high;
          found[between] = keys[i];
          between += static_cast<Bits>(keys[i] - first) < room;
        }
        kept = std::copy_n(found, between, kept);
        w.below += below;
        w.low_ties += to_low - below;
        w.between += between;
        w.high_ties += to_high - to_low - between;
      }
    }
    return kept - (memory_ + from);
  }

  /// `end`: of the keys that are kept.
  [[nodiscard]] bool write(Bits* end) {
    Bits *first = memory_, *ordered = memory_;  // keys of a window; keys before it are at their places
    for (const Window<Bits>& w : windows_) {
      for (const RankRange& r : w.ranks) {
        const std::int64_t after = w.below + w.low_ties + w.between + w.high_ties;
        if (r.from < w.below || r.to > after) return false;
        const std::int64_t low_end = w.below + w.low_ties, high_from = low_end + w.between;
        Bits* const from = first + (std::clamp(r.from, low_end, high_from) - low_end);
        Bits* const to = first + (std::clamp(r.to, low_end, high_from) - low_end);
        if (from < to) {
          std::nth_element(ordered, from, end);
          if (to - from > 1) std::partial_sort(from, to, end);
          ordered = to;
        }
        const auto key = [&](std::int64_t rank) {
          return rank < low_end ? w.low : rank < high_from ? first[rank - low_end] : w.high;
        };
        std::int64_t rank = r.from;
        for (; rank < r.to && !Key::is_nan(key(rank)); ++rank)
          to_[rank] = kWay == RoutineAttributes::Way::Usual ? Key::of_rising(key(rank)) : Key::of_falling(key(rank));
        put_nans(rank, r.to);
      }
      first += w.between;
    }
    return true;
  }

  /// At ranks from..to-1: NaNs, which share a key, stand last and in the order that they have in the row.
  void put_nans(std::int64_t from, std::int64_t to) {
    const Bits* at = x_ + n_;
    for (std::int64_t rank = n_; from < to && rank > from;) {
      if (!Key::is_nan(key_of(*--at))) continue;
      if (--rank < to) to_[rank] = *at;
    }
  }

  const Bits* const x_;
  Bits* const to_;
  const std::int64_t n_;
  Bits* const memory_;
  Windows<Bits> windows_;
};

template <class Key, RoutineAttributes::Way kWay>
bool rank_rows(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  using Bits = typename Key::Bits;
  const std::int64_t n = spec.n;
  const auto row = [&](std::int64_t r) {
    return RankedRow<Key, kWay>(static_cast<const Bits*>(operands[0]) + r * n, static_cast<Bits*>(operands[1]) + r * n,
                                n, reinterpret_cast<Bits*>(static_cast<char*>(scratch) + codegen::kSortTables) + r * n);
  };
  const std::int64_t parts = std::min({n / kRanksOfAThread, std::int64_t{thread_count()}, codegen::kSortParts});
  std::atomic<bool> found{true};
  if (spec.rows < thread_count() && parts > 1) {
    for (std::int64_t r = 0; r < spec.rows; ++r)
      if (!row(r).run(spec.ranks, parts)) return false;
    return true;
  }
  parallel_for(spec.rows, std::max<std::int64_t>(1, kRanksOfAThread / n), [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t r = lo; r < hi && found; ++r)
      if (!row(r).run(spec.ranks, 1)) found = false;
  });
  return found;
}

}  // namespace

std::int64_t sample_size(std::int64_t n) {
  constexpr std::int64_t kMost = 8192;
  return std::min(n / 8, kMost);
}

std::int64_t sample_place(std::int64_t k, std::int64_t n) {
  const std::int64_t size = sample_size(n), part = n / size;
  // The fractional parts of multiples of the golden ratio are spread evenly over each run of parts.
  const std::uint64_t chance = static_cast<std::uint64_t>(k + 1) * 0x9e3779b97f4a7c15U;
  return n * k / size + static_cast<std::int64_t>((chance >> 32) * static_cast<std::uint64_t>(part) >> 32);
}

bool ranks_are_few(const RoutineSpec& spec) {
  if (spec.op != graph::Op::Sort || spec.n < kShortest || spec.ranks.empty()) return false;
  std::int64_t ranks = 0;
  for (const RankRange& r : spec.ranks) ranks += r.to - r.from;
  return ranks <= spec.n / kRanksOneOf;
}

bool rank_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  bool found = true;
  with_key(spec.dtype, [&](auto key) {
    using Key = decltype(key);
    found = spec.reversed() ? rank_rows<Key, RoutineAttributes::Way::Reversed>(spec, operands, scratch)
                            : rank_rows<Key, RoutineAttributes::Way::Usual>(spec, operands, scratch);
  });
  return found;
}

}  // namespace tarry::runtime
