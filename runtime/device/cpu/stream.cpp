// Runs CPU kernels piece by piece and copies what they wrote past the caches.
#include "runtime/device/cpu/stream.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "graph/shape.h"
#include "runtime/device/parallel.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry::runtime {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::int64_t kPieceBytes = 2048;  // of one store; longer bursts of stores take longer

/// Size of the cache that the first core shares with most others. What sysconf calls the third level is on some
/// processors the sum of several, of which a core fills one.
std::int64_t cache_of_machine() {
  constexpr std::int64_t kUnknown = std::int64_t{32} << 20;
  for (int index = 4; index > 1; --index) {  // 0 and 1 are the first level
    std::int64_t kibibytes = 0;
    if (std::ifstream(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index)) >> kibibytes &&
        kibibytes > 0)
      return kibibytes << 10;
  }
  std::int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes <= 0) bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : kUnknown;
}

std::atomic<std::int64_t> pretended{-1}, streamed{0};

std::int64_t last_level_cache() {
  static const std::int64_t bytes = cache_of_machine();
  const std::int64_t other = pretended.load(std::memory_order_relaxed);
  return other < 0 ? bytes : other;
}

#if defined(__x86_64__)
constexpr bool kCanStream = true;

void stream_lines(char* to, const char* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
}
__attribute__((target("avx"))) void stream_lines_avx(char* to, const char* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
}

/// Whole lines go past the caches.
void stream_copy(char* to, const char* from, std::size_t bytes) {
  static const auto lines = __builtin_cpu_supports("avx") ? stream_lines_avx : stream_lines;
  const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  const std::size_t whole = (bytes - head) / kLine * kLine;
  std::memcpy(to, from, head);
  lines(to + head, from + head, whole);
  std::memcpy(to + head + whole, from + head + whole, bytes - head - whole);
}
void stream_fence() { _mm_sfence(); }
#else
constexpr bool kCanStream = false;
void stream_copy(char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void stream_fence() {}
#endif

struct Piece {
  std::uint32_t word;
  std::int64_t item_bytes;
  char* memory;  ///< of item 0
  char* buffer;
};

/// Memory that a thread keeps from launch to launch.
struct Workspace {
  std::vector<std::uint64_t> words;
  std::vector<Piece> pieces;
  std::vector<char> memory;
};

/// Runs the work items lo..hi-1. The memory is as after `entry(parameters, lo, hi)`.
void run_pieces(CpuEntry entry, const Launch& launch, std::int64_t lo, std::int64_t hi) {
  static thread_local Workspace workspace;
  auto& [words, pieces, memory] = workspace;
  const codegen::DenseStores& dense = launch.geometry.dense;
  words.assign(launch.parameters.begin(), launch.parameters.end());
  pieces.clear();
  std::int64_t widest = 1;
  for (const codegen::StoreSlot& s : launch.source->stores) {
    if (s.access >= 64 || (dense.accesses >> s.access & 1) == 0) continue;
    pieces.push_back({s.word, dense.elements * s.itemsize, reinterpret_cast<char*>(words[s.word]), nullptr});
    widest = std::max(widest, pieces.back().item_bytes);
  }
  TARRY_ASSERT(!pieces.empty());
  const std::int64_t items = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, kPieceBytes / widest))));
  const std::size_t room = (static_cast<std::size_t>(items * widest) + 2 * kLine) / kLine * kLine + kLine;
  if (memory.size() < room * pieces.size() + kLine) memory.resize(room * pieces.size() + kLine);
  char* free = memory.data() + (kLine - reinterpret_cast<std::uintptr_t>(memory.data()) % kLine) % kLine;
  for (Piece& p : pieces) {
    p.buffer = free + reinterpret_cast<std::uintptr_t>(p.memory) % kLine;  // vectors of it lie as they do in memory
    free += room;
  }
  for (std::int64_t at = lo, end; at < hi; at = end) {
    end = std::min(hi, (at / items + 1) * items);
    for (const Piece& p : pieces)
      words[p.word] = reinterpret_cast<std::uint64_t>(p.buffer) - static_cast<std::uint64_t>(at * p.item_bytes);
    entry(words.data(), at, end);
    for (const Piece& p : pieces)
      stream_copy(p.memory + at * p.item_bytes, p.buffer, static_cast<std::size_t>((end - at) * p.item_bytes));
  }
  stream_fence();
}

