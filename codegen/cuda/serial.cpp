// CUDA C of short rows: a thread goes over a row from left to right, once per stage. Rows that follow one another in
// memory pass through shared memory, so that neighbouring threads touch neighbouring addresses.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"
#include "support/check.h"

namespace tarry::codegen::cuda {
namespace {

constexpr int kStagedRowThreads =
    128;  // others compute while these wait for their rows, or for the last of them to be written
constexpr int kTogetherThreads = 128;  // of many registers, which a multiprocessor shares out in small parts
constexpr int kFewestThreads = 64;
constexpr std::size_t kSharedBytes = 40 * 1024;

/// An access whose rows pass through shared memory, and where: stores take over what loads of the dtype have left.
struct Staged {
  std::uint32_t access;
  std::size_t slot;
};

struct SerialPlan {
  int threads = kThreads;
  std::vector<Staged> staged;
  std::vector<Dtype> slots;
};

/// Elements of the longest row of the kernel's class, or 0 where that is not known.
int longest_known(const KernelIr& ir) {
  return ir.is_row() ? ir.as<RowSerialLayout>().longest_row : ir.as<ReduceSerialLayout>().longest_row;
}
int longest(const KernelIr& ir) { return longest_known(ir) > 0 ? longest_known(ir) : 32; }

/// True if registers hold the rows: those that later stages come back to, and those that are short.
bool holds_row(const KernelIr& ir) { return longest_known(ir) > 0 && (ir.is_row() || longest_known(ir) <= kShortLoop); }

/// True if all rows have as many elements as the longest.
bool is_exact(const KernelIr& ir) {
  return longest_known(ir) > 0 && longest_known(ir) <= (ir.is_row() ? kShortRow : kShortLoop);
}

bool passes_through(const KernelIr& ir, std::uint32_t access) {
  const Access& a = ir.accesses[access];
  if (a.buffer == kNone || a.outer_only || a.reduced != StrideClass::One) return false;
  if (a.strides.size() != 1 || a.strides[0] != StrideClass::Any) return false;
  return std::none_of(ir.instrs.begin(), ir.instrs.end(), [&](const Instr& in) {
    const bool uses = (in.kind == InstrKind::Load || in.kind == InstrKind::Store) && in.index == access;
    return uses && (in.guard != kNone || in.region != Region::Point);
  });
}

/// Neighbouring rows of a few elements share their memory transactions as they are, where they are only loaded.
bool worth_staging(const KernelIr& ir) {
  const auto stores = [](const Instr& in) { return in.kind == InstrKind::Store && in.region == Region::Point; };
  return longest(ir) > (std::any_of(ir.instrs.begin(), ir.instrs.end(), stores) ? kShortLoop : 8);
}

SerialPlan serial_plan(const KernelIr& ir) {
  SerialPlan plan;
  if (!worth_staging(ir)) return plan;
  std::vector<bool> taken;
  for (const bool store : {false, true}) {
    for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) {
      if (ir.accesses[a].store != store || !passes_through(ir, a)) continue;
      const Dtype dtype = ir.buffers[ir.accesses[a].buffer];
      std::size_t slot = 0;
      while (slot < plan.slots.size() && (!store || taken[slot] || plan.slots[slot] != dtype)) ++slot;
      if (slot == plan.slots.size()) {
        plan.slots.push_back(dtype);
        taken.push_back(false);
      }
      taken[slot] = store;
      plan.staged.push_back({a, slot});
    }
  }
  if (ir.is_row() && !plan.staged.empty()) plan.threads = kStagedRowThreads;
  std::size_t row_bytes = 0;
  for (const Dtype dtype : plan.slots) row_bytes += itemsize(dtype) * static_cast<std::size_t>(longest(ir) | 1);
  while (plan.threads > kFewestThreads && row_bytes * static_cast<std::size_t>(plan.threads) > kSharedBytes)
    plan.threads /= 2;
  if (row_bytes * static_cast<std::size_t>(plan.threads) > kSharedBytes) return {};
  return plan;
}

constexpr std::string_view kMoves = R"(
// Where a thread is on its way through rows of n elements or runs of them, $T at a step.
struct $N_spot {
  int row, column;
};
__device__ __forceinline__ $N_spot $N_first_spot(int n) { return {(int)threadIdx.x / n, (int)threadIdx.x % n}; }
__device__ __forceinline__ $N_spot $N_next_spot($N_spot w, int n) {
  w.row += $T / n;
  w.column += $T % n;
  if (w.column >= n) {
    w.column -= n;
    ++w.row;
  }
  return w;
}

// Elements that a thread moves at once.
template <class T, int kRun>
struct alignas(kRun * sizeof(T) < 16 ? kRun * sizeof(T) : 16) $N_elements { T v[kRun]; };

// Rows in shared memory are an odd number of elements apart: threads that go along neighbouring rows meet different banks.
// Where memory has them so too, they are one row; four elements go at once where rows are whole fours and begin on their
// boundaries.
struct $N_lines {
  int rows, n;
  bool fours;
};
template <class T>
__device__ __forceinline__ $N_lines $N_lines_of(const T* memory, tarry_i64 stride, int rows, int n) {
  $N_lines l = {rows, n};
  if (stride == n && n % 2 == 1) l = {1, rows * n};
  const tarry_u64 bits = (tarry_u64)memory | (tarry_u64)l.n * sizeof(T) | (l.rows > 1 ? (tarry_u64)stride * sizeof(T) : 0);
  l.fours = bits % (4 * sizeof(T)) == 0;
  return l;
}

template <int kRun, class T>
__device__ __forceinline__ void $N_gather(const T* from, tarry_i64 stride, T* to, int rows, int n) {
  constexpr int kAtOnce = kRun == 1 ? 8 : 4;
  const int runs = n / kRun;
  for ($N_spot w = $N_first_spot(runs); w.row < rows;) {
    $N_elements<T, kRun> x[kAtOnce];
    int at[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u, w = $N_next_spot(w, runs)) {
      at[u] = w.row < rows ? w.row * (n | 1) + w.column * kRun : -1;
      if (w.row < rows) x[u] = *(const $N_elements<T, kRun>*)(from + w.row * stride + w.column * kRun);
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
#pragma unroll
      for (int i = 0; i < kRun; ++i)
        if (at[u] >= 0) to[at[u] + i] = x[u].v[i];
    }
  }
}

template <int kRun, class T>
__device__ __forceinline__ void $N_scatter(const T* from, T* to, tarry_i64 stride, int rows, int n) {
  const int runs = n / kRun;
  for ($N_spot w = $N_first_spot(runs); w.row < rows; w = $N_next_spot(w, runs)) {
    $N_elements<T, kRun> x;
#pragma unroll
    for (int i = 0; i < kRun; ++i) x.v[i] = from[w.row * (n | 1) + w.column * kRun + i];
    *($N_elements<T, kRun>*)(to + w.row * stride + w.column * kRun) = x;
  }
}
)";

