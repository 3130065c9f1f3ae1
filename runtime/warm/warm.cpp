// warm(): read manifests, make plans, look up, compile what is missing, store. Needs compilers and no device.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tarry/warm.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>

#include "cache/batches.h"
#include "cache/resources.h"
#include "codegen/ir/fit.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/toolchain.h"
#include "runtime/observe/report.h"
#include "runtime/stopwatch.h"
#include "runtime/warm/extents.h"
#include "runtime/warm/warm_plan.h"
#include "runtime/warm/warm_store.h"
#include "support/check.h"
#include "support/in_parallel.h"
#include "support/out_of_memory.h"

namespace tarry::runtime {
namespace {

/// A kernel to be found or compiled.
struct Job {
  WarmKernel kernel;
  cache::KernelRequest request;
  std::string material;
};

class Warmer {
 public:
  Warmer(const WarmOptions& options, std::vector<const graph::Target*> targets, WarmStore& store)
      : options_(options), targets_(std::move(targets)), store_(store) {
    jobs_ = options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : support::all_cores();
  }

  WarmReport run(const std::vector<Recorded>& recorded) {
    Stopwatch watch;
    report_.evaluates = static_cast<std::int64_t>(recorded.size());
    plan(recorded);
    std::vector<const Job*> jobs;
    for (const auto& [material, job] : wanted_) jobs.push_back(&job);
    for (; !jobs.empty(); jobs = smaller_forms(jobs)) {
      report_.kernels += static_cast<std::int64_t>(jobs.size());
      compile(look_up(jobs));
    }
    store_.finish();
    std::ranges::sort(report_.failures, {}, [](const WarmFailure& f) { return std::tie(f.target, f.kernel, f.ops); });
    report_.seconds = watch.lap();
    return std::move(report_);
  }

 private:
  void plan(const std::vector<Recorded>& recorded) {
    const std::size_t to_plan = recorded.size() * targets_.size();
    support::in_parallel(to_plan, jobs_, [&](std::size_t i) {
      const Recorded& one = recorded[i / targets_.size()];
      const graph::Target& target = *targets_[i % targets_.size()];
      for (Residence residence : residences(one, target)) plan(one, one.graph, target, residence);
      if (options_.all_extents)
        for_other_extents(one.graph, target, [&](const graph::Graph& g) { plan(one, g, target, Residence::AsRun); });
      const std::lock_guard lock(mutex_);
      ++planned_;
      show_progress(to_plan);
    });
  }

  void plan(const Recorded& one, const graph::Graph& g, const graph::Target& target, Residence residence) {
    try {
      for (WarmKernel& kernel : kernels_of(one, g, target, residence)) want(std::move(kernel));
    } catch (const Error& e) {
      add_failure({"", target.name, describe_ops(g), fmt::format("{}: {}", one.location, e.what())});
    }
  }

  /// The job, where it is new.
  const Job* want(WarmKernel kernel) {
    std::string options = compile_options(*kernel.target, kernel.mode);
    Job job{std::move(kernel), {}, {}};
    job.request = kernel_request(*job.kernel.source, job.kernel.mode, std::move(options), *job.kernel.target);
    job.material = job.request.key.material();
    const std::lock_guard lock(mutex_);
    const auto [it, fresh] = wanted_.try_emplace(job.material);
    // Messages name the one with the first text among equal kernels, whichever thread found it first.
    if (fresh || job.kernel.ops < it->second.kernel.ops) it->second = std::move(job);
    return fresh ? &it->second : nullptr;
  }

  /// Jobs that evaluates will ask for because kernels of others spill.
  std::vector<const Job*> smaller_forms(const std::vector<const Job*>& jobs) {
    std::vector<const Job*> smaller;
    for (const Job* job : jobs) {
      if (!job->kernel.ir || !spills(*job)) continue;
      std::optional<codegen::KernelIr> ir = codegen::smaller_form(*job->kernel.ir);
      if (!ir) continue;
      WarmKernel kernel = job->kernel;
      kernel.source = std::make_shared<const codegen::KernelSource>(codegen::render(*ir, *kernel.target));
      kernel.ir = std::make_shared<const codegen::KernelIr>(*std::move(ir));
      if (const Job* next = want(std::move(kernel))) smaller.push_back(next);
    }
    return smaller;
  }

  bool spills(const Job& job) {
    const std::optional<cache::Entry> entry = store_.find(job.material);
    if (!entry) return false;
    return std::ranges::any_of(cache::parse_ptxas_log(entry->log), [&](const cache::KernelResources& r) {
      return r.entry == job.request.entry && r.spill_store_bytes + r.spill_load_bytes > 0;
    });
  }

  /// Those of the jobs whose kernels the store lacks, in their order: the same batches at every run.
  std::vector<const Job*> look_up(const std::vector<const Job*>& all) {
    for (const graph::Target* target : targets_) compilers_[target] = compiler_of(*target);
    std::vector<const Job*> missing;
    std::vector<char> found(all.size());
    support::in_parallel(all.size(), jobs_, [&](std::size_t i) {
      const std::optional<cache::Entry> entry = store_.find(all[i]->material);
      const std::string& present = compilers_.at(all[i]->kernel.target);
      if (!entry || entry->name != all[i]->request.entry) return;
      if (!present.empty() && entry->compiler != present) return;  // as the writable layer of the cache does
      found[i] = 1;
      done(&WarmReport::hits, store_.size_of(*entry));
    });
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!found[i]) missing.push_back(all[i]);
    return missing;
  }

