// Parameters packed once and patched; one arena; launches, or their replay as one.
#include "runtime/evaluate/dispatch.h"
#include "runtime/observe/history.h"

#include <chrono>
#include <cstring>
#include <new>

#include "codegen/cuda/matmul.h"
#include "codegen/interpret/interpreter.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

std::uint64_t word(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
/// Where the words of a check begin.
std::uint64_t words_of(std::uint32_t check) { return check * codegen::kFaultWords * sizeof(std::uint64_t); }
std::uint64_t arena(const Run& run) { return run.arena ? word(run.arena->data) : 0; }

}  // namespace

void Run::clear() {
  for (graph::Storage* s : borrowed) s->readers.fetch_sub(1, std::memory_order_release);
  borrowed.clear();
  transfers.clear();
  lazy.clear();
  claimed.clear();
  key_walk.clear();
  if (snapshot.recorded_nodes != 0) snapshot = {};
  plan.reset();
  backend = nullptr;
  leaves.clear();
  wanted.clear();
  brought.clear();
  outputs.clear();
  arena.reset();
  faults.reset();
  interpreted_buffers.clear();
  interpreted_scalars.clear();
  routines.clear();
  storages.clear();
  results.clear();
  dropped.clear();
}

namespace {

bool is_large(const KernelStep& k) { return k.lowered.bytes_read + k.lowered.bytes_written >= kLargeLaunch; }

}  // namespace

Dispatch::Dispatch(const CompiledPlan& plan, Backend& b, Repeats repeats) : plan_(plan) {
  bool may_replay = repeats == Repeats::Replayed;
  const auto place = [this](std::size_t bytes) {
    const std::size_t at = arena_bytes_;
    arena_bytes_ += arena_bytes(bytes);
    return at;
  };
  for (const std::size_t bytes : plan.temporaries) slots_.push_back(place(bytes));
  scratch_ = place(plan.scratch_bytes);
  const void* const tickets = plan.ticket_count ? b.tickets(plan.ticket_count) : nullptr;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto step = static_cast<std::uint32_t>(s);
    if (const auto* copy = std::get_if<CopyStep>(&plan.steps[s])) {
      items_.push_back({nullptr, copy, nullptr, step});
      may_replay = false;
    } else if (const auto* call = std::get_if<LibraryStep>(&plan.steps[s])) {
      items_.push_back({nullptr, nullptr, call, step});
      may_replay = false;
    } else if (const auto* routine = std::get_if<RoutineStep>(&plan.steps[s])) {
      items_.push_back({nullptr, nullptr, nullptr, routines_++});
      items_.back().routine = routine;
      may_replay = false;
    } else if (const auto* k = std::get_if<KernelStep>(&plan.steps[s]); k && !k->empty()) {
      add_kernel(*k, step, tickets);
    }
  }
  // A large kernel starts while the one before it ends, which launches of graphs do not; where most are small, those
  // matter more.
  const auto large = static_cast<std::size_t>(
      std::ranges::count_if(items_, [](const Item& i) { return i.kernel != nullptr && is_large(*i.kernel); }));
  if (b.overlaps_launches() && large > 0 && 2 * large >= items_.size()) may_replay = false;
  if (!may_replay || interprets_ || items_.empty()) replay_ = Replay::Never;
}

void Dispatch::add_kernel(const KernelStep& k, std::uint32_t step, const void* tickets) {
  Item item{&k, nullptr, nullptr, step, static_cast<std::uint32_t>(words_.size())};
  if (item.interpreted()) {
    interprets_ = true;
    items_.push_back(item);
    return;
  }
  const codegen::ParameterBlock block = codegen::parameter_block(k.lowered.ir, *k.source, k.lowered.args, k.geometry);
  item.count = static_cast<std::uint32_t>(block.words.size());
  words_.insert(words_.end(), block.words.begin(), block.words.end());
  for (const codegen::ParameterPatch& p : block.patches) {
    const std::uint32_t at = item.first + p.word;
    if (p.kind == codegen::SlotKind::Tickets) {
      words_[at] = word(tickets);
    } else if (p.kind == codegen::SlotKind::Scratch) {
      if (plan_.scratch_bytes) patches_.push_back({Patch::Kind::Arena, 0, at, scratch_});
    } else if (p.kind == codegen::SlotKind::Scalar) {
      const codegen::ScalarRef& scalar = k.lowered.scalars[p.index];
      words_[at] = scalar.constant;
      if (scalar.source != graph::kNoId) patches_.push_back({Patch::Kind::Scalar, scalar.source, at, 0});
    } else if (p.kind == codegen::SlotKind::Reciprocal) {
      const codegen::ScalarRef& scalar = k.lowered.scalars[p.index];
      const Dtype dtype = k.lowered.ir.scalars[p.index];
      words_[at] = codegen::reciprocal_word(dtype, scalar.constant);
      if (scalar.source != graph::kNoId) patches_.push_back({Patch::Kind::Reciprocal, scalar.source, at, 0, dtype});
    } else {
      const Operand& o = k.operands[p.index];
      switch (o.kind) {
        case Operand::Kind::Leaf: patches_.push_back({Patch::Kind::Leaf, o.index, at, p.addend}); break;
        case Operand::Kind::Output: patches_.push_back({Patch::Kind::Output, o.index, at, p.addend}); break;
        case Operand::Kind::Temporary:
          patches_.push_back({Patch::Kind::Arena, 0, at, p.addend + slots_[o.index]});
          break;
        case Operand::Kind::Faults: patches_.push_back({Patch::Kind::Faults, 0, at, words_of(o.index)}); break;
      }
    }
  }
  items_.push_back(item);
}

