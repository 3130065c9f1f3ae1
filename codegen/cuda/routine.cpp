// Routines: names, memory and launches, by op.
#include "codegen/cuda/routine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/cuda/routine_kernels.h"
#include "codegen/prelude/text.h"
#include "codegen/render/common.h"
#include "support/check.h"
#include "support/hash.h"

namespace tarry::codegen {

std::string RoutineSpec::str() const {
  const std::string_view suffix = info(dtype).suffix;
  std::string text = fmt::format("{} {} ({}, {})", graph::name(op), suffix, rows, n);
  if (graph::is_matrices(op)) return fmt::format("{} {} ({}, {}, {}) for {}", graph::name(op), suffix, rows, n, n, m);
  if (!graph::is_sort(op)) text += fmt::format(" to {}", m);
  if (op == graph::Op::Argsort && m < n) text += fmt::format(", the first {}", m);
  if (!ranks.empty()) text += fmt::format(", ranks {} to {}", ranks.front().from, ranks.back().to - 1);
  return reversed() ? text + " reversed" : text;
}

std::string bits_type(Dtype dtype) { return fmt::format("tarry_u{}", 8 * itemsize(dtype)); }

const char* infinity_bits(Dtype dtype) {
  return dtype == float16    ? "0x7c00"
         : dtype == bfloat16 ? "0x7f80"
         : dtype == float32  ? "0x7f800000"
                             : "0x7ff0000000000000";
}

std::string key_function(const RoutineSpec& spec, Zeros zeros) {
  const std::string bits = bits_type(spec.dtype);
  const std::string top = fmt::format("(({})1 << {})", bits, 8 * itemsize(spec.dtype) - 1);
  const bool falls = graph::is_sort(spec.op) && spec.reversed();
  std::string body;
  if (is_floating(spec.dtype)) {
    body = fmt::format("  if (({0})(x & ({0})~{1}) > ({0}){2}) return ({0})~({0})0;\n", bits, top,
                       infinity_bits(spec.dtype));
    if (zeros == Zeros::Equal) body += fmt::format("  if (x == {}) x = 0;\n", top);
    body += fmt::format("  const {0} k = ({0})(x & {1} ? ~x : x | {1});\n", bits, top);
  } else if (info(spec.dtype).kind == DtypeKind::Int) {
    body = fmt::format("  const {0} k = ({0})(x ^ {1});\n", bits, top);
  } else {
    body = fmt::format("  const {} k = x;\n", bits);
  }
  return fmt::format("__device__ __forceinline__ {0} $N_key({0} x) {{\n{1}  return {2};\n}}\n", bits, body,
                     falls ? fmt::format("({})~k", bits) : "k");
}

std::string element_function(const RoutineSpec& spec) {
  const std::string bits = bits_type(spec.dtype);
  const std::string top = fmt::format("(({})1 << {})", bits, 8 * itemsize(spec.dtype) - 1);
  std::string body;
  if (spec.reversed()) body = "  key = ~key;\n";
  if (is_floating(spec.dtype))
    body += fmt::format("  return ({0})(key & {1} ? key ^ {1} : ~key);\n", bits, top);
  else
    body += fmt::format("  return ({0})(key{1});\n", bits, info(spec.dtype).kind == DtypeKind::Int ? " ^ " + top : "");
  return fmt::format("__device__ __forceinline__ {0} $N_element({0} key) {{\n{1}}}\n", bits, body);
}

KernelSource routine_kernel(std::string_view word, std::string_view text, std::span<const TextPart> parts,
                            std::span<const std::string> functions, int threads) {
  std::string kernel(text);
  for (const TextPart& p : parts) replace_all(kernel, p.name, p.text);
  KernelSource source;
  source.sections = prelude_sections(functions);
  source.prelude = prelude_text(source.sections, Dialect::Cuda);
  source.entry = fmt::format("{}_{}", word, support::hash_bytes(source.prelude + kernel).hex().substr(0, 8));
  replace_all(kernel, "$N", source.entry);
  source.kernel = std::move(kernel);
  source.text = source.prelude + source.kernel;
  source.threads = threads;
  return source;
}

std::int64_t striding_grid(std::int64_t wanted) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  return std::min(wanted, kMost);
}