  void compile(std::vector<const Job*> missing) {
    const std::vector<std::vector<const Job*>> batches = cache::batches_of<const Job*>(
        missing, jobs_, [](const Job* job) -> const cache::KernelRequest& { return job->request; });
    support::in_parallel(batches.size(), jobs_, [&](std::size_t i) { compile_batch(batches[i]); });
  }

  void compile_batch(const std::vector<const Job*>& batch) {
    std::string failure;
    try {
      const cache::Binary binary = compile_kernels(requests_of(batch), *batch.front()->kernel.target);
      for (const Job* job : batch) keep(*job, binary);
      return;
    } catch (const CompileError& e) {
      failure = e.what();
    }
    if (batch.size() == 1) return fail(*batch.front(), failure);
    for (const Job* job : batch) compile_batch({job});  // to tell which of them fail
  }

  static std::vector<const cache::KernelRequest*> requests_of(const std::vector<const Job*>& batch) {
    std::vector<const cache::KernelRequest*> requests;
    for (const Job* job : batch) requests.push_back(&job->request);
    return requests;
  }

  void keep(const Job& job, const cache::Binary& binary) {
    const cache::Entry entry{job.material, binary.compiler, job.request.entry, binary.log, *binary.image};
    if (const std::error_code error = store_.add(entry))
      return fail(job, fmt::format("cannot be written to {}: {}", store_.name(), error.message()));
    done(&WarmReport::compiled, store_.size_of(entry));
  }

  void fail(const Job& job, const std::string& message) {
    add_failure({job.request.entry, job.kernel.target->name, job.kernel.ops, message});
    done(&WarmReport::failed, 0);
  }

  void add_failure(WarmFailure failure) {
    const std::lock_guard lock(mutex_);
    const auto same = [&](const WarmFailure& f) {
      return f.target == failure.target && f.kernel == failure.kernel && f.ops == failure.ops;
    };
    if (std::ranges::none_of(report_.failures, same)) report_.failures.push_back(std::move(failure));
  }

  void done(std::int64_t WarmReport::* counter, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    ++(report_.*counter);
    report_.bytes += bytes;
    show_progress(0);
  }

  void show_progress(std::size_t to_plan) const {  // mutex_ held
    const auto left = to_plan == 0 ? 0 : static_cast<std::int64_t>(to_plan) - planned_;
    if (options_.progress) options_.progress({left, report_.kernels, report_.hits, report_.compiled, report_.failed});
  }

  const WarmOptions& options_;
  const std::vector<const graph::Target*> targets_;
  WarmStore& store_;
  std::size_t jobs_ = 1;
  std::map<const graph::Target*, std::string> compilers_;
  std::mutex mutex_;                   // guards what follows while threads run
  std::map<std::string, Job> wanted_;  // by key material
  std::int64_t planned_ = 0;
  WarmReport report_;
};

std::vector<const graph::Target*> find_targets(const std::vector<std::string>& names, Where where) {
  std::vector<const graph::Target*> found;
  const auto add = [&](const graph::Target& t) {
    if (std::ranges::find(found, &t) == found.end()) found.push_back(&t);
  };
  if (names.empty())
    for (Device device : devices()) add(backend(device).target());
  for (const std::string& name : names) {
    const graph::Target* target = graph::find_target(name);
    if (!target) {
      std::vector<std::string_view> known;
      for (const graph::Target& t : graph::targets()) known.emplace_back(t.name);
      TARRY_THROW(InvalidArgument, "warm", where,
                  fmt::format("no target is called {}; there are {}", name, fmt::join(known, ", ")));
    }
    add(*target);
  }
  return found;
}

std::vector<Recorded> read_all(std::span<const std::string> manifests, Where where) {
  std::vector<Recorded> all;
  std::set<std::string> seen;
  for (const std::string& file : manifests)
    for (Recorded& recorded : read_manifest(file, where))
      if (seen.insert(recorded.id).second) all.push_back(std::move(recorded));
  return all;
}

}  // namespace
}  // namespace tarry::runtime

namespace tarry {
inline namespace v0 {

WarmReport warm(std::span<const std::string> manifests, const WarmOptions& options, Where where) try {
  using namespace runtime;
  try {
    const std::vector<Recorded> recorded = read_all(manifests, where);
    std::vector<const graph::Target*> targets = find_targets(options.targets, where);
    const std::unique_ptr<WarmStore> store = open_warm_store(options.out, where);
    return Warmer(options, std::move(targets), *store).run(recorded);
  } catch (const std::bad_alloc&) {
    TARRY_THROW(OutOfMemory, "warm", where, "the host is out of memory");
  }
}
TARRY_OR_OUT_OF_MEMORY("warm", where)

}  // namespace v0
}  // namespace tarry
