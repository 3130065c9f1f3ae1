// Quicksort by vectors, in place. To split a part, a vector is compared with a bound, and its lower and its other words
// are compressed to the two ends of what is free: vectors are read from the end where less is. Parts of a few vectors
// are sorted in registers: columns by Batcher's merge exchange, as in network.cpp, then neighbouring columns by bitonic
// merging.
#include "runtime/device/cpu/vector_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "support/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// g++ 12 warns of what its intrinsics leave undefined on purpose (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace tarry::runtime {

#if defined(__x86_64__)

#define TARRY_AVX512 gnu::target(TARRY_VECTOR_SORT_TARGET)
#define TARRY_AVX512_INLINE TARRY_AVX512, gnu::always_inline

namespace {

/// The immediate that takes element i ^ kXor of four to i.
template <int kXor>
inline constexpr int kSwapFour = (0 ^ kXor) | (1 ^ kXor) << 2 | (2 ^ kXor) << 4 | (3 ^ kXor) << 6;

/// Lanes whose bit in a mask of eight is set, then the others.
inline constexpr auto kBelowFirst = [] {
  std::array<std::array<std::uint8_t, 8>, 256> all{};
  for (std::size_t mask = 0; mask < all.size(); ++mask) {
    std::size_t at = 0;
    for (const std::size_t bit : {1, 0})
      for (std::uint8_t lane = 0; lane < 8; ++lane)
        if ((mask >> lane & 1) == bit) all[mask][at++] = lane;
  }
  return all;
}();

/// Operations on a vector of words.
template <class Word>
struct Lanes;

template <>
struct Lanes<std::int32_t> {
  using Word = std::int32_t;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;

  [[TARRY_AVX512_INLINE]] static inline __m512i load(const Word* x) { return _mm512_loadu_si512(x); }
  [[TARRY_AVX512_INLINE]] static inline void store(Word* x, __m512i v) { _mm512_storeu_si512(x, v); }
  [[TARRY_AVX512_INLINE]] static inline __m512i load(Mask m, const Word* x, __m512i other) {
    return _mm512_mask_loadu_epi32(other, m, x);
  }
  [[TARRY_AVX512_INLINE]] static inline void store(Mask m, Word* x, __m512i v) { _mm512_mask_storeu_epi32(x, m, v); }
  [[TARRY_AVX512_INLINE]] static inline __m512i all(Word w) { return _mm512_set1_epi32(w); }
  [[TARRY_AVX512_INLINE]] static inline __m512i lanes() {
    return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  }
  [[TARRY_AVX512_INLINE]] static inline Mask less(__m512i a, __m512i b) { return _mm512_cmplt_epi32_mask(a, b); }
  [[TARRY_AVX512_INLINE]] static inline Mask differ(__m512i a, __m512i b) { return _mm512_cmpneq_epi32_mask(a, b); }
  [[TARRY_AVX512_INLINE]] static inline __m512i compress(Mask m, __m512i v) {
    return _mm512_maskz_compress_epi32(m, v);
  }
  /// Stores the words of `below`, `count`, from `low` on, and the others up to `high`. A vector more behind those and
  /// in front of these may be overwritten.
  [[TARRY_AVX512_INLINE]] static inline void split(__m512i v, Mask below, int count, Word* low, Word* high) {
    store(low, compress(below, v));
    const int others = kLanes - count;
    store(static_cast<Mask>((1U << others) - 1), high - others, compress(static_cast<Mask>(~below), v));
  }
  /// b where the mask has a bit, else a.
  [[TARRY_AVX512_INLINE]] static inline __m512i blend(Mask m, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi32(m, a, b);
  }
  [[TARRY_AVX512_INLINE]] static inline void exchange(__m512i& low, __m512i& high) {
    const __m512i a = low, b = high;
    low = _mm512_min_epi32(a, b);
    high = _mm512_max_epi32(a, b);
  }
  /// The greater of a and b where the mask has a bit, else the less.
  [[TARRY_AVX512_INLINE]] static inline __m512i choose(Mask m, __m512i a, __m512i b) {
    return _mm512_mask_max_epi32(_mm512_min_epi32(a, b), m, a, b);
  }
  /// Lane i ^ kXor at lane i.
  template <int kXor>
  [[TARRY_AVX512_INLINE]] static inline __m512i swap(__m512i v) {
    if constexpr (kXor < 4)
      return _mm512_shuffle_epi32(v, static_cast<_MM_PERM_ENUM>(kSwapFour<kXor>));
    else if constexpr (kXor % 4 == 0)
      return _mm512_shuffle_i32x4(v, v, kSwapFour<kXor / 4>);
    else
      return _mm512_permutexvar_epi32(_mm512_xor_si512(lanes(), _mm512_set1_epi32(kXor)), v);
  }
  /// The words of a and b in turn: the lower halves in a, the higher ones in b.
  [[TARRY_AVX512_INLINE]] static inline void interleave(__m512i& a, __m512i& b) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0),
                  high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    const __m512i first = _mm512_permutex2var_epi32(a, low, b);
    b = _mm512_permutex2var_epi32(a, high, b);
    a = first;
  }
};

