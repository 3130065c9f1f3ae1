// Routines: sorting, searching, counting and sums of runs, as steps of a plan. They are not generated from a graph: on
// a GPU a routine is a few kernels, whose text depends on the dtype and on which of them the extents need; on the CPU
// it is code of the library (runtime/device/cpu/routine.h). Both give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/render/kernel_source.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/target.h"

namespace tarry::codegen {

/// Ranks from..to-1 in a sorted row.
struct RankRange {
  std::int64_t from, to;
};
inline constexpr std::size_t kMostRanks = 8;  ///< ranges of a row

/// Rows of n elements that lie one after the other. m: of Searchsorted how many are looked for, of Bincount the bins,
/// of a Segment op the runs, of an Argsort on the CPU the places read. Of a Scatter: m rows of `rows` for n places. Of
/// matrices: `rows` of n x n, with m right sides each.
struct RoutineSpec {
  graph::Op op{};
  Dtype dtype{};  ///< of the first operand
  graph::RoutineAttributes::Way way{};
  std::int64_t rows = 1, n = 1, m = 1;
  std::vector<RankRange> ranks = {};  ///< of a Sort: those read, in order and apart; none where all may be
  Dtype numbers = Dtype::Int64;       ///< of what a Segment op by numbers, and a join, find their runs by
  [[nodiscard]] bool reversed() const { return way == graph::RoutineAttributes::Way::Reversed; }
  [[nodiscard]] std::string str() const;  ///< "sort f32 (4, 1000)"
};

/// One launch: the number of its kernel, and its parameters.
struct RoutineLaunch {
  std::uint32_t kernel;
  std::vector<std::uint64_t> words;
  Geometry geometry;
};

/// Threads of a thread block of a GPU's routine.
inline constexpr int kRoutineThreads = 256;
/// Elements of a mask that Compact counts together: each such tile has an int64 of scratch, on the CPU too.
inline constexpr std::int64_t kCompactTile = 4096;

/// Bytes of memory beside the operands.
std::size_t routine_scratch(const RoutineSpec& spec, const graph::Target& target);
/// The kernels of a GPU.
std::vector<KernelSource> render_routine(const RoutineSpec& spec, const graph::Target& target);
/// The launches on a GPU, in order. `operands`: inputs, then the result. The result of a Scatter holds its base, which
/// is no operand.
std::vector<RoutineLaunch> routine_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch);
/// How many there are; without kernels one call.
std::int64_t routine_launch_count(const RoutineSpec& spec, std::size_t kernels);

// The memory of the CPU's routines.

/// True if an Argsort carries the key and the place of an element in 64 bits.
bool packs(const RoutineSpec& spec);
/// Parts of the elements of a Bincount, or of a Segment op by numbers, that are counted apart from each other.
std::int64_t counting_parts(const RoutineSpec& spec);
/// Parts of the values that a Scatter op joins apart from each other, where these are many to a place.
std::int64_t joining_parts(const RoutineSpec& spec);
/// Neighbouring runs, a power of two, whose elements a Segment op by numbers brings together first; 1 where the runs
/// themselves are few. And how many such buckets there are.
std::int64_t runs_of_bucket(const RoutineSpec& spec);
std::int64_t buckets(const RoutineSpec& spec);
/// Parts of the elements that few runs of many read apart from each other, filling a block of tree R for each run; 0
/// where runs are brought together instead. And how many blocks all runs have at most.
std::int64_t filling_parts(const RoutineSpec& spec);
std::int64_t blocks_of_runs(const RoutineSpec& spec);
/// The number of a run within its bucket.
using NumberInBucket = std::uint32_t;
/// Elements of a bucket that are staged before they go to it, where all together are more than a cache holds.
inline constexpr std::int64_t kStagedElements = 16, kInCache = 1 << 18;
/// As many words as keep arrays of different threads in lines of their own.
constexpr std::int64_t words_apart(std::int64_t words) { return (words + 7) / 8 * 8; }
/// Arrays one after the other in scratch memory, each from a line of it on.
class ScratchArrays {
 public:
  explicit ScratchArrays(void* scratch) : next_(static_cast<char*>(scratch)) {}
  template <class T>
  T* take(std::int64_t elements) {
    return reinterpret_cast<T*>(std::exchange(next_, next_ + bytes(elements, sizeof(T))));
  }
  static std::size_t bytes(std::int64_t elements, std::size_t each) {
    constexpr std::size_t kLine = 64;
    return (static_cast<std::size_t>(elements) * each + kLine - 1) / kLine * kLine;
  }

 private:
  char* next_;
};
/// Jobs that buckets are shared out to, and the elements of memory that each has.
std::int64_t bucket_jobs(const RoutineSpec& spec);
std::int64_t near_elements(const RoutineSpec& spec);
/// Bytes in front of a sort's memory: a table of counts for each of so many parts of a row, and one for each byte of a
/// key.
inline constexpr std::int64_t kSortParts = 64, kDigits = 256;
inline constexpr std::size_t kSortTables = (kSortParts + 8) * kDigits * sizeof(std::int64_t);
/// Elements of memory that a matrix takes, with so many right sides at a time.
std::int64_t matrix_work(const RoutineSpec& spec, std::int64_t columns);
/// The largest matrix that is worked on in a thread's own memory.
inline constexpr std::int64_t kSmallMatrix = 32;
/// Right sides that are worked on at a time, pieces of all of them, and how many pieces have memory.
std::int64_t host_columns(const RoutineSpec& spec);
std::int64_t host_jobs(const RoutineSpec& spec);
std::int64_t host_parts(const RoutineSpec& spec);
std::size_t host_scratch(const RoutineSpec& spec);

}  // namespace tarry::codegen