constexpr std::string_view kHead = R"(
extern "C" __global__ void __launch_bounds__($T) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 base = (tarry_i64)blockIdx.x * $T, i = base + threadIdx.x;
  const int n = $LENGTH, rows = p.count - base < $T ? (int)(p.count - base) : $T;
)";

constexpr std::string_view kRow = R"(  if ((int)threadIdx.x < rows) {
    $N_at t = $N_place(p, ($O)i);
    const $N_row r = $N_begin(p, t, 0);
)";

/// For a reduction alone, and for rows of nothing.
constexpr std::string_view kSerialStage = R"(    $S_state s$Z = {};$NOTHING
#pragma unroll $COPIES
    for (int k = 0; k < n; ++k) {
      $S_loads x;
@S      $S_stores y;
      $S_load(p, t, k, 1, x);
      const $S_inputs in = $S_point(p, t, r$I, x, 0, k$Y$H);
@S      $S_store(p, t, k, 1, y);
      s$Z = k == 0 ? $S_first(in) : $S_step(p, s$Z, in, k + 1);
    }
    $S_finish(p, t$FINISH);
)";

/// Rows beside each other, some of their elements at a time. What does not move from row to row has one address, so
/// that it is loaded once for all of them.
constexpr std::string_view kRows = R"(
template <int kRows, int kItems>
__device__ __forceinline__ void $N_part(const $N_params& p, const $N_at* at, const $N_row* r, $N_state* s, int k) {
  $N_loads x[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) $N_load(p, at[i], k, kItems, x[i]);
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const $N_inputs in = $N_point(p, at[i], r[i], x[i], j, k);
      s[i] = k + j == 0 ? $N_first(in) : $N_step(p, s[i], in, k + j + 1);
    }
  }
}