template <>
struct Lanes<std::int64_t> {
  using Word = std::int64_t;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;

  [[TARRY_AVX512_INLINE]] static inline __m512i load(const Word* x) { return _mm512_loadu_si512(x); }
  [[TARRY_AVX512_INLINE]] static inline void store(Word* x, __m512i v) { _mm512_storeu_si512(x, v); }
  [[TARRY_AVX512_INLINE]] static inline __m512i load(Mask m, const Word* x, __m512i other) {
    return _mm512_mask_loadu_epi64(other, m, x);
  }
  [[TARRY_AVX512_INLINE]] static inline void store(Mask m, Word* x, __m512i v) { _mm512_mask_storeu_epi64(x, m, v); }
  [[TARRY_AVX512_INLINE]] static inline __m512i all(Word w) { return _mm512_set1_epi64(w); }
  [[TARRY_AVX512_INLINE]] static inline __m512i lanes() { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }
  [[TARRY_AVX512_INLINE]] static inline Mask less(__m512i a, __m512i b) { return _mm512_cmplt_epi64_mask(a, b); }
  [[TARRY_AVX512_INLINE]] static inline Mask differ(__m512i a, __m512i b) { return _mm512_cmpneq_epi64_mask(a, b); }
  [[TARRY_AVX512_INLINE]] static inline __m512i compress(Mask m, __m512i v) {
    return _mm512_maskz_compress_epi64(m, v);
  }
  /// Stores the words of `below`, `count`, from `low` on, and the others up to `high`. A vector more behind those and
  /// in front of these may be overwritten.
  [[TARRY_AVX512_INLINE]] static inline void split(__m512i v, Mask below, int, Word* low, Word* high) {
    const __m128i order = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBelowFirst[below].data()));
    const __m512i in_order = _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(order), v);
    store(low, in_order);
    store(high - kLanes, in_order);
  }
  /// b where the mask has a bit, else a.
  [[TARRY_AVX512_INLINE]] static inline __m512i blend(Mask m, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi64(m, a, b);
  }
  [[TARRY_AVX512_INLINE]] static inline void exchange(__m512i& low, __m512i& high) {
    const __m512i a = low, b = high;
    low = _mm512_min_epi64(a, b);
    high = _mm512_max_epi64(a, b);
  }
  /// The greater of a and b where the mask has a bit, else the less.
  [[TARRY_AVX512_INLINE]] static inline __m512i choose(Mask m, __m512i a, __m512i b) {
    return _mm512_mask_max_epi64(_mm512_min_epi64(a, b), m, a, b);
  }
  /// Lane i ^ kXor at lane i.
  template <int kXor>
  [[TARRY_AVX512_INLINE]] static inline __m512i swap(__m512i v) {
    if constexpr (kXor < 4)
      return _mm512_permutex_epi64(v, kSwapFour<kXor>);
    else if constexpr (kXor == 4)
      return _mm512_shuffle_i64x2(v, v, kSwapFour<2>);
    else
      return _mm512_permutexvar_epi64(_mm512_xor_si512(lanes(), _mm512_set1_epi64(kXor)), v);
  }
  /// The words of a and b in turn: the lower halves in a, the higher ones in b.
  [[TARRY_AVX512_INLINE]] static inline void interleave(__m512i& a, __m512i& b) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), high = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    const __m512i first = _mm512_permutex2var_epi64(a, low, b);
    b = _mm512_permutex2var_epi64(a, high, b);
    a = first;
  }
};

