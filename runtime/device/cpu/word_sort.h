// Rows in order by sort_words(): elements become words of the same order, and words elements again. `Way` says what is
// moved, and by which key (runtime/device/cpu/sort.cpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include "codegen/cuda/routine.h"
#include "runtime/device/cpu/vector_sort.h"
#include "runtime/device/parallel.h"

namespace tarry::runtime {

#if defined(__x86_64__)
#define TARRY_AS_SORT_WORDS [[gnu::target(TARRY_VECTOR_SORT_TARGET)]]
#else
#define TARRY_AS_SORT_WORDS
#endif

/// Where Way::kInVectors and has_vector_sort(). Elements that do not fit a word, NaNs, are last and in the order in
/// which they were; until they are written they have the greatest word.
template <class Way>
class WordSort {
 public:
  using Bits = typename Way::Bits;
  using Moved = typename Way::Moved;
  using Result = typename Way::Result;
  using Counts = std::int64_t[codegen::kDigits];

  WordSort(const Bits* x, Result* to, std::int64_t n) : x_(x), to_(to), n_(n), words_(reinterpret_cast<Word*>(to)) {}

  /// In this thread.
  void sort() const {
    const std::int64_t fit = load(0, n_, words_);
    sort_words(words_, n_);
    store(0, fit);
    append_others(fit);
  }

  /// In several threads: `parts` pieces are split in `room`, which is for n, by the same bounds; then what lies between
  /// two bounds comes together. Each part has a table.
  void sort_in_parts(Moved* room, Counts* tables, std::int64_t parts) const {
    Word* const words = reinterpret_cast<Word*>(room);
    const auto in_parts = [&](const auto& body) {
      parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
        for (std::int64_t part = lo; part < hi; ++part) body(part, n_ * part / parts, n_ * (part + 1) / parts);
      });
    };
    std::atomic<std::int64_t> fit = 0;
    in_parts([&](std::int64_t, std::int64_t from, std::int64_t to) { fit += load(from, to, words + from); });
    if (are_ascending(words, n_)) {
      in_parts([&](std::int64_t, std::int64_t from, std::int64_t to) {
        std::copy(words + from, words + to, words_ + from);
        store(from, std::min(to, fit.load()));
      });
      return append_others(fit);
    }
    const Bounds bounds(words, n_, words_, parts);
    in_parts([&](std::int64_t part, std::int64_t from, std::int64_t to) {
      bounds.split(words + from, to - from, tables[part]);
    });
    std::int64_t sum = 0;
    for (std::int64_t range = 0; range < bounds.ranges(); ++range)
      for (std::int64_t part = 0; part < parts; ++part) sum += std::exchange(tables[part][range], sum);
    const auto begin = [&](std::int64_t part, std::int64_t range) {
      if (part == parts) part = 0, ++range;
      return range == bounds.ranges() ? n_ : tables[part][range];
    };
    in_parts([&](std::int64_t part, std::int64_t from, std::int64_t) {
      for (std::int64_t range = 0; range < bounds.ranges(); ++range) {
        const std::int64_t at = begin(part, range), n = begin(part + 1, range) - at;
        std::copy_n(words + from, n, words_ + at);
        from += n;
      }
    });
    parallel_for(bounds.ranges(), 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t range = lo; range < hi; ++range) {
        const std::int64_t from = begin(0, range), to = begin(0, range + 1);
        sort_words(words_ + from, to - from);
        store(from, std::min(to, fit.load()));
      }
    });
    append_others(fit);
  }

 private:
  using Words = typename Way::Words;
  using Word = typename Words::Word;
  // The same type but for the sign.
  static_assert(sizeof(Word) == sizeof(Result) && sizeof(Word) == sizeof(Moved));

  /// Bounds between ranges of words that are each about as likely, by a sample.
  class Bounds {
   public:
    /// `room` is for n words too.
    Bounds(const Word* words, std::int64_t n, Word* room, std::int64_t parts) {
      const auto ranges = static_cast<std::int64_t>(
          std::bit_ceil(static_cast<std::uint64_t>(std::min(kRangesOfPart * parts, codegen::kDigits))));
      const std::int64_t sample = std::min(n, ranges * kSampleOfRange);
      for (std::int64_t i = 0; i < sample; ++i) room[i] = words[i * n / sample];
      sort_words(room, sample);
      for (std::int64_t range = 1; range < ranges; ++range) {
        const Word bound = room[range * sample / ranges];
        if (count_ == 0 || bounds_[count_ - 1] != bound) bounds_[count_++] = bound;
      }
    }
    [[nodiscard]] std::int64_t ranges() const { return count_ + 1; }
    /// Puts words of a lower range in front of those of a higher one, and counts each.
    void split(Word* words, std::int64_t n, Counts& counts) const { split(words, n, counts, 0, count_); }

   private:
    static constexpr std::int64_t kRangesOfPart = 4, kSampleOfRange = 32;
    void split(Word* words, std::int64_t n, Counts& counts, std::int64_t first, std::int64_t last) const {
      if (first == last) {
        counts[first] = n;
        return;
      }
      const std::int64_t middle = first + (last - first) / 2, below = split_words(words, n, bounds_[middle]);
      split(words, below, counts, first, middle);
      split(words + below, n - below, counts, middle + 1, last);
    }
    std::int64_t count_ = 0;
    Word bounds_[codegen::kDigits];
  };

  /// Words of elements from..to-1, and how many of these fit.
  TARRY_AS_SORT_WORDS std::int64_t load(std::int64_t from, std::int64_t to, Word* words) const {
    std::int64_t fit = 0;
    for (std::int64_t i = from; i < to; ++i) {
      const Moved element = Way::load(x_, i);
      words[i - from] = Words::word(element);
      fit += Words::fits(element);
    }
    return fit;
  }
  TARRY_AS_SORT_WORDS void store(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; ++i) to_[i] = Words::result(words_[i]);
  }
  void append_others(std::int64_t at) const {
    for (std::int64_t i = 0; at < n_; ++i)
      if (const Moved element = Way::load(x_, i); !Words::fits(element)) to_[at++] = Way::result(element);
  }

  const Bits* const x_;
  Result* const to_;
  const std::int64_t n_;
  Word* const words_;  ///< where the result will be
};

#undef TARRY_AS_SORT_WORDS

}  // namespace tarry::runtime