std::uint64_t Dispatch::address(const Operand& o, const Run& run) const {
  switch (o.kind) {
    case Operand::Kind::Leaf: return word(run.leaves[o.index]->data);
    case Operand::Kind::Output: return word(run.outputs[o.index]->data);
    case Operand::Kind::Temporary: return arena(run) + slots_[o.index];
    case Operand::Kind::Faults: return word(run.faults->data) + words_of(o.index);
  }
  return 0;
}

/// The leaves that are to cross; their steps come first.
void Dispatch::bring_leaves(Run& run, Backend& b, Counters& counters) const {
  Crossings crossings{counters, &run.transfers, {}};
  const auto transfer = [&](std::size_t s) {
    return s < plan_.steps.size() ? std::get_if<TransferStep>(&plan_.steps[s]) : nullptr;
  };
  for (std::size_t s = 0; transfer(s); ++s)
    run.wanted.push_back({run.key_walk.leaves[transfer(s)->leaf], transfer(s)->shape, transfer(s)->dtype});
  bring_small(run.wanted, b, crossings);
  for (const Wanted& w : run.wanted) {
    const std::uint32_t leaf = transfer(run.brought.size())->leaf;
    run.brought.push_back(bring(w.value, w.shape, w.dtype, b, crossings));
    run.leaves[leaf] = run.brought.back().get();
  }
}

void Dispatch::prepare(Run& run, Backend& b, Counters& counters) const {
  for (const auto& leaf : run.key_walk.leaves) run.leaves.push_back(leaf->buffer.get());
  counters.uploads = counters.downloads = counters.bytes_uploaded = counters.bytes_downloaded =
      counters.bytes_overlapped = 0;
  bring_leaves(run, b, counters);
  counters.peak_bytes = static_cast<std::int64_t>(arena_bytes_);
  for (const Transfer& t : run.transfers) counters.peak_bytes += t.bytes;
  // A donated buffer changes owner at publication: until then its old value holds it too.
  for (const OutputPlan& o : plan_.outputs) {
    run.outputs.push_back(o.leaf == graph::kNoId ? b.allocate(o.bytes) : run.key_walk.leaves[o.leaf]->buffer);
    if (o.leaf == graph::kNoId) counters.peak_bytes += static_cast<std::int64_t>(o.bytes);
  }
  if (arena_bytes_) run.arena = b.allocate(arena_bytes_);
  if (const std::size_t bytes = plan_.fault_bytes(); bytes > 0) {
    run.faults = b.allocate(bytes);
    b.upload(*run.faults, [](void* to, std::size_t, std::size_t count) { std::memset(to, 0xff, count); }, bytes);
    counters.peak_bytes += static_cast<std::int64_t>(bytes);
  }
  scalar_values(plan_, run.key_walk.cells, run.values);
  run.words = words_;
  for (const Patch& p : patches_) {
    std::uint64_t base = 0;
    switch (p.kind) {
      case Patch::Kind::Leaf: base = word(run.leaves[p.index]->data); break;
      case Patch::Kind::Output: base = word(run.outputs[p.index]->data); break;
      case Patch::Kind::Arena: base = arena(run); break;
      case Patch::Kind::Scalar: base = run.values[p.index]; break;
      case Patch::Kind::Reciprocal: base = codegen::reciprocal_word(p.dtype, run.values[p.index]); break;
      case Patch::Kind::Faults: base = word(run.faults->data); break;
    }
    run.words[p.word] = base + p.addend;
  }
  for (const Item& item : items_)
    if (item.routine) run.routines.push_back(bind(*item.routine, run));
  if (!interprets_) return;
  run.interpreted_buffers.resize(plan_.steps.size());
  run.interpreted_scalars.resize(plan_.steps.size());
  for (const Item& item : items_) {
    if (!item.interpreted()) continue;
    for (const Operand& o : item.kernel->operands)
      run.interpreted_buffers[item.step].push_back(reinterpret_cast<void*>(address(o, run)));
    run.interpreted_scalars[item.step] = kernel_scalars(*item.kernel, run.values);
  }
}