template <class L>
[[TARRY_AVX512_INLINE]] inline typename L::Mask first_lanes(std::int64_t n) {
  return static_cast<typename L::Mask>((std::uint32_t{1} << n) - 1);
}

struct Exchange {
  std::size_t low, high;
};

/// Calls `f` with the exchanges that sort kRows elements, a power of two, by merge exchange.
template <std::size_t kRows, class F>
constexpr void for_each_exchange(F&& f) {
  for (std::size_t p = kRows / 2; p > 0; p /= 2) {
    std::size_t apart = p, first = 0;
    for (std::size_t q = kRows / 2;; q /= 2) {
      for (std::size_t i = 0; i + apart < kRows; ++i)
        if ((i & p) == first) f(Exchange{i, i + apart});
      if (q == p) break;
      apart = q - p;
      first = p;
    }
  }
}
template <std::size_t kRows>
constexpr std::size_t count_exchanges() {
  std::size_t n = 0;
  for_each_exchange<kRows>([&](Exchange) { ++n; });
  return n;
}
template <std::size_t kRows>
inline constexpr auto kExchanges = [] {
  std::array<Exchange, count_exchanges<kRows>()> all{};
  std::size_t n = 0;
  for_each_exchange<kRows>([&](Exchange e) { all[n++] = e; });
  return all;
}();

/// kRows vectors, whose words are sorted down the first column, then down the next one, and so on.
template <class L, std::size_t kRows>
class Columns {
 public:
  using Word = typename L::Word;
  static constexpr std::int64_t kWords = std::int64_t{kRows} * L::kLanes;

  /// Sorts n words, more than half of kWords where kRows > 2, at most kWords.
  [[TARRY_AVX512_INLINE]] static inline void sort(const Word* from, std::int64_t n, Word* to) {
    __m512i v[kRows];
    load(v, from, n, Rows());
    sort_columns(v, std::make_index_sequence<kExchanges<kRows>.size()>());
    merge<2>(v);
    interleave<kRows / 2>(v);
    store(v, to, n, Rows());
  }

 private:
  using Rows = std::make_index_sequence<kRows>;
  using Pairs = std::make_index_sequence<kRows / 2>;
  using Mask = typename L::Mask;

  [[TARRY_AVX512_INLINE]] static inline Mask inside(std::size_t row, std::int64_t n) {
    return first_lanes<L>(std::clamp<std::int64_t>(n - static_cast<std::int64_t>(row) * L::kLanes, 0, L::kLanes));
  }
  static constexpr bool is_full(std::size_t row) { return kRows > 2 && row < kRows / 2; }

  /// Behind the words stand the greatest ones.
  template <std::size_t kRow>
  [[TARRY_AVX512_INLINE]] static inline __m512i load_row(const Word* from, std::int64_t n) {
    if constexpr (is_full(kRow)) return L::load(from + kRow * L::kLanes);
    return L::load(inside(kRow, n), from + kRow * L::kLanes, L::all(std::numeric_limits<Word>::max()));
  }
  template <std::size_t kRow>
  [[TARRY_AVX512_INLINE]] static inline void store_row(__m512i v, Word* to, std::int64_t n) {
    if constexpr (is_full(kRow))
      L::store(to + kRow * L::kLanes, v);
    else
      L::store(inside(kRow, n), to + kRow * L::kLanes, v);
  }
  template <std::size_t... kRow>
  [[TARRY_AVX512_INLINE]] static inline void load(__m512i (&v)[kRows], const Word* from, std::int64_t n,
                                                  std::index_sequence<kRow...>) {
    ((v[kRow] = load_row<kRow>(from, n)), ...);
  }
  template <std::size_t... kRow>
  [[TARRY_AVX512_INLINE]] static inline void store(const __m512i (&v)[kRows], Word* to, std::int64_t n,
                                                   std::index_sequence<kRow...>) {
    (store_row<kRow>(v[kRow], to, n), ...);
  }

  template <std::size_t... kAt>
  [[TARRY_AVX512_INLINE]] static inline void sort_columns(__m512i (&v)[kRows], std::index_sequence<kAt...>) {
    (L::exchange(v[kExchanges<kRows>[kAt].low], v[kExchanges<kRows>[kAt].high]), ...);
  }

  /// Lanes whose number has the bit kBit.
  template <int kBit>
  static constexpr Mask lanes_with() {
    std::uint32_t mask = 0;
    for (int lane = 0; lane < L::kLanes; ++lane)
      if (lane & kBit) mask |= std::uint32_t{1} << lane;
    return static_cast<Mask>(mask);
  }

