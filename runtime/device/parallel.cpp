// Parallel loops through oneTBB, or a small pool of threads where oneTBB is left out (its builds hide synchronisation
// from ThreadSanitizer).
#include "runtime/device/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/env.h"
#include "support/fork.h"
#include "support/in_parallel.h"
#include "support/log.h"

#ifdef TARRY_USE_TBB
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#else
#include <condition_variable>
#endif

namespace tarry::runtime {

namespace {

using Body = support::FunctionRef<void(std::int64_t, std::int64_t)>;
constexpr std::int64_t kMostThreads = 1024;

int usable_cores() { return static_cast<int>(support::all_cores()); }

/// A forked child has none of the workers, and any of them may have held a lock at that moment: its loops run in the
/// thread that asks.
std::atomic<bool> workers_lost{false};
void watch_for_fork() {
  static const int once = pthread_atfork(nullptr, nullptr, [] { workers_lost.store(true, std::memory_order_relaxed); });
  static_cast<void>(once);
}

#ifdef TARRY_USE_TBB

struct Arena {
  Arena(int asked, int threads) : wanted(asked), size(threads), arena(threads) {
    // The control is of the whole process, the host program's oneTBB included: raised where needed, never lowered.
    if (threads > usable_cores())
      limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  }
  const int wanted, size;
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
};

/// As many as there can be beside this one, at most `most`: oneTBB ends the process where it cannot start a thread that
/// it counted on, so that all are started once before it is asked.
int startable_threads(int most) {
  std::atomic<bool> leave{false};
  std::vector<std::thread> threads;
  try {
    while (static_cast<int>(threads.size()) < most) threads.emplace_back([&leave] { leave.wait(false); });
  } catch (const std::exception&) {  // no further thread to be had, or no memory for one
  }
  leave = true;
  leave.notify_all();
  for (std::thread& t : threads) t.join();
  return static_cast<int>(threads.size());
}

/// `wanted`, or what can be had; less is said once. Then one is left for the compiler, which is a process.
int threads_to_be_had(int wanted) {
  const int startable = startable_threads(wanted - 1);
  const int there = startable == wanted - 1 ? wanted : std::max(1, startable);
  if (there < wanted)
    support::log::warn_once(std::to_string(wanted) + " threads cannot be had, work goes on with " +
                            std::to_string(there) +
                            "; raise the limit of processes (ulimit -u) or set TARRY_NUM_THREADS");
  return there;
}

/// The arena of `threads`; a change of TARRY_NUM_THREADS makes a new one, loops that run keep theirs.
std::shared_ptr<Arena> arena(int threads) {
  static auto& mutex = *new support::Mutex;
  static std::shared_ptr<Arena>* current = new std::shared_ptr<Arena>;  // never destroyed: exit() may run in a loop
  const std::lock_guard lock(mutex);
  if (!*current || (*current)->wanted != threads) {
    current->reset();
    *current = std::make_shared<Arena>(threads, threads_to_be_had(threads));
  }
  return *current;
}

void run(std::int64_t count, std::int64_t grain, int threads, Body body) {
  const std::shared_ptr<Arena> a = arena(threads);
  if (a->size == 1) return body(0, count);
  a->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
                      [&](const tbb::blocked_range<std::int64_t>& r) { body(r.begin(), r.end()); });
  });
}

#else

/// Workers that take pieces of one loop at a time.
class Pool {
 public:
  explicit Pool(int threads) : size_(threads) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::exception&) {  // the threads there are take all pieces
    }
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  [[nodiscard]] int size() const { return size_; }

  void run(std::int64_t count, std::int64_t piece, Body body) {
    Loop loop{count, piece, &body};
    {
      const std::lock_guard lock(mutex_);
      loop_ = &loop;
      ++number_;
    }
    wake_.notify_all();
    take(loop);
    std::unique_lock lock(mutex_);
    loop_ = nullptr;
    done_.wait(lock, [&] { return loop.users == 0; });
  }

 private:
  struct Loop {
    std::int64_t count, piece;
    const Body* body;
    std::atomic<std::int64_t> next{0};
    int users = 0;  // workers inside; under mutex_
  };

  static void take(Loop& loop) {
    for (std::int64_t lo; (lo = loop.next.fetch_add(loop.piece)) < loop.count;)
      (*loop.body)(lo, std::min(lo + loop.piece, loop.count));
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (std::uint64_t seen = 0;;) {
      wake_.wait(lock, [&] { return stop_ || (loop_ && number_ != seen); });
      if (stop_) return;
      seen = number_;
      Loop& loop = *loop_;
      ++loop.users;
      lock.unlock();
      take(loop);
      lock.lock();
      if (--loop.users == 0) done_.notify_all();
    }
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Loop* loop_ = nullptr;
  std::uint64_t number_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

void run(std::int64_t count, std::int64_t grain, int threads, Body body) {
  static std::mutex busy;
  static auto& pool = *new std::unique_ptr<Pool>;  // never destroyed: a forked child has no workers to join
  const std::unique_lock lock(busy, std::try_to_lock);
  if (!lock) return body(0, count);  // another thread's loop, or one around this, has the workers
  if (!pool || pool->size() != threads) {
    pool.reset();
    pool = std::make_unique<Pool>(threads);
  }
  pool->run(count, std::max(grain, count / (threads * std::int64_t{8})), body);
}

#endif

}  // namespace

int thread_count() {
  static const int cores = usable_cores();
  static std::atomic<std::uint64_t> known{~std::uint64_t{0}};
  static std::atomic<int> threads{1};
  if (const std::uint64_t now = support::env::generation(); known.load(std::memory_order_acquire) != now) {
    const std::int64_t wanted = support::env::integer("TARRY_NUM_THREADS", cores);
    threads.store(static_cast<int>(std::clamp<std::int64_t>(wanted, 1, kMostThreads)), std::memory_order_relaxed);
    known.store(now, std::memory_order_release);
  }
  return threads.load(std::memory_order_relaxed);
}

void parallel_for(std::int64_t count, std::int64_t grain, Body body) {
  if (count <= 0) return;
  const int threads = thread_count();
  if (threads == 1 || count < 2 * grain || workers_lost.load(std::memory_order_relaxed)) return body(0, count);
  watch_for_fork();
  run(count, grain, threads, body);
}

void fill_in_parallel(support::FunctionRef<void(void*, std::size_t, std::size_t)> fill, void* to, std::size_t at,
                      std::size_t bytes) {
  constexpr std::size_t kLine = 64;                                 // pieces begin at elements and at cache lines
  constexpr std::int64_t kGrain = (std::int64_t{1} << 18) / kLine;  // about 20 us
  parallel_for(static_cast<std::int64_t>((bytes + kLine - 1) / kLine), kGrain, [&](std::int64_t lo, std::int64_t hi) {
    const std::size_t first = static_cast<std::size_t>(lo) * kLine,
                      last = std::min(bytes, static_cast<std::size_t>(hi) * kLine);
    fill(static_cast<std::byte*>(to) + first, at + first, last - first);
  });
}

void copy_in_parallel(void* to, const void* from, std::size_t bytes) {
  fill_in_parallel([from](void* out, std::size_t at,
                          std::size_t count) { std::memcpy(out, static_cast<const std::byte*>(from) + at, count); },
                   to, 0, bytes);
}

}  // namespace tarry::runtime