Launch Dispatch::launch_of(const Item& item, const Run& run) const {
  return {item.kernel->executable.get(), item.kernel->source.get(),
          std::span(run.words).subspan(item.first, item.count), item.kernel->geometry, is_large(*item.kernel)};
}

bool Dispatch::replay(const Run& run, Backend& b) {
  constexpr std::uint32_t kRunsBefore = 2;
  const Replay state = replay_.load(std::memory_order_relaxed);
  if (state == Replay::Never) return false;
  if (state == Replay::Later && runs_.fetch_add(1, std::memory_order_relaxed) < kRunsBefore) return false;
  if (b.launch_waits()) return false;
  const std::unique_lock lock(sequence_mutex_, std::try_to_lock);
  if (!lock) return false;
  if (replay_.load(std::memory_order_relaxed) == Replay::Later) {
    try {
      std::vector<Launch> launches;
      for (const Item& item : items_) launches.push_back(launch_of(item, run));
      sequence_ = b.sequence(launches);
    } catch (const std::bad_alloc&) {  // launched one by one, as before
    }
    replay_ = sequence_ ? Replay::Ready : Replay::Never;
  }
  if (!sequence_) return false;
  if (sequence_->replay(run.words)) return true;
  sequence_.reset();
  replay_ = Replay::Never;
  return false;
}

Run::RoutineCall Dispatch::bind(const RoutineStep& routine, const Run& run) const {
  Run::RoutineCall call;
  for (const Operand& o : routine.operands) call.operands.push_back(reinterpret_cast<void*>(address(o, run)));
  call.scratch = run.arena ? reinterpret_cast<void*>(arena(run) + scratch_) : nullptr;
  if (!routine.sources.empty()) call.launches = codegen::routine_launches(routine.spec, call.operands, call.scratch);
  return call;
}

void Dispatch::run_item(const Item& item, const Run& run, Backend& b) {
  if (item.routine) {
    const Run::RoutineCall& call = run.routines[item.step];
    const RoutineStep& routine = *item.routine;
    if (routine.sources.empty()) return b.run(routine.spec, call.operands, call.scratch);
    for (const codegen::RoutineLaunch& l : call.launches)
      b.launch({routine.executables[l.kernel].get(), routine.sources[l.kernel].get(), l.words, l.geometry});
    return;
  }
  if (item.copy) {
    const std::uint64_t from = address(item.copy->from, run) + item.copy->offset;
    b.copy(reinterpret_cast<void*>(address(item.copy->to, run)), reinterpret_cast<const void*>(from), item.copy->bytes);
    return;
  }
  if (item.call) {
    const auto at = [&](std::size_t i) { return reinterpret_cast<void*>(address(item.call->operands[i], run)); };
    if (item.call->executable) {
      const codegen::MatmulShape shape = item.call->spec.shape();
      const auto words = codegen::matmul_parameters(shape, at(0), at(1), at(2));
      b.launch(
          {item.call->executable.get(), item.call->source.get(), words, codegen::matmul_geometry(shape, b.target())});
      return;
    }
    b.run(*item.call->call, at(0), at(1), at(2), run.arena ? reinterpret_cast<void*>(arena(run) + scratch_) : nullptr);
    return;
  }
  if (item.kernel->executable) {
    b.launch(launch_of(item, run));
  } else {
    codegen::interpret(item.kernel->lowered.ir, item.kernel->lowered.args, run.interpreted_buffers[item.step],
                       run.interpreted_scalars[item.step]);
  }
}

void Dispatch::commit(const Run& run, Backend& b, Counters& counters, std::chrono::steady_clock::time_point now,
                      bool& started) {
  if (items_.empty()) return;
  started = true;
  const bool replayed = replay(run, b);
  counters.replays = replayed ? 1 : 0;
  const bool timed = b.launch_waits();
  std::int64_t launches = 0, interpreted = 0;
  for (const Item& item : items_) {
    if (!replayed) {
      run_item(item, run, b);
      const auto start = now;
      if (timed) now = std::chrono::steady_clock::now();
      if (timed && item.kernel) item.kernel->sums->ran(now - start);
    }
    if (item.copy) continue;
    launches += item.routine ? codegen::routine_launch_count(item.routine->spec, item.routine->sources.size()) : 1;
    if (item.interpreted()) {
      ++interpreted;
      item.kernel->sums->interpreted_too();
    }
    if (item.kernel) item.kernel->sums->launched(item.kernel->lowered.bytes_read, item.kernel->lowered.bytes_written);
  }
  counters.launches = launches;
  counters.interpreted = interpreted;
}

}  // namespace tarry::runtime