std::size_t routine_scratch(const RoutineSpec& spec, const graph::Target& target) {
  if (spec.op == graph::Op::Compact) return compact_scratch(spec);
  if (target.is_cuda() && graph::is_scatter(spec.op)) return scatter_scratch(spec);
  if (target.is_cuda() && graph::is_segments(spec.op)) return segment_scratch(spec);
  if (target.is_cuda() && graph::is_matrices(spec.op)) return matrix_scratch(spec);
  if (target.is_cuda()) return graph::is_sort(spec.op) ? sort_scratch(spec) : 0;
  return host_scratch(spec);
}

std::vector<KernelSource> render_routine(const RoutineSpec& spec, const graph::Target& target) {
  TARRY_ASSERT(target.is_cuda());
  if (spec.op == graph::Op::Compact) return compact_kernels();
  if (graph::is_scatter(spec.op)) return scatter_kernels(spec);
  if (graph::is_segments(spec.op)) return segment_kernels(spec);
  if (graph::is_matrices(spec.op)) return matrix_kernels(spec);
  return graph::is_sort(spec.op) ? sort_kernels(spec) : run_kernels(spec);
}

std::vector<RoutineLaunch> routine_launches(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  if (spec.op == graph::Op::Compact) return compact_launches(spec, operands, scratch);
  if (graph::is_scatter(spec.op)) return scatter_launches(spec, operands, scratch);
  if (graph::is_segments(spec.op)) return segment_launches(spec, operands, scratch);
  if (graph::is_matrices(spec.op)) return matrix_launches(spec, operands, scratch);
  return graph::is_sort(spec.op) ? sort_launches(spec, operands, scratch) : run_launches(spec, operands);
}

std::int64_t routine_launch_count(const RoutineSpec& spec, std::size_t kernels) {
  if (kernels == 0) return 1;
  if (graph::is_segments(spec.op)) return segment_launch_count(spec);
  return graph::is_sort(spec.op) ? sort_launch_count(spec) : static_cast<std::int64_t>(kernels);
}

// ---------------------------------------------------------------- the CPU

bool packs(const RoutineSpec& spec) { return itemsize(spec.dtype) <= 4 && spec.n <= std::int64_t{1} << 32; }

std::int64_t counting_parts(const RoutineSpec& spec) {
  constexpr std::int64_t kMost = 16;
  return std::clamp<std::int64_t>(spec.n / std::max<std::int64_t>(buckets(spec), 1 << 14), 1, kMost);
}

constexpr std::int64_t kMostNear = 1 << 15;  // elements that a cache of a core holds, of 8 bytes

std::int64_t runs_of_bucket(const RoutineSpec& spec) {
  constexpr std::int64_t kMostCells = 1 << 12, kElements = kMostNear / 2, kMostBuckets = 1 << 11;
  if (!graph::is_segments(spec.op) || !spec.reversed() || spec.m <= kMostCells) return 1;
  const std::int64_t filled = std::max<std::int64_t>(1, spec.n / kElements), count = std::min(filled, kMostBuckets);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>((spec.m - 1) / count + 1)));
}

std::int64_t buckets(const RoutineSpec& spec) { return (spec.m - 1) / runs_of_bucket(spec) + 1; }

std::int64_t filling_parts(const RoutineSpec& spec) {
  constexpr std::int64_t kMost = 16, kCache = 1 << 22;
  const bool folds = spec.op == graph::Op::SegmentSum || spec.op == graph::Op::SegmentProd;
  const std::int64_t filling = spec.m * kTreeBlock;
  if (!folds || !spec.reversed() || !is_floating(spec.dtype) || spec.n <= kInCache) return 0;
  if (filling * static_cast<std::int64_t>(itemsize(spec.dtype)) > kCache) return 0;
  return std::min(spec.n / filling, kMost);
}

std::int64_t blocks_of_runs(const RoutineSpec& spec) { return spec.n / kTreeBlock + spec.m; }

std::int64_t bucket_jobs(const RoutineSpec& spec) {
  constexpr std::int64_t kMost = 32;
  return std::min(buckets(spec), kMost);
}