/// A store of tiles, and the parameter words that say where they go.
struct TiledStore {
  std::uint32_t base, pitch,
      apart;  // words: of element 0, of the strides from row to row and from value to value, where a tile has several
  std::int64_t itemsize;
  bool interleaved;  // side by side in a row
  char* memory;
  graph::Dims strides;
  char* buffer;
};

/// The space of a kernel of tiles and its stores, as the parameters have them. A thread keeps one from launch to
/// launch.
class TiledSpace {
 public:
  void bind(const Launch& launch) {
    tiled_ = launch.geometry.tiled;
    words_.assign(launch.parameters.begin(), launch.parameters.end());
    extents_ = tiles_ = {};  // dimension 0 has no number of tiles, and one that is not tiled no extent: none is needed
    const auto note = [&](graph::Dims& numbers) {
      return [this, &numbers](std::uint32_t word, const codegen::Slot& slot) {
        while (numbers.size() <= static_cast<int>(slot.a)) numbers.push_back(1);
        numbers[static_cast<int>(slot.a)] = static_cast<std::int64_t>(words_[word]);
      };
    };
    for_slots(launch, codegen::SlotKind::Extent, note(extents_));
    for_slots(launch, codegen::SlotKind::Tiles, note(tiles_));
    stores_.clear();
    for (const codegen::StoreSlot& s : launch.source->stores) {
      if (s.access >= 64 || (tiled_.accesses >> s.access & 1) == 0) continue;
      const bool interleaved = (tiled_.interleaved >> s.access & 1) != 0;
      TiledStore store{s.word,
                       0,
                       0,
                       s.itemsize,
                       interleaved,
                       reinterpret_cast<char*>(words_[s.word]),
                       graph::Dims::filled(extents_.size(), 0),
                       nullptr};
      store.strides[last()] = 1;
      for_slots(launch, codegen::SlotKind::Stride, [&](std::uint32_t word, const codegen::Slot& slot) {
        if (slot.a != s.access) return;
        store.strides[static_cast<int>(slot.b)] = static_cast<std::int64_t>(words_[word]);
        if (static_cast<int>(slot.b) == tiled_.across) store.pitch = word;
        if (static_cast<int>(slot.b) == tiled_.channels) store.apart = word;
      });
      stores_.push_back(store);
    }
    TARRY_ASSERT(!stores_.empty());
    take_buffers();
  }

  /// Runs the tiles lo..hi-1, each into a buffer of its shape.
  void run(CpuEntry entry, std::int64_t lo, std::int64_t hi) {
    for (std::int64_t at = lo; at < hi; ++at) run_tile(entry, at);
    stream_fence();
  }

 private:
  template <class F>
  static void for_slots(const Launch& launch, codegen::SlotKind kind, F&& f) {
    for (std::uint32_t word = 0; word < launch.source->slots.size(); ++word)
      if (launch.source->slots[word].kind == kind) f(word, launch.source->slots[word]);
  }

  [[nodiscard]] int last() const { return extents_.size() - 1; }

  void take_buffers() {
    const auto room = [&](const TiledStore& s) {
      return (static_cast<std::size_t>(tiled_.rows * tiled_.columns * tiled_.channel_count * s.itemsize) + kLine - 1) /
             kLine * kLine;
    };
    std::size_t bytes = kLine;
    for (const TiledStore& s : stores_) bytes += room(s);
    if (memory_.size() < bytes) memory_.resize(bytes);
    char* free = memory_.data() + (kLine - reinterpret_cast<std::uintptr_t>(memory_.data()) % kLine) % kLine;
    for (TiledStore& s : stores_) {
      s.buffer = free;
      free += room(s);
    }
  }

  /// Elements of a row of a tile, and its extent along `across`.
  [[nodiscard]] std::int64_t row(const TiledStore& s, std::int64_t columns) const {
    return s.interleaved ? columns * tiled_.channel_count : columns;
  }
  [[nodiscard]] std::int64_t down() const { return tiled_.across < 0 ? 1 : extents_[tiled_.across]; }

