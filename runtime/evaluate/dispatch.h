// Dispatch: a plan made ready for its device, to be run over and over. All that does not depend on values or addresses
// is worked out once; a run copies the parameter words, patches the few that differ, and launches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/record/key_walk.h"
#include "runtime/device/backend.h"
#include "runtime/evaluate/transfer.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

/// Working memory of one evaluate. Kept from one to the next, so that what repeats allocates nothing.
struct Run {
  std::vector<graph::Edge> lazy;      ///< the roots to compute, each once
  std::vector<graph::Node*> claimed;  ///< their nodes
  graph::KeyWalk key_walk;
  graph::Snapshot snapshot;  ///< where there was no plan
  std::shared_ptr<const CompiledPlan> plan;
  Backend* backend = nullptr;  ///< where it was asked for the plan

  std::vector<graph::Buffer*> leaves;                   ///< by leaf number, where the plan reads them
  std::vector<graph::Storage*> borrowed;                ///< leaves in borrowed memory, which are being read
  std::vector<Transfer> transfers;                      ///< of this run
  std::vector<Wanted> wanted;                           ///< leaves of other devices
  std::vector<std::shared_ptr<graph::Buffer>> brought;  ///< copies of them
  std::vector<std::shared_ptr<graph::Buffer>> outputs;
  std::shared_ptr<graph::Buffer> arena;                 ///< temporaries and scratch
  std::shared_ptr<graph::Buffer> faults;                ///< words of the plan's checks
  std::vector<std::uint64_t> values;                    ///< of the plan's scalars
  std::vector<std::uint64_t> words;                     ///< parameters of all kernels
  std::vector<std::vector<void*>> interpreted_buffers;  ///< by step of the plan
  std::vector<std::vector<std::uint64_t>> interpreted_scalars;
  /// The memory that a routine works on, and its launches on a GPU.
  struct RoutineCall {
    std::vector<void*> operands;
    void* scratch;
    std::vector<codegen::RoutineLaunch> launches;
  };
  std::vector<RoutineCall> routines;  ///< in order

  std::vector<std::shared_ptr<graph::Storage>> storages;  ///< of outputs
  std::vector<std::unique_ptr<graph::Extra>> results;     ///< by claimed node: what it will get
  std::vector<graph::Edge> dropped;                       ///< what the roots let go of

  void clear();
};

class Dispatch {
 public:
  /// Repeated runs are launched kernel by kernel, or, where that is possible and faster, as one.
  enum class Repeats : std::uint8_t { Launched, Replayed };
  /// `plan` outlives it and has its executables.
  Dispatch(const CompiledPlan& plan, Backend& b, Repeats repeats);

  /// Allocates and binds everything that the launches need; what can fail recoverably fails here.
  void prepare(Run& run, Backend& b, Counters& counters) const;
  /// Runs the kernels, from `now` on; `started` is set before the first launch, from when on failures belong to the
  /// device.
  void commit(const Run& run, Backend& b, Counters& counters, std::chrono::steady_clock::time_point now, bool& started);

 private:
  /// A word of the parameters: `addend` plus an address, or a scalar of `dtype`, or its Reciprocal.
  struct Patch {
    enum class Kind : std::uint8_t { Leaf, Output, Arena, Scalar, Reciprocal, Faults } kind;
    std::uint32_t index;
    std::uint32_t word;
    std::uint64_t addend;
    Dtype dtype{};
  };
  /// A kernel that is launched, a copy, or a call, in order.
  struct Item {
    const KernelStep* kernel = nullptr;
    const CopyStep* copy = nullptr;
    const LibraryStep* call = nullptr;
    std::uint32_t step = 0, first = 0, count = 0;  ///< of the plan, or among routines; words
    const RoutineStep* routine = nullptr;
    [[nodiscard]] bool interpreted() const { return kernel && !kernel->executable; }
  };

  void bring_leaves(Run& run, Backend& b, Counters& counters) const;
  void add_kernel(const KernelStep& k, std::uint32_t step, const void* tickets);
  [[nodiscard]] std::uint64_t address(const Operand& o, const Run& run) const;
  [[nodiscard]] Launch launch_of(const Item& item, const Run& run) const;
  bool replay(const Run& run, Backend& b);
  void run_item(const Item& item, const Run& run, Backend& b);
  [[nodiscard]] Run::RoutineCall bind(const RoutineStep& routine, const Run& run) const;

  const CompiledPlan& plan_;
  std::vector<Item> items_;
  std::vector<std::uint64_t> words_;
  std::vector<Patch> patches_;
  std::vector<std::size_t> slots_;  ///< of the arena, by temporary
  std::size_t scratch_ = 0, arena_bytes_ = 0;
  std::uint32_t routines_ = 0;
  bool interprets_ = false;

  // A plan that has run twice is made one launch. One thread at a time replays it; another launches kernel by kernel.
  enum class Replay : std::uint8_t { Never, Later, Ready };
  std::atomic<Replay> replay_{Replay::Later};
  std::atomic<std::uint32_t> runs_{0};
  std::mutex sequence_mutex_;
  std::unique_ptr<Sequence> sequence_;
};

}  // namespace tarry::runtime