std::int64_t near_elements(const RoutineSpec& spec) { return std::min(spec.n, kMostNear); }

std::int64_t host_columns(const RoutineSpec& spec) { return std::max(kSmallMatrix, spec.n); }

std::int64_t host_jobs(const RoutineSpec& spec) {
  return spec.rows * ((spec.m + host_columns(spec) - 1) / host_columns(spec));
}

std::int64_t host_parts(const RoutineSpec& spec) {
  constexpr std::int64_t kMost = 64;
  return std::min(host_jobs(spec), kMost);
}

std::int64_t joining_parts(const RoutineSpec& spec) {
  constexpr std::int64_t kMost = 16, kFewToPlace = 4;
  if (spec.op == graph::Op::ScatterSet || spec.rows != 1) return 1;
  return std::clamp<std::int64_t>(spec.m / kFewToPlace / spec.n, 1, kMost);
}

/// Memory of BucketedRuns (runtime/device/cpu/run_buckets.h).
std::size_t bucketed_bytes(const RoutineSpec& spec) {
  constexpr auto kBytes = &ScratchArrays::bytes;
  const std::size_t each = itemsize(spec.dtype), word = sizeof(std::int64_t);
  const std::int64_t cells = words_apart(buckets(spec)), of_parts = counting_parts(spec) * cells;
  const std::int64_t staged = spec.n <= kInCache ? 0 : of_parts * kStagedElements;
  return 2 * kBytes(spec.n, each) + kBytes(spec.n, sizeof(NumberInBucket)) +
         kBytes(bucket_jobs(spec) * near_elements(spec), each) + kBytes(staged, each) +
         kBytes(staged, sizeof(NumberInBucket)) + 2 * kBytes(of_parts, word) + kBytes(cells + 1, word) +
         kBytes(spec.m, word);
}

/// Memory of FewRuns (runtime/device/cpu/few_runs.h).
std::size_t filling_bytes(const RoutineSpec& spec) {
  constexpr auto kBytes = &ScratchArrays::bytes;
  const std::size_t each = itemsize(spec.dtype), word = sizeof(std::int64_t);
  const std::int64_t parts = filling_parts(spec), filling = parts * spec.m * kTreeBlock;
  return kBytes((parts + 1) * spec.m, word) + kBytes(spec.m + 1, word) + kBytes(parts * words_apart(spec.m), word) +
         kBytes(blocks_of_runs(spec), each) + 2 * kBytes(filling, each);
}

std::size_t segments_scratch(const RoutineSpec& spec) {
  constexpr std::size_t kState = 4 * sizeof(std::int64_t);
  const std::size_t chunks = static_cast<std::size_t>(spec.n / (64 * kTreeBlock) + 1) * kState;
  if (!spec.reversed()) return chunks;
  return std::max(chunks, filling_parts(spec) > 0 ? filling_bytes(spec) : bucketed_bytes(spec));
}

std::size_t host_scratch(const RoutineSpec& spec) {
  if (graph::is_scatter(spec.op))
    return static_cast<std::size_t>((joining_parts(spec) - 1) * spec.n) * itemsize(spec.dtype);
  if (graph::is_matrices(spec.op)) {
    const std::int64_t elements = spec.n <= kSmallMatrix ? 0 : host_parts(spec) * matrix_work(spec, host_columns(spec));
    return static_cast<std::size_t>(elements) * itemsize(spec.dtype);
  }
  const auto elements = static_cast<std::size_t>(spec.rows * spec.n);
  if (spec.op == graph::Op::Sort) return kSortTables + elements * itemsize(spec.dtype);
  if (spec.op == graph::Op::Argsort) return kSortTables + elements * (packs(spec) ? 8 : 32);
  const auto counts = static_cast<std::size_t>(counting_parts(spec) * buckets(spec)) * sizeof(std::int64_t);
  if (graph::is_segments(spec.op)) return segments_scratch(spec);
  return spec.op == graph::Op::Bincount && counting_parts(spec) > 1 ? counts : 0;
}

}  // namespace tarry::codegen