  /// Merges halves of kColumns neighbours, which are in order each.
  template <int kColumns>
  [[TARRY_AVX512_INLINE]] static inline void merge(__m512i (&v)[kRows]) {
    mirror<kColumns>(v, Pairs());
    across<kColumns / 4>(v);
    down<kRows / 2>(v);
    if constexpr (kColumns < L::kLanes) merge<2 * kColumns>(v);
  }
  /// Exchanges the first word of kColumns with the last one, the second with the last but one, and so on.
  template <int kColumns>
  [[TARRY_AVX512_INLINE]] static inline void mirror_pair(__m512i& upper, __m512i& lower) {
    constexpr Mask kHigh = lanes_with<kColumns / 2>();
    __m512i a = upper, b = L::template swap<kColumns - 1>(lower);
    L::exchange(a, b);
    upper = L::blend(kHigh, a, b);
    lower = L::template swap<kColumns - 1>(L::blend(kHigh, b, a));
  }
  template <int kColumns, std::size_t... kPair>
  [[TARRY_AVX512_INLINE]] static inline void mirror(__m512i (&v)[kRows], std::index_sequence<kPair...>) {
    (mirror_pair<kColumns>(v[kPair], v[kRows - 1 - kPair]), ...);
  }
  /// Exchanges columns that are kApart from each other, then half of that, and so on.
  template <int kApart>
  [[TARRY_AVX512_INLINE]] static inline void across(__m512i (&v)[kRows]) {
    if constexpr (kApart > 0) {
      across_rows<kApart>(v, Rows());
      across<kApart / 2>(v);
    }
  }
  template <int kApart, std::size_t... kRow>
  [[TARRY_AVX512_INLINE]] static inline void across_rows(__m512i (&v)[kRows], std::index_sequence<kRow...>) {
    ((v[kRow] = L::choose(lanes_with<kApart>(), v[kRow], L::template swap<kApart>(v[kRow]))), ...);
  }
  /// Rows likewise.
  template <std::size_t kApart>
  [[TARRY_AVX512_INLINE]] static inline void down(__m512i (&v)[kRows]) {
    if constexpr (kApart > 0) {
      down_pairs<kApart>(v, Pairs());
      down<kApart / 2>(v);
    }
  }
  /// The upper row of a pair of those that are kApart.
  static constexpr std::size_t upper(std::size_t pair, std::size_t apart) { return pair / apart * apart + pair; }
  template <std::size_t kApart, std::size_t... kPair>
  [[TARRY_AVX512_INLINE]] static inline void down_pairs(__m512i (&v)[kRows], std::index_sequence<kPair...>) {
    (L::exchange(v[upper(kPair, kApart)], v[upper(kPair, kApart) + kApart]), ...);
  }
  /// Columns to rows.
  template <std::size_t kApart>
  [[TARRY_AVX512_INLINE]] static inline void interleave(__m512i (&v)[kRows]) {
    if constexpr (kApart > 0) {
      interleave_pairs<kApart>(v, Pairs());
      interleave<kApart / 2>(v);
    }
  }
  template <std::size_t kApart, std::size_t... kPair>
  [[TARRY_AVX512_INLINE]] static inline void interleave_pairs(__m512i (&v)[kRows], std::index_sequence<kPair...>) {
    (L::interleave(v[upper(kPair, kApart)], v[upper(kPair, kApart) + kApart]), ...);
  }
};

template <class Word>
class VectorSort {
 public:
  [[TARRY_AVX512]] static void sort(Word* words, std::int64_t n) {
    if (n > kFew) {
      if (are_ascending(words, n)) return;
      if (are_in_order(n, words + 1, words)) return std::reverse(words, words + n);
    }
    const int levels = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
    VectorSort().sort({words, n, kSplitsPerLevel * levels});
  }

  [[TARRY_AVX512]] static bool are_ascending(const Word* words, std::int64_t n) {
    return are_in_order(n, words, words + 1);
  }

  [[TARRY_AVX512]] static std::int64_t split(Word* words, std::int64_t n, Word bound) {
    if (n > kFew) return split({words, n, 0}, bound);
    return std::partition(words, words + n, [bound](Word w) { return w < bound; }) - words;
  }

