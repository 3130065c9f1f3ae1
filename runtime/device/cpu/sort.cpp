// Sort and Argsort on the CPU. Rows whose elements have words: by vectors (runtime/device/cpu/word_sort.h), where the
// processor has them. Else long rows of narrow keys: byte by byte from the lowest, a pass for each byte in which they
// differ; of wide ones: split from the highest bits on (runtime/device/cpu/splitting_sort.h). Rows of few elements are
// sorted by insertion, many short ones in a network. Several rows are shared out among the threads; a long row alone is
// cut into parts, each with counts of its own, so that the passes keep the order of equal bytes.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "runtime/device/cpu/network.h"
#include "runtime/device/cpu/order_key.h"
#include "runtime/device/cpu/ranks.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/cpu/splitting_sort.h"
#include "runtime/device/cpu/word_sort.h"
#include "runtime/device/parallel.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

using codegen::kDigits, codegen::kSortParts;
using Counts = SortCounts;

constexpr std::int64_t kShortRow = 48;           // sorted by insertion
constexpr std::int64_t kShortestInVectors = 24;  // of fewer, a network of several rows is faster
constexpr std::int64_t kPartElements = 1 << 15;  // at least, of a row that several threads sort
constexpr std::uint64_t kTopOfWord = std::uint64_t{1} << 63;

/// A sort moves the bits of elements.
template <class Key, graph::RoutineAttributes::Way kWay>
struct Values {
  using Bits = typename Key::Bits;
  using Moved = Bits;
  using Result = Bits;
  static constexpr int kBytes = sizeof(Bits);
  static Bits key(Moved x) { return kWay == graph::RoutineAttributes::Way::Usual ? Key::rising(x) : Key::falling(x); }
  static Moved load(const Bits* x, std::int64_t i) { return x[i]; }
  static Result result(Moved x) { return x; }

  static constexpr bool kInNetwork = kBytes >= 4, kInVectors = kInNetwork;
  /// The key, whose highest bit is turned over so that it orders as a signed number.
  struct Words {
    using Word = std::make_signed_t<Bits>;
    Words(const Bits*, std::int64_t) {}
    static bool fits(Moved x) { return !Key::is_nan(key(x)); }
    static Word word(Moved x) { return static_cast<Word>(key(x) ^ Key::kTop); }
    static Result result(Word w) {
      const auto k = static_cast<Bits>(static_cast<Bits>(w) ^ Key::kTop);
      return kWay == graph::RoutineAttributes::Way::Usual ? Key::of_rising(k) : Key::of_falling(k);
    }
    static bool finish(const Bits*, Result*, std::int64_t) { return true; }
  };
};

/// Keys of up to 32 bits above places.
template <class Key, graph::RoutineAttributes::Way kWay>
struct PackedPlaces {
  using Bits = typename Key::Bits;
  using Moved = std::uint64_t;
  using Result = std::int64_t;
  static constexpr int kBytes = sizeof(Bits);
  static Bits key(Moved x) { return static_cast<Bits>(x >> 32); }
  static Moved load(const Bits* x, std::int64_t i) {
    return std::uint64_t{Values<Key, kWay>::key(x[i])} << 32 | static_cast<std::uint64_t>(i);
  }
  static Result result(Moved x) { return static_cast<std::int64_t>(x & 0xffffffff); }

  static constexpr bool kInNetwork = true, kInVectors = true;
  struct Words {
    using Word = std::int64_t;
    Words(const Bits*, std::int64_t) {}
    static bool fits(Moved) { return true; }
    static Word word(Moved x) { return static_cast<Word>(x ^ kTopOfWord); }
    static Result result(Word w) { return PackedPlaces::result(static_cast<Moved>(w)); }
    static bool finish(const Bits*, Result*, std::int64_t) { return true; }
  };
};

struct KeyAndPlace {
  std::uint64_t key;
  std::int64_t place;
};
template <class Key, graph::RoutineAttributes::Way kWay>
struct Places {
  using Bits = typename Key::Bits;
  using Moved = KeyAndPlace;
  using Result = std::int64_t;
  static constexpr int kBytes = sizeof(Bits);
  static Bits key(const Moved& x) { return static_cast<Bits>(x.key); }
  static Moved load(const Bits* x, std::int64_t i) { return {Values<Key, kWay>::key(x[i]), i}; }
  static Result result(const Moved& x) { return x.place; }

