// KernelCache::get: claim what nobody is making yet, find it on disk, compile the rest, then wait for the others.
// A caller finishes everything it claimed before it waits, so callers can wait for each other in any pattern; and a
// process holds no lock while it waits for another.
#include "cache/kernel_cache.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <mutex>
#include <utility>

#include "cache/batches.h"
#include "cache/disk_store.h"
#include "cache/flight_lock.h"
#include "cache/memory_layer.h"
#include "cache/misses.h"
#include "cache/resources.h"
#include "cache/shared_images.h"
#include "support/check.h"
#include "support/env.h"
#include "support/fork.h"
#include "support/in_parallel.h"
#include "support/log.h"

namespace tarry::cache {

namespace env = support::env;
namespace log = support::log;

namespace {

/// An owner that takes longer is stuck or stopped: what it compiles is then compiled here too.
constexpr std::chrono::seconds kOwnerPatience{60};

/// One kernel in the making. Its maker calls finish or fail exactly once.
struct Flight {
  std::promise<std::shared_ptr<Executable>> promise;
  std::shared_future<std::shared_ptr<Executable>> result{promise.get_future()};
};

/// One request of one get().
struct Job {
  const KernelRequest* request;
  MaterialPtr material;
  std::shared_ptr<Flight> flight;  ///< null for a memory hit
  bool mine = false;               ///< this get() makes it and has not finished it yet; find() makes nothing
  bool unlocked = false;           ///< another process was waited for in vain
  std::string refused = {};        ///< "compiler" or "image" where an entry was there and not used; `cause` says why
  std::string cause = {};
  Loaded loaded{nullptr, Hit::Memory, 0};
};

using Jobs = std::span<Job* const>;

std::vector<Job> jobs_of(std::span<const KernelRequest> requests) {
  std::vector<Job> jobs;
  jobs.reserve(requests.size());
  for (const KernelRequest& request : requests) {
    jobs.push_back(
        {.request = &request, .material = std::make_shared<const Material>(request.key.material()), .flight = nullptr});
  }
  return jobs;
}

/// The disk layers as the switches of one generation name them.
struct Layers {
  std::vector<std::unique_ptr<Layer>> search_order;
  bool strict = false;
  bool require_cached = false;

  /// "" where nothing is written.
  [[nodiscard]] std::filesystem::path lock_file(const Job& job) const {
    for (const std::unique_ptr<Layer>& layer : search_order) {
      if (layer->access() == Access::ReadWrite) return layer->lock_file(job.material->bytes);
    }
    return {};
  }
};

std::vector<Layer*> pointers(const Layers& layers) {
  std::vector<Layer*> all;
  for (const std::unique_ptr<Layer>& layer : layers.search_order) all.push_back(layer.get());
  return all;
}

Miss miss_of(const Job& job) { return {job.material, job.request->entry, job.refused, job.cause}; }

std::string not_cached_message(Jobs missing, const Layers& layers) {
  constexpr std::size_t kNamed = 8;
  std::string text = "TARRY_REQUIRE_CACHED is set and " + std::to_string(missing.size()) +
                     (missing.size() == 1 ? " kernel is" : " kernels are") + " in no cache layer:";
  const Jobs named = missing.first(std::min(missing.size(), kNamed));
  std::vector<Miss> misses;
  for (const Job* job : named) misses.push_back(miss_of(*job));
  const std::vector<CacheMiss> explained = explain(misses, pointers(layers));
  for (std::size_t i = 0; i < named.size(); ++i) {
    const KernelKey& key = named[i]->request->key;
    text += "\n  " + explained[i].kernel + " (" + key.target + ", " + key.mode + ", key " + explained[i].key +
            "): " + explained[i].explanation;
  }
  if (missing.size() > kNamed) text += "\n  and " + std::to_string(missing.size() - kNamed) + " more";
  return text;
}

/// False where another process is compiling the kernel; else its lock joins `locks`, where there can be one.
bool may_compile(const Job& job, const Layers& layers, std::vector<FlightLock>& locks) {
  const std::filesystem::path file = layers.lock_file(job);
  if (file.empty() || job.unlocked) return true;
  return locks.emplace_back(file).state() != FlightLock::State::Busy;
}

/// Waits for the first of `busy`. Where that was in vain, the kernel is compiled without a lock: waiting for one
/// process after the other, each of which cannot write, would take longer than all compiling at once.
void wait_for_another(Jobs busy, const Layers& layers) {
  const std::filesystem::path file = layers.lock_file(*busy.front());
  const Outcome outcome = wait_for_owner(file, kOwnerPatience);
  if (outcome == Outcome::Ended) busy.front()->unlocked = true;
  if (outcome != Outcome::TimedOut) return;
  log::warn_once("compiling kernels that another process has not finished in " +
                 std::to_string(kOwnerPatience.count()) + " seconds; its lock is " + file.string());
  for (Job* job : busy) job->unlocked = true;
}

/// Why an entry made by `entry` may not stand for what `present` would make.
std::string compiler_cause(const std::string& entry, const std::string& present) {
  const std::string made = "there is an entry that \"" + entry + "\" made";
  return made + (present.empty() ? ", no compiler is here to compare it with, and TARRY_CACHE_STRICT is set"
                                 : "; the compiler here is \"" + present + "\"");
}

void note_spills(Executable& executable, const std::string& entry, const std::string& log) {
  for (const KernelResources& r : parse_ptxas_log(log))
    if (r.entry == entry) executable.spilled_bytes = r.spill_store_bytes + r.spill_load_bytes;
}

}  // namespace

struct KernelCache::Impl {
  explicit Impl(std::size_t memory_capacity) : memory(memory_capacity) {}