 private:
  using L = Lanes<Word>;
  using Mask = typename L::Mask;
  static constexpr std::int64_t kLanes = L::kLanes;
  static constexpr std::int64_t kFew = Columns<L, 16>::kWords;  // sorted in registers
  static constexpr int kSplitsPerLevel = 2;                     // of an even split, before another algorithm takes over

  struct Part {
    Word* words;
    std::int64_t n;
    int splits;  ///< left
  };

  [[TARRY_AVX512, gnu::noinline]] void sort(Part p) {
    while (p.n > kFew) {
      const Sample sample = take_sample(p);
      Word bound = sample.median;
      if (sample.least == sample.greatest) {
        const Word other = first_other(p, bound);
        if (other == bound) return;
        if (other > bound) ++bound;
      } else if (sample.least == bound) {
        ++bound;
      }
      // At least one word is below the bound, and one is not.
      if (p.splits-- == 0) return std::sort(p.words, p.words + p.n);
      const std::int64_t below = split(p, bound);
      const Part low{p.words, below, p.splits}, high{p.words + below, p.n - below, p.splits};
      const bool low_is_longer = low.n > high.n;
      sort(low_is_longer ? high : low);
      p = low_is_longer ? low : high;
    }
    sort_few(p.words, p.n, p.words);
  }

  /// The part that a split has not read, and what it has written at both ends. Between them is room for the vectors
  /// that it holds in registers.
  struct Ends {
    Word *low, *high;          ///< behind the words below the bound, and the first of the others
    const Word *unread, *end;  ///< of what is not read
    [[nodiscard]] bool lower_is_fuller() const { return unread - low < high - end; }
    /// The next n words, from the end where less room is: each end has room for n then, if they had it for 2 n
    /// together.
    const Word* read(std::int64_t n) {
      if (lower_is_fuller()) return std::exchange(unread, unread + n);
      return end -= n;
    }
  };

  /// Moves words below the bound in front of the others: how many the former are.
  [[TARRY_AVX512]] static std::int64_t split(const Part& p, Word bound) {
    constexpr std::int64_t kBatch = 8;
    static_assert(2 * kBatch * kLanes <= kFew);
    const __m512i bounds = L::all(bound);
    const std::int64_t rest = p.n % kLanes;
    Ends ends{p.words, p.words + p.n, p.words + kBatch * kLanes, p.words + p.n - rest - kBatch * kLanes};
    __m512i first[kBatch], last[kBatch], batch[kBatch];
    load_batch(first, p.words);
    load_batch(last, ends.end);
    const __m512i last_words = L::load(first_lanes<L>(rest), p.words + p.n - rest, bounds);
    while (ends.end - ends.unread >= kBatch * kLanes) {
      load_batch(batch, ends.read(kBatch * kLanes));
      for (const __m512i& v : batch) put(ends, v, bounds);
    }
    while (ends.unread < ends.end) put(ends, L::load(ends.read(kLanes)), bounds);
    put_rest(ends, last_words, rest, bounds);
    for (const __m512i& v : first) put(ends, v, bounds);
    for (const __m512i& v : last) put(ends, v, bounds);
    return ends.low - p.words;
  }
  template <std::size_t kVectors>
  [[TARRY_AVX512_INLINE]] static inline void load_batch(__m512i (&v)[kVectors], const Word* from) {
    for (std::size_t i = 0; i < kVectors; ++i) v[i] = L::load(from + i * kLanes);
  }
  [[TARRY_AVX512_INLINE]] static inline void put(Ends& ends, __m512i v, __m512i bounds) {
    const Mask is_below = L::less(v, bounds);
    const int below = std::popcount(static_cast<std::uint32_t>(is_below));
    L::split(v, is_below, below, ends.low, ends.high);
    ends.low += below;
    ends.high -= kLanes - below;
  }
  /// The first n words of a vector.
  [[TARRY_AVX512_INLINE]] static inline void put_rest(Ends& ends, __m512i v, std::int64_t n, __m512i bounds) {
    const Mask is_below = L::less(v, bounds);
    const int below = std::popcount(static_cast<std::uint32_t>(is_below));
    L::store(first_lanes<L>(below), ends.low, L::compress(is_below, v));
    ends.low += below;
    ends.high -= n - below;
    L::store(first_lanes<L>(n - below), ends.high, L::compress(static_cast<Mask>(first_lanes<L>(n) & ~is_below), v));
  }