  static constexpr bool kInNetwork = true, kInVectors = false;
  /// The highest bits in which keys of a block differ, above the place; rows in which others decide are finished by
  /// insertion.
  class Words {
   public:
    using Word = std::int64_t;
    Words(const Bits* x, std::int64_t elements) {
      std::uint64_t greatest = 0;
      least_ = ~greatest;
      for (std::int64_t i = 0; i < elements; ++i) {
        const std::uint64_t k = Values<Key, kWay>::key(x[i]);
        least_ = std::min(least_, k);
        greatest = std::max(greatest, k);
      }
      dropped_ = std::max(0, static_cast<int>(std::bit_width(greatest - least_)) - (64 - kPlaceBits));
    }
    static bool fits(const Moved&) { return true; }
    [[nodiscard]] Word word(const Moved& x) const {
      const std::uint64_t bits = (x.key - least_) >> dropped_ << kPlaceBits | static_cast<std::uint64_t>(x.place);
      return static_cast<Word>(bits ^ kTopOfWord);
    }
    static Result result(Word w) { return w & ((1 << kPlaceBits) - 1); }
    /// Puts a row that is in the order of its words in that of its keys; false where that would take long.
    [[nodiscard]] bool finish(const Bits* x, Result* to, std::int64_t n) const {
      if (dropped_ == 0) return true;
      constexpr std::int64_t kMovesEach = 4;
      std::int64_t moves = kMovesEach * n;
      Bits before = Values<Key, kWay>::key(x[to[0]]);
      for (std::int64_t i = 1; i < n; ++i) {
        const Result place = to[i];
        const Bits k = Values<Key, kWay>::key(x[place]);
        if (k > before || (k == before && place > to[i - 1])) {
          before = k;
          continue;
        }
        std::int64_t at = i;
        for (; at > 0; --at) {
          const Bits other = Values<Key, kWay>::key(x[to[at - 1]]);
          if (other < k || (other == k && to[at - 1] < place)) break;
          to[at] = to[at - 1];
        }
        to[at] = place;
        if ((moves -= i - at) < 0) return false;
      }
      return true;
    }

   private:
    static constexpr int kPlaceBits = 11;
    static_assert(kLongestInNetwork <= 1 << kPlaceBits);
    std::uint64_t least_;
    int dropped_;
  };
};

/// One row, and what sorts it.
template <class Way>
class Row {
 public:
  using Bits = typename Way::Bits;
  using Moved = typename Way::Moved;
  using Result = typename Way::Result;
  static constexpr bool kSplits = Way::kBytes >= 4;  ///< of fewer bytes, a pass for each is less

  /// `halves`: where passes put what is not the result yet.
  Row(const Bits* x, Result* to, std::int64_t n, std::array<Moved*, 2> halves)
      : x_(x), to_(to), n_(n), halves_(halves) {}

  void insert() {
    Moved row[kShortRow];
    Bits keys[kShortRow];  // each is made once
    for (std::int64_t i = 0; i < n_; ++i) {
      const Moved element = Way::load(x_, i);
      const Bits key = Way::key(element);
      std::int64_t at = i;
      for (; at > 0 && key < keys[at - 1]; --at) {
        row[at] = row[at - 1];
        keys[at] = keys[at - 1];
      }
      row[at] = element;
      keys[at] = key;
    }
    for (std::int64_t i = 0; i < n_; ++i) to_[i] = Way::result(row[i]);
  }

  /// In this thread.
  void sort() {
    if constexpr (kSplits) return SplittingSort<Way>(x_, to_, n_, halves_).sort();
    Counts totals[Way::kBytes] = {};
    count_all(0, n_, totals);
    passes(totals, [&](int byte, const auto& load, const auto& store) {
      Counts& next = totals[byte];
      std::int64_t sum = 0;
      for (std::int64_t& c : next) sum += std::exchange(c, sum);
      for (std::int64_t i = 0; i < n_; ++i) {
        const Moved element = load(i);
        store(next[digit(element, byte)]++, element);
      }
    });
  }

  /// In this thread, where Way::kInVectors and has_vector_sort().
  void sort_in_vectors() {
    if constexpr (Way::kInVectors) WordSort<Way>(x_, to_, n_).sort();
  }