template <int kRows>
__device__ __forceinline__ void $N_rows(const $N_params& p, $N_at t, int n) {
  $N_at at[kRows];
  $N_row r[kRows];
  $N_state s[kRows] = {};
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    at[i] = t;
    r[i] = $N_begin(p, t, 0);
$NEXT  }
  int k = 0;
  for (; k + $W <= n; k += $W) $N_part<kRows, $W>(p, at, r, s, k);
  for (; k < n; ++k) $N_part<kRows, 1>(p, at, r, s, k);
#pragma unroll
  for (int i = 0; i < kRows; ++i) $N_finish(p, at[i], s[i]);
}

extern "C" __global__ void __launch_bounds__($T, 1) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 i = (tarry_i64)blockIdx.x * $T + threadIdx.x;
  if (i >= p.tiles) return;
  $N_at t = $N_place(p, ($O)i);
$ALL}
)";

/// All rows of a thread together, or the last ones one by one.
constexpr std::string_view kAllRows = R"(  if (t.rows == $ROWS) {
    $N_rows<$ROWS>(p, t, (int)p.n);
  } else {
#pragma unroll 1
    for (int row = 0; row < t.rows; ++row) {
      $N_rows<1>(p, t, (int)p.n);
      $N_next(p, t);
    }
  }
)";
constexpr std::string_view kOneRow = "  $N_rows<1>(p, t, (int)p.n);\n";

/// Where registers hold a row: it is loaded at once, and stored at once where it is short, as then neighbouring threads
/// write to the same sectors. $THERE: what is beyond its end is left out.
constexpr std::string_view kHeldStage = R"(    $S_state s$Z = {};$NOTHING
    $S_loads x$Z[$MOST];
@S    $S_stores y$Z[$MOST];
#pragma unroll
    for (int k = 0; k < $MOST; ++k)$THERE $S_load(p, t, k, 1, x$Z[k]);
#pragma unroll
    for (int k = 0; k < $MOST; ++k)$THERE {
      const $S_inputs in = $S_point(p, t, r$I, x$Z[k], 0, k$Y$H);
$NOW      s$Z = k == 0 ? $S_first(in) : $S_step(p, s$Z, in, k + 1);
    }
$LATER    $S_finish(p, t$FINISH);
)";

/// Copies of the body of the loop over a row: each loads about as much for its own element as is held for all.
int copies(const KernelIr& ir) {
  constexpr int kMost = 4;
  int held = kHeldRegisters / kMost;
  const std::vector<HeldLoop> loops = held_loops(ir);
  for (std::size_t l = 0; l < loops.size(); ++l) held = std::max(held, held_registers(ir, loops[l]));
  return kHeldRegisters / held;
}

/// Results of reductions of nothing that are not zero.
std::string identities(const KernelIr& ir, const Stage& stage) {
  std::string text;
  for (const std::uint32_t r : stage.reductions)
    if (ir.reductions[r].op == Op::Prod) text += fmt::format("\n    s{}.r{} = 1;", stage.number, r);
  return text;
}

std::string moves(const KernelIr& ir, const SerialPlan& plan, bool store) {
  std::string text;
  for (const Staged& s : plan.staged) {
    if (ir.accesses[s.access].store != store) continue;
    const std::string memory = fmt::format("p.a{0} + base * p.t{0}_0", s.access),
                      stride = fmt::format("p.t{}_0", s.access), shared = fmt::format("x{}", s.slot);
    const std::string arguments = store ? fmt::format("({}, {}, {}, l.rows, l.n)", shared, memory, stride)
                                        : fmt::format("({}, {}, {}, l.rows, l.n)", memory, stride, shared);
    const char* const move = store ? "$N_scatter" : "$N_gather";
    text += fmt::format(
        "    {{\n      const $N_lines l = $N_lines_of({0}, {1}, rows, n);\n      if (l.fours) {2}<4>{3};\n      else "
        "{2}<1>{3};\n    }}\n",
        memory, stride, move, arguments);
  }
  if (text.empty()) return text;
  return store ? "  __syncthreads();\n  if (n > 0) {\n" + text + "  }\n"
               : "  if (n > 0) {\n" + text + "  }\n  __syncthreads();\n";
}