  struct Sample {
    Word least, median, greatest;
  };

  /// The words that stand one in each equal part, at a place as if by chance.
  [[TARRY_AVX512]] Sample take_sample(const Part& p) {
    constexpr std::int64_t kFewest = 2 * kLanes, kMost = 16 * kLanes, kShare = 256;
    Word words[kMost];
    std::int64_t n = kFewest;
    while (n < kMost && n * kShare < p.n) n *= 2;
    const std::int64_t width = p.n / n;
    for (std::int64_t i = 0; i < n; ++i) {
      chance_ = chance_ * 0x5851f42d4c957f2d + 0x14057b7ef767814f;  // Knuth's MMIX
      const auto within = static_cast<std::int64_t>((chance_ >> 32) * static_cast<std::uint64_t>(width) >> 32);
      words[i] = p.words[i * width + within];
    }
    sort_few(words, n, words);
    return {words[0], words[n / 2], words[n - 1]};
  }

  /// The first word that is not `word`, or that.
  [[TARRY_AVX512]] static Word first_other(const Part& p, Word word) {
    const __m512i same = L::all(word);
    std::int64_t i = 0;
    for (; i + kLanes <= p.n; i += kLanes)
      if (L::differ(L::load(p.words + i), same)) break;
    for (; i < p.n; ++i)
      if (p.words[i] != word) return p.words[i];
    return word;
  }

  /// True if no low[i] is greater than high[i], of n - 1 neighbours.
  [[TARRY_AVX512]] static bool are_in_order(std::int64_t n, const Word* low, const Word* high) {
    std::int64_t i = 0;
    for (; i + kLanes < n; i += kLanes)
      if (L::less(L::load(high + i), L::load(low + i))) return false;
    while (i + 1 < n && low[i] <= high[i]) ++i;
    return i + 1 >= n;
  }

  [[TARRY_AVX512]] static void sort_few(const Word* from, std::int64_t n, Word* to) {
    if (n <= 2 * kLanes) return sort_rows<2>(from, n, to);
    if (n <= 4 * kLanes) return sort_rows<4>(from, n, to);
    if (n <= 8 * kLanes) return sort_rows<8>(from, n, to);
    sort_rows<16>(from, n, to);
  }
  template <std::size_t kRows>
  [[TARRY_AVX512, gnu::noinline]] static void sort_rows(const Word* from, std::int64_t n, Word* to) {
    Columns<L, kRows>::sort(from, n, to);
  }

  std::uint64_t chance_ = 0;
};

}  // namespace

bool has_vector_sort() {
  static const bool has_instructions = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return has_instructions;
}

void sort_words(std::int32_t* words, std::int64_t n) { VectorSort<std::int32_t>::sort(words, n); }
void sort_words(std::int64_t* words, std::int64_t n) { VectorSort<std::int64_t>::sort(words, n); }
bool are_ascending(const std::int32_t* words, std::int64_t n) {
  return VectorSort<std::int32_t>::are_ascending(words, n);
}
bool are_ascending(const std::int64_t* words, std::int64_t n) {
  return VectorSort<std::int64_t>::are_ascending(words, n);
}
std::int64_t split_words(std::int32_t* words, std::int64_t n, std::int32_t bound) {
  return VectorSort<std::int32_t>::split(words, n, bound);
}
std::int64_t split_words(std::int64_t* words, std::int64_t n, std::int64_t bound) {
  return VectorSort<std::int64_t>::split(words, n, bound);
}

#undef TARRY_AVX512_INLINE
#undef TARRY_AVX512

#else

bool has_vector_sort() { return false; }
void sort_words(std::int32_t*, std::int64_t) { TARRY_ASSERT(false); }
void sort_words(std::int64_t*, std::int64_t) { TARRY_ASSERT(false); }
bool are_ascending(const std::int32_t*, std::int64_t) {
  TARRY_ASSERT(false);
  return false;
}
bool are_ascending(const std::int64_t*, std::int64_t) {
  TARRY_ASSERT(false);
  return false;
}
std::int64_t split_words(std::int32_t*, std::int64_t, std::int32_t) {
  TARRY_ASSERT(false);
  return 0;
}
std::int64_t split_words(std::int64_t*, std::int64_t, std::int64_t) {
  TARRY_ASSERT(false);
  return 0;
}

#endif

}  // namespace tarry::runtime
