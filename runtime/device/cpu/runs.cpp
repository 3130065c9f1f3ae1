// Searchsorted and Bincount on the CPU.
#include <algorithm>
#include <cstring>

#include "runtime/device/cpu/numbers.h"
#include "runtime/device/cpu/order_key.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/parallel.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

using codegen::RoutineSpec;
using graph::Op;

template <class Key>
void search(const RoutineSpec& spec, std::span<void* const> operands) {
  using Bits = typename Key::Bits;
  const auto* const sorted = static_cast<const Bits*>(operands[0]);
  const auto* const x = static_cast<const Bits*>(operands[1]);
  auto* const to = static_cast<std::int64_t*>(operands[2]);
  constexpr std::int64_t kGrain = 1024, kNear = 64;
  parallel_for(spec.m, kGrain, [&](std::int64_t lo, std::int64_t hi) {
    Bits last = 0;
    std::int64_t place = 0;  // of it
    bool near = false;       // to the place before
    for (std::int64_t i = lo; i < hi; ++i) {
      const Bits key = Key::merging(x[i]);
      const auto behind = [&](std::int64_t at) {
        const Bits there = Key::merging(sorted[at]);
        return spec.reversed() ? there <= key : there < key;
      };
      // The place is one of low .. low + left.
      std::int64_t low = 0, left = spec.n;
      if (near && key >= last) {  // what is looked for ascends: in steps from there on
        low = place;
        left = spec.n - place;
        std::int64_t step = 1;
        for (; step <= left && behind(low + step - 1); step *= 2) {
          low += step;
          left -= step;
        }
        left = std::min(left, step - 1);
      }
      while (left > 0) {
        const std::int64_t half = left / 2;
        const bool later = behind(low + half);
        low = later ? low + half + 1 : low;
        left = later ? left - half - 1 : half;
      }
      near = low >= place && low - place < kNear;
      last = key;
      place = low;
      to[i] = low;
    }
  });
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

}  // namespace

void search_on_host(const RoutineSpec& spec, std::span<void* const> operands) {
  with_key(spec.dtype, [&](auto key) { search<decltype(key)>(spec, operands); });
}

void count_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  with_numbers(spec.dtype, [&](auto number) {
    const auto* const ids = static_cast<const decltype(number)*>(operands[0]);
    auto* const to = static_cast<std::int64_t*>(operands[1]);
    const std::int64_t parts = codegen::counting_parts(spec);
    if (parts == 1) return count(ids, spec.n, to, spec.m);
    auto* const tables = static_cast<std::int64_t*>(scratch);
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t p = lo; p < hi; ++p) {
        const std::int64_t from = spec.n * p / parts;
        count(ids + from, spec.n * (p + 1) / parts - from, tables + p * spec.m, spec.m);
      }
    });
    for (std::int64_t b = 0; b < spec.m; ++b) {
      to[b] = 0;
      for (std::int64_t p = 0; p < parts; ++p) to[b] += tables[p * spec.m + b];
    }
  });
}

void run_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (graph::is_sort(spec.op)) return sort_on_host(spec, operands, scratch);
  if (graph::is_segments(spec.op)) return fold_runs_on_host(spec, operands, scratch);
  if (graph::is_scatter(spec.op)) return scatter_on_host(spec, operands);
  if (graph::is_matrices(spec.op)) return run_matrices_on_host(spec, operands, scratch);
  if (spec.op == Op::Compact) return compact_on_host(spec, operands, scratch);
  if (spec.op == Op::Searchsorted) return search_on_host(spec, operands);
  TARRY_ASSERT(spec.op == Op::Bincount);
  count_on_host(spec, operands, scratch);
}

}  // namespace tarry::runtime
