// The numbers of bins and runs, in the dtypes in which Bincount and the Segment ops take them (graph/op.h).
#pragma once

#include <tarry/dtype.h>

#include <cstdint>
#include <cstring>

#include "support/check.h"

namespace tarry::runtime {

inline bool names_numbers(Dtype dtype) {
  return dtype == Dtype::UInt8 || dtype == Dtype::UInt16 || dtype == Dtype::UInt32 || dtype == Dtype::Int64;
}

/// Calls body with a value of the dtype's C++ type.
template <class Body>
void with_numbers(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::UInt8: return body(std::uint8_t{});
    case Dtype::UInt16: return body(std::uint16_t{});
    case Dtype::UInt32: return body(std::uint32_t{});
    default: TARRY_ASSERT(dtype == Dtype::Int64); return body(std::int64_t{});
  }
}

/// How often each of 0 .. bins - 1 is there. Few bins are counted in several tables, since a count waits for the one
/// before it in the same place.
template <class Number>
void count(const Number* ids, std::int64_t n, std::int64_t* counts, std::int64_t bins) {
  constexpr std::int64_t kTables = 4, kFewBins = 512;
  std::memset(counts, 0, static_cast<std::size_t>(bins) * sizeof *counts);
  const auto is_bin = [bins](Number id) { return static_cast<std::uint64_t>(id) < static_cast<std::uint64_t>(bins); };
  std::int64_t i = 0;
  if (bins <= kFewBins && n > kTables * bins) {
    std::int64_t tables[kTables][kFewBins] = {};
    for (; i + kTables <= n; i += kTables)
      for (std::int64_t t = 0; t < kTables; ++t)
        if (is_bin(ids[i + t])) ++tables[t][ids[i + t]];
    for (const auto& table : tables)
      for (std::int64_t b = 0; b < bins; ++b) counts[b] += table[b];
  }
  for (; i < n; ++i)
    if (is_bin(ids[i])) ++counts[ids[i]];
}

}  // namespace tarry::runtime
