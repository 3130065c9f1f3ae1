// Scatter and Compact on the CPU. A thread has some of the places and goes over all indices, so what goes to one place
// comes in index order, whatever the number of threads. What may be joined in any order, many values to a place, is so
// in parts: each has places of its own.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "codegen/interpret/interpreter.h"
#include "runtime/device/cpu/extreme.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/parallel.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

using codegen::kCompactTile;
using codegen::RoutineSpec;
using graph::Op;

/// Calls body(first, last) for ranges of places, on as many threads as the work is worth.
template <class Body>
void for_places(const RoutineSpec& spec, const Body& body) {
  constexpr std::int64_t kWorthThreads = std::int64_t{1} << 15;  // elements written
  const std::int64_t threads = spec.m * spec.rows < kWorthThreads ? 1 : thread_count();
  const std::int64_t parts = std::min<std::int64_t>(threads, spec.n), each = (spec.n + parts - 1) / parts;
  parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) { body(lo * each, std::min(hi * each, spec.n)); });
}

/// Calls body(p, place) for every index p whose place is within [first, last), in order. Which these are is found block
/// by block first, without a branch that places in no order would mislead.
template <class Body>
void for_indices(const RoutineSpec& spec, const std::int64_t* index, std::int64_t first, std::int64_t last,
                 const Body& body) {
  constexpr std::int64_t kBlock = 512;
  const auto places = static_cast<std::uint64_t>(last - first);
  std::int64_t within[kBlock];
  for (std::int64_t from = 0; from < spec.m; from += kBlock) {
    std::int64_t count = 0;
    for (std::int64_t p = from; p < std::min(from + kBlock, spec.m); ++p) {
      within[count] = p;
      count += static_cast<std::uint64_t>(index[p] - first) < places ? 1 : 0;
    }
    for (std::int64_t w = 0; w < count; ++w) body(within[w], index[within[w]]);
  }
}

template <class T>
void set_elements(const RoutineSpec& spec, const std::int64_t* index, const void* values, void* elements) {
  const T* const value = static_cast<const T*>(values);
  T* const to = static_cast<T*>(elements);
  for_places(spec, [&](std::int64_t first, std::int64_t last) {
    for_indices(spec, index, first, last, [&](std::int64_t p, std::int64_t place) { to[place] = value[p]; });
  });
}

void set_rows(const RoutineSpec& spec, const std::int64_t* index, const char* value, char* to) {
  const std::int64_t bytes = spec.rows * static_cast<std::int64_t>(itemsize(spec.dtype));
  if (spec.rows == 1) {
    switch (bytes) {
      case 1: return set_elements<std::uint8_t>(spec, index, value, to);
      case 2: return set_elements<std::uint16_t>(spec, index, value, to);
      case 4: return set_elements<std::uint32_t>(spec, index, value, to);
      case 8: return set_elements<std::uint64_t>(spec, index, value, to);
      default: break;
    }
  }
  for_places(spec, [&](std::int64_t first, std::int64_t last) {
    for_indices(spec, index, first, last, [&](std::int64_t p, std::int64_t place) {
      std::memcpy(to + place * bytes, value + p * bytes, static_cast<std::size_t>(bytes));
    });
  });
}

