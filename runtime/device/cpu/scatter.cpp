// Scatter and Compact on the CPU. A thread has some of the places and goes over all indices, so what goes to one place
// comes in index order, whatever the number of threads.
#include <algorithm>
#include <cstring>

#include "codegen/interpret/interpreter.h"
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

/// Calls body(p, place) for every index p whose place is within [first, last), in order.
template <class Body>
void for_indices(const RoutineSpec& spec, const std::int64_t* index, std::int64_t first, std::int64_t last,
                 const Body& body) {
  for (std::int64_t p = 0; p < spec.m; ++p)
    if (index[p] >= first && index[p] < last) body(p, index[p]);
}

template <std::size_t kSize>
void set_elements(const RoutineSpec& spec, const std::int64_t* index, const char* value, char* to) {
  for_places(spec, [&](std::int64_t first, std::int64_t last) {
    for_indices(spec, index, first, last, [&](std::int64_t p, std::int64_t place) {
      std::memcpy(to + place * static_cast<std::int64_t>(kSize), value + p * static_cast<std::int64_t>(kSize), kSize);
    });
  });
}

void set_rows(const RoutineSpec& spec, const std::int64_t* index, const char* value, char* to) {
  const std::int64_t bytes = spec.rows * static_cast<std::int64_t>(itemsize(spec.dtype));
  if (spec.rows == 1) {
    switch (bytes) {
      case 1: return set_elements<1>(spec, index, value, to);
      case 2: return set_elements<2>(spec, index, value, to);
      case 4: return set_elements<4>(spec, index, value, to);
      case 8: return set_elements<8>(spec, index, value, to);
      default: break;
    }
  }
  for_places(spec, [&](std::int64_t first, std::int64_t last) {
    for_indices(spec, index, first, last, [&](std::int64_t p, std::int64_t place) {
      std::memcpy(to + place * bytes, value + p * bytes, static_cast<std::size_t>(bytes));
    });
  });
}

/// Rows of T joined element by element.
template <class T, class Join>
void join_rows(const RoutineSpec& spec, std::span<void* const> operands, const Join& join) {
  const auto* const index = static_cast<const std::int64_t*>(operands[0]);
  const T* const value = static_cast<const T*>(operands[1]);
  T* const to = static_cast<T*>(operands[2]);
  for_places(spec, [&](std::int64_t first, std::int64_t last) {
    for_indices(spec, index, first, last, [&](std::int64_t p, std::int64_t place) {
      for (std::int64_t c = 0; c < spec.rows; ++c)
        to[place * spec.rows + c] = join(to[place * spec.rows + c], value[p * spec.rows + c]);
    });
  });
}

/// Integers by C++'s operators, in unsigned words where they may wrap.
template <class T>
void join_integers(const RoutineSpec& spec, std::span<void* const> operands) {
  using Word = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
  const auto wide = [](T x) { return static_cast<Word>(x); };
  switch (spec.op) {
    case Op::ScatterAdd:
      return join_rows<T>(spec, operands, [&](T a, T b) { return static_cast<T>(wide(a) + wide(b)); });
    case Op::ScatterMultiply:
      return join_rows<T>(spec, operands, [&](T a, T b) { return static_cast<T>(wide(a) * wide(b)); });
    case Op::ScatterMin: return join_rows<T>(spec, operands, [](T a, T b) { return std::min(a, b); });
    default:
      TARRY_ASSERT(spec.op == Op::ScatterMax);
      return join_rows<T>(spec, operands, [](T a, T b) { return std::max(a, b); });
  }
}

/// Floats by the function that kernels call.
template <class T>
void join_floats(const RoutineSpec& spec, std::span<void* const> operands) {
  TARRY_ASSERT(spec.op == Op::ScatterMin || spec.op == Op::ScatterMax);
  const Op op = spec.op == Op::ScatterMin ? Op::Minimum : Op::Maximum;
  const codegen::ScalarFunction join = codegen::scalar_function(op, spec.dtype, spec.dtype);
  join_rows<T>(spec, operands, [join](T a, T b) {
    alignas(8) T cells[3][8 / sizeof(T)] = {{}, {a}, {b}};
    join(cells[0], cells[1], cells[2], nullptr);
    return cells[0][0];
  });
}

}  // namespace

void scatter_on_host(const RoutineSpec& spec, std::span<void* const> operands) {
  if (spec.op == Op::ScatterSet) {
    return set_rows(spec, static_cast<const std::int64_t*>(operands[0]), static_cast<const char*>(operands[1]),
                    static_cast<char*>(operands[2]));
  }
  switch (spec.dtype) {
    case Dtype::Bool:
    case Dtype::UInt8: return join_integers<std::uint8_t>(spec, operands);
    case Dtype::Int8: return join_integers<std::int8_t>(spec, operands);
    case Dtype::Int16: return join_integers<std::int16_t>(spec, operands);
    case Dtype::UInt16: return join_integers<std::uint16_t>(spec, operands);
    case Dtype::Int32: return join_integers<std::int32_t>(spec, operands);
    case Dtype::UInt32: return join_integers<std::uint32_t>(spec, operands);
    case Dtype::Int64: return join_integers<std::int64_t>(spec, operands);
    case Dtype::UInt64: return join_integers<std::uint64_t>(spec, operands);
    case Dtype::Float16:
    case Dtype::BFloat16: return join_floats<std::uint16_t>(spec, operands);
    case Dtype::Float32: return join_floats<float>(spec, operands);
    case Dtype::Float64: return join_floats<double>(spec, operands);
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
    std::int64_t count = 0;
    for (std::int64_t i = first; i < last; ++i) count += mask[i] != 0 ? 1 : 0;
    before[tile] = count;
  });
  std::int64_t sum = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t count = before[t];
    before[t] = sum;
    sum += count;
  }
  to[n] = sum;
  for_tiles([&](std::int64_t tile, std::int64_t first, std::int64_t last) {
    std::int64_t next = before[tile];
    for (std::int64_t i = first; i < last; ++i)
      if (mask[i] != 0) to[next++] = i;
  });
}

}  // namespace tarry::runtime
