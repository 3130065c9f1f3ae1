// One long row in order: split into buckets by a sample until a part fits into a cache, then passes from lower bits to
// higher ones over as many bits as elements of a part hardly ever share; insertion does the rest.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "codegen/cuda/routine.h"
#include "runtime/device/parallel.h"

namespace tarry::runtime {

using SortCounts = std::int64_t[codegen::kDigits];

/// `Way` says what is moved, and by which key (runtime/device/cpu/sort.cpp).
template <class Way>
class SplittingSort {
 public:
  using Bits = typename Way::Bits;
  using Moved = typename Way::Moved;
  using Result = typename Way::Result;

  /// `halves`: room for n elements each; the first one is `to` itself where elements and results are alike.
  SplittingSort(const Bits* x, Result* to, std::int64_t n, std::array<Moved*, 2> halves)
      : x_(x), to_(to), n_(n), halves_(halves) {}

  /// In this thread.
  void sort() {
    const Part whole{0, n_, kLoaded};
    if (n_ > kNear) return split_and_order(whole, from_x());
    for (std::int64_t i = 0; i < n_; ++i) at(whole)[i] = Way::load(x_, i);
    order(whole);
  }

  /// In several threads; what is split by all of them is so in `parts` pieces, whose counts are in `tables`.
  void sort_in_parts(SortCounts* tables, std::int64_t parts) {
    split_and_order_in_parts({0, n_, kLoaded}, from_x(), tables, parts);
  }

 private:
  static constexpr int kDigitBits = 8, kLoaded = 1;
  static constexpr std::int64_t kInserted = 32;                                       // elements at most
  static constexpr std::int64_t kNear = (1 << 19) / static_cast<int>(sizeof(Moved));  // that a cache of a core holds
  static constexpr int kMostSplits = 12;  // of an element, before passes over all bits: keys may hide from each sample
  static constexpr std::int64_t kMovesEach = 4;  // of insertion, before passes over all bits take less

  /// Elements from `begin` on of a half, which belong there in some order.
  struct Part {
    std::int64_t begin, n;
    int half;
    int splits = 0;  ///< behind it
  };

  Moved* at(const Part& p) const { return halves_[static_cast<std::size_t>(p.half)] + p.begin; }
  Moved* beside(const Part& p) const { return halves_[static_cast<std::size_t>(1 - p.half)] + p.begin; }
  auto from_x() const {
    return [x = x_](std::int64_t i) { return Way::load(x, i); };
  }
  auto from_half(const Part& p) const {
    return [x = at(p)](std::int64_t i) { return x[i]; };
  }
  static int bits_of(Bits x) { return static_cast<int>(std::bit_width(x)); }
  static std::size_t digit(const Moved& x, int shift) { return static_cast<std::size_t>(Way::key(x) >> shift) & 0xff; }