/// Values of T joined by an operation that knows no order, and to which `neutral` adds nothing.
template <class T, class Join>
void join_in_parts(const RoutineSpec& spec, std::span<void* const> operands, void* scratch, T neutral,
                   const Join& join) {
  // Few places have several tables to a part, since a join waits for the one before it in the same place.
  constexpr std::int64_t kTables = 4, kFewPlaces = 256;
  const auto* const index = static_cast<const std::int64_t*>(operands[0]);
  const T* const value = static_cast<const T*>(operands[1]);
  T* const to = static_cast<T*>(operands[2]);
  const std::int64_t n = spec.n, parts = std::min<std::int64_t>(codegen::joining_parts(spec), thread_count());
  const auto join_all = [&](std::int64_t from, std::int64_t until, T* places) {
    std::int64_t p = from;
    if (n <= kFewPlaces) {
      T tables[kTables * kFewPlaces];
      std::fill_n(tables, kTables * n, neutral);
      for (; p + kTables <= until; p += kTables)
        for (std::int64_t t = 0; t < kTables; ++t) {
          T& place = tables[t * n + index[p + t]];
          place = join(place, value[p + t]);
        }
      for (std::int64_t k = 0; k < kTables * n; ++k) places[k % n] = join(places[k % n], tables[k]);
    }
    for (; p < until; ++p) places[index[p]] = join(places[index[p]], value[p]);
  };
  const auto places = [&](std::int64_t part) { return part == 0 ? to : static_cast<T*>(scratch) + (part - 1) * n; };
  parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t part = lo; part < hi; ++part) {
      if (part > 0) std::fill_n(places(part), n, neutral);
      join_all(spec.m * part / parts, spec.m * (part + 1) / parts, places(part));
    }
  });
  for (std::int64_t part = 1; part < parts; ++part)
    for (std::int64_t place = 0; place < n; ++place) to[place] = join(to[place], places(part)[place]);
}

/// Rows of T joined element by element.
template <class T, class Join>
void join_rows(const RoutineSpec& spec, std::span<void* const> operands, const Join& join) {
  const auto* const index = static_cast<const std::int64_t*>(operands[0]);
  const T* const value = static_cast<const T*>(operands[1]);
  T* const to = static_cast<T*>(operands[2]);
  for_places(spec, [&](std::int64_t first, std::int64_t last) {
    for_indices(spec, index, first, last, [&](std::int64_t p, std::int64_t place) {
      if (spec.rows == 1) {
        to[place] = join(to[place], value[p]);
        return;
      }
      for (std::int64_t c = 0; c < spec.rows; ++c)
        to[place * spec.rows + c] = join(to[place * spec.rows + c], value[p * spec.rows + c]);
    });
  });
}

/// The same in parts where that is less work.
template <class T, class Join>
void join_values(const RoutineSpec& spec, std::span<void* const> operands, void* scratch, T neutral, const Join& join) {
  if (codegen::joining_parts(spec) > 1) return join_in_parts<T>(spec, operands, scratch, neutral, join);
  join_rows<T>(spec, operands, join);
}

template <Extreme kWhich, class T>
void choose_values(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  using Limits = std::numeric_limits<T>;
  const T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  join_values<T>(spec, operands, scratch, kWhich == Extreme::Least ? most : least, choose<kWhich, T>);
}

/// Numbers of a machine's own type.
template <class T>
void join_numbers(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (spec.op == Op::ScatterMin) return choose_values<Extreme::Least, T>(spec, operands, scratch);
  if (spec.op == Op::ScatterMax) return choose_values<Extreme::Most, T>(spec, operands, scratch);
  if constexpr (std::is_integral_v<T>) {  // in unsigned words, since they may wrap
    using Word = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    const auto wide = [](T x) { return static_cast<Word>(x); };
    const auto add = [&](T a, T b) { return static_cast<T>(wide(a) + wide(b)); };
    const auto multiply = [&](T a, T b) { return static_cast<T>(wide(a) * wide(b)); };
    if (spec.op == Op::ScatterAdd) return join_values<T>(spec, operands, scratch, T{0}, add);
    TARRY_ASSERT(spec.op == Op::ScatterMultiply);
    return join_values<T>(spec, operands, scratch, T{1}, multiply);
  }
  TARRY_ASSERT(false && "floats are not added or multiplied so");
}