KernelSource render_rows_together(const KernelIr& ir) {
  using enum SlotKind;
  const StagePlan plan = plan_stages(ir);
  const Stage& stage = plan.stages[0];
  Functions functions(ir, plan);
  const Parameters parameters = ir.wide_index ? make_parameters(ir, {Reduced, Extent, TileCount, Reciprocal})
                                              : make_parameters(ir, {Reduced, Extent, Magic, TileCount, Reciprocal});
  const int rows = serial_tile(ir);
  std::string kernel = parameter_struct(parameters) + Template(ir, stage).fill(functions.shared_text()) +
                       state_type(ir, stage) + functions.stage_text(stage) +
                       state_functions(ir, stage, functions.expressions());
  kernel += Template(ir, stage,
                     {{"$NEXT", rows > 1 ? "    $N_next(p, t);\n" : ""},
                      {"$ALL", std::string(rows > 1 ? kAllRows : kOneRow)},
                      {"$ROWS", std::to_string(rows)},
                      {"$T", std::to_string(kTogetherThreads)}})
                .fill(kRows);
  KernelSource source =
      finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
  source.threads = kTogetherThreads;
  return source;
}

/// True if a thread takes several elements, of several rows, at a time.
bool takes_rows_together(const KernelIr& ir) { return !ir.is_row() && (ir.vector() > 1 || serial_tile(ir) > 1); }

}  // namespace

int serial_rows(const KernelIr& ir) { return takes_rows_together(ir) ? kTogetherThreads : serial_plan(ir).threads; }

KernelSource render_serial(const KernelIr& ir, const graph::Target&) {
  using enum SlotKind;
  if (takes_rows_together(ir)) return render_rows_together(ir);
  const SerialPlan serial = serial_plan(ir);
  const StagePlan plan = plan_stages(ir);
  const bool row = ir.is_row();
  Functions functions(ir, plan);
  const Parameters parameters = ir.wide_index ? make_parameters(ir, {OuterCount, Reduced, Extent, Reciprocal})
                                              : make_parameters(ir, {OuterCount, Reduced, Extent, Magic, Reciprocal});
  auto fill = [&](const Stage& stage, std::string_view text) {
    const std::string number = std::to_string(stage.number);
    const bool now = stage.stores && !is_exact(ir), later = stage.stores && is_exact(ir);
    return Template(
               ir, stage,
               {{"$NOW", now ? "      $S_store(p, t, k, 1, y$Z[k]);\n" : ""},
                {"$LATER",
                 later ? "#pragma unroll\n    for (int k = 0; k < $MOST; ++k) $S_store(p, t, k, 1, y$Z[k]);\n" : ""},
                {"$FINISH", row ? ", r, s" + number + ", true, o" : ", s" + number},
                {"$NOTHING", identities(ir, stage)},
                {"$COPIES", std::to_string(copies(ir))},
                {"$Z", number},
                {"$MOST", std::to_string(longest(ir))},
                {"$LENGTH", is_exact(ir) ? std::to_string(longest(ir)) : "(int)p.n"},
                {"$THERE", is_exact(ir) ? "" : " if (k < n)"},
                {"$T", std::to_string(serial.threads)},
                {"$Y", !stage.stores   ? ""
                       : holds_row(ir) ? ", y" + number + "[k]"
                                       : ", y"},
                {"$I", row ? ", o" : ""},
                {"$H", row                 ? ", h[k]"
                       : functions.holds() ? ", h"
                                           : ""}})
        .fill(text);
  };
  std::string kernel = parameter_struct(parameters) + Template(ir, plan.stages[0]).fill(functions.shared_text()), body;
  for (const Stage& stage : plan.stages) {
    kernel += state_type(ir, stage) + functions.stage_text(stage) + state_functions(ir, stage, functions.expressions());
    body += fill(stage, holds_row(ir) ? kHeldStage : kSerialStage);
  }
  std::string head(kHead), mine(kRow);
  for (std::size_t s = 0; s < serial.slots.size(); ++s)
    head += fmt::format("  __shared__ {} x{}[{} * $T];\n", c_type(serial.slots[s]), s, longest(ir) | 1);
  for (const Staged& s : serial.staged)
    mine += fmt::format("    t.a{} = x{} + threadIdx.x * (n | 1);\n", s.access, s.slot);
  if (row) mine += "    $N_outer o;\n    $N_kept h[$MOST];\n";
  if (functions.holds()) mine += "    $N_held h;\n    $N_hold(p, t, r, h);\n";
  if (!serial.staged.empty()) kernel += fill(plan.stages[0], kMoves);
  kernel += fill(plan.stages[0], head + moves(ir, serial, false) + mine) + body + "  }\n" +
            fill(plan.stages[0], moves(ir, serial, true)) + "}\n";
  KernelSource source =
      finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
  source.threads = serial.threads;
  return source;
}

}  // namespace tarry::codegen::cuda
