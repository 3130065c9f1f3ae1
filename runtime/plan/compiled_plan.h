// CompiledPlan: everything an evaluate needs that does not depend on values or addresses. Made once per plan key.
#pragma once

#include <tarry/history.h>
#include <tarry/plan.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cache/kernel_cache.h"
#include "codegen/cuda/matmul.h"
#include "codegen/cuda/routine.h"
#include "codegen/lower/lower.h"
#include "codegen/render/kernel_source.h"
#include "graph/fusion/types.h"
#include "graph/graph.h"
#include "graph/passes/passes.h"
#include "graph/target.h"
#include "runtime/device/library_call.h"
#include "runtime/plan/partial_upload.h"

namespace tarry::runtime {

class Dispatch;    // evaluate/dispatch.h
class KernelSums;  // observe/history.h

/// Where an operand of a kernel lives when the plan runs.
struct Operand {
  enum class Kind : std::uint8_t { Leaf, Output, Temporary, Faults } kind{};
  std::uint32_t index = 0;  ///< Faults: the first check of the kernel
};

/// Brings a leaf to the plan's device.
struct TransferStep {
  std::uint32_t leaf;
  graph::Dims shape;
  Dtype dtype{};
};

/// Copies the whole of a value to where an update goes on with it. Within the device.
struct CopyStep {
  Operand from, to;
  std::size_t offset = 0, bytes = 0;  ///< offset: of `from`
};

/// How a kernel was had when its plan was made, and what that took.
struct KernelMaking {
  KernelHit hit = KernelHit::Interpreted;
  double codegen_seconds = 0, compile_seconds = 0, load_seconds = 0;
};

struct KernelStep {
  codegen::Lowered lowered;
  std::shared_ptr<const codegen::KernelSource> source;  ///< shared by steps with the same text
  codegen::Geometry geometry;
  std::vector<Operand> operands;                  ///< by buffer of the kernel
  std::shared_ptr<cache::Executable> executable;  ///< null: the interpreter runs it
  std::vector<graph::NodeId> origins;             ///< the snapshot's nodes that it computes, each once, ascending
  KernelMaking making;
  std::shared_ptr<KernelSums> sums;  ///< of kernel_history(); null in a plan that is not run
  [[nodiscard]] bool empty() const { return lowered.args.outer_count() == 0; }
};

/// A product, by a library or, where `source` is there, by a kernel of our own.
struct LibraryStep {
  MatmulSpec spec;
  std::vector<codegen::BufferRef> buffers;  ///< both operands, then the result
  std::vector<Operand> operands;            ///< of each
  std::int64_t bytes_read = 0, bytes_written = 0;
  std::shared_ptr<const codegen::KernelSource> source;
  // A plan that is run has one of the two:
  std::shared_ptr<const LibraryCall> call;
  std::shared_ptr<cache::Executable> executable;
};

/// A routine. On a GPU it has kernels; on the CPU it is code of this library.
struct RoutineStep {
  codegen::RoutineSpec spec;
  graph::Mode mode{};
  std::vector<codegen::BufferRef> buffers;  ///< operands, then the result
  std::optional<codegen::BufferRef> base;   ///< of a Scatter: what the result holds before
  std::vector<Operand> operands;            ///< of each buffer
  std::int64_t bytes_read = 0, bytes_written = 0;
  std::vector<std::shared_ptr<const codegen::KernelSource>> sources;
  std::vector<std::shared_ptr<cache::Executable>> executables;  ///< of each source, in a plan that is run
};

/// Download, HostCall and Loop steps join this list with the work that needs them.
using Step = std::variant<TransferStep, CopyStep, KernelStep, LibraryStep, RoutineStep>;

struct RootPlan {
  bool aliases_leaf = false;  ///< the value is a leaf that is already in place
  std::uint32_t index = 0;    ///< leaf or output
};

/// The check of an Index of some kernel.
struct PlanCheck {
  graph::NodeId index;   ///< node of the snapshot
  std::uint32_t extent;  ///< of the plan's scalars
};

struct OutputPlan {
  std::size_t bytes = 0;
  graph::Dims shape;
  std::uint32_t leaf = graph::kNoId;       ///< donated leaf whose buffer the output takes over
  std::vector<std::uint32_t> checks = {};  ///< that it depends on
};

/// The recorded nodes by whose lines an unfused edge is reported; indices into the snapshot's nodes.
struct UnfusedOrigin {
  graph::NodeId producer, consumer;
  graph::Reason reason;
};

/// Bytes of a temporary in the arena that a run allocates: addresses that kernels rely on are aligned.
constexpr std::size_t arena_bytes(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

struct CompiledPlan {
  const graph::Target* target = nullptr;
  std::vector<Step> steps;
  std::vector<graph::ScalarSource> scalars;
  std::vector<RootPlan> roots;
  std::vector<OutputPlan> outputs;
  std::vector<std::size_t> temporaries;  ///< bytes of each slot; values with disjoint lifetimes share one
  std::size_t scratch_bytes = 0;         ///< one buffer, shared by steps in stream order
  std::size_t ticket_count = 0;
  std::vector<PlanCheck> checks;  ///< each has kFaultWords words of a buffer of the run
  [[nodiscard]] std::size_t fault_bytes() const { return checks.size() * codegen::kFaultWords * sizeof(std::uint64_t); }
  Counters counters;  ///< predicted
  Seconds seconds;    ///< of making the plan
  std::vector<UnfusedOrigin> unfused;
  std::vector<graph::PassTrace> passes;
  int dump_number = 0;                         ///< of the plan's files in TARRY_DUMP_DIR
  std::vector<PartialUpload> partial_uploads;  ///< what is done before operands cross, where that saves bytes
  bool on_host = false;  ///< of small work that names no device: made for the CPU, whatever the default
  std::shared_ptr<const std::vector<tarry::Placement>> placements;  ///< what costs decided; null where nothing
  std::string interpreted;                                          ///< why kernels are interpreted; "" where none is
  // Set for a plan that is run:
  std::shared_ptr<const graph::Graph> recorded;  ///< what it was made from
  std::shared_ptr<Dispatch> dispatch;
};

/// The key of the kernel in the cache.
cache::KernelKey kernel_key(const KernelStep& step, const graph::Target& target);
/// The user's lines of a kernel, without its inputs: "exp at main.cpp:9", each once.
std::vector<std::string> user_lines(const KernelStep& step, const graph::Snapshot& snapshot);
/// The plan's scalar arguments for the values that were recorded.
void scalar_values(const CompiledPlan& plan, std::span<const graph::ScalarCell> cells,
                   std::vector<std::uint64_t>& values);
/// Those of one kernel.
std::vector<std::uint64_t> kernel_scalars(const KernelStep& step, const std::vector<std::uint64_t>& values);

/// Choices of plan making. Part of the plan's key.
struct PlanSwitches {
  bool fusion = true, reuse = true, library = true, matmul = true, steps = true, row_column = true, levels = true;
  std::function<bool(std::string_view)> disabled;  ///< passes
  std::string words;                               ///< canonical form for the key
};
PlanSwitches plan_switches();  ///< from TARRY_DISABLE

/// Sees every stage's result; dump.cpp implements it for TARRY_DUMP.
class PlanObserver {
 public:
  virtual ~PlanObserver() = default;
  virtual void graph(std::string_view stage, const graph::Graph& g) = 0;
  virtual void fusion(const graph::Graph& g, const graph::Fusion& f) = 0;
  /// The finished plan; `g` is the graph that was fused.
  virtual void kernels(const graph::Graph& g, const CompiledPlan& plan, const graph::Snapshot& snapshot) = 0;
};

/// A leaf as a plan sees it after it crossed to another device, where it arrives row-major.
inline graph::LeafLayout arrived(const graph::LeafLayout& layout) { return {0, {}, true, false, layout.any_byte}; }
/// True if a result may be the leaf's buffer itself, where that is one of a pool of ours.
inline bool may_be_result(const graph::LeafLayout& layout) { return layout.contiguous && layout.offset == 0; }

/// snapshot -> passes -> fusion -> kernels -> memory plan. Pure: no device, no compiler. `on_device[leaf]`: already
/// there.
CompiledPlan make_plan(const graph::Snapshot& snapshot, const graph::Target& target, const std::vector<bool>& on_device,
                       const std::vector<bool>& may_alias, const PlanSwitches& switches, PlanObserver* observer);

}  // namespace tarry::runtime
