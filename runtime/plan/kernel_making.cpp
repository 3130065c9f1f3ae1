// make_kernels, and the level of a CPU whose kernels are at hand.
#include "runtime/plan/kernel_making.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/ir/fit.h"
#include "runtime/device/compilers/toolchain.h"
#include "runtime/device/cpu/target.h"
#include "runtime/device/kernel_caches.h"
#include "runtime/plan/plan_cache.h"
#include "runtime/plan/settings.h"
#include "runtime/stopwatch.h"
#include "support/env.h"
#include "support/log.h"

namespace tarry::runtime {

KernelHit hit_of(cache::Hit hit) {
  switch (hit) {
    case cache::Hit::Compiled: return KernelHit::Compiled;
    case cache::Hit::Disk: return KernelHit::Disk;
    case cache::Hit::Memory: return KernelHit::Memory;
    case cache::Hit::None: break;
  }
  return KernelHit::Interpreted;
}

namespace {

/// Requests to the cache for a plan: each text once.
struct Requests {
  Requests() = default;
  explicit Requests(const CompiledPlan& plan) {
    for (const Step& s : plan.steps) {
      if (const auto* k = std::get_if<KernelStep>(&s); k && !k->empty()) add(*k, *plan.target);
      if (const auto* call = std::get_if<LibraryStep>(&s); call && call->source)
        add(*call->source, call->spec.mode, *plan.target);
      if (const auto* call = std::get_if<RoutineStep>(&s))
        for (const auto& source : call->sources) add(*source, call->mode, *plan.target);
    }
  }
  void add(const KernelStep& step, const graph::Target& target) { add(*step.source, step.lowered.ir.mode, target); }
  void add(const codegen::KernelSource& source, graph::Mode mode, const graph::Target& target) {
    if (number.try_emplace(&source, all.size()).second)
      all.push_back(kernel_request(source, mode, compile_options(target, mode), target));
  }
  std::vector<cache::KernelRequest> all;
  std::unordered_map<const codegen::KernelSource*, std::size_t> number;
};

/// Where there is no room for one more, what was loaded for the plans that were used longest ago is unloaded. Null
/// where that makes no room and an interpreter can do the work.
std::shared_ptr<cache::Executable> load(Backend& b, const cache::KernelRequest& request, const cache::Binary& image) {
  for (bool again = true;;) {
    try {
      return b.load(request, image);
    } catch (const OutOfMemory& e) {
      if (!again && b.target().is_cuda()) throw;
      if (!again) {
        support::log::warn_once(fmt::format("kernels run in the interpreter: {}", e.what()));
        return nullptr;
      }
      kernel_cache(b).clear_memory();
      again = forget_half_of_plans();
    }
  }
}

/// How the cache compiles and loads for `b`. `load_seconds`: by number of the request, where somebody wants to know.
cache::Maker calls_of(Backend& b, const Requests& requests, std::vector<double>& load_seconds) {
  load_seconds.assign(requests.all.size(), 0);
  return {[&b](std::span<const cache::KernelRequest* const> batch) { return b.compile(batch); },
          [&](const cache::KernelRequest& r, const cache::Binary& image) {
            Stopwatch watch;
            auto executable = load(b, r, image);
            load_seconds[static_cast<std::size_t>(&r - requests.all.data())] = watch.lap();
            return executable;
          },
          [&b] { return b.compiler(); }};
}

bool at_hand(const CompiledPlan& plan, Backend& b) {
  const Requests requests(plan);
  std::vector<double> load_seconds;
  return std::ranges::all_of(kernel_cache(b).find(requests.all, calls_of(b, requests, load_seconds)),
                             [](const cache::Loaded& l) { return l.executable != nullptr; });
}

/// The first of the levels other than that of `b` whose kernels are all at hand, and the plan for it.
std::optional<CompiledPlan> plan_of_other_level(Backend& b, const Planner& planned) {
  for (const graph::Target* level : cpu_levels()) {
    if (level == &b.target()) continue;
    CompiledPlan plan = planned(*level);
    if (at_hand(plan, b)) return plan;
  }
  return std::nullopt;
}

bool may_compile(Backend& b) { return !support::env::flag("TARRY_REQUIRE_CACHED") && !b.compiler().empty(); }

/// A compiler that is there may fail, and what it makes may not load.
std::string why_not_made(Backend& b) {
  const std::string why = why_interpreted(b);
  return why.empty() ? "no kernel can be compiled and loaded here" : why;
}

void note(KernelStep& step, const cache::Loaded& loaded, double load_seconds) {
  step.executable = loaded.executable;
  step.making.hit = hit_of(loaded.hit);
  step.making.compile_seconds += loaded.compile_seconds;
  step.making.load_seconds += load_seconds;
}

void count(std::span<const cache::Loaded> loaded, KernelCounts& counts) {
  for (const cache::Loaded& l : loaded) {
    counts.compiles += l.hit == cache::Hit::Compiled;
    counts.memory_hits += l.hit == cache::Hit::Memory;
    counts.disk_hits += l.hit == cache::Hit::Disk;
  }
}

/// A step of a plan, and the same with a smaller form of its kernel.
struct Smaller {
  KernelStep* step;
  KernelStep next;
};

/// The steps whose kernels spill by their compiler's report and have a smaller form.
std::vector<Smaller> smaller_forms(std::span<KernelStep* const> steps, const graph::Target& target) {
  std::vector<Smaller> smaller;
  std::unordered_map<const codegen::KernelSource*, std::shared_ptr<const codegen::KernelSource>> rendered;
  for (KernelStep* step : steps) {
    if (!step->executable || step->executable->spilled_bytes == 0) continue;
    std::optional<codegen::KernelIr> ir = codegen::smaller_form(step->lowered.ir);
    if (!ir) continue;
    KernelStep next = *step;
    next.lowered.ir = *std::move(ir);
    auto& source = rendered[step->source.get()];
    if (!source) source = std::make_shared<const codegen::KernelSource>(codegen::render(next.lowered.ir, target));
    next.source = source;
    next.geometry = codegen::geometry(next.lowered.ir, target, next.lowered.args);
    smaller.push_back({step, std::move(next)});
  }
  return smaller;
}

/// Makes kernels that spill again in smaller forms, until one does not spill or none is smaller. Entries of the larger
/// forms keep their report, so that a later process goes the same way and finds every form on disk. Where nothing may
/// be compiled, the larger one serves.
void shrink_spilling(CompiledPlan& plan, Backend& b, KernelCounts& counts) {
  std::vector<KernelStep*> steps;
  for (Step& s : plan.steps)
    if (auto* k = std::get_if<KernelStep>(&s)) steps.push_back(k);
  for (std::vector<Smaller> forms; !(forms = smaller_forms(steps, *plan.target)).empty();) {
    Requests requests;
    for (const Smaller& form : forms) requests.add(form.next, *plan.target);
    std::vector<double> load_seconds;
    const cache::Maker calls = calls_of(b, requests, load_seconds);
    cache::KernelCache& cache = kernel_cache(b);
    const std::vector<cache::Loaded> loaded =
        may_compile(b) ? cache.get(requests.all, calls) : cache.find(requests.all, calls);
    count(loaded, counts);
    steps.clear();
    for (Smaller& form : forms) {
      const std::size_t i = requests.number.at(form.next.source.get());
      if (!loaded[i].executable) continue;
      note(form.next, loaded[i], load_seconds[i]);
      *form.step = std::move(form.next);
      steps.push_back(form.step);
    }
  }
}

}  // namespace

KernelCounts make_kernels(CompiledPlan& plan, Backend& b) {
  KernelCounts counts;
  const Requests requests(plan);
  if (requests.all.empty()) return counts;
  std::vector<double> load_seconds;
  const std::vector<cache::Loaded> loaded = kernel_cache(b).get(requests.all, calls_of(b, requests, load_seconds));
  count(loaded, counts);
  for (Step& s : plan.steps) {
    if (auto* call = std::get_if<LibraryStep>(&s); call && call->source)
      call->executable = loaded[requests.number.at(call->source.get())].executable;
    if (auto* call = std::get_if<RoutineStep>(&s))
      for (const auto& source : call->sources)
        call->executables.push_back(loaded[requests.number.at(source.get())].executable);
    auto* k = std::get_if<KernelStep>(&s);
    if (!k || k->empty()) continue;
    const std::size_t i = requests.number.at(k->source.get());
    note(*k, loaded[i], load_seconds[i]);
    if (!k->executable) plan.interpreted = why_not_made(b);
  }
  shrink_spilling(plan, b, counts);
  return counts;
}

CompiledPlan plan_at_hand(Backend& b, const Planner& planned) {
  CompiledPlan plan = planned(b.target());
  const bool may_be_another = !b.target().is_cuda() && !support::env::get("TARRY_CPU");
  if (!may_be_another || may_compile(b) || at_hand(plan, b)) return plan;
  std::optional<CompiledPlan> other = plan_of_other_level(b, planned);
  if (!other) return plan;
  support::log::info(fmt::format("kernels for {} are used: no cache layer holds all of them for {}",
                                 other->target->name, b.target().name));
  return *std::move(other);
}

std::string level_that_hits(Backend& b, const Planner& planned) {
  if (b.target().is_cuda()) return {};
  const std::optional<CompiledPlan> other = plan_of_other_level(b, planned);
  return other ? fmt::format("\n  TARRY_CPU={} finds all of them", other->target->name) : std::string();
}

}  // namespace tarry::runtime