  /// In parts, whose counts are in `tables`.
  void sort_in_parts(Counts* tables, std::int64_t parts) {
    if constexpr (Way::kInVectors && Way::kBytes > 1)
      if (has_vector_sort()) return WordSort<Way>(x_, to_, n_).sort_in_parts(halves_[1], tables, parts);
    if constexpr (kSplits) return SplittingSort<Way>(x_, to_, n_, halves_).sort_in_parts(tables, parts);
    Counts* const totals = tables + kSortParts;
    std::memset(totals, 0, Way::kBytes * sizeof(Counts));
    const auto in_parts = [&](const auto& body) {
      parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
        for (std::int64_t part = lo; part < hi; ++part) body(part, n_ * part / parts, n_ * (part + 1) / parts);
      });
    };
    in_parts([&](std::int64_t, std::int64_t from, std::int64_t to) {
      Counts own[Way::kBytes] = {};
      count_all(from, to, own);
      for (int byte = 0; byte < Way::kBytes; ++byte)
        for (std::int64_t d = 0; d < kDigits; ++d)
          if (own[byte][d] != 0) std::atomic_ref(totals[byte][d]).fetch_add(own[byte][d], std::memory_order_relaxed);
    });
    passes(totals, [&](int byte, const auto& load, const auto& store) {
      in_parts([&](std::int64_t part, std::int64_t from, std::int64_t to) {
        Counts& counts = tables[part];
        std::memset(counts, 0, sizeof counts);
        for (std::int64_t i = from; i < to; ++i) ++counts[digit(load(i), byte)];
      });
      std::int64_t sum = 0;
      for (std::int64_t d = 0; d < kDigits; ++d)
        for (std::int64_t part = 0; part < parts; ++part) sum += std::exchange(tables[part][d], sum);
      in_parts([&](std::int64_t part, std::int64_t from, std::int64_t to) {
        Counts& next = tables[part];
        for (std::int64_t i = from; i < to; ++i) {
          const Moved element = load(i);
          store(next[digit(element, byte)]++, element);
        }
      });
    });
  }

 private:
  static std::size_t digit(const Moved& element, int byte) { return Way::key(element) >> (8 * byte) & 0xff; }

  void count_all(std::int64_t from, std::int64_t to, Counts* counts) const {
    for (std::int64_t i = from; i < to; ++i) {
      const Moved element = Way::load(x_, i);
      for (int byte = 0; byte < Way::kBytes; ++byte) ++counts[byte][digit(element, byte)];
    }
  }

  /// Calls `pass` for each byte in which keys differ: from x through the halves, in turn, to the result.
  template <class Pass>
  void passes(const Counts* totals, const Pass& pass) {
    int bytes[Way::kBytes], count = 0;
    for (int byte = 0; byte < Way::kBytes; ++byte)
      if (std::ranges::none_of(totals[byte], [this](std::int64_t c) { return c == n_; })) bytes[count++] = byte;
    const auto from_x = [this](std::int64_t i) { return Way::load(x_, i); };
    const auto to_result = [this](std::int64_t i, const Moved& element) { to_[i] = Way::result(element); };
    if (count == 0)
      for (std::int64_t i = 0; i < n_; ++i) to_result(i, from_x(i));
    for (int k = 0; k < count; ++k) {
      const Moved* const from = halves_[static_cast<std::size_t>((count - k) % 2)];
      Moved* const to = halves_[static_cast<std::size_t>((count - k - 1) % 2)];
      const auto from_half = [from](std::int64_t i) { return from[i]; };
      const auto to_half = [to](std::int64_t i, const Moved& element) { to[i] = element; };
      if (count == 1)
        pass(bytes[k], from_x, to_result);
      else if (k == 0)
        pass(bytes[k], from_x, to_half);
      else if (k + 1 < count)
        pass(bytes[k], from_half, to_half);
      else
        pass(bytes[k], from_half, to_result);
    }
  }

  const Bits* const x_;
  Result* const to_;
  const std::int64_t n_;
  const std::array<Moved*, 2> halves_;
};