/// Halves by the function that kernels call.
void choose_halves(const RoutineSpec& spec, std::span<void* const> operands) {
  TARRY_ASSERT(spec.op == Op::ScatterMin || spec.op == Op::ScatterMax);
  const Op op = spec.op == Op::ScatterMin ? Op::Minimum : Op::Maximum;
  const codegen::ScalarFunction join = codegen::scalar_function(op, spec.dtype, spec.dtype);
  join_rows<std::uint16_t>(spec, operands, [join](std::uint16_t a, std::uint16_t b) {
    alignas(8) std::uint16_t cells[3][4] = {{}, {a}, {b}};
    join(cells[0], cells[1], cells[2], nullptr);
    return cells[0][0];
  });
}

constexpr std::int64_t kWord = 64;

/// Bit i is set where mask[i] is true, of up to kWord elements.
std::uint64_t truth(const std::uint8_t* mask, std::int64_t n) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f, kOnes = 0x0101010101010101, kToTopByte = 0x0102040810204080;
  std::uint64_t bits = 0;
  std::int64_t i = 0;
  for (; i + 8 <= std::min(n, kWord); i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, mask + i, sizeof bytes);
    const std::uint64_t ones = ((bytes | ((bytes & kLow) + kLow)) >> 7) & kOnes;
    bits |= ((ones * kToTopByte) >> 56) << i;
  }
  for (; i < std::min(n, kWord); ++i) bits |= std::uint64_t{mask[i] != 0} << i;
  return bits;
}

}  // namespace

void scatter_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (spec.op == Op::ScatterSet) {
    return set_rows(spec, static_cast<const std::int64_t*>(operands[0]), static_cast<const char*>(operands[1]),
                    static_cast<char*>(operands[2]));
  }
  switch (spec.dtype) {
    case Dtype::Bool:
    case Dtype::UInt8: return join_numbers<std::uint8_t>(spec, operands, scratch);
    case Dtype::Int8: return join_numbers<std::int8_t>(spec, operands, scratch);
    case Dtype::Int16: return join_numbers<std::int16_t>(spec, operands, scratch);
    case Dtype::UInt16: return join_numbers<std::uint16_t>(spec, operands, scratch);
    case Dtype::Int32: return join_numbers<std::int32_t>(spec, operands, scratch);
    case Dtype::UInt32: return join_numbers<std::uint32_t>(spec, operands, scratch);
    case Dtype::Int64: return join_numbers<std::int64_t>(spec, operands, scratch);
    case Dtype::UInt64: return join_numbers<std::uint64_t>(spec, operands, scratch);
    case Dtype::Float16:
    case Dtype::BFloat16: return choose_halves(spec, operands);
    case Dtype::Float32: return join_numbers<float>(spec, operands, scratch);
    case Dtype::Float64: return join_numbers<double>(spec, operands, scratch);
    default: TARRY_ASSERT(false && "no kernel computes in the dtype");
  }
}

void compact_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  const auto* const mask = static_cast<const std::uint8_t*>(operands[0]);
  auto *const to = static_cast<std::int64_t*>(operands[1]), *const before = static_cast<std::int64_t*>(scratch);
  const std::int64_t n = spec.n, tiles = (n + kCompactTile - 1) / kCompactTile;
  const auto for_tiles = [&](const auto& body) {
    parallel_for(tiles, 4, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t t = lo; t < hi; ++t) body(t, t * kCompactTile, std::min(n, (t + 1) * kCompactTile));
    });
  };
  for_tiles([&](std::int64_t tile, std::int64_t first, std::int64_t last) {
    before[tile] = 0;
    for (std::int64_t i = first; i < last; i += kWord) before[tile] += std::popcount(truth(mask + i, last - i));
  });
  std::int64_t sum = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t count = before[t];
    before[t] = sum;
    sum += count;
  }
  to[n] = sum;
  for_tiles([&](std::int64_t tile, std::int64_t first, std::int64_t last) {
    std::int64_t* next = to + before[tile];
    for (std::int64_t i = first; i < last; i += kWord)
      for (std::uint64_t bits = truth(mask + i, last - i); bits != 0; bits &= bits - 1)
        *next++ = i + std::countr_zero(bits);
  });
}

}  // namespace tarry::runtime