  template <class Body>
  static void in_parts(std::int64_t n, std::int64_t parts, const Body& body) {
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t p = lo; p < hi; ++p) body(p, n * p / parts, n * (p + 1) / parts);
    });
  }

  /// Buckets of keys, in order and each about as likely, by a sample: windows of equal width between its least and its
  /// greatest key, neighbours of which share a bucket.
  class Buckets {
   public:
    template <class Load>
    Buckets(std::int64_t n, const Load& load) {
      Bits keys[kSample], greatest = 0;
      low_ = static_cast<Bits>(~greatest);
      for (std::int64_t i = 0; i < kSample; ++i) {
        keys[i] = Way::key(load(i * n / kSample));
        low_ = std::min(low_, keys[i]);
        greatest = std::max(greatest, keys[i]);
      }
      shift_ = std::max(0, bits_of(static_cast<Bits>(greatest - low_)) - kWindowBits);
      std::int32_t counts[kWindows + 2] = {};
      for (const Bits key : keys) ++counts[window(key)];
      int bucket = 0;
      std::int64_t inside = 0;
      of_[0] = 0;
      for (std::int64_t w = 1; w < kWindows + 2; ++w) {
        const bool is_full = inside >= kTarget || counts[w] >= kTarget || low_ == greatest;
        if (is_full && bucket + 1 < codegen::kDigits) ++bucket, inside = 0;
        of_[w] = static_cast<std::uint8_t>(bucket);
        inside += counts[w];
      }
    }
    [[nodiscard]] std::size_t of(const Moved& x) const { return of_[window(Way::key(x))]; }

   private:
    static constexpr int kWindowBits = 12;
    static constexpr std::int64_t kSample = 2048, kWindows = 1 << kWindowBits, kTarget = kSample / 200;
    /// Below all of the sample, its windows, above.
    [[nodiscard]] std::size_t window(Bits key) const {
      const auto w = static_cast<std::size_t>(static_cast<Bits>(key - low_) >> shift_) + 1;
      return key < low_ ? 0 : std::min<std::size_t>(w, kWindows + 1);
    }
    Bits low_;
    int shift_;
    std::uint8_t of_[kWindows + 2];
  };

  static int differing_bits(const Moved* x, std::int64_t n) {
    const Bits first = Way::key(x[0]);
    Bits differ = 0;
    for (std::int64_t i = 1; i < n; ++i) differ |= static_cast<Bits>(Way::key(x[i]) ^ first);
    return bits_of(differ);
  }

  /// A part whose elements are in order, to the result.
  void emit(const Part& p) const {
    const Moved* const x = at(p);
    if constexpr (std::is_same_v<Moved, Result>)
      if (static_cast<const void*>(x) == to_ + p.begin) return;
    for (std::int64_t i = 0; i < p.n; ++i) to_[p.begin + i] = Way::result(x[i]);
  }

  /// False where it would take many moves; elements are in another order then, equal ones in the same.
  static bool insert(Moved* x, std::int64_t n, std::int64_t moves) {
    for (std::int64_t i = 1; i < n; ++i) {
      const Moved element = x[i];
      const Bits key = Way::key(element);
      std::int64_t to = i;
      for (; to > 0 && key < Way::key(x[to - 1]); --to) x[to] = x[to - 1];
      x[to] = element;
      if ((moves -= i - to) < 0) return false;
    }
    return true;
  }

  void order(const Part& p) const {
    if (p.n <= kInserted) {
      insert(at(p), p.n, p.n * p.n);
      return emit(p);
    }
    const int bits = differing_bits(at(p), p.n);
    if (bits == 0) return emit(p);
    if (p.n <= kNear || p.splits == kMostSplits) return order_near(p, bits);
    split_and_order(p, from_half(p));
  }

  /// Moves a part, from where `load` reads it, to its other half, bucket by bucket, and sorts these.
  template <class Load>
  void split_and_order(const Part& p, const Load& load) const {
    const Buckets buckets(p.n, load);
    Moved* const to = beside(p);
    SortCounts ends = {};
    for (std::int64_t i = 0; i < p.n; ++i) ++ends[buckets.of(load(i))];
    begin(ends);
    for (std::int64_t i = 0; i < p.n; ++i) {
      const Moved element = load(i);
      to[ends[buckets.of(element)]++] = element;
    }
    for (std::int64_t b = 0; b < codegen::kDigits; ++b) order(bucket(p, ends, b));
  }

  static void begin(SortCounts& counts) {
    std::int64_t sum = 0;
    for (std::int64_t& c : counts) sum += std::exchange(c, sum);
  }
  static Part bucket(const Part& p, const SortCounts& ends, std::int64_t b) {
    const std::int64_t from = b == 0 ? 0 : ends[b - 1];
    return {p.begin + from, ends[b] - from, 1 - p.half, p.splits + 1};
  }

  /// Passes over the lowest `bits`, but for those below what elements of so small a part hardly ever share.
  void order_near(Part p, int bits) const {
    constexpr int kSpare = 2;
    const int wanted = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p.n))) + kSpare;
    const int passes = (std::min(bits, wanted) + kDigitBits - 1) / kDigitBits;
    const int low = std::max(0, bits - kDigitBits * passes);
    p.half = pass_over(p, low, passes);
    if (low > 0 && !insert(at(p), p.n, kMovesEach * p.n))
      p.half = pass_over(p, 0, (bits + kDigitBits - 1) / kDigitBits);
    emit(p);
  }

  /// `passes` digits from bit `low` on, the lowest first: the half where the elements are then.
  int pass_over(Part p, int low, int passes) const {
    SortCounts counts[sizeof(Bits)];
    std::memset(counts, 0, static_cast<std::size_t>(passes) * sizeof counts[0]);
    const Moved* const all = at(p);
    for (std::int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < passes; ++k) ++counts[k][digit(all[i], low + kDigitBits * k)];
    for (int k = 0; k < passes; ++k) {
      const int shift = low + kDigitBits * k;
      const Moved* const x = at(p);
      Moved* const to = beside(p);
      SortCounts& next = counts[k];
      if (next[digit(x[0], shift)] == p.n) continue;
      begin(next);
      for (std::int64_t i = 0; i < p.n; ++i) to[next[digit(x[i], shift)]++] = x[i];
      p.half = 1 - p.half;
    }
    return p.half;
  }

  /// split_and_order() with all threads: a bucket that is more than a thread's share is split by all of them again.
  template <class Load>
  void split_and_order_in_parts(const Part& p, const Load& load, SortCounts* tables, std::int64_t parts) const {
    const Buckets buckets(p.n, load);
    Moved* const to = beside(p);
    in_parts(p.n, parts, [&](std::int64_t part, std::int64_t from, std::int64_t until) {
      SortCounts own = {};
      for (std::int64_t i = from; i < until; ++i) ++own[buckets.of(load(i))];
      std::memcpy(tables[part], own, sizeof own);
    });
    SortCounts ends;
    std::int64_t sum = 0;
    for (std::int64_t b = 0; b < codegen::kDigits; ++b) {
      for (std::int64_t part = 0; part < parts; ++part) sum += std::exchange(tables[part][b], sum);
      ends[b] = sum;
    }
    in_parts(p.n, parts, [&](std::int64_t part, std::int64_t from, std::int64_t until) {
      SortCounts next;
      std::memcpy(next, tables[part], sizeof next);
      for (std::int64_t i = from; i < until; ++i) {
        const Moved element = load(i);
        to[next[buckets.of(element)]++] = element;
      }
    });
    const std::int64_t share = std::max(kNear, n_ / (2 * parts));
    parallel_for(codegen::kDigits, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t b = lo; b < hi; ++b)
        if (const Part each = bucket(p, ends, b); each.n <= share) order(each);
    });
    for (std::int64_t b = 0; b < codegen::kDigits; ++b) {
      const Part each = bucket(p, ends, b);
      if (each.n <= share) continue;
      if (each.splits == kMostSplits || differing_bits(at(each), each.n) == 0)
        order(each);
      else
        split_and_order_in_parts(each, from_half(each), tables, parts);
    }
  }

  const Bits* const x_;
  Result* const to_;
  const std::int64_t n_;
  const std::array<Moved*, 2> halves_;
};

}  // namespace tarry::runtime