/// kNetworkRows rows of n elements from x on, through as many words; false where they have to go one by one.
template <class Way>
bool sort_block(const typename Way::Bits* x, typename Way::Result* to, std::int64_t n,
                typename Way::Words::Word* memory) {
  constexpr std::int64_t kRows = kNetworkRows<typename Way::Words::Word>,
                         kTile = 16;  // elements of a row that are near
  const typename Way::Words words(x, kRows * n);
  bool fit = true;
  for (std::int64_t tile = 0; tile < n; tile += kTile)
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t i = tile; i < std::min(tile + kTile, n); ++i) {
        const auto element = Way::load(x + r * n, i);
        fit &= words.fits(element);
        memory[i * kRows + r] = words.word(element);
      }
  if (!fit) return false;
  sort_in_network(memory, n);
  for (std::int64_t tile = 0; tile < n; tile += kTile)
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t i = tile; i < std::min(tile + kTile, n); ++i)
        to[r * n + i] = words.result(memory[i * kRows + r]);
  for (std::int64_t r = 0; r < kRows; ++r)
    if (!words.finish(x + r * n, to + r * n, n)) return false;
  return true;
}

template <class Way>
void sort_rows(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  using Moved = typename Way::Moved;
  const auto* const x = static_cast<const typename Way::Bits*>(operands[0]);
  auto* const to = static_cast<typename Way::Result*>(operands[1]);
  auto* const tables = static_cast<Counts*>(scratch);
  auto* const memory = reinterpret_cast<Moved*>(static_cast<char*>(scratch) + codegen::kSortTables);
  const std::int64_t n = spec.n;
  const auto row = [&](std::int64_t r) {
    // The last pass reads what is not the result: where elements and results are alike, one half is the result itself.
    std::array<Moved*, 2> halves;
    if constexpr (sizeof(Moved) == sizeof(typename Way::Result))
      halves = {reinterpret_cast<Moved*>(to + r * n), memory + r * n};
    else
      halves = {memory + 2 * r * n, memory + (2 * r + 1) * n};
    return Row<Way>(x + r * n, to + r * n, n, halves);
  };
  const std::int64_t parts = std::min({n / kPartElements, 2 * std::int64_t{thread_count()}, kSortParts});
  if (spec.rows < thread_count() && parts > 1) {
    for (std::int64_t r = 0; r < spec.rows; ++r) row(r).sort_in_parts(tables, parts);
    return;
  }
  // The one pass over keys of a byte is faster for long rows.
  const bool in_vectors =
      Way::kInVectors && has_vector_sort() && n >= kShortestInVectors && (Way::kBytes > 1 || n <= kLongestInNetwork);
  const auto sort_each = [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t r = lo; r < hi; ++r) {
      if (in_vectors)
        row(r).sort_in_vectors();
      else if (n <= kShortRow)
        row(r).insert();
      else
        row(r).sort();
    }
  };
  if constexpr (Way::kInNetwork) {
    using Word = typename Way::Words::Word;
    constexpr std::int64_t kRows = kNetworkRows<Word>;
    if (!in_vectors && has_network() && n <= kLongestInNetwork && spec.rows >= kRows) {
      const std::int64_t blocks = spec.rows / kRows, block = kRows * n;
      parallel_for(blocks, std::max<std::int64_t>(1, kPartElements / block), [&](std::int64_t lo, std::int64_t hi) {
        auto* const words = reinterpret_cast<Word*>(memory + lo * block);
        for (std::int64_t b = lo; b < hi; ++b)
          if (!sort_block<Way>(x + b * block, to + b * block, n, words)) sort_each(b * kRows, (b + 1) * kRows);
      });
      return sort_each(blocks * kRows, spec.rows);
    }
  }
  parallel_for(spec.rows, std::max<std::int64_t>(1, kPartElements / n), sort_each);
}

}  // namespace

void sort_on_host(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (selects(spec)) return select_on_host(spec, operands, scratch);
  if (ranks_are_few(spec) && rank_on_host(spec, operands, scratch)) return;
  using Way = graph::RoutineAttributes::Way;
  with_key(spec.dtype, [&](auto key) {
    using Key = decltype(key);
    const auto sort = [&]<Way kWay>() {
      if (spec.op == graph::Op::Sort) return sort_rows<Values<Key, kWay>>(spec, operands, scratch);
      if constexpr (sizeof(typename Key::Bits) <= 4)
        if (codegen::packs(spec)) return sort_rows<PackedPlaces<Key, kWay>>(spec, operands, scratch);
      sort_rows<Places<Key, kWay>>(spec, operands, scratch);
    };
    if (spec.reversed())
      sort.template operator()<Way::Reversed>();
    else
      sort.template operator()<Way::Usual>();
  });
}

}  // namespace tarry::runtime