  support::Mutex mutex;  // guards all below; never held while compiling, loading or touching files
  MemoryLayer memory;
  MaterialMap<std::shared_ptr<Flight>> flights;
  CacheStats stats;
  MissLog misses;  // these two lock themselves
  SharedImages images;
  std::shared_ptr<const Layers> layers;
  std::uint64_t layers_generation = 0;

  std::recursive_mutex open_mutex;  // one thread opens the layers; a log sink that is told of them may evaluate
  // A forked child has none of the threads that were making kernels.
  support::AtFork open_at_fork{open_mutex},
      flights_at_fork{[](void* impl) { static_cast<Impl*>(impl)->flights.clear(); }, this};

  bool find_in_memory(Job& job);
  bool remembers(Job& job) {
    const std::lock_guard lock(mutex);
    return find_in_memory(job);
  }
  void claim(Jobs jobs);
  void finish(Job& job, std::shared_ptr<Executable> executable, Hit hit);
  void fail(Jobs jobs, const std::exception_ptr& error);
  void give_up(Jobs jobs);
  void count(std::int64_t CacheStats::* counter, std::int64_t by = 1);

  std::shared_ptr<const Layers> current_layers();
  void make(Jobs jobs, const Maker& maker);
  std::vector<Job*> compile_free(Jobs missing, const Maker& maker, const Layers& layers);
  bool load_from_disk(Job& job, const Maker& maker, const Layers& layers);
  bool acceptable(const Entry& entry, const Layer& layer, const std::string& present, const Layers& layers);
  void compile(Jobs batch, const Maker& maker, const Layers& layers);
  void store(const Job& job, const Binary& binary, const Layers& layers);
};

void KernelCache::Impl::count(std::int64_t CacheStats::* counter, std::int64_t by) {
  const std::lock_guard lock(mutex);
  stats.*counter += by;
}

/// `mutex` held.
bool KernelCache::Impl::find_in_memory(Job& job) {
  job.loaded.executable = memory.find(job.material);
  if (job.loaded.executable == nullptr) return false;
  ++stats.memory_hits;
  return true;
}

void KernelCache::Impl::claim(Jobs jobs) {
  const std::lock_guard lock(mutex);
  for (Job* job : jobs) {
    if (find_in_memory(*job)) continue;
    const auto [flight, is_new] = flights.try_emplace(job->material, std::make_shared<Flight>());
    job->flight = flight->second;
    job->mine = is_new;
  }
}

void KernelCache::Impl::finish(Job& job, std::shared_ptr<Executable> executable, Hit hit) {
  std::shared_ptr<Executable> evicted;
  {
    const std::lock_guard lock(mutex);
    evicted = memory.insert(job.material, executable);
    if (job.mine) flights.erase(job.material);
    ++(hit == Hit::Disk ? stats.disk_hits : stats.compiles);
  }
  job.loaded.executable = executable;
  job.loaded.hit = hit;
  if (std::exchange(job.mine, false)) job.flight->promise.set_value(std::move(executable));
}

void KernelCache::Impl::fail(Jobs jobs, const std::exception_ptr& error) {
  for (Job* job : jobs) {
    if (!job->mine) continue;
    {
      const std::lock_guard lock(mutex);
      flights.erase(job->material);  // a later call tries again
    }
    job->mine = false;
    job->flight->promise.set_exception(error);
  }
}

/// Nothing here can compile or load them. A later call asks again.
void KernelCache::Impl::give_up(Jobs jobs) {
  for (Job* job : jobs) {
    if (!job->mine) continue;
    {
      const std::lock_guard lock(mutex);
      flights.erase(job->material);
    }
    job->mine = false;
    job->flight->promise.set_value(nullptr);
  }
}

std::shared_ptr<const Layers> KernelCache::Impl::current_layers() {
  const std::lock_guard opening(open_mutex);
  const std::uint64_t generation = env::generation();
  if (layers == nullptr || layers_generation != generation) {
    auto opened = std::make_shared<Layers>();
    opened->search_order = open_layers();
    opened->strict = env::flag("TARRY_CACHE_STRICT");
    opened->require_cached = env::flag("TARRY_REQUIRE_CACHED");
    layers = std::move(opened);
    layers_generation = generation;
  }
  return layers;
}

/// Makes every kernel that `jobs` claimed, or fails it; what is thrown here is the failure of all that are left.
void KernelCache::Impl::make(Jobs jobs, const Maker& maker) {
  const auto is_mine = [](const Job* job) { return job->mine; };
  if (std::ranges::none_of(jobs, is_mine)) return;
  const std::shared_ptr<const Layers> now = current_layers();
  std::vector<Job*> missing;
  for (Job* job : jobs) {
    if (is_mine(job) && !load_from_disk(*job, maker, *now)) missing.push_back(job);
  }
  if (missing.empty()) return;
  if (now->require_cached) {
    for (const Job* job : missing) misses.add(miss_of(*job));
    TARRY_THROW(NotCached, "", Where{}, not_cached_message(missing, *now));
  }

  while (!missing.empty()) {
    missing = compile_free(missing, maker, *now);
    if (missing.empty()) return;
    wait_for_another(missing, *now);
    std::erase_if(missing, [&](Job* job) { return load_from_disk(*job, maker, *now); });
  }
}

/// Compiles in batches what no other process is compiling, and returns the rest. Errors go to the jobs of their batch.
std::vector<Job*> KernelCache::Impl::compile_free(Jobs missing, const Maker& maker, const Layers& now) {
  const std::size_t cores = support::all_cores();
  std::vector<std::vector<Job*>> batches =
      batches_of(missing, cores, [](const Job* job) -> const KernelRequest& { return *job->request; });
  std::mutex busy_mutex;
  std::vector<Job*> busy;
  support::in_parallel(batches.size(), cores, [&](std::size_t i) {
    std::vector<Job*>& batch = batches[i];
    try {
      std::vector<FlightLock> locks;  // held until the entries are written
      std::erase_if(batch, [&](Job* job) {
        if (may_compile(*job, now, locks)) return false;
        const std::lock_guard guard(busy_mutex);
        busy.push_back(job);
        return true;
      });
      // Who held a lock before us may have written the entry since we looked.
      std::erase_if(batch, [&](Job* job) { return load_from_disk(*job, maker, now); });
      if (!batch.empty()) compile(batch, maker, now);
    } catch (...) {
      fail(batch, std::current_exception());
    }
  });
  return busy;
}

bool KernelCache::Impl::load_from_disk(Job& job, const Maker& maker, const Layers& now) {
  for (const std::unique_ptr<Layer>& layer : now.search_order) {
    std::optional<Entry> entry = layer->read(job.material->bytes);
    if (!entry || entry->name != job.request->entry) continue;
    const std::string present = maker.compiler ? maker.compiler() : "";
    if (!acceptable(*entry, *layer, present, now)) {
      job.refused = "compiler";
      job.cause = compiler_cause(entry->compiler, present);
      continue;
    }
    const Binary binary{images.share(std::move(entry->image)), std::move(entry->compiler), std::move(entry->log)};
    try {
      std::shared_ptr<Executable> executable = maker.load(*job.request, binary);
      Job* const unloaded[] = {&job};
      if (executable == nullptr) {
        give_up(unloaded);
      } else {
        note_spills(*executable, job.request->entry, binary.log);
        finish(job, std::move(executable), Hit::Disk);
      }
      return true;
    } catch (const OutOfMemory&) {
      throw;  // says nothing about the entry, and compiling would fare no better
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const DeviceLost&) {
      throw;
    } catch (const std::exception& error) {
      log::info("a cached kernel did not load, compiling it again: " + std::string(error.what()));
      count(&CacheStats::load_failures);
      job.refused = "image";
      job.cause = "there is an entry of this key, but it did not load: " + std::string(error.what());
      layer->discard(job.material->bytes);
    }
  }
  return false;
}

/// True if an entry may stand for the output of the present compiler. Without a compiler there is no choice.
bool KernelCache::Impl::acceptable(const Entry& entry, const Layer& layer, const std::string& present,
                                   const Layers& now) {
  if (entry.compiler == present) return true;
  if (now.strict) return false;
  if (present.empty()) return true;
  if (layer.access() == Access::ReadWrite) return false;
  count(&CacheStats::foreign_compiler);
  return true;
}

void KernelCache::Impl::compile(Jobs batch, const Maker& maker, const Layers& now) {
  std::vector<const KernelRequest*> requests;
  for (const Job* job : batch) {
    requests.push_back(job->request);
    misses.add(miss_of(*job));
  }
  const auto start = std::chrono::steady_clock::now();
  const std::optional<Binary> compiled = maker.compile(requests);
  if (!compiled) return give_up(batch);
  const Binary& binary = *compiled;
  TARRY_ASSERT(binary.image != nullptr);
  count(&CacheStats::compile_batches);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::vector<const Job*> made;
  for (Job* job : batch) {
    job->loaded.compile_seconds = elapsed.count() / static_cast<double>(batch.size());
    Job* const alone[] = {job};
    try {
      std::shared_ptr<Executable> executable = maker.load(*job->request, binary);
      if (executable == nullptr) {
        give_up(alone);
      } else {
        note_spills(*executable, job->request->entry, binary.log);
        finish(*job, std::move(executable), Hit::Compiled);
      }
      made.push_back(job);
    } catch (...) {
      count(&CacheStats::load_failures);
      fail(alone, std::current_exception());
    }
  }
  for (const Job* job : made) store(*job, binary, now);  // last: others may be waiting for the kernels
}

void KernelCache::Impl::store(const Job& job, const Binary& binary, const Layers& now) {
  for (const std::unique_ptr<Layer>& layer : now.search_order) {
    if (layer->access() == Access::ReadOnly) continue;
    const auto [error, evicted, warned] =
        layer->write({job.material->bytes, binary.compiler, job.request->entry, binary.log, *binary.image});
    if (evicted != 0) count(&CacheStats::evicted, evicted);
    if (!error) continue;
    count(&CacheStats::write_failures);
    if (warned) continue;
    log::warn_once("cannot keep compiled kernels in " + layer->path().string() + " (" + error.message() +
                   "); results are unaffected. Set TARRY_CACHE_DIR to a directory of your own, or to off");
  }
}

KernelCache::KernelCache(std::size_t memory_capacity) : impl_(std::make_unique<Impl>(memory_capacity)) {}

KernelCache::~KernelCache() = default;

std::vector<Loaded> KernelCache::find(std::span<const KernelRequest> requests, const Maker& maker) {
  const std::shared_ptr<const Layers> now = impl_->current_layers();
  std::vector<Loaded> result;
  for (Job& job : jobs_of(requests)) {
    if (!impl_->remembers(job) && !impl_->load_from_disk(job, maker, *now)) job.loaded.hit = Hit::None;
    result.push_back(std::move(job.loaded));
  }
  return result;
}

std::vector<Loaded> KernelCache::get(std::span<const KernelRequest> requests, const Maker& maker) {
  std::vector<Job> jobs = jobs_of(requests);
  std::vector<Job*> all;
  for (Job& job : jobs) all.push_back(&job);
  try {
    impl_->claim(all);
    impl_->make(all, maker);
  } catch (...) {
    impl_->fail(all, std::current_exception());
    throw;
  }

  std::vector<Loaded> result;
  result.reserve(jobs.size());
  std::int64_t waited = 0;
  for (Job& job : jobs) {
    if (job.loaded.executable == nullptr) {
      job.loaded.executable = job.flight->result.get();  // throws what its maker met
      if (job.loaded.executable == nullptr) job.loaded.hit = Hit::None;
      waited += job.loaded.executable != nullptr ? 1 : 0;
    }
    result.push_back(std::move(job.loaded));
  }
  if (waited != 0) impl_->count(&CacheStats::memory_hits, waited);
  return result;
}

CacheStats KernelCache::stats() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->stats;
}

std::vector<CacheMiss> KernelCache::misses() const {
  return explain(impl_->misses.latest(), pointers(*impl_->current_layers()));
}

void KernelCache::clear_memory() {
  MemoryLayer removed(0);  // destroyed outside the lock
  const std::lock_guard lock(impl_->mutex);
  removed = impl_->memory.clear();
}

}  // namespace tarry::cache
