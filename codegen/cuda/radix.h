// A stable sort of rows by bytes of a key, from the lowest: three kernels a pass. The bytes of a tile of 4,096 elements
// are counted, tile by tile of a chunk, and the chunks' sums of a byte are added up by a warp. Then tiles put their
// elements in order in shared memory and write them to where their byte begins: of the row, of the chunk, of the tile.
// A payload beside the keys goes the same way.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "codegen/cuda/routine_kernels.h"

namespace tarry::codegen {

/// The types of the texts. `key` defines `$N_key` from what is moved to an unsigned integer, whose byte the pass sorts
/// by; `element` reads number i of the row x.
struct RadixTypes {
  std::string bits;    ///< what is moved
  std::string place;   ///< an unsigned integer that holds a place of a row
  std::string key;     ///< text
  std::string source;  ///< the type of what the pass reads
  std::string element = "x[i]";
};
/// The payload that a pass moves beside the elements: nothing where `type` is empty. `given` reads that of element i of
/// the row.
struct RadixBeside {
  std::string type, to, given;
};
/// The results of a pass: elements that nobody reads are not written.
enum class RadixElements : std::uint8_t { Written, Dropped };

KernelSource radix_count(const RadixTypes& types);
KernelSource radix_add(const RadixTypes& types);
KernelSource radix_move(std::string_view word, const RadixTypes& types, const RadixBeside& beside,
                        RadixElements elements);

/// The extents of a sort, and where its counts lie in its memory.
struct RadixRows {
  RadixRows(std::int64_t of, std::int64_t elements)
      : rows(of),
        n(elements),
        tiles((elements + 4095) / 4096),
        of_chunk((tiles + kMostChunks - 1) / kMostChunks),
        chunks((tiles + of_chunk - 1) / of_chunk),
        place(elements <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8) {
    const auto bytes_of = [&](std::int64_t each) { return static_cast<std::size_t>(rows * 256 * each) * place; };
    counts = take(bytes_of(tiles));
    sums = take(bytes_of(chunks));
    begins = take(bytes_of(chunks));
    totals = take(bytes_of(1));
  }
  /// So many bytes behind all others.
  std::size_t take(std::size_t size) {
    const std::size_t at = bytes;
    bytes += (size + 255) / 256 * 256;
    return at;
  }
  [[nodiscard]] const char* place_type() const { return place == 4 ? "tarry_u32" : "tarry_u64"; }

  static constexpr std::int64_t kMostChunks = 512;  // of a row: enough to keep a device busy

  std::int64_t rows, n, tiles;
  std::int64_t of_chunk, chunks;  ///< tiles of a chunk, chunks of a row
  std::size_t place;              ///< bytes of a place in a row
  std::size_t bytes = 0, counts, sums, begins, totals;
};
/// The operands of one pass. Without anything beside the elements two are null.
struct RadixPass {
  const void* x;
  void* to;
  const void* beside;
  void* beside_to;
  int byte;
  std::int64_t limit = 0;  ///< for what `element` and `key` say
};
/// The three launches, by the numbers of their kernels.
struct RadixNumbers {
  std::uint32_t count, add, move;
};
void append_radix_pass(const RadixRows& rows, const RadixPass& pass, RadixNumbers numbers, void* scratch,
                       std::vector<RoutineLaunch>& launches);

}  // namespace tarry::codegen