  /// Where element `at` of the space is, from row to row `pitch` elements further.
  [[nodiscard]] std::int64_t offset(const TiledStore& s, const graph::Dims& at, std::int64_t pitch) const {
    std::int64_t found = 0;
    for (int d = 0; d <= last(); ++d) found += at[d] * (d == tiled_.across ? pitch : s.strides[d]);
    return found * s.itemsize;
  }

  /// The first element of a tile.
  [[nodiscard]] graph::Dims place(std::int64_t item) const {
    const std::int64_t across = tiles_[last()], down = (this->down() + tiled_.rows - 1) / tiled_.rows;
    std::int64_t rest = item / (down * across), in = item % (down * across);
    const std::int64_t top = in / (tiled_.band * across) * tiled_.band,
                       height = std::min<std::int64_t>(tiled_.band, down - top);
    in -= top * across;
    graph::Dims first = extents_;
    first[last()] = in / height * tiled_.columns;
    for (int d = last() - 1; d >= 0; --d) {
      if (d == tiled_.across || d == tiled_.channels) {
        first[d] = d == tiled_.across ? (top + in % height) * tiled_.rows : 0;
        continue;
      }
      first[d] = d > 0 ? rest % tiles_[d] : rest;
      if (d > 0) rest /= tiles_[d];
    }
    return first;
  }

  void run_tile(CpuEntry entry, std::int64_t item) {
    const graph::Dims first = place(item);
    const std::int64_t rows =
        tiled_.across < 0 ? 1 : std::min<std::int64_t>(tiled_.rows, extents_[tiled_.across] - first[tiled_.across]);
    const std::int64_t columns = std::min<std::int64_t>(tiled_.columns, extents_[last()] - first[last()]);
    for (const TiledStore& s : stores_) {
      words_[s.base] = reinterpret_cast<std::uint64_t>(s.buffer) -
                       static_cast<std::uint64_t>(offset(s, first, row(s, tiled_.columns)));
      if (tiled_.across >= 0) words_[s.pitch] = static_cast<std::uint64_t>(row(s, tiled_.columns));
      if (tiled_.channels >= 0 && !s.interleaved)
        words_[s.apart] = static_cast<std::uint64_t>(std::int64_t{tiled_.rows} * tiled_.columns);
    }
    entry(words_.data(), item, item + 1);
    for (const TiledStore& s : stores_) {
      const std::int64_t pitch = tiled_.across < 0 ? 0 : s.strides[tiled_.across],
                         values = s.interleaved ? 1 : tiled_.channel_count;
      char* const to = s.memory + offset(s, first, pitch);
      for (std::int64_t v = 0; v < values; ++v)
        for (std::int64_t r = 0; r < rows; ++r)
          stream_copy(to + (v * (values > 1 ? s.strides[tiled_.channels] : 0) + r * pitch) * s.itemsize,
                      s.buffer + (v * tiled_.rows + r) * row(s, tiled_.columns) * s.itemsize,
                      static_cast<std::size_t>(row(s, columns) * s.itemsize));
    }
  }

  codegen::TiledStores tiled_;
  std::vector<std::uint64_t> words_;
  graph::Dims extents_, tiles_;  // the last dimension has both
  std::vector<TiledStore> stores_;
  std::vector<char> memory_;
};

void run_tiles(CpuEntry entry, const Launch& launch, std::int64_t lo, std::int64_t hi) {
  static thread_local TiledSpace space;
  space.bind(launch);
  space.run(entry, lo, hi);
}

}  // namespace

void set_last_level_cache(std::int64_t bytes) { pretended.store(bytes, std::memory_order_relaxed); }

std::int64_t streamed_launches() { return streamed.load(std::memory_order_relaxed); }

bool streams(const Launch& launch) {
  const std::int64_t bytes = std::max(launch.geometry.dense.bytes, launch.geometry.tiled.bytes);
  return kCanStream && bytes > 0 && bytes >= last_level_cache();
}

void run_streamed(CpuEntry entry, const Launch& launch, std::int64_t grain) {
  streamed.fetch_add(1, std::memory_order_relaxed);
  parallel_for(launch.geometry.grid(), grain, [&](std::int64_t lo, std::int64_t hi) {
    const support::DefaultFloatingPoint state;
    if (launch.geometry.tiled.bytes == 0)
      run_pieces(entry, launch, lo, hi);
    else
      run_tiles(entry, launch, lo, hi);
  });
}

}  // namespace tarry::runtime
